"""The table that papers print: environments x algorithms, means or medians with intervals, and the aggregate scores."""

from collections.abc import Sequence
from math import isfinite, isnan
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from untuned.errors import InvalidInput
from untuned.evaluation import Evaluation
from untuned.reports.bands import bands
from untuned.reports.tables.cells import Column, Measured, Row, Text
from untuned.reports.tables.digits import digits_of_widths
from untuned.reports.tables.table import Table
from untuned.scores import Floats
from untuned.statements import failed, says_nothing

Statistic = Literal["mean", "median"]
STATISTICS: tuple[Statistic, ...] = ("mean", "median")


def printed(evaluation: Evaluation, statistic: Statistic = "mean") -> Table:
    """Return environments x algorithms, a mean or median with its interval in each cell, and the aggregate scores.

    The best of each row are bold: no other algorithm of the row is shown to be better. A row where this holds for all
    algorithms has none in bold. Numbers have as many digits as their intervals justify; an interval that says nothing
    is left out.

    Parameters
    ----------
    evaluation
        An evaluation, as `untuned.evaluate` returns it.
    statistic
        ``"mean"`` or ``"median"``.
    """
    if statistic not in STATISTICS:
        raise InvalidInput(f"statistic={statistic!r}: choose {' or '.join(map(repr, STATISTICS))}")
    names, order = evaluation.algorithms, evaluation.each_ranking[0].order
    value_ae, low_ae, high_ae = _means(evaluation) if statistic == "mean" else _medians(evaluation)
    beaten_ae = _beaten(evaluation, low_ae, high_ae)
    rows = [
        _row(
            place,
            [(value_ae[a, e], low_ae[a, e], high_ae[a, e]) for a in order],
            [bool(beaten_ae[a, e]) for a in order],
        )
        for e, place in enumerate(evaluation.environments)
    ]
    informative = [each for each in evaluation.each_ranking if not says_nothing(each)]
    for number, each in enumerate(informative):
        weights = f", {each.rankings[0].title}" if len(evaluation.rankings) > 1 else ""
        scores = [(float(each.score_a[a]), float(each.low_a[a]), float(each.high_a[a])) for a in order]
        better = each.pairs.better_ab
        rows.append(_row(f"Score{weights}", scores, [bool(better[:, a].any()) for a in order], opens=number == 0))
    columns = (
        Column("Environment", ("environment",), "text"),
        *(Column(names[a], (names[a], f"{names[a]} low", f"{names[a]} high"), "number") for a in order),
    )
    shown = np.isfinite(low_ae) & np.isfinite(high_ae)
    return Table(
        f"{statistic.capitalize()} scores",
        " ".join(
            (
                *_caption(evaluation, statistic, rows, bool(shown.any()), bool(shown.all())),
                *(_left_out(each) for each in evaluation.each_ranking if says_nothing(each)),
                *failed(evaluation),
            )
        ),
        columns,
        tuple(rows),
    )


def _left_out(evaluation: Evaluation) -> str:
    return f"Scores {evaluation.under_weights} are left out: with so few trials they may be nearly anything."


def _means(evaluation: Evaluation) -> tuple[Floats, Floats, Floats]:
    means = evaluation.means
    return means.mean_ae, *_informative(evaluation, means.low_ae, means.high_ae)


def _medians(evaluation: Evaluation) -> tuple[Floats, Floats, Floats]:
    """Return the medians with the intervals that the bands on all distributions give them together."""
    value_ae = np.full(evaluation.trials_ae.shape, np.nan)
    low_ae, high_ae = np.full_like(value_ae, -np.inf), np.full_like(value_ae, np.inf)
    for (algorithm, environment), band in bands(evaluation).items():
        a, e = evaluation.algorithms.index(algorithm), evaluation.environments.index(environment)
        value_ae[a, e] = np.median(evaluation.scores.cells[a][e])
        _, (low,), (high,) = band.quantiles([0.5])
        low_ae[a, e], high_ae[a, e] = min(low, value_ae[a, e]), max(high, value_ae[a, e])
    return value_ae, *_informative(evaluation, low_ae, high_ae)


def _informative(evaluation: Evaluation, low_ae: Floats, high_ae: Floats) -> tuple[Floats, Floats]:
    """Return intervals, infinite where an end is unknown or where they are the whole declared range."""
    lowest, highest = np.array(evaluation.ranges, dtype=np.float64).T
    known = np.isfinite(low_ae) & np.isfinite(high_ae) & ~((low_ae <= lowest) & (high_ae >= highest))
    return np.where(known, low_ae, -np.inf), np.where(known, high_ae, np.inf)


def _beaten(evaluation: Evaluation, low_ae: Floats, high_ae: Floats) -> NDArray[np.bool_]:
    """Return which algorithms, [a, e], another one is shown to be better than.

    Its trials are, more often than not; or, where the method has no intervals on percentiles, its interval is above.
    """
    low_aer = evaluation.percentiles.low_aer
    if low_aer is None:
        return np.asarray((low_ae[:, None] > high_ae[None]).any(axis=0), dtype=np.bool_)
    beats_aer = low_aer > 0.5
    for a in range(len(evaluation.algorithms)):
        beats_aer[a, :, a] = False
    return np.asarray(beats_aer.any(axis=0).T, dtype=np.bool_)


def _row(
    name: str, estimates: Sequence[tuple[float, float, float]], beaten: Sequence[bool], opens: bool = False
) -> Row:
    written = digits_of_widths(estimates)
    cells = [Measured(float(value), float(low), float(high), written) for value, low, high in estimates]
    some = any(beaten)
    best = frozenset(
        number
        for number, (cell, below) in enumerate(zip(cells, beaten, strict=True), 1)
        if some and not below and not isnan(cell.value)
    )
    return Row((Text(name), *cells), opens=opens, best=best)


def _caption(evaluation: Evaluation, statistic: Statistic, rows: Sequence[Row], some: bool, all_: bool) -> list[str]:
    """Return what a reader must know: what the intervals and the bold ones are."""
    kind = "Anderson's intervals" if statistic == "mean" else "intervals from bands on the distributions"
    found = [
        f"{statistic.capitalize()}s with {kind}, together {evaluation.level}."
        if some
        else f"{statistic.capitalize()}s."
    ]
    if not some or not all_:
        which = "Intervals" if not some else "Others"
        remedy = "declare them (--range NAME=LOW:HIGH, or ranges=...)"
        ranged = all(isfinite(end) for ends in evaluation.ranges for end in ends)
        found.append(
            f"{which} say nothing with so few trials, and are left out."
            if ranged or statistic == "median"
            else f"{which} are left out: nothing bounds a mean where scores have no declared range; {remedy}."
        )
    if any(row.best for row in rows):
        found.append("Bold: no other algorithm is shown to be better. In rows without bold this is true of all.")
    else:
        found.append("None is bold: no two algorithms of a row are separable yet.")
    return found
