"""`reproduce`: the paper's experiment, from its first trial to its conclusions."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from untuned.adapters.histories import read_histories
from untuned.collect.engines.engine import Stop
from untuned.collect.progress import Watch
from untuned.errors import InvalidInput, Stopped
from untuned.evaluation import Evaluation
from untuned.judge.evaluate import Progress as Steps
from untuned.judge.judging import Judging
from untuned.lab.running import Progress
from untuned.lab.table_two import Replication, replication
from untuned.processors import processors
from untuned.reports import report
from untuned.reproduction.conclusions import conclusions
from untuned.reproduction.experiment import SEED, TESTED, TESTED_ON, study
from untuned.reproduction.result import Reproduction
from untuned.scores import ScoreTable
from untuned.version import __version__

#: The paper's methods; the last one's intervals say how far an estimate is off.
PUBLISHED_METHODS = ("pbp", "pbp-t", "bootstrap")
#: The sizes of samples in Table 2, and how many there are of each: the last take a quarter of a minute each.
SIZES = (10, 30, 100, 1_000, 10_000)
SAMPLES = (50, 50, 50, 20, 5)


def reproduce(
    out: str | Path = "reproduction",
    *,
    trials: int | None = None,
    environments: Sequence[str] | None = None,
    workers: int | None = None,
    watch: Watch | None = None,
    progress: Steps | None = None,
    pieces: Progress | None = None,
    stop: Stop | None = None,
) -> Reproduction:
    """Run the paper's experiment, judge it, and return it compared with the published results; a folder has all of it.

    Trials that are stored are not run again: after a stop or a kill the same call resumes, and with more trials it
    adds them.

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
        Called with the progress of collecting, as by `collect_scores`.
    progress
        Called with the progress of judging, as by `evaluate`.
    pieces
        Called with how many work units of the test of intervals are done, and how many there are.
    stop
        Polled a few times a second; when it returns True, what is finished is kept and the rest left.

    Raises
    ------
    Stopped
        When ``stop`` returned True.
    """
    place = Path(out).expanduser()
    planned = study(trials, environments)
    check_folder(place)
    count = processors() if workers is None else workers
    with planned.open(place / "scores") as session:
        collected = session.collect(workers=count, watch=watch, stop=stop)
        collected.check_complete()
        table = session.scores()

    def judged(judging: Judging) -> Evaluation:
        if stop is not None and stop():
            raise Stopped(f"all {collected.stored:,} trials are in {collected.folder}, and not judged yet")
        return judging.judge(table, workers=count, progress=progress)

    others = tuple(judged(Judging(intervals=name, conventions="paper")) for name in PUBLISHED_METHODS)
    found = judged(Judging())
    tested = intervals_tested(table, place / "table-2" / "record.jsonl", workers=count, progress=pieces, stop=stop)
    made = Reproduction(
        evaluation=found,
        others=others,
        replication=tested,
        conclusions=conclusions(found, others, tested),
        command=command(out, trials, environments),
        version=__version__,
    )
    made.save(place)
    report.made(
        found,
        title="The paper's experiment, reproduced",
        beside=others,
        study=place / "scores",
        histories=read_histories(place / "scores"),
        command=made.command,
    ).save(place / "report.html")
    return made


def check_folder(place: Path) -> None:
    """Refuse an unusable folder before hours of trials, not after them."""
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
    """Return the paper's test of interval methods; None unless its algorithms and environments are there.

    Parameters
    ----------
    table
        All scores.
    record
        The file in which finished work is kept.
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


def command(out: str | Path, trials: int | None, environments: Sequence[str] | None) -> str:
    """Return the command that reproduces it."""
    words = ["untuned", "reproduce"]
    if trials is not None:
        words += ["--trials", str(trials)]
    if environments is not None:
        words += ["--environments", ",".join(environments)]
    return shlex.join([*words, "--out", str(out)])
