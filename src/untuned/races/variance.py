"""The sources of uncertainty: how much each cell's trials contribute to the variance of the estimated differences.

Under weights w_e and shares rho_r of the references, the estimate of y[i] - y[l] is an average of functions of single
trials. To first order its variance is the sum over cells of s[a, e]/T[a, e],

    s[a, e] = w_e^2 Var g(X_a),   g = sum of rho_r F_r + rho_i F_l for i, likewise for l, rho_r (F_i - F_l) for others,

so a reference contributes little. With c[a, e] seconds per trial, the numbers of trials that reach a variance at the
lowest cost are proportional to sqrt(s/c).
"""

from collections.abc import Callable, Sequence

import numpy as np

from untuned.races.goals import Pair
from untuned.scores import Floats, Ints, ScoreTable

#: A variance estimated from a handful of trials can be 0: this many trials of the prior variance are added.
_PRIOR_TRIALS, _PRIOR = 2.0, 0.04


def pair_variances(table: ScoreTable, q_er: Floats, pairs: Sequence[Pair]) -> Floats:
    """Return s[pair, a, e], the contribution of one trial of every cell to the variance of each pair's difference."""
    n, m = len(table.algorithms), len(table.environments)
    found = np.zeros((len(pairs), n, m))
    weights_e = q_er.sum(axis=1)
    for e in np.flatnonzero(weights_e > 0.0).tolist():
        rho = q_er[e] / weights_e[e]
        placed = [_placements(table, a, e) for a in range(n)]
        scale = _PRIOR * float(weights_e[e]) ** 2
        for a in range(n):
            own = placed[a] @ np.where(np.arange(n) == a, 0.0, rho)
            for p, (i, l) in enumerate(pairs):  # noqa: E741 - as in the theory
                if a in (i, l):
                    values = own + rho[a] * placed[a][:, l if a == i else i]
                    prior = scale
                else:
                    values = rho[a] * (placed[a][:, i] - placed[a][:, l])
                    prior = scale * rho[a] ** 2
                spread = (
                    float(weights_e[e]) ** 2 * float(np.square(values - values.mean()).sum()) if values.size else 0.0
                )
                found[p, a, e] = (spread + _PRIOR_TRIALS * prior) / (max(values.size - 1, 0) + _PRIOR_TRIALS)
    return found


def _placements(table: ScoreTable, a: int, e: int) -> Floats:
    """Return the mid-rank of every trial of a cell among the trials of every algorithm, [trial, reference], in 0..1."""
    scores = table.cells[a][e]
    found = np.full((scores.size, len(table.algorithms)), 0.5)
    for r, row in enumerate(table.cells):
        others = np.sort(row[e])
        if others.size and r != a:
            below, upto = np.searchsorted(others, scores, "left"), np.searchsorted(others, scores, "right")
            found[:, r] = (below + upto) / (2.0 * others.size)
    return found


def cheapest(variance_ae: Floats, cost_ae: Floats, trials_ae: Ints, wanted: float) -> Floats:
    """Return the numbers of trials, none below ``trials_ae``, that reach a variance at the lowest cost.

    Parameters
    ----------
    variance_ae
        The contribution of a single trial of every cell.
    cost_ae
        Seconds per trial.
    trials_ae
        Existing trials.
    wanted
        The variance to reach.
    """

    def variance(numbers_ae: Floats) -> float:
        return float((variance_ae[needed] / np.maximum(numbers_ae[needed], 1e-9)).sum())

    needed = variance_ae > 0.0
    return _filled(variance_ae, cost_ae, trials_ae, lambda numbers: variance(numbers) <= wanted)


def affordable(variance_ae: Floats, cost_ae: Floats, trials_ae: Ints, seconds: float) -> Floats:
    """Return the numbers of trials, none below ``trials_ae``, that minimise the variance at a given cost."""

    def spent(numbers_ae: Floats) -> float:
        return float(((numbers_ae - trials_ae) * cost_ae).sum())

    return _filled(variance_ae, cost_ae, trials_ae, lambda numbers: spent(numbers) >= seconds)


def _filled(variance_ae: Floats, cost_ae: Floats, trials_ae: Ints, enough: Callable[[Floats], bool]) -> Floats:
    """Return max(T, level sqrt(s/c)) for the lowest sufficient level."""
    shape = np.sqrt(variance_ae / cost_ae)
    if not shape.any():
        return trials_ae.astype(np.float64)

    def at(log_level: float) -> Floats:
        found: Floats = np.maximum(trials_ae, np.exp(log_level) * shape / shape.max())
        return found

    low, high = 0.0, 35.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if enough(at(middle)) else (middle, high)
    return at(high)
