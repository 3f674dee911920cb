"""Families of environments from end to end: studies, races, the command line, and coverage by the lab."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import untuned
from oracle.reference import judging
from support.programs import run, succeeded
from untuned.collect.study import Study
from untuned.errors import InvalidInput
from untuned.judge.jit import INTERPRETED
from untuned.lab import KnownPopulation, WithFamilies, coverage, normal

CHAINS = ["chain-10-deterministic", "chain-10-stochastic"]
STUDY = """
name = "chains"
trials = 3
algorithms = ["sarsa", "q"]
environments = ["chain-10-deterministic", "chain-10-stochastic", "gridworld-5-deterministic"]

[families]
chain = ["chain-10-deterministic", "chain-10-stochastic"]
"""


def weights(found: untuned.Evaluation) -> dict[str, float]:
    equal = found.under("uniform")
    return dict(zip(equal.environments, equal.environment_weights.round(12).tolist(), strict=True))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    rng = np.random.default_rng(1)
    rows = [
        f"{algorithm},{environment},{rng.normal(shift, 1.0)!r}"
        for algorithm, shift in (("a", 0.5), ("b", 0.0))
        for environment in ("maze-1", "maze-2", "arm")
        for _ in range(40)
    ]
    path = tmp_path / "scores.csv"
    path.write_text("\n".join(["algorithm,environment,score", *rows]) + "\n")
    return path


def facts(*arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(succeeded("evaluate", *arguments, "--json"))
    return found


def test_families_on_the_command_line(file: Path, tmp_path: Path) -> None:
    found = facts(str(file), "--families", "maze=maze-1+maze-2", "--weights", "uniform")
    assert found["settings"]["families"] == {"maze": ["maze-1", "maze-2"]}
    declared = tmp_path / "families.json"
    declared.write_text('{"maze": ["maze-1", "maze-2"]}')
    assert facts(str(file), "--families", str(declared), "--weights", "uniform") == found
    assert "families" not in facts(str(file), "--families", "none", "--weights", "uniform")["settings"]
    # Excluded environments are not variants any more; names are the new ones.
    left = facts(str(file), "--families", "maze=maze-1+maze-2", "--without", "maze-2", "--weights", "uniform")
    assert left["settings"]["families"] == {"maze": ["maze-1"]}
    renamed = facts(str(file), "--families", "maze=m+maze-2", "--rename", "maze-1=m", "--weights", "uniform")
    assert renamed["settings"]["families"] == {"maze": ["m", "maze-2"]}
    printed = " ".join(succeeded("evaluate", str(file), "--families", "maze=maze-1+maze-2").split())
    assert "Variants count together as much as one environment: maze (maze-1, maze-2)." in printed
    assert "All families and references weigh the same." in printed
    assert "if the numbers of trials and the families were chosen beforehand" in printed


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("maze=maze-1+mase-2", "did you mean 'maze-2'"),
        ("maze=maze-1,arms=maze-1+arm", "is in 'maze' and 'arms'"),
        ("arm=maze-1+maze-2", "is the name of an environment too"),
        ("maze=", "write NAME=A+B"),
        ("maze=maze-1,maze=maze-2", "is there twice"),
        ("families.json", "there is no such file"),
    ],
)
def test_mistakes_on_the_command_line(file: Path, given: str, message: str) -> None:
    done = run("evaluate", str(file), "--families", given)
    assert done.returncode != 0
    assert message in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_families_of_a_study(tmp_path: Path) -> None:
    path = tmp_path / "chains.toml"
    path.write_text(STUDY)
    third = {**dict.fromkeys(CHAINS, 0.25), "gridworld-5-deterministic": 0.5}
    found = untuned.run(path, workers=1, engine="in-process")
    assert weights(found) == third
    folder = tmp_path / "chains"
    assert weights(untuned.evaluate(folder)) == third
    assert weights(untuned.evaluate(folder, families={})) == pytest.approx(dict.fromkeys(third, 1 / 3))
    assert weights(untuned.evaluate(folder, without=[CHAINS[0]])) == {
        CHAINS[1]: 0.5,
        "gridworld-5-deterministic": 0.5,
    }
    # No trial depends on families: they may change.
    path.write_text(STUDY.partition("[families]")[0])
    assert weights(untuned.run(path, workers=1, engine="in-process")) == pytest.approx(dict.fromkeys(third, 1 / 3))


def test_mistakes_in_a_study(tmp_path: Path) -> None:
    for old, new, message in (
        ('chain = ["chain-10-deterministic"', 'chain = ["chain-11"', r"study.toml, line 7: families: no environment"),
        ("chain = [", '"gridworld-5-deterministic" = [', "is the name of an environment too"),
        ('chain = ["chain-10-deterministic", "chain-10-stochastic"]', "chain = []", "'chain' is empty"),
    ):
        with pytest.raises(InvalidInput, match=message):
            Study.parse(STUDY.replace(old, new)).open(tmp_path / "results")


def test_a_race_declares_its_families(tmp_path: Path) -> None:
    study = Study.parse(STUDY)
    options: dict[str, Any] = {"engine": "in-process", "max_trials": 60}
    found = untuned.race(study, "best", tmp_path, **options)
    assert found.evaluation is not None
    assert weights(found.evaluation)[CHAINS[0]] == 0.25
    assert found.looks[-1].known.keys() == {"uniform"}
    # The same again; without the families it is another question.
    untuned.race(study, "best", tmp_path, **options)
    with pytest.raises(InvalidInput, match="the same --families"):
        untuned.race(study, "best", tmp_path, families={}, **options)
    assert not untuned.evaluate(tmp_path).derived.undeclared
    other = untuned.evaluate(tmp_path, families={})
    assert other.derived.undeclared == ("families",)
    assert "and other families" in " ".join(other.warnings)


def test_a_race_s_own_families_are_those_of_its_evaluations(tmp_path: Path) -> None:
    study = Study.parse(STUDY.partition("[families]")[0])
    untuned.race(study, "best", tmp_path, engine="in-process", max_trials=60, families={"chain": CHAINS})
    again = untuned.evaluate(tmp_path)
    assert weights(again)[CHAINS[0]] == 0.25
    assert not again.derived.undeclared


def test_a_race_under_the_games_weights_with_families(tmp_path: Path) -> None:
    found = untuned.race(
        Study.parse(STUDY), "best", tmp_path, engine="in-process", max_trials=150, weights="game"
    ).evaluation
    assert found is not None
    z = found.percentiles.z_aer
    np.testing.assert_allclose(found.score_a, judging.aggregate(z, [0.5, 0.5, 1.0])[0], atol=1e-10)


def variants() -> WithFamilies:
    """Return three algorithms on three mazes, of which two are alike, and an arm; some differences are small."""
    mean = [[0.4, 0.5, 0.3, 0.0], [0.0, 0.0, 0.3, 0.2], [0.2, -0.3, 0.0, 0.1]]
    laws = [[normal(shift, 1.0) for shift in row] for row in mean]
    population = KnownPopulation("mazes", "normal scores on three mazes and an arm", laws)
    return WithFamilies(population, {"maze": [f"environment-{e}" for e in (1, 2, 3)]})


@pytest.mark.skipif(INTERPRETED, reason="hundreds of evaluations take minutes: unset NUMBA_DISABLE_JIT")
def test_the_level_holds_with_families() -> None:
    found = coverage([variants()], ["default"], (10, 200), data_sets=(60, 20), weights="both", delta=0.2)
    assert not found.broken()
    # It can tell: under equal weights and the game's, far too narrow intervals break it.
    narrow = coverage([variants()], ["kl*0.2"], (200,), data_sets=(20,), weights="both", delta=0.2)
    assert narrow.broken()
