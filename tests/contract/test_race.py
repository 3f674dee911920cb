"""`untuned.race` on small studies: from the first round to the evaluation, continued, refused, on every engine."""

import dataclasses
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import untuned
from support import needs
from untuned.collect.session import Session
from untuned.errors import InvalidInput, StoreError, UnknownName
from untuned.races.result import Race
from untuned.races.rules import View
from untuned.reports.bands import bands

STUDY = untuned.Study(
    "small",
    algorithms=["sarsa", "q", "ac"],
    environments=["chain-10-stochastic", "gridworld-5-stochastic"],
    trials=7,
    seed=5,
)
COSTS = np.array([[1.0, 2.0], [1.5, 1.0], [1.0, 3.0]])


def race(folder: Path, goal: str = "best", study: untuned.Study = STUDY, **options: Any) -> Race:
    options = {"max_trials": 150, "engine": "in-process", "costs": COSTS, **options}
    return untuned.race(study, goal, folder, **options)


def log_of(folder: Path, kind: str) -> list[dict[str, Any]]:
    with Session.at(folder) as session:
        return [entry for entry in session.race_log() if entry["kind"] == kind]


def rounds_of(folder: Path) -> list[Any]:
    return [entry["numbers"] for entry in log_of(folder, "round")]


def facts(found: Race) -> tuple[Any, ...]:
    known = [look.known["uniform"] for look in found.looks]
    return (
        found.ending,
        [look.trials_ae.tolist() for look in found.looks],
        [each.better_ab.tolist() for each in known],
        [each.high_ab.tolist() for each in known],
    )


def test_from_the_first_round_to_the_evaluation(tmp_path: Path) -> None:
    looks: list[Any] = []
    found = race(tmp_path, look=looks.append)
    assert found.ending == "trials"
    assert not found.reached
    assert [look.trials for look in found.looks] == [look.trials for look in looks]
    assert 100 < found.looks[-1].trials <= 150
    assert rounds_of(tmp_path) == [look.trials_ae.tolist() for look in found.looks]
    (declared,) = log_of(tmp_path, "declared")
    assert (declared["delta"], declared["weights"]) == (0.05, "uniform")
    assert declared["algorithms"] == list(found.algorithms) == ["sarsa", "q", "ac"]
    assert [entry["ending"] for entry in log_of(tmp_path, "ended")] == ["trials"]
    assert found.evaluation is not None
    assert [each.method for each in found.evaluation.rankings] == ["pooled-rounds"]
    assert not found.evaluation.warnings
    assert "Under equal weights" in str(found)
    assert found.to_dict()["looks"][-1]["trials_by_cell"] == rounds_of(tmp_path)[-1]
    assert found.to_json()


def test_raced_twice_in_one_process(tmp_path: Path) -> None:
    """The function is not hidden by the modules that it loads."""
    assert facts(race(tmp_path / "a")) == facts(race(tmp_path / "b"))
    assert callable(untuned.race)


def test_a_goal_that_is_reached_and_others_after_it(tmp_path: Path) -> None:
    first = race(tmp_path, "best within 0.5", max_trials=None)
    assert first.ending == "within"
    rounds = rounds_of(tmp_path)
    again = race(tmp_path, "best within 0.5", max_trials=None)
    assert rounds_of(tmp_path) == rounds
    assert facts(again) == facts(first)
    larger = race(tmp_path, "all", max_trials=int(np.sum(rounds[-1])) + 100)
    assert larger.ending == "trials"
    assert rounds_of(tmp_path)[: len(rounds)] == rounds
    assert len(rounds_of(tmp_path)) > len(rounds)
    assert facts(larger)[1][: len(rounds)] == facts(first)[1]
    assert race(tmp_path, "q>ac,sarsa>q", rule="eliminate", max_trials=None, stop=lambda: True).ending == "stopped"


def test_trials_that_were_there_are_rounds_at_fixed_numbers(tmp_path: Path) -> None:
    untuned.collect_scores(dataclasses.replace(STUDY, trials=13), tmp_path, engine="in-process")
    found = race(tmp_path)
    assert rounds_of(tmp_path)[:4] == [[[each] * 2] * 3 for each in (5, 8, 12, 18)]
    assert [entry["costs"] is None for entry in log_of(tmp_path, "round")[:5]] == [True] * 4 + [False]
    assert len(found.looks) == len(rounds_of(tmp_path)) > 4
    assert found.evaluation is not None
    # Replayed from its own record.
    other = tmp_path / "other"
    untuned.collect_scores(dataclasses.replace(STUDY, trials=13), other, engine="in-process")
    assert facts(race(other, costs=tmp_path)) == facts(found)


def test_killed_while_writing_down_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    untuned.collect_scores(dataclasses.replace(STUDY, trials=13), tmp_path, engine="in-process")
    log_race = Session.log_race

    def once(session: Session, entry: Any) -> None:
        log_race(session, entry)
        if entry["kind"] == "round":
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Session, "log_race", once)
        with pytest.raises(KeyboardInterrupt):
            race(tmp_path)
    assert len(rounds_of(tmp_path)) == 1
    race(tmp_path)
    assert rounds_of(tmp_path)[:4] == [[[each] * 2] * 3 for each in (5, 8, 12, 18)]


@pytest.mark.parametrize("weights", ["uniform", "both"])
def test_no_trial_is_seen_before_its_round_is_planned(tmp_path: Path, weights: str) -> None:
    """Rounds of fixed numbers bring cells with fewer trials up to the others, with every rule."""
    fewer = dataclasses.replace(STUDY, trials=20, environments=STUDY.environments[:1])
    untuned.collect_scores(fewer, tmp_path, engine="in-process")
    found = race(tmp_path, weights=weights, rule="eliminate", max_trials=200)
    fixed = (5, 8, 12, 18, 27)
    assert rounds_of(tmp_path)[:5] == [[[each] * 2] * 3 for each in fixed]
    assert [look.trials for look in found.looks[:5]] == [6 * each for each in fixed]
    # Continued, nothing is added to what was written down.
    rounds = rounds_of(tmp_path)
    race(tmp_path, weights=weights, rule="eliminate", max_trials=200)
    assert rounds_of(tmp_path) == rounds


def test_a_limit_below_the_trials_that_are_there(tmp_path: Path) -> None:
    untuned.collect_scores(dataclasses.replace(STUDY, trials=20), tmp_path, engine="in-process")
    found = race(tmp_path, max_trials=110)
    assert (found.ending, found.looks[-1].trials) == ("trials", 6 * 18)
    again = race(tmp_path, max_trials=200)
    assert [look.trials for look in again.looks[:5]] == [6 * each for each in (5, 8, 12, 18, 27)]


def test_costs_that_were_measured_replay_a_race(tmp_path: Path) -> None:
    found = race(tmp_path / "a", costs=None)
    assert facts(race(tmp_path / "b", costs=tmp_path / "a")) == facts(found)
    costs = [entry["costs"] for entry in log_of(tmp_path / "a", "round")]
    assert [entry["costs"] for entry in log_of(tmp_path / "b", "round")] == costs
    assert costs[1] != costs[2]


def test_another_order_of_names_is_the_same_race(tmp_path: Path) -> None:
    expected = race(tmp_path / "whole")
    race(tmp_path / "parts", max_trials=60)
    turned = dataclasses.replace(STUDY, algorithms=list(STUDY.algorithms)[::-1])
    found = race(tmp_path / "parts", study=turned, max_trials=150, costs=COSTS[::-1])
    assert found.algorithms == expected.algorithms
    # Rounds that the smaller limit cut short are others.
    assert found.looks[0].trials_ae.tolist() == expected.looks[0].trials_ae.tolist()
    assert [look.trials_ae.tolist() for look in found.looks] == rounds_of(tmp_path / "parts")
    assert facts(race(tmp_path / "parts")) == facts(found)


def test_what_was_declared_must_not_change(tmp_path: Path) -> None:
    race(tmp_path, max_trials=40)
    fewer = dataclasses.replace(STUDY, algorithms=["sarsa", "q"])
    more = dataclasses.replace(STUDY, environments=[*STUDY.environments, "cart-pole"])
    for options, words in (
        ({"delta": 0.1}, r"declared with delta=0.05, and now has 0.1: .*--delta 0.05.* another seed"),
        ({"weights": "both"}, "declared with weights='uniform', and now has 'both'"),
        ({"weights": {"chain-10-stochastic": 1.0}}, r"and now has \(1, 0\) of the environments"),
        ({"study": fewer, "costs": None}, "declared with other algorithms: ac removed"),
        ({"study": more, "costs": None}, "declared with other environments: cart-pole added"),
        ({"replace": True}, "cannot be replaced"),
        ({"costs": np.ones((2, 2))}, "costs are positive seconds"),
        ({"costs": -COSTS}, "costs are positive seconds"),
        ({"costs": "many"}, "no file or folder"),
        ({"intervals": "pairing"}, "methods that hold at all times"),
        ({"conventions": "paper"}, "leave intervals, conventions and max_algorithms out"),
        ({"hours": 0}, "hours=0"),
        ({"hours": float("nan")}, "hours=nan"),
        ({"max_trials": 0}, "max_trials=0"),
        ({"rule": 3}, "a function of a View"),
        ({"goal": "second"}, "is not known"),
    ):
        with pytest.raises(InvalidInput, match=words):
            race(tmp_path, **options)
    with pytest.raises(UnknownName):
        race(tmp_path, "vs:mine")
    rounds = rounds_of(tmp_path)
    race(tmp_path, max_trials=40)
    assert rounds_of(tmp_path) == rounds
    untuned.collect_scores(STUDY, tmp_path / "plain", engine="in-process")
    with pytest.raises(InvalidInput, match="no record of costs"):
        race(tmp_path, costs=tmp_path / "plain")
    race(tmp_path / "two", study=fewer, costs=None, max_trials=40)
    with pytest.raises(InvalidInput, match="other algorithms or environments"):
        race(tmp_path, costs=tmp_path / "two")


def test_given_weights_are_declared_and_recognised(tmp_path: Path) -> None:
    weights = {("gridworld-5-stochastic", "q"): 1.0, ("gridworld-5-stochastic", "sarsa"): 2.0}
    found = race(tmp_path, weights=weights)
    assert found.evaluation is not None
    assert not [each for each in found.evaluation.warnings if "declared" in each]
    assert not np.array(rounds_of(tmp_path))[:, :, 0].any()
    assert not [each for each in untuned.evaluate(tmp_path, refine=0, weights=weights).warnings if "declared" in each]
    other = {("gridworld-5-stochastic", "q"): 1.0, ("gridworld-5-stochastic", "sarsa"): 1.0}
    assert [
        each for each in untuned.evaluate(tmp_path, refine=0, weights=other).warnings if "hold by themselves" in each
    ]
    race(tmp_path, weights=weights)


def test_evaluations_of_a_raced_study(tmp_path: Path) -> None:
    found = race(tmp_path, "all")
    default = untuned.evaluate(tmp_path, refine=0)
    assert [(each.weights, each.method) for each in default.rankings] == [("uniform", "pooled-rounds")]
    assert found.evaluation is not None
    assert (default.pairs.better_ab == found.evaluation.pairs.better_ab).all()
    assert not [each for each in default.warnings if "declared" in each]
    both = untuned.evaluate(tmp_path, refine=0, weights="both")
    assert [each.method for each in both.rankings] == ["betting", "pooled-rounds"]
    assert [each for each in both.warnings if "hold by themselves" in each]
    for method in ("pairing", "pooled", "bentkus"):
        with pytest.raises(InvalidInput, match="the study was raced"):
            untuned.evaluate(tmp_path, refine=0, intervals=method, weights="uniform")
    warned = untuned.evaluate(tmp_path, refine=0, intervals="wilson").warnings
    assert [each for each in warned if "the method does not know" in each]
    other = untuned.evaluate(tmp_path, refine=0, delta=0.1)
    assert [each for each in other.warnings if "delta=0.05 and equal weights" in each]
    assert "only if the choice of delta was made before the race" in other.claim
    assert other.derived.undeclared == ("delta",)
    with pytest.raises(InvalidInput, match="was raced"):
        untuned.run(STUDY, tmp_path, engine="in-process")
    with STUDY.open(tmp_path) as session, pytest.raises(InvalidInput, match="was raced"):
        session.collect(trials=40, engine="in-process")
    with pytest.raises(InvalidInput, match="raced: the race was for higher scores"):
        untuned.evaluate(tmp_path, minimize=True)


def test_nothing_is_replaced_in_a_raced_study(tmp_path: Path) -> None:
    race(tmp_path, max_trials=40)
    before = untuned.evaluate(tmp_path, refine=0).to_dict()
    for use in (untuned.run, untuned.collect_scores):
        with pytest.raises(InvalidInput, match="cannot be replaced"):
            use(STUDY, tmp_path, engine="in-process", replace=True)
    assert untuned.evaluate(tmp_path, refine=0).to_dict() == before


def test_measured_costs_follow_the_names(tmp_path: Path) -> None:
    race(tmp_path, max_trials=60)
    turned = dataclasses.replace(STUDY, algorithms=list(STUDY.algorithms)[::-1])
    race(tmp_path, study=turned, max_trials=150, costs=None)
    with STUDY.open(tmp_path) as session:
        expected = session.seconds(np.array(rounds_of(tmp_path)[-2]))
    assert log_of(tmp_path, "round")[-1]["costs"] == pytest.approx(expected)


def test_means_of_a_race_hold_at_any_number_of_trials(tmp_path: Path) -> None:
    race(tmp_path, max_trials=60)
    found = untuned.evaluate(tmp_path, refine=0)
    for a in range(3):
        for e in range(2):
            cell, support = found.scores.cells[a][e], found.scores.ranges[e]
            level = 0.05 / 6 / (cell.size * (cell.size + 1))
            expected = untuned.intervals.mean_interval(cell, level, support)
            assert (found.means.low_ae[a, e], found.means.high_ae[a, e]) == pytest.approx(expected)
            band = bands(found)[found.algorithms[a], found.environments[e]]
            assert band.margin == pytest.approx(min(np.sqrt(np.log(2.0 / level) / (2 * cell.size)), 1.0))


def test_the_default_weights_of_an_evaluation_are_those_that_were_declared(tmp_path: Path) -> None:
    weights = {("gridworld-5-stochastic", "q"): 1.0, ("gridworld-5-stochastic", "sarsa"): 2.0}
    for given, expected in (("both", ["game", "uniform"]), ("game", ["game"]), (weights, ["given"])):
        folder = tmp_path / str(expected[0] + expected[-1])
        race(folder, weights=given, max_trials=60)
        default = untuned.evaluate(folder, refine=0)
        assert [each.weights for each in default.rankings] == expected
        assert not [each for each in default.warnings if "declared" in each]
        chosen = untuned.evaluate(folder, refine=0, algorithms=["q", "sarsa"])
        assert "only if the choice of algorithms and environments was made before the race" in chosen.claim
        assert "the choice of algorithms and environments having been made before the race" in chosen.statement
        assert [each for each in chosen.warnings if "other algorithms or environments (ac)" in each]


def test_a_damaged_log_is_named(tmp_path: Path) -> None:
    race(tmp_path, max_trials=40)
    with Session.at(tmp_path, write=True) as session:
        session.log_race({"kind": "round"})
    with pytest.raises(StoreError, match=r"results\.sqlite"), STUDY.open(tmp_path) as session:
        session.collect(engine="in-process")


def test_nothing_is_written_when_other_algorithms_are_refused(tmp_path: Path) -> None:
    race(tmp_path, max_trials=60)
    before = untuned.evaluate(tmp_path, refine=0).to_dict()
    more = dataclasses.replace(STUDY, algorithms=[*STUDY.algorithms, "q-s"], trials=3)
    for refused in (more, dataclasses.replace(STUDY, environments=STUDY.environments[:1])):
        with pytest.raises(InvalidInput, match="was declared with other"):
            untuned.collect_scores(refused, tmp_path, engine="in-process")
        with pytest.raises(InvalidInput, match="was declared with other"):
            refused.open(tmp_path)
    assert untuned.evaluate(tmp_path, refine=0).to_dict() == before


def test_a_rule_of_one_s_own(tmp_path: Path) -> None:
    def first_cell(view: View) -> Any:
        wanted = np.zeros(view.trials_ae.shape)
        wanted[0, 0] = 16.0
        return wanted

    found = race(tmp_path, rule=first_cell, max_trials=90)
    trials = found.looks[-1].trials_ae
    assert trials[0, 0] > 2 * trials[1:].max()
    assert (np.diff([look.trials_ae for look in found.looks], axis=0) >= 2).all()
    with pytest.raises(InvalidInput, match="a rule returns"):
        race(tmp_path / "wrong", rule=lambda view: [1, 2])


@pytest.mark.parametrize("options", [{"engine": "local", "workers": 1}, {"engine": "local", "workers": 2}])
def test_engines_run_the_same_race(tmp_path: Path, options: dict[str, Any]) -> None:
    assert facts(race(tmp_path / "there", **options)) == facts(race(tmp_path / "here"))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_race_on_ray(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs.extra("ray", "ray")
    monkeypatch.setitem(os.environ, "RAY_USAGE_STATS_ENABLED", "0")
    assert facts(race(tmp_path / "there", engine="ray", workers=2)) == facts(race(tmp_path / "here"))
