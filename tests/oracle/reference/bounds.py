"""Oracle for bounds with parts: every part of every state written out, every rate in a dense array.

As in `judging`: column k = e * n + r, state s = a * (m * n) + k. A state is taken for a part of its own interval, every
other state for anything in its whole interval. Source of the operator: docs/theory/propagation.md, (5.2), and the
paper's Appendix C for one part per state, which is the whole interval.
"""

import itertools
import math

import numpy as np

from oracle.reference import judging
from oracle.reference.judging import Floats, Integers, Interval

#: The largest number below one half and the smallest above it: ends of parts that exclude one half.
BELOW = math.nextafter(0.5, 0.0)
ABOVE = math.nextafter(0.5, 1.0)


def pieces(low: float, high: float, count: int) -> list[Interval]:
    """Return an interval cut into `count` of equal width, which share their ends."""
    cuts = [low + number * (high - low) / count for number in range(count)]
    return list(itertools.pairwise([*cuts, high]))


def parts_of(low: float, high: float, parts: int) -> list[Interval]:
    """Return the parts of an interval: so many on either side of one half, and one half itself, if they are in it."""
    if parts == 0 or low == high:
        return [(low, high)]
    if not low <= 0.5 <= high:
        return pieces(low, high, parts)
    below = pieces(low, BELOW, parts) if low < 0.5 else []
    above = pieces(ABOVE, high, parts) if high > 0.5 else []
    return [*below, (0.5, 0.5), *above]


def rates(
    own: Interval, other: Interval, sign: int, own_id: int, other_id: int, eta: float, parts: int
) -> tuple[float, float]:
    """Return the least and the largest rate of a move, to a payoff that is wanted larger (sign 1) or smaller (-1)."""
    if own_id == other_id or (parts > 0 and own == (0.5, 0.5) and other_id == judging.HALF):
        return eta / judging.POPULATION, eta / judging.POPULATION
    certain = other[0] > own[1] if sign > 0 else other[1] < own[0]
    impossible = other[1] < own[0] if sign > 0 else other[0] > own[1]
    return (eta if certain else 0.0), (0.0 if impossible else eta)


def bound(
    low: Floats,
    high: Floats,
    ids: Integers,
    parts: int,
    base: Floats,
    plus: int = -1,
    minus: int = -1,
    shares: judging.Shares = None,
) -> tuple[float, Floats]:
    """
    Return the largest average of rewards (m, n) that the intervals allow, and the values v = T v of all states.

    In the row of algorithm `plus` the reward is lower by what the part's top is below the interval's; in that of
    `minus`, by what its bottom is above it. By policy iteration, which ends when a policy comes again.
    """
    n, m, _ = low.shape
    bottom, top, names = low.reshape(-1), high.reshape(-1), ids.reshape(-1)
    states, columns = n * m * n, m * n
    gamma, eta = judging.damping(n, m, shares), judging.edge_rate(n, judging.family_count(m, shares))
    choices = [parts_of(float(bottom[s]), float(top[s]), parts) for s in range(states)]
    most = max(map(len, choices))
    # A state with fewer parts than others has its last one several times.
    choices = [[*found, *[found[-1]] * (most - len(found))] for found in choices]
    reward = np.tile(judging.reward_of(base)[:, None], (1, most))
    least, spare = np.zeros((states, most, states)), np.zeros((states, most, states))
    for s, part in itertools.product(range(states), range(most)):
        if s // columns == plus:
            reward[s, part] -= top[s] - choices[s][part][1]
        if s // columns == minus:
            reward[s, part] -= choices[s][part][0] - bottom[s]
    for (s, t, sign), part in itertools.product(judging.moves(n, m), range(most)):
        other = (float(bottom[t]), float(top[t]))
        rate = eta * judging.move_share(t, sign, n, m, shares)
        fewest, largest = rates(choices[s][part], other, sign, int(names[s]), int(names[t]), rate, parts)
        least[s, part, t], spare[s, part, t] = fewest, largest - fewest

    everywhere = np.arange(states)
    part_of_state, on = np.zeros(states, dtype=np.int64), np.zeros((states, states), dtype=np.bool_)
    seen = set()
    v = np.zeros(states)
    while (key := (part_of_state.tobytes(), on.tobytes())) not in seen:
        seen.add(key)
        c = judging.with_stays(least[everywhere, part_of_state] + spare[everywhere, part_of_state] * on)
        v = judging.value(reward[everywhere, part_of_state], c, gamma)
        ahead = v[None, :] - v[:, None]
        # Gains below rounding are none: else policies that are equally good take turns.
        on = ahead > 1e-12 * np.abs(v).max()
        worth = reward + gamma * ((least + spare * on[:, None, :]) * ahead[:, None, :]).sum(axis=2)
        better = worth.max(axis=1) > worth[everywhere, part_of_state] + 1e-14 * np.abs(v).max()
        part_of_state = np.where(better, worth.argmax(axis=1), part_of_state)
    return judging.average(v, n, m, shares), v


def aggregate_bounds(low: Floats, high: Floats, ids: Integers, parts: int) -> tuple[Floats, Floats]:
    """Return (Y-, Y+), each (n,): bounds on all aggregates."""
    n = len(low)
    least = [-bound(low, high, ids, parts, -low[a], minus=a)[0] for a in range(n)]
    most = [bound(low, high, ids, parts, high[a], plus=a)[0] for a in range(n)]
    return np.array(least), np.array(most)


def difference_bounds(low: Floats, high: Floats, ids: Integers, parts: int) -> Floats:
    """Return (n, n): upper bounds on y[i] - y[l]; 0 on the diagonal."""
    n = len(low)
    result = np.zeros((n, n))
    for i, j in itertools.permutations(range(n), 2):
        result[i, j] = bound(low, high, ids, parts, high[i] - low[j], plus=i, minus=j)[0]
    return result
