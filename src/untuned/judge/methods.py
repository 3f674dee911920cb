"""The interval methods by name: from scores to simultaneous intervals on all percentiles."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from untuned.errors import UnknownName
from untuned.judge.boxes import Boxes, equal_ends, structural
from untuned.judge.intervals import dkw, student
from untuned.judge.percentiles import Payoff, Percentiles
from untuned.judge.pool import Pool
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
    intervals
        The ends of intervals on all percentiles; None for the bootstrap, which goes to aggregates directly.
    """

    name: str
    title: str
    guaranteed: bool
    summary: str
    intervals: Callable[[ScoreTable, Sequence[Pool], Percentiles, float, Conventions], tuple[Floats, Floats]] | None


def payoff_of(conventions: Conventions) -> Payoff:
    """Return what a tie counts under ``conventions``."""
    return "mid-rank" if conventions == "valid" else "at-most"


def method(name: str) -> Method:
    """Return the method called ``name``."""
    if name not in list(METHODS):
        raise UnknownName("interval method", name, METHODS, "`untuned list intervals` says what each does")
    return METHODS[name]


def boxes(
    chosen: Method,
    table: ScoreTable,
    pools: Sequence[Pool],
    estimates: Percentiles,
    delta: float,
    conventions: Conventions,
) -> Boxes:
    """Return a method's simultaneous intervals on all percentiles, at total level ``delta``."""
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


METHODS = {
    found.name: found
    for found in (
        Method(
            "pbp",
            "PBP",
            True,
            "the paper's: Dvoretzky-Kiefer-Wolfowitz bands and Anderson's inequality; wide",
            _pbp,
        ),
        Method(
            "pbp-t",
            "PBP-t",
            False,
            "the paper's: Student's t on placements; takes the reference's sample for its distribution",
            _pbp_t,
        ),
        Method(
            "bootstrap",
            "Bootstrap",
            False,
            "the paper's: percentile bootstrap of the aggregates; misses more often than it says",
            None,
        ),
    )
}
