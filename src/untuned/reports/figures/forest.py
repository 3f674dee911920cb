"""The differences of all pairs with their intervals, one below the other."""

from typing import TYPE_CHECKING, Any

from untuned.evaluation import Evaluation
from untuned.reports.figures.canvas import GREY, SMALL, axes_or_new, drawing, fitting, room
from untuned.reports.figures.captions import describe, intervals_promise
from untuned.reports.figures.naming import shown
from untuned.statements import VACUOUS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: More rows than this cannot be read on a page.
_MOST = 66
#: Letters of each of two names.
_LETTERS = 20
_DECIDED = "#0072B2"


def forest(evaluation: Evaluation, *, ax: "Axes | None" = None) -> "Axes":
    """Return Axes with the difference of every pair of scores and its interval; filled dots are decided.

    Pairs are in the order of their scores, the better one first. Of more than 66 pairs those with the best score are
    shown.

    Parameters
    ----------
    evaluation
        The evaluation.
    ax
        Where to draw; a new Figure unless given.
    """
    everything = evaluation.pair_rows()
    pairs = _shown(everything)
    labels = shown(evaluation.algorithms, _LETTERS)
    own = ax is None
    with drawing():
        ax = axes_or_new(ax, 5.0, height_of(evaluation))
        for place, row in enumerate(pairs):
            decided = row["verdict"] == "better" or row["verdict"] == "worse"
            colour = _DECIDED if decided else GREY
            ends, line = [row["low"], row["high"]], "-" if row["high"] - row["low"] < 2 * VACUOUS else "none"
            ax.plot(ends, [place, place], color=colour, linewidth=1.2, linestyle=line, solid_capstyle="butt")
            ax.plot(
                [row["difference"]],
                [place],
                marker="o",
                markersize=4,
                color=colour,
                markerfacecolor=colour if decided else "white",
                linestyle="none",
            )
        ax.axvline(0.0, color="black", linewidth=0.6, zorder=0)
        ax.set_ylim(len(pairs) - 0.5, -0.5)
        size = SMALL + 0.5 if own else fitting(1, 1.0, room(ax)[1] / max(len(pairs), 1), SMALL + 0.5)
        names = [f"{labels[row['a']]} \N{MINUS SIGN} {labels[row['b']]}" for row in pairs]
        ax.set_yticks(range(len(pairs)), names, fontsize=size)
        ax.tick_params(axis="y", length=0)
        ax.set_xlabel("difference of aggregate scores")
        words = "Filled dots are decided, hollow ones not separable yet."
        if any(row["high"] - row["low"] >= 2 * VACUOUS for row in pairs):
            words += " Intervals that are nearly as long as the scale say nothing and are not drawn."
        if len(pairs) < len(everything):
            words = f"{len(pairs)} of {len(everything)} pairs: those with {labels[everything[0]['a']]}. {words}"
        describe(ax, f"{words} {intervals_promise(evaluation)}")
    return ax


def height_of(evaluation: Evaluation) -> float:
    """Return how many inches the differences need."""
    return 0.9 + 0.19 * len(_shown(evaluation.pair_rows()))


def _shown(pairs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return pairs if len(pairs) <= _MOST else [row for row in pairs if row["a"] == pairs[0]["a"]]
