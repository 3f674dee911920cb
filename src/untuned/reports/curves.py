"""What the figures and the page show of trials themselves: learning curves, and scores against hyperparameters."""

import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from untuned.errors import UnknownName
from untuned.histories import Histories, History
from untuned.judge.intervals.median import median_interval, median_intervals
from untuned.scores import Floats, Ints


@dataclass(frozen=True, eq=False)
class Curve:
    """The median return over trials, episode by episode.

    Attributes
    ----------
    x
        The number of the last episode of every block.
    median
        The median over trials of each one's mean return in the block; minus infinity where half the trials failed.
    low, high
        An interval on it, block by block: each holds at level delta, not all together. Infinite where there are too few
        trials.
    trials
        How many there are, failed ones included.
    """

    x: Floats
    median: Floats
    low: Floats
    high: Floats
    trials: int


def learning_curve(history: History, *, delta: float = 0.05, points: int = 50) -> Curve | None:
    """Return the learning curve of an algorithm on an environment, None where no returns were kept.

    It ends with the shortest trial. A trial that failed has no returns: it counts as worse than all others in
    every block, for without it those that came through would make the algorithm look better than it is. So does a
    return that is not a number.

    Parameters
    ----------
    history
        Of the trials.
    delta
        The probability with which each interval may miss its median.
    points
        The largest number of blocks that episodes are cut into.
    """
    lived = [each for each in history.returns if each.size]
    if not lived:
        return None
    length = min(each.size for each in lived)
    blocks = min(points, length)
    edges = np.round(np.linspace(0, length, blocks + 1)).astype(np.int64)
    returns = np.array([each[:length] for each in lived], dtype=np.float64)
    with np.errstate(invalid="ignore"):
        means = np.add.reduceat(returns, edges[:-1], axis=1) / np.diff(edges)
    worst = np.full((len(history.returns) - len(lived), blocks), -np.inf)
    by_trial = np.concatenate([np.where(np.isnan(means), -np.inf, means), worst])
    low, high = median_intervals(by_trial, delta)
    return Curve(edges[1:].astype(np.float64), _median(by_trial), low, high, len(by_trial))


@dataclass(frozen=True, eq=False)
class Response:
    """Scores against the values of a hyperparameter.

    Attributes
    ----------
    labels
        The categories, None where values are numbers.
    x
        The middle value of every bin, or the number of every category, from 0.
    median
        The median score in every bin.
    low, high
        An interval on it: each holds at level delta, not all together. Infinite where a bin has too few trials.
    counts
        The number of trials in every bin.
    logarithmic
        Whether factors say more than differences of values.
    """

    labels: tuple[str, ...] | None
    x: Floats
    median: Floats
    low: Floats
    high: Floats
    counts: Ints
    logarithmic: bool


def response(history: History, name: str, *, delta: float = 0.05, bins: int = 10) -> Response | None:
    """Return how scores depend on a hyperparameter, None where there is nothing to show: it was not drawn, or constant.

    Numbers are put into bins that hold about as many trials each; equal values stay together, and a few different ones
    have a bin each. All else is a category, None among them. Trials that did not draw a number are left out where
    others drew many different ones.

    Parameters
    ----------
    history
        Of the trials.
    name
        The hyperparameter.
    delta
        The probability with which each interval may miss its median.
    bins
        The largest number of bins.

    Raises
    ------
    UnknownName
        Where no trial drew anything of that name.
    """
    if name not in history.hyperparameters:
        raise UnknownName("hyperparameter", name, history.hyperparameters)
    groups = grouped(history.hyperparameters[name], bins)
    if groups is None:
        return None
    scores = [history.scores[members] for members in groups.members]
    ends = [median_interval(each, delta) for each in scores]
    return Response(
        groups.labels,
        groups.x,
        np.array([_median(each) for each in scores]),
        np.array([low for low, _ in ends]),
        np.array([high for _, high in ends]),
        np.array([each.size for each in scores], dtype=np.int64),
        groups.labels is None and _logarithmic(groups.values, history.distributions.get(name, "")),
    )


@dataclass(frozen=True, eq=False)
class Groups:
    """Trials by what they drew.

    Attributes
    ----------
    labels
        The categories, None where values are numbers.
    x
        The middle value of every group, or the number of every category.
    members
        The numbers of the trials in every group.
    trials, values
        The numbers of all trials that are shown, and where each is on the axis.
    """

    labels: tuple[str, ...] | None
    x: Floats
    members: tuple[Ints, ...]
    trials: Ints
    values: Floats


def grouped(values: Sequence[Any], bins: int) -> Groups | None:
    """Return trials in groups of about the same size by what they drew; None where all drew the same, or nothing."""
    drawn = [number for number, value in enumerate(values) if value is not None]
    if not drawn:
        return None
    if all(_is_number(values[number]) for number in drawn):
        at = np.array([float(values[number]) for number in drawn])
        trials = np.array(drawn, dtype=np.int64)[np.isfinite(at)]
        at = at[np.isfinite(at)]
        distinct = np.unique(at)
        everybody = len(drawn) == len(values)
        if distinct.size > 1 and (everybody or distinct.size > bins):
            return _binned(trials, at, distinct, bins)
        if everybody:
            return None
    kinds = sorted({(_order(value), _label(value)) for value in values})
    if len(kinds) < 2:
        return None
    labels = tuple(label for _, label in kinds)
    place = np.array([labels.index(_label(value)) for value in values], dtype=np.int64)
    members = tuple(np.flatnonzero(place == number) for number in range(len(labels)))
    return Groups(
        labels, np.arange(len(labels), dtype=np.float64), members, np.arange(len(values)), place.astype(np.float64)
    )


def _binned(trials: Ints, at: Floats, distinct: Floats, bins: int) -> Groups:
    if distinct.size <= bins:
        bin_of = np.searchsorted(distinct, at)
    else:
        # The bin of a value is that of its first trial in ascending order: equal ones are never parted.
        first = np.searchsorted(np.sort(at), at, side="left")
        bin_of = first * bins // at.size
    members = [trials[bin_of == number] for number in np.unique(bin_of)]
    middles = np.array([np.median(at[bin_of == number]) for number in np.unique(bin_of)])
    return Groups(None, middles, tuple(members), trials, at)


def algorithms_in(histories: Histories) -> tuple[str, ...]:
    """Return the algorithms that have trials, in the order they come."""
    return tuple(dict.fromkeys(algorithm for algorithm, _ in histories.cells))


def environments_in(histories: Histories) -> tuple[str, ...]:
    """Return the environments that have trials, in the order they come."""
    return tuple(dict.fromkeys(environment for _, environment in histories.cells))


def _median(values: Floats) -> Floats:
    # Two infinite values in the middle have that as their mean, of which NumPy warns.
    with np.errstate(invalid="ignore"):
        median: Floats = np.median(values, axis=0)
    return median


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _order(value: Any) -> tuple[int, float, str]:
    """Return what sorts categories: numbers by size, then text, what was not drawn last."""
    if value is None:
        return 2, 0.0, ""
    if _is_number(value) and np.isfinite(value):
        return 0, float(value), ""
    return 1, 0.0, str(value)


def _label(value: Any) -> str:
    return f"{value:g}" if _is_number(value) else str(value)


def _logarithmic(values: Floats, distribution: str) -> bool:
    """Return whether values belong on a logarithmic axis: drawn that way, or of unknown origin and wide."""
    if not values.size or values.min() <= 0.0:
        return False
    # What is a number minus a draw is not drawn by factors, whatever the draw is; what is uniform is not either.
    if " - " in distribution or distribution.startswith("U"):
        return False
    by_factors = any(word in distribution for word in ("ln-uniform", "log", "2^"))
    return by_factors or float(values.max() / values.min()) > 100.0
