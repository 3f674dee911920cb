"""Mountain Car: an underpowered car rocks out of a valley, -1 a step."""

from untuned.collect.distributions import Uniform
from untuned.collect.environments.checks import checked_flag
from untuned.collect.environments.environment import (
    FIXED_STARTS,
    Allowed,
    Budget,
    CompiledEnvironment,
    ContinuousStates,
    Parameter,
)
from untuned.collect.kernels.jit import Floats, RandomState
from untuned.collect.kernels.rng import uniform
from untuned.collect.kernels.status import RUNNING, TERMINATED, TRUNCATED
from untuned.collect.kernels.trigonometry import sincos

# state: x, velocity (the observation), steps taken
_STEPS = 2
_STEP_LIMIT = 5000
# parameters: acceleration; whether starts are random
_RANDOM_START = 1

_LEFT_END = -1.2
_GOAL = 0.5
_TOP_SPEED = 0.07
_GRAVITY = 0.0025


def reset(state: Floats, parameters: Floats, random: RandomState) -> None:
    """Put the car near the bottom of the valley, at rest."""
    state[0] = -0.6 + 0.2 * uniform(random) if parameters[_RANDOM_START] != 0.0 else -0.5
    state[1] = 0.0
    state[_STEPS] = 0.0


def step(state: Floats, parameters: Floats, random: RandomState, action: int) -> tuple[float, int]:
    """Drive for one time step; the left end stops the car."""
    _, cosine = sincos(3.0 * state[0])
    velocity = state[1] + parameters[0] * (action - 1.0) - _GRAVITY * cosine
    velocity = min(max(velocity, -_TOP_SPEED), _TOP_SPEED)
    x = state[0] + velocity
    if x < _LEFT_END:
        x = _LEFT_END
        velocity = 0.0
    steps = state[_STEPS] + 1.0
    state[0] = x
    state[1] = velocity
    state[_STEPS] = steps
    if x >= _GOAL:
        return -1.0, TERMINATED
    return -1.0, TRUNCATED if steps >= _STEP_LIMIT else RUNNING


def mountain_car(*, random_start: bool = False) -> CompiledEnvironment:
    """Return the mountain car.

    Parameters
    ----------
    random_start
        Start every episode at x ~ U(-0.6, -0.4) instead of exactly -0.5.
    """
    random_start = checked_flag("random_start", random_start)
    return CompiledEnvironment(
        name="mountain-car" + ("[random_start=true]" if random_start else ""),
        title="Mountain Car",
        summary="rock an underpowered car out of a valley",
        family="mountain-car",
        states=ContinuousStates(
            names=("position", "velocity"),
            ranges=((_LEFT_END, _GOAL), (-_TOP_SPEED, _TOP_SPEED)),
            # The step that crosses the goal may move the car slightly beyond it.
            bounds=((_LEFT_END, _GOAL + _TOP_SPEED), (-_TOP_SPEED, _TOP_SPEED)),
        ),
        actions=("backward", "coast", "forward"),
        budget=Budget(episodes=100),
        step_limit=_STEP_LIMIT,
        score_range=(-float(_STEP_LIMIT), 0.0),
        parameters=(
            Parameter(
                "acceleration",
                Uniform(0.0008, 0.0012),
                0.001,
                "what the engine adds to the velocity",
                Allowed(0.0, 0.07),
            ),
        ),
        differs=(FIXED_STARTS,),
        reset=reset,
        step=step,
        state_size=3,
        constants=(1.0 if random_start else 0.0,),
    )
