"""`Method`: the record of an interval method. Each module with a method ends with its ``METHOD``."""

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
    """A method for confidence intervals.

    Attributes
    ----------
    name, title
        Its name on the command line and in reports.
    guaranteed
        Whether it holds its level whatever the distributions and numbers of trials.
    summary
        One line for lists.
    published
        Whether it is one of the paper's methods; the paper's conventions apply to these alone.
    intervals
        The ends of intervals on all percentiles; None for methods that bound aggregates directly.
    anytime
        Whether it holds its level when results decide how many trials are run.
    block
        The size of the blocks that it splits samples into, in row order, which must then not depend on the scores; 0
        where the order of rows does not matter.
    fixed
        Whether it works only for weights chosen beforehand.
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
    """Return the payoff of a tie under ``conventions``."""
    return "mid-rank" if conventions == "valid" else "at-most"
