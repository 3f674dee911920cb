"""Distributions of scores whose percentiles are known: mixtures of points and of normal distributions.

Percentiles do not change when all scores of an environment go through the same increasing function, so a lognormal
distribution is a normal one seen through the exponential.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from untuned.judge.percentiles import Payoff
from untuned.scores import Floats


@dataclass(frozen=True)
class Part:
    """A part of a mixture: a point, or a normal distribution.

    Attributes
    ----------
    weight
        Its probability.
    mean, deviation
        Mean and standard deviation of the normal distribution; a deviation of 0 is a point.
    """

    weight: Fraction
    mean: float
    deviation: float = 0.0


#: A mixture; the weights add up to 1.
Law = tuple[Part, ...]


def point(score: float) -> Law:
    """Return the distribution of a score that never changes.

    Parameters
    ----------
    score
        The score.
    """
    return (Part(Fraction(1), score),)


def even(*scores: float) -> Law:
    """Return the distribution of scores that are equally likely.

    Parameters
    ----------
    *scores
        The scores.
    """
    return tuple(Part(Fraction(1, len(scores)), score) for score in scores)


def two(low: float, high: float, probability: Fraction) -> Law:
    """Return the distribution of ``high`` with this probability, else ``low``.

    Parameters
    ----------
    low, high
        The two scores.
    probability
        Probability of the second.
    """
    return (Part(1 - probability, low), Part(probability, high))


def normal(mean: float, deviation: float) -> Law:
    """Return a normal distribution.

    Parameters
    ----------
    mean, deviation
        Its mean and standard deviation.
    """
    return (Part(Fraction(1), mean, deviation),)


def mixture(weight: Fraction, law: Law, otherwise: Law) -> Law:
    """Return the distribution that is ``law`` with this probability, else the other.

    Parameters
    ----------
    weight
        The probability of the first.
    law, otherwise
        The two.
    """
    return (
        *(Part(weight * part.weight, part.mean, part.deviation) for part in law),
        *(Part((1 - weight) * part.weight, part.mean, part.deviation) for part in otherwise),
    )


def draw(law: Law, trials: int, rng: np.random.Generator) -> Floats:
    """Return independent scores."""
    borders = np.cumsum([float(part.weight) for part in law])
    borders[-1] = np.inf
    chosen = np.searchsorted(borders, rng.random(trials), side="right")
    means = np.array([part.mean for part in law])[chosen]
    deviations = np.array([part.deviation for part in law])[chosen]
    scores: Floats = means + deviations * rng.standard_normal(trials)
    return scores


def percentile(player: Law, reference: Law, payoff: Payoff) -> Fraction:
    """Return how well a player does as a percentile of the reference.

    Exact where both have points only; else as exact as the normal distribution function in floating point.
    """
    return sum(
        (mine.weight * theirs.weight * _won(mine, theirs, payoff) for mine in player for theirs in reference),
        Fraction(0),
    )


def _won(mine: Part, theirs: Part, payoff: Payoff) -> Fraction:
    """Return the probability that ``mine`` is the higher score; ties count as the payoff says."""
    gap = mine.mean - theirs.mean
    spread = math.hypot(mine.deviation, theirs.deviation)
    if spread > 0.0:
        # Symmetric by construction, so that a percentile and its counterpart add up to 1.
        beyond = Fraction(0.5 * math.erfc(abs(gap) / spread / math.sqrt(2.0)))
        return 1 - beyond if gap > 0.0 else beyond
    if gap == 0.0:
        return Fraction(1, 2) if payoff == "mid-rank" else Fraction(1)
    return Fraction(int(gap > 0.0))


def percentiles(laws: Sequence[Sequence[Law]], payoff: Payoff) -> Floats:
    """Return the percentiles ``[player, environment, reference]`` of ``laws[algorithm][environment]``."""
    n, m = len(laws), len(laws[0])
    z_aer = np.full((n, m, n), 0.5)
    for a in range(n):
        for e in range(m):
            for r in range(n):
                if a != r:
                    z_aer[a, e, r] = float(percentile(laws[a][e], laws[r][e], payoff))
    return z_aer
