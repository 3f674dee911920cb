"""Every environment compared with its oracle, step by step, fed the same random numbers.

Before each step the oracle is put into the kernel's state, so that a rounding is seen as a rounding and cannot grow
into another trajectory; trajectories as a whole are compared where the arithmetic is exact.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from oracle.reference.acrobot import Acrobot
from oracle.reference.cart_pole import CartPole
from oracle.reference.chain import Chain
from oracle.reference.gridworld import Gridworld
from oracle.reference.mountain_car import MountainCar
from oracle.reference.pinball import POLYGONS, Pinball
from oracle.reference.xoshiro import Xoshiro
from untuned.collect.environments.environment import CompiledEnvironment, ContinuousStates
from untuned.collect.environments.names import NAMES
from untuned.collect.environments.pinball import LAYOUTS
from untuned.collect.environments.registry import environment
from untuned.collect.environments.rollout import reset_once, step_once
from untuned.collect.kernels.jit import INTERPRETED, Floats
from untuned.collect.kernels.rng import random_state
from untuned.collect.kernels.status import RUNNING

TRIALS = 4 if INTERPRETED else 25
STEPS = 100 if INTERPRETED else 600


@dataclass
class Counterpart:
    """How to build an oracle for an environment, and how to put it into a kernel's state."""

    build: Callable[[CompiledEnvironment, dict[str, float]], Any]
    place: Callable[[Any, Floats], None]
    tolerance: float


def _grid(environment: CompiledEnvironment, values: dict[str, float]) -> Gridworld:
    return Gridworld(
        size=int(environment.constants[0]),
        stochastic="stochastic" in environment.name,
        slips="perpendicular" if "perpendicular" in environment.name else "cyclic",
        **values,
    )


def _place_grid(oracle: Gridworld, state: Floats) -> None:
    assert int(state[0]) == int(state[1]) * oracle.size + int(state[2])
    oracle.row, oracle.column, oracle.steps = int(state[1]), int(state[2]), int(state[3])


def _chain(environment: CompiledEnvironment, values: dict[str, float]) -> Chain:
    return Chain(size=int(environment.constants[0]), stochastic="stochastic" in environment.name, **values)


def _place_chain(oracle: Chain, state: Floats) -> None:
    oracle.position, oracle.steps = int(state[0]), int(state[1])


def _place_cart_pole(oracle: CartPole, state: Floats) -> None:
    oracle.x, oracle.x_velocity, oracle.angle, oracle.angular_velocity = map(float, state[:4])
    oracle.steps = int(state[4])


def _place_mountain_car(oracle: MountainCar, state: Floats) -> None:
    oracle.x, oracle.velocity, oracle.steps = float(state[0]), float(state[1]), int(state[2])


def _place_acrobot(oracle: Acrobot, state: Floats) -> None:
    oracle.angle_1, oracle.angle_2, oracle.velocity_1, oracle.velocity_2 = map(float, state[:4])
    oracle.steps = int(state[4])


def _place_pinball(oracle: Pinball, state: Floats) -> None:
    oracle.x, oracle.y, oracle.x_velocity, oracle.y_velocity = map(float, state[:4])
    # The kernel counts steps where the oracle lets a clock run: added up as the oracle does it.
    oracle.clock = CLOCKS[int(state[4])]


CLOCKS = [0.0]
for _ in range(1001):
    clock = CLOCKS[-1]
    for _ in range(20):
        clock += 0.05
    CLOCKS.append(clock)


def _random_start(environment: CompiledEnvironment) -> bool:
    return "random_start" in environment.name


ORACLES = {
    "gridworld": Counterpart(_grid, _place_grid, 0.0),
    "chain": Counterpart(_chain, _place_chain, 0.0),
    "cart-pole": Counterpart(lambda _, values: CartPole(**values), _place_cart_pole, 1e-13),
    "mountain-car": Counterpart(
        lambda environment, values: MountainCar(**values, random_start=_random_start(environment)),
        _place_mountain_car,
        1e-15,
    ),
    "acrobot": Counterpart(
        lambda environment, values: Acrobot(**values, random_start=_random_start(environment)), _place_acrobot, 1e-12
    ),
    "pinball": Counterpart(
        lambda environment, values: Pinball(
            layout=environment.name.partition("[")[0].removeprefix("pinball-"),  # type: ignore[arg-type]
            **values,
            random_start=_random_start(environment),
        ),
        _place_pinball,
        1e-13,
    ),
}

VARIANTS = (
    *NAMES,
    "gridworld-7-stochastic[slips=perpendicular]",
    "gridworld-2-deterministic",
    "chain-2-stochastic",
    "mountain-car[random_start=true]",
    "acrobot[random_start=true]",
    "pinball-medium[random_start=true]",
)


def _observed(environment: CompiledEnvironment, state: Floats) -> tuple[float, ...]:
    return tuple(map(float, state[: environment.states.dimensions]))


def _as_floats(observation: Any) -> tuple[float, ...]:
    return tuple(map(float, observation)) if isinstance(observation, tuple) else (float(observation),)


def _assert_close(found: tuple[float, ...], expected: tuple[float, ...], tolerance: float, where: str) -> None:
    # A turn by just pi may be wrapped to either end: the same angle.
    for one, other in zip(found, expected, strict=True):
        gap = abs(one - other)
        assert min(gap, abs(gap - 2 * np.pi)) <= tolerance * max(1.0, abs(other)), where


@pytest.mark.parametrize("name", VARIANTS)
def test_a_step_is_the_oracles_step(name: str) -> None:
    # Over thousands of random actions, and fresh parameters in every trial.
    chosen = environment(name)
    counterpart = ORACLES[chosen.family]
    steps_seen = 0
    for trial in range(TRIALS):
        random = random_state(7, name, trial)
        dynamics = chosen.draw(random)
        oracle = counterpart.build(chosen, dict(dynamics.values))
        state = chosen.new_state()
        actions = np.random.default_rng([7, trial])
        action = 0
        running = False
        for step in range(STEPS):
            twin = Xoshiro([int(word) for word in random])
            where = f"{name}, trial {trial}, step {step}, {dynamics}, {state}"
            if not running:
                expected = oracle.reset(twin.uniform)
                reset_once(chosen.compiled_reset, state, dynamics.vector, random)
                _assert_close(_observed(chosen, state), _as_floats(expected), counterpart.tolerance, where)
                running = True
            else:
                # Held for a while, so that cars, balls and pendulums get somewhere.
                if actions.random() < 0.2:
                    action = int(actions.integers(len(chosen.actions)))
                counterpart.place(oracle, state)
                expected, expected_reward, expected_status = oracle.step(action, twin.uniform)
                reward, status = step_once(chosen.compiled_step, state, dynamics.vector, random, action)
                _assert_close(_observed(chosen, state), _as_floats(expected), counterpart.tolerance, where)
                assert (reward, status) == (expected_reward, expected_status), where
                running = status == RUNNING
                steps_seen += 1
            assert [int(word) for word in random] == twin.state, f"{where}: random numbers drawn"
    assert steps_seen > TRIALS * STEPS / 2


@pytest.mark.parametrize("name", ["cart-pole", "mountain-car", "acrobot", "pinball-medium", "pinball-single"])
def test_a_step_from_anywhere_is_the_oracles_step(name: str) -> None:
    # States that play rarely or never reaches: fast spins, balls inside obstacles, carts about to leave the track.
    chosen = environment(name)
    assert isinstance(chosen.states, ContinuousStates)
    counterpart = ORACLES[chosen.family]
    low, high = np.array(chosen.states.ranges).T
    places = np.random.default_rng(5)
    for trial in range(TRIALS):
        random = random_state(5, name, trial)
        dynamics = chosen.draw(random)
        oracle = counterpart.build(chosen, dict(dynamics.values))
        for _ in range(STEPS // 5):
            state = chosen.new_state()
            state[: low.size] = places.uniform(low, high)
            counterpart.place(oracle, state)
            action = int(places.integers(len(chosen.actions)))
            where = f"{name}, trial {trial}, {dynamics}, {state}, action {action}"
            twin = Xoshiro([int(word) for word in random])
            expected, *expected_outcome = oracle.step(action, twin.uniform)
            outcome = step_once(chosen.compiled_step, state, dynamics.vector, random, action)
            # Fast swings amplify a rounding by a few hundred within one step.
            _assert_close(_observed(chosen, state), _as_floats(expected), 100 * counterpart.tolerance, where)
            assert list(outcome) == expected_outcome, where


@pytest.mark.parametrize("name", [name for name in NAMES if not isinstance(environment(name).states, ContinuousStates)])
def test_whole_episodes_are_the_oracles(name: str) -> None:
    chosen = environment(name)
    for trial in range(TRIALS):
        random = random_state(11, name, trial)
        dynamics = chosen.draw(random)
        oracle = ORACLES[chosen.family].build(chosen, dict(dynamics.values))
        twin = Xoshiro([int(word) for word in random])
        state = chosen.new_state()
        actions = np.random.default_rng([11, trial])
        oracle.reset(twin.uniform)
        reset_once(chosen.compiled_reset, state, dynamics.vector, random)
        status = RUNNING
        while status == RUNNING:
            action = int(actions.integers(len(chosen.actions)))
            expected = oracle.step(action, twin.uniform)
            reward, status = step_once(chosen.compiled_step, state, dynamics.vector, random, action)
            assert (int(state[0]), reward, status) == expected


@pytest.mark.parametrize("family", ["cart-pole", "mountain-car", "acrobot", "pinball-single", "chain-10-stochastic"])
def test_the_last_step_is_cut_by_the_time(family: str) -> None:
    # The state is put just before the limit, so that long episodes need not be played.
    chosen = environment(family).nominal()
    assert chosen.step_limit is not None
    random = random_state(3)
    dynamics = chosen.draw(random)
    oracle = ORACLES[chosen.family].build(chosen, dict(dynamics.values))
    state = chosen.new_state()
    reset_once(chosen.compiled_reset, state, dynamics.vector, random)
    counter = chosen.states.dimensions
    statuses = []
    for steps in (chosen.step_limit - 2, chosen.step_limit - 1):
        state[counter] = steps
        ORACLES[chosen.family].place(oracle, state)
        twin = Xoshiro([int(word) for word in random])
        action = len(chosen.actions) - 2
        expected = oracle.step(action, twin.uniform)
        found = step_once(chosen.compiled_step, state, dynamics.vector, random, action)
        assert found == expected[1:]
        statuses.append(found[1])
    assert statuses == [0, 2]


def test_the_layouts_are_the_published_ones() -> None:
    assert {layout: tuple(polygons) for layout, polygons in POLYGONS.items()} == LAYOUTS
