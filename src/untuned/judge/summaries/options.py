"""`Summarizing`: the options of summaries. Each is declared here and nowhere else."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from untuned.errors import UnknownName
from untuned.options import option


@dataclass(frozen=True, kw_only=True)
class Summarizing:
    """Which summaries to compute, of which normalised scores, with which intervals.

    Attributes
    ----------
    summary
        Names of statistics; None for no summaries.
    normalise
        Normalisation of the scores.
    summary_interval
        Which bootstrap interval.
    """

    summary: Sequence[str] | None = field(
        default=None,
        metadata=option(
            "Also other summaries, approximate: iqm, median, mean, geometric-mean, optimality-gap, poi, profile, "
            "mean-profile. CSV has these only.",
            str | None,
            metavar="NAME,...",
        ),
    )
    normalise: Any = field(
        default=None,
        metadata=option(
            "For summaries: two reference scores of every environment or a JSON file of them; or none, min-max, "
            "mean-min-max, range, percentiles[:ALGORITHM,...], ratio:ALGORITHM, policy-percentiles.",
            str | None,
            metavar="KIND|NAME=ZERO:ONE,...|FILE",
        ),
    )
    summary_interval: str = field(
        default="percentile",
        metadata=option("For summaries: which bootstrap interval.", str, choices=("percentile", "basic", "bca")),
    )

    def __post_init__(self) -> None:
        # Before the judging, which may take minutes.
        from untuned.judge.summaries.statistics import NAMES

        for name in self.summary or ():
            if name not in NAMES:
                raise UnknownName("statistic", name, NAMES)
