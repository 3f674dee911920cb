"""Every check of a table: what makes it report, what does not, and that no table stops it."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import untuned
from untuned.diagnostics.axes import axes_evidence, smooth_columns
from untuned.diagnostics.diagnose import CHECKS, diagnose
from untuned.diagnostics.evidence import CERTAIN, combined, log_probability_of_exact_multiples
from untuned.diagnostics.finding import SEVERITIES, Finding
from untuned.diagnostics.order import is_sorted
from untuned.diagnostics.sample import distinct
from untuned.scores import Floats, ScoreTable


def normal(shape: tuple[int, ...], seed: int = 0) -> Floats:
    return np.random.default_rng(seed).normal(size=shape)


def found(scores: Any, code: str) -> Finding | None:
    table = scores if isinstance(scores, ScoreTable) else ScoreTable.from_array(scores)
    return next((finding for finding in diagnose(table) if finding.code == code), None)


def severity(scores: Any, code: str) -> str | None:
    finding = found(scores, code)
    return None if finding is None else finding.severity


def twice(scores: Floats) -> Floats:
    return np.concatenate([scores, scores], axis=-1)


#: Names of runs as arrays get them.
NUMBERED = np.array([f"#{number}" for number in range(1, 11)])


def named(scores: Floats, runs: Any) -> ScoreTable:
    """Return the table of an array with names of runs that fit its shape."""
    algorithm, environment, _ = np.indices(scores.shape)
    names, numbers = np.unique(np.broadcast_to(runs, scores.shape).astype(str), return_inverse=True)
    return ScoreTable.from_columns(
        ([f"a{number}" for number in range(scores.shape[0])], algorithm.ravel()),
        ([f"e{number}" for number in range(scores.shape[1])], environment.ravel()),
        scores.ravel(),
        run=(names.tolist(), numbers.ravel()),
    )


# All rows several times.


@pytest.mark.parametrize(
    "copied",
    [
        twice(normal((3, 6, 5))),
        np.repeat(normal((3, 6, 5)), 3, axis=2),
        np.sort(twice(normal((3, 6, 8))), axis=2),
        twice(np.random.default_rng(1).integers(0, 2, (4, 10, 12)).astype(float)),
    ],
)
def test_rows_that_are_pasted_several_times(copied: Floats) -> None:
    finding = found(copied, "repeated-runs")
    assert finding is not None
    assert finding.severity == "serious"
    assert "algorithm-1 on environment-1" in finding.where


def test_where_rows_are_pasted() -> None:
    scores = normal((3, 6, 24))
    scores[1, 2, 12:] = scores[1, 2, :12]
    finding = found(scores, "repeated-runs")
    assert finding is not None
    assert finding.where == ("algorithm-2 on environment-3",)
    assert "24 scores are 12 scores, twice" in finding.found


@pytest.mark.parametrize(
    "honest",
    [
        np.tile([0.0, 1.0], (6, 18, 5)) * 0 + 500,
        np.sort(np.tile([0.0, 1.0, 1.0, 0.0], (2, 2, 5)), axis=2),
        np.random.default_rng(0).integers(0, 2, (6, 18, 10)).astype(float),
        np.concatenate([twice(normal((3, 6, 5)))[:, :, :-1], normal((3, 6, 1), 1)], axis=2)[:, :1, :],
        normal((3, 6, 10)),
    ],
)
def test_rows_that_are_alike_by_chance(honest: Floats) -> None:
    assert found(honest, "repeated-runs") is None


def test_a_block_of_rows_that_is_pasted() -> None:
    scores = normal((3, 6, 60))
    scores[0, 0, 40:52] = scores[0, 0, 3:15]
    finding = found(scores, "repeated-runs")
    assert finding is not None
    assert finding.where == ("algorithm-1 on environment-1",)
    assert "12 rows" in finding.found
    scores[0, 0, 46] += 1.0
    assert found(scores, "repeated-runs") is None


def test_blocks_in_several_cells_are_evidence_together() -> None:
    scores = normal((3, 6, 30))
    scores[:, :, 20:] = scores[:, :, :10]
    assert severity(scores, "repeated-runs") == "serious"


def test_plateaus_are_not_pasted_blocks() -> None:
    rising = np.minimum(np.linspace(0.0, 1000.0, 100) + 20.0 * normal((4, 5, 100)), 500.0)
    assert found(rising, "repeated-runs") is None


def test_the_same_run_with_the_same_score_is_a_copy() -> None:
    assert severity(named(twice(normal((2, 2, 2))), [0, 1, 0, 1]), "repeated-runs") == "serious"
    assert severity(named(twice(normal((3, 6, 5))), np.arange(10)), "repeated-runs") == "serious"
    assert found(named(normal((2, 2, 4)), [0, 1, 2, 3]), "repeated-runs") is None


@pytest.mark.parametrize("noise", [0.0, 1e-12, 3e-11])
def test_copies_with_other_last_digits(noise: float) -> None:
    scores = 3.0 + normal((3, 6, 8))
    near = twice(scores) + noise * normal((3, 6, 16), 1)
    assert severity(near, "repeated-runs") == "serious"
    algorithms = np.concatenate([scores, scores[:1] * (1.0 + noise * normal((1, 6, 8), 2))])
    assert severity(algorithms, "identical-algorithms") == "warning"
    environments = np.concatenate([scores, 1000.0 + 7.0 * scores[:, :1] + noise * normal((3, 1, 8), 3)], axis=1)
    finding = found(environments, "copied-environments")
    assert finding is not None
    assert "up to the scale" in finding.found


def test_copies_that_were_printed_with_ten_digits() -> None:
    scores = 1000.0 + normal((3, 6, 8))
    printed = np.vectorize(lambda score: float(f"{score:.10g}"))(scores)
    assert severity(np.concatenate([scores, printed], axis=2), "repeated-runs") == "serious"
    assert severity(np.concatenate([scores, printed]), "identical-algorithms") == "warning"
    assert severity(np.concatenate([scores, printed], axis=1), "copied-environments") == "warning"


@pytest.mark.filterwarnings("error")
def test_scores_that_agree_in_nine_digits() -> None:
    def numbers(*scores: float) -> list[int]:
        values, levels, counts = distinct(np.array(scores))
        assert counts.tolist() == np.bincount(levels).tolist()
        assert values.size == counts.size
        return [int(each) for each in levels]

    assert numbers(2.0, 1.0, 1.0 + 1e-12, 2.0 - 1e-10) == [1, 0, 0, 1]
    assert numbers(1e-13, 0.0, -0.0, 5.0, 6.0) == [0, 0, 0, 1, 2]
    assert numbers(-1.7e308, 1.7e308, 1.7e308 * (1 - 1e-12)) == [0, 1, 1]
    assert numbers(0.0, 5e-324, 1e-323) == [0, 1, 2]
    # A large level takes no digits from scores that differ.
    assert numbers(*(1e12 + np.arange(5.0))) == [0, 1, 2, 3, 4]
    assert numbers() == []


# Curves.


def curves(shape: tuple[int, int, int], noise: float = 0.1) -> Floats:
    rising = 1.0 - np.exp(-3.0 * np.linspace(0.0, 1.0, shape[2]))
    return 10.0 * normal((shape[0], shape[1], 1), 5) + rising + noise * normal(shape)


def test_learning_curves_as_runs() -> None:
    finding = found(curves((3, 5, 20)), "curve-as-runs")
    assert finding is not None
    assert finding.severity == "serious"
    scores = normal((3, 5, 40))
    scores[1] = curves((1, 5, 40))[0]
    finding = found(scores, "curve-as-runs")
    assert finding is not None
    assert all(place.startswith("algorithm-2") for place in finding.where)


def test_a_slow_trend_under_much_noise() -> None:
    finding = found(normal((2, 2, 3000)) + np.linspace(0.0, 0.4, 3000), "curve-as-runs")
    assert finding is not None
    assert "steadily" in finding.found


def test_shuffled_curves_and_sorted_scores_are_no_curves() -> None:
    shuffled = np.random.default_rng(0).permuted(curves((3, 5, 20)), axis=2)
    assert found(shuffled, "curve-as-runs") is None
    assert found(np.sort(normal((3, 5, 20)), axis=2), "curve-as-runs") is None


def test_an_effect_of_seeds_is_no_curve() -> None:
    rising = normal((6, 18, 10)) + np.linspace(-2.0, 2.0, 10)
    assert severity(rising, "curve-as-runs") == "serious"
    # Seeds with names may have such effects by chance; numbers of rows, as in arrays, say nothing.
    assert found(named(rising, np.arange(10)), "curve-as-runs") is None
    array = replace(ScoreTable.from_array(rising), runs=(((NUMBERED,) * 18),) * 6)
    assert severity(array, "curve-as-runs") == "serious"
    waves = replace(array, cells=ScoreTable.from_array(normal((6, 18, 10)) + 2 * np.sin(np.arange(10))).cells)
    assert found(waves, "curve-as-runs") is None
    # Seeds of their own are independent, and so are the cells; and one cell can be enough.
    assert severity(named(rising, np.arange(1080).reshape(6, 18, 10)), "curve-as-runs") == "serious"
    assert severity(named(curves((2, 3, 100)), np.arange(100)), "curve-as-runs") == "serious"


def test_several_scores_of_one_run() -> None:
    finding = found(named(normal((2, 2, 6)), [0, 0, 0, 1, 1, 1]), "curve-as-runs")
    assert finding is not None
    assert "up to 3" in finding.found
    assert len(finding.where) == 4


# Sorted rows.


@pytest.mark.parametrize("sign", [1, -1])
def test_sorted_rows(sign: int) -> None:
    assert severity(sign * np.sort(normal((3, 5, 6)), axis=2), "sorted-rows") == "serious"
    scores = normal((3, 5, 30))
    scores[1, 1] = sign * np.sort(scores[1, 1])
    finding = found(scores, "sorted-rows")
    assert finding is not None
    assert finding.where == ("algorithm-2 on environment-2",)


@pytest.mark.parametrize(
    "names",
    [
        np.arange(1, 13),
        np.arange(12)[::-1],
        [f"seed-{number}" for number in range(12)],
        [f"{0.5 * number:g}" for number in range(-6, 6)],
        sorted(map(str, range(12))),
        np.zeros(12, dtype=int),
    ],
)
def test_runs_in_order_with_scores_in_order(names: Any) -> None:
    assert severity(named(np.sort(normal((2, 3, 12)), axis=2), names), "sorted-rows") == "serious"


@pytest.mark.parametrize("runs", [4, 5, 12, 30])
def test_rows_that_were_sorted_with_their_runs(runs: int) -> None:
    scores = normal((6, 18, runs))
    finding = found(named(np.sort(scores, axis=2), np.argsort(scores, axis=2)), "sorted-rows")
    assert finding is not None
    assert finding.severity == "note"
    assert len(finding.where) == 108


def test_scores_in_order_by_chance_are_not_sorted() -> None:
    scores = normal((3, 5, 5))
    scores[0] = np.sort(scores[0], axis=1)
    scores[1] = 7.0
    assert found(scores[:, :2], "sorted-rows") is None
    assert not is_sorted(np.array([]))
    assert not is_sorted(np.array([1.0]))
    assert not is_sorted(np.arange(12.0))
    assert is_sorted(np.arange(13.0))
    assert not is_sorted(np.repeat([0.0, 1.0], [1, 99]))


# Axes.


def test_swapped_axes() -> None:
    scores = 3.0 * normal((1, 9, 1), 1) + normal((4, 9, 1), 2) + normal((4, 9, 10), 3)
    assert found(scores, "swapped-axes") is None
    assert severity(np.swapaxes(scores, 1, 2), "swapped-axes") == "serious"
    assert axes_evidence(scores) == "environment-is-1"
    assert axes_evidence(np.swapaxes(scores, 1, 2)) == "environment-is-2"


def test_runs_with_names_are_not_environments() -> None:
    scores = normal((6, 18, 10)) + 3.0 * normal((1, 1, 10), 1)
    # The numbers 1 to n are what arrays get.
    assert severity(named(scores, NUMBERED), "swapped-axes") == "serious"
    assert found(named(scores, np.arange(10)), "swapped-axes") is None
    assert severity(named(scores, np.arange(10)), "shared-seeds") == "warning"
    assert severity(scores, "swapped-axes") == "serious"


def test_columns_that_are_points_of_curves() -> None:
    rising = 1.0 - np.exp(-np.arange(40) / 8.0)
    level = 1.0 + 0.4 * normal((2, 10, 1), 1)
    assert smooth_columns(list(level * rising + 0.05 * normal((2, 10, 40))))
    assert smooth_columns(list(level * rising + 0.3 * normal((2, 10, 40))))
    assert smooth_columns([-rising * level[0]])
    # No common level, but every run stays where it is.
    assert smooth_columns(list(np.cumsum(normal((2, 10, 40)), axis=2)))


def test_columns_that_are_environments() -> None:
    columns = normal((2, 10, 26)) + 5.0 * normal((1, 1, 26), 1) + normal((2, 10, 1), 2)
    assert not smooth_columns(list(columns))
    others: list[list[Any]] = [
        [],
        [np.arange(7.0) + normal((5, 7))],
        [np.ones((5, 9))],
        [np.full((5, 9), np.nan)],
        [np.zeros((0, 9))],
        [np.full((5, 9), "a")],
        [np.arange(40.0)],
        [np.arange(40.0) + normal((5, 40)), np.arange(39.0) + normal((5, 39))],
        [np.tile([1e308, -1e308], (3, 6))],
    ]
    assert not any(map(smooth_columns, others))


def test_axes_that_cannot_be_told() -> None:
    unclear: list[Any] = [
        normal((4, 9, 10)),
        curves((4, 9, 10)),
        np.sort(normal((4, 9, 10)), axis=2),
        normal((4, 2, 10)),
        normal((0, 3, 4)),
        np.ones((4, 9, 10)),
        normal((4, 9)),
        np.full((2, 3, 3), "a"),
        np.full((2, 4, 4), np.nan),
    ]
    assert [axes_evidence(each) for each in unclear] == ["unclear"] * len(unclear)
    assert found(np.sort(normal((6, 18, 5)), axis=2), "swapped-axes") is None


# Seeds.


def test_shared_seeds() -> None:
    scores = normal((3, 4, 20))
    assert severity(named(scores, np.arange(20)), "shared-seeds") == "note"
    assert severity(named(scores + 2.0 * normal((1, 4, 20), 1), np.arange(20)), "shared-seeds") == "warning"
    assert found(named(scores, np.arange(240).reshape(3, 4, 20)), "shared-seeds") is None
    assert found(scores, "shared-seeds") is None
    # The places of runs in an array, which an importer numbers.
    assert found(named(scores, [f"#{number}" for number in range(1, 21)]), "shared-seeds") is None
    few = found(named(scores[:, :, :2], np.arange(2)), "shared-seeds")
    assert few is not None
    assert "too few" in few.found


# Counts.


def test_failed_trials() -> None:
    table = ScoreTable.from_dict(
        {"a": {"x": [np.nan, np.nan]}, "b": {"x": [1.0, np.inf]}, "c": {"x": [1.0, 2.0]}},
        ranges=(0.0, 5.0),
        nonfinite="worst",
    )
    finding = found(table, "failed-trials")
    assert finding is not None
    assert finding.severity == "warning"
    assert finding.found == "All trials of a failed. 3 trials of 6 failed or had no finite score."
    assert finding.where == ("a: 2 of 2 trials", "b: 1 of 2 trials")
    assert found(normal((2, 2, 3)), "failed-trials") is None


def test_missing_few_and_unequal() -> None:
    table = ScoreTable.from_dict(
        {"a": {"x": [1.0, 2.0, 3.5], "y": []}, "b": {"x": [2.0], "y": [float(each) for each in range(12)]}}
    )
    missing = found(table, "missing-cells")
    assert missing is not None
    assert missing.where == ("a on y",)
    few = found(table, "few-runs")
    assert few is not None
    assert (few.severity, few.where) == ("warning", ("a on x", "b on x"))
    assert "1 cell has a single run" in few.found
    unequal = found(table, "unequal-runs")
    assert unequal is not None
    assert unequal.where == ("a on x", "b on x")


def test_enough_and_equal_runs() -> None:
    assert severity(normal((2, 2, 5)), "few-runs") == "note"
    enough = ScoreTable.from_dict({"a": {"x": np.arange(19.0), "y": np.ones(28)}, "b": {"x": np.arange(21.0)}})
    enough = enough.select(environments=["x"])
    assert all(found(enough, code) is None for code in ("few-runs", "unequal-runs", "missing-cells"))


def test_cells_with_a_tenth_fewer_runs() -> None:
    table = ScoreTable.from_dict(
        {"a": {"x": list(range(20))}, "b": {"x": list(range(18))}, "c": {"x": list(range(19))}}
    )
    finding = found(table, "unequal-runs")
    assert finding is not None
    assert (finding.severity, finding.where) == ("warning", ("b on x",))
    assert "from 18 to 20" in finding.found


def rows(runs: dict[str, list[int]]) -> ScoreTable:
    """Return the table of runs on one environment."""
    algorithms = list(runs)
    pairs = [(number, str(run)) for number, name in enumerate(algorithms) for run in runs[name]]
    names = list(dict.fromkeys(run for _, run in pairs))
    return ScoreTable.from_columns(
        (algorithms, np.array([number for number, _ in pairs])),
        (["maze"], np.zeros(len(pairs), dtype=int)),
        normal((len(pairs),)),
        run=(names, np.array([names.index(run) for _, run in pairs])),
    )


def test_runs_that_others_have() -> None:
    all_runs = list(range(10))
    finding = found(rows({"a": all_runs, "b": all_runs, "c": all_runs[:6]}), "unequal-runs")
    assert finding is not None
    assert finding.where == ("c on maze",)
    assert "c has no runs 6, 7, 8, 9 on maze, which others have." in finding.found
    # A crashed run that another seed replaced.
    finding = found(rows({"a": all_runs, "b": all_runs, "c": [0, 1, 2, 3, 4, 5, 6, 7, 8, 99]}), "unequal-runs")
    assert finding is not None
    assert finding.found == "c has no run 9 on maze, which others have."
    finding = found(
        rows({"a": list(range(20)), "b": list(range(11)), "c": list(range(20)), "d": [0, 1]}), "unequal-runs"
    )
    assert finding is not None
    assert "b has no runs 11, 12, 13, 14, 15 and 4 more on maze, which others have; 1 more cell lacks" in finding.found
    assert found(rows({"a": all_runs, "b": [each + 10 for each in all_runs]}), "unequal-runs") is None
    assert found(rows({"a": all_runs, "b": all_runs}), "unequal-runs") is None


# Names.


def test_similar_names() -> None:
    names = ["DQN", "dqn ", "d_q_n", "PPO"]
    table = ScoreTable.from_dict({name: {"Pong-v1": [1.0], "pong_v1": [2.0], "maze": [3.0]} for name in names})
    finding = found(table, "similar-names")
    assert finding is not None
    assert finding.severity == "warning"
    assert finding.where == ("'DQN', 'dqn ', 'd_q_n'", "'Pong-v1', 'pong_v1'")
    assert "2 groups" in finding.found


@pytest.mark.parametrize(
    "names",
    [("maze_1_1", "maze_11"), ("lr=1e-3", "lr=1e3"), ("x=-1", "x=1"), ("-1", "1"), ("ppo", "ppo2"), ("a+", "a")],
)
def test_names_that_differ(names: tuple[str, str]) -> None:
    assert found(ScoreTable.from_dict({name: {"x": [1.0]} for name in names}), "similar-names") is None


# Values.


def test_constant_cells() -> None:
    scores = normal((2, 3, 5))
    assert found(scores, "constant-cells") is None
    scores[0, :2] = 500.0
    assert severity(scores, "constant-cells") == "note"
    scores[0, 2] = 499.0
    finding = found(scores, "constant-cells")
    assert finding is not None
    assert finding.severity == "warning"
    assert "algorithm-1: on all environments" in finding.found


def test_rounding() -> None:
    scores = normal((3, 4, 10))
    assert found(scores, "suspicious-rounding") is None
    assert found(scores.round(2), "suspicious-rounding") is None
    scores[1] = scores[1].round(1)
    finding = found(scores, "suspicious-rounding")
    assert finding is not None
    assert finding.where == tuple(f"algorithm-2 on environment-{number}" for number in range(1, 5))
    tied = 0.5 + 0.1 * normal((2, 3, 200))
    assert severity(tied.round(2), "suspicious-rounding") == "note"
    assert found((100 * tied).round(), "suspicious-rounding") is None


# Copies.


def test_identical_algorithms() -> None:
    scores = normal((3, 4, 8))
    assert found(scores, "identical-algorithms") is None
    scores[2] = scores[0][:, ::-1]
    finding = found(scores, "identical-algorithms")
    assert finding is not None
    assert finding.severity == "warning"
    assert len(finding.where) == 4
    assert finding.where[0] == "algorithm-1 and algorithm-3 on environment-1"
    declared = ScoreTable.from_array(scores, identical=[["algorithm-1", "algorithm-3"]])
    assert found(declared, "identical-algorithms") is None


def test_algorithms_that_are_equal_by_chance() -> None:
    scores = np.random.default_rng(0).integers(0, 2, (5, 20, 6)).astype(float)
    scores[:3] = 1.0
    assert found(scores, "identical-algorithms") is None


def test_copied_environments() -> None:
    scores = normal((4, 5, 8)) + 5.0 * np.arange(4)[:, None, None]
    assert found(scores, "copied-environments") is None
    copied = scores.copy()
    copied[:, 3] = 2.0 * copied[:, 1, ::-1] + 7.0
    finding = found(copied, "copied-environments")
    assert finding is not None
    assert finding.where == ("environment-2 and environment-4",)
    near = scores.copy()
    near[:, 3] = np.exp(near[:, 1]) + 1e-3 * normal((4, 8), 2)
    finding = found(near, "copied-environments")
    assert finding is not None
    assert "rank correlation" in finding.found


def test_environments_that_agree_are_no_copies() -> None:
    scores = 0.01 * normal((4, 5, 8)) + 5.0 * np.arange(4)[:, None, None]
    assert found(scores, "copied-environments") is None
    assert found(np.sort(scores, axis=2), "copied-environments") is None
    falling = np.concatenate([scores[:, :1], -scores[:, :1]], axis=1)
    assert found(falling, "copied-environments") is None


def test_copies_by_the_names_of_runs() -> None:
    scores = normal((4, 2, 10))
    order = np.random.default_rng(3).permutation(10)
    scores[:, 1] = np.exp(scores[:, 0, order])
    runs = np.stack([np.arange(10), np.arange(10)[order]])[None]
    assert severity(named(scores, runs), "copied-environments") == "warning"
    assert found(named(scores, np.arange(10)), "copied-environments") is None


# Evidence.


def test_evidence_of_cells() -> None:
    assert combined([], 5) == -np.inf
    # One cell of many, and all of them; constant factors are the price of not knowing which.
    assert combined([np.log(1e14)], 1000) > CERTAIN
    assert combined([np.log(1e10)], 1000) < CERTAIN
    assert combined([np.log(2.0)] * 100, 100) > CERTAIN
    assert combined([0.0] * 100, 100) <= 1e-9


def test_the_probability_of_pairs() -> None:
    # Two values twice each, of four draws: 6/16 if both are equally likely, and less otherwise.
    assert np.exp(log_probability_of_exact_multiples(2, 2)) == pytest.approx(6 / 16)


# All of them.


def test_findings_are_in_order_and_tuning_is_always_last() -> None:
    scores = twice(normal((3, 6, 5)))
    scores[0, 0] = 1.0
    findings = diagnose(ScoreTable.from_array(scores))
    order = [SEVERITIES.index(finding.severity) for finding in findings]
    assert order == sorted(order)
    assert findings[0].code == "repeated-runs"
    assert findings[-1].code == "tuned"
    assert findings == diagnose(ScoreTable.from_array(scores))


def test_a_finding_has_the_code_of_its_check() -> None:
    table = named(twice(normal((2, 3, 3))), [0, 1, 2, 0, 1, 2])
    assert {finding.code for finding in diagnose(table)} <= set(CHECKS)


SCORES = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0.0, -0.0, 1.0, 500.0, 1e308, -1e308, 5e-324, 0.1]),
)
CELLS = st.one_of(
    st.lists(SCORES, max_size=8),
    st.lists(SCORES, min_size=1, max_size=5).map(lambda scores: scores * 12),
    st.integers(0, 40).map(lambda size: [1.7e308 * (-1) ** number for number in range(size)]),
    st.integers(0, 40).map(lambda size: list(map(float, range(size)))),
)


@given(st.data())
def test_no_table_stops_the_checks(data: st.DataObject) -> None:
    n, m = data.draw(st.integers(0, 4)), data.draw(st.integers(0, 4))
    table = ScoreTable.from_array([[data.draw(CELLS) for _ in range(m)] for _ in range(n)])
    if data.draw(st.booleans()):
        names = st.sampled_from(["1", "2", "3", ""])
        rows = [[[data.draw(names) for _ in cell] for cell in row] for row in table.cells]
        runs = tuple(tuple(np.array(each, dtype=np.str_) for each in row) for row in rows)
        failed = np.array([[min(1, cell.size) for cell in row] for row in table.cells], dtype=np.int64)
        table = replace(table, runs=runs, failed_ae=failed.reshape(table.trials.shape))
    for finding in diagnose(table):
        assert finding.severity in SEVERITIES
        assert finding.found.endswith(".")
        assert all(isinstance(place, str) for place in finding.where)
    untuned.check(table).to_json()


# The door.


def test_check_in_python() -> None:
    diagnosis = untuned.check(twice(normal((3, 6, 5))), axes="algorithm,environment,run")
    assert isinstance(diagnosis, untuned.Diagnosis)
    assert [finding.code for finding in diagnosis.serious] == ["repeated-runs"]
    assert json.loads(diagnosis.to_json()) == diagnosis.to_dict()
    text = str(diagnosis)
    assert text == repr(diagnosis)
    assert text.startswith("3 algorithms x 6 environments x 10 runs from an array")
    assert "\n\nserious: repeated-runs\n" in text
    assert "... and 13 more" in text
    assert text.endswith("\n\n1 serious, 1 note")


def test_a_table_without_scores() -> None:
    empty = untuned.check({})
    assert empty.findings == ()
    assert str(empty) == "0 algorithms x 0 environments x 0 runs\n\nnothing found"


def test_check_takes_reading_options() -> None:
    scores = {"a": {"x": [1.0, np.nan]}, "b": {"x": [2.0, 3.0]}}
    diagnosis = untuned.check(scores, ranges=(0.0, 5.0), nonfinite="worst")
    assert "failed-trials" in [finding.code for finding in diagnosis.findings]
    (serious,) = untuned.check(scores).serious
    assert (serious.code, serious.where) == ("not-finite", ("a on x",))
    with pytest.raises(untuned.UnknownName):
        untuned.check(scores, deltas=0.1)
