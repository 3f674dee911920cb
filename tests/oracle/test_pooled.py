"""Pooled evidence and verdicts against an oracle written from the theory alone."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from oracle.reference import pooled as reference
from untuned.judge.pool import pools
from untuned.judge.pooled import closure, evidence
from untuned.judge.pooled.evidence import Evidence, Weighed, weighed
from untuned.scores import Floats, ScoreTable

CLOSE = 1e-9
NATS = math.log(30 / 0.05)


def board(seed: int) -> tuple[ScoreTable, Floats]:
    """Return a small table with what is difficult: ragged, ties, missing cells, identical algorithms, weights of 0."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 6)), int(rng.integers(1, 4))
    names, places = [f"a{a}" for a in range(n)], [f"e{e}" for e in range(m)]
    levels = int(rng.choice([3, 1000]))
    least = int(rng.choice([0, 1, 2, 4]))
    cells = {
        name: {place: rng.integers(levels, size=int(rng.integers(least, 6))).astype(float) for place in places}
        for name in names
    }
    identical = [names[:2]] if n > 2 and rng.random() < 0.3 else ()
    q_er = rng.random((m, n)) * (rng.random((m, n)) < 0.8) if rng.random() < 0.5 else np.ones((m, n))
    q_er[0, 0] += 0.1
    return ScoreTable.from_dict(cells, identical=identical), q_er / q_er.sum()


#: Oracles are slow.
ARRANGEMENTS = 3


@pytest.mark.parametrize("seed", range(40))
def test_factors_of_every_environment_bet_and_pair(seed: int) -> None:
    table, q_er = board(seed)
    given = replace(weighed(table, pools(table), q_er), most=ARRANGEMENTS)
    n = len(table.algorithms)
    above, below = evidence.scores_above(given, NATS), evidence.scores_below(given, NATS)
    found = {
        "difference": evidence.differences(given, NATS),
        "head to head": evidence.head_to_head(given, NATS),
        "lower": above,
        "upper": below,
    }
    for kind, known in found.items():
        for e in range(len(given.pools)):
            for j in range(known.stake_jab.shape[0]):
                for a in range(n):
                    for b in range(known.stake_jab.shape[2]):
                        if a != b or kind in ("lower", "upper"):
                            expected = slow_factor(given, e, kind, j, a, b, float(known.stake_jab[j, a, b]))
                            assert known.log_factor_ejab[e, j, a, b] == pytest.approx(expected, abs=CLOSE), (kind, e, j)


def slow_factor(given: Weighed, e: int, kind: str, j: int, a: int, b: int, stake: float) -> float:
    """Return the oracle's log F_e."""
    pool, weight = given.pools[e], float(given.weights_e[e])
    samples = [pool.scores[pool.owners == o].tolist() for o in range(pool.sizes.size)]
    rho = [float(given.rho_er[e][pool.owner_of == o].sum()) for o in range(pool.sizes.size)]
    i, l = int(pool.owner_of[a]), int(pool.owner_of[b])  # noqa: E741
    borders = np.concatenate([[0], np.cumsum(pool.sizes)])
    arrangements = [
        [np.argsort(row[borders[o] : borders[o + 1]]).tolist() for o in range(pool.sizes.size)]
        for row in evidence._places(pool, given.seeds[e], ARRANGEMENTS)
    ]
    one: Callable[[reference.Arrangement], float]
    if kind in ("lower", "upper"):
        side = "lower" if kind == "lower" else "upper"

        def one(arrangement: reference.Arrangement) -> float:
            return reference.log_score_factor(samples, rho, i, arrangement, weight, stake, side)  # type: ignore[arg-type]

    elif i == l:
        return 0.0
    elif kind == "head to head":

        def one(arrangement: reference.Arrangement) -> float:
            return reference.log_head_to_head_factor(samples, i, l, arrangement, weight, stake)

    else:
        aside = int(evidence._split(given).aside_eab[e, a, b])
        if j >= len(evidence.LADDER) and aside:

            def one(arrangement: reference.Arrangement) -> float:
                return reference.log_split_factor(samples, rho, i, l, arrangement, weight, stake, aside)

        else:

            def one(arrangement: reference.Arrangement) -> float:
                return reference.log_joint_factor(samples, rho, i, l, arrangement, weight, stake)

    return reference.log_environment_factor(one, arrangements)


def random_evidence(seed: int, m: int = 4, n: int = 2) -> tuple[Evidence, Floats]:
    rng = np.random.default_rng(seed)
    stakes = np.array([8.0, 4.0, 2.0])[:, None, None] * (1.0 + rng.random((1, n, n)))
    shares = np.broadcast_to(np.log(np.array(evidence.SHARES))[:, None, None], stakes.shape)
    weights = np.ones(m) if seed % 2 else rng.random(m) + 0.1
    return Evidence(rng.normal(1.5, 1.5, size=(m, *stakes.shape)), stakes, shares), weights / weights.sum()


@pytest.mark.parametrize("seed", range(20))
def test_mixtures_limits_and_caps(seed: int) -> None:
    known, weights = random_evidence(seed)
    nats = 3.0
    for a, b in ((0, 1), (1, 0)):
        factors = known.log_factor_ejab[:, :, a, b].tolist()
        stakes = known.stake_jab[:, a, b].tolist()
        assert known.log_e(0.3)[a, b] == pytest.approx(
            reference.log_evidence(factors, stakes, evidence.SHARES, 0.3), abs=CLOSE
        )
        limit = reference.lower_limit(factors, stakes, evidence.SHARES, nats)
        assert known.lower_limit(nats)[a, b] == pytest.approx(min(max(limit, -1.0), 1.0), abs=1e-7)
        cap = reference.robust_c(factors, weights.tolist(), evidence.SHARES, nats)
        most = 1.0 / weights.min()
        found = known.largest_cap(weights, nats)[a, b]
        assert math.isnan(found) if cap is None else min(found, most) == pytest.approx(min(cap, most), rel=1e-5)


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_verdicts_by_all_orders(n: int, seed: int) -> None:
    logs = random_logs(n, seed)
    found = closure.decided(logs, 0.1)
    plain = np.exp(logs)
    np.fill_diagonal(plain, 0.0)
    assert found.tolist() == reference.closure_verdicts(plain.tolist(), 0.1)


@pytest.mark.parametrize("seed", range(30))
def test_verdicts_by_paths(seed: int) -> None:
    n = 8 + seed % 3
    logs = random_logs(n, seed)
    plain = np.exp(logs)
    np.fill_diagonal(plain, 0.0)
    expected = np.array(reference.shortcut_verdicts(plain.tolist(), 0.1))
    assert np.array_equal(closure.decided(logs, 0.1), closure.transitive(expected))


def random_logs(n: int, seed: int) -> Floats:
    """Return evidence that looks like data's: by skill, with noise."""
    rng = np.random.default_rng([n, seed])
    skill = rng.normal(0.0, 3.0, size=n)
    return 1.5 * (skill[:, None] - skill[None, :]) + rng.normal(0.0, 1.5, size=(n, n))


@pytest.mark.parametrize(("n", "count"), [(1, 1), (2, 3), (3, 13), (4, 75), (5, 541), (6, 4683), (7, 47293)])
def test_weak_orders_are_all_there_once(n: int, count: int) -> None:
    orders = closure.weak_orders(n)
    assert len(orders) == count == len({tuple(order) for order in orders.tolist()})
    assert n == 1 or np.allclose(closure.order_weights(n).sum(axis=1), 1.0)
