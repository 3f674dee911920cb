"""Simultaneous intervals on all percentiles, and which percentiles are known to be equal."""

from dataclasses import dataclass

import numpy as np

from untuned.scores import Floats, Ints

#: The label of all payoffs that are one half by construction, in `Boxes.same_aer` from `structural`.
ONE_HALF = 0


@dataclass(frozen=True, eq=False)
class Boxes:
    """Intervals that hold for all percentiles at once.

    Attributes
    ----------
    low_aer, high_aer
        The ends, inclusive; [0, 1] where there are no trials.
    same_aer
        Labels: payoffs with the same label are certainly equal, so moves between them are ties.
    share_e
        1/k for each of k variants of one environment, in the game; None where there are no variants.
    """

    low_aer: Floats
    high_aer: Floats
    same_aer: Ints
    share_e: Floats | None = None


def structural(kinds: Ints) -> Ints:
    """Return labels [a, e, r] that are equal where payoffs are equal by construction.

    That is: an algorithm against itself, or against one declared identical there, is 1/2 on every environment; and
    algorithms declared identical on an environment have the same payoffs there, as players and as references.

    Parameters
    ----------
    kinds
        ``[environment, algorithm]``, equal numbers for declared-identical algorithms.
    """
    m, n = kinds.shape
    player = kinds.T[:, :, None]
    reference = kinds[None, :, :]
    different = 1 + (np.arange(m)[None, :, None] * n + player) * n + reference
    return np.where(player == reference, ONE_HALF, different).astype(np.int64)


def equal_ends(low_aer: Floats, high_aer: Floats) -> Ints:
    """Return labels [a, e, r] that are equal where both ends of the intervals are: the paper's rule for ties.

    It is invalid: opponents that are beaten in every trial have equal intervals and different payoffs.
    """
    ends = np.stack([low_aer.ravel(), high_aer.ravel()], axis=1)
    _, numbers = np.unique(ends, axis=0, return_inverse=True)
    return numbers.reshape(low_aer.shape).astype(np.int64)
