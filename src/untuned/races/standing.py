"""`Standing`: estimates, bounds and verdicts under one weighting, updated round by round.

Bounds only ever get narrower: they hold at all looks simultaneously, so the narrowest of all looks holds, and
verdicts are never withdrawn.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from untuned.families import shares
from untuned.judge.differences import closed, direct, equal, separate
from untuned.judge.evaluate import PARTS, default_cases
from untuned.judge.game import aggregate, equilibrium
from untuned.judge.judging import Judging
from untuned.judge.methods import ANYTIME_DEFAULT, method
from untuned.judge.multiplicity import boxes_with_weight, declared_delta
from untuned.judge.percentiles import Percentiles, percentiles
from untuned.judge.pool import pools
from untuned.judge.pooled.bounds import DIFFERENCES, VERDICTS, share_of_boxes
from untuned.judge.pooled.closure import decided, transitive
from untuned.judge.pooled.evidence import Evidence, differences
from untuned.judge.pooled.rounds import one_round
from untuned.judge.propagate import LIMITS, aggregate_goals, bounds_of, solutions
from untuned.judge.simultaneous_intervals import Boxes
from untuned.races.goals import Known
from untuned.scores import Floats, Ints, ScoreTable
from untuned.verdicts import RESOLUTION

#: Boards of up to this many cells are branched at every look; larger ones only in the final evaluation.
_SMALL = 60
#: The cost of a mixture of bets, in nats: see `untuned.judge.pooled.evidence.ROUND_SHARES`.
_MIXTURE = 2.0


class Standing(Protocol):
    """The standing under one weighting."""

    @property
    def known(self) -> Known:
        """Estimates, bounds and verdicts."""
        ...

    @property
    def q_er(self) -> Floats:
        """The weights, estimated ones for the game."""
        ...

    @property
    def nats(self) -> float:
        """The approximate logarithm of the evidence that a verdict needs."""
        ...

    @property
    def gained_ab(self) -> Floats | None:
        """The logarithm of the evidence so far that a is better than b; None where there are only bounds."""
        ...

    def look(self, table: ScoreTable, before_ae: Ints, now_ae: Ints) -> None:
        """Take a round into account: the trials of ``table`` from ``before_ae`` to ``now_ae`` of every cell."""
        ...


class UnderFixedWeights:
    """The standing from pooled evidence, for weights chosen beforehand."""

    def __init__(self, q_er: Floats, delta: float, workers: int) -> None:
        n = q_er.shape[1]
        self.q_er = q_er
        self._delta = (1.0 - share_of_boxes(q_er)) * delta
        self._workers = workers
        self._total: Evidence | None = None
        self._better = np.zeros((n, n), dtype=np.bool_)
        self._high = np.ones((n, n)) - np.eye(n)
        self.nats = math.log(n * (n - 1) / (VERDICTS * self._delta)) + _MIXTURE
        self.known = Known(np.full(n, 0.5), self._high, self._better, np.eye(n, dtype=np.bool_))

    @property
    def gained_ab(self) -> Floats | None:
        """The logarithm of the evidence that a is better than b."""
        return None if self._total is None else self._total.log_e() + _MIXTURE

    def look(self, table: ScoreTable, before_ae: Ints, now_ae: Ints) -> None:
        """Take a round into account."""
        n = len(table.algorithms)
        given = one_round(table, self.q_er, before_ae, now_ae)
        found = differences(given, None, self._workers)
        self._total = found if self._total is None else self._total + found
        tested = decided(self._total.log_e(), VERDICTS * self._delta)
        limits = self._total.lower_limit(math.log(n * (n - 1) / (DIFFERENCES * self._delta)))
        same = np.asarray(given.same_eab.all(axis=0))
        self._high = closed(np.where(same, 0.0, np.minimum(self._high, -limits.T)))
        self._better = transitive(self._better | tested | (-self._high.T > 0.0)) & ~same
        high = np.where(self._better.T, np.minimum(self._high, 0.0), self._high)
        score_a = aggregate(percentiles(pools(table)).z_aer, self.q_er)
        self.known = Known(score_a, high, self._better, same)


class UnderTheGame:
    """The standing from intervals on percentiles, for the game's weights."""

    def __init__(
        self, names: tuple[Sequence[str], Sequence[str]], judging: Judging, delta: float, workers: int
    ) -> None:
        n, m = len(names[0]), len(names[1])
        self._share_e = shares(judging.families, names[1])
        self.q_er = np.full((m, n), 1.0 / (m * n))
        self._judging = judging
        self._delta = delta
        self._workers = workers
        self.gained_ab: Floats | None = None
        self.boxes: Boxes | None = None
        self.estimates: Percentiles | None = None
        self.nats = math.log(m * n * (n - 1) / delta)
        self.known = Known(
            np.full(n, 0.5), np.ones((n, n)) - np.eye(n), np.zeros((n, n), dtype=np.bool_), np.eye(n, dtype=np.bool_)
        )

    def look(self, table: ScoreTable, before_ae: Ints, now_ae: Ints) -> None:
        """Take a round into account: all trials up to it."""
        pooled = pools(table)
        self.estimates = percentiles(pooled)
        delta = declared_delta(self._delta, self._judging.max_algorithms, pooled, None)
        found = boxes_with_weight(method(ANYTIME_DEFAULT), table, pooled, self.estimates, delta, "valid", None)
        self.boxes = replace(found, share_e=self._share_e)
        self.q_er = equilibrium(self.estimates.z_aer, share_e=self._share_e).q_er
        score_a = aggregate(self.estimates.z_aer, self.q_er)
        high_ab = differences_of(self.boxes, score_a, self._cases(table), table.kinds, self._workers)
        same = (table.kinds[:, :, None] == table.kinds[:, None, :]).all(axis=0)
        high = closed(np.minimum(self.known.high_ab, high_ab))
        better = transitive(self.known.better_ab | (high.T < -RESOLUTION)) & ~same
        self.known = Known(score_a, high, better, same)

    def _cases(self, table: ScoreTable) -> int:
        n, m = table.trials.shape
        if self._judging.refine is not None:
            return self._judging.refine
        return default_cases(n, m) if n * m <= _SMALL else 0


def differences_of(boxes: Boxes, score_a: Floats, cases: int, kinds: Ints, workers: int) -> Floats:
    """Return upper bounds on all differences of scores under the game's weights, [a, b]."""
    solved = solutions(aggregate_goals(boxes), boxes, parts=PARTS, limits=LIMITS, workers=workers)
    found = direct(
        boxes,
        PARTS,
        [each.values for each in solved],
        score_a,
        separate(bounds_of(solved)),
        budget=cases,
        workers=workers,
    )
    return equal(found, kinds).high_ab
