"""The distribution of the number of wins when two samples are paired at random.

Write 1 where a trial of the first sample (row) beats one of the second (column), 0 elsewhere, and let b_0 <= b_1 <= ...
be the numbers of ones in the columns. Sorted by score the ones form steps, and the numbers of pairings by how many ones
they hit depend on the b_j - j alone, in any order (Goldman, Joichi and White's factorization of rook polynomials): with
one more number c, for a board of size N,

    N P_N(v) = (N - v + c) P_{N-1}(v - 1) + (v + 1 - c) P_{N-1}(v).

Going from 0 and 1 outward, 0, 1, -1, 2, -2, ..., the numbers so far always belong to a smaller board, for b_j - j falls
by one at most from each j to the next, begins at 0 or above and ends at 1 or below. So no term is ever negative, and
nothing is lost by cancellation. The smaller sample is filled up with trials that lose to all, or beat none.

Ties are decided by a list: trial number i of one of the samples wins all of its ties, or loses them all, as entry i
says, whatever the scores. Under any pairing the wins are then independent, n - m with probability z - t/2 and m with z
+ t/2, where t is the probability of a tie and m the number of trials that win theirs. For a convex function, the mean
over m ~ Bin(n, 1/2) would be exactly that of Bin(n, z). It is convex in m, so replacing the two halves of Bin(n, 1/2)
by their means, rounded toward n/2, makes it smaller: a list with m below n/2 and its complement, half each. Where
samples are equally large, half of the lists are for the one and half for the other, so that exchanging them changes
nothing.
"""

import math

import numpy as np
from numpy.typing import NDArray

from untuned.judge.intervals.sorting import ascending
from untuned.judge.jit import kernel
from untuned.scores import Floats, Ints

#: Probabilities up to this are left out of a distribution: that makes intervals wider, by an invisible amount.
NOTHING = 1e-40


@kernel
def wins_distribution(first: Floats, second: Floats) -> Floats:
    """Return the probabilities that 0, 1, ..., n trials of ``first`` win, n the smaller number of trials."""
    smaller = min(first.size, second.size)
    larger = max(first.size, second.size)
    rows = ascending(first)
    columns = ascending(second)
    listed = tie_list(smaller)
    # For every trial of the second sample: how many of the first beat it, tie with it, and win their tie.
    beaten = np.empty(second.size, dtype=np.int64)
    tied = np.zeros(second.size, dtype=np.int64)
    tied_listed = np.zeros(second.size, dtype=np.int64)
    ties = 0
    row = 0
    column = 0
    while column < second.size:
        score = second[columns[column]]
        while row < first.size and first[rows[row]] < score:
            row += 1
        end = row
        here = 0
        while end < first.size and first[rows[end]] == score:
            if first.size == smaller and listed[rows[end]]:
                here += 1
            end += 1
        while column < second.size and second[columns[column]] == score:
            j = columns[column]
            beaten[j] = first.size - end
            tied[j] = end - row
            tied_listed[j] = here
            ties += end - row
            column += 1
    heights = np.zeros(larger, dtype=np.int64)
    found = np.zeros(smaller + 1)
    if ties == 0:
        for j in range(second.size):
            heights[j] = beaten[j]
        _add_hits(heights, 1.0, found)
        return found
    share = 0.25 if first.size == second.size else 0.5
    for board in range(4):
        listed_win = board % 2 == 0
        if board < 2 and first.size == smaller:
            for j in range(second.size):
                heights[j] = beaten[j] + (tied_listed[j] if listed_win else tied[j] - tied_listed[j])
            _add_hits(heights, share, found)
        if board >= 2 and second.size == smaller:
            for j in range(second.size):
                heights[j] = beaten[j] + (0 if listed[j] == listed_win else tied[j])
            _add_hits(heights, share, found)
    return found


@kernel
def tie_list(trials: int) -> NDArray[np.bool_]:
    """Return which trials win their ties: somewhat less than half, evenly spread."""
    half = trials // 2
    # The mean distance of Bin(n, 1/2) from n/2, by de Moivre's formula; rounding must not make it larger.
    ways = math.lgamma(trials + 1.0) - math.lgamma(half + 1.0) - math.lgamma(trials - half + 1.0)
    distance = (trials - half) * math.exp(ways - trials * math.log(2.0))
    count = min(math.ceil(0.5 * trials - distance * (1.0 - 1e-9)), half)
    found = np.empty(trials, dtype=np.bool_)
    for i in range(trials):
        found[i] = (i + 1) * count // trials > i * count // trials
    return found


@kernel
def _add_hits(heights: Ints, share: float, found: Floats) -> None:
    """Add ``share`` times the distribution of the number of ones that a random permutation hits."""
    size = heights.size
    most = found.size - 1
    counts = np.zeros(size + 1, dtype=np.int64)
    for j in range(size):
        counts[heights[j]] += 1
    # Numbers from 0 and 1 outward: 0, 1, -1, 2, -2, ... are places 0, 1, 2, 3, 4, ...
    places = np.zeros(2 * size + 1, dtype=np.int64)
    j = 0
    for height in range(size + 1):
        for _ in range(counts[height]):
            c = height - j
            places[2 * c - 1 if c >= 1 else -2 * c] += 1
            j += 1
    # Two buffers and one direction, so that the compiler uses vectors; with that and with the ends trimmed, a board of
    # 10,000 takes a quarter of the time.
    hits = np.zeros(most + 1)
    following = np.zeros(most + 1)
    hits[0] = 1.0
    lowest = 0
    highest = 0
    boards = 0
    for place in range(places.size):
        c = (place + 1) // 2 if place % 2 == 1 else -(place // 2)
        for _ in range(places[place]):
            boards += 1
            inverse = 1.0 / boards
            one_more = float(boards + c)
            as_many = float(1 - c)
            following[lowest] = hits[lowest] * (lowest + as_many) * inverse
            for v in range(lowest + 1, highest + 1):
                following[v] = (hits[v - 1] * (one_more - v) + hits[v] * (v + as_many)) * inverse
            if highest < most:
                following[highest + 1] = hits[highest] * (one_more - (highest + 1)) * inverse
                highest += 1
            while lowest < highest and following[lowest] <= NOTHING:
                lowest += 1
            while highest > lowest and following[highest] <= NOTHING:
                highest -= 1
            hits, following = following, hits
    for v in range(lowest, highest + 1):
        found[v] += share * hits[v]
