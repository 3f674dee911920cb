"""Verdicts on data from known populations: none in the wrong direction, and bounds on differences that hold."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from oracle.reference import judging
from support.judging import evaluate
from untuned.judge.jit import INTERPRETED
from untuned.scores import Floats, ScoreTable

pytestmark = pytest.mark.skipif(
    INTERPRETED, reason="hundreds of evaluations take minutes without the compiler: unset NUMBA_DISABLE_JIT"
)

DELTA = 0.1
DATA_SETS = 300
TRIALS = 1000

#: Scores that are equally likely, [algorithm][environment]; the first two are the same, but not declared.
SCORES = [
    [[1, 2, 3], [4, 5, 6, 7], [0, 9]],
    [[1, 2, 3], [4, 5, 6, 7], [0, 9]],
    [[0, 1, 2], [2, 3, 4, 5], [0, 0, 8]],
]


def true_percentiles() -> Floats:
    """Return z by counting, mid-rank, in fractions."""
    z = np.empty((3, 3, 3))
    for a, e, r in itertools.product(range(3), repeat=3):
        mine, theirs = SCORES[a][e], SCORES[r][e]
        won = sum(Fraction(1 + (x > y) - (x < y), 2) for x in mine for y in theirs)
        z[a, e, r] = float(won / (len(mine) * len(theirs)))
    return z


def sampled(number: int) -> ScoreTable:
    rng = np.random.default_rng([20207, number])
    cells = [[rng.choice(scores, size=TRIALS).astype(float) for scores in row] for row in SCORES]
    return ScoreTable.from_array(cells, ranges=(0.0, 10.0))


@pytest.mark.parametrize("weights", ["game", "uniform"])
def test_verdicts_are_right_and_bounds_on_differences_hold(weights: str) -> None:
    """
    Count data sets in which any bound on a difference misses, by a binomial test at 1e-6 for each kind of weights.

    A verdict in the wrong direction takes a miss, so no more than one data set in ten may have one. Intervals of this
    method are so wide that none is expected in 300, and none is allowed: an observation at these seeds, not a level.
    """
    z = true_percentiles()
    y = judging.aggregate(z)[0] if weights == "game" else z.mean(axis=(1, 2))
    assert y[0] == pytest.approx(y[1], abs=1e-12)
    assert y[0] > y[2] + 0.05
    gaps = y[:, None] - y[None, :]
    misses = decided = 0
    for number in range(DATA_SETS):
        found = evaluate(sampled(number), intervals="pbp", delta=DELTA, weights=weights, refine=50)
        missed = (gaps > found.pairs.high_ab + 1e-9).any() or (gaps < found.pairs.low_ab - 1e-9).any()
        misses += int(missed)
        better = found.pairs.better_ab
        assert (gaps[better] > 1e-9).all(), number
        assert found.pairs.verdict(0, 1) == "not separable yet", number
        decided += int(better.sum())
    assert stats.binom.sf(misses - 1, DATA_SETS, DELTA) > 1e-6
    # There is something to be right about.
    assert decided > DATA_SETS // 2
