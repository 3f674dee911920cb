"""Features of linear functions: one weight per state, or a Fourier cosine basis."""

import math
from dataclasses import dataclass

from untuned.collect.agents.checks import settle_sizes
from untuned.errors import InvalidInput

#: The largest number of coupled features of a basis, as in the paper's experiment.
MOST_COUPLED = 10_000


@dataclass(frozen=True)
class Tabular:
    """One weight per state.

    Parameters
    ----------
    states
        Number of states.
    """

    states: int

    def __post_init__(self) -> None:
        settle_sizes(self, 1, "states")

    @property
    def number(self) -> int:
        """How many features there are."""
        return self.states


@dataclass(frozen=True)
class Fourier:
    """The Fourier cosine basis: cos(pi c.u), u the state scaled to [0, 1] by its ranges, not clipped.

    Parameters
    ----------
    ranges
        (low, high) per dimension.
    dorder
        The coupled frequencies are all c in {0..dorder}^d.
    iorder
        Beyond dorder, each single dimension has frequencies up to iorder.
    """

    ranges: tuple[tuple[float, float], ...]
    dorder: int
    iorder: int

    def __post_init__(self) -> None:
        settle_sizes(self, 0, "dorder", "iorder")
        try:
            object.__setattr__(self, "ranges", tuple((float(low), float(high)) for low, high in self.ranges))
        except (TypeError, ValueError):
            raise InvalidInput(f"ranges={self.ranges!r} is not allowed: give (low, high) for each dimension") from None
        if not self.ranges:
            raise InvalidInput("a Fourier basis needs at least one dimension")
        for low, high in self.ranges:
            if not -math.inf < low < high < math.inf:
                raise InvalidInput(
                    f"a range of {low!r} to {high!r} is not allowed: give finite numbers, the lower first"
                )
        if self.coupled > MOST_COUPLED:
            raise InvalidInput(
                f"dorder={self.dorder} in {len(self.ranges)} dimensions gives {self.coupled:,} coupled features; "
                f"at most {MOST_COUPLED:,} are allowed: take dorder <= {largest_dorder(len(self.ranges))}"
            )

    @property
    def coupled(self) -> int:
        """How many features couple the dimensions."""
        return int((self.dorder + 1) ** len(self.ranges))

    @property
    def number(self) -> int:
        """How many features there are."""
        return self.coupled + len(self.ranges) * max(0, self.iorder - self.dorder)


Features = Tabular | Fourier


def check_fit(features: Features, states: int | None, dimensions: int) -> None:
    """Raise InvalidInput unless the features fit such states: kernels do not check, and would write out of bounds."""
    if isinstance(features, Tabular):
        if states is None:
            raise InvalidInput(f"{features} needs discrete states, these have {dimensions} dimensions: take Fourier")
        if features.states < states:
            raise InvalidInput(f"{features} has too few: there are {states} states")
    elif not isinstance(features, Fourier):
        raise InvalidInput(f"features={features!r} is not allowed: give Tabular or Fourier features")
    else:
        if states is not None:
            raise InvalidInput(
                f"a Fourier basis needs continuous states, and here are {states} discrete ones: take Tabular"
            )
        if len(features.ranges) != dimensions:
            raise InvalidInput(f"{len(features.ranges)} ranges do not fit a state of {dimensions} dimensions")


def largest_dorder(dimensions: int) -> int:
    """Return the largest dorder that does not exceed the number of coupled features."""
    dorder = 0
    while (dorder + 2) ** dimensions <= MOST_COUPLED:
        dorder += 1
    return dorder
