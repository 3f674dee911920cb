"""Strict JSON: errors are reported with their place. NaN and Infinity are numbers."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import numpy as np

from untuned.adapters.score_files.opening import File
from untuned.errors import InvalidInput
from untuned.scores import Floats

#: Longer integers are not scores, and the largest do not fit into a float.
_DIGITS = 300


def load(file: File) -> Any:
    """Return the content of a JSON file.

    Raises
    ------
    InvalidInput
        For a file that is not UTF-8 or not JSON, for duplicate keys in an object, and for too deep nesting.
    """
    return _parsed(_text(file), file.name)


def lines(file: File) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of a file with one per line, and their line numbers.

    An incomplete last line is skipped: the program that writes it is running, or was ended.
    """
    rows = _text(file).split("\n")
    for number, line in enumerate(rows, start=1):
        if not line.strip():
            continue
        try:
            record = _parsed(line, f"line {number} of {file.name}")
        except InvalidInput:
            if number > 1 and number == len(rows):
                return
            raise
        if not isinstance(record, dict):
            raise InvalidInput(f"line {number} of {file.name} is {kind(record)}, not an object: write one per line")
        yield number, record


def numbers(value: Any, where: str) -> Floats:
    """Return a list of numbers; null is NaN.

    Raises
    ------
    InvalidInput
        For anything else.
    """
    if not isinstance(value, list):
        raise InvalidInput(f"{where} is {kind(value)}, not a list of numbers")
    for index, each in enumerate(value, start=1):
        if not isinstance(each, (int, float, type(None))):
            raise InvalidInput(f"number {index} of {where} is {kind(each)}, not a number")
    return np.array(value, dtype=np.float64)


def number(value: Any, where: str) -> float:
    """Return a number; null is NaN."""
    return float(numbers([value], where)[0])


def text(value: Any, where: str) -> str:
    """Return a name: text, or an integer as text."""
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise InvalidInput(f"{where} is {kind(value)}, not a name")
    return str(value)


def kind(value: Any) -> str:
    """Return the JSON type of a value, with the value if it is short."""
    names = {dict: "an object", list: "a list", str: "text", type(None): "null", bool: "a truth value"}
    shown = f" ({json.dumps(value)})" if isinstance(value, (str, int, float)) and len(str(value)) < 40 else ""
    return names.get(type(value), "a number") + shown


def fields(value: Any, wanted: Sequence[str], where: str) -> list[Any]:
    """Return the values of keys in an object.

    Raises
    ------
    InvalidInput
        If it is not an object, or a key is missing.
    """
    if not isinstance(value, dict):
        raise InvalidInput(f"{where} is {kind(value)}: it should be an object with {', '.join(wanted)}")
    missing = [key for key in wanted if key not in value]
    if missing:
        raise InvalidInput(f"{where} has no {', '.join(map(repr, missing))}: it has {', '.join(value) or 'nothing'}")
    return [value[key] for key in wanted]


def _text(file: File) -> str:
    data = file.content()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidInput(f"{file.name} is not UTF-8: byte {data[error.start]:#04x} in line {line}") from None


def _parsed(content: str, where: str) -> Any:
    try:
        value = json.loads(content, object_pairs_hook=_once, parse_int=_integer)
        if "\\u" in content:
            # A lone surrogate is a name that cannot be printed.
            json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise InvalidInput(
            f"{where} is not JSON: {error.msg} in line {error.lineno}, column {error.colno}. Is it complete?"
        ) from None
    except RecursionError:
        raise InvalidInput(f"{where} is nested too deeply for scores") from None
    except UnicodeEncodeError:
        raise InvalidInput(f"{where} has half a character (a lone surrogate): write names in full") from None
    except _Refused as error:
        raise InvalidInput(f"{where} {error}") from None
    return value


class _Refused(Exception):
    """An error without its place."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in found if keys.count(key) > 1)
        _refuse(f"has the key {twice!r} twice in one object: which of them counts? Rename one, or delete it")
    return found


def _integer(digits: str) -> int:
    if len(digits) > _DIGITS:
        _refuse(f"has an integer of {len(digits):,} digits, which is no score")
    return int(digits)


def _refuse(message: str) -> NoReturn:
    raise _Refused(message)
