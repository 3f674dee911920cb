"""Which pairs are decided, from the evidence for every ordered pair: closed testing over all orders of the scores.

The truth is a weak order W of the algorithms. For every W, a mean of the evidence for pairs that are false in W, with
weights chosen beforehand, has a mean of at most 1 if W is true. So with probability at least 1 - delta it is below
1/delta for the true W; and a pair is decided if that rules out every W in which it is false.

For a few algorithms all weak orders are enumerated. For more, two means are bounded from below. In the first, all false
pairs weigh the same, 2/(n (n - 1)), shared by both directions of a tie. The second is an average over the linear
extensions of W, of the n - 1 steps from each algorithm to the next better one: each of these pairs is false in W. If i
is not better than l in W, i comes first in at least half of them, and the steps from i to l are at least as much
evidence as the shortest path from i to l. So half of each gives

    E(i, l)/(2 n (n - 1)) + path(i, l)/(4 (n - 1)) >= 1/delta.
"""

from functools import lru_cache
from itertools import product

import numpy as np

from untuned.judge.pooled.evidence import Bools
from untuned.scores import Floats, Ints

#: The largest number of algorithms for which weak orders are enumerated: 47,293 of them.
FEW = 7
# Larger evidence would overflow; this much decides every pair.
_MOST = 600.0


def decided(log_e_ab: Floats, delta: float) -> Bools:
    """Return which a are better than which b, [a, b], all of them right with probability at least 1 - ``delta``."""
    evidence = np.exp(np.minimum(log_e_ab, _MOST))
    np.fill_diagonal(evidence, 0.0)
    better = _by_all_orders(evidence, delta) if len(evidence) <= FEW else _by_paths(evidence, delta)
    return transitive(better)


def _by_all_orders(evidence: Floats, delta: float) -> Bools:
    n = len(evidence)
    levels = weak_orders(n)
    weights = order_weights(n)
    ruled_out = weights @ evidence.ravel() >= 1.0 / delta
    left = levels[~ruled_out]
    if not len(left):
        # Evidence against every order, the true one included, has probability at most delta: nothing is decided.
        return np.zeros((n, n), dtype=np.bool_)
    # a is better than b if it is so in every remaining order.
    return np.array([[(left[:, a] > left[:, b]).all() for b in range(n)] for a in range(n)]) & ~np.eye(n, dtype=bool)


def _by_paths(evidence: Floats, delta: float) -> Bools:
    n = len(evidence)
    path = evidence.copy()
    for j in range(n):
        path = np.minimum(path, path[:, j, None] + path[None, j, :])
    found: Bools = evidence / (2.0 * n * (n - 1)) + path / (4.0 * (n - 1)) >= 1.0 / delta
    return found


def transitive(better: Bools) -> Bools:
    """Return the transitive closure of the verdicts."""
    found = better.copy()
    for j in range(len(found)):
        found |= found[:, j, None] & found[None, j, :]
    return found


@lru_cache(maxsize=8)
def weak_orders(n: int) -> Ints:
    """Return all weak orders of ``n`` algorithms, [order, algorithm]: levels 0, 1, ..., the better the higher."""
    found = np.array(list(product(range(n), repeat=n)), dtype=np.int64) if n < 5 else _extended(n)
    # Levels without gaps.
    full = [(found == level).any(axis=1) | (found.max(axis=1) < level) for level in range(n)]
    return found[np.all(full, axis=0)]


def _extended(n: int) -> Ints:
    """Return the weak orders of one algorithm less, with one more at any level or between any two."""
    fewer = weak_orders(n - 1)
    found = []
    for level in range(n):
        among = fewer[fewer.max(axis=1) >= level]
        found.append(np.column_stack([among, np.full(len(among), level)]))
        between = fewer[fewer.max(axis=1) + 1 >= level]
        found.append(np.column_stack([between + (between >= level), np.full(len(between), level)]))
    return np.concatenate(found)


@lru_cache(maxsize=8)
def order_weights(n: int) -> Floats:
    """Return the weight of every false pair in every weak order, [order, a n + b]; each order's sum to 1."""
    levels = weak_orders(n)
    size = (levels[:, :, None] == levels[:, None, :]).sum(axis=2)
    gap = levels[:, None, :] - levels[:, :, None]
    strict = np.where(gap > 0, 0.5 ** np.maximum(gap - 1, 0) / (size[:, :, None] * size[:, None, :]), 0.0)
    ties = np.where(gap == 0, 1.0 / size[:, :, None], 0.0)
    weights = strict + ties
    weights[:, np.arange(n), np.arange(n)] = 0.0
    weights = weights.reshape(len(levels), n * n)
    normalised: Floats = weights / weights.sum(axis=1, keepdims=True)
    return normalised
