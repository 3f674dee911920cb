"""JSON lines, one object per trial, read in pieces; and a JSON array of such objects, as `untuned export` writes."""

import io
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from untuned.adapters.score_files import json_file
from untuned.adapters.score_files.column_names import Chosen, chosen_columns, shown
from untuned.adapters.score_files.columns import Columns
from untuned.adapters.score_files.opening import File
from untuned.adapters.score_files.reader import Reader, Recognised
from untuned.adapters.score_files.reading import Reading
from untuned.adapters.score_files.rows import Rows
from untuned.errors import InvalidInput

#: Number of lines and bytes read at a time, and the longest line.
_LINES = 100_000
#: Number of unread keys that are examined.
_LOOKED_AT = 50
_BYTES = 64 << 20
_LONGEST = 16 << 20


def read_json_lines(file: File, asked: Reading) -> Iterator[Rows]:
    """Yield the rows of a file, in pieces."""
    names: dict[str, None] = {}
    chosen: Chosen | None = None
    for records, numbers in _pieces(file):
        known = len(names)
        names.update(dict.fromkeys(key for record in records for key in record))
        if chosen is None or len(names) > known:
            chosen = _chosen(file, list(names), records, numbers, asked, chosen)
        keys = list(names)
        for record in records:
            if record.get("failure") is False:
                record["failure"] = None
        values = {
            each: _column(file, [record.get(keys[each]) for record in records], name=each in _names(chosen))
            for each in chosen.positions
        }
        others = [key for at, key in enumerate(keys) if chosen.anonymous and at not in chosen.positions][:_LOOKED_AT]
        unread = {key: _column(file, [record.get(key) for record in records], name=True) for key in others}
        given = np.array(numbers, dtype=np.int64)
        yield Columns(file.name, keys, chosen, values, file.below, numbers=given, unread=unread).rows()
    if chosen is None:
        raise InvalidInput(
            f"{file.name} is empty: it needs the columns algorithm, environment, score, one row per trial"
        )


def _chosen(
    file: File,
    names: list[str],
    records: list[dict[str, Any]],
    numbers: list[int],
    asked: Reading,
    before: Chosen | None,
) -> Chosen:
    """Return which of the keys to read; they must be the same in all pieces.

    Raises
    ------
    InvalidInput
        For a key that would have been read if the first piece had it.
    """
    chosen = chosen_columns(names, asked, file.name, lambda: [records[0].get(key) for key in names])
    if before is not None and _without_failures(chosen) != _without_failures(before):
        new = next(each for each in chosen.positions if each not in before.positions)
        line = next(number for record, number in zip(records, numbers, strict=True) if names[new] in record)
        raise InvalidInput(
            f"line {line} of {file.name} has the key {shown(names[new])}, which earlier lines lack: write the same "
            "keys in every line"
        )
    return chosen


def _without_failures(chosen: Chosen) -> Chosen:
    return Chosen({role: each for role, each in chosen.roles.items() if role != "failure"}, chosen.runs)


def _names(chosen: Chosen) -> set[int]:
    """Return the positions of columns with names, or other text."""
    return {
        *([chosen.roles["failure"]] if "failure" in chosen.roles else []),
        chosen.roles["algorithm"],
        chosen.roles["environment"],
        *(e for group in chosen.runs.values() for e in group),
    }


def _column(file: File, values: list[Any], *, name: bool) -> Any:
    import polars

    if name:
        texts = [value if value is None or isinstance(value, str) else _dumped(file, value) for value in values]
        return polars.Series(texts, dtype=polars.String)
    if all(type(value) in (float, int) for value in values):
        try:
            return polars.Series(values, dtype=polars.Float64)
        except (TypeError, OverflowError, polars.exceptions.PolarsError):
            pass  # An integer too long for a float: the row is named below.
    return polars.Series(values, dtype=polars.Object)


def _dumped(file: File, value: Any) -> str:
    try:
        return json.dumps(value)
    except RecursionError:
        raise InvalidInput(f"{file.name} has a name that is a value of many levels: write names as text") from None


def _pieces(file: File) -> Iterator[tuple[list[dict[str, Any]], list[int]]]:
    """Yield objects with their line numbers; for an array, with their indices."""
    if _is_array(file):
        yield _elements(file)
        return
    with file.stream() as stream:
        records: list[dict[str, Any]] = []
        numbers: list[int] = []
        lines = io.BufferedReader(stream, 1 << 20) if isinstance(stream, io.RawIOBase) else stream
        number = size = 0
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
            size += len(data)
            if len(records) == _LINES or size > _BYTES:
                yield records, numbers
                records, numbers, size = [], [], 0
    if records:
        yield records, numbers


def _is_array(file: File) -> bool:
    return file.suffix == ".json" and re.match(rb"(\xef\xbb\xbf)?\s*\[\s*\{", file.head) is not None


def _elements(file: File) -> tuple[list[dict[str, Any]], list[int]]:
    elements = json_file.load(file)
    for number, each in enumerate(elements, start=1):
        json_file.fields(each, (), f"element {number} of {file.name}")
    return elements, list(range(1, len(elements) + 1))


def _record(name: str, number: int, data: bytes) -> dict[str, Any]:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
            raise InvalidInput(
                f"line {number} of {name} has the key {shown(twice)} twice: it is not clear which value counts"
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
    except (json.JSONDecodeError, RecursionError) as error:
        raise InvalidInput(f"line {number} of {name} is not JSON ({error}): write one object per line") from None
    except ValueError:
        raise InvalidInput(
            f"line {number} of {name} has an integer of thousands of digits: write numbers as in -12.5 or 1e3"
        ) from None
    if not isinstance(record, dict):
        raise InvalidInput(
            f"line {number} of {name} is {type(record).__name__}: write one object per line, "
            '{"algorithm": "sarsa", "environment": "cart-pole", "score": 21.5}'
        )
    if b"\\u" in data:
        _check_characters(name, number, record)
    return record


def _check_characters(name: str, number: int, record: dict[str, Any]) -> None:
    """Refuse lone surrogates, which only JSON can represent."""
    try:
        for text in (*record, *record.values()):
            text.encode() if isinstance(text, str) else None
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"line {number} of {name} has {shown(error.object[error.start])}, half of a character: write names in "
            "UTF-8, or as a pair of \\u escapes"
        ) from None


def _claims(file: File) -> bool:
    return file.suffix in (".jsonl", ".ndjson") or _is_array(file)


def _read_all(files: Sequence[File], asked: Reading) -> Recognised:
    return Recognised(rows for file in files for rows in read_json_lines(file, asked))


READER = Reader("jsonl", "JSON-lines file", _claims, _read_all)
