"""Pinball: push a ball past obstacles into a hole, -1 or -5 a step and +10,000 at the hole.

After Konidaris and Barto, "Skill discovery in continuous reinforcement learning domains using skill chaining", NIPS
2009, in the version of RLPy (Geramifard et al., JMLR 16, 2015), whose layouts these are.
"""

import math

import numpy as np

from untuned.collect.distributions import LogUniform, Minus, Uniform
from untuned.collect.environments.checks import checked_choice, checked_flag
from untuned.collect.environments.environment import (
    FIXED_STARTS,
    PROBABILITY,
    Allowed,
    Budget,
    CompiledEnvironment,
    ContinuousStates,
    Parameter,
)
from untuned.collect.kernels.jit import Floats, RandomState, kernel
from untuned.collect.kernels.rng import standard_normals, uniform
from untuned.collect.kernels.status import RUNNING, TERMINATED, TRUNCATED

Point = tuple[float, float]
Polygon = tuple[Point, ...]

START: Point = (0.2, 0.9)
TARGET: Point = (0.9, 0.2)

_WALLS: tuple[Polygon, ...] = (
    ((0.0, 0.0), (0.0, 0.01), (1.0, 0.01), (1.0, 0.0)),
    ((0.0, 0.0), (0.01, 0.0), (0.01, 1.0), (0.0, 1.0)),
    ((0.0, 1.0), (0.0, 0.99), (1.0, 0.99), (1.0, 1.0)),
    ((1.0, 1.0), (0.99, 1.0), (0.99, 0.0), (1.0, 0.0)),
)
# The medium layout contains this one twice, so that hitting it counts as hitting two obstacles.
_TWICE: Polygon = ((0.334, 0.014), (0.278, 0.038), (0.368, 0.254), (0.7, 0.2), (0.764, 0.108), (0.526, 0.158))

#: Obstacles of each layout, the four walls first.
LAYOUTS: dict[str, tuple[Polygon, ...]] = {
    "empty": _WALLS,
    "box": (*_WALLS, ((0.45, 0.45), (0.55, 0.45), (0.55, 0.55), (0.45, 0.55))),
    "medium": (
        *_WALLS,
        ((0.09, 0.228), (0.242, 0.076), (0.106, 0.03), (0.022, 0.178)),
        _TWICE,
        _TWICE,
        ((0.034, 0.852), (0.106, 0.708), (0.332, 0.674), (0.176, 0.618), (0.028, 0.718)),
        ((0.45, 0.392), (0.614, 0.258), (0.734, 0.438)),
        (
            (0.294, 0.584),
            (0.478, 0.626),
            (0.482, 0.574),
            (0.324, 0.434),
            (0.35, 0.39),
            (0.572, 0.52),
            (0.588, 0.722),
            (0.456, 0.668),
        ),
    ),
    "single": (
        *_WALLS,
        ((0.35, 0.4), (0.45, 0.55), (0.43, 0.65), (0.3, 0.7), (0.45, 0.7), (0.5, 0.6), (0.45, 0.35)),
        (
            (0.2, 0.6),
            (0.25, 0.55),
            (0.15, 0.5),
            (0.15, 0.45),
            (0.2, 0.3),
            (0.12, 0.27),
            (0.075, 0.35),
            (0.09, 0.55),
        ),
        ((0.3, 0.8), (0.6, 0.75), (0.8, 0.8), (0.8, 0.9), (0.6, 0.85), (0.3, 0.9)),
        ((0.8, 0.7), (0.975, 0.65), (0.75, 0.5), (0.9, 0.3), (0.7, 0.35), (0.63, 0.65)),
        ((0.6, 0.25), (0.3, 0.07), (0.15, 0.175), (0.15, 0.2), (0.3, 0.175), (0.6, 0.3)),
        ((0.75, 0.025), (0.8, 0.24), (0.725, 0.27), (0.7, 0.025)),
    ),
}

# state: x, y, x', y' (the observation), steps taken
_STEPS = 4
# parameters: the five drawn ones; then random start, number of obstacles, per obstacle its box, the place of its
# first point in this vector and their number, then all points
_TARGET_RADIUS, _BALL_RADIUS, _NOISE, _DRAG, _FORCE = 0, 1, 2, 3, 4
_RANDOM_START, _OBSTACLES, _HEADERS = 5, 6, 7
_HEADER_SIZE = 6

_SUB_STEPS = 20
_SUB_STEP = 0.05
_TOP_SPEED = 2.0
# The clock advances by 0.05 a sub-step and ends the episode when it passes 1000: in sub-step 20,001, the first one of
# step 1,001, in exact arithmetic and in floating point alike.
_WHOLE_STEPS = 1000
_START_SPREAD = 0.02
_BONUS = 10_000.0
# The ball moves once more after a lone hit in this sub-step, counted from zero.
_EXTRA_MOVE = 18


def reset(state: Floats, parameters: Floats, random: RandomState) -> None:
    """Put the ball at the start, at rest."""
    state[0] = START[0]
    state[1] = START[1]
    if parameters[_RANDOM_START] != 0.0:
        first, second = standard_normals(random)
        state[0] += _START_SPREAD * first
        state[1] += _START_SPREAD * second
    state[2] = 0.0
    state[3] = 0.0
    state[_STEPS] = 0.0


@kernel
def angle_between(x1: float, y1: float, x2: float, y2: float) -> float:
    """Return the angle from the second vector to the first, clockwise from the y axis, within [0, 2 pi)."""
    angle: float = np.arctan2(x1, y1) - np.arctan2(x2, y2)
    return angle + 2.0 * np.pi if angle < 0.0 else angle


@kernel
def edge_is_hit(
    x1: float,
    y1: float,
    x2: float,
    y2: float,
    x: float,
    y: float,
    x_velocity: float,
    y_velocity: float,
    radius: float,
) -> bool:
    """Return whether a ball touches the edge from (x1, y1) to (x2, y2) and is not moving away from it."""
    x_edge = x2 - x1
    y_edge = y2 - y1
    along = ((x - x1) * x_edge + (y - y1) * y_edge) / (x_edge * x_edge + y_edge * y_edge)
    along = min(max(along, 0.0), 1.0)
    x_closest = x1 + x_edge * along
    y_closest = y1 + y_edge * along
    if (x - x_closest) * (x - x_closest) + (y - y_closest) * (y - y_closest) > radius * radius:
        return False
    angle = angle_between(x_closest - x, y_closest - y, x_velocity, y_velocity)
    if angle > np.pi:
        angle = 2.0 * np.pi - angle
    return angle <= np.pi / 1.99


@kernel
def reflected(x_edge: float, y_edge: float, x_velocity: float, y_velocity: float) -> tuple[float, float]:
    """Return the velocity after bouncing off an edge of the given direction."""
    if x_edge < 0.0:
        x_edge = -x_edge
        y_edge = -y_edge
    angle = angle_between(x_velocity, y_velocity, x_edge, y_edge) - np.pi
    if angle < 0.0:
        angle += 2.0 * np.pi
    angle += angle_between(-1.0, 0.0, x_edge, y_edge)
    speed = np.sqrt(x_velocity * x_velocity + y_velocity * y_velocity)
    return speed * np.cos(angle), speed * np.sin(angle)


@kernel
def obstacle_hit(
    parameters: Floats, obstacle: int, x: float, y: float, x_velocity: float, y_velocity: float
) -> tuple[bool, float, float]:
    """Return whether the ball hits an obstacle, and the velocity it would leave with."""
    radius = parameters[_BALL_RADIUS]
    header = _HEADERS + _HEADER_SIZE * obstacle
    if (
        x + radius < parameters[header]
        or y + radius < parameters[header + 1]
        or x - radius > parameters[header + 2]
        or y - radius > parameters[header + 3]
    ):
        return False, 0.0, 0.0
    first = np.int64(parameters[header + 4])
    number = np.int64(parameters[header + 5])
    hits = 0
    x_edge = 0.0
    y_edge = 0.0
    for i in range(number):
        j = i + 1 if i + 1 < number else 0
        x1 = parameters[first + 2 * i]
        y1 = parameters[first + 2 * i + 1]
        x2 = parameters[first + 2 * j]
        y2 = parameters[first + 2 * j + 1]
        if edge_is_hit(x1, y1, x2, y2, x, y, x_velocity, y_velocity, radius):
            hits += 1
            x_edge = x2 - x1
            y_edge = y2 - y1
    if hits == 0:
        return False, 0.0, 0.0
    if hits > 1:
        return True, -x_velocity, -y_velocity
    x_new, y_new = reflected(x_edge, y_edge, x_velocity, y_velocity)
    return True, x_new, y_new


@kernel
def obstacles_in_reach(parameters: Floats, x: float, y: float, reach: float) -> np.uint64:
    """Return a mask of the obstacles that the ball could touch within this distance."""
    mask = np.uint64(0)
    for obstacle in range(np.int64(parameters[_OBSTACLES])):
        header = _HEADERS + _HEADER_SIZE * obstacle
        if (
            x + reach >= parameters[header]
            and y + reach >= parameters[header + 1]
            and x - reach <= parameters[header + 2]
            and y - reach <= parameters[header + 3]
        ):
            mask |= np.uint64(1) << np.uint64(obstacle)
    return mask


def step(state: Floats, parameters: Floats, random: RandomState, action: int) -> tuple[float, int]:
    """Push the ball and let it roll for twenty sub-steps."""
    if uniform(random) < parameters[_NOISE]:
        action = int(5.0 * uniform(random))
    radius = parameters[_BALL_RADIUS]
    force = parameters[_FORCE]
    x = state[0]
    y = state[1]
    x_velocity = state[2]
    y_velocity = state[3]
    if action == 0:
        x_velocity += force
    elif action == 1:
        y_velocity -= force
    elif action == 2:
        x_velocity -= force
    elif action == 3:
        y_velocity += force
    x_velocity = min(max(x_velocity, -_TOP_SPEED), _TOP_SPEED)
    y_velocity = min(max(y_velocity, -_TOP_SPEED), _TOP_SPEED)

    steps = state[_STEPS] + 1.0
    last = steps > _WHOLE_STEPS
    # Bounces keep the speed, so within this step the ball travels at most 21 sub-steps' worth. Obstacles further away
    # cannot be touched: skipping them changes nothing, and most steps are far from all of them.
    reach = radius + 1.0001 * (_SUB_STEPS + 1) * _SUB_STEP * radius * np.sqrt(
        x_velocity * x_velocity + y_velocity * y_velocity
    )
    near = obstacles_in_reach(parameters, x, y, reach + 1e-9)
    target_radius = parameters[_TARGET_RADIUS]
    reward = -1.0 if action == 4 else -5.0
    status = RUNNING
    for sub_step in range(_SUB_STEPS):
        x += x_velocity * radius * _SUB_STEP
        y += y_velocity * radius * _SUB_STEP
        if near != np.uint64(0):
            hits = 0
            x_after = 0.0
            y_after = 0.0
            remaining = near
            obstacle = 0
            while remaining != np.uint64(0):
                if remaining & np.uint64(1) != np.uint64(0):
                    hit, x_new, y_new = obstacle_hit(parameters, obstacle, x, y, x_velocity, y_velocity)
                    if hit:
                        hits += 1
                        x_after = x_new
                        y_after = y_new
                remaining >>= np.uint64(1)
                obstacle += 1
            if hits == 1:
                x_velocity = x_after
                y_velocity = y_after
                if sub_step == _EXTRA_MOVE:
                    x += x_velocity * radius * _SUB_STEP
                    y += y_velocity * radius * _SUB_STEP
            elif hits > 1:
                x_velocity = -x_velocity
                y_velocity = -y_velocity
        x_left = x - TARGET[0]
        y_left = y - TARGET[1]
        if x_left * x_left + y_left * y_left < target_radius * target_radius:
            reward = _BONUS
            status = TERMINATED
            break
        if last:
            reward = -1.0
            status = TRUNCATED
            break
    if status == RUNNING:
        drag = parameters[_DRAG]
        x_velocity *= drag
        y_velocity *= drag
        if x > 1.0:
            x = 0.95
        elif x < 0.0:
            x = 0.05
        if y > 1.0:
            y = 0.95
        elif y < 0.0:
            y = 0.05
    state[0] = x
    state[1] = y
    state[2] = x_velocity
    state[3] = y_velocity
    state[_STEPS] = steps
    return reward, status


def fewest_steps(force: float, ball_radius: float, target_radius: float) -> int:
    """Return a lower bound on the number of steps from the start to the target.

    To touch the target the ball must have moved ``0.7 - target_radius`` to the right and as much down, and only its
    own motion brings it there (the jumps back from beyond the border lead away). In step k its speed is at most
    ``min(k force, sqrt(8))``, since a push adds at most ``force``, each component is clipped to 2 when pushed, and
    bounces and drag add nothing; it moves for at most 21 sub-steps of ``0.05 ball_radius speed``; and a move of
    length s advances the two coordinates by at most ``sqrt(2) s`` together.
    """
    needed = 2.0 * (TARGET[0] - START[0] - target_radius)
    travelled = 0.0
    steps = 0
    while travelled < needed * (1.0 - 1e-9):
        steps += 1
        speed = min(steps * force, math.sqrt(8.0))
        travelled += math.sqrt(2.0) * (_SUB_STEPS + 1) * _SUB_STEP * ball_radius * speed
        if steps > _WHOLE_STEPS:
            break
    return steps


def _score_range(parameters: tuple[Parameter, ...], random_start: bool) -> tuple[float, float]:
    worst = -5.0 * _WHOLE_STEPS - 1.0
    if random_start:
        return worst, _BONUS
    limits = {each.name: each.distribution.high for each in parameters}
    fewest = fewest_steps(limits["force"], limits["ball_radius"], limits["target_radius"])
    # Every step before the one that reaches the hole costs at least 1.
    return worst, max(_BONUS - max(fewest - 1, 0), -1.0 - _WHOLE_STEPS)


def _fixed_start_range(parameters: tuple[Parameter, ...]) -> tuple[float, float]:
    return _score_range(parameters, random_start=False)


def _random_start_range(parameters: tuple[Parameter, ...]) -> tuple[float, float]:
    return _score_range(parameters, random_start=True)


def _geometry(obstacles: tuple[Polygon, ...]) -> tuple[float, ...]:
    headers: list[float] = []
    points: list[float] = []
    first = _HEADERS + _HEADER_SIZE * len(obstacles)
    for polygon in obstacles:
        xs, ys = zip(*polygon, strict=True)
        headers += [min(xs), min(ys), max(xs), max(ys), float(first + len(points)), float(len(polygon))]
        points += [coordinate for point in polygon for coordinate in point]
    return (float(len(obstacles)), *headers, *points)


def pinball(*, layout: str = "empty", random_start: bool = False) -> CompiledEnvironment:
    """Return a pinball table.

    Parameters
    ----------
    layout
        ``"empty"``, ``"box"``, ``"medium"`` or ``"single"``.
    random_start
        Start every episode with normal noise of 0.02 in both coordinates instead of exactly at (0.2, 0.9).
    """
    layout = checked_choice("layout", layout, LAYOUTS)
    random_start = checked_flag("random_start", random_start)
    range_rule = _random_start_range if random_start else _fixed_start_range
    parameters = (
        Parameter("target_radius", Uniform(0.036, 0.044), 0.04, "radius of the hole", Allowed(0.0, 0.5, True)),
        Parameter("ball_radius", Uniform(0.018, 0.022), 0.02, "radius of the ball", Allowed(0.0, 0.1, True)),
        Parameter(
            "noise",
            Uniform(0.0, 0.25),
            0.0,
            "chance that a random action replaces the chosen one",
            PROBABILITY,
        ),
        Parameter(
            "drag",
            Minus(1.0, LogUniform(0.001, 0.1)),
            0.995,
            "what a step leaves of the velocity, as a factor",
            PROBABILITY,
        ),
        Parameter("force", Uniform(0.1, 0.3), 0.2, "what a push adds to the velocity", Allowed(0.0, 4.0, True)),
    )
    speed = math.sqrt(8.0) * (1.0 + 1e-12)
    # Beyond the border only for the rest of the step that ends an episode; 0.3 suffices for the largest ball.
    place = (-0.3, 1.3)
    return CompiledEnvironment(
        name=f"pinball-{layout}" + ("[random_start=true]" if random_start else ""),
        title=f"PinBall {layout.capitalize()}",
        summary=_SUMMARIES[layout],
        family="pinball",
        states=ContinuousStates(
            names=("x", "y", "x_velocity", "y_velocity"),
            ranges=((0.0, 1.0), (0.0, 1.0), (-_TOP_SPEED, _TOP_SPEED), (-_TOP_SPEED, _TOP_SPEED)),
            bounds=(place, place, (-speed, speed), (-speed, speed)),
        ),
        actions=("push +x", "push -y", "push -x", "push +y", "none"),
        budget=Budget(episodes=200 if layout == "single" else 100),
        step_limit=_WHOLE_STEPS + 1,
        score_range=range_rule(parameters),
        parameters=parameters,
        differs=(FIXED_STARTS,),
        reset=reset,
        step=step,
        state_size=5,
        constants=(1.0 if random_start else 0.0, *_geometry(LAYOUTS[layout])),
        range_rule=range_rule,
    )


_SUMMARIES = {
    "empty": "push a ball into a hole on an empty table",
    "box": "push a ball into a hole around a box in the middle",
    "medium": "push a ball into a hole past five obstacles",
    "single": "push a ball into a hole through a table of six obstacles",
}
