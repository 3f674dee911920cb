"""Connecting to the file of a store, and turning its errors into messages."""

import contextlib
import shlex
import sqlite3
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

from untuned.collect.store.schema import RESTORE
from untuned.errors import StoreError, UntunedError

#: The longest text or array that is read, in bytes: a hundred times what a long trial has.
_LONGEST = 1 << 28


def connect(path: Path, *, write: bool) -> sqlite3.Connection:
    """Return a connection that has read the file's first page."""
    address = path.absolute().as_uri()
    attempts = ["?mode=rw"] if write else ["?mode=ro"]
    wal = path.with_name(f"{path.name}-wal")
    if not write and not (wal.exists() and wal.stat().st_size):
        # In a folder that cannot be written, SQLite reads a file only as immutable. Without a writer's log it is.
        attempts.append("?mode=ro&immutable=1")
    for attempt in attempts:
        connection = sqlite3.connect(address + attempt, uri=True, isolation_level=None, timeout=30.0)
        try:
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
            # Functions with effects are never called from what the file declares.
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA schema_version").fetchone()
            return connection
        except BaseException as error:
            connection.close()
            if attempt == attempts[-1] or getattr(error, "sqlite_errorcode", 0) & 0xFF not in _FOLDER_NOT_WRITABLE:
                raise
    raise AssertionError("there is always an attempt")


#: SQLite's codes where it cannot create the files that readers and the writer share.
_FOLDER_NOT_WRITABLE = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)

#: What helps, by SQLite's primary error code.
_ADVICE = {
    sqlite3.SQLITE_FULL: "the disk is full. Everything stored before is safe: free some space, then rerun the "
    "command to resume",
    sqlite3.SQLITE_READONLY: "it cannot be written. Give yourself the right to write it, or copy the study elsewhere",
    sqlite3.SQLITE_PERM: "it cannot be opened. Give yourself the right to read and write it",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened. Check the rights to the folder and its files, or copy the study "
    "to a folder of yours",
    sqlite3.SQLITE_BUSY: "another program holds it. Close programs that have the file open, then rerun the command",
    sqlite3.SQLITE_IOERR: "the disk failed to read or write. Everything stored before is safe unless the disk is "
    "damaged: check it, then rerun the command to resume",
}


def damaged(path: Path, what: str) -> StoreError:
    """Return the error that says that a file is damaged."""
    folder, what = shlex.quote(str(path.parent)), what[:300]
    return StoreError(
        f"{path} is damaged ({what}): bring back a copy; or untuned repair {folder} keeps what is intact, and running "
        f"the study again collects the rest. untuned check {folder} lists all damage"
    )


@contextlib.contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn errors of SQLite and of the operating system into a StoreError that says what to do."""
    try:
        yield
    except sqlite3.ProgrammingError as error:
        raise StoreError(
            f"{path} cannot be used here ({error}): open the store again, in the thread that uses it"
        ) from error
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code == sqlite3.SQLITE_NOTADB:
            raise StoreError(f"{path} is not a study's results, or its beginning is damaged: {RESTORE}") from error
        if code in _ADVICE:
            raise StoreError(f"{path}: {_ADVICE[code]} ({error})") from error
        raise damaged(path, str(error)) from error
    except OSError as error:
        raise StoreError(f"{error.filename or path}: {error.strerror}. Check the rights to it and the disk") from error
    except UntunedError:
        raise
    except MALFORMED as error:
        # Only what was read can have the wrong form here: what is written was encoded before.
        raise damaged(path, f"{type(error).__name__}: {str(error)[:200]}") from error


#: Errors of reading what no valid store has: text where a number belongs, arrays of odd sizes, deep nesting, nothing.
MALFORMED = (
    AttributeError,
    LookupError,
    OverflowError,
    RecursionError,
    StopIteration,
    TypeError,
    ValueError,
    struct.error,
    zlib.error,
)
