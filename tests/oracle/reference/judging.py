"""Oracle for the statistics: percentiles, the game, intervals and their propagation, each written from its formula.

Source of the formulas: Jordan et al. (2020), main text and appendices B, C, D and "Alternative Bounding Techniques".
n algorithms, m environments; a algorithm, e environment, r reference. cells[a][e] is an array of scores, empty if
missing. z[a, e, r] is how well a does on e as a percentile of r. Column k = e * n + r, state s = a * (m * n) + k.
kinds[e][a] are labels: equal labels on an environment are definitions declared identical there, and their samples are
pooled. Everything is dense and slow.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, stats

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Cells = Sequence[Sequence[Floats]]
Kinds = Sequence[Sequence[int]] | Integers
Payoff = Literal["mid-rank", "at-most"]
Interval = tuple[float, float]
Support = tuple[float, float]

POPULATION = 50
#: What part of one environment each counts: 1/k for k variants of one; None where there are none.
Shares = Sequence[float] | Floats | None
HALF = 0  # the id of every payoff that is one half by definition


# --- percentiles


def pooled(cells: Cells, kinds: Kinds | None) -> list[list[Floats]]:
    """Return the cells, each with the samples of all that is declared identical to it there, in order of algorithm."""
    n, m = len(cells), len(cells[0])
    result = []
    for a in range(n):
        row = []
        for e in range(m):
            same = [b for b in range(n) if b == a or (kinds is not None and kinds[e][b] == kinds[e][a])]
            row.append(np.concatenate([np.asarray(cells[b][e], dtype=np.float64) for b in same]))
        result.append(row)
    return result


def identical(kinds: Kinds | None, e: int, a: int, r: int) -> bool:
    """Whether a and r are one and the same on e."""
    return a == r or (kinds is not None and bool(kinds[e][a] == kinds[e][r]))


def twice_won(x: float, y: float, payoff: Payoff) -> int:
    """Return twice the payoff of score x against the reference's score y: 0, 1 or 2."""
    if payoff == "at-most":
        return 2 if y <= x else 0
    return 2 if y < x else 1 if y == x else 0


def percentiles(cells: Cells, payoff: Payoff, kinds: Kinds | None = None) -> Floats:
    """
    Return z (n, m, n), the mean payoff over all pairs of trials; nan where either cell is missing.

    "mid-rank" is P(X_r < X_a) + P(X_r = X_a) / 2, "at-most" is P(X_r <= X_a); 1/2 by definition for a against itself
    and against what is declared identical. Every z is one division of whole numbers, so equal fractions are equal
    doubles, whatever the sample sizes: the game asks whether payoffs are equal.
    """
    samples = pooled(cells, kinds)
    n, m = len(cells), len(cells[0])
    z = np.full((n, m, n), np.nan)
    for a, e, r in itertools.product(range(n), range(m), range(n)):
        mine, theirs = samples[a][e], samples[r][e]
        if identical(kinds, e, a, r):
            z[a, e, r] = 0.5
        elif len(mine) > 0 and len(theirs) > 0:
            won = sum(twice_won(x, y, payoff) for x in mine for y in theirs)
            z[a, e, r] = won / (2 * len(mine) * len(theirs))
    return z


# --- the game


def moves(n: int, m: int) -> Iterator[tuple[int, int, int]]:
    """Yield (s, s', sign): sign is +1 if player one moves, who changes a and wants z high, -1 if player two does."""
    columns = m * n
    for a, k in itertools.product(range(n), range(columns)):
        for other in range(n):
            if other != a:
                yield a * columns + k, other * columns + k, 1
        for other in range(columns):
            if other != k:
                yield a * columns + k, a * columns + other, -1


def family_count(m: int, shares: Shares = None) -> int:
    """Return how many environments there are, variants of one counted once; shares[e] is 1/k for each of k variants."""
    return m if shares is None else round(sum(shares))


def move_share(t: int, sign: int, n: int, m: int, shares: Shares = None) -> float:
    """Return what part of eta a move to state t has: player two's move to one of k variants has 1/k of it."""
    return 1.0 if shares is None or sign > 0 else float(shares[t % (m * n) // n])


def start(n: int, m: int, shares: Shares = None) -> Floats:
    """Return where a walk begins, (|S|,): evenly over families, and in a family over its variants."""
    each = np.ones(m) if shares is None else np.asarray(shares, dtype=np.float64)
    found: Floats = np.tile(np.repeat(each, n), n) / (n * n * family_count(m, shares))
    return found


def damping(n: int, m: int, shares: Shares = None) -> float:
    """Return gamma of the game in which variants of one environment count once."""
    return discount(n * n * family_count(m, shares))


def edge_rate(n: int, m: int) -> float:
    """Return eta = 1 / ((n - 1) + (m n - 1))."""
    return 1.0 / ((n - 1) + (m * n - 1))


def discount(states: int) -> float:
    """Return gamma = (|S| - 1) / |S|."""
    return (states - 1) / states


def with_stays(c: Floats) -> Floats:
    """Return C with the rest of every row on the diagonal."""
    result = c.copy()
    np.fill_diagonal(result, 0.0)
    np.fill_diagonal(result, 1.0 - result.sum(axis=1))
    return result


def transition_matrix(z: Floats, population: int = POPULATION, shares: Shares = None) -> Floats:
    """
    Return C (|S|, |S|) for known payoffs, eq. (cmat): eta if the mover gains, eta / population if equal, else 0.

    With families, the diagonal has what is left of 1, which may be slightly negative.
    """
    if np.isnan(z).any():
        raise ValueError("a payoff is unknown: the game needs them all")
    n, m, _ = z.shape
    u = z.reshape(-1)
    eta = edge_rate(n, family_count(m, shares))
    c = np.zeros((len(u), len(u)))
    for s, t, sign in moves(n, m):
        rate = eta * move_share(t, sign, n, m, shares)
        if sign * u[t] > sign * u[s]:
            c[s, t] = rate
        elif u[t] == u[s]:
            c[s, t] = rate / population
    return with_stays(c)


def equilibrium(c: Floats) -> Floats:
    """Return d = (1 - gamma) / |S| 1' (I - gamma C)^-1, the stationary distribution of the damped chain."""
    states = len(c)
    gamma = discount(states)
    d: Floats = np.linalg.solve((np.eye(states) - gamma * c).T, np.full(states, (1.0 - gamma) / states))
    return d


def weights(d: Floats, n: int, m: int) -> Floats:
    """Return q (m, n): d summed over player one's strategies."""
    q: Floats = d.reshape(n, m, n).sum(axis=0)
    return q


def equilibrium_with_families(z: Floats, shares: Shares = None) -> Floats:
    """Return d (|S|,), the solution of d = (1 - gamma) start + gamma d C."""
    n, m, _ = z.shape
    gamma, c = damping(n, m, shares), transition_matrix(z, shares=shares)
    return np.asarray(np.linalg.solve((np.eye(len(c)) - gamma * c).T, (1.0 - gamma) * start(n, m, shares)))


def aggregate(z: Floats, shares: Shares = None) -> tuple[Floats, Floats]:
    """Return y (n,) and q (m, n): y[a] = sum over (e, r) of q[e, r] z[a, e, r]."""
    n, m, _ = z.shape
    d = equilibrium(transition_matrix(z)) if shares is None else equilibrium_with_families(z, shares)
    q = weights(d, n, m)
    y = np.array([np.sum(q * z[a]) for a in range(n)])
    return y, q


def simulated_weights(z: Floats, steps: int, rng: np.random.Generator) -> Floats:
    """Return q (m, n) as the share of steps a walk of the damped chain spends in each column."""
    n, m, _ = z.shape
    c = transition_matrix(z)
    states = len(c)
    gamma = discount(states)
    reach = np.cumsum(c, axis=1)
    visits = np.zeros(states)
    s = int(rng.integers(states))
    for _ in range(steps):
        if rng.random() < gamma:
            s = min(int(np.searchsorted(reach[s], rng.random(), side="right")), states - 1)
        else:
            s = int(rng.integers(states))
        visits[s] += 1.0
    return weights(visits / steps, n, m)


# --- intervals for z


def band(trials: int, delta: float) -> float:
    """Return epsilon of eq. (dkw): half the width of the band around a distribution function."""
    return math.sqrt(math.log(2.0 / delta) / (2.0 * trials))


def lowered(scores: Floats, epsilon: float, support: Support) -> list[tuple[float, float]]:
    """Return (score, mass) of the smallest distribution in the band: the top epsilon of mass goes to the lower end."""
    if min(scores) < support[0] or max(scores) > support[1]:
        raise ValueError("a score is outside the support")
    left = min(epsilon, 1.0)
    atoms = [(support[0], left)]
    for score in sorted(scores, reverse=True):
        taken = min(1.0 / len(scores), left)
        left -= taken
        atoms.append((score, 1.0 / len(scores) - taken))
    return atoms


def raised(scores: Floats, epsilon: float, support: Support) -> list[tuple[float, float]]:
    """Return (score, mass) of the largest distribution in the band: the lowest epsilon goes to the upper end."""
    mirrored = lowered(-np.asarray(scores, dtype=np.float64), epsilon, (-support[1], -support[0]))
    return [(-score, mass) for score, mass in mirrored]


def expected_payoff(mine: list[tuple[float, float]], theirs: list[tuple[float, float]], payoff: Payoff) -> float:
    """Return the mean payoff of two independent draws."""
    return sum(p * q * twice_won(x, y, payoff) / 2 for x, p in mine for y, q in theirs)


def dkw_anderson(
    cells: Cells,
    e: int,
    a: int,
    r: int,
    delta: float,
    support: Support,
    payoff: Payoff,
    kinds: Kinds | None = None,
) -> Interval:
    """
    Return (low, high) of z[a, e, r] over all pairs of distributions in the two bands of level delta each.

    The payoff rises with X_a and falls with X_r, so its least value has X_a as low and X_r as high as the bands allow.
    (0, 1) if a cell is empty, (1/2, 1/2) for what is identical. The support may be (-inf, inf).
    """
    if identical(kinds, e, a, r):
        return 0.5, 0.5
    samples = pooled(cells, kinds)
    mine, theirs = samples[a][e], samples[r][e]
    if len(mine) == 0 or len(theirs) == 0:
        return 0.0, 1.0
    my, their = band(len(mine), delta), band(len(theirs), delta)
    low = expected_payoff(lowered(mine, my, support), raised(theirs, their, support), payoff)
    high = expected_payoff(raised(mine, my, support), lowered(theirs, their, support), payoff)
    return low, high


def share_at_most(scores: Floats, x: float) -> float:
    """Return the empirical distribution function at x."""
    return sum(1 for score in scores if score <= x) / len(scores)


def upper_band(scores: Floats, x: float, delta: float, support: Support) -> float:
    """Return F+ of eq. (dkw) at x."""
    if x >= support[1]:
        return 1.0
    if x < support[0]:
        return 0.0
    return min(1.0, share_at_most(scores, x) + band(len(scores), delta))


def lower_band(scores: Floats, x: float, delta: float, support: Support) -> float:
    """Return F- of eq. (dkw) at x."""
    if x >= support[1]:
        return 1.0
    if x < support[0]:
        return 0.0
    return max(0.0, share_at_most(scores, x) - band(len(scores), delta))


def paper_anderson(cells: Cells, e: int, a: int, r: int, delta: float, support: Support) -> Interval:
    """Return (low, high) of z[a, e, r] exactly as in eq. (normbounds): "at-most", and nothing special for a = r."""
    mine, theirs = cells[a][e], cells[r][e]
    trials = len(mine)
    x = [support[0], *sorted(mine), support[1]]
    low = lower_band(theirs, x[trials], delta, support)
    for t in range(trials):
        rise = lower_band(theirs, x[t + 1], delta, support) - lower_band(theirs, x[t], delta, support)
        low -= rise * upper_band(mine, x[t], delta, support)
    high = upper_band(theirs, x[trials + 1], delta, support)
    for t in range(1, trials + 1):
        rise = upper_band(theirs, x[t + 1], delta, support) - upper_band(theirs, x[t], delta, support)
        high -= rise * lower_band(mine, x[t], delta, support)
    return low, high


def anderson_mean(scores: Floats, delta: float, support: Support) -> Interval:
    """Return (low, high) on a mean by Anderson's inequality with g(x) = x; an infinite end gives an infinite limit."""
    trials = len(scores)
    if trials == 0:
        return support
    x = [support[0], *sorted(scores), support[1]]
    low, high = x[trials], x[trials + 1]
    for t in range(trials):
        if math.isfinite(support[0]):
            low -= (x[t + 1] - x[t]) * upper_band(scores, x[t], delta, support)
    for t in range(1, trials + 1):
        if math.isfinite(support[1]):
            high -= (x[t + 1] - x[t]) * lower_band(scores, x[t], delta, support)
    return low if math.isfinite(support[0]) else -math.inf, high if math.isfinite(support[1]) else math.inf


def student(
    cells: Cells,
    e: int,
    a: int,
    r: int,
    delta: float,
    payoff: Payoff,
    probability: float | None = None,
    kinds: Kinds | None = None,
) -> Interval:
    """
    Return (low, high) of z[a, e, r] as PBP-t has it: mean of F_r(x_t) -+ t quantile * standard deviation / sqrt(T_a).

    The quantile is taken at `probability`, by default the paper's 1 - delta, on both sides. As in the paper, nothing is
    clipped to [0, 1]. (0, 1) if a cell is empty or a has one trial only, (1/2, 1/2) for what is identical.
    """
    if identical(kinds, e, a, r):
        return 0.5, 0.5
    samples = pooled(cells, kinds)
    mine, theirs = samples[a][e], samples[r][e]
    trials = len(mine)
    if trials < 2 or len(theirs) == 0:
        return 0.0, 1.0
    placements = [sum(twice_won(x, y, payoff) for y in theirs) / (2 * len(theirs)) for x in mine]
    mean = sum(placements) / trials
    deviation = math.sqrt(sum((mean - value) ** 2 for value in placements) / (trials - 1))
    quantile = float(stats.t.ppf(1.0 - delta if probability is None else probability, trials - 1))
    half = deviation / math.sqrt(trials) * quantile
    return mean - half, mean + half


# --- propagation


def structural_ids(kinds: Kinds) -> Integers:
    """Return ids (n, m, n): HALF where a and r are identical, else one for each environment and pair of labels."""
    m, n = len(kinds), len(kinds[0])
    names: dict[tuple[int, int, int], int] = {}
    ids = np.full((n, m, n), HALF, dtype=np.int64)
    for a, e, r in itertools.product(range(n), range(m), range(n)):
        if not identical(kinds, e, a, r):
            ids[a, e, r] = names.setdefault((e, int(kinds[e][a]), int(kinds[e][r])), len(names) + 1)
    return ids


def edge_bounds(
    low: Floats,
    high: Floats,
    ties: Literal["structural", "endpoints"],
    ids: Integers | None = None,
    population: int = POPULATION,
    shares: Shares = None,
) -> tuple[Floats, Floats]:
    """
    Return (C-, C+) for payoffs known only to lie in [low, high], eq. (cbounds).

    eta if certainly better (strictly), 0 if certainly worse, eta / population for a tie, otherwise from 0 to eta. A tie
    is "structural" if the two payoffs have equal ids, whatever their intervals; by "endpoints" (the paper's rule) if
    both ends of the intervals are equal. The diagonal has what the others leave: C-[s, s] = 1 - sum of C+, and so on.
    """
    n, m, _ = low.shape
    bottom, top = low.reshape(-1), high.reshape(-1)
    states = len(bottom)
    names = np.arange(states) if ids is None else ids.reshape(-1)
    if ties == "structural" and ids is None:
        raise ValueError("structural ties need ids")
    c_minus, c_plus = np.zeros((states, states)), np.zeros((states, states))
    for s, t, sign in moves(n, m):
        eta = edge_rate(n, family_count(m, shares)) * move_share(t, sign, n, m, shares)
        least = [bottom[i] if sign > 0 else -top[i] for i in (s, t)]
        most = [top[i] if sign > 0 else -bottom[i] for i in (s, t)]
        if ties == "structural" and names[s] == names[t]:
            rates = (eta / population, eta / population)
        elif least[1] > most[0]:
            rates = (eta, eta)
        elif least[0] > most[1]:
            rates = (0.0, 0.0)
        elif ties == "endpoints" and least[0] == least[1] and most[0] == most[1]:
            rates = (eta / population, eta / population)
        else:
            rates = (0.0, eta)
        c_minus[s, t], c_plus[s, t] = rates
    np.fill_diagonal(c_minus, 1.0 - c_plus.sum(axis=1))
    np.fill_diagonal(c_plus, 1.0 - (c_minus.sum(axis=1) - np.diag(c_minus)))
    return c_minus, c_plus


def uncertain_edges(c_minus: Floats, c_plus: Floats) -> list[tuple[int, int]]:
    """Return all (s, s'), s' other than s, whose rate is not known."""
    states = len(c_minus)
    return [(s, t) for s in range(states) for t in range(states) if s != t and c_plus[s, t] > c_minus[s, t]]


def chosen(c_minus: Floats, c_plus: Floats, on: Sequence[tuple[int, int]]) -> Floats:
    """Return the C with these uncertain edges at their upper rate and all others at their lower one."""
    c = c_minus.copy()
    for s, t in on:
        c[s, t] = c_plus[s, t]
    return with_stays(c)


def value(reward: Floats, c: Floats, gamma: float | None = None) -> Floats:
    """Return v = (I - gamma C)^-1 R, eq. (aggalgivalue)."""
    states = len(c)
    gamma = discount(states) if gamma is None else gamma
    return np.asarray(np.linalg.solve(np.eye(states) - gamma * c, reward), dtype=np.float64)


def mean_value(v: Floats) -> float:
    """Return y = (1 - gamma) mean(v)."""
    return (1.0 - discount(len(v))) * float(np.mean(v))


def average(v: Floats, n: int, m: int, shares: Shares = None) -> float:
    """Return y = (1 - gamma) times the mean of v over where a walk begins."""
    return (1.0 - damping(n, m, shares)) * float(start(n, m, shares) @ v)


def bound_by_linear_programming(reward: Floats, c_minus: Floats, c_plus: Floats) -> float:
    """
    Return the maximum of y over all C in the box, by eq. (lpbound) with its constraint for all C, not for one.

    The worst case of a row is the sum over its uncertain edges of (c+ - c-) max(0, v(s') - v(s)). Each maximum is a
    variable w with w >= 0 and w >= v(s') - v(s), which makes all of it linear.
    """
    states = len(reward)
    gamma = discount(states)
    uncertain = uncertain_edges(c_minus, c_plus)
    least = chosen(c_minus, c_plus, [])
    rows = np.zeros((states + len(uncertain), states + len(uncertain)))
    limits = np.zeros(states + len(uncertain))
    rows[:states, :states] = gamma * least - np.eye(states)
    limits[:states] = -reward
    for index, (s, t) in enumerate(uncertain):
        rows[s, states + index] = gamma * (c_plus[s, t] - c_minus[s, t])
        rows[states + index, [t, s, states + index]] = [1.0, -1.0, -1.0]
    solution: Any = optimize.linprog(
        np.concatenate([np.ones(states), np.zeros(len(uncertain))]),
        A_ub=rows,
        b_ub=limits,
        bounds=[(None, None)] * states + [(0.0, None)] * len(uncertain),
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if solution.status != 0:
        raise RuntimeError(solution.message)
    return mean_value(np.asarray(solution.x[:states], dtype=np.float64))


def bound_by_enumeration(reward: Floats, c_minus: Floats, c_plus: Floats, most: int = 16) -> tuple[float, Floats]:
    """Return the maximum of y over all ways to have the uncertain edges on or off, and a C that attains it."""
    uncertain = uncertain_edges(c_minus, c_plus)
    if len(uncertain) > most:
        raise ValueError(f"{len(uncertain)} uncertain edges are too many to try all, {most} are allowed")
    best, attained = -math.inf, c_minus
    for switches in itertools.product([False, True], repeat=len(uncertain)):
        c = chosen(c_minus, c_plus, [edge for edge, on in zip(uncertain, switches, strict=True) if on])
        y = mean_value(value(reward, c))
        if y > best:
            best, attained = y, c
    return best, attained


def largest_with_families(
    reward: Floats, c_minus: Floats, c_plus: Floats, n: int, m: int, shares: Shares, most: int = 16
) -> float:
    """Return the maximum of y over all ways to have the uncertain edges on or off, in the game with families."""
    uncertain = uncertain_edges(c_minus, c_plus)
    if len(uncertain) > most:
        raise ValueError(f"{len(uncertain)} uncertain edges are too many to try all, {most} are allowed")
    found = -math.inf
    for switches in itertools.product([False, True], repeat=len(uncertain)):
        c = chosen(c_minus, c_plus, [edge for edge, on in zip(uncertain, switches, strict=True) if on])
        found = max(found, average(value(reward, c, damping(n, m, shares)), n, m, shares))
    return found


def bellman(v: Floats, reward: Floats, c_minus: Floats, c_plus: Floats) -> Floats:
    """Return T v, T the optimal Bellman operator: an uncertain edge is on iff v(s') > v(s)."""
    on = [(s, t) for s, t in uncertain_edges(c_minus, c_plus) if v[t] > v[s]]
    result: Floats = reward + discount(len(v)) * chosen(c_minus, c_plus, on) @ v
    return result


def bound_by_policy_iteration(reward: Floats, c_minus: Floats, c_plus: Floats) -> tuple[float, Floats]:
    """Return the maximum of y over the box, and the C that attains it; ends when a choice of edges comes again."""
    uncertain = uncertain_edges(c_minus, c_plus)
    on: tuple[tuple[int, int], ...] = ()
    seen = set()
    while on not in seen:
        seen.add(on)
        c = chosen(c_minus, c_plus, on)
        v = value(reward, c)
        # Values that differ by rounding are equal: else thousands of policies that are equally good take turns.
        on = tuple((s, t) for s, t in uncertain if v[t] > v[s] + 1e-12 * float(np.abs(v).max()))
    return mean_value(v), c


def reward_of(payoffs: Floats) -> Floats:
    """Return R(s) for all states from payoffs (m, n) by column: player one's own strategy does not matter."""
    n = payoffs.shape[1]
    return np.tile(payoffs.reshape(-1), n)


def aggregate_bounds(low: Floats, high: Floats, c_minus: Floats, c_plus: Floats) -> tuple[Floats, Floats]:
    """Return (Y-, Y+), each (n,): the least and the largest y over the box."""
    n = len(low)
    least = [-bound_by_policy_iteration(-reward_of(low[a]), c_minus, c_plus)[0] for a in range(n)]
    most = [bound_by_policy_iteration(reward_of(high[a]), c_minus, c_plus)[0] for a in range(n)]
    return np.array(least), np.array(most)


def difference_bounds(low: Floats, high: Floats, c_minus: Floats, c_plus: Floats) -> Floats:
    """Return (n, n): upper bounds on y[i] - y[l], the same weights serving both; 0 on the diagonal."""
    n = len(low)
    result = np.zeros((n, n))
    for i, j in itertools.permutations(range(n), 2):
        result[i, j] = bound_by_policy_iteration(reward_of(high[i] - low[j]), c_minus, c_plus)[0]
    return result


# --- bootstrap and ranks


def bootstrap_replicate(
    cells: Cells, indices: Sequence[Sequence[Integers]], payoff: Payoff = "at-most", kinds: Kinds | None = None
) -> tuple[Floats, Floats]:
    """Return z (n, m, n) and y (n,) of the cells resampled: cells[a][e][indices[a][e]]; pooled after that."""
    resampled = [
        [np.asarray(cell)[index] for cell, index in zip(row, row_indices, strict=True)]
        for row, row_indices in zip(cells, indices, strict=True)
    ]
    z = percentiles(resampled, payoff, kinds)
    return z, aggregate(z)[0]


def ranks(score: Floats, low: Floats, high: Floats) -> tuple[Integers, Integers, Integers]:
    """
    Return rank, worst, best, each (n,), 1 for the first.

    rank is 1 + the number of strictly better scores; best is 1 + the number whose lower bound exceeds my upper one;
    worst is n - the number whose upper bound is below my lower one.
    """
    n = len(score)
    rank = [1 + sum(score[j] > score[i] for j in range(n)) for i in range(n)]
    best = [1 + sum(low[j] > high[i] for j in range(n)) for i in range(n)]
    worst = [n - sum(high[j] < low[i] for j in range(n)) for i in range(n)]
    return np.array(rank, dtype=np.int64), np.array(worst, dtype=np.int64), np.array(best, dtype=np.int64)


# --- what tests draw


def random_cells(rng: np.random.Generator, n: int, m: int, least: int = 1, most: int = 8, levels: int = 6) -> Cells:
    """Return cells of `least` to `most` trials whose scores are whole numbers below `levels`: there are ties."""
    return [
        [rng.integers(levels, size=rng.integers(least, most + 1)).astype(np.float64) for _ in range(m)]
        for _ in range(n)
    ]


def random_board(
    rng: np.random.Generator, n: int, m: int, width: float = 0.2, levels: int = 20, kinds: Kinds | None = None
) -> tuple[Floats, Floats, Integers]:
    """
    Return (low, high, ids), each (n, m, n), of a board as the mid-rank payoff gives it.

    Centres and half widths (0 to `width`) are multiples of 1 / levels, so that ends of intervals meet and are equal at
    times. z[a, e, r] + z[r, e, a] = 1, HALF is exact, and payoffs with equal ids have equal intervals.
    """
    kinds = [list(range(n))] * m if kinds is None else kinds
    ids = structural_ids(kinds)
    low, high = np.full((n, m, n), 0.5), np.full((n, m, n), 0.5)
    done: dict[int, tuple[float, float]] = {HALF: (0.5, 0.5)}
    for a, e, r in itertools.product(range(n), range(m), range(n)):
        if ids[a, e, r] not in done:
            centre = int(rng.integers(levels + 1))
            reach = int(rng.integers(int(width * levels) + 1))
            bottom, top = max(centre - reach, 0), min(centre + reach, levels)
            done[ids[a, e, r]] = (bottom / levels, top / levels)
            done[ids[r, e, a]] = ((levels - top) / levels, (levels - bottom) / levels)
        low[a, e, r], high[a, e, r] = done[ids[a, e, r]]
    return low, high, ids
