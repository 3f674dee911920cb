"""Long work says how far it is, and the cost of what grows with a board is bounded."""

import re
import time
from pathlib import Path

import numpy as np
import pytest

import untuned
from support.calling import caller
from support.stores import made
from untuned.cli import terminal
from untuned.cli.costs import announce
from untuned.collect.session import Session, merge
from untuned.judge.pooled.evidence import FEWEST, MOST, most_arrangements
from untuned.verdicts import Pairs

pytestmark = pytest.mark.quick


def test_work_that_says_nothing_of_itself_is_told_of(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(terminal, "_PATIENCE", 0.01)
    printed = ""
    with terminal.telling("reading"):
        while not printed:
            time.sleep(0.01)
            printed = capsys.readouterr().err
    assert printed.startswith("reading, 0 s so far")
    capsys.readouterr()
    with terminal.showing_progress() as show:
        assert show is not None
        show("bounds", 0, 1000)
        show("bounds", 3, 1000)
        printed = ""
        while "bounds" not in printed:
            time.sleep(0.01)
            printed += capsys.readouterr().err
    assert "bounds: 3 of 1,000, 0 s so far" in printed


def test_a_line_estimates_how_long_the_present_step_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    told = terminal._Told("working")
    assert told._line() == "working, 0 s so far"
    now = 120.0
    told.show("bounds", 2, 1000)
    now = 130.0
    told.show("bounds", 4, 1000)
    assert told._line() == "bounds: 4 of 1,000, 30 s so far, about 83 min left"
    told.show("pairs", 0, 10)
    assert told._line() == "pairs: 0 of 10, 30 s so far"


def test_export_and_merge_tell_how_far_they_are(tmp_path: Path) -> None:
    folder = made(tmp_path / "study")
    with Session.at(folder) as session:
        total = sum(cell.trials for cell in session.status())
    told: list[tuple[int, int]] = []
    untuned.export(folder, tmp_path / "x.csv", tell=lambda done, all_: told.append((done, all_)))
    assert told == [(0, total)]
    told.clear()
    with merge(tmp_path / "all", [folder, folder], advance=lambda done, all_: told.append((done, all_))) as session:
        assert sum(cell.trials for cell in session.status()) == total
    assert told == [(total, 2 * total), (2 * total, 2 * total)]


def scores(n: int, m: int) -> untuned.ScoreTable:
    return untuned.ScoreTable.from_array(np.random.default_rng(0).random((n, m, 2)))


def test_the_cost_of_the_game_is_said_before_it_starts(capsys: pytest.CaptureFixture[str]) -> None:
    announce(untuned.Judging(), scores(500, 3), 2)
    said = capsys.readouterr().err
    assert re.match(r"The game's weights need 1,000 bounds over 750,000 states each: roughly \d+ h on 2 threads", said)
    assert "untuned evaluate --weights uniform" in said
    for judging, n, m in (
        (untuned.Judging(), 20, 20),
        (untuned.Judging(), 3, 57),
        (untuned.Judging(weights="uniform"), 500, 3),
        (untuned.Judging(intervals="bootstrap", weights="game"), 500, 3),
        (untuned.Judging(), 500, 1),
    ):
        announce(judging, scores(n, m), 2)
        assert capsys.readouterr().err == ""


@pytest.mark.parametrize("command", [("evaluate", "--json"), ("report", "--out", "x.html"), ("plan",)])
def test_commands_say_it(
    command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    untuned.write_scores(scores(3, 2), "x.csv")

    def judged(*_: object, **__: object) -> None:
        raise untuned.InvalidInput("it began")

    monkeypatch.setattr("untuned.cli.costs._LEAST", 0.0)
    monkeypatch.setattr("untuned.judge.evaluate.judge", judged)
    said = caller(capsys)(command[0], "x.csv", *command[1:]).err
    assert said.index("The game's weights need 6 bounds over 18 states each") < said.index("it began")


def test_exports_make_no_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = made(tmp_path / "study")
    monkeypatch.setattr("untuned.collect.store.store.decode", lambda *_: 1 / 0)
    for form in ("csv", "json", "parquet"):
        untuned.export(folder, tmp_path / f"x.{form}", form=form, returns=True)


def test_verdicts_are_looked_up_once() -> None:
    low = np.array([[0.0, 0.1], [-0.3, 0.0]])
    pairs = Pairs(low, -low.T)
    assert pairs.better_ab is pairs.better_ab
    assert pairs.verdict(0, 1) == "better"
    assert pairs.verdict(1, 0) == "worse"


@pytest.mark.parametrize(("n", "count"), [(2, MOST), (100, MOST), (101, 250), (200, 64), (500, 10), (10_000, FEWEST)])
def test_large_boards_have_fewer_arrangements(n: int, count: int) -> None:
    assert most_arrangements(n) == count
