"""Bootstrap intervals from resampled values: percentile, basic and BCa. All approximate.

Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapters 13 and 14; with several samples, BCa's
acceleration adds up over them (their equation 14.15, and 15.36).
"""

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
from scipy.special import ndtr, ndtri

from untuned.scores import Floats

Interval = Literal["percentile", "basic", "bca"]
INTERVALS: tuple[Interval, ...] = ("percentile", "basic", "bca")


def ends(kind: Interval, values: Floats, estimate: Floats, delta: float, acceleration: Floats | None) -> list[Floats]:
    """Return the lower and the upper ends; NaN where there is none.

    Parameters
    ----------
    kind
        Which interval.
    values
        The statistics of resamples, [resample, ...].
    estimate
        Those of the scores, [...].
    delta
        The nominal probability that each interval misses.
    acceleration
        For BCa, of `acceleration`.
    """
    tails = np.array([delta / 2.0, 1.0 - delta / 2.0])
    if kind == "bca":
        assert acceleration is not None
        return _bca(values, estimate, tails, acceleration)
    low, high = np.quantile(values, tails, axis=0)
    return [low, high] if kind == "percentile" else [2.0 * estimate - high, 2.0 * estimate - low]


def _bca(values: Floats, estimate: Floats, tails: Floats, acceleration: Floats) -> list[Floats]:
    # A value equal to the estimate, up to rounding, counts half on either side.
    near = 1e-9 * np.ptp(values, axis=0) + 1e-12 * np.abs(estimate)
    below = ((values < estimate - near).mean(axis=0) + (values <= estimate + near).mean(axis=0)) / 2.0
    bias = ndtri(below)
    found = []
    for tail in tails:
        shifted = bias + ndtri(tail)
        with np.errstate(divide="ignore", invalid="ignore"):
            levels = ndtr(bias + shifted / (1.0 - acceleration * shifted))
        ends = np.full(estimate.shape, np.nan)
        for place in np.ndindex(estimate.shape):
            if np.isfinite(levels[place]) and np.isfinite(values[(slice(None), *place)]).all():
                ends[place] = np.quantile(values[(slice(None), *place)], levels[place])
        found.append(ends)
    return found


def jackknifed(samples: Sequence[Floats], statistic: Callable[[Sequence[Floats]], Floats]) -> list[Floats]:
    """Return, for every sample of two or more scores, the influence of each score on the statistic, [score, ...].

    Parameters
    ----------
    samples
        Independent samples.
    statistic
        A number or an array of all samples.
    """
    found = []
    for number, sample in enumerate(samples):
        if sample.size < 2:
            continue
        distinct, times = np.unique(sample, return_counts=True)
        others = list(samples)
        without = []
        for value in distinct:
            others[number] = np.delete(sample, int(np.argmax(sample == value)))
            without.append(statistic(others))
        left = np.repeat(np.array(without), times, axis=0)
        found.append((sample.size - 1.0) * (left.mean(axis=0) - left))
    return found


def acceleration(influences: Sequence[Floats], shape: tuple[int, ...]) -> Floats:
    """Return BCa's acceleration; 0 where no score has any influence.

    Parameters
    ----------
    influences
        For every sample, the influence of each score, [score, ...].
    shape
        Shape of the statistic.
    """
    cubes, squares = np.zeros(shape), np.zeros(shape)
    for each in influences:
        cubes += (each**3).sum(axis=0) / len(each) ** 3
        squares += (each**2).sum(axis=0) / len(each) ** 2
    moved = squares > 0.0
    return np.where(moved, cubes / (6.0 * np.where(moved, squares, 1.0) ** 1.5), 0.0)
