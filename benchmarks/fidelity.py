"""Whether our algorithms' scores agree with the paper's: means per cell compared with published ones, as z-scores.

    python benchmarks/fidelity.py --trials 1000 --environments chain-10-deterministic

The published means are the paper's, or those of a file with columns environment, algorithm and mean (--against); cells
without one are run and printed without a comparison. z is the difference of the means over its standard error,
sd * sqrt(1/trials + 1/10000), with the spread of our trials: the published means are of 10,000 trials each. Scores have
heavy lower tails, so with few trials, or a rare event that none of them includes, the spread is too small and z means
little: repeat a miss with more trials before believing it.
"""

import argparse
import csv
import dataclasses
import math
import os
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from pathlib import Path

import numpy as np

import recording
import untuned
from untuned.collect.definitions.definition import Definition
from untuned.collect.environments.environment import Budget, CompiledEnvironment
from untuned.collect.runner.trial import PRECISIONS, run_trial
from untuned.collect.trial import Trial
from untuned.reproduction import published

Cell = tuple[CompiledEnvironment, Definition]


def published_means(path: Path) -> dict[tuple[str, str], float]:
    with path.open(newline="", encoding="utf-8-sig") as lines:
        rows = csv.DictReader(lines)
        if not {"environment", "algorithm", "mean"} <= set(rows.fieldnames or ()):
            raise ValueError("columns are missing")
        means = {(row["environment"], row["algorithm"]): float(row["mean"] or "nothing") for row in rows}
    if not all(map(math.isfinite, means.values())):
        raise ValueError("a mean is not a finite number")
    return means


def the_paper_s() -> dict[tuple[str, str], float]:
    return {(environment, algorithm): entry.value for (algorithm, environment), entry in published.means().items()}


def finished_cells(
    cells: list[Cell], trials: int, seed: int, precision: str, workers: int
) -> Iterator[tuple[Cell, list[Trial]]]:
    """Yield every cell with its results, in order; trials of the next cells start before a cell's last one ends."""
    stopping = threading.Event()

    def results(cell: Cell, first: int, last: int) -> list[Trial]:
        environment, definition = cell
        done = []
        for trial in range(first, last):
            begin = time.thread_time()
            result = run_trial(
                definition, environment, seed=seed, trial=trial, precision=precision, stop=stopping.is_set
            )
            # CPU time, which does not depend on the machine's load.
            done.append(dataclasses.replace(result, seconds=time.thread_time() - begin))
        return done

    size = max(1, min(25, trials // (4 * workers)))
    jobs = (
        (cell, first, min(first + size, trials))
        for cell in cells
        for first in range(0, trials, size)
        if first > 0 or compiled(cell, precision)
    )
    with ThreadPoolExecutor(workers) as pool:
        try:
            # A few ahead are enough to keep all workers busy.
            waiting: list[tuple[Cell, Future[list[Trial]]]] = []
            for cell in cells:
                done: list[Trial] = []
                while len(done) < trials:
                    waiting += [
                        (job[0], pool.submit(results, *job)) for job in islice(jobs, 8 * workers - len(waiting))
                    ]
                    owner, future = waiting.pop(0)
                    assert owner is cell
                    done += future.result()
                yield cell, done
        finally:
            stopping.set()
            pool.shutdown(wait=True, cancel_futures=True)


def compiled(cell: Cell, precision: str) -> bool:
    """Run a few episodes, so that the cost of the following trials does not include compiling."""
    environment, definition = cell
    episodes = min(20, environment.budget.episodes or 20)
    short = dataclasses.replace(environment, budget=Budget(episodes=episodes))
    run_trial(definition, short, precision=precision)
    return True


def z_score(scores: list[float], mean: float) -> float | None:
    """Return the difference of the means over its standard error; None where the scores have no spread."""
    spread = float(np.std(scores, ddof=1)) if len(scores) > 1 else 0.0
    error = spread * math.sqrt(1.0 / len(scores) + 1.0 / published.TRIALS)
    return (float(np.mean(scores)) - mean) / error if error > 0.0 else None


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--trials", type=int, default=1000, help="trials per cell")
    parser.add_argument("--environments", nargs="+", metavar="NAME", help="all fifteen if left out")
    parser.add_argument("--algorithms", nargs="+", metavar="NAME", help="the paper's eleven if left out")
    parser.add_argument("--against", type=Path, metavar="CSV", help="published means: environment, algorithm, mean")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--precision", choices=list(PRECISIONS), default="float64")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    recording.add_door(parser)
    arguments = parser.parse_args()
    if arguments.trials < 1 or arguments.workers < 1:
        parser.error("--trials and --workers are 1 or more")

    try:
        means = published_means(arguments.against) if arguments.against else the_paper_s()
        environments = [untuned.environment(name) for name in split(arguments.environments)] or untuned.environments()
        algorithms = [untuned.algorithm(name) for name in split(arguments.algorithms)] or untuned.algorithms()[:11]
    except (untuned.UntunedError, OSError) as error:
        parser.error(str(error))
    except (ValueError, csv.Error):
        parser.error(f"{arguments.against} needs columns environment, algorithm and mean, with a number in the last")

    cells = [(environment, definition) for environment in environments for definition in algorithms]
    try:
        report(cells, means, arguments)
    except untuned.UntunedError as error:
        parser.error(str(error))


def report(cells: list[Cell], means: dict[tuple[str, str], float], arguments: argparse.Namespace) -> None:
    if means and not means.keys() & {(environment.name, definition.name) for environment, definition in cells}:
        print("warning: the file has none of these cells: are its names those of `untuned list`?", file=sys.stderr)
    heading = f"{'environment':28}{'algorithm':13}{'trials':>7}{'mean':>11}{'median':>11}{'published':>11}{'z':>8}"
    rows = recording.show(measured(cells, means, arguments), arguments, "fidelity", line, heading)
    misses = [abs(row["z"]) for row in rows if row["z"] is not None]
    if misses:
        # A normal |z| exceeds 3 with probability 0.0027.
        print(
            f"{len(misses)} cells compared: {sum(z > 3 for z in misses)} beyond 3 "
            f"(chance: {0.0027 * len(misses):.1f}), {sum(z > 4.5 for z in misses)} beyond 4.5; "
            f"root mean square z {np.sqrt(np.mean(np.square(misses))):.2f}",
            file=sys.stderr,
        )


def measured(
    cells: list[Cell], means: dict[tuple[str, str], float], arguments: argparse.Namespace
) -> Iterator[recording.Row]:
    """Yield the result of every cell."""
    for (environment, definition), results in finished_cells(
        cells, arguments.trials, arguments.seed, arguments.precision, arguments.workers
    ):
        scores = [each.score for each in results]
        known = means.get((environment.name, definition.name))
        yield {
            "environment": environment.name,
            "algorithm": definition.name,
            "trials": len(scores),
            "mean": float(np.mean(scores)),
            "published": known,
            "z": None if known is None else z_score(scores, known),
            "sd": float(np.std(scores, ddof=1)) if len(scores) > 1 else None,
            "median": float(np.median(scores)),
            "minimum": float(np.min(scores)),
            "diverged": float(np.mean([each.diverged for each in results])),
            "steps": float(np.mean([each.steps for each in results])),
            "seconds": float(np.mean([each.seconds for each in results])),
        }


def line(row: recording.Row) -> str:
    """Return a line of the table."""
    return (
        f"{row['environment']:28}{row['algorithm']:13}{row['trials']:7}{row['mean']:11.2f}{row['median']:11.2f}"
        + ("" if row["published"] is None else f"{row['published']:11.1f}")
        + ("" if row["z"] is None else f"{row['z']:8.2f}")
    )


def split(names: list[str] | None) -> list[str]:
    """Return names given separately or separated by commas; commas inside brackets belong to a name."""
    text = ",".join(names or [])
    parts = [""]
    depth = 0
    for letter in text:
        depth += (letter == "[") - (letter == "]")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


if __name__ == "__main__":
    main()
