"""Finding damaged trials in a store, and making a new store of the intact ones."""

import contextlib
import itertools
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from untuned.collect.store import schema
from untuned.collect.store.cells import CHUNK, Cells, Names
from untuned.collect.store.connection import MALFORMED, connect, explained
from untuned.collect.store.database import RESULTS_NAME, Database
from untuned.collect.store.digests import cell_name
from untuned.collect.store.lock import WriterLock
from untuned.collect.store.rows import Row, decode
from untuned.collect.store.store import Store, Verified
from untuned.collect.store.writing import copy
from untuned.collect.trial import label
from untuned.errors import StoreError

#: A row, and what is wrong with it.
Checked = tuple[Row, str | None]


def damage_of(store: Store, tell: Verified | None = None) -> tuple[str, ...]:
    """Return what is damaged in a store, as `Store.damage`."""
    cells, database = store._cells, store._database
    found: list[str] = []
    total = 0
    with _noted(found), database.reading():
        found += [str(each) for (each,) in database.connection.execute("PRAGMA integrity_check(100)")]
        (total,) = database.connection.execute("SELECT count(*) FROM score").fetchone()
    found = [each for each in found if each != "ok"]
    names: list[Names] = []
    with _noted(found):
        names = _names(database)
        store.race_log()
    for done, (_, complaint) in enumerate(_every_row(cells, names), start=1):
        if complaint is not None:
            found.append(complaint)
        # Returns may take a second each.
        if tell is not None and (done % 100 == 0 or done == total):
            tell(done, total)
    if names and not found:
        # Every row is as it was written: are all of them there?
        with _noted(found), database.reading():
            cells.counts()
            cells.scores()
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
            database = Database(folder, connection, lock)
            store = Store(database)
            facts = store.facts
            with database.reading():
                race = database.race()
            damage = damage_of(store, tell)
            stored = _stored(database)
            if not damage:
                return Repaired(folder, stored, 0, (), None)
            shutil.rmtree(new, ignore_errors=True)
            with Store.create(new, facts) as fresh:
                with fresh._database.writing():
                    fresh._database.insert_race(race)
                rows = _every_row(store._cells, _names(database))
                kept = copy(fresh._cells, (row for row, complaint in rows if complaint is None))
        with explained(path):
            original = next(each for each in _places(folder) if not each.exists())
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


def _places(folder: Path) -> Iterator[Path]:
    """Yield names for the damaged file."""
    yield folder / f"{RESULTS_NAME}.damaged"
    yield from (folder / f"{RESULTS_NAME}.damaged-{number}" for number in itertools.count(2))


def _stored(database: Database) -> int:
    """Return how many trials were stored, as far as that can be known."""
    with contextlib.suppress(StoreError), database.reading():
        known = database.digests()
        if known is not None:
            return sum(each.trials for name, each in known.items() if name.startswith("["))
        (count,) = database.connection.execute("SELECT count(*) FROM score").fetchone()
        return int(count)
    return 0


def _names(database: Database) -> list[Names]:
    study = database.facts()
    return list(itertools.product(study.algorithms, study.environments))


@contextlib.contextmanager
def _noted(found: list[str]) -> Iterator[None]:
    """Record the error of a store instead of raising it."""
    try:
        yield
    except StoreError as error:
        # The reason alone: what helps is said once.
        inner = re.search(r" is damaged \((.*)\): ", str(error), re.DOTALL)
        found.append(inner[1] if inner else str(error))


def _every_row(cells: Cells, names: Sequence[Names]) -> Iterator[tuple[Row, str | None]]:
    """Yield all rows, and what is wrong with each; rows that cannot be read at all are empty."""
    for algorithm, environment in names:
        read = _chunk if _in_order(cells, algorithm, environment) else _scanned
        start: int | None = 0
        while start is not None:
            rows, start = read(cells, algorithm, environment, start)
            yield from rows


def _in_order(cells: Cells, algorithm: str, environment: str) -> bool:
    """Return whether the trials of a cell can be found by their numbers; also where they cannot be read."""
    query = "SELECT trial FROM score WHERE algorithm = ? AND environment = ?"
    with contextlib.suppress(StoreError), cells.database.reading():
        found = cells.database.connection.execute(query, cells.ids(algorithm, environment))
        numbers = [number for (number,) in found]
        known = cells.database.digests(cell_name(algorithm, environment))
        if known and len(numbers) < sum(each.trials for each in known.values()):
            return False
        return all(isinstance(each, int) for each in numbers) and all(
            one < other for one, other in itertools.pairwise(numbers)
        )
    return True


def _scanned(cells: Cells, algorithm: str, environment: str, start: int) -> tuple[list[Checked], int | None]:
    """Return the rows of a cell from a place on, as they lie in the file, and the place to continue with."""
    try:
        with cells.database.reading():
            rows = cells.checked(algorithm, environment, start, CHUNK, scan=True)
    except StoreError:
        rows = _scanned_one_by_one(cells, algorithm, environment, start)
    checked = [(row, complaint or _not_decoded(row)) for row, complaint in rows]
    # Where nothing can be read, there may be no end.
    more = len(rows) >= CHUNK and any(row for row, _ in rows)
    return checked, start + len(rows) if more else None


def _scanned_one_by_one(cells: Cells, algorithm: str, environment: str, start: int) -> list[Checked]:
    """Return the rows of a cell as `_scanned`, where some of the next ones cannot be read."""
    rows: list[Checked] = []
    for place in range(start, start + CHUNK):
        try:
            with cells.database.reading():
                found = cells.checked(algorithm, environment, place, 1, scan=True)
        except StoreError:
            found = [({}, f"a trial of {algorithm!r} on {environment!r} cannot be read")]
        if not found:
            break
        rows += found
    return rows


def _chunk(cells: Cells, algorithm: str, environment: str, start: int) -> tuple[list[Checked], int | None]:
    """Return the rows of a cell from a trial's number on, and the number to continue with; None at the end."""
    try:
        with cells.database.reading():
            rows = cells.checked(algorithm, environment, start, CHUNK)
    except StoreError:
        rows = _one_by_one(cells, algorithm, environment, start)
    numbers = [row["trial"] for row, _ in rows if row]
    if not all(isinstance(number, int) for number in numbers) or any(
        one >= other for one, other in itertools.pairwise([start - 1, *numbers])
    ):
        return [({}, f"the trials of {algorithm!r} on {environment!r} from {start} on are out of order")], None
    checked = [(row, complaint or _not_decoded(row)) for row, complaint in rows]
    return checked, numbers[-1] + 1 if len(rows) >= CHUNK and numbers else None


def _one_by_one(cells: Cells, algorithm: str, environment: str, start: int) -> list[Checked]:
    """Return the rows of a cell where some of the next ones cannot be read."""
    rows: list[Checked] = []
    lost = f"the trials of {algorithm!r} on {environment!r} from {start} on cannot be read"
    try:
        with cells.database.reading():
            key = (*cells.ids(algorithm, environment), start)
            query = "SELECT trial FROM score WHERE algorithm = ? AND environment = ? AND trial >= ? ORDER BY trial"
            numbers = [number for (number,) in cells.database.connection.execute(query, key)]
    except StoreError:
        return [({}, lost)]
    for number in numbers:
        try:
            with cells.database.reading():
                rows += cells.checked(algorithm, environment, number, 1)
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
