"""Guaranteed intervals for a fixed number of trials, mostly the narrowest: tests averaged over all pairings.

Give every trial of the smaller sample, T in number, a partner of its own in the larger one. Without ties the number S
of pairs that a wins is then exactly Bin(T, z), whatever the distributions, so for every k

    (S - k)+ / E(Bin(T, z0) - k)+

has mean 1 if z = z0, and less if z is smaller. That is true of every pairing, hence of the average over all of them,
which is a test of z <= z0: by Markov's inequality it reaches 2/level with probability at most level/2. By Jensen's
inequality the average over pairings is at least what Bentkus's bound has in its place, (T U - k)+; it is the larger,
the more S depends on who was paired with whom. Ties are decided so that S is never worse than Bin(T, z) for a convex
function (`untuned.judge.intervals.pairing_wins`).

Which k is best depends on z0, and on how much of S is the pairing's luck. Bentkus's choice is the smallest k with
P(Bin(T, z0) > k) at most the level of the test; it is best where pairings make no difference. Where they do, a larger k
is. The test is the mean of two, one with that k at half the level, one with the k of a much smaller tail; both depend
on z0, T and the level alone. The lower limit is the smallest z0 that is not rejected; the upper one is found with the
roles exchanged.

Guaranteed at any number of trials chosen in advance, whatever the distributions, ties included; it assumes independent
trials only. The interval lies within Bentkus's at half the level, up to the splitting of large samples: they are cut
into blocks, within which all pairings are taken.

The order of rows changes nothing. Without ties, and in a single block, a distribution of wins does not depend on the
order of the trials. Elsewhere it does, by the blocks and by the list that decides ties. There each sample is sorted,
then shuffled by a seed that knows names alone (`untuned.judge.intervals.shuffling`), and the distribution is the mean
over several shuffles. One shuffle is as good as an order of arrival: it is uniform and independent of the scores, so
the mean of (S - k)+ over its distribution of wins has an expectation of at most E(Bin(T, z0) - k)+. That mean is linear
in the distribution. So it has the same bound under the average of the distributions, dependent as they are; nothing
else about them is used, and the test stays one. Averaging only makes the intervals vary less: by 1 % of their width
from one shuffle to another, by 0.3 % with sixteen.
"""

import math
from collections.abc import Sequence

import numpy as np

from untuned.judge.intervals.bentkus import lower_limit as bentkus_lower_limit
from untuned.judge.intervals.binomial_tail import log_probability, rounding, upper_tail
from untuned.judge.intervals.comparisons import comparisons, level_of_each, mirrored
from untuned.judge.intervals.kl import lower_limit as kl_lower_limit
from untuned.judge.intervals.method import Conventions, Method
from untuned.judge.intervals.pairing_wins import NOTHING, wins_distribution
from untuned.judge.intervals.shuffling import seeds, shuffled, sorted_samples
from untuned.judge.jit import kernel
from untuned.judge.percentiles import Percentiles
from untuned.judge.pool import Pool
from untuned.scores import Floats, ScoreTable

#: The most trials of the smaller sample in a block, and where there are ties. Measured, limits included: one block
#: costs as much as blocks of a hundred for 1,000 trials, 1.3 times as much for 10,000. With ties there are four boards
#: instead of one, and large blocks vary no less from one shuffle to another.
BLOCK = 10_000
TIED_BLOCK = 200
#: The second hinge is where the tail is this power of what it is at the first. Chosen by measuring: between 1.4 and 1.8
#: widths differ by 2 or 3 %, narrowest near 1.5; only close to z = 0 or 1 more is better, up to a tenth.
POWER = 1.6
# The smallest probability that stands for zero, so that it has a logarithm.
_TINY = 1e-300


def percentile_intervals(
    table: ScoreTable, pools: Sequence[Pool], estimates: Percentiles, level: float
) -> tuple[Floats, Floats]:
    """Return lower and upper ends of intervals on all percentiles, [a, e, r].

    Parameters
    ----------
    table, pools
        The scores.
    estimates
        Their percentiles.
    level
        The probability with which each interval may miss, half of it on either side.
    """
    pairs = comparisons(pools, estimates)
    low, below = np.empty(pairs.z.size), np.empty(pairs.z.size)
    for e, pool in enumerate(pools):
        samples = [
            _Sample(scores, seed) for scores, seed in zip(sorted_samples(pool), seeds(table, pool, e), strict=True)
        ]
        for i in np.flatnonzero(pairs.environment == e):
            wins = _wins(samples[pairs.first[i]], samples[pairs.second[i]])
            low[i] = lower_limit(wins, level, POWER)
            below[i] = lower_limit(wins[::-1].copy(), level, POWER)
    return mirrored(pools, estimates, pairs, low, 1.0 - below)


class _Sample:
    """A sample in ascending order, and its shuffles, as many as its comparisons need."""

    def __init__(self, scores: Floats, seed: int) -> None:
        self.scores = scores
        self._seed = seed
        self._shuffles = np.empty((0, scores.size))

    def shuffles(self, count: int) -> Floats:
        if len(self._shuffles) < count:
            self._shuffles = shuffled(self.scores, self._seed, count)
        return self._shuffles[:count]


def shuffles_for(trials: int) -> int:
    """Return how many shuffles are averaged, by the size of the larger sample: as many as cost little."""
    return min(max(1000 // trials, 2), 16)


def _wins(first: _Sample, second: _Sample) -> Floats:
    """Return the distribution of the number of wins, whatever the order of the trials."""
    ties = are_tied(first.scores, second.scores)
    if not ties and min(first.scores.size, second.scores.size) <= BLOCK:
        return wins_distribution(first.scores, second.scores)
    count = shuffles_for(max(first.scores.size, second.scores.size))
    return mean_wins(first.shuffles(count), second.shuffles(count), TIED_BLOCK if ties else BLOCK)


@kernel
def are_tied(first: Floats, second: Floats) -> bool:
    """Return whether two samples in ascending order have a score in common."""
    i = 0
    j = 0
    while i < first.size and j < second.size:
        if first[i] == second[j]:
            return True
        if first[i] < second[j]:
            i += 1
        else:
            j += 1
    return False


@kernel
def mean_wins(first: Floats, second: Floats, block: int) -> Floats:
    """Return the mean over shuffles, [shuffle, trial] of either sample, of the distribution of the number of wins."""
    found = np.zeros(min(first.shape[1], second.shape[1]) + 1)
    for k in range(first.shape[0]):
        found += wins_in_blocks(first[k], second[k], block) / first.shape[0]
    return found


@kernel
def wins_in_blocks(first: Floats, second: Floats, block: int) -> Floats:
    """Return the distribution of the number of wins, 0 to the smaller number of trials, over pairings within blocks."""
    smaller = min(first.size, second.size)
    blocks = -(-smaller // block)
    # The distribution of block g is found[starts[g] + v] for v from lowest[g] to highest[g]: the rest is nothing.
    found = np.zeros(smaller + blocks)
    starts = np.empty(blocks, dtype=np.int64)
    lowest = np.empty(blocks, dtype=np.int64)
    highest = np.empty(blocks, dtype=np.int64)
    sums = np.empty(smaller + 1)
    at = 0
    other_at = 0
    filled = 0
    for g in range(blocks):
        # The first blocks get the remainder, so the block of a larger sample is never smaller.
        size = first.size // blocks + (1 if g < first.size % blocks else 0)
        other_size = second.size // blocks + (1 if g < second.size % blocks else 0)
        wins = wins_distribution(first[at : at + size], second[other_at : other_at + other_size])
        at += size
        other_at += other_size
        starts[g] = filled
        found[filled : filled + wins.size] = wins
        lowest[g], highest[g] = support(wins, 0, wins.size - 1)
        filled += wins.size
    # Neighbours are added first: a sum of n blocks is about sqrt(n) blocks wide, so all sums of a round take as long
    # as those of the round before.
    step = 1
    while step < blocks:
        for g in range(0, blocks - step, 2 * step):
            h = g + step
            least = lowest[g] + lowest[h]
            most = highest[g] + highest[h]
            sums[least : most + 1] = 0.0
            for w in range(lowest[h], highest[h] + 1):
                probability = found[starts[h] + w]
                for v in range(lowest[g], highest[g] + 1):
                    sums[v + w] += found[starts[g] + v] * probability
            lowest[g], highest[g] = support(sums, least, most)
            found[starts[g] + lowest[g] : starts[g] + highest[g] + 1] = sums[lowest[g] : highest[g] + 1]
        step *= 2
    sums[:] = 0.0
    sums[lowest[0] : highest[0] + 1] = found[lowest[0] : highest[0] + 1]
    return sums


@kernel
def support(probabilities: Floats, least: int, most: int) -> tuple[int, int]:
    """Return where the probabilities between two places begin and end to be more than nothing."""
    while probabilities[least] < NOTHING:
        least += 1
    while probabilities[most] < NOTHING:
        most -= 1
    return least, most


@kernel
def lower_limit(wins: Floats, level: float, power: float) -> float:
    """Return the smallest z0 that ``wins``, the distribution of their number, does not reject, rounded down.

    Notes
    -----
    In z0, the test is piecewise: as long as both k stay the same it is strictly decreasing. So a piece is rejected if
    its right end is, and in the first that is not, the limit is found by bisection. All pieces below Bentkus's limit at
    half the level are rejected, and need not be looked at.
    """
    trials = wins.size - 1
    excess = np.zeros(trials + 1)
    above = 0.0
    for k in range(trials - 1, -1, -1):
        above += wins[k + 1]
        excess[k] = excess[k + 1] + above
    if excess[0] <= 0.0:
        return 0.0
    nats = math.log(4.0 / level)
    goal = math.log(2.0 / level) + rounding(trials)
    rejected = bentkus_lower_limit(min(excess[0] / trials, 1.0), trials, nats)
    k = hinge(trials, rejected, nats)
    far = hinge(trials, rejected, power * nats)
    end = hinge_end(trials, k, nats)
    far_end = hinge_end(trials, far, power * nats)
    kept = min(end, far_end)
    while kept < 1.0 and log_test(excess, trials, k, far, kept) >= goal:
        rejected = kept
        if end <= rejected:
            k += 1
            end = hinge_end(trials, k, nats)
        if far_end <= rejected:
            far += 1
            far_end = hinge_end(trials, far, power * nats)
        kept = min(end, far_end)
    while kept - rejected > 1e-15:
        middle = 0.5 * (rejected + kept)
        if middle <= rejected or middle >= kept:
            break
        if log_test(excess, trials, k, far, middle) >= goal:
            rejected = middle
        else:
            kept = middle
    return rejected


@kernel
def log_test(excess: Floats, trials: int, k: int, far: int, z0: float) -> float:
    """Return the logarithm of the mean of two tests of z <= ``z0``, from the mean excess of wins over each number."""
    one = _log_ratio(excess, trials, k, z0)
    other = _log_ratio(excess, trials, far, z0)
    larger = max(one, other)
    if larger == -np.inf:
        return larger
    return larger + math.log(0.5 * (math.exp(one - larger) + math.exp(other - larger)))


@kernel
def _log_ratio(excess: Floats, trials: int, k: int, z0: float) -> float:
    if excess[k] <= 0.0:
        return -np.inf
    if z0 <= 0.0:
        return np.inf
    return math.log(excess[k] / upper_tail(trials, z0, k)[1]) - log_probability(trials, z0, k + 1)


@kernel
def hinge(trials: int, z0: float, nats: float) -> int:
    """Return the smallest k < ``trials`` with P(Bin(``trials``, z) > k) <= exp(-``nats``) for some z above ``z0``."""
    q = max(z0, _TINY)
    least = min(int(trials * q), trials - 1)
    k = trials - 1
    while least < k:
        middle = (least + k) // 2
        if log_probability(trials, q, middle + 1) + math.log(upper_tail(trials, q, middle)[0]) <= -nats:
            k = middle
        else:
            least = middle + 1
    # The boundary between one k and the next must not depend on how it was found.
    while k > 0 and hinge_end(trials, k - 1, nats) > z0:
        k -= 1
    while hinge_end(trials, k, nats) <= z0:
        k += 1
    return k


@kernel
def hinge_end(trials: int, k: int, nats: float) -> float:
    """Return the largest z with P(Bin(``trials``, z) > ``k``) <= exp(-``nats``); 1 for the last k there is.

    Notes
    -----
    Newton's method on logarithms, from Chernoff's bound, which is below: the function is concave, so it stays below.
    """
    if k >= trials - 1:
        return 1.0
    q = max(kl_lower_limit((k + 1.0) / trials, float(trials), nats), _TINY)
    for _ in range(100):
        tail = upper_tail(trials, q, k)[0]
        step = (-nats - log_probability(trials, q, k + 1) - math.log(tail)) * tail / (k + 1.0)
        if step <= 1e-14:
            break
        q = min(q * math.exp(step), 1.0 - 1e-16)
    return q


def _intervals(
    table: ScoreTable, pools: Sequence[Pool], estimates: Percentiles, delta: float, conventions: Conventions
) -> tuple[Floats, Floats]:
    return percentile_intervals(table, pools, estimates, level_of_each(pools, estimates, delta))


METHOD = Method(
    "pairing",
    "Pairing",
    True,
    "all pairings of a fixed number of trials; mostly the narrowest",
    False,
    _intervals,
)
