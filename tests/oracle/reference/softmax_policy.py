"""The softmax policy over linear preferences that the oracles of the policy-gradient agents share."""

import numpy as np

from oracle.reference.agent_world import Floats, Uniform, linear

PREFERENCE_LIMIT = 32.0


def softmax(preferences: Floats) -> Floats:
    """Return the actions' probabilities; the preferences are clipped, so no exponential overflows."""
    exponentials = np.exp(np.clip(preferences, -PREFERENCE_LIMIT, PREFERENCE_LIMIT))
    result: Floats = exponentials / np.sum(exponentials)
    return result


def probabilities(weights: Floats, phi: Floats) -> Floats:
    """Return the actions' probabilities in a state."""
    return softmax(linear(weights, phi))


def log_probability(weights: Floats, phi: Floats, action: int) -> float:
    """Return log pi(action | state)."""
    return float(np.log(probabilities(weights, phi)[action]))


def log_gradient(weights: Floats, phi: Floats, action: int) -> Floats:
    """Return the gradient of log pi(action | state), shaped like the weights; the clipping counts as the identity."""
    p = probabilities(weights, phi)
    gradient = np.zeros_like(weights)
    for b in range(len(weights)):
        indicator = 1.0 if b == action else 0.0
        gradient[b] = (indicator - p[b]) * phi
    return gradient


def draw(p: Floats, uniform: Uniform) -> int:
    """Return the first action whose cumulative probability is not less than a uniform number, at most the last."""
    u = uniform()
    cumulative = 0.0
    for action in range(len(p)):
        cumulative += float(p[action])
        # Not the same as cumulative >= u: with NaN, the first action is taken.
        if not cumulative < u:
            return action
    return len(p) - 1
