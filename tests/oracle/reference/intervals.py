"""Oracle for the intervals from pairs of trials: each limit from its definition, pairings one by one, sums in full.

`first` and `second` are two samples in order of arrival; z is the percentile of the first on the scale of the second,
by mid-ranks. Limits are lower ones: the upper limit of z is 1 minus the lower limit of the second on the first. A level
is two-sided, half of it goes to each limit.
"""

import hashlib
import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
from scipy import optimize, stats

from oracle.reference.judging import Floats

Sample = Sequence[float]


def payoff(x: float, y: float) -> float:
    """Return 1 for a win, 1/2 for a tie, 0 for a loss."""
    return 1.0 if x > y else 0.5 if x == y else 0.0


def estimate(first: Sample, second: Sample) -> float:
    """Return U, the mean payoff over all pairs of trials."""
    return float(np.mean([[payoff(x, y) for y in second] for x in first]))


def pairings(rows: int, columns: int) -> Iterator[list[tuple[int, int]]]:
    """Yield every way to give each trial of the smaller sample a partner of its own: lists of (row, column)."""
    if rows <= columns:
        for chosen in itertools.permutations(range(columns), rows):
            yield list(enumerate(chosen))
    else:
        for chosen in itertools.permutations(range(rows), columns):
            yield [(row, column) for column, row in enumerate(chosen)]


# --- bounds on the mean over all pairs


def entropy(u: float, q: float) -> float:
    """Return kl(u, q)."""
    won = u * math.log(u / q) if u > 0 else 0.0
    return won + ((1 - u) * math.log((1 - u) / (1 - q)) if u < 1 else 0.0)


def kl_lower(u: float, trials: int, level: float) -> float:
    """Return the smallest q with trials * kl(u, q) <= log(2/level)."""
    if u == 0.0 or (u < 1.0 and trials * entropy(u, 1e-300) <= math.log(2 / level)):
        return 0.0
    if u == 1.0:
        return float((level / 2) ** (1 / trials))
    return float(optimize.brentq(lambda q: trials * entropy(u, q) - math.log(2 / level), 1e-300, u, xtol=1e-15))


def mean_excess(trials: int, q: float, k: int) -> float:
    """Return E(Bin(trials, q) - k)+."""
    return sum((j - k) * float(stats.binom.pmf(j, trials, q)) for j in range(k + 1, trials + 1))


def bentkus_bound(u: float, trials: int, q: float) -> float:
    """Return the smallest ratio over all whole k below trials * u."""
    x = trials * u
    return min(mean_excess(trials, q, k) / (x - k) for k in range(math.ceil(x)))


def bentkus_lower(u: float, trials: int, level: float) -> float:
    """Return the q at which the bound is level/2."""
    if u == 0.0:
        return 0.0
    return float(optimize.brentq(lambda q: bentkus_bound(u, trials, q) - level / 2, 0.0, u, xtol=1e-14))


# --- betting


def average_product(first: Sample, second: Sample, w: float) -> float:
    """Return the mean over all pairings of the product of 1 + w * payoff."""
    products = [
        math.prod(1 + w * payoff(first[row], second[column]) for row, column in pairing)
        for pairing in pairings(len(first), len(second))
    ]
    return sum(products) / len(products)


def money(first: Sample, second: Sample, z0: float, tilts: Sequence[float], block: int) -> float:
    """Return what betting against z <= z0 has made of 1 after the last full block."""
    blocks = min(len(first), len(second)) // block
    total = 0.0
    for tilt in tilts:
        w = math.exp(tilt) - 1
        product = 1.0
        for g in range(blocks):
            part = slice(g * block, (g + 1) * block)
            product *= average_product(first[part], second[part], w) / (1 + w * z0) ** block
        total += product / len(tilts)
    return total


def betting_lower(first: Sample, second: Sample, level: float, tilts: Sequence[float], block: int) -> float:
    """Return the largest z0 at which the money was 2/level after any block, 0 if it was less everywhere."""
    found = [0.0]
    for used in range(block, min(len(first), len(second)) + 1, block):
        now = first[:used], second[:used]
        if money(*now, 0.0, tilts, block) >= 2 / level:
            found.append(float(optimize.brentq(lambda z0: money(*now, z0, tilts, block) - 2 / level, 0, 1, xtol=1e-14)))  # noqa: B023
    return max(found)


# --- all pairings of a fixed number of trials


def tie_winners(trials: int) -> int:
    """Return how many trials win their ties: the mean of the lower half of Bin(trials, 1/2), rounded up."""
    distance = sum(Fraction(math.comb(trials, m), 2**trials) * abs(m - Fraction(trials, 2)) for m in range(trials + 1))
    return min(math.ceil(Fraction(trials, 2) - distance), trials // 2)


def tie_list(trials: int) -> list[bool]:
    """Return which trials these are: where multiples of their share get to the next whole number."""
    share = Fraction(tie_winners(trials), trials)
    return [math.floor((i + 1) * share) > math.floor(i * share) for i in range(trials)]


def wins(first: Sample, second: Sample) -> Floats:
    """Return the distribution of the number of wins over all pairings and all lists that decide ties."""
    trials = min(len(first), len(second))
    listed = tie_list(trials)
    found = np.zeros(trials + 1)
    for of_first in (True, False):
        if len(first if of_first else second) > trials:
            continue
        for flip in (True, False):
            for pairing in pairings(len(first), len(second)):
                won = 0
                for row, column in pairing:
                    if first[row] == second[column]:
                        won += (listed[row] != flip) if of_first else (listed[column] == flip)
                    else:
                        won += first[row] > second[column]
                found[won] += 1
    distribution: Floats = found / found.sum()
    return distribution


def wins_in_blocks(first: Sample, second: Sample, block: int) -> Floats:
    """Return the distribution of the number of wins over pairings within blocks."""
    blocks = -(-min(len(first), len(second)) // block)
    found = np.ones(1)
    for mine, theirs in zip(np.array_split(first, blocks), np.array_split(second, blocks), strict=True):
        found = np.convolve(found, wins(list(mine), list(theirs)))
    return found


def shuffles(sample: Sample, environment: str, owner: str, count: int) -> list[list[float]]:
    """Return a sample, sorted, in the orders in which `pairing` reads it: by names alone."""
    key = hashlib.blake2b(repr((environment, owner)).encode(), digest_size=16).digest()
    found = []
    for k in range(count):
        words = np.random.SFC64(np.random.SeedSequence(int.from_bytes(key, "little"), spawn_key=(k,)))
        order = sorted(sample)
        for i in range(len(order) - 1, 0, -1):
            while True:
                place, rest = divmod((words.random_raw() >> 32) * (i + 1), 2**32)
                if rest >= 2**32 % (i + 1):
                    break
            order[i], order[place] = order[place], order[i]
        found.append(order)
    return found


def mean_wins(first: Sequence[Sample], second: Sequence[Sample], block: int) -> Floats:
    """Return the mean over shuffles of the distribution of the number of wins."""
    found = [wins_in_blocks(mine, theirs, block) for mine, theirs in zip(first, second, strict=True)]
    mean: Floats = np.mean(found, axis=0)
    return mean


def hinge(trials: int, z0: float, tail: float) -> int:
    """Return the smallest k < trials with P(Bin(trials, z0) > k) <= tail; the last if there is none."""
    return next((k for k in range(trials) if stats.binom.sf(k, trials, z0) <= tail), trials - 1)


def hinge_tests(distribution: Floats, z0: float, ks: Sequence[int]) -> float:
    """Return the mean over k of E(S - k)+ / E(Bin(trials, z0) - k)+, S of this distribution."""
    trials = len(distribution) - 1
    ratios = [sum((v - k) * distribution[v] for v in range(k + 1, trials + 1)) / mean_excess(trials, z0, k) for k in ks]
    return float(sum(ratios) / len(ratios))


def pairing_lower(distribution: Floats, level: float, power: float) -> float:
    """Return the smallest z0 that is not rejected: through all pieces between the points where a k changes."""
    trials = len(distribution) - 1
    tails = [level / 4, (level / 4) ** power]
    ends = {float(stats.beta.ppf(tail, k + 1, trials - k)) for tail in tails for k in range(trials - 1)}
    for left, right in itertools.pairwise([0.0, *sorted(ends), 1.0]):
        ks = [hinge(trials, 0.5 * (left + right), tail) for tail in tails]
        if hinge_tests(distribution, right, ks) >= 2 / level:
            continue
        inside = left + 1e-13 * (right - left)
        if hinge_tests(distribution, inside, ks) < 2 / level:
            return left
        return float(
            optimize.brentq(lambda z0, ks=ks: hinge_tests(distribution, z0, ks) - 2 / level, inside, right, xtol=1e-14)
        )
    raise AssertionError("z0 = 1 is never rejected")


# --- Wilson's interval with DeLong's variance


def wilson(first: Sample, second: Sample, level: float) -> tuple[float, float]:
    """Return both limits."""
    if min(len(first), len(second)) < 2:
        return 0.0, 1.0
    u = estimate(first, second)
    rows = [float(np.mean([payoff(x, y) for y in second])) for x in first]
    columns = [float(np.mean([payoff(x, y) for x in first])) for y in second]
    parts = [float(np.var(values, ddof=1)) / len(values) for values in (rows, columns)]
    variance = sum(parts)
    trials = min(len(first), len(second))
    freedom = (len(first) - 1.0, len(second) - 1.0)
    if variance > 1e-30:
        worth = max(u * (1 - u) / variance, trials)
        degrees = variance**2 / sum(part**2 / each for part, each in zip(parts, freedom, strict=True))
    else:
        worth = float(trials)
        degrees = 4 / (1 / freedom[0] + 1 / freedom[1])
    square = float(stats.t.isf(level / 2, degrees)) ** 2
    # (u - z)^2 = square z(1 - z)/worth
    roots = np.roots([1 + square / worth, -2 * u - square / worth, u * u]).real
    return float(min(roots)), float(max(roots))
