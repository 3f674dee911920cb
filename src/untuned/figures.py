"""Figures of an evaluation, for print and for the screen, drawn by matplotlib.

Each function takes Axes to draw on, ``ax=``, or makes a new Figure; all return the Axes, those of grids a list,
and ``axes.figure`` is the Figure. Text for the caption, such as the probability that intervals hold, is not drawn
into a figure: `caption` returns it. `summary` makes a page, `save` writes a Figure, `save_all` writes all of them. An
algorithm looks the same in all of them.
"""

from untuned.reports.figures.aggregates import aggregate as aggregate
from untuned.reports.figures.captions import caption as caption
from untuned.reports.figures.closing import closing as closing
from untuned.reports.figures.critical import critical_difference as critical_difference
from untuned.reports.figures.distributions import distribution_grid as distribution_grid
from untuned.reports.figures.distributions import distributions as distributions
from untuned.reports.figures.distributions import quantile_grid as quantile_grid
from untuned.reports.figures.distributions import quantiles as quantiles
from untuned.reports.figures.distributions import trials_effect as trials_effect
from untuned.reports.figures.files import save as save
from untuned.reports.figures.files import save_all as save_all
from untuned.reports.figures.forest import forest as forest
from untuned.reports.figures.illustration import percentile_illustration as percentile_illustration
from untuned.reports.figures.learning import learning_curve_grid as learning_curve_grid
from untuned.reports.figures.learning import learning_curves as learning_curves
from untuned.reports.figures.learning import sample_efficiency as sample_efficiency
from untuned.reports.figures.matrices import ranks as ranks
from untuned.reports.figures.matrices import verdict_matrix as verdict_matrix
from untuned.reports.figures.matrices import weights as weights
from untuned.reports.figures.order import partial_order as partial_order
from untuned.reports.figures.overview import summary as summary
from untuned.reports.figures.profiles import performance_profile as performance_profile
from untuned.reports.figures.profiles import probability_of_improvement as probability_of_improvement
from untuned.reports.figures.responses import hyperparameter as hyperparameter
from untuned.reports.figures.responses import hyperparameter_grid as hyperparameter_grid
from untuned.reports.figures.strips import strip as strip
from untuned.reports.figures.strips import strip_grid as strip_grid
