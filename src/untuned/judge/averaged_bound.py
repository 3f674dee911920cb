"""The functional bound on a difference: one inequality for the whole average, instead of one for each percentile.

For the true weights q, y[i] - y[l] = sum of q[e, r] (z[i, e, r] - z[l, e, r]). Per environment, the estimate of its
part is an average over ways to put the trials of all algorithms side by side, of means of T_e independent numbers of
absolute value at most q_e, the environment's weight, where T_e is the smallest number of trials there. So by
Hoeffding's argument the estimate exceeds or falls short of the truth by more than c |q| with probability at most
exp(-c^2/2), where |q|^2 = sum of q_e^2/T_e. With c^2 = 2 log(n (n - 1)/delta) this holds for all ordered pairs at once,
and

    y[i] - y[l] <= max over the games that the intervals allow of  <q, estimates of z[i] - z[l]> + c |q|.

Intervals decide here which games are possible, and nothing else. |q| is not linear, but for every k > 0

    |q| <= |q|^2/(2 k) + k/2 <= sum of q_e (largest q_e)/(2 k T_e) + k/2,

which is; the largest q_e over all games is a bound of the same kind. Errors of percentiles average out here, where
bounds from intervals let all of them be wrong in the same direction: it is the narrower one on many environments.
"""

from dataclasses import dataclass

import numpy as np

from untuned.judge.game import aggregate, equilibrium
from untuned.judge.percentiles import Percentiles
from untuned.judge.propagate import Goal, Limits, solution
from untuned.judge.simultaneous_intervals import Boxes
from untuned.judge.transitions import Board, board
from untuned.scores import Floats, Ints

#: The part of delta that this bound gets where it is in use; the intervals get the rest. With the game's weights the
#: intervals must say which games are possible, too; with given ones there is one game.
SHARE_OF_GAME = 0.1
SHARE_OF_GIVEN = 0.5
#: With the game's weights: on fewer environments errors do not average out, and with fewer trials too many games are
#: possible (benchmarks/power.py --only functional).
ENVIRONMENTS = 25
TRIALS = 500
#: With given weights: on fewer than so many environments of equal weight, or what amounts to that, nothing is gained.
SPREAD = 3.0

_LIMITS = Limits(slack=1e-7)


@dataclass(frozen=True, eq=False)
class Functional:
    """What the functional bound of every pair needs.

    Attributes
    ----------
    z_aer
        The estimates.
    penalty_e
        (largest q_e)/T_e.
    scales
        The k that are tried: at the estimated weights, and at the largest the intervals allow.
    factor
        The c above.
    made
        The games that are possible.
    """

    z_aer: Floats
    penalty_e: Floats
    scales: tuple[float, ...]
    factor: float
    made: Board

    def bound(self, i: int, l: int) -> float:  # noqa: E741 - as in the paper
        """Return a bound on y[i] - y[l]."""
        found = np.inf
        estimates = self.z_aer[i] - self.z_aer[l]
        for scale in self.scales:
            reward = estimates + (self.factor * self.penalty_e / (2.0 * scale))[:, None]
            found = min(found, solution(Goal(reward), self.made, _LIMITS)[0].bound + self.factor * scale / 2.0)
        return found


def share(trials_ae: Ints, q_er: Floats | None) -> float:
    """Return the part of delta for the functional bound: by given weights and numbers of trials, never by scores."""
    if q_er is not None:
        trials_ae = trials_ae[:, q_er.sum(axis=1) > 0.0]
    fewest = int(trials_ae.min())
    if q_er is not None:
        spread = 1.0 / float(np.sum(q_er.sum(axis=1) ** 2))
        return SHARE_OF_GIVEN if fewest > 0 and spread >= SPREAD else 0.0
    return SHARE_OF_GAME if trials_ae.shape[1] >= ENVIRONMENTS and fewest >= TRIALS else 0.0


def given_weights(estimates: Percentiles, q_er: Floats, delta: float) -> Floats:
    """Return the functional bounds on y[a] - y[b], ``[a, b]``, for weights chosen before the scores were seen."""
    y_a = aggregate(estimates.z_aer, q_er)
    q_e = q_er.sum(axis=1)
    # An environment without weight may have no trials.
    trials_e = estimates.trials_ae.min(axis=0)[q_e > 0.0]
    error = _factor(len(y_a), delta) * np.sqrt(np.sum(q_e[q_e > 0.0] ** 2 / trials_e))
    high_ab: Floats = y_a[:, None] - y_a[None, :] + error
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
    likely_e = equilibrium(estimates.z_aer).q_er.sum(axis=1)
    most = solution(Goal(np.repeat(penalty_e[:, None], n, axis=1)), made, _LIMITS)[0].bound
    scales = (float(np.sqrt(np.sum(likely_e**2 / trials_e))), float(np.sqrt(most)))
    return Functional(estimates.z_aer, penalty_e, scales, _factor(n, delta), made)


def _factor(algorithms: int, delta: float) -> float:
    return float(np.sqrt(2.0 * np.log(algorithms * (algorithms - 1) / delta)))
