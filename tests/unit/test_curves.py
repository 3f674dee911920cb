"""Learning curves and responses to hyperparameters: what is averaged, what counts, what is left out."""

import itertools
import math
from typing import Any

import numpy as np
import pytest

from untuned.errors import UnknownName
from untuned.histories import Histories, History
from untuned.reports.curves import Curve, Response, algorithms_in, environments_in, learning_curve, response


def returned(*trials: list[float]) -> History:
    return History(np.zeros(len(trials)), {}, {}, tuple(np.array(each, dtype=np.float64) for each in trials))


def drawn(values: list[Any], scores: list[float] | None = None, distribution: str = "") -> History:
    found = np.arange(float(len(values))) if scores is None else np.array(scores, dtype=np.float64)
    return History(found, {"h": tuple(values)}, {"h": distribution}, ())


def curve_of(history: History, **options: Any) -> Curve:
    curve = learning_curve(history, **options)
    assert curve is not None
    return curve


def response_of(history: History, **options: Any) -> Response:
    found = response(history, "h", **options)
    assert found is not None
    return found


def test_blocks_are_means_of_consecutive_episodes() -> None:
    curve = curve_of(returned([1, 2, 3, 4, 5, 6], [3, 4, 5, 6, 7, 8], [2, 3, 4, 5, 6, 70]), points=3)
    assert curve.x.tolist() == [2.0, 4.0, 6.0]
    assert curve.median.tolist() == [2.5, 4.5, 7.5]
    assert curve.trials == 3
    assert curve.low.tolist() == [-math.inf] * 3
    assert curve.high.tolist() == [math.inf] * 3


def test_blocks_differ_by_one_episode_at_most_where_they_do_not_come_out_even() -> None:
    curve = curve_of(returned(list(range(1, 8))), points=3)
    assert curve.x[-1] == 7.0
    sizes = np.diff(curve.x, prepend=0.0)
    assert sizes.max() - sizes.min() <= 1.0
    ends = [0, *curve.x.astype(int).tolist()]
    assert curve.median.tolist() == [np.mean(range(a + 1, b + 1)) for a, b in itertools.pairwise(ends)]


def test_it_goes_as_far_as_the_shortest_trial_and_has_no_more_points_than_episodes() -> None:
    curve = curve_of(returned([1, 1, 1, 1], [2, 2], [3, 3, 3]))
    assert curve.x.tolist() == [1.0, 2.0]
    assert curve.median.tolist() == [2.0, 2.0]


def test_a_failed_trial_counts_as_the_worst() -> None:
    curve = curve_of(returned([5], [4], [], [3], [2], [1], [0]))
    assert curve.trials == 7
    assert curve.median.tolist() == [2.0]
    assert curve.low.tolist() == [-math.inf]
    assert curve.high.tolist() == [5.0]
    half = curve_of(returned([5], [], [], [3]))
    assert half.median.tolist() == [-math.inf]
    assert curve_of(returned([1], [math.nan], [3])).median.tolist() == [1.0]


def test_without_returns_there_is_no_curve() -> None:
    assert learning_curve(returned()) is None
    assert learning_curve(returned([], [])) is None


def test_numbers_are_in_bins_of_the_same_size() -> None:
    found = response_of(drawn(list(range(100, 0, -1))), bins=10)
    assert found.labels is None
    assert found.counts.tolist() == [10] * 10
    assert found.x.tolist() == [5.5 + 10 * number for number in range(10)]
    assert found.median.tolist() == [94.5 - 10 * number for number in range(10)]
    # Of ten values the second smallest and second largest are the ends.
    assert found.low.tolist() == [91.0 - 10 * number for number in range(10)]
    assert found.high.tolist() == [98.0 - 10 * number for number in range(10)]


def test_equal_values_share_a_bin() -> None:
    found = response_of(drawn([1.0] * 50 + [float(value) for value in range(2, 52)]), bins=5)
    assert found.x[0] == 1.0
    assert found.counts[0] == 50
    assert found.counts.sum() == 100


def test_few_different_numbers_have_a_bin_each() -> None:
    found = response_of(drawn([3, 1, 3, 2, 1, 3]))
    assert found.labels is None
    assert found.x.tolist() == [1.0, 2.0, 3.0]
    assert found.counts.tolist() == [2, 1, 3]
    assert found.median.tolist() == [2.5, 3.0, 2.0]


@pytest.mark.parametrize(
    ("values", "labels", "counts"),
    [
        (["b", "a", "b"], ("a", "b"), [1, 2]),
        ([True, False, True], ("False", "True"), [1, 2]),
        ([None, 0.5, 0.5, None, 0.5], ("0.5", "None"), [3, 2]),
        ([None, "x"], ("x", "None"), [1, 1]),
        ([10, "auto", 2], ("2", "10", "auto"), [1, 1, 1]),
        ([None, 2, 1], ("1", "2", "None"), [1, 1, 1]),
    ],
)
def test_all_else_is_categories(values: list[Any], labels: tuple[str, ...], counts: list[int]) -> None:
    found = response_of(drawn(values))
    assert found.labels == labels
    assert found.x.tolist() == list(range(len(labels)))
    assert found.counts.tolist() == counts
    assert not found.logarithmic


def test_where_many_numbers_were_drawn_those_who_drew_none_are_left_out() -> None:
    found = response_of(drawn([*map(float, range(40)), None, math.nan]), bins=4)
    assert found.labels is None
    assert found.counts.tolist() == [10] * 4


@pytest.mark.parametrize("values", [[1.0, 1.0], [None, None], ["a", "a"], [True, True], []])
def test_nothing_to_show(values: list[Any]) -> None:
    assert response(drawn(values), "h") is None


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(UnknownName, match="no hyperparameter is called 'j'"):
        response(drawn([1, 2]), "j")


@pytest.mark.parametrize(
    ("values", "distribution", "logarithmic"),
    [
        ([0.1, 0.2, 0.3], "ln-uniform(0.1, 0.3)", True),
        ([0.1, 0.2, 0.3], "ln-uniform(0.1, 0.3) / n_features", True),
        ([0.97, 0.98, 0.99], "1 - ln-uniform(0.01, 0.05)", False),
        ([1, 2, 8], "round(2^U(0, 3))", True),
        ([0.1, 0.2, 0.3], "", False),
        ([0.001, 0.2, 0.3], "", True),
        ([0.001, 0.2, 0.3], "U(0, 1)", False),
        ([0.0, 0.2, 30.0], "ln-uniform(0, 30)", False),
    ],
)
def test_factors_or_differences(values: list[float], distribution: str, logarithmic: bool) -> None:
    assert response_of(drawn(values, distribution=distribution)).logarithmic is logarithmic


def test_names_come_in_the_order_of_the_cells() -> None:
    cells = {(a, e): drawn([1]) for a, e in (("b", "y"), ("b", "x"), ("a", "y"))}
    histories = Histories(cells, 1)
    assert algorithms_in(histories) == ("b", "a")
    assert environments_in(histories) == ("y", "x")
