"""Oracle for Cart-Pole. Source of the facts: Jordan et al. (2020) and the code published with it."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

FORCES = (-10.0, 10.0)
CART_FRICTION = 0.0005
POLE_FRICTION = 0.000002
TIME_STEP = 0.02
ANGLE_LIMIT = math.pi / 15.0
POSITION_LIMIT = 2.4
STEP_LIMIT = 1000

Observation = tuple[float, float, float, float]


def sign(value: float) -> float:
    """Return -1, 0 or 1."""
    if value > 0.0:
        return 1.0
    if value < 0.0:
        return -1.0
    return 0.0


def wrap(angle: float) -> float:
    """Bring an angle into [-pi, pi); one that is already inside is not touched."""
    while angle >= math.pi:
        angle -= 2.0 * math.pi
    while angle < -math.pi:
        angle += 2.0 * math.pi
    return angle


@dataclass(kw_only=True)
class CartPole:
    """A pole with friction on a cart with friction (the equations of Florian, 2007)."""

    pole_mass: float
    pole_half_length: float
    cart_mass: float
    gravity: float

    x: float = field(default=0.0, init=False)
    x_velocity: float = field(default=0.0, init=False)
    angle: float = field(default=0.0, init=False)
    angular_velocity: float = field(default=0.0, init=False)
    steps: int = field(default=0, init=False)

    def reset(self, uniform: Callable[[], float]) -> Observation:
        """Begin an episode with everything at zero; draws nothing."""
        self.x = 0.0
        self.x_velocity = 0.0
        self.angle = 0.0
        self.angular_velocity = 0.0
        self.steps = 0
        return self.observation()

    def observation(self) -> Observation:
        """Return position, velocity, angle and angular velocity."""
        return self.x, self.x_velocity, self.angle, self.angular_velocity

    def accelerations(self, force: float) -> tuple[float, float]:
        """Return the accelerations of the cart and of the pole's angle in the present state."""
        m, half_length = self.pole_mass, self.pole_half_length
        total_mass = m + self.cart_mass
        sine, cosine = math.sin(self.angle), math.cos(self.angle)
        spin = self.angular_velocity
        friction = CART_FRICTION * sign(self.x_velocity)

        numerator = (
            self.gravity * sine
            + cosine * (friction - force - m * half_length * spin**2 * sine) / total_mass
            - POLE_FRICTION * spin / (m * half_length)
        )
        denominator = half_length * (4.0 / 3.0 - m * cosine**2 / total_mass)
        angular = numerator / denominator
        linear = (force + m * half_length * (spin**2 * sine - angular * cosine) - friction) / total_mass
        return linear, angular

    def step(self, action: int, uniform: Callable[[], float]) -> tuple[Observation, float, int]:
        """Make one explicit Euler step; draws nothing."""
        linear, angular = self.accelerations(FORCES[action])
        self.x += TIME_STEP * self.x_velocity
        self.angle = wrap(self.angle + TIME_STEP * self.angular_velocity)
        self.x_velocity += TIME_STEP * linear
        self.angular_velocity += TIME_STEP * angular
        self.steps += 1

        status = 0
        if abs(self.angle) > ANGLE_LIMIT or abs(self.x) >= POSITION_LIMIT:
            status = 1
        elif self.steps >= STEP_LIMIT:
            status = 2
        return self.observation(), 1.0, status
