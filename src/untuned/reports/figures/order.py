"""The partial order of algorithms as a diagram."""

from typing import TYPE_CHECKING

from untuned.evaluation import Evaluation, percent
from untuned.reports.figures.canvas import GREY, SMALL, axes_or_new, drawing, fitting, room
from untuned.reports.figures.naming import shown
from untuned.reports.hasse_layout import layered
from untuned.reports.styles import styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: The widest figure, in inches.
_WIDEST = 10.0
#: Between levels, in inches.
_GAP = 0.4
#: Of a name in its box.
_LETTERS = 20


def partial_order(evaluation: Evaluation, *, ax: "Axes | None" = None) -> "Axes":
    """Return Axes with a Hasse diagram: an algorithm is better than all that lines lead down to from it.

    Parameters
    ----------
    evaluation
        What judging found.
    ax
        Where to draw; a new Figure unless given.
    """
    # Numbered by rank, which decides what is on the left where nothing else does.
    order = evaluation.order
    place = {a: number for number, a in enumerate(order)}
    layout = layered(len(order), [(place[a], place[b]) for a, b in evaluation.pairs.covers()])
    labels = shown(evaluation.algorithms, _LETTERS)
    looks = styles(evaluation.algorithms)
    names = [evaluation.algorithms[a] for a in order]
    longest = max(map(len, labels.values()))
    flat = 0.07 * longest + 0.25
    # Upright names where they would not fit next to each other.
    upright = (layout.width + 1.0) * flat > _WIDEST
    across = min(max((layout.width + 1.0) * (0.22 if upright else flat), 2.6), 4 * _WIDEST)
    tall = [
        0.07 * max((len(labels[names[node]]) for node in nodes), default=1) + 0.25 if upright else 0.25
        for nodes in layout.levels
    ]
    # The middle of every level, from the top, in inches.
    middles = [sum(tall[:level]) + tall[level] / 2.0 + _GAP * level for level in range(len(tall))]
    down = sum(tall) + _GAP * (len(tall) - 1)
    level_of = {node: level for level, nodes in enumerate(layout.levels) for node in nodes}
    with drawing():
        own = ax is None
        ax = axes_or_new(ax, across, down + 0.4)
        width, height = (across, down) if own else room(ax)
        beside, above = width / (layout.width + 1.0), height / down * (longest * 0.07 + 0.25 if upright else 0.25)
        size = fitting(longest + 2, *((above, beside) if upright else (beside, above)), SMALL + 0.5)
        for line in layout.lines:
            ax.plot([x for x, _ in line], [middles[level] for _, level in line], color=GREY, linewidth=0.8, zorder=1)
        for node, name in enumerate(names):
            ax.text(
                layout.x[node],
                middles[level_of[node]],
                labels[name],
                ha="center",
                va="center",
                rotation=90 if upright else 0,
                fontsize=size,
                zorder=3,
                bbox={
                    "boxstyle": "round,pad=0.3",
                    "facecolor": "white",
                    "edgecolor": looks[name].colour,
                    "linewidth": 1.2,
                },
            )
        ax.set_xlim(-0.5, layout.width + 0.5)
        ax.set_ylim(down, 0.0)
        ax.set_axis_off()
        if layout.lines:
            words = f"above, along lines: better; together {percent(evaluation.delta)}"
        else:
            words = f"no two are separable yet at {percent(evaluation.delta)}"
        words += "" if evaluation.valid else ", approximate"
        words += f"\n{evaluation.rankings[0].title}" if len(evaluation.rankings) > 1 else ""
        ax.set_title(words, loc="left", fontsize=SMALL)
    return ax
