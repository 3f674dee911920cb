"""Cart-Pole: keep a pole upright on a cart by pushing left or right, +1 a step.

Dynamics with friction after R. V. Florian, "Correct equations for the dynamics of the cart-pole system", 2007, with
the cart's friction taken as constant in the normal force, as in the published experiment.
"""

import math

import numpy as np

from untuned.collect.distributions import Uniform
from untuned.collect.environments.environment import Allowed, Budget, CompiledEnvironment, ContinuousStates, Parameter
from untuned.collect.kernels.jit import Floats, RandomState
from untuned.collect.kernels.status import RUNNING, TERMINATED, TRUNCATED
from untuned.collect.kernels.trigonometry import sincos, wrapped

# state: x, x', angle, angle' (the observation), steps taken
_STEPS = 4
_STEP_LIMIT = 1000

_TIME_STEP = 0.02
_FORCE = 10.0
_CART_FRICTION = 0.0005
_POLE_FRICTION = 0.000002
_TRACK = 2.4
_FALLEN = math.pi / 15


def reset(state: Floats, parameters: Floats, random: RandomState) -> None:
    """Put the cart in the middle with the pole upright, at rest."""
    state[0] = 0.0
    state[1] = 0.0
    state[2] = 0.0
    state[3] = 0.0
    state[_STEPS] = 0.0


def step(state: Floats, parameters: Floats, random: RandomState, action: int) -> tuple[float, int]:
    """Push for one time step: explicit Euler, positions with the old velocities."""
    pole_mass = parameters[0]
    half_length = parameters[1]
    # One division for three uses: the agents' speed on this environment is measured against C.
    per_mass = 1.0 / (pole_mass + parameters[2])
    gravity = parameters[3]
    velocity = state[1]
    angle = state[2]
    spin = state[3]

    force = _FORCE if action == 1 else -_FORCE
    sine, cosine = sincos(angle)
    friction = _CART_FRICTION * np.sign(velocity)
    moment = pole_mass * half_length
    spin_change = (
        gravity * sine
        + cosine * (friction - force - moment * spin * spin * sine) * per_mass
        - _POLE_FRICTION * spin / moment
    ) / (half_length * (4.0 / 3.0 - pole_mass * cosine * cosine * per_mass))
    velocity_change = (force + moment * (spin * spin * sine - spin_change * cosine) - friction) * per_mass

    x = state[0] + _TIME_STEP * velocity
    angle = wrapped(angle + _TIME_STEP * spin)
    steps = state[_STEPS] + 1.0
    state[0] = x
    state[1] = velocity + _TIME_STEP * velocity_change
    state[2] = angle
    state[3] = spin + _TIME_STEP * spin_change
    state[_STEPS] = steps
    if abs(angle) > _FALLEN or abs(x) >= _TRACK:
        return 1.0, TERMINATED
    return 1.0, TRUNCATED if steps >= _STEP_LIMIT else RUNNING


def cart_pole() -> CompiledEnvironment:
    """Return the cart-pole."""
    return CompiledEnvironment(
        name="cart-pole",
        title="Cart-Pole",
        summary="keep a pole upright on a cart by pushing left or right",
        family="cart-pole",
        states=ContinuousStates(
            names=("position", "velocity", "angle", "angular_velocity"),
            ranges=((-2.4, 2.4), (-10.0, 10.0), (-math.pi / 12, math.pi / 12), (-math.pi, math.pi)),
            # The largest speeds depend on the masses; only the angle, being wrapped, has a fixed bound.
            bounds=((-math.inf, math.inf), (-math.inf, math.inf), (-math.pi, math.pi), (-math.inf, math.inf)),
        ),
        actions=("push left", "push right"),
        budget=Budget(episodes=100),
        step_limit=_STEP_LIMIT,
        score_range=(0.0, float(_STEP_LIMIT)),
        parameters=(
            Parameter("pole_mass", Uniform(0.025, 0.25), 0.1, "mass of the pole, kg", Allowed(0.001, 100.0)),
            Parameter("pole_half_length", Uniform(0.1, 1.0), 0.5, "half length of the pole, m", Allowed(0.01, 100.0)),
            Parameter("cart_mass", Uniform(0.1, 5.0), 1.0, "mass of the cart, kg", Allowed(0.001, 1000.0)),
            Parameter("gravity", Uniform(8.0, 10.0), 9.8, "gravity, m/s^2", Allowed(0.0, 1000.0, True)),
        ),
        reset=reset,
        step=step,
        state_size=5,
    )
