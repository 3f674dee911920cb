"""The percentile bootstrap of the aggregates (the paper's Appendix F).

Every resample draws the trials of every cell anew, with replacement, and goes the whole way: percentiles, equilibrium,
aggregates. Approximate: its intervals miss more often than they say.

Nothing is sorted or searched twice. Where each score of one sample stands in another is the same in every resample;
what changes is how often each score was drawn. So a resample is a count per distinct score, and a percentile the sum,
over the player's scores, of the count times the reference's running count at that score's place.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from untuned.judge.game import aggregate, constants, stationary
from untuned.judge.jit import INTERPRETED, kernel
from untuned.judge.percentiles import SELF, Payoff
from untuned.judge.pool import Pool
from untuned.scores import Floats, Ints

Words = NDArray[np.uint64]


def resampled(
    pools: Sequence[Pool],
    d_aer: Floats,
    payoff: Payoff,
    resamples: int,
    seed: int,
    *,
    q_er: Floats | None = None,
    workers: int = 1,
    advance: Callable[[int], None] | None = None,
) -> Floats:
    """Return the aggregates of every resample, [resample, algorithm].

    Parameters
    ----------
    pools
        The scores; every owner must have some.
    d_aer
        The estimates' equilibrium, from where each resample's is sought.
    payoff
        What a tie counts.
    resamples
        How many.
    seed
        Resample b is drawn from a stream that depends on the seed and b alone, so the number of workers changes
        nothing.
    q_er
        Weights that were fixed beforehand; None for the equilibrium of every resample.
    workers
        How many threads.
    advance
        Called with the number of resamples just finished, in the caller's thread.
    """
    n, m = pools[0].owner_of.size, len(pools)
    layouts = [_layout(pool) for pool in pools]
    result = np.empty((resamples, n))
    start = np.ascontiguousarray(d_aer.reshape(n, m * n))

    def work(b: int) -> None:
        stream = _stream(np.random.SeedSequence(seed, spawn_key=(b,)))
        board = np.empty((n, m, n))
        for e, (layout, pool) in enumerate(zip(layouts, pools, strict=True)):
            board[:, e, :] = _resampled_percentiles(layout, stream, payoff)[np.ix_(pool.owner_of, pool.owner_of)]
        weights = _weights(board.reshape(n, m * n), start) if q_er is None else q_er
        result[b] = aggregate(board, weights.reshape(m, n))

    with ThreadPoolExecutor(max(workers, 1)) as threads:
        for _ in threads.map(work, range(resamples)):
            if advance is not None:
                advance(1)
    return result


def percentile_ends(aggregates: Floats, delta: float) -> tuple[Floats, Floats]:
    """Return the delta/2 and 1 - delta/2 quantiles of every algorithm's aggregates.

    Between order statistics by linear interpolation, the default of NumPy, R and Julia.
    """
    low, high = np.quantile(aggregates, [delta / 2.0, 1.0 - delta / 2.0], axis=0)
    return low, high


# The error of a resample's equilibrium is far below what resampling itself leaves open.
_TOLERANCE = 1e-9


def _weights(board: Floats, start: Floats) -> Floats:
    n, columns = board.shape
    eta, gamma, _ = constants(n, columns // n)
    d = start.copy()
    stationary(board, eta, gamma, d, _TOLERANCE)
    weights: Floats = d.sum(axis=0) / d.sum()
    return weights


class _Layout(NamedTuple):
    """One environment's samples, as distinct scores and the places they have in one another.

    Attributes
    ----------
    sizes, offsets
        Per owner: the number of trials, and how many the owners before it have.
    distinct, distinct_offsets
        The same for distinct scores.
    slots
        For every trial, which of its owner's distinct scores it is.
    places
        For every pair of owners and every distinct score of the first, its place in the sample of the second: 2 j
        between the distinct scores j - 1 and j, 2 j + 1 at distinct score j.
    starts
        ``[player, reference]``: where the pair's places begin.
    """

    sizes: Ints
    offsets: Ints
    distinct: Ints
    distinct_offsets: Ints
    slots: NDArray[np.uint32]
    places: NDArray[np.uint32]
    starts: Ints


def _layout(pool: Pool) -> _Layout:
    owners = range(pool.sizes.size)
    samples = [np.unique(pool.scores[pool.owners == g], return_inverse=True) for g in owners]
    distinct = np.array([scores.size for scores, _ in samples], dtype=np.int64)
    starts = np.zeros((pool.sizes.size, pool.sizes.size), dtype=np.int64)
    places = []
    filled = 0
    for a in owners:
        for r in owners:
            if a == r:
                continue
            player, reference = samples[a][0], samples[r][0]
            left = np.searchsorted(reference, player, side="left")
            right = np.searchsorted(reference, player, side="right")
            starts[a, r] = filled
            places.append(left + right)
            filled += player.size
    largest = 2 * int(distinct.max()) + 1
    return _Layout(
        pool.sizes,
        np.cumsum(pool.sizes) - pool.sizes,
        distinct,
        np.cumsum(distinct) - distinct,
        np.concatenate([slots for _, slots in samples]).astype(np.uint32),
        np.concatenate([*places, np.empty(0, dtype=np.int64)]).astype(np.uint16 if largest < 1 << 16 else np.uint32),
        starts,
    )


def _stream(key: np.random.SeedSequence) -> Words:
    """Return the state of the generator that `numpy.random.SFC64` is, shape (4,).

    Drawn from inside the kernel: NumPy's own words come under the interpreter's lock, and one lock each.
    """
    stream = np.array([*key.generate_state(3, np.uint64), 1], dtype=np.uint64)
    for _ in range(12):
        _next_word(stream)
    return stream


def _resampled_percentiles(layout: _Layout, stream: Words, payoff: Payoff) -> Floats:
    """Return the percentiles of one environment's resample, [owner, reference]; advances the stream."""
    drawn = np.zeros(int(layout.distinct.sum()), dtype=np.int32)
    _draw(stream, layout, drawn)
    won = np.zeros((layout.sizes.size, layout.sizes.size), dtype=np.int64)
    _play(layout, drawn, payoff == "mid-rank", won)
    z = won / (2 * np.outer(layout.sizes, layout.sizes))
    np.fill_diagonal(z, SELF)
    return z


_U3 = np.uint64(3)
_U11 = np.uint64(11)
_U24 = np.uint64(24)
_U32 = np.uint64(32)
_U40 = np.uint64(40)
_ONE = np.uint64(1)
_LOW32 = np.uint64(0xFFFFFFFF)
_WORD32 = np.uint64(1 << 32)


@kernel
def _next_word(stream: Words) -> np.uint64:
    """Return the next 64 random bits (Doty-Humphrey's "small fast chaotic" generator, as in PractRand)."""
    word: np.uint64 = stream[0] + stream[1] + stream[3]
    stream[3] += _ONE
    stream[0] = stream[1] ^ (stream[1] >> _U11)
    stream[1] = stream[2] + (stream[2] << _U3)
    stream[2] = ((stream[2] << _U24) | (stream[2] >> _U40)) + word
    return word


if INTERPRETED:
    # Words overflow by design; compiled code does so silently, NumPy's scalars would warn at every draw.
    _next_word = np.errstate(over="ignore")(_next_word)


@kernel
def _draw(stream: Words, layout: _Layout, drawn: NDArray[np.int32]) -> None:
    """Count how often each distinct score is drawn.

    Each half of a word makes one draw, by multiplication, without bias: halves that would favour some trials are
    refused (Lemire, "Fast random integer generation in an interval", ACM TOMACS 29(1), 2019).
    """
    for g in range(layout.sizes.size):
        size = np.uint64(layout.sizes[g])
        if size == 0:
            continue
        slots = layout.slots[layout.offsets[g] : layout.offsets[g] + layout.sizes[g]]
        mine = drawn[layout.distinct_offsets[g] : layout.distinct_offsets[g] + layout.distinct[g]]
        refused = _WORD32 % size
        left = layout.sizes[g]
        while left > 0:
            word = _next_word(stream)
            low = (word & _LOW32) * size
            if (low & _LOW32) >= refused:
                mine[slots[np.int64(low >> _U32)]] += 1
                left -= 1
            high = (word >> _U32) * size
            if (high & _LOW32) >= refused and left > 0:
                mine[slots[np.int64(high >> _U32)]] += 1
                left -= 1


@kernel
def _play(layout: _Layout, drawn: NDArray[np.int32], halves: bool, won: Ints) -> None:
    """Write twice the number of pairs every owner wins against every other; ties are half wins or whole ones."""
    owners = layout.sizes.size
    # What a score gets at each place of a reference's sample, twice.
    gain = np.empty(2 * drawn.size + owners, dtype=np.int32)
    for r in range(owners):
        start = 2 * layout.distinct_offsets[r] + r
        below = 0
        gain[start] = 0
        for j in range(layout.distinct[r]):
            here = drawn[layout.distinct_offsets[r] + j]
            gain[start + 2 * j + 1] = 2 * below + (here if halves else 2 * here)
            below += here
            gain[start + 2 * j + 2] = 2 * below
    for a in range(owners):
        count = layout.distinct[a]
        mine = drawn[layout.distinct_offsets[a] : layout.distinct_offsets[a] + count]
        for r in range(owners):
            if r == a or (halves and r > a):
                continue
            start = 2 * layout.distinct_offsets[r] + r
            gains = gain[start : start + 2 * layout.distinct[r] + 1]
            places = layout.places[layout.starts[a, r] : layout.starts[a, r] + count]
            total = np.int64(0)
            for i in range(count):
                total += np.int64(mine[i]) * np.int64(gains[places[i]])
            won[a, r] = total
            if halves:
                # With ties halved, what one wins the other loses.
                won[r, a] = 2 * layout.sizes[a] * layout.sizes[r] - total
