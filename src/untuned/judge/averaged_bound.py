"""The functional bound on a difference: one inequality for the whole average, instead of one for each percentile.

For the true weights q, y[i] - y[l] = sum of q[e, r] (z[i, e, r] - z[l, e, r]). Per environment, the estimate of its
part is an average over ways to put the trials of all algorithms side by side, of means of T_e independent numbers, one
for each row, where T_e is the smallest number of trials there. None is larger in absolute value than

    b_e = sum of q[e, r] share[e, r],  share = 1/2 for r = i and for r = l, and 1 for other references:

an algorithm has 1/2 against itself, so that both of these are what i has against l, less 1/2. By Hoeffding's argument
the estimate exceeds or falls short of the truth by more than c |b| with probability at most exp(-c^2/2), where |b|^2 =
sum of b_e^2/T_e. With c^2 = 2 log(n (n - 1)/delta) this holds for all ordered pairs at once, and

    y[i] - y[l] <= max over the games that the intervals allow of  <q, estimates of z[i] - z[l]> + c |b|.

Here the intervals only decide which games are possible. |b| is not linear in q, but for every k > 0

    |b| <= |b|^2/(2 k) + k/2 <= sum of b_e (largest q_e)/(2 k T_e) + k/2,

which is; the largest q_e, the weight of an environment, over all games is a bound of the same kind. In this bound,
errors of percentiles average out, while bounds from intervals let all of them be wrong in the same direction: with
many environments this bound is narrower.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from untuned.judge.game import aggregate, equilibrium
from untuned.judge.percentiles import Percentiles
from untuned.judge.propagate import Goal, Limits, solution
from untuned.judge.simultaneous_intervals import ONE_HALF, Boxes
from untuned.judge.transitions import Board, board
from untuned.scores import Floats, Ints

#: The part of delta that this bound gets where it is used; the intervals get the rest. With the game's weights the
#: intervals must say which games are possible, too; with given ones there is one game.
SHARE_OF_GAME = 0.1
SHARE_OF_GIVEN = 0.5
#: With the game's weights: on fewer environments errors do not average out, and with fewer trials too many games are
#: possible (benchmarks/power.py --only functional).
ENVIRONMENTS = 25
TRIALS = 500
#: With given weights: nothing is gained below this effective number of environments of equal weight.
SPREAD = 3.0

_LIMITS = Limits(slack=1e-7)


@dataclass(frozen=True, eq=False)
class Functional:
    """The data that the functional bounds of all pairs share.

    Attributes
    ----------
    z_aer
        The estimates.
    own_aer
        Where payoffs are certainly 1/2.
    likely_er
        The estimated weights.
    trials_e
        The T_e above.
    penalty_e
        (largest q_e)/T_e.
    most
        The largest |b| that the intervals allow, or more.
    factor
        The c above.
    made
        The games that are possible.
    """

    z_aer: Floats
    own_aer: NDArray[np.bool_]
    likely_er: Floats
    trials_e: Floats
    penalty_e: Floats
    most: float
    factor: float
    made: Board

    def bound(self, i: int, l: int) -> float:  # noqa: E741 - as in the paper
        """Return a bound on y[i] - y[l]."""
        share_er = 1.0 - 0.5 * (self.own_aer[i].astype(np.float64) + self.own_aer[l])
        # Two identical algorithms do not differ.
        share_er[self.own_aer[i, :, l]] = 0.0
        likely = float(np.sqrt(np.sum((self.likely_er * share_er).sum(axis=1) ** 2 / self.trials_e)))
        estimates = self.z_aer[i] - self.z_aer[l]
        found = np.inf
        # Every k is valid. Zero, of algorithms that are identical everywhere, cannot be divided by.
        for scale in (likely or self.most, self.most):
            reward = estimates + self.factor / (2.0 * scale) * self.penalty_e[:, None] * share_er
            found = min(found, solution(Goal(reward), self.made, _LIMITS)[0].bound + self.factor * scale / 2.0)
        return found


def share(trials_ae: Ints, q_er: Floats | None) -> float:
    """Return the part of delta for the functional bound: by given weights and numbers of trials, never by scores."""
    if q_er is not None:
        q_e = q_er.sum(axis=1)
        # Environments without weight need no trials.
        fewest, spread = trials_ae[:, q_e > 0.0].min(), 1.0 / float(np.sum(q_e**2))
        return SHARE_OF_GIVEN if fewest > 0 and spread >= SPREAD else 0.0
    return SHARE_OF_GAME if trials_ae.shape[1] >= ENVIRONMENTS and trials_ae.min() >= TRIALS else 0.0


def given_weights(estimates: Percentiles, q_er: Floats, same_aer: Ints, delta: float) -> Floats:
    """Return the functional bounds on y[a] - y[b], ``[a, b]``, for weights chosen before the scores were seen.

    ``same_aer`` says which payoffs are certainly equal, as in `untuned.judge.simultaneous_intervals.Boxes`. A bound is
    infinite where a or b or a reference with weight has no trials.
    """
    y_a = aggregate(estimates.z_aer, q_er)
    trials_ae = estimates.trials_ae
    most = np.iinfo(trials_ae.dtype).max
    references_e = np.where(q_er.T > 0.0, trials_ae, most).min(axis=0)
    trials_abe = np.minimum(np.minimum(trials_ae[:, None], trials_ae[None, :]), references_e)
    own_aer = same_aer == ONE_HALF
    own_ae = np.einsum("aer,er->ae", own_aer, q_er)
    reach_abe = q_er.sum(axis=1) - 0.5 * (own_ae[:, None] + own_ae[None, :])
    reach_abe[own_aer.transpose(0, 2, 1)] = 0.0
    with np.errstate(divide="ignore"):
        squares_abe = np.divide(reach_abe**2, trials_abe, out=np.zeros(reach_abe.shape), where=reach_abe > 0.0)
    high_ab: Floats = y_a[:, None] - y_a[None, :] + _factor(len(y_a), delta) * np.sqrt(squares_abe.sum(axis=2))
    np.fill_diagonal(high_ab, 0.0)
    return high_ab


def functional(boxes: Boxes, parts: int, estimates: Percentiles, delta: float) -> Functional:
    """Return what the functional bounds of all pairs have in common; ``delta`` is for all of them together."""
    n, m, _ = boxes.low_aer.shape
    made = board(boxes, parts)
    trials_e = estimates.trials_ae.min(axis=0).astype(np.float64)
    largest_e = np.empty(m)
    for e in range(m):
        reward = np.zeros((m, n))
        reward[e] = 1.0
        largest_e[e] = min(solution(Goal(reward), made, _LIMITS)[0].bound, 1.0)
    penalty_e = largest_e / trials_e
    most = solution(Goal(np.repeat(penalty_e[:, None], n, axis=1)), made, _LIMITS)[0].bound
    likely_er = equilibrium(estimates.z_aer, share_e=boxes.share_e).q_er
    own_aer = boxes.same_aer == ONE_HALF
    factor = _factor(n, delta)
    return Functional(estimates.z_aer, own_aer, likely_er, trials_e, penalty_e, float(np.sqrt(most)), factor, made)


def _factor(algorithms: int, delta: float) -> float:
    return float(np.sqrt(2.0 * np.log(algorithms * (algorithms - 1) / delta)))
