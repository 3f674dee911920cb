"""Stable-Baselines3's algorithms as complete definitions."""

import random
from pathlib import Path
from typing import Any

import gymnasium
import pytest
from gymnasium import spaces

import untuned
from support import needs
from support.processes import python
from untuned.adapters import sb3
from untuned.adapters.training.trial import train_trial
from untuned.collect.definitions.draw import Draw
from untuned.collect.store.store import Store
from untuned.errors import InvalidInput, MissingExtra

MAKERS = [sb3.ppo, sb3.a2c, sb3.dqn]


@pytest.mark.parametrize("make", MAKERS)
def test_without_the_library_the_extra_is_named(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match="untuned\\[sb3\\]"):
        make()


def test_batches_of_ppo_are_whole() -> None:
    uniform = random.Random(1).random
    for _ in range(500):
        settings = sb3.ppo_settings(Draw(uniform))
        assert settings["n_steps"] % settings["batch_size"] == 0
        assert settings["batch_size"] >= 2


def test_what_is_drawn_needs_no_library() -> None:
    found = sb3.describe()
    assert set(found) == {"sb3-ppo", "sb3-a2c", "sb3-dqn"}
    assert all(not each.sometimes and len(each.distributions) == 1 for rows in found.values() for each in rows)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(
    ("identifier", "budget"), [("untuned/Gridworld5Deterministic-v0", {"episodes": 8}), ("CartPole-v1", {"steps": 600})]
)
def test_the_same_key_gives_the_same_trial(make: Any, identifier: str, budget: dict[str, Any]) -> None:
    needs.extra("stable_baselines3", "sb3")
    there = untuned.from_gymnasium(identifier, **budget)
    first = train_trial(make(), there, seed=1)
    assert first.failure is None
    assert first.final_returns.size == 30
    assert {each.name for each in first.draws} == {each.name for each in sb3.describe()[first.algorithm]}
    assert train_trial(make(), there, seed=1).facts() == first.facts()


@pytest.mark.parametrize("make", MAKERS[:2])
def test_actions_may_be_continuous(make: Any) -> None:
    needs.extra("stable_baselines3", "sb3")
    assert train_trial(make(), untuned.from_gymnasium("Pendulum-v1", steps=450)).failure is None


def test_dqn_refuses_continuous_actions() -> None:
    needs.extra("stable_baselines3", "sb3")
    with pytest.raises(InvalidInput, match="sb3-dqn cannot learn with the action space Box"):
        train_trial(sb3.dqn(), untuned.from_gymnasium("Pendulum-v1", steps=450))


def counting_from_one() -> gymnasium.Env[Any, Any]:
    environment = gymnasium.make("FrozenLake-v1")
    return gymnasium.wrappers.TransformAction(environment, lambda action: action - 1, spaces.Discrete(4, start=1))


def test_spaces_that_do_not_start_at_zero_are_refused() -> None:
    needs.extra("stable_baselines3", "sb3")
    with pytest.raises(InvalidInput, match="count from 0"):
        train_trial(sb3.ppo(), untuned.from_gymnasium(counting_from_one, steps=50))


def test_making_a_trainer_loads_nothing_heavy() -> None:
    needs.extra("stable_baselines3", "sb3")
    program = "import sys\nfrom untuned.adapters import sb3\nsb3.ppo()\nprint('torch' in sys.modules)"
    finished = python("-c", program, timeout=120, check=True)
    assert finished.stdout == "False\n"


@pytest.mark.slow
def test_a_study_from_end_to_end(tmp_path: Path) -> None:
    needs.extra("stable_baselines3", "sb3")
    (tmp_path / "study.toml").write_text(
        """
        name = "theirs"
        trials = 2
        algorithms = ["sb3-ppo", "sb3-a2c", "sb3-dqn"]
        environments = [
          { gymnasium = "CartPole-v1", steps = 500, score_range = [1, 500] },
          { gymnasium = "FrozenLake-v1", episodes = 15, score_range = [0, 1] },
        ]
        keep = "returns"
        """
    )
    evaluation = untuned.run(tmp_path / "study.toml", workers=2)
    assert set(evaluation.algorithms) == {"sb3-ppo", "sb3-a2c", "sb3-dqn"}
    assert evaluation.trials_ae.tolist() == [[2, 2]] * 3
    with Store.open(tmp_path / "study") as store:
        assert not any(store.failures().values())
        trial = store.trial("sb3-a2c", "CartPole-v1", 1)
    assert trial.returns is not None
    assert 1 <= trial.score <= 500
    assert trial.score == trial.returns.mean()
    # What another process did is what this one does.
    there = untuned.from_gymnasium("CartPole-v1", steps=500, score_range=(1, 500))
    assert train_trial(sb3.a2c(), there, trial=1).returns.tolist() == trial.returns.tolist()
