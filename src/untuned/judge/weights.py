"""Weights of environments and references that somebody chose before seeing any score."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from untuned.errors import InvalidInput, UnknownName
from untuned.scores import Floats

#: "game" for the equilibrium, "uniform", weights by environment, by (environment, reference), or an array of either.
Weights = str | Mapping[str, float] | Mapping[tuple[str, str], float] | ArrayLike

GAME = "game"
UNIFORM = "uniform"


def fixed(weights: Weights, algorithms: Sequence[str], environments: Sequence[str]) -> Floats | None:
    """Return the weights q[e, r], summing to 1; None for those of the game.

    An environment's weight is spread evenly over the references. Weights need not sum to 1.
    """
    n, m = len(algorithms), len(environments)
    if isinstance(weights, str):
        if weights == GAME:
            return None
        if weights == UNIFORM:
            return np.full((m, n), 1.0 / (m * n))
        raise InvalidInput(
            f"weights={weights!r}: pass 'game', 'uniform', a dictionary by environment, or an array "
            "[environment, reference]"
        )
    if isinstance(weights, Mapping):
        q_er = _from_mapping(weights, algorithms, environments)
    else:
        q_er = _from_array(weights, n, m)
    if not np.isfinite(q_er).all() or (q_er < 0).any():
        raise InvalidInput("weights must be finite numbers, none of them negative")
    largest = q_er.max()
    if largest <= 0:
        raise InvalidInput("all weights are 0: give some environment a positive one")
    # By the largest first: the sum of numbers that a float can hold may be one that it cannot.
    scaled: Floats = q_er / largest
    scaled /= scaled.sum()
    return scaled


def _from_mapping(
    weights: Mapping[str, float] | Mapping[tuple[str, str], float],
    algorithms: Sequence[str],
    environments: Sequence[str],
) -> Floats:
    q_er = np.zeros((len(environments), len(algorithms)))
    for key, weight in weights.items():
        if isinstance(key, tuple) and len(key) != 2:
            raise InvalidInput(f"the key {key!r} has {len(key)} parts: keys are (environment, reference)")
        environment, reference = key if isinstance(key, tuple) else (key, None)
        if environment not in environments:
            raise UnknownName("environment", environment, environments, "Weights are given by the environments' names")
        if reference is not None and reference not in algorithms:
            raise UnknownName("algorithm", reference, algorithms, "Weights are given by (environment, reference)")
        try:
            number = float(weight)
        except (TypeError, ValueError):
            raise InvalidInput(f"the weight of {key!r} is {weight!r}: pass a number") from None
        e = environments.index(environment)
        if reference is None:
            q_er[e] += number / len(algorithms)
        else:
            q_er[e, algorithms.index(reference)] += number
    return q_er


def _from_array(weights: ArrayLike, n: int, m: int) -> Floats:
    try:
        array = np.array(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput("weights are not numbers: pass 'game', 'uniform', a dictionary or an array") from None
    if array.shape == (m,):
        return np.repeat(array[:, None] / n, n, axis=1)
    if array.shape == (m, n):
        return array
    raise InvalidInput(
        f"weights have shape {array.shape}: pass one per environment, ({m},), or one per environment and reference, "
        f"({m}, {n})"
    )
