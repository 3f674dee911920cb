"""The checks on environments' options: return a valid value, raise an error that says what is allowed otherwise."""

import math
import operator
from collections.abc import Iterable

import numpy as np

from untuned.errors import InvalidInput, UnknownName


def whole_number(value: object) -> int | None:
    """Return a whole number of any type as an int, None for anything else; booleans are not numbers here."""
    try:
        return None if isinstance(value, bool | np.bool_) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


def checked_size(name: str, value: object, low: int, high: int) -> int:
    """Return ``value`` as an int within [low, high]."""
    size = whole_number(value)
    if size is None or not low <= size <= high:
        raise InvalidInput(f"{name}={value!r} is not allowed: give a whole number from {low} to {high:,}")
    return size


def checked_flag(name: str, value: object) -> bool:
    """Return ``value`` if it is a boolean."""
    if not isinstance(value, bool):
        raise InvalidInput(f"{name}={value!r} is not allowed: give True or False")
    return value


def checked_choice(name: str, value: object, choices: Iterable[str]) -> str:
    """Return ``value`` if it is one of ``choices``."""
    known = tuple(choices)
    if value not in known:
        raise UnknownName(f"value of {name!r}", value, known)
    return str(value)


def checked_action(environment: str, action: object, number: int, listing: str) -> int:
    """Return an action below ``number`` as an int; arrays of one element are accepted, as some libraries send them."""
    chosen = whole_number(action.item() if isinstance(action, np.ndarray) and action.size == 1 else action)
    if chosen is None or not 0 <= chosen < number:
        raise InvalidInput(f"action {action!r} is not allowed: {environment} takes {listing}")
    return chosen


def checked_range(what: str, limits: object) -> tuple[float, float]:
    """Return two finite numbers, the lower one first; raises InvalidInput for anything else."""
    try:
        low, high = (math.nan, math.nan) if isinstance(limits, str) else map(float, limits)  # type: ignore[call-overload]
    except (TypeError, ValueError, OverflowError):
        low = high = math.nan
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise InvalidInput(f"{what}={limits!r} is not allowed: give two finite numbers, the lower one first")
    return low, high
