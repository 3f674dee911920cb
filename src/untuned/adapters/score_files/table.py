"""Scores in long form, one row per trial, from data frames and files."""

import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from untuned.adapters.score_files import files
from untuned.adapters.score_files.columns import Columns, positions
from untuned.errors import InvalidInput
from untuned.scores import Identical, Nonfinite, Range, ScoreTable


def from_frame(
    frame: Any,
    *,
    algorithm: str = "algorithm",
    environment: str = "environment",
    score: str = "score",
    ranges: Mapping[str, Range] | Range | None = None,
    identical: Identical = (),
    nonfinite: Nonfinite = "error",
    provenance: Mapping[str, str] | None = None,
) -> ScoreTable:
    """Return the scores of a data frame in long form, one row per trial.

    Parameters
    ----------
    frame
        A polars DataFrame or LazyFrame, a pandas DataFrame, a pyarrow Table, or anything else whose columns are
        ``frame[name]``. Further columns are ignored.
    algorithm, environment, score
        The names of the columns with the name of the algorithm, of the environment, and the score. Names may be text,
        categories or integers. A missing score is NaN.
    ranges, identical, nonfinite, provenance
        As for `ScoreTable.from_dict`.

    Raises
    ------
    InvalidInput
        For a column that is not there or not what it should be, and for names that are missing.
    """
    where = "the table"
    wanted = (algorithm, environment, score)
    found = column_names(frame)
    if found is None:
        raise InvalidInput(
            f"{type(frame).__name__} has no columns: pass a data frame of polars, pandas or pyarrow, one row per trial"
        )
    _refuse_index(frame, found, wanted)
    positions(found, wanted, where, lambda: _first_row(frame, found))
    if _is_lazy(frame):
        frame = frame.select(list(wanted)).collect()
    columns = Columns(where, wanted, (frame[algorithm], frame[environment], frame[score]))
    return columns.table(ranges, identical, nonfinite, provenance)


def from_file(
    path: str | os.PathLike[str],
    *,
    algorithm: str = "algorithm",
    environment: str = "environment",
    score: str = "score",
    ranges: Mapping[str, Range] | Range | None = None,
    identical: Identical = (),
    nonfinite: Nonfinite = "error",
    provenance: Mapping[str, str] | None = None,
) -> ScoreTable:
    """Return the scores in a file in long form, one row per trial.

    Parameters
    ----------
    path
        A CSV file (separated by commas or semicolons; tabs for ``.tsv``), JSON lines (``.jsonl``, ``.ndjson``), each
        also packed as ``.gz``, or parquet. Text is UTF-8.
    algorithm, environment, score
        The names of the columns. An empty score is NaN.
    ranges, identical, nonfinite
        As for `ScoreTable.from_dict`.
    provenance
        Added to the file's name and the digest of what is in it.

    Raises
    ------
    InvalidInput
        For a file that cannot be read, and whatever `from_frame` refuses.
    """
    path = Path(path).expanduser()
    data = files.contents(path)
    columns = files.columns(path.name, data, (algorithm, environment, score))
    origin = {"file": path.name, "blake2b": hashlib.blake2b(data, digest_size=8).hexdigest()}
    return columns.table(ranges, identical, nonfinite, {**origin, **(provenance or {})})


def column_names(frame: Any) -> list[str] | None:
    """Return the names of a data frame's columns, or None if it is not a data frame."""
    if _is_lazy(frame):
        return list(frame.collect_schema().names())
    # A pyarrow Table has `columns` too, and they are the columns themselves.
    for attribute in ("column_names", "columns"):
        names = getattr(frame, attribute, None)
        if names is not None and not callable(names) and hasattr(frame, "__getitem__"):
            return list(names)
    if isinstance(frame, Mapping):
        return list(frame)
    names = getattr(getattr(frame, "dtype", None), "names", None)
    return None if names is None else list(names)


def _is_lazy(frame: Any) -> bool:
    return hasattr(frame, "collect_schema") and hasattr(frame, "collect") and not hasattr(frame, "rows")


def _refuse_index(frame: Any, found: Sequence[str], wanted: Sequence[str]) -> None:
    """Refuse a pandas frame that has what is wanted in its index, where columns are not looked for."""
    names = getattr(getattr(frame, "index", None), "names", None)
    hidden = [name for name in wanted if name not in found and name in list(names or ())]
    if hidden:
        raise InvalidInput(
            f"{', '.join(map(repr, hidden))} is in the index of the table, not among its columns: pass "
            "frame.reset_index()"
        )


def _first_row(frame: Any, found: Sequence[str]) -> list[object]:
    if _is_lazy(frame):
        frame = frame.head(1).collect()
    values: list[Any] = [next(iter(frame[name]), None) if found.count(name) == 1 else None for name in found]
    return [value.as_py() if hasattr(value, "as_py") else value for value in values]
