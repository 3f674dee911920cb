"""What `untuned.reproduce` does between collecting and writing."""

import shlex
from collections.abc import Callable, Sequence
from pathlib import Path

from untuned.errors import InvalidInput
from untuned.lab.running import Progress
from untuned.lab.table_two import Replication, replication
from untuned.reports.report import check_place
from untuned.reproduction.experiment import SEED, TESTED, TESTED_ON
from untuned.scores import ScoreTable

#: The paper's methods; the last one's intervals say how far an estimate is off.
PUBLISHED_METHODS = ("pbp", "pbp-t", "bootstrap")
#: The sizes of samples in Table 2, and how many there are of each: the last take a quarter of a minute each.
SIZES = (10, 30, 100, 1_000, 10_000)
SAMPLES = (50, 50, 50, 20, 5)


def check_folder(place: Path) -> None:
    """Refuse a place for files before hours of trials, not after them."""
    if place.is_file() or place.suffix.lower() in (".html", ".htm"):
        raise InvalidInput(f"{place} is no folder, which a reproduction is: name one that is there, or a new one")
    check_place(place / "report.html")
    for name in ("figures", "tables", "scores", "table-2"):
        if (place / name).is_file():
            raise InvalidInput(f"{place / name} is a file, where a reproduction has a folder: name another folder")


def intervals_tested(
    table: ScoreTable,
    record: Path,
    *,
    workers: int,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
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
    """Return what to type to make it again."""
    words = ["untuned", "reproduce"]
    if trials is not None:
        words += ["--trials", str(trials)]
    if environments is not None:
        words += ["--environments", ",".join(environments)]
    return shlex.join([*words, "--out", str(out)])
