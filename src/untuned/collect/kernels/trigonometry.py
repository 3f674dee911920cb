"""Sine and cosine of one angle together, inline; and wrapping angles to one turn.

The C library's functions cost 8 to 10 ns each and cannot be inlined; an Acrobot step needs 160 of them. These two
polynomials on [-pi/4, pi/4] cost a fraction of that and stay within a few 1e-16 for the angles that occur here.
Coefficients: FreeBSD msun / fdlibm (Sun Microsystems, 1993), k_sin.c and k_cos.c.
"""

import numpy as np

from untuned.collect.kernels.jit import kernel

#: The largest angles of `little_sincos` and `slight_sincos`: the first omitted terms are below 3e-17.
LITTLE = 0.1
SLIGHT = 0.03

_TWO_OVER_PI = 2.0 / np.pi
# pi/2 in two parts, the first with its lower bits zero: k * _HALF_PI_HIGH is exact for |k| < 2**20.
_HALF_PI_HIGH = 1.57079632673412561417e00
_HALF_PI_LOW = 6.07710050650619224932e-11

_S1, _S2, _S3 = -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04
_S4, _S5, _S6 = 2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10
_C1, _C2, _C3 = 4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05
_C4, _C5, _C6 = -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11


@kernel(ordered=True, inline=True)
def small_sincos(angle: float) -> tuple[float, float]:
    """Return the sine and cosine of an angle within [-pi/4, pi/4]."""
    # Estrin's order: the chain of dependent operations is half as long as Horner's.
    x2 = angle * angle
    x4 = x2 * x2
    sine = angle + angle * x2 * ((_S1 + x2 * _S2) + x4 * ((_S3 + x2 * _S4) + x4 * (_S5 + x2 * _S6)))
    cosine = (1.0 - 0.5 * x2) + x4 * ((_C1 + x2 * _C2) + x4 * ((_C3 + x2 * _C4) + x4 * (_C5 + x2 * _C6)))
    return sine, cosine


@kernel(ordered=True, inline=True)
def little_sincos(angle: float) -> tuple[float, float]:
    """Return the sine and cosine of an angle within [-LITTLE, LITTLE], by Taylor's polynomials."""
    x2 = angle * angle
    x4 = x2 * x2
    sine = angle + angle * x2 * ((-1.0 / 6.0 + x2 * (1.0 / 120.0)) + x4 * (-1.0 / 5040.0 + x2 * (1.0 / 362880.0)))
    cosine = (1.0 - 0.5 * x2) + x4 * ((1.0 / 24.0 + x2 * (-1.0 / 720.0)) + x4 * (1.0 / 40320.0))
    return sine, cosine


@kernel(ordered=True, inline=True)
def slight_sincos(angle: float) -> tuple[float, float]:
    """Return the sine and cosine of an angle within [-SLIGHT, SLIGHT], by Taylor's polynomials."""
    x2 = angle * angle
    sine = angle + angle * x2 * (-1.0 / 6.0 + x2 * (1.0 / 120.0 + x2 * (-1.0 / 5040.0)))
    cosine = 1.0 + x2 * (-0.5 + x2 * (1.0 / 24.0 + x2 * (-1.0 / 720.0)))
    return sine, cosine


@kernel(ordered=True, inline=True)
def sincos(angle: float) -> tuple[float, float]:
    """Return the sine and cosine of an angle, to a few units in the last place for ``|angle|`` up to 1e5."""
    quarter = np.floor(angle * _TWO_OVER_PI + 0.5)
    reduced = (angle - quarter * _HALF_PI_HIGH) - quarter * _HALF_PI_LOW
    sine, cosine = small_sincos(reduced)
    quadrant = np.int64(quarter) & 3
    if quadrant & 1:
        sine, cosine = cosine, sine
    if quadrant == 1 or quadrant == 2:
        cosine = -cosine
    if quadrant >= 2:
        sine = -sine
    return sine, cosine


@kernel(inline=True)
def wrapped(angle: float) -> float:
    """Return the angle wrapped to [-pi, pi); an angle in that range is returned unchanged."""
    if -np.pi <= angle < np.pi:
        return angle
    return (angle + np.pi) % (2.0 * np.pi) - np.pi
