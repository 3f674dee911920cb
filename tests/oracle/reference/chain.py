"""Oracle for Chain. Source of the facts: Jordan et al. (2020) and the code published with it."""

from collections.abc import Callable
from dataclasses import dataclass, field

LEFT, RIGHT = 0, 1


@dataclass(kw_only=True)
class Chain:
    """Cells 0 to size - 1 in a line, start at the first, goal at the last."""

    size: int
    stochastic: bool
    slip_probability: float

    position: int = field(default=0, init=False)
    steps: int = field(default=0, init=False)

    def reset(self, uniform: Callable[[], float]) -> int:
        """Begin an episode; draws nothing."""
        self.position = 0
        self.steps = 0
        return self.position

    def step(self, action: int, uniform: Callable[[], float]) -> tuple[int, float, int]:
        """Move; one uniform when stochastic, none when deterministic."""
        move = 1 if action == RIGHT else -1
        if self.stochastic:
            u = uniform()
            if u < 1.0 - self.slip_probability:
                pass
            elif u < 1.0 - self.slip_probability / 2.0:
                move = 0
            else:
                move = -move
        if 0 <= self.position + move < self.size:
            self.position += move
        self.steps += 1

        if self.position == self.size - 1:
            return self.position, 0.0, 1
        if self.steps >= 20 * self.size:
            return self.position, 0.0, 2
        return self.position, -1.0, 0
