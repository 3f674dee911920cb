"""The parts of the page on protocols: what tuning first changes."""

from collections.abc import Mapping

from rendering.files import Part, Results
from rendering.markdown import percent, table

_FILE = "protocols"
_WAYS = {
    "untuned": "complete trials",
    "tune-and-report": "`tune-and-report`",
    "cross-environment": "`cross-environment`",
}


def cells(results: Results) -> str:
    """Return mean scores with and without tuning, and how often intervals around test runs miss."""
    lines = [
        [
            f"`{row['algorithm']}`",
            f"`{row['environment']}`",
            f"{row['untuned']:.1f}",
            f"{row['tuned']:.1f}",
            f"{row['missed']} of {row['replications']}",
        ]
        for row in results.rows(_FILE, "missed")
    ]
    return table(["algorithm", "environment", "untuned", "tuned", "missed"], lines, left=2)


def missed(results: Results) -> str:
    """Return the part of all intervals that miss."""
    rows = results.rows(_FILE, "missed")
    total = sum(row["replications"] for row in rows)
    return f"{percent(sum(row['missed'] for row in rows) / total)} of {total}"


def scores(results: Results) -> str:
    """Return what every way of collecting says of each algorithm, and what one setting for all loses."""
    lines = [
        [f"`{row['of']}`", *(f"{row['scores'][way]:.3f}" for way in _WAYS), f"{100 * row['lost']:+.1f}"]
        for row in results.rows(_FILE, "of")
    ]
    return table(["algorithm", *_WAYS.values(), "lost by one setting"], lines)


def costs(results: Results) -> str:
    """Return how many runs an independent score takes."""
    lines = [
        [_WAYS[row["way"]], f"{row['runs']:,}", f"{row['samples']:,}", f"{row['runs'] / row['samples']:.3g}"]
        for row in results.rows(_FILE, "way")
    ]
    return table(["way to collect", "runs", "independent scores", "runs per score"], lines)


def settings(results: Results) -> str:
    """Return how much was run."""
    found = results.settings(_FILE)
    return f"{found['replications']} repetitions, {found['draws']} draws, {found['seeds']} seeds"


PARTS: Mapping[str, Part] = {
    "protocols/cells": cells,
    "protocols/missed": missed,
    "protocols/scores": scores,
    "protocols/costs": costs,
    "protocols/settings": settings,
}
