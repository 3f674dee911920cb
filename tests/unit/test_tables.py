"""Files and data frames in long form: the same scores to the last bit, and every mistake told in words."""

import csv
import gzip
import hashlib
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from untuned.adapters.sources import read_scores as from_file
from untuned.adapters.sources import read_scores as from_frame
from untuned.errors import InvalidInput
from untuned.scores import ScoreTable

Row = tuple[str, str, float]

ROWS: list[Row] = [
    ("sarsa", "pole", 1.5),
    ("q", "pole", -2.0),
    ("sarsa", "pole", 0.5),
    ("q", "car", 1e-300),
    ("sarsa", "pole", 1.5),
]
TEXT = "algorithm,environment,score\n"


def expected(rows: list[Row]) -> tuple[list[str], list[str], dict[tuple[str, str], list[str]]]:
    """Return names in order of first appearance, and the exact scores of every cell that has some."""
    cells: dict[tuple[str, str], list[str]] = {}
    for algorithm, environment, score in rows:
        cells.setdefault((algorithm, environment), []).append(float(score).hex())
    return list(dict.fromkeys(a for a, _, _ in rows)), list(dict.fromkeys(e for _, e, _ in rows)), cells


def found(table: ScoreTable) -> tuple[list[str], list[str], dict[tuple[str, str], list[str]]]:
    cells = {
        (algorithm, environment): [float(score).hex() for score in table.cell(algorithm, environment)]
        for algorithm in table.algorithms
        for environment in table.environments
    }
    return list(table.algorithms), list(table.environments), {key: cell for key, cell in cells.items() if cell}


def columns(rows: list[Row]) -> dict[str, list[Any]]:
    return {
        "algorithm": [a for a, _, _ in rows],
        "environment": [e for _, e, _ in rows],
        "score": [s for _, _, s in rows],
    }


def pandas_frame(rows: list[Row]) -> Any:
    return pandas.DataFrame(columns(rows))


def polars_frame(rows: list[Row]) -> polars.DataFrame:
    types = {"algorithm": polars.String, "environment": polars.String, "score": polars.Float64}
    return polars.DataFrame(columns(rows), schema=types)


def structured(rows: list[Row]) -> Any:
    return np.array(rows, dtype=[("algorithm", object), ("environment", object), ("score", float)])


FRAMES: dict[str, Callable[[list[Row]], Any]] = {
    "pandas": pandas_frame,
    "pandas object": lambda rows: pandas_frame(rows).astype({"algorithm": object, "environment": object}),
    "pandas category": lambda rows: pandas_frame(rows).astype({"algorithm": "category", "environment": "category"}),
    "pandas index": lambda rows: pandas_frame(rows).set_index(pandas.Index([7] * len(rows))),
    "polars": polars_frame,
    "polars lazy": lambda rows: polars_frame(rows).lazy(),
    "polars category": lambda rows: polars_frame(rows).cast({polars.String: polars.Categorical}),
    "pyarrow": lambda rows: pyarrow.table(columns(rows)),
    "pyarrow chunks": lambda rows: pyarrow.concat_tables([pyarrow.table(columns([row])) for row in rows]),
    "pyarrow dictionary": lambda rows: pyarrow.table(
        {
            name: pyarrow.array(values).dictionary_encode() if name != "score" else values
            for name, values in columns(rows).items()
        }
    ),
    "dictionary of lists": columns,
    "dictionary of arrays": lambda rows: {name: np.array(values) for name, values in columns(rows).items()},
    "structured array": structured,
}


def csv_bytes(rows: list[Row], separator: str = ",", end: str = "\n") -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=separator, lineterminator=end)
    writer.writerows([("algorithm", "environment", "score"), *((a, e, repr(s)) for a, e, s in rows)])
    return text.getvalue().encode()


def json_bytes(rows: list[Row]) -> bytes:
    keys = ("algorithm", "environment", "score")
    return "".join(json.dumps(dict(zip(keys, row, strict=True))) + "\n" for row in rows).encode()


def bytes_of(write: Callable[[io.BytesIO], object]) -> bytes:
    stream = io.BytesIO()
    write(stream)
    return stream.getvalue()


FILES: dict[str, tuple[str, Callable[[list[Row]], bytes]]] = {
    "csv": ("a.csv", csv_bytes),
    "csv, capital suffix": ("a.CSV", csv_bytes),
    "csv, windows": ("a.csv", lambda rows: csv_bytes(rows, end="\r\n")),
    "csv, gzip": ("a.b.csv.gz", lambda rows: gzip.compress(csv_bytes(rows))),
    "csv, semicolons": ("a.csv", lambda rows: csv_bytes(rows, ";")),
    "csv, tabs": ("a.csv", lambda rows: csv_bytes(rows, "\t")),
    "csv, byte order mark": ("a.csv", lambda rows: b"\xef\xbb\xbf" + csv_bytes(rows)),
    "csv of polars": ("a.csv", lambda rows: bytes_of(polars_frame(rows).write_csv)),
    "csv of pandas": ("a.csv", lambda rows: bytes_of(lambda file: pandas_frame(rows).to_csv(file, index=False))),
    "csv of pandas, index": ("a.csv", lambda rows: bytes_of(lambda file: pandas_frame(rows).to_csv(file))),
    "tsv": ("a.tsv", lambda rows: csv_bytes(rows, "\t")),
    "tsv, gzip": ("a.tsv.gz", lambda rows: gzip.compress(csv_bytes(rows, "\t"))),
    "parquet of polars": ("a.parquet", lambda rows: bytes_of(polars_frame(rows).write_parquet)),
    "parquet of pandas": ("a.parquet", lambda rows: bytes_of(lambda file: pandas_frame(rows).to_parquet(file))),
    "parquet, categories": (
        "a.parquet",
        lambda rows: bytes_of(lambda file: pyarrow.parquet.write_table(FRAMES["pyarrow dictionary"](rows), file)),
    ),
    "json lines": ("a.jsonl", json_bytes),
    "json lines of polars": ("a.ndjson", lambda rows: bytes_of(polars_frame(rows).write_ndjson)),
    "json lines, gzip": ("a.jsonl.gz", lambda rows: gzip.compress(json_bytes(rows))),
}


def written(folder: Path, name: str, data: bytes | str) -> Path:
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


# The same scores, to the last bit


@pytest.mark.parametrize("kind", FRAMES)
def test_every_frame_gives_the_same_table(kind: str) -> None:
    assert found(from_frame(FRAMES[kind](ROWS))) == expected(ROWS)


@pytest.mark.parametrize("kind", FILES)
def test_every_file_gives_the_same_table(kind: str, tmp_path: Path) -> None:
    name, write = FILES[kind]
    assert found(from_file(written(tmp_path, name, write(ROWS)))) == expected(ROWS)


# Names with separators, quotation marks, line breaks, surrounding spaces; anything that is not blank.
AWKWARD = [
    "a,b",
    'say "x"',
    '"',
    "two\nlines",
    "cr\r\nlf",
    " around ",
    "été",
    "\U0001f3b2",
    "a;b",
    "tab\there",
    "NA",
    "null",
]
NAMES = st.one_of(
    st.sampled_from(AWKWARD),
    st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), min_size=1, max_size=6),
).filter(lambda name: bool(name.strip()))
SCORES = st.floats(allow_nan=False, allow_infinity=False)
TABLES = st.lists(st.tuples(NAMES, NAMES, SCORES), min_size=1, max_size=12)
FEW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.parametrize("kind", FRAMES)
@FEW
@given(rows=TABLES)
def test_frames_are_read_to_the_last_bit(kind: str, rows: list[Row]) -> None:
    assert found(from_frame(FRAMES[kind](rows))) == expected(rows)


@pytest.mark.parametrize("kind", FILES)
@FEW
@given(rows=TABLES)
def test_files_are_read_to_the_last_bit(kind: str, rows: list[Row], tmp_path: Path) -> None:
    name, write = FILES[kind]
    assert found(from_file(written(tmp_path, name, write(rows)))) == expected(rows)


CELLS = st.dictionaries(
    st.tuples(st.sampled_from("abc"), st.sampled_from("xyz")), st.lists(SCORES, min_size=1, max_size=5), min_size=1
)


@settings(deadline=None)
@given(cells=CELLS, random=st.randoms(use_true_random=False))
def test_how_cells_are_mixed_does_not_matter(cells: dict[tuple[str, str], list[float]], random: Any) -> None:
    order = [cell for cell, scores in cells.items() for _ in scores]
    random.shuffle(order)
    left = {cell: iter(scores) for cell, scores in cells.items()}
    table = from_frame(polars_frame([(*cell, next(left[cell])) for cell in order]))
    for (algorithm, environment), scores in cells.items():
        assert table.cell(algorithm, environment).tolist() == scores
    assert table.trials.sum() == len(order)


@settings(deadline=None)
@given(scores=st.lists(SCORES, min_size=2, unique=True))
def test_the_order_within_a_cell_matters(scores: list[float]) -> None:
    there = from_frame(polars_frame([("a", "x", score) for score in scores]))
    back = from_frame(polars_frame([("a", "x", score) for score in reversed(scores)]))
    assert there.cell("a", "x").tolist() == back.cell("a", "x").tolist()[::-1] == scores


# Names and numbers of other types


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "dictionary of lists", "dictionary of arrays"])
def test_integers_are_names_and_scores(kind: str) -> None:
    rows: Any = [(10, 2, 1), (3, 2, 5), (10, 2, -1)]
    frame = (pandas.DataFrame if kind == "pandas" else polars.DataFrame)(columns(rows))
    table = from_frame(frame if kind in ("pandas", "polars") else FRAMES[kind](rows))
    assert found(table) == expected([("10", "2", 1.0), ("3", "2", 5.0), ("10", "2", -1.0)])


@pytest.mark.parametrize("library", ["pandas", "lists"])
def test_a_number_and_its_text_are_one_name(library: str) -> None:
    mixed = {"algorithm": [1, "1", "b", 1], "environment": ["x"] * 4, "score": [1.0, 2.0, 3.0, 4.0]}
    table = from_frame(pandas.DataFrame(mixed) if library == "pandas" else mixed)
    assert table.algorithms == ("1", "b")
    assert table.cell("1", "x").tolist() == [1.0, 2.0, 4.0]


def test_categories_nobody_has_are_no_algorithms() -> None:
    names = pandas.Categorical(["b", "a", "b"], categories=["never", "a", "b"])
    frame = pandas.DataFrame({"algorithm": names, "environment": "x", "score": [1.0, 2.0, 3.0]})
    assert from_frame(frame).algorithms == ("b", "a")
    enum = polars.DataFrame(
        {"algorithm": polars.Series(["b", "a"], dtype=polars.Enum(["never", "a", "b"])), "environment": "x", "score": 1}
    )
    assert from_frame(enum).algorithms == ("b", "a")


NUMBERS = {
    "int8": pandas.Series([1, 0, 1], dtype="int8"),
    "float32": pandas.Series([1.0, 0.0, 1.0], dtype="float32"),
    "nullable integer": pandas.Series([1, 0, 1], dtype="Int64"),
    "nullable float": pandas.Series([1, 0, 1], dtype="Float64"),
    "bool": pandas.Series([True, False, True]),
    "nullable bool": pandas.Series([True, False, True], dtype="boolean"),
    "arrow": pandas.Series([1, 0, 1], dtype=pandas.ArrowDtype(pyarrow.float64())),
    "object": pandas.Series([1, 0.0, np.float32(1)], dtype=object),
    "text": pandas.Series(["1", " 0.0", "1e0 "]),
    "object text": pandas.Series(["1", "0", "1"], dtype=object),
    "category": pandas.Series(["1", "0", "1"], dtype="category"),
    "polars integer": polars.Series([1, 0, 1]),
    "polars bool": polars.Series([True, False, True]),
    "polars decimal": polars.Series(["1.0", "0.0", "1.0"]).cast(polars.Decimal(10, 2)),
    "polars text": polars.Series(["1", "+0", "1."]),
    "polars category": polars.Series(["1", "0", "1"], dtype=polars.Categorical),
    "half": np.array([1, 0, 1], dtype=np.float16),
    "long double": np.array([1, 0, 1], dtype=np.longdouble),
    "list": [1, 0.0, True],
    "mixed list": ["1", 0, 1.0],
}


@pytest.mark.parametrize("kind", NUMBERS)
def test_numbers_of_every_type(kind: str) -> None:
    score = NUMBERS[kind]
    table = from_frame({"algorithm": ["a"] * 3, "environment": ["x"] * 3, "score": score})
    assert table.cell("a", "x").tolist() == [1.0, 0.0, 1.0]


MISSING = {
    "float": pandas.Series([1.0, None]),
    "nullable": pandas.Series([1, None], dtype="Int64"),
    "object": pandas.Series([1.0, None], dtype=object),
    "NA": pandas.Series([1.0, pandas.NA], dtype=object),
    "text": pandas.Series(["1", None]),
    "empty text": pandas.Series(["1", ""], dtype=object),
    "mixed": pandas.Series([1.0, ""], dtype=object),
    "polars": polars.Series([1.0, None]),
    "polars nan": polars.Series([1.0, float("nan")]),
    "polars text": polars.Series(["1", " "]),
    "arrow": pyarrow.array([1.0, None]),
    "masked": np.ma.masked_array([1.0, 2.0], [False, True]),
    "list": [1.0, None],
}


@pytest.mark.parametrize("kind", MISSING)
def test_a_missing_score_is_a_trial_without_a_number(kind: str) -> None:
    frame = {"algorithm": ["a"] * 2, "environment": ["x"] * 2, "score": MISSING[kind]}
    with pytest.raises(InvalidInput, match="'a' on 'x' are not all finite: trial 2 of 2 is nan"):
        from_frame(frame)
    assert from_frame(frame, ranges=(-9, 9), nonfinite="worst").cell("a", "x").tolist() == [1.0, -9.0]


def test_all_scores_missing() -> None:
    frame = polars.DataFrame({"algorithm": ["a"], "environment": ["x"], "score": [None]})
    with pytest.raises(InvalidInput, match="trial 1 of 1 is nan"):
        from_frame(frame)


@pytest.mark.parametrize("text", ["nan", "NaN", "inf", "-inf", "Infinity", "", " ", "1e999", '""'])
def test_what_is_not_finite_in_a_file_reaches_the_table(text: str, tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", f"{TEXT}a,x,1.0\na,x,{text}\na,x,2\n")
    with pytest.raises(InvalidInput, match=r"'a' on 'x' are not all finite: trial 2 of 3 is (nan|inf|-inf)"):
        from_file(path)
    table = from_file(path, ranges={"x": (-5, 5)}, nonfinite="worst")
    assert table.cell("a", "x").tolist() == [1.0, -5.0, 2.0]


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "null", '"nan"', '""', "1e999"])
def test_what_is_not_finite_in_json_lines_reaches_the_table(text: str, tmp_path: Path) -> None:
    lines = [f'{{"algorithm": "a", "environment": "x", "score": {score}}}\n' for score in ("1.0", text, "2")]
    path = written(tmp_path, "a.jsonl", "".join(lines))
    with pytest.raises(InvalidInput, match=r"trial 2 of 3 is (nan|inf|-inf)"):
        from_file(path)
    table = from_file(path, ranges={"x": (-5, 5)}, nonfinite="worst")
    assert table.cell("a", "x").tolist() == [1.0, -5.0, 2.0]


def test_a_line_that_ends_early_has_no_score(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="'b' on 'x' are not all finite: trial 1 of 1 is nan"):
        from_file(written(tmp_path, "a.csv", f"{TEXT}a,x,1\nb,x\n"))


# Options


def test_options_reach_the_table(tmp_path: Path) -> None:
    data = csv_bytes(ROWS)
    path = written(tmp_path, "my scores.csv", data)
    table = from_file(
        path, ranges={"pole": (-9, 9)}, identical=[["sarsa", "q"]], provenance={"by": "me", "blake2b": "mine"}
    )
    assert table.ranges[0] == (-9.0, 9.0)
    assert table.kinds.tolist() == [[0, 0], [0, 0]]
    assert dict(table.provenance) == {"file": "my scores.csv", "blake2b": "mine", "by": "me"}
    digest = hashlib.blake2b(data, digest_size=8).hexdigest()
    assert dict(from_file(str(path)).provenance) == {"file": "my scores.csv", "blake2b": digest}
    assert len(digest) == 16
    frame = from_frame(polars_frame(ROWS), ranges=(-9, 9), identical=[["sarsa", "q"]], provenance={"by": "me"})
    assert frame.ranges == ((-9.0, 9.0),) * 2
    assert frame.kinds.tolist() == [[0, 0], [0, 0]]
    assert dict(frame.provenance) == {"by": "me"}


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.jsonl"])
def test_columns_may_have_other_names_and_places(name: str, tmp_path: Path) -> None:
    frame = polars_frame(ROWS).select(
        polars.col("score").alias("return"),
        polars.lit("noise").alias("score"),
        polars.col("environment").alias('the "env"'),
        polars.col("algorithm").alias("algo, really"),
    )
    options = {"algorithm": "algo, really", "environment": 'the "env"', "score": "return"}
    writers: dict[str, Callable[[io.BytesIO], object]] = {
        "a.csv": frame.write_csv,
        "a.parquet": frame.write_parquet,
        "a.jsonl": frame.write_ndjson,
    }
    path = written(tmp_path, name, bytes_of(writers[name]))
    assert found(from_file(path, **options)) == expected(ROWS)
    assert found(from_frame(frame.lazy(), **options)) == expected(ROWS)


def test_further_columns_are_ignored_even_when_two_have_one_name(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", 'note,algorithm,environment,score,note\n1,a,x,2.5,"b,c"\n')
    assert found(from_file(path)) == expected([("a", "x", 2.5)])
    lines = '{"algorithm": "a", "environment": "x", "score": 2.5, "n": 1}\n'
    path = written(tmp_path, "a.jsonl", lines + lines.replace("1}", '{"deep": [1]}}'))
    assert from_file(path).trials.tolist() == [[2]]


def test_lines_with_nothing_in_them_are_no_trials(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", f"\n{TEXT}a,x,1\n\n,,\na,x,2\n\r\n\n")
    assert from_file(path).cell("a", "x").tolist() == [1.0, 2.0]
    path = written(tmp_path, "b.csv", f"{TEXT}a,x,1\n\na,x,bad\n")
    with pytest.raises(InvalidInput, match=r"row 3 of b\.csv has the score 'bad'"):
        from_file(path)
    path = written(tmp_path, "c.jsonl", json_bytes(ROWS).replace(b"\n", b"\n\n"))
    assert found(from_file(path)) == expected(ROWS)


@pytest.mark.parametrize(
    ("line", "number"),
    [("0\r,x,1\n", 2), ("a,\r,1\n", 2), ('"a\nb",x,1\nb\rc,x,1\n', 4), ("a,x,1\rb,x,1\n", 2)],
)
def test_carriage_returns_are_kept_in_quotation_marks_and_refused_elsewhere(
    line: str, number: int, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput, match=rf"line {number} of a\.csv has a carriage return that does not end it"):
        from_file(written(tmp_path, "a.csv", TEXT + line))
    rows = [("0\r", "\rx", 1.0), ("0", "x\r\r\ny", 2.0), ("a\rb", "x", 3.0)]
    assert found(from_file(written(tmp_path, "b.csv", bytes_of(polars_frame(rows).write_csv)))) == expected(rows)
    assert from_file(written(tmp_path, "c.csv", f"{TEXT}a,x,1\r\na,x,2\r")).trials.tolist() == [[2]]


def test_lines_that_end_in_carriage_returns_alone(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", csv_bytes(ROWS, end="\r"))
    assert found(from_file(path)) == expected(ROWS)


# Mistakes


BAD_FILES: dict[str, tuple[str, bytes | str, str]] = {
    "empty": ("a.csv", "", "a.csv is empty: it needs the columns algorithm, environment, score"),
    "only line breaks": ("a.csv", "\n \n", "a.csv is empty"),
    "only a mark": ("a.csv", b"\xef\xbb\xbf", "a.csv is empty"),
    "empty json": ("a.jsonl", "\n", "a.jsonl is empty"),
    "header only": ("a.csv", TEXT, "a.csv has columns and no rows: give one row per trial"),
    "header without an end": ("a.csv", TEXT.strip(), "has columns and no rows"),
    "header and blank lines": ("a.csv", f"{TEXT}\n\n", "has columns and no rows"),
    "latin-1": ("a.csv", f"{TEXT}a,x,1\ncafé,x,1\n".encode("latin1"), "a.csv is not UTF-8: byte 0xe9 in line 3"),
    "latin-1 json": ("a.jsonl", '{"algorithm": "é"}'.encode("latin1"), "a.jsonl is not UTF-8: byte 0xe9 in line 1"),
    "utf-16": ("a.csv", f"{TEXT}a,x,1\n".encode("utf-16"), "a.csv is UTF-16: save it as UTF-8"),
    "too many fields": ("a.csv", f"{TEXT}a,x,1\na,x,1,5\n", "row 2 of a.csv has 4 fields and the header 3: 'a,x,1,5'"),
    "open quotation": ("a.csv", f'{TEXT}a,x,1\n"b,x,1\n', "a.csv cannot be read as CSV"),
    "quotation mark inside": ("a.csv", f'{TEXT}5" disk,x,1\na,x,1\n', "a.csv cannot be read as CSV"),
    "decimal comma": ("a.csv", "algorithm;environment;score\na;x;1,5\n", "row 1 of a.csv has the score '1,5'"),
    "text": ("a.csv", f"{TEXT}a,x,1\na,x,high\na,x,low\n", "row 2 of a.csv has the score 'high' (column 'score')"),
    "text for nothing": ("a.csv", f"{TEXT}a,x,NA\n", "row 1 of a.csv has the score 'NA'"),
    "no algorithm": ("a.csv", f"{TEXT}a,x,1\n,x,1\n,y,1\n", "row 2 of a.csv has no algorithm: column 'algorithm'"),
    "no environment": ("a.csv", f"{TEXT}a,,1\n", "row 1 of a.csv has no environment"),
    "empty algorithm": (
        "a.csv",
        f'{TEXT}a,x,1\n"",x,1\n',
        "row 2 of a.csv has an empty name: column 'algorithm' is ''",
    ),
    "blank environment": ("a.csv", f"{TEXT}a,x,1\na,  ,1\n", "column 'environment' is '  ' there"),
    "two of one name": ("a.csv", "algorithm,environment,score,score\na,x,1,2\n", "has 2 columns called 'score'"),
    "spreadsheet": ("a.xlsx", "x", "a.xlsx is a spreadsheet: save it as CSV and pass that"),
    "suffix": ("a.docx", "x", "a.docx ends in .docx, which does not say what it is: files of scores end in .csv, .tsv"),
    "no suffix": ("scores", "x", "scores has no suffix"),
    "packed suffix": ("a.txt.gz", "x", "a.txt.gz ends in .txt.gz"),
    "packed parquet": ("a.parquet.gz", "x", "ends in .parquet.gz"),
    "packed without a suffix": ("a.gz", "x", "a.gz ends in .gz"),
    "not packed": ("a.csv.gz", TEXT, "a.csv.gz cannot be unpacked: Not a gzipped file"),
    "cut off": ("a.csv.gz", gzip.compress(csv_bytes(ROWS))[:-12], "a.csv.gz cannot be unpacked"),
    "no parquet": ("a.parquet", TEXT, "a.parquet cannot be read as parquet"),
    "parquet cut off": ("a.parquet", bytes_of(polars_frame(ROWS).write_parquet)[:-30], "cannot be read as parquet"),
    "parquet without rows": ("a.parquet", bytes_of(polars_frame([]).write_parquet), "has columns and no rows"),
    "wide parquet without rows": (
        "a.parquet",
        bytes_of(polars.DataFrame({"algorithm": [], "x": [], "y": []}).write_parquet),
        "has no column 'environment' and 'score'. It has 'algorithm', 'x' and 'y'",
    ),
    "parquet without score": (
        "a.parquet",
        bytes_of(polars_frame(ROWS).rename({"score": "scored"}).write_parquet),
        "has no column 'score'. It has 'algorithm', 'environment' and 'scored'; did you mean score='scored'?",
    ),
    "no json": ("a.jsonl", '{"algorithm": "a"}\n{"algorithm": \n', "line 2 of a.jsonl is not JSON"),
    "json array": ("a.jsonl", '[{"algorithm": "a"}]', "line 1 of a.jsonl is list: write one object per line"),
    "json number": ("a.jsonl", "5\n", "line 1 of a.jsonl is int"),
    "json text": (
        "a.jsonl",
        '{"algorithm": "a", "environment": "x", "score": 1}\n\n{"algorithm": "a", "environment": "x", "score": "b"}',
        "row 3 of a.jsonl has the score 'b'",
    ),
    "json list": ("a.jsonl", '{"algorithm": "a", "environment": "x", "score": [1]}', "has the score [1]"),
    "json long number": (
        "a.jsonl",
        '{"algorithm": "a", "environment": "x", "score": 1' + 400 * "0" + "}",
        "which is not a number",
    ),
    "json without a name": ("a.jsonl", '{"algorithm": "a", "environment": null, "score": 1}', "has no environment"),
    "json without a key": (
        "a.jsonl",
        '{"algorithm": "a", "environment": "x", "scores": 1}',
        "has no column 'score'. It has 'algorithm', 'environment' and 'scores'; did you mean score='scores'?",
    ),
}


@pytest.mark.parametrize("kind", BAD_FILES)
def test_mistakes_in_files_are_told(kind: str, tmp_path: Path) -> None:
    name, data, message = BAD_FILES[kind]
    with pytest.raises(InvalidInput, match=re.escape(message)):
        from_file(written(tmp_path, name, data))


def test_files_that_are_not_there(tmp_path: Path) -> None:
    written(tmp_path, "scores.csv", csv_bytes(ROWS))
    with pytest.raises(InvalidInput, match=r"there is no file '.*score.csv': did you mean 'scores.csv'\?"):
        from_file(tmp_path / "score.csv")
    with pytest.raises(InvalidInput, match=r"there is no file .*look for a typing mistake"):
        from_file(tmp_path / "nowhere" / "x.csv")
    with pytest.raises(InvalidInput, match="cannot be read: Not a directory"):
        from_file(tmp_path / "scores.csv" / "x.csv")


def test_a_parquet_file_cut_off_anywhere_is_refused(tmp_path: Path) -> None:
    whole = bytes_of(polars_frame(ROWS * 50).write_parquet)
    for cut in range(0, len(whole), 41):
        with pytest.raises(InvalidInput, match=r"is empty|cannot be read as parquet"):
            from_file(written(tmp_path, "a.parquet", whole[:cut]))


def test_a_parquet_file_that_makes_polars_panic_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def panic(*_: object, **__: object) -> None:
        raise polars.exceptions.PanicException("unwrap on None\nmore")

    path = written(tmp_path, "a.parquet", bytes_of(polars_frame(ROWS).write_parquet))
    monkeypatch.setattr(polars, "scan_parquet", panic)
    with pytest.raises(InvalidInput, match=r"a\.parquet cannot be read as parquet \(unwrap on None\): is it complete"):
        from_file(path)


MISNAMED = {
    "nothing near": ("who,where,score\na,x,1\n", "no column 'algorithm' and 'environment'. It has 'who', 'where' and"),
    "advice": ("algoritm,enviroment,score\na,x,1\n", "did you mean algorithm='algoritm', environment='enviroment'?"),
    "several": (
        "algorithm,environment,return,reward\na,x,1,2\n",
        "has no column 'score', and 'return' and 'reward' may be it: say which with score='...' (--columns A,E,S)",
    ),
    "options": (
        "learner,environment,score\na,x,1\n",
        "'score'. Rename the columns, or pass the names they have as algorithm='...' (--columns A,E,S)",
    ),
    "other separator": ("algorithm|environment|score\na|x|1\n", "It has 'algorithm|environment|score'"),
    "many": (",".join(map(str, range(100))) + "\n", "'19' and 80 more"),
}


@pytest.mark.parametrize("kind", MISNAMED)
def test_columns_that_are_not_there(kind: str, tmp_path: Path) -> None:
    text, message = MISNAMED[kind]
    with pytest.raises(InvalidInput, match=re.escape(message)) as error:
        from_file(written(tmp_path, "a.csv", text))
    assert "wide" not in str(error.value) or kind == "many"


LONG = """Long form is needed, one row per trial:

    algorithm,environment,score
    sarsa,cart-pole,21.5
    sarsa,acrobot,-80.0
"""
WIDE = {"algorithm": ["sarsa", "q"], "cart-pole": [21.5, 19.25], "acrobot": [-80.0, -95.5], "seed": [1, 2]}


@pytest.mark.parametrize("kind", ["polars", "lazy", "pandas", "pyarrow", "parquet", "jsonl", "other name"])
def test_a_wide_table_is_shown_in_long_form(kind: str, tmp_path: Path) -> None:
    frame = polars.DataFrame(WIDE)
    sources: dict[str, Callable[[], ScoreTable]] = {
        "polars": lambda: from_frame(frame),
        "lazy": lambda: from_frame(frame.lazy()),
        "pandas": lambda: from_frame(pandas.DataFrame(WIDE)),
        "pyarrow": lambda: from_frame(pyarrow.table(WIDE)),
        "parquet": lambda: from_file(written(tmp_path, "a.parquet", bytes_of(frame.write_parquet))),
        "jsonl": lambda: from_file(written(tmp_path, "a.jsonl", bytes_of(frame.write_ndjson))),
        "other name": lambda: from_frame(frame.rename({"algorithm": "method"})),
    }
    with pytest.raises(InvalidInput, match=re.escape(LONG)):
        sources[kind]()


def test_a_table_with_names_of_its_own_is_not_called_wide() -> None:
    frame = polars.DataFrame({"who": ["a"], "where": ["x"], "much": [1.0], "seed": [1]})
    with pytest.raises(InvalidInput, match="no column 'algorithm', 'environment' and 'score'") as error:
        from_frame(frame)
    assert "wide" not in str(error.value)


@pytest.mark.parametrize(
    "names",
    [
        ("algo", "env", "return"),
        ("Algorithm", " environment", "Score"),
        ("agent", "task", "reward"),
        ("method", "env_id", "score"),
    ],
)
def test_usual_names_of_columns_are_known(names: tuple[str, str, str], tmp_path: Path) -> None:
    old = ("algorithm", "environment", "score")
    frame = polars_frame(ROWS).rename(dict(zip(old, names, strict=True)))
    assert found(from_frame(frame)) == expected(ROWS)
    assert found(from_file(written(tmp_path, "a.csv", bytes_of(frame.write_csv)))) == expected(ROWS)


BAD_FRAMES: dict[str, tuple[Any, dict[str, str], str]] = {
    "no rows": (polars_frame([]), {}, "the table has columns and no rows"),
    "no rows of pandas": (pandas_frame([]), {}, "the table has columns and no rows"),
    "no columns": (pandas.DataFrame(), {}, "It has no columns"),
    "same column": (polars_frame(ROWS), {"environment": "algorithm"}, "named for both algorithm and environment"),
    "null name": (polars_frame([*ROWS, (None, "x", 1.0)]), {}, "row 6 of the table has no algorithm"),  # type: ignore[list-item]
    "null of pandas": (pandas_frame([*ROWS, ("a", None, 1.0)]), {}, "row 6 of the table has no environment"),  # type: ignore[list-item]
    "null category": (
        FRAMES["pandas category"]([(None, "x", 1.0), *ROWS, (None, "y", 1.0)]),  # type: ignore[list-item]
        {},
        "row 1 of the table has no algorithm: column 'algorithm' is empty there. Every score needs its algorithm "
        "(1 more rows are like it)",
    ),
    "NaN as a name": (polars_frame(ROWS).with_columns(algorithm=float("nan")), {}, "row 1 of the table has no algor"),
    "null of arrow": (pyarrow.table(columns([*ROWS, ("a", None, 1.0)])), {}, "row 6 of the table has no environment"),  # type: ignore[list-item]
    "text": (pandas_frame(ROWS).astype({"score": str}).replace("1.5", "b"), {}, "row 1 of the table has the score 'b'"),
    "object": (columns([*ROWS, ("a", "x", object)]), {}, "row 6 of the table has the score <class 'object'>"),  # type: ignore[list-item]
    "complex": ({**columns(ROWS), "score": np.array([1j] * 5)}, {}, "row 1 of the table has the score 1j"),
    "complex of pandas": (
        pandas_frame(ROWS).assign(score=1j),
        {},
        "'score' of the table holds complex128, not numbers",
    ),
    "dates": (pandas_frame(ROWS).assign(score=pandas.Timestamp("2020-01-01")), {}, "not numbers: row 1 is Timestamp("),
    "durations": (polars_frame(ROWS).with_columns(score=polars.duration(days=1)), {}, "holds Duration"),
    "lists": (
        polars_frame(ROWS).with_columns(score=[1.0]),
        {},
        "'score' of the table holds List(Float64), not numbers",
    ),
    "lists as names": (polars_frame(ROWS).with_columns(algorithm=[1]), {}, "holds List(Int64), not names"),
    "index": (pandas_frame(ROWS).set_index(["algorithm", "environment"]), {}, "pass frame.reset_index()"),
    "two of one name": (
        pandas.DataFrame([["a", "x", 1.0, 2.0]], columns=["algorithm", "environment", "score", "score"]),
        {},
        "the table has 2 columns called 'score'",
    ),
    "not there": (polars_frame(ROWS), {"score": "scor"}, "no column 'scor'. It has 'algorithm', 'environment' and"),
}


@pytest.mark.parametrize("kind", BAD_FRAMES)
def test_mistakes_in_frames_are_told(kind: str) -> None:
    frame, options, message = BAD_FRAMES[kind]
    with pytest.raises(InvalidInput, match=re.escape(message)):
        from_frame(frame, **options)
