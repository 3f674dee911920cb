"""Verdicts: which algorithms are better than which, from bounds on differences.

All bounds hold at the same time, so all verdicts hold together: with probability at least 1 - delta not one "better" is
wrong.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from untuned.scores import Floats

Verdict = Literal["better", "worse", "not separable yet"]
#: The wording for two algorithms without a verdict, the same everywhere.
NOT_SEPARABLE: Literal["not separable yet"] = "not separable yet"
#: Where weights come from: the game's equilibrium, equal weights, or weights given by the user.
Weighting = Literal["game", "uniform", "given"]
#: What weights are called in a sentence.
TITLES: dict[Weighting, str] = {
    "game": "the game's weights",
    "uniform": "equal weights",
    "given": "the given weights",
}

#: Numerical precision of the bounds: smaller differences come from the order of summation.
RESOLUTION = 1e-9
#: More groups than this are unreadable, and may not fit into memory.
MOST_GROUPS = 1000


@dataclass(frozen=True, eq=False)
class Pairs:
    """Bounds on the difference of every two aggregate scores.

    Attributes
    ----------
    low_ab, high_ab
        Bounds on the score of a less that of b, ``[a, b]``; ``low_ab`` is minus the transpose of ``high_ab``.
    tested_ab
        Whether a test showed that a is better than b, ``[a, b]``; None where verdicts come from the bounds alone.
    """

    low_ab: Floats
    high_ab: Floats
    tested_ab: NDArray[np.bool_] | None = None

    @cached_property
    def better_ab(self) -> NDArray[np.bool_]:
        """Whether a is better than b, ``[a, b]``."""
        better: NDArray[np.bool_] = self.low_ab > RESOLUTION
        return better if self.tested_ab is None else better | self.tested_ab

    def verdict(self, a: int, b: int) -> Verdict:
        """Return the verdict on a compared with b."""
        better = self.better_ab
        return "better" if better[a, b] else "worse" if better[b, a] else NOT_SEPARABLE

    def covers(self) -> list[tuple[int, int]]:
        """Return the pairs (better, worse) with nothing between them: the lines of a diagram of the partial order."""
        better = self.better_ab
        between = (better.astype(np.int64) @ better.astype(np.int64)) > 0
        return [(int(a), int(b)) for a, b in np.argwhere(better & ~between)]

    def groups(self) -> list[tuple[int, ...]]:
        """Return all largest sets in which no two are separable, each sorted, in the order of their members.

        An algorithm that is separated from all others is in none. Where many algorithms each differ from just one,
        there are exponentially many sets: at most `MOST_GROUPS` are returned.
        """
        return list(self._groups)

    @cached_property
    def _groups(self) -> tuple[tuple[int, ...], ...]:
        better = self.better_ab
        alike = ~better & ~better.T
        np.fill_diagonal(alike, False)
        # Sets of algorithms are bit masks: a thousand inseparable algorithms take no more than a second.
        neighbours = [sum(1 << b for b in np.flatnonzero(row).tolist()) for row in alike]
        found: list[tuple[int, ...]] = []
        # The maximal cliques of inseparable algorithms, with the pivots of Tomita, Tanaka and Takahashi (2006).
        waiting = [(0, (1 << len(neighbours)) - 1, 0)]
        while waiting and len(found) < MOST_GROUPS:
            chosen, candidates, excluded = waiting.pop()
            if not candidates | excluded:
                if chosen.bit_count() > 1:
                    found.append(tuple(_members(chosen)))
                continue
            # The pivot is inseparable from the most candidates: these need no separate set.
            fewest = min((candidates & ~neighbours[a] for a in _members(candidates | excluded)), key=int.bit_count)
            for a in _members(fewest):
                waiting.append((chosen | 1 << a, candidates & neighbours[a], excluded & neighbours[a]))
                candidates, excluded = candidates & ~(1 << a), excluded | 1 << a
        return tuple(sorted(found))


def _members(bits: int) -> list[int]:
    """Return the numbers of the bits that are set, in order."""
    return [number for number, bit in enumerate(reversed(f"{bits:b}")) if bit == "1"]


def sentences(pairs: Pairs, names: Sequence[str], order: Sequence[int]) -> list[str]:
    """Return the verdicts as sentences, the best algorithms first.

    Parameters
    ----------
    pairs
        The bounds.
    names
        Names of the algorithms.
    order
        The algorithms' numbers, from the best score to the worst.
    """
    place = {a: number for number, a in enumerate(order)}
    better = pairs.better_ab
    n = len(names)
    decided, total = int(np.count_nonzero(better)), n * (n - 1) // 2
    if decided == total > 1:
        return [f"From best to worst: {', '.join(names[a] for a in order)}.", f"All {total:,} pairs are decided."]
    found = [f"{clause}." for clause, _ in better_clauses(better, names, order)]
    groups = sorted(sorted(place[a] for a in group) for group in pairs.groups())
    alike = [listed([names[order[number]] for number in group]) for group in groups[:_GROUPS]]
    found += [f"{group} are {NOT_SEPARABLE}." for group in alike]
    if len(groups) > _GROUPS:
        more = len(groups) - _GROUPS
        least = "at least " if len(groups) == MOST_GROUPS else ""
        found.append(f"The same holds for {least}{more} more {'group' if more == 1 else 'groups'}.")
    if total > 1:
        count = part(decided, total)
        found.append(f"{count[0].upper()}{count[1:]} {'are' if decided > 1 else 'is'} decided.")
    return found


def part(count: int, total: int) -> str:
    """Return a number of pairs for a sentence."""
    return f"{f'{count:,}' if count else 'none'} of {total:,} pairs"


def better_clauses(better_ab: NDArray[np.bool_], names: Sequence[str], order: Sequence[int]) -> list[tuple[str, int]]:
    """Return clauses "a and b are better than c and d" with the number of verdicts in each, the best first.

    Algorithms that are better than the same others share a clause.

    Parameters
    ----------
    better_ab
        Whether a is better than b.
    names
        Names of the algorithms.
    order
        The algorithms' numbers, from the best score to the worst.
    """
    groups: dict[tuple[int, ...], list[int]] = {}
    for a in order:
        worse = tuple(b for b in order if better_ab[a, b])
        if worse:
            groups.setdefault(worse, []).append(a)
    found = []
    for worse, above in groups.items():
        everything_else = len(worse) == len(names) - 1 > 1
        others = "all others" if everything_else else listed([names[b] for b in worse])
        verb = "is" if len(above) == 1 else "are"
        found.append((f"{listed([names[a] for a in above])} {verb} better than {others}", len(above) * len(worse)))
    return found


#: Longer lists are truncated, with a count of the rest.
_NAMES = 8
_GROUPS = 8


def listed(names: Sequence[str], last: str = "and") -> str:
    """Return names joined for a sentence, ``last`` before the last one."""
    if len(names) > _NAMES + 1:
        return f"{', '.join(names[:_NAMES])} {last} {len(names) - _NAMES} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}"
