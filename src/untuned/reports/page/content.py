"""What the page says, as plain records for its template."""

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from untuned.evaluation import Evaluation
from untuned.histories import Histories
from untuned.plans import Plan
from untuned.races.course import Course
from untuned.reports.citing import citation
from untuned.reports.closing import chosen, sentence
from untuned.reports.curves import trials_in
from untuned.reports.sentences import answer, leaders, question, scoring, weighing
from untuned.reports.tables.content import HOLDS_UP_TO, mean_digits, times
from untuned.scores import spread
from untuned.statements import OPPOSITE, approximation, direct, failed, next_steps

_SYMBOLS = {"better": ("▲", "better"), "worse": ("▼", "worse"), "not separable yet": ("·", "open")}


def content(
    evaluation: Evaluation,
    beside: Sequence[Evaluation],
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
    return {
        "title": title,
        "version": version,
        "question": question(evaluation),
        "failed": failed(readable),
        "if_raced": ""
        if evaluation.scores.declared is None
        else " (approximate: the scores decided how many there are)",
        "answer": answer(readable),
        "rankings": [
            _ranking(each, named, beside, drawn)
            for each, named, drawn in zip(
                evaluation.each_ranking, readable.each_ranking, charts["rankings"], strict=True
            )
        ],
        "opposite": [line for line in readable.comparison if line.startswith(OPPOSITE)],
        "compared": [
            *(line for line in readable.comparison if not line.startswith(OPPOSITE)),
            *direct(readable),
        ],
        "head_to_head": evaluation.each_ranking[0].head_to_head_rows(),
        "approximate": approximation(readable),
        "approximate_method": evaluation.approximate.method if evaluation.approximate is not None else "",
        "statement": readable.statement,
        "steps": steps,
        # What every plan says is said once.
        "plan": list(dict.fromkeys(line for each in plans for line in each.sentences() if line not in steps)),
        "holds_up_to": HOLDS_UP_TO,
        "valid": evaluation.valid,
        "claim": evaluation.claim,
        "warnings": evaluation.warnings,
        "scoring": scoring(evaluation),
        "facts": _facts(evaluation),
        "percent": evaluation.level,
        "algorithms": [{"number": a, "name": name} for a, name in enumerate(evaluation.algorithms)],
        "bands": int((evaluation.trials_ae > 0).sum()),
        "environments": _environments(weighed),
        "weighed": weighed.weights != "uniform",
        "under_weights": weighed.under_weights,
        "unbounded": not all(math.isfinite(end) for ends in evaluation.ranges for end in ends),
        "ranks": _ranks(evaluation.each_ranking[0]),
        "heaviest": float(weighed.q_er.max()) or 1.0,
        "reference_weights": weighed.reference_weights.tolist(),
        "curves": [panel["environment"] for panel in charts["curves"]],
        "efficiency": charts["efficiency"],
        "unit": charts["unit"],
        "trials": "trials" if histories is None else trials_in(histories),
        "responses": bool(charts["responses"]),
        "cut": len(charts["responses"]) >= charts["most_responses"],
        "most": _most(histories),
        "settings": [(name.replace("_", " "), _said(value)) for name, value in evaluation.settings.items()],
        "provenance": [
            *evaluation.provenance.items(),
            *({} if histories is None else histories.facts).items(),
            ("trials in all", f"{int(evaluation.trials_ae.sum()):,}"),
            ("scores' fingerprint", evaluation.scores.fingerprint),
        ],
        "race": None if race is None else _race(race),
        "command": command,
        "citation": citation(version),
    }


def _race(race: Course) -> dict[str, Any]:
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
            }
            for pair in chosen(race)
        ],
        "cut": len(race.pairs) > len(chosen(race)),
    }


def _most(histories: Histories | None) -> str:
    """Return how many trials of a cell were read at most; nothing where all were."""
    if histories is None or all(history.scores.size < histories.most for history in histories.cells.values()):
        return ""
    return f"{histories.most:,}"


def _ranking(
    each: Evaluation, readable: Evaluation, beside: Sequence[Evaluation], drawn: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what the page says about one ranking."""
    first = leaders(each)
    others = each.alike(beside)
    return {
        "weights": each.weights,
        "title": each.rankings[0].title,
        "heading": each.rankings[0].heading,
        "verdicts": readable.verdicts,
        "weighing": weighing(each),
        "method": each.method,
        "methods": [other.method for other in (each, *others)],
        "rows": _numbered(each.rows(), each),
        "significant": first if len(first) < len(each.algorithms) else (),
        "beside": [
            {"method": other.method, "valid": other.valid, "claim": other.claim, "rows": other.rows()}
            for other in others
        ],
        "matrix": _matrix(each),
        "any_decided": bool(each.pairs.better_ab.any()),
        "pairs": [{**row, "times": times(each, row).shown[0]} for row in each.pair_rows()],
        "capped": each.rankings[0].cap_ab is not None,
        "aggregate_height": 96 + len(each.algorithms) * (24 + 12 * len(others)),
        "order_height": 60 + 70 * (max(drawn["order_diagram"]["level"]) + 1),
    }


def _readable(evaluation: Evaluation) -> Evaluation:
    """Return the evaluation with names as they may stand in sentences."""
    other = evaluation.approximate
    return replace(
        evaluation,
        algorithms=tuple(map(isolated, evaluation.algorithms)),
        environments=tuple(map(isolated, evaluation.environments)),
        approximate=None if other is None else _readable(other),
    )


def isolated(name: str) -> str:
    """Return a name as it may stand in a sentence: right-to-left text must not reorder what is around it."""
    plain = re.sub("[\u202a-\u202e\u2066-\u2069]", "", name)
    if plain == name and not any(unicodedata.bidirectional(letter) in ("R", "AL", "AN") for letter in name):
        return name
    return f"\N{FIRST STRONG ISOLATE}{plain}\N{POP DIRECTIONAL ISOLATE}"


def _facts(evaluation: Evaluation) -> str:
    trials = evaluation.trials_ae
    trial = "trial" if trials.max() == 1 else "trials"
    environment = "environment" if len(evaluation.environments) == 1 else "environments"
    return (
        f"{len(evaluation.algorithms)} algorithms, {len(evaluation.environments)} {environment}, "
        f"{spread(trials)} {trial} of each pair of them; "
        f"intervals by {' and '.join(dict.fromkeys(each.method for each in evaluation.each_ranking))}, "
        f"{evaluation.level} together"
    )


def _numbered(rows: list[dict[str, Any]], evaluation: Evaluation) -> list[dict[str, Any]]:
    numbers = {name: a for a, name in enumerate(evaluation.algorithms)}
    return [{**row, "number": numbers[row["name"]]} for row in rows]


def _matrix(evaluation: Evaluation) -> list[dict[str, Any]]:
    return [
        {
            "name": evaluation.algorithms[a],
            "number": a,
            "cells": [None if a == b else _verdict(evaluation, a, b) for b in evaluation.order],
        }
        for a in evaluation.order
    ]


def _verdict(evaluation: Evaluation, a: int, b: int) -> dict[str, str]:
    verdict = evaluation.pairs.verdict(a, b)
    symbol, kind = _SYMBOLS[verdict]
    low, high = evaluation.pairs.low_ab[a, b], evaluation.pairs.high_ab[a, b]
    return {
        "verdict": verdict,
        "symbol": symbol,
        "kind": kind,
        "title": f"{evaluation.algorithms[a]} less {evaluation.algorithms[b]}: between {low:.4f} and {high:.4f}",
    }


def _environments(evaluation: Evaluation) -> list[dict[str, Any]]:
    by_name: dict[str, list[dict[str, Any]]] = {name: [] for name in evaluation.environments}
    written = {name: mean_digits(evaluation, e) for e, name in enumerate(evaluation.environments)}
    for row in evaluation.environment_rows():
        # What is None there has no trials, no end below, or no end above.
        ends = (row["mean"], math.nan), (row["mean_low"], -math.inf), (row["mean_high"], math.inf)
        shown = [
            signed(written[row["environment"]].shown(instead if number is None else number)) for number, instead in ends
        ]
        by_name[row["environment"]].append({**row, "name": row["algorithm"], "shown": shown})
    weights = evaluation.environment_weights
    return [
        {
            "name": name,
            "weight": float(weights[e]),
            "weights": evaluation.q_er[e].tolist(),
            "range": _range(*evaluation.ranges[e]),
            "rows": _numbered(by_name[name], evaluation),
        }
        for e, name in enumerate(evaluation.environments)
    ]


def _range(low: float, high: float) -> str:
    if not math.isfinite(low) and not math.isfinite(high):
        return ""
    return signed(f"{low:,g} to {high:,g}").replace("inf", "∞")


def _ranks(evaluation: Evaluation) -> list[dict[str, Any]]:
    return [
        {
            "name": evaluation.algorithms[a],
            "number": a,
            "cells": [
                {
                    "rank": int(ranks.rank[a]) if evaluation.trials_ae[a, e] else None,
                    "worst": int(ranks.worst[a]),
                    "best": int(ranks.best[a]),
                }
                for e, ranks in enumerate(evaluation.means.ranks)
            ],
        }
        for a in evaluation.order
    ]


def signed(number: str) -> str:
    """Return a number with the sign that is as wide as a digit."""
    return number.replace("-", "\N{MINUS SIGN}")


def _said(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
