"""`Session`: an opened study, resolved once and its store opened once.

Every command and function that works on a study uses this module, so `study.toml`, its folder and its `results.sqlite`
are the same study everywhere.
"""

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from untuned.collect.engines.cells import Cell
from untuned.collect.engines.engine import Engine, Stop, opened, run_into
from untuned.collect.progress import SCORES_KEPT, Names, Tally, Watch, ranked
from untuned.collect.protocol import Runs, protocol_scores
from untuned.collect.resolve import Resolved, resolve, wanted
from untuned.collect.resuming import NEW_STUDY, resume
from untuned.collect.rounds import announced, check_judged, declaration, with_rounds
from untuned.collect.shard import Shard
from untuned.collect.store.connection import explained
from untuned.collect.store.damage import Repaired, repaired
from untuned.collect.store.store import RESULTS_NAME, Store
from untuned.collect.store.study_facts import entry_of
from untuned.collect.study import Study
from untuned.collect.study_folders import found_folder, results_folder
from untuned.collect.trial import LARGEST, Trial
from untuned.errors import AlgorithmFails, InvalidInput, Stopped, UnknownName
from untuned.families import Families, among, checked
from untuned.scores import Floats, Ints, Nonfinite, ScoreTable
from untuned.verdicts import listed

#: Trials per cell: a number for all, or by (algorithm, environment).
Trials = int | Mapping[Names, int]


@dataclass(frozen=True)
class Collected:
    """The state of a study after collecting.

    Parameters
    ----------
    folder
        Where its results are.
    complete
        Whether all trials are stored; False when collecting was stopped.
    stored, wanted
        Trials stored and wanted; of the shard, if it was one.
    failed
        Trials of this run that failed.
    """

    folder: Path
    complete: bool
    stored: int
    wanted: int
    failed: int

    def check_complete(self) -> None:
        """Raise Stopped unless all trials are stored."""
        if not self.complete:
            raise Stopped(f"{self.stored:,} of {self.wanted:,} trials are in {self.folder}")

    def facts(self) -> dict[str, Any]:
        """Return the same as plain JSON types."""
        return {**dataclasses.asdict(self), "folder": str(self.folder)}


@dataclass(frozen=True)
class CellStatus:
    """The progress of a cell.

    Parameters
    ----------
    environment, algorithm
        The cell.
    trials, wanted
        Trials stored and wanted.
    failed
        Failed trials among the stored ones.
    """

    environment: str
    algorithm: str
    trials: int
    wanted: int
    failed: int


class Session:
    """An opened study, for use in a ``with`` statement.

    `Study.open` returns one that can collect; `Session.at` opens the results of a study for reading, even while another
    process collects.

    Parameters
    ----------
    folder
        Where the results are.
    store
        The results; None for a study that has none yet.
    study, resolved
        The study to collect; None for a session that only reads.
    shard
        The part of the trials to collect; None for all.

    Examples
    --------
    >>> import tempfile
    >>> study = Study("first", algorithms=["sarsa", "q"], environments=["chain-10-stochastic"], trials=2)
    >>> with study.open(tempfile.mkdtemp()) as session:
    ...     collected = session.collect(workers=1)
    ...     collected.stored, session.scores().trials.tolist()
    (4, [[2], [2]])
    """

    def __init__(
        self,
        folder: Path,
        store: Store | None,
        study: Study | None = None,
        resolved: Resolved | None = None,
        shard: Shard | None = None,
    ) -> None:
        self.folder = folder
        self._store = store
        self._study = study
        self._resolved = resolved
        self._shard = shard or Shard()

    @classmethod
    def at(cls, path: str | Path, *, write: bool = False) -> "Session":
        """Return the session of a study with results, to read them; with ``write`` also to `drop` from them.

        Parameters
        ----------
        path
            The study's folder, its TOML file or its ``results.sqlite``.
        write
            Whether to lock out other writers.
        """
        folder = found_folder(path)
        return cls(folder, Store.open(folder, write=write))

    @classmethod
    def open(
        cls,
        study: Study | str | Path,
        folder: str | Path | None = None,
        *,
        shard: Shard | str | None = None,
        replace: bool = False,
    ) -> "Session":
        """Return the session of a study, resolved and checked against the trials in its folder.

        More trials, algorithms and environments are added to the stored ones; those that are no longer named stay,
        out of the comparison.

        Parameters
        ----------
        study
            A `Study`, or the path of its TOML file.
        folder
            Where results go: by default next to the file, without its ``.toml``; for a `Study`, its name. A shard's
            folder has the part in its name, too.
        shard
            ``"3/16"``: only this part of the trials; `untuned.merge` puts parts together.
        replace
            When an algorithm or an environment has changed since its trials were run: set the old trials aside. They
            stay in the store, out of every comparison.

        Raises
        ------
        InvalidInput
            For a study that cannot be run, and for changes that affect results: says what has changed, and what to do.
        """
        part = Shard.parse(shard) if isinstance(shard, str) else shard
        place = results_folder(study, part) if folder is None else Path(folder).expanduser()
        study = study if isinstance(study, Study) else Study.read(study)
        resolved = resolve(study)
        if not (place / RESULTS_NAME).is_file():
            return cls(place, None, study, resolved, part)
        store = Store.open(place, write=True)
        try:
            resume(store, place, resolved, replace)
        except BaseException:
            store.close()
            raise
        return cls(place, store, study, resolved, part)

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the store, and release the writer's lock."""
        if self._store is not None:
            self._store.close()

    @property
    def store(self) -> Store:
        """The results."""
        if self._store is None:
            raise InvalidInput(f"there are no trials in {self.folder} yet: collect some first")
        return self._store

    # Collecting.

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The cells to run, environment by environment."""
        if self._resolved is None:
            raise InvalidInput(f"{self.folder} was opened to read its results: open the study itself to collect")
        return self._resolved.cells

    @property
    def names(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The names of algorithms and environments that are compared."""
        if self._resolved is None:
            return self.store.compared
        return tuple(dict.fromkeys(cell.algorithm for cell in self.cells)), tuple(
            dict.fromkeys(cell.environment for cell in self.cells)
        )

    def collect(
        self,
        trials: Trials | None = None,
        *,
        engine: str | Engine = "local",
        workers: int | None = None,
        ray_address: str | None = None,
        keep_going: bool = False,
        stop: Stop | None = None,
        watch: Watch | None = None,
    ) -> Collected:
        """Run the missing trials, and return what is stored. Finished trials survive a crash.

        Parameters
        ----------
        trials
            Total number per cell, instead of the study's number; an environment's own number takes precedence. Or
            ``{(algorithm, environment): number}``, where cells that are not named get none.
        engine
            ``"local"``, ``"ray"`` for a cluster, or an engine.
        workers
            Number of workers, by default one per processor. The results do not depend on it.
        ray_address
            Address of a running cluster; None starts a local one.
        keep_going
            Whether to run all trials of an algorithm whose first five all failed; by default that stops the run.
        stop
            Polled several times per second; when it returns True, finished trials are stored and the rest is skipped.
        watch
            Called with the `Progress`.

        Raises
        ------
        AlgorithmFails
            When an algorithm has five finished trials or more, including earlier sessions, and every one failed;
            finished trials are stored.
        """
        cells = self.cells
        numbers = self._wanted(trials)
        self._check_planned(numbers)
        # The engine first: if no cluster answers, no store is created.
        with opened(engine, workers, ray_address) as running:
            store = self._begun(numbers)
            names = [(cell.algorithm, cell.environment) for cell in cells]
            todo = [np.setdiff1d(self._shard.of(numbers[each]), store.done(*each)) for each in names]
            tally = Tally(
                sum(self._shard.of(count).size for count in numbers.values()),
                dict(zip(names, (numbers.size for numbers in todo), strict=True)),
                store.counts(),
                store.failures(),
                {} if watch is None else {each: self._scores_so_far(*each) for each in names},
                watch,
                self.families,
            )
            tally.report()
            stopped = False

            def failing() -> bool:
                return tally.failing is not None and not keep_going

            def ended() -> bool:
                nonlocal stopped
                stopped = stopped or (stop is not None and stop())
                return stopped or failing()

            if not failing():
                run_into(store, running, cells, todo, stop=ended, watch=tally)
        if tally.failing is not None and failing() and not stopped:
            raise self._fails(*tally.failing)
        return Collected(self.folder, tally.stored == tally.wanted, tally.stored, tally.wanted, tally.failed)

    def _wanted(self, trials: Trials | None) -> dict[Names, int]:
        assert self._study is not None
        study = self._study if trials is None else dataclasses.replace(self._study, trials=trials)
        numbers = wanted(study, *self.names)
        return {(cell.algorithm, cell.environment): numbers[cell.environment][cell.algorithm] for cell in self.cells}

    def _check_planned(self, numbers: Mapping[Names, int]) -> None:
        """Refuse trials outside the rounds of a race: the plan of the next round would depend on them."""
        log = self.race_log()
        with explained(self.folder / RESULTS_NAME):
            planned = announced(log) if log else [numbers]
        if numbers not in planned:
            raise InvalidInput(
                f"{self.folder} was raced, and its next trials are those of its next round: continue with untuned "
                f"race, or {NEW_STUDY}"
            )

    def _begun(self, numbers: Mapping[Names, int]) -> Store:
        """Return the store, created if necessary, after recording the wanted numbers of trials in it."""
        store = self._created()
        store.want(numbers)
        return store

    def _created(self) -> Store:
        if self._store is None and self._resolved is not None:
            self._store = Store.create(self.folder, self._resolved.facts)
        return self.store

    def log_race(self, entry: Mapping[str, object]) -> None:
        """Append an entry to the log of the study's race, and create the store if necessary."""
        self._created().log_race(entry)

    def _fails(self, algorithm: str, count: int) -> AlgorithmFails:
        """Return the error of an algorithm whose first ``count`` trials all failed."""
        failures = self.store.failures()
        environments = [each for each in self.names[1] if (algorithm, each) in failures]
        trials = self.store.trials([algorithm], environments, returns=False)
        first = next(trial for trial in trials if math.isnan(trial.score))
        remedy = NEW_STUDY if self.race_log() else "rerun with --replace (replace=True), which sets these trials aside"
        return AlgorithmFails(
            f"{algorithm!r} failed in all of its first {count:,} trials ({listed(environments)}), so the run was "
            f"stopped. The first failure, {first.label}: {first.failure}\n"
            f"Finished trials are in {self.folder}. Fix {algorithm!r} and {remedy}; or pass --keep-going "
            "(keep_going=True) to run all of its trials anyway"
        )

    def _scores_so_far(self, algorithm: str, environment: str) -> list[float]:
        trials = self.store.trials([algorithm], [environment], returns=False)
        return [ranked(trial) for trial in itertools.islice(trials, SCORES_KEPT)]

    # Reading.

    def scores(self, *, nonfinite: Nonfinite | None = None) -> ScoreTable:
        """Return all compared scores, with the complete rounds of a race.

        For a protocol (`untuned.protocols`), the scores of complete replications.

        Parameters
        ----------
        nonfinite
            The score of a failed trial: ``"worst"``, the lowest score of the environment's range, or ``"error"``, which
            refuses it. By default the study's setting.
        """
        store = self.store
        chosen: Nonfinite = store.facts.get("failures", "error") if nonfinite is None else nonfinite
        # The log first: a race that begins in between must not be combined with scores that were read before it.
        log = store.race_log()
        table, numbers = store.scores_and_numbers(nonfinite=chosen)
        table = dataclasses.replace(table, families=self.families).select(*store.compared)
        with explained(self.folder / RESULTS_NAME):
            if (protocol := store.facts.get("protocol")) is None:
                if log:
                    check_judged(declaration(log))
                return with_rounds(table, log)
            reduced = protocol_scores(protocol, Runs(table, numbers))
        return dataclasses.replace(
            reduced, families=table.families if reduced.environments == table.environments else None
        )

    @property
    def families(self) -> Families | None:
        """The families of variants that the study declares; None where it declares none."""
        facts = self.store.facts if self._resolved is None else self._resolved.facts
        return among(checked(facts.get("families", {})), self.names[1]) or None

    @property
    def collected(self) -> bool:
        """Whether there are any trials."""
        return self._store is not None and any(self._store.counts().values())

    def seconds(
        self, numbers_ae: Ints | None = None, names: tuple[Sequence[str], Sequence[str]] | None = None
    ) -> Floats:
        """Return the mean duration of a trial of every cell, [a, e]; NaN where there are none.

        Parameters
        ----------
        numbers_ae
            How many of the first trials of each cell to average; None for all.
        names
            The algorithms and the environments in the order to return, instead of that of `names`.
        """
        algorithms, environments = self.names if names is None else names
        limits = np.full((len(algorithms), len(environments)), LARGEST) if numbers_ae is None else numbers_ae
        return np.array(
            [
                [self.store.mean_seconds(a, e, limit) for e, limit in zip(environments, row, strict=True)]
                for a, row in zip(algorithms, limits.tolist(), strict=True)
            ]
        )

    def race_log(self) -> list[dict[str, Any]]:
        """Return the log of the study's race; empty for a study that was not raced."""
        return [] if self._store is None else self._store.race_log()

    def failed_scores(self) -> dict[str, float]:
        """Return the score of a failed trial by environment; empty if failed trials are refused."""
        facts = self.store.facts
        if facts.get("failures") != "worst":
            return {}
        entries = map(entry_of, facts["environments"])
        return {each["name"]: each["score_range"][0] for each in entries if each.get("score_range")}

    def trials(self, *, returns: bool = True) -> Iterator[Trial]:
        """Yield all compared trials, environment by environment, by number.

        Parameters
        ----------
        returns
            Whether to read the returns of all episodes, too.
        """
        return self.store.trials(*self.store.compared, returns=returns)

    def plain_trials(self, *, returns: bool = True) -> Iterator[dict[str, Any]]:
        """Yield the fields of `trials` by name, as plain JSON types.

        Parameters
        ----------
        returns
            Whether to read the returns of all episodes, too.
        """
        return self.store.plain_trials(*self.store.compared, returns=returns)

    def status(self) -> tuple[CellStatus, ...]:
        """Return the progress of every compared cell, environment by environment."""
        store = self.store
        counts, failures, wishes = store.counts(), store.failures(), store.wanted
        algorithms, environments = store.compared
        return tuple(
            CellStatus(
                environment,
                algorithm,
                counts[algorithm, environment],
                wishes[algorithm, environment],
                failures.get((algorithm, environment), 0),
            )
            for environment in environments
            for algorithm in algorithms
        )

    def drop(self, algorithm: str) -> int:
        """Exclude an algorithm from every comparison, and return how many of its trials stay in the store.

        A later run of a study that still names it brings it back.
        """
        store = self.store
        algorithms, _ = store.compared
        if self.race_log():
            raise InvalidInput(
                f"{self.folder} was raced, and every score is relative to all algorithms that it declared: to look at "
                f"the others alone, evaluate it with --without {algorithm} (without=[{algorithm!r}])"
            )
        if algorithm not in algorithms:
            raise UnknownName("algorithm of this study", algorithm, algorithms)
        if store.facts.get("protocol") is not None:
            raise InvalidInput(
                f"{algorithm!r} is a part of a protocol, whose scores need all parts of all algorithms: to look at "
                "some algorithms alone, evaluate the folder with --without NAME (without=[...])"
            )
        if len(algorithms) == 1:
            raise InvalidInput(f"{algorithm!r} is the only algorithm of the study: nothing would be left")
        facts = store.facts
        facts["algorithms"] = [
            {**entry_of(each), "retired": True} if entry_of(each)["name"] == algorithm else each
            for each in facts["algorithms"]
        ]
        store.set_facts(facts)
        return sum(count for (name, _), count in store.counts().items() if name == algorithm)


def merge(
    into: str | Path,
    shards: Sequence[str | Path],
    *,
    tell: Callable[[Path, int], None] | None = None,
    advance: Callable[[int, int], None] | None = None,
) -> Session:
    """Merge the parts of a study in a folder, and return its session: it has the same trials as one run.

    Parameters
    ----------
    into
        The destination folder; it may already have results of the study.
    shards
        Folders of the parts, or their files.
    tell
        Called with each part and the number of trials that were new.
    advance
        Called repeatedly with the number of trials read so far, and the total of all parts.

    Raises
    ------
    InvalidInput
        When the parts are not of one study, or have different results for a trial.
    """
    target = Path(into).expanduser()
    if not shards:
        raise InvalidInput("there are no parts to merge: name their folders")
    for shard in shards:
        if target.resolve() in (Path(shard).resolve(), results_folder(shard).resolve()):
            raise InvalidInput(f"{shard} is one of the parts and the folder for everything: choose another folder")
    folders = [found_folder(shard) for shard in shards]
    sizes = []
    there = (target / RESULTS_NAME).is_file()
    with Store.open(target if there else folders[0]) as first:
        facts = first.facts
        # Check all of them before anything is written.
        for folder in folders:
            with Store.open(folder) as other:
                first.check_same_study(other)
                sizes.append(sum(other.counts().values()))
    store = Store.open(target, write=True) if there else Store.create(target, facts)
    try:
        for number, folder in enumerate(folders):
            before, total = sum(sizes[:number]), sum(sizes)
            step = None if advance is None else partial(_further, advance, before, total)
            new = store.merge_from(folder, advance=step)
            if tell is not None:
                tell(folder, new)
    except BaseException:
        store.close()
        raise
    return Session(target, store)


def _further(advance: Callable[[int, int], None], before: int, total: int, read: int) -> None:
    advance(before + read, total)


def repair(path: str | Path, *, tell: Callable[[int, int], None] | None = None) -> Repaired:
    """Set damaged trials of a study aside, and return the findings; running the study again collects them again.

    Every trial is verified. The intact ones, the facts and the log of a race are copied to a new ``results.sqlite``;
    the damaged file stays next to it, as ``results.sqlite.damaged``. Without damage, nothing is changed.

    Parameters
    ----------
    path
        The study's folder, its TOML file or its ``results.sqlite``.
    tell
        Called repeatedly with the number of trials verified so far, and the total.

    Raises
    ------
    StoreError
        If more than trials is damaged: the facts of the study, the log of its race, or the tables themselves.
    """
    return repaired(found_folder(path), tell)
