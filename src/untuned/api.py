"""The functions behind the flat names: they take whatever is handed over, and call the rooms."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from untuned.adapters.sources import read_scores
from untuned.collect.engines.processors import processors
from untuned.errors import InvalidInput
from untuned.evaluation import Evaluation
from untuned.judge.evaluate import RESAMPLES, check_options
from untuned.judge.evaluate import Progress as Steps
from untuned.judge.evaluate import evaluate as evaluate_table
from untuned.judge.methods import Conventions
from untuned.judge.weights import GAME, UNIFORM, Weights

if TYPE_CHECKING:
    from untuned.collect.progress import Progress
    from untuned.collect.session import Collected
    from untuned.collect.shard import Shard
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


def collect_scores(
    study: "Study | str | Path",
    folder: str | Path | None = None,
    *,
    shard: "Shard | str | None" = None,
    replace: bool = False,
    **options: Any,
) -> "Collected":
    """Run the trials of a study that its folder does not have yet, and return what is there then.

    Parameters
    ----------
    study
        A `Study`, or the path of its TOML file.
    folder, shard, replace
        Where results go, which part of the trials, what to do with changed algorithms: as for `Study.open`.
    **options
        For `Session.collect`: ``trials``, ``engine``, ``workers``, ``ray_address``, ``stop``, ``watch``.
    """
    from untuned.collect.session import Session

    with Session.open(study, folder, shard=shard, replace=replace) as session:
        return session.collect(**options)


def run(
    study: "Study | str | Path",
    folder: str | Path | None = None,
    *,
    replace: bool = False,
    workers: int | None = None,
    intervals: str | None = None,
    delta: float = 0.05,
    weights: Weights = GAME,
    progress: Steps | None = None,
    **options: Any,
) -> Evaluation:
    """Run the trials of a study that its folder does not have yet, and return the evaluation of all of them.

    Parameters
    ----------
    study
        A `Study`, or the path of its TOML file.
    folder, replace
        Where results go, and what to do with changed algorithms: as for `Study.open`.
    workers
        Trials at the same time, by default one per processor. No number depends on it.
    intervals
        The method, as for `evaluate`.
    delta
        The probability that any of the intervals is allowed to miss, in (0, 0.5].
    weights
        As for `evaluate`; the game's by default.
    progress
        As for `evaluate`.
    **options
        For `Session.collect`: ``trials``, ``engine``, ``ray_address``, ``stop``, ``watch``.

    Raises
    ------
    Stopped
        When ``stop`` returned True before everything was done; what is finished is stored.
    """
    from untuned.collect.session import Session

    with Session.open(study, folder, replace=replace) as session:
        # Before hours of trials, not after them.
        check_options(intervals, delta, weights, *session.names)
        session.collect(workers=workers, **options).check_complete()
        table = session.scores()
    return evaluate(table, intervals=intervals, delta=delta, weights=weights, workers=workers, progress=progress)


def reproduce(
    out: str | Path = "reproduction",
    *,
    trials: int | None = None,
    environments: Sequence[str] | None = None,
    workers: int | None = None,
    watch: "Callable[[Progress], None] | None" = None,
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
    from untuned.reproduction.experiment import study
    from untuned.reproduction.result import Reproduction

    place = Path(out).expanduser()
    planned = study(trials, environments)
    steps.check_folder(place)
    count = processors() if workers is None else workers
    with planned.open(place / "scores") as session:
        collected = session.collect(workers=count, watch=watch, stop=stop)
        collected.check_complete()
        table = session.scores()

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
        from untuned.collect.session import found_folder

        found_folder(study)


def study_folder(source: Any) -> Path | None:
    """Return the folder of the study that a source is, None for any other source."""
    if not isinstance(source, str | Path):
        return None
    from untuned.collect.session import is_study, results_folder

    return results_folder(source) if is_study(source) else None


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


def _with_versions(provenance: Mapping[str, str]) -> Mapping[str, str]:
    import numpy

    import untuned

    return MappingProxyType({**provenance, "untuned": untuned.__version__, "numpy": numpy.__version__})
