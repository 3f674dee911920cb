"""`Rows`, the output of a reader, and `Runs`, the rows of all files together.

A row is one number. With a step it is a point of a run's learning curve; without one it is the score of a run.
"""

import bisect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from untuned.errors import InvalidInput
from untuned.scores import Floats

#: Indices of names: of 32 bits or fewer, to save memory.
Codes = NDArray[np.signedinteger]
Flags = NDArray[np.bool_]

#: A column of names: the distinct ones in order of first appearance, and the index of the name of every row.
Named = tuple[Sequence[str], Codes]


@dataclass(frozen=True, eq=False)
class Rows:
    """Scores of a file, with the file's information about each.

    Attributes
    ----------
    place
        The name of the file in messages.
    score
        One number per row.
    algorithm, environment
        The names of each row: one name for all rows, a column of names, or None if the file does not say; then they are
        taken from ``path``.
    run
        The run of each row, in the same form; or several columns of names, by their headings, if each may identify a
        run.
    step
        The training step, if rows are points of learning curves; None if a row is the score of a run.
    failed
        Whether the trial of each row failed; None if the file does not say.
    path
        The folders and the file's name below the path that the user named, separated by ``/``.
    first
        The number of the first row in the user's count.
    numbers
        The number of every row, if there are gaps.
    columns
        Which columns of a table were read, if not obvious, as text.
    suspects
        Unread columns that may identify runs.
    alone
        Whether each file is a run; otherwise its folder is one, with all files in it.
    """

    place: str
    score: Floats
    algorithm: Named | str | None = None
    environment: Named | str | None = None
    run: Named | str | Mapping[str, Named] | None = None
    step: Floats | None = None
    failed: Flags | None = None
    path: str = ""
    first: int = 1
    numbers: NDArray[np.int64] | None = None
    columns: str = ""
    suspects: tuple[str, ...] = ()
    alone: bool = False


@dataclass(frozen=True, eq=False)
class Runs:
    """All rows of all files.

    Attributes
    ----------
    algorithms, environments
        Names, in order of first appearance.
    algorithm, environment
        The index of the name of every row.
    runs
        The columns that may identify runs, by heading: the names of all runs, and the index of the name of every row.
        Empty if no file has any.
    score
        One number per row.
    step
        The training step; None if rows are scores of runs.
    failed
        Whether the trial of each row failed; None if no file says so.
    parts
        For every part: the file's name, the index of its first row, that row's number, and the numbers of all its rows.
    suspects
        Unread columns that may identify runs.
    origin
        The index of every row among all rows that were read, if some were left out.
    """

    algorithms: tuple[str, ...]
    environments: tuple[str, ...]
    algorithm: Codes
    environment: Codes
    runs: Mapping[str, tuple[tuple[str, ...], Codes]]
    score: Floats
    step: Floats | None
    failed: Flags | None
    parts: tuple[tuple[str, int, int, NDArray[np.int64] | None], ...]
    origin: NDArray[np.int64] | None = None
    suspects: tuple[str, ...] = ()

    @property
    def cell(self) -> NDArray[np.int64]:
        """The number of the cell of every row."""
        found: NDArray[np.int64] = self.algorithm.astype(np.int64)
        # In place: a table may have many millions of rows.
        found *= len(self.environments)
        found += self.environment
        return found

    def take(self, rows: NDArray[np.int64]) -> "Runs":
        """Return some of the rows."""
        return replace(
            self,
            algorithm=self.algorithm[rows],
            environment=self.environment[rows],
            runs={heading: (names, codes[rows]) for heading, (names, codes) in self.runs.items()},
            score=self.score[rows],
            step=None if self.step is None else self.step[rows],
            failed=None if self.failed is None else self.failed[rows],
            origin=rows if self.origin is None else self.origin[rows],
        )

    def run_keys(self, heading: str) -> NDArray[np.int64]:
        """Return a number for every row that all rows of a run share, by one column of runs."""
        names, codes = self.runs[heading]
        key = self.cell
        key *= len(names)
        key += codes
        return key

    def places(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return a number for the file of each of some rows."""
        names = {place: number for number, place in enumerate(dict.fromkeys(part[0] for part in self.parts))}
        begins = np.array([part[1] for part in self.parts])
        of_part = np.array([names[part[0]] for part in self.parts])
        origin = rows if self.origin is None else self.origin[rows]
        return of_part[np.searchsorted(begins, origin, side="right") - 1]

    def cell_name(self, row: int) -> str:
        """Return the cell of a row, as text."""
        return f"{self.algorithms[self.algorithm[row]]!r} on {self.environments[self.environment[row]]!r}"

    def where(self, row: int) -> str:
        """Return the place of a row in its file, as text."""
        row = row if self.origin is None else int(self.origin[row])
        part = bisect.bisect_right(self.parts, row, key=lambda each: each[1]) - 1
        place, begin, first, numbers = self.parts[part]
        return f"row {first + row - begin if numbers is None else int(numbers[row - begin])} of {place}"


#: The number of names that fit into 16 bits.
_FEW = 2**15


class _Column:
    """An array that grows in parts.

    Parts and whole are never in memory together: memory freed from many small parts is often not given back.
    """

    def __init__(self) -> None:
        self._array: NDArray[Any] | None = None
        self._size = 0

    def add(self, part: NDArray[Any]) -> None:
        """Take the rows of a part."""
        size, end = self._size, self._size + part.size
        self._size = end
        if self._array is None:
            self._array = part
            return
        if end > self._array.size or part.dtype.itemsize > self._array.itemsize:
            # Unwritten parts of the array take no memory.
            grown = np.empty(max(end, self._array.size * 3 // 2), dtype=np.result_type(part, self._array))
            grown[:size] = self._array[:size]
            self._array = grown
        self._array[size:end] = part

    def whole(self) -> NDArray[Any]:
        """Return all rows."""
        return np.empty(0) if self._array is None else self._array[: self._size]


class _Names:
    """Names of all files, numbered in order of first appearance, and the indices of all rows."""

    def __init__(self) -> None:
        self._index: dict[str, int] = {}
        self._codes = _Column()

    def add(self, column: Named | str, size: int) -> None:
        """Take the names of a part's rows."""
        names, codes = ([column], None) if isinstance(column, str) else column
        moved = [self._index.setdefault(name, len(self._index)) for name in names]
        new = np.array(moved, dtype=np.int16 if len(self._index) <= _FEW else np.int32)
        self._codes.add(np.full(size, new[0]) if codes is None else new[codes])

    def column(self) -> tuple[tuple[str, ...], Codes]:
        """Return all names, and the index of the name of every row."""
        return tuple(self._index), self._codes.whole()


def gathered(parts: Iterable[Rows]) -> Runs:
    """Return the rows of all parts together; every part must have the algorithm and environment of its rows.

    Raises
    ------
    InvalidInput
        If some parts are curves and others are not, or if they name runs in different ways.
    """
    algorithm, environment, runs = _Names(), _Names(), dict[str, _Names]()
    scores, steps, failed, found = _Column(), _Column(), _Column(), list[Any]()
    rows, with_steps, with_failures, suspects = 0, False, False, dict[str, None]()
    for part in parts:
        size = part.score.size
        suspects.update(dict.fromkeys(part.suspects))
        assert part.algorithm is not None
        assert part.environment is not None
        algorithm.add(part.algorithm, size)
        environment.add(part.environment, size)
        named = part.run if isinstance(part.run, Mapping) else {} if part.run is None else {"run": part.run}
        if found and (named.keys() != runs.keys() or (part.step is None) == with_steps):
            what = (
                "steps" if named.keys() == runs.keys() else f"columns that name runs ({', '.join({**runs, **named})})"
            )
            raise InvalidInput(
                f"{found[0][0]} and {part.place} do not have the same {what}: read them one at a time with untuned "
                "import, and evaluate the files that it writes"
            )
        for heading, column in named.items():
            runs.setdefault(heading, _Names()).add(column, size)
        scores.add(part.score)
        with_steps = part.step is not None
        if part.step is not None:
            steps.add(part.step)
        with_failures |= part.failed is not None
        failed.add(np.zeros(size, dtype=np.bool_) if part.failed is None else part.failed)
        found.append((part.place, rows, part.first, part.numbers))
        rows += size
    algorithms, environments = algorithm.column(), environment.column()
    return Runs(
        algorithms=algorithms[0],
        environments=environments[0],
        algorithm=algorithms[1],
        environment=environments[1],
        runs={heading: names.column() for heading, names in runs.items()},
        score=scores.whole(),
        step=steps.whole() if with_steps else None,
        failed=failed.whole() if with_failures else None,
        parts=tuple(found),
        suspects=tuple(suspects),
    )
