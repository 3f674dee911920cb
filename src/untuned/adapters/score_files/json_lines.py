"""JSON lines, one object per trial, read in pieces."""

import io
import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from untuned.adapters.score_files.columns import Chosen, Columns, chosen_columns
from untuned.adapters.score_files.opening import File
from untuned.adapters.score_files.reader import Reader, Recognised
from untuned.adapters.score_files.reading import Reading
from untuned.adapters.score_files.rows import Rows
from untuned.errors import InvalidInput

#: Lines that are read at once, and the longest line.
_LINES = 100_000
_LONGEST = 16 << 20


def read_json_lines(file: File, asked: Reading) -> Iterator[Rows]:
    """Yield the rows of a file, in pieces."""
    names: list[str] = []
    chosen: Chosen | None = None
    for records, numbers in _pieces(file):
        if chosen is None:
            names, chosen = _chosen(file, records, asked)
        values = {
            each: _column([record.get(names[each]) for record in records], name=each in _names(chosen))
            for each in chosen.positions
        }
        yield Columns(file.name, names, chosen, values, file.below, numbers=np.array(numbers, dtype=np.int64)).rows()
    if chosen is None:
        raise InvalidInput(
            f"{file.name} is empty: it needs the columns algorithm, environment, score, one row per trial"
        )


def _chosen(file: File, records: list[dict[str, Any]], asked: Reading) -> tuple[list[str], Chosen]:
    """Return the keys of all objects, and which of them are read."""
    names = list(dict.fromkeys(key for record in records for key in record))
    return names, chosen_columns(names, asked, file.name, lambda: [records[0].get(key) for key in names])


def _names(chosen: Chosen) -> set[int]:
    """Return the positions of columns with names."""
    return {
        chosen.roles["algorithm"],
        chosen.roles["environment"],
        *(e for group in chosen.runs.values() for e in group),
    }


def _column(values: list[Any], *, name: bool) -> Any:
    import polars

    if name:
        texts = [value if value is None or isinstance(value, str) else json.dumps(value) for value in values]
        return polars.Series(texts, dtype=polars.String)
    if all(type(value) in (float, int) for value in values):
        try:
            return polars.Series(values, dtype=polars.Float64)
        except (TypeError, OverflowError, polars.exceptions.PolarsError):
            pass  # An integer too long for a float: the row is named below.
    return polars.Series(values, dtype=polars.Object)


def _pieces(file: File) -> Iterator[tuple[list[dict[str, Any]], list[int]]]:
    """Yield objects with the numbers of their lines."""
    with file.stream() as stream:
        records: list[dict[str, Any]] = []
        numbers: list[int] = []
        lines = io.BufferedReader(stream, 1 << 20) if isinstance(stream, io.RawIOBase) else stream
        number = 0
        while data := lines.readline(_LONGEST + 1):
            number += 1
            if len(data) > _LONGEST:
                raise InvalidInput(
                    f"line {number} of {file.name} has more than {_LONGEST >> 20} MB: write one object per line"
                )
            if number == 1:
                if data.startswith((b"\xff\xfe", b"\xfe\xff")):
                    raise InvalidInput(f"{file.name} is UTF-16: save it as UTF-8")
                data = data.removeprefix(b"\xef\xbb\xbf")
            if data.strip():
                records.append(_record(file.name, number, data))
                numbers.append(number)
            if len(records) == _LINES:
                yield records, numbers
                records, numbers = [], []
    if records:
        yield records, numbers


def _record(name: str, number: int, data: bytes) -> dict[str, Any]:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise InvalidInput(
                f"line {number} of {name} has the key {twice!r} twice: it is not clear which value counts"
            )
        return found

    try:
        record = json.loads(data.decode("utf-8"), object_pairs_hook=unique)
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"{name} is not UTF-8: byte {data[error.start]:#04x} in line {number}. Save it as UTF-8, "
            "or convert it: iconv -f latin1 -t utf-8"
        ) from None
    except InvalidInput:
        raise
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"line {number} of {name} is not JSON ({error}): write one object per line") from None
    if not isinstance(record, dict):
        raise InvalidInput(
            f"line {number} of {name} is {type(record).__name__}: write one object per line, "
            '{"algorithm": "sarsa", "environment": "cart-pole", "score": 21.5}'
        )
    return record


def _claims(file: File) -> bool:
    return file.suffix in (".jsonl", ".ndjson")


def _read_all(files: Sequence[File], asked: Reading) -> Recognised:
    return Recognised(rows for file in files for rows in read_json_lines(file, asked))


READER = Reader("jsonl", "JSON-lines file", _claims, _read_all)
