"""How many pairs are decided from few runs under equal weights, and the time it takes.

    python benchmarks/pooled_power.py [--json FILE] [--data-sets 20] [--boards 6x18 11x15 3x57 50x57]
                                      [--only power speed]

Boards are drawn: algorithms are evenly spaced, by a third of a deviation, every algorithm is better or worse on each
environment by a normal number with the deviation ``heterogeneity``, and trials are normal with deviation 1. So the true
scores are known, and wrong verdicts are counted. Every method judges the same data sets. "head to head" are `pooled`'s
verdicts on two algorithms alone. The game's weights are for reference, with a branching budget of 20 per pair, on the
small board only: on the others a data set takes minutes.

"speed" judges each size once, after a small table that compiles everything, in a separate process.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from scipy.special import ndtr

import recording
from judge import kilobytes, peak_afresh, scores
from untuned.judge.judging import Judging
from untuned.lab.population_types import true_game
from untuned.scores import Floats, ScoreTable

PARTS = ("power", "speed")
DELTA = 0.05
WORKERS = 2
STEP = 1.0 / 3.0
HETEROGENEITIES = (0.25, 0.5, 1.0)
#: Algorithms, environments, and trials: for two numbers any between them.
BOARDS: Mapping[str, tuple[int, int, tuple[tuple[int, int], ...]]] = {
    "6x18": (6, 18, ((5, 5), (10, 10), (30, 30), (100, 100), (1_000, 1_000))),
    "11x15": (11, 15, ((10, 10), (30, 30), (100, 100))),
    "3x57": (3, 57, ((1, 6),)),
    "50x57": (50, 57, ((5, 5),)),
}
METHODS: Mapping[str, Mapping[str, Any]] = {
    "pooled": {"intervals": "pooled", "weights": "uniform"},
    "pairing": {"intervals": "pairing", "weights": "uniform"},
    "bentkus": {"intervals": "bentkus", "weights": "uniform"},
    "bootstrap": {"intervals": "bootstrap", "weights": "uniform", "resamples": 1_000},
    "game": {"intervals": "pairing", "weights": "game", "refine": 20},
}
HEAD_TO_HEAD = "head to head"
#: Boards for the game's weights, and smaller numbers of data sets where there is no time for all.
WITH_GAME = ("6x18",)
AT_MOST = {"6x18": 10, "11x15": 4, "3x57": 20, "50x57": 1}
#: Algorithms, environments, trials, and the time limit in seconds.
SPEED = ((6, 18, 10, 1.0), (50, 57, 5, 60.0), (11, 15, 10_000, 10.0))


def drawn(
    n: int, m: int, trials: tuple[int, int], heterogeneity: float, rng: np.random.Generator
) -> tuple[ScoreTable, Floats]:
    """Return a data set, and the true percentiles [player, environment, reference]."""
    mean_ae = STEP * np.arange(n)[:, None] + heterogeneity * rng.normal(size=(n, m))
    sizes_ae = rng.integers(trials[0], trials[1] + 1, size=(n, m))
    cells = [[mean_ae[a, e] + rng.normal(size=sizes_ae[a, e]) for e in range(m)] for a in range(n)]
    gap_aer = mean_ae[:, :, None] - np.moveaxis(mean_ae, 0, 1)[None, :, :]
    return ScoreTable.from_array(cells), ndtr(gap_aer / np.sqrt(2.0))


def power(names: list[str], data_sets: int) -> Iterator[dict[str, Any]]:
    """Count decided pairs and wrong verdicts."""
    for name in names:
        n, m, sizes = BOARDS[name]
        for trials in sizes:
            for heterogeneity in HETEROGENEITIES:
                yield from _board(name, n, m, trials, heterogeneity, min(data_sets, AT_MOST[name]))


def _board(
    name: str, n: int, m: int, trials: tuple[int, int], heterogeneity: float, count: int
) -> Iterator[dict[str, Any]]:
    methods = [each for each in METHODS if each != "game" or name in WITH_GAME]
    tally = {each: {"decided": 0, "wrong": 0, "width": 0.0, "seconds": 0.0} for each in (*methods, HEAD_TO_HEAD)}
    for number in range(count):
        rng = np.random.default_rng([n, m, *trials, round(100 * heterogeneity), number])
        table, z_aer = drawn(n, m, trials, heterogeneity, rng)
        for each in methods:
            started = time.perf_counter()
            found = Judging(delta=DELTA, **METHODS[each]).judge(table, workers=1)
            tally[each]["seconds"] += time.perf_counter() - started
            y = true_game(z_aer).y_a if each == "game" else z_aer.mean(axis=(1, 2))
            _count(tally[each], found.pairs.better_ab, y[:, None] - y[None, :])
            tally[each]["width"] += float((found.high_a - found.low_a).mean())
            if found.head_to_head is not None:
                _count(tally[HEAD_TO_HEAD], found.head_to_head.better_ab, z_aer.mean(axis=1) - 0.5)
    for each, counted in tally.items():
        yield {
            "part": "power",
            "board": name,
            "trials": list(trials),
            "heterogeneity": heterogeneity,
            "method": each,
            "data_sets": count,
            "pairs": n * (n - 1) // 2,
            "decided": int(counted["decided"]),
            "wrong": int(counted["wrong"]),
            "width": None if each == HEAD_TO_HEAD else round(counted["width"] / count, 4),
            "seconds_each": None if each == HEAD_TO_HEAD else round(counted["seconds"] / count, 3),
        }


def _count(tally: dict[str, float], better_ab: Any, gap_ab: Floats) -> None:
    tally["decided"] += np.count_nonzero(better_ab)
    tally["wrong"] += np.count_nonzero(better_ab & (gap_ab <= 0.0))


def speed(algorithms: int, environments: int, trials: int) -> dict[str, Any]:
    """Time one evaluation by `pooled`."""
    judging = Judging(intervals="pooled", delta=DELTA)
    judging.judge(scores(3, 3, 30), workers=WORKERS)
    table = scores(algorithms, environments, trials)
    peak_afresh()
    started, processor = time.perf_counter(), time.process_time()
    found = judging.judge(table, workers=WORKERS)
    return {
        "part": "speed",
        "algorithms": algorithms,
        "environments": environments,
        "trials": trials,
        "seconds": round(time.perf_counter() - started, 3),
        "processor_seconds": round(time.process_time() - processor, 3),
        "peak_megabytes": round(kilobytes("VmHWM") / 1024),
        "decided": int(found.pairs.better_ab.sum()),
        "pairs": algorithms * (algorithms - 1) // 2,
    }


def apart(algorithms: int, environments: int, trials: int, required: float) -> dict[str, Any]:
    """Measure in a separate process, because peaks of memory never decrease."""
    command = [sys.executable, __file__, "--size", *map(str, (algorithms, environments, trials))]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found | {"required_seconds": required}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    recording.add_door(parser)
    parser.add_argument("--data-sets", type=int, default=20, help="for each board, at most")
    parser.add_argument("--boards", nargs="+", choices=list(BOARDS), default=list(BOARDS))
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--size", nargs=3, type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.size:
        print(json.dumps(speed(*options.size)))
        return
    if options.data_sets < 1:
        parser.error("--data-sets is 1 or more")

    def lines() -> Iterator[dict[str, Any]]:
        if "power" in options.only:
            yield from power(options.boards, options.data_sets)
        if "speed" in options.only:
            yield from (apart(*each) for each in SPEED)

    recording.show(lines(), options, "pooled_power", recording.plain)


if __name__ == "__main__":
    main()
