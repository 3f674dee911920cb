"""Races that are led astray on purpose keep their level, and what breaks it is caught.

Seeds are fixed; the rates of false alarms are those over the choice of a seed. A rate is too high when its lower limit
at confidence 1 - 2e-6 is above delta: with fewer than 100 rates, false alarms in at most 1 of 10,000 seeds.
docs/power.md has the same with thousands of races.
"""

from dataclasses import replace

import numpy as np
import pytest

from untuned.judge.jit import INTERPRETED
from untuned.judge.judging import Judging
from untuned.judge.pooled.closure import decided
from untuned.lab import Rate, population
from untuned.lab.races import ADVERSARIES, Course, Outcome, simulated
from untuned.races import standing
from untuned.races.racing import Budget

pytestmark = pytest.mark.skipif(
    INTERPRETED, reason="hundreds of races take minutes without the compiler: unset NUMBA_DISABLE_JIT"
)

DELTA = 0.2
#: One-sided, 1e-6.
SURE = 1.0 - 2e-6
SEED = 2028


def races(name: str, course: Course, count: int) -> list[Outcome]:
    """Return tiny races whose trials cost more in some cells than in others."""
    chosen = population(name)
    cost_ae = np.random.default_rng(SEED).lognormal(0.0, 1.0, chosen.shape)
    return [simulated(chosen, course, cost_ae, SEED + number, evaluated=number % 8 == 0) for number in range(count)]


def too_high(found: list[Outcome]) -> bool:
    return Rate.of(sum(each.anything for each in found), len(found), SURE).low > DELTA


@pytest.mark.parametrize("name", ["tied", "coins", "gap-1e-3"])
@pytest.mark.parametrize("rule", [*ADVERSARIES, "by-cost"])
@pytest.mark.parametrize("weights", ["uniform", "game"])
def test_races_keep_their_level(name: str, rule: str, weights: str) -> None:
    """All algorithms are equally good, or nearly so."""
    judging = Judging(delta=DELTA, weights=weights, refine=0)
    course = Course(("best", "all within 0.2"), rule, judging, Budget(trials=600 if weights == "game" else 300), 0.002)
    assert not too_high(races(name, course, 16))


def test_a_race_that_is_broken_on_purpose_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Evidence that is multiplied by 30 in a race of 20 looks at fair coins."""
    course = Course(("best",), "chasing", Judging(delta=DELTA, weights="uniform"), Budget(trials=600))
    assert not too_high(races("coins", replace(course, rule="equal"), 40))
    monkeypatch.setattr(standing, "decided", lambda log_e, delta: decided(log_e + np.log(30.0), delta))
    assert too_high(races("coins", course, 40))
