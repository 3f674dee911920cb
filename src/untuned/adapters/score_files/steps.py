"""Steps of learning curves."""

import numpy as np

from untuned.errors import InvalidInput
from untuned.scores import Floats


def checked(steps: Floats, where: str) -> Floats:
    """Return the steps of a curve.

    Raises
    ------
    InvalidInput
        For a step that is NaN or infinite, which has no position on the curve.
    """
    bad = np.flatnonzero(~np.isfinite(steps))
    if bad.size:
        raise InvalidInput(
            f"{where} has the step {steps[bad[0]]} at point {bad[0] + 1}: steps have to be numbers, so that points are "
            "in order"
        )
    return steps
