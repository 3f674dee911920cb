"""Ranks, and the ranks that intervals or bounds on differences allow, as in the paper's tables."""

import numpy as np

from untuned.evaluation import Ranks
from untuned.scores import Floats
from untuned.verdicts import RESOLUTION, Pairs


def ranks(score: Floats, low: Floats, high: Floats, resolution: float = 0.0) -> Ranks:
    """Return the ranks of scores with intervals, shape (n,).

    Rank: 1 + the number of strictly better scores, so that equal scores share the best of their places. Worst: n - the
    number whose upper end is below this lower end. Best: 1 + the number whose lower end is above this upper end.

    Numbers that differ by no more than ``resolution``, their numerical precision, are equal.
    """
    n = score.shape[0]
    rank = 1 + np.count_nonzero(score[None, :] > score[:, None] + resolution, axis=1)
    worst = n - np.count_nonzero(high[None, :] < low[:, None] - resolution, axis=1)
    best = 1 + np.count_nonzero(low[None, :] > high[:, None] + resolution, axis=1)
    return Ranks(rank, worst, best)


def ranks_by_verdicts(score: Floats, pairs: Pairs) -> Ranks:
    """Return the ranks of scores whose differences are bounded, shape (n,).

    Worst: n - the number that it is certainly better than. Best: 1 + the number that are certainly better. Where the
    bounds come from intervals alone, this equals `ranks`.
    """
    better = pairs.better_ab
    rank = 1 + np.count_nonzero(score[None, :] > score[:, None] + RESOLUTION, axis=1)
    worst = score.shape[0] - np.count_nonzero(better, axis=1)
    return Ranks(rank, worst, 1 + np.count_nonzero(better, axis=0))
