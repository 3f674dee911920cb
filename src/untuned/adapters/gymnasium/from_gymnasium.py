"""Any Gymnasium environment with discrete actions, described as one of ours."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from untuned.adapters.gymnasium.probe import Make, Range, probed, what_is_made
from untuned.collect.environments.checks import checked_action, checked_range, checked_size, whole_number
from untuned.collect.environments.environment import Budget, ContinuousStates, DiscreteStates, Environment
from untuned.collect.kernels.status import RUNNING, TERMINATED, TRUNCATED
from untuned.errors import InvalidInput

# Many environments write the largest float32 where they mean "no bound".
_UNBOUNDED = 1e30


@dataclass(frozen=True, kw_only=True)
class GymnasiumEnvironment(Environment):
    """The facts about a Gymnasium environment, and how to make one.

    Parameters
    ----------
    make
        Returns a new instance.
    first_action, first_state
        Gymnasium's number for our action 0, and for our state 0.
    """

    make: Make
    first_action: int = 0
    first_state: int = 0

    def __fingerprint__(self) -> object:
        return super().__fingerprint__(), self.first_action, self.first_state, what_is_made(self.make)

    def start(self, seed: int) -> "Running":
        """Return a new instance to run one trial in, seeded once.

        Parameters
        ----------
        seed
            Of its first reset; later ones go on from there.
        """
        return Running(self, seed)


class Running:
    """One trial's instance of a Gymnasium environment, stepped like ours.

    Parameters
    ----------
    environment
        What to run.
    seed
        Seeds the first reset; later ones go on with the environment's own random numbers.
    """

    def __init__(self, environment: GymnasiumEnvironment, seed: int) -> None:
        self.environment = environment
        self._seed: int | None = checked_size("seed", seed, 0, 2**63 - 1)
        self._instance = environment.make()

    def reset(self) -> NDArray[np.float64]:
        """Start an episode; return the observation: float64[dimensions], the state's index for discrete states."""
        observation, _ = self._instance.reset(seed=self._seed)
        self._seed = None
        return self._flat(observation)

    def step(self, action: int) -> tuple[NDArray[np.float64], float, int]:
        """Take one step; return (observation, reward, status), with our statuses."""
        actions = len(self.environment.actions)
        number = checked_action(self.environment.name, action, actions, f"0 to {actions - 1}")
        observation, reward, terminated, truncated, _ = self._instance.step(number + self.environment.first_action)
        status = TERMINATED if terminated else TRUNCATED if truncated else RUNNING
        return self._flat(observation), float(reward), status

    def close(self) -> None:
        """Release what the instance holds."""
        self._instance.close()

    def _flat(self, observation: object) -> NDArray[np.float64]:
        flat = np.array(observation, dtype=np.float64).reshape(-1)
        return flat - self.environment.first_state if self.environment.first_state else flat


def from_gymnasium(
    environment: str | Make,
    /,
    *,
    episodes: int | None = None,
    steps: int | None = None,
    ranges: Sequence[Range | None] | Mapping[int, Range] | None = None,
    score_range: Range | None = None,
    step_limit: int | None = None,
    name: str | None = None,
    **options: Any,
) -> GymnasiumEnvironment:
    """Return a Gymnasium environment described as one of ours.

    Parameters
    ----------
    environment
        An id for `gymnasium.make`, or a function that returns a new instance.
    episodes, steps
        How long one trial learns; give exactly one.
    ranges
        (low, high) for scaling each dimension of the observation: one per dimension (None takes the space's), or by
        index for some. Needed where the observation space has no finite bounds.
    score_range
        (worst, best) return of an episode that is possible at all. Without it, intervals on means cannot be given.
    step_limit
        Steps after which an episode ends; by default what the id was registered with.
    name
        What to call it; by default the id.
    **options
        Passed to `gymnasium.make`.

    Raises
    ------
    InvalidInput
        For actions that are not discrete, or observations that are neither discrete nor a box, or that have no
        finite range: says what to wrap or declare.

    Examples
    --------
    >>> from_gymnasium("CartPole-v1", episodes=100, ranges={1: (-4, 4), 3: (-4, 4)}).states.dimensions
    4
    """
    budget = Budget(episodes=episodes, steps=steps)
    with probed(environment, step_limit=step_limit, name=name, options=options) as probe:
        actions, first_action = _actions(probe.name, probe.instance.action_space)
        if probe.ours is not None and ranges is None:
            states, first_state = probe.ours.states, 0
        else:
            states, first_state = _states(probe.name, probe.instance.observation_space, ranges)
    return GymnasiumEnvironment(
        name=probe.name,
        title=probe.name,
        summary=probe.summary,
        states=states,
        actions=probe.ours.actions if probe.ours is not None else actions,
        budget=budget,
        step_limit=probe.step_limit,
        score_range=probe.score_range(score_range),
        make=probe.make,
        first_action=first_action,
        first_state=first_state,
    )


def _actions(name: str, space: object) -> tuple[tuple[str, ...], int]:
    if not isinstance(space, spaces.Discrete):
        raise InvalidInput(
            f"{name} has the action space {space}: only discrete actions are supported; wrap it so that it has a "
            "spaces.Discrete action space, and pass a function that makes the wrapped environment"
        )
    return tuple(f"action {number}" for number in range(int(space.n))), int(space.start)


def _states(
    name: str, space: object, ranges: Sequence[Range | None] | Mapping[int, Range] | None
) -> tuple[DiscreteStates | ContinuousStates, int]:
    if isinstance(space, spaces.Discrete):
        if ranges is not None:
            raise InvalidInput(f"{name} has {space.n} discrete states: leave ranges out")
        return DiscreteStates(int(space.n)), int(space.start)
    if not isinstance(space, spaces.Box):
        raise InvalidInput(
            f"{name} has the observation space {space}: discrete states or a box of numbers are supported; "
            "gymnasium.wrappers.FlattenObservation makes a box of most others"
        )
    bounds = [(float(low), float(high)) for low, high in zip(space.low.flat, space.high.flat, strict=True)]
    declared = _declared(name, ranges, len(bounds))
    chosen = [declared.get(index, bound) for index, bound in enumerate(bounds)]
    unbounded = [index for index, (low, high) in enumerate(chosen) if low <= -_UNBOUNDED or high >= _UNBOUNDED]
    if unbounded:
        example = ", ".join(f"{index}: (low, high)" for index in unbounded[:4])
        raise InvalidInput(
            f"{name} has no finite range in dimension{'s' if len(unbounded) > 1 else ''} "
            f"{', '.join(map(str, unbounded))} of its observations: declare what to scale by, ranges={{{example}}}"
        )
    empty = [index for index, (low, high) in enumerate(chosen) if not low < high]
    if empty:
        raise InvalidInput(
            f"{name} has an empty range in dimension {empty[0]} of its observations, {chosen[empty[0]]}: "
            f"declare one, ranges={{{empty[0]}: (low, high)}}"
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
        raise InvalidInput(f"ranges={ranges!r} is not allowed: give (low, high) by index, ranges={{1: (low, high)}}")
    elif len(ranges) != dimensions:
        raise InvalidInput(
            f"{len(ranges)} ranges for {dimensions} dimensions of {name}: give one each, None for the space's own, or "
            "only some by index, ranges={1: (low, high)}"
        )
    else:
        given = {index: limits for index, limits in enumerate(ranges) if limits is not None}
    declared = {}
    for key, limits in given.items():
        index = whole_number(key)
        if index is None or not 0 <= index < dimensions:
            raise InvalidInput(f"ranges has the index {key!r}: {name} has dimensions 0 to {dimensions - 1}")
        declared[index] = checked_range(f"ranges[{index}]", limits)
    return declared
