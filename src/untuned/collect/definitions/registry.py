"""Names to definitions: the paper's eleven, and any of them tuned within the trial."""

import re
from functools import cache

from untuned.collect.definitions.definition import Definition
from untuned.collect.definitions.paper import ELEVEN
from untuned.collect.definitions.tuned_within import tuned_within
from untuned.errors import InvalidInput, UnknownName

_BY_NAME = {each.name: each for each in ELEVEN}

_TUNED = re.compile(r"tuned-within(?:\[(.*)\]|\((.*)\))")
_BASE_AND_NUMBER = re.compile(r"\s*([^\s,]+)\s*,\s*(-?\d+)\s*")
_HOW_TO_TUNE = "tuned-within[sarsa-s,4] draws four of sarsa-s and continues with the best; any of the eleven works"


def algorithm(name: str, /) -> Definition:
    """Return the complete definition of that name.

    Parameters
    ----------
    name
        One of the paper's eleven (`untuned list algorithms`), or one of them tuned within the trial:
        ``tuned-within[BASE,K]``, also written ``tuned-within(BASE, K)``.

    Raises
    ------
    UnknownName
        For an unknown name; the message suggests the nearest.
    InvalidInput
        For an invalid number of candidates.

    Examples
    --------
    >>> algorithm("sarsa-parl2").title
    'Sarsa-Parl2'
    >>> algorithm("tuned-within(q, 8)").name
    'tuned-within[q,8]'
    """
    if known := _BY_NAME.get(name):
        return known
    if tuned := _TUNED.fullmatch(str(name).strip()):
        inside = tuned[1] if tuned[1] is not None else tuned[2]
        return _tuned(str(name), inside)
    raise UnknownName("algorithm", name, _listed_names(), _HOW_TO_TUNE)


@cache
def algorithms() -> tuple[Definition, ...]:
    """Return the listed definitions: the paper's eleven in its order of kinds, and one tuned within."""
    return (*ELEVEN, algorithm("tuned-within[sarsa-s,4]"))


def _tuned(name: str, inside: str) -> Definition:
    parts = _BASE_AND_NUMBER.fullmatch(inside)
    if inside.strip().startswith("tuned-within"):
        raise InvalidInput(f"{name!r} tunes what tunes itself already, which is not supported: {_HOW_TO_TUNE}")
    if parts is None:
        raise InvalidInput(f"{name!r} is not a base and a number of candidates: {_HOW_TO_TUNE}")
    base, number = parts.groups()
    if base not in _BY_NAME:
        raise UnknownName("algorithm", base, _BY_NAME)
    # Ten digits are far too many already, and Python refuses to read thousands.
    return tuned_within(_BY_NAME[base], int(number[:10]))


def _listed_names() -> list[str]:
    return [each.name for each in algorithms()]
