"""Evidence from all environments that one algorithm is better than another, for weights chosen beforehand.

Environments are independent, so the product of their factors (`untuned.judge.pooled.factors`) has a mean of at most
exp(lambda theta), theta = sum of w_e d_e; and so has

    E(theta0) = sum over j of pi_j exp(-lambda_j theta0) prod over e of F_e(lambda_j)

one of at most 1 if theta <= theta0. By Markov's inequality it reaches x with a probability of at most 1/x. The stakes
lambda_j depend on weights and numbers of trials alone.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from untuned.judge.intervals.shuffling import seeds, shuffled
from untuned.judge.pool import Pool
from untuned.judge.pooled.factors import ABOVE, BELOW, DIRECT, JOINT, SPLIT, log_factors
from untuned.judge.threads import mapped
from untuned.scores import Floats, Ints, ScoreTable

Bools = NDArray[np.bool_]
#: Called with the number of environments just finished.
Advance = Callable[[int], None]

#: Stakes, as parts of the largest, and their shares of the evidence.
LADDER = (1.0, 0.5, 0.25)
SHARES = (0.45, 0.35, 0.2)
#: The largest stake: a fraction of the one at which a bet could lose everything; at most the best one for this variance
#: of a row. Between half and twice these values, results change by at most 2 %.
TOP = {JOINT: (0.97, 0.03), SPLIT: (2.0, 0.02), DIRECT: (0.97, 0.1), ABOVE: (0.97, 0.03), BELOW: (0.97, 0.03)}
#: For one of several rounds: stakes per variance of a sum of rows, each for half the difference of the previous one,
#: and their shares. Larger ones could lose everything.
ROUND_LADDER = (1.5, 0.75, 0.375, 0.1875, 0.094, 0.047, 0.023, 0.012)
ROUND_SHARES = (0.22, 0.26, 0.22, 0.12, 0.08, 0.05, 0.03, 0.02)
#: The variance of a row's direct comparison relative to the rest: decides how many trials are set aside.
DIRECT_SPREAD = 1.2
#: Arrangements of each environment: at least the first number, and enough to deal the second number of trials of the
#: largest sample.
FEWEST, MOST, DEALT = 4, 256, 20_000
#: For up to this many algorithms. With more, the time of an arrangement grows with their pairs, so there are fewer.
CROWD = 100


@dataclass(frozen=True, eq=False)
class Evidence:
    """Evidence that theta[a, b] is above any number.

    Attributes
    ----------
    log_factor_ejab
        log F_e(lambda_j), [environment, bet, a, b].
    stake_jab
        lambda_j.
    log_share_jab
        log pi_j.
    """

    log_factor_ejab: Floats
    stake_jab: Floats
    log_share_jab: Floats

    def __add__(self, later: "Evidence") -> "Evidence":
        """Return the evidence of two rounds: a product of factors with a mean of at most 1 given earlier rounds."""
        return Evidence(
            self.log_factor_ejab + later.log_factor_ejab, self.stake_jab + later.stake_jab, self.log_share_jab
        )

    def log_e(self, theta: float | Floats = 0.0) -> Floats:
        """Return log E(``theta``), [a, b]; decreasing in ``theta``."""
        return _log_sum(self.log_share_jab + self.log_factor_ejab.sum(axis=0) - self.stake_jab * theta)

    def lower_limit(self, nats: float) -> Floats:
        """Return the largest rejected theta, at which log E is ``nats``, [a, b]; at least -1."""
        low, high = np.full(self.stake_jab.shape[1:], -1.0), np.ones(self.stake_jab.shape[1:])
        products = self.log_share_jab + self.log_factor_ejab.sum(axis=0)
        for _ in range(60):
            middle = 0.5 * (low + high)
            rejected = _log_sum(products - self.stake_jab * middle) >= nats
            low, high = np.where(rejected, middle, low), np.where(rejected, high, middle)
        return low

    def largest_cap(self, weights_e: Floats, nats: float) -> Floats:
        """Return the largest c such that theta is positive under every weighting with no environment above c times w_e.

        A power s in [0, 1] of F_e has a mean of at most exp(lambda s w_e d_e), by Jensen's inequality. So for weights
        v_e <= c w_e the product of F_e^(v_e/(c w_e)) is evidence that the sum of v_e d_e is positive, and the smallest
        such product, a fractional knapsack, is evidence for all of these weightings at once. It is convex in 1/c, and 1
        at 1/c = 0: so it is at least e^nats for all c up to the largest one.

        Parameters
        ----------
        weights_e
            The weights w_e, summing to 1.
        nats
            The logarithm of the required evidence.

        Returns
        -------
        [a, b]; NaN where not even c = 1 has that much evidence.
        """
        rates = self.log_factor_ejab / weights_e[:, None, None, None]
        order = np.argsort(rates, axis=0)
        rates = np.take_along_axis(rates, order, axis=0)
        sizes = weights_e[order]
        before = np.cumsum(sizes, axis=0) - sizes

        def passed(inverse_ab: Floats) -> Bools:
            smallest = (np.clip(inverse_ab - before, 0.0, sizes) * rates).sum(axis=0)
            enough: Bools = _log_sum(self.log_share_jab + smallest) >= nats
            return enough

        low, high = np.zeros(rates.shape[2:]), np.ones(rates.shape[2:])
        possible = passed(high)
        for _ in range(30):
            middle = 0.5 * (low + high)
            enough = passed(middle)
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        return np.where(possible, 1.0 / high, np.nan)


def _log_sum(terms_jab: Floats) -> Floats:
    largest = terms_jab.max(axis=0)
    # Where a pair has no evidence at all, every term is minus infinity.
    shift = np.where(np.isfinite(largest), largest, 0.0)
    with np.errstate(divide="ignore"):
        found: Floats = shift + np.log(np.exp(terms_jab - shift).sum(axis=0))
    return found


@dataclass(frozen=True, eq=False)
class _Form:
    """How bets of one kind are placed: the number of rows and of places set aside, for every environment and pair."""

    kind: int
    rows_eab: Ints
    aside_eab: Ints
    bound_eab: Floats


@dataclass(frozen=True, eq=False)
class Weighed:
    """The input of evidence: the scores, and the weights of environments and references.

    Attributes
    ----------
    pools
        The scores of every environment.
    weights_e, rho_er
        The weights of environments, and the shares of the references in each.
    seeds
        Seeds of the arrangements of every owner, made from names.
    most, dealt
        The largest number of arrangements, and how many trials of the largest sample they deal.
    past
        Mean payoffs of the trials of earlier rounds, [owner, owner] per environment; None without earlier rounds.
    past_rows_e
        The number of rows that they count as.
    """

    pools: tuple[Pool, ...]
    weights_e: Floats
    rho_er: Floats
    seeds: tuple[list[int], ...]
    most: int = MOST
    dealt: int = DEALT
    past: tuple[Floats, ...] | None = None
    past_rows_e: Ints | None = None

    @property
    def trials_ea(self) -> Ints:
        """The number of trials of every algorithm, those of identical ones together."""
        return np.array([pool.sizes[pool.owner_of] for pool in self.pools])

    @property
    def shares_ea(self) -> Floats:
        """The share of every algorithm as a reference, those of identical ones together."""
        same = [pool.owner_of[:, None] == pool.owner_of[None, :] for pool in self.pools]
        return np.array([mine @ rho for mine, rho in zip(same, self.rho_er, strict=True)])

    @property
    def same_eab(self) -> Bools:
        """Whether two are declared identical."""
        return np.array([pool.owner_of[:, None] == pool.owner_of[None, :] for pool in self.pools])


def weighed(table: ScoreTable, pools: Sequence[Pool], q_er: Floats) -> Weighed:
    """Return the environments that have weight, with their references' shares."""
    weights = q_er.sum(axis=1)
    kept = np.flatnonzero(weights > 0.0).tolist()
    return Weighed(
        tuple(pools[e] for e in kept),
        weights[kept] / weights[kept].sum(),
        q_er[kept] / weights[kept, None],
        tuple(seeds(table, pools[e], e) for e in kept),
        most_arrangements(len(table.algorithms)),
    )


def most_arrangements(n: int) -> int:
    """Return how many arrangements each environment has at most: by the number of algorithms alone."""
    return max(FEWEST, int(MOST * min(1.0, CROWD / n) ** 2))


def differences(given: Weighed, nats: float | None, workers: int = 1, advance: Advance | None = None) -> Evidence:
    """Return the evidence that the score of a is above that of b by more than theta, [a, b].

    Parameters
    ----------
    given
        The scores and weights.
    nats
        The logarithm of the required evidence; None for one of several rounds.
    workers
        Threads; no number depends on it.
    advance
        Called with 1 after every environment.
    """
    joint, split, stakes, log_share = _bets(given, nats)
    half = len(stakes) // 2
    found = _log_factors(given, [(joint, stakes[:half]), (split, stakes[half:])], joint, workers, advance)
    return Evidence(found, stakes, log_share)


def _bets(given: Weighed, nats: float | None) -> tuple[_Form, _Form, Floats, Floats]:
    """Return both forms of bets on differences, their stakes [bet, a, b] and the logarithms of their shares."""
    joint, split = _joint(given), _split(given)
    # Shares are the same in all rounds; a round in which a pair has no split form takes the joint one.
    splits = (split.rows_eab > 0).any(axis=0) | (nats is None and len(given.rho_er[0]) > 2)
    staked = split
    if nats is None:
        staked = replace(split, rows_eab=np.where(split.rows_eab > 0, split.rows_eab, joint.rows_eab))
    stakes = np.concatenate([_stakes(given, joint, nats), _stakes(given, staked, nats)])
    shares = _log_shares(len(stakes) // 2)[:, None, None]
    with np.errstate(divide="ignore"):
        log_share = np.concatenate(
            [np.where(splits, shares + math.log(0.5), shares), np.where(splits, shares + math.log(0.5), -np.inf)]
        )
    return joint, split, stakes, log_share


@dataclass(frozen=True, eq=False)
class Growth:
    """How stakes change with numbers of trials, [bet, a, b].

    Attributes
    ----------
    stake_jab, log_share_jab
        With more trials.
    scale_jab
        The factor on the error of a logarithm.
    """

    stake_jab: Floats
    log_share_jab: Floats
    scale_jab: Floats


def growth(given: Weighed, larger: Weighed, nats: float) -> Growth:
    """Return how the stakes on differences change from some numbers of trials to larger ones."""
    *before, stakes, _ = _bets(given, nats)
    *after, larger_stakes, log_share = _bets(larger, nats)

    def variances(these: Weighed, forms: Sequence[_Form], stakes: Floats) -> Floats:
        squares = np.concatenate(
            [np.repeat(_squares(these, form).sum(axis=0)[None], len(LADDER), axis=0) for form in forms]
        )
        found: Floats = np.square(stakes) * squares
        return found

    known, wanted = variances(given, before, stakes), variances(larger, after, larger_stakes)
    scale = np.divide(wanted, known, out=np.ones_like(known), where=known > 0.0)
    return Growth(larger_stakes, log_share, scale)


def with_more_trials(found: Evidence, grown: Growth, theta_ab: Floats) -> Evidence:
    """Return the approximate evidence for differences with more trials, without simulating these.

    Of log F = lambda theta + error the first term is known. The error has a mean of about -lambda^2 V/2 and a variance
    of about lambda^2 V, V = v sum of w_e^2/R_e for rows of variance v. With the stakes of large samples lambda^2 V does
    not depend on the number of trials, so the error stays what it is; with others it is scaled.

    Parameters
    ----------
    found
        The evidence with fewer trials.
    grown
        The changes from larger numbers of trials.
    theta_ab
        The differences of the scores.
    """
    error = found.log_factor_ejab.sum(axis=0) - found.stake_jab * theta_ab
    factors = grown.stake_jab * theta_ab + grown.scale_jab * error
    return Evidence(factors[None], grown.stake_jab, grown.log_share_jab)


def head_to_head(given: Weighed, nats: float | None, workers: int = 1, advance: Advance | None = None) -> Evidence:
    """Return the evidence that the mean over environments of P(a beats b) is above 1/2 by more than theta, [a, b]."""
    trials = given.trials_ea
    rows = np.minimum(trials[:, :, None], trials[:, None, :])
    form = _Form(DIRECT, rows, np.zeros_like(rows), np.full(rows.shape, 0.5))
    stakes = _stakes(given, form, nats)
    return Evidence(_log_factors(given, [(form, stakes)], form, workers, advance), stakes, _shares(stakes))


def scores_above(given: Weighed, nats: float | None, workers: int = 1, advance: Advance | None = None) -> Evidence:
    """Return the evidence that scores are above 1/2 by more than theta, [a, 0]."""
    return _scores(given, ABOVE, nats, workers, advance)


def scores_below(given: Weighed, nats: float | None, workers: int = 1, advance: Advance | None = None) -> Evidence:
    """Return the evidence that scores are below 1/2 by more than theta, [a, 0]."""
    return _scores(given, BELOW, nats, workers, advance)


def _scores(given: Weighed, kind: int, nats: float | None, workers: int, advance: Advance | None) -> Evidence:
    trials, shares = given.trials_ea, given.shares_ea
    rows = np.minimum(trials, _fewest(given)[:, None])[:, :, None]
    form = _Form(kind, rows, np.zeros_like(rows), 0.5 * (1.0 - shares)[:, :, None])
    stakes = _stakes(given, form, nats)
    return Evidence(_log_factors(given, [(form, stakes)], form, workers, advance), stakes, _shares(stakes))


def _shares(stakes_jab: Floats) -> Floats:
    return np.broadcast_to(_log_shares(len(stakes_jab))[:, None, None], stakes_jab.shape)


def _log_shares(bets: int) -> Floats:
    found: Floats = np.log(np.array(SHARES if bets == len(SHARES) else ROUND_SHARES))
    return found


def _fewest(given: Weighed) -> Ints:
    """Return the smallest number of trials of the references that have weight and trials, per environment."""
    trials, shares = given.trials_ea, given.shares_ea
    fewest: Ints = np.where((trials > 0) & (shares > 0.0), trials, np.iinfo(np.int64).max).min(axis=1)
    return fewest


def _joint(given: Weighed) -> _Form:
    trials, shares = given.trials_ea, given.shares_ea
    rows = np.minimum(np.minimum(trials[:, :, None], trials[:, None, :]), _fewest(given)[:, None, None])
    bound = 1.0 - 0.5 * (shares[:, :, None] + shares[:, None, :])
    return _Form(JOINT, rows, np.zeros_like(rows), bound)


def _split(given: Weighed) -> _Form:
    """Return the split form: no rows where one of two has a single trial, or where there are no other references."""
    trials, shares, same = given.trials_ea, given.shares_ea, given.same_eab
    m, n = trials.shape
    rows, aside = np.zeros((m, n, n), dtype=np.int64), np.zeros((m, n, n), dtype=np.int64)
    smaller = np.minimum(trials[:, :, None], trials[:, None, :])
    direct = shares[:, :, None] + shares[:, None, :]
    part = DIRECT_SPREAD * direct / (DIRECT_SPREAD * direct + np.maximum(1.0 - direct, 1e-12))
    wanted = np.clip(np.rint(part * smaller), 1, np.maximum(smaller - 1, 1)).astype(np.int64)
    for e in range(m):
        counted = (trials[e] > 0) & (shares[e] > 0.0)
        for a in range(n):
            # Neither a nor b, nor algorithms identical to them.
            others = counted[None, :] & ~same[e, a][None, :] & ~same[e]
            fewest = np.where(others, trials[e][None, :], np.iinfo(np.int64).max).min(axis=1)
            possible = others.any(axis=1) & (smaller[e, a] >= 2) & ~same[e, a]
            rows[e, a] = np.where(possible, np.minimum(smaller[e, a] - wanted[e, a], fewest), 0)
            aside[e, a] = np.where(possible, wanted[e, a], 0)
    return _Form(SPLIT, rows, aside, 1.0 - 0.5 * direct)


def _squares(given: Weighed, form: _Form) -> Floats:
    """Return w_e^2/R_e, [e, a, b]; 0 where there are no rows."""
    found: Floats = np.divide(
        np.square(given.weights_e)[:, None, None],
        form.rows_eab,
        out=np.zeros(form.rows_eab.shape),
        where=form.rows_eab > 0,
    )
    return found


def _stakes(given: Weighed, form: _Form, nats: float | None) -> Floats:
    """Return the stakes lambda_j, [bet, a, b].

    In a round, a pair without rows in some environment does not bet.
    """
    part, variance = TOP[form.kind]
    squares = _squares(given, form)
    with np.errstate(divide="ignore"):
        safe = part / (squares * form.bound_eab).sum(axis=0)
        if nats is None:
            ladder = np.array(ROUND_LADDER)[:, None, None]
            stakes: Floats = np.where(_all_present(given, form), np.minimum(safe, ladder / squares.sum(axis=0)), 0.0)
            return stakes
        largest = np.minimum(safe, np.sqrt(2.0 * nats / (variance * squares.sum(axis=0))))
    largest = np.where(np.isfinite(largest), largest, 1.0)
    return np.array(LADDER)[:, None, None] * largest


def _all_present(given: Weighed, form: _Form) -> Bools:
    """Return which algorithms, or pairs, have trials in every environment, and so have the references they need."""
    present: Bools = np.asarray((given.trials_ea > 0).all(axis=0))
    if form.kind != DIRECT:
        present = present & bool(((given.trials_ea > 0) | (given.shares_ea <= 0.0)).all())
    found: Bools = present[:, None] if form.kind in (ABOVE, BELOW) else present[:, None] & present[None, :]
    return found


def _log_factors(
    given: Weighed,
    forms: Sequence[tuple[_Form, Floats]],
    instead: _Form,
    workers: int,
    advance: Advance | None,
) -> Floats:
    """Return log F_e for all stakes of all forms; ``instead`` is the form of pairs for which one has no rows."""

    def one(e: int) -> Floats:
        return np.concatenate([_of_environment(given, e, form, stakes, instead) for form, stakes in forms])

    found = []
    for each in mapped(one, range(len(given.pools)), workers):
        found.append(each)
        if advance is not None:
            advance(1)
    return np.array(found)


def _of_environment(given: Weighed, e: int, form: _Form, stakes: Floats, instead: _Form) -> Floats:
    pool, weight = given.pools[e], float(given.weights_e[e])
    trials, owner_of = pool.sizes[pool.owner_of], pool.owner_of
    alone = form.kind in (ABOVE, BELOW)
    present = trials > 0
    known = present[:, None] if alone else present[:, None] & present[None, :]
    wanted = known if alone else known & (owner_of[:, None] != owner_of[None, :])
    # Where one of two has no trials, the worst is assumed; identical algorithms do not differ.
    unknown = ~known if alone else ~known & (owner_of[:, None] != owner_of[None, :])
    found = np.where(unknown, -stakes * weight * form.bound_eab[e], 0.0)
    shares: Floats = np.bincount(owner_of, weights=given.rho_er[e], minlength=pool.sizes.size).astype(np.float64)
    lost = float(shares[pool.sizes == 0].sum())
    shares[pool.sizes == 0] = 0.0
    places = _places(pool, given.seeds[e], given.most, given.dealt)
    past, past_rows = np.zeros((pool.sizes.size, pool.sizes.size)), 0.0
    if given.past is not None and given.past_rows_e is not None:
        past, past_rows = given.past[e], float(given.past_rows_e[e])
    # Pairs that do not bet at all.
    wanted = wanted & (stakes > 0.0).any(axis=0)
    for each in (form, instead) if instead is not form else (form,):
        rows, aside = each.rows_eab[e], each.aside_eab[e]
        todo = wanted & (rows > 0)
        wanted = wanted & ~todo
        for here in {(int(s), int(r)) for s, r in zip(aside[todo], rows[todo], strict=True)}:
            a, b = np.nonzero(todo & (aside == here[0]) & (rows == here[1]))
            pairs = np.stack([owner_of[a], owner_of[a if alone else b]], axis=1)
            u = stakes[:, a, b] * weight / here[1]
            v = stakes[:, a, b] * weight / max(here[0], 1)
            found[:, a, b] = log_factors(
                pool.scores,
                pool.owners,
                pool.sizes,
                shares,
                lost,
                places,
                each.kind,
                *here,
                pairs,
                u,
                v,
                past,
                past_rows,
            )
    return found


def _places(pool: Pool, seeds: Sequence[int], most: int = MOST, dealt: int = DEALT) -> Ints:
    """Return arrangements: the place of every trial, [arrangement, trial], owner after owner."""
    count = max(FEWEST, min(most, dealt // max(int(pool.sizes.max()), 1)))
    numbers = [np.arange(size, dtype=np.float64) for size in pool.sizes]
    return np.concatenate(
        [shuffled(each, seed, count) for each, seed in zip(numbers, seeds, strict=True)], axis=1
    ).astype(np.int64)
