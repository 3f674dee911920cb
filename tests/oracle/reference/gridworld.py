"""Oracle for Gridworld. Source of the facts: Jordan et al. (2020) and the code published with it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

UP, DOWN, LEFT, RIGHT = 0, 1, 2, 3
MOVES = {UP: (-1, 0), DOWN: (1, 0), LEFT: (0, -1), RIGHT: (0, 1)}  # (rows, columns)
PERPENDICULAR = {UP: (LEFT, RIGHT), DOWN: (LEFT, RIGHT), LEFT: (UP, DOWN), RIGHT: (UP, DOWN)}


@dataclass(kw_only=True)
class Gridworld:
    """Start in the top left corner, goal in the bottom right one, -1 for every step."""

    size: int
    stochastic: bool
    slip_probability: float
    slips: Literal["cyclic", "perpendicular"] = "cyclic"

    row: int = field(default=0, init=False)
    column: int = field(default=0, init=False)
    steps: int = field(default=0, init=False)

    def reset(self, uniform: Callable[[], float]) -> int:
        """Begin an episode; draws nothing."""
        self.row = 0
        self.column = 0
        self.steps = 0
        return self.observation()

    def observation(self) -> int:
        """Return the number of the cell, counted along the rows from the top left."""
        return self.row * self.size + self.column

    def direction_taken(self, action: int, u: float) -> int | None:
        """Return the direction the agent really moves in, or None if it stays."""
        p = self.slip_probability
        if self.slips == "perpendicular":
            first, second = PERPENDICULAR[action]
        else:
            first, second = (action + 1) % 4, (action - 1) % 4
        if u < 1.0 - p:
            return action
        if u < 1.0 - p / 2.0:
            return None
        if u < 1.0 - p / 4.0:
            return first
        return second

    def step(self, action: int, uniform: Callable[[], float]) -> tuple[int, float, int]:
        """Move; one uniform when stochastic, none when deterministic."""
        direction: int | None = action
        if self.stochastic:
            direction = self.direction_taken(action, uniform())
        if direction is not None:
            rows, columns = MOVES[direction]
            new_row = self.row + rows
            new_column = self.column + columns
            if 0 <= new_row < self.size and 0 <= new_column < self.size:
                self.row = new_row
                self.column = new_column
        self.steps += 1

        status = 0
        if self.observation() == self.size * self.size - 1:
            status = 1
        elif self.steps >= 20 * self.size * self.size:
            status = 2
        return self.observation(), -1.0, status
