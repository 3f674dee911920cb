"""The judge against the oracle of the statistics: every number twice, fast and from its formula."""

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats

from oracle.reference import bounds, judging
from oracle.reference.judging import Cells, Floats, Integers, Payoff, Support
from support.bounding import maxima
from support.judging import evaluate
from untuned.evaluation import Evaluation
from untuned.judge import bootstrap, game, propagate, streams
from untuned.judge.intervals import dkw, student
from untuned.judge.jit import INTERPRETED
from untuned.judge.percentiles import percentiles
from untuned.judge.pool import Pool, pools
from untuned.judge.ranks import ranks
from untuned.judge.simultaneous_intervals import Boxes, equal_ends, structural
from untuned.scores import ScoreTable

INFINITE = (-math.inf, math.inf)
PAYOFFS: list[Payoff] = ["mid-rank", "at-most"]
# Boards are tiny, and an interpreter does without most of them.
SEEDS = range(3 if INTERPRETED else 12)
MANY = range(4 if INTERPRETED else 40)

#: Why some tests need the compiler.
SLOW = "takes minutes, or too few boards, without the compiler: unset NUMBA_DISABLE_JIT"


def generator(*key: int) -> np.random.Generator:
    return np.random.default_rng([20202, *key])


def table_of(cells: Cells, kinds: Sequence[Sequence[int]] | None = None, support: Support = INFINITE) -> ScoreTable:
    n, m = len(cells), len(cells[0])
    names = [f"algorithm-{a}" for a in range(n)]
    places = [f"environment-{e}" for e in range(m)]
    groups = {
        places[e]: [[names[a] for a in range(n) if kinds[e][a] == label] for label in set(kinds[e])]
        for e in range(m)
        if kinds is not None
    }
    return ScoreTable.from_array(cells, names, places, ranges=support, identical=groups)


def random_kinds(rng: np.random.Generator, n: int, m: int) -> list[list[int]]:
    return [[int(kind) for kind in rng.integers(max(n - 1, 1), size=n)] for _ in range(m)]


def random_data(seed: int, n: int = 4, m: int = 3, least: int = 1) -> tuple[Cells, list[list[int]]]:
    """Return cells of unequal size with many ties, and some that are declared identical."""
    rng = generator(1, seed)
    cells = judging.random_cells(rng, n, m, least=least, levels=int(rng.choice([2, 6, 1000])))
    return cells, random_kinds(rng, n, m)


# --- percentiles


@pytest.mark.parametrize("payoff", PAYOFFS)
@pytest.mark.parametrize("seed", SEEDS)
def test_percentiles_are_counted_over_all_pairs(payoff: Payoff, seed: int) -> None:
    cells, kinds = random_data(seed, least=0)
    for declared in (None, kinds):
        table = table_of(cells, declared)
        found = percentiles(pools(table), payoff)
        expected = judging.percentiles(cells, payoff, declared)
        unknown = np.isnan(expected)
        np.testing.assert_array_equal(found.known_aer, ~unknown)
        np.testing.assert_array_equal(found.z_aer, np.where(unknown, 0.5, expected))
        trials = [[cell.size for cell in row] for row in judging.pooled(cells, declared)]
        np.testing.assert_array_equal(found.trials_ae, trials)


def test_the_data_of_these_tests_has_empty_cells_ties_and_groups() -> None:
    drawn = [random_data(seed, least=0) for seed in SEEDS]
    assert any(cell.size == 0 for cells, _ in drawn for row in cells for cell in row)
    assert any(len(set(row)) < len(row) for _, kinds in drawn for row in kinds)
    assert any(np.intersect1d(cells[0][0], cells[1][0]).size for cells, _ in drawn)


def test_percentiles_of_a_few_trials_against_many() -> None:
    rng = generator(2)
    few, many = rng.integers(50, size=3).astype(float), rng.integers(50, size=700).astype(float)
    cells = [[few], [many], [many[:1]]]
    for payoff in PAYOFFS:
        found = percentiles(pools(table_of(cells)), payoff).z_aer
        np.testing.assert_array_equal(found, judging.percentiles(cells, payoff))


# --- the game


def boards_of_payoffs(seed: int) -> Floats:
    """Return payoffs: of scores with ties, of none, all on few levels, or a cycle in which each beats the next."""
    rng = generator(3, seed)
    n, m = int(rng.integers(2, 5)), int(rng.integers(1, 4))
    if seed % 4 == 0:
        return judging.percentiles(judging.random_cells(rng, n, m), "mid-rank")
    if seed % 4 == 1:
        return rng.random((n, m, n))
    if seed % 4 == 2:
        return rng.integers(3, size=(n, m, n)) / 2.0
    ahead = (np.arange(n)[None, :] - np.arange(n)[:, None]) % n
    z = np.where(ahead == 0, 0.5, np.where(2 * ahead < n, 0.9, np.where(2 * ahead == n, 0.5, 0.1)))
    return np.repeat(z[:, None, :], m, axis=1)


@pytest.mark.parametrize("seed", MANY)
def test_equilibrium_and_aggregate_are_those_of_the_dense_matrix(seed: int) -> None:
    z = boards_of_payoffs(seed)
    n, m, _ = z.shape
    found = game.equilibrium(z)
    d = judging.equilibrium(judging.transition_matrix(z))
    y, q = judging.aggregate(z)
    np.testing.assert_allclose(found.d_aer.ravel(), d, atol=1e-11, rtol=0)
    np.testing.assert_allclose(found.q_er, q, atol=1e-11, rtol=0)
    np.testing.assert_allclose(found.p_a, d.reshape(n, m * n).sum(axis=1), atol=1e-11, rtol=0)
    np.testing.assert_allclose(game.aggregate(z, found.q_er), y, atol=1e-11, rtol=0)
    # What it says about its own error is true of the sum of all errors.
    assert np.abs(found.d_aer.ravel() - d).sum() <= found.error + 1e-14
    assert found.error <= 1e-11


#: Boards from which BiCGSTAB, begun at uniform weights or at the rewards, is undefined at its first step or explodes.
STANDSTILL = np.array([[0.5, 15 / 28, 1.0], [11 / 14, 0.5, 1.0], [5 / 12, 5 / 21, 0.5]])[:, None, :]
EXPLOSION_LOW = np.array([[0.5, 0.5, 0.0, 0.0], [0.0, 0.5, 0.0, 0.0], [0.0, 0.0, 0.5, 0.0], [0.5, 0.0, 0.0, 0.5]])
EXPLOSION_HIGH = np.array([[0.5, 1.0, 0.0, 0.5], [0.5, 0.5, 1.0, 0.5], [0.0, 1.0, 0.5, 1.0], [1.0, 0.5, 1.0, 0.5]])


def test_an_equilibrium_where_the_solver_breaks_down() -> None:
    found = game.equilibrium(STANDSTILL)
    assert found.error < 1e-12
    np.testing.assert_allclose(found.q_er, judging.aggregate(STANDSTILL)[1], atol=1e-11)


def test_bounds_where_the_solver_breaks_down() -> None:
    low, high = EXPLOSION_LOW[:, None, :], EXPLOSION_HIGH[:, None, :]
    ids = structural(np.arange(4)[None, :])
    found = propagate.propagated(Boxes(low, high, ids))
    assert found.slack < 1e-10
    bounds = judging.aggregate_bounds(low, high, *judging.edge_bounds(low, high, "structural", ids))
    np.testing.assert_allclose([found.low_a, found.high_a], bounds, atol=1e-10)


@pytest.mark.skipif(INTERPRETED, reason=SLOW)
def test_no_small_board_of_few_levels_is_left_unsolved() -> None:
    """Few levels and few states are where a solver's inner products vanish."""
    rng = generator(14)
    for _ in range(4000):
        n, m, levels = int(rng.integers(2, 5)), int(rng.integers(1, 4)), int(rng.integers(1, 12))
        ends = rng.integers(levels + 1, size=(2, n, m, n)) / levels
        ids = structural(np.tile(np.arange(n), (m, 1)))
        low, high = (np.where(ids == 0, 0.5, end) for end in (ends.min(axis=0), ends.max(axis=0)))
        assert game.equilibrium(low).error < 1e-11
        reward = high[0] if rng.random() < 0.5 else -low[0]
        assert maxima([reward], Boxes(low, high, ids))[1] < 1e-9


def test_weights_are_those_of_a_simulated_walk() -> None:
    """
    Compare with a walk of 40,000 steps, in blocks.

    200 blocks of 200 steps, some 24 jumps each, are close to independent: their means are off by five standard errors
    in one of a million weights, give or take the blocks' dependence.
    """
    rng = generator(4)
    z = judging.percentiles(judging.random_cells(rng, 2, 2), "mid-rank")
    steps, blocks = 200, 200
    shares = np.array([judging.simulated_weights(z, steps, rng) for _ in range(blocks)])
    error = shares.std(axis=0, ddof=1) / math.sqrt(blocks)
    found = game.equilibrium(z).q_er
    assert (np.abs(shares.mean(axis=0) - found) <= 5.0 * error + 0.01).all()
    assert error.max() < 0.02


# --- intervals on percentiles and means


@pytest.mark.parametrize("payoff", PAYOFFS)
@pytest.mark.parametrize("support", [INFINITE, (0.0, 999.0), (-3.0, math.inf), (-math.inf, 1000.5)])
@pytest.mark.parametrize("seed", SEEDS)
def test_boxes_of_bands_are_the_extremes_of_all_distributions_within(
    payoff: Payoff, support: Support, seed: int
) -> None:
    cells, kinds = random_data(seed, n=3, m=2, least=0)
    # From bands that say much to bands that say nothing.
    delta = [1.9, 0.5, 0.05, 1e-6][seed % 4]
    for declared in (None, kinds):
        low, high = dkw.percentile_intervals(pools(table_of(cells, declared)), [support] * 2, delta, payoff)
        for a, e, r in itertools.product(range(3), range(2), range(3)):
            expected = judging.dkw_anderson(cells, e, a, r, delta, support, payoff, declared)
            assert (low[a, e, r], high[a, e, r]) == pytest.approx(expected, abs=1e-12)


def test_boxes_on_the_observed_support_are_the_papers_formula() -> None:
    for seed in SEEDS:
        cells, _ = random_data(seed, n=2, m=1, least=2)
        scores = np.concatenate([cells[0][0], cells[1][0]])
        support = float(scores.min()), float(scores.max())
        low, high = dkw.percentile_intervals(pools(table_of(cells)), [support], 0.7, "at-most")
        for a, r in ((0, 1), (1, 0)):
            expected = judging.paper_anderson(cells, 0, a, r, 0.7, support)
            # Scores that are all equal leave no support, and the formula no steps to sum over.
            if support[0] < support[1]:
                assert (low[a, 0, r], high[a, 0, r]) == pytest.approx(expected, abs=1e-12)
            else:
                assert low[a, 0, r] == high[a, 0, r] == 1.0


def test_boxes_of_larger_samples() -> None:
    rng = generator(5)
    cells = [[rng.normal(size=60).round(1)], [rng.normal(0.5, 2.0, size=35).round(1)]]
    for payoff in PAYOFFS:
        low, high = dkw.percentile_intervals(pools(table_of(cells)), [(-9.0, 9.0)], 0.05, payoff)
        expected = judging.dkw_anderson(cells, 0, 0, 1, 0.05, (-9.0, 9.0), payoff)
        assert (low[0, 0, 1], high[0, 0, 1]) == pytest.approx(expected, abs=1e-12)
        assert 0.0 < low[0, 0, 1] < high[0, 0, 1] < 1.0


@pytest.mark.parametrize("payoff", PAYOFFS)
@pytest.mark.parametrize("seed", SEEDS)
def test_students_boxes(payoff: Payoff, seed: int) -> None:
    cells, kinds = random_data(seed, n=3, m=2, least=0)
    tail = [0.4, 0.05, 1e-4, 1e-12][seed % 4]
    for declared in (None, kinds):
        pooled = pools(table_of(cells, declared))
        estimates = percentiles(pooled, payoff)
        plain = student.percentile_intervals(pooled, estimates, tail, clip=False)
        clipped = student.percentile_intervals(pooled, estimates, tail)
        for a, e, r in itertools.product(range(3), range(2), range(3)):
            expected = judging.student(cells, e, a, r, tail, payoff, 1.0 - tail, declared)
            # 1 - 1e-12 has four digits of the tail left, which is the oracle's loss.
            precision = 1e-12 if tail > 1e-6 else 1e-3
            assert (plain[0][a, e, r], plain[1][a, e, r]) == pytest.approx(expected, abs=1e-12, rel=precision)
            assert clipped[0][a, e, r] == np.clip(plain[0][a, e, r], 0.0, 1.0)
            assert clipped[1][a, e, r] == np.clip(plain[1][a, e, r], 0.0, 1.0)


def test_students_quantile_has_all_its_digits_for_small_tails() -> None:
    """Compare with two trials, where the quantile is cot(pi tail): 1 degree of freedom is Cauchy's distribution."""
    cells = [[np.array([0.0, 2.0])], [np.array([1.0])]]
    pooled = pools(table_of(cells))
    for tail in (1e-3, 1e-15, 1e-30):
        low, _ = student.percentile_intervals(pooled, percentiles(pooled), tail, clip=False)
        # Placements 0 and 1: mean 1/2, standard error 1/2.
        assert low[0, 0, 1] == pytest.approx(0.5 - 0.5 / math.tan(math.pi * tail), rel=1e-9)


@pytest.mark.parametrize("support", [(-1.0, 7.0), (0.0, math.inf), (-math.inf, 9.0), INFINITE])
@pytest.mark.parametrize("delta", [1.5, 0.3, 1e-9])
def test_means_of_anderson(support: Support, delta: float) -> None:
    for seed in SEEDS:
        scores = judging.random_cells(generator(6, seed), 1, 1, least=0, most=30)[0][0]
        expected = judging.anderson_mean(scores, delta, support)
        assert dkw.mean_interval(scores, delta, support) == pytest.approx(expected, abs=1e-12)


def test_bands_are_those_of_the_inequality() -> None:
    scores = judging.random_cells(generator(7), 1, 1, least=9, most=9, levels=4)[0][0]
    support = (-1.0, 3.0)
    for delta in (1.5, 0.3):
        found = dkw.band(scores, delta, support)
        assert found.scores.tolist() == sorted(set(scores))
        for x, estimate, low, high in zip(found.scores, found.estimate, found.low, found.high, strict=True):
            assert estimate == judging.share_at_most(scores, x)
            assert low == pytest.approx(judging.lower_band(scores, x, delta, support), abs=1e-15)
            assert high == pytest.approx(judging.upper_band(scores, x, delta, support), abs=1e-15)


def test_quantiles_of_a_band_are_where_its_functions_reach_the_level() -> None:
    scores = np.array([1.0, 2.0, 2.0, 3.0, 5.0])
    support = (0.0, 9.0)
    found = dkw.band(scores, 1.5, support)
    grid = [*support[:1], *found.scores, *support[1:]]
    levels = [0.05, 0.2, 0.21, 0.6, 0.9]
    columns = found.quantiles(levels)
    for level, estimate, low, high in zip(levels, *columns, strict=True):
        assert estimate == min(x for x in found.scores if judging.share_at_most(scores, x) >= level - 1e-12)
        assert low == min(x for x in grid if judging.upper_band(scores, x, 1.5, support) >= level - 1e-12)
        assert high == min(x for x in grid if judging.lower_band(scores, x, 1.5, support) >= level - 1e-12)


# --- propagation


def board(seed: int) -> tuple[Boxes, list[list[int]]]:
    """Return a tiny board: narrow or wide intervals, ends that meet, groups that were declared identical."""
    rng = generator(8, seed)
    n, m = [(2, 1), (2, 2), (3, 1), (3, 2), (2, 3)][seed % 5]
    kinds = random_kinds(rng, n, m) if seed % 3 == 0 else [list(range(n))] * m
    width = [0.0, 0.1, 0.3, 1.0][seed % 4]
    low, high, ids = judging.random_board(rng, n, m, width=width, levels=int(rng.choice([4, 20])), kinds=kinds)
    return Boxes(low, high, ids), kinds


def rewards_of(boxes: Boxes, seed: int) -> list[Floats]:
    """Return a bound's reward from above, from below, of a difference, and one of any kind."""
    rng = generator(9, seed)
    m, n = boxes.low_aer.shape[1:]
    return [
        boxes.high_aer[0],
        -boxes.low_aer[n - 1],
        boxes.high_aer[0] - boxes.low_aer[1],
        rng.normal(0.3, 5.0, size=(m, n)),
    ]


RULES = ["structural", "endpoints"]


def under(rule: str, boxes: Boxes) -> tuple[Boxes, Floats, Floats]:
    """Return the boxes with the rule's ties, and the oracle's bounds on all rates."""
    if rule == "structural":
        return boxes, *judging.edge_bounds(boxes.low_aer, boxes.high_aer, "structural", boxes.same_aer)
    tied = Boxes(boxes.low_aer, boxes.high_aer, equal_ends(boxes.low_aer, boxes.high_aer))
    return tied, *judging.edge_bounds(boxes.low_aer, boxes.high_aer, "endpoints")


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("seed", MANY)
def test_bounds_are_the_largest_averages_and_attained(rule: str, seed: int) -> None:
    boxes, c_minus, c_plus = under(rule, board(seed)[0])
    rewards = rewards_of(boxes, seed)
    found, slack = maxima(rewards, boxes)
    assert slack <= 1e-9
    few = len(judging.uncertain_edges(c_minus, c_plus)) <= 8
    for reward, bound in zip(rewards, found, strict=True):
        payoffs = judging.reward_of(reward)
        best, c = judging.bound_by_policy_iteration(payoffs, c_minus, c_plus)
        assert bound == pytest.approx(best, abs=1e-9)
        # Never below, but for the oracle's own rounding.
        assert bound >= best - 1e-13 * (1.0 + np.abs(payoffs).max())
        assert judging.mean_value(judging.value(payoffs, c)) == pytest.approx(bound, abs=1e-9)
        if seed % 2 == 0 and not INTERPRETED:
            scale = 1.0 + np.abs(payoffs).max()
            by_program = judging.bound_by_linear_programming(payoffs, c_minus, c_plus)
            assert bound == pytest.approx(by_program, abs=1e-9 * scale)
        if few:
            by_trying, attained = judging.bound_by_enumeration(payoffs, c_minus, c_plus)
            assert bound == pytest.approx(by_trying, abs=1e-9)
            assert judging.mean_value(judging.value(payoffs, attained)) == pytest.approx(bound, abs=1e-9)
            assert (attained >= c_minus - 1e-15).all()
            assert (attained <= c_plus + 1e-15).all()


@pytest.mark.skipif(INTERPRETED, reason=SLOW)
def test_the_boards_of_these_tests_are_of_all_kinds() -> None:
    for rule in RULES:
        edges = [under(rule, board(seed)[0])[1:] for seed in MANY]
        uncertain = [len(judging.uncertain_edges(*pair)) for pair in edges]
        assert sum(count == 0 for count in uncertain) >= 2
        assert sum(0 < count <= 8 for count in uncertain) >= 4
        assert sum(count > 8 for count in uncertain) >= 8


@pytest.mark.parametrize("seed", SEEDS)
def test_bounds_on_every_aggregate(seed: int) -> None:
    boxes, kinds = board(seed)
    np.testing.assert_array_equal(
        structural(np.array(kinds))[:, :, :, None, None, None] == structural(np.array(kinds)),
        judging.structural_ids(kinds)[:, :, :, None, None, None] == judging.structural_ids(kinds),
    )
    c_minus, c_plus = judging.edge_bounds(boxes.low_aer, boxes.high_aer, "structural", boxes.same_aer)
    least, most = judging.aggregate_bounds(boxes.low_aer, boxes.high_aer, c_minus, c_plus)
    found = propagate.propagated(boxes)
    np.testing.assert_allclose(found.low_a, least, atol=1e-9)
    np.testing.assert_allclose(found.high_a, most, atol=1e-9)


@pytest.mark.parametrize(("n", "m"), [(2, 1), (2, 3), (3, 2)])
def test_bounds_where_nothing_is_known(n: int, m: int) -> None:
    ids = structural(np.tile(np.arange(n), (m, 1)))
    boxes = Boxes(np.where(ids == 0, 0.5, 0.0), np.where(ids == 0, 0.5, 1.0), ids)
    found = propagate.propagated(boxes)
    c_minus, c_plus = judging.edge_bounds(boxes.low_aer, boxes.high_aer, "structural", ids)
    least, most = judging.aggregate_bounds(boxes.low_aer, boxes.high_aer, c_minus, c_plus)
    np.testing.assert_allclose(found.low_a, least, atol=1e-9)
    np.testing.assert_allclose(found.high_a, most, atol=1e-9)
    # All algorithms are alike, and what is known of one from above is known from below.
    np.testing.assert_allclose(found.low_a + found.high_a, 1.0, atol=1e-9)
    assert np.ptp(found.high_a) <= 1e-9


@pytest.mark.parametrize("seed", SEEDS)
def test_without_width_the_bounds_are_the_aggregate(seed: int) -> None:
    rng = generator(10, seed)
    n, m = int(rng.integers(2, 4)), int(rng.integers(1, 4))
    ids = structural(np.tile(np.arange(n), (m, 1)))
    # No two payoffs are equal but those that are by construction.
    z = np.where(ids == 0, 0.5, rng.random((n, m, n)))
    found = propagate.propagated(Boxes(z, z, ids))
    y = game.aggregate(z, game.equilibrium(z).q_er)
    np.testing.assert_allclose(found.low_a, y, atol=1e-10)
    np.testing.assert_allclose(found.high_a, y, atol=1e-10)
    np.testing.assert_allclose(y, judging.aggregate(z)[0], atol=1e-11)


def test_without_width_equal_payoffs_may_differ_in_truth_and_widen_the_bounds() -> None:
    """Intervals include their ends: an equal payoff that is no structural tie is uncertain, the paper's is a tie."""
    cells = [[np.array([3.0, 1.0]), np.array([2.0])], [np.array([2.0, 2.0]), np.array([1.0])]]
    z = judging.percentiles(cells, "mid-rank")
    assert z[0, 0, 1] == 0.5
    ids = structural(np.tile(np.arange(2), (2, 1)))
    y = judging.aggregate(z)[0]
    ours = propagate.propagated(Boxes(z, z, ids))
    assert (ours.high_a - ours.low_a > 1e-3).all()
    assert ((ours.low_a <= y) & (y <= ours.high_a)).all()
    paper = propagate.propagated(Boxes(z, z, equal_ends(z, z)))
    np.testing.assert_allclose(paper.low_a, y, atol=1e-10)
    np.testing.assert_allclose(paper.high_a, y, atol=1e-10)


def all_ends(
    cells: Cells, delta: float, support: list[Support], payoff: Payoff, kinds: list[list[int]]
) -> tuple[Floats, Floats]:
    """Return the oracle's intervals on all percentiles, each at level delta."""
    n, m = len(cells), len(cells[0])
    low, high = np.empty((n, m, n)), np.empty((n, m, n))
    for a, e, r in itertools.product(range(n), range(m), range(n)):
        low[a, e, r], high[a, e, r] = judging.dkw_anderson(cells, e, a, r, delta, support[e], payoff, kinds)
    return low, high


def checked_ends(found: Evaluation, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Return the evaluation's intervals, which are the oracle's but for their last digits, where some of them meet."""
    ends = np.asarray(found.percentiles.low_aer), np.asarray(found.percentiles.high_aer)
    np.testing.assert_allclose(ends[0], low, atol=1e-12)
    np.testing.assert_allclose(ends[1], high, atol=1e-12)
    return ends


@pytest.mark.parametrize("seed", SEEDS)
def test_an_evaluation_is_the_oracle_all_the_way(seed: int) -> None:
    cells, kinds = random_data(seed, n=3, m=2)
    support = (-1.0, 1000.0)
    found = evaluate(table_of(cells, kinds, support), intervals="pbp", delta=0.4, refine=0)
    z = judging.percentiles(cells, "mid-rank", kinds)
    y, q = judging.aggregate(z)
    np.testing.assert_allclose(found.score_a, y, atol=1e-11)
    np.testing.assert_allclose(found.q_er, q, atol=1e-11)
    samples = sum(len(set(row)) for row in kinds)
    low, high = all_ends(cells, 0.4 / samples, [support] * 2, "mid-rank", kinds)
    ids = judging.structural_ids(kinds)
    low, high = checked_ends(found, low, high)
    least, most = bounds.aggregate_bounds(low, high, ids, 1)
    np.testing.assert_allclose(found.low_a, least, atol=1e-9)
    np.testing.assert_allclose(found.high_a, most, atol=1e-9)
    # The narrowest of what is known, and all that follows from several together.
    high_ab = np.minimum(bounds.difference_bounds(low, high, ids, 1), most[:, None] - least[None, :])
    for a, b in itertools.product(range(3), repeat=2):
        if all(row[a] == row[b] for row in kinds):
            high_ab[a, b] = min(high_ab[a, b], 0.0)
    for j in range(3):
        high_ab = np.minimum(high_ab, high_ab[:, j, None] + high_ab[None, j, :])
    np.testing.assert_allclose(found.pairs.high_ab, high_ab, atol=1e-6)
    better = high_ab.T < -1e-6
    if not (np.abs(high_ab) <= 1e-6)[~np.eye(3, dtype=np.bool_)].any():
        np.testing.assert_array_equal(found.pairs.better_ab, better)
        assert found.ranks.worst.tolist() == (3 - better.sum(axis=1)).tolist()
        assert found.ranks.best.tolist() == (1 + better.sum(axis=0)).tolist()


@pytest.mark.parametrize("seed", SEEDS)
def test_an_evaluation_as_published_is_the_oracle_all_the_way(seed: int) -> None:
    cells, kinds = random_data(seed, n=3, m=2)
    found = evaluate(table_of(cells, kinds), delta=0.4, conventions="paper")
    z = judging.percentiles(cells, "at-most", kinds)
    y, q = judging.aggregate(z)
    np.testing.assert_allclose(found.score_a, y, atol=1e-11)
    np.testing.assert_allclose(found.q_er, q, atol=1e-11)
    observed = [np.concatenate([row[e] for row in cells]) for e in range(2)]
    support = [(float(scores.min()), float(scores.max())) for scores in observed]
    low, high = checked_ends(found, *all_ends(cells, 0.4 / 6, support, "at-most", kinds))
    least, most = judging.aggregate_bounds(low, high, *judging.edge_bounds(low, high, "endpoints"))
    np.testing.assert_allclose(found.low_a, least, atol=1e-9)
    np.testing.assert_allclose(found.high_a, most, atol=1e-9)
    rank, worst, best = judging.ranks(found.score_a, found.low_a, found.high_a)
    assert found.ranks.rank.tolist() == rank.tolist()
    assert found.ranks.worst.tolist() == worst.tolist()
    assert found.ranks.best.tolist() == best.tolist()


def test_ranks_are_counted() -> None:
    for seed in SEEDS:
        rng = generator(11, seed)
        score = rng.integers(6, size=7) / 5.0
        reach = rng.integers(3, size=(2, 7)) / 5.0
        found = ranks(score, score - reach[0], score + reach[1])
        expected = judging.ranks(score, score - reach[0], score + reach[1])
        for mine, theirs in zip((found.rank, found.worst, found.best), expected, strict=True):
            assert mine.tolist() == theirs.tolist()


# --- bootstrap


def drawn_indices(sizes: Integers, stream: np.random.SFC64) -> list[Integers]:
    """Return the trials that are drawn for every owner, by dividing long words; from the same words as the bootstrap.

    Each half of a word, the lower one first, gives one draw: the half times the size, shifted by 32. Halves whose
    product's lower part is below 2^32 mod size would favour some trials, and an owner's draws begin with a new word.
    """
    result = []
    for size in map(int, sizes):
        found: list[int] = []
        while len(found) < size:
            word = int(stream.random_raw())
            for half in (word % 2**32, word // 2**32):
                if half * size % 2**32 >= 2**32 % size and len(found) < size:
                    found.append(half * size // 2**32)
        result.append(np.array(found, dtype=np.int64))
    return result


def ascending(pool: Pool, owner: int) -> Floats:
    scores: Floats = pool.scores[pool.owners == owner]
    return scores


@pytest.mark.parametrize("payoff", PAYOFFS)
@pytest.mark.parametrize("seed", SEEDS)
def test_resampled_percentiles_are_those_of_the_trials_drawn(payoff: Payoff, seed: int) -> None:
    cells, kinds = random_data(seed, n=4, m=1)
    pooled = pools(table_of(cells, kinds))
    pool = pooled[0]
    start = np.full((4, 1, 4), 1 / 16)
    # With all the weight on one reference, aggregates are the percentiles against it.
    alone = [np.eye(4)[[r]] for r in range(4)]
    found = np.stack([bootstrap.resampled(pooled, start, payoff, 3, seed, q_er=q_er) for q_er in alone], axis=2)
    balanced = bootstrap.resampled(pooled, start, payoff, 3, seed)
    for b in range(3):
        if pool.sizes.size == 1:
            assert (found[b] == 0.5).all()
            continue
        indices = drawn_indices(pool.sizes, np.random.SFC64(np.random.SeedSequence(seed, spawn_key=(b,))))
        samples = [[ascending(pool, owner)] for owner in range(pool.sizes.size)]
        by_owner, _ = judging.bootstrap_replicate(samples, [[index] for index in indices], payoff)
        expected = by_owner[pool.owner_of][:, :, pool.owner_of]
        np.testing.assert_array_equal(found[b], expected[:, 0])
        np.testing.assert_allclose(balanced[b], judging.aggregate(expected)[0], atol=1e-8)


@pytest.mark.parametrize("seed", [0, 3, 2**32 - 1, 2**127 + 5, 2**128, 2**200 + 7, 2**299])
def test_random_words_are_numpys(seed: int) -> None:
    states = streams.streams(seed, 70)
    for b in (0, 1, 69):
        peer = np.random.SFC64(np.random.SeedSequence(seed, spawn_key=(b,)))
        streams.skip_first(states[b])
        assert [int(streams.next_word(states[b])) for _ in range(20)] == peer.random_raw(20).tolist()


@pytest.mark.skipif(INTERPRETED, reason=SLOW)
@pytest.mark.parametrize("payoff", PAYOFFS)
def test_resampled_aggregates_are_distributed_as_a_plain_bootstraps(payoff: Payoff) -> None:
    """Compare by two-sample Kolmogorov-Smirnov tests, 3 at 1e-4 each: false alarms in 6 of 10,000 seeds."""
    rng = generator(13)
    cells = [
        [rng.normal(shift + 0.3 * e, 1.0, size=int(rng.integers(8, 14))).round(1) for e in range(2)]
        for shift in (0.0, 0.2, 0.5)
    ]
    table = table_of(cells)
    pooled = pools(table)
    z = percentiles(pooled, payoff).z_aer
    found = bootstrap.resampled(pooled, game.equilibrium(z).d_aer, payoff, 2000, 5)
    plain = np.empty((700, 3))
    for b in range(len(plain)):
        indices = [[rng.integers(cell.size, size=cell.size) for cell in row] for row in cells]
        plain[b] = plain_aggregate(cells, indices, payoff)
    for a in range(3):
        assert stats.ks_2samp(found[:, a], plain[:, a]).pvalue > 1e-4
    # The test can tell: the spread of one is not that of a bootstrap from half as many trials.
    assert stats.ks_2samp(found[:, 0], plain[:, 0].mean() + (plain[:, 0] - plain[:, 0].mean()) * 1.4).pvalue < 1e-4


def plain_aggregate(cells: Cells, indices: list[list[Integers]], payoff: Payoff) -> Floats:
    """Return y of cells resampled, as `judging.bootstrap_replicate`, with NumPy's comparisons for speed."""
    n, m = len(cells), len(cells[0])
    drawn = [[cells[a][e][indices[a][e]] for e in range(m)] for a in range(n)]
    z = np.full((n, m, n), 0.5)
    for a, e, r in itertools.product(range(n), range(m), range(n)):
        if a != r:
            mine, theirs = drawn[a][e][:, None], drawn[r][e][None, :]
            tied = 1.0 if payoff == "at-most" else 0.5
            z[a, e, r] = (np.sum(theirs < mine) + tied * np.sum(theirs == mine)) / (mine.size * theirs.size)
    return judging.aggregate(z)[0]


def test_the_aggregates_of_a_resample_are_the_oracles() -> None:
    cells, kinds = random_data(5, n=3, m=2)
    pooled = pools(table_of(cells, kinds))
    start = game.equilibrium(percentiles(pooled).z_aer).d_aer
    found = bootstrap.resampled(pooled, start, "mid-rank", 4, 9)
    fixed = bootstrap.resampled(pooled, start, "mid-rank", 4, 9, q_er=np.full((2, 3), 1 / 6))
    for b in range(4):
        stream = np.random.SFC64(np.random.SeedSequence(9, spawn_key=(b,)))
        z = np.empty((3, 2, 3))
        for e, pool in enumerate(pooled):
            indices = drawn_indices(pool.sizes, stream)
            samples = [[ascending(pool, owner)[index]] for owner, index in enumerate(indices)]
            by_owner = judging.percentiles(samples, "mid-rank")[:, 0]
            z[:, e] = by_owner[np.ix_(pool.owner_of, pool.owner_of)]
        np.testing.assert_allclose(found[b], judging.aggregate(z)[0], atol=1e-8)
        np.testing.assert_allclose(fixed[b], z.mean(axis=(1, 2)), atol=1e-12)


def test_no_resample_depends_on_how_many_there_are() -> None:
    cells, kinds = random_data(7, n=4, m=3)
    pooled = pools(table_of(cells, kinds))
    start = game.equilibrium(percentiles(pooled).z_aer).d_aer
    for q_er in (None, np.full((3, 4), 1 / 12)):
        told: list[list[int]] = [[], []]
        few, many = (
            bootstrap.resampled(pooled, start, "mid-rank", count, 9, q_er=q_er, advance=each.append)
            for count, each in zip((15, 50), told, strict=True)
        )
        np.testing.assert_array_equal(few, many[:15])
        # They were done differently: one at a time, and two at a time.
        assert told == [[1] * 15, [2] * 25]


def test_ends_are_quantiles_between_order_statistics() -> None:
    low, high = bootstrap.percentile_ends(np.arange(11.0)[::-1, None] * [[1.0, 2.0]], 0.1)
    np.testing.assert_allclose(low, [0.5, 1.0])
    np.testing.assert_allclose(high, [9.5, 19.0])


# --- threads


def test_no_number_depends_on_the_workers() -> None:
    cells, kinds = random_data(6, n=4, m=3, least=2)
    table = table_of(cells, kinds)
    for intervals in ("pbp", "bootstrap"):
        for weights in ("game", "uniform"):
            one, two, three = (
                evaluate(table, intervals=intervals, weights=weights, delta=0.5, resamples=40, seed=3, workers=workers)
                for workers in (1, 2, 3)
            )
            assert one.to_json(percentiles=True) == two.to_json(percentiles=True) == three.to_json(percentiles=True)
