"""Simulated races: trials from populations with known truth, and the errors of a race.

A race may be misled on purpose: by a rule that repeats unlucky cells, by changing goals, by stopping it within rounds
and resuming. Its guarantee must still hold.
"""

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from untuned.collect.rounds import with_rounds
from untuned.evaluation import Evaluation
from untuned.judge.game import aggregate
from untuned.judge.judging import Judging
from untuned.judge.methods import ANYTIME
from untuned.judge.percentiles import percentiles
from untuned.judge.pool import pools
from untuned.judge.weights import weights_of
from untuned.lab.data_sets import ROUNDING, Tally, compare
from untuned.lab.population_types import KnownPopulation, Population, Truth
from untuned.races.goals import Goal, Known
from untuned.races.over_study import declared_weights
from untuned.races.racing import Budget, Ending, Look, Racing
from untuned.races.rules import Rule, View, equal, rule_of
from untuned.races.standing import UnderTheGame
from untuned.scores import Floats, Ints, ScoreTable

#: Adversarial rules, for tests of the guarantee: see `haphazard` and `chasing`.
ADVERSARIES = ("haphazard", "chasing")
#: Trials of every cell that are drawn at first; later draws double the number.
_DRAWN = 64


class Simulation:
    """Trials of a population, a `untuned.races.racing.Source`: trial t of a cell is the same whenever it is run.

    Parameters
    ----------
    population
        The population to draw from. Cells have as many trials as the race wants, whatever their shares are.
    cost_ae
        Seconds per trial. There is no other clock.
    seed
        Seed of the random numbers.
    workers
        How many trials run at the same time.
    judging
        The delta and the weights that the log begins with; None for none.
    """

    def __init__(
        self,
        population: Population,
        cost_ae: Floats,
        seed: int,
        workers: int = 1,
        judging: Judging | None = None,
    ) -> None:
        self._population = replace(population, shares=()) if isinstance(population, KnownPopulation) else population
        self._cost_ae = cost_ae
        self._seed = seed
        self._drawn: list[ScoreTable] = []
        self._trials_ae: Ints = np.zeros(population.shape, dtype=np.int64)
        self._begun = 0.0
        first = self._draws(1)
        self.workers = workers
        self.names = (first.algorithms, first.environments)
        names = {"algorithms": list(first.algorithms), "environments": list(first.environments)}
        declared: dict[str, Any] = {}
        if judging is not None:
            declared = {"delta": judging.delta, "weights": declared_weights(judging, *self.names)}
        self._log: list[Mapping[str, Any]] = [{"kind": "declared", **declared, **names}]

    def _draws(self, trials: int) -> ScoreTable:
        """Return at least this many trials of every cell."""
        while not self._drawn or self._drawn[-1].cells[0][0].size < trials:
            past = self._drawn.pop() if self._drawn else None
            size = _DRAWN if past is None else past.cells[0][0].size
            rng = np.random.default_rng([self._seed, 0 if past is None else size])
            more = self._population.sample(size, rng)
            self._drawn.append(more if past is None else _joined(past, more))
        return self._drawn[-1]

    def log(self) -> Sequence[Mapping[str, Any]]:
        """Return the entries of the log."""
        return tuple(self._log)

    def note(self, entry: Mapping[str, Any]) -> None:
        """Add an entry to the log."""
        self._log.append(entry)

    def collect(self, numbers_ae: Ints, stop: Callable[[], bool]) -> bool:
        """Run trials cell by cell until every one has its number; return whether all of them are there."""
        for cell in np.argwhere(numbers_ae > self._trials_ae):
            if stop():
                return False
            self._trials_ae[tuple(cell)] = numbers_ae[tuple(cell)]
        return True

    def scores(self) -> ScoreTable:
        """Return all scores, with the complete rounds."""
        drawn = self._draws(int(self._trials_ae.max()))
        cells = tuple(
            tuple(cell[:count] for cell, count in zip(row, counts, strict=True))
            for row, counts in zip(drawn.cells, self._trials_ae.tolist(), strict=True)
        )
        return with_rounds(replace(drawn, cells=cells, unbroken_ae=self._trials_ae.copy()), self._log)

    def costs(self, numbers_ae: Ints) -> Floats:
        """Return the seconds per trial of every cell that has any."""
        return np.where(numbers_ae > 0, self._cost_ae, np.nan)

    @property
    def seconds(self) -> float:
        """The time that all trials take one worker."""
        return float((self._trials_ae * self._cost_ae).sum())

    def elapsed(self) -> float:
        """Return the seconds of collecting since the race was started or resumed."""
        return (self.seconds - self._begun) / self.workers

    def taken_up(self) -> "Simulation":
        """Return the same trials and the same log, for another process."""
        found = copy.copy(self)
        found._begun = self.seconds
        return found


def _joined(past: ScoreTable, more: ScoreTable) -> ScoreTable:
    cells = tuple(
        tuple(np.concatenate(both) for both in zip(*rows, strict=True))
        for rows in zip(past.cells, more.cells, strict=True)
    )
    return replace(past, cells=cells)


@dataclass(frozen=True)
class Course:
    """How a race is run.

    Attributes
    ----------
    goals
        The goals in sequence: when one is reached or given up, the race continues with the next.
    rule
        One of `untuned.races.rules.RULES` or of `ADVERSARIES`.
    judging
        Delta and weights.
    budget
        Budget of all goals together.
    stops
        The probability of being stopped at each check, one before every cell of a round.
    """

    goals: tuple[str, ...]
    rule: str
    judging: Judging
    budget: Budget
    stops: float = 0.0


@dataclass(frozen=True)
class Outcome:
    """The result of a race, and its errors.

    Attributes
    ----------
    ending
        How the race ended under the last goal.
    trials, rounds, sessions
        How many.
    seconds
        Seconds of one worker.
    decided
        Pairs with a verdict, at the end, over all weightings.
    verdicts
        Whether any verdict was wrong, at any look, under any weighting.
    bounds
        Whether any bound on a difference ever missed it.
    within
        Whether any goal with "within" was declared reached despite a larger difference.
    evaluation
        Whether anything in the evaluation of all rounds was wrong; None without an evaluation.
    """

    ending: Ending
    trials: int
    rounds: int
    sessions: int
    seconds: float
    decided: int
    verdicts: bool
    bounds: bool
    within: bool
    evaluation: bool | None

    @property
    def anything(self) -> bool:
        """Whether anything was wrong."""
        return self.verdicts or self.bounds or self.within or bool(self.evaluation)


def simulated(
    population: Population, course: Course, cost_ae: Floats, seed: int, *, workers: int = 1, evaluated: bool = True
) -> Outcome:
    """Run a race, and return its errors.

    Parameters
    ----------
    population
        The population, with known truth.
    course
        How the race is run.
    cost_ae
        Seconds per trial.
    seed
        Determines everything random.
    workers
        How many trials run at the same time.
    evaluated
        Whether all rounds are evaluated at the end, as `untuned.race` does.
    """
    truth = population.truth("mid-rank")
    judging = replace(course.judging, intervals=ANYTIME)
    source = Simulation(population, cost_ae, seed, workers, judging)
    y = _true_scores(truth, judging, source.names)
    rule = adversary(course.rule, truth, seed) if course.rule in ADVERSARIES else rule_of(course.rule)
    rng = np.random.default_rng([seed, 1, 1])
    verdicts = bounds = within = False
    sessions = 0
    for goal in map(Goal.parse, course.goals):
        ending: Ending = "stopped"
        while ending == "stopped":
            source = source.taken_up()
            racing = Racing(source, goal, judging, rule, course.budget, stop=_stopping(course.stops, rng))
            ending = racing.run()
            sessions += 1
            verdicts |= any(_is_verdict_wrong(look, y) for look in racing.looks)
            bounds |= any(_is_bound_missed(look, y) for look in racing.looks)
        within |= ending == "within" and _is_certificate_wrong(goal, racing.looks[-1], y, source.names[0])
    last = racing.looks[-1] if racing.looks else None
    wrong = None
    if last is not None and evaluated:
        wrong = _is_anything_wrong(judging.judge(source.scores(), workers=1), truth)
    return Outcome(
        ending,
        int(source.scores().trials.sum()),
        len(racing.looks),
        sessions,
        source.seconds,
        0 if last is None else sum(int(known.better_ab.sum()) for known in last.known.values()),
        verdicts,
        bounds,
        within,
        wrong,
    )


def _stopping(probability: float, rng: np.random.Generator) -> Callable[[], bool]:
    """Return a stop function that becomes True at a random moment, and stays True."""
    stopped = False

    def stop() -> bool:
        nonlocal stopped
        stopped = stopped or bool(rng.random() < probability)
        return stopped

    return stop


def _true_scores(truth: Truth, judging: Judging, names: tuple[Sequence[str], Sequence[str]]) -> dict[str, Floats]:
    """Return the true scores under every weighting."""
    weights = weights_of(judging, *names)
    return {name: truth.y_a if q_er is None else aggregate(truth.z_aer, q_er) for name, q_er in weights.items()}


def _gaps(y_a: Floats) -> Floats:
    found: Floats = y_a[:, None] - y_a[None, :]
    return found


def _is_verdict_wrong(look: Look, y: Mapping[str, Floats]) -> bool:
    return any(bool((known.better_ab & (_gaps(y[name]) <= ROUNDING)).any()) for name, known in look.known.items())


def _is_bound_missed(look: Look, y: Mapping[str, Floats]) -> bool:
    return any(bool((_gaps(y[name]) > known.high_ab + ROUNDING).any()) for name, known in look.known.items())


def _is_certificate_wrong(goal: Goal, look: Look, y: Mapping[str, Floats], algorithms: Sequence[str]) -> bool:
    """Return whether an undecided pair differs by more than the goal allows."""

    def wrong(known: Known, gap_ab: Floats) -> bool:
        for ahead, behind in goal.asked(known, algorithms):
            if not known.decided(ahead, behind) and not known.same_ab[ahead, behind]:
                # For the best, the goal only states that none is better by more than that.
                gap = -gap_ab[ahead, behind] if goal.kind in ("best", "top") else abs(gap_ab[ahead, behind])
                if gap >= goal.within + ROUNDING:
                    return True
        return False

    return any(wrong(known, _gaps(y[name])) for name, known in look.known.items())


def _is_anything_wrong(evaluation: Evaluation, truth: Truth) -> bool:
    found = Tally()
    compare(found, evaluation, truth)
    events = (found.percentiles, found.aggregates, found.differences, found.verdicts, found.wins, found.caps)
    return any(events)


# Adversaries.


def adversary(name: str, truth: Truth, seed: int) -> Rule:
    """Return the rule of this name, for a population and a seed."""
    return {"haphazard": haphazard(seed), "chasing": chasing(truth)}[name]


def haphazard(seed: int) -> Rule:
    """Return a rule that gives any numbers to any cells."""

    def rule(view: View) -> Floats:
        rng = np.random.default_rng([seed, int(view.trials_ae.sum())])
        parts_ae = rng.exponential(size=view.trials_ae.shape) * (rng.random(view.trials_ae.shape) < rng.random())
        total = float((parts_ae * view.cost_ae).sum())
        found: Floats = parts_ae * (rng.random() * view.seconds / total if total > 0.0 else 0.0)
        return found

    return rule


def chasing(truth: Truth) -> Rule:
    """Return a rule that knows the truth and tries to cause a wrong verdict, the one that is closest.

    It repeats the cells whose results were unlucky for it, and leaves the lucky ones.
    """

    def rule(view: View) -> Floats:
        known = view.standing.known
        game = isinstance(view.standing, UnderTheGame)
        y_a = truth.y_a if game else aggregate(truth.z_aer, view.standing.q_er)
        wrong_ab = (_gaps(y_a) <= ROUNDING) & ~known.same_ab & ~np.eye(len(y_a), dtype=np.bool_)
        better, worse = np.unravel_index(np.argmin(np.where(wrong_ab, known.high_ab.T, np.inf)), wrong_ab.shape)
        luck_ae = (percentiles(pools(view.table)).z_aer - truth.z_aer).mean(axis=2)
        wanted = np.zeros(luck_ae.shape, dtype=np.bool_)
        wanted[better], wanted[worse] = luck_ae[better] < 0.0, luck_ae[worse] > 0.0
        cost = float(view.cost_ae[wanted].sum())
        return np.where(wanted, view.seconds / cost, 0.0) if cost > 0.0 else equal(view)

    return rule
