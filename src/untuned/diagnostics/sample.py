"""`Sample`: a table's cells prepared for the checks, so that each cell is sorted once."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import gammaln

from untuned.scores import Floats, Ints, ScoreTable, Texts


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
        return np.unique(self.scores, return_inverse=True, return_counts=True)

    @property
    def values(self) -> Floats:
        """The distinct scores, ascending."""
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

    @cached_property
    def varied(self) -> tuple[Cell, ...]:
        """The cells with at least two different scores."""
        return tuple(cell for cell in self.cells if not cell.constant)

    def of_algorithm(self, a: int) -> list[Cell]:
        """Return the cells of an algorithm."""
        return [cell for cell in self.cells if cell.a == a]

    def of_environment(self, e: int) -> list[Cell]:
        """Return the cells of an environment."""
        return [cell for cell in self.cells if cell.e == e]


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
