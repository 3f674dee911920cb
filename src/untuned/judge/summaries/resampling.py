"""Stratified resamples: every cell's scores drawn with replacement, and statistics of them.

A resample is a count per distinct score, as in `untuned.judge.bootstrap`. So nothing is sorted twice: an algorithm's
normalised scores are sorted once, and a resample's trimmed mean is one pass over their counts.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from untuned.judge.bootstrap import Layout, draw, play
from untuned.judge.jit import kernel
from untuned.judge.streams import Words, skip_first
from untuned.judge.summaries.statistics import trimming
from untuned.scores import Floats, Ints, ScoreTable

#: How often each distinct score was drawn, [resample, distinct score of the table].
Counts = NDArray[np.int32]


class Ordered(NamedTuple):
    """The distinct normalised scores of every algorithm in ascending order, one algorithm after the other.

    Attributes
    ----------
    begins
        Where each algorithm's begin; and at the end the number of all.
    places
        Where the count of each score is.
    environments
        The environment of each score.
    values
        The scores.
    """

    begins: Ints
    places: Ints
    environments: Ints
    values: Floats


@kernel
def drawn(layout: Layout, states: Words, counts: Counts) -> None:
    """Draw a resample per stream."""
    for b in range(states.shape[0]):
        stream = states[b]
        skip_first(stream)
        start = 0
        for e in range(layout.begins.size - 1):
            begin, end = layout.begins[e], layout.begins[e + 1]
            width = layout.distinct_offsets[end - 1] + layout.distinct[end - 1]
            draw(stream, layout, begin, end, counts[b, start : start + width])
            start += width


@kernel
def trimmed(counts: Counts, ordered: Ordered, shares: Floats, firsts: Floats, lasts: Floats, found: Floats) -> None:
    """Write interquartile means, [resample, algorithm]; see `statistics.trimming` for shares [a, e], firsts, lasts."""
    for b in range(counts.shape[0]):
        for a in range(firsts.size):
            first, last = firsts[a], lasts[a]
            below = 0.0
            total = 0.0
            for i in range(ordered.begins[a], ordered.begins[a + 1]):
                count = counts[b, ordered.places[i]]
                if count == 0:
                    continue
                upto = below + count * shares[a, ordered.environments[i]]
                kept = min(upto, last) - max(below, first)
                if kept > 0.0:
                    total += kept * ordered.values[i]
                below = upto
                if below >= last:
                    break
            found[b, a] = total / (last - first)


@kernel
def averaged(counts: Counts, ordered: Ordered, shares: Floats, found: Floats) -> None:
    """Write the weighted sums of scores, [resample, algorithm, environment], with shares [a, e] for every score."""
    for b in range(counts.shape[0]):
        for a in range(shares.shape[0]):
            for e in range(shares.shape[1]):
                found[b, a, e] = 0.0
            for i in range(ordered.begins[a], ordered.begins[a + 1]):
                e = ordered.environments[i]
                found[b, a, e] += counts[b, ordered.places[i]] * ordered.values[i] * shares[a, e]


@kernel
def exceeding(counts: Counts, ordered: Ordered, bins: Ints, shares: Floats, found: Floats) -> None:
    """Write which share of scores is above each threshold, [resample, algorithm, threshold].

    ``bins`` has the number of thresholds below each score.
    """
    thresholds = found.shape[2]
    for b in range(counts.shape[0]):
        for a in range(shares.shape[0]):
            for k in range(thresholds):
                found[b, a, k] = 0.0
            for i in range(ordered.begins[a], ordered.begins[a + 1]):
                if bins[i] > 0:
                    share = shares[a, ordered.environments[i]]
                    found[b, a, bins[i] - 1] += counts[b, ordered.places[i]] * share
            for k in range(thresholds - 2, -1, -1):
                found[b, a, k] += found[b, a, k + 1]


@kernel
def improved(layout: Layout, counts: Counts, weights: Floats, found: Floats) -> None:
    """Write how often each algorithm beats each, averaged over environments, [resample, a, b]; a tie is half."""
    n = layout.sample_of.shape[1]
    gain = np.empty(2 * layout.widest + n, dtype=np.int32)
    won = np.empty((n, n), dtype=np.int64)
    for b in range(counts.shape[0]):
        for a in range(n):
            for r in range(n):
                found[b, a, r] = 0.5 if a == r else 0.0
        start = 0
        for e in range(weights.size):
            begin, end = layout.begins[e], layout.begins[e + 1]
            width = layout.distinct_offsets[end - 1] + layout.distinct[end - 1]
            play(layout, begin, end, counts[b, start : start + width], True, gain, won)
            start += width
            for a in range(n):
                for r in range(n):
                    if a != r:
                        pairs = 2.0 * layout.sizes[begin + a] * layout.sizes[begin + r]
                        found[b, a, r] += weights[e] * won[a, r] / pairs


def layout_values(layout: Layout, table: ScoreTable) -> list[Floats]:
    """Return the distinct scores of every sample of a layout, in ascending order."""
    n = len(table.algorithms)
    return [np.unique(table.cells[s % n][s // n]) for s in range(layout.sizes.size)]


def first_places(layout: Layout) -> Ints:
    """Return where the counts of every sample begin."""
    found: Ints = np.cumsum(layout.distinct) - layout.distinct
    return found


def in_order(layout: Layout, values: Sequence[Floats]) -> Ordered:
    """Return the normalised distinct scores of all samples, algorithm by algorithm, in ascending order."""
    m, n = layout.sample_of.shape
    places = first_places(layout)
    parts: list[tuple[Ints, Ints, Floats]] = []
    for a in range(n):
        samples = [e * n + a for e in range(m)]
        scores = np.concatenate([values[s] for s in samples])
        where = np.concatenate([places[s] + np.arange(values[s].size) for s in samples])
        environments = np.repeat(np.arange(m), [values[s].size for s in samples])
        order = np.argsort(scores, kind="stable")
        parts.append((where[order], environments[order], scores[order]))
    sizes = [part[0].size for part in parts]
    columns = (np.concatenate([part[k] for part in parts]) for k in range(3))
    return Ordered(np.concatenate([[0], np.cumsum(sizes)]), *columns)


def cell_means(counts: Counts, ordered: Ordered, sizes_ae: Ints) -> Floats:
    """Return the mean of every cell of every resample, [resample, algorithm, environment]."""
    found = np.empty((len(counts), *sizes_ae.shape))
    averaged(counts, ordered, 1.0 / sizes_ae, found)
    return found


def interquartile_means(counts: Counts, ordered: Ordered, sizes_ae: Ints, weights: Floats) -> Floats:
    """Return the interquartile mean of every resample, [resample, algorithm]."""
    rules = [trimming(weights, sizes) for sizes in sizes_ae]
    found = np.empty((len(counts), len(rules)))
    shares, firsts, lasts = (np.array(each) for each in zip(*rules, strict=True))
    trimmed(counts, ordered, shares, firsts, lasts, found)
    return found


def shares_above(counts: Counts, ordered: Ordered, sizes_ae: Ints, weights: Floats, thresholds: Floats) -> Floats:
    """Return the share of scores above each threshold, [resample, algorithm, threshold]."""
    found = np.empty((len(counts), len(sizes_ae), thresholds.size))
    bins = np.searchsorted(thresholds, ordered.values, side="left")
    exceeding(counts, ordered, bins, weights / sizes_ae, found)
    return found
