"""Writing the rows of trials: adding batches of them, copying another store's, and renaming."""

import itertools
import operator
import sqlite3
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from untuned.collect.store import digests
from untuned.collect.store.cells import CHUNK, Cells
from untuned.collect.store.rows import RECORD_COLUMNS, SCORE_COLUMNS, SHARED_TEXTS, Row, checksum, decode
from untuned.errors import InvalidInput


def _statement(table: str, columns: Sequence[str]) -> str:
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"


# Values by position are written 8 % faster than values by name, so each statement has its getter.
_SCORE = (*SCORE_COLUMNS, "record")
_RECORD = ("id", *RECORD_COLUMNS)
_INSERT_SCORE, _score_values = _statement("score", _SCORE), operator.itemgetter(*_SCORE)
_INSERT_RECORD, _record_values = _statement("record", _RECORD), operator.itemgetter(*_RECORD)
_texts = operator.itemgetter(*SHARED_TEXTS)


def add(cells: Cells, rows: list[Row]) -> int:
    """Store rows in one transaction, and return how many are new."""
    database = cells.database
    with database.writing():
        database.connection.execute("SAVEPOINT all_new")
        try:
            _insert(cells, rows)
        except sqlite3.IntegrityError:
            # Some are stored already. That is rare, so each is compared only now.
            database.roll_back_to("all_new")
            return _add_one_by_one(cells, rows)
        return len(rows)


def _add_one_by_one(cells: Cells, rows: list[Row]) -> int:
    seed = cells.database.facts().seed
    new = 0
    for row in rows:
        near = cells.rows(row["algorithm"], row["environment"], row["trial"], 1)
        if not near or near[0]["trial"] != row["trial"]:
            _insert(cells, [row])
            new += 1
            continue
        if near[0] == row:
            continue
        stored, given = decode(near[0], seed), decode(row, seed)
        if different := stored.differences(given):
            raise InvalidInput(
                f"{given.label} is stored already with another result (different: {', '.join(different)}; score "
                f"{stored.score!r} stored, {given.score!r} new). Nothing was replaced, and nothing of this batch "
                "was stored: one of the two was made by another build or definition; start another study for it"
            )
    return new


def _insert(cells: Cells, rows: list[Row]) -> None:
    connection, text_id = cells.database.connection, cells.database.text_id
    (last,) = connection.execute("SELECT ifnull(max(id), 0) FROM record").fetchone()
    number_of = {text: text_id(text) for text in dict.fromkeys(each for row in rows for each in _texts(row))}
    stored = [
        row | {"id": number, "record": number, **{name: number_of[row[name]] for name in SHARED_TEXTS}}
        for number, row in enumerate(rows, last + 1)
    ]
    connection.executemany(_INSERT_SCORE, map(_score_values, stored))
    connection.executemany(_INSERT_RECORD, map(_record_values, stored))
    names = [digests.cell_name(row["algorithm"], row["environment"]) for row in rows]
    added = np.fromiter(((row["trial"], row["score"]) for row in rows), dtype=digests.ROWS)
    digests.write(connection, digests.of_trials(names, added["trial"], added["score"]))


def copy(cells: Cells, rows: Iterator[Row], advance: Callable[[int], None] | None = None) -> int:
    """Store rows of another store, and return how many are new; until this returns a power cut may lose some."""
    database = cells.database
    new = read = 0
    # Waiting for the disk at every commit would take longer than all the rest, and copying can be repeated.
    database.connection.execute("PRAGMA synchronous = NORMAL")
    try:
        while batch := list(itertools.islice(rows, CHUNK)):
            new += add(cells, batch)
            read += len(batch)
            if advance is not None:
                advance(read)
    finally:
        database.connection.execute("PRAGMA synchronous = FULL")
    # A commit that waits for the disk waits for those before it: it must write something, the same number.
    with database.writing():
        database.connection.execute(f"PRAGMA user_version = {database.version()}")
    return new


def rename(cells: Cells, column: str, old: str, new: str) -> None:
    """Give the trials of an algorithm or an environment, as ``column`` says, another name, inside a transaction."""
    connection = cells.database.connection
    number = cells.database.text_id(new)
    for algorithm, environment in cells.counted():
        if old != (algorithm if column == "algorithm" else environment):
            continue
        # The names are under each row's checksum.
        start = 0
        while rows := cells.rows(algorithm, environment, start, CHUNK):
            cell = cells.ids(algorithm, environment)
            connection.executemany(
                "UPDATE record SET checksum = ? WHERE id = (SELECT record FROM score"
                " WHERE algorithm = ? AND environment = ? AND trial = ?)",
                [(checksum({**row, column: new}), *cell, row["trial"]) for row in rows],
            )
            start = rows[-1]["trial"] + 1
        renamed = (new, environment) if column == "algorithm" else (algorithm, new)
        connection.execute(
            "UPDATE digest SET name = ? WHERE name = ?",
            (digests.cell_name(*renamed), digests.cell_name(algorithm, environment)),
        )
    connection.execute(
        f"UPDATE score SET {column} = ? WHERE {column} = (SELECT id FROM text WHERE text = ?)", (number, old)
    )
