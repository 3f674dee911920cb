"""Which axis of an array is the environment's: scores depend on environments, not on the number of a run."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import chi2, rankdata

from untuned.diagnostics.finding import Finding, counted
from untuned.diagnostics.sample import Sample
from untuned.scores import Floats

Axes = Literal["environment-is-1", "environment-is-2", "unclear"]

# An axis has an effect below the first probability, and shows none above the second.
_EFFECT = 1e-6
_NO_EFFECT = 1e-4
# An axis with fewer entries cannot be told from the other; more of them only take time.
_FEWEST = 3
_MOST = 1000


def axes_evidence(array: ArrayLike) -> Axes:
    """Return which axis of an array is the environment's, if scores show it.

    Each axis gets Friedman's test, on ranks within the rows of the other axis, with ties, over all algorithms: runs
    have numbers only, so their axis shows an effect below 1e-6 in one of a million tables; environments differ in the
    level of scores. An axis is the environment's if it has an effect (p < 1e-6) and the other has none (p > 1e-4).

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
    if first < _EFFECT and second > _NO_EFFECT:
        return "environment-is-1"
    if second < _EFFECT and first > _NO_EFFECT:
        return "environment-is-2"
    return "unclear"


def _effect(scores: Floats) -> float:
    """Return the probability of Friedman's test that the last axis has no effect; 1 where no row can show one."""
    rows = scores.reshape(-1, scores.shape[-1])
    k = rows.shape[1]
    ordered = np.sort(rows, axis=1)
    # Rows in which one score has more than half of the places are far from what the test assumes.
    rows = rows[(ordered[:, k // 2 :] != ordered[:, : k - k // 2]).all(axis=1)]
    if not rows.size:
        return 1.0
    ranks = rankdata(rows, axis=1) - 0.5 * (k + 1)
    statistic = (k - 1) * float((ranks.sum(axis=0) ** 2).sum()) / float((ranks**2).sum())
    return float(chi2.sf(statistic, k - 1))


def swapped_axes(sample: Sample) -> Finding | None:
    """Find tables whose environments look like runs and whose runs look like environments.

    The statistic is that of `axes_evidence`, for tables with the same number of trials in all cells; the false-alarm
    rate is below 1e-6 per table.
    """
    table = sample.table
    sizes = {cell.size for row in table.cells for cell in row}
    # As many trials as that are not environments.
    if len(sizes) != 1 or not _FEWEST <= max(sizes) <= _MOST or len(table.environments) < _FEWEST:
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
