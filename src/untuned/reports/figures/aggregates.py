"""Aggregate scores with their intervals, of one method or of several side by side."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.lines import Line2D

from untuned.errors import InvalidInput
from untuned.evaluation import Evaluation, percent
from untuned.reports.figures.canvas import (
    PALE,
    SMALL,
    axes_or_new,
    drawing,
    fitting,
    legend,
    room,
)
from untuned.reports.figures.captions import describe, intervals_promise
from untuned.reports.figures.naming import shown
from untuned.reports.styles import styles
from untuned.statements import VACUOUS, says_nothing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_APPROXIMATE = (0, (2.5, 1.5))
#: Of methods; algorithms differ by where they are.
_MARKERS = "osD^vPX<>*h"


def aggregate(evaluation: Evaluation, *, compare_with: Sequence[Evaluation] = (), ax: "Axes | None" = None) -> "Axes":
    """Return Axes with the aggregate scores and their intervals, the best on top.

    Intervals of a method that guarantees nothing are dashed and their dots hollow.

    Parameters
    ----------
    evaluation
        The evaluation.
    compare_with
        Evaluations of the same scores by other methods: their intervals are drawn one below the other.
    ax
        Where to draw; a new Figure unless given.

    Raises
    ------
    InvalidInput
        Where the others judge other algorithms or environments.
    """
    everything = (evaluation, *compare_with)
    for other in compare_with:
        same = set(other.algorithms) == set(evaluation.algorithms)
        if not same or set(other.environments) != set(evaluation.environments):
            raise InvalidInput(
                f"compare_with holds an evaluation by {other.method!r} of other algorithms or environments: "
                "evaluate the same scores by several methods to compare these"
            )
    order = [evaluation.algorithms[a] for a in evaluation.order]
    looks = styles(evaluation.algorithms)
    labels = shown(evaluation.algorithms)
    several = len(everything) > 1
    # Room between algorithms is twice that between methods.
    offsets = (np.arange(len(everything)) - (len(everything) - 1) / 2.0) / (len(everything) + 1.0)
    own = ax is None
    with drawing():
        ax = axes_or_new(ax, 5.0, min(0.9 + len(order) * (0.12 + 0.12 * len(everything)), 60.0) + 0.4 * several)
        for offset, each, marker in zip(offsets, everything, _cycled(len(everything)), strict=True):
            for place, name in enumerate(order):
                a = each.algorithms.index(name)
                colour = looks[name].colour
                low, high = float(each.low_a[a]), float(each.high_a[a])
                # An interval that says nothing still sets the scale: scores must not look far apart by its absence.
                vacuous = high - low >= VACUOUS
                line = "none" if vacuous else "-" if each.valid else _APPROXIMATE
                ax.plot([low, high], [place + offset] * 2, color=colour, linewidth=1.2, linestyle=line)
                for end in () if vacuous else (low, high):
                    ax.plot([end], [place + offset], color=colour, marker="|", markersize=4, markeredgewidth=1.0)
                ax.plot(
                    [float(each.score_a[a])],
                    [place + offset],
                    color=colour,
                    marker=marker if several else looks[name].marker,
                    markersize=4,
                    markerfacecolor=colour if each.valid else "white",
                    markeredgewidth=0.9,
                    linestyle="none",
                )
        for place in range(1, len(order)):
            ax.axhline(place - 0.5, color=PALE, linewidth=0.6, zorder=0)
        ax.set_ylim(len(order) - 0.5, -0.5)
        size = SMALL + 0.5 if own else fitting(1, 1.0, room(ax)[1] / len(order), SMALL + 0.5)
        ax.set_yticks(range(len(order)), [labels[name] for name in order], fontsize=size)
        ax.tick_params(axis="y", length=0)
        ax.set_xlabel("aggregate score")
        _say_methods(ax, everything, own)
    return ax


def method_labels(everything: Sequence[Evaluation]) -> list[str]:
    """Return what to call the method of each evaluation: what tells it from the others, and whether it guarantees."""
    named = [
        each.judging.method_under(each.weights).title
        + (f", {each.rankings[0].title}" if len(each.rankings) > 1 else "")
        for each in everything
    ]
    told = []
    for name, each in zip(named, everything, strict=True):
        parts = [name]
        if each.judging.conventions == "paper":
            parts.append("as published")
        if len({other.delta for other in everything}) > 1:
            parts.append(percent(each.delta))
        parts.append("guaranteed" if each.valid else "approximate")
        told.append(", ".join(parts))
    return told


def _not_drawn(everything: Sequence[Evaluation]) -> str:
    """Return a sentence on intervals that say nothing; empty where all are drawn."""
    some = any((each.high_a - each.low_a >= VACUOUS).any() for each in everything)
    return " Intervals that are nearly as long as the scale say nothing and are not drawn." if some else ""


def _cycled(count: int) -> list[str]:
    return [_MARKERS[number % len(_MARKERS)] for number in range(count)]


def _say_methods(ax: "Axes", everything: Sequence[Evaluation], own: bool) -> None:
    labels = method_labels(everything)
    if len(everything) == 1:
        only = everything[0]
        words = f"Aggregate scores, with intervals by {only.method}. {intervals_promise(only)}{_not_drawn(everything)}"
        if says_nothing(only):
            words = f"Aggregate scores {only.under_weights}. Their intervals say nothing and are not drawn."
        describe(ax, words)
        return
    entries = [
        Line2D(
            [],
            [],
            color="black",
            marker=marker,
            markersize=4,
            linewidth=1.2,
            linestyle="-" if each.valid else _APPROXIMATE,
            markerfacecolor="black" if each.valid else "white",
        )
        for each, marker in zip(everything, _cycled(len(everything)), strict=True)
    ]
    title = "intervals, from top to bottom"
    words = f"Aggregate scores. Intervals, from top to bottom: {'; '.join(labels)}."
    if len({each.delta for each in everything}) == 1:
        words += f" The level of each method is {percent(everything[0].delta)}, for all of its intervals together."
    describe(ax, words + _not_drawn(everything))
    figure = ax.get_figure(root=True)
    if own and figure is not None:
        columns = max(1, int(figure.get_size_inches()[0] / (0.6 + 0.065 * max(map(len, labels)))))
        legend(figure, entries, labels, loc="outside lower center", ncols=columns, title=title)
    else:
        legend(ax, entries, labels, loc="best", title=title)
