"""Oracle for Mountain Car. Source of the facts: Jordan et al. (2020) and the code published with it."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

THROTTLES = (-1.0, 0.0, 1.0)
STEP_LIMIT = 5000

Observation = tuple[float, float]


@dataclass(kw_only=True)
class MountainCar:
    """An underpowered car in a valley, -1 for every step."""

    acceleration: float
    random_start: bool = False

    x: float = field(default=-0.5, init=False)
    velocity: float = field(default=0.0, init=False)
    steps: int = field(default=0, init=False)

    def reset(self, uniform: Callable[[], float]) -> Observation:
        """Begin an episode at rest; one uniform if the start is random, otherwise none."""
        self.x = -0.5
        if self.random_start:
            self.x = -0.6 + 0.2 * uniform()
        self.velocity = 0.0
        self.steps = 0
        return self.observation()

    def observation(self) -> Observation:
        """Return position and velocity."""
        return self.x, self.velocity

    def step(self, action: int, uniform: Callable[[], float]) -> tuple[Observation, float, int]:
        """Drive for one step; draws nothing."""
        faster = self.velocity + self.acceleration * THROTTLES[action] - 0.0025 * math.cos(3.0 * self.x)
        self.velocity = max(-0.07, min(0.07, faster))
        self.x += self.velocity
        if self.x < -1.2:
            self.x = -1.2
            self.velocity = 0.0
        self.steps += 1

        status = 0
        if self.x >= 0.5:
            status = 1
        elif self.steps >= STEP_LIMIT:
            status = 2
        return self.observation(), -1.0, status
