"""Families of variants: the game against its dense matrix, and exact copies against the environment they are of."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import untuned
from oracle.reference import bounds, judging
from support.judging import evaluate
from untuned import families as variants
from untuned.errors import InvalidInput, UnknownName
from untuned.judge import differences, game
from untuned.judge.averaged_bound import functional
from untuned.judge.branching import is_possible, refined
from untuned.judge.jit import INTERPRETED
from untuned.judge.percentiles import Percentiles
from untuned.judge.propagate import aggregate_goals, bounds_of, propagated, solution, solutions
from untuned.judge.simultaneous_intervals import Boxes, structural
from untuned.judge.transitions import board
from untuned.judge.weights import fixed
from untuned.scores import Floats, ScoreTable
from untuned.verdicts import RESOLUTION

SEEDS = range(3 if INTERPRETED else 10)


def random_payoffs(rng: np.random.Generator, n: int, m: int) -> Floats:
    """Return payoffs of few levels or many: there are ties."""
    levels = int(rng.choice([2, 5, 1000]))
    z = rng.integers(levels + 1, size=(n, m, n)) / levels
    z = np.where(np.arange(n)[:, None, None] < np.arange(n)[None, None, :], z, 1.0 - z.transpose(2, 1, 0))
    z[np.arange(n), :, np.arange(n)] = 0.5
    return z


def shares_of(sizes: Sequence[int]) -> Floats:
    return np.concatenate([np.full(size, 1.0 / size) for size in sizes])


@pytest.mark.parametrize("seed", SEEDS)
def test_the_equilibrium_with_families_is_that_of_the_dense_matrix(seed: int) -> None:
    rng = np.random.default_rng([1, seed])
    sizes = [int(size) for size in rng.integers(1, 4, size=int(rng.integers(1, 4)))]
    n, m = int(rng.integers(2, 5)), sum(sizes)
    z, share_e = random_payoffs(rng, n, m), shares_of(sizes)
    found = game.equilibrium(z, share_e=share_e)
    y, q = judging.aggregate(z, share_e)
    np.testing.assert_allclose(found.q_er, q, atol=1e-11, rtol=0)
    np.testing.assert_allclose(game.aggregate(z, found.q_er), y, atol=1e-11, rtol=0)
    assert found.error <= 1e-11
    # Without variants it is the published game.
    alone = judging.aggregate(z, np.ones(m))
    np.testing.assert_allclose(alone[1], judging.aggregate(z)[1], atol=1e-13)


@settings(max_examples=5 if INTERPRETED else 60, deadline=None)
@given(seed=st.integers(0, 10**6), copies=st.lists(st.integers(1, 5), min_size=1, max_size=4))
def test_exact_copies_in_a_family_change_nothing(seed: int, copies: list[int]) -> None:
    rng = np.random.default_rng([2, seed])
    n, m = int(rng.integers(2, 6)), len(copies)
    z = random_payoffs(rng, n, m)
    once = game.equilibrium(z)
    copied, share_e = np.repeat(z, copies, axis=1), shares_of(copies)
    found = game.equilibrium(copied, share_e=share_e)
    first = [sum(copies[:e]) for e in range(m)]
    np.testing.assert_allclose(np.add.reduceat(found.q_er, first, axis=0), once.q_er, atol=1e-11, rtol=0)
    np.testing.assert_allclose(game.aggregate(copied, found.q_er), game.aggregate(z, once.q_er), atol=1e-11, rtol=0)
    # All copies of one have the same weight.
    np.testing.assert_allclose(found.q_er, np.repeat(once.q_er, copies, axis=0) * share_e[:, None], atol=1e-11, rtol=0)
    # Without the declaration they do matter, in some games.
    equal = [f"{e}-{k}" for e, size in enumerate(copies) for k in range(size)]
    declared = {f"family {e}": tuple(f"{e}-{k}" for k in range(size)) for e, size in enumerate(copies)}
    q_er = fixed("uniform", [str(a) for a in range(n)], equal, declared)
    assert q_er is not None
    np.testing.assert_allclose(game.aggregate(copied, q_er), z.mean(axis=(1, 2)), atol=1e-12)


def test_copies_that_are_not_declared_move_the_game() -> None:
    """The comparison above can tell families from none: the example of the documentation."""
    z = np.full((2, 2, 2), 0.5)
    z[0, :, 1], z[1, :, 0] = (0.7, 0.1), (0.3, 0.9)
    ahead = []
    for copies in (1, 10):
        copied = np.repeat(z, (copies, 1), axis=1)
        y = game.aggregate(copied, game.equilibrium(copied).q_er)
        ahead.append(float(y[0] - y[1]))
    assert ahead[0] < -0.05
    assert ahead[1] > 0.02


def random_boxes(rng: np.random.Generator, n: int, m: int, width: float) -> Boxes:
    low, high, _ = judging.random_board(rng, n, m, width=width, levels=int(rng.choice([4, 20, 200])))
    return Boxes(low, high, structural(np.tile(np.arange(n), (m, 1))))


def copied_boxes(boxes: Boxes, copies: Sequence[int]) -> Boxes:
    low, high = (np.repeat(ends, copies, axis=1) for ends in (boxes.low_aer, boxes.high_aer))
    same = structural(np.tile(np.arange(len(low)), (sum(copies), 1)))
    return Boxes(low, high, same, shares_of(copies))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("parts", [0, 1, 4])
def test_bounds_and_verdicts_are_those_without_the_copies(seed: int, parts: int) -> None:
    rng = np.random.default_rng([3, seed])
    n, m = int(rng.integers(2, 4)), int(rng.integers(2, 4))
    copies = [int(size) for size in rng.integers(1, 4, size=m)]
    once = random_boxes(rng, n, m, float(rng.choice([0.1, 0.3])))
    found = []
    for boxes in (once, copied_boxes(once, copies)):
        solved = solutions(aggregate_goals(boxes), boxes, parts=parts)
        score_a = np.zeros(n)
        bound = differences.direct(
            boxes, parts, [each.values for each in solved], score_a, differences.separate(bounds_of(solved))
        )
        found.append((bounds_of(solved), bound.pairs()))
    np.testing.assert_allclose(found[0][0].low_a, found[1][0].low_a, atol=1e-9)
    np.testing.assert_allclose(found[0][0].high_a, found[1][0].high_a, atol=1e-9)
    np.testing.assert_allclose(found[0][1].high_ab, found[1][1].high_ab, atol=1e-7)
    clear = np.abs(found[0][1].high_ab) > 1e-6
    np.testing.assert_array_equal(found[0][1].better_ab[clear.T], found[1][1].better_ab[clear.T])


@pytest.mark.skipif(INTERPRETED, reason="tens of thousands of games take minutes: unset NUMBA_DISABLE_JIT")
def test_bounds_with_families_are_the_largest_over_all_corners() -> None:
    compared = 0
    for seed in range(60):
        rng = np.random.default_rng([4, seed])
        n, sizes = 2, [2, 1] if seed % 2 else [2]
        m, share_e = sum(sizes), shares_of(sizes)
        low, high, ids = judging.random_board(rng, n, m, width=0.15, levels=10)
        edges = judging.edge_bounds(low, high, "structural", ids, shares=share_e)
        if not 1 <= len(judging.uncertain_edges(*edges)) <= 10:
            continue
        compared += 1
        boxes = Boxes(low, high, ids, share_e)
        whole = propagated(boxes)
        for a in range(n):
            largest = judging.largest_with_families(judging.reward_of(high[a]), *edges, n, m, share_e)
            smallest = -judging.largest_with_families(judging.reward_of(-low[a]), *edges, n, m, share_e)
            assert whole.high_a[a] == pytest.approx(largest, abs=1e-10)
            assert whole.low_a[a] == pytest.approx(smallest, abs=1e-10)
    assert compared >= 8


@pytest.mark.parametrize("seed", SEEDS)
def test_no_game_that_the_intervals_allow_is_outside_any_bound(seed: int) -> None:
    """Aggregates, differences, branching and the functional bound, with families; games at corners and within."""
    rng = np.random.default_rng([5, seed])
    n, sizes = 3, [2, 1] if seed % 2 else [3, 2]
    m, share_e = sum(sizes), shares_of(sizes)
    low, high, ids = judging.random_board(rng, n, m, width=0.2, levels=20)
    boxes = Boxes(low, high, ids, share_e)
    solved = solutions(aggregate_goals(boxes), boxes, parts=1)
    within = bounds_of(solved)
    bound = differences.direct(boxes, 1, [each.values for each in solved], np.zeros(n), differences.separate(within))
    cut = {(i, j): refined(boxes, i, j, 12) for i, j in ((0, 1), (2, 0))}
    largest = np.full((n, n), -np.inf)
    for number in range(30):
        inside = rng.random(low.shape) if number % 2 else rng.integers(2, size=low.shape).astype(np.float64)
        z = low + inside * (high - low)
        z = np.where(np.arange(n)[:, None, None] < np.arange(n)[None, None, :], z, 1.0 - z.transpose(2, 1, 0))
        z[np.arange(n), :, np.arange(n)] = 0.5
        y, _ = judging.aggregate(z, share_e)
        assert (y <= within.high_a + 1e-9).all()
        assert (y >= within.low_a - 1e-9).all()
        largest = np.maximum(largest, y[:, None] - y[None, :])
    assert (largest <= bound.high_ab + 1e-9).all()
    for (i, j), found in cut.items():
        assert largest[i, j] <= found.bound + 1e-9
        if is_possible(boxes, i, j):
            assert found.bound >= -RESOLUTION
    # The estimates in the middle, without any error: what is possible is below the functional bound.
    middle = 0.5 * (low + high)
    estimates = Percentiles(middle, np.ones(middle.shape, np.bool_), np.full((n, m), 10**9), "mid-rank")
    point = Boxes(middle, middle, ids, share_e)
    y, _ = judging.aggregate(middle, share_e)
    for i, j in ((0, 1), (1, 2)):
        assert functional(point, 1, estimates, 0.05).bound(i, j) >= y[i] - y[j] - 1e-9


def test_an_unbalanced_board_with_many_variants_has_an_oracle_with_negative_stays() -> None:
    """Moves may have more than all of a step's probability: the equations still hold."""
    z = np.full((2, 3, 2), 0.5)
    z[0, :, 1], z[1, :, 0] = (0.9, 0.8, 0.7), (0.1, 0.2, 0.3)
    share_e = np.full(3, 1.0 / 3.0)
    matrix = judging.transition_matrix(z, shares=share_e)
    assert matrix.diagonal().min() < 0.0
    d = judging.equilibrium_with_families(z, share_e)
    assert d.min() > 0.0
    assert d.sum() == pytest.approx(1.0)
    boxes = Boxes(z, z, structural(np.tile(np.arange(2), (3, 1))), share_e)
    made = board(boxes, 1)
    for goal in aggregate_goals(boxes):
        found, _ = solution(goal, made)
        expected, _ = bounds.bound(z, z, boxes.same_aer, 1, goal.reward, goal.plus, goal.minus, share_e)
        assert found.bound == pytest.approx(expected, abs=1e-10)


# --- as options

SCORES = {
    "A": {"maze-1": [3.0, 4.0, 5.0], "maze-2": [3.0, 6.0, 5.0], "arm": [0.0, 1.0, 2.0]},
    "B": {"maze-1": [1.0, 4.5, 2.0], "maze-2": [1.0, 2.5, 2.0], "arm": [2.0, 3.0, 1.5]},
}
MAZE = {"maze": ["maze-1", "maze-2"]}


def test_equal_weights_are_those_of_families() -> None:
    found = evaluate(ScoreTable.from_dict(SCORES), families=MAZE).under("uniform")
    np.testing.assert_allclose(found.environment_weights, [0.25, 0.25, 0.5])
    assert found.judging.families == {"maze": ("maze-1", "maze-2")}
    assert found.to_dict()["settings"]["families"] == {"maze": ["maze-1", "maze-2"]}
    assert "maze (maze-1, maze-2)" in found.statement
    assert "families" not in evaluate(ScoreTable.from_dict(SCORES)).settings


def test_given_weights_are_taken_as_they_are_and_may_name_a_family() -> None:
    table = ScoreTable.from_dict(SCORES)
    by_name = evaluate(table, families=MAZE, weights={"maze": 2, "arm": 1})
    np.testing.assert_allclose(by_name.environment_weights, [1 / 3, 1 / 3, 1 / 3])
    by_environment = evaluate(table, families=MAZE, weights={"maze-1": 2, "arm": 1})
    np.testing.assert_allclose(by_environment.environment_weights, [2 / 3, 0, 1 / 3])


def test_one_family_alone_is_one_environment() -> None:
    table = ScoreTable.from_dict(SCORES).select(environments=["maze-1", "maze-2"])
    assert [each.weights for each in evaluate(table, families=MAZE).rankings] == ["uniform"]
    with pytest.raises(InvalidInput, match="variants of one, 'maze'"):
        evaluate(table, families=MAZE, weights="game")


@pytest.mark.parametrize(
    ("families", "message"),
    [
        ({"maze": ["maze-1", "mase-2"]}, "did you mean 'maze-2'"),
        ({"maze": ["maze-1"], "other": ["maze-1", "arm"]}, "'maze-1' is in 'maze' and 'other'"),
        ({"maze": ["maze-1", "maze-1"]}, "'maze' twice"),
        ({"arm": ["maze-1", "maze-2"]}, "is the name of an environment too"),
        ({"maze": []}, "'maze' is empty"),
        ({"maze": "maze-1"}, "write a list of environments"),
        ({"maze": [1]}, "write the names of environments"),
        ({" ": ["maze-1"]}, "is not a name"),
        (["maze-1"], "is not allowed"),
    ],
)
def test_families_that_cannot_be_right_are_refused(families: object, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        evaluate(ScoreTable.from_dict(SCORES), families=families)
    if message.startswith("did"):
        with pytest.raises(UnknownName):
            evaluate(ScoreTable.from_dict(SCORES), families=families)


def test_the_papers_conventions_have_no_families() -> None:
    table = ScoreTable.from_dict(SCORES)
    with pytest.raises(InvalidInput, match="has no families"):
        evaluate(table, families=MAZE, conventions="paper")
    with pytest.raises(InvalidInput, match="the study declares families"):
        evaluate(variants_of_a_study(table), conventions="paper")
    assert evaluate(variants_of_a_study(table), conventions="paper", families={}).rankings


def variants_of_a_study(table: ScoreTable) -> ScoreTable:
    return replace(table, families=variants.checked(MAZE))


def test_what_a_study_declares_is_the_default() -> None:
    table = variants_of_a_study(ScoreTable.from_dict(SCORES))
    np.testing.assert_allclose(evaluate(table).under("uniform").environment_weights, [0.25, 0.25, 0.5])
    np.testing.assert_allclose(evaluate(table, families={}).under("uniform").environment_weights, np.full(3, 1 / 3))
    # Excluded environments are not variants any more, and new names are used.
    without = untuned.evaluate(table, without=["maze-2"]).under("uniform")
    np.testing.assert_allclose(without.environment_weights, [0.5, 0.5])
    renamed = untuned.evaluate(table, rename={"maze-1": "m1"})
    assert renamed.judging.families == {"maze": ("m1", "maze-2")}
    left = untuned.evaluate(ScoreTable.from_dict(SCORES), families=MAZE, without=["maze-2"]).under("uniform")
    np.testing.assert_allclose(left.environment_weights, [0.5, 0.5])


def test_the_bootstrap_and_plans_know_families() -> None:
    rng = np.random.default_rng(7)
    cells = {
        name: {place: rng.normal(shift, 1, 60) for place in ("maze-1", "maze-2", "arm")}
        for name, shift in (("A", 0.4), ("B", 0.0))
    }
    table = ScoreTable.from_dict(cells)
    found = evaluate(table, families=MAZE, intervals="bootstrap", weights="game", resamples=200)
    z = found.percentiles.z_aer
    np.testing.assert_allclose(found.score_a, judging.aggregate(z, shares_of([2, 1]))[0], atol=1e-11)
    assert (found.low_a <= found.score_a).all()
    assert (found.score_a <= found.high_a).all()
    assert untuned.plan(evaluate(table, families=MAZE, weights="game", intervals="kl"), most=10**5).pairs
