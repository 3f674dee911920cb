"""Transitions of the walk when payoffs are known only by intervals: the sums over moves that bounds need.

A policy determines, for every joint strategy, which open moves are on: those to a strategy that it values more. It
also restricts the strategy's own payoff to a part of its interval, from ``bottom`` to ``top``. A move is certain when
the other payoff's interval lies entirely on one side of that part, impossible when on the other side, and a tie when
the two are the same number by construction.

Nothing is stored per move. In short rows every move is recomputed. In long ones the sum over the moves that are on,

    {high' < bottom} + {low' <= top, worth' > worth} - {high' < bottom, worth' > worth},

is one prefix sum and two dominance sums, by Fenwick trees into which the row's strategies are inserted in descending
order of worth: O(K log K) for a row of K instead of O(K^2).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from untuned.judge.arrays import fill
from untuned.judge.game import POPULATION, column_shares, constants
from untuned.judge.jit import kernel
from untuned.judge.simultaneous_intervals import ONE_HALF, Boxes
from untuned.scores import Floats

Numbers = NDArray[np.int32]

#: From this many columns on, trees are faster than computing every move (benchmarks/judge.py --only rows).
LONG = 60

HALF = 0.5
#: The neighbouring floats of one half: an end here excludes one half itself.
BELOW = float(np.nextafter(HALF, 0.0))
ABOVE = float(np.nextafter(HALF, 1.0))


class Board(NamedTuple):
    """Payoffs known by intervals, [algorithm, column] with column = environment n + reference.

    Attributes
    ----------
    low, high
        The ends of the intervals.
    same
        Labels: payoffs with the same label are certainly equal.
    members
        ``[a, :]``: the columns of row a, those with equal payoffs side by side.
    first, end
        ``[a, k]``: where in ``members[a]`` the columns equal to k begin and end; nothing where k is alone.
    halves
        ``[a]``: how many columns of row a are one half by construction; they come first in ``members[a]``.
    by_high, sorted_low, sorted_high, rank_low, rank_high
        For long rows: the columns by their upper ends, the ends in order, and the places of each column's; else empty.
    share
        ``[k]``: the part of a move to column k that counts, 1/(how many variants its environment has in its family).
    families
        How many there are.
    eta, gamma
        The game's constants.
    parts
        The number of parts of a payoff's interval on each side of one half; 0 where it is left whole.
    """

    low: Floats
    high: Floats
    same: Numbers
    members: Numbers
    first: Numbers
    end: Numbers
    halves: Numbers
    by_high: Numbers
    sorted_low: Floats
    sorted_high: Floats
    rank_low: Numbers
    rank_high: Numbers
    share: Floats
    families: int
    eta: float
    gamma: float
    parts: int


class Policy(NamedTuple):
    """Which open moves are on; all arrays are [algorithm, column].

    Attributes
    ----------
    worth
        The worth of every state; open moves are on where they lead to more.
    bottom, top
        The range to which each payoff is restricted.
    order
        For long rows: the columns by descending worth; else empty, as are the following.
    low_rank, high_rank
        In that order: the places of each column's ends among the ends of the row, from 1.
    low_place, high_place
        In that order: how many lower ends are at most ``top``, and how many upper ends are below ``bottom``.
    climbs
        ``[a, b, k]``: the first player's move from (a, k) to (b, k) is off (0), on (1) or a tie (2). Only these moves
        are stored: they take n bytes per strategy, and are slow to compute.
    """

    worth: Floats
    bottom: Floats
    top: Floats
    order: Numbers
    low_rank: Numbers
    high_rank: Numbers
    low_place: Numbers
    high_place: Numbers
    climbs: NDArray[np.uint8]


def board(boxes: Boxes, parts: int, *, like: Board | None = None, long: int = LONG) -> Board:
    """Return the board of some intervals.

    Parameters
    ----------
    boxes
        The intervals.
    parts
        The number of parts of each on either side of 1/2.
    like
        A board of other intervals with the same equal percentiles: the arrays that both share are reused.
    long
        Rows of at least this many columns get the data for trees.
    """
    n, m, _ = boxes.low_aer.shape
    shape = (n, m * n)
    low = np.array(boxes.low_aer, dtype=np.float64).reshape(shape)
    high = np.array(boxes.high_aer, dtype=np.float64).reshape(shape)
    if like is not None and shape[1] < long:
        return like._replace(low=low, high=high, parts=parts)
    # Labels keep their order, so that payoffs that are one half by construction come first.
    _, numbers = np.unique(boxes.same_aer, return_inverse=True)
    same: Numbers = numbers.reshape(shape).astype(np.int32)
    members = np.argsort(same, axis=1, kind="stable")
    in_order = np.take_along_axis(same, members, axis=1)
    begins = np.ones(shape, dtype=np.bool_)
    begins[:, 1:] = in_order[:, 1:] != in_order[:, :-1]
    places = np.arange(shape[1])
    starts = np.maximum.accumulate(np.where(begins, places, 0), axis=1)
    ends_here = np.ones(shape, dtype=np.bool_)
    ends_here[:, :-1] = begins[:, 1:]
    stops = np.minimum.accumulate(np.where(ends_here, places + 1, shape[1])[:, ::-1], axis=1)[:, ::-1]
    first = np.empty(shape, dtype=np.int32)
    end = np.empty(shape, dtype=np.int32)
    np.put_along_axis(first, members, starts.astype(np.int32), axis=1)
    np.put_along_axis(end, members, np.where(stops - starts == 1, 0, stops).astype(np.int32), axis=1)
    kept = low if shape[1] >= long else np.empty((0, 0))
    kept_high = high if shape[1] >= long else np.empty((0, 0))
    by_low = np.argsort(kept, axis=1, kind="stable")
    by_high = np.argsort(kept_high, axis=1, kind="stable")
    share, families = column_shares(boxes.share_e, n, m)
    eta, gamma, _ = constants(n, families)
    return Board(
        low,
        high,
        same,
        members.astype(np.int32),
        first,
        end,
        (boxes.same_aer.reshape(shape) == ONE_HALF).sum(axis=1).astype(np.int32),
        by_high.astype(np.int32),
        np.take_along_axis(kept, by_low, axis=1),
        np.take_along_axis(kept_high, by_high, axis=1),
        np.argsort(by_low, axis=1).astype(np.int32),
        np.argsort(by_high, axis=1).astype(np.int32),
        share,
        families,
        eta,
        gamma,
        parts,
    )


@kernel(inline=True)
def part_of(low: float, high: float, part: int, parts: int) -> tuple[float, float]:
    """Return the ends of one of the 2 parts + 1 parts of an interval; together they cover it.

    An interval around one half is split there: parts below it, one half alone, parts above it. An interval on one side
    has as many parts as others have on that side; so with one part per side it stays whole, and narrower intervals
    never give wider bounds.
    """
    if low == high:
        return low, high
    if low > HALF or high < HALF:
        # The last part is repeated: all payoffs have the same number of parts.
        part = min(part, parts - 1)
    elif part == parts or (part < parts and low == HALF) or (part > parts and high == HALF):
        return HALF, HALF
    elif part < parts:
        high = BELOW
    else:
        low = ABOVE
        part -= parts + 1
    # The outer ends stay exact, whatever rounding does to the inner ones.
    step = (high - low) / parts
    return (low + part * step if part > 0 else low), (low + (part + 1) * step if part + 1 < parts else high)


@kernel
def new_policy(board: Board) -> Policy:
    """Return memory for a policy, whose payoffs are anything in their intervals."""
    n, columns = board.low.shape
    rows = board.by_high.shape[0]
    width = columns if rows > 0 else 0
    return Policy(
        np.zeros((n, columns)),
        board.low.copy(),
        board.high.copy(),
        np.empty((rows, width), dtype=np.int32),
        np.empty((rows, width), dtype=np.int32),
        np.empty((rows, width), dtype=np.int32),
        np.empty((rows, width), dtype=np.int32),
        np.empty((rows, width), dtype=np.int32),
        np.zeros((n, n, columns), dtype=np.uint8),
    )


@kernel
def rank_worth(policy: Policy, board: Board) -> None:
    """Update the order of long rows after a change of ``worth``."""
    for a in range(policy.order.shape[0]):
        order = np.argsort(-policy.worth[a])
        for p in range(order.size):
            k = order[p]
            policy.order[a, p] = k
            policy.low_rank[a, p] = board.rank_low[a, k] + 1
            policy.high_rank[a, p] = board.rank_high[a, k] + 1


@kernel
def settle(policy: Policy, board: Board) -> None:
    """Update the stored moves after a change of ``worth``, ``bottom`` and ``top``."""
    for a in range(policy.low_place.shape[0]):
        lows = np.searchsorted(board.sorted_low[a], policy.top[a], side="right")
        highs = np.searchsorted(board.sorted_high[a], policy.bottom[a], side="left")
        for p in range(lows.size):
            k = policy.order[a, p]
            policy.low_place[a, p] = lows[k]
            policy.high_place[a, p] = highs[k]
    n, columns = policy.worth.shape
    for a in range(n):
        for b in range(n):
            if b == a:
                continue
            for k in range(columns):
                bottom = policy.bottom[a, k]
                top = policy.top[a, k]
                on = (board.low[b, k] > top) | (
                    (board.high[b, k] >= bottom) & (policy.worth[b, k] > policy.worth[a, k])
                )
                halves = (board.parts > 0) & (bottom == HALF) & (top == HALF) & (board.same[b, k] == ONE_HALF)
                tied = (board.same[b, k] == board.same[a, k]) | halves
                policy.climbs[a, b, k] = 2 if tied else 1 if on else 0


@kernel
def departures(values: Floats, policy: Policy, board: Board, image: Floats) -> None:
    """Write, for every strategy, the sum of the values that its moves lead to, each by its rate over eta."""
    if board.by_high.shape[0] > 0:
        _long_rows(values, policy, board, image)
    else:
        _short_rows(values, policy, board, image)
    _row_ties(values, policy, board, image)
    _columns(values, policy, image)


@kernel
def _short_rows(values: Floats, policy: Policy, board: Board, image: Floats) -> None:
    """Write the second player's part, who descends, as if there were no ties."""
    n, columns = values.shape
    row = np.empty(columns)
    for a in range(n):
        lows = board.low[a]
        highs = board.high[a]
        worth = policy.worth[a]
        for j in range(columns):
            row[j] = board.share[j] * values[a, j]
        for k in range(columns):
            bottom = policy.bottom[a, k]
            top = policy.top[a, k]
            here = worth[k]
            total = 0.0
            for j in range(columns):
                on = (highs[j] < bottom) | ((lows[j] <= top) & (worth[j] > here))
                total += row[j] if on else 0.0
            image[a, k] = total


@kernel
def _long_rows(values: Floats, policy: Policy, board: Board, image: Floats) -> None:
    """Write the same by dominance sums."""
    n, columns = values.shape
    certain = np.empty(columns + 1)
    low_tree = np.empty(columns + 1)
    high_tree = np.empty(columns + 1)
    in_order = np.empty(columns)
    levels = np.empty(columns)
    for a in range(n):
        certain[0] = 0.0
        for p in range(columns):
            k = policy.order[a, p]
            in_order[p] = board.share[k] * values[a, k]
            levels[p] = policy.worth[a, k]
            certain[p + 1] = certain[p] + board.share[board.by_high[a, p]] * values[a, board.by_high[a, p]]
        for p in range(columns + 1):
            low_tree[p] = 0.0
            high_tree[p] = 0.0
        first = 0
        while first < columns:
            end = first
            while end < columns and levels[end] == levels[first]:
                place = policy.high_place[a, end]
                total = certain[place]
                while place > 0:
                    total -= high_tree[place]
                    place &= place - 1
                place = policy.low_place[a, end]
                while place > 0:
                    total += low_tree[place]
                    place &= place - 1
                image[a, policy.order[a, end]] = total
                end += 1
            for p in range(first, end):
                value = in_order[p]
                place = policy.low_rank[a, p]
                while place <= columns:
                    low_tree[place] += value
                    place += place & -place
                place = policy.high_rank[a, p]
                while place <= columns:
                    high_tree[place] += value
                    place += place & -place
            first = end


@kernel
def _row_ties(values: Floats, policy: Policy, board: Board, image: Floats) -> None:
    """Correct ties that were counted as open moves: a third faster than testing in the loops above."""
    n, columns = values.shape
    tie = 1.0 / POPULATION
    for a in range(n):
        for k in range(columns):
            here = policy.worth[a, k]
            total = 0.0
            for i in range(board.first[a, k], board.end[a, k]):
                j = board.members[a, i]
                if j != k:
                    value = board.share[j] * values[a, j]
                    total += tie * value - (value if policy.worth[a, j] > here else 0.0)
            if board.parts > 0 and policy.bottom[a, k] == policy.top[a, k] == HALF and board.same[a, k] != ONE_HALF:
                # Restricted to one half: it ties with all others that are.
                for i in range(board.halves[a]):
                    j = board.members[a, i]
                    value = board.share[j] * values[a, j]
                    total += tie * value - (value if policy.worth[a, j] > here else 0.0)
            image[a, k] += total


@kernel
def _columns(values: Floats, policy: Policy, image: Floats) -> None:
    """Add the first player's part, who climbs."""
    n, columns = values.shape
    tie = 1.0 / POPULATION
    for a in range(n):
        for b in range(n):
            if b == a:
                continue
            climbs = policy.climbs[a, b]
            for k in range(columns):
                move = climbs[k]
                image[a, k] += ((move & 1) + (move >> 1) * tie) * values[b, k]


@kernel
def arrivals(shares: Floats, policy: Policy, board: Board, image: Floats) -> None:
    """Write, for every strategy, the sum of the shares whose moves lead there, each by its rate over eta."""
    n, columns = shares.shape
    tie = 1.0 / POPULATION
    fill(image, 0.0)
    for a in range(n):
        lows = board.low[a]
        highs = board.high[a]
        worth = policy.worth[a]
        for k in range(columns):
            bottom = policy.bottom[a, k]
            top = policy.top[a, k]
            here = worth[k]
            share = shares[a, k]
            half = board.parts > 0 and bottom == HALF and top == HALF
            for j in range(columns):
                on = (highs[j] < bottom) | ((lows[j] <= top) & (worth[j] > here))
                weight = 1.0 if on else 0.0
                same = (board.same[a, j] == board.same[a, k]) | (half & (board.same[a, j] == ONE_HALF))
                weight = tie if same else weight
                image[a, j] += weight * board.share[j] * share if j != k else 0.0
            for b in range(n):
                if b != a:
                    move = policy.climbs[a, b, k]
                    image[b, k] += ((move & 1) + (move >> 1) * tie) * share
