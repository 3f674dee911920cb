"""``untuned coverage``: its output and files, its error messages, and resuming."""

import dataclasses
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from support.calling import Call, caller
from support.programs import ESCAPE, PROGRAM, environment, succeeded
from untuned import api, lab
from untuned.lab import table_two

SMALL = ("--populations", "constant,cycle", "--methods", "kl,pbp-t@paper", "--trials", "6,9", "--data-sets", "3")


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    """Run it with one worker."""
    return caller(capsys, "coverage", "--workers", "1")


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Be in an empty folder."""
    monkeypatch.setenv("COLUMNS", "110")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    rows = [
        f"{algorithm},{there},{k * (1 + 2 * (algorithm == 'new'))}"
        for algorithm in ("old", "new")
        for there in ("x", "y")
        for k in range(5)
    ]
    path = tmp_path / "scores.csv"
    path.write_text("\n".join(["algorithm,environment,score", *rows]) + "\n")
    return path


def facts_in(path: Path) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads(path.read_text())
    return facts


def same_but_time(facts: dict[str, Any]) -> dict[str, Any]:
    return {**facts, "rows": [{**row, "seconds": None} for row in facts["rows"]]}


# what comes out


def test_a_small_run(call: Call, tmp_path: Path) -> None:
    said = call(*SMALL)
    assert said.code == 0
    assert ESCAPE not in said.out
    lines = said.out.splitlines()
    assert lines[0] == "2 populations, 6, 9 trials per cell; 3 data sets each; delta = 0.05"
    expected = lab.coverage(["constant", "cycle"], ["kl", "pbp-t@paper"], [6, 9], data_sets=3)
    for sentence in expected.verdicts:
        assert sentence in said.words
    for heading in (
        "How often anything is wrong",
        "any z",
        "any y",
        "any difference",
        "any verdict",
        "How much is decided",
    ):
        assert heading in said.out
    first = next(line for line in lines if line.startswith("kl "))
    assert first.endswith("guaranteed: too few data sets")
    assert first.split()[1:4] == ["0.0", "(0.0-71)", "%"]
    assert any(line.startswith("pbp-t@paper") and "approximate: BROKEN" in line for line in lines)
    shares = [
        f"{100 * (expected.decided('kl', size) or 0.0):.0f} %  {expected.width('kl', size):.3f}" for size in (6, 9)
    ]
    second = [line for line in lines if line.startswith("kl ")][1]
    assert all(share in second for share in shares)
    folder = Path("coverage-results")
    assert sorted(each.name for each in folder.iterdir()) == [
        "coverage.json",
        "coverage.pdf",
        "coverage.png",
        "record.jsonl",
    ]
    assert (folder / "coverage.png").read_bytes().startswith(b"\x89PNG")
    assert (folder / "coverage.pdf").read_bytes().startswith(b"%PDF")
    assert "The numbers are in coverage-results/coverage.json" in said.words
    assert same_but_time(facts_in(folder / "coverage.json")) == same_but_time(expected.to_dict())
    # Without a terminal, progress is printed in lines.
    assert said.err.splitlines()[0] == "0 of 8 work units (0 %)"
    assert said.err.splitlines()[-1] == "8 of 8 work units (100 %)"


def test_a_second_run_does_nothing_again(call: Call) -> None:
    first = call(*SMALL)
    record, numbers = Path("coverage-results/record.jsonl"), Path("coverage-results/coverage.json")
    written, found = record.read_bytes(), numbers.read_text()
    picture = Path("coverage-results/coverage.pdf").read_bytes()
    assert len(written.splitlines()) == 8
    again = call(*SMALL)
    assert again.out == first.out
    assert again.err == "8 of 8 work units (100 %)\n"
    assert record.read_bytes() == written
    assert numbers.read_text() == found
    assert Path("coverage-results/coverage.pdf").read_bytes() == picture
    # In another folder, all is done again.
    assert call(*SMALL, "--out", "deep/er").code == 0
    assert same_but_time(facts_in(Path("deep/er/coverage.json"))) == same_but_time(json.loads(found))


def test_json_is_what_the_file_has(call: Call) -> None:
    call(*SMALL)
    numbers = Path("coverage-results/coverage.json").read_text()
    said = call(*SMALL, "--json")
    assert said.err == ""
    assert json.loads(said.out) == json.loads(numbers)
    assert lab.Coverage.from_dict(json.loads(said.out)).to_dict() == json.loads(numbers)


def test_quiet_says_nothing_of_its_progress(call: Call) -> None:
    said = call(*SMALL, "--quiet")
    assert said.err == ""
    assert "The numbers are in" not in said.out
    assert "kl may hold its level" in said.words
    assert Path("coverage-results/coverage.json").exists()


def test_a_line_for_every_experiment(call: Call) -> None:
    assert "Every experiment" not in call(*SMALL).out
    said = call(*SMALL, "--rows")
    _, _, after = said.out.partition("Every experiment")
    found = [line.split() for line in after.splitlines() if line.split()[:1] in (["constant"], ["cycle"])]
    assert [line[:3] for line in found] == [
        [name, size, method]
        for name in ("constant", "cycle")
        for size in ("6", "9")
        for method in ("kl", "pbp-t@paper")
    ]
    rows = facts_in(Path("coverage-results/coverage.json"))["rows"]
    for line, row in zip(after.splitlines()[2:], rows, strict=False):
        assert f"{100 * row['decided']:.0f} %" in line
        assert f"{row['width']:.3f}" in line
        assert ("!" in line) == (row["finding"] == "broken")
    assert "! = the lower limit is above delta = 0.05" in after


def test_looking_often(call: Call) -> None:
    said = call(*SMALL[:2], "--methods", "betting,kl", "--trials", "40", "--data-sets", "2", "--every", "20", "--rows")
    assert said.out.startswith(
        "2 populations, 40 trials per cell, looking every 20, until the first verdict; 2 data sets each"
    )
    # A promise for one look is none for many.
    words = {line.split()[0]: line.rstrip() for line in reversed(said.out.splitlines()) if line.strip()}
    assert words["betting"].endswith("guaranteed: too few data sets")
    assert words["kl"].endswith("approximate: too few data sets")
    assert {row["every"] for row in facts_in(Path("coverage-results/coverage.json"))["rows"]} == {20}


def test_scores_of_one_s_own(call: Call, scores: Path) -> None:
    said = call(scores, "--methods", "kl", "--trials", "6", "--data-sets", "2")
    assert said.code == 0
    assert said.out.startswith("1 population, 6 trials per cell; 2 data sets each")
    assert facts_in(Path("coverage-results/coverage.json"))["populations"] == {
        "as collected": "resampled from 5 scores per cell"
    }
    both = json.loads(call(scores, *SMALL, "--json").out)
    assert list(both["populations"]) == ["constant", "cycle", "as collected"]


def test_weights_chosen_beforehand(call: Call) -> None:
    options = ("--populations", "coins", "--methods", "default,pooled", "--trials", "2", "--data-sets", "2")
    said = call(*options, "--refine", "0")
    assert said.code == 0
    facts = facts_in(Path("coverage-results/coverage.json"))
    assert [row["weights"] for row in facts["rows"]] == ["both", "uniform"]
    assert all(row["anything"]["total"] == row["wins"]["total"] == row["caps"]["total"] == 2 for row in facts["rows"])
    weights = "environment-1=2,environment-2=1"
    found = json.loads(call(*options[:2], "--methods", "pooled", *options[4:], "--weights", weights, "--json").out)
    expected = lab.coverage(
        ["coins"], ["pooled"], [2], data_sets=2, weights={"environment-1": 2.0, "environment-2": 1.0}
    )
    assert same_but_time(found) == same_but_time(expected.to_dict())
    assert found["rows"][0]["weights"] == "given"


def test_options_reach_the_library(call: Call) -> None:
    options = (
        "--populations",
        "constant",
        "--trials",
        "6",
        "--data-sets",
        "2",
        "--json",
        "--delta",
        "0.2",
        "--seed",
        "9",
    )
    found = json.loads(call(*options, "--methods", "kl,bootstrap", "--refine", "7", "--resamples", "11").out)
    expected = lab.coverage(
        ["constant"], ["kl", "bootstrap"], [6], data_sets=2, delta=0.2, seed=9, refine=7, resamples=11
    )
    assert same_but_time(found) == same_but_time(expected.to_dict())
    assert json.loads(call(*options, "--methods", "kl", "--refine", "full").out)["settings"]["refine"] is None


def test_the_paper_s_test(call: Call, scores: Path) -> None:
    arguments = (scores, "--protocol", "paper", "--trials", "4,6", "--data-sets", "3,2", "--resamples", "20")
    said = call(*arguments)
    assert said.code == 0
    assert re.search("Table 2.* 5 scores per cell", said.out.splitlines()[0])
    facts = facts_in(Path("coverage-results/paper.json"))
    assert [(row["trials"], row["samples"], row["method"]) for row in facts["rows"]] == [
        (size, count, method)
        for size, count in ((4, 3), (6, 2))
        for method in ("pbp@paper", "pbp-t@paper", "bootstrap@paper", "pairing")
    ]
    for row in facts["rows"]:
        line = next(
            line.split() for line in said.out.splitlines() if line.split()[:2] == [str(row["trials"]), row["method"]]
        )
        assert line[2:7] == [str(row["samples"]), f"{row['failures']:.3f}", "-", f"{row['significant']:.2f}", "-"]
    assert sorted(each.name for each in Path("coverage-results").iterdir()) == [
        "paper.json",
        "paper.pdf",
        "paper.png",
        "record.jsonl",
    ]
    again = call(*arguments, "--json")
    assert json.loads(again.out) == facts


def test_scores_for_the_paper_s_test_are_collected(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four small cells stand for the paper's, which take minutes."""
    small = dataclasses.replace(
        table_two.STUDY,
        algorithms=("sarsa-s", "q-parl2"),
        environments=("chain-10-deterministic", "chain-10-stochastic"),
    )
    monkeypatch.setattr(table_two, "STUDY", small)
    arguments = (
        "--protocol",
        "paper",
        "--collect",
        "4",
        "--methods",
        "pbp@paper",
        "--trials",
        "10",
        "--data-sets",
        "2",
    )
    said = call(*arguments, "--quiet")
    assert said.code == 0
    assert "resampled from 4 scores per cell" in said.out
    # The names are those of the study, so its figures are shown.
    row = facts_in(Path("coverage-results/paper.json"))["rows"][0]
    assert (row["published_failures"], row["published_significant"]) == (0.0, 0.0)
    record = Path("coverage-results/record.jsonl").read_bytes()
    assert call(*arguments, "--quiet").out == said.out
    assert Path("coverage-results/record.jsonl").read_bytes() == record


# mistakes

MISSING = "algorithm,environment,score\na,x,1\na,y,2\nb,x,2\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--populations", "cycles"], ("no population is called 'cycles'", "did you mean 'cycle'?")),
        (["--populations", " , "], ("--populations ' , ' names nothing", "NAME,NAME")),
        (["--methods", "paring"], ("no interval method is called 'paring'", "did you mean 'pairing'?")),
        (["--methods", "pairing@paper"], ("--conventions paper goes with the paper's methods",)),
        (["--methods", "kl,kl"], ("the method 'kl' is named twice",)),
        (["--trials", "x"], ("--trials: 'x' is not a whole number",)),
        (["--trials", "1"], ("trials=1 is not allowed", "at least 2")),
        (["--data-sets", "1,2", "--trials", "6"], ("data_sets=[1, 2] for 1 numbers of trials",)),
        (["--data-sets", "0"], ("data_sets=0 is not allowed",)),
        (["--confidence", "0.3"], ("confidence=0.3", "0.95 by default")),
        (["--protocol", "paper", "--confidence", "0.9"], ("--confidence goes with --protocol truth",)),
        (["--data-sets", "many"], ("--data-sets: 'many' is not a whole number",)),
        (["--every", "0"], ("every=0 is not allowed",)),
        (["--delta", "2"], ("--delta 2.0 is outside (0, 0.5]",)),
        (["--refine", "most"], ("--refine: 'most' is not a whole number",)),
        (["--refine", "-1"], ("--refine -1 is not allowed",)),
        (["--resamples", "0"], ("--resamples 0 is not allowed",)),
        (["--seed", "-1"], ("--seed -1 is not allowed",)),
        (["--workers", "0"], ("--workers 0 is not allowed",)),
        (["--out", "scores.csv"], ("--out scores.csv is a file: name a folder",)),
        (["--protocol", "other"], ("--protocol other: choose truth or paper",)),
        (["--collect", "5"], ("--collect goes with --protocol paper",)),
        (["--protocol", "paper", "--populations", "cycle"], ("leave --populations and --every out",)),
        (["--protocol", "paper", "--every", "5"], ("leave --populations and --every out",)),
        (["scores.csv", "--protocol", "paper", "--collect", "5"], ("--collect 5 and the scores in scores.csv",)),
        (["--protocol", "paper", "--rows"], ("--rows goes with --protocol truth",)),
        (["--protocol", "paper", "--weights", "uniform"], ("--weights goes with --protocol truth",)),
        (["--methods", "pooled", "--weights", "game"], ("weights chosen beforehand",)),
        (["--weights", "nowhere"], ("--weights nowhere: there is no such file",)),
        # Before anything is collected.
        (["--protocol", "paper", "--methods", "pbt"], ("no interval method is called 'pbt'",)),
        (["--protocol", "paper", "--delta", "2"], ("--delta 2.0 is outside",)),
        (["--protocol", "paper", "--data-sets", "1,2"], ("samples=[1, 2] for 5 numbers of trials",)),
        (["missing.csv"], ("'b' has no trials on 'y'", "Run the missing cells")),
        (["missing.csv", "--protocol", "paper"], ("'b' has no trials on 'y'", "Run the missing cells")),
        (["nowhere.csv"], ("nowhere.csv",)),
        (["--nonsense"], ("--nonsense",)),
    ],
)
def test_mistakes_are_told_in_words(
    arguments: list[str], words: tuple[str, ...], call: Call, scores: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def collected(*_: object, **__: object) -> None:
        raise AssertionError("hours of collecting before a mistake is found")

    monkeypatch.setattr(api, "collect_scores", collected)
    Path("missing.csv").write_text(MISSING)
    said = call(*arguments)
    assert said.code == 2
    assert said.out == ""
    assert said.err.startswith("error: ")
    for word in words:
        assert word in said.err
    assert not Path("coverage-results").exists()


def test_a_comma_at_the_end_is_no_mistake(call: Call) -> None:
    assert call("--populations", "constant,", "--methods", "kl,", "--trials", "6,", "--data-sets", "2").code == 0


def test_a_folder_that_cannot_be_written(call: Call) -> None:
    Path("file").write_text("")
    said = call(*SMALL, "--out", "file/folder")
    assert (said.code, said.out) == (2, "")
    assert "record.jsonl cannot be written" in said.err.splitlines()[-1]


def test_somebody_else_s_record_is_left_alone(call: Call) -> None:
    Path("coverage-results").mkdir()
    Path("coverage-results/record.jsonl").write_text("my own notes\n")
    said = call(*SMALL)
    assert said.code == 2
    assert "was not written by untuned coverage" in said.err
    assert [each.name for each in Path("coverage-results").iterdir()] == ["record.jsonl"]
    assert Path("coverage-results/record.jsonl").read_text() == "my own notes\n"


# stopped and killed

SIGNALS = pytest.mark.skipif(
    not (hasattr(os, "killpg") and Path("/proc/self/stat").exists()), reason="run this on Linux: it sends signals"
)
#: Some seconds of work for two processes.
LONG = ("--populations", "constant,scales", "--methods", "kl,betting", "--trials", "10,30", "--data-sets", "100")
RECORD = Path("coverage-results/record.jsonl")


def eventually(condition: Callable[[], bool]) -> None:
    """Wait for it, with a deadline that only ends what would never end, however busy the machine is."""
    deadline = time.monotonic() + 300.0
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def lines() -> int:
    return RECORD.read_bytes().count(b"\n") if RECORD.exists() else 0


def processes_of(group: int) -> set[int]:
    """Return the processes of a group that are not over."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                state, _, its_group = (entry / "stat").read_text().rpartition(")")[2].split()[:3]
            except (OSError, ValueError):
                continue
            if int(its_group) == group and state != "Z":
                found.add(int(entry.name))
    return found


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Callable[[], "subprocess.Popen[str]"]]:
    """Start the long run with two workers in its own process group; remaining processes are killed at the end."""
    started: list[subprocess.Popen[str]] = []

    def start() -> "subprocess.Popen[str]":
        started.append(
            subprocess.Popen(
                [sys.executable, "-c", PROGRAM, "coverage", *LONG, "--workers", "2"],
                cwd=tmp_path,
                env=environment(),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
        )
        return started[-1]

    yield start
    for process in started:
        if processes_of(process.pid):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


@pytest.fixture(scope="module")
def uninterrupted() -> dict[str, Any]:
    found = lab.coverage(["constant", "scales"], ["kl", "betting"], [10, 30], data_sets=100)
    return same_but_time(found.to_dict())


def goes_on(call: Call, uninterrupted: dict[str, Any], kept: bytes) -> None:
    """Look whether the same command keeps what was finished and ends with the same numbers."""
    said = call(*LONG)
    assert said.code == 0
    assert RECORD.read_bytes().startswith(kept)
    assert lines() == 32
    assert same_but_time(facts_in(Path("coverage-results/coverage.json"))) == uninterrupted


@SIGNALS
@pytest.mark.kills
@pytest.mark.parametrize(("number", "to_all"), [(signal.SIGINT, True), (signal.SIGINT, False), (signal.SIGTERM, True)])
def test_a_stop_keeps_what_is_finished_and_the_same_command_goes_on(
    number: signal.Signals, to_all: bool, running: Any, call: Call, uninterrupted: dict[str, Any]
) -> None:
    process = running()
    eventually(lambda: lines() > 1)
    (os.killpg if to_all else os.kill)(process.pid, number)
    out, said = process.communicate(timeout=300)
    assert process.returncode == 130
    assert out == ""
    assert "Traceback" not in said
    assert "stopping" in said
    kept = RECORD.read_bytes()
    assert 1 < lines() < 32
    last = said.splitlines()[-1]
    assert f"stopped: {lines()} of 32" in last
    assert str(RECORD) in last
    assert "resume" in last
    eventually(lambda: not processes_of(process.pid))
    goes_on(call, uninterrupted, kept)


@SIGNALS
@pytest.mark.kills
def test_ctrl_c_before_the_workers_are_ready(running: Any) -> None:
    process = running()
    # As soon as there is a second process.
    eventually(lambda: len(processes_of(process.pid)) > 2)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=300)
    assert process.returncode == 130
    assert "Traceback" not in said
    assert "Rerun the command to resume." in said
    eventually(lambda: not processes_of(process.pid))


@SIGNALS
@pytest.mark.kills
def test_killed_at_once_it_goes_on_as_well(running: Any, call: Call, uninterrupted: dict[str, Any]) -> None:
    process = running()
    eventually(lambda: lines() > 1)
    process.kill()
    process.wait()
    # No process is left behind.
    eventually(lambda: not processes_of(process.pid))
    kept = RECORD.read_bytes()
    assert 1 < lines() < 32
    goes_on(call, uninterrupted, kept)


# untuned list populations


def test_the_list_of_populations() -> None:
    printed = succeeded("list", "populations")
    for each in (*lab.populations(), *lab.few_runs()):
        (line,) = [line for line in printed.splitlines() if line.split()[:1] == [each.name]]
        n, m = each.shape
        assert f"{n} x {m}" in line
    facts = json.loads(succeeded("list", "populations", "--json"))
    assert [each["name"] for each in facts] == [each.name for each in (*lab.populations(), *lab.few_runs())]
    for each in facts:
        known = lab.population(each["name"])
        assert (each["algorithms"], each["environments"]) == known.shape
        assert each["summary"] == known.summary
        assert each["truth"]["scores"] == known.truth("mid-rank").y_a.tolist()
        assert each["truth"]["percentiles"] == known.truth("mid-rank").z_aer.tolist()
