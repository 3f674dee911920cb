"""The evidence from one environment: bets on rows of trials, averaged over arrangements.

An arrangement gives every trial of every sample a place, at random; places are dealt to rows, so that no trial is
dropped and rows are independent. In a row, D is a number with mean d, the environment's part of what is tested, and
|D| <= b. For u > 0 and a centre c that depends on earlier rows alone,

    E exp(u c) (1 + u (D - c)) <= exp(u d),

if 1 + u (D - c) is positive, which a centre of at most (1 - MARGIN)/u - b ensures. So the product over R rows
with u = lambda w/R has a mean of at most exp(lambda w d), whatever the distributions, and so has its average over
arrangements. Five kinds of D:

- `JOINT`: a row's score of i less that of l;
- `SPLIT`: both scores against the other references as two bets, and the direct comparison as a third on trials set
  aside (docs/theory/pooled.md has the proof that the product is still no larger);
- `DIRECT`: the share of a row's pairs that i wins against l, less 1/2;
- `ABOVE`, `BELOW`: a row's score of i less 1/2, and 1/2 less that score.
"""

import math

import numpy as np

from untuned.judge.jit import kernel
from untuned.judge.pool import Owners
from untuned.scores import Floats, Ints

JOINT, SPLIT, DIRECT, ABOVE, BELOW = range(5)

#: The minimum of every factor of a bet.
MARGIN = 0.03
# Products are turned into logarithms before they overflow.
_LARGE = 1e120


@kernel
def log_factors(
    scores: Floats,
    owners: Owners,
    sizes: Ints,
    rho: Floats,
    lost: float,
    places: Ints,
    kind: int,
    aside: int,
    rows: int,
    pairs: Ints,
    u: Floats,
    v: Floats,
    past: Floats,
    weight: float,
) -> Floats:
    """Return the logarithms of the mean factors, [bet, pair], of one environment.

    Parameters
    ----------
    scores, owners, sizes
        The environment's pooled scores.
    rho
        The share of every owner as a reference; 0 for owners without trials, whose shares are ``lost``.
    lost
        The share of references without trials.
    places
        The place of every trial, [arrangement, trial], an owner's trials in ascending order, owner after owner.
    kind
        The kind of D.
    aside
        How many places of each of the two are set aside, in `SPLIT`; 0 for other kinds.
    rows
        The number of rows.
    pairs
        The two owners of every bet, [pair, 2].
    u, v
        The stakes on rows and on trials set aside, [bet, pair].
    past, weight
        Mean payoffs of earlier trials, [player, reference], and how many rows they count as; centres start there.
    """
    count, bets = pairs.shape[0], u.shape[0]
    owned = sizes.size
    arrangements = places.shape[0]
    first = np.zeros(owned + 1, dtype=np.int64)
    for o in range(owned):
        first[o + 1] = first[o] + sizes[o]
    total = scores.size
    # The position of each element of the pool in `places`.
    number = np.empty(total, dtype=np.int64)
    seen = first[:-1].copy()
    for p in range(total):
        number[p] = seen[owners[p]]
        seen[owners[p]] += 1
    order = np.empty(total, dtype=np.int64)
    starts = np.empty(rows + 1, dtype=np.int64)
    fill = np.empty(rows, dtype=np.int64)
    dealt = np.empty(total)
    payoff = np.empty((owned, owned))
    score = np.empty(owned)
    work = np.empty((3, owned), dtype=np.int64)
    won = np.empty((owned, owned), dtype=np.int64)
    bound = np.empty(count)
    for q in range(count):
        direct = rho[pairs[q, 0]] + rho[pairs[q, 1]]
        if kind == DIRECT:
            bound[q] = 0.5
        elif kind in (ABOVE, BELOW):
            bound[q] = 0.5 * (1.0 - rho[pairs[q, 0]])
        else:
            bound[q] = 1.0 - 0.5 * direct
    sums = np.empty((3, count))
    begun = np.zeros((3, count))
    if weight > 0.0:
        _begin(kind, pairs, rho, lost, past, score, weight, begun)
    exponent = np.empty((bets, count))
    product = np.empty((bets, count))
    largest = np.full((bets, count), -np.inf)
    means = np.zeros((bets, count))
    for k in range(arrangements):
        _deal(number, places[k], aside, rows, starts, fill, order)
        exponent[:] = 0.0
        product[:] = 1.0
        sums[:] = begun
        for t in range(rows):
            rows_seen = weight + t + 1.0
            here = order[starts[t] : starts[t + 1]]
            _payoffs(scores, owners, number, places[k], aside, here, rho, work, won, payoff, score)
            if kind == SPLIT:
                _bet_twice(rows_seen, pairs, rho, lost, payoff, score, u, sums, exponent, product)
            else:
                _bet(kind, rows_seen, pairs, lost, payoff, score, bound, u, sums[0], exponent, product)
        if kind == SPLIT:
            for p in range(total):
                dealt[first[owners[p]] + places[k, number[p]]] = scores[p]
            _bet_directly(aside, weight, pairs, rho, first, dealt, v, sums[2], exponent, product)
        for j in range(bets):
            for q in range(count):
                value = exponent[j, q] + math.log(product[j, q])
                if value > largest[j, q]:
                    means[j, q] = means[j, q] * math.exp(largest[j, q] - value) + 1.0
                    largest[j, q] = value
                else:
                    means[j, q] += math.exp(value - largest[j, q])
    found: Floats = largest + np.log(means / arrangements)
    return found


@kernel
def _deal(number: Ints, places: Ints, aside: int, rows: int, starts: Ints, fill: Ints, order: Ints) -> None:
    """Write the elements of the pool in each row, in ascending order of their scores."""
    starts[:] = 0
    shift = rows - aside % rows
    for p in range(number.size):
        starts[(places[number[p]] + shift) % rows + 1] += 1
    for t in range(rows):
        starts[t + 1] += starts[t]
        fill[t] = starts[t]
    for p in range(number.size):
        t = (places[number[p]] + shift) % rows
        order[fill[t]] = p
        fill[t] += 1


@kernel
def _payoffs(
    scores: Floats,
    owners: Owners,
    number: Ints,
    places: Ints,
    aside: int,
    here: Ints,
    rho: Floats,
    work: Ints,
    won: Ints,
    payoff: Floats,
    score: Floats,
) -> None:
    """Write the mean payoffs in a row, [player, reference], and every player's score there.

    Trials set aside are references here, but not players.
    """
    below, tied, players = work[0], work[1], work[2]
    owned = rho.size
    work[:] = 0
    won[:] = 0
    p = 0
    while p < here.size:
        end = p
        while end < here.size and scores[here[end]] == scores[here[p]]:
            tied[owners[here[end]]] += 1
            end += 1
        for x in range(p, end):
            if places[number[here[x]]] >= aside:
                a = owners[here[x]]
                players[a] += 1
                for r in range(owned):
                    won[a, r] += 2 * below[r] + tied[r]
        for x in range(p, end):
            o = owners[here[x]]
            below[o] += tied[o]
            tied[o] = 0
        p = end
    for a in range(owned):
        total = 0.5 * rho[a]
        for r in range(owned):
            played = players[a] * below[r]
            payoff[a, r] = won[a, r] / (2.0 * played) if played > 0 else 0.5
            if r != a:
                total += rho[r] * payoff[a, r]
        score[a] = total


@kernel
def _value(kind: int, i: int, l: int, lost: float, payoff: Floats, score: Floats) -> float:  # noqa: E741
    """Return D of a row."""
    found: float
    if kind == JOINT:
        found = score[i] - score[l] - lost
    elif kind == DIRECT:
        found = payoff[i, l] - 0.5
    elif kind == ABOVE:
        found = score[i] - 0.5
    else:
        found = 0.5 - score[i] - lost
    return found


@kernel
def _begin(
    kind: int, pairs: Ints, rho: Floats, lost: float, past: Floats, score: Floats, weight: float, begun: Floats
) -> None:
    """Write the initial sums of centres, as if earlier trials had been ``weight`` rows."""
    for a in range(rho.size):
        score[a] = 0.5 * rho[a]
        for r in range(rho.size):
            if r != a:
                score[a] += rho[r] * past[a, r]
    for q in range(pairs.shape[0]):
        i, l = pairs[q, 0], pairs[q, 1]  # noqa: E741
        if kind == SPLIT:
            begun[0, q] = weight * (score[i] - 0.5 * rho[i] - rho[l] * past[i, l])
            begun[1, q] = weight * (score[l] - 0.5 * rho[l] - rho[i] * past[l, i] + lost)
            begun[2, q] = weight * (rho[i] + rho[l]) * (past[i, l] - 0.5)
        else:
            begun[0, q] = weight * _value(kind, i, l, lost, past, score)


@kernel
def _bet(
    kind: int,
    seen: float,
    pairs: Ints,
    lost: float,
    payoff: Floats,
    score: Floats,
    bound: Floats,
    u: Floats,
    sums: Floats,
    exponent: Floats,
    product: Floats,
) -> None:
    """Multiply the bets on D by a row's factor."""
    for q in range(pairs.shape[0]):
        i, l = pairs[q, 0], pairs[q, 1]  # noqa: E741 - as in the theory
        value = _value(kind, i, l, lost, payoff, score)
        mean = sums[q] / seen
        sums[q] += value
        for j in range(u.shape[0]):
            stake = u[j, q]
            centre = min(mean, (1.0 - MARGIN) / stake - bound[q])
            _multiply(j, q, stake * centre, 1.0 + stake * (value - centre), exponent, product)


@kernel
def _bet_twice(
    seen: float,
    pairs: Ints,
    rho: Floats,
    lost: float,
    payoff: Floats,
    score: Floats,
    u: Floats,
    sums: Floats,
    exponent: Floats,
    product: Floats,
) -> None:
    """Multiply the bets on both scores against the other references by a row's factor."""
    for q in range(pairs.shape[0]):
        i, l = pairs[q, 0], pairs[q, 1]  # noqa: E741
        others = 1.0 - rho[i] - rho[l]
        mine = score[i] - 0.5 * rho[i] - rho[l] * payoff[i, l]
        theirs = score[l] - 0.5 * rho[l] - rho[i] * payoff[l, i] + lost
        mean = (0.5 * others + sums[0, q]) / seen
        their_mean = (0.5 * others + sums[1, q]) / seen
        sums[0, q] += mine
        sums[1, q] += theirs
        for j in range(u.shape[0]):
            stake = u[j, q]
            room = (1.0 - MARGIN) / stake
            centre = min(mean, room)
            their_centre = max(their_mean, others - room)
            factor = (1.0 + stake * (mine - centre)) * (1.0 - stake * (theirs - their_centre))
            _multiply(j, q, stake * (centre - their_centre), factor, exponent, product)


@kernel
def _bet_directly(
    aside: int,
    weight: float,
    pairs: Ints,
    rho: Floats,
    first: Ints,
    dealt: Floats,
    v: Floats,
    sums: Floats,
    exponent: Floats,
    product: Floats,
) -> None:
    """Multiply the bets on the direct comparison by the factor of the trials set aside."""
    for q in range(pairs.shape[0]):
        i, l = pairs[q, 0], pairs[q, 1]  # noqa: E741
        direct = rho[i] + rho[l]
        if direct <= 0.0:
            continue
        for s in range(aside):
            mine, theirs = dealt[first[i] + s], dealt[first[l] + s]
            value = direct * ((1.0 if mine > theirs else 0.5 if mine == theirs else 0.0) - 0.5)
            mean = sums[q] / (weight + s + 1.0)
            sums[q] += value
            for j in range(v.shape[0]):
                stake = v[j, q]
                centre = min(mean, (1.0 - MARGIN) / stake - 0.5 * direct)
                _multiply(j, q, stake * centre, 1.0 + stake * (value - centre), exponent, product)


@kernel
def _multiply(j: int, q: int, log: float, factor: float, exponent: Floats, product: Floats) -> None:
    """Multiply a bet by exp(``log``) times ``factor``."""
    value = product[j, q] * factor
    if value > _LARGE or value < 1.0 / _LARGE:
        log += math.log(value)
        value = 1.0
    product[j, q] = value
    exponent[j, q] += log
