"""Every agent compared with its oracle, in the same environment, fed the same random numbers: the same trajectory.

The kernels put updates off, fuse loops and keep lists of traces; the oracles recompute everything from the weights at
every step. After each episode both must have seen the same rewards, have used up the same random numbers, and have the
same weights up to rounding, which grows with the number of updates.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pytest

from oracle.reference import actor_critic, fourier, nac_td, ppo, sarsa_q
from untuned.collect.agents.actor_critic import ActorCritic
from untuned.collect.agents.agent import Agent, CompiledLearner, Place, World
from untuned.collect.agents.features import Features, Fourier, Tabular
from untuned.collect.agents.nac_td import NacTd
from untuned.collect.agents.ppo import Ppo
from untuned.collect.agents.sarsa import QLearning, Sarsa
from untuned.collect.environments.environment import CompiledEnvironment, ContinuousStates
from untuned.collect.environments.registry import environment
from untuned.collect.environments.rollout import reset_once, step_once
from untuned.collect.kernels.jit import INTERPRETED, Floats, RandomState
from untuned.collect.kernels.rng import random_state, uniform
from untuned.collect.kernels.status import RUNNING


@dataclass
class Played:
    """One of our environments as the oracles see one; only the agent differs between the two sides."""

    environment: CompiledEnvironment
    random: RandomState
    parameters: Floats = field(init=False)
    state: Floats = field(init=False)
    steps: int = 0

    def __post_init__(self) -> None:
        self.parameters = self.environment.draw(self.random).vector
        self.state = self.environment.new_state()

    def reset(self) -> Floats:
        reset_once(self.environment.compiled_reset, self.state, self.parameters, self.random)
        return self._observation()

    def step(self, action: int) -> tuple[Floats, float, bool]:
        reward, status = step_once(
            self.environment.compiled_step, self.state, self.parameters, self.random, int(action)
        )
        self.steps += 1
        return self._observation(), reward, status != RUNNING

    def _observation(self) -> Floats:
        return self.state[: self.environment.states.dimensions].copy()


def world(place: CompiledEnvironment, random: RandomState, real: Any = np.float64) -> World:
    vector = place.draw(random).vector
    return World(
        Place(place.compiled_reset, place.compiled_step, place.new_state(), vector, random),
        actions=len(place.actions),
        episodes=place.budget.episodes or 0,
        states=None if isinstance(place.states, ContinuousStates) else place.states.number,
        dimensions=place.states.dimensions,
        real=real,
    )


def _rows(learner: CompiledLearner, features: Features, name: str, actions: int) -> Floats:
    """Return the weights with a row per function, whatever the kernel's layout."""
    if isinstance(features, Fourier):
        return np.asarray(learner.weights[:, : features.number], dtype=np.float64)
    if learner.weights.ndim == 2:
        return np.asarray(learner.weights.T)
    # Blocks, each with a row per state: the policy, the advantage where there is one, and the state value.
    *blocks, values = np.split(learner.weights, [actions * features.number * k for k in range(1, BLOCKS[name] + 1)])
    return np.concatenate([*(each.reshape(features.number, actions).T for each in blocks), values[None]])


#: Blocks of the table's weights with a number per state and action.
BLOCKS = {"ac": 1, "ac-parl2": 1, "nac-td": 2}


#: What to build on either side, and (kernel's rows, oracle's weights) to compare.
Pair = tuple[Agent, Any, Callable[[Floats, Any], list[tuple[Floats, Floats]]]]
Make = Callable[[Features, Any, int, float], Pair]


def _values(rule: str, parl2: bool, epsilon: float, features: Features, reference: Any, actions: int, a: float) -> Pair:
    step_size = None if parl2 else a
    agent = (Sarsa if rule == "sarsa" else QLearning)(features, 0.98, 0.7, epsilon, step_size)
    oracle = sarsa_q.SarsaQ(reference, actions, 0.98, 0.7, epsilon, step_size, rule)  # type: ignore[arg-type]
    return agent, oracle, lambda rows, oracle: [(rows, oracle.weights)]


def _actor_critic(parl2: bool, features: Features, reference: Any, actions: int, a: float) -> Pair:
    critic = None if parl2 else a
    agent = ActorCritic(features, 0.98, 0.7, a / 2, critic, 0.01 if parl2 else 0.0)
    oracle = actor_critic.ActorCritic(reference, actions, 0.98, 0.7, a / 2, critic)
    return agent, oracle, lambda rows, oracle: [(rows[:-1], oracle.weights), (rows[-1], oracle.values)]


def _nac_td(features: Features, reference: Any, actions: int, a: float) -> Pair:
    agent = NacTd(features, 0.98, 0.7, a / 3, a, a / 2)
    oracle = nac_td.NacTd(reference, actions, 0.98, 0.7, a / 3, a, a / 2)

    def parts(rows: Floats, oracle: nac_td.NacTd) -> list[tuple[Floats, Floats]]:
        if isinstance(features, Fourier):
            advantage, values, policy = rows[:actions], rows[actions], rows[actions + 1 :]
        else:
            policy, advantage, values = rows[:actions], rows[actions:-1], rows[-1]
        return [(policy, oracle.weights), (values, oracle.values), (advantage, oracle.advantage)]

    return agent, oracle, parts


def _ppo(features: Features, reference: Any, actions: int, a: float) -> Pair:
    settings = {"clip": 0.1, "entropy": 0.01, "steps_per_batch": 70, "epochs": 3, "minibatch": 16}
    agent = Ppo(features, 0.98, 0.7, 0.002, **settings)  # type: ignore[arg-type]
    oracle = ppo.Ppo(reference, actions, 0.98, 0.7, 0.002, **settings)  # type: ignore[arg-type]
    return agent, oracle, lambda rows, oracle: [(rows[:-1], oracle.weights), (rows[-1], oracle.values)]


AGENTS: dict[str, Make] = {
    "sarsa": partial(_values, "sarsa", False, 0.1),
    "sarsa-parl2": partial(_values, "sarsa", True, 0.1),
    "q": partial(_values, "q", False, 0.1),
    "q-parl2": partial(_values, "q", True, 0.1),
    "ac": partial(_actor_critic, False),
    "ac-parl2": partial(_actor_critic, True),
    "nac-td": _nac_td,
    "ppo": _ppo,
}

#: (environment, dorder, iorder, episodes); the orders matter with continuous states only.
PLACES = [
    ("gridworld-5-stochastic", 0, 0, 20),
    ("chain-10-stochastic", 0, 0, 30),
    ("gridworld-10-deterministic", 0, 0, 2),
    ("cart-pole", 1, 1, 40),
    ("cart-pole", 2, 4, 40),
    ("cart-pole", 0, 3, 40),
    ("mountain-car[acceleration=0.0015]", 2, 3, 1),
    ("pinball-empty", 1, 2, 2),
]


@pytest.mark.parametrize("place", PLACES, ids=lambda each: f"{each[0]}-{each[1]}-{each[2]}")
@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_and_its_oracle_live_the_same_life(name: str, place: tuple[str, int, int, int]) -> None:
    where, dorder, iorder, episodes = place
    if name == "ppo":
        # Its roundings grow, as said below.
        episodes = -(-episodes // 2)
    if INTERPRETED:
        episodes = max(1, episodes // 10)
        if where.startswith(("mountain", "pinball", "gridworld-10")):
            pytest.skip("thousands of steps a plain interpreter needs minutes for; the same code runs elsewhere")
    there = environment(where)
    features: Features
    if isinstance(there.states, ContinuousStates):
        features = Fourier(there.states.ranges, dorder, iorder)
        reference: Any = fourier.Fourier(there.states.ranges, dorder, iorder)
        step_size = 0.2 / features.number
    else:
        features, reference, step_size = Tabular(there.states.number), fourier.Tabular(there.states.number), 0.05
    agent, oracle, parts = AGENTS[name](features, reference, len(there.actions), step_size)

    ours, theirs = random_state(5, name), random_state(5, name)
    learner = agent.start(world(there, ours))
    assert isinstance(learner, CompiledLearner)
    played = Played(there, theirs)
    returns = np.zeros(1)
    for _ in range(episodes):
        steps = learner.learn(returns)
        before = played.steps
        assert oracle.learn_episode(played, lambda: uniform(theirs)) == pytest.approx(returns[0], abs=1e-9)
        assert steps == played.steps - before
        np.testing.assert_array_equal(ours, theirs)
        for mine, expected in parts(_rows(learner, features, name, len(there.actions)), oracle):
            # Adam divides by a root plus 1e-5: where a gradient is zero but for rounding, that grows by 1e5.
            tolerance = 1e-4 if name == "ppo" else 1e-8
            np.testing.assert_allclose(mine, expected, rtol=0, atol=tolerance * max(1.0, float(np.abs(expected).max())))
    assert not learner.diverged
    assert played.steps >= (10 if INTERPRETED else 200)
    for _ in range(1 if INTERPRETED else 3):
        learner.play(returns)
        assert oracle.play_episode(played, lambda: uniform(theirs)) == pytest.approx(returns[0], abs=1e-9)
    if name.endswith("parl2"):
        adapted = oracle.step_size if hasattr(oracle, "step_size") else oracle.critic_step_size
        assert learner.step_sizes[-1] == pytest.approx(adapted, rel=1e-9)
        assert learner.step_sizes[-1] < 1.0
