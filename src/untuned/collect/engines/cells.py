"""The cells of a study: an algorithm on an environment, how its trials are run, and what is stored of them."""

import dataclasses
import math
from dataclasses import dataclass
from typing import Protocol

from untuned.collect.definitions.definition import Definition
from untuned.collect.engines.engine import Stop
from untuned.collect.environments.environment import RunnableEnvironment
from untuned.collect.metrics import Metric
from untuned.collect.runner.memory_limit import is_shortage, written
from untuned.collect.runner.trial import described, run_trial
from untuned.collect.trial import LONGEST_FAILURE, Trial
from untuned.errors import InvalidInput, MissingExtra, Stopped

#: The first words of the failure of a trial that exceeded its memory limit.
TOOK_MORE = "took more than its memory limit"


class Run(Protocol):
    """Runs a trial of one cell. It is sent to other processes, so it can be pickled."""

    def __call__(self, trial: int, stop: Stop | None) -> Trial:
        """Return a trial."""
        ...


@dataclass(frozen=True)
class CompiledRun:
    """Runs trials of a compiled agent; in a compiled environment without the interpreter's lock."""

    definition: Definition
    environment: RunnableEnvironment
    seed: int
    precision: str

    def __call__(self, trial: int, stop: Stop | None) -> Trial:
        """Return a trial."""
        return run_trial(
            self.definition, self.environment, seed=self.seed, trial=trial, precision=self.precision, stop=stop
        )


@dataclass(frozen=True)
class Recipe:
    """How every result of a study is processed.

    Parameters
    ----------
    metric
        Computes the score.
    keep_returns
        Whether the returns of all episodes are kept.
    time_limit
        Seconds after which a trial in a worker process fails.
    memory
        Memory limit in bytes of a trial in a worker process.
    isolate
        Whether every trial gets a new worker process.
    """

    metric: Metric
    keep_returns: bool = False
    time_limit: float | None = None
    memory: int | None = None
    isolate: bool = False


@dataclass(frozen=True)
class Cell:
    """An algorithm on an environment: work that an engine does by number of trial.

    Parameters
    ----------
    algorithm, environment
        Their names in the study.
    seed, precision
        The seed and precision of the study.
    run
        Runs a trial.
    compiled
        Whether it runs without the interpreter's lock, so that threads suffice; otherwise it gets a worker process.
    version
        Version of the algorithm's definition.
    definition_fingerprint, environment_fingerprint
        Fingerprints of the definition and of the environment.
    recipe
        How results are processed.
    """

    algorithm: str
    environment: str
    seed: int
    precision: str
    run: Run
    compiled: bool
    version: str
    definition_fingerprint: str
    environment_fingerprint: str
    recipe: Recipe

    @property
    def name(self) -> str:
        """Its name in messages."""
        return f"{self.algorithm!r} on {self.environment!r}"

    @property
    def time_limit(self) -> float | None:
        """Seconds after which a trial in a worker process fails."""
        return self.recipe.time_limit

    @property
    def memory(self) -> int | None:
        """Memory limit in bytes of a trial in a worker process."""
        return self.recipe.memory

    @property
    def isolate(self) -> bool:
        """Whether every trial gets a new worker process."""
        return self.recipe.isolate

    def do(self, number: int, stop: Stop | None) -> Trial:
        """Run a trial in this process, and return it as stored: with its score, or with its failure.

        Raises
        ------
        Stopped
            When ``stop`` returned True.
        InvalidInput, MissingExtra
            An algorithm raises these before it begins, if it cannot run there at all, or not on this machine. That is
            not the result of a trial but a mistake in the study.
        """
        try:
            result = self.run(number, stop)
        except (Stopped, InvalidInput, MissingExtra):
            raise
        except Exception as error:
            # An exception of the algorithm is a result: a failed trial.
            return self.failed(number, described(error), 0.0)
        return scored(self, result)

    def failed(self, number: int, message: str, seconds: float) -> Trial:
        """Return a trial that left no result."""
        return Trial(
            seed=self.seed,
            algorithm=self.algorithm,
            environment=self.environment,
            trial=number,
            precision=self.precision,
            score=math.nan,
            final_return=math.nan,
            seconds=seconds,
            failure=message,
            definition_version=self.version,
            definition_fingerprint=self.definition_fingerprint,
            environment_fingerprint=self.environment_fingerprint,
        )

    def out_of_memory(self, result: Trial) -> Trial | None:
        """Return a trial that ran out of memory, with its limit in the failure."""
        if self.memory is None or not is_shortage(result.failure):
            return None
        reason = f"{TOOK_MORE} of {written(self.memory)} ({result.failure}"[: LONGEST_FAILURE - 1] + ")"
        return dataclasses.replace(result, failure=reason)


def scored(cell: Cell, trial: Trial) -> Trial:
    """Return a trial as the study stores it: its names, the score of its metric, the returns if they are kept."""
    recipe = cell.recipe
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
