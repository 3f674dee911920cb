"""The agents' parts one by one, and what every agent must do at the borders: divergence, nothing to learn, one choice.

In addition to the oracles, which have every rule in plain form, agents run in small worlds where a trajectory is known.
"""

from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from oracle.reference import actor_critic, fourier, ppo, sarsa_q
from oracle.test_agents import AGENTS, Make, Pair, Played, _rows
from support import worlds
from untuned.collect.agents.actor_critic import ActorCritic
from untuned.collect.agents.agent import Agent, CompiledLearner
from untuned.collect.agents.features import Features, Fourier, Tabular
from untuned.collect.agents.nac_td import NacTd
from untuned.collect.agents.ppo import Adam, Batch, Ppo, _climb, fill_advantages, fill_factors, shuffle
from untuned.collect.agents.sarsa import QLearning, Sarsa
from untuned.collect.environments.environment import CompiledEnvironment, ContinuousStates
from untuned.collect.environments.registry import environment
from untuned.collect.kernels.jit import INTERPRETED, Floats
from untuned.collect.kernels.policies import LIMIT, epsilon_greedy, greedy, sampled, softmax
from untuned.collect.kernels.rng import random_state, uniform
from untuned.collect.kernels.traces import FORGOTTEN

pytestmark = pytest.mark.skipif(INTERPRETED, reason="minutes for a plain interpreter; the oracles cover the same code")

#: How often a statistical test below would raise a false alarm, were it not seeded.
FALSE_ALARM = 1e-6

# The first example of a test may wait for the compiler.
UNHURRIED = settings(deadline=None)

NUMBERS = st.floats(-100, 100) | st.sampled_from([0.0, -0.0, 1.0, np.inf, -np.inf, np.nan, 1e308, -1e308])


def test_statistics_are_as_strict_as_said() -> None:
    # A die with one face 10 % too likely must not pass with this many throws.
    assert not plausible(np.array([1100, 980, 980, 980, 980, 980]) * 10, np.full(6, 1 / 6))
    assert plausible(np.array([1010, 995, 1002, 990, 1005, 998]), np.full(6, 1 / 6))


def plausible(counts: np.ndarray, probabilities: np.ndarray) -> bool:
    """Return whether a chi-square test lets these counts pass."""
    expected = counts.sum() * probabilities
    assert expected.min() >= 20
    statistic = float(np.sum((counts - expected) ** 2 / expected))
    return bool(statistic < chi2.isf(FALSE_ALARM, len(counts) - 1))


# Policies


def probabilities_of(preferences: list[float]) -> Floats:
    result = np.zeros(len(preferences))
    softmax(np.array(preferences), result)
    return result


@UNHURRIED
@given(st.lists(st.floats(-1e6, 1e6) | st.sampled_from([np.inf, -np.inf]), min_size=1, max_size=9))
def test_a_softmax_is_a_distribution_without_zeros(preferences: list[float]) -> None:
    found = probabilities_of(preferences)
    assert found.sum() == pytest.approx(1.0, abs=1e-15)
    assert found.min() > 0.0
    cut = np.clip(preferences, -LIMIT, LIMIT)
    np.testing.assert_allclose(np.log(found), cut - np.log(np.sum(np.exp(cut - 32.0))) - 32.0, atol=1e-12)


def test_preferences_are_cut_at_32() -> None:
    assert LIMIT == 32.0
    assert probabilities_of([32.0, 0.0]).tolist() == probabilities_of([1e9, 0.0]).tolist()
    assert probabilities_of([-32.0, 0.0]).tolist() == probabilities_of([-np.inf, 0.0]).tolist()
    assert probabilities_of([31.999, 0.0])[1] > probabilities_of([32.0, 0.0])[1]


def test_a_softmax_leaves_what_comes_after_the_actions_alone() -> None:
    # Agents keep the state value after the preferences.
    values = np.array([1.0, 2.0, 99.0])
    result = np.zeros(2)
    softmax(values, result)
    assert result.tolist() == probabilities_of([1.0, 2.0]).tolist()
    assert values.tolist() == [1.0, 2.0, 99.0]


@pytest.mark.parametrize("where", range(3))
def test_a_softmax_over_nan_takes_the_first_action(where: int) -> None:
    preferences = [0.3, -0.2, 0.1]
    preferences[where] = np.nan
    found = probabilities_of(preferences)
    assert np.isnan(found).all()
    random = random_state(1)
    assert [sampled(found, random) for _ in range(50)] == [0] * 50


@UNHURRIED
@given(st.lists(NUMBERS, min_size=1, max_size=7))
def test_greedy_is_numpys_argmax(values: list[float]) -> None:
    assert greedy(np.array(values)) == int(np.argmax(values))


@UNHURRIED
@given(st.lists(NUMBERS, min_size=1, max_size=7), st.integers(0, 1000))
def test_without_exploration_one_number_is_used(values: list[float], seed: int) -> None:
    random, copied = random_state(seed), random_state(seed)
    assert epsilon_greedy(np.array(values), 0.0, random) == int(np.argmax(values))
    uniform(copied)
    np.testing.assert_array_equal(random, copied)


def test_exploration_is_uniform_and_as_frequent_as_said() -> None:
    random = random_state(2)
    values = np.array([0.0, 1.0, 0.5])
    counts = np.bincount([epsilon_greedy(values, 0.3, random) for _ in range(20_000)], minlength=3)
    assert plausible(counts, np.array([0.1, 0.8, 0.1]))


def test_actions_are_sampled_with_their_probabilities() -> None:
    random = random_state(3)
    expected = np.array([0.5, 0.01, 0.29, 0.2])
    counts = np.bincount([sampled(expected, random) for _ in range(40_000)], minlength=4)
    assert plausible(counts, expected)


def state_before(word: int) -> np.ndarray:
    """Return a generator's state whose next 53 bits are the first ones of ``word``."""
    # ((s0 + s3) rotated by 23) + s0 with s0 = 0: s3 is the word rotated back.
    rotated = ((word >> 23) | (word << 41)) & (2**64 - 1)
    return np.array([0, 1, 2, rotated], dtype=np.uint64)


@pytest.mark.parametrize(
    ("u", "expected"),
    [(0.0, 0), (0.25, 0), (0.25 + 2.0**-53, 1), (0.5, 1), (0.5 + 2.0**-53, 2), (1.0 - 2.0**-53, 2)],
)
def test_sampling_at_the_borders(u: float, expected: int) -> None:
    random = state_before(int(u * 2**53) << 11)
    assert uniform(random.copy()) == u
    assert sampled(np.array([0.25, 0.25, 0.5]), random) == expected


def test_probabilities_that_fall_short_of_one_give_the_last_action() -> None:
    random = state_before((2**53 - 1) << 11)
    assert sampled(np.array([0.3, 0.3, 0.3999999]), random) == 2


# All agents compared with their oracles, in worlds the oracles' own tests do not have


def described(place: CompiledEnvironment, dorder: int = 0, iorder: int = 0) -> tuple[Features, Any]:
    """Return features for an environment, ours and the oracle's."""
    if isinstance(place.states, ContinuousStates):
        ranges = place.states.ranges
        return Fourier(ranges, dorder, iorder), fourier.Fourier(ranges, dorder, iorder)
    return Tabular(place.states.number), fourier.Tabular(place.states.number)


def lives(
    name: str,
    place: CompiledEnvironment,
    orders: tuple[int, int],
    step_size: float,
    make: Make | None = None,
    seed: int = 5,
) -> Iterator[tuple[tuple[float, int], tuple[float, int], list[tuple[Floats, Floats]], CompiledLearner]]:
    """Yield after every episode: return and random state of agent and of oracle, their weights side by side."""
    features, reference = described(place, *orders)
    agent, oracle, parts = (make or AGENTS[name])(features, reference, len(place.actions), step_size)
    ours, theirs = random_state(seed, name), random_state(seed, name)
    learner = agent.start(worlds.started(place, ours))
    assert isinstance(learner, CompiledLearner)
    played = Played(place, theirs)
    returns = np.zeros(1)
    while True:
        learner.learn(returns)
        total = oracle.learn_episode(played, lambda: uniform(theirs))
        weights = parts(_rows(learner, features, name, len(place.actions)), oracle)
        yield (float(returns[0]), int(ours[0])), (total, int(theirs[0])), weights, learner


def live_the_same(
    name: str,
    place: CompiledEnvironment,
    orders: tuple[int, int],
    step_size: float,
    episodes: int,
    make: Make | None = None,
) -> CompiledLearner:
    """Assert that agent and oracle do the same, weights up to rounding."""
    tolerance = 1e-4 if name == "ppo" else 1e-8
    for _, (mine, expected, weights, learner) in zip(  # noqa: B007 - the learner after the last episode is returned
        range(episodes), lives(name, place, orders, step_size, make), strict=False
    ):
        assert mine[0] == pytest.approx(expected[0], abs=1e-9)
        assert mine[1] == expected[1]
        for found, right in weights:
            np.testing.assert_allclose(found, right, rtol=0, atol=tolerance * max(1.0, float(np.abs(right).max())))
    return learner


EVERY = pytest.mark.parametrize("name", AGENTS)

SMALL_WORLDS = {
    "one action": (worlds.space(2, 30, actions=1), (1, 2)),
    "one action in a table": (worlds.ring(30, 1.0, 8, actions=1), (0, 0)),
    "one state": (worlds.room(30, 1.0), (0, 0)),
    "one action in one state": (worlds.room(30, 1.0, actions=1), (0, 0)),
    "five actions": (worlds.space(1, 30, actions=5), (3, 3)),
    "single frequencies alone": (worlds.space(3, 30), (0, 1)),
    "the constant alone": (worlds.space(2, 30), (0, 0)),
    "five dimensions": (worlds.space(5, 30), (1, 2)),
    "six dimensions": (worlds.space(6, 30), (1, 0)),
    # A list of traces that stays one, one that is given up soon, and one that is given up late in the episode.
    "a large ring": (worlds.ring(300, 1.0, 2000), (0, 0)),
    "a small ring": (worlds.ring(60, 1.0, 30), (0, 0)),
    "a middling ring": (worlds.ring(150, 1.0, 400), (0, 0)),
}


@EVERY
@pytest.mark.parametrize("where", SMALL_WORLDS)
def test_small_worlds_are_lived_in_as_by_the_oracles(name: str, where: str) -> None:
    place, orders = SMALL_WORLDS[where]
    step_size = 0.05 if isinstance(described(place)[0], Tabular) else 0.1 / described(place, *orders)[0].number
    learner = live_the_same(name, place, orders, step_size, 4)
    assert not learner.diverged


def _long_sarsa(features: Features, reference: Any, actions: int, step_size: float) -> Pair:
    agent = Sarsa(features, 0.999, 0.995, 0.1, step_size)
    oracle = sarsa_q.SarsaQ(reference, actions, 0.999, 0.995, 0.1, step_size, "sarsa")
    return agent, oracle, lambda rows, oracle: [(rows, oracle.weights)]


def _long_actor_critic(features: Features, reference: Any, actions: int, step_size: float) -> Pair:
    agent = ActorCritic(features, 0.999, 0.995, step_size, step_size)
    oracle = actor_critic.ActorCritic(reference, actions, 0.999, 0.995, step_size, step_size)
    return agent, oracle, lambda rows, oracle: [(rows[:-1], oracle.weights), (rows[-1], oracle.values)]


@pytest.mark.parametrize(("name", "make"), [("sarsa", _long_sarsa), ("ac", _long_actor_critic)])
def test_a_large_table_with_traces_that_last(name: str, make: Make) -> None:
    # 50 x 50 states: the list is given up within each episode, and there again at the next one's start.
    learner = live_the_same(name, worlds.grid(3000, -1.0, 50), (0, 0), 0.002, 2, make)
    traces = learner.learning.args[2 if name == "sarsa" else 4]  # type: ignore[attr-defined]
    assert np.count_nonzero(traces) * 8 > traces.size


# Learning in parts


@EVERY
@pytest.mark.parametrize("step_size", [0.01, 1e3], ids=["stable", "diverging"])
@pytest.mark.parametrize("where", ["chain-10-stochastic", "space"])
@settings(deadline=None, max_examples=20)
@given(parts=st.lists(st.integers(1, 7), min_size=5, max_size=25))
def test_learning_in_parts_is_learning_at_once(name: str, where: str, step_size: float, parts: list[int]) -> None:
    place = worlds.space(2, 20) if where == "space" else environment(where)
    features, reference = described(place, 1, 2)
    agent: Agent = AGENTS[name](features, reference, len(place.actions), step_size)[0]
    total = min(sum(parts), 25)
    results = []
    for sizes in ([total], parts):
        random = random_state(8)
        learner = agent.start(worlds.started(place, random))
        assert isinstance(learner, CompiledLearner)
        returns = np.zeros(total)
        steps = done = 0
        for size in sizes:
            if done < total:
                steps += learner.learn(returns[done : done + size])
                done += size
        final = np.zeros(2)
        learner.play(final)
        results.append((steps, returns, final, random, learner.step_sizes, learner.weights))
    for whole, parted in zip(*results, strict=True):
        np.testing.assert_array_equal(whole, parted)


@pytest.mark.parametrize("name", ["sarsa-parl2", "q-parl2", "ac-parl2"])
@pytest.mark.parametrize("where", ["chain-10-stochastic", "cart-pole"])
def test_parl2s_step_size_only_falls(name: str, where: str) -> None:
    place = environment(where)
    agent: Agent = AGENTS[name](*described(place, 2, 3), len(place.actions), 0.01)[0]
    learner = agent.start(worlds.started(place, random_state(9)))
    assert isinstance(learner, CompiledLearner)
    sizes = [float(learner.step_sizes[-1])]
    assert sizes == [1.0]
    for _ in range(30):
        learner.learn(np.zeros(1))
        sizes.append(float(learner.step_sizes[-1]))
    assert sizes == sorted(sizes, reverse=True)
    assert 0.0 < sizes[-1] < 1.0
    learner.play(np.zeros(3))
    assert learner.step_sizes[-1] == sizes[-1]


@EVERY
def test_playing_changes_nothing_learned(name: str) -> None:
    for place in (environment("chain-10-stochastic"), worlds.space(2, 20)):
        agent: Agent = AGENTS[name](*described(place, 1, 2), len(place.actions), 0.01)[0]
        random = random_state(8)
        learner = agent.start(worlds.started(place, random))
        assert isinstance(learner, CompiledLearner)
        learner.learn(np.zeros(10))
        before, numbers = learner.weights.copy(), random.copy()
        learner.play(np.zeros(5))
        np.testing.assert_array_equal(before, learner.weights)
        # What is learned next does not know that there was playing in between.
        random[:] = numbers
        learner.learn(np.zeros(3))
        other = agent.start(worlds.started(place, random_state(8)))
        assert isinstance(other, CompiledLearner)
        other.learn(np.zeros(13))
        np.testing.assert_array_equal(other.weights, learner.weights)


# Traces, where every update is known

DISCOUNT, TRACE_DECAY, STEP_SIZE, STEPS = 0.9, 0.8, 0.1, 12


def one_of_each(features: Features, trace_decay: float = TRACE_DECAY) -> dict[str, Agent]:
    """Return agents whose values learn by the same rule, where there is only one action."""
    return {
        "sarsa": Sarsa(features, DISCOUNT, trace_decay, 0.3, STEP_SIZE),
        "q": QLearning(features, DISCOUNT, trace_decay, 0.3, STEP_SIZE),
        "ac": ActorCritic(features, DISCOUNT, trace_decay, 0.05, STEP_SIZE),
        "nac-td": NacTd(features, DISCOUNT, trace_decay, 0.05, STEP_SIZE, 0.02),
    }


VALUED = pytest.mark.parametrize("name", ["sarsa", "q", "ac", "nac-td"])


def learned_values(
    name: str, place: CompiledEnvironment, features: Features, trace_decay: float = TRACE_DECAY
) -> Floats:
    """Return the weights of the (state) values after one episode."""
    learner = one_of_each(features, trace_decay)[name].start(worlds.started(place, random_state(4)))
    assert isinstance(learner, CompiledLearner)
    learner.learn(np.zeros(1))
    rows = _rows(learner, features, name, 1)
    if name == "nac-td" and isinstance(features, Fourier):
        return np.asarray(rows[1])
    return np.asarray(rows[-1])


@VALUED
@pytest.mark.parametrize("nan_at", [-1, 0, 5, STEPS - 1])
def test_a_table_learns_by_the_sum_over_its_traces(name: str, nan_at: int) -> None:
    # New states are worth 0 and every one is met once: each error is the reward, unless that is NaN.
    found = learned_values(name, worlds.corridor(STEPS, 2.0, nan_at=nan_at), Tabular(STEPS))
    decay = DISCOUNT * TRACE_DECAY
    expected = [
        sum(STEP_SIZE * 2.0 * decay ** (k - state) for k in range(state, STEPS) if k != nan_at)
        for state in range(STEPS)
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-13)


@VALUED
@pytest.mark.parametrize("nan_at", [-1, 0, 5, STEPS - 1])
@pytest.mark.parametrize("trace_decay", [0.0, TRACE_DECAY, 1.0])
def test_features_learn_by_the_sum_over_their_traces(name: str, nan_at: int, trace_decay: float) -> None:
    place = worlds.line(STEPS, 2.0, nan_at=nan_at)
    ranges = ((0.0, 2.0 * STEPS),)
    reference = fourier.Fourier(ranges, 3, 5)
    phi = [reference(np.array([float(k)])) for k in range(STEPS)]
    weights = np.zeros(reference.number)
    for k in range(STEPS):
        following = 0.0 if k == STEPS - 1 else float(weights @ phi[k + 1])
        delta = 2.0 + DISCOUNT * following - float(weights @ phi[k])
        # Every gradient so far, separately, and none forgotten because of an error that was NaN.
        trace = np.sum([(DISCOUNT * trace_decay) ** (k - j) * phi[j] for j in range(k + 1)], axis=0)
        if k != nan_at:
            weights = weights + STEP_SIZE * delta * trace
    found = learned_values(name, place, Fourier(ranges, 3, 5), trace_decay)
    np.testing.assert_allclose(found, weights, rtol=0, atol=1e-12 * np.abs(weights).max())


@VALUED
def test_without_traces_a_table_learns_one_step_at_a_time(name: str) -> None:
    # A ring is gone round more than once, so that what a trace would add is there to be seen.
    states, steps = 5, 23
    values = np.zeros(states)
    at = 0
    for k in range(steps):
        onwards = (at + 1) % states
        reward = 1.0 if onwards == 0 else -0.1
        values[at] += STEP_SIZE * (reward + (0.0 if k == steps - 1 else DISCOUNT * values[onwards]) - values[at])
        at = onwards
    found = learned_values(name, worlds.ring(steps, 1.0, states, actions=1), Tabular(states), trace_decay=0.0)
    np.testing.assert_allclose(found, values, rtol=1e-12)


def test_traces_too_small_to_matter_are_exactly_zero() -> None:
    place = worlds.corridor(400, 1.0, actions=2)
    agents: dict[str, Agent] = {
        "sarsa": Sarsa(Tabular(400), 0.5, 0.02, 0.1, 0.1),
        "ac": ActorCritic(Tabular(400), 0.5, 0.02, 0.1, 0.1),
        "nac-td": NacTd(Tabular(400), 0.5, 0.02, 0.1, 0.1, 0.1),
    }
    arrays = {"sarsa": [2], "ac": [3, 4], "nac-td": [4, 5]}
    for name, agent in agents.items():
        learner = agent.start(worlds.started(place, random_state(6)))
        assert isinstance(learner, CompiledLearner)
        learner.learn(np.zeros(1))
        for index in arrays[name]:
            traces = np.abs(learner.learning.args[index])  # type: ignore[attr-defined]
            kept = traces[traces > 0.0]
            # 0.01 to the 151st power is below 2**-1000.
            assert 0 < len(kept) <= 152 * 2
            assert name != "sarsa" or kept.min() > FORGOTTEN


def test_an_action_not_taken_for_long_has_no_trace_left() -> None:
    place = worlds.line(2000, 1.0, actions=2)
    agent = Sarsa(Fourier(((0.0, 4000.0),), 3, 3), 0.5, 1e-20, 0.02, 1e-4)
    learner = agent.start(worlds.started(place, random_state(6)))
    learner.learn(np.zeros(1))
    traces = np.abs(learner.learning.args[3])  # type: ignore[attr-defined]
    # The first action pays; the other is taken now and then, in this trial not within the last 15 steps.
    assert sorted(np.count_nonzero(traces, axis=1)) == [0, 4]
    assert traces[traces > 0].min() > FORGOTTEN
    assert np.isfinite(learner.weights).all()
    assert np.count_nonzero(learner.weights, axis=1).min() == 4


# Divergence

DIVERGING = ["sarsa", "q", "ac", "nac-td"]

#: Where gradients as small as the traces that are forgotten meet changes that are large: see the test of these.
FORGETTING = [("ac", 1e3, "ring"), ("nac-td", 1e3, "ring"), ("nac-td", 1e3, "room")]


# A thousand is enough where features are many; not in tables, and not for NAC-TD, within so few episodes.
BLOWN_UP = [
    *product(DIVERGING, (1e20, 1e100, 1e305), ("ring", "room", "space")),
    *product(DIVERGING[:-1], (1e3,), ("space",)),
]


@pytest.mark.parametrize(("name", "step_size", "where"), BLOWN_UP)
@pytest.mark.parametrize("real", [np.float64, np.float32])
def test_what_diverges_goes_on_to_the_end(name: str, step_size: float, where: str, real: Any) -> None:
    place = {"ring": worlds.ring(60, 1.0, 12), "room": worlds.room(60, 1.0), "space": worlds.space(2, 60)}[where]
    agent: Agent = AGENTS[name](*described(place, 1, 2), len(place.actions), step_size)[0]
    learner = agent.start(worlds.started(place, random_state(7), real))
    assert isinstance(learner, CompiledLearner)
    returns = np.full(40, np.nan)
    assert learner.learn(returns) >= 40
    assert learner.diverged
    assert np.isfinite(returns).all()
    final = np.full(5, np.nan)
    assert learner.play(final) >= 5
    assert np.isfinite(final).all()
    assert learner.diverged


@pytest.mark.parametrize(
    ("name", "step_size", "where"),
    [case for case in product(DIVERGING, (2.0, 1e3, 1e100), ("ring", "room", "space")) if case not in FORGETTING],
)
def test_until_it_diverges_it_lives_as_the_oracle(name: str, step_size: float, where: str) -> None:
    live_the_same_until(name, step_size, where)


def live_the_same_until(name: str, step_size: float, where: str) -> None:
    # Short episodes: roundings grow as the weights do.
    place = {"ring": worlds.ring(12, 1.0, 5), "room": worlds.room(8, 1.0), "space": worlds.space(2, 8)}[where]
    for episode, (mine, expected, weights, learner) in enumerate(lives(name, place, (1, 2), step_size)):
        if not all(np.isfinite(right).all() for _, right in weights) or episode == 30:
            break
        assert mine == pytest.approx(expected, abs=1e-9)
        assert not learner.diverged
        for found, right in weights:
            np.testing.assert_allclose(found, right, rtol=0, atol=1e-6 * float(np.abs(right).max()))
    assert learner.diverged == (not all(np.isfinite(right).all() for _, right in weights))


@pytest.mark.parametrize(("name", "step_size"), [("sarsa", 1e3), ("ac", 3.0)])
def test_forgotten_traces_make_no_difference_to_weights_that_grow(name: str, step_size: float) -> None:
    live_the_same(name, environment("gridworld-5-stochastic"), (0, 0), step_size, 2)


@pytest.mark.parametrize(("name", "step_size", "where"), FORGETTING)
def test_small_gradients_count_where_changes_are_large(name: str, step_size: float, where: str) -> None:
    live_the_same_until(name, step_size, where)


def lived_beyond(name: str, place: CompiledEnvironment, step_size: float, orders: tuple[int, int], seed: int) -> None:
    """Assert that agent and oracle do the same, also after their weights diverged."""
    diverged_for = 0
    for mine, expected, weights, _ in lives(name, place, orders, step_size, seed=seed):
        assert mine == pytest.approx(expected, abs=1e-9)
        diverged_for += not all(np.isfinite(right).all() for _, right in weights)
        if diverged_for == 20:
            break


@pytest.mark.parametrize("name", DIVERGING)
@pytest.mark.parametrize("seed", range(3))
def test_a_diverged_table_acts_as_the_oracles(name: str, seed: int) -> None:
    # An episode of a few steps involves every state's weights.
    lived_beyond(name, worlds.corridor(4, 1.0, actions=2), 1e200, (0, 0), seed)


@pytest.mark.parametrize("name", ["sarsa", "q"])
def test_a_diverged_weight_is_not_forgotten(name: str) -> None:
    lived_beyond(name, worlds.room(30, 1.0), 1e100, (0, 0), 5)


@pytest.mark.parametrize(("actor", "critic"), [(10.0, 1.0), (0.1, 10.0)])
def test_an_infinite_change_of_one_function_leaves_the_other_finite(actor: float, critic: float) -> None:
    # A single step, with a reward that only the larger of the step sizes makes infinite.
    place = worlds.corridor(1, 1e308, actions=2)
    ours, theirs = random_state(1), random_state(1)
    learner = ActorCritic(Tabular(1), 0.9, 0.5, actor, critic).start(worlds.started(place, ours))
    learner.learn(np.zeros(1))
    oracle = actor_critic.ActorCritic(fourier.Tabular(1), 2, 0.9, 0.5, actor, critic)
    oracle.learn_episode(Played(place, theirs), lambda: uniform(theirs))
    np.testing.assert_allclose(learner.weights, np.append(oracle.weights.ravel(), oracle.values), rtol=1e-12)


@pytest.mark.parametrize("name", ["sarsa", "q"])
def test_the_zeros_after_the_features_stay(name: str) -> None:
    place = worlds.space(2, 40)
    features, reference = described(place, 1, 2)
    learner = AGENTS[name](features, reference, 2, 1e100)[0].start(worlds.started(place, random_state(5)))
    assert isinstance(learner, CompiledLearner)
    learner.learn(np.zeros(5))
    assert learner.diverged
    assert not learner.weights[:, features.number :].any()


# Not 0: there, as in three of the first sixteen, a sum over weights near the largest number overflows in one order of
# adding and not in the other.
@pytest.mark.parametrize("seed", [1, 2, 3, 5, 6, 8])
def test_a_diverged_policy_acts_as_the_oracle(seed: int) -> None:
    lived_beyond("ac", environment("cart-pole"), 5.0, (2, 4), seed)


# Nothing to learn


# AC-Parl2 has an internal reward: surprise.
@pytest.mark.parametrize("name", [name for name in AGENTS if name != "ac-parl2"])
@pytest.mark.parametrize("where", ["corridor", "line"])
def test_without_rewards_there_is_nothing_to_learn(name: str, where: str) -> None:
    place = (worlds.corridor if where == "corridor" else worlds.line)(20, 0.0, actions=4)
    agent: Agent = AGENTS[name](*described(place, 2, 3), 4, 0.05)[0]
    learner = agent.start(worlds.started(place, random_state(3)))
    assert isinstance(learner, CompiledLearner)
    returns = np.ones(20)
    learner.learn(returns)
    assert not returns.any()
    # Adam makes steps of roundings in the entropy's gradient.
    np.testing.assert_allclose(learner.weights, 0.0, atol=1e-9 if name == "ppo" else 0.0)
    assert not learner.diverged


# PPO


def batch_of(steps: int, rng: np.random.Generator) -> Batch:
    return Batch(
        observations=np.zeros((steps, 1)),
        actions=rng.integers(0, 3, steps),
        log_probabilities=rng.normal(-1.0, 0.2, steps),
        rewards=rng.normal(0.0, 1.0, steps),
        ends=rng.random(steps) < 0.2,
        values=rng.normal(0.0, 1.0, steps + 1),
        advantages=rng.normal(0.0, 2.0, steps),
        order=np.zeros(steps, dtype=np.int64),
        filled=np.zeros(1, dtype=np.int64),
        troubled=np.zeros(1, dtype=np.bool_),
    )


def test_ppos_factors_are_the_objectives_slopes() -> None:
    rng = np.random.default_rng(1)
    clip, entropy = 0.2, 0.3
    batch = batch_of(200, rng)
    clipped = 0
    for sample in range(200):
        preferences = rng.normal(0.0, 1.0, 3)
        value = rng.normal()
        action, old = int(batch.actions[sample]), float(batch.log_probabilities[sample])
        advantage = float(batch.advantages[sample])
        objective = partial(
            ppo.policy_objective,
            phi=np.ones(1),
            action=action,
            old_log_probability=old,
            advantage=advantage,
            clip=clip,
            entropy_coefficient=entropy,
        )
        ratio = float(np.exp(np.log(ppo.softmax(preferences)[action]) - old))
        if min(abs(ratio - 1.0 - clip), abs(ratio - 1.0 + clip)) < 1e-3:
            # No slope at a corner.
            continue
        clipped += (advantage > 0 and ratio > 1 + clip) or (advantage < 0 and ratio < 1 - clip)
        values = np.append(preferences, value)
        fill_factors(values, np.zeros(3), batch, sample, clip, entropy)
        for row in range(3):
            up, down = preferences.copy(), preferences.copy()
            up[row] += 1e-6
            down[row] -= 1e-6
            slope = (objective(up[:, None]) - objective(down[:, None])) / 2e-6
            assert values[row] == pytest.approx(slope, abs=2e-8)
        # The critic's factor is minus half the slope of the squared error to the target.
        assert values[3] == pytest.approx(advantage + batch.values[sample] - value)
    assert 20 < clipped < 180


@UNHURRIED
@given(st.integers(0, 10_000), st.integers(1, 40))
def test_ppos_advantages_are_the_explicit_sums(seed: int, steps: int) -> None:
    batch = batch_of(steps, np.random.default_rng(seed))
    fill_advantages(batch, 0.97, 0.8)
    expected = ppo.advantages(batch.rewards, batch.values, [bool(end) for end in batch.ends], 0.97, 0.8)
    np.testing.assert_allclose(batch.advantages, expected, rtol=0, atol=1e-12)


def test_ppos_order_is_a_uniform_permutation() -> None:
    random = random_state(4)
    order = np.array([3, 3, 3, 3])
    counts: Counter[tuple[int, ...]] = Counter()
    for _ in range(24_000):
        shuffle(order, random)
        counts[tuple(order.tolist())] += 1
    assert set(counts) == set(permutations(range(4)))
    assert plausible(np.array(list(counts.values())), np.full(24, 1 / 24))


@pytest.mark.parametrize("real", [np.float64, np.float32])
def test_adam_steps_as_the_oracles(real: Any) -> None:
    rng = np.random.default_rng(5)
    shape = (3, 16)
    mine = Adam(np.zeros(shape, real), np.zeros(shape, real), np.zeros(shape, real), np.zeros(1, np.int64))
    oracle = ppo.Adam(shape, 0.01)
    weights, expected = np.zeros(shape, real), np.zeros(shape)
    for step in range(200):
        # Of all sizes, so that what is added to the root shows.
        gradient = (rng.normal(size=shape) * 10.0 ** rng.uniform(-8, 3, shape)).astype(real)
        gradient[0, 0] = 0.0
        mine.gradient[:] = gradient
        climb(weights, mine, 0.01)
        expected += oracle.step(gradient.astype(np.float64))
        assert mine.time[0] == step + 1
    np.testing.assert_allclose(weights, expected, rtol=1e-12 if real is np.float64 else 1e-4, atol=1e-12)
    assert weights[0, 0] == 0.0


climb: Any = _climb


def test_ppo_waits_for_a_whole_batch() -> None:
    place = worlds.corridor(10, 1.0, actions=2)
    agent = Ppo(Tabular(10), 0.9, 0.9, 0.01, 0.2, 0.01, steps_per_batch=25, epochs=2, minibatch=10)
    learner = agent.start(worlds.started(place, random_state(2)))
    learner.learn(np.zeros(2))
    assert not learner.weights.any()
    learner.learn(np.zeros(1))
    before = learner.weights.copy()
    assert before.any()
    learner.learn(np.zeros(1))
    np.testing.assert_array_equal(learner.weights, before)
    learner.learn(np.zeros(1))
    assert (learner.weights != before).any()
