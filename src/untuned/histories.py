"""`Histories`: scores, hyperparameters and episode returns of a study's trials."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from untuned.scores import Floats


@dataclass(frozen=True, eq=False)
class History:
    """The histories of some trials of an algorithm on an environment, in the order of their numbers.

    Attributes
    ----------
    scores
        Scores of these trials, shape (T,); a failed trial has the score that the study counts for it.
    hyperparameters
        By name the value of every trial, None where a trial did not draw it; empty where nothing is drawn.
    distributions
        By name, the distribution of the values, as text.
    returns
        The returns of every trial's episodes, in order; empty where none were kept.
    steps
        The step of its training at which a trial reached each of its returns, ascending, in the same shape; empty where
        returns are those of consecutive episodes.
    runs
        The name of every trial, its seed for example; empty where trials have numbers only.
    """

    scores: Floats
    hyperparameters: Mapping[str, tuple[Any, ...]]
    distributions: Mapping[str, str]
    returns: tuple[Floats, ...]
    steps: tuple[Floats, ...] = ()
    runs: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Histories:
    """The histories of the first trials of every cell of a study.

    Attributes
    ----------
    cells
        By (algorithm, environment); only cells that have trials.
    most
        The most trials read per cell: the first ones by number, so that no result selects them.
    facts
        How the trials were run, for readers: the study's seed, its metric and so on.
    unit
        Unit of `History.steps`, for axis labels: ``"step"``, ``"frame"``, ``"episode"``.
    """

    cells: Mapping[tuple[str, str], History]
    most: int
    facts: Mapping[str, str] = field(default_factory=dict)
    unit: str = "episode"

    @property
    def has_returns(self) -> bool:
        """Whether any trial's returns were kept."""
        return any(history.returns for history in self.cells.values())

    @property
    def has_hyperparameters(self) -> bool:
        """Whether any trial drew hyperparameters."""
        return any(history.hyperparameters for history in self.cells.values())
