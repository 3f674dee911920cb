"""From values or preferences to an action."""

import numpy as np

from untuned.collect.kernels.jit import Floats, RandomState, kernel
from untuned.collect.kernels.rng import uniform

#: Preferences of a softmax policy are clipped here, so that no probability is 0 and no exponential overflows.
LIMIT = 32.0


@kernel(inline=True)
def greedy(values: Floats) -> int:
    """Return the first maximum; the first NaN counts as the maximum, so that a diverged agent keeps acting."""
    best = 0
    for each in range(1, values.size):
        if values[each] > values[best] or (np.isnan(values[each]) and not np.isnan(values[best])):
            best = each
    return best


@kernel(inline=True)
def epsilon_greedy(values: Floats, epsilon: float, random: RandomState) -> int:
    """Return a uniformly random action with probability ``epsilon``, else the greedy one."""
    if uniform(random) < epsilon:
        return int(uniform(random) * values.size)
    return greedy(values)


@kernel(inline=True)
def softmax(preferences: Floats, probabilities: Floats) -> None:
    """Write the softmax of the preferences, clipped at +-LIMIT, into ``probabilities``."""
    total = 0.0
    for each in range(probabilities.size):
        preference = preferences[each]
        # NaN is neither above nor below, so it stays.
        if preference > LIMIT:
            preference = LIMIT
        elif preference < -LIMIT:
            preference = -LIMIT
        probabilities[each] = np.exp(preference)
        total += probabilities[each]
    for each in range(probabilities.size):
        probabilities[each] /= total


@kernel(inline=True)
def sampled(probabilities: Floats, random: RandomState) -> int:
    """Return an action drawn with these probabilities; the first one if they are NaN."""
    u = uniform(random)
    action = 0
    cumulated = probabilities[0]
    while cumulated < u and action < probabilities.size - 1:
        action += 1
        cumulated += probabilities[action]
    return action
