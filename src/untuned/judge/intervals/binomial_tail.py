"""The upper tail of a binomial distribution, as sums of positive terms: no cancellation, however far out."""

import math

from untuned.judge.jit import kernel


@kernel
def log_probability(trials: int, q: float, k: int) -> float:
    """Return log P(Bin(``trials``, ``q``) = ``k``), for 0 < q < 1."""
    ways = math.lgamma(trials + 1.0) - math.lgamma(k + 1.0) - math.lgamma(trials - k + 1.0)
    return ways + k * math.log(q) + (trials - k) * math.log1p(-q)


@kernel
def upper_tail(trials: int, q: float, k: int) -> tuple[float, float]:
    """Return P(B > ``k``) and E(B - ``k``)+ of a binomial B, both divided by P(B = k + 1).

    For 0 < q < 1 and k + 1 not far below the mean: from there on, probabilities soon fall like a geometric series.
    """
    odds = q / (1.0 - q)
    term = 1.0
    tail = 1.0
    excess = 1.0
    j = k + 1
    while j < trials:
        term *= (trials - j) / (j + 1.0) * odds
        j += 1
        tail += term
        more = (j - k) * term
        excess += more
        if more < 1e-18 * excess and (j + 1.0) > (trials + 1.0) * q:
            break
    return tail, excess


@kernel
def rounding(trials: int) -> float:
    """Return more than the error of a logarithm of the above: the gamma function's has as many digits as it has."""
    return 1e-12 + 4e-15 * trials * math.log(trials + 1.0)
