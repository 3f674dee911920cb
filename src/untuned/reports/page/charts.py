"""What the page's charts show, as plain JSON: numbers with as many digits as a screen has use for."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from untuned.evaluation import Evaluation
from untuned.histories import Histories
from untuned.judge.intervals.dkw import Band
from untuned.races.course import Course
from untuned.reports.bands import bands
from untuned.reports.closing import across, chosen, ticks
from untuned.reports.curves import learning_curve, response, sample_efficiency
from untuned.reports.figures.score_axis import view_of
from untuned.reports.hasse_layout import bundled, layered
from untuned.reports.page.drawing import LARGEST
from untuned.reports.page.names import isolated
from untuned.scores import Floats

#: Points of a distribution, at most and at least; and numbers that all distributions may have together, about 2 MB.
_MOST_POINTS, _LEAST_POINTS, _NUMBERS = 101, 33, 300_000
#: The same of learning curves; and how many charts of hyperparameters there are at most, about 1.5 MB.
_MOST_EPISODES, _LEAST_EPISODES = 50, 12
_MOST_RESPONSES = 1_000
#: With fewer trials per cell every one is a point; also with up to so many where no band bounds as much as half of the
#: quantiles.
FEW, _FEW_WITHOUT_BANDS = 30, 100
#: Of more algorithms the best ones alone have lines: more cannot be told apart.
MOST_LINES = 12
_MOST_IN_ORDER = 16
#: Scores that are told exactly when one points at them; of more, what the picture shows.
_EXACT = 20_000


def chart_data(
    evaluation: Evaluation, compare_with: Sequence[Evaluation], histories: Histories | None, race: Course | None = None
) -> dict[str, Any]:
    """Return everything that charts are made of; algorithms are named by their number, None is infinite."""
    return {
        "algorithms": [{"name": name} for name in evaluation.algorithms],
        "order": list(evaluation.each_ranking[0].order),
        "rankings": [
            {
                "weights": each.weights,
                "order": list(each.order),
                "aggregate": [_aggregate(other) for other in (each, *each.alike(compare_with))],
                "order_diagram": _order_diagram(each),
            }
            for each in evaluation.each_ranking
        ],
        "distributions": _distributions(evaluation),
        "unit": "episode" if histories is None else histories.unit,
        "efficiency": None if histories is None else _efficiency(evaluation, histories),
        "curves": [] if histories is None else _curves(evaluation, histories),
        "responses": [] if histories is None else _responses(evaluation, histories),
        "most_responses": _MOST_RESPONSES,
        **({} if race is None else {"race": _race(race)}),
    }


def _race(race: Course) -> dict[str, Any]:
    label, x = across(race)
    return {
        "label": label,
        "x": _short(x),
        "ticks": _short(ticks(x)),
        "pairs": [
            {"a": pair.ahead, "low": _short(pair.low), "high": _short(pair.high), "decided": pair.decided}
            for pair in chosen(race)
        ],
    }


def _aggregate(evaluation: Evaluation) -> dict[str, Any]:
    return {
        "method": evaluation.method,
        "valid": evaluation.valid,
        "score": evaluation.score_a.tolist(),
        "low": evaluation.low_a.tolist(),
        "high": evaluation.high_a.tolist(),
    }


def _order_diagram(evaluation: Evaluation) -> dict[str, Any] | None:
    """Return where the nodes and lines of the order go; None where it says nothing or has too many lines to follow."""
    if not 2 < len(evaluation.algorithms) <= _MOST_IN_ORDER or not evaluation.pairs.better_ab.any():
        return None
    # Numbered by rank, which decides what is on the left where nothing else does.
    order = evaluation.order
    place = {a: number for number, a in enumerate(order)}
    count, edges = bundled(len(order), [(place[a], place[b]) for a, b in evaluation.pairs.covers()])
    places = layered(count, edges)
    level = {node: number for number, members in enumerate(places.levels) for node in members}
    return {
        "order": list(order),
        "x": _short(places.x),
        "level": [level[node] for node in range(count)],
        "lines": [[[_digits(x), number] for x, number in line] for line in places.lines],
        "width": _digits(places.width),
    }


def levels(cells: int) -> Floats:
    """Return the probabilities at which quantiles are shown: an odd number, so that the median is one of them."""
    points = int(np.clip(_NUMBERS / max(3 * cells, 1), _LEAST_POINTS, _MOST_POINTS)) // 2 * 2 + 1
    found = np.linspace(0.0, 1.0, points)
    # A quantile function ends before 0 and 1: nearly the worst, nearly the best.
    found[0], found[-1] = 0.001, 0.999
    return found


def _distributions(evaluation: Evaluation) -> dict[str, Any]:
    found = bands(evaluation)
    chosen = levels(min(len(found), MOST_LINES * len(evaluation.environments)))
    shares = evaluation.percentiles.z_aer.mean(axis=2)
    best = _with_lines(evaluation)
    panels = []
    for e, environment in enumerate(evaluation.environments):
        there = {
            a: found[name, environment] for a, name in enumerate(evaluation.algorithms) if (name, environment) in found
        }
        most = int(evaluation.trials_ae[:, e].max())
        few = most < FEW or (most <= _FEW_WITHOUT_BANDS and min(band.margin for band in there.values()) > 0.25)
        cells = [row[e] for row in evaluation.scores.cells]
        view = view_of(cells, even=True)
        panels.append(
            {
                "environment": environment,
                "few": few,
                "series": [
                    {"a": a, **(_points(evaluation, a, e) if few else _quantiles(band, chosen))}
                    for a, band in there.items()
                    if few or a in best
                ],
                "view": _short(np.clip((view.low, view.high), -LARGEST, LARGEST)),
                "ends": _short((view.lowest, view.highest)),
                "shares": [_digits(float(shares[a, e])) if a in there else None for a in range(len(cells))],
            }
        )
    return {"levels": _short(chosen), "panels": panels}


def _with_lines(evaluation: Evaluation) -> frozenset[int]:
    """Return the algorithms that have lines in charts."""
    return frozenset(evaluation.each_ranking[0].order[:MOST_LINES])


def _quantiles(band: Band, chosen: Floats) -> dict[str, Any]:
    estimate, low, high = band.quantiles(chosen)
    # Nearer to the worst and the best trial no trial bounds the function, only the range of scores if there is one.
    low, high = np.where(chosen > band.margin, low, -np.inf), np.where(chosen < 1.0 - band.margin, high, np.inf)
    return {"y": _short(estimate), "low": _short(low), "high": _short(high)}


def median(scores: Floats) -> float:
    """Return the median; the mean of two large scores is not infinite."""
    ordered = np.sort(scores)
    return float(ordered[(ordered.size - 1) // 2]) / 2 + float(ordered[ordered.size // 2]) / 2


def _points(evaluation: Evaluation, a: int, e: int) -> dict[str, Any]:
    """Return the scores of a cell as points, with the names of their runs where these are known."""
    scores, runs = evaluation.scores.cells[a][e], evaluation.scores.runs
    return {
        "points": _short(scores),
        "median": _digits(median(scores)),
        "runs": None if runs is None else [str(run) for run in runs[a][e]],
        "exact": int(evaluation.trials_ae.sum()) <= _EXACT,
    }


def _curves(evaluation: Evaluation, histories: Histories) -> list[dict[str, Any]]:
    points = int(np.clip(_NUMBERS / max(3 * len(histories.cells), 1), _LEAST_EPISODES, _MOST_EPISODES))
    best = sorted(_with_lines(evaluation))
    panels = []
    for environment in evaluation.environments:
        series = []
        for a in best:
            algorithm = evaluation.algorithms[a]
            history = histories.cells.get((algorithm, environment))
            curve = None if history is None else learning_curve(history, delta=evaluation.delta, points=points)
            if curve is not None:
                series.append(
                    {
                        "a": a,
                        "x": _short(curve.x),
                        "y": _short(curve.median),
                        "low": _short(curve.low),
                        "high": _short(curve.high),
                    }
                )
        if series:
            panels.append({"environment": environment, "series": series})
    return panels


def _efficiency(evaluation: Evaluation, histories: Histories) -> dict[str, Any] | None:
    found = sample_efficiency(histories, algorithms=evaluation.algorithms, environments=evaluation.environments)
    if found is None:
        return None
    return {
        "label": found.label,
        "environments": len(found.environments),
        "left_out": found.left_out(isolated),
        "x": _short(found.x),
        "series": [
            {"a": a, "y": _short(scores)}
            for a, scores in zip(map(evaluation.algorithms.index, found.algorithms), found.score_ax, strict=True)
            if a in _with_lines(evaluation)
        ],
    }


def _responses(evaluation: Evaluation, histories: Histories) -> list[dict[str, Any]]:
    """Return charts of hyperparameters, of whole environments: where there are too many, of those that weigh most."""
    found: list[dict[str, Any]] = []
    for e in np.argsort(-evaluation.environment_weights, kind="stable").tolist():
        if len(found) >= _MOST_RESPONSES:
            break
        environment = evaluation.environments[e]
        for a, algorithm in enumerate(evaluation.algorithms):
            history = histories.cells.get((algorithm, environment))
            for name, text in ({} if history is None else history.distributions).items():
                assert history is not None
                shown = response(history, name, delta=evaluation.delta)
                if shown is not None:
                    found.append(
                        {
                            "a": a,
                            "e": e,
                            "name": name,
                            "from": text,
                            "labels": None if shown.labels is None else list(shown.labels),
                            "x": _short(shown.x),
                            "y": _short(shown.median),
                            "low": _short(shown.low),
                            "high": _short(shown.high),
                            "log": shown.logarithmic,
                            "near_one": shown.near_one,
                        }
                    )
    return sorted(found, key=lambda each: (each["a"], each["e"]))


def _short(numbers: Iterable[float] | Floats) -> list[float | int | None]:
    """Return numbers with five digits, which no screen tells from the full ones; None for infinite ones."""
    return [_digits(float(each)) for each in numbers]


def _digits(number: float) -> float | int | None:
    if not math.isfinite(number):
        return None
    rounded = float(f"{number:.5g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded
