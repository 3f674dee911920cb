"""One data set from a population with known truth: what a method says of it, and what of that is wrong."""

import time
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from untuned.evaluation import Evaluation
from untuned.judge.judging import Judging
from untuned.lab.contenders import Contender
from untuned.lab.population_types import Population, Truth
from untuned.scores import ScoreTable

#: A miss by less than this is rounding, and aggregates that differ by less are the same.
ROUNDING = 1e-11


@dataclass(frozen=True)
class Design:
    """How many trials there are, and when results are looked at.

    Attributes
    ----------
    trials
        For each algorithm on each environment.
    every
        None for one look, at the end. Else there is a look after every so many trials, and the experiment ends at the
        first that shows a difference between any two algorithms.
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
    """What was wrong, and what was found, over some data sets.

    Attributes
    ----------
    data_sets
        How many.
    percentiles, aggregates, differences
        Data sets in which any of them was outside its interval, at any look; None for percentiles that have none.
    verdicts
        Data sets in which any verdict was wrong: "A is better" where A is worse, or just as good.
    decided
        Pairs with a verdict, at the last look.
    width, percentile_width
        Sums over data sets of the mean width of intervals, at the last look.
    trials
        Sum over data sets of the trials at which they ended.
    seconds
        Spent on judging.
    """

    data_sets: int = 0
    percentiles: int | None = 0
    aggregates: int = 0
    differences: int = 0
    verdicts: int = 0
    decided: int = 0
    width: float = 0.0
    percentile_width: float | None = 0.0
    trials: int = 0
    seconds: float = 0.0

    def add(self, other: "Tally") -> None:
        """Add what was found in other data sets."""
        self.data_sets += other.data_sets
        self.percentiles = _sum(self.percentiles, other.percentiles)
        self.aggregates += other.aggregates
        self.differences += other.differences
        self.verdicts += other.verdicts
        self.decided += other.decided
        self.width += other.width
        self.percentile_width = _sum(self.percentile_width, other.percentile_width)
        self.trials += other.trials
        self.seconds += other.seconds


_Number = TypeVar("_Number", int, float)


def _sum(one: _Number | None, other: _Number | None) -> _Number | None:
    return None if one is None or other is None else one + other


def data_set(population: Population, design: Design, seed: int, number: int) -> ScoreTable:
    """Return data set ``number``: it depends on the population, the number of trials and the seed, on no method."""
    name = [*population.name.encode()]
    return population.sample(design.trials, np.random.default_rng([seed, number, design.trials, len(name), *name]))


def experiment(
    population: Population, truth: Truth, contender: Contender, design: Design, judging: Judging, number: int
) -> Tally:
    """Return what a method gets wrong in a data set."""
    table = data_set(population, design, judging.seed, number)
    found = Tally(data_sets=1)
    for trials in design.looks():
        looked_at = table if trials == design.trials else population.first(table, trials)
        begin = time.perf_counter()
        evaluation = judged(looked_at, contender, judging, number)
        found.seconds += time.perf_counter() - begin
        _compare(found, evaluation, truth)
        found.trials = trials
        if design.every is not None and found.decided:
            break
    return found


def judged(table: ScoreTable, contender: Contender, judging: Judging, number: int) -> Evaluation:
    """Return the evaluation of data set ``number``."""
    judging = replace(
        judging,
        intervals=contender.method,
        conventions=contender.conventions,
        # Each data set is resampled with its own random numbers.
        seed=(judging.seed << 32) + number,
    )
    return judging.judge(table, workers=1)


def _compare(found: Tally, evaluation: Evaluation, truth: Truth) -> None:
    """Count what is wrong at this look, and what it shows."""
    table = evaluation.percentiles
    if table.low_aer is None or table.high_aer is None:
        found.percentiles = found.percentile_width = None
    else:
        z = truth.z_aer
        missed = (z < table.low_aer - ROUNDING) | (z > table.high_aer + ROUNDING)
        found.percentiles = max(found.percentiles or 0, int(missed.any()))
        others = ~np.eye(len(z), dtype=bool)[:, None, :].repeat(z.shape[1], axis=1)
        found.percentile_width = float((table.high_aer - table.low_aer)[others].mean())
    y = truth.y_a
    missed = (y < evaluation.low_a - ROUNDING) | (y > evaluation.high_a + ROUNDING)
    found.aggregates = max(found.aggregates, int(missed.any()))
    found.width = float((evaluation.high_a - evaluation.low_a).mean())
    gap_ab = y[:, None] - y[None, :]
    pairs = evaluation.pairs
    missed = (gap_ab < pairs.low_ab - ROUNDING) | (gap_ab > pairs.high_ab + ROUNDING)
    found.differences = max(found.differences, int(missed.any()))
    better_ab = pairs.better_ab
    found.verdicts = max(found.verdicts, int((better_ab & (gap_ab <= ROUNDING)).any()))
    found.decided = int(np.count_nonzero(better_ab))
