"""Memory for kernels: rows that start at a cache line and have room for whole vectors."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

_CACHE_LINE = 64

#: The length of rows is a multiple of this, so that unrolled vector loops over them have no remainder.
LANES = 16


def padded(number: int) -> int:
    """Return ``number`` rounded up to whole vectors."""
    return -(-number // LANES) * LANES


def aligned(shape: tuple[int, ...], real: type[np.floating[Any]] = np.float64) -> NDArray[Any]:
    """Return zeros that start at a cache line."""
    size = math.prod(shape) * np.dtype(real).itemsize
    memory = np.zeros(size + _CACHE_LINE, dtype=np.uint8)
    start = -memory.ctypes.data % _CACHE_LINE
    return memory[start : start + size].view(real).reshape(shape)
