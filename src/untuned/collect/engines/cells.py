"""The cells of a study: an algorithm on an environment, how a trial of it is run, and what is kept of it."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from untuned.collect.definitions.definition import Definition
from untuned.collect.environments.environment import RunnableEnvironment
from untuned.collect.metrics import Metric
from untuned.collect.runner.trial import TrialResult, described, run_trial
from untuned.collect.store.trial import StoredTrial
from untuned.errors import InvalidInput, MissingExtra, Stopped

#: How the failure of a trial begins that was ended by its time limit.
TOOK_LONGER = "took longer than its time limit"

#: Asked now and then; True ends the work.
Stop = Callable[[], bool]


class Run(Protocol):
    """Runs a trial of one cell. Goes to other processes, so it must be possible to pickle it."""

    def __call__(self, trial: int, stop: Stop | None) -> TrialResult:
        """Return the result of a trial."""
        ...


@dataclass(frozen=True)
class CompiledRun:
    """Runs trials of a compiled agent; in a compiled environment without the interpreter's lock."""

    definition: Definition
    environment: RunnableEnvironment
    seed: int
    precision: str

    def __call__(self, trial: int, stop: Stop | None) -> TrialResult:
        """Return the result of a trial."""
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


def record(cell: Cell, trial: int, recipe: Recipe, stop: Stop | None) -> StoredTrial:
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
        result = cell.run(trial, stop)
    except (Stopped, InvalidInput, MissingExtra):
        raise
    except Exception as error:
        # An algorithm that raises is not usable, and that is a result.
        return failed(cell, trial, described(error))
    return scored(cell, result, recipe)


def scored(cell: Cell, result: TrialResult, recipe: Recipe) -> StoredTrial:
    """Return a result as it is kept, with the score that the study's metric gives it."""
    score, failure = math.nan, result.failure
    if failure is None:
        try:
            score = recipe.metric(result.returns, result.final_returns)
        except InvalidInput as error:
            failure = str(error)
        except Exception as error:
            failure = f"the metric {recipe.metric.name} raised {described(error)}"
    return StoredTrial.of(
        result,
        keep_returns=recipe.keep_returns,
        definition_fingerprint=cell.definition_fingerprint,
        environment_fingerprint=cell.environment_fingerprint,
        algorithm=cell.algorithm,
        environment=cell.environment,
        score=score,
        failure=failure,
    )


def failed(cell: Cell, trial: int, message: str, seconds: float = 0.0) -> StoredTrial:
    """Return a trial that left no result."""
    return StoredTrial(
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
