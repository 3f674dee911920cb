"""Digests of what is judged, so that damage is found while it is read, at a small part of the cost of reading.

A cell's digest is the exclusive or of a 64-bit mix of the number and the score of each of its trials: the order does
not matter, and adding a trial needs nothing but its own mix. Both steps of the mix are one-to-one, so a change of one
number or one score always changes the digest; several changes cancel with probability 2^-64. The facts and the entries
of a race's log are digested as text.
"""

import hashlib
import itertools
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from untuned.scores import Floats, Ints

TABLE = """CREATE TABLE digest (
  name TEXT PRIMARY KEY, trials INTEGER NOT NULL, digest INTEGER NOT NULL
) WITHOUT ROWID"""

#: Names of the digests that are not a cell's.
FACTS, RACE = "facts", "race"

#: Adds trials to a digest. SQLite has no exclusive or: it is the difference of "or" and "and".
ADD = (
    "INSERT INTO digest (name, trials, digest) VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET "
    "trials = trials + excluded.trials, digest = (digest | excluded.digest) - (digest & excluded.digest)"
)


class Digest(NamedTuple):
    """How many trials or entries, and their digest."""

    trials: int
    digest: int


#: Of no trials.
NONE = Digest(0, 0)


def of_cell(numbers: Ints, scores: Floats) -> Digest:
    """Return the digest of a cell's trials, in any order; a score that is missing is NaN."""
    return Digest(numbers.size, _signed(int(np.bitwise_xor.reduce(_mixes(numbers, scores), initial=np.uint64(0)))))


def of_trials(names: Iterable[str], numbers: Ints, scores: Floats) -> dict[str, Digest]:
    """Return the digests of trials of several cells, by the name of the cell of each."""
    found: dict[str, Digest] = {}
    for name, mix in zip(names, _mixes(numbers, scores).view(np.int64).tolist(), strict=True):
        before = found.get(name, NONE)
        found[name] = Digest(before.trials + 1, before.digest ^ mix)
    return found


def of_text(text: str, place: int = 0) -> int:
    """Return the digest of a text at a place in a sequence."""
    found = hashlib.blake2b(f"{place} {text}".encode(), digest_size=8).digest()
    return int.from_bytes(found, "little", signed=True)


def of_entries(texts: Iterable[str], first: int = 0) -> Digest:
    """Return the digest of the entries of a log from a place on."""
    found = NONE
    for place, text in enumerate(texts, first):
        found = Digest(found.trials + 1, found.digest ^ of_text(text, place))
    return found


@lru_cache(maxsize=4096)
def cell_name(algorithm: str, environment: str) -> str:
    """Return what the digest of a cell is called."""
    return json.dumps([algorithm, environment])


def read(connection: sqlite3.Connection, name: str | None = None) -> dict[str, Digest]:
    """Return the digests of a store by name: all of them, or one."""
    which = "" if name is None else " WHERE name = ?"
    rows = connection.execute(f"SELECT name, trials, digest FROM digest{which}", () if name is None else (name,))
    return {each: Digest(trials, digest) for each, trials, digest in rows}


def write(connection: sqlite3.Connection, found: Mapping[str, Digest]) -> None:
    """Add trials or entries to the digests of a store."""
    connection.executemany(ADD, [(name, *each) for name, each in found.items()])


def write_facts(connection: sqlite3.Connection, text: str) -> None:
    """Store the digest of new facts."""
    connection.execute("INSERT OR REPLACE INTO digest VALUES (?, 1, ?)", (FACTS, of_text(text)))


def add_to_older(connection: sqlite3.Connection) -> None:
    """Make the table of digests, of everything that the store has."""
    connection.execute(TABLE)
    for (text,) in connection.execute("SELECT facts FROM study").fetchall():
        write_facts(connection, text)
    write(connection, {RACE: of_entries(text for (text,) in connection.execute("SELECT entry FROM race ORDER BY id"))})
    write(connection, dict(_of_older(connection)))


def _of_older(connection: sqlite3.Connection) -> Iterator[tuple[str, Digest]]:
    texts = dict(connection.execute("SELECT id, text FROM text"))
    rows = connection.execute("SELECT algorithm, environment, trial, score FROM score ORDER BY 1, 2")
    for (algorithm, environment), group in itertools.groupby(rows, key=lambda row: row[:2]):
        cell = np.fromiter((row[2:] for row in group), dtype=ROWS)
        yield cell_name(texts[algorithm], texts[environment]), of_cell(cell["trial"], cell["score"])


#: The number and the score of trials, as they are read.
ROWS = np.dtype([("trial", np.int64), ("score", np.float64)])

#: Multipliers of the mix: the finalizer of splitmix64 (Steele, Lea and Flood 2014), and its increment.
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_INCREMENT = np.uint64(0x9E3779B97F4A7C15)


def _mixes(numbers: Ints, scores: Floats) -> NDArray[np.uint64]:
    bits = np.ascontiguousarray(scores).view(np.uint64)
    missing = np.isnan(scores)
    if missing.any():
        # There are many NaNs, and each is stored as NULL.
        bits = np.where(missing, np.uint64(0x7FF8000000000000), bits)
    mixed = _mixed(np.ascontiguousarray(numbers).view(np.uint64) + _INCREMENT)
    mixed ^= bits
    return _mixed(mixed)


def _mixed(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return a one-to-one map of 64-bit numbers; changes ``x``."""
    x ^= x >> np.uint64(30)
    x *= _FIRST
    x ^= x >> np.uint64(27)
    x *= _SECOND
    x ^= x >> np.uint64(31)
    return x


def _signed(number: int) -> int:
    """Return a number of 64 bits as SQLite stores it."""
    return number - (1 << 64) if number >= 1 << 63 else number
