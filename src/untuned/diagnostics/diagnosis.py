"""`Diagnosis`: everything that was found in a table of scores, as text and as JSON."""

import json
from dataclasses import dataclass
from typing import Any

from untuned.diagnostics.finding import SEVERITIES, Finding, Severity, counted, first_of


@dataclass(frozen=True, repr=False)
class Diagnosis:
    """What `untuned.check` found in a table of scores; prints as text.

    Attributes
    ----------
    findings
        Most serious first.
    size
        The size of the table, in words.
    """

    findings: tuple[Finding, ...]
    size: str

    @property
    def serious(self) -> tuple[Finding, ...]:
        """The findings that would make the guarantee wrong."""
        return self._of("serious")

    def _of(self, severity: Severity) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.severity == severity)

    @property
    def summary(self) -> str:
        """How many findings there are, in words: ``"2 serious, 1 warning, 3 notes"``."""
        serious, warnings, notes = (len(self._of(severity)) for severity in SEVERITIES)
        parts = [
            f"{serious} serious" if serious else "",
            counted(warnings, "warning") if warnings else "",
            counted(notes, "note") if notes else "",
        ]
        return ", ".join(filter(None, parts)) or "nothing found"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain JSON types."""
        return {
            "size": self.size,
            "summary": self.summary,
            "serious": [finding.code for finding in self.serious],
            "findings": [finding.to_dict() for finding in self.findings],
        }

    def to_json(self) -> str:
        """Return everything as JSON."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False, ensure_ascii=False)

    def __str__(self) -> str:
        told = ("\n  ".join((heading(each), *details(each))) for each in self.findings)
        return "\n\n".join((self.size, *told, self.summary))

    __repr__ = __str__


def heading(finding: Finding) -> str:
    """Return the line above a finding: ``"serious: repeated-runs"``."""
    return f"{finding.severity}: {finding.code}"


def details(finding: Finding) -> list[str]:
    """Return the lines below a finding's heading: what, why, what to do, and the first places."""
    return [finding.found, finding.why, finding.remedy, *first_of(finding.where)]
