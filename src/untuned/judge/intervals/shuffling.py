"""Samples in an order that users cannot influence: sorted, then shuffled by a seed that comes from names alone.

A method that reads trials in order would give other intervals for other orders of the same rows, and wrong ones where
scores decided the order, as in a sorted file. So the order of rows is discarded: a sample is sorted, then permuted. If
the permutation is uniform and independent of the scores, the result has the distribution of independent trials in
order of arrival, whatever the rows' order was. Two samples need two permutations that are independent of each other.

The seed is a hash of the environment's name and the owner's: it does not change with the order of rows, algorithms or
environments, nor with the scores. The probabilities that a method promises are then over trials and shuffles together.
"""

import hashlib
from functools import lru_cache

import numpy as np

from untuned.judge.jit import kernel
from untuned.judge.pool import Pool
from untuned.judge.streams import Words, next_word, skip_first, streams
from untuned.scores import Floats, Ints, ScoreTable


def sorted_samples(pool: Pool) -> list[Floats]:
    """Return the scores of every owner in ascending order."""
    return [pool.scores[pool.owners == owner] for owner in range(pool.sizes.size)]


def seeds(table: ScoreTable, pool: Pool, e: int, earlier: Ints | None = None) -> list[int]:
    """Return the seed of every owner on environment number ``e``; algorithms that were pooled go by the first name.

    Parameters
    ----------
    table, pool, e
        The scores, and those of the environment.
    earlier
        How many trials every owner had in earlier rounds: each round is shuffled anew, independently of those before.
    """
    found = []
    for owner in range(pool.sizes.size):
        name = min(table.algorithms[a] for a in np.flatnonzero(pool.owner_of == owner))
        before = () if earlier is None or not earlier[owner] else (int(earlier[owner]),)
        key = repr((table.environments[e], name, *before)).encode()
        found.append(int.from_bytes(hashlib.blake2b(key, digest_size=16).digest(), "little"))
    return found


def shuffled(sample: Floats, seed: int, count: int) -> Floats:
    """Return a sample in ``count`` random orders, [shuffle, trial]; the first ones do not depend on the count."""
    found = np.empty((count, sample.size))
    _shuffle(sample, _states(seed, count).copy(), found)
    return found


@lru_cache(maxsize=4096)
def _states(seed: int, count: int) -> Words:
    """Return the states of streams, at most 8 kB: making them takes as long as shuffling a small sample."""
    return streams(seed, count)


_U32 = np.uint64(32)
_LOW32 = np.uint64(0xFFFFFFFF)
_WORD32 = np.uint64(1 << 32)


@kernel
def _shuffle(sample: Floats, states: Words, found: Floats) -> None:
    """Write permutations of a sample, one per stream, all equally probable (Fisher and Yates).

    Random places are made by multiplication; words that would favour some are refused, as in
    `untuned.judge.bootstrap`.
    """
    for k in range(states.shape[0]):
        stream = states[k]
        skip_first(stream)
        order = found[k]
        order[:] = sample
        for i in range(sample.size - 1, 0, -1):
            size = np.uint64(i + 1)
            product = (next_word(stream) >> _U32) * size
            while (product & _LOW32) < _WORD32 % size:
                product = (next_word(stream) >> _U32) * size
            j = np.int64(product >> _U32)
            order[i], order[j] = order[j], order[i]
