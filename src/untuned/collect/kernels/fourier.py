"""Fourier cosine features as tensor products: a sine and cosine per dimension, then a multiply-subtract per feature.

cos(pi c.u) is the real part of the product over dimensions of exp(i pi c_k u_k). The powers of each dimension come by
recurrence, the products over the first and over the last half of the dimensions are in two small tables, and every
coupled feature is the real part of one entry times another. Compared with a cosine per feature this is 13 to 98 times
faster, and more accurate.

A basis is laid out as the coupled features, the last dimension's frequency varying fastest, then for each dimension its
single frequencies, then zeros up to a multiple of `memory.LANES` so that loops over features have no remainder.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from untuned.collect.kernels.jit import Floats, kernel
from untuned.collect.kernels.memory import aligned, padded
from untuned.collect.kernels.trigonometry import small_sincos

_LARGE = 2.0**20


@kernel(ordered=True, inline=True)
def sincospi(x: float) -> tuple[float, float]:
    """Return sin(pi x) and cos(pi x); the reduction is exact, so the error stays within 2e-16 however large x is."""
    if np.abs(x) > _LARGE:
        # The remainder is exact as well; it keeps the terms below from being rounded away.
        x = x % 2.0
    quarter = np.floor(2.0 * x + 0.5)
    sine, cosine = small_sincos((x - 0.5 * quarter) * np.pi)
    quadrant = np.int64(quarter) & 3
    if quadrant & 1:
        sine, cosine = cosine, sine
    if quadrant == 1 or quadrant == 2:
        cosine = -cosine
    if quadrant >= 2:
        sine = -sine
    return sine, cosine


class Basis(NamedTuple):
    """A basis in the form that kernels take: the layout of its features, and the tables they are computed from.

    Parameters
    ----------
    scaling
        Scales an observation: u = (x - scaling[0]) * scaling[1], per dimension.
    powers
        cos(pi k u) and sin(pi k u), shape (2, dimensions, coupled and single frequencies).
    halves
        Products over the first and over the last dimensions, shape (2, 2, entries): real parts, imaginary parts.
    frequencies
        Coupled frequencies per dimension: dorder + 1.
    rows, width
        Entries of the first and of the last table; there are rows * width coupled features.
    number, size
        Number of features, without and with the zeros after them.
    """

    scaling: Floats
    powers: Floats
    halves: NDArray[Any]
    frequencies: int
    rows: int
    width: int
    number: int
    size: int


def basis(ranges: Sequence[tuple[float, float]], dorder: int, iorder: int, real: type[np.floating[Any]]) -> Basis:
    """Return memory and layout for a basis over states with these ranges."""
    dimensions = len(ranges)
    frequencies = dorder + 1
    singles = max(0, iorder - dorder)
    lows, highs = np.array(ranges, dtype=np.float64).T
    rows = frequencies ** (dimensions // 2)
    width = frequencies ** (dimensions - dimensions // 2)
    number = rows * width + dimensions * singles
    powers = np.zeros((2, dimensions, frequencies + singles))
    powers[0] = 1.0
    return Basis(
        scaling=np.array([lows, 1.0 / (highs - lows)]),
        powers=powers,
        halves=aligned((2, 2, padded(width)), real),
        frequencies=frequencies,
        rows=rows,
        width=width,
        number=number,
        size=padded(number),
    )


# Not inlined: all agents share it, and compiling it into each would take seconds at the first run.
@kernel
def write_features(basis: Basis, state: Floats, phi: NDArray[Any], row: int) -> None:
    """Write the features of a state into ``phi[row]``; the zeros after them stay."""
    dimensions = basis.powers.shape[1]
    place = basis.rows * basis.width
    for dimension in range(dimensions):
        sine, cosine = sincospi((state[dimension] - basis.scaling[0, dimension]) * basis.scaling[1, dimension])
        c = 1.0
        s = 0.0
        for k in range(1, basis.powers.shape[2]):
            c, s = c * cosine - s * sine, s * cosine + c * sine
            basis.powers[0, dimension, k] = c
            basis.powers[1, dimension, k] = s
            if k >= basis.frequencies:
                phi[row, place] = c
                place += 1
    # A loop, so that the code occurs once: compiling it is a large part of the first run.
    for half in range(2):
        start = half * (dimensions // 2)
        stop = dimensions if half == 1 else dimensions // 2
        _write_products(basis.powers, start, stop, basis.frequencies, basis.halves, half)
    # Unsigned, because a signed index might count from the end, and a loop with that check cannot be vectorised.
    for i in range(basis.rows):
        real = basis.halves[0, 0, i]
        imaginary = basis.halves[0, 1, i]
        offset = np.uint64(i * basis.width)
        for k in range(np.uint64(basis.width)):
            phi[row, offset + k] = real * basis.halves[1, 0, k] - imaginary * basis.halves[1, 1, k]


@kernel(inline=True)
def _write_products(powers: Floats, start: int, stop: int, frequencies: int, halves: NDArray[Any], half: int) -> None:
    """Fill one half's table with the products over dimensions start..stop-1, the last one's frequency fastest."""
    halves[half, 0, 0] = 1.0
    halves[half, 1, 0] = 0.0
    size = 1
    for dimension in range(start, stop):
        # From the end, so that every entry is read before it is overwritten; and in one loop, not one per entry: most
        # are so short that starting a loop costs more than running it.
        i = size - 1
        k = frequencies - 1
        size *= frequencies
        for j in range(size - 1, -1, -1):
            c = halves[half, 0, i]
            s = halves[half, 1, i]
            halves[half, 0, j] = c * powers[0, dimension, k] - s * powers[1, dimension, k]
            halves[half, 1, j] = c * powers[1, dimension, k] + s * powers[0, dimension, k]
            k -= 1
            if k < 0:
                k = frequencies - 1
                i -= 1


@kernel
def squared_norm(basis: Basis) -> float:
    """Return phi.phi for the state whose features were written last, without a pass over the features.

    cos^2 x = (1 + cos 2x) / 2, and the sum of cos(2 pi c.u) over all coupled frequencies c is the real part of a
    product over dimensions of sums over frequencies.
    """
    real = 1.0
    imaginary = 0.0
    alone = 0.0
    for dimension in range(basis.powers.shape[1]):
        # The sums of cos(2 pi k u) and sin(2 pi k u): 1 and 0 for the zeroth frequency.
        double_cosine = 1.0
        double_sine = 0.0
        for k in range(1, basis.powers.shape[2]):
            c = basis.powers[0, dimension, k]
            if k < basis.frequencies:
                s = basis.powers[1, dimension, k]
                double_cosine += c * c - s * s
                double_sine += 2.0 * c * s
            else:
                alone += c * c
        real, imaginary = (
            real * double_cosine - imaginary * double_sine,
            real * double_sine + imaginary * double_cosine,
        )
    return 0.5 * (basis.rows * basis.width + real) + alone
