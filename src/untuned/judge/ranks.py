"""Ranks, and the ranks that intervals allow, as in the paper's tables."""

import numpy as np

from untuned.evaluation import Ranks
from untuned.scores import Floats


def ranks(score: Floats, low: Floats, high: Floats) -> Ranks:
    """Return the ranks of scores with intervals, shape (n,).

    Rank: 1 + the number of strictly better scores, so that equal scores share the best of their places. Worst: n - the
    number whose upper end is below my lower end. Best: 1 + the number whose lower end is above my upper end.
    """
    n = score.shape[0]
    rank = 1 + np.count_nonzero(score[None, :] > score[:, None], axis=1)
    worst = n - np.count_nonzero(high[None, :] < low[:, None], axis=1)
    best = 1 + np.count_nonzero(low[None, :] > high[:, None], axis=1)
    return Ranks(rank, worst, best)
