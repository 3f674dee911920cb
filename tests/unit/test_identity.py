"""Which rows are one run: a run counts once, and where it cannot be told which rows are one, nothing is guessed."""

from pathlib import Path
from typing import Any

import polars
import pytest

from untuned.adapters.sources import read, read_scores
from untuned.errors import InvalidInput
from untuned.scores import ScoreTable


def table(**columns: list[Any]) -> polars.DataFrame:
    """Return rows of one cell with scores 0, 1, 2, ..., and these columns; four rows without any."""
    rows = len(next(iter(columns.values()), range(4)))
    names: dict[str, list[Any]] = {"algorithm": ["a"] * rows, "environment": ["x"] * rows}
    return polars.DataFrame({**names, **columns, "score": [float(each) for each in range(rows)]})


def runs(found: ScoreTable) -> list[str]:
    assert found.runs is not None
    names: list[str] = found.runs[0][0].tolist()
    return names


def refusal(source: Any, **options: Any) -> str:
    with pytest.raises(InvalidInput) as error:
        read_scores(source, **options)
    return str(error.value)


@pytest.mark.parametrize(
    "heading",
    [
        *("seed", "run", "trial", "run_id", "Run ID", "trial_number", "Seed", "SEED", "run-name", "replicate"),
        *("repetition", "trialid"),
    ],
)
def test_usual_columns_name_runs(heading: str) -> None:
    found = read_scores(table(**{heading: [7, 8, 9, 10]}))
    assert runs(found) == ["7", "8", "9", "10"]
    assert found.cell("a", "x").tolist() == [0.0, 1.0, 2.0, 3.0]


def test_a_column_with_another_name_is_named_by_the_user() -> None:
    source = table(replica=[1, 2, 3, 4])
    assert read_scores(source).runs is None
    assert runs(read_scores(source, run="replica")) == ["1", "2", "3", "4"]
    assert "has no columns called 'replika', which --run names" in refusal(source, run="replika")


def test_without_such_a_column_every_row_is_a_run() -> None:
    assert read_scores(table()).trials.tolist() == [[4]]


def test_a_run_that_is_there_twice_is_refused_with_both_rows_and_the_remedy() -> None:
    said = refusal(table(seed=[1, 2, 3, 2]))
    assert "row 2 of the table and row 4 of the table are both run '2' (column 'seed') of 'a' on 'x'" in said
    assert "more rows repeat a run" not in said
    for remedy in ("--reduce mean", "--step COLUMN", "remove the copies", "--run COLUMN", "--run A,B"):
        assert remedy in said


def test_further_rows_are_counted() -> None:
    assert "are both run '1' (column 'seed') of 'a' on 'x', and 2 more rows" in refusal(table(seed=[1, 1, 1, 1]))


def test_rows_are_counted_as_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("algorithm,environment,seed,score\na,x,1,1\n\na,x,2,2\n\n\na,x,1,3\n")
    lines = refusal(path)
    assert "row 1 of scores.csv and row 6 of scores.csv are both run '1'" in lines
    table(seed=[1, 2, 3, 2]).write_ndjson(tmp_path / "scores.jsonl")
    assert "row 2 of scores.jsonl and row 4 of scores.jsonl" in refusal(tmp_path / "scores.jsonl")


def test_rows_keep_their_numbers_when_others_are_left_out() -> None:
    source = polars.concat([table(seed=[1, 2, 3, 4]).with_columns(algorithm=polars.lit("b")), table(seed=[1, 2, 3, 2])])
    assert "row 6 of the table and row 8 of the table" in refusal(source, without=["b"])


def test_rows_of_two_files_are_told_apart(tmp_path: Path) -> None:
    for name in ("one.csv", "two.csv"):
        table(seed=[1, 2, 3, 4]).write_csv(tmp_path / name)
    said = refusal([tmp_path / "one.csv", tmp_path / "two.csv"])
    assert "row 1 of one.csv and row 1 of two.csv are both run '1'" in said
    assert "and 3 more rows repeat a run" in said


def test_the_same_seed_in_other_cells_is_another_run() -> None:
    source = polars.concat(
        table(seed=[1, 2, 3, 4]).with_columns(algorithm=polars.lit(a), environment=polars.lit(e))
        for a in "ab"
        for e in "xy"
    )
    assert read_scores(source).trials.tolist() == [[4, 4], [4, 4]]


# --- several columns


def test_of_two_columns_the_one_that_identifies_runs_is_taken() -> None:
    assert runs(read_scores(table(seed=[1, 1, 1, 1], trial=[5, 6, 7, 8]))) == ["5", "6", "7", "8"]
    assert runs(read_scores(table(seed=[1, 2, 3, 4], trial=[5, 5, 5, 5]))) == ["1", "2", "3", "4"]


def test_columns_that_identify_runs_together_are_offered_and_work() -> None:
    source = table(seed=[1, 1, 2, 2], trial=[1, 2, 1, 2])
    said = refusal(source)
    assert "several columns that may identify a run (trial, seed), and none of them does so alone" in said
    assert "--run COLUMN, or several, --run A,B" in said
    found = read_scores(source, run="seed,trial")
    assert found.trials.tolist() == [[4]]
    assert len(set(runs(found))) == 4
    assert "are both run '1' (column 'seed')" in refusal(source, run="seed")
    assert read_scores(source, run="seed", reduce="mean").cell("a", "x").tolist() == [0.5, 2.5]


def test_combinations_are_not_confused_with_one_another() -> None:
    """1 and 12 together are not 11 and 2."""
    source = table(seed=["1", "11", "1,1", "1"], trial=["12", "2", "2", "1,2"])
    assert len(set(runs(read_scores(source, run="seed,trial")))) == 4


def test_columns_that_do_not_even_identify_runs_together() -> None:
    said = refusal(table(seed=[1, 1, 2, 2], trial=[1, 1, 2, 2]))
    assert "are both run '1' (column 'trial')" in said


def test_a_column_whose_name_has_a_comma() -> None:
    assert runs(read_scores(table(**{"seed,trial": [4, 5, 6, 7]}), run="seed,trial")) == ["4", "5", "6", "7"]


def test_points_of_curves_with_two_columns_of_runs() -> None:
    steps = [1, 2, 1, 2]
    source = table(seed=[1, 1, 2, 2], trial=[1, 1, 1, 1], step=steps)
    assert runs(read_scores(source, reduce="mean")) == ["1", "2"]
    source = table(seed=[1, 1, 1, 1, 2, 2, 2, 2], trial=[1, 1, 2, 2, 1, 1, 2, 2], step=steps * 2)
    said = refusal(source, reduce="mean")
    assert "(trial, seed)" in said
    assert "--run A,B" in said
    assert len(runs(read_scores(source, reduce="mean", run="seed,trial"))) == 4


# --- steps


@pytest.mark.parametrize("heading", ["step", "global_step", "timesteps", "frames", "Episode", "epoch"])
def test_a_column_of_steps_with_one_row_per_run_is_no_curve(heading: str) -> None:
    for steps in ([10, 10, 10, 10], [10, 20, 30, 40]):
        found = read(table(seed=[1, 2, 3, 4], **{heading: steps}))
        assert found.table.trials.tolist() == [[4]]
        assert found.histories is None


def test_curves_need_a_reduction() -> None:
    said = refusal(table(seed=[1, 1, 2, 2], step=[1, 2, 1, 2]))
    assert "about 2 points per run, and a run is one trial, not 2" in said
    assert all(how in said for how in ("--reduce HOW", "mean", "final", "last:10%", "at:1e6"))


def test_a_step_column_that_is_named() -> None:
    source = table(seed=[1, 1, 2, 2], progress=[2, 1, 1, 2])
    assert read_scores(source, step="progress", reduce="final").cell("a", "x").tolist() == [0.0, 3.0]
    assert "has no column 'progres'" in refusal(source, step="progres", reduce="final")


@pytest.mark.parametrize("kind", ["frame", "csv", "jsonl", "parquet"])
@pytest.mark.parametrize("options", [{}, {"reduce": "mean"}, {"reduce": "final"}])
def test_steps_without_runs_are_refused(kind: str, options: dict[str, str], tmp_path: Path) -> None:
    """Also in a file, which may hold points of many runs."""
    source = table(step=[1, 2, 1, 2])
    said = refusal(source if kind == "frame" else written(source, tmp_path / f"curves.{kind}"), **options)
    assert "has a column of steps, so its rows are points of learning curves, and no column says which run" in said
    assert "--run COLUMN" in said


def written(source: polars.DataFrame, path: Path) -> Path:
    if path.suffix == ".csv":
        source.write_csv(path)
    elif path.suffix == ".jsonl":
        source.write_ndjson(path)
    else:
        source.write_parquet(path)
    return path


@pytest.mark.parametrize("kind", ["frame", "csv", "jsonl", "parquet"])
def test_a_constant_step_is_no_curve(kind: str, tmp_path: Path) -> None:
    """A row per run, with the number of steps that every run took."""
    source = polars.concat([table(step=[500] * 4), table(step=[900] * 4).with_columns(environment=polars.lit("y"))])
    found = read_scores(source if kind == "frame" else written(source, tmp_path / f"scores.{kind}"))
    assert found.trials.tolist() == [[4, 4]]


def test_files_with_one_curve_each_are_one_run_each(tmp_path: Path) -> None:
    for seed in range(3):
        table(step=[1, 2, 3, 4]).write_csv(tmp_path / f"seed{seed}.csv")
    found = read_scores(tmp_path, reduce="final")
    assert runs(found) == ["seed0", "seed1", "seed2"]
    table(step=[1, 2, 1, 2]).write_csv(tmp_path / "seed1.csv")
    with pytest.raises(InvalidInput):
        read_scores(tmp_path, reduce="final")


def test_the_mean_needs_no_steps_and_other_reductions_do() -> None:
    source = table(seed=[1, 1, 2, 2])
    assert read_scores(source, reduce="mean").cell("a", "x").tolist() == [0.5, 2.5]
    assert read_scores(source, reduce="best").cell("a", "x").tolist() == [1.0, 3.0]
    for how in ("final", "last:1", "last:10%", "at:1"):
        said = refusal(source, reduce=how)
        assert f"--reduce {how.partition(':')[0]} needs to know which of a run's rows comes last" in said
        assert "--step COLUMN" in said


@pytest.mark.parametrize("how", ["final", "last:3", "last:10%", "at:1e6"])
def test_a_reduction_that_cannot_be_done_is_not_ignored(how: str) -> None:
    assert "needs to know which of a run's rows comes last" in refusal(table(), reduce=how)
    assert "--run COLUMN" in refusal(table(step=[5] * 4), reduce=how)


def test_runs_of_one_point_are_reduced_by_their_steps() -> None:
    source = table(seed=[1, 2, 3, 4], step=[10] * 4)
    for how in ("mean", "final", "last:1", "last:10%", "at:10"):
        assert read_scores(source, reduce=how).cell("a", "x").tolist() == [0.0, 1.0, 2.0, 3.0], how
    assert "ends before step 11" in refusal(source, reduce="at:11")
    assert "has fewer than 2 points" in refusal(source, reduce="last:2")


@pytest.mark.parametrize("bad", [None, float("nan"), float("inf")])
def test_a_step_that_is_no_number_is_refused(bad: float | None) -> None:
    source = table(seed=[1, 1, 2, 2], step=[1.0, bad, 1.0, 2.0])
    assert "row 2 of the table has no step" in refusal(source, reduce="mean")


@pytest.mark.parametrize("bad", [None, "", " "])
def test_a_run_without_a_name_is_refused(bad: str | None) -> None:
    assert refusal(table(seed=["1", "2", bad, "4"])).startswith("row 3 of the table has")


def test_files_that_name_runs_differently_are_not_mixed(tmp_path: Path) -> None:
    table(seed=[1, 2, 3, 4]).write_csv(tmp_path / "one.csv")
    table(trial=[1, 2, 3, 4]).write_csv(tmp_path / "two.csv")
    said = refusal(tmp_path)
    assert "do not have the same columns that name runs (seed, trial)" in said
    assert "untuned import" in said
    table(seed=[1, 1, 2, 2], step=[1, 2, 1, 2]).write_csv(tmp_path / "two.csv")
    assert "do not have the same steps" in refusal(tmp_path, reduce="mean")
