"""Oracle for the features: the Fourier cosine basis (Konidaris et al., 2011), and one feature per state."""

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# From a string, since a Python float has already lost the digits for which the long double is there.
PI = np.longdouble("3.14159265358979323846264338327950288")


def frequencies(dimensions: int, dorder: int, iorder: int) -> NDArray[np.int64]:
    """Return all coupled frequencies up to dorder, the last dimension fastest, then the single ones up to iorder."""
    rows = [list(coupled) for coupled in itertools.product(range(dorder + 1), repeat=dimensions)]
    for dimension in range(dimensions):
        for frequency in range(dorder + 1, iorder + 1):
            row = [0] * dimensions
            row[dimension] = frequency
            rows.append(row)
    return np.array(rows, dtype=np.int64)


def features(
    state: Sequence[float] | Floats, ranges: Sequence[tuple[float, float]] | Floats, dorder: int, iorder: int
) -> NDArray[np.longdouble]:
    """Return the features in long double throughout, as the truth that arithmetic in double is measured by."""
    u = []
    for x, (low, high) in zip(state, ranges, strict=True):
        u.append((np.longdouble(x) - np.longdouble(low)) / (np.longdouble(high) - np.longdouble(low)))
    result = []
    for row in frequencies(len(u), dorder, iorder):
        phase = np.longdouble(0)
        for frequency, scaled in zip(row, u, strict=True):
            phase += np.longdouble(frequency) * scaled
        result.append(np.cos(PI * phase))
    return np.array(result, dtype=np.longdouble)


class Fourier:
    """The Fourier cosine basis in double; ranges hold a (low, high) for each dimension, states are not clipped."""

    def __init__(self, ranges: Sequence[tuple[float, float]] | Floats, dorder: int, iorder: int) -> None:
        self.low = np.array([low for low, _ in ranges], dtype=np.float64)
        self.high = np.array([high for _, high in ranges], dtype=np.float64)
        self.frequencies = frequencies(len(self.low), dorder, iorder)

    @property
    def number(self) -> int:
        """How many features there are."""
        return len(self.frequencies)

    def __call__(self, observation: Floats) -> Floats:
        """Return the features of a state."""
        u = (np.asarray(observation, dtype=np.float64) - self.low) / (self.high - self.low)
        result: Floats = np.cos(np.pi * np.sum(self.frequencies * u, axis=1))
        return result


class Tabular:
    """One feature per state."""

    def __init__(self, states: int) -> None:
        self.states = states

    @property
    def number(self) -> int:
        """How many features there are."""
        return self.states

    def __call__(self, observation: Floats) -> Floats:
        """Return the one-hot vector of the state whose index is the observation's first entry."""
        result = np.zeros(self.states)
        result[int(observation[0])] = 1.0
        return result
