"""The parts of the page on races: how often they are wrong, and what they cost."""

from collections.abc import Mapping
from functools import partial

from rendering.files import Part, Results, Row
from rendering.markdown import digits, duration, named, percent, table

_ERRORS, _SAVINGS = "race-errors", "race-savings"
_EVENTS = {
    "verdicts": "a verdict",
    "bounds": "a bound",
    "within": "too close to matter",
    "evaluation": "the evaluation",
    "anything": "anything",
}
_GROUPS = {"all": "", "rule": "rule", "weights": "weights", "goal": "goal"}
_WAYS = {
    "race by-cost": "race, `by-cost`",
    "race eliminate": "race, `eliminate`",
    "race equal": "race, `equal`",
    "equal pooled": "`pooled`",
    "equal pairing": "`pairing`",
    "equal betting": "`betting`",
    "equal pbp": "`pbp`",
}


# --- errors


def errors(results: Results) -> str:
    """Return the races in which anything was wrong, by rule, weights and goal."""
    lines = []
    for group, word in _GROUPS.items():
        for row in results.rows(_ERRORS, "anything", by=group):
            name = f"{word} `{row['name']}`" if word else "all"
            # Not every race is evaluated.
            counts = [
                f"{row[event]['count']:,}" + (f" of {row[event]['total']:,}" if event == "evaluation" else "")
                for event in _EVENTS
            ]
            high = max(row[event]["high"] for event in ("anything", "evaluation"))
            lines.append([f"{row['delta']:g}", name, f"{row['races']:,}", *counts, percent(high, 1)])
    lines.sort(key=lambda line: float(line[0]))
    return table(["delta", "races", "how many", *_EVENTS.values(), "upper limit"], lines, left=2)


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


def savings(board: str, weights: str, results: Results) -> str:
    """Return what every goal takes, by race and with equal numbers."""
    rows = results.rows(_SAVINGS, "way", board=board, weights=weights)
    ways = [way for way in _WAYS if any(row["way"] == way for row in rows)]
    lines = []
    for goal in dict.fromkeys(row["goal"] for row in rows):
        by_way = {row["way"]: row for row in rows if row["goal"] == goal}
        least = min((row["seconds"] for row in by_way.values() if row["seconds"] is not None), default=None)
        lines.append([f"`{goal}`", *(_cost(by_way[way], least) for way in ways)])
    return table(["goal", *(_WAYS[way] for way in ways)], lines)


def _cost(row: Row, least: float | None) -> str:
    if row["seconds"] is None:
        return "not reached" if row["reached"] == 0 else f"reached in {row['reached']} of {row['repetitions']}"
    cost = duration(row["seconds"])
    return f"{f'**{cost}**' if row['seconds'] == least else cost} ({_thousands(row['trials'])})"


def _thousands(trials: float) -> str:
    return f"{float(digits(trials, 2).replace(',', '')):,.0f}"


def savings_settings(results: Results) -> str:
    rows = results.rows(_SAVINGS, "way")
    raced = next(row for row in rows if row["way"].startswith("race"))["repetitions"]
    fewer = sorted({row["repetitions"] for row in rows if row["repetitions"] < raced}, reverse=True)
    others = f", {' or '.join(named(each) for each in fewer)} for methods that take many trials" if fewer else ""
    return f"medians of {named(raced)} repetitions{others}"


def judging(results: Results) -> str:
    """Return the time of judging, as a part of that of collecting."""
    lines = [
        [
            f"`{row['rule']}`",
            f"{row['rounds']}",
            f"{row['trials']:,}",
            duration(row["collecting"]),
            duration(row["judging"]),
            percent(row["share"], 1),
        ]
        for row in results.rows(_SAVINGS, "judging")
    ]
    return table(["rule", "rounds", "trials", "collecting", "judging", "part"], lines)


PARTS: Mapping[str, Part] = {
    "races-errors": errors,
    "races-errors-in-short": errors_in_short,
    "races-11x15": partial(savings, "11x15", "uniform"),
    "races-4x9": partial(savings, "4x9", "uniform"),
    "races-4x9-game": partial(savings, "4x9", "game"),
    "races-settings": savings_settings,
    "races-judging": judging,
}
