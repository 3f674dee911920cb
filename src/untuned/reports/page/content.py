"""What the page says, as plain records for its template."""

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from untuned.evaluation import Evaluation
from untuned.histories import Histories
from untuned.reports.citing import citation
from untuned.reports.sentences import answer, leaders, question, scoring, weighing
from untuned.reports.tables.content import mean_digits
from untuned.scores import spread

_SYMBOLS = {"better": ("▲", "better"), "worse": ("▼", "worse"), "not separable yet": ("·", "open")}


def content(
    evaluation: Evaluation,
    beside: Sequence[Evaluation],
    histories: Histories | None,
    charts: Mapping[str, Any],
    *,
    title: str,
    command: str,
    version: str,
) -> dict[str, Any]:
    """Return what the template needs, by name; everything is escaped there."""
    first = leaders(evaluation)
    readable = replace(evaluation, algorithms=tuple(map(isolated, evaluation.algorithms)))
    return {
        "title": title,
        "version": version,
        "question": question(evaluation),
        "answer": answer(readable),
        "verdicts": readable.verdicts,
        "valid": evaluation.valid,
        "game": evaluation.weights == "game",
        "claim": evaluation.claim,
        "warnings": evaluation.warnings,
        "scoring": scoring(evaluation),
        "weighing": weighing(evaluation),
        "facts": _facts(evaluation),
        "method": evaluation.method,
        "methods": [each.method for each in (evaluation, *beside)],
        "percent": evaluation.level,
        "algorithms": [{"number": a, "name": name} for a, name in enumerate(evaluation.algorithms)],
        "rows": _numbered(evaluation.rows(), evaluation),
        "significant": first if len(first) < len(evaluation.algorithms) else (),
        "beside": [
            {"method": each.method, "valid": each.valid, "claim": each.claim, "rows": each.rows()} for each in beside
        ],
        "matrix": _matrix(evaluation),
        "any_decided": bool(evaluation.pairs.better_ab.any()),
        "pairs": _pairs(evaluation),
        "bands": int((evaluation.trials_ae > 0).sum()),
        "environments": _environments(evaluation),
        "unbounded": not all(math.isfinite(end) for ends in evaluation.ranges for end in ends),
        "ranks": _ranks(evaluation),
        "heaviest": float(evaluation.q_er.max()) or 1.0,
        "reference_weights": evaluation.reference_weights.tolist(),
        "curves": [panel["environment"] for panel in charts["curves"]],
        "responses": bool(charts["responses"]),
        "cut": len(charts["responses"]) >= charts["most_responses"],
        "most": f"{histories.most:,}" if histories is not None else "",
        "aggregate_height": 70 + len(evaluation.algorithms) * (24 + 12 * len(beside)),
        "order_height": 60 + 70 * (max(charts["order_diagram"]["level"]) + 1),
        "settings": [(name.replace("_", " "), _said(value)) for name, value in evaluation.settings.items()],
        "provenance": [
            *evaluation.provenance.items(),
            *({} if histories is None else histories.facts).items(),
            ("trials in all", f"{int(evaluation.trials_ae.sum()):,}"),
            ("scores' fingerprint", evaluation.scores.fingerprint),
        ],
        "command": command,
        "citation": citation(version),
    }


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
        f"intervals by {evaluation.method}, {evaluation.level} together"
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


def _pairs(evaluation: Evaluation) -> list[dict[str, Any]]:
    scores = dict(zip(evaluation.algorithms, evaluation.score_a, strict=True))
    return [{**row, "difference": float(scores[row["a"]] - scores[row["b"]])} for row in evaluation.pair_rows()]


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
