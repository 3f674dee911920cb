"""Oracle for Acrobot. Source of the facts: Jordan et al. (2020) and the code published with it."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

TORQUES = (-1.0, 0.0, 1.0)
SUB_STEPS = 10
SUB_STEP = 0.02
STEP_LIMIT = 2000
VELOCITY_LIMIT_1 = 4.0 * math.pi
VELOCITY_LIMIT_2 = 9.0 * math.pi

Vector = tuple[float, float, float, float]


def wrap(angle: float) -> float:
    """Bring an angle into [-pi, pi); one that is already inside is not touched."""
    while angle >= math.pi:
        angle -= 2.0 * math.pi
    while angle < -math.pi:
        angle += 2.0 * math.pi
    return angle


def clip(value: float, limit: float) -> float:
    """Bring a value into [-limit, limit]."""
    return max(-limit, min(limit, value))


def moved(state: Vector, slope: Vector, time: float) -> Vector:
    """Return state + time * slope."""
    return (
        state[0] + time * slope[0],
        state[1] + time * slope[1],
        state[2] + time * slope[2],
        state[3] + time * slope[3],
    )


@dataclass(kw_only=True)
class Acrobot:
    """Two links hanging from a pivot; the torque acts on the joint between them."""

    mass_1: float
    mass_2: float
    length_1: float
    length_2: float
    gravity: float
    random_start: bool = False

    angle_1: float = field(default=0.0, init=False)
    angle_2: float = field(default=0.0, init=False)
    velocity_1: float = field(default=0.0, init=False)
    velocity_2: float = field(default=0.0, init=False)
    steps: int = field(default=0, init=False)

    def reset(self, uniform: Callable[[], float]) -> Vector:
        """Begin an episode at rest, hanging; two uniforms if the start is random, otherwise none."""
        self.angle_1 = 0.0
        self.angle_2 = 0.0
        if self.random_start:
            widest = math.radians(5.0)
            self.angle_1 = -widest + 2.0 * widest * uniform()
            self.angle_2 = -widest + 2.0 * widest * uniform()
        self.velocity_1 = 0.0
        self.velocity_2 = 0.0
        self.steps = 0
        return self.observation()

    def observation(self) -> Vector:
        """Return both angles, then both angular velocities."""
        return self.angle_1, self.angle_2, self.velocity_1, self.velocity_2

    def slope(self, state: Vector, torque: float) -> Vector:
        """Return the time derivative of a state: the equations in the book of Sutton & Barto."""
        th1, th2, v1, v2 = state
        m1, m2, l1, g = self.mass_1, self.mass_2, self.length_1, self.gravity
        lc1, lc2 = self.length_1 / 2.0, self.length_2 / 2.0
        i1, i2 = 1.0, 1.0
        right_angle = math.pi / 2.0

        d1 = m1 * lc1**2 + m2 * (l1**2 + lc2**2 + 2.0 * l1 * lc2 * math.cos(th2)) + i1 + i2
        d2 = m2 * (lc2**2 + l1 * lc2 * math.cos(th2)) + i2
        phi2 = m2 * lc2 * g * math.cos(th1 + th2 - right_angle)
        phi1 = (
            -m2 * l1 * lc2 * v2**2 * math.sin(th2)
            - 2.0 * m2 * l1 * lc2 * v2 * v1 * math.sin(th2)
            + (m1 * lc1 + m2 * l1) * g * math.cos(th1 - right_angle)
            + phi2
        )
        acceleration_2 = (torque + d2 / d1 * phi1 - m2 * l1 * lc2 * v1**2 * math.sin(th2) - phi2) / (
            m2 * lc2**2 + i2 - d2**2 / d1
        )
        acceleration_1 = -(d2 * acceleration_2 + phi1) / d1
        return v1, v2, acceleration_1, acceleration_2

    def after_sub_step(self, state: Vector, torque: float) -> Vector:
        """Integrate over one sub-step; the fourth stage too is taken at half of it."""
        half = SUB_STEP / 2.0
        k1 = self.slope(state, torque)
        k2 = self.slope(moved(state, k1, half), torque)
        k3 = self.slope(moved(state, k2, half), torque)
        k4 = self.slope(moved(state, k3, half), torque)
        total = moved(moved(moved(k1, k2, 2.0), k3, 2.0), k4, 1.0)
        return moved(state, total, SUB_STEP / 6.0)

    def step(self, action: int, uniform: Callable[[], float]) -> tuple[Vector, float, int]:
        """Apply a torque for 0.2 s; draws nothing."""
        state = self.observation()
        for _ in range(SUB_STEPS):
            state = self.after_sub_step(state, TORQUES[action])
        self.angle_1 = wrap(state[0])
        self.angle_2 = wrap(state[1])
        self.velocity_1 = clip(state[2], VELOCITY_LIMIT_1)
        self.velocity_2 = clip(state[3], VELOCITY_LIMIT_2)
        self.steps += 1

        tip = -self.length_1 * math.cos(self.angle_1) - self.length_2 * math.cos(self.angle_1 + self.angle_2)
        if tip > self.length_1:
            return self.observation(), 0.0, 1
        if self.steps >= STEP_LIMIT:
            return self.observation(), 0.0, 2
        return self.observation(), -0.1, 0
