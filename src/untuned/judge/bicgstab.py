"""BiCGSTAB (van der Vorst, 1992), split at its two products with the matrix, which the caller computes.

Kernels that take functions as arguments cannot be cached, so each solver writes its own loop, ::

    begin(work)
    for _ in range(iterations):
        if not aim(work): break
        ...                            # work.image = A work.scaled
        if not first_step(work, x): break
        ...                            # work.second_image = A work.scaled
        if not second_step(work, x): break
        ...                            # is work.residual small enough?

where ``work.residual`` is b - A x at all times, and the diagonal of A is the preconditioner. A step that returns False
means that the method has broken down, as it does from some residuals; x is then unchanged.
"""

from typing import NamedTuple

import numpy as np

from untuned.judge.arrays import copy, fill, product_sum
from untuned.judge.jit import kernel
from untuned.scores import Floats


class Work(NamedTuple):
    """The arrays of one solution, all of the shape of x, but for three numbers from the last iteration.

    Attributes
    ----------
    diagonal
        Diagonal of the matrix; given.
    residual
        b - A x; set by the caller at the start, then kept up to date.
    scaled
        The vector that the caller multiplies next.
    image, second_image
        Where the caller writes the two products of an iteration.
    shadow, direction, numbers
        Internal state of the method.
    """

    diagonal: Floats
    residual: Floats
    scaled: Floats
    image: Floats
    second_image: Floats
    shadow: Floats
    direction: Floats
    numbers: Floats


_RHO, _ALPHA, _OMEGA = 0, 1, 2

#: A residual of this size, or NaN, means that the solver broke down.
EXPLODED = 1e100


@kernel
def workspace(rows: int, columns: int) -> Work:
    """Return memory for solutions of one shape."""
    return Work(
        np.empty((rows, columns)),
        np.empty((rows, columns)),
        np.empty((rows, columns)),
        np.empty((rows, columns)),
        np.empty((rows, columns)),
        np.empty((rows, columns)),
        np.empty((rows, columns)),
        np.ones(3),
    )


@kernel
def begin(work: Work) -> None:
    """Start from the current residual."""
    copy(work.residual, work.shadow)
    fill(work.direction, 0.0)
    fill(work.image, 0.0)
    for number in range(3):
        work.numbers[number] = 1.0


@kernel
def aim(work: Work) -> bool:
    """Choose the search direction, and put it into ``scaled``."""
    rho = product_sum(work.shadow, work.residual)
    omega = work.numbers[_OMEGA]
    if rho == 0.0 or omega == 0.0:
        return False
    beta = (rho / work.numbers[_RHO]) * (work.numbers[_ALPHA] / omega)
    work.numbers[_RHO] = rho
    rows, columns = work.residual.shape
    for a in range(rows):
        for k in range(columns):
            ahead = work.residual[a, k] + beta * (work.direction[a, k] - omega * work.image[a, k])
            work.direction[a, k] = ahead
            work.scaled[a, k] = ahead / work.diagonal[a, k]
    return True


@kernel
def first_step(work: Work, x: Floats) -> bool:
    """Step along the search direction, and put the residual's direction into ``scaled``."""
    against = product_sum(work.shadow, work.image)
    if against == 0.0:
        return False
    alpha = work.numbers[_RHO] / against
    work.numbers[_ALPHA] = alpha
    rows, columns = x.shape
    for a in range(rows):
        for k in range(columns):
            x[a, k] += alpha * work.scaled[a, k]
            work.residual[a, k] -= alpha * work.image[a, k]
            work.scaled[a, k] = work.residual[a, k] / work.diagonal[a, k]
    return True


@kernel
def second_step(work: Work, x: Floats) -> bool:
    """Step along the residual to where it is smallest."""
    square = product_sum(work.second_image, work.second_image)
    if square == 0.0:
        return False
    omega = product_sum(work.second_image, work.residual) / square
    work.numbers[_OMEGA] = omega
    rows, columns = x.shape
    for a in range(rows):
        for k in range(columns):
            x[a, k] += omega * work.scaled[a, k]
            work.residual[a, k] -= omega * work.second_image[a, k]
    return True


@kernel
def sweep(work: Work, x: Floats) -> None:
    """Make one step of Jacobi's method, which never breaks down; the residual must be computed again."""
    rows, columns = x.shape
    for a in range(rows):
        for k in range(columns):
            x[a, k] += work.residual[a, k] / work.diagonal[a, k]
