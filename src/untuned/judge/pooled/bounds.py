"""`pooled`: verdicts and bounds for weights chosen beforehand, from evidence pooled over environments.

Four statements share delta, in fixed parts: verdicts by closed testing; intervals on scores and on differences; how
far weights may change before a verdict fails; and head-to-head comparisons.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from untuned.evaluation import HeadToHead
from untuned.judge.differences import closed
from untuned.judge.intervals.method import Method
from untuned.judge.percentiles import Percentiles
from untuned.judge.pool import Pool
from untuned.judge.pooled.closure import decided, transitive
from untuned.judge.pooled.evidence import (
    Advance,
    Bools,
    Evidence,
    Weighed,
    differences,
    head_to_head,
    scores_above,
    scores_below,
    weighed,
)
from untuned.judge.pooled.rounds import in_rounds
from untuned.judge.propagate import Bounds, weighted
from untuned.judge.simultaneous_intervals import Boxes
from untuned.judge.threads import Progress, counter
from untuned.scores import Floats, ScoreTable
from untuned.verdicts import Pairs

#: Parts of delta. The statements needed most often get most of it; halving a part costs 0.7 of about ten nats.
VERDICTS, DIFFERENCES, SCORES, CAPS, WINS, WIN_INTERVALS = 0.7, 0.08, 0.04, 0.04, 0.1, 0.04

#: Below this effective number of environments of equal weight, little evidence adds up: intervals on percentiles get a
#: part of delta and bound scores, too. Those of the game's ranking, where it exists, do so at no cost.
SPREAD = 3
SHARE_OF_BOXES = 0.5

# Kinds of evidence: for differences, for scores above and below, and head to head.
_KINDS = 4

METHOD = Method(
    "pooled",
    "Pooled",
    True,
    "evidence added up over environments, for weights chosen beforehand; the most from few trials",
    False,
    None,
    fixed=True,
)


@dataclass(frozen=True, eq=False)
class Pooled:
    """Results of pooled evidence, which hold simultaneously with probability at least 1 - delta.

    Attributes
    ----------
    bounds
        On the scores.
    pairs
        On their differences, with verdicts.
    cap_ab
        How many times its weight an environment may count before "a is better than b" may fail; NaN where it is open.
    head_to_head
        Head-to-head comparisons.
    """

    bounds: Bounds
    pairs: Pairs
    cap_ab: Floats
    head_to_head: HeadToHead


def pooled(
    table: ScoreTable,
    pools: Sequence[Pool],
    estimates: Percentiles,
    q_er: Floats,
    score_a: Floats,
    delta: float,
    boxes: Boxes | None = None,
    workers: int = 1,
    *,
    anytime: bool = False,
    progress: Progress | None = None,
) -> Pooled:
    """Return scores' bounds, verdicts and head-to-head comparisons for weights chosen beforehand.

    Parameters
    ----------
    table, pools, estimates
        The scores, and their percentiles.
    q_er
        The weights, summing to 1.
    score_a
        The estimated scores.
    delta
        The allowed probability that any of it is wrong.
    boxes
        Intervals on percentiles with their own delta, which bound scores and differences, too.
    workers
        Threads; no number depends on it.
    anytime
        Whether it holds for any number of looks: evidence is then gathered round by round.
    progress
        Called with the name of the step, how much of it is done, and the total.
    """
    n = len(table.algorithms)
    given = weighed(table, pools, q_er)
    directions = n * (n - 1)
    rounds = in_rounds(table, q_er) if anytime else [given]
    advance = counter("evidence", _KINDS * sum(len(each.pools) for each in rounds), progress)
    looked = Looked(rounds, anytime, workers, advance)

    def nats(part: float, statements: int) -> float:
        return math.log(statements / (part * delta))

    evidence = looked.evidence(differences, nats(VERDICTS, directions))
    ends = nats(SCORES, 2 * n)
    above, below = looked.evidence(scores_above, ends), looked.evidence(scores_below, ends)
    known = Bounds(np.zeros(n), np.ones(n), 0.0) if boxes is None else weighted(boxes, q_er)
    low_a = np.minimum(np.maximum(0.5 + lower_limit(above, ends)[:, 0], known.low_a), score_a)
    high_a = np.maximum(np.minimum(0.5 - lower_limit(below, ends)[:, 0], known.high_a), score_a)
    difference_ab = score_a[:, None] - score_a[None, :]
    high_ab = np.minimum(-lower_limit(evidence, nats(DIFFERENCES, directions)).T, high_a[:, None] - low_a[None, :])
    same_ab = given.same_eab.all(axis=0)
    high_ab = closed(np.where(same_ab, 0.0, np.maximum(high_ab, difference_ab)))
    tested = np.any([decided(each.log_e(), VERDICTS * delta) for each in evidence], axis=0)
    better = transitive(tested | (-high_ab.T > 0.0))
    # All statements hold simultaneously: a verdict bounds a difference, too.
    high_ab = np.where(better.T, np.minimum(high_ab, 0.0), high_ab)
    caps = np.fmax.reduce([each.largest_cap(given.weights_e, nats(CAPS, directions)) for each in evidence])
    # From this cap on, every weighting is included.
    caps = np.minimum(caps, 1.0 / given.weights_e.min())
    return Pooled(
        Bounds(low_a, high_a, 0.0),
        Pairs(-high_ab.T, high_ab, better),
        np.where(better, np.fmax(caps, 1.0), np.nan),
        _head_to_head(looked, given, estimates, q_er, delta),
    )


def share_of_boxes(q_er: Floats) -> float:
    """Return the part of a ranking's delta that goes to intervals on percentiles: by the weights alone.

    Half of it on one environment, where scores' intervals are half as wide for it; a quarter on two.
    """
    spread = int(1.0 / float(np.sum(np.square(q_er.sum(axis=1)))) + 1e-9)
    return SHARE_OF_BOXES / spread if spread < SPREAD else 0.0


@dataclass(frozen=True)
class Looked:
    """The scores of every round, and the options of their evidence."""

    rounds: Sequence[Weighed]
    anytime: bool
    workers: int
    advance: Advance | None = None

    def evidence(
        self, kind: Callable[[Weighed, float | None, int, Advance | None], Evidence], nats: float
    ) -> list[Evidence]:
        """Return the evidence at every look, all rounds up to there together."""
        asked = None if self.anytime else nats
        return list(accumulate(kind(each, asked, self.workers, self.advance) for each in self.rounds))


def lower_limit(looks: Sequence[Evidence], nats: float) -> Floats:
    """Return the largest theta that was rejected at any look, [a, b]; at least -1."""
    found: Floats = np.max([each.lower_limit(nats) for each in looks], axis=0)
    return found


def _head_to_head(looked: Looked, given: Weighed, estimates: Percentiles, q_er: Floats, delta: float) -> HeadToHead:
    n = q_er.shape[1]
    directions = n * (n - 1)
    goal = math.log(directions / (WINS * delta))
    evidence = looked.evidence(head_to_head, goal)
    win_ab = np.einsum("aeb,e->ab", estimates.z_aer, q_er.sum(axis=1))
    low_ab = 0.5 + lower_limit(evidence, math.log(directions / (WIN_INTERVALS * delta)))
    better: Bools = np.any([each.log_e() >= goal for each in evidence], axis=0) | (low_ab > 0.5)
    low_ab = np.minimum(np.where(better, np.maximum(low_ab, 0.5), np.maximum(low_ab, 0.0)), win_ab)
    same_ab = given.same_eab.all(axis=0)
    low_ab = np.where(same_ab, 0.5, low_ab)
    return HeadToHead(win_ab, low_ab, 1.0 - low_ab.T, better)
