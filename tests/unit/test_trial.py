"""One trial: the same key the same trial, everything recorded, and mistakes refused in words."""

import dataclasses
import json
import math
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import untuned
from support import worlds
from support.calling import refuse
from support.processes import python
from untuned.collect.agents.agent import Agent, Learner, World
from untuned.collect.agents.features import Fourier, Tabular
from untuned.collect.agents.ppo import Ppo
from untuned.collect.agents.sarsa import Sarsa
from untuned.collect.definitions.definition import Definition
from untuned.collect.definitions.draw import Draw
from untuned.collect.environments.environment import Budget, ContinuousStates, DiscreteStates, Environment
from untuned.collect.kernels.jit import INTERPRETED, Floats, fingerprint
from untuned.collect.kernels.rng import random_state
from untuned.collect.runner import trial as module
from untuned.collect.runner.trial import run_trial
from untuned.collect.trial import LARGEST
from untuned.errors import InvalidInput, Stopped, UnknownName

pytestmark = pytest.mark.skipif(INTERPRETED, reason="minutes for a plain interpreter; the oracles cover the same code")

#: One of each kind of agent, in both kinds of states; quick ones.
CELLS = [
    *((name, "chain-10-stochastic") for name in ("sarsa", "q-parl2", "ac", "nac-td", "ppo", "tuned-within[q,3]")),
    ("sarsa-s", "cart-pole[randomize=false]"),
    ("ac-parl2", "space-2"),
    ("nac-td", "space-2"),
    ("ppo", "space-2"),
]


def place(name: str) -> Any:
    return worlds.space(2, 30, episodes=40) if name == "space-2" else name


def facts(algorithm: str, environment: str, **options: Any) -> str:
    return json.dumps(run_trial(algorithm, place(environment), **options).facts())


# The same key, the same trial


@pytest.mark.parametrize(("algorithm", "environment"), CELLS)
def test_the_same_key_gives_the_same_trial(algorithm: str, environment: str) -> None:
    first = facts(algorithm, environment, seed=3, trial=4)
    assert facts(algorithm, environment, seed=3, trial=4) == first
    assert facts(algorithm, environment, seed=3, trial=4, stop=lambda: False) == first
    for other in ({"seed": 4, "trial": 4}, {"seed": 3, "trial": 5}, {"seed": 4, "trial": 3}):
        assert json.loads(facts(algorithm, environment, **other))["returns"] != json.loads(first)["returns"]


PROGRAM = """
import json, sys
from untuned import run_trial
for algorithm, environment in json.loads(sys.argv[1]):
    print(json.dumps(run_trial(algorithm, environment, seed=3, trial=4).facts()))
"""


def test_another_process_finds_the_same() -> None:
    cells = [cell for cell in CELLS if cell[1] != "space-2"]
    finished = python("-c", PROGRAM, json.dumps(cells))
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout.splitlines() == [facts(*cell, seed=3, trial=4) for cell in cells]


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_any_number_of_threads_finds_the_same(workers: int) -> None:
    jobs = [(cell, trial) for trial in range(3) for cell in CELLS]
    expected = [facts(*cell, seed=1, trial=trial) for cell, trial in jobs]
    with ThreadPoolExecutor(workers) as pool:
        found = list(pool.map(lambda job: facts(*job[0], seed=1, trial=job[1]), jobs))
    assert found == expected


def test_what_else_there_is_changes_nothing() -> None:
    alone = facts("sarsa", "chain-10-stochastic", seed=9)
    for algorithm in ("q", "ppo"):
        for environment in ("chain-10-deterministic", "gridworld-5-stochastic"):
            facts(algorithm, environment, seed=9)
            assert facts("sarsa", "chain-10-stochastic", seed=9) == alone


def test_the_names_are_part_of_the_key() -> None:
    # On a table both are the same definition: only the random numbers can tell them apart.
    assert run_trial("sarsa", "chain-10-stochastic").draws != run_trial("sarsa-s", "chain-10-stochastic").draws
    one = run_trial("sarsa", "chain-10-stochastic")
    other = run_trial("sarsa", "chain-11-stochastic")
    assert [each.name for each in one.draws] == [each.name for each in other.draws]
    assert one.draws != other.draws


def test_a_name_and_what_it_names_are_the_same() -> None:
    by_name = run_trial("q", "chain-10-stochastic", seed=2).facts()
    assert run_trial(untuned.algorithm("q"), untuned.environment("chain-10-stochastic"), seed=2).facts() == by_name


# What is recorded


@pytest.mark.parametrize(("algorithm", "environment"), CELLS)
def test_a_result_says_all_of_itself(algorithm: str, environment: str) -> None:
    where = place(environment)
    where = untuned.environment(where) if isinstance(where, str) else where
    result = run_trial(algorithm, where, seed=5, trial=6)
    assert (result.seed, result.algorithm, result.environment, result.trial) == (5, algorithm, where.name, 6)
    assert result.precision == "float64"
    assert len(result.returns) == where.budget.episodes
    assert len(result.final_returns) == 30
    assert result.score == pytest.approx(math.fsum(result.returns) / len(result.returns), rel=1e-12)
    assert result.final_return == pytest.approx(math.fsum(result.final_returns) / 30, rel=1e-12)
    assert np.isfinite(result.returns).all()
    assert result.steps >= len(result.returns)
    assert result.seconds > 0
    assert result.fingerprint == fingerprint()
    assert result.definition_version == str(untuned.algorithm(algorithm).version)
    assert list(result.dynamics) == [each.name for each in where.parameters]
    assert result.log_density == pytest.approx(sum(each.log_density for each in result.draws))
    for each in result.draws:
        assert math.isfinite(each.log_density)
    # The very numbers that the definition asks for, after the dynamics' own.
    assert len({each.name for each in result.draws}) == len(result.draws) > 0


@pytest.mark.parametrize(("algorithm", "environment"), CELLS)
def test_facts_are_plain_json(algorithm: str, environment: str) -> None:
    result = run_trial(algorithm, place(environment))
    text = json.dumps(result.facts(), allow_nan=False)
    assert json.loads(text, parse_constant=refuse) == result.facts()
    assert "seconds" not in result.facts()
    assert result.facts()["draws"] == {each.name: each.value for each in result.draws}
    assert result.facts()["log_densities"] == {each.name: each.log_density for each in result.draws}


def test_facts_and_fields_have_a_fixed_order() -> None:
    result = run_trial("sarsa", "chain-10-stochastic")
    assert " ".join(result.facts()) == (
        "seed algorithm environment trial precision score final_return diverged steps draws log_densities parameters "
        "returns final_returns adapted definition_version fingerprint failure"
    )
    assert " ".join(result.as_dict()) == (
        "seed algorithm environment trial score final_return precision steps seconds diverged draws dynamics adapted "
        "failure definition_version fingerprint definition_fingerprint environment_fingerprint returns final_returns"
    )


def test_the_draws_are_those_that_the_agent_got() -> None:
    seen: list[Sarsa] = []

    def build(environment: Environment, draw: Draw) -> Agent:
        assert isinstance(environment.states, DiscreteStates)
        step_size = draw.suggest_float("step_size", 0.01, 1.0, log=True)
        epsilon = draw.suggest_float("epsilon", 0.0, 0.5)
        seen.append(Sarsa(Tabular(environment.states.number), 0.9, 0.5, epsilon, step_size))
        return seen[-1]

    mine = Definition("mine", "Mine", 7, "a user's own", build)
    result = run_trial(mine, "chain-10-stochastic", trial=12)
    assert result.algorithm == "mine"
    assert result.definition_version == "7"
    values = {each.name: each.value for each in result.draws}
    assert values == {"step_size": seen[0].step_size, "epsilon": seen[0].epsilon}
    densities = {each.name: each.log_density for each in result.draws}
    assert densities["epsilon"] == pytest.approx(math.log(2.0))
    assert densities["step_size"] == pytest.approx(-math.log(values["step_size"] * math.log(100.0)))
    assert run_trial(mine, "chain-10-stochastic", trial=12).facts() == result.facts()


def test_one_parameter_more_does_not_change_the_dynamics() -> None:
    # Dynamics are drawn first, from the trial's own stream.
    drawn = {
        run_trial(name, "chain-10-stochastic", seed=4).dynamics["slip_probability"] for name in ("sarsa", "q", "ppo")
    }
    assert len(drawn) == 3
    for value in drawn:
        assert 0.0 <= value <= 0.25


def test_tuning_within_runs_to_the_end() -> None:
    result = run_trial("tuned-within[sarsa,3]", "chain-10-stochastic", seed=1)
    names = [each.name for each in result.draws]
    assert {name.partition(".")[0] for name in names} == {"1", "2", "3"}
    assert [name for name in names if name.startswith("2.")] == ["2.gamma", "2.lambda", "2.epsilon", "2.step_size"]
    assert len(result.returns) == 100
    assert result.definition_version == "1+1"


def test_too_few_episodes_to_tune_within_are_refused() -> None:
    few = dataclasses.replace(untuned.environment("chain-10-stochastic"), budget=Budget(episodes=7))
    with pytest.raises(InvalidInput, match=r"7 episodes are too few to tune within.*4 candidates need 8"):
        run_trial("tuned-within[sarsa,4]", few)
    assert len(run_trial("tuned-within[sarsa,3]", few).returns) == 7


# Precision


def test_single_precision_is_the_same_trial_at_first() -> None:
    where = worlds.space(2, 30, episodes=40)
    double = run_trial("sarsa-s", where, seed=2)
    single = run_trial("sarsa-s", where, seed=2, precision="float32")
    assert single.precision == single.facts()["precision"] == "float32"
    assert double.precision == "float64"
    assert single.draws == double.draws
    assert single.dynamics == double.dynamics
    # Until a value is so near to another that rounding decides, all is the same.
    assert single.returns[0] == double.returns[0]
    assert np.abs(single.returns).max() < 1e6


def test_single_precision_is_what_the_weights_have() -> None:
    types = []

    @dataclasses.dataclass(frozen=True)
    class Watching:
        agent: Sarsa

        def start(self, world: World) -> Learner:
            learner = self.agent.start(world)
            types.append(learner.weights.dtype)
            return learner

    def build(environment: Environment, draw: Draw) -> Agent:
        assert isinstance(environment.states, ContinuousStates)
        return Watching(Sarsa(Fourier(environment.states.ranges, 1, 1), 0.9, 0.5, 0.1, 0.01))

    for precision in ("float32", "float64"):
        run_trial(Definition("w", "W", 1, "", build), worlds.space(2, 30), precision=precision)
    assert types == [np.float32, np.float64]


# Divergence


def diverging(environment: Environment, draw: Draw) -> Agent:
    assert isinstance(environment.states, ContinuousStates)
    return Sarsa(Fourier(environment.states.ranges, 2, 2), 0.9, 0.5, 0.1, 1e6)


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_a_diverged_trial_has_a_score_and_is_flagged(precision: str) -> None:
    mine = Definition("wild", "Wild", 1, "diverges", diverging)
    result = run_trial(mine, worlds.space(2, 30, episodes=40), precision=precision)
    assert result.diverged
    assert result.facts()["diverged"] is True
    assert math.isfinite(result.score)
    assert math.isfinite(result.final_return)
    assert np.isfinite(result.returns).all()


# Stopping


def test_a_trial_is_stopped_before_it_begins() -> None:
    with pytest.raises(Stopped):
        run_trial("sarsa", "chain-10-stochastic", stop=lambda: True)


@pytest.mark.parametrize("after", [1, 2, 3])
def test_a_trial_is_stopped_when_it_is_said(after: int) -> None:
    asked: list[None] = []

    def stop() -> bool:
        asked.append(None)
        return len(asked) > after

    with pytest.raises(Stopped):
        run_trial("sarsa", "chain-10-stochastic", stop=stop)
    assert len(asked) == after + 1


def test_stopping_is_asked_for_a_few_times_a_second() -> None:
    # A trial of many seconds, were it not stopped: ten thousand features and episodes that last.
    where = dataclasses.replace(worlds.space(4, 2000), budget=Budget(episodes=100_000))

    def build(environment: Environment, draw: Draw) -> Agent:
        assert isinstance(environment.states, ContinuousStates)
        return Sarsa(Fourier(environment.states.ranges, 4, 4), 0.9, 0.5, 0.1, 1e-6)

    slow = Definition("slow", "Slow", 1, "", build)
    asked: list[None] = []

    def stop() -> bool:
        asked.append(None)
        return len(asked) > 5

    with pytest.raises(Stopped):
        run_trial(slow, where, stop=stop)
    assert len(asked) == 6


@pytest.mark.parametrize("seconds", [1e-5, 1e-3, 0.03, 0.15])
def test_pieces_take_a_fraction_of_a_second_each(seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that is advanced by hand: how busy the machine is makes no difference."""
    now = [0.0]
    monkeypatch.setattr(module, "time", SimpleNamespace(perf_counter=lambda: now[0]))

    def work(part: Floats) -> int:
        now[0] += seconds * len(part)
        return len(part)

    asked: list[float] = []

    def stop() -> bool:
        asked.append(now[0])
        return now[0] > 20.0

    with pytest.raises(Stopped):
        module._in_pieces(work, np.zeros(10_000_000), stop, lambda: None)
    gaps = np.diff(asked)
    # The first four episodes take as long as they take.
    assert gaps[1:].max() <= 0.2001
    assert np.median(gaps) > 0.1


def test_stopping_works_from_another_thread() -> None:
    where = dataclasses.replace(worlds.space(2, 200), budget=Budget(episodes=10_000_000))
    stopping = threading.Event()
    begun = threading.Event()

    def stop() -> bool:
        begun.set()
        return stopping.is_set()

    def wait_and_stop() -> None:
        begun.wait()
        stopping.set()

    threading.Thread(target=wait_and_stop, daemon=True).start()
    with pytest.raises(Stopped):
        run_trial("sarsa-s", where, stop=stop)


def test_pieces_grow_and_cover_every_episode_once(monkeypatch: pytest.MonkeyPatch) -> None:
    # A clock that stands still: pieces grow as fast as they may.
    monkeypatch.setattr(module, "time", SimpleNamespace(perf_counter=lambda: 0.0))
    sizes: list[int] = []

    def work(part: Floats) -> int:
        sizes.append(len(part))
        part += 1.0
        return 2 * len(part)

    returns = np.zeros(1000)
    assert module._in_pieces(work, returns, lambda: False, lambda: None) == 2000
    assert (returns == 1.0).all()
    assert sizes[0] == 4
    assert all(b <= 8 * a for a, b in pairwise(sizes))
    assert len(sizes) < 20
    sizes.clear()
    assert module._in_pieces(work, np.zeros(7), None, lambda: None) == 14
    assert sizes == [4, 3]


# Mistakes


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seed": -1}, "seed=-1 is not allowed: give a whole number from 0"),
        ({"seed": 2**63}, "seed=9223372036854775808 is not allowed"),
        ({"seed": 1.5}, "seed=1.5 is not allowed"),
        ({"seed": "1"}, "seed='1' is not allowed"),
        ({"seed": True}, "seed=True is not allowed"),
        ({"trial": -1}, "trial=-1 is not allowed"),
        ({"trial": None}, "trial=None is not allowed"),
        ({"precision": "float16"}, "float16"),
        ({"precision": ""}, "precision"),
        ({"precision": np.float32}, "precision"),
    ],
)
def test_bad_keys_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        run_trial("sarsa", "chain-10-stochastic", **options)
    assert message in str(refused.value)


def test_large_and_numpys_numbers_are_welcome() -> None:
    result = run_trial("sarsa", "chain-10-stochastic", seed=LARGEST, trial=np.int64(3))  # type: ignore[arg-type]
    assert (result.seed, result.trial) == (LARGEST, 3)
    assert type(result.trial) is int
    assert json.dumps(result.facts())


@pytest.mark.parametrize(
    ("algorithm", "environment", "near"), [("sarsaa", "cart-pole", "sarsa"), ("sarsa", "cartpole", "cart-pole")]
)
def test_unknown_names_say_what_is_near(algorithm: str, environment: str, near: str) -> None:
    with pytest.raises(UnknownName, match=f"did you mean '{near}'"):
        run_trial(algorithm, environment)


def test_a_budget_of_steps_is_refused() -> None:
    where = dataclasses.replace(untuned.environment("chain-10-stochastic"), budget=Budget(steps=500))
    with pytest.raises(InvalidInput, match=r"chain-10-stochastic has a budget of 500 steps.*Budget\(episodes=...\)"):
        run_trial("sarsa", where)


def test_a_definition_that_builds_nothing_is_refused() -> None:
    nothing: Callable[[Environment, Draw], Any] = lambda environment, draw: None  # noqa: E731
    with pytest.raises(InvalidInput, match="build of empty returned None"):
        run_trial(Definition("empty", "Empty", 1, "", nothing), "chain-10-stochastic")


def test_an_environment_without_kernels_is_refused() -> None:
    chain = untuned.environment("chain-10-stochastic")
    fields = {each.name: getattr(chain, each.name) for each in dataclasses.fields(Environment)}
    with pytest.raises(InvalidInput, match=r"chain-10-stochastic.*from_gymnasium"):
        run_trial("sarsa", Environment(**fields))  # type: ignore[arg-type]


# In a separate process: an unrefused call writes out of bounds.
UNFIT = """
from untuned import Definition, InvalidInput, run_trial
from untuned.collect.agents.features import Fourier, Tabular
from untuned.collect.agents.ppo import Ppo
from untuned.collect.agents.ppo import Ppo
from untuned.collect.agents.sarsa import Sarsa
try:
    run_trial(Definition("unfit", "Unfit", 1, "", lambda environment, draw: {agent}), {environment!r}, stop=count)
except InvalidInput:
    print("refused")
"""
# One piece of learning is enough; some would never end.
COUNT = "asked = []\ndef count():\n    asked.append(None)\n    return len(asked) > 3\n"


@pytest.mark.parametrize(
    ("agent", "environment"),
    [
        ("Sarsa(Tabular(3), 0.9, 0.5, 0.1, 0.1)", "chain-10-stochastic"),
        ("Sarsa(Tabular(10), 0.9, 0.5, 0.1, 0.1)", "cart-pole"),
        ("Sarsa(Fourier(((0.0, 1.0),) * 6, 1, 1), 0.9, 0.5, 0.1, 0.001)", "cart-pole"),
        ("Ppo(Tabular(10), 0.9, 0.5, 0.01, 0.2, 0.01, 0, 1, 16)", "chain-10-stochastic"),
        ("Ppo(Tabular(10), 0.9, 0.5, 0.01, 0.2, 0.01, 64, 1, 0)", "chain-10-stochastic"),
    ],
    ids=[
        "too few states",
        "a table of what has no states",
        "too many dimensions",
        "empty batches",
        "empty minibatches",
    ],
)
def test_an_agent_that_does_not_fit_is_refused(agent: str, environment: str) -> None:
    finished = python("-c", COUNT + UNFIT.format(agent=agent, environment=environment))
    assert finished.stdout == "refused\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((None, "cart-pole"), "None is not an algorithm"),
        ((Sarsa(Tabular(10), 0.9, 0.5, 0.1, 0.1), "chain-10-stochastic"), "is not an algorithm"),
        (("sarsa", None), "None is not an environment"),
        (("sarsa", 5), "5 is not an environment"),
    ],
)
def test_things_of_the_wrong_kind_are_said_in_words(arguments: tuple[Any, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        run_trial(*arguments)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Sarsa(Tabular(3), 0.9, 0.5, -1.0, 0.1), "epsilon=-1.0 is not allowed: give a number from 0 to 1"),
        (lambda: Sarsa(Tabular(3), 2.0, 0.5, 0.1, 0.1), "discount=2.0 is not allowed"),
        (lambda: Sarsa(Tabular(3), 0.9, None, 0.1, 0.1), "trace_decay=None is not allowed"),  # type: ignore[arg-type]
        (lambda: Sarsa(Tabular(3), 0.9, 0.5, 0.1, "a"), "step_size='a' is not allowed"),  # type: ignore[arg-type]
        (lambda: Sarsa(Tabular(3), 0.9, 0.5, 0.1, float("nan")), "step_size=nan is not allowed"),
        (lambda: Tabular(0), "states=0 is not allowed"),
        (lambda: Tabular(10.0), "states=10.0 is not allowed"),  # type: ignore[arg-type]
        (lambda: Tabular(10**12), "is not allowed"),
        (lambda: Fourier(3, 1, 1), "give \\(low, high\\) for each dimension"),  # type: ignore[arg-type]
        (lambda: Fourier(((0.0, 1.0),), 1, 10**9), "iorder=1000000000 is not allowed"),
        (lambda: Fourier(((1.0, 1.0),), 1, 1), "the lower first"),
        (lambda: Fourier((), 1, 1), "at least one dimension"),
        (lambda: Fourier(((0.0, 1.0),) * 5, 9, 1), "take dorder <= 5"),
        (lambda: Ppo(Tabular(3), 0.9, 0.5, 0.1, 0.2, 0.0, 64, 2.5, 16), "epochs=2.5 is not"),  # type: ignore[arg-type]
    ],
)
def test_hyperparameters_that_no_kernel_should_see(build: Callable[[], object], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        build()


def test_whole_numbers_are_as_good_as_others() -> None:
    agent = Sarsa(Tabular(np.int64(10)), 1, 0, np.float32(0.5), 1)  # type: ignore[arg-type]
    assert [type(value) for value in (agent.discount, agent.trace_decay, agent.epsilon, agent.step_size)] == [float] * 4
    assert type(agent.features.number) is int


def test_what_was_adapted_is_told() -> None:
    result = run_trial("sarsa-parl2", "chain-10-stochastic")
    assert 0.0 < result.adapted["step_size"] < 1.0
    assert run_trial("sarsa", "chain-10-stochastic").adapted == {}
    assert "critic_step_size" in run_trial("ac-parl2", "chain-10-stochastic").adapted
    assert run_trial("tuned-within[sarsa,3]", "chain-10-stochastic").adapted["chosen"] in (1, 2, 3)


def test_overflow_of_what_is_learned_from_is_divergence_too() -> None:
    # Weights near the largest number may stay finite while sums of them do not: then every step is skipped.
    there = untuned.environment("cart-pole")
    assert isinstance(there.states, ContinuousStates)
    features = Fourier(there.states.ranges, 3, 3)
    found = 0
    for seed in range(90, 140):
        step_size = math.exp(np.random.default_rng(seed).uniform(math.log(2), math.log(200))) / features.number
        learner = Sarsa(features, 0.99, 0.5, 0.1, step_size).start(worlds.started(there, random_state(seed)))
        learner.learn(np.zeros(40))
        finite = bool(np.isfinite(learner.weights).all())
        found += learner.diverged and finite
        assert learner.diverged or (finite and float(np.abs(learner.weights).max()) < 1e305)
    assert found > 0
