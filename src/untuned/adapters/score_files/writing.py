"""Writing scores: the long format as a file, and the forms that other libraries use."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from untuned.adapters.score_files.frames import rows_of_frame
from untuned.adapters.score_files.importing import Scored, Source, rows_of_paths, scored
from untuned.adapters.score_files.rows import Runs, gathered
from untuned.adapters.sources import as_paths, checked_options, is_frame, read_scores
from untuned.adapters.whole_file import whole_file
from untuned.errors import InvalidInput
from untuned.scores import Floats, ScoreTable

if TYPE_CHECKING:
    import polars


def write_scores(source: Any, out: str | Path, **options: Any) -> str:
    """Write scores in the long format, one row per run, and return a one-line summary.

    The columns are ``algorithm``, ``environment``, ``run`` and ``score``. Learning curves without ``reduce`` keep all
    their points and have a column ``step``. Where trials failed, a column ``failure`` says which.

    Parameters
    ----------
    source
        Any source that `untuned.read_scores` accepts.
    out
        The file, written atomically: ``.csv``, ``.tsv``, ``.jsonl`` or ``.parquet``.
    **options
        Options of `untuned.read_scores`.

    Raises
    ------
    InvalidInput
        For another suffix, and for scores that cannot be read or written.
    """
    write = _FORMS.get(Path(out).suffix.lower())
    if write is None:
        raise InvalidInput(f"{out}: name a file that ends in {', '.join(_FORMS)}")
    frame, summary = _long(source, options)
    with whole_file(out) as file:
        write(frame, file)
    return summary


def _long(source: Any, options: dict[str, Any]) -> "tuple[polars.DataFrame, str]":
    from untuned.collect.study_folders import is_study

    paths = as_paths(source)
    if any(is_study(path) for path in paths):
        raise InvalidInput(
            f"{str(paths[0])!r} is a study: untuned export writes its trials, with all that is known of them"
        )
    if is_frame(source):
        asked = checked_options("a data frame", options)
        rows = Source(gathered([rows_of_frame(source, asked)]), "the table")
    elif paths:
        asked = checked_options("a file", options)
        rows = rows_of_paths(paths, asked)
    else:
        table = read_scores(source, **options)
        return to_polars(table), repr(table)
    # Scores that are not finite are written unchanged: how they count is decided when they are judged.
    found = scored(rows, asked, must_reduce=False)
    runs = found.curves if found.curves is not None and asked.reduce is None else found.runs
    notes = [each.found for each in (*rows.findings, *found.findings)]
    bad = int((~np.isfinite(runs.score)).sum())
    notes += [f"{bad:,} {'score is' if bad == 1 else 'scores are'} NaN or infinite."] if bad else []
    return _frame(runs), " ".join([_said(found, runs) + ("." if notes else ""), *notes])


def _said(found: Scored, written: Runs) -> str:
    n, m = len(written.algorithms), len(written.environments)
    rows = "points of learning curves" if written.step is not None else "scores"
    return f"{written.score.size:,} {rows}, {n} algorithms x {m} environments, from {found.summary}"


def _frame(runs: Runs) -> "polars.DataFrame":
    import polars

    names = next(iter(runs.runs.values())) if runs.runs else None
    columns: dict[str, Any] = {
        "algorithm": _texts(runs.algorithms, runs.algorithm),
        "environment": _texts(runs.environments, runs.environment),
        "run": _numbered(runs.cell) if names is None else _texts(*names),
    }
    if runs.step is not None:
        whole = bool((runs.step == np.floor(runs.step)).all()) and bool((np.abs(runs.step) < 2**53).all())
        columns["step"] = runs.step.astype(np.int64) if whole else runs.step
    columns["score"] = runs.score
    if runs.failed is not None:
        columns["failure"] = np.where(runs.failed, "failed", "")
    return polars.DataFrame(columns)


def _texts(names: tuple[str, ...], codes: Any) -> "polars.Series":
    import polars

    return polars.Series(names, dtype=polars.String).gather(codes)


def _numbered(cell: Any) -> Any:
    """Return the number of every row within its cell, from 1."""
    order = np.argsort(cell, kind="stable")
    sizes = np.unique(cell[order], return_counts=True)[1]
    numbers = np.empty(cell.size, dtype=np.int64)
    numbers[order] = np.concatenate([np.arange(1, size + 1) for size in sizes]) if sizes.size else 0
    return numbers


_FORMS: "dict[str, Callable[[polars.DataFrame, IO[bytes]], Any]]" = {
    ".csv": lambda frame, file: frame.write_csv(file),
    ".tsv": lambda frame, file: frame.write_csv(file, separator="\t"),
    ".jsonl": lambda frame, file: _write_json_lines(frame, file),
    ".parquet": lambda frame, file: frame.write_parquet(file),
}


def _write_json_lines(frame: "polars.DataFrame", file: IO[bytes]) -> None:
    import json

    # Polars writes null for NaN, which is read differently.
    text = io.TextIOWrapper(file, encoding="utf-8", newline="\n", write_through=True)
    for row in frame.iter_rows(named=True):
        text.write(json.dumps(row, ensure_ascii=False) + "\n")
    text.detach()


def to_polars(table: ScoreTable) -> "polars.DataFrame":
    """Return the scores of a table as a polars DataFrame, one row per run: algorithm, environment, run, score.

    Parameters
    ----------
    table
        As `untuned.read_scores` returns it.
    """
    import polars

    return polars.DataFrame(_columns(table))


def to_pandas(table: ScoreTable) -> Any:
    """Return the scores of a table as a pandas DataFrame, one row per run: algorithm, environment, run, score.

    Parameters
    ----------
    table
        As `untuned.read_scores` returns it.
    """
    try:
        import pandas
    except ModuleNotFoundError:
        raise InvalidInput("a pandas DataFrame needs pandas: pip install pandas") from None
    return pandas.DataFrame(_columns(table))


def to_arrow(table: ScoreTable) -> Any:
    """Return the scores of a table as a pyarrow Table, one row per run: algorithm, environment, run, score.

    Parameters
    ----------
    table
        As `untuned.read_scores` returns it.
    """
    try:
        import pyarrow
    except ModuleNotFoundError:
        raise InvalidInput("an Arrow table needs pyarrow: pip install pyarrow") from None
    return pyarrow.table(_columns(table))


def to_rliable(table: ScoreTable) -> dict[str, Floats]:
    """Return the scores in rliable's form: an array of runs x environments for every algorithm.

    The environments are in the order of ``table.environments``, the runs in the order of the table: row i of two
    environments need not be the same run.

    Parameters
    ----------
    table
        As `untuned.read_scores` returns it.

    Raises
    ------
    InvalidInput
        If an algorithm has more runs on some environments than on others.
    """
    for algorithm, row in zip(table.algorithms, table.cells, strict=True):
        sizes = [cell.size for cell in row]
        if len(set(sizes)) > 1:
            few = table.environments[int(np.argmin(sizes))]
            raise InvalidInput(
                f"{algorithm!r} has {min(sizes)} to {max(sizes)} runs per environment ({min(sizes)} on {few!r}), and "
                "a matrix has as many in every column: leave out environments (environments=[...]), or run the "
                "missing trials"
            )
    return {algorithm: np.stack(row, axis=1) for algorithm, row in zip(table.algorithms, table.cells, strict=True)}


def _columns(table: ScoreTable) -> dict[str, list[Any]]:
    """Return the long columns of a table."""
    columns: dict[str, list[Any]] = {"algorithm": [], "environment": [], "run": [], "score": []}
    for a, algorithm in enumerate(table.algorithms):
        for e, environment in enumerate(table.environments):
            size = table.cells[a][e].size
            columns["algorithm"] += [algorithm] * size
            columns["environment"] += [environment] * size
            columns["run"] += map(str, range(1, size + 1)) if table.runs is None else table.runs[a][e].tolist()
            columns["score"] += table.cells[a][e].tolist()
    return columns
