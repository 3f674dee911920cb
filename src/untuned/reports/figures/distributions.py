"""Distributions of scores with bands: as quantile functions, and as distribution functions."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import FixedLocator

from untuned.errors import InvalidInput
from untuned.evaluation import Evaluation, percent
from untuned.judge.intervals.dkw import Band, band
from untuned.reports.bands import bands
from untuned.reports.figures.canvas import (
    COLUMN,
    GREY,
    SMALL,
    algorithm_legend,
    axes_or_new,
    drawing,
    grid,
    legend,
    line_options,
    name_grid,
    sparse,
    tidy,
)
from untuned.reports.figures.captions import describe
from untuned.reports.figures.naming import short
from untuned.reports.figures.score_axis import apply, distribution_steps, quantile_steps, view_of, within
from untuned.reports.figures.selecting import chosen_algorithms, chosen_environments
from untuned.reports.styles import styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Bands = Mapping[tuple[str, str], Band]
#: Draws one environment: Axes, evaluation, environment, algorithms, bands.
Drawn = Callable[["Axes", Evaluation, str, Sequence[str], Bands], None]


def quantiles(
    evaluation: Evaluation, environment: str, *, algorithms: Sequence[str] | None = None, ax: "Axes | None" = None
) -> "Axes":
    """Return Axes with quantile functions of the scores on an environment: the higher a curve, the better.

    At probability p a curve shows the score that a part p of the trials do not exceed. The bands of all algorithms on
    all environments hold together; they are drawn where trials bound the function on both sides.

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
    return _one(draw_quantiles, evaluation, environment, algorithms, ax, "lower right")


def distributions(
    evaluation: Evaluation, environment: str, *, algorithms: Sequence[str] | None = None, ax: "Axes | None" = None
) -> "Axes":
    """Return Axes with distribution functions of the scores on an environment: the further right, the better.

    Parameters
    ----------
    evaluation
        An evaluation, as `untuned.evaluate` returns it.
    environment
        Its name.
    algorithms
        Which; all by default.
    ax
        Axes to draw on; by default a figure is made.
    """
    return _one(draw_distributions, evaluation, environment, algorithms, ax, "upper left")


def quantile_grid(
    evaluation: Evaluation, *, environments: Sequence[str] | None = None, ax: "Sequence[Axes] | None" = None
) -> "list[Axes]":
    """Return Axes with the quantile functions on every environment, under one legend.

    Parameters
    ----------
    evaluation
        The evaluation.
    environments
        Those to show; all unless given.
    ax
        One Axes for each environment; a new Figure unless given.
    """
    return _many(draw_quantiles, evaluation, environments, ax, "lower right")


def distribution_grid(
    evaluation: Evaluation, *, environments: Sequence[str] | None = None, ax: "Sequence[Axes] | None" = None
) -> "list[Axes]":
    """Return Axes with the distribution functions on every environment, under one legend.

    Parameters
    ----------
    evaluation
        An evaluation, as `untuned.evaluate` returns it.
    environments
        Those to show, in this order; all by default.
    ax
        Axes to draw on, as many as environments; by default a figure is made.
    """
    return _many(draw_distributions, evaluation, environments, ax, "upper left")


def trials_effect(
    evaluation: Evaluation,
    algorithm: str,
    environment: str,
    *,
    sizes: Sequence[int] = (10, 30, 100, 1_000, 10_000),
    ax: "Axes | None" = None,
) -> "Axes":
    """Return Axes with the effect of more trials: the quantile function and its band from the first trials only.

    Parameters
    ----------
    evaluation
        The evaluation.
    algorithm, environment
        Whose trials.
    sizes
        Numbers of trials; those beyond the number of trials are left out, all trials come last.
    ax
        Where to draw; a new Figure unless given.
    """
    scores = evaluation.scores.cell(algorithm, environment)
    if not scores.size:
        raise InvalidInput(f"there are no trials of {algorithm!r} on {environment!r}: choose another cell")
    if any(size < 1 for size in sizes):
        raise InvalidInput(f"sizes={list(sizes)}: numbers of trials are at least 1")
    support = evaluation.ranges[evaluation.environments.index(environment)]
    chosen = sorted({size for size in sizes if size < scores.size} | {scores.size})
    # Several looks at the same trials: each band stands for itself.
    own = ax is None
    with drawing():
        ax = axes_or_new(ax, COLUMN, 2.8)
        view = view_of([scores])
        # From light to dark, so that what is known best is seen best; dashes distinguish them as well.
        shades = np.linspace(0.72, 0.0, len(chosen)) if len(chosen) > 1 else [0.0]
        for number, (size, shade) in enumerate(zip(chosen, shades, strict=True)):
            steps = quantile_steps(band(scores[:size], evaluation.delta, support))
            low, high = within(steps.low, view), within(steps.high, view)
            colour = (0.0 + 0.75 * shade, 0.28 + 0.55 * shade, 0.55 + 0.4 * shade)
            ax.fill_between(
                steps.x, low, high, step="pre", color=colour, alpha=0.25, linewidth=0, zorder=1 + number / 10
            )
            for end in (low, high):
                ax.plot(steps.x, end, drawstyle="steps-pre", color=colour, linewidth=0.5, zorder=1.5 + number / 10)
            ax.plot(
                steps.x,
                within(steps.estimate, view),
                drawstyle="steps-pre",
                color=colour,
                linewidth=0.9 + 0.5 * number / len(chosen),
                linestyle=((0, (1, 1)), (0, (2, 1)), (0, (4, 1.5)), (0, (6, 1.5, 1, 1.5)), (0, (9, 2)), "-")[
                    max(6 - len(chosen), 0) + min(number, 5)
                ]
                if number < len(chosen) - 1
                else "-",
                label=f"{size:,} {'trial' if size == 1 else 'trials'}",
                zorder=2 + number / 10,
            )
        _probability_axis(ax, "x")
        apply(view, ax, "y", "lower right")
        ax.set_ylabel("score")
        ax.set_title(f"{short(algorithm)} on {short(environment)}", loc="left")
        entries, labels = ax.get_legend_handles_labels()
        describe(ax, f"Each band holds with probability at least {percent(evaluation.delta)}.")
        figure = ax.get_figure(root=True)
        if own and figure is not None:
            legend(figure, entries, labels, loc="outside lower center", ncols=3)
        else:
            legend(ax, entries, labels, loc="lower right")
    return ax


def quantiles_with(evaluation: Evaluation, environment: str, known: Bands) -> "Axes":
    """Return Axes as `quantiles` does, with bands that are known already."""
    return _one(draw_quantiles, evaluation, environment, None, None, "lower right", known)


def draw_quantiles(
    ax: "Axes", evaluation: Evaluation, environment: str, algorithms: Sequence[str], known: Bands
) -> None:
    """Draw quantile functions and their bands, without a legend."""
    measured = [name for name in algorithms if (name, environment) in known]
    view = view_of([evaluation.scores.cell(name, environment) for name in measured])
    looks = styles(evaluation.algorithms)
    for number, name in enumerate(measured):
        steps = quantile_steps(known[name, environment])
        style = looks[name]
        margin = known[name, environment].margin
        if informative(known[name, environment]):
            ax.fill_between(
                steps.x,
                within(steps.low, view),
                within(steps.high, view),
                # Nearer to 0 and 1 no trial bounds the function, and all bands would be the same slab.
                where=(steps.x > margin - 1e-9) & (steps.x < 1.0 - margin + 1e-9),
                step="pre",
                color=style.colour,
                alpha=_faint(len(measured)),
                linewidth=0,
                in_layout=False,
            )
        ax.plot(
            steps.x,
            within(steps.estimate, view),
            drawstyle="steps-pre",
            markevery=sparse(steps.x.size, number, len(measured)),
            label=name,
            **line_options(style),
        )
    _probability_axis(ax, "x")
    apply(view, ax, "y", "lower right")
    _name(ax, environment, measured, algorithms)
    ax.set_ylabel("score")


def draw_distributions(
    ax: "Axes", evaluation: Evaluation, environment: str, algorithms: Sequence[str], known: Bands
) -> None:
    """Draw distribution functions and their bands, without a legend."""
    measured = [name for name in algorithms if (name, environment) in known]
    view = view_of([evaluation.scores.cell(name, environment) for name in measured])
    looks = styles(evaluation.algorithms)
    for number, name in enumerate(measured):
        steps = distribution_steps(known[name, environment], view)
        style = looks[name]
        if informative(known[name, environment]):
            ax.fill_between(
                steps.x,
                steps.low,
                steps.high,
                where=(steps.low > 0.0) & (steps.high < 1.0),
                step="post",
                color=style.colour,
                alpha=_faint(len(measured)),
                linewidth=0,
            )
        ax.plot(
            steps.x,
            steps.estimate,
            drawstyle="steps-post",
            markevery=sparse(steps.x.size, number, len(measured)),
            label=name,
            **line_options(style),
        )
    _probability_axis(ax, "y")
    apply(view, ax, "x", "upper left")
    _name(ax, environment, measured, algorithms)
    ax.set_xlabel("score")


def informative(known: Band) -> bool:
    """Return whether a band bounds the median on both sides: one that does not would only hide the others."""
    return known.margin < 0.5


def together(evaluation: Evaluation, known: Bands) -> str:
    """Return what the bands promise."""
    # That the bands hold does not depend on the method of the evaluation.
    count = len(known)
    who = (
        "The band holds"
        if count == 1
        else "Both bands hold together"
        if count == 2
        else f"All {count} bands hold together"
    )
    return f"{who} with probability at least {percent(evaluation.delta)}; drawn where trials bound both sides."


def _one(
    draw: Drawn,
    evaluation: Evaluation,
    environment: str,
    algorithms: Sequence[str] | None,
    ax: "Axes | None",
    corner: str,
    known: Bands | None = None,
) -> "Axes":
    names = chosen_algorithms(evaluation, algorithms)
    chosen_environments(evaluation, [environment])
    known = bands(evaluation) if known is None else known
    own = ax is None
    with drawing():
        # Many names below take more room, in width as well.
        ax = axes_or_new(ax, COLUMN if len(names) <= 6 else 5.0, 2.6 + 0.1 * len(names))
        draw(ax, evaluation, environment, names, known)
        looks = styles(evaluation.algorithms)
        describe(ax, together(evaluation, known))
        algorithm_legend(ax, names, looks, below=own, corner=corner, size=SMALL - 0.5)
    return ax


def _many(
    draw: Drawn,
    evaluation: Evaluation,
    environments: Sequence[str] | None,
    ax: "Sequence[Axes] | None",
    corner: str,
) -> "list[Axes]":
    places = chosen_environments(evaluation, environments)
    known = bands(evaluation)
    looks = styles(evaluation.algorithms)
    with drawing():
        axes = grid(len(places), ax)
        for each, place in zip(axes, places, strict=True):
            draw(each, evaluation, place, evaluation.algorithms, known)
        tidy(axes)
        name_grid(axes, places)
        for each in axes:
            describe(each, together(evaluation, known))
        algorithm_legend(axes[0], evaluation.algorithms, looks, below=ax is None, corner=corner, size=SMALL - 1)
    return axes


def _probability_axis(ax: "Axes", axis: str) -> None:
    which = ax.xaxis if axis == "x" else ax.yaxis
    (ax.set_xlim if axis == "x" else ax.set_ylim)(0.0, 1.0)
    which.set_major_locator(FixedLocator([0.0, 0.25, 0.5, 0.75, 1.0]))
    which.set_major_formatter(lambda value, _: f"{value:g}")
    (ax.set_xlabel if axis == "x" else ax.set_ylabel)("probability")


def _name(ax: "Axes", environment: str, measured: Sequence[str], algorithms: Sequence[str]) -> None:
    ax.set_title(short(environment), loc="left")
    if not measured:
        ax.text(0.5, 0.5, "no trials", transform=ax.transAxes, ha="center", va="center", color=GREY)
        return
    missing = len(algorithms) - len(measured)
    if missing:
        words = f"{missing} without trials"
        ax.text(0.99, 1.0, words, transform=ax.transAxes, ha="right", va="bottom", fontsize=SMALL - 1, color=GREY)


def _faint(count: int) -> float:
    """Return the opacity of bands: where many overlap, lines must stay visible."""
    return min(0.15, 0.6 / max(count, 1))
