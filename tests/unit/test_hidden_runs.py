"""Rows that are not runs, and trials that failed, where the file says so only in passing."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

import untuned
from untuned.adapters.sources import read


def noisy(rows: int, seed: int = 5) -> list[float]:
    return [float(each) for each in np.random.default_rng(seed).normal(size=rows)]


def written(path: Path, head: str, rows: list[str]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    return path


def cells(values: int = 6) -> list[tuple[str, str, int, int, float]]:
    """Return noise for two algorithms on two environments: some runs with some points each, in no order."""
    keys = [(a, e, r, t) for a in "ab" for e in "xy" for r in range(values) for t in range(5)]
    found = [(*key, score) for key, score in zip(keys, noisy(len(keys)), strict=True)]
    return [found[each] for each in np.random.default_rng(6).permutation(len(found))]


# Columns that are not read


@pytest.mark.parametrize("names", ["rank,t", "rep,eval_ep", "id,timesteps_total"])
@pytest.mark.parametrize("form", ["csv", "parquet", "jsonl", "frame"])
def test_columns_that_may_name_runs_stop_an_evaluation(names: str, form: str, tmp_path: Path) -> None:
    one, other = names.split(",")
    rows = [{"algorithm": a, "environment": e, one: r, other: t, "score": s} for a, e, r, t, s in cells()]
    frame = pandas.DataFrame(rows)
    source: Any = tmp_path / f"scores.{form}"
    if form == "csv":
        frame.to_csv(source, index=False)
    elif form == "parquet":
        frame.to_parquet(source)
    elif form == "jsonl":
        frame.to_json(source, orient="records", lines=True)
    else:
        source = frame
    with pytest.raises(
        untuned.InvalidInput, match=rf"'{one}' and '{other}' repeat .*--run {one}.*accept=\['unread-columns'\]"
    ):
        untuned.evaluate(source)
    assert "unread-columns" in [each.code for each in untuned.check(source).serious]
    table = untuned.read_scores(source, run=one, step=other, reduce="mean")
    assert table.trials.tolist() == [[6, 6], [6, 6]]
    found = untuned.evaluate(source, accept=["unread-columns"])
    assert "unread-columns" in found.claim
    assert "unread-columns" in found.statement


@pytest.mark.parametrize("column", ["rate", "note", "all", "few"])
def test_other_columns_do_not(column: str, tmp_path: Path) -> None:
    """Drawn values, texts that differ, one value for all, and values that do not repeat equally often."""
    columns: dict[str, list[Any]] = {
        "rate": noisy(240, 1),
        "note": [f"n{each}" for each in range(240)],
        "all": ["v1"] * 240,
        "few": [str(each) for each in np.random.default_rng(7).integers(3, size=240)],
    }
    values = columns[column]
    rows = [
        f"{'ab'[n % 2]},{'xy'[n // 2 % 2]},{s},{v}" for n, (s, v) in enumerate(zip(noisy(240), values, strict=True))
    ]
    path = written(tmp_path / "scores.csv", "algorithm,environment,score,extra", rows)
    assert untuned.check(path).serious == ()


def test_a_row_counter_does_not_hide_curves(tmp_path: Path) -> None:
    rows = [f"{a},{e},{n},{r},{t},{s}" for n, (a, e, r, t, s) in enumerate(cells())]
    path = written(tmp_path / "scores.csv", "algorithm,environment,trial,seed,step,score", rows)
    with pytest.raises(untuned.InvalidInput, match=r"'trial' has another value in every row.*--run seed"):
        untuned.read_scores(path)
    assert untuned.read_scores(path, run="seed", reduce="final").trials.tolist() == [[6, 6], [6, 6]]
    assert untuned.read_scores(path, run="trial").trials.tolist() == [[30, 30], [30, 30]]


def test_runs_in_the_index_of_a_frame_are_not_overlooked() -> None:
    frame = pandas.DataFrame(cells(), columns=["algorithm", "environment", "seed", "step", "score"])
    with pytest.raises(untuned.InvalidInput, match=r"'seed', 'step' is in the index.*reset_index"):
        untuned.read_scores(frame.set_index(["seed", "step"]))


# Curves in several files


def curve(values: list[float]) -> list[str]:
    return [f"{1000 * (step + 1)},{value}" for step, value in enumerate(values)]


def test_a_file_per_run_has_its_names_in_its_path(tmp_path: Path) -> None:
    for algorithm in ("dqn", "ppo"):
        for environment in ("Maze-v0", "Arm-v1"):
            for seed in range(3):
                path = tmp_path / "runs" / algorithm / environment / f"seed{seed}.csv"
                written(path, "step,return", curve(noisy(20, seed)))
    found = read(tmp_path / "runs", reduce="final")
    assert found.table.algorithms == ("dqn", "ppo")
    assert sorted(found.table.environments) == ["Arm-v1", "Maze-v0"]
    assert found.table.trials.tolist() == [[3, 3], [3, 3]]
    assert found.table.runs is not None
    assert sorted(found.table.runs[0][0].tolist()) == ["seed0", "seed1", "seed2"]
    pattern = "{algorithm}/{environment}/{seed}.csv"
    assert read(tmp_path / "runs", reduce="final", pattern=pattern).table.trials.tolist() == [[3, 3], [3, 3]]


def test_a_run_of_two_files_is_refused_where_they_overlap(tmp_path: Path) -> None:
    head = "algorithm,environment,seed,step,score"
    for seed, name in enumerate(("old", "new")):
        written(tmp_path / f"{name}.csv", head, [f"a,x,0,{row}" for row in curve(noisy(20, seed))])
    with pytest.raises(untuned.InvalidInput, match=r"row 1 of .*\.csv and row 1 of .*\.csv are both of run '0'"):
        untuned.read_scores(tmp_path, reduce="final")


def test_one_curve_under_two_names_is_refused(tmp_path: Path) -> None:
    head, values = "algorithm,environment,seed,step,score", noisy(20)
    rows = [f"a,x,{seed},{row}" for seed in (0, 7) for row in curve(values)]
    with pytest.raises(untuned.InvalidInput, match="Runs '0' and '7' of 'a' on 'x' have the same 20 values"):
        untuned.read_scores(written(tmp_path / "s.csv", head, rows), reduce="final")
    flat = [f"a,x,{seed},{row}" for seed in (0, 7) for row in curve([0.0] * 20)]
    assert untuned.read_scores(written(tmp_path / "f.csv", head, flat), reduce="final").trials.tolist() == [[2]]


def test_two_kinds_of_results_in_a_folder_are_refused(tmp_path: Path) -> None:
    written(tmp_path / "long.csv", "algorithm,environment,score", ["a,x,1", "b,x,2"])
    written(tmp_path / "wide.csv", "algorithm,x,y", ["c,1.5,2.5", "d,2.5,1.5"])
    with pytest.raises(untuned.InvalidInput, match=r"1 wide table .*1 CSV file .*--reader"):
        untuned.read_scores(tmp_path)
    assert untuned.read_scores(tmp_path, reader="wide").algorithms == ("c", "d")


# Trials that failed


@pytest.mark.parametrize("head", ["failure", "Failed", "crashed", "status", "State"])
def test_a_trial_that_failed_does_not_keep_a_good_score(head: str, tmp_path: Path) -> None:
    rows = ["a,x,5,", "a,x,9,crashed", "b,x,3,", "b,x,4,"]
    path = written(tmp_path / "s.csv", f"algorithm,environment,score,{head}", rows)
    with pytest.raises(untuned.InvalidInput, match="failed with a score that is not the worst, the first 9 of 'a'"):
        untuned.read_scores(path)
    table = untuned.read_scores(path, ranges=(0, 10), nonfinite="worst")
    assert table.cell("a", "x").tolist() == [5.0, 0.0]
    assert table.failed_ae is not None
    assert table.failed_ae.tolist() == [[1], [0]]


def test_a_trial_that_failed_may_have_the_worst_score(tmp_path: Path) -> None:
    path = written(tmp_path / "s.csv", "algorithm,environment,score,failure", ["a,x,5,", "a,x,-7,ValueError", "b,x,3,"])
    table = untuned.read_scores(path)
    assert table.cell("a", "x").tolist() == [5.0, -7.0]
    assert table.failed_ae is not None
    assert table.failed_ae.tolist() == [[1], [0]]


def test_a_status_of_success_is_not_a_failure(tmp_path: Path) -> None:
    path = written(tmp_path / "s.csv", "algorithm,environment,score,status", ["a,x,5,finished", "b,x,3,running"])
    assert untuned.read_scores(path).failed_ae is None


# Axes


def test_scores_do_not_show_which_axis_is_the_algorithms() -> None:
    levels = np.array([10.0, 50.0, 20.0, 0.0, 40.0, 5.0, 30.0])[:, None]
    array = np.random.default_rng(5).normal(size=(4, 7, 12)) + levels
    with pytest.raises(untuned.InvalidInput, match="--axes"):
        untuned.read_scores(array)
    table = untuned.read_scores(array, algorithms=["a", "b", "c", "d"])
    assert table.trials.shape == (4, 7)


# JSON with names of runs


def test_json_may_name_the_runs(tmp_path: Path) -> None:
    path = tmp_path / "scores.json"
    path.write_text('{"a": {"x": {"s1": 1.5, "s2": 2.5}}, "b": {"x": {"s1": 0.5, "s2": 1}}}', encoding="utf-8")
    table = untuned.read_scores(path)
    assert table.cell("a", "x").tolist() == [1.5, 2.5]
    assert table.runs is not None
    assert table.runs[0][0].tolist() == ["s1", "s2"]
    path.write_text('{"a": {"x": {"s1": [1, 2, 3], "s2": [2, 3, 5]}}}', encoding="utf-8")
    with pytest.raises(untuned.InvalidInput, match="--reduce"):
        untuned.read_scores(path)
    assert untuned.read_scores(path, reduce="final").cell("a", "x").tolist() == [3.0, 5.0]


def test_rows_that_were_pasted_are_not_episodes(tmp_path: Path) -> None:
    rows = [f"{a},x,{seed},{score}" for a in "ab" for seed, score in enumerate(noisy(4, ord(a)))]
    path = written(tmp_path / "s.csv", "algorithm,environment,seed,score", rows + rows)
    with pytest.raises(untuned.InvalidInput, match=r"every row of .* is there 2 times or more"):
        untuned.read_scores(path, reduce="mean")


def test_runs_that_are_short_are_named(tmp_path: Path) -> None:
    head = "algorithm,environment,seed,step,score"
    rows = [f"a,x,{seed},{row}" for seed in range(3) for row in curve(noisy(20 if seed else 5, seed))]
    found = read(written(tmp_path / "s.csv", head, rows), reduce="final")
    (finding,) = [each for each in found.findings if each.code == "unequal-lengths"]
    assert finding.where == ("a on x, run 0",)
