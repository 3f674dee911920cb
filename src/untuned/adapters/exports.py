"""A study's trials as one table for other programs."""

import contextlib
import csv
import io
import itertools
import json
import math
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from untuned.collect.session import Session
from untuned.collect.store.trial import StoredTrial
from untuned.errors import InvalidInput

Row = dict[str, Any]
Columns = dict[str, type]

#: The columns and what is in them; what has parts itself is text, JSON.
COLUMNS: Columns = {
    "algorithm": str,
    "environment": str,
    "trial": int,
    "score": float,
    "final_return": float,
    "steps": int,
    "diverged": bool,
    "failure": str,
    "draws": str,
    "parameters": str,
    "adapted": str,
    "seed": int,
    "precision": str,
    "definition_version": str,
    "fingerprint": str,
}


def write(session: Session, form: str, file: IO[bytes], *, returns: bool = False, seconds: bool = False) -> None:
    """Write one record per trial, environment by environment and algorithm by algorithm, by number.

    The score is what counts: for a trial that failed, what the study says. What differs from run to run, the time a
    trial took, is left out unless asked for.

    Parameters
    ----------
    session
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
    columns = {
        **COLUMNS,
        **({"seconds": float} if seconds else {}),
        **({"returns": str, "final_returns": str} if returns else {}),
    }
    FORMS[form](_rows(session, returns, seconds), columns, file)


def export(
    source: Session | str | Path,
    out: str | Path | IO[bytes],
    *,
    form: str = "csv",
    returns: bool = False,
    seconds: bool = False,
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

    Raises
    ------
    InvalidInput
        For another form, and for a file that cannot be written.
    """
    with contextlib.ExitStack() as ending:
        session = source if isinstance(source, Session) else ending.enter_context(Session.at(source))
        if not isinstance(out, str | Path):
            write(session, form, out, returns=returns, seconds=seconds)
            return
        path = Path(out)
        new = path.parent / f"{path.name}.new"
        try:
            with new.open("wb") as file:
                write(session, form, file, returns=returns, seconds=seconds)
            new.replace(path)
        except OSError as error:
            raise InvalidInput(f"{path} cannot be written: {error.strerror or error}") from None
        finally:
            with contextlib.suppress(OSError):
                new.unlink()


def _rows(session: Session, returns: bool, seconds: bool) -> Iterator[Row]:
    worst = session.failed_scores()
    for trial in session.trials(returns=returns):
        yield _row(trial, worst.get(trial.environment), returns, seconds)


def _row(trial: StoredTrial, worst: float | None, returns: bool, seconds: bool) -> Row:
    row: Row = {
        "algorithm": trial.algorithm,
        "environment": trial.environment,
        "trial": trial.trial,
        "score": worst if trial.failure is not None else plain(trial.score),
        "final_return": plain(trial.final_return),
        "steps": trial.steps,
        "diverged": trial.diverged,
        "failure": trial.failure,
        "draws": plain({each.name: each.value for each in trial.draws}),
        "parameters": plain(trial.dynamics),
        "adapted": plain(trial.adapted),
        "seed": trial.seed,
        "precision": trial.precision,
        "definition_version": trial.definition_version,
        "fingerprint": trial.fingerprint,
    }
    if seconds:
        row["seconds"] = trial.seconds
    if returns:
        row["returns"] = None if trial.returns is None else plain(trial.returns.tolist())
        row["final_returns"] = None if trial.final_returns is None else plain(trial.final_returns.tolist())
    return row


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it: what is no finite number is null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    return value


def _flat(row: Row) -> Row:
    """Return a record whose parts are numbers and texts; what has parts itself is written as JSON."""
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
