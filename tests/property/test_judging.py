"""What must hold for any scores and any boxes, whatever the numbers."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from untuned.judge.boxes import Boxes, structural
from untuned.judge.evaluate import evaluate
from untuned.judge.game import aggregate, equilibrium
from untuned.judge.jit import INTERPRETED
from untuned.judge.methods import boxes, method
from untuned.judge.percentiles import percentiles
from untuned.judge.pool import pools
from untuned.judge.propagate import Limits, maxima, propagated
from untuned.scores import Floats, ScoreTable

FEW = settings(max_examples=40 if not INTERPRETED else 5, deadline=None, suppress_health_check=list(HealthCheck))

# Small numbers tie often; they are exact in binary, so that shifting and scaling them is, too.
SCORES = st.integers(-6, 6).map(float)


@st.composite
def tables(draw: st.DrawFn, least: int = 1) -> ScoreTable:
    n, m = draw(st.integers(2, 4)), draw(st.integers(2, 3))
    cells = [[draw(st.lists(SCORES, min_size=least, max_size=12)) for _ in range(m)] for _ in range(n)]
    # Something must have been measured.
    cells[0][0] = cells[0][0] or [0.0]
    return ScoreTable.from_array(cells, ranges=(-8.0, 8.0))


@st.composite
def boards(draw: st.DrawFn) -> Boxes:
    """Boxes around random payoffs, an algorithm against itself at exactly 1/2."""
    n, m = draw(st.integers(2, 4)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    z = np.round(rng.random((n, m, n)), draw(st.integers(1, 3)))
    half = draw(st.sampled_from([0.0, 0.02, 0.1, 0.4])) * rng.random((n, m, n))
    low, high = np.clip(z - half, 0.0, 1.0), np.clip(z + half, 0.0, 1.0)
    own = np.arange(n)
    low[own, :, own] = high[own, :, own] = 0.5
    return Boxes(low, high, structural(np.tile(own, (m, 1))))


def mapped(table: ScoreTable, function: "np.ufunc | object") -> ScoreTable:
    assert callable(function)
    return ScoreTable.from_array(
        [[function(cell) for cell in row] for row in table.cells],
        ranges=tuple(function(np.array(table.ranges[0])).tolist()),
    )


@FEW
@given(tables(least=0), st.sampled_from([lambda x: 3.0 * x + 1.0, lambda x: x**3, np.exp, np.arctan]))
def test_increasing_maps_of_scores_change_nothing(table: ScoreTable, function: object) -> None:
    one, other = evaluate(table), evaluate(mapped(table, function))
    assert (one.percentiles.z_aer == other.percentiles.z_aer).all()
    assert np.array_equal(np.asarray(one.percentiles.low_aer), np.asarray(other.percentiles.low_aer))
    assert np.array_equal(np.asarray(one.percentiles.high_aer), np.asarray(other.percentiles.high_aer))
    assert (one.score_a == other.score_a).all()
    assert (one.low_a == other.low_a).all()


@FEW
@given(tables(least=0), st.randoms(use_true_random=False), st.sampled_from(["pbp", "pbp-t"]))
def test_relabelling_permutes(table: ScoreTable, random: object, intervals: str) -> None:
    rows, columns = list(range(len(table.algorithms))), list(range(len(table.environments)))
    random.shuffle(rows)  # type: ignore[attr-defined]
    random.shuffle(columns)  # type: ignore[attr-defined]
    shuffled = table.select([table.algorithms[a] for a in rows], [table.environments[e] for e in columns])
    one, other = evaluate(table, intervals=intervals), evaluate(shuffled, intervals=intervals)
    assert one.score_a[rows] == pytest.approx(other.score_a, abs=1e-10)
    assert one.low_a[rows] == pytest.approx(other.low_a, abs=1e-9)
    assert one.high_a[rows] == pytest.approx(other.high_a, abs=1e-9)
    assert one.q_er[np.ix_(columns, rows)] == pytest.approx(other.q_er, abs=1e-10)


@FEW
@given(tables(least=0), st.sampled_from(["pbp", "pbp-t"]), st.sampled_from(["game", "uniform"]))
def test_scores_lie_within_their_bounds_and_weights_sum_to_one(table: ScoreTable, intervals: str, weights: str) -> None:
    found = evaluate(table, intervals=intervals, weights=weights)
    assert (found.low_a <= found.score_a + 1e-10).all()
    assert (found.score_a <= found.high_a + 1e-10).all()
    assert (found.q_er >= 0.0).all()
    assert found.q_er.sum() == pytest.approx(1.0, abs=1e-12)
    assert (found.ranks.best <= found.ranks.rank).all()
    assert (found.ranks.rank <= found.ranks.worst).all()


@FEW
@given(tables(least=0))
def test_what_one_wins_the_other_loses(table: ScoreTable) -> None:
    pooled = pools(table)
    estimates = percentiles(pooled)
    assert estimates.z_aer + np.swapaxes(estimates.z_aer, 0, 2) == pytest.approx(1.0, abs=1e-12)
    box = boxes(method("pbp"), table, pooled, estimates, 0.05, "valid")
    assert box.low_aer + np.swapaxes(box.high_aer, 0, 2) == pytest.approx(1.0, abs=1e-12)


@FEW
@given(tables())
def test_more_trials_for_nobody_change_nothing(table: ScoreTable) -> None:
    again = ScoreTable.from_array([[[*cell] for cell in row] for row in table.cells], ranges=table.ranges[0])
    assert evaluate(table).to_json() == evaluate(again).to_json()


@FEW
@given(tables())
def test_the_order_of_trials_within_a_cell_does_not_matter(table: ScoreTable) -> None:
    backwards = ScoreTable.from_array([[cell[::-1] for cell in row] for row in table.cells], ranges=table.ranges[0])
    one, other = evaluate(table), evaluate(backwards)
    assert (one.score_a == other.score_a).all()
    assert (one.high_a == other.high_a).all()


@FEW
@given(boards(), st.floats(0.0, 0.3))
def test_wider_boxes_never_give_narrower_bounds(box: Boxes, more: float) -> None:
    low, high = np.clip(box.low_aer - more, 0.0, 1.0), np.clip(box.high_aer + more, 0.0, 1.0)
    own = np.arange(low.shape[0])
    low[own, :, own] = high[own, :, own] = 0.5
    narrow, wide = propagated(box), propagated(Boxes(low, high, box.same_aer))
    assert (wide.low_a <= narrow.low_a + 1e-9).all()
    assert (wide.high_a >= narrow.high_a - 1e-9).all()


@FEW
@given(boards(), st.integers(0, 2**32 - 1))
def test_every_game_inside_the_boxes_has_its_aggregate_inside_the_bounds(box: Boxes, seed: int) -> None:
    found = propagated(box)
    share = np.random.default_rng(seed).random(box.low_aer.shape)
    z = box.low_aer + share * (box.high_aer - box.low_aer)
    # Payoffs that are equal by construction stay so.
    y = aggregate(z, equilibrium(z).q_er)
    assert (found.low_a <= y + 1e-10).all()
    assert (y <= found.high_a + 1e-10).all()


@FEW
@given(boards(), st.integers(1, 3), st.integers(1, 4))
def test_stopping_early_makes_a_bound_wider_and_never_wrong(box: Boxes, policies: int, iterations: int) -> None:
    rewards = [box.high_aer[0], -box.low_aer[0]]
    whole, slack = maxima(rewards, box)
    early, wide = maxima(rewards, box, limits=Limits(policies=policies, iterations=iterations))
    assert (early >= whole - slack).all()
    assert (early - whole <= wide + 1e-12).all()


@FEW
@given(st.lists(SCORES, min_size=1, max_size=30), st.lists(SCORES, min_size=1, max_size=30))
def test_two_algorithms_on_one_environment_in_closed_form(one: list[float], other: list[float]) -> None:
    # With p = z[0, 0, 1] > 1/2 the first always wins: d = (53, 11, 11, 5)/80, q = (4/5, 1/5).
    table = ScoreTable.from_array([[one], [other]])
    z = percentiles(pools(table)).z_aer
    p = z[0, 0, 1]
    found = equilibrium(z)
    y = aggregate(z, found.q_er)
    if p > 0.5:
        assert found.q_er[0] == pytest.approx([0.8, 0.2], abs=1e-12)
        assert y == pytest.approx([0.4 + 0.2 * p, 0.9 - 0.8 * p], abs=1e-12)
    elif p < 0.5:
        assert y == pytest.approx([0.9 - 0.8 * (1 - p), 0.4 + 0.2 * (1 - p)], abs=1e-12)
    else:
        assert found.q_er[0] == pytest.approx([0.5, 0.5], abs=1e-12)
        assert y == pytest.approx([0.5, 0.5], abs=1e-12)


@FEW
@given(st.floats(0.0, 0.5), st.floats(0.5, 1.0))
def test_an_undecided_duel_in_closed_form(low: float, high: float) -> None:
    box = Boxes(
        np.array([[[0.5, low]], [[1.0 - high, 0.5]]]),
        np.array([[[0.5, high]], [[1.0 - low, 0.5]]]),
        structural(np.array([[0, 1]])),
    )
    found = propagated(box)
    assert found.low_a[0] == pytest.approx(0.1 + 0.8 * low, abs=1e-9)
    assert found.high_a[0] == pytest.approx(0.1 + 0.8 * high, abs=1e-9)


@FEW
@given(tables())
def test_algorithms_declared_identical_share_everything(table: ScoreTable) -> None:
    same = ScoreTable.from_array(table.cells, ranges=table.ranges[0], identical=[["algorithm-1", "algorithm-2"]])
    found = evaluate(same)
    for shared in (found.score_a, found.low_a, found.high_a):
        assert shared[0] == pytest.approx(shared[1], abs=1e-10)
    assert (found.percentiles.z_aer[0, :, 1] == 0.5).all()
    pooled: Floats = np.concatenate([same.cells[0][0], same.cells[1][0]])
    merged = ScoreTable.from_array([[pooled], [same.cells[-1][0]]])
    if len(table.algorithms) > 2:
        expected = percentiles(pools(merged)).z_aer[0, 0, 1]
        assert found.percentiles.z_aer[0, 0, -1] == found.percentiles.z_aer[1, 0, -1] == expected
