"""One data set from a population with known truth: a method's evaluation of it, and its errors."""

import time
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from untuned.evaluation import Evaluation, HeadToHead, Ranking
from untuned.judge.judging import Judging
from untuned.lab.contenders import Contender
from untuned.lab.population_types import Population, Truth
from untuned.scores import Floats, ScoreTable
from untuned.verdicts import Pairs

#: A miss by less than this is rounding; aggregates that differ by less are equal.
ROUNDING = 1e-11
# Caps come from bisection.
_CAP_ROUNDING = 1e-8


@dataclass(frozen=True)
class Design:
    """The number of trials, and when to look at the results.

    Attributes
    ----------
    trials
        For each algorithm on each environment.
    every
        None for one look, at the end. Else the number of trials between looks; the experiment ends at the first look
        that shows a difference between any two algorithms.
    """

    trials: int
    every: int | None = None

    def looks(self) -> tuple[int, ...]:
        """Return the numbers of trials at which there is a look."""
        if self.every is None:
            return (self.trials,)
        return (*range(self.every, self.trials, self.every), self.trials)


@dataclass
class Tally:
    """Counts of errors and verdicts over some data sets.

    Attributes
    ----------
    data_sets
        How many.
    percentiles, aggregates, differences
        Data sets in which any of them was outside its interval, at any look and under any of the weightings; None for
        percentiles that have none.
    verdicts
        Data sets in which any verdict was wrong: "A is better" where A is worse, or just as good.
    wins
        Data sets in which any head-to-head interval or verdict was wrong; None where there are none.
    caps
        Data sets in which any verdict fails under weights within its cap; None where there are none.
    anything
        Data sets in which any of this was wrong; None where everything follows from percentiles.
    decided
        Pairs with a verdict, at the last look, over all rankings.
    width, percentile_width
        Sums over data sets of the mean width of intervals, at the last look.
    trials
        Sum over data sets of the trials at which they ended.
    seconds
        Seconds spent on judging.
    """

    data_sets: int = 0
    percentiles: int | None = 0
    aggregates: int = 0
    differences: int = 0
    verdicts: int = 0
    wins: int | None = 0
    caps: int | None = 0
    anything: int | None = 0
    decided: int = 0
    width: float = 0.0
    percentile_width: float | None = 0.0
    trials: int = 0
    seconds: float = 0.0

    def add(self, other: "Tally") -> None:
        """Add the counts of other data sets."""
        self.data_sets += other.data_sets
        self.percentiles = _sum(self.percentiles, other.percentiles)
        self.aggregates += other.aggregates
        self.differences += other.differences
        self.verdicts += other.verdicts
        self.wins = _sum(self.wins, other.wins)
        self.caps = _sum(self.caps, other.caps)
        self.anything = _sum(self.anything, other.anything)
        self.decided += other.decided
        self.width += other.width
        self.percentile_width = _sum(self.percentile_width, other.percentile_width)
        self.trials += other.trials
        self.seconds += other.seconds


_Number = TypeVar("_Number", int, float)


def _sum(one: _Number | None, other: _Number | None) -> _Number | None:
    return None if one is None or other is None else one + other


def data_set(population: Population, design: Design, seed: int, number: int) -> ScoreTable:
    """Return data set ``number``: it depends on the population, the number of trials and the seed alone."""
    name = [*population.name.encode()]
    return population.sample(design.trials, np.random.default_rng([seed, number, design.trials, len(name), *name]))


def experiment(
    population: Population, truth: Truth, contender: Contender, design: Design, judging: Judging, number: int
) -> Tally:
    """Return a method's errors in a data set."""
    table = data_set(population, design, judging.seed, number)
    found = Tally(data_sets=1)
    for trials in design.looks():
        looked_at = table if trials == design.trials else population.first(table, trials)
        begin = time.perf_counter()
        evaluation = judged(looked_at, contender, judging, number)
        found.seconds += time.perf_counter() - begin
        compare(found, evaluation, truth)
        found.trials = trials
        if design.every is not None and found.decided:
            break
    return found


def judged(table: ScoreTable, contender: Contender, judging: Judging, number: int) -> Evaluation:
    """Return the evaluation of data set ``number``."""
    # Each data set is resampled with its own random numbers.
    options = replace(contender.judging(judging), seed=(judging.seed << 32) + number)
    found = options.judge(table, workers=1)
    return found if contender.factor == 1.0 else _shrunk(found, contender.factor)


def _shrunk(evaluation: Evaluation, factor: float) -> Evaluation:
    """Return bounds at ``factor`` times their distance from the estimates, verdicts that follow, and larger caps."""
    rankings = []
    for each in evaluation.rankings:
        gap_ab = each.score_a[:, None] - each.score_a[None, :]
        low_ab = gap_ab - factor * (gap_ab - each.pairs.low_ab)
        better_ab = each.pairs.better_ab | (low_ab > 0.0)
        cap_ab = None if each.cap_ab is None else np.where(better_ab, np.fmax(each.cap_ab / factor, 1.0), np.nan)
        rankings.append(
            replace(
                each,
                low_a=each.score_a - factor * (each.score_a - each.low_a),
                high_a=each.score_a + factor * (each.high_a - each.score_a),
                pairs=Pairs(low_ab, -low_ab.T, better_ab),
                cap_ab=cap_ab,
            )
        )
    direct = evaluation.head_to_head
    if direct is not None:
        low_ab = direct.win_ab - factor * (direct.win_ab - direct.low_ab)
        direct = HeadToHead(direct.win_ab, low_ab, 1.0 - low_ab.T, direct.better_ab | (low_ab > 0.5))
    return replace(evaluation, rankings=tuple(rankings), head_to_head=direct)


def compare(found: Tally, evaluation: Evaluation, truth: Truth) -> None:
    """Count the errors and verdicts of this look."""
    aggregates = differences = verdicts = False
    caps: bool | None = None
    widths = []
    found.decided = 0
    for ranking in evaluation.rankings:
        y = truth.scores(ranking)
        aggregates |= _outside(y, ranking.low_a, ranking.high_a)
        gap_ab = y[:, None] - y[None, :]
        pairs = ranking.pairs
        differences |= _outside(gap_ab, pairs.low_ab, pairs.high_ab)
        verdicts |= bool((pairs.better_ab & (gap_ab <= ROUNDING)).any())
        if ranking.cap_ab is not None:
            caps = bool(caps) or _is_cap_wrong(ranking, truth)
        widths.append(float((ranking.high_a - ranking.low_a).mean()))
        found.decided += int(np.count_nonzero(pairs.better_ab))
    found.width = sum(widths) / len(widths)
    wins = _is_win_wrong(evaluation, truth)
    wrong: dict[str, bool | None] = {
        "percentiles": _is_percentile_missed(found, evaluation, truth),
        "aggregates": aggregates,
        "differences": differences,
        "verdicts": verdicts,
        "wins": wins,
        "caps": caps,
    }
    # Where everything follows from the percentiles of one ranking, the errors are counted already.
    together = len(widths) > 1 or wins is not None
    wrong["anything"] = any(wrong.values()) if together else None
    for event, happened in wrong.items():
        setattr(found, event, None if happened is None else max(getattr(found, event) or 0, int(happened)))


def _outside(true: Floats, low: Floats, high: Floats) -> bool:
    return bool(((true < low - ROUNDING) | (true > high + ROUNDING)).any())


def _is_percentile_missed(found: Tally, evaluation: Evaluation, truth: Truth) -> bool | None:
    """Return whether any percentile is outside its interval, None without intervals; note their mean width."""
    table = evaluation.percentiles
    if table.low_aer is None or table.high_aer is None:
        found.percentile_width = None
        return None
    z = truth.z_aer
    others = ~np.eye(len(z), dtype=bool)[:, None, :].repeat(z.shape[1], axis=1)
    found.percentile_width = float((table.high_aer - table.low_aer)[others].mean())
    return _outside(z, table.low_aer, table.high_aer)


def _is_win_wrong(evaluation: Evaluation, truth: Truth) -> bool | None:
    """Return whether any head-to-head interval or verdict is wrong, None without them."""
    direct = evaluation.head_to_head
    if direct is None:
        return None
    # They belong to the last ranking: the game's weights come first.
    win_ab = np.einsum("aeb,e->ab", truth.z_aer, evaluation.rankings[-1].q_er.sum(axis=1))
    reversed_ab = direct.better_ab & (win_ab <= 0.5 + ROUNDING)
    return _outside(win_ab, direct.low_ab, direct.high_ab) or bool(reversed_ab.any())


def _is_cap_wrong(ranking: Ranking, truth: Truth) -> bool:
    """Return whether any verdict fails under a weighting within its cap.

    The worst weighting gives the largest allowed weights to the environments with the smallest differences: a
    fractional knapsack.
    """
    assert ranking.cap_ab is not None
    weights_e = ranking.q_er.sum(axis=1)
    kept = weights_e > 0.0
    rho_er = ranking.q_er[kept] / weights_e[kept, None]
    scores_ae = np.einsum("aer,er->ae", truth.z_aer[:, kept], rho_er)
    for a, b in np.argwhere(~np.isnan(ranking.cap_ab)):
        gap_e = scores_ae[a] - scores_ae[b]
        order = np.argsort(gap_e)
        room = np.minimum(ranking.cap_ab[a, b] * (1.0 - _CAP_ROUNDING), 1e9) * weights_e[kept][order]
        before = np.cumsum(room) - room
        worst = float((np.clip(1.0 - before, 0.0, room) * gap_e[order]).sum())
        if worst <= ROUNDING:
            return True
    return False
