"""The cells of a study: an algorithm on an environment, how a trial of it is run, and what is kept of it."""

import dataclasses
import math
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from untuned.collect.definitions.definition import Definition
from untuned.collect.environments.environment import CompiledEnvironment
from untuned.collect.metrics import Metric
from untuned.collect.runner.trial import run_trial
from untuned.collect.trial import LONGEST_FAILURE, Trial
from untuned.errors import InvalidInput, MissingExtra, Stopped

#: How the failure of a trial begins that was ended by its time limit.
TOOK_LONGER = "took longer than its time limit"

#: Asked now and then; True ends the work.
Stop = Callable[[], bool]


class Run(Protocol):
    """Runs a trial of one cell. Goes to other processes, so it must be possible to pickle it."""

    def __call__(self, trial: int, stop: Stop | None) -> Trial:
        """Return a trial."""
        ...


@dataclass(frozen=True)
class CompiledRun:
    """Runs trials of a compiled pair, without the interpreter's lock."""

    definition: Definition
    environment: CompiledEnvironment
    seed: int
    precision: str

    def __call__(self, trial: int, stop: Stop | None) -> Trial:
        """Return a trial."""
        return run_trial(
            self.definition, self.environment, seed=self.seed, trial=trial, precision=self.precision, stop=stop
        )


@dataclass(frozen=True)
class Cell:
    """An algorithm on an environment.

    Parameters
    ----------
    algorithm, environment
        Their names in the study.
    trials
        How many there are to be, numbers 0 to trials - 1.
    seed, precision
        The study's.
    run
        Runs one of them.
    compiled
        Whether it runs without the interpreter's lock, so that threads do; otherwise it gets a process of its own.
    version
        Of the algorithm's definition.
    definition_fingerprint, environment_fingerprint
        Of what the names stand for.
    """

    algorithm: str
    environment: str
    trials: int
    seed: int
    precision: str
    run: Run
    compiled: bool
    version: str
    definition_fingerprint: str
    environment_fingerprint: str


@dataclass(frozen=True)
class Recipe:
    """What becomes of every result.

    Parameters
    ----------
    metric
        Makes the score.
    keep_returns
        Whether the returns of all episodes are kept.
    time_limit
        Seconds after which a trial in a process of its own has failed.
    isolate
        Whether every trial gets a new process.
    """

    metric: Metric
    keep_returns: bool = False
    time_limit: float | None = None
    isolate: bool = False


def record(cell: Cell, trial: int, recipe: Recipe, stop: Stop | None) -> Trial:
    """Return a trial as it is kept: run here and now, scored, or failed and why.

    Raises
    ------
    Stopped
        When ``stop`` said so.
    InvalidInput, MissingExtra
        What an algorithm says in this way before it begins: that it cannot run there at all, or not on this machine.
        That is no result of a trial but a mistake in the study.
    """
    try:
        done = cell.run(trial, stop)
    except (Stopped, InvalidInput, MissingExtra):
        raise
    except Exception as error:
        # An algorithm that raises is not usable, and that is a result.
        return failed(cell, trial, described(error))
    return scored(cell, done, recipe)


def scored(cell: Cell, trial: Trial, recipe: Recipe) -> Trial:
    """Return a trial as the study keeps it: its names, the score of its metric, the returns if they are kept."""
    score, failure = math.nan, trial.failure
    if failure is None:
        try:
            score = recipe.metric(trial.returns, trial.final_returns)
        except InvalidInput as error:
            failure = str(error)
        except Exception as error:
            failure = f"the metric {recipe.metric.name} raised {described(error)}"
    return dataclasses.replace(
        trial,
        algorithm=cell.algorithm,
        environment=cell.environment,
        score=score,
        final_return=trial.final_return if failure is None else math.nan,
        failure=failure,
        definition_fingerprint=cell.definition_fingerprint,
        environment_fingerprint=cell.environment_fingerprint,
        returns=trial.returns if recipe.keep_returns else None,
        final_returns=trial.final_returns if recipe.keep_returns else None,
    )


def failed(cell: Cell, trial: int, message: str, seconds: float = 0.0) -> Trial:
    """Return a trial that left no result."""
    return Trial(
        seed=cell.seed,
        algorithm=cell.algorithm,
        environment=cell.environment,
        trial=trial,
        precision=cell.precision,
        score=math.nan,
        final_return=math.nan,
        seconds=seconds,
        failure=message,
        definition_version=cell.version,
        definition_fingerprint=cell.definition_fingerprint,
        environment_fingerprint=cell.environment_fingerprint,
    )


def described(error: BaseException) -> str:
    """Return an error in a line: its kind, what it says, and where it was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {error}"[: LONGEST_FAILURE - len(where)] + where
