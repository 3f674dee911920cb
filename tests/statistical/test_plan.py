"""Plans from pilots beside what it takes: right within a factor of two, on average over pilots."""

from dataclasses import dataclass

import numpy as np
import pytest

from support.judging import evaluate
from untuned.evaluation import Evaluation
from untuned.judge.jit import INTERPRETED
from untuned.judge.plan import plan
from untuned.lab import population
from untuned.scores import ScoreTable

pytestmark = pytest.mark.skipif(
    INTERPRETED, reason="hundreds of evaluations take minutes without the compiler: unset NUMBA_DISABLE_JIT"
)

PILOTS = 9
LOOKS = 9
FACTOR = 2
# Cases that branching looks at: enough for boards this small, and seconds instead of minutes.
REFINE = 100


@dataclass(frozen=True)
class Case:
    """A pair of a population that a pilot mostly leaves open, and that some more trials decide."""

    population: str
    better: str
    worse: str
    pilot: int
    method: str
    weights: str = "game"

    def drawn(self, trials: int, number: int, stream: int) -> ScoreTable:
        return population(self.population).sample(trials, np.random.default_rng([stream, number, trials]))

    def judged(self, table: ScoreTable) -> Evaluation:
        return evaluate(table, intervals=self.method, weights=self.weights, refine=REFINE)

    def predicted(self) -> float:
        """Return the median prediction of some pilots that left the pair open."""
        found = []
        for number in range(PILOTS):
            evaluation = self.judged(self.drawn(self.pilot, number, 71))
            if evaluation.verdict(self.better, self.worse) == "not separable yet":
                found.append(plan(evaluation).trials(self.better, self.worse) or np.inf)
        assert len(found) > PILOTS // 2
        return float(np.median(found))

    def decided(self, trials: int) -> int:
        """Return how many fresh data sets of a size decide the pair."""
        tables = [self.drawn(trials, number, 72) for number in range(LOOKS)]
        return [self.judged(table).verdict(self.better, self.worse) for table in tables].count("better")


CASES = [
    Case("divergence", "B", "C", 100, "pairing"),
    Case("lognormal", "B", "C", 300, "pairing"),
    Case("duplicates", "C", "A", 60, "betting"),
    Case("normal", "C", "B", 60, "pbp"),
    Case("normal", "C", "A", 20, "wilson"),
    Case("normal", "C", "A", 30, "kl", "uniform"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.population}-{case.method}-{case.weights}")
def test_half_of_the_predicted_trials_are_too_few_and_twice_as_many_are_enough(case: Case) -> None:
    predicted = case.predicted()
    assert np.isfinite(predicted)
    assert predicted > case.pilot
    assert case.decided(round(predicted / FACTOR)) < LOOKS / 2
    assert case.decided(round(predicted * FACTOR)) > LOOKS / 2
