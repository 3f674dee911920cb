"""The loop of a race on a simulated source: how it ends, what it writes down, and that a kill changes nothing."""

import itertools
import json
from typing import Any

import numpy as np
import pytest

from support.races import Killed, Simulated
from untuned.errors import InvalidInput
from untuned.judge.intervals.betting import BLOCK
from untuned.judge.judging import Judging
from untuned.races.goals import Goal
from untuned.races.racing import FIRST, Budget, Look, Racing
from untuned.races.rules import View, rule_of
from untuned.scores import Floats

COSTS = np.array([[1.0, 2.0], [3.0, 1.0], [0.5, 4.0]])
ANYTIME = Judging(intervals="anytime", weights="uniform")


def racing(source: Simulated, goal: str = "best", **options: Any) -> Racing:
    rule = rule_of(options.pop("rule", "by-cost"))
    judging = options.pop("judging", ANYTIME)
    return Racing(source, Goal.parse(goal), judging, rule, **options)


def rounds_of(source: Simulated) -> list[Any]:
    return [entry["numbers"] for entry in source.log() if entry["kind"] == "round"]


def test_a_goal_is_reached_and_everything_is_written_down() -> None:
    source, looks = Simulated(), list[Look]()
    race = racing(source, costs=COSTS, watch=looks.append)
    assert race.run() == "reached"
    log = source.log()
    assert [entry["kind"] for entry in log] == ["round", "look"] * len(race.looks)
    assert log[0]["numbers"] == [[FIRST] * 2] * 3
    assert all(entry["costs"] == COSTS.tolist() for entry in log if entry["kind"] == "round")
    assert looks == race.looks
    last = race.looks[-1]
    assert last.known["uniform"].better_ab[2].tolist() == [True, True, False]
    assert not last.open["uniform"]
    assert log[-1]["trials"] == last.trials == source.stored.sum()
    assert log[-1]["weightings"]["uniform"]["open"] == []
    assert [2, 0] in log[-1]["weightings"]["uniform"]["better"]
    for before, after in itertools.pairwise(race.looks):
        assert (after.trials_ae >= before.trials_ae).all()
        assert (after.trials_ae > before.trials_ae).any()
        assert before.open["uniform"]
        assert all(price >= 0.0 for price in before.costs["uniform"])
        assert sum(part for _, _, part in before.doubts["uniform"]) <= 1.0 + 1e-9


def test_within_a_difference() -> None:
    assert racing(Simulated(apart=0.0), "best within 0.4", costs=COSTS).run() == "within"
    assert racing(Simulated(apart=3.0), "all within 0.01", costs=COSTS).run() == "reached"


@pytest.mark.parametrize("most", [6, 23, 24, 60, 333])
def test_the_number_of_trials_is_kept_and_nearly_used(most: int) -> None:
    source = Simulated(apart=0.0)
    race = racing(source, costs=COSTS, budget=Budget(trials=most))
    assert race.run() == "trials"
    assert source.stored.sum() <= most
    assert race.looks
    if most > 50:
        assert source.stored.sum() > 0.8 * most


def test_the_time_is_kept() -> None:
    source = Simulated(apart=0.0)
    assert racing(source, budget=Budget(seconds=500.0)).run() == "budget"
    assert 250.0 < source.clock <= 500.0
    # With trials that take longer than was planned, the round under way gets a tenth.
    source = Simulated(apart=0.0, seconds=30.0)
    race = racing(source, costs=COSTS, budget=Budget(seconds=500.0))
    assert race.run() == "budget"
    assert not race.looks
    assert 550.0 <= source.clock <= 550.0 + 30.0
    # Both limits: it says which one.
    assert racing(Simulated(apart=0.0), budget=Budget(seconds=300.0, trials=10_000)).run() == "budget"
    assert racing(Simulated(apart=0.0), budget=Budget(seconds=1e6, trials=100)).run() == "trials"


def test_a_stop_ends_it_and_a_goal_that_is_reached_comes_first() -> None:
    source = Simulated()
    assert racing(source, costs=COSTS, stop=lambda: source.stored.sum() >= 30).run() == "stopped"
    assert 24 < source.stored.sum() <= 31
    assert len(rounds_of(source)) == 2
    assert racing(source, costs=COSTS).run() == "reached"
    assert racing(source, costs=COSTS, stop=lambda: True).run() == "reached"
    assert racing(Simulated(), stop=lambda: True).run() == "stopped"


def finished(source: Simulated, **options: Any) -> tuple[Any, ...]:
    race = racing(source, **options)
    ending = race.run()
    last = race.looks[-1]
    known = last.known["uniform"]
    return ending, rounds_of(source), source.stored.tolist(), known.better_ab.tolist(), known.high_ab.tolist()


@pytest.mark.parametrize("goal", ["best", "all within 0.1"])
def test_a_kill_at_any_moment_changes_nothing(goal: str) -> None:
    whole = Simulated()
    expected = finished(whole, goal=goal, costs=COSTS)
    moments = len(whole.entries) + int(whole.stored.sum())
    assert moments > 40
    for lives in range(0, moments, 7):
        source = Simulated(lives=lives)
        with pytest.raises(Killed):
            racing(source, goal, costs=COSTS).run()
        source.lives = np.inf
        assert finished(source, goal=goal, costs=COSTS) == expected
        assert [entry["kind"] for entry in source.log()].count("look") == len(expected[1])


def test_killed_again_and_again() -> None:
    expected = finished(Simulated(), costs=COSTS)
    source = Simulated()
    kills = 0
    while True:
        source.lives = 7
        try:
            found = finished(source, costs=COSTS)
        except Killed:
            kills += 1
            continue
        break
    assert kills > 5
    assert found == expected


def test_every_prefix_of_the_log_leads_to_the_same_end() -> None:
    whole = Simulated()
    expected = finished(whole, costs=COSTS)
    for length in range(len(whole.entries) + 1):
        source = Simulated(entries=whole.entries[:length], stored=whole.stored.copy())
        # Trials that are there already, and were never planned, decide nothing.
        assert finished(source, costs=COSTS) == expected


def test_costs_that_were_written_down_replay_a_race() -> None:
    whole = Simulated(seconds=0.7)
    expected = finished(whole)
    recorded = np.array([entry["costs"] for entry in whole.log() if entry["kind"] == "round"])
    assert finished(Simulated(seconds=9.0), costs=recorded) == expected


def test_only_complete_rounds_decide() -> None:
    """Trials and durations of a round that is under way, or of no round, are never looked at."""
    plain, ahead = Simulated(), Simulated(stored=np.array([[300, 4], [7, 90], [0, 11]]))
    ends = [finished(source) for source in (plain, ahead)]
    assert ends[0][1] == ends[1][1]
    assert ends[0][3:] == ends[1][3:]
    assert plain.measured == ahead.measured
    assert {json.dumps(each) for each in ahead.measured} == {json.dumps(each) for each in rounds_of(ahead)}

    views: list[View] = []

    def mine(view: View) -> Floats:
        views.append(view)
        return np.full((3, 2), 5.0)

    source = Simulated(stored=np.full((3, 2), 400))
    assert racing(source, rule=mine, costs=COSTS, budget=Budget(trials=200)).run() in ("reached", "trials")
    assert [view.trials_ae.tolist() for view in views[: len(rounds_of(source)) - 1]] == rounds_of(source)[:-1]


def test_continued_with_another_goal_and_a_larger_budget() -> None:
    source = Simulated(apart=0.5)
    assert racing(source, "all", costs=COSTS, budget=Budget(trials=60)).run() == "trials"
    before = rounds_of(source)
    race = racing(source, "c>a", costs=COSTS)
    assert race.run() == "reached"
    assert rounds_of(source)[: len(before)] == before
    again = racing(source, "all", costs=COSTS)
    assert again.run() == "reached"
    better = race.looks[-1].known["uniform"].better_ab
    assert (again.looks[-1].known["uniform"].better_ab | ~better).all()
    # A smaller one starts nothing.
    stored = source.stored.copy()
    assert racing(source, "all", costs=COSTS, budget=Budget(trials=10)).run() == "reached"
    assert np.array_equal(source.stored, stored)


def test_a_round_that_was_planned_is_not_run_beyond_the_number_of_trials() -> None:
    source = Simulated(apart=0.0)
    racing(source, costs=COSTS, stop=lambda: source.stored.sum() >= 100).run()
    stored = source.stored.copy()
    assert racing(source, costs=COSTS, budget=Budget(trials=int(stored.sum()))).run() == "trials"
    assert np.array_equal(source.stored, stored)


def test_fewer_trials_than_cells_are_refused() -> None:
    with pytest.raises(InvalidInput, match="pass at least 6"):
        racing(Simulated(), budget=Budget(trials=5))


@pytest.mark.parametrize(("weights", "first"), [("both", FIRST), ("game", BLOCK)])
def test_under_the_game_s_weights_alone_rounds_are_blocks(weights: str, first: int) -> None:
    """With both weightings the goal is pursued under equal weights, at their part of delta."""
    source = Simulated(apart=2.0)
    race = racing(source, judging=Judging(intervals="anytime", weights=weights), costs=np.ones((3, 2)))
    assert race.run() == "reached"
    assert [*race.looks[-1].known] == ["uniform" if weights == "both" else "game"]
    assert rounds_of(source)[0] == [[first] * 2] * 3
    assert all(known.better_ab[2, :2].all() for known in race.looks[-1].known.values())


def test_environments_and_references_without_weight() -> None:
    source = Simulated(apart=1.0)
    weights = {("x", "a"): 1.0, ("x", "b"): 2.0}
    race = racing(source, judging=Judging(intervals="anytime", weights=weights), costs=COSTS)
    assert race.run() == "reached"
    assert not source.stored[:, 1].any()
    assert (source.stored[:, 0] >= FIRST).all()
    assert race.looks[-1].known["given"].better_ab[2, :2].all()


def test_one_environment_and_two_algorithms() -> None:
    source = Simulated(names=(("a", "b"), ("x",)), stored=np.zeros((2, 1), dtype=np.int64))
    race = racing(source, "best", costs=np.ones((2, 1)))
    assert race.run() == "reached"
    assert race.looks[-1].known["uniform"].order == [1, 0]
