"""Plain loops over boards. Numba compiles these in a tenth of the time that slices and NumPy's functions take."""

from untuned.judge.jit import kernel
from untuned.scores import Floats


@kernel
def copy(source: Floats, target: Floats) -> None:
    """Copy one board to another."""
    rows, columns = source.shape
    for a in range(rows):
        for k in range(columns):
            target[a, k] = source[a, k]


@kernel
def fill(target: Floats, value: float) -> None:
    """Write one number everywhere."""
    rows, columns = target.shape
    for a in range(rows):
        for k in range(columns):
            target[a, k] = value


@kernel
def product_sum(first: Floats, second: Floats) -> float:
    """Return the sum of the products of two boards' numbers."""
    rows, columns = first.shape
    total = 0.0
    for a in range(rows):
        for k in range(columns):
            total += first[a, k] * second[a, k]
    return total


@kernel
def magnitude(values: Floats) -> float:
    """Return the sum of magnitudes."""
    rows, columns = values.shape
    total = 0.0
    for a in range(rows):
        for k in range(columns):
            total += abs(values[a, k])
    return total


@kernel
def extent(values: Floats) -> tuple[float, float]:
    """Return the lowest and the highest of a board's numbers; NaN if one is NaN."""
    rows, columns = values.shape
    lowest = highest = values[0, 0]
    total = 0.0
    for a in range(rows):
        for k in range(columns):
            value = values[a, k]
            lowest = min(lowest, value)
            highest = max(highest, value)
            total += value
    # Comparisons with NaN are false; sums with NaN are NaN.
    nothing = total - total
    return lowest + nothing, highest + nothing


@kernel
def column_mean(values: Floats, share: Floats) -> float:
    """Return the mean of a board's numbers, where column k counts ``share[k]``."""
    rows, columns = values.shape
    total = 0.0
    weight = 0.0
    for k in range(columns):
        weight += share[k]
    for a in range(rows):
        for k in range(columns):
            total += share[k] * values[a, k]
    mean: float = total / (rows * weight)
    return mean
