"""A study's trials as one table for other programs."""

import contextlib
import csv
import io
import itertools
import json
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any

from untuned.adapters.score_files.delimited import PIECE
from untuned.adapters.whole_file import whole_file
from untuned.collect.session import Session
from untuned.collect.trial import EXPORTED, Column, label
from untuned.errors import InvalidInput

#: The largest number of characters of the numbers in a row.
_REST = 10_000

#: The values of a trial in the order of the columns: texts, numbers, None, and lists or mappings of them.
Row = tuple[Any, ...]


def write(
    session: Session,
    form: str,
    file: IO[bytes],
    *,
    returns: bool = False,
    seconds: bool = False,
    tell: Callable[[int, int], None] | None = None,
) -> None:
    """Write one row per trial, environment by environment and algorithm by algorithm, by number.

    The columns are those that `Trial` declares. A failed trial has the score that the study counts for it. Durations
    differ from run to run, so they are left out by default.

    Parameters
    ----------
    session
        The session of the study.
    form
        One of `FORMS`.
    file
        Where to write it.
    returns, seconds
        Whether to write the returns of all episodes, too, and how long each trial took.
    tell
        Called repeatedly with the number of trials read so far, and the total.

    Raises
    ------
    InvalidInput
        For another form.
    """
    if form not in FORMS:
        raise InvalidInput(f"format {form!r}: choose {', '.join(FORMS)}")
    options = {None, *(["seconds"] if seconds else []), *(["returns"] if returns else [])}
    columns = [each for each in EXPORTED if each.option in options]
    FORMS[form](_rows(session, columns, returns, tell), columns, file)


def export(
    source: Session | str | Path,
    out: str | Path | IO[bytes],
    *,
    form: str = "csv",
    returns: bool = False,
    seconds: bool = False,
    tell: Callable[[int, int], None] | None = None,
) -> None:
    """Write all trials of a study as one table: the same study gives the same bytes, however it was collected.

    Parameters
    ----------
    source
        The study: a session, or the path of its folder, its TOML file or its ``results.sqlite``.
    out
        The file to write, atomically; or an open binary file.
    form
        ``"csv"``, ``"json"`` or ``"parquet"``.
    returns, seconds
        Whether to write the returns of all episodes, too, and how long each trial took.
    tell
        Called repeatedly with the number of trials read so far, and the total.

    Raises
    ------
    InvalidInput
        For another form, and for a file that cannot be written.
    """
    with contextlib.ExitStack() as ending:
        session = source if isinstance(source, Session) else ending.enter_context(Session.at(source))
        if not isinstance(out, str | Path):
            write(session, form, out, returns=returns, seconds=seconds, tell=tell)
            return
        with whole_file(out) as file:
            write(session, form, file, returns=returns, seconds=seconds, tell=tell)


#: Trials between two calls of ``tell``.
_STEP = 1000


def _rows(
    session: Session, columns: Sequence[Column], returns: bool, tell: Callable[[int, int], None] | None
) -> Iterator[Row]:
    worst = session.failed_scores()
    total = sum(cell.trials for cell in session.status()) if tell is not None else 0
    in_order = operator.itemgetter(*[each.name for each in columns])
    for number, values in enumerate(session.plain_trials(returns=returns)):
        if tell is not None and number % _STEP == 0:
            tell(number, total)
        if values["failure"] is not None:
            values["score"] = worst.get(values["environment"])
        yield in_order(values)


def _flat(content: Iterable[Row], columns: Sequence[Column]) -> Iterator[list[Any]]:
    """Yield rows of numbers and texts: values that have parts are written as JSON."""
    nested = [place for place, each in enumerate(columns) if each.stored in ("draws", "mapping", "returns")]
    for values in content:
        row = list(values)
        for place in nested:
            value = row[place]
            row[place] = "{}" if value == {} else None if value is None else json.dumps(value)
        yield row


def _csv(content: Iterable[Row], columns: Sequence[Column], file: IO[bytes]) -> None:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    try:
        # One call per row. Until Python 3.13 carriage returns are quoted only if they are part of the line's end.
        lines = SimpleNamespace(write=lambda line: text.write(f"{line[:-2]}\n"))
        writer = csv.writer(lines, lineterminator="\r\n")
        writer.writerow(each.heading for each in columns)
        writer.writerows(map(_not_too_long, _flat(content, columns)))
    finally:
        # Otherwise an error would close the file, for example standard output.
        text.detach()


def _not_too_long(row: list[Any]) -> list[Any]:
    """Return a row that can be read again; a table's row is read as a whole."""
    texts = [each for each in row if isinstance(each, str)]
    # Quotation marks are written twice.
    if (
        sum(map(len, texts)) > (PIECE - _REST) // 2
        and sum(len(each) + each.count('"') for each in texts) > PIECE - _REST
    ):
        algorithm, environment, trial = row[:3]
        raise InvalidInput(
            f"{label(algorithm, environment, trial)} has more than {PIECE >> 20} MB of "
            "text, too long for a line of CSV: write --format parquet"
        )
    return row


def _json(content: Iterable[Row], columns: Sequence[Column], file: IO[bytes]) -> None:
    headings = [each.heading for each in columns]
    encoded = json.JSONEncoder(allow_nan=False, ensure_ascii=False).encode
    file.write(b"[")
    for number, values in enumerate(content):
        row = encoded(dict(zip(headings, values, strict=True)))
        # Half a surrogate pair, which a drawn category may have, becomes its escape.
        file.write(b"%b%b" % (b",\n " if number else b"\n ", row.encode(errors="backslashreplace")))
    file.write(b"\n]\n")


#: Number of rows that are converted to columns at a time.
_CHUNK = 100_000


def _parquet(content: Iterable[Row], columns: Sequence[Column], file: IO[bytes]) -> None:
    import polars

    schema = {each.heading: each.kind for each in columns}
    flat = _flat(content, columns)
    frames = [polars.DataFrame(schema=schema)]
    while chunk := list(itertools.islice(flat, _CHUNK)):
        # Declared, not inferred: a column may be empty. Column by column in half the time.
        parts = {name: list(values) for name, values in zip(schema, zip(*chunk, strict=True), strict=True)}
        frames.append(polars.DataFrame(parts, schema=schema))
    polars.concat(frames).write_parquet(file)


#: How each form is written.
FORMS: dict[str, Callable[[Iterable[Row], Sequence[Column], IO[bytes]], None]] = {
    "csv": _csv,
    "parquet": _parquet,
    "json": _json,
}
