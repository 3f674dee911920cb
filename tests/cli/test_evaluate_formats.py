"""``untuned evaluate --format``: tables for pasting and for programs, and what cannot be asked for."""

import csv
import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import untuned
from support.calling import Call, caller
from support.programs import ESCAPE, PROGRAM, environment, succeeded
from untuned import tables


@pytest.fixture
def file(tmp_path: Path) -> Path:
    rng = np.random.default_rng(3)
    rows = [
        f"{algorithm},{place},{float(np.clip(rng.normal(shift, 1.0), -8.0, 8.0))!r}"
        for algorithm, shift in {"Sarsa(λ)": 2.5, "q|s": 1.0, "ppo <b>": 0.0}.items()
        for place in ("maze", "arm")
        for _ in range(150)
    ]
    path = tmp_path / "scores.csv"
    path.write_text("\n".join(["algorithm,environment,score", *rows]) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def evaluate(capsys: pytest.CaptureFixture[str]) -> Call:
    return caller(capsys, "evaluate")


@pytest.mark.parametrize("format_", ["markdown", "latex", "csv"])
def test_a_format_prints_the_library_s_table(evaluate: Call, file: Path, format_: str) -> None:
    table = tables.aggregate(untuned.evaluate(file, weights="game"))
    said = evaluate(file, "--format", format_, "--weights", "game")
    assert (said.code, said.complaints) == (0, "")
    assert said.out == {"markdown": table.to_markdown, "latex": table.to_latex, "csv": table.to_csv}[format_]()
    assert said.out.endswith("\n")
    assert not said.out.endswith("\n\n")


@pytest.mark.parametrize("format_", ["markdown", "latex"])
def test_more_tables_follow_after_an_empty_line(evaluate: Call, file: Path, format_: str) -> None:
    found = untuned.evaluate(file)
    equal, game = found.under("uniform"), found.under("game")
    wanted = [tables.aggregate(equal), tables.aggregate(game), tables.pairs(equal), tables.pairs(game)]
    wanted += [tables.head_to_head(found), tables.environments(found)]
    written = [table.to_markdown() if format_ == "markdown" else table.to_latex() for table in wanted]
    assert evaluate(file, "--format", format_, "--pairs", "--by-environment").out == "\n".join(written)
    assert evaluate(file, "--format", format_, "--pairs").out == "\n".join(written[:5])
    assert evaluate(file, "--format", format_, "--by-environment").out == "\n".join([*written[:2], written[5]])


def test_csv_is_one_table(evaluate: Call, file: Path) -> None:
    found = untuned.evaluate(file)
    alone = untuned.evaluate(file, weights="uniform")
    assert evaluate(file, "--format", "csv", "--pairs", "--weights", "uniform").out == tables.pairs(alone).to_csv()
    assert evaluate(file, "--format", "csv", "--by-environment").out == tables.environments(found).to_csv()
    # Both rankings: the first column says which.
    rows = list(csv.DictReader(io.StringIO(evaluate(file, "--format", "csv").out)))
    assert [row["algorithm"] for row in rows] == 2 * ["Sarsa(λ)", "q|s", "ppo <b>"]
    pairs = list(csv.DictReader(io.StringIO(evaluate(file, "--format", "csv", "--pairs").out)))
    for weights in ("uniform", "game"):
        each = found.under(weights)
        mine = [row for row in rows if row["weights"] == weights]
        assert [float(row["low"]) for row in mine] == [row["low"] for row in each.rows()]
        caps = [float(row["cap"]) if row["cap"] else None for row in pairs if row["weights"] == weights]
        assert caps == [row["cap"] for row in each.pair_rows()]
    refused = evaluate(file, "--format", "csv", "--pairs", "--by-environment")
    assert (refused.code, refused.out) == (2, "")
    assert "one table" in refused.err
    assert "run the command again" in refused.err


def test_json_has_a_short_form(evaluate: Call, file: Path) -> None:
    short = evaluate(file, "--json")
    assert evaluate(file, "--format", "json").out == evaluate(file, "--format", "json", "--json").out == short.out
    assert short.json == untuned.evaluate(str(file)).to_dict()
    assert evaluate(file, "--format", "text").out == evaluate(file).out != short.out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--json", "--format", "csv"], ("--json and --format csv", "leave one of them out")),
        (["--json", "--format", "text"], ("--json and --format text",)),
        (["--format", "pdf"], ("--format pdf", "text or json or markdown or csv or latex or html")),
        (["--table", "mode"], ("--table mode", "mean or median")),
        (["--table", "mean", "--json"], ("--table", "leave out")),
        (["--percentiles"], ("--percentiles", "add --json")),
        (["--percentiles", "--format", "latex"], ("--percentiles", "add --json")),
    ],
)
def test_what_contradicts_itself_is_refused_before_the_work(
    evaluate: Call, options: list[str], words: tuple[str, ...]
) -> None:
    # There is no such file: it was not read.
    said = evaluate("nowhere.csv", *options)
    assert (said.code, said.out) == (2, "")
    assert said.complaints.startswith("error: ")
    for word in words:
        assert word in said.err


def test_a_pipe_gets_utf_8_whatever_the_terminal_has(file: Path) -> None:
    finished = subprocess.run(
        [sys.executable, "-c", PROGRAM, "evaluate", str(file), "--format", "markdown"],
        env=environment(PYTHONIOENCODING="ascii", FORCE_COLOR="1", COLUMNS="40"),
        capture_output=True,
        timeout=300,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    text = finished.stdout.decode("utf-8")
    assert text == "\n".join(tables.aggregate(each).to_markdown() for each in untuned.evaluate(file).each_ranking)
    assert "Sarsa(λ)" in text
    assert ESCAPE not in text


def test_the_help_says_what_there_is() -> None:
    printed = " ".join(succeeded("evaluate", "--help", COLUMNS="200").split())
    assert "text|json|markdown|csv|latex" in printed
    assert "CSV is one table" in printed
