"""The goals of a race: what they ask for, what is still open, and what they answer."""

import itertools

import numpy as np
import pytest

from untuned.errors import InvalidInput, UnknownName
from untuned.judge.pooled.closure import transitive
from untuned.races.goals import Goal, Known

NAMES = ("a", "b", "c", "d", "e")


def known(
    scores: list[float],
    better: list[tuple[int, int]] = [],  # noqa: B006
    same: list[tuple[int, int]] = [],  # noqa: B006
    high: float = 1.0,
) -> Known:
    n = len(scores)
    better_ab, same_ab = np.zeros((n, n), dtype=np.bool_), np.eye(n, dtype=np.bool_)
    for a, b in better:
        better_ab[a, b] = True
    for a, b in same:
        same_ab[a, b] = same_ab[b, a] = True
    better_ab = transitive(better_ab)
    high_ab = np.where(same_ab, 0.0, np.where(better_ab.T, -0.1, high))
    return Known(np.array(scores), high_ab, better_ab, same_ab)


@pytest.mark.parametrize(
    ("text", "kind", "names", "count", "within"),
    [
        ("best", "best", (), 1, 0.0),
        (" best  within 0.02 ", "best", (), 1, 0.02),
        ("top:3", "top", (), 3, 0.0),
        ("top:12 within 1e-3", "top", (), 12, 1e-3),
        ("all", "all", (), 1, 0.0),
        ("vs:mine", "vs", ("mine",), 1, 0.0),
        ("vs: two words within .5", "vs", ("two words",), 1, 0.5),
        ("a>b", "pairs", ("a", "b"), 1, 0.0),
        ("a > b, c>d within 0.1", "pairs", ("a", "b", "c", "d"), 1, 0.1),
        ("best of all>b", "pairs", ("best of all", "b"), 1, 0.0),
    ],
)
def test_goals_are_read(text: str, kind: str, names: tuple[str, ...], count: int, within: float) -> None:
    found = Goal.parse(text)
    assert (found.kind, found.names, found.count, found.within) == (kind, names, count, within)
    assert found.text == text.strip()


@pytest.mark.parametrize(
    "text",
    [
        *("", "Best", "top", "top:", "top:0", "top:-1", "top:1.5", "top:1000000000", "vs:", "vs: ", "a", "a>", ">b"),
        *(
            "a>b>c",
            "a>b,",
            "a>b,c",
            "best within",
            "best within x",
            "best within 0",
            "best within 1",
            "best within nan",
        ),
        *("best within -1", "within 0.1", "best within 0.1 within 0.2", 3, None, ["best"]),
    ],
)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="goal"):
        Goal.parse(text)


def test_names_and_numbers_are_checked_against_the_study() -> None:
    for text in ("best", "top:2", "all", "vs:a", "a>b,b>c"):
        Goal.parse(text).check(NAMES[:3])
    for text in ("vs:x", "a>x", "x>a"):
        with pytest.raises(UnknownName):
            Goal.parse(text).check(NAMES[:3])
    with pytest.raises(InvalidInput, match="compared with itself"):
        Goal.parse("a>b,c>c").check(NAMES)
    with pytest.raises(InvalidInput, match="at most 1"):
        Goal.parse("top:2").check(NAMES[:2])


def random_known(rng: np.random.Generator, n: int) -> Known:
    """Return what may be known: verdicts along a true order, estimates that may contradict them."""
    place = rng.permutation(n)
    shown = [(a, b) for a, b in itertools.permutations(range(n), 2) if place[a] < place[b] and rng.random() < 0.4]
    found = known(rng.integers(0, 4, size=n).astype(float).tolist(), shown)
    high = np.where(found.better_ab.T, -0.1, rng.choice([0.01, 0.3], size=(n, n)))
    np.fill_diagonal(high, 0.0)
    return Known(found.score_a, high, found.better_ab, found.same_ab)


def orders_left(known: Known) -> list[tuple[int, ...]]:
    """Return every strict order of the algorithms, best first, that no verdict contradicts."""
    return [
        order
        for order in itertools.permutations(range(len(known.score_a)))
        if not any(known.better_ab[b, a] for a, b in itertools.combinations(order, 2))
    ]


@pytest.mark.parametrize("seed", range(60))
def test_what_is_open_by_enumeration_of_all_orders(seed: int) -> None:
    rng = np.random.default_rng([20320, seed])
    n = int(rng.integers(2, 6))
    names = NAMES[:n]
    now = random_known(rng, n)
    left = orders_left(now)
    assert left
    for count in range(1, n):
        goal = Goal.parse(f"top:{count}")
        tops = {frozenset(order[:count]) for order in left}
        assert (not goal.open(now, names)) == (len(tops) == 1)
        for pair in goal.open(now, names):
            assert any({*pair} & top and not {*pair} <= top for top in tops), "a pair that cannot matter"
        answer = goal.answer(now, names)
        if len(tops) == 1:
            assert {names[a] for a in next(iter(tops))} == named(answer, names)
        else:
            assert "among" in answer
            assert {names[a] for top in tops for a in top} <= named(answer, names)
    assert Goal.parse("best").open(now, names) == Goal.parse("top:1").open(now, names)
    undecided = {frozenset(pair) for pair in itertools.combinations(range(n), 2) if not now.decided(*pair)}
    assert {frozenset(pair) for pair in Goal.parse("all").open(now, names)} == undecided
    assert {frozenset(pair) for pair in Goal.parse("vs:b").open(now, names)} == {
        each for each in undecided if 1 in each
    }
    asked = Goal.parse("b>a").open(now, names)
    assert {frozenset(pair) for pair in asked} == undecided & {frozenset((0, 1))}
    # The one that is ahead comes first, and a verdict is stronger than an estimate.
    for ahead, behind in Goal.parse("all").asked(now, names):
        assert not now.better_ab[behind, ahead]


def named(answer: str, names: tuple[str, ...]) -> set[str]:
    return {word.strip(".,") for word in answer.split()} & {*names}


@pytest.mark.parametrize("seed", range(40))
def test_what_is_within_a_difference_is_settled(seed: int) -> None:
    rng = np.random.default_rng([20321, seed])
    n = int(rng.integers(2, 6))
    now = random_known(rng, n)
    for text in ("best", "top:1", "all", "vs:a", "a>b"):
        plain, within = Goal.parse(text), Goal.parse(f"{text} within 0.02")
        assert plain.asked(now, NAMES[:n]) == within.asked(now, NAMES[:n])
        one_sided = plain.kind in ("best", "top")
        expected = [
            (ahead, behind)
            for ahead, behind in plain.open(now, NAMES[:n])
            if now.high_ab[behind, ahead] >= 0.02 or (not one_sided and now.high_ab[ahead, behind] >= 0.02)
        ]
        assert within.open(now, NAMES[:n]) == expected


def test_ties_go_by_declaration() -> None:
    now = known([0.5, 0.5, 0.5])
    assert now.order == [0, 1, 2]
    assert Goal.parse("best").open(now, NAMES[:3]) == [(0, 1), (0, 2)]


def test_a_verdict_comes_before_an_estimate() -> None:
    now = known([0.2, 0.9, 0.5], [(0, 1)])
    assert now.order == [2, 0, 1]
    # b is worse than a, so it is not the best: only a and c may be.
    assert Goal.parse("best").open(now, NAMES[:3]) == [(2, 0)]
    assert Goal.parse("best").answer(now, NAMES[:3]) == "The best is among c and a."


def test_identical_ones_need_no_verdict() -> None:
    now = known([0.6, 0.6, 0.3], [(0, 2), (1, 2)], [(0, 1)])
    goal = Goal.parse("best")
    assert not goal.open(now, NAMES[:3])
    assert goal.answer(now, NAMES[:3]) == "a is the best. b is identical to a."
    assert not Goal.parse("all").open(now, NAMES[:3])


def test_answers() -> None:
    names = NAMES[:3]
    shown = known([0.7, 0.5, 0.3], [(0, 1), (1, 2)])
    close = known([0.7, 0.5, 0.3], [(1, 2)], high=0.01)
    for goal, now, words in (
        ("best", shown, ("a", "best")),
        ("top:2", shown, ("a and b", "best 2")),
        ("best within 0.02", close, ("a", "best", "0.02")),
        ("all", shown, ("3 of 3 pairs",)),
        ("a>b", close, ("0 of 1 pair",)),
        ("all within 0.02", close, ("1 of 3 pairs", "less than 0.02")),
    ):
        answer = Goal.parse(goal).answer(now, names)
        assert all(each in answer for each in words), answer
