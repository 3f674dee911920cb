"""What the page says and draws, as plain records for its template."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from untuned.evaluation import Evaluation
from untuned.histories import Histories
from untuned.plans import Plan
from untuned.races.course import Course
from untuned.reports.citing import citation
from untuned.reports.closing import chosen, sentence
from untuned.reports.curves import trials_in
from untuned.reports.page import drawing
from untuned.reports.page.charts import FEW, MOST_LINES, median
from untuned.reports.page.names import isolated
from untuned.reports.sentences import answer, leaders, question, scoring, weighing
from untuned.reports.styles import styles
from untuned.reports.tables.content import HOLDS_UP_TO, mean_digits, times
from untuned.reports.tables.digits import digits_of_scores
from untuned.scores import Floats, Ints, spread
from untuned.statements import OPPOSITE, VACUOUS, approximation, direct, failed, next_steps, says_nothing
from untuned.verdicts import NOT_SEPARABLE, listed

_SYMBOLS = {"better": ("▲", "better"), "worse": ("▼", "worse"), NOT_SEPARABLE: ("·", "open")}
#: Differences that are drawn at most: beyond, those of the best score alone. A matrix of more algorithms has no
#: numbers, one of many is folded; so are verdicts beyond the first ones.
_DIFFERENCES, _BEST_DIFFERENCES, _NUMBERED, _MATRIX, _VERDICTS = 15, 20, 7, 16, 10
#: Environments that are open, that a sentence names, and whose learning curves are open.
_OPEN, _NAMED, _CURVES = 6, 3, 7
#: What settings mean that no option has the name of.
_EXPLAINED = {
    "slack": " (the solver of the game stopped here: bounds are wider by this at most)",
    "shares": " (of delta, for each ranking)",
    "functional": " (the share of delta for the bound on averages)",
    "refine": " (cases that were examined at most for an undecided pair)",
    "payoff": " (how ties count)",
}


def content(
    evaluation: Evaluation,
    compare_with: Sequence[Evaluation],
    histories: Histories | None,
    charts: Mapping[str, Any],
    plans: Sequence[Plan],
    race: Course | None,
    *,
    title: str,
    command: str,
    version: str,
) -> dict[str, Any]:
    """Return what the template needs, by name; everything is escaped there."""
    readable = _readable(evaluation)
    steps = next_steps(readable, plans)
    # The weights that differ from one environment to another, if there are such.
    weighed = evaluation.each_ranking[-1]
    looks = [styles(evaluation.algorithms)[name] for name in evaluation.algorithms]
    environments = _environments(weighed, charts)
    duels = evaluation.each_ranking[0].head_to_head_rows()
    return {
        "look": drawing.style_sheet(looks),
        "definitions": drawing.definitions(looks),
        "title": title,
        "version": version,
        "question": question(evaluation),
        "failed": failed(readable),
        "if_raced": ""
        if evaluation.scores.declared is None
        else " (approximate: the scores decided how many there are)",
        "answer": answer(readable),
        "rankings": [
            _ranking(each, named, compare_with, drawn)
            for each, named, drawn in zip(
                evaluation.each_ranking, readable.each_ranking, charts["rankings"], strict=True
            )
        ],
        "opposite": [line for line in readable.comparison if line.startswith(OPPOSITE)],
        "compared": [
            *(line for line in readable.comparison if not line.startswith(OPPOSITE)),
            *direct(readable),
        ],
        "head_to_head": _shown(duels, _wins(duels)),
        "approximate": approximation(readable),
        "approximate_method": evaluation.approximate.method if evaluation.approximate is not None else "",
        "statement": readable.statement,
        "steps": steps,
        **_plans(plans, steps),
        "holds_up_to": HOLDS_UP_TO,
        "valid": evaluation.valid,
        "claim": evaluation.claim,
        "not_separable": NOT_SEPARABLE,
        "warnings": evaluation.warnings,
        "scoring": scoring(evaluation),
        "facts": _facts(evaluation),
        "percent": _unbroken(evaluation.level),
        "algorithms": [{"number": a, "name": evaluation.algorithms[a]} for a in evaluation.each_ranking[0].order],
        "bands": int((evaluation.trials_ae > 0).sum()),
        "environments": environments,
        "runs": evaluation.scores.runs is not None,
        "few": FEW if all(panel["few"] for panel in charts["distributions"]["panels"]) else 0,
        "some_few": any(panel["few"] for panel in charts["distributions"]["panels"]),
        "turning": not all(panel["few"] for panel in charts["distributions"]["panels"]),
        "drawn": MOST_LINES if len(evaluation.algorithms) > MOST_LINES else 0,
        "tailed": any(each["far"] for each in environments),
        "without_means": sum(not each["bounded"] for each in environments),
        "without_ranks": sum(not each["ranked"] for each in environments),
        "weighed": weighed.weights != "uniform",
        "under_weights": weighed.under_weights,
        "unbounded": not all(math.isfinite(end) for ends in evaluation.ranges for end in ends),
        "ranks": _ranks(evaluation.each_ranking[0], [each["number"] for each in environments]),
        "heaviest": float(weighed.q_er.max()) or 1.0,
        "references": [evaluation.algorithms[a] for a in weighed.order],
        "reference_weights": weighed.reference_weights[list(weighed.order)].tolist(),
        "curves": [
            {"number": number, "environment": panel["environment"], "chart": _curve(panel, charts["unit"])}
            for number, panel in enumerate(charts["curves"], start=1)
        ],
        # One more than this is not worth a click.
        "most_curves": _CURVES if len(charts["curves"]) > _CURVES + 1 else _CURVES + 1,
        "efficiency": None
        if charts["efficiency"] is None
        else {**charts["efficiency"], "chart": _efficiency(charts["efficiency"])},
        "unit": charts["unit"],
        "trials": "trials" if histories is None else trials_in(histories),
        "responses": _responses(evaluation, charts),
        "cut": len(charts["responses"]) >= charts["most_responses"],
        "most": _most(histories),
        "settings": [
            (name.replace("_", " "), f"{_said(value)}{_EXPLAINED.get(name, '')}")
            for name, value in evaluation.settings.items()
        ],
        "provenance": [
            *evaluation.provenance.items(),
            *({} if histories is None else histories.facts).items(),
            ("trials in all", f"{int(evaluation.trials_ae.sum()):,}"),
            ("scores' fingerprint", evaluation.scores.fingerprint),
        ],
        "race": None if race is None else _race(race, charts["race"]),
        "command": command,
        "citation": citation(version),
    }


def _race(race: Course, drawn: Mapping[str, Any]) -> dict[str, Any]:
    """Return how the race went: sentences, trials of every algorithm, and the pairs that are drawn."""
    named = replace(race, algorithms=tuple(map(isolated, race.algorithms)))
    return {
        "sentences": named.sentences(),
        "shares": named.shares(),
        "pairs": [
            {
                "ahead": race.algorithms[pair.ahead],
                "behind": race.algorithms[pair.behind],
                "sentence": signed(sentence(pair)),
                "chart": drawing.closing(
                    drawn,
                    number,
                    f"Bounds on the difference of {race.algorithms[pair.ahead]} and {race.algorithms[pair.behind]} "
                    "after every round; the last are above.",
                ),
            }
            for number, pair in enumerate(chosen(race))
        ],
        "cut": len(race.pairs) > len(chosen(race)),
    }


def _most(histories: Histories | None) -> str:
    """Return how many trials of a cell were read at most; nothing where all were."""
    if histories is None or all(history.scores.size < histories.most for history in histories.cells.values()):
        return ""
    return f"{histories.most:,}"


def _curve(panel: Mapping[str, Any], unit: str) -> str:
    return _lines(panel["series"], unit, "median return", f"Median return on {panel['environment']} by {unit}.")


def _efficiency(found: Mapping[str, Any]) -> str:
    series = [{**each, "x": found["x"]} for each in found["series"]]
    return _lines(series, found["label"], "aggregate score", f"Aggregate scores by {found['label']}.")


def _lines(series: Sequence[Mapping[str, Any]], across: str, along: str, label: str) -> str:
    """Return lines over an axis of training, as high as they and their bands are."""
    shown = [
        end
        for each in series
        for name in ("y", "low", "high")
        for end, other in zip(each.get(name, ()), each.get("high" if name == "low" else "low", each["y"]), strict=False)
        if end is not None and (name == "y" or other is not None)
    ]
    x = [value for each in series for value in each["x"]]
    low, high = (min(x), max(x)) if min(x) < max(x) else (min(x) - 1.0, max(x) + 1.0)
    y = drawing.around(shown or [0.0], along)
    return drawing.lines(series, drawing.Axis(low, high, across), y, label)


def _responses(evaluation: Evaluation, charts: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return charts of hyperparameters by algorithm and environment, the best algorithm first."""
    place = {a: number for number, a in enumerate(charts["order"])}
    found: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for each in sorted(charts["responses"], key=lambda each: (place[each["a"]], each["e"])):
        chart = drawing.response(each, f"Median score by {each['name']}")
        found.setdefault((each["a"], each["e"]), []).append({**each, "chart": chart})
    return [
        {
            "a": a,
            "e": e,
            "algorithm": evaluation.algorithms[a],
            "environment": evaluation.environments[e],
            "charts": drawn,
        }
        for (a, e), drawn in found.items()
    ]


def _ranking(
    each: Evaluation, readable: Evaluation, compare_with: Sequence[Evaluation], drawn: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what the page says about one ranking."""
    first = leaders(each)
    others = each.alike(compare_with)
    title = each.rankings[0].title
    score, difference = _scores(each.rows()), _differences(each.pair_rows())
    pairs = each.pair_rows()
    best = each.algorithms[each.order[0]]
    every = len(pairs) <= _DIFFERENCES
    shown = pairs if every else [row for row in pairs if row["a"] == best][:_BEST_DIFFERENCES]
    return {
        "weights": each.weights,
        "title": title,
        "heading": each.rankings[0].heading,
        "verdicts": readable.verdicts if len(readable.verdicts) <= _VERDICTS + 2 else readable.verdicts[:_VERDICTS],
        "more_verdicts": () if len(readable.verdicts) <= _VERDICTS + 2 else readable.verdicts[_VERDICTS:],
        # Of two algorithms the difference says as much; without a verdict it has only dots.
        "matrix_shown": len(each.algorithms) > 2,
        "fold_matrix": len(each.algorithms) > _MATRIX or not each.pairs.better_ab.any(),
        "where": _where(readable),
        "weighing": weighing(each),
        "method": each.method,
        "methods": [other.method for other in (each, *others)],
        "rows": _numbered(_shown(each.rows(), score), each),
        "every_rank": _every_rank(each.rankings[0].ranks.worst, each.rankings[0].ranks.best),
        "vacuous": any(np.any(other.high_a - other.low_a >= VACUOUS) for other in (each, *others)),
        "any_drawn": any(np.any(other.high_a - other.low_a < VACUOUS) for other in (each, *others)),
        "bounded": not says_nothing(each),
        "pairs_bounded": any(row["high"] - row["low"] < 2 * VACUOUS for row in pairs),
        "significant": first if len(first) < len(each.algorithms) else (),
        "others": [
            {
                "method": other.method,
                "valid": other.valid,
                "claim": other.claim,
                "bounded": True,
                "rows": _shown(other.rows(), _scores(other.rows())),
            }
            for other in others
        ],
        "matrix": _matrix(each, difference),
        "undecided": any(row["verdict"] == NOT_SEPARABLE for row in pairs),
        "any_decided": bool(each.pairs.better_ab.any()),
        "pairs": [{**row, "times": times(each, row).shown[0]} for row in _shown(pairs, difference)],
        "capped": any(row["cap"] is not None for row in pairs),
        "aggregate_chart": drawing.aggregate(
            drawn,
            each.algorithms,
            f"Aggregate scores under {title} with intervals; the table below has every number.",
            score,
        ),
        "differences_chart": drawing.differences(
            shown,
            f"Differences of scores under {title} with intervals; the table below has every number.",
            difference,
            None if every else best,
        )
        if any(row["high"] - row["low"] < 2 * VACUOUS for row in shown)
        else "",
        "every_difference": every,
        "best": best,
        "order_chart": drawn["order_diagram"]
        and drawing.order_diagram(
            drawn["order_diagram"],
            each.algorithms,
            f"Diagram of the verdicts under {title}: a line leads from the better algorithm down to the worse; "
            "the matrix above says the same.",
        ),
    }


def _scores(rows: Iterable[Mapping[str, Any]]) -> Callable[[float], str]:
    """Return how scores are written: with as many digits as their intervals give a meaning to."""
    written = digits_of_scores(rows)
    return lambda number: signed(written.shown(number))


def _wins(rows: Iterable[Mapping[str, Any]]) -> Callable[[float], str]:
    """Return the same for how often one beats the other."""
    return digits_of_scores(rows, 0.5).shown


def _differences(rows: Iterable[Mapping[str, Any]]) -> Callable[[float], str]:
    """Return the same for differences, with their sign."""
    decimals = digits_of_scores(rows, 0.0).decimals
    return lambda number: signed(f"{number:+z.{decimals}f}")


def _shown(rows: Iterable[Mapping[str, Any]], written: Callable[[float], str]) -> list[dict[str, Any]]:
    return [
        {
            **row,
            "shown": {key: written(row[key]) for key in ("score", "difference", "win", "low", "high") if key in row},
        }
        for row in rows
    ]


def _every_rank(worst: Ints, best: Ints) -> bool:
    """Return whether every algorithm may have every rank; then a table leaves the ranks out."""
    return bool(np.all(best == 1) and np.all(worst == worst.size))


def _plans(plans: Sequence[Plan], steps: Sequence[str]) -> dict[str, Any]:
    """Return what every plan says, by ranking, and what all of them say; first sentences are among the next steps."""
    said = [[line for line in each.sentences() if line not in steps] for each in plans]
    shared = [line for line in said[0] if all(line in each for each in said)] if len(said) > 1 else []
    own = [[line for line in each if line not in shared] for each in said]
    return {"plans": [(each.title, lines) for each, lines in zip(plans, own, strict=True) if lines], "plan": shared}


def _where(each: Evaluation) -> list[str]:
    """Return which environments make the best score's lead over the next ones, and which speak against it."""
    if len(each.environments) == 1:
        return []
    first = each.order[0]
    found = []
    for other in each.order[1 : 1 + _NAMED]:
        parts = (each.q_er * (each.percentiles.z_aer[first] - each.percentiles.z_aer[other])).sum(axis=1)
        ahead, behind = (
            [e for e in np.argsort(-sign * parts, kind="stable").tolist() if sign * parts[e] > 5e-4] for sign in (1, -1)
        )

        def most(environments: Sequence[int], parts: Floats = parts) -> str:
            said = [f"{each.environments[e]} ({signed(f'{parts[e]:+.3f}')})" for e in environments[:_NAMED]]
            return f"{len(environments)}{', most on' if len(environments) > _NAMED else ':'} {listed(said)}"

        text = f"{each.algorithms[first]} leads {each.algorithms[other]} by {parts.sum():.3f}"
        if ahead:
            text += f". Ahead on {most(ahead)}"
        found.append(f"{text}; behind on {most(behind)}." if behind else f"{text}.")
    return found


def _readable(evaluation: Evaluation) -> Evaluation:
    """Return the evaluation with names as they may stand in sentences."""
    other = evaluation.approximate
    return replace(
        evaluation,
        algorithms=tuple(map(isolated, evaluation.algorithms)),
        environments=tuple(map(isolated, evaluation.environments)),
        approximate=None if other is None else _readable(other),
    )


def _facts(evaluation: Evaluation) -> str:
    trials = evaluation.trials_ae
    trial = "trial" if trials.max() == 1 else "trials"
    environment = "environment" if len(evaluation.environments) == 1 else "environments"
    methods = list(dict.fromkeys(each.method for each in evaluation.each_ranking))
    return (
        f"{len(evaluation.algorithms)} algorithms, {len(evaluation.environments)} {environment}, "
        f"{spread(trials)} {trial} of each algorithm on each environment; simultaneous "
        f"{_unbroken(evaluation.level)} intervals ({'method' if len(methods) == 1 else 'methods'} {listed(methods)})"
    )


def _numbered(rows: list[dict[str, Any]], evaluation: Evaluation) -> list[dict[str, Any]]:
    numbers = {name: a for a, name in enumerate(evaluation.algorithms)}
    return [{**row, "number": numbers[row["name"]]} for row in rows]


def _matrix(evaluation: Evaluation, written: Callable[[float], str]) -> list[dict[str, Any]]:
    return [
        {
            "name": evaluation.algorithms[a],
            "brief": drawing.brief(evaluation.algorithms[a], drawing.LETTERS),
            "number": a,
            "cells": [None if a == b else _verdict(evaluation, a, b, written) for b in evaluation.order],
        }
        for a in evaluation.order
    ]


def _verdict(evaluation: Evaluation, a: int, b: int, written: Callable[[float], str]) -> dict[str, str]:
    verdict = evaluation.pairs.verdict(a, b)
    symbol, kind = _SYMBOLS[verdict]
    low, high = evaluation.pairs.low_ab[a, b], evaluation.pairs.high_ab[a, b]
    difference = float(evaluation.score_a[a] - evaluation.score_a[b])
    return {
        "verdict": verdict,
        "symbol": symbol,
        "number": signed(f"{difference:+z.2f}").replace("0.", ".") if len(evaluation.algorithms) <= _NUMBERED else "",
        "kind": kind,
        "title": f"{evaluation.algorithms[a]} less {evaluation.algorithms[b]}: {written(difference)}, "
        f"between {written(low)} and {written(high)}",
    }


def _environments(evaluation: Evaluation, charts: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return all environments, those that weigh most, or else disagree most, first."""
    by_name: dict[str, list[dict[str, Any]]] = {name: [] for name in evaluation.environments}
    written = {name: mean_digits(evaluation, e) for e, name in enumerate(evaluation.environments)}
    for row in evaluation.environment_rows():
        e = evaluation.environments.index(row["environment"])
        scores = evaluation.scores.cells[evaluation.algorithms.index(row["algorithm"])][e]
        middle = median(scores) if scores.size else None
        # None there means no trials, no lower end, or no upper end.
        ends = (
            (row["mean"], math.nan),
            (middle, math.nan),
            (row["mean_low"], -math.inf),
            (row["mean_high"], math.inf),
        )
        shown = [
            signed(written[row["environment"]].shown(instead if number is None else number)) for number, instead in ends
        ]
        by_name[row["environment"]].append({**row, "name": row["algorithm"], "median": middle, "shown": shown})
    weights = evaluation.environment_weights
    found = []
    for e, name in enumerate(evaluation.environments):
        panel = charts["distributions"]["panels"][e]
        shares = [share for share in panel["shares"] if share is not None]
        ranks = evaluation.means.ranks[e]
        view, whole = panel["view"], drawing.around(panel["ends"], "score")
        found.append(
            {
                "number": e,
                "name": name,
                "weight": float(weights[e]),
                "disagreement": max(shares, default=0.0) - min(shares, default=0.0),
                "weights": evaluation.q_er[e, list(evaluation.order)].tolist(),
                "range": _range(*evaluation.ranges[e]),
                "rows": _numbered(by_name[name], evaluation),
                "bounded": not all(row["mean_low"] is None and row["mean_high"] is None for row in by_name[name]),
                "ranked": not _every_rank(ranks.worst, ranks.best),
                "few": panel["few"],
                "spark": drawing.spark(panel["shares"]),
                "chart": _panel(evaluation, charts, e, view),
                "far": _panel(evaluation, charts, e, (whole.low, whole.high))
                if panel["ends"][0] < view[0] or panel["ends"][1] > view[1]
                else "",
            }
        )
    key = "weight" if evaluation.weights != "uniform" else "disagreement"
    found.sort(key=lambda each: -each[key])
    return [{**each, "open": place < _OPEN} for place, each in enumerate(found)]


def _panel(evaluation: Evaluation, charts: Mapping[str, Any], e: int, view: Sequence[float]) -> str:
    panel = charts["distributions"]["panels"][e]
    label = f"Scores on {panel['environment']}"
    if panel["few"]:
        return drawing.strip(
            panel, evaluation.algorithms, charts["order"], f"{label}: every trial, and the medians.", view
        )
    return drawing.distribution(
        panel, charts["distributions"]["levels"], f"{label}: quantile functions with bands.", view
    )


def _range(low: float, high: float) -> str:
    if not math.isfinite(low) and not math.isfinite(high):
        return ""
    return signed(f"from {low:,g} to {high:,g}").replace("inf", "∞")


def _ranks(evaluation: Evaluation, environments: Sequence[int]) -> list[dict[str, Any]]:
    """Return the ranks on each environment, the algorithms in the order of a ranking."""
    found = []
    for e in environments:
        ranks = evaluation.means.ranks[e]
        every = _every_rank(ranks.worst, ranks.best)
        cells = [
            {
                "rank": int(ranks.rank[a]) if evaluation.trials_ae[a, e] else None,
                "allowed": None if every else (int(ranks.worst[a]), int(ranks.best[a])),
            }
            for a in evaluation.order
        ]
        found.append({"name": evaluation.environments[e], "cells": cells})
    return found


def _unbroken(percent: str) -> str:
    """Return a percentage in which no line ends."""
    return percent.replace(" ", "\N{NO-BREAK SPACE}")


def signed(number: str) -> str:
    """Return a number with the sign that is as wide as a digit."""
    return number.replace("-", "\N{MINUS SIGN}")


def _said(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_said(share)}" for name, share in value.items())
    return f"{value:.3g}" if isinstance(value, float) else str(value)
