"""Pinball's collisions, each in a place made for it."""

import math

import numpy as np
import pytest

from oracle.reference.pinball import Pinball
from untuned.collect.environments.pinball import fewest_steps
from untuned.collect.environments.registry import environment
from untuned.collect.environments.rollout import random_returns, reset_once, step_once
from untuned.collect.kernels.jit import Floats
from untuned.collect.kernels.rng import random_state
from untuned.collect.kernels.status import RUNNING, TERMINATED, TRUNCATED

NONE = 4
STEPS = 4


def rolled(
    layout: str, x: float, y: float, x_velocity: float, y_velocity: float, steps: int = 0
) -> tuple[Floats, float, int]:
    """The state, reward and status after one step without a push, without noise or drag."""
    chosen = environment(f"pinball-{layout}", noise=0.0, drag=1.0, ball_radius=0.02, target_radius=0.04, force=0.2)
    random = random_state(1)
    vector = chosen.draw(random).vector
    state = np.array([x, y, x_velocity, y_velocity, float(steps)])
    reward, status = step_once(chosen.compiled_step, state, vector, random, NONE)
    oracle = Pinball(layout=layout, noise=0.0, drag=1.0, ball_radius=0.02, target_radius=0.04, force=0.2)  # type: ignore[arg-type]
    oracle.x, oracle.y, oracle.x_velocity, oracle.y_velocity = x, y, x_velocity, y_velocity
    oracle.clock = steps * 1.0 - 1e-9
    expected, expected_reward, expected_status = oracle.step(NONE, lambda: 0.5)
    assert state[:4] == pytest.approx(expected, abs=1e-12)
    assert (reward, status) == (expected_reward, expected_status)
    return state, reward, status


@pytest.mark.parametrize(
    ("x", "y", "velocity", "after"),
    [
        (0.95, 0.5, (1.5, 0.0), (-1.5, 0.0)),
        (0.05, 0.5, (-1.5, 0.0), (1.5, 0.0)),
        (0.5, 0.95, (0.0, 1.5), (0.0, -1.5)),
        (0.5, 0.05, (0.0, -1.5), (0.0, 1.5)),
        (0.95, 0.5, (1.5, 0.7), (-1.5, 0.7)),
        (0.5, 0.05, (-0.4, -1.5), (-0.4, 1.5)),
    ],
)
def test_a_wall_turns_the_ball_round_by_the_law_of_reflection(
    x: float, y: float, velocity: tuple[float, float], after: tuple[float, float]
) -> None:
    state, reward, status = rolled("empty", x, y, *velocity)
    assert state[2:4] == pytest.approx(after, abs=1e-12)
    assert (reward, status) == (-1.0, RUNNING)


def test_a_slanted_edge_reflects_about_its_normal() -> None:
    # The long upper edge of medium's triangle runs from (.45, .392) to (.734, .438); the ball falls on its middle.
    edge = np.array([0.734 - 0.45, 0.438 - 0.392])
    normal = np.array([-edge[1], edge[0]]) / np.hypot(*edge)
    velocity = np.array([0.3, -1.8])
    state, _, _ = rolled("medium", 0.59, 0.455, *velocity)
    assert state[2:4] == pytest.approx(velocity - 2 * (velocity @ normal) * normal, abs=1e-12)


def test_a_corner_sends_the_ball_back_where_it_came_from() -> None:
    # Straight at the box's lower left corner: both of its edges there are hit.
    state, _, _ = rolled("box", 0.42, 0.42, 0.9, 0.9)
    assert state[2:4] == pytest.approx([-0.9, -0.9])


def test_two_walls_at_once_send_the_ball_back() -> None:
    state, _, _ = rolled("empty", 0.955, 0.955, 1.0, 1.1)
    assert state[2:4] == pytest.approx([-1.0, -1.1])


def test_the_obstacle_that_stands_twice_always_reverses() -> None:
    # Onto the edge from (.368, .254) to (.7, .2), where a single obstacle would reflect.
    state, _, _ = rolled("medium", 0.5, 0.27, 0.5, -1.5)
    assert state[2:4] == pytest.approx([-0.5, 1.5])


def test_a_hit_in_the_nineteenth_sub_step_moves_the_ball_once_more() -> None:
    velocity = 1.0
    move = velocity * 0.02 * 0.05
    hits = {}
    for sub_step in (18, 19, 20):
        # The wall's face is at .99: the ball touches it when its centre passes .97, in the sub-step chosen.
        start = 0.97 + move / 2 - sub_step * move
        state, _, _ = rolled("empty", start, 0.5, velocity, 0.0)
        assert state[2] == pytest.approx(-velocity)
        hits[sub_step] = (state[0] - start) / move
    # Towards the wall, then back for the rest of twenty moves; one more for the nineteenth.
    assert hits == pytest.approx({18: 18 - 2, 19: 19 - 1 - 1, 20: 20})


def test_a_ball_moving_away_from_a_wall_is_left_alone() -> None:
    state, _, _ = rolled("empty", 0.975, 0.5, -1.0, 0.0)
    assert state[2:4] == pytest.approx([-1.0, 0.0])


def test_the_hole_ends_the_step_at_once() -> None:
    state, reward, status = rolled("empty", 0.9, 0.251, 0.0, -2.0)
    assert (reward, status) == (10_000.0, TERMINATED)
    # Six sub-steps of .002 bring it within .04; the other fourteen are not taken.
    assert state[1] == pytest.approx(0.251 - 6 * 0.002)


def test_the_hole_counts_only_when_the_centre_is_closer_than_its_radius() -> None:
    _, reward, status = rolled("empty", 0.9, 0.2401, 0.0, 0.0)
    assert (reward, status) == (-1.0, RUNNING)
    _, reward, status = rolled("empty", 0.9, 0.2399, 0.0, 0.0)
    assert (reward, status) == (10_000.0, TERMINATED)


def test_the_clock_ends_the_episode_in_the_first_sub_step_of_step_1001() -> None:
    _, reward, status = rolled("empty", 0.5, 0.5, 1.0, 0.0, steps=999)
    assert (reward, status) == (-1.0, RUNNING)
    state, reward, status = rolled("empty", 0.5, 0.5, 1.0, 0.0, steps=1000)
    assert (reward, status) == (-1.0, TRUNCATED)
    assert state[0] == pytest.approx(0.5 + 0.001)


def test_a_ball_outside_the_square_is_put_back() -> None:
    state, _, _ = rolled("empty", 1.2, -0.3, 0.0, 0.0)
    assert list(state[:2]) == [0.95, 0.05]


def test_the_worst_return_is_a_whole_episode_of_pushes() -> None:
    # Pushing left and right in turns, far from the hole, until the clock ends it.
    chosen = environment("pinball-empty", noise=0.0, drag=0.9, force=0.1)
    random = random_state(2)
    vector = chosen.draw(random).vector
    state = chosen.new_state()
    reset_once(chosen.compiled_reset, state, vector, random)
    total, status, steps = 0.0, RUNNING, 0
    while status == RUNNING:
        reward, status = step_once(chosen.compiled_step, state, vector, random, 2 * (steps % 2))
        total += reward
        steps += 1
    assert chosen.score_range is not None
    assert (total, status, steps) == (chosen.score_range[0], TRUNCATED, chosen.step_limit)


def _quickest(force: float, ball_radius: float, target_radius: float) -> int:
    """Steps a good play needs: full push towards the hole on both axes in turn, nothing in the way."""
    chosen = environment(
        "pinball-empty", noise=0.0, drag=1.0, force=force, ball_radius=ball_radius, target_radius=target_radius
    )
    random = random_state(3)
    vector = chosen.draw(random).vector
    state = chosen.new_state()
    reset_once(chosen.compiled_reset, state, vector, random)
    for steps in range(1, 200):
        x_left, y_left = 0.9 - state[0], state[1] - 0.2
        action = 0 if x_left / (abs(state[2]) + 1e-3) >= y_left / (abs(state[3]) + 1e-3) else 1
        _, status = step_once(chosen.compiled_step, state, vector, random, action)
        if status == TERMINATED:
            return steps
    return 10_000


@pytest.mark.parametrize(("force", "ball", "target"), [(0.3, 0.022, 0.044), (0.1, 0.018, 0.036), (2.0, 0.05, 0.3)])
def test_no_play_beats_the_fewest_steps(force: float, ball: float, target: float) -> None:
    fewest = fewest_steps(force, ball, target)
    quickest = _quickest(force, ball, target)
    assert fewest <= quickest
    # The bound is of use: good play comes within a factor of three of it.
    assert quickest <= 3 * fewest


def test_the_score_range_is_derived_from_the_fewest_steps() -> None:
    assert environment("pinball-empty").score_range == (-5001.0, 10_000.0 - (fewest_steps(0.3, 0.022, 0.044) - 1))
    # Held parameters make it tighter or wider; a random start may be in the hole at once.
    assert environment("pinball-empty", force=0.1).score_range < environment("pinball-empty").score_range  # type: ignore[operator]
    assert environment("pinball-empty", random_start=True).score_range == (-5001.0, 10_000.0)


@pytest.mark.parametrize("layout", ["empty", "box", "medium", "single"])
def test_speed_is_kept_by_every_bounce_and_the_ball_stays_on_the_table(layout: str) -> None:
    chosen = environment(f"pinball-{layout}", drag=1.0)
    for trial in range(20):
        random = random_state(4, layout, trial)
        vector = chosen.draw(random).vector
        state = chosen.new_state()
        reset_once(chosen.compiled_reset, state, vector, random)
        for step in range(300):
            before = math.hypot(state[2], state[3])
            _, status = step_once(chosen.compiled_step, state, vector, random, step // 20 % 5)
            assert math.hypot(state[2], state[3]) <= before + vector[4] + 1e-9
            assert np.all((state[:2] >= 0) & (state[:2] <= 1)) or status != RUNNING
            if status != RUNNING:
                break


def test_random_play_finds_the_hole_now_and_then() -> None:
    chosen = environment("pinball-empty")
    random = random_state(6)
    vector = chosen.draw(random).vector
    returns = np.zeros(20)
    random_returns(chosen.compiled_reset, chosen.compiled_step, chosen.new_state(), vector, random, 5, returns)
    assert returns.max() > 5000
