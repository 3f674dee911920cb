"""Learning curves become one score per run: against a slow definition, for any order and files of the rows."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.reducing import Refused, Row, Scores, reduced_slowly
from untuned.adapters.score_files.reduction import Reduction
from untuned.adapters.sources import read, read_scores
from untuned.errors import InvalidInput
from untuned.scores import ScoreTable

HEADINGS = ("algorithm", "environment", "seed", "step", "return")
REDUCTIONS = (
    *("mean", "final", "best", "last:1", "last:2", "last:5", "last:1e1"),
    *("last:1%", "last:10%", "last:12.5%", "last:50%", "last:55%", "last:99%", "last:100%"),
    *("at:0", "at:3", "at:7", "at:2.5e1", "at:400"),
)


def frame(rows: list[Row]) -> polars.DataFrame:
    return polars.DataFrame(rows, schema=HEADINGS, orient="row", infer_schema_length=None)


def by_run(table: ScoreTable) -> Scores:
    assert table.runs is not None
    return {
        (algorithm, environment): dict(
            zip(table.runs[a][e].tolist(), table.cell(algorithm, environment).tolist(), strict=True)
        )
        for a, algorithm in enumerate(table.algorithms)
        for e, environment in enumerate(table.environments)
        if table.cells[a][e].size
    }


def assert_near(found: Scores, expected: Scores) -> None:
    assert {cell: set(runs) for cell, runs in found.items()} == {cell: set(runs) for cell, runs in expected.items()}
    for cell, runs in expected.items():
        for run, score in runs.items():
            assert found[cell][run] == pytest.approx(score, rel=1e-12, abs=1e-9), (cell, run)


values = st.floats(-1e6, 1e6, allow_nan=False).map(lambda value: round(value, 3))
steps = st.one_of(st.integers(-20, 60), st.integers(0, 400), st.integers(-40, 120).map(lambda each: each / 8)).map(
    float
)
curves = st.lists(st.tuples(steps, values), min_size=1, max_size=12)


@st.composite
def ragged(draw: Callable[..., Any]) -> list[Row]:
    """Return curves of a few runs, of any length, with steps that may be there several times, in any order."""
    names = st.sampled_from("ab"), st.sampled_from("xy"), st.sampled_from("0123")
    runs = draw(st.lists(st.tuples(*names), min_size=1, max_size=6, unique=True))
    rows = [Row(a, e, run, step, value) for a, e, run in runs for step, value in draw(curves)]
    return list(draw(st.permutations(rows)))


def is_pasted(rows: list[Row]) -> bool:
    """Return whether a run has five points or more, all of them several times, or is another's copy: refused both."""
    curves = set()
    for run in {row[:3] for row in rows}:
        own = [row for row in rows if row[:3] == run]
        counts = [own.count(each) for each in set(own)]
        if len(counts) >= 5 and min(counts) > 1:
            return True
        steps = sorted({row[3] for row in own})
        means = [float(np.mean([row[4] for row in own if row[3] == step])) for step in steps]
        curve = (run[:2], tuple(steps), tuple(means))
        if len(set(means)) >= 10 and curve in curves:
            return True
        curves.add(curve)
    return False


# --- against the definition


@given(ragged(), st.sampled_from(REDUCTIONS))
def test_every_reduction_is_what_its_definition_says(rows: list[Row], how: str) -> None:
    if is_pasted(rows):
        return
    try:
        expected = reduced_slowly(rows, how)
    except Refused:
        with pytest.raises(InvalidInput, match="A run must not be dropped"):
            read_scores(frame(rows), reduce=how)
        return
    assert_near(by_run(read_scores(frame(rows), reduce=how)), expected)


@given(ragged(), st.sampled_from(["mean", "final", "best", "last:30%", "last:1"]), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_no_bit(rows: list[Row], how: str, random: Any) -> None:
    if is_pasted(rows):
        return
    other = list(rows)
    random.shuffle(other)
    assert by_run(read_scores(frame(rows), reduce=how)) == by_run(read_scores(frame(other), reduce=how))


@given(rows=ragged(), how=st.sampled_from(["mean", "final", "best", "last:30%"]), cut=st.floats(0, 1))
def test_files_are_read_as_if_they_were_one(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Row], how: str, cut: float
) -> None:
    if is_pasted(rows):
        return
    folder = tmp_path_factory.mktemp("curves")
    border = int(cut * len(rows))
    # One point of a run in two files is refused.
    rows = list({row[:4]: row for row in rows}.values())
    parts = [part for part in (rows[:border], rows[border:]) if part]
    paths = [folder / f"part-{number}.csv" for number in range(len(parts))]
    for path, part in zip(paths, parts, strict=True):
        frame(part).write_csv(path)
    assert by_run(read_scores(paths, reduce=how)) == by_run(read_scores(frame(rows), reduce=how))


def test_points_at_one_step_are_averaged_first() -> None:
    rows = [Row("a", "x", "0", 1, 0.0), Row("a", "x", "0", 2, 10.0), Row("a", "x", "0", 2, 20.0)]
    expected = {"mean": 7.5, "final": 15.0, "best": 15.0, "last:1": 15.0, "last:2": 7.5, "at:1": 0.0, "at:2": 15.0}
    for how, score in expected.items():
        assert read_scores(frame(rows), reduce=how).cell("a", "x").tolist() == [score], how


@pytest.mark.parametrize("percent", [1, 7, 10, 28, 29, 55, 56, 57, 58, 99])
@pytest.mark.parametrize("last", [100, 1000, 70_000])
def test_a_point_on_the_border_of_a_share_is_outside(percent: int, last: int) -> None:
    border = last - percent * last // 100
    rows = [Row("a", "x", "0", 0, 5.0), Row("a", "x", "0", border, 1e9), Row("a", "x", "0", last, 7.0)]
    assert read_scores(frame(rows), reduce=f"last:{percent}%").cell("a", "x").tolist() == [7.0]
    rows[1] = Row("a", "x", "0", border + 1, 9.0)
    assert read_scores(frame(rows), reduce=f"last:{percent}%").cell("a", "x").tolist() == [8.0]


@pytest.mark.parametrize(("step", "how"), [(0, "last:10%"), (-5, "last:50%"), (0, "last:100%"), (9, "last:1%")])
def test_a_run_of_one_point_has_that_value(step: int, how: str) -> None:
    rows = [Row("a", "x", seed, step, 3.0) for seed in "01"]
    assert read_scores(frame(rows), reduce=how).cell("a", "x").tolist() == [3.0, 3.0]


# --- what is not finite


@pytest.mark.parametrize("how", ["mean", "final", "best", "last:2", "last:50%", "last:100%", "at:10"])
def test_nan_among_the_points_that_count_is_never_dropped(how: str, tmp_path: Path) -> None:
    rows = [Row("a", "x", "0", step, math.nan if step == 10 else 1.0) for step in range(1, 11)]
    rows += [Row("a", "x", "1", step, 2.0) for step in range(1, 11)]
    with pytest.raises(InvalidInput, match="trial 1 of 2 is nan"):
        read_scores(frame(rows), reduce=how)
    table = read_scores(frame(rows), reduce=how, ranges=(0, 5), nonfinite="worst")
    assert table.cell("a", "x").tolist() == [0.0, 2.0]
    assert table.failed_ae is not None
    assert table.failed_ae.tolist() == [[1]]


@pytest.mark.parametrize("how", ["mean", "best", "last:100%"])
def test_nan_early_in_training_is_not_dropped_by_what_looks_at_all_of_it(how: str) -> None:
    rows = [Row("a", "x", "0", step, math.nan if step == 2 else 1.0) for step in range(1, 11)]
    with pytest.raises(InvalidInput, match="is nan"):
        read_scores(frame(rows), reduce=how)


def test_nan_at_a_step_that_is_there_twice() -> None:
    rows = [Row("a", "x", "0", 1, 1.0), Row("a", "x", "0", 2, 5.0), Row("a", "x", "0", 2, math.nan)]
    with pytest.raises(InvalidInput, match="is nan"):
        read_scores(frame(rows), reduce="final")


def test_infinite_values_stay_infinite() -> None:
    rows = [Row("a", "x", "0", 1, 1.0), Row("a", "x", "0", 2, -math.inf)]
    with pytest.raises(InvalidInput, match="is -inf"):
        read_scores(frame(rows), reduce="mean")


def test_a_failure_in_any_row_is_a_failure_of_the_run() -> None:
    rows = [Row("a", "x", seed, step, 1.0 * step) for seed in "012" for step in range(3)]
    for at in range(9):
        failures = ["out of memory" if number == at else None for number in range(9)]
        for order in (slice(None), slice(None, None, -1)):
            table = read_scores(
                frame(rows).with_columns(polars.Series("failure", failures, dtype=polars.String))[order], reduce="final"
            )
            assert table.failed_ae is not None
            assert table.failed_ae.tolist() == [[1]]


# --- refusals


@pytest.mark.parametrize(
    ("how", "problem"),
    [
        ("last:4", "has fewer than 4 points: it has 3 points, the last at step 20"),
        ("at:21", "ends before step 21"),
        ("at:4", "has no point up to step 4"),
    ],
)
def test_a_run_that_is_too_short_is_named(how: str, problem: str) -> None:
    rows = [Row("a", "x", "whole", step, 1.0) for step in range(31)]
    rows += [Row("b", "y", "short", step, 1.0) for step in (5, 10, 20)]
    with pytest.raises(InvalidInput) as error:
        read_scores(frame(rows), reduce=how)
    assert f"run 'short' of 'b' on 'y' {problem}" in str(error.value)
    assert "A run must not be dropped" in str(error.value)


def test_more_runs_that_are_too_short_are_counted() -> None:
    rows = [Row("a", "x", str(seed), step, 1.0) for seed in range(4) for step in range(2 + (seed > 2))]
    with pytest.raises(InvalidInput, match="and 2 more runs are too short"):
        read_scores(frame(rows), reduce="last:3")


@pytest.mark.parametrize("times", [2, 3])
@pytest.mark.parametrize("how", ["mean", "final", "last:10%"])
def test_runs_that_were_pasted_are_refused(times: int, how: str) -> None:
    rows = [Row("a", "x", seed, step, step + 0.1 * ord(seed)) for seed in "01" for step in range(20)]
    assert read_scores(frame(rows), reduce=how).trials.tolist() == [[2]]
    with pytest.raises(InvalidInput) as error:
        read_scores(frame(rows * times), reduce=how)
    assert f"every point of run '0' of 'a' on 'x' is there {times} times with the same value" in str(error.value)
    assert "Remove the copies" in str(error.value)
    with pytest.raises(InvalidInput, match="is there 2 times"):
        read_scores(frame(rows[:20] * 2 + rows[20:]), reduce=how)


def test_runs_in_two_files_are_refused_likewise(tmp_path: Path) -> None:
    rows = [Row("a", "x", seed, step, step + 0.1 * ord(seed)) for seed in "01" for step in range(20)]
    for name in ("one.csv", "two.csv"):
        frame(rows).write_csv(tmp_path / name)
    with pytest.raises(InvalidInput, match=r"row 1 of .*one\.csv and row 1 of .*two\.csv are both of run '0'"):
        read_scores(tmp_path, reduce="mean")


def test_repeated_steps_with_other_values_are_evaluations_and_not_copies() -> None:
    rows = [Row("a", "x", "0", step, step + part) for step in range(20) for part in (0.0, 0.5)]
    assert read_scores(frame(rows), reduce="final").cell("a", "x").tolist() == [19.25]


def test_a_few_points_may_agree_by_chance() -> None:
    rows = [Row("a", "x", "0", step, 1.0) for step in range(4)] * 2
    assert read_scores(frame(rows), reduce="mean").cell("a", "x").tolist() == [1.0]


# --- what is typed


@pytest.mark.parametrize(
    ("text", "kind", "number"),
    [
        ("mean", "mean", None),
        ("final", "final", None),
        ("best", "best", None),
        ("last:10", "last", 10.0),
        ("last:1e3", "last", 1000.0),
        ("last:10%", "share", 10.0),
        ("last:0.5%", "share", 0.5),
        ("last:100%", "share", 100.0),
        ("at:1e6", "at", 1e6),
        ("at:1E+6", "at", 1e6),
        ("at:0", "at", 0.0),
        ("at:12.5", "at", 12.5),
    ],
)
def test_texts_that_are_reductions(text: str, kind: str, number: float | None) -> None:
    found = Reduction.parse(text)
    assert found.kind == kind
    assert math.isnan(found.number) if number is None else found.number == number
    assert str(found)


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "Mean", "mean ", "median", "max", "last", "last:", "last:0", "last:-1", "last:1.5", "last:ten"),
        *("last:0%", "last:101%", "last:-5%", "last:%", "last:10 %", "last:10%%", "last:1e400", "last:1e300"),
        *("at", "at:", "at:-5", "at:10%", "at:1e400", "at:nan", "at:inf", "at:1_000", "at:1.2.3", "at:.", "at:1e"),
        *("final:3", "best:2", "mean\n", "at:٣", "last:10,mean"),
    ],
)
def test_texts_that_are_none(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"write mean, final, last:10 \(points\), last:10% \(of training\), at:1e6"):
        Reduction.parse(text)
    with pytest.raises(InvalidInput, match="--reduce"):
        read_scores(frame([Row("a", "x", "0", 1, 1.0)]), reduce=text)


@pytest.mark.parametrize("given_value", [10, 0.1, True, ["mean"], ("last", 10)])
def test_what_is_no_text_is_refused_in_words(given_value: object) -> None:
    with pytest.raises(InvalidInput, match="write mean, final"):
        read_scores(frame([Row("a", "x", "0", 1, 1.0)]), reduce=given_value)


# --- what is said about them


def curves_of(lengths: dict[str, list[int]]) -> polars.DataFrame:
    """Return runs that end at these steps, by environment."""
    return frame(
        [
            Row("a", environment, f"{environment}{number}", step, 1.0 + number)
            for environment, ends in lengths.items()
            for number, end in enumerate(ends)
            for step in (0, end // 2, end)
        ]
    )


def codes(source: polars.DataFrame, how: str) -> list[str]:
    return [each.code for each in read(source, reduce=how).findings]


@pytest.mark.parametrize("how", ["mean", "final", "last:1", "last:10%"])
def test_runs_of_unequal_length_are_a_finding(how: str) -> None:
    assert codes(curves_of({"x": [100, 100], "y": [900, 900]}), how) == []
    assert codes(curves_of({"x": [100, 91], "y": [900, 900]}), how) == []
    assert codes(curves_of({"x": [100, 89], "y": [900, 900]}), how) == ["unequal-lengths"]


def test_unequal_lengths_are_looked_for_on_every_environment() -> None:
    """A run that lacks nearly everything is not hidden by a longer one that lacks a little."""
    found = read(curves_of({"x": [100, 10], "y": [1_000_000, 950_000]}), reduce="mean").findings
    assert [each.code for each in found] == ["unequal-lengths"]
    assert "from 10 to 100 steps" in found[0].found


@pytest.mark.parametrize(
    "lengths",
    [
        {"x": [1_234_567, 2_000_000]},
        {"x": [500, 1000], "y": [100, 105]},
        {"x": [500, 1000], "y": [9_876_543, 1_234_567]},
    ],
)
def test_the_remedy_for_unequal_lengths_works(lengths: dict[str, list[int]]) -> None:
    source = curves_of(lengths)
    remedy = read(source, reduce="mean").findings[0].remedy
    how = remedy.split("--reduce ")[1].split()[0]
    assert how == f"at:{min(map(min, lengths.values()))}"
    assert codes(source, how) == []


def test_the_best_of_a_curve_is_a_finding_with_and_without_steps() -> None:
    source = curves_of({"x": [100, 100]})
    assert codes(source, "best") == ["best-of-curve"]
    assert codes(source.drop("step"), "best") == ["best-of-curve"]
    assert read_scores(source.drop("step"), reduce="best").cell("a", "x").tolist() == [1.0, 2.0]


def test_curves_are_kept_for_figures() -> None:
    rows = [Row("a", "x", seed, step, step * 1.0) for seed in "10" for step in (3, 1, 2)]
    found = read(frame(rows), reduce="final")
    assert found.histories is not None
    history = found.histories.cells["a", "x"]
    assert history.runs == ("1", "0")
    assert history.scores.tolist() == [3.0, 3.0]
    assert history.steps is not None
    np.testing.assert_array_equal(history.steps[0], [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(history.returns[0], [1.0, 2.0, 3.0])


def test_costs_are_reduced_in_the_direction_that_is_good() -> None:
    rows = [Row("a", "x", "0", step, cost) for step, cost in enumerate((9.0, 2.0, 4.0))]
    assert read_scores(frame(rows), reduce="best", minimize=True).cell("a", "x").tolist() == [-2.0]
    assert read_scores(frame(rows), reduce="final", minimize=["x"]).cell("a", "x").tolist() == [-4.0]
