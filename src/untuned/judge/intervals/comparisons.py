"""One interval per pair of samples, read in both directions: shared by all methods that compare pairs.

z[a, e, r] + z[r, e, a] = 1 by mid-ranks, so an interval [low, high] on the one is [1 - high, 1 - low] on the other. A
method finds the ends for every unordered pair of owners once; here they are enumerated, and laid out for all
algorithms.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from untuned.judge.percentiles import SELF, Percentiles
from untuned.judge.pool import Pool
from untuned.scores import Floats, Ints, ScoreTable

# Ends are multiples of this, so that x and 1 - x are both exact.
_STEP = 2.0**-53


@dataclass(frozen=True, eq=False)
class Comparisons:
    """All unordered pairs of owners that both have trials, over all environments, shape (C,) each.

    Attributes
    ----------
    environment
        Where they meet.
    first, second
        The two owners' numbers there, first < second.
    z
        The estimated percentile of the first on the scale of the second.
    first_size, second_size
        Their numbers of trials.
    """

    environment: Ints
    first: Ints
    second: Ints
    z: Floats
    first_size: Ints
    second_size: Ints

    @property
    def trials(self) -> Ints:
        """The smaller number of trials of each pair."""
        return np.minimum(self.first_size, self.second_size)


def comparisons(pools: Sequence[Pool], estimates: Percentiles) -> Comparisons:
    """Return the pairs of owners with trials, by environment."""
    parts = []
    for e, pool in enumerate(pools):
        sampled = np.flatnonzero(pool.sizes)
        i, j = np.triu_indices(sampled.size, 1)
        first, second = sampled[i], sampled[j]
        _, stands_for = np.unique(pool.owner_of, return_index=True)
        z = estimates.z_aer[stands_for[first], e, stands_for[second]]
        parts.append((np.full(first.size, e), first, second, z, pool.sizes[first], pool.sizes[second]))
    environment, first, second, z, first_size, second_size = (
        np.concatenate(column) for column in zip(*parts, strict=True)
    )
    return Comparisons(environment, first, second, z, first_size, second_size)


def from_wins(
    pools: Sequence[Pool],
    estimates: Percentiles,
    level: float,
    lower_limits: Callable[[Floats, Ints, float, Floats], None],
) -> tuple[Floats, Floats]:
    """Return lower and upper ends [a, e, r] for a method that uses only the shares of pairs that were won.

    Parameters
    ----------
    pools
        The scores.
    estimates
        Their percentiles.
    level
        The probability with which each interval may miss, half of it on either side.
    lower_limits
        Writes the lower limits for some shares and numbers of trials, each of which misses with probability exp(-x).
    """
    pairs = comparisons(pools, estimates)
    low, below = np.empty(pairs.z.size), np.empty(pairs.z.size)
    lower_limits(pairs.z, pairs.trials, math.log(2.0 / level), low)
    lower_limits(1.0 - pairs.z, pairs.trials, math.log(2.0 / level), below)
    return mirrored(pools, estimates, pairs, low, 1.0 - below)


def level_of_each(pools: Sequence[Pool], estimates: Percentiles, delta: float) -> float:
    """Return the level of one interval: there is one for every unordered pair of samples."""
    return delta / max(comparisons(pools, estimates).z.size, 1)


def possible(pools: Sequence[Pool]) -> int:
    """Return the number of unordered pairs of owners over all environments, with trials or without."""
    return sum(pool.sizes.size * (pool.sizes.size - 1) // 2 for pool in pools)


def in_order(table: ScoreTable, pool: Pool, e: int) -> list[Floats]:
    """Return the scores of every owner on environment number ``e`` in the order of their arrival.

    Where an owner has several cells, the first trials of all come before the second ones, and so on: existing trials
    keep their positions while the cells grow together. First trials are in the order of the algorithms' names, so the
    order of the table does not matter. In a race cells grow together round by round, so trials beyond the smallest
    cell belong to an incomplete round, and are left out: their position would change later.
    """
    found = []
    for owner in range(pool.sizes.size):
        own = sorted(np.flatnonzero(pool.owner_of == owner), key=lambda a: table.algorithms[a])
        cells = [table.cells[a][e] for a in own]
        if table.declared is not None:
            cells = [cell[: min(each.size for each in cells)] for cell in cells]
        turns = np.concatenate([np.arange(cell.size) for cell in cells])
        found.append(np.concatenate(cells)[np.argsort(turns, kind="stable")])
    return found


def mirrored(
    pools: Sequence[Pool], estimates: Percentiles, pairs: Comparisons, low: Floats, high: Floats
) -> tuple[Floats, Floats]:
    """Return the ends [a, e, r] for all algorithms from those of the pairs, shape (C,), of the first on the second.

    Exactly low[r, e, a] = 1 - high[a, e, r]; for that, ends move outward to the next multiple of 2**-53. [1/2, 1/2] for
    what is identical, [0, 1] where there are no trials.
    """
    n, m = pools[0].owner_of.size, len(pools)
    low_aer, high_aer = np.empty((n, m, n)), np.empty((n, m, n))
    for e, pool in enumerate(pools):
        count = pool.sizes.size
        here = pairs.environment == e
        first, second = pairs.first[here], pairs.second[here]
        _, stands_for = np.unique(pool.owner_of, return_index=True)
        # Each direction's estimate was rounded for itself: the interval holds both.
        back = 1.0 - estimates.z_aer[stands_for[second], e, stands_for[first]]
        lowest = np.clip(np.minimum(np.minimum(low[here], pairs.z[here]), back), 0.0, 1.0)
        highest = np.clip(np.maximum(np.maximum(high[here], pairs.z[here]), back), 0.0, 1.0)
        lowest = np.floor(lowest / _STEP) * _STEP
        highest = np.ceil(highest / _STEP) * _STEP
        lows, highs = np.zeros((count, count)), np.ones((count, count))
        lows[first, second], highs[first, second] = lowest, highest
        lows[second, first], highs[second, first] = 1.0 - highest, 1.0 - lowest
        np.fill_diagonal(lows, SELF)
        np.fill_diagonal(highs, SELF)
        owner = pool.owner_of
        low_aer[:, e, :] = lows[np.ix_(owner, owner)]
        high_aer[:, e, :] = highs[np.ix_(owner, owner)]
    return low_aer, high_aer
