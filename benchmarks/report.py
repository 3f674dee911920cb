"""The time of a report after the evaluation, the size of its page, and the time until a browser shows it.

    python benchmarks/report.py [--json FILE] [--trials T] [--only page folder] [--boards tiny study ... large]

Boards with histories have those of up to 500 trials per cell, with four hyperparameters and 100 episodes; the paper's
is 11 algorithms on 15 environments with 10,000 trials each. The evaluation uses equal weights, because it is not timed.
"page" is one HTML file, "folder" the page with all tables and all figures as PDF, drawn by two processes. The ratio is
to judging the same scores in this way. A page is opened in Chromium three times: the median time until it is
interactive, and its height before anything is unfolded, 1200 and 390 pixels wide.
"""

import argparse
import shutil
import statistics
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

#: Algorithms, environments, trials, and whether there are histories.
BOARDS = {
    "tiny": (2, 1, 30, False),
    "study": (3, 3, 100, True),
    "small": (4, 4, 300, True),
    "few": (6, 18, 5, False),
    "games": (3, 57, 4, False),
    "middle": (11, 15, 1_000, True),
    "paper": (11, 15, 10_000, True),
    "large": (50, 57, 100, True),
}
#: The boards whose folder is measured.
FOLDERS = ("small", "paper")
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
    """Return generated histories of trials."""
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


def shown(page: Path) -> dict[str, Any]:
    """Return the time until a page is interactive in Chromium, and its height."""
    from playwright.sync_api import sync_playwright

    found: dict[str, Any] = {}
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        for width in (390, 1200):
            times = []
            for _ in range(3):
                view = browser.new_page(viewport={"width": width, "height": 900})
                view.goto(page.resolve().as_uri())
                times.append(view.evaluate("performance.getEntriesByType('navigation')[0].domInteractive") / 1e3)
                found[f"height_{width}"] = view.evaluate("document.documentElement.scrollHeight")
                view.close()
            found["interactive_seconds"] = statistics.median(times)
        browser.close()
    return found


def measured(size: tuple[int, int, int], recorded: bool, part: str, folder: Path) -> dict[str, Any]:
    table = scores(*size)
    judging, evaluation = timed(lambda: untuned.evaluate(table, weights="uniform"))
    kept = histories(table) if recorded else None
    report = Report(evaluation, "A benchmark", "none", untuned.__version__, histories=kept)
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
        "histories": recorded,
        **(shown(written[0]) if part == "page" else {}),
    }


def rows(parts: list[str], boards: list[str], trials: int | None) -> Iterator[recording.Row]:
    """Yield every part of the report on every board."""
    # Compiling and importing are not part of a report.
    with tempfile.TemporaryDirectory() as scratch:
        measured((2, 2, 20), False, "folder" if "folder" in parts else "page", Path(scratch))
    for part in parts:
        for name in boards if part == "page" else [each for each in boards if each in FOLDERS]:
            algorithms, environments, own, recorded = BOARDS[name]
            with tempfile.TemporaryDirectory() as scratch:
                yield measured((algorithms, environments, trials or own), recorded, part, Path(scratch))


def line(row: recording.Row) -> str:
    """Return a line of the table."""
    return (
        f"{row['part']:<6}  {row['algorithms']:>2} x {row['environments']:>2} x {row['trials']:>6,}: "
        f"{row['seconds']:6.1f} s ({row['times_judging_with_equal_weights']:.1f} times judging with equal "
        f"weights), {row['files']} files, page {row['page_megabytes']:.2f} MB"
        + (
            f", interactive after {row['interactive_seconds']:.2f} s, {row['height_1200']:,} pixels high at 1200, "
            f"{row['height_390']:,} at 390"
            if row["part"] == "page"
            else ""
        )
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
    recording.show(rows(options.only, options.boards, options.trials), options, "report", line)


if __name__ == "__main__":
    main()
