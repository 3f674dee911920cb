"""Verdicts: partial orders against brute force, sentences, and that every form of an evaluation says the same."""

import itertools
import json
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import untuned
from support.judging import evaluate, with_ranking
from untuned.errors import InvalidInput, UnknownName
from untuned.evaluation import Evaluation
from untuned.judge.differences import closed, separate
from untuned.judge.jit import INTERPRETED
from untuned.judge.methods import METHODS
from untuned.judge.propagate import Bounds, propagated
from untuned.judge.ranks import ranks, ranks_by_verdicts
from untuned.judge.simultaneous_intervals import Boxes, structural
from untuned.scores import ScoreTable
from untuned.verdicts import MOST_GROUPS, RESOLUTION, Pairs, sentences

RANGE = (-10.0, 10.0)
Flags = NDArray[np.bool_]


def random_order(n: int, rng: np.random.Generator) -> Flags:
    """Return a partial order at random, ``[better, worse]``, that nothing needs adding to."""
    better = np.triu(rng.random((n, n)) < rng.choice([0.0, 0.2, 0.5, 1.0]), 1)
    for j in range(n):
        better |= better[:, j, None] & better[None, j, :]
    shuffled = rng.permutation(n)
    result: Flags = better[np.ix_(shuffled, shuffled)]
    return result


def pairs_of(better: Flags) -> Pairs:
    """Return bounds that decide what is in the order and nothing else."""
    high_ab = np.where(better.T, -0.25, 0.5)
    np.fill_diagonal(high_ab, 0.0)
    return Pairs(-high_ab.T, high_ab)


def order_of(*chain: tuple[int, int], n: int) -> Flags:
    better = np.zeros((n, n), dtype=np.bool_)
    for a, b in chain:
        better[a, b] = True
    return better


# --- the partial order


def groups_by_trying(better: Flags) -> list[tuple[int, ...]]:
    """Return all largest sets without a decided pair, from all sets there are."""
    n = len(better)
    alike = [
        set(chosen)
        for size in range(n + 1)
        for chosen in itertools.combinations(range(n), size)
        if not any(better[a, b] or better[b, a] for a, b in itertools.combinations(chosen, 2))
    ]
    largest = [chosen for chosen in alike if not any(chosen < other for other in alike)]
    return sorted(tuple(sorted(chosen)) for chosen in largest if len(chosen) > 1)


@pytest.mark.parametrize("n", range(1, 7))
def test_covers_and_groups_are_those_found_by_trying_everything(n: int) -> None:
    rng = np.random.default_rng(n)
    for _ in range(60):
        better = random_order(n, rng)
        pairs = pairs_of(better)
        np.testing.assert_array_equal(pairs.better_ab, better)
        assert pairs.groups() == groups_by_trying(better)
        covers = pairs.covers()
        assert covers == [
            (a, b)
            for a, b in itertools.product(range(n), repeat=2)
            if better[a, b] and not any(better[a, c] and better[c, b] for c in range(n))
        ]
        # All of the order follows from its covers.
        again = order_of(*covers, n=n)
        for j in range(n):
            again |= again[:, j, None] & again[None, j, :]
        np.testing.assert_array_equal(again, better)
        for a, b in itertools.permutations(range(n), 2):
            expected = "better" if better[a, b] else "worse" if better[b, a] else "not separable yet"
            assert pairs.verdict(a, b) == expected


def test_a_difference_as_small_as_rounding_decides_nothing() -> None:
    for gap, verdict in ((RESOLUTION / 2, "not separable yet"), (RESOLUTION * 2, "better"), (0.0, "not separable yet")):
        high_ab = np.array([[0.0, 0.5], [-gap, 0.0]])
        pairs = Pairs(-high_ab.T, high_ab)
        assert pairs.verdict(0, 1) == verdict
        assert pairs.better_ab[0, 1] == (verdict == "better")
        assert pairs.verdict(1, 0) == {"better": "worse"}.get(verdict, verdict)
        assert pairs.verdict(0, 0) == "not separable yet"


def test_groups_of_more_algorithms_than_a_stack_is_deep() -> None:
    n = 1100
    assert pairs_of(np.zeros((n, n), dtype=np.bool_)).groups() == [tuple(range(n))]
    assert pairs_of(np.triu(np.ones((n, n), dtype=np.bool_), 1)).groups() == []
    # Only the first can be told from the last.
    found = pairs_of(order_of((0, n - 1), n=n)).groups()
    assert found == [tuple(range(n - 1)), tuple(range(1, n))]


# --- in words


def words(better: Flags, names: Sequence[str] | None = None, order: Sequence[int] | None = None) -> list[str]:
    n = len(better)
    letters = [chr(ord("a") + a) if n <= 26 else f"x{a}" for a in range(n)]
    return sentences(pairs_of(better), names or letters, order or range(n))


def test_sentences_of_two_algorithms() -> None:
    assert words(order_of((0, 1), n=2)) == ["a is better than b."]
    assert words(order_of((1, 0), n=2), order=[1, 0]) == ["b is better than a."]
    assert words(order_of(n=2)) == ["a and b are not separable yet."]
    assert words(order_of(n=2), order=[1, 0]) == ["b and a are not separable yet."]


def test_sentences_of_a_few_algorithms() -> None:
    everything = np.triu(np.ones((4, 4), dtype=np.bool_), 1)
    assert words(everything) == ["From best to worst: a, b, c, d.", "All 6 pairs are decided."]
    two_by_two = order_of((0, 2), (0, 3), (1, 2), (1, 3), (2, 3), n=4)
    assert words(two_by_two)[:2] == ["a and b are better than c and d.", "c is better than d."]
    assert words(order_of(n=3)) == ["a, b and c are not separable yet.", "None of 3 pairs is decided."]
    assert words(order_of((2, 0), n=3), order=[2, 1, 0]) == [
        "c is better than a.",
        "c and b are not separable yet.",
        "b and a are not separable yet.",
        "1 of 3 pairs is decided.",
    ]
    fork = order_of((0, 1), (0, 2), (0, 3), (1, 3), n=4)
    assert words(fork, names=["new", "<b>", "à & co.", "算法"]) == [
        "new is better than all others.",
        "<b> is better than 算法.",
        "<b> and à & co. are not separable yet.",
        "à & co. and 算法 are not separable yet.",
        "4 of 6 pairs are decided.",
    ]


def test_sentences_of_many_algorithms_are_cut() -> None:
    listed = "a, b, c, d, e, f, g, h and"
    assert words(order_of(n=9))[0] == f"{listed} i are not separable yet."
    assert words(order_of(n=10))[0] == f"{listed} 2 more are not separable yet."
    assert words(order_of(n=12))[0] == f"{listed} 4 more are not separable yet."
    assert words(order_of(n=50))[0] == ("x0, x1, x2, x3, x4, x5, x6, x7 and 42 more are not separable yet.")
    decided = words(np.triu(np.ones((50, 50), dtype=np.bool_), 1))
    assert decided[0].startswith("From best to worst: x0, x1, x2")
    assert decided[-1] == "All 1,225 pairs are decided."
    better = np.triu(np.ones((50, 50), dtype=np.bool_), 1)
    better[48, 49] = False
    nearly = words(better)
    assert len(nearly) == 50
    assert nearly[0] == "x0 is better than all others."
    assert nearly[1] == "x1 is better than x2, x3, x4, x5, x6, x7, x8, x9 and 40 more."
    assert nearly[40] == "x40 is better than x41, x42, x43, x44, x45, x46, x47, x48 and x49."
    assert nearly[-1] == "1,224 of 1,225 pairs are decided."


@pytest.mark.parametrize(
    ("n", "more"), [(9, None), (10, "1 more group"), (11, "2 more groups"), (50, "41 more groups")]
)
def test_sentences_of_many_groups_are_counted(n: int, more: str | None) -> None:
    # Neighbours are not separable, all others are.
    better = np.triu(np.ones((n, n), dtype=np.bool_), 2)
    found = words(better)
    apart = [sentence for sentence in found if sentence.endswith("are not separable yet.")]
    assert len(apart) == 8
    assert apart[0].startswith("a and b are" if n <= 26 else "x0 and x1 are")
    counted = [sentence for sentence in found if sentence.startswith("The same holds")]
    assert counted == ([] if more is None else [f"The same holds for {more}."])
    assert found[-1] == f"{(n - 1) * (n - 2) // 2:,} of {n * (n - 1) // 2:,} pairs are decided."


# --- ranks


def test_ranks_by_verdicts_are_those_of_intervals_where_there_is_nothing_else() -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        n = int(rng.integers(2, 8))
        score = rng.integers(9, size=n) / 8.0
        low, high = score - rng.integers(4, size=n) / 16.0, score + rng.integers(4, size=n) / 16.0
        found = ranks_by_verdicts(score, separate(Bounds(low, high, 0.0)).pairs())
        expected = ranks(score, low, high, RESOLUTION)
        for mine, theirs in ((found.rank, expected.rank), (found.worst, expected.worst), (found.best, expected.best)):
            np.testing.assert_array_equal(mine, theirs)


def test_ranks_by_verdicts_count_what_is_decided() -> None:
    found = ranks_by_verdicts(np.array([0.9, 0.1, 0.5, 0.5 + RESOLUTION / 2]), pairs_of(order_of((0, 1), (2, 1), n=4)))
    assert found.rank.tolist() == [1, 4, 2, 2]
    assert found.worst.tolist() == [3, 4, 3, 4]
    assert found.best.tolist() == [1, 3, 1, 1]


# --- of an evaluation


def table(trials: int = 150, algorithms: int = 4, step: float = 0.8, **options: Any) -> ScoreTable:
    rng = np.random.default_rng(11)
    names = ["third", "first", "last", "second"][:algorithms]
    shift = {"first": 3 * step, "second": 2 * step, "third": step, "last": 0.0}
    scores = {name: {place: rng.normal(shift[name], 1.0, trials) for place in ("hill", "maze")} for name in names}
    return ScoreTable.from_dict(scores, **{"ranges": RANGE, **options})


def assert_all_forms_agree(found: Evaluation) -> None:
    names, n = found.algorithms, len(found.algorithms)
    best_first = [names[a] for a in found.order]
    rows = found.pair_rows()
    assert [(row["a"], row["b"]) for row in rows] == list(itertools.combinations(best_first, 2))
    for row in rows:
        assert list(row) == ["a", "b", "difference", "low", "high", "verdict", "cap"]
        a, b = names.index(row["a"]), names.index(row["b"])
        assert row["difference"] == found.score_a[a] - found.score_a[b] >= 0.0
        assert row["cap"] is None or (row["verdict"] != "not separable yet" and row["cap"] >= 1.0)
        assert (row["low"], row["high"]) == (found.pairs.low_ab[a, b], found.pairs.high_ab[a, b])
        assert (row["low"], row["high"]) == found.difference(row["a"], row["b"])
        low, high = found.difference(row["b"], row["a"])
        assert (row["low"], row["high"]) == (-high, -low)
        assert row["low"] <= row["high"]
        assert row["verdict"] == found.verdict(row["a"], row["b"])
        opposite = {"better": "worse", "worse": "better"}.get(row["verdict"], row["verdict"])
        assert found.verdict(row["b"], row["a"]) == opposite
        # No wider than what the two intervals say.
        assert row["low"] >= found.low_a[a] - found.high_a[b] - 1e-12
        assert row["high"] <= found.high_a[a] - found.low_a[b] + 1e-12
    better = {(a, b) for a, b in itertools.permutations(names, 2) if found.verdict(a, b) == "better"}
    covers = set(found.partial_order)
    assert covers <= better
    reached = set(covers)
    while more := {(a, d) for a, b in reached for c, d in covers if b == c} - reached:
        reached |= more
    assert reached == better
    for group in found.groups:
        assert len(group) > 1
        assert sorted(group, key=best_first.index) == list(group)
        assert not any(pair in better for pair in itertools.permutations(group, 2))
    told = {frozenset(pair) for group in found.groups for pair in itertools.combinations(group, 2)}
    assert told | {frozenset(pair) for pair in better} == {frozenset(pair) for pair in itertools.combinations(names, 2)}
    assert list(found.groups) == sorted(found.groups, key=lambda group: [best_first.index(name) for name in group])
    assert found.verdicts == tuple(sentences(found.pairs, names, found.order))
    for a, name in enumerate(names):
        assert found.ranks.worst[a] == n - sum(winner == name for winner, _ in better)
        assert found.ranks.best[a] == 1 + sum(loser == name for _, loser in better)
    content = json.loads(found.to_json())
    assert content["pairs"] == rows
    assert content["groups"] == [list(group) for group in found.groups]
    assert content["partial_order"] == [list(pair) for pair in found.partial_order]
    assert content["verdicts"] == list(found.verdicts)
    assert found.verdicts[0] in repr(found).splitlines()
    assert f"<p>{escape(found.verdicts[0])}</p>" in found._repr_html_()


@pytest.mark.parametrize("intervals", METHODS)
@pytest.mark.parametrize("conventions", ["valid", "paper"])
@pytest.mark.parametrize("weights", ["game", "uniform", [1.0, 3.0]])
def test_every_evaluation_has_pairs_that_all_forms_agree_on(intervals: str, conventions: Any, weights: Any) -> None:
    if (conventions == "paper" and not METHODS[intervals].published) or (
        METHODS[intervals].fixed and weights == "game"
    ):
        return
    found = evaluate(table(), intervals=intervals, conventions=conventions, weights=weights, resamples=50, refine=20)
    assert_all_forms_agree(found)
    assert any(row["verdict"] == "better" for row in found.pair_rows()) or (intervals, conventions) == ("pbp", "paper")


def test_bounds_on_aggregates_alone_say_what_approximate_and_published_verdicts_are() -> None:
    choices: list[dict[str, Any]] = [{}, {"intervals": "bootstrap", "resamples": 50}]
    for options in choices:
        found = evaluate(table(), conventions="paper", **options)
        expected = separate(Bounds(found.low_a, found.high_a, 0.0)).pairs()
        np.testing.assert_array_equal(found.pairs.high_ab, expected.high_ab)
        by_intervals = ranks(found.score_a, found.low_a, found.high_a, RESOLUTION)
        np.testing.assert_array_equal(found.ranks.worst, by_intervals.worst)
        np.testing.assert_array_equal(found.ranks.best, by_intervals.best)


def test_given_weights_have_differences_of_their_own() -> None:
    # On two environments nothing would be gained.
    assert evaluate(table(), intervals="pairing", weights="uniform").settings["functional"] == 0.0
    rng = np.random.default_rng(3)
    scores = ScoreTable.from_array(rng.normal(0.3 * np.arange(4)[:, None, None], 1.0, size=(4, 6, 150)))
    uneven = evaluate(scores, intervals="pairing", weights=[9.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    assert uneven.settings["functional"] == 0.0
    found = evaluate(scores, intervals="pairing", weights="uniform", delta=0.1)
    apart = separate(Bounds(found.low_a, found.high_a, 0.0)).high_ab
    assert (found.pairs.high_ab <= apart + 1e-15).all()
    assert found.settings["functional"] == 0.5
    # By hand: half of delta for 12 ordered pairs, each an average of six environments with 150 trials. Of the four
    # references two count half, for that is all the direct comparison can add to either side of 1/2.
    error = np.sqrt(2.0 * np.log(12 / 0.05)) * np.sqrt(6 * (3 / 4 / 6) ** 2 / 150)
    estimate = found.score_a[:, None] - found.score_a[None, :]
    off = ~np.eye(4, dtype=np.bool_)
    by_hand = closed(np.where(off, np.minimum(estimate + error, apart), 0.0))
    np.testing.assert_allclose(found.pairs.high_ab, by_hand, atol=1e-12)
    assert (found.pairs.high_ab < apart - 0.01)[off].any()


def test_an_environment_without_weight_may_be_empty() -> None:
    rng = np.random.default_rng(3)
    drawn = rng.normal(0.3 * np.arange(4)[:, None, None], 1.0, size=(4, 6, 150))
    cells = [[*row, rng.normal(size=0 if a == 1 else 2)] for a, row in enumerate(drawn)]
    found = evaluate(ScoreTable.from_array(cells), intervals="pairing", weights=[1.0] * 6 + [0.0])
    assert found.settings["functional"] == 0.5
    apart = separate(Bounds(found.low_a, found.high_a, 0.0)).high_ab
    error = np.sqrt(2.0 * np.log(12 / 0.025)) * np.sqrt(6 * (3 / 4 / 6) ** 2 / 150)
    estimate = found.score_a[:, None] - found.score_a[None, :]
    by_hand = closed(np.where(np.eye(4, dtype=np.bool_), 0.0, np.minimum(estimate + error, apart)))
    np.testing.assert_allclose(found.pairs.high_ab, by_hand, atol=1e-12)
    assert (found.pairs.high_ab < apart - 0.01).any()


@pytest.mark.parametrize("weights", ["game", "uniform"])
def test_missing_cells_leave_pairs_open(weights: Any) -> None:
    full = table()
    scores = {(a, e): full.cell(a, e) for a in full.algorithms for e in full.environments if (a, e) != ("last", "maze")}
    found = evaluate(ScoreTable.from_dict(scores, ranges=RANGE), weights=weights)
    assert_all_forms_agree(found)
    assert found.settings.get("functional", 0.0) == 0.0
    scores["last", "hill"] = np.array([])
    nothing = ScoreTable.from_dict(scores, ranges=RANGE)
    unknown = evaluate(nothing, weights=weights)
    assert_all_forms_agree(unknown)
    assert {unknown.verdict("last", other) for other in ("first", "second", "third")} == {"not separable yet"}


def test_what_is_declared_identical_is_never_told_apart() -> None:
    found = evaluate(table(identical=[["first", "second"]]), refine=50)
    assert_all_forms_agree(found)
    assert found.verdict("first", "second") == "not separable yet"
    assert ("first", "second") in found.groups
    low, high = found.difference("first", "second")
    assert low <= 0.0 <= high
    assert found.verdict("first", "last") == found.verdict("second", "last") == "better"


def test_names_that_nobody_has() -> None:
    found = evaluate(table())
    for ask in (found.difference, found.verdict):
        with pytest.raises(UnknownName, match="did you mean 'second'"):
            ask("first", "secnod")
        with pytest.raises(UnknownName, match="did you mean 'first'"):
            ask("frist", "second")
    assert found.difference("first", "first") == (0.0, 0.0)


def test_a_notebook_shows_verdicts_as_text() -> None:
    rng = np.random.default_rng(1)
    found = evaluate(ScoreTable.from_array(rng.normal(size=(2, 2, 5)), ["<b>", "a\n&"], ["x", "y"]))
    assert "<b>" not in found._repr_html_()
    assert "&lt;b&gt; and a" in found._repr_html_() or "a\n&amp; and &lt;b&gt;" in found._repr_html_()


# --- branching


@pytest.mark.parametrize("refine", [-1, 2.5, "many", True, float("nan")])
def test_numbers_of_cases_that_are_none(refine: Any) -> None:
    with pytest.raises(InvalidInput, match=r"refine=.* at least 0, 0 for no branching, None for what suits the size"):
        evaluate(table(), refine=refine)
    with pytest.raises(InvalidInput, match="refine="):
        untuned.evaluate(table(), refine=refine)


def test_the_number_of_cases_is_kept_to_and_told() -> None:
    few, none = evaluate(table(), refine=5), evaluate(table(), refine=0)
    assert few.settings["refine"] == 5
    assert none.settings["refine"] == 0
    assert (few.pairs.high_ab <= none.pairs.high_ab).all()
    # Intervals on aggregates do not depend on it.
    np.testing.assert_array_equal(few.low_a, none.low_a)
    np.testing.assert_array_equal(few.high_a, none.high_a)
    assert evaluate(table(), refine=np.int32(5)).to_json() == few.to_json()
    # By default fewer on larger boards: 3e7 over the moves of all joint strategies, and no more than 3000.
    assert evaluate(table()).settings["refine"] == 3000
    wide = ScoreTable.from_array(np.random.default_rng(0).normal(size=(6, 40, 3)))
    assert evaluate(wide).settings["refine"] == int(3e7 / (6 * 6 * 40 * (6 + 6 * 40)))
    # Given weights leave nothing to branch on.
    assert "refine" not in evaluate(wide, weights="uniform").settings


#: A board of random scores on which each way to bound a difference decides more than the one before, by search.
POWERFUL = 4


@pytest.mark.skipif(INTERPRETED, reason="branching takes minutes without the compiler: unset NUMBA_DISABLE_JIT")
def test_differences_decide_what_intervals_do_not_and_branching_decides_more() -> None:
    rng = np.random.default_rng(POWERFUL)
    cells = [[rng.normal(0.5 * a + 0.3 * rng.normal(), 1.0, size=200) for _ in range(8)] for a in range(4)]
    scores = ScoreTable.from_array(cells, ranges=RANGE)
    plain, branched = (evaluate(scores, weights="game", refine=cases) for cases in (0, 150))
    low, high = plain.percentiles.low_aer, plain.percentiles.high_aer
    assert low is not None
    assert high is not None
    published = separate(propagated(Boxes(low, high, structural(scores.kinds)))).pairs()
    assert published.better_ab.sum() == 0
    assert 0 < plain.pairs.better_ab.sum() < branched.pairs.better_ab.sum()
    assert not (plain.pairs.better_ab & ~branched.pairs.better_ab).any()
    assert_all_forms_agree(branched)


def test_groups_are_cut_off_where_there_are_as_many_as_subsets() -> None:
    """Twenty-five pairs that differ from each other only: any choice of one from each is a group, 2^25 of them."""
    high = np.ones((50, 50))
    for first in range(0, 50, 2):
        high[first, first + 1] = -1.0
    pairs = Pairs(-high.T, high)
    groups = pairs.groups()
    assert len(groups) == MOST_GROUPS == len(set(groups))
    better = pairs.better_ab
    for group in groups[:20]:
        assert len(group) == 25
        assert not better[np.ix_(group, group)].any()
    said = sentences(pairs, [f"algorithm-{number}" for number in range(50)], range(50))
    assert "The same holds for at least 992 more groups." in said


def test_what_holds_at_all_times_has_no_part_that_holds_for_one_look_only() -> None:
    """The functional bound does not: a number of trials chosen after looking is not covered by it."""
    rng = np.random.default_rng(3)
    scores = ScoreTable.from_array(rng.normal(0.3 * np.arange(3)[:, None, None], 1.0, size=(3, 6, 60)))
    assert evaluate(scores, intervals="pairing", weights="uniform").settings["functional"] == 0.5
    found = evaluate(scores, intervals="betting", weights="uniform")
    assert found.settings["functional"] == 0.0
    np.testing.assert_array_equal(found.pairs.high_ab, closed(separate(Bounds(found.low_a, found.high_a, 0.0)).high_ab))


@pytest.mark.parametrize("seed", range(12))
def test_rank_sets_are_the_places_in_all_rankings_without_a_contradiction(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    better = random_order(n, rng)
    wide = np.ones((n, n)) - np.eye(n)
    pairs = Pairs(-wide, wide, better)
    score_a = rng.random(n)
    evaluation = evaluate(ScoreTable.from_array(rng.random((n, 2, 3))))
    evaluation = with_ranking(evaluation, score_a=score_a, pairs=pairs, ranks=ranks_by_verdicts(score_a, pairs))
    places: dict[str, set[int]] = {name: set() for name in evaluation.algorithms}
    for order in itertools.permutations(range(n)):
        place = {a: number for number, a in enumerate(order, start=1)}
        if all(place[a] < place[b] for a, b in np.argwhere(better)):
            for a, name in enumerate(evaluation.algorithms):
                places[name].add(place[a])
    assert {name: set(found) for name, found in evaluation.rank_sets.items()} == places
    assert list(evaluation.rank_sets) == [evaluation.algorithms[a] for a in evaluation.order]
