"""Evaluating: every option, what comes back in every form, what the paper printed, and mistakes refused in words."""

import copy
import csv
import dataclasses
import io
import json
import math
import pickle
import threading
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

import untuned
from support.judging import evaluate
from support.reporting import rounded
from untuned.errors import InvalidInput, UnknownName
from untuned.evaluation import Evaluation
from untuned.judge.game import aggregate, equilibrium
from untuned.judge.intervals.dkw import levels, margin, mean_interval, mean_intervals
from untuned.judge.judging import Judging
from untuned.judge.methods import METHODS, boxes, method
from untuned.judge.percentiles import percentiles
from untuned.judge.pool import pools
from untuned.judge.propagate import Bounds, Solution, propagated, solutions
from untuned.judge.ranks import ranks
from untuned.scores import Floats, ScoreTable

RANGE = (-10.0, 10.0)

Scores = dict[str, dict[str, ArrayLike]]

#: Every method, and the paper's ones with its conventions too.
COMBINATIONS = [
    (name, conventions)
    for name, each in METHODS.items()
    for conventions in (("valid", "paper") if each.published else ("valid",))
]


def table(trials: int = 40, **options: Any) -> ScoreTable:
    rng = np.random.default_rng(7)
    scores = {
        algorithm: {place: rng.normal(shift, 1.0, trials) for place in ("hill", "maze")}
        for algorithm, shift in (("middle", 1.0), ("worst", 0.0), ("best", 2.5))
    }
    return ScoreTable.from_dict(scores, **{"ranges": RANGE, **options})


# --- what comes back


def test_scores_are_those_of_the_percentiles_under_the_equilibrium() -> None:
    found = evaluate(table())
    z = percentiles(pools(table())).z_aer
    np.testing.assert_array_equal(found.percentiles.z_aer, z)
    np.testing.assert_array_equal(found.q_er, equilibrium(z).q_er)
    np.testing.assert_array_equal(found.score_a, aggregate(z, found.q_er))
    assert found.algorithms == ("middle", "worst", "best")
    assert found.order == (2, 0, 1)
    assert found.ranks.rank.tolist() == [2, 3, 1]
    assert found.trials_ae.tolist() == [[40, 40]] * 3
    assert found.environment_weights == pytest.approx(found.q_er.sum(axis=1))
    assert found.reference_weights == pytest.approx(found.q_er.sum(axis=0))
    assert found.interval("best") == (found.low_a[2], found.high_a[2])
    with pytest.raises(UnknownName, match="did you mean 'best'"):
        found.interval("bets")


@pytest.mark.parametrize(("intervals", "conventions"), COMBINATIONS)
def test_only_guarantees_under_valid_conventions_are_called_valid(intervals: str, conventions: Any) -> None:
    found = evaluate(table(), intervals=intervals, conventions=conventions, resamples=20)
    guaranteed = METHODS[intervals].guaranteed
    valid = guaranteed and conventions == "valid"
    assert found.valid is valid
    assert found.method == intervals
    assert ("approximate" in found.claim) is not valid
    assert any("approximate" in warning for warning in found.warnings) is not guaranteed
    assert any("paper's conventions" in warning for warning in found.warnings) is (conventions == "paper")
    assert found.settings["conventions"] == conventions
    assert found.settings["payoff"] == ("mid-rank" if conventions == "valid" else "at-most")


@pytest.mark.parametrize("intervals", [name for name, each in METHODS.items() if not each.published])
def test_the_papers_conventions_go_with_its_methods_alone(intervals: str) -> None:
    message = "conventions='paper' goes with the paper's methods, pbp, pbp-t and bootstrap: .*'valid'"
    with pytest.raises(InvalidInput, match=message):
        evaluate(table(), intervals=intervals, conventions="paper")
    pooled = pools(table())
    with pytest.raises(InvalidInput, match=message):
        boxes(method(intervals), table(), pooled, percentiles(pooled, "at-most"), 0.1, "paper")


def test_methods_are_known_by_their_names() -> None:
    assert [name for name, each in METHODS.items() if each.published] == ["pbp", "pbp-t", "bootstrap"]
    assert {name for name, each in METHODS.items() if not each.guaranteed} == {"pbp-t", "bootstrap", "wilson"}
    with pytest.raises(UnknownName, match="interval method is called 'bpb'"):
        method("bpb")
    pooled = pools(table())
    with pytest.raises(ValueError, match="no intervals on percentiles"):
        boxes(method("bootstrap"), table(), pooled, percentiles(pooled), 0.1, "valid")


def test_settings_say_what_was_done() -> None:
    always = {"intervals", "delta", "weights", "conventions", "payoff"}
    assert set(evaluate(table()).settings) == always | {"slack", "refine", "functional", "shares"}
    assert set(evaluate(table(), weights="game").settings) == always | {"slack", "refine", "functional"}
    assert set(evaluate(table(), weights="uniform").settings) == always
    assert evaluate(table()).settings["functional"] == 0.0
    assert set(evaluate(table(), conventions="paper").settings) == always | {"slack"}
    found = evaluate(table(), intervals="bootstrap", resamples=20, seed=3, weights="uniform")
    assert dict(found.settings) == {
        "intervals": "bootstrap",
        "delta": 0.05,
        "weights": "uniform",
        "conventions": "valid",
        "payoff": "mid-rank",
        "resamples": 20,
        "seed": 3,
    }
    assert evaluate(table(), weights=[1, 2]).settings["weights"] == "given"
    kept = evaluate(table(provenance=MappingProxyType({"file": "scores.csv"})))
    assert dict(kept.provenance) == {"file": "scores.csv"}


def test_a_smaller_delta_gives_wider_intervals() -> None:
    wide, narrow = (evaluate(table(), delta=delta) for delta in (0.001, 0.5))
    assert (wide.high_a - wide.low_a > narrow.high_a - narrow.low_a).all()
    assert wide.delta == 0.001


def test_the_bootstraps_seed_and_number_of_resamples_matter() -> None:
    def ends(**options: Any) -> object:
        return evaluate(table(), intervals="bootstrap", **options).low_a.tolist()

    assert ends(resamples=30) == ends(resamples=30, seed=0, workers=2)
    assert ends(resamples=30) != ends(resamples=30, seed=1)
    assert ends(resamples=30) != ends(resamples=31)


#: What is told by each method, and how much of it there is for 3 algorithms: bounds from two sides, ordered pairs.
STEPS = {"pbp": {"bounds": 6, "pairs": 6}, "bootstrap": {"resamples": 25}}


@pytest.mark.parametrize("intervals", STEPS)
@pytest.mark.parametrize("workers", [1, 3])
def test_progress_is_told_in_order_and_in_the_callers_thread(intervals: str, workers: int) -> None:
    told = []

    def progress(*step: object) -> None:
        told.append((*step, threading.get_ident()))

    evaluate(table(), intervals=intervals, weights="game", resamples=25, workers=workers, progress=progress)
    assert told == [
        (what, done, total, threading.get_ident())
        for what, total in STEPS[intervals].items()
        for done in range(total + 1)
    ]


def test_published_bounds_have_no_pairs_to_solve() -> None:
    told = []
    evaluate(table(), conventions="paper", progress=lambda *step: told.append(step))
    assert told == [("bounds", done, 6) for done in range(7)]


# --- forms


BEFOREHAND = "all intervals and verdicts hold, if the numbers of trials were chosen beforehand."


def test_it_prints_as_a_table() -> None:
    found = evaluate(table(trials=400))
    lines = repr(found).splitlines()
    assert lines.pop(0) == "Evaluation of 3 algorithms on 2 environments"
    for each, heading in zip(
        found.each_ranking, ("Equal weights (pooled)", "The game's weights (pairing)"), strict=True
    ):
        assert lines.pop(0) == heading
        top = lines.pop(0)
        assert top.split() == ["algorithm", "score", "low", "high", "rank", "(worst,", "best)"]
        for row in each.rows():
            line = lines.pop(0)
            rank = f"{row['rank']} ({row['rank_low']}, {row['rank_high']})"
            name, *numbers = line.split()[:4]
            assert name == row["name"]
            assert all(map(rounded, numbers, (row[key] for key in ("score", "low", "high"))))
            assert line.split()[4:] == rank.split()
            assert line.index(numbers[0]) == top.index("score")
        assert lines[: len(each.verdicts)] == list(each.verdicts)
        assert each.verdicts[0] == "From best to worst: best, middle, worst."
        assert each.verdicts[-1] == "All 3 pairs are decided."
        del lines[: len(each.verdicts)]
    assert lines[:-1] == list(found.comparison)
    assert lines[-1] == f"With probability at least 95 %, {BEFOREHAND}"


@pytest.mark.parametrize(
    ("delta", "percent"),
    [(0.05, "95"), (0.5, "50"), (0.07, "93"), (0.001, "99.9"), (1e-12, "99.9999999999"), (0.1, "90")],
)
def test_the_claim_is_exact(delta: float, percent: str) -> None:
    claim = evaluate(table(), delta=delta, refine=0).claim
    assert claim == f"With probability at least {percent} %, {BEFOREHAND}"
    anytime = evaluate(table(), intervals="betting", delta=delta, refine=0).claim
    assert anytime == (
        f"With probability at least {percent} %, all intervals and verdicts hold, however often you look, unless "
        "algorithms, environments, weights or delta were chosen because of what was seen."
    )
    declared = evaluate(table(), intervals="betting", delta=delta, refine=0, max_algorithms=5).claim
    assert declared.endswith(
        "however often you look, also if algorithms are added, up to 5 in all, but no environments."
    )
    weaker = evaluate(table(), delta=delta, conventions="paper").claim
    assert weaker == (
        f"Intervals and verdicts are approximate: they aim at {percent} % together and do not guarantee it."
    )


NASTY = "<script>alert('&')</script>"


def test_a_notebook_shows_names_as_text() -> None:
    rng = np.random.default_rng(1)
    scores: Scores = {
        NASTY: {"a": rng.normal(size=9), "b": []},
        "plain": {"a": rng.normal(size=9), "b": rng.normal(size=9)},
    }
    page = evaluate(ScoreTable.from_dict(scores))._repr_html_()
    assert "<script" not in page
    # Of two rankings each in its row and in the verdicts; and in the warning.
    assert page.count("&lt;script&gt;alert(&#x27;&amp;&#x27;)&lt;/script&gt;") == 5
    assert page.startswith("<table>")
    assert page.count("<tr>") == 2 * 3
    assert "cells have no trials" in page


def test_a_notebook_shows_intervals_as_drawings_and_has_short_ways_to_more() -> None:
    rng = np.random.default_rng(1)
    found = evaluate(ScoreTable.from_dict({name: {"a": rng.normal(mean, size=40)} for mean, name in enumerate("pqr")}))
    page = found._repr_html_()
    assert page.count("<svg") == 3
    for row in found.rows():
        assert f'aria-label="{row["low"]:.2f} to {row["high"]:.2f}"' in page
        assert f'cx="{4 + 152 * row["score"]:.1f}"' in page
        assert (row["rank_worst"], row["rank_best"]) == (row["rank_low"], row["rank_high"])
        assert found.score(row["name"]) == row["score"]
    assert len(found.to_pandas()) == 3
    assert list(found.to_pandas()["name"]) == [row["name"] for row in found.rows()]
    assert "\\label{tab:mine}" in found.to_latex("tab:mine")
    assert [tick.get_text() for tick in found.plot().get_yticklabels()] == [row["name"] for row in found.rows()]


def test_intervals_that_say_nothing_are_left_out_with_a_sentence() -> None:
    rng = np.random.default_rng(1)
    scores = {name: {f"e{e}": rng.normal(4 * k, size=3) for e in range(9)} for k, name in enumerate("pqr")}
    found = evaluate(ScoreTable.from_dict(scores))
    for shown in (repr(found), found._repr_html_()):
        assert shown.count("Intervals say nothing with so few trials, and are left out.") == 1
    assert found._repr_html_().count("<svg") == 3


def test_frame_and_rows_have_the_best_first() -> None:
    found = evaluate(table())
    frame = found.to_frame()
    assert frame.columns == ["name", "score", "low", "high", "rank", "rank_low", "rank_high", "rank_worst", "rank_best"]
    assert frame["name"].to_list() == ["best", "middle", "worst"]
    assert frame.to_dicts() == found.rows()
    for row in found.rows():
        assert row["rank_high"] <= row["rank"] <= row["rank_low"]


def no_odd_numbers(text: str) -> Any:
    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    return json.loads(text, parse_constant=refuse)


@pytest.mark.parametrize("intervals", METHODS)
def test_json_holds_everything(intervals: str) -> None:
    found = evaluate(table(ranges=None), intervals=intervals, resamples=20)
    content = no_odd_numbers(found.to_json())
    assert content == found.to_dict()
    of_a_ranking = ("weights", "method", "algorithms", "pairs", "groups", "partial_order", "verdicts")
    assert {*of_a_ranking, "valid", "anytime", "delta", "rankings", "head_to_head", "claim"} <= set(content)
    assert {"comparison", "next_steps", "statement", "approximate"} <= set(content)
    assert {"environments", "references", "settings", "provenance", "warnings"} <= set(content)
    assert [each["weights"] for each in content["rankings"]] == [each.weights for each in found.rankings]
    assert content["rankings"][0] == {name: content[name] for name in of_a_ranking}
    assert content["method"] == intervals
    assert content["valid"] is METHODS[intervals].guaranteed
    assert content["delta"] == 0.05
    assert content["algorithms"] == found.rows()
    assert [place["name"] for place in content["environments"]] == ["hill", "maze"]
    assert sum(place["weight"] for place in content["environments"]) == pytest.approx(1.0)
    assert [reference["name"] for reference in content["references"]] == ["middle", "worst", "best"]
    assert sum(reference["weight"] for reference in content["references"]) == pytest.approx(1.0)
    for e, place in enumerate(content["environments"]):
        assert place["range"] == [None, None]
        assert list(place["references"].values()) == found.q_er[e].tolist()
        assert [row["name"] for row in place["algorithms"]] == ["best", "middle", "worst"]
        assert all(row["mean_low"] is None and row["mean_high"] is None for row in place["algorithms"])
    assert "\n" not in found.to_json(indent=None)


def test_json_holds_percentiles_on_demand() -> None:
    found = evaluate(table())
    content = no_odd_numbers(found.to_json(percentiles=True))["percentiles"]
    assert content["order"] == ["algorithm", "environment", "reference"]
    assert content["z"] == found.percentiles.z_aer.tolist()
    assert content["low"] == np.asarray(found.percentiles.low_aer).tolist()
    assert content["high"] == np.asarray(found.percentiles.high_aer).tolist()
    few = evaluate(table(), intervals="bootstrap", resamples=5)
    content = no_odd_numbers(few.to_json(percentiles=True))["percentiles"]
    assert content["low"] is None
    assert content["high"] is None


def test_json_holds_names_of_any_script() -> None:
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(2, 2, 5))
    found = evaluate(ScoreTable.from_array(scores, ["à\n\"'", "算法"], ["x\t", "\u202ey"]))
    assert {row["name"] for row in no_odd_numbers(found.to_json())["algorithms"]} == {"à\n\"'", "算法"}
    assert "算法" in found.to_json()
    assert "算法" in repr(found)


def test_numpys_numbers_are_numbers() -> None:
    found = evaluate(
        table(),
        intervals="bootstrap",
        delta=np.float32(0.25),
        resamples=np.int64(20),
        seed=np.uint8(3),
        workers=np.int32(1),  # type: ignore[arg-type]
    )
    same = evaluate(table(), intervals="bootstrap", delta=0.25, resamples=20, seed=3)
    assert found.to_json() == same.to_json()


# --- few, missing, equal


def test_cells_without_trials_count_as_unknown() -> None:
    full = table()
    scores = {(a, e): full.cell(a, e) for a in full.algorithms for e in full.environments if (a, e) != ("best", "maze")}
    found = evaluate(ScoreTable.from_dict(scores, ranges=RANGE))
    maze = found.environments.index("maze")
    best = found.algorithms.index("best")
    others = [a for a in range(3) if a != best]
    assert (found.percentiles.z_aer[best, maze] == 0.5).all()
    assert (np.asarray(found.percentiles.low_aer)[best, maze, others] == 0.0).all()
    assert (np.asarray(found.percentiles.high_aer)[others, maze, best] == 1.0).all()
    assert found.warnings == (
        "1 of 6 cells have no trials (best on maze): their percentiles count as 1/2 in the scores, and as anything "
        "from 0 to 1 in the intervals.",
    )
    assert math.isnan(found.means.mean_ae[best, maze])
    assert (found.means.low_ae[best, maze], found.means.high_ae[best, maze]) == RANGE
    last = [row for row in found.environment_rows() if row["environment"] == "maze"][-1]
    assert last["algorithm"] == "best"
    assert last["mean"] is None
    assert last["rank"] is None
    assert (last["rank_low"], last["rank_high"]) == (3, 1)
    no_odd_numbers(found.to_json(percentiles=True))
    with pytest.raises(InvalidInput, match="'best' has no trials on 'maze': bootstrap cannot draw"):
        evaluate(ScoreTable.from_dict(scores), intervals="bootstrap")


def test_many_missing_cells_are_counted_and_three_named() -> None:
    scores: Scores = {"a": {"w": [1.0], "x": [1.0], "y": [2.0], "z": [1.0]}, "b": {"w": [0.0]}, "c": {"w": []}}
    sparse = ScoreTable.from_dict(scores)
    (warning,) = evaluate(sparse).warnings
    assert warning.startswith("7 of 12 cells have no trials (b on x, b on y, b on z, ...)")
    with pytest.raises(InvalidInput, match="and 6 more cells are empty"):
        evaluate(sparse, intervals="bootstrap")


def test_a_cell_declared_identical_to_a_measured_one_is_not_missing() -> None:
    scores: Scores = {
        "a": {"x": [1.0, 3.0], "y": [2.0, 5.0]},
        "b": {"x": [2.0, 4.0], "y": [1.0]},
        "c": {"x": [], "y": []},
    }
    shared = ScoreTable.from_dict(scores, identical=[["a", "c"]])
    assert evaluate(shared).warnings == ()
    found = evaluate(shared, intervals="bootstrap", resamples=10)
    assert found.low_a[0] == pytest.approx(found.low_a[2], abs=1e-12)
    assert not any("no trials" in warning for warning in found.warnings)


@pytest.mark.parametrize("intervals", METHODS)
def test_one_trial_in_a_cell(intervals: str) -> None:
    scores = {"a": {"x": [1.0], "y": [2.0]}, "b": {"x": [0.0, 1.0], "y": [3.0, 1.0]}}
    found = evaluate(ScoreTable.from_dict(scores), intervals=intervals, resamples=20)
    assert np.isfinite(found.low_a).all()
    assert (found.low_a <= found.score_a).all()
    assert (found.score_a <= found.high_a).all()
    few = "The smallest cell has 1 trial, too few for an approximate method."
    assert (few in found.warnings) is not METHODS[intervals].guaranteed
    if intervals in ("pbp-t", "wilson"):
        # A single trial has no variance.
        assert np.asarray(found.percentiles.low_aer)[0, 0, 1] == 0.0
        assert np.asarray(found.percentiles.high_aer)[0, 0, 1] == 1.0


@pytest.mark.parametrize(("intervals", "conventions"), COMBINATIONS)
@pytest.mark.parametrize("delta", [0.5, 0.05, 1e-17])
def test_constant_scores(intervals: str, conventions: Any, delta: float) -> None:
    constant = ScoreTable.from_array(np.full((3, 2, 5), 4.0))
    found = evaluate(constant, intervals=intervals, conventions=conventions, resamples=5, delta=delta)
    assert np.ptp(found.score_a) < 1e-12
    assert found.ranks.rank.tolist() == [1] * 3
    assert found.ranks.best.tolist() == [1] * 3
    assert found.ranks.worst.tolist() == [3] * 3
    if conventions == "valid":
        np.testing.assert_allclose(found.score_a, 0.5, atol=1e-12)
    no_odd_numbers(found.to_json(percentiles=True))


def test_scores_of_any_size() -> None:
    huge = [[[1e308, 1e308, 1e308], [0.0, -0.0]], [[-1e308, 1e308], [5e-324, -5e-324]]]
    found = evaluate(ScoreTable.from_array(huge))
    assert found.means.mean_ae[0, 0] == pytest.approx(1e308)
    # Zero is neither above nor below its negative, and the smallest number is above both.
    assert found.percentiles.z_aer[0, 1, 1] == 0.5
    assert found.percentiles.z_aer[0, 0, 1] == 0.75
    near = np.nextafter(1.0, 2.0)
    found = evaluate(ScoreTable.from_array([[[1.0], [1.0]], [[near], [near]]]))
    assert found.percentiles.z_aer[1, 0, 0] == 1.0


def test_whole_numbers_and_truth_values_are_scores() -> None:
    rng = np.random.default_rng(2)
    scores = rng.integers(2, size=(3, 2, 9))
    expected = evaluate(ScoreTable.from_array(scores.astype(float))).to_json()
    assert evaluate(ScoreTable.from_array(scores)).to_json() == expected
    assert evaluate(ScoreTable.from_array(scores.astype(bool))).to_json() == expected


# --- weights


def test_fixed_weights_average_the_intervals() -> None:
    """The paper's lemma: with weights that were chosen beforehand, the ends of y are the weighted ends of z."""
    found = evaluate(table(), intervals="pairing", weights={"hill": 1, "maze": 3})
    np.testing.assert_allclose(found.q_er, [[1 / 12] * 3, [3 / 12] * 3])
    for values, of in (
        (found.score_a, found.percentiles.z_aer),
        (found.low_a, found.percentiles.low_aer),
        (found.high_a, found.percentiles.high_aer),
    ):
        np.testing.assert_allclose(values, (np.asarray(of) * found.q_er).sum(axis=(1, 2)), atol=1e-14)
    same = (
        [1, 3],
        np.array([0.25, 0.75]),
        [[1, 1, 1], [3, 3, 3]],
        {(e, r): w for e, w in (("hill", 2), ("maze", 6)) for r in ("best", "middle", "worst")},
        [1e307, 3e307],
        [1e-310, 3e-310],
    )
    for weights in same:
        again = evaluate(table(), intervals="pairing", weights=weights)
        np.testing.assert_allclose(again.low_a, found.low_a, atol=1e-12)


def test_uniform_weights() -> None:
    found = evaluate(table(), weights="uniform")
    np.testing.assert_allclose(found.q_er, 1 / 6)
    np.testing.assert_allclose(found.score_a, found.percentiles.z_aer.mean(axis=(1, 2)))
    resampled = evaluate(table(), weights="uniform", intervals="bootstrap", resamples=50)
    np.testing.assert_allclose(resampled.score_a, found.score_a)
    assert (resampled.low_a < found.score_a).all()
    assert (found.score_a < resampled.high_a).all()


def test_one_environment_needs_weights() -> None:
    one = table().select(environments=["hill"])
    with pytest.raises(InvalidInput, match="one environment, 'hill': the game has no environments to weigh"):
        evaluate(one, weights="game")
    for weights in (None, "both", "uniform"):
        found = evaluate(one, weights=weights)
        assert [each.weights for each in found.rankings] == ["uniform"]
        assert found.score_a[2] > 0.5
        assert found.derived.shares is None
    only = evaluate(one, weights={("hill", "worst"): 1.0})
    np.testing.assert_array_equal(only.score_a, only.percentiles.z_aer[:, 0, 1])


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ("even", "weights='even': pass 'game'"),
        ({"hil": 1.0}, "did you mean 'hill'"),
        ({("hill", "bets"): 1.0}, "did you mean 'best'"),
        ({("hill", "best", "worst"): 1.0}, "has 3 parts: keys are"),
        ({"hill": "much"}, "the weight of 'hill' is 'much'"),
        ({}, "all weights are 0"),
        ([0, 0], "all weights are 0"),
        ([1, -1], "none of them negative"),
        ([1, math.nan], "finite"),
        ([1, math.inf], "finite"),
        ([1, 2, 3], r"shape \(3,\): pass one per environment, \(2,\), or one per environment and reference, \(2, 3\)"),
        ([["a"]], "not numbers"),
        ([[1, 2], [3]], "not numbers"),
        (3.0, r"shape \(\)"),
    ],
)
def test_weights_that_are_none(weights: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        evaluate(table(), weights=weights)


# --- mistakes


@pytest.mark.parametrize(
    ("options", "message"),
    [
        *(({"delta": delta}, r"outside \(0, 0.5\]") for delta in (0, 0.0, -0.1, 0.51, 1, math.nan, math.inf)),
        *(({"delta": delta}, "is not a number") for delta in ("0.05", None, True, [0.1])),
        *(({"resamples": number}, "resamples=.* at least 1") for number in (0, -1, 1.5, "many", None, True)),
        *(({"seed": number}, "seed=.* at least 0") for number in (-1, 1.5, "x", None)),
        *(({"workers": number}, "workers=.* at least 1") for number in (0, -2, 1.5, "2")),
        ({"conventions": "published"}, "conventions='published': pass 'valid' or 'paper'"),
        ({"conventions": None}, "pass 'valid' or 'paper'"),
        ({"intervals": "pbpt"}, "did you mean 'pbp-t'|did you mean 'pbp'"),
        ({"intervals": ["pbp"]}, "no interval method is called"),
    ],
)
def test_options_that_are_not_allowed(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        evaluate(table(), **options)


def test_tables_that_say_nothing() -> None:
    with pytest.raises(InvalidInput, match="there is one algorithm, 'best'"):
        evaluate(table().select(algorithms=["best"]))
    for empty in (
        ScoreTable.from_dict({}),
        ScoreTable.from_dict({"a": {"x": [], "y": []}, "b": {"x": []}}),
        table().select(environments=[]),
        table().select(algorithms=[]),
    ):
        with pytest.raises(InvalidInput, match="there are no scores"):
            evaluate(empty)


# --- what the paper printed

#: Jordan et al. (2020), table of aggregate performance by the three methods: algorithm, score, then per method the ends
#: of the interval and the worst and best rank; PBP, PBP-t, bootstrap.
AGGREGATES = """\
sarsa-parl2,0.462302,0.390445,0.553741,2,1,0.448929,0.474436,2,1,0.456154,0.465939,2,1
q-parl2,0.452319,0.378233,0.563269,2,1,0.435036,0.483923,2,1,0.446313,0.463339,2,1
ac-parl2,0.157809,0.076544,0.312941,11,3,0.127526,0.177693,3,3,0.146321,0.162593,3,3
sarsa-s,0.093013,0.033725,0.227599,11,3,0.077658,0.105602,8,4,0.087384,0.096258,5,4
ac-s,0.085137,0.030509,0.214590,11,3,0.071644,0.096456,9,4,0.080021,0.088137,7,4
sarsa,0.083090,0.028978,0.201945,11,3,0.069240,0.094989,9,4,0.077554,0.086344,7,5
ac,0.078468,0.027506,0.203338,11,3,0.066170,0.089503,9,4,0.073891,0.081567,7,5
q-s,0.068869,0.023735,0.197328,11,3,0.058423,0.079067,11,4,0.065150,0.071162,9,8
q,0.064017,0.021448,0.178041,11,3,0.054111,0.073468,11,5,0.060428,0.066481,9,8
nac-td,0.051574,0.018024,0.163611,11,3,0.043800,0.060905,11,8,0.049320,0.053332,11,10
ppo,0.050808,0.016893,0.174878,11,3,0.045000,0.060008,11,8,0.048798,0.052461,11,10
"""

#: The same paper's table of mean performance on cart-pole and mountain-car: mean, ends, rank, worst, best.
MEANS = {
    "cart-pole": """\
sarsa-parl2,469.2,448.3,490.0,1,2,1
q-parl2,450.3,429.6,471.1,2,2,1
ac-parl2,390.4,369.7,411.2,3,3,3
sarsa-s,347.5,326.5,368.4,4,7,4
q-s,345.5,324.5,366.3,5,7,4
ac,338.7,317.8,359.6,6,7,4
ac-s,320.6,300.0,341.5,7,9,4
q,291.0,270.1,311.9,8,10,7
sarsa,287.2,265.9,308.6,9,10,7
ppo,276.3,256.1,297.1,10,11,8
nac-td,244.7,224.0,265.5,11,11,10
""",
    "mountain-car": """\
ac-parl2,-791.6,-894.0,-688.7,1,3,1
sarsa-parl2,-843.2,-945.0,-740.5,2,4,1
ac-s,-966.0,-1068.0,-863.1,3,4,1
sarsa-s,-1024.2,-1125.8,-923.5,4,5,2
q-s,-1197.3,-1298.9,-1094.9,5,6,4
q-parl2,-1269.3,-1371.2,-1166.4,6,6,5
ac,-2477.1,-2576.0,-2374.3,7,8,7
nac-td,-2489.3,-2589.1,-2386.4,8,8,7
sarsa,-2769.1,-2867.8,-2666.2,9,10,9
q,-2779.3,-2877.9,-2676.4,10,10,9
ppo,-3026.3,-3124.9,-2923.5,11,11,11
""",
}


def numbers(text: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array([[float(value) for value in row[1:]] for row in csv.reader(io.StringIO(text))])


@pytest.mark.parametrize(("name", "first"), [("pbp", 1), ("pbp-t", 5), ("bootstrap", 9)])
def test_ranks_are_those_of_the_papers_aggregates(name: str, first: int) -> None:
    printed = numbers(AGGREGATES)
    score, low, high, worst, best = (printed[:, column] for column in (0, *range(first, first + 4)))
    found = ranks(score, low, high)
    assert found.rank.tolist() == list(range(1, 12))
    assert found.worst.tolist() == worst.tolist()
    assert found.best.tolist() == best.tolist()


@pytest.mark.parametrize("environment", MEANS)
def test_ranks_are_those_of_the_papers_means(environment: str) -> None:
    score, low, high, rank, worst, best = numbers(MEANS[environment]).T
    found = ranks(score, low, high)
    assert found.rank.tolist() == rank.tolist()
    assert found.worst.tolist() == worst.tolist()
    assert found.best.tolist() == best.tolist()


def test_equal_scores_share_the_best_of_their_places() -> None:
    found = ranks(np.array([0.5, 0.7, 0.5]), np.array([0.4, 0.6, 0.4]), np.array([0.6, 0.8, 0.6]))
    assert found.rank.tolist() == [2, 1, 2]
    # Intervals that touch decide nothing.
    assert found.worst.tolist() == [3, 3, 3]
    assert found.best.tolist() == [1, 1, 1]


def test_ranks_of_numbers_that_are_equal_to_their_last_digits() -> None:
    score = np.array([0.5, 0.5 + 1e-12, 0.6])
    assert ranks(score, score, score).rank.tolist() == [3, 2, 1]
    found = ranks(score, score, score, resolution=1e-9)
    assert found.rank.tolist() == [2, 2, 1]
    assert found.worst.tolist() == [3, 3, 1]
    assert found.best.tolist() == [2, 2, 1]


#: Per environment of the paper, the algorithm whose interval reaches furthest down: mean, lower end.
FURTHEST = {
    "cart-pole": ("sarsa-s", 347.5, 326.5),
    "mountain-car": ("ac-parl2", -791.6, -894.0),
    "chain-10-deterministic": ("q-parl2", -9.2, -13.2),
    "chain-10-stochastic": ("q-parl2", -12.7, -16.7),
    "chain-50-deterministic": ("sarsa-parl2", -78.3, -97.9),
    "gridworld-10-deterministic": ("sarsa-parl2", -49.5, -90.7),
    "gridworld-5-deterministic": ("sarsa-parl2", -12.2, -22.5),
    "gridworld-5-stochastic": ("q-parl2", -17.1, -27.4),
    "pinball-box": ("sarsa-parl2", 8823.2, 8513.4),
    "pinball-empty": ("sarsa-parl2", 8942.1, 8631.8),
    "pinball-medium": ("sarsa-parl2", 8402.1, 8094.2),
}
# Each interval at .05 over 11 algorithms on 15 environments, 10,000 trials; tables are printed to one decimal.
EPSILON = float(margin(10_000, 0.05 / (11 * 15)))
ROUNDING = 0.1


@pytest.mark.parametrize("environment", FURTHEST)
def test_the_papers_intervals_on_means_are_andersons_on_our_ranges(environment: str) -> None:
    """
    Compare the printed reach downwards with epsilon times the declared range.

    Anderson's lower end takes the best epsilon of a sample to the lowest score possible, so the reach is epsilon times
    the distance between those: the whole range where an algorithm's best 2 % are as good as can be, never more.
    """
    _, mean, low = FURTHEST[environment]
    declared = untuned.environment(environment).score_range
    assert declared is not None
    lowest, highest = declared
    whole = EPSILON * (highest - lowest)
    assert 0.97 * whole - ROUNDING <= mean - low <= whole + ROUNDING


def test_one_of_the_papers_intervals_is_wider_than_ten_thousand_trials_allow() -> None:
    """Only SARSA's on cart-pole: its width of 42.7 takes 9,650 trials or fewer."""
    printed = numbers(MEANS["cart-pole"])
    width = printed[:, 2] - printed[:, 1]
    too_wide = width > 2.0 * EPSILON * 1000.0 + ROUNDING
    assert too_wide.tolist() == [row.startswith("sarsa,") for row in MEANS["cart-pole"].splitlines()]
    assert width[too_wide][0] == pytest.approx(2.0 * float(margin(9_650, 0.05 / 165)) * 1000.0, abs=ROUNDING)


def test_means_by_hand() -> None:
    # Two trials of four go to the ends: epsilon = 1/2.
    delta = 2.0 * math.exp(-2.0)
    assert mean_interval(np.array([1.0, 4.0, 2.0, 3.0]), delta, (0.0, 10.0)) == pytest.approx((0.75, 6.75))
    assert mean_interval(np.array([]), 0.1, (0.0, 1.0)) == (0.0, 1.0)
    half = np.repeat([0.0, 1000.0], 5_000)
    low, high = mean_interval(half, 0.05 / 165, (0.0, 1000.0))
    assert (500.0 - low, high - 500.0) == pytest.approx((1000.0 * EPSILON, 1000.0 * EPSILON))


def test_means_share_delta_among_the_cells_that_have_trials() -> None:
    scores = {"a": {"x": [1.0, 2.0], "y": [3.0]}, "b": {"x": [0.5], "y": []}}
    partly = ScoreTable.from_dict(scores, ranges=(0.0, 4.0))
    low, high = mean_intervals(partly, 0.3)
    for a, e in ((0, 0), (0, 1), (1, 0), (1, 1)):
        assert (low[a, e], high[a, e]) == mean_interval(partly.cells[a][e], 0.1, (0.0, 4.0))


def test_anytime_bands_leave_a_part_for_cells_that_get_trials_later() -> None:
    scores = {"a": {"x": [1.0] * 3, "y": [3.0]}, "b": {"x": [0.5], "y": []}}
    partly = ScoreTable.from_dict(scores, ranges=(0.0, 4.0))
    # A cell's parts at 1, 2, 3, ... trials add up to its share, and the shares of all four cells to delta.
    np.testing.assert_allclose(levels(partly, 0.4, anytime=True), [[0.1 / 12, 0.1 / 2], [0.1 / 2, 0.1 / 2]])


def test_an_evaluation_may_come_from_anything_that_holds_scores() -> None:
    full = table()
    scores = {a: {e: full.cell(a, e) for e in full.environments} for a in full.algorithms}
    found = untuned.evaluate(scores, ranges=RANGE, workers=1)
    assert isinstance(found, Evaluation)
    np.testing.assert_array_equal(found.low_a, evaluate(full).low_a)
    assert found.provenance["untuned"] == untuned.__version__


def test_scores_that_are_not_finite_are_refused_or_the_worst() -> None:
    scores = {"a": {"x": [1.0, math.nan], "y": [1.0]}, "b": {"x": [0.5, 0.7], "y": [math.inf, 2.0]}}
    with pytest.raises(InvalidInput, match=r"'a' on 'x'.*trial 2 of 2 is nan"):
        untuned.evaluate(scores)
    found = untuned.evaluate(scores, nonfinite="worst", ranges=(0.0, 5.0))
    assert found.means.mean_ae.tolist() == [[0.5, 1.0], [0.6, 1.0]]


def test_a_solver_that_did_not_come_close_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not evaluate(table()).warnings
    published = propagated

    def early(*arguments: Any, **options: Any) -> list[Solution]:
        return [each._replace(slack=0.25) for each in solutions(*arguments, **options)]

    def published_early(*arguments: Any, **options: Any) -> Bounds:
        return dataclasses.replace(published(*arguments, **options), slack=0.25)

    monkeypatch.setattr("untuned.judge.evaluate.solutions", early)
    monkeypatch.setattr("untuned.judge.evaluate.propagated", published_early)
    monkeypatch.setattr(
        "untuned.judge.evaluate.equilibrium", lambda z, **more: dataclasses.replace(equilibrium(z, **more), error=0.125)
    )
    for conventions in ("valid", "paper"):
        found = evaluate(table(), conventions=conventions)
        told = " ".join(found.warnings)
        assert "scores may be wrong by 0.1" in told
        assert "they hold, and may be wider than need be by 0.2" in told
        assert found.settings["slack"] == 0.25


def test_an_evaluation_can_be_pickled_and_copied() -> None:
    found = evaluate(ScoreTable.from_dict({"a": {"x": [1.0, 2.0], "y": [2.0]}, "b": {"x": [0.0], "y": [3.0, 1.0]}}))
    for again in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert again.to_json(percentiles=True) == found.to_json(percentiles=True)
        assert again.scores.cell("b", "y").tolist() == [3.0, 1.0]
        with pytest.raises(TypeError):
            again.settings["delta"] = 0.5  # type: ignore[index]


def test_sorted_scores_are_noticed_where_their_order_matters() -> None:
    rng = np.random.default_rng(3)
    scores = {name: {"maze": rng.normal(0.0, 1.0, 300), "arm": rng.normal(0.0, 1.0, 300)} for name in "ab"}
    given = {**scores, "a": {**scores["a"], "maze": np.sort(scores["a"]["maze"])[::-1]}}

    def told(some: dict[str, dict[str, Any]], intervals: str) -> list[str]:
        found = evaluate(ScoreTable.from_dict(some), intervals=intervals, weights="uniform")
        return [warning for warning in found.warnings if "sorted" in warning]

    assert told(scores, "betting") == []
    (warning,) = told(given, "betting")
    assert warning.startswith("The scores of 1 cell are sorted (a on maze). ")
    for intervals in ("pairing", "bentkus", "kl", "wilson", "pbp", "pbp-t"):
        assert told(given, intervals) == []
    # Within one block order does not matter; chance sorts what is nearly constant; a constant has one order only.
    short = {name: {e: np.sort(cell)[100:120] for e, cell in row.items()} for name, row in scores.items()}
    assert told(short, "betting") == []
    longer = {name: {e: np.sort(cell)[100:200] for e, cell in row.items()} for name, row in scores.items()}
    assert len(told(longer, "betting")) == 1
    nearly = {name: {e: np.array([1.0] * 299 + [2.0]) for e in row} for name, row in scores.items()}
    assert told(nearly, "betting") == []
    constant = {name: {e: np.ones(300) for e in row} for name, row in scores.items()}
    assert told(constant, "betting") == []


def test_sorted_scores_make_the_intervals_of_betting_wrong_and_no_others() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(0.0, 1.0, 1000), rng.normal(0.1, 1.0, 1000)
    z = 0.4718140111

    def interval(first: ArrayLike, second: ArrayLike, intervals: str) -> tuple[float, float]:
        table = ScoreTable.from_dict({"a": {"maze": first}, "b": {"maze": second}})
        found = evaluate(table, intervals=intervals, weights="uniform")
        assert found.percentiles.low_aer is not None
        assert found.percentiles.high_aer is not None
        return float(found.percentiles.low_aer[0, 0, 1]), float(found.percentiles.high_aer[0, 0, 1])

    low, high = interval(a, b, "betting")
    assert low < z < high
    low, high = interval(np.sort(a), np.sort(b), "betting")
    assert high < z - 0.01
    assert interval(np.sort(a), np.sort(b), "pairing") == interval(a, b, "pairing")


# --- how many comparisons share delta


def three_by_two(algorithms: int = 3) -> ScoreTable:
    rng = np.random.default_rng(4)
    cells = rng.normal(np.arange(5.0)[:, None, None], 1.0, (5, 2, 60))[:algorithms]
    return ScoreTable.from_array(cells)


def test_a_maximum_of_algorithms_makes_levels_those_of_so_many() -> None:
    def lows(algorithms: int, **options: Any) -> Floats:
        found = evaluate(three_by_two(algorithms), intervals="betting", refine=0, **options).percentiles.low_aer
        assert found is not None
        return found

    found, late = lows(3, max_algorithms=5), lows(5, max_algorithms=5)
    np.testing.assert_allclose(found, lows(3, delta=0.05 * 3 / 10), atol=1e-12)
    # What was said of three stays when two join.
    np.testing.assert_allclose(found, late[:3, :, :3], atol=1e-12)
    np.testing.assert_allclose(late, lows(5), atol=1e-12)


@pytest.mark.parametrize("intervals", [None, *(name for name in METHODS if name != "betting")])
def test_a_maximum_of_algorithms_is_for_methods_that_hold_at_all_times(intervals: str | None) -> None:
    with pytest.raises(InvalidInput, match="intervals='betting'"):
        Judging(intervals=intervals, max_algorithms=5)


def test_a_maximum_of_algorithms_is_checked_and_told() -> None:
    found = evaluate(three_by_two(), intervals="betting", max_algorithms=4, refine=0)
    assert found.settings["max_algorithms"] == 4
    assert "max_algorithms" not in evaluate(three_by_two(), refine=0).settings
    with pytest.raises(InvalidInput, match="max_algorithms=2, and there are 3 algorithms: pass at least 3"):
        evaluate(three_by_two(), intervals="betting", max_algorithms=2)
    with pytest.raises(InvalidInput, match="max_algorithms=2, and there are 3"):
        Judging(intervals="betting", max_algorithms=2).check(["a", "b", "c"], ["x", "y"])
    with pytest.raises(InvalidInput, match="max_algorithms=1 is not allowed: pass a whole number of at least 2"):
        Judging(intervals="betting", max_algorithms=1)


@pytest.mark.parametrize(
    "intervals", ["pairing", "betting", "bentkus", "kl", "wilson", "pbp", "pbp-t", "bootstrap", "pooled"]
)
def test_environments_without_weight_do_not_count(intervals: str) -> None:
    rng = np.random.default_rng(5)
    row = {a: {e: rng.normal(mean, 1.0, 60) for e in "xy"} for mean, a in enumerate("abc")}
    alone = ScoreTable.from_dict(row)
    # One of the cells without weight is empty, and there is no warning.
    cells = {a: {"none": rng.normal(0.0, 1.0, 7 if a != "b" else 0), **row[a]} for a in "abc"}
    given = {"x": 2.0, "y": 1.0}
    with_more = evaluate(ScoreTable.from_dict(cells), intervals=intervals, weights=given, resamples=50)
    found = evaluate(alone, intervals=intervals, weights=given, resamples=50)
    for one, other in (
        (found.low_a, with_more.low_a),
        (found.high_a, with_more.high_a),
        (found.pairs.low_ab, with_more.pairs.low_ab),
    ):
        np.testing.assert_allclose(other, one, atol=1e-12)
    assert with_more.warnings == found.warnings
    table = with_more.percentiles
    if table.low_aer is not None and table.high_aer is not None:
        np.testing.assert_array_equal(table.low_aer[:, 0], 0.5 * np.eye(3))
        np.testing.assert_array_equal(table.high_aer[:, 0], 1.0 - 0.5 * np.eye(3))


# --- trials with numbers, some of which are missing


def with_gaps() -> ScoreTable:
    rng = np.random.default_rng(6)
    cells = rng.normal(np.arange(2.0)[:, None, None], 1.0, (2, 2, 60))
    unbroken = np.array([[60, 45], [60, 0]])
    return dataclasses.replace(ScoreTable.from_array(cells), unbroken_ae=unbroken)


def test_betting_judges_trials_up_to_the_first_missing_one() -> None:
    table = with_gaps()
    found = evaluate(table, intervals="betting", refine=0)
    assert found.trials_ae.tolist() == [[60, 45], [60, 0]]
    assert found.scores.cells[0][1].tolist() == table.cells[0][1][:45].tolist()
    (left_out,) = (warning for warning in found.warnings if "left out" in warning)
    assert left_out.startswith("75 trials of 2 cells were left out, because an earlier trial of the cell is missing")
    whole = dataclasses.replace(table, unbroken_ae=table.trials)
    assert not any("left out" in warning for warning in evaluate(whole, intervals="betting", refine=0).warnings)
    with pytest.raises(InvalidInput, match="the first trial of every cell is missing"):
        evaluate(dataclasses.replace(table, unbroken_ae=np.zeros((2, 2), dtype=np.int64)), intervals="betting")


def test_other_methods_keep_all_trials_and_tell_of_gaps() -> None:
    found = evaluate(with_gaps(), refine=0)
    assert found.trials_ae.tolist() == [[60, 60], [60, 60]]
    assert found.warnings[0].startswith("75 trials of 2 cells have numbers behind a trial that is missing.")
