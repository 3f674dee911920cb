"""`Plan`: how many trials would probably decide the pairs that are not separable yet."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from untuned.errors import UnknownName
from untuned.verdicts import TITLES, Weighting

#: Why there is no number: declared identical; equal scores; percentiles that no number of trials separates; cells
#: without trials, for which nothing can be predicted; a number beyond the largest that was tried.
Why = Literal["identical", "equal", "tied", "missing", "beyond"]

#: Predictions beyond this multiple of the existing trials are guesses (benchmarks/plan.py).
FAR = 10


@dataclass(frozen=True)
class PlannedPair:
    """Two algorithms that are not separable yet.

    Attributes
    ----------
    a, b
        Their names, the better score first.
    trials
        Trials per cell, existing ones included, at which the pair is predicted to be decided; None if there is no such
        number.
    why
        Why there is no number; None where there is one.
    """

    a: str
    b: str
    trials: int | None
    why: Why | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """Trials that would probably decide every pair that is not separable yet: a prediction, not a guarantee.

    Attributes
    ----------
    method
        The name of the interval method that decides.
    weights
        Where the ranking's weights come from: ``"game"``, ``"uniform"`` or ``"given"``.
    anytime
        Whether verdicts hold when results decided how many trials were run.
    delta
        The allowed probability that any statement on this ranking is wrong: its part of the evaluation's delta.
    algorithms
        Names.
    leader
        The one with the best score.
    fewest, largest
        The smallest and the largest number of trials of the cells that have any.
    missing
        How many cells have none.
    most
        The largest number of trials per cell that was tried.
    pairs
        All that are not separable yet, those of the best scores first.
    """

    method: str
    weights: Weighting
    anytime: bool
    delta: float
    algorithms: tuple[str, ...]
    leader: str
    fewest: int
    largest: int
    missing: int
    most: int
    pairs: tuple[PlannedPair, ...]

    @property
    def title(self) -> str:
        """What the weights are called in a sentence."""
        return TITLES[self.weights]

    def trials(self, a: str, b: str) -> int | None:
        """Return the trials per cell at which two algorithms are predicted to be separated; None if there is none.

        For two that are separated already these are the trials of the smallest cell.

        Parameters
        ----------
        a, b
            The names of the two.
        """
        for name in (a, b):
            if name not in self.algorithms:
                raise UnknownName("algorithm", name, self.algorithms)
        for pair in self.pairs:
            if {pair.a, pair.b} == {a, b}:
                return pair.trials
        return self.fewest

    @property
    def to_lead(self) -> int | None:
        """The trials per cell at which the leader is predicted to be better than all others; None if there is none."""
        return _all([pair.trials for pair in self.pairs if self.leader in (pair.a, pair.b)], self.fewest)

    @property
    def to_settle(self) -> int | None:
        """The trials per cell at which all pairs are predicted to be decided; None if there is none."""
        return _all([pair.trials for pair in self.pairs], self.fewest)

    def rows(self) -> list[dict[str, Any]]:
        """Return a record per pair that is not separable yet: a, b, trials, more (than in the smallest cell), why."""
        return [
            {
                "a": pair.a,
                "b": pair.b,
                "trials": pair.trials,
                "more": None if pair.trials is None else pair.trials - self.fewest,
                "why": pair.why,
            }
            for pair in self.pairs
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain JSON types."""
        return {
            "weights": self.weights,
            "method": self.method,
            "anytime": self.anytime,
            "delta": self.delta,
            "trials": [self.fewest, self.largest],
            "missing": self.missing,
            "most": self.most,
            "to_lead": self.to_lead,
            "to_settle": self.to_settle,
            "pairs": self.rows(),
            "sentences": list(self.sentences()),
        }

    def sentences(self) -> tuple[str, ...]:
        """Return the plan as sentences: trials to decide the best, the other pairs, undecidable pairs, caveats."""
        if not self.pairs:
            return (f"Under {self.title} all pairs are decided: no more trials are needed.",)
        found = [*self._what_settles(), *self._what_does_not()]
        found[0] = f"Under {self.title}, {found[0][0].lower()}{found[0][1:]}"
        if any(pair.trials is not None for pair in self.pairs):
            found += [*self._what_to_beware_of(), self._how_to_continue()]
        return tuple(found)

    def __repr__(self) -> str:
        return "\n".join(self.sentences())

    def _what_settles(self) -> list[str]:
        count = len(self.pairs)
        numbers = sorted(_rounded(pair.trials) for pair in self.pairs if pair.trials is not None)
        if count == 1 and numbers:
            return [f"{self._about(numbers[0])} would probably separate {_told(self.pairs[0])}."]
        found: dict[int, list[str]] = {}
        leads = [pair for pair in self.pairs if self.leader in (pair.a, pair.b)]
        if leads and self.to_lead is not None:
            first = f"separate {_told(leads[0])}, which makes {self.leader} the best"
            found[_rounded(self.to_lead)] = [first if len(leads) == 1 else f"show that {self.leader} is the best"]
        for wanted in (-(-count // 2), len(numbers)):
            if 0 < wanted <= len(numbers):
                number = numbers[wanted - 1]
                settled = sum(each <= number for each in numbers)
                all_of_them = "both" if count == 2 else f"all {count}"
                what = f"decide {all_of_them if settled == count else f'{settled} of the {count}'} remaining pairs"
                if what not in found.setdefault(number, []):
                    found[number].append(what)
        return [f"{self._about(number)} would probably {', and '.join(found[number])}." for number in sorted(found)]

    def _what_does_not(self) -> list[str]:
        found = []
        for why, told in _REASONS.items():
            pairs = [_told(pair) for pair in self.pairs if pair.why == why]
            if pairs:
                found.append(told.format(pairs=_listed(pairs), most=f"{self.most:,}"))
        return found

    def _what_to_beware_of(self) -> list[str]:
        found = [
            "This is a prediction from the estimates so far, not a guarantee: being off by a factor of two, either "
            "way, is not unusual."
        ]
        if any(pair.trials is not None and pair.trials > FAR * self.fewest for pair in self.pairs):
            found.append(
                f"Numbers beyond {FAR * self.fewest:,} trials, {FAR} times the existing ones, are guesses: so few "
                "trials say little about such small differences."
            )
        if self.missing:
            found.append(
                f"{self.missing} {'cell has' if self.missing == 1 else 'cells have'} no trials: the numbers are those "
                "at which pairs would be decided whatever their scores are."
            )
        return found

    def _about(self, total: int) -> str:
        """Return the beginning of a sentence about a number of trials."""
        if self.fewest == self.largest and not self.missing:
            return f"About {_rounded(total - self.fewest):,} more trials per cell ({total:,} in all)"
        return f"About {total:,} trials in every cell, existing ones included,"

    def _how_to_continue(self) -> str:
        if self.anytime:
            return f"Add them to the existing ones, and look as often as you like: {self.method!r} allows it."
        return (
            "These intervals allow one look at the results. To continue, choose a number of trials now, collect that "
            "many new ones, and evaluate only those, once. To add trials to the existing ones, or to look in between, "
            "plan and evaluate with 'anytime'."
        )


@dataclass(frozen=True)
class Detectable:
    """What a number of trials would find.

    Attributes
    ----------
    trials
        The number in every cell.
    difference
        The smallest difference of scores that is found with the power asked for; None if none is, however large.
    """

    trials: int
    difference: float | None


@dataclass(frozen=True, repr=False)
class Design:
    """Which differences an experiment would detect, by simulation: for choosing its size, without guarantee.

    Attributes
    ----------
    algorithms, environments
        How many.
    delta
        The allowed probability that any verdict of the experiment is wrong.
    power
        The probability of detecting a difference.
    heterogeneity
        How much environments disagree on the algorithms, in standard deviations of a single trial.
    detectable
        What each number of trials would find under equal weights.
    five
        What 5 trials per cell would detect, the usual number in papers; always computed.
    difference, trials
        A difference worth detecting, and the number of trials per cell that detects it; None if not requested.
    game
        The number of trials per cell below which no verdict is possible under the game's weights; None without a
        ranking under these.
    seconds
        How long one trial takes, on average over all cells; None if not given.
    parallel
        How many trials run at the same time.
    hours
        The available hours: ``detectable`` has as many trials as fit into them. None if not given.
    """

    algorithms: int
    environments: int
    delta: float
    power: float
    heterogeneity: float
    detectable: tuple[Detectable, ...]
    five: Detectable
    difference: float | None = None
    trials: int | None = None
    game: int | None = None
    seconds: float | None = None
    parallel: int = 1
    hours: float | None = None

    def hours_of(self, trials: int) -> float | None:
        """Return the hours that a number of trials per cell takes; None where ``seconds`` were not given.

        Parameters
        ----------
        trials
            The number in every cell.
        """
        if self.seconds is None:
            return None
        return hours_of(trials * self.algorithms * self.environments, self.seconds, self.parallel)

    def rows(self) -> list[dict[str, Any]]:
        """Return one record per number of trials: trials, difference, hours."""
        return [self._row(each) for each in self.detectable]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain JSON types."""
        return {
            "algorithms": self.algorithms,
            "environments": self.environments,
            "delta": self.delta,
            "power": self.power,
            "heterogeneity": self.heterogeneity,
            "detectable": self.rows(),
            "five": self._row(self.five),
            "difference": self.difference,
            "trials": self.trials,
            "trials_hours": None if self.trials is None else self.hours_of(self.trials),
            "game": self.game,
            "seconds": self.seconds,
            "parallel": self.parallel,
            "hours": self.hours,
            "sentences": list(self.sentences()),
        }

    def sentences(self) -> tuple[str, ...]:
        """Return the design as sentences: what is found, by 5 trials in any case, what it takes, what is assumed."""
        m = self.environments
        board = f"{self.algorithms} algorithms on {m} {'environment' if m == 1 else 'environments'}"
        found = [self._what_is_found(each) for each in self.detectable]
        if self.trials is not None and self.difference is not None:
            found.append(
                f"About {self._cost(_rounded(self.trials))} find differences of {self.difference:g} with a probability "
                f"of {self._power}."
            )
        if self.five not in self.detectable:
            found.append(self._what_is_found(self.five))
        found[0] = f"{board}, equal weights: {found[0][0].lower()}{found[0][1:]}"
        if self.game is not None:
            found.append(
                f"Under the game's weights no verdict is possible with fewer than {self.game} trials per cell."
            )
        found.append(
            "This is an average over simulated experiments, not a guarantee: normal scores, environments that disagree "
            f"by {self.heterogeneity:g} standard deviations of a single trial."
        )
        if self.seconds is not None:
            order = "one after the other" if self.parallel == 1 else f"{self.parallel:,} at the same time"
            found.append(f"Times are those of trials that take {in_words(self.seconds / 3600.0)} on average, {order}.")
        return tuple(found)

    def __repr__(self) -> str:
        return "\n".join(self.sentences())

    @property
    def _power(self) -> str:
        return f"{100.0 * self.power:.3g} %"

    def _what_is_found(self, each: Detectable) -> str:
        asides = []
        if self.hours is not None and each in self.detectable:
            asides.append(f"as many as fit into {in_words(self.hours)}")
        if each == self.five:
            asides.append("the usual number in papers")
        runs = f"With {self._cost(each.trials)}"
        if asides:
            runs += f", {' and '.join(asides)},"
        if each.difference is None:
            return f"{runs} no difference of scores is found with a probability of {self._power}, however large it is."
        return f"{runs} differences of {each.difference:.2g} or more are found with a probability of {self._power}."

    def _cost(self, trials: int) -> str:
        """Return a number of trials per cell in words, and the time that they take."""
        hours = self.hours_of(trials)
        time = "" if hours is None else f" ({in_words(hours)})"
        return f"{trials:,} {'trial' if trials == 1 else 'trials'} per cell{time}"

    def _row(self, each: Detectable) -> dict[str, Any]:
        return {"trials": each.trials, "difference": each.difference, "hours": self.hours_of(each.trials)}


def hours_of(trials: int, seconds: float, parallel: int) -> float:
    """Return the hours of trials that run in parallel: at least as long as one trial."""
    return trials * seconds / min(parallel, trials) / 3600.0


def in_words(hours: float) -> str:
    """Return a time in hours, minutes or seconds: 8.3 hours."""
    # A time that rounds to 60 minutes is one hour.
    for unit, size in (("hour", 1.0), ("minute", 60.0), ("second", 3600.0)):
        number = hours * size
        if number >= 59.95 / 60.0:
            said = f"{number:.1f}".removesuffix(".0") if number < 100.0 else f"{number:,.0f}"
            return f"{said} {unit}{'' if said == '1' else 's'}"
    return "less than 1 second"


def about(hours: float) -> str:
    """Return an estimated time: about 8.3 hours, or less than 1 second."""
    words = in_words(hours)
    return words if words.startswith("less") else f"about {words}"


_REASONS: dict[Why, str] = {
    "beyond": "Not even {most} trials per cell would separate {pairs}.",
    "tied": "No number of trials would separate {pairs}, if their percentiles are what they seem: too many are equal.",
    "equal": "It is unknown how many trials would separate {pairs}: their scores are equal so far.",
    "missing": "It is unknown yet how many trials would separate {pairs}: run a few in the empty cells first.",
    "identical": "No trials will separate {pairs}: they were declared identical.",
}
#: Longer lists are cut, and the rest counted.
_PAIRS = 3


def _all(numbers: Sequence[int | None], none: int) -> int | None:
    """Return the largest of some numbers, ``none`` if there are none, and None if one is missing."""
    known = [number for number in numbers if number is not None]
    return max(known, default=none) if len(known) == len(numbers) else None


def _told(pair: PlannedPair) -> str:
    return f"{pair.a} from {pair.b}"


def _rounded(number: int) -> int:
    """Return a number rounded up to two digits."""
    step: int = 10 ** max(len(str(number)) - 2, 0)
    return math.ceil(number / step) * step


def _listed(pairs: Sequence[str]) -> str:
    """Return pairs joined for a sentence."""
    if len(pairs) > _PAIRS + 1:
        return f"{', '.join(pairs[:_PAIRS])}, and {len(pairs) - _PAIRS} more pairs"
    return pairs[0] if len(pairs) == 1 else f"{', '.join(pairs[:-1])} and {pairs[-1]}"
