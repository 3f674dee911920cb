"""How a performance percentile is computed."""

from typing import TYPE_CHECKING

import numpy as np

from untuned.errors import InvalidInput
from untuned.evaluation import Evaluation
from untuned.judge.intervals.dkw import band
from untuned.judge.percentiles import SHARE
from untuned.judge.pool import pool
from untuned.reports.figures.canvas import COLUMN, SMALL, axes_or_new, drawing, line_options
from untuned.reports.figures.naming import shown
from untuned.reports.figures.score_axis import apply, distribution_steps, view_of
from untuned.reports.figures.selecting import chosen_algorithms, chosen_environments
from untuned.reports.styles import styles
from untuned.scores import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Trials whose path is drawn.
_SHOWN = 12
_BINS = 20


def percentile_illustration(
    evaluation: Evaluation,
    environment: str,
    *,
    algorithm: str | None = None,
    reference: str | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Return Axes that show how a percentile is computed: scores go up to the reference's distribution, and left.

    Ticks at the bottom are the first trials of the algorithm. Each goes up to the distribution function of the
    reference, and from there to the left: the part of the reference's trials that it beats, of ties as much as the
    evaluation counts. Bars at the left show this for all trials, and their mean is the percentile z.

    Parameters
    ----------
    evaluation
        The evaluation.
    environment
        Its name.
    algorithm, reference
        Whose scores on whose scale; the best and the next best that have trials unless given.
    ax
        Where to draw; a new Figure unless given.
    """
    chosen_environments(evaluation, [environment])
    e = evaluation.environments.index(environment)
    for name in (algorithm, reference):
        if name is not None:
            chosen_algorithms(evaluation, [name])
    measured = [evaluation.algorithms[a] for a in evaluation.order if evaluation.trials_ae[a, e]]
    first = algorithm or next((name for name in measured if name != reference), None)
    second = reference or next((name for name in measured if name != first), None)
    if first is None or second is None or first not in measured or second not in measured:
        raise InvalidInput(
            f"a percentile on {environment!r} needs trials of an algorithm and of a reference: those with trials are "
            f"{', '.join(map(repr, measured)) or 'none'}"
        )
    a, r = evaluation.algorithms.index(first), evaluation.algorithms.index(second)
    # As judging saw them: what was declared identical is one sample.
    pooled = pool(evaluation.scores, e)
    ours = pooled.scores[pooled.owners == pooled.owner_of[a]]
    theirs = pooled.scores[pooled.owners == pooled.owner_of[r]]
    share = SHARE[evaluation.judging.payoff]
    z = float(evaluation.percentiles.z_aer[a, e, r])
    looks = styles(evaluation.algorithms)
    labels = shown(evaluation.algorithms)
    own = ax is None
    with drawing():
        ax = axes_or_new(ax, COLUMN, 3.0)
        view = view_of([ours, theirs])
        steps = distribution_steps(band(theirs, evaluation.delta, evaluation.ranges[e]), view)
        options = line_options(looks[second]) | {"marker": ""}
        (curve,) = ax.plot(steps.x, steps.estimate, drawstyle="steps-post", **options)
        notes = apply(view, ax, "x", None)
        ax.set_ylim(0.0, 1.0)
        colour = looks[first].colour
        placements = placed(ours, theirs, share)
        counts, edges = np.histogram(placements, bins=_BINS, range=(0.0, 1.0))
        across = ax.get_yaxis_transform()
        bars = 0.22 * counts / max(int(counts.max()), 1)
        ax.barh(
            edges[:-1],
            bars,
            np.diff(edges),
            align="edge",
            transform=across,
            color=colour,
            alpha=0.35,
            linewidth=0,
            zorder=1,
        )
        trials = evaluation.scores.cells[a][e]
        some = trials[:_SHOWN] if trials.size else ours[:_SHOWN]
        for score, height in zip(some, placed(some, theirs, share), strict=True):
            ax.plot([score, score], [0.0, height], color=colour, linewidth=0.6, linestyle=(0, (1, 1.5)), zorder=2)
            ax.hlines(height, view.low, score, color=colour, linewidth=0.6, linestyle=(0, (1, 1.5)), zorder=2)
        upward = ax.get_xaxis_transform()
        ticks = ax.plot(
            some, np.zeros(some.size), linestyle="none", marker="|", markersize=9, color=colour, transform=upward
        )[0]
        ax.plot(
            some, placed(some, theirs, share), linestyle="none", marker=looks[first].marker, markersize=3, color=colour
        )
        mean = ax.axhline(z, color="black", linewidth=1.0, linestyle=(0, (5, 2)))
        ax.annotate(
            f"z = {z:.3f}",
            (0.99, z),
            (0, 3 if z < 0.9 else -3),
            xycoords=across,
            textcoords="offset points",
            ha="right",
            va="bottom" if z < 0.9 else "top",
            fontsize=SMALL + 0.5,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5, "alpha": 0.8},
        )
        ax.set_xlabel(f"score ({', '.join(notes)})" if notes else "score")
        ax.set_ylabel(f"part of the trials of {labels[second]}", fontsize=SMALL + 0.5)
        ax.set_title(shown([environment])[environment], loc="left")
        entries = [ticks, curve, mean]
        words = [
            f"{labels[first]}: {'a trial' if some.size == 1 else f'first {some.size} trials'}; bars: all",
            f"{labels[second]}: distribution function",
            f"z: mean of the bars, {labels[first]} on the scale of {labels[second]}",
        ]
        figure = ax.get_figure(root=True)
        made = (
            figure.legend(entries, "abc", loc="outside lower left", frameon=False, fontsize=SMALL)
            if own and figure is not None
            else ax.legend(entries, "abc", loc="lower right", frameon=False, fontsize=SMALL - 0.5)
        )
        for text, line in zip(made.get_texts(), words, strict=True):
            text.set_text(line)
        ax.tick_params(axis="x", pad=6)
    return ax


def placed(scores: Floats, reference: Floats, share: float) -> Floats:
    """Return where scores are in a reference's sample, which ascends: the part below, and of ties their share."""
    below = np.searchsorted(reference, scores, side="left")
    up_to = np.searchsorted(reference, scores, side="right")
    part: Floats = (below + share * (up_to - below)) / reference.size
    return part
