"""Ranks, and the ranks that intervals allow, as in the paper's tables."""

import numpy as np

from untuned.evaluation import Ranks
from untuned.scores import Floats


def ranks(score: Floats, low: Floats, high: Floats, resolution: float = 0.0) -> Ranks:
    """Return the ranks of scores with intervals, shape (n,).

    Rank: 1 + the number of strictly better scores, so that equal scores share the best of their places. Worst: n - the
    number whose upper end is below my lower end. Best: 1 + the number whose lower end is above my upper end.

    Numbers that differ by no more than ``resolution`` are equal: what was computed to so many digits has no others.
    """
    n = score.shape[0]
    rank = 1 + np.count_nonzero(score[None, :] > score[:, None] + resolution, axis=1)
    worst = n - np.count_nonzero(high[None, :] < low[:, None] - resolution, axis=1)
    best = 1 + np.count_nonzero(low[None, :] > high[:, None] + resolution, axis=1)
    return Ranks(rank, worst, best)
