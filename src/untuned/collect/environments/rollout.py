"""Stepping environments: once from Python, or whole episodes of random actions inside a kernel."""

import numpy as np

from untuned.collect.environments.environment import RUNNING
from untuned.collect.kernels.jit import Address, Floats, RandomState, Reset, Step, kernel, reset_at, step_at
from untuned.collect.kernels.rng import uniform


@kernel
def reset_once(reset: Address[Reset], state: Floats, parameters: Floats, random: RandomState) -> None:
    """Call a compiled reset once, from Python."""
    reset_at(reset)(state, parameters, random)


@kernel
def step_once(
    step: Address[Step], state: Floats, parameters: Floats, random: RandomState, action: int
) -> tuple[float, int]:
    """Call a compiled step once, from Python, and return what it returns: (reward, status)."""
    return step_at(step)(state, parameters, random, action)


@kernel
def random_returns(
    reset: Reset,
    step: Step,
    state: Floats,
    parameters: Floats,
    random: RandomState,
    actions: int,
    returns: Floats,
) -> int:
    """Fill ``returns`` with the returns of episodes of uniformly random actions; return the number of steps."""
    reset_function = reset_at(reset)
    step_function = step_at(step)
    steps = 0
    for episode in range(returns.size):
        reset_function(state, parameters, random)
        total = 0.0
        while True:
            reward, status = step_function(state, parameters, random, np.int64(actions * uniform(random)))
            total += reward
            steps += 1
            if status != RUNNING:
                break
        returns[episode] = total
    return steps
