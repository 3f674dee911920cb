"""The agent protocol: a record of fixed hyperparameters that can start learning in a world."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from untuned.collect.kernels.jit import Floats, RandomState


class Place(NamedTuple):
    """An agent's environment in the form that kernels take.

    Parameters
    ----------
    reset, step
        Addresses of the environment's compiled kernels.
    state
        Memory for the environment's state, the observation first.
    parameters
        The dynamics drawn for this trial.
    random
        The trial's random numbers, shared by environment and agent.
    """

    reset: int
    step: int
    state: Floats
    parameters: Floats
    random: RandomState


@dataclass(frozen=True, eq=False)
class World:
    """One trial's environment, in which learners are started.

    Parameters
    ----------
    place
        The environment.
    actions
        Number of actions.
    episodes
        Number of learning episodes of the trial.
    states
        Number of states, None if they are not discrete.
    dimensions
        Number of components of an observation.
    real
        The type of the agent's weights: ``np.float64``, or ``np.float32`` for speed.
    """

    place: Place
    actions: int
    episodes: int
    states: int | None
    dimensions: int
    real: type[np.float64] | type[np.float32] = np.float64


class Learner(Protocol):
    """An agent that is learning, with everything learned so far."""

    def learn(self, returns: Floats) -> int:
        """Learn for as many episodes as ``returns`` has entries, fill it, and return the number of steps."""

    def play(self, returns: Floats) -> int:
        """Play that many episodes with learning off, fill ``returns``, and return the number of steps."""

    @property
    def diverged(self) -> bool:
        """Whether anything learned, or any error it was learned from, is no longer finite."""

    @property
    def adapted(self) -> dict[str, float]:
        """The values that the agent has adapted so far, by name."""


class Agent(Protocol):
    """A learning rule with fixed hyperparameters."""

    def start(self, world: World) -> Learner:
        """Return a new learner."""


@dataclass(frozen=True, eq=False)
class CompiledLearner:
    """A learner implemented by two kernels.

    Parameters
    ----------
    learning, playing
        ``steps = learning(returns)``: kernels with everything but the returns bound.
    weights
        Everything that is learned.
    troubled
        One flag, set when an error to learn from was not a finite number.
    step_sizes
        The step sizes in use; the last may adapt.
    adapting
        The name of the one that adapts, if any does.
    """

    learning: Callable[[Floats], int]
    playing: Callable[[Floats], int]
    weights: NDArray[Any]
    troubled: NDArray[np.bool_]
    step_sizes: Floats
    adapting: str | None = None

    def learn(self, returns: Floats) -> int:
        """Learn for as many episodes as ``returns`` has entries, fill it, and return the number of steps."""
        return int(self.learning(returns))

    def play(self, returns: Floats) -> int:
        """Play that many episodes with learning off, fill ``returns``, and return the number of steps."""
        return int(self.playing(returns))

    @property
    def diverged(self) -> bool:
        """Whether any weight, or any error to learn from, has stopped being a finite number."""
        return bool(self.troubled[0]) or not bool(np.isfinite(self.weights).all())

    @property
    def adapted(self) -> dict[str, float]:
        """The current value of the adaptive step size."""
        return {} if self.adapting is None else {self.adapting: float(self.step_sizes[-1])}
