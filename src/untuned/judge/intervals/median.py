"""Intervals on a median from order statistics: exact whatever the distribution.

Every value is at or below a median with probability at least 1/2, so the number of n values that are is at least as
large as a binomial number, and the k-th smallest value is above the median with probability at most

    P(Binomial(n, 1/2) <= k - 1).

The same holds for the k-th largest. Ties only make these probabilities smaller: the interval, ends included, then
contains the median more often than it has to.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtr

from untuned.scores import EVERYWHERE, Floats, Range


def median_rank(count: int, delta: float) -> int:
    """Return k: the k-th smallest and k-th largest of ``count`` values are an interval's ends; 0 where none are."""
    if count < 1:
        return 0
    misses = bdtr(np.arange((count + 1) // 2, dtype=np.float64), count, 0.5)
    return int(np.searchsorted(misses, delta / 2.0, side="right"))


def median_intervals(values: ArrayLike, delta: float, support: Range = EVERYWHERE) -> tuple[Floats, Floats]:
    """Return the ends of an interval for every column of ``values``; each holds with probability at least 1 - delta.

    Parameters
    ----------
    values
        Shape (n, ...): independent along the first axis.
    delta
        The probability of missing a median, half of it on either side.
    support
        The lowest and highest value possible: the ends where there are too few values to say more.
    """
    ascending = np.sort(np.asarray(values, dtype=np.float64), axis=0)
    k = median_rank(len(ascending), delta)
    if k == 0:
        shape = ascending.shape[1:]
        return np.full(shape, support[0]), np.full(shape, support[1])
    return ascending[k - 1], ascending[-k]


def median_interval(values: ArrayLike, delta: float, support: Range = EVERYWHERE) -> tuple[float, float]:
    """Return the ends of an interval that contains the median with probability at least 1 - ``delta``.

    Parameters
    ----------
    values
        Independent, in any order, shape (n,).
    delta
        The probability of missing the median, half of it on either side.
    support
        The lowest and highest value possible, by default unbounded; the ends where there are too few values.
    """
    low, high = median_intervals(values, delta, support)
    return float(low), float(high)
