"""Intervals from bands on distribution functions: Dvoretzky, Kiefer and Wolfowitz's inequality, and Anderson's.

With probability at least 1 - delta, the empirical distribution function of T scores is nowhere further from the true
one than

    epsilon = sqrt(log(2/delta) / (2 T))

(Massart's constant). Inside that band the smallest mean of any increasing function is attained by moving the top
epsilon of the sample's mass to the lowest possible score, the largest by moving the bottom epsilon to the highest:
Anderson's inequality. The percentile z[a, e, r] = E[F_r(X_a)] increases with X_a and with F_r, so its extremes are
those of two such shifted samples. No assumption but independence, at any number of trials.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from untuned.judge.intervals.method import Conventions, Method
from untuned.judge.jit import kernel
from untuned.judge.percentiles import SELF, SHARE, Payoff, Percentiles
from untuned.judge.pool import Owners, Pool
from untuned.scores import Floats, Ints, Range, ScoreTable


def margin(trials: Ints | int, delta: float) -> Floats:
    """Return epsilon for numbers of trials, 1 where there are none."""
    trials = np.asarray(trials)
    with np.errstate(divide="ignore"):
        epsilon: Floats = np.minimum(np.sqrt(np.log(2.0 / delta) / (2.0 * trials)), 1.0)
    return epsilon


@dataclass(frozen=True, eq=False)
class Band:
    """A distribution function between two others.

    Attributes
    ----------
    scores
        Distinct scores in ascending order, shape (D,).
    estimate, low, high
        The distribution function at each of them, and its bounds there; between two scores as at the lower one. Before
        the first, inside the support, it is between 0 and ``margin``.
    margin
        The half width, epsilon.
    support
        The lowest and highest score possible.
    """

    scores: Floats
    estimate: Floats
    low: Floats
    high: Floats
    margin: float
    support: Range

    def quantiles(self, levels: ArrayLike) -> tuple[Floats, Floats, Floats]:
        """Return the quantile function at ``levels`` in (0, 1): estimate, lower and upper bound.

        The bounds are the ends of the support where the band gives no tighter ones.
        """
        levels = np.asarray(levels, dtype=np.float64)
        lowest, highest = self.support
        scores = np.concatenate([[lowest], self.scores, [highest]])
        estimate = np.concatenate([[0.0], self.estimate, [1.0]])
        low = np.concatenate([[0.0], self.low, [1.0]])
        high = np.concatenate([[self.margin], self.high, [1.0]])
        return _reaching(estimate, levels, scores), _reaching(high, levels, scores), _reaching(low, levels, scores)


def _reaching(function: Floats, levels: Floats, scores: Floats) -> Floats:
    """Return the smallest score at which an increasing function reaches each level."""
    # Rounding of sums must not push a level that is reached exactly to the next score.
    return scores[np.searchsorted(function, levels - 1e-12, side="left")]


def band(scores: Floats, delta: float, support: Range = (-np.inf, np.inf)) -> Band:
    """Return the band that contains the whole distribution function with probability at least 1 - ``delta``.

    Parameters
    ----------
    scores
        Independent scores, in any order.
    delta
        The probability of missing the truth anywhere.
    support
        The lowest and highest score possible.
    """
    distinct, counts = np.unique(np.asarray(scores, dtype=np.float64), return_counts=True)
    total = int(counts.sum())
    estimate = np.cumsum(counts) / max(total, 1)
    epsilon = float(margin(total, delta))
    low = np.maximum(estimate - epsilon, 0.0)
    high = np.minimum(estimate + epsilon, 1.0)
    low[distinct >= support[1]] = 1.0
    high[distinct >= support[1]] = 1.0
    return Band(distinct, estimate, low, high, epsilon, support)


def mean_interval(scores: Floats, delta: float, support: Range) -> tuple[float, float]:
    """Return Anderson's interval on the mean of a distribution on ``support``.

    Infinite where the support is: no finite sample says anything about the mean of an unbounded distribution. An empty
    sample gives the support.

    Parameters
    ----------
    scores
        Independent, in any order, shape (n,).
    delta
        The probability of missing the mean.
    support
        The lowest and highest value possible.
    """
    ascending = np.sort(np.asarray(scores, dtype=np.float64))
    total = ascending.size
    if not total:
        return support
    epsilon = float(margin(total, delta))
    kept = np.clip(np.arange(1, total + 1) / total - epsilon, 0.0, None)
    kept = np.diff(kept, prepend=0.0)
    # The sample without its bottom epsilon; read backwards, without its top.
    high = float(np.dot(kept, ascending)) + epsilon * support[1]
    low = float(np.dot(kept, ascending[::-1])) + epsilon * support[0]
    return low, high


def levels(table: ScoreTable, delta: float, anytime: bool) -> Floats:
    """Return the level of every cell's band, [algorithm, environment], so that all of them hold together at ``delta``.

    Where scores may decide how many trials there are, ``anytime`` or in a race, a band for T trials gets 1/(T (T + 1))
    of its cell's part. These add up to 1 over all T, so the bands hold at all numbers of trials together. A cell that
    is still empty keeps its part there: it may get trials later.
    """
    if not anytime and table.declared is None:
        return np.full(table.trials.shape, delta / max(int(np.count_nonzero(table.trials)), 1))
    trials = np.maximum(table.trials, 1).astype(np.float64)
    return delta / trials.size / (trials * (trials + 1.0))


def mean_intervals(table: ScoreTable, delta: float, anytime: bool = False) -> tuple[Floats, Floats]:
    """Return Anderson's intervals on all cells' means, [algorithm, environment], which hold together at ``delta``."""
    ends = [
        [mean_interval(cell, each, support) for cell, each, support in zip(row, parts, table.ranges, strict=True)]
        for row, parts in zip(table.cells, levels(table, delta, anytime).tolist(), strict=True)
    ]
    both = np.array(ends, dtype=np.float64)
    return both[:, :, 0], both[:, :, 1]


def percentile_intervals(
    pools: Sequence[Pool],
    supports: Sequence[Range],
    delta: float,
    payoff: Payoff,
    sizes: Sequence[Ints] | None = None,
) -> tuple[Floats, Floats]:
    """Return lower and upper ends of intervals on all percentiles, [a, e, r], from one band per cell.

    Parameters
    ----------
    pools
        The scores.
    supports
        Per environment, the lowest and highest score possible.
    delta
        The level of each band. Divided by the number of bands it makes all intervals hold together: when all bands
        hold, all intervals do.
    payoff
        The payoff of a tie.
    sizes
        Numbers of trials, of every owner on every environment, that determine the width of the bands; by default the
        actual ones. Larger ones give the intervals of more trials with the same distributions.
    """
    n, m = pools[0].owner_of.size, len(pools)
    low_aer = np.empty((n, m, n))
    high_aer = np.empty((n, m, n))
    for e, (pool, support) in enumerate(zip(pools, supports, strict=True)):
        count = pool.sizes.size
        low = np.zeros((count, count))
        high = np.zeros((count, count))
        epsilon = margin(pool.sizes if sizes is None else sizes[e], delta)
        _extremes(pool.scores, pool.owners, pool.sizes, epsilon, support[0], support[1], SHARE[payoff], low, high)
        np.clip(low, 0.0, 1.0, out=low)
        np.clip(high, 0.0, 1.0, out=high)
        unknown = np.outer(pool.sizes, pool.sizes) == 0
        low[unknown], high[unknown] = 0.0, 1.0
        np.fill_diagonal(low, SELF)
        np.fill_diagonal(high, SELF)
        owner = pool.owner_of
        low_aer[:, e, :] = low[np.ix_(owner, owner)]
        high_aer[:, e, :] = high[np.ix_(owner, owner)]
    return low_aer, high_aer


@kernel
def _extremes(
    scores: Floats,
    owners: Owners,
    sizes: Ints,
    epsilon: Floats,
    lowest: float,
    highest: float,
    share: float,
    low: Floats,
    high: Floats,
) -> None:
    """Add up z for the two pairs of shifted samples, over all points where anything has mass, in ascending order."""
    count = sizes.size
    total = scores.size
    seen = np.zeros(count, dtype=np.int64)
    # The band's two functions, before and at the current point.
    below_before = np.zeros(count)
    below_here = np.zeros(count)
    above_before = np.zeros(count)
    above_here = np.zeros(count)
    done = np.full(count, -1, dtype=np.int64)
    first = 0
    # Two points more than there are scores: the ends of the support.
    started = False
    ended = False
    while not ended:
        end = first
        if not started:
            started = True
            ended = lowest == highest
            while end < total and scores[end] <= lowest:
                end += 1
        elif first < total and scores[first] < highest:
            while end < total and scores[end] == scores[first]:
                end += 1
        else:
            end = total
            ended = True
        for p in range(first, end):
            seen[owners[p]] += 1
        if first == 0 or ended:
            # Where the support begins or ends, every sample has mass.
            for g in range(count):
                portion = seen[g] / sizes[g] if sizes[g] > 0 else 0.0
                above_here[g] = 1.0 if ended else min(1.0, portion + epsilon[g])
                below_here[g] = 1.0 if ended else max(0.0, portion - epsilon[g])
            for a in range(count):
                _add(a, share, below_before, below_here, above_before, above_here, low, high)
            for g in range(count):
                above_before[g] = above_here[g]
                below_before[g] = below_here[g]
        else:
            for p in range(first, end):
                g = owners[p]
                portion = seen[g] / sizes[g]
                above_here[g] = min(1.0, portion + epsilon[g])
                below_here[g] = max(0.0, portion - epsilon[g])
            for p in range(first, end):
                a = owners[p]
                if done[a] != first:
                    done[a] = first
                    _add(a, share, below_before, below_here, above_before, above_here, low, high)
            for p in range(first, end):
                g = owners[p]
                above_before[g] = above_here[g]
                below_before[g] = below_here[g]
        first = end


@kernel
def _add(
    a: int,
    share: float,
    below_before: Floats,
    below_here: Floats,
    above_before: Floats,
    above_here: Floats,
    low: Floats,
    high: Floats,
) -> None:
    """Add the mass of owner ``a`` at the current point, against every reference."""
    falling = above_here[a] - above_before[a]
    rising = below_here[a] - below_before[a]
    for r in range(below_here.size):
        low[a, r] += falling * (below_before[r] + share * (below_here[r] - below_before[r]))
        high[a, r] += rising * (above_before[r] + share * (above_here[r] - above_before[r]))


def _intervals(
    table: ScoreTable, pools: Sequence[Pool], estimates: Percentiles, delta: float, conventions: Conventions
) -> tuple[Floats, Floats]:
    if conventions == "paper":
        each = delta / estimates.trials_ae.size
        return percentile_intervals(pools, _observed(pools), each, estimates.payoff)
    # One band for every existing sample: pooled samples count once, missing ones not at all.
    samples = sum(int(np.count_nonzero(pool.sizes)) for pool in pools)
    return percentile_intervals(pools, table.ranges, delta / max(samples, 1), estimates.payoff)


def _observed(pools: Sequence[Pool]) -> tuple[Range, ...]:
    """Return the lowest and highest score seen on every environment: the paper's supports, which are not valid ones."""
    return tuple(
        (float(pool.scores[0]), float(pool.scores[-1])) if pool.scores.size else (-np.inf, np.inf) for pool in pools
    )


METHOD = Method(
    "pbp",
    "PBP",
    True,
    "the paper's: Dvoretzky-Kiefer-Wolfowitz bands and Anderson's inequality; wide",
    True,
    _intervals,
)
