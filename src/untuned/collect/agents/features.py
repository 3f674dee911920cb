"""What a linear function is linear in: one weight per state, or a Fourier cosine basis."""

from dataclasses import dataclass

from untuned.errors import InvalidInput

#: Coupled features a basis may have at most, as in the paper's experiment.
MOST_COUPLED = 10_000


@dataclass(frozen=True)
class Tabular:
    """One weight per state.

    Parameters
    ----------
    states
        How many there are.
    """

    states: int

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
        Beyond dorder each dimension alone has frequencies up to iorder.
    """

    ranges: tuple[tuple[float, float], ...]
    dorder: int
    iorder: int

    def __post_init__(self) -> None:
        if self.dorder < 0 or self.iorder < 0:
            raise InvalidInput(f"dorder={self.dorder}, iorder={self.iorder}: orders of a basis are 0 or more")
        if not self.ranges:
            raise InvalidInput("a Fourier basis needs at least one dimension")
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


def largest_dorder(dimensions: int) -> int:
    """Return the largest dorder whose coupled features are not too many."""
    dorder = 0
    while (dorder + 2) ** dimensions <= MOST_COUPLED:
        dorder += 1
    return dorder
