"""`Finding`: one thing that a check found in a table of scores."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

#: Serious: the guarantee would be wrong. Warning: a reader of the verdict must know it. Note: good to know.
Severity = Literal["serious", "warning", "note"]

#: From the most to the least serious.
SEVERITIES: tuple[Severity, ...] = ("serious", "warning", "note")


@dataclass(frozen=True)
class Finding:
    """One thing that a check found in a table of scores.

    Attributes
    ----------
    code
        A stable identifier: ``"repeated-runs"``.
    severity
        ``"serious"``: the guarantee would be wrong. ``"warning"``: a reader of the verdict must know it. ``"note"``:
        good to know.
    found
        What was found, with numbers; one sentence.
    why
        What it does to the verdict or to the guarantee; one sentence.
    remedy
        What to do about it.
    where
        All cells, algorithms or environments concerned: ``"dqn on pong"``.
    """

    code: str
    severity: Severity
    found: str
    why: str
    remedy: str
    where: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain JSON types."""
        return {
            "code": self.code,
            "severity": self.severity,
            "found": self.found,
            "why": self.why,
            "remedy": self.remedy,
            "where": list(self.where),
        }


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return a number and its noun: ``"1 cell"``, ``"1,200 cells"``."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def first_of(names: Sequence[str], most: int = 5) -> list[str]:
    """Return a line for each of the first names, and a last one that says how many more there are."""
    left = len(names) - most
    return [*(f"- {name}" for name in names[:most]), *([f"... and {left:,} more"] if left > 0 else [])]
