"""Acrobot: swing a two-link pendulum up with a torque at its middle joint, -0.1 a step.

Equations of motion: Sutton and Barto, "Reinforcement Learning: An Introduction", in the book's version.
"""

import math

import numpy as np

from untuned.collect.distributions import Uniform
from untuned.collect.environments.checks import checked_flag
from untuned.collect.environments.environment import (
    FIXED_STARTS,
    RUNNING,
    TERMINATED,
    TRUNCATED,
    Budget,
    CompiledEnvironment,
    ContinuousStates,
    Parameter,
)
from untuned.collect.kernels.jit import Floats, RandomState, kernel
from untuned.collect.kernels.rng import uniform
from untuned.collect.kernels.trigonometry import LITTLE, sincos, tiny_sincos

# state: angle 1, angle 2, angle 1', angle 2' (the observation), steps taken
_STEPS = 4
_STEP_LIMIT = 2000
# parameters: mass 1, mass 2, length 1, length 2, gravity; whether starts are random
_RANDOM_START = 5

_SUB_STEPS = 10
_SUB_STEP = 0.02
_TOP_SPIN_1 = 4.0 * math.pi
_TOP_SPIN_2 = 9.0 * math.pi
# A sub-step at this speed turns a link by 0.17, which leaves room for gaining speed.
_SLOW = 8.5
_START_SPREAD = 5.0 * math.pi / 180.0


def reset(state: Floats, parameters: Floats, random: RandomState) -> None:
    """Let the pendulum hang (almost) straight down, at rest."""
    state[0] = 0.0
    state[1] = 0.0
    if parameters[_RANDOM_START] != 0.0:
        state[0] = _START_SPREAD * (2.0 * uniform(random) - 1.0)
        state[1] = _START_SPREAD * (2.0 * uniform(random) - 1.0)
    state[2] = 0.0
    state[3] = 0.0
    state[_STEPS] = 0.0


@kernel(inline=True)
def turned(sine: float, cosine: float, turn: float, little: bool) -> tuple[float, float]:
    """Return the sine and cosine of an angle after a further turn; ``little`` promises at most LITTLE."""
    if little:
        turn_sine, turn_cosine = tiny_sincos(turn)
    else:
        turn_sine, turn_cosine = sincos(turn)
    return sine * turn_cosine + cosine * turn_sine, cosine * turn_cosine - sine * turn_sine


@kernel(inline=True)
def swung(
    state: Floats, parameters: Floats, torque: float, little: bool
) -> tuple[float, float, float, float, float, float]:
    """Return the state after 0.2 s of torque, before wrapping and clipping.

    Returns
    -------
    angle_1, angle_2, spin_1, spin_2
        The state.
    tip
        Height of the tip over the pivot.
    largest
        The largest turn between two evaluations; over LITTLE, a result for which ``little`` was promised is void.
    """
    mass_1 = parameters[0]
    mass_2 = parameters[1]
    length_1 = parameters[2]
    length_2 = parameters[3]
    gravity = parameters[4]
    # The book's equations are the linear system
    #   [ d1  d2 ] [angle_1'']   [ -phi1                                ]
    #   [ d2  k  ] [angle_2''] = [ torque - h angle_1'^2 sin(a2) - phi2 ]
    # with d1 = a + k + 2 h cos(a2) and d2 = k + h cos(a2). Its determinant is a k - (h cos(a2))^2, and the difference
    # of the two right-hand sides has neither phi2 nor a mixed term: one division, and half the operations.
    centre_1 = length_1 / 2.0
    centre_2 = length_2 / 2.0
    h = mass_2 * length_1 * centre_2
    k = mass_2 * centre_2 * centre_2 + 1.0
    a = mass_1 * centre_1 * centre_1 + mass_2 * length_1 * length_1 + 1.0
    weight_1 = (mass_1 * centre_1 + mass_2 * length_1) * gravity
    weight_2 = mass_2 * centre_2 * gravity

    angle_1 = state[0]
    angle_2 = state[1]
    spin_1 = state[2]
    spin_2 = state[3]
    # Sines and cosines are carried along by small turns: only these two need the whole way.
    base_sine_1, base_cosine_1 = sincos(angle_1)
    base_sine_2, base_cosine_2 = sincos(angle_2)
    largest = 0.0
    for _ in range(_SUB_STEPS):
        with_1, with_2 = spin_1, spin_2
        sine_1, cosine_1, sine_2, cosine_2 = base_sine_1, base_cosine_1, base_sine_2, base_cosine_2
        sum_angle_1 = sum_angle_2 = sum_spin_1 = sum_spin_2 = 0.0
        for stage in range(4):
            h_cosine = h * cosine_2
            h_sine = h * sine_2
            per_determinant = 1.0 / (a * k - h_cosine * h_cosine)
            both = with_1 + with_2
            # cos(x - pi/2) is sin(x).
            second = torque - weight_2 * (sine_1 * cosine_2 + cosine_1 * sine_2) - h_sine * (with_1 * with_1)
            total = torque + weight_1 * sine_1 - h_sine * (both * both)
            change_1 = -(k * total + h_cosine * second) * per_determinant
            change_2 = ((a + h_cosine) * second + (k + h_cosine) * total) * per_determinant
            weight = 1.0 if stage == 0 or stage == 3 else 2.0
            sum_angle_1 += weight * with_1
            sum_angle_2 += weight * with_2
            sum_spin_1 += weight * change_1
            sum_spin_2 += weight * change_2
            if stage < 3:
                # Half a sub-step before the last stage too, where Runge and Kutta take a whole one: see `acrobot`.
                turn_1 = _SUB_STEP / 2.0 * with_1
                turn_2 = _SUB_STEP / 2.0 * with_2
                sine_1, cosine_1 = turned(base_sine_1, base_cosine_1, turn_1, little)
                sine_2, cosine_2 = turned(base_sine_2, base_cosine_2, turn_2, little)
                largest = max(largest, abs(turn_1), abs(turn_2))
                with_1 = spin_1 + _SUB_STEP / 2.0 * change_1
                with_2 = spin_2 + _SUB_STEP / 2.0 * change_2
        turn_1 = _SUB_STEP / 6.0 * sum_angle_1
        turn_2 = _SUB_STEP / 6.0 * sum_angle_2
        base_sine_1, base_cosine_1 = turned(base_sine_1, base_cosine_1, turn_1, little)
        base_sine_2, base_cosine_2 = turned(base_sine_2, base_cosine_2, turn_2, little)
        largest = max(largest, abs(turn_1), abs(turn_2))
        angle_1 += turn_1
        angle_2 += turn_2
        spin_1 += _SUB_STEP / 6.0 * sum_spin_1
        spin_2 += _SUB_STEP / 6.0 * sum_spin_2
    tip = -length_1 * base_cosine_1 - length_2 * (base_cosine_1 * base_cosine_2 - base_sine_1 * base_sine_2)
    return angle_1, angle_2, spin_1, spin_2, tip, largest


@kernel
def wrapped(angle: float) -> float:
    """Return the angle within [-pi, pi)."""
    if -np.pi <= angle < np.pi:
        return angle
    return (angle + np.pi) % (2.0 * np.pi) - np.pi


def step(state: Floats, parameters: Floats, random: RandomState, action: int) -> tuple[float, int]:
    """Apply the torque for 0.2 s."""
    torque = action - 1.0
    # Slow swings, the usual case, take shorter polynomials. What was promised is checked afterwards; a promise that was
    # broken, rarely, costs a second integration and never a wrong number.
    little = abs(state[2]) < _SLOW and abs(state[3]) < _SLOW
    angle_1 = angle_2 = spin_1 = spin_2 = tip = largest = 0.0
    if little:
        angle_1, angle_2, spin_1, spin_2, tip, largest = swung(state, parameters, torque, True)
    if not (little and largest <= LITTLE):
        angle_1, angle_2, spin_1, spin_2, tip, largest = swung(state, parameters, torque, False)
    steps = state[_STEPS] + 1.0
    state[0] = wrapped(angle_1)
    state[1] = wrapped(angle_2)
    state[2] = min(max(spin_1, -_TOP_SPIN_1), _TOP_SPIN_1)
    state[3] = min(max(spin_2, -_TOP_SPIN_2), _TOP_SPIN_2)
    state[_STEPS] = steps
    if tip > parameters[2]:
        return 0.0, TERMINATED
    if steps >= _STEP_LIMIT:
        return 0.0, TRUNCATED
    return -0.1, RUNNING


def acrobot(*, random_start: bool = False) -> CompiledEnvironment:
    """Return the acrobot.

    Parameters
    ----------
    random_start
        Start every episode with both angles ~ U(-5, 5) degrees instead of exactly zero.
    """
    random_start = checked_flag("random_start", random_start)
    between = Uniform(0.8, 1.2)
    return CompiledEnvironment(
        name="acrobot" + ("[random_start=true]" if random_start else ""),
        title="Acrobot",
        summary="swing a two-link pendulum up with a torque at its middle joint",
        family="acrobot",
        states=ContinuousStates(
            names=("angle_1", "angle_2", "angular_velocity_1", "angular_velocity_2"),
            ranges=_RANGES,
            bounds=_RANGES,
        ),
        actions=("torque -1", "no torque", "torque +1"),
        budget=Budget(episodes=500),
        step_limit=_STEP_LIMIT,
        score_range=(-200.0, 0.0),
        parameters=(
            Parameter("mass_1", between, 1.0, "mass of the first link, kg"),
            Parameter("mass_2", between, 1.0, "mass of the second link, kg"),
            Parameter("length_1", between, 1.0, "length of the first link, m"),
            Parameter("length_2", between, 1.0, "length of the second link, m"),
            Parameter("gravity", Uniform(8.0, 10.0), 9.8, "gravity, m/s^2"),
        ),
        differs=(FIXED_STARTS, _STAGE_DIFFERS),
        reset=reset,
        step=step,
        state_size=5,
        constants=(1.0 if random_start else 0.0,),
    )


_RANGES = (
    (-math.pi, math.pi),
    (-math.pi, math.pi),
    (-_TOP_SPIN_1, _TOP_SPIN_1),
    (-_TOP_SPIN_2, _TOP_SPIN_2),
)

_STAGE_DIFFERS = (
    "The integrator is the classical Runge-Kutta scheme, except that its last stage is evaluated at half a sub-step "
    "instead of a whole one: what the published numbers were made with."
)
