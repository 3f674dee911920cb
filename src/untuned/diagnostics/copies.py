"""Cells that are copies of other cells: of another algorithm, or of another environment."""

import math
from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations

import numpy as np
from scipy.special import gammaln

from untuned.diagnostics.evidence import combined, log_probability_of_exact_multiples, log_probability_of_multiples
from untuned.diagnostics.finding import Finding, counted
from untuned.diagnostics.sample import Cell, Sample, distinct
from untuned.scores import Floats, Ints

# Of all pairs of a table together.
_FALSE_ALARMS = 1e-6
# The correlation of near copies, the fewest points it is measured on, and the most of each cell.
_NEAR = 0.98
_FEWEST = 20
_MOST = 2000


def identical_algorithms(sample: Sample) -> Finding | None:
    """Find pairs of algorithms with the same scores on environments, unless they are declared to be identical.

    The statistic is the evidence that two samples have the same values the same number of times, in the same order or
    not (`untuned.diagnostics.evidence`): given all their scores, any half of them is equally likely to be the first
    sample. The false-alarm rate is below 1e-6 over all pairs. Cells that are constant are no evidence.
    """
    pairs = defaultdict(list)
    for first, second in _same_scores(sample):
        pairs[first.a, second.a].append((first, second))
    algorithms = sample.table.algorithms
    limit = -math.log(_FALSE_ALARMS) + math.log(max(1, math.comb(len(algorithms), 2)))
    environments = max(1, len(sample.table.environments))
    found = {
        pair: cells
        for pair, cells in sorted(pairs.items())
        if combined((_log_evidence(*each) for each in cells), environments) > limit
    }
    if not found:
        return None
    named = [f"{algorithms[a]} and {algorithms[b]}" for a, b in found]
    return Finding(
        "identical-algorithms",
        "warning",
        f"{counted(len(named), 'pair')} of algorithms {'has' if len(named) == 1 else 'have'} the same scores: "
        f"{named[0]} on {counted(len(next(iter(found.values()))), 'environment')}"
        f"{f', and {len(named) - 1:,} more' if len(named) > 1 else ''}.",
        "Samples that should be independent are copies, so the comparison of the two says nothing.",
        "If one was copied by mistake, replace it. If both are the same algorithm, declare it: `--identical A,B`.",
        tuple(
            f"{name} on {sample.table.environments[first.e]}"
            for name, cells in zip(named, found.values(), strict=True)
            for first, _ in cells
        ),
    )


def _same_scores(sample: Sample) -> Iterator[tuple[Cell, Cell]]:
    """Yield pairs of cells of an environment with the same scores that are not declared identical."""
    kinds = sample.table.kinds
    by_scores: dict[tuple[int, bytes], list[Cell]] = defaultdict(list)
    for e in range(len(sample.table.environments)):
        cells = [cell for cell in sample.of_environment(e) if not cell.constant]
        if len(cells) > 1:
            # Numbers of distinct scores instead of scores: copies may differ in the last digits.
            levels = distinct(np.concatenate([cell.scores for cell in cells]))[1]
            for cell, part in zip(cells, np.split(levels, np.cumsum([cell.size for cell in cells])[:-1]), strict=True):
                by_scores[e, np.sort(part).tobytes()].append(cell)
    for cells in by_scores.values():
        for first, second in combinations(cells, 2):
            if kinds[first.e, first.a] != kinds[first.e, second.a]:
                yield first, second


def _log_evidence(first: Cell, second: Cell) -> float:
    """Return the log evidence of two samples with the same scores."""
    same_order = not first.monotone and bool((first.levels == second.levels).all())
    # Half of it for any order, half for the same.
    order = float(np.logaddexp(0.0, first.log_orders)) - math.log(2.0) if same_order else -math.log(2.0)
    return order - _log_probability_of_copy(first.counts)


def _log_probability_of_copy(counts: Ints) -> float:
    """Return a bound on the log probability that a second sample has the same values the same number of times."""
    size = float(counts.sum())
    halves = float((gammaln(2.0 * counts + 1.0) - 2.0 * gammaln(counts + 1.0)).sum())
    all_halves = float(gammaln(2.0 * size + 1.0) - 2.0 * gammaln(size + 1.0))
    twice = (
        log_probability_of_exact_multiples(counts.size, 2)
        if bool((counts == 1).all())
        else log_probability_of_multiples(2 * counts)
    )
    # Two ways to bound the probability of the counts: the factor 2.
    return min(0.0, halves - all_halves + twice + math.log(2.0))


def copied_environments(sample: Sample) -> Finding | None:
    """Find pairs of environments whose scores are copies of each other.

    Copies have the same scores for all algorithms, up to one increasing affine map; the bound on the probability is
    that of `identical_algorithms`, below 1e-6 over all pairs. Near copies have a rank correlation of at least 0.98 over
    at least 20 points, runs (or rows) aligned, ranks taken within each cell so that differences between algorithms do
    not count; the cells must have so many possible orders that the same holds. Sorted and constant cells do not count.
    """
    count = len(sample.table.environments)
    limit = -math.log(_FALSE_ALARMS) + math.log(max(1, math.comb(count, 2)))
    found = dict.fromkeys(_affine_copies(sample, limit), "the same scores, up to the scale")
    for pair, correlation in _near_copies(sample, limit):
        found.setdefault(pair, f"a rank correlation of {correlation:.3f} over shared runs or rows")
    if not found:
        return None
    names = sample.table.environments
    pairs = {f"{names[e]} and {names[f]}": words for (e, f), words in sorted(found.items())}
    first, words = next(iter(pairs.items()))
    return Finding(
        "copied-environments",
        "warning",
        f"{counted(len(pairs), 'pair')} of environments {'looks' if len(pairs) == 1 else 'look'} like copies: {first} "
        f"have {words}.",
        "The same evidence counts twice, so intervals are too narrow.",
        "Remove one of the two. If they are different environments, look for a column or a file that was read twice.",
        tuple(pairs),
    )


def _affine_copies(sample: Sample, limit: float) -> Iterator[tuple[int, int]]:
    groups: dict[tuple[int, ...], list[tuple[int, Floats, float]]] = defaultdict(list)
    trials = sample.table.trials
    for e in range(len(sample.table.environments)):
        cells = [cell for cell in sample.of_environment(e) if not cell.constant]
        chance = sum(_log_probability_of_copy(cell.counts) for cell in cells)
        if -chance > limit:
            groups[tuple(map(int, trials[:, e]))].append((e, *_normalised(sample.of_environment(e))))
    for group in groups.values():
        for (e, first, error), (f, second, other) in combinations(group, 2):
            if float(np.abs(first - second).max()) < max(error, other):
                yield e, f


def _normalised(cells: list[Cell]) -> tuple[Floats, float]:
    """Return sorted scores of cells, not all equal, moved to the interval from 0 to 1, and how exact they are."""
    scores = np.concatenate([cell.ordered for cell in cells])
    # Scaled first: the difference of the largest floats overflows.
    scaled = scores / np.abs(scores).max()
    low, high = float(scaled.min()), float(scaled.max())
    if not high > low:
        return np.zeros_like(scaled), 0.0
    # About 9 digits of the scores, but much less than the distance between neighbours.
    return (scaled - low) / (high - low), min(4.0 * 2.0**-30 / (high - low), 2.0**-10 / scores.size)


def _near_copies(sample: Sample, limit: float) -> Iterator[tuple[tuple[int, int], float]]:
    m = len(sample.table.environments)
    products, points, orders = np.zeros((m, m)), np.zeros((m, m)), np.zeros(m)
    for a in range(len(sample.table.algorithms)):
        cells = [cell for cell in sample.of_algorithm(a) if cell.size > 2 and cell.spread_out and not cell.monotone]
        ranks, known = _aligned(cells, m)
        products += ranks @ ranks.T
        points += known @ known.T
        for cell in cells:
            orders[cell.e] += cell.log_orders
    correlations = products / np.maximum(points, 1.0)
    enough = (points >= _FEWEST) & (np.minimum(orders[:, None], orders[None, :]) > limit)
    for e, f in np.argwhere(np.triu(enough & (correlations >= _NEAR), 1)):
        yield (int(e), int(f)), min(1.0, float(correlations[e, f]))


def _aligned(cells: list[Cell], environments: int) -> tuple[Floats, Floats]:
    """Return standardised ranks ``[environment, run]``, 0 where there is none, and 1 where there is one.

    Runs are aligned by their names; by row where a run has none, or one that is not its own.
    """
    named = all(cell.has_own_runs for cell in cells)
    rows = [cell.runs if named else np.arange(cell.size) for cell in cells]
    columns = [runs[:_MOST] for runs in rows if runs is not None]
    width = 0
    if columns:
        distinct, numbers = np.unique(np.concatenate(columns), return_inverse=True)
        width = distinct.size
        columns = np.split(numbers, np.cumsum([each.size for each in columns])[:-1])
    ranks, known = np.zeros((environments, width)), np.zeros((environments, width))
    for cell, column in zip(cells, columns, strict=True):
        ranks[cell.e, column] = (cell.ranks / math.sqrt(float((cell.ranks**2).mean())))[:_MOST]
        known[cell.e, column] = 1.0
    return ranks, known
