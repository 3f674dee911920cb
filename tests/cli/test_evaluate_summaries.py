"""``untuned evaluate --summary``: tables in every format, with the guaranteed verdicts, and words for mistakes."""

import json
from pathlib import Path

import numpy as np
import pytest

import untuned
from support.calling import Call, caller
from support.reporting import rounded
from untuned import summaries, tables

NORMALISE = "maze=0:10,arm=0:100"


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    return caller(capsys, "evaluate")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    rng = np.random.default_rng(2)
    rows = [
        f"{name},{place},{rng.normal(mean * scale, scale)!r}"
        for name, mean in (("mine", 6.0), ("theirs", 5.0), ("old", 2.0))
        for place, scale in (("maze", 1.0), ("arm", 10.0))
        for _ in range(12)
    ]
    path = tmp_path / "scores.csv"
    path.write_text("\n".join(["algorithm,environment,score", *rows]) + "\n", encoding="utf-8")
    return path


def found(file: Path, *what: str) -> summaries.Summaries:
    evaluation = untuned.evaluate(file, weights="uniform")
    references = {"maze": (0.0, 10.0), "arm": (0.0, 100.0)}
    return summaries.summarize(evaluation, what, normalise=references, resamples=200, seed=4)


OPTIONS = ("--weights", "uniform", "--normalise", NORMALISE, "--resamples", "200", "--seed", "4")


def test_text_has_summaries_and_ends_with_the_guaranteed_verdicts(call: Call, file: Path) -> None:
    said = call(file, "--summary", "iqm,poi,profile,mean-profile", *OPTIONS)
    wanted = found(file, "iqm", "poi", "profile", "mean-profile")
    assert said.code == 0
    lines = [line.split() for line in said.out.splitlines()]

    def printed(names: list[str], numbers: list[float]) -> bool:
        return any(
            line[: len(names)] == names and len(line) == len(names) + 3 and all(map(rounded, line[-3:], numbers))
            for line in lines
        )

    for row in wanted.rows():
        assert printed([row["algorithm"]], [row[key] for key in ("value", "low", "high")])
    for row in wanted.improvement_rows():
        assert printed([row["a"], row["b"]], [row[key] for key in ("win", "low", "high")])
    assert "Performance profile: the share above each normalised score" in said.words
    assert "Performance mean profile" in said.words
    assert wanted.claim in said.words
    assert wanted.basis in said.words
    assert said.words.endswith(" ".join(("Guaranteed, of the same scores", *wanted.guaranteed)))


def test_json_has_what_the_library_says(call: Call, file: Path) -> None:
    said = call(file, "--summary", "iqm,poi,profile", *OPTIONS, "--json").json
    assert said["summaries"] == json.loads(found(file, "iqm", "poi", "profile").to_json())
    assert "algorithms" in said
    assert "summaries" not in call(file, "--json", "--weights", "uniform").json


@pytest.mark.parametrize(
    ("what", "table"), [("iqm", tables.summaries), ("poi", tables.improvement), ("profile", tables.profile)]
)
def test_csv_is_one_table(call: Call, file: Path, what: str, table: object) -> None:
    said = call(file, "--summary", what, *OPTIONS, "--format", "csv")
    assert said.out == table(found(file, what)).to_csv()  # type: ignore[operator]


@pytest.mark.parametrize("shape", ["markdown", "latex"])
def test_other_tables_come_after_those_of_the_evaluation(call: Call, file: Path, shape: str) -> None:
    said = call(file, "--summary", "iqm,poi", *OPTIONS, "--format", shape)
    both = (tables.summaries(found(file, "iqm", "poi")), tables.improvement(found(file, "iqm", "poi")))
    for each in both:
        assert (each.to_markdown() if shape == "markdown" else each.to_latex()) in said.out


def test_references_may_be_in_a_file(call: Call, file: Path, tmp_path: Path) -> None:
    references = tmp_path / "references.json"
    references.write_text(json.dumps({"maze": [0, 10], "arm": [0, 100]}), encoding="utf-8")
    by_file = call(file, "--summary", "iqm", *OPTIONS[:2], "--normalise", references, *OPTIONS[4:], "--json")
    assert by_file.json == call(file, "--summary", "iqm", *OPTIONS, "--json").json


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--summary", "iqmm"], "did you mean 'iqm'?"),
        (["--summary", "iqm,,mean"], "write names with commas between them"),
        (["--normalise", "min-max"], "add --summary iqm"),
        (["--summary-interval", "bca"], "add --summary iqm"),
        (["--summary", "iqm", "--summary-interval", "normal"], "choose percentile or basic or bca"),
        (["--summary", "iqm", "--normalise", "minmax"], "did you mean 'min-max'?"),
        (["--summary", "iqm", "--normalise", "maze=0:10"], "there are no reference scores for arm"),
        (["--summary", "iqm", "--normalise", "maze=0"], "write NAME=ZERO:ONE"),
        (["--summary", "iqm", "--normalise", "maze=5:5,arm=0:1"], "must be below the one that becomes 1"),
        (["--summary", "iqm", "--normalise", "nothing.json"], "--normalise nothing.json: there is no such file"),
        (["--summary", "iqm", "--normalise", "range"], "declares no finite range"),
        (["--summary", "iqm", "--normalise", "policy-percentiles"], "not a built-in environment"),
        (["--summary", "iqm,poi", "--format", "csv"], "--format csv prints one table"),
        (["--summary", "iqm", "--pairs", "--format", "csv"], "--format csv prints one table"),
    ],
)
def test_mistakes_get_words(call: Call, file: Path, options: list[str], words: str) -> None:
    said = call(file, "--weights", "uniform", *options)
    assert said.code == 2
    assert words in " ".join(said.err.split())
    assert not said.out
