"""Episodes with learning off: the same policy and exploration, without changing any weight."""

from typing import Any

from numpy.typing import NDArray

from untuned.collect.agents.agent import Place
from untuned.collect.kernels.fourier import Basis, write_features
from untuned.collect.kernels.jit import Floats, kernel, reset_at, step_at
from untuned.collect.kernels.policies import epsilon_greedy, sampled, softmax
from untuned.collect.kernels.status import RUNNING
from untuned.collect.kernels.traces import product

#: An ``epsilon`` that means a softmax policy.
SOFTMAX = -1.0


@kernel
def play_features(
    place: Place,
    basis: Basis,
    weights: NDArray[Any],
    phi: NDArray[Any],
    values: Floats,
    epsilon: float,
    returns: Floats,
) -> int:
    """Fill ``returns`` with the returns of a policy over features, one row of ``weights`` per action; return steps."""
    start = reset_at(place.reset)
    move = step_at(place.step)
    steps = 0
    for episode in range(returns.size):
        start(place.state, place.parameters, place.random)
        total = 0.0
        status = RUNNING
        while status == RUNNING:
            write_features(basis, place.state, phi, 0)
            for each in range(values.size):
                values[each] = product(weights, each, phi, 0)
            action = _chosen(values, epsilon, place.random)
            reward, status = move(place.state, place.parameters, place.random, action)
            total += reward
            steps += 1
        returns[episode] = total
    return steps


@kernel
def play_table(place: Place, weights: Floats, values: Floats, epsilon: float, returns: Floats) -> int:
    """Fill ``returns`` with the returns of a policy over states, one row of ``weights`` per state; return steps."""
    start = reset_at(place.reset)
    move = step_at(place.step)
    steps = 0
    for episode in range(returns.size):
        start(place.state, place.parameters, place.random)
        total = 0.0
        status = RUNNING
        while status == RUNNING:
            at = int(place.state[0])
            for each in range(values.size):
                values[each] = weights[at, each]
            action = _chosen(values, epsilon, place.random)
            reward, status = move(place.state, place.parameters, place.random, action)
            total += reward
            steps += 1
        returns[episode] = total
    return steps


@kernel(inline=True)
def _chosen(values: Floats, epsilon: float, random: NDArray[Any]) -> int:
    if epsilon == SOFTMAX:
        softmax(values, values)
        return sampled(values, random)
    return epsilon_greedy(values, epsilon, random)
