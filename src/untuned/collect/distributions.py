"""Distributions of parameters: each has a quantile function, a density and a readable name.

The log density is the natural logarithm of a density for continuous distributions (`Uniform`, `LogUniform`, and those
derived from them), and of a probability for all others.
"""

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol, TypeVar

from untuned.errors import InvalidInput

#: Values that can be drawn; all can be stored as JSON.
Value = None | bool | int | float | str

V_co = TypeVar("V_co", covariant=True)

#: Absolute limit of whole numbers, so that one random number of 53 bits can reach each of a range.
WHOLE_NUMBERS_BELOW = 2**52


class Distribution(Protocol[V_co]):
    """A distribution of values."""

    def quantile(self, probability: float) -> V_co:
        """Return the value below which a fraction ``probability`` in [0, 1) of the draws fall."""

    def log_density(self, value: Any) -> float:
        """Return the natural logarithm of the density at ``value`` (of the probability, where there are steps)."""


class NumberDistribution(Distribution[float], Protocol):
    """A distribution of numbers."""

    @property
    def low(self) -> float:
        """The smallest possible value."""

    @property
    def high(self) -> float:
        """The largest possible value."""


@dataclass(frozen=True)
class Uniform:
    """Uniform on [low, high).

    Parameters
    ----------
    low, high
        The ends.
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        _check_range(self.low, self.high)

    def quantile(self, probability: float) -> float:
        """Return the value below which a fraction ``probability`` of the draws fall."""
        return self.low + (self.high - self.low) * probability

    def log_density(self, value: float) -> float:
        """Return the natural logarithm of the density at ``value``."""
        return -math.log(self.high - self.low) if self.low <= value <= self.high else -math.inf

    def __str__(self) -> str:
        return f"U({self.low:g}, {self.high:g})"


@dataclass(frozen=True)
class LogUniform:
    """exp(U(ln low, ln high)): log-uniform.

    Parameters
    ----------
    low, high
        The ends; ``low`` is positive.
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        _check_range(self.low, self.high)
        _check_positive("low", self.low, "a logarithm")

    def quantile(self, probability: float) -> float:
        """Return the value below which a fraction ``probability`` of the draws fall."""
        lowest = math.log(self.low)
        value = math.exp(lowest + (math.log(self.high) - lowest) * probability)
        # exp(log(x)) may differ from x by rounding: a draw must not leave the declared range.
        return min(max(value, self.low), self.high)

    def log_density(self, value: float) -> float:
        """Return the natural logarithm of the density at ``value``."""
        if not self.low <= value <= self.high:
            return -math.inf
        return -math.log(value) - math.log(math.log(self.high) - math.log(self.low))

    def __str__(self) -> str:
        return f"ln-uniform({self.low:g}, {self.high:g})"


@dataclass(frozen=True)
class Minus:
    """A number minus a draw; the paper draws values close to one in this way.

    Parameters
    ----------
    number
        The minuend.
    distribution
        The distribution of the difference.
    """

    number: float
    distribution: LogUniform | Uniform

    def __post_init__(self) -> None:
        _check_number("number", self.number)

    @property
    def low(self) -> float:
        """The smallest possible value."""
        return self.number - self.distribution.high

    @property
    def high(self) -> float:
        """The largest possible value."""
        return self.number - self.distribution.low

    def quantile(self, probability: float) -> float:
        """Return the number minus the difference's value at the *same* probability (a decreasing map)."""
        return self.number - self.distribution.quantile(probability)

    def log_density(self, value: float) -> float:
        """Return the natural logarithm of the density at ``value``."""
        if not self.low <= value <= self.high:
            return -math.inf
        # 1 - (1 - 0.0001) is slightly less than 0.0001, but counts as within.
        return self.distribution.log_density(_clipped(self.number - value, self.distribution))

    def __str__(self) -> str:
        return f"{self.number:g} - {self.distribution}"


@dataclass(frozen=True)
class Scaled:
    """A draw divided by a known number.

    Parameters
    ----------
    distribution
        The distribution of the draw.
    divisor
        The divisor, above 0.
    label
        Description of the divisor, for readers: ``"n_features"``.
    """

    distribution: LogUniform | Uniform
    divisor: float
    label: str

    def __post_init__(self) -> None:
        _check_number("divisor", self.divisor)
        _check_positive("divisor", self.divisor, "dividing")

    @property
    def low(self) -> float:
        """The smallest possible value."""
        return self.distribution.low / self.divisor

    @property
    def high(self) -> float:
        """The largest possible value."""
        return self.distribution.high / self.divisor

    def quantile(self, probability: float) -> float:
        """Return the value below which a fraction ``probability`` of the draws fall."""
        return self.distribution.quantile(probability) / self.divisor

    def log_density(self, value: float) -> float:
        """Return the natural logarithm of the density at ``value``."""
        if not self.low <= value <= self.high:
            return -math.inf
        # low / 3 * 3 may differ from low by rounding.
        unscaled = _clipped(value * self.divisor, self.distribution)
        return self.distribution.log_density(unscaled) + math.log(self.divisor)

    def __str__(self) -> str:
        return f"{self.distribution} / {self.label}"


@dataclass(frozen=True)
class UniformInteger:
    """Uniform on low, low + step, low + 2 step, ... up to ``high``.

    Where ``high`` is not on that grid, the last value is the one below it.

    Parameters
    ----------
    low, high
        The ends, both included.
    step
        The spacing.
    """

    low: int
    high: int
    step: int = 1

    def __post_init__(self) -> None:
        _check_whole_range(self.low, self.high)
        if not _is_whole(self.step) or self.step < 1:
            raise InvalidInput(f"step={self.step!r} is not allowed: give a whole number above 0")
        object.__setattr__(self, "high", self.low + (self.number - 1) * self.step)

    @property
    def number(self) -> int:
        """How many values there are."""
        return (self.high - self.low) // self.step + 1

    def quantile(self, probability: float) -> int:
        """Return the value below which a fraction ``probability`` of the draws fall."""
        return self.low + _index(probability, self.number) * self.step

    def log_density(self, value: float) -> float:
        """Return the natural logarithm of the probability of ``value``."""
        inside = self.low <= value <= self.high and (value - self.low) % self.step == 0
        return -math.log(self.number) if inside else -math.inf

    def __str__(self) -> str:
        if self.step == 1 and self.number > 1:
            return f"U{{{self.low}..{self.high}}}"
        return _grid_text(f"{self.low}", f"{self.low + self.step}", f"{self.high}", self.number)


@dataclass(frozen=True)
class LogInteger:
    """exp(U(ln(low - 1/2), ln(high + 1/2))), rounded: whole numbers from low to high, each decade about equally likely.

    Parameters
    ----------
    low, high
        The smallest and the largest number; ``low`` is positive.
    """

    low: int
    high: int

    def __post_init__(self) -> None:
        _check_whole_range(self.low, self.high)
        if self.low < 1:
            raise InvalidInput(f"low={self.low} is not allowed for a logarithm of whole numbers: give low of 1 or more")

    # With log1p and expm1 the neighbours of large numbers stay apart.
    @property
    def _width(self) -> float:
        return math.log1p((self.high - self.low + 1) / (self.low - 0.5))

    def quantile(self, probability: float) -> int:
        """Return the value below which a fraction ``probability`` of the draws fall."""
        above = math.floor((self.low - 0.5) * math.expm1(self._width * probability))
        # expm1(log1p(x)) may be more than x by a rounding.
        return min(self.low + above, self.high)

    def log_density(self, value: float) -> float:
        """Return the natural logarithm of the probability of ``value``."""
        if not (self.low <= value <= self.high and value == math.floor(value)):
            return -math.inf
        return math.log(math.log1p(1 / (value - 0.5)) / self._width)

    def __str__(self) -> str:
        return f"ln-uniform{{{self.low}..{self.high}}}" if self.low < self.high else f"ln-uniform{{{self.low}}}"


@dataclass(frozen=True)
class Stepped:
    """Uniform on low, low + step, low + 2 step, ... up to ``high``, as floats.

    The numbers are decimal, as written: 0, 0.1 .. 0.3 has four values, and the last is 0.3, although three times the
    float 0.1 is not. Where ``high`` is not on the grid, the last value is the one below it.

    Parameters
    ----------
    low, high
        The ends, both included.
    step
        The spacing.
    """

    low: float
    high: float
    step: float
    #: Number of values.
    number: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _check_ends(self.low, self.high)
        _check_number("step", self.step)
        _check_positive("step", self.step, "a grid")
        number = (_written(self.high) - _written(self.low)) // _written(self.step) + 1
        if number > WHOLE_NUMBERS_BELOW:
            raise InvalidInput(
                f"low={self.low!r}, high={self.high!r}, step={self.step!r} makes {number:,} values; "
                "at most 2**52 are allowed: take a wider step, or none"
            )
        object.__setattr__(self, "number", number)
        object.__setattr__(self, "high", self._value(number - 1))

    def _value(self, index: int) -> float:
        return float(_written(self.low) + index * _written(self.step))

    def quantile(self, probability: float) -> float:
        """Return the value below which a fraction ``probability`` of the draws fall."""
        return self._value(_index(probability, self.number))

    def log_density(self, value: float) -> float:
        """Return the natural logarithm of the probability of ``value``."""
        inside = self.low <= value <= self.high and self._value(round((value - self.low) / self.step)) == value
        return -math.log(self.number) if inside else -math.inf

    def __str__(self) -> str:
        return _grid_text(f"{self.low:g}", f"{self._value(1):g}", f"{self.high:g}", self.number)


@dataclass(frozen=True)
class RoundedPowerOfTwo:
    """2^U(low_exponent, high_exponent), rounded to the nearest whole number.

    Parameters
    ----------
    low_exponent, high_exponent
        The ends of the exponent, from -52 to below 52.
    """

    low_exponent: float
    high_exponent: float

    def __post_init__(self) -> None:
        _check_ends(self.low_exponent, self.high_exponent)
        for name, exponent in (("low_exponent", self.low_exponent), ("high_exponent", self.high_exponent)):
            if not -52 <= exponent < 52:
                raise InvalidInput(f"{name}={exponent!r} is not allowed: give a number from -52 to below 52")

    @property
    def low(self) -> int:
        """The smallest possible value."""
        return math.floor(math.exp2(self.low_exponent) + 0.5)

    @property
    def high(self) -> int:
        """The largest possible value."""
        # Exactly half is rounded up with probability 0.
        return max(math.ceil(math.exp2(self.high_exponent) - 0.5), self.low)

    def quantile(self, probability: float) -> int:
        """Return the value below which a fraction ``probability`` of the draws fall."""
        power = math.exp2(self.low_exponent + (self.high_exponent - self.low_exponent) * probability)
        return min(max(math.floor(power + 0.5), self.low), self.high)

    def log_density(self, value: float) -> float:
        """Return the natural logarithm of the probability of ``value``: of the exponents that round to it."""
        if not (self.low <= value <= self.high and value == math.floor(value)):
            return -math.inf
        if self.low == self.high:
            return 0.0
        below = max(value - 0.5, math.exp2(self.low_exponent))
        above = min(value + 0.5, math.exp2(self.high_exponent))
        # log2(above) - log2(below), without the rounding error for large numbers.
        exponents = math.log1p((above - below) / below) / math.log(2)
        return math.log(exponents / (self.high_exponent - self.low_exponent))

    def __str__(self) -> str:
        return f"round(2^U({self.low_exponent:g}, {self.high_exponent:g}))"


@dataclass(frozen=True, init=False)
class Categorical:
    """One of several values, equally likely; one that is given twice is twice as likely.

    Parameters
    ----------
    choices
        None, booleans, numbers or strings: values that can be stored and read.
    """

    choices: tuple[Value, ...]
    # In Python True == 1 == 1.0, but the receiver of the choice distinguishes them.
    _kinds: tuple[type, ...] = field(repr=False)

    def __init__(self, choices: Any) -> None:
        if isinstance(choices, str | bytes) or not hasattr(choices, "__iter__"):
            raise InvalidInput(f"choices={choices!r} is not allowed: give a list of values")
        listed = tuple(choices)
        if not listed:
            raise InvalidInput("choices is empty: give at least one value")
        for each in listed:
            if not isinstance(each, None | bool | int | float | str) or (
                isinstance(each, float) and not math.isfinite(each)
            ):
                raise InvalidInput(
                    f"{each!r} is not allowed among the choices: give None, booleans, finite numbers or strings, "
                    "and use them as keys for other objects"
                )
        object.__setattr__(self, "choices", listed)
        object.__setattr__(self, "_kinds", tuple(map(type, listed)))

    def quantile(self, probability: float) -> Any:
        """Return the choice at ``probability``, each choice taking an equal part of [0, 1) in order."""
        return self.choices[_index(probability, len(self.choices))]

    def log_density(self, value: Value) -> float:
        """Return the natural logarithm of the probability of ``value``."""
        times = sum(type(each) is type(value) and each == value for each in self.choices)
        return math.log(times / len(self.choices)) if times else -math.inf

    def __str__(self) -> str:
        return f"one of {', '.join(map(repr, self.choices))}"


@dataclass(frozen=True)
class Constant:
    """Always the same value.

    Parameters
    ----------
    value
        The value.
    """

    value: float

    @property
    def low(self) -> float:
        """The value."""
        return self.value

    @property
    def high(self) -> float:
        """The value."""
        return self.value

    def quantile(self, probability: float) -> float:
        """Return the value, whatever the ``probability``."""
        return self.value

    def log_density(self, value: float) -> float:
        """Return 0 at the value, minus infinity elsewhere."""
        return 0.0 if value == self.value else -math.inf

    def __str__(self) -> str:
        return f"{self.value:g}"


def _index(probability: float, number: int) -> int:
    # Always below the number: the largest probability, 1 - 2**-53, is too far from 1 for the product to round up.
    return int(probability * number)


def _clipped(value: float, distribution: LogUniform | Uniform) -> float:
    return min(max(value, distribution.low), distribution.high)


def _written(number: float) -> Fraction:
    """Return the decimal number that a float prints as: one tenth for 0.1."""
    return Fraction(str(number))


def _grid_text(first: str, second: str, last: str, number: int) -> str:
    shown = {1: first, 2: f"{first}, {last}"}.get(number, f"{first}, {second}..{last}")
    return f"U{{{shown}}}"


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _check_number(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < math.inf:
        raise InvalidInput(f"{name}={value!r} is not allowed: give a finite number")
    if isinstance(value, int) and abs(value) > _LARGEST_FLOAT:
        raise InvalidInput(f"{name} is a whole number of {len(str(abs(value)))} digits: give one that a float can hold")


_LARGEST_FLOAT = 2**1023


def _check_positive(name: str, value: float, purpose: str) -> None:
    if value <= 0:
        raise InvalidInput(f"{name}={value!r} is not allowed for {purpose}: give a number above 0")


def _check_ends(low: object, high: object) -> None:
    _check_number("low", low)
    _check_number("high", high)
    if low > high:  # type: ignore[operator]
        raise InvalidInput(f"low={low!r} is above high={high!r}: give the smaller number first")


def _check_range(low: float, high: float) -> None:
    _check_ends(low, high)
    if low == high:
        raise InvalidInput(f"low={low!r} is high: a range needs two different numbers; for a single one take Constant")
    if not high - low < math.inf:
        raise InvalidInput(f"low={low!r} to high={high!r} is wider than any float: give a narrower range")


def _check_whole_range(low: int, high: int) -> None:
    for name, value in (("low", low), ("high", high)):
        if not _is_whole(value) or abs(value) >= WHOLE_NUMBERS_BELOW:
            raise InvalidInput(f"{name}={value!r} is not allowed: give a whole number below 2**52 in size")
    if low > high:
        raise InvalidInput(f"low={low!r} is above high={high!r}: give the smaller number first")
