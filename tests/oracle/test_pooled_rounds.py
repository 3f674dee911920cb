"""Pooled evidence in rounds against an oracle written from the theory alone, and what holds of it at all looks."""

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from oracle.reference import pooled as reference
from oracle.reference.pooled import Past
from oracle.test_pooled import CLOSE, board
from oracle.test_pooled_reference import (
    ROUNDING,
    WORLDS,
    World,
    average,
    difference,
    lambdas_for,
    outcomes,
    percentile,
    random_world,
)
from untuned.judge.evaluate import judge
from untuned.judge.intervals.shuffling import seeds, shuffled
from untuned.judge.judging import Judging
from untuned.judge.pool import pools
from untuned.judge.pooled import evidence, rounds
from untuned.judge.pooled.bounds import Looked, lower_limit
from untuned.judge.pooled.evidence import Evidence, Weighed
from untuned.judge.pooled.rounds import FIRST, GROWTH, cut_numbers, in_rounds, one_round
from untuned.races.standing import UnderFixedWeights
from untuned.scores import Floats, Ints, ScoreTable

KINDS: dict[str, Callable[[Weighed, float | None], Evidence]] = {
    "difference": evidence.differences,
    "head to head": evidence.head_to_head,
    "lower": evidence.scores_above,
    "upper": evidence.scores_below,
}
BETS = len(evidence.ROUND_LADDER)
#: Arrangements: as few as there may be.
MADE = evidence.FEWEST


def ragged_rounds(table: ScoreTable, seed: int) -> Ints:
    """Return numbers of trials after up to three rounds, other ones for every cell, some without a new trial."""
    if seed % 2:
        # A third each: most cells have some in every round.
        return np.array([-(-table.trials * third // 3) for third in (1, 2, 3)])
    rng = np.random.default_rng([77, seed])
    cuts = np.sort(rng.integers(0, table.trials + 1, size=(2, *table.trials.shape)), axis=0)
    return np.concatenate([cuts, table.trials[None]])


def columns(table: ScoreTable, e: int, low: Ints, high: Ints, rho: Floats) -> tuple[Any, Any, Any]:
    cut = [row[e][int(low[a, e]) : int(high[a, e])].tolist() for a, row in enumerate(table.cells)]
    return reference.merged(cut, rho.tolist(), table.kinds[e].tolist())


@pytest.mark.parametrize("seed", range(30))
def test_rounds_against_the_oracle(seed: int) -> None:
    table, q_er = board(seed)
    numbers = ragged_rounds(table, seed)
    n = len(table.algorithms)
    for before, now in pairwise((np.zeros_like(numbers[0]), *numbers)):
        given = replace(one_round(table, q_er, before, now), most=MADE)
        for kind, evidence_of in KINDS.items():
            found = evidence_of(given, None)
            for a in range(n):
                for b in range(found.stake_jab.shape[2]):
                    if a != b or kind in ("lower", "upper"):
                        expected = slow_round(table, q_er, before, now, given, kind, a, b)
                        assert np.allclose(found.stake_jab[:, a, b], expected[0], rtol=CLOSE, atol=0.0), (kind, a, b)
                        assert np.allclose(found.log_factor_ejab[:, :, a, b], expected[1], rtol=0.0, atol=CLOSE)


def slow_round(
    table: ScoreTable, q_er: Floats, before: Ints, now: Ints, given: Weighed, kind: str, a: int, b: int
) -> tuple[list[float], Any]:
    """Return the oracle's stakes, and log F[e][bet]."""
    kept = [int(e) for e in np.flatnonzero(q_er.sum(axis=1) > 0.0)]
    weights = [float(q_er[e].sum() / q_er.sum()) for e in kept]
    boards = []
    for k, e in enumerate(kept):
        rho = q_er[e] / q_er[e].sum()
        column, samples, shares = columns(table, e, before, now, rho)
        earlier = columns(table, e, np.zeros_like(before), before, rho)[1]
        # The package numbers columns by kind, in ascending order.
        owner = {int(given.pools[k].owner_of[i]): column[i] for i in range(len(column))}
        orders: list[list[Any]] = [[[]] * len(samples) for _ in range(MADE)]
        for o, c in owner.items():
            for number, order in enumerate(arrangements(given, k, o, len(samples[c]))):
                orders[number][c] = order
        boards.append((column[a], column[b], samples, shares, reference.past_of(earlier), orders))
    forms = ["joint", "split"] if kind == "difference" else [kind]
    stakes: list[float] = []
    factors: list[list[float]] = [[] for _ in kept]
    for form in forms:
        ways = [way(form, *each[:4]) for each in boards]
        alone = kind in ("lower", "upper")
        players = [(i,) if alone else (i, j) for i, j, *_ in boards]
        present = all(len(each[2][p]) > 0 for each, who in zip(boards, players, strict=True) for p in who)
        if kind != "head to head":
            present = present and all(
                len(x) > 0 or rho <= 0 for each in boards for x, rho in zip(each[2], each[3], strict=True)
            )
        part = 2.0 if form == "split" else 0.97
        known = [0.0] * BETS
        if present:
            known = reference.round_stakes(
                evidence.ROUND_LADDER,
                weights,
                [rows for _, _, rows, _ in ways],
                [bound for _, _, _, bound in ways],
                part,
            )
        stakes += known
        for k, ((chosen, aside, _, _), (i, j, samples, rho, past, orders)) in enumerate(zip(ways, boards, strict=True)):
            for lam in known:
                one = single(chosen, samples, rho, i, j, weights[k], lam, aside, past)
                factors[k].append(0.0 if lam == 0.0 else reference.log_environment_factor(one, orders))
    return stakes, factors


def way(form: str, i: int, j: int, samples: Any, rho: Any) -> tuple[str, int, int, float]:
    """Return the form that is used, the trials set aside, the rows and the bound."""
    if form in ("lower", "upper"):
        return form, 0, reference.joint_rows(samples, rho, (i,)) if samples[i] else 0, (1 - rho[i]) / 2
    smaller = min(len(samples[i]), len(samples[j]))
    if form == "head to head":
        return form, 0, smaller, 0.5
    bound = 1 - (rho[i] + rho[j]) / 2
    direct = evidence.DIRECT_SPREAD * (rho[i] + rho[j])
    if form == "split" and i != j and smaller >= 2 and reference.references(samples, rho, (i, j)):
        aside = min(max(round(smaller * direct / (direct + max(1 - rho[i] - rho[j], 1e-12))), 1), smaller - 1)
        return form, aside, reference.split_rows(samples, rho, i, j, aside), bound
    return "joint", 0, reference.joint_rows(samples, rho, (i, j)) if smaller else 0, bound


def single(
    form: str, samples: Any, rho: Any, i: int, j: int, weight: float, lam: float, aside: int, past: Past
) -> Callable[[reference.Arrangement], float]:
    def one(order: reference.Arrangement) -> float:
        if form == "joint":
            return reference.log_joint_factor(samples, rho, i, j, order, weight, lam, past)
        if form == "split":
            return reference.log_split_factor(samples, rho, i, j, order, weight, lam, aside, past)
        if form == "head to head":
            return reference.log_head_to_head_factor(samples, i, j, order, weight, lam, past)
        return reference.log_score_factor(samples, rho, i, order, weight, lam, form, past)  # type: ignore[arg-type]

    return one


def arrangements(given: Weighed, k: int, owner: int, size: int) -> list[list[int]]:
    """Return the orders of a sorted sample: who is at every place."""
    found = shuffled(np.arange(size, dtype=np.float64), given.seeds[k][owner], MADE)
    return [np.argsort(row).tolist() for row in found]


# --- what has to be true of a round, given the ones before it


def worst_excess_given(world: World, past: Past, i: int, j: int) -> dict[str, float]:
    """Return the largest E F/exp(lam w d) of every form, for centres that begin with the past."""
    rho, w = [float(each) for each in world.rho], float(world.weight)
    smaller = min(world.trials[i], world.trials[j])
    lambdas = lambdas_for(world, smaller)
    half = Fraction(1, 2)
    wanted = {"joint": difference(world, i, j), "head to head": percentile(world.laws[i], world.laws[j]) - half}
    wanted |= {"lower": average(world, i, 0) - half, "upper": half - average(world, i, 1)}
    asides = dict.fromkeys(wanted, 0) | {f"split {aside}": aside for aside in range(1, smaller)}
    means = {name: [0.0] * len(lambdas) for name in asides}
    for probability, samples, order in outcomes(world):
        for name, aside in asides.items():
            d = float(wanted.get(name, wanted["joint"]))
            for g, lam in enumerate(lambdas):
                log = single(name.split(" ")[0] if aside else name, samples, rho, i, j, w, lam, aside, past)(order)
                means[name][g] += float(probability) * math.exp(log - lam * w * d)
    return {name: max(each) for name, each in means.items()}


def random_past(rng: np.random.Generator, n: int) -> Past:
    """Return what earlier rounds may have shown, right or wrong."""
    wins = np.where(rng.random((n, n)) < 0.5, rng.integers(0, 2, size=(n, n)), rng.random((n, n)))
    upper = np.triu(wins, 1)
    return Past((upper + np.tril(1.0 - upper.T, -1) + 0.5 * np.eye(n)).tolist(), float(rng.choice([1, 4, 1000])))


@pytest.mark.parametrize("name", [name for name, world in WORLDS.items() if min(world.trials[:2]) > 0])
def test_the_conditional_mean_of_a_round_s_factor(name: str) -> None:
    rng = np.random.default_rng([20310, len(name)])
    world = WORLDS[name]
    for i, j in ((0, 1), (1, 0)):
        for form, found in worst_excess_given(world, random_past(rng, len(world.laws)), i, j).items():
            assert found <= 1 + ROUNDING, (form, i, j)


@pytest.mark.parametrize("seed", range(3))
def test_the_conditional_mean_on_random_laws(seed: int) -> None:
    rng = np.random.default_rng([20311, seed])
    for _ in range(8):
        world = random_world(rng)
        for form, found in worst_excess_given(world, random_past(rng, len(world.laws)), 0, 1).items():
            assert found <= 1 + ROUNDING, (form, world)


def test_a_round_is_arranged_independently_of_those_before() -> None:
    rng = np.random.default_rng(20312)
    table = ScoreTable.from_array(rng.random((3, 2, 30)))
    q_er = np.full((2, 3), 1 / 6)
    numbers = [np.full((3, 2), each) for each in (0, 10, 20, 30)]
    found = [one_round(table, q_er, *each) for each in pairwise(numbers)]
    used = [seed for each in found for here in each.seeds for seed in here]
    assert len(set(used)) == len(used)
    # The first round's are those of a table without rounds, and no seed depends on a score.
    assert found[0].seeds == tuple(seeds(table, pool, e) for e, pool in enumerate(pools(table)))
    other = ScoreTable.from_array(rng.random((3, 2, 30)))
    assert [one_round(other, q_er, *each).seeds for each in pairwise(numbers)] == [each.seeds for each in found]


def test_with_shared_arrangements_rounds_would_not_be_a_martingale() -> None:
    """Two rounds that are arranged alike: the mean of the product is that of a square, which is too large."""
    trials = 4
    world = World(WORLDS["two, alike"].laws, (trials, trials), WORLDS["two, alike"].rho)
    rho, lam = [0.5, 0.5], 5.0 * trials
    orders = [tuple(range(trials)), (2, 0, 3, 1)]
    means = []
    for second in orders:
        total = 0.0
        for probability, samples, _ in outcomes(world):
            log = reference.log_joint_factor(samples, rho, 0, 1, [orders[0], second], 1.0, lam)
            total += float(probability) * math.exp(log)
        means.append(total)
    assert means[0] != pytest.approx(means[1], rel=1e-3)
    assert sum(each**2 for each in means) / 2 > (sum(means) / 2) ** 2


def test_earlier_rounds_are_where_centres_begin() -> None:
    table = ScoreTable.from_array([[[3.0, 3.0, 3.0, 9.0]], [[1.0, 1.0, 5.0, 0.0]]])
    given = one_round(table, np.full((1, 2), 0.5), np.full((2, 1), 3), np.full((2, 1), 4))
    assert given.past is not None
    assert given.past_rows_e is not None
    assert given.past_rows_e.tolist() == [3]
    assert given.past[0].tolist() == [[0.5, pytest.approx(2 / 3)], [pytest.approx(1 / 3), 0.5]]


# --- looks


def test_rounds_that_nobody_planned_are_cut_where_every_cell_has_trials() -> None:
    trials = np.array([[20, 9], [12, 9]])
    assert cut_numbers(trials, None).tolist() == [[[each] * 2] * 2 for each in (FIRST, math.ceil(FIRST * GROWTH))]
    assert cut_numbers(trials, np.array([1.0, 0.0])).tolist() == [[[each, 0]] * 2 for each in (5, 8, 12)]
    # Which cells are empty may be due to the scores.
    assert cut_numbers(np.array([[20, 9], [12, 0]]), None).shape == (0, 2, 2)
    assert cut_numbers(np.array([[4, 4]]), None).shape == (0, 1, 2)


def sloped(seed: int, n: int = 4, m: int = 2, trials: int = 120) -> ScoreTable:
    rng = np.random.default_rng([20313, seed])
    cells = rng.normal(0.0, 1.0, size=(n, m, trials)) + 0.6 * np.arange(n)[:, None, None]
    return ScoreTable.from_array(np.round(cells, 1))


@pytest.mark.parametrize("seed", range(4))
def test_more_rounds_never_lose_a_verdict_and_never_widen_a_bound(seed: int) -> None:
    table, q_er = sloped(seed), np.full((2, 4), 1 / 8)
    standing = UnderFixedWeights(q_er, 0.05, 1)
    high, better = standing.known.high_ab, standing.known.better_ab
    looks = 0
    for before, now in pairwise((np.zeros((4, 2), dtype=np.int64), *cut_numbers(table.trials, None))):
        standing.look(table, before, now)
        known = standing.known
        assert (known.high_ab <= high + 1e-12).all()
        assert (known.better_ab | ~better).all()
        assert (known.high_ab[known.better_ab.T] <= 0.0).all()
        high, better, looks = known.high_ab, known.better_ab, looks + 1
    assert looks > 5
    assert better.any()


@pytest.mark.parametrize("seed", range(3))
def test_limits_are_the_largest_of_all_looks(seed: int) -> None:
    table, q_er = sloped(seed, m=4), np.full((4, 4), 1 / 16)
    found = in_rounds(table, q_er)
    nats, pairs = 6.0, ((0, 3), (3, 0), (2, 1))
    best = dict.fromkeys(pairs, -1.0)
    parts = [evidence.differences(each, None) for each in found]
    for last in range(1, len(parts) + 1):
        for a, b in pairs:
            factors = [row for part in parts[:last] for row in part.log_factor_ejab[:, :, a, b].tolist()]
            stakes = np.sum([part.stake_jab[:, a, b] for part in parts[:last]], axis=0).tolist()
            shares = np.exp(parts[0].log_share_jab[:, a, b]).tolist()
            best[a, b] = max(best[a, b], reference.lower_limit(factors, stakes, shares, nats))
    looks = Looked(found, True, 1).evidence(evidence.differences, nats)
    assert len(looks) == len(parts) == len(cut_numbers(table.trials, None))
    known = lower_limit(looks, nats)
    for pair in pairs:
        assert known[pair] == pytest.approx(best[pair], abs=1e-9)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_shares_of_bets_are_the_same_in_all_rounds_and_sum_to_one(n: int) -> None:
    table = sloped(5, n=n)
    cuts = [np.zeros((n, 2), dtype=np.int64), np.full((n, 2), 1), np.full((n, 2), 9), np.full((n, 2), 10)]
    for kind, evidence_of in KINDS.items():
        found = [evidence_of(one_round(table, np.full((2, n), 0.5 / n), *each), None) for each in pairwise(cuts)]
        for each in found:
            assert np.array_equal(each.log_share_jab, found[0].log_share_jab), kind
            assert np.allclose(np.exp(each.log_share_jab).sum(axis=0), 1.0), kind


def test_a_reference_without_new_trials_makes_no_bets() -> None:
    """A round of some cells alone, as for another weighting, must not cost what was shown."""
    table, q_er = sloped(1, n=3, m=1), np.full((1, 3), 1 / 3)
    before, now = np.full((3, 1), 40), np.array([[60], [60], [40]])
    found = evidence.differences(one_round(table, q_er, before, now), None)
    assert not found.stake_jab.any()
    assert not found.log_factor_ejab.any()
    # The two against each other alone need no reference.
    assert evidence.head_to_head(one_round(table, q_er, before, now), None).stake_jab[0, 0, 1] > 0.0
    assert rounds.METHOD.anytime


def test_an_evaluation_in_rounds_says_what_the_rounds_say() -> None:
    table = sloped(2)
    found = judge(table, Judging(intervals="anytime", weights="uniform"))
    standing = UnderFixedWeights(np.full((2, 4), 1 / 8), 0.05, 1)
    for before, now in pairwise((np.zeros((4, 2), dtype=np.int64), *cut_numbers(table.trials, None))):
        standing.look(table, before, now)
    pairs = found.rankings[0].pairs
    assert found.rankings[0].method == "pooled-rounds"
    assert (pairs.better_ab | ~standing.known.better_ab).all()
    assert standing.known.better_ab.any()
