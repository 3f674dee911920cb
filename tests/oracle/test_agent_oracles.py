"""Tests of the agents' oracles on their own, against what is known by hand or by theorem."""

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any, Literal

import numpy as np
import pytest

from oracle.reference import fourier, ppo
from oracle.reference.actor_critic import ActorCritic
from oracle.reference.agent_world import Floats, Uniform
from oracle.reference.fourier import Fourier, Tabular, frequencies
from oracle.reference.nac_td import NacTd
from oracle.reference.ppo import Adam, Ppo, advantages, entropy, permutation, policy_gradient, policy_objective
from oracle.reference.sarsa_q import SarsaQ, epsilon_greedy
from oracle.reference.softmax_policy import draw, log_gradient, log_probability, softmax
from oracle.reference.xoshiro import Xoshiro

AHEAD, STAY = 0, 1


def given(*values: float) -> Callable[[], float]:
    """Return a source of exactly these numbers."""
    left: Iterator[float] = iter(values)
    return lambda: next(left)


def uniforms(seed: int) -> Uniform:
    """Return an endless source."""
    return Xoshiro([seed + 1, 2, 3, 4]).uniform


class Line:
    """States in a line, -1 for every step; the episode ends beyond the last state or at the step limit."""

    def __init__(self, states: int, limit: int) -> None:
        self.states = states
        self.limit = limit
        self.state = 0
        self.steps = 0

    def reset(self) -> Floats:
        self.state = 0
        self.steps = 0
        return np.array([0.0])

    def step(self, action: int) -> tuple[Floats, float, bool]:
        if action == AHEAD:
            self.state += 1
        self.steps += 1
        done = self.state == self.states or self.steps == self.limit
        return np.array([float(min(self.state, self.states - 1))]), -1.0, done


class Ring:
    """States in a circle, one further with each step, for any action; no reward."""

    def __init__(self, states: int, limit: int) -> None:
        self.states = states
        self.limit = limit
        self.steps = 0

    def reset(self) -> Floats:
        self.steps = 0
        return np.array([0.0])

    def step(self, action: int) -> tuple[Floats, float, bool]:
        self.steps += 1
        return np.array([float(self.steps % self.states)]), 0.0, self.steps == self.limit


class Drift:
    """A point in the unit square, pushed by three actions and by chance, better off near a corner."""

    def __init__(self, uniform: Uniform, limit: int = 40) -> None:
        self.uniform = uniform
        self.limit = limit
        self.state = np.zeros(2)
        self.steps = 0

    def reset(self) -> Floats:
        self.state = np.array([self.uniform(), 0.5])
        self.steps = 0
        return self.state

    def step(self, action: int) -> tuple[Floats, float, bool]:
        self.state += np.array([0.1 * (action - 1), 0.1 * (self.uniform() - 0.5)])
        np.clip(self.state, 0.0, 1.0, out=self.state)
        self.steps += 1
        corner = bool(self.state.sum() > 1.7)
        return self.state, float(self.state.sum()) - 2.0, corner or self.steps == self.limit


SQUARE = [(0.0, 1.0), (0.0, 1.0)]


# --- Features


def test_frequencies_are_coupled_with_the_last_dimension_fastest_and_then_single() -> None:
    assert frequencies(2, 1, 3).tolist() == [[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [3, 0], [0, 2], [0, 3]]
    assert frequencies(1, 2, 1).tolist() == [[0], [1], [2]]


@pytest.mark.parametrize(("dimensions", "dorder", "iorder"), [(1, 0, 1), (2, 3, 9), (3, 2, 2), (4, 1, 0), (4, 9, 9)])
def test_frequencies_are_as_many_as_the_formula_says(dimensions: int, dorder: int, iorder: int) -> None:
    rows = frequencies(dimensions, dorder, iorder)
    assert rows.shape == ((dorder + 1) ** dimensions + dimensions * max(0, iorder - dorder), dimensions)
    assert len({tuple(row) for row in rows.tolist()}) == len(rows)


def test_features_by_hand() -> None:
    # u = (1/2, 1/3); frequencies (0,0), (0,1), (1,0), (1,1), (2,0), (0,2).
    half, third = math.pi / 2, math.pi / 3
    expected = [1.0, 0.5, 0.0, math.cos(half + third), -1.0, -0.5]
    ranges = [(-1.0, 3.0), (0.0, 3.0)]
    basis = Fourier(ranges, 1, 2)
    assert basis.number == 6
    np.testing.assert_allclose(basis(np.array([1.0, 1.0])), expected, atol=1e-15)
    np.testing.assert_allclose(fourier.features([1.0, 1.0], ranges, 1, 2).astype(float), expected, atol=1e-15)


def test_features_outside_of_the_ranges_are_not_clipped() -> None:
    # u = 3/2 and frequencies 0, 1, 2.
    np.testing.assert_allclose(Fourier([(0.0, 2.0)], 2, 2)(np.array([3.0])), [1.0, 0.0, -1.0], atol=1e-15)


def test_features_in_long_double_are_better_than_double() -> None:
    if np.finfo(np.longdouble).nmant <= np.finfo(np.float64).nmant:
        pytest.skip("long double is no longer than double here")
    third = np.longdouble(1) / np.longdouble(3)
    # cos(pi/3) is one half; what is left is the rounding of u alone.
    assert abs(fourier.features([1.0], [(0.0, 3.0)], 1, 1)[1] - np.longdouble(0.5)) < 1e-18
    assert abs(third - np.longdouble(1 / 3)) > 1e-18


def test_tabular_features_are_one_hot() -> None:
    table = Tabular(4)
    assert table.number == 4
    assert table(np.array([2.0])).tolist() == [0.0, 0.0, 1.0, 0.0]


# --- Choices


def test_epsilon_greedy_draws_once_or_twice() -> None:
    values = np.array([0.0, 2.0, 2.0])
    assert epsilon_greedy(values, 0.1, given(0.1)) == 1
    assert epsilon_greedy(values, 0.1, given(0.05, 0.999)) == 2
    assert epsilon_greedy(values, 0.1, given(0.05, 0.0)) == 0


def test_softmax_choice_is_the_first_that_reaches_the_number() -> None:
    p = np.array([0.25, 0.5, 0.25])
    assert [draw(p, given(u)) for u in (0.0, 0.25, 0.26, 0.75, 0.76, 0.999)] == [0, 0, 1, 1, 2, 2]
    # Rounding may leave the sum below one: then it is the last.
    assert draw(np.array([0.5, 0.4]), given(0.95)) == 1


def test_nan_picks_the_first_action() -> None:
    assert epsilon_greedy(np.array([np.nan, np.nan, np.nan]), 0.0, given(0.5)) == 0
    assert epsilon_greedy(np.array([1.0, np.nan, np.nan]), 0.0, given(0.5)) == 1
    assert draw(softmax(np.array([1.0, np.nan, 2.0])), given(0.99)) == 0


@pytest.mark.parametrize("name", ["sarsa", "q", "ac", "ac-parl2", "nac-td", "ppo"])
def test_an_agent_with_nan_weights_goes_on_with_the_first_action(name: str) -> None:
    agent = build(name, Tabular(3), 2)
    agent.weights[:] = np.nan
    assert agent.learn_episode(Line(3, 5), lambda: 0.999) == -3.0
    assert agent.play_episode(Line(3, 5), lambda: 0.999) == -3.0
    assert [action for action, _, _ in agent.log] == [AHEAD] * 3


def build(name: str, features: Any, actions: int) -> Any:
    """Return an agent with unremarkable hyperparameters."""
    rule: Literal["sarsa", "q"] = "q" if name.startswith("q") else "sarsa"
    match name:
        case "sarsa" | "q":
            return SarsaQ(features, actions, 0.95, 0.7, 0.1, 0.05, rule)
        case "sarsa-parl2" | "q-parl2":
            return SarsaQ(features, actions, 0.95, 0.7, 0.1, None, rule)
        case "ac":
            return ActorCritic(features, actions, 0.95, 0.7, 0.02, 0.03)
        case "ac-parl2":
            return ActorCritic(features, actions, 0.95, 0.7, 0.02, None)
        case "nac-td":
            return NacTd(features, actions, 0.95, 0.7, 0.02, 0.03, 0.04)
        case "ppo":
            return Ppo(features, actions, 0.95, 0.7, 0.02, 0.2, 0.01, 20, 3, 6)
    raise ValueError(name)


ALL = ["sarsa", "q", "sarsa-parl2", "q-parl2", "ac", "ac-parl2", "nac-td", "ppo"]


@pytest.mark.parametrize("name", ALL)
def test_the_log_has_one_entry_per_step_and_its_rewards_are_the_return(name: str) -> None:
    uniform = uniforms(1)
    agent = build(name, Fourier(SQUARE, 1, 2), 3)
    world = Drift(uniform)
    for _ in range(3):
        before = len(agent.log)
        total = agent.learn_episode(world, uniform)
        assert len(agent.log) - before == world.steps
        assert sum(reward for _, reward, _ in agent.log[before:]) == pytest.approx(total)


@pytest.mark.parametrize("name", ALL)
def test_playing_changes_nothing(name: str) -> None:
    uniform = uniforms(2)
    agent = build(name, Fourier(SQUARE, 1, 2), 3)
    agent.learn_episode(Drift(uniform), uniform)
    before = {key: np.copy(value) for key, value in vars(agent).items() if isinstance(value, np.ndarray)}
    steps = len(agent.log)
    agent.play_episode(Drift(uniform), uniform)
    assert len(agent.log) == steps
    for key, value in before.items():
        np.testing.assert_array_equal(getattr(agent, key), value)


@pytest.mark.parametrize("name", ["sarsa", "q", "ac", "nac-td", "ppo"])
def test_learning_helps(name: str) -> None:
    """The shortest way takes four steps, one picked at random eight on average."""
    uniform = uniforms(3)
    agent = build(name, Tabular(4), 2)
    for _ in range(300):
        agent.learn_episode(Line(4, 100), uniform)
    assert np.mean([agent.play_episode(Line(4, 100), uniform) for _ in range(50)]) > -5.0


# --- Traces


@pytest.mark.parametrize("name", ["sarsa", "q"])
def test_the_trace_of_a_cycle_decays_geometrically(name: Literal["sarsa", "q"]) -> None:
    discount, trace_decay, states = 0.9, 0.8, 5
    agent = SarsaQ(Tabular(states), 1, discount, trace_decay, 0.0, 0.1, name)
    decay = discount * trace_decay
    agent.learn_episode(Ring(states, states), given(*[0.5] * states))
    np.testing.assert_allclose(agent.trace[0], [decay**k for k in range(states - 1, -1, -1)])
    # Three rounds, from a trace of zero again: each visit adds one, and fades.
    agent.learn_episode(Ring(states, 3 * states), given(*[0.5] * 3 * states))
    expected = [decay**k * (1 + decay**states + decay ** (2 * states)) for k in range(states - 1, -1, -1)]
    np.testing.assert_allclose(agent.trace[0], expected)


@pytest.mark.parametrize("name", ["ac", "nac-td"])
def test_the_critic_trace_of_a_cycle_decays_geometrically(name: str) -> None:
    agent = build(name, Tabular(5), 2)
    agent.learn_episode(Ring(5, 5), uniforms(4))
    np.testing.assert_allclose(agent.critic_trace, [(0.95 * 0.7) ** k for k in range(4, -1, -1)])


@pytest.mark.parametrize("name", ["sarsa", "q", "ac", "nac-td"])
def test_every_trace_is_zero_at_the_start_of_an_episode(name: str) -> None:
    agent = build(name, Tabular(2), 2)
    agent.learn_episode(Line(2, 99), uniforms(11))
    agent.learn_episode(Line(2, 1), uniforms(12))
    traces = [value for key, value in vars(agent).items() if key.endswith("trace")]
    assert len(traces) == (1 if name in ("sarsa", "q") else 2)
    for trace in traces:
        assert (trace[..., 0] != 0.0).any()
        np.testing.assert_array_equal(trace[..., 1], 0.0)


# --- Sarsa and Q


def test_sarsa_without_traces_by_hand() -> None:
    agent = SarsaQ(Tabular(3), 2, 0.5, 0.0, 0.0, 0.5, "sarsa")
    # All values are zero, so that every step goes ahead with an error of -1.
    assert agent.learn_episode(Line(3, 3), lambda: 0.5) == -3.0
    assert agent.log == [(AHEAD, -1.0, -1.0)] * 3
    np.testing.assert_array_equal(agent.weights, [[-0.5, -0.5, -0.5], [0.0, 0.0, 0.0]])

    # Stay, stay, ahead. The second stay was chosen before the first was found to be no better than going ahead.
    agent.learn_episode(Line(3, 3), lambda: 0.5)
    first = -1.0 + 0.5 * 0.0 - 0.0
    second = -1.0 + 0.5 * -0.5 - -0.5
    third = -1.0 - -0.5  # the time limit is an end
    assert agent.log[3:] == [(STAY, -1.0, first), (STAY, -1.0, second), (AHEAD, -1.0, third)]
    np.testing.assert_array_equal(agent.weights, [[-0.75, -0.5, -0.5], [-0.875, 0.0, 0.0]])


def test_sarsa_and_q_part_where_the_next_action_explores() -> None:
    def agent(rule: Literal["sarsa", "q"]) -> SarsaQ:
        result = SarsaQ(Tabular(2), 2, 0.5, 0.0, 0.5, 1.0, rule)
        result.weights = np.array([[0.0, 4.0], [0.0, -2.0]])
        return result

    # Ahead by greed, then stay by exploring: state 1 is worth 4 by its best action and -2 by that one.
    numbers = (0.9, 0.1, 0.9)
    sarsa, q = agent("sarsa"), agent("q")
    sarsa.learn_episode(Line(2, 2), given(*numbers))
    q.learn_episode(Line(2, 2), given(*numbers))
    assert sarsa.log == [(AHEAD, -1.0, -2.0), (STAY, -1.0, 1.0)]
    assert q.log == [(AHEAD, -1.0, 1.0), (STAY, -1.0, 1.0)]


def test_traces_carry_an_error_back() -> None:
    agent = SarsaQ(Tabular(2), 1, 0.5, 0.5, 0.0, 1.0, "sarsa")
    agent.learn_episode(Line(2, 9), lambda: 0.5)
    # Errors -1 and -1; the second reaches the first state with a quarter.
    np.testing.assert_array_equal(agent.weights, [[-1.25, -1.0]])


@pytest.mark.parametrize("step_size", [0.02, None])
def test_q_is_sarsa_without_exploration(step_size: float | None) -> None:
    agents = []
    for rule in ("sarsa", "q"):
        uniform = uniforms(5)
        agent = SarsaQ(Fourier(SQUARE, 2, 3), 3, 0.95, 0.6, 0.0, step_size, rule)
        for _ in range(5):
            agent.learn_episode(Drift(uniform), uniform)
        agents.append(agent)
    assert agents[0].log == agents[1].log
    np.testing.assert_array_equal(agents[0].weights, agents[1].weights)
    assert len({action for action, _, _ in agents[0].log}) > 1


def test_a_nan_error_moves_the_trace_but_not_the_weights() -> None:
    agent = SarsaQ(Tabular(2), 1, 0.5, 0.5, 0.0, 1.0, "sarsa")
    agent.weights = np.array([[1.0, np.nan]])
    agent.learn_episode(Line(2, 9), lambda: 0.5)
    np.testing.assert_array_equal(agent.weights, [[1.0, np.nan]])
    np.testing.assert_array_equal(agent.trace, [[0.25, 1.0]])


# --- Parl2


@pytest.mark.parametrize("name", ["sarsa-parl2", "q-parl2", "ac-parl2"])
def test_the_adapted_step_size_never_rises(name: str) -> None:
    uniform = uniforms(6)
    agent = build(name, Fourier(SQUARE, 2, 3), 3)
    seen = []

    class Watching(Drift):
        def step(self, action: int) -> tuple[Floats, float, bool]:
            seen.append(agent.critic_step_size if name == "ac-parl2" else agent.step_size)
            return super().step(action)

    for _ in range(4):
        agent.learn_episode(Watching(uniform), uniform)
    assert seen[0] == 1.0
    assert all(later <= earlier for earlier, later in itertools.pairwise(seen))
    assert len(set(seen)) > 2
    assert 0.0 < seen[-1] < 0.5


def test_the_adapted_step_size_by_hand() -> None:
    agent = SarsaQ(Tabular(2), 1, 0.5, 0.5, 0.0, None, "sarsa")
    # Around the ring of two: traces (1, 0), (1/4, 1), (1 + 1/16, 1/4), and then the end.
    agent.learn_episode(Ring(2, 3), lambda: 0.5)
    d = [-1.0, 0.5 * 0.25 - 1.0, -(1.0 + 1.0 / 16.0)]
    assert agent.step_size == min(1.0, *(-1.0 / x for x in d)) == 16.0 / 17.0


def test_the_adapted_step_size_counts_the_next_state_with_the_discount() -> None:
    agent = SarsaQ(Tabular(2), 2, 0.5, 0.5, 0.0, None, "sarsa")
    agent.update(np.array([1.0, 0.0]), 0, 0.0, np.array([-2.0, 0.0]), 0, False)
    assert agent.step_size == 0.5
    # Another action next: its features are another row's, and the two do not meet.
    agent = SarsaQ(Tabular(2), 2, 0.5, 0.5, 0.0, None, "sarsa")
    agent.update(np.array([1.0, 0.0]), 0, 0.0, np.array([-2.0, 0.0]), 1, False)
    assert agent.step_size == 1.0


def test_the_adapted_step_size_of_a_critic_by_hand() -> None:
    agent = ActorCritic(Tabular(1), 2, 0.5, 0.5, 0.1, None)
    # The same state twice: first d = 0.5 - 1, which asks for no less than 2; at the end d = -(1 + 1/4).
    agent.learn_episode(Ring(1, 2), given(0.5, 0.5))
    assert agent.critic_step_size == 0.8


def test_the_adapted_step_size_outlives_the_episode() -> None:
    agent = SarsaQ(Tabular(2), 1, 0.5, 0.5, 0.0, None, "sarsa")
    agent.learn_episode(Ring(2, 3), lambda: 0.5)
    agent.learn_episode(Ring(2, 1), lambda: 0.5)
    assert agent.step_size == 16.0 / 17.0


# --- Actor-critic


def test_actor_critic_by_hand() -> None:
    agent = ActorCritic(Tabular(2), 2, 0.5, 0.5, 0.2, 0.1)
    agent.learn_episode(Line(2, 9), given(0.5, 0.5))
    # Two steps ahead, each with an error of -1, each as probable as its alternative; the second reaches back.
    np.testing.assert_allclose(agent.values, [-0.1 - 0.1 / 4, -0.1])
    np.testing.assert_allclose(agent.weights[AHEAD], [0.2 * (-0.5 - 0.125), 0.2 * -0.5])
    np.testing.assert_allclose(agent.weights[STAY], -agent.weights[AHEAD])
    assert agent.log == [(AHEAD, -1.0, -1.0)] * 2


def test_actor_critic_with_parl2_has_a_bonus_and_others_have_not() -> None:
    agent = ActorCritic(Tabular(2), 2, 0.5, 0.5, 0.2, None)
    agent.learn_episode(Line(2, 1), given(0.5))
    error = -1.0 + 0.01 * math.log(2.0)
    assert agent.log[0][2] == pytest.approx(error)
    assert agent.critic_step_size == 1.0
    np.testing.assert_allclose(agent.values, [error, 0.0])
    np.testing.assert_allclose(agent.weights, [[0.1 * error, 0.0], [-0.1 * error, 0.0]])


@pytest.mark.parametrize("name", ["ac", "nac-td"])
def test_nothing_counts_beyond_the_time_limit(name: str) -> None:
    agent = build(name, Tabular(2), 2)
    agent.values = np.array([1.0, 2.0])
    agent.learn_episode(Line(2, 1), given(0.1))
    assert agent.log == [(AHEAD, -1.0, -2.0)]


def test_a_nan_error_moves_both_traces_but_no_weights() -> None:
    agent = ActorCritic(Tabular(2), 2, 0.5, 0.5, 0.2, 0.1)
    agent.values = np.array([1.0, np.nan])
    agent.learn_episode(Line(2, 9), given(0.5, 0.5))
    np.testing.assert_array_equal(agent.values, [1.0, np.nan])
    np.testing.assert_array_equal(agent.weights, np.zeros((2, 2)))
    np.testing.assert_array_equal(agent.critic_trace, [0.25, 1.0])
    np.testing.assert_array_equal(agent.trace, [[0.125, 0.5], [-0.125, -0.5]])


# --- NAC-TD


def test_nac_td_by_hand() -> None:
    agent = NacTd(Tabular(2), 2, 0.5, 0.5, 0.3, 0.1, 0.2)
    agent.learn_episode(Line(2, 1), given(0.5))
    np.testing.assert_allclose(agent.values, [-0.1, 0.0])
    np.testing.assert_allclose(agent.advantage, [[-0.1, 0.0], [0.1, 0.0]])
    root = math.sqrt(0.5)
    np.testing.assert_allclose(agent.weights, [[-0.3 * root, 0.0], [0.3 * root, 0.0]])

    # The same step again: the policy has changed, and the advantage is partly known.
    p = 1.0 / (1.0 + math.exp(0.6 * root))
    agent.learn_episode(Line(2, 1), given(0.0))
    psi = np.array([1.0 - p, p - 1.0])
    error = -1.0 - -0.1
    advantage = np.array([-0.1, 0.1]) + 0.2 * (error - float(np.array([-0.1, 0.1]) @ psi)) * psi
    np.testing.assert_allclose(agent.values, [-0.1 + 0.1 * error, 0.0])
    np.testing.assert_allclose(agent.advantage[:, 0], advantage)
    np.testing.assert_allclose(agent.weights[:, 0], np.array([-0.6, 0.6]) * root)


def test_nac_td_carries_its_errors_back() -> None:
    agent = NacTd(Tabular(2), 2, 0.5, 0.5, 0.3, 0.1, 0.2)
    agent.learn_episode(Line(2, 9), given(0.5, 0.5))
    np.testing.assert_allclose(agent.values, [-0.125, -0.1])
    np.testing.assert_allclose(agent.advantage, [[-0.125, -0.1], [0.125, 0.1]])


def test_nac_td_moves_by_its_step_size_in_every_step() -> None:
    uniform = uniforms(7)
    agent = NacTd(Fourier(SQUARE, 1, 2), 3, 0.9, 0.5, 0.03, 0.02, 0.01)
    seen = []

    class Watching(Drift):
        def step(self, action: int) -> tuple[Floats, float, bool]:
            seen.append(agent.weights)
            return super().step(action)

    agent.learn_episode(Watching(uniform), uniform)
    moves = [np.linalg.norm(later - earlier) for earlier, later in itertools.pairwise(seen)]
    np.testing.assert_allclose(moves, 0.03)


def test_nac_td_stays_while_the_advantage_is_zero() -> None:
    agent = NacTd(Tabular(3), 2, 0.9, 0.5, 0.03, 0.02, 0.01)
    agent.learn_episode(Ring(3, 6), uniforms(8))
    np.testing.assert_array_equal(agent.weights, np.zeros((2, 3)))


# --- The softmax policy


def test_softmax_sums_to_one_and_does_not_see_a_constant() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        preferences = rng.normal(scale=5.0, size=4)
        p = softmax(preferences)
        assert p.sum() == pytest.approx(1.0, abs=1e-15)
        np.testing.assert_allclose(softmax(preferences + 3.0), p, rtol=1e-13)


def test_softmax_clips_the_preferences() -> None:
    np.testing.assert_array_equal(softmax(np.array([50.0, 1e300, np.inf])), softmax(np.array([32.0, 32.0, 32.0])))
    np.testing.assert_array_equal(softmax(np.array([-1e9, 0.0])), softmax(np.array([-32.0, 0.0])))


def test_entropy_of_equal_preferences_is_the_logarithm_of_their_number() -> None:
    assert entropy(np.full(5, 7.0)) == pytest.approx(math.log(5.0))
    assert entropy(np.array([0.0, math.log(3.0)])) == pytest.approx(-0.25 * math.log(0.25) - 0.75 * math.log(0.75))


def differences(function: Callable[[Floats], float], at: Floats, size: float = 1e-5) -> Floats:
    """Return the gradient by central differences."""
    result = np.zeros_like(at)
    for index in np.ndindex(*at.shape):
        up, down = at.copy(), at.copy()
        up[index] += size
        down[index] -= size
        result[index] = (function(up) - function(down)) / (2.0 * size)
    return result


def test_the_gradient_of_the_log_probability_against_differences() -> None:
    rng = np.random.default_rng(2)
    for action in range(3):
        weights, phi = rng.normal(size=(3, 4)), rng.normal(size=4)
        expected = differences(lambda w: log_probability(w, phi, action), weights)  # noqa: B023 (called at once)
        np.testing.assert_allclose(log_gradient(weights, phi, action), expected, atol=1e-9)


# --- PPO


def test_ppo_gradient_against_differences() -> None:
    rng = np.random.default_rng(3)
    flat = steep = 0
    while min(flat, steep) < 15:
        weights, phi = rng.normal(size=(3, 4)), rng.normal(size=4)
        action, advantage = int(rng.integers(3)), float(rng.normal())
        clip, coefficient = 0.2, float(rng.uniform(0.0, 0.5))
        old = log_probability(weights, phi, action) + float(rng.normal(scale=0.4))
        ratio = math.exp(log_probability(weights, phi, action) - old)
        if min(abs(ratio - 1.0 + clip), abs(ratio - 1.0 - clip)) < 0.01:
            continue  # a kink: there is no gradient there
        arguments = (phi, action, old, advantage, clip, coefficient)
        gradient = policy_gradient(weights, *arguments)
        expected = differences(lambda w: policy_objective(w, *arguments), weights)  # noqa: B023 (called at once)
        np.testing.assert_allclose(gradient, expected, atol=1e-8)
        if (ratio > 1.0 + clip and advantage > 0.0) or (ratio < 1.0 - clip and advantage < 0.0):
            flat += 1
            alone = policy_gradient(weights, phi, action, old, advantage, clip, 0.0)
            np.testing.assert_array_equal(alone, np.zeros_like(weights))
        else:
            steep += 1


def test_advantages_with_lambda_one_are_returns_less_values() -> None:
    rng = np.random.default_rng(4)
    rewards, values = rng.normal(size=9), rng.normal(size=10)
    ends = [False, False, True, False, False, False, True, False, False]
    expected = np.zeros(9)
    future = values[9]
    for t in range(8, -1, -1):
        future = rewards[t] + 0.9 * (0.0 if ends[t] else future)
        expected[t] = future - values[t]
    np.testing.assert_allclose(advantages(rewards, values, ends, 0.9, 1.0), expected)


def test_advantages_with_lambda_zero_are_one_step_errors() -> None:
    result = advantages([1.0, 2.0, 3.0], [0.5, 1.5, 2.5, 100.0], [False, True, True], 0.9, 0.0)
    np.testing.assert_allclose(result, [1.0 + 0.9 * 1.5 - 0.5, 2.0 - 1.5, 3.0 - 2.5])


def test_advantages_by_hand() -> None:
    result = advantages([1.0, 0.0], [2.0, 4.0, 8.0], [False, False], 0.5, 0.5)
    last = 0.0 + 0.5 * 8.0 - 4.0
    np.testing.assert_allclose(result, [1.0 + 0.5 * 4.0 - 2.0 + 0.25 * last, last])


def test_the_permutation_by_hand() -> None:
    # i = 3 with j = 1, i = 2 with j = 2, i = 1 with j = 0.
    assert permutation(4, given(0.3, 0.9, 0.1)) == [3, 0, 2, 1]
    assert permutation(1, given()) == [0]


def test_adam_by_hand() -> None:
    adam = Adam((3,), 0.1)
    gradient = np.array([2.0, -0.5, 1e-6])
    # The first step is nearly the step size times the sign, less where epsilon is not small compared with the gradient.
    first = 0.1 * gradient / (np.abs(gradient) + 1e-5 / math.sqrt(0.001))
    step = adam.step(gradient)
    np.testing.assert_allclose(step, first)
    np.testing.assert_allclose(step[:2], [0.1, -0.1], rtol=1e-3)
    assert 0.0 < step[2] < 0.001

    moment = 0.9 * 0.1 * gradient + 0.1 * -gradient
    raw = 0.999 * 0.001 * gradient**2 + 0.001 * gradient**2
    second = 0.1 * math.sqrt(1.0 - 0.999**2) / (1.0 - 0.9**2) * moment / (np.sqrt(raw) + 1e-5)
    np.testing.assert_allclose(adam.step(-gradient), second)


def test_ppo_first_update_by_hand() -> None:
    agent = Ppo(Tabular(2), 2, 0.5, 0.5, 0.1, 0.2, 0.01, 1, 1, 1)
    agent.learn_episode(Line(2, 1), given(0.5))
    # The advantage is -1, the ratio 1, the entropy at its peak; the critic's gradient is -1.
    shift = 1e-5 / math.sqrt(0.001)
    np.testing.assert_allclose(agent.weights[:, 0], [-0.05 / (0.5 + shift), 0.05 / (0.5 + shift)])
    np.testing.assert_allclose(agent.values, [-0.1 / (1.0 + shift), 0.0])
    assert agent.log == [(AHEAD, -1.0, 0.0)]


def test_ppo_means_are_over_the_samples_of_a_short_minibatch() -> None:
    agent = Ppo(Tabular(3), 2, 0.5, 0.0, 0.1, 0.2, 0.0, 3, 1, 2)
    # Every advantage is -1 and the order is the identity: states 0 and 1 together, then state 2 alone.
    agent.learn_episode(Line(3, 9), given(0.1, 0.1, 0.1, 0.99, 0.99))
    np.testing.assert_allclose(agent.critic_adam.first, [0.9 * -0.05, 0.9 * -0.05, -0.1])
    np.testing.assert_allclose(agent.policy_adam.first[AHEAD], [0.9 * -0.025, 0.9 * -0.025, -0.05])


def test_ppo_looks_beyond_a_batch_but_not_beyond_an_episode() -> None:
    agent = Ppo(Tabular(2), 2, 0.5, 0.5, 0.1, 0.2, 0.0, 1, 1, 1)
    agent.values = np.array([1.0, 4.0])
    agent.learn_episode(Ring(2, 2), given(0.1, 0.1))
    # Batches of one step: the first has the error 0.5 * 4 - 1, the second -4.
    np.testing.assert_allclose(agent.critic_adam.first, [0.9 * 0.1, 0.1 * -4.0])


def test_ppo_draws_for_actions_and_for_the_order_only_and_a_batch_waits() -> None:
    agent = Ppo(Tabular(3), 2, 0.9, 0.9, 0.1, 0.2, 0.01, 5, 2, 2)
    # Three steps; the batch waits, through an episode without learning as well.
    agent.learn_episode(Line(3, 9), given(0.1, 0.1, 0.1))
    agent.play_episode(Line(3, 9), given(0.1, 0.1, 0.1))
    assert len(agent.batch) == 3
    np.testing.assert_array_equal(agent.weights, np.zeros((2, 3)))
    # Two steps more, then two orders of five, then the third step with the new policy.
    agent.learn_episode(Line(3, 9), given(0.1, 0.1, *[0.5] * 8, 0.1))
    assert len(agent.batch) == 1
    assert agent.policy_adam.steps == agent.critic_adam.steps == 2 * 3
    assert agent.log[-1][2] == agent.values[2] != 0.0


def test_ppo_one_minibatch_follows_the_mean_gradient() -> None:
    """One step of Adam on the whole batch, with the mean gradient by differences of the mean objective."""
    uniform = uniforms(9)
    basis = Fourier(SQUARE, 1, 1)
    agent = Ppo(basis, 3, 0.9, 0.8, 0.05, 0.2, 0.1, 12, 1, 12)
    rng = np.random.default_rng(5)
    agent.weights, agent.values = rng.normal(size=(3, 4)), rng.normal(size=4)
    weights, critic = agent.weights.copy(), agent.values.copy()

    class Recording(Drift):
        """Keeps what happens, so that nothing of the agent's own records is needed."""

        def __init__(self) -> None:
            super().__init__(uniform, 12)
            self.states: list[Floats] = []
            self.actions: list[int] = []
            self.rewards: list[float] = []
            self.ends: list[bool] = []

        def step(self, action: int) -> tuple[Floats, float, bool]:
            self.states.append(self.state.copy())
            observation, reward, done = super().step(action)
            self.actions.append(action)
            self.rewards.append(reward)
            self.ends.append(done)
            return observation, reward, done

    world = Recording()
    agent.learn_episode(world, uniform)
    assert world.ends == [False] * 11 + [True]
    phis = [basis(state) for state in world.states]
    estimate = advantages(world.rewards, [*(float(critic @ phi) for phi in phis), 99.0], world.ends, 0.9, 0.8)

    def objective(w: Floats) -> float:
        total = 0.0
        for phi, action, advantage in zip(phis, world.actions, estimate, strict=True):
            old = log_probability(weights, phi, action)
            total += policy_objective(w, phi, action, old, float(advantage), 0.2, 0.1)
        return total / 12.0

    def loss(v: Floats) -> float:
        goals = [float(advantage + critic @ phi) for advantage, phi in zip(estimate, phis, strict=True)]
        return -sum((goal - float(v @ phi)) ** 2 for goal, phi in zip(goals, phis, strict=True)) / 24.0

    policy_step = Adam((3, 4), 0.05).step(differences(objective, weights))
    critic_step = Adam((4,), 0.05).step(differences(loss, critic))
    np.testing.assert_allclose(agent.weights, weights + policy_step, atol=1e-7)
    np.testing.assert_allclose(agent.values, critic + critic_step, atol=1e-7)


def test_ppo_exposes_the_softmax() -> None:
    assert ppo.softmax is softmax


# --- Divergence


@pytest.mark.parametrize("rule", ["sarsa", "q"])
def test_a_diverging_agent_keeps_acting(rule: Literal["sarsa", "q"]) -> None:
    uniform = uniforms(10)
    world = Drift(uniform)
    agent = SarsaQ(Fourier(SQUARE, 2, 2), 3, 0.99, 0.9, 0.1, 50.0, rule)
    returns = [agent.learn_episode(world, uniform) for _ in range(30)]
    returns.append(agent.play_episode(world, uniform))
    assert np.isfinite(returns).all()
    assert not np.isfinite(agent.weights).all()
