"""Chain: N states in a line, from the left end to the right one, -1 a step."""

from untuned.collect.environments.checks import checked_flag, checked_size
from untuned.collect.environments.environment import Budget, CompiledEnvironment, DiscreteStates
from untuned.collect.environments.slips import slip_parameter
from untuned.collect.kernels.jit import Floats, RandomState
from untuned.collect.kernels.rng import uniform
from untuned.collect.kernels.status import RUNNING, TERMINATED, TRUNCATED

# state: position (the observation, from 0), steps taken
_POSITION, _STEPS = 0, 1
# parameters: slip probability; size, whether moves slip
_SLIP, _SIZE, _STOCHASTIC = 0, 1, 2


def reset(state: Floats, parameters: Floats, random: RandomState) -> None:
    """Put the agent at the left end."""
    state[_POSITION] = 0.0
    state[_STEPS] = 0.0


def step(state: Floats, parameters: Floats, random: RandomState, action: int) -> tuple[float, int]:
    """Move one place; a move off either end stays put."""
    last = parameters[_SIZE] - 1.0
    move = 1.0 if action == 1 else -1.0
    if parameters[_STOCHASTIC] != 0.0:
        slip = parameters[_SLIP]
        u = uniform(random)
        if u >= 1.0 - slip:
            move = 0.0 if u < 1.0 - slip / 2.0 else -move
    position = min(max(state[_POSITION] + move, 0.0), last)
    steps = state[_STEPS] + 1.0
    state[_POSITION] = position
    state[_STEPS] = steps
    if position == last:
        return 0.0, TERMINATED
    if steps >= 20.0 * parameters[_SIZE]:
        return 0.0, TRUNCATED
    return -1.0, RUNNING


def chain(*, size: int = 10, stochastic: bool = False) -> CompiledEnvironment:
    """Return a chain of N states.

    Parameters
    ----------
    size
        N, from 2 to 100,000.
    stochastic
        Whether moves slip: with probability p/2 the agent stays, with p/2 it moves the opposite way.
    """
    size = checked_size("size", size, 2, 100_000)
    stochastic = checked_flag("stochastic", stochastic)
    kind = "stochastic" if stochastic else "deterministic"
    return CompiledEnvironment(
        name=f"chain-{size}-{kind}",
        title=f"Chain {size} {kind.capitalize()}",
        summary=f"walk to the right end of {size} states in a line" + (", moves slip" if stochastic else ""),
        family="chain",
        states=DiscreteStates(size),
        actions=("left", "right"),
        budget=Budget(episodes=100),
        step_limit=20 * size,
        # The last step of an episode costs nothing, whether it reaches the goal or the limit.
        score_range=(1.0 - 20.0 * size, 2.0 - size),
        parameters=(slip_parameter(stochastic),),
        reset=reset,
        step=step,
        state_size=2,
        constants=(float(size), 1.0 if stochastic else 0.0),
    )
