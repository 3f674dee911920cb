"""Every trial as a point, with the median: for few trials."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from untuned.evaluation import Evaluation
from untuned.reports.figures.canvas import (
    COLUMN,
    GREY,
    PALE,
    SMALL,
    axes_or_new,
    drawing,
    fitting,
    grid,
    legend_below,
    name_grid,
    room,
    tidy,
)
from untuned.reports.figures.naming import short, shown
from untuned.reports.figures.score_axis import apply, view_of, within
from untuned.reports.figures.selecting import chosen_algorithms, chosen_environments
from untuned.reports.styles import styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: With fewer trials in every cell, bands on distributions say next to nothing.
FEW = 30
#: More points than this would hide each other.
_MOST = 200
#: How far points are moved up or down, in rows.
_SPREAD = 0.28


def few(evaluation: Evaluation, environment: str) -> bool:
    """Return whether an environment has so few trials that points show more than bands."""
    return int(evaluation.trials_ae[:, evaluation.environments.index(environment)].max()) < FEW


def strip(
    evaluation: Evaluation, environment: str, *, algorithms: Sequence[str] | None = None, ax: "Axes | None" = None
) -> "Axes":
    """Return Axes with every trial's score on an environment as a point and the median as a line, the best on top.

    Of more than 200 trials 200 are shown, evenly spaced by rank.

    Parameters
    ----------
    evaluation
        The evaluation.
    environment
        Its name.
    algorithms
        Those to show; all unless given.
    ax
        Where to draw; a new Figure unless given.
    """
    names = chosen_algorithms(evaluation, algorithms)
    chosen_environments(evaluation, [environment])
    own = ax is None
    with drawing():
        ax = axes_or_new(ax, COLUMN, 0.8 + 0.24 * len(names))
        order = draw_strip(ax, evaluation, environment, names)
        labels = shown(evaluation.algorithms)
        size = SMALL + 0.5 if own else fitting(1, 1.0, room(ax)[1] / len(order), SMALL + 0.5)
        ax.set_yticks(range(len(order)), [labels[name] for name in order], fontsize=size)
    return ax


def strip_grid(
    evaluation: Evaluation, *, environments: Sequence[str] | None = None, ax: "Sequence[Axes] | None" = None
) -> "list[Axes]":
    """Return Axes with every trial's score on every environment as a point, and the medians.

    Parameters
    ----------
    evaluation
        The evaluation.
    environments
        Those to show; all unless given.
    ax
        One Axes for each environment; a new Figure unless given.
    """
    places = chosen_environments(evaluation, environments)
    with drawing():
        axes = grid(len(places), ax)
        for each, place in zip(axes, places, strict=True):
            draw_strip(each, evaluation, place, evaluation.algorithms)
        tidy(axes)
        name_grid(axes, places)
        figure = axes[0].get_figure(root=True)
        if ax is None and figure is not None:
            names = [evaluation.algorithms[a] for a in evaluation.each_ranking[0].order]
            note = "from top to bottom; points: trials; lines: medians"
            legend_below(figure, names, styles(evaluation.algorithms), title=note)
    return axes


def draw_strip(ax: "Axes", evaluation: Evaluation, environment: str, algorithms: Sequence[str]) -> list[str]:
    """Draw the trials on an environment without a legend, and return the algorithms from top to bottom."""
    order = [evaluation.algorithms[a] for a in evaluation.each_ranking[0].order]
    order = [name for name in order if name in algorithms]
    cells = {name: np.sort(evaluation.scores.cell(name, environment)) for name in order}
    view = view_of(list(cells.values()))
    looks = styles(evaluation.algorithms)
    for place, name in enumerate(order):
        scores = cells[name]
        if not scores.size:
            continue
        if scores.size > _MOST:
            scores = scores[np.linspace(0, scores.size - 1, _MOST).round().astype(int)]
        # Neighbours in rank are moved apart, the same way every time.
        at = place + _SPREAD * (2.0 * (np.arange(scores.size) * 0.618034 % 1.0) - 1.0) * (scores.size > 1)
        ax.plot(
            within(scores, view),
            at,
            linestyle="none",
            marker=looks[name].marker,
            markersize=3.2,
            color=looks[name].colour,
            alpha=0.75,
            markeredgewidth=0.3,
            markeredgecolor="white",
            label=name,
            in_layout=False,
        )
        median = within(np.array([np.median(cells[name])]), view)[0]
        ax.plot([median, median], [place - 0.42, place + 0.42], color=looks[name].colour, linewidth=1.8, zorder=3)
    for place in range(1, len(order)):
        ax.axhline(place - 0.5, color=PALE, linewidth=0.6, zorder=0)
    ax.set_ylim(len(order) - 0.5, -0.5)
    ax.set_yticks([])
    ax.tick_params(axis="y", length=0)
    apply(view, ax, "x", None)
    ax.set_xlabel("score")
    ax.set_title(short(environment), loc="left")
    if not any(scores.size for scores in cells.values()):
        ax.text(0.5, 0.5, "no trials", transform=ax.transAxes, ha="center", va="center", color=GREY)
    return order
