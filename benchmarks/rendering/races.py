"""The parts of the page on races: how often they are wrong, and what they cost."""

from collections.abc import Mapping

from rendering.files import Part, Results, Row
from rendering.markdown import duration, named, percent, span, table

_ERRORS, _SAVINGS = "race-errors", "race-savings"
_EVENTS = {
    "verdicts": "a verdict",
    "bounds": "a bound",
    "within": "too close",
    "evaluation": "the evaluation",
    "anything": "anything",
}
_GROUPS = {"all": "", "rule": "rule", "weights": "weights", "goal": "goal"}
_WAYS = {
    "race by-cost": "race, `by-cost`",
    "race eliminate": "race, `eliminate`",
    "race equal": "race, `equal`",
    "equal pooled": "equal, `pooled`",
    "equal pairing": "equal, `pairing`",
    "equal pbp": "equal, `pbp`",
}


# --- errors


def errors(results: Results) -> str:
    """Return the races in which anything was wrong: all of them, and the worst rule, weights and goal."""
    lines = []
    for group, word in _GROUPS.items():
        rows = results.rows(_ERRORS, "anything", by=group)
        for delta in dict.fromkeys(row["delta"] for row in rows):
            row = max((row for row in rows if row["delta"] == delta), key=_upper)
            name = f"worst {word}: `{row['name']}`" if word else "all"
            # Not every race is evaluated.
            counts = [
                f"{row[event]['count']:,}" + (f" of {row[event]['total']:,}" if event == "evaluation" else "")
                for event in _EVENTS
            ]
            lines.append([f"{delta:g}", name, f"{row['races']:,}", *counts, percent(_upper(row), 1)])
    lines.sort(key=lambda line: float(line[0]))
    return table(["delta", "races", "how many", *_EVENTS.values(), "upper limit"], lines, left=2)


def _upper(row: Row) -> float:
    """Return the upper limit of the rate of anything wrong, from all races or from those that were evaluated."""
    return max(float(row[event]["high"]) for event in ("anything", "evaluation"))


def errors_in_short(results: Results) -> str:
    """Return how many races there were, and whether any rate is above delta."""
    rows = results.rows(_ERRORS, "anything")
    broken = [row for row in rows if any(row[event]["low"] > row["delta"] for event in _EVENTS)]
    told = [
        f"{row['anything']['count']:,} of {row['races']:,} races at delta = {row['delta']:g}"
        for row in rows
        if row["by"] == "all"
    ]
    high = [row for row in rows if row["by"] == "population"]
    worst = max(high, key=lambda row: row["anything"]["rate"] / row["delta"])
    where = (
        f"most often on `{worst['name']}`, in {worst['anything']['count']:,} of {worst['races']:,} at "
        f"delta = {worst['delta']:g}"
    )
    kept = "no rate is" if not broken else f"{named(len(broken))} of the rates are"
    return f"anything was wrong in {' and in '.join(told)}, {where}; {kept} above delta beyond chance"


# --- what they cost


def savings(results: Results) -> str:
    """Return the time that every goal takes, by race and with equal numbers."""
    rows = results.rows(_SAVINGS, "way")
    lines = []
    for board, weights, goal in _goals(rows):
        by_way = _by_way(rows, board, weights, goal)
        least = _least(by_way)
        where = f"{board.replace('x', ' x ')}, {_WEIGHTS[weights]}"
        lines.append([where, f"`{goal}`", *(_cost(by_way[way], least) if way in by_way else "" for way in _WAYS)])
    return table(["board, weights", "goal", *_WAYS.values()], lines, left=2)


_WEIGHTS = {"uniform": "equal", "game": "the game's"}


def _goals(rows: list[Row]) -> list[tuple[str, str, str]]:
    found = dict.fromkeys((row["board"], row["weights"], row["goal"]) for row in rows)
    return sorted(found, key=lambda each: (each[1] == "game", -len(each[0])))


def _by_way(rows: list[Row], board: str, weights: str, goal: str) -> dict[str, Row]:
    wanted = (board, weights, goal)
    return {
        row["way"]: row for row in rows if (row["board"], row["weights"], row["goal"]) == wanted and row["way"] in _WAYS
    }


def _least(by_way: Mapping[str, Row]) -> float | None:
    return min((row["seconds"] for row in by_way.values() if row["seconds"] is not None), default=None)


def savings_in_short(results: Results) -> str:
    """Return which way takes the least time, and how often."""
    rows = results.rows(_SAVINGS, "way")
    goals = _goals(rows)
    won: dict[str, int] = {}
    for goal in goals:
        by_way = _by_way(rows, *goal)
        least = _least(by_way)
        for way, row in by_way.items():
            if row["seconds"] is not None and row["seconds"] == least:
                won[way] = won.get(way, 0) + 1
    words = {
        way: name.replace("equal, ", "equal numbers by ").replace("race, ", "races by ") for way, name in _WAYS.items()
    }
    listed = [f"{words[way]} for {won[way]} of {len(goals)} goals" for way in _WAYS if way in won]
    return f"Fastest: {', '.join(listed)}."


def _cost(row: Row, least: float | None) -> str:
    if row["seconds"] is None:
        return "not reached" if row["reached"] == 0 else f"reached in {row['reached']} of {row['repetitions']}"
    cost = duration(row["seconds"])
    return f"**{cost}**" if row["seconds"] == least else cost


def savings_settings(results: Results) -> str:
    rows = results.rows(_SAVINGS, "way")
    raced = next(row for row in rows if row["way"].startswith("race"))["repetitions"]
    fewer = sorted({row["repetitions"] for row in rows if row["repetitions"] < raced}, reverse=True)
    others = f", {' or '.join(named(each) for each in fewer)} for methods that take many trials" if fewer else ""
    return f"medians of {named(raced)} repetitions{others}"


def judging(results: Results) -> str:
    """Return the time of judging, as a part of that of collecting."""
    rows = results.rows(_SAVINGS, "judging")
    told = [f"`{row['rule']}` {percent(row['share'], 1)} ({row['rounds']} rounds)" for row in rows]
    return f"{', '.join(told)} of the processors' time, which is {span([row['collecting'] / 60 for row in rows])} min"


PARTS: Mapping[str, Part] = {
    "races-errors": errors,
    "races-errors-in-short": errors_in_short,
    "races-savings": savings,
    "races-savings-in-short": savings_in_short,
    "races-settings": savings_settings,
    "races-judging": judging,
}
