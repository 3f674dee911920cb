"""The game that weighs environments and references, and its equilibrium (the paper's Section 4.2 and Appendix B).

One player chooses an algorithm a and wants z[a, e, r] high; the other chooses an environment and a reference (e, r) and
wants it low. From a joint strategy s = (a, (e, r)) either may move alone: with probability eta to each choice that is
strictly better for the mover, eta/50 to each that is equal, and else nothing happens. With probability 1 - gamma the
walk jumps to a strategy chosen at random. The long-run share of (e, r) is its weight q[e, r], and

    y[a] = sum over (e, r) of q[e, r] z[a, e, r].

States are kept as a board [a, k] with k = e n + r: a move of the first player stays in a column, one of the second in a
row, so that sorting every row and column turns the transition matrix into prefix sums; the matrix is never built.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from untuned.judge import bicgstab
from untuned.judge.arrays import copy, magnitude
from untuned.judge.jit import kernel
from untuned.scores import Floats

Places = NDArray[np.int32]

#: A move to an equal payoff is rarer than one to a better payoff by this factor: alpha-rank's population size.
POPULATION = 50


class Constants(NamedTuple):
    """Constants that depend on the size of the board; variants of one environment count as one environment."""

    eta: float
    gamma: float
    states: int


def constants(algorithms: int, families: int) -> Constants:
    """Return eta = 1/((n - 1) + (m n - 1)), gamma = (|S| - 1)/|S| and |S| = n m n for m families."""
    columns = families * algorithms
    states = algorithms * columns
    moves = (algorithms - 1) + (columns - 1)
    return Constants(1.0 / moves if moves else 0.0, (states - 1) / states, states)


def column_shares(share_e: Floats | None, algorithms: int, environments: int) -> tuple[Floats, int]:
    """Return the share of every column in its family, and the number of families.

    ``share_e`` is 1/k for each of k variants of one environment; None where there are no variants.
    """
    each_e = np.ones(environments) if share_e is None else share_e
    return np.repeat(each_e, algorithms), round(float(each_e.sum()))


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """The long-run distribution of the walk.

    Attributes
    ----------
    d_aer
        The share of every joint strategy, summing to 1.
    q_er
        The weight of every environment and reference.
    p_a
        The share of every algorithm.
    error
        The largest error any weighted average of payoffs in [0, 1] can have, from the residual of the solution.
    """

    d_aer: Floats
    q_er: Floats
    p_a: Floats
    error: float


#: The equilibrium is solved until no aggregate can be wrong by more than this.
TOLERANCE = 1e-12


def equilibrium(z_aer: Floats, tolerance: float = TOLERANCE, *, share_e: Floats | None = None) -> Equilibrium:
    """Return the equilibrium of the game whose payoffs are ``z_aer``, shape (n, m, n).

    Numerically equal payoffs are ties. A larger ``tolerance`` is faster and has a larger error.
    ``share_e`` is as in `column_shares`.
    """
    n, m, _ = z_aer.shape
    board = np.ascontiguousarray(z_aer.reshape(n, m * n))
    share_k, families = column_shares(share_e, n, m)
    eta, gamma, states = constants(n, families)
    d = np.tile(share_k / states, (n, 1))
    error = float(stationary(board[None], share_k, eta, gamma, d[None], tolerance)[0])
    d /= d.sum()
    d_aer = d.reshape(n, m, n)
    return Equilibrium(d_aer, d_aer.sum(axis=0), d_aer.sum(axis=(1, 2)), error)


def aggregate(z_aer: Floats, q_er: Floats) -> Floats:
    """Return y[a], the average of ``z_aer`` under the weights ``q_er``."""
    y_a: Floats = np.einsum("aer,er->a", z_aer, q_er)
    return y_a


@kernel
def stationary(boards: Floats, share_k: Floats, eta: float, gamma: float, d: Floats, tolerance: float) -> Floats:
    """Improve each board's ``d`` until it is the damped walk's long-run distribution; return the certified errors.

    Boards are stacked, ``[board, a, k]``, so that many small ones take one call. ``share_k`` is from `column_shares`.
    """
    errors = np.empty(boards.shape[0])
    for b in range(boards.shape[0]):
        errors[b] = _settle(boards[b], share_k, eta, gamma, d[b], tolerance)
    return errors


@kernel(inline=True)
def _settle(board: Floats, share_k: Floats, eta: float, gamma: float, d: Floats, tolerance: float) -> float:
    """Improve one board's ``d``, and return its certified error.

    Solves d = (1 - gamma) (start) + gamma d C by BiCGSTAB with the diagonal as preconditioner, from where ``d`` stands.
    C has rows that sum to 1, so the residual's sum of magnitudes over 1 - gamma bounds that of d's error.
    """
    n, columns = board.shape
    states = 0.0
    for k in range(columns):
        states += n * share_k[k]
    start_k = np.empty(columns)
    for k in range(columns):
        start_k[k] = (1.0 - gamma) / states * share_k[k]
    by_column, column_ends = _column_orders(board)
    by_row, row_ends = _row_orders(board)
    work = bicgstab.workspace(n, columns)
    _outflow(by_column, column_ends, by_row, row_ends, share_k, eta, gamma, work.diagonal)

    best = np.empty((n, columns))
    copy(d, best)
    error = np.inf
    stuck = 0
    for _ in range(_RESTARTS):
        _walk(d, by_column, column_ends, by_row, row_ends, share_k, eta, gamma, work.diagonal, work.residual)
        size = _complement(start_k, work.residual) / (1.0 - gamma)
        gained = size <= 0.5 * error
        if size < error:
            error = size
            copy(d, best)
        if error <= tolerance:
            break
        if not gained:
            # Either the precision is exhausted, or the method has broken down. Another residual may do better.
            stuck += 1
            if stuck > _STUCK:
                break
            copy(best, d)
            _walk(d, by_column, column_ends, by_row, row_ends, share_k, eta, gamma, work.diagonal, work.residual)
            _complement(start_k, work.residual)
            for _ in range(_SWEEPS):
                bicgstab.sweep(work, d)
                _walk(d, by_column, column_ends, by_row, row_ends, share_k, eta, gamma, work.diagonal, work.residual)
                _complement(start_k, work.residual)
        bicgstab.begin(work)
        for _ in range(_ITERATIONS):
            if not bicgstab.aim(work):
                break
            _walk(work.scaled, by_column, column_ends, by_row, row_ends, share_k, eta, gamma, work.diagonal, work.image)
            if not bicgstab.first_step(work, d):
                break
            _walk(
                work.scaled,
                by_column,
                column_ends,
                by_row,
                row_ends,
                share_k,
                eta,
                gamma,
                work.diagonal,
                work.second_image,
            )
            if not bicgstab.second_step(work, d):
                break
            size = magnitude(work.residual)
            if size / (1.0 - gamma) <= 0.3 * tolerance or not size < bicgstab.EXPLODED:
                break
    copy(best, d)
    return error


@kernel
def _complement(start_k: Floats, image: Floats) -> float:
    """Turn the product with d into the residual, and return the sum of its magnitudes."""
    rows, columns = image.shape
    size = 0.0
    for a in range(rows):
        for k in range(columns):
            image[a, k] = start_k[k] - image[a, k]
            size += abs(image[a, k])
    return size


_RESTARTS = 20
_ITERATIONS = 400
_STUCK = 5
_SWEEPS = 10


@kernel
def _column_orders(board: Floats) -> tuple[Places, Places]:
    """Return, per column, the algorithms in ascending order, and for each place where its run of equals ends."""
    n, columns = board.shape
    order = np.empty((columns, n), dtype=np.int32)
    ends = np.empty((columns, n), dtype=np.int32)
    for k in range(columns):
        for i in range(n):
            # Insertion: columns are short, and nearly everything else costs more.
            a = i
            value = board[a, k]
            j = i
            while j > 0 and board[order[k, j - 1], k] > value:
                order[k, j] = order[k, j - 1]
                j -= 1
            order[k, j] = a
        end = n
        for i in range(n - 1, -1, -1):
            if i + 1 < n and board[order[k, i], k] != board[order[k, i + 1], k]:
                end = i + 1
            ends[k, i] = end
    return order, ends


@kernel
def _row_orders(board: Floats) -> tuple[Places, Places]:
    """Return, per row, the columns in ascending order, and for each place where its run of equals ends."""
    n, columns = board.shape
    order = np.empty((n, columns), dtype=np.int32)
    ends = np.empty((n, columns), dtype=np.int32)
    for a in range(n):
        row = np.argsort(board[a])
        end = columns
        for i in range(columns - 1, -1, -1):
            order[a, i] = row[i]
            if i + 1 < columns and board[a, row[i]] != board[a, row[i + 1]]:
                end = i + 1
            ends[a, i] = end
    return order, ends


@kernel
def _outflow(
    by_column: Places,
    column_ends: Places,
    by_row: Places,
    row_ends: Places,
    share_k: Floats,
    eta: float,
    gamma: float,
    diagonal: Floats,
) -> None:
    """Write the diagonal of I - gamma C."""
    columns, n = by_column.shape
    for k in range(columns):
        first = 0
        while first < n:
            end = column_ends[k, first]
            leaving = eta * (n - end) + eta / POPULATION * (end - first - 1)
            for i in range(first, end):
                diagonal[by_column[k, i], k] = leaving
            first = end
    for a in range(n):
        first = 0
        below = 0.0
        while first < columns:
            end = row_ends[a, first]
            here = 0.0
            for i in range(first, end):
                here += share_k[by_row[a, i]]
            for i in range(first, end):
                k = by_row[a, i]
                leaving = eta * below + eta / POPULATION * (here - share_k[k])
                diagonal[a, k] = (1.0 - gamma) + gamma * (diagonal[a, k] + leaving)
            below += here
            first = end


@kernel
def _walk(
    d: Floats,
    by_column: Places,
    column_ends: Places,
    by_row: Places,
    row_ends: Places,
    share_k: Floats,
    eta: float,
    gamma: float,
    diagonal: Floats,
    image: Floats,
) -> None:
    """Write d (I - gamma C): what leaves each state less what arrives there."""
    columns, n = by_column.shape
    tie = eta / POPULATION
    for a in range(n):
        for k in range(columns):
            image[a, k] = diagonal[a, k] * d[a, k]
    for k in range(columns):
        # The first player climbs: everything below arrives.
        below = 0.0
        first = 0
        while first < n:
            end = column_ends[k, first]
            here = 0.0
            for i in range(first, end):
                here += d[by_column[k, i], k]
            for i in range(first, end):
                a = by_column[k, i]
                image[a, k] -= gamma * (eta * below + tie * (here - d[a, k]))
            below += here
            first = end
    for a in range(n):
        # The second player descends: everything above arrives.
        everything = 0.0
        for k in range(columns):
            everything += d[a, k]
        so_far = 0.0
        first = 0
        while first < columns:
            end = row_ends[a, first]
            here = 0.0
            for i in range(first, end):
                here += d[a, by_row[a, i]]
            so_far += here
            for i in range(first, end):
                k = by_row[a, i]
                image[a, k] -= gamma * share_k[k] * (eta * (everything - so_far) + tie * (here - d[a, k]))
            first = end
