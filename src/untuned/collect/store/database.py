"""`Database`: the open file of a store, its transactions, and the tables besides those of trials."""

import contextlib
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from untuned.collect.store import digests, schema
from untuned.collect.store.connection import MALFORMED, explained
from untuned.collect.store.lock import WriterLock
from untuned.collect.store.study_facts import StudyFacts
from untuned.errors import StoreError

RESULTS_NAME = "results.sqlite"

#: The longest facts, in characters: those of a thousand algorithms and environments have a hundredth.
_LONGEST_FACTS = 1 << 25


class Database:
    """The open file of a store.

    Parameters
    ----------
    folder
        The study's.
    connection
        To the file.
    lock
        The writer's lock; None for reading alone.
    """

    def __init__(self, folder: Path, connection: sqlite3.Connection, lock: WriterLock | None) -> None:
        self.folder = folder
        self.path = folder / RESULTS_NAME
        self.connection = connection
        self._lock = lock
        self._text_ids: dict[str, int] | None = None
        self._study: StudyFacts | None = None
        self._study_version = -1

    def close(self) -> None:
        """Close the file and release the writer's lock."""
        try:
            with explained(self.path):
                self.connection.close()
        finally:
            if self._lock is not None:
                self._lock.release()

    # Transactions.

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """Let the queries inside see one state of the store: that of the block or transaction around, if any."""
        with explained(self.path):
            if self.connection.in_transaction:
                yield
                return
            self.connection.execute("BEGIN")
            try:
                yield
            finally:
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Make one transaction of the statements inside: all of them, or none."""
        self.check_writer()
        with explained(self.path):
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self.connection.execute("COMMIT")
            except BaseException:
                # Some failures end the transaction by themselves.
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")
                # The texts that were inserted are rolled back too.
                self._text_ids = None
                raise

    def check_writer(self) -> None:
        """Raise StoreError if the store is open for reading alone."""
        if self._lock is None:
            raise StoreError(f"{self.folder} is open for reading: open it with write=True to change it")

    def roll_back_to(self, savepoint: str) -> None:
        """Undo the statements since a savepoint, inside a transaction."""
        self.connection.execute(f"ROLLBACK TO {savepoint}")
        self._text_ids = None

    # The tables besides those of trials.

    def text_id(self, text: str) -> int:
        """Return the id of a text, inserted if it is new."""
        if self._text_ids is None:
            self._text_ids = dict(self.connection.execute("SELECT text, id FROM text"))
        known = self._text_ids.get(text)
        if known is None:
            known = self.connection.execute("INSERT INTO text (text) VALUES (?)", (text,)).lastrowid
            assert known is not None
            self._text_ids[text] = known
        return known

    def version(self) -> int:
        """Return the version of the tables now: a writer may have migrated the store since it was opened."""
        return schema.version(self.connection)

    def digests(self, name: str | None = None) -> dict[str, digests.Digest] | None:
        """Return all digests, or one of them; None for an older store, whose rows are verified one by one instead."""
        return None if self.version() < schema.DIGESTS_SINCE else digests.read(self.connection, name)

    def facts(self) -> StudyFacts:
        """Return the study's facts as they are now: a writer may have changed them."""
        with explained(self.path):
            # Another number once another connection has written.
            (number,) = self.connection.execute("PRAGMA data_version").fetchone()
            if self._study is None or number != self._study_version:
                # The facts and their digest are of one state.
                with self.reading():
                    self._study, self._study_version = self._read_facts(), number
            return self._study

    def _read_facts(self) -> StudyFacts:
        found = self.connection.execute("SELECT facts, length(facts) FROM study").fetchone()
        if found is None:
            raise self.beyond_repair("the study's facts are missing")
        text, size = found
        if not isinstance(text, str) or size > _LONGEST_FACTS:
            raise self.beyond_repair(f"the study's facts have {size:,} characters")
        if self._study is not None and self._study.text == text:
            return self._study
        known = self.digests(digests.FACTS)
        if known is not None and known.get(digests.FACTS) != (1, digests.of_text(text)):
            raise self.beyond_repair("the checksum of the study's facts is wrong")
        try:
            return StudyFacts.of(json.loads(text))
        except MALFORMED as error:
            raise self.beyond_repair(f"the study's facts cannot be read, {str(error)[:200]}") from None

    def replace_facts(self, study: StudyFacts) -> None:
        """Replace the study's facts, inside a transaction."""
        self.connection.execute("UPDATE study SET facts = ?", (study.text,))
        digests.write_facts(self.connection, study.text)
        self._study = None

    def race(self) -> tuple[str, ...]:
        """Return the entries of the race's log as they are stored; an older store has none."""
        if self.version() < schema.RACE_SINCE:
            return ()
        entries = tuple(text for (text,) in self.connection.execute("SELECT entry FROM race ORDER BY id"))
        known = self.digests(digests.RACE)
        if known is not None and known.get(digests.RACE, digests.NONE) != digests.of_entries(entries):
            raise self.beyond_repair("the checksum of the race's log is wrong")
        return entries

    def insert_race(self, texts: tuple[str, ...]) -> None:
        """Append entries to the race's log, inside a transaction."""
        (number,) = self.connection.execute("SELECT count(*) FROM race").fetchone()
        self.connection.executemany("INSERT INTO race (entry) VALUES (?)", [(text,) for text in texts])
        digests.write(self.connection, {digests.RACE: digests.of_entries(texts, number)})

    def is_empty(self) -> bool:
        """Return whether there are neither trials nor a race."""
        return not self.race() and self.connection.execute("SELECT 1 FROM score LIMIT 1").fetchone() is None

    def beyond_repair(self, what: str) -> StoreError:
        """Return the error of damage to more than trials."""
        return StoreError(f"{self.path} is damaged ({what}): {schema.RESTORE}")
