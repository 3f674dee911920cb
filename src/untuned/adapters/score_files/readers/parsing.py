"""Parsing values from untrusted JSON and text."""

import json
from typing import Any

from untuned.errors import InvalidInput

#: Notations for numbers that JSON does not have.
_NONFINITE = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


def parsed(text: str | bytes, where: str) -> Any:
    """Return the value of a JSON text; raises InvalidInput that begins with ``where``, also for duplicate keys."""
    try:
        return json.loads(text, object_pairs_hook=_once)
    except RecursionError:
        raise InvalidInput(f"{where} is nested too deeply to be a log: is it the right file?") from None
    except ValueError as error:
        # Also for bytes that are not UTF-8, and for integers of thousands of digits.
        raise InvalidInput(f"{where} cannot be read as JSON: {error}. Is the file complete?") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(f"a key of {', '.join(map(repr, list(found)[:5]))} is there twice")
    return found


def number(value: object, where: str) -> float:
    """Return a number; raises InvalidInput that begins with ``where`` for anything else."""
    found = maybe_number(value)
    if found is None:
        raise InvalidInput(f"{where} is {str(value)[:40]!r}, and a number belongs there")
    return found


def maybe_number(value: object) -> float | None:
    """Return a number, also one that JSON does not have; None for anything else."""
    if isinstance(value, str):
        return _NONFINITE.get(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        return float(value)
    except OverflowError:
        return None
