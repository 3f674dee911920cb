"""Readers of results: each format as its program writes it, what is refused, and files that are damaged."""

import csv
import gzip
import io
import json
import random
import re
import zipfile
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import untuned
from support import needs
from untuned.adapters.score_files.axes import rows_of_array, rows_of_dictionary
from untuned.adapters.score_files.importing import imported, rows_of_paths
from untuned.adapters.score_files.opening import File, files_below
from untuned.adapters.score_files.reader import Reader, Recognised
from untuned.adapters.score_files.reading import Reading
from untuned.adapters.score_files.rows import Rows
from untuned.errors import InvalidInput

NAMES = (
    *("monitor", "evaluations", "progress", "arrays", "rliable", "dopamine", "dreamer", "marl_eval", "bsuite"),
    *("wide", "refused"),
)
READERS: dict[str, Reader] = {
    name: import_module(f"untuned.adapters.score_files.readers.{name}").READER for name in NAMES
}


def claiming(file: File) -> list[str]:
    return [name for name, reader in READERS.items() if reader.claims(file)]


def read(reader: str, *files: File, **asked: Any) -> tuple[Recognised, list[Rows]]:
    """Read files that this reader alone claims."""
    for file in files:
        assert claiming(file) == [reader], file.name
    found = READERS[reader].read(files, Reading(**asked))
    return found, list(found.parts)


def written(folder: Path, name: str, content: str | bytes) -> File:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return File(path, name)


def as_json(folder: Path, name: str, content: Any) -> File:
    text = json.dumps(content).encode()
    return written(folder, name, gzip.compress(text) if name.endswith(".gz") else text)


def as_npz(folder: Path, name: str, **arrays: Any) -> File:
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return written(folder, name, stream.getvalue())


def refused(message: str, reader: str, *files: File, **asked: Any) -> None:
    with pytest.raises(InvalidInput, match=message) as caught:
        list(READERS[reader].read(files, Reading(**asked)).parts)
    assert files[0].path.name.partition(".")[0] in str(caught.value) or len(files) > 1


def names_of(column: Any, size: int) -> list[str | None]:
    """Return a column of names, name by name."""
    if isinstance(column, Mapping):
        column = next(iter(column.values()))
    return [column] * size if column is None or isinstance(column, str) else [column[0][code] for code in column[1]]


def flat(parts: list[Rows]) -> list[tuple[Any, ...]]:
    """Return algorithm, environment, run, step and score of all rows."""
    return [
        each
        for part in parts
        for each in zip(
            names_of(part.algorithm, part.score.size),
            names_of(part.environment, part.score.size),
            names_of(part.run, part.score.size),
            [None] * part.score.size if part.step is None else part.step.tolist(),
            part.score.tolist(),
            strict=True,
        )
    ]


# Monitor


def monitor_text(start: float, rows: list[tuple[Any, ...]], environment: str | None = "CartPole-v1") -> str:
    lines = ["#" + json.dumps({"t_start": start, "env_id": environment}), "r,l,t\r"]
    return "\n".join([*lines, *(",".join(map(str, row)) + "\r" for row in rows), ""])


def test_a_monitor_file_is_a_curve_of_episodes(tmp_path: Path) -> None:
    file = written(tmp_path, "ppo/3/monitor.csv", monitor_text(100.0, [(1.5, 10, 0.5), ("nan", 20, 0.9)]))
    _, (rows,) = read("monitor", file)
    assert rows.environment == "CartPole-v1"
    assert rows.algorithm is rows.run is None
    assert rows.path == "ppo/3/monitor.csv"
    np.testing.assert_array_equal(rows.step, [10, 30])
    np.testing.assert_array_equal(rows.score, [1.5, np.nan])


def test_the_monitor_files_of_a_folder_are_one_run(tmp_path: Path) -> None:
    one = written(tmp_path, "run/0.monitor.csv", monitor_text(100.0, [(1.0, 10, 1.0), (2.0, 10, 3.0)]))
    two = written(tmp_path, "run/1.monitor.csv", monitor_text(100.5, [(5.0, 7, 1.0), (6.0, 7, 9.0)]))
    found, (rows,) = read("monitor", two, one)
    np.testing.assert_array_equal(rows.score, [1, 5, 2, 6])
    np.testing.assert_array_equal(rows.step, [10, 17, 27, 34])
    assert rows.path == "run/monitor.csv"
    assert found.detail == "1 of 1 runs merged from several environments"


def test_a_continued_monitor_file_keeps_its_order(tmp_path: Path) -> None:
    # A second session starts its clock again.
    file = written(tmp_path, "run/0.monitor.csv", monitor_text(1.0, [(1.0, 1, 9.0), (2.0, 1, 0.5), (3.0, 1, 0.7)]))
    _, (rows,) = read("monitor", file)
    np.testing.assert_array_equal(rows.score, [1, 2, 3])


def test_monitor_files_of_several_runs_are_not_merged(tmp_path: Path) -> None:
    one = written(tmp_path, "run/a.monitor.csv", monitor_text(100.0, [(1.0, 10, 1.0)]))
    later = written(tmp_path, "run/b.monitor.csv", monitor_text(200.0, [(1.0, 10, 1.0)]))
    other = written(tmp_path, "run/c.monitor.csv", monitor_text(100.0, [(1.0, 10, 1.0)], "Acrobot-v1"))
    refused("several runs. Give every run a folder", "monitor", one, later)
    refused("is of CartPole-v1 and run/c.monitor.csv of Acrobot-v1", "monitor", one, other)


def test_a_last_row_that_is_being_written_is_left_out(tmp_path: Path) -> None:
    text = monitor_text(1.0, [(1.0, 10, 1.0)])
    _, (rows,) = read("monitor", written(tmp_path, "monitor.csv", text + "2.0,1"))
    assert rows.score.tolist() == [1.0]
    refused("row 2 of monitor.csv has 2 cells", "monitor", written(tmp_path, "monitor.csv", f"{text}2.0,1\n3.0,1,2\n"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (monitor_text(1.0, []), "no episodes"),
        (monitor_text(1.0, [("high", 1, 1)]), "row 1 of monitor.csv has 'high' in column 'r'"),
        (monitor_text(1.0, [(1, -1, 1)]), "length -1"),
        ("#{}\nr,l,t\n1,1,1\n", "first line"),
        ('#{"t_start": 1}\na,b,c\n1,1,1\n', "columns a, b, c"),
    ],
)
def test_refused_monitor_files(tmp_path: Path, text: str, message: str) -> None:
    refused(message, "monitor", written(tmp_path, "monitor.csv", text))


# Evaluations


ARGS = """!!python/object/apply:collections.OrderedDict
- - - algo
    - ppo
  - - env
    - CartPole-v1
  - - seed
    - 3412345678
  - - tensorboard_log
    - ''
"""


def evaluations(folder: Path, name: str = "evaluations.npz", **more: Any) -> File:
    arrays = {"timesteps": [100, 200], "results": [[1.0, 3.0], [4.0, np.nan]], "ep_lengths": [[5, 6], [7, 8]]}
    return as_npz(folder, name, **(arrays | more))


def test_evaluations_are_means_over_episodes(tmp_path: Path) -> None:
    _, (rows,) = read("evaluations", evaluations(tmp_path, "dqn/1/evaluations.npz"))
    np.testing.assert_array_equal(rows.score, [2.0, np.nan])
    np.testing.assert_array_equal(rows.step, [100, 200])
    assert (rows.run, rows.environment, rows.path) == (None, None, "dqn/1/evaluations.npz")
    _, (rows,) = read("evaluations", evaluations(tmp_path), metric="ep_lengths")
    np.testing.assert_array_equal(rows.score, [5.5, 7.5])


@pytest.mark.parametrize(("args", "seed"), [(ARGS, "3412345678"), ("env: CartPole-v1\nseed: 7\n", "7")])
def test_the_seed_is_the_one_rl_zoo_keeps(tmp_path: Path, args: str, seed: str) -> None:
    file = evaluations(tmp_path, "logs/ppo/CartPole-v1_2/evaluations.npz")
    written(tmp_path, "logs/ppo/CartPole-v1_2/CartPole-v1/args.yml", args)
    _, (rows,) = read("evaluations", file)
    assert (rows.run, rows.environment) == (seed, "CartPole-v1")


def test_refused_evaluations(tmp_path: Path) -> None:
    refused("should be", "evaluations", evaluations(tmp_path, results=[1.0, 2.0]))
    refused("pickle", "evaluations", evaluations(tmp_path, results=np.array([[1], [1, 2]], dtype=object)))
    refused("not numbers", "evaluations", evaluations(tmp_path, results=[["a"], ["b"]]))
    refused("no array 'successes'", "evaluations", evaluations(tmp_path), metric="successes")
    refused("has the step nan", "evaluations", evaluations(tmp_path, timesteps=[1.0, np.nan]))


# Progress


def test_a_progress_log_has_holes(tmp_path: Path) -> None:
    text = "rollout/ep_rew_mean,eval/mean_reward,time/total_timesteps\n1.5,,100\n,7,150\n2.5,,200\n,nan,300\n"
    found, (rows,) = read("progress", written(tmp_path, "progress.csv", text))
    assert found.detail == "column eval/mean_reward"
    np.testing.assert_array_equal(rows.step, [150, 300])
    np.testing.assert_array_equal(rows.score, [7, np.nan])
    assert rows.numbers is not None
    np.testing.assert_array_equal(rows.numbers, [2, 4])
    _, (rows,) = read("progress", written(tmp_path, "progress.csv", text), metric="rollout/ep_rew_mean")
    np.testing.assert_array_equal(rows.score, [1.5, 2.5])


def test_progress_in_json_lines(tmp_path: Path) -> None:
    records = [{"rollout/ep_rew_mean": 1.0, "time/total_timesteps": 5}, {"time/total_timesteps": 7, "loss": 1}]
    text = "".join(json.dumps(each) + "\n" for each in records)
    _, (rows,) = read("progress", written(tmp_path, "progress.json", f'{text}{{"rollout/ep_re'))
    assert flat([rows]) == [(None, None, None, 5.0, 1.0)]


def test_a_log_that_is_there_twice_is_read_once(tmp_path: Path) -> None:
    one = written(tmp_path, "a/progress.csv", "rollout/ep_rew_mean,total_timesteps\n1,2\n")
    two = written(tmp_path, "a/progress.json", '{"rollout/ep_rew_mean": 1, "total_timesteps": 2}\n')
    _, parts = read("progress", one, two)
    assert [each.place for each in parts] == ["a/progress.csv"]


def test_all_logs_are_read_by_the_metric_they_all_have(tmp_path: Path) -> None:
    both = written(tmp_path, "a/progress.csv", "eval/mean_reward,rollout/ep_rew_mean,total_timesteps\n9,1,2\n")
    one = written(tmp_path, "b/progress.csv", "rollout/ep_rew_mean,total_timesteps\n3,2\n")
    found, parts = read("progress", both, one)
    assert found.detail == "column rollout/ep_rew_mean"
    assert [each[-1] for each in flat(parts)] == [1.0, 3.0]


def test_refused_progress_logs(tmp_path: Path) -> None:
    refused("several", "progress", written(tmp_path, "progress.csv", "a,b,timesteps\n1,1,1\n"))
    refused("no row with both", "progress", written(tmp_path, "progress.csv", "a,timesteps\n,1\n"), metric="a")
    refused("'high' in column 'a'", "progress", written(tmp_path, "progress.csv", "a,timesteps\nhigh,1\n"))
    refused("two columns", "progress", written(tmp_path, "progress.csv", "a,a,timesteps\n1,1,1\n"), metric="a")
    assert claiming(written(tmp_path, "progress.csv", "loss,epoch\n1,2\n")) == []
    assert claiming(written(tmp_path, "scores.csv", "algorithm,environment,timesteps,score\na,b,1,2\n")) == []


# Arrays


def test_an_archive_has_an_array_per_algorithm(tmp_path: Path) -> None:
    one, two = np.arange(6.0).reshape(3, 2), np.array([[8, 9]])
    found, parts = read("arrays", as_npz(tmp_path, "scores.npz", ppo=one, dqn=two), environments=["a", "b"])
    assert found.detail == "arrays of shape (3, 2), (1, 2) read as run x environment"
    expected = [("ppo", e, f"#{r + 1}", None, one[r, i]) for i, e in enumerate("ab") for r in range(3)]
    assert flat(parts) == [*expected, ("dqn", "a", "#1", None, 8.0), ("dqn", "b", "#1", None, 9.0)]


def test_an_algorithms_array_with_three_axes_has_curves(tmp_path: Path) -> None:
    array = np.random.default_rng(1).normal(size=(2, 3, 4))
    found, parts = read("arrays", as_npz(tmp_path, "scores.npz", ppo=array, dqn=array))
    assert found.unit == "point"
    rows = {each[:4]: each[4] for each in flat(parts)}
    assert rows["dqn", "environment-3", "#2", 4.0] == array[1, 2, 3]
    assert len(rows) == 48


def test_a_lone_array_needs_its_axes(tmp_path: Path) -> None:
    array = np.random.default_rng(1).normal(size=(6, 10, 18))
    file = as_npz(tmp_path, "scores.npz", scores=array)
    refused(
        re.escape(
            "(6, 10, 18) could be 6 algorithms x 10 environments x 18 runs, or 6 algorithms x 10 runs x 18 "
            "environments: say --axes algorithm,run,environment"
        ),
        "arrays",
        file,
    )
    found, parts = read("arrays", file, axes="algorithm,run,environment")
    assert found.detail == "shape (6, 10, 18) read as algorithm x run x environment"
    rows = {each[:3]: each[4] for each in flat(parts)}
    assert rows["algorithm-6", "environment-18", "#10"] == array[5, 9, 17]
    assert rows["algorithm-2", "environment-3", "#4"] == array[1, 3, 2]
    found, _ = read("arrays", file, environments=[f"game {n}" for n in range(18)])
    assert found.detail == "shape (6, 10, 18) read as algorithm x run x environment, by the number of environments"


def test_axes_of_an_array() -> None:
    def order(shape: tuple[int, ...], **options: Any) -> str:
        return rows_of_array(np.zeros(shape), name="x", **options).detail.partition(" read as ")[2].partition(",")[0]

    assert order((3, 4), environments=list("abcd")) == "run x environment"
    assert order((3, 4), environments=list("abc")) == "environment x run"
    assert order((3, 4), algorithms=list("abcd")) == "run x algorithm"
    assert order((3, 4), algorithms=list("abc"), environments=["only"]) == "algorithm x run"
    assert order((5,)) == "run"
    assert order((2, 3, 4), algorithms=list("abcd"), environments=list("abc")) == "run x environment x algorithm"
    assert order((2, 3, 4), axes="seeds, tasks, algos") == "run x environment x algorithm"
    assert order((2, 3, 4, 5), axes="step,run,env,algorithm") == "step x run x environment x algorithm"
    named = {"algorithms": list("ab"), "evidence": lambda array: "algorithm,run,environment"}
    assert order((2, 3, 4), **named) == "algorithm x run x environment"
    assert order((2, 3), algorithm="ppo") == "run x environment"


@pytest.mark.parametrize(
    ("shape", "options", "message"),
    [
        ((3, 3), {"environments": list("abc")}, "could be"),
        ((3, 4), {}, "could be 3 algorithms x 4 runs"),
        ((3, 4, 5), {"evidence": lambda array: ""}, "could be"),
        ((3, 4), {"environments": list("ab")}, "fit none"),
        ((2, 2, 2, 2), {}, "--axes algorithm,environment,run,step"),
        ((3, 4), {"axes": "run"}, "names 1 axes"),
        ((3, 4), {"axes": "run,run"}, "each axis once"),
        ((3, 4), {"axes": "run,colour"}, "no axis is called 'colour'"),
        ((3, 4), {"axes": "algorithm,environment"}, "no axis of runs"),
        ((3, 4), {"axes": "run,environment", "environments": list("ab")}, "2 different names"),
        ((3, 4), {"axes": "run,algorithm", "algorithm": "ppo"}, "one algorithm"),
        ((0, 4), {}, "shape"),
        ((), {}, "shape"),
    ],
)
def test_refused_axes(shape: tuple[int, ...], options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        rows_of_array(np.zeros(shape), name="the array", **options)


def test_arrays_of_algorithms_have_the_same_environments() -> None:
    with pytest.raises(InvalidInput, match="Are axes exchanged"):
        rows_of_dictionary({"a": np.zeros((5, 3)), "b": np.zeros((5, 4))}, name="x")
    found = rows_of_dictionary({"a": np.zeros((5, 3)), "b": np.zeros((5, 4))}, name="x", axes="environment,run")
    assert sum(each.score.size for each in found.parts) == 35
    with pytest.raises(InvalidInput, match="no arrays"):
        rows_of_dictionary({}, name="x")
    with pytest.raises(InvalidInput, match="algorithm's array"):
        rows_of_dictionary({"a": np.zeros((1, 1, 1, 1))}, name="x")


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.array([{"ppo": [1]}]), "is a pickle of Python objects.*np.savez"),
        (np.array([1j]), "complex128"),
        (np.array(["a"]), "not numbers"),
        (np.array(["2020-01-01"], dtype="M8[D]"), "not numbers"),
        (np.array([("a", 1.0)], dtype=[("algorithm", "U1"), ("score", "f8")]), "structured array.*algorithm, score"),
    ],
)
def test_refused_arrays(tmp_path: Path, array: Any, message: str) -> None:
    stream = io.BytesIO()
    np.save(stream, array)
    file = written(tmp_path, "scores.npy", stream.getvalue())
    assert claiming(file) == ["arrays"]
    refused(message, "arrays", file)


def test_arrays_that_say_more_than_they_have(tmp_path: Path) -> None:
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": "<f8", "fortran_order": False, "shape": (10**12,)})
    refused("8,000,000,000,000 bytes, and has 0", "arrays", written(tmp_path, "scores.npy", stream.getvalue()))
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", b"\x93NUMPY" + bytes(200_000_000))
    refused("more than is safe", "arrays", written(tmp_path, "scores.npz", bomb.getvalue()))


def test_arrays_without_names(tmp_path: Path) -> None:
    stream = io.BytesIO()
    np.savez(stream, np.zeros((2, 3)), np.ones((2, 3)))
    file = written(tmp_path, "scores.npz", stream.getvalue())
    _, parts = read("arrays", file, algorithms=["ppo", "dqn"])
    assert {each[0] for each in flat(parts)} == {"ppo", "dqn"}
    refused("2 arrays without names", "arrays", file, algorithms=["ppo"])


# JSON


def test_rliable_with_names(tmp_path: Path) -> None:
    content = {"ppo": {"coinrun": [1, 2.5], "maze": [None]}, "dqn": {"coinrun": [3, float("nan")], "maze": [4]}}
    _, parts = read("rliable", as_json(tmp_path, "procgen.json", content))
    assert flat(parts)[:2] == [("ppo", "coinrun", "#1", None, 1.0), ("ppo", "coinrun", "#2", None, 2.5)]
    assert len(flat(parts)) == 6
    assert np.isnan(flat(parts)[2][-1])


def test_rliable_with_a_file_per_algorithm(tmp_path: Path) -> None:
    file = as_json(tmp_path, "SPR.json", {"Alien": [1.0, 2.0], "Pong": [-3, 4]})
    found, parts = read("rliable", file)
    assert found.detail == "environment: scores"
    assert flat(parts)[-1] == (None, "Pong", "#2", None, 4.0)
    assert parts[0].path == "SPR.json"
    _, parts = read("rliable", file, axes="algorithm,run")
    assert flat(parts)[-1] == ("Pong", None, "#2", None, 4.0)


def test_rliable_with_matrices(tmp_path: Path) -> None:
    file = as_json(tmp_path, "scores.json.gz", {"ppo": [[1, 2, 3], [4, 5, 6]], "dqn": [[7, 8, 9]]})
    found, parts = read("rliable", file, environments=["a", "b", "c"])
    assert found.detail == "arrays of shape (2, 3), (1, 3) read as run x environment"
    assert flat(parts)[1] == ("ppo", "a", "#2", None, 4.0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": [1], "a": [2]}', "key 'a' twice"),
        ('{"a": [1, "2"]}', "number 2 of 'a' in scores.json is text"),
        ('{"a": [[1], [1, 2]]}', "different lengths"),
        ('{"a": []}', "no scores"),
        ('{"a": [1], "b": 2}', "'b' in scores.json is a number"),
        ('{"a": {"b": [1]}, "c": [1]}', "'a' in scores.json is an object"),
        ('{"a": [1', "not JSON: .* line 1, column"),
        ('{"a": [' + "1" * 5000 + "]}", "integer of 5,000 digits"),
        ('{"a": ' + "[" * 200_000, "nested too deeply"),
        ('{"\\ud800": [1]}', "half a character"),
        ('{"a": [1]}'.encode("utf-16").decode("latin-1"), "not JSON"),
        ("[1]", "is a list"),
    ],
)
def test_refused_json(tmp_path: Path, text: str, message: str) -> None:
    refused(message, "rliable", written(tmp_path, "scores.json", text))


def test_numbers_with_very_long_mantissas_are_read(tmp_path: Path) -> None:
    _, parts = read("rliable", written(tmp_path, "scores.json", f'{{"a": [{"1" * 300}, 0.{"1" * 5000}, 1e999]}}'))
    assert [each[-1] for each in flat(parts)] == pytest.approx([1.1111111111111111e299, 1 / 9, float("inf")])


def dopamine_records(runs: Mapping[str, list[list[float]]]) -> list[dict[str, Any]]:
    return [
        {"Iteration": iteration, "Value": value, "Agent": agent}
        for agent, curves in runs.items()
        for curve in curves
        for iteration, value in enumerate(curve)
    ]


def test_dopamine(tmp_path: Path) -> None:
    records = dopamine_records({"DQN": [[1, 2, 3], [4, 5]], "C51": [[6, 7], [8, 9]]})
    found, parts = read("dopamine", as_json(tmp_path, "pong.json", records))
    assert found.unit == "iteration"
    assert [each.score.tolist() for each in parts] == [[1, 2, 3], [4, 5], [6, 7], [8, 9]]
    assert flat(parts)[3] == ("DQN", "pong", "2", 0.0, 4.0)
    # By iteration: the k-th value of an iteration is the k-th run's.
    by_iteration = sorted(dopamine_records({"DQN": [[1, 2], [4, 5]]}), key=lambda each: float(each["Iteration"]))
    _, parts = read("dopamine", as_json(tmp_path, "pong.json", by_iteration))
    assert [each.score.tolist() for each in parts] == [[1, 2], [4, 5]]


def test_refused_dopamine(tmp_path: Path) -> None:
    mixed = sorted(dopamine_records({"DQN": [[1, 2, 3], [4, 5]]}), key=lambda each: float(each["Iteration"]))
    refused("not known which run", "dopamine", as_json(tmp_path, "pong.json", mixed))
    bad = [{"Iteration": 0, "Agent": "a"}]
    refused("record 1 of pong.json has no 'Value'", "dopamine", as_json(tmp_path, "pong.json", bad))
    bad = [{"Iteration": None, "Agent": "a", "Value": 1}]
    refused("has the step nan", "dopamine", as_json(tmp_path, "pong.json", bad))
    bad = [{"Iteration": 1, "Agent": 1.5, "Value": 1}]
    refused("not a name", "dopamine", as_json(tmp_path, "pong.json", bad))


def dreamer_runs() -> list[dict[str, Any]]:
    return [
        {"task": "atari_pong", "method": "dreamerv3", "seed": "0", "xs": [1e4, 2e4], "ys": [-21.0, 3.0]},
        {"task": "atari_pong", "method": "dreamerv3", "seed": 1, "xs": [1e4], "ys": [float("nan")]},
    ]


@pytest.mark.parametrize("name", ["atari.json", "atari.json.gz"])
def test_dreamer(tmp_path: Path, name: str) -> None:
    _, parts = read("dreamer", as_json(tmp_path, name, dreamer_runs()))
    assert flat(parts)[:2] == [
        ("dreamerv3", "atari_pong", "0", 1e4, -21.0),
        ("dreamerv3", "atari_pong", "0", 2e4, 3.0),
    ]
    assert (parts[1].run, parts[1].score.size) == ("1", 1)


def test_the_log_of_a_dreamer_run(tmp_path: Path) -> None:
    scores = '{"step": 100, "episode/score": 1.5}\n{"step": 200, "episode/score": 2.5}\n{"step": 300, "epi'
    metrics = '{"step": 50, "train/loss": 1}\n{"step": 100, "episode/score": 1.5, "episode/length": 9}\n'
    files = [
        written(tmp_path, "run/scores.jsonl", scores),
        written(tmp_path, "run/metrics.jsonl", metrics),
        written(tmp_path, "more/metrics.jsonl", metrics),
    ]
    found, parts = read("dreamer", *files)
    assert found.detail == "key episode/score"
    assert [each.place for each in parts] == ["run/scores.jsonl", "more/metrics.jsonl"]
    assert flat(parts) == [(None, None, None, 100, 1.5), (None, None, None, 200, 2.5), (None, None, None, 100, 1.5)]


def test_a_table_in_json_lines_is_no_log(tmp_path: Path) -> None:
    text = '{"algorithm": "ppo", "environment": "a", "step": 1, "score": 2}\n'
    assert claiming(written(tmp_path, "scores.jsonl", text)) == claiming(written(tmp_path, "metrics.jsonl", text)) == []


def test_refused_dreamer(tmp_path: Path) -> None:
    (run, _) = dreamer_runs()
    refused("2 xs and 1 ys", "dreamer", as_json(tmp_path, "a.json", [run | {"ys": [1]}]))
    refused("'seed' of run 1 of a.json", "dreamer", as_json(tmp_path, "a.json", [run | {"seed": None}]))
    refused(
        "line 2 of scores.jsonl has no 'step'",
        "dreamer",
        written(tmp_path, "scores.jsonl", '{"a": 1, "step": 1}\n{"a": 1}\n'),
    )
    both = as_json(tmp_path, "a.json", [run]), written(tmp_path, "scores.jsonl", '{"step": 1, "episode/score": 1}\n')
    refused("one at a time", "dreamer", *both)


def marl_runs(absolute: bool) -> dict[str, Any]:
    last = {"absolute_metrics": {"return": [10.0, 20.0], "win_rate": [1.0]}} if absolute else {}
    run = {
        "step_0": {"step_count": 1000, "return": [1.0, 3.0], "win_rate": [0.0]},
        "step_1": {"step_count": 2000, "return": [5.0, 7.0], "win_rate": [0.5]},
    }
    return {"smac": {"3m": {"qmix": {"seed_1": run | last, "seed_2": run | last}}}}


def test_marl_eval(tmp_path: Path) -> None:
    found, parts = read("marl_eval", as_json(tmp_path, "a.json", marl_runs(False)))
    assert found.detail == "metric return, mean over episodes"
    assert flat(parts)[:2] == [("qmix", "smac/3m", "seed_1", 1000, 2.0), ("qmix", "smac/3m", "seed_1", 2000, 6.0)]
    found, parts = read("marl_eval", as_json(tmp_path, "a.json", marl_runs(True)))
    assert found.detail == "absolute metric return, mean over episodes"
    assert flat(parts)[0] == ("qmix", "smac/3m", "seed_1", None, 15.0)
    _, parts = read("marl_eval", as_json(tmp_path, "a.json", marl_runs(True)), metric="win_rate")
    assert flat(parts)[0][-1] == 1.0


def test_absolute_metrics_count_where_all_runs_have_them(tmp_path: Path) -> None:
    content = marl_runs(True)
    del content["smac"]["3m"]["qmix"]["seed_2"]["absolute_metrics"]
    _, parts = read("marl_eval", as_json(tmp_path, "a.json", content))
    assert [each.step is None for each in parts] == [False, False]


def test_refused_marl_eval(tmp_path: Path) -> None:
    content = marl_runs(False)
    run = content["smac"]["3m"]["qmix"]["seed_1"]
    run["step_0"]["return"] = []
    refused("empty list", "marl_eval", as_json(tmp_path, "a.json", content))
    del run["step_0"]["step_count"], run["step_0"]["return"]
    refused(
        "'step_0' of run 'seed_1' of 'qmix' on 'smac/3m' in a.json has no",
        "marl_eval",
        as_json(tmp_path, "a.json", content),
    )
    content["smac"]["3m"]["qmix"]["seed_1"] = {}
    refused("in the order environment, task", "marl_eval", as_json(tmp_path, "a.json", content))


# bsuite


def bsuite_text(episodes: list[int], returns: list[float]) -> str:
    """Write what bsuite does of a run with these returns, at some of its episodes."""
    stream = io.StringIO()
    table = csv.writer(stream, lineterminator="\n")
    table.writerow(["steps", "episode", "total_return", "episode_len", "episode_return", "denoised_return"])
    for episode in episodes:
        table.writerow([episode * 9, episode, sum(returns[:episode]), 9, returns[episode - 1], 0])
    return stream.getvalue()


def test_bsuite_is_read_by_the_growth_of_its_totals(tmp_path: Path) -> None:
    returns = [0.0] * 5 + [1.0] * 5
    text = bsuite_text([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], returns)
    found, (rows,) = read("bsuite", written(tmp_path, "dqn/bsuite_id_-_deep_sea-3.csv", text))
    assert (rows.environment, rows.algorithm, rows.run, found.unit) == ("deep_sea/3", "dqn", None, "episode")
    _, (other,) = read("bsuite", written(tmp_path, "dqn/seed_0/bsuite_id_-_deep_sea-3.csv", text))
    assert other.algorithm is None
    np.testing.assert_allclose(rows.score, returns)
    np.testing.assert_array_equal(rows.step, np.arange(1, 11))


def test_the_mean_of_a_bsuite_curve_is_that_of_all_episodes(tmp_path: Path) -> None:
    returns = np.random.default_rng(1).normal(size=10_000).tolist()
    ratios = (10, 12, 14, 17, 20, 25, 30, 40, 50, 60, 70, 80, 90)
    logged = [*range(1, 10), *(10**k * ratio for k in range(3) for ratio in ratios), 10_000]
    file = written(tmp_path, "bsuite_id_-_bandit-0.csv", bsuite_text(logged, returns))
    _, (rows,) = read("bsuite", file)
    assert rows.score.size == 100
    assert rows.score.mean() == pytest.approx(np.mean(returns))
    assert rows.score[-1] == pytest.approx(np.mean(returns[9000:]))


def test_refused_bsuite(tmp_path: Path) -> None:
    name = "bsuite_id_-_catch-0.csv"
    refused("logged by episode", "bsuite", written(tmp_path, name, "episode,total_return\n0,1\n0,2\n"))
    refused("no column 'total_return'", "bsuite", written(tmp_path, name, "episode,return\n1,1\n"))
    refused("no rows", "bsuite", written(tmp_path, name, "episode,total_return\n"))
    refused("should be called", "bsuite", written(tmp_path, "catch.csv", "episode,total_return\n1,1\n"))


# Wide tables


def test_wide_with_a_column_per_environment(tmp_path: Path) -> None:
    text = "algo,seed,CartPole,Acrobot\nppo,1,10,-80\nppo,2,11,\ndqn,1,9,\n"
    found, parts = read("wide", written(tmp_path, "scores.csv", text))
    assert found.detail == "a column per environment"
    rows = flat(parts)
    assert rows[:2] == [("ppo", "CartPole", "1", None, 10.0), ("ppo", "CartPole", "2", None, 11.0)]
    # A run of ppo has no score on Acrobot; dqn was not run there.
    assert [each[:3] for each in rows[3:]] == [("ppo", "Acrobot", "1"), ("ppo", "Acrobot", "2")]
    assert np.isnan(rows[4][-1])


@pytest.mark.parametrize(("names", "told"), [(("walker_1", "walker_2"), True), (("walker", "pong_2"), False)])
def test_files_that_may_be_batches_of_one_environment_are_named(
    tmp_path: Path, names: tuple[str, str], told: bool
) -> None:
    for name in names:
        (tmp_path / f"{name}.csv").write_text(",ppo,dqn\n0,1.5,2\n1,2.5,3\n")
    summary = imported(rows_of_paths([tmp_path], Reading()), Reading()).summary
    assert ("each file taken for an environment (walker_1, walker_2; if they are batches" in summary) == told


@pytest.mark.parametrize("index", ["", "Unnamed: 0", "run"])
def test_wide_with_a_column_per_algorithm(tmp_path: Path, index: str) -> None:
    text = f"{index};ppo;dqn\n0;1.5;2\n1;;3\n2;4;\n"
    found, parts = read("wide", written(tmp_path, "walker.csv", text))
    assert found.detail == "a column per algorithm"
    assert [each[:3] for each in flat(parts)] == [
        *(("ppo", "walker", run) for run in "012"),
        *(("dqn", "walker", run) for run in "01"),
    ]
    assert np.isnan(parts[0].score[1])


@pytest.mark.parametrize(
    "header",
    ["algorithm,environment,score", "run,step,ppo", "algorithm,score,other", ",loss,value", "algo,agent,1", "a,b,c"],
)
def test_other_tables_are_not_wide(tmp_path: Path, header: str) -> None:
    assert claiming(written(tmp_path, "scores.csv", f"{header}\n1,2,3\n")) == []


def test_refused_wide_tables(tmp_path: Path) -> None:
    refused("not in wide form", "wide", written(tmp_path, "a.csv", "x,y\n1,2\n"))
    refused("two columns of one name", "wide", written(tmp_path, "a.csv", "algo,y,y\nppo,2,3\n"))
    refused("row 1 of a.csv has 'x' in column 'y'", "wide", written(tmp_path, "a.csv", "algo,y\nppo,x\n"))
    refused("has no name", "wide", written(tmp_path, "a.csv", "algo,y\n,1\n"))
    refused("no rows", "wide", written(tmp_path, "a.csv", "algo,y\n"))
    refused("is not UTF-8", "wide", written(tmp_path, "a.csv", b"algo,y\npp\xff,1\n"))
    refused("has 3 cells and the header 2", "wide", written(tmp_path, "a.csv", b"algo,y\nppo,1,5\n"))


# What cannot be read


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("scores.pkl", b"\x80\x04\x95", "pickle.*np.savez.*folder of logs"),
        ("scores", b"\x80\x04\x95\x10", "pickle"),
        ("model.pt", b"PK\x03\x04", "pickle"),
        ("scores.xlsx", b"PK\x03\x04", "save it as CSV"),
        ("scores.mat", b"MATLAB 5.0", "MATLAB"),
        ("scores.h5", b"\x89HDF", "HDF5"),
        ("config.yml", b"seed: 1", "YAML"),
        ("table.csv", "game,PPO\nPong,1705.80 ± 439.74\n", "means with their spread"),
        ("table.csv", "game,PPO\nPong,1705.80 ± 439.74\n".encode("latin-1"), "means with their spread"),
        ("ppo.json", '[{"env_step": 1, "rew": 3.5, "rew_std": 0.2}]', r"means with their spread \(rew, rew_std\)"),
        ("all.json", '{"ppo": {"pong": {"mean": 1.0, "std": 0.1}}}', r"means with their spread \(mean, std\)"),
    ],
)
def test_files_without_trials_are_refused_with_words(
    tmp_path: Path, name: str, content: str | bytes, message: str
) -> None:
    file = written(tmp_path, name, content)
    assert claiming(file) == ["refused"]
    refused(message, "refused", file)


# Files of the library itself


def test_files_that_stable_baselines3_writes(tmp_path: Path) -> None:
    needs.extra("stable_baselines3", "sb3")
    from stable_baselines3 import A2C
    from stable_baselines3.common.callbacks import EvalCallback
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.logger import configure
    from stable_baselines3.common.monitor import load_results

    folder = tmp_path / "logs" / "a2c"
    environment = make_vec_env("CartPole-v1", n_envs=2, monitor_dir=str(folder), seed=1)
    model = A2C("MlpPolicy", environment, seed=1, n_steps=5, device="cpu")
    model.set_logger(configure(str(folder), ["csv", "json"]))
    evaluation = EvalCallback(
        make_vec_env("CartPole-v1"), log_path=str(folder), eval_freq=50, n_eval_episodes=3, verbose=0
    )
    model.learn(400, callback=evaluation, log_interval=5)
    model.logger.close()
    environment.close()
    found: dict[str, list[File]] = {}
    for file in files_below(tmp_path / "logs"):
        for name in claiming(file):
            found.setdefault(name, []).append(file)
    assert {name: len(files) for name, files in found.items()} == {"monitor": 2, "evaluations": 1, "progress": 2}

    _, (monitor,) = read("monitor", *found["monitor"])
    expected = load_results(str(folder))
    assert monitor.environment == "CartPole-v1"
    np.testing.assert_array_equal(monitor.score, expected["r"])
    np.testing.assert_array_equal(monitor.step, expected["l"].cumsum())

    _, (evaluated,) = read("evaluations", *found["evaluations"])
    np.testing.assert_array_equal(evaluated.step, [100, 200, 300, 400])
    for suffix in (".csv", ".json"):
        files = [file for file in found["progress"] if file.suffix == suffix]
        _, (progress,) = read("progress", *files)
        np.testing.assert_array_equal(progress.step, evaluated.step)
        np.testing.assert_allclose(progress.score, evaluated.score)


# Round trips

numbers = st.floats(allow_nan=True, allow_infinity=True, width=64)
finite = st.floats(-1e6, 1e6)
words = st.text("abcdefghijklmnopqrstuvwxyzé-", min_size=1, max_size=8)
same_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


def same(one: Any, other: Any) -> None:
    np.testing.assert_array_equal(np.asarray(one, dtype=float), np.asarray(other, dtype=float))


@same_folder
@given(
    st.lists(
        st.lists(st.tuples(numbers, st.integers(1, 1000), st.floats(0, 100)), min_size=1, max_size=6),
        min_size=1,
        max_size=3,
    )
)
def test_monitor_round_trip(tmp_path: Path, runs: list[list[tuple[float, int, float]]]) -> None:
    runs = [sorted(run, key=lambda row: row[2]) for run in runs]
    files = [written(tmp_path, f"r/{k}.monitor.csv", monitor_text(50.0 - k / 1000, run)) for k, run in enumerate(runs)]
    latest = 50.0
    if any(50.0 - k / 1000 + run[-1][2] < latest for k, run in enumerate(runs)):
        return
    (rows,) = READERS["monitor"].read(files, Reading()).parts
    assert rows.step is not None
    assert rows.step[-1] == sum(row[1] for run in runs for row in run)
    same(np.sort(rows.score), np.sort([row[0] for run in runs for row in run]))


@same_folder
@given(st.dictionaries(words, st.dictionaries(words, st.lists(numbers, min_size=1), min_size=1), min_size=1))
def test_rliable_round_trip(tmp_path: Path, content: dict[str, dict[str, list[float]]]) -> None:
    parts = READERS["rliable"].read([as_json(tmp_path, "a.json", content)], Reading()).parts
    found: dict[str, dict[str, Any]] = {}
    for part in parts:
        found.setdefault(str(part.algorithm), {})[str(part.environment)] = part.score
    assert found.keys() == content.keys()
    for algorithm, tasks in content.items():
        for task, scores in tasks.items():
            same(found[algorithm][task], scores)


@same_folder
@given(st.dictionaries(words, st.lists(st.lists(numbers, min_size=3, max_size=3), min_size=1, max_size=4), min_size=1))
def test_dopamine_round_trip(tmp_path: Path, runs: dict[str, list[list[float]]]) -> None:
    records = dopamine_records(runs)
    parts = READERS["dopamine"].read([as_json(tmp_path, "pong.json", records)], Reading()).parts
    found: dict[str, list[Any]] = {}
    for part in parts:
        found.setdefault(str(part.algorithm), []).append(part.score)
    for agent, curves in runs.items():
        same(found[agent], curves)


@same_folder
@given(
    st.permutations(["algorithm", "environment", "run", "step"]),
    st.tuples(*[st.integers(1, 4)] * 4),
    st.integers(0, 2**32 - 1),
)
def test_axes_round_trip(tmp_path: Path, order: list[str], shape: tuple[int, ...], seed: int) -> None:
    array = np.random.default_rng(seed).normal(size=shape)
    (part,) = rows_of_array(array, name="x", axes=",".join(order)).parts
    for algorithm, environment, run, step, score in flat([part]):
        index = {
            "algorithm": int(algorithm.rpartition("-")[2]) - 1,
            "environment": int(environment.rpartition("-")[2]) - 1,
            "run": int(run.removeprefix("#")) - 1,
            "step": int(step) - 1,
        }
        assert array[tuple(index[axis] for axis in order)] == score
    assert part.score.size == array.size


@same_folder
@given(st.dictionaries(words.map("x-{}".format), st.lists(finite, min_size=4, max_size=4), min_size=2))
def test_wide_round_trip(tmp_path: Path, table: dict[str, list[float]]) -> None:
    rows = [["algo", *table], *(["ppo", *map(repr, row)] for row in zip(*table.values(), strict=True))]
    file = written(tmp_path, "a.csv", "\n".join(map(",".join, rows)) + "\n")
    parts = list(READERS["wide"].read([file], Reading()).parts)
    assert {str(part.environment): part.score.tolist() for part in parts} == table


@same_folder
@given(st.integers(1, 5), st.integers(1, 4), st.data())
def test_evaluations_round_trip(tmp_path: Path, points: int, episodes: int, data: st.DataObject) -> None:
    values = data.draw(st.lists(finite, min_size=points * episodes, max_size=points * episodes))
    results = np.array(values).reshape(points, episodes)
    file = as_npz(tmp_path, "evaluations.npz", timesteps=np.arange(points), results=results)
    (rows,) = READERS["evaluations"].read([file], Reading()).parts
    same(rows.score, results.mean(axis=1))
    same(rows.step, range(points))


@same_folder
@given(st.lists(st.tuples(st.integers(0, 10**9), numbers | st.none()), min_size=1))
def test_progress_round_trip(tmp_path: Path, points: list[tuple[int, float | None]]) -> None:
    points = [*points, (1, 1.0)]
    lines = [f"{'' if score is None else repr(score)},{step}" for step, score in points]
    text = "\n".join(["eval/mean_reward,time/total_timesteps", *lines, ""])
    records = [
        {"time/total_timesteps": step} | ({} if score is None else {"eval/mean_reward": score})
        for step, score in points
    ]
    for name, content in (("progress.csv", text), ("progress.json", "\n".join(map(json.dumps, records)) + "\n")):
        (rows,) = READERS["progress"].read([written(tmp_path, name, content)], Reading()).parts
        same(rows.score, [score for _, score in points if score is not None])
        same(rows.step, [step for step, score in points if score is not None])


curves = st.lists(st.tuples(finite, numbers), min_size=1, max_size=5)


@same_folder
@given(st.lists(st.tuples(words, words, words, curves), min_size=1, max_size=5))
def test_dreamer_round_trip(tmp_path: Path, runs: list[tuple[str, str, str, list[tuple[float, float]]]]) -> None:
    content = [
        {"task": task, "method": method, "seed": seed, "xs": [x for x, _ in curve], "ys": [y for _, y in curve]}
        for task, method, seed, curve in runs
    ]
    parts = list(READERS["dreamer"].read([as_json(tmp_path, "a.json.gz", content)], Reading()).parts)
    for (task, method, seed, curve), part in zip(runs, parts, strict=True):
        assert (part.environment, part.algorithm, part.run) == (task, method, seed)
        same(np.transpose([part.step, part.score]), curve)


@same_folder
@given(st.dictionaries(words, st.dictionaries(words, curves, min_size=1, max_size=3), min_size=1, max_size=3))
def test_marl_eval_round_trip(tmp_path: Path, runs: dict[str, dict[str, list[tuple[float, float]]]]) -> None:
    content = {
        algorithm: {
            run: {f"step_{k}": {"step_count": x, "return": [y, y]} for k, (x, y) in enumerate(curve)}
            for run, curve in group.items()
        }
        for algorithm, group in runs.items()
    }
    parts = READERS["marl_eval"].read([as_json(tmp_path, "a.json", {"smac": {"3m": content}})], Reading()).parts
    found = {(part.algorithm, part.run): np.transpose([part.step, part.score]) for part in parts}
    for algorithm, group in runs.items():
        for run, curve in group.items():
            with np.errstate(over="ignore"):
                expected = [(x, float(np.mean([y, y]))) for x, y in curve]
            same(found[algorithm, run], expected)


# Damaged files


def sample_files(folder: Path) -> dict[str, list[File]]:
    npy = io.BytesIO()
    np.save(npy, np.arange(12.0).reshape(3, 4))
    return {
        "monitor": [written(folder, "m/0.monitor.csv", monitor_text(1.0, [(1.5, 10, k / 10) for k in range(20)]))],
        "evaluations": [evaluations(folder, "e/evaluations.npz")],
        "progress": [
            written(
                folder, "p/progress.csv", "eval/mean_reward,loss,time/total_timesteps\n1.5,,100\n,7,150\n2.5,1,200\n"
            ),
            written(folder, "q/progress.json", '{"eval/mean_reward": 1.0, "time/total_timesteps": 5}\n' * 4),
        ],
        "arrays": [
            as_npz(folder, "a.npz", ppo=np.zeros((3, 2)), dqn=np.ones((2, 2))),
            written(folder, "a.npy", npy.getvalue()),
        ],
        "rliable": [
            as_json(folder, "r.json", {"ppo": {"a": [1, 2.5], "b": [3, None]}, "dqn": {"a": [1e3], "b": [-4]}}),
            as_json(folder, "s.json.gz", {"ppo": [[1, 2], [3, 4]], "dqn": [[5, 6]]}),
        ],
        "dopamine": [as_json(folder, "pong.json", dopamine_records({"DQN": [[1, 2, 3], [4, 5, 6]], "C51": [[1, 2]]}))],
        "dreamer": [
            as_json(folder, "d.json", dreamer_runs()),
            written(folder, "l/scores.jsonl", '{"step": 100, "episode/score": 1.5}\n' * 5),
        ],
        "marl_eval": [as_json(folder, "marl.json", marl_runs(True))],
        "bsuite": [written(folder, "dqn/bsuite_id_-_catch-3.csv", bsuite_text([1, 2, 3, 5], [1.0] * 5))],
        "wide": [
            written(folder, "w.csv", "algo,seed,CartPole,Acrobot\nppo,1,10,-80\nppo,2,11,\n"),
            written(folder, "v.csv", ",ppo,dqn\n0,1.5,2\n1,,3\n"),
        ],
        "refused": [written(folder, "x.pkl", b"\x80\x04\x95")],
    }


def mutated(data: bytes, draw: random.Random) -> bytes:
    """Return data with a bit flipped, a part deleted, repeated or cut off, or bytes inserted; several times."""
    found = bytearray(data)
    for _ in range(draw.randint(1, 4)):
        at, end = sorted(draw.randrange(len(found) + 1) for _ in range(2))
        match draw.randrange(6):
            case 0 | 1 if at < len(found):
                found[at] ^= 1 << draw.randrange(8)
            case 2:
                del found[at:end]
            case 3:
                del found[at:]
            case 4:
                found[at:at] = found[at:end]
            case _:
                found[at:at] = draw.choice(
                    [b"\0", b'"', b"{", b"[", b",", b"\n", b"nan", b"-", b"9" * 400, b"\xff", b"1e999"]
                )
    return bytes(found)


@pytest.mark.parametrize("name", NAMES)
def test_damaged_files_are_read_or_refused(tmp_path: Path, name: str) -> None:
    draw = random.Random(name)
    samples = sample_files(tmp_path)[name]
    contents = [file.path.read_bytes() for file in samples]
    for file in samples:
        assert claiming(file) == [name]
    named = failed = 0
    for attempt in range(300):
        sample, content = samples[attempt % len(samples)], contents[attempt % len(samples)]
        data = mutated(content, draw)
        if sample.path.suffix == ".gz" and attempt % 4:
            data = gzip.compress(mutated(gzip.decompress(content), draw))
        sample.path.write_bytes(data)
        file = File(sample.path, sample.below)
        for reader in READERS.values():
            reader.claims(file)
        asked = Reading(axes="run,environment") if file.suffix == ".npy" else Reading()
        try:
            parts = list(READERS[name].read([file], asked).parts)
        except InvalidInput as error:
            parts = []
            named += sample.path.name.partition(".")[0] in str(error)
            failed += 1
        for part in parts:
            assert part.score.dtype == np.float64
            assert part.score.size
            assert part.step is None or part.step.shape == part.score.shape
    assert named == failed


@pytest.mark.parametrize("digits", ["1_000", "\uff11\uff12", "\u0663", "1\u0660"])
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.csv", "algorithm,environment,score\na,x,{}\nb,x,2\n"),
        ("x.tsv", "algorithm\tenvironment\tscore\na\tx\t{}\nb\tx\t2\n"),
        ("x.jsonl", '{{"algorithm":"a","environment":"x","score":"{}"}}\n'),
        ("x.json", '[{{"algorithm":"a","environment":"x","score":"{}"}}]'),
        ("steps.csv", "algorithm,environment,seed,step,score\na,x,1,{},1\na,x,1,5,2\n"),
        ("wide.csv", "algorithm,x,y\na,{},1\nb,2,2\n"),
        ("progress.csv", "time/total_timesteps,rollout/ep_rew_mean\n1,{}\n2,3\n"),
        ("0.monitor.csv", '#{{"t_start": 1.0, "env_id": "CartPole-v1"}}\nr,l,t\n{},9,1.5\n2,9,2.5\n'),
    ],
    ids=lambda given: given if len(given) < 16 else "",
)
def test_numbers_have_plain_digits_in_every_reader(tmp_path: Path, name: str, content: str, digits: str) -> None:
    (tmp_path / name).write_text(content.format(digits), encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"number|suffix|structure|has no column"):
        untuned.read_scores(tmp_path / name, reduce="mean", pattern=None)


def test_a_repeated_key_is_refused_whatever_other_rows_have(tmp_path: Path) -> None:
    twice = '{"algorithm":"a","environment":"x","score":1,"score":5}'
    others = ('{"algorithm":"b","environment":"x","score":2}', '{"algorithm":"b","environment":"x","score":2,"note":1}')
    for other in others:
        for rows in ([twice, other], [other, twice]):
            (tmp_path / "x.jsonl").write_text("\n".join(rows))
            (tmp_path / "x.json").write_text(f"[{','.join(rows)}]")
            for name in ("x.jsonl", "x.json"):
                with pytest.raises(InvalidInput, match="the key 'score' twice"):
                    untuned.read_scores(tmp_path / name)


def test_a_repeated_key_in_a_log_is_refused(tmp_path: Path) -> None:
    (tmp_path / "0.monitor.csv").write_text('#{"t_start": 1.0, "env_id": "A", "env_id": "B"}\nr,l,t\n1,9,1.5\n')
    with pytest.raises(InvalidInput, match=r"0\.monitor\.csv"):
        untuned.read_scores(tmp_path / "0.monitor.csv", reduce="mean")


def test_a_stray_quotation_mark_in_the_header_of_a_log(tmp_path: Path) -> None:
    (tmp_path / "progress.csv").write_text('time/total_timesteps,"rollout/ep_rew_mean\n1,2\n2",3\n3,4\n')
    with pytest.raises(InvalidInput, match=r"header|quotation|known"):
        untuned.read_scores(tmp_path / "progress.csv", reduce="mean", pattern="{algorithm}_{environment}")


def test_an_array_of_objects_is_a_table(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(
        '[{"algorithm":"a","environment":"x","score":1},\n{"algorithm":"b","environment":"x"}]'
    )
    with pytest.raises(InvalidInput, match="not all finite"):
        untuned.read_scores(tmp_path / "x.json")
    (tmp_path / "x.json").write_text('[{"algorithm":"a","environment":"x","score":1}, 3]')
    with pytest.raises(InvalidInput, match=r"element 2 of x\.json is a number"):
        untuned.read_scores(tmp_path / "x.json")
