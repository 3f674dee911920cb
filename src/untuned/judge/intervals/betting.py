"""Anytime-valid intervals: they hold however often you look at the results and whenever you stop.

A gambler who bets against z <= z0 on b trials of a and b of r, paired, multiplies the money by

    product over the pairs of (1 + w h)/(1 + w z0),   w = exp(s) - 1 > 0,

h the payoff of the pair. Pairs are independent with mean payoff z, so on average the factor is ((1 + w z)/(1 + w
z0))^b: 1 if z = z0, less if z is smaller. That is true of every pairing, hence of the average over all of them
(`untuned.judge.intervals.betting_averages`), which varies less. Blocks of 20 trials in order of arrival are
independent, so the money after 1, 2, ... blocks is a nonnegative supermartingale, for every tilt s and for the average
over a few. Ville's inequality: the probability that it *ever* reaches 2/level is at most level/2. The lower limit is
the largest z0 at which it ever reached that, so that later trials never widen it; the upper one is found with the
roles exchanged.

Guaranteed for independent trials, whatever the distributions, ties included. The inequality is about the sequence of
trials, run or not: the rule that decides which to run and when to look does not matter, nor whether one sample is
ahead of the other. The price is a somewhat larger width than that of a fixed sample, and that trials after the last
full block count only when the block is full: inside a block, the average over pairings is not a martingale.

Algorithms declared identical share their trials, first trials first, then second ones (`comparisons.in_order`). All of
the above is true of them as long as earlier trials keep their places, that is, if they have equally many trials
at every look, or only one of them has any. Otherwise each look is valid, and not all of them together.
"""

import math
from collections.abc import Sequence

import numpy as np

from untuned.judge.intervals.betting_averages import log_polynomial, pairing_averages
from untuned.judge.intervals.comparisons import comparisons, in_order, mirrored, possible
from untuned.judge.intervals.method import Conventions, Method
from untuned.judge.jit import kernel
from untuned.judge.percentiles import Percentiles
from untuned.judge.pool import Pool
from untuned.scores import Floats, ScoreTable

#: Trials of each sample in a block.
BLOCK = 20
#: The tilts s, from those for thousands of trials to those for the first block.
TILTS = tuple(0.03 * 1.6**g for g in range(13))


def percentile_intervals(
    table: ScoreTable, pools: Sequence[Pool], estimates: Percentiles, level: float
) -> tuple[Floats, Floats]:
    """Return lower and upper ends of intervals on all percentiles, [a, e, r].

    Parameters
    ----------
    table, pools
        The scores.
    estimates
        Their percentiles.
    level
        The probability with which each interval may ever miss, half of it on either side.
    """
    pairs = comparisons(pools, estimates)
    w = np.expm1(np.array(TILTS))
    low, below = np.empty(pairs.z.size), np.empty(pairs.z.size)
    samples = [in_order(table, pool, e) for e, pool in enumerate(pools)]
    for i in range(pairs.z.size):
        here = samples[pairs.environment[i]]
        first, second = here[pairs.first[i]], here[pairs.second[i]]
        low[i] = lower_limit(first, second, w, math.log(2.0 / level), BLOCK)
        below[i] = lower_limit(second, first, w, math.log(2.0 / level), BLOCK)
    return mirrored(pools, estimates, pairs, low, 1.0 - below)


@kernel
def lower_limit(first: Floats, second: Floats, w: Floats, nats: float, block: int) -> float:
    """Return the largest z0 against which betting ever reached exp(``nats``), rounded down; 0 if there is none."""
    blocks = min(first.size, second.size) // block
    won = np.zeros(w.size)
    rejected = 0.0
    for number in range(blocks):
        start, end = number * block, (number + 1) * block
        averages = pairing_averages(first[start:end], second[start:end])
        for g in range(w.size):
            won[g] += log_polynomial(averages, w[g])
        # The rounding error of the sums of logarithms is below this.
        goal = nats + 1e-12 * (1.0 + end)
        if log_money(won, w, end, rejected) < goal:
            continue
        kept = 1.0
        for _ in range(64):
            middle = 0.5 * (rejected + kept)
            if middle <= rejected or middle >= kept:
                break
            if log_money(won, w, end, middle) < goal:
                kept = middle
            else:
                rejected = middle
    return rejected


@kernel
def log_money(won: Floats, w: Floats, used: int, z0: float) -> float:
    """Return the logarithm of the money, averaged over the tilts: strictly decreasing in ``z0``."""
    largest = -np.inf
    for g in range(w.size):
        largest = max(largest, won[g] - used * math.log1p(z0 * w[g]))
    total = 0.0
    for g in range(w.size):
        total += math.exp(won[g] - used * math.log1p(z0 * w[g]) - largest)
    return largest + math.log(total / w.size)


def _intervals(
    table: ScoreTable, pools: Sequence[Pool], estimates: Percentiles, delta: float, conventions: Conventions
) -> tuple[Floats, Floats]:
    # All pairs count, with trials or without: levels must not change when the last sample gets its first trial.
    return percentile_intervals(table, pools, estimates, delta / max(possible(pools), 1))


METHOD = Method(
    "betting",
    "Betting",
    True,
    "bets on all pairings, block by block; holds however often you look",
    False,
    _intervals,
    anytime=True,
    block=BLOCK,
)
