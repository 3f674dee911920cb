"""What is known about the environments without any oracle: shortest ways, and tasks a simple policy solves."""

from collections.abc import Callable

import numpy as np
import pytest

from untuned.collect.environments.environment import CompiledEnvironment
from untuned.collect.environments.names import NAMES
from untuned.collect.environments.registry import environment, environments
from untuned.collect.environments.rollout import random_returns, reset_once, step_once
from untuned.collect.kernels.jit import INTERPRETED, Floats
from untuned.collect.kernels.rng import random_state
from untuned.collect.kernels.status import RUNNING, TERMINATED, TRUNCATED


def played(chosen: CompiledEnvironment, policy: Callable[[Floats], int], seed: int) -> tuple[float, int, int]:
    """Return, number of steps and final status of one episode."""
    random = random_state(seed, chosen.name)
    vector = chosen.draw(random).vector
    state = chosen.new_state()
    reset_once(chosen.compiled_reset, state, vector, random)
    total, steps, status = 0.0, 0, RUNNING
    while status == RUNNING:
        reward, status = step_once(chosen.compiled_step, state, vector, random, policy(state))
        total += reward
        steps += 1
    return total, steps, status


@pytest.mark.parametrize("size", [2, 5, 10, 31])
def test_the_shortest_way_through_a_gridworld(size: int) -> None:
    chosen = environment(f"gridworld-{size}-deterministic")
    for policy in (
        lambda state: 1 if state[1] < size - 1 else 3,
        lambda state: 3 if state[2] < size - 1 else 1,
    ):
        total, steps, status = played(chosen, policy, 1)
        assert (steps, status) == (2 * size - 2, TERMINATED)
        assert total == -(2 * size - 2) == chosen.score_range[1]  # type: ignore[index]


@pytest.mark.parametrize("size", [2, 10, 50])
def test_the_shortest_way_along_a_chain(size: int) -> None:
    chosen = environment(f"chain-{size}-deterministic")
    total, steps, status = played(chosen, lambda _: 1, 1)
    assert (steps, status) == (size - 1, TERMINATED)
    assert total == -(size - 2) == chosen.score_range[1]  # type: ignore[index]


@pytest.mark.parametrize("name", ["gridworld-5-deterministic", "chain-10-deterministic", "mountain-car", "acrobot"])
def test_never_getting_there_costs_the_worst_return(name: str) -> None:
    chosen = environment(name)
    idle = 1 if name in ("mountain-car", "acrobot") else 0
    total, steps, status = played(chosen, lambda _: idle, 1)
    assert chosen.score_range is not None
    assert (steps, status) == (chosen.step_limit, TRUNCATED)
    # Acrobot's last step is free, and its range is rounded down to what the paper's table says.
    assert total == pytest.approx(chosen.score_range[0], abs=0.1001 if name == "acrobot" else 1e-9)


def test_going_with_the_motion_takes_the_car_up_the_mountain() -> None:
    for seed in range(20):
        total, steps, status = played(environment("mountain-car"), lambda state: 2 if state[1] >= 0 else 0, seed)
        assert status == TERMINATED
        assert total == -steps
        assert steps < 300


def test_pushing_with_the_second_links_motion_swings_the_acrobot_up() -> None:
    for seed in range(20):
        total, steps, status = played(environment("acrobot"), lambda state: 2 if state[3] >= 0 else 0, seed)
        assert status == TERMINATED
        assert total == pytest.approx(-0.1 * (steps - 1))
        assert steps < 1500


def test_a_balancing_rule_keeps_the_pole_up_for_all_of_the_time() -> None:
    chosen = environment("cart-pole").nominal()

    def balance(state: Floats) -> int:
        return 1 if 0.1 * state[0] + 0.2 * state[1] + 4.0 * state[2] + 0.7 * state[3] > 0 else 0

    total, steps, status = played(chosen, balance, 1)
    assert (total, steps, status) == (1000.0, 1000, TRUNCATED)


@pytest.mark.parametrize("name", NAMES)
def test_random_play_stays_within_the_declared_range(name: str) -> None:
    chosen = environment(name)
    assert chosen.score_range is not None
    low, high = chosen.score_range
    for trial in range(1 if INTERPRETED else 10):
        random = random_state(9, name, trial)
        vector = chosen.draw(random).vector
        returns = np.zeros(1 if INTERPRETED else 5)
        steps = random_returns(
            chosen.compiled_reset,
            chosen.compiled_step,
            chosen.new_state(),
            vector,
            random,
            len(chosen.actions),
            returns,
        )
        assert np.all((returns >= low) & (returns <= high))
        assert chosen.step_limit is not None
        assert returns.size <= steps <= returns.size * chosen.step_limit


def test_a_slip_takes_the_published_share_of_moves() -> None:
    # From the middle of a large grid: 1 - p as chosen, p/2 stay, p/4 to each neighbouring action. The counts are
    # compared with their binomial spread; the false-alarm rate is below 1e-6 a comparison (5 standard deviations).
    for rule, ways in (("cyclic", {(1, 0), (0, 1)}), ("perpendicular", {(0, -1), (0, 1)})):
        chosen = environment("gridworld-11-stochastic", slips=rule, slip_probability=0.24)
        random = random_state(10, rule)
        vector = chosen.draw(random).vector
        number = 2000 if INTERPRETED else 40_000
        seen: dict[tuple[int, int], int] = {}
        for _ in range(number):
            state = np.array([60.0, 5.0, 5.0, 0.0])
            # Up is action 0: the next is down, the previous right.
            step_once(chosen.compiled_step, state, vector, random, 0)
            moved = (int(state[1]) - 5, int(state[2]) - 5)
            seen[moved] = seen.get(moved, 0) + 1
        expected = {(-1, 0): 0.76, (0, 0): 0.12, **dict.fromkeys(ways, 0.06)}
        assert set(seen) == set(expected)
        for move, share in expected.items():
            assert abs(seen[move] - number * share) < 5 * np.sqrt(number * share * (1 - share))


def test_fifteen_environments_in_the_papers_order() -> None:
    assert tuple(each.name for each in environments()) == NAMES
    assert len(set(NAMES)) == 15
