"""How many comparisons share delta: those with weight, of as many algorithms as were declared beforehand.

Every interval gets the same part of delta, so the number of comparisons N decides all widths.

- **Given weights.** A percentile on an environment of weight 0 is part of no score and no difference, so nothing is
  lost if its interval is [0, 1], and the others share delta among themselves.
- **A maximum of algorithms.** Adding an algorithm because of earlier results increases N after a look: then levels
  that were spent already no longer add up to delta, and even an anytime-valid method fails. With M declared beforehand
  every level is that of m M(M - 1)/2 comparisons from the first look on. If 40 algorithms join one at a time, with
  levels for the current N, intervals miss with 7 % at delta = 0.05; with M = 40, 0.7 %.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from untuned.errors import InvalidInput
from untuned.judge.intervals.comparisons import possible
from untuned.judge.intervals.method import Conventions, Method
from untuned.judge.methods import boxes
from untuned.judge.percentiles import SELF, Percentiles
from untuned.judge.pool import Pool
from untuned.judge.simultaneous_intervals import Boxes, structural
from untuned.scores import Floats, Ints, ScoreTable


def with_weight(q_er: Floats | None, environments: int) -> Ints:
    """Return the numbers of the environments with weight; None under the game's weights: all of them."""
    return np.arange(environments) if q_er is None else np.flatnonzero(q_er.sum(axis=1) > 0.0)


def check_maximum(max_algorithms: int | None, algorithms: Sequence[str]) -> None:
    """Refuse a maximum that is smaller than the number of algorithms."""
    if max_algorithms is not None and len(algorithms) > max_algorithms:
        raise InvalidInput(
            f"max_algorithms={max_algorithms}, and there are {len(algorithms)} algorithms: pass at least "
            f"{len(algorithms)}. The number must be chosen before the first look at the scores; if it was too small, "
            "the intervals so far do not hold together with those to come"
        )


def declared_delta(delta: float, max_algorithms: int | None, pools: Sequence[Pool], q_er: Floats | None) -> float:
    """Return the part of ``delta`` for the present algorithms, if the declared maximum shares all of it."""
    counted = [pools[e] for e in with_weight(q_er, len(pools))]
    if max_algorithms is None:
        return delta
    here = possible(counted)
    return delta * here / max(here, len(counted) * max_algorithms * (max_algorithms - 1) // 2, 1)


def boxes_with_weight(
    chosen: Method,
    table: ScoreTable,
    pools: Sequence[Pool],
    estimates: Percentiles,
    delta: float,
    conventions: Conventions,
    q_er: Floats | None,
) -> Boxes:
    """Return simultaneous intervals on the percentiles that have weight; [0, 1] on those of other environments."""
    counted = with_weight(q_er, len(pools))
    if counted.size == len(pools) or conventions != "valid":
        return boxes(chosen, table, pools, estimates, delta, conventions)
    found = boxes(
        chosen,
        table.select(environments=[table.environments[e] for e in counted]),
        [pools[e] for e in counted],
        replace(
            estimates,
            z_aer=np.ascontiguousarray(estimates.z_aer[:, counted]),
            known_aer=np.ascontiguousarray(estimates.known_aer[:, counted]),
            trials_ae=np.ascontiguousarray(estimates.trials_ae[:, counted]),
        ),
        delta,
        conventions,
    )
    low_aer, high_aer = np.zeros(estimates.z_aer.shape), np.ones(estimates.z_aer.shape)
    same = (table.kinds[:, :, None] == table.kinds[:, None, :]).transpose(1, 0, 2)
    low_aer[same] = high_aer[same] = SELF
    low_aer[:, counted], high_aer[:, counted] = found.low_aer, found.high_aer
    return Boxes(low_aer, high_aer, structural(table.kinds))
