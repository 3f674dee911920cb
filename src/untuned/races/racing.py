"""The loop of a race: look, stop or plan a round, collect it, look again.

The log determines the race: the plan of a round is written before its first trial, and depends on complete rounds
alone. After a kill the loop reads the log, completes the interrupted round and continues as if nothing had happened.
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

import numpy as np

from untuned.errors import InvalidInput
from untuned.judge.intervals.betting import BLOCK
from untuned.judge.judging import GAME, Judging
from untuned.judge.weights import weights_of
from untuned.races.goals import Goal, Known, Pair
from untuned.races.rules import Rule, View, numbers
from untuned.races.standing import Standing, UnderFixedWeights, UnderTheGame
from untuned.races.variance import pair_variances
from untuned.scores import Floats, Ints, ScoreTable

#: Trials of every cell in the first round: a handful, or a block of betting under the game's weights.
FIRST = 4
#: A round costs this part of all earlier rounds.
GROWTH = 0.4
#: The part of the remaining budget that a round may be planned for.
_SAFE = 0.9
#: How often a round is halved to fit into the number of trials.
_HALVINGS = 8
#: The smallest seconds per trial, also used where nothing was measured.
_UNKNOWN, _LEAST = 1.0, 1e-6

Ending = Literal["reached", "within", "budget", "trials", "stopped"]


class Source(Protocol):
    """Where trials come from: a study, or a simulation."""

    @property
    def names(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The algorithms and the environments."""
        ...

    @property
    def workers(self) -> int:
        """How many trials run at the same time."""
        ...

    def log(self) -> Sequence[Mapping[str, Any]]:
        """Return the entries of the log, oldest first."""
        ...

    def note(self, entry: Mapping[str, Any]) -> None:
        """Add an entry to the log; when it returns, it survives this process."""
        ...

    def collect(self, numbers_ae: Ints, stop: Callable[[], bool]) -> bool:
        """Run trials until every cell has its number; return whether all of them are there."""
        ...

    def scores(self) -> ScoreTable:
        """Return all scores, with the complete rounds."""
        ...

    def costs(self, numbers_ae: Ints) -> Floats:
        """Return the mean seconds of the first trials of every cell, [a, e]; NaN where there are none."""
        ...

    def elapsed(self) -> float:
        """Return the seconds of collecting since this object was made."""
        ...


@dataclass(frozen=True)
class Budget:
    """The total budget of a race, earlier sessions included.

    Attributes
    ----------
    seconds
        Seconds of collecting, by the clock; infinite for no limit.
    trials
        The total number; None for no limit.
    """

    seconds: float = math.inf
    trials: int | None = None

    def check(self, algorithms: Sequence[str], environments: Sequence[str]) -> None:
        """Refuse fewer trials than there are cells."""
        cells = len(algorithms) * len(environments)
        if self.trials is not None and self.trials < cells:
            raise InvalidInput(
                f"max_trials={self.trials} is less than one trial of each of {len(algorithms)} algorithms on each of "
                f"{len(environments)} environments: pass at least {cells}"
            )


@dataclass(frozen=True, eq=False)
class Look:
    """The standings after a round.

    Attributes
    ----------
    trials_ae
        Trials of every cell.
    elapsed
        Wall-clock seconds of collecting, all sessions together.
    known
        Estimates, bounds and verdicts, by weighting.
    open
        The open pairs of the goal, by weighting.
    costs
        For each of these, the estimated seconds of collecting to settle it alone; infinite where no number of trials
        would.
    doubts
        The cells that carry most of the uncertainty, by weighting, with their parts of it.
    number
        Number of the round, from 1.
    algorithms, environments
        Their names; pairs and cells are numbers of these.
    """

    trials_ae: Ints
    elapsed: float
    known: Mapping[str, Known]
    open: Mapping[str, tuple[Pair, ...]]
    costs: Mapping[str, tuple[float, ...]]
    doubts: Mapping[str, tuple[tuple[int, int, float], ...]]
    number: int
    algorithms: tuple[str, ...]
    environments: tuple[str, ...]

    @property
    def trials(self) -> int:
        """All trials."""
        return int(self.trials_ae.sum())


@dataclass(eq=False)
class Racing:
    """A running race.

    Attributes
    ----------
    source
        Where trials come from.
    goal
        Its goal.
    judging
        Delta and weights; the methods are anytime-valid.
    rule
        Which cells get trials.
    budget
        Its budget.
    costs
        Seconds per trial for the plans of rounds, [a, e], or one such array per round; None for the measured ones.
    watch
        Called with every look.
    stop
        Polled; True ends the race after the running trials.
    """

    source: Source
    goal: Goal
    judging: Judging
    rule: Rule
    budget: Budget = Budget()
    costs: Floats | None = None
    watch: Callable[[Look], None] | None = None
    stop: Callable[[], bool] | None = None
    looks: list[Look] = field(default_factory=list)
    _table: ScoreTable | None = None
    _before: float = 0.0
    _times: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        algorithms, environments = self.source.names
        self.goal.check(algorithms)
        self.budget.check(algorithms, environments)
        weights = weights_of(self.judging, algorithms, environments)
        shares = self.judging.shares(tuple(weights))
        self.standings: dict[str, Standing] = {
            name: UnderTheGame(
                (algorithms, environments), self.judging, shares[name] * self.judging.delta, self.source.workers
            )
            if q_er is None
            else UnderFixedWeights(q_er, shares[name] * self.judging.delta, self.source.workers)
            for name, q_er in weights.items()
            # If both are judged, the goal is pursued under equal weights.
            if len(weights) == 1 or q_er is not None
        }

    def run(self) -> Ending:
        """Race until the goal is reached or the budget is spent, and return why it ended."""
        log = self.source.log()
        looked = [entry for entry in log if entry["kind"] == "look"]
        self._before = max((float(entry["elapsed"]) for entry in looked), default=0.0)
        planned = [np.array(entry["numbers"], dtype=np.int64) for entry in log if entry["kind"] == "round"]
        self._times = [float(entry["elapsed"]) for entry in looked]
        logged = len(looked)
        if planned:
            # The first rounds may be complete already: they are judged again, and nothing is collected.
            self._caught_up(planned)
        while True:
            if self._judged < len(planned):
                # Another goal may need no more trials.
                if self.looks and self._is_reached(self.looks[-1]):
                    return self._ending(self.looks[-1]) or "reached"
                # Planned with no limit, or with another one.
                if self.budget.trials is not None and planned[self._judged].sum() > self.budget.trials:
                    return self._ending(self.looks[-1] if self.looks else None) or "trials"
                if not self._collect(planned[self._judged]):
                    return "stopped" if self._asked_to_stop() else "budget"
                self._caught_up(planned)
            for each in self.looks[logged:]:
                self.source.note(entry_of(each))
            logged = max(logged, len(self.looks))
            look = self.looks[-1] if self.looks else None
            ending = self._ending(look)
            if ending is not None:
                return ending
            costs = self._costs(self._table)
            numbers_ae = self._planned(look, costs)
            if not isinstance(numbers_ae, np.ndarray):
                return numbers_ae
            self.source.note({"kind": "round", "numbers": numbers_ae.tolist(), "costs": costs.tolist()})
            planned.append(numbers_ae)

    # Looking.

    @property
    def _judged(self) -> int:
        return len(self.looks)

    def _caught_up(self, planned: Sequence[Ints]) -> None:
        """Judge the complete rounds that have not been judged."""
        table = self.source.scores()
        complete = 0 if table.rounds is None else len(table.rounds)
        for number in range(self._judged, min(complete, len(planned))):
            before = planned[number - 1] if number else np.zeros_like(planned[0])
            so_far = up_to(table, planned[number])
            for standing in self.standings.values():
                standing.look(so_far, before, planned[number])
            self.looks.append(self._look(so_far))
            # Looks of earlier sessions were reported then.
            if self.watch is not None and number >= len(self._times):
                self.watch(self.looks[-1])
        self._table = up_to(table, planned[self._judged - 1]) if self._judged else None

    def _look(self, table: ScoreTable) -> Look:
        algorithms, environments = self.source.names
        costs = self._costs(table)
        open_pairs, prices, doubts = {}, {}, {}
        for name, standing in self.standings.items():
            pairs = tuple(self.goal.open(standing.known, algorithms))
            open_pairs[name] = pairs
            view = self._view(table, standing, pairs, costs, 0.0)
            variance_pae = pair_variances(table, standing.q_er, pairs)
            prices[name] = tuple((view.costs_of_pairs(variance_pae) / self.source.workers).tolist())
            doubts[name] = _doubts(variance_pae, table.trials)
        known = {name: standing.known for name, standing in self.standings.items()}
        number = self._judged
        elapsed = self._times[number] if number < len(self._times) else self._elapsed()
        return Look(table.trials, elapsed, known, open_pairs, prices, doubts, number + 1, algorithms, environments)

    def _elapsed(self) -> float:
        return self._before + self.source.elapsed()

    # Planning.

    def _costs(self, table: ScoreTable | None) -> Floats:
        """Return the seconds per trial for the plan of a round: from complete rounds alone."""
        algorithms, environments = self.source.names
        shape = (len(algorithms), len(environments))
        if self.costs is not None:
            # One per round of the replayed race: the next plan is number `judged`.
            return self.costs if self.costs.ndim == 2 else self.costs[min(self._judged, len(self.costs) - 1)]
        measured = np.full(shape, np.nan) if table is None else self.source.costs(table.trials)
        known = np.isfinite(measured)
        if not known.any():
            return np.full(shape, _UNKNOWN)
        return np.maximum(np.where(known, measured, measured[known].mean()), _LEAST)

    def _view(
        self, table: ScoreTable, standing: Standing, pairs: Sequence[Pair], costs: Floats, seconds: float
    ) -> View:
        left = (self.budget.seconds - self._elapsed()) * self.source.workers
        return View(table, standing, pairs, costs, seconds, left, self.goal.within)

    def _planned(self, look: Look | None, costs: Floats) -> Ints | Ending:
        """Return the numbers of the next round; or, where no round fits into the budget, which limit is reached."""
        algorithms, environments = self.source.names
        shape = (len(algorithms), len(environments))
        if look is None:
            size = BLOCK if GAME in self.standings else FIRST
            found = np.full(shape, size, dtype=np.int64)
            for name, standing in self.standings.items():
                if name != GAME and len(self.standings) == 1:
                    found[:, standing.q_er.sum(axis=1) <= 0.0] = 0
            if self.budget.trials is not None and found.sum() > self.budget.trials:
                found = np.where(found > 0, self.budget.trials // max(int((found > 0).sum()), 1), 0)
            return found if found.any() else "trials"
        spent = float((look.trials_ae * costs).sum())
        left = (self.budget.seconds - self._elapsed()) * self.source.workers
        if left <= 0.0:
            return "budget"
        seconds = min(GROWTH * spent, _SAFE * left)
        for _ in range(_HALVINGS):
            found = self._of_rule(look, costs, seconds)
            # The smallest possible round may exceed the requested one.
            if float(((found - look.trials_ae) * costs).sum()) > left:
                return "budget"
            if self.budget.trials is None or found.sum() <= self.budget.trials:
                return found
            seconds *= 0.5
        return "trials"

    def _of_rule(self, look: Look, costs: Floats, seconds: float) -> Ints:
        """Return the numbers of a round that takes one worker this long."""
        assert self._table is not None
        found = look.trials_ae
        for name, standing in self.standings.items():
            if look.open[name]:
                view = self._view(self._table, standing, look.open[name], costs, seconds)
                found = np.maximum(found, numbers(view, self.rule(view)))
        return found

    # Ending.

    def _ending(self, look: Look | None) -> Ending | None:
        if look is not None and not any(look.open.values()):
            algorithms, _ = self.source.names
            decided = all(
                known.final(*pair) for known in look.known.values() for pair in self.goal.asked(known, algorithms)
            )
            return "reached" if decided else "within"
        if self._asked_to_stop():
            return "stopped"
        return "budget" if look is not None and self._elapsed() >= self.budget.seconds else None

    def _is_reached(self, look: Look) -> bool:
        return not any(look.open.values())

    def _asked_to_stop(self) -> bool:
        return self.stop is not None and self.stop()

    def _collect(self, numbers_ae: Ints) -> bool:
        # A round that is running at the end of the budget gets 10 % more.
        limit = 1.1 * self.budget.seconds

        def ended() -> bool:
            return self._asked_to_stop() or self._elapsed() > limit

        return self.source.collect(numbers_ae, ended)


def up_to(table: ScoreTable, numbers_ae: Ints) -> ScoreTable:
    """Return the first trials of every cell."""
    return replace(
        table,
        cells=tuple(
            tuple(cell[:count] for cell, count in zip(row, counts, strict=True))
            for row, counts in zip(table.cells, numbers_ae.tolist(), strict=True)
        ),
        unbroken_ae=None,
        runs=None,
        failed_ae=None,
        rounds=None,
    )


def _doubts(variance_pae: Floats, trials_ae: Ints) -> tuple[tuple[int, int, float], ...]:
    """Return the cells that carry most of the variance of open pairs, at most five, with their parts of it."""
    parts_ae = (variance_pae / np.maximum(trials_ae, 1)).sum(axis=0)
    total = float(parts_ae.sum())
    if total <= 0.0:
        return ()
    cells = [np.unravel_index(i, parts_ae.shape) for i in np.argsort(-parts_ae, axis=None, kind="stable")[:5]]
    return tuple((int(a), int(e), float(parts_ae[a, e] / total)) for a, e in cells)


def entry_of(look: Look) -> dict[str, Any]:
    """Return a look as an entry of the log."""
    return {
        "kind": "look",
        "trials": look.trials,
        "elapsed": look.elapsed,
        "time": time.time(),
        "weightings": {
            name: {
                "scores": known.score_a.tolist(),
                "high": known.high_ab.tolist(),
                "better": np.argwhere(known.better_ab).tolist(),
                "open": [list(pair) for pair in look.open[name]],
                "costs": [None if math.isinf(cost) else cost for cost in look.costs[name]],
                "doubts": [list(doubt) for doubt in look.doubts[name]],
            }
            for name, known in look.known.items()
        },
    }
