"""Learning curves and responses to hyperparameters: averaging, counting, exclusions."""

import itertools
import math
from typing import Any

import numpy as np
import pytest

from untuned.errors import UnknownName
from untuned.histories import Histories, History
from untuned.reports.curves import (
    SHARE,
    Curve,
    Efficiency,
    Response,
    algorithms_in,
    environments_in,
    from_one,
    learning_curve,
    near_one_ticks,
    response,
    sample_efficiency,
)


def returned(*trials: list[float]) -> History:
    return History(np.zeros(len(trials)), {}, {}, tuple(np.array(each, dtype=np.float64) for each in trials))


def stepped(*trials: dict[float, float]) -> History:
    """Return trials that have values by their steps."""
    return History(
        np.zeros(len(trials)),
        {},
        {},
        tuple(np.array(list(each.values()), dtype=np.float64) for each in trials),
        tuple(np.array(list(each), dtype=np.float64) for each in trials),
        tuple(f"seed {number}" for number in range(len(trials))),
    )


def irregular(trials: int, end: int, seed: int, failing: float = 0.0, whole: bool = False) -> History:
    """Return trials with steps of their own and a few values that are not numbers; whole ones reach the end."""
    rng = np.random.default_rng(seed)
    found: list[dict[float, float]] = []
    for _ in range(trials):
        steps = np.sort(rng.choice(end, rng.integers(5, 60), replace=False)).astype(float)
        values = np.where(rng.uniform(size=steps.size) < 0.02, math.nan, np.round(rng.normal(size=steps.size), 1))
        last = {float(end): 0.5} if whole else {}
        run = dict(zip(steps.tolist(), values.tolist(), strict=True)) | last
        found.append({} if rng.uniform() < failing else run)
    return stepped(*found)


def drawn(values: list[Any], scores: list[float] | None = None, distribution: str = "") -> History:
    found = np.arange(float(len(values))) if scores is None else np.array(scores, dtype=np.float64)
    return History(found, {"h": tuple(values)}, {"h": distribution}, ())


def curve_of(history: History, **options: Any) -> Curve:
    curve = learning_curve(history, **options)
    assert curve is not None
    return curve


def efficiency_of(histories: Histories, **options: Any) -> Efficiency:
    found = sample_efficiency(histories, **options)
    assert found is not None
    return found


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


def slow_points(runs: list[dict[float, float]], points: int) -> list[float]:
    end = min(max(run) for run in runs)
    steps = sorted({step for run in runs for step in run if step <= end})
    if len(steps) <= points:
        return steps
    return [end * k / points for k in range(1, points + 1) if end * k / points >= steps[0]]


def slow_value(run: dict[float, float], x: float) -> float:
    before = [value for step, value in run.items() if step <= x]
    return before[-1] if before else next(iter(run.values()))


def slow_curve(history: History, points: int) -> tuple[list[float], list[float]]:
    runs = [dict(zip(at, each, strict=True)) for at, each in zip(history.steps, history.returns, strict=True)]
    ends = slow_points([run for run in runs if run], points)
    medians = []
    for start, end in itertools.pairwise([-math.inf, *ends]):
        row = []
        for run in runs:
            inside = [value for step, value in run.items() if start < step <= end]
            value = -math.inf if not run else sum(inside) / len(inside) if inside else slow_value(run, start)
            row.append(-math.inf if math.isnan(value) else value)
        row.sort()
        middle = row[(len(row) - 1) // 2], row[len(row) // 2]
        medians.append(-math.inf if middle[0] == -math.inf else sum(middle) / 2.0)
    return ends, medians


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("points", [1, 7, 50])
def test_curves_over_steps_are_those_of_the_slow_way(seed: int, points: int) -> None:
    history = irregular(1 + seed, 300 + 1000 * seed, seed, failing=0.2 * (seed > 3))
    ends, medians = slow_curve(history, points)
    curve = curve_of(history, points=points)
    assert curve.x.tolist() == ends
    assert curve.x.size <= points
    assert curve.median.tolist() == pytest.approx(medians)
    assert curve.trials == 1 + seed


def test_few_steps_are_points_themselves() -> None:
    curve = curve_of(stepped({10: 1.0, 500: 2.0, 510: 3.0}, {10: 3.0, 500: 4.0}), points=3)
    assert curve.x.tolist() == [10.0, 500.0]
    assert curve.median.tolist() == [2.0, 3.0]


def test_a_block_without_a_value_has_the_last_one_before_it() -> None:
    dense = {float(step): 0.0 for step in range(1, 101)}
    curve = curve_of(stepped({30: 1.0, 31: 3.0, 90: 7.0, 200: 9.0}, dense), points=10)
    assert curve.x.tolist() == [10.0 * k for k in range(1, 11)]
    # The mean of 3 and nothing, up to 7: half of it, for the other trial has 0.
    assert (2.0 * curve.median).tolist() == [1.0, 1.0, 1.0, 3.0, 3.0, 3.0, 3.0, 3.0, 7.0, 7.0]
    # What begins after the shortest trial has ended has its first value.
    assert curve_of(stepped({5: 1.0}, {6: 3.0, 7: 4.0})).median.tolist() == [2.0]


def test_training_that_begins_late_has_no_points_before() -> None:
    late = curve_of(stepped({float(step): 1.0 for step in range(900, 1001)}), points=10)
    assert late.x.tolist() == [900.0, 1000.0]


def test_steps_of_whole_numbers_and_single_precision_do() -> None:
    history = History(
        np.zeros(2), {}, {}, (np.array([1, 2]), np.array([3, 4], dtype=np.float32)), (np.array([0, 8]),) * 2
    )
    assert curve_of(history).x.tolist() == [0.0, 8.0]
    assert curve_of(history).median.tolist() == [2.0, 3.0]


# --- sample efficiency


def slow_efficiency(histories: Histories, names: list[str], places: list[str], share: bool, points: int) -> Any:
    runs: dict[tuple[str, str], list[dict[float, float]]] = {}
    for cell, history in histories.cells.items():
        steps: Any = history.steps or [range(1, each.size + 1) for each in history.returns]
        runs[cell] = [dict(zip(at, each, strict=True)) for at, each in zip(steps, history.returns, strict=True)]
    if share:
        for e in places:
            end = min(max(run) for a in names for run in runs[a, e] if run)
            for a in names:
                runs[a, e] = [{100.0 * step / end: value for step, value in run.items()} for run in runs[a, e]]
    xs = slow_points([run for a in names for e in places for run in runs[a, e] if run], points)

    def value(run: dict[float, float], x: float) -> float:
        found = slow_value(run, x) if run else -math.inf
        return -math.inf if math.isnan(found) else found

    def score(a: str, x: float) -> float:
        won: list[float] = []
        for e in places:
            for r in names:
                pairs = [(value(one, x), value(other, x)) for one in runs[a, e] for other in runs[r, e]]
                points_won = [0.5 if one == other else float(one > other) for one, other in pairs]
                won.append(0.5 if a == r else sum(points_won) / len(points_won))
        return sum(won) / len(won)

    return xs, [[score(a, x) for x in xs] for a in names]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("share", [False, True])
def test_sample_efficiency_is_that_of_the_slow_way(seed: int, share: bool) -> None:
    names, places = ["a", "b", "c"], ["e", "f"]
    cells = {
        (a, e): irregular(3 + i, 500 * (1 + 3 * share * j), 10 * seed + 3 * i + j, failing=0.2, whole=True)
        for i, a in enumerate(names)
        for j, e in enumerate(places)
    }
    histories = Histories(cells, 9, unit="frame")
    found = efficiency_of(histories, points=12)
    xs, scores = slow_efficiency(histories, names, places, share, 12)
    assert found.label == (SHARE if share else "frame")
    assert found.x.tolist() == xs
    assert found.x[-1] == (100.0 if share else 500.0)
    np.testing.assert_allclose(found.score_ax, scores)
    np.testing.assert_allclose(found.score_ax.mean(axis=0), 0.5)
    assert (found.algorithms, found.environments, found.left_out()) == (("a", "b", "c"), ("e", "f"), ())


def test_episodes_are_points_of_training_as_well() -> None:
    cells = {("a", "e"): returned([1, 2, 9], [1, 2, 9, 9]), ("b", "e"): returned([2, 2, 3], [])}
    found = efficiency_of(Histories(cells, 2))
    assert found.label == "episode"
    assert found.x.tolist() == [1.0, 2.0, 3.0]
    # Against itself a half; of the four pairs b wins two, then ties two, then wins none: one trial failed.
    assert found.score_ax[1].tolist() == [0.5, (0.5 + 0.25) / 2.0, 0.25]
    long = efficiency_of(Histories({cell: returned(list(range(400))) for cell in cells}, 2))
    assert long.x.tolist() == [20.0 * k for k in range(1, 21)]
    assert (long.score_ax == 0.5).all()


def test_environments_of_almost_the_same_length_share_an_axis() -> None:
    for length, label in ((1010.0, "step"), (1011.0, SHARE)):
        cells = {(a, e): stepped({1.0: 0.0, end: 1.0}) for a in "ab" for e, end in (("e", 1000.0), ("f", length))}
        found = efficiency_of(Histories(cells, 1, unit="step"))
        assert (found.label, found.x[-1]) == (label, 1000.0 if label == "step" else 100.0)


def test_what_has_no_curves_is_left_out_and_named() -> None:
    curve, none = stepped({1.0: 0.0, 2.0: 1.0}), stepped({})
    cells = {(a, e): curve for a in "abc" for e in "efg"} | {("b", "f"): none, ("d", "e"): none}
    del cells["c", "g"]
    found = efficiency_of(Histories(cells, 1))
    assert (found.algorithms, found.environments) == (("a", "b", "c"), ("e",))
    assert found.left_out(str.upper) == (
        "Left out, no learning curve: D.",
        "Left out, not every algorithm has a learning curve: F and G.",
    )
    two = efficiency_of(Histories(cells, 1), algorithms=["b", "a"], environments=["g", "e"])
    assert (two.algorithms, two.environments, two.left_out()) == (("b", "a"), ("g", "e"), ())
    assert sample_efficiency(Histories(cells, 1), algorithms=["a", "d"]) is None
    assert sample_efficiency(Histories({("a", "e"): curve, ("b", "f"): curve}, 1)) is None
    assert sample_efficiency(Histories({}, 1)) is None


def test_a_single_value_at_the_very_beginning_is_enough() -> None:
    cells = {(a, e): stepped({0.0: 1.0, **more}) for a in "ab" for e, more in (("e", {}), ("f", {9.0: 2.0}))}
    assert efficiency_of(Histories(cells, 1)).score_ax.tolist() == [[0.5], [0.5]]
    assert curve_of(cells["a", "e"]).x.tolist() == [0.0]


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
        ([None, 10**30, "a"], ("1e+30", "a", "None"), [1, 1, 1]),
        ([10**400, 1, 1], ("1", str(10**400)), [2, 1]),
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


@pytest.mark.parametrize(
    ("values", "distribution", "near_one"),
    [
        ([0.97, 0.98, 0.999], "1 - ln-uniform(0.001, 0.05)", True),
        ([0.97, 0.98, 1.0], "1 - ln-uniform(0, 0.05)", False),
        ([0.97, 0.98, 0.99], "1 - U(0, 0.05)", False),
        ([0.97, 0.98, 0.99], "ln-uniform(0.9, 0.99)", False),
    ],
)
def test_distances_from_one(values: list[float], distribution: str, near_one: bool) -> None:
    assert response_of(drawn(values, distribution=distribution)).near_one is near_one


def test_numbers_near_one_have_an_axis_of_their_own() -> None:
    np.testing.assert_allclose(from_one(np.array([0.0, 0.9, 0.999])), [0.0, 1.0, 3.0])
    assert near_one_ticks(0.5, 3.2) == [(1.0, "0.9"), (2.0, "0.99"), (3.0, "0.999")]


def test_names_come_in_the_order_of_the_cells() -> None:
    cells = {(a, e): drawn([1]) for a, e in (("b", "y"), ("b", "x"), ("a", "y"))}
    histories = Histories(cells, 1)
    assert algorithms_in(histories) == ("b", "a")
    assert environments_in(histories) == ("y", "x")
