"""What is said across rankings: how they compare, head to head, next steps, and the paragraph to paste."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

import untuned
from support.judging import evaluate
from untuned.evaluation import Evaluation, HeadToHead
from untuned.judge.approximate import approximated
from untuned.plans import Plan, PlannedPair
from untuned.scores import ScoreTable
from untuned.statements import OPPOSITE, approximation, comparison, decimals, direct, failed, next_steps, statement
from untuned.verdicts import Pairs

NAMES = ("ant", "bee", "cat", "dog")


def few(trials: int = 5, apart: float = 9.0, environments: str = "xy", names: tuple[str, ...] = NAMES) -> ScoreTable:
    spread = np.linspace(0.0, 1.0, trials)
    return ScoreTable.from_dict({name: dict.fromkeys(environments, spread - apart * a) for a, name in enumerate(names)})


@pytest.fixture(scope="module")
def found() -> Evaluation:
    return evaluate(few())


def matrix(*better: str) -> NDArray[np.bool_]:
    """Return verdicts from words: "ab" for a is better than b."""
    known = np.zeros((4, 4), dtype=np.bool_)
    for pair in better:
        known["abcd".index(pair[0]), "abcd".index(pair[1])] = True
    return known


def decided(found: Evaluation, **better: tuple[str, ...]) -> Evaluation:
    """Return an evaluation with these verdicts under its weights, and no others."""

    def pairs(weights: str) -> Pairs:
        low = np.where(matrix(*better.get(weights, ())), 0.01, -0.1)
        np.fill_diagonal(low, 0.0)
        return Pairs(low, -low.T)

    return replace(found, rankings=tuple(replace(each, pairs=pairs(each.weights)) for each in found.rankings))


def test_rankings_are_compared_by_what_they_decide(found: Evaluation) -> None:
    assert comparison(decided(found)) == ("Neither weighting decides a pair.",)
    (alone,) = comparison(decided(found, uniform=("ab", "ac", "cd")))
    assert alone == "Equal weights decide 3 of 6 pairs; the game's weights decide none."
    (alone,) = comparison(decided(found, game=("ab",)))
    assert alone == "The game's weights decide 1 of 6 pairs; equal weights decide none."
    (same,) = comparison(decided(found, uniform=("ab", "cd"), game=("ab", "cd")))
    assert "same 2 of 6 pairs" in same
    agreed, equal, game = comparison(decided(found, uniform=("ab", "ac"), game=("ab", "bd")))
    assert "1 pair" in agreed
    assert re.search("Equal weights .* the game's weights do not: ant over cat", equal)
    assert re.search("The game's weights .* equal weights do not: bee over dog", game)


def test_opposite_verdicts_come_first(found: Evaluation) -> None:
    first, *_ = comparison(decided(found, uniform=("ab", "cd"), game=("ba", "cd")))
    assert first.startswith(OPPOSITE)
    assert "1 pair: with equal weights, ant over bee; under the game's weights, the other way round" in first
    many = tuple(a + b for a in "abcd" for b in "abcd" if a < b)
    (first,) = comparison(decided(found, uniform=many, game=tuple(pair[::-1] for pair in many)))
    assert "6 pairs" in first
    assert "2 more" in first


def test_one_ranking_has_nothing_to_compare_with() -> None:
    alone = evaluate(few(), weights="uniform")
    assert alone.comparison == ()
    assert len(alone.each_ranking) == 1


def test_head_to_head_names_cycles_and_what_no_ranking_decides(found: Evaluation) -> None:
    def said(*better: str, **ranked: tuple[str, ...]) -> str:
        half = np.full((4, 4), 0.5)
        return " ".join(
            direct(replace(decided(found, **ranked), head_to_head=HeadToHead(half, half, half, matrix(*better))))
        )

    assert "3 of 6 pairs decided" in said("ab", "bc", "ac", uniform=("ab", "bc", "ac"))
    assert "alone:" not in said("ab", uniform=("ab",))
    assert "Decided head to head alone: ant over bee." in said("ab", game=("cd",))
    assert "ant beats bee, bee beats cat, cat beats ant" in said("ab", "bc", "ca")
    assert "the other way round than in a ranking: bee over ant" in said("ba", uniform=("ab",))
    assert direct(replace(found, head_to_head=None)) == ()


@pytest.mark.parametrize("trials", [1, 7, 8, 9, 10, 11, 12])
def test_below_the_number_of_trials_that_is_named_nothing_can_be_decided(trials: int) -> None:
    """The scores are as far apart as can be, and no score is shared."""
    found = evaluate(few(trials))
    told = [re.search(r"under the game's weights.* at least (\d+)", step) for step in found.next_steps]
    named = [int(each[1]) for each in told if each is not None]
    game = found.under("game").pairs.better_ab
    # Twelve comparisons share half of delta: log2(2 12/0.025) = 9.9.
    assert named == ([10] if trials < 10 else [])
    if trials < 10:
        assert not game.any()


def test_next_steps_are_for_rankings_that_decide_nothing(found: Evaluation) -> None:
    assert next_steps(decided(found, uniform=("ab",), game=("ab",))) == ()
    steps = " ".join(next_steps(decided(found)))
    assert "--approximate" in steps
    assert "--plan" in steps
    assert "--weights both" not in steps
    game = evaluate(few(), weights="game")
    assert "--weights both" in " ".join(game.next_steps)
    plan = Plan("pairing", "game", False, 0.05, NAMES, "ant", 5, 5, 0, 100, (PlannedPair("ant", "bee", 30),))
    steps = " ".join(next_steps(decided(found), [plan]))
    assert plan.sentences()[0] in steps
    assert "--plan" not in steps


def test_a_cell_that_holds_all_back_is_named() -> None:
    full = few(12)
    scores = {(a, e): full.cell(a, e) for a in full.algorithms for e in full.environments}
    scores["bee", "y"] = scores["bee", "y"][:1]
    uneven = decided(evaluate(ScoreTable.from_dict(scores)))
    assert "bee has 1 trial on y, other cells up to 12" in " ".join(uneven.next_steps)
    # Two that were declared identical have their trials together.
    shared = decided(evaluate(ScoreTable.from_dict(scores, identical=[["ant", "bee"]])))
    assert "bee has 1 trial" not in " ".join(shared.next_steps)


def test_the_paragraph_says_what_was_compared_found_and_assumed(found: Evaluation) -> None:
    text = statement(decided(found, uniform=("ac", "bc", "ad", "bd")))
    for words in ("4 algorithms", "2 environments", "5 trials", "Jordan et al., 2020", "95 %", "delta = 0.05"):
        assert words in text
    for words in ("method pooled", "method pairing", "independent trials", "chosen beforehand"):
        assert words in text
    assert "ant and bee are better than cat and dog" in text
    assert "2 of 6 pairs are not separable yet: ant and bee, cat and dog." in text
    assert "Under the game's weights (method pairing), none of 6 pairs is decided." in text
    order = statement(decided(found, uniform=("ab", "ac", "ad", "bc", "bd", "cd")))
    assert "all 6 pairs are decided; from best to worst: ant, bee, cat and dog" in order
    # The scores are in order, which is refused unless it is accepted, and then told.
    accepted = untuned.evaluate(few(), accept=["sorted-rows"]).statement
    assert untuned.__version__ in accepted
    assert "a check of the scores found otherwise (sorted-rows)" in accepted


def test_the_paragraph_of_an_approximate_method_promises_nothing() -> None:
    text = evaluate(few(), intervals="bootstrap", resamples=20).statement
    assert "approximate, without guarantee" in text
    assert "probability at least" not in text
    assert "however often results were looked at" in evaluate(few(), intervals="betting").statement
    assert "number and the weights chosen beforehand" in evaluate(few(), weights=[1.0, 3.0]).statement


def test_long_lists_are_counted() -> None:
    names = tuple(f"algorithm-{a}" for a in range(30))
    many = evaluate(few(5, 0.01, names=names), weights="uniform")
    better = np.triu(np.ones((30, 30)), 2)
    low = np.where(better > 0, 0.1, -0.1)
    text = statement(replace(many, rankings=(replace(many.rankings[0], pairs=Pairs(low, -low.T)),)))
    assert re.search(r"and there are \d+ more verdicts", text)
    assert "29 of 435 pairs are not separable yet" in text
    assert len(text) < 2500


def test_the_bootstrap_adds_an_answer_and_takes_nothing_back(found: Evaluation) -> None:
    with_it = approximated(decided(found, uniform=("ab",)))
    assert approximation(found) == ()
    other = with_it.approximate
    assert other is not None
    assert not other.valid
    assert with_it.valid
    assert [each.method for each in other.rankings] == ["bootstrap", "bootstrap"]
    equal, game, *warnings = approximation(with_it)
    assert re.search(r"With equal weights: \d of 6 pairs decided, in addition ant over cat", equal)
    assert "ant over bee" not in equal
    assert "Under the game's weights: " in game
    assert any("too few for an approximate method" in warning for warning in warnings)
    assert with_it.to_dict()["approximate"]["sentences"] == [equal, game, *warnings]
    assert approximated(evaluate(few(), intervals="bootstrap", resamples=20)).approximate is None


def test_the_bootstrap_has_the_same_weights_and_refuses_empty_cells_in_a_sentence() -> None:
    given = approximated(evaluate(few(), weights={"x": 3, "y": 1}))
    assert given.approximate is not None
    assert [each.weights for each in given.approximate.rankings] == ["given"]
    np.testing.assert_array_equal(given.approximate.q_er, given.q_er)
    alone = approximated(evaluate(few(), intervals="pooled"))
    assert alone.approximate is not None
    assert [each.weights for each in alone.approximate.rankings] == ["uniform"]
    empty = evaluate(ScoreTable.from_dict({"a": {"x": [1.0, 2.0], "y": [1.0]}, "b": {"x": [0.0], "y": []}}))
    told = approximated(empty)
    assert told.approximate is None
    assert "bootstrap cannot draw" in told.warnings[-1]
    assert told.warnings[:-1] == empty.warnings


# Failures.


def failing(**failures: tuple[int, ...]) -> Evaluation:
    """Return an evaluation with given numbers of failed trials, of ten, on each environment, by algorithm."""

    def cell(name: str, e: int, first: int) -> NDArray[np.float64]:
        values = np.linspace(0.0, 1.0, 10) + first
        values[: failures.get(name, (0, 0))[e]] = np.nan
        return values

    names = tuple(dict.fromkeys((*failures, "good")))
    table = {name: {each: cell(name, e, a) for e, each in enumerate("xy")} for a, name in enumerate(names)}
    return evaluate(ScoreTable.from_dict(table, ranges=(-1.0, 99.0), nonfinite="worst"), weights="uniform")


def test_an_algorithm_that_crashed_in_all_of_its_trials_is_named_first() -> None:
    found = failing(sarsa=(0, 3), mine=(10, 10), single=(1, 0))
    everything = "mine failed in all of its 20 trials: each counts as the worst score of its environment."
    assert failed(found) == (
        everything,
        "sarsa failed in 3 of 20 trials (y); they count as the worst score.",
        "single failed in 1 of 20 trials (x); it counts as the worst score.",
    )
    assert repr(found).splitlines()[1:4] == list(failed(found))
    assert found._repr_html_().startswith(f"<p>{everything}</p>")
    facts = found.to_dict()
    assert next(iter(facts)) == "failures"
    assert facts["failures"] == [
        {"algorithm": "mine", "failed": 20, "trials": 20, "environments": ["x", "y"]},
        {"algorithm": "sarsa", "failed": 3, "trials": 20, "environments": ["y"]},
        {"algorithm": "single", "failed": 1, "trials": 20, "environments": ["x"]},
    ]
    # The verdicts do not stand without a word either.
    assert found.verdicts[-1] == facts["verdicts"][-1] == "Every trial of mine failed."
    assert (
        "Trials that failed (20 of 20 of mine, 3 of 20 of sarsa and 1 of 20 of single) count as the worst score of "
        "their environment."
    ) in found.statement


def test_where_nothing_failed_nothing_is_said_of_failures(found: Evaluation) -> None:
    assert failed(found) == ()
    assert found.to_dict()["failures"] == []
    assert "failed" not in repr(found) + found._repr_html_() + found.statement


def test_one_trial_is_the_only_one() -> None:
    alone = evaluate(
        ScoreTable.from_dict({"a": {"x": [np.nan]}, "b": {"x": [1.0]}}, ranges=(0, 1), nonfinite="worst"),
        weights="uniform",
    )
    assert failed(alone) == ("a failed in its only trial, which counts as the worst score of its environment.",)


def test_many_algorithms_that_fail_are_cut_and_counted() -> None:
    names = "abcdefgh"
    lines = failed(failing(**{name: (10 - a, 0) for a, name in enumerate(names)}))
    assert len(lines) == 6
    assert lines[0] == "a failed in 10 of 20 trials (x); they count as the worst score."
    assert lines[-1] == "3 more algorithms failed in 12 of 60 trials: f, g and h."
    # A last line for one algorithm says as much as its own.
    assert len(failed(failing(**dict.fromkeys(names[:6], (1, 0))))) == 6


def test_where_everything_failed_there_is_nothing_to_compare() -> None:
    found = failing(mine=(10, 10), good=(10, 10))
    assert failed(found) == ("Every trial of every algorithm failed: there is nothing to compare.",)
    assert found.verdicts[-1] == "Every trial of mine and good failed."
    assert [row["failed"] for row in found.failures] == [20, 20]
    (step,) = next_steps(found)
    assert "fix that first" in step


def test_trials_behind_a_missing_one_are_not_counted_as_failed_either() -> None:
    whole = failing(mine=(8, 2)).scores
    cut = replace(whole, unbroken_ae=np.array([[3, 10], [10, 10]]))
    (row,) = evaluate(cut, intervals="betting").failures
    assert row == {"algorithm": "mine", "failed": 5, "trials": 13, "environments": ["x", "y"]}
    none = replace(whole, unbroken_ae=np.array([[0, 0], [10, 10]]))
    assert evaluate(none, intervals="betting").failures == []


@pytest.mark.parametrize(
    ("intervals", "neutral", "wanted"),
    [
        # Half an interval of 0.3 has two digits, and so has half of 0.03.
        ([(0.5, 0.8)], None, 2),
        ([(0.5, 0.53), (0.1, 0.13), (0.0, 1.0)], None, 3),
        ([(0.5, 0.5001)], None, 4),
        ([], None, 3),
        ([(0.2, 0.2), (-math.inf, math.inf)], None, 3),
        # The end that decides a pair is not rounded to what says that it is open.
        ([(0.003, 0.3)], 0.0, 3),
        ([(-0.3, -0.0003)], 0.0, 4),
        ([(-0.003, 0.3)], 0.0, 2),
        ([(0.502, 0.9)], 0.5, 3),
    ],
)
def test_digits_of_scores_are_those_of_their_intervals(
    intervals: list[tuple[float, float]], neutral: float | None, wanted: int
) -> None:
    assert decimals(intervals, neutral) == wanted
