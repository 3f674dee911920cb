"""Performance bound propagation, from intervals on percentiles to bounds on aggregates (the paper's Appendix C).

The largest aggregate over every game the intervals allow is the value of a Markov decision process: states are the
joint strategies, the reward of (a, (e, r)) is the end of the interval on z[i, e, r], and the decisions are the moves
whose payoffs' intervals overlap. Raising such a move's probability to eta takes it from staying put, which always has
enough, so each is decided alone: on exactly when it leads to a higher value. With v the value of every state,

    (T v)(s) = R(s) + gamma [v(s) + sum over moves of c(s, s') (v(s') - v(s))],

c = eta for a certain improvement, eta/50 for a structural tie, eta 1[v(s') > v(s)] for an uncertain one. Policy
iteration solves v = T v; its linear systems are solved by BiCGSTAB, whose products (`untuned.judge.transitions`) are
computed from the intervals themselves: memory grows with the number of states, not with its square.

**Parts.** This lets one payoff be above 1/2 for one move and below it for another. But every algorithm has exactly 1/2
against itself, on every environment: so every payoff is compared with many known ones, and cannot be on both sides of
them. With ``parts`` each state also chooses a part of its interval, split at 1/2 and possibly further, and

    (T v)(s) = max over the parts of its interval of [ the same, with only that part for the state's own payoff ].

In the states (i, .) the reward is their own payoff, so there it ends where the part does. The true game is among the
allowed ones, so the bound is valid; it is never wider, and much narrower where many payoffs are near 1/2.

Whatever v is, with rho = max (T v - v), the bound is at most (1 - gamma) mean(v) + rho: T is monotone and adding a
constant c to v adds gamma c to T v, so v* <= v + rho/(1 - gamma). That bound is returned, with an allowance for
rounding: stopping early makes a bound wider, never wrong.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from untuned.judge import bicgstab
from untuned.judge.arrays import column_mean, copy, extent, fill
from untuned.judge.jit import kernel
from untuned.judge.simultaneous_intervals import Boxes
from untuned.judge.threads import mapped
from untuned.judge.transitions import (
    Board,
    Policy,
    board,
    departures,
    new_policy,
    part_of,
    rank_worth,
    settle,
)
from untuned.scores import Floats


class Limits(NamedTuple):
    """How much work a bound may take: an unfinished one is wider, not wrong.

    Attributes
    ----------
    policies
        The largest number of policies.
    iterations
        The largest number of iterations for the system of each.
    slack
        Stop when the bound is known to be this close to the best one.
    enough
        Stop when the bound is below this.
    """

    policies: int = 100
    iterations: int = 300
    # An aggregate is reported to four digits: a bound wider by this is as good, and saves an iteration.
    slack: float = 1e-11
    enough: float = -np.inf


LIMITS = Limits()


class Goal(NamedTuple):
    """A goal to maximise: a reward averaged over the equilibrium.

    Attributes
    ----------
    reward
        Reward of every (environment, reference), of any sign.
    plus, minus
        The algorithms whose payoffs it contains, by their upper and lower ends; -1 for none. In their own rows the
        reward ends where the state's chosen part does.
    """

    reward: Floats
    plus: int = -1
    minus: int = -1


class Solution(NamedTuple):
    """A bound, with its certificate.

    Attributes
    ----------
    bound
        At least as large as every average the intervals allow.
    slack
        How much the bound may exceed the largest average.
    values
        Value of every state: where the next solution may begin.
    """

    bound: float
    slack: float
    values: Floats


@dataclass(frozen=True, eq=False)
class Bounds:
    """Bounds on every aggregate, which hold simultaneously when all intervals on percentiles do.

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


def propagated(
    boxes: Boxes, *, parts: int = 0, workers: int = 1, advance: Callable[[int], None] | None = None
) -> Bounds:
    """Return the bounds on every algorithm's aggregate when the weights are the game's equilibrium.

    Parameters
    ----------
    boxes
        Intervals on the percentiles.
    parts
        The number of parts of an interval on each side of 1/2; 0, as published, leaves it whole.
    workers
        How many threads solve bounds at the same time; the numbers do not depend on it.
    advance
        Called with 1 after every bound, 2 n times in all, in the caller's thread.
    """
    return bounds_of(solutions(aggregate_goals(boxes), boxes, parts=parts, workers=workers, advance=advance))


def aggregate_goals(boxes: Boxes) -> list[Goal]:
    """Return the goals of bounds on all aggregates: n upper ones, then n lower ones."""
    n = boxes.low_aer.shape[0]
    upper = [Goal(boxes.high_aer[i], plus=i) for i in range(n)]
    return upper + [Goal(-boxes.low_aer[i], minus=i) for i in range(n)]


def bounds_of(found: Sequence[Solution]) -> Bounds:
    """Return the solutions of `aggregate_goals` as bounds."""
    n = len(found) // 2
    ends = np.array([each.bound for each in found])
    return Bounds(-ends[n:], ends[:n], max(each.slack for each in found))


def weighted(boxes: Boxes, q_er: Floats) -> Bounds:
    """Return the bounds on every aggregate for weights chosen before the scores were seen (the paper's Lemma 2)."""
    low = np.einsum("aer,er->a", boxes.low_aer, q_er)
    high = np.einsum("aer,er->a", boxes.high_aer, q_er)
    return Bounds(low, high, 0.0)


def solutions(
    goals: Sequence[Goal],
    boxes: Boxes,
    *,
    parts: int = 0,
    limits: Limits = LIMITS,
    workers: int = 1,
    advance: Callable[[int], None] | None = None,
) -> list[Solution]:
    """Return the solution of every goal; ``limits`` is for each, the other options are those of `propagated`."""
    made = board(boxes, parts)

    def solve(goal: Goal) -> Solution:
        return solution(goal, made, limits)[0]

    found = []
    for each in mapped(solve, goals, workers):
        found.append(each)
        if advance is not None:
            advance(1)
    return found


def solution(goal: Goal, made: Board, limits: Limits = LIMITS, start: Floats | None = None) -> tuple[Solution, Policy]:
    """Return the solution of one goal and its last policy, from the values ``start`` if they are given."""
    reward = np.ascontiguousarray(goal.reward, dtype=np.float64).ravel()
    # Only differences of values matter: with rewards around zero, values stay small and precise.
    centre = float(reward.mean())
    values = np.tile(reward - centre, (made.low.shape[0], 1)) if start is None else start.copy()
    policy = new_policy(made)
    bound, slack = _maximum(reward, goal.plus, goal.minus, centre, values, policy, made, limits)
    return Solution(bound, slack, values), policy


# Bounds from the first policies may be worse than the initial one.
_PATIENCE = 20
_SWEEPS = 10


@kernel
def _maximum(
    reward: Floats,
    plus: int,
    minus: int,
    centre: float,
    values: Floats,
    policy: Policy,
    board: Board,
    limits: Limits,
) -> tuple[float, float]:
    """Return a bound on the largest average, and how much it may exceed the largest; improve ``values``."""
    n, columns = board.low.shape
    gamma = board.gamma
    spread = 0.0
    for k in range(columns):
        spread = max(spread, abs(reward[k] - centre))
    kept = np.empty((n, columns))
    copy(values, kept)
    rewards = np.empty((n, columns))
    work = bicgstab.workspace(n, columns)

    best = np.inf
    slack = np.inf
    narrowest = np.inf
    waited = 0
    for _ in range(limits.policies):
        # The residual of the policy that is greedy for v is T v - v.
        _improve(values, reward, plus, minus, centre, policy, board, rewards, work)
        fall, rho = extent(work.residual)
        lowest, highest = extent(values)
        largest = max(abs(lowest), abs(highest))
        average = (1.0 - gamma) * column_mean(values, board.share)
        # A generous allowance for rounding sums of n + columns terms of size up to 2 eta |v|, and a mean.
        rounding = 8.0 * np.finfo(np.float64).eps * ((n + columns) * largest + spread + abs(centre) + 1.0)
        # From below: with fall = min (T v - v), the greedy policy's own average is at least average + fall.
        gap = rho - fall
        found = centre + average + rho + rounding
        if not np.isfinite(found) or largest > 2.0 * (spread + 1.0) / (1.0 - gamma):
            # No policy has such values: the solver broke down. Restart from the best values.
            waited += 1
            if waited >= _PATIENCE:
                break
            copy(kept, values)
            continue
        best = min(best, found)
        if gap < 0.9 * narrowest:
            waited = 0
        else:
            waited += 1
        if gap < narrowest:
            narrowest = gap
            slack = gap + 2.0 * rounding
            copy(values, kept)
        if gap <= max(limits.slack, rounding) or waited >= _PATIENCE or best < limits.enough:
            break

        # If the last solution gained nothing, the method may have broken down. Another residual may do better.
        for _ in range(_SWEEPS if waited > 0 else 0):
            bicgstab.sweep(work, values)
            _residual(values, policy, board, rewards, work)

        # Solve this policy's system accurately enough for the next policy to be better.
        wanted = max(1e-3 * gap, 0.1 * limits.slack)
        bicgstab.begin(work)
        for _ in range(limits.iterations):
            if not bicgstab.aim(work):
                break
            _product(work.scaled, policy, board, work.diagonal, work.image)
            if not bicgstab.first_step(work, values):
                break
            _product(work.scaled, policy, board, work.diagonal, work.second_image)
            if not bicgstab.second_step(work, values):
                break
            lowest, highest = extent(work.residual)
            size = max(abs(lowest), abs(highest))
            if size <= wanted or not size < bicgstab.EXPLODED:
                break
    copy(kept, values)
    return best, slack


@kernel
def _improve(
    values: Floats,
    reward: Floats,
    plus: int,
    minus: int,
    centre: float,
    policy: Policy,
    board: Board,
    rewards: Floats,
    work: bicgstab.Work,
) -> None:
    """Make the policy greedy for ``values``; write its rewards, the diagonal of its system, and T v - v."""
    n, columns = values.shape
    eta, gamma = board.eta, board.gamma
    ones = np.empty((n, columns))
    fill(ones, 1.0)
    sums = work.image
    counts = work.second_image
    bottoms = np.empty((n, columns))
    tops = np.empty((n, columns))
    copy(values, policy.worth)
    rank_worth(policy, board)
    fill(work.residual, -np.inf)
    for part in range(2 * board.parts + 1):
        for a in range(n):
            for k in range(columns):
                low, high = board.low[a, k], board.high[a, k]
                if board.parts > 0:
                    low, high = part_of(low, high, part, board.parts)
                policy.bottom[a, k] = low
                policy.top[a, k] = high
        settle(policy, board)
        departures(values, policy, board, sums)
        departures(ones, policy, board, counts)
        for a in range(n):
            for k in range(columns):
                gets = reward[k] - centre
                if a == plus:
                    gets += policy.top[a, k] - board.high[a, k]
                if a == minus:
                    gets += board.low[a, k] - policy.bottom[a, k]
                moves = gamma * eta * (sums[a, k] - counts[a, k] * values[a, k])
                gain = gets + moves - (1.0 - gamma) * values[a, k]
                if gain > work.residual[a, k]:
                    work.residual[a, k] = gain
                    work.diagonal[a, k] = (1.0 - gamma) + gamma * eta * counts[a, k]
                    rewards[a, k] = gets
                    bottoms[a, k] = policy.bottom[a, k]
                    tops[a, k] = policy.top[a, k]
    copy(bottoms, policy.bottom)
    copy(tops, policy.top)
    settle(policy, board)


@kernel
def _residual(values: Floats, policy: Policy, board: Board, rewards: Floats, work: bicgstab.Work) -> None:
    """Write the residual of the policy's system at ``values``."""
    _product(values, policy, board, work.diagonal, work.residual)
    rows, columns = values.shape
    for a in range(rows):
        for k in range(columns):
            work.residual[a, k] = rewards[a, k] - work.residual[a, k]


@kernel
def _product(values: Floats, policy: Policy, board: Board, diagonal: Floats, image: Floats) -> None:
    """Write (I - gamma C) v for the policy."""
    departures(values, policy, board, image)
    rows, columns = values.shape
    for a in range(rows):
        for k in range(columns):
            image[a, k] = diagonal[a, k] * values[a, k] - board.gamma * board.eta * image[a, k]
