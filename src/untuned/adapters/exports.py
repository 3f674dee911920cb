"""A study's trials as one table for other programs."""

import contextlib
import csv
import io
import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from untuned.adapters.score_files.delimited import PIECE
from untuned.adapters.whole_file import whole_file
from untuned.collect.session import Session
from untuned.collect.trial import EXPORTED, Column, plain
from untuned.errors import InvalidInput

#: The largest number of characters of the numbers in a row.
_REST = 10_000

Row = dict[str, Any]
Columns = dict[str, type]


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
    FORMS[form](_rows(session, columns, returns, tell), {each.heading: each.kind for each in columns}, file)


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
        The file to write, whole or not at all; or an open binary file.
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
    for number, trial in enumerate(session.trials(returns=returns)):
        if tell is not None and number % _STEP == 0:
            tell(number, total)
        row = {each.heading: plain(getattr(trial, each.name)) for each in columns}
        if trial.failure is not None:
            row["score"] = worst.get(trial.environment)
        yield row


def _flat(row: Row) -> Row:
    """Return a record whose parts are numbers and texts; nested values are written as JSON."""
    return {key: json.dumps(value) if isinstance(value, (dict, list)) else value for key, value in row.items()}


def _csv(content: Iterable[Row], columns: Columns, file: IO[bytes]) -> None:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    try:
        writer = csv.DictWriter(text, list(columns), lineterminator="\n")
        writer.writeheader()
        writer.writerows(map(_not_too_long, map(_flat, content)))
    finally:
        # Otherwise an error would close the file, for example standard output.
        text.detach()


def _not_too_long(row: Row) -> Row:
    """Return a row that can be read again; a table's row is read as a whole."""
    # Quotation marks are written twice.
    if sum(len(each) + each.count('"') for each in row.values() if isinstance(each, str)) > PIECE - _REST:
        raise InvalidInput(
            f"trial {row['trial']} of {row['algorithm']!r} on {row['environment']!r} has more than {PIECE >> 20} MB of "
            "text, too long for a line of CSV: write --format parquet"
        )
    return row


def _json(content: Iterable[Row], columns: Columns, file: IO[bytes]) -> None:
    file.write(b"[")
    for number, row in enumerate(content):
        file.write(b",\n " if number else b"\n ")
        # Half a surrogate pair, which a drawn category may have, becomes its escape.
        file.write(json.dumps(row, allow_nan=False, ensure_ascii=False).encode(errors="backslashreplace"))
    file.write(b"\n]\n")


#: Number of rows that are converted to columns at a time.
_CHUNK = 100_000


def _parquet(content: Iterable[Row], columns: Columns, file: IO[bytes]) -> None:
    import polars

    flat = map(_flat, content)
    frames = [polars.DataFrame(schema=columns)]
    while chunk := list(itertools.islice(flat, _CHUNK)):
        # Declared, not inferred: a column may be empty.
        frames.append(polars.DataFrame(chunk, schema=columns))
    polars.concat(frames).write_parquet(file)


#: How each form is written.
FORMS: dict[str, Callable[[Iterable[Row], Columns, IO[bytes]], None]] = {
    "csv": _csv,
    "parquet": _parquet,
    "json": _json,
}
