"""How many trials would decide the open pairs: a prediction from the intervals that more trials would have.

The estimates stay the same; the intervals get narrower. Widths are measured in nats: for an interval with lower end L
around an estimate U from T trials,

    c = T kl(U, L),   kl(u, q) = u log(u/q) + (1 - u) log((1 - u)/(1 - q)),

likewise for the upper end. With T' trials the predicted end is the L' with T' kl(U, L') = c. For `kl` this is exact;
for the others, too, c hardly depends on the number of trials (it contains everything the pilot shows about how much
the scores vary), and the rule is right where square roots are wrong: near 0 and 1, where intervals shrink like 1/T'.
`pbp` has its own formula, which is used at T'; `pbp-t` is Student's, which shrinks like a square root.

The rest is as in an evaluation: bounds on differences, the functional bound where it would be used, branching. Bounds
get no wider with T', so bisection finds the number at which a pair is decided.

`pooled` has no intervals on percentiles: boards are resampled instead (`untuned.judge.pooled.forecast`).
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Protocol

import numpy as np

from untuned.errors import InvalidInput
from untuned.evaluation import Evaluation, Ranking
from untuned.families import shares
from untuned.judge.averaged_bound import Functional, functional, share
from untuned.judge.differences import Pair, one, under_given_weights
from untuned.judge.evaluate import PARTS
from untuned.judge.intervals import betting, dkw
from untuned.judge.intervals.comparisons import possible
from untuned.judge.intervals.kl import lower_limit
from untuned.judge.jit import kernel
from untuned.judge.judging import GAME, Judging, whole
from untuned.judge.multiplicity import declared_delta, with_weight
from untuned.judge.percentiles import Percentiles, percentiles
from untuned.judge.pool import Pool, pools
from untuned.judge.pooled.forecast import Forecast, forecast
from untuned.judge.propagate import weighted
from untuned.judge.simultaneous_intervals import Boxes, structural
from untuned.judge.threads import Progress, counter, mapped
from untuned.judge.transitions import Board, board
from untuned.plans import Plan, PlannedPair, Why
from untuned.scores import Floats, Ints
from untuned.verdicts import RESOLUTION

#: Numbers of trials per cell beyond this are not realistic.
MOST = 10_000_000
# Branching needs the most cases where a pair is nearly decided, which is where most of the search happens. With the
# next larger number of trials, few cases achieve what needs many with this one.
_CASES = 300
# Numbers of trials that are tried, in equal ratios: bisection takes seven of them, and the ratio is below 1.14.
_STEPS = 128
# The same for resampled boards: the ratio is below 1.3, which is less than their error.
_RESAMPLED_STEPS = 64


class _Predictor(Protocol):
    """Predicts whether an evaluation with more trials would decide a pair."""

    def decides(self, pair: Pair, trials: int | None) -> bool:
        """Return whether the second of two is shown to be better; None stands for infinitely many trials."""


def plan(
    evaluation: Evaluation,
    *,
    most: int = MOST,
    among: Collection[frozenset[str]] | None = None,
    workers: int = 1,
    progress: Progress | None = None,
) -> Plan:
    """Return how many trials per cell would probably decide every pair that is not separable under the first ranking.

    Parameters
    ----------
    evaluation
        By ``pooled`` or any method that has intervals on percentiles, with ``conventions="valid"``; the method, the
        weights and the part of delta of its first ranking are those of the plan.
    most
        The largest number of trials per cell to consider.
    among
        The pairs to plan for; None for all.
    workers
        Threads; no number depends on it.
    progress
        Called with how many pairs are done.

    Raises
    ------
    InvalidInput
        For the bootstrap and the paper's conventions, which have no intervals to predict; and if the cells have
        ``most`` trials already.

    Notes
    -----
    The plan is one number for all cells; a cell with more trials keeps them. Cells without trials stay unknown: planned
    pairs would be decided without them.
    """
    most = whole("most", most, 1, f"{MOST} by default")
    workers = whole("workers", workers, 1, "one per processor is a good number")
    if not isinstance(evaluation, Evaluation):
        raise InvalidInput(f"a plan needs an Evaluation, not {type(evaluation).__name__}: pass what evaluate returns")
    check_plan(evaluation.judging)
    own_ae = evaluation.trials_ae[:, evaluation.counted]
    measured = own_ae[own_ae > 0]
    smallest = int(measured.min())
    if smallest >= most:
        raise InvalidInput(f"most={most}: the smallest cell has as many trials already. Pass a larger number")

    order, score_a = evaluation.order, evaluation.score_a
    better_ab = evaluation.pairs.better_ab
    pairs = [
        (worse, better)
        for place, better in enumerate(order)
        for worse in order[place + 1 :]
        if not better_ab[better, worse] and not better_ab[worse, better]
        if among is None or {evaluation.algorithms[better], evaluation.algorithms[worse]} in among
    ]
    kinds = evaluation.scores.kinds
    estimates = percentiles(pools(evaluation.scores))
    missing = int(np.count_nonzero(estimates.trials_ae[:, evaluation.counted] == 0))
    pooled = evaluation.judging.method_under(evaluation.weights).fixed
    predictor: _Predictor = (
        _Resampled(evaluation, estimates, workers) if pooled else _Boxed(_pilot(evaluation, estimates))
    )
    reached = _Grid(smallest, most, _RESAMPLED_STEPS if pooled else _STEPS)

    def search(pair: Pair) -> tuple[int | None, Why | None]:
        worse, better = pair
        if (kinds[:, worse] == kinds[:, better]).all():
            return None, "identical"
        if score_a[worse] >= score_a[better] - RESOLUTION:
            return None, "equal"
        if not predictor.decides(pair, most):
            if predictor.decides(pair, None):
                return None, "beyond"
            return None, "missing" if missing else "tied"
        undecided, decided = 0, reached.steps
        while decided - undecided > 1:
            middle = (undecided + decided) // 2
            if predictor.decides(pair, reached.trials(middle)):
                decided = middle
            else:
                undecided = middle
        return reached.trials(decided), None

    advance = counter("plan", len(pairs), progress)
    found: dict[Pair, tuple[int | None, Why | None]] = {}
    for pair, each in zip(pairs, mapped(search, pairs, 1 if pooled else workers), strict=True):
        found[pair] = each
        if advance is not None:
            advance(1)
    numbers_ab = np.where(better_ab, 0.0, np.inf)
    for (worse, better), (number, _) in found.items():
        numbers_ab[better, worse] = np.inf if number is None else number
    numbers_ab = chained(numbers_ab)
    return Plan(
        method=evaluation.method,
        weights=evaluation.weights,
        anytime=evaluation.anytime,
        delta=_share(evaluation) * evaluation.delta,
        leader=evaluation.algorithms[order[0]],
        algorithms=evaluation.algorithms,
        fewest=smallest,
        largest=int(measured.max()),
        missing=missing,
        most=most,
        pairs=tuple(
            PlannedPair(
                evaluation.algorithms[better],
                evaluation.algorithms[worse],
                int(number) if math.isfinite(number := numbers_ab[better, worse]) else None,
                None if math.isfinite(number) else why,
            )
            for (worse, better), (_, why) in found.items()
        ),
    )


def _share(evaluation: Evaluation) -> float:
    """Return the part of delta of the first ranking."""
    return evaluation.judging.shares([each.weights for each in evaluation.rankings])[evaluation.weights]


class _Boxed:
    """Predicts from intervals on percentiles, for methods that have them."""

    def __init__(self, pilot: "_Pilot") -> None:
        self._planned = cache(lambda trials: _planned(pilot, trials))

    def decides(self, pair: Pair, trials: int | None) -> bool:
        """Return whether the second of two is found to be better."""
        return self._planned(trials).decides(pair)


class _Resampled:
    """Resamples boards, for `pooled`."""

    def __init__(self, evaluation: Evaluation, estimates: Percentiles, workers: int) -> None:
        delta = _share(evaluation) * evaluation.delta
        found: Forecast = forecast(evaluation.scores, estimates, evaluation.q_er, delta, workers)
        self._limit_ab = found.limit_ab
        self._decided = cache(lambda trials: found.decided(_more(evaluation, estimates, trials)))

    def decides(self, pair: Pair, trials: int | None) -> bool:
        """Return whether the second of two is found to be better."""
        worse, better = pair
        if trials is None:
            return bool(self._limit_ab[better, worse] > RESOLUTION)
        return bool(self._decided(trials)[better, worse])


@dataclass(frozen=True)
class _Grid:
    """Numbers of trials from the existing one, step 0, to the largest, the last step."""

    fewest: int
    most: int
    steps: int

    def trials(self, step: int) -> int:
        """Return the number of trials of a step."""
        ratio = math.pow(self.most / self.fewest, step / self.steps)
        return min(math.ceil(self.fewest * ratio), self.most)


@dataclass(frozen=True, eq=False)
class _Pilot:
    """The data of the pilot that a plan uses.

    Attributes
    ----------
    evaluation
        Evaluation of the pilot.
    pooled, estimates
        Its scores and percentiles.
    q_er
        Given weights; None for the game's.
    nats_low_aer, nats_high_aer
        The widths of its intervals, above and below: c in the docstring of this module, at their current level.
    """

    evaluation: Evaluation
    pooled: tuple[Pool, ...]
    estimates: Percentiles
    q_er: Floats | None
    nats_low_aer: Floats
    nats_high_aer: Floats


@dataclass(frozen=True, eq=False)
class _Planned:
    """A predicted evaluation with more trials.

    Attributes
    ----------
    pilot
        The pilot of the prediction.
    boxes, made
        Predicted intervals, and their board for the game's weights.
    functional
        The functional bound, where it is used.
    high_ab
        Bounds on all differences for given weights.
    """

    pilot: _Pilot
    boxes: Boxes
    made: Board | None
    functional: Functional | None
    high_ab: Floats | None

    def decides(self, pair: Pair) -> bool:
        """Whether y[i] - y[l] is bounded below zero."""
        if self.made is None:
            assert self.high_ab is not None
            return bool(self.high_ab[pair] < -RESOLUTION)
        budget = self.pilot.evaluation.derived.refine
        assert budget is not None
        score_a, budget = self.pilot.evaluation.score_a, min(budget, _CASES)
        bound, _ = one(self.boxes, self.made, pair, score_a, functional=self.functional, budget=budget)
        return bound < -RESOLUTION


def _pilot(evaluation: Evaluation, estimates: Percentiles) -> _Pilot:
    """Return the pilot's data for a plan."""
    table = evaluation.percentiles
    assert table.low_aer is not None
    assert table.high_aer is not None
    pooled = pools(evaluation.scores)
    trials_aer = _counted(evaluation.method, _smaller(estimates.trials_ae)).astype(np.float64)
    unknown = _nats(evaluation, pooled, estimates.trials_ae)
    z_aer = estimates.z_aer
    return _Pilot(
        evaluation,
        pooled,
        estimates,
        _given(evaluation),
        width_in_nats(z_aer, table.low_aer, trials_aer, unknown),
        width_in_nats(1.0 - z_aer, 1.0 - table.high_aer, trials_aer, unknown),
    )


def check_plan(judging: Judging) -> None:
    """Refuse options that have no plan; callers check before scores are judged, which may take minutes."""
    if judging.conventions != "valid":
        raise InvalidInput(
            "a plan needs conventions='valid': under the paper's, equal ends count as ties, and no number of trials "
            "makes that right"
        )
    for each in judging.weightings:
        method = judging.method_under(each)
        if method.intervals is None and not method.fixed:
            raise InvalidInput(
                f"a plan needs 'pooled' or intervals on percentiles, which {method.name!r} has none of: leave "
                "intervals out, or evaluate with 'pairing', 'betting', or 'wilson' for an approximate method"
            )


def _functional_part(evaluation: Evaluation, ranking: Ranking, trials_ae: Ints) -> float:
    """Return the functional bound's part of the ranking's delta; of rankings that share intervals the first has one."""
    chosen = evaluation.judging.method_under
    if chosen(ranking.weights).intervals is None or chosen(ranking.weights).anytime:
        return 0.0
    if ranking.weights != GAME and any(
        each.weights == GAME and each.method == ranking.method for each in evaluation.rankings
    ):
        return 0.0
    return share(trials_ae, None if ranking.weights == GAME else ranking.q_er)


def _level(evaluation: Evaluation, pooled: Sequence[Pool], trials_ae: Ints) -> float:
    """Return the delta of all intervals on percentiles together: delta minus the functional bounds' part."""
    parts = sum(_functional_part(evaluation, each, trials_ae) for each in evaluation.rankings)
    return (1.0 - parts) * _spent(evaluation, pooled)


def _nats(evaluation: Evaluation, pooled: Sequence[Pool], trials_ae: Ints) -> float:
    """Return log(2/level) of each interval when all cells have trials."""
    counted = [pooled[e] for e in with_weight(_given(evaluation), len(pooled))]
    return math.log(2.0 * max(possible(counted), 1) / _level(evaluation, pooled, trials_ae))


def _given(evaluation: Evaluation) -> Floats | None:
    """Return given weights; None for those of the game."""
    return None if evaluation.weights == GAME else evaluation.q_er


def _spent(evaluation: Evaluation, pooled: Sequence[Pool]) -> float:
    """Return the present algorithms' part of the first ranking's delta, which the declared maximum shares."""
    delta = _share(evaluation) * evaluation.delta
    return declared_delta(delta, evaluation.judging.max_algorithms, pooled, _given(evaluation))


def _smaller(trials_ae: Ints) -> Ints:
    """Return the smaller number of trials of every comparison, [a, e, r]."""
    smaller: Ints = np.minimum(trials_ae[:, :, None], trials_ae.T[None, :, :])
    return smaller


def _counted(method: str, trials: Ints) -> Ints:
    """Return how many of the trials a method uses."""
    return trials // betting.BLOCK * betting.BLOCK if method == "betting" else trials


def width_in_nats(u: Floats, low: Floats, trials: Floats, unknown: float) -> Floats:
    """Return T kl(U, L); ``unknown`` where an interval is [0, 1]."""
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = np.where(u > 0.0, u * np.log(u / low), 0.0)
        entropy = entropy + np.where(u < 1.0, (1.0 - u) * np.log((1.0 - u) / (1.0 - low)), 0.0)
        nats = trials * entropy
    return np.where((trials > 0.0) & np.isfinite(nats), np.maximum(nats, 0.0), unknown)


def _planned(pilot: _Pilot, trials: int | None) -> _Planned:
    """Return the predicted evaluation with a number of trials per cell; None for infinitely many."""
    evaluation, estimates = pilot.evaluation, pilot.estimates
    same_aer = structural(evaluation.scores.kinds)
    delta = 0.0
    if trials is None:
        unknown = ~estimates.known_aer
        low, high = np.where(unknown, 0.0, estimates.z_aer), np.where(unknown, 1.0, estimates.z_aer)
    else:
        estimates = replace(estimates, trials_ae=_more(evaluation, estimates, trials))
        part = _functional_part(evaluation, evaluation.rankings[0], estimates.trials_ae)
        delta = part * _spent(evaluation, pilot.pooled)
        low, high = _ends(pilot, estimates.trials_ae)
    share_e = shares(evaluation.judging.families, evaluation.environments)
    found = Boxes(low, high, same_aer, share_e)
    if pilot.q_er is not None:
        bounds = weighted(found, pilot.q_er)
        differences = under_given_weights(bounds, estimates, pilot.q_er, same_aer, delta)
        return _Planned(pilot, found, None, None, differences.high_ab)
    other = functional(found, PARTS, estimates, delta) if delta > 0.0 else None
    return _Planned(pilot, found, board(found, PARTS), other, None)


def _more(evaluation: Evaluation, estimates: Percentiles, trials: int) -> Ints:
    """Return the numbers of trials of every cell, raised to at least ``trials``, shared by identical algorithms."""
    kinds = evaluation.scores.kinds
    own_ae = np.where(estimates.trials_ae > 0, np.maximum(evaluation.trials_ae, trials), 0)
    # Algorithms declared identical share their trials.
    same_ear = kinds[:, :, None] == kinds[:, None, :]
    together: Ints = np.einsum("ear,re->ae", same_ear.astype(np.int64), own_ae)
    return together


def _ends(pilot: _Pilot, trials_ae: Ints) -> tuple[Floats, Floats]:
    """Return the predicted ends of all intervals."""
    evaluation, estimates = pilot.evaluation, pilot.estimates
    delta = _level(evaluation, pilot.pooled, trials_ae)
    if evaluation.method == "pbp":
        sizes = [trials_ae[np.unique(pool.owner_of, return_index=True)[1], e] for e, pool in enumerate(pilot.pooled)]
        samples = sum(pilot.pooled[e].sizes.size for e in with_weight(pilot.q_er, len(pilot.pooled)))
        return dkw.percentile_intervals(
            pilot.pooled, evaluation.scores.ranges, delta / samples, estimates.payoff, sizes
        )
    table = evaluation.percentiles
    assert table.low_aer is not None
    assert table.high_aer is not None
    before = _counted(evaluation.method, _smaller(estimates.trials_ae)).astype(np.float64)
    after = _counted(evaluation.method, _smaller(trials_ae)).astype(np.float64)
    z_aer = estimates.z_aer
    if evaluation.method == "pbp-t":
        # Ends are clipped to [0, 1]: the more distant one is Student's.
        ratio = np.sqrt(np.divide(before, after, out=np.ones(after.shape), where=after > 0.0))
        half = ratio * np.maximum(z_aer - table.low_aer, table.high_aer - z_aer)
        low, high = np.clip(z_aer - half, 0.0, 1.0), np.clip(z_aer + half, 0.0, 1.0)
    else:
        # With more trials the functional bound may be used, and takes its part of delta.
        level = _nats(evaluation, pilot.pooled, trials_ae) / _nats(evaluation, pilot.pooled, estimates.trials_ae)
        low, below = np.empty(z_aer.shape), np.empty(z_aer.shape)
        lower_ends(z_aer, after, level * pilot.nats_low_aer, low)
        lower_ends(1.0 - z_aer, after, level * pilot.nats_high_aer, below)
        high = 1.0 - below
    sure = evaluation.percentiles.low_aer == evaluation.percentiles.high_aer
    low, high = np.where(sure, z_aer, low), np.where(sure, z_aer, high)
    unknown = ~estimates.known_aer
    return np.where(unknown, 0.0, low), np.where(unknown, 1.0, high)


@kernel
def lower_ends(u_aer: Floats, trials_aer: Floats, nats_aer: Floats, low_aer: Floats) -> None:
    """Write the lower ends at a distance in nats from the estimates; 0 without trials."""
    n, m, _ = u_aer.shape
    for a in range(n):
        for e in range(m):
            for r in range(n):
                if trials_aer[a, e, r] > 0.0:
                    low_aer[a, e, r] = lower_limit(u_aer[a, e, r], trials_aer[a, e, r], nats_aer[a, e, r])
                else:
                    low_aer[a, e, r] = 0.0


def chained(numbers_ab: Floats) -> Floats:
    """Return the numbers after making verdicts transitive."""
    found = numbers_ab.copy()
    for j in range(found.shape[0]):
        found = np.minimum(found, np.maximum(found[:, j, None], found[None, j, :]))
    return found
