"""Compiled agents on Gymnasium's environments: all eleven learn there, trials repeat, and no error gets lost."""

import dataclasses
import math
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from scipy import stats

import untuned
from support.exporting import exported
from support.processes import python
from support.programs import succeeded
from untuned import InvalidInput, Stopped, Study, collect_scores, run_trial
from untuned.adapters.gymnasium.environment import UntunedEnvironment
from untuned.adapters.gymnasium.from_gymnasium import GymnasiumEnvironment
from untuned.adapters.registration import gymnasium_id
from untuned.collect.definitions.paper import ELEVEN
from untuned.collect.environments.environment import Budget
from untuned.collect.environments.names import NAMES
from untuned.collect.kernels.jit import INTERPRETED
from untuned.collect.store.store import Store

Env = gymnasium.Env[Any, Any]

NAMES_OF_ELEVEN = [each.name for each in ELEVEN]


# All eleven, on both kinds of observations.


@pytest.mark.parametrize("identifier", ["CartPole-v1", "FrozenLake-v1"])
@pytest.mark.parametrize("algorithm", [*NAMES_OF_ELEVEN, "tuned-within[sarsa-parl2,2]"])
def test_every_algorithm_learns_and_repeats(algorithm: str, identifier: str) -> None:
    place = untuned.from_gymnasium(identifier, episodes=6)
    first = run_trial(algorithm, place, seed=2, trial=1)
    assert first.failure is None
    assert (first.returns.size, first.final_returns.size) == (6, 30)
    assert first.score == first.returns.mean()
    assert place.score_range is not None
    assert place.score_range[0] <= first.returns.min() <= first.returns.max() <= place.score_range[1]
    if identifier == "CartPole-v1":
        # One for every step.
        assert first.steps == first.returns.sum()
    # Instances are made in the worker, whose description comes by pickle.
    again = run_trial(algorithm, pickle.loads(pickle.dumps(place)), seed=2, trial=1)
    assert again.facts() == first.facts()
    assert run_trial(algorithm, place, seed=2, trial=2).facts() != first.facts()


def test_single_precision_is_for_them_too() -> None:
    place = untuned.from_gymnasium("CartPole-v1", episodes=3)
    result = run_trial("sarsa-parl2", place, precision="float32")
    assert (result.failure, result.precision) == (None, "float32")


@pytest.mark.skipif(INTERPRETED, reason="thousands of steps take minutes without the compiler: unset NUMBA_DISABLE_JIT")
def test_they_learn_something() -> None:
    # Balancing at random lasts 22 steps on average; learning, five trials of 60 episodes last longer on average.
    place = untuned.from_gymnasium("CartPole-v1", episodes=60)
    assert np.mean([run_trial("sarsa-parl2", place, seed=1, trial=trial).score for trial in range(5)]) > 60.0


# Our own environments give the trial that they give compiled.


def both_ways(name: str, algorithm: str, episodes: int, make: Any = None) -> tuple[dict[str, Any], dict[str, Any]]:
    compiled = dataclasses.replace(untuned.environment(name), budget=Budget(episodes=episodes))
    stepped = untuned.from_gymnasium(make or gymnasium_id(name), name=name, episodes=episodes)
    return tuple(run_trial(algorithm, each, seed=4, trial=7).facts() for each in (compiled, stepped))  # type: ignore[return-value]


@pytest.mark.parametrize("algorithm", ["sarsa-parl2", "ac", "ppo"])
@pytest.mark.parametrize("name", NAMES)
def test_our_environments_through_gymnasium_give_the_same_trial_to_the_bit(name: str, algorithm: str) -> None:
    compiled, stepped = both_ways(name, algorithm, 2 if INTERPRETED else 4)
    assert stepped == compiled
    assert stepped["parameters"] == compiled["parameters"]


def test_so_they_do_for_every_algorithm() -> None:
    for name in ("chain-10-stochastic", "mountain-car"):
        for algorithm in NAMES_OF_ELEVEN:
            compiled, stepped = both_ways(name, algorithm, 2)
            assert stepped == compiled


def test_so_they_do_behind_a_wrapper() -> None:
    def wrapped() -> Env:
        return gymnasium.wrappers.RecordEpisodeStatistics(gymnasium.make("untuned/Chain50Stochastic-v0"))

    compiled, stepped = both_ways("chain-50-stochastic", "q", 5, wrapped)
    assert stepped == compiled


def test_the_budget_of_ours_is_theirs_by_default() -> None:
    for name in ("acrobot", "chain-10-stochastic"):
        assert untuned.from_gymnasium(gymnasium_id(name)).budget == untuned.environment(name).budget


class Chain(Env):
    """A chain of ours held inside, invisible from outside: it has its own generator."""

    def __init__(self) -> None:
        self._inner = UntunedEnvironment("chain-10-stochastic")
        self.action_space, self.observation_space = self._inner.action_space, self._inner.observation_space

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        return self._inner.reset(seed=seed)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return self._inner.step(action)


def test_with_a_generator_of_its_own_the_scores_have_the_same_distribution() -> None:
    # Two samples of the same distribution would fail once in ten thousand seeds.
    trials = 30 if INTERPRETED else 300
    compiled = untuned.environment("chain-10-stochastic")
    held = untuned.from_gymnasium(Chain, episodes=compiled.budget.episodes, step_limit=compiled.step_limit)
    for algorithm in ("sarsa-parl2", "ac-s"):
        ours, theirs = ([run_trial(algorithm, each, trial=n).score for n in range(trials)] for each in (compiled, held))
        assert ours != theirs
        assert stats.ks_2samp(ours, theirs).pvalue > 5e-5


# What environments do wrong.


class Walk(Env):
    """Ten steps to the right, with one thing done wrong in the third episode."""

    def __init__(self, wrong: str = "", observation_space: Any = None) -> None:
        self.observation_space = observation_space or spaces.Discrete(11)
        self.action_space = spaces.Discrete(2)
        self.wrong = wrong
        self.episode = 0
        self.at = 0
        self.closed = False

    def _observation(self) -> Any:
        if isinstance(self.observation_space, spaces.Discrete):
            return self.at
        return np.full(self.observation_space.shape, self.at / 10)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.episode += 1
        self.at = 0
        if self.wrong == "reset" and self.episode == 3:
            raise RuntimeError("cannot begin")
        return self._observation(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.at += 1
        observation, reward = self._observation(), -1.0
        if self.episode == 3 and self.at == 5:
            if self.wrong == "step":
                raise KeyError("lost the way")
            if self.wrong == "exit":
                raise SystemExit(2)
            if self.wrong == "refuse":
                raise InvalidInput("not today")
            if self.wrong == "interrupt":
                raise KeyboardInterrupt
            reward = {"reward": math.nan, "infinite": math.inf}.get(self.wrong, -1.0)
            observation = {
                "outside": 11,
                "below": -1,
                "half": 2.5,
                "text": "left",
                "nan": np.full(2, math.nan),
                "shape": np.zeros(3),
                "single": np.zeros(1),
            }.get(self.wrong, observation)
        return observation, reward, self.at == 10, False, {}

    def close(self) -> None:
        CLOSED.append(self)


CLOSED: list[Walk] = []
BOX = spaces.Box(0.0, 1.0, (2,), dtype=np.float64)


def walk(wrong: str = "", observation_space: Any = None, episodes: int = 20, **options: Any) -> GymnasiumEnvironment:
    return untuned.from_gymnasium(
        lambda: Walk(wrong, observation_space), name="walk", step_limit=50, episodes=episodes, **options
    )


@pytest.mark.parametrize("algorithm", NAMES_OF_ELEVEN)
@pytest.mark.parametrize(
    ("wrong", "space", "words"),
    [
        ("step", None, ("KeyError", "lost the way", "test_agents_on_gymnasium.py:")),
        ("reset", BOX, ("RuntimeError", "cannot begin")),
        ("nan", BOX, ("observation", "episode 3", "dimension", "finite")),
        ("outside", None, ("observed 11", "0 to 10")),
    ],
)
def test_an_error_of_the_environment_is_the_failure_of_the_trial(
    wrong: str, space: Any, words: tuple[str, ...], algorithm: str
) -> None:
    CLOSED.clear()
    result = run_trial(algorithm, walk(wrong, space))
    for word in words:
        assert word in str(result.failure)
    assert math.isnan(result.score)
    assert math.isnan(result.final_return)
    assert result.returns.tolist() == [-10.0, -10.0]
    assert (result.final_returns.size, result.steps) == (0, 20 if wrong == "reset" else 24 + (wrong == "nan"))
    # The one that was looked at, and the trial's.
    assert len(CLOSED) == 2


@pytest.mark.parametrize(
    ("wrong", "space", "word"),
    [
        ("exit", None, "SystemExit"),
        ("refuse", None, "not today"),
        ("reward", None, "reward"),
        ("infinite", None, "reward"),
        ("below", None, "observed -1"),
        ("half", None, "observed 2.5"),
        ("text", None, "left"),
        ("shape", BOX, "shape"),
        ("single", BOX, "shape"),
    ],
)
def test_everything_that_no_agent_could_learn_from_is_a_failure(wrong: str, space: Any, word: str) -> None:
    result = run_trial("sarsa", walk(wrong, space))
    assert word in str(result.failure)
    assert result.returns.size == 2


def test_errors_after_learning_fail_the_trial_as_well() -> None:
    result = run_trial("sarsa", walk("step", episodes=2))
    assert "lost the way" in str(result.failure)
    assert math.isnan(result.score)
    assert result.returns.tolist() == [-10.0, -10.0]


def test_an_environment_that_cannot_be_made_again_says_so() -> None:
    made: list[Walk] = []

    def once() -> Env:
        if made:
            raise OSError("the license is in use")
        made.append(Walk())
        return made[0]

    place = untuned.from_gymnasium(once, step_limit=50)
    with pytest.raises(OSError, match="license"):
        run_trial("sarsa", place)


def test_an_interrupt_is_not_a_failure() -> None:
    with pytest.raises(KeyboardInterrupt):
        run_trial("sarsa", walk("interrupt"))


def test_ctrl_c_is_heard_while_a_kernel_runs() -> None:
    program = """
import os, signal, threading
import gymnasium, untuned
# Where tests run in the background of a shell, it is ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
running = threading.Event()
class Endless(gymnasium.Env):
    observation_space = action_space = gymnasium.spaces.Discrete(2)
    steps = 0
    def reset(self, *, seed=None, options=None): return 0, {}
    def step(self, action):
        # Not while kernels are compiled: a signal may be lost there.
        Endless.steps += 1
        if Endless.steps == 1000: running.set()
        return 0, 0.0, False, False, {}
def interrupt():
    running.wait()
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt, daemon=True).start()
try:
    untuned.run_trial("sarsa", untuned.from_gymnasium(Endless, step_limit=10**12))
except KeyboardInterrupt:
    print("interrupted")
"""
    done = python("-c", program, check=True)
    assert (done.stdout, done.stderr) == ("interrupted\n", "")


def test_a_stop_is_heard_within_an_episode() -> None:
    class Endless(Walk):
        def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
            polled.append(len(asked))
            return 0, 0.0, False, False, {}

    polled: list[int] = []
    asked: list[bool] = []

    def stop() -> bool:
        asked.append(True)
        return len(asked) > 3

    place = untuned.from_gymnasium(Endless, step_limit=10**12)
    with pytest.raises(Stopped):
        run_trial("sarsa", place, stop=stop)
    assert polled


class Wide(Walk):
    """Shows how far it went, ten times as far as its ranges say, and no further than it is told."""

    def __init__(self, furthest: float = math.inf) -> None:
        super().__init__(observation_space=spaces.Box(-np.inf, np.inf, (2,), dtype=np.float64))
        self.furthest = furthest

    def _observation(self) -> Any:
        return np.array([0.0, min(10.0 * self.at, self.furthest)])


def test_observations_outside_their_ranges_are_clipped() -> None:
    options: dict[str, Any] = {"name": "wide", "step_limit": 50, "episodes": 10, "observation_ranges": [(0, 45)] * 2}
    wide = untuned.from_gymnasium(Wide, **options)
    clipped = untuned.from_gymnasium(lambda: Wide(45.0), **options)
    further = untuned.from_gymnasium(lambda: Wide(44.0), **options)
    first = run_trial("sarsa-parl2", wide).facts()
    assert run_trial("sarsa-parl2", clipped).facts() == first
    assert run_trial("sarsa-parl2", further).facts() != first


def test_what_knows_no_seed_repeats_all_the_same() -> None:
    class Naive(Walk):
        def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
            observation, _, *others = super().step(action)
            return observation, np.random.rand(), *others  # noqa: NPY002

    place = untuned.from_gymnasium(Naive, step_limit=50, episodes=5)
    before = np.random.get_state()[1].tolist()  # type: ignore[index] # noqa: NPY002
    first = run_trial("q", place)
    assert np.random.get_state()[1].tolist() == before  # type: ignore[index] # noqa: NPY002
    np.random.rand()  # noqa: NPY002
    assert run_trial("q", place).facts() == first.facts()
    assert run_trial("q", place, trial=1).returns.tolist() != first.returns.tolist()


def test_a_wrappers_own_randomness_repeats() -> None:
    class Sticky(gymnasium.Wrapper[Any, Any, Any, Any]):
        def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
            return self.env.step(action if self.np_random.random() < 0.75 else 0)

    def sticky() -> Env:
        return Sticky(gymnasium.make("untuned/Chain10Deterministic-v0"))

    place = untuned.from_gymnasium(sticky, episodes=10)
    first = run_trial("sarsa", place)
    assert run_trial("sarsa", place).facts() == first.facts()


# Studies.

MINE = '''
import time

import gymnasium
import numpy as np
from gymnasium import spaces


def agent(environment, draw):
    """Act at random."""
    rng = np.random.default_rng(draw.seed())
    while True:
        environment.reset()
        done = False
        while not done:
            _, _, terminated, truncated, _ = environment.step(int(rng.integers(2)))
            done = terminated or truncated


class Track(gymnasium.Env):
    """Runs from 0 to 1 in steps of random length; breaks down in some of the trials."""

    observation_space = spaces.Box(-np.inf, np.inf, (1,), dtype=np.float64)
    action_space = spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at = 0.0
        return np.array([self.at]), {}

    def step(self, action):
        self.at += self.np_random.random() * (0.2 if action else 0.1)
        if self.at > 1.165:
            raise RuntimeError("derailed")
        return np.array([self.at]), -1.0, self.at >= 1.0, False, {}


class Slow(Track):
    """Never comes back from a step."""

    def step(self, action):
        time.sleep(1000.0)
'''

STUDY = """
name = "mine"
trials = 6
seed = 3
keep = "returns"
algorithms = ["sarsa-parl2", { use = "mine:agent" }]
environments = [
  { gymnasium = "CartPole-v1", episodes = 4 },
  { use = "mine:Track", episodes = 9, step_limit = 99, score_range = [-99, 0], observation_ranges = { 0 = [0, 1.2] } },
]
"""


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Study]:
    """Return the study of a text, with the module it needs next to it; the module is forgotten afterwards."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setitem(sys.modules, "mine", None)
    del sys.modules["mine"]
    (tmp_path / "mine.py").write_text(MINE, encoding="utf-8")

    def study(text: str = STUDY) -> Study:
        (tmp_path / "study.toml").write_text(text, encoding="utf-8")
        return Study.read(tmp_path / "study.toml")

    return study


def test_a_users_algorithm_has_baselines_on_the_users_environment(
    tmp_path: Path, written: Callable[..., Study]
) -> None:
    study = written()
    for workers in (1, 2):
        assert collect_scores(study, tmp_path / f"{workers}", workers=workers).complete
    one = exported(tmp_path / "1")
    assert exported(tmp_path / "2") == one
    # Resumed after an interruption, and with more trials than there were.
    first = dataclasses.replace(study, trials=2)
    assert collect_scores(first, tmp_path / "again", workers=1).complete
    assert collect_scores(study, tmp_path / "again", workers=2).complete
    assert exported(tmp_path / "again") == one
    with Store.open(tmp_path / "1") as store:
        trials = store.trials()
        failures = [each.failure for each in trials if each.failure is not None]
        shown = store.trial("sarsa-parl2", "CartPole-v1", 3)
    # The same trial as from Python.
    result = run_trial("sarsa-parl2", untuned.from_gymnasium("CartPole-v1", episodes=4), seed=3, trial=3)
    assert shown.returns is not None
    assert shown.returns.tolist() == result.returns.tolist()
    assert all("derailed" in each and "mine.py:" in each for each in failures)
    assert 0 < len(failures) < 12
    evaluation = untuned.evaluate(tmp_path / "1")
    assert set(evaluation.algorithms) == {"sarsa-parl2", "agent"}


def test_the_shortest_study_of_that_kind(tmp_path: Path, written: Callable[..., Study]) -> None:
    text = STUDY.partition("environments")[0].replace("trials = 6", "trials = 1")
    study = written(text + 'environments = [{ gymnasium = "CartPole-v1" }]\n')
    collect_scores(study, tmp_path / "study", workers=1)
    with Store.open(tmp_path / "study") as store:
        found = store.trial("sarsa-parl2", "CartPole-v1", 0)
    assert found.returns is not None
    assert found.returns.size == 100


def test_other_ranges_are_another_environment(tmp_path: Path, written: Callable[..., Study]) -> None:
    study = written(STUDY.replace("trials = 6", "trials = 1"))
    collect_scores(study, tmp_path / "study", workers=1)
    changed = written(STUDY.replace("trials = 6", "trials = 1").replace("[0, 1.2]", "[0, 1.5]"))
    with pytest.raises(InvalidInput, match="'Track' has changed"):
        collect_scores(changed, tmp_path / "study")


def test_a_time_limit_ends_a_trial_that_hangs_in_its_environment(tmp_path: Path, written: Callable[..., Study]) -> None:
    text = STUDY.partition("algorithms")[0].replace("trials = 6", "trials = 1\ntime_limit = 1.0")
    place = '{ use = "mine:Slow", step_limit = 9, observation_ranges = [[0, 1]] }'
    study = written(f'{text}\nalgorithms = ["sarsa"]\nenvironments = [{place}]\n')
    collect_scores(study, tmp_path / "study", workers=1)
    with Store.open(tmp_path / "study") as store:
        assert "time limit" in str(store.trial("sarsa", "Slow", 0).failure)


def test_failed_trials_that_count_for_nothing_are_said(tmp_path: Path, written: Callable[..., Study]) -> None:
    text = STUDY.replace(
        'algorithms = ["sarsa-parl2", { use = "mine:agent" }]', 'algorithms = ["sarsa-parl2", "q-parl2"]'
    )
    study = written(text.replace("score_range = [-99, 0], ", ""))
    collect_scores(study, tmp_path / "study", workers=1)
    with pytest.raises(InvalidInput, match=r"failed|finite"):
        untuned.evaluate(tmp_path / "study")
    # Declared later, it counts: no trial is run again.
    assert collect_scores(written(text), tmp_path / "study", workers=1).complete
    assert untuned.evaluate(tmp_path / "study").algorithms


def test_the_same_algorithm_under_two_names_is_known(tmp_path: Path) -> None:
    study = Study("s", algorithms=["q", "q-s"], environments=[{"gymnasium": "FrozenLake-v1", "episodes": 2}], trials=2)
    collect_scores(study, tmp_path / "study", workers=1)
    assert untuned.read_scores(tmp_path / "study").kinds[0].tolist() == [0, 0]


# The command line.


def test_a_trial_from_the_command_line() -> None:
    printed = succeeded("trial", "sarsa-parl2", "gymnasium:FrozenLake-v1", "--seed", "3")
    result = run_trial("sarsa-parl2", untuned.from_gymnasium("FrozenLake-v1"), seed=3)
    assert printed.startswith("sarsa-parl2 in FrozenLake-v1, seed 3, trial 0\n")
    assert f"{result.steps:,}" in printed
