"""One trial: draw the dynamics, draw the hyperparameters, learn, then play with learning off.

All randomness of a trial comes from one stream that is filled from the trial's key, so the same key gives the same
trial to the bit on the same machine with the same build, whatever else runs beside it.
"""

import dataclasses
import math
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from untuned.collect.agents.agent import Place, World
from untuned.collect.definitions.definition import Definition
from untuned.collect.definitions.draw import Draw, Drawn
from untuned.collect.definitions.registry import algorithm
from untuned.collect.environments.checks import checked_choice, checked_size
from untuned.collect.environments.environment import (
    FINAL_EPISODES,
    DiscreteStates,
    EnvironmentBroke,
    RunnableEnvironment,
)
from untuned.collect.environments.registry import environment as environment_named
from untuned.collect.kernels.jit import Floats, fingerprint
from untuned.collect.kernels.rng import random_state, uniform
from untuned.errors import InvalidInput, Stopped

#: Seeds and trial numbers go up to here; plenty, and every database can hold it.
LARGEST = 2**63 - 1

#: The description of a failure is no longer than this.
LONGEST_FAILURE = 2000

#: The types that weights may have, by name.
PRECISIONS: dict[str, type[np.float64] | type[np.float32]] = {"float64": np.float64, "float32": np.float32}

#: Work is handed to kernels in pieces of about this many seconds, the first one of so many episodes.
_PIECE = 0.2
_FIRST_PIECE = 4


@dataclass(frozen=True)
class TrialKey:
    """What decides a trial: the same key, and the same things behind its names, give the same trial.

    Parameters
    ----------
    seed
        The study's.
    algorithm, environment
        Their whole names, options included.
    trial
        Its number, from 0.
    precision
        The type of the agent's weights; "float64" unless speed matters more.
    """

    seed: int
    algorithm: str
    environment: str
    trial: int
    precision: str = "float64"

    def __post_init__(self) -> None:
        object.__setattr__(self, "seed", checked_size("seed", self.seed, 0, LARGEST))
        object.__setattr__(self, "trial", checked_size("trial", self.trial, 0, LARGEST))
        checked_choice("precision", self.precision, PRECISIONS)


@dataclass(frozen=True, eq=False)
class TrialResult:
    """What came out of one trial.

    Parameters
    ----------
    key
        Which trial.
    score
        The mean return over all learning episodes: the paper's average return.
    final_return
        The mean return of the episodes after learning, with learning off.
    returns, final_returns
        The returns they are the means of.
    draws
        Every hyperparameter drawn, in order.
    dynamics
        The environment's parameters drawn for this trial, by name.
    steps
        Steps taken while learning.
    diverged
        Whether the agent's weights, or the errors it learns from, stopped being finite numbers. The score counts all
        the same.
    seconds
        How long it took; the only figure here that does not repeat.
    adapted
        What the agent settled on by itself, by name: a step size that adapts, which of several candidates was chosen.
    definition_version
        The version of the algorithm's definition.
    fingerprint
        That of the code that made these numbers.
    failure
        Why the trial has no score, if it failed: an algorithm or an environment written in Python raised an error, or
        gave up. The score is NaN then, and the other numbers are those up to there.
    """

    key: TrialKey
    score: float
    final_return: float
    returns: Floats
    final_returns: Floats
    draws: tuple[Drawn, ...]
    dynamics: dict[str, float]
    steps: int
    diverged: bool
    seconds: float
    adapted: dict[str, float]
    definition_version: str
    fingerprint: str
    failure: str | None = None

    @property
    def log_density(self) -> float:
        """The natural logarithm of the density of all hyperparameters drawn."""
        return math.fsum(each.log_density for each in self.draws)

    def facts(self) -> dict[str, Any]:
        """Return all of the above as plain JSON types, but for ``seconds``: the same trial gives the same text.

        A score or final return that there is not, NaN above, is None here: JSON has no NaN.
        """
        return {
            **dataclasses.asdict(self.key),
            "score": _if_any(self.score),
            "final_return": _if_any(self.final_return),
            "diverged": self.diverged,
            "steps": self.steps,
            "draws": {each.name: each.value for each in self.draws},
            "log_densities": {each.name: each.log_density for each in self.draws},
            "parameters": dict(self.dynamics),
            "returns": self.returns.tolist(),
            "final_returns": self.final_returns.tolist(),
            "adapted": self.adapted,
            "definition_version": self.definition_version,
            "fingerprint": self.fingerprint,
            "failure": self.failure,
        }


def _if_any(number: float) -> float | None:
    return None if math.isnan(number) else number


def described(error: BaseException) -> str:
    """Return an error in a line: its kind, what it says, and where it was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {error}"[: LONGEST_FAILURE - len(where)] + where


class ForAgents(Protocol):
    """What can be described to compiled agents, such as what `from_gymnasium` returns."""

    def for_agents(self) -> RunnableEnvironment:
        """Return the environment as compiled agents see it; raises InvalidInput where they cannot run in it."""


def run_trial(
    definition: Definition | str,
    environment: RunnableEnvironment | ForAgents | str,
    *,
    seed: int = 0,
    trial: int = 0,
    precision: str = "float64",
    stop: Callable[[], bool] | None = None,
) -> TrialResult:
    """Return the result of one trial.

    Parameters
    ----------
    definition
        A complete definition, or the name of one (`untuned list algorithms`).
    environment
        An environment, the name of one (`untuned list environments`), or what `from_gymnasium` returns.
    seed, trial
        The study's seed and the trial's number; together with the two names they decide all that is random.
    precision
        The type of the agent's weights over features; "float32" is faster with many of them. Tables are always in
        double precision.
    stop
        Polled between episodes, a few times a second where these are short; when it says True, `Stopped` is raised.

    Returns
    -------
    result
        With a ``failure`` and without a score when an environment that is stepped from Python raised an error, or
        returned a number that is not finite.

    Raises
    ------
    UnknownName
        For a name that does not exist.
    InvalidInput
        For a seed, number or precision that is not allowed, for an environment without a number of episodes, and for a
        Gymnasium environment with other than discrete actions and discrete or bounded observations.
    Stopped
        When ``stop`` said so; the trial then has no result.

    Examples
    --------
    >>> result = run_trial("sarsa-parl2", "chain-10-deterministic", seed=7, trial=3)
    >>> len(result.returns), result.diverged
    (100, False)
    """
    chosen = algorithm(definition) if isinstance(definition, str) else definition
    place = environment_named(environment) if isinstance(environment, str) else environment
    if not isinstance(chosen, Definition):
        raise InvalidInput(
            f"{chosen!r} is no algorithm: give a name (untuned list algorithms) or an untuned.Definition"
        )
    if not isinstance(place, RunnableEnvironment):
        if not callable(getattr(place, "for_agents", None)):
            raise InvalidInput(
                f"{getattr(place, 'name', place)!r} is not an environment: give a name (untuned list environments), or "
                "what untuned.environment or untuned.from_gymnasium returns"
            )
        place = place.for_agents()
    key = TrialKey(seed, chosen.name, place.name, trial, precision)
    if place.budget.episodes is None:
        raise InvalidInput(
            f"{place.name} has a budget of {place.budget}: compiled agents learn for a number of episodes; "
            "give it Budget(episodes=...)"
        )
    begin = time.perf_counter()
    random = random_state(key.seed, key.algorithm, key.environment, key.trial)
    returns = np.zeros(place.budget.episodes)
    final_returns = np.zeros(FINAL_EPISODES)
    score = final_return = math.nan
    failure = None
    with place.opened(random, stop) as opened:
        draw = Draw(lambda: uniform(random), number=key.trial)
        agent = chosen.agent(place, draw)
        learner = agent.start(
            World(
                Place(opened.reset, opened.step, opened.state, opened.parameters, random),
                actions=len(place.actions),
                episodes=place.budget.episodes,
                states=place.states.number if isinstance(place.states, DiscreteStates) else None,
                dimensions=place.states.dimensions,
                real=PRECISIONS[precision],
            )
        )
        try:
            steps = _in_pieces(learner.learn, returns, stop, opened.check)
            _in_pieces(learner.play, final_returns, stop, opened.check)
            score, final_return = float(returns.mean()), float(final_returns.mean())
        except EnvironmentBroke as broke:
            failure = described(broke.__cause__ or broke)
            returns, final_returns, steps = returns[: broke.episodes], final_returns[:0], broke.steps
    return TrialResult(
        key=key,
        score=score,
        final_return=final_return,
        returns=returns,
        final_returns=final_returns,
        draws=draw.record,
        dynamics=dict(opened.dynamics),
        steps=steps,
        diverged=learner.diverged,
        seconds=time.perf_counter() - begin,
        adapted=learner.adapted,
        definition_version=str(chosen.version),
        fingerprint=fingerprint(),
        failure=failure,
    )


def _in_pieces(
    work: Callable[[Floats], int], returns: Floats, stop: Callable[[], bool] | None, check: Callable[[], None]
) -> int:
    """Do the work a few episodes at a time, and return the number of steps.

    Between pieces Python handles signals, ``stop`` is polled, and ``check`` raises if the environment broke.
    """
    done = 0
    size = _FIRST_PIECE
    steps = 0
    while done < returns.size:
        if stop is not None and stop():
            raise Stopped
        begin = time.perf_counter()
        steps += work(returns[done : done + size])
        check()
        done += size
        spent = time.perf_counter() - begin
        # Longer pieces, but not much longer at once: episodes tend to change their length.
        size = max(1, min(8 * size, int(size * _PIECE / max(spent, 1e-6))))
    return steps
