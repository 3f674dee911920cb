"""Populations of many environments with few runs: the hard cases for weights chosen beforehand.

In most of them all algorithms are exactly equal under equal weights, although they differ on every environment: every
verdict is wrong, and so is every head-to-head verdict. They are meant for about five trials.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from untuned.lab.mixtures import Law, even, normal, point, two
from untuned.lab.population_types import KnownPopulation

_ENVIRONMENTS = range(8)
#: Each is in every place twice, in the second half in the opposite order: places[algorithm][environment].
_PLACES = [[(a + e) % 4 if e < 4 else 3 - (a + e) % 4 for e in _ENVIRONMENTS] for a in range(4)]


def _placed(law: Callable[[int], Law]) -> list[list[Law]]:
    """Return laws by place, 0 to 3, the same for all: so that all scores are the same."""
    return [[law(place) for place in row] for row in _PLACES]


def _apart(step: float) -> list[list[Law]]:
    return _placed(lambda place: normal(step * place, 1.0))


#: Of three levels, the higher the better the place.
_LEVELS: Sequence[Law] = (even(0.0, 0.0, 1.0), even(0.0, 1.0, 1.0), even(0.0, 1.0, 2.0), even(1.0, 1.0, 2.0))
#: Trials for the experiment's five: one in the worst place, six in the best.
_RUNS = (1, 2, 4, 6)
_FIFTH = Fraction(1, 5)
_SINGLE = Fraction(1, 1000)

FEW_RUNS = (
    KnownPopulation(
        "board",
        "normal scores; some are better on average, and all differ by environment",
        [
            [normal(round(0.35 * a + 0.8 * math.cos(3.0 * a + 5.0 * e), 2), 1.0) for e in _ENVIRONMENTS]
            for a in range(4)
        ],
    ),
    KnownPopulation(
        "tied", "all equally good under equal weights, each worse here and better there by a deviation", _apart(1.0)
    ),
    KnownPopulation(
        "coins",
        "a constant against two points, 1/2 each: every comparison is a fair coin",
        [[point(1.0)] * 4, [two(0.0, 2.0, Fraction(1, 2))] * 4],
        ranges=(0.0, 2.0),
    ),
    KnownPopulation(
        "outweighed",
        "a little better on seven environments and much worse on one, as good under equal weights; wins and failures",
        [
            [*[two(0.0, 1.0, Fraction(9, 16))] * 7, two(0.0, 1.0, Fraction(1, 16))],
            [*[two(0.0, 1.0, Fraction(7, 16))] * 7, two(0.0, 1.0, Fraction(15, 16))],
            [*[two(0.0, 1.0, Fraction(7, 16))] * 7, two(0.0, 1.0, Fraction(15, 16))],
        ],
        ranges=(0.0, 1.0),
    ),
    KnownPopulation(
        "levels", "all equally good under equal weights, three possible scores", _placed(lambda place: _LEVELS[place])
    ),
    KnownPopulation(
        "tails",
        "equal medians, lognormal with sigma from 1 to 30",
        [[normal(0.0, (1.0, 3.0, 10.0, 30.0)[place]) for place in row] for row in _PLACES],
        ranges=(0.0, math.inf),
        exponential=True,
    ),
    KnownPopulation(
        "ragged",
        "as tied, with 1 to 6 runs for 5: most where an algorithm does best",
        _apart(1.0),
        shares=[[_RUNS[place] * _FIFTH for place in row] for row in _PLACES],
    ),
    KnownPopulation(
        "gaps",
        "as tied; one algorithm has a single run everywhere, another none on two environments",
        _apart(1.0),
        shares=[_SINGLE, [Fraction(0)] * 2 + [Fraction(1)] * 6, Fraction(1), Fraction(1)],
    ),
    KnownPopulation(
        "twins",
        "two pairs of the same algorithms, one pair declared; all equally good under equal weights",
        [[normal(float((a // 2 + e) % 2), 1.0) for e in _ENVIRONMENTS] for a in range(4)],
        identical=(("A", "B"),),
    ),
    KnownPopulation(
        "skewed",
        "just ahead of the second in five of six trials, else the worst of six, and as good: small wins, rare losses",
        [
            [two(0.0, 6.0, Fraction(5, 6)) for _ in _ENVIRONMENTS],
            *([point(float(5 - a))] * len(_ENVIRONMENTS) for a in range(5)),
        ],
        ranges=(0.0, 6.0),
    ),
)
