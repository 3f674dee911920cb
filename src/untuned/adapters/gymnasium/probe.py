"""Making Gymnasium environments from an id or a function, and their facts before any step is taken."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import gymnasium

from untuned.adapters.registration import NAMESPACE
from untuned.collect.environments.checks import checked_range, checked_size
from untuned.collect.environments.environment import LONGEST, CompiledEnvironment
from untuned.errors import InvalidInput, UnknownName

Make = Callable[[], gymnasium.Env[Any, Any]]
Range = tuple[float, float]


#: (worst, best) return of an episode in some of Gymnasium's own, made without options: the registry does not say.
_SCORE_RANGES = {
    "CartPole-v1": (1.0, 500.0),
    "MountainCar-v0": (-200.0, -1.0),
    "Acrobot-v1": (-500.0, 0.0),
    "FrozenLake-v1": (0.0, 1.0),
}


@dataclass(frozen=True)
class Probe:
    """An instance to inspect, and the facts of all instances made the same way.

    Parameters
    ----------
    make
        Makes another instance.
    instance
        The instance to inspect; closed afterwards.
    name
        The name of the environment.
    ours
        Our facts about it, if it is one of ours.
    step_limit
        The effective limit on an episode's steps; None if none is visible.
    identifier
        The id it was made by, with its version; None if a function made it.
    changed
        Whether options or a limit were given, which may change the returns.
    """

    make: Make
    instance: gymnasium.Env[Any, Any]
    name: str
    ours: CompiledEnvironment | None
    step_limit: int | None
    identifier: str | None
    changed: bool

    @property
    def summary(self) -> str:
        """One line about it."""
        return self.ours.summary if self.ours is not None else f"Gymnasium's {self.name}"

    def score_range(self, declared: object) -> Range | None:
        """Return the (worst, best) return of an episode: the declared one, else a known one where it holds."""
        if declared is not None:
            return checked_range("score_range", declared)
        # With a shorter limit other returns are possible: a gridworld left early costs less than its shortest path.
        if self.ours is not None and self.step_limit == self.ours.step_limit:
            return self.ours.score_range
        return None if self.changed else _SCORE_RANGES.get(self.identifier or "")


@contextlib.contextmanager
def probed(
    environment: str | Make, *, step_limit: int | None, name: str | None, options: dict[str, Any]
) -> Iterator[Probe]:
    """Return a context manager of an instance to inspect: all facts about an environment are read from it."""
    if step_limit is not None:
        step_limit = checked_size("step_limit", step_limit, 1, LONGEST)
    called_so: object = name
    if called_so is not None and (not isinstance(called_so, str) or not called_so.strip()):
        raise InvalidInput(f"name={name!r} is not allowed: give a text that is not empty")
    make = _maker(environment, options, step_limit)
    instance = _made(make)
    try:
        called = name or _name(environment, instance)
        ours = _ours(environment, instance)
        # Our environments always end their episodes, however they are wrapped.
        limits = (getattr(_inner(instance), "step_limit", None), _time_limit(instance))
        own_limit = min((each for each in limits if each is not None), default=None)
        if step_limit is not None and own_limit is not None and own_limit < step_limit:
            raise InvalidInput(
                f"step_limit={step_limit} has no effect: {called} already ends episodes after {own_limit} steps; "
                "remove that limit where it is made, or give a smaller one"
            )
        yield Probe(
            make,
            instance,
            called,
            ours,
            own_limit if step_limit is None else step_limit,
            instance.spec.id if isinstance(environment, str) and instance.spec is not None else None,
            changed=bool(options) or step_limit is not None,
        )
    finally:
        instance.close()


def what_is_made(make: Make) -> object:
    """Return everything that determines an environment's behaviour, for fingerprints: how it is made, its classes."""
    layers = []
    instance = layer = make()
    while isinstance(layer, gymnasium.Wrapper):
        layers.append(type(layer))
        layer = layer.env
    ours = getattr(layer, "environment", None)
    instance.close()
    kernels = ours if isinstance(ours, CompiledEnvironment) else None
    return make, gymnasium.__version__, [*layers, type(layer)], kernels


@dataclass(frozen=True)
class _ById:
    """Makes the environment of an id; a record, not a closure, so that it can be pickled and compared."""

    identifier: str
    options: tuple[tuple[str, Any], ...]
    step_limit: int | None

    def __call__(self) -> gymnasium.Env[Any, Any]:
        options = dict(self.options)
        if self.step_limit is not None:
            options["max_episode_steps"] = self.step_limit
        return gymnasium.make(self.identifier, **options)


@dataclass(frozen=True)
class _Limited:
    """Makes the environment of a function, with a limit on an episode's steps."""

    make: Make
    step_limit: int

    def __call__(self) -> gymnasium.Env[Any, Any]:
        return gymnasium.wrappers.TimeLimit(self.make(), self.step_limit)


def _maker(environment: object, options: dict[str, Any], step_limit: int | None) -> Make:
    if isinstance(environment, str):
        # Gymnasium treats an id without a version as the newest one, and imports the package of package:id first.
        known = {*gymnasium.registry, *(each.rpartition("-v")[0] for each in gymnasium.registry)}
        if environment not in known and ":" not in environment:
            raise UnknownName(
                "Gymnasium environment",
                environment,
                gymnasium.registry,
                "Import the package that registers it, or write package:id; gymnasium.pprint_registry() shows all",
            )
        return _ById(environment, tuple(options.items()), step_limit)
    if isinstance(environment, gymnasium.Env) or not callable(environment):
        raise InvalidInput(
            f"{environment!r} is not allowed: give an id, or a function without arguments that makes a new environment "
            "every time it is called; one environment alone cannot serve many trials"
        )
    if options:
        raise InvalidInput(f"options {sorted(options)} go with an id; with a function, put them into the function")
    return environment if step_limit is None else _Limited(environment, step_limit)


def _made(make: Make) -> gymnasium.Env[Any, Any]:
    try:
        instance: object = make()
    except Exception as error:
        # Gymnasium raises many kinds of errors for a wrong option, version or missing package, and so do functions:
        # they are reported as one kind, with the cause attached.
        made = make.identifier if isinstance(make, _ById) else getattr(make, "__name__", "the environment")
        raise InvalidInput(f"{made} could not be made: {type(error).__name__}: {error}") from error
    if not isinstance(instance, gymnasium.Env):
        raise InvalidInput(f"the function made {instance!r}: it must return a gymnasium.Env")
    return instance


def _name(environment: object, instance: gymnasium.Env[Any, Any]) -> str:
    if isinstance(environment, str):
        # With the version, even if it was omitted: the newest one may change.
        return instance.spec.id if instance.spec is not None else environment
    name = getattr(environment, "__name__", "")
    if not name or name == "<lambda>":
        raise InvalidInput("the function that makes the environment has no name: say what to call it, name='...'")
    return str(name)


def _ours(environment: object, instance: gymnasium.Env[Any, Any]) -> CompiledEnvironment | None:
    """Return our facts about an environment of ours, if it was made by its id alone.

    A function may have wrapped it, and a wrapper may change observations, actions and rewards.
    """
    registered = instance.spec is not None and instance.spec.namespace == NAMESPACE
    return _inner(instance) if isinstance(environment, str) and registered else None


def _inner(instance: gymnasium.Env[Any, Any]) -> CompiledEnvironment | None:
    """Return our environment inside all wrappers; None if it is not ours."""
    inner = getattr(instance.unwrapped, "environment", None)
    return inner if isinstance(inner, CompiledEnvironment) else None


def _time_limit(instance: gymnasium.Env[Any, Any]) -> int | None:
    """Return the smallest limit on an episode's steps among the wrappers, None if there is none."""
    limits = []
    while isinstance(instance, gymnasium.Wrapper):
        if isinstance(instance, gymnasium.wrappers.TimeLimit):
            limits.append(instance._max_episode_steps)
        instance = instance.env
    return min(limits, default=None)
