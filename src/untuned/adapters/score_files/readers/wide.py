"""Tables in wide form: a column per environment, or, for one environment, a column per algorithm.

With a column of algorithms the other columns are environments. Without one, as in AdaStop's files, the first column
numbers the runs, the others are algorithms, and the file is named after the environment.

An empty cell is a run without a score, NaN, because leaving it out would hide a failure; except where it cannot be a
run: at the end of an algorithm's column, whose length is the number of its runs, and on an environment where an
algorithm has no scores.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from untuned.adapters.score_files import csv_file
from untuned.adapters.score_files.column_names import USUAL, plain
from untuned.adapters.score_files.opening import File
from untuned.adapters.score_files.paths import stem
from untuned.adapters.score_files.reader import Reader, Recognised
from untuned.adapters.score_files.reading import Reading
from untuned.adapters.score_files.rows import Flags, Named, Rows
from untuned.errors import InvalidInput
from untuned.scores import Floats

_SEPARATORS = {".csv": ",;\t", ".tsv": "\t"}
#: Pandas's name for an unnamed index column.
_INDEX = ("", "unnamed:0")
#: Names that columns of scores do not have in wide form: those of tables in long form, and other usual columns.
_OTHERS = {
    *(each for role in ("environment", "score", "step") for each in USUAL[role]),
    *("lr", "learningrate", "gamma", "alpha", "epsilon", "batchsize", "loss"),
    *("time", "walltime", "runtime", "seconds", "duration", "length"),
    *("mean", "std", "stddev", "sd", "sem", "var", "median", "min", "max", "iqm", "rank", "count", "low", "high"),
}


@dataclass(frozen=True)
class _Form:
    """The positions of the columns of algorithms and of runs, if present, and of scores."""

    algorithm: int | None
    runs: tuple[int, ...]
    scores: tuple[int, ...]


def _claims(file: File) -> bool:
    for separator in _SEPARATORS.get(file.suffix, ""):
        names, *rows = csv_file.sample(file, separator) or [[]]
        form = _form(names, Reading())
        other = not _OTHERS.isdisjoint(map(plain, names))
        if form is None or other or len(form.scores) < 2 or not rows or len({*names}) < len(names):
            continue
        if all(len(row) == len(names) and all(_is_number(row[i]) for i in form.scores) for row in rows):
            return True
    return False


def _form(names: Sequence[str], asked: Reading) -> _Form | None:
    """Return the positions of the columns; None if the table is not in wide form."""
    algorithms = _positions(names, asked.algorithm, USUAL["algorithm"])
    runs = _positions(names, asked.run, USUAL["run"])
    index = [0] if names and plain(names[0]) in _INDEX else []
    if len(algorithms) > 1 or not (algorithms or runs or index):
        return None
    taken = {*algorithms, *runs, *index}
    scores = tuple(each for each in range(len(names)) if each not in taken)
    return _Form(algorithms[0] if algorithms else None, tuple(runs or ([] if algorithms else index)), scores)


def _positions(names: Sequence[str], asked: str | None, usual: Sequence[str]) -> list[int]:
    return [i for i, name in enumerate(names) if (name == asked if asked is not None else plain(name) in usual)]


def _is_number(cell: str) -> bool:
    try:
        csv_file.strict_float(cell or "nan")
    except ValueError:
        return False
    return True


def _read(files: Sequence[File], asked: Reading) -> Recognised:
    tables = [_table(file, asked) for file in files]
    by_environment = all(form.algorithm is not None for _, form, _, _ in tables)
    return Recognised(
        (rows for file, table in zip(files, tables, strict=True) for rows in _rows(file, *table)),
        detail="a column per environment" if by_environment else "a column per algorithm",
    )


def _table(file: File, asked: Reading) -> tuple[list[str], _Form, dict[int, Floats], list[list[str]]]:
    """Return the header, its interpretation, the scores of every column, and all rows."""
    separator = max(_SEPARATORS.get(file.suffix, ",;\t"), key=lambda each: len(csv_file.header(file, each)))
    records = csv_file.records(file, separator)
    _, names = next(records)
    form = _form(names, asked)
    if form is None or not form.scores:
        raise InvalidInput(
            f"{file.name} is not in wide form: it needs a column called algorithm, or a column of runs (--run "
            f"NAME), and columns of scores. It has {', '.join(map(repr, names))}"
        )
    if len({*names}) < len(names):
        raise InvalidInput(f"{file.name} has two columns of one name: {', '.join(map(repr, names))}. Rename one")
    rows = [cells for _, cells in records]
    if not rows:
        raise InvalidInput(f"{file.name} has columns and no rows: give one row per run")
    scores = {
        each: np.array(
            [csv_file.number(cells[each] or "nan", file, row, names[each]) for row, cells in enumerate(rows, start=1)],
            dtype=np.float64,
        )
        for each in form.scores
    }
    return names, form, scores, rows


def _rows(
    file: File, names: Sequence[str], form: _Form, scores: dict[int, Floats], rows: Sequence[Sequence[str]]
) -> Iterator[Rows]:
    for column, values in scores.items():
        empty = np.array([not cells[column] for cells in rows])
        keep = ~(_never(form, rows, empty) if form.algorithm is not None else _beyond_end(empty))
        if not keep.any():
            continue
        numbers = np.flatnonzero(keep).tolist()
        algorithm = names[column] if form.algorithm is None else _names(rows, form.algorithm, numbers, file)
        yield Rows(
            place=file.name,
            score=values[keep],
            algorithm=algorithm,
            environment=stem(file.below) if form.algorithm is None else names[column],
            run={names[each] or "run": _names(rows, each, numbers, file) for each in form.runs} or None,
            path=file.below,
            numbers=np.flatnonzero(keep) + 1,
        )


def _beyond_end(empty: Flags) -> Flags:
    """Return which cells are empty, with only empty cells below."""
    return np.logical_and.accumulate(empty[::-1])[::-1]


def _never(form: _Form, rows: Sequence[Sequence[str]], empty: Flags) -> Flags:
    """Return which cells belong to algorithms with only empty cells in the column."""
    whose = np.array([cells[form.algorithm or 0] for cells in rows])
    return ~np.isin(whose, whose[~empty])


def _names(rows: Sequence[Sequence[str]], column: int, numbers: Sequence[int], file: File) -> Named:
    index: dict[str, int] = {}
    codes = [index.setdefault(rows[number][column], len(index)) for number in numbers]
    if "" in index:
        row = next(number for number in numbers if not rows[number][column])
        raise InvalidInput(f"row {row + 1} of {file.name} has no name in column {column + 1}: every score needs one")
    return list(index), np.array(codes, dtype=np.int32)


READER = Reader(name="wide", title="wide table", claims=_claims, read=_read)
