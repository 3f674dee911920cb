"""The tables of a store, their version, and the steps that bring an older store up to date.

A trial has two rows. ``score`` is small and ordered by key: to resume, and to load all scores, nothing else is read.
``record`` has the rest and only ever grows at its end: trials arrive from all cells in turn, and one table by key, of
the same size, is written at a third of the speed. Texts that repeat are in ``text`` once. ``race`` is the log of a
race, as JSON; it too only grows. ``digest`` has digests of what is judged, see `untuned.collect.store.digests`.

Which field of a trial is in which column is declared in `untuned.collect.trial`.

The columns of numbers have no type: with one, SQLite would keep -0.0 as 0. NaN is kept as NULL.
"""

import contextlib
import re
import sqlite3
from collections.abc import Callable, Sequence
from functools import lru_cache

from untuned.collect.store import digests
from untuned.errors import StoreError

#: "untu" in ASCII: what tells a store from other programs' databases.
APPLICATION_ID = 0x756E7475

_FIRST = """
CREATE TABLE study (id INTEGER PRIMARY KEY CHECK (id = 1), facts TEXT NOT NULL);
CREATE TABLE text (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
CREATE TABLE record (
  id INTEGER PRIMARY KEY,
  final_return,
  steps INTEGER NOT NULL,
  seconds,
  diverged INTEGER NOT NULL,
  failure TEXT,
  origin INTEGER NOT NULL,
  shape INTEGER NOT NULL,
  numbers BLOB NOT NULL,
  checksum INTEGER NOT NULL,
  returns BLOB
);
CREATE TABLE score (
  algorithm INTEGER NOT NULL,
  environment INTEGER NOT NULL,
  trial INTEGER NOT NULL,
  score,
  record INTEGER NOT NULL,
  PRIMARY KEY (algorithm, environment, trial)
) WITHOUT ROWID;
"""

#: Takes a store from one version to the next, inside a transaction that it must not end.
Step = Callable[[sqlite3.Connection], None]


def _first(connection: sqlite3.Connection) -> None:
    for statement in _FIRST.split(";"):
        connection.execute(statement)


def _race(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE race (id INTEGER PRIMARY KEY, entry TEXT NOT NULL)")


#: Step ``n`` takes a store from version ``n`` to ``n + 1``; an empty file has version 0. Steps are never edited once
#: released, only added: a new store goes through all of them, so it has the same tables as one that was migrated. A
#: step only adds: readers do not migrate, and find NULL in the columns that an older store does not have yet. For a new
#: field of a trial, ``ALTER TABLE record ADD COLUMN name`` is the whole step.
STEPS: tuple[Step, ...] = (_first, _race, digests.add_to_older)

#: The first versions with the tables ``race`` and ``digest``.
RACE_SINCE, DIGESTS_SINCE = 2, 3


def migrate(connection: sqlite3.Connection, steps: Sequence[Step]) -> None:
    """Bring a store to the version that ``steps`` lead to, or leave it as it is when a step fails."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        for number in range(version(connection), len(steps)):
            steps[number](connection)
        connection.execute(f"PRAGMA user_version = {len(steps)}")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def version(connection: sqlite3.Connection) -> int:
    """Return the version of the tables; 0 when there are none."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def check_is_store(connection: sqlite3.Connection, place: str, steps: Sequence[Step]) -> int:
    """Return the version of a store.

    Its tables must be those of that version, to the letter: a view or a trigger in the place of one would run what
    another person wrote, and a flipped bit in the version would leave out what only later versions have.

    Raises
    ------
    StoreError
        For other programs' databases, for newer stores, and for other tables than a store has.
    """
    newest = len(steps)
    # One state: a writer may migrate the store meanwhile.
    connection.execute("BEGIN")
    try:
        application = int(connection.execute("PRAGMA application_id").fetchone()[0])
        found = version(connection)
        tables = _tables(connection)
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    if application != APPLICATION_ID or found < 1:
        raise StoreError(f"{place} is a database, but not a study's results: check the folder's name")
    if found > newest:
        raise StoreError(
            f"{place} was written by a newer untuned (its format is {found}, this one knows up to {newest}): "
            "pip install --upgrade untuned"
        )
    if tables != _tables_of(tuple(steps[:found])):
        raise StoreError(
            f"{place} does not have the tables of a study's results (format {found}), so it is damaged or was changed "
            f"by another program: {RESTORE}"
        )
    return found


#: What helps where a file is damaged beyond its trials.
RESTORE = "bring back a copy, or move the folder away and run the study again; the same seed gives the same trials"


def _tables(connection: sqlite3.Connection) -> frozenset[tuple[str, ...]]:
    """Return everything that a database declares, however it is laid out; SQLite's own is left out.

    Its indexes have no declaration. Its name alone says nothing: a trigger can be given one.
    """
    own = "sql IS NULL OR (type = 'table' AND name LIKE 'sqlite_stat_')"
    listed = connection.execute(f"SELECT type, name, tbl_name, sql FROM sqlite_master WHERE NOT ({own})").fetchall()
    return frozenset((*map(str, names), re.sub(r"\s*([(),])\s*|\s+", r" \1", str(sql))) for *names, sql in listed)


@lru_cache(maxsize=8)
def _tables_of(steps: tuple[Step, ...]) -> frozenset[tuple[str, ...]]:
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrate(connection, steps)
        return _tables(connection)
