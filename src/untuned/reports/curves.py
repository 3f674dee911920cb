"""What the figures and the page show of trials themselves: learning curves, and scores against hyperparameters."""

import math
import numbers
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from untuned.errors import UnknownName
from untuned.histories import Histories, History
from untuned.judge.intervals.median import median_interval, median_intervals
from untuned.judge.percentiles import percentiles
from untuned.judge.pool import Pool
from untuned.scores import Floats, Ints
from untuned.verdicts import listed

#: What an axis says where environments differ in the length of their training.
SHARE = "share of training (%)"
#: Environments whose training differs by no more than this factor have an axis in steps together.
_SAME_LENGTH = 1.01


#: The steps of a trial, ascending, and its values there.
Run = tuple[Floats, Floats]


@dataclass(frozen=True, eq=False)
class Curve:
    """The median return over trials, along their training.

    Attributes
    ----------
    x
        The last step or episode of every block.
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

    The curve ends with the shortest trial. A failed trial has no returns: it counts as worse than all others in
    every block, because without it the surviving trials would make the algorithm look better than it is. So does a
    return that is not a number.

    Blocks are of episodes; where trials have steps, of steps, from 0 on. There a block without a value of a trial takes
    the last value before it, and before a trial's first value that first value. Up to ``points`` different steps have a
    block each.

    Parameters
    ----------
    history
        History of the trials.
    delta
        The probability with which each interval may miss its median.
    points
        The largest number of blocks.
    """
    runs = _runs(history)
    if not runs:
        return None
    x, means = (_by_step if history.steps else _by_episode)(runs, points)
    by_trial = _with_failed(means, len(history.returns))
    low, high = median_intervals(by_trial, delta)
    return Curve(x, _median(by_trial), low, high, len(by_trial))


def _runs(history: History, length: float | None = None) -> list[Run]:
    """Return the steps and values of all trials that did not fail, with steps in percent of a length if there is one.

    Where there are no steps, they are the numbers of episodes.
    """
    longest = max((each.size for each in history.returns), default=0)
    steps = history.steps or (np.arange(1.0, longest + 1.0),)
    if length is not None:
        steps = tuple(100.0 * each / (length or 1.0) for each in steps)
    if not history.steps:
        steps *= len(history.returns)
    return [(at[: each.size], each) for at, each in zip(steps, history.returns, strict=True) if each.size]


def _by_episode(runs: Sequence[Run], points: int) -> tuple[Floats, Floats]:
    length = min(values.size for _, values in runs)
    edges = np.round(np.linspace(0, length, min(points, length) + 1)).astype(np.int64)
    returns = np.array([values[:length] for _, values in runs], dtype=np.float64)
    with np.errstate(invalid="ignore"):
        means: Floats = np.add.reduceat(returns, edges[:-1], axis=1) / np.diff(edges)
    return edges[1:].astype(np.float64), means


def _by_step(runs: Sequence[Run], points: int) -> tuple[Floats, Floats]:
    ends = _ends([steps for steps, _ in runs], points)
    means = np.empty((len(runs), ends.size))
    for row, (steps, values) in zip(means, runs, strict=True):
        seen = np.searchsorted(steps, ends[-1], side="right")
        block = np.searchsorted(ends, steps[:seen])
        count = np.bincount(block, minlength=ends.size)
        row[:] = _values_at((steps, values), ends)
        np.divide(np.bincount(block, values[:seen], ends.size), count, out=row, where=count > 0)
    return ends, means


def _ends(steps: Sequence[Floats], points: int) -> Floats:
    """Return the ends of blocks as far as the shortest run: all steps that occur, or else equal parts from 0 on.

    Parts before the first step of all runs are left out.
    """
    end = min(float(each[-1]) for each in steps)
    found: Floats = np.empty(0)
    for each in steps:
        found = np.union1d(found, each[: np.searchsorted(each, end, side="right")])
        if found.size > points:
            # The product first: ends that are whole numbers are exact, and a step there is inside.
            parts: Floats = end * np.arange(1.0, points + 1.0) / points
            return parts[parts >= min(float(each[0]) for each in steps)]
    return found


def _values_at(run: Run, x: Floats) -> Floats:
    """Return a run's last values at or before ``x``; before its first value, the first."""
    steps, values = run
    found: Floats = values[np.maximum(np.searchsorted(steps, x, side="right") - 1, 0)]
    return found


def _with_failed(by_run: Floats, trials: int) -> Floats:
    """Return rows for all trials: those that failed, and what is not a number, are worse than everything."""
    failed = np.full((trials - len(by_run), by_run.shape[1]), -np.inf)
    return np.concatenate([np.where(np.isnan(by_run), -np.inf, by_run), failed])


@dataclass(frozen=True, eq=False)
class Efficiency:
    """How algorithms compare along their training: estimates, without intervals.

    Attributes
    ----------
    x
        Points of training, ascending.
    label
        What ``x`` is, as it stands below an axis: a step, or a share of training.
    algorithms
        Those that are compared.
    environments
        Those on which all of them have learning curves.
    score_ax
        Aggregate scores ``[algorithm, x]``, each against all algorithms at the same point.
    without
        Algorithms that are left out: they have no learning curve.
    incomplete
        Environments that are left out: an algorithm has no learning curve there.
    """

    x: Floats
    label: str
    algorithms: tuple[str, ...]
    environments: tuple[str, ...]
    score_ax: Floats
    without: tuple[str, ...]
    incomplete: tuple[str, ...]

    def left_out(self, written: Callable[[str], str] = str) -> tuple[str, ...]:
        """Return sentences about what is left out; ``written`` returns a name as it may stand there."""
        reasons = {"no learning curve": self.without, "not every algorithm has a learning curve": self.incomplete}
        return tuple(f"Left out, {why}: {listed([*map(written, names)])}." for why, names in reasons.items() if names)


def sample_efficiency(
    histories: Histories,
    *,
    algorithms: Sequence[str] | None = None,
    environments: Sequence[str] | None = None,
    points: int = 20,
) -> Efficiency | None:
    """Return the aggregate scores that algorithms reach along their training.

    None where there are not two with learning curves, or no environment has those of all.

    A trial's value at a point is its last one at or before it, its first one where there is none. Values are
    compared like scores: the mean performance percentile over environments and references, with equal weights and
    ties counted half. The mean over algorithms is therefore 1/2 at every point. Trials that failed count as worse than
    all others, as does what is not a number. Points end with the shortest trial on an environment; where environments
    differ in that by more than 1 %, they are shares of it.

    Parameters
    ----------
    histories
        The histories of trials: `untuned.read_histories`.
    algorithms
        Those to compare with one another; all that have trials unless given.
    environments
        Those to compare on; all that have trials unless given.
    points
        The largest number of points.
    """
    chosen = tuple(dict.fromkeys(algorithms_in(histories) if algorithms is None else algorithms))
    wanted = tuple(dict.fromkeys(environments_in(histories) if environments is None else environments))
    names, places = comparable(histories, chosen, wanted)
    if len(names) < 2 or not places:
        return None
    cells = [(a, e) for a in names for e in places]
    runs = {cell: _runs(histories.cells[cell]) for cell in cells}
    lengths = {e: min(float(steps[-1]) for a in names for steps, _ in runs[a, e]) for e in places}
    share = max(lengths.values()) > _SAME_LENGTH * min(lengths.values())
    if share:
        runs = {(a, e): _runs(histories.cells[a, e], lengths[e]) for a, e in cells}
    x = _ends([steps for cell in cells for steps, _ in runs[cell]], points)
    values = {
        cell: _with_failed(np.array([_values_at(run, x) for run in runs[cell]]), len(histories.cells[cell].returns))
        for cell in cells
    }
    score_ax = np.empty((len(names), x.size))
    for k in range(x.size):
        found = percentiles([_pool([values[a, e][:, k] for a in names]) for e in places])
        score_ax[:, k] = found.z_aer.mean(axis=(1, 2))
    return Efficiency(
        x,
        SHARE if share else histories.unit,
        names,
        places,
        score_ax,
        tuple(a for a in chosen if a not in names),
        tuple(e for e in wanted if e not in places),
    )


def comparable(
    histories: Histories, algorithms: Sequence[str], environments: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the algorithms that have learning curves, and the environments on which all of these have them."""
    there = {cell for cell, history in histories.cells.items() if any(each.size for each in history.returns)}
    names = tuple(a for a in algorithms if any((a, e) in there for e in environments))
    return names, tuple(e for e in environments if all((a, e) in there for a in names))


def _pool(cells: Sequence[Floats]) -> Pool:
    """Return the values of all algorithms on an environment as percentiles need them; infinite ones are allowed."""
    values = np.concatenate(cells)
    order = np.argsort(values, kind="stable")
    sizes = np.array([cell.size for cell in cells], dtype=np.int64)
    owners = np.repeat(np.arange(len(cells), dtype=np.int32), sizes)
    return Pool(values[order], owners[order], sizes, np.arange(len(cells)))


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
    near_one
        Whether factors of the distance from 1 do: 0.99 and 0.999 are as far apart as 0.9 and 0.99.
    """

    labels: tuple[str, ...] | None
    x: Floats
    median: Floats
    low: Floats
    high: Floats
    counts: Ints
    logarithmic: bool
    near_one: bool


def response(history: History, name: str, *, delta: float = 0.05, bins: int = 10) -> Response | None:
    """Return how scores depend on a hyperparameter, None where there is nothing to show: it was not drawn, or constant.

    Numbers are put into bins that hold about as many trials each; equal values stay together, and a few different ones
    have a bin each. All else is a category, None among them. Trials that did not draw a number are left out where
    others drew many different ones.

    Parameters
    ----------
    history
        History of the trials.
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
        groups.labels is None and _near_one(groups.values, history.distributions.get(name, "")),
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


def trials_in(histories: Histories) -> str:
    """Return what trials are called: runs, where they have names."""
    return "runs" if any(history.runs for history in histories.cells.values()) else "trials"


def _median(values: Floats) -> Floats:
    # Two infinite values in the middle have that as their mean, of which NumPy warns.
    with np.errstate(invalid="ignore"):
        median: Floats = np.median(values, axis=0)
    return median


def _is_number(value: Any) -> bool:
    if isinstance(value, int) and abs(value) > sys.float_info.max:
        # No float can hold it: it is a name.
        return False
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _order(value: Any) -> tuple[int, float, str]:
    """Return what sorts categories: numbers by size, then text, what was not drawn last."""
    if value is None:
        return 2, 0.0, ""
    if _is_number(value) and math.isfinite(value):
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
    return _by_factors(distribution) or float(values.max() / values.min()) > 100.0


def _near_one(values: Floats, distribution: str) -> bool:
    """Return whether values were drawn as 1 minus what is drawn by factors."""
    return distribution.startswith("1 - ") and _by_factors(distribution) and float(values.max()) < 1.0


def _by_factors(distribution: str) -> bool:
    return any(word in distribution for word in ("ln-uniform", "log", "2^"))


def from_one(values: ArrayLike) -> Floats:
    """Return places on an axis on which 0.9, 0.99 and 0.999 are at 1, 2 and 3."""
    places: Floats = -np.log10(1.0 - np.asarray(values))
    return places


def near_one_ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Return numbers between two places on that axis, with their labels."""
    return [(float(k), f"{1.0 - 10.0**-k:.12g}") for k in range(math.ceil(low), math.floor(high) + 1)]
