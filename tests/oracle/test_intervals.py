"""Intervals from pairs of trials against their oracle, and the tests behind them against exact means."""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from oracle.reference import intervals as reference
from oracle.reference import judging
from oracle.reference.judging import Floats
from untuned.judge.intervals import bentkus, betting, kl, pairing
from untuned.judge.intervals.betting_averages import log_polynomial, pairing_averages
from untuned.judge.intervals.binomial_tail import upper_tail
from untuned.judge.intervals.comparisons import in_order
from untuned.judge.intervals.pairing_wins import tie_list, wins_distribution
from untuned.judge.intervals.shuffling import seeds, shuffled, sorted_samples
from untuned.judge.jit import INTERPRETED
from untuned.judge.methods import METHODS, boxes
from untuned.judge.percentiles import percentiles
from untuned.judge.pool import pools
from untuned.scores import ScoreTable

FEW = settings(max_examples=10 if INTERPRETED else 60, deadline=None, derandomize=True, database=None)

LEVELS = st.sampled_from([0.5, 0.1, 0.05 / 165, 1e-9])

#: What rounding outward may cost.
CLOSE = 1e-9


def sample(most: int) -> st.SearchStrategy[list[float]]:
    """Return few scores, so that there are ties, or many, so that there are none."""
    few = st.lists(st.integers(0, 3).map(float), min_size=1, max_size=most)
    return few | st.lists(st.floats(0.0, 1.0), min_size=1, max_size=most)


def array(values: Sequence[float]) -> Floats:
    return np.array(values, dtype=np.float64)


# --- limits


@FEW
@given(st.integers(1, 40), st.fractions(0, 1), LEVELS)
@example(1, Fraction(1, 5), 0.05 / 165)
def test_limits_on_the_mean_over_all_pairs(trials: int, fraction: Fraction, level: float) -> None:
    u = float(fraction)
    nats = math.log(2.0 / level)
    for found, expected in (
        (kl.lower_limit(u, float(trials), nats), reference.kl_lower(u, trials, level)),
        (bentkus.lower_limit(u, trials, nats), reference.bentkus_lower(u, trials, level)),
    ):
        assert expected - CLOSE <= found <= expected + 1e-13


@pytest.mark.parametrize("trials", [1000, 100_000])
@pytest.mark.parametrize("u", [0.001, 0.37, 0.9, 1.0])
def test_bentkus_with_many_trials(trials: int, u: float) -> None:
    level = 1e-4
    found = bentkus.lower_limit(u, trials, math.log(2.0 / level))
    assert kl.lower_limit(u, float(trials), math.log(2.0 / level)) <= found + 1e-15
    # By the tail function: E(B - k)+ = T q P(Bin(T - 1, q) >= k) - k P(B > k).
    k = np.arange(max(math.ceil(trials * u) - 600, 0), math.ceil(trials * u))
    excess = trials * found * stats.binom.sf(k - 1, trials - 1, found) - k * stats.binom.sf(k, trials, found)
    assert (excess / (trials * u - k)).min() == pytest.approx(level / 2.0, rel=1e-6)


@FEW
@given(sample(9), sample(9), st.sampled_from([0.5, 0.9]), st.integers(1, 4))
def test_betting_against_all_pairings_one_by_one(
    first: list[float], second: list[float], level: float, block: int
) -> None:
    tilts = [0.2, 1.0, 3.0]
    found = betting.lower_limit(array(first), array(second), np.expm1(tilts), math.log(2.0 / level), block)
    expected = reference.betting_lower(first, second, level, tilts, block)
    assert expected - CLOSE <= found <= expected + 1e-12


@FEW
@given(sample(6), sample(6), LEVELS, st.integers(2, 6), st.sampled_from([1.0, 1.6]))
def test_pairing_against_all_pieces_one_by_one(
    first: list[float], second: list[float], level: float, block: int, power: float
) -> None:
    distribution = pairing.wins_in_blocks(array(first), array(second), block)
    np.testing.assert_allclose(distribution, reference.wins_in_blocks(first, second, block), atol=1e-13)
    found = pairing.lower_limit(distribution, level, power)
    expected = reference.pairing_lower(distribution, level, power)
    assert expected - CLOSE <= found <= expected + 1e-12


@pytest.mark.parametrize("level", [0.3, 0.05 / 165])
@pytest.mark.parametrize("seed", range(2 if INTERPRETED else 6))
def test_pairing_with_more_trials(seed: int, level: float) -> None:
    rng = np.random.default_rng([20301, seed])
    first, second = rng.normal(rng.normal(), 1.0, 45), rng.normal(0.0, 1.0, 40)
    if seed % 2:
        first, second = np.round(first), np.round(second)
    distribution = pairing.wins_in_blocks(first, second, 15)
    assert distribution.sum() == pytest.approx(1.0, abs=1e-12)
    found = pairing.lower_limit(distribution, level, pairing.POWER)
    expected = reference.pairing_lower(distribution, level, pairing.POWER)
    assert expected - CLOSE <= found <= expected + 1e-12


Named = tuple[str, str]


def directly(
    name: str, first: list[float], second: list[float], level: float, mine: Named, theirs: Named
) -> tuple[float, float]:
    """Return an interval from the oracle; the environment and the name of either sample decide how it is shuffled."""
    u = reference.estimate(first, second)
    trials = min(len(first), len(second))
    if name == "wilson":
        return reference.wilson(first, second, level)
    if name == "kl":
        return reference.kl_lower(u, trials, level), 1.0 - reference.kl_lower(1.0 - u, trials, level)
    if name == "bentkus":
        return reference.bentkus_lower(u, trials, level), 1.0 - reference.bentkus_lower(1.0 - u, trials, level)
    if name == "betting":
        return 0.0, 1.0
    count = pairing.shuffles_for(max(len(first), len(second)))
    wins = reference.mean_wins(
        reference.shuffles(first, *mine, count), reference.shuffles(second, *theirs, count), pairing.TIED_BLOCK
    )
    return (
        reference.pairing_lower(wins, level, pairing.POWER),
        1.0 - reference.pairing_lower(wins[::-1], level, pairing.POWER),
    )


@pytest.mark.parametrize("name", ["kl", "bentkus", "betting", "pairing", "wilson"])
@pytest.mark.parametrize("seed", range(2 if INTERPRETED else 6))
def test_tables_with_empty_cells_ties_and_identical_algorithms(name: str, seed: int) -> None:
    rng = np.random.default_rng([20302, seed])
    kinds = [[0, 1, 2, 1], [0, 1, 2, 3]]
    cells = [list(row) for row in judging.random_cells(rng, 4, 2, least=0, most=3, levels=4)]
    cells[0][0] = np.array([1.0, 2.0])
    names = [f"algorithm-{a}" for a in range(4)]
    table = ScoreTable.from_array(cells, names, ["one", "two"], identical={"one": [["algorithm-1", "algorithm-3"]]})
    pooled = pools(table)
    delta = 0.4
    found = boxes(METHODS[name], table, pooled, percentiles(pooled), delta, "valid")
    samples = [[s.tolist() for s in in_order(table, pool, e)] for e, pool in enumerate(pooled)]
    sampled = [sum(len(scores) > 0 for scores in row) for row in samples]
    level = delta / sum(count * (count - 1) // 2 for count in sampled)
    for a, e, r in itertools.product(range(4), range(2), range(4)):
        mine, theirs = (samples[e][pooled[e].owner_of[each]] for each in (a, r))
        low, high = found.low_aer[a, e, r], found.high_aer[a, e, r]
        if kinds[e][a] == kinds[e][r]:
            assert (low, high) == (0.5, 0.5)
        elif not mine or not theirs:
            assert (low, high) == (0.0, 1.0)
        else:
            # Algorithms 1 and 3, where they are pooled, go by the first of their names.
            named = [(("one", "two")[e], f"algorithm-{kinds[e][each]}") for each in (a, r)]
            expected = directly(name, mine, theirs, level, named[0], named[1])
            assert low == pytest.approx(expected[0], abs=CLOSE)
            assert high == pytest.approx(expected[1], abs=CLOSE)


@pytest.mark.parametrize("ties", [True, False])
@pytest.mark.parametrize("sizes", [(5, 5), (7, 4)])
def test_the_mean_over_shuffles_is_what_pairing_tests(
    sizes: tuple[int, int], ties: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pairing, "BLOCK", 3)
    monkeypatch.setattr(pairing, "TIED_BLOCK", 2)
    rng = np.random.default_rng([20305, *sizes])
    first, second = rng.normal(1.0, 1.0, sizes[0]), rng.normal(0.0, 1.0, sizes[1])
    if ties:
        first, second = np.round(first), np.round(second)
        second[0] = first[0]
    table = ScoreTable.from_dict({"a": {"maze": first}, "b": {"maze": second}})
    pooled = pools(table)
    low, high = pairing.percentile_intervals(table, pooled, percentiles(pooled), 0.3)
    count = pairing.shuffles_for(max(sizes))
    wins = reference.mean_wins(
        reference.shuffles(first.tolist(), "maze", "a", count),
        reference.shuffles(second.tolist(), "maze", "b", count),
        2 if ties else 3,
    )
    assert low[0, 0, 1] == pytest.approx(reference.pairing_lower(wins, 0.3, pairing.POWER), abs=CLOSE)
    assert high[0, 0, 1] == pytest.approx(1.0 - reference.pairing_lower(wins[::-1], 0.3, pairing.POWER), abs=CLOSE)


def test_shuffles_are_permutations_of_the_sorted_sample_by_names_alone() -> None:
    scores = np.random.default_rng(20306).normal(0.0, 1.0, 50)
    table = ScoreTable.from_dict({"b": {"maze": scores}, "a": {"maze": scores[:20]}})
    pool = pools(table)[0]
    for name, sample, seed in zip("ba", sorted_samples(pool), seeds(table, pool, 0), strict=True):
        found = shuffled(sample, seed, 3)
        assert found.tolist() == reference.shuffles(table.cell(name, "maze").tolist(), "maze", name, 3)
        assert found[:2].tolist() == shuffled(sample, seed, 2).tolist()


def test_all_orders_are_equally_probable() -> None:
    count = 200 if INTERPRETED else 24_000
    orders = [tuple(order) for order in shuffled(np.arange(4.0), 7, count).tolist()]
    counts = [orders.count(order) for order in itertools.permutations([0.0, 1.0, 2.0, 3.0])]
    # One seed, so it fails never or always; a right shuffle would with a probability of 1e-4.
    assert stats.chisquare(counts).pvalue > 1e-4


def test_betting_counts_all_pairs_there_could_be_and_full_blocks_only() -> None:
    rng = np.random.default_rng(20303)
    cells = [[rng.normal(2.0, 1.0, 59)], [rng.normal(0.0, 1.0, 71)], [np.empty(0)]]
    table = ScoreTable.from_array(cells)
    pooled = pools(table)
    found = boxes(METHODS["betting"], table, pooled, percentiles(pooled), 0.3, "valid")
    first, second = cells[0][0][:40], cells[1][0][:40]
    w, nats = np.expm1(betting.TILTS), math.log(2.0 / 0.1)
    # Rounded outward to multiples of 2^-53, and no more.
    low = betting.lower_limit(first, second, w, nats, 20)
    assert 0.0 <= low - found.low_aer[0, 0, 1] < 2.0**-52
    assert found.low_aer[0, 0, 1] > 0.5
    below = betting.lower_limit(second, first, w, nats, 20)
    assert 0.0 <= found.high_aer[0, 0, 1] - (1.0 - below) < 2.0**-52
    assert (found.low_aer[0, 0, 2], found.high_aer[0, 0, 2]) == (0.0, 1.0)


def test_the_order_of_pooled_trials_is_kept_while_cells_grow_together() -> None:
    cells = [[np.array([10.0, 11.0, 12.0])], [np.array([5.0])], [np.array([20.0, 21.0])]]
    table = ScoreTable.from_array(cells, identical=[["algorithm-1", "algorithm-3"]])
    orders = [each.tolist() for each in in_order(table, pools(table)[0], 0)]
    assert orders == [[10.0, 20.0, 11.0, 21.0, 12.0], [5.0]]


# --- pairings


@FEW
@given(sample(6), sample(6), st.floats(0.01, 20.0))
def test_products_over_all_pairings(first: list[float], second: list[float], w: float) -> None:
    found = log_polynomial(pairing_averages(array(first), array(second)), w)
    assert found == pytest.approx(math.log(reference.average_product(first, second, w)), abs=1e-12)


def test_products_neither_overflow_nor_lose_digits() -> None:
    first, second = np.arange(300.0) + 0.5, np.arange(300.0)
    # Everything won: every product is (1 + w)^300, more than a number can be.
    assert log_polynomial(pairing_averages(first + 300.0, second), math.expm1(12.0)) == pytest.approx(3600.0, rel=1e-14)
    # Everything tied: (1 + w/2)^300.
    tied = log_polynomial(pairing_averages(np.zeros(300), np.zeros(300)), 1e3)
    assert tied == pytest.approx(300.0 * math.log(501.0), rel=1e-12)


@FEW
@given(sample(6), sample(6))
def test_wins_over_all_pairings(first: list[float], second: list[float]) -> None:
    found = wins_distribution(array(first), array(second))
    np.testing.assert_allclose(found, reference.wins(first, second), atol=1e-14)
    assert found @ np.arange(found.size) / (found.size - 1) == pytest.approx(
        reference.estimate(first, second), abs=1e-12
    )


@pytest.mark.parametrize("sizes", [(40, 40), (30, 70), (70, 30)])
@pytest.mark.parametrize("shift", [0.0, 2.0])
def test_wins_say_the_same_as_products(sizes: tuple[int, int], shift: float) -> None:
    rng = np.random.default_rng([20304, *sizes])
    first, second = rng.normal(shift, 1.0, sizes[0]), rng.normal(0.0, 1.0, sizes[1])
    wins = wins_distribution(first, second)
    assert (wins >= 0.0).all()
    averages = pairing_averages(first, second)
    for w in (0.05, 1.0, 30.0):
        expected = math.log(np.sum(wins * (1.0 + w) ** np.arange(wins.size)))
        assert log_polynomial(averages, w) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("trials", [1, 2, 3, 4, 5, 17, 30, 99, 100])
def test_who_wins_ties(trials: int) -> None:
    assert tie_list(trials).tolist() == reference.tie_list(trials)
    assert tie_list(trials).sum() == reference.tie_winners(trials)


@FEW
@given(st.integers(1, 60), st.floats(1e-6, 1.0 - 1e-6), st.integers(0, 59))
def test_tails_are_sums(trials: int, q: float, above: int) -> None:
    k = min(int(trials * q) + above, trials - 1)
    tail, excess = upper_tail(trials, q, k)
    probabilities = [float(stats.binom.logpmf(j, trials, q)) for j in range(k + 1, trials + 1)]
    relative = [math.exp(each - probabilities[0]) for each in probabilities]
    assert tail == pytest.approx(sum(relative), rel=1e-10)
    assert excess == pytest.approx(sum((j + 1) * each for j, each in enumerate(relative)), rel=1e-10)


# --- the tests behind the intervals: their means, over all samples of small populations

Population = dict[float, float]

POPULATIONS: dict[str, tuple[Population, Population]] = {
    "ties": ({0.0: 0.2, 1.0: 0.5, 2.0: 0.3}, {0.0: 0.4, 1.0: 0.25, 2.0: 0.35}),
    "no ties": ({0.0: 0.2, 2.0: 0.5, 4.0: 0.3}, {1.0: 0.6, 3.0: 0.4}),
    "nothing but ties": ({1.0: 1.0}, {1.0: 1.0}),
    "often tied": ({0.0: 0.1, 1.0: 0.9}, {0.0: 0.2, 1.0: 0.8}),
}


def true(populations: tuple[Population, Population]) -> float:
    return sum(p * q * reference.payoff(x, y) for x, p in populations[0].items() for y, q in populations[1].items())


def all_samples(population: Population, size: int) -> Iterator[tuple[Floats, float]]:
    for drawn in itertools.product(population.items(), repeat=size):
        yield array([score for score, _ in drawn]), math.prod(probability for _, probability in drawn)


def mean_over_samples(
    populations: tuple[Population, Population], sizes: tuple[int, int], of: Callable[[Floats, Floats], Any]
) -> Any:
    return sum(
        p * q * of(first, second)
        for first, p in all_samples(populations[0], sizes[0])
        for second, q in all_samples(populations[1], sizes[1])
    )


@pytest.mark.parametrize("name", POPULATIONS)
@pytest.mark.parametrize("sizes", [(1, 1), (2, 2), (3, 3), (2, 4), (3, 2)])
@pytest.mark.parametrize("w", [0.1, 3.0])
def test_bets_are_fair(name: str, sizes: tuple[int, int], w: float) -> None:
    z, trials = true(POPULATIONS[name]), min(sizes)
    mean = mean_over_samples(POPULATIONS[name], sizes, lambda x, y: math.exp(log_polynomial(pairing_averages(x, y), w)))
    assert mean / (1.0 + w * z) ** trials == pytest.approx(1.0, abs=1e-12)
    assert mean / (1.0 + w * (z + 0.05)) ** trials < 1.0


@pytest.mark.parametrize("name", POPULATIONS)
@pytest.mark.parametrize(("sizes", "block"), [((1, 1), 9), ((2, 2), 9), ((3, 3), 9), ((2, 4), 9), ((4, 3), 2)])
def test_hinges_are_fair_without_ties_and_less_than_that_with_them(
    name: str, sizes: tuple[int, int], block: int
) -> None:
    z, trials = true(POPULATIONS[name]), min(sizes)
    mean = mean_over_samples(POPULATIONS[name], sizes, lambda x, y: pairing.wins_in_blocks(x, y, block))
    assert mean.sum() == pytest.approx(1.0, abs=1e-12)
    for k in range(trials):
        fair = reference.hinge_tests(mean, z, [k])
        if name == "no ties":
            assert fair == pytest.approx(1.0, abs=1e-12)
        assert fair <= 1.0 + 1e-12
        assert reference.hinge_tests(mean, z + 0.05, [k]) < 1.0


def test_the_money_falls_with_the_hypothesis() -> None:
    rng = np.random.default_rng(20305)
    averages = pairing_averages(rng.normal(1.0, 1.0, 20), rng.normal(0.0, 1.0, 20))
    w = np.expm1(betting.TILTS)
    won = np.array([log_polynomial(averages, each) for each in w])
    money = [betting.log_money(won, w, 20, z0) for z0 in np.linspace(0.0, 1.0, 101)]
    assert (np.diff(money) < 0.0).all()


def test_the_pieces_of_pairing_fall_and_fit_together() -> None:
    trials, nats = 12, 5.0
    excess = np.maximum(9.0 - np.arange(trials + 1.0), 0.0)
    ends = [pairing.hinge_end(trials, k, nats) for k in range(trials)]
    assert ends[-1] == 1.0
    assert (np.diff(ends) > 0.0).all()
    for k, (left, right) in enumerate(itertools.pairwise([0.0, *ends])):
        assert pairing.hinge(trials, left, nats) == k
        assert pairing.hinge(trials, 0.5 * (left + right), nats) == k
        if k < 9:
            values = [pairing.log_test(excess, trials, k, k, z0) for z0 in np.linspace(left, right, 20)[1:]]
            assert (np.diff(values) < 0.0).all()
