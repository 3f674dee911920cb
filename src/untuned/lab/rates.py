"""Rates: how often something happened, with limits on its probability."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from untuned.errors import InvalidInput

#: Findings about a level delta: it is kept, it is broken, or there are too few data sets to say.
Finding = Literal["kept", "broken", "open"]


def overall(findings: Iterable[Finding]) -> Finding:
    """Return the finding about several rates together: broken if one is, kept if all are."""
    found = set(findings)
    return "broken" if "broken" in found else "open" if "open" in found else "kept"


@dataclass(frozen=True)
class Rate:
    """A proportion with Clopper and Pearson's limits (Biometrika 1934), which hold at every number of cases.

    Attributes
    ----------
    count, total
        The number of cases in which it happened, and of all cases.
    low, high
        Confidence limits of its probability.
    """

    count: int
    total: int
    low: float
    high: float

    @classmethod
    def of(cls, count: int, total: int, confidence: float = 0.95) -> "Rate":
        """Return the rate of something that happened ``count`` times of ``total``.

        Parameters
        ----------
        count, total
            How often it happened, and the number of cases.
        confidence
            Confidence level of the limits.
        """
        # Imported here: reading a journal of finished work needs no statistics.
        from scipy.stats import beta

        if not 0 <= count <= total or total == 0:
            raise InvalidInput(f"{count} of {total} is not a proportion: count some cases first")
        tail = (1.0 - confidence) / 2.0
        low = float(beta.ppf(tail, count, total - count + 1)) if count else 0.0
        high = float(beta.ppf(1.0 - tail, count + 1, total - count)) if count < total else 1.0
        return cls(count, total, low, high)

    @property
    def rate(self) -> float:
        """The proportion."""
        return self.count / self.total

    def finding(self, delta: float) -> Finding:
        """Return whether the rate shows that a level ``delta`` is kept or broken."""
        if self.low > delta:
            return "broken"
        return "kept" if self.high <= delta else "open"

    def facts(self) -> dict[str, Any]:
        """Return the same as plain JSON types."""
        return {"count": self.count, "total": self.total, "rate": self.rate, "low": self.low, "high": self.high}
