"""Bootstrap intervals of summaries, in small: right where there are many runs, found out where there are few.

The page on coverage has the experiment in full (benchmarks/summary_coverage.py).
"""

from typing import Any

import pytest

import comparison
from untuned import lab
from untuned.judge.jit import INTERPRETED
from untuned.judge.summaries.summarizing import summarized
from untuned.lab.data_sets import Design, data_set

DATA_SETS = 100
DELTA = 0.1

pytestmark = pytest.mark.skipif(INTERPRETED, reason="the same numbers, much slower")


def missed(name: str, trials: int, statistic: str, interval: Any) -> lab.Rate:
    """Return how often the interval of the first algorithm, or of the first over the second, misses the truth."""
    population = lab.population(name)
    truths = comparison.truths(population)
    count = 0
    for number in range(DATA_SETS):
        table = data_set(population, Design(trials), 3, number).select(["A", "B"])
        found = summarized(table, statistic, interval=interval, delta=DELTA, resamples=100, seed=number)
        if found.improvement is not None:
            low, high = found.improvement.low_ab[0, 1], found.improvement.high_ab[0, 1]
            truth = truths[comparison.IMPROVEMENT][0]
        else:
            low, high = found.summaries[0].low_a[0], found.summaries[0].high_a[0]
            truth = truths[comparison.MIDDLE][0]
        count += not low <= truth <= high
    return lab.Rate.of(count, DATA_SETS, confidence=0.999)


@pytest.mark.parametrize("interval", ["percentile", "basic", "bca"])
@pytest.mark.parametrize("statistic", ["iqm", "poi"])
def test_with_many_runs_they_are_about_right(statistic: str, interval: Any) -> None:
    rate = missed("normal", 25, statistic, interval)
    # Never far from what they aim at: a wrong tail, or ends of another statistic, would miss far more or nothing.
    assert rate.low < DELTA + 0.03
    assert rate.high > DELTA / 2


@pytest.mark.parametrize("interval", ["percentile", "basic", "bca"])
def test_with_five_runs_they_are_found_out_where_samples_may_not_vary(interval: Any) -> None:
    assert missed("constant", 5, "poi", interval).finding(DELTA) == "broken"
