"""Wilson's score interval with DeLong's variance: approximate, the narrowest useful one.

The estimate's variance is V = s_a^2/T_a + s_r^2/T_r, with the sample variances of the placements of the two samples in
each other. U is worth n = U(1 - U)/V wins and losses, and the interval is Wilson's for n,

    (U - z)^2 = t^2 z(1 - z)/n,

with Student's quantile at Satterthwaite's degrees of freedom. n is never less than the smaller number of trials T,
which is what U is worth at the worst; so a sample without variance gets an interval of Wilson's width for T, not one of
width zero. It assumes independent trials and samples large enough for the normal approximation, and guarantees nothing:
at levels far out in the tail, or with few trials, it misses more often than it says.
"""

from collections.abc import Sequence

import numpy as np
from scipy.special import stdtrit

from untuned.judge.intervals.comparisons import comparisons, level_of_each, mirrored
from untuned.judge.intervals.method import Conventions, Method
from untuned.judge.intervals.student import deviations
from untuned.judge.percentiles import SHARE, Percentiles
from untuned.judge.pool import Pool
from untuned.scores import Floats, ScoreTable


def percentile_intervals(pools: Sequence[Pool], estimates: Percentiles, level: float) -> tuple[Floats, Floats]:
    """Return lower and upper ends of intervals on all percentiles, [a, e, r].

    Parameters
    ----------
    pools
        The scores.
    estimates
        Their percentiles.
    level
        The probability with which each interval should miss, half of it on either side.

    Notes
    -----
    A single trial has no variance to estimate: its intervals are [0, 1], like those of cells without trials.
    """
    pairs = comparisons(pools, estimates)
    squares, squares_back = np.empty(pairs.z.size), np.empty(pairs.z.size)
    for e, pool in enumerate(pools):
        here = pairs.environment == e
        first, second = pairs.first[here], pairs.second[here]
        _, stands_for = np.unique(pool.owner_of, return_index=True)
        z = np.ascontiguousarray(estimates.z_aer[:, e, :][np.ix_(stands_for, stands_for)])
        found = np.zeros(z.shape)
        deviations(pool.scores, pool.owners, pool.sizes, SHARE[estimates.payoff], z, found)
        squares[here], squares_back[here] = found[first, second], found[second, first]
    enough = pairs.trials > 1
    freedom, freedom_back = (np.maximum(sizes - 1.0, 1.0) for sizes in (pairs.first_size, pairs.second_size))
    part = squares / freedom / pairs.first_size
    part_back = squares_back / freedom_back / pairs.second_size
    variance = part + part_back
    varies = variance > 0.0
    trials = pairs.trials.astype(np.float64)
    binary = pairs.z * (1.0 - pairs.z)
    worth = np.maximum(np.divide(binary, variance, out=trials.copy(), where=varies), trials)
    # Satterthwaite's, in shares of the variance, which stay in range where its square underflows.
    share = np.divide(part, variance, out=np.full(variance.shape, 0.5), where=varies)
    together = 1.0 / (share**2 / freedom + (1.0 - share) ** 2 / freedom_back)
    square = stdtrit(together, level / 2.0) ** 2
    # The roots of (U - z)^2 = square/worth z(1 - z); divided by the square, which may overflow.
    scale = 1.0 / (1.0 + worth / square)
    centre = scale * 0.5 + (1.0 - scale) * pairs.z
    half = np.sqrt(scale * (scale * 0.25 + (1.0 - scale) * binary))
    low = np.where(enough, centre - half, 0.0)
    high = np.where(enough, centre + half, 1.0)
    return mirrored(pools, estimates, pairs, low, high)


def _intervals(
    table: ScoreTable, pools: Sequence[Pool], estimates: Percentiles, delta: float, conventions: Conventions
) -> tuple[Floats, Floats]:
    return percentile_intervals(pools, estimates, level_of_each(pools, estimates, delta))


METHOD = Method(
    "wilson",
    "Wilson",
    False,
    "Wilson's score interval with DeLong's variance; narrow, for many trials",
    False,
    _intervals,
)
