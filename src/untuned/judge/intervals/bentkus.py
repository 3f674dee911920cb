"""Bentkus's bound: the best bound by hinge functions, for an average smaller than a binomial in convex order.

As in `untuned.judge.intervals.kl`, E f(T U) <= E f(Bin(T, z)) for every convex f. With f(x) = (x - k)+,

    P(U >= u) <= min over k < T u of E(Bin(T, z) - k)+ / (T u - k)

by Markov's inequality, and whole numbers k from 0 on suffice: between two of them the ratio is one of linear functions.
The lower limit is the smallest z at which that reaches half the level; the upper one is the lower one with the roles
exchanged. Guaranteed at any number of trials, whatever the distributions, ties included; it assumes independent trials
only. Exponentials are mixtures of hinges, so it is never wider than `kl`.
"""

import math
from collections.abc import Sequence

from untuned.judge.intervals.binomial_tail import log_probability, rounding, upper_tail
from untuned.judge.intervals.comparisons import from_wins, level_of_each
from untuned.judge.intervals.kl import lower_limit as kl_lower_limit
from untuned.judge.intervals.method import Conventions, Method
from untuned.judge.jit import kernel
from untuned.judge.percentiles import Percentiles
from untuned.judge.pool import Pool
from untuned.scores import Floats, Ints, ScoreTable


def percentile_intervals(pools: Sequence[Pool], estimates: Percentiles, level: float) -> tuple[Floats, Floats]:
    """Return lower and upper ends of intervals on all percentiles, [a, e, r]; ``level`` is that of each."""
    return from_wins(pools, estimates, level, _lower_limits)


@kernel
def _lower_limits(u: Floats, trials: Ints, nats: float, low: Floats) -> None:
    for i in range(u.size):
        low[i] = lower_limit(u[i], trials[i], nats)


@kernel
def lower_limit(u: float, trials: int, nats: float) -> float:
    """Return the smallest q at which the bound on P(U >= ``u``) is exp(-``nats``), or less by a rounding.

    Notes
    -----
    Newton's method on the logarithm of the ratio as a function of log q, with the best k at every point. E(Bin(T, q) -
    k)+ is an integral of the distribution function of Beta(k, T - k), which is log-concave in log q, so it is too: from
    the left, each tangent gets to the level before the function does. So each step stays below the limit for its k,
    and that is at most the limit for the best one.
    """
    x = trials * u
    if x <= 0.0:
        return 0.0
    goal = -nats - rounding(trials)
    # Two limits that are below: Chernoff's, and that for k = 0, which is Markov's.
    q = max(kl_lower_limit(u, float(trials), nats), u * math.exp(goal))
    if q <= 0.0:
        return 0.0
    for _ in range(60):
        k = min(math.ceil(x), trials) - 1
        tail, excess = upper_tail(trials, q, k)
        # The probability of k + 1 is the unit of the sums; that of k follows.
        unit = log_probability(trials, q, k + 1)
        odds = q / (1.0 - q)
        here = (k + 1.0) / ((trials - k) * odds)
        # Decrease k as long as the ratio gets smaller: it first decreases, then increases.
        while k > 0 and excess >= (x - k) * (tail + here):
            tail += here
            excess += tail
            k -= 1
            here *= (k + 1.0) / ((trials - k) * odds)
        value = unit + math.log(excess / (x - k))
        slope = (trials * tail + (trials - k) * here) / excess
        step = (goal - value) / (slope * q)
        if step <= 1e-15:
            break
        q *= math.exp(step)
        if q >= u:
            break
    return min(q, u)


def _intervals(
    table: ScoreTable, pools: Sequence[Pool], estimates: Percentiles, delta: float, conventions: Conventions
) -> tuple[Floats, Floats]:
    return percentile_intervals(pools, estimates, level_of_each(pools, estimates, delta))


METHOD = Method("bentkus", "Bentkus", True, "Bentkus's bound on the mean over all pairs of trials", False, _intervals)
