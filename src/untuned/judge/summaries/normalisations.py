"""Normalisations: maps from the scores of each environment to a common scale.

Each has `on`, which refuses an unsuitable table, and returns a `Scale`. A scale that depends on the scores is refitted
in every resample, so that intervals include its uncertainty.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike

from untuned.errors import InvalidInput, UnknownName
from untuned.scores import Floats, ScoreTable

#: Normalised scores from scores, on one environment.
Map = Callable[[Floats], Floats]
#: Scores, ``cells[a][e]``.
Cells = Sequence[Sequence[Floats]]


@dataclass(frozen=True)
class Scale:
    """The common scale of a table's environments.

    Attributes
    ----------
    words
        Description of the normalised scores, following the word "scores".
    fit
        Makes the map of every environment from cells.
    uses_scores
        Whether the maps depend on the cells.
    notes
        Notes for readers.
    """

    words: str
    fit: Callable[[Cells], Sequence[Map]]
    uses_scores: bool
    notes: tuple[str, ...] = ()


class Normalisation(Protocol):
    """A normalisation of scores."""

    def on(self, table: ScoreTable) -> Scale:
        """Return the scale of a table, or refuse the table."""
        ...


@dataclass(frozen=True)
class AsTheyAre:
    """No normalisation: for scores that already have a common scale."""

    def on(self, table: ScoreTable) -> Scale:
        """Return the scale of a table, with a note where environments differ by much.

        Parameters
        ----------
        table
            The scores.
        """
        spreads = [float(np.ptp(scores)) if scores.size else 0.0 for scores in _columns(table.cells)]
        note = (
            "Scores are not normalised, and their spread differs from environment to environment: those with the "
            "largest scores decide."
        )
        differ = max(spreads) > _SCALES * min(spreads)
        return Scale("as they are", lambda cells: [np.asarray] * len(cells[0]), False, (note,) * differ)


#: Spreads of environments that differ by at most this factor may be one scale.
_SCALES = 10.0


@dataclass(frozen=True)
class References:
    """Two scores of every environment, which become 0 and 1: those of a random policy and a human, for example.

    Parameters
    ----------
    values
        ``{environment: (score of 0, score of 1)}``; a pair stands for every environment.
    """

    values: Mapping[str, tuple[float, float]] | tuple[float, float]

    def on(self, table: ScoreTable) -> Scale:
        """Return the scale of a table; refuse missing, unknown, equal and infinite references.

        Parameters
        ----------
        table
            The scores.
        """
        names, given = table.environments, self.values
        if isinstance(given, Mapping):
            for name in given:
                if name not in names:
                    raise UnknownName("environment", name, names, "Reference scores are given by its name")
            missing = [name for name in names if name not in given]
            if missing:
                raise InvalidInput(
                    f"there are no reference scores for {', '.join(missing)}: give every environment two, the scores "
                    f"that become 0 and 1, normalise={{{missing[0]!r}: (0.0, 100.0), ...}} "
                    f"(--normalise {missing[0]}=0:100,...)"
                )
        ends = [_pair(name, given[name] if isinstance(given, Mapping) else given) for name in names]
        words = "between two reference scores of every environment, which are 0 and 1"
        return Scale(words, lambda _: [linear(*each) for each in ends], False)


def _pair(name: str, given: object) -> tuple[float, float]:
    try:
        zero, one = map(float, given)  # type: ignore[call-overload]
    except (TypeError, ValueError):
        raise InvalidInput(
            f"the reference scores of {name} are {given!r}: pass two numbers, the scores that become 0 and 1"
        ) from None
    if not (math.isfinite(zero) and math.isfinite(one)):
        raise InvalidInput(f"the reference scores of {name} are ({zero:g}, {one:g}): pass finite numbers")
    if zero >= one:
        raise InvalidInput(
            f"the reference scores of {name} are ({zero:g}, {one:g}): the score that becomes 0 must be below the one "
            "that becomes 1"
        )
    return zero, one


@dataclass(frozen=True)
class MinMax:
    """The lowest and the highest score of every environment become 0 and 1 (the paper's Appendix C).

    Parameters
    ----------
    of
        ``"scores"``: of all scores of the table; ``"means"``: of the algorithms' mean scores; ``"range"``: of the
        declared range of the environment.
    """

    of: Literal["scores", "means", "range"] = "scores"

    def on(self, table: ScoreTable) -> Scale:
        """Return the scale of a table; where nothing differs, everything is 0.5.

        Parameters
        ----------
        table
            The scores.
        """
        if self.of == "range":
            return self._on_ranges(table)
        if self.of not in ("scores", "means"):
            raise InvalidInput(f"MinMax(of={self.of!r}): pass 'scores', 'means' or 'range'")
        spans = _extremes if self.of == "scores" else _extreme_means
        pairs = zip(table.environments, spans(table.cells), strict=True)
        equal = [name for name, (zero, one) in pairs if zero == one]
        what = "score" if self.of == "scores" else "mean score"
        notes = [f"All {what}s on {', '.join(equal)} are equal: they count 0.5."] if equal else []
        notes.append(
            "The scale depends on the two most extreme scores, whose uncertainty the bootstrap underestimates."
            if self.of == "scores"
            else "Another algorithm changes the scale of all: a very bad one moves the others towards 1."
        )
        words = f"between the lowest and the highest {what} of every environment, which are 0 and 1"
        return Scale(words, lambda cells: [linear(*each) for each in spans(cells)], True, tuple(notes))

    def _on_ranges(self, table: ScoreTable) -> Scale:
        for name, ends in zip(table.environments, table.ranges, strict=True):
            if not all(map(math.isfinite, ends)):
                raise InvalidInput(
                    f"{name} declares no finite range: pass ranges={{{name!r}: (lowest, highest)}} "
                    f"(--range {name}=LOW:HIGH), or choose another normalisation"
                )
        words = "between the ends of every environment's declared range, which are 0 and 1"
        return Scale(words, lambda _: [linear(*ends) for ends in table.ranges], False)


def _columns(cells: Cells) -> list[Floats]:
    return [np.concatenate([row[e] for row in cells]) for e in range(len(cells[0]))]


def _extremes(cells: Cells) -> list[tuple[float, float]]:
    return [(float(scores.min()), float(scores.max())) for scores in _columns(cells)]


def _extreme_means(cells: Cells) -> list[tuple[float, float]]:
    means = [[float(row[e].mean()) for row in cells] for e in range(len(cells[0]))]
    return [(min(each), max(each)) for each in means]


def linear(zero: float, one: float) -> Map:
    """Return the linear map of two scores to 0 and 1, the constant 0.5 where they are equal.

    Parameters
    ----------
    zero, one
        The scores that become 0 and 1.
    """
    if zero == one:
        return lambda scores: np.full(scores.shape, 0.5)
    return lambda scores: (scores - zero) / (one - zero)


@dataclass(frozen=True)
class Ratio:
    """Performance ratios: scores as multiples of one algorithm's mean score on the environment.

    ``"mean"`` of them is the arithmetic mean of ratios, ``"geometric-mean"`` the geometric one.

    Parameters
    ----------
    denominator
        The algorithm whose mean scores become 1.
    """

    denominator: str

    def on(self, table: ScoreTable) -> Scale:
        """Return the scale of a table; refuse a denominator that is unknown or not positive.

        Parameters
        ----------
        table
            The scores.
        """
        number = _numbers([self.denominator], table, "the denominator of ratios")[0]
        for name, cell in zip(table.environments, table.cells[number], strict=True):
            if not cell.mean() > 0.0:
                raise InvalidInput(
                    f"the mean score of {self.denominator} on {name} is {cell.mean():g}: ratios need a positive "
                    "denominator on every environment. Choose another algorithm or another normalisation"
                )
        note = "The order of arithmetic means may depend on the denominator; that of geometric means does not."
        words = f"as multiples of the mean score of {self.denominator}"
        return Scale(words, lambda cells: [_multiples(float(cell.mean())) for cell in cells[number]], True, (note,))


def _multiples(unit: float) -> Map:
    # Only in resamples: there are no ratios to a mean that is not positive, so there is no interval.
    return (lambda scores: scores / unit) if unit > 0.0 else (lambda scores: np.full(scores.shape, np.nan))


@dataclass(frozen=True)
class Percentiles:
    """Performance percentiles: a score's place in the distributions of algorithms' scores, a tie counting half.

    Parameters
    ----------
    references
        The algorithms, which weigh the same; all of them unless given.
    """

    references: Sequence[str] | None = None

    def on(self, table: ScoreTable) -> Scale:
        """Return the scale of a table; refuse unknown references.

        Parameters
        ----------
        table
            The scores.
        """
        if isinstance(self.references, str):
            raise InvalidInput(f"references={self.references!r} is one string: pass a list of names")
        numbers = _numbers(table.algorithms if self.references is None else self.references, table, "a reference")
        if not numbers:
            raise InvalidInput("percentiles need at least one reference: name an algorithm")
        chosen = "all algorithms" if self.references is None else ", ".join(table.algorithms[a] for a in numbers)
        return Scale(f"as percentiles of {chosen}", lambda cells: _fitted(cells, numbers), True)


def _numbers(names: Sequence[str], table: ScoreTable, what: str) -> list[int]:
    for name in names:
        if name not in table.algorithms:
            raise UnknownName("algorithm with scores on every environment", name, table.algorithms, f"It is {what}")
    return [table.algorithms.index(name) for name in dict.fromkeys(names)]


def _fitted(cells: Cells, references: Sequence[int]) -> list[Map]:
    return [distribution_function([np.sort(cells[a][e]) for a in references]) for e in range(len(cells[0]))]


def distribution_function(samples: Sequence[Floats]) -> Map:
    """Return the mean of the samples' distribution functions, half of a jump counting at the jump.

    Parameters
    ----------
    samples
        Sorted scores.
    """

    def percentile(scores: Floats) -> Floats:
        found = np.zeros(scores.shape)
        for sample in samples:
            places = np.searchsorted(sample, scores, side="left") + np.searchsorted(sample, scores, side="right")
            found += places / (2.0 * sample.size * len(samples))
        return found

    return percentile


@dataclass(frozen=True, eq=False)
class PolicyPercentiles:
    """Policy percentiles: a score's place in the distribution of scores of random policies, a tie counting half.

    Parameters
    ----------
    policies
        ``{environment: scores of random policies}``, as `random_policies` makes them for built-in environments.
    """

    policies: Mapping[str, ArrayLike]

    def on(self, table: ScoreTable) -> Scale:
        """Return the scale of a table, with a note where most scores are above those of all policies.

        Parameters
        ----------
        table
            The scores.
        """
        samples = []
        for name in table.environments:
            if name not in self.policies:
                raise InvalidInput(
                    f"there are no scores of random policies on {name}: pass some for every environment, "
                    "summaries.PolicyPercentiles({environment: scores}); summaries.random_policies makes them for "
                    "built-in environments"
                )
            sample = np.sort(np.asarray(self.policies[name], dtype=np.float64).ravel())
            if not sample.size or not np.isfinite(sample).all():
                raise InvalidInput(f"the scores of random policies on {name} must be finite numbers, at least one")
            samples.append(sample)
        columns = zip(table.environments, _columns(table.cells), samples, strict=True)
        beyond = [name for name, scores, sample in columns if np.median(scores) > sample[-1]]
        note = (
            f"On {', '.join(beyond)} most scores are above those of all random policies: their percentiles are 1, and "
            "do not tell algorithms apart."
        )
        return Scale(
            "as percentiles of random policies",
            lambda _: [distribution_function([sample]) for sample in samples],
            False,
            (note,) if beyond else (),
        )


#: Normalisations without parameters.
NAMED: Mapping[str, Normalisation] = MappingProxyType(
    {
        "none": AsTheyAre(),
        "min-max": MinMax("scores"),
        "mean-min-max": MinMax("means"),
        "range": MinMax("range"),
        "percentiles": Percentiles(),
    }
)
#: The name of random policies' percentiles, whose scores the caller must supply.
POLICY_PERCENTILES = "policy-percentiles"


def normalisation(given: object) -> Normalisation:
    """Return the normalisation of a name, reference scores, or a normalisation.

    Parameters
    ----------
    given
        ``None`` for scores as they are; a name; ``{environment: (zero, one)}``; or a normalisation.
    """
    if given is None:
        return NAMED["none"]
    if isinstance(given, str):
        kind, _, names = given.partition(":")
        if kind == "ratio" and names:
            return Ratio(names)
        if kind == "percentiles" and names:
            return Percentiles(tuple(name.strip() for name in names.split(",")))
        if given not in NAMED:
            raise UnknownName("normalisation", given, [*NAMED, "ratio:ALGORITHM", POLICY_PERCENTILES])
        return NAMED[given]
    if isinstance(given, Mapping | tuple | list):
        return References(given)  # type: ignore[arg-type]
    if hasattr(given, "on"):
        return given
    raise InvalidInput(
        f"normalise={given!r}: pass one of {', '.join(NAMED)}, reference scores {{environment: (zero, one)}}, or one "
        "of summaries.MinMax, Ratio, Percentiles, PolicyPercentiles"
    )
