"""Performance percentiles: an algorithm's scores on an environment, on the scale of another's distribution.

    z[a, e, r] = E[F_r(X_a)]

Two payoffs. The paper's (its Definition 2 and Section 4.2) counts a tie as a win, P(X_r <= X_a), and sets the payoff of
an algorithm against itself to 1/2. The mid-rank payoff, P(X_r < X_a) + P(X_r = X_a)/2, is the same without ties; with
ties only the mid-rank payoff gives z[a, e, r] + z[r, e, a] = 1 and 1/2 against an independent copy.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from untuned.judge.jit import kernel
from untuned.judge.pool import Owners, Pool
from untuned.scores import Floats, Ints

#: The payoff of a trial that ties with the reference's: half a win, or a whole one.
Payoff = Literal["mid-rank", "at-most"]

#: The part of a tie that counts as won.
SHARE = {"mid-rank": 0.5, "at-most": 1.0}

SELF = 0.5


@dataclass(frozen=True, eq=False)
class Percentiles:
    """Estimated performance percentiles, and the counts they come from.

    Attributes
    ----------
    z_aer
        ``z[algorithm, environment, reference]``; 1/2, the neutral value, where one of the two has no trials.
    known_aer
        False where one of the two has no trials.
    trials_ae
        The number of trials behind each cell; declared-identical algorithms share theirs.
    payoff
        The payoff of a tie.
    """

    z_aer: Floats
    known_aer: NDArray[np.bool_]
    trials_ae: Ints
    payoff: Payoff


def percentiles(pools: Sequence[Pool], payoff: Payoff = "mid-rank") -> Percentiles:
    """Return the percentiles of every algorithm on every environment against every reference.

    Every pair of trials counts, by pooled ranks: O(P n) for P scores on an environment, never T x T comparisons. Counts
    are whole numbers and each z is their correctly rounded quotient, so equal fractions are equal numbers.
    """
    n, m = pools[0].owner_of.size, len(pools)
    z_aer = np.full((n, m, n), SELF)
    known_aer = np.ones((n, m, n), dtype=np.bool_)
    trials_ae = np.zeros((n, m), dtype=np.int64)
    for e, pool in enumerate(pools):
        wins, ties = counts(pool)
        pairs = np.outer(pool.sizes, pool.sizes)
        won = 2 * wins + (ties if payoff == "mid-rank" else 2 * ties)
        z = np.divide(won, 2 * pairs, out=np.full(pairs.shape, SELF), where=pairs > 0)
        np.fill_diagonal(z, SELF)
        known = pairs > 0
        np.fill_diagonal(known, True)
        owner = pool.owner_of
        z_aer[:, e, :] = z[np.ix_(owner, owner)]
        known_aer[:, e, :] = known[np.ix_(owner, owner)]
        trials_ae[:, e] = pool.sizes[owner]
    return Percentiles(z_aer, known_aer, trials_ae, payoff)


def counts(pool: Pool) -> tuple[Ints, Ints]:
    """Return how many pairs of trials each owner wins and ties against each other: two arrays [owner, reference]."""
    owners = pool.sizes.size
    wins = np.zeros((owners, owners), dtype=np.int64)
    ties = np.zeros((owners, owners), dtype=np.int64)
    _count(pool.scores, pool.owners, wins, ties)
    return wins, ties


@kernel
def _count(scores: Floats, owners: Owners, wins: Ints, ties: Ints) -> None:
    total = scores.size
    count = wins.shape[0]
    below = np.zeros(count, dtype=np.int64)
    here = np.zeros(count, dtype=np.int64)
    first = 0
    while first < total:
        end = first + 1
        while end < total and scores[end] == scores[first]:
            end += 1
        if end == first + 1:
            a = owners[first]
            for r in range(count):
                wins[a, r] += below[r]
            ties[a, a] += 1
            below[a] += 1
        else:
            here[:] = 0
            for p in range(first, end):
                here[owners[p]] += 1
            for a in range(count):
                if here[a] > 0:
                    for r in range(count):
                        wins[a, r] += here[a] * below[r]
                        ties[a, r] += here[a] * here[r]
            for r in range(count):
                below[r] += here[r]
        first = end
