"""Performance bound propagation, from intervals on percentiles to bounds on aggregates (the paper's Appendix C).

The largest aggregate over every game the intervals allow is the value of a Markov decision process: states are the
joint strategies, the reward of (a, (e, r)) is the end of the interval on z[i, e, r], and what is decided is every move
whose payoffs' intervals overlap. Raising such a move's probability to eta takes it from staying put, which always has
room, so each is decided alone: on exactly when it leads to a higher value. With v the value of every state,

    (T v)(s) = R(s) + gamma [v(s) + sum over moves of c(s, s') (v(s') - v(s))],

c = eta for a certain improvement, eta/50 for a structural tie, eta 1[v(s') > v(s)] for an uncertain one. Policy
iteration solves v = T v; its linear systems are solved by BiCGSTAB, whose products are computed from the intervals
themselves: memory grows with the number of states, not with its square.

Whatever v is, with rho = max (T v - v), the bound is at most (1 - gamma) mean(v) + rho: T is monotone and adding a
constant c to v adds gamma c to T v, so v* <= v + rho/(1 - gamma). That is what is returned, with an allowance for
rounding: stopping early makes a bound wider, never wrong.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from untuned.judge import krylov
from untuned.judge.boxes import Boxes
from untuned.judge.game import POPULATION, constants
from untuned.judge.jit import kernel
from untuned.scores import Floats

Numbers = NDArray[np.int32]


class Ties(NamedTuple):
    """Which payoffs are equal for certain.

    Attributes
    ----------
    same
        ``[a, k]``: equal numbers for equal payoffs.
    members
        ``[a, :]``: the columns of row a, those with equal payoffs side by side.
    first, end
        ``[a, k]``: where in ``members[a]`` the columns equal to k begin and end; nothing where k is alone.
    """

    same: Numbers
    members: Numbers
    first: Numbers
    end: Numbers


class Limits(NamedTuple):
    """How much work a bound may take: one that was not finished in it is wider, not wrong."""

    policies: int = 100
    iterations: int = 300


LIMITS = Limits()


@dataclass(frozen=True, eq=False)
class Bounds:
    """Bounds on every aggregate, all of which hold when all intervals on percentiles do.

    Attributes
    ----------
    low_a, high_a
        The bounds.
    slack
        The largest amount by which any bound may be wider than the best one, from the certificate of its solution.
    """

    low_a: Floats
    high_a: Floats
    slack: float


def propagated(boxes: Boxes, *, workers: int = 1, advance: Callable[[int], None] | None = None) -> Bounds:
    """Return the bounds on every algorithm's aggregate when the weights are the game's equilibrium.

    Parameters
    ----------
    boxes
        Intervals on the percentiles.
    workers
        How many threads solve bounds at the same time; the numbers do not depend on it.
    advance
        Called with 1 after every bound, 2 n times in all, in the caller's thread.
    """
    n = boxes.low_aer.shape[0]
    rewards = [boxes.high_aer[i] for i in range(n)] + [-boxes.low_aer[i] for i in range(n)]
    upper, slack = maxima(rewards, boxes, workers=workers, advance=advance)
    return Bounds(-upper[n:], upper[:n], slack)


def weighted(boxes: Boxes, q_er: Floats) -> Bounds:
    """Return the bounds on every aggregate for weights chosen before the scores were seen (the paper's Lemma 2)."""
    low = np.einsum("aer,er->a", boxes.low_aer, q_er)
    high = np.einsum("aer,er->a", boxes.high_aer, q_er)
    return Bounds(low, high, 0.0)


def maxima(
    rewards: Sequence[Floats],
    boxes: Boxes,
    *,
    limits: Limits = LIMITS,
    workers: int = 1,
    advance: Callable[[int], None] | None = None,
) -> tuple[Floats, float]:
    """Return, for every reward, the largest equilibrium average over all games the boxes allow; and the slack.

    Parameters
    ----------
    rewards
        Arrays [environment, reference], of any sign.
    limits
        How many policies to try, and iterations to solve the system of each.
    boxes, workers, advance
        As for `propagated`.
    """
    n, m, _ = boxes.low_aer.shape
    shape = (n, m * n)
    low = np.ascontiguousarray(boxes.low_aer.reshape(shape))
    high = np.ascontiguousarray(boxes.high_aer.reshape(shape))
    ties = _ties(boxes.same_aer.reshape(shape))
    eta, gamma, _ = constants(n, m)

    def solve(reward: Floats) -> tuple[float, float]:
        return _maximum(np.ascontiguousarray(reward, dtype=np.float64).ravel(), low, high, ties, eta, gamma, limits)

    found = []
    with ThreadPoolExecutor(max(workers, 1)) as threads:
        for bound in threads.map(solve, rewards):
            found.append(bound)
            if advance is not None:
                advance(1)
    return np.array([bound for bound, _ in found]), max(slack for _, slack in found)


def _ties(same: NDArray[np.int64]) -> Ties:
    _, numbers = np.unique(same, return_inverse=True)
    numbers = numbers.reshape(same.shape).astype(np.int32)
    members = np.argsort(numbers, axis=1, kind="stable")
    first = np.empty(same.shape, dtype=np.int32)
    end = np.empty(same.shape, dtype=np.int32)
    for a, row in enumerate(numbers):
        in_order = row[members[a]]
        first[a] = np.searchsorted(in_order, row, side="left")
        end[a] = np.searchsorted(in_order, row, side="right")
    end[end - first == 1] = 0
    return Ties(np.ascontiguousarray(numbers), members.astype(np.int32), first, end)


# An aggregate is reported to four digits: a bound this much wider is as good, and an iteration cheaper.
_SLACK = 1e-11
# Bounds from the first policies may be worse than the one they began with, before they get good.
_PATIENCE = 20
_SWEEPS = 10


@kernel
def _maximum(
    reward: Floats, low: Floats, high: Floats, ties: Ties, eta: float, gamma: float, limits: Limits
) -> tuple[float, float]:
    """Return a bound on the largest average, and how much it may exceed the largest."""
    n, columns = low.shape
    # Only differences of values decide anything: with rewards around zero, values stay small and their digits good.
    centre = float(np.mean(reward))
    spread = 0.0
    for k in range(columns):
        spread = max(spread, abs(reward[k] - centre))
    values = np.empty((n, columns))
    for a in range(n):
        for k in range(columns):
            values[a, k] = reward[k] - centre
    kept = values.copy()
    policy = np.empty((n, columns))
    work = krylov.workspace(n, columns)

    best = np.inf
    slack = np.inf
    narrowest = np.inf
    waited = 0
    for _ in range(limits.policies):
        # The residual of the policy that is greedy for v is T v - v.
        policy[:] = values
        _leaving(policy, low, high, ties, eta, gamma, work.diagonal)
        _residual(values, reward, centre, policy, low, high, ties, eta, gamma, work)
        rho, fall = np.max(work.residual), np.min(work.residual)
        largest = np.max(np.abs(values))
        average = (1.0 - gamma) * np.mean(values)
        # Sums of n + columns terms of size up to 2 eta |v|, and a mean: their rounding, generously.
        rounding = 4.0 * np.finfo(np.float64).eps * ((n + columns) * largest + spread + abs(centre))
        # From below: with fall = min (T v - v), the greedy policy's own average is at least average + fall.
        gap = rho - fall
        found = centre + average + rho + rounding
        if not np.isfinite(found) or largest > 2.0 * spread / (1.0 - gamma):
            # No policy has such values: the solver broke down. Once more from the best there were.
            waited += 1
            if waited >= _PATIENCE:
                break
            values[:] = kept
            continue
        best = min(best, found)
        if gap < 0.9 * narrowest:
            waited = 0
        else:
            waited += 1
        if gap < narrowest:
            narrowest = gap
            slack = gap + 2.0 * rounding
            kept[:] = values
        if gap <= max(_SLACK, rounding) or waited >= _PATIENCE:
            break

        # Where the last solution gained nothing the method may have broken down. Another residual may do better.
        for _ in range(_SWEEPS if waited > 0 else 0):
            krylov.sweep(work, values)
            _residual(values, reward, centre, policy, low, high, ties, eta, gamma, work)

        # Solve this policy's system, far enough for the next policy to be better.
        wanted = max(1e-3 * gap, 0.1 * _SLACK)
        krylov.begin(work)
        for _ in range(limits.iterations):
            if not krylov.aim(work):
                break
            _product(work.scaled, policy, low, high, ties, eta, gamma, work.diagonal, work.image)
            if not krylov.first_step(work, values):
                break
            _product(work.scaled, policy, low, high, ties, eta, gamma, work.diagonal, work.second_image)
            if not krylov.second_step(work, values):
                break
            size = np.max(np.abs(work.residual))
            if size <= wanted or not size < krylov.EXPLODED:
                break
    return best, slack


@kernel
def _residual(
    values: Floats,
    reward: Floats,
    centre: float,
    policy: Floats,
    low: Floats,
    high: Floats,
    ties: Ties,
    eta: float,
    gamma: float,
    work: krylov.Work,
) -> None:
    """Write the residual of the policy's system at ``values``."""
    _product(values, policy, low, high, ties, eta, gamma, work.diagonal, work.residual)
    rows, columns = values.shape
    for a in range(rows):
        for k in range(columns):
            work.residual[a, k] = reward[k] - centre - work.residual[a, k]


@kernel
def _leaving(policy: Floats, low: Floats, high: Floats, ties: Ties, eta: float, gamma: float, diagonal: Floats) -> None:
    """Write the diagonal of I - gamma C for the policy that is greedy for ``policy``."""
    n, columns = low.shape
    ones = np.ones((n, columns))
    for a in range(n):
        for k in range(columns):
            diagonal[a, k] = 0.0
    moves = np.empty((n, columns))
    _product(ones, policy, low, high, ties, eta, 1.0, diagonal, moves)
    for a in range(n):
        for k in range(columns):
            diagonal[a, k] = (1.0 - gamma) - gamma * moves[a, k]


@kernel
def _product(
    values: Floats,
    policy: Floats,
    low: Floats,
    high: Floats,
    ties: Ties,
    eta: float,
    gamma: float,
    diagonal: Floats,
    image: Floats,
) -> None:
    """Write (I - gamma C) v for the policy that is greedy for ``policy``."""
    n, columns = low.shape
    tie = 1.0 / POPULATION
    for a in range(n):
        lows = low[a]
        highs = high[a]
        chosen = policy[a]
        row = values[a]
        for k in range(columns):
            # The second player descends. A move is possible unless its payoff is certainly higher.
            bottom = lows[k]
            top = highs[k]
            here = chosen[k]
            total = 0.0
            for j in range(columns):
                on = (lows[j] <= top) & ((highs[j] < bottom) | (chosen[j] > here))
                total += row[j] if on else 0.0
            # Ties have equal intervals, so they were taken for uncertain: put right here, a third faster than asking
            # in the loop above.
            for i in range(ties.first[a, k], ties.end[a, k]):
                j = ties.members[a, i]
                if j != k:
                    total += tie * row[j] - (row[j] if chosen[j] > here else 0.0)
            image[a, k] = total
        for b in range(n):
            # The first player climbs.
            if b == a:
                continue
            for k in range(columns):
                on = (high[b, k] >= low[a, k]) & ((low[b, k] > high[a, k]) | (policy[b, k] > policy[a, k]))
                weight = 1.0 if on else 0.0
                weight = tie if ties.same[b, k] == ties.same[a, k] else weight
                image[a, k] += weight * values[b, k]
        for k in range(columns):
            image[a, k] = diagonal[a, k] * values[a, k] - gamma * eta * image[a, k]
