"""`StoredTrial`: one trial as a study keeps it."""

import dataclasses
import math
from dataclasses import dataclass, field
from typing import Any

from untuned.collect.definitions.draw import Drawn
from untuned.collect.kernels.jit import Floats
from untuned.collect.runner.trial import TrialResult


@dataclass(frozen=True, eq=False, kw_only=True)
class StoredTrial:
    """One trial as a study keeps it: what came out, or why nothing did.

    Parameters
    ----------
    seed
        The study's.
    algorithm, environment, trial
        Which trial; a study has each once.
    precision
        The type of the agent's weights.
    score, final_return
        As in `TrialResult`; NaN for a trial that failed.
    steps, seconds, diverged, draws, dynamics, adapted, definition_version, fingerprint
        As in `TrialResult`.
    failure
        Why the trial has no result; None when it has one.
    definition_fingerprint, environment_fingerprint
        Of the algorithm's definition, and of the environment's facts.
    returns, final_returns
        The returns behind the two means, unless they were not kept.
    """

    seed: int
    algorithm: str
    environment: str
    trial: int
    score: float
    final_return: float
    precision: str = "float64"
    steps: int = 0
    seconds: float = 0.0
    diverged: bool = False
    draws: tuple[Drawn, ...] = ()
    dynamics: dict[str, float] = field(default_factory=dict)
    adapted: dict[str, float] = field(default_factory=dict)
    failure: str | None = None
    definition_version: str = ""
    fingerprint: str = ""
    definition_fingerprint: str = ""
    environment_fingerprint: str = ""
    returns: Floats | None = None
    final_returns: Floats | None = None

    @classmethod
    def of(
        cls,
        result: TrialResult,
        *,
        keep_returns: bool,
        definition_fingerprint: str,
        environment_fingerprint: str,
        algorithm: str | None = None,
        environment: str | None = None,
        score: float | None = None,
        failure: str | None = None,
    ) -> "StoredTrial":
        """Return a result as it is kept, with or without the returns of its episodes.

        A study may score it in a way of its own, find that it failed, and have names of its own for what was run.
        """
        key = result.key
        failure = result.failure if failure is None else failure
        return cls(
            seed=key.seed,
            algorithm=key.algorithm if algorithm is None else algorithm,
            environment=key.environment if environment is None else environment,
            trial=key.trial,
            precision=key.precision,
            score=result.score if score is None else score,
            final_return=result.final_return if failure is None else math.nan,
            steps=result.steps,
            seconds=result.seconds,
            diverged=result.diverged,
            draws=result.draws,
            dynamics=result.dynamics,
            adapted=result.adapted,
            failure=failure,
            definition_version=result.definition_version,
            fingerprint=result.fingerprint,
            definition_fingerprint=definition_fingerprint,
            environment_fingerprint=environment_fingerprint,
            returns=result.returns if keep_returns else None,
            final_returns=result.final_returns if keep_returns else None,
        )

    @property
    def label(self) -> str:
        """Which trial, in words."""
        return label(self.algorithm, self.environment, self.trial)

    def facts(self) -> dict[str, Any]:
        """Return all of the above as plain types."""
        return {
            **{each.name: getattr(self, each.name) for each in dataclasses.fields(self)},
            "draws": [dataclasses.asdict(each) for each in self.draws],
            "returns": None if self.returns is None else self.returns.tolist(),
            "final_returns": None if self.final_returns is None else self.final_returns.tolist(),
        }


def label(algorithm: str, environment: str, trial: int) -> str:
    """Return which trial it is, in words."""
    return f"trial {trial} of {algorithm!r} on {environment!r}"
