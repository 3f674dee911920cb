"""Duplicated rows: runs that are counted several times as if they were independent."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Literal

import numpy as np
from scipy.special import gammaln, logsumexp

from untuned.diagnostics.evidence import (
    CERTAIN,
    combined,
    log_probability_of_exact_multiples,
    log_probability_of_multiples,
)
from untuned.diagnostics.finding import Finding, counted
from untuned.diagnostics.sample import Cell, Sample
from untuned.scores import Floats

#: Whole blocks, abcabc; row by row, aabbcc; in any order.
_Arrangement = Literal["whole", "rows", "any"]
_ARRANGEMENTS: tuple[_Arrangement, ...] = ("whole", "rows", "any")

# Blocks shorter than this, or with fewer different scores, are not taken for pasted ones.
_BLOCK = 10
# The log probability below which an equal block of a cell is looked for.
_UNLIKELY = math.log(1e-4)
# Pairs of blocks per cell that are compared score by score: chance makes none.
_LOOKED_AT = 100


def repeated_runs(sample: Sample) -> Finding | None:
    """Find scores that were copied within cells: same runs, all rows several times, or a block of rows twice.

    Runs with the same name and the same score are copies for sure. For all rows k times the statistic is the evidence
    (`untuned.diagnostics.evidence`) that every score appears a multiple of k times, in an order that copies have; for a
    block of rows, the probability that two blocks of a shuffled cell agree. The false-alarm rate is below 1e-9 per
    table for each. Ties in discrete scores are accounted for.
    """
    for found in (_same_runs(sample), _all_rows(sample), _blocks(sample)):
        if found is not None:
            return found
    return None


def _finding(found: str, where: tuple[str, ...]) -> Finding:
    return Finding(
        "repeated-runs",
        "serious",
        found,
        "A copied run is counted as an independent one, so intervals are too narrow and verdicts are not guaranteed.",
        "Remove the copies; look for a file that was added twice. If the file names the runs, read them with "
        "`--run COLUMN`.",
        where,
    )


def _same_runs(sample: Sample) -> Finding | None:
    cells = cells_with_repeated_names(sample)
    # The same run with different scores: evaluations of one run, which another check reports.
    if not cells or not all(_one_score_per_run(cell) for cell in cells):
        return None
    copies = sum(cell.size - np.unique(_names(cell)).size for cell in cells)
    return _finding(
        f"{counted(int(copies), 'row')} in {counted(len(cells), 'cell')} have the run and the score of another row of "
        "the cell.",
        tuple(cell.name for cell in cells),
    )


def cells_with_repeated_names(sample: Sample) -> list[Cell]:
    """Return the cells in which several scores belong to the same run."""
    return [cell for cell in sample.cells if cell.runs is not None and not cell.has_own_runs]


def _names(cell: Cell) -> np.ndarray:
    assert cell.runs is not None
    return cell.runs


def _one_score_per_run(cell: Cell) -> bool:
    pairs = np.unique(np.stack([_names(cell), cell.levels]), axis=1)
    return bool(np.unique(pairs[0]).size == pairs.shape[1])


def _all_rows(sample: Sample) -> Finding | None:
    """Find cells in which every score appears k times; each k and each arrangement is a hypothesis of its own."""
    multiples = {cell: int(np.gcd.reduce(cell.counts)) for cell in sample.varied}
    candidates = sorted({k for common in multiples.values() for k in _divisors(common)})
    logs, best, chosen = [], -math.inf, (0, "any")
    for k, arrangement, count in product(candidates, _ARRANGEMENTS, _COUNTS):
        cells = [cell for cell, common in multiples.items() if common % k == 0 and _is_arranged(cell, k, arrangement)]
        evidence = (-count(cell, k) - _log_probability_of_order(cell, k, arrangement) for cell in cells)
        # The prior probabilities of all hypotheses sum to 1: of k copies 1/(k (k - 1)).
        prior = -math.log(k * (k - 1) * len(_ARRANGEMENTS) * len(_COUNTS))
        logs.append(prior + combined(evidence, len(multiples)))
        if logs[-1] > best:
            best, chosen = logs[-1], (k, arrangement)
    if not logs or float(logsumexp(logs)) <= CERTAIN:
        return None
    k = chosen[0]
    cells = [cell for cell, common in multiples.items() if common % k == 0]
    times = "twice" if k == 2 else f"{k} times"
    return _finding(
        f"In {len(cells):,} of {counted(len(multiples), 'cell')} with different scores, every score appears {times} or "
        f"a multiple of that: {_sizes(cells)} scores are {_sizes(cells, k)} scores, {times}.",
        tuple(cell.name for cell in cells),
    )


def _sizes(cells: list[Cell], divisor: int = 1) -> str:
    sizes = [cell.size // divisor for cell in cells]
    return f"{min(sizes):,}" if min(sizes) == max(sizes) else f"{min(sizes):,} to {max(sizes):,}"


def _divisors(number: int) -> list[int]:
    """Return the divisors from 2 on."""
    small = [each for each in range(1, math.isqrt(number) + 1) if number % each == 0]
    return sorted({*small, *(number // each for each in small)} - {1})


def _is_arranged(cell: Cell, k: int, arrangement: _Arrangement) -> bool:
    if arrangement == "any":
        return True
    if arrangement == "whole":
        shift = cell.size // k
        return bool((cell.levels[shift:] == cell.levels[:-shift]).all())
    # Sorted scores stand in groups of equal ones anyway.
    rows = cell.levels.reshape(-1, k)
    return bool((rows == rows[:, :1]).all()) and not cell.monotone


def _log_probability_of_order(cell: Cell, k: int, arrangement: _Arrangement) -> float:
    """Return the log probability that a cell has this arrangement, given its scores: all orders are equally likely."""
    if arrangement == "any":
        return 0.0
    once = cell.counts // k
    return float(gammaln(cell.size // k + 1.0) - gammaln(once + 1.0).sum()) - cell.log_orders


def _log_probability_of_count(cell: Cell, k: int) -> float:
    return log_probability_of_multiples(cell.counts)


def _log_probability_of_exact_count(cell: Cell, k: int) -> float:
    # Where scores have ties before they are copied, this hypothesis does not hold: no evidence.
    exact = bool((cell.counts == k).all())
    return log_probability_of_exact_multiples(cell.values.size, k) if exact else math.inf


#: Two ways to measure how unlikely the counts are: for discrete scores, and for scores without ties.
_COUNTS: tuple[Callable[[Cell, int], float], ...] = (_log_probability_of_count, _log_probability_of_exact_count)


def _blocks(sample: Sample) -> Finding | None:
    """Find cells with a block of rows that appears twice, in a cell by itself or in several together."""
    repeated = {cell: found for cell in sample.varied if (found := _repeated_block(cell)) is not None}
    cells = len(sample.varied)
    # Of a p-value p, 0.1 p^-0.9 is an e-value.
    together = combined((math.log(0.1) - 0.9 * found.chance for found in repeated.values()), cells) > CERTAIN
    alone = -CERTAIN - math.log(max(1, cells))
    blocks = {cell: found for cell, found in repeated.items() if together or found.chance < alone}
    if not blocks:
        return None
    longest = max(found.length for found in blocks.values())
    return _finding(
        f"In {counted(len(blocks), 'cell')} a block of rows appears twice in the same order; the longest has "
        f"{longest:,} rows.",
        tuple(cell.name for cell in blocks),
    )


@dataclass(frozen=True)
class _Block:
    """How many rows appear twice, and the log probability that a shuffled cell has such a block."""

    length: int
    chance: float


def _repeated_block(cell: Cell) -> _Block | None:
    logs = _log_probabilities_of_blocks(cell)
    unlikely = np.flatnonzero(logs < _UNLIKELY)
    if not unlikely.size:
        return None
    shortest = _BLOCK + int(unlikely[0])
    starts = _equal_windows(cell, shortest)
    if starts is None:
        return None
    length = _extended(cell, starts, shortest)
    return _Block(length, float(logs[length - _BLOCK]))


def _log_probabilities_of_blocks(cell: Cell) -> Floats:
    """Return bounds on the log probability that a shuffled cell has two equal blocks of length 10, 11, ..., n/2.

    Two given blocks of length b that do not overlap agree with a probability of at most D^b/(n (n - 1) ... (n - 2b +
    1)), where D is the number of ordered pairs of equal scores, and there are fewer than n^2/2 pairs of blocks.
    """
    n = cell.size
    equal = float((cell.counts.astype(np.float64) * (cell.counts - 1)).sum())
    if equal == 0.0 or n < 2 * _BLOCK or cell.values.size < _BLOCK:
        return np.zeros(0)
    lengths = np.arange(_BLOCK, n // 2 + 1, dtype=np.float64)
    logs = lengths * math.log(equal) - gammaln(n + 1.0) + gammaln(n - 2.0 * lengths + 1.0) + 2.0 * math.log(n)
    return np.minimum.accumulate(np.minimum(logs, 0.0))


# Odd, so that its powers never vanish modulo 2^64.
_FACTOR = np.uint64(6364136223846793005)


def _equal_windows(cell: Cell, length: int) -> tuple[int, int] | None:
    """Return the starts of two equal windows that do not overlap; None if there are none.

    Windows with few different scores are left out.
    """
    n = cell.size
    # Numbers that look random, so that hashes of different windows differ.
    codes = (np.arange(1, cell.values.size + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15))[cell.levels]
    codes ^= codes >> np.uint64(29)
    powers = np.cumprod(np.full(n, _FACTOR, dtype=np.uint64))
    sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(codes * powers)])
    starts = n - length + 1
    hashes = (sums[length:] - sums[:-length]) * powers[::-1][:starts]
    # Blocks of few scores appear again where scores are sorted or reach a plateau.
    changes = np.concatenate([[0], np.cumsum(cell.levels[1:] != cell.levels[:-1])])
    places = np.flatnonzero(changes[length - 1 :] - changes[:starts] >= _BLOCK - 1)
    order = places[np.argsort(hashes[places], kind="stable")]
    same = (hashes[order[1:]] == hashes[order[:-1]]) & (order[1:] - order[:-1] >= length)
    for place in np.flatnonzero(same)[:_LOOKED_AT]:
        first, second = int(order[place]), int(order[place + 1])
        window = cell.levels[first : first + length]
        if np.unique(window).size >= _BLOCK and bool((window == cell.levels[second : second + length]).all()):
            return first, second
    return None


def _extended(cell: Cell, starts: tuple[int, int], length: int) -> int:
    """Return how long two equal blocks are if both are extended to both sides without overlapping."""
    first, second = starts
    room = second - first
    agree = cell.levels[:-room] == cell.levels[room:]
    differ = np.flatnonzero(~agree)
    before, after = differ[differ < first], differ[differ >= first + length]
    left = int(before[-1]) + 1 if before.size else 0
    right = int(after[0]) if after.size else agree.size
    return min(right - left, room)
