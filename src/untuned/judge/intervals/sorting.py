"""Sorting inside a kernel: NumPy's takes many times longer to compile than all the rest."""

import numpy as np

from untuned.judge.jit import kernel
from untuned.scores import Floats, Ints


@kernel
def ascending(values: Floats) -> Ints:
    """Return the indices that sort ``values``, equal ones in their order: by merging ever longer runs."""
    size = values.size
    order = np.arange(size)
    merged = np.empty(size, dtype=np.int64)
    run = 1
    while run < size:
        start = 0
        while start < size:
            middle = min(start + run, size)
            end = min(start + 2 * run, size)
            left = start
            right = middle
            for at in range(start, end):
                if left < middle and (right >= end or values[order[left]] <= values[order[right]]):
                    merged[at] = order[left]
                    left += 1
                else:
                    merged[at] = order[right]
                    right += 1
            start = end
        for at in range(size):
            order[at] = merged[at]
        run *= 2
    return order
