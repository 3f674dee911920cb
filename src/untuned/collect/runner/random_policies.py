"""Scores of random policies: the results of random policy search in built-in environments.

The set of policies: the action with the largest value, values linear in the agents' features (a table where states are
counted, else the Fourier basis with coupled frequencies up to 3), every weight uniform on [-1, 1]. A policy's score is
its mean return over some episodes, in dynamics that are drawn for it as for a trial.
"""

from collections.abc import Sequence

import numpy as np

from untuned.collect.agents.agent import Place, World
from untuned.collect.agents.features import Features, Fourier, Tabular
from untuned.collect.agents.sarsa import Sarsa
from untuned.collect.environments.checks import checked_size
from untuned.collect.environments.environment import DiscreteStates, RunnableEnvironment
from untuned.collect.environments.registry import environment
from untuned.collect.kernels.jit import Floats
from untuned.collect.kernels.rng import random_state, uniform
from untuned.collect.trial import LARGEST
from untuned.errors import InvalidInput, UnknownName

POLICIES = 500
#: Of a policy, whose mean is its score.
EPISODES = 3
_ORDER = 3


def random_policies(
    environments: Sequence[str], *, policies: int = POLICIES, episodes: int = EPISODES, seed: int = 0
) -> dict[str, Floats]:
    """Return scores of random policies in built-in environments, ``{environment: scores}``.

    Parameters
    ----------
    environments
        Names, as of `untuned.environment`.
    policies
        Number of policies in each, 500 by default.
    episodes
        Number of episodes of each, 3 by default; its score is the mean return.
    seed
        The seed and the name determine all numbers.

    Raises
    ------
    InvalidInput
        For an environment that is not built in.

    Examples
    --------
    >>> scores = random_policies(["chain-10-deterministic"], policies=5, episodes=1)
    >>> scores["chain-10-deterministic"].shape
    (5,)
    """
    if isinstance(environments, str):
        raise InvalidInput(f"environments={environments!r} is one string: pass a list of names")
    policies = checked_size("policies", policies, 1, LARGEST)
    episodes = checked_size("episodes", episodes, 1, LARGEST)
    seed = checked_size("seed", seed, 0, LARGEST)
    return {name: _scores(_built_in(name), policies, episodes, seed) for name in environments}


def _built_in(name: str) -> RunnableEnvironment:
    try:
        return environment(name)
    except UnknownName:
        raise InvalidInput(
            f"{name!r} is not a built-in environment, so there is no random policy search in it: pass the scores of "
            "random policies yourself, summaries.PolicyPercentiles({environment: scores}), or choose another "
            "normalisation"
        ) from None


def _scores(place: RunnableEnvironment, policies: int, episodes: int, seed: int) -> Floats:
    states = place.states.number if isinstance(place.states, DiscreteStates) else None
    features: Features = (
        Tabular(place.states.number)
        if isinstance(place.states, DiscreteStates)
        else Fourier(place.states.ranges, _ORDER, _ORDER)
    )
    # Greedy, and without learning.
    agent = Sarsa(features, discount=1.0, trace_decay=0.0, epsilon=0.0, step_size=1.0)
    found = np.empty(policies)
    for number in range(policies):
        random = random_state(seed, "random policy", place.name, number)
        with place.opened(random) as opened:
            world = World(
                Place(opened.reset, opened.step, opened.state, opened.parameters, random),
                actions=len(place.actions),
                episodes=episodes,
                states=states,
                dimensions=place.states.dimensions,
            )
            learner = agent.start(world)
            shape = learner.weights.shape
            learner.weights[:] = np.array([uniform(random) for _ in range(learner.weights.size)]).reshape(shape) * 2 - 1
            returns = np.zeros(episodes)
            learner.play(returns)
            opened.check()
        found[number] = returns.mean()
    return found
