"""What is shown of a race: which pairs, and along which axis."""

import math
from collections.abc import Sequence

from untuned.races.course import Course, PairCourse
from untuned.verdicts import NOT_SEPARABLE

#: Pairs that are shown, at most.
MOST = 6
#: Seconds of collecting below which time says little: trials are shown instead.
_SHORT = 60.0


def chosen(course: Course) -> tuple[PairCourse, ...]:
    """Return the pairs to show: those that are open, then those that were decided last."""
    return course.pairs[:MOST]


def across(course: Course) -> tuple[str, Sequence[float]]:
    """Return what the axis shows, and where every look is: hours of collecting, or trials where it took no time."""
    longest = float(course.seconds[-1])
    if longest < _SHORT:
        return "trials", course.trials_ka.sum(axis=1).astype(float).tolist()
    unit, size = next(each for each in (("hours", 3600.0), ("minutes", 60.0)) if longest >= each[1])
    return f"{unit} of collecting", (course.seconds / size).tolist()


def sentence(pair: PairCourse) -> str:
    """Return when a pair was decided, and its bounds now."""
    undecided = NOT_SEPARABLE if pair.open else f"{NOT_SEPARABLE}, as the goal allows"
    verdict = undecided if pair.decided is None else f"decided in round {pair.decided + 1}"
    return f"{verdict}; now {pair.low[-1]:+.3f} to {pair.high[-1]:+.3f}"


def ticks(x: Sequence[float]) -> list[float]:
    """Return round numbers for a logarithmic axis, at most five where that is possible."""
    low, high = x[0], x[-1]
    found = [low, high]
    for factors in ((1, 2, 5), (1, 3), (1,)):
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        round_ones = [factor * 10.0**power for power in powers for factor in factors]
        inside = [each for each in round_ones if low <= each <= high]
        if len(inside) > 1:
            found = inside
        if len(inside) <= 5:
            break
    return found
