"""The records that an `Evaluation` consists of: rankings, means, percentiles, head-to-head comparisons."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from untuned.scores import Floats, Ints
from untuned.verdicts import NOT_SEPARABLE, TITLES, Pairs, Verdict, Weighting


@dataclass(frozen=True, eq=False)
class Ranks:
    """Places in a ranking, 1 is the best.

    Attributes
    ----------
    rank
        The place by the estimates alone.
    worst, best
        The places that the bounds allow; the paper's tables print them in this order.
    """

    rank: Ints
    worst: Ints
    best: Ints


@dataclass(frozen=True, eq=False)
class Means:
    """Mean scores on each environment, [algorithm, environment], with intervals that hold together at level delta.

    Attributes
    ----------
    mean_ae
        NaN where nothing was measured.
    low_ae, high_ae
        Infinite where the environment declares no range: then no finite sample bounds a mean.
    ranks
        One per environment.
    """

    mean_ae: Floats
    low_ae: Floats
    high_ae: Floats
    ranks: tuple[Ranks, ...]


@dataclass(frozen=True, eq=False)
class PercentileTable:
    """Performance percentiles, [algorithm, environment, reference].

    Attributes
    ----------
    z_aer
        The estimates.
    low_aer, high_aer
        Their intervals, which hold together at level delta; None where the method has none.
    """

    z_aer: Floats
    low_aer: Floats | None
    high_aer: Floats | None


@dataclass(frozen=True, eq=False)
class Ranking:
    """Scores, intervals and verdicts under one weighting of environments and references.

    Attributes
    ----------
    weights
        Where the weights come from: ``"game"``, ``"uniform"`` or ``"given"``.
    method
        The name of the interval method.
    q_er
        The weight of every environment and reference, summing to 1.
    score_a, low_a, high_a
        Aggregate scores, in [0, 1], and their intervals; under the paper's conventions the ends of ``pbp-t``
        are not clipped and may lie outside.
    ranks
        Places of the scores; the worst and the best place are those that `pairs` allow.
    pairs
        Bounds on the differences of all scores, and verdicts, which hold together with the intervals.
    cap_ab
        For every verdict "a is better than b" the largest c such that it holds however environments are weighed, as
        long as none counts more than c times its weight, with references as they are, ``[a, b]``; NaN without a
        verdict. None where the method does not say.
    """

    weights: Weighting
    method: str
    q_er: Floats
    score_a: Floats
    low_a: Floats
    high_a: Floats
    ranks: Ranks
    pairs: Pairs
    cap_ab: Floats | None = None

    @property
    def title(self) -> str:
        """What the weights are called in a sentence."""
        return TITLES[self.weights]

    @property
    def heading(self) -> str:
        """The heading of its table: ``"Equal weights (pooled)"``."""
        return f"{self.title[0].upper()}{self.title[1:]} ({self.method})"

    @property
    def order(self) -> tuple[int, ...]:
        """The algorithms' numbers from the best score to the worst; equal ones keep their order."""
        return tuple(int(a) for a in np.argsort(-self.score_a, kind="stable"))


@dataclass(frozen=True, eq=False)
class HeadToHead:
    """Head-to-head comparisons: the mean over environments of the probability that a beats b, from their runs only.

    Attributes
    ----------
    win_ab
        The estimates, ``[a, b]``; a tie counts half.
    low_ab, high_ab
        Their intervals.
    better_ab
        Whether the probability is shown to be above 1/2, ``[a, b]``. This need not be an order: there may be cycles.
    """

    win_ab: Floats
    low_ab: Floats
    high_ab: Floats
    better_ab: NDArray[np.bool_]

    def verdict(self, a: int, b: int) -> Verdict:
        """Return the verdict on a against b."""
        return "better" if self.better_ab[a, b] else "worse" if self.better_ab[b, a] else NOT_SEPARABLE

    def cycles(self) -> list[tuple[int, ...]]:
        """Return the shortest cycle of verdicts through every algorithm that is in one: a beats b beats c beats a."""
        found: dict[frozenset[int], tuple[int, ...]] = {}
        # What nothing beats, or what beats nothing, is in no cycle; nor is what is left of the others' verdicts then.
        inside = np.arange(len(self.better_ab))
        while (left := inside[_both_ways(self.better_ab[np.ix_(inside, inside)])]).size < inside.size:
            inside = left
        for start in inside.tolist():
            cycle = _shortest_cycle(self.better_ab, start)
            if cycle:
                found.setdefault(frozenset(cycle), cycle)
        return list(found.values())


def _both_ways(better_ab: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which algorithms beat another one and are beaten by one."""
    found: NDArray[np.bool_] = np.logical_and(np.any(better_ab, axis=0), np.any(better_ab, axis=1))
    return found


def _shortest_cycle(better_ab: NDArray[np.bool_], start: int) -> tuple[int, ...]:
    """Return the shortest cycle through ``start``, beginning there; empty if there is none."""
    paths: list[tuple[int, ...]] = [(start,)]
    seen = {start}
    while paths:
        longer = []
        for path in paths:
            if better_ab[path[-1], start]:
                return path
            for b in np.flatnonzero(better_ab[path[-1]]).tolist():
                if b not in seen:
                    seen.add(b)
                    longer.append((*path, b))
        paths = longer
    return ()


@dataclass(frozen=True)
class Derived:
    """Values that judging derived from its options and the size of the table; None for those the method does not use.

    Attributes
    ----------
    slack
        How much wider than necessary the bounds may be, because the solver stopped early.
    functional
        The share of delta that went to the bound on averages.
    refine
        How many cases branching may examine for every pair.
    shares
        The part of delta of every ranking, where there are several.
    undeclared
        Which options differ from those that the study's race declared.
    """

    slack: float | None = None
    functional: float | None = None
    refine: int | None = None
    shares: Mapping[Weighting, float] | None = None
    undeclared: tuple[str, ...] | None = None
