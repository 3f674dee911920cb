"""``untuned check``: findings in words and JSON, exit codes, and what it refuses."""

from pathlib import Path

import numpy as np
import pytest

import untuned
from support.calling import Call, caller
from untuned.scores import Floats


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    return caller(capsys, "check")


def written(path: Path, scores: Floats) -> Path:
    lines = ["algorithm,environment,score"]
    for (a, e, _), score in np.ndenumerate(scores):
        lines.append(f"algorithm-{a},environment-{e},{score}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def good(tmp_path: Path) -> Path:
    return written(tmp_path / "good.csv", np.random.default_rng(0).normal(size=(3, 4, 12)))


@pytest.fixture
def pasted(tmp_path: Path) -> Path:
    scores = np.random.default_rng(0).normal(size=(3, 4, 5))
    return written(tmp_path / "pasted.csv", np.concatenate([scores, scores], axis=2))


def test_good_scores(call: Call, good: Path) -> None:
    said = call(good)
    assert (said.code, said.err) == (0, "")
    lines = said.out.splitlines()
    assert lines[0] == "3 algorithms x 4 environments x 12 runs from good.csv"
    assert "note: tuned" in lines
    assert lines[-1] == "1 note"
    assert not any(line.endswith(" ") for line in lines)


def test_serious_findings_have_an_exit_code(call: Call, pasted: Path) -> None:
    said = call(pasted)
    assert (said.code, said.err) == (3, "")
    assert "serious: repeated-runs" in said.out
    assert said.out.count(" on environment-") == 5
    assert "... and 7 more" in said.out
    assert said.out.splitlines()[-1] == "1 serious, 1 note"


def test_json(call: Call, good: Path, pasted: Path) -> None:
    said = call(pasted, "--json")
    assert said.code == 3
    assert said.json == untuned.check(pasted).to_dict()
    assert said.json["serious"] == ["repeated-runs"]
    assert len(said.json["findings"][0]["where"]) == 12
    assert call(good, "--json").code == 0


def test_reading_options(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("algo,env,return\na,x,1\na,x,nan\nb,x,2\nb,x,3\n", encoding="utf-8")
    said = call(path, "--columns", "algo,env,return", "--range", "x=0:5", "--nonfinite", "worst")
    assert said.code == 0
    assert "1 trial of 4 failed" in said.out


def test_mistakes(call: Call, good: Path, tmp_path: Path) -> None:
    assert call(tmp_path / "nothing.csv").code == 2
    assert call().code == 2
    several = call(good, good)
    assert several.code == 2
    assert "given twice" in several.err
    bad = tmp_path / "bad.csv"
    bad.write_text("algorithm,environment,score\na,x,high\n", encoding="utf-8")
    said = call(bad)
    assert said.code == 2
    assert said.err.startswith("error: ")


def test_names_cannot_colour_the_screen(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("algorithm,environment,score\n\x1b[31ma,[bold]x,1\n\x1b[31ma,[bold]x,1\nb,[bold]x,2\n")
    said = call(path)
    assert "\x1b" not in said.out
    assert "[bold]x" in said.out


def test_the_exit_code_is_in_the_help(call: Call) -> None:
    assert "exit code is 3" in call("--help").words
