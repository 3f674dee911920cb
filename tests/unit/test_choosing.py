"""Which algorithms and environments are judged, under which names, in which direction: the same for every source."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pytest

import untuned
from untuned.adapters.sources import read_scores
from untuned.collect.store.store import Store
from untuned.collect.trial import Trial
from untuned.errors import InvalidInput, UnknownName
from untuned.scores import ScoreTable

Scores = dict[str, dict[str, list[float]]]

SCORES: Scores = {
    "a": {"x": [1.0, 2.0, 3.0], "y": [10.0, 20.0], "z": [5.0]},
    "b": {"x": [4.0, 5.0], "y": [30.0, 40.0], "z": [6.0]},
    "c": {"x": [6.0, 7.0], "y": [50.0, 60.0], "z": [7.0]},
}
RANGES = {"x": (0.0, 10.0), "y": (-100.0, 70.0), "z": (-8.0, 9.0)}
SOURCES = ("csv", "jsonl", "frame", "pandas", "dictionary", "pairs", "table", "study")
#: Those whose ranges the reader declares.
DECLARED = ("csv", "jsonl", "frame", "pandas", "dictionary", "pairs")


def source(kind: str, folder: Path, scores: Scores = SCORES) -> Any:
    """Return these scores as a source of some kind; tables and studies know their ranges."""
    rows = [(a, e, score) for a, cells in scores.items() for e, cell in cells.items() for score in cell]
    frame = polars.DataFrame(rows, schema=["algorithm", "environment", "score"], orient="row")
    environments = [*dict.fromkeys(row[1] for row in rows)]
    if kind == "csv":
        frame.write_csv(folder / "scores.csv")
        return folder / "scores.csv"
    if kind == "jsonl":
        untuned.write_scores(frame, folder / "scores.jsonl")
        return folder / "scores.jsonl"
    if kind == "frame":
        return frame
    if kind == "pandas":
        return pandas.DataFrame(frame.to_dict(as_series=False))
    if kind == "dictionary":
        return scores
    if kind == "pairs":
        return {(a, e): cell for a, cells in scores.items() for e, cell in cells.items()}
    known = {name: RANGES[name] for name in environments}
    if kind == "table":
        return ScoreTable.from_dict(scores, ranges=known)
    facts = {
        "name": "small",
        "seed": 1,
        "failures": "worst",
        "algorithms": list(scores),
        "environments": [{"name": name, "score_range": list(ends)} for name, ends in known.items()],
    }
    with Store.create(folder / "study", facts) as store:
        store.add(
            Trial(
                seed=1,
                algorithm=a,
                environment=e,
                trial=number,
                score=score,
                final_return=score,
                failure="ValueError" if math.isnan(score) else None,
            )
            for a, cells in scores.items()
            for e, cell in cells.items()
            for number, score in enumerate(cell)
        )
    return folder / "study"


def cells(table: ScoreTable) -> Scores:
    return {a: {e: table.cell(a, e).tolist() for e in table.environments} for a in table.algorithms}


every_source = pytest.mark.parametrize("kind", SOURCES)
every_declared = pytest.mark.parametrize("kind", DECLARED)


# --- which


@every_source
def test_nothing_is_chosen(kind: str, tmp_path: Path) -> None:
    assert cells(read_scores(source(kind, tmp_path))) == SCORES


@every_source
def test_algorithms_and_environments_in_the_order_asked_for(kind: str, tmp_path: Path) -> None:
    found = read_scores(source(kind, tmp_path), algorithms=["c", "a"], environments=["y", "x"])
    assert (found.algorithms, found.environments) == (("c", "a"), ("y", "x"))
    assert cells(found) == {a: {e: SCORES[a][e] for e in "yx"} for a in "ca"}


@every_source
def test_a_name_that_is_asked_for_twice_counts_once(kind: str, tmp_path: Path) -> None:
    assert read_scores(source(kind, tmp_path), algorithms=["c", "a", "c"]).algorithms == ("c", "a")


@every_source
def test_without_some(kind: str, tmp_path: Path) -> None:
    found = read_scores(source(kind, tmp_path), without=["b", "x"])
    assert cells(found) == {a: {e: SCORES[a][e] for e in "yz"} for a in "ac"}


@every_source
def test_without_some_of_those_asked_for(kind: str, tmp_path: Path) -> None:
    found = read_scores(source(kind, tmp_path), algorithms=["c", "b", "a"], without=["b"])
    assert found.algorithms == ("c", "a")


@every_source
@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"algorithms": ["a", "d"]}, "no algorithm is called 'd'"),
        ({"environments": ["w"]}, "no environment is called 'w'"),
        ({"without": ["w"]}, "no algorithm or environment is called 'w'"),
        ({"rename": {"w": "v"}}, "no algorithm or environment is called 'w'"),
        ({"minimize": ["w"]}, "no environment is called 'w'"),
        ({"minimize": ["a"]}, "no environment is called 'a'"),
    ],
)
def test_names_that_are_not_there(kind: str, options: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match=said):
        read_scores(source(kind, tmp_path), **options)


@every_source
@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"without": ["a", "b", "c"]}, "no algorithm is left"),
        ({"without": ["x", "y", "z"]}, "no environment is left"),
        ({"algorithms": ["a"], "without": ["a"]}, "no algorithm is left"),
        ({"algorithms": "a"}, "algorithms='a' is one string"),
        ({"environments": "x"}, "environments='x' is one string"),
        ({"without": "b"}, "without='b' is one string"),
    ],
)
def test_choices_that_are_none(kind: str, options: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=said):
        read_scores(source(kind, tmp_path), **options)


@every_declared
def test_what_is_left_out_may_hold_anything(kind: str, tmp_path: Path) -> None:
    broken: Scores = {**SCORES, "broken": {"x": [math.nan], "y": [math.nan, 1.0], "z": [math.inf]}}
    given = source(kind, tmp_path, broken)
    with pytest.raises(InvalidInput, match="not all finite"):
        read_scores(given)
    assert cells(read_scores(given, without=["broken"])) == SCORES
    assert cells(read_scores(given, algorithms=["a", "b", "c"])) == SCORES


@every_declared
def test_scores_outside_a_range_that_was_left_out(kind: str, tmp_path: Path) -> None:
    given = source(kind, tmp_path)
    with pytest.raises(InvalidInput, match="outside the declared range"):
        read_scores(given, ranges=(0, 10))
    assert read_scores(given, ranges=(0, 10), without=["y"]).ranges == ((0.0, 10.0),) * 2


@every_declared
def test_what_is_said_about_names_that_are_left_out_does_not_matter(kind: str, tmp_path: Path) -> None:
    """One command line, with or without --without."""
    options: dict[str, Any] = {
        "ranges": RANGES,
        "identical": [["a", "b", "c"]],
        "minimize": ["x", "y"],
        "rename": {"y": "why", "c": "see", "a": "ay"},
    }
    given = source(kind, tmp_path)
    assert read_scores(given, **options).algorithms == ("ay", "b", "see")
    found = read_scores(given, **options, without=["y", "c"])
    assert (found.algorithms, found.environments) == (("ay", "b"), ("x", "z"))
    assert found.ranges == ((-10.0, 0.0), (-8.0, 9.0))
    assert found.kinds.tolist() == [[0, 0], [0, 0]]
    assert found.cell("ay", "x").tolist() == [-1.0, -2.0, -3.0]
    by_environment = {**options, "identical": {"y": [["a", "b"]], "x": [["a", "c"]]}}
    assert read_scores(given, **by_environment, without=["y", "c"]).kinds.tolist() == [[0, 1], [0, 1]]


@pytest.mark.parametrize("kind", ["table", "study"])
def test_new_names_of_what_a_table_leaves_out_do_not_matter(kind: str, tmp_path: Path) -> None:
    found = read_scores(source(kind, tmp_path), without=["c"], rename={"c": "see", "a": "ay"})
    assert found.algorithms == ("ay", "b")


@every_declared
def test_names_that_nobody_has_are_still_refused(kind: str, tmp_path: Path) -> None:
    given = source(kind, tmp_path)
    for options in ({"ranges": {"w": (0, 1)}}, {"minimize": ["w"]}, {"rename": {"w": "v"}}, {"identical": [["w"]]}):
        with pytest.raises(UnknownName, match="'w'"):
            read_scores(given, **options, without=["y", "c"])


# --- new names


@every_source
def test_new_names(kind: str, tmp_path: Path) -> None:
    found = read_scores(source(kind, tmp_path), rename={"a": "Sarsa(λ)", "y": "maze"})
    assert (found.algorithms, found.environments) == (("Sarsa(λ)", "b", "c"), ("x", "maze", "z"))
    assert found.cell("Sarsa(λ)", "maze").tolist() == [10.0, 20.0]


@every_source
def test_names_can_be_exchanged(kind: str, tmp_path: Path) -> None:
    found = read_scores(source(kind, tmp_path), rename={"a": "b", "b": "a"})
    assert found.cell("b", "z").tolist() == [5.0]
    assert found.cell("a", "z").tolist() == [6.0]


@every_source
@pytest.mark.parametrize("new", [{"a": "b"}, {"a": "d", "b": "d"}, {"x": "y"}])
def test_two_are_never_put_together(kind: str, new: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="--rename would call two"):
        read_scores(source(kind, tmp_path), rename=new)


@every_source
def test_a_name_is_free_when_who_had_it_is_left_out(kind: str, tmp_path: Path) -> None:
    found = read_scores(source(kind, tmp_path), rename={"a": "b"}, without=["b"])
    assert found.algorithms == ("b", "c")
    assert found.cell("b", "z").tolist() == [5.0]


@every_source
@pytest.mark.parametrize("name", ["", " "])
def test_an_empty_name_is_none(kind: str, name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="name"):
        read_scores(source(kind, tmp_path), rename={"a": name})


def test_a_name_of_both_kinds(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="both an algorithm and an environment have this name"):
        read_scores({"a": {"a": [1.0], "x": [2.0]}}, rename={"a": "b"})


@every_declared
def test_names_are_those_of_the_source_everywhere(kind: str, tmp_path: Path) -> None:
    found = read_scores(
        source(kind, tmp_path),
        rename={"a": "ay", "x": "ex"},
        ranges={"x": (0, 10)},
        identical={"x": [["a", "b"]]},
        minimize=["x"],
        algorithms=["a", "b"],
    )
    assert (found.algorithms, found.environments) == (("ay", "b"), ("ex", "y", "z"))
    assert found.ranges[0] == (-10.0, 0.0)
    assert found.kinds.tolist() == [[0, 0], [0, 1], [0, 1]]
    assert found.cell("ay", "ex").tolist() == [-1.0, -2.0, -3.0]


# --- lower is better


@every_source
def test_signs_are_changed_where_lower_is_better(kind: str, tmp_path: Path) -> None:
    for minimize, lower in ((["y"], "y"), ("y", "y"), (["z", "x"], "xz"), (True, "xyz"), (False, ""), ([], "")):
        folder = tmp_path / f"{minimize}".replace("'", "")
        folder.mkdir()
        found = read_scores(source(kind, folder), minimize=minimize)
        assert cells(found) == {
            a: {e: [-score if e in lower else score for score in cell] for e, cell in row.items()}
            for a, row in SCORES.items()
        }


@every_source
def test_ranges_are_turned_with_the_scores(kind: str, tmp_path: Path) -> None:
    known = {"ranges": RANGES} if kind in DECLARED else {}
    found = read_scores(source(kind, tmp_path), minimize=["y"], **known)
    assert found.ranges == ((0.0, 10.0), (-70.0, 100.0), (-8.0, 9.0))


@every_declared
def test_one_range_for_all_is_turned_only_where_lower_is_better(kind: str, tmp_path: Path) -> None:
    found = read_scores(source(kind, tmp_path), minimize=["y"], ranges=(-100, 70))
    assert found.ranges == ((-100.0, 70.0), (-70.0, 100.0), (-100.0, 70.0))


@every_declared
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_cost_that_is_not_finite_counts_as_the_highest(kind: str, bad: float, tmp_path: Path) -> None:
    scores: Scores = {"a": {"cost": [1.0, bad], "gain": [3.0, bad]}, "b": {"cost": [2.0], "gain": [4.0]}}
    found = read_scores(
        source(kind, tmp_path, scores),
        minimize=["cost"],
        ranges={"cost": (0, 50), "gain": (-7, 9)},
        nonfinite="worst",
    )
    assert cells(found) == {"a": {"cost": [-1.0, -50.0], "gain": [3.0, -7.0]}, "b": {"cost": [-2.0], "gain": [4.0]}}
    assert found.failed_ae is not None
    assert found.failed_ae.tolist() == [[1, 1], [0, 0]]


@every_declared
def test_a_cost_outside_its_range_is_refused(kind: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="outside the declared range"):
        read_scores(source(kind, tmp_path), minimize=["x"], ranges={"x": (2, 10)})


@every_declared
@pytest.mark.parametrize("bad", [5, (1,), (1, 2, 3), ("low", "high"), None])
def test_a_range_that_is_none_is_refused_in_words(kind: str, bad: object, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="the range of x is"):
        read_scores(source(kind, tmp_path), minimize=True, ranges={"x": bad})


def test_failed_trials_of_a_study_are_not_turned_into_the_best(tmp_path: Path) -> None:
    given = source("study", tmp_path, {"a": {"x": [1.0, math.nan]}, "b": {"x": [2.0]}})
    assert read_scores(given).cell("a", "x").tolist() == [1.0, 0.0]
    with pytest.raises(InvalidInput, match="--minimize cannot be used with trials that failed"):
        read_scores(given, minimize=True)


@every_source
def test_chosen_tables_are_read_only(kind: str, tmp_path: Path) -> None:
    found = read_scores(source(kind, tmp_path), minimize=["x"], without=["c"], rename={"a": "d"})
    for row in found.cells:
        for cell in row:
            with pytest.raises(ValueError, match="read-only"):
                cell[0] = 0.0


def test_a_source_is_not_changed(tmp_path: Path) -> None:
    array = np.array([1.0, 2.0])
    read_scores({"a": {"x": array}, "b": {"x": [3.0]}}, minimize=True)
    assert array.tolist() == [1.0, 2.0]
    frame = source("frame", tmp_path)
    read_scores(frame, minimize=True, rename={"a": "d"})
    assert frame.equals(source("frame", tmp_path))


@every_source
def test_judging_takes_the_same_choices(kind: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    scores: Scores = {
        a: {e: np.clip(rng.normal(shift, 1.0, 30), -8, 9).tolist() for e in ("x", "z")}
        for a, shift in (("a", 0.5), ("b", 2.0), ("c", 4.0))
    }
    # Within the ranges that tables and studies declare.
    scores = {a: {e: [abs(each) for each in cell] for e, cell in row.items()} for a, row in scores.items()}
    given = source(kind, tmp_path, scores)
    best = untuned.evaluate(given, without=["b"], rename={"c": "see"}, weights="uniform", workers=1)
    assert best.algorithms == ("a", "see")
    assert best.rows()[0]["name"] == "see"
    turned = untuned.evaluate(given, without=["b"], minimize=True, weights="uniform", workers=1)
    assert turned.rows()[0]["name"] == "a"
