"""Weights of environments and references that were chosen before seeing any score."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from untuned.errors import InvalidInput, UnknownName
from untuned.evaluation import Weighting
from untuned.judge.judging import BOTH, GAME, UNIFORM, Judging
from untuned.scores import Floats

#: "game" for the equilibrium, "uniform", "both"; weights by environment, by (environment, reference), or an array of
#: either.
Weights = str | Mapping[str, float] | Mapping[tuple[str, str], float] | ArrayLike


def checked(weights: Weights) -> Weights:
    """Return weights as a string, a dictionary or nested tuples: a copy, which can be compared."""
    if isinstance(weights, str):
        if weights not in (GAME, UNIFORM, BOTH):
            raise InvalidInput(
                f"weights={weights!r}: pass 'game', 'uniform', 'both', a dictionary by environment, or an array "
                "[environment, reference]"
            )
        return str(weights)
    if isinstance(weights, Mapping):
        return dict(weights)
    try:
        array = np.array(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput("weights are not numbers: pass 'game', 'uniform', a dictionary or an array") from None
    given: ArrayLike = _as_tuples(array.tolist())
    return given


def _as_tuples(value: Any) -> Any:
    return tuple(map(_as_tuples, value)) if isinstance(value, list) else value


def weights_of(
    judging: Judging, algorithms: Sequence[str], environments: Sequence[str]
) -> dict[Weighting, Floats | None]:
    """Return the weights q[e, r] of every ranking, None for those of the game, and refuse where nothing is to compare.

    Of one environment there is no game: it is left out, unless it was the only ranking that was asked for.
    """
    if len(algorithms) == 1:
        raise InvalidInput(
            f"there is one algorithm, {algorithms[0]!r}: percentiles compare algorithms with one another. Add another, "
            "at least a simple baseline"
        )
    wanted = judging.weightings
    if len(environments) == 1 and len(wanted) > 1:
        wanted = tuple(each for each in wanted if each != GAME)
    if len(environments) == 1 and wanted == (GAME,):
        raise InvalidInput(
            f"there is one environment, {environments[0]!r}: the game has no environments to weigh. Add another, or "
            "pass weights='uniform' to average over the references alone"
        )
    given = UNIFORM if judging.weights is None or judging.weights == BOTH else judging.weights
    return {each: None if each == GAME else fixed(given, algorithms, environments) for each in wanted}


def fixed(weights: Weights, algorithms: Sequence[str], environments: Sequence[str]) -> Floats | None:
    """Return the weights q[e, r], summing to 1; None for those of the game.

    An environment's weight is spread evenly over the references. Weights need not sum to 1.
    """
    n, m = len(algorithms), len(environments)
    weights = checked(weights)
    if isinstance(weights, str):
        return None if weights == GAME else np.full((m, n), 1.0 / (m * n))
    if isinstance(weights, Mapping):
        q_er = _from_mapping(weights, algorithms, environments)
    else:
        q_er = _from_array(np.array(weights, dtype=np.float64), n, m)
    if not np.isfinite(q_er).all() or (q_er < 0).any():
        raise InvalidInput("weights must be finite numbers, none of them negative")
    largest = q_er.max()
    if largest <= 0:
        raise InvalidInput("all weights are 0: give some environment a positive one")
    # By the largest first: the sum of finite numbers may overflow.
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


def _from_array(array: Floats, n: int, m: int) -> Floats:
    if array.shape == (m,):
        return np.repeat(array[:, None] / n, n, axis=1)
    if array.shape == (m, n):
        return array
    raise InvalidInput(
        f"weights have shape {array.shape}: pass one per environment, ({m},), or one per environment and reference, "
        f"({m}, {n})"
    )
