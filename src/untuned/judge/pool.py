"""The pooled and sorted scores of one environment, from which percentiles are computed."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from untuned.scores import Floats, Ints, ScoreTable

Owners = NDArray[np.int32]


class Pool(NamedTuple):
    """All scores of one environment in ascending order, with their owners.

    Algorithms that were declared identical on the environment are one owner, with all their scores.

    Attributes
    ----------
    scores
        Ascending, shape (P,).
    owners
        The owner of each score, shape (P,).
    sizes
        The number of scores of each owner, shape (G,).
    owner_of
        The owner of each algorithm, shape (n,).
    """

    scores: Floats
    owners: Owners
    sizes: Ints
    owner_of: Ints


def pool(table: ScoreTable, e: int) -> Pool:
    """Return the pooled scores of environment number ``e``."""
    _, owner_of = np.unique(table.kinds[e], return_inverse=True)
    owner_of = owner_of.astype(np.int64)
    cells = [row[e] for row in table.cells]
    scores = np.concatenate([*cells, np.empty(0)])
    owners = np.repeat(owner_of, [cell.size for cell in cells]).astype(np.int32)
    order = np.argsort(scores, kind="stable")
    sizes = np.bincount(owners, minlength=int(owner_of.max(initial=-1)) + 1).astype(np.int64)
    return Pool(scores[order], owners[order], sizes, owner_of)


def pools(table: ScoreTable) -> tuple[Pool, ...]:
    """Return the pooled scores of every environment, in the table's order."""
    return tuple(pool(table, e) for e in range(len(table.environments)))
