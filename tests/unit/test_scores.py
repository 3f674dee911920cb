"""`ScoreTable`: every way in, everything that is checked, and that nothing is lost, reordered or changed."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from untuned.errors import InvalidInput, UnknownName
from untuned.scores import EVERYWHERE, ScoreTable

NESTED: dict[str, dict[str, list[float]]] = {
    "sarsa": {"chain": [1.0, 3.0, 2.0], "pole": [5.0]},
    "q": {"pole": [4.0, 4.0], "car": [-1.0]},
}


def made(**options: Any) -> ScoreTable:
    return ScoreTable.from_dict(NESTED, **options)


def abc(**options: Any) -> ScoreTable:
    return ScoreTable.from_array(np.zeros((4, 2, 1)), list("abcd"), ["x", "y"], **options)


# Ways in


def test_a_dictionary_of_dictionaries() -> None:
    table = made()
    assert table.algorithms == ("sarsa", "q")
    assert table.environments == ("chain", "pole", "car")
    assert table.cell("sarsa", "chain").tolist() == [1.0, 3.0, 2.0]
    assert table.cell("q", "chain").size == 0
    assert table.trials.tolist() == [[3, 1, 0], [0, 2, 1]]
    assert table.missing == (("sarsa", "car"), ("q", "chain"))
    assert table.ranges == (EVERYWHERE,) * 3
    assert table.kinds.tolist() == [[0, 1]] * 3


def test_a_dictionary_by_pairs_is_the_same() -> None:
    pairs = {(a, e): scores for a, inner in NESTED.items() for e, scores in inner.items()}
    table = ScoreTable.from_dict(pairs)
    assert (table.algorithms, table.environments) == (made().algorithms, made().environments)
    for row, other in zip(table.cells, made().cells, strict=True):
        for cell, same in zip(row, other, strict=True):
            np.testing.assert_array_equal(cell, same)


def test_an_algorithm_without_environments_stays() -> None:
    table = ScoreTable.from_dict({"new": {}, "q": {"pole": [1.0]}})
    assert table.algorithms == ("new", "q")
    assert table.missing == (("new", "pole"),)


@pytest.mark.parametrize(
    "twice",
    [{1: {"x": [1.0]}, "1": {"x": [2.0]}}, {"a": {1: [1.0], "1": [2.0]}}, {("a", "x"): [1.0], "a": {"x": [2.0]}}],
    ids=["algorithm", "environment", "both forms"],
)
def test_a_cell_given_twice_is_refused(twice: Any) -> None:
    with pytest.raises(InvalidInput, match="are given twice"):
        ScoreTable.from_dict(twice)


def test_names_that_are_the_same_as_text_may_share_what_they_do_not_both_have() -> None:
    table = ScoreTable.from_dict({1: {"x": [1.0]}, "1": {"y": [2.0]}})  # type: ignore[arg-type]
    assert table.algorithms == ("1",)
    assert table.trials.tolist() == [[1, 1]]


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([1.0], r"scores are list: pass \{algorithm"),
        ({"a": [1.0]}, r"the scores of 'a' are list: pass \{algorithm: \{environment"),
        ({("a", "x", 1): [1.0]}, "has 3 parts"),
        ({(): [1.0]}, "has 0 parts"),
        ({"a": {"x": ["high"]}}, "the scores of 'a' on 'x' are not all numbers"),
        ({"a": {"x": {1.0, 2.0}}}, "'a' on 'x' are not all numbers"),
        ({"a": {"x": [1j]}}, "'a' on 'x' are not all numbers"),
        ({"a": {"x": np.array([1j])}}, "'a' on 'x' are not all numbers"),
        ({"a": {"x": np.array(["2020-01-01"], dtype="M8[D]")}}, "'a' on 'x' are not all numbers"),
        ({"a": {"x": 1.0}}, r"'a' on 'x' have shape \(\): pass a flat list"),
        ({"a": {"x": [[1.0], [2.0]]}}, r"'a' on 'x' have shape \(2, 1\)"),
        ({"a": {"x": [[1.0], [2.0, 3.0]]}}, "'a' on 'x' are not all numbers"),
        ({" ": {"x": [1.0]}}, "an algorithm has an empty name"),
        ({"a": {"": [1.0]}}, "an environment has an empty name"),
    ],
)
def test_dictionaries_that_are_refused(scores: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        ScoreTable.from_dict(scores)


def test_an_array() -> None:
    scores = np.arange(24.0).reshape(2, 3, 4)
    table = ScoreTable.from_array(scores)
    assert table.algorithms == ("algorithm-1", "algorithm-2")
    assert table.environments == ("environment-1", "environment-2", "environment-3")
    assert table.cell("algorithm-2", "environment-1").tolist() == [12.0, 13.0, 14.0, 15.0]
    named = ScoreTable.from_array(scores, ["b", "a"], ["z", "y", "x"])
    assert named.cell("b", "y").tolist() == [4.0, 5.0, 6.0, 7.0]


def test_nested_lists_may_be_ragged() -> None:
    table = ScoreTable.from_array([[[1, 2], []], [[3], [4, 5, 6]]])
    assert table.trials.tolist() == [[2, 0], [1, 3]]


def test_masked_scores_are_missing_ones() -> None:
    scores = np.ma.masked_array(np.arange(4.0).reshape(1, 1, 4), [[[False, True, False, False]]])
    with pytest.raises(InvalidInput, match="trial 2 of 4 is nan"):
        ScoreTable.from_array(scores)
    table = ScoreTable.from_array(scores, ranges=(-5, 5), nonfinite="worst")
    assert table.cells[0][0].tolist() == [0.0, -5.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.zeros((2, 3)),), r"2 dimensions, \(2, 3\): pass \[algorithm, environment, trial\]"),
        ((np.zeros((1, 2, 3, 4)),), "4 dimensions"),
        ((5,), "three levels deep"),
        (([1, 2],), "three levels deep"),
        (([[1, 2], [3, 4]],), r"'algorithm-1' on 'environment-1' have shape \(\)"),
        (([[[1], [2]], [[3]]],), r"have \[1, 2\] environments: give each the same number"),
        ((np.zeros((2, 1, 1)), ["a"]), "1 algorithm names for 2 algorithms"),
        ((np.zeros((2, 1, 1)), ["a", "a"]), "algorithm names 'a' appear more than once"),
        ((np.zeros((2, 1, 1)), [1, "1"]), "algorithm names '1' appear more than once"),
        ((np.zeros((1, 2, 1)), None, "xy"), "environments='xy' is one string"),
    ],
)
def test_arrays_that_are_refused(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        ScoreTable.from_array(*arguments)


def test_columns_keep_the_order_of_arrival() -> None:
    a = np.array([1, 0, 1, 1, 0])
    e = np.array([0, 0, 0, 1, 0], dtype=np.uint8)
    table = ScoreTable.from_columns((["s", "q"], a), (["x", "y"], e), np.array([5.0, 4.0, 3.0, 2.0, 1.0]))
    assert table.cell("q", "x").tolist() == [5.0, 3.0]
    assert table.cell("s", "x").tolist() == [4.0, 1.0]
    assert table.cell("q", "y").tolist() == [2.0]
    assert table.missing == (("s", "y"),)


def test_columns_with_more_cells_than_sixteen_bits_can_count() -> None:
    count = 300
    a, e = (index.ravel() for index in np.indices((count, count)))
    order = np.random.default_rng(1).permutation(a.size)
    names = [str(number) for number in range(count)]
    table = ScoreTable.from_columns((names, a[order]), (names, e[order]), (a * count + e)[order].astype(float))
    assert [[cell.item() for cell in row] for row in table.cells] == np.arange(count**2).reshape(count, count).tolist()


@pytest.mark.parametrize(
    ("algorithm", "environment", "message"),
    [
        ((["a"], [0]), (["x"], [0, 0]), r"algorithm indices are int64 of shape \(1,\).*each of the 2 scores"),
        ((["a"], [0, 0]), (["x"], [0, 1]), "environment index of row 2 is 1: there are 1 names"),
        ((["a"], [-1, 0]), (["x"], [0, 0]), "algorithm index of row 1 is -1"),
        ((["a"], [0.0, 0.0]), (["x"], [0, 0]), "algorithm indices are float64"),
        ((["a", "a"], [0, 1]), (["x"], [0, 0]), "algorithm names 'a' appear more than once"),
        ((["a"], [0, 0]), ([""], [0, 0]), "an environment has an empty name"),
    ],
)
def test_columns_that_are_refused(algorithm: Any, environment: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        ScoreTable.from_columns(
            (algorithm[0], np.array(algorithm[1])), (environment[0], np.array(environment[1])), np.zeros(2)
        )


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from("xyz"), st.floats(allow_nan=False, allow_infinity=False)),
        min_size=1,
    )
)
def test_every_way_in_leads_to_the_same_table(rows: list[tuple[str, str, float]]) -> None:
    algorithms = list(dict.fromkeys(a for a, _, _ in rows))
    environments = list(dict.fromkeys(e for _, e, _ in rows))
    by_columns = ScoreTable.from_columns(
        (algorithms, np.array([algorithms.index(a) for a, _, _ in rows])),
        (environments, np.array([environments.index(e) for _, e, _ in rows])),
        np.array([score for _, _, score in rows]),
    )
    cells = [[[s for a, e, s in rows if (a, e) == (b, f)] for f in environments] for b in algorithms]
    by_array = ScoreTable.from_array(cells, algorithms, environments)
    by_dict = ScoreTable.from_dict(
        {b: dict(zip(environments, row, strict=True)) for b, row in zip(algorithms, cells, strict=True)}
    )
    for table in (by_columns, by_array, by_dict):
        assert table.algorithms == tuple(algorithms)
        assert table.environments == tuple(environments)
        assert [[cell.tolist() for cell in row] for row in table.cells] == cells
        assert table.trials.sum() == len(rows)


def test_a_table_of_nothing() -> None:
    for table in (ScoreTable.from_dict({}), ScoreTable.from_array([])):
        assert table.trials.shape == (0, 0)
        assert table.missing == ()
        assert repr(table) == "<ScoreTable: 0 algorithms x 0 environments, 0 scores (no cells)>"


# What is kept


def test_arrays_are_copies_and_read_only() -> None:
    mine = np.ones((1, 1, 3))
    table = ScoreTable.from_array(mine)
    mine[:] = 7.0
    assert table.cells[0][0].tolist() == [1.0, 1.0, 1.0]
    mine[:] = 8.0
    columns = ScoreTable.from_columns((["a"], np.zeros(3, int)), (["x"], np.zeros(3, int)), mine[0, 0])
    assert mine.flags.writeable
    for each in (table, columns, table.select(["algorithm-1"]), pickle.loads(pickle.dumps(table))):
        with pytest.raises(ValueError, match="read-only"):
            each.cells[0][0][0] = 2.0
        with pytest.raises(ValueError, match="read-only"):
            each.kinds[0, 0] = 2
    with pytest.raises(AttributeError):
        table.algorithms = ("a",)  # type: ignore[misc]


def test_provenance_is_a_copy_that_cannot_be_changed() -> None:
    mine = {"file": "a.csv"}
    table = made(provenance=mine)
    mine["file"] = "b.csv"
    assert dict(table.provenance) == {"file": "a.csv"}
    with pytest.raises(TypeError):
        table.provenance["file"] = "c.csv"  # type: ignore[index]
    assert dict(made().provenance) == {}


@pytest.mark.parametrize("again", [lambda table: pickle.loads(pickle.dumps(table)), copy.deepcopy, copy.copy])
def test_a_table_survives_pickling_and_copying(again: Any) -> None:
    table = made(ranges={"pole": (0, 9)}, identical=[["sarsa", "q"]], provenance={"file": "a.csv"})
    other = again(table)
    for name in ("algorithms", "environments", "ranges"):
        assert getattr(other, name) == getattr(table, name)
    assert dict(other.provenance) == {"file": "a.csv"}
    np.testing.assert_array_equal(other.kinds, table.kinds)
    assert [[c.tolist() for c in row] for row in other.cells] == [[c.tolist() for c in row] for row in table.cells]


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ({"a": {"x": [1.0, 2.0]}}, "<ScoreTable: 1 algorithms x 1 environments, 2 scores (2 per cell)>"),
        (NESTED, "<ScoreTable: 2 algorithms x 3 environments, 7 scores (0 to 3 per cell, 2 cells missing)>"),
        ({"a": {"x": np.zeros(1500)}}, "<ScoreTable: 1 algorithms x 1 environments, 1,500 scores (1,500 per cell)>"),
    ],
)
def test_what_a_table_says_of_itself(scores: Any, expected: str) -> None:
    assert repr(ScoreTable.from_dict(scores)) == expected


def test_unknown_cells_are_named() -> None:
    with pytest.raises(UnknownName, match="no algorithm is called 'sarza': did you mean 'sarsa'"):
        made().cell("sarza", "pole")
    with pytest.raises(UnknownName, match="no environment is called 'poles': did you mean 'pole'"):
        made().cell("q", "poles")


# Parts


def test_a_part_in_the_order_given() -> None:
    table = made(ranges={"pole": (0, 9)}, identical={"pole": [["sarsa", "q"]]}, provenance={"file": "a"})
    part = table.select(["q", "sarsa", "q"], ["car", "pole"])
    assert part.algorithms == ("q", "sarsa")
    assert part.environments == ("car", "pole")
    assert part.cell("q", "pole") is table.cell("q", "pole")
    assert part.ranges == (EVERYWHERE, (0.0, 9.0))
    assert part.kinds[0, 0] != part.kinds[0, 1]
    assert part.kinds[1, 0] == part.kinds[1, 1]
    assert part.provenance == {"file": "a"}
    assert table.select().algorithms == table.algorithms
    assert table.select(environments=iter(["car"])).trials.tolist() == [[0], [1]]


def test_parts_that_are_refused() -> None:
    with pytest.raises(UnknownName, match="no algorithm is called 'a'"):
        made().select(["a"])
    with pytest.raises(InvalidInput, match="environments='pole' is one string: pass a list"):
        made().select(environments="pole")


# Identical algorithms


@pytest.mark.parametrize(
    ("identical", "expected"),
    [
        ((), [[0, 1, 2, 3], [0, 1, 2, 3]]),
        ([["a", "c"]], [[0, 1, 0, 3], [0, 1, 0, 3]]),
        ([["d", "b"], ["a", "c"]], [[0, 1, 0, 1], [0, 1, 0, 1]]),
        ([["c", "d"], ["a", "c"]], [[0, 1, 0, 0], [0, 1, 0, 0]]),
        ([["a", "b"], ["c", "d"], ["b", "c"]], [[0, 0, 0, 0], [0, 0, 0, 0]]),
        ([[], ["b"], ["b", "b"]], [[0, 1, 2, 3], [0, 1, 2, 3]]),
        ({"y": [["b", "c"]]}, [[0, 1, 2, 3], [0, 1, 1, 3]]),
        ({"x": [["a", "d"]], "y": [("b", "d"), ("d", "a")]}, [[0, 1, 2, 0], [0, 0, 2, 0]]),
    ],
)
def test_groups_of_identical_algorithms(identical: Any, expected: list[list[int]]) -> None:
    assert abc(identical=identical).kinds.tolist() == expected


def test_groups_may_come_one_by_one() -> None:
    assert abc(identical=(iter(group) for group in ["ab", "cd"])).kinds.tolist() == [[0, 0, 2, 2]] * 2


@pytest.mark.parametrize(
    ("identical", "message"),
    [
        (["a", "b"], r"identical='a': pass groups of names, \[\['a', 'b'\]\]"),
        ("ab", "pass groups of names"),
        ([["a", "e"]], "no algorithm is called 'e'"),
        ({"z": [["a", "b"]]}, "no environment is called 'z'"),
        ({"x": ["a", "b"]}, "pass groups of names"),
        (5, "identical=5: pass groups of names"),
        ([5], "identical=5: pass groups of names"),
    ],
)
def test_groups_that_are_refused(identical: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        abc(identical=identical)


# Ranges


def test_ranges_by_name_or_for_all() -> None:
    assert abc(ranges=(-1, 1)).ranges == ((-1.0, 1.0), (-1.0, 1.0))
    assert abc(ranges={"y": [0, 1]}).ranges == (EVERYWHERE, (0.0, 1.0))
    assert abc(ranges={"y": (0, np.inf)}).ranges[1] == (0.0, np.inf)


@pytest.mark.parametrize(
    ("ranges", "message"),
    [
        ((1, 0), r"range of every environment is \(1, 0\): the lowest score must be below"),
        ({"x": (0, 0)}, r"range of x is \(0, 0\)"),
        ({"x": (0, np.nan)}, "must be below"),
        ({"x": 5}, "range of x is 5: pass a pair"),
        ({"x": (0, 1, 2)}, "pass a pair"),
        ([(0, 1), (0, 1)], "pass a pair"),
        ("ab", "pass a pair"),
        ({"z": (0, 1)}, "no environment is called 'z'.*Ranges are given by the environments' names"),
    ],
)
def test_ranges_that_are_refused(ranges: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        abc(ranges=ranges)


def test_a_score_outside_its_range_is_named() -> None:
    with pytest.raises(InvalidInput, match=r"'q' on 'pole' is outside .*\(4.5, 9\): trial 1 is 4.0"):
        made(ranges={"pole": (4.5, 9)})
    with pytest.raises(InvalidInput, match=r"'sarsa' on 'chain' .* trial 2 is 3.0"):
        made(ranges={"chain": (0, 2)})
    assert made(ranges={"chain": (1, 3)}).ranges[0] == (1.0, 3.0)


# Scores that are not finite


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, None])
def test_a_score_that_is_not_finite_is_named(bad: float | None) -> None:
    scores: Any = {"a": {"x": [1.0, bad, 2.0]}}
    with pytest.raises(InvalidInput, match=r"'a' on 'x' .* trial 2 of 3 is (nan|inf|-inf)\. .*nonfinite='worst'"):
        ScoreTable.from_dict(scores)
    with pytest.raises(InvalidInput, match=r"'x' declares no worst score: pass ranges=\{'x': \(lowest, highest\)\}"):
        ScoreTable.from_dict(scores, nonfinite="worst")
    with pytest.raises(InvalidInput, match="declares no worst score"):
        ScoreTable.from_dict(scores, nonfinite="worst", ranges=(-np.inf, 5))
    table = ScoreTable.from_dict(scores, nonfinite="worst", ranges={"x": (-7, 5)})
    assert table.cells[0][0].tolist() == [1.0, -7.0, 2.0]


def test_how_many_are_not_finite_is_said() -> None:
    with pytest.raises(InvalidInput, match="trial 1 of 3 is nan, and 1 more is not finite either"):
        ScoreTable.from_dict({"a": {"x": [np.nan, 1.0, np.inf]}})


def test_a_choice_for_what_is_not_finite_that_does_not_exist() -> None:
    with pytest.raises(InvalidInput, match="nonfinite='drop': pass 'error' or 'worst'"):
        made(nonfinite="drop")
