"""A critical-difference-style diagram (after Demšar, 2006), drawn from verdicts: bars join what is not separable."""

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from untuned.evaluation import Evaluation
from untuned.reports.figures.canvas import SMALL, axes_or_new, drawing, fitting, room
from untuned.reports.figures.captions import describe, verdicts_promise
from untuned.reports.figures.naming import shown
from untuned.reports.styles import styles
from untuned.verdicts import NOT_SEPARABLE, Pairs

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Between names and between bars, in inches.
_LINE = 0.2
_BAR = 0.13
#: Of a name.
_LETTERS = 20
#: What tells the bars of a diagram from its other lines.
BAR = "bar"


def joined(pairs: Pairs) -> list[tuple[int, ...]]:
    """Return a small number of groups that cover every inseparable pair; no two members of a group are separable.

    Parameters
    ----------
    pairs
        The verdicts.
    """
    better = pairs.better_ab
    n = len(better)
    left = {(a, b) for a, b in combinations(range(n), 2) if not better[a, b] and not better[b, a]}
    # The largest first: a group gets a bar only if it joins pairs that no bar joins yet. There may be too many groups
    # to list all of them, so some pairs are left over.
    candidates: list[tuple[int, ...]] = [*sorted(pairs.groups(), key=len, reverse=True), *sorted(left)]
    chosen = []
    for group in candidates:
        inside = set(combinations(group, 2)) & left
        if inside:
            chosen.append(group)
            left -= inside
    return sorted(chosen)


def rows_of(groups: Sequence[tuple[int, ...]], score_a: NDArray[np.float64]) -> list[int]:
    """Return the row of every bar, from 0: bars in one row do not touch.

    Parameters
    ----------
    groups
        What each bar joins.
    score_a
        Where that is.
    """
    row_of, ends = [0] * len(groups), [-np.inf] * len(groups)
    # An algorithm with the same score as a bar's end would look joined: a gap between bars shows that it is not.
    gap = 0.02 * float(np.ptp(score_a)) if len(score_a) else 0.0
    for number in sorted(range(len(groups)), key=lambda each: score_a[list(groups[each])].min()):
        at = score_a[list(groups[number])]
        row = next(row for row, end in enumerate(ends) if end < at.min())
        row_of[number], ends[row] = row, float(at.max()) + gap
    return row_of


def critical_difference(evaluation: Evaluation, *, ax: "Axes | None" = None) -> "Axes":
    """Return Axes with all algorithms along the scores; a bar joins those that are not separable yet.

    It looks like a critical-difference diagram but is drawn from the verdicts: no bar joins a pair where one is better,
    and one joins every pair that is not separable. A bar joins the algorithms that have a dot on it; where verdicts do
    not follow the scores, it passes others without a dot.

    Parameters
    ----------
    evaluation
        The evaluation.
    ax
        Where to draw; a new Figure unless given.
    """
    score_a, names = evaluation.score_a, evaluation.algorithms
    groups = joined(evaluation.pairs)
    row_of = rows_of(groups, score_a)
    bars = max(row_of, default=-1) + 1
    labels, looks = shown(names, _LETTERS), styles(names)
    upwards = list(reversed(evaluation.order))
    # The lower half of the scores has its names on the left, the outermost names next to the axis: no lines cross.
    half = len(upwards) // 2
    sides = [(upwards[:half], "left"), (upwards[half:][::-1], "right")]
    lines = max(len(side) for side, _ in sides)
    inches = _BAR * (bars + 1) + _LINE * lines
    low, high = float(score_a.min()), float(score_a.max())
    margin = 0.06 * (high - low) or 0.05
    with drawing():
        own = ax is None
        ax = axes_or_new(ax, 5.0, min(inches + 0.9, 60.0))
        size = SMALL + 0.5 if own else fitting(1, 1.0, room(ax)[1] * _LINE / (inches + 0.9), SMALL + 0.5)
        for side, where in sides:
            edge = low - margin if where == "left" else high + margin
            for place, a in enumerate(side):
                depth = _BAR * (bars + 1) + _LINE * (place + 0.5)
                score = float(score_a[a])
                ax.plot([score, score, edge], [0.0, depth, depth], color=looks[names[a]].colour, linewidth=0.9)
                ax.text(
                    edge + (-0.2 if where == "left" else 0.2) * margin,
                    depth,
                    labels[names[a]],
                    ha="right" if where == "left" else "left",
                    va="center",
                    fontsize=size,
                )
        for group, row in zip(groups, row_of, strict=True):
            at = np.sort(score_a[list(group)])
            ax.plot(
                at,
                np.full(len(at), _BAR * (row + 1)),
                color="0.2",
                linewidth=2.0,
                marker="o",
                markersize=3.5,
                label=BAR,
            )
        ax.set_xlim(low - margin, high + margin)
        ax.set_ylim(inches, 0.0)
        ax.xaxis.tick_top()
        ax.xaxis.set_label_position("top")
        ax.set_xlabel("aggregate score")
        ax.set_yticks([])
        ax.spines["left"].set_visible(False)
        ax.spines["bottom"].set_visible(False)
        ax.spines["top"].set_visible(True)
        words = f"Dots on a bar join algorithms that are {NOT_SEPARABLE}." if groups else "All are separable."
        describe(ax, f"{words} {verdicts_promise(evaluation)}")
    return ax
