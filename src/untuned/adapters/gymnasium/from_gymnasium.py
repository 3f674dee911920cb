"""Gymnasium environments for trials: all kinds for algorithms in Python, many kinds for compiled agents."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from untuned.adapters.gymnasium.environment import UntunedEnvironment
from untuned.adapters.gymnasium.probe import Make, Probe, Range, probed, what_is_made
from untuned.adapters.training.global_rngs import generators_seeded
from untuned.collect.environments.checks import checked_range, whole_number
from untuned.collect.environments.environment import Budget, ContinuousStates, DiscreteStates
from untuned.collect.environments.stepped import SteppedEnvironment, Stepper
from untuned.collect.kernels.jit import Floats, RandomState
from untuned.collect.kernels.rng import random_state
from untuned.collect.kernels.status import RUNNING, TERMINATED, TRUNCATED
from untuned.errors import InvalidInput
from untuned.source_trees import own_code

#: Episodes of a trial by default.
EPISODES = 100

#: The largest number of dimensions with coupled features: 2**13 features are within 10,000, 2**14 are not.
MOST_DIMENSIONS = 13

# Many environments use the largest float32 for "no bound".
_UNBOUNDED = 1e30

#: Ranges for scaling where a space of Gymnasium has no bounds: few episodes leave them.
_CUSTOMARY = {"CartPole-v1": {1: (-4.0, 4.0), 3: (-4.0, 4.0)}}

Ranges = Sequence[Range | None] | Mapping[int, Range]


@dataclass(frozen=True, kw_only=True)
class GymnasiumEnvironment:
    """The facts about a Gymnasium environment, how to make one, and its form for compiled agents.

    Parameters
    ----------
    name, title, summary
        Its id, a display name, one line.
    observations, actions
        Its spaces, as Gymnasium writes them.
    budget
        The learning budget of a trial.
    step_limit
        Number of steps after which an episode ends in any case.
    score_range
        (worst, best) possible return of an episode; None if undeclared.
    make
        Returns a new instance.
    described
        The environment in the form for compiled agents, or why they cannot run in it.
    """

    name: str
    title: str
    summary: str
    observations: str
    actions: str
    budget: Budget
    step_limit: int
    score_range: Range | None
    make: Make
    described: "DescribedEnvironment | str"

    def for_agents(self) -> "DescribedEnvironment":
        """Return the environment in the form for compiled agents; raises InvalidInput if they cannot run in it."""
        if isinstance(self.described, str):
            raise InvalidInput(self.described)
        return self.described

    def __fingerprint__(self) -> object:
        # Texts for readers and the range of scores change no trial.
        decisive = {**self.facts(), "title": None, "summary": None, "score_range": None}
        return decisive, what_is_made(self.make), self._seen()

    def _seen(self) -> object:
        """Return the form for compiled agents, for the fingerprint."""
        if isinstance(self.described, str):
            return None
        described = self.described
        code = own_code(f"{__name__}:_Running")
        return described.states.facts(), described.clipped, described.first_action, described.first_state, code

    def facts(self) -> dict[str, Any]:
        """Return all of the above as plain JSON types, under the names that `Environment.facts` has."""
        return {
            "name": self.name,
            "title": self.title,
            "summary": self.summary,
            "states": {"kind": "open", "space": self.observations},
            "actions": {"space": self.actions},
            "episodes": self.budget.episodes,
            "steps": self.budget.steps,
            "step_limit": self.step_limit,
            "score_range": None if self.score_range is None else list(self.score_range),
        }


@dataclass(frozen=True, kw_only=True)
class DescribedEnvironment(SteppedEnvironment):
    """A Gymnasium environment in the form for compiled agents.

    Parameters
    ----------
    make
        Returns a new instance.
    first_action, first_state
        Gymnasium's numbers for our action 0 and our state 0.
    """

    make: Make
    first_action: int = 0
    first_state: int = 0

    @contextlib.contextmanager
    def start(self, random: RandomState) -> Iterator[Stepper]:
        """Return a context manager of a new instance for one trial.

        One of our environments takes its random numbers from ``random``, as in a kernel. Any other gets its own seeds,
        derived from ``random``, which is not advanced.
        """
        # Below 2**31: the smallest limit among the generators of NumPy, PyTorch and C code.
        seeds = (random_state("gymnasium", *map(int, random)) >> np.uint64(33)).tolist()
        instance = self.make()
        with contextlib.closing(instance), generators_seeded(seeds[1]):
            yield _Running(self, instance, seeds[0], random)


class _Running:
    """One trial's instance of a Gymnasium environment, stepped like ours.

    Parameters
    ----------
    environment
        The environment.
    instance
        A new instance of it.
    seed
        Seeds the first reset; later ones continue with the environment's own random numbers.
    random
        The trial's random numbers, for environments of ours.
    """

    def __init__(
        self, environment: DescribedEnvironment, instance: gymnasium.Env[Any, Any], seed: int, random: RandomState
    ) -> None:
        self.dynamics: Mapping[str, float] = {}
        if isinstance(instance.unwrapped, UntunedEnvironment):
            self.dynamics = instance.unwrapped.lend(random).values
        self._seed: int | None = seed
        self._instance = instance
        self._step = instance.step
        self._name = environment.name
        self._actions = len(environment.actions)
        self._first_action = environment.first_action
        self._first_state = environment.first_state
        self._states = environment.states.number if isinstance(environment.states, DiscreteStates) else None
        self._dimensions = environment.states.dimensions

    def reset(self, state: Floats) -> None:
        """Start an episode, and write the observation into ``state``."""
        observation, _ = self._instance.reset(seed=self._seed)
        self._seed = None
        self._observe(state, observation)

    def step(self, state: Floats, action: int) -> tuple[float, int]:
        """Take one step, write the observation into ``state``, and return (reward, status), with our statuses."""
        if not 0 <= action < self._actions:
            raise InvalidInput(f"action {action!r} is not allowed: {self._name} takes 0 to {self._actions - 1}")
        observation, reward, terminated, truncated, _ = self._step(action + self._first_action)
        self._observe(state, observation)
        return float(reward), TERMINATED if terminated else TRUNCATED if truncated else RUNNING

    def _observe(self, state: Floats, observation: Any) -> None:
        if self._states is None:
            # Not a plain assignment: NumPy would broadcast a single number to all dimensions.
            state[: self._dimensions] = np.asarray(observation).reshape(self._dimensions)
            return
        index = int(observation) - self._first_state
        # Agents trust it as an index into their tables.
        if not 0 <= index < self._states or index + self._first_state != observation:
            raise InvalidInput(
                f"{self._name} observed {observation!r}: its space allows whole numbers from {self._first_state} to "
                f"{self._first_state + self._states - 1}"
            )
        state[0] = index


def from_gymnasium(
    environment: str | Make,
    /,
    *,
    episodes: int | None = None,
    steps: int | None = None,
    observation_ranges: Ranges | None = None,
    score_range: Range | None = None,
    step_limit: int | None = None,
    name: str | None = None,
    **options: Any,
) -> GymnasiumEnvironment:
    """Return a Gymnasium environment for trials.

    Algorithms in Python can learn in any. Compiled agents need discrete actions, and observations that are discrete or
    a box of up to 13 dimensions with finite ranges; where that is missing, `GymnasiumEnvironment.for_agents` says so.

    Parameters
    ----------
    environment
        An id for `gymnasium.make`, or a function that returns a new instance.
    episodes, steps
        The learning budget of a trial; give at most one, 100 episodes by default. When steps run out, the episode is
        played to its end; compiled agents learn for a number of episodes.
    observation_ranges
        (low, high) of each dimension of the observation: one per dimension (None for the space's), or by index for
        some. Compiled agents need them where the observation space has no finite bounds, except for CartPole-v1, whose
        velocities are then scaled by (-4, 4). Observations outside are clipped for them.
    score_range
        (worst, best) possible return of an episode. Without it there are no intervals on means.
        Known for CartPole-v1, MountainCar-v0, Acrobot-v1 and FrozenLake-v1, if they are made without options.
    step_limit
        Number of steps after which an episode ends; by default that of the id's registration.
    name
        Its name; by default the id.
    **options
        Passed to `gymnasium.make`.

    Raises
    ------
    InvalidInput
        For an environment that cannot be made, and for episodes that might never end.

    Examples
    --------
    >>> from_gymnasium("Pendulum-v1", steps=10_000).actions
    'Box(-2.0, 2.0, (1,), float32)'
    >>> from_gymnasium("CartPole-v1").for_agents().states.dimensions
    4
    """
    with probed(environment, step_limit=step_limit, name=name, options=options) as probe:
        if episodes is None and steps is None:
            budget = Budget(episodes=EPISODES) if probe.ours is None else probe.ours.budget
        else:
            budget = Budget(episodes=episodes, steps=steps)
        limit = check_that_it_ends(probe.name, budget, probe.step_limit)
        scores = probe.score_range(score_range)
        try:
            described: DescribedEnvironment | str = _described(probe, observation_ranges, budget, limit, scores)
        except _Unsuited as unsuited:
            described = str(unsuited)
        observed, acted = (
            " ".join(str(space).split()) for space in (probe.instance.observation_space, probe.instance.action_space)
        )
    return GymnasiumEnvironment(
        name=probe.name,
        title=probe.name,
        summary=probe.summary,
        observations=observed,
        actions=acted,
        budget=budget,
        step_limit=limit,
        score_range=scores,
        make=probe.make,
        described=described,
    )


def check_that_it_ends(name: str, budget: Budget, step_limit: int | None) -> int:
    """Return the step limit; raises InvalidInput if there is none.

    Python cannot end the episode of a policy that goes in circles, so the trial would never return. Truncating the last
    episode with a budget of steps would favour algorithms that never end a bad one.
    """
    if step_limit is None:
        raise InvalidInput(
            f"{name} has no limit on an episode's steps, so {budget} may never end: give step_limit=... (one that no "
            "episode reaches, if they all end by themselves)"
        )
    return step_limit


# How compiled agents see it.


class _Unsuited(InvalidInput):
    """Why compiled agents cannot run in an environment; algorithms in Python still can."""


def _described(
    probe: Probe, ranges: Ranges | None, budget: Budget, step_limit: int, score_range: Range | None
) -> DescribedEnvironment:
    actions, first_action = _actions(probe.name, probe.instance.action_space)
    # Ours are treated as in a kernel: their own ranges, nothing clipped.
    as_ours = probe.ours is not None and ranges is None
    if probe.ours is not None and as_ours:
        states, first_state = probe.ours.states, 0
    else:
        states, first_state = _states(probe, ranges)
    if budget.episodes is None:
        raise _Unsuited(
            f"{probe.name} has a budget of {budget}: compiled agents learn for a number of episodes, give episodes=..."
        )
    return DescribedEnvironment(
        name=probe.name,
        title=probe.name,
        summary=probe.summary,
        states=states,
        actions=probe.ours.actions if probe.ours is not None else actions,
        budget=budget,
        step_limit=step_limit,
        score_range=score_range,
        clipped=not as_ours,
        make=probe.make,
        first_action=first_action,
        first_state=first_state,
    )


def _actions(name: str, space: object) -> tuple[tuple[str, ...], int]:
    if not isinstance(space, spaces.Discrete):
        raise _Unsuited(
            f"{name} has the action space {space}: compiled agents take discrete actions; wrap it so that it has a "
            "spaces.Discrete action space, and give a function that makes the wrapped environment"
        )
    return tuple(f"action {number}" for number in range(int(space.n))), int(space.start)


def _states(probe: Probe, ranges: Ranges | None) -> tuple[DiscreteStates | ContinuousStates, int]:
    name, space = probe.name, probe.instance.observation_space
    if isinstance(space, spaces.Discrete):
        if ranges is not None:
            raise InvalidInput(f"{name} has {space.n} discrete states: leave observation_ranges out")
        return DiscreteStates(int(space.n)), int(space.start)
    if not isinstance(space, spaces.Box):
        raise _Unsuited(
            f"{name} has the observation space {space}: compiled agents take discrete states or a box of numbers; "
            "gymnasium.wrappers.FlattenObservation makes a box of most others, in a function that makes the wrapped "
            "environment"
        )
    bounds = [(float(low), float(high)) for low, high in zip(space.low.flat, space.high.flat, strict=True)]
    declared = {**_CUSTOMARY.get(probe.identifier or "", {}), **_declared(name, ranges, len(bounds))}
    if len(bounds) > MOST_DIMENSIONS:
        raise _Unsuited(
            f"{name} has observations of {len(bounds)} dimensions: the features of compiled agents are for up to "
            f"{MOST_DIMENSIONS}; wrap it so that it shows fewer, and give a function that makes the wrapped environment"
        )
    chosen = [declared.get(index, bound) for index, bound in enumerate(bounds)]
    unbounded = [index for index, (low, high) in enumerate(chosen) if low <= -_UNBOUNDED or high >= _UNBOUNDED]
    if unbounded:
        in_python = ", ".join(f"{index}: (low, high)" for index in unbounded[:4])
        in_toml = ", ".join(f"{index} = [low, high]" for index in unbounded[:4])
        raise _Unsuited(
            f"{name} has no finite range in dimension{'s' if len(unbounded) > 1 else ''} "
            f"{', '.join(map(str, unbounded))} of its observations, and compiled agents need one: declare "
            f"observation_ranges={{{in_python}}}, in a study file observation_ranges = {{ {in_toml} }}"
        )
    empty = [index for index, (low, high) in enumerate(chosen) if not low < high]
    if empty:
        raise _Unsuited(
            f"{name} has an empty range in dimension {empty[0]} of its observations, {chosen[empty[0]]}: "
            f"declare another, observation_ranges={{{empty[0]}: (low, high)}}"
        )
    states = ContinuousStates(
        names=tuple(f"dimension {index}" for index in range(len(bounds))),
        ranges=tuple(chosen),
        bounds=tuple(bounds),
    )
    return states, 0


def _declared(name: str, ranges: object, dimensions: int) -> dict[int, Range]:
    if ranges is None:
        return {}
    if isinstance(ranges, Mapping):
        given: dict[Any, object] = dict(ranges)
    elif not isinstance(ranges, Sequence) or isinstance(ranges, str):
        raise InvalidInput(
            f"observation_ranges={ranges!r} is not allowed: give (low, high) by index, as in {{1: (low, high)}}"
        )
    elif len(ranges) != dimensions:
        raise InvalidInput(
            f"{len(ranges)} observation_ranges for {dimensions} dimensions of {name}: give one each, None for the "
            "space's own, or only some by index, as in {1: (low, high)}"
        )
    else:
        given = {index: limits for index, limits in enumerate(ranges) if limits is not None}
    declared = {}
    for key, limits in given.items():
        # The keys of a TOML table are strings.
        index = int(key) if isinstance(key, str) and key.isdecimal() else whole_number(key)
        if index is None or not 0 <= index < dimensions:
            raise InvalidInput(f"observation_ranges has the index {key!r}: {name} has dimensions 0 to {dimensions - 1}")
        declared[index] = checked_range(f"observation_ranges[{index}]", limits)
    return declared
