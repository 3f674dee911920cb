"""Learning curves: returns along the training, and how algorithms compare there."""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from untuned.errors import InvalidInput, UnknownName
from untuned.evaluation import percent
from untuned.histories import Histories
from untuned.reports.curves import Curve, algorithms_in, environments_in, learning_curve, trials_in
from untuned.reports.curves import sample_efficiency as efficiency_of
from untuned.reports.figures.canvas import (
    COLUMN,
    GREY,
    SMALL,
    algorithm_legend,
    axes_or_new,
    decimal_formatter,
    drawing,
    grid,
    line_options,
    name_grid,
    sparse,
    tidy,
)
from untuned.reports.figures.captions import describe
from untuned.reports.figures.naming import literal, short
from untuned.reports.figures.score_axis import apply, view_of, within
from untuned.reports.styles import Style, styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DELTA = 0.05
#: Fewer trials than this do not bound their median on both sides.
_BOUNDED = 6


def learning_curves(
    histories: Histories,
    environment: str,
    *,
    algorithms: Sequence[str] | None = None,
    order: Sequence[str] | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Return Axes with the median return over trials along their training, and an interval on every median.

    A trial that failed counts as worse than all others (`untuned.reports.curves.learning_curve`).

    Parameters
    ----------
    histories
        The histories of trials: `untuned.read_histories`.
    environment
        Its name.
    algorithms
        Those to show; all that have trials unless given.
    order
        All algorithms as the evaluation has them, which decides how each looks; as the histories have them unless
        given.
    ax
        Where to draw; a new Figure unless given.
    """
    names, looks = _names(histories, algorithms, order)
    if environment not in environments_in(histories):
        raise UnknownName("environment", environment, environments_in(histories))
    own = ax is None
    with drawing():
        # Many names below take more room, in width as well.
        ax = axes_or_new(ax, COLUMN if len(names) <= 6 else 5.0, 2.6 + 0.1 * len(names))
        note = _note(histories, _draw(ax, histories, environment, names, looks))
        describe(ax, _INTERVALS)
        ax.set_title(short(environment), loc="left")
        algorithm_legend(ax, names, looks, below=own, corner="lower right", size=SMALL - 0.5, title=note)
    return ax


def learning_curve_grid(
    histories: Histories,
    *,
    environments: Sequence[str] | None = None,
    algorithms: Sequence[str] | None = None,
    order: Sequence[str] | None = None,
    ax: "Sequence[Axes] | None" = None,
) -> "list[Axes]":
    """Return Axes with the learning curves on every environment, under one legend.

    Parameters
    ----------
    histories
        The histories of trials: `untuned.read_histories`.
    environments
        Those to show; all that have trials unless given.
    algorithms, order
        As for `learning_curves`.
    ax
        One Axes for each environment; a new Figure unless given.
    """
    known = environments_in(histories)
    places = list(known if environments is None else dict.fromkeys(environments))
    for place in places:
        if place not in known:
            raise UnknownName("environment", place, known)
    if not places:
        raise InvalidInput("there are no trials: no environment has a learning curve")
    names, looks = _names(histories, algorithms, order)
    with drawing():
        axes = grid(len(places), ax)
        trials = [
            count
            for each, place in zip(axes, places, strict=True)
            for count in _draw(each, histories, place, names, looks)
        ]
        note = _note(histories, trials)
        describe(axes[0], _INTERVALS)
        tidy(axes)
        name_grid(axes, places)
        algorithm_legend(axes[0], names, looks, below=ax is None, corner="lower right", size=SMALL - 1, title=note)
    return axes


def sample_efficiency(
    histories: Histories,
    *,
    environments: Sequence[str] | None = None,
    algorithms: Sequence[str] | None = None,
    order: Sequence[str] | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Return Axes with the aggregate score of every algorithm along its training: estimates without intervals.

    Scores compare what algorithms have reached at the same point, with equal weights of environments; what lacks
    learning curves is left out, as the legend says (`untuned.reports.curves.sample_efficiency`).

    Parameters
    ----------
    histories
        The histories of trials: `untuned.read_histories`.
    environments
        Those to compare on; all that have trials unless given.
    algorithms
        Those to compare with one another; all that have trials unless given.
    order
        As for `learning_curves`.
    ax
        Where to draw; a new Figure unless given.
    """
    names, looks = _names(histories, algorithms, order)
    for place in environments or ():
        if place not in environments_in(histories):
            raise UnknownName("environment", place, environments_in(histories))
    found = efficiency_of(histories, algorithms=names, environments=environments)
    own = ax is None
    with drawing():
        ax = axes_or_new(ax, COLUMN if len(names) <= 6 else 5.0, 2.8 + 0.1 * len(names))
        ax.set_ylabel("aggregate score")
        if found is None:
            words = "this needs learning curves of two or more\nalgorithms, all on the same environment"
            ax.text(0.5, 0.5, words, transform=ax.transAxes, ha="center", va="center", color=GREY)
            return ax
        for number, name in enumerate(found.algorithms):
            ax.plot(
                found.x,
                found.score_ax[number],
                markevery=sparse(found.x.size, number, len(found.algorithms)),
                label=name,
                # Nothing is outside the view, and a mark at its end is whole.
                clip_on=False,
                **line_options(looks[name]),
            )
        apply(view_of(list(found.score_ax), even=True), ax, "y", None)
        _across(ax, float(found.x[-1]))
        ax.set_xlabel(literal(found.label))
        count = len(found.environments)
        ax.set_title(short(found.environments[0]) if count == 1 else f"{count} environments, equal weights", loc="left")
        note = "\n".join(["estimates; no interval", *(textwrap.fill(each, 58) for each in found.left_out(short))])
        algorithm_legend(ax, found.algorithms, looks, below=own, corner="lower right", size=SMALL - 0.5, title=note)
    return ax


def _names(
    histories: Histories, algorithms: Sequence[str] | None, order: Sequence[str] | None
) -> tuple[list[str], dict[str, Style]]:
    """Return the algorithms to show and how each looks."""
    known = algorithms_in(histories)
    names = list(dict.fromkeys(known if algorithms is None else algorithms))
    for name in names:
        if name not in known:
            raise UnknownName("algorithm", name, known)
    if not names:
        raise InvalidInput("there are no algorithms to show: name at least one that has trials")
    everybody = list(dict.fromkeys([*(order or ()), *known]))
    return names, styles(everybody)


def _draw(
    ax: "Axes", histories: Histories, environment: str, names: Sequence[str], looks: dict[str, Style]
) -> list[int]:
    """Draw the curves on one environment, and return the number of trials behind each."""
    curves: dict[str, Curve] = {}
    for name in names:
        history = histories.cells.get((name, environment))
        curve = None if history is None else learning_curve(history, delta=_DELTA)
        if curve is not None:
            curves[name] = curve
    # A steep beginning belongs to learning: it is not what an uneven scale is for.
    view = view_of([curve.median for curve in curves.values()], even=True)
    # Intervals belong to what is seen, as far as they are not much wider than it.
    length = view.high - view.low
    ends = [end[abs(end - (view.low + view.high) / 2.0) < length] for c in curves.values() for end in (c.low, c.high)]
    view = view_of([*(curve.median for curve in curves.values()), *ends], even=True)
    for number, (name, curve) in enumerate(curves.items()):
        style = looks[name]
        ax.fill_between(
            curve.x,
            within(curve.low, view),
            within(curve.high, view),
            color=style.colour,
            alpha=min(0.15, 0.6 / len(curves)),
            linewidth=0,
            in_layout=False,
        )
        ax.plot(
            curve.x,
            within(curve.median, view),
            markevery=sparse(curve.x.size, number, len(curves)),
            label=name,
            **line_options(style),
        )
    apply(view, ax, "y", "lower right")
    if curves:
        _across(ax, max(float(curve.x[-1]) for curve in curves.values()))
    else:
        ax.text(0.5, 0.5, "no returns were kept", transform=ax.transAxes, ha="center", va="center", color=GREY)
    ax.set_xlabel(literal(histories.unit))
    ax.set_ylabel("return")
    return [curve.trials for curve in curves.values()]


def _across(ax: "Axes", end: float) -> None:
    """Set the x axis: from 0 to the end of training."""
    ax.set_xlim(0.0, end or 1.0)
    ax.xaxis.set_major_formatter(decimal_formatter())


_INTERVALS = f"Median returns; the interval of each point holds with probability {percent(_DELTA)} by itself."


def _note(histories: Histories, trials: Sequence[int]) -> str:
    """Return what a curve and its band are."""
    if not trials:
        return "no returns were kept"
    fewest, most = min(trials), max(trials)
    count = f"{most:,}" if fewest == most else f"{fewest:,} to {most:,}"
    bands = " and its interval" if most >= _BOUNDED else ""
    return f"median of {count} {trials_in(histories)}{bands}"
