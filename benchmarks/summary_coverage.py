"""How often bootstrap intervals of common summaries miss, compared with guaranteed ones of the same quantity.

    python benchmarks/summary_coverage.py [--json FILE] [--data-sets 300] [--resamples 1000] [--trials 5 10 30]
                                          [--populations normal ...] [--workers 1]

The populations are those of the lab and of `benchmarks/comparison.py`, whose truths are known: the probability of
improvement of one algorithm over another and the mean, averaged over environments, and the interquartile mean of all
scores. Every interval is for one of them, at 95 %. The guaranteed method for the probability of improvement is the
head-to-head interval of `pooled`; means and interquartile means have none without a declared range. Data set number k
is about algorithm or pair number k, cyclically.
"""

import argparse
import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import combinations, product
from multiprocessing import get_context
from typing import Any

import comparison
import recording
import untuned
from untuned import summaries
from untuned.judge.summaries.intervals import Interval
from untuned.lab.data_sets import ROUNDING, Design, data_set

DELTA = 0.05
TRIALS = (5, 10, 30)
NAMES = {"poi": comparison.IMPROVEMENT, "mean": comparison.MEAN, "iqm": comparison.MIDDLE}
INTERVALS: tuple[Interval, ...] = ("percentile", "basic", "bca")
GUARANTEED = "pooled"


def intervals(table: untuned.ScoreTable, resamples: int, seed: int) -> Iterator[tuple[str, str, float, float]]:
    """Yield statistic, kind of interval and both ends: of the first algorithm, or of the first over the second."""
    evaluation = untuned.evaluate(table, weights="uniform", delta=DELTA, workers=1)
    for kind in INTERVALS:
        found = summaries.summarize(
            evaluation, list(NAMES), interval=kind, delta=DELTA, resamples=resamples, seed=seed, workers=1
        )
        assert found.improvement is not None
        yield "poi", kind, float(found.improvement.low_ab[0, 1]), float(found.improvement.high_ab[0, 1])
        for each in found.summaries:
            yield each.statistic.name, kind, float(each.low_a[0]), float(each.high_a[0])
    duel = evaluation.head_to_head
    assert duel is not None
    yield "poi", GUARANTEED, float(duel.low_ab[0, 1]), float(duel.high_ab[0, 1])


def rows(name: str, trials: int, data_sets: int, resamples: int) -> list[dict[str, Any]]:
    """Return how often every interval missed on one population with one number of trials."""
    population = next(each for each in comparison.POPULATIONS if each.name == name)
    known = comparison.truths(population)
    n = len(population.laws)
    pairs = list(combinations(range(n), 2))
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for number in range(data_sets):
        table = data_set(population, Design(trials), 1, number)
        places = pairs[number % len(pairs)]
        pair = table.select([table.algorithms[a] for a in places])
        for statistic, kind, low, high in intervals(pair, resamples, number):
            truths = known[NAMES[statistic]]
            truth = truths[number % len(pairs)] if statistic == "poi" else truths[places[0]]
            row = found.setdefault(
                (statistic, kind),
                {
                    "population": name,
                    "trials": trials,
                    "statistic": statistic,
                    "interval": kind,
                    "data_sets": data_sets,
                    "missed": 0,
                    "none": 0,
                    "width": 0.0,
                },
            )
            slack = ROUNDING * max(1.0, abs(truth))
            # Without an interval nothing can be wrong; this is counted separately.
            there = math.isfinite(low) and math.isfinite(high)
            row["none"] += not there
            row["missed"] += there and not low - slack <= truth <= high + slack
            row["width"] += (high - low) / data_sets if there else 0.0
    return list(found.values())


def measured(
    populations: Sequence[str], data_sets: int, resamples: int, trials: Sequence[int], workers: int
) -> Iterator[dict[str, Any]]:
    jobs = [(name, count, data_sets, resamples) for name, count in product(populations, trials)]
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as processes:
        for found in processes.map(rows, *zip(*jobs, strict=True)):
            yield from found


def line(row: dict[str, Any]) -> str:
    missed = 100.0 * row["missed"] / row["data_sets"]
    return f"{row['population']:<15} {row['trials']:>3}  {row['statistic']:<5} {row['interval']:<11} {missed:5.1f} %"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    recording.add_door(parser)
    parser.add_argument("--data-sets", type=int, default=300)
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--trials", type=int, nargs="+", default=list(TRIALS))
    names = [each.name for each in comparison.POPULATIONS]
    parser.add_argument("--populations", nargs="+", choices=names, default=names, metavar="NAME")
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    found = measured(options.populations, options.data_sets, options.resamples, options.trials, options.workers)
    recording.show(found, options, "summary_coverage", line)


if __name__ == "__main__":
    main()
