"""Runs that several algorithms share: common random numbers."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2, norm

from untuned.diagnostics.finding import Finding, counted
from untuned.diagnostics.sample import Cell, Sample

# Below this probability, and beyond this correlation, scores of shared runs are called correlated.
_CHANCE = 1e-3
_WEAK = 0.2
# Fewer shared runs of an environment say nothing about correlation.
_FEWEST = 3
# Scores per cell that are checked: enough to see a correlation of a few hundredths.
_MOST = 2000


def shared_seeds(sample: Sample) -> Finding | None:
    """Find run names that algorithms share on an environment, and whether their scores are correlated.

    The statistic is the rank correlation between algorithms over the runs they share, pooled over all pairs and
    environments. If algorithms are independent, products of different pairs are uncorrelated, so variances add up; the
    probability is that of the larger of the normal and the chi-squared approximation (Friedman's), two-sided. The
    warning has a false-alarm rate of 1e-3 per table. Runs without names, which have only positions, are not checked.
    """
    # Numbers that were assigned while reading say nothing about seeds.
    if sample.numbered:
        return None
    environments = [e for e in range(len(sample.table.environments)) if _share(sample.of_environment(e))]
    if not environments:
        return None
    names = tuple(sample.table.environments[e] for e in environments)
    shared = f"Algorithms share the names of runs on {counted(len(names), 'environment')}"
    found = _correlation(sample, environments)
    if found is not None and found.chance < _CHANCE and abs(found.correlation) > _WEAK:
        return Finding(
            "shared-seeds",
            "warning",
            f"{shared}, and the scores of shared runs are correlated: the rank correlation between algorithms is "
            f"{found.correlation:.2f} (p = {found.chance:.1g}).",
            "The guarantee assumes independent algorithms; with common seeds the intervals of differences may be too "
            "wide (positive correlation) or too narrow (negative correlation).",
            "Use different seeds for every algorithm, and report that seeds were shared where you cannot.",
            names,
        )
    measured = (
        f"their scores show no strong correlation ({found.correlation:.2f}, p = {found.chance:.2g})"
        if found is not None
        else "there are too few runs or too many ties to see a correlation"
    )
    return Finding(
        "shared-seeds",
        "note",
        f"{shared}; {measured}.",
        "The guarantee assumes independent algorithms, which shared seeds can violate.",
        "Use different seeds for every algorithm if you can.",
        names,
    )


def _named(cells: list[Cell]) -> list[Cell]:
    return [cell for cell in cells if cell.has_own_runs]


def _share(cells: list[Cell]) -> bool:
    runs = [cell.runs for cell in _named(cells) if cell.runs is not None]
    if len(runs) < 2:
        return False
    return int(np.bincount(np.concatenate(runs)).max()) > 1


@dataclass(frozen=True)
class _Correlation:
    correlation: float
    chance: float


def _correlation(sample: Sample, environments: list[int]) -> _Correlation | None:
    """Return the pooled correlation and its probability; None where nothing can be measured."""
    measured = [found for e in environments for found in _sums(_named(sample.of_environment(e)))]
    if not measured:
        return None
    total, pairs, variance = (sum(each[i] for each in measured) for i in range(3))
    freedom = sum(each[3] for each in measured)
    standard = total / math.sqrt(variance)
    # With few runs and many algorithms the statistic is skewed as Friedman's is.
    skewed = float(chi2.sf(freedom + standard * math.sqrt(2.0 * freedom), freedom)) if standard > 0.0 else 0.0
    return _Correlation(total / pairs, min(1.0, 2.0 * max(skewed, float(norm.sf(abs(standard))))))


def _sums(cells: list[Cell]) -> Iterator[tuple[float, float, float, float]]:
    """Yield of an environment: the sum of products, the number of pairs, the sum's variance, the degrees of freedom."""
    # Sorted scores are correlated because they are sorted.
    cells = [cell for cell in cells if not cell.monotone and cell.spread_out]
    if len(cells) < 2:
        return
    runs = np.concatenate([cell.runs[:_MOST] for cell in cells if cell.runs is not None])
    ranks = np.concatenate([(cell.ranks / math.sqrt(float((cell.ranks**2).mean())))[:_MOST] for cell in cells])
    _, numbers = np.unique(runs, return_inverse=True)
    times = np.bincount(numbers)
    shared = int((times > 1).sum())
    if shared < _FEWEST:
        return
    total = 0.5 * float((np.bincount(numbers, ranks) ** 2).sum() - (ranks**2).sum())
    pairs = 0.5 * float((times * (times - 1)).sum())
    yield total, pairs, pairs * shared / (shared - 1.0), shared - 1.0
