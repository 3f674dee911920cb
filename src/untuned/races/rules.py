"""Rules: which cells get the trials of the next round. The guarantee never depends on the rule.

A rule is a function of a `View`, the state before the round, that returns how many more trials every cell should get,
[a, e]. The race rounds these numbers, and ensures that every cell that a bound needs gets trials. `RULES` has the named
ones; pass your own function to use another.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from untuned.errors import InvalidInput, UnknownName
from untuned.judge.branching import difference_goal
from untuned.judge.evaluate import PARTS
from untuned.judge.intervals.betting import BLOCK
from untuned.judge.plan import lower_ends, width_in_nats
from untuned.judge.propagate import Limits, solution
from untuned.judge.simultaneous_intervals import Boxes
from untuned.judge.transitions import board
from untuned.races.goals import Pair
from untuned.races.standing import Standing, UnderTheGame
from untuned.races.variance import affordable, cheapest, pair_variances
from untuned.scores import Floats, Ints, ScoreTable

#: The part of a round that all cells share equally, so that every cell gets trials.
UNIFORM_SHARE = 0.2
#: A reference gets at least one trial per this many trials of the compared algorithms.
ROWS = 8
#: The smallest number of rows of a round: a single row says little.
LEAST = 2
# A reference matters if it has at least this part of an equal share.
_MATTERS = 0.1
# The variance of an open pair falls at least to this part before it is settled.
_NOT_YET = 0.9
# The largest number of doublings of the trials when searching for those that decide a pair.
_DOUBLINGS = 12
# The largest number of trials of a cell in a round.
_MOST = 1e9
# How finely a round is fitted into its seconds.
_HALVINGS = 12
# The largest number of pairs that are solved again for every candidate, and the tolerance.
_PAIRS = 8
_LIMITS = Limits(slack=1e-4)


@dataclass(frozen=True, eq=False)
class View:
    """The state before a round.

    Attributes
    ----------
    table
        The scores of all rounds so far.
    standing
        The standing after them.
    open
        The open pairs of the goal, the leading algorithm first.
    cost_ae
        Seconds per trial.
    seconds
        How long the round should take one worker.
    remaining
        How long all further rounds may take one worker; infinite without a limit.
    within
        Differences below this need no verdict.
    """

    table: ScoreTable
    standing: Standing
    open: Sequence[Pair]
    cost_ae: Floats
    seconds: float
    remaining: float
    within: float = 0.0

    @property
    def trials_ae(self) -> Ints:
        """Trials that every cell has."""
        return self.table.trials

    @property
    def active_a(self) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
        """Which algorithms are in an open pair."""
        found = np.zeros(len(self.table.algorithms), dtype=np.bool_)
        found[[a for pair in self.open for a in pair]] = True
        return found

    @property
    def needed_a(self) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
        """Which algorithms are in an open pair, or a reference that matters under the game's weights."""
        if not isinstance(self.standing, UnderTheGame):
            return self.active_a
        shares_a = self.standing.q_er.sum(axis=0)
        return np.asarray(self.active_a | (shares_a > _MATTERS / len(shares_a)), dtype=np.bool_)

    @property
    def counted_ae(self) -> "np.ndarray[tuple[int, int], np.dtype[np.bool_]]":
        """Which cells have any weight, as a reference or because their algorithm is in an open pair."""
        if isinstance(self.standing, UnderTheGame):
            return np.ones(self.trials_ae.shape, dtype=np.bool_)
        q_er = self.standing.q_er
        found = (q_er.T > 0.0) | (self.active_a[:, None] & (q_er.sum(axis=1) > 0.0)[None, :])
        return np.asarray(found, dtype=np.bool_)

    def targets(self, variance_pae: Floats) -> Floats:
        """Return the variance at which every open pair would be settled, if the estimates are right.

        The evidence so far falls short of the same formula; the shortfall is assumed to remain. ``variance_pae`` is the
        contribution of a single trial of every cell to the variance of every open pair.
        """
        score_a = self.standing.known.score_a
        apart = np.array([abs(score_a[a] - score_a[b]) for a, b in self.open])
        apart = np.maximum(apart, self.within - apart)
        found: Floats = np.square(apart) / (2.0 * self.standing.nats)
        gained_ab = self.standing.gained_ab
        if gained_ab is not None and len(apart):
            gained = np.array([max(gained_ab[a, b], 1.0) for a, b in self.open])
            now = (variance_pae / np.maximum(self.trials_ae, 1)).sum(axis=(1, 2))
            # An open pair needs more evidence than it has, however much that is.
            found = np.minimum(found, now * np.minimum(gained / self.standing.nats, _NOT_YET))
        return found

    def costs_of_pairs(self, variance_pae: Floats) -> Floats:
        """Return the estimated seconds of one worker to settle each open pair alone; ``variance_pae`` as above."""
        if isinstance(self.standing, UnderTheGame):
            return np.array([_equal_numbers(self, pair) for pair in self.open])
        targets = self.targets(variance_pae)
        return np.array([self._cost(*each) for each in zip(variance_pae, targets, strict=True)])

    def _cost(self, variance_ae: Floats, wanted: float) -> float:
        if wanted <= 1e-12:
            return math.inf
        more = cheapest(variance_ae, self.cost_ae, self.trials_ae, wanted) - self.trials_ae
        # References have their rows, too.
        more = np.where(self.counted_ae, np.maximum(more, more.max(axis=0) / ROWS), more)
        return float((more * self.cost_ae).sum())


Rule = Callable[[View], Floats]


def equal(view: View) -> Floats:
    """Return equal numbers for all cells."""
    counted = view.counted_ae
    return np.where(counted, view.seconds / float(view.cost_ae[counted].sum()), 0.0)


def eliminate(view: View) -> Floats:
    """Return equal numbers for the algorithms in open pairs, and for the references that matter to the game."""
    wanted = view.counted_ae & view.needed_a[:, None]
    return np.where(wanted, view.seconds / float(view.cost_ae[wanted].sum()), 0.0)


def by_cost(view: View) -> Floats:
    """Return the numbers that minimise the variance of the open pairs for the time they take.

    Pairs that would exceed the remaining time are down-weighted by the excess, so that hopeless ones take little from
    the others.
    """
    if isinstance(view.standing, UnderTheGame):
        return resolved(view)
    variance_pae = pair_variances(view.table, view.standing.q_er, view.open)
    costs = view.costs_of_pairs(variance_pae)
    # With equal estimates no time is enough, even without limit.
    possible = np.isfinite(costs)
    reach = np.where(possible, np.minimum(view.remaining / np.maximum(np.where(possible, costs, 1.0), 1e-9), 1.0), 0.0)
    # The closer two are, the more trials they need.
    weights = np.square(reach) / np.sqrt(np.maximum(view.targets(variance_pae), 1e-8))
    if not weights.any():
        weights = np.ones(len(weights))
    pooled = np.einsum("p,pae->ae", weights, variance_pae)
    pooled = np.where(view.counted_ae, pooled, 0.0)
    most = affordable(pooled, view.cost_ae, view.trials_ae, (1.0 - UNIFORM_SHARE) * view.seconds)
    return most - view.trials_ae + UNIFORM_SHARE * equal(view)


def resolved(view: View) -> Floats:
    """Return more trials where the predicted reduction of the open bounds per second is largest, for the game.

    Candidates are the environments, with all algorithms or with those in open pairs. The bounds of open pairs are
    solved again with the predicted intervals.
    """
    standing, trials_ae = view.standing, view.trials_ae
    assert isinstance(standing, UnderTheGame)
    found = UNIFORM_SHARE * equal(view)
    if standing.boxes is None:
        return found / UNIFORM_SHARE
    n, m = trials_ae.shape
    high = standing.known.high_ab
    nearest = sorted(view.open, key=lambda pair: high[pair[1], pair[0]])[:_PAIRS]
    candidates = []
    for e in range(m):
        for chosen in dict.fromkeys((tuple(range(n)), tuple(np.flatnonzero(view.needed_a).tolist()))):
            after = trials_ae.copy()
            cells = np.array(chosen)
            after[cells, e] += np.maximum(BLOCK - after[cells, e] % BLOCK, after[cells, e] // (2 * BLOCK) * BLOCK)
            cost = float(((after - trials_ae) * view.cost_ae).sum())
            gain = _shrinking(standing, after, nearest)
            candidates.append((gain / max(cost, 1e-12), e, after))
    seconds = (1.0 - UNIFORM_SHARE) * view.seconds
    for rate, _, after in sorted(candidates, key=lambda each: (-each[0], each[1])):
        more = np.maximum(after - trials_ae, found)
        cost = float(((more - found) * view.cost_ae).sum())
        if rate <= 0.0 or cost > 2.0 * seconds:
            continue
        found, seconds = more, seconds - cost
        if seconds <= 0.0:
            break
    if seconds > 0.0:
        # No candidate alone moves a bound: all of them together may.
        found = found + eliminate(replace(view, seconds=seconds))
    return found


def _shrinking(standing: UnderTheGame, after_ae: Ints, pairs: Sequence[Pair]) -> float:
    """Return the predicted reduction of the bounds of some pairs with more trials."""
    boxes = predicted(standing, after_ae)
    made = board(boxes, PARTS)
    total = 0.0
    for ahead, behind in pairs:
        found, _ = solution(difference_goal(boxes, behind, ahead), made, _LIMITS, None)
        total += max(float(standing.known.high_ab[behind, ahead]) - found.bound, 0.0)
    return total


def _equal_numbers(view: View, pair: Pair) -> float:
    """Return the estimated seconds to decide a pair under the game's weights, all cells growing equally."""
    standing, (ahead, behind) = view.standing, pair
    assert isinstance(standing, UnderTheGame)
    if standing.boxes is None or standing.known.score_a[ahead] <= standing.known.score_a[behind]:
        return math.inf
    for doublings in range(1, _DOUBLINGS):
        after = np.maximum(view.trials_ae, BLOCK) * 2**doublings
        boxes = predicted(standing, after)
        found, _ = solution(difference_goal(boxes, behind, ahead), board(boxes, PARTS), _LIMITS, None)
        if found.bound < max(view.within, 0.0):
            return float(((after - view.trials_ae) * view.cost_ae).sum())
    return math.inf


def predicted(standing: UnderTheGame, after_ae: Ints) -> Boxes:
    """Return the predicted intervals with more trials: their width in nats stays the same."""
    assert standing.boxes is not None
    assert standing.estimates is not None
    now, z_aer = standing.boxes, standing.estimates.z_aer

    def counted(trials_ae: Ints) -> Floats:
        return np.minimum(trials_ae[:, :, None], trials_ae.T[None, :, :]) // BLOCK * float(BLOCK)

    before, after = counted(standing.estimates.trials_ae), counted(after_ae)
    low, below = np.empty(z_aer.shape), np.empty(z_aer.shape)
    lower_ends(z_aer, after, width_in_nats(z_aer, now.low_aer, before, standing.nats), low)
    lower_ends(1.0 - z_aer, after, width_in_nats(1.0 - z_aer, 1.0 - now.high_aer, before, standing.nats), below)
    return replace(now, low_aer=np.maximum(low, now.low_aer), high_aer=np.minimum(1.0 - below, now.high_aer))


#: Rules by name; `untuned.race` accepts a function, too.
RULES: dict[str, Rule] = {"by-cost": by_cost, "eliminate": eliminate, "equal": equal}
DEFAULT = "by-cost"
SUMMARIES = {
    "by-cost": "The cells that reduce the uncertainty of open pairs most per second (default).",
    "eliminate": "Equal numbers for the algorithms in open pairs; the others get what references need.",
    "equal": "Equal numbers for all cells.",
}


def rule_of(rule: str | Rule) -> Rule:
    """Return the rule of a name, or the function that was passed."""
    if not isinstance(rule, str):
        if not callable(rule):
            raise InvalidInput(f"rule={rule!r}: pass {' or '.join(map(repr, RULES))}, or a function of a View")
        return rule
    if rule not in RULES:
        raise UnknownName("rule of races", rule, RULES)
    return RULES[rule]


def numbers(view: View, wanted_ae: Floats) -> Ints:
    """Return the total trials of every cell after the round: whole numbers, none below its minimum.

    Parameters
    ----------
    view
        The state before the round.
    wanted_ae
        The additional trials that a rule returned.
    """
    try:
        wanted = np.asarray(wanted_ae, dtype=np.float64)
    except (TypeError, ValueError):
        wanted = np.full(view.trials_ae.shape, np.nan)
    if wanted.shape != view.trials_ae.shape or not np.isfinite(wanted).all() or (wanted < 0.0).any():
        raise InvalidInput(
            f"a rule returns numbers of trials, none of them negative, of shape {view.trials_ae.shape}: it returned "
            f"{'an array of shape ' + str(wanted.shape) if wanted.shape != view.trials_ae.shape else 'others'}"
        )
    wanted = np.minimum(wanted, _MOST)
    # Cells that bounds need cost time, too: take as much of the wanted trials as fits.
    part, low, high = 1.0, 0.0, 1.0
    found = _whole(view, wanted)
    for _ in range(_HALVINGS):
        # An exact fit must not depend on the rounding of sums of measured seconds.
        if float(((found - view.trials_ae) * view.cost_ae).sum()) <= view.seconds * (1.0 + 1e-9):
            low = part
            if part == 1.0:
                break
        else:
            high = part
        part = 0.5 * (low + high)
        found = _whole(view, part * wanted)
    return _whole(view, low * wanted)


def _whole(view: View, wanted: Floats) -> Ints:
    counted = view.counted_ae
    more = np.where(counted, np.rint(wanted), 0.0).astype(np.int64)
    if isinstance(view.standing, UnderTheGame):
        # A block counts only when it is full.
        missing = -(view.trials_ae + more) % BLOCK
        more = np.where(more > 0, more + missing, 0)
        if not more.any():
            more = np.where(counted, BLOCK - view.trials_ae % BLOCK, 0)
    else:
        most_e = np.maximum(more.max(axis=0), 1)
        more = np.where(counted, np.maximum(more, np.maximum(-(-most_e // ROWS), LEAST)[None, :]), more)
    return _alike(view.table, view.trials_ae + more)


def _alike(table: ScoreTable, numbers_ae: Ints) -> Ints:
    """Return the numbers with equal ones for algorithms that are declared identical on an environment."""
    found = numbers_ae.copy()
    for e, kinds in enumerate(table.kinds):
        for kind in np.unique(kinds):
            found[kinds == kind, e] = numbers_ae[kinds == kind, e].max()
    return found
