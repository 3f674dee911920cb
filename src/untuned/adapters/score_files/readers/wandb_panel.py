"""CSV exports of W&B panels: a column of steps, then for every run its value, ``__MIN`` and ``__MAX``."""

import contextlib
import csv
import io
from collections.abc import Iterator, Sequence

import numpy as np

from untuned.adapters.score_files import csv_file
from untuned.adapters.score_files.opening import File
from untuned.adapters.score_files.reader import Reader, Recognised, chosen_metric
from untuned.adapters.score_files.readers.names import RETURNS
from untuned.adapters.score_files.reading import Reading
from untuned.adapters.score_files.rows import Rows
from untuned.errors import InvalidInput

_BETWEEN = " - "
_LIMITS = ("__MIN", "__MAX")


def _claims(file: File) -> bool:
    if file.suffix != ".csv":
        return False
    first = file.head.partition(b"\n")[0]
    try:
        header = next(csv.reader([first.decode("utf-8-sig")]), [])
    except (UnicodeDecodeError, csv.Error):
        return False
    return any(f"{name}__MIN" in header for name in header[1:] if _BETWEEN in name)


def _read(files: Sequence[File], asked: Reading) -> Recognised:
    metric: str | None = None
    parts: list[Rows] = []
    for file in files:
        lines = _lines(file)
        header = next(lines, (1, []))[1]
        # A metric's name may contain " - ", too: the user's text takes precedence.
        found = dict.fromkeys(_metric(name, asked.metric) for name in _values(header))
        if metric is None:
            metric = chosen_metric([name for name in found if name != "_step"], asked.metric, RETURNS, file.name)
        columns = {name: number for name, number in _values(header).items() if _metric(name, asked.metric) == metric}
        if not columns:
            raise InvalidInput(
                f"{file.name} has no metric {metric!r}: it has {', '.join(found)}. Choose one that every file has with "
                "--metric NAME"
            )
        parts += _runs(file, header, columns, metric, lines)
    return Recognised(parts, f"metric {metric}; W&B samples panels, at most 500 points per run by default")


def _metric(column: str, asked: str | None) -> str:
    return asked if asked is not None and column.endswith(_BETWEEN + asked) else column.rpartition(_BETWEEN)[2]


def _values(header: Sequence[str]) -> dict[str, int]:
    """Return the columns that have values, by name."""
    found: dict[str, int] = {}
    for number, name in enumerate(header):
        if number and _BETWEEN in name and not name.endswith(_LIMITS):
            if name in found:
                raise InvalidInput(
                    f"two columns are called {name!r}, so that their runs cannot be distinguished: rename runs in W&B, "
                    "and export the panel again"
                )
            found[name] = number
    return found


def _runs(
    file: File, header: Sequence[str], columns: dict[str, int], metric: str, lines: Iterator[tuple[int, list[str]]]
) -> Iterator[Rows]:
    """Yield the rows of every run."""
    limits = [(n, [header.index(name + end) for end in _LIMITS if name + end in header]) for name, n in columns.items()]
    steps, scores = ([list[float]() for _ in columns] for _ in range(2))
    numbers = [list[int]() for _ in columns]
    for line, cells in lines:
        step = _number(cells[0], file, line, header[0])
        for run, (column, others) in enumerate(limits):
            if not cells[column].strip():
                continue
            value = _number(cells[column], file, line, header[column])
            for other in others:
                limit = _number(cells[other], file, line, header[other]) if cells[other].strip() else value
                if limit != value and not (np.isnan(limit) and np.isnan(value)):
                    raise InvalidInput(_about_groups(file, line, header[other]))
            steps[run].append(step)
            scores[run].append(value)
            numbers[run].append(line)
    for run, name in enumerate(columns):
        if not steps[run]:
            raise InvalidInput(
                f"column {name!r} of {file.name} has no values: if that run failed, it is a trial all the same; "
                "otherwise hide it in W&B, and export the panel again"
            )
        yield Rows(
            file.name,
            np.array(scores[run], dtype=np.float64),
            step=np.array(steps[run], dtype=np.float64),
            path=name.removesuffix(_BETWEEN + metric),
            numbers=np.array(numbers[run], dtype=np.int64),
        )


def _about_groups(file: File, line: int, column: str) -> str:
    return (
        f"line {line:,} of {file.name}: {column!r} differs from the value, so that values are means, over a group of "
        "runs or over neighbouring points. Means are not trials: remove the grouping of runs in W&B, set the panel's "
        "sampling to random instead of full fidelity, and export it again, or read the files run-*.wandb"
    )


def _number(cell: str, file: File, line: int, column: str) -> float:
    with contextlib.suppress(ValueError):
        return csv_file.strict_float(cell)
    raise InvalidInput(
        f"line {line:,} of {file.name}: {cell[:40]!r} in column {column!r} is not a number: export the panel again"
    )


def _lines(file: File) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of every line and its cells."""
    with file.stream() as stream:
        reader = csv.reader(io.TextIOWrapper(stream, encoding="utf-8-sig", newline=""), strict=True)
        width = None
        try:
            for cells in reader:
                width = len(cells) if width is None else width
                if len(cells) not in (0, width):
                    raise InvalidInput(
                        f"line {reader.line_num:,} of {file.name} has {len(cells)} cells, the first line {width}: "
                        "export the panel again"
                    )
                if cells:
                    yield reader.line_num, cells
        except (UnicodeDecodeError, csv.Error) as error:
            raise InvalidInput(
                f"line {reader.line_num + 1:,} of {file.name} is not CSV in UTF-8 ({error}): export the panel again"
            ) from None


READER = Reader(name="wandb-panel", title="W&B panel export", claims=_claims, read=_read)
