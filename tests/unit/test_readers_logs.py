"""Logs of other programs: what is read of them, what is refused, and that damaged files never do anything else."""

import os
import random
import re
import shutil
import sqlite3
import struct
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from support import log_writers as write
from support import needs
from untuned.adapters.score_files.opening import File, files_below, named_file
from untuned.adapters.score_files.reader import Reader, Recognised
from untuned.adapters.score_files.readers import (
    mlflow,
    mlruns,
    names,
    optuna,
    protobuf,
    sacred,
    splicing,
    tensorboard,
    wandb,
    wandb_panel,
)
from untuned.adapters.score_files.reading import Reading
from untuned.adapters.score_files.rows import Rows
from untuned.errors import InvalidInput, UnknownName

NAN, INF = float("nan"), float("inf")
RETURN = "charts/episodic_return"
CURVE = [(0, 1.5), (100, NAN), (200, -3.25), (300, 4.0)]
STEPS, SCORES = [0.0, 100.0, 200.0, 300.0], [1.5, NAN, -3.25, 4.0]


def read(reader: Reader, path: Path, **asked: object) -> tuple[list[Rows], Recognised]:
    files = files_below(path) if path.is_dir() else [named_file(path)]
    found = reader.read([file for file in files if reader.claims(file)], Reading(**asked))  # type: ignore[arg-type]
    return list(found.parts), found


def one(reader: Reader, path: Path, **asked: object) -> Rows:
    (part,) = read(reader, path, **asked)[0]
    return part


def same(part: Rows, steps: list[float], scores: list[float]) -> None:
    assert part.step is not None
    assert part.step.dtype == part.score.dtype == np.float64
    np.testing.assert_array_equal(part.step, steps)
    np.testing.assert_array_equal(part.score, scores)


# Protocol buffers


def test_fields_of_a_message() -> None:
    data = write.field(1, 300) + write.double(2, 1.5) + write.field(3, b"x") + write.single(40, -2.0)
    found = list(protobuf.fields(data))
    assert [(number, kind) for number, kind, _ in found] == [(1, 0), (2, 1), (3, 2), (40, 5)]
    assert found[0][2] == 300
    assert [protobuf.real(found[1][2]), protobuf.real(found[3][2])] == [1.5, -2.0]
    assert protobuf.signed(protobuf.varint(write.varint(-5), 0)[0]) == -5
    assert [protobuf.zigzag(number) for number in range(5)] == [0, -1, 1, -2, 2]


@pytest.mark.parametrize("data", [b"\x08", b"\x08" + b"\xff" * 11, b"\x12\x05abc", b"\x09abc", b"\x0b", b"\xff"])
def test_what_is_not_a_message_is_malformed(data: bytes) -> None:
    with pytest.raises(protobuf.Malformed):
        list(protobuf.fields(data))


# Names


@pytest.mark.parametrize(
    ("config", "found"),
    [
        ({"algo": "ppo", "env_id": "CartPole-v1", "seed": 3}, ("ppo", "CartPole-v1", "3")),
        ({"exp_name": "dqn", "env": {"name": "Acrobot-v1", "seed": 9}, "Seed": "4"}, ("dqn", "Acrobot-v1", "4")),
        ({"args": {"algorithm": "sac", "task": "walk"}, "seed": 2.0}, ("sac", "walk", "2")),
        ({"algo": {"desc": None, "value": "td3"}, "env.name": "a/b", "seed": True}, ("td3", "a/b", None)),
        ({"algo": "None", "env": ["a"], "seed": 10**400}, (None, None, None)),
        ({"algo": "\x1b[31m", "env": "\ud800", "seed": None}, (None, None, None)),
    ],
)
def test_settings_name_runs(config: dict[str, object], found: tuple[str | None, ...]) -> None:
    assert tuple(names.from_config(config).values()) == found


def test_the_user_may_choose_settings_and_a_pattern_wins_over_them() -> None:
    config = {"algo": "ppo", "env": "x", "variant": "big", "seed": 1}
    assert names.named(config, Reading(algorithm="variant"), "f")["algorithm"] == "big"
    assert names.named(config, Reading(pattern="{algo}/{seed}"), "f") == {
        "algorithm": None,
        "environment": "x",
        "run": None,
    }
    with pytest.raises(UnknownName, match="variants"):
        names.named(config, Reading(algorithm="variants"), "f")


def test_runs_with_the_same_seed_are_told_apart() -> None:
    parts = [Rows("f", np.zeros(1), "a", "e", run) for run in ("1", "1", "2")]
    assert [part.run for part in names.distinct(parts, ["x", "y", "z"])] == ["1 (x)", "1 (y)", "2"]


def test_a_resumed_run_keeps_what_came_later() -> None:
    pieces = [(np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 2.0])), (np.array([1.0, 2.0]), np.array([10.0, 20.0]))]
    step, score, again = splicing.spliced(pieces)
    assert (step.tolist(), score.tolist(), again) == ([0.0, 1.0, 2.0], [0.0, 10.0, 20.0], True)
    assert splicing.spliced(pieces[:1])[2] is False


# TensorBoard


def test_a_tensorboard_file_is_a_curve(tmp_path: Path) -> None:
    run = "CartPole-v1__ppo__1__1700000000"
    write.write_events(tmp_path / run / "events.out.tfevents.1.host", {RETURN: CURVE, "losses/x": [(0, 1.0)]})
    parts, found = read(tensorboard.READER, tmp_path)
    same(parts[0], STEPS, SCORES)
    assert found.detail == f"tag {RETURN}"
    assert parts[0].path == f"{tmp_path.name}/{run}/events.out.tfevents.1.host"
    assert parts[0].algorithm is parts[0].environment is parts[0].run is None
    same(one(tensorboard.READER, tmp_path, metric="losses/x"), [0.0], [1.0])


def test_tensors_of_one_number_are_numbers(tmp_path: Path) -> None:
    path = tmp_path / "events.out.tfevents.1"
    contents = [
        write.tensor("r", 1, write.field(5, struct.pack("<f", 0.5))),
        write.tensor("r", 1, write.field(4, struct.pack("<f", 1.5))),
        write.tensor("r", 2, write.field(6, struct.pack("<d", 2.5))),
        write.tensor("r", 3, write.field(7, 7)),
        write.tensor("r", 9, write.field(10, write.varint(-8))),
        # A histogram and a text are not.
        write.tensor("r", 2, write.field(4, bytes(48))),
        write.tensor("r", 7, write.field(8, b"text")),
    ]
    path.write_bytes(b"".join(write.event(step, content) for step, content in enumerate(contents)))
    same(one(tensorboard.READER, path), [0, 1, 2, 3, 4], [0.5, 1.5, 2.5, 7.0, -8.0])


def test_event_files_of_a_folder_are_one_run_that_may_have_been_resumed(tmp_path: Path) -> None:
    # The order is that of time, not of names.
    write.write_events(tmp_path / "r" / "b.tfevents.9", {RETURN: [(0, 1.0), (10, 2.0), (20, 3.0)]}, wall=1.0)
    write.write_events(tmp_path / "r" / "a.tfevents.10", {RETURN: [(10, 5.0), (30, 6.0)]}, wall=2.0)
    parts, found = read(tensorboard.READER, tmp_path)
    same(parts[0], [0, 10, 30], [1.0, 5.0, 6.0])
    assert "1 run was resumed" in found.detail


def test_a_run_without_the_tag_is_refused_but_not_folders_inside_runs(tmp_path: Path) -> None:
    write.write_events(tmp_path / "a" / "events.tfevents.1", {RETURN: CURVE})
    write.write_events(tmp_path / "a" / "1700000000.25" / "events.tfevents.1", {"hp_metric": [(0, 1.0)]})
    write.write_events(tmp_path / "a" / "ret_x" / "events.tfevents.1", {"ret": [(0, 1.0)]})
    parts, found = read(tensorboard.READER, tmp_path)
    assert len(parts) == 1
    assert "2 folders" in found.detail
    write.write_events(tmp_path / "b" / "events.tfevents.1", {"losses/x": [(0, 1.0)]})
    with pytest.raises(InvalidInput, match=rf"{tmp_path.name}/b has no tag .*it has losses/x"):
        read(tensorboard.READER, tmp_path)


def test_a_truncated_event_is_left_out_and_a_damaged_one_refused(tmp_path: Path) -> None:
    path = write.write_events(tmp_path / "events.tfevents.1", {RETURN: CURVE})
    whole = path.read_bytes()
    path.write_bytes(whole[:-3])
    same(one(tensorboard.READER, path), STEPS[:3], SCORES[:3])
    place = len(whole) // 2
    path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
    with pytest.raises(InvalidInput, match=r"byte \d+ of events.tfevents.1 is damaged"):
        read(tensorboard.READER, path)


# W&B


def wandb_log(
    path: Path, curve: list[tuple[int, float]], run: str = "abc", code: int | None = 0, **config: object
) -> Path:
    records = [write.wandb_run(run, {"algo": "ppo", "env_id": "CartPole-v1", "seed": 3} | config)]
    for number, (step, value) in enumerate(curve):
        records.append(write.wandb_history({"global_step": step, RETURN: value, "_step": number}, number))
        records.append(write.wandb_history({"text": "x", "losses/x": 1.5}, number))
    return write.write_wandb(path, records + ([] if code is None else [write.wandb_exit(code)]))


def test_a_wandb_file_is_a_curve_with_names(tmp_path: Path) -> None:
    path = wandb_log(tmp_path / "run-abc.wandb", CURVE)
    part = one(wandb.READER, path)
    same(part, STEPS, SCORES)
    assert (part.algorithm, part.environment, part.run) == ("ppo", "CartPole-v1", "3")
    same(one(wandb.READER, path, step="_step"), [0, 1, 2, 3], SCORES)
    # Without a step among its items, a row has its number.
    same(one(wandb.READER, path, metric="losses/x"), [0, 1, 2, 3], [1.5] * 4)


def test_typed_items_of_wandb(tmp_path: Path) -> None:
    def row(number: int, value: bytes) -> bytes:
        return write.field(
            2,
            write.field(1, write.field(2, b"a") + write.field(2, b"b") + value)
            + write.field(2, write.field(1, number)),
        )

    values = [
        write.field(5, 5),
        write.double(6, 0.5),
        write.field(8, b"7"),
        write.field(16, b'"NaN"'),
        write.field(16, b"-Infinity"),
    ]
    path = write.write_wandb(tmp_path / "run-x.wandb", [row(number, value) for number, value in enumerate(values)])
    part = one(wandb.READER, path, metric="a.b")
    same(part, [0, 1, 2, 3, 4], [-3.0, 0.5, 7.0, NAN, -INF])


def test_records_over_blocks_and_runs_that_were_resumed_or_failed(tmp_path: Path) -> None:
    long = [(number, float(number)) for number in range(2_000)]
    wandb_log(tmp_path / "run-1" / "run-abc.wandb", long, code=None)
    wandb_log(tmp_path / "run-2" / "run-abc.wandb", [(1_500, -1.0)], code=1, note="x" * 100_000)
    wandb_log(tmp_path / "run-3" / "run-def.wandb", [(0, 2.0)], run="def")
    parts, found = read(wandb.READER, tmp_path)
    same(parts[0], [*range(1_500), 1_500], [*range(1_500), -1.0])
    assert parts[0].failed is not None
    assert parts[0].failed.all()
    assert [part.run for part in parts] == ["3 (abc)", "3 (def)"]
    assert found.detail == f"metric {RETURN}; 1 run was resumed; 1 run failed, with what it logged"


def test_a_wandb_file_that_is_cut_off_damaged_or_something_else(tmp_path: Path) -> None:
    path = wandb_log(tmp_path / "run-abc.wandb", CURVE, code=None)
    whole = path.read_bytes()
    path.write_bytes(whole[:-60])
    same(one(wandb.READER, path), STEPS[:3], SCORES[:3])
    for place in (len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(InvalidInput, match="is damaged"):
            read(wandb.READER, path)
    path.write_bytes(b"something else")
    with pytest.raises(InvalidInput, match="does not begin as"):
        read(wandb.READER, path)


def test_a_wandb_run_without_the_metric_is_refused(tmp_path: Path) -> None:
    wandb_log(tmp_path / "a" / "run-abc.wandb", CURVE)
    wandb_log(tmp_path / "b" / "run-def.wandb", [], run="def")
    with pytest.raises(InvalidInput, match=r"b/run-def.wandb has no metric .*no numbers"):
        read(wandb.READER, tmp_path)


# A panel of W&B


def panel(path: Path, columns: dict[str, list[str]], metric: str = RETURN, spread: str = "") -> Path:
    cells = {"global_step": ["0", "10"]}
    for run, values in columns.items():
        for ending in ("", "__MIN", "__MAX"):
            cells[f"{run} - {metric}{ending}"] = [*values[:-1], spread if spread and ending else values[-1]]
    rows = [list(cells), *zip(*cells.values(), strict=True)]
    path.write_text("".join(",".join(f'"{cell}"' for cell in row) + "\n" for row in rows))
    return path


def test_the_columns_of_a_panel_are_runs(tmp_path: Path) -> None:
    runs = {"CartPole-v1__ppo__1__1700000000": ["1.5", "NaN"], "a - b, c": ["", "2e3"]}
    parts, found = read(wandb_panel.READER, panel(tmp_path / "p.csv", runs))
    same(parts[0], [0, 10], [1.5, NAN])
    same(parts[1], [10], [2000.0])
    assert [part.path for part in parts] == list(runs)
    assert "500 points" in found.detail
    assert parts[1].numbers is not None
    assert parts[1].numbers.tolist() == [3]


def test_a_panel_of_groups_is_refused(tmp_path: Path) -> None:
    path = panel(tmp_path / "p.csv", {"ppo": ["1", "2"]}, spread="1.5")
    with pytest.raises(InvalidInput, match=r"line 3 of p.csv.*Means are not trials"):
        read(wandb_panel.READER, path)


def test_panels_are_told_from_other_tables_and_bad_ones_refused(tmp_path: Path) -> None:
    plain = tmp_path / "plain.csv"
    plain.write_text("algorithm,environment,score - x\na,b,1\n")
    assert not wandb_panel.READER.claims(named_file(plain))
    for content, message in (
        ('"Step","a - r","a - r__MIN"\n"0","x","1"\n', "not a number"),
        ('"Step","a - r","a - r__MIN"\n"0","1"\n', "has 2 cells"),
        ('"Step","a - r","a - r__MIN"\n"0","1","1_0"\n', "not a number"),
        ('"Step","a - r","a - r__MIN","a - r"\n', "two columns"),
        ('"Step","a - r","a - r__MIN"\n"0","",""\n', "has no values"),
    ):
        plain.write_text(content)
        assert wandb_panel.READER.claims(named_file(plain))
        with pytest.raises(InvalidInput, match=message):
            read(wandb_panel.READER, plain)


# MLflow


def mlflow_run(name: str, curve: list[tuple[int, float]] = CURVE, seed: int = 1, **more: object) -> dict[str, object]:
    metrics = [("eval/return", value, step) for step, value in curve] + ([("loss", 1.0, 0)] if curve else [])
    return {"id": name, "params": {"algo": "ppo", "env": "CartPole-v1", "seed": seed}, "metrics": metrics, **more}


def test_runs_of_an_mlflow_database(tmp_path: Path) -> None:
    runs = [
        mlflow_run("a"),
        mlflow_run("b", [(0, INF), (1, -INF)], status="FAILED"),
        mlflow_run("c", stage="deleted"),
        mlflow_run("d", seed=2, status="KILLED"),
        mlflow_run("e", [], experiment=0),
    ]
    path = write.write_mlflow(tmp_path / "tracking.db", runs)
    assert mlflow.READER.claims(named_file(path))
    assert not optuna.READER.claims(named_file(path))
    parts, found = read(mlflow.READER, path)
    same(parts[0], STEPS, SCORES)
    same(parts[1], [0, 1], [INF, -INF])
    assert [part.run for part in parts] == ["1 (a)", "1 (b)", "2"]
    assert [bool(part.failed.all()) for part in parts if part.failed is not None] == [False, True, False]
    assert found.detail == (
        "metric eval/return; 1 run failed, with what was logged; 1 run killed, with what was logged; 1 deleted run "
        "left out; 1 run left out: of other experiments, or of several runs"
    )


def test_a_run_of_mlflow_without_values_is_refused(tmp_path: Path) -> None:
    path = write.write_mlflow(tmp_path / "mlflow.db", [mlflow_run("a"), mlflow_run("b", [], status="FAILED")])
    with pytest.raises(InvalidInput, match=r"1 run has no metric 'eval/return': run b of mlflow.db \(FAILED\)"):
        read(mlflow.READER, path)


def test_a_database_in_use_and_cells_of_the_wrong_type_are_refused(tmp_path: Path) -> None:
    path = write.write_mlflow(tmp_path / "mlflow.db", [mlflow_run("a")])
    (tmp_path / "mlflow.db-wal").write_bytes(b"x")
    with pytest.raises(InvalidInput, match=r"mlflow.db-wal has what was written last"):
        read(mlflow.READER, path)
    (tmp_path / "mlflow.db-wal").unlink()
    with sqlite3.connect(path) as database:
        database.execute("UPDATE metrics SET value = 'high'")
    database.close()
    with pytest.raises(InvalidInput, match="is 'high', and a number belongs there"):
        read(mlflow.READER, path)


def test_views_and_other_versions_are_not_read(tmp_path: Path) -> None:
    path = write.write_mlflow(tmp_path / "mlflow.db", [mlflow_run("a")])
    with sqlite3.connect(path) as database:
        database.executescript("ALTER TABLE metrics RENAME TO kept; CREATE VIEW metrics AS SELECT * FROM kept")
    database.close()
    with pytest.raises(InvalidInput, match="has no table metrics"):
        read(mlflow.READER, path)
    with sqlite3.connect(path) as database:
        database.executescript("DROP VIEW metrics; CREATE TABLE metrics (key, value)")
    database.close()
    with pytest.raises(InvalidInput, match=r"has no column run_uuid.*Upgrade"):
        read(mlflow.READER, path)


def test_a_database_that_takes_for_ever_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    curve = [(step, 1.0) for step in range(20_000)]
    path = write.write_mlflow(tmp_path / "mlflow.db", [mlflow_run("a", curve)])
    monkeypatch.setattr("untuned.adapters.score_files.readers.sqlite._PATIENCE", -1.0)
    with pytest.raises(InvalidInput, match="seconds to read"):
        read(mlflow.READER, path)


def test_folders_of_mlflow(tmp_path: Path) -> None:
    home = tmp_path / "mlruns"
    settings = {"algo": "ppo", "env": "CartPole-v1"}
    metrics = {"eval/return": CURVE, "loss": [(0, 1.0)]}
    write.write_mlruns(home / "7", "a1", metrics, settings | {"seed": 1})
    write.write_mlruns(home / "7", "b2", metrics, settings | {"seed": 2}, status=4)
    write.write_mlruns(home / "7", "c3", metrics, settings, lifecycle_stage="deleted")
    parts, found = read(mlruns.READER, home)
    same(parts[0], STEPS, SCORES)
    assert [(part.algorithm, part.environment, part.run) for part in parts] == [
        ("ppo", "CartPole-v1", "1"),
        ("ppo", "CartPole-v1", "2"),
    ]
    assert parts[0].path == "mlruns/bench/a1/metrics"
    assert found.detail == "metric eval/return; 1 run failed, with what was logged; 1 deleted run left out"
    same(one(mlruns.READER, home / "7" / "a1" / "metrics" / "loss"), [0], [1.0])
    write.write_mlruns(home / "7", "d4", {}, settings, status=4)
    with pytest.raises(InvalidInput, match=r"mlruns/7/d4 \(FAILED\)"):
        read(mlruns.READER, home)


def test_a_bad_line_of_an_mlflow_series_is_refused(tmp_path: Path) -> None:
    run = write.write_mlruns(tmp_path / "7", "a1", {"return": CURVE}, {})
    path = run / "metrics" / "return"
    path.write_text(path.read_text() + "17 x 3\n")
    with pytest.raises(InvalidInput, match=r"line 5 of .*return is b'17 x 3'"):
        read(mlruns.READER, tmp_path)


# Optuna

WRITERS = pytest.mark.parametrize("writer", [write.write_optuna, write.write_journal])
RANDOM: write.Study = (
    "ppo/CartPole-v1",
    ["MINIMIZE"],
    [
        ("COMPLETE", [1.5], []),
        ("FAIL", [], []),
        ("COMPLETE", [INF], []),
        ("RUNNING", [], []),
        ("WAITING", [], []),
        ("COMPLETE", [-2.0], []),
    ],
)

Writer = Callable[[Path, list[write.Study]], Path]


@WRITERS
def test_the_trials_of_a_study_are_runs(tmp_path: Path, writer: Writer) -> None:
    path = writer(tmp_path / "study", [RANDOM, ("empty", ["MAXIMIZE"], [])])
    assert optuna.READER.claims(named_file(path))
    (part,), found = read(optuna.READER, path)
    np.testing.assert_array_equal(part.score, [-1.5, NAN, -INF, 2.0])
    assert part.step is None
    assert part.failed is not None
    assert part.failed.tolist() == [False, True, False, False]
    assert isinstance(part.run, tuple)
    assert part.run[0] == ["0", "1", "2", "5"]
    assert part.path == "ppo/CartPole-v1"
    for words in ("1 minimized: signs are changed", "2 trials that did not end", "1 study without", "RandomSampler"):
        assert words in found.detail


@WRITERS
@pytest.mark.parametrize(
    ("trial", "shown"),
    [
        (("PRUNED", [1.0], []), "1 pruned trial"),
        (("COMPLETE", [1.0], ["tpe:relative_params:0"]), "TPESampler"),
        (("COMPLETE", [1.0], ["NSGAIISampler:generation"]), "evolutionary"),
        (("COMPLETE", [1.0], ["fixed_params"]), "enqueued"),
    ],
)
def test_dependent_trials_are_a_serious_finding(
    tmp_path: Path, writer: Writer, trial: tuple[str, list[float], list[str]], shown: str
) -> None:
    path = writer(tmp_path / "study", [("s", ["MAXIMIZE"], [("COMPLETE", [2.0], []), trial])])
    recognised = read(optuna.READER, path)[1]
    assert [(each.code, each.severity) for each in recognised.findings] == [("tuned-trials", "serious")]
    assert re.search(rf"study 's' in study are not independent: it shows .*{shown}", recognised.findings[0].found)
    assert one(optuna.READER, path).score.tolist() == [2.0, 1.0]


@WRITERS
def test_the_user_chooses_among_objectives(tmp_path: Path, writer: Writer) -> None:
    path = writer(tmp_path / "study", [("s", ["MINIMIZE", "MAXIMIZE"], [("COMPLETE", [2.0, 3.0], [])])])
    with pytest.raises(InvalidInput, match="which objective"):
        read(optuna.READER, path)
    assert one(optuna.READER, path, metric="0").score.tolist() == [-2.0]
    assert one(optuna.READER, path, metric="1").score.tolist() == [3.0]


def test_a_journal_may_end_within_a_line_but_not_be_damaged(tmp_path: Path) -> None:
    path = write.write_journal(tmp_path / "journal.log", [RANDOM])
    whole = path.read_bytes()
    path.write_bytes(whole[:-10])
    assert one(optuna.READER, path).score.size == 3
    path.write_bytes(whole.replace(b'"op_code": 6', b'"op_code" 6', 1))
    with pytest.raises(InvalidInput, match=r"line 3 of journal.log"):
        read(optuna.READER, path)
    for bad in (
        b"[" * 100_000,
        b'{"op_code": 0, "study_name": 7}',
        b"3",
        b'{"op_code": 4, "study_id": ' + b"9" * 5_000 + b"}",
    ):
        path.write_bytes(whole + bad + b"\n")
        with pytest.raises(InvalidInput, match=r"line 12 of journal.log"):
            read(optuna.READER, path)


# Sacred


def test_runs_of_sacred(tmp_path: Path) -> None:
    home = tmp_path / "runs"
    write.write_sacred(home / "1", {"eval.return": CURVE, "loss": CURVE[:1]}, {"env": "CartPole-v1", "seed": 7})
    write.write_sacred(home / "2", {"eval.return": CURVE}, {"env": "CartPole-v1", "seed": 8, "algo": "q"}, "FAILED")
    parts, found = read(sacred.READER, home)
    same(parts[0], STEPS, SCORES)
    assert [(part.algorithm, part.environment, part.run) for part in parts] == [
        ("sarsa", "CartPole-v1", "7"),
        ("q", "CartPole-v1", "8"),
    ]
    assert found.detail == "metric eval.return; 1 run failed, with what was logged"
    write.write_sacred(home / "3", {}, {}, "FAILED")
    with pytest.raises(InvalidInput, match=r"3/metrics.json has no metric 'eval.return': it has none"):
        read(sacred.READER, home)


@pytest.mark.parametrize(
    "content",
    ["[1]", "[" * 100_000, "nothing", '{"r": {"values": [1], "steps": []}}', '{"r": {"values": ["x"], "steps": [1]}}'],
)
def test_bad_metrics_of_sacred_are_refused(tmp_path: Path, content: str) -> None:
    write.write_sacred(tmp_path / "1", {"r": CURVE}, {})
    (tmp_path / "1" / "metrics.json").write_text(content)
    with pytest.raises(InvalidInput, match=r"1/metrics.json"):
        read(sacred.READER, tmp_path)


# Damaged files


def _good_tensorboard(folder: Path) -> Path:
    return write.write_events(folder / "events.out.tfevents.1", {RETURN: [(10 * n, n / 2) for n in range(20)]})


def _good_wandb(folder: Path) -> Path:
    return wandb_log(folder / "run-abc.wandb", [(10 * n, n / 2) for n in range(20)])


def _good_panel(folder: Path) -> Path:
    return panel(folder / "p.csv", {"a": ["1", "2"], "b": ["3", "4"]})


def _good_mlflow(folder: Path) -> Path:
    return write.write_mlflow(folder / "mlflow.db", [mlflow_run("a"), mlflow_run("b")])


def _good_mlruns(folder: Path) -> Path:
    return write.write_mlruns(folder / "7", "a1", {"return": CURVE}, {"algo": "a"}) / "metrics" / "return"


def _good_optuna(folder: Path) -> Path:
    return write.write_optuna(folder / "study.db", [RANDOM])


def _good_journal(folder: Path) -> Path:
    return write.write_journal(folder / "journal.log", [RANDOM])


def _good_sacred(folder: Path) -> Path:
    return write.write_sacred(folder / "1", {"r": CURVE}, {"algo": "a", "env": "e"}) / "metrics.json"


GOOD: dict[str, tuple[Reader, Callable[[Path], Path], bool]] = {
    "tensorboard": (tensorboard.READER, _good_tensorboard, True),
    "wandb": (wandb.READER, _good_wandb, True),
    "panel": (wandb_panel.READER, _good_panel, False),
    "mlflow": (mlflow.READER, _good_mlflow, False),
    "mlruns": (mlruns.READER, _good_mlruns, False),
    "optuna": (optuna.READER, _good_optuna, False),
    "journal": (optuna.READER, _good_journal, False),
    "sacred": (sacred.READER, _good_sacred, False),
}


def mutated(data: bytes, draw: random.Random) -> bytes:
    """Return bytes with one to three mistakes."""
    for _ in range(draw.choice([1, 1, 2, 3])):
        place = draw.randrange(len(data) or 1)
        length = draw.choice([1, 2, 4, 16, 100])
        kind = draw.randrange(5)
        if kind == 0 and data:
            data = data[:place] + bytes([data[place] ^ 1 << draw.randrange(8)]) + data[place + 1 :]
        elif kind == 1:
            data = data[:place]
        elif kind == 2:
            data = data[:place] + draw.randbytes(length) + data[place:]
        elif kind == 3:
            data = data[:place] + data[place + length :]
        else:
            data = data[:place] + draw.randbytes(length) + data[place + length :]
    return data


@pytest.mark.parametrize("kind", list(GOOD))
def test_a_damaged_file_is_read_or_refused(tmp_path: Path, kind: str) -> None:
    reader, make, checked = GOOD[kind]
    path = make(tmp_path)
    whole = path.read_bytes()
    good = one(reader, path) if checked else None
    draw = random.Random(kind)
    refused = 0
    for _ in range(300):
        path.write_bytes(mutated(whole, draw))
        file = File(path, path.name)
        try:
            reader.claims(file)
            parts = list(reader.read([file], Reading()).parts)
        except InvalidInput:
            refused += 1
            continue
        if good is not None and good.step is not None:
            # The remaining entries are the first of the old ones.
            assert len(parts) == 1
            assert parts[0].step is not None
            size = parts[0].score.size
            np.testing.assert_array_equal(parts[0].step, good.step[:size])
            np.testing.assert_array_equal(parts[0].score, good.score[:size])
    assert refused


@pytest.mark.parametrize("kind", ["tensorboard", "wandb"])
def test_a_message_that_is_not_one_is_read_or_refused(tmp_path: Path, kind: str) -> None:
    """The checksums are right, and what they are for is not."""
    entry = write.tensor("r", 1, write.field(5, struct.pack("<f", 0.5))) + write.scalar("r", 2.0)
    row = write.wandb_run("x", {"algo": "a"}) + write.wandb_history({"r": 1.5, "_step": 3}, 3) + write.wandb_exit(1)
    event = write.double(1, 1.0) + write.field(2, 7) + write.field(5, entry)
    path = tmp_path / ("events.tfevents.1" if kind == "tensorboard" else "run-x.wandb")
    draw, refused = random.Random(1), 0
    for _ in range(300):
        good = event if kind == "tensorboard" else row
        records = [good, mutated(good, draw), good]
        if kind == "tensorboard":
            path.write_bytes(b"".join(map(write.tfrecord, records)))
        else:
            write.write_wandb(path, records)
        try:
            read(GOOD[kind][0], path)
        except InvalidInput:
            refused += 1
    assert 0 < refused < 300


# Files that the programs themselves write


def run(script: str, folder: Path) -> None:
    """Run a program in a separate process: libraries warn, start threads, and change Python's settings."""
    environment = os.environ | {
        "HOME": str(folder),
        "MLFLOW_ALLOW_FILE_STORE": "true",
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "WANDB_MODE": "offline",
        "WANDB_SILENT": "true",
        "DO_NOT_TRACK": "true",
    }
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        cwd=folder,
        env=environment,
        capture_output=True,
        timeout=300,
        text=True,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("module", ["tensorboardX", "torch.utils.tensorboard"])
def test_what_summary_writers_write(tmp_path: Path, module: str) -> None:
    if module == "tensorboardX":
        needs.extra("tensorboardX", "dev")
    else:
        needs.extra("torch", "sb3")
        needs.extra("tensorboard", "importers-test")
    run(
        f"""
        from {module} import SummaryWriter
        writer = SummaryWriter("runs/CartPole-v1__ppo__1__1700000000")
        writer.add_text("hyperparameters", "|a|b|")
        for step in range(50):
            writer.add_scalar("charts/episodic_return", step / 4, step * 100)
            writer.add_scalar("losses/x", float("nan"), step * 100)
        writer.add_scalars("both", {{"a": 1.0, "b": 2.0}}, 1)
        writer.add_hparams({{"lr": 0.1}}, {{"hp": 1.0}})
        writer.close()
        """,
        tmp_path,
    )
    parts, found = read(tensorboard.READER, tmp_path / "runs")
    assert len(parts) == 1
    same(parts[0], [100.0 * step for step in range(50)], [step / 4 for step in range(50)])
    assert found.detail == f"tag {RETURN}; 3 folders of hyperparameters or groups of tags left out"
    assert np.isnan(one(tensorboard.READER, next((tmp_path / "runs").glob("*/events*")), metric="losses/x").score).all()


@pytest.mark.slow
def test_what_wandb_writes(tmp_path: Path) -> None:
    needs.extra("wandb", "importers-test")
    run(
        """
        import wandb
        config = {"algo": "ppo", "env_id": "CartPole-v1", "seed": 3, "nested": {"a": [1, 2]}}
        run = wandb.init(project="p", config=config, settings=wandb.Settings(console="off", x_disable_stats=True))
        for step in range(50):
            value = float("nan") if step == 7 else step / 4
            run.log({"global_step": step * 100, "charts/episodic_return": value, "nest": {"x": step}})
            run.log({"losses/x": 1.5})
        run.log({"long": "x" * 70_000})
        run.finish()
        """,
        tmp_path,
    )
    (path,) = (tmp_path / "wandb").glob("offline-run-*/run-*.wandb")
    part = one(wandb.READER, path)
    same(part, [100.0 * step for step in range(50)], [NAN if step == 7 else step / 4 for step in range(50)])
    assert (part.algorithm, part.environment, part.run) == ("ppo", "CartPole-v1", "3")
    same(
        one(wandb.READER, path, metric="nest.x", step="_step"),
        [2.0 * n for n in range(50)],
        [float(n) for n in range(50)],
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["database", "folders"])
def test_what_mlflow_writes(tmp_path: Path, kind: str) -> None:
    needs.extra("mlflow", "importers-test")
    uri = "sqlite:///mlflow.db" if kind == "database" else (tmp_path / "mlruns").as_uri()
    run(
        f"""
        import contextlib, mlflow
        mlflow.set_tracking_uri({uri!r})
        mlflow.set_experiment("bench")
        for seed in range(3):
            with contextlib.suppress(RuntimeError), mlflow.start_run() as run:
                mlflow.log_params({{"algo": "ppo", "env": "CartPole-v1", "seed": seed}})
                for step, value in enumerate([0.1, float("nan"), float("inf")]):
                    mlflow.log_metric("eval/return", value + seed, step=10 * step)
                    mlflow.log_metric("loss", 1.0, step=step)
                if seed == 1:
                    raise RuntimeError
        mlflow.delete_run(run.info.run_id)
        """,
        tmp_path,
    )
    reader, path = (
        (mlflow.READER, tmp_path / "mlflow.db") if kind == "database" else (mlruns.READER, tmp_path / "mlruns")
    )
    parts, found = read(reader, path)
    parts.sort(key=lambda part: str(part.run))
    for seed, part in enumerate(parts):
        same(part, [0, 10, 20], [0.1 + seed, NAN, INF])
        assert (part.algorithm, part.environment, part.run) == ("ppo", "CartPole-v1", str(seed))
    assert found.detail == "metric eval/return; 1 run failed, with what was logged; 1 deleted run left out"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["database", "journal"])
def test_what_optuna_writes(tmp_path: Path, kind: str) -> None:
    needs.extra("optuna", "importers-test")
    run(
        f"""
        import optuna

        def objective(trial):
            x = trial.suggest_float("x", 0.0, 1.0)
            if trial.number == 2:
                raise RuntimeError
            return {{3: float("nan"), 4: float("inf")}}.get(trial.number, trial.number / 4)

        def storage(name):
            if {kind!r} == "database":
                return f"sqlite:///{{name}}"
            from optuna.storages import JournalStorage
            from optuna.storages.journal import JournalFileBackend
            return JournalStorage(JournalFileBackend(name))

        random, tpe = optuna.samplers.RandomSampler(), optuna.samplers.TPESampler(n_startup_trials=2, multivariate=True)
        for name, sampler, direction in (("random", random, "maximize"), ("tpe", tpe, "minimize")):
            known = {{"study_name": "ppo/CartPole", "direction": direction}}
            study = optuna.create_study(storage=storage(name), sampler=sampler, **known)
            study.optimize(objective, n_trials=8, catch=(RuntimeError,))
        study.ask()
        """,
        tmp_path,
    )
    expected = [0.0, 0.25, NAN, NAN, INF, 1.25, 1.5, 1.75]
    part = one(optuna.READER, tmp_path / "random")
    np.testing.assert_array_equal(part.score, expected)
    assert part.failed is not None
    assert part.failed.tolist() == [False, False, True, True, False, False, False, False]
    assert part.path == "ppo/CartPole"
    np.testing.assert_array_equal(
        one(optuna.READER, tmp_path / "tpe", accept=["tuned-trials"]).score, [-value for value in expected]
    )


@pytest.mark.slow
def test_what_sacred_writes(tmp_path: Path) -> None:
    needs.extra("sacred", "importers-test")
    (tmp_path / "experiment.py").write_text(
        textwrap.dedent(
            """
            import contextlib
            from sacred import Experiment
            from sacred.observers import FileStorageObserver

            ex = Experiment("ppo", save_git_info=False)
            ex.observers.append(FileStorageObserver("runs"))

            @ex.config
            def config():
                env = "CartPole-v1"

            @ex.main
            def main(seed):
                for step, value in enumerate([0.5, float("nan"), 1.5]):
                    ex.log_scalar("eval.return", value, 10 * step)
                if seed == 2:
                    raise RuntimeError

            for seed in (1, 2):
                with contextlib.suppress(RuntimeError):
                    ex.run(config_updates={"seed": seed})
            """
        )
    )
    run("import runpy; runpy.run_path('experiment.py')", tmp_path)
    shutil.rmtree(tmp_path / "runs" / "_sources", ignore_errors=True)
    parts, found = read(sacred.READER, tmp_path / "runs")
    for seed, part in zip((1, 2), parts, strict=True):
        same(part, [0, 10, 20], [0.5, NAN, 1.5])
        assert (part.algorithm, part.environment, part.run) == ("ppo", "CartPole-v1", str(seed))
    assert found.detail == "metric eval.return; 1 run failed, with what was logged"


def test_settings_of_a_run_are_json(tmp_path: Path) -> None:
    path = write.write_wandb(
        tmp_path / "run-x.wandb",
        [write.field(17, write.field(4, write.field(1, write.field(1, b"k") + write.field(16, b"{"))))],
    )
    with pytest.raises(InvalidInput, match=r"the setting k of run-x.wandb"):
        read(wandb.READER, path)
