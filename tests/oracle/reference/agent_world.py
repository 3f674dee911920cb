"""What the oracles of the agents see of the world: random numbers, features, and an environment."""

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Numbers in [0, 1), one at a time. The environment draws from the same source, so the order of the draws is part of
# what an oracle says.
Uniform = Callable[[], float]

# Action, reward, and the temporal-difference error (PPO: the value of the state), once per step of learning.
Log = list[tuple[int, float, float]]


class Environment(Protocol):
    """Episodes one after the other; a state without structure is the index in the observation's first entry."""

    def reset(self) -> Floats:
        """Begin an episode; return its first observation."""
        ...

    def step(self, action: int) -> tuple[Floats, float, bool]:
        """Return the next observation, the reward, and whether the episode is over (by goal or by time limit)."""
        ...


class Features(Protocol):
    """A fixed number of features of an observation."""

    @property
    def number(self) -> int:
        """How many features there are."""
        ...

    def __call__(self, observation: Floats) -> Floats:
        """Return the features, in a vector of their own."""
        ...


class Acting(Protocol):
    """Anything that chooses actions from features."""

    features: Features

    def choose(self, phi: Floats, uniform: Uniform) -> int:
        """Return an action."""
        ...


def dot(left: Floats, right: Floats) -> float:
    """Return the sum of the products of all entries of two arrays of the same shape."""
    return float(np.sum(left * right))


def linear(weights: Floats, phi: Floats) -> Floats:
    """Return one number per row of weights (one row per action)."""
    return np.array([dot(row, phi) for row in weights])


def diverging() -> np.errstate:
    """Allow infinities and NaN: a diverged agent keeps acting, and its score counts."""
    return np.errstate(over="ignore", invalid="ignore", divide="ignore")


def play(agent: Acting, environment: Environment, uniform: Uniform) -> float:
    """Play one episode without learning; return the sum of its rewards, not discounted."""
    with diverging():
        total = 0.0
        phi = agent.features(environment.reset())
        done = False
        while not done:
            action = agent.choose(phi, uniform)
            observation, reward, done = environment.step(action)
            phi = agent.features(observation)
            total += reward
        return total
