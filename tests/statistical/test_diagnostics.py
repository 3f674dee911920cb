"""How often checks report what chance made, and how often they find what was done."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from untuned.diagnostics.axes import smooth_columns
from untuned.diagnostics.diagnose import diagnose
from untuned.scores import Floats, ScoreTable

Shape = tuple[int, int, int]
Draw = Callable[[np.random.Generator, Shape], Floats]

#: Populations of all cells of a table.
POPULATIONS: dict[str, Draw] = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "lognormal": lambda rng, shape: rng.lognormal(0.0, 3.0, shape),
    "success": lambda rng, shape: (rng.random(shape) < rng.random((*shape[:2], 1))).astype(float),
    "levels": lambda rng, shape: rng.choice(5, shape, p=[0.1, 0.2, 0.4, 0.2, 0.1]).astype(float),
    "atom": lambda rng, shape: np.where(rng.random(shape) < 0.95, 500.0, rng.normal(300.0, 50.0, shape)),
    "half-atom": lambda rng, shape: np.where(rng.random(shape) < 0.5, 500.0, rng.integers(0, 500, shape)),
    "integers": lambda rng, shape: rng.integers(0, 501, shape).astype(float),
    "constant": lambda rng, shape: np.broadcast_to(rng.integers(0, 3, (*shape[:2], 1)).astype(float), shape),
}
SHAPES: tuple[Shape, ...] = ((6, 18, 5), (6, 18, 10), (2, 3, 4), (3, 5, 30), (4, 20, 2), (2, 2, 200))
TABLES = 50

#: What independent scores must not be accused of; of 300 tables of a population.
ACCUSATIONS = {
    "repeated-runs",
    "swapped-axes",
    "curve-as-runs",
    "sorted-rows",
    "identical-algorithms",
    "copied-environments",
}


@pytest.mark.parametrize("population", POPULATIONS)
def test_independent_scores_are_not_accused(population: str) -> None:
    told: Counter[str] = Counter()
    for number, shape in enumerate(SHAPES):
        for table in range(TABLES):
            rng = np.random.default_rng([number, table])
            scores = POPULATIONS[population](rng, shape)
            # Half of the tables have environments of different scales.
            scores = scores + 1000.0 * (table % 2) * rng.integers(0, 3, (1, shape[1], 1))
            told.update(finding.code for finding in diagnose(ScoreTable.from_array(scores)))
    assert not ACCUSATIONS & set(told), told
    # A note, whose rate is 1 of 1,000 tables of normal scores and up to 1 of 100 of others.
    assert told["alike-environments"] <= 9


def curves(rng: np.random.Generator, shape: Shape, noise: float) -> Floats:
    rising = 1.0 - np.exp(-3.0 * np.linspace(0.0, 1.0, shape[2]))
    level = rng.uniform(0.0, 10.0, (*shape[:2], 1))
    return np.asarray(level * (rising + noise * rng.normal(size=shape)))


def twice(scores: Floats) -> Floats:
    return np.concatenate([scores, scores], axis=2)


#: What was done to scores, and what must be found then.
DEEDS: dict[str, tuple[Callable[[np.random.Generator], Floats], str]] = {
    "5 runs twice": (lambda rng: twice(rng.normal(size=(6, 18, 5))), "repeated-runs"),
    "10 runs twice": (lambda rng: twice(rng.normal(size=(6, 18, 10))), "repeated-runs"),
    "5 runs twice, integers": (lambda rng: twice(rng.integers(0, 501, (6, 18, 5)).astype(float)), "repeated-runs"),
    "5 runs twice, 0 or 1": (lambda rng: twice(rng.integers(0, 2, (6, 18, 5)).astype(float)), "repeated-runs"),
    "5 runs twice, shuffled": (lambda rng: rng.permuted(twice(rng.normal(size=(6, 18, 5))), axis=2), "repeated-runs"),
    "curves of 10": (lambda rng: curves(rng, (6, 18, 10), 0.1), "curve-as-runs"),
    "noisy curves of 20": (lambda rng: curves(rng, (6, 18, 20), 0.3), "curve-as-runs"),
    "few curves of 50": (lambda rng: curves(rng, (2, 3, 50), 0.1), "curve-as-runs"),
    "20 episodes of 5 runs": (
        lambda rng: np.repeat(rng.normal(size=(6, 18, 5)), 20, axis=2) + 0.5 * rng.normal(size=(6, 18, 100)),
        "curve-as-runs",
    ),
    "sorted": (lambda rng: np.sort(rng.normal(size=(6, 18, 5)), axis=2), "sorted-rows"),
}


@pytest.mark.parametrize("deed", DEEDS)
def test_what_was_done_is_found(deed: str) -> None:
    done, code = DEEDS[deed]
    for number in range(30):
        table = ScoreTable.from_array(done(np.random.default_rng(number)))
        codes = [finding.code for finding in diagnose(table)]
        assert code in codes, number
        assert "swapped-axes" not in codes


def test_swapped_axes_are_mostly_found() -> None:
    found = 0
    for number in range(50):
        rng = np.random.default_rng(number)
        environments = 3.0 * rng.normal(size=(1, 1, 18)) + rng.normal(size=(6, 1, 18))
        table = ScoreTable.from_array(environments + rng.normal(size=(6, 10, 18)))
        found += "swapped-axes" in [finding.code for finding in diagnose(table)]
    # Where environments happen to be in the order of their scores, they look like a curve.
    assert found >= 40


@pytest.mark.parametrize("effect", [0.2, 0.4, 0.7])
def test_seeds_with_a_common_effect_are_not_accused(effect: float) -> None:
    shape = (6, 18, 10)
    algorithm, environment, run = np.indices(shape)
    told: Counter[str] = Counter()
    for number in range(TABLES):
        rng = np.random.default_rng(number)
        scores = rng.normal(size=shape) + effect * rng.normal(size=(1, 1, 10))
        table = ScoreTable.from_columns(
            ([f"a{each}" for each in range(6)], algorithm.ravel()),
            ([f"e{each}" for each in range(18)], environment.ravel()),
            scores.ravel(),
            run=([str(each) for each in range(10)], run.ravel()),
        )
        told.update(finding.code for finding in diagnose(table))
    assert not ACCUSATIONS & set(told), told


@pytest.mark.parametrize("columns", [18, 26, 60])
def test_environments_in_any_order_are_no_curves(columns: int) -> None:
    alarms = 0
    for number in range(200):
        rng = np.random.default_rng([columns, number])
        level = 3.0 * rng.normal(size=columns)
        alarms += smooth_columns([level + rng.normal(size=columns) + rng.normal(size=(10, columns)) for _ in range(3)])
    # One in some thousands.
    assert alarms <= 2


@pytest.mark.parametrize("noise", [0.05, 0.3])
def test_curves_in_columns_are_found(noise: float) -> None:
    found = 0
    rising = 1.0 - np.exp(-np.arange(40) / 8.0)
    for number in range(50):
        rng = np.random.default_rng(number)
        level = 1.0 + 0.4 * rng.normal(size=(2, 10, 1))
        found += smooth_columns(list(level * rising + noise * rng.normal(size=(2, 10, 40))))
    assert found >= 48


@pytest.mark.parametrize("common", [0.0, 1.0])
def test_variants_of_an_environment_are_mostly_noted(common: float) -> None:
    noted, others = 0, 0
    for number in range(20):
        rng = np.random.default_rng(number)
        skill = common * rng.normal(size=(11, 1, 1)) + rng.normal(size=(11, 15, 1))
        skill[:, 4] = skill[:, 9]
        table = ScoreTable.from_array(skill + rng.normal(size=(11, 15, 100)))
        (found,) = [each.where for each in diagnose(table) if each.code == "alike-environments"] or [()]
        noted += "environment-5 and environment-10" in found
        others += len(set(found) - {"environment-5 and environment-10"})
        declared = replace(table, families={"maze": ("environment-5", "environment-10")})
        again = [each.where for each in diagnose(declared) if each.code == "alike-environments"]
        assert "environment-5 and environment-10" not in [pair for where in again for pair in where]
    assert noted >= 14
    assert others <= 2


def test_a_few_algorithms_or_environments_are_no_evidence_of_variants() -> None:
    rng = np.random.default_rng(0)
    for shape in ((4, 15), (11, 3)):
        skill = rng.normal(size=(*shape, 1))
        skill[:, 1] = skill[:, 2]
        table = ScoreTable.from_array(skill + rng.normal(size=(*shape, 100)))
        assert "alike-environments" not in [each.code for each in diagnose(table)]
