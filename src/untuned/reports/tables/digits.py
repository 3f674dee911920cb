"""How many digits of a number are shown: as many as its interval justifies."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from math import floor, isfinite, isnan, log10
from typing import Any

from untuned.statements import decimals

#: What stands where nothing was measured.
MISSING = "–"  # noqa: RUF001
INFINITE = "∞"


@dataclass(frozen=True)
class Digits:
    """How numbers of one column are written, so that they stand below one another.

    Attributes
    ----------
    decimals
        Digits after the point.
    power
        Of ten, by which they are divided before: ``1.234e9`` and ``0.002e9`` have the same one.
    """

    decimals: int
    power: int = 0

    def shown(self, number: float) -> str:
        """Return the number as text: a dash for none, a sign for infinity, no minus before zero."""
        if isnan(number):
            return MISSING
        if not isfinite(number):
            return INFINITE if number > 0 else f"-{INFINITE}"
        text = f"{Decimal(repr(float(number))).scaleb(-self.power) if self.power else float(number):.{self.decimals}f}"
        if not text.strip("-0."):
            text = text.lstrip("-")
        return f"{text}e{self.power}" if self.power else text


def digits(estimates: Iterable[tuple[float, float, float]]) -> Digits:
    """Return how to write values with the ends of their intervals, all alike.

    The narrowest interval has three digits that differ between its ends; without intervals the largest value has four.
    The smallest value keeps two digits, as long as the largest has no more than six because of it. From ten million on,
    and below one ten-thousandth, a power of ten is taken out.

    Parameters
    ----------
    estimates
        (value, low, high) each; infinite and NaN values are ignored.
    """
    estimates = list(estimates)
    values = [abs(value) for value, _, _ in estimates if isfinite(value) and value]
    numbers = values + [abs(end) for _, *ends in estimates for end in ends if isfinite(end) and end]
    if not numbers:
        return Digits(1)
    top = _place(max(numbers))
    widths = [high - low for _, low, high in estimates if high > low and isfinite(high - low)]
    last = _place(min(widths)) - 2 if widths else top - 3
    if values:
        last = min(last, max(_place(min(values)) - 1, top - 5))
    # A double has no more than fifteen digits that mean something; and one must be left.
    last = min(max(last, top - 14), top)
    power = 0 if -4 <= top < 7 else top
    return Digits(max(0, power - last), power)


def digits_of_widths(estimates: Iterable[tuple[float, float, float]]) -> Digits:
    """Return how to write values as printed tables do: half the usual interval's width has two digits.

    Without intervals the largest value has three.

    Parameters
    ----------
    estimates
        (value, low, high) each; infinite and NaN values are ignored.
    """
    estimates = list(estimates)
    values = sorted(abs(value) for value, _, _ in estimates if isfinite(value) and value)
    widths = sorted((high - low) / 2.0 for _, low, high in estimates if high > low and isfinite(high - low))
    if not values and not widths:
        return Digits(1)
    top = _place(max(values[-1:] + widths[-1:]))
    last = _place(widths[len(widths) // 2]) - 1 if widths else top - 2
    power = 0 if -4 <= top < 7 else top
    return Digits(max(0, power - min(last, top)), power)


def digits_of_scores(rows: Iterable[Mapping[str, Any]], neutral: float | None = None) -> Digits:
    """Return how to write aggregate scores, which are between 0 and 1, or their differences.

    Parameters
    ----------
    rows
        With "low" and "high" each.
    neutral
        What says that two algorithms are alike.
    """
    return Digits(decimals(((row["low"], row["high"]) for row in rows if row["low"] is not None), neutral))


def _place(number: float) -> int:
    """Return the power of ten of a number's first digit."""
    return floor(log10(number))
