"""The speed of writing and loading a study's results, and their size, against a plain CSV file.

    python benchmarks/store.py [--json FILE] [--rows N] [--written N] [--rounds N]

Rows: {"batch", "returns", "rows_per_second", "vs_csv"}, {"layout", "bytes_per_row", "vs_csv"} and {"load_rows",
"seconds", "vs_csv"}; vs_csv is a ratio of speeds, or of sizes for bytes. The peer is the usual alternative to a store:
a CSV file with an appended line per trial, flushed after each batch, with the draws in separate columns; it is loaded
with Python's csv module. A flush passes the line to the operating system, the store waits for the disk. The trials are
like those of Sarsa on Cart-Pole: six draws, four parameters, 100 + 30 returns.
"""

import argparse
import csv
import dataclasses
import itertools
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import recording
from untuned.collect.definitions.draw import Drawn
from untuned.collect.store.store import Store
from untuned.collect.trial import Trial
from untuned.scores import ScoreTable

#: The paper's algorithms, and as many environments: cells of 10,000 trials make 1.65 million.
ALGORITHMS = [f"algorithm-{number}" for number in range(11)]
ENVIRONMENTS = [f"environment-{number}" for number in range(15)]
FACTS = {
    "name": "benchmark",
    "seed": 1,
    "algorithms": ALGORITHMS,
    "environments": [{"name": name, "score_range": [-1000.0, 1000.0]} for name in ENVIRONMENTS],
}
DRAWS = ("dorder", "iorder", "gamma", "lambda", "epsilon", "step_size")
DYNAMICS = ("pole_mass", "pole_half_length", "cart_mass", "gravity")
MOST_WRITTEN = {1: 2000, 100: 20000, 1000: 50000}


def trials(rows: int, returns: bool) -> list[Trial]:
    """Return trials, their cells in turn, as several workers would deliver them."""
    stream = random.Random(1)
    noise = np.random.default_rng(1)
    cells = itertools.cycle(itertools.product(ALGORITHMS, ENVIRONMENTS))
    return [
        Trial(
            seed=1,
            algorithm=algorithm,
            environment=environment,
            trial=number // (len(ALGORITHMS) * len(ENVIRONMENTS)),
            score=stream.uniform(-100, 100),
            final_return=stream.uniform(-100, 100),
            steps=stream.randrange(100_000),
            seconds=stream.random(),
            draws=tuple(
                Drawn(name, stream.randrange(10) if name.endswith("order") else stream.random(), -1.5, "U(0, 1)")
                for name in DRAWS
            ),
            dynamics={name: stream.random() for name in DYNAMICS},
            definition_version="1",
            fingerprint="0123456789abcdef",
            definition_fingerprint=f"definition of {algorithm}",
            environment_fingerprint=f"facts of {environment}",
            # Whole numbers, as returns of most environments are.
            returns=-noise.geometric(0.01, 100).astype(np.float64) if returns else None,
            final_returns=-noise.geometric(0.01, 30).astype(np.float64) if returns else None,
        )
        for number, (algorithm, environment) in zip(range(rows), cells, strict=False)
    ]


def batches(given: list[Trial], size: int) -> Iterator[list[Trial]]:
    for start in range(0, len(given), size):
        yield given[start : start + size]


def write_store(folder: Path, given: list[Trial], batch: int) -> float:
    with Store.create(folder, FACTS) as store:
        begin = time.perf_counter()
        for each in batches(given, batch):
            store.add(each)
        return time.perf_counter() - begin


def write_csv(path: Path, given: list[Trial], batch: int) -> float:
    begin = time.perf_counter()
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        for each in batches(given, batch):
            for trial in each:
                fields = {key: value for key, value in vars(trial).items() if key not in _NOT_PLAIN}
                drawn = [value for draw in trial.draws for value in (draw.value, draw.log_density)]
                kept = (
                    []
                    if trial.returns is None or trial.final_returns is None
                    else [*trial.returns.tolist(), *trial.final_returns.tolist()]
                )
                writer.writerow([*fields.values(), *drawn, *trial.dynamics.values(), *kept])
            file.flush()
    return time.perf_counter() - begin


_NOT_PLAIN = {"draws", "dynamics", "adapted", "returns", "final_returns"}
_COLUMNS = [each.name for each in dataclasses.fields(Trial) if each.name not in _NOT_PLAIN]


def load_csv(path: Path) -> ScoreTable:
    """Return the scores of a CSV file, read in the usual way."""
    algorithm, environment, score = (_COLUMNS.index(name) for name in ("algorithm", "environment", "score"))
    cells: dict[tuple[str, str], list[float]] = {}
    with path.open(newline="") as file:
        for row in csv.reader(file):
            cells.setdefault((row[algorithm], row[environment]), []).append(float(row[score]))
    return ScoreTable.from_dict(cells, ranges=(-1000.0, 1000.0))


def measure_writing(written: int | None, rounds: int) -> Iterator[recording.Row]:
    for returns, (batch, most) in itertools.product((False, True), MOST_WRITTEN.items()):
        rows = most if written is None else written
        given = trials(rows, returns)
        ours, csvs = [], []
        for _ in range(rounds):
            with tempfile.TemporaryDirectory() as folder:
                ours.append(write_store(Path(folder) / "study", given, batch))
                csvs.append(write_csv(Path(folder) / "scores.csv", given, batch))
                size = (Path(folder) / "study" / "results.sqlite").stat().st_size / rows
                csv_size = (Path(folder) / "scores.csv").stat().st_size / rows
        yield {
            "batch": batch,
            "returns": returns,
            "rows_per_second": round(rows / min(ours)),
            "vs_csv": round(min(csvs) / min(ours), 2),
        }
        if batch == max(MOST_WRITTEN):
            yield {
                "layout": "with returns" if returns else "without returns",
                "bytes_per_row": round(size),
                "vs_csv": round(size / csv_size, 2),
            }


def measure_loading(rows: int, rounds: int) -> Iterator[recording.Row]:
    # The same few thousand trials under new numbers: the content of a row does not affect reading speed.
    few = trials(165 * 20, returns=False)
    with tempfile.TemporaryDirectory() as folder:
        study, path = Path(folder) / "study", Path(folder) / "scores.csv"
        many = (
            dataclasses.replace(each, trial=each.trial + 20 * repeat) for repeat in itertools.count() for each in few
        )
        with Store.create(study, FACTS) as store:
            for start in range(0, rows, 10_000):
                store.add(itertools.islice(many, min(10_000, rows - start)))
        write_csv(path, few, len(few))
        lines = path.read_text()
        with path.open("w") as file:
            for _ in range(max(1, rows // len(few))):
                file.write(lines)
        ours, csvs = [], []
        for _ in range(rounds):
            begin = time.perf_counter()
            with Store.open(study) as store:
                found = int(store.scores().trials.sum())
            ours.append(time.perf_counter() - begin)
            begin = time.perf_counter()
            in_csv = int(load_csv(path).trials.sum())
            csvs.append((time.perf_counter() - begin) * rows / in_csv)
        assert found == rows
        yield {"load_rows": rows, "seconds": round(min(ours), 2), "vs_csv": round(min(csvs) / min(ours), 2)}
        size = (study / "results.sqlite").stat().st_size
        yield {"layout": f"{rows:,} rows", "bytes_per_row": round(size / rows), "megabytes": round(size / 1e6)}


def line(found: recording.Row) -> str:
    """Return a line of the table."""
    if "batch" in found:
        what = f"rows written a second, batches of {found['batch']}{', with returns' if found['returns'] else ''}"
        figure = f"{found['rows_per_second']:,}"
    elif "load_rows" in found:
        what, figure = f"seconds to load {found['load_rows']:,} scores", f"{found['seconds']}"
    else:
        what, figure = f"bytes a row, {found['layout']}", f"{found['bytes_per_row']}"
    return f"{what:<54}{figure:>12}  {found.get('vs_csv', ''):>9}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    recording.add_door(parser)
    parser.add_argument("--rows", type=int, default=1_650_000, help="rows to load")
    parser.add_argument("--written", type=int, help="rows to write, instead of a number for each size of batches")
    parser.add_argument("--rounds", type=int, default=3, help="rounds; the best of each counts")
    options = parser.parse_args()
    given = [options.rows, options.rounds, *([] if options.written is None else [options.written])]
    if min(given) < 1:
        parser.error("every number is 1 or more")
    heading = f"{'':<54}{'ours':>12}  {'times CSV':>9}"
    rows = itertools.chain(
        measure_writing(options.written, options.rounds), measure_loading(options.rows, options.rounds)
    )
    recording.show(rows, options, "store", line, heading)


if __name__ == "__main__":
    main()
