"""The partial order of algorithms as a diagram."""

from typing import TYPE_CHECKING

from untuned.evaluation import Evaluation
from untuned.reports.figures.canvas import GREY, PALE, SMALL, axes_or_new, drawing, fitting, room
from untuned.reports.figures.captions import describe, verdicts_promise
from untuned.reports.figures.naming import shown
from untuned.reports.hasse_layout import bundled, layered
from untuned.reports.styles import styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: The widest figure, in inches.
_WIDEST = 10.0
#: Between levels, in inches.
_GAP = 0.4
#: Of a name in its box.
_LETTERS = 20
#: A diagram of more algorithms has too many lines to follow.
_MOST = 16


def partial_order(evaluation: Evaluation, *, ax: "Axes | None" = None) -> "Axes":
    """Return Axes with a Hasse diagram: an algorithm is better than all that lines lead down to from it.

    Lines of algorithms that are better than the same others meet in a dot. Of more than 16 algorithms the diagram would
    be unreadable: then every algorithm has a bar from the best to the worst rank that the verdicts allow.

    Parameters
    ----------
    evaluation
        The evaluation.
    ax
        Where to draw; a new Figure unless given.
    """
    if len(evaluation.algorithms) > _MOST:
        return _rank_bars(evaluation, ax)
    # Numbered by rank, which decides what is on the left where nothing else does.
    order = evaluation.order
    place = {a: number for number, a in enumerate(order)}
    count, edges = bundled(len(order), [(place[a], place[b]) for a, b in evaluation.pairs.covers()])
    layout = layered(count, edges)
    labels = shown(evaluation.algorithms, _LETTERS)
    looks = styles(evaluation.algorithms)
    names = [evaluation.algorithms[a] for a in order]
    longest = max(map(len, labels.values()))
    flat = 0.07 * longest + 0.25
    # Upright names where they would not fit next to each other.
    upright = (layout.width + 1.0) * flat > _WIDEST
    across = min(max((layout.width + 1.0) * (0.22 if upright else flat), 2.6), 4 * _WIDEST)
    named = [[node for node in nodes if node < len(names)] for nodes in layout.levels]
    tall = [
        (0.07 * max(len(labels[names[node]]) for node in nodes) + 0.25 if upright else 0.25) if nodes else 0.0
        for nodes in named
    ]
    # The middle of every level, from the top, in inches.
    middles = [sum(tall[:level]) + tall[level] / 2.0 + _GAP * level for level in range(len(tall))]
    down = sum(tall) + _GAP * (len(tall) - 1)
    level_of = {node: level for level, nodes in enumerate(layout.levels) for node in nodes}
    with drawing():
        own = ax is None
        ax = axes_or_new(ax, across, down + 0.4)
        width, height = (across, down) if own else room(ax)
        room_across, room_down = (
            width / (layout.width + 1.0),
            height / down * (longest * 0.07 + 0.25 if upright else 0.25),
        )
        size = fitting(longest + 2, *((room_down, room_across) if upright else (room_across, room_down)), SMALL + 0.5)
        for line in layout.lines:
            ax.plot([x for x, _ in line], [middles[level] for _, level in line], color=GREY, linewidth=0.8, zorder=1)
        for node in range(len(names), count):
            ax.plot([layout.x[node]], [middles[level_of[node]]], marker="o", markersize=3, color=GREY, zorder=2)
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
        lines = "Lines lead down from better to worse, also through a dot."
        words = lines if layout.lines else "No two are separable yet."
        describe(ax, f"{words} {verdicts_promise(evaluation)}")
    return ax


def _rank_bars(evaluation: Evaluation, ax: "Axes | None") -> "Axes":
    """Draw the ranks that the verdicts allow, the best score on top."""
    labels = shown(evaluation.algorithms, _LETTERS)
    looks = styles(evaluation.algorithms)
    own = ax is None
    with drawing():
        ax = axes_or_new(ax, 5.0, 0.8 + 0.15 * len(evaluation.order))
        for place, a in enumerate(evaluation.order):
            name, ranks = evaluation.algorithms[a], evaluation.ranks
            ends = [int(ranks.best[a]), int(ranks.worst[a])]
            ax.plot(ends, [place, place], color=looks[name].colour, linewidth=2.5, solid_capstyle="round")
            ax.plot(
                [int(ranks.rank[a])], [place], color="black", marker="o", markersize=2.5, linestyle="none", zorder=3
            )
        count = len(evaluation.order)
        ax.set_ylim(count - 0.5, -0.5)
        ax.set_xlim(0.0, count + 1.0)
        size = fitting(1, 1.0, 0.15 if own else room(ax)[1] / count, SMALL)
        ax.set_yticks(range(count), [labels[evaluation.algorithms[a]] for a in evaluation.order], fontsize=size)
        ax.tick_params(axis="y", length=0)
        ax.grid(axis="x", color=PALE, linewidth=0.6)
        ax.set_axisbelow(True)
        ax.set_xlabel("rank: best to worst that the verdicts allow, with the rank of the score")
        describe(ax, f"Dots: ranks of the scores. Bars: those that the verdicts allow. {verdicts_promise(evaluation)}")
    return ax
