"""``untuned evaluate``: what it prints, as text and as JSON, what its options do, and what it says of mistakes."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import untuned
from support.programs import ESCAPE, run, succeeded, without_summary
from support.reporting import rounded
from untuned.cli.main import main

SHIFTS = {"sarsa": 1.5, "q": 1.0, "ppo <b>": 0.0}
ENVIRONMENTS = ("maze", "arm")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    rng = np.random.default_rng(3)
    rows = [
        f"{algorithm},{environment},{float(np.clip(rng.normal(shift, 1.0), -8.0, 8.0))!r},{trial}"
        for algorithm, shift in SHIFTS.items()
        for environment in ENVIRONMENTS
        for trial in range(400)
    ]
    path = tmp_path / "scores.csv"
    path.write_text("\n".join(["algorithm,environment,score,seed", *rows]) + "\n")
    return path


def as_json(*arguments: str) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads(succeeded("evaluate", *arguments, "--json"))
    return facts


def test_the_table_is_that_of_the_library(file: Path) -> None:
    printed = succeeded("evaluate", str(file))
    evaluation = untuned.evaluate(file)
    lines = printed.splitlines()
    assert lines[0] == "3 algorithms on 2 environments, 400 trials per cell; delta = 0.05"
    for each, heading in zip(
        evaluation.each_ranking, ("Equal weights (pooled)", "The game's weights (pairing)"), strict=True
    ):
        at = lines.index(heading)
        assert lines[at + 1].split() == ["algorithm", "score", "low", "high", "rank", "worst", "best"]
        for line, row in zip(lines[at + 2 : at + 5], each.rows(), strict=True):
            *name, score, low, high, rank, worst, best = line.split()
            assert name == row["name"].split()
            assert all(map(rounded, (score, low, high), (row[key] for key in ("score", "low", "high"))))
            assert [rank, worst, best] == [str(row[key]) for key in ("rank", "rank_low", "rank_high")]
        assert lines[at + 6 : at + 6 + len(each.verdicts)] == list(each.verdicts)
    said = " ".join(printed.split())
    assert said.count(evaluation.claim) == 1
    assert "All environments and references weigh the same." in said
    assert all(sentence in said for sentence in evaluation.comparison)
    assert "Head to head (two algorithms' runs alone):" in said
    assert said.endswith(f"What you may write: {evaluation.statement}")
    promise = "all intervals and verdicts hold, if the numbers of trials were chosen beforehand."
    assert f"With probability at least 95 %, {promise}" in said
    assert "Weights of environments:" in printed
    assert "Weights of references:" in printed
    assert ESCAPE not in printed


def test_json_is_the_library_s_and_has_what_is_promised(file: Path) -> None:
    facts = as_json(str(file))
    assert facts == untuned.evaluate(str(file)).to_dict()
    assert (facts["method"], facts["valid"], facts["delta"]) == ("pairing", True, 0.05)
    assert [each["name"] for each in facts["algorithms"]] == ["sarsa", "q", "ppo <b>"]
    assert set(facts["algorithms"][0]) == {
        "name",
        "score",
        "low",
        "high",
        "rank",
        "rank_low",
        "rank_high",
        "rank_worst",
        "rank_best",
    }
    assert [each["name"] for each in facts["environments"]] == list(ENVIRONMENTS)
    assert sum(each["weight"] for each in facts["environments"]) == pytest.approx(1.0)
    assert sum(each["weight"] for each in facts["references"]) == pytest.approx(1.0)
    assert "percentiles" not in facts
    assert np.array(as_json(str(file), "--percentiles")["percentiles"]["z"]).shape == (3, 2, 3)


def test_pairs_are_in_json_and_in_a_table(file: Path) -> None:
    pairs = as_json(str(file))["pairs"]
    assert pairs == untuned.evaluate(file).pair_rows()
    assert [(each["a"], each["b"]) for each in pairs] == [("sarsa", "q"), ("sarsa", "ppo <b>"), ("q", "ppo <b>")]
    assert {each["verdict"] for each in pairs} <= {"better", "worse", "not separable yet"}
    printed = succeeded("evaluate", str(file), "--pairs").splitlines()
    assert "Differences of scores" not in succeeded("evaluate", str(file))
    at = next(number for number, line in enumerate(printed) if line.startswith("Differences of scores"))
    assert printed[at + 1].split() == ["a", "b", "a", "-", "b", "low", "high", "a", "is", "holds", "up", "to"]
    at = next(number for number, line in enumerate(printed) if line == "Differences of scores, the game's weights")
    assert printed[at + 1].split() == ["a", "b", "a", "-", "b", "low", "high", "a", "is"]
    for line, each in zip(printed[at + 2 : at + 2 + len(pairs)], pairs, strict=True):
        low, high, *verdict = line.split()[-2 - len(each["verdict"].split()) :]
        assert rounded(low, each["low"])
        assert rounded(high, each["high"])
        assert verdict == each["verdict"].split()
    at = next(number for number, line in enumerate(printed) if line.startswith("Head to head: "))
    assert printed[at + 1].split() == ["a", "b", "win", "low", "high", "a", "is"]
    direct = untuned.evaluate(file).under("uniform").head_to_head_rows()
    for line, each in zip(printed[at + 2 :], direct, strict=True):
        win, low, high = line.removesuffix(each["verdict"]).split()[-3:]
        assert all(map(rounded, (win, low, high), (each[key] for key in ("win", "low", "high"))))


def test_options_reach_the_library(file: Path) -> None:
    assert as_json(str(file), "--delta", "0.2")["delta"] == 0.2
    assert as_json(str(file), "--intervals", "pbp-t")["method"] == "pbp-t"
    paper = as_json(str(file), "--conventions", "paper")
    assert (paper["method"], paper["valid"]) == ("pbp", False)
    assert as_json(str(file), "--intervals", "betting")["anytime"] is True
    assert as_json(str(file), "--refine", "7")["settings"]["refine"] == 7
    few = as_json(str(file), "--intervals", "bootstrap", "--resamples", "50", "--seed", "4")
    again = untuned.evaluate(file, intervals="bootstrap", resamples=50, seed=4, workers=1)
    assert few["algorithms"] == again.rows()
    weighted = as_json(str(file), "--weights", "maze=3,arm=1")
    assert [each["weight"] for each in weighted["environments"]] == pytest.approx([0.75, 0.25])
    same = as_json(str(file), "--identical", "q,sarsa")
    assert same["algorithms"][0]["score"] == same["algorithms"][1]["score"]
    somewhere = as_json(str(file), "--identical", "q,sarsa@maze")
    assert somewhere["algorithms"][0]["score"] != somewhere["algorithms"][1]["score"]


def test_weights_from_a_file(file: Path, tmp_path: Path) -> None:
    path = tmp_path / "weights.json"
    path.write_text('{"maze": 1, "arm": 4}')
    facts = as_json(str(file), "--weights", str(path))
    assert [each["weight"] for each in facts["environments"]] == pytest.approx([0.2, 0.8])


def test_means_on_each_environment(file: Path) -> None:
    printed = succeeded("evaluate", str(file), "--by-environment", "--range", "maze=-8:8")
    maze, arm = printed.split("Mean scores on maze")[1].split("Mean scores on arm")
    rows = [line.split() for line in maze.splitlines() if line.startswith(("sarsa", "q", "ppo"))]
    means = {row["algorithm"]: row for row in untuned.evaluate(file, ranges={"maze": (-8, 8)}).environment_rows()[:3]}
    assert rows[0][:4] == ["sarsa", *(f"{means['sarsa'][key]:.3f}" for key in ("mean", "mean_low", "mean_high"))]
    # Without a range there are neither intervals nor ranks.
    assert arm.split("\n")[1].split() == ["algorithm", "mean"]
    assert "--range NAME=LOW:HIGH" in printed
    everywhere = succeeded("evaluate", str(file), "--by-environment", "--range=-8:8")
    assert "--range NAME" not in everywhere


def test_other_names_of_columns(file: Path) -> None:
    renamed = file.with_name("renamed.csv")
    renamed.write_text(file.read_text().replace("algorithm,environment,score", "algo,env,return", 1))
    assert as_json(str(renamed), "--columns", "algo,env,return")["algorithms"] == as_json(str(file))["algorithms"]


def test_scores_that_are_not_finite(file: Path) -> None:
    file.write_text(file.read_text() + "q,maze,nan,400\n")
    refused = run("evaluate", str(file))
    assert refused.returncode == 2
    assert "'q' on 'maze'" in refused.stderr
    assert as_json(str(file), "--nonfinite", "worst", "--range=-8:8")["algorithms"]


def test_narrow_terminals_keep_every_number(file: Path) -> None:
    wide = succeeded("evaluate", str(file))
    narrow = succeeded("evaluate", str(file), COLUMNS="46")
    numbers = re.findall(r"\b\d\.\d{2,}", wide)
    assert len(numbers) >= 18
    assert re.findall(r"\b\d\.\d{2,}", narrow) == numbers


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere.csv"], ("nowhere.csv",)),
        (["FILE", "--delta", "2"], ("--delta 2.0", "(0, 0.5]")),
        (["FILE", "--intervals", "pbt"], ("'pbt'", "did you mean 'pbp-t'", "untuned list intervals")),
        (["FILE", "--conventions", "old"], ("--conventions old", "valid or paper")),
        (["FILE", "--weights", "mase=1"], ("'mase'", "did you mean 'maze'")),
        (["FILE", "--weights", "maze=much"], ("NAME=WEIGHT",)),
        (["FILE", "--weights", "nowhere.json"], ("nowhere.json", "no such file")),
        (["FILE", "--weights", "FILE"], ("not JSON",)),
        (["FILE", "--weights", "maze=1,maze=2"], ("--weights: 'maze' is there twice",)),
        (["FILE", "--range", "maze=0:1", "--range", "maze=0:9"], ("--range: 'maze' is there twice",)),
        (["FILE", "--rename", "q=r", "--rename", "q=s"], ("--rename: 'q' is there twice",)),
        (["FILE", "--normalise", "maze=0:1,maze=0:2"], ("--normalise: 'maze' is there twice",)),
        (["FILE", "--range", "maze"], ("NAME=LOW:HIGH",)),
        (["FILE", "--range", "maze=1:0"], ("the lowest score must be below",)),
        (["FILE", "--range", "0:1", "--range", "maze=0:1"], ("stands alone",)),
        (["FILE", "--range", "maze=0:1"], ("outside the declared range", "'maze'")),
        (["FILE", "--identical", "q"], ("at least two names",)),
        (["FILE", "--identical", "q,sarsa", "--identical", "q,sarsa@maze"], ("for all groups or for none",)),
        (["FILE", "--columns", "a,b"], ("three names",)),
        (["FILE", "--columns", "a,b,c"], ("a",)),
        (["FILE", "--nonfinite", "drop"], ("error or worst",)),
        (["FILE", "--intervals", "bootstrap", "--resamples", "0"], ("--resamples 0",)),
        (["FILE", "--workers", "0"], ("--workers 0",)),
        (["FILE", "--refine", "-1"], ("--refine -1", "0 for no branching")),
        (["FILE", "--intervals", "pairing", "--conventions", "paper"], ("--conventions paper", "pbp")),
    ],
)
def test_mistakes_are_told_in_words(
    arguments: list[str], words: tuple[str, ...], file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ending:
        main(["evaluate", *(str(file) if each == "FILE" else each for each in arguments)])
    printed = capsys.readouterr()
    assert ending.value.code == 2
    assert printed.out == ""
    assert without_summary(printed.err).startswith("error: ")
    for word in words:
        assert word in printed.err


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"maze": 1, "maze": 2}', "has the key 'maze' twice"),
        ('{"maze": ' + "[" * 100_000, "nested too deeply"),
        ('{"maze": ' + "9" * 5000 + "}", "5,000 digits"),
        ('{"maze": 1', "not JSON"),
        ("[1]", "write an object"),
    ],
)
def test_a_file_of_weights_says_one_thing(
    content: str, words: str, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    weights = tmp_path / "weights.json"
    weights.write_text(content)
    with pytest.raises(SystemExit) as ending:
        main(["evaluate", str(file), "--weights", str(weights)])
    said = capsys.readouterr().err
    assert ending.value.code == 2
    assert said.startswith(f"error: --weights {weights}: ")
    assert words in said


def test_one_algorithm_and_one_environment(tmp_path: Path) -> None:
    lonely = tmp_path / "lonely.csv"
    lonely.write_text("algorithm,environment,score\na,x,1\na,y,2\n")
    assert "one algorithm, 'a'" in run("evaluate", str(lonely)).stderr
    path = tmp_path / "small.csv"
    path.write_text("algorithm,environment,score\na,x,1\nb,x,2\n")
    assert "--weights uniform" in run("evaluate", str(path), "--weights", "game").stderr
    alone = as_json(str(path))
    assert (alone["algorithms"][0]["name"], alone["weights"], alone["comparison"]) == ("b", "uniform", [])


def test_a_study_s_folder(tmp_path: Path) -> None:
    from untuned.collect.store.store import Store
    from untuned.collect.trial import Trial

    facts = {"name": "s", "seed": 0, "algorithms": ["a", "b"], "environments": ["x", "y"]}
    with Store.create(tmp_path / "study", facts) as store:
        store.add(
            Trial(seed=0, algorithm=a, environment=e, trial=t, score=float(t + (a == "b")), final_return=0.0)
            for a in "ab"
            for e in "xy"
            for t in range(5)
        )
    assert as_json(str(tmp_path / "study"))["algorithms"][0]["name"] == "b"
    refused = run("evaluate", str(tmp_path / "study"), "--columns", "a,b,c")
    assert refused.returncode == 2
    assert "option for a study" in refused.stderr
