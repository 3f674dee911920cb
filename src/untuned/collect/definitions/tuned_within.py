"""Definitions that tune themselves: several candidates are drawn, and the trial finds the best of them."""

from dataclasses import dataclass

from untuned.collect.agents.agent import Agent
from untuned.collect.agents.tuned_within import TunedWithin
from untuned.collect.definitions.definition import Definition
from untuned.collect.definitions.draw import Draw
from untuned.collect.environments.checks import checked_size
from untuned.collect.environments.environment import Environment

#: More candidates than any trial has episodes for.
MOST_CANDIDATES = 100_000

#: Changes when the way of tuning changes; the base has its own version.
VERSION = 1


def tuned_within(base: Definition, k: int) -> Definition:
    """Return the definition that draws ``k`` candidates of ``base`` and tunes within the trial's own episodes.

    The cost of tuning is part of the score: half of the episodes are for trying the candidates, and the best of them
    continues in the other half (`untuned.collect.agents.tuned_within`).

    Parameters
    ----------
    base
        The definition of the candidates.
    k
        Number of candidates, at least 1. With one it is identical to the base.

    Examples
    --------
    >>> import untuned
    >>> tuned_within(untuned.algorithm("ppo"), 3).name
    'tuned-within[ppo,3]'
    """
    number = checked_size("k", k, 1, MOST_CANDIDATES)
    return Definition(
        name=_name(base.name, number),
        title=f"{base.title}, tuned within: {number}",
        version=f"{VERSION}+{base.version}",
        summary=f"the best of {number} draws of {base.name}, found within the trial's own episodes",
        build=_Candidates(base, number),
        same_as=_SameBase(base, number),
        differs=base.differs,
    )


def _name(base: str, number: int) -> str:
    return f"tuned-within[{base},{number}]"


# Not nested functions: definitions are sent to other processes, and must compare equal when made twice.


@dataclass(frozen=True)
class _Candidates:
    base: Definition
    number: int

    def __call__(self, environment: Environment, draw: Draw) -> Agent:
        return TunedWithin(
            tuple(self.base.agent(environment, draw.within(f"{turn}.")) for turn in range(1, self.number + 1))
        )


@dataclass(frozen=True)
class _SameBase:
    base: Definition
    number: int

    def __call__(self, environment: Environment) -> str | None:
        other = self.base.same_as(environment)
        if self.number == 1:
            return other or self.base.name
        return None if other is None else _name(other, self.number)
