"""Tests of the oracle of the statistics on its own, against what is known by hand, by theorem or by another way."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from oracle.reference import judging
from oracle.reference.judging import Cells, Floats, Payoff, Support

INFINITE = (-math.inf, math.inf)


def generator(*key: int) -> np.random.Generator:
    return np.random.default_rng([20201, *key])


def two_cells(mine: list[float], theirs: list[float]) -> Cells:
    return [[np.array(mine)], [np.array(theirs)]]


# --- percentiles


def test_percentiles_are_the_statistic_of_mann_and_whitney() -> None:
    cells = judging.random_cells(generator(1), 4, 3)
    z = judging.percentiles(cells, "mid-rank")
    for a, e, r in itertools.product(range(4), range(3), range(4)):
        if a != r:
            u = stats.mannwhitneyu(cells[a][e], cells[r][e], method="asymptotic").statistic
            assert z[a, e, r] == pytest.approx(u / (len(cells[a][e]) * len(cells[r][e])), abs=1e-15)
    np.testing.assert_allclose(z + z.transpose(2, 1, 0), 1.0, atol=1e-15)
    assert all(z[a, e, a] == 0.5 for a in range(4) for e in range(3))


def test_percentiles_at_most_count_ties_in_full() -> None:
    cells = two_cells([1.0, 2.0, 2.0], [2.0, 3.0])
    assert judging.percentiles(cells, "at-most")[:, 0, :].tolist() == [[0.5, 1 / 3], [1.0, 0.5]]
    assert judging.percentiles(cells, "mid-rank")[:, 0, :].tolist() == [[0.5, 1 / 6], [5 / 6, 0.5]]


def test_percentiles_of_scores_that_are_infinite() -> None:
    cells = two_cells([-math.inf, 1.0], [-math.inf, math.inf])
    assert judging.percentiles(cells, "mid-rank")[0, 0, 1] == (0.5 + 1.0) / 4


def test_equal_fractions_are_equal_doubles_whatever_the_sample_size() -> None:
    for wins, trials, times in itertools.product(range(1, 7), [7, 11, 13], [3, 9, 10]):
        few, many = [1.0] * wins + [-1.0] * (trials - wins), ([1.0] * wins + [-1.0] * (trials - wins)) * times
        z = [judging.percentiles(two_cells(mine, [0.0] * 3), "mid-rank")[0, 0, 1] for mine in (few, many)]
        assert z[0] == z[1] == float(Fraction(wins, trials))


@pytest.mark.parametrize("payoff", ["mid-rank", "at-most"])
def test_what_is_declared_identical_is_pooled_and_even(payoff: Payoff) -> None:
    cells = judging.random_cells(generator(2), 3, 2)
    kinds = [[4, 7, 4], [0, 1, 2]]
    z = judging.percentiles(cells, payoff, kinds)
    assert z[0, 0, 2] == z[2, 0, 0] == z[0, 0, 0] == 0.5
    together = [[np.concatenate([cells[0][0], cells[2][0]])], [cells[1][0]]]
    assert z[0, 0, 1] == z[2, 0, 1] == judging.percentiles(together, payoff)[0, 0, 1]
    assert z[1, 0, 0] == z[1, 0, 2] == judging.percentiles(together, payoff)[1, 0, 0]
    assert z[:, 1].tolist() == judging.percentiles(cells, payoff)[:, 1].tolist()


def test_a_missing_cell_is_unknown_against_all_others() -> None:
    cells = [[np.array([1.0])], [np.array([])], [np.array([0.0])]]
    z = judging.percentiles(cells, "mid-rank")[:, 0]
    np.testing.assert_array_equal(z, [[0.5, np.nan, 1.0], [np.nan, 0.5, np.nan], [0.0, np.nan, 0.5]])
    with pytest.raises(ValueError, match="unknown"):
        judging.aggregate(z[:, None, :])
    filled = judging.percentiles(cells, "mid-rank", [[0, 1, 1]])
    assert not np.isnan(filled).any()


# --- the game


def duel(p: float) -> Floats:
    """Return z of two algorithms on one environment, the first winning with probability p."""
    return np.array([[[0.5, p]], [[1.0 - p, 0.5]]])


@pytest.mark.parametrize("p", [0.5000001, 0.6, 0.9, 1.0])
def test_two_algorithms_and_one_environment(p: float) -> None:
    """
    Compare with the solution by hand.

    |S| = 4, gamma = 3/4, eta = 1/2, and for p > 1/2 the payoffs of the states (a, r) are 00: 1/2, 01: p, 10: 1 - p,
    11: 1/2. Player one goes 10 -> 00 and 11 -> 01; player two goes 01 -> 00 and 11 -> 10; no one leaves 00. With
    (1 - gamma)/|S| = 1/16,
        d(11) = 1/16,
        d(01) = 1/16 + 3/4 (d(01)/2 + d(11)/2), so d(01) = (1/16 + 3/128) 8/5 = 11/80, and d(10) is the same,
        d(00) = 1 - 5/80 - 22/80 = 53/80.
    Hence q = (d(00) + d(10), d(01) + d(11)) = (4/5, 1/5), y(0) = 2/5 + p/5, y(1) = 4/5 (1 - p) + 1/10: weights do not
    depend on by how much the first is better.
    """
    d = judging.equilibrium(judging.transition_matrix(duel(p)))
    np.testing.assert_allclose(d, np.array([53, 11, 11, 5]) / 80, rtol=1e-14)
    y, q = judging.aggregate(duel(p))
    np.testing.assert_allclose(q, [[0.8, 0.2]], rtol=1e-14)
    np.testing.assert_allclose(y, [0.4 + 0.2 * p, 0.9 - 0.8 * p], rtol=1e-14)


def test_where_all_is_tied_all_weigh_the_same() -> None:
    """All edges have rate eta / 50 both ways, so C is symmetric and the uniform distribution is stationary."""
    y, q = judging.aggregate(np.full((3, 2, 3), 0.5))
    np.testing.assert_allclose(q, 1 / 6, rtol=1e-14)
    np.testing.assert_allclose(y, 0.5, rtol=1e-14)
    c = judging.transition_matrix(np.full((3, 2, 3), 0.5))
    assert np.unique(c[~np.eye(18, dtype=bool)]).tolist() == [0.0, 1 / 7 / 50]
    assert np.count_nonzero(c) == 18 * (1 + 2 + 5)


def test_the_largest_rates_leave_nothing_to_stay() -> None:
    """State 11 of the duel gains by all its moves: its rates sum to one, so no row can overflow."""
    c = judging.transition_matrix(duel(0.9))
    assert c[3].tolist() == [0.0, 0.5, 0.5, 0.0]
    np.testing.assert_allclose(c.sum(axis=1), 1.0, rtol=1e-15)


@pytest.mark.parametrize("seed", range(4))
def test_equilibrium_is_stationary_and_gives_the_value_of_the_game(seed: int) -> None:
    n, m = [(2, 3), (3, 2), (4, 1), (3, 3)][seed]
    z = judging.percentiles(judging.random_cells(generator(3, seed), n, m), "mid-rank")
    c = judging.transition_matrix(z)
    d = judging.equilibrium(c)
    gamma = judging.discount(len(c))
    np.testing.assert_allclose(d @ (gamma * c + (1 - gamma) / len(c)), d, atol=1e-15)
    assert d.sum() == pytest.approx(1.0, abs=1e-13)
    y, q = judging.aggregate(z)
    np.testing.assert_allclose(q.reshape(-1), d.reshape(n, -1).sum(axis=0), atol=1e-15)
    by_value = [judging.mean_value(judging.value(judging.reward_of(z[a]), c)) for a in range(n)]
    np.testing.assert_allclose(y, by_value, atol=1e-13)


def test_weights_are_those_of_a_simulated_walk() -> None:
    """Means of 40 walks; 9 columns at 5 standard errors with 39 degrees of freedom: a false alarm in 9,000."""
    z = judging.percentiles(judging.random_cells(generator(4), 3, 3), "mid-rank")
    rng = generator(5)
    walks = np.array([judging.simulated_weights(z, 5000, rng) for _ in range(40)])
    error = walks.std(axis=0, ddof=1) / math.sqrt(40)
    q = judging.aggregate(z)[1]
    # A walk starts from the uniform distribution, not the stationary one, and is damped: it forgets its start at rate
    # 1 - gamma, so that the start shifts a column's share by less than |S| / steps = 27 / 5000 of the difference.
    start = 27 / 5000 * np.abs(np.full(q.shape, 1 / 9) - q).sum()
    assert np.all(np.abs(walks.mean(axis=0) - q) < 5 * error + start)
    assert np.ptp(q) > 5 * (5 * error + start).max()  # the walks are long enough to tell columns apart


# --- intervals for z


@pytest.mark.parametrize("support", [(-1.0, 9.0), (0.0, 7.0), INFINITE])
def test_extreme_distributions_are_the_papers_formula(support: Support) -> None:
    """Scores are 0 to 7, so that with the second support they are tied with both its ends: it makes no difference."""
    rng = generator(6)
    for _ in range(150):
        cells, delta = judging.random_cells(rng, 2, 1, 1, 25, 8), float(rng.uniform(0.001, 0.9))
        ours = judging.dkw_anderson(cells, 0, 0, 1, delta, support, "at-most")
        papers = judging.paper_anderson(cells, 0, 0, 1, delta, support)
        assert ours == pytest.approx(papers, abs=1e-13)
        point = judging.percentiles(cells, "at-most")[0, 0, 1]
        assert -1e-13 <= ours[0] <= point + 1e-13
        assert point - 1e-13 <= ours[1] <= 1 + 1e-13


def test_extreme_distributions_are_the_papers_formula_on_the_observed_support() -> None:
    rng = generator(7)
    for _ in range(150):
        cells, delta = judging.random_cells(rng, 2, 1, 1, 25, 3), float(rng.uniform(0.001, 0.9))
        scores = np.concatenate([cells[0][0], cells[1][0]])
        observed = float(scores.min()), float(scores.max())
        papers = judging.paper_anderson(cells, 0, 0, 1, delta, observed)
        assert judging.dkw_anderson(cells, 0, 0, 1, delta, observed, "at-most") == pytest.approx(papers, abs=1e-13)


def test_extreme_distributions_by_hand() -> None:
    """
    Work out four trials against four, epsilon 1/2 for both.

    delta = 2 exp(-2) makes epsilon sqrt(2 / (2 T)), which is 1/2 for four trials.
    Mine is 1, 2, 3, 4 and becomes at least 0, 0, 1, 2; theirs, 1, 1, 3, 3, becomes at most 3, 3, 5, 5: z >= 0.
    Mine becomes at most 3, 4, 5, 5 and theirs at least 0, 0, 1, 1: z <= 1. With theirs 0, 0, 0, 0 on [0, 5] it
    becomes 0, 0, 5, 5: mine wins 1/2 of the time with 1 and with 2, and ties 1/2 of the time at 0.
    """
    delta = 2 * math.exp(-2)
    cells = two_cells([1.0, 2.0, 3.0, 4.0], [1.0, 1.0, 3.0, 3.0])
    assert judging.dkw_anderson(cells, 0, 0, 1, delta, (0.0, 5.0), "mid-rank") == pytest.approx((0.0, 1.0))
    cells = two_cells([1.0, 2.0, 3.0, 4.0], [0.0] * 4)
    assert judging.dkw_anderson(cells, 0, 0, 1, delta, (0.0, 5.0), "mid-rank") == pytest.approx((0.25 + 0.125, 1.0))
    assert judging.dkw_anderson(cells, 0, 0, 1, delta, (0.0, 5.0), "at-most") == pytest.approx((0.5, 1.0))
    assert judging.dkw_anderson(cells, 0, 0, 1, delta, INFINITE, "mid-rank") == pytest.approx((0.25, 1.0))


@pytest.mark.parametrize("support", [(0.0, 5.0), (-1.0, 6.0), INFINITE])
def test_mid_rank_intervals_of_the_two_directions_mirror_each_other(support: Support) -> None:
    rng = generator(8)
    for _ in range(50):
        cells = judging.random_cells(rng, 2, 1, 5, 30)
        low, high = judging.dkw_anderson(cells, 0, 0, 1, 0.3, support, "mid-rank")
        assert judging.dkw_anderson(cells, 0, 1, 0, 0.3, support, "mid-rank") == pytest.approx((1 - high, 1 - low))


@pytest.mark.parametrize("payoff", ["mid-rank", "at-most"])
def test_intervals_hold_whenever_both_bands_do(payoff: Payoff) -> None:
    """Not a matter of chance: no data set whose two bands hold may miss z. The bands are narrow, so that many fail."""
    rng = generator(9)
    held = 0
    for _ in range(600):
        masses = rng.dirichlet(np.full(6, 0.5), size=2)
        cells = [[rng.choice(6, size=rng.integers(5, 40), p=p).astype(np.float64)] for p in masses]
        delta = 0.8
        inside = all(
            abs(judging.share_at_most(cells[i][0], x) - masses[i, : x + 1].sum())
            <= judging.band(len(cells[i][0]), delta)
            for i in range(2)
            for x in range(6)
        )
        mine, theirs = ([(float(x), p) for x, p in enumerate(row)] for row in masses)
        truth = judging.expected_payoff(mine, theirs, payoff)
        for support in [(0.0, 5.0), (-3.0, 7.0), INFINITE]:
            low, high = judging.dkw_anderson(cells, 0, 0, 1, delta, support, payoff)
            assert not inside or low - 1e-12 <= truth <= high + 1e-12
        held += inside
    assert 50 < held < 550


def test_intervals_where_nothing_or_everything_is_known() -> None:
    cells = [[np.array([1.0, 2.0])], [np.array([])]]
    assert judging.dkw_anderson(cells, 0, 0, 1, 0.05, INFINITE, "mid-rank") == (0.0, 1.0)
    assert judging.dkw_anderson(cells, 0, 1, 0, 0.05, INFINITE, "mid-rank") == (0.0, 1.0)
    assert judging.dkw_anderson(cells, 0, 1, 1, 0.05, INFINITE, "mid-rank") == (0.5, 0.5)
    assert judging.student(cells, 0, 0, 1, 0.05, "mid-rank") == (0.0, 1.0)
    assert judging.student(cells, 0, 0, 0, 0.05, "mid-rank") == (0.5, 0.5)
    identical = [[3, 3]]
    assert judging.dkw_anderson(cells, 0, 0, 1, 0.05, INFINITE, "mid-rank", identical) == (0.5, 0.5)
    with pytest.raises(ValueError, match="outside"):
        judging.dkw_anderson(two_cells([1.0], [3.0]), 0, 0, 1, 0.05, (0.0, 2.0), "mid-rank")


def test_mean_of_anderson_is_the_mean_of_the_extreme_distributions() -> None:
    rng = generator(10)
    for _ in range(100):
        scores, delta = rng.integers(6, size=rng.integers(1, 30)).astype(np.float64), float(rng.uniform(0.01, 0.9))
        for support in [(0.0, 5.0), (-2.0, 9.0)]:
            epsilon = judging.band(len(scores), delta)
            low = sum(x * p for x, p in judging.lowered(scores, epsilon, support))
            high = sum(x * p for x, p in judging.raised(scores, epsilon, support))
            assert judging.anderson_mean(scores, delta, support) == pytest.approx((low, high), abs=1e-12)
    half_open = judging.anderson_mean(np.array([1.0, 2.0, 3.0, 4.0]), 2 * math.exp(-2), (0.0, math.inf))
    assert half_open == pytest.approx((0.75, math.inf))
    assert judging.anderson_mean(np.array([]), 0.05, (0.0, 2.0)) == (0.0, 2.0)


@pytest.mark.parametrize("payoff", ["mid-rank", "at-most"])
def test_student_is_the_interval_of_a_mean_of_placements(payoff: Payoff) -> None:
    cells = judging.random_cells(generator(11), 2, 1, 6, 12)
    placements = [np.mean([judging.twice_won(x, y, payoff) / 2 for y in cells[1][0]]) for x in cells[0][0]]
    test = stats.ttest_1samp(placements, 0.5)
    for delta in (0.05, 0.2):
        # Both sides at 1 - delta: the interval has confidence 1 - 2 delta.
        expected = test.confidence_interval(1 - 2 * delta)
        assert judging.student(cells, 0, 0, 1, delta, payoff) == pytest.approx(tuple(expected))
        usual = test.confidence_interval(1 - delta)
        assert judging.student(cells, 0, 0, 1, delta, payoff, 1 - delta / 2) == pytest.approx(tuple(usual))


def test_student_has_no_width_where_all_was_won_and_leaves_the_unit_interval_elsewhere() -> None:
    assert judging.student(two_cells([3.0, 4.0], [1.0, 2.0]), 0, 0, 1, 0.001, "mid-rank") == (1.0, 1.0)
    low, high = judging.student(two_cells([0.0, 4.0], [1.0, 2.0]), 0, 0, 1, 0.05, "mid-rank")
    assert low < 0.0
    assert high > 1.0


# --- propagation


def random_edges(seed: int, n: int, m: int, width: float) -> tuple[Floats, Floats, Floats, Floats]:
    low, high, ids = judging.random_board(generator(12, seed), n, m, width)
    return low, high, *judging.edge_bounds(low, high, "structural", ids)


@pytest.mark.parametrize("seed", range(8))
def test_rates_of_any_payoffs_in_the_box_are_within_their_bounds(seed: int) -> None:
    kinds = [[0, 1, 0], [0, 1, 2]] if seed % 2 else [[0, 1, 2], [0, 1, 2]]
    rng = generator(13, seed)
    low, high, ids = judging.random_board(rng, 3, 2, kinds=kinds)
    c_minus, c_plus = judging.edge_bounds(low, high, "structural", ids)
    for _ in range(20):
        share = rng.choice([0.0, 0.3, 1.0], size=ids.max() + 1)[ids]
        c = judging.transition_matrix(low + share * (high - low))
        assert np.all(c_minus <= c + 1e-15)
        assert np.all(c <= c_plus + 1e-15)
    np.testing.assert_allclose(np.diag(c_minus) + c_plus.sum(axis=1) - np.diag(c_plus), 1.0, rtol=1e-14)
    np.testing.assert_allclose(np.diag(c_plus) + c_minus.sum(axis=1) - np.diag(c_minus), 1.0, rtol=1e-14)


@pytest.mark.parametrize("ties", ["structural", "endpoints"])
def test_without_uncertainty_the_bounds_are_the_matrix(ties: str) -> None:
    """By endpoints for any payoffs; by ids if these are equal exactly where payoffs are."""
    z, _, _ = judging.random_board(generator(14), 3, 2)
    ids = np.unique(z, return_inverse=True)[1].reshape(z.shape)
    c = judging.transition_matrix(z)
    bounds = judging.edge_bounds(z, z, "structural" if ties == "structural" else "endpoints", ids)
    for bound in bounds:
        np.testing.assert_allclose(bound, c, atol=1e-15)
    low, high = judging.aggregate_bounds(z, z, *bounds)
    np.testing.assert_allclose(low, judging.aggregate(z)[0], atol=1e-13)
    np.testing.assert_allclose(high, judging.aggregate(z)[0], atol=1e-13)


def test_rules_of_the_edges() -> None:
    """One environment; the first row is 1/2, [.5, .8], [.5, .8], so that ends meet: nothing is certainly better."""
    low = np.array([[[0.5, 0.5, 0.5]], [[0.2, 0.5, 0.1]], [[0.2, 0.6, 0.5]]])
    high = np.array([[[0.5, 0.8, 0.8]], [[0.5, 0.5, 0.4]], [[0.5, 0.9, 0.5]]])
    ids = judging.structural_ids([[0, 1, 2]])
    eta = 1 / 4
    for ties, tied in (("structural", (0.0, eta)), ("endpoints", (eta / 50, eta / 50))):
        c_minus, c_plus = judging.edge_bounds(low, high, "structural" if ties == "structural" else "endpoints", ids)
        edge = {(s, t): (c_minus[s, t], c_plus[s, t]) for s, t in itertools.product(range(9), repeat=2)}
        assert edge[0, 1] == edge[1, 0] == (0.0, eta)  # touching ends
        assert edge[1, 4] == edge[4, 1] == (0.0, eta)  # one end of two is equal
        assert edge[1, 2] == edge[2, 1] == tied  # equal ends, different opponents
        assert edge[3, 5] == (0.0, eta)  # [.2, .5] to [.1, .4] overlap
        assert edge[4, 5] == (eta, eta)  # player two wants it low: 1/2 to [.1, .4]
        assert edge[5, 4] == (0.0, 0.0)
        assert edge[4, 7] == (eta, eta)  # player one wants it high: 1/2 to [.6, .9]
        assert edge[7, 4] == (0.0, 0.0)
        assert edge[0, 4] == (0.0, 0.0)  # two moves at once


def test_structural_ties_are_between_payoffs_that_are_one_by_definition() -> None:
    """0 and 2 are identical on the first of two environments."""
    ids = judging.structural_ids([[5, 6, 5], [0, 1, 2]])
    assert ids[0, 0, 2] == ids[2, 0, 0] == ids[1, 1, 1] == judging.HALF
    assert ids[0, 0, 1] == ids[2, 0, 1] != ids[0, 1, 1]
    assert ids[1, 0, 0] == ids[1, 0, 2]
    assert ids[0, 1, 1] != ids[2, 1, 1]
    assert ids[0, 0, 1] != ids[1, 0, 0]


def test_random_boards_are_those_of_the_mid_rank_payoff() -> None:
    kinds = [[0, 1, 0], [0, 1, 2]]
    for seed in range(10):
        low, high, ids = judging.random_board(generator(20, seed), 3, 2, kinds=kinds)
        assert np.all((low >= 0.0) & (low <= high) & (high <= 1.0))
        np.testing.assert_allclose(low + high.transpose(2, 1, 0), 1.0, rtol=1e-15)
        assert np.all(low[ids == judging.HALF] == 0.5)
        assert np.all(high[ids == judging.HALF] == 0.5)
        assert all(len(np.unique(bound[ids == name])) == 1 for name in np.unique(ids) for bound in (low, high))


def row_fill(s: int, v: Floats, c_minus: Floats, c_plus: Floats) -> Floats:
    """Return the paper's update_transition_row: what the row lacks goes to the largest v first, as far as it may."""
    row: Floats = c_minus[s].copy()
    for t in np.argsort(-v):
        row[t] += min(c_plus[s, t] - c_minus[s, t], 1.0 - row.sum())
    return row


@pytest.mark.parametrize("seed", range(5))
def test_each_uncertain_edge_is_decided_alone(seed: int) -> None:
    """A row filled in the order of v has exactly the edges on that lead to a larger v: the stay takes up the rest."""
    _, _, c_minus, c_plus = random_edges(seed, 3, 2, 0.4)
    v = generator(21, seed).normal(size=len(c_minus))
    alone = judging.chosen(
        c_minus, c_plus, [(s, t) for s, t in judging.uncertain_edges(c_minus, c_plus) if v[t] > v[s]]
    )
    filled = [row_fill(s, v, c_minus, c_plus) for s in range(len(v))]
    np.testing.assert_allclose(filled, alone, atol=1e-14)


@pytest.mark.parametrize("h", [0.6, 0.75, 1.0])
def test_bounds_of_an_undecided_duel(h: float) -> None:
    """
    Compare with the solution by hand: z[0, 0, 1] in [l, h] with l < 1/2 < h, so all eight edges are uncertain.

    The reward of the first is 1/2 in column 0 and h in column 1, so the worst C has both edges into column 1 on and
    both out of it off; player one's moves stay in the column. With x the mass in column 1,
        x = 1/8 + 3/4 (x + (1 - x)/2),
    so x = 4/5, and y(0) <= 1/10 + 4/5 h. The least has reward l in column 1 and the same C: y(0) >= 1/10 + 4/5 l.
    By relabelling y(1) is between 1/10 + 4/5 (1 - h) and 1/10 + 4/5 (1 - l).
    """
    lo = 0.3
    low, high = np.array([[[0.5, lo]], [[1 - h, 0.5]]]), np.array([[[0.5, h]], [[1 - lo, 0.5]]])
    edges = judging.edge_bounds(low, high, "structural", judging.structural_ids([[0, 1]]))
    assert len(judging.uncertain_edges(*edges)) == 8
    least, most = judging.aggregate_bounds(low, high, *edges)
    np.testing.assert_allclose(least, [0.1 + 0.8 * lo, 0.1 + 0.8 * (1 - h)], rtol=1e-13)
    np.testing.assert_allclose(most, [0.1 + 0.8 * h, 0.1 + 0.8 * (1 - lo)], rtol=1e-13)
    reward = judging.reward_of(high[0])
    assert judging.bound_by_linear_programming(reward, *edges) == pytest.approx(most[0], abs=1e-10)
    assert judging.bound_by_enumeration(reward, *edges)[0] == pytest.approx(most[0], abs=1e-13)


@pytest.mark.parametrize("seed", range(30))
def test_three_ways_to_the_bound_agree(seed: int) -> None:
    """Boards of up to 27 states; enumeration only where at most 12 edges are uncertain. Rewards of all signs."""
    n, m = [(2, 1), (2, 2), (3, 1), (2, 3), (3, 3)][seed % 5]
    low, high, c_minus, c_plus = random_edges(seed, n, m, [0.06, 0.12, 0.3][seed % 3])
    rewards = [judging.reward_of(high[0]), judging.reward_of(-low[1]), judging.reward_of(high[0] - low[1])]
    rewards.append(generator(15, seed).normal(size=len(c_minus)))
    for reward in rewards:
        y, c = judging.bound_by_policy_iteration(reward, c_minus, c_plus)
        assert judging.bound_by_linear_programming(reward, c_minus, c_plus) == pytest.approx(y, abs=1e-9)
        assert judging.mean_value(judging.value(reward, c)) == pytest.approx(y, abs=1e-12)
        if len(judging.uncertain_edges(c_minus, c_plus)) <= 12:
            best, attained = judging.bound_by_enumeration(reward, c_minus, c_plus)
            assert best == pytest.approx(y, abs=1e-9)
            assert judging.mean_value(judging.value(reward, attained)) == pytest.approx(best, abs=1e-13)


def test_boards_of_the_comparison_are_neither_all_certain_nor_all_too_large() -> None:
    counts = []
    for seed in range(30):
        n, m = [(2, 1), (2, 2), (3, 1), (2, 3), (3, 3)][seed % 5]
        counts.append(len(judging.uncertain_edges(*random_edges(seed, n, m, [0.06, 0.12, 0.3][seed % 3])[2:])))
    assert sum(1 <= count <= 12 for count in counts) >= 8
    assert max(counts) > 40


def test_enumeration_refuses_too_many_edges() -> None:
    with pytest.raises(ValueError, match="too many"):
        judging.bound_by_enumeration(np.zeros(18), *random_edges(1, 3, 2, 0.5)[2:])


@pytest.mark.parametrize("seed", range(6))
def test_any_value_function_gives_a_valid_bound_with_its_largest_residual(seed: int) -> None:
    """(1 - gamma) mean(v) + max(T v - v) is at least the bound whatever v is, and equal to it at the solution."""
    _, high, c_minus, c_plus = random_edges(seed, 3, 2, 0.3)
    reward = judging.reward_of(high[0])
    y, c = judging.bound_by_policy_iteration(reward, c_minus, c_plus)
    solution = judging.value(reward, c)
    for scale in (0.0, 1e-3, 1.0, 100.0):
        v = solution + scale * generator(16, seed).normal(size=len(solution))
        certified = judging.mean_value(v) + float(np.max(judging.bellman(v, reward, c_minus, c_plus) - v))
        assert certified >= y - 1e-12
        if scale == 0.0:
            assert certified == pytest.approx(y, abs=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_bounds_hold_and_nest_and_differences_gain_by_common_weights(seed: int) -> None:
    low, high, ids = judging.random_board(generator(17, seed), 3, 2, 0.15)
    edges = judging.edge_bounds(low, high, "structural", ids)
    least, most = judging.aggregate_bounds(low, high, *edges)
    gaps = judging.difference_bounds(low, high, *edges)
    assert np.all((gaps <= most[:, None] - least[None, :] + 1e-12) | np.eye(3, dtype=bool))
    rng = generator(18, seed)
    for _ in range(20):
        share = rng.choice([0.0, 0.5, 1.0], size=ids.max() + 1)[ids]
        y, _ = judging.aggregate(low + share * (high - low))
        assert np.all(least - 1e-12 <= y)
        assert np.all(y <= most + 1e-12)
        assert np.all(y[:, None] - y[None, :] <= gaps + 1e-12)
    wide_low, wide_high = np.maximum(low - 0.1, 0.0), np.minimum(high + 0.1, 1.0)
    wide_low[ids == judging.HALF] = wide_high[ids == judging.HALF] = 0.5
    wide = judging.edge_bounds(wide_low, wide_high, "structural", ids)
    wide_least, wide_most = judging.aggregate_bounds(wide_low, wide_high, *wide)
    assert np.all(wide_least <= least + 1e-12)
    assert np.all(wide_most >= most - 1e-12)


def test_equal_ends_taken_for_a_tie_miss_the_truth() -> None:
    """Against two opponents always beaten the intervals are equal, and the truths differ: their order is unknown."""
    low = np.array([[[0.5, 0.9, 0.9]], [[0.0, 0.5, 0.0]], [[0.0, 0.0, 0.5]]])
    high = np.array([[[0.5, 1.0, 1.0]], [[0.1, 0.5, 1.0]], [[0.1, 1.0, 0.5]]])
    z = np.array([[[0.5, 0.9999, 0.9998]], [[0.0001, 0.5, 0.4]], [[0.0002, 0.6, 0.5]]])
    c = judging.transition_matrix(z)
    ids = judging.structural_ids([[0, 1, 2]])
    inside = []
    for ties in ("structural", "endpoints"):
        bounds = judging.edge_bounds(low, high, "structural" if ties == "structural" else "endpoints", ids)
        inside.append(bool(np.all(bounds[0] <= c + 1e-15) and np.all(c <= bounds[1] + 1e-15)))
    assert inside == [True, False]


# --- bootstrap and ranks


def test_bootstrap_of_all_trials_is_the_estimate_and_repeats_count() -> None:
    cells = judging.random_cells(generator(19), 3, 2)
    everything = [[np.arange(len(cell))[::-1] for cell in row] for row in cells]
    z, y = judging.bootstrap_replicate(cells, everything)
    np.testing.assert_array_equal(z, judging.percentiles(cells, "at-most"))
    np.testing.assert_array_equal(y, judging.aggregate(z)[0])
    first = [[np.zeros(3, dtype=np.int64) for _ in row] for row in cells]
    z, _ = judging.bootstrap_replicate(cells, first, "mid-rank")
    for a, e, r in itertools.product(range(3), range(2), range(3)):
        assert z[a, e, r] == judging.twice_won(cells[a][e][0], cells[r][e][0], "mid-rank") / 2


def test_ranks_are_those_of_the_papers_table() -> None:
    """The eleven rows of its table of aggregate performances by PBP."""
    low = [0.390445, 0.378233, 0.076544, 0.033725, 0.030509, 0.028978, 0.027506, 0.023735, 0.021448, 0.018024, 0.016893]
    high = [0.553741, 0.563269, 0.312941, 0.227599, 0.21459, 0.201945, 0.203338, 0.197328, 0.178041, 0.163611, 0.174878]
    score = [
        0.462302,
        0.452319,
        0.157809,
        0.093013,
        0.085137,
        0.08309,
        0.078468,
        0.068869,
        0.064017,
        0.051574,
        0.050808,
    ]
    rank, worst, best = judging.ranks(np.array(score), np.array(low), np.array(high))
    assert rank.tolist() == list(range(1, 12))
    assert worst.tolist() == [2, 2, *[11] * 9]
    assert best.tolist() == [1, 1, *[3] * 9]


def test_equal_scores_share_the_best_rank_and_touching_intervals_do_not_decide() -> None:
    score, low, high = np.array([0.4, 0.6, 0.6, 0.1]), np.array([0.3, 0.5, 0.4, 0.0]), np.array([0.5, 0.7, 0.8, 0.2])
    rank, worst, best = judging.ranks(score, low, high)
    assert rank.tolist() == [3, 1, 1, 4]
    assert worst.tolist() == [3, 3, 3, 4]
    assert best.tolist() == [1, 1, 1, 4]
