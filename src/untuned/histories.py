"""`Histories`: what the trials of a study left besides their scores, for those who look closer."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from untuned.scores import Floats


@dataclass(frozen=True, eq=False)
class History:
    """What some trials of an algorithm on an environment left, in the order of their numbers.

    Attributes
    ----------
    scores
        Of these trials, shape (T,); a trial that failed has what the study says that counts.
    hyperparameters
        By name the value of every trial, None where a trial did not draw it; empty where nothing is drawn.
    distributions
        By name, where values come from, in words.
    returns
        The returns of every trial's episodes, in the order they were lived; empty where none were kept.
    """

    scores: Floats
    hyperparameters: Mapping[str, tuple[Any, ...]]
    distributions: Mapping[str, str]
    returns: tuple[Floats, ...]


@dataclass(frozen=True, eq=False)
class Histories:
    """What the first trials of every cell of a study left.

    Attributes
    ----------
    cells
        By (algorithm, environment); only cells that have trials.
    most
        How many trials of a cell were read at most: the first ones by number, which no result has chosen.
    facts
        How the trials were run, for readers: the study's seed, its metric and so on.
    """

    cells: Mapping[tuple[str, str], History]
    most: int
    facts: Mapping[str, str] = field(default_factory=dict)

    @property
    def has_returns(self) -> bool:
        """Whether any trial's returns were kept."""
        return any(history.returns for history in self.cells.values())

    @property
    def has_hyperparameters(self) -> bool:
        """Whether any trial drew hyperparameters."""
        return any(history.hyperparameters for history in self.cells.values())
