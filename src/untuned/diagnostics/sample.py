"""`Sample`: a table's cells prepared for the checks, so that each cell is sorted once."""

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import gammaln

from untuned.scores import Floats, Ints, ScoreTable, Texts

# Scores that differ by less than this share of themselves are taken for equal: about 9 digits.
_DIGITS = 2.0**-30
# But never scores that differ by more than this share of the mean distance between scores.
_DISTANCE = 2.0**-14


def distinct(scores: Floats) -> tuple[Floats, Ints, Ints]:
    """Return the distinct scores, the number of each score among them, and how often each appears.

    Scores that agree in about 9 digits are equal: a copy may have been printed, or computed in another order. A score
    near 0 is compared with the digits of a typical one. Scores of a large level that differ little stay different.
    """
    values, levels, counts = np.unique(scores, return_inverse=True, return_counts=True)
    if values.size < 2:
        return values, levels, counts
    size = np.abs(values)
    # Halves: the mean of the two largest floats overflows.
    digits = _DIGITS * np.maximum(np.minimum(size[1:], size[:-1]), 2.0 * float(np.median(0.5 * size)))
    # The difference of the largest floats is infinite, and large enough.
    with np.errstate(over="ignore"):
        new = np.diff(values) > np.minimum(digits, _DISTANCE / scores.size * (values[-1] - values[0]))
    numbers = np.concatenate([[0], np.cumsum(new)])
    first = np.concatenate([[0], np.flatnonzero(new) + 1])
    return values[first], numbers[levels], np.add.reduceat(counts, first)


@dataclass(frozen=True, eq=False)
class Cell:
    """The scores of an algorithm on an environment, at least one, in the order they arrived.

    Attributes
    ----------
    a, e
        The numbers of the algorithm and of the environment.
    name
        As a reader would call it: ``"dqn on pong"``.
    scores
        As in the table.
    runs
        The number of the run of each score, the same for the same name everywhere in the table; None where that is not
        known.
    """

    a: int
    e: int
    name: str
    scores: Floats
    runs: Ints | None

    @property
    def size(self) -> int:
        """The number of scores."""
        return self.scores.size

    @cached_property
    def has_own_runs(self) -> bool:
        """Whether every score has the name of its run, and no two have the same."""
        if self.runs is None:
            return False
        ordered = np.sort(self.runs)
        return bool((ordered[1:] != ordered[:-1]).all())

    @cached_property
    def _distinct(self) -> tuple[Floats, Ints, Ints]:
        return distinct(self.scores)

    @property
    def values(self) -> Floats:
        """The distinct scores, ascending; scores that agree in about 9 digits are one."""
        return self._distinct[0]

    @property
    def levels(self) -> Ints:
        """For every score its number among the distinct ones."""
        return self._distinct[1]

    @property
    def counts(self) -> Ints:
        """How often each distinct score appears."""
        return self._distinct[2]

    @property
    def constant(self) -> bool:
        """Whether all scores are equal."""
        return self.values.size == 1

    @property
    def ordered(self) -> Floats:
        """The scores in ascending order."""
        return np.repeat(self.values, self.counts)

    @cached_property
    def ranks(self) -> Floats:
        """The ranks of the scores, minus their mean; ties have the mean of their ranks."""
        middle = np.cumsum(self.counts) - 0.5 * (self.counts - 1)
        return (middle - 0.5 * (self.size + 1))[self.levels]

    @property
    def spread_out(self) -> bool:
        """Whether no score has more than half of the trials.

        The rank statistics of other cells are far from normal: two rare scores next to each other are many standard
        deviations.
        """
        return 2 * int(self.counts.max()) <= self.size

    @property
    def monotone(self) -> bool:
        """Whether no score is below the one before it, or none above."""
        later, earlier = self.scores[1:], self.scores[:-1]
        return not ((later < earlier).any() and (later > earlier).any())

    @property
    def log_orders(self) -> float:
        """The logarithm of the number of orders in which these scores can stand."""
        return float(gammaln(self.size + 1.0) - gammaln(self.counts + 1.0).sum())


class Sample:
    """A table and its cells that have scores.

    Parameters
    ----------
    table
        Any table of scores, also one without cells.
    """

    def __init__(self, table: ScoreTable) -> None:
        self.table = table
        numbers = _RunNumbers(table)
        self.cells = tuple(
            Cell(a, e, f"{algorithm} on {environment}", table.cells[a][e], numbers.of(a, e))
            for a, algorithm in enumerate(table.algorithms)
            for e, environment in enumerate(table.environments)
            if table.cells[a][e].size
        )
        self.at = {(cell.a, cell.e): cell for cell in self.cells}
        self._of_algorithm: defaultdict[int, list[Cell]] = defaultdict(list)
        self._of_environment: defaultdict[int, list[Cell]] = defaultdict(list)
        for cell in self.cells:
            self._of_algorithm[cell.a].append(cell)
            self._of_environment[cell.e].append(cell)

    def names(self, cell: Cell) -> list[str] | None:
        """Return the names of a cell's runs, one for each score; None where there are none."""
        runs = self.table.runs
        return None if runs is None or cell.runs is None else runs[cell.a][cell.e].tolist()

    @cached_property
    def numbered(self) -> bool:
        """Whether the names of runs say no more than the order of rows: 1, 2, ..., n in every cell, as arrays have."""
        expected = [f"#{number}" for number in range(1, max((cell.size for cell in self.cells), default=0) + 1)]
        return all(self.names(cell) == expected[: cell.size] for cell in self.cells)

    @cached_property
    def shares_runs(self) -> bool:
        """Whether a name of a run appears in several cells."""
        runs = [np.unique(cell.runs) for cell in self.cells if cell.runs is not None]
        return bool(runs) and int(np.bincount(np.concatenate(runs)).max()) > 1

    @cached_property
    def varied(self) -> tuple[Cell, ...]:
        """The cells with at least two different scores."""
        return tuple(cell for cell in self.cells if not cell.constant)

    def of_algorithm(self, a: int) -> list[Cell]:
        """Return the cells of an algorithm."""
        return list(self._of_algorithm[a])

    def of_environment(self, e: int) -> list[Cell]:
        """Return the cells of an environment."""
        return list(self._of_environment[e])


class _RunNumbers:
    """A number for every name of a run."""

    def __init__(self, table: ScoreTable) -> None:
        self._table = table
        self._numbers: dict[str, int] = {}
        self._last: tuple[Texts, Ints] | None = None

    def of(self, a: int, e: int) -> Ints | None:
        """Return the numbers of the runs of a cell; None where runs have no names."""
        runs = self._table.runs
        if runs is None or runs[a][e].size != self._table.cells[a][e].size:
            return None
        names = runs[a][e]
        # Most tables have the same runs in all cells.
        if self._last is None or not np.array_equal(self._last[0], names):
            known = self._numbers
            found = (known.setdefault(name, len(known)) for name in names.tolist())
            self._last = names, np.fromiter(found, np.int64, names.size)
        return self._last[1]
