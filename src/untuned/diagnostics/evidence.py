"""How unlikely it is that a finding in some cells of a table is due to chance.

The evidence of a cell is an e-value: 1/p where an event of probability p (at most) took place, 0 where it did not. Its
mean is at most 1 if chance made the scores. Cells are independent, so for every share s the product of ``1 - s + s e``
over all cells has a mean of at most 1 too, and so has its average over several shares. By Markov's inequality that
average exceeds 1/alpha with a probability of at most alpha: no correction for the choice of cells is needed.
"""

import math
from collections.abc import Iterable

import numpy as np
from scipy.special import gammaln, logsumexp

from untuned.scores import Ints

#: The logarithm of what evidence must exceed: serious findings are false at most once in 10^9 tables.
CERTAIN = math.log(1e9)


def combined(logs: Iterable[float], cells: int) -> float:
    """Return the logarithm of the evidence of all cells.

    Parameters
    ----------
    logs
        The logarithms of the e-values of the cells in which the event took place.
    cells
        The number of all cells in which it could have.
    """
    found = np.array(list(logs), dtype=np.float64)
    if not found.size:
        return -math.inf
    # From almost all cells to one of them.
    shares = [0.95, *(0.5**power for power in range(1, cells.bit_length() + 1))]
    products = [
        float(np.logaddexp(math.log1p(-share), math.log(share) + found).sum())
        + (cells - found.size) * math.log1p(-share)
        for share in shares
    ]
    return float(logsumexp(products)) - math.log(len(shares))


def log_probability_of_multiples(counts: Ints) -> float:
    """Return a bound on the log probability that all counts of a sample's values are multiples of 2, or of 3, ...

    The number of times that a value appears is about Poisson. If it appears at all, it does so an even number of times
    with a probability of at most 1/2, whatever its rate; for other multiples that is less. A sample of a fixed size n
    is a Poisson one given its size, which has a probability of at least 1/(e sqrt(n)).
    """
    values, size = counts.size, int(counts.sum())
    return min(0.0, 1.0 + 0.5 * math.log(size) - values * math.log(2.0))


def log_probability_of_exact_multiples(values: int, times: int) -> float:
    """Return the largest log probability that a sample has ``values`` values, each exactly ``times`` times.

    It is largest if some number of values, at least these, are equally likely.
    """
    size = values * times
    among = np.arange(values, 2 * values + 10, dtype=np.float64)
    choices = gammaln(among + 1.0) - gammaln(among - values + 1.0) - gammaln(values + 1.0)
    orders = gammaln(size + 1.0) - values * gammaln(times + 1.0)
    return min(0.0, float((choices - size * np.log(among)).max() + orders))
