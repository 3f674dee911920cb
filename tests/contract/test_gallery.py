"""The gallery's scores are those of its sources, and its scripts read what a reader downloads."""

import json
from pathlib import Path

import pytest

import untuned
from support.processes import python

FOLDER = Path(__file__).parents[2] / "examples" / "gallery"
METHODS = ("DIAMOND", "TWM", "IRIS", "STORM", "Delta-IRIS")


def called(script: str, *arguments: str) -> str:
    finished = python("-W", "error", str(FOLDER / script), *arguments)
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


def test_the_scores_of_atari_are_complete() -> None:
    scores = untuned.read_scores(FOLDER / "atari-100k.csv")
    assert scores.algorithms == ("DIAMOND", "TWM")
    assert len(scores.environments) == 26
    assert all(len(scores.cell(name, game)) == 5 for name in scores.algorithms for game in scores.environments)


@pytest.mark.parametrize(("name", "runs", "mean"), [("PPO", 10, 2901.53), ("DDPG", 25, 884.119), ("SAC", 10, 4543.4)])
def test_the_means_of_the_walker_are_those_of_its_tutorial(name: str, runs: int, mean: float) -> None:
    cell = untuned.read_scores(FOLDER / "walker.csv").cell(name, "walker")
    assert len(cell) == runs
    assert sum(cell) / runs == pytest.approx(mean, rel=1e-5)


def test_files_of_atari_100k_become_one_table(tmp_path: Path) -> None:
    for place, name in enumerate(METHODS):
        scores = [place + each for each in (2.0, 0.5, 4.0, 1.0, 3.0)]
        # One of the sources has sorted its scores.
        kept = sorted(scores, reverse=True) if name == "Delta-IRIS" else scores
        (tmp_path / f"{name}.json").write_text(json.dumps({f"game {number}": kept for number in range(26)}))
    said = " ".join(called("atari_100k.py", str(tmp_path), "--out", str(tmp_path)).split())
    table = untuned.read_scores(tmp_path / "atari-100k-five.csv")
    assert set(table.algorithms) == set(METHODS)
    assert len(table.environments) == 26
    assert sorted(table.cell("STORM", "game 3")) == [3.5, 4.0, 5.0, 6.0, 7.0]
    assert "serious: sorted-rows" in said
    assert "sorted-rows: the finding was accepted" in said


def test_learning_curves_of_dopamine_become_a_table_per_reduction(tmp_path: Path) -> None:
    curves = [
        {"Agent": agent, "Iteration": iteration, "Value": float(level + run + iteration)}
        for level, agent in ((0, "DQN"), (100, "IQN"))
        for run in range(3)
        for iteration in range(10)
    ]
    for name in ("pong", "qbert", "pong.vg", "pong_Impala"):
        (tmp_path / f"{name}.json").write_text(json.dumps(curves))
    called("dopamine.py", str(tmp_path), "--out", str(tmp_path))
    for name, mean in (("mean", 4.5), ("final", 7.0)):
        scores = untuned.read_scores(tmp_path / f"dopamine-{name}.csv")
        assert set(scores.environments) == {"pong", "qbert"}
        assert sorted(scores.cell("IQN", "qbert")) == pytest.approx([mean + 100 + run for run in range(3)])
