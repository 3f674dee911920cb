"""What a learning curve is reduced to, slowly and from the definition; and rows of curves to try it on."""

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple


class Row(NamedTuple):
    """One point of one run's learning curve."""

    algorithm: str
    environment: str
    run: str
    step: float
    value: float


class Refused(Exception):
    """The reduction has no value for a run."""


Scores = dict[tuple[str, str], dict[str, float]]


def reduced_slowly(rows: Iterable[Row], reduction: str) -> Scores:
    """Return the score of every run of every cell.

    Raises
    ------
    Refused
        With the name of a run that the reduction is not defined for.
    """
    found: Scores = {}
    curves: dict[tuple[str, str, str], dict[float, list[float]]] = {}
    for row in rows:
        curves.setdefault(row[:3], {}).setdefault(row.step, []).append(row.value)
    for (algorithm, environment, run), points in curves.items():
        steps = sorted(points)
        values = [_mean(points[step]) for step in steps]
        score = _score(steps, values, reduction)
        if score is None:
            raise Refused(run)
        found.setdefault((algorithm, environment), {})[run] = score
    return found


def _score(steps: list[float], values: list[float], reduction: str) -> float | None:
    what, _, how = reduction.partition(":")
    if what == "mean":
        return _mean(values)
    if what == "final":
        return values[-1]
    if what == "best":
        return math.nan if any(map(math.isnan, values)) else max(values)
    if what == "at":
        if steps[0] > float(how) or steps[-1] < float(how):
            return None
        return [value for step, value in zip(steps, values, strict=True) if step <= float(how)][-1]
    assert what == "last"
    if how.endswith("%"):
        if how == "100%":
            return _mean(values)
        last, first = Fraction(steps[-1]), min(Fraction(steps[0]), Fraction(0))
        limit = last - Fraction(how.removesuffix("%")) / 100 * (last - first)
        inside = [value for step, value in zip(steps, values, strict=True) if Fraction(step) > limit]
        # A curve of one point, at step 0, has no length.
        return _mean(inside or values[-1:])
    if len(values) < float(how):
        return None
    return _mean(values[-int(float(how)) :])


def _mean(values: list[float]) -> float:
    """Return the exact mean, rounded once; infinities and NaN as in IEEE 754."""
    if all(math.isfinite(each) for each in values):
        return float(sum(map(Fraction, values)) / len(values))
    return math.nan if {math.inf, -math.inf} <= set(values) or any(map(math.isnan, values)) else sum(values)
