"""Scores that depend on the ones before them: points of learning curves, or episodes, passed as runs."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr, stdtr

from untuned.diagnostics.finding import Finding, counted
from untuned.diagnostics.order import sorted_cells
from untuned.diagnostics.repeats import cells_with_repeated_names
from untuned.diagnostics.sample import Cell, Sample

# Of all tests of a table together.
_FALSE_ALARMS = 1e-9
# The trend of the mean of all cells, where they share the numbers of runs.
_COMMON = 1e-4
#: Smaller cells say nothing about order.
FEWEST = 4


def curve_as_runs(sample: Sample) -> Finding | None:
    """Find scores that are not exchangeable within cells: neighbours alike, or a trend.

    A run whose name appears several times in a cell with different scores is one for sure. Otherwise there are two
    statistics per cell, both on ranks: the lag-1 autocorrelation (the rank von Neumann ratio), one-sided, and the
    correlation with the row's number, two-sided. Means and variances are those over all orders of the cell's own
    scores, ties included. They are summed over the table, each algorithm, each environment and each cell. Normal
    probabilities must be below 1e-9 over all these sums, which is conservative in the far tail; cells in which one
    score has more than half of the trials, and sorted ones, are left out.

    Cells that share runs may share an effect of their seeds, and are not independent: they are not summed. If runs have
    only numbers, as in arrays, they are summed where the mean of all cells has a trend too (p < 1e-4).
    """
    return _named(sample) or _measured(sample)


def _finding(found: str, where: tuple[str, ...]) -> Finding:
    return Finding(
        "curve-as-runs",
        "serious",
        found,
        "Points of a curve or episodes of a run depend on each other, so they are overcounted as evidence: "
        "intervals are too narrow and verdicts are not guaranteed.",
        "Give one score per run: name the column of the run with `--run COLUMN`, and say with `--reduce` how a run "
        "becomes one score. If every row is an independent run and only the order of rows follows the scores, this "
        "finding can be accepted.",
        where,
    )


def _named(sample: Sample) -> Finding | None:
    cells = cells_with_repeated_names(sample)
    if not cells:
        return None
    most = max(int(np.unique(cell.runs, return_counts=True)[1].max()) for cell in cells if cell.runs is not None)
    return _finding(
        f"In {counted(len(cells), 'cell')} several scores belong to the same run, up to {most:,}.",
        tuple(cell.name for cell in cells),
    )


@dataclass(frozen=True)
class Statistic:
    """A statistic of a cell, centred, in standard deviations over all orders; and the correlation it stands for."""

    cell: Cell
    standard: float
    correlation: float


def autocorrelation(cell: Cell) -> Statistic:
    """Return the sum of products of neighbouring ranks.

    With S2 and S4 the sums of squares and fourth powers of centred ranks, the means over all orders of products of
    different ones are those of Wald and Wolfowitz (1943), here without the pair of the last and the first.
    """
    n = float(cell.size)
    assert n >= FEWEST
    ranks = cell.ranks / np.abs(cell.ranks).max()
    square, fourth = float((ranks**2).sum()), float((ranks**4).sum())
    found = float(ranks[1:] @ ranks[:-1])
    two = (square**2 - fourth) / (n * (n - 1))
    three = (2 * fourth - square**2) / (n * (n - 1) * (n - 2))
    four = (3 * square**2 - 6 * fourth) / (n * (n - 1) * (n - 2) * (n - 3))
    mean = -square / n
    variance = (n - 1) * two + 2 * (n - 2) * three + (n - 2) * (n - 3) * four - mean**2
    standard = (found - mean) / math.sqrt(variance) if variance > 1e-9 * square**2 / n else 0.0
    return Statistic(cell, standard, found / square)


def trend(cell: Cell) -> Statistic:
    """Return the sum of products of ranks and row numbers, which has the mean 0."""
    rows = np.arange(cell.size) - 0.5 * (cell.size - 1)
    correlation = float(rows @ cell.ranks) / math.sqrt(float(rows @ rows) * float(cell.ranks @ cell.ranks))
    return Statistic(cell, correlation * math.sqrt(cell.size - 1.0), correlation)


def _measured(sample: Sample) -> Finding | None:
    left_out = set(sorted_cells(sample))
    cells = [cell for cell in sample.varied if cell.size >= FEWEST and cell.spread_out and cell not in left_out]
    if not cells:
        return None
    together = not sample.shares_runs or (sample.numbered and _common_trend(cells))
    # Three: the second statistic has two sides.
    limit = math.log(_FALSE_ALARMS / (3 * _groups(cells, together)))
    for measure, words in _MEASURES:
        statistics = [measure(cell) for cell in cells]
        signs = (1.0,) if measure is autocorrelation else (1.0, -1.0)
        for sign in signs:
            concerned = _concerned(statistics, sign, limit, together)
            if concerned:
                correlation = float(np.mean([each.correlation for each in concerned]))
                return _finding(
                    words.format(cells=counted(len(concerned), "cell"), correlation=correlation),
                    tuple(each.cell.name for each in concerned),
                )
    return None


def _groups(cells: list[Cell], together: bool) -> int:
    return len(cells) + (1 + len({cell.a for cell in cells}) + len({cell.e for cell in cells}) if together else 0)


def _common_trend(cells: list[Cell]) -> bool:
    """Return whether the sum of ranks over all cells has a trend, in an order of runs that is the same for all."""
    shortest = min(cell.size for cell in cells)
    sums = Cell(0, 0, "", np.sum([cell.ranks[:shortest] / cell.size for cell in cells], axis=0), None)
    return not sums.constant and trend_chance(sums) < _COMMON


def trend_chance(cell: Cell) -> float:
    """Return the probability of such a trend, up or down, by the t distribution; 3 values or more."""
    freedom = cell.size - 2.0
    square = min(trend(cell).correlation ** 2, 1.0 - 1e-12)
    return 2.0 * float(stdtr(freedom, -math.sqrt(square * freedom / (1.0 - square))))


#: The statistics, and what is said if one is too large.
_MEASURES: tuple[tuple[Callable[[Cell], Statistic], str], ...] = (
    (
        autocorrelation,
        "In {cells} a score resembles the one before it: the rank correlation of neighbouring rows is "
        "{correlation:.2f} on average.",
    ),
    (
        trend,
        "In {cells} scores change steadily from the first row to the last: their rank correlation with the row number "
        "is {correlation:.2f} on average.",
    ),
)


def _concerned(statistics: list[Statistic], sign: float, limit: float, together: bool) -> list[Statistic]:
    """Return the cells of groups whose sum is too large, those that deviate most; none if there is no such group."""
    concerned: set[Cell] = set()
    for groups in _groupings(statistics) if together else [[[each] for each in statistics]]:
        # Effects that smaller groups explain are not attributed to larger ones.
        if concerned:
            break
        for group in groups:
            total = sign * sum(each.standard for each in group) / math.sqrt(len(group))
            if float(log_ndtr(-total)) < limit:
                high = [each.cell for each in group if sign * each.standard > 1.0]
                concerned.update(high or (each.cell for each in group if sign * each.standard > 0.0))
    return [each for each in statistics if each.cell in concerned]


def _groupings(statistics: list[Statistic]) -> Iterator[list[list[Statistic]]]:
    """Yield the groups that are summed: cells and algorithms, then environments, then the whole table."""
    by_algorithm: defaultdict[int, list[Statistic]] = defaultdict(list)
    by_environment: defaultdict[int, list[Statistic]] = defaultdict(list)
    for each in statistics:
        by_algorithm[each.cell.a].append(each)
        by_environment[each.cell.e].append(each)
    yield [*([each] for each in statistics), *(by_algorithm[a] for a in sorted(by_algorithm))]
    yield [by_environment[e] for e in sorted(by_environment)]
    yield [statistics]
