"""The test populations of intervals: each is hard in a different way and has a known truth."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from types import MappingProxyType

from untuned.errors import UnknownName
from untuned.lab.few_runs import FEW_RUNS
from untuned.lab.mixtures import Law, even, mixture, normal, point, two
from untuned.lab.population_types import KnownPopulation

_INFINITE = float("inf")
_ONE_HALF = Fraction(1, 2)


def _shifted(*means: float) -> list[Law]:
    return [normal(mean, 1.0) for mean in means]


def _learns(probability: Fraction, law: Law) -> Law:
    """Return a law with this probability, otherwise the worst score: the trial diverged."""
    return mixture(probability, law, point(-1000.0))


_DUPLICATES = [
    [even(1.0, 2.0, 3.0), even(0.0, 1.0)],
    [even(1.0, 2.0, 3.0), even(0.0, 1.0)],
    [even(2.0, 4.0), even(0.0, 0.5, 3.0)],
]
_THOUSANDTH = Fraction(2, 1000)
_RARE = Fraction(1, 10**9)

_ALL = (
    KnownPopulation(
        "normal",
        "normal scores, two algorithms close together and one ahead",
        [_shifted(0.0, 0.0, 0.5), _shifted(0.2, 0.0, 0.3), _shifted(1.0, 0.8, 1.5)],
    ),
    KnownPopulation(
        "constant",
        "a constant against two points, z = .9 and .99",
        [
            [point(1.0), point(5.0)],
            [two(0.0, 2.0, Fraction(1, 10)), two(4.0, 6.0, Fraction(1, 100))],
        ],
        ranges=(0.0, 10.0),
    ),
    KnownPopulation(
        "atom",
        "95 % of all scores on the first environment are the same",
        [
            [two(0.0, 3.0, Fraction(1, 20)), even(1.0, 2.0, 3.0)],
            [two(0.0, 2.0, Fraction(1, 20)), even(2.0, 3.0, 4.0)],
            [two(0.0, 1.0, Fraction(1, 20)), even(1.0, 1.5)],
        ],
        ranges=(0.0, 10.0),
    ),
    KnownPopulation(
        "duplicates", "two algorithms are the same, without being declared identical", _DUPLICATES, ranges=(0.0, 10.0)
    ),
    KnownPopulation(
        "declared",
        "two algorithms are the same, and declared to be",
        _DUPLICATES,
        ranges=(0.0, 10.0),
        identical=(("A", "B"),),
    ),
    KnownPopulation(
        "gap-1e-3",
        "percentiles one or two thousandths from 1/2",
        [
            [two(0.0, 1.0, _ONE_HALF), two(0.0, 1.0, _ONE_HALF)],
            [two(0.0, 1.0, _ONE_HALF + _THOUSANDTH), two(0.0, 1.0, _ONE_HALF + 2 * _THOUSANDTH)],
            [two(0.0, 1.0, _ONE_HALF - _THOUSANDTH), two(0.0, 1.0, _ONE_HALF + _THOUSANDTH)],
        ],
        ranges=(0.0, 1.0),
    ),
    KnownPopulation(
        "gap-1e-9",
        "opponents beaten in all trials but one of 10^9: percentiles differ by less than any sample shows",
        [
            [point(9.0), point(9.0)],
            [two(1.0, 10.0, _RARE), two(1.0, 10.0, _RARE / 7)],
            [two(2.0, 10.0, _RARE / 2), two(2.0, 10.0, _RARE / 3)],
        ],
        ranges=(0.0, 10.0),
    ),
    KnownPopulation(
        "divergence",
        "trials learn or diverge: a good score, or the worst there is",
        [
            [_learns(Fraction(9, 10), normal(10.0, 1.0)), _learns(Fraction(1, 2), normal(20.0, 5.0))],
            [_learns(Fraction(3, 5), normal(12.0, 2.0)), _learns(Fraction(99, 100), normal(15.0, 1.0))],
            [normal(8.0, 1.0), normal(14.0, 2.0)],
        ],
        ranges=(-1000.0, _INFINITE),
    ),
    KnownPopulation(
        "lognormal",
        "lognormal scores, sigma 3: means that no sample shows",
        [
            [normal(0.0, 3.0), normal(0.0, 3.0)],
            [normal(1.0, 3.0), normal(0.0, 1.0)],
            [normal(0.5, 1.0), normal(-1.0, 3.0)],
        ],
        ranges=(0.0, _INFINITE),
        exponential=True,
    ),
    KnownPopulation(
        "scales",
        "N(0, 1) against N(0, 30^2), whose median is the same, and N(0, 30^2) against N(1, 1)",
        [[normal(0.0, 1.0), normal(0.0, 30.0)], [normal(0.0, 30.0), normal(1.0, 1.0)]],
    ),
    KnownPopulation(
        "cycle",
        "A beats B, B beats C, C beats A",
        [[even(2.0, 4.0, 9.0)] * 2, [even(1.0, 6.0, 8.0)] * 2, [even(3.0, 5.0, 7.0)] * 2],
        ranges=(0.0, 10.0),
    ),
    KnownPopulation(
        "unequal",
        "normal scores; the second algorithm has a third of the trials, the third twice as many",
        [_shifted(0.0, 0.4), _shifted(0.3, 0.0), _shifted(-0.8, -0.4)],
        shares=(Fraction(1), Fraction(1, 3), Fraction(2)),
    ),
)
_POPULATIONS: Mapping[str, KnownPopulation] = MappingProxyType({each.name: each for each in (*_ALL, *FEW_RUNS)})


def populations(names: Iterable[str] | None = None) -> tuple[KnownPopulation, ...]:
    """Return the populations with these names, by default all but those of `few_runs`.

    Parameters
    ----------
    names
        Those that ``untuned list populations`` lists.
    """
    return _ALL if names is None else tuple(population(name) for name in names)


def few_runs() -> tuple[KnownPopulation, ...]:
    """Return the populations of many environments and few runs, for weights chosen beforehand."""
    return FEW_RUNS


def population(name: str) -> KnownPopulation:
    """Return the population called ``name``.

    Parameters
    ----------
    name
        One of those that ``untuned list populations`` lists.
    """
    if name not in _POPULATIONS:
        raise UnknownName("population", name, _POPULATIONS, "`untuned list populations` says what each is")
    return _POPULATIONS[name]
