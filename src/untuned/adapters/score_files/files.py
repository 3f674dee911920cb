"""Files of scores, from their bytes to three columns: CSV, TSV, Parquet, JSON lines."""

import csv
import gzip
import io
import json
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from untuned.adapters.score_files.columns import ROLES, Columns, positions
from untuned.errors import InvalidInput, nearest

Wanted = tuple[str, str, str]

SUFFIXES = ".csv, .tsv, .jsonl and .ndjson (each also with .gz), and .parquet"

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def contents(path: Path) -> bytes:
    """Return what is in a file."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        near = nearest(path.name, _siblings(path))
        advice = f"did you mean {near!r}?" if near is not None else "look for a typing mistake in the path"
        raise InvalidInput(f"there is no file {str(path)!r}: {advice}") from None
    except OSError as error:
        if path.is_dir():
            raise InvalidInput(
                f"{str(path)!r} is a directory: pass the path of one file with scores ({SUFFIXES})"
            ) from None
        raise InvalidInput(f"{str(path)!r} cannot be read: {error.strerror or error}") from None
    if not data:
        raise InvalidInput(f"{path.name} is empty: it needs the columns {', '.join(ROLES)}, one row per trial")
    return data


def columns(name: str, data: bytes, wanted: Wanted) -> Columns:
    """Return the three columns of a file, given its name and what is in it."""
    suffixes = [suffix.lower() for suffix in Path(name).suffixes]
    packed = suffixes[-1:] == [".gz"]
    reader = _READERS.get(suffixes[-2 if packed else -1]) if len(suffixes) > packed else None
    if reader is None or (packed and reader is _parquet):
        ending = "".join(suffixes[-2:] if packed else suffixes[-1:])
        raise InvalidInput(
            f"{name} {f'ends in {ending}' if ending else 'has no suffix'}, which does not say what it is: files of "
            f"scores end in {SUFFIXES}. Save it as one of these, or read it yourself and pass the data frame"
        )
    return reader(name, _unpacked(name, data) if packed else data, wanted)


def _siblings(path: Path) -> list[str]:
    try:
        return [each.name for each in path.parent.iterdir()]
    except OSError:
        return []


def _unpacked(name: str, data: bytes) -> bytes:
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise InvalidInput(f"{name} cannot be unpacked: {error}. Is it complete, and packed with gzip?") from None


def _text(name: str, data: bytes) -> bytes:
    """Return text in UTF-8 after looking at its encoding, without its byte order mark."""
    if data.startswith(_UTF_16):
        raise InvalidInput(f"{name} is UTF-16: save it as UTF-8")
    data = data.removeprefix(_BYTE_ORDER_MARK)
    if not data.strip():
        raise InvalidInput(f"{name} is empty: it needs the columns {', '.join(ROLES)}, one row per trial")
    try:
        data.isascii() or data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidInput(
            f"{name} is not UTF-8: byte {data[error.start]:#04x} in line {line}. Save it as UTF-8, "
            "or convert it: iconv -f latin1 -t utf-8"
        ) from None
    return data


def _separated(separators: str) -> Callable[[str, bytes, Wanted], Columns]:
    def reader(name: str, data: bytes, wanted: Wanted) -> Columns:
        return _comma_separated(name, data, wanted, separators)

    return reader


def _comma_separated(name: str, data: bytes, wanted: Wanted, separators: str) -> Columns:
    import polars

    data = _text(name, data)
    if b"\r" in data and b"\n" in data:
        _refuse_bare_returns(name, data)
    # The header is read here: polars gives columns of the same name other names, and keeps doubled quotes.
    openings = {each: _opening(name, data, each) for each in separators}
    separator = max(openings, key=lambda each: (len({*wanted} & {*openings[each][0]}), len(openings[each][0])))
    header, first = openings[separator]
    chosen = positions(header, wanted, name, lambda: first)
    try:
        # All columns, though three are needed: otherwise polars lets lines pass that have too many fields. As text: a
        # type guessed from the first rows may not be that of the last, and text can be shown in a message.
        frame = polars.read_csv(
            data,
            separator=separator,
            infer_schema=False,
            eol_char="\n" if b"\n" in data else "\r",
        )
    except polars.exceptions.PolarsError as error:
        raise InvalidInput(_about_malformed(name, data, separator, len(header), error)) from None
    rows = None
    if frame.to_series(chosen[0]).null_count():
        # Empty lines are not trials.
        blank = frame.select(polars.all_horizontal(polars.all().is_null())).to_series()
        rows = np.flatnonzero(~blank.to_numpy()) + 1
        frame = frame.filter(~blank)
    algorithm, environment, score = (frame.to_series(position) for position in chosen)
    return Columns(name, wanted, (algorithm, environment, score), rows)


def _refuse_bare_returns(name: str, data: bytes) -> None:
    """Refuse carriage returns outside quotation marks that do not end a line: polars would strip them from names."""
    if data.count(b"\r") == data.count(b"\r\n"):
        return
    # Line feeds inside quotation marks stay, so that lines can be counted.
    bare = re.sub(rb'"[^"]*"', lambda quoted: b"\n" * quoted.group().count(b"\n"), data)
    found = re.search(rb"\r(?!\n|\Z)", bare)
    if found is not None:
        line = bare.count(b"\n", 0, found.start()) + 1
        raise InvalidInput(
            f"line {line} of {name} has a carriage return that does not end it: put names with "
            "line breaks in quotation marks, and end all lines alike"
        )


def _records(data: bytes, separator: str) -> Iterator[list[str]]:
    text = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="")
    return (record for record in csv.reader(text, delimiter=separator) if record)


def _opening(name: str, data: bytes, separator: str) -> tuple[list[str], list[str]]:
    """Return the header, and the first row or an empty list."""
    records = _records(data, separator)
    try:
        return next(records), next(records, [])
    except csv.Error as error:
        raise InvalidInput(f"{name} cannot be read: its first line is not the header of a CSV file ({error})") from None


def _about_malformed(name: str, data: bytes, separator: str, width: int, error: Exception) -> str:
    try:
        for number, record in enumerate(_records(data, separator)):
            if len(record) > width:
                return (
                    f"row {number} of {name} has {len(record)} fields and the header {width}: {separator.join(record)}"
                    f". Put names with {separator!r} in them in quotation marks, and write numbers with a decimal point"
                )
    except csv.Error:
        pass  # No better reason was found: show the message of polars.
    reason = str(error).partition("\n")[0]
    return (
        f"{name} cannot be read as CSV ({reason}): is a quotation mark never closed, or inside a name? Put such a name "
        'in quotation marks and write those inside twice: "5"" disk"'
    )


def _parquet(name: str, data: bytes, wanted: Wanted) -> Columns:
    import polars

    def example() -> list[object]:
        return list(next(polars.read_parquet(io.BytesIO(data), n_rows=1).iter_rows(), ()))

    try:
        found = list(polars.read_parquet_schema(io.BytesIO(data)))
        positions(found, wanted, name, example)
        frame = polars.read_parquet(io.BytesIO(data), columns=list(wanted))
    except (polars.exceptions.PolarsError, polars.exceptions.PanicException) as error:
        # A damaged file makes polars panic, which is not a subclass of Exception.
        reason = str(error).partition("\n")[0]
        raise InvalidInput(f"{name} cannot be read as parquet ({reason}): is it complete? Write it again") from None
    return Columns(name, wanted, (frame[wanted[0]], frame[wanted[1]], frame[wanted[2]]))


def _json_lines(name: str, data: bytes, wanted: Wanted) -> Columns:
    import polars

    data = _text(name, data)
    types = [polars.String, polars.String, polars.Float64]
    if len({*wanted}) == len(wanted):
        try:
            frame = polars.read_ndjson(data, schema=dict(zip(wanted, types, strict=True)))
        except polars.exceptions.PolarsError:
            pass  # Python reads what polars does not, NaN for one, and knows in which line a mistake is.
        else:
            if not any(frame.null_count().row(0)):
                return Columns(name, wanted, (frame[wanted[0]], frame[wanted[1]], frame[wanted[2]]))
    return _json_lines_by_python(name, data, wanted)


def _json_lines_by_python(name: str, data: bytes, wanted: Wanted) -> Columns:
    import polars

    records: list[dict[str, Any]] = []
    rows = []
    for number, line in enumerate(io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError as error:
            raise InvalidInput(f"line {number} of {name} is not JSON ({error}): write one object per line") from None
        if not isinstance(record, Mapping):
            raise InvalidInput(
                f"line {number} of {name} is {type(record).__name__}: write one object per line, "
                '{"algorithm": "sarsa", "environment": "cart-pole", "score": 21.5}'
            )
        records.append(dict(record))
        rows.append(number)
    found = list(dict.fromkeys(key for record in records for key in record))
    positions(found, wanted, name, lambda: [records[0].get(key) for key in found])
    algorithm, environment = (
        polars.Series([_json_name(record.get(column)) for record in records], dtype=polars.String)
        for column in wanted[:2]
    )
    score = polars.Series([record.get(wanted[2]) for record in records], dtype=polars.Object)
    return Columns(name, wanted, (algorithm, environment, score), np.array(rows, dtype=np.int64))


def _json_name(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value)


_READERS = {
    ".csv": _separated(",;\t"),
    ".tsv": _separated("\t"),
    ".parquet": _parquet,
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
}
