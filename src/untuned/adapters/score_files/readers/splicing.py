"""Runs that were interrupted and resumed: several pieces of a learning curve become one."""

from collections.abc import Sequence

import numpy as np

from untuned.scores import Floats

#: Steps and scores.
Piece = tuple[Floats, Floats]


def spliced(pieces: Sequence[Piece]) -> tuple[Floats, Floats, bool]:
    """Return the steps and scores of pieces that were written one after another, and whether any was resumed.

    A piece that begins at an earlier step than the end of the previous ones was resumed from a checkpoint: it replaces
    the earlier points from that step on, which training lost.
    """
    steps, scores, again = np.empty(0), np.empty(0), False
    for step, score in pieces:
        if steps.size and step.size:
            kept = steps < step[0]
            again = again or not kept.all()
            steps, scores = steps[kept], scores[kept]
        steps, scores = np.concatenate((steps, step)), np.concatenate((scores, score))
    return steps, scores, again
