"""One page that says the most: who is ahead, what is decided, what weighs, and the distributions behind it."""

import math

import numpy as np
from matplotlib.figure import Figure

from untuned.evaluation import Evaluation
from untuned.reports.bands import bands
from untuned.reports.figures.aggregates import aggregate
from untuned.reports.figures.canvas import SMALL, columns_for, drawing, legend_below, name_grid, tidy
from untuned.reports.figures.captions import describe
from untuned.reports.figures.distributions import draw_quantiles, together
from untuned.reports.figures.forest import forest, height_of
from untuned.reports.figures.matrices import draw_verdicts, draw_weights
from untuned.reports.figures.naming import literal
from untuned.reports.figures.strips import draw_strip, few
from untuned.reports.styles import styles

#: A4 upright, in inches.
_SIZE = (8.27, 11.69)
#: Environments of which quantile functions are shown.
MOST = 15
#: Of a name next to a matrix.
_LETTERS = 16
#: Weights that differ by less are equal.
_EQUAL = 1e-12


def summary(evaluation: Evaluation) -> Figure:
    """Return a page with aggregates, verdicts, weights and the quantile functions on up to fifteen environments.

    With fewer than 30 trials per cell there are points and medians instead of quantile functions, and with equal
    weights the differences of all pairs instead of the weights. Of more environments those that weigh the most are
    shown.

    Parameters
    ----------
    evaluation
        The evaluation.
    """
    # With few trials the game's weights decide nothing: then the others say more.
    if not evaluation.pairs.better_ab.any():
        evaluation = max(evaluation.each_ranking, key=lambda each: int(each.pairs.better_ab.sum()))
    # Stable, and in the evaluation's order again.
    heaviest = np.sort(np.argsort(-evaluation.environment_weights, kind="stable")[:MOST])
    places = [evaluation.environments[e] for e in heaviest]
    columns = columns_for(len(places)) if len(places) < 10 else 5
    known = bands(evaluation)
    strips = all(few(evaluation, place) for place in places)
    equal = bool(np.ptp(evaluation.q_er) < _EQUAL)
    with drawing():
        figure = Figure(figsize=_SIZE, layout="constrained")
        middle = min(3.6, height_of(evaluation)) if equal else 3.6
        parts = figure.add_gridspec(3, 1, height_ratios=(3.3, middle, 5.0))
        top = parts[0].subgridspec(1, 2)
        aggregate(evaluation, ax=figure.add_subplot(top[0]))
        draw_verdicts(evaluation, figure.add_subplot(top[1]), _LETTERS)
        if equal:
            forest(evaluation, ax=figure.add_subplot(parts[1]))
        else:
            draw_weights(evaluation, figure.add_subplot(parts[1]), _LETTERS)
        bottom = parts[2].subgridspec(math.ceil(len(places) / columns), columns)
        axes = [figure.add_subplot(bottom[number // columns, number % columns]) for number in range(len(places))]
        for ax, place in zip(axes, places, strict=True):
            if strips:
                draw_strip(ax, evaluation, place, evaluation.algorithms)
            else:
                draw_quantiles(ax, evaluation, place, evaluation.algorithms, known)
            ax.tick_params(labelsize=SMALL - 1)
        tidy(axes)
        name_grid(axes, places)
        note = "every trial's score, with medians" if strips else "quantile functions"
        if not strips:
            describe(axes[0], together(evaluation, known))
        if len(places) < len(evaluation.environments):
            note += f"; {len(places)} of {len(evaluation.environments)} environments"
            note += "" if equal else ", those that weigh the most"
        size = SMALL if len(evaluation.algorithms) <= 20 else SMALL - 2
        names = [evaluation.algorithms[a] for a in evaluation.order]
        legend_below(figure, names, styles(evaluation.algorithms), title=note, fontsize=size)
        count = f"{len(evaluation.algorithms)} algorithms on {len(evaluation.environments)} environments"
        figure.suptitle(f"{count}\n{literal(evaluation.claim)}", fontsize=SMALL + 1, x=0.01, ha="left")
    return figure
