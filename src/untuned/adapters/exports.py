"""A study's trials as one table for other programs."""

import csv
import io
import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import IO, Any

from untuned.collect.store.store import Store
from untuned.collect.trial import EXPORTED, Column, plain
from untuned.errors import InvalidInput

Row = dict[str, Any]
Columns = dict[str, type]


def write(store: Store, form: str, file: IO[bytes], *, returns: bool = False, seconds: bool = False) -> None:
    """Write one row per trial, environment by environment and algorithm by algorithm, by number.

    The columns are those that `Trial` declares. A trial that failed has the score that the study counts for it. How
    long a trial took differs from run to run, so it is left out unless asked for.

    Parameters
    ----------
    store
        The study's.
    form
        One of `FORMS`.
    file
        Where to.
    returns, seconds
        Whether to write the returns of all episodes, too, and how long each trial took.

    Raises
    ------
    InvalidInput
        For another form.
    """
    if form not in FORMS:
        raise InvalidInput(f"format {form!r}: choose {', '.join(FORMS)}")
    options = {None, *(["seconds"] if seconds else []), *(["returns"] if returns else [])}
    columns = [each for each in EXPORTED if each.option in options]
    FORMS[form](_rows(store, columns, returns), {each.heading: each.kind for each in columns}, file)


def _rows(store: Store, columns: Sequence[Column], returns: bool) -> Iterator[Row]:
    facts = store.facts
    worst = {
        each["name"]: each["score_range"][0]
        for each in facts["environments"]
        if facts.get("failures") == "worst" and each.get("score_range")
    }
    # Algorithms and environments that were taken out of the study are left out: a new run would not have them either.
    for trial in store.trials(*store.compared, returns=returns):
        row = {each.heading: plain(getattr(trial, each.name)) for each in columns}
        if trial.failure is not None:
            row["score"] = worst.get(trial.environment)
        yield row


def _flat(row: Row) -> Row:
    """Return a row of numbers and texts; lists and mappings are written as JSON."""
    return {key: json.dumps(value) if isinstance(value, (dict, list)) else value for key, value in row.items()}


def _csv(content: Iterable[Row], columns: Columns, file: IO[bytes]) -> None:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    writer = csv.DictWriter(text, list(columns), lineterminator="\n")
    writer.writeheader()
    writer.writerows(map(_flat, content))
    text.detach()


def _json(content: Iterable[Row], columns: Columns, file: IO[bytes]) -> None:
    file.write(b"[")
    for number, row in enumerate(content):
        file.write(b",\n " if number else b"\n ")
        file.write(json.dumps(row, allow_nan=False, ensure_ascii=False).encode())
    file.write(b"\n]\n")


#: Rows that are turned into columns at once.
_CHUNK = 100_000


def _parquet(content: Iterable[Row], columns: Columns, file: IO[bytes]) -> None:
    import polars

    flat = map(_flat, content)
    frames = [polars.DataFrame(schema=columns)]
    while chunk := list(itertools.islice(flat, _CHUNK)):
        # Said, not guessed: a column may be empty.
        frames.append(polars.DataFrame(chunk, schema=columns))
    polars.concat(frames).write_parquet(file)


#: How each form is written.
FORMS: dict[str, Callable[[Iterable[Row], Columns, IO[bytes]], None]] = {
    "csv": _csv,
    "parquet": _parquet,
    "json": _json,
}
