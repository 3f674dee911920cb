"""Scores against the values of hyperparameters."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import LogLocator, NullFormatter

from untuned.errors import InvalidInput, UnknownName
from untuned.evaluation import percent
from untuned.histories import Histories, History
from untuned.reports.curves import algorithms_in, environments_in, from_one, grouped, near_one_ticks, response
from untuned.reports.figures.canvas import (
    COLUMN,
    GREY,
    SMALL,
    axes_or_new,
    decimal_formatter,
    drawing,
    grid,
    tidy,
)
from untuned.reports.figures.captions import describe
from untuned.reports.figures.naming import short, shown
from untuned.reports.figures.score_axis import apply, view_of, within

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DELTA = 0.05
_BINS = 10
_IN_A_BIN = 8
#: Trials that are drawn as points: the first ones, which no result has chosen.
MOST_POINTS = 2_000
_FEW_POINTS = 200
#: The largest number that is drawn where factors of the distance from 1 count.
_ALMOST_ONE = 1.0 - 1e-15
_POINTS = "#56B4E9"
_MEDIAN = "#882255"


def hyperparameter(
    histories: Histories, algorithm: str, environment: str, name: str, *, ax: "Axes | None" = None
) -> "Axes":
    """Return Axes with the scores of trials over the values that they drew, and medians with intervals.

    Parameters
    ----------
    histories
        The histories of trials: `untuned.read_histories`.
    algorithm, environment
        Whose trials.
    name
        The hyperparameter's.
    ax
        Where to draw; a new Figure unless given.
    """
    history = _history(histories, algorithm, environment)
    if name not in history.hyperparameters:
        raise UnknownName("hyperparameter", name, history.hyperparameters)
    with drawing():
        ax = axes_or_new(ax, COLUMN, 2.5)
        _draw(ax, history, name)
        ax.set_title(f"{short(algorithm, 20)} on {short(environment, 24)}", loc="left", fontsize=SMALL + 0.5)
        describe(ax, _note())
    return ax


def hyperparameter_grid(
    histories: Histories, algorithm: str, *, environment: str, ax: "Sequence[Axes] | None" = None
) -> "list[Axes]":
    """Return Axes with the scores of an algorithm on an environment over every hyperparameter that varies.

    Parameters
    ----------
    histories
        The histories of trials: `untuned.read_histories`.
    algorithm, environment
        Whose trials.
    ax
        One Axes for each hyperparameter of which `varying` gives the names; a new Figure unless given.
    """
    history = _history(histories, algorithm, environment)
    names = varying(history)
    if not names:
        raise InvalidInput(f"{algorithm!r} on {environment!r} drew nothing that varies: there is nothing to show")
    with drawing():
        axes = grid(len(names), ax)
        for each, name in zip(axes, names, strict=True):
            _draw(each, history, name)
        # Every axis has a name of its own underneath.
        labels = [each.get_xlabel() for each in axes]
        tidy(axes)
        for each, label in zip(axes, labels, strict=True):
            each.set_xlabel(label)
        figure = axes[0].get_figure(root=True)
        title = f"{short(algorithm)} on {short(environment)}"
        describe(axes[0], _note())
        if ax is None and figure is not None:
            figure.suptitle(title, fontsize=SMALL + 0.5, x=0.01, ha="left")
        else:
            axes[0].set_title(title, loc="left", fontsize=SMALL)
    return axes


def varying(history: History) -> list[str]:
    """Return the names of the hyperparameters of which trials drew different values."""
    return [name for name, values in history.hyperparameters.items() if grouped(values, _BINS) is not None]


def _history(histories: Histories, algorithm: str, environment: str) -> History:
    if algorithm not in algorithms_in(histories):
        raise UnknownName("algorithm", algorithm, algorithms_in(histories))
    if environment not in environments_in(histories):
        raise UnknownName("environment", environment, environments_in(histories))
    if (algorithm, environment) not in histories.cells:
        raise InvalidInput(f"there are no trials of {algorithm!r} on {environment!r}: choose another cell")
    return histories.cells[algorithm, environment]


def _draw(ax: "Axes", history: History, name: str) -> None:
    source = history.distributions.get(name)
    ax.set_xlabel(short(name) if not source else f"{short(name)}\n{short(source, 36)}", fontsize=SMALL + 0.5)
    ax.set_ylabel("score")
    # Where there are few trials, fewer bins that can say something.
    bins = min(_BINS, max(2, history.scores.size // _IN_A_BIN))
    groups = grouped(history.hyperparameters[name], bins)
    found = response(history, name, delta=_DELTA, bins=bins)
    if groups is None or found is None:
        words = "all trials drew the same value"
        ax.text(0.5, 0.5, words, transform=ax.transAxes, ha="center", va="center", color=GREY)
        return
    view = view_of([history.scores[groups.trials]])
    at, scores = groups.values[:MOST_POINTS], history.scores[groups.trials][:MOST_POINTS]
    if found.labels is not None:
        # Side by side by number, so that points of a category are not on top of each other.
        at = at + 0.5 * (np.modf(np.arange(at.size) * 0.618034)[0] - 0.5)
    ax.plot(
        at,
        within(scores, view),
        linestyle="none",
        marker=".",
        # Few points are to be seen one by one, many together.
        markersize=4.0 if at.size <= _FEW_POINTS else 2.5,
        markeredgewidth=0,
        color=_POINTS,
        alpha=0.9 if at.size <= _FEW_POINTS else 0.6,
        # A picture in the picture: thousands of points would make a file large and slow.
        rasterized=True,
        zorder=1,
    )
    low, high = within(found.low, view), within(found.high, view)
    ax.vlines(found.x, low, high, color=_MEDIAN, linewidth=1.0, zorder=2)
    ax.plot(
        found.x,
        within(found.median, view),
        color=_MEDIAN,
        marker="o",
        markersize=3.5,
        linewidth=1.0 if found.labels is None else 0.0,
        label="median",
        zorder=3,
    )
    if found.labels is not None:
        texts = list(shown(found.labels, 12).values())
        many = sum(map(len, texts)) > 30
        ax.set_xticks(found.x, texts, rotation=90 if many else 0)
        ax.set_xlim(-0.5, len(texts) - 0.5)
    elif found.logarithmic:
        ax.set_xscale("log")
        decades = float(np.log10(groups.values.max() / groups.values.min()))
        ax.xaxis.set_major_locator(LogLocator(subs=(1.0,) if decades > 1.5 else (1.0, 2.0, 5.0)))
        ax.xaxis.set_major_formatter(decimal_formatter())
        ax.xaxis.set_minor_formatter(NullFormatter())
    elif found.near_one:
        first, last = (float(end(from_one(groups.values))) for end in (np.min, np.max))
        margin = 0.05 * (last - first) or 0.1
        ax.set_xscale("function", functions=(lambda x: from_one(np.minimum(x, _ALMOST_ONE)), lambda u: 1.0 - 10.0**-u))
        ax.set_xlim(*(1.0 - 10.0 ** -np.array([first - margin, last + margin])))
        ticks = near_one_ticks(first - margin, last + margin)
        ax.set_xticks([1.0 - 10.0**-place for place, _ in ticks], [text for _, text in ticks])
    else:
        ax.xaxis.set_major_formatter(decimal_formatter())
        ax.locator_params(axis="x", nbins=5)
    apply(view, ax, "y", "lower right")


def _note() -> str:
    return f"Scores of trials; medians in bins, each with its interval {percent(_DELTA)}."
