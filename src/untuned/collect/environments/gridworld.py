"""Gridworld: N x N cells from the top left corner to the bottom right one, -1 a step."""

from untuned.collect.environments.checks import checked_choice, checked_flag, checked_size
from untuned.collect.environments.environment import Budget, CompiledEnvironment, DiscreteStates
from untuned.collect.environments.slips import slip_parameter
from untuned.collect.kernels.jit import Floats, RandomState
from untuned.collect.kernels.rng import uniform
from untuned.collect.kernels.status import RUNNING, TERMINATED, TRUNCATED

# state: cell (the observation, row * size + column), row, column, steps taken
_CELL, _ROW, _COLUMN, _STEPS = 0, 1, 2, 3
# parameters: slip probability; size, slip rule
_SLIP, _SIZE, _RULE = 0, 1, 2
_DETERMINISTIC, _CYCLIC, _PERPENDICULAR = 0.0, 1.0, 2.0
_UP, _DOWN, _LEFT, _RIGHT, _STAY = 0, 1, 2, 3, 4

_RULES = {"cyclic": _CYCLIC, "perpendicular": _PERPENDICULAR}


def reset(state: Floats, parameters: Floats, random: RandomState) -> None:
    """Put the agent into the top left cell."""
    state[_CELL] = 0.0
    state[_ROW] = 0.0
    state[_COLUMN] = 0.0
    state[_STEPS] = 0.0


def step(state: Floats, parameters: Floats, random: RandomState, action: int) -> tuple[float, int]:
    """Move one cell; a move off the map stays put."""
    size = parameters[_SIZE]
    rule = parameters[_RULE]
    if rule != _DETERMINISTIC:
        slip = parameters[_SLIP]
        u = uniform(random)
        if u >= 1.0 - slip:
            if u < 1.0 - slip / 2.0:
                action = _STAY
            elif rule == _CYCLIC:
                action = (action + 1) % 4 if u < 1.0 - slip / 4.0 else (action + 3) % 4
            elif action <= _DOWN:
                action = _LEFT if u < 1.0 - slip / 4.0 else _RIGHT
            else:
                action = _UP if u < 1.0 - slip / 4.0 else _DOWN
    row = state[_ROW]
    column = state[_COLUMN]
    if action == _UP:
        row = max(row - 1.0, 0.0)
    elif action == _DOWN:
        row = min(row + 1.0, size - 1.0)
    elif action == _LEFT:
        column = max(column - 1.0, 0.0)
    elif action == _RIGHT:
        column = min(column + 1.0, size - 1.0)
    steps = state[_STEPS] + 1.0
    state[_CELL] = row * size + column
    state[_ROW] = row
    state[_COLUMN] = column
    state[_STEPS] = steps
    if row == size - 1.0 and column == size - 1.0:
        return -1.0, TERMINATED
    return -1.0, TRUNCATED if steps >= 20.0 * size * size else RUNNING


def gridworld(*, size: int = 5, stochastic: bool = False, slips: str = "cyclic") -> CompiledEnvironment:
    """Return an N x N gridworld.

    Parameters
    ----------
    size
        N, from 2 to 1,000.
    stochastic
        Whether moves slip: with probability p/2 the agent stays, with p/2 it moves in another direction.
    slips
        That direction: ``"cyclic"`` for the next or previous action in the order up, down, left, right, which
        reproduces the paper's numbers, or ``"perpendicular"`` to the intended direction, as its text says. Has no
        effect when not stochastic.
    """
    size = checked_size("size", size, 2, 1000)
    stochastic = checked_flag("stochastic", stochastic)
    slips = checked_choice("slips", slips, _RULES)
    kind = "stochastic" if stochastic else "deterministic"
    perpendicular = stochastic and slips == "perpendicular"
    return CompiledEnvironment(
        name=f"gridworld-{size}-{kind}" + ("[slips=perpendicular]" if perpendicular else ""),
        title=f"Gridworld {size} {kind.capitalize()}",
        summary=f"walk from corner to corner of a {size} x {size} grid" + (", moves slip" if stochastic else ""),
        family="gridworld",
        states=DiscreteStates(size * size),
        actions=("up", "down", "left", "right"),
        budget=Budget(episodes=100),
        step_limit=20 * size * size,
        score_range=(-20.0 * size * size, 2.0 - 2.0 * size),
        parameters=(slip_parameter(stochastic),),
        differs=(_SLIPS_DIFFER,) if stochastic else (),
        reset=reset,
        step=step,
        state_size=4,
        constants=(float(size), _RULES[slips] if stochastic else _DETERMINISTIC),
    )


_SLIPS_DIFFER = (
    "The paper's text says a slip moves perpendicular to the intended direction; its numbers were made with the next "
    "or previous action in the order up, down, left, right. slips='perpendicular' gives the text's version."
)
