"""The paper's figures from these trials, and the published numbers next to ours."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from scipy import stats

from untuned.evaluation import Evaluation
from untuned.lab.figures import replication_figure
from untuned.lab.table_two import Replication
from untuned.reports.figures.canvas import GREY, PAGE, PALE, SMALL, drawing, legend
from untuned.reports.figures.distributions import Bands, draw_quantiles, trials_effect
from untuned.reports.figures.illustration import percentile_illustration
from untuned.reports.styles import styles
from untuned.reproduction import published
from untuned.reproduction.agreement import MeanComparison
from untuned.reproduction.published import Entry

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_OURS = "o"
_THEIRS = "D"


def aggregate_figure(found: Sequence[Evaluation], comparable: bool) -> Figure:
    """Return the aggregate scores by every method, the paper's below ours, like the paper's figure of aggregates.

    Parameters
    ----------
    found
        The same scores by several methods.
    comparable
        Whether these are the paper's algorithms and environments, all of them.
    """
    order = [found[0].algorithms[a] for a in found[0].order]
    looks = styles(found[0].algorithms)
    with drawing():
        figure = Figure(figsize=(PAGE, 0.9 + 0.28 * len(order)), layout="constrained")
        axes = figure.subplots(1, len(found), sharey=True)
        for ax, each in zip(axes, found, strict=True):
            for place, name in enumerate(order):
                a = each.algorithms.index(name)
                _interval(
                    ax,
                    place - 0.17,
                    (float(each.score_a[a]), float(each.low_a[a]), float(each.high_a[a])),
                    looks[name].colour,
                    _OURS,
                )
                entry = published.aggregates().get((each.method, name)) if comparable else None
                if entry is not None:
                    _interval(ax, place + 0.17, (entry.value, entry.low, entry.high), GREY, _THEIRS)
            ax.set_title(each.method, loc="left")
            ax.set_xlim(-0.02, 1.02)
            ax.set_xlabel("aggregate score")
        _rows(axes[0], order)
        for ax in axes:
            for place in range(1, len(order)):
                ax.axhline(place - 0.5, color=PALE, linewidth=0.6, zorder=0)
        _say_whose(figure, comparable)
    return figure


def environment_figure(found: Evaluation, known: Bands, environment: str, compared: Sequence[MeanComparison]) -> Figure:
    """Return an environment's quantile functions, as in the paper's appendix, and its means next to the published.

    Parameters
    ----------
    found
        The evaluation.
    known
        The bands of all cells.
    environment
        Its name.
    compared
        All cells with the published figures.
    """
    e = found.environments.index(environment)
    entries = {each.algorithm: each.published for each in compared if each.environment == environment}
    order = sorted(range(len(found.algorithms)), key=lambda a: -found.means.mean_ae[a, e])
    looks = styles(found.algorithms)
    there = any(entry is not None for entry in entries.values())
    with drawing():
        figure = Figure(figsize=(PAGE, 3.0), layout="constrained")
        left, right = figure.subplots(1, 2, gridspec_kw={"width_ratios": (1.1, 1.0)})
        draw_quantiles(left, found, environment, found.algorithms, known)
        left.set_title(f"{environment}: quantile functions", loc="left")
        for place, a in enumerate(order):
            mean, low, high = (
                float(each[a, e]) for each in (found.means.mean_ae, found.means.low_ae, found.means.high_ae)
            )
            _interval(right, place - 0.17, (mean, low, high), looks[found.algorithms[a]].colour, _OURS)
            entry: Entry | None = entries[found.algorithms[a]]
            if entry is not None:
                _interval(right, place + 0.17, (entry.value, entry.low, entry.high), GREY, _THEIRS)
        _rows(right, [found.algorithms[a] for a in order])
        right.set_title("mean scores", loc="left")
        right.set_xlabel("average return")
        _say_whose(figure, there)
    return figure


def agreement_figure(compared: Sequence[MeanComparison]) -> Figure:
    """Return the z-scores of all cells from the lowest to the highest, against those that chance alone would give."""
    known = sorted(((each.z, each) for each in compared if each.z is not None), key=lambda pair: pair[0])
    looks = styles(list(dict.fromkeys(each.algorithm for each in compared)))
    with drawing():
        figure = Figure(figsize=(PAGE * 0.6, 3.2), layout="constrained")
        ax = figure.subplots()
        expected = stats.norm.ppf((np.arange(len(known)) + 0.5) / max(len(known), 1))
        reach = max(3.5, *(abs(z) for z, _ in known), 0.0) + 0.2 if known else 3.5
        ax.plot([-reach, reach], [-reach, reach], color=GREY, linewidth=0.8)
        for x, (z, each) in zip(expected, known, strict=True):
            style = looks[each.algorithm]
            ax.plot([x], [z], color=style.colour, marker=style.marker, markersize=3.5, linestyle="none")
        for limit in (-3.0, 3.0):
            ax.axhline(limit, color=PALE, linewidth=0.8, zorder=0)
        ax.set_xlabel("z-score that chance alone would give")
        ax.set_ylabel("z-score of a cell")
        ax.set_xlim(-3.5, 3.5)
        ax.set_ylim(-reach, reach)
        ax.set_title(f"{len(known)} cells compared with the published ones", loc="left")
        names = [name for name in looks if any(each.algorithm == name for _, each in known)]
        entries = [
            Line2D([], [], color=looks[name].colour, marker=looks[name].marker, markersize=3.5, linestyle="none")
            for name in names
        ]
        legend(figure, entries, names, loc="outside right upper")
    return figure


def figures(
    found: Evaluation,
    others: Sequence[Evaluation],
    known: Bands,
    compared: Sequence[MeanComparison],
    replication: Replication | None,
    comparable: bool,
) -> Iterator[tuple[str, str, Callable[[], Figure]]]:
    """Yield every figure: the name of its file, its title, and the function that draws it."""
    yield (
        "aggregate",
        "Aggregate scores by every method (the paper's figure of aggregate performance)",
        partial(aggregate_figure, (*others, found), comparable),
    )
    if any(each.z is not None for each in compared):
        yield "agreement", "Every cell compared with the published one", partial(agreement_figure, compared)
    if replication is not None:
        yield "table-2", "How interval methods did in the paper's test", partial(replication_figure, replication)
    # As in the paper, if that environment is included.
    place = "cart-pole" if "cart-pole" in found.environments else found.environments[0]
    yield (
        "percentile",
        f"How performance percentiles are computed, on {place}",
        partial(_of_axes, percentile_illustration, found, place),
    )
    place = "acrobot" if "acrobot" in found.environments else found.environments[-1]
    yield (
        "trials",
        f"What more trials tell of ac on {place}",
        partial(_of_axes, trials_effect, found, "ac", place),
    )
    for name in found.environments:
        yield (
            f"environment-{name}",
            f"How scores on {name} are distributed, and their means",
            partial(environment_figure, found, known, name, compared),
        )


def _of_axes(draw: "Callable[..., Axes]", *arguments: object) -> Figure:
    figure = draw(*arguments).get_figure(root=True)
    assert figure is not None
    return figure


def _interval(ax: "Axes", height: float, numbers: tuple[float, float, float], colour: str, marker: str) -> None:
    value, low, high = numbers
    ax.plot([low, high], [height] * 2, color=colour, linewidth=1.1, solid_capstyle="butt")
    ax.plot([value], [height], color=colour, marker=marker, markersize=3.5, linestyle="none")


def _rows(ax: "Axes", names: Sequence[str]) -> None:
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.set_yticks(range(len(names)), names, fontsize=SMALL + 0.5)
    ax.tick_params(axis="y", length=0)


def _say_whose(figure: Figure, both: bool) -> None:
    if not both:
        return
    entries = [
        Line2D([], [], color=colour, marker=marker, markersize=3.5, linewidth=1.1)
        for colour, marker in (("black", _OURS), (GREY, _THEIRS))
    ]
    legend(
        figure,
        entries,
        ["ours", "published"],
        loc="outside lower center",
        ncols=2,
    )
