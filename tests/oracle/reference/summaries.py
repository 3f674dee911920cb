"""Summaries of normalised scores, written as they are defined, with NumPy and SciPy alone."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Floats = NDArray[np.float64]


def interquartile_mean(cells: Sequence[Floats], weights: Sequence[float]) -> float:
    """Return the mean of the quantile function between 1/4 and 3/4; of scores of equal weight SciPy's trimmed mean."""
    shares = [w / len(cell) for w, cell in zip(weights, cells, strict=True)]
    if max(shares) - min(shares) < 1e-12:
        return float(stats.trim_mean(np.concatenate(list(cells)), 0.25))
    weighed = sorted((float(x), share) for cell, share in zip(cells, shares, strict=True) for x in cell)
    total, at = 0.0, 0.0
    for score, share in weighed:
        inside = min(at + share, 0.75) - max(at, 0.25)
        total += max(inside, 0.0) * score
        at += share
    return 2.0 * total


def mean(cells: Sequence[Floats], weights: Sequence[float]) -> float:
    return sum(w * sum(map(float, cell)) / len(cell) for w, cell in zip(weights, cells, strict=True))


def median(cells: Sequence[Floats], weights: Sequence[float]) -> float:
    """Return the middle of the lowest and highest m with at most half of the weight on either side."""
    means = [float(np.mean(cell)) for cell in cells]
    fits = [
        m
        for m in means
        if sum(w for w, x in zip(weights, means, strict=True) if x < m) <= 0.5 + 1e-12
        and sum(w for w, x in zip(weights, means, strict=True) if x > m) <= 0.5 + 1e-12
    ]
    return (min(fits) + max(fits)) / 2.0


def geometric_mean(cells: Sequence[Floats], weights: Sequence[float]) -> float:
    return float(stats.gmean([np.mean(cell) for cell in cells], weights=weights))


def optimality_gap(cells: Sequence[Floats], weights: Sequence[float]) -> float:
    return sum(
        w * sum(1.0 - min(float(x), 1.0) for x in cell) / len(cell) for w, cell in zip(weights, cells, strict=True)
    )


STATISTICS: dict[str, Callable[[Sequence[Floats], Sequence[float]], float]] = {
    "iqm": interquartile_mean,
    "mean": mean,
    "median": median,
    "geometric-mean": geometric_mean,
    "optimality-gap": optimality_gap,
}


def share_above(cells: Sequence[Floats], weights: Sequence[float], threshold: float) -> float:
    return sum(w * sum(map(bool, cell > threshold)) / len(cell) for w, cell in zip(weights, cells, strict=True))


def environments_above(cells: Sequence[Floats], weights: Sequence[float], threshold: float) -> float:
    return sum(w for w, cell in zip(weights, cells, strict=True) if np.mean(cell) > threshold)


def improvement(mine: Sequence[Floats], theirs: Sequence[Floats], weights: Sequence[float]) -> float:
    """Return how often a run of mine scores more, averaged over environments, ties halved."""
    total = 0.0
    for w, x, y in zip(weights, mine, theirs, strict=True):
        won = [(a > b) + 0.5 * (a == b) for a, b in itertools.product(x.tolist(), y.tolist())]
        total += w * sum(won) / len(won)
    return total


def percentile(score: float, samples: Sequence[Floats]) -> float:
    """Return the mean over samples of which part of each is below a score, half of what equals it included."""
    return float(np.mean([np.mean((each < score) + 0.5 * (each == score)) for each in samples]))


def interval(
    samples: Sequence[Floats],
    statistic: Callable[[Sequence[Floats]], float],
    resampled: Floats,
    kind: str,
    delta: float,
) -> tuple[float, float]:
    """Return SciPy's bootstrap interval of several samples whose resampled statistics are given."""
    before = _Before(resampled)

    def of(*given: Any, axis: int = -1) -> Any:
        lead = np.broadcast_shapes(*(each.shape[:-1] for each in given))
        spread = [np.broadcast_to(each, (*lead, each.shape[-1])) for each in given]
        return np.array([statistic([each[place] for each in spread]) for place in np.ndindex(lead)]).reshape(lead)

    found = stats.bootstrap(
        samples,
        of,
        n_resamples=0,
        bootstrap_result=before,
        confidence_level=1.0 - delta,
        method={"percentile": "percentile", "basic": "basic", "bca": "BCa"}[kind],
        vectorized=True,
    )
    return float(found.confidence_interval.low), float(found.confidence_interval.high)


class _Before:
    """What SciPy takes resampled statistics from."""

    def __init__(self, values: Floats) -> None:
        self.bootstrap_distribution = values
