"""The percentile bootstrap of the aggregates (the paper's Appendix F).

Every resample draws the trials of every cell with replacement, and recomputes percentiles, equilibrium and
aggregates. Approximate: its intervals miss more often than their level says.

Nothing is sorted or searched twice. The position of each score of one sample in another is the same in every
resample; only how often each score was drawn changes. So a resample is a count per distinct score, and a percentile
is the sum, over the player's scores, of the count times the reference's running count at that score's position.

Threads take chunks of resamples, with a few calls of compiled code per chunk: on a small board, a call per resample
would take longer than the work. Each resample has its own random stream, so neither chunks nor threads change a
number. Nor does the order of rows: samples are sorted, and a draw is a position in that order.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from untuned.judge.game import column_shares, constants, stationary
from untuned.judge.intervals.method import Method
from untuned.judge.jit import kernel
from untuned.judge.percentiles import SELF, Payoff
from untuned.judge.pool import Pool
from untuned.judge.streams import Words, next_word, skip_first, streams
from untuned.scores import Floats, Ints

_Places = NDArray[np.uint16 | np.uint32]


def resampled(
    pools: Sequence[Pool],
    d_aer: Floats,
    payoff: Payoff,
    resamples: int,
    seed: int,
    *,
    q_er: Floats | None = None,
    share_e: Floats | None = None,
    workers: int = 1,
    advance: Callable[[int], None] | None = None,
) -> Floats:
    """Return the aggregates of every resample, [resample, algorithm].

    Parameters
    ----------
    pools
        The scores; every owner must have some.
    d_aer
        The equilibrium of the estimates, where the search for each resample's equilibrium starts.
    payoff
        What a tie counts.
    resamples
        How many.
    seed
        Resample b is drawn from a stream that depends on the seed and b alone, so the number of workers changes
        nothing.
    q_er
        Weights that were fixed beforehand; None for the equilibrium of every resample.
    share_e
        As for `untuned.judge.game.column_shares`.
    workers
        How many threads.
    advance
        Called with the number of resamples just finished, in the caller's thread.
    """
    n, m = pools[0].owner_of.size, len(pools)
    layout = layout_of(pools)
    states = streams(seed, resamples)
    share_k, families = column_shares(share_e, n, m)
    eta, gamma, _ = constants(n, families)
    start = np.ascontiguousarray(d_aer.reshape(n, m * n))
    result = np.empty((resamples, n))
    size = _chunk(layout, start.size, resamples)

    def work(first: int) -> int:
        chunk = slice(first, min(first + size, resamples))
        found = result[chunk]
        boards = np.empty((len(found), n, m * n))
        _resample(layout, states[chunk], payoff == "mid-rank", boards)
        weights = np.empty((len(found), m * n))
        if q_er is None:
            d = np.empty_like(boards)
            d[:] = start
            stationary(boards, share_k, eta, gamma, d, _TOLERANCE)
            _weigh(d, weights)
        else:
            weights[:] = q_er.ravel()
        _average(boards, weights, found)
        return len(found)

    with ThreadPoolExecutor(max(workers, 1)) as threads:
        for finished in threads.map(work, range(0, resamples, size)):
            if advance is not None:
                advance(finished)
    return result


def percentile_ends(aggregates: Floats, delta: float) -> tuple[Floats, Floats]:
    """Return the delta/2 and 1 - delta/2 quantiles of every algorithm's aggregates.

    Between order statistics by linear interpolation, the default of NumPy, R and Julia.
    """
    low, high = np.quantile(aggregates, [delta / 2.0, 1.0 - delta / 2.0], axis=0)
    return low, high


# A chunk takes a millisecond or so, or one resample where that is longer; progress is reported at least twenty times.
_WORK = 1_000_000
_WORK_PER_STATE = 100
_MOST = 64
_STEPS = 20


def _chunk(layout: "Layout", states: int, resamples: int) -> int:
    """Return how many resamples a thread takes at a time."""
    work = layout.slots.size + layout.places.size + _WORK_PER_STATE * states
    return max(1, min(_MOST, _WORK // work, resamples // _STEPS))


class Layout(NamedTuple):
    """All samples, as distinct scores and their positions in one another.

    Samples are numbered consecutively, environment by environment; each sample of an environment has one owner.

    Attributes
    ----------
    begins
        Per environment, its first sample; and at the end the number of all, shape (m + 1,).
    sample_of
        ``[environment, algorithm]``: the sample that stands for it.
    sizes, offsets
        Per sample: the number of trials, and how many all samples before it have.
    distinct, distinct_offsets
        Per sample: the number of distinct scores, and how many the samples before it on its environment have.
    widest
        The largest number of distinct scores on one environment, all samples together.
    slots
        For every trial, which of its sample's distinct scores it is.
    places
        For every two samples of an environment and every distinct score of the first, its place in the second: 2 j
        between the distinct scores j - 1 and j, 2 j + 1 at distinct score j.
    starts
        ``[player, reference]``: where the places of a sample in another begin; references are counted from their
        environment's first.
    """

    begins: Ints
    sample_of: Ints
    sizes: Ints
    offsets: Ints
    distinct: Ints
    distinct_offsets: Ints
    widest: int
    slots: NDArray[np.uint32]
    places: _Places
    starts: Ints


def layout_of(pools: Sequence[Pool]) -> Layout:
    """Return the distinct scores of all samples and their positions in one another."""
    samples = [
        [np.unique(pool.scores[pool.owners == g], return_inverse=True) for g in range(pool.sizes.size)]
        for pool in pools
    ]
    owners = np.array([pool.sizes.size for pool in pools])
    begins = np.concatenate([[0], np.cumsum(owners)])
    sizes = np.concatenate([pool.sizes for pool in pools])
    distinct = [np.array([scores.size for scores, _ in each], dtype=np.int64) for each in samples]
    totals = np.array([counts.sum() for counts in distinct])
    # On a large board this needs the most memory: two bytes each where they suffice, and no copies.
    small = 2 * max(counts.max() for counts in distinct) < 1 << 16
    places: _Places = np.empty(int(((owners - 1) * totals).sum()), dtype=np.uint16 if small else np.uint32)
    starts = np.zeros((sizes.size, int(owners.max())), dtype=np.int64)
    filled = 0
    for begin, each in zip(begins[:-1], samples, strict=True):
        for a, (player, _) in enumerate(each):
            for r, (reference, _) in enumerate(each):
                if a == r:
                    continue
                left = np.searchsorted(reference, player, side="left")
                right = np.searchsorted(reference, player, side="right")
                starts[begin + a, r] = filled
                places[filled : filled + player.size] = left + right
                filled += player.size
    return Layout(
        begins,
        np.array([begin + pool.owner_of for begin, pool in zip(begins[:-1], pools, strict=True)]),
        sizes,
        np.cumsum(sizes) - sizes,
        np.concatenate(distinct),
        np.concatenate([np.cumsum(counts) - counts for counts in distinct]),
        int(totals.max()),
        np.concatenate([slots for each in samples for _, slots in each]).astype(np.uint32),
        places,
        starts,
    )


@kernel
def _resample(layout: Layout, states: Words, halves: bool, boards: Floats) -> None:
    """Write the percentiles of one resample per stream, boards [resample, a, e n + r]."""
    environments, n = layout.sample_of.shape
    drawn = np.empty(layout.widest, dtype=np.int32)
    # What a score gets at each place of a reference's sample, twice.
    gain = np.empty(2 * layout.widest + n, dtype=np.int32)
    won = np.empty((n, n), dtype=np.int64)
    for b in range(states.shape[0]):
        stream = states[b]
        skip_first(stream)
        for e in range(environments):
            begin, end = layout.begins[e], layout.begins[e + 1]
            draw(stream, layout, begin, end, drawn)
            play(layout, begin, end, drawn, halves, gain, won)
            for a in range(n):
                player = layout.sample_of[e, a]
                for r in range(n):
                    reference = layout.sample_of[e, r]
                    z = SELF
                    if player != reference:
                        pairs = layout.sizes[player] * layout.sizes[reference]
                        z = won[player - begin, reference - begin] / (2 * pairs)
                    boards[b, a, e * n + r] = z


_U32 = np.uint64(32)
_LOW32 = np.uint64(0xFFFFFFFF)
_WORD32 = np.uint64(1 << 32)


@kernel(inline=True)
def draw(stream: Words, layout: Layout, begin: int, end: int, drawn: NDArray[np.int32]) -> None:
    """Count how often each distinct score of an environment's samples is drawn.

    Each half of a word makes one draw, by multiplication, without bias: halves that would favour some trials are
    refused (Lemire, "Fast random integer generation in an interval", ACM TOMACS 29(1), 2019).
    """
    for g in range(begin, end):
        size = np.uint64(layout.sizes[g])
        slots = layout.slots[layout.offsets[g] : layout.offsets[g] + layout.sizes[g]]
        mine = drawn[layout.distinct_offsets[g] : layout.distinct_offsets[g] + layout.distinct[g]]
        for j in range(mine.size):
            mine[j] = 0
        refused = _WORD32 % size
        left = layout.sizes[g]
        while left > 0:
            word = next_word(stream)
            low = (word & _LOW32) * size
            if (low & _LOW32) >= refused:
                mine[slots[np.int64(low >> _U32)]] += 1
                left -= 1
            high = (word >> _U32) * size
            if (high & _LOW32) >= refused and left > 0:
                mine[slots[np.int64(high >> _U32)]] += 1
                left -= 1


@kernel(inline=True)
def play(
    layout: Layout, begin: int, end: int, drawn: NDArray[np.int32], halves: bool, gain: NDArray[np.int32], won: Ints
) -> None:
    """Write twice the number of pairs every sample of an environment wins against every other.

    Ties are half wins or whole ones.
    """
    for r in range(begin, end):
        start = 2 * layout.distinct_offsets[r] + r - begin
        below = 0
        gain[start] = 0
        for j in range(layout.distinct[r]):
            here = drawn[layout.distinct_offsets[r] + j]
            gain[start + 2 * j + 1] = 2 * below + (here if halves else 2 * here)
            below += here
            gain[start + 2 * j + 2] = 2 * below
    for a in range(begin, end):
        count = layout.distinct[a]
        mine = drawn[layout.distinct_offsets[a] : layout.distinct_offsets[a] + count]
        for r in range(begin, end):
            if r == a or (halves and r > a):
                continue
            start = 2 * layout.distinct_offsets[r] + r - begin
            gains = gain[start : start + 2 * layout.distinct[r] + 1]
            first = layout.starts[a, r - begin]
            places = layout.places[first : first + count]
            total = np.int64(0)
            for i in range(count):
                total += np.int64(mine[i]) * np.int64(gains[places[i]])
            won[a - begin, r - begin] = total
            if halves:
                # With ties halved, what one wins the other loses.
                won[r - begin, a - begin] = 2 * layout.sizes[a] * layout.sizes[r] - total


# The error of a resample's equilibrium is far below the resampling error.
_TOLERANCE = 1e-9


@kernel
def _weigh(d: Floats, weights: Floats) -> None:
    """Write the weights of every board's equilibrium, [resample, e n + r]."""
    resamples, n, columns = d.shape
    for b in range(resamples):
        total = 0.0
        for k in range(columns):
            share = 0.0
            for a in range(n):
                share += d[b, a, k]
            weights[b, k] = share
            total += share
        for k in range(columns):
            weights[b, k] /= total


@kernel
def _average(boards: Floats, weights: Floats, found: Floats) -> None:
    """Write the aggregates, [resample, algorithm]: NumPy's sums would depend on how many resamples there are."""
    resamples, n, columns = boards.shape
    for b in range(resamples):
        for a in range(n):
            total = 0.0
            for k in range(columns):
                total += boards[b, a, k] * weights[b, k]
            found[b, a] = total


METHOD = Method(
    "bootstrap",
    "Bootstrap",
    False,
    "the paper's: percentile bootstrap of the aggregates; misses more often than it says",
    True,
    None,
)
