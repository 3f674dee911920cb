"""How the bounds on differences closed during a race."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import FixedLocator, NullLocator

from untuned.races.course import Course, PairCourse
from untuned.reports.closing import across, chosen, sentence, ticks
from untuned.reports.figures.canvas import GREY, SMALL, decimal_formatter, drawing, grid
from untuned.reports.figures.naming import short
from untuned.reports.styles import styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Letters of a name above a panel.
_LETTERS = 18


def closing(course: Course, *, ax: "Sequence[Axes] | None" = None) -> "list[Axes]":
    """Return Axes with the bounds on the difference of each pair after every round, at most six pairs.

    Pairs that are open come first, then those that were decided last. A pair is decided when its band leaves zero, or
    earlier, because a verdict needs less evidence than a bound.

    Parameters
    ----------
    course
        How the race went.
    ax
        One Axes for each pair that is shown; a new Figure unless given.
    """
    pairs = chosen(course)
    looks = styles(course.algorithms)
    label, x = across(course)
    widest = max(float(np.max(np.abs([pair.low, pair.high]))) for pair in pairs)
    with drawing():
        axes = grid(len(pairs), ax)
        for each, pair in zip(axes, pairs, strict=True):
            _panel(each, pair, course, x, looks[course.algorithms[pair.ahead]].colour)
            each.set_ylim(-1.05 * widest, 1.05 * widest)
        for each in axes:
            place = each.get_subplotspec()
            if place is None or place.is_first_col():
                each.set_ylabel("difference of scores")
            each.set_xlabel(label)
    return axes


def _panel(ax: "Axes", pair: PairCourse, course: Course, x: Sequence[float], colour: str) -> None:
    ax.axhline(0.0, color=GREY, linewidth=0.8, zorder=1)
    ax.fill_between(x, pair.low, pair.high, step="post", color=colour, alpha=0.25, linewidth=0)
    for ends in (pair.low, pair.high):
        ax.plot(x, ends, drawstyle="steps-post", color=colour, linewidth=1.0)
    names = [short(course.algorithms[a], _LETTERS) for a in (pair.ahead, pair.behind)]
    verdict = sentence(pair).replace("-", "\N{MINUS SIGN}").replace("; ", "\n")
    ax.set_title(f"{names[0]} \N{MINUS SIGN} {names[1]}\n{verdict}", loc="left", fontsize=SMALL + 0.5)
    if pair.decided is not None:
        ax.axvline(x[pair.decided], color=GREY, linewidth=0.8, linestyle=(0, (2, 2)), zorder=1)
        ax.plot([x[pair.decided]], [0.0], marker="o", color=colour, markeredgecolor="white", markersize=6, zorder=4)
    if len(x) > 1:
        ax.set_xscale("log")
        ax.set_xlim(x[0], x[-1])
        ax.xaxis.set_major_locator(FixedLocator(ticks(x)))
        ax.xaxis.set_minor_locator(NullLocator())
        ax.xaxis.set_major_formatter(decimal_formatter())
