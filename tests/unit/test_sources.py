"""`read_scores` accepts all supported sources, and lists them in the error for others."""

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
import pytest

import untuned
from support.processes import python
from untuned.adapters.sources import read_scores
from untuned.collect.store.store import Store
from untuned.collect.trial import Trial
from untuned.errors import InvalidInput, UnknownName
from untuned.scores import ScoreTable

COLUMNS: dict[str, Any] = {"algorithm": ["a", "b", "a"], "environment": ["x"] * 3, "score": [1.0, 2.0, 3.0]}
CELLS = {"a": [1.0, 3.0], "b": [2.0]}


def assert_same(table: ScoreTable) -> None:
    assert table.environments == ("x",)
    assert {name: table.cell(name, "x").tolist() for name in table.algorithms} == CELLS


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.jsonl", "a.tsv"])
@pytest.mark.parametrize("kind", [str, Path])
def test_files(name: str, kind: Any, tmp_path: Path) -> None:
    frame = polars.DataFrame(COLUMNS)
    path = tmp_path / name
    writers: dict[str, Callable[[Path], object]] = {
        "a.csv": frame.write_csv,
        "a.parquet": frame.write_parquet,
        "a.jsonl": frame.write_ndjson,
        "a.tsv": lambda file: frame.write_csv(file, separator="\t"),
    }
    writers[name](path)
    assert_same(read_scores(kind(path)))
    assert read_scores(kind(path)).provenance["file"] == name


def test_the_home_directory_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    polars.DataFrame(COLUMNS).write_csv(tmp_path / "a.csv")
    assert_same(read_scores("~/a.csv"))


@pytest.mark.parametrize(
    "source",
    [
        polars.DataFrame(COLUMNS),
        polars.LazyFrame(COLUMNS),
        pandas.DataFrame(COLUMNS),
        pyarrow.table(COLUMNS),
        np.array(list(zip(*COLUMNS.values(), strict=True)), dtype=[(name, object) for name in COLUMNS]),
        {"a": {"x": [1, 3]}, "b": {"x": [2]}},
        {("a", "x"): np.array([1.0, 3.0]), ("b", "x"): (2,)},
    ],
    ids=["polars", "lazy", "pandas", "pyarrow", "structured", "nested", "pairs"],
)
def test_frames_and_dictionaries(source: Any) -> None:
    assert_same(read_scores(source))


def test_lists_with_names() -> None:
    assert_same(read_scores([[[1.0, 3.0]], [[2.0]]], algorithms=["a", "b"], environments=["x"]))
    assert_same(read_scores((([1, 3],), ([2],)), algorithms=["a", "b"], environments=["x"]))


class Tensor:
    """Another library's array."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.arange(4.0).reshape(2, 1, 2)


@pytest.mark.parametrize("array", [np.arange(4.0).reshape(2, 1, 2), Tensor()], ids=["numpy", "another"])
def test_arrays(array: Any) -> None:
    table = read_scores(array, axes="algorithm,environment,run")
    assert table.cell("algorithm-2", "environment-1").tolist() == [2.0, 3.0]
    table = read_scores(array, algorithms=["a", "b"], environments=["x"])
    assert table.cell("b", "x").tolist() == [2.0, 3.0]
    with pytest.raises(InvalidInput, match=r"\(2, 1, 2\) could be .*--axes"):
        read_scores(array)


def test_masked_arrays_keep_their_mask() -> None:
    masked = np.ma.masked_array(np.zeros((1, 1, 2)), [[[False, True]]])
    assert read_scores(masked, environments=["x"], ranges=(-1, 1), nonfinite="worst").cells[0][0].tolist() == [
        0.0,
        -1.0,
    ]


def test_a_table_is_returned_as_it_is() -> None:
    table = ScoreTable.from_dict({"a": {"x": [1.0]}})
    assert read_scores(table) is table
    assert read_scores(table, rename={"a": "b"}).algorithms == ("b",)
    with pytest.raises(InvalidInput, match="no option for a ScoreTable, which has them already"):
        read_scores(table, ranges=(0, 1))


@pytest.mark.parametrize(
    ("source", "own"),
    [
        ({"a": {"x": [1.0]}}, {}),
        ([[[1.0]]], {"algorithms": ["a"], "environments": ["x"]}),
        (np.ones((1, 1, 1)), {"algorithms": ["a"], "environments": ["x"]}),
        (polars.DataFrame({"A": ["a"], "E": ["x"], "S": [1.0]}), {"algorithm": "A", "environment": "E", "score": "S"}),
    ],
    ids=["dictionary", "lists", "array", "frame"],
)
def test_options_reach_the_table(source: Any, own: dict[str, Any]) -> None:
    table = read_scores(source, **own, ranges={"x": (0, 5)}, identical=[["a"]], provenance={"by": "me"})
    assert (table.algorithms, table.environments) == (("a",), ("x",))
    assert table.ranges == ((0.0, 5.0),)
    assert dict(table.provenance) == {"by": "me"}


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        ({"a": {"x": [1.0]}}, {"range": (0, 1)}, "no option for a dictionary is called 'range': did you mean 'ranges'"),
        ({"a": {"x": [1.0]}}, {"score": "s"}, "no option for a dictionary is called 'score'"),
        ([[[1.0]]], {"algorithm": "a"}, "for nested lists is called 'algorithm': did you mean 'algorithms'"),
        (np.ones((1, 1, 1)), {"score": "a"}, "no option for an array is called 'score'"),
        (polars.DataFrame(COLUMNS), {"metric": "a"}, "no option for a data frame is called 'metric'"),
        (
            "a.csv",
            {"environmnets": ["a"]},
            "no option for a file is called 'environmnets': did you mean 'environments'",
        ),
    ],
)
def test_options_of_something_else(source: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UnknownName, match=message):
        read_scores(source, **options)


ACCEPTED = r"pass one of\n  the path of a file.*\n  a data frame.*\n  a dictionary.*\n  an array.*\n  a ScoreTable"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (None, "cannot be read from None"),
        (5, "cannot be read from int"),
        (b"a.csv", "cannot be read from bytes"),
        ({1.0}, "cannot be read from set"),
        (iter([1.0]), "cannot be read from list_iterator"),
        (polars.DataFrame, "cannot be read from the type DataFrame"),
        (io.StringIO("a"), "cannot be read from StringIO: Close it and pass its path."),
    ],
)
def test_everything_else_is_told_what_is_accepted(source: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=f"{message}.*{ACCEPTED}"):
        read_scores(source)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ([{"algorithm": "a"}], "make a data frame of it, polars.DataFrame(rows)"),
        (np.zeros(3), "the array has 1 dimensions"),
        (pandas.Series([1.0]), "the array has 1 dimensions"),
        ([1.0, 2.0], "the array has 1 dimensions"),
        ("nowhere.csv", "there is no file 'nowhere.csv'"),
        ("", "there are no files in '.'"),
        ({"algorithm": [1]}, "the scores of 'algorithm' are list"),
    ],
)
def test_sources_that_are_nearly_right(
    source: Any, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInput, match=re.escape(message)):
        read_scores(source)


@pytest.mark.parametrize("name", ["", "a.sqlite", "a.DB"])
def test_a_place_without_a_study(name: str, tmp_path: Path) -> None:
    place = tmp_path / name
    with pytest.raises(InvalidInput, match="there are no files in" if name == "" else "there is no file") as raised:
        read_scores(place)
    said = str(raised.value)
    assert repr(str(place)) in said
    # A sentence for people: no types of Python's.
    assert "ScoreTable" not in said
    assert "\n" not in said


def test_all_tables_of_a_folder_are_read(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("notes")
    for name in ("b", "a"):
        polars.DataFrame(COLUMNS).filter(polars.col("algorithm") == name).write_csv(tmp_path / f"{name}.csv")
    assert_same(read_scores(tmp_path))
    assert_same(read_scores([tmp_path / "a.csv", str(tmp_path / "b.csv")]))


def test_a_study_s_file_is_no_file_of_scores(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    with pytest.raises(InvalidInput, match="there is no file"):
        read_scores(path)
    path.write_text("")
    with pytest.raises(InvalidInput, match="has no results") as raised:
        read_scores(path)
    assert repr(str(tmp_path / "mine")) in str(raised.value)


def test_the_door_is_public() -> None:
    assert untuned.read_scores is read_scores
    assert untuned.ScoreTable is ScoreTable


LOADED = """
import sys, untuned
untuned.read_scores({source})
print(*sorted({{"polars", "pandas", "pyarrow"}} & set(sys.modules)))
"""


@pytest.mark.parametrize(
    ("source", "loaded"),
    [("{'a': {'x': [1.0]}}", ""), ("[[[1.0]]]", ""), ("sys.argv[1]", "polars")],
    ids=["dictionary", "lists", "file"],
)
def test_only_what_is_needed_is_loaded(source: str, loaded: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    polars.DataFrame(COLUMNS).write_csv(path)
    program = LOADED.format(source=source)
    finished = python("-c", program, str(path), timeout=60)
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout.strip() == loaded


def stored(folder: Path, failures: str | None) -> None:
    facts = {
        "name": "small",
        "seed": 1,
        "algorithms": ["sarsa", "q"],
        "environments": [{"name": "chain", "score_range": [-20.0, 0.0]}],
        "identical": {"chain": [["sarsa", "q"]]},
    }
    with Store.create(folder, facts | ({} if failures is None else {"failures": failures})) as store:
        store.add(
            Trial(seed=1, algorithm=algorithm, environment="chain", trial=trial, score=score, final_return=0.0)
            for algorithm, trial, score in (("q", 0, -3.0), ("sarsa", 1, -2.0), ("sarsa", 0, -1.0))
        )
        nan = float("nan")
        store.add(
            [
                Trial(
                    seed=1,
                    algorithm="q",
                    environment="chain",
                    trial=1,
                    score=nan,
                    final_return=nan,
                    failure="ValueError",
                )
            ]
        )


@pytest.mark.parametrize("file", ["", "results.sqlite"])
def test_a_study_is_read_with_all_it_knows(file: str, tmp_path: Path) -> None:
    stored(tmp_path, "worst")
    table = read_scores(tmp_path / file)
    assert table.cell("sarsa", "chain").tolist() == [-1.0, -2.0]
    assert table.cell("q", "chain").tolist() == [-3.0, -20.0]
    assert table.ranges == ((-20.0, 0.0),)
    assert table.kinds.tolist() == [[0, 0]]
    assert table.provenance["study"] == "small"


def test_a_failed_trial_is_an_error_unless_the_study_or_the_reader_says_otherwise(tmp_path: Path) -> None:
    stored(tmp_path, None)
    with pytest.raises(InvalidInput, match="'q' on 'chain'"):
        read_scores(tmp_path)
    assert read_scores(tmp_path, nonfinite="worst").cell("q", "chain").tolist() == [-3.0, -20.0]
    with pytest.raises(UnknownName, match="option for a study"):
        read_scores(tmp_path, ranges=(0, 1))
