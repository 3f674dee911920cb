"""The parts of the page on the paper's experiment, from the file that ``untuned reproduce`` writes."""

from collections.abc import Mapping
from typing import Any

from rendering.files import Part, Results
from rendering.markdown import table

_METHODS = ("pbp", "pbp-t", "bootstrap")


def summary(results: Results) -> str:
    return "\n".join(f"- {sentence}" for sentence in results.content("reproduction")["summary"])


def conclusions(results: Results) -> str:
    return table(
        [
            "the paper says",
            "here it",
            "under equal weights",
            *(f"by {name}" for name in _METHODS),
            "because",
            "to decide it",
        ],
        [
            [
                each["statement"],
                *(
                    f"**{said}**" if said not in (None, "not decided yet") else said or ""
                    for said in (each["status"], each["equal"])
                ),
                *(each["others"].get(name, "") for name in _METHODS),
                each["because"],
                each["cost"],
            ]
            for each in results.content("reproduction")["conclusions"]
        ],
        left=8,
    )


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
    found = results.content("reproduction")["cells"]
    algorithms = list(dict.fromkeys(row["algorithm"] for row in found))
    lines = []
    for environment in dict.fromkeys(row["environment"] for row in found):
        here = {row["algorithm"]: row for row in found if row["environment"] == environment}
        trials = [row["trials"] for row in here.values()]
        if all(row["z"] is None for row in here.values()):
            continue
        spread = f"{min(trials):,}" if min(trials) == max(trials) else f"{min(trials):,} to {max(trials):,}"
        lines.append([environment, spread, *(_z(here[name]) for name in algorithms)])
    return table(["environment", "trials", *algorithms], lines, left=2)


def _z(cell: Mapping[str, Any]) -> str:
    """Return a z-score, bold where guaranteed intervals on both means do not overlap."""
    if cell["z"] is None:
        return "–"  # noqa: RUF001
    shown = f"{round(cell['z'], 1) + 0.0:.1f}"
    return f"**{shown}**" if cell.get("within") is False else shown


def intervals(results: Results) -> str:
    rows = results.content("reproduction")["table_2"]["rows"]

    def beside(row: Mapping[str, float | None], name: str, digits: int) -> str:
        ours, theirs = row[name], row[f"published_{name}"]
        return f"{ours:.{digits}f}" + ("" if theirs is None else f" ({theirs:.{digits}f})")

    return table(
        ["trials", "method", "samples", "failures (published)", "separated (published)", "truth missed"],
        [
            [
                f"{row['trials']:,}",
                f"`{row['method']}`",
                f"{row['samples']:,}",
                beside(row, "failures", 3),
                beside(row, "significant", 2),
                f"{row['truth']['rate']:.3f}",
            ]
            for row in rows
        ],
        left=2,
    )


PARTS: Mapping[str, Part] = {
    "reproduction-summary": summary,
    "reproduction-conclusions": conclusions,
    "reproduction-scores": scores,
    "reproduction-cells": cells,
    "reproduction-intervals": intervals,
}
