"""Figures of summaries: performance profiles with bands, and the probability of improvement of all pairs."""

from typing import TYPE_CHECKING

import numpy as np

from untuned.errors import InvalidInput
from untuned.evaluation import percent
from untuned.judge.summaries.records import Summaries
from untuned.judge.summaries.statistics import PROFILES
from untuned.reports.figures.canvas import (
    COLUMN,
    GREY,
    PALE,
    SMALL,
    algorithm_legend,
    axes_or_new,
    decimal_formatter,
    drawing,
    fitting,
    line_options,
    room,
    sparse,
)
from untuned.reports.figures.captions import describe
from untuned.reports.figures.naming import shown
from untuned.reports.styles import styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SHARES = {
    "profile": "share of scores above",
    "mean-profile": "share of environments whose mean is above",
}


def performance_profile(found: Summaries, *, kind: str | None = None, ax: "Axes | None" = None) -> "Axes":
    """Return Axes with the performance profile of every algorithm, and the interval at every threshold.

    Parameters
    ----------
    found
        What `summaries.summarize` returned, asked for ``"profile"`` or ``"mean-profile"``.
    kind
        Which of the two; the first there is unless given.
    ax
        Where to draw; a new Figure unless given.
    """
    profiles = {each.name: each for each in found.profiles}
    if not profiles or (kind is not None and kind not in profiles):
        raise InvalidInput(f"there is no {kind or PROFILES[0]}: ask summarize for {PROFILES[0]!r} or {PROFILES[1]!r}")
    profile = profiles[kind] if kind is not None else found.profiles[0]
    names, looks = found.algorithms, styles(found.algorithms)
    own = ax is None
    with drawing():
        ax = axes_or_new(ax, COLUMN if len(names) <= 6 else 5.0, 2.6 + 0.1 * len(names))
        for a, name in enumerate(names):
            ax.fill_between(
                profile.thresholds,
                profile.low_at[a],
                profile.high_at[a],
                color=looks[name].colour,
                alpha=min(0.18, 0.7 / len(names)),
                linewidth=0,
                in_layout=False,
            )
            ax.plot(
                profile.thresholds,
                profile.share_at[a],
                markevery=sparse(profile.thresholds.size, a, len(names)),
                **line_options(looks[name]),
            )
        ax.set_ylim(0.0, 1.0)
        if profile.thresholds.size > 1:
            ax.set_xlim(profile.thresholds[0], profile.thresholds[-1])
        ax.xaxis.set_major_formatter(decimal_formatter())
        ax.set_xlabel("normalised score")
        ax.set_ylabel(_SHARES[profile.name])
        describe(ax, f"Bands aim at {percent(found.delta)} at each threshold, approximate.")
        algorithm_legend(ax, names, looks, below=own, corner="best", size=SMALL - 0.5)
    return ax


def probability_of_improvement(found: Summaries, *, ax: "Axes | None" = None) -> "Axes":
    """Return Axes with the probability of improvement of every pair and its interval, the largest on top.

    Parameters
    ----------
    found
        What `summaries.summarize` returned, asked for ``"poi"``.
    ax
        Where to draw; a new Figure unless given.
    """
    rows = found.improvement_rows()
    if not rows:
        raise InvalidInput("there is no probability of improvement: ask summarize for 'poi'")
    looks, labels = styles(found.algorithms), shown(found.algorithms)
    own = ax is None
    with drawing():
        ax = axes_or_new(ax, 5.0, min(0.9 + 0.22 * len(rows), 60.0))
        for place, row in enumerate(rows):
            win, low, high = (np.nan if row[key] is None else row[key] for key in ("win", "low", "high"))
            colour = looks[row["a"]].colour
            ax.plot([low, high], [place] * 2, color=colour, linewidth=1.2, linestyle=(0, (2.5, 1.5)))
            ax.plot([low, high], [place] * 2, color=colour, linestyle="none", marker="|", markersize=4)
            ax.plot(
                [win],
                [place],
                color=colour,
                marker=looks[row["a"]].marker,
                markersize=4,
                markerfacecolor="white",
                markeredgewidth=0.9,
                linestyle="none",
            )
            if place:
                ax.axhline(place - 0.5, color=PALE, linewidth=0.6, zorder=0)
        ax.axvline(0.5, color=GREY, linewidth=0.6, zorder=0)
        ax.set_ylim(len(rows) - 0.5, -0.5)
        ax.set_xlim(0.0, 1.0)
        size = SMALL + 0.5 if own else fitting(1, 1.0, room(ax)[1] / len(rows), SMALL + 0.5)
        ax.set_yticks(range(len(rows)), [f"{labels[row['a']]} > {labels[row['b']]}" for row in rows], fontsize=size)
        ax.tick_params(axis="y", length=0)
        ax.set_xlabel("probability of improvement")
        describe(ax, f"Each interval aims at {percent(found.delta)} by itself, approximate.")
    return ax
