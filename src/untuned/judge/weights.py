"""Weights of environments and references that were chosen before seeing any score."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from untuned.errors import InvalidInput, UnknownName
from untuned.evaluation import Weighting
from untuned.families import Families, check, count, shares
from untuned.judge.judging import BOTH, GAME, UNIFORM, Judging
from untuned.scores import Floats

#: "game" for the equilibrium, "uniform", "both"; weights by environment, by (environment, reference), or an array of
#: either.
Weights = str | Mapping[str, float] | Mapping[tuple[str, str], float] | ArrayLike


def checked(weights: Weights) -> Weights:
    """Return a copy of the weights as a string, a dictionary or nested tuples, which can be compared."""
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
    """Return the weights q[e, r] of every ranking, None for the game's; refuse tables with nothing to compare.

    With one environment there is no game: that ranking is left out, or refused if it was the only one requested.
    """
    if len(algorithms) == 1:
        raise InvalidInput(
            f"there is one algorithm, {algorithms[0]!r}: percentiles compare algorithms with one another. Add another, "
            "at least a simple baseline"
        )
    check(judging.families or {}, environments)
    wanted = judging.weightings
    alone = count(judging.families, environments) == 1
    if alone and len(wanted) > 1:
        wanted = tuple(each for each in wanted if each != GAME)
    if alone and wanted == (GAME,):
        one = f"there is one environment, {environments[0]!r}"
        if len(environments) > 1:
            one = f"all environments are variants of one, {next(iter(judging.families or {}))!r}"
        raise InvalidInput(
            f"{one}: the game has no environments to weigh. Add another, or pass weights='uniform' to average over the "
            "references alone"
        )
    given = UNIFORM if judging.weights is None or judging.weights == BOTH else judging.weights
    return {each: None if each == GAME else fixed(given, algorithms, environments, judging.families) for each in wanted}


def fixed(
    weights: Weights, algorithms: Sequence[str], environments: Sequence[str], families: Families | None = None
) -> Floats | None:
    """Return the weights q[e, r], summing to 1; None for those of the game.

    An environment's weight is spread evenly over the references, that of a family over its variants. Weights need not
    sum to 1. Equal weights are those of families; weights that are given by environment are used unchanged.
    """
    n, m = len(algorithms), len(environments)
    weights = checked(weights)
    if isinstance(weights, str):
        if weights == GAME:
            return None
        share_e = shares(families, environments)
        each_e = np.ones(m) if share_e is None else share_e
        return np.repeat(each_e[:, None] / (count(families, environments) * n), n, axis=1)
    if isinstance(weights, Mapping):
        q_er = _from_mapping(weights, algorithms, environments, families or {})
    else:
        q_er = _from_array(np.array(weights, dtype=np.float64), n, m)
    if not np.isfinite(q_er).all() or (q_er < 0).any():
        raise InvalidInput("weights must be finite numbers, none of them negative")
    largest = q_er.max()
    if largest <= 0:
        raise InvalidInput("all weights are 0: give some environment a positive one")
    # Divide by the largest first: the sum of finite numbers may overflow.
    scaled: Floats = q_er / largest
    scaled /= scaled.sum()
    return scaled


def _from_mapping(
    weights: Mapping[str, float] | Mapping[tuple[str, str], float],
    algorithms: Sequence[str],
    environments: Sequence[str],
    families: Families,
) -> Floats:
    q_er = np.zeros((len(environments), len(algorithms)))
    for key, weight in weights.items():
        if isinstance(key, tuple) and len(key) != 2:
            raise InvalidInput(f"the key {key!r} has {len(key)} parts: keys are (environment, reference)")
        environment, reference = key if isinstance(key, tuple) else (key, None)
        if environment not in environments and environment not in families:
            known = [*environments, *families]
            raise UnknownName("environment", environment, known, "Weights are given by the environments' names")
        if reference is not None and reference not in algorithms:
            raise UnknownName("algorithm", reference, algorithms, "Weights are given by (environment, reference)")
        try:
            number = float(weight)
        except (TypeError, ValueError):
            raise InvalidInput(f"the weight of {key!r} is {weight!r}: pass a number") from None
        variants = families.get(environment, [environment])
        for e in map(environments.index, variants):
            if reference is None:
                q_er[e] += number / len(variants) / len(algorithms)
            else:
                q_er[e, algorithms.index(reference)] += number / len(variants)
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
