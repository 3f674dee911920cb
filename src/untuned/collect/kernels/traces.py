"""The loops over features: weights, their traces, and products with the features of the next state, in one pass.

The weight change that a step decides on is deferred to the next step's pass. That pass updates the weights, decays the
trace, adds the gradient, and multiplies both with the next features: value = weights.phi' and overlap = trace.phi'.
Once the next change is known, the changed weights' value is value + change * overlap, and no second pass is needed.
Indices are unsigned: a signed one might count from the end, which prevents vectorising.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from untuned.collect.kernels.jit import Floats, kernel

Rows = NDArray[Any]

#: A trace below this is set to 0. It would become subnormal, which costs digits and time; and it is too small to change
#: any weight, even one that overflows.
FORGOTTEN = 2.0**-1000

#: Going through a list of traces costs this many times more per trace than going through all in order.
LIST_COSTS = 8


@kernel(inline=True)
def advance_along(
    weights: Rows,
    traces: Rows,
    row: int,
    phi: Rows,
    old: int,
    new: int,
    change: float,
    decay: float,
    gradient: float,
    guarded: bool,
) -> tuple[float, float]:
    """Update one row, its trace growing by ``gradient`` times the old features; return value and overlap.

    ``guarded`` where the trace may be NaN, as after divergence: a skipped step then changes nothing.
    """
    real = weights.dtype.type
    change_ = real(change)
    decay_ = real(decay)
    gradient_ = real(gradient)
    value = real(0.0)
    overlap = real(0.0)
    for i in range(np.uint64(weights.shape[1])):
        trace = traces[row, i]
        weight = weights[row, i] + (real(0.0) if guarded and change_ == 0.0 else change_ * trace)
        weights[row, i] = weight
        trace = decay_ * trace + gradient_ * phi[old, i]
        traces[row, i] = trace
        value += weight * phi[new, i]
        overlap += trace * phi[new, i]
    return value, overlap


@kernel(inline=True)
def advance(
    weights: Rows, traces: Rows, row: int, phi: Rows, new: int, change: float, decay: float
) -> tuple[float, float]:
    """Update one row whose trace only decays; return value and overlap."""
    real = weights.dtype.type
    change_ = real(change)
    decay_ = real(decay)
    value = real(0.0)
    overlap = real(0.0)
    for i in range(np.uint64(weights.shape[1])):
        trace = traces[row, i]
        weight = weights[row, i] + change_ * trace
        weights[row, i] = weight
        trace = decay_ * trace
        traces[row, i] = trace
        value += weight * phi[new, i]
        overlap += trace * phi[new, i]
    return value, overlap


@kernel
def finish_along(
    weights: Rows,
    traces: Rows,
    row: int,
    phi: Rows,
    old: int,
    change: float,
    decay: float,
    gradient: float,
    last: float,
    number: int,
) -> None:
    """Make the deferred change, decay the trace and add the gradient, and make the episode's last change, ``last``.

    Only ``number`` features, not the zeros after them: infinity times zero is NaN.
    """
    decay_ = weights.dtype.type(decay)
    gradient_ = weights.dtype.type(gradient)
    add(weights, traces, row, change, number)
    for i in range(np.uint64(number)):
        traces[row, i] = decay_ * traces[row, i] + gradient_ * phi[old, i]
    add(weights, traces, row, last, number)


@kernel
def add(weights: Rows, traces: Rows, row: int, change: float, number: int) -> None:
    """Change ``number`` features of one row immediately, not the zeros after them."""
    change_ = weights.dtype.type(change)
    if change_ != 0.0:
        for i in range(np.uint64(number)):
            weights[row, i] += change_ * traces[row, i]


@kernel(inline=True)
def product(weights: Rows, row: int, phi: Rows, new: int) -> float:
    """Return weights.phi for one row."""
    value: float = weights.dtype.type(0.0)
    for i in range(np.uint64(weights.shape[1])):
        value += weights[row, i] * phi[new, i]
    return value


@kernel(inline=True)
def as_weight(weights: Rows, number: float) -> float:
    """Return a number in the precision of weights: in single precision it may become infinite."""
    return np.float64(weights.dtype.type(number))


@kernel(inline=True)
def decay_and_add(weights: Floats, traces: Floats, decay: float, change: float) -> None:
    """Decay every trace, and add ``change`` times each to its weight; one flat array of either."""
    for i in range(np.uint64(weights.size)):
        trace = decay * traces[i]
        trace = 0.0 if np.abs(trace) < FORGOTTEN else trace
        traces[i] = trace
        weights[i] += change * trace if change != 0.0 else 0.0
