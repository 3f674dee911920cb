"""The functions behind the flat names: they take whatever is handed over, and call the rooms."""

import dataclasses
import itertools
import math
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from untuned.adapters.sources import read_scores
from untuned.errors import InvalidInput
from untuned.evaluation import Evaluation
from untuned.judge.evaluate import RESAMPLES, check_options
from untuned.judge.evaluate import Progress as Steps
from untuned.judge.evaluate import evaluate as evaluate_table
from untuned.judge.methods import Conventions
from untuned.judge.weights import GAME, UNIFORM, Weights

if TYPE_CHECKING:
    from untuned.collect.engines.cells import Cell
    from untuned.collect.engines.local import News
    from untuned.collect.engines.schedule import Numbers, Shard
    from untuned.collect.store.store import Store
    from untuned.collect.store.trial import StoredTrial
    from untuned.collect.study import Study
    from untuned.plans import Plan
    from untuned.reports.report import Report
    from untuned.reproduction.result import Reproduction


def evaluate(
    scores: Any,
    *,
    intervals: str | None = None,
    delta: float = 0.05,
    weights: Weights = GAME,
    conventions: Conventions = "valid",
    resamples: int = RESAMPLES,
    seed: int = 0,
    refine: int | None = None,
    workers: int | None = None,
    progress: Steps | None = None,
    **options: Any,
) -> Evaluation:
    """Return which algorithms perform well across all environments, with intervals that account for all uncertainty.

    Parameters
    ----------
    scores
        A `ScoreTable`, or whatever `untuned.read_scores` makes one of: the path of a CSV or Parquet file, of a study's
        folder, a data frame, ``{algorithm: {environment: scores}}``, an array [algorithm, environment, trial].
    intervals
        The method, of those that ``untuned list intervals`` lists: by default ``"pairing"``, the narrowest guaranteed
        one for numbers of trials chosen beforehand; ``"betting"`` holds however often you look; with the paper's
        conventions ``"pbp"``.
    delta
        The probability that any of the intervals is allowed to miss, in (0, 0.5].
    weights
        ``"game"``, the default, for the equilibrium that nobody can exploit, ``"uniform"``, or weights chosen before
        seeing the scores: by environment, by (environment, reference), or an array of either.
    conventions
        ``"valid"``, or ``"paper"`` for ties, supports and levels exactly as published.
    resamples
        How many the bootstrap draws; 10,000 by default.
    seed
        Where the bootstrap's random numbers begin.
    refine
        How many cases to look at, for every pair that bounds alone do not decide (see "branching" in the docs); by
        default as many as take seconds, none on large boards; 0 for none.
    workers
        How many threads, by default one per processor; no number depends on it.
    progress
        Called with what is being done, how much of it is done, and how much there is.
    **options
        For `untuned.read_scores`: ``ranges``, ``identical``, ``nonfinite``, column names.

    Returns
    -------
    Evaluation
        Scores, intervals, verdicts, ranks, weights, percentiles; prints as a table.

    Examples
    --------
    >>> import numpy as np, untuned
    >>> rng = np.random.default_rng(0)
    >>> scores = {"good": {"a": rng.normal(3, 1, 500), "b": rng.normal(2, 1, 500)},
    ...           "poor": {"a": rng.normal(0, 1, 500), "b": rng.normal(0, 1, 500)}}
    >>> print(untuned.evaluate(scores))
    Evaluation of 2 algorithms on 2 environments by 'pairing'
    algorithm  score   low     high    rank (worst, best)
    good       0.5496  0.5472  0.5515  1 (1, 1)
    poor       0.0945  0.0813  0.1123  2 (2, 2)
    good is better than poor.
    With probability at least 95 %, all intervals and verdicts hold, if the numbers of trials were chosen beforehand.
    """
    table = read_scores(scores, **options)
    found = evaluate_table(
        table,
        intervals=intervals,
        delta=delta,
        weights=weights,
        conventions=conventions,
        resamples=resamples,
        seed=seed,
        refine=refine,
        workers=processors() if workers is None else workers,
        progress=progress,
    )
    return replace(found, provenance=_with_versions(found.provenance))


@dataclasses.dataclass(frozen=True)
class Collected:
    """What a study has after collecting.

    Parameters
    ----------
    folder
        Where its results are.
    complete
        Whether everything that was asked for is there; False when it was stopped.
    stored, wanted
        Trials that are there, and that there should be; of the shard, if it was one.
    failed
        Trials of this run that failed.
    """

    folder: Path
    complete: bool
    stored: int
    wanted: int
    failed: int

    def facts(self) -> dict[str, Any]:
        """Return the same as plain JSON types."""
        return {**dataclasses.asdict(self), "folder": str(self.folder)}


@dataclasses.dataclass(frozen=True)
class Progress:
    """How far collecting is.

    Parameters
    ----------
    stored, wanted
        Trials that are safe on the disk, and that there should be.
    cells, cells_done
        How many there are, and how many of them have all their trials.
    rate
        Trials a second, of late; 0 when it is not known yet.
    failed
        Trials of this run that failed.
    scores
        By (algorithm, environment), no more than two hundred of each; minus infinity for a trial that failed.
    """

    stored: int
    wanted: int
    cells: int
    cells_done: int
    rate: float
    failed: int
    scores: Mapping[tuple[str, str], Sequence[float]]

    @property
    def left(self) -> int:
        """Trials still to do."""
        return self.wanted - self.stored


def collect_scores(
    study: "Study | str | Path",
    folder: str | Path | None = None,
    *,
    workers: int | None = None,
    engine: str = "local",
    ray_address: str | None = None,
    shard: "Shard | str | None" = None,
    keep_both: bool = False,
    stop: Callable[[], bool] | None = None,
    watch: Callable[[Progress], None] | None = None,
) -> Collected:
    """Run the trials of a study that its folder does not have yet, and return what is there then.

    Parameters
    ----------
    study
        A `Study`, or the path of its TOML file.
    folder
        Where results go: by default beside the file, without its ``.toml``; for a `Study`, its name. That of a shard
        has the part in its name, too.
    workers
        Trials at the same time, by default one per processor. No number depends on it.
    engine
        ``"local"``, or ``"ray"`` for a cluster.
    ray_address
        Of a cluster that runs; None makes a local one.
    shard
        ``"3/16"``: only this part of the trials; `untuned merge` puts parts together.
    keep_both
        When a definition or an environment has changed since: keep both, the new one under a name of its own.
    stop
        Asked a few times a second; when it says True, what is finished is stored and the rest left.
    watch
        Told how far it is.
    """
    from untuned.adapters.studies import plan
    from untuned.collect.engines.going_on import opened
    from untuned.collect.engines.schedule import Shard, waiting

    if engine not in ("local", "ray"):
        raise InvalidInput(f"engine={engine!r}: choose 'local' or 'ray'")
    if ray_address is not None and engine != "ray":
        raise InvalidInput(f"ray_address={ray_address!r} goes with engine='ray' (--engine ray): {engine!r} was chosen")
    if workers is not None and workers < 1:
        raise InvalidInput(f"workers={workers}: pass a positive number")
    part = Shard.parse(shard) if isinstance(shard, str) else shard
    study, place = _read(study, folder, part)
    planned = plan(study)
    # The cluster first: where none answers, no study begins.
    with _crew(engine, workers, ray_address) as work:
        store, cells = opened(place, planned.cells, _with_version(planned.facts), keep_both=keep_both)
        with store:
            wanted = [(part or Shard()).of(cell.trials) for cell in cells]
            todo = waiting(cells, wanted, store)
            tally = _Tally(cells, sum(each.size for each in wanted), todo, store, watch)
            tally.tell()
            work(cells, todo, store, planned.recipe, stop=stop, watch=tally)
    return Collected(place, tally.stored == tally.wanted, tally.stored, tally.wanted, tally.failed)


def run(
    study: "Study | str | Path",
    folder: str | Path | None = None,
    *,
    workers: int | None = None,
    intervals: str | None = None,
    delta: float = 0.05,
    weights: Weights = GAME,
    **options: Any,
) -> Evaluation:
    """Run the trials of a study that its folder does not have yet, and return the evaluation of all of them.

    Parameters
    ----------
    study
        A `Study`, or the path of its TOML file.
    folder
        Where results go, as for `collect_scores`.
    workers
        Trials at the same time, by default one per processor. No number depends on it.
    intervals
        The method, as for `evaluate`.
    delta
        The probability that any of the intervals is allowed to miss, in (0, 0.5].
    weights
        As for `evaluate`; the game's by default.
    **options
        For `collect_scores`: ``engine``, ``ray_address``, ``keep_both``, ``stop``, ``watch``.

    Raises
    ------
    Stopped
        When ``stop`` said so before everything was done; what is finished is stored.
    """
    from untuned.errors import Stopped

    study, folder = _read(study, folder, None)
    check_evaluation(study, intervals, delta, weights)
    collected = collect_scores(study, folder, workers=workers, **options)
    if not collected.complete:
        raise Stopped(f"{collected.stored:,} of {collected.wanted:,} trials are in {collected.folder}")
    return evaluate(collected.folder, intervals=intervals, delta=delta, weights=weights, workers=workers)


def reproduce(
    out: str | Path = "reproduction",
    *,
    trials: int | None = None,
    environments: Sequence[str] | None = None,
    workers: int | None = None,
    watch: Callable[[Progress], None] | None = None,
    progress: Steps | None = None,
    pieces: Callable[[int, int], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> "Reproduction":
    """Run the paper's experiment, judge it, and return it beside what was published; a folder has all of it then.

    What is there already is not run again: stopped or killed, the same call goes on, and with more trials it adds them.

    Parameters
    ----------
    out
        The folder: ``reproduction.html`` to read, ``reproduction.json``, tables, figures, ``report.html`` on the
        evaluation, and all trials under ``scores``.
    trials
        Per algorithm and environment; the paper had 10,000. By default as many as take two processors about half an
        hour altogether: thousands with discrete states, some dozens with continuous ones.
    environments
        Some of the paper's fifteen; all by default.
    workers
        How many trials at the same time, by default one per processor. No number depends on it.
    watch
        Told how far collecting is, as by `collect_scores`.
    progress
        Told how far judging is, as by `evaluate`.
    pieces
        Called with how many pieces of work of the test of intervals are done, and how many there are.
    stop
        Asked a few times a second; when it says True, what is finished is kept and the rest left.

    Raises
    ------
    Stopped
        When ``stop`` said so.
    """
    import untuned
    from untuned.errors import Stopped
    from untuned.reproduction import steps
    from untuned.reproduction.conclusions import conclusions
    from untuned.reproduction.experiment import studies
    from untuned.reproduction.result import Reproduction

    place = Path(out).expanduser()
    planned = studies(trials, environments)
    steps.check_folder(place)
    count = processors() if workers is None else workers
    for study in planned:
        collected = collect_scores(study, place / "scores", workers=count, watch=watch, stop=stop)
        if not collected.complete:
            raise Stopped(f"{collected.stored:,} of {collected.wanted:,} trials are in {collected.folder}")
    table = read_scores(place / "scores")

    def judged(**options: Any) -> Evaluation:
        if stop is not None and stop():
            raise Stopped(f"all {collected.stored:,} trials are in {collected.folder}, and not judged yet")
        return evaluate(table, workers=count, progress=progress, **options)

    others = tuple(judged(intervals=name, conventions="paper") for name in steps.PUBLISHED_METHODS)
    found = judged()
    tested = steps.intervals_tested(
        table, place / "table-2" / "record.jsonl", workers=count, progress=pieces, stop=stop
    )
    made = Reproduction(
        evaluation=found,
        others=others,
        replication=tested,
        conclusions=conclusions(found, others, tested),
        command=steps.command(out, trials, environments),
        version=untuned.__version__,
    )
    made.save(place)
    report(
        found,
        place / "report.html",
        title="The paper's experiment, reproduced",
        beside=others,
        study=place / "scores",
        command=made.command,
    )
    return made


def plan(
    source: Any, *, workers: int | None = None, progress: Steps | None = None, most: int | None = None, **options: Any
) -> "Plan":
    """Return how many trials would probably decide what an evaluation left open: a prediction, and no guarantee.

    Parameters
    ----------
    source
        An `Evaluation`, or whatever `evaluate` takes.
    workers
        How many threads, by default one per processor; no number depends on it.
    progress
        Called with what is being done, how much of it is done, and how much there is.
    most
        The largest number of trials per cell to look at; ten million by default.
    **options
        For `evaluate`.

    Examples
    --------
    >>> import numpy as np, untuned
    >>> rng = np.random.default_rng(0)
    >>> scores = {"good": {"a": rng.normal(0.3, 1, 60), "b": rng.normal(0.3, 1, 60)},
    ...           "poor": {"a": rng.normal(0, 1, 60), "b": rng.normal(0, 1, 60)}}
    >>> print(untuned.plan(scores).sentences()[0])
    About 13 more trials per cell (73 in all) would probably tell good from poor.
    """
    from untuned.judge.plan import MOST
    from untuned.judge.plan import plan as planned

    threads = processors() if workers is None else workers
    if isinstance(source, Evaluation):
        _refuse_options(options)
        found = source
    else:
        found = evaluate(source, workers=workers, progress=progress, **options)
    return planned(found, most=MOST if most is None else most, workers=threads, progress=progress)


def _refuse_options(options: Mapping[str, Any]) -> None:
    if options:
        raise InvalidInput(f"{', '.join(options)} given with an evaluation, which is judged already: leave it out")


def report(
    source: Any,
    out: str | Path | None = None,
    *,
    title: str | None = None,
    beside: "Sequence[str | Evaluation]" = (),
    study: str | Path | None = None,
    planned: "bool | Plan" = False,
    formats: Sequence[str] = ("pdf",),
    command: str | None = None,
    **options: Any,
) -> "Report":
    """Return an evaluation as people read it, and write it where ``out`` says.

    Parameters
    ----------
    source
        An `Evaluation`, or whatever `evaluate` takes: the path of a file or of a study's folder, a data frame, ...
    out
        A file that ends in .html: one page that needs no network. Anything else is a folder for the page, all tables
        (Markdown, CSV, LaTeX), all figures, and the numbers as JSON. None writes nothing; `Report.save` does later.
    title
        Of the page.
    beside
        Interval methods to compare with, by name, or evaluations of the same scores.
    study
        The folder of the study that the scores come from, for its learning curves and hyperparameters; not needed where
        ``source`` is that folder.
    planned
        Whether to say how many trials would settle what is open, as `plan` does, which can take as long as judging;
        or that plan.
    formats
        Of the figures in a folder: "pdf", "svg", "png".
    command
        What the page says of how to make it again.
    **options
        For `evaluate`.

    Examples
    --------
    >>> import untuned
    >>> scores = {"good": {"a": [3, 4, 5], "b": [2, 3, 2]}, "poor": {"a": [0, 1, 0], "b": [1, 0, 1]}}
    >>> untuned.report(scores, title="Two algorithms")
    <Report: Two algorithms; .save('report.html') writes it>
    """
    import untuned
    from untuned.reports.report import Report

    judged = isinstance(source, Evaluation)
    conventions = source.settings["conventions"] if judged else options.get("conventions", "valid")
    check_report(out, beside=beside, study=study, formats=formats, conventions=conventions)
    if judged:
        _refuse_options(options)
        found = source
    else:
        found = evaluate(source, **options)
    folder = study if study is not None else study_folder(source)
    histories = None
    if folder is not None:
        from untuned.adapters.histories import read_histories

        histories = read_histories(folder)
        if not any((a, e) in histories.cells for a in found.algorithms for e in found.environments):
            raise InvalidInput(f"the study in {folder} has no algorithm and environment of these scores: name theirs")
    others = tuple(_beside(found, each, options) for each in beside)
    made = Report(
        evaluation=found,
        title=title or _title(found),
        command=command or _as_python(found, title, others, study, bool(planned)),
        version=untuned.__version__,
        beside=others,
        histories=histories,
        plan=plan(found) if planned is True else planned or None,
    )
    if out is not None:
        made.save(out, formats=tuple(formats))
    return made


def _title(found: Evaluation) -> str:
    name = found.provenance.get("study") or found.provenance.get("file")
    return f"Evaluation of {name}" if name else "Evaluation of reinforcement-learning algorithms"


def check_report(
    out: str | Path | None,
    *,
    beside: "Sequence[str | Evaluation]" = (),
    study: str | Path | None = None,
    formats: Sequence[str] = ("pdf",),
    conventions: Any = "valid",
) -> None:
    """Refuse before the scores are judged what `report` would refuse after that."""
    from untuned.judge.methods import check_conventions, method
    from untuned.reports.report import check_place

    if out is not None:
        check_place(out)
    for each in beside:
        if isinstance(each, str):
            check_conventions(method(each), conventions)
    # Imported after the page: where both are missing, the message names the extra that brings both.
    from untuned.reports.figures.files import checked_formats

    checked_formats(formats)
    if study is not None:
        from untuned.adapters.histories import place_of

        place_of(study)


def study_folder(source: Any) -> Path | None:
    """Return the folder of the study that a source is, None for what is none."""
    if not isinstance(source, str | Path):
        return None
    path = Path(source).expanduser()
    if path.is_dir():
        return path
    return path.parent if path.suffix.lower() in (".sqlite", ".db") else None


def _beside(found: Evaluation, other: str | Evaluation, options: Mapping[str, Any]) -> Evaluation:
    """Return the same scores judged by another method, all else alike."""
    if isinstance(other, str):
        settings: Mapping[str, Any] = found.settings
        weights = settings["weights"]
        return evaluate(
            found.scores,
            intervals=other,
            delta=found.delta,
            weights=weights if weights in (GAME, UNIFORM) else found.q_er,
            conventions=settings["conventions"],
            **{name: options[name] for name in ("resamples", "seed", "refine", "workers") if name in options},
        )
    if not isinstance(other, Evaluation):
        raise InvalidInput(f"beside has a {type(other).__name__}: pass names of interval methods, or evaluations")
    if (other.algorithms, other.environments) != (found.algorithms, found.environments):
        raise InvalidInput("beside has an evaluation of other algorithms or environments: compare the same scores")
    return other


def _as_python(
    found: Evaluation, title: str | None, beside: Sequence[Evaluation], study: str | Path | None, planned: bool
) -> str:
    """Return the call that makes a report again; what only the caller has, a word stands for."""
    names = ("intervals", "delta", "weights", "conventions", "resamples", "seed", "refine")
    chosen = {name: repr(found.settings[name]) for name in names if name in found.settings}
    if found.settings["weights"] == "given":
        chosen["weights"] = "weights"
    more = {
        "title": title,
        "beside": [each.method for each in beside],
        "study": None if study is None else str(study),
        "planned": planned,
    }
    judging = ", ".join(f"{name}={value}" for name, value in chosen.items())
    showing = "".join(f", {name}={value!r}" for name, value in more.items() if value)
    return f"untuned.report(untuned.evaluate(scores, {judging}), 'report.html'{showing})"


def check_evaluation(study: "Study", intervals: str | None, delta: float, weights: Weights) -> None:
    """Refuse before the trials of a study what `evaluate` would refuse after them."""
    from untuned.adapters.studies import plan

    cells = plan(study).cells
    check_options(
        intervals,
        delta,
        weights,
        tuple(dict.fromkeys(cell.algorithm for cell in cells)),
        tuple(dict.fromkeys(cell.environment for cell in cells)),
    )


def _read(study: "Study | str | Path", folder: str | Path | None, shard: "Shard | None") -> "tuple[Study, Path]":
    """Return a study, from its file if need be, and where its results go."""
    from untuned.collect.study import Study

    place = default_folder(study, shard) if folder is None else Path(folder)
    return study if isinstance(study, Study) else Study.read(study), place


def default_folder(study: "Study | str | Path", shard: "Shard | None" = None) -> Path:
    """Return where a study's results go, or those of a part of it, if nothing else is said."""
    if isinstance(study, str | Path):
        path = Path(study)
        place = path.with_suffix("") if path.suffix == ".toml" else path.with_name(f"{path.name}.results")
    else:
        place = Path(study.name)
    return place if shard is None else place.with_name(f"{place.name}.shard-{shard.part}-of-{shard.parts}")


@contextmanager
def _crew(engine: str, workers: int | None, ray_address: str | None) -> Iterator[Callable[..., None]]:
    """Yield what collects: on this machine, or on a cluster that is there as long as it is needed."""
    if engine == "ray":
        from untuned.collect.engines import ray as cluster

        with cluster.connected(ray_address, workers) as ray:
            yield partial(cluster.collect, ray=ray)
    else:
        from untuned.collect.engines import local

        yield partial(local.collect, workers=processors() if workers is None else workers)


class _Tally:
    """Counts what was stored, and tells whoever watches."""

    def __init__(
        self,
        cells: "Sequence[Cell]",
        wanted: int,
        todo: "Sequence[Numbers]",
        store: "Store",
        watch: Callable[[Progress], None] | None,
    ) -> None:
        self._watch = watch
        self._left = {
            (cell.algorithm, cell.environment): numbers.size for cell, numbers in zip(cells, todo, strict=True)
        }
        self.wanted = wanted
        self.stored = self.wanted - sum(self._left.values())
        self.failed = 0
        # Who is ahead is seen from all that is there, not from what came since.
        self._scores: dict[tuple[str, str], list[float]] = {
            (algorithm, environment): [
                _counted(trial)
                for trial in itertools.islice(store.trials([algorithm], [environment], returns=False), _KEPT)
            ]
            if watch is not None
            else []
            for algorithm, environment in self._left
        }
        self._marks = [(time.monotonic(), self.stored)]

    def __call__(self, news: "News") -> None:
        for trial in news.stored:
            cell = (trial.algorithm, trial.environment)
            self._left[cell] -= 1
            self.stored += 1
            self.failed += trial.failure is not None
            if len(self._scores[cell]) < _KEPT:
                self._scores[cell].append(_counted(trial))
        # The rate over the last half minute or so: cells differ, and so does the machine.
        self._marks = [*self._marks[-_MARKS:], (time.monotonic(), self.stored)]
        self.tell()

    def tell(self) -> None:
        if self._watch is None:
            return
        (begin, before), (now, stored) = self._marks[0], self._marks[-1]
        self._watch(
            Progress(
                self.stored,
                self.wanted,
                len(self._left),
                sum(not left for left in self._left.values()),
                (stored - before) / (now - begin) if now > begin else 0.0,
                self.failed,
                self._scores,
            )
        )


def _counted(trial: "StoredTrial") -> float:
    return trial.score if trial.failure is None else -math.inf


#: Scores per cell that are kept to see who is ahead, and moments that the rate is taken over.
_KEPT = 200
_MARKS = 60


def processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _with_version(facts: Mapping[str, Any]) -> dict[str, Any]:
    import untuned

    return {**facts, "untuned": untuned.__version__}


def _with_versions(provenance: Mapping[str, str]) -> Mapping[str, str]:
    import numpy

    import untuned

    return MappingProxyType({**provenance, "untuned": untuned.__version__, "numpy": numpy.__version__})
