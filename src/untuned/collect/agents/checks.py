"""The checks on agents' hyperparameters: kernels trust them."""

import math
import operator
from typing import Any

from untuned.errors import InvalidInput

#: Orders and batch sizes beyond this are mistakes that would only fill the memory.
LARGEST = 10**6


def settle_fractions(agent: Any, *names: str) -> None:
    """Convert some of an agent's hyperparameters to floats within [0, 1], or raise InvalidInput."""
    for name in names:
        _settle(agent, name, 0.0, 1.0, "from 0 to 1")


def settle_step_sizes(agent: Any, *names: str) -> None:
    """Convert an agent's step sizes to finite floats of 0 or more, or raise InvalidInput; None, for adapted, stays."""
    for name in names:
        if getattr(agent, name) is not None:
            _settle(agent, name, 0.0, math.inf, "that is finite and not negative")


def settle_sizes(agent: Any, least: int, *names: str) -> None:
    """Convert some of an agent's hyperparameters to whole numbers of ``least`` or more, or raise InvalidInput."""
    for name in names:
        value = getattr(agent, name)
        try:
            size = operator.index(value)
        except TypeError:
            size = least - 1
        if isinstance(value, bool) or not least <= size <= LARGEST:
            raise InvalidInput(f"{name}={value!r} is not allowed: give a whole number from {least} to {LARGEST:,}")
        object.__setattr__(agent, name, size)


def _settle(agent: Any, name: str, low: float, high: float, allowed: str) -> None:
    value = getattr(agent, name)
    try:
        number = math.nan if isinstance(value, bool | str) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not (low <= number <= high and math.isfinite(number)):
        raise InvalidInput(f"{name}={value!r} is not allowed: give a number {allowed}")
    # Always the same type: kernels are compiled for it.
    object.__setattr__(agent, name, number)
