"""Tables of summaries: statistics, the probability of improvement, performance profiles."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from untuned.judge.summaries.records import Summaries
from untuned.reports.tables.cells import Column, Estimate, Number, Row, Text
from untuned.reports.tables.digits import Digits, digits_of_scores, digits_of_widths
from untuned.reports.tables.table import Table


def summaries(found: Summaries) -> Table:
    """Return the statistics of every algorithm, the best first, with intervals.

    Parameters
    ----------
    found
        What `summaries.summarize` returned.
    """
    rows = found.rows()
    shown = {
        name: summary_digits([row for row in rows if row["statistic"] == name])
        for name in dict.fromkeys(row["statistic"] for row in rows)
    }
    titles = {each.statistic.name: each.statistic.title for each in found.summaries}
    previous = [None, *(row["statistic"] for row in rows)]
    made = tuple(
        Row(
            (
                Text(titles[row["statistic"]]),
                Text(row["algorithm"]),
                Estimate(*_numbers(row, "value"), shown[row["statistic"]]),
            ),
            opens=row["statistic"] != before,
        )
        for row, before in zip(rows, previous, strict=False)
    )
    columns = (
        Column("Statistic", ("statistic",), "group"),
        Column("Algorithm", ("algorithm",), "text"),
        Column("Value", ("value", "low", "high"), "triple"),
    )
    return Table("Summaries, approximate", caption(found), columns, made)


def summary_digits(rows: Iterable[Mapping[str, Any]]) -> Digits:
    """Return how the rows of one statistic are written."""
    return digits_of_widths(_numbers(row, "value") for row in rows)


def improvement(found: Summaries) -> Table:
    """Return the probability of improvement of every pair, with intervals.

    Parameters
    ----------
    found
        What `summaries.summarize` returned, asked for ``"poi"``.
    """
    rows = found.improvement_rows()
    written = digits_of_scores(rows, 0.5)
    made = tuple(Row((Text(row["a"]), Text(row["b"]), Estimate(*_numbers(row, "win"), written))) for row in rows)
    columns = (
        Column("A", ("a",), "text"),
        Column("B", ("b",), "text"),
        Column("P(A > B)", ("win", "low", "high"), "triple"),
    )
    words = "How often a run of A scores more than one of B, averaged over environments, a tie counting half."
    return Table("Probability of improvement, approximate", f"{words} {caption(found)}", columns, made)


def profile(found: Summaries) -> Table:
    """Return performance profiles: which share of scores is above each threshold, with intervals.

    Parameters
    ----------
    found
        What `summaries.summarize` returned, asked for ``"profile"`` or ``"mean-profile"``.
    """
    rows = found.profile_rows()
    made = tuple(
        Row(
            (
                Text(row["profile"]),
                Text(row["algorithm"]),
                Number(row["threshold"], Digits(4)),
                Estimate(*_numbers(row, "share"), Digits(4)),
            ),
            opens=number % len(found.profiles[0].thresholds) == 0,
        )
        for number, row in enumerate(rows)
    )
    columns = (
        Column("Profile", ("profile",), "group"),
        Column("Algorithm", ("algorithm",), "text"),
        Column("Above", ("threshold",), "number"),
        Column("Share", ("share", "low", "high"), "triple"),
    )
    words = "The share of scores above each threshold; mean-profile: of environments, by their mean."
    return Table("Performance profiles, approximate", f"{words} {caption(found)}", columns, made)


def asked(found: Summaries) -> list[Table]:
    """Return the tables of what was asked for."""
    return [
        *([summaries(found)] if found.summaries else []),
        *([improvement(found)] if found.improvement is not None else []),
        *([profile(found)] if found.profiles else []),
    ]


def caption(found: Summaries) -> str:
    """Return the caption: what every number means and guarantees."""
    verdicts = f"Guaranteed, of the same scores: {' '.join(found.guaranteed)}" if found.guaranteed else ""
    return " ".join(filter(None, (found.basis, found.claim, *found.notes, verdicts)))


def _numbers(row: Mapping[str, Any], key: str) -> tuple[float, float, float]:
    value, low, high = (math.nan if row[each] is None else row[each] for each in (key, "low", "high"))
    return value, low, high
