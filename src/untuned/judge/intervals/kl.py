"""Chernoff's bound in terms of the relative entropy: {q : T kl(U, q) <= log(2/level)}, T the smaller number of trials.

U, the mean of the payoffs over all pairs of trials, is the average over all ways to give each trial of the smaller
sample a partner of its own in the larger one. Under each of them U is the mean of T independent payoffs in [0, 1] with
mean z. So for every convex function (Jensen's inequality twice: over the pairings, and from payoffs to wins or losses)

    E f(T U) <= E f(Bin(T, z)),

and with f = exp(s .), P(U >= u) <= exp(-T kl(u, z)) for u >= z. Guaranteed at any number of trials, whatever the
distributions, ties included; it assumes independent trials only. It serves as the starting point of tighter bounds.
"""

import math
from collections.abc import Sequence

from untuned.judge.intervals.comparisons import from_wins, level_of_each
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
        low[i] = lower_limit(u[i], float(trials[i]), nats)


@kernel
def lower_limit(u: float, trials: float, nats: float) -> float:
    """Return the smallest q with ``trials`` kl(``u``, q) <= ``nats``, or less by a rounding."""
    if u <= 0.0:
        return 0.0
    u = min(u, 1.0)
    # What is computed of the entropy may be too large by a rounding: a point counts as outside if it clearly is.
    bound = nats * (1.0 + 1e-12) / trials + 1e-15
    outside = 0.0
    inside = u
    for _ in range(64):
        middle = 0.5 * (outside + inside)
        if middle <= outside or middle >= inside:
            break
        step = u - middle
        # Near u the two terms nearly cancel, and must be as exact as the step; far below it, the step is all of u.
        entropy = -u * (math.log1p(-step / u) if 2.0 * step < u else math.log(middle / u))
        if u < 1.0:
            entropy -= (1.0 - u) * math.log1p(step / (1.0 - u))
        if entropy > bound:
            outside = middle
        else:
            inside = middle
    return outside


def _intervals(
    table: ScoreTable, pools: Sequence[Pool], estimates: Percentiles, delta: float, conventions: Conventions
) -> tuple[Floats, Floats]:
    return percentile_intervals(pools, estimates, level_of_each(pools, estimates, delta))


METHOD = Method("kl", "KL", True, "Chernoff's bound by relative entropy, on the mean over all pairs", False, _intervals)
