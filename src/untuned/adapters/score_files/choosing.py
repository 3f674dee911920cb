"""Selecting and renaming algorithms and environments, and the direction of scores."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from untuned.adapters.score_files.reading import Reading
from untuned.adapters.score_files.rows import Codes, Runs
from untuned.errors import InvalidInput, UnknownName
from untuned.families import Families
from untuned.scores import Floats, Range, ScoreTable


def wanted_names(names: Sequence[str], kind: str, asked: Reading, others: Sequence[str]) -> list[str]:
    """Return the requested names, in the requested order.

    Parameters
    ----------
    names
        All names of this kind.
    kind
        ``"algorithm"`` or ``"environment"``.
    asked
        The user's choice.
    others
        The names of the other kind, which may be left out, too.

    Raises
    ------
    UnknownName
        For an unknown name.
    """
    chosen = asked.algorithms if kind == "algorithm" else asked.environments
    for option, given in ((f"{kind}s", chosen), ("without", asked.without)):
        if isinstance(given, str):
            raise InvalidInput(f"{option}={given!r} is one string: pass a list of names")
    for name in chosen or ():
        if name not in names:
            raise UnknownName(kind, name, names)
    for name in asked.without or ():
        if name not in names and name not in others:
            raise UnknownName("algorithm or environment", name, [*names, *others], "It was to be left out")
    left = [name for name in (names if chosen is None else dict.fromkeys(chosen)) if name not in (asked.without or ())]
    if not left:
        raise InvalidInput(f"no {kind} is left: --{kind}s and --without leave out all of them")
    return left


def kept(runs: Runs, asked: Reading) -> Runs:
    """Return the rows of the requested algorithms and environments."""
    if asked.algorithms is None and asked.environments is None and not asked.without:
        return runs
    algorithms = wanted_names(runs.algorithms, "algorithm", asked, runs.environments)
    environments = wanted_names(runs.environments, "environment", asked, runs.algorithms)
    keep = np.isin(runs.algorithm, _codes(runs.algorithms, algorithms)) & np.isin(
        runs.environment, _codes(runs.environments, environments)
    )
    found = runs.take(np.flatnonzero(keep))
    return replace(
        found,
        algorithms=tuple(algorithms),
        environments=tuple(environments),
        algorithm=_moved(runs.algorithms, algorithms)[found.algorithm],
        environment=_moved(runs.environments, environments)[found.environment],
    )


def _codes(names: Sequence[str], chosen: Sequence[str]) -> list[int]:
    return [names.index(name) for name in chosen]


def _moved(names: Sequence[str], chosen: Sequence[str]) -> Codes:
    """Return, for the index of every name, its index among the chosen names."""
    moved = np.zeros(len(names), dtype=np.int32)
    moved[_codes(names, chosen)] = np.arange(len(chosen))
    return moved


def concerning(asked: Reading, before: Runs | ScoreTable, after: Runs | ScoreTable) -> Reading:
    """Return the options without the parts about algorithms and environments that were left out."""
    algorithms = {*before.algorithms} - {*after.algorithms}
    environments = {*before.environments} - {*after.environments}
    if not algorithms and not environments:
        return asked
    gone = (algorithms | environments) - {*after.algorithms, *after.environments}
    changes: dict[str, Any] = {}
    if isinstance(asked.ranges, Mapping):
        changes["ranges"] = _less(asked.ranges, environments)
    if asked.rename:
        changes["rename"] = _less(asked.rename, gone)
    if isinstance(asked.minimize, str):
        changes["minimize"] = None if asked.minimize in environments else asked.minimize
    elif isinstance(asked.minimize, Sequence):
        changes["minimize"] = [name for name in asked.minimize if name not in environments]
    if isinstance(asked.identical, Mapping):
        left = _less(asked.identical, environments)
        changes["identical"] = {name: _groups_without(groups, algorithms) for name, groups in left.items()}
    elif asked.identical:
        changes["identical"] = _groups_without(asked.identical, algorithms)
    return replace(asked, **changes)


def _less(named: Mapping[str, Any], gone: set[str]) -> dict[str, Any]:
    return {name: value for name, value in named.items() if name not in gone}


def _groups_without(groups: Any, gone: set[str]) -> Any:
    # Anything but a list of lists is refused when the table is made.
    if not isinstance(groups, (list, tuple)):
        return groups
    return [
        [name for name in group if name not in gone] if isinstance(group, (list, tuple, set, frozenset)) else group
        for group in groups
    ]


def minimized(environments: Sequence[str], asked: Reading) -> list[str]:
    """Return the environments in which lower is better."""
    if asked.minimize is None or asked.minimize is False:
        return []
    if asked.minimize is True:
        return list(environments)
    names = [asked.minimize] if isinstance(asked.minimize, str) else list(asked.minimize)
    for name in names:
        if name not in environments:
            raise UnknownName("environment", name, environments, "Lower scores were to be better there")
    return names


def flipped(ranges: Mapping[str, Range] | Range | None, environments: Sequence[str], lower: Sequence[str]) -> Any:
    """Return ranges of scores with changed signs where lower is better."""
    if ranges is None or not lower:
        return ranges
    given = dict(ranges) if isinstance(ranges, Mapping) else dict.fromkeys(environments, ranges)
    return {name: _turned(ends) if name in lower else ends for name, ends in given.items()}


def _turned(ends: Any) -> Any:
    """Return a range with changed signs; invalid ones are refused when the table is made."""
    try:
        low, high = map(float, ends)
    except (TypeError, ValueError):
        return ends
    return -high, -low


def oriented(runs: Runs, asked: Reading) -> tuple[Runs, dict[str, Any]]:
    """Return the rows with higher scores better everywhere, under the requested names.

    The second result has the declarations about the scores for `ScoreTable.from_columns`, under the same names.
    """
    lower = minimized(runs.environments, asked)
    known = asked.known() | {"ranges": flipped(asked.ranges, runs.environments, lower)}
    if lower:
        negative = np.isin(runs.environment, _codes(runs.environments, lower))
        runs = replace(runs, score=np.where(negative, -runs.score, runs.score))
    if not asked.rename:
        return runs, known
    algorithms, environments = _renamed(runs.algorithms, runs.environments, asked.rename)
    new = dict(asked.rename)
    if isinstance(known["ranges"], Mapping):
        known["ranges"] = {new.get(name, name): ends for name, ends in known["ranges"].items()}
    groups = known["identical"]
    known["identical"] = (
        {new.get(name, name): _groups(each, new) for name, each in groups.items()}
        if isinstance(groups, Mapping)
        else _groups(groups, new)
    )
    return replace(runs, algorithms=algorithms, environments=environments), known


def _groups(groups: Any, new: Mapping[str, str]) -> list[list[str]]:
    return [[new.get(name, name) for name in group] for group in groups]


def chosen_table(table: ScoreTable, asked: Reading) -> ScoreTable:
    """Return an existing table with the requested algorithms and environments."""
    if asked.minimize:
        lower = minimized(table.environments, asked)
        if table.declared is not None:
            raise InvalidInput(
                "--minimize cannot be used with a study that was raced: the race was for higher scores. Make the "
                "study's metric one of which more is better"
            )
        if table.failed_ae is not None:
            raise InvalidInput(
                "--minimize cannot be used with trials that failed, which count as the lowest score: make the study's "
                "metric one of which more is better"
            )
        flip = [name in lower for name in table.environments]
        table = replace(
            table,
            cells=tuple(
                tuple(_negative(cell) if each else cell for cell, each in zip(row, flip, strict=True))
                for row in table.cells
            ),
            ranges=tuple(
                (-high, -low) if each else (low, high) for (low, high), each in zip(table.ranges, flip, strict=True)
            ),
        )
    if asked.algorithms is not None or asked.environments is not None or asked.without:
        chosen = table.select(
            wanted_names(table.algorithms, "algorithm", asked, table.environments),
            wanted_names(table.environments, "environment", asked, table.algorithms),
        )
        asked = concerning(asked, table, chosen)
        table = chosen
    if not asked.rename:
        return table
    algorithms, environments = _renamed(table.algorithms, table.environments, asked.rename)
    return replace(
        table,
        algorithms=algorithms,
        environments=environments,
        declared=_declared(table, algorithms=algorithms, environments=environments),
        families=_families(table, dict(zip(table.environments, environments, strict=True))),
    )


def _families(table: ScoreTable, new: Mapping[str, str]) -> Families | None:
    """Return the study's families under the new names of its environments."""
    if table.families is None:
        return None
    return {name: tuple(new[each] for each in variants) for name, variants in table.families.items()}


def _declared(table: ScoreTable, **names: Sequence[str]) -> Mapping[str, Any] | None:
    """Return the declarations before a race, under the new names of algorithms and environments."""
    if table.declared is None:
        return None
    declared = dict(table.declared)
    for kind, renamed in names.items():
        new = dict(zip(getattr(table, kind), renamed, strict=True))
        declared[kind] = [new.get(name, name) for name in declared[kind]]
    return MappingProxyType(declared)


def _negative(cell: Floats) -> Floats:
    turned = -cell
    turned.setflags(write=False)
    return turned


def _renamed(
    algorithms: Sequence[str], environments: Sequence[str], new: Mapping[str, str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of algorithms and environments after renaming.

    Raises
    ------
    InvalidInput
        For an unknown name, and if two would have the same name.
    """
    for name in new:
        if name not in algorithms and name not in environments:
            raise UnknownName("algorithm or environment", name, [*algorithms, *environments])
        if name in algorithms and name in environments:
            raise InvalidInput(f"--rename {name}=...: both an algorithm and an environment have this name")
        if not str(new[name]).strip():
            raise InvalidInput(f"--rename {name}=: the new name is empty")
    found = [tuple(str(new.get(name, name)) for name in names) for names in (algorithms, environments)]
    for names in found:
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise InvalidInput(
                f"--rename would call two {twice!r}: trials of different names are not merged. Give each its own name"
            )
    return found[0], found[1]
