"""Distributions that parameters are drawn from: each a quantile function, a density and a name people can read."""

import math
from dataclasses import dataclass
from typing import Protocol


class Distribution(Protocol):
    """Where one number comes from."""

    @property
    def low(self) -> float:
        """The smallest value that can come out."""

    @property
    def high(self) -> float:
        """The largest value that can come out."""

    def quantile(self, probability: float) -> float:
        """Return the value below which a fraction ``probability`` in [0, 1) of the draws fall."""

    def log_density(self, value: float) -> float:
        """Return the natural logarithm of the density at ``value`` (of the probability, for a constant)."""


@dataclass(frozen=True)
class Uniform:
    """Uniform on [low, high)."""

    low: float
    high: float

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
    """exp(U(ln low, ln high)): every factor is as likely as every other."""

    low: float
    high: float

    def quantile(self, probability: float) -> float:
        """Return the value below which a fraction ``probability`` of the draws fall."""
        lowest = math.log(self.low)
        value = math.exp(lowest + (math.log(self.high) - lowest) * probability)
        # exp(log(x)) may miss x by a rounding: a draw never leaves the declared range.
        return min(max(value, self.low), self.high)

    def log_density(self, value: float) -> float:
        """Return the natural logarithm of the density at ``value``."""
        if not self.low <= value <= self.high:
            return -math.inf
        return -math.log(value) - math.log(math.log(self.high / self.low))

    def __str__(self) -> str:
        return f"ln-uniform({self.low:g}, {self.high:g})"


@dataclass(frozen=True)
class OneMinus:
    """One minus a draw from another distribution; how the paper draws what should be close to one."""

    complement: LogUniform | Uniform

    @property
    def low(self) -> float:
        """The smallest value that can come out."""
        return 1.0 - self.complement.high

    @property
    def high(self) -> float:
        """The largest value that can come out."""
        return 1.0 - self.complement.low

    def quantile(self, probability: float) -> float:
        """Return one minus the complement's value at the *same* probability (a decreasing map)."""
        return 1.0 - self.complement.quantile(probability)

    def log_density(self, value: float) -> float:
        """Return the natural logarithm of the density at ``value``."""
        return self.complement.log_density(1.0 - value)

    def __str__(self) -> str:
        return f"1 - {self.complement}"


@dataclass(frozen=True)
class Constant:
    """Always the same value."""

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
        """Return the value."""
        return self.value

    def log_density(self, value: float) -> float:
        """Return 0 at the value, minus infinity elsewhere."""
        return 0.0 if value == self.value else -math.inf

    def __str__(self) -> str:
        return f"{self.value:g}"
