"""`reproduce`: the paper's experiment, from its first trial to its conclusions."""

import shlex
from collections.abc import Callable, Sequence
from pathlib import Path

from untuned.adapters.histories import read_histories
from untuned.collect.engines.engine import Stop
from untuned.collect.progress import Watch
from untuned.collect.study import Study
from untuned.errors import InvalidInput, Stopped
from untuned.evaluation import Evaluation
from untuned.judge.judging import BOTH, Judging
from untuned.judge.threads import Progress as Steps
from untuned.lab.running import Progress
from untuned.lab.table_two import Replication, replication
from untuned.processors import processors
from untuned.races.course import Course
from untuned.races.over_study import raced as raced_over
from untuned.races.racing import Look
from untuned.races.result import Race
from untuned.reports import report
from untuned.reproduction.conclusions import claims, conclusions
from untuned.reproduction.experiment import ALGORITHMS, HOURS, SEED, TESTED, TESTED_ON, study
from untuned.reproduction.prices import Prices
from untuned.reproduction.result import Reproduction
from untuned.scores import ScoreTable
from untuned.version import __version__

#: The paper's methods; the last one's intervals give the error of an estimate.
PUBLISHED_METHODS = ("pbp", "pbp-t", "bootstrap")
#: The sizes of samples in Table 2, and the number of samples of each: the largest take 15 seconds each.
SIZES = (10, 30, 100, 1_000, 10_000)
SAMPLES = (50, 50, 50, 20, 5)


def reproduce(
    out: str | Path = "reproduction",
    *,
    trials: int | None = None,
    hours: float | None = None,
    environments: Sequence[str] | None = None,
    workers: int | None = None,
    watch: Watch | None = None,
    look: Callable[[Look], None] | None = None,
    progress: Steps | None = None,
    pieces: Progress | None = None,
    stop: Stop | None = None,
) -> Reproduction:
    """Run the paper's experiment, judge it, and compare it with the published results; everything is saved in a folder.

    Stored trials are not run again: after a stop or a kill the same call resumes, and a larger number of trials adds
    the missing ones.

    Parameters
    ----------
    out
        The folder: ``reproduction.html`` to read, ``reproduction.json``, tables, figures, ``report.html`` on the
        evaluation, and all trials under ``scores``.
    trials
        Trials per algorithm and environment; the paper had 10,000. By default a race for the paper's conclusions
        decides which cells get trials.
    hours
        The total time of collecting; by default twenty minutes, with judging about half an hour.
    environments
        Some of the paper's fifteen; all by default.
    workers
        Number of worker processes, by default one per processor. The results do not depend on it.
    watch
        Called with the progress of collecting, as by `collect_scores`.
    look
        Called with the standings after every round of the race.
    progress
        Called with the progress of judging, as by `evaluate`.
    pieces
        Called with the number of finished work units of the test of intervals, and the total.
    stop
        Polled several times per second; when it returns True, the call stops and keeps finished work.

    Raises
    ------
    Stopped
        When ``stop`` returned True.
    """
    place = Path(out).expanduser()
    planned = study(trials, environments)
    if trials is not None and hours is not None:
        raise InvalidInput("trials and hours were given: pass one, trials for equal numbers, hours for a race")
    check_folder(place)
    count = processors() if workers is None else workers
    raced: Race | None = None
    if trials is None:
        limit = HOURS if hours is None else hours
        raced = _raced(planned, place / "scores", limit, count, watch=watch, look=look, stop=stop)
    with planned.open(place / "scores") as session:
        if raced is None:
            session.collect(workers=count, watch=watch, stop=stop).check_complete()
        table = session.scores()
        cost_ae = session.seconds()
        course = Course.of(session.race_log())

    def judged(judging: Judging) -> Evaluation:
        if stop is not None and stop():
            raise Stopped(f"all {int(table.trials.sum()):,} trials are in {place / 'scores'}, and not judged yet")
        return judging.judge(table, workers=count, progress=progress)

    others = tuple(judged(Judging(intervals=name, conventions="paper")) for name in PUBLISHED_METHODS)
    found = judged(Judging())
    tested = intervals_tested(table, place / "table-2" / "record.jsonl", workers=count, progress=pieces, stop=stop)
    made = Reproduction(
        evaluation=found,
        others=others,
        replication=tested,
        conclusions=conclusions(
            found, others, tested, Prices(found, cost_ae, raced.looks[-1] if raced is not None else None, count)
        ),
        command=command(out, trials, hours, environments),
        version=__version__,
    )
    made.save(place)
    report.made(
        found,
        title="The paper's experiment, reproduced",
        compare_with=others,
        study=place / "scores",
        histories=read_histories(place / "scores"),
        race=course,
        command=made.command,
    ).save(place / "report.html")
    return made


def _raced(
    planned: Study,
    folder: Path,
    hours: float,
    workers: int,
    *,
    watch: Watch | None,
    look: Callable[[Look], None] | None,
    stop: Stop | None,
) -> Race:
    """Race for the paper's conclusions on pairs of algorithms."""
    pairs = dict.fromkeys(pair for _, _, some in claims(ALGORITHMS) for pair in some)
    found = raced_over(
        planned,
        ",".join(f"{better}>{worse}" for better, worse in pairs),
        folder,
        hours=hours,
        judging=Judging(weights=BOTH),
        workers=workers,
        watch=watch,
        look=look,
        stop=stop,
        judged=False,
    )
    if found.ending == "stopped" or not found.looks:
        raise Stopped(f"{found.looks[-1].trials if found.looks else 0:,} trials of complete rounds are in {folder}")
    return found


def check_folder(place: Path) -> None:
    """Refuse an unusable folder before hours of trials rather than afterwards."""
    if place.is_file() or place.suffix.lower() in (".html", ".htm"):
        raise InvalidInput(f"{place} is not a folder, as a reproduction is: name another")
    report.check_place(place / "report.html")
    for name in ("figures", "tables", "scores", "table-2"):
        if (place / name).is_file():
            raise InvalidInput(f"{place / name} is a file, where a reproduction has a folder: name another folder")


def intervals_tested(
    table: ScoreTable,
    record: Path,
    *,
    workers: int,
    progress: Progress | None = None,
    stop: Stop | None = None,
) -> Replication | None:
    """Return the paper's test of interval methods; None unless all its algorithms and environments are included.

    Parameters
    ----------
    table
        All scores.
    record
        The file for finished work.
    workers, progress, stop
        As for `untuned.lab.replication`.
    """
    if not set(TESTED_ON) <= set(table.environments):
        return None
    return replication(
        table.select(TESTED, TESTED_ON),
        trials=SIZES,
        samples=SAMPLES,
        seed=SEED,
        workers=workers,
        record=record,
        progress=progress,
        stop=stop,
    )


def command(out: str | Path, trials: int | None, hours: float | None, environments: Sequence[str] | None) -> str:
    """Return the command that reproduces it."""
    words = ["untuned", "reproduce"]
    if trials is not None:
        words += ["--trials", str(trials)]
    if hours is not None:
        words += ["--hours", f"{hours:g}"]
    if environments is not None:
        words += ["--environments", ",".join(environments)]
    return shlex.join([*words, "--out", str(out)])
