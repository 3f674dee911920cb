"""Coverage of the intervals from pairs of trials: how often they miss a percentile that is known exactly.

Seeds are fixed; the false-alarm rates are those over the choice of a seed. Every test compares a number of misses with
a binomial at 1e-6, and there are fewer than 40: false alarms in at most 1 of 25,000 seeds.
"""

import math

import numpy as np
import pytest
from scipy import stats

from untuned.judge.intervals import betting
from untuned.judge.jit import INTERPRETED
from untuned.judge.methods import METHODS, boxes
from untuned.judge.percentiles import percentiles
from untuned.judge.pool import pools
from untuned.scores import Floats, ScoreTable

pytestmark = pytest.mark.skipif(
    INTERPRETED, reason="thousands of intervals take minutes without the compiler: unset NUMBA_DISABLE_JIT"
)

DELTA = 0.1
DATA_SETS = 400
GUARANTEED = ("kl", "bentkus", "betting", "pairing")

#: A distribution: scores and their probabilities.
Population = tuple[list[float], list[float]]


def grid(shift: float) -> Population:
    """Return a normal distribution on a grid of tenths."""
    points = np.arange(-50, 71) / 10.0
    weights = stats.norm.pdf(points - shift)
    return points.tolist(), (weights / weights.sum()).tolist()


#: Two populations, and their numbers of trials.
CASES: dict[str, tuple[Population, Population, tuple[int, int]]] = {
    "constant against two points": (([1.0], [1.0]), ([0.0, 2.0], [0.9, 0.1]), (60, 60)),
    "constant against two points, few trials": (([1.0], [1.0]), ([0.0, 2.0], [0.9, 0.1]), (21, 21)),
    "five levels": (
        ([0.0, 1.0, 2.0, 3.0, 4.0], [0.1, 0.15, 0.2, 0.25, 0.3]),
        ([0.0, 1.0, 2.0, 3.0, 4.0], [0.3, 0.25, 0.2, 0.15, 0.1]),
        (40, 40),
    ),
    "mostly tied": (([0.0, 1.0], [0.2, 0.8]), ([0.0, 1.0], [0.3, 0.7]), (25, 140)),
    "shifted": (grid(1.2), grid(0.0), (50, 50)),
    "shifted, unequal": (grid(1.2), grid(0.0), (24, 300)),
    "shifted far, several blocks": (grid(3.0), grid(0.0), (230, 120)),
    "equal": (grid(0.0), grid(0.0), (20, 45)),
}


def draw(population: Population, size: int, rng: np.random.Generator) -> Floats:
    return rng.choice(population[0], size=size, p=population[1])


def true(first: Population, second: Population) -> float:
    return sum(
        p * q * (1.0 if x > y else 0.5 if x == y else 0.0)
        for x, p in zip(*first, strict=True)
        for y, q in zip(*second, strict=True)
    )


def too_many(misses: int, data_sets: int, delta: float) -> bool:
    """Return whether a method of level delta misses as often with a probability below 1e-6."""
    return bool(stats.binom.sf(misses - 1, data_sets, delta) < 1e-6)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", GUARANTEED)
def test_guaranteed_methods_keep_their_level(name: str, case: str) -> None:
    first, second, sizes = CASES[case]
    z = true(first, second)
    above = below = 0
    for number in range(DATA_SETS):
        rng = np.random.default_rng([20501, list(CASES).index(case), number])
        table = ScoreTable.from_array([[draw(first, sizes[0], rng)], [draw(second, sizes[1], rng)]])
        pooled = pools(table)
        found = boxes(METHODS[name], table, pooled, percentiles(pooled), DELTA, "valid")
        # Nothing of what is missed is missed by a rounding.
        above += bool(found.low_aer[0, 0, 1] > z + 1e-9)
        below += bool(found.high_aer[0, 0, 1] < z - 1e-9)
    assert not too_many(above + below, DATA_SETS, DELTA)
    assert not too_many(max(above, below), DATA_SETS, DELTA / 2.0)


@pytest.mark.parametrize("case", ["constant against two points", "five levels", "shifted"])
def test_betting_holds_at_ten_looks_at_once(case: str) -> None:
    """Look after each of ten blocks and stop at the first miss, the worst rule there is: the level holds."""
    first, second, _ = CASES[case]
    z = true(first, second)
    w, nats = np.expm1(betting.TILTS), math.log(2.0 / DELTA)
    misses = 0
    for number in range(DATA_SETS):
        rng = np.random.default_rng([20502, list(CASES).index(case), number])
        mine, theirs = draw(first, 200, rng), draw(second, 200, rng)
        for seen in range(20, 201, 20):
            low = betting.lower_limit(mine[:seen], theirs[:seen], w, nats, betting.BLOCK)
            high = 1.0 - betting.lower_limit(theirs[:seen], mine[:seen], w, nats, betting.BLOCK)
            if not low - 1e-9 <= z <= high + 1e-9:
                misses += 1
                break
    assert not too_many(misses, DATA_SETS, DELTA)


def test_who_keeps_looking_at_an_interval_for_one_look_is_misled() -> None:
    """Wilson's interval at level 0.1, looked at after every tenth trial, misses somewhere twice as often."""
    first, second, _ = CASES["shifted"]
    z = true(first, second)
    misses = 0
    for number in range(100):
        rng = np.random.default_rng([20503, number])
        mine, theirs = draw(first, 400, rng), draw(second, 400, rng)
        for seen in range(20, 401, 10):
            table = ScoreTable.from_array([[mine[:seen]], [theirs[:seen]]])
            pooled = pools(table)
            found = boxes(METHODS["wilson"], table, pooled, percentiles(pooled), DELTA, "valid")
            if not found.low_aer[0, 0, 1] <= z <= found.high_aer[0, 0, 1]:
                misses += 1
                break
    assert misses > 20


def test_wilson_is_about_right_with_many_trials() -> None:
    """At 200 trials, between 0.05 and 0.2 of all intervals miss, where 0.1 should."""
    first, second, _ = CASES["shifted"]
    z = true(first, second)
    misses = 0
    for number in range(DATA_SETS):
        rng = np.random.default_rng([20504, number])
        table = ScoreTable.from_array([[draw(first, 200, rng)], [draw(second, 200, rng)]])
        pooled = pools(table)
        found = boxes(METHODS["wilson"], table, pooled, percentiles(pooled), DELTA, "valid")
        misses += not found.low_aer[0, 0, 1] <= z <= found.high_aer[0, 0, 1]
    assert 0.05 * DATA_SETS < misses < 0.2 * DATA_SETS
