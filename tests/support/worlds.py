"""Small environments whose every step can be worked out by hand, for tests of agents and trials."""

import numpy as np

from untuned.collect.agents.agent import Place, World
from untuned.collect.environments.environment import Budget, CompiledEnvironment, ContinuousStates, DiscreteStates
from untuned.collect.kernels.jit import Floats, RandomState
from untuned.collect.kernels.rng import uniform
from untuned.collect.kernels.status import RUNNING, TERMINATED, TRUNCATED

# state: the observation, steps taken; parameters: where to stop, and the reward of a step


def start_at_zero(state: Floats, parameters: Floats, random: RandomState) -> None:
    for i in range(state.size):
        state[i] = 0.0


def walk_right(state: Floats, parameters: Floats, random: RandomState, action: int) -> tuple[float, int]:
    """Go from state k to k + 1 with any action; the step out of the last one ends the episode.

    One of the steps may have a reward that is NaN.
    """
    reward = np.nan if state[1] == parameters[2] else parameters[1]
    state[1] += 1.0
    if state[1] >= parameters[0]:
        return reward, TERMINATED
    state[0] += 1.0
    return reward, RUNNING


def stay(state: Floats, parameters: Floats, random: RandomState, action: int) -> tuple[float, int]:
    """Stay where one is until the time is up; the second action is worth as much as the reward, others nothing."""
    state[1] += 1.0
    return (parameters[1] if action == 1 else 0.0), TRUNCATED if state[1] >= parameters[0] else RUNNING


def wander(state: Floats, parameters: Floats, random: RandomState, action: int) -> tuple[float, int]:
    """Move one of the dimensions at random, the first ones by the action; a reward for being near the middle."""
    last = state.size - 1
    distance = 0.0
    for i in range(last):
        state[i] += 0.4 * (uniform(random) - 0.5) + (0.1 * (action - 0.5) if i == 0 else 0.0)
        distance += abs(state[i])
    state[last] += 1.0
    return parameters[1] - distance, TERMINATED if distance > 2.0 or state[last] >= parameters[0] else RUNNING


def roam(state: Floats, parameters: Floats, random: RandomState, action: int) -> tuple[float, int]:
    """Go round a ring of states: the first action one on, the others back to the start now and then."""
    states = parameters[2]
    if action == 0 or uniform(random) < 0.9:
        state[0] = (state[0] + 1.0) % states
    else:
        state[0] = 0.0
    state[1] += 1.0
    reward = parameters[1] if state[0] == 0.0 else -0.1
    return reward, TRUNCATED if state[1] >= parameters[0] else RUNNING


def cross(state: Floats, parameters: Floats, random: RandomState, action: int) -> tuple[float, int]:
    """Move one cell over a square grid whose opposite sides meet, -1 a step."""
    size = parameters[2]
    row = state[0] // size
    column = state[0] % size
    if action < 2:
        row = (row + (1.0 if action == 0 else size - 1.0)) % size
    else:
        column = (column + (1.0 if action == 2 else size - 1.0)) % size
    state[0] = row * size + column
    state[1] += 1.0
    return parameters[1], TRUNCATED if state[1] >= parameters[0] else RUNNING


def _environment(
    name: str, states: DiscreteStates | ContinuousStates, actions: int, episodes: int, size: int, **kernels: object
) -> CompiledEnvironment:
    return CompiledEnvironment(
        name=name,
        title=name,
        summary="for tests",
        states=states,
        actions=tuple(f"a{k}" for k in range(actions)),
        budget=Budget(episodes=episodes),
        step_limit=None,
        score_range=None,
        family="test",
        reset=start_at_zero,
        state_size=size,
        **kernels,  # type: ignore[arg-type]
    )


def corridor(
    steps: int, reward: float, *, actions: int = 1, episodes: int = 10, nan_at: int = -1
) -> CompiledEnvironment:
    """Return states 0 .. steps-1, each visited once per episode, in order, whatever the agent does."""
    constants = (float(steps), reward, float(nan_at))
    return _environment(
        f"corridor-{steps}", DiscreteStates(steps), actions, episodes, 2, step=walk_right, constants=constants
    )


def line(steps: int, reward: float, *, actions: int = 1, episodes: int = 10, nan_at: int = -1) -> CompiledEnvironment:
    """Return the corridor with a position on a line instead of a number: 0, 1, .. within a range of 0 to 2 steps."""
    states = ContinuousStates(("x",), ((0.0, 2.0 * steps),), ((-np.inf, np.inf),))
    constants = (float(steps), reward, float(nan_at))
    return _environment(f"line-{steps}", states, actions, episodes, 2, step=walk_right, constants=constants)


def room(steps: int, reward: float, *, actions: int = 2, episodes: int = 10) -> CompiledEnvironment:
    """Return a single state in which the second action earns the reward."""
    return _environment("room", DiscreteStates(1), actions, episodes, 2, step=stay, constants=(float(steps), reward))


def ring(steps: int, reward: float, states: int, *, actions: int = 2, episodes: int = 10) -> CompiledEnvironment:
    """Return states in a ring, the first of which earns the reward."""
    return _environment(
        f"ring-{states}",
        DiscreteStates(states),
        actions,
        episodes,
        2,
        step=roam,
        constants=(float(steps), reward, float(states)),
    )


def grid(steps: int, reward: float, size: int, *, episodes: int = 10) -> CompiledEnvironment:
    """Return a grid of size x size cells, to be walked over for a number of steps."""
    constants = (float(steps), reward, float(size))
    return _environment(f"grid-{size}", DiscreteStates(size * size), 4, episodes, 2, step=cross, constants=constants)


def space(
    dimensions: int, steps: int, *, reward: float = 1.0, actions: int = 2, episodes: int = 10
) -> CompiledEnvironment:
    """Return a random walk in several dimensions around 0, which may leave the ranges of -0.7 to 0.6."""
    states = ContinuousStates(
        tuple(f"x{k}" for k in range(dimensions)),
        ((-0.7, 0.6),) * dimensions,
        ((-np.inf, np.inf),) * dimensions,
    )
    constants = (float(steps), reward)
    return _environment(
        f"space-{dimensions}", states, actions, episodes, dimensions + 1, step=wander, constants=constants
    )


def started(place: CompiledEnvironment, random: RandomState, real: type[np.float64 | np.float32] = np.float64) -> World:
    """Return an environment as learners are started in it, its dynamics drawn."""
    vector = place.draw(random).vector
    return World(
        Place(place.compiled_reset, place.compiled_step, place.new_state(), vector, random),
        actions=len(place.actions),
        episodes=place.budget.episodes or 0,
        states=place.states.number if isinstance(place.states, DiscreteStates) else None,
        dimensions=place.states.dimensions,
        real=real,
    )
