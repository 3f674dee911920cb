"""`Course`: how a race went, from its log."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from untuned.collect.rounds import declaration
from untuned.plans import in_words
from untuned.races.goals import Goal, Known, Pair
from untuned.races.result import ENDINGS, WEIGHTINGS, count
from untuned.scores import Floats, Ints


@dataclass(frozen=True, eq=False)
class PairCourse:
    """The bounds on the difference of two algorithms, round by round.

    Attributes
    ----------
    ahead, behind
        Indices of the algorithms: the difference is the score of the first less that of the second.
    low, high
        The bounds after every round.
    decided
        The index of the look that decided it, from 0; None if none did.
    open
        Whether the pair is still open for the goal.
    """

    ahead: int
    behind: int
    low: Floats
    high: Floats
    decided: int | None
    open: bool


@dataclass(frozen=True, eq=False)
class Course:
    """How a race went.

    Attributes
    ----------
    goal
        The most recent goal.
    ending
        Why it ended, a sentence without its full stop.
    algorithms
        Their names, as declared.
    trials_ka
        Trials of every algorithm after every look, [look, algorithm].
    seconds
        Seconds of collecting, after every look.
    weighting
        The weighting of the bounds, in words.
    knowns, opens
        Estimates, bounds, verdicts and open pairs after every look.
    """

    goal: Goal
    ending: str
    algorithms: tuple[str, ...]
    trials_ka: Ints
    seconds: Floats
    weighting: str
    knowns: tuple[Known, ...]
    opens: tuple[tuple[Pair, ...], ...]

    @classmethod
    def of(cls, log: Sequence[Mapping[str, Any]]) -> "Course | None":
        """Return the course in a log; None for a study that was not raced, or before the first look."""
        looks = [entry for entry in log if entry["kind"] == "look"]
        goals = [entry["goal"] for entry in log if entry["kind"] in ("begun", "ended")]
        if not looks or not goals:
            return None
        name = next(iter(looks[0]["weightings"]))
        goal, algorithms = Goal.parse(goals[-1]), tuple(declaration(log)["algorithms"])
        knowns = tuple(_known(entry["weightings"][name]) for entry in looks)
        rounds = [entry["numbers"] for entry in log if entry["kind"] == "round"][: len(looks)]
        last = log[-1]
        return cls(
            goal,
            ENDINGS[last["ending"]] if last["kind"] == "ended" else "The race has not ended",
            algorithms,
            np.array(rounds, dtype=np.int64).sum(axis=2),
            np.array([entry["elapsed"] for entry in looks], dtype=np.float64),
            WEIGHTINGS[name],
            knowns,
            # Earlier looks may have been at another goal.
            tuple(tuple(goal.open(each, algorithms)) for each in knowns),
        )

    def ordered(self, algorithms: tuple[str, ...]) -> "Course":
        """Return the same with ``algorithms`` in another order."""
        old = [self.algorithms.index(name) for name in algorithms]
        new = {a: number for number, a in enumerate(old)}
        both = np.ix_(old, old)
        knowns = tuple(
            Known(each.score_a[old], each.high_ab[both], each.better_ab[both], each.same_ab[both])
            for each in self.knowns
        )
        opens = tuple(tuple((new[a], new[b]) for a, b in pairs) for pairs in self.opens)
        return replace(self, algorithms=algorithms, trials_ka=self.trials_ka[:, old], knowns=knowns, opens=opens)

    def sentences(self) -> list[str]:
        """Return sentences on the goal, its cost and the open pairs."""
        rounds = "1 round" if len(self.opens) == 1 else f"{len(self.opens)} rounds"
        trials = f"{int(self.trials_ka[-1].sum()):,} trials in {rounds}, {in_words(float(self.seconds[-1]) / 3600.0)}"
        left = self.opens[-1]
        named = [f"{self.algorithms[a]} and {self.algorithms[b]}" for a, b in left[:3]]
        more = [f"{len(left) - 3} more"] if len(left) > 3 else []
        rest = f"{count(len(left))} open: {', '.join([*named, *more])}" if left else "no pair is open for this goal"
        return [
            f"Raced for the goal '{self.goal.short}': {trials} of collecting. {self.ending}.",
            f"Last look, {self.weighting}: {rest}. {self.goal.answer(self.knowns[-1], self.algorithms)}",
        ]

    def shares(self) -> list[str]:
        """Return how many trials every algorithm got, and from when on no open pair needed it; most trials first."""
        found = []
        for a in sorted(range(len(self.algorithms)), key=lambda each: -int(self.trials_ka[-1, each])):
            needed = [k for k, pairs in enumerate(self.opens) if any(a in pair for pair in pairs)]
            if needed and needed[-1] == len(self.opens) - 1:
                when = "still in an open pair"
            else:
                when = f"in no open pair after round {needed[-1] + 2 if needed else 1}"
            found.append(f"{self.algorithms[a]}: {int(self.trials_ka[-1, a]):,} trials, {when}.")
        return found

    @cached_property
    def pairs(self) -> tuple[PairCourse, ...]:
        """The pairs that the goal is about: open ones first, then the most recently decided."""
        compared = [
            pair for pair in self.goal.compared(self.knowns[-1], self.algorithms) if not self.knowns[-1].same_ab[pair]
        ]
        found = [self._pair(*pair) for pair in compared]
        return tuple(sorted(found, key=lambda each: -len(self.opens) if each.decided is None else -each.decided))

    def _pair(self, a: int, b: int) -> PairCourse:
        decided = next((k for k, known in enumerate(self.knowns) if known.decided(a, b)), None)
        # Not -x, which is printed as -0.000 for 0.
        low = np.array([0.0 - known.high_ab[b, a] for known in self.knowns])
        high = np.array([known.high_ab[a, b] for known in self.knowns])
        return PairCourse(a, b, low, high, decided, (a, b) in self.opens[-1])


def _known(entry: Mapping[str, Any]) -> Known:
    n = len(entry["scores"])
    better = np.zeros((n, n), dtype=np.bool_)
    for a, b in entry["better"]:
        better[a, b] = True
    high = np.array(entry["high"], dtype=np.float64)
    return Known(np.array(entry["scores"], dtype=np.float64), high, better, (high == 0.0) & (high.T == 0.0))
