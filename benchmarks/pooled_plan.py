"""The accuracy of plans for `pooled`, from a few trials; and of the differences that a design predicts.

    python benchmarks/pooled_plan.py [--json FILE] [--boards 6] [--pilots 1] [--sizes 1 2 5 20] [--looks 5] [--most 200]
                                     [--data-sets 60] [--only plan design crowd]

"plan": boards of 6 algorithms and 18 environments are drawn. Trials are normal with deviation 1; an algorithm's mean is
half a standard normal number, plus, on every environment, a normal one whose deviation, the heterogeneity, is drawn
between 0.25 and 1 for each board. Plans from pilots use equal weights. The needed numbers, to 25 %, and the columns are
those of `benchmarks/plan.py`.

"design" is the prediction of `untuned.design` for such a board. It is an average over the other algorithms' scores, as
"crowd" shows: how often about the same difference is detected between the first and the last of algorithms that are
close to each other, and between neighbours of algorithms that are far apart. Environments disagree there with the
deviation a half, but not on average, so that the difference is about the same in all data sets.

Times are CPU times.
"""

import argparse
import time
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

import recording
import untuned
from plan import Actual, Compared, compared
from untuned.judge.judging import Judging
from untuned.lab import KnownPopulation
from untuned.lab.mixtures import Part
from untuned.scores import Floats

PARTS = ("plan", "design", "crowd")
N, M = 6, 18
SPREAD = 0.5
HETEROGENEITIES = (0.25, 1.0)
CLOSE = 1.25
JUDGING = Judging(intervals="pooled", weights="uniform")
#: For "crowd": the trials, the heterogeneity, and the distance of neighbours that are far apart.
CROWD_TRIALS, CROWD_HETEROGENEITY, FAR_APART = 5, 0.5, 3.0


def board(mean_ae: Floats, name: str) -> KnownPopulation:
    """Return the population of normal scores with these means."""
    laws = [[(Part(Fraction(1), float(mean), 1.0),) for mean in row] for row in mean_ae]
    return KnownPopulation(name, "a board that was drawn", laws)


def drawn(number: int) -> KnownPopulation:
    """Return a board."""
    rng = np.random.default_rng([5, number])
    heterogeneity = rng.uniform(*HETEROGENEITIES)
    return board(SPREAD * rng.normal(size=(N, 1)) + heterogeneity * rng.normal(size=(N, M)), f"board {number}")


def plans(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Compare predictions with needed numbers."""
    totals = {size: Compared() for size in options.sizes}
    # Compiles everything, so that times do not include compiling.
    untuned.plan(JUDGING.judge(drawn(0).sample(2, np.random.default_rng(0)), workers=1), most=4)
    for number in range(options.boards):
        each, key = drawn(number), (number,)
        actual = Actual(each, JUDGING, options.looks, options.most, close=CLOSE, key=key)
        for size, total in totals.items():
            total.add(compared(each, JUDGING, size, options.pilots, actual, key))
    count = options.boards * options.pilots
    for size, total in totals.items():
        for row in total.rows(part="plan", pilot=size, boards=options.boards):
            yield row | {
                "evaluation_seconds": round(total.evaluating / count, 3),
                "plan_seconds": round(total.planning / count, 3),
            }


def designs() -> Iterator[dict[str, Any]]:
    """Compute a design without scores."""
    started = time.process_time()
    found = untuned.design(N, M)
    seconds = round(time.process_time() - started, 3)
    yield {
        "part": "design",
        "algorithms": N,
        "environments": M,
        "power": found.power,
        "heterogeneity": found.heterogeneity,
        "trials": [each.trials for each in found.detectable],
        "differences": [each.difference for each in found.detectable],
        "seconds": seconds,
    }


def crowds(data_sets: int) -> Iterator[dict[str, Any]]:
    """Count how often the same difference is detected among algorithms that are close, and that are far apart."""
    noise = np.sqrt(2.0 + 2.0 * CROWD_HETEROGENEITY**2)

    def gap(step: float, a: int, b: int) -> float:
        score = ndtr(step * (np.arange(N)[:, None] - np.arange(N)) / noise).mean(axis=1)
        return float(score[a] - score[b])

    wanted = gap(FAR_APART, N // 2, N // 2 - 1)
    near = float(brentq(lambda step: gap(step, N - 1, 0) - wanted, 0.0, FAR_APART))
    for crowd, step, pairs in (
        ("first and last of close ones", near, [(N - 1, 0)]),
        ("neighbours, far apart", FAR_APART, [(a + 1, a) for a in range(N - 1)]),
    ):
        differences, found = [], []
        for number in range(data_sets):
            rng = np.random.default_rng([6, number])
            disagreement_ae = CROWD_HETEROGENEITY * rng.normal(size=(N, M))
            disagreement_ae -= disagreement_ae.mean(axis=1, keepdims=True)
            each = board(step * np.arange(N)[:, None] + disagreement_ae, crowd)
            score = each.truth("mid-rank").z_aer.mean(axis=(1, 2))
            better_ab = JUDGING.judge(each.sample(CROWD_TRIALS, rng), workers=1).pairs.better_ab
            differences += [score[pair[0]] - score[pair[1]] for pair in pairs]
            found += [better_ab[pair] for pair in pairs]
        yield {
            "part": "crowd",
            "crowd": crowd,
            "trials": CROWD_TRIALS,
            "data_sets": data_sets,
            "pairs": len(found),
            "difference": float(np.mean(differences)),
            "deviation": float(np.std(differences)),
            "found": float(np.mean(found)),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    recording.add_door(parser)
    parser.add_argument("--boards", type=int, default=6)
    parser.add_argument("--pilots", type=int, default=1, help="of each size on each board")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1, 2, 5, 20], help="trials per cell of a pilot")
    parser.add_argument("--looks", type=int, default=5, help="data sets that say what it takes")
    parser.add_argument("--most", type=int, default=200, help="trials per cell that it may take")
    parser.add_argument("--data-sets", type=int, default=60, help="of each crowd")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    options = parser.parse_args()
    if min(options.boards, options.pilots, options.looks, options.data_sets, *options.sizes) < 1:
        parser.error("--boards, --pilots, --looks, --data-sets and --sizes are 1 or more")

    def lines() -> Iterator[dict[str, Any]]:
        if "design" in options.only:
            yield from designs()
        if "crowd" in options.only:
            yield from crowds(options.data_sets)
        if "plan" in options.only:
            yield from plans(options)

    recording.show(lines(), options, "pooled_plan", recording.plain)


if __name__ == "__main__":
    main()
