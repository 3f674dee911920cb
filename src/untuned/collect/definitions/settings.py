"""Definitions with numbered hyperparameter settings, which protocols tune and test.

A setting is a number. Every hyperparameter of a setting takes one number on [0, 1), determined by the study's seed, the
algorithm, the setting and the hyperparameter's name, and the hyperparameter is that quantile of its distribution. So
two trials of one setting have the same hyperparameters whatever else is random in them, and in environments where a
hyperparameter has another range, or is missing, the setting is still the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from untuned.collect.agents.agent import Agent
from untuned.collect.definitions.definition import Definition
from untuned.collect.definitions.draw import Draw, T
from untuned.collect.distributions import Distribution
from untuned.collect.environments.environment import Environment
from untuned.collect.fingerprints import source_digest
from untuned.collect.kernels.rng import random_state, uniform

#: Changes when the way of making settings changes; the base has its own version.
VERSION = 1


class SettledDraw(Draw):
    """A view of a draw in which every hyperparameter takes the number of a setting.

    It writes into the draw's record. A `seed` still comes from the trial's own random numbers.

    Parameters
    ----------
    draw
        The trial's draw.
    key
        Determines the setting, with the hyperparameter's name.
    """

    def __init__(self, draw: Draw, key: tuple[int | str, ...]) -> None:
        super().__init__(draw._uniform, number=draw.number)
        self._prefix, self._entries = draw._prefix, draw._entries
        self._key = key
        self._drawn_now: str | None = None

    def suggest(self, name: str, distribution: Distribution[T]) -> T:
        """Return the setting's value of a hyperparameter; the parameters are those of `Draw.suggest`."""
        self._drawn_now = self._whole_name(name)
        try:
            return super().suggest(name, distribution)
        finally:
            self._drawn_now = None

    def within(self, prefix: str) -> "SettledDraw":
        """Return a view that draws and records with a prefix, as `Draw.within`."""
        return SettledDraw(super().within(prefix), self._key)

    def _next_number(self) -> float:
        # Still takes one number of the trial for every name, as in `Draw`.
        own = super()._next_number()
        return own if self._drawn_now is None else uniform(random_state(*self._key, self._drawn_now))


@dataclass(frozen=True)
class Numbered:
    """Which setting a trial takes, by the trial's number: each setting the same number of consecutive trials.

    Parameters
    ----------
    repeats
        Number of consecutive trials of one setting.
    chosen
        The settings by environment, in order; None for 0, 1, 2 and so on.
    """

    repeats: int
    chosen: Mapping[str, Sequence[int]] | None = None

    def __call__(self, environment: str, trial: int) -> int:
        """Return the setting of a trial."""
        place = trial // self.repeats
        return place if self.chosen is None else self.chosen[environment][place]


def with_settings(
    base: Definition, part: str, settings: Numbered, *, seed: int, shared: bool, identical: bool
) -> Definition:
    """Return a definition that draws from the same distributions as ``base``, by numbered settings.

    Parameters
    ----------
    base
        The definition.
    part
        The purpose of the trials, part of the name.
    settings
        Which setting a trial takes.
    seed
        The seed of the study.
    shared
        Whether settings are the same in every environment; otherwise every environment has its own.
    identical
        Whether definitions that are identical on an environment stay so with settings.
    """
    return Definition(
        name=named(base.name, part),
        title=named(base.title, part),
        version=f"{VERSION}+{base.version}",
        summary=f"{base.summary}; {part} runs of a protocol",
        build=_Settled(base, settings, seed, shared),
        same_as=_Same(base, part, identical),
        differs=base.differs,
    )


def named(algorithm: str, part: str) -> str:
    """Return the name of a protocol's runs for one purpose."""
    return f"{algorithm} ({part})"


@dataclass(frozen=True)
class _Settled:
    base: Definition
    settings: Numbered
    seed: int
    shared: bool

    def __call__(self, environment: Environment, draw: Draw) -> Agent:
        setting = self.settings(environment.name, draw.number)
        where = "" if self.shared else environment.name
        return self.base.agent(environment, SettledDraw(draw, (self.seed, self.base.name, where, "setting", setting)))

    def __fingerprint__(self) -> object:
        # The chosen settings follow from trials that have this fingerprint, too.
        return VERSION, self.base.name, source_digest(self.base), self.settings.repeats, self.shared


@dataclass(frozen=True)
class _Same:
    base: Definition
    part: str
    identical: bool

    def __call__(self, environment: Environment) -> str | None:
        other = self.base.same_as(environment) if self.identical else None
        return None if other is None else named(other, self.part)
