"""Scores out again, and back in: not a bit is lost in any format, nor a name, nor a point of a curve."""

import json
import math
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st

import untuned
from untuned.adapters.score_files.writing import to_arrow, to_pandas, to_polars, to_rliable, write_scores
from untuned.adapters.sources import read_scores
from untuned.errors import InvalidInput, UnknownName
from untuned.scores import ScoreTable

FORMATS = ("csv", "tsv", "jsonl", "parquet")
COLUMNS = ["algorithm", "environment", "run", "score"]

#: Names that mean something to a format, and others that people use.
NAMES = [
    *("Sarsa(λ)", "日本語", "naïve", "e\u0301", "🤖", "a,b", "a;b", "a\tb", 'with "quotes"', '"', '""', "'", "a\nb"),
    *("a\r\nb", "a\rb", "two\n\nlines", " leading", "trailing ", "#comment", "\\", "\\n", "{}", "[1]", "null", "NaN"),
    *("inf", "1", "1.0", "True", "-", "=1+1", "algorithm", "a\u2028b", "a\x85b", "a\x1fb", "\ufeffa", "a" * 300),
]

Row = tuple[str, str, str, float]


def bits(value: float) -> bytes:
    """Return a number as it is; there is one NaN."""
    return b"nan" if math.isnan(value) else struct.pack("<d", value)


def rows_of(path: Path, **options: Any) -> set[tuple[str, str, str, bytes]]:
    """Return what a file says, as it is read: with NaN and infinite scores."""
    copy = path.with_name(f"as-read-{path.stem}.parquet")
    write_scores(path, copy, **options)
    frame = polars.read_parquet(copy)
    return {(*row[:3], bits(row[-1])) for row in frame.select(COLUMNS).iter_rows()}


def frame_of(rows: list[Row]) -> polars.DataFrame:
    return polars.DataFrame(rows, schema=COLUMNS, orient="row", infer_schema_length=None)


def expected(rows: list[Row]) -> set[tuple[str, str, str, bytes]]:
    return {(*row[:3], bits(row[3])) for row in rows}


texts = st.one_of(
    st.sampled_from(NAMES),
    st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), min_size=1, max_size=12).filter(
        lambda text: bool(text.strip())
    ),
)
tables: st.SearchStrategy[list[Row]] = st.lists(
    st.tuples(texts, texts, texts, st.floats()), min_size=1, max_size=12, unique_by=lambda row: row[:3]
)


# --- every bit


@given(rows=tables, first=st.sampled_from(FORMATS), second=st.sampled_from(FORMATS))
def test_from_format_to_format_and_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Row], first: str, second: str
) -> None:
    folder = tmp_path_factory.mktemp("formats")
    one, other = folder / f"one.{first}", folder / f"other.{second}"
    write_scores(frame_of(rows), one)
    assert rows_of(one) == expected(rows)
    write_scores(one, other)
    assert rows_of(other) == expected(rows)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", NAMES)
def test_names(form: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / f"scores.{form}"
    rows = [(name, "x", "1", 1.0), ("b", name, "1", 2.0), ("b", "x", name, 3.0)]
    write_scores(frame_of(rows), path)
    assert rows_of(path) == expected(rows)
    assert read_scores(path).algorithms == (name, "b")


NUMBERS = [
    0.1,
    1 / 3,
    1e300,
    5e-324,
    2.2250738585072014e-308,
    -0.0,
    0.0,
    1e16,
    123456789.123456789,
    -1.7976931348623157e308,
]


@pytest.mark.parametrize("form", FORMATS)
def test_numbers_to_the_last_bit(form: str, tmp_path: Path) -> None:
    path = tmp_path / f"scores.{form}"
    many = np.random.default_rng(0).normal(size=100).tolist()
    table = ScoreTable.from_dict({"a": {"x": NUMBERS}, "b": {"x": many}})
    write_scores(table, path)
    back = read_scores(path)
    for name in table.algorithms:
        assert back.cell(name, "x").tobytes() == table.cell(name, "x").tobytes()
    assert back.fingerprint == table.fingerprint


@pytest.mark.parametrize("form", FORMATS)
def test_what_is_not_finite_is_written_as_it_is(form: str, tmp_path: Path) -> None:
    path = tmp_path / f"scores.{form}"
    rows = [("a", "x", str(number), bad) for number, bad in enumerate((math.nan, math.inf, -math.inf, 1.0))]
    write_scores(frame_of(rows), path)
    assert rows_of(path) == expected(rows)
    with pytest.raises(InvalidInput, match="trial 1 of 4 is nan, and 2 more are not finite"):
        read_scores(path)
    table = read_scores(path, ranges=(0, 1), nonfinite="worst")
    assert table.cell("a", "x").tolist() == [0.0, 0.0, 0.0, 1.0]


@pytest.mark.parametrize("form", FORMATS)
def test_a_missing_score_stays_one(form: str, tmp_path: Path) -> None:
    path = tmp_path / f"scores.{form}"
    (tmp_path / "given.csv").write_text("algorithm,environment,seed,score\na,x,1,\na,x,2,2.5\n")
    write_scores(tmp_path / "given.csv", path)
    assert rows_of(path) == {("a", "x", "1", b"nan"), ("a", "x", "2", bits(2.5))}


# --- what is written


@pytest.mark.parametrize("form", FORMATS)
def test_runs_keep_their_names_and_get_numbers_where_they_have_none(form: str, tmp_path: Path) -> None:
    frame = polars.DataFrame({"algorithm": ["a", "b", "a"], "environment": ["x"] * 3, "score": [1.0, 2.0, 3.0]})
    path = tmp_path / f"scores.{form}"
    write_scores(frame, path)
    assert rows_of(path) == {("a", "x", "1", bits(1.0)), ("b", "x", "1", bits(2.0)), ("a", "x", "2", bits(3.0))}
    write_scores(frame.with_columns(seed=polars.Series(["s7", "s8", "s9"])), path)
    assert {row[2] for row in rows_of(path)} == {"s7", "s8", "s9"}


def curves() -> polars.DataFrame:
    rng = np.random.default_rng(5)
    rows = [
        (a, e, seed, step, float(rng.normal()))
        for a in "ab"
        for e in "xy"
        for seed in range(3)
        for step in range(0, 500 + 100 * seed, 50)
    ]
    return polars.DataFrame(rows, schema=["algo", "env", "seed", "global_step", "return"], orient="row")


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kind", ["file", "frame"])
def test_curves_keep_all_their_points(form: str, kind: str, tmp_path: Path) -> None:
    frame, path = curves(), tmp_path / f"curves.{form}"
    given: Any = frame
    if kind == "file":
        given = tmp_path / "given.csv"
        frame.write_csv(given)
    said = write_scores(given, path)
    assert f"{frame.height:,} points of learning curves" in said
    for how in ("mean", "final", "last:20%", "at:450", "best"):
        one, other = read_scores(frame, reduce=how), read_scores(path, reduce=how)
        assert one.fingerprint == other.fingerprint
        assert one.runs is not None
        assert other.runs is not None
        assert one.runs[1][1].tolist() == other.runs[1][1].tolist()
    with pytest.raises(InvalidInput, match="learning curves"):
        read_scores(path)


@pytest.mark.parametrize("form", FORMATS)
def test_curves_with_a_reduction_are_scores(form: str, tmp_path: Path) -> None:
    path = tmp_path / f"scores.{form}"
    said = write_scores(curves(), path, reduce="final")
    assert "12 scores" in said
    assert "reduced by the final value" in said
    assert read_scores(path).fingerprint == read_scores(curves(), reduce="final").fingerprint


@pytest.mark.parametrize("steps", [[0.5, 1.5], [1e300, 2e300], [2.0**60, 2.0**61], [-3.0, 4.0]])
@pytest.mark.parametrize("form", FORMATS)
def test_steps_of_all_kinds(form: str, steps: list[float], tmp_path: Path) -> None:
    frame = polars.DataFrame(
        {"algorithm": "a", "environment": "x", "run": ["0", "0"], "step": steps, "score": [1.0, 2.0]}
    )
    path, again = tmp_path / f"curve.{form}", tmp_path / "again.parquet"
    write_scores(frame, path)
    write_scores(path, again)
    assert polars.read_parquet(again)["step"].cast(float).to_list() == steps


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kind", ["file", "frame"])
def test_failures_are_kept(form: str, kind: str, tmp_path: Path) -> None:
    frame = polars.DataFrame(
        {
            "algorithm": ["a", "a", "b", "b"],
            "environment": ["x"] * 4,
            "trial": [0, 1, 0, 1],
            "score": [1.0, -5.0, 2.0, -5.0],
            "failure": [None, "ValueError: no", None, ""],
        }
    )
    given: Any = frame
    if kind == "file":
        given = tmp_path / "given.csv"
        frame.write_csv(given)
    path = tmp_path / f"scores.{form}"
    write_scores(given, path)
    back = read_scores(path)
    assert back.failed_ae is not None
    assert back.failed_ae.tolist() == [[1], [0]]


@pytest.mark.parametrize("values", [[False, True], [0, 1], ["", "x"], [None, "x"], ["no", "yes"], [math.nan, 1.0]])
def test_a_column_of_failures_may_say_yes_and_no(values: list[Any], tmp_path: Path) -> None:
    """A false answer is not a failure."""
    frame = polars.DataFrame(
        {"algorithm": ["a", "b"], "environment": ["x", "x"], "score": [2.0, 1.0], "failure": values}, strict=False
    )
    frame.write_csv(tmp_path / "scores.csv")
    (tmp_path / "scores.jsonl").write_text("".join(json.dumps(row) + "\n" for row in frame.iter_rows(named=True)))
    frame.write_parquet(tmp_path / "scores.parquet")
    for source in (frame, *(tmp_path / f"scores.{form}" for form in ("csv", "jsonl", "parquet"))):
        failed = read_scores(source).failed_ae
        assert failed is not None, source
        assert failed.tolist() == [[0], [1]], source


def test_choices_are_written(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    write_scores(curves(), path, reduce="final", rename={"a": "Σ"}, minimize=["x"], without=["b"])
    table = read_scores(path)
    assert (table.algorithms, table.environments) == (("Σ",), ("x", "y"))
    assert table.cell("Σ", "x").tolist() == (-read_scores(curves(), reduce="final").cell("a", "x")).tolist()


def test_dictionaries_arrays_and_tables_are_written_too(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    scores = {"a": {"x": [1.0, 2.0], "y": [3.0]}, "b": {"x": [4.0]}}
    table = ScoreTable.from_dict(scores)
    for source in (scores, table):
        write_scores(source, path)
        back = read_scores(path)
        assert {a: {e: back.cell(a, e).tolist() for e in "xy"} for a in "ab"} == {
            "a": {"x": [1.0, 2.0], "y": [3.0]},
            "b": {"x": [4.0], "y": []},
        }


# --- refusals


@pytest.mark.parametrize("name", ["scores", "scores.xlsx", "scores.json", "scores.csv.gz", "scores.CSVX"])
def test_other_endings_are_refused_before_anything_is_read(name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"name a file that ends in \.csv, \.tsv, \.jsonl, \.parquet"):
        write_scores(tmp_path / "nothing.csv", tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_endings_in_capital_letters(tmp_path: Path) -> None:
    write_scores({"a": {"x": [1.0]}}, tmp_path / "scores.CSV")
    assert read_scores(tmp_path / "scores.CSV").trials.tolist() == [[1]]


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot be written"):
        write_scores({"a": {"x": [1.0]}}, tmp_path / "nowhere" / "scores.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InvalidInput, match="cannot be written"):
        write_scores({"a": {"x": [1.0]}}, tmp_path / "folder.csv")
    assert [each.name for each in tmp_path.iterdir()] == ["folder.csv"]


def test_a_file_stays_as_it_is_where_writing_fails(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    write_scores({"a": {"x": [1.0]}}, path)
    before = path.read_bytes()
    with pytest.raises(InvalidInput):
        write_scores(tmp_path / "missing.csv", path)
    with pytest.raises(InvalidInput):
        write_scores({"a": {"x": ["?"]}}, path)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["scores.csv"]


def test_a_file_can_be_written_onto_itself(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    frame_of([("a", "x", "1", 1.0), ("b", "x", "1", 2.0)]).write_csv(path)
    write_scores(path, path, without=["b"])
    assert read_scores(path).algorithms == ("a",)


def test_unknown_options_are_named(tmp_path: Path) -> None:
    (tmp_path / "given.csv").write_text("algorithm,environment,score\na,x,1\n")
    for source, kind in ((tmp_path / "given.csv", "a file"), (curves(), "a data frame")):
        with pytest.raises(UnknownName, match=f"no option for {kind} is called 'renam': did you mean 'rename'"):
            write_scores(source, tmp_path / "out.csv", renam={"a": "b"})


# --- the shapes of other libraries


def ragged() -> ScoreTable:
    rng = np.random.default_rng(2)
    return ScoreTable.from_dict(
        {
            'Sarsa(λ) "x"': {"maze": rng.normal(size=4), "two\nlines": rng.normal(size=3)},
            "q, n": {"maze": rng.normal(size=2), "two\nlines": rng.normal(size=5)},
        }
    )


@pytest.mark.parametrize("convert", [to_polars, to_pandas, to_arrow])
def test_frames_and_back(convert: Callable[[ScoreTable], Any]) -> None:
    table = ragged()
    frame = convert(table)
    back = read_scores(frame)
    assert back.fingerprint == table.fingerprint
    assert back.runs is not None
    assert back.runs[0][0].tolist() == ["1", "2", "3", "4"]
    assert read_scores(convert(back)).fingerprint == table.fingerprint


@pytest.mark.parametrize("convert", [to_polars, to_pandas, to_arrow])
def test_frames_keep_names_of_runs(convert: Callable[[ScoreTable], Any]) -> None:
    table = read_scores(frame_of([("a", "x", "s 1", 1.0), ("a", "x", "2", 2.0), ("b", "x", "s 1", 3.0)]))
    back = read_scores(convert(table))
    assert back.runs is not None
    assert [[cell.tolist() for cell in row] for row in back.runs] == [[["s 1", "2"]], [["s 1"]]]


def even(trials: int = 10) -> ScoreTable:
    rng = np.random.default_rng(3)
    return ScoreTable.from_dict(
        {a: {e: rng.normal(size=trials) for e in ("maze", "arm", "hill")} for a in ("sarsa", "q")}
    )


def test_rliable_and_back() -> None:
    table = even()
    shaped = to_rliable(table)
    assert {name: array.shape for name, array in shaped.items()} == {"sarsa": (10, 3), "q": (10, 3)}
    assert shaped["q"][:, 1].tolist() == table.cell("q", "arm").tolist()
    back = read_scores(shaped, environments=list(table.environments))
    assert back.fingerprint == table.fingerprint


def test_rliable_takes_other_numbers_of_runs_per_algorithm() -> None:
    table = ScoreTable.from_dict({"a": {"x": [1.0, 2.0], "y": [3.0, 4.0]}, "b": {"x": [5.0], "y": [6.0]}})
    assert {name: array.shape for name, array in to_rliable(table).items()} == {"a": (2, 2), "b": (1, 2)}


def test_rliable_refuses_cells_of_different_sizes() -> None:
    with pytest.raises(InvalidInput) as error:
        to_rliable(ragged())
    assert "has 3 to 4 runs per environment (3 on 'two\\nlines')" in str(error.value)
    missing = ScoreTable.from_dict({"a": {"x": [1.0], "y": [2.0]}, "b": {"x": [3.0]}})
    with pytest.raises(InvalidInput, match=r"'b' has 0 to 1 runs per environment \(0 on 'y'\)"):
        to_rliable(missing)


def test_a_verdict_does_not_depend_on_the_way_scores_came(tmp_path: Path) -> None:
    table = even(30)
    expected_rows = untuned.evaluate(table, weights="uniform", workers=1).rows()
    sources: list[Any] = [to_polars(table), to_pandas(table), to_arrow(table)]
    for form in FORMATS:
        write_scores(table, tmp_path / f"scores.{form}")
        sources.append(tmp_path / f"scores.{form}")
    for source in sources:
        assert untuned.evaluate(source, weights="uniform", workers=1).rows() == expected_rows
