"""How many of its trials an algorithm wins if two samples are paired at random: the distribution over all pairings.

Write 1 where a trial of the first sample (row) beats one of the second (column), 0 elsewhere, and let b_0 <= b_1 <= ...
be the numbers of ones in the columns. Sorted by score the ones form steps, and the numbers of pairings by how many ones
they hit depend on the b_j - j alone, in any order (Goldman, Joichi and White's factorization of rook polynomials): with
one more number c, for a board of size N,

    N P_N(v) = (N - v + c) P_{N-1}(v - 1) + (v + 1 - c) P_{N-1}(v).

Going from 0 and 1 outward, 0, 1, -1, 2, -2, ..., the numbers so far always belong to a smaller board, for b_j - j falls
by one at most from each j to the next, begins at 0 or above and ends at 1 or below. So no term is ever negative, and
nothing is lost by cancellation. The smaller sample is filled up with trials that lose to all, or beat nobody.

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

from untuned.judge.jit import kernel
from untuned.scores import Floats, Ints


@kernel
def wins_distribution(first: Floats, second: Floats) -> Floats:
    """Return the probabilities that 0, 1, ..., n trials of ``first`` win, n the smaller number of trials."""
    smaller = min(first.size, second.size)
    larger = max(first.size, second.size)
    ascending = np.sort(first)
    beaten_by = np.empty(second.size, dtype=np.int64)
    tied_with = np.empty(second.size, dtype=np.int64)
    ties = 0
    for j in range(second.size):
        upto = np.searchsorted(ascending, second[j], side="right")
        beaten_by[j] = first.size - upto
        tied_with[j] = upto - np.searchsorted(ascending, second[j], side="left")
        ties += tied_with[j]
    heights = np.zeros(larger, dtype=np.int64)
    if ties == 0:
        heights[: second.size] = beaten_by
        return _hits(heights, smaller)
    found = np.zeros(smaller + 1)
    boards = 0
    list_ = tie_list(smaller)
    for winners in (True, False):
        if first.size == smaller:
            ordered = np.sort(first[list_ == winners])
            for j in range(second.size):
                won = 0
                if tied_with[j] > 0:
                    won = np.searchsorted(ordered, second[j], side="right") - np.searchsorted(
                        ordered, second[j], side="left"
                    )
                heights[j] = beaten_by[j] + won
            found += _hits(heights, smaller)
            boards += 1
        if second.size == smaller:
            heights[:] = 0
            for j in range(second.size):
                heights[j] = beaten_by[j] + (0 if list_[j] == winners else tied_with[j])
            found += _hits(heights, smaller)
            boards += 1
    return found / boards


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
def _hits(heights: Ints, most: int) -> Floats:
    """Return the distribution of the number of ones that a random permutation hits, 0 to ``most``."""
    size = heights.size
    ascending = np.sort(heights)
    # Numbers from 0 and 1 outward: 0, 1, -1, 2, -2, ... are places 0, 1, 2, 3, 4, ...
    places = np.zeros(2 * size + 1, dtype=np.int64)
    for j in range(size):
        c = ascending[j] - j
        places[2 * c - 1 if c >= 1 else -2 * c] += 1
    found = np.zeros(most + 1)
    found[0] = 1.0
    lowest = 0
    highest = 0
    boards = 0
    for place in range(places.size):
        c = (place + 1) // 2 if place % 2 == 1 else -(place // 2)
        for _ in range(places[place]):
            boards += 1
            if highest < most:
                found[highest + 1] = found[highest] * (boards - highest - 1 + c) / boards
            for v in range(highest, lowest, -1):
                found[v] = (found[v - 1] * (boards - v + c) + found[v] * (v + 1 - c)) / boards
            found[lowest] *= (lowest + 1.0 - c) / boards
            if highest < most and found[highest + 1] > 0.0:
                highest += 1
            while lowest < highest and found[lowest] <= 0.0:
                lowest += 1
            while highest > lowest and found[highest] <= 0.0:
                highest -= 1
    return found
