"""Bounds with parts, and the sums they are made of, against dense versions: short rows and long ones alike."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from oracle.reference import bounds, judging
from oracle.reference.judging import Floats
from untuned.judge.game import POPULATION
from untuned.judge.jit import INTERPRETED
from untuned.judge.propagate import Goal, propagated, solution
from untuned.judge.simultaneous_intervals import ONE_HALF, Boxes, structural
from untuned.judge.transitions import (
    ABOVE,
    BELOW,
    Board,
    Policy,
    arrivals,
    board,
    departures,
    new_policy,
    part_of,
    rank_worth,
    settle,
)

SEEDS = range(3 if INTERPRETED else 40)
PARTS = [0, 1, 2, 4]
#: Rows are long from this many columns on: with the first, all of these boards' are; with the second, none.
LONG, SHORT = 2, 10**9


def random_boxes(*key: int) -> Boxes:
    """Return a tiny board: few levels or none, ends at one half, points, groups that were declared identical."""
    rng = np.random.default_rng([20205, *key])
    n, m = int(rng.integers(2, 5)), int(rng.integers(1, 4))
    kinds = np.tile(np.arange(n), (m, 1)) if rng.random() < 0.5 else rng.integers(n, size=(m, n))
    ids = structural(kinds)
    levels = int(rng.choice([2, 4, 8, 64]))
    low, high = np.full((n, m, n), 0.5), np.full((n, m, n), 0.5)
    for a, e, r in itertools.product(range(n), range(m), range(n)):
        if ids[a, e, r] == ONE_HALF or a > r:
            continue
        ends = np.sort(rng.integers(levels + 1, size=2) / levels if rng.random() < 0.7 else rng.random(2))
        where = rng.random()
        if where < 0.15:
            ends = np.array([min(ends[0], 0.5), 0.5])
        elif where < 0.3:
            ends = np.array([0.5, max(ends[1], 0.5)])
        elif where < 0.4:
            ends[1] = ends[0]
        forth, back = ids == ids[a, e, r], ids == ids[r, e, a]
        low[forth], high[forth] = ends
        low[back], high[back] = 1.0 - ends[::-1]
    # In half of the boards all environments but the last are variants of one, so that each kind of sum is tested.
    variants = m - 1 if m > 2 else m
    share = np.where(np.arange(m) < variants, 1.0 / variants, 1.0) if rng.random() < 0.5 else None
    return Boxes(low, high, ids, share)


def test_the_boards_of_these_tests_are_of_all_kinds() -> None:
    drawn = [random_boxes(seed) for seed in range(40)]
    unknown = [found.same_aer != ONE_HALF for found in drawn]
    assert any(len(np.unique(found.same_aer)) < found.same_aer.size // 2 for found in drawn)
    assert any((found.low_aer[own] == 0.5).any() for found, own in zip(drawn, unknown, strict=True))
    assert any((found.high_aer[own] == 0.5).any() for found, own in zip(drawn, unknown, strict=True))
    assert any((found.low_aer == found.high_aer)[own].any() for found, own in zip(drawn, unknown, strict=True))
    shares = [found.share_e for found in drawn if found.share_e is not None]
    assert {tuple(each) for each in shares} >= {(1.0,), (0.5, 0.5), (0.5, 0.5, 1.0)}
    assert 10 < len(shares) < 30
    for found in drawn:
        np.testing.assert_array_equal(found.low_aer, 1.0 - found.high_aer.transpose(2, 1, 0))
        for number in np.unique(found.same_aer):
            same = found.same_aer == number
            assert np.ptp(found.low_aer[same]) == np.ptp(found.high_aer[same]) == 0.0


# --- parts


@pytest.mark.parametrize("parts", [1, 2, 3, 4, 7])
def test_parts_are_the_oracles_and_leave_nothing_out(parts: int) -> None:
    rng = np.random.default_rng(parts)
    ends = [0.0, 0.1, 0.25, BELOW, 0.5, ABOVE, 0.75, 1.0, *rng.random(8)]
    for low, high in itertools.combinations_with_replacement(sorted(ends), 2):
        found = [part_of(low, high, part, parts) for part in range(2 * parts + 1)]
        expected = sorted(set(bounds.parts_of(low, high, parts)))
        np.testing.assert_allclose(sorted(set(found)), expected, rtol=0, atol=1e-15)
        assert min(bottom for bottom, _ in found) == low
        assert max(top for _, top in found) == high
        assert all(bottom <= top for bottom, top in found)
        # Sorted, each begins where the one before it ends, or at the very next number.
        for (_, top), (bottom, _) in itertools.pairwise(sorted(set(found))):
            assert bottom <= np.nextafter(top, 2.0)
        if low < 0.5 < high:
            assert (0.5, 0.5) in found
            assert not any(bottom <= 0.5 <= top for bottom, top in found if bottom < top)


# --- sums over moves


def random_policy(made: Board, rng: np.random.Generator) -> Policy:
    """Return a policy with worths that are equal at times, and payoffs taken for parts of their intervals."""
    policy = new_policy(made)
    levels = int(rng.choice([1, 2, 5, 1000]))
    policy.worth[:] = rng.integers(levels, size=made.low.shape) / levels
    for place in np.ndindex(made.low.shape):
        if made.parts > 0:
            part = int(rng.integers(2 * made.parts + 1))
            policy.bottom[place], policy.top[place] = part_of(
                float(made.low[place]), float(made.high[place]), part, made.parts
            )
    rank_worth(policy, made)
    settle(policy, made)
    return policy


def dense(made: Board, policy: Policy, boxes: Boxes) -> Floats:
    """Return the rates of all moves over eta, from every state (rows) to every other."""
    n, m, _ = boxes.low_aer.shape
    low, high, names = (values.reshape(-1) for values in (boxes.low_aer, boxes.high_aer, boxes.same_aer))
    bottom, top, worth = policy.bottom.reshape(-1), policy.top.reshape(-1), policy.worth.reshape(-1)
    matrix = np.zeros((low.size, low.size))
    for s, t, sign in judging.moves(n, m):
        own, other = (float(bottom[s]), float(top[s])), (float(low[t]), float(high[t]))
        rate = judging.move_share(t, sign, n, m, boxes.share_e)
        least, most = bounds.rates(own, other, sign, int(names[s]), int(names[t]), rate, made.parts)
        matrix[s, t] = most if worth[t] > worth[s] else least
    return matrix


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("seed", SEEDS)
def test_departures_and_arrivals_are_products_with_the_matrix_of_moves(seed: int, parts: int) -> None:
    boxes = random_boxes(1, seed)
    for long in (LONG, SHORT):
        made = board(boxes, parts, long=long)
        assert (made.by_high.size > 0) is (long == LONG)
        rng = np.random.default_rng([seed, parts])
        policy = random_policy(made, rng)
        matrix = dense(made, policy, boxes)
        values, shares = rng.normal(size=made.low.shape), rng.random(made.low.shape)
        sent, received = np.empty(made.low.shape), np.full(made.low.shape, np.nan)
        departures(values, policy, made, sent)
        np.testing.assert_allclose(sent.ravel(), matrix @ values.ravel(), atol=1e-12)
        arrivals(shares, policy, made, received)
        np.testing.assert_allclose(received.ravel(), shares.ravel() @ matrix, atol=1e-12)
        assert np.sum(shares * sent) == pytest.approx(np.sum(received * values), abs=1e-11)


def test_the_matrices_of_these_tests_have_every_kind_of_move() -> None:
    """Moves that are off, on and ties, ties with one half among them."""
    found = set()
    halves = 0
    for seed in range(10):
        boxes = random_boxes(1, seed)
        made = board(boxes, 2, long=SHORT)
        policy = random_policy(made, np.random.default_rng([seed, 2]))
        found |= set(np.unique(dense(made, policy, boxes)))
        taken = (policy.bottom == policy.top) & (policy.top == 0.5) & (boxes.same_aer.reshape(made.low.shape) != 0)
        halves += int(taken.sum())
    assert found == {0.0, 0.5 / POPULATION, 1.0 / POPULATION, 0.5, 1.0}
    assert halves > 10


@pytest.mark.skipif(INTERPRETED, reason="a large board takes minutes without the compiler: unset NUMBA_DISABLE_JIT")
def test_long_rows_of_a_larger_board() -> None:
    rng = np.random.default_rng(3)
    low, high, ids = judging.random_board(rng, 8, 70, width=0.3, levels=50, kinds=rng.integers(8, size=(70, 8)))
    boxes = Boxes(low, high, ids)
    found = []
    # By their own number of columns, 560, these rows are long.
    for made in (board(boxes, 2), board(boxes, 2, long=SHORT)):
        policy = random_policy(made, np.random.default_rng(4))
        image = np.empty(made.low.shape)
        departures(np.random.default_rng(5).normal(size=image.shape), policy, made, image)
        found.append(image)
    np.testing.assert_allclose(found[0], found[1], atol=1e-10)
    assert np.abs(found[0]).max() > 1.0


# --- bounds


def goals(boxes: Boxes, rng: np.random.Generator) -> list[Goal]:
    """Return a bound's goal from above, from below, of a difference, and of any kind."""
    n, m, _ = boxes.low_aer.shape
    i, j = (int(a) for a in rng.permutation(n)[:2])
    low, high = boxes.low_aer, boxes.high_aer
    return [
        Goal(high[i], plus=i),
        Goal(-low[j], minus=j),
        Goal(high[i] - low[j], plus=i, minus=j),
        Goal(rng.normal(0.3, 5.0, size=(m, n))),
    ]


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("seed", SEEDS)
def test_solutions_are_the_oracles(seed: int, parts: int) -> None:
    boxes = random_boxes(2, seed)
    rng = np.random.default_rng([seed, parts])
    for goal in goals(boxes, rng):
        expected, values = bounds.bound(
            boxes.low_aer, boxes.high_aer, boxes.same_aer, parts, goal.reward, goal.plus, goal.minus, boxes.share_e
        )
        scale = 1.0 + float(np.abs(goal.reward).max())
        for long in (LONG, SHORT):
            made = board(boxes, parts, long=long)
            found, _ = solution(goal, made)
            assert found.bound == pytest.approx(expected, abs=1e-9)
            # Never below, but for the oracle's own rounding.
            assert found.bound >= expected - 1e-13 * scale
            assert 0.0 <= found.slack <= 1e-9 * scale
            # From other values it is the same, from the oracle's at once.
            again, _ = solution(goal, made, start=rng.normal(size=made.low.shape))
            assert again.bound == pytest.approx(expected, abs=1e-9)
            centred = values.reshape(made.low.shape) - goal.reward.mean() * values.size
            at_once, _ = solution(goal, made, start=centred)
            assert at_once.bound == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_oracle_without_parts_is_the_published_one(seed: int) -> None:
    boxes = random_boxes(3, seed)
    # The published game has no families.
    low, high, ids = boxes.low_aer, boxes.high_aer, boxes.same_aer
    edges = judging.edge_bounds(low, high, "structural", ids)
    np.testing.assert_allclose(
        bounds.aggregate_bounds(low, high, ids, 0), judging.aggregate_bounds(low, high, *edges), atol=1e-11
    )
    np.testing.assert_allclose(
        bounds.difference_bounds(low, high, ids, 0), judging.difference_bounds(low, high, *edges), atol=1e-11
    )


@pytest.mark.parametrize("parts", PARTS)
def test_bounds_on_every_aggregate_with_parts(parts: int) -> None:
    for seed in SEEDS[:8]:
        boxes = random_boxes(4, seed)
        boxes = replace(boxes, share_e=None)
        found = propagated(boxes, parts=parts)
        expected = bounds.aggregate_bounds(boxes.low_aer, boxes.high_aer, boxes.same_aer, parts)
        np.testing.assert_allclose([found.low_a, found.high_a], expected, atol=1e-9)


def test_parts_make_these_boards_bounds_narrower() -> None:
    """The comparison above can tell parts from none."""
    narrower = 0
    for seed in range(8):
        boxes = random_boxes(4, seed)
        whole, cut = (propagated(boxes, parts=parts) for parts in (0, 1))
        narrower += int(((whole.high_a - whole.low_a) - (cut.high_a - cut.low_a)).max() > 1e-3)
    assert narrower >= 3
