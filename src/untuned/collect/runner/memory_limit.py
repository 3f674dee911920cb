"""The memory limit of a trial: declared in a study, enforced by the operating system in worker processes."""

import contextlib
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from untuned.errors import InvalidInput

_UNITS = {
    **{"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12},
    **{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40},
}
_FORM = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z]+)", re.ASCII)

#: Messages of libraries that ran out of memory; PyTorch, for example, does not raise MemoryError.
_SHORT = re.compile(r"MemoryError|bad_alloc|allocate memory|can't start new thread")


def parsed(given: object) -> int | None:
    """Return a number of bytes, given as ``"2 GiB"`` or as a number; None for None."""
    if given is None:
        return None
    number: object = given
    if isinstance(given, str) and (found := _FORM.fullmatch(given.strip())) and found[2] in _UNITS:
        with contextlib.suppress(OverflowError):
            number = int(float(found[1]) * _UNITS[found[2]])
    if isinstance(number, bool) or not isinstance(number, int) or not 0 < number < 1 << 60:
        raise InvalidInput(
            f'memory: {given!r} is not allowed, write a number with a unit, as in "2 GiB" or "500 MB" '
            f"({', '.join(_UNITS)})"
        )
    return number


def written(number: int) -> str:
    """Return a number of bytes as text."""
    # The largest unit that divides it, else bytes: the text is exact.
    unit = max((each for each in _UNITS if number % _UNITS[each] == 0), key=lambda each: _UNITS[each])
    return f"{number // _UNITS[unit]} {unit}"


def is_shortage(failure: str | None) -> bool:
    """Return whether a failure's text says that memory ran out."""
    return failure is not None and _SHORT.search(failure) is not None


def taken() -> int:
    """Return how many bytes this process uses, as the limit counts them; raises InvalidInput like `limited`."""
    _check_system()
    return int(Path("/proc/self/statm").read_text().split()[5]) * os.sysconf("SC_PAGE_SIZE")


@contextlib.contextmanager
def limited(most: int | None) -> Iterator[None]:
    """Limit the memory of this process within the block: beyond it, allocations fail.

    All private, writable memory of the process counts, including that of the interpreter and libraries; code of
    libraries and reserved addresses do not.

    Raises
    ------
    InvalidInput
        On a system without this limit.
    """
    if most is None:
        yield
        return
    _check_system()
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
    try:
        yield
    finally:
        # An algorithm may have lowered the hard limit.
        with contextlib.suppress(ValueError):
            resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _check_system() -> None:
    if sys.platform != "linux":
        raise InvalidInput("memory: only Linux can limit it, leave the key out to run the study on this system")
