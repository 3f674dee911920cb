"""Averages over all pairings of two samples of the products that betting multiplies: rook polynomials.

Write the payoffs h of c trials of r (columns) against b trials of a (rows) on a board: 1 where a's trial is better, 1/2
where they tie, 0 elsewhere. A pairing puts every trial of the smaller sample on a square of its own, no two in a row or
column, like rooks that do not attack one another. The average over all pairings of the product of 1 + w h is

    sum over k of t_k w^k,   t_k = r_k (m - k)!/m!,   m = max(b, c),

r_k the sum over all placements of k such rooks of the product of their squares: a placement of k is part of
(m - k)!/m! of all pairings. Sorted by score, the squares that are not 0 form steps, and columns can be added one group
of ties after another, highest scores first: with y columns and x rows in the group and `above` rows above it, where all
rooks so far stand,

    k rooks become k + l + i in  C(y, l) x(x-1)...(x-l+1) 2^-l  C(y-l, i) (above-k)(above-k-1)...(above-k-i+1)  ways,

l on tied squares and i above them. Everything is positive; nothing is lost by cancellation.
"""

import math

import numpy as np

from untuned.judge.intervals.sorting import ascending
from untuned.judge.jit import kernel
from untuned.scores import Floats

# Sums are scaled down by this as soon as they exceed it.
_LARGE = 1e200
_LOG_LARGE = math.log(_LARGE)


@kernel
def pairing_averages(first: Floats, second: Floats) -> Floats:
    """Return t_0, ..., t_n for the payoffs of ``first`` against ``second``, n the smaller number of trials."""
    rows = first[ascending(first)]
    columns = second[ascending(second)]
    larger = max(rows.size, columns.size)
    smaller = min(rows.size, columns.size)
    found = np.zeros(smaller + 1)
    found[0] = 1.0
    before = np.empty(smaller + 1)
    placed = 0
    row = rows.size - 1
    column = columns.size - 1
    above = 0
    while column >= 0:
        score = columns[column]
        while row >= 0 and rows[row] > score:
            row -= 1
            above += 1
        tied_columns = 0
        while column >= 0 and columns[column] == score:
            column -= 1
            tied_columns += 1
        tied_rows = 0
        while row >= 0 and rows[row] == score:
            row -= 1
            tied_rows += 1
        if tied_rows == 0:
            for _ in range(tied_columns):
                placed = min(placed + 1, smaller)
                for k in range(placed, 0, -1):
                    if above >= k:
                        found[k] += found[k - 1] * (above - k + 1.0) / (larger - k + 1.0)
        else:
            for k in range(placed + 1):
                before[k] = found[k]
                found[k] = 0.0
            for k in range(placed + 1):
                halves = before[k]
                for l in range(min(tied_rows, tied_columns, smaller - k) + 1):  # noqa: E741
                    if l > 0:
                        halves *= 0.5 * (tied_columns - l + 1.0) * (tied_rows - l + 1.0)
                        halves /= l * (larger - k - l + 1.0)
                    wins = halves
                    for i in range(min(tied_columns - l, above - k, smaller - k - l) + 1):
                        if i > 0:
                            wins *= (
                                (tied_columns - l - i + 1.0) * (above - k - i + 1.0) / i / (larger - k - l - i + 1.0)
                            )
                        found[k + l + i] += wins
            placed = min(placed + tied_columns, smaller)
            above += tied_rows
    return found


@kernel
def log_polynomial(coefficients: Floats, w: float) -> float:
    """Return the logarithm of a polynomial without negative coefficients at ``w`` > 0, without overflow."""
    value = 0.0
    scale = 1.0
    shift = 0.0
    for k in range(coefficients.size - 1, -1, -1):
        value = value * w + coefficients[k] * scale
        if value > _LARGE:
            value /= _LARGE
            scale /= _LARGE
            shift += _LOG_LARGE
    return math.log(value) + shift
