"""The interval methods by name: from scores to simultaneous intervals on all percentiles."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from untuned.errors import InvalidInput, UnknownName
from untuned.judge.intervals import bentkus, betting, dkw, kl, pairing, student, wilson
from untuned.judge.intervals.comparisons import comparisons, possible
from untuned.judge.percentiles import Payoff, Percentiles
from untuned.judge.pool import Pool
from untuned.judge.simultaneous_intervals import Boxes, equal_ends, structural
from untuned.scores import Floats, Range, ScoreTable

#: "valid": mid-rank payoffs, ties only where payoffs are equal by construction, declared ranges. "paper": as published.
Conventions = Literal["valid", "paper"]


@dataclass(frozen=True)
class Method:
    """A way to get intervals.

    Attributes
    ----------
    name, title
        What it is called on the command line and in a report.
    guaranteed
        Whether it keeps its level whatever the distributions and numbers of trials.
    summary
        A line for a list.
    published
        Whether it is one of the paper's, to which alone the paper's conventions apply.
    intervals
        The ends of intervals on all percentiles; None for the bootstrap, which goes to aggregates directly.
    anytime
        Whether it keeps its level when looking at the results decides how many trials are run.
    block
        Into blocks of how many trials it cuts samples, in their order, which must then not depend on the scores; 0
        where their order does not matter.
    """

    name: str
    title: str
    guaranteed: bool
    summary: str
    published: bool
    intervals: Callable[[ScoreTable, Sequence[Pool], Percentiles, float, Conventions], tuple[Floats, Floats]] | None
    anytime: bool = False
    block: int = 0


#: The narrowest guaranteed method for a number of trials chosen beforehand (docs/decisions/0010).
DEFAULT = "pairing"
#: What the paper recommends: the default under its conventions.
PUBLISHED_DEFAULT = "pbp"


def payoff_of(conventions: Conventions) -> Payoff:
    """Return what a tie counts under ``conventions``."""
    return "mid-rank" if conventions == "valid" else "at-most"


def method(name: str | Method | None, conventions: Conventions = "valid") -> Method:
    """Return the method called ``name``, for None the one that goes with the conventions by default.

    A `Method` that is in no list is taken as it is.
    """
    if isinstance(name, Method):
        return name
    if name is None:
        return METHODS[DEFAULT if conventions == "valid" else PUBLISHED_DEFAULT]
    if name not in list(METHODS):
        raise UnknownName("interval method", name, METHODS, "`untuned list intervals` says what each does")
    return METHODS[name]


def check_conventions(chosen: Method, conventions: Conventions) -> None:
    """Refuse conventions that a method does not go with."""
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


def observed(pools: Sequence[Pool]) -> tuple[Range, ...]:
    """Return the lowest and highest score seen on every environment: the paper's supports, which are not valid ones."""
    return tuple(
        (float(pool.scores[0]), float(pool.scores[-1])) if pool.scores.size else (-np.inf, np.inf) for pool in pools
    )


def _pbp(
    table: ScoreTable, pools: Sequence[Pool], estimates: Percentiles, delta: float, conventions: Conventions
) -> tuple[Floats, Floats]:
    if conventions == "paper":
        each = delta / estimates.trials_ae.size
        return dkw.percentile_intervals(pools, observed(pools), each, estimates.payoff)
    # One band for every sample there is: pooled samples count once, missing ones not at all.
    samples = sum(int(np.count_nonzero(pool.sizes)) for pool in pools)
    return dkw.percentile_intervals(pools, table.ranges, delta / max(samples, 1), estimates.payoff)


def _pbp_t(
    table: ScoreTable, pools: Sequence[Pool], estimates: Percentiles, delta: float, conventions: Conventions
) -> tuple[Floats, Floats]:
    n, m = estimates.trials_ae.shape
    if conventions == "paper":
        # Its quantile is one-sided and its count that of the cells, both of which make intervals too narrow.
        return student.percentile_intervals(pools, estimates, delta / (n * m), clip=False)
    return student.percentile_intervals(pools, estimates, delta / (2 * n * (n - 1) * m))


def _each(pools: Sequence[Pool], estimates: Percentiles, delta: float) -> float:
    """Return the level of one interval: there is one for every two samples that meet, whichever way it is read."""
    return delta / max(comparisons(pools, estimates).z.size, 1)


def _kl(
    table: ScoreTable, pools: Sequence[Pool], estimates: Percentiles, delta: float, conventions: Conventions
) -> tuple[Floats, Floats]:
    return kl.percentile_intervals(pools, estimates, _each(pools, estimates, delta))


def _bentkus(
    table: ScoreTable, pools: Sequence[Pool], estimates: Percentiles, delta: float, conventions: Conventions
) -> tuple[Floats, Floats]:
    return bentkus.percentile_intervals(pools, estimates, _each(pools, estimates, delta))


def _betting(
    table: ScoreTable, pools: Sequence[Pool], estimates: Percentiles, delta: float, conventions: Conventions
) -> tuple[Floats, Floats]:
    # Who looks while sampling goes on must not find other levels once the last sample has its first trial.
    return betting.percentile_intervals(table, pools, estimates, delta / max(possible(pools), 1))


def _pairing(
    table: ScoreTable, pools: Sequence[Pool], estimates: Percentiles, delta: float, conventions: Conventions
) -> tuple[Floats, Floats]:
    return pairing.percentile_intervals(table, pools, estimates, _each(pools, estimates, delta))


def _wilson(
    table: ScoreTable, pools: Sequence[Pool], estimates: Percentiles, delta: float, conventions: Conventions
) -> tuple[Floats, Floats]:
    return wilson.percentile_intervals(pools, estimates, _each(pools, estimates, delta))


METHODS = {
    found.name: found
    for found in (
        Method(
            "pairing",
            "Pairing",
            True,
            "all pairings of a fixed number of trials; mostly the narrowest",
            False,
            _pairing,
            block=pairing.BLOCK,
        ),
        Method(
            "betting",
            "Betting",
            True,
            "bets on all pairings, block by block; holds however often you look",
            False,
            _betting,
            anytime=True,
            block=betting.BLOCK,
        ),
        Method("bentkus", "Bentkus", True, "Bentkus's bound on the mean over all pairs of trials", False, _bentkus),
        Method("kl", "KL", True, "Chernoff's bound by relative entropy, on the mean over all pairs", False, _kl),
        Method(
            "wilson",
            "Wilson",
            False,
            "Wilson's score interval with DeLong's variance; narrow, for many trials",
            False,
            _wilson,
        ),
        Method(
            "pbp",
            "PBP",
            True,
            "the paper's: Dvoretzky-Kiefer-Wolfowitz bands and Anderson's inequality; wide",
            True,
            _pbp,
        ),
        Method(
            "pbp-t",
            "PBP-t",
            False,
            "the paper's: Student's t on placements; takes the reference's sample for its distribution",
            True,
            _pbp_t,
        ),
        Method(
            "bootstrap",
            "Bootstrap",
            False,
            "the paper's: percentile bootstrap of the aggregates; misses more often than it says",
            True,
            None,
        ),
    )
}
