"""Plans: numbers of trials that can be worked out by hand, pairs that get none, and what is said of them; designs."""

import json
import math
import re
from typing import Any

import numpy as np
import pytest

from support.judging import evaluate
from untuned.errors import InvalidInput, UnknownName
from untuned.evaluation import Evaluation
from untuned.judge import evaluate as evaluating
from untuned.judge.averaged_bound import SHARE_OF_GAME as FUNCTIONAL
from untuned.judge.design import design
from untuned.judge.jit import INTERPRETED
from untuned.judge.judging import Judging
from untuned.judge.plan import MOST, chained, plan
from untuned.judge.pool import pools
from untuned.judge.pooled.bounds import VERDICTS
from untuned.judge.pooled.evidence import Weighed, differences, growth, weighed, with_more_trials
from untuned.judge.pooled.forecast import effort, nats_of
from untuned.plans import Design, Detectable, Plan, PlannedPair, Why, in_words
from untuned.scores import Floats, ScoreTable

# Numbers of trials are tried in equal ratios: no prediction is further above the right one than this.
RATIO = 1.14

#: log(2 N/delta) for the two comparisons of two algorithms on two environments, delta = 0.05.
NATS = math.log(2 * 2 / 0.05)


#: For what simulates many boards.
simulated = pytest.mark.skipif(INTERPRETED, reason="takes minutes without the compiler: unset NUMBA_DISABLE_JIT")


def winning(share: float, size: int) -> Floats:
    """Return scores of which this share is above 1/2, evenly spread: betting takes them in order."""
    won = round(share * size)
    return np.array([float((k + 1) * won // size > k * won // size) for k in range(size)])


def constant(size: int) -> Floats:
    return np.full(size, 0.5)


def two(share: float = 0.6, size: int = 100, environments: int = 2) -> ScoreTable:
    """Return scores of A, whose percentiles against B are all ``share``."""
    cells = [[winning(share, size)] * environments, [constant(size)] * environments]
    return ScoreTable.from_array(cells, ["A", "B"])


def entropy(u: float, q: float = 0.5) -> float:
    return u * math.log(u / q) + (1.0 - u) * math.log((1.0 - u) / (1.0 - q))


def normal_table(seed: int = 1) -> ScoreTable:
    """Return scores of three algorithms on three environments, of which no two are separable."""
    means = np.array([[0.0, 0.1, 0.3], [0.4, 0.3, 0.5], [0.2, 0.2, 0.4]])
    rng = np.random.default_rng(seed)
    return ScoreTable.from_array(means[:, :, None] + rng.normal(size=(3, 3, 60)), ["A", "B", "C"])


def only(evaluation: Evaluation, most: int = MOST) -> PlannedPair:
    """Return the plan of the one pair that is open."""
    (pair,) = plan(evaluation, most=most).pairs
    return pair


@pytest.mark.parametrize("weights", ["game", "uniform"])
def test_a_pair_is_decided_when_every_percentile_is_above_one_half(weights: str) -> None:
    pair = only(evaluate(two(), intervals="kl", weights=weights))
    right = NATS / entropy(0.6)
    assert (pair.a, pair.b, pair.why) == ("A", "B", None)
    assert pair.trials is not None
    assert right <= pair.trials <= RATIO * right


def test_the_functional_bound_counts_where_it_would_be_in_use() -> None:
    """With four environments of equal weight: 0.1 > c/sqrt(4 T)/2, c^2 = 2 log(2/0.025), before the intervals do it.

    Both references are of the pair, so a row is within 1/2 of 0.
    """
    pair = only(evaluate(two(size=30, environments=4), intervals="kl", weights="uniform"))
    right = 2.0 * math.log(2 / 0.025) / 4 / 0.1**2 / 4
    assert math.log(2 * 4 / 0.025) / entropy(0.6) > 1.3 * right
    assert pair.trials is not None
    assert right <= pair.trials <= RATIO * right


def test_the_functional_bound_is_not_used_with_betting() -> None:
    def planned(environments: int, delta: float) -> int:
        table = two(environments=environments)
        number = only(evaluate(table, intervals="betting", weights="uniform", delta=delta)).trials
        assert number is not None
        return number

    # The same level for each interval, so the same number of trials, however many environments there are.
    assert planned(4, 0.1) == planned(2, 0.05)


def test_intervals_of_certain_wins_shrink_as_fast_as_the_number_of_trials() -> None:
    """A beats B in all of 4 trials: the lower end is (d/2)^(1/T), above 1/2 from log2(2/d) on."""
    pair = only(evaluate(two(share=1.0, size=4), intervals="kl", weights="uniform"))
    right = NATS / math.log(2.0)
    assert pair.trials is not None
    assert right <= pair.trials <= RATIO * right + 1


def test_pbp_is_predicted_by_its_own_formula() -> None:
    """A beats B always: z is at least (1 - epsilon)^2, with a band for each of four cells."""
    pair = only(evaluate(two(share=1.0, size=10), intervals="pbp"))
    right = math.log(2 * 4 / 0.05) / 2 / (1.0 - math.sqrt(0.5)) ** 2
    assert pair.trials is not None
    assert right <= pair.trials <= RATIO * right + 1


@pytest.mark.parametrize(("shift", "size", "seed"), [(0.1, 50, 3), (1.0, 10, 8)])
def test_pbp_t_shrinks_like_a_square_root(shift: float, size: int, seed: int) -> None:
    """In the second case Student's interval is wider than [0, 1] on one side, and is cut there."""
    scores = np.array([[[shift]], [[0.0]]]) + np.random.default_rng(seed).normal(size=(2, 1, size))
    evaluation = evaluate(ScoreTable.from_array(scores, ["A", "B"]), intervals="pbp-t", weights="uniform")
    table = evaluation.percentiles
    assert table.low_aer is not None
    assert table.high_aer is not None
    half = np.maximum(table.z_aer - table.low_aer, table.high_aer - table.z_aer)[:, 0, :]
    # y[A] - y[B] = (z[A, B] - z[B, A])/2, and each has an interval of its own.
    right = size * ((half[0, 1] + half[1, 0]) / (table.z_aer[0, 0, 1] - table.z_aer[1, 0, 0])) ** 2
    pair = only(evaluation)
    assert pair.trials is not None
    assert right <= pair.trials <= RATIO * right + 1


def test_trials_that_wait_for_a_full_block_do_not_count() -> None:
    ones = np.array([*winning(0.6, 20), *winning(0.6, 10)])

    def planned(size: int) -> int:
        table = ScoreTable.from_array([[ones[:size]] * 2, [constant(size)] * 2], ["A", "B"])
        number = only(evaluate(table, intervals="betting")).trials
        assert number is not None
        return number

    assert 1 / RATIO <= planned(30) / planned(20) <= RATIO


def test_intervals_that_say_nothing_yet_are_taken_for_those_of_kl() -> None:
    """Ten trials are not a full block: only the level is known of the width."""
    pair = only(evaluate(two(size=10), intervals="betting"))
    right = NATS / entropy(0.6)
    assert pair.trials is not None
    assert right <= pair.trials <= RATIO * (right + 20)


def test_a_cell_that_has_more_keeps_what_it_has() -> None:
    """The smaller sample decides how wide an interval is, so the larger one's trials neither help nor count again."""
    table = ScoreTable.from_array([[winning(0.6, 1000)] * 2, [constant(100)] * 2], ["A", "B"])
    found = plan(evaluate(table, intervals="kl", weights="uniform"))
    right = NATS / entropy(0.6)
    (pair,) = found.pairs
    assert (found.fewest, found.largest) == (100, 1000)
    assert pair.trials is not None
    assert right <= pair.trials <= RATIO * right
    assert found.sentences()[0].startswith(
        "Under equal weights, about 230 trials in every cell, existing ones included, would probably"
    )


def test_what_is_declared_identical_shares_its_trials_and_is_never_told_apart() -> None:
    """A and B have 100 trials each and C 400: with T each, A and B have 2 T in common."""
    cells = [[winning(0.6, 100)] * 2, [winning(0.6, 100)] * 2, [constant(400)] * 2]
    table = ScoreTable.from_array(cells, ["A", "B", "C"], identical=[["A", "B"]])
    found = plan(evaluate(table, intervals="kl", weights="uniform"))
    assert [(pair.a, pair.b, pair.why) for pair in found.pairs if pair.trials is None] == [("A", "B", "identical")]
    right = NATS / entropy(0.6) / 2
    for name in ("A", "B"):
        number = found.trials(name, "C")
        assert number is not None
        assert right <= number <= RATIO * right
    assert found.to_lead is None
    assert any("declared identical" in sentence for sentence in found.sentences())


@pytest.mark.parametrize("weights", ["game", "uniform"])
def test_equal_scores_get_no_number(weights: str) -> None:
    pair = only(evaluate(two(share=0.5), weights=weights))
    assert (pair.trials, pair.why) == (None, "equal")


def test_more_than_the_most_gets_no_number() -> None:
    evaluation = evaluate(two(), intervals="kl")
    assert only(evaluation, most=300).trials is not None
    assert only(evaluation, most=200) == PlannedPair("A", "B", None, "beyond")


def test_percentiles_that_are_equal_get_no_number() -> None:
    """Payoffs that are equal, and not by construction, leave moves of the game open even without any error."""
    wins, ties, losses = [1.0] * 10, [0.5] * 10, [0.0] * 10
    table = ScoreTable.from_array([[ties, wins], [ties, ties], [wins, losses]], ["A", "B", "C"])
    evaluation = evaluate(table, weights="game")
    tied = [pair for pair in plan(evaluation).pairs if pair.why == "tied"]
    assert tied
    assert all(pair.trials is None for pair in tied)


@pytest.mark.parametrize("weights", ["game", "uniform"])
def test_nothing_is_predicted_about_cells_without_trials(weights: str) -> None:
    table = ScoreTable.from_array([[np.empty(0), winning(0.6, 50)], [constant(50)] * 2], ["A", "B"])
    found = plan(evaluate(table, weights=weights))
    assert [(pair.trials, pair.why) for pair in found.pairs] == [(None, "missing")]
    assert (found.fewest, found.missing) == (50, 1)
    assert "run a few in the empty cells first" in found.sentences()[0]


def test_a_missing_cell_that_does_not_matter_leaves_a_number_and_a_note() -> None:
    cells: list[list[Floats]] = [[winning(0.7, 20)] * 3, [np.empty(0), constant(20), constant(20)]]
    table = ScoreTable.from_array(cells, ["A", "B"])
    weights = {"environment-1": 0.1, "environment-2": 0.45, "environment-3": 0.45}
    found = plan(evaluate(table, intervals="kl", weights=weights))
    assert found.pairs[0].trials is not None
    assert any(sentence.startswith("1 cell has no trials") for sentence in found.sentences())


def test_where_everything_is_decided_there_is_nothing_to_plan() -> None:
    found = plan(evaluate(two(size=1000)))
    assert found.pairs == ()
    assert (found.to_lead, found.to_settle, found.trials("A", "B")) == (1000, 1000, 1000)
    assert found.sentences() == ("Under the game's weights all pairs are decided: no more trials are needed.",)


@pytest.mark.parametrize("method", ["pairing", "betting", "bentkus", "kl", "wilson", "pbp"])
def test_who_may_be_wrong_more_often_needs_fewer_trials(method: str) -> None:
    numbers = [only(evaluate(two(), intervals=method, delta=delta)).trials for delta in (0.0001, 0.01, 0.05)]
    assert None not in numbers
    strict, usual, generous = (number or 0 for number in numbers)
    assert strict > usual > generous > 100


def test_a_smaller_difference_needs_more_trials() -> None:
    wide, close = (only(evaluate(two(share))).trials for share in (0.6, 0.55))
    assert wide is not None
    assert close is not None
    assert close > 3 * wide


def test_predictions_respect_what_follows_from_others() -> None:
    found = plan(evaluate(normal_table()))
    assert len(found.pairs) == 3
    best, middle, last = found.leader, *(pair.b for pair in found.pairs[:2])
    near, far, whole = found.trials(best, middle), found.trials(middle, last), found.trials(best, last)
    assert near is not None
    assert far is not None
    assert whole is not None
    assert found.fewest < whole <= max(near, far)
    assert found.to_settle == max(near, far)
    assert found.to_lead == max(near, whole)


def test_better_than_something_better_is_better() -> None:
    never = math.inf
    numbers = np.array([[never, 100.0, 900.0], [never, never, 300.0], [never, never, never]])
    assert chained(numbers)[0].tolist() == [never, 100.0, 300.0]
    assert chained(numbers)[1].tolist() == [never, never, 300.0]


def test_no_number_depends_on_the_workers_and_progress_is_told() -> None:
    evaluation = evaluate(normal_table())
    told: list[tuple[str, int, int]] = []
    one = plan(evaluation, progress=lambda *what: told.append(what))
    assert told == [("plan", done, 3) for done in range(4)]
    assert plan(evaluation, workers=2).pairs == one.pairs


def test_the_evaluation_says_how_much_branching_there_is() -> None:
    table = ScoreTable.from_array(np.random.default_rng(5).normal(size=(3, 4, 40)) + np.arange(3.0)[:, None, None] / 4)
    with_it, without = (plan(evaluate(table, refine=refine)).pairs for refine in (200, 0))
    assert [(pair.a, pair.b) for pair in with_it] == [(pair.a, pair.b) for pair in without]
    numbers = [
        (pair.trials or math.inf, other.trials or math.inf) for pair, other in zip(with_it, without, strict=True)
    ]
    assert all(one <= other for one, other in numbers)
    assert any(one < other for one, other in numbers)


def test_what_cannot_be_planned_with_is_refused() -> None:
    with pytest.raises(InvalidInput, match="evaluate with 'pairing'"):
        plan(evaluate(two(), intervals="bootstrap", resamples=10))
    with pytest.raises(InvalidInput, match="conventions='valid'"):
        plan(evaluate(two(), intervals="pbp", conventions="paper"))
    with pytest.raises(InvalidInput, match=r"most=100: .* already"):
        plan(evaluate(two()), most=100)
    with pytest.raises(InvalidInput, match="workers=0"):
        plan(evaluate(two()), workers=0)
    with pytest.raises(InvalidInput, match="not ScoreTable"):
        plan(two())  # type: ignore[arg-type]


def made(*pairs: PlannedPair, anytime: bool = False, fewest: int = 300, largest: int = 300) -> Plan:
    """Return a plan of four algorithms, of which A leads."""
    method = "betting" if anytime else "pairing"
    return Plan(method, "game", anytime, 0.05, ("A", "B", "C", "D"), "A", fewest, largest, 0, MOST, pairs)


def no_number(why: Why) -> PlannedPair:
    return PlannedPair("C", "D", None, why)


def test_a_pair_in_words() -> None:
    prediction, caution, how = made(PlannedPair("A", "B", 1163)).sentences()
    assert re.search(r"900 more trials per cell \(1,200 in all\).* A from B", prediction)
    assert "prediction" in caution
    assert "not a guarantee" in caution
    assert "allow one look" in how
    assert "many new ones" in how
    assert "'anytime'" in how


def test_a_method_for_all_times_invites_to_look() -> None:
    assert "look as often as you like" in made(PlannedPair("A", "B", 1163), anytime=True).sentences()[-1]
    assert "look as often as you like" not in made(PlannedPair("A", "B", 1163)).sentences()[-1]


def test_many_pairs_in_few_words() -> None:
    found = made(
        PlannedPair("A", "B", 700),
        PlannedPair("A", "C", 1190),
        PlannedPair("A", "D", 450),
        PlannedPair("B", "C", 900),
        PlannedPair("B", "D", 5100),
        no_number("beyond"),
    )
    assert found.sentences()[:4] == (
        "Under the game's weights, about 600 more trials per cell (900 in all) would probably decide 3 of the 6 "
        "remaining pairs.",
        "About 900 more trials per cell (1,200 in all) would probably show that A is the best.",
        "About 4,800 more trials per cell (5,100 in all) would probably decide 5 of the 6 remaining pairs.",
        "Not even 10,000,000 trials per cell would separate C from D.",
    )
    assert "Numbers beyond 3,000 trials" in found.sentences()[5]
    assert len(found.sentences()) == 7
    assert (found.to_lead, found.to_settle) == (1190, None)
    assert repr(found) == "\n".join(found.sentences())


def test_what_one_number_does_is_one_sentence() -> None:
    found = made(PlannedPair("A", "B", 1190), PlannedPair("C", "D", 1150))
    assert found.sentences()[0] == (
        "Under the game's weights, about 900 more trials per cell (1,200 in all) would probably separate A from B, "
        "which makes A the best, and decide both remaining pairs."
    )
    assert "Numbers beyond" not in repr(found)


@pytest.mark.parametrize("why", ["identical", "equal", "tied", "missing", "beyond"])
def test_without_a_number_the_reason_is_all_there_is_to_say(why: Why) -> None:
    (sentence,) = made(no_number(why)).sentences()
    assert "C from D" in sentence


def test_long_lists_are_cut() -> None:
    (sentence,) = made(*[no_number("equal")] * 6).sentences()
    assert "C from D, C from D, C from D, and 3 more pairs" in sentence


def test_a_plan_as_json() -> None:
    found = json.loads(json.dumps(made(PlannedPair("A", "B", 1163), no_number("tied")).to_dict()))
    assert found["pairs"] == [
        {"a": "A", "b": "B", "trials": 1163, "more": 863, "why": None},
        {"a": "C", "b": "D", "trials": None, "more": None, "why": "tied"},
    ]
    assert (found["to_lead"], found["to_settle"], found["trials"]) == (1163, None, [300, 300])
    assert (found["weights"], found["method"]) == ("game", "pairing")


def test_names_are_looked_at() -> None:
    found = made(PlannedPair("A", "B", 1163))
    assert found.trials("B", "A") == 1163
    assert found.trials("C", "D") == 300
    with pytest.raises(UnknownName, match="E"):
        found.trials("A", "E")


def spread(trials: int, seed: int = 0, gap: float = 0.3, size: tuple[int, int] = (3, 6)) -> ScoreTable:
    """Return normal scores on several environments, of algorithms with evenly spaced means: the last is the best."""
    rng = np.random.default_rng(seed)
    means = gap * np.arange(size[0])[:, None] + 0.2 * rng.normal(size=size)
    names = [f"algorithm {a}" for a in range(size[0])]
    return ScoreTable.from_array(means[:, :, None] + rng.normal(size=(*size, trials)), names)


@simulated
def test_the_first_ranking_is_planned_with_its_part_of_delta() -> None:
    both = evaluate(spread(8))
    game, equal = plan(both), plan(both.under("uniform"))
    assert (game.method, game.weights, game.delta) == ("pairing", "game", 0.025)
    assert (equal.method, equal.weights, equal.delta) == ("pooled", "uniform", 0.025)
    alone = [plan(evaluate(spread(8), weights=weights, delta=0.025)) for weights in ("game", "uniform")]
    assert (game.pairs, equal.pairs) == (alone[0].pairs, alone[1].pairs)
    assert "Under equal weights, about" in equal.sentences()[0]
    given = evaluate(spread(8), weights={"environment-1": 2.0, "environment-2": 1.0})
    assert plan(given).weights == "given"
    assert plan(given).sentences()[0].startswith("Under the given weights, ")


def test_rankings_that_hold_on_the_same_event_have_all_of_delta_each() -> None:
    both = evaluate(two(), intervals="kl", weights="both")
    assert plan(both).delta == 0.05
    assert plan(both).pairs == plan(evaluate(two(), intervals="kl", weights="game")).pairs


def test_functional_bounds_have_a_part_of_their_ranking_s_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """With two rankings by methods of their own, the parts of delta of all that is used sum to delta."""
    deltas: list[float] = []

    def kept(name: str, place: int) -> None:
        real = getattr(evaluating, name)

        def called(*arguments: Any, **options: Any) -> Any:
            deltas.append(arguments[place])
            return real(*arguments, **options)

        monkeypatch.setattr(evaluating, name, called)

    kept("boxes_with_weight", 4)
    kept("_bounded", 3)
    kept("bounded_by_evidence", 5)
    monkeypatch.setattr(evaluating, "share", lambda trials_ae, q_er: FUNCTIONAL)
    evaluate(two(size=20), refine=0)
    assert deltas == [pytest.approx(each) for each in (0.025 * (1 - FUNCTIONAL), 0.025 * FUNCTIONAL, 0.025)]


def test_pooled_pairs_that_always_win_are_decided_when_the_bets_have_won_enough() -> None:
    """A beats B in every trial: more trials are more wins, whichever are resampled, so the number is exact."""
    table = ScoreTable.from_array([[[1.0]] * 3, [[0.0]] * 3], ["A", "B"])
    found = plan(evaluate(table, weights="uniform"))
    (pair,) = found.pairs
    assert pair.trials is not None

    def decided(trials: int) -> bool:
        more = ScoreTable.from_array([[[1.0] * trials] * 3, [[0.0] * trials] * 3], ["A", "B"])
        return evaluate(more, weights="uniform").verdict("A", "B") == "better"

    fewest = next(trials for trials in range(1, 30) if decided(trials))
    assert fewest <= pair.trials <= 1.3 * fewest + 1


@simulated
def test_a_pooled_plan_does_not_depend_on_rows_workers_or_scales() -> None:
    table = spread(6)
    found = plan(evaluate(table, weights="uniform"))
    assert found.pairs
    assert any(pair.trials is not None and pair.trials > 6 for pair in found.pairs)
    turned = ScoreTable.from_array([[np.exp(cell[::-1]) for cell in row] for row in table.cells], table.algorithms)
    assert plan(evaluate(turned, weights="uniform")).pairs == found.pairs
    assert plan(evaluate(table, weights="uniform"), workers=2).pairs == found.pairs
    last = ScoreTable.from_array(table.cells[::-1], table.algorithms[::-1])
    assert {(pair.a, pair.b, pair.trials) for pair in plan(evaluate(last, weights="uniform")).pairs} == {
        (pair.a, pair.b, pair.trials) for pair in found.pairs
    }


@simulated
def test_pooled_plans_of_equal_identical_and_far_pairs() -> None:
    assert only(evaluate(two(share=0.5), weights="uniform")).why == "equal"
    same = ScoreTable.from_array(spread(5).cells, ["A", "B", "C"], identical=[["A", "B"]])
    assert [pair.why for pair in plan(evaluate(same, weights="uniform")).pairs if {pair.a, pair.b} == {"A", "B"}] == [
        "identical"
    ]
    close = evaluate(spread(5, gap=0.02, seed=3), weights="uniform")
    assert {pair.why for pair in plan(close, most=10).pairs} == {"beyond"}


@simulated
def test_pooled_plans_with_ragged_and_missing_cells() -> None:
    cells = [list(row) for row in spread(8, gap=0.6).cells]
    cells[0][0] = cells[0][0][:1]
    cells[2][3] = cells[2][3][:3]
    ragged = plan(evaluate(ScoreTable.from_array(cells, ["A", "B", "C"]), weights="uniform"))
    assert (ragged.fewest, ragged.largest, ragged.missing) == (1, 8, 0)
    assert all(pair.trials is not None and pair.trials > 1 for pair in ragged.pairs)
    cells[0][0] = np.empty(0)
    holes = plan(evaluate(ScoreTable.from_array(cells, ["A", "B", "C"]), weights="uniform"))
    assert holes.missing == 1
    cells[0] = [cells[0][0]] * 5 + [cells[0][5]]
    unknown = plan(evaluate(ScoreTable.from_array(cells, ["A", "B", "C"]), weights="uniform"))
    assert {pair.why for pair in unknown.pairs if "A" in (pair.a, pair.b)} == {"missing"}


@simulated
def test_evidence_is_carried_on_to_more_trials() -> None:
    """From 100 trials to 1,600: about what 1,600 of the same distributions give, to within a third."""
    n, m, gap = 3, 6, 0.1
    means = gap * np.arange(n)[:, None] * np.ones((1, m))
    z = 0.5 + 0.5 * np.vectorize(math.erf)((means[:, 0][:, None] - means[:, 0][None, :]) / 2.0)
    theta = z.mean(axis=1)[:, None] - z.mean(axis=1)[None, :]
    nats = nats_of(n, 0.05)
    q_er = np.full((m, n), 1.0 / (n * m))

    def given(trials: int, seed: int) -> Weighed:
        scores = means[:, :, None] + np.random.default_rng(seed).normal(size=(n, m, trials))
        table = ScoreTable.from_array(scores)
        return weighed(table, pools(table), q_er)

    carried, actual = [], []
    for seed in range(6):
        small, large = given(100, seed), given(1600, 100 + seed)
        found = with_more_trials(differences(small, nats), growth(small, large, nats), theta)
        carried.append(found.log_e()[2, 0])
        actual.append(differences(large, nats).log_e()[2, 0])
    assert np.mean(carried) == pytest.approx(np.mean(actual), rel=1 / 3)
    same = differences(small, nats)
    assert with_more_trials(same, growth(small, small, nats), theta).log_e() == pytest.approx(same.log_e())


@pytest.mark.parametrize(("n", "m"), [(2, 1), (6, 18), (11, 15), (50, 57), (200, 100)])
def test_the_work_of_a_plan_is_bounded(n: int, m: int) -> None:
    boards, arrangements, trials = effort(n, m)
    assert 3 <= boards <= 9
    assert 2 <= arrangements <= 8
    assert 10 <= trials <= 100


@simulated
def test_a_design_in_numbers() -> None:
    found = design(3, 6, (20, 5))
    assert [each.trials for each in found.detectable] == [5, 20]
    few, many = (each.difference for each in found.detectable)
    assert few is not None
    assert many is not None
    assert 0.0 < many < few < 2 / 3
    trials = design(3, 6, difference=0.2).trials
    assert trials is not None
    assert (trials <= 5) == (few <= 0.2)
    assert (trials <= 20) == (many <= 0.2)
    # log2(2 N/(delta/2)), N = 18 comparisons, is 10.5: with 10 trials no percentile can exclude 1/2.
    assert found.game == math.floor(math.log2(2 * 18 / 0.025)) + 1
    assert design(3, 6, (20, 5), workers=2) == found
    assert design(3, 6, 5, weights="uniform").game is None
    easier = design(3, 6, 5, weights="uniform", delta=0.4).detectable[0].difference
    assert easier is not None
    assert easier < few


@simulated
def test_more_trials_than_are_simulated_find_differences_as_the_square_root_says() -> None:
    one, four = (design(3, 6, trials).detectable[0].difference for trials in (1000, 4000))
    assert one is not None
    assert four == pytest.approx(one / 2)
    assert design(3, 6, difference=four).trials == pytest.approx(4000, rel=0.01)


@simulated
def test_few_trials_find_nothing_whatever_the_difference() -> None:
    found = design(2, 1, 1)
    assert found.detectable == (Detectable(1, None),)
    assert found.game is None
    assert "no difference of scores is found" in found.sentences()[0]
    assert "2 algorithms on 1 environment, equal weights: with 1 trial per cell" in found.sentences()[0]


def separated(trials: int) -> ScoreTable:
    """Return scores of which all trials of a better algorithm beat all of a worse one."""
    ascending = np.arange(3 * 6 * trials, dtype=np.float64).reshape(3, 6, trials)
    return ScoreTable.from_array(ascending, ["A", "B", "C"])


@simulated
def test_below_the_fewest_trials_for_the_game_nothing_is_decided() -> None:
    fewest = design(3, 6, 5).game
    assert fewest is not None
    assert not evaluate(separated(fewest - 1)).under("game").pairs.better_ab.any()
    assert evaluate(separated(fewest)).under("game").pairs.better_ab.any()


@simulated
def test_what_five_trials_find_is_always_said() -> None:
    five = design(3, 6, 5).detectable[0]
    for options in ({}, {"trials": 20}, {"difference": 0.2}, {"hours": 2.0, "seconds": 60.0}):
        found = design(3, 6, **options)
        assert found.five == five
        assert sum("5 trials per cell" in each and "usual number in papers" in each for each in found.sentences()) == 1
    found = design(2, 1, 20)
    assert found.five == Detectable(5, None)
    assert found.sentences()[1] == (
        "With 5 trials per cell, the usual number in papers, no difference of scores is found with a probability of "
        "80 %, however large it is."
    )


@simulated
def test_the_hours_of_a_design() -> None:
    found = design(3, 6, (5, 10), seconds=600, parallel=4)
    # 90 and 180 trials of ten minutes, four at a time.
    assert [row["hours"] for row in found.rows()] == [3.75, 7.5]
    assert found.hours_of(20) == 15.0
    assert (found.seconds, found.parallel, found.hours) == (600.0, 4, None)
    assert design(3, 6, 5).hours_of(5) is None
    # 100 at a time, and no trial is quicker for it.
    assert design(3, 6, 5, seconds=600, parallel=100).hours_of(1) == pytest.approx(1 / 6)


@simulated
@pytest.mark.parametrize(
    ("hours", "seconds", "parallel", "trials"),
    [
        (0.5, 100.0, 1, 1),
        (0.999, 100.0, 1, 1),
        (1.0, 100.0, 1, 2),
        (24, 600, 4, 32),
        (0.7, 20.0, 1, 7),
        (1, 3600, 18, 1),
    ],
)
def test_trials_that_fit_into_hours(hours: float, seconds: float, parallel: int, trials: int) -> None:
    found = design(3, 6, hours=hours, seconds=seconds, parallel=parallel)
    (row,) = found.rows()
    assert row["trials"] == trials
    assert row["hours"] == pytest.approx(trials * 18 * seconds / parallel / 3600)
    assert row["hours"] <= hours * (1 + 1e-9)
    assert row["difference"] == design(3, 6, trials).detectable[0].difference
    assert found.hours == hours
    assert found.trials is None


@pytest.mark.parametrize(
    ("hours", "words"),
    [
        (25 / 3, "8.3 hours"),
        (0.2, "12 minutes"),
        (1.0, "1 hour"),
        (1.04, "1 hour"),
        (12345.6, "12,346 hours"),
        (59.97 / 60, "1 hour"),
        (59.4 / 60, "59.4 minutes"),
        (1 / 60, "1 minute"),
        (1.5 / 3600, "1.5 seconds"),
        (1e-6, "less than 1 second"),
    ],
)
def test_times_in_words(hours: float, words: str) -> None:
    assert in_words(hours) == words


def test_a_design_in_words() -> None:
    found = Design(
        *(6, 18, 0.05, 0.8, 0.5, (Detectable(5, 0.162), Detectable(10, 0.12)), Detectable(5, 0.162)),
        difference=0.1,
        trials=1234,
        game=15,
    )
    assert found.sentences() == (
        "6 algorithms on 18 environments, equal weights: with 5 trials per cell, the usual number in papers, "
        "differences of 0.16 or more are found with a probability of 80 %.",
        "With 10 trials per cell differences of 0.12 or more are found with a probability of 80 %.",
        "About 1,300 trials per cell find differences of 0.1 with a probability of 80 %.",
        "Under the game's weights no verdict is possible with fewer than 15 trials per cell.",
        "This is an average over simulated experiments, not a guarantee: normal scores, environments that disagree by "
        "0.5 standard deviations of a single trial.",
    )
    assert repr(found) == "\n".join(found.sentences())
    facts = json.loads(json.dumps(found.to_dict()))
    assert facts["detectable"] == [
        {"trials": 5, "difference": 0.162, "hours": None},
        {"trials": 10, "difference": 0.12, "hours": None},
    ]
    assert facts["five"] == facts["detectable"][0]
    assert (facts["difference"], facts["trials"], facts["game"]) == (0.1, 1234, 15)
    assert (facts["trials_hours"], facts["seconds"], facts["parallel"], facts["hours"]) == (None, None, 1, None)


def test_a_design_with_hours_in_words() -> None:
    five = Detectable(5, 0.162)
    found = Design(6, 18, 0.05, 0.8, 0.5, (five,), five, seconds=600.0, parallel=8, hours=12.0)
    assert found.sentences() == (
        "6 algorithms on 18 environments, equal weights: with 5 trials per cell (11.2 hours), as many as fit into 12 "
        "hours and the usual number in papers, differences of 0.16 or more are found with a probability of 80 %.",
        "This is an average over simulated experiments, not a guarantee: normal scores, environments that disagree by "
        "0.5 standard deviations of a single trial.",
        "Times are those of trials that take 10 minutes on average, 8 at the same time.",
    )
    facts = json.loads(json.dumps(found.to_dict()))
    assert facts["detectable"] == [{"trials": 5, "difference": 0.162, "hours": 11.25}]
    assert (facts["seconds"], facts["parallel"], facts["hours"]) == (600.0, 8, 12.0)
    wanted = Design(6, 18, 0.05, 0.8, 0.5, (), five, 0.1, 1234, seconds=2.0)
    # In words the time is that of the number that is said, 1,300.
    assert "about 1,300 trials per cell (78 hours) find differences of 0.1" in wanted.sentences()[0]
    assert wanted.sentences()[1].startswith("With 5 trials per cell (18 minutes), the usual number in papers, ")
    assert wanted.sentences()[-1] == "Times are those of trials that take 2 seconds on average, one after the other."
    assert wanted.to_dict()["trials_hours"] == 1234 * 108 * 2 / 3600


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"algorithms": 1}, "algorithms=1"),
        ({"environments": 0}, "environments=0"),
        ({"trials": 0}, "trials=0"),
        ({"trials": ()}, "trials are empty"),
        ({"trials": 2.5}, "trials=2.5"),
        ({"trials": 10**400}, "trials is too large: pass at most 1,000,000,000"),
        ({"trials": 5, "difference": 0.1}, "trials and difference were given: pass one of"),
        ({"difference": 0.1, "hours": 24.0, "seconds": 60.0}, "difference and hours were given"),
        ({"hours": 24.0}, "hours without seconds: pass also how long one trial takes"),
        ({"parallel": 4}, "parallel without seconds"),
        *(({"seconds": bad}, "seconds=") for bad in (0, -1.0, math.nan, math.inf, 10**400, "600", True)),
        *(({"seconds": 60.0, "hours": bad}, "hours=") for bad in (0, -1.0, math.nan, math.inf, "24", True)),
        *(({"seconds": 60.0, "parallel": bad}, "parallel=") for bad in (0, -1, 2.5, math.nan, "4", True, None)),
        ({"seconds": 60.0, "parallel": 10**400}, "parallel is too large"),
        (
            {"seconds": 100.0, "hours": 0.4},
            "hours=0.4 are too few: 1 trial in each of 18 cells takes 30 minutes. Pass ",
        ),
        ({"seconds": 101.0, "hours": 0.5}, "hours=0.51 or more"),
        ({"seconds": 3600.0, "hours": 0.5, "parallel": 1000}, "takes 1 hour"),
        ({"difference": 0.0}, "difference=0.0"),
        ({"difference": 0.9}, "differ by less than 0.667"),
        ({"difference": "much"}, "difference='much'"),
        ({"power": 1.0}, "power=1.0"),
        ({"heterogeneity": -1.0}, "heterogeneity=-1.0"),
        ({"heterogeneity": math.nan}, "heterogeneity=nan"),
        ({"delta": 2.0}, "delta=2.0"),
        ({"weights": "game"}, "weights='game'"),
        ({"seed": -1}, "seed=-1"),
        ({"workers": 0}, "workers=0"),
    ],
)
def test_designs_that_make_no_sense_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        design(**({"algorithms": 3, "environments": 6} | options))


def test_the_evidence_for_verdicts_has_their_part_of_delta() -> None:
    assert nats_of(6, 0.025) == pytest.approx(math.log(30 / (VERDICTS * 0.025)))
    assert Judging().shares(("game", "uniform"))["uniform"] == 0.5
