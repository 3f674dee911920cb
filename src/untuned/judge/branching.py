"""Branching: tightening a bound on a difference that nearly decides, by splitting it into cases.

A bound lets every joint strategy choose the payoffs that suit it best. Splitting the interval of one percentile in
two or three, bounding the difference in each case, and taking the largest removes that freedom for one percentile:
whatever its value is, it lies in one of the cases. Where an interval contains 1/2, the cases are below, at and above
it, because every algorithm has 1/2 against itself on every environment, and much depends on that comparison. The case
with the largest bound is split again, at the percentile that carries most of the uncertainty.

Stopping at any time is valid: the largest bound among the current cases bounds the difference. Branching ends early
when all of them are below zero, or when it finds a game that the intervals allow and in which the difference is
positive: then no splitting can bring the bound below zero, only more trials can.
"""

import heapq
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np

from untuned.judge import bicgstab
from untuned.judge.arrays import fill, magnitude
from untuned.judge.game import aggregate, equilibrium
from untuned.judge.jit import kernel
from untuned.judge.propagate import Goal, Limits, solution
from untuned.judge.simultaneous_intervals import ONE_HALF, Boxes
from untuned.judge.transitions import ABOVE, BELOW, HALF, Board, Policy, arrivals, board, departures
from untuned.scores import Floats
from untuned.verdicts import RESOLUTION

#: Why branching ended: the difference is below zero; it may be positive; the budget was spent.
Reason = Literal["decided", "possible", "budget"]


class Refined(NamedTuple):
    """The result of branching.

    Attributes
    ----------
    bound
        On the difference.
    reason
        Why it ended.
    cases
        Number of cases that were bounded.
    """

    bound: float
    reason: Reason
    cases: int


class _Case(NamedTuple):
    boxes: Boxes
    board: Board
    values: Floats
    policy: Policy


# Only two things matter here: whether a bound is below zero, and roughly which case has the largest one.
_LIMITS = Limits(slack=1e-6, enough=-RESOLUTION)
# Only the policy that is greedy for given values.
_GREEDY = Limits(policies=1, iterations=0)
# Finer parts save cases, and cost little compared with solving systems.
_PARTS = 4


def difference_goal(boxes: Boxes, i: int, l: int) -> Goal:  # noqa: E741 - i and l, as in the paper
    """Return y[i] - y[l] as a goal to maximise."""
    return Goal(boxes.high_aer[i] - boxes.low_aer[l], plus=i, minus=l)


def refined(
    boxes: Boxes,
    i: int,
    l: int,  # noqa: E741
    budget: int,
    start: Floats | None = None,
    *,
    like: Board | None = None,
) -> Refined:
    """Return a bound on y[i] - y[l] after bounding at most ``budget`` cases.

    Parameters
    ----------
    boxes
        Intervals on the percentiles. Where those of the two directions, z[a, e, r] and z[r, e, a], differ, bounds still
        hold, but a game may be considered possible that one of them excludes.
    start
        Values to begin from.
    like
        A board of the same intervals, if one exists already.
    """
    closed = -np.inf
    whole = board(boxes, _PARTS, like=like)

    def made_of(part: Boxes) -> Board:
        # A percentile that is assumed to be 1/2 is equal to all others that are.
        return board(part, _PARTS, like=whole if part.same_aer is boxes.same_aer else None)

    root, _ = solution(difference_goal(boxes, i, l), whole, _LIMITS, start)
    if root.bound < -RESOLUTION:
        return Refined(root.bound, "decided", 1)
    # Waiting cases are stored compactly, because there are thousands: a policy is recomputed when its turn comes.
    waiting = [(-root.bound, 0, boxes, root.values)]
    cases = 1
    while waiting:
        largest = -waiting[0][0]
        if cases >= budget:
            return Refined(largest, "budget", cases)
        _, _, its_boxes, values = heapq.heappop(waiting)
        made = made_of(its_boxes)
        _, policy = solution(difference_goal(its_boxes, i, l), made, _GREEDY, values)
        case = _Case(its_boxes, made, values, policy)
        if _is_possible(case, i, l):
            return Refined(largest, "possible", cases)
        parts = _cut(case, i, l)
        if not parts or cases + len(parts) > budget:
            return Refined(largest, "budget", cases)
        for part in parts:
            found, _ = solution(difference_goal(part, i, l), made_of(part), _LIMITS, values)
            cases += 1
            # A case is part of the one it was split from: its bound is no larger, whatever the solver returns.
            bound = min(found.bound, largest)
            if bound < -RESOLUTION:
                closed = max(closed, bound)
            else:
                heapq.heappush(waiting, (-bound, cases, part, found.values))
    return Refined(closed, "decided", cases)


def _is_possible(case: _Case, i: int, l: int) -> bool:  # noqa: E741
    """Whether the difference is positive in one of two games that the case allows."""
    low, high = case.boxes.low_aer, case.boxes.high_aer
    taken = 0.5 * (case.policy.bottom + case.policy.top).reshape(low.shape)
    # The values assumed for the two directions of a percentile may differ: use their mean.
    middle = np.clip(0.5 * (taken + 1.0 - taken.transpose(2, 1, 0)), low, high)
    return _difference(case.boxes, middle, i, l) > 0.0 or is_possible(case.boxes, i, l)


def is_possible(boxes: Boxes, i: int, l: int) -> bool:  # noqa: E741
    """Whether y[i] > y[l] in the game that has all percentiles of i as high, and of l as low, as the boxes allow."""
    z_aer = 0.5 * (boxes.low_aer + boxes.high_aer)
    z_aer[l] = boxes.low_aer[l]
    z_aer[i] = boxes.high_aer[i]
    return _difference(boxes, z_aer, i, l, rows=(l, i)) > 0.0


def _difference(boxes: Boxes, z_aer: Floats, i: int, l: int, rows: Sequence[int] = ()) -> float:  # noqa: E741
    """Return y[i] - y[l], or a lower bound on it, in the game of some percentiles; ``rows`` decide, the last most."""
    # One number for all percentiles that must be equal, and 1 minus it for the other direction.
    _, numbers = np.unique(boxes.same_aer, return_inverse=True)
    forth = numbers.reshape(z_aer.shape)
    back = forth.transpose(2, 1, 0)
    once = forth < back
    payoffs = np.empty(z_aer.size)
    payoffs[forth] = z_aer
    payoffs[back[once]] = 1.0 - payoffs[forth[once]]
    for a in rows:
        payoffs[forth[a]], payoffs[back[a]] = z_aer[a], 1.0 - z_aer[a]
    game = np.where(boxes.same_aer == ONE_HALF, HALF, payoffs[forth])
    balance = equilibrium(game, _CLOSE, share_e=boxes.share_e)
    y_a = aggregate(game, balance.q_er)
    return float(y_a[i] - y_a[l] - 2.0 * balance.error)


def _cut(case: _Case, i: int, l: int) -> list[Boxes]:  # noqa: E741
    """Return the cases of the percentile that matters most; none where none matters."""
    boxes = case.boxes
    blame_aer = _blame_of(case, i, l)
    a, e, r = (int(place) for place in np.unravel_index(np.argmax(blame_aer), blame_aer.shape))
    if blame_aer[a, e, r] <= 0.0:
        return []
    low, high = float(boxes.low_aer[a, e, r]), float(boxes.high_aer[a, e, r])
    if low < HALF < high:
        return [_with(boxes, a, e, r, *ends) for ends in ((low, BELOW), (HALF, HALF), (ABOVE, high))]
    middle = 0.5 * (low + high)
    return [_with(boxes, a, e, r, *ends) for ends in ((low, middle), (middle, high))]


def blame(boxes: Boxes, i: int, l: int) -> Floats:  # noqa: E741
    """Return how much of the uncertainty in a bound on y[i] - y[l] each percentile carries, ``[a, e, r]``.

    The same number stands for both directions of a percentile. Numbers compare; they have no unit.
    """
    made = board(boxes, _PARTS)
    found, policy = solution(difference_goal(boxes, i, l), made, Limits(slack=1e-6))
    return _blame_of(_Case(boxes, made, found.values, policy), i, l)


def _blame_of(case: _Case, i: int, l: int) -> Floats:  # noqa: E741
    n, m, _ = case.boxes.low_aer.shape
    width = case.boxes.high_aer - case.boxes.low_aer
    shares = np.empty((n, m * n))
    blame = np.zeros((n, m * n))
    _occupancy(case.policy, case.board, shares)
    _blame(case.values, shares, case.board, blame)
    blame_aer = blame.reshape(n, m, n)
    q_er = shares.reshape(n, m, n).sum(axis=0)
    blame_aer[i] += q_er * width[i]
    blame_aer[l] += q_er * width[l]
    return np.where(width > _NARROW, blame_aer + blame_aer.transpose(2, 1, 0), 0.0)


# In the search for a game with a positive difference, differences smaller than this count as none.
_CLOSE = 1e-5


# Intervals narrower than this are not split: that would be rounding, not statistics.
_NARROW = 1e-6


def _with(boxes: Boxes, a: int, e: int, r: int, low: float, high: float) -> Boxes:
    """Return boxes with one percentile restricted to an interval, in both directions and wherever it must be equal."""
    low_aer, high_aer, same_aer = boxes.low_aer.copy(), boxes.high_aer.copy(), boxes.same_aer
    forth, back = same_aer == same_aer[a, e, r], same_aer == same_aer[r, e, a]
    low_aer[forth], high_aer[forth] = low, high
    low_aer[back], high_aer[back] = _opposite(high), _opposite(low)
    if low == high == HALF:
        same_aer = np.where(forth | back, ONE_HALF, same_aer)
    return replace(boxes, low_aer=low_aer, high_aer=high_aer, same_aer=same_aer)


def _opposite(end: float) -> float:
    """Return 1 - end; the two neighbours of one half are exchanged."""
    return {BELOW: ABOVE, ABOVE: BELOW}.get(end, 1.0 - end)


@kernel
def _occupancy(policy: Policy, board: Board, shares: Floats) -> None:
    """Write roughly the share of time that the walk under a policy spends in every state."""
    n, columns = shares.shape
    eta, gamma = board.eta, board.gamma
    start = (1.0 - gamma) / (n * n * board.families)
    work = bicgstab.workspace(n, columns)
    fill(work.scaled, 1.0)
    departures(work.scaled, policy, board, work.image)
    for a in range(n):
        for k in range(columns):
            work.diagonal[a, k] = (1.0 - gamma) + gamma * eta * work.image[a, k]
            shares[a, k] = start * board.share[k] / work.diagonal[a, k]
    _arriving(shares, policy, board, work.diagonal, work.residual)
    for a in range(n):
        for k in range(columns):
            work.residual[a, k] = start * board.share[k] - work.residual[a, k]
    bicgstab.begin(work)
    for _ in range(_ITERATIONS):
        if not bicgstab.aim(work):
            break
        _arriving(work.scaled, policy, board, work.diagonal, work.image)
        if not bicgstab.first_step(work, shares):
            break
        _arriving(work.scaled, policy, board, work.diagonal, work.second_image)
        if not bicgstab.second_step(work, shares):
            break
        size = magnitude(work.residual)
        if size <= _ROUGHLY * (1.0 - gamma) or not size < bicgstab.EXPLODED:
            break
    for a in range(n):
        for k in range(columns):
            share = shares[a, k]
            shares[a, k] = share if share > 0.0 and share < 1.0 else 0.0


# This only selects the percentile to split: two digits are enough.
_ITERATIONS = 100
_ROUGHLY = 1e-2


@kernel
def _arriving(shares: Floats, policy: Policy, board: Board, diagonal: Floats, image: Floats) -> None:
    """Write d (I - gamma C)."""
    arrivals(shares, policy, board, image)
    rows, columns = shares.shape
    for a in range(rows):
        for k in range(columns):
            image[a, k] = diagonal[a, k] * shares[a, k] - board.gamma * board.eta * image[a, k]


@kernel
def _blame(values: Floats, shares: Floats, board: Board, blame: Floats) -> None:
    """Add up what depends on the open moves of every state, shared by the widths of both intervals."""
    n, columns = values.shape
    rate = board.gamma * board.eta
    for a in range(n):
        for k in range(columns):
            low, high = board.low[a, k], board.high[a, k]
            width = high - low
            for j in range(columns):
                if board.low[a, j] <= high and board.high[a, j] >= low and board.same[a, j] != board.same[a, k]:
                    other = board.high[a, j] - board.low[a, j]
                    weight = shares[a, k] * rate * board.share[j] * abs(values[a, j] - values[a, k])
                    both = width + other
                    if both > 0.0:
                        blame[a, k] += weight * width / both
                        blame[a, j] += weight * other / both
            for b in range(n):
                if board.low[b, k] <= high and board.high[b, k] >= low and board.same[b, k] != board.same[a, k]:
                    other = board.high[b, k] - board.low[b, k]
                    weight = shares[a, k] * rate * abs(values[b, k] - values[a, k])
                    both = width + other
                    if both > 0.0:
                        blame[a, k] += weight * width / both
                        blame[b, k] += weight * other / both
