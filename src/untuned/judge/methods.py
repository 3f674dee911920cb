"""The interval methods by name: from scores to simultaneous intervals on all percentiles.

A method is one module: its function, and ``METHOD`` at its end, listed below. Your own method needs no module here:
pass the `Method` itself, or `register` it to use its name.
"""

from collections.abc import Sequence

from untuned.errors import InvalidInput, UnknownName
from untuned.judge import bootstrap
from untuned.judge.intervals import bentkus, betting, dkw, kl, pairing, student, wilson
from untuned.judge.intervals.method import Conventions, Method, payoff_of
from untuned.judge.percentiles import Percentiles
from untuned.judge.pool import Pool
from untuned.judge.pooled import bounds as pooled
from untuned.judge.pooled import rounds as pooled_rounds
from untuned.judge.simultaneous_intervals import Boxes, equal_ends, structural
from untuned.scores import ScoreTable

__all__ = [
    "ANYTIME",
    "ANYTIME_DEFAULT",
    "ANYTIME_FIXED_DEFAULT",
    "BUILT_IN",
    "DEFAULT",
    "FIXED_DEFAULT",
    "METHODS",
    "PUBLISHED_DEFAULT",
    "Conventions",
    "Method",
    "boxes",
    "check_conventions",
    "method",
    "payoff_of",
    "register",
]

BUILT_IN: tuple[Method, ...] = tuple(
    each.METHOD for each in (pairing, pooled, betting, pooled_rounds, bentkus, kl, wilson, dkw, student, bootstrap)
)
#: By name, in the order of lists; `register` adds to them.
METHODS = {each.name: each for each in BUILT_IN}
#: The narrowest guaranteed method for a number of trials chosen beforehand (docs/decisions/0010).
DEFAULT = "pairing"
#: The default for weights chosen beforehand (docs/decisions/0018).
FIXED_DEFAULT = "pooled"
#: Not a method, but the name for the anytime-valid ones, by weighting.
ANYTIME = "anytime"
ANYTIME_DEFAULT = "betting"
ANYTIME_FIXED_DEFAULT = "pooled-rounds"
#: The paper's guaranteed method: the default under its conventions.
PUBLISHED_DEFAULT = "pbp"


def register(own: Method) -> Method:
    """Register your own method by name, in this process, and return it.

    Parameters
    ----------
    own
        The method; one that is registered again replaces itself.

    Raises
    ------
    InvalidInput
        For the name of one of the methods that come with the package.
    """
    _check_own(own)
    if any(each.name == own.name and each is not own for each in BUILT_IN):
        raise InvalidInput(f"the method {own.name!r} comes with untuned: give your own another name")
    METHODS[own.name] = own
    return own


def method(name: str | Method | None, conventions: Conventions = "valid") -> Method:
    """Return the method called ``name``; for None the default of the conventions.

    An unregistered `Method` is returned unchanged.
    """
    if isinstance(name, Method):
        _check_own(name)
        return name
    if name == ANYTIME:
        return METHODS[ANYTIME_DEFAULT]
    if name is None:
        return METHODS[DEFAULT if conventions == "valid" else PUBLISHED_DEFAULT]
    # A list, so that an unhashable name is also reported as unknown.
    if name not in list(METHODS):
        raise UnknownName("interval method", name, METHODS, "`untuned list intervals` says what each does")
    return METHODS[name]


def _check_own(own: Method) -> None:
    if own.fixed and own not in BUILT_IN:
        raise InvalidInput(
            f"the method {own.name!r} has fixed=True, which is for methods that come with untuned: leave it out"
        )


def check_conventions(chosen: Method, conventions: Conventions) -> None:
    """Refuse conventions that a method does not support."""
    if conventions == "paper" and not chosen.published:
        names = [each.name for each in METHODS.values() if each.published]
        raise InvalidInput(
            f"conventions='paper' goes with the paper's methods, {', '.join(names[:-1])} and {names[-1]}: use one of "
            f"them, or conventions='valid' with intervals={chosen.name!r}"
        )


def boxes(
    chosen: Method,
    table: ScoreTable,
    pools: Sequence[Pool],
    estimates: Percentiles,
    delta: float,
    conventions: Conventions,
) -> Boxes:
    """Return a method's simultaneous intervals on all percentiles, at total level ``delta``."""
    check_conventions(chosen, conventions)
    if chosen.intervals is None:
        raise ValueError(f"{chosen.name} has no intervals on percentiles")
    low, high = chosen.intervals(table, pools, estimates, delta, conventions)
    same = structural(table.kinds) if conventions == "valid" else equal_ends(low, high)
    return Boxes(low, high, same)
