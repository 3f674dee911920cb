"""One trial: draw the dynamics, draw the hyperparameters, learn, then play with learning off.

All randomness of a trial comes from one stream that is filled from its key: the study's seed, the two names and the
trial's number. The same key gives the same trial to the bit on the same machine with the same build, whatever else runs
at the same time.
"""

import time
from collections.abc import Callable

import numpy as np

from untuned.collect.agents.agent import Learner, Place, World
from untuned.collect.definitions.definition import Definition
from untuned.collect.definitions.draw import Draw
from untuned.collect.definitions.registry import algorithm
from untuned.collect.environments.checks import checked_choice, checked_size
from untuned.collect.environments.environment import FINAL_EPISODES, CompiledEnvironment, DiscreteStates, Dynamics
from untuned.collect.environments.registry import environment as environment_named
from untuned.collect.kernels.jit import Floats, fingerprint
from untuned.collect.kernels.rng import random_state, uniform
from untuned.collect.trial import LARGEST, Trial
from untuned.errors import InvalidInput, Stopped

#: The types that weights may have, by name.
PRECISIONS: dict[str, type[np.float64] | type[np.float32]] = {"float64": np.float64, "float32": np.float32}

#: Work is handed to kernels in pieces of about this many seconds, the first one of so many episodes.
_PIECE = 0.2
_FIRST_PIECE = 4


def run_trial(
    definition: Definition | str,
    environment: CompiledEnvironment | str,
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
        An environment, or the name of one (`untuned list environments`).
    seed, trial
        The study's seed and the trial's number; together with the two names they decide all that is random.
    precision
        The type of the agent's weights over features; "float32" is faster with many of them. Tables are always in
        double precision.
    stop
        Polled between episodes, a few times a second where these are short; when it returns True, `Stopped` is raised.

    Raises
    ------
    UnknownName
        For a name that does not exist.
    InvalidInput
        For a seed, number or precision that is not allowed, and for an environment without a number of episodes.
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
    if not isinstance(place, CompiledEnvironment):
        raise InvalidInput(
            f"{getattr(place, 'name', place)!r} has no compiled dynamics: give a name (untuned list environments), or "
            "what untuned.environment returns"
        )
    seed = checked_size("seed", seed, 0, LARGEST)
    trial = checked_size("trial", trial, 0, LARGEST)
    checked_choice("precision", precision, PRECISIONS)
    if place.budget.episodes is None:
        raise InvalidInput(
            f"{place.name} has a budget of {place.budget}: compiled agents learn for a number of episodes; "
            "give it Budget(episodes=...)"
        )
    begin = time.perf_counter()
    draw, dynamics, learner, returns, final_returns, steps = _learn_and_play(
        chosen, place, seed, trial, precision, stop
    )
    return Trial(
        seed=seed,
        algorithm=chosen.name,
        environment=place.name,
        trial=trial,
        precision=precision,
        score=float(returns.mean()),
        final_return=float(final_returns.mean()),
        returns=returns,
        final_returns=final_returns,
        draws=draw.record,
        dynamics=dict(dynamics.values),
        steps=steps,
        diverged=learner.diverged,
        seconds=time.perf_counter() - begin,
        adapted=learner.adapted,
        definition_version=str(chosen.version),
        fingerprint=fingerprint(),
    )


def _learn_and_play(
    chosen: Definition,
    place: CompiledEnvironment,
    seed: int,
    trial: int,
    precision: str,
    stop: Callable[[], bool] | None,
) -> tuple[Draw, Dynamics, Learner, Floats, Floats, int]:
    """Return what was drawn for the algorithm and the environment, the learner, its returns, and the steps it took.

    Everything that decides a trial's numbers is in here, since fingerprints start from here.
    """
    assert place.budget.episodes is not None
    random = random_state(seed, chosen.name, place.name, trial)
    dynamics = place.draw(random)
    draw = Draw(lambda: uniform(random), number=trial)
    agent = chosen.agent(place, draw)
    learner = agent.start(
        World(
            Place(place.compiled_reset, place.compiled_step, place.new_state(), dynamics.vector, random),
            actions=len(place.actions),
            episodes=place.budget.episodes,
            states=place.states.number if isinstance(place.states, DiscreteStates) else None,
            dimensions=place.states.dimensions,
            real=PRECISIONS[precision],
        )
    )
    returns = np.zeros(place.budget.episodes)
    final_returns = np.zeros(FINAL_EPISODES)
    steps = _in_pieces(learner.learn, returns, stop)
    _in_pieces(learner.play, final_returns, stop)
    return draw, dynamics, learner, returns, final_returns, steps


def _in_pieces(work: Callable[[Floats], int], returns: Floats, stop: Callable[[], bool] | None) -> int:
    """Do the work a few episodes at a time, and return the number of steps.

    Between pieces Python handles signals, and ``stop`` is polled.
    """
    done = 0
    size = _FIRST_PIECE
    steps = 0
    while done < returns.size:
        if stop is not None and stop():
            raise Stopped
        begin = time.perf_counter()
        steps += work(returns[done : done + size])
        done += size
        spent = time.perf_counter() - begin
        # Longer pieces, but not much longer at once: episodes tend to change their length.
        size = max(1, min(8 * size, int(size * _PIECE / max(spent, 1e-6))))
    return steps
