"""Acrobot: swing a two-link pendulum up with a torque at its middle joint, -0.1 a step.

Equations of motion: Sutton and Barto, "Reinforcement Learning: An Introduction", in the book's version.
"""

import math

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
from untuned.collect.kernels.jit import Floats, RandomState, kernel
from untuned.collect.kernels.rng import uniform
from untuned.collect.kernels.status import RUNNING, TERMINATED, TRUNCATED
from untuned.collect.kernels.trigonometry import LITTLE, SLIGHT, little_sincos, sincos, slight_sincos, wrapped

# state: angle 1, angle 2, angle 1', angle 2' (the observation), steps taken
_STEPS = 4
_STEP_LIMIT = 2000
# parameters: mass 1, mass 2, length 1, length 2, gravity; whether starts are random
_RANDOM_START = 5

_SUB_STEPS = 10
_SUB_STEP = 0.02
_TOP_SPIN_1 = 4.0 * math.pi
_TOP_SPIN_2 = 9.0 * math.pi
# Half a sub-step at this speed turns a link by 0.08, which leaves room for acceleration.
_SLOW = 8.0
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
def turned(sine: float, cosine: float, turn: float, slow: bool) -> tuple[float, float]:
    """Return the sine and cosine of an angle after a further turn; ``slow`` promises at most LITTLE."""
    turn_sine, turn_cosine = little_sincos(turn) if slow else sincos(turn)
    return sine * turn_cosine + cosine * turn_sine, cosine * turn_cosine - sine * turn_sine


@kernel(inline=True)
def nudged(sine: float, cosine: float, turn: float, slow: bool) -> tuple[float, float]:
    """Return the sine and cosine of an angle after a further turn; ``slow`` promises at most SLIGHT."""
    turn_sine, turn_cosine = slight_sincos(turn) if slow else sincos(turn)
    return sine * turn_cosine + cosine * turn_sine, cosine * turn_cosine - sine * turn_sine


@kernel(inline=True)
def accelerations(
    sine_1: float,
    cosine_1: float,
    sine_2: float,
    cosine_2: float,
    spin_1: float,
    spin_2: float,
    torque: float,
    a: float,
    k: float,
    h: float,
    weight_1: float,
    weight_2: float,
) -> tuple[float, float]:
    """Return both links' angular accelerations.

    The book's equations are the linear system::

        [ d1  d2 ] [angle_1'']   [ -phi1                                ]
        [ d2  k  ] [angle_2''] = [ torque - h angle_1'^2 sin(a2) - phi2 ]

    with d1 = a + k + 2 h cos(a2) and d2 = k + h cos(a2). Its determinant is a k - (h cos(a2))^2, and the difference of
    the two right-hand sides has neither phi2 nor a mixed term: one division, and half the operations.
    """
    h_cosine = h * cosine_2
    h_sine = h * sine_2
    per_determinant = 1.0 / (a * k - h_cosine * h_cosine)
    both = spin_1 + spin_2
    # cos(x - pi/2) is sin(x).
    second = torque - weight_2 * (sine_1 * cosine_2 + cosine_1 * sine_2) - h_sine * (spin_1 * spin_1)
    difference = torque + weight_1 * sine_1 - h_sine * (both * both)
    return (
        -(k * difference + h_cosine * second) * per_determinant,
        ((a + h_cosine) * second + (k + h_cosine) * difference) * per_determinant,
    )


@kernel(inline=True)
def swung(
    state: Floats, parameters: Floats, torque: float, slow: bool
) -> tuple[float, float, float, float, float, bool]:
    """Return the state after 0.2 s of torque, before wrapping and clipping.

    Sines and cosines are updated by rotation from one evaluation to the next: a ``slow`` swing needs only short
    polynomials for that, and sines and cosines are nearly the whole cost of a step.

    Returns
    -------
    angle_1, angle_2, spin_1, spin_2
        The state.
    tip
        Height of the tip over the pivot.
    was_slow
        Whether all turns were as small as ``slow`` promises; if not, the other results are invalid.
    """
    mass_1 = parameters[0]
    mass_2 = parameters[1]
    length_1 = parameters[2]
    length_2 = parameters[3]
    gravity = parameters[4]
    centre_1 = length_1 / 2.0
    centre_2 = length_2 / 2.0
    h = mass_2 * length_1 * centre_2
    k = mass_2 * centre_2 * centre_2 + 1.0
    a = mass_1 * centre_1 * centre_1 + mass_2 * length_1 * length_1 + 1.0
    weight_1 = (mass_1 * centre_1 + mass_2 * length_1) * gravity
    weight_2 = mass_2 * centre_2 * gravity
    half = _SUB_STEP / 2.0

    angle_1 = state[0]
    angle_2 = state[1]
    spin_1 = state[2]
    spin_2 = state[3]
    sine_1, cosine_1 = sincos(angle_1)
    sine_2, cosine_2 = sincos(angle_2)
    largest = 0.0
    largest_nudge = 0.0
    for _ in range(_SUB_STEPS):
        one_1, one_2 = accelerations(
            sine_1, cosine_1, sine_2, cosine_2, spin_1, spin_2, torque, a, k, h, weight_1, weight_2
        )
        # Half a sub-step on, with the first spins.
        turn_1 = half * spin_1
        turn_2 = half * spin_2
        sine_1, cosine_1 = turned(sine_1, cosine_1, turn_1, slow)
        sine_2, cosine_2 = turned(sine_2, cosine_2, turn_2, slow)
        two_spin_1 = spin_1 + half * one_1
        two_spin_2 = spin_2 + half * one_2
        two_1, two_2 = accelerations(
            sine_1, cosine_1, sine_2, cosine_2, two_spin_1, two_spin_2, torque, a, k, h, weight_1, weight_2
        )
        # Half a sub-step on, with the second spins: a nudge away from the place before.
        nudge_1 = half * half * one_1
        nudge_2 = half * half * one_2
        near_sine_1, near_cosine_1 = nudged(sine_1, cosine_1, nudge_1, slow)
        near_sine_2, near_cosine_2 = nudged(sine_2, cosine_2, nudge_2, slow)
        three_spin_1 = spin_1 + half * two_1
        three_spin_2 = spin_2 + half * two_2
        three_1, three_2 = accelerations(
            near_sine_1,
            near_cosine_1,
            near_sine_2,
            near_cosine_2,
            three_spin_1,
            three_spin_2,
            torque,
            a,
            k,
            h,
            weight_1,
            weight_2,
        )
        # Half a sub-step on, with the third spins, where Runge and Kutta take a whole one: see `acrobot`.
        last_1 = half * half * (two_1 - one_1)
        last_2 = half * half * (two_2 - one_2)
        near_sine_1, near_cosine_1 = nudged(near_sine_1, near_cosine_1, last_1, slow)
        near_sine_2, near_cosine_2 = nudged(near_sine_2, near_cosine_2, last_2, slow)
        four_spin_1 = spin_1 + half * three_1
        four_spin_2 = spin_2 + half * three_2
        four_1, four_2 = accelerations(
            near_sine_1,
            near_cosine_1,
            near_sine_2,
            near_cosine_2,
            four_spin_1,
            four_spin_2,
            torque,
            a,
            k,
            h,
            weight_1,
            weight_2,
        )
        # The whole sub-step, of which the first turn is done.
        whole_1 = _SUB_STEP / 6.0 * (spin_1 + 2.0 * (two_spin_1 + three_spin_1) + four_spin_1)
        whole_2 = _SUB_STEP / 6.0 * (spin_2 + 2.0 * (two_spin_2 + three_spin_2) + four_spin_2)
        rest_1 = whole_1 - turn_1
        rest_2 = whole_2 - turn_2
        sine_1, cosine_1 = turned(sine_1, cosine_1, rest_1, slow)
        sine_2, cosine_2 = turned(sine_2, cosine_2, rest_2, slow)
        angle_1 += whole_1
        angle_2 += whole_2
        spin_1 += _SUB_STEP / 6.0 * (one_1 + 2.0 * (two_1 + three_1) + four_1)
        spin_2 += _SUB_STEP / 6.0 * (one_2 + 2.0 * (two_2 + three_2) + four_2)
        if slow:
            largest = max(largest, abs(turn_1), abs(turn_2), abs(rest_1), abs(rest_2))
            largest_nudge = max(largest_nudge, abs(nudge_1), abs(nudge_2), abs(last_1), abs(last_2))
    tip = -length_1 * cosine_1 - length_2 * (cosine_1 * cosine_2 - sine_1 * sine_2)
    return angle_1, angle_2, spin_1, spin_2, tip, largest <= LITTLE and largest_nudge <= SLIGHT


def step(state: Floats, parameters: Floats, random: RandomState, action: int) -> tuple[float, int]:
    """Apply the torque for 0.2 s."""
    torque = action - 1.0
    # The promise of a slow swing is checked afterwards: if it is broken, which is rare, the step is integrated again,
    # so no number is wrong.
    angle_1 = angle_2 = spin_1 = spin_2 = tip = 0.0
    slow = abs(state[2]) < _SLOW and abs(state[3]) < _SLOW
    if slow:
        angle_1, angle_2, spin_1, spin_2, tip, slow = swung(state, parameters, torque, True)
    if not slow:
        angle_1, angle_2, spin_1, spin_2, tip, _ = swung(state, parameters, torque, False)
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
            Parameter("mass_1", between, 1.0, "mass of the first link, kg", _MODERATE),
            Parameter("mass_2", between, 1.0, "mass of the second link, kg", _MODERATE),
            Parameter("length_1", between, 1.0, "length of the first link, m", _MODERATE),
            Parameter("length_2", between, 1.0, "length of the second link, m", _MODERATE),
            Parameter("gravity", Uniform(8.0, 10.0), 9.8, "gravity, m/s^2", _MODERATE_GRAVITY),
        ),
        differs=(FIXED_STARTS, _STAGE_DIFFERS),
        reset=reset,
        step=step,
        state_size=5,
        constants=(1.0 if random_start else 0.0,),
    )


# Beyond, ten sub-steps a step no longer follow the motion, and it overflows: of 150 runs of 1,000 random steps with
# mass_1 = 0.1, the others 10 and gravity 50, 77 did. Of 10,000 runs at the corners of these ranges none did, not even
# at twice the gravity.
_MODERATE = Allowed(0.25, 4.0)
_MODERATE_GRAVITY = Allowed(0.0, 25.0, True)

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
