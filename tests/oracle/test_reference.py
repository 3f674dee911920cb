"""Sanity tests of the oracles on their own."""

import math
from collections.abc import Callable, Iterator
from typing import Literal

import pytest

from oracle.reference import pinball
from oracle.reference.acrobot import Acrobot, Vector, moved
from oracle.reference.cart_pole import CartPole
from oracle.reference.chain import Chain
from oracle.reference.gridworld import Gridworld
from oracle.reference.mountain_car import MountainCar
from oracle.reference.pinball import Edge, Layout, Pinball, Point, Polygon
from oracle.reference.xoshiro import Xoshiro

UP, DOWN, LEFT, RIGHT = 0, 1, 2, 3


def no_draw() -> float:
    """Stand in for the random numbers where none may be drawn."""
    raise AssertionError("a random number was drawn")


def given(*values: float) -> Callable[[], float]:
    """Return a source of exactly these numbers."""
    left: Iterator[float] = iter(values)
    return lambda: next(left)


# --- xoshiro256++


def test_xoshiro_gives_the_published_values() -> None:
    generator = Xoshiro([1, 2, 3, 4])
    expected = [41943041, 58720359, 3588806011781223, 3591011842654386, 9228616714210784205]
    assert [generator.next() for _ in expected] == expected


def test_xoshiro_uniform_uses_the_upper_53_bits() -> None:
    whole, fraction = Xoshiro([5, 6, 7, 2**64 - 1]), Xoshiro([5, 6, 7, 2**64 - 1])
    values = [fraction.uniform() for _ in range(2000)]
    assert values == [(whole.next() >> 11) / 2**53 for _ in range(2000)]
    assert all(0.0 <= value < 1.0 for value in values)
    assert sum(values) / 2000 == pytest.approx(0.5, abs=0.03)
    assert all(0 <= word < 2**64 for word in fraction.state)


# --- gridworld


def grid(size: int = 5, p: float | None = None, slips: Literal["cyclic", "perpendicular"] = "cyclic") -> Gridworld:
    return Gridworld(size=size, stochastic=p is not None, slip_probability=p or 0.2, slips=slips)


@pytest.mark.parametrize(("size", "best"), [(5, -8.0), (10, -18.0)])
def test_gridworld_best_return(size: int, best: float) -> None:
    world = grid(size)
    assert world.reset(no_draw) == 0
    results = [world.step(action, no_draw) for action in [DOWN, RIGHT] * (size - 1)]
    assert sum(reward for _, reward, _ in results) == best
    assert [status for _, _, status in results] == [0] * (2 * size - 3) + [1]
    assert results[-1][0] == size * size - 1


def test_gridworld_moves_and_borders() -> None:
    world = grid()
    world.row, world.column = 2, 2
    assert [world.step(a, no_draw)[0] for a in (UP, LEFT, DOWN, RIGHT)] == [7, 6, 11, 12]
    for action, row, column in [(UP, 0, 3), (DOWN, 4, 3), (LEFT, 3, 0), (RIGHT, 3, 4)]:
        world.row, world.column = row, column
        assert world.step(action, no_draw) == (row * 5 + column, -1.0, 0)


def test_gridworld_worst_return_and_a_goal_on_the_last_step() -> None:
    world = grid()
    world.reset(no_draw)
    results = [world.step(UP, no_draw) for _ in range(500)]
    assert sum(reward for _, reward, _ in results) == -500.0
    assert [status for _, _, status in results] == [0] * 499 + [2]
    world.row, world.column, world.steps = 4, 3, 499
    assert world.step(RIGHT, no_draw) == (24, -1.0, 1)


@pytest.mark.parametrize(
    ("slips", "action", "first", "second"),
    [
        ("cyclic", UP, DOWN, RIGHT),
        ("cyclic", DOWN, LEFT, UP),
        ("cyclic", LEFT, RIGHT, DOWN),
        ("cyclic", RIGHT, UP, LEFT),
        ("perpendicular", UP, LEFT, RIGHT),
        ("perpendicular", DOWN, LEFT, RIGHT),
        ("perpendicular", LEFT, UP, DOWN),
        ("perpendicular", RIGHT, UP, DOWN),
    ],
)
def test_gridworld_slips(slips: Literal["cyclic", "perpendicular"], action: int, first: int, second: int) -> None:
    places = {UP: 7, DOWN: 17, LEFT: 11, RIGHT: 13}
    cases = [
        (0.0, places[action]),
        (0.799, places[action]),
        (0.8, 12),
        (0.899, 12),
        (0.9, places[first]),
        (0.949, places[first]),
        (0.95, places[second]),
        (0.999, places[second]),
    ]
    for u, place in cases:
        world = grid(p=0.2, slips=slips)
        world.row, world.column = 2, 2
        assert world.step(action, given(u))[0] == place


# --- chain


@pytest.mark.parametrize(("size", "best", "worst"), [(10, -8.0, -199.0), (50, -48.0, -999.0)])
def test_chain_best_and_worst_return(size: int, best: float, worst: float) -> None:
    for action, length, total, status in [(1, size - 1, best, 1), (0, 20 * size, worst, 2)]:
        chain = Chain(size=size, stochastic=False, slip_probability=0.2)
        assert chain.reset(no_draw) == 0
        results = [chain.step(action, no_draw) for _ in range(length)]
        assert sum(reward for _, reward, _ in results) == total
        assert [s for _, _, s in results] == [0] * (length - 1) + [status]


def test_chain_slips() -> None:
    for u, move in [(0.0, 1), (0.799, 1), (0.8, 0), (0.899, 0), (0.9, -1), (0.999, -1)]:
        for action, way in [(0, -1), (1, 1)]:
            chain = Chain(size=10, stochastic=True, slip_probability=0.2)
            chain.position = 5
            assert chain.step(action, given(u)) == (5 + way * move, -1.0, 0)


def test_chain_goal_on_the_last_step() -> None:
    chain = Chain(size=10, stochastic=False, slip_probability=0.0)
    chain.position, chain.steps = 8, 199
    assert chain.step(1, no_draw) == (9, 0.0, 1)


# --- cart-pole


def cart() -> CartPole:
    return CartPole(pole_mass=0.1, pole_half_length=0.5, cart_mass=1.0, gravity=9.8)


def test_cart_pole_accelerations_solve_the_equations_of_motion() -> None:
    pole = CartPole(pole_mass=0.13, pole_half_length=0.7, cart_mass=2.1, gravity=9.1)
    pole.x_velocity, pole.angle, pole.angular_velocity = -0.4, 0.15, 1.3
    for force in (-10.0, 10.0):
        linear, angular = pole.accelerations(force)
        sine, cosine = math.sin(0.15), math.cos(0.15)
        pushed = force + 0.13 * 0.7 * 1.3**2 * sine + 0.0005
        assert (0.13 + 2.1) * linear + 0.13 * 0.7 * angular * cosine == pytest.approx(pushed)
        turned = 9.1 * sine - linear * cosine - 0.000002 * 1.3 / (0.13 * 0.7)
        assert 4.0 / 3.0 * 0.7 * angular == pytest.approx(turned)


def test_cart_pole_first_step_moves_only_the_velocities() -> None:
    pole = cart()
    assert pole.reset(no_draw) == (0.0, 0.0, 0.0, 0.0)
    (x, x_velocity, angle, spin), reward, status = pole.step(1, no_draw)
    assert (x, angle, reward, status) == (0.0, 0.0, 1.0, 0)
    assert x_velocity == pytest.approx(0.195122, abs=1e-6)  # no friction acts on a cart at rest
    assert spin == pytest.approx(-0.292683, abs=1e-6)


def test_cart_pole_ends() -> None:
    for angle, x, status in [(0.2, 0.0, 0), (0.21, 0.0, 1), (-0.21, 0.0, 1), (0.0, 2.39, 0), (0.0, -2.4, 1)]:
        pole = cart()
        pole.angle, pole.x = angle, x
        assert pole.step(0, no_draw)[1:] == (1.0, status)
        pole.angle, pole.x, pole.angular_velocity, pole.x_velocity, pole.steps = angle, x, 0.0, 0.0, 999
        assert pole.step(0, no_draw)[1:] == (1.0, status or 2)


def test_cart_pole_is_symmetric_and_falls_under_a_constant_force() -> None:
    left, right = cart(), cart()
    status = 0
    while status == 0:
        seen, _, status = left.step(0, no_draw)
        mirrored, _, other = right.step(1, no_draw)
        assert mirrored == tuple(-value for value in seen)
        assert other == status
    assert status == 1
    assert 5 < left.steps < 30


def test_cart_pole_can_be_balanced_to_the_limit() -> None:
    pole = cart()
    status, total = 0, 0.0
    while status == 0:
        lean = pole.angle + 0.3 * pole.angular_velocity + 0.02 * pole.x + 0.05 * pole.x_velocity
        _, reward, status = pole.step(1 if lean > 0.0 else 0, no_draw)
        total += reward
    assert (status, total) == (2, 1000.0)


def test_cart_pole_wraps_the_angle() -> None:
    pole = cart()
    pole.angle, pole.angular_velocity = 3.14, 1.0
    assert pole.step(0, no_draw)[0][2] == pytest.approx(3.16 - 2.0 * math.pi)
    pole.angle, pole.angular_velocity = math.pi, 0.0
    assert pole.step(0, no_draw)[0][2] == -math.pi


# --- mountain car


@pytest.mark.parametrize("acceleration", [0.0008, 0.001, 0.0012])
def test_mountain_car_full_throttle_in_the_direction_of_travel_reaches_the_goal(acceleration: float) -> None:
    car = MountainCar(acceleration=acceleration)
    assert car.reset(no_draw) == (-0.5, 0.0)
    status, total = 0, 0.0
    while status == 0:
        (x, velocity), reward, status = car.step(2 if car.velocity >= 0.0 else 0, no_draw)
        total += reward
        assert x >= -1.2
        assert abs(velocity) <= 0.07
    assert status == 1
    assert total == -car.steps
    assert car.steps < 200


def test_mountain_car_without_swinging_never_arrives() -> None:
    car = MountainCar(acceleration=0.0012)
    results = [car.step(2, no_draw) for _ in range(5000)]
    assert [status for _, _, status in results] == [0] * 4999 + [2]


def test_mountain_car_single_steps() -> None:
    car = MountainCar(acceleration=0.001)
    (x, velocity), _, _ = car.step(0, no_draw)
    assert velocity == pytest.approx(-0.001 - 0.0025 * math.cos(-1.5))
    assert x == pytest.approx(-0.5 + velocity)
    car.x, car.velocity = -1.19, -0.06
    assert car.step(0, no_draw) == ((-1.2, 0.0), -1.0, 0)
    car.x, car.velocity, car.steps = 0.45, 0.0699, 4999
    (x, velocity), reward, status = car.step(2, no_draw)
    assert x == pytest.approx(0.52)
    assert (velocity, reward, status) == (0.07, -1.0, 1)


def test_mountain_car_random_start() -> None:
    car = MountainCar(acceleration=0.001, random_start=True)
    assert car.reset(given(0.0)) == (-0.6, 0.0)
    assert car.reset(given(0.75))[0] == pytest.approx(-0.45)


# --- acrobot


def double_pendulum(gravity: float = 9.8) -> Acrobot:
    return Acrobot(mass_1=1.1, mass_2=0.9, length_1=0.95, length_2=1.05, gravity=gravity)


def energy(bot: Acrobot, state: Vector) -> float:
    """Return the energy, from the velocities of the two centres of mass."""
    th1, th2, v1, v2 = state
    half_1, half_2 = bot.length_1 / 2.0, bot.length_2 / 2.0
    elbow = (bot.length_1 * math.cos(th1) * v1, bot.length_1 * math.sin(th1) * v1)
    turning = v1 + v2
    centre = (
        elbow[0] + half_2 * math.cos(th1 + th2) * turning,
        elbow[1] + half_2 * math.sin(th1 + th2) * turning,
    )
    kinetic = bot.mass_1 * (half_1 * v1) ** 2 + v1**2 + bot.mass_2 * (centre[0] ** 2 + centre[1] ** 2)
    height_1 = -half_1 * math.cos(th1)
    height_2 = -bot.length_1 * math.cos(th1) - half_2 * math.cos(th1 + th2)
    potential = bot.gravity * (bot.mass_1 * height_1 + bot.mass_2 * height_2)
    return (kinetic + turning**2) / 2.0 + potential


def test_acrobot_energy_changes_only_by_the_power_of_the_torque() -> None:
    bot = double_pendulum()
    for state in [(0.3, -0.7, 1.2, -2.1), (2.0, 1.0, -3.0, 4.0), (-1.0, 2.9, 0.5, 6.0)]:
        for torque in (-1.0, 0.0, 1.0):
            slope = bot.slope(state, torque)
            h = 1e-5
            after, before = energy(bot, moved(state, slope, h)), energy(bot, moved(state, slope, -h))
            assert (after - before) / (2.0 * h) == pytest.approx(torque * state[3], abs=1e-6)


def test_acrobot_integration_takes_every_stage_at_half_a_sub_step() -> None:
    class Growth(Acrobot):
        def slope(self, state: Vector, torque: float) -> Vector:
            return state

    bot = Growth(mass_1=1.0, mass_2=1.0, length_1=1.0, length_2=1.0, gravity=9.8)
    k2 = 1.0 + 0.01
    k3 = 1.0 + 0.01 * k2
    k4 = 1.0 + 0.01 * k3
    expected = 1.0 + 0.02 * (1.0 + 2.0 * k2 + 2.0 * k3 + k4) / 6.0
    assert bot.after_sub_step((1.0, 2.0, -1.0, 0.0), 0.0) == pytest.approx(
        (expected, 2.0 * expected, -expected, 0.0), rel=1e-15
    )


def test_acrobot_hangs_still_and_reaches_the_limit() -> None:
    bot = double_pendulum()
    assert bot.reset(no_draw) == (0.0, 0.0, 0.0, 0.0)
    results = [bot.step(1, no_draw) for _ in range(2000)]
    assert [status for _, _, status in results] == [0] * 1999 + [2]
    assert [reward for _, reward, _ in results] == [-0.1] * 1999 + [0.0]
    assert max(abs(value) for value in results[-1][0]) < 1e-10


def test_acrobot_is_symmetric() -> None:
    left, right = double_pendulum(), double_pendulum()
    for action in [0, 0, 2, 1, 2, 0, 0, 1]:
        seen, mirrored = left.step(action, no_draw)[0], right.step(2 - action, no_draw)[0]
        assert mirrored == pytest.approx(tuple(-value for value in seen), abs=1e-12)


@pytest.mark.parametrize("gravity", [8.0, 9.0, 10.0])
def test_acrobot_pumping_energy_swings_it_up(gravity: float) -> None:
    bot = double_pendulum(gravity)
    status, total = 0, 0.0
    while status == 0:
        _, reward, status = bot.step(2 if bot.velocity_2 >= 0.0 else 0, no_draw)
        total += reward
    assert status == 1
    assert reward == 0.0
    assert total == pytest.approx(-0.1 * (bot.steps - 1))
    assert bot.steps < 500


class Drift(Acrobot):
    """An acrobot on which no force acts."""

    def slope(self, state: Vector, torque: float) -> Vector:
        return state[2], state[3], 0.0, 0.0


def drifting(*state: float) -> Acrobot:
    bot = Drift(mass_1=1.1, mass_2=0.9, length_1=0.95, length_2=1.05, gravity=9.8)
    bot.angle_1, bot.angle_2, bot.velocity_1, bot.velocity_2 = state
    return bot


def test_acrobot_step_lasts_a_fifth_of_a_second_then_wraps_and_clips() -> None:
    observation = drifting(0.5, -3.0, 3.0, -4.0).step(1, no_draw)[0]
    assert observation == pytest.approx((1.1, -3.8 + 2.0 * math.pi, 3.0, -4.0))
    fast = drifting(0.5, 1.0, 21.0, -60.0).step(1, no_draw)[0]
    assert fast == pytest.approx((4.7 - 2.0 * math.pi, -11.0 + 4.0 * math.pi, 4.0 * math.pi, -9.0 * math.pi))


def test_acrobot_ends_when_the_tip_is_a_link_above_the_pivot() -> None:
    # Stretched, the tip is at -2 cos th1; with the first link upright, at 0.95 + 1.05 cos th2.
    for angle_1, angle_2, status in [(2.06, 0.0, 0), (2.08, 0.0, 1), (math.pi, 1.56, 1), (math.pi, 1.58, 0)]:
        reward = 0.0 if status else -0.1
        assert drifting(angle_1, angle_2, 0.0, 0.0).step(1, no_draw)[1:] == (reward, status)
    bot = double_pendulum()
    bot.angle_1, bot.steps = math.pi, 1999
    observation, reward, status = bot.step(1, no_draw)
    assert abs(observation[0]) == pytest.approx(math.pi)
    assert (reward, status) == (0.0, 1)


def test_acrobot_random_start() -> None:
    bot = double_pendulum()
    bot.random_start = True
    low = -math.radians(5.0)
    assert bot.reset(given(0.0, 0.5)) == pytest.approx((low, 0.0, 0.0, 0.0))
    assert bot.reset(given(0.75, 0.25)) == pytest.approx((-low / 2.0, low / 2.0, 0.0, 0.0))


# --- pinball


def ball(
    layout: Layout = "empty",
    at: Point = (0.5, 0.5),
    velocity: Point = (0.0, 0.0),
    drag: float = 1.0,
    force: float = 0.2,
    noise: float = 0.0,
) -> Pinball:
    game = Pinball(layout=layout, target_radius=0.04, ball_radius=0.02, noise=noise, drag=drag, force=force)
    game.x, game.y = at
    game.x_velocity, game.y_velocity = velocity
    return game


def mirror_image(velocity: Point, edge: Edge) -> Point:
    """Return v - 2 (v . n) n, with the normal n of the edge."""
    (ax, ay), (bx, by) = edge
    length = math.hypot(bx - ax, by - ay)
    nx, ny = (by - ay) / length, (ax - bx) / length
    along = velocity[0] * nx + velocity[1] * ny
    return velocity[0] - 2.0 * along * nx, velocity[1] - 2.0 * along * ny


def test_pinball_angle_runs_anticlockwise_from_the_first_vector_to_the_second() -> None:
    assert pinball.angle_between((1.0, 0.0), (0.0, 1.0)) == pytest.approx(math.pi / 2.0)
    assert pinball.angle_between((0.0, 1.0), (1.0, 0.0)) == pytest.approx(3.0 * math.pi / 2.0)
    assert pinball.angle_between((1.0, 0.0), (-1.0, 0.0)) == pytest.approx(math.pi)
    assert pinball.angle_between((-1.0, 0.0), (0.0, 1.0)) == pytest.approx(3.0 * math.pi / 2.0)


def test_pinball_horizontal_ball_and_vertical_edge_by_hand() -> None:
    # angle((1, 0), (0, 1)) = pi/2; pi/2 - pi + 2 pi = 3 pi/2; angle((-1, 0), (0, 1)) = 3 pi/2: 3 pi, so back.
    assert pinball.reflected((1.0, 0.0), ((0.0, 0.0), (0.0, 1.0))) == pytest.approx((-1.0, 0.0))
    assert pinball.reflected((1.0, 0.0), ((0.0, 1.0), (0.0, 0.0))) == pytest.approx((-1.0, 0.0))


def test_pinball_reflection_is_the_mirror_image_for_every_direction() -> None:
    for i in range(48):
        slant = i * math.pi / 24.0
        for edge_end in [(math.cos(slant), math.sin(slant)), (round(math.cos(slant)), 1.0), (1.0, 0.0)]:
            edge = ((0.0, 0.0), edge_end)
            for j in range(50):
                velocity = (1.7 * math.cos(j * math.pi / 25.0), 1.7 * math.sin(j * math.pi / 25.0))
                expected = mirror_image(velocity, edge)
                assert pinball.reflected(velocity, edge) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("at", "velocity", "expected"),
    [
        ((0.035, 0.5), (-1.0, 0.0), (1.0, 0.0)),
        ((0.965, 0.5), (1.0, 0.0), (-1.0, 0.0)),
        ((0.5, 0.035), (0.0, -1.0), (0.0, 1.0)),
        ((0.5, 0.965), (0.0, 1.0), (0.0, -1.0)),
        ((0.035, 0.5), (-1.0, 0.4), (1.0, 0.4)),
        ((0.965, 0.5), (1.0, -0.4), (-1.0, -0.4)),
        ((0.5, 0.035), (0.4, -1.0), (0.4, 1.0)),
        ((0.5, 0.965), (-0.4, 1.0), (-0.4, -1.0)),
    ],
)
def test_pinball_walls_reflect(at: Point, velocity: Point, expected: Point) -> None:
    game = ball(at=at, velocity=velocity)
    observation, reward, status = game.step(4, given(0.5))
    assert observation[2:] == pytest.approx(expected)
    assert (reward, status) == (-1.0, 0)
    for place, before, speed in zip(observation[:2], at, velocity, strict=True):
        if abs(speed) < 1.0:  # along the wall the ball moves on as if nothing had happened
            assert place == pytest.approx(before + 0.02 * speed)
    assert all(0.03 < place < 0.97 for place in observation[:2])


def test_pinball_path_at_a_wall_by_hand() -> None:
    # 0.001 per sub-step: the sixth ends at 0.0295, within a radius of the wall at 0.01; then 14 go back.
    game = ball(at=(0.0355, 0.5), velocity=(-1.0, 0.0))
    assert game.step(4, given(0.5))[0] == pytest.approx((0.0435, 0.5, 1.0, 0.0))
    assert game.clock == pytest.approx(1.0)


@pytest.mark.parametrize(("first", "expected"), [(18, 0.0315), (19, 0.0315), (20, 0.0295)])
def test_pinball_moves_once_more_after_a_hit_in_the_19th_sub_step(first: int, expected: float) -> None:
    game = ball(at=(0.0295 + 0.001 * first, 0.5), velocity=(-1.0, 0.0))
    assert game.step(4, given(0.5))[0] == pytest.approx((expected, 0.5, 1.0, 0.0))


def test_pinball_does_not_move_once_more_after_a_hit_by_two_obstacles() -> None:
    away = 0.0295 + 0.019
    game = ball(at=(away, away), velocity=(-1.0, -1.0))
    assert game.step(4, given(0.5))[0] == pytest.approx((0.0305, 0.0305, 1.0, 1.0))


def test_pinball_moves_once_more_after_a_double_hit_by_one_obstacle() -> None:
    hit = 0.45 - 0.0138  # 0.0138 * sqrt(2) is a little less than the radius, 0.0148 * sqrt(2) is more
    game = ball("box", at=(hit - 0.019, hit - 0.019), velocity=(1.0, 1.0))
    assert game.step(4, given(0.5))[0] == pytest.approx((hit - 0.002, hit - 0.002, -1.0, -1.0))


def test_pinball_corner_of_the_room_reverses() -> None:
    game = ball(at=(0.03, 0.03), velocity=(-1.0, -0.3))
    assert game.collide() == 2
    assert game.observation() == (0.03, 0.03, 1.0, 0.3)


@pytest.mark.parametrize("velocity", [(1.0, 0.2), (0.2, 1.0), (1.0, 1.0)])
def test_pinball_corner_of_the_box_reverses(velocity: Point) -> None:
    game = ball("box", at=(0.438, 0.438), velocity=velocity)
    assert len(pinball.hit_edges(pinball.POLYGONS["box"][4], (0.438, 0.438), velocity, 0.02)) == 2
    assert game.collide() == 1
    assert game.observation()[2:] == (-velocity[0], -velocity[1])


def test_pinball_sides_of_the_box_reflect() -> None:
    for at, velocity, expected in [
        ((0.431, 0.5), (1.0, 0.3), (-1.0, 0.3)),
        ((0.569, 0.5), (-1.0, 0.3), (1.0, 0.3)),
        ((0.5, 0.431), (0.3, 1.0), (0.3, -1.0)),
        ((0.5, 0.569), (0.3, -1.0), (0.3, 1.0)),
    ]:
        game = ball("box", at=at, velocity=velocity)
        assert game.collide() == 1
        assert game.observation()[2:] == pytest.approx(expected)


def touching(polygon: Polygon, number: int, inside: Point) -> tuple[Edge, Point, Point]:
    """Return an edge, a place 0.0195 off its middle and the direction from there to the edge."""
    edge = pinball.edges_of(polygon)[number]
    (ax, ay), (bx, by) = edge
    length = math.hypot(bx - ax, by - ay)
    towards = ((by - ay) / length, (ax - bx) / length)
    middle = ((ax + bx) / 2.0, (ay + by) / 2.0)
    if (inside[0] - middle[0]) * towards[0] + (inside[1] - middle[1]) * towards[1] < 0.0:
        towards = (-towards[0], -towards[1])
    return edge, (middle[0] - 0.0195 * towards[0], middle[1] - 0.0195 * towards[1]), towards


@pytest.mark.parametrize("number", [0, 1, 2])
def test_pinball_slanted_edges_reflect(number: int) -> None:
    triangle = pinball.POLYGONS["medium"][8]
    assert len(triangle) == 3
    edge, at, towards = touching(triangle, number, (0.6, 0.36))
    for turn in (-1.2, -0.3, 0.0, 0.7, 1.4):
        velocity = (
            towards[0] * math.cos(turn) - towards[1] * math.sin(turn),
            towards[0] * math.sin(turn) + towards[1] * math.cos(turn),
        )
        game = ball("medium", at=at, velocity=velocity)
        assert game.collide() == 1
        assert game.observation()[2:] == pytest.approx(mirror_image(velocity, edge))


def test_pinball_obstacle_listed_twice_reverses() -> None:
    edge, at, _ = touching(pinball.LISTED_TWICE, 2, (0.5, 0.19))
    game = ball("medium", at=at, velocity=(0.0, -1.0))
    assert game.collide() == 2
    assert game.observation()[2:] == (0.0, 1.0)
    assert mirror_image((0.0, -1.0), edge) != pytest.approx((0.0, 1.0), abs=0.1)


def test_pinball_ball_that_moves_away_is_not_hit() -> None:
    game = ball(at=(0.02, 0.5), velocity=(0.1, 1.0))
    assert game.collide() == 0
    for velocity, hits in [((0.0, 1.0), 1), ((0.0078, 1.0), 1), ((0.0080, 1.0), 0)]:  # pi/1.99: 0.452 degrees
        assert ball(at=(0.025, 0.5), velocity=velocity).collide() == hits


def test_pinball_target_inside_a_step() -> None:
    # From 0.8445 in steps of 0.001, the distance to 0.9 is less than 0.04 from the 16th sub-step on.
    game = ball(at=(0.8445, 0.2), velocity=(0.8, 0.0), drag=0.9, force=0.2)
    observation, reward, status = game.step(0, given(0.5))
    assert (reward, status) == (10000.0, 1)
    assert observation == pytest.approx((0.8605, 0.2, 1.0, 0.0))
    assert game.clock == pytest.approx(16 * 0.05)


def test_pinball_target_wins_over_the_clock() -> None:
    game = ball(at=(0.9, 0.2))
    game.clock = 1000.0
    assert game.step(0, given(0.5))[1:] == (10000.0, 1)


def test_pinball_clock_ends_the_episode_inside_a_step() -> None:
    game = ball(velocity=(1.0, 0.0), drag=0.9)
    game.clock = 999.88
    observation, reward, status = game.step(3, given(0.5))
    assert (reward, status) == (-1.0, 2)
    assert observation == pytest.approx((0.503, 0.5006, 1.0, 0.2))


def test_pinball_whole_episode_without_a_target() -> None:
    game = ball(drag=0.95)
    game.reset(no_draw)
    total, steps, status = 0.0, 0, 0
    while status == 0:
        _, reward, status = game.step(3 if steps % 2 == 0 else 1, given(0.5))
        total += reward
        steps += 1
    assert (status, steps, total) == (2, 1001, -5001.0)


def test_pinball_actions_drag_and_rewards() -> None:
    pushes = [(0.3, 0.0), (0.0, -0.3), (-0.3, 0.0), (0.0, 0.3), (0.0, 0.0)]
    for action, (dx, dy) in enumerate(pushes):
        observation, reward, status = ball(force=0.3, drag=0.9).step(action, given(0.5))
        assert observation == pytest.approx((0.5 + 0.02 * dx, 0.5 + 0.02 * dy, 0.9 * dx, 0.9 * dy))
        assert (reward, status) == (-1.0 if action == 4 else -5.0, 0)


def test_pinball_clips_velocities() -> None:
    assert ball(velocity=(1.9, -1.0)).step(0, given(0.5))[0][2:] == (2.0, -1.0)
    assert ball(velocity=(1.0, -1.9)).step(1, given(0.5))[0][2:] == (1.0, -2.0)
    assert ball(velocity=(2.5, 0.0)).step(4, given(0.5))[0][2:] == (2.0, 0.0)


def test_pinball_noise() -> None:
    assert ball(noise=0.2).step(4, given(0.2))[1] == -1.0
    for u2, velocity, reward in [(0.0, (0.2, 0.0), -5.0), (0.79, (0.0, 0.2), -5.0), (0.99, (0.0, 0.0), -1.0)]:
        observation, seen, _ = ball(noise=0.2).step(2, given(0.19, u2))
        assert (observation[2:], seen) == (velocity, reward)


def test_pinball_puts_a_lost_ball_back() -> None:
    assert ball(at=(1.1, -0.1)).step(4, given(0.5))[0] == (0.95, 0.05, 0.0, 0.0)
    assert ball(at=(-0.1, 1.1)).step(4, given(0.5))[0] == (0.05, 0.95, 0.0, 0.0)


def test_pinball_start() -> None:
    game = ball(velocity=(1.0, 1.0))
    game.clock = 7.0
    assert game.reset(no_draw) == (0.2, 0.9, 0.0, 0.0)
    assert game.clock == 0.0
    game.random_start = True
    assert game.reset(given(1.0 - math.exp(-0.5), 0.25)) == pytest.approx((0.2, 0.92, 0.0, 0.0))
    assert game.reset(given(1.0 - math.exp(-2.0), 0.5)) == pytest.approx((0.16, 0.9, 0.0, 0.0))


@pytest.mark.parametrize("layout", ["empty", "box", "medium", "single"])
def test_pinball_random_play_keeps_the_ball_in_the_room(layout: Layout) -> None:
    generator = Xoshiro([1, 2, 3, 4])
    game = ball(layout, force=0.3, drag=0.99, noise=0.25)
    game.reset(no_draw)
    for _ in range(300):
        (x, y, _, _), _, status = game.step(int(5.0 * generator.uniform()), generator.uniform)
        assert 0.02 < x < 0.98
        assert 0.02 < y < 0.98
        if status:
            break
