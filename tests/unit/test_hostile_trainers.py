"""Algorithms in Python that cheat, break or never listen: their trials count what the environment saw, or fail."""

import contextlib
import copy
import json
import math
import os
import pickle
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from untuned.adapters.gymnasium.from_gymnasium import GymnasiumEnvironment, from_gymnasium
from untuned.adapters.training.budgeted import Meter, Metered
from untuned.adapters.training.trainer import Trainer
from untuned.adapters.training.trial import train_trial
from untuned.collect.definitions.draw import Draw
from untuned.collect.environments.environment import FINAL_EPISODES, Budget
from untuned.collect.store.store import Store
from untuned.collect.trial import LONGEST_FAILURE, Trial
from untuned.errors import BudgetSpent, InvalidInput, Stopped

Env = gymnasium.Env[Any, Any]


class Walk(Env):
    """Every episode has ``length`` steps and a cost of one each; what it shows is its own memory."""

    observation_space = spaces.Box(-np.inf, np.inf, (2,), np.float64)
    action_space = spaces.Discrete(2)

    def __init__(self, length: int = 5, rewards: Callable[[int], float] = lambda step: -1.0) -> None:
        self.length = length
        self.rewards = rewards
        self.memory = np.zeros(2)
        self.seeds: list[int | None] = []
        self.steps = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.seeds.append(seed)
        self.memory[:] = (0, self.np_random.random())
        return self.memory, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        assert self.action_space.contains(action), action
        self.memory[0] += 1
        self.steps += 1
        return self.memory, self.rewards(self.steps), bool(self.memory[0] >= self.length), False, {}


def walk(*, episodes: int | None = None, steps: int | None = None, **options: Any) -> GymnasiumEnvironment:
    return from_gymnasium(lambda: Walk(**options), episodes=episodes, steps=steps, step_limit=100, name="walk")


def metered(budget: Budget, **options: Any) -> tuple[Metered, Walk]:
    inner = Walk(**options)
    return Metered(Meter(inner, budget, seed=7), own_seed=8), inner


def one_episode(environment: Env) -> None:
    environment.reset()
    over = False
    while not over:
        _, _, terminated, truncated, _ = environment.step(0)
        over = terminated or truncated


def learn(environment: Env, draw: Draw) -> None:
    while True:
        one_episode(environment)


def failed(train: Any, place: GymnasiumEnvironment | None = None) -> Trial:
    result = train_trial(Trainer.of(train, "hostile"), place or walk(episodes=4))
    assert result.failure is not None
    assert math.isnan(result.score)
    assert math.isnan(result.final_return)
    return result


# What counts


def test_the_score_is_what_the_environment_saw() -> None:
    result = train_trial(learn, walk(episodes=4))
    assert result.returns.tolist() == [-5.0] * 4
    assert (result.score, result.steps, result.failure) == (-5.0, 20, None)
    assert math.isnan(result.final_return)
    assert result.facts()["final_return"] is None


def test_steps_run_out_within_an_episode_that_is_played_to_its_end() -> None:
    assert train_trial(learn, walk(steps=13)).returns.tolist() == [-5.0] * 3
    assert train_trial(learn, walk(steps=15)).returns.tolist() == [-5.0] * 3
    result = train_trial(learn, walk(steps=3))
    assert (result.returns.tolist(), result.steps) == ([-5.0], 5)


def test_nobody_gains_by_never_ending_an_episode() -> None:
    # Steps of an episode that never ends count, too.
    assert train_trial(learn, walk(steps=130, length=10**6)).returns.tolist() == [-100.0, -100.0]


def test_an_episode_cannot_be_left() -> None:
    # Where every step costs, an algorithm that could leave after one would have the best possible score.
    def leave(environment: Env, draw: Draw) -> None:
        while True:
            environment.reset()
            environment.step(0)

    result = failed(leave)
    assert result.returns.size == 0
    assert "not over" in str(result.failure)


def test_nobody_picks_a_start() -> None:
    environment, inner = metered(Budget(episodes=2))
    first, _ = environment.reset(seed=1)
    again, _ = environment.reset(seed=2)
    assert first.tolist() == again.tolist()
    assert inner.seeds == [7]
    for _ in range(5):
        environment.step(0)
    environment.reset(seed=3)
    assert inner.seeds == [7, None]


def test_options_of_resets_are_refused() -> None:
    environment, inner = metered(Budget(episodes=2))
    with pytest.raises(InvalidInput, match="options"):
        environment.reset(options={"redraw": True})
    assert inner.seeds == []


def test_what_is_shown_can_be_changed_without_effect() -> None:
    def scribble(environment: Env, draw: Draw) -> None:
        while True:
            observation, _ = environment.reset()
            over = False
            while not over:
                observation[:] = -1e9
                observation, _, over, _, _ = environment.step(0)

    assert train_trial(scribble, walk(episodes=3)).returns.tolist() == [-5.0] * 3


def test_the_inner_environment_is_out_of_reach() -> None:
    environment, inner = metered(Budget(episodes=2))
    assert environment.unwrapped is environment
    assert environment.render_mode is None
    public = [getattr(environment, name) for name in dir(environment) if not name.startswith("_")]
    assert not any(each is inner for each in public)
    assert environment.action_space is not inner.action_space
    for way in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="copied"):
            way(environment)


def test_what_is_scored_is_out_of_reach() -> None:
    def scribble(environment: Env, draw: Draw) -> None:
        rich = {"_returns": [1e9] * 4, "_total": 1e9, "_steps": 10**9, "_inner": None, "_failure": None, "_over": True}
        for name, value in {**vars(environment), **rich}.items():
            with contextlib.suppress(AttributeError):
                setattr(environment, name, [] if isinstance(value, list) else value)
        for name in ("returns", "steps", "over", "spent"):
            with pytest.raises(AttributeError):
                setattr(environment, name, ())
        while True:
            environment._returns = [1e9]  # type: ignore[attr-defined]
            environment._total = 1e9  # type: ignore[attr-defined]
            one_episode(environment)

    result = train_trial(scribble, walk(episodes=4))
    assert (result.returns.tolist(), result.steps, result.failure) == ([-5.0] * 4, 20, None)


def test_the_dynamics_of_a_trial_are_not_shown() -> None:
    seen: list[dict[str, Any]] = []

    def look(environment: Env, draw: Draw) -> Callable[[Any], int]:
        seen.append(environment.reset()[1])
        return lambda observation: 0

    result = train_trial(look, "cart-pole")
    assert seen == [{}]
    assert result.dynamics


# The end


def test_the_end_is_said_at_every_call_after_it() -> None:
    environment, inner = metered(Budget(episodes=1))
    one_episode(environment)
    for call in (environment.reset, lambda: environment.step(0), environment.reset):
        with pytest.raises(BudgetSpent, match="1 episode"):
            call()
    assert inner.steps == 5


def test_steps_before_a_reset_are_gymnasiums_error() -> None:
    environment, _ = metered(Budget(episodes=2))
    with pytest.raises(gymnasium.error.ResetNeeded):
        environment.step(0)
    one_episode(environment)
    with pytest.raises(gymnasium.error.ResetNeeded):
        environment.step(0)


def test_whoever_swallows_every_error_is_ended_all_the_same() -> None:
    def deaf(environment: Env, draw: Draw) -> None:
        while True:
            with contextlib.suppress(Exception):
                learn(environment, draw)

    result = train_trial(deaf, walk(episodes=4))
    assert (result.returns.tolist(), result.failure) == ([-5.0] * 4, None)


def test_the_end_may_come_back_as_another_error() -> None:
    def wrap(environment: Env, draw: Draw) -> None:
        try:
            learn(environment, draw)
        except BudgetSpent as error:
            raise RuntimeError("the worker died") from error

    assert train_trial(wrap, walk(episodes=4)).score == -5.0


def test_an_error_while_clearing_up_is_an_error() -> None:
    def clear(environment: Env, draw: Draw) -> None:
        try:
            learn(environment, draw)
        finally:
            raise ValueError("no such file")

    assert str(failed(clear).failure).startswith("ValueError: no such file")


@pytest.mark.parametrize("error", [BudgetSpent("mine"), Stopped("mine")])
def test_nobody_declares_the_end_himself(error: Exception) -> None:
    def pretend(environment: Env, draw: Draw) -> None:
        one_episode(environment)
        raise error

    assert "mine" in str(failed(pretend).failure)


def test_stop_is_heard_whatever_the_algorithm_makes_of_it() -> None:
    def deaf(environment: Env, draw: Draw) -> None:
        while True:
            with contextlib.suppress(Exception):
                learn(environment, draw)

    with pytest.raises(Stopped):
        train_trial(deaf, walk(steps=10**9), stop=lambda: True)


def test_an_interruption_passes_through() -> None:
    def interrupted(environment: Env, draw: Draw) -> None:
        environment.reset()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_trial(interrupted, walk(episodes=4))


# Failures


def test_an_error_says_what_and_where() -> None:
    def broken(environment: Env, draw: Draw) -> None:
        one_episode(environment)
        raise ValueError("too bad")

    result = failed(broken)
    line = broken.__code__.co_firstlineno + 2
    assert result.failure == f"ValueError: too bad ({Path(__file__).name}:{line})"
    assert result.returns.tolist() == [-5.0]
    assert result.steps == 5
    facts = json.loads(json.dumps(result.facts(), allow_nan=False))
    assert (facts["score"], facts["failure"]) == (None, result.failure)


def test_a_failure_is_kept_with_its_trial(tmp_path: Path) -> None:
    def broken(environment: Env, draw: Draw) -> None:
        environment.reset()
        raise ValueError("too bad")

    result = failed(broken)
    facts = {"seed": 0, "algorithms": [result.algorithm], "environments": [result.environment]}
    with Store.create(tmp_path, facts) as store:
        store.add([result])
        assert store.trial(result.algorithm, result.environment, 0).failure == result.failure


def test_a_failure_is_not_longer_than_a_page() -> None:
    def verbose(environment: Env, draw: Draw) -> None:
        environment.reset()
        raise ValueError("x" * 100_000)

    text = str(failed(verbose).failure)
    assert len(text) <= LONGEST_FAILURE
    assert f"... ({Path(__file__).name}:" in text


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")

    __repr__ = __str__


def test_an_error_without_words_is_a_failure() -> None:
    def speechless(environment: Env, draw: Draw) -> None:
        environment.reset()
        raise Mute

    assert str(failed(speechless).failure).startswith("Mute")


@pytest.mark.parametrize("code", [0, 1, None])
def test_leaving_the_program_is_a_failure(code: int | None) -> None:
    def leave(environment: Env, draw: Draw) -> None:
        environment.reset()
        sys.exit(code)

    assert str(failed(leave).failure).startswith("SystemExit")


@pytest.mark.parametrize("reward", [math.nan, math.inf, -math.inf])
def test_rewards_that_are_no_numbers_fail_even_if_swallowed(reward: float) -> None:
    def deaf(environment: Env, draw: Draw) -> Callable[[Any], int]:
        while True:
            try:
                learn(environment, draw)
            except InvalidInput:
                return lambda observation: 0

    result = failed(deaf, walk(episodes=4, rewards=lambda step: reward if step == 8 else -1.0))
    assert "step 3 in episode 2" in str(result.failure)
    assert result.returns.tolist() == [-5.0]


@pytest.mark.parametrize("action", [1.5, 7, None, "left"])
def test_actions_that_do_not_exist_fail(action: Any) -> None:
    def odd(environment: Env, draw: Draw) -> None:
        environment.reset()
        environment.step(action)

    assert "AssertionError" in str(failed(odd).failure)


@pytest.mark.parametrize("action", [1.5, 7, None, "left"])
def test_our_environments_refuse_them_in_words(action: Any) -> None:
    def odd(environment: Env, draw: Draw) -> None:
        environment.reset()
        environment.step(action)

    result = train_trial(odd, "chain-10-deterministic")
    assert str(result.failure).startswith("InvalidInput: ")


def test_episodes_that_may_never_end_are_refused() -> None:
    with pytest.raises(InvalidInput, match="step_limit"):
        from_gymnasium(Walk, episodes=3)
    with pytest.raises(InvalidInput, match="step_limit"):
        from_gymnasium(Walk, episodes=3, observation_ranges=[(0, 5), (0, 1)])


def test_endless_episodes_end_at_their_limit() -> None:
    place = from_gymnasium(lambda: Walk(10**9), episodes=2, step_limit=6, name="endless")
    assert train_trial(learn, place).returns.tolist() == [-6.0, -6.0]


# Policies


def test_a_policy_plays_the_rest_and_then_for_itself() -> None:
    def early(environment: Env, draw: Draw) -> Callable[[Any], int]:
        environment.reset()
        environment.step(0)
        return lambda observation: 0

    result = train_trial(early, walk(episodes=4))
    # The episode that it left continues.
    assert result.returns.tolist() == [-5.0] * 4
    assert result.final_returns.tolist() == [-5.0] * FINAL_EPISODES
    assert (result.final_return, result.steps) == (-5.0, 20)


def test_a_policy_after_the_end_plays_for_itself() -> None:
    def late(environment: Env, draw: Draw) -> Callable[[Any], int]:
        try:
            learn(environment, draw)
        except BudgetSpent:
            return lambda observation: 0
        raise AssertionError

    result = train_trial(late, walk(episodes=4))
    assert (result.score, result.final_return, result.steps) == (-5.0, -5.0, 20)


def test_no_policy_before_the_end_is_a_failure() -> None:
    assert "after 1 of 4 episodes" in str(failed(lambda environment, draw: one_episode(environment)).failure)
    assert "after 0 of 4 episodes" in str(failed(lambda environment, draw: None).failure)


@pytest.mark.parametrize("junk", [3, "policy", object(), [1, 2], Mute()])
def test_a_policy_that_is_none_is_a_failure(junk: Any) -> None:
    assert "neither None nor a policy" in str(failed(lambda environment, draw: junk).failure)


def test_a_policy_that_breaks_is_a_failure() -> None:
    def breaks(environment: Env, draw: Draw) -> Callable[[Any], int]:
        return lambda observation: 1 // 0

    assert str(failed(breaks).failure).startswith("ZeroDivisionError")


def test_a_policy_that_breaks_after_learning_is_a_failure_with_returns() -> None:
    def breaks(environment: Env, draw: Draw) -> Callable[[Any], int]:
        try:
            learn(environment, draw)
        except BudgetSpent:
            return lambda observation: 1 // 0
        raise AssertionError

    assert failed(breaks).returns.tolist() == [-5.0] * 4


# The same key, the same trial


def naive(environment: Env, draw: Draw) -> Callable[[Any], int]:
    """Draws from global generators."""
    draw.suggest_float("step_size", 1e-3, 1.0, log=True)
    environment.reset()
    environment.step(random.randrange(2))
    environment.step(int(np.random.randint(2)))  # noqa: NPY002
    environment.step(environment.action_space.sample())
    return lambda observation: random.randrange(2)


def test_naive_code_repeats_and_leaves_the_generators_alone() -> None:
    random.seed(5)
    before = random.getstate(), np.random.get_state()[1].tolist()  # type: ignore[index]  # noqa: NPY002
    first = train_trial(naive, "chain-10-stochastic", seed=3, trial=1).facts()
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before  # type: ignore[index]  # noqa: NPY002
    random.seed(6)
    assert train_trial(naive, "chain-10-stochastic", seed=3, trial=1).facts() == first
    assert train_trial(naive, "chain-10-stochastic", seed=3, trial=2).facts()["returns"] != first["returns"]


@pytest.mark.slow
def test_another_process_has_the_same_trial() -> None:
    here = json.dumps(train_trial(naive, "chain-10-stochastic", seed=3, trial=1).facts())
    code = (
        f"import sys, json; sys.path.insert(0, {str(Path(__file__).parent)!r}); import test_hostile_trainers as t; "
        "print(json.dumps(t.train_trial(t.naive, 'chain-10-stochastic', seed=3, trial=1).facts()))"
    )
    for hash_seed in ("1", "2"):
        finished = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            timeout=300,
            check=True,
        )
        assert finished.stdout.strip() == here


def test_seeds_are_no_hyperparameters() -> None:
    numbers = iter([0.0, 0.5, 1 - 2**-53])
    draw = Draw(lambda: next(numbers))
    assert [draw.seed() for _ in range(3)] == [0, 2**30, 2**31 - 1]
    assert draw.record == ()


# Trainers


def test_functions_without_a_name_need_one() -> None:
    with pytest.raises(InvalidInput, match="name"):
        Trainer.of(lambda environment, draw: None)
    assert Trainer.of(lambda environment, draw: None, "nothing").name == "nothing"


@pytest.mark.parametrize("wrong", [3, "ppo", lambda environment: None, lambda a, b, c: None])
def test_what_cannot_train_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidInput):
        Trainer.of(wrong, "wrong")


def test_trainers_and_places_go_to_other_processes() -> None:
    trainer, place = Trainer.of(naive), from_gymnasium("CartPole-v1", episodes=3)
    assert pickle.loads(pickle.dumps((trainer, place))) == (trainer, place)
    assert pickle.loads(pickle.dumps(trainer)).fingerprint == trainer.fingerprint


def test_fingerprints_follow_the_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    prints = []
    for number, helper in enumerate(("return 1", "return 2")):
        # Only what the function calls differs.
        text = f"def helper():\n    {helper}\n\ndef train(environment, draw):\n    helper()\n"
        (tmp_path / f"mine_{number}.py").write_text(text)
        prints.append(Trainer.of(__import__(f"mine_{number}").train).fingerprint)
    assert prints[0] != prints[1]
    assert Trainer("mine", "Mine", 3, "", naive).fingerprint == "3"


def test_fingerprints_of_code_without_a_file() -> None:
    prints = []
    for constant in (1, 1, 2):
        names: dict[str, Any] = {"__name__": "nowhere"}
        exec(f"def train(environment, draw):\n    return {constant}", names)
        prints.append(Trainer.of(names["train"]).fingerprint)
    assert prints[0] == prints[1] != prints[2]
