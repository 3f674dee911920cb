"""Bounds on differences hold: thousands of small games whose truth is known, each inside intervals drawn around it."""

import functools
import itertools

import numpy as np
import pytest

from oracle.reference import judging
from untuned.judge import branching, differences, game
from untuned.judge.averaged_bound import SHARE_OF_GIVEN, functional, given_weights, share
from untuned.judge.branching import Refined, difference_goal, refined
from untuned.judge.differences import Differences, closed, direct, may_decide, pairs_to_solve, separate
from untuned.judge.jit import INTERPRETED
from untuned.judge.percentiles import Percentiles
from untuned.judge.propagate import Bounds, aggregate_goals, bounds_of, solution, solutions
from untuned.judge.simultaneous_intervals import ONE_HALF, Boxes, structural
from untuned.judge.transitions import board, part_of
from untuned.scores import Floats, Ints
from untuned.verdicts import RESOLUTION

PARTS = (0, 1, 4)
# What an interpreter does without: most of the games.
GAMES = 12 if INTERPRETED else 2400
SOME = 4 if INTERPRETED else 240
#: The oracle's rounding, and that of a solution's certificate.
ROUNDING = 1e-10


@functools.cache
def drawn(number: int) -> tuple[Floats, Boxes]:
    """Return payoffs that could be, and intervals around them.

    What one wins the other loses, declared-identical algorithms have equal payoffs, and some payoffs are equal without
    any reason, or exactly one half. Ends are at the payoff itself at times, and at one half.
    """
    rng = np.random.default_rng([20206, number])
    n, m = int(rng.choice([2, 3, 3, 4])), int(rng.integers(1, 4))
    kinds = rng.integers(n, size=(m, n)) if rng.random() < 0.4 else np.tile(np.arange(n), (m, 1))
    ids = structural(kinds)
    levels = int(rng.choice([2, 8, 2**40]))
    reach = float(rng.choice([0.0, 0.02, 0.1, 0.3, 1.0]))
    z, low, high = (np.full((n, m, n), 0.5) for _ in range(3))
    for a, e, r in itertools.product(range(n), range(m), range(n)):
        if ids[a, e, r] == ONE_HALF or a > r:
            continue
        # Multiples of a power of one half: one less them is exact.
        payoff = 0.5 if rng.random() < 0.1 else int(rng.integers(levels + 1)) / levels
        ends = np.clip(payoff + reach * rng.random(2) * [-1.0, 1.0], 0.0, 1.0)
        ends = np.where(rng.random(2) < 0.15, payoff, ends)
        ends = np.where((rng.random(2) < 0.2) & ([payoff >= 0.5, payoff <= 0.5]), 0.5, ends)
        forth, back = ids == ids[a, e, r], ids == ids[r, e, a]
        z[forth], z[back] = payoff, 1.0 - payoff
        low[forth], high[forth] = ends
        low[back], high[back] = 1.0 - ends[::-1]
    return z, Boxes(low, high, ids)


@functools.cache
def truth(number: int) -> tuple[Floats, Floats]:
    """Return the game's aggregates and weights."""
    return judging.aggregate(drawn(number)[0])


def gaps(y: Floats) -> Floats:
    result: Floats = y[:, None] - y[None, :]
    return result


def bounded(boxes: Boxes, parts: int) -> tuple[Bounds, list[Floats]]:
    solved = solutions(aggregate_goals(boxes), boxes, parts=parts)
    return bounds_of(solved), [each.values for each in solved]


def one_by_one(boxes: Boxes, parts: int) -> Floats:
    """Return the bounds on all differences, without other bounds."""
    n = boxes.low_aer.shape[0]
    made = board(boxes, parts)
    high_ab = np.zeros((n, n))
    for i, j in itertools.permutations(range(n), 2):
        high_ab[i, j] = solution(difference_goal(boxes, i, j), made)[0].bound
    return high_ab


def test_the_games_of_these_tests_are_of_all_kinds() -> None:
    games = [drawn(number) for number in range(GAMES)]
    for z, boxes in games:
        assert (boxes.low_aer <= z).all()
        assert (z <= boxes.high_aer).all()
        np.testing.assert_array_equal(z + z.transpose(2, 1, 0), 1.0)
    own = [boxes.same_aer != ONE_HALF for _, boxes in games]
    share = 0.05 * GAMES
    assert sum(bool((z[here] == 0.5).any()) for (z, _), here in zip(games, own, strict=True)) > share
    assert sum(bool((boxes.low_aer == z)[here].any()) for (z, boxes), here in zip(games, own, strict=True)) > share
    assert sum(bool((boxes.low_aer[here] == 0.5).any()) for (_, boxes), here in zip(games, own, strict=True)) > share
    assert sum(bool(np.ptp(boxes.high_aer - boxes.low_aer) > 0.2) for _, boxes in games) > share
    numbers = [
        (len(np.unique(z[here])), len(np.unique(boxes.same_aer[here])))
        for (z, boxes), here in zip(games, own, strict=True)
    ]
    assert sum(payoffs < ids for payoffs, ids in numbers) > share


@pytest.mark.slow
def test_aggregates_and_differences_are_within_their_bounds_which_parts_make_narrower() -> None:
    for number in range(GAMES):
        _, boxes = drawn(number)
        y = truth(number)[0]
        low, high, direct_ab = [], [], []
        for parts in PARTS:
            bounds, _ = bounded(boxes, parts)
            assert (bounds.low_a <= y + ROUNDING).all(), (number, parts)
            assert (y <= bounds.high_a + ROUNDING).all(), (number, parts)
            high_ab = one_by_one(boxes, parts)
            assert (gaps(y) <= high_ab + ROUNDING).all(), (number, parts)
            # Never wider than what the two bounds on aggregates say.
            assert (high_ab <= separate(bounds).high_ab + ROUNDING).all(), (number, parts)
            low.append(bounds.low_a)
            high.append(bounds.high_a)
            direct_ab.append(high_ab)
        for whole, cut in itertools.pairwise(range(len(PARTS))):
            assert (low[cut] >= low[whole] - ROUNDING).all(), number
            assert (high[cut] <= high[whole] + ROUNDING).all(), number
            assert (direct_ab[cut] <= direct_ab[whole] + ROUNDING).all(), number


def test_branching_holds_and_never_widens() -> None:
    reasons = set()
    for number in range(SOME):
        _, boxes = drawn(number)
        y = truth(number)[0]
        n = len(y)
        made = board(boxes, 4)
        for i, j in [(0, n - 1), (n - 1, 0)]:
            best = solution(difference_goal(boxes, i, j), made)[0].bound
            root = refined(boxes, i, j, 1)
            assert root.cases == 1
            assert root.bound >= best - ROUNDING
            assert root.bound <= best + 2e-6 or root.bound < -RESOLUTION
            before = root
            for budget in (2, 5, 50):
                found = refined(boxes, i, j, budget)
                assert found.bound >= y[i] - y[j] - ROUNDING, (number, i, j, budget)
                assert found.bound <= before.bound, (number, i, j, budget)
                assert found.cases <= budget, (number, i, j, budget)
                assert_means_what_it_says(found, y[i] - y[j])
                reasons.add(found.reason)
                before = found
    assert reasons == {"decided", "possible", "budget"}


def assert_means_what_it_says(found: Refined, difference: float) -> None:
    """Check that the reason fits the bound and the truth."""
    if found.reason == "decided":
        assert found.bound < -RESOLUTION
        assert difference < 0.0
    else:
        assert found.bound >= -RESOLUTION


def test_cases_leave_nothing_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every cut is of one percentile, in both directions and wherever it must be equal, and has all of its interval."""
    cuts: list[tuple[Boxes, list[Boxes]]] = []
    cut = branching._cut

    def noted(case: branching._Case, i: int, j: int) -> list[Boxes]:
        found = cut(case, i, j)
        cuts.append((case.boxes, found))
        return found

    monkeypatch.setattr(branching, "_cut", noted)
    for number in range(SOME):
        _, boxes = drawn(number)
        refined(boxes, boxes.low_aer.shape[0] - 1, 0, 30)
    at_half = 0
    for boxes, cases in cuts:
        if not cases:
            continue
        changed = np.zeros(boxes.low_aer.shape, dtype=np.bool_)
        for case in cases:
            changed |= (case.low_aer != boxes.low_aer) | (case.high_aer != boxes.high_aer)
        a, e, r = (int(place) for place in np.argwhere(changed)[0])
        forth, back = boxes.same_aer == boxes.same_aer[a, e, r], boxes.same_aer == boxes.same_aer[r, e, a]
        np.testing.assert_array_equal(changed, forth | back)
        ends = sorted((float(case.low_aer[a, e, r]), float(case.high_aer[a, e, r])) for case in cases)
        assert ends[0][0] == boxes.low_aer[a, e, r]
        assert ends[-1][1] == boxes.high_aer[a, e, r]
        for (_, high), (low, _) in itertools.pairwise(ends):
            assert low <= np.nextafter(high, 1.0)
        for case in cases:
            for mine, other in ((case.low_aer, case.high_aer), (case.high_aer, case.low_aer)):
                assert np.ptp(mine[forth]) == 0.0
                np.testing.assert_allclose(mine[back], 1.0 - other[a, e, r], rtol=0, atol=2e-16)
            # Nothing is on both sides of one half, and what is one half is known to be.
            half = case.low_aer[a, e, r] == 0.5 == case.high_aer[a, e, r]
            expected = np.where((forth | back) & half, ONE_HALF, boxes.same_aer)
            np.testing.assert_array_equal(case.same_aer, expected)
            assert half or not case.low_aer[a, e, r] < 0.5 < case.high_aer[a, e, r]
            at_half += int(half)
    assert at_half > 5 or INTERPRETED


def test_games_that_make_a_difference_possible_are_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their payoffs are in the intervals, what one wins the other loses, and what is declared identical is equal."""
    games: list[Floats] = []

    def looked_at(z_aer: Floats, tolerance: float, *, share_e: Floats | None = None) -> game.Equilibrium:
        games.append(z_aer)
        return game.equilibrium(z_aer, tolerance, share_e=share_e)

    monkeypatch.setattr(branching, "equilibrium", looked_at)
    possible = 0
    for number in range(SOME):
        _, boxes = drawn(number)
        n = boxes.low_aer.shape[0]
        games.clear()
        found = refined(boxes, 0, n - 1, 20)
        for z in games:
            assert (boxes.low_aer - 1e-15 <= z).all(), number
            assert (z <= boxes.high_aer + 1e-15).all(), number
            np.testing.assert_allclose(z + z.transpose(2, 1, 0), 1.0, atol=1e-15)
            for same in (boxes.same_aer == name for name in np.unique(boxes.same_aer)):
                assert np.ptp(z[same]) == 0.0, number
        if found.reason == "possible":
            possible += 1
            y = judging.aggregate(games[-1])[0]
            assert y[0] > y[-1] - ROUNDING
            assert found.bound >= y[0] - y[-1] - ROUNDING
    assert possible > SOME // 4


@pytest.mark.skipif(INTERPRETED, reason="hundreds of cases take minutes without the compiler: unset NUMBA_DISABLE_JIT")
@pytest.mark.parametrize(("number", "i", "j"), [(79, 1, 0), (308, 0, 1)])
def test_branching_goes_on_where_only_a_game_that_declares_nothing_identical_is_possible(
    number: int, i: int, j: int
) -> None:
    _, boxes = drawn(number)
    y = truth(number)[0]
    apart = structural(np.tile(np.arange(len(y)), (boxes.low_aer.shape[1], 1)))
    assert len(np.unique(boxes.same_aer)) < len(np.unique(apart))
    assert refined(Boxes(boxes.low_aer, boxes.high_aer, apart), i, j, 200).reason == "possible"
    found = refined(boxes, i, j, 200)
    assert found.reason == "decided"
    assert y[i] < y[j]


def all_of(boxes: Boxes, score_a: Floats, parts: int = 1, budget: int = 0) -> tuple[Differences, Differences]:
    """Return what the bounds on aggregates say about differences, and what `direct` makes of it."""
    bounds, values = bounded(boxes, parts)
    known = separate(bounds)
    return known, direct(boxes, parts, values, score_a, known, budget=budget)


def test_verdicts_hold_together_with_everything_in_use() -> None:
    decided = [0, 0, 0]
    for number in range(SOME, 2 * SOME):
        _, boxes = drawn(number)
        y = truth(number)[0]
        # The truth is among what the intervals allow, so it may stand for the estimates.
        known, plain = all_of(boxes, y)
        _, branched = all_of(boxes, y, budget=20)
        assert (plain.high_ab <= known.high_ab).all()
        assert (branched.high_ab <= plain.high_ab).all()
        for kind, found in enumerate((known, plain, branched)):
            assert (gaps(y) <= found.high_ab + ROUNDING).all(), number
            better = found.pairs().better_ab
            assert (gaps(y)[better] > 0.0).all(), number
            assert not (better & better.T).any()
            # Better than what is better is better.
            assert not ((better.astype(int) @ better.astype(int) > 0) & ~better).any(), number
            assert (found.high_ab[found.possible_ab] >= -ROUNDING).all(), number
            np.testing.assert_array_equal(np.diag(found.high_ab), 0.0)
            decided[kind] += int(better.sum())
        assert not plain.possible_ab.any()
    # Each does something that the one before does not.
    assert decided[0] < decided[1] < decided[2] or INTERPRETED


def test_no_number_depends_on_the_workers_and_every_pair_is_counted() -> None:
    for number in range(0, SOME, 20):
        _, boxes = drawn(number)
        y = truth(number)[0]
        bounds, values = bounded(boxes, 1)
        known = separate(bounds)
        told: list[int] = []
        one = direct(boxes, 1, values, y, known, budget=5, advance=told.append)
        three = direct(boxes, 1, values, y, known, budget=5, workers=3)
        np.testing.assert_array_equal(one.high_ab, three.high_ab)
        np.testing.assert_array_equal(one.possible_ab, three.possible_ab)
        assert told == [1] * len(pairs_to_solve(boxes, y, known)) == [1] * (len(y) * (len(y) - 1))


def test_where_all_pairs_are_too_many_only_those_that_may_be_decided_are_solved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for number in range(0, SOME, 4):
        _, boxes = drawn(number)
        y = truth(number)[0]
        known, everything = all_of(boxes, y)
        with monkeypatch.context() as patch:
            patch.setattr(differences, "MANY", 0.0)
            pairs = pairs_to_solve(boxes, y, known)
            _, some = all_of(boxes, y)
        assert all(may_decide(y, i, j) and known.high_ab[i, j] >= -RESOLUTION for i, j in pairs)
        np.testing.assert_array_equal(some.pairs().better_ab, everything.pairs().better_ab)
        assert (some.high_ab >= everything.high_ab - ROUNDING).all()


# --- nested intervals


def widened(boxes: Boxes, rng: np.random.Generator, reach: float) -> Boxes:
    """Return wider intervals, the same in both directions and for payoffs that are equal."""
    low, high = boxes.low_aer.copy(), boxes.high_aer.copy()
    n, m, _ = low.shape
    for a, e, r in itertools.product(range(n), range(m), range(n)):
        if a < r and boxes.same_aer[a, e, r] != ONE_HALF:
            down, up = reach * rng.random(2)
            forth, back = boxes.same_aer == boxes.same_aer[a, e, r], boxes.same_aer == boxes.same_aer[r, e, a]
            low[forth], high[forth] = max(boxes.low_aer[a, e, r] - down, 0.0), min(boxes.high_aer[a, e, r] + up, 1.0)
            low[back], high[back] = 1.0 - high[a, e, r], 1.0 - low[a, e, r]
    return Boxes(low, high, boxes.same_aer)


def test_wider_intervals_give_wider_bounds_and_decide_no_more() -> None:
    lost = 0
    for number in range(SOME):
        _, boxes = drawn(number)
        y = truth(number)[0]
        wide = widened(boxes, np.random.default_rng(number), 0.1)
        assert (one_by_one(wide, 0) >= one_by_one(boxes, 0) - ROUNDING).all()
        (bounds, _), (wider, _) = bounded(boxes, 0), bounded(wide, 0)
        assert (wider.low_a <= bounds.low_a + ROUNDING).all()
        assert (wider.high_a >= bounds.high_a - ROUNDING).all()
        before, after = (all_of(each, y, parts=0)[1].pairs().better_ab for each in (boxes, wide))
        assert not (after & ~before).any()
        lost += int((before & ~after).sum())
    assert lost > 0 or INTERPRETED


def test_a_case_of_an_interval_never_gives_a_wider_bound() -> None:
    """Branching relies on it: one percentile in one of its parts, all others as they were."""
    for number in range(SOME):
        _, boxes = drawn(number)
        rng = np.random.default_rng(number)
        a, e, r = (int(rng.integers(size)) for size in boxes.low_aer.shape)
        if boxes.same_aer[a, e, r] == ONE_HALF:
            continue
        parts = int(rng.choice([1, 2, 4]))
        ends = float(boxes.low_aer[a, e, r]), float(boxes.high_aer[a, e, r])
        low, high = part_of(*ends, int(rng.integers(2 * parts + 1)), parts)
        lows, highs = boxes.low_aer.copy(), boxes.high_aer.copy()
        forth, back = boxes.same_aer == boxes.same_aer[a, e, r], boxes.same_aer == boxes.same_aer[r, e, a]
        lows[forth], highs[forth] = low, high
        lows[back], highs[back] = 1.0 - high, 1.0 - low
        case = Boxes(lows, highs, boxes.same_aer)
        assert (one_by_one(case, parts) <= one_by_one(boxes, parts) + ROUNDING).all(), number


# --- all that follows


def test_closing_bounds_adds_what_follows_and_nothing_else() -> None:
    for number in range(300):
        rng = np.random.default_rng([1, number])
        n = int(rng.integers(2, 9))
        y = rng.random(n)
        high_ab = gaps(y) + rng.exponential(float(rng.choice([0.01, 0.1, 1.0])), size=(n, n))
        given = high_ab.copy()
        found = closed(high_ab)
        np.testing.assert_array_equal(high_ab, given)
        assert (np.diag(found) == 0.0).all()
        off = ~np.eye(n, dtype=np.bool_)
        assert (found <= high_ab)[off].all()
        assert (found[:, None, :] <= found[:, :, None] + found[None, :, :] + 1e-14).all()
        np.testing.assert_allclose(closed(found), found, atol=1e-14)
        # Whatever is within the bounds before is within them after.
        assert (gaps(y) <= found + 1e-14)[off].all()
        # Each is the length of a shortest path, over all of them where they are few.
        if n <= 4:
            for i, j in itertools.permutations(range(n), 2):
                paths = [
                    [i, *between, j]
                    for length in range(n - 1)
                    for between in itertools.permutations(set(range(n)) - {i, j}, length)
                ]
                shortest = min(sum(high_ab[a, b] for a, b in itertools.pairwise(path)) for path in paths)
                assert found[i, j] == pytest.approx(shortest, abs=1e-14)


# --- the functional bound


def reach(q: Floats, ids: Ints, i: int, j: int) -> Floats:
    """Return the largest number that a row can have in every environment, by trying all scores that matter.

    Scores are 0, 1, 2, ... in any order, equal or not; there is one column for all that are declared identical.
    """
    n, m, _ = ids.shape
    columns = np.array(list(itertools.product(range(n), repeat=n)))
    found = np.zeros(m)
    for e in range(m):
        x = columns[:, [int(np.argmax(ids[a, e] == ONE_HALF)) for a in range(n)]]
        won = 0.5 * (np.sign(x[:, [i]] - x) - np.sign(x[:, [j]] - x))
        found[e] = np.abs(won @ q[e]).max()
    return found


def test_the_functional_bound_is_above_what_it_makes_linear() -> None:
    """For the weights q of any game the intervals allow: <q, estimates> + c |b| is at most the bound."""
    identical = 0
    for number in range(0, GAMES, 8):
        z, boxes = drawn(number)
        rng = np.random.default_rng([2, number])
        n, m, _ = z.shape
        trials = rng.integers(1, 2000, size=(n, m))
        # Any numbers will do for estimates: the inequality between the two sides is about weights.
        estimates = Percentiles(rng.random(z.shape), np.ones(z.shape, dtype=np.bool_), trials, "mid-rank")
        delta = float(rng.choice([0.005, 0.05]))
        found = functional(boxes, int(rng.choice([0, 1])), estimates, delta)
        assert found.factor == pytest.approx(np.sqrt(2.0 * np.log(n * (n - 1) / delta)))
        fewest = trials.min(axis=0)
        for q in (truth(number)[1], judging.aggregate(boxes.low_aer)[1], judging.aggregate(boxes.high_aer)[1]):
            given_ab = given_weights(estimates, q, boxes.same_aer, delta)
            assert (np.diag(given_ab) == 0.0).all()
            for i, j in itertools.permutations(range(n), 2):
                length = np.sqrt(np.sum(reach(q, boxes.same_aer, i, j) ** 2 / fewest))
                linear = np.sum(q * (estimates.z_aer[i] - estimates.z_aer[j])) + found.factor * length
                assert linear <= found.bound(i, j) + 1e-9, (number, i, j)
                assert given_ab[i, j] == pytest.approx(linear)
                identical += bool(length == 0.0)
    assert identical > 0


def test_environments_and_references_without_weight_do_not_count() -> None:
    """Their trials are neither needed nor among the fewest."""
    rng = np.random.default_rng(4)
    ids = structural(np.tile(np.arange(4), (5, 1)))
    q = np.array(
        [[3.0, 0.0, 1.0, 0.0], [1.0, 1.0, 2.0, 0.0], [0.0, 0.0, 1.0, 3.0], [0.0, 0.0, 0.0, 0.0], [4.0] + 3 * [0.0]]
    )
    q /= q.sum()
    trials = np.array([[50, 60, 0, 0, 90], [70, 40, 80, 0, 30], [90, 20, 70, 5, 40], [3, 80, 60, 0, 80]])
    estimates = Percentiles(rng.random((4, 5, 4)), np.ones((4, 5, 4), dtype=np.bool_), trials, "mid-rank")
    factor = np.sqrt(2.0 * np.log(12 / 0.01))
    given_ab = given_weights(estimates, q, ids, 0.01)
    expected = np.zeros((4, 4))
    for i, j in itertools.permutations(range(4), 2):
        total = 0.0
        for e in (0, 1, 2, 4):
            fewest = min(trials[a, e] for a in range(4) if a in (i, j) or q[e, a] > 0.0)
            total += np.inf if fewest == 0 else (q[e].sum() - (q[e, i] + q[e, j]) / 2.0) ** 2 / fewest
        expected[i, j] = np.sum(q * (estimates.z_aer[i] - estimates.z_aer[j])) + factor * np.sqrt(total)
    np.testing.assert_allclose(given_ab, expected)
    # The first has no trials on the third environment, where it is not a reference: the other pairs are bounded.
    assert np.isinf(given_ab[0, 1:]).all()
    assert np.isfinite(given_ab[1:, 1:]).all()


def test_the_share_of_delta_does_not_depend_on_what_has_no_weight() -> None:
    q = np.array([1.0, 1.0, 1.0, 0.0])[:, None] / 3.0 * np.full(2, 0.5)
    trials = np.full((2, 4), 7)
    trials[:, 3] = 0
    assert share(trials, q) == SHARE_OF_GIVEN
    trials[1, 2] = 0
    assert share(trials, q) == 0.0
