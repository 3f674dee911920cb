"""Simulated races: the same seed gives the same trials and the same race, however it is stopped."""

import numpy as np
import pytest

from untuned.judge.jit import INTERPRETED
from untuned.judge.judging import Judging
from untuned.lab import CollectedPopulation, population
from untuned.lab.races import ADVERSARIES, Course, Simulation, simulated
from untuned.races import standing
from untuned.races.racing import Budget
from untuned.races.rules import RULES

COSTS = np.array([[1.0, 0.5, 2.0], [3.0, 1.0, 0.2], [1.0, 1.0, 1.0]])
UNIFORM = Judging(delta=0.2, weights="uniform", intervals="anytime")


def never() -> bool:
    return False


def test_trial_t_of_a_cell_is_the_same_whatever_else_was_run() -> None:
    few, many = (Simulation(population("normal"), COSTS, 7) for _ in range(2))
    few.collect(np.full((3, 3), 5), never)
    many.collect(np.array([[5, 900, 1]] * 3), never)
    assert few.scores().trials.tolist() == [[5] * 3] * 3
    assert np.array_equal(few.scores().cells[1][0], many.scores().cells[1][0])
    assert np.array_equal(few.scores().cells[1][1], many.scores().cells[1][1][:5])
    other = Simulation(population("normal"), COSTS, 8)
    other.collect(np.full((3, 3), 5), never)
    assert not np.array_equal(few.scores().cells[1][0], other.scores().cells[1][0])


def test_collected_scores_are_resampled() -> None:
    table = population("normal").sample(10, np.random.default_rng(0))
    source = Simulation(CollectedPopulation(table), COSTS, 0)
    source.collect(np.full((3, 3), 100), never)
    assert set(source.scores().cells[2][1]) <= set(table.cells[2][1])
    assert source.names == (table.algorithms, table.environments)


def test_the_clock_is_the_sum_of_costs() -> None:
    source = Simulation(population("normal"), COSTS, 0, workers=2)
    assert np.isnan(source.costs(np.zeros((3, 3), dtype=np.int64))).all()
    source.collect(np.full((3, 3), 4), never)
    assert source.seconds == pytest.approx(4 * COSTS.sum())
    assert source.elapsed() == pytest.approx(2 * COSTS.sum())
    assert source.taken_up().elapsed() == 0.0
    assert source.costs(source.scores().trials).tolist() == COSTS.tolist()


def test_a_round_that_was_stopped_is_not_complete() -> None:
    source = Simulation(population("normal"), COSTS, 0)
    source.note({"kind": "round", "numbers": [[4] * 3] * 3})
    asked = iter([False, False, True])
    assert not source.collect(np.full((3, 3), 4), lambda: next(asked))
    rounds = source.scores().rounds
    assert rounds is not None
    assert len(rounds) == 0
    assert source.taken_up().collect(np.full((3, 3), 4), never)
    rounds = source.scores().rounds
    assert rounds is not None
    assert len(rounds) == 1


@pytest.mark.skipif(INTERPRETED, reason="a race takes minutes without the compiler")
@pytest.mark.parametrize("rule", [*RULES, *ADVERSARIES])
def test_a_race_is_replayed(rule: str) -> None:
    course = Course(("best",), rule, UNIFORM, Budget(trials=400))
    once, again = (simulated(population("normal"), course, COSTS, 3) for _ in range(2))
    assert once == again
    assert once.rounds > 2
    assert once.sessions == 1


@pytest.mark.skipif(INTERPRETED, reason="a race takes minutes without the compiler")
def test_a_race_that_was_stopped_goes_on_as_if_nothing_had_happened() -> None:
    judging, rule = UNIFORM, "by-cost"
    whole = simulated(population("normal"), Course(("all",), rule, judging, Budget(trials=400)), COSTS, 3)
    parts = simulated(population("normal"), Course(("all",), rule, judging, Budget(trials=400), 0.1), COSTS, 3)
    assert parts.sessions > 1
    assert (parts.trials, parts.rounds, parts.decided) == (whole.trials, whole.rounds, whole.decided)


@pytest.mark.skipif(INTERPRETED, reason="a race takes minutes without the compiler")
def test_wrong_verdicts_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Coins are exactly as good as each other, so every verdict is wrong."""
    course = Course(("best",), "equal", UNIFORM, Budget(trials=400))
    assert not simulated(population("coins"), course, np.ones((2, 4)), 0).anything
    monkeypatch.setattr(standing, "decided", lambda log_e, _: log_e > 0.0)
    found = simulated(population("coins"), course, np.ones((2, 4)), 0)
    assert (found.ending, found.verdicts, found.evaluation) == ("reached", True, False)
    # That one is not worse is true.
    assert not found.bounds


@pytest.mark.skipif(INTERPRETED, reason="a race takes minutes without the compiler")
@pytest.mark.parametrize(("goal", "wrong"), [("all within 0.2", True), ("best within 0.2", False)])
def test_wrong_certificates_are_found(monkeypatch: pytest.MonkeyPatch, goal: str, wrong: bool) -> None:
    """Bounds that are far too narrow show that two are close; the best is still the best."""
    monkeypatch.setattr(standing, "decided", lambda log_e, _: np.zeros(log_e.shape, dtype=np.bool_))
    monkeypatch.setattr(standing, "closed", lambda high_ab: 0.01 * np.abs(high_ab))
    course = Course((goal,), "equal", UNIFORM, Budget(trials=400))
    found = simulated(population("constant"), course, np.ones((2, 2)), 0, evaluated=False)
    assert (found.ending, found.bounds, found.within, found.evaluation) == ("within", True, wrong, None)
