"""What each way of evaluating concludes, against obvious computations, and the demonstrations' known truths."""

import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import untuned
from untuned.errors import InvalidInput, UnknownName
from untuned.judge.comparing.compare import compared
from untuned.judge.comparing.records import MethodComparison
from untuned.judge.judging import Judging
from untuned.scores import ScoreTable

RNG = np.random.default_rng(11)
#: Ratios to "slow" put "wide" ahead, ratios to "wide" put "even" ahead: (10 + 1/10)/2 against 1 in units of slow.
MEANS = {"slow": (1.0, 10.0), "even": (3.0, 12.0), "wide": (9.0, 4.0), "poor": (0.5, 2.0)}
SCORES = {
    name: {place: mean * RNG.uniform(0.9, 1.1, 12) for place, mean in zip(("maze", "arm"), means, strict=True)}
    for name, means in MEANS.items()
}


@pytest.fixture(scope="module")
def found() -> MethodComparison:
    return untuned.compare_methods(SCORES, resamples=200, workers=1)


def mean(name: str, place: str) -> float:
    return float(np.mean(SCORES[name][place]))


def test_untuned_s_own_ways_are_its_evaluation(found: MethodComparison) -> None:
    evaluation = untuned.evaluate(SCORES)
    for name, weights in (("equal weights", "uniform"), ("the game's weights", "game")):
        way, ranking = found.way(name), evaluation.under(weights).rankings[0]
        assert way.promise == "guaranteed"
        assert way.value_a == pytest.approx(ranking.score_a)
        assert (way.better_ab == ranking.pairs.better_ab).all()
    assert evaluation.head_to_head is not None
    assert (found.way("head to head").better_ab == evaluation.head_to_head.better_ab).all()


@pytest.mark.parametrize("method", ["pbp", "pbp-t", "bootstrap"])
def test_the_paper_s_ways_are_its_conventions(found: MethodComparison, method: str) -> None:
    judged = untuned.evaluate(SCORES, intervals=method, conventions="paper", weights="game", resamples=200)
    way = found.way(f"{method} (as published)")
    assert way.value_a == pytest.approx(judged.rankings[0].score_a)
    assert way.promise == "approximate"


def test_ratios_by_hand(found: MethodComparison) -> None:
    for denominator in MEANS:
        for a, name in enumerate(MEANS):
            ratios = [mean(name, place) / mean(denominator, place) for place in ("maze", "arm")]
            arithmetic = found.way(f"ratios to {denominator}, arithmetic").value_a[a]
            assert arithmetic == pytest.approx((ratios[0] + ratios[1]) / 2)
            geometric = found.way(f"ratios to {denominator}, geometric").value_a[a]
            assert geometric == pytest.approx((ratios[0] * ratios[1]) ** 0.5)


def test_the_order_of_arithmetic_ratios_is_arbitrary_and_that_of_geometric_ones_is_not(found: MethodComparison) -> None:
    orders = {
        word: {found.way(f"ratios to {name}, {word}").rank_a for name in MEANS} for word in ("arithmetic", "geometric")
    }
    assert len(orders["arithmetic"]) > 1
    assert len(orders["geometric"]) == 1
    shown = next(each for each in found.demonstrations if each.name == "ratios")
    assert f"4 denominators give {len(orders['arithmetic'])} different orders" in shown.sentences[0]
    assert {row[0] for row in shown.rows} == set(MEANS)


def test_ratios_leave_out_what_is_not_positive() -> None:
    scores = {name: {**row, "debt": -np.abs(row["maze"])} for name, row in SCORES.items()}
    found = untuned.compare_methods(scores, resamples=20, workers=1)
    way = found.way("ratios to slow, arithmetic")
    assert "on the 2 environments where all mean scores are positive" in way.about
    assert way.value_a[1] == pytest.approx(
        (mean("even", "maze") / mean("slow", "maze") + mean("even", "arm") / mean("slow", "arm")) / 2
    )
    negative = {name: {place: -cell for place, cell in row.items()} for name, row in SCORES.items()}
    none = untuned.compare_methods(negative, resamples=20, workers=1)
    assert [name for name, _ in none.skipped] == ["performance ratios"]


def test_tests_by_hand(found: MethodComparison) -> None:
    names = list(MEANS)
    for name, level in (("t tests", 0.05), ("t tests, Bonferroni", 0.05 / 12)):
        wins = np.zeros((4, 4), dtype=int)
        for a, b in combinations(range(4), 2):
            for place in ("maze", "arm"):
                one, other = SCORES[names[a]][place], SCORES[names[b]][place]
                if stats.ttest_ind(one, other, equal_var=False).pvalue < level:
                    winner = (a, b) if one.mean() > other.mean() else (b, a)
                    wins[winner] += 1
        assert (found.way(name).better_ab == (wins > wins.T)).all()
        assert found.way(name).value_a.tolist() == (wins - wins.T).sum(axis=1).tolist()


def test_mean_ranks_by_hand(found: MethodComparison) -> None:
    ranks = [
        np.mean([1 + sum(mean(other, place) > mean(name, place) for other in MEANS) for place in ("maze", "arm")])
        for name in MEANS
    ]
    way = found.way("mean rank")
    assert way.value_a.tolist() == ranks
    # The quantile of four groups at 5 % is 2.569 (Demsar 2006, table 5).
    assert f"{2.569 * (4 * 5 / 12) ** 0.5:.2f} ranks" in way.about
    assert way.order[-1] == list(MEANS).index("poor")


def test_contradictions_are_listed_with_both_sides(found: MethodComparison) -> None:
    assert found.disagreements
    for each in found.disagreements:
        a, b = found.algorithms.index(each.a), found.algorithms.index(each.b)
        assert each.for_a == tuple(way.name for way in found.ways if way.better_ab[a, b])
        assert each.for_b == tuple(way.name for way in found.ways if way.better_ab[b, a])
        assert len(each.for_a) >= len(each.for_b) > 0
        assert len(each.for_a) + len(each.for_b) + len(each.open) == len(found.ways)
        assert each.why
    listed = {frozenset((each.a, each.b)) for each in found.disagreements}
    for a, b in combinations(range(4), 2):
        opposite = any(way.better_ab[a, b] for way in found.ways) and any(way.better_ab[b, a] for way in found.ways)
        assert (frozenset((found.algorithms[a], found.algorithms[b])) in listed) == opposite


def test_one_terrible_algorithm_by_hand() -> None:
    """With declared ranges it scores the worst possible, and min-max becomes what the ranges say at the lower end."""
    found = untuned.compare_methods(
        SCORES, resamples=20, workers=1, ranges={"maze": (-90.0, 20.0), "arm": (-90.0, 20.0)}
    )
    shown = next(each for each in found.demonstrations if each.name == "terrible")
    rows = {row[0]: row[1:] for row in shown.rows}

    def min_max(worst: float | None) -> list[float]:
        values = []
        for name in MEANS:
            parts = []
            for place in ("maze", "arm"):
                means = [mean(other, place) for other in MEANS] + ([] if worst is None else [worst])
                parts.append((mean(name, place) - min(means)) / (max(means) - min(means)))
            values.append(sum(parts) / 2)
        return values

    before, after = min_max(None), min_max(-90.0)
    move, kept, _ = rows["min-max-normalised means"]
    assert move == pytest.approx(max(abs(y - x) for x, y in zip(before, after, strict=True)))
    assert kept == pytest.approx(100 * (max(after) - min(after)) / (max(before) - min(before)))
    # One more reference that all others beat: scores become (4 y + 1)/5, and their distances 4/5.
    assert rows["equal weights"][1:] == pytest.approx((80.0, 0.0))


def test_copies_move_equal_weights_by_what_the_mean_says(found: MethodComparison) -> None:
    shown = next(each for each in found.demonstrations if each.name == "copies")
    rows = {(row[0], row[1]): row[2:] for row in shown.rows}
    wins = np.array(
        [
            [
                np.mean(
                    [
                        np.mean([(x > y) + 0.5 * (x == y) for x in SCORES[a][e] for y in SCORES[r][e]])
                        if a != r
                        else 0.5
                        for r in MEANS
                    ]
                )
                for e in ("maze", "arm")
            ]
            for a in MEANS
        ]
    )
    for count in (1, 3, 10):
        moves = [
            np.abs((wins.sum(axis=1) + count * wins[:, e]) / (2 + count) - wins.mean(axis=1)).max() for e in range(2)
        ]
        assert rows["equal weights", count][0] == pytest.approx(max(moves))
        assert float(rows["the game's weights", count][0]) > 0
        for way in ("equal weights", "the game's weights"):
            moved, _, mean_moved, flips = rows[f"{way}, with the copies declared a family", count]
            assert (moved, mean_moved) == pytest.approx((0, 0), abs=1e-9)
            assert flips == 0
    assert "Declared a family, copies move no score by more than 0.000" in " ".join(shown.sentences)


def test_families_of_a_study(found: MethodComparison) -> None:
    """A family with a copy counts as the environment alone."""
    table = untuned.read_scores({name: {**row, "maze-2": row["maze"]} for name, row in SCORES.items()})
    families = {"mazes": ("maze", "maze-2")}
    declared = untuned.compare_methods(replace(table, families=families), resamples=20, workers=1)
    assert declared.skipped == ()
    for name in ("equal weights", "the game's weights"):
        assert declared.way(name).value_a == pytest.approx(found.way(name).value_a)
    shown = next(each for each in declared.demonstrations if each.name == "copies")
    assert shown.sentences[-1] == "Here every environment counts by itself, those of declared families, too."


def test_row_order_and_workers_change_nothing(found: MethodComparison) -> None:
    turned = {
        name: {place: SCORES[name][place][::-1] for place in reversed(("maze", "arm"))}
        for name in reversed(list(MEANS))
    }
    other = untuned.compare_methods(turned, resamples=200, workers=2)
    for way in found.ways:
        again = other.way(way.name)
        assert again.value_a[::-1] == pytest.approx(way.value_a, nan_ok=True)
        assert (again.better_ab[::-1, ::-1] == way.better_ab).all()


def test_json_and_page(found: MethodComparison, tmp_path: Path) -> None:
    content = json.loads(found.to_json())
    assert [each["name"] for each in content["ways"]] == [each.name for each in found.ways]
    assert content["summary"] == found.sentences()
    name = '<b>mine</b> & "theirs"'
    scores = {name: SCORES["slow"], "even": SCORES["even"]}
    page = tmp_path / "page.html"
    untuned.compare_methods(scores, out=page, resamples=20, workers=1)
    html = page.read_text(encoding="utf-8")
    assert "<b>mine" not in html
    assert "&lt;b&gt;mine&lt;/b&gt; &amp; &#34;theirs&#34;" in html
    assert "http" not in html.replace("http-equiv", "")
    again = tmp_path / "again.html"
    untuned.compare_methods(scores, out=again, resamples=20, workers=1)
    assert again.read_bytes() == page.read_bytes()


def test_unusual_scores(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="two or more"):
        untuned.compare_methods({"a": {"x": [1.0, 2.0]}})
    with pytest.raises(InvalidInput, match=r"let it end in \.html"):
        untuned.compare_methods(SCORES, out=tmp_path / "page.txt")
    # Found before anything is read.
    with pytest.raises(InvalidInput, match="delta=2 is outside"):
        untuned.compare_methods(SCORES, delta=2)
    with pytest.raises(UnknownName, match="way of evaluating"):
        untuned.compare_methods({"a": {"x": [1.0, 2.0]}, "b": {"x": [3.0, 4.0]}}, resamples=5).way("ways")
    single = untuned.compare_methods({"a": {"x": [1.0, 2.0]}, "b": {"x": [3.0, 4.0]}}, resamples=5)
    assert "the game's weights" not in [each.name for each in single.ways]
    missing = untuned.compare_methods({"a": {"x": [1.0, 2.0], "y": [1.0]}, "b": {"x": [3.0, 4.0]}}, resamples=5)
    assert {name for name, _ in missing.skipped} >= {
        "mean rank",
        "performance ratios",
        "significance tests per environment",
    }


def test_families_weigh_where_they_can_and_are_declined_in_words_elsewhere() -> None:
    """Two mazes of one family and an arm: families give a and b one environment each, environments put a ahead."""
    rng = np.random.default_rng(3)
    means = {"a": (8.0, 8.0, 5.0), "b": (5.0, 5.0, 8.0), "c": (6.0, 6.0, 6.0)}
    scores = {
        name: {place: rng.normal(mean, 1, 20) for place, mean in zip(("maze-1", "maze-2", "arm"), row, strict=True)}
        for name, row in means.items()
    }
    table = ScoreTable.from_dict(scores)
    found = compared(replace(table, families={"maze": ("maze-1", "maze-2")}), Judging(resamples=20))
    plain = compared(table, Judging(resamples=20))
    assert found.skipped == ()
    for method in ("pbp", "pbp-t", "bootstrap"):
        name = f"{method} (as published)"
        assert found.way(name).value_a == pytest.approx(plain.way(name).value_a)
        assert "Families are not used" in found.way(name).about
    assert "every family of environments and every reference" in found.way("equal weights").about
    lows = [min(row[place].min() for row in scores.values()) for place in ("maze-1", "maze-2", "arm")]
    highs = [max(row[place].max() for row in scores.values()) for place in ("maze-1", "maze-2", "arm")]
    scaled = [
        (scores["a"][place].mean() - low) / (high - low)
        for place, low, high in zip(("maze-1", "maze-2", "arm"), lows, highs, strict=True)
    ]
    mean_way = next(way for way in found.ways if way.name.startswith("mean") and way.name.endswith("min-max"))
    assert mean_way.value_a[0] == pytest.approx(np.dot(scaled, [0.25, 0.25, 0.5]))
    told = {each.name: " ".join(each.sentences) for each in found.demonstrations}
    assert "Families are not used" in told["terrible"]
    assert "every environment counts by itself" in told["copies"]
    assert "families" not in str(plain.to_json()).lower()


def test_one_run_per_cell_cannot_be_resampled() -> None:
    rng = np.random.default_rng(0)
    scores = {name: {place: [float(rng.normal())] for place in "xyz"} for name in "abc"}
    found = untuned.compare_methods(scores, resamples=20, workers=1)
    skipped = dict(found.skipped)
    for name in ("bootstrap (as published)", "summaries of min-max-normalised scores"):
        assert "cannot be resampled" in skipped[name]
    assert not any("bootstrap" in each.about for each in found.ways)


def test_the_condition_of_the_guarantee_stands_with_it(found: MethodComparison, tmp_path: Path) -> None:
    claim = untuned.evaluate(SCORES).claim
    assert f"The guaranteed ways: {claim}" in found.notes
    assert json.loads(found.to_json())["notes"] == list(found.notes)
    rng = np.random.default_rng(0)
    in_order = {
        name: {place: np.sort(rng.normal(mean, 1, 60)) for place in "xy"} for name, mean in (("a", 3), ("b", 0))
    }
    page = tmp_path / "page.html"
    other = untuned.compare_methods(in_order, resamples=20, workers=1, accept=["sorted-rows"], out=page)
    assert "sorted-rows: the finding was accepted" in " ".join(other.notes)
    assert "sorted-rows: the finding was accepted" in page.read_text(encoding="utf-8")


def test_missing_cells_are_explained() -> None:
    scores = {name: dict(row) for name, row in SCORES.items()}
    del scores["poor"]["arm"]
    found = untuned.compare_methods(scores, resamples=20, workers=1)
    assert "poor has no scores on arm: it has no summary" in " ".join(found.notes)
    ratios = next(each for each in found.demonstrations if each.name == "ratios")
    assert ratios.sentences == ("Ratios need scores of every algorithm on every environment.",)


def test_facts_on_a_pair_are_those_of_the_ways(found: MethodComparison) -> None:
    way = next(each for each in found.ways if each.name.startswith("mean") and each.name.endswith("min-max"))
    for each in found.disagreements:
        a, b = found.algorithms.index(each.a), found.algorithms.index(each.b)
        gap = way.value_a[a] - way.value_a[b]
        said = f"min-max-normalised means differ by {abs(gap):.3f} on average for {each.a if gap > 0 else each.b}"
        assert said in " ".join(each.why)


def test_promises_of_tests_and_words_on_contradictions(found: MethodComparison) -> None:
    assert found.way("t tests").promise == "none"
    assert found.way("t tests, Bonferroni").promise == "approximate"
    contradicted = any(found.contradictions(each) for each in found.ways)
    assert ("a contradicted conclusion need not be wrong" in " ".join(found.sentences())) == contradicted
