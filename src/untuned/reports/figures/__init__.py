"""Figures of an evaluation, for print and for the screen, drawn by matplotlib.

Each function takes Axes to draw on, ``ax=``, or makes a Figure of its own; all return the Axes, those of grids a list,
and ``axes.figure`` is the Figure. `summary` makes a page, `save` writes a Figure, `save_all` every one there is. An
algorithm looks the same in all of them (`untuned.reports.styles`).
"""

from untuned.reports.figures.aggregates import aggregate
from untuned.reports.figures.distributions import (
    distribution_grid,
    distributions,
    quantile_grid,
    quantiles,
    trials_effect,
)
from untuned.reports.figures.files import save, save_all
from untuned.reports.figures.illustration import percentile_illustration
from untuned.reports.figures.learning import learning_curve_grid, learning_curves
from untuned.reports.figures.matrices import ranks, verdict_matrix, weights
from untuned.reports.figures.order import partial_order
from untuned.reports.figures.overview import summary
from untuned.reports.figures.responses import hyperparameter, hyperparameter_grid

__all__ = [
    "aggregate",
    "distribution_grid",
    "distributions",
    "hyperparameter",
    "hyperparameter_grid",
    "learning_curve_grid",
    "learning_curves",
    "partial_order",
    "percentile_illustration",
    "quantile_grid",
    "quantiles",
    "ranks",
    "save",
    "save_all",
    "summary",
    "trials_effect",
    "verdict_matrix",
    "weights",
]
