"""Simultaneous bounds on the differences of aggregates, from which verdicts follow.

y[i] - y[l] is an average of z[i] - z[l] under the same weights, whatever they are, so it is bounded as one quantity.
The bound holds whenever all intervals on percentiles do, like those on the aggregates, and is never wider than the
bound from the two intervals on y[i] and y[l]. Bounds that hold simultaneously may be combined: the narrowest of
several bounds, and

    y[i] - y[l] = (y[i] - y[j]) + (y[j] - y[l])

whose two parts are bounded: so verdicts are transitive.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from untuned.judge.averaged_bound import Functional, given_weights
from untuned.judge.branching import Refined, difference_goal, is_possible, refined
from untuned.judge.percentiles import Percentiles
from untuned.judge.propagate import Bounds, Limits, solution
from untuned.judge.simultaneous_intervals import Boxes
from untuned.judge.threads import mapped
from untuned.judge.transitions import Board, board
from untuned.scores import Floats, Ints
from untuned.verdicts import RESOLUTION, Pairs

Pair = tuple[int, int]

#: States times moves of each, times pairs: beyond this, a pair is solved only if that may decide it, and if no known
#: game contradicts it.
MANY = 2e9
# A difference is reported to four digits.
_LIMITS = Limits(slack=1e-7)


@dataclass(frozen=True, eq=False)
class Differences:
    """Upper bounds on all differences of aggregates.

    Attributes
    ----------
    high_ab
        On y[a] - y[b]; the lower bound is minus the upper bound on y[b] - y[a]. Zero on the diagonal.
    possible_ab
        True where a known game has y[a] > y[b] and the intervals allow it: only more trials can then show that a is
        worse.
    """

    high_ab: Floats
    possible_ab: NDArray[np.bool_]

    def pairs(self) -> Pairs:
        """Return the bounds from both sides."""
        return Pairs(-self.high_ab.T, self.high_ab)


def separate(bounds: Bounds) -> Differences:
    """Return the bounds on differences that follow from bounds on the aggregates alone."""
    high_ab = bounds.high_a[:, None] - bounds.low_a[None, :]
    np.fill_diagonal(high_ab, 0.0)
    return Differences(high_ab, np.zeros(high_ab.shape, dtype=np.bool_))


def direct(
    boxes: Boxes,
    parts: int,
    values: Sequence[Floats],
    score_a: Floats,
    known: Differences,
    *,
    functional: Functional | None = None,
    budget: int = 0,
    workers: int = 1,
    advance: Callable[[int], None] | None = None,
) -> Differences:
    """Return bounds on all differences of aggregates under the game's weights.

    Parameters
    ----------
    boxes, parts
        Intervals on the percentiles, and how finely bounds cut them.
    values
        Those of the solutions of `untuned.judge.propagate.aggregate_goals`, from which differences begin: the sum of
        two certifies a bound no wider than the two bounds on aggregates.
    score_a
        The estimates: they say which of two directions may be decided.
    known
        Bounds that follow from those on the aggregates.
    functional
        Another simultaneous bound, tried where the first does not decide.
    budget
        How many cases branching may bound, for every pair that is not decided.
    workers
        Threads; no number depends on it.
    advance
        Called with 1 after every pair of those that `pairs_to_solve` returns.
    """
    pairs = pairs_to_solve(boxes, score_a, known)
    n = len(score_a)
    made = board(boxes, parts)
    high_ab, possible_ab = known.high_ab.copy(), known.possible_ab.copy()

    def solve(pair: Pair) -> tuple[float, Refined | None]:
        i, l = pair  # noqa: E741 - as in the paper
        start, so_far = values[i] + values[n + l], float(known.high_ab[i, l])
        return one(boxes, made, pair, score_a, so_far, start, functional=functional, budget=budget)

    for (i, l), (bound, further) in zip(pairs, mapped(solve, pairs, workers), strict=True):  # noqa: E741
        high_ab[i, l] = bound
        possible_ab[i, l] = further is not None and further.reason == "possible"
        if advance is not None:
            advance(1)
    return Differences(closed(high_ab), possible_ab)


def one(
    boxes: Boxes,
    made: Board,
    pair: Pair,
    score_a: Floats,
    known: float = np.inf,
    start: Floats | None = None,
    *,
    functional: Functional | None = None,
    budget: int = 0,
) -> tuple[float, Refined | None]:
    """Return the bound on the difference of one pair under the game's weights, and the result of branching.

    Parameters
    ----------
    made
        The board of the boxes.
    known
        A bound that is known already.
    start
        Values to begin from.

    Notes
    -----
    The other options are those of `direct`.
    """
    i, l = pair  # noqa: E741 - as in the paper
    if are_many(boxes) and is_possible(boxes, i, l):
        return known, Refined(known, "possible", 0)
    found, _ = solution(difference_goal(boxes, i, l), made, _LIMITS, start)
    bound = min(found.bound, known)
    if bound < -RESOLUTION or not may_decide(score_a, i, l):
        return bound, None
    if functional is not None:
        bound = min(bound, functional.bound(i, l))
    if bound < -RESOLUTION or budget == 0:
        return bound, None
    further = refined(boxes, i, l, budget, found.values, like=made)
    return min(bound, further.bound), further


def under_given_weights(
    bounds: Bounds, estimates: Percentiles, q_er: Floats, same_aer: Ints, delta: float
) -> Differences:
    """Return bounds on all differences for weights chosen before the scores were seen.

    ``same_aer`` is that of the boxes. ``delta`` is the functional bound's: where it is zero, only the bounds on the
    aggregates are used.
    """
    found = separate(bounds)
    if delta > 0.0:
        other_ab = given_weights(estimates, q_er, same_aer, delta)
        found = replace(found, high_ab=closed(np.minimum(found.high_ab, other_ab)))
    return found


def equal(known: Differences, kinds: Ints) -> Differences:
    """Return the bounds after setting the difference of algorithms that were declared identical everywhere to zero."""
    same_ab = (kinds[:, :, None] == kinds[:, None, :]).all(axis=0)
    return replace(known, high_ab=closed(np.where(same_ab, np.minimum(known.high_ab, 0.0), known.high_ab)))


def pairs_to_solve(boxes: Boxes, score_a: Floats, known: Differences) -> list[Pair]:
    """Return the ordered pairs to solve: all, or where that takes too long, those that may be decided."""
    n = len(score_a)
    few = not are_many(boxes)
    return [
        (i, l)
        for i in range(n)
        for l in range(n)  # noqa: E741
        if i != l and (few or (may_decide(score_a, i, l) and known.high_ab[i, l] >= -RESOLUTION))
    ]


def are_many(boxes: Boxes) -> bool:
    """Whether solving all pairs would take hours."""
    n, m, _ = boxes.low_aer.shape
    return bool(n * n * m * (n + m * n) * n * (n - 1) > MANY)


def may_decide(score_a: Floats, i: int, l: int) -> bool:  # noqa: E741
    """Whether y[i] - y[l] can turn out to be below zero: the estimates are among what the intervals allow."""
    return bool(score_a[i] < score_a[l])


def closed(high_ab: Floats) -> Floats:
    """Return the bounds after combining them along chains of algorithms."""
    high = high_ab.copy()
    np.fill_diagonal(high, 0.0)
    for j in range(high.shape[0]):
        high = np.minimum(high, high[:, j, None] + high[None, j, :])
    # Only rounding can make a round trip better than staying.
    np.fill_diagonal(high, 0.0)
    return high
