"""The cost of deciding open statements: hours of collecting, from the costs of trials and the variance of scores."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from untuned.evaluation import Evaluation
from untuned.judge.plan import plan
from untuned.plans import Plan, about
from untuned.races.racing import Look
from untuned.reproduction.conclusions import Names, claims
from untuned.scores import Floats, Ints

UNKNOWN = "unknown"


@dataclass(frozen=True, eq=False)
class Prices:
    """The cost of more trials.

    Attributes
    ----------
    found
        The evaluation.
    cost_ae
        Seconds per trial.
    look
        The last look of the race; None where equal numbers of trials were run.
    workers
        How many trials run at the same time.
    """

    found: Evaluation
    cost_ae: Floats
    look: Look | None
    workers: int

    def of_pairs(self, weighting: str, pairs: Sequence[Names]) -> str:
        """Return the cost of deciding all open pairs of some together."""
        under = self.found.under(weighting)
        left = [pair for pair in pairs if under.verdict(*pair) not in ("better", "worse")]
        hours = [self._of_pair(weighting, pair) for pair in left]
        return UNKNOWN if not hours or None in hours else about(max(h for h in hours if h is not None))

    def of_trials(self, numbers_ae: Ints) -> str:
        """Return how long it would take until every cell has its number of trials."""
        more = np.maximum(numbers_ae - self.found.trials_ae, 0)
        return about(float((more * self.cost_ae).sum()) / self.workers / 3600.0)

    def _of_pair(self, weighting: str, pair: Names) -> float | None:
        """Return hours; None where they are unknown."""
        if weighting == "uniform" and self.look is not None:
            numbers = {
                frozenset(self.found.algorithms[a] for a in each): i for i, each in enumerate(self.look.open[weighting])
            }
            number = numbers.get(frozenset(pair))
            seconds = math.inf if number is None else self.look.costs[weighting][number]
            return None if math.isinf(seconds) else seconds / 3600.0
        planned = {frozenset((each.a, each.b)): each.trials for each in self._plans[weighting].pairs}
        trials = planned.get(frozenset(pair))
        if trials is None:
            return None
        more = np.maximum(trials - self.found.trials_ae, 0)
        return float((more * self.cost_ae).sum()) / self.workers / 3600.0

    @cached_property
    def _plans(self) -> dict[str, Plan]:
        among = [frozenset(pair) for _, _, pairs in claims(self.found.algorithms) for pair in pairs]
        asked = ["game"] if self.look is not None else ["game", "uniform"]
        return {each: plan(self.found.under(each), among=among, workers=self.workers) for each in asked}
