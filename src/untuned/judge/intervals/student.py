"""PBP-t: Student's t on the placements of an algorithm's trials in the reference's sample (the paper's Appendix F).

Approximate, for three reasons: placements are not normal; the reference's sample stands for its distribution; and a
sample whose placements are all equal gets an interval of width zero. Included because the paper has it.
"""

from collections.abc import Sequence

import numpy as np
from scipy.special import stdtrit

from untuned.judge.intervals.method import Conventions, Method
from untuned.judge.jit import kernel
from untuned.judge.percentiles import SELF, SHARE, Percentiles
from untuned.judge.pool import Owners, Pool
from untuned.scores import Floats, Ints, ScoreTable


def percentile_intervals(
    pools: Sequence[Pool], estimates: Percentiles, tail: float, *, clip: bool = True
) -> tuple[Floats, Floats]:
    """Return lower and upper ends of intervals on all percentiles, [a, e, r].

    Parameters
    ----------
    pools
        The scores.
    estimates
        Their percentiles.
    tail
        The probability beyond each end.
    clip
        Keep the ends in [0, 1], where percentiles are.

    Notes
    -----
    A single trial has no variance to estimate: its intervals are [0, 1], like those of cells without trials.
    """
    n, m = pools[0].owner_of.size, len(pools)
    low_aer = np.zeros((n, m, n))
    high_aer = np.ones((n, m, n))
    for e, pool in enumerate(pools):
        count = pool.sizes.size
        owner = pool.owner_of
        _, first = np.unique(owner, return_index=True)
        z = np.ascontiguousarray(estimates.z_aer[:, e, :][np.ix_(first, first)])
        squares = np.zeros((count, count))
        deviations(pool.scores, pool.owners, pool.sizes, SHARE[estimates.payoff], z, squares)
        sizes = pool.sizes.astype(np.float64)
        enough = (pool.sizes[:, None] > 1) & (pool.sizes[None, :] > 0)
        freedom = np.maximum(sizes - 1.0, 1.0)[:, None]
        error = np.sqrt(squares / freedom / np.maximum(sizes, 1.0)[:, None])
        # From the lower tail: 1 - tail is 1 for small ones, whose quantile is infinite.
        half = -stdtrit(freedom, tail) * error
        low = np.where(enough, z - half, 0.0)
        high = np.where(enough, z + half, 1.0)
        if clip:
            low, high = np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)
        np.fill_diagonal(low, SELF)
        np.fill_diagonal(high, SELF)
        low_aer[:, e, :] = low[np.ix_(owner, owner)]
        high_aer[:, e, :] = high[np.ix_(owner, owner)]
    return low_aer, high_aer


@kernel
def deviations(scores: Floats, owners: Owners, sizes: Ints, share: float, z: Floats, squares: Floats) -> None:
    """Add up (placement - z)^2 over the trials of every owner, in the sample of every reference."""
    count = sizes.size
    total = scores.size
    below = np.zeros(count)
    here = np.zeros(count)
    first = 0
    while first < total:
        end = first
        here[:] = 0.0
        while end < total and scores[end] == scores[first]:
            here[owners[end]] += 1.0
            end += 1
        for a in range(count):
            if here[a] > 0.0:
                for r in range(count):
                    placement = (below[r] + share * here[r]) / max(sizes[r], 1)
                    squares[a, r] += here[a] * (placement - z[a, r]) ** 2
        for r in range(count):
            below[r] += here[r]
        first = end


def _intervals(
    table: ScoreTable, pools: Sequence[Pool], estimates: Percentiles, delta: float, conventions: Conventions
) -> tuple[Floats, Floats]:
    n, m = estimates.trials_ae.shape
    if conventions == "paper":
        # Its quantile is one-sided and its count that of the cells, both of which make intervals too narrow.
        return percentile_intervals(pools, estimates, delta / (n * m), clip=False)
    return percentile_intervals(pools, estimates, delta / (2 * n * (n - 1) * m))


METHOD = Method(
    "pbp-t",
    "PBP-t",
    False,
    "the paper's: Student's t on placements; takes the reference's sample for its distribution",
    True,
    _intervals,
)
