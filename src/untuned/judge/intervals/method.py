"""`Method`: what an interval method is. Each module here that has one ends with its own, ``METHOD``."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from untuned.judge.percentiles import Payoff, Percentiles
    from untuned.judge.pool import Pool
    from untuned.scores import Floats, ScoreTable

#: "valid": mid-rank payoffs, ties only where payoffs are equal by construction, declared ranges. "paper": as published.
Conventions = Literal["valid", "paper"]

#: Intervals on all percentiles, lower and upper ends [a, e, r], at total level delta.
Intervals: TypeAlias = "Callable[[ScoreTable, Sequence[Pool], Percentiles, float, Conventions], tuple[Floats, Floats]]"


@dataclass(frozen=True)
class Method:
    """A way to get confidence intervals.

    Attributes
    ----------
    name, title
        What it is called on the command line and in a report.
    guaranteed
        Whether it keeps its level whatever the distributions and numbers of trials.
    summary
        One line for lists.
    published
        Whether it is one of the paper's, to which alone the paper's conventions apply.
    intervals
        The ends of intervals on all percentiles; None for methods that bound aggregates directly.
    anytime
        Whether it keeps its level when looking at the results decides how many trials are run.
    block
        The size of the blocks that it cuts samples into in the order of the rows, which must then not depend on the
        scores; 0 where the order of rows changes nothing.
    fixed
        Whether it is for weights chosen beforehand alone.
    """

    name: str
    title: str
    guaranteed: bool
    summary: str
    published: bool
    intervals: "Intervals | None"
    anytime: bool = False
    block: int = 0
    fixed: bool = False


def payoff_of(conventions: Conventions) -> "Payoff":
    """Return what a tie counts under ``conventions``."""
    return "mid-rank" if conventions == "valid" else "at-most"
