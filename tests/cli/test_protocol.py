"""Protocols from the command line: cost beforehand, the ranking, JSON, resuming, and words for mistakes."""

import json
import sys
from pathlib import Path

import pytest

import untuned
from support.calling import Call, caller

SMALL = """\
name = "small"
seed = 5
trials = 12
algorithms = ["sarsa-parl2", "q"]
environments = ["chain-10-stochastic", "gridworld-5-stochastic"]
"""
QUICK = ("--engine", "in-process")


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(tmp_path)
    Path("small.toml").write_text(SMALL)


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    return caller(capsys, "protocol")


def test_the_cost_comes_first_and_the_ranking_at_the_end(call: Call) -> None:
    said = call("tune-and-report", "small.toml", "--draws", "2", "--seeds", "2", *QUICK)
    assert said.code == 0
    assert said.out.startswith("192 runs (96 tuning, 96 test), 19,200 episodes, for 48 independent scores")
    assert "test runs of a replication share one tuning" in said.words
    assert "2 algorithms on 2 environments, 12 trials per cell" in said.out
    assert said.out.endswith("Next: untuned report small.tune-and-report --out report.html\n")
    table = untuned.read_scores("small.tune-and-report")
    assert table.trials.tolist() == [[12, 12], [12, 12]]
    again = call("tune-and-report", "small.toml", "--draws", "2", "--seeds", "2", "--json", *QUICK)
    content = json.loads(again.out)
    assert content["cost"]["runs"] == 192
    assert content["protocol"]["name"] == "tune-and-report"
    assert content["lost"] is None
    assert content["evaluation"]["algorithms"]


def test_the_cross_environment_setting_answers_both_questions(call: Call) -> None:
    said = call(
        *("cross-environment", "small.toml", "--draws", "2", "--seeds", "1", "--reference", "5", "--trials", "10"),
        *("--out", "folder", *QUICK),
    )
    assert said.code == 0
    assert "Scores with one setting for all environments:" in said.out
    assert "who loses least by one setting for all?" in said.out
    assert said.out.count("2 algorithms on 1 environment, 10 trials per cell") == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("dabny",), "no protocol is called 'dabny': did you mean 'dabney'"),
        (("dabney", "--seeds", "3"), "seeds=3 does not go with dabney"),
        (("dabney", "--draws", "2", "--iteration-weights", "3,x"), "--iteration-weights '3,x'"),
        (("dabney", "--draws", "2", "--iteration-weights", "3"), "give 2 numbers"),
        (("tune-and-report", "--draws", "0"), "draws=0 is not allowed"),
        (("tune-and-report", "--trials", "0"), "trials=0 is not allowed"),
        (("tune-and-report", "--reference", "3"), "reference=3 does not go with tune-and-report"),
    ],
)
def test_mistakes_are_named(call: Call, arguments: tuple[str, ...], words: str) -> None:
    name, *options = arguments
    said = call(name, "small.toml", *options, *QUICK)
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("error: ")
    assert words in said.err
    assert sorted(path.name for path in Path().iterdir()) == ["small.toml"]


def test_the_folder_of_a_plain_study_is_left_alone(call: Call) -> None:
    untuned.collect_scores("small.toml", "folder", trials=1)
    said = call("dabney", "small.toml", "--out", "folder", "--draws", "2", *QUICK)
    assert said.code == 2
    assert "the protocol of the study in folder was None and is now" in said.err
