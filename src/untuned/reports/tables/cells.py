"""What a table is made of: cells that know their numbers, in columns that have names for them."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from untuned.reports.tables.digits import MISSING, Digits

Kind = Literal["text", "group", "number", "triple"]


@dataclass(frozen=True)
class Text:
    """A name or a word.

    Parameters
    ----------
    words
        The text.
    """

    words: str

    @property
    def values(self) -> tuple[str]:
        """The values for programs."""
        return (self.words,)


@dataclass(frozen=True)
class Count:
    """A whole number.

    Parameters
    ----------
    number
        The number.
    """

    number: int

    @property
    def values(self) -> tuple[int]:
        """The values for programs."""
        return (self.number,)

    @property
    def shown(self) -> tuple[str]:
        """The text for readers."""
        return (str(self.number),)


@dataclass(frozen=True)
class Estimate:
    """A number with its interval; NaN where nothing was measured, infinite where no bound is known.

    Attributes
    ----------
    value, low, high
        The estimate and the ends.
    digits
        How all three are written.
    """

    value: float
    low: float
    high: float
    digits: Digits

    @property
    def values(self) -> tuple[float, float, float]:
        """The values for programs."""
        return self.value, self.low, self.high

    @property
    def shown(self) -> tuple[str, str, str]:
        """The text for readers: the number, and two in parentheses."""
        return self.digits.shown(self.value), self.digits.shown(self.low), self.digits.shown(self.high)


@dataclass(frozen=True)
class Number:
    """A number, None where there is none.

    Attributes
    ----------
    number
        As it is.
    digits
        How it is written.
    """

    number: float | None
    digits: Digits

    @property
    def values(self) -> tuple[float | None]:
        """The values for programs."""
        return (self.number,)

    @property
    def shown(self) -> tuple[str]:
        """The text for readers."""
        return (MISSING if self.number is None else self.digits.shown(self.number),)


@dataclass(frozen=True)
class Times:
    """How many times its weight an environment may count before a verdict may fall, None where nothing is decided.

    Attributes
    ----------
    number
        As it is.
    most
        The number from which on every weighting of environments is included.
    """

    number: float | None
    most: float

    @property
    def values(self) -> tuple[float | None]:
        """The values for programs."""
        return (self.number,)

    @property
    def shown(self) -> tuple[str]:
        """What a person reads: rounded down, for no more is known."""
        if self.number is None or self.most <= 1.0:
            # One environment has one weighting.
            return (MISSING,)
        return (
            "any" if self.number >= self.most - 1e-9 else f"{Digits(1).shown(math.floor(10.0 * self.number) / 10.0)}x",
        )


@dataclass(frozen=True)
class Standing:
    """A rank, None where nothing was measured, with the worst and the best one that are possible.

    Parameters
    ----------
    rank
        From 1, the best.
    worst, best
        Those that the intervals allow.
    """

    rank: int | None
    worst: int
    best: int

    @property
    def values(self) -> tuple[int | None, int, int]:
        """The values for programs."""
        return self.rank, self.worst, self.best

    @property
    def shown(self) -> tuple[str, str, str]:
        """The text for readers: the number, and two in parentheses."""
        return MISSING if self.rank is None else str(self.rank), str(self.worst), str(self.best)


@dataclass(frozen=True)
class Measured:
    """A number with its interval in one cell: ``12.3 ± 0.5``; without what is unknown.

    Attributes
    ----------
    value, low, high
        NaN where nothing was measured, infinite ends where no bound is known.
    digits
        How all of it is written.
    """

    value: float
    low: float
    high: float
    digits: Digits

    @property
    def values(self) -> tuple[float, float, float]:
        """The values for programs."""
        return self.value, self.low, self.high

    @property
    def distances(self) -> tuple[str, str] | None:
        """How far below and above the ends are, as they are written; None where they are unknown."""
        if math.isnan(self.value) or math.isinf(self.low) or math.isinf(self.high):
            return None
        return self.digits.shown(self.value - self.low), self.digits.shown(self.high - self.value)

    @property
    def shown(self) -> tuple[str]:
        """The text for readers: both ends where they are not equally far away."""
        value, distances = self.digits.shown(self.value), self.distances
        if distances is None:
            return (value,)
        if distances[0] == distances[1]:
            return (f"{value} ± {distances[0]}",)
        return (f"{value} ({self.digits.shown(self.low)}, {self.digits.shown(self.high)})",)


Cell = Text | Count | Number | Times | Estimate | Standing | Measured


@dataclass(frozen=True)
class Column:
    """A column.

    Attributes
    ----------
    heading
        What stands above it, for readers.
    names
        What its numbers are called, for programs; as many as a cell has.
    kind
        Text; text that many rows share; one number; or one number with two in parentheses.
    vacuous
        An interval that is as long says nothing.
    """

    heading: str
    names: tuple[str, ...]
    kind: Kind
    vacuous: float = math.inf

    @property
    def is_text(self) -> bool:
        """Whether it stands on the left."""
        return self.kind in ("text", "group")

    @property
    def is_pointed_out(self) -> bool:
        """Whether it is bold in rows that are."""
        return self.kind in ("text", "triple")


@dataclass(frozen=True)
class Row:
    """A row.

    Attributes
    ----------
    cells
        One per column.
    bold
        Whether the table points it out.
    opens
        Whether a group of rows begins here.
    best
        The numbers of the cells that are bold by themselves.
    """

    cells: tuple[Cell, ...]
    bold: bool = False
    opens: bool = False
    best: frozenset[int] = frozenset()

    def marked(self, columns: Sequence[Column]) -> Iterator[tuple[Column, Cell, bool]]:
        """Yield each of the ``columns`` with its cell, and whether that is bold."""
        for number, (column, cell) in enumerate(zip(columns, self.cells, strict=True)):
            yield column, cell, number in self.best or (self.bold and column.is_pointed_out)
