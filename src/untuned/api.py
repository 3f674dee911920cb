"""The functions behind the names of `untuned`: they accept any supported source, and call the subpackages."""

import dataclasses
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from untuned.adapters.score_files.importing import Imported
from untuned.adapters.score_files.reading import Reading
from untuned.adapters.sources import read
from untuned.checking import sound, told, with_findings
from untuned.errors import InvalidInput
from untuned.evaluation import Evaluation
from untuned.judge.approximate import approximated
from untuned.judge.intervals.method import Method
from untuned.judge.judging import DELTA, GAME, RESAMPLES, SEED, UNIFORM, Judging, without_variants
from untuned.judge.threads import Progress as Steps
from untuned.options import split, takes_options_of
from untuned.processors import processors

if TYPE_CHECKING:
    from untuned.collect.engines.engine import Engine
    from untuned.collect.progress import Watch
    from untuned.collect.session import Collected
    from untuned.collect.shard import Shard
    from untuned.collect.study import Study
    from untuned.histories import Histories
    from untuned.judge.comparing.records import MethodComparison
    from untuned.judge.summaries.intervals import Interval
    from untuned.judge.summaries.records import Summaries
    from untuned.judge.summaries.summarizing import Progress as Resampling
    from untuned.plans import Design, Plan
    from untuned.races.course import Course
    from untuned.races.racing import Look
    from untuned.races.result import Race
    from untuned.races.rules import Rule
    from untuned.reports.report import Report
    from untuned.scores import Floats
    from untuned.verdicts import Weighting


#: All options of `read_scores`, whatever the source.
READING = tuple(each.name for each in dataclasses.fields(Reading))


@takes_options_of(Judging)
def evaluate(
    scores: Any,
    *,
    judging: Judging | None = None,
    approximate: bool = False,
    workers: int | None = None,
    progress: Steps | None = None,
    **options: Any,
) -> Evaluation:
    """Return which algorithms perform well across all environments, with confidence intervals for all uncertainty.

    Parameters
    ----------
    scores
        A `ScoreTable`, or anything that `untuned.read_scores` accepts: the path of a file, of a folder with logs, of a
        study; a data frame, ``{algorithm: {environment: scores}}``, an array [algorithm, environment, trial].
    judging
        Options as one record; options given by name override its fields.
    approximate
        Whether to add the bootstrap's verdicts, which guarantee nothing: ``evaluation.approximate``.
    workers
        How many threads, by default one per processor; no number depends on it.
    progress
        Called with the name of the step, how much of it is done, and the total.
    **options
        The options of `Judging`: ``intervals``, ``delta``, ``weights`` and others; and those of `untuned.read_scores`:
        ``reduce``, ``ranges``, ``identical``, column names and others. ``accept`` names serious findings of
        `untuned.check` that do not stop the evaluation.

    Returns
    -------
    Evaluation
        Scores, intervals, verdicts, ranks, weights, percentiles; prints as a table.

    Raises
    ------
    InvalidInput
        Also where `untuned.check` finds something serious: then no guarantee would hold.

    Examples
    --------
    >>> import numpy as np, untuned
    >>> rng = np.random.default_rng(0)
    >>> scores = {"good": {"a": rng.normal(3, 1, 500), "b": rng.normal(2, 1, 500)},
    ...           "poor": {"a": rng.normal(0, 1, 500), "b": rng.normal(0, 1, 500)}}
    >>> print(untuned.evaluate(scores))
    Evaluation of 2 algorithms on 2 environments
    Equal weights (pooled)
    algorithm  score   low     high    rank (worst, best)
    good       0.7258  0.7141  0.7340  1 (1, 1)
    poor       0.2742  0.2660  0.2859  2 (2, 2)
    good is better than poor.
    The game's weights (pairing)
    algorithm  score  low    high   rank (worst, best)
    good       0.550  0.547  0.552  1 (1, 1)
    poor       0.095  0.081  0.115  2 (2, 2)
    good is better than poor.
    Both weightings give the same verdict.
    With probability at least 95 %, all intervals and verdicts hold, if the numbers of trials were chosen beforehand.
    """
    judging, reading = _judging(READING, judging, **options)
    source = scores if isinstance(scores, Imported) else read(scores, **reading)
    judging = without_variants(judging, reading.get("without"))
    findings = sound(source, reading.get("accept") or ())
    found = with_findings(judging.judge(source.table, workers=workers, progress=progress), source, findings)
    return approximated(found, workers=workers, progress=progress) if approximate else found


def _judging(others: Iterable[str], judging: Judging | None = None, **options: Any) -> tuple[Judging, dict[str, Any]]:
    """Return the `Judging` record, and the remaining options, which ``others`` must name."""
    chosen, rest = split(options, Judging, others)
    return dataclasses.replace(judging or Judging(), **chosen), rest


def compare_methods(
    scores: Any,
    *,
    out: str | Path | None = None,
    delta: float = DELTA,
    resamples: int = 2_000,
    seed: int = SEED,
    title: str = "Ways of evaluating, compared",
    command: str = "",
    workers: int | None = None,
    progress: "Resampling | None" = None,
    **options: Any,
) -> "MethodComparison":
    """Compare the conclusions of each way of evaluating the same scores: where they disagree, and why.

    The ways are untuned's rankings and verdicts; the paper's three methods as published; mean, median and interquartile
    mean of min-max-normalised scores and the probability of improvement, with bootstrap intervals; performance ratios
    to every algorithm; t tests on every environment, without and with Bonferroni's correction; and mean ranks. The
    paper's arguments about them are measured on these scores: what another denominator, one terrible algorithm and
    copies of an environment change.

    Parameters
    ----------
    scores
        What `untuned.read_scores` takes, of two algorithms or more.
    out
        Where to write a page that needs no network; None for none.
    delta
        The guaranteed or nominal probability that intervals miss, 0.05 by default.
    resamples
        Number of resamples, 2,000 by default.
    seed
        Seed of the bootstraps, 0 by default.
    title
        Title of the page.
    command
        The command that reproduces the comparison, for the page.
    workers
        How many threads, by default one per processor; no number depends on it.
    progress
        Called with the name of the step, how much of it is done, and the total.
    **options
        Those of `untuned.read_scores`.

    Examples
    --------
    >>> import numpy as np, untuned
    >>> rng = np.random.default_rng(0)
    >>> scores = {"mine": {"maze": rng.normal(8, 1, 20), "arm": rng.normal(40, 9, 20)},
    ...           "theirs": {"maze": rng.normal(5, 1, 20), "arm": rng.normal(30, 9, 20)}}
    >>> found = untuned.compare_methods(scores, resamples=100)
    >>> found.sentences()[0]
    'All 17 ways put mine first.'
    """
    from untuned.judge.comparing.compare import compared

    if out is not None:
        from untuned.reports.methods_page.render import check_page

        check_page(out)
    judging = Judging(delta=delta, resamples=resamples, seed=seed)
    source = scores if isinstance(scores, Imported) else read(scores, **options)
    findings = sound(source, options.get("accept") or ())
    found = compared(
        source.table,
        judging,
        findings=findings,
        workers=processors() if workers is None else workers,
        progress=progress,
    )
    found = dataclasses.replace(found, notes=(*found.notes, *told(findings)))
    if out is not None:
        from untuned.reports.methods_page.render import save

        save(found, out, title=title, command=command)
    return found


def collect_scores(
    study: "Study | str | Path",
    folder: str | Path | None = None,
    *,
    shard: "Shard | str | None" = None,
    replace: bool = False,
    **options: Any,
) -> "Collected":
    """Run the missing trials of a study, and return what is stored.

    Parameters
    ----------
    study
        A `Study`, or the path of its TOML file.
    folder
        Where results go: by default next to the file, without its ``.toml``; for a `Study`, its name.
    shard
        ``"3/16"``: only this part of the trials; `untuned.merge` joins the parts.
    replace
        Whether to set aside the trials of algorithms and environments that have changed, as for `Study.open`.
    **options
        For `Session.collect`: ``trials``, ``engine``, ``workers``, ``ray_address``, ``keep_going``, ``stop``,
        ``watch``.
    """
    from untuned.collect.session import Session

    with Session.open(study, folder, shard=shard, replace=replace) as session:
        return session.collect(**options)


def summarize(
    scores: Any,
    statistics: Any = "iqm",
    *,
    normalise: Any = None,
    weights: Any = UNIFORM,
    interval: "Interval" = "percentile",
    delta: float = DELTA,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    thresholds: Sequence[float] | None = None,
    workers: int | None = None,
    progress: "Resampling | None" = None,
    **options: Any,
) -> "Summaries":
    """Return summaries of normalised scores with bootstrap intervals, approximate, and the guaranteed verdicts.

    Every cell is resampled separately; cells may have different numbers of runs. Within an environment all runs weigh
    the same.

    Parameters
    ----------
    scores
        An `Evaluation`, whose verdicts are shown; or scores of any kind, which are evaluated as well.
    statistics
        One or several: ``"iqm"``, ``"median"``, ``"mean"``, ``"geometric-mean"``, ``"optimality-gap"``; ``"poi"`` for
        the probability of improvement of all pairs; ``"profile"`` and ``"mean-profile"`` for performance profiles; or a
        function of an algorithm's normalised scores, a list with an array for every environment.
    normalise
        Normalisation: None for raw scores; ``{environment: (zero, one)}`` for two reference
        scores of each; ``"min-max"``, ``"mean-min-max"``, ``"range"`` for the declared ranges, ``"percentiles"``,
        ``"policy-percentiles"`` for built-in environments, ``"ratio:ALGORITHM"``; or `summaries.MinMax`, `Ratio`,
        `Percentiles`, `PolicyPercentiles`.
    weights
        Weights of environments: ``"uniform"`` by default, ``"game"`` for those of the game, or a dictionary.
    interval
        ``"percentile"``, ``"basic"`` or ``"bca"``.
    delta
        Nominal error probability of each interval, 0.05 by default.
    resamples
        How many resamples, 10,000 by default.
    seed
        Seed of the resamples, 0 by default.
    thresholds
        Thresholds of performance profiles; unless given, from the lowest to the highest normalised score.
    workers
        How many threads, by default one per processor; no number depends on it.
    progress
        Called with the name of the step, how much of it is done, and the total.
    **options
        Those of `untuned.read_scores`.

    Examples
    --------
    >>> import numpy as np
    >>> from untuned import summaries
    >>> rng = np.random.default_rng(0)
    >>> scores = {"mine": {"maze": rng.normal(8, 1, 10), "arm": rng.normal(40, 9, 12)},
    ...           "theirs": {"maze": rng.normal(5, 1, 10), "arm": rng.normal(30, 9, 10)}}
    >>> found = summaries.summarize(scores, "iqm", normalise={"maze": (0, 10), "arm": (0, 50)})
    >>> found.rows()[0]["algorithm"]
    'mine'
    """
    from untuned.collect.runner.random_policies import random_policies
    from untuned.judge.summaries.normalisations import POLICY_PERCENTILES, PolicyPercentiles
    from untuned.judge.summaries.summarizing import summarized
    from untuned.judge.weights import fixed

    evaluation: Evaluation | None = None
    if isinstance(scores, Evaluation):
        if options:
            raise InvalidInput(f"{', '.join(options)}: an evaluation has read its scores, leave these options out")
        evaluation, table = scores, scores.scores
    else:
        found = read(scores, **options)
        table = found.table
        if len(table.algorithms) > 1:
            other = GAME if isinstance(weights, str) and weights == GAME else UNIFORM
            evaluation = evaluate(found, weights=other, delta=delta, workers=workers, accept=options.get("accept"))
    if isinstance(weights, str) and weights not in (GAME, UNIFORM):
        raise InvalidInput(f"weights={weights!r}: pass 'uniform', 'game' or a dictionary by environment")
    if isinstance(weights, str) and weights == GAME:
        if evaluation is None or not any(each.weights == GAME for each in evaluation.rankings):
            raise InvalidInput(
                "there are no weights of the game: it takes two algorithms and two environments, and an evaluation "
                "under the game's weights"
            )
        weight_e: Floats = evaluation.under(GAME).environment_weights
        kind: Weighting = GAME
    else:
        families = evaluation.judging.families if evaluation is not None else table.families
        q_er = fixed(weights, table.algorithms, table.environments, families)
        assert q_er is not None
        weight_e = q_er.sum(axis=1)
        kind = UNIFORM if isinstance(weights, str) else "given"
    if isinstance(normalise, str) and normalise == POLICY_PERCENTILES:
        normalise = PolicyPercentiles(random_policies(table.environments))
    done = summarized(
        table,
        statistics,
        normalise=normalise,
        weight_e=weight_e,
        weights=kind,
        interval=interval,
        delta=delta,
        resamples=resamples,
        seed=seed,
        thresholds=thresholds,
        workers=processors() if workers is None else workers,
        progress=progress,
    )
    return dataclasses.replace(done, evaluation=evaluation)


@takes_options_of(Judging)
def run(
    study: "Study | str | Path",
    folder: str | Path | None = None,
    *,
    judging: Judging | None = None,
    replace: bool = False,
    workers: int | None = None,
    progress: Steps | None = None,
    **options: Any,
) -> Evaluation:
    """Run the missing trials of a study, and return the evaluation of all its trials.

    Parameters
    ----------
    study
        A `Study`, or the path of its TOML file.
    folder
        Where results go, as for `collect_scores`.
    replace
        Whether to set aside the trials of algorithms and environments that have changed, as for `Study.open`.
    judging
        Options as one record; options given by name override its fields.
    workers
        Number of worker processes, by default one per processor. The results do not depend on it.
    progress
        As for `evaluate`.
    **options
        The options of `Judging`, as for `evaluate`; and those of `Session.collect`: ``trials``, ``engine``,
        ``ray_address``, ``keep_going``, ``stop``, ``watch``.

    Raises
    ------
    AlgorithmFails
        When all first trials of an algorithm failed, unless ``keep_going`` is True; finished trials are stored.
    Stopped
        When ``stop`` returned True before all trials were done; finished trials are stored.
    """
    from untuned.collect.session import Session

    judging, collecting = _judging(inspect.signature(Session.collect).parameters, judging, **options)
    with Session.open(study, folder, replace=replace) as session:
        # Before hours of trials, not after them.
        judging.check(*session.names)
        session.collect(workers=workers, **collecting).check_complete()
        table = session.scores()
    source = Imported(table, study=session.folder)
    return evaluate(source, judging=judging, workers=workers, progress=progress)


@takes_options_of(Judging)
def race(
    study: "Study | str | Path",
    goal: str = "best",
    folder: str | Path | None = None,
    *,
    hours: float | None = None,
    max_trials: int | None = None,
    rule: "str | Rule" = "by-cost",
    costs: Any = None,
    judging: Judging | None = None,
    replace: bool = False,
    keep_going: bool = False,
    engine: "str | Engine" = "local",
    workers: int | None = None,
    ray_address: str | None = None,
    watch: "Watch | None" = None,
    look: "Callable[[Look], None] | None" = None,
    progress: Steps | None = None,
    stop: "Callable[[], bool] | None" = None,
    **options: Any,
) -> "Race":
    """Run trials where they help most until a goal is reached, and return the result.

    Trials are run in rounds. After each round, the open pairs of the goal decide how many more trials each cell gets;
    algorithms that no open pair needs get only the trials they need as references. The probability that any verdict is
    ever wrong stays at most delta, whatever the rule, and however often the race is stopped and continued with another
    goal or budget.

    Parameters
    ----------
    study
        A `Study`, or the path of its TOML file; its number of trials is not used.
    goal
        ``"best"``, ``"top:3"``, ``"all"``, ``"vs:mine"`` or pairs, ``"a>b,c>d"``; each also followed by
        ``" within 0.02"``, where differences below that need no verdict.
    folder
        Where results go, as for `collect_scores`; a race that is there is continued.
    hours
        Limit on the race's total wall-clock time, earlier sessions included; None for no limit. A round that is running
        then gets 10 % more.
    max_trials
        Limit on the total number of trials; None for no limit.
    rule
        Which cells get trials: ``"by-cost"``, ``"eliminate"``, ``"equal"``, or a function of a
        `untuned.types.View`.
    costs
        Seconds per trial, [algorithm, environment], instead of the measured ones; or the folder of a raced study, whose
        recorded costs are used to replay its race.
    judging
        Options as one record; options given by name override its fields. Equal weights are the default of a race.
    replace
        Whether to set aside the trials of algorithms and environments that have changed, before a race begins.
    keep_going
        Whether to run all trials of an algorithm whose first ones all failed.
    engine
        What runs trials: ``"local"``, ``"ray"``, ``"in-process"``, or an object with the same methods.
    workers
        Number of worker processes, by default one per processor.
    ray_address
        A running Ray cluster; without it Ray starts one on this machine.
    stop
        Polled; once it returns True, the race stops, and finished trials are stored.
    watch
        Called with the progress of a round.
    look
        Called with the standings after every round.
    progress
        Called with the progress of the final evaluation.
    **options
        The options of `Judging`: ``delta``, ``weights`` and others; not ``intervals``.

    Raises
    ------
    InvalidInput
        Also when delta, the weights, the algorithms or the environments are not those that the race began with.

    Examples
    --------
    >>> import tempfile, untuned
    >>> study = untuned.Study("first", algorithms=["sarsa", "q"], environments=["chain-10-stochastic"], trials=1)
    >>> untuned.race(study, "best", tempfile.mkdtemp(), max_trials=400, workers=1).ending in ("reached", "trials")
    True
    """
    from untuned.races.over_study import raced

    judging, _ = _judging((), judging, **options)
    return raced(
        study,
        goal,
        folder,
        hours=hours,
        max_trials=max_trials,
        rule=rule,
        costs=costs,
        judging=judging,
        replace=replace,
        keep_going=keep_going,
        engine=engine,
        workers=workers,
        ray_address=ray_address,
        watch=watch,
        look=look,
        progress=progress,
        stop=stop,
    )


def plan(
    source: Any, *, workers: int | None = None, progress: Steps | None = None, most: int | None = None, **options: Any
) -> "Plan":
    """Return how many trials would probably decide the pairs that are not separable yet: a prediction, not a guarantee.

    It is the plan of the evaluation's first ranking; that of another is ``plan(evaluation.under("uniform"))``.

    Parameters
    ----------
    source
        An `Evaluation`, or whatever `evaluate` takes.
    workers
        How many threads, by default one per processor; no number depends on it.
    progress
        Called with the name of the step, how much of it is done, and the total.
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
    Under the game's weights, about 28 more trials per cell (88 in all) would probably separate good from poor.
    """
    from untuned.judge.plan import MOST
    from untuned.judge.plan import plan as planned

    found = _judged(source, workers, progress, options)
    return planned(
        found,
        most=MOST if most is None else most,
        workers=processors() if workers is None else workers,
        progress=progress,
    )


def design(
    algorithms: int,
    environments: int,
    trials: int | Sequence[int] | None = None,
    *,
    difference: float | None = None,
    power: float = 0.8,
    heterogeneity: float = 0.5,
    delta: float = 0.05,
    weights: str = "both",
    seed: int = 0,
    workers: int | None = None,
    seconds: float | None = None,
    parallel: int = 1,
    hours: float | None = None,
) -> "Design":
    """Return which differences of scores a planned experiment would detect; no scores are needed.

    The scores are simulated: normal within a cell, the algorithms' means spread at random by half a standard deviation
    of a single trial, and shifted at random on every environment by ``heterogeneity`` standard deviations. The
    differences are those of the aggregate scores under equal weights, between 0 and 1, decided by `pooled`. The
    probability of detecting one is an average: it is smaller where all algorithms are close, larger where the others
    are far apart. The simulation takes a few seconds.

    Pass one of ``trials``, ``difference`` and ``hours``, or none. What 5 trials per cell would find, the usual number
    in papers, is computed in any case: ``found.five``.

    Parameters
    ----------
    algorithms, environments
        How many.
    trials
        Trials per cell, one number or several; by default 5, 10, 30 and 100.
    difference
        A difference worth detecting: computes the number of trials that it takes.
    power
        The probability of detecting a difference.
    heterogeneity
        How much environments disagree on the algorithms, from 0 to 10: 0 if all of them rank algorithms alike.
    delta
        The allowed probability that any verdict is wrong, in (0, 0.5].
    weights
        ``"both"``, the default, where the ranking under the game's weights has half of delta; ``"uniform"`` for equal
        weights alone.
    seed
        Seed of the simulation.
    workers
        How many threads, by default one per processor; no number depends on it.
    seconds
        Duration of one trial, on average over all cells; the result then includes the hours of the experiment.
    parallel
        With ``seconds``: how many trials run at the same time.
    hours
        With ``seconds``: the available hours. Computes how many trials per cell fit into them, and which differences
        these detect.

    Examples
    --------
    >>> import untuned
    >>> found = untuned.design(algorithms=3, environments=6, trials=10, seconds=600, parallel=4)
    >>> 0.1 < found.detectable[0].difference < 0.4
    True
    >>> found.hours_of(10)
    7.5
    """
    from untuned.judge.design import design as designed

    return designed(
        algorithms,
        environments,
        trials,
        difference=difference,
        power=power,
        heterogeneity=heterogeneity,
        delta=delta,
        weights=weights,
        seed=seed,
        workers=processors() if workers is None else workers,
        seconds=seconds,
        parallel=parallel,
        hours=hours,
    )


def plans(found: Evaluation, *, workers: int | None = None, progress: Steps | None = None) -> "tuple[Plan, ...]":
    """Return the `plan` of every ranking of an evaluation, in their order."""
    return tuple(plan(found.under(each.weights), workers=workers, progress=progress) for each in found.rankings)


def _judged(source: Any, workers: int | None, progress: Steps | None, options: Mapping[str, Any]) -> Evaluation:
    """Return ``source`` if it is an evaluation, else its evaluation."""
    if not isinstance(source, Evaluation):
        return evaluate(source, workers=workers, progress=progress, **options)
    if options:
        raise InvalidInput(f"{', '.join(options)} given with an evaluation, which is judged already: leave it out")
    return source


def report(
    source: Any,
    out: str | Path | None = None,
    *,
    title: str | None = None,
    compare_with: Sequence[str | Method | Evaluation] = (),
    study: str | Path | None = None,
    planned: "bool | Plan" = False,
    approximate: bool = False,
    formats: Sequence[str] = ("pdf",),
    command: str | None = None,
    workers: int | None = None,
    progress: Steps | None = None,
    **options: Any,
) -> "Report":
    """Return the report on an evaluation, and write it to ``out``.

    Parameters
    ----------
    source
        An `Evaluation`, or whatever `evaluate` takes: the path of a file or of a study's folder, a data frame, ...
    out
        A file that ends in .html: one page that needs no network. Anything else is a folder for the page, all tables
        (Markdown, CSV, LaTeX), all figures, and the numbers as JSON. None writes nothing; `Report.save` does later.
    title
        Title of the page.
    compare_with
        Interval methods to compare with, all other options equal, or evaluations of the same scores.
    study
        The folder of the study that the scores come from, for its learning curves and hyperparameters; not needed where
        ``source`` is that folder.
    planned
        Whether to add a `plan` for every ranking, which can take as long as judging; or a plan itself.
    approximate
        Whether to add the bootstrap's verdicts, which guarantee nothing.
    formats
        File formats of the figures in a folder: "pdf", "svg", "png".
    command
        The command that reproduces the page, shown on it.
    workers
        How many threads judge, by default one per processor; no number depends on it.
    progress
        Called with the name of the step, how much of it is done, and the total.
    **options
        For `evaluate`.

    Examples
    --------
    >>> import untuned
    >>> scores = {"good": {"a": [3, 4, 5], "b": [2, 3, 2]}, "poor": {"a": [0, 1, 0], "b": [1, 0, 1]}}
    >>> untuned.report(scores, title="Two algorithms")
    <Report: Two algorithms; .save('report.html') writes it>
    """
    from untuned.reports.report import judged_alike, made

    judging, reading = (source.judging, options) if isinstance(source, Evaluation) else _judging(READING, **options)
    check_report(out, judging, compare_with=compare_with, study=study, planned=bool(planned), formats=formats)
    if not isinstance(source, Evaluation | Imported):
        source = read(source, **reading)
    found = _judged(source, workers, progress, options)
    if approximate:
        found = approximated(found, workers=workers, progress=progress)
    folder = study if study is not None else source.study if isinstance(source, Imported) else None
    written = made(
        found,
        title=title,
        command=command,
        compare_with=judged_alike(found, compare_with, workers=workers, progress=progress),
        study=study,
        histories=_histories(found, folder) if folder is not None else getattr(source, "histories", None),
        plans=plans(found, workers=workers, progress=progress) if planned is True else (planned,) if planned else (),
        race=None if folder is None else _course(found, folder),
    )
    if out is not None:
        written.save(out, formats=tuple(formats))
    return written


def check_report(
    out: str | Path | None,
    judging: Judging,
    *,
    compare_with: Sequence[str | Method | Evaluation] = (),
    study: str | Path | None = None,
    planned: bool = False,
    formats: Sequence[str] = ("pdf",),
) -> None:
    """Raise early, before the scores are judged, the errors that `report` would raise afterwards."""
    from untuned.reports.report import check_place

    if out is not None:
        check_place(out)
    for each in compare_with:
        if isinstance(each, str | Method):
            dataclasses.replace(judging, intervals=each)
    if planned:
        from untuned.judge.plan import check_plan

        check_plan(judging)
    # Imported after the page: where both are missing, the message names the extra that brings both.
    from untuned.reports.figures.files import checked_formats

    checked_formats(formats)
    if study is not None:
        from untuned.collect.study_folders import found_folder

        found_folder(study)


def _course(found: Evaluation, folder: str | Path) -> "Course | None":
    """Return how a study was raced; None where it was not, or with other algorithms than those evaluated."""
    from untuned.collect.session import Session
    from untuned.collect.store.connection import explained
    from untuned.collect.store.database import RESULTS_NAME
    from untuned.races.course import Course

    with Session.at(folder) as session, explained(session.folder / RESULTS_NAME):
        course = Course.of(session.race_log())
        if course is None or sorted(course.algorithms) != sorted(found.algorithms):
            return None
        return course.ordered(found.algorithms)


def _histories(found: Evaluation, folder: str | Path) -> "Histories | None":
    from untuned.adapters.histories import read_histories

    if "protocol" in found.provenance:
        # Its runs are not its trials.
        return None
    histories = read_histories(folder)
    if not any((a, e) in histories.cells for a in found.algorithms for e in found.environments):
        raise InvalidInput(
            f"the study in {folder} has no trials of these algorithms on these environments: "
            "name the study that the scores come from"
        )
    return histories
