"""Which axis of an array is the environment's: scores depend on environments, not on the number of a run."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
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
# An axis with fewer entries cannot be told from the other; more of them only take time.
_FEWEST = 3
_MOST = 1000


def axes_evidence(array: ArrayLike) -> Axes:
    """Return which axis of an array is the environment's, if scores show it.

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
    # What follows a smooth curve is not an environment: their order is arbitrary.
    if first.chance < _EFFECT and second.chance > _NO_EFFECT and not first.smooth:
        return "environment-is-1"
    if second.chance < _EFFECT and first.chance > _NO_EFFECT and not second.smooth:
        return "environment-is-2"
    return "unclear"


@dataclass(frozen=True)
class _Effect:
    """How probable it is that an axis has no effect, and whether the effect changes slowly along the axis."""

    chance: float
    smooth: bool


def _effect(scores: Floats) -> _Effect:
    """Return the effect of the last axis by Friedman's test; a probability of 1 where no row can show one."""
    rows = scores.reshape(-1, scores.shape[-1])
    k = rows.shape[1]
    ordered = np.sort(rows, axis=1)
    # Rows in which one score has more than half of the places are far from what the test assumes.
    rows = rows[(ordered[:, k // 2 :] != ordered[:, : k - k // 2]).all(axis=1)]
    if not rows.size:
        return _Effect(1.0, False)
    ranks = rankdata(rows, axis=1) - 0.5 * (k + 1)
    sums = ranks.sum(axis=0)
    statistic = (k - 1) * float((sums**2).sum()) / float((ranks**2).sum())
    return _Effect(float(chi2.sf(statistic, k - 1)), _is_smooth(sums))


def _is_smooth(sums: Floats) -> bool:
    cell = Cell(0, 0, "", sums, None)
    if cell.constant:
        return True
    # Three or four values can be in order, and no more than that.
    limit = min(_SMOOTH, 0.99 * math.sqrt(cell.size - 1.0))
    if abs(dependence.trend(cell).standard) > limit:
        return True
    return cell.size >= dependence.FEWEST and dependence.autocorrelation(cell).standard > _SMOOTH


def swapped_axes(sample: Sample) -> Finding | None:
    """Find tables whose environments look like runs and whose runs look like environments.

    The statistic is that of `axes_evidence`, for tables with the same number of trials in all cells, none of them
    sorted; the false-alarm rate is below 1e-6 per table.
    """
    table = sample.table
    sizes = {cell.size for row in table.cells for cell in row}
    # As many trials as that are not environments.
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
        "Environments would be taken for independent runs and runs for environments, so no verdict would mean what it "
        "says.",
        "Pass the array as [algorithm, environment, trial], or say which axis is which with `--axes`.",
    )
