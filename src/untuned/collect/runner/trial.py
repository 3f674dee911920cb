"""One trial: draw the dynamics, draw the hyperparameters, learn, then play with learning off.

All randomness of a trial comes from one stream that is seeded from its key: the study's seed, the two names and the
trial's number. The same key gives the same trial to the bit on the same machine with the same build, whatever else runs
at the same time.
"""

import math
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from untuned.collect.agents.agent import Learner, Place, World
from untuned.collect.definitions.definition import Definition
from untuned.collect.definitions.draw import Draw
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
from untuned.collect.trial import LARGEST, LONGEST_FAILURE, Trial
from untuned.errors import InvalidInput, Stopped

#: The types that weights may have, by name.
PRECISIONS: dict[str, type[np.float64] | type[np.float32]] = {"float64": np.float64, "float32": np.float32}

#: Kernels work in pieces of about this many seconds, the first of this many episodes.
_PIECE = 0.2
_FIRST_PIECE = 4


def described(error: BaseException) -> str:
    """Return an error in one line: its type, its message, and where it was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {error}"[: LONGEST_FAILURE - len(where)] + where


class ForAgents(Protocol):
    """An environment that can be described to compiled agents, such as the result of `from_gymnasium`."""

    def for_agents(self) -> RunnableEnvironment:
        """Return the environment in the form for compiled agents; raises InvalidInput if they cannot run in it."""


def run_trial(
    definition: Definition | str,
    environment: RunnableEnvironment | ForAgents | str,
    *,
    seed: int = 0,
    trial: int = 0,
    precision: str = "float64",
    stop: Callable[[], bool] | None = None,
) -> Trial:
    """Return one trial.

    Parameters
    ----------
    definition
        A complete definition, or the name of one (`untuned list algorithms`).
    environment
        An environment, the name of one (`untuned list environments`), or what `from_gymnasium` returns.
    seed, trial
        The study's seed and the trial's number; together with the two names they determine everything random.
    precision
        The type of the agent's weights over features; "float32" is faster with many of them. Tables are always in
        double precision.
    stop
        Polled between episodes, several times per second if these are short; True raises `Stopped`.

    Returns
    -------
    result
        A result with a ``failure`` and without a score if an environment that is stepped from Python raised an error,
        or returned a number that is not finite.

    Raises
    ------
    UnknownName
        For a name that does not exist.
    InvalidInput
        For a seed, number or precision that is not allowed, for an environment without a number of episodes, and for a
        Gymnasium environment with other than discrete actions and discrete or bounded observations.
    Stopped
        When ``stop`` returned True; the trial then has no result.

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
            f"{chosen!r} is not an algorithm: give a name (untuned list algorithms) or an untuned.Definition"
        )
    if not isinstance(place, RunnableEnvironment):
        if not callable(getattr(place, "for_agents", None)):
            raise InvalidInput(
                f"{getattr(place, 'name', place)!r} is not an environment: give a name (untuned list environments), or "
                "what untuned.environment or untuned.from_gymnasium returns"
            )
        place = place.for_agents()
    seed = checked_size("seed", seed, 0, LARGEST)
    trial = checked_size("trial", trial, 0, LARGEST)
    checked_choice("precision", precision, PRECISIONS)
    if place.budget.episodes is None:
        raise InvalidInput(
            f"{place.name} has a budget of {place.budget}: compiled agents learn for a number of episodes; "
            "give it Budget(episodes=...)"
        )
    begin = time.perf_counter()
    lived = _learn_and_play(chosen, place, seed, trial, precision, stop)
    failed = lived.failure is not None
    return Trial(
        seed=seed,
        algorithm=chosen.name,
        environment=place.name,
        trial=trial,
        precision=precision,
        score=math.nan if failed else float(lived.returns.mean()),
        final_return=math.nan if failed else float(lived.final_returns.mean()),
        returns=lived.returns,
        final_returns=lived.final_returns,
        draws=lived.draw.record,
        dynamics=dict(lived.dynamics),
        steps=lived.steps,
        diverged=lived.learner.diverged,
        seconds=time.perf_counter() - begin,
        adapted=lived.learner.adapted,
        definition_version=str(chosen.version),
        fingerprint=fingerprint(),
        failure=lived.failure,
    )


class _Lived(NamedTuple):
    """The raw results of a trial: its draws, its learner, and its returns, up to a failure."""

    draw: Draw
    dynamics: Mapping[str, float]
    learner: Learner
    returns: Floats
    final_returns: Floats
    steps: int
    failure: str | None


def _learn_and_play(
    chosen: Definition,
    place: RunnableEnvironment,
    seed: int,
    trial: int,
    precision: str,
    stop: Callable[[], bool] | None,
) -> _Lived:
    """Return the raw results of a trial. Everything that determines its numbers is here: fingerprints start here."""
    assert place.budget.episodes is not None
    random = random_state(seed, chosen.name, place.name, trial)
    returns = np.zeros(place.budget.episodes)
    final_returns = np.zeros(FINAL_EPISODES)
    failure = None
    with place.opened(random, stop) as opened:
        draw = Draw(lambda: uniform(random), number=trial)
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
        except EnvironmentBroke as broke:
            failure = described(broke.__cause__ or broke)
            returns, final_returns, steps = returns[: broke.episodes], final_returns[:0], broke.steps
    return _Lived(draw, opened.dynamics, learner, returns, final_returns, steps, failure)


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
        # Grow slowly: episodes tend to change their length.
        size = max(1, min(8 * size, int(size * _PIECE / max(spent, 1e-6))))
    return steps
