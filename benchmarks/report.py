"""How long a report takes after the evaluation, and how large its page is, for boards of several sizes.

    python benchmarks/report.py [--json FILE] [--trials T] [--only page folder] [--boards small paper large]

The board is the paper's: 11 algorithms on 15 environments with 10,000 trials each, and histories of 500 trials of each
cell with four hyperparameters and 100 episodes. The evaluation is made with equal weights, whose bounds take no time,
because only what comes after it is timed. "page" is one HTML file, "folder" the page with all tables and all figures as
PDF, drawn by two processes. The ratio is to judging the same scores so.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import recording
import untuned
from untuned.histories import Histories, History
from untuned.reports.report import Report
from untuned.scores import ScoreTable

BOARDS = {"small": (4, 4, 300), "paper": (11, 15, 10_000), "large": (50, 57, 100)}
PARTS = ("page", "folder")
WORKERS = 2


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    started = time.perf_counter()
    found = work()
    return time.perf_counter() - started, found


def scores(algorithms: int, environments: int, trials: int) -> ScoreTable:
    """Return a table in which algorithms differ, with declared ranges."""
    rng = np.random.default_rng(0)
    skill = rng.normal(size=(algorithms, environments, 1))
    drawn = np.clip(100.0 * (skill + rng.normal(size=(algorithms, environments, trials))), -1000.0, 1000.0)
    return ScoreTable.from_array(drawn, ranges=(-1000.0, 1000.0))


def histories(table: ScoreTable, most: int = 500, episodes: int = 100) -> Histories:
    """Return what so many trials could have left."""
    rng = np.random.default_rng(1)
    cells = {}
    for a, algorithm in enumerate(table.algorithms):
        for e, environment in enumerate(table.environments):
            first = table.cells[a][e][:most]
            drawn = {
                name: tuple(rng.uniform(size=first.size).tolist()) for name in ("gamma", "lambda", "epsilon", "step")
            }
            returns = tuple(score + rng.normal(size=episodes) for score in first)
            cells[algorithm, environment] = History(first, drawn, dict.fromkeys(drawn, "U(0, 1)"), returns)
    return Histories(cells, most)


def measured(size: tuple[int, int, int], part: str, folder: Path) -> dict[str, Any]:
    table = scores(*size)
    judging, evaluation = timed(lambda: untuned.evaluate(table, weights="uniform"))
    report = Report(evaluation, "A benchmark", "none", untuned.__version__, histories=histories(table))
    place = folder / ("report.html" if part == "page" else "report")
    seconds, written = timed(lambda: report.save(place, workers=WORKERS))
    return {
        "part": part,
        "algorithms": size[0],
        "environments": size[1],
        "trials": size[2],
        "seconds": seconds,
        "files": len(written),
        "page_megabytes": written[0].stat().st_size / 1e6,
        "times_judging_with_equal_weights": seconds / judging,
    }


def rows(parts: list[str], boards: list[tuple[int, int, int]]) -> Iterator[recording.Row]:
    """Yield every part of the report on every board."""
    # Compiling and importing are not part of a report.
    with tempfile.TemporaryDirectory() as scratch:
        measured((2, 2, 20), "folder" if "folder" in parts else "page", Path(scratch))
    for part in parts:
        for size in boards:
            with tempfile.TemporaryDirectory() as scratch:
                yield measured(size, part, Path(scratch))


def line(row: recording.Row) -> str:
    """Return a line of the table."""
    return (
        f"{row['part']:<6}  {row['algorithms']:>2} x {row['environments']:>2} x {row['trials']:>6,}: "
        f"{row['seconds']:6.1f} s ({row['times_judging_with_equal_weights']:.1f} times judging with equal "
        f"weights), {row['files']} files, page {row['page_megabytes']:.1f} MB"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    recording.add_door(parser)
    parser.add_argument("--trials", type=int, help="trials per cell, instead of each board's own number")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--boards", nargs="+", choices=list(BOARDS), default=list(BOARDS), metavar="BOARD")
    options = parser.parse_args()
    if options.trials is not None and options.trials < 1:
        parser.error("--trials is 1 or more")
    boards = [(*BOARDS[name][:2], options.trials or BOARDS[name][2]) for name in options.boards]
    recording.show(rows(options.only, boards), options, "report", line)


if __name__ == "__main__":
    main()
