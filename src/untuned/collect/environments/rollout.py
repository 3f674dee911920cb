"""Stepping environments: once from Python, or for whole episodes of random actions inside a kernel."""

from untuned.collect.kernels.jit import Floats, RandomState, kernel, reset_at, step_at
from untuned.collect.kernels.rng import uniform
from untuned.collect.kernels.status import RUNNING


@kernel
def reset_once(reset: int, state: Floats, parameters: Floats, random: RandomState) -> None:
    """Call the compiled reset at an address once, from Python."""
    reset_at(reset)(state, parameters, random)


@kernel
def step_once(step: int, state: Floats, parameters: Floats, random: RandomState, action: int) -> tuple[float, int]:
    """Call the compiled step at an address once, from Python, and return its result: (reward, status)."""
    return step_at(step)(state, parameters, random, action)


@kernel
def random_returns(
    reset: int, step: int, state: Floats, parameters: Floats, random: RandomState, actions: int, returns: Floats
) -> int:
    """Fill ``returns`` with the returns of episodes of uniformly random actions; return the number of steps.

    Parameters
    ----------
    reset, step
        `CompiledEnvironment.compiled_reset` and `CompiledEnvironment.compiled_step`.
    state
        Memory for the environment's state, from `CompiledEnvironment.new_state`.
    parameters
        The vector of the drawn dynamics.
    random
        The state of the generator, from `random_state`; advanced.
    actions
        Number of actions.
    returns
        One entry per episode to play.
    """
    start = reset_at(reset)
    move = step_at(step)
    steps = 0
    for episode in range(returns.size):
        start(state, parameters, random)
        total = 0.0
        status = RUNNING
        while status == RUNNING:
            reward, status = move(state, parameters, random, int(actions * uniform(random)))
            total += reward
            steps += 1
        returns[episode] = total
    return steps
