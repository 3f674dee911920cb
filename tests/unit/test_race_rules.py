"""Where trials go: variances against simulation, cheapest numbers against an optimiser, and rules of all kinds."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy import optimize

from untuned.errors import InvalidInput, UnknownName
from untuned.judge.game import aggregate
from untuned.judge.intervals.betting import BLOCK
from untuned.judge.judging import Judging
from untuned.judge.percentiles import percentiles
from untuned.judge.pool import pools
from untuned.races.rules import LEAST, ROWS, RULES, View, numbers, rule_of
from untuned.races.standing import UnderFixedWeights, UnderTheGame
from untuned.races.variance import affordable, cheapest, pair_variances
from untuned.scores import Floats, ScoreTable

SHARES = np.array([[0.2, 0.05, 0.15], [0.1, 0.4, 0.1]])


@pytest.mark.parametrize("pair", [(0, 1), (2, 0)])
def test_variances_against_simulation(pair: tuple[int, int]) -> None:
    rng = np.random.default_rng(20330)
    trials, boards = 50, 4000
    shift = np.array([[0.0, 0.3], [0.5, 0.0], [0.2, 0.8]])
    scale = np.array([[1.0, 0.5], [2.0, 1.0], [1.0, 1.0]])

    def drawn(size: int) -> ScoreTable:
        return ScoreTable.from_array(shift[:, :, None] + scale[:, :, None] * rng.normal(size=(3, 2, size)))

    predicted = np.mean([(pair_variances(drawn(trials), SHARES, [pair])[0] / trials).sum() for _ in range(60)])
    differences = []
    for _ in range(boards):
        score_a = aggregate(percentiles(pools(drawn(trials))).z_aer, SHARES)
        differences.append(score_a[pair[0]] - score_a[pair[1]])
    assert predicted == pytest.approx(np.var(differences), rel=0.15)


def test_environments_without_weight_add_nothing_and_few_trials_something() -> None:
    table = ScoreTable.from_array([[[1.0, 1.0], [1.0]], [[0.0, 0.0], [0.0]]])
    found = pair_variances(table, np.array([[0.5, 0.5], [0.0, 0.0]]), [(0, 1)])
    assert (found[0, :, 0] > 0.0).all()
    assert not found[0, :, 1].any()
    assert np.isfinite(pair_variances(ScoreTable.from_array([[[]], [[]]]), np.array([[0.5, 0.5]]), [(0, 1)])).all()


@pytest.mark.parametrize("seed", range(6))
def test_the_cheapest_numbers_against_an_optimiser(seed: int) -> None:
    rng = np.random.default_rng([20331, seed])
    variance, cost = rng.uniform(0.01, 1.0, size=(2, 3)), rng.uniform(0.1, 10.0, size=(2, 3))
    trials = rng.integers(2, 40, size=(2, 3))
    wanted = 0.3 * float((variance / trials).sum())
    found = cheapest(variance, cost, trials, wanted)
    assert (found >= trials).all()
    assert (variance / found).sum() == pytest.approx(wanted, rel=1e-6)
    best = optimize.minimize(
        lambda x: (x * cost.ravel()).sum(),
        1.5 * found.ravel(),
        bounds=[(float(t), None) for t in trials.ravel()],
        constraints={"type": "ineq", "fun": lambda x: 1.0 - (variance.ravel() / x).sum() / wanted},
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-12},
    )
    assert (found * cost).sum() <= best.fun * (1.0 + 1e-4)
    # The same for a price: what it leaves is the least.
    price = float(((found - trials) * cost).sum())
    again = affordable(variance, cost, trials, price)
    assert np.allclose(again, found, rtol=1e-6)
    assert ((again - trials) * cost).sum() == pytest.approx(price, rel=1e-6)


def test_what_is_there_is_enough() -> None:
    trials = np.array([[7, 9]])
    assert np.array_equal(cheapest(np.array([[0.1, 0.1]]), np.ones((1, 2)), trials, 1.0), trials)
    assert np.array_equal(affordable(np.zeros((1, 2)), np.ones((1, 2)), trials, 5.0), trials)


# --- rules


def sloped(n: int = 4, m: int = 3, trials: int = 12, identical: Any = ()) -> ScoreTable:
    rng = np.random.default_rng(20332)
    cells = rng.normal(size=(n, m, trials)) + 0.4 * np.arange(n)[:, None, None]
    names = [f"a{a}" for a in range(n)]
    return ScoreTable.from_array(cells, names, identical=identical)


@dataclass
class Case:
    """A view, made from options that tests change."""

    table: ScoreTable
    q_er: Floats
    open: tuple[tuple[int, int], ...] = ((3, 2), (3, 1))
    seconds: float = 200.0

    def view(self, cost: Floats | None = None) -> View:
        standing = UnderFixedWeights(self.q_er, 0.05, 1)
        trials = self.table.trials
        standing.look(self.table, np.zeros_like(trials), trials)
        cost = np.ones(trials.shape) if cost is None else cost
        return View(self.table, standing, self.open, cost, self.seconds, math.inf)


def uniform(n: int = 4, m: int = 3) -> Floats:
    return np.full((m, n), 1.0 / (m * n))


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("seconds", [1e-9, 30.0, 500.0])
def test_rounds_are_whole_kept_to_their_seconds_and_starve_none(name: str, seconds: float) -> None:
    rng = np.random.default_rng(20333)
    view = Case(sloped(), uniform(), seconds=seconds).view(rng.uniform(0.2, 3.0, size=(4, 3)))
    found = numbers(view, RULES[name](view))
    more = found - view.trials_ae
    assert found.dtype == np.int64
    assert (more >= LEAST).all()
    assert (more.min(axis=0) >= more.max(axis=0) // ROWS).all()
    least = float((LEAST * view.cost_ae).sum())
    assert (more * view.cost_ae).sum() <= max(seconds, least) + 1e-9
    if seconds > 2 * least:
        assert (more * view.cost_ae).sum() > 0.5 * seconds


def test_elimination_leaves_the_rest_a_part_and_equal_ones_are_equal() -> None:
    view = Case(sloped(), uniform(), seconds=600.0).view()
    equal, eliminate = (numbers(view, RULES[name](view)) - view.trials_ae for name in ("equal", "eliminate"))
    assert np.ptp(equal) == 0
    assert (eliminate[1:] > equal[1:]).all()
    assert (eliminate[0] < equal[0]).all()


def test_what_has_no_weight_gets_none() -> None:
    q_er = uniform()
    q_er[1] = 0.0
    q_er[:, 0] = 0.0
    view = Case(sloped(), q_er / q_er.sum()).view()
    for rule in RULES.values():
        more = numbers(view, rule(view)) - view.trials_ae
        assert not more[:, 1].any()
        # Neither a reference nor in an open pair.
        assert not more[0].any()
        assert (more[1:, [0, 2]] >= LEAST).all()


def test_costs_count() -> None:
    cost = np.ones((4, 3))
    cost[3, 0] = 100.0
    view = Case(sloped(trials=30), uniform(), seconds=2000.0).view(cost)
    plain = Case(sloped(trials=30), uniform(), seconds=2000.0).view()
    dear, cheap = (numbers(each, RULES["by-cost"](each)) - each.trials_ae for each in (view, plain))
    assert dear[3, 0] < 0.5 * cheap[3, 0]
    assert dear[3, 0] < 0.5 * dear[3, 1]


def test_identical_ones_get_equally_many() -> None:
    view = Case(sloped(identical=[["a0", "a1"]]), uniform(), open=((3, 2),)).view()
    wanted = np.zeros((4, 3))
    wanted[0] = 30.0
    found = numbers(view, wanted)
    assert np.array_equal(found[0], found[1])
    assert (found[0] > found[2]).all()


def test_under_the_game_s_weights_blocks_are_filled() -> None:
    table = sloped(n=3, m=2, trials=BLOCK)
    standing = UnderTheGame((table.algorithms, table.environments), Judging(), 0.05, 1)
    standing.look(table, np.zeros_like(table.trials), table.trials)
    for seconds in (1.0, 400.0):
        view = View(table, standing, ((2, 1),), np.ones((3, 2)), seconds, math.inf)
        for rule in RULES.values():
            found = numbers(view, rule(view))
            assert not (found % BLOCK).any()
            assert (found > table.trials).any()
            assert (found >= table.trials).all()


@pytest.mark.parametrize(
    "wrong",
    [np.zeros(3), np.full((4, 3), -1.0), np.full((4, 3), np.nan), np.full((4, 3), np.inf), None, "many", [[1], [2, 3]]],
)
def test_wrong_numbers_of_a_rule_are_refused(wrong: Any) -> None:
    with pytest.raises(InvalidInput, match="a rule returns numbers of trials"):
        numbers(Case(sloped(), uniform()).view(), wrong)


def test_a_rule_may_ask_for_whatever_it_likes() -> None:
    view = Case(sloped(), uniform(), seconds=100.0).view()
    for wanted in (np.zeros((4, 3)), np.full((4, 3), 1e300), np.full((4, 3), 0.3).tolist(), np.full((4, 3), 3)):
        more = numbers(view, wanted) - view.trials_ae  # type: ignore[arg-type]
        assert (more >= LEAST).all()
        assert more.sum() <= 100.0


def test_rules_by_name() -> None:
    assert rule_of("equal") is RULES["equal"]
    assert rule_of(RULES["equal"]) is RULES["equal"]
    with pytest.raises(UnknownName):
        rule_of("best")
    with pytest.raises(InvalidInput, match="a function of a View"):
        rule_of(3)  # type: ignore[arg-type]


@pytest.mark.parametrize("remaining", [math.inf, 1e4])
def test_equal_estimates_are_no_obstacle(remaining: float) -> None:
    coins = np.tile([0.0, 1.0], (3, 2, 6))
    coins[2] = np.tile([0.0, 1.0, 1.0], (2, 4))
    table = ScoreTable.from_array(coins)
    standing = UnderFixedWeights(uniform(3, 2), 0.05, 1)
    standing.look(table, np.zeros_like(table.trials), table.trials)
    for pairs in ([(0, 1)], [(2, 0), (2, 1), (0, 1)]):
        view = View(table, standing, pairs, np.ones((3, 2)), 60.0, remaining)
        found = numbers(view, RULES["by-cost"](view)) - table.trials
        assert (found >= LEAST).all()
        assert 30 < found.sum() <= 60
