"""Gymnasium's environments as compiled agents see them: facts and steps unchanged, mistakes named."""

import contextlib
import json
import math
import pickle
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from numpy.typing import NDArray

import untuned
from untuned.adapters.gymnasium.from_gymnasium import DescribedEnvironment, GymnasiumEnvironment
from untuned.collect.environments.environment import Budget, ContinuousStates, DiscreteStates, EnvironmentBroke
from untuned.collect.environments.rollout import reset_once, step_once
from untuned.collect.kernels.rng import random_state
from untuned.collect.kernels.status import RUNNING, TERMINATED, TRUNCATED
from untuned.errors import InvalidInput, UnknownName

GymnasiumEnv = gymnasium.Env[Any, Any]

SPEEDS = {1: (-4.0, 4.0), 3: (-5.0, 5.0)}
# A whole number as it comes out of an array.
TEN: Any = np.int64(10)


def newest(name: str) -> str:
    """The newest version that is registered, which differs between Gymnasium's releases."""
    versions = [spec.version or 0 for spec in gymnasium.registry.values() if spec.name == name and not spec.namespace]
    return f"{name}-v{max(versions)}"


TAXI = newest("Taxi")


@dataclass
class Log:
    """What was done to the hand-made environments."""

    made: int = 0
    closed: int = 0
    seeds: list[int | None] = field(default_factory=list)
    actions: list[Any] = field(default_factory=list)


class HandMade(gymnasium.Env[Any, Any]):
    """Shows what it is told to, takes any action without a word, and never ends unless it is told to."""

    def __init__(
        self,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any] | None = None,
        observations: tuple[Any, ...] = (),
        endings: tuple[tuple[bool, bool], ...] = (),
        log: Log | None = None,
    ) -> None:
        self.observation_space = observation_space
        self.action_space = action_space or spaces.Discrete(2)
        self.observations = observations
        self.endings = endings
        self.log = log or Log()
        self.log.made += 1
        self.steps = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.log.seeds.append(seed)
        self.steps = 0
        return self._observation(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.log.actions.append(action)
        terminated, truncated = self.endings[self.steps] if self.steps < len(self.endings) else (False, False)
        self.steps += 1
        return self._observation(), 0.5, terminated, truncated, {}

    def close(self) -> None:
        self.log.closed += 1

    def _observation(self) -> Any:
        if self.observations:
            return self.observations[self.steps % len(self.observations)]
        return self.observation_space.sample()


def box(low: Any, high: Any, shape: tuple[int, ...] | None = None, dtype: Any = np.float64) -> spaces.Box:
    return spaces.Box(low, high, shape=shape, dtype=dtype)


def described(environment: Any, **options: Any) -> DescribedEnvironment:
    """An environment as compiled agents see it."""
    return untuned.from_gymnasium(environment, **options).for_agents()


class Running:
    """One trial's instance, stepped one step at a time by the kernels that agents call."""

    def __init__(self, environment: DescribedEnvironment, seed: int) -> None:
        self._dimensions = environment.states.dimensions
        self._random = random_state(seed)
        self._leaving = contextlib.ExitStack()
        self._opened = self._leaving.enter_context(environment.opened(self._random))

    def reset(self) -> NDArray[np.float64]:
        opened = self._opened
        reset_once(opened.reset, opened.state, opened.parameters, self._random)
        opened.check()
        return opened.state[: self._dimensions].copy()

    def step(self, action: int) -> tuple[NDArray[np.float64], float, int]:
        opened = self._opened
        reward, status = step_once(opened.step, opened.state, opened.parameters, self._random, action)
        opened.check()
        return opened.state[: self._dimensions].copy(), reward, status

    def close(self) -> None:
        self._leaving.close()


def seed_of(seed: int) -> int:
    """The seed that an environment gets in a trial whose random numbers start there; another would change scores."""
    return int(random_state("gymnasium", *map(int, random_state(seed)))[0] >> np.uint64(33))


def run(
    environment: DescribedEnvironment, seed: int, actions: list[int]
) -> list[tuple[list[float], float | None, int]]:
    """What comes back over the actions; a new episode begins when one is over."""
    with contextlib.closing(Running(environment, seed)) as running:
        found: list[tuple[list[float], float | None, int]] = [(running.reset().tolist(), None, RUNNING)]
        status = RUNNING
        for action in actions:
            if status != RUNNING:
                found.append((running.reset().tolist(), None, RUNNING))
            observation, reward, status = running.step(action)
            found.append((observation.tolist(), reward, status))
    return found


def random_actions(number: int, steps: int) -> list[int]:
    return [int(action) for action in np.random.default_rng(number).integers(number, size=steps)]


# The facts.


@pytest.mark.parametrize("ranges", [SPEEDS, [None, (-4, 4), None, (-5, 5)], (None, [-4, 4], None, np.array([-5, 5]))])
def test_cart_pole_is_described_by_its_space_and_the_declared_ranges(ranges: Any) -> None:
    found = untuned.from_gymnasium("CartPole-v1", episodes=100, observation_ranges=ranges, score_range=(0, 500))
    space = gymnasium.make("CartPole-v1").observation_space
    assert isinstance(space, spaces.Box)
    assert isinstance(found, GymnasiumEnvironment)
    seen = found.for_agents()
    assert isinstance(seen.states, ContinuousStates)
    assert seen.states.dimensions == 4
    position, angle = float(space.high[0]), float(space.high[2])
    assert seen.states.ranges == ((-position, position), (-4.0, 4.0), (-angle, angle), (-5.0, 5.0))
    assert seen.states.bounds == tuple(zip(space.low.tolist(), space.high.tolist(), strict=True))
    assert len(seen.actions) == 2
    assert len(set(seen.actions)) == 2
    for each in (found, seen):
        assert each.budget == Budget(episodes=100)
        assert (each.step_limit, each.score_range) == (500, (0.0, 500.0))
        assert each.name == each.title == "CartPole-v1"
    assert (seen.parameters, seen.differs) == ((), ())


def test_declared_ranges_replace_even_finite_ones() -> None:
    found = described("MountainCar-v0", episodes=1, observation_ranges={0: (-1.2, 0.5)})
    assert isinstance(found.states, ContinuousStates)
    assert found.states.ranges[0] == (-1.2, 0.5)
    assert found.states.bounds[0] == pytest.approx((-1.2, 0.6))


def test_mountain_car_needs_no_declarations() -> None:
    assert untuned.from_gymnasium("MountainCar-v0", steps=20_000).budget == Budget(steps=20_000)
    found = described("MountainCar-v0")
    assert isinstance(found.states, ContinuousStates)
    assert found.states.ranges == found.states.bounds
    assert np.allclose(found.states.ranges, [(-1.2, 0.6), (-0.07, 0.07)])
    assert found.budget == Budget(episodes=100)
    assert (len(found.actions), found.step_limit, found.score_range) == (3, 200, (-200.0, -1.0))
    for changed in ({"step_limit": 300}, {"max_episode_steps": 300}, {"goal_velocity": 0.01}):
        assert untuned.from_gymnasium("MountainCar-v0", **changed).score_range is None


@pytest.mark.parametrize(("identifier", "states", "actions"), [("FrozenLake-v1", 16, 4), (TAXI, 500, 6)])
def test_discrete_states_are_counted(identifier: str, states: int, actions: int) -> None:
    found = described(identifier, episodes=5)
    assert found.states == DiscreteStates(states)
    assert len(found.actions) == actions
    assert found.step_limit == gymnasium.spec(identifier).max_episode_steps


def test_options_reach_gymnasium_every_time() -> None:
    found = described("FrozenLake-v1", episodes=5, map_name="8x8", is_slippery=False)
    assert found.states == DiscreteStates(64)
    # Right, right, down: without slips that is certain.
    for seed in range(5):
        statuses = run(found, seed, [2, 2, 1])
        assert [observation for observation, _, _ in statuses] == [[0.0], [1.0], [2.0], [10.0]]


def test_gymnasiums_own_way_to_another_limit_is_seen() -> None:
    found = described("MountainCar-v0", episodes=5, max_episode_steps=7)
    assert found.step_limit == 7
    assert run(found, 0, [1] * 7)[-1][2] == TRUNCATED


def test_an_id_without_its_version_is_the_newest() -> None:
    with pytest.warns(UserWarning, match="latest versioned"):
        found = described("FrozenLake", episodes=5)
    assert found.states == DiscreteStates(16)


def test_an_id_may_name_the_package_that_registers_it() -> None:
    found = described("untuned:untuned/Chain10Deterministic-v0", episodes=5)
    assert found.states == DiscreteStates(10)


def test_a_function_may_be_given_instead_of_an_id() -> None:
    def windy_lake() -> GymnasiumEnv:
        return gymnasium.make("FrozenLake-v1", is_slippery=True)

    found = described(windy_lake, episodes=5)
    assert (found.name, found.states, found.step_limit) == ("windy_lake", DiscreteStates(16), 100)
    assert untuned.from_gymnasium(windy_lake, episodes=5, name="lake").name == "lake"
    assert untuned.from_gymnasium("FrozenLake-v1", episodes=5, name="lake").name == "lake"


def test_a_class_may_be_given_instead_of_an_id() -> None:
    class Coin(HandMade):
        def __init__(self) -> None:
            super().__init__(spaces.Discrete(2))

    found = described(Coin, step_limit=50)
    assert (found.name, found.states, found.step_limit) == ("Coin", DiscreteStates(2), 50)


def test_a_limit_that_a_function_wraps_around_is_seen() -> None:
    def short() -> GymnasiumEnv:
        return gymnasium.wrappers.TimeLimit(gymnasium.make("MountainCar-v0"), 9)

    found = described(short, episodes=5)
    assert found.step_limit == 9
    assert run(found, 0, [1] * 9)[-1][2] == TRUNCATED


@pytest.mark.parametrize(
    "environment",
    [
        lambda: untuned.from_gymnasium("CartPole-v1", episodes=10, observation_ranges=SPEEDS, score_range=(0, 500)),
        lambda: untuned.from_gymnasium("FrozenLake-v1", steps=10),
        lambda: untuned.from_gymnasium("FrozenLake-v1", steps=TEN),
        lambda: untuned.from_gymnasium("FrozenLake-v1", episodes=10, step_limit=TEN),
    ],
)
def test_the_facts_are_plain_json(environment: Callable[[], GymnasiumEnvironment]) -> None:
    facts = environment().facts()
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    assert (facts["episodes"], facts["steps"]) in ((10, None), (None, 10))


def test_boxes_of_any_shape_are_laid_out_in_a_line() -> None:
    low = np.arange(6.0).reshape(2, 3)
    shown = np.arange(6.0).reshape(2, 3) + 0.5

    def make() -> GymnasiumEnv:
        return HandMade(box(low, low + 1.0), observations=(shown,))

    found = described(make, episodes=5, step_limit=50)
    assert isinstance(found.states, ContinuousStates)
    assert found.states.ranges == tuple((float(index), index + 1.0) for index in range(6))
    assert Running(found, 0).reset().tolist() == [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]


@pytest.mark.parametrize(
    ("space", "shown", "expected"),
    [
        (box(0.0, 2.0, ()), np.float64(1.25), [1.25]),
        (box(0, 255, (2, 2), np.uint8), np.array([[0, 1], [254, 255]], np.uint8), [0.0, 1.0, 254.0, 255.0]),
        (box(-1, 1, (2,), np.float32), np.array([0.5, -0.25], np.float32), [0.5, -0.25]),
    ],
)
def test_numbers_of_any_kind_come_as_floats(space: spaces.Box, shown: Any, expected: list[float]) -> None:
    def make() -> GymnasiumEnv:
        return HandMade(space, observations=(shown,))

    observation = Running(described(make, episodes=5, step_limit=50), 0).reset()
    assert observation.dtype == np.float64
    assert observation.tolist() == expected


# Running.


def stepped_by_hand(identifier: str, seed: int, actions: list[int], **options: Any) -> list[Any]:
    env = gymnasium.make(identifier, **options)
    observation, _ = env.reset(seed=seed)
    found: list[Any] = [(np.atleast_1d(np.asarray(observation, float)).tolist(), None, RUNNING)]
    over = False
    for action in actions:
        if over:
            observation, _ = env.reset()
            found.append((np.atleast_1d(np.asarray(observation, float)).tolist(), None, RUNNING))
        observation, reward, terminated, truncated, _ = env.step(action)
        over = terminated or truncated
        status = TERMINATED if terminated else TRUNCATED if truncated else RUNNING
        found.append((np.atleast_1d(np.asarray(observation, float)).tolist(), float(reward), status))
    return found


@pytest.mark.parametrize(
    ("identifier", "ranges"), [("CartPole-v1", SPEEDS), ("MountainCar-v0", None), ("FrozenLake-v1", None), (TAXI, None)]
)
@pytest.mark.parametrize("seed", [0, 123])
def test_a_seeded_run_is_gymnasiums_own(identifier: str, ranges: Any, seed: int) -> None:
    found = described(identifier, episodes=5, observation_ranges=ranges)
    actions = random_actions(len(found.actions), 450)
    expected = stepped_by_hand(identifier, seed_of(seed), actions)
    if isinstance(found.states, ContinuousStates):
        low, high = np.array(found.states.ranges).T
        expected = [(np.clip(seen, low, high).tolist(), *others) for seen, *others in expected]
    first = run(found, seed, actions)
    assert first == expected
    assert run(found, seed, actions) == first
    assert run(found, seed + 1, actions) != first
    # Several episodes were seen, and so were seeds that count only once.
    assert sum(status != RUNNING for _, _, status in first) >= 2


def test_spaces_that_do_not_start_at_zero_are_counted_from_zero() -> None:
    log = Log()

    def make() -> GymnasiumEnv:
        return HandMade(spaces.Discrete(4, start=-2), spaces.Discrete(3, start=5), observations=(-2, -1, 0, 1), log=log)

    found = described(make, episodes=5, step_limit=50)
    assert found.states == DiscreteStates(4)
    assert len(found.actions) == 3
    observations = [observation for observation, _, _ in run(found, 0, [0, 1, 2])]
    assert observations == [[0.0], [1.0], [2.0], [3.0]]
    assert log.actions == [5, 6, 7]


@pytest.mark.parametrize("action", [-2, 3, 5, 7])
def test_an_action_out_of_range_is_an_error_that_says_the_range(action: Any) -> None:
    log = Log()

    def lever() -> GymnasiumEnv:
        return HandMade(spaces.Discrete(4), spaces.Discrete(3, start=5), log=log)

    running = Running(described(lever, episodes=5, step_limit=50), 0)
    running.reset()
    with pytest.raises(EnvironmentBroke) as caught:
        running.step(action)
    cause = str(caught.value.__cause__)
    assert repr(action) in cause
    assert "lever" in cause
    assert "0 to 2" in cause
    assert log.actions == []


@pytest.mark.parametrize(
    ("ending", "status"),
    [
        ((False, False), RUNNING),
        ((True, False), TERMINATED),
        ((False, True), TRUNCATED),
        # An episode that reached its end at the last moment did reach it.
        ((True, True), TERMINATED),
    ],
)
def test_statuses_are_ours(ending: tuple[bool, bool], status: int) -> None:
    def make() -> GymnasiumEnv:
        return HandMade(spaces.Discrete(4), endings=(ending,))

    running = Running(described(make, episodes=5, step_limit=50), 0)
    running.reset()
    observation, reward, found = running.step(0)
    assert found == status
    assert reward == 0.5
    assert type(reward) is float
    assert observation.shape == (1,)


def test_only_the_first_reset_is_seeded() -> None:
    log = Log()

    def make() -> GymnasiumEnv:
        return HandMade(spaces.Discrete(4), log=log)

    running = Running(described(make, episodes=5, step_limit=50), 7)
    for _ in range(3):
        running.reset()
    assert log.seeds == [seed_of(7), None, None]


def test_every_instance_is_new_and_is_closed() -> None:
    log = Log()

    def make() -> GymnasiumEnv:
        return HandMade(spaces.Discrete(4), log=log)

    found = described(make, episodes=5, step_limit=50)
    assert (log.made, log.closed) == (1, 1)
    first, second = Running(found, 0), Running(found, 0)
    assert log.made == 3
    first.close()
    second.close()
    assert log.closed == 3


def test_an_instance_is_closed_when_it_cannot_be_described() -> None:
    log = Log()

    def make() -> GymnasiumEnv:
        return HandMade(spaces.Discrete(4), box(0, 1, (1,)), log=log)

    with pytest.raises(InvalidInput):
        described(make, episodes=5, step_limit=50)
    assert (log.made, log.closed) == (1, 1)


def test_observations_do_not_change_afterwards() -> None:
    # Some environments hand out their own memory again and again.
    shown: NDArray[np.float64] = np.zeros(2)

    def make() -> GymnasiumEnv:
        return HandMade(box(0, 1, (2,)), observations=(shown,))

    running = Running(described(make, episodes=5, step_limit=50), 0)
    first = running.reset()
    shown[:] = 1.0
    second = running.step(0)[0]
    assert first.tolist() == [0.0, 0.0]
    assert second.tolist() == [1.0, 1.0]
    second[:] = 9.0
    assert shown.tolist() == [1.0, 1.0]


# Limits.


@pytest.mark.parametrize("limit", [1, 5, 199])
def test_a_shorter_limit_truncates(limit: int) -> None:
    found = described("MountainCar-v0", episodes=5, step_limit=limit)
    assert found.step_limit == limit
    running = Running(found, 1)
    for _ in range(2):
        running.reset()
        statuses = [running.step(1)[2] for _ in range(limit)]
        assert statuses == [RUNNING] * (limit - 1) + [TRUNCATED]


def test_a_longer_limit_than_the_registered_one_is_the_one_that_counts() -> None:
    found = described("MountainCar-v0", episodes=5, step_limit=300)
    assert found.step_limit == 300
    running = Running(found, 1)
    running.reset()
    statuses: list[int] = []
    while not statuses or statuses[-1] == RUNNING:
        statuses.append(running.step(1)[2])
    assert statuses == [RUNNING] * 299 + [TRUNCATED]


def test_a_limit_can_be_put_on_what_has_none() -> None:
    def make() -> GymnasiumEnv:
        return HandMade(spaces.Discrete(4))

    with pytest.raises(InvalidInput, match="give step_limit="):
        untuned.from_gymnasium(make, episodes=5)
    found = described(make, episodes=5, step_limit=3)
    assert found.step_limit == 3
    running = Running(found, 0)
    running.reset()
    assert [running.step(0)[2] for _ in range(3)] == [RUNNING, RUNNING, TRUNCATED]


def test_reaching_the_goal_in_the_last_step_counts_as_reaching_it() -> None:
    found = described("untuned/Chain10Deterministic-v0", episodes=5, step_limit=9)
    assert run(found, 0, [1] * 9)[-1] == ([9.0], 0.0, TERMINATED)


# Mistakes.


@pytest.mark.parametrize(
    "budget",
    [
        {"episodes": 5, "steps": 5},
        {"episodes": 0},
        {"episodes": -5},
        {"episodes": True},
        {"episodes": "many"},
        {"steps": 0},
        {"steps": 2.0},
        {"steps": math.nan},
    ],
)
def test_a_budget_is_one_whole_number(budget: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as caught:
        untuned.from_gymnasium("FrozenLake-v1", **budget)
    if len(budget) == 1:
        ((name, value),) = budget.items()
        assert f"{name}={value!r}" in str(caught.value)
        assert "whole number" in str(caught.value)
    else:
        assert "exactly one" in str(caught.value)
        assert "episodes" in str(caught.value)
        assert "steps" in str(caught.value)


@pytest.mark.parametrize("limit", [0, -1, 1.5, True, "ten", math.inf])
def test_a_limit_is_a_whole_number(limit: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        untuned.from_gymnasium("FrozenLake-v1", episodes=5, step_limit=limit)
    assert f"step_limit={limit!r}" in str(caught.value)
    assert "whole number" in str(caught.value)


@pytest.mark.parametrize(
    "limits", [(1, 0), (0, 0), (0,), (0, 1, 2), 5, (0, math.inf), (math.nan, 1), ("a", "b"), "19", (None, 1)]
)
def test_a_range_is_two_finite_numbers_in_order(limits: Any) -> None:
    for options in (
        {"score_range": limits},
        {"observation_ranges": {0: limits}},
        {"observation_ranges": [limits, None]},
    ):
        with pytest.raises(InvalidInput) as caught:
            untuned.from_gymnasium("MountainCar-v0", episodes=5, **options)
        assert repr(limits) in str(caught.value)
        assert "two finite numbers" in str(caught.value)


@pytest.mark.parametrize("ranges", [{2: (0, 1)}, {-1: (0, 1)}, {"velocity": (0, 1)}, {0.5: (0, 1)}, {None: (0, 1)}])
def test_ranges_go_by_the_dimensions_there_are(ranges: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        untuned.from_gymnasium("MountainCar-v0", episodes=5, observation_ranges=ranges)
    assert repr(next(iter(ranges))) in str(caught.value)
    assert "MountainCar-v0" in str(caught.value)
    assert "0 to 1" in str(caught.value)


@pytest.mark.parametrize("ranges", [[], [(0, 1)], [(0, 1)] * 3])
def test_a_list_of_ranges_has_one_for_each_dimension(ranges: Any) -> None:
    with pytest.raises(
        InvalidInput, match=rf"{len(ranges)} observation_ranges for 2 dimensions of MountainCar-v0.*by index"
    ):
        untuned.from_gymnasium("MountainCar-v0", episodes=5, observation_ranges=ranges)


def test_ranges_are_a_list_or_a_mapping() -> None:
    wrong: Any = 5
    with pytest.raises(InvalidInput, match="observation_ranges=5"):
        untuned.from_gymnasium("MountainCar-v0", episodes=5, observation_ranges=wrong)


def test_discrete_states_take_no_ranges() -> None:
    with pytest.raises(InvalidInput, match=r"FrozenLake-v1 has 16 discrete states.*leave observation_ranges out"):
        untuned.from_gymnasium("FrozenLake-v1", episodes=5, observation_ranges={0: (0, 15)})


def test_what_has_no_finite_range_is_named_with_what_to_declare() -> None:
    def pole() -> GymnasiumEnv:
        return gymnasium.make("CartPole-v1")

    with pytest.raises(InvalidInput) as caught:
        described(pole)
    assert "dimensions 1, 3" in str(caught.value)
    assert "observation_ranges={1: (low, high), 3: (low, high)}" in str(caught.value)
    assert "observation_ranges = { 1 = [low, high], 3 = [low, high] }" in str(caught.value)
    with pytest.raises(InvalidInput, match=r"dimension 3 .*observation_ranges=\{3: \(low, high\)\}"):
        described(pole, observation_ranges={1: (-4, 4)})
    # As a table in a study file comes: its keys are texts.
    written: Any = {"1": [-4, 4], "3": [-5, 5]}
    assert (
        described(pole, observation_ranges=written).states == described("CartPole-v1", observation_ranges=SPEEDS).states
    )


def test_cart_poles_velocities_have_customary_ranges() -> None:
    states = described("CartPole-v1").states
    assert isinstance(states, ContinuousStates)
    assert (states.ranges[1], states.ranges[3]) == ((-4.0, 4.0), (-4.0, 4.0))
    assert untuned.from_gymnasium("CartPole-v1").score_range == (1.0, 500.0)


@pytest.mark.parametrize("huge", [np.inf, np.finfo(np.float32).max, 1e38])
@pytest.mark.parametrize("one_sided", [True, False])
def test_a_bound_that_means_no_bound_is_none(huge: float, one_sided: bool) -> None:
    def make() -> GymnasiumEnv:
        return HandMade(box(0.0 if one_sided else -huge, huge, (1,), np.float32))

    with pytest.raises(InvalidInput, match="no finite range in dimension 0 "):
        described(make, episodes=5, step_limit=50)
    assert described(make, episodes=5, step_limit=50, observation_ranges=[(0, 1)]).states.dimensions == 1


def test_a_dimension_that_never_changes_needs_a_range() -> None:
    def make() -> GymnasiumEnv:
        return HandMade(box(np.array([0.0, 1.0]), np.array([1.0, 1.0])))

    with pytest.raises(
        InvalidInput, match=r"empty range in dimension 1 .*\(1\.0, 1\.0\).*observation_ranges=\{1: \(low, high\)\}"
    ):
        described(make, episodes=5, step_limit=50)
    described(make, episodes=5, step_limit=50, observation_ranges={1: (0, 2)})


@pytest.mark.parametrize(
    ("space", "parts"),
    [
        (box(-1, 1, (1,)), ("Box", "discrete actions")),
        (spaces.MultiDiscrete([2, 2]), ("MultiDiscrete", "discrete actions")),
        (spaces.MultiBinary(3), ("MultiBinary", "discrete actions")),
    ],
)
def test_other_actions_are_refused_with_what_to_do(space: spaces.Space[Any], parts: tuple[str, ...]) -> None:
    def arm() -> GymnasiumEnv:
        return HandMade(spaces.Discrete(2), space)

    with pytest.raises(InvalidInput) as caught:
        described(arm, episodes=5, step_limit=50)
    assert all(part in str(caught.value) for part in (*parts, "arm", "spaces.Discrete"))


@pytest.mark.parametrize(
    "space",
    [
        spaces.Tuple([spaces.Discrete(2), spaces.Discrete(3)]),
        spaces.Dict({"speed": spaces.Box(0, 1)}),
        spaces.MultiDiscrete([2, 3]),
        spaces.Text(5),
    ],
)
def test_other_observations_are_refused_with_what_to_do(space: spaces.Space[Any]) -> None:
    def arm() -> GymnasiumEnv:
        return HandMade(space)

    with pytest.raises(InvalidInput) as caught:
        described(arm, episodes=5, step_limit=50)
    assert "arm" in str(caught.value)
    assert type(space).__name__ in str(caught.value)
    assert "gymnasium.wrappers.FlattenObservation" in str(caught.value)


def test_what_the_message_advises_works() -> None:
    def arm() -> GymnasiumEnv:
        inner = HandMade(spaces.Dict({"speed": spaces.Box(0, 1), "place": spaces.Discrete(3)}))
        return gymnasium.wrappers.FlattenObservation(inner)

    found = described(arm, step_limit=50)
    assert found.states.dimensions == 1 + 3
    assert Running(found, 0).reset().size == 4


@pytest.mark.parametrize(("shape", "dimensions"), [((14,), 14), ((210, 160, 3), 100_800)])
def test_many_dimensions_are_refused_with_the_limit(shape: tuple[int, ...], dimensions: int) -> None:
    def screen() -> GymnasiumEnv:
        return HandMade(box(0, 255, shape, np.uint8))

    with pytest.raises(InvalidInput, match=rf"{dimensions} dimensions.*up to 13"):
        described(screen, step_limit=50)
    # Algorithms in Python can still learn there.
    assert untuned.from_gymnasium(screen, step_limit=50).observations.startswith("Box")


def test_a_number_of_steps_is_not_for_compiled_agents() -> None:
    with pytest.raises(InvalidInput, match=r"500 steps.*episodes"):
        described("FrozenLake-v1", steps=500)


@pytest.mark.parametrize(
    ("identifier", "nearest"),
    [
        ("CartPol-v1", "CartPole-v1"),
        ("cartpole-v1", "CartPole-v1"),
        ("CARTPOLE-V1", "CartPole-v1"),
        ("CartPole-v7", "CartPole-v"),
        ("untuned/CartPol-v0", "untuned/CartPole-v0"),
        ("FrozenLak", "FrozenLake-v1"),
    ],
)
def test_an_unknown_id_is_an_error_that_says_which_is_nearest(identifier: str, nearest: str) -> None:
    with pytest.raises(UnknownName) as caught:
        untuned.from_gymnasium(identifier, episodes=5)
    assert repr(identifier) in str(caught.value)
    assert f"did you mean '{nearest}" in str(caught.value)
    assert "package" in str(caught.value)


@pytest.mark.parametrize("identifier", ["", "Zzzzzz", "!"])
def test_an_unknown_id_like_no_other_does_not_claim_that_there_are_none(identifier: str) -> None:
    with pytest.raises(UnknownName) as caught:
        untuned.from_gymnasium(identifier, episodes=5)
    assert "did you mean" not in str(caught.value)
    assert "there are none" not in str(caught.value)
    assert "Import the package" in str(caught.value)


def test_options_do_not_go_with_a_function() -> None:
    with pytest.raises(InvalidInput, match=r"\['gravity', 'wind'\].*into the function"):
        untuned.from_gymnasium(lambda: HandMade(spaces.Discrete(2)), episodes=5, wind=1, gravity=2)


@pytest.mark.parametrize("wrong", [5, None, HandMade(spaces.Discrete(2)), lambda: None, dict])
def test_what_is_neither_an_id_nor_makes_an_environment_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidInput, match="function"):
        untuned.from_gymnasium(wrong, episodes=5)


def test_a_misspelt_option_of_ours_is_refused_by_name() -> None:
    # Passed on to Gymnasium, whose environments do not know it.
    with pytest.raises((InvalidInput, TypeError), match="score_rnage"):
        untuned.from_gymnasium("FrozenLake-v1", episodes=5, score_rnage=(0, 1))


def test_a_step_before_the_first_reset_is_gymnasiums_error() -> None:
    running = Running(described("FrozenLake-v1", episodes=5), 0)
    with pytest.raises(EnvironmentBroke) as caught:
        running.step(0)
    assert isinstance(caught.value.__cause__, gymnasium.error.ResetNeeded)


# What a description is good for.


def test_a_description_goes_to_workers_and_compares() -> None:
    one = described("MountainCar-v0", episodes=5, step_limit=50)
    assert one == described("MountainCar-v0", episodes=5, step_limit=50)
    assert one != described("MountainCar-v0", episodes=5)
    sent = pickle.loads(pickle.dumps(one))
    assert sent == one
    assert np.array_equal(Running(sent, 3).reset(), Running(one, 3).reset())


def test_our_own_environments_bring_their_facts() -> None:
    ours = untuned.environment("acrobot")
    found = described("untuned/Acrobot-v0")
    assert (found.states, found.actions, found.budget) == (ours.states, ours.actions, ours.budget)
    assert (found.step_limit, found.score_range) == (2000, (-200.0, 0.0))


def test_our_own_environments_cut_shorter_do_not_keep_their_score_range() -> None:
    whole = untuned.from_gymnasium("untuned/Gridworld5Deterministic-v0", episodes=5)
    assert (whole.step_limit, whole.score_range) == (500, (-500.0, -8.0))
    for shorter in (
        untuned.from_gymnasium("untuned/Gridworld5Deterministic-v0", episodes=5, step_limit=3),
        untuned.from_gymnasium("untuned/Gridworld5Deterministic-v0", episodes=5, max_episode_steps=3),
    ):
        running = Running(shorter.for_agents(), 1)
        running.reset()
        rewards = [running.step(0)[1:] for _ in range(3)]
        # Three steps cost 3, better than the best of a whole episode.
        assert rewards == [(-1.0, RUNNING), (-1.0, RUNNING), (-1.0, TRUNCATED)]
        assert (shorter.step_limit, shorter.score_range) == (3, None)


def test_our_own_environments_in_a_wrapper_are_described_by_the_wrapper() -> None:
    def shrunk() -> gymnasium.Env[Any, Any]:
        inner = gymnasium.make("untuned/MountainCar-v0")
        space = spaces.Box(0.0, 1.0, (1,), dtype=np.float64)
        return gymnasium.wrappers.TransformObservation(inner, lambda seen: np.clip(seen[:1], 0.0, 1.0), space)

    found = described(shrunk, episodes=5)
    assert found.states.dimensions == Running(found, 1).reset().size == 1
    assert found.score_range is None


def test_the_version_is_recorded_though_it_was_left_out() -> None:
    with warnings.catch_warnings():
        # Gymnasium says that it took the newest.
        warnings.simplefilter("ignore")
        assert untuned.from_gymnasium("MountainCar", episodes=5).name == "MountainCar-v0"


def test_a_function_without_a_name_asks_for_one() -> None:
    with pytest.raises(InvalidInput, match=r"name='\.\.\.'"):
        untuned.from_gymnasium(lambda: gymnasium.make("MountainCar-v0"), episodes=5)
    named = untuned.from_gymnasium(lambda: gymnasium.make("MountainCar-v0"), episodes=5, name="car")
    assert named.name == "car"


def test_what_gymnasium_cannot_make_is_one_kind_of_error() -> None:
    with pytest.raises(InvalidInput, match=r"MountainCar-v0 could not be made: .*gravty"):
        untuned.from_gymnasium("MountainCar-v0", episodes=5, gravty=1)
    with pytest.raises(InvalidInput, match="could not be made"):
        untuned.from_gymnasium("no_such_package_anywhere:Thing-v0", episodes=5)


def test_a_limit_that_would_not_be_in_force_is_refused() -> None:
    def car() -> gymnasium.Env[Any, Any]:
        return gymnasium.make("MountainCar-v0")

    with pytest.raises(InvalidInput, match="already ends episodes after 200 steps"):
        untuned.from_gymnasium(car, episodes=5, step_limit=300)
    assert untuned.from_gymnasium(car, episodes=5, step_limit=100).step_limit == 100
