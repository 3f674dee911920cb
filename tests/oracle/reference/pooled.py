"""Oracle for pooled verdicts: evidence that adds up over environments under weights fixed beforehand.

One environment at a time: samples[a] are the scores of a there (empty if missing), rho[r] the weights of the references
(they sum to 1), `weight` is the environment's own weight w. What is declared identical there is one column: `merged`
makes it one, and the functions below then take columns for algorithms. An arrangement gives every column a permutation
p of the positions of its sorted sample x, so that x[p[0]], x[p[1]], ... is an exchangeable order.

theta is the weighted sum over environments of d, and d is
    z(i, .) - z(j, .) averaged over the references (joint and split form, which estimate the same),
    P(i beats j) - 1/2 (head to head), the average of z(a, .) minus 1/2 (score), or the negative of that (upper side),
with P counting a tie for one half. A factor F of an environment has E F <= exp(lam w d). That is an average over the
samples AND over permutations which are uniform and independent of each other, from column to column and from
environment to environment, and of the scores; for one list of permutations fixed in advance it need not hold.

Why, for rows: given the permutations' randomness, rows are independent, D_t has mean d (at most d with references
missing) and -D_t <= b; the centre c_t depends on earlier rows and is at most (1 - EPSILON)/u - b, so 1 + u(D_t - c_t)
>= EPSILON > 0, and E exp(u c)(1 + u(D - c)) = exp(u c)(1 + u(d - c)) <= exp(u d). With u = lam w / R the R rows give
exp(lam w d).
"""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Literal, NamedTuple

import numpy as np
from scipy import optimize

Sample = Sequence[float]
Samples = Sequence[Sample]
Arrangement = Sequence[Sequence[int]]
Evidence = Sequence[Sequence[float]]
Verdicts = list[list[bool]]

EPSILON = 0.03


def payoff(x: float, y: float) -> float:
    """Return 1 for a win, 1/2 for a tie, 0 for a loss."""
    return 1.0 if x > y else 0.5 if x == y else 0.0


def log_sum(logs: Sequence[float]) -> float:
    """Return the log of the sum of exp."""
    top = max(logs)
    return top if math.isinf(top) else top + math.log(math.fsum(math.exp(each - top) for each in logs))


def merged(samples: Samples, rho: Sequence[float], kinds: Sequence[int]) -> tuple[list[int], list[Sample], list[float]]:
    """Return each algorithm's column, and the columns' samples and weights: equal kinds are declared identical."""
    labels = list(dict.fromkeys(kinds))
    columns = [labels.index(kind) for kind in kinds]
    members = [[a for a in range(len(kinds)) if columns[a] == column] for column in range(len(labels))]
    pooled: list[Sample] = [[x for a in who for x in samples[a]] for who in members]
    return columns, pooled, [math.fsum(rho[a] for a in who) for who in members]


# --- rows


def deal(sample: Sample, permutation: Sequence[int], rows: int, shift: int = 0, first: int = 0) -> list[list[float]]:
    """Return the rows: the trial at position k >= first goes to row (k - shift) mod rows."""
    x = sorted(sample)
    assert sorted(permutation) == list(range(len(x)))
    dealt: list[list[float]] = [[] for _ in range(rows)]
    for k in range(first, len(x)):
        dealt[(k - shift) % rows].append(x[permutation[k]])
    return dealt


def mean_payoff(mine: Sample, theirs: Sample) -> float:
    """Return the mean payoff over all pairs."""
    return sum(payoff(x, y) for x in mine for y in theirs) / (len(mine) * len(theirs))


def references(samples: Samples, rho: Sequence[float], others_than: Sequence[int] = ()) -> list[int]:
    """Return the references that have weight and trials."""
    return [r for r in range(len(samples)) if rho[r] > 0 and len(samples[r]) > 0 and r not in others_than]


def joint_rows(samples: Samples, rho: Sequence[float], players: Sequence[int]) -> int:
    """Return R, the smallest sample among the players and the references."""
    return min(len(samples[a]) for a in [*players, *references(samples, rho)])


def split_rows(samples: Samples, rho: Sequence[float], i: int, j: int, aside: int) -> int:
    """Return R when `aside` trials of i and of j are set aside."""
    players = [len(samples[i]) - aside, len(samples[j]) - aside]
    return min([*players, *(len(samples[r]) for r in references(samples, rho, (i, j)))])


def row_averages(
    samples: Samples, rho: Sequence[float], a: int, rows: int, arrangement: Arrangement, missing: float
) -> list[float]:
    """Return for every row the payoff of a averaged over the references, 1/2 against itself."""
    mine = deal(samples[a], arrangement[a], rows)
    averages = [0.0] * rows
    for r in range(len(samples)):
        if rho[r] == 0:
            continue
        theirs = deal(samples[r], arrangement[r], rows) if len(samples[r]) > 0 else None
        for t in range(rows):
            if r == a:
                averages[t] += rho[r] / 2
            elif theirs is None:
                averages[t] += rho[r] * missing
            else:
                averages[t] += rho[r] * mean_payoff(mine[t], theirs[t])
    return averages


def log_product(values: Sequence[float], u: float, bound: float, before: float = 0.0, weight: float = 0.0) -> float:
    """
    Return log prod_t exp(u c_t)(1 + u(D_t - c_t)), where D_t >= -bound.

    Centres are means of earlier rows, beginning with `weight` rows of value `before` and one of value 0.
    """
    total = 0.0
    for t, value in enumerate(values):
        mean = (weight * before + sum(values[:t])) / (weight + t + 1)
        centre = min(mean, (1 - EPSILON) / u - bound)
        total += u * centre + math.log1p(u * (value - centre))
    return total


class Past(NamedTuple):
    """Earlier rounds of an environment: mean payoffs of columns against columns, and how many rows they count as."""

    payoffs: Sequence[Sequence[float]]
    rows: float


def past_of(earlier: Samples) -> Past:
    """Return the centres from earlier trials: 1/2 where one of two has none, rows of the smallest sample."""
    return Past(
        [[mean_payoff(x, y) if len(x) > 0 and len(y) > 0 else 0.5 for y in earlier] for x in earlier],
        float(min(len(sample) for sample in earlier)),
    )


def past_average(past: Past, samples: Samples, rho: Sequence[float], a: int, missing: float) -> float:
    """Return the average of a over the references by earlier trials, with the same missing ones as this round."""
    return sum(
        weight * (0.5 if r == a else past.payoffs[a][r] if len(samples[r]) > 0 else missing)
        for r, weight in enumerate(rho)
    )


NOTHING = Past((), 0.0)


# --- the factor of an environment for one arrangement, as a log


def log_joint_factor(
    samples: Samples,
    rho: Sequence[float],
    i: int,
    j: int,
    arrangement: Arrangement,
    weight: float,
    lam: float,
    past: Past = NOTHING,
) -> float:
    """Return log F for y_i - y_j, joint form."""
    if i == j:
        return 0.0
    bound = 1 - (rho[i] + rho[j]) / 2
    if len(samples[i]) == 0 or len(samples[j]) == 0:
        return -lam * weight * bound
    rows = joint_rows(samples, rho, (i, j))
    high = row_averages(samples, rho, i, rows, arrangement, missing=0.0)
    low = row_averages(samples, rho, j, rows, arrangement, missing=1.0)
    before = 0.0
    if past.rows:
        before = past_average(past, samples, rho, i, 0.0) - past_average(past, samples, rho, j, 1.0)
    values = [x - y for x, y in zip(high, low, strict=True)]
    return log_product(values, lam * weight / rows, bound, before, past.rows)


def log_split_factor(
    samples: Samples,
    rho: Sequence[float],
    i: int,
    j: int,
    arrangement: Arrangement,
    weight: float,
    lam: float,
    aside: int,
    past: Past = NOTHING,
) -> float:
    """
    Return log F for y_i - y_j, split form: the direct comparison by `aside` pairs of trials of its own.

    With a and b the averages of i and of j over the other references in a row: given the references' trials they are
    independent, and both conditional means fall as any reference's score rises, so Cov(a, b) >= 0 (Harris), and
    E (1 + u(a - c_a))(1 - u(b - c_b)) is at most the product of the two means. Each factor is at least EPSILON.
    """
    if i == j:
        return 0.0
    if len(samples[i]) == 0 or len(samples[j]) == 0:
        return -lam * weight * (1 - (rho[i] + rho[j]) / 2)
    assert 1 <= aside < min(len(samples[i]), len(samples[j]))
    rows = split_rows(samples, rho, i, j, aside)
    others = [r for r in range(len(samples)) if r not in (i, j) and rho[r] > 0]
    whole = math.fsum(rho[r] for r in others)

    a, b = [0.0] * rows, [0.0] * rows
    of_i = deal(samples[i], arrangement[i], rows, shift=aside, first=aside)
    of_j = deal(samples[j], arrangement[j], rows, shift=aside, first=aside)
    for r in others:
        theirs = deal(samples[r], arrangement[r], rows, shift=aside) if len(samples[r]) > 0 else None
        for t in range(rows):
            a[t] += rho[r] * mean_payoff(of_i[t], theirs[t]) if theirs is not None else 0.0
            b[t] += rho[r] * mean_payoff(of_j[t], theirs[t]) if theirs is not None else rho[r]

    a_before = b_before = direct_before = 0.0
    if past.rows:
        a_before = sum(rho[r] * past.payoffs[i][r] for r in others if len(samples[r]) > 0)
        b_before = sum(rho[r] * (past.payoffs[j][r] if len(samples[r]) > 0 else 1.0) for r in others)
        direct_before = (rho[i] + rho[j]) * (past.payoffs[i][j] - 0.5)
    u = lam * weight / rows
    total = 0.0
    for t in range(rows):
        seen = past.rows + t + 1
        c_a = min((whole / 2 + past.rows * a_before + sum(a[:t])) / seen, (1 - EPSILON) / u)
        c_b = max((whole / 2 + past.rows * b_before + sum(b[:t])) / seen, whole - (1 - EPSILON) / u)
        total += u * (c_a - c_b) + math.log1p(u * (a[t] - c_a)) + math.log1p(-u * (b[t] - c_b))

    direct = rho[i] + rho[j]
    x_i, x_j = sorted(samples[i]), sorted(samples[j])
    pairs = [(x_i[arrangement[i][s]], x_j[arrangement[j][s]]) for s in range(aside)]
    values = [direct * (payoff(x, y) - 0.5) for x, y in pairs]
    return total + log_product(values, lam * weight / aside, direct / 2, direct_before, past.rows)


def log_head_to_head_factor(
    samples: Samples,
    i: int,
    j: int,
    arrangement: Arrangement,
    weight: float,
    lam: float,
    past: Past = NOTHING,
) -> float:
    """Return log F for P(i beats j) - 1/2, from the runs of these two alone."""
    if i == j:
        return 0.0
    if len(samples[i]) == 0 or len(samples[j]) == 0:
        return -lam * weight / 2
    rows = min(len(samples[i]), len(samples[j]))
    of_i, of_j = deal(samples[i], arrangement[i], rows), deal(samples[j], arrangement[j], rows)
    values = [mean_payoff(mine, theirs) - 0.5 for mine, theirs in zip(of_i, of_j, strict=True)]
    before = past.payoffs[i][j] - 0.5 if past.rows else 0.0
    return log_product(values, lam * weight / rows, 0.5, before, past.rows)


def log_score_factor(
    samples: Samples,
    rho: Sequence[float],
    a: int,
    arrangement: Arrangement,
    weight: float,
    lam: float,
    side: Literal["lower", "upper"],
    past: Past = NOTHING,
) -> float:
    """Return log F for y_a - 1/2 (lower side) or 1/2 - y_a (upper side)."""
    bound = (1 - rho[a]) / 2
    if len(samples[a]) == 0:
        return -lam * weight * bound
    rows = joint_rows(samples, rho, (a,))
    missing, sign = (0.0, 1.0) if side == "lower" else (1.0, -1.0)
    values = [sign * (each - 0.5) for each in row_averages(samples, rho, a, rows, arrangement, missing=missing)]
    before = sign * (past_average(past, samples, rho, a, missing) - 0.5) if past.rows else 0.0
    return log_product(values, lam * weight / rows, bound, before, past.rows)


def log_environment_factor(one: Callable[[Arrangement], float], arrangements: Sequence[Arrangement]) -> float:
    """Return the log of the mean factor over arrangements; `one` gives the log for one of them."""
    return log_sum([one(arrangement) for arrangement in arrangements]) - math.log(len(arrangements))


# --- rounds; numbers of rows of every environment, all of weight > 0


def round_stakes(
    ladder: Sequence[float], weights: Sequence[float], rows: Sequence[int], bounds: Sequence[float], part: float
) -> list[float]:
    """Return a round's stakes: ladder/V with V = sum of w^2/R, at most a part of 1/(sum of w^2 b/R)."""
    spread = math.fsum(w * w / r for w, r in zip(weights, rows, strict=True))
    worst = math.fsum(w * w * b / r for w, r, b in zip(weights, rows, bounds, strict=True))
    return [min(each / spread, part / worst if worst > 0 else math.inf) for each in ladder]


# --- evidence; log_factors[e][g] is log F_e(lambdas[g])


def log_evidence(
    log_factors: Sequence[Sequence[float]], lambdas: Sequence[float], pis: Sequence[float], theta0: float
) -> float:
    """Return log E(theta0), the evidence for theta > theta0."""
    return log_sum(
        [
            math.log(pi) - lam * theta0 + math.fsum(row[g] for row in log_factors)
            for g, (lam, pi) in enumerate(zip(lambdas, pis, strict=True))
        ]
    )


def lower_limit(
    log_factors: Sequence[Sequence[float]],
    lambdas: Sequence[float],
    pis: Sequence[float],
    log_threshold: float,
    lowest: float = -math.inf,
) -> float:
    """Return the theta0 at which log E(theta0), which falls, is the threshold; `lowest` if that is higher."""
    left, right = -1.0, 1.0
    while log_evidence(log_factors, lambdas, pis, left) < log_threshold:
        left *= 2
    while log_evidence(log_factors, lambdas, pis, right) > log_threshold:
        right *= 2
    for _ in range(200):
        middle = (left + right) / 2
        if log_evidence(log_factors, lambdas, pis, middle) >= log_threshold:
            left = middle
        else:
            right = middle
    return max(left, lowest)


def least_sum(logs: Sequence[float], weights: Sequence[float], c: float) -> float:
    """Return the minimum of sum_e s_e logs_e over 0 <= s_e <= 1 with sum_e weights_e s_e = 1/c."""
    found = optimize.linprog(np.array(logs), A_eq=np.array([weights]), b_eq=np.array([1 / c]), bounds=(0, 1))
    assert found.status == 0, found.message
    return float(found.fun)


def log_robust_evidence(
    log_factors: Sequence[Sequence[float]], weights: Sequence[float], pis: Sequence[float], c: float
) -> float:
    """
    Return log E_c, the evidence that i is better under every weighting v with v_e <= c weights_e.

    Such a weighting is v_e = c weights_e s_e with s as in `least_sum`. If sum_e v_e d_e <= 0 for one of them, then with
    its s, by Jensen (s_e <= 1), E prod_e F_e^s_e <= prod_e (E F_e)^s_e <= exp(lam sum_e s_e weights_e d_e) <= 1, and
    the minimum over s is no larger. Environments of weight 0 do not count.
    """
    kept = [e for e in range(len(weights)) if weights[e] > 0]
    of_kept = [weights[e] for e in kept]
    return log_sum(
        [math.log(pi) + least_sum([log_factors[e][g] for e in kept], of_kept, c) for g, pi in enumerate(pis)]
    )


def robust_c(
    log_factors: Sequence[Sequence[float]], weights: Sequence[float], pis: Sequence[float], log_threshold: float
) -> float | None:
    """
    Return the largest c with log E_c >= the threshold, None if there is none with c >= 1.

    As a function of 1/c the minimum in `least_sum` is convex, so E_c is; at 1/c = 0 it is 1. So for a threshold above 1
    the c that reach it are all below one number (E_c itself need not fall in c). So c may be chosen by the data: if the
    statement is false from c0 on, returning c0 or more implies that E_c0 reaches the threshold. From 1/(smallest
    weight) on, every weighting is allowed, and this is the largest c returned.
    """
    assert log_threshold > 0
    most = 1 / min(weight for weight in weights if weight > 0)

    def reached(share: float) -> bool:
        return log_robust_evidence(log_factors, weights, pis, 1 / share) >= log_threshold

    if not reached(1.0):
        return None
    if reached(1 / most):
        return most
    fails, holds = 1 / most, 1.0
    for _ in range(60):
        middle = (fails + holds) / 2
        if reached(middle):
            holds = middle
        else:
            fails = middle
    return 1 / holds


# --- verdicts; evidence[i][j] is E_{i>j}, whose mean is at most 1 if y_i <= y_j; the diagonal is never read


def weak_orders(n: int) -> Iterator[tuple[int, ...]]:
    """Yield every weak order of n algorithms: the level of each, levels 0, 1, ... all taken, equal levels are ties."""
    for levels in itertools.product(range(n), repeat=n):
        if set(levels) == set(range(max(levels) + 1)):
            yield levels


def closure_weights(levels: Sequence[int]) -> dict[tuple[int, int], Fraction]:
    """Return the weights of the pairs (i, j) with y_i <= y_j in this weak order; they sum to 1."""
    size = [levels.count(level) for level in levels]
    weights = {}
    for i, j in itertools.permutations(range(len(levels)), 2):
        if levels[i] == levels[j]:
            weights[i, j] = Fraction(2, size[i]) / 2  # each direction has half of its pair's
        elif levels[i] < levels[j]:
            weights[i, j] = Fraction(1, 2) ** (levels[j] - levels[i] - 1) / (size[i] * size[j])
    whole = sum(weights.values())
    return {pair: weight / whole for pair, weight in weights.items()}


def closure_evidence(evidence: Evidence, levels: Sequence[int]) -> float:
    """Return E_W: its mean is at most 1 if `levels` is the true order, being an average of such."""
    return math.fsum(float(weight) * evidence[i][j] for (i, j), weight in closure_weights(levels).items())


def closure_verdicts(evidence: Evidence, delta: float) -> Verdicts:
    """
    Return where i is declared better than j: every weak order with y_i <= y_j has E_W >= 1/delta.

    A wrong verdict needs that the true order, too, has E_W >= 1/delta: probability at most delta, for all pairs.
    """
    n = len(evidence)
    better = [[i != j for j in range(n)] for i in range(n)]
    for levels in weak_orders(n):
        if closure_evidence(evidence, levels) < 1 / delta:
            for i, j in itertools.permutations(range(n), 2):
                if levels[i] <= levels[j]:
                    better[i][j] = False
    return better


def shortest_paths(evidence: Evidence) -> list[list[float]]:
    """Return D(i, j): the length of the shortest path from i to j, the edge from a to b being E_{a>b} long."""
    n = len(evidence)
    lengths = [[0.0 if i == j else float(evidence[i][j]) for j in range(n)] for i in range(n)]
    for via, i, j in itertools.product(range(n), repeat=3):
        lengths[i][j] = min(lengths[i][j], lengths[i][via] + lengths[via][j])
    return lengths


def linear_extensions(levels: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield every order of the algorithms from worst to best that breaks the ties of the weak order."""
    for order in itertools.permutations(range(len(levels))):
        if all(levels[a] <= levels[b] for a, b in itertools.pairwise(order)):
            yield order


def shortcut_evidence(evidence: Evidence, levels: Sequence[int], alpha: float = 0.5) -> float:
    """Return the e-value of a weak order that the shortcut bounds from below: see `shortcut_verdicts`."""
    n = len(levels)
    steps = [
        math.fsum(evidence[a][b] for a, b in itertools.pairwise(order)) / (n - 1) for order in linear_extensions(levels)
    ]
    null = [evidence[i][j] for i, j in itertools.permutations(range(n), 2) if levels[i] <= levels[j]]
    return alpha * math.fsum(steps) / len(steps) + (1 - alpha) * math.fsum(null) / (n * (n - 1))


def shortcut_verdicts(evidence: Evidence, delta: float, alpha: float = 0.5) -> Verdicts:
    """
    Return where i is declared better than j: alpha D(i,j)/(2(n-1)) + (1-alpha) E_{i>j}/(n(n-1)) >= 1/delta.

    Proof. Let W be the true weak order, and number each linear extension of it upwards: y_pi(1) <= ... <= y_pi(n).
    (1) Every step (pi(k), pi(k+1)) is null, so E_{pi(k)>pi(k+1)} has mean at most 1; so has the mean over the n - 1
    steps, and so has M, the mean of that over all extensions, whose number depends on W alone.
    (2) The sum of E over all null pairs, divided by n(n-1), has mean at most 1: there are at most n(n-1) of them. Call
    it N. So alpha M + (1-alpha) N has mean at most 1, and reaches 1/delta with probability at most delta (Markov).
    (3) Let y_i <= y_j. In an extension where i comes before j, the steps from i to j are a path, so that, as no E is
    negative, the sum over all steps is at least D(i, j). If y_i < y_j, that is every extension. If they are tied,
    exchanging i and j maps extensions onto extensions, so it is half of them, and the others have a sum >= 0. So
    M >= D(i, j)/(2(n-1)). And N >= E_{i>j}/(n(n-1)), as (i, j) is a null pair.
    So a wrong verdict on any pair implies alpha M + (1-alpha) N >= 1/delta: all verdicts together are wrong anywhere
    with probability at most delta. The same event covers what follows from verdicts by transitivity.
    """
    n = len(evidence)
    paths = shortest_paths(evidence)
    return [
        [
            i != j and alpha * paths[i][j] / (2 * (n - 1)) + (1 - alpha) * evidence[i][j] / (n * (n - 1)) >= 1 / delta
            for j in range(n)
        ]
        for i in range(n)
    ]
