"""Trials of algorithms written in Python: the environment's counts decide, whatever the algorithm does."""

import collections
import copy
import functools
import itertools
import json
import math
import pickle
import random
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import untuned
from untuned.adapters.gymnasium.from_gymnasium import GymnasiumEnvironment
from untuned.adapters.training.budgeted import Meter, Metered
from untuned.adapters.training.global_rngs import generators_seeded
from untuned.adapters.training.trainer import Trainer
from untuned.adapters.training.trial import train_trial
from untuned.collect.definitions.draw import Draw
from untuned.collect.environments.environment import FINAL_EPISODES, Budget
from untuned.collect.trial import LONGEST_FAILURE
from untuned.errors import BudgetSpent, InvalidInput, Stopped, UnknownName

Env = gymnasium.Env[Any, Any]


class Corridor(Env):
    """Three steps of -1 each and the episode is over; action 1 is worth half a point more. Shows its own memory."""

    def __init__(self, length: int | None = 3, rewards: dict[int, Any] | None = None) -> None:
        self.observation_space = spaces.Box(-100.0, 100.0, (2,), np.float64)
        self.action_space = spaces.Discrete(2)
        self.length = length
        self.rewards = rewards or {}
        self.state = np.zeros(2)
        self.seeds: list[int | None] = []
        self.taken = 0
        self.closed = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.seeds.append(seed)
        self.state[:] = 0.0, self.np_random.random()
        return self.state, {"start": float(self.state[1])}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        assert action in (0, 1)
        self.taken += 1
        self.state[0] += 1.0
        reward = self.rewards.get(self.taken, -1.0 + 0.5 * action)
        return self.state, reward, self.length is not None and self.state[0] >= self.length, False, {}

    def close(self) -> None:
        self.closed += 1


def corridor() -> Env:
    return Corridor()


def place(make: Callable[[], Env] = corridor, steps: int | None = None) -> GymnasiumEnvironment:
    episodes = 5 if steps is None else None
    return untuned.from_gymnasium(make, name="corridor", step_limit=50, episodes=episodes, steps=steps)


def metered(inner: Env | None = None, stop: Callable[[], bool] | None = None, **budget: int) -> Metered:
    meter = Meter(inner or Corridor(), Budget(**(budget or {"episodes": 5})), seed=7, stop=stop)
    return Metered(meter, own_seed=8)


def episode(environment: Env, action: int = 0) -> float:
    environment.reset()
    total, over = 0.0, False
    while not over:
        _, reward, terminated, truncated, _ = environment.step(action)
        total += float(reward)
        over = terminated or truncated
    return total


def zero(observation: Any) -> int:
    return 0


def one(observation: Any) -> int:
    return 1


def endless(environment: Env, draw: Draw) -> None:
    """Learn nothing, for ever."""
    draw.suggest_float("x", 0, 1)
    while True:
        episode(environment)


def at_random(environment: Env, draw: Draw) -> None:
    """Draw from every generator that naive code knows of."""
    while True:
        environment.reset()
        over = False
        while not over:
            votes = environment.action_space.sample() + random.randint(0, 1) + np.random.randint(2)  # noqa: NPY002
            _, _, terminated, truncated, _ = environment.step(int(votes) % 2)
            over = terminated or truncated


# The metered environment.


def test_after_the_last_episode_nothing_more_can_be_done() -> None:
    environment = metered(episodes=2)
    assert [episode(environment, 1), environment.spent, episode(environment)] == [-1.5, 0.5, -3.0]
    assert (environment.over, environment.spent, environment.steps) == (True, 1.0, 6)
    for again in (environment.reset, lambda: environment.step(0), environment.reset):
        with pytest.raises(BudgetSpent, match="2 episodes are spent"):
            again()
    assert environment.returns == (-1.5, -3.0)


def test_after_the_last_step_nothing_more_can_be_done() -> None:
    inner = Corridor()
    environment = metered(inner, steps=4)
    episode(environment)
    environment.reset()
    environment.step(0)
    # The steps are spent, but the episode is played to its end.
    assert (environment.spent, environment.over) == (1.0, False)
    environment.step(0)
    environment.step(0)
    for again in (lambda: environment.step(0), environment.reset):
        with pytest.raises(BudgetSpent, match="4 steps are spent"):
            again()
    assert inner.taken == 6
    assert environment.returns == (-3.0, -3.0)
    assert (environment.spent, environment.over) == (1.0, True)


def test_seeds_are_the_trials_and_options_are_refused() -> None:
    inner = Corridor()
    environment = metered(inner)
    with pytest.raises(InvalidInput, match="options"):
        environment.reset(seed=3, options={"start": 1})
    environment.reset(seed=3, options={})
    for _ in range(3):
        environment.step(0)
    environment.reset(seed=3)
    assert inner.seeds == [7, None]


def test_looking_twice_shows_the_same_start() -> None:
    inner = Corridor()
    environment = metered(inner)
    first, info = environment.reset()
    for seed in range(5):
        again, other = environment.reset(seed=seed)
        assert again.tolist() == first.tolist()
        assert other == info
    assert inner.seeds == [7]
    assert environment.returns == ()


def test_episodes_cannot_be_left() -> None:
    environment = metered()
    environment.reset()
    environment.step(0)
    with pytest.raises(InvalidInput, match="after 1 steps of an episode that is not over"):
        environment.reset()
    # It continues where it was left.
    assert [environment.step(0)[2], environment.step(0)[2]] == [False, True]
    assert environment.returns == (-3.0,)


def test_a_step_before_a_reset_is_gymnasiums_error() -> None:
    environment = metered()
    with pytest.raises(gymnasium.error.ResetNeeded):
        environment.step(0)
    episode(environment)
    with pytest.raises(gymnasium.error.ResetNeeded):
        environment.step(0)
    assert environment.steps == 3


def test_the_inner_environment_is_out_of_sight() -> None:
    inner = Corridor()
    environment = metered(inner)
    assert environment.unwrapped is environment
    assert environment.render_mode is None
    assert environment.action_space is not inner.action_space
    public = [getattr(environment, name) for name in dir(environment) if not name.startswith("_")]
    assert not any(each is inner for each in public)
    environment.close()
    assert inner.closed == 0


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, pickle.dumps])
def test_copies_are_refused(way: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError, match="would not count"):
        way(metered())


def test_observations_are_the_receivers_own() -> None:
    environment = metered()
    observation, _ = environment.reset()
    observation[0] = 50.0
    seen = []
    for _ in range(3):
        observation, _, over, _, _ = environment.step(0)
        seen.append((float(observation[0]), over))
        observation[:] = 50.0
    assert seen == [(1.0, False), (2.0, False), (3.0, True)]


@pytest.mark.parametrize("reward", [math.nan, math.inf, -math.inf, np.float32(math.nan)])
def test_rewards_that_are_no_numbers_end_it(reward: Any) -> None:
    environment = metered(Corridor(rewards={5: reward}))
    episode(environment)
    with pytest.raises(InvalidInput, match="step 2 in episode 2"):
        episode(environment)
    for again in (environment.reset, lambda: environment.step(0)):
        with pytest.raises(InvalidInput, match="step 2 in episode 2"):
            again()
    assert environment.returns == (-3.0,)


def test_stopping_is_asked_for_and_final() -> None:
    asked = []

    def stop() -> bool:
        asked.append(True)
        return len(asked) > 1

    environment = metered(Corridor(length=None), stop, steps=10**9)
    environment.reset()
    with pytest.raises(Stopped):
        collections.deque(map(environment.step, itertools.repeat(0)), maxlen=0)
    assert len(asked) == 2
    with pytest.raises(Stopped):
        environment.reset()


# Trials.


def test_a_trial_of_a_bare_function() -> None:
    result = train_trial(endless, place(), seed=1, trial=2)
    assert (result.algorithm, result.environment, result.seed, result.trial) == (
        "endless",
        "corridor",
        1,
        2,
    )
    assert (result.score, result.returns.tolist(), result.steps) == (-3.0, [-3.0] * 5, 15)
    assert math.isnan(result.final_return)
    assert result.final_returns.size == 0
    assert result.failure is None
    assert [each.name for each in result.draws] == ["x"]
    facts = result.facts()
    assert (facts["final_return"], facts["failure"], facts["score"]) == (None, None, -3.0)
    json.dumps(facts, allow_nan=False)


def test_a_policy_that_is_returned_plays_on() -> None:
    def at_once(environment: Env, draw: Draw) -> Any:
        return one

    def in_the_middle(environment: Env, draw: Draw) -> Any:
        episode(environment)
        environment.reset()
        environment.step(0)
        return one

    def in_the_end(environment: Env, draw: Draw) -> Any:
        try:
            endless(environment, draw)
        except BudgetSpent:
            return one

    for train, returns in (
        (at_once, [-1.5] * 5),
        (in_the_middle, [-3.0, -2.0, -1.5, -1.5, -1.5]),
        (in_the_end, [-3.0] * 5),
    ):
        result = train_trial(train, place())
        assert result.failure is None
        assert result.returns.tolist() == returns
        assert result.score == pytest.approx(np.mean(returns))
        assert result.final_returns.tolist() == [-1.5] * FINAL_EPISODES


def test_exactly_as_many_episodes_as_there_are_is_no_early_return() -> None:
    def counted(environment: Env, draw: Draw) -> None:
        for _ in range(5):
            episode(environment)

    assert train_trial(counted, place()).score == -3.0


def returns_zero(environment: Env, draw: Draw) -> Any:
    return zero


def early(environment: Env, draw: Draw) -> None:
    episode(environment)


def raising(environment: Env, draw: Draw) -> None:
    episode(environment)
    raise KeyError("my mistake")


def leaving(environment: Env, draw: Draw) -> None:
    sys.exit(3)


def stepping_on(environment: Env, draw: Draw) -> None:
    environment.reset()
    while True:
        environment.step(0)


def resetting(environment: Env, draw: Draw) -> None:
    while True:
        environment.reset()
        environment.step(0)


def junk(environment: Env, draw: Draw) -> Any:
    return 3


def bad_policy(environment: Env, draw: Draw) -> Any:
    return lambda observation: observation["no"]


def bad_actions(environment: Env, draw: Draw) -> Any:
    return lambda observation: 7


def pretending(environment: Env, draw: Draw) -> None:
    raise BudgetSpent("not at all")


def wordy(environment: Env, draw: Draw) -> None:
    raise ValueError("x" * 10_000)


def stopping_itself(environment: Env, draw: Draw) -> None:
    raise Stopped


def clearing_up(environment: Env, draw: Draw) -> None:
    try:
        endless(environment, draw)
    finally:
        raise AttributeError("no such thing to clear up")


@pytest.mark.parametrize(
    ("train", "words"),
    [
        (early, "after 1 of 5 episodes"),
        (raising, "KeyError: 'my mistake' (test_trainers.py:"),
        (leaving, "SystemExit: 3 (test_trainers.py:"),
        (stepping_on, "ResetNeeded: "),
        (resetting, "InvalidInput: reset() after 1 steps"),
        (junk, "returned 3, which is neither None nor a policy"),
        (bad_policy, "IndexError: "),
        (bad_actions, "AssertionError: "),
        (pretending, "BudgetSpent: not at all"),
        (wordy, "xxx... (test_trainers.py:"),
        (stopping_itself, "Stopped"),
        (clearing_up, "AttributeError: no such thing"),
    ],
)
def test_what_breaks_is_a_failed_trial(train: Any, words: str) -> None:
    result = train_trial(train, place())
    assert result.failure is not None
    assert words in result.failure
    assert len(result.failure) <= LONGEST_FAILURE
    assert math.isnan(result.score)
    assert math.isnan(result.final_return)
    assert result.facts()["score"] is None
    assert result.facts()["failure"] == result.failure
    assert train_trial(train, place()).facts() == result.facts()


def test_a_reward_that_is_no_number_fails_whatever_is_caught() -> None:
    def catching(environment: Env, draw: Draw) -> Any:
        try:
            endless(environment, draw)
        except Exception:
            return zero

    result = train_trial(catching, place(lambda: Corridor(rewards={5: math.nan})))
    assert result.failure is not None
    assert "step 2 in episode 2 is nan" in result.failure
    assert (result.returns.tolist(), result.steps) == ([-3.0], 5)


def test_who_swallows_every_error_comes_to_an_end() -> None:
    def deaf(environment: Env, draw: Draw) -> None:
        while True:
            try:
                episode(environment)
            except Exception:
                continue

    result = train_trial(deaf, place())
    assert (result.score, result.failure) == (-3.0, None)
    with pytest.raises(Stopped):
        train_trial(deaf, place(lambda: Corridor(length=None), steps=10**9), stop=lambda: True)


def test_an_error_made_of_the_end_is_the_end() -> None:
    def translating(environment: Env, draw: Draw) -> None:
        try:
            endless(environment, draw)
        except BudgetSpent as spent:
            raise RuntimeError("the worker died") from spent

    assert train_trial(translating, place()).score == -3.0


def test_interruptions_pass_through() -> None:
    def interrupted(environment: Env, draw: Draw) -> None:
        environment.reset()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_trial(interrupted, place())
    with pytest.raises(Stopped):
        train_trial(endless, place(), stop=lambda: True)


def test_what_an_algorithm_cannot_do_at_all_is_said_and_not_scored() -> None:
    def picky(environment: Env, draw: Draw) -> None:
        raise InvalidInput("boxes only")

    def late(environment: Env, draw: Draw) -> None:
        environment.reset()
        raise InvalidInput("boxes only")

    with pytest.raises(InvalidInput, match="boxes only"):
        train_trial(picky, place())
    assert train_trial(late, place()).failure is not None


def test_printing_changes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    def endless_too(environment: Env, draw: Draw) -> None:
        print("hello")
        endless(environment, draw)

    assert train_trial(endless_too, place()).score == -3.0
    assert capsys.readouterr().out == "hello\n"


@pytest.mark.parametrize("action", [True, 0.5, 1.0, "0", None, 2, -1, math.nan])
def test_our_environments_take_whole_numbers_only(action: Any) -> None:
    result = train_trial(Trainer.of(lambda environment, draw: lambda observation: action, "odd"), "chain-10-stochastic")
    assert result.failure is not None
    assert result.failure.startswith(f"InvalidInput: action {action!r} is not allowed")


def test_our_environments_keep_their_dynamics_to_themselves() -> None:
    infos = []

    def looking(environment: Env, draw: Draw) -> Any:
        infos.append(environment.reset()[1])
        return zero

    for there in ("cart-pole", untuned.from_gymnasium("untuned/CartPole-v0", episodes=3)):
        result = train_trial(looking, there)
        assert set(result.dynamics) == {each.name for each in untuned.environment("cart-pole").parameters}
    assert infos == [{}, {}]
    described = untuned.from_gymnasium("FrozenLake-v1", episodes=3)
    assert train_trial(returns_zero, described).failure is None


def test_the_environment_is_closed_in_the_end() -> None:
    made: list[Corridor] = []

    def make() -> Env:
        made.append(Corridor())
        return made[-1]

    there = place(make)
    train_trial(raising, there)
    train_trial(returns_zero, there)
    assert [each.closed for each in made] == [1, 1, 1]


@pytest.mark.parametrize("train", [endless, at_random])
def test_the_same_key_gives_the_same_trial(train: Any) -> None:
    first = train_trial(train, "chain-10-stochastic", seed=3, trial=4).facts()
    assert train_trial(train, "chain-10-stochastic", seed=3, trial=4).facts() == first
    if train is at_random:
        assert train_trial(train, "chain-10-stochastic", seed=3, trial=5).facts()["returns"] != first["returns"]


PROGRAM = """
import json
from test_trainers import at_random
from untuned.adapters.training.trial import train_trial
from untuned.collect.trial import LONGEST_FAILURE
print(json.dumps(train_trial(at_random, "chain-10-stochastic", seed=3, trial=4).facts(), sort_keys=True))
"""


@pytest.mark.slow
def test_two_other_processes_find_the_same(request: pytest.FixtureRequest) -> None:
    found = [
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            cwd=request.path.parent,
            capture_output=True,
            text=True,
            timeout=300,
            check=True,
        ).stdout
        for _ in range(2)
    ]
    assert found[0] == found[1]
    here = train_trial(at_random, "chain-10-stochastic", seed=3, trial=4).facts()
    assert json.loads(found[0]) == here


def test_the_global_generators_are_put_back() -> None:
    random.seed(5)
    np.random.seed(5)  # noqa: NPY002
    expected = random.random(), float(np.random.random())  # noqa: NPY002
    random.seed(5)
    np.random.seed(5)  # noqa: NPY002
    with generators_seeded(1):
        within = random.random(), float(np.random.random())  # noqa: NPY002
    assert (random.random(), float(np.random.random())) == expected != within  # noqa: NPY002


@pytest.mark.parametrize(
    ("there", "words"),
    [(3, "not an environment for a trial"), (Corridor(), "not an environment"), ("nowhere", "nowhere")],
)
def test_a_place_that_is_none_is_named(there: Any, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        train_trial(endless, there)


# Environments of any kind.


def test_any_gymnasium_environment_is_described() -> None:
    found = untuned.from_gymnasium("Pendulum-v1", steps=100, score_range=(-2000, 0))
    assert (found.name, found.step_limit, found.score_range) == ("Pendulum-v1", 200, (-2000.0, 0.0))
    assert found.facts()["actions"] == {"space": "Box(-2.0, 2.0, (1,), float32)"}
    assert (found.facts()["steps"], found.facts()["episodes"]) == (100, None)
    json.dumps(found.facts(), allow_nan=False)
    assert pickle.loads(pickle.dumps(found)) == found


def test_episodes_that_may_never_end_are_refused() -> None:
    with pytest.raises(InvalidInput, match="give step_limit="):
        untuned.from_gymnasium(corridor, episodes=5)
    with pytest.raises(InvalidInput, match="give step_limit="):
        untuned.from_gymnasium(corridor, steps=5)
    limited = untuned.from_gymnasium(lambda: Corridor(length=None), name="for ever", episodes=2, step_limit=9)
    assert train_trial(endless, limited).returns.tolist() == [-9.0, -9.0]


def test_environments_of_any_kind_answer_mistakes() -> None:
    with pytest.raises(UnknownName, match="Pendulum"):
        untuned.from_gymnasium("Pendulum-v11", steps=5)
    with pytest.raises(InvalidInput, match="exactly one"):
        untuned.from_gymnasium("Pendulum-v1", episodes=5, steps=5)
    assert untuned.from_gymnasium("Pendulum-v1").budget == Budget(episodes=100)
    with pytest.raises(InvalidInput, match="score_range"):
        untuned.from_gymnasium("Pendulum-v1", steps=5, score_range=(1, 0))
    with pytest.raises(InvalidInput, match="has no effect"):
        untuned.from_gymnasium(lambda: gymnasium.make("Pendulum-v1"), name="p", steps=5, step_limit=500)


# Trainers.


def test_a_trainer_is_made_of_a_function() -> None:
    found = Trainer.of(endless)
    assert (found.name, found.title, found.version, found.summary) == (
        "endless",
        "endless",
        None,
        "Learn nothing, for ever.",
    )
    assert Trainer.of(found) is found
    assert Trainer.of(found, "other").name == "other"
    assert pickle.loads(pickle.dumps(found)) == found
    assert json.loads(json.dumps(found.facts()))["version"] == found.fingerprint


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda: Trainer.of(lambda environment, draw: None), "say what to call it"),
        (lambda: Trainer.of(functools.partial(endless)), "say what to call it"),
        (lambda: Trainer.of(3), "not an algorithm"),  # type: ignore[arg-type]
        (lambda: Trainer.of(lambda environment: None, "one"), "train(environment, draw)"),  # type: ignore[arg-type, misc]
        (lambda: Trainer("", "t", 1, "", endless), "name=''"),
        (lambda: Trainer("n", "t", 1.5, "", endless), "version=1.5"),  # type: ignore[arg-type]
        (lambda: Trainer("n", "t", True, "", endless), "version=True"),
        (lambda: Trainer("n", "t", 1, "", None), "train=None"),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_trainer_is_refused(made: Callable[[], Trainer], words: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        made()
    assert words in str(caught.value)


def test_fingerprints_follow_the_source() -> None:
    assert Trainer("n", "t", 3, "", endless).fingerprint == "3"
    own = Trainer.of(endless).fingerprint
    assert len(own) == 16
    assert Trainer.of(at_random).fingerprint != own
    assert Trainer.of(functools.partial(endless), "p").fingerprint != own
    assert Trainer.of(endless, "other name").fingerprint == own
    settled = [functools.partial(configured, settings=each) for each in ({"k": 0}, {"k": 1}, {"k": 1, "j": [2, {}]})]
    assert len({Trainer.of(each, "p").fingerprint for each in settled}) == 3
    same = functools.partial(configured, settings={"j": [2, {}], "k": 1})
    assert Trainer.of(same, "p").fingerprint == Trainer.of(settled[2], "p").fingerprint
    with pytest.raises(InvalidInput, match="declare a version"):
        _ = Trainer.of(functools.partial(configured, settings=object()), "p").fingerprint
    assert Trainer("p", "p", 1, "", functools.partial(configured, settings=object())).fingerprint == "1"
    result = train_trial(endless, place())
    assert result.definition_version == own
    assert result.fingerprint != train_trial(Trainer("endless", "e", 3, "", endless), place()).fingerprint


def configured(environment: Env, draw: Draw, settings: Any) -> None:
    """Take settings that a partial function holds."""


def test_closures_count_with_what_they_keep() -> None:
    def made(number: int, other: object = None) -> Any:
        def train(environment: Env, draw: Draw) -> object:
            return other and number

        return train

    assert Trainer.of(made(1)).fingerprint == Trainer.of(made(1)).fingerprint
    assert Trainer.of(made(1)).fingerprint != Trainer.of(made(2)).fingerprint
    # An algorithm that cannot be fingerprinted can still be tried out.
    assert Trainer.of(made(1, object())).fingerprint != Trainer.of(made(2, object())).fingerprint


def test_without_a_file_the_code_itself_is_the_source() -> None:
    def typed(body: str) -> Any:
        names: dict[str, Any] = {"__name__": "typed_in"}
        exec(f"def train(environment, draw):\n    {body}", names)
        return names["train"]

    first = Trainer.of(typed("return {'a', 'b'} and (lambda observation: 1)")).fingerprint
    assert Trainer.of(typed("return {'a', 'b'} and (lambda observation: 1)")).fingerprint == first
    assert Trainer.of(typed("return {'a', 'b'} and (lambda observation: 2)")).fingerprint != first


def test_seeds_take_one_number_and_leave_no_record() -> None:
    numbers = iter([0.0, 0.5, 1 - 2**-53, 0.25])
    draw = Draw(lambda: next(numbers))
    assert [draw.seed(), draw.seed(), draw.within("a.").seed()] == [0, 2**30, 2**31 - 1]
    assert draw.everything == ()
    assert draw.suggest_float("x", 0, 1) == 0.25
