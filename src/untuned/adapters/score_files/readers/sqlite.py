"""SQLite databases of other programs: opened read-only, with a time limit; views and triggers are never run."""

import contextlib
import sqlite3
import time
from collections.abc import Iterator, Sequence
from typing import Any

from untuned.adapters.score_files.opening import File
from untuned.errors import InvalidInput

_MAGIC = b"SQLite format 3\0"
#: The first bytes of a rollback journal that is still needed.
_JOURNAL = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
#: Errors from damaged databases; SQLite's messages may contain bytes of the file that are not UTF-8.
_ERRORS = (sqlite3.Error, UnicodeDecodeError)
#: The time limit of reading, in seconds.
_PATIENCE = 60.0


def is_database(file: File, tables: Sequence[str]) -> bool:
    """Return whether a file is an SQLite database that has these tables."""
    if not file.head.startswith(_MAGIC) or file.path.suffix.lower() == ".gz":
        return False
    with contextlib.suppress(*_ERRORS, OSError), _connected(file) as database:
        return set(tables) <= _tables(database).keys()
    return False


@contextlib.contextmanager
def opened(file: File, tables: Sequence[str]) -> Iterator["Database"]:
    """Open a database.

    Raises
    ------
    InvalidInput
        For a database that is damaged, in use, or lacks these tables; also later while reading.
    """
    for ending, begins in (("-wal", b""), ("-journal", _JOURNAL)):
        other = file.sibling(file.path.name + ending)
        if other is not None and other.head and other.head.startswith(begins):
            raise InvalidInput(
                f"{file.name} is in use, or was not closed: {other.name} has what was written last. End the program "
                f"that writes it, or copy it with: sqlite3 {file.path.name} '.backup copy.db'"
            )
    try:
        with _connected(file) as connection:
            verdict = connection.execute("PRAGMA quick_check(1)").fetchone()
            if verdict != ("ok",):
                raise InvalidInput(f"{file.name} is damaged: {str(verdict)[:200]}. {_REMEDY}")
            found = _tables(connection)
            missing = [name for name in tables if name not in found]
            if missing:
                raise InvalidInput(f"{file.name} has no table {', '.join(missing)}: it was not written by this program")
            yield Database(file.name, connection, found)
    except _ERRORS as error:
        slow = "interrupted" in str(error)
        why = f"takes more than {_PATIENCE:.0f} seconds to read" if slow else f"cannot be read: {error}"
        raise InvalidInput(f"{file.name} {why}. {_REMEDY}") from None


_REMEDY = "Copy the database again from where it was written, with: sqlite3 FILE '.backup copy.db'"


class Database:
    """An open database.

    Parameters
    ----------
    place
        The name of the file in messages.
    connection
        The connection to the database.
    tables
        The columns of all tables.
    """

    def __init__(self, place: str, connection: sqlite3.Connection, tables: dict[str, set[str]]) -> None:
        self.place = place
        self._connection = connection
        self._tables = tables

    def has(self, table: str, column: str) -> bool:
        """Return whether a table has a column."""
        return column in self._tables.get(table, ())

    def rows(
        self, table: str, columns: Sequence[str], where: str = "", values: Sequence[object] = ()
    ) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a table, in the order in which they were written.

        Parameters
        ----------
        table, columns
            The table and columns to read.
        where
            The rest of the statement; always from this package, never from a file.
        values
            The values of its parameters.
        """
        absent = [name for name in columns if not self.has(table, name)]
        if absent:
            raise InvalidInput(
                f"table {table} of {self.place} has no column {', '.join(absent)}: the database is of a version that "
                "is not known. Upgrade it with the program that wrote it, or export the scores as CSV"
            )
        chosen = ", ".join(f'"{name}"' for name in columns)
        yield from self._connection.execute(f'SELECT {chosen} FROM "{table}" {where}', tuple(values))


def text(value: object, where: str) -> str:
    """Return a cell that must be text."""
    if not isinstance(value, str):
        raise InvalidInput(f"{where} is {str(value)[:40]!r}, and text belongs there")
    return value


@contextlib.contextmanager
def _connected(file: File) -> Iterator[sqlite3.Connection]:
    # Immutable: no lock or journal is created next to the file, which may be in a read-only folder.
    connection = sqlite3.connect(f"{file.path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)
    try:
        deadline = time.monotonic() + _PATIENCE
        connection.set_progress_handler(lambda: time.monotonic() > deadline, 100_000)
        connection.execute("PRAGMA trusted_schema=OFF")
        connection.execute("PRAGMA cell_size_check=ON")
        yield connection
    finally:
        connection.close()


def _tables(connection: sqlite3.Connection) -> dict[str, set[str]]:
    """Return the columns of every ordinary table; views and virtual tables would execute content of the file."""
    listed = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall()
    names = [
        name
        for name, sql in listed
        if isinstance(name, str) and isinstance(sql, str) and sql.upper().startswith("CREATE TABLE")
    ]
    # Generated columns are hidden from this list, so they are never computed.
    return {
        name: {row[1] for row in connection.execute("SELECT * FROM pragma_table_info(?)", (name,))} for name in names
    }
