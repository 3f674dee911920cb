"""The speed and memory of reading files of scores, against plain polars and pandas.

    python benchmarks/reading.py [--json FILE] [--rows N] [--few N] [--only scores curves parquet peers]

Rows: {"what", "reader", "rows", "megabytes", "seconds", "rows_per_second", "peak_megabytes", "peak_to_file"}; those of
the peers also have "vs_untuned", a ratio of times. "scores" is a CSV file with a row per run, "curves" one with a row
per point of a learning curve, reduced by the mean, "parquet" the same points as Parquet. The peers do less: they read a
CSV file of scores and group them by cell, without checking runs, quotation marks or invalid numbers. Every reading has
a separate process, whose peak is that of the resident set, with the file in the cache of the operating system; imports
are not timed, but are part of the peak.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars

import recording

ALGORITHMS, ENVIRONMENTS = 11, 15
#: Points of a learning curve.
POINTS = 100
PARTS = ("scores", "curves", "parquet", "peers")
CHUNK = 1_000_000

_MEASURED = """
import json, time
from recording import peak
{imports}
started = time.perf_counter()
{work}
seconds = time.perf_counter() - started
assert scores == {rows}, scores
print(json.dumps([seconds, peak()]))
"""
#: Lazily imported modules count as imports.
_UNTUNED = (
    "import polars, untuned, untuned.collect.session\nuntuned.read_scores(polars.DataFrame("
    "{'algorithm': ['a'], 'environment': ['x'], 'score': [1.0]}))",
    "scores = int(untuned.read_scores(PATH, **OPTIONS).trials.sum())",
)
_POLARS = (
    "import polars",
    "cells = polars.read_csv(PATH).group_by('algorithm', 'environment').agg('score')\n"
    "scores = int(cells['score'].list.len().sum())",
)
_PANDAS = (
    "import pandas",
    "cells = pandas.read_csv(PATH).groupby(['algorithm', 'environment'])['score'].apply(lambda cell: cell.to_numpy())\n"
    "scores = int(cells.map(len).sum())",
)


def frames(rows: int, curves: bool) -> Iterator[polars.DataFrame]:
    """Yield rows in pieces: run after run, as several workers would deliver them."""
    rng = np.random.default_rng(1)
    cells = ALGORITHMS * ENVIRONMENTS
    algorithm = polars.Series([f"algorithm-{number}" for number in range(ALGORITHMS)])
    environment = polars.Series([f"environment-{number}" for number in range(ENVIRONMENTS)])
    for begin in range(0, rows, CHUNK):
        row = np.arange(begin, min(begin + CHUNK, rows))
        run = row // POINTS if curves else row
        columns = {
            "algorithm": algorithm.gather(run % cells // ENVIRONMENTS),
            "environment": environment.gather(run % ENVIRONMENTS),
            "run": run // cells,
            **({"step": row % POINTS * 1000} if curves else {}),
            "score": rng.normal(size=row.size) * 100.0,
        }
        yield polars.DataFrame(columns)


def write_csv(path: Path, rows: int, curves: bool) -> None:
    with path.open("wb") as file:
        for number, frame in enumerate(frames(rows, curves)):
            frame.write_csv(file, include_header=not number)


def write_parquet(path: Path, rows: int) -> None:
    """Write points of curves with the data frame's own method: in groups of rows."""
    import pyarrow.parquet

    writer = None
    for frame in frames(rows, curves=True):
        table = frame.to_arrow()
        writer = writer or pyarrow.parquet.ParquetWriter(path, table.schema)
        writer.write_table(table)
    assert writer is not None
    writer.close()


def measured(work: tuple[str, str], path: Path, scores: int, **options: str) -> tuple[float, float]:
    """Return the seconds and the peak of memory of a process that reads a file."""
    program = _MEASURED.format(
        imports=work[0],
        work=work[1].replace("PATH", repr(str(path))).replace("OPTIONS", repr(options)),
        rows=scores,
    )
    finished = subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])},
    )
    seconds, peak = json.loads(finished.stdout)
    return seconds, peak


def row(what: str, reader: str, rows: int, path: Path, seconds: float, peak: float) -> recording.Row:
    size = path.stat().st_size
    return {
        "what": what,
        "reader": reader,
        "rows": rows,
        "megabytes": size / 1e6,
        "seconds": seconds,
        "rows_per_second": round(rows / seconds),
        "peak_megabytes": peak / 1e6,
        "peak_to_file": peak / size,
    }


def reading(options: argparse.Namespace) -> Iterator[recording.Row]:
    with tempfile.TemporaryDirectory() as folder:
        for what in options.only:
            path = Path(folder) / ("x.parquet" if what == "parquet" else "x.csv")
            if what == "peers":
                yield from peers(path, options.few)
                continue
            rows = options.rows
            curves = what != "scores"
            write_parquet(path, rows) if what == "parquet" else write_csv(path, rows, curves)
            scores = -(-rows // POINTS) if curves else rows
            found = measured(_UNTUNED, path, scores, **({"reduce": "mean"} if curves else {}))
            yield row(what, "untuned", rows, path, *found)
            path.unlink()


def peers(path: Path, rows: int) -> Iterator[recording.Row]:
    write_csv(path, rows, curves=False)
    ours = min(measured(_UNTUNED, path, rows) for _ in range(3))
    yield row("peers", "untuned", rows, path, *ours)
    for name, work in (("polars", _POLARS), ("pandas", _PANDAS)):
        found = min(measured(work, path, rows) for _ in range(3))
        yield {**row("peers", name, rows, path, *found), "vs_untuned": found[0] / ours[0]}


def line(found: recording.Row) -> str:
    ratio = f", {found['vs_untuned']:.2f} times untuned's time" if "vs_untuned" in found else ""
    return (
        f"{found['what']:8} {found['reader']:8} {found['rows']:>11,} rows, {found['megabytes']:>7,.0f} MB: "
        f"{found['seconds']:.1f} s, {found['rows_per_second']:,} rows/s, peak {found['peak_megabytes']:,.0f} MB, "
        f"{found['peak_to_file']:.2f} times the file{ratio}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the large files")
    parser.add_argument("--few", type=int, default=1_650_000, help="rows that the peers read as well")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    recording.add_door(parser)
    options = parser.parse_args()
    recording.show(reading(options), options, "reading", line)


if __name__ == "__main__":
    main()
