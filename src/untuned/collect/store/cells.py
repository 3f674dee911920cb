"""`Cells`: the trials of a store as rows, read cell by cell and verified by checksums and digests."""

import itertools
from collections.abc import Collection, Iterator, Mapping

import numpy as np

from untuned.collect.store import digests
from untuned.collect.store.connection import MALFORMED, damaged
from untuned.collect.store.database import Database
from untuned.collect.store.rows import RECORD_COLUMNS, SCORE_COLUMNS, Row, checksum, missing_columns
from untuned.collect.trial import label
from untuned.errors import StoreError, UnknownName
from untuned.scores import Floats, Ints

#: An algorithm and an environment.
Names = tuple[str, str]

#: Rows read at a time where trials are read one after another.
CHUNK = 1000

#: The columns of a row that are read from the two tables; the names of the cell are known.
_READ = tuple(name for name in (*SCORE_COLUMNS, *RECORD_COLUMNS) if name not in ("algorithm", "environment"))
_KEYS = ("algorithm", "environment", *_READ)


def _select(without: Collection[str], *, scan: bool = False) -> str:
    """Return the query of a cell's rows from a trial's number on; columns of ``without`` are NULL, unread.

    With ``scan``, rows come in the order of the file, from an offset on instead of a number: no index is used, because
    numbers that are out of order would mislead it.
    """
    columns = ", ".join("NULL" if name in without else name for name in _READ)
    which = (
        "WHERE +algorithm = ?1 AND +environment = ?2 LIMIT ?4 OFFSET ?3"
        if scan
        else "WHERE algorithm = ?1 AND environment = ?2 AND trial >= ?3 ORDER BY trial LIMIT ?4"
    )
    # The outer join: a score whose record is missing is damage to report, not a row to leave out.
    return f"SELECT {columns} FROM score LEFT JOIN record ON record.id = score.record {which}"


class Cells:
    """The trials of a store, by algorithm and environment.

    Except for `all_rows`, methods are called inside `Database.reading` or `Database.writing`.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self._connection = database.connection

    def ids(self, algorithm: str, environment: str) -> tuple[int, int]:
        """Return the ids of two names; 0, which no trial has, for a name without trials."""
        study = self.database.facts()
        if algorithm not in study.algorithms:
            raise UnknownName("algorithm of this study", algorithm, study.algorithms)
        if environment not in study.environments:
            raise UnknownName("environment of this study", environment, study.environments)
        found = dict(
            self._connection.execute("SELECT text, id FROM text WHERE text IN (?, ?)", (algorithm, environment))
        )
        return found.get(algorithm, 0), found.get(environment, 0)

    def counted(self, which: str = "") -> dict[Names, int]:
        """Return the number of trials where there are any."""
        texts = dict(self._connection.execute("SELECT id, text FROM text"))
        rows = self._connection.execute(f"SELECT algorithm, environment, count(*) FROM score {which} GROUP BY 1, 2")
        return {(texts[algorithm], texts[environment]): number for algorithm, environment, number in rows}

    def counts(self) -> dict[Names, int]:
        """Return the number of trials of every cell in declared order, verified."""
        counted = self.counted()
        known, cells = self._known()
        for cell in cells:
            if known is not None and counted.get(cell, 0) != _of(known, *cell).trials:
                raise self._error_of(*cell)
        return {cell: counted.get(cell, 0) for cell in cells}

    def scores(self) -> dict[Names, tuple[Ints, Floats]]:
        """Return the numbers and the scores of every cell's trials, verified."""
        known, cells = self._known()
        return {cell: self._scores(*cell, known) for cell in cells}

    def _known(self) -> tuple[dict[str, digests.Digest] | None, list[Names]]:
        """Return the digests, and all cells; raise for digests of others: a name was changed."""
        study, known = self.database.facts(), self.database.digests()
        cells = list(itertools.product(study.algorithms, study.environments))
        names = {digests.FACTS, digests.RACE, *itertools.starmap(digests.cell_name, cells)}
        for name in known or ():
            if name not in names:
                raise damaged(self.database.path, f"there is a checksum of {name}, which the study does not have")
        return known, cells

    def _scores(
        self, algorithm: str, environment: str, known: Mapping[str, digests.Digest] | None
    ) -> tuple[Ints, Floats]:
        """Return the numbers of a cell's trials, ascending, and their scores, verified."""
        cell = self.ids(algorithm, environment)
        if known is None:
            read = self._complete_rows(algorithm, environment)
            found = np.fromiter(((row["trial"], row["score"]) for row in read), dtype=digests.ROWS)
            return found["trial"], found["score"]
        rows = self._connection.execute(
            "SELECT trial, score FROM score WHERE algorithm = ? AND environment = ? ORDER BY trial", cell
        )
        found = np.fromiter(rows, dtype=digests.ROWS)
        numbers, scores = np.ascontiguousarray(found["trial"]), np.ascontiguousarray(found["score"])
        if digests.of_cell(numbers, scores) != _of(known, algorithm, environment):
            raise self._error_of(algorithm, environment)
        return numbers, scores

    def _error_of(self, algorithm: str, environment: str) -> StoreError:
        """Return the error of a cell whose digest is wrong, with the first of its rows that is damaged."""
        try:
            for _ in self._complete_rows(algorithm, environment):
                pass
        except StoreError as error:
            return error
        return damaged(self.database.path, f"trials of {algorithm!r} on {environment!r} are missing")

    def _complete_rows(self, algorithm: str, environment: str) -> Iterator[Row]:
        """Yield the rows of a cell without their returns, inside a transaction."""
        start = 0
        while rows := self.rows(algorithm, environment, start, CHUNK, returns=False):
            yield from rows
            start = rows[-1]["trial"] + 1

    def rows(self, algorithm: str, environment: str, start: int, most: int, *, returns: bool = True) -> list[Row]:
        """Return up to ``most`` rows of a cell from a trial's number on, with their checksums verified."""
        rows = []
        for row, complaint in self.checked(algorithm, environment, start, most, returns=returns):
            if complaint is not None:
                raise damaged(self.database.path, complaint)
            rows.append(row)
        if not all(one["trial"] < other["trial"] for one, other in itertools.pairwise([{"trial": start - 1}, *rows])):
            raise damaged(self.database.path, f"the trials of {algorithm!r} on {environment!r} are out of order")
        return rows

    def checked(
        self, algorithm: str, environment: str, start: int, most: int, *, returns: bool = True, scan: bool = False
    ) -> list[tuple[Row, str | None]]:
        """Return up to ``most`` rows of a cell, and what is wrong with each.

        They begin at a trial's number; with ``scan`` at a place in the file's own order.
        """
        without = missing_columns(self.database.version()) | (set() if returns else {"returns"})
        cell = self.ids(algorithm, environment)
        found = self._connection.execute(_select(without, scan=scan), (*cell, start, most)).fetchall()
        names = (algorithm, environment)
        rows: list[Row] = [dict(zip(_KEYS, names + values, strict=True)) for values in found]
        texts = {
            number: self._connection.execute("SELECT text FROM text WHERE id = ?", (number,)).fetchone()
            for number in {row["origin"] for row in rows} | {row["shape"] for row in rows}
        }
        return [(row, _complaint(row, texts)) for row in rows]

    def all_rows(self, algorithm: str, environment: str, *, returns: bool = True) -> Iterator[Row]:
        """Yield the rows of a cell in order; no transaction stays open between chunks, so slow readers block no one."""
        with self.database.reading():
            # One digest: all of them, for every cell, would be the square of the number of cells.
            known = self.database.digests(digests.cell_name(algorithm, environment))
            # Rows that are missing have no checksum.
            least = 0 if known is None else self._scores(algorithm, environment, known)[0].size
            rows = self.rows(algorithm, environment, 0, CHUNK, returns=returns)
        while True:
            yield from rows
            least -= len(rows)
            if len(rows) < CHUNK:
                break
            with self.database.reading():
                rows = self._rows_after(rows[-1], returns=returns)
        if least > 0:
            raise damaged(self.database.path, f"{least:,} trials of {algorithm!r} on {environment!r} cannot be found")

    def _rows_after(self, last: Row, *, returns: bool) -> list[Row]:
        """Return the next rows of a cell, after one that was read in an earlier transaction.

        Raises
        ------
        StoreError
            When a writer has given the trials of the cell another name meanwhile.
        """
        try:
            same, *rows = self.rows(
                last["algorithm"], last["environment"], last["trial"], CHUNK + 1, returns=returns
            ) or [{}]
        except UnknownName:
            same, rows = {}, []
        if same != last:
            raise StoreError("the study was changed while it was read: read it again")
        return rows


def _of(known: Mapping[str, digests.Digest], algorithm: str, environment: str) -> digests.Digest:
    """Return the digest of a cell."""
    return known.get(digests.cell_name(algorithm, environment), digests.NONE)


def _complaint(row: Row, texts: Mapping[int, tuple[str] | None]) -> str | None:
    """Give a row its texts, and return what is wrong with it."""
    origin, shape = texts[row["origin"]], texts[row["shape"]]
    if origin is None or shape is None:
        return f"parts of {label(row['algorithm'], row['environment'], row['trial'])} are missing"
    row["origin"], row["shape"] = origin[0], shape[0]
    try:
        right = checksum(row) == row["checksum"]
    except MALFORMED:
        right = False
    return None if right else f"the checksum of {label(row['algorithm'], row['environment'], row['trial'])} is wrong"
