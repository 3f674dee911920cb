"""Finding damaged trials in a store, and making a new store of the intact ones."""

import contextlib
import itertools
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from untuned.collect.store import schema
from untuned.collect.store.connection import MALFORMED, connect, explained
from untuned.collect.store.digests import cell_name
from untuned.collect.store.lock import WriterLock
from untuned.collect.store.rows import Row, decode
from untuned.collect.store.store import RESULTS_NAME, Names, Store, Verified
from untuned.collect.trial import label
from untuned.errors import StoreError

#: Rows read at a time.
_CHUNK = 1000

#: A row, and what is wrong with it.
Checked = tuple[Row, str | None]


def damage_of(store: Store, tell: Verified | None = None) -> tuple[str, ...]:
    """Return what is damaged in a store, as `Store.damage`."""
    found: list[str] = []
    total = 0
    with _noted(found), store._reading():
        found += [str(each) for (each,) in store._connection.execute("PRAGMA integrity_check(100)")]
        (total,) = store._connection.execute("SELECT count(*) FROM score").fetchone()
    found = [each for each in found if each != "ok"]
    cells: list[Names] = []
    with _noted(found):
        cells = _cells(store)
        store.race_log()
    for done, (_, complaint) in enumerate(_every_row(store, cells), start=1):
        if complaint is not None:
            found.append(complaint)
        # Returns may take a second each.
        if tell is not None and (done % 100 == 0 or done == total):
            tell(done, total)
    if cells and not found:
        # Every row is as it was written: are all of them there?
        with _noted(found):
            store.counts()
            with store._reading():
                store._all_scores()
    return tuple(dict.fromkeys(found))


@dataclass(frozen=True)
class Repaired:
    """What a repair found and kept.

    Parameters
    ----------
    folder
        Where the study's results are.
    kept, lost
        Trials that are intact, and that are not: collecting the study again runs these.
    damage
        What was found damaged; where it is empty, nothing was changed.
    original
        The file as it was; None where nothing was changed.
    """

    folder: Path
    kept: int
    lost: int
    damage: tuple[str, ...]
    original: Path | None


def repaired(folder: Path, tell: Verified | None = None) -> Repaired:
    """Put a new store with the intact trials of a study in the place of a damaged one.

    Parameters
    ----------
    folder
        The study's.
    tell
        Called repeatedly with the number of trials read so far, and the total.

    Raises
    ------
    StoreError
        Where more is damaged than trials: the facts of the study, the log of its race, or the tables themselves.
    """
    path, new = folder / RESULTS_NAME, folder / f"{RESULTS_NAME}.repairing"
    lock = WriterLock(folder)
    try:
        with explained(path), contextlib.closing(connect(path, write=True)) as connection:
            schema.check_is_store(connection, str(path), schema.STEPS)
            store = Store(folder, connection, lock)
            facts = store.facts
            with store._reading():
                race = store._race()
            damage = damage_of(store, tell)
            stored = _stored(store)
            if not damage:
                return Repaired(folder, stored, 0, (), None)
            shutil.rmtree(new, ignore_errors=True)
            with Store.create(new, facts) as fresh:
                kept = _copied(store, race, fresh)
        with explained(path):
            original = next(each for each in _names(folder) if not each.exists())
            for ending in ("", "-wal"):
                if (now := path.with_name(path.name + ending)).exists():
                    shutil.copyfile(now, original.with_name(original.name + ending))
            # A log of the damaged file must not be taken for one of the new file.
            for ending in ("-wal", "-shm"):
                path.with_name(path.name + ending).unlink(missing_ok=True)
            (new / RESULTS_NAME).replace(path)
            shutil.rmtree(new)
    finally:
        lock.release()
    return Repaired(folder, kept, max(stored - kept, 0), damage, original)


def _names(folder: Path) -> Iterator[Path]:
    """Yield names for the damaged file."""
    yield folder / f"{RESULTS_NAME}.damaged"
    yield from (folder / f"{RESULTS_NAME}.damaged-{number}" for number in itertools.count(2))


def _stored(store: Store) -> int:
    """Return how many trials were stored, as far as that can be known."""
    with contextlib.suppress(StoreError), store._reading():
        known = store._digests()
        if known is not None:
            return sum(each.trials for name, each in known.items() if name.startswith("["))
        (count,) = store._connection.execute("SELECT count(*) FROM score").fetchone()
        return int(count)
    return 0


def _cells(store: Store) -> list[Names]:
    study = store._facts()
    return list(itertools.product(study.algorithms, study.environments))


def _copied(store: Store, race: tuple[str, ...], fresh: Store) -> int:
    """Copy the log of a race and all intact trials to another store, and return how many trials that are."""
    with fresh._writing():
        fresh._insert_race(race)
    return fresh._copy(row for row, complaint in _every_row(store, _cells(store)) if complaint is None)


@contextlib.contextmanager
def _noted(found: list[str]) -> Iterator[None]:
    """Record the error of a store instead of raising it."""
    try:
        yield
    except StoreError as error:
        # The reason alone: what helps is said once.
        inner = re.search(r" is damaged \((.*)\): ", str(error), re.DOTALL)
        found.append(inner[1] if inner else str(error))


def _every_row(store: Store, cells: Sequence[Names]) -> Iterator[tuple[Row, str | None]]:
    """Yield all rows, and what is wrong with each; rows that cannot be read at all are empty."""
    for algorithm, environment in cells:
        read = _chunk if _in_order(store, algorithm, environment) else _scanned
        start: int | None = 0
        while start is not None:
            rows, start = read(store, algorithm, environment, start)
            yield from rows


def _in_order(store: Store, algorithm: str, environment: str) -> bool:
    """Return whether the trials of a cell can be found by their numbers; also where they cannot be read."""
    query = "SELECT trial FROM score WHERE algorithm = ? AND environment = ?"
    with contextlib.suppress(StoreError), store._reading():
        numbers = [number for (number,) in store._connection.execute(query, store._cell(algorithm, environment))]
        known = store._digests(cell_name(algorithm, environment))
        if known and len(numbers) < sum(each.trials for each in known.values()):
            return False
        return all(isinstance(each, int) for each in numbers) and all(
            one < other for one, other in itertools.pairwise(numbers)
        )
    return True


def _scanned(store: Store, algorithm: str, environment: str, start: int) -> tuple[list[Checked], int | None]:
    """Return the rows of a cell from a place on, as they lie in the file, and the place to continue with."""
    try:
        with store._reading():
            rows = store._read(algorithm, environment, start, _CHUNK, scan=True)
    except StoreError:
        rows = _scanned_one_by_one(store, algorithm, environment, start)
    checked = [(row, complaint or _not_decoded(row)) for row, complaint in rows]
    # Where nothing can be read, there may be no end.
    more = len(rows) >= _CHUNK and any(row for row, _ in rows)
    return checked, start + len(rows) if more else None


def _scanned_one_by_one(store: Store, algorithm: str, environment: str, start: int) -> list[Checked]:
    """Return the rows of a cell as `_scanned`, where some of the next ones cannot be read."""
    rows: list[Checked] = []
    for place in range(start, start + _CHUNK):
        try:
            with store._reading():
                found = store._read(algorithm, environment, place, 1, scan=True)
        except StoreError:
            found = [({}, f"a trial of {algorithm!r} on {environment!r} cannot be read")]
        if not found:
            break
        rows += found
    return rows


def _chunk(store: Store, algorithm: str, environment: str, start: int) -> tuple[list[Checked], int | None]:
    """Return the rows of a cell from a trial's number on, and the number to continue with; None at the end."""
    try:
        with store._reading():
            rows = store._read(algorithm, environment, start, _CHUNK)
    except StoreError:
        rows = _one_by_one(store, algorithm, environment, start)
    numbers = [row["trial"] for row, _ in rows if row]
    if not all(isinstance(number, int) for number in numbers) or any(
        one >= other for one, other in itertools.pairwise([start - 1, *numbers])
    ):
        return [({}, f"the trials of {algorithm!r} on {environment!r} from {start} on are out of order")], None
    checked = [(row, complaint or _not_decoded(row)) for row, complaint in rows]
    return checked, numbers[-1] + 1 if len(rows) >= _CHUNK and numbers else None


def _one_by_one(store: Store, algorithm: str, environment: str, start: int) -> list[Checked]:
    """Return the rows of a cell where some of the next ones cannot be read."""
    rows: list[Checked] = []
    lost = f"the trials of {algorithm!r} on {environment!r} from {start} on cannot be read"
    try:
        with store._reading():
            key = (*store._cell(algorithm, environment), start)
            query = "SELECT trial FROM score WHERE algorithm = ? AND environment = ? AND trial >= ? ORDER BY trial"
            numbers = [number for (number,) in store._connection.execute(query, key)]
    except StoreError:
        return [({}, lost)]
    for number in numbers:
        try:
            with store._reading():
                rows += store._read(algorithm, environment, number, 1)
        except StoreError:
            rows.append(({}, f"{label(algorithm, environment, number)} cannot be read"))
    return rows


def _not_decoded(row: Row) -> str | None:
    """Return what is wrong with what a row's checksum does not cover, its returns."""
    try:
        decode(row, 0)
    except MALFORMED as error:
        return f"{label(row['algorithm'], row['environment'], row['trial'])} cannot be decoded, {str(error)[:200]}"
    return None
