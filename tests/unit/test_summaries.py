"""Familiar summaries at their public door: normalisations, words for degenerate samples, what must change nothing."""

import json
from typing import Any

import numpy as np
import pytest

import untuned
from oracle.reference import summaries as reference
from untuned import figures, summaries, tables
from untuned.errors import InvalidInput, UnknownName
from untuned.judge.summaries.normalisations import AsTheyAre, normalisation
from untuned.judge.summaries.summarizing import summarized
from untuned.scores import ScoreTable

Scores = dict[str, dict[str, list[float]]]


def example(runs: int = 6, seed: int = 0) -> ScoreTable:
    rng = np.random.default_rng(seed)
    means = {"good": (8.0, 60.0, 0.7), "middle": (6.0, 50.0, 0.7), "poor": (2.0, 45.0, 0.1)}
    return ScoreTable.from_dict(
        {
            name: {
                place: rng.normal(mean, 0.2 * scale, runs + e)
                for e, (place, scale, mean) in enumerate(
                    zip(("arm", "maze", "walk"), (10.0, 100.0, 1.0), row, strict=True)
                )
            }
            for name, row in means.items()
        },
        ranges={"arm": (-10, 30), "maze": (-100, 300), "walk": (-2, 3)},
    )


def cells_of(table: ScoreTable, given: object) -> list[list[Any]]:
    """Return the normalised scores of a table."""
    maps = normalisation(given).on(table).fit(table.cells)
    return [[each(cell) for each, cell in zip(maps, row, strict=True)] for row in table.cells]


# --- normalisations


@pytest.mark.parametrize(
    ("given", "ends"),
    [
        ({"arm": (1, 5), "maze": (0, 70), "walk": (-1, 1)}, lambda cells, e: [(1, 5), (0, 70), (-1, 1)][e]),
        ("min-max", lambda cells, e: (min(map(min, cells)), max(map(max, cells)))),
        ("mean-min-max", lambda cells, e: (min(map(np.mean, cells)), max(map(np.mean, cells)))),
        ("range", lambda cells, e: [(-10, 30), (-100, 300), (-2, 3)][e]),
        ("ratio:middle", lambda cells, e: (0.0, np.mean(cells[1]))),
    ],
)
def test_linear_normalisations(given: object, ends: Any) -> None:
    table = example()
    for a, row in enumerate(cells_of(table, given)):
        for e, cell in enumerate(row):
            zero, one = ends([each[e] for each in table.cells], e)
            assert cell == pytest.approx([(x - zero) / (one - zero) for x in table.cells[a][e]])


def test_percentiles_are_of_the_references() -> None:
    table = example()
    for given, numbers in (("percentiles", (0, 1, 2)), ("percentiles:poor,good", (2, 0))):
        for a, row in enumerate(cells_of(table, given)):
            for e, cell in enumerate(row):
                samples = [table.cells[r][e] for r in numbers]
                assert cell == pytest.approx([reference.percentile(x, samples) for x in table.cells[a][e]])


def test_policy_percentiles_are_of_random_policies() -> None:
    table = example()
    policies = {"arm": [0.0, 1.0, 9.0], "maze": [40.0], "walk": [0.0, 1.0]}
    for a, row in enumerate(cells_of(table, summaries.PolicyPercentiles(policies))):
        for e, (name, cell) in enumerate(zip(table.environments, row, strict=True)):
            wanted = [reference.percentile(x, [np.array(policies[name])]) for x in table.cells[a][e]]
            assert cell == pytest.approx(wanted)
    found = summarized(table, "mean", normalise=summaries.PolicyPercentiles(policies), resamples=20)
    assert any("On maze most scores are above those of all random policies" in note for note in found.notes)


def test_the_order_of_arithmetic_ratios_depends_on_the_denominator_and_that_of_geometric_ones_does_not() -> None:
    scores = {"a": {"x": [10.0], "y": [1.0]}, "b": {"x": [1.0], "y": [10.0]}, "c": {"x": [1.0], "y": [1.0]}}
    table = ScoreTable.from_dict(scores)
    by = {
        (name, denominator): summarized(table, name, normalise=f"ratio:{denominator}", resamples=2).summaries[0]
        for name in ("mean", "geometric-mean")
        for denominator in "ab"
    }
    assert by["mean", "a"].value_a[1] > by["mean", "a"].value_a[0]
    assert by["mean", "b"].value_a[0] > by["mean", "b"].value_a[1]
    for denominator in "ab":
        geometric = by["geometric-mean", denominator].value_a
        assert geometric[0] == pytest.approx(geometric[1])
        assert geometric[0] / geometric[2] == pytest.approx(np.sqrt(10.0))


def test_one_terrible_algorithm_moves_mean_based_scores() -> None:
    scores = {"a": {"x": [3.0]}, "b": {"x": [2.0]}, "c": {"x": [1.0]}}
    worse = {**scores, "terrible": {"x": [-100.0]}}
    before, after = (
        summarized(ScoreTable.from_dict(each), "mean", normalise="mean-min-max", resamples=2).summaries[0].value_a
        for each in (scores, worse)
    )
    assert before == pytest.approx([1.0, 0.5, 0.0])
    assert after[:3] == pytest.approx([1.0, 102 / 103, 101 / 103])


def test_a_scale_made_of_scores_is_fitted_in_every_resample() -> None:
    # By its own mean: an algorithm's ratio to itself is 1 in every resample, and not only on average.
    found = summarized(example(), "mean", normalise="ratio:good", resamples=50)
    each = found.summary("mean")
    assert (each.value_a[0], each.low_a[0], each.high_a[0]) == pytest.approx((1.0, 1.0, 1.0))
    assert each.low_a[1] < each.value_a[1] < each.high_a[1]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"arm": (0, 1)}, "no reference scores for maze, walk"),
        ({"arm": (0, 1), "maze": (0, 1), "walk": (2, 2)}, "the score that becomes 0 must be below"),
        ({"arm": (0, 1), "maze": (0, 1), "walk": (0, float("inf"))}, "pass finite numbers"),
        ({"arm": (0, 1), "maze": (0, 1), "walk": 3}, "pass two numbers"),
        ({"arm": (0, 1), "maze": (0, 1), "wlak": (0, 1)}, "no environment is called 'wlak'"),
        ("minmax", "no normalisation is called 'minmax'"),
        ("ratio:nobody", "nobody"),
        ("percentiles:nobody", "nobody"),
        (summaries.Percentiles("good"), "is one string"),
        (summaries.Percentiles([]), "at least one reference"),
        (summaries.MinMax("ranges"), "pass 'scores', 'means' or 'range'"),  # type: ignore[arg-type]
        (summaries.PolicyPercentiles({"arm": [1.0]}), "no scores of random policies on maze"),
        (summaries.PolicyPercentiles({"arm": [], "maze": [1.0], "walk": [1.0]}), "finite numbers, at least one"),
        ("policy-percentiles", "not a built-in environment"),
        (3, "normalise=3: pass one of"),
    ],
)
def test_what_is_no_normalisation_is_refused(given: object, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        summaries.summarize(example(), normalise=given, resamples=2)


def test_ratios_need_positive_denominators_and_ranges_finite_ones() -> None:
    scores = ScoreTable.from_dict({"a": {"x": [-1.0, 0.5]}, "b": {"x": [1.0]}})
    with pytest.raises(InvalidInput, match="ratios need a positive denominator"):
        summarized(scores, normalise="ratio:a")
    with pytest.raises(InvalidInput, match="x declares no finite range"):
        summarized(scores, normalise="range")


# --- degenerate samples


def notes(scores: Scores, *what: Any, **options: Any) -> str:
    return " ".join(summarized(ScoreTable.from_dict(scores), list(what or ["iqm"]), resamples=30, **options).notes)


def test_words_for_one_run_per_cell() -> None:
    scores: Scores = {"a": {"x": [1.0], "y": [2.0]}, "b": {"x": [3.0], "y": [1.0]}}
    assert "There is one run per cell, which cannot be resampled" in notes(scores)
    scores["a"]["x"] = [1.0, 2.0]
    assert "3 of 4 cells have one run" in notes(scores)


@pytest.mark.parametrize("interval", ["percentile", "basic", "bca"])
def test_words_for_constant_cells(interval: Any) -> None:
    scores: Scores = {"a": {"x": [1.0] * 12}, "b": {"x": [2.0] * 12}}
    found = summarized(ScoreTable.from_dict(scores), ["iqm", "poi"], interval=interval, resamples=30)
    each = found.summaries[0]
    assert (each.low_a == each.value_a).all()
    assert (each.high_a == each.value_a).all()
    assert any("All resamples of a, b have the same interquartile mean" in note for note in found.notes)
    assert found.improvement is not None
    assert found.improvement.win_ab.tolist() == [[0.5, 0.0], [1.0, 0.5]]


def test_words_for_missing_cells_and_for_failed_trials() -> None:
    scores: dict[str, dict[str, list[float]]] = {
        "a": {"x": [1.0, 2.0], "y": [2.0, float("nan")]},
        "b": {"x": [3.0, 1.0]},
        "c": {"x": [0.0, 1.0], "y": [4.0, 2.0]},
    }
    table = ScoreTable.from_dict(scores, ranges=(-10.0, 10.0), nonfinite="worst")
    found = summarized(table, ["mean", "poi", "profile"], resamples=20)
    assert "b has no scores on y: it has no summary" in " ".join(found.notes)
    assert "1 trial failed or had no finite score: it counts as the worst score" in " ".join(found.notes)
    assert found.summaries[0].value_a[0] == pytest.approx((1.5 + (2.0 - 10.0) / 2) / 2)
    assert np.isnan(found.summaries[0].value_a[1])
    assert found.rows()[-1] == {"statistic": "mean", "algorithm": "b", "value": None, "low": None, "high": None}
    assert found.improvement_rows()[-1]["win"] is None
    json.loads(found.to_json())
    assert figures.performance_profile(found).has_data()
    assert figures.probability_of_improvement(found).has_data()
    nothing: Scores = {"a": {"x": [1.0]}, "b": {"y": [1.0]}}
    with pytest.raises(InvalidInput, match="no algorithm has scores on every environment"):
        summarized(ScoreTable.from_dict(nothing))


def test_words_where_a_statistic_is_not_defined() -> None:
    scores: Scores = {"a": {"x": [-1.0, -2.0]}, "b": {"x": [5.0, -4.0, 6.0]}}
    said = notes(scores, "geometric-mean")
    assert "a: there is no geometric mean of means" in said
    assert "b: there is no interval of the geometric mean of means" in said


def test_words_for_equal_scores_and_for_scales() -> None:
    scores: Scores = {"a": {"x": [1.0, 1.0], "y": [0.0, 900.0]}, "b": {"x": [1.0], "y": [50.0]}}
    assert "All scores on x are equal: they count 0.5" in notes(scores, normalise="min-max")
    assert "those with the largest scores decide" in notes(scores)
    assert AsTheyAre().on(example().select(environments=["arm"])).notes == ()


# --- what must change nothing


@pytest.mark.parametrize("normalise", [None, "min-max"])
def test_rows_names_and_workers_change_nothing(normalise: str | None) -> None:
    table = example()
    what = ["iqm", "median", "poi", "profile"]
    found = summarized(table, what, normalise=normalise, resamples=60, seed=5)
    rng = np.random.default_rng(1)
    shuffled = ScoreTable.from_dict(
        {
            name: {place: rng.permutation(table.cell(name, place)) for place in table.environments[::-1]}
            for name in table.algorithms[::-1]
        }
    )
    for other in (
        summarized(table, what, normalise=normalise, resamples=60, seed=5, workers=3),
        summarized(shuffled, what, normalise=normalise, resamples=60, seed=5),
    ):
        assert other.rows() == found.rows()
        assert other.improvement_rows() == found.improvement_rows()
        key = lambda row: (row["algorithm"], row["threshold"])  # noqa: E731
        assert sorted(other.profile_rows(), key=key) == sorted(found.profile_rows(), key=key)
    assert summarized(table, "iqm", normalise=normalise, resamples=60, seed=6).rows() != found.rows()


# --- the door


def test_any_function_is_a_statistic() -> None:
    def largest(cells: list[Any]) -> float:
        return float(max(cell.max() for cell in cells))

    table = example()
    found = summaries.summarize(table, ["mean", largest], normalise="range", resamples=20)
    wanted = [max(cell.max() for cell in row) for row in cells_of(table, "range")]
    assert found.summary("largest").value_a == pytest.approx(wanted)
    with pytest.raises(UnknownName, match="largest"):
        found.summary("smallest")
    for bad, words in ((["iqm", "iqm2"], "iqm2"), ([], "one statistic or more"), (7, "is no statistic")):
        with pytest.raises(InvalidInput, match=words):
            summaries.summarize(table, bad)


def test_the_guaranteed_verdicts_stand_with_every_summary() -> None:
    table = example(40)
    evaluation = untuned.evaluate(table, weights="uniform")
    for given in (table, evaluation):
        found = summaries.summarize(given, ["iqm", "poi", "profile"], normalise="percentiles", resamples=20)
        assert found.guaranteed == (*evaluation.verdicts, evaluation.claim)
        assert all(sentence in repr(found) for sentence in found.guaranteed)
        for table_of in (tables.summaries, tables.improvement, tables.profile):
            caption = table_of(found).caption
            assert "none guaranteed" in caption
            assert evaluation.claim in caption
        assert found.to_dict()["approximate"] is True
    alone = summaries.summarize(table.select(["good"]), resamples=20)
    assert alone.guaranteed == ()


def test_weights_are_equal_the_games_or_given() -> None:
    table = example(30)
    game = summaries.summarize(table, "mean", normalise="range", weights="game", resamples=20)
    weights = untuned.evaluate(table, weights="game").environment_weights
    assert game.weight_e == pytest.approx(weights)
    means = [[cell.mean() for cell in row] for row in cells_of(table, "range")]
    assert game.summaries[0].value_a == pytest.approx(np.array(means) @ weights)
    given = summaries.summarize(table, "mean", normalise="range", weights={"maze": 3, "walk": 1}, resamples=20)
    assert given.summaries[0].value_a == pytest.approx(np.array(means) @ [0.0, 0.75, 0.25])
    assert "the given weights" in given.basis
    for bad in ("both", {"nowhere": 1.0}):
        with pytest.raises(InvalidInput):
            summaries.summarize(table, weights=bad)
    with pytest.raises(InvalidInput, match="no weights of the game"):
        summaries.summarize(table.select(["good"]), weights="game")


@pytest.mark.parametrize(
    "options",
    [
        {"interval": "normal"},
        {"delta": 0.0},
        {"resamples": 0},
        {"seed": -1},
        {"thresholds": []},
        {"thresholds": [float("nan")]},
        {"columns": "a,b,c"},
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        summaries.summarize(example(), "profile", **options)


def test_options_of_reading_are_refused_of_an_evaluation() -> None:
    with pytest.raises(InvalidInput, match="an evaluation has read its scores"):
        summaries.summarize(untuned.evaluate(example(), weights="uniform"), ranges=(0, 1))


def test_figures_and_pairs_need_what_they_show() -> None:
    found = summaries.summarize(example(), "iqm", resamples=5)
    with pytest.raises(InvalidInput, match="ask summarize for 'profile'"):
        figures.performance_profile(found)
    with pytest.raises(InvalidInput, match="ask summarize for 'poi'"):
        figures.probability_of_improvement(found)
    with pytest.raises(InvalidInput, match="compares two algorithms"):
        summaries.summarize(example().select(["good"]), "poi")


def test_bca_of_very_many_scores_is_refused_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("untuned.judge.summaries.summarizing.MOST_LEFT_OUT", 10)
    with pytest.raises(InvalidInput, match="pass interval='percentile'"):
        summarized(example(), "iqm", interval="bca", resamples=5)
    # Of a mean the influence of every score is known.
    assert np.isfinite(summarized(example(), "mean", interval="bca", resamples=50).summaries[0].low_a).all()


# --- random policies


def test_random_policies_are_the_same_for_the_same_seed() -> None:
    first = summaries.random_policies(["cart-pole", "chain-10-stochastic"], policies=4, episodes=2, seed=1)
    again = summaries.random_policies(["chain-10-stochastic", "cart-pole"], policies=6, episodes=2, seed=1)
    for name, scores in first.items():
        assert scores.tolist() == again[name][:4].tolist()
    other = summaries.random_policies(["cart-pole"], policies=4, episodes=2, seed=2)
    assert other["cart-pole"].tolist() != first["cart-pole"].tolist()


def test_random_policies_find_the_end_of_a_chain_as_often_as_they_should() -> None:
    # Every state has its action at random: the goal of a chain of three states is reached if two are right, 1/4.
    scores = summaries.random_policies(["chain-3-deterministic"], policies=400, episodes=1)["chain-3-deterministic"]
    reached = int((scores > scores.min()).sum())
    # Within five standard deviations.
    assert abs(reached - 100) < 5 * np.sqrt(400 * 3 / 16)


def test_random_policies_of_other_environments_are_refused() -> None:
    with pytest.raises(InvalidInput, match="not a built-in environment"):
        summaries.random_policies(["atari"])
    with pytest.raises(InvalidInput, match="one string"):
        summaries.random_policies("cart-pole")


# --- families, undefined ratios, intervals that say nothing

FAMILIES = {"maze": ["maze-1", "maze-2"]}


def with_variants() -> dict[str, dict[str, list[float]]]:
    rng = np.random.default_rng(5)
    means = {"a": (1.0, 1.0, 0.0), "b": (0.0, 0.0, 1.0)}
    places = ("maze-1", "maze-2", "arm")
    return {
        name: {place: rng.normal(mean, 0.2, 6).tolist() for place, mean in zip(places, row, strict=True)}
        for name, row in means.items()
    }


def test_equal_weights_are_those_of_families() -> None:
    scores = with_variants()
    evaluation = untuned.evaluate(scores, families=FAMILIES)
    found = summaries.summarize(evaluation, "mean", resamples=20)
    assert found.weight_e == pytest.approx(evaluation.under("uniform").environment_weights)
    assert found.weight_e == pytest.approx([0.25, 0.25, 0.5])
    assert "families have equal weights" in found.basis
    assert found.summaries[0].value_a[0] == pytest.approx(
        np.mean([np.mean([scores["a"]["maze-1"], scores["a"]["maze-2"]]), np.mean(scores["a"]["arm"])])
    )
    given = summaries.summarize(evaluation, "mean", weights={"maze": 1.0, "arm": 3.0}, resamples=20)
    assert given.weight_e == pytest.approx([0.125, 0.125, 0.75])
    assert "environments have equal weights" in summaries.summarize(scores, "mean", resamples=20).basis


def test_resamples_without_ratios_leave_no_interval() -> None:
    """Some resamples of a on x have a mean of 0 or below: medians and trimmed means must not skip them."""
    row = {"y": [1.0, 2.0, 3.0, 2.5], "w": [1.0, 2.0, 3.0, 2.2]}
    table = ScoreTable.from_dict({"a": {"x": [-1.0, 1.0, 1.0, 1.0], **row}, "b": {"x": [1.0, 2.0, 3.0, 4.0], **row}})
    for interval in ("percentile", "bca"):
        found = summarized(
            table, ["mean", "median", "iqm", "profile"], normalise="ratio:a", interval=interval, resamples=500
        )
        for each in found.summaries:
            assert np.isfinite(each.value_a).all()
            assert np.isnan([each.low_a, each.high_a]).all()
            assert f"there is no interval of the {each.statistic.title}" in " ".join(found.notes)
        assert np.isnan(found.profiles[0].low_at).all()
        assert "the profile has no interval at some thresholds" in " ".join(found.notes)


def test_words_for_probabilities_of_improvement() -> None:
    apart: Scores = {"a": {"x": [10.0, 11.0, 12.0] * 4}, "b": {"x": [0.0, 1.0, 2.0] * 4}}
    assert "Probabilities of improvement of a over b in resamples are the same: the interval has no width" in notes(
        apart, "poi"
    )
    near: Scores = {"a": {"x": [1.0, 2.0, 3.0, 4.0]}, "b": {"x": [0.0, 0.5, 1.5, 3.5]}}
    table = ScoreTable.from_dict(near)
    outside = "Some basic intervals of probabilities or shares end outside [0, 1]"
    for interval in ("basic", "percentile"):
        said = " ".join(summarized(table, "poi", interval=interval, resamples=500).notes)
        assert (outside in said) == (interval == "basic")
        assert "no width" not in said
