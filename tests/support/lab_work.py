"""What other processes of the lab have to find by name: pieces of work, and interval methods of a user's own."""

import os
import time
from collections.abc import Mapping, Sequence
from typing import IO, Any

import numpy as np

from untuned.collect.engines.engine import Stop
from untuned.judge.methods import Conventions, Method
from untuned.judge.percentiles import Percentiles
from untuned.judge.pool import Pool
from untuned.scores import Floats, ScoreTable


def multiplied(shared: int, piece: int, stop: Stop) -> Mapping[str, Any] | None:
    return None if stop() else {"product": shared * piece, "process": os.getpid()}


def named(shared: IO[str], piece: int, stop: Stop) -> Mapping[str, Any] | None:
    return {"name": shared.name}


def refuses_three(shared: int, piece: int, stop: Stop) -> Mapping[str, Any] | None:
    if piece == 3:
        raise ZeroDivisionError("three is too many")
    return multiplied(shared, piece, stop)


def dies_of_three(shared: int, piece: int, stop: Stop) -> Mapping[str, Any] | None:
    if piece == 3:
        os._exit(7)
    return multiplied(shared, piece, stop)


def waits(shared: float, piece: int, stop: Stop) -> Mapping[str, Any] | None:
    """Take ``shared`` seconds, unless it is the first piece, which takes none."""
    deadline = time.monotonic() + (shared if piece else 0.0)
    while time.monotonic() < deadline:
        if stop():
            return None
        time.sleep(0.01)
    return {"piece": piece}


def around(z: Floats, half: float) -> tuple[Floats, Floats]:
    """Return intervals of this half width, cut to [0, 1]; an algorithm against itself is known."""
    itself = np.eye(len(z), dtype=bool)[:, None, :].repeat(z.shape[1], axis=1)
    return np.where(itself, 0.5, (z - half).clip(0.0, 1.0)), np.where(itself, 0.5, (z + half).clip(0.0, 1.0))


def _lie(
    table: ScoreTable, pools: Sequence[Pool], estimates: Percentiles, delta: float, conventions: Conventions
) -> tuple[Floats, Floats]:
    return around(estimates.z_aer, 1e-6)


def _admit(
    table: ScoreTable, pools: Sequence[Pool], estimates: Percentiles, delta: float, conventions: Conventions
) -> tuple[Floats, Floats]:
    return around(estimates.z_aer, 1.0)


def _lie_at_first(
    table: ScoreTable, pools: Sequence[Pool], estimates: Percentiles, delta: float, conventions: Conventions
) -> tuple[Floats, Floats]:
    """Say that everything is even as long as there are few trials, and nothing at all later."""
    few = int(table.trials.max()) < 10
    return around(np.full_like(estimates.z_aer, 0.5), 1e-6 if few else 1.0)


# With a promise for any time, since evaluations then take nothing but the intervals into account.
LYING = Method("lying", "Lying", True, "the estimate, and nothing else", False, _lie, anytime=True)
HONEST = Method("honest", "Honest", True, "anything from 0 to 1", False, _admit, anytime=True)
HASTY = Method("hasty", "Hasty", True, "wrong at the first look, then honest", False, _lie_at_first, anytime=True)
