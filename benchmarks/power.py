"""How many pairs of algorithms each method decides, on the paper's experiment about its intervals.

    python benchmarks/power.py [--json FILE] [--folder results] [--trials 10000] [--sizes 100 1000 10000]
                               [--replicates 10] [--only power limits functional]

The paper's four algorithms on the eight discrete environments and Mountain Car are collected once (about 20 minutes on
two processors for 10,000 trials; it can be stopped and resumed at any time) and then split into ``--replicates``
consecutive samples of each size. "published" compares the intervals on aggregates as the paper propagates them; "apart"
compares intervals by the bounds used here; "direct" bounds differences; "branching" also splits them into cases. The
paper's figures are those of its Table 2 for PBP, PBP-t and the bootstrap.

"limits" shows, for the default method, why pairs stay undecided: because the intervals allow a game with the opposite
order, or because the branching budget was spent; and which percentiles carry most of the uncertainty. "functional"
compares the functional bound with the bound by intervals on boards of increasing numbers of environments.
"""

import argparse
import dataclasses
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import recording
import untuned
from untuned.judge.averaged_bound import SHARE_OF_GAME, functional
from untuned.judge.branching import blame, difference_goal
from untuned.judge.differences import direct, separate
from untuned.judge.game import aggregate, equilibrium
from untuned.judge.judging import Judging
from untuned.judge.methods import DEFAULT, METHODS, boxes, method
from untuned.judge.percentiles import Percentiles, percentiles
from untuned.judge.pool import pools
from untuned.judge.propagate import aggregate_goals, bounds_of, propagated, solution, solutions
from untuned.judge.simultaneous_intervals import Boxes
from untuned.judge.transitions import board
from untuned.lab.table_two import PUBLISHED, STUDY
from untuned.scores import ScoreTable

DELTA = 0.05
PARTS = ("power", "limits", "functional")


def sample(table: ScoreTable, size: int, number: int) -> ScoreTable:
    """Return the scores of one replicate."""
    cells = tuple(tuple(cell[number * size : (number + 1) * size] for cell in row) for row in table.cells)
    return ScoreTable(table.algorithms, table.environments, cells, table.ranges, table.kinds)


def published(name: str, size: int) -> float | None:
    """Return the proportion of significant comparisons in the paper's Table 2, if it has one."""
    found = PUBLISHED.get(f"{name}@paper", {}).get(size)
    return None if found is None else found[1]


def estimated(table: ScoreTable, name: str, delta: float = DELTA) -> tuple[Boxes, Percentiles]:
    pooled = pools(table)
    estimates = percentiles(pooled)
    return boxes(method(name), table, pooled, estimates, delta, "valid"), estimates


def decided(low: np.ndarray[Any, Any], high: np.ndarray[Any, Any]) -> int:
    """Return how many pairs have disjoint intervals."""
    return int(np.count_nonzero(low[:, None] > high[None, :]))


def power(table: ScoreTable, sizes: list[int], replicates: int) -> Iterator[dict[str, Any]]:
    """Count decided pairs by method and size."""
    final = Judging(intervals="betting", weights="game").judge(table, workers=1).pairs.better_ab
    n = len(table.algorithms)
    total = n * (n - 1) // 2
    for size in sizes:
        count = min(replicates, int(table.trials.min()) // size)
        for name, chosen in METHODS.items():
            counts = dict.fromkeys(("published", "apart", "direct", "branching"), 0)
            wrong = 0
            started = time.perf_counter()
            for number in range(count):
                drawn = sample(table, size, number)
                if chosen.intervals is None:
                    found = Judging(intervals=name, weights="game", resamples=2_000).judge(drawn, workers=1)
                    counts["published"] += decided(found.low_a, found.high_a)
                    wrong += int(np.count_nonzero(found.pairs.better_ab & final.T))
                    continue
                if chosen.published:
                    found = Judging(intervals=name, conventions="paper").judge(drawn, workers=1)
                    counts["published"] += decided(found.low_a, found.high_a)
                else:
                    bounds = propagated(estimated(drawn, name)[0])
                    counts["published"] += decided(bounds.low_a, bounds.high_a)
                found = Judging(intervals=name, weights="game", refine=0).judge(drawn, workers=1)
                counts["apart"] += decided(found.low_a, found.high_a)
                counts["direct"] += int(found.pairs.better_ab.sum())
                found = Judging(intervals=name, weights="game").judge(drawn, workers=1)
                counts["branching"] += int(found.pairs.better_ab.sum())
                wrong += int(np.count_nonzero(found.pairs.better_ab & final.T))
            seconds = time.perf_counter() - started
            if chosen.intervals is None:
                counts = {"published": counts["published"]}
            yield {
                "part": "power",
                "trials": size,
                "method": name,
                "guaranteed": chosen.guaranteed,
                "replicates": count,
                **{way: round(each / (count * total), 3) for way, each in counts.items()},
                "in_the_paper": published(name, size),
                "against_the_final_verdict": wrong,
                "seconds_each": round(seconds / count, 2),
            }


def limits(table: ScoreTable, sizes: list[int], replicates: int) -> Iterator[dict[str, Any]]:
    """Yield why pairs stay undecided with the default method, and which percentiles cause it."""
    n = len(table.algorithms)
    for size in sizes:
        count = min(replicates, int(table.trials.min()) // size)
        reasons = {"decided": 0, "intervals": 0, "propagation": 0}
        carried: dict[str, float] = {}
        for number in range(count):
            box, estimates = estimated(sample(table, size, number), DEFAULT)
            score_a = aggregate(estimates.z_aer, equilibrium(estimates.z_aer).q_er)
            solved = solutions(aggregate_goals(box), box, parts=1)
            values = [each.values for each in solved]
            found = direct(box, 1, values, score_a, separate(bounds_of(solved)), budget=3_000)
            for i in range(n):
                for j in range(n):
                    if score_a[i] >= score_a[j]:
                        continue
                    if found.high_ab[i, j] < 0.0:
                        reasons["decided"] += 1
                        continue
                    reasons["intervals" if found.possible_ab[i, j] else "propagation"] += 1
                    shares = blame(box, i, j)
                    shares /= max(float(shares.sum()), 1e-300) / 2.0
                    for a, e, r in np.argwhere(np.triu(np.ones((n, n)), 1)[:, None, :] * shares > 0.0):
                        names = f"{table.algorithms[a]} against {table.algorithms[r]} on {table.environments[e]}"
                        carried[names] = carried.get(names, 0.0) + float(shares[a, e, r])
        undecided = max(sum(reasons.values()) - reasons["decided"], 1)
        heaviest = sorted(carried, key=lambda name: -carried[name])[:4]
        yield {
            "part": "limits",
            "trials": size,
            "replicates": count,
            **reasons,
            "to_blame": {name: round(carried[name] / undecided, 3) for name in heaviest},
        }


def against_functional() -> Iterator[dict[str, Any]]:
    """Compare the two bounds on differences without branching."""
    for n, m, trials in ((5, 9, 1_000), (5, 15, 1_000), (5, 25, 1_000), (5, 57, 1_000), (10, 57, 1_000), (5, 57, 300)):
        rng = np.random.default_rng(n + m)
        better, gains = [], []
        for _ in range(3):
            skill = 0.3 * (rng.normal(size=(n, m, 1)) + rng.normal(size=(n, 1, 1)))
            table = ScoreTable.from_array(skill + rng.normal(size=(n, m, trials)))
            whole, estimates = estimated(table, DEFAULT)
            rest, _ = estimated(table, DEFAULT, (1.0 - SHARE_OF_GAME) * DELTA)
            other = functional(rest, 1, estimates, SHARE_OF_GAME * DELTA)
            score_a = aggregate(estimates.z_aer, equilibrium(estimates.z_aer).q_er)
            made = board(whole, 1)
            for i in range(n):
                j = int(np.argmax(score_a))
                if i != j:
                    by_intervals = solution(difference_goal(whole, i, j), made)[0].bound
                    gains.append(by_intervals - other.bound(i, j))
                    better.append(gains[-1] > 0.0)
        yield {
            "part": "functional",
            "algorithms": n,
            "environments": m,
            "trials": trials,
            "pairs": len(gains),
            "functional_narrower": round(float(np.mean(better)), 2),
            "mean_gain": round(float(np.mean(gains)), 4),
        }


def collected(folder: Path, trials: int) -> ScoreTable:
    study = dataclasses.replace(STUDY, trials=trials)
    print(f"collecting into {folder}, what is not there yet", file=sys.stderr)
    untuned.collect_scores(study, folder)
    return untuned.read_scores(folder)


def measured(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield the rows of every requested part."""
    if "power" in options.only or "limits" in options.only:
        table = collected(options.folder, options.trials)
        if "power" in options.only:
            yield from power(table, options.sizes, options.replicates)
        if "limits" in options.only:
            yield from limits(table, options.sizes, options.replicates)
    if "functional" in options.only:
        yield from against_functional()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    recording.add_door(parser)
    parser.add_argument("--folder", type=Path, default=Path("power-results"))
    parser.add_argument("--trials", type=int, default=10_000)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 1_000, 10_000])
    parser.add_argument("--replicates", type=int, default=10)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    options = parser.parse_args()
    if min(options.trials, options.replicates, *options.sizes) < 1 or max(options.sizes) > options.trials:
        parser.error("every number is 1 or more, and no sample is larger than --trials")
    recording.show(measured(options), options, "power", recording.plain)


if __name__ == "__main__":
    main()
