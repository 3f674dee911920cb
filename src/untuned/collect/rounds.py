"""The rounds of a race: which of the rounds in the study's log are complete.

A round is logged before its trials are run: ``{"kind": "round", "numbers": ...}``, with the total number of trials of
every cell once the round is complete. The order is that of the algorithms and environments of the first entry,
``{"kind": "declared", ...}``.
"""

import operator
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from untuned.scores import Ints, ScoreTable


def with_rounds(table: ScoreTable, log: Sequence[Mapping[str, Any]]) -> ScoreTable:
    """Return a study's table with the complete rounds of its race; without a race, the table unchanged.

    A table with an algorithm or an environment that was not declared has no complete round: no guarantee covers it.

    Parameters
    ----------
    table
        The compared scores, with the number of scores before the first gap.
    log
        The race's log. Raises KeyError, IndexError or TypeError if it is malformed.
    """
    if not log:
        return table
    declared = declaration(log)
    shape = (len(table.algorithms), len(table.environments))
    rounds: Ints = np.empty((0, *shape), dtype=np.int64)
    if not undeclared(table, declared):
        numbers = [[[each[a, e] for e in table.environments] for a in table.algorithms] for each in announced(log)]
        assert table.unbroken_ae is not None
        planned = np.array(numbers, dtype=np.int64).reshape(len(numbers), *shape)
        complete = (planned <= table.unbroken_ae).all(axis=(1, 2))
        rounds = planned[: np.count_nonzero(np.logical_and.accumulate(complete))]
    rounds.setflags(write=False)
    return replace(table, rounds=rounds, declared=MappingProxyType(declared))


def announced(log: Sequence[Mapping[str, Any]]) -> list[dict[tuple[str, str], int]]:
    """Return the total trials of every cell after each round, by algorithm and environment."""
    declared = declaration(log)
    return [
        {
            (algorithm, environment): operator.index(entry["numbers"][a][e])
            for e, environment in enumerate(declared["environments"])
            for a, algorithm in enumerate(declared["algorithms"])
        }
        for entry in log
        if entry["kind"] == "round"
    ]


def undeclared(table: ScoreTable, declared: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the algorithms and environments of a table that the race did not declare."""
    return tuple(
        name
        for kind, names in (("algorithms", table.algorithms), ("environments", table.environments))
        for name in names
        if name not in declared[kind]
    )


def check_judged(declared: Mapping[str, Any]) -> None:
    """Raise KeyError, IndexError, TypeError or ValueError if judging cannot use what a race declared."""
    algorithms, environments, weights = (declared[each] for each in ("algorithms", "environments", "weights"))
    for family in declared.get("families", ()):
        _ = [environments[operator.index(each)] for each in family]
    if not isinstance(declared["delta"], float):
        raise TypeError("the race's delta is not a number")
    if isinstance(weights, str):
        known = weights in ("game", "uniform", "both")
    else:
        known = np.array(weights, dtype=np.float64).shape == (len(environments), len(algorithms))
    if not known:
        raise ValueError("the race's weights are not weights")


def declaration(log: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the first entry, with the current names of what it declared."""
    declared = dict(log[0])
    for kind in ("algorithms", "environments"):
        names = list(declared[kind])
        for entry in log:
            if entry["kind"] == "renamed" and entry["of"] == kind:
                names = [entry["new"] if name == entry["old"] else name for name in names]
        declared[kind] = names
    return declared
