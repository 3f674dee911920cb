"""The checks on environments' options: a good value comes back, a bad one is an error that says what is allowed."""

import operator
from collections.abc import Iterable

from untuned.errors import InvalidInput, UnknownName


def checked_size(name: str, value: object, low: int, high: int) -> int:
    """Return ``value`` as an int within [low, high]."""
    try:
        if isinstance(value, bool):
            raise TypeError
        size = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        size = low - 1
    if not low <= size <= high:
        raise InvalidInput(f"{name}={value!r} is not allowed: give a whole number from {low} to {high:,}")
    return size


def checked_flag(name: str, value: object) -> bool:
    """Return ``value`` if it is a truth value."""
    if not isinstance(value, bool):
        raise InvalidInput(f"{name}={value!r} is not allowed: give True or False")
    return value


def checked_choice(name: str, value: object, choices: Iterable[str]) -> str:
    """Return ``value`` if it is one of ``choices``."""
    known = tuple(choices)
    if value not in known:
        raise UnknownName(f"value of {name!r}", value, known)
    return str(value)
