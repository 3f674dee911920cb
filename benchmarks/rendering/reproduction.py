"""The parts of the page on the paper's experiment, from the file that ``untuned reproduce`` writes."""

from collections.abc import Iterable, Mapping
from typing import Any

from rendering import fidelity
from rendering.files import Part, Results, source_files
from rendering.markdown import table

_METHODS = ("pbp", "pbp-t", "bootstrap")


def summary(results: Results) -> str:
    return "\n".join(f"- {sentence}" for sentence in results.content("reproduction")["summary"])


def conclusions(results: Results) -> str:
    """Return the paper's conclusions, and whether they are decided, by ours and by the paper's methods."""
    return table(
        ["the paper says", "the game's weights", "equal weights", *_METHODS, "to decide it"],
        [
            [
                each["statement"],
                *(_status(words, bold=True) for words in (each["status"], each["equal"])),
                *(_status(each["others"].get(name)) for name in _METHODS),
                each["cost"],
            ]
            for each in results.content("reproduction")["conclusions"]
        ],
        left=7,
    )


def _status(words: str | None, *, bold: bool = False) -> str:
    if words in (None, "not decided yet"):
        return "" if words is None else "open"
    return f"**{words}**" if bold else f"{words}"


def scores(results: Results) -> str:
    found = results.content("reproduction")
    # Ours are two: under the game's weights, and under equal ones, which are no match for the published.
    equal, game = (name for name in found["methods"] if name not in _METHODS)
    intervals = {
        name: {row["name"]: row for row in found["methods"][name]["algorithms"]} for name in ("pbp", game, equal)
    }
    return table(
        ["algorithm", "score", "by pbp", f"by {game}", f"equal weights, by {equal}", "published", "z"],
        [
            [
                row["algorithm"],
                f"{row['score']:.4f}",
                *(
                    f"({intervals[name][row['algorithm']]['low']:.4f}, {intervals[name][row['algorithm']]['high']:.4f})"
                    for name in intervals
                ),
                f"{row['published']:.4f}",
                f"{row['z']:.1f}",
            ]
            for row in found["scores"]
        ],
    )


def cells(results: Results) -> str:
    """Return how far mean scores are from the published ones, with fixed numbers of trials and in the race."""
    raced = results.content("reproduction")["cells"]
    columns = [fidelity.by_environment(fidelity.cells(results).values()), fidelity.by_environment(raced)]
    heads = ["trials", "largest z", "beyond 3", "race: trials", "race: largest z", "race: beyond 3"]
    # Files of earlier versions have no guaranteed intervals.
    if any("within" in row for row in raced):
        columns.append(_apart(raced))
        heads.append("race: intervals apart")
    empty = [[""] * len(next(iter(column.values()))) for column in columns]
    lines = [
        [place, *(text for column, blank in zip(columns, empty, strict=True) for text in column.get(place, blank))]
        for place in dict.fromkeys(place for column in columns for place in column)
    ]
    return table(["environment", *heads], lines)


def _apart(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Return, by environment, how many guaranteed intervals on our mean and the published one do not overlap."""
    found: dict[str, list[bool]] = {}
    for row in rows:
        if row.get("within") is not None:
            found.setdefault(row["environment"], []).append(not row["within"])
    return {place: [f"{sum(apart)} of {len(apart)}"] for place, apart in found.items()}


PARTS: Mapping[str, Part] = {
    "reproduction-files": source_files("reproduction", "fidelity", "precision"),
    "reproduction-summary": summary,
    "reproduction-conclusions": conclusions,
    "reproduction-scores": scores,
    "reproduction-cells": cells,
}
