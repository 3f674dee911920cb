"""Experiments split into work units: their definitions, and their keys in the journal."""

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from untuned.errors import InvalidInput
from untuned.judge.jit import sources
from untuned.judge.judging import Judging, whole
from untuned.lab import contenders, data_sets, mixtures, population_types
from untuned.lab.contenders import Contender
from untuned.lab.data_sets import Design, data_set, judged
from untuned.lab.journal import Facts
from untuned.lab.population_types import Population
from untuned.options import declared
from untuned.source_trees import tree_digest

#: Data sets in a work unit: enough to be worth sending, few enough to lose.
_PIECE = 25


@dataclass(frozen=True)
class Piece:
    """Some data sets of one experiment.

    Attributes
    ----------
    population, contender
        Their indices in the shared data.
    design
        Numbers of trials and looks.
    first, count
        The number of the first data set, and how many follow from it.
    """

    population: int
    contender: int
    design: Design
    first: int
    count: int

    def numbers(self) -> range:
        """Return the numbers of the data sets."""
        return range(self.first, self.first + self.count)


@dataclass(frozen=True)
class Shared:
    """The data that all work units share."""

    populations: tuple[Population, ...]
    contenders: tuple[Contender, ...]
    judging: Judging


def pieces_of(
    population: Population, p: int, contender: Contender, c: int, design: Design, judging: Judging, count: int
) -> list[tuple[Facts, Piece]]:
    """Return the work units of an experiment with ``count`` data sets, and their keys."""
    found = []
    for first in range(0, count, _PIECE):
        piece = Piece(p, c, design, first, min(_PIECE, count - first))
        found.append((_key(population, contender, judging, piece), piece))
    return found


def _key(population: Population, contender: Contender, judging: Judging, piece: Piece) -> Facts:
    """Return everything that determines the result of a work unit, except its time."""
    decisive = lab_options(judging)
    # Options that a method does not use must not change its keys.
    del decisive["refine" if contender.method.intervals is None else "resamples"]
    return {
        "population": [population.name, population.fingerprint],
        "method": contender.name,
        "weights": weights_text(contender.judging(judging)),
        **dataclasses.asdict(piece.design),
        **decisive,
        "first": piece.first,
        "count": piece.count,
        "code": decisive_code(),
        **({"own": contender.own} if contender.own else {}),
    }


def lab_options(judging: Judging) -> dict[str, Any]:
    """Return the options that are the same for all work: methods and conventions differ, weights may."""
    return {name: getattr(judging, name) for name in declared(Judging) if name not in _VARIED}


_VARIED = ("intervals", "conventions", "weights")


def weights_text(judging: Judging) -> str | None:
    """Return the requested weights as text; None where the method chooses."""
    return judging.weights if judging.weights is None or isinstance(judging.weights, str) else repr(judging.weights)


@cache
def decisive_code() -> str:
    """Return a digest of all code that determines numbers: the judge's, and that of data sets and comparisons."""
    own = (Path(str(module.__file__)) for module in (mixtures, population_types, data_sets, contenders))
    return tree_digest([*sources(), *own])


def sizes_and_counts(
    trials: Sequence[int] | int, data_sets: int | Sequence[int], name: str = "data_sets"
) -> dict[int, int]:
    """Return the number of data sets for each number of trials; errors call it ``name``."""
    sizes = _several("trials", trials)
    if not sizes:
        raise InvalidInput("there are no numbers of trials: pass at least one, for example 100")
    counts = _several(name, data_sets)
    if not isinstance(data_sets, Iterable):
        counts *= len(sizes)
    if len(counts) != len(sizes):
        raise InvalidInput(
            f"{name}={counts} for {len(sizes)} numbers of trials: pass one number for all, or one for each"
        )
    checked = [whole("trials", size, 2, "for example 100") for size in sizes]
    if len(set(checked)) != len(checked):
        raise InvalidInput(f"trials={checked}: a number of trials is named twice")
    return {
        size: whole(name, count, 1, "2000 if guarantees are to be tested")
        for size, count in zip(checked, counts, strict=True)
    }


def _several(name: str, given: object) -> list[Any]:
    """Return one number or several as a list; the caller checks each of them."""
    if isinstance(given, str):
        raise InvalidInput(f"{name}={given!r} is a string: pass a whole number, or a list of them")
    return list(given) if isinstance(given, Iterable) else [given]


#: The methods that this process has used.
_COMPILED: set[str] = set()


def compile_first(population: Population, contender: Contender, piece: Piece, judging: Judging) -> None:
    """Judge a data set and discard it, if it is this process's first by a method, so that times exclude compiling."""
    if contender.name not in _COMPILED:
        judged(data_set(population, piece.design, judging.seed, piece.first), contender, judging, piece.first)
        _COMPILED.add(contender.name)
