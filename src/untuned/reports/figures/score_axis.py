"""What part of an axis of scores is shown, at which scale, and which points of a curve."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from matplotlib.ticker import FixedLocator, NullLocator

from untuned.judge.intervals.dkw import Band
from untuned.reports.figures.canvas import GREY, SMALL, decimal_formatter, number_text
from untuned.scores import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Points of a curve: more than a reader can see at the size of a page.
POINTS = 400
#: Curves of so many steps are drawn with all of them.
_ALL = 120
#: A curve may have this part of its scores outside the view at either end.
_TAIL = 0.01
#: Of the view; where half of all scores are in less, the scale is stretched.
_SQUEEZED = 0.1


@dataclass(frozen=True)
class View:
    """A part of an axis of scores.

    Attributes
    ----------
    low, high
        Its ends.
    lowest, highest
        The ends of what was observed.
    centre, unit
        Where the scale is stretched: differences show around ``centre`` within ``unit``, factors beyond; None where the
        scale is even.
    """

    low: float
    high: float
    lowest: float
    highest: float
    centre: float | None = None
    unit: float = 1.0


def view_of(samples: Sequence[Floats], *, even: bool = False) -> View:
    """Return a view in which every sample can be seen: all but the far ends of long tails.

    Parameters
    ----------
    samples
        One per curve; empty ones and infinite values are ignored.
    even
        Whether the scale must be even, however little room that leaves most of the scores.
    """
    finite = [each[np.isfinite(each)] for each in samples]
    finite = [each for each in finite if each.size]
    if not finite:
        return View(0.0, 1.0, 0.0, 1.0)
    lowest = min(float(each.min()) for each in finite)
    highest = max(float(each.max()) for each in finite)
    ends = np.array([np.quantile(each, [_TAIL, 0.25, 0.75, 1.0 - _TAIL], method="nearest") for each in finite])
    low, high = float(ends[:, 0].min()), float(ends[:, 3].max())
    # A tail that costs little room is shown to its end.
    length = high - low
    low = lowest if low - lowest <= 0.5 * length else low
    high = highest if highest - high <= 0.5 * length else high
    if low == high:
        margin = 0.5 * abs(low) if low else 0.5
        return View(low - margin, high + margin, lowest, highest)
    # Every sample counts the same, however many scores it has.
    quartiles = np.quantile(
        np.concatenate([np.quantile(each, np.linspace(0.01, 0.99, 50)) for each in finite]), [0.25, 0.5, 0.75]
    )
    middle = float(quartiles[2]) - float(quartiles[0])
    if not even and 0.0 < middle < _SQUEEZED * (high - low):
        view = View(low, high, lowest, highest, float(quartiles[1]), middle)
        ends_there = _stretched(np.array([low, high]), view)
        margin = 0.04 * float(ends_there[1] - ends_there[0])
        wider = _back(ends_there + np.array([-margin, margin]), view)
        return View(float(wider[0]), float(wider[1]), lowest, highest, view.centre, view.unit)
    margin = 0.04 * (high - low)
    return View(low - margin, high + margin, lowest, highest)


def _stretched(values: Floats, view: View) -> Floats:
    stretched: Floats = np.arcsinh((values - (view.centre or 0.0)) / view.unit)
    return stretched


def _back(values: Floats, view: View) -> Floats:
    # Far outside the axes nothing is visible, and numbers would overflow.
    back: Floats = np.sinh(np.clip(values, -500.0, 500.0)) * view.unit + (view.centre or 0.0)
    return back


def apply(view: View, ax: "Axes", axis: Literal["x", "y"], corner: str | None) -> list[str]:
    """Give one axis of Axes a view, and return what to say of it: what is outside, and whether the scale is uneven.

    It is written in a corner of the Axes in small print, unless that is None.
    """
    notes = []
    if view.centre is not None:
        functions = (lambda values: _stretched(values, view)), (lambda values: _back(values, view))
        (ax.set_xscale if axis == "x" else ax.set_yscale)("function", functions=functions)
        which = ax.xaxis if axis == "x" else ax.yaxis
        which.set_major_locator(FixedLocator(_ticks(view)))
        which.set_minor_locator(NullLocator())
        which.set_major_formatter(decimal_formatter())
        notes.append("uneven scale")
    (ax.set_xlim if axis == "x" else ax.set_ylim)(view.low, view.high)
    if view.lowest < view.low:
        notes.append(f"scores down to {number_text(float(f'{view.lowest:.4g}'))}")
    if view.highest > view.high:
        notes.append(f"scores up to {number_text(float(f'{view.highest:.4g}'))}")
    if notes and corner is not None:
        right, top = "right" in corner, "upper" in corner
        ax.text(
            0.99 if right else 0.01,
            0.98 if top else 0.02,
            "\n".join(notes),
            transform=ax.transAxes,
            ha="right" if right else "left",
            va="top" if top else "bottom",
            fontsize=SMALL - 1,
            color=GREY,
        )
    return notes


def _ticks(view: View) -> list[float]:
    """Return round numbers at about even distances on a stretched scale."""
    ends = _stretched(np.array([view.low, view.high]), view)
    wanted = _back(np.linspace(ends[0], ends[1], 7)[1:-1], view)
    gaps = np.minimum(np.diff(wanted, prepend=view.low), np.diff(wanted, append=view.high))
    # To the digit in which neighbours differ.
    digits = -np.floor(np.log10(gaps)).astype(int)
    rounded = {float(np.round(value, digit)) for value, digit in zip(wanted, digits.tolist(), strict=True)}
    return sorted(each for each in rounded if view.low <= each <= view.high)


@dataclass(frozen=True, eq=False)
class Steps:
    """A function with steps and its bounds, at points where it is exact.

    Attributes
    ----------
    x
        Ascending.
    estimate, low, high
        The function and its bounds at each.
    """

    x: Floats
    estimate: Floats
    low: Floats
    high: Floats


def quantile_steps(band: Band) -> Steps:
    """Return a quantile function and its bounds over (0, 1]; between two points it is as at the higher one."""
    levels = np.linspace(0.0, 1.0, POINTS + 1)[1:]
    if band.scores.size <= _ALL:
        jumps = np.concatenate([band.estimate, band.low, band.high, [band.margin, 1.0]])
        levels = np.unique(jumps[(jumps > 0.0) & (jumps <= 1.0)])
    estimate, low, high = band.quantiles(levels)
    # From 0 on, as at the first point.
    return Steps(
        *(
            np.concatenate([first, each])
            for first, each in zip(([0.0], estimate[:1], low[:1], high[:1]), (levels, estimate, low, high), strict=True)
        )
    )


def distribution_steps(band: Band, view: View) -> Steps:
    """Return a distribution function and its bounds over a view; between two points it is as at the lower one."""
    scores = band.scores
    if scores.size > POINTS:
        ends = _stretched(np.array([view.low, view.high]), view)
        # Some at even distances of probability and some of score: neither steep nor flat parts lose their shape.
        even = (
            np.linspace(view.low, view.high, POINTS // 2)
            if view.centre is None
            else _back(np.linspace(ends[0], ends[1], POINTS // 2), view)
        )
        by_score = np.clip(np.searchsorted(scores, even, side="right") - 1, 0, scores.size - 1)
        by_level = np.searchsorted(band.estimate, np.linspace(0.0, 1.0, POINTS // 2))
        kept = np.unique(np.concatenate([by_score, by_level.clip(0, scores.size - 1), [0, scores.size - 1]]))
    else:
        kept = np.arange(scores.size)
    lowest, highest = max(band.support[0], _outside(view)[0]), min(band.support[1], _outside(view)[1])
    before = min(lowest, float(scores[0]))
    after = max(highest, float(scores[-1]))
    # Where the support begins below the view, no score is below it.
    first_high = band.margin if before < scores[0] else float(band.high[0])
    first = (0.0, 0.0, first_high) if before < scores[0] else (band.estimate[0], band.low[0], band.high[0])
    last = (1.0, 1.0, 1.0) if band.support[1] <= after else (1.0, band.low[-1], 1.0)
    return Steps(
        np.concatenate([[before], scores[kept], [after]]),
        np.concatenate([[first[0]], band.estimate[kept], [last[0]]]),
        np.concatenate([[first[1]], band.low[kept], [last[1]]]),
        np.concatenate([[first[2]], band.high[kept], [last[2]]]),
    )


def _outside(view: View) -> tuple[float, float]:
    """Return a point below a view and one above."""
    length = view.high - view.low
    return min(view.low, view.lowest) - length, max(view.high, view.highest) + length


def within(values: Floats, view: View) -> Floats:
    """Return values with those outside of a view, infinite ones too, put just outside of it."""
    clipped: Floats = np.clip(values, *_outside(view))
    return clipped
