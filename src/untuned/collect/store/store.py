"""`Store`: a study's results on disk, with one writer and any number of readers; committed trials are durable."""

import dataclasses
import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from untuned.collect.environments.checks import checked_size
from untuned.collect.store import writing
from untuned.collect.store.cells import Cells, Names
from untuned.collect.store.connection import damaged, explained
from untuned.collect.store.database import RESULTS_NAME as RESULTS_NAME
from untuned.collect.store.database import Database
from untuned.collect.store.opening import created, opened
from untuned.collect.store.rows import Row, decode, encode, plain_values
from untuned.collect.store.study_facts import StudyFacts, entry_of
from untuned.collect.trial import LARGEST, Trial, label
from untuned.errors import InvalidInput, UnknownName
from untuned.scores import Ints, Nonfinite, ScoreTable

#: What is made of a row.
Decoded = TypeVar("Decoded")

#: Called with the number of rows that were verified, and how many there are.
Verified = Callable[[int, int], None]


class Store:
    """A study's results on disk, in the file ``results.sqlite`` of its folder.

    Made by `create` and `open`, both for use in a ``with`` statement. One process writes at a time; a second writer is
    an error. Any number of processes read meanwhile, and see what is committed at each call. A store belongs to the
    thread that opened it.

    Rows are never changed and never removed. What is read is verified: rows by the checksum of each, scores by a digest
    of their cell.

    Examples
    --------
    >>> import tempfile
    >>> from untuned import run_trial
    >>> folder = tempfile.mkdtemp()
    >>> facts = {"seed": 7, "algorithms": ["sarsa", "q"], "environments": ["chain-10-deterministic"]}
    >>> trial = run_trial("sarsa", "chain-10-deterministic", seed=7, trial=3)
    >>> with Store.create(folder, facts) as store:
    ...     store.add([trial])
    1
    >>> with Store.open(folder) as store:
    ...     store.done("sarsa", "chain-10-deterministic").tolist(), store.counts()["q", "chain-10-deterministic"]
    ([3], 0)
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._cells = Cells(database)

    @classmethod
    def create(cls, folder: str | Path, facts: Mapping[str, object]) -> "Store":
        """Return a new store, open for writing; makes the folder if need be.

        Parameters
        ----------
        folder
            The study's.
        facts
            Kept as they are, as JSON. The store itself needs ``seed``, ``algorithms`` and ``environments``: lists of
            names, or of mappings with a ``name``, in the order that everything is to be shown in. An environment's
            ``score_range`` becomes its range in `scores`; ``identical``, if given, goes there too.

        Raises
        ------
        InvalidInput
            For facts without these, and for a folder that has a study already.
        StoreError
            When another process writes there, or the folder cannot be written.
        """
        return cls(created(Path(folder), StudyFacts.of(facts)))

    @classmethod
    def open(cls, folder: str | Path, *, write: bool = False) -> "Store":
        """Return the store of a folder, for reading unless ``write``.

        Raises
        ------
        InvalidInput
            For a folder that is not there, or has no study.
        StoreError
            When the file is damaged, newer than this version or not a study's; with ``write``, when another process
            writes there or the folder cannot be written.
        """
        return cls(opened(Path(folder), write=write))

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the files and release the writer's lock."""
        self._database.close()

    # The study's facts.

    @property
    def facts(self) -> dict[str, Any]:
        """The study's facts, as plain JSON types."""
        return self._database.facts().mapping

    def set_facts(self, facts: Mapping[str, object]) -> None:
        """Replace the facts; what the trials stored so far rest on must stay.

        Raises
        ------
        InvalidInput
            For another seed once there are trials, and for facts that no longer name an algorithm or environment
            that has some.
        """
        study = StudyFacts.of(facts)
        with self._database.writing():
            counted = self._cells.counted()
            if counted and study.seed != self._database.facts().seed:
                raise InvalidInput(
                    f"seed={study.seed}, but the trials stored in {self._database.folder} were made with seed "
                    f"{self._database.facts().seed}: start another study in another folder"
                )
            for algorithm, environment in counted:
                for kind, name, names in (
                    ("algorithms", algorithm, study.algorithms),
                    ("environments", environment, study.environments),
                ):
                    if name not in names:
                        raise InvalidInput(
                            f"the new facts leave out {name!r}, of which trials are stored: keep it among {kind}"
                        )
            self._database.replace_facts(study)

    @property
    def wanted(self) -> dict[tuple[str, str], int]:
        """How many trials of every (algorithm, environment) there are to be."""
        return self._database.facts().wanted

    def want(self, wanted: Mapping[tuple[str, str], int]) -> None:
        """Note how many trials there are to be, by (algorithm, environment)."""
        study = self._database.facts()
        if any(study.wanted.get(cell) != count for cell, count in wanted.items()):
            self.set_facts(study.wanting(wanted))

    def rename(self, kind: str, old: str, new: str) -> None:
        """Keep the trials of an algorithm or an environment under another name, out of every comparison.

        Parameters
        ----------
        kind
            ``"algorithms"`` or ``"environments"``.
        old, new
            Its name, and one that the study does not have.
        """
        facts = self.facts
        facts[kind] = [
            {**entry, "name": new, "retired": True} if entry["name"] == old else entry
            for entry in map(entry_of, facts[kind])
        ]
        study = StudyFacts.of(facts)
        with self._database.writing():
            writing.rename(self._cells, kind.removesuffix("s"), old, new)
            self._database.replace_facts(study)
            if self._database.race():
                # What gets the old name next is not what the race declared.
                self._database.insert_race((json.dumps({"kind": "renamed", "of": kind, "old": old, "new": new}),))

    # Its trials.

    def counts(self) -> dict[tuple[str, str], int]:
        """Return the number of trials of every (algorithm, environment), in declared order; 0 where there are none."""
        with self._database.reading():
            return self._cells.counts()

    def failures(self) -> dict[tuple[str, str], int]:
        """Return the number of trials that failed, of every (algorithm, environment) that has some."""
        with self._database.reading():
            return self._cells.counted("WHERE score IS NULL")

    def mean_seconds(self, algorithm: str, environment: str, trials: int) -> float:
        """Return how long a trial of a cell took on average, of those with a number below ``trials``; NaN for none."""
        with self._database.reading():
            cell = self._cells.ids(algorithm, environment)
            query = "SELECT avg(seconds) FROM score JOIN record ON record.id = score.record"
            rows = self._database.connection.execute(
                f"{query} WHERE algorithm = ? AND environment = ? AND trial < ?", (*cell, trials)
            )
            found = rows.fetchone()[0]
            return float("nan") if found is None else float(found)

    def done(self, algorithm: str, environment: str) -> Ints:
        """Return the numbers of the trials there are of an algorithm on an environment, ascending, failed ones too."""
        with self._database.reading():
            cell = self._cells.ids(algorithm, environment)
            rows = self._database.connection.execute(
                "SELECT trial FROM score WHERE algorithm = ? AND environment = ? ORDER BY trial", cell
            )
            return np.fromiter(itertools.chain.from_iterable(rows), dtype=np.int64)

    def trial(self, algorithm: str, environment: str, trial: int) -> Trial:
        """Return one trial.

        Raises
        ------
        UnknownName
            For an algorithm or environment the study does not have.
        InvalidInput
            For a trial that is not stored.
        """
        number = checked_size("trial", trial, 0, LARGEST)
        with self._database.reading():
            rows = self._cells.rows(algorithm, environment, number, 1)
            if not rows or rows[0]["trial"] != number:
                there = self._cells.counted().get((algorithm, environment), 0)
                raise InvalidInput(
                    f"{label(algorithm, environment, number)} is not stored: {there:,} others of the two are"
                )
            return decode(rows[0], self._database.facts().seed)

    def trials(
        self,
        algorithms: Iterable[str] | None = None,
        environments: Iterable[str] | None = None,
        *,
        returns: bool = True,
    ) -> Iterator[Trial]:
        """Yield the trials, environment by environment and algorithm by algorithm in declared order, by number.

        The order is the same in whatever order they were added. With ``returns=False`` the returns of episodes are
        left out, unread.
        """
        return self._each(decode, algorithms, environments, returns)

    def plain_trials(
        self,
        algorithms: Iterable[str] | None = None,
        environments: Iterable[str] | None = None,
        *,
        returns: bool = True,
    ) -> Iterator[dict[str, Any]]:
        """Yield the fields of `trials` by name, as `untuned.collect.trial.plain` makes them, several times as fast."""
        return self._each(plain_values, algorithms, environments, returns)

    def _each(
        self,
        decoded: Callable[[Row, int], Decoded],
        algorithms: Iterable[str] | None,
        environments: Iterable[str] | None,
        returns: bool,
    ) -> Iterator[Decoded]:
        study = self._database.facts()
        chosen = [
            [name for name in known if wanted is None or name in wanted]
            for known, wanted in (
                (study.environments, _wanted("environment", environments, study.environments)),
                (study.algorithms, _wanted("algorithm", algorithms, study.algorithms)),
            )
        ]

        def found() -> Iterator[Decoded]:
            with explained(self._database.path):
                for environment, algorithm in itertools.product(*chosen):
                    for row in self._cells.all_rows(algorithm, environment, returns=returns):
                        yield decoded(row, study.seed)

        return found()

    def scores(self, *, nonfinite: Nonfinite = "error") -> ScoreTable:
        """Return all scores, in declared order and by number within each cell, with the ranges from the facts.

        A trial that failed has no score: ``nonfinite="error"`` says which one, ``"worst"`` counts it as the lowest of
        the environment's range.
        """
        return self.scores_and_numbers(nonfinite=nonfinite)[0]

    def scores_and_numbers(self, *, nonfinite: Nonfinite = "error") -> tuple[ScoreTable, dict[Names, Ints]]:
        """Return all scores, as `scores`, and the numbers of their trials by cell, of the same state of the store."""
        with self._database.reading():
            study = self._database.facts()
            raced = bool(self._database.race())
            found = self._cells.scores()
        cells = {cell: scores for cell, (_, scores) in found.items()}
        facts = study.mapping
        table = ScoreTable.from_dict(
            cells,
            ranges=study.ranges,
            identical=facts.get("identical", ()),
            nonfinite=nonfinite,
            provenance={"study": str(facts.get("name", self._database.folder.name))},
        )
        before_gaps = _before_gaps([numbers for numbers, _ in found.values()], sharded=not raced)
        unbroken_ae = before_gaps.reshape(len(study.algorithms), len(study.environments))
        return dataclasses.replace(table, unbroken_ae=unbroken_ae), {cell: each for cell, (each, _) in found.items()}

    @property
    def compared(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The algorithms and environments that belong to the study now; trials of others may be here all the same."""
        return self._database.facts().compared

    def check(self) -> None:
        """Read everything and compare it with its checksums; raises StoreError when something is damaged."""
        if found := self.damage():
            raise damaged(self._database.path, found[0] + (f", and {len(found) - 1:,} more" if len(found) > 1 else ""))

    def damage(self, tell: Verified | None = None) -> tuple[str, ...]:
        """Return what is damaged, after reading everything; empty where nothing is.

        Parameters
        ----------
        tell
            Called repeatedly with the number of trials read so far, and the total.
        """
        from untuned.collect.store.damage import damage_of

        return damage_of(self, tell)

    # The log of its race.

    def race_log(self) -> list[dict[str, Any]]:
        """Return the entries of the race's log, in order; none for a study that was not raced."""
        with self._database.reading():
            entries = [json.loads(text) for text in self._database.race()]
        if not all(isinstance(entry, dict) for entry in entries):
            raise damaged(self._database.path, "an entry of the race's log is not a mapping")
        return entries

    def log_race(self, entry: Mapping[str, object]) -> None:
        """Append an entry to the race's log; when this returns, the entry survives this process.

        Parameters
        ----------
        entry
            JSON types by name.
        """
        try:
            text = json.dumps(dict(entry))
        except (TypeError, ValueError) as error:
            raise InvalidInput(
                f"the entry cannot be kept as JSON ({error}): pass a mapping of texts, numbers, lists, dicts"
            ) from None
        with self._database.writing():
            self._database.insert_race((text,))

    # Writing.

    def add(self, records: Iterable[Trial]) -> int:
        """Store trials, all or none of them, and return how many are new; when it returns they survive this process.

        A trial that is stored already is passed over if its result is the same; the time it took does not count.

        Raises
        ------
        InvalidInput
            For a trial that is stored with another result, for one of another seed, and for what cannot be stored.
        UnknownName
            For an algorithm or environment the facts do not name.
        StoreError
            When the store is open for reading alone, or the disk is full; everything stored before is safe.
        """
        study = self._database.facts()
        algorithms, environments = set(study.algorithms), set(study.environments)
        rows = []
        for each in records:
            row = encode(each)
            if row["algorithm"] not in algorithms:
                raise UnknownName("algorithm of this study", each.algorithm, algorithms)
            if row["environment"] not in environments:
                raise UnknownName("environment of this study", each.environment, environments)
            if each.seed != study.seed:
                raise InvalidInput(
                    f"{each.label} was made with seed {each.seed}, this study has seed {study.seed}: "
                    "store it in a study of its own"
                )
            rows.append(row)
        return writing.add(self._cells, rows)

    def merge_from(self, other: str | Path, *, advance: Callable[[int], None] | None = None) -> int:
        """Add all trials of another folder's store, a shard of the same study, and return how many are new.

        Trials that both have are fine if their results are the same. Merging again what was merged, wholly or in
        part, adds the rest. An empty store gets the log of a race, too.

        Parameters
        ----------
        other
            The shard's folder.
        advance
            Called repeatedly with the number of trials read so far.

        Raises
        ------
        InvalidInput
            When the facts of the two differ, their races do, or the results of a trial do.
        """
        self._database.check_writer()
        with Store.open(other) as shard:
            self.check_same_study(shard)
            merged = self._database.facts().with_most_trials(shard._database.facts())
            if merged != self.facts:
                self.set_facts(merged)
            with shard._database.reading():
                race = shard._database.race()
            # Before the trials: where merging is interrupted, it can be repeated.
            with self._database.writing():
                if self._database.is_empty():
                    self._database.insert_race(race)
            rows = itertools.chain.from_iterable(itertools.starmap(shard._cells.all_rows, shard.counts()))
            return writing.copy(self._cells, rows, advance)

    def check_same_study(self, other: "Store") -> None:
        """Raise InvalidInput for the store of another study, or of another race: their trials cannot be mixed."""
        ours, theirs = self._database, other._database
        if not theirs.facts().same_as(ours.facts()):
            raise InvalidInput(
                f"{theirs.folder} is not of the same study as {ours.folder}, their facts differ "
                f"({', '.join(ours.facts().differences(theirs.facts()))}): merge stores made with the same facts"
            )
        races = []
        for database in (ours, theirs):
            with database.reading():
                # An empty store goes with every other.
                if not database.is_empty():
                    races.append(database.race())
        if len(set(races)) > 1:
            raced, rest = (theirs, ours) if races[1] else (ours, theirs)
            raise InvalidInput(
                f"{raced.folder} was raced, and {rest.folder} has other rounds or none. The guarantee of a race is "
                "about the rounds of one study, so it cannot be merged with other trials: evaluate it alone, or merge "
                "it alone into a new folder"
            )


def _wanted(kind: str, names: Iterable[str] | None, known: tuple[str, ...]) -> set[str] | None:
    if names is None:
        return None
    if isinstance(names, str):
        raise InvalidInput(f"{kind}s={names!r} is one string: pass a list of names")
    wanted = set(names)
    for name in wanted:
        if name not in known:
            raise UnknownName(f"{kind} of this study", name, known)
    return wanted


def _before_gaps(cells: Iterable[Ints], *, sharded: bool) -> Ints:
    """Return how many of every cell's trial numbers, ascending, come before its first missing one.

    A shard has every k-th number, so numbers are counted in steps of their common divisor. For a study that has merely
    begun that is 1, but for accidents with a handful of trials. What cannot be a shard is counted in steps of 1.
    """
    cells = list(cells)
    if not sharded:
        return np.array([np.count_nonzero(cell == np.arange(cell.size)) for cell in cells], dtype=np.int64)
    numbers = np.concatenate([*cells, np.empty(0, dtype=np.int64)])
    first = int(numbers.min(initial=LARGEST))
    step = max(int(np.gcd.reduce(numbers - first)), 1) if numbers.size else 1
    found = [np.count_nonzero((cell - first % step) // step == np.arange(cell.size)) for cell in cells]
    return np.array(found, dtype=np.int64)
