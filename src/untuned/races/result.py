"""`Race`: the course and results of a race, to read and save."""

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from untuned.evaluation import Evaluation
from untuned.plans import about, in_words
from untuned.races.goals import Goal, Pair
from untuned.races.racing import Ending, Look, entry_of
from untuned.verdicts import NOT_SEPARABLE, listed

ENDINGS: dict[Ending, str] = {
    "reached": "The goal is reached",
    "within": "The goal is reached",
    "budget": "The time is used up",
    "trials": "The number of trials allows no further round",
    "stopped": "The race was stopped",
}
WEIGHTINGS = {"game": "under the game's weights", "uniform": "under equal weights", "given": "under the given weights"}


@dataclass(frozen=True, eq=False)
class Race:
    """A race: why it ended, the standings after every round, and the evaluation of all its trials.

    Attributes
    ----------
    folder
        The folder of the study.
    goal
        The goal of the race.
    ending
        ``"reached"``, ``"within"``, ``"budget"``, ``"trials"`` or ``"stopped"``.
    algorithms, environments
        Their names.
    looks
        The standings after every round.
    evaluation
        Evaluation of all trials, by methods that hold at all times; None without a complete round.
    workers
        How many trials ran at the same time.
    """

    folder: Path
    goal: Goal
    ending: Ending
    algorithms: tuple[str, ...]
    environments: tuple[str, ...]
    looks: tuple[Look, ...]
    evaluation: Evaluation | None
    workers: int

    @property
    def reached(self) -> bool:
        """Whether the goal was reached."""
        return self.ending in ("reached", "within")

    def sentences(self) -> list[str]:
        """Return the result as sentences."""
        if not self.looks:
            return [f"{ENDINGS[self.ending]} before the first round was complete: nothing is known yet."]
        look = self.looks[-1]
        rounds = "1 round" if len(self.looks) == 1 else f"{len(self.looks)} rounds"
        took = in_words(look.elapsed / 3600.0)
        found = [f"{ENDINGS[self.ending]} after {look.trials:,} trials in {rounds}, {took} (goal: {self.goal.short})."]
        for name, known in look.known.items():
            found.append(
                f"{WEIGHTINGS[name][0].upper()}{WEIGHTINGS[name][1:]}: {self.goal.answer(known, self.algorithms)}"
            )
            found += self.still_open(look, name)
        return found

    def still_open(self, look: Look, weighting: str) -> list[str]:
        """Return sentences on the open pairs of a ``look`` under a ``weighting``, their costs, and uncertain cells."""
        prices = zip(look.open[weighting], look.costs[weighting], strict=True)
        found = [f"{_pair(look, weighting, pair)} are {NOT_SEPARABLE}; {_price(cost)}." for pair, cost in prices]
        if look.open[weighting] and look.doubts[weighting]:
            found.append(f"Most of the uncertainty comes from {listed(_cells(look, weighting))}.")
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the race as plain JSON types; pairs and cells are indices of algorithms and environments."""
        return {
            "folder": str(self.folder),
            "goal": self.goal.text,
            "ending": self.ending,
            "reached": self.reached,
            "summary": self.sentences(),
            "algorithms": list(self.algorithms),
            "environments": list(self.environments),
            "workers": self.workers,
            "looks": [{**entry_of(each), "trials_by_cell": each.trials_ae.tolist()} for each in self.looks],
            "evaluation": None if self.evaluation is None else self.evaluation.to_dict(),
        }

    def to_json(self) -> str:
        """Return `to_dict` as JSON."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False, ensure_ascii=False)

    def __str__(self) -> str:
        return "\n".join(self.sentences())


def line(look: Look) -> str:
    """Return the standings after a round in one line."""
    parts = [f"round {look.number}: {look.trials:,} trials, {in_words(look.elapsed / 3600.0)}"]
    for weighting, pairs in look.open.items():
        where = f"{WEIGHTINGS[weighting]} " if len(look.open) > 1 else ""
        if not pairs:
            parts.append(f"{where}no pair is open")
            continue
        # The first of them where no cost is known.
        cost, number = min((cost, number) for number, cost in enumerate(look.costs[weighting]))
        which = ":" if len(pairs) == 1 else ", the next"
        parts.append(f"{where}{count(len(pairs))} open{which} {_pair(look, weighting, pairs[number])}, {_price(cost)}")
        if look.doubts[weighting]:
            parts.append(f"uncertain: {', '.join(_cells(look, weighting))}")
    return "; ".join(parts)


def count(pairs: int) -> str:
    """Return a number of pairs in words."""
    return "1 pair" if pairs == 1 else f"{pairs:,} pairs"


def _pair(look: Look, weighting: str, pair: Pair) -> str:
    (ahead, behind), high_ab = pair, look.known[weighting].high_ab
    low, high = 0.0 - high_ab[behind, ahead], high_ab[ahead, behind]
    return f"{look.algorithms[ahead]} and {look.algorithms[behind]} ({low:+.3f} to {high:+.3f})"


def _price(cost: float) -> str:
    if math.isinf(cost):
        return "no known number of trials would decide the pair"
    return f"a guess: {about(cost / 3600.0)} more would decide the pair"


def _cells(look: Look, weighting: str) -> list[str]:
    return [
        f"{look.algorithms[a]} on {look.environments[e]} ({100 * part:.0f} %)"
        for a, e, part in look.doubts[weighting][:3]
    ]
