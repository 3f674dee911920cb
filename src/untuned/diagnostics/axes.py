"""Detecting which axis of an array is the environment: scores depend on environments, not on the number of a run."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import chi2, rankdata

from untuned.diagnostics import dependence
from untuned.diagnostics.finding import Finding, counted
from untuned.diagnostics.order import sorted_cells
from untuned.diagnostics.sample import Cell, Sample
from untuned.scores import Floats

Axes = Literal["environment-is-1", "environment-is-2", "unclear"]

# An axis has an effect below the first probability, and shows none above the second.
_EFFECT = 1e-6
_NO_EFFECT = 1e-4
# Effects that rise, fall or change slowly from one end to the other are a curve's: in standard deviations.
_SMOOTH = 1.9
# An axis with fewer entries cannot be distinguished from the other; more entries only take time.
_FEWEST = 3
_MOST = 1000
# Fewer columns are in an order by chance; the probability, and its standard deviations, of each sign of curves.
_COLUMNS = 8
_CURVES = 1e-4
_ALIKE = 4.0
_SHUFFLES = 1000


def axes_evidence(array: ArrayLike) -> Axes:
    """Return which axis of an array is the environment, if scores show it.

    Each axis gets Friedman's test, on ranks within the rows of the other axis, with ties, over all algorithms: runs
    have numbers only, so their axis shows an effect below 1e-6 in one of a million tables; environments differ in the
    level of scores. An axis is the environment's if it has an effect (p < 1e-6) and the other has none (p > 1e-4). If
    the effect rises, falls or changes slowly along the axis, it may be a learning curve's, and the answer is unclear.

    Parameters
    ----------
    array
        Scores ``[algorithm, x, y]``, where x and y are the environment and the run, or the run and the environment.
        Anything else is ``"unclear"``.
    """
    scores = np.asarray(array)
    if scores.ndim != 3 or scores.dtype.kind not in "biuf" or min(scores.shape[1:]) < _FEWEST or not scores.shape[0]:
        return "unclear"
    scores = scores[:, :_MOST, :_MOST].astype(np.float64)
    if not np.isfinite(scores).all():
        return "unclear"
    first, second = _effect(np.swapaxes(scores, 1, 2)), _effect(scores)
    # An axis with a smooth curve is not that of environments, whose order is arbitrary.
    if first.chance < _EFFECT and second.chance > _NO_EFFECT and not first.smooth:
        return "environment-is-1"
    if second.chance < _EFFECT and first.chance > _NO_EFFECT and not second.smooth:
        return "environment-is-2"
    return "unclear"


@dataclass(frozen=True)
class _Effect:
    """How probable it is that an axis has no effect, and the sums of ranks along the axis."""

    chance: float
    sums: Floats

    @property
    def smooth(self) -> bool:
        """Whether the effect may be a curve's; about one of 12 effects in any order looks like it."""
        return _is_smooth(self.sums)


def _effect(scores: Floats) -> _Effect:
    """Return the effect of the last axis by Friedman's test; a probability of 1 where no row can show one."""
    rows = scores.reshape(-1, scores.shape[-1])
    k = rows.shape[1]
    ordered = np.sort(rows, axis=1)
    # Rows in which one score has more than half of the places violate the test's assumptions.
    rows = rows[(ordered[:, k // 2 :] != ordered[:, : k - k // 2]).all(axis=1)]
    if not rows.size:
        return _Effect(1.0, np.zeros(k))
    ranks = rankdata(rows, axis=1) - 0.5 * (k + 1)
    sums = ranks.sum(axis=0)
    statistic = (k - 1) * float((sums**2).sum()) / float((ranks**2).sum())
    return _Effect(float(chi2.sf(statistic, k - 1)), sums)


def _is_smooth(sums: Floats) -> bool:
    cell = Cell(0, 0, "", sums, None)
    if cell.constant:
        return True
    # Three or four values can be in order, and no more than that.
    limit = min(_SMOOTH, 0.99 * math.sqrt(cell.size - 1.0))
    if abs(dependence.trend(cell).standard) > limit:
        return True
    return cell.size >= dependence.FEWEST and dependence.autocorrelation(cell).standard > _SMOOTH


def smooth_columns(arrays: Sequence[NDArray[Any]]) -> bool:
    """Return whether the columns of arrays look like points of learning curves, and not like environments.

    Environments stand in any order. So there are three signs of curves, each with a probability of about 1e-4 if the
    order of columns is random: the level of the columns (the sums of Friedman's test) rises or falls;
    neighbouring levels are alike; neighbouring columns rank the runs alike, more than columns in a random order would.
    Environments that were ordered, by their level for instance, look like curves too.

    Parameters
    ----------
    arrays
        Scores ``[run, column]``, an array for each algorithm, with the same columns. With fewer than 8 columns, or with
        different ones, the answer is no. Rows that are not finite are left out.
    """
    tables = [np.asarray(array) for array in arrays]
    if not tables or any(each.ndim != 2 or each.dtype.kind not in "biuf" for each in tables):
        return False
    columns = {each.shape[1] for each in tables}
    if len(columns) > 1 or min(columns) < _COLUMNS:
        return False
    kept = [each[:_MOST, :_MOST].astype(np.float64) for each in tables]
    kept = [each[np.isfinite(each).all(axis=1)] for each in kept]
    return _levels_are_smooth(np.concatenate(kept)) or _neighbours_are_alike(kept)


def _levels_are_smooth(rows: Floats) -> bool:
    # Without an effect the sums are in a random order too, so none needs to be shown first.
    cell = Cell(0, 0, "", _effect(rows).sums, None)
    if not cell.spread_out:
        return False
    return dependence.trend_chance(cell) < _CURVES or dependence.autocorrelation(cell).standard > _ALIKE


def _neighbours_are_alike(tables: list[Floats]) -> bool:
    """Return whether neighbouring columns have a larger rank correlation over runs than they would in other orders."""
    # Two runs have one order and its reverse.
    ranks = [rankdata(each, axis=0) - 0.5 * (each.shape[0] + 1) for each in tables if each.shape[0] > 2]
    if not ranks:
        return False
    all_ranks = np.concatenate(ranks)
    products = all_ranks.T @ all_ranks
    scale = np.sqrt(np.maximum(np.diag(products), 1e-300))
    correlations = products / scale[:, None] / scale[None, :]
    k = correlations.shape[0]
    orders = np.random.default_rng(0).permuted(np.tile(np.arange(k), (_SHUFFLES, 1)), axis=1)
    shuffled = correlations[orders[:, :-1], orders[:, 1:]].mean(axis=1)
    deviation = float(shuffled.std())
    excess = float(np.diag(correlations, 1).mean() - shuffled.mean())
    return deviation > 1e-9 and excess > _ALIKE * deviation


def swapped_axes(sample: Sample) -> Finding | None:
    """Find tables whose environments look like runs and whose runs look like environments.

    The statistic is that of `axes_evidence`, for tables with the same number of trials in all cells, none of them
    sorted; the false-alarm rate is below 1e-6 per table. Runs with names are runs, whatever their effect: only numbers,
    as arrays have them, may be those of environments.
    """
    table = sample.table
    if table.runs is not None and not sample.numbered:
        return None
    sizes = {cell.size for row in table.cells for cell in row}
    # There are never this many environments.
    if (
        len(sizes) != 1
        or sorted_cells(sample)
        or not _FEWEST <= max(sizes) <= _MOST
        or len(table.environments) < _FEWEST
    ):
        return None
    if axes_evidence(np.array(table.cells)) != "environment-is-2":
        return None
    trials = max(sizes)
    return Finding(
        "swapped-axes",
        "serious",
        f"The {counted(len(table.environments), 'environment')} show no difference in the level of scores, but the "
        f"{counted(trials, 'trial')} do, in the same way on all environments: the axes of environments and of trials "
        "are probably swapped.",
        "Environments would be treated as independent runs and runs as environments, so no verdict would mean what it "
        "says.",
        "Pass the array as [algorithm, environment, trial], or say which axis is which with `--axes`.",
    )
