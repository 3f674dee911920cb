"""Statistics of normalised scores: one number per algorithm, defined as simply as possible.

A statistic takes an algorithm's normalised scores, one array per environment, and the environments' weights, which sum
to 1. Within an environment all scores weigh the same, so environments with more runs count no more than others.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from untuned.errors import InvalidInput, UnknownName
from untuned.scores import Floats

#: A function of an algorithm's normalised scores by environment, and the weights of environments.
Value = Callable[[Sequence[Floats], Floats], float]
#: The score from which on the optimality gap is 0.
OPTIMAL = 1.0
#: The part that the interquartile mean leaves out at either end.
_TRIMMED = 0.25


@dataclass(frozen=True)
class Statistic:
    """A number for every algorithm.

    Attributes
    ----------
    name
        Its name in options.
    title
        Its name in tables.
    value
        The function.
    higher_is_better
        Whether a larger one is better.
    """

    name: str
    title: str
    value: Value
    higher_is_better: bool = True


def means(cells: Sequence[Floats]) -> Floats:
    """Return the mean of every environment.

    Parameters
    ----------
    cells
        Normalised scores by environment.
    """
    return np.array([cell.mean() for cell in cells])


def mean(cells: Sequence[Floats], weights: Floats) -> float:
    """Return the mean of the environments' means.

    Parameters
    ----------
    cells
        Normalised scores by environment.
    weights
        Weights of environments.
    """
    return float(weights @ means(cells))


def median(cells: Sequence[Floats], weights: Floats) -> float:
    """Return the median of the environments' means, the middle of the two where weights leave a choice.

    Parameters
    ----------
    cells
        Normalised scores by environment.
    weights
        Weights of environments.
    """
    return float(weighted_medians(means(cells)[None, :], weights)[0])


def weighted_medians(values: Floats, weights: Floats) -> Floats:
    """Return the weighted median of every row.

    Parameters
    ----------
    values
        Numbers, a row for each median.
    weights
        Weights of columns, summing to 1.
    """
    order = np.argsort(values, axis=1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=1)
    below = np.cumsum(weights[order], axis=1)
    last = values.shape[1] - 1
    # Half of the weight, up to rounding.
    lower = np.minimum((below < 0.5 - _ROUNDING).sum(axis=1), last)
    upper = np.minimum((below <= 0.5 + _ROUNDING).sum(axis=1), last)
    rows = np.arange(len(values))
    middle: Floats = (ordered[rows, lower] + ordered[rows, upper]) / 2.0
    return middle


_ROUNDING = 1e-9


def geometric_mean(cells: Sequence[Floats], weights: Floats) -> float:
    """Return the geometric mean of the environments' means; NaN unless all are positive.

    Parameters
    ----------
    cells
        Normalised scores by environment.
    weights
        Weights of environments.
    """
    return float(geometric_means(means(cells)[None, :], weights)[0])


def geometric_means(values: Floats, weights: Floats) -> Floats:
    """Return the weighted geometric mean of every row; NaN unless all are positive.

    Parameters
    ----------
    values
        Numbers, a row for each mean.
    weights
        Weights of columns, summing to 1.
    """
    positive = np.min(values, axis=1) > 0.0
    found = np.full(len(values), np.nan)
    found[positive] = np.exp((np.log(values[positive]) * weights).sum(axis=1))
    return found


def optimality_gap(cells: Sequence[Floats], weights: Floats) -> float:
    """Return the average shortfall of scores below 1.

    Parameters
    ----------
    cells
        Normalised scores by environment.
    weights
        Weights of environments.
    """
    return OPTIMAL - mean([np.minimum(cell, OPTIMAL) for cell in cells], weights)


def interquartile_mean(cells: Sequence[Floats], weights: Floats) -> float:
    """Return the mean of the middle half of all scores.

    Where all scores weigh the same, a quarter of them is left out at either end, rounded down to whole scores, as by
    ``scipy.stats.trim_mean`` and rliable. Otherwise scores at the quartiles of the weighted distribution count in part.

    Parameters
    ----------
    cells
        Normalised scores by environment.
    weights
        Weights of environments.
    """
    scores = np.concatenate(list(cells))
    shares, first, last = trimming(weights, np.array([cell.size for cell in cells]))
    order = np.argsort(scores, kind="stable")
    each = np.repeat(shares, [cell.size for cell in cells])[order]
    ends = np.cumsum(each)
    kept = np.clip(np.minimum(ends, last) - np.maximum(ends - each, first), 0.0, None)
    # A weight of 0 times an infinite score is NaN.
    counted = kept > 0.0
    return float(scores[order][counted] @ kept[counted] / (last - first))


def trimming(weights: Floats, sizes: "np.typing.NDArray[np.int64]") -> tuple[Floats, float, float]:
    """Return the weight of one score of every environment, and the limits of the middle half of all weights.

    Parameters
    ----------
    weights
        Weights of environments.
    sizes
        The number of scores on every environment.
    """
    shares = weights / sizes
    if np.ptp(shares) <= _ROUNDING * shares.max():
        count = int(sizes.sum())
        cut = float(math.floor(_TRIMMED * count))
        return np.ones(len(sizes)), cut, count - cut
    return shares, _TRIMMED, 1.0 - _TRIMMED


STATISTICS: Mapping[str, Statistic] = MappingProxyType(
    {
        each.name: each
        for each in (
            Statistic("iqm", "interquartile mean", interquartile_mean),
            Statistic("median", "median of means", median),
            Statistic("mean", "mean", mean),
            Statistic("geometric-mean", "geometric mean of means", geometric_mean),
            Statistic("optimality-gap", "optimality gap", optimality_gap, higher_is_better=False),
        )
    }
)
#: Other summaries: the probability of improvement, and performance profiles.
IMPROVEMENT = "poi"
PROFILES = ("profile", "mean-profile")
NAMES = (*STATISTICS, IMPROVEMENT, *PROFILES)


def statistic(given: object) -> Statistic:
    """Return the statistic of a name or a function.

    Parameters
    ----------
    given
        A name; a `Statistic`; or a function of an algorithm's normalised scores, a list with an array per environment.
    """
    if isinstance(given, Statistic):
        return given
    if isinstance(given, str):
        if given not in STATISTICS:
            raise UnknownName("statistic", given, NAMES)
        return STATISTICS[given]
    if callable(given):
        name = getattr(given, "__name__", type(given).__name__)
        name = "statistic" if name == "<lambda>" else name
        return Statistic(name, name.replace("_", " "), lambda cells, _: float(given(list(cells))))
    raise InvalidInput(f"{given!r} is no statistic: pass one of {', '.join(NAMES)}, or a function of a list of arrays")
