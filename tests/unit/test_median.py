"""Intervals on medians: exact coverage by the binomial distribution, ties, few values."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from untuned.judge.intervals.median import median_interval, median_intervals, median_rank


def misses(count: int, k: int) -> Fraction:
    """Return the probability that the k-th smallest of values of a continuous distribution is above the median."""
    return sum((Fraction(math.comb(count, wins), 2**count) for wins in range(k)), Fraction(0))


@pytest.mark.parametrize("delta", [0.5, 0.1, 0.05, 0.01, 1e-6])
def test_the_rank_is_the_largest_that_keeps_the_level(delta: float) -> None:
    for count in (*range(1, 40), 99, 100, 333):
        k = median_rank(count, delta)
        assert misses(count, k) * 2 <= Fraction(delta) * (1 + Fraction(1, 10**12))
        if k < (count + 1) // 2:
            assert misses(count, k + 1) * 2 > Fraction(delta) * (1 - Fraction(1, 10**12))


def test_a_level_that_comes_out_even_is_kept() -> None:
    # Both of two values are above the median with 1/4, or below.
    assert median_rank(2, 0.5) == 1
    assert median_rank(2, 0.49) == 0


def test_ends_are_order_statistics() -> None:
    # P(Binomial(10, 1/2) <= 1) = 11/1024 is below 0.025, P(... <= 2) = 56/1024 is not.
    values = np.array([7.0, 1.0, 9.0, 3.0, 5.0, 2.0, 8.0, 4.0, 10.0, 6.0])
    assert median_interval(values, 0.05) == (2.0, 9.0)


def test_too_few_values_say_nothing() -> None:
    # Both ends miss together with 2 / 2^5 > 0.05, and with 2 / 2^6 < 0.05.
    assert median_interval(np.arange(5.0), 0.05) == (-math.inf, math.inf)
    assert median_interval(np.arange(5.0), 0.05, (-1.0, 7.0)) == (-1.0, 7.0)
    assert median_interval(np.arange(6.0), 0.05) == (0.0, 5.0)
    assert median_interval(np.empty(0), 0.05, (0.0, 1.0)) == (0.0, 1.0)


@pytest.mark.parametrize("weights", [(1, 1, 1, 1), (5, 1, 1, 1), (1, 2, 4, 1), (4, 4, 0, 0)])
def test_with_ties_it_contains_every_median_at_least_as_often(weights: tuple[int, ...]) -> None:
    # All samples of seven from a distribution on 0..3 with exact probabilities.
    total = sum(weights)
    shares = [Fraction(weight, total) for weight in weights]
    below = list(itertools.accumulate(shares))
    medians = [
        value for value in range(4) if below[value] >= Fraction(1, 2) and below[value] - shares[value] <= Fraction(1, 2)
    ]
    delta, count = 0.2, 7
    missed = dict.fromkeys(medians, Fraction(0))
    for sample in itertools.combinations_with_replacement(range(4), count):
        ways = math.factorial(count)
        probability = Fraction(1)
        for value in range(4):
            ways //= math.factorial(sample.count(value))
            probability *= shares[value] ** sample.count(value)
        low, high = median_interval(np.array(sample, dtype=float), delta)
        for median in medians:
            if not low <= median <= high:
                missed[median] += ways * probability
    assert all(part <= Fraction(1, 5) for part in missed.values())


def test_columns_are_intervals_of_their_own() -> None:
    values = np.array([[3.0, -np.inf], [1.0, 5.0], [2.0, 6.0], [4.0, 7.0], [6.0, 8.0], [5.0, 9.0]])
    low, high = median_intervals(values, 0.05)
    np.testing.assert_array_equal(low, [1.0, -np.inf])
    np.testing.assert_array_equal(high, [6.0, 9.0])
    few_low, few_high = median_intervals(values[:2], 0.05)
    assert few_low.tolist() == [-math.inf] * 2
    assert few_high.tolist() == [math.inf] * 2
