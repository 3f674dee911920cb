"""What tests of bounds have in common."""

from collections.abc import Sequence

import numpy as np

from untuned.judge.propagate import LIMITS, Goal, Limits, solutions
from untuned.judge.simultaneous_intervals import Boxes
from untuned.scores import Floats


def maxima(rewards: Sequence[Floats], boxes: Boxes, limits: Limits = LIMITS) -> tuple[Floats, float]:
    """Return, for every reward, the largest average over all games the boxes allow, as published; and the slack."""
    found = solutions([Goal(np.asarray(reward)) for reward in rewards], boxes, limits=limits)
    return np.array([each.bound for each in found]), max(each.slack for each in found)
