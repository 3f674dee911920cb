"""Making the file of a store, and opening it: checked, and for a writer brought up to date."""

import contextlib
import itertools
import sqlite3
from pathlib import Path

from untuned.collect.store import digests, schema
from untuned.collect.store.cells import Cells
from untuned.collect.store.connection import connect, explained
from untuned.collect.store.database import RESULTS_NAME, Database
from untuned.collect.store.lock import WriterLock
from untuned.collect.store.study_facts import StudyFacts
from untuned.errors import InvalidInput, StoreError


def created(folder: Path, study: StudyFacts) -> Database:
    """Return a new file in a folder, which is made if need be, open for writing."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"the folder {folder} cannot be made ({error.strerror}): choose another") from None
    lock = WriterLock(folder)
    try:
        path = folder / RESULTS_NAME
        if path.exists():
            raise InvalidInput(f"{folder} has a study already: open that, or choose another folder")
        # Made under another name, then renamed: a crash leaves a whole store or none. Files of earlier attempts
        # would be taken for parts of this one.
        new = folder / f"{RESULTS_NAME}.new"
        with explained(path):
            for stem, end in itertools.product((new, path), ("", "-wal", "-shm", "-journal")):
                stem.with_name(stem.name + end).unlink(missing_ok=True)
            connection = sqlite3.connect(new, isolation_level=None)
            with contextlib.closing(connection):
                schema.migrate(connection, schema.STEPS)
                connection.execute("INSERT INTO study (id, facts) VALUES (1, ?)", (study.text,))
                digests.write_facts(connection, study.text)
                connection.execute("PRAGMA journal_mode = WAL")
            new.replace(path)
        return _opened(folder, lock)
    except BaseException:
        lock.release()
        raise


def opened(folder: Path, *, write: bool) -> Database:
    """Return the file of a folder."""
    if not folder.is_dir():
        raise InvalidInput(f"there is no folder {folder}: check its name")
    if not (folder / RESULTS_NAME).is_file():
        raise InvalidInput(f"{folder} has no study in it ({RESULTS_NAME} is missing): check the folder's name")
    lock = WriterLock(folder) if write else None
    try:
        return _opened(folder, lock)
    except BaseException:
        if lock is not None:
            lock.release()
        raise


def _opened(folder: Path, lock: WriterLock | None) -> Database:
    path = folder / RESULTS_NAME
    with explained(path):
        if path.stat().st_size == 0:
            raise StoreError(f"{path} is empty, so it is not a study's results: {schema.RESTORE}")
        connection = connect(path, write=lock is not None)
        try:
            found = schema.check_is_store(connection, str(path), schema.STEPS)
            if lock is not None:
                if found < schema.DIGESTS_SINCE:
                    # Damage must not get into the digests.
                    older = Database(folder, connection, lock)
                    with older.reading():
                        Cells(older).scores()
                if found < len(schema.STEPS):
                    schema.migrate(connection, schema.STEPS)
                # A killed process loses nothing it committed in any mode, since the operating system has it.
                # NORMAL may lose the last commits to a power cut, though it never damages the file; FULL waits
                # for the disk at every commit and loses none. In batches of a hundred and more that costs
                # little, and trials that are added one by one took long to run anyway.
                connection.execute("PRAGMA synchronous = FULL")
                connection.execute("PRAGMA journal_mode = WAL")
                # SQLite opens a file without write permission; fail now rather than at the first trial.
                connection.execute("BEGIN IMMEDIATE")
                connection.execute(f"PRAGMA user_version = {len(schema.STEPS)}")
                connection.execute("ROLLBACK")
            database = Database(folder, connection, lock)
            database.facts()
            return database
        except BaseException:
            connection.close()
            raise
