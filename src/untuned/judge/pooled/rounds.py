"""`pooled-rounds`: evidence pooled over environments, round by round; it holds however often you look.

Trials arrive in rounds. How many each cell gets in a round may depend on earlier rounds, and on nothing later. Given
these, the factors of a round have means of at most exp(lambda w_e d_e) as in `untuned.judge.pooled.factors`, for stakes
and centres that depend on earlier rounds alone. So with stakes lambda_jk of round k

    E_k(theta0) = sum over j of pi_j prod over rounds up to k of exp(-lambda_jk theta0) prod over e of F_ek(lambda_jk)

is a supermartingale if theta <= theta0, and by Ville's inequality the probability that it ever reaches x is at most
1/x. Verdicts are never withdrawn.

Arrangements are redrawn in every round: those of an earlier round are not independent of its results.

A raced study has its rounds in its log. For other scores, rounds end at fixed numbers of trials, equal in all cells,
which hold for any number of looks as well; while a cell has no trials, no round is complete.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from untuned.judge.intervals.method import Method
from untuned.judge.intervals.shuffling import seeds
from untuned.judge.percentiles import counts
from untuned.judge.pool import Pool, pools
from untuned.judge.pooled.evidence import MOST, Weighed, weighed
from untuned.scores import Floats, Ints, ScoreTable

#: Rounds of trials without a plan: the first ends after the first number of trials, each later one after more by this
#: factor.
FIRST, GROWTH = 5, 1.5

METHOD = Method(
    "pooled-rounds",
    "Pooled in rounds",
    True,
    "pooled evidence, round by round, for weights chosen beforehand; holds however often you look",
    False,
    None,
    anytime=True,
    block=FIRST,
    fixed=True,
)


def cut_numbers(trials_ae: Ints, weights_e: Floats | None) -> Ints:
    """Return how many trials every cell has in all after each round, [round, a, e], where no race planned them.

    A round is complete when every cell on the environments with weight has its number. Cells without trials must not
    be left out: which cells were run may depend on the scores, and evidence with a reference is a different process
    from evidence without it.

    Parameters
    ----------
    trials_ae
        The existing trials.
    weights_e
        The environments' weights; None where all have some.
    """
    counted_e = _counted(trials_ae, weights_e)
    fewest = int(trials_ae[:, counted_e].min())
    return _fixed(trials_ae, counted_e, lambda before, end: end <= fewest)


def covering_numbers(trials_ae: Ints, weights_e: Floats | None) -> Ints:
    """Return the same, with further rounds until every existing trial belongs to one.

    A trial that was seen before its round is planned would influence the size of the round. So a race begins with these
    numbers, whatever they cost.
    """
    counted_e = _counted(trials_ae, weights_e)
    most = int(trials_ae[:, counted_e].max())
    return _fixed(trials_ae, counted_e, lambda before, end: before < most)


def _counted(trials_ae: Ints, weights_e: Floats | None) -> "np.ndarray[Any, np.dtype[np.bool_]]":
    return np.ones(trials_ae.shape[1], dtype=np.bool_) if weights_e is None else weights_e > 0.0


def _fixed(
    trials_ae: Ints, counted_e: "np.ndarray[Any, np.dtype[np.bool_]]", wanted: Callable[[int, int], bool]
) -> Ints:
    """Return the rounds, from ``before`` to ``end`` trials of every cell that counts, while another one is wanted."""
    numbers, before, end = [], 0, FIRST
    while wanted(before, end):
        numbers.append(np.broadcast_to(np.where(counted_e, end, 0), trials_ae.shape))
        before, end = end, math.ceil(end * GROWTH)
    return np.array(numbers, dtype=np.int64).reshape(-1, *trials_ae.shape)


def in_rounds(table: ScoreTable, q_er: Floats) -> list[Weighed]:
    """Return the scores of every round, with the results of earlier rounds."""
    numbers = cut_numbers(table.trials, q_er.sum(axis=1)) if table.rounds is None else table.rounds
    # Without any round, one without trials, which is no evidence.
    numbers = numbers if len(numbers) else np.zeros((1, *table.trials.shape), dtype=np.int64)
    return [one_round(table, q_er, *each) for each in pairwise((np.zeros_like(numbers[0]), *numbers))]


def one_round(table: ScoreTable, q_er: Floats, before_ae: Ints, now_ae: Ints) -> Weighed:
    """Return the scores of the round from ``before_ae`` to ``now_ae`` trials."""
    given = weighed(table, pools(_cut(table, before_ae, now_ae)), q_er)
    kept = np.flatnonzero(q_er.sum(axis=1) > 0.0)
    earlier = pools(_cut(table, np.zeros_like(before_ae), before_ae))
    past = tuple(_payoffs(earlier[e]) for e in kept)
    rows_e = np.array([int(earlier[e].sizes.min()) for e in kept], dtype=np.int64)
    # New arrangements: those of earlier rounds depend on the results of these rounds.
    fresh = tuple(seeds(table, each, int(e), earlier[e].sizes) for e, each in zip(kept, given.pools, strict=True))
    return replace(given, most=MOST, seeds=fresh, past=past, past_rows_e=rows_e)


def _payoffs(pool: Pool) -> Floats:
    wins, ties = counts(pool)
    pairs = np.outer(pool.sizes, pool.sizes)
    found: Floats = np.divide(2 * wins + ties, 2 * pairs, out=np.full(pairs.shape, 0.5), where=pairs > 0)
    return found


def _cut(table: ScoreTable, before_ae: Ints, now_ae: Ints) -> ScoreTable:
    cells: Sequence[Any] = table.cells
    return replace(
        table,
        cells=tuple(
            tuple(cell[begin:end] for cell, begin, end in zip(row, begins, ends, strict=True))
            for row, begins, ends in zip(cells, before_ae.tolist(), now_ae.tolist(), strict=True)
        ),
    )
