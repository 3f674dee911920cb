"""Results of comparing ways of evaluating: records only."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from untuned.errors import UnknownName
from untuned.scores import Floats, ScoreTable
from untuned.verdicts import listed

#: What supports a conclusion: a guaranteed probability, a nominal one, or none.
Promise = Literal["guaranteed", "approximate", "none"]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Way:
    """One way of evaluating, and what it concludes.

    Attributes
    ----------
    name
        What it is called.
    about
        What it computes, in a sentence.
    promise
        ``"guaranteed"``, ``"approximate"`` or ``"none"``.
    reading
        How it concludes that one algorithm is better than another.
    value_a, low_a, high_a
        Its number of every algorithm, and the interval; NaN where it has none.
    better_ab
        Whether it concludes that a is better than b, ``[a, b]``.
    higher_is_better
        Whether larger numbers are better.
    notes
        Notes for readers.
    """

    name: str
    about: str
    promise: Promise
    reading: str
    value_a: Floats
    low_a: Floats
    high_a: Floats
    better_ab: Bools
    higher_is_better: bool = True
    notes: tuple[str, ...] = ()

    @property
    def order(self) -> tuple[int, ...]:
        """The algorithms' numbers from the best to the worst; equal ones keep their order, unknown ones are last."""
        sign = -1.0 if self.higher_is_better else 1.0
        return tuple(int(a) for a in np.argsort(sign * self.value_a, kind="stable"))

    @property
    def rank_a(self) -> tuple[int | None, ...]:
        """The place of every algorithm by the number alone, equal ones sharing the best; None without a number."""
        signed = self.value_a if self.higher_is_better else -self.value_a
        return tuple(None if np.isnan(each) else 1 + int((signed > each).sum()) for each in signed)

    @property
    def best(self) -> tuple[int, ...]:
        """The algorithms with the best number."""
        return tuple(a for a, rank in enumerate(self.rank_a) if rank == 1)

    @property
    def decided(self) -> int:
        """How many pairs it decides."""
        return int(np.count_nonzero(self.better_ab))


@dataclass(frozen=True)
class Disagreement:
    """Two algorithms of which some ways conclude one order and some the other.

    Attributes
    ----------
    a, b
        Their names; a is the one that more ways find better.
    for_a, for_b, open
        Names of the ways that find a better, b better, or neither.
    why
        Facts of the scores that explain it, as sentences.
    """

    a: str
    b: str
    for_a: tuple[str, ...]
    for_b: tuple[str, ...]
    open: tuple[str, ...]
    why: tuple[str, ...]


@dataclass(frozen=True)
class Demonstration:
    """An argument about a way of evaluating, measured on these scores.

    Attributes
    ----------
    name
        ``"ratios"``, ``"terrible"`` or ``"copies"``.
    title
        What it shows.
    sentences
        What was done and found.
    columns
        Headings of the table.
    rows
        Its rows, texts and numbers; none where it could not be measured.
    """

    name: str
    title: str
    sentences: tuple[str, ...]
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str | float, ...], ...] = ()


@dataclass(frozen=True, eq=False)
class MethodComparison:
    """What each way of evaluating concludes from the same scores.

    Attributes
    ----------
    scores
        The scores.
    delta
        The guaranteed or nominal probability that intervals miss.
    resamples, seed
        Number of bootstrap resamples, and their seed.
    ways
        The ways.
    skipped
        Ways that cannot evaluate these scores, and why: (name, reason).
    disagreements
        Pairs about which ways contradict each other, those with the most contradictions first.
    demonstrations
        Arguments about ways, measured on these scores.
    notes
        Notes for readers: the guarantee and its conditions, and the limits of the other ways.
    """

    scores: ScoreTable
    delta: float
    resamples: int
    seed: int
    ways: tuple[Way, ...]
    skipped: tuple[tuple[str, str], ...]
    disagreements: tuple[Disagreement, ...]
    demonstrations: tuple[Demonstration, ...]
    notes: tuple[str, ...] = ()

    @property
    def algorithms(self) -> tuple[str, ...]:
        """Their names."""
        return self.scores.algorithms

    @property
    def environments(self) -> tuple[str, ...]:
        """Their names."""
        return self.scores.environments

    def way(self, name: str) -> Way:
        """Return a way by its name.

        Parameters
        ----------
        name
            As in `Way.name`.
        """
        for each in self.ways:
            if each.name == name:
                return each
        raise UnknownName("way of evaluating", name, [each.name for each in self.ways])

    def contradictions(self, way: Way) -> int:
        """Return how many conclusions of a way some guaranteed verdict contradicts.

        Parameters
        ----------
        way
            One of `ways`.
        """
        shown = np.any(
            [each.better_ab for each in self.ways if each.promise == "guaranteed" and each is not way], axis=0
        )
        return int(np.count_nonzero(way.better_ab & np.transpose(shown)))

    def sentences(self) -> list[str]:
        """Return the result in short."""
        leaders = Counter(names for each in self.ways for names in [self.names(each.best)])
        count = len(self.ways)
        if len(leaders) == 1:
            found = [f"All {count} ways put {next(iter(leaders))} first."]
        else:
            parts = [f"{number} put {names} first" for names, number in leaders.most_common()]
            found = [f"Of {count} ways, {listed(parts)}."]
        total = len(self.algorithms) * (len(self.algorithms) - 1) // 2
        pairs = f"{total} {'pair' if total == 1 else 'pairs'}"
        if self.disagreements:
            found.append(f"They contradict each other on {len(self.disagreements)} of {pairs}.")
        else:
            found.append("No two ways conclude opposite orders of two algorithms.")
        wrong = [(self.contradictions(each), each.name) for each in self.ways]
        told = [f"{name} ({number})" for number, name in sorted(wrong, key=lambda each: -each[0]) if number]
        if told:
            found.append(f"Conclusions that a guaranteed verdict contradicts: {listed(told)}.")
            found.append("Ways answer different questions: a contradicted conclusion need not be wrong.")
        return found

    def names(self, numbers: Sequence[int]) -> str:
        """Return the names of algorithms as a list in words.

        Parameters
        ----------
        numbers
            The algorithms' numbers.
        """
        return listed([self.algorithms[a] for a in numbers])

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain JSON types; missing numbers are None."""
        return {
            "summary": self.sentences(),
            "algorithms": list(self.algorithms),
            "environments": list(self.environments),
            "delta": self.delta,
            "resamples": self.resamples,
            "seed": self.seed,
            "ways": [
                {
                    "name": each.name,
                    "about": each.about,
                    "promise": each.promise,
                    "reading": each.reading,
                    "higher_is_better": each.higher_is_better,
                    "contradicted": self.contradictions(each),
                    "algorithms": [
                        {
                            "algorithm": self.algorithms[a],
                            "rank": each.rank_a[a],
                            "value": _number(each.value_a[a]),
                            "low": _number(each.low_a[a]),
                            "high": _number(each.high_a[a]),
                            "better_than": [self.algorithms[b] for b in np.flatnonzero(each.better_ab[a])],
                        }
                        for a in each.order
                    ],
                }
                for each in self.ways
            ],
            "notes": list(self.notes),
            "skipped": [{"name": name, "reason": reason} for name, reason in self.skipped],
            "disagreements": [
                {
                    "a": each.a,
                    "b": each.b,
                    "for_a": list(each.for_a),
                    "for_b": list(each.for_b),
                    "open": list(each.open),
                    "why": list(each.why),
                }
                for each in self.disagreements
            ],
            "demonstrations": [
                {
                    "name": each.name,
                    "title": each.title,
                    "sentences": list(each.sentences),
                    "columns": list(each.columns),
                    "rows": [[_number(cell) if isinstance(cell, float) else cell for cell in row] for row in each.rows],
                }
                for each in self.demonstrations
            ],
        }

    def to_json(self) -> str:
        """Return `to_dict` as JSON."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False, ensure_ascii=False)

    def __str__(self) -> str:
        lines = self.sentences()
        width = max(len(each.name) for each in self.ways)
        lines += [
            f"{each.name:<{width}}  {', '.join(self.algorithms[a] for a in each.order)}  "
            f"({each.decided} decided, {each.promise})"
            for each in self.ways
        ]
        lines += [f"{name}: {reason}" for name, reason in self.skipped]
        return "\n".join([*lines, *(f"Note: {note}" for note in self.notes)])


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
