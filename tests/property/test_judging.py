"""Properties of the judge, for any scores: invariances, order, certificates."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle.reference import judging
from support.bounding import maxima
from support.judging import evaluate
from untuned.evaluation import Evaluation
from untuned.judge import game, propagate
from untuned.judge.intervals import dkw
from untuned.judge.jit import INTERPRETED
from untuned.judge.percentiles import percentiles
from untuned.judge.pool import pools
from untuned.judge.propagate import Limits
from untuned.judge.simultaneous_intervals import Boxes, structural
from untuned.scores import ScoreTable

FEW = settings(max_examples=5 if INTERPRETED else 40, deadline=None, derandomize=True, database=None)

Cells = list[list[list[float]]]
Draw = Callable[[st.SearchStrategy[Any]], Any]


@st.composite
def scores(draw: Draw, most: int = 4, least_trials: int = 0) -> Cells:
    """Return cells of unequal size: whole numbers, so that there are ties, and halves, so that maps have room."""
    n, m = draw(st.integers(2, most)), draw(st.integers(2, 3))
    score = st.integers(0, 12).map(lambda value: value / 2.0)
    cell = st.lists(score, min_size=least_trials, max_size=6)
    cells = draw(st.lists(st.lists(cell, min_size=m, max_size=m), min_size=n, max_size=n))
    if not any(trials for row in cells for trials in row):
        cells[0][0] = [1.0]
    return cells  # type: ignore[no-any-return]


RANGE = (-1.0, 7.0)


def table_of(cells: Cells, identical: Sequence[Sequence[str]] = (), ranges: tuple[float, float] = RANGE) -> ScoreTable:
    algorithms = [f"algorithm-{a}" for a in range(len(cells))]
    environments = [f"environment-{e}" for e in range(len(cells[0]))]
    return ScoreTable.from_array(cells, algorithms, environments, ranges=ranges, identical=identical)


def judged(cells: Cells, **options: Any) -> Evaluation:
    return evaluate(table_of(cells, options.pop("identical", ())), **options)


# --- invariances


#: The last gives halves the smallest numbers there are.
INCREASING: list[Callable[[float], float]] = [
    lambda x: 3.0 * x - 100.0,
    np.exp,
    lambda x: x**3,
    lambda x: float(np.arctan(x)),
    lambda x: 1e300 * x,
    lambda x: x * 1e-323,
]


@FEW
@given(scores(), st.sampled_from(INCREASING))
def test_strictly_increasing_maps_of_scores_change_nothing(cells: Cells, f: Callable[[float], float]) -> None:
    mapped = [[[float(f(score)) for score in cell] for cell in row] for row in cells]
    before = evaluate(table_of(cells), delta=0.5)
    after = evaluate(table_of(mapped, ranges=(float(f(RANGE[0])), float(f(RANGE[1])))), delta=0.5)
    for one, other in (
        (before.percentiles.z_aer, after.percentiles.z_aer),
        (before.percentiles.low_aer, after.percentiles.low_aer),
        (before.percentiles.high_aer, after.percentiles.high_aer),
        (before.score_a, after.score_a),
        (before.low_a, after.low_a),
        (before.high_a, after.high_a),
        (before.q_er, after.q_er),
    ):
        assert one is not None
        assert other is not None
        np.testing.assert_array_equal(one, other)


@FEW
@given(scores(least_trials=1), st.randoms(use_true_random=False), st.sampled_from(["pbp", "pbp-t"]))
def test_permuting_algorithms_and_environments_permutes_everything(cells: Cells, random: Any, intervals: str) -> None:
    n, m = len(cells), len(cells[0])
    a, e = random.sample(range(n), n), random.sample(range(m), m)
    before = judged(cells, intervals=intervals, delta=0.5)
    after = judged([[cells[i][j] for j in e] for i in a], intervals=intervals, delta=0.5)
    boxes = before.percentiles, after.percentiles
    for one, other in (
        (before.score_a[a], after.score_a),
        (before.low_a[a], after.low_a),
        (before.high_a[a], after.high_a),
        (before.q_er[np.ix_(e, a)], after.q_er),
        (boxes[0].z_aer[np.ix_(a, e, a)], boxes[1].z_aer),
        (np.asarray(boxes[0].low_aer)[np.ix_(a, e, a)], boxes[1].low_aer),
        (before.means.low_ae[np.ix_(a, e)], after.means.low_ae),
    ):
        assert other is not None
        np.testing.assert_allclose(other, one, atol=1e-10, rtol=0)


# --- what the numbers are


@FEW
@given(scores(), st.sampled_from([0.5, 0.05, 1e-9]))
def test_scores_are_within_their_bounds_and_weights_sum_to_one(cells: Cells, delta: float) -> None:
    found = judged(cells, delta=delta)
    assert (found.low_a <= found.score_a).all()
    assert (found.score_a <= found.high_a).all()
    assert found.low_a.min() >= 0.0
    assert found.high_a.max() <= 1.0
    assert found.q_er.sum() == pytest.approx(1.0, abs=1e-12)
    assert found.q_er.min() > 0.0
    assert (np.asarray(found.percentiles.low_aer) <= found.percentiles.z_aer).all()
    assert (found.percentiles.z_aer <= np.asarray(found.percentiles.high_aer)).all()
    assert (found.ranks.best <= found.ranks.rank).all()
    assert (found.ranks.rank <= found.ranks.worst).all()


@FEW
@given(scores(), st.sampled_from([1.9, 0.5, 0.01]))
def test_what_one_wins_the_other_loses(cells: Cells, delta: float) -> None:
    pooled = pools(table_of(cells))
    z = percentiles(pooled).z_aer
    np.testing.assert_allclose(z + z.transpose(2, 1, 0), 1.0, atol=1e-15)
    low, high = dkw.percentile_intervals(pooled, [RANGE] * len(pooled), delta, "mid-rank")
    np.testing.assert_allclose(low + high.transpose(2, 1, 0), 1.0, atol=1e-12)


@FEW
@given(scores(), st.integers(1, 100))
def test_a_smaller_delta_never_gives_narrower_intervals(cells: Cells, part: int) -> None:
    wide, narrow = judged(cells, delta=0.5 / (1 + part)), judged(cells, delta=0.5)
    assert (wide.low_a <= narrow.low_a + 1e-10).all()
    assert (wide.high_a >= narrow.high_a - 1e-10).all()
    assert (wide.means.low_ae <= narrow.means.low_ae + 1e-12).all()
    assert (wide.means.high_ae >= narrow.means.high_ae - 1e-12).all()


@st.composite
def boards(draw: Draw) -> tuple[Boxes, np.random.Generator]:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, m = draw(st.integers(2, 4)), draw(st.integers(1, 3))
    kinds = rng.integers(n, size=(m, n))
    width = draw(st.sampled_from([0.0, 0.1, 0.4]))
    low, high, ids = judging.random_board(rng, n, m, width=width, levels=draw(st.sampled_from([4, 40])), kinds=kinds)
    return Boxes(low, high, ids), rng


@FEW
@given(boards())
def test_wider_boxes_never_give_narrower_bounds(drawn: tuple[Boxes, np.random.Generator]) -> None:
    boxes, rng = drawn
    # Equal payoffs keep equal intervals.
    more = rng.random(int(boxes.same_aer.max()) + 1)[boxes.same_aer] * 0.3
    more[boxes.same_aer == 0] = 0.0
    wider = Boxes(np.clip(boxes.low_aer - more, 0, 1), np.clip(boxes.high_aer + more, 0, 1), boxes.same_aer)
    narrow, wide = propagate.propagated(boxes), propagate.propagated(wider)
    assert (wide.low_a <= narrow.low_a + 1e-9).all()
    assert (wide.high_a >= narrow.high_a - 1e-9).all()


@FEW
@given(boards())
def test_the_aggregates_of_any_payoffs_in_the_boxes_are_within_the_bounds(
    drawn: tuple[Boxes, np.random.Generator],
) -> None:
    boxes, rng = drawn
    bounds = propagate.propagated(boxes)
    for _ in range(3):
        where = rng.choice([0.0, 1.0, rng.random()], size=int(boxes.same_aer.max()) + 1)[boxes.same_aer]
        z = boxes.low_aer + where * (boxes.high_aer - boxes.low_aer)
        # Ends of intervals may meet in one number, which the game takes for a tie: eta/50 is between 0 and eta.
        y = game.aggregate(z, game.equilibrium(z).q_er)
        assert (bounds.low_a <= y + 1e-10).all()
        assert (y <= bounds.high_a + 1e-10).all()


# --- certificates


@FEW
@given(boards(), st.integers(1, 4), st.integers(0, 3))
def test_a_bound_that_was_stopped_early_is_wider_and_never_wrong(
    drawn: tuple[Boxes, np.random.Generator], policies: int, iterations: int
) -> None:
    boxes, rng = drawn
    n, m, _ = boxes.low_aer.shape
    rewards = [boxes.high_aer[0], -boxes.low_aer[0], rng.normal(size=(m, n))]
    early, slack = maxima(rewards, boxes, limits=Limits(policies, iterations))
    final, _ = maxima(rewards, boxes)
    c_minus, c_plus = judging.edge_bounds(boxes.low_aer, boxes.high_aer, "structural", boxes.same_aer)
    true = [judging.bound_by_policy_iteration(judging.reward_of(reward), c_minus, c_plus)[0] for reward in rewards]
    assert (early >= np.array(true) - 1e-13).all()
    # What it says it may be too wide by is true as well.
    assert (early - final <= slack + 1e-12).all()


def test_stopping_early_does_stop_early() -> None:
    rng = np.random.default_rng(1)
    low, high, ids = judging.random_board(rng, 4, 3, width=0.3)
    boxes = Boxes(low, high, ids)
    early, slack = maxima([high[0]], boxes, limits=Limits(2, 1))
    final, small = maxima([high[0]], boxes)
    assert early[0] > final[0] + 1e-6
    assert slack > 1e-6 > small


def test_a_bound_without_any_work_is_infinite() -> None:
    low, high, ids = judging.random_board(np.random.default_rng(2), 2, 2)
    bound, slack = maxima([high[0]], Boxes(low, high, ids), limits=Limits(0, 0))
    assert bound.tolist() == [np.inf]
    assert slack == np.inf


# --- in closed form


@FEW
@given(st.floats(0.501, 1.0))
def test_two_algorithms_and_one_environment(p: float) -> None:
    """
    Compare with the solution by hand.

    |S| = 4, gamma = 3/4, eta = 1/2. The first wins with probability p > 1/2: the walk leaves (0, 0) by jumps alone, and
    q = (4/5, 1/5) whatever p is (the oracle's tests have the four equations). So y = (2/5 + p/5, 9/10 - 4 p/5).
    """
    z = np.array([[[0.5, p]], [[1.0 - p, 0.5]]])
    found = game.equilibrium(z)
    np.testing.assert_allclose(found.q_er, [[0.8, 0.2]], atol=1e-12)
    np.testing.assert_allclose(game.aggregate(z, found.q_er), [0.4 + 0.2 * p, 0.9 - 0.8 * p], atol=1e-12)


@FEW
@given(st.floats(0.501, 1.0), st.floats(0.0, 0.5))
def test_bounds_of_two_algorithms_and_one_environment(p: float, width: float) -> None:
    """With p in [low, high], low > 1/2, every move is certain, weights are known, and y follows p."""
    low, high = max(p - width, 0.5005), min(p + width, 1.0)
    ids = structural(np.array([[0, 1]]))
    boxes = Boxes(np.array([[[0.5, low]], [[1.0 - high, 0.5]]]), np.array([[[0.5, high]], [[1.0 - low, 0.5]]]), ids)
    found = propagate.propagated(boxes)
    np.testing.assert_allclose(found.low_a, [0.4 + 0.2 * low, 0.9 - 0.8 * high], atol=1e-10)
    np.testing.assert_allclose(found.high_a, [0.4 + 0.2 * high, 0.9 - 0.8 * low], atol=1e-10)


# --- declared identical


METHODS = ["pbp", "pbp-t", "bootstrap"]


@FEW
@given(scores(most=3, least_trials=1), st.sampled_from(METHODS), st.sampled_from(["valid", "paper"]))
def test_what_is_declared_identical_is_equal_in_everything(cells: Cells, intervals: str, conventions: str) -> None:
    found = judged(
        [*cells, cells[0][::-1]],
        identical=[["algorithm-0", f"algorithm-{len(cells)}"]],
        intervals=intervals,
        conventions=conventions,
        resamples=20,
        delta=0.5,
    )
    for values in (found.score_a, found.low_a, found.high_a):
        assert values[0] == pytest.approx(values[-1], abs=1e-10)
    z = found.percentiles.z_aer
    np.testing.assert_array_equal(z[0], z[-1])
    np.testing.assert_array_equal(z[:, :, 0], z[:, :, -1])
    assert (z[0, :, -1] == 0.5).all()


@FEW
@given(scores(most=3, least_trials=1))
def test_a_duplicate_that_is_declared_says_more_than_one_that_is_not(cells: Cells) -> None:
    n, m = len(cells), len(cells[0])
    twice: Cells = [*cells, cells[0]]
    declared = table_of(twice, [["algorithm-0", f"algorithm-{n}"]])
    silent = table_of(twice)
    pooled = pools(declared), pools(silent)
    # Estimates are the same: a sample twice is the same distribution, and ties halved against itself 1/2.
    np.testing.assert_array_equal(percentiles(pooled[0]).z_aer, percentiles(pooled[1]).z_aer)
    assert evaluate(declared, intervals="pbp").score_a == pytest.approx(
        evaluate(silent, intervals="pbp").score_a, abs=1e-10
    )
    # The sides differ: two equal samples may come from two distributions that nearly agree.
    low, high = dkw.percentile_intervals(pooled[1], [RANGE] * m, 0.05, "mid-rank")
    assert (high[0, :, n] - low[0, :, n] > 0.1).all()
    tight = evaluate(declared, intervals="pbp").percentiles
    wide = evaluate(silent, intervals="pbp").percentiles
    assert tight.low_aer is not None
    assert tight.high_aer is not None
    assert wide.low_aer is not None
    assert wide.high_aer is not None
    assert (tight.high_aer - tight.low_aer <= wide.high_aer - wide.low_aer + 1e-12).all()
    assert (evaluate(declared, intervals="pbp").high_a - evaluate(declared, intervals="pbp").low_a).sum() < (
        evaluate(silent, intervals="pbp").high_a - evaluate(silent, intervals="pbp").low_a
    ).sum()


@FEW
@given(scores(most=3, least_trials=1))
def test_an_empty_duplicate_is_as_good_as_its_original(cells: Cells) -> None:
    n, m = len(cells), len(cells[0])
    shared = judged([*cells, [[] for _ in range(m)]], identical=[["algorithm-0", f"algorithm-{n}"]])
    assert shared.warnings == ()
    split = [[cell[::2] for cell in cells[0]], *cells[1:], [cell[1::2] for cell in cells[0]]]
    halved = judged(split, identical=[["algorithm-0", f"algorithm-{n}"]])
    np.testing.assert_array_equal(shared.percentiles.z_aer, halved.percentiles.z_aer)
    np.testing.assert_array_equal(shared.low_a, halved.low_a)
    np.testing.assert_array_equal(shared.high_a, halved.high_a)


def test_where_all_are_declared_identical_all_score_one_half() -> None:
    names = [f"algorithm-{a}" for a in range(4)]
    cells = [[[float(a + t) for t in range(3)] for _ in range(2)] for a in range(4)]
    found = judged(cells, identical=[names])
    for values in (found.score_a, found.low_a, found.high_a):
        np.testing.assert_allclose(values, 0.5, atol=1e-10)
    assert found.ranks.rank.tolist() == [1] * 4
    assert found.ranks.worst.tolist() == [4] * 4


@FEW
@given(scores(most=3, least_trials=1), st.data())
def test_repeating_all_trials_keeps_the_estimates_and_narrows_the_boxes(cells: Cells, data: Any) -> None:
    times = data.draw(st.integers(2, 4))
    repeated = [[cell * times for cell in row] for row in cells]
    once, often = pools(table_of(cells)), pools(table_of(repeated))
    np.testing.assert_array_equal(percentiles(once).z_aer, percentiles(often).z_aer)
    ends = [dkw.percentile_intervals(found, [RANGE] * len(found), 0.1, "mid-rank") for found in (once, often)]
    for a, e, r in itertools.product(range(len(cells)), range(len(cells[0])), range(len(cells))):
        assert ends[1][0][a, e, r] >= ends[0][0][a, e, r] - 1e-12
        assert ends[1][1][a, e, r] <= ends[0][1][a, e, r] + 1e-12


@FEW
@given(scores())
def test_the_order_of_trials_within_a_cell_does_not_matter(cells: Cells) -> None:
    """To methods that do not cut samples into blocks."""
    for intervals in ("pbp", "kl", "bentkus", "wilson"):
        one, other = (
            evaluate(table_of([[trials[::step] for trials in row] for row in cells]), intervals=intervals, refine=5)
            for step in (1, -1)
        )
        assert one.to_json(percentiles=True) == other.to_json(percentiles=True)
