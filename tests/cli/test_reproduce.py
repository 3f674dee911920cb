"""``untuned reproduce``: its files and output, resuming, and what it refuses before it begins."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import untuned
from support.calling import Call, caller
from untuned.collect.store.store import Store
from untuned.reproduction import reproduce as steps
from untuned.reproduction.experiment import TESTED_ON

SMALL = ("--trials", "3", "--environments", "chain-10-deterministic,chain-10-stochastic")


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    return caller(capsys, "reproduce")


def trials(folder: Path) -> int:
    with Store.open(folder / "scores") as store:
        return sum(store.counts().values())


@pytest.mark.slow
def test_two_environments_from_the_first_trial_to_the_page(call: Call, tmp_path: Path) -> None:
    out = tmp_path / "out"
    said = call(*SMALL, "--out", out)
    assert said.code == 0
    *lines, last = said.out.splitlines()
    assert Path(last) == out / "reproduction.html"
    assert (
        sum(bool(re.match(r"(holds|does not hold|not decided yet)( under equal weights)?: ", line)) for line in lines)
        == 13
    )
    assert "of 22 published mean scores agree" in said.words
    assert "66 of 66 trials (100 %)" in said.err
    assert trials(out) == 66
    for name in ("report.html", "reproduction.json", "tables/table-1.tex", "figures/aggregate.pdf"):
        assert (out / name).is_file(), name
    facts = json.loads((out / "reproduction.json").read_text(encoding="utf-8"))
    assert facts["table_2"] is None
    assert facts["command"] == f"untuned reproduce --trials 3 --environments {SMALL[3]} --out {out}"

    # Again: no trial is rerun, and nothing changes.
    before = {path: path.read_bytes() for path in out.rglob("*") if path.suffix in (".html", ".json", ".md", ".png")}
    again = call(*SMALL, "--out", out, "--quiet")
    assert (again.code, again.err, again.out) == (0, "", said.out)
    assert {path: path.read_bytes() for path in before} == before

    # More trials are added to the existing ones, which do not change.
    more = call("--trials", "4", *SMALL[2:], "--out", out)
    assert more.code == 0
    assert trials(out) == 88
    with Store.open(out / "scores") as store:
        fresh = untuned.run_trial("ac", "chain-10-stochastic", seed=2020, trial=1)
        assert store.trial("ac", "chain-10-stochastic", 1).score == fresh.score


@pytest.mark.slow
def test_it_stops_and_goes_on(tmp_path: Path) -> None:
    asked = iter(range(10**6))
    places = ["chain-10-deterministic", "chain-10-stochastic"]
    with pytest.raises(untuned.Stopped, match="of 220 trials are in"):
        untuned.reproduce(tmp_path, trials=10, environments=places, stop=lambda: next(asked) > 3, workers=1)
    left = trials(tmp_path)
    assert left < 220
    assert not (tmp_path / "reproduction.html").exists()
    found = untuned.reproduce(tmp_path, trials=10, environments=places, workers=2)
    assert trials(tmp_path) == 220
    assert (tmp_path / "reproduction.html").exists()
    whole = untuned.reproduce(tmp_path / "at once", trials=10, environments=places, workers=1)
    assert found.means == whole.means
    assert found.conclusions == whole.conclusions


def test_stopped_it_says_how_to_go_on(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("untuned.cli.collecting.interruptible", stopping)
    said = call(*SMALL, "--out", tmp_path / "out", "--workers", "1")
    assert said.code == 130
    assert said.out == ""
    assert said.err.splitlines()[-1].startswith("stopped: ")
    assert said.err.splitlines()[-1].endswith("Rerun the command to resume.")


class stopping:  # noqa: N801
    """As if Ctrl-C had been pressed at once."""

    def __enter__(self) -> object:
        return lambda: True

    def __exit__(self, *_: object) -> None: ...


@pytest.mark.slow
def test_with_the_nine_environments_of_table_2_that_is_made_too(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "SIZES", (10,))
    monkeypatch.setattr(steps, "SAMPLES", (3,))
    names = ",".join(TESTED_ON)
    said = call("--trials", "2", "--environments", names, "--out", tmp_path)
    assert said.code == 0
    assert "PBP never fails" in said.words
    facts = json.loads((tmp_path / "reproduction.json").read_text(encoding="utf-8"))
    rows = {(row["method"], row["trials"]): row for row in facts["table_2"]["rows"]}
    assert set(rows) == {(name, 10) for name in ("pbp@paper", "pbp-t@paper", "bootstrap@paper", "pairing")}
    assert rows["bootstrap@paper", 10]["published_failures"] == 0.112
    assert {(each["method"], each["what"]) for each in facts["rates"]} == {
        (name, what) for name in ("pbp@paper", "pbp-t@paper", "bootstrap@paper") for what in ("failures", "significant")
    }
    assert (tmp_path / "table-2" / "record.jsonl").is_file()
    assert 'id="intervals"' in (tmp_path / "reproduction.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--trials", "1"], "trials=1 is not allowed: pass a whole number of at least 2"),
        (["--trials", "many"], "Invalid value for '--trials'"),
        (["--environments", "cart-pool"], "did you mean 'cart-pole'?"),
        (["--environments", "cart-pole"], "name two or more of the paper's"),
        (["--environments", "cart-pole,"], "write names with commas between them and nothing else"),
        (["--environments", ""], "name two or more of the paper's"),
        (["--out", "page.html"], "page.html is not a folder"),
        (["--workers", "0"], "--workers 0"),
    ],
)
def test_mistakes_are_said_before_anything_is_run(
    arguments: list[str], words: str, call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = call(*arguments)
    assert (said.code, said.out) == (2, "")
    assert words in said.err
    assert list(tmp_path.iterdir()) == []


def test_it_stops_between_collecting_and_judging(tmp_path: Path) -> None:
    told: list[int] = []

    def watch(progress: Any) -> None:
        told.append(progress.left)

    places = ["chain-10-deterministic", "chain-10-stochastic"]
    with pytest.raises(untuned.Stopped, match=r"all 44 trials are in .*, and not judged yet"):
        untuned.reproduce(
            tmp_path, trials=2, environments=places, workers=1, watch=watch, stop=lambda: told[-1:] == [0]
        )
    assert trials(tmp_path) == 44
    assert not (tmp_path / "reproduction.html").exists()


@pytest.mark.slow
def test_by_default_a_race_decides_where_trials_go(call: Call, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ("--hours", "0.003", *SMALL[2:], "--out", out)
    said = call(*words)
    assert said.code == 0
    assert "to decide it" in said.words
    facts = json.loads((out / "reproduction.json").read_text(encoding="utf-8"))
    pairs = [each for each in facts["conclusions"] if each["equal"] is not None]
    assert len(pairs) == 8
    assert any(each["equal"] == "holds" for each in pairs)
    assert all(each["cost"] for each in pairs if each["equal"] == "not decided yet")
    # Twice as long continues the race, and the first rounds stay what they were.
    with Store.open(out / "scores") as store:
        before = [entry["numbers"] for entry in store.race_log() if entry["kind"] == "round"]
    more = call("--hours", "0.006", *words[2:])
    assert more.code == 0
    with Store.open(out / "scores") as store:
        after = [entry["numbers"] for entry in store.race_log() if entry["kind"] == "round"]
    assert after[: len(before)] == before
    assert len(after) > len(before)


def test_trials_and_hours_are_not_given_together(call: Call, tmp_path: Path) -> None:
    said = call(*SMALL, "--hours", "1", "--out", tmp_path / "out")
    assert said.code == 2
    assert "pass one" in said.err
