"""One trial of an algorithm written in Python.

Its score comes from the environment's counts (`Meter`), whatever the algorithm reports. An algorithm that breaks
makes a failed trial, and a failed trial is a result: leaving it out would favour algorithms that break where they
perform badly.
"""

import contextlib
import hashlib
import importlib
import math
import os
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from untuned.adapters.gymnasium.environment import UntunedEnvironment
from untuned.adapters.gymnasium.from_gymnasium import GymnasiumEnvironment, check_that_it_ends
from untuned.adapters.training.budgeted import Meter, Metered, Unheard
from untuned.adapters.training.global_rngs import generators_seeded, torch_is_loaded
from untuned.adapters.training.trainer import Policy, Train, Trainer
from untuned.collect.definitions.draw import Draw
from untuned.collect.environments.checks import checked_size
from untuned.collect.environments.environment import FINAL_EPISODES, Budget, CompiledEnvironment
from untuned.collect.environments.registry import environment as environment_named
from untuned.collect.fingerprints import code_of
from untuned.collect.kernels.jit import fingerprint
from untuned.collect.kernels.rng import random_state, uniform
from untuned.collect.trial import LARGEST, LONGEST_FAILURE, Trial
from untuned.errors import BudgetSpent, InvalidInput, MissingExtra, Stopped, needs

with needs("gymnasium", "an algorithm written in Python"):
    import gymnasium

#: Environments for algorithms in Python.
Place = CompiledEnvironment | GymnasiumEnvironment

_PACKAGES = (str(Path(__file__).parents[2]), str(Path(gymnasium.__file__).parent))

# The drawn dynamics of our environments are hidden from the algorithm.
_HIDDEN = frozenset({"dynamics"})


def train_trial(
    trainer: Trainer | Train,
    place: Place | str,
    *,
    seed: int = 0,
    trial: int = 0,
    stop: Callable[[], bool] | None = None,
) -> Trial:
    """Return the result of one trial of an algorithm written in Python.

    Parameters
    ----------
    trainer
        A trainer, or a bare function ``train(environment, draw)``.
    place
        One of our environments or its name, or the result of `from_gymnasium`.
    seed, trial
        The study's seed and the trial's number; together with the two names they determine everything random.
    stop
        Polled several times per second, while steps are taken; when it returns True, `Stopped` is raised.

    Returns
    -------
    result
        A result with a ``failure`` and without a score if the algorithm raised an error, or returned before its budget
        was spent; without a final return if it returned no policy.

    Raises
    ------
    InvalidInput
        For an invalid trainer or environment, and for episodes that might never end. A trainer that cannot learn in the
        environment raises this, or MissingExtra, before it starts.
    Stopped
        When ``stop`` returned True; the trial then has no result.
    """
    chosen = Trainer.of(trainer)
    there = environment_named(place) if isinstance(place, str) else place
    if not isinstance(there, Place):
        raise InvalidInput(
            f"{there!r} is not an environment for a trial: give a name (untuned list environments), or what "
            "untuned.environment or untuned.from_gymnasium returns"
        )
    check_that_it_ends(there.name, there.budget, there.step_limit)
    seed = checked_size("seed", seed, 0, LARGEST)
    trial = checked_size("trial", trial, 0, LARGEST)
    for module in chosen.modules:
        # The algorithm itself reports a missing module.
        with contextlib.suppress(ImportError):
            importlib.import_module(module)
    begin = time.perf_counter()
    with_torch = torch_is_loaded()
    ran = _run(chosen, there, seed, trial, stop)
    if torch_is_loaded() and not with_torch:
        # PyTorch was loaded midway, unseeded. Rerun with it loaded from the start, as in this process's next trial: the
        # order of trials must not matter.
        ran = _run(chosen, there, seed, trial, stop)
    outcome, meter, draw, dynamics = ran
    failed = outcome.failure is not None
    return Trial(
        seed=seed,
        algorithm=chosen.name,
        environment=there.name,
        trial=trial,
        score=math.nan if failed else float(np.mean(meter.returns)),
        final_return=math.nan if failed or not outcome.final_returns else float(np.mean(outcome.final_returns)),
        returns=np.array(meter.returns, dtype=np.float64),
        final_returns=np.array(outcome.final_returns, dtype=np.float64),
        draws=draw.record,
        dynamics=dynamics,
        steps=meter.steps,
        seconds=time.perf_counter() - begin,
        definition_version=chosen.fingerprint,
        fingerprint=_fingerprint(chosen),
        failure=outcome.failure,
    )


def _run(
    trainer: Trainer, there: Place, seed: int, trial: int, stop: Callable[[], bool] | None
) -> tuple["_Outcome", Meter, Draw, dict[str, float]]:
    """Return the raw results of a trial: its outcome, its meter, and the draws for algorithm and environment."""
    random = random_state(seed, trainer.name, there.name, trial)
    draw = Draw(lambda: uniform(random), number=trial)
    # Always in this order, and before the algorithm's draws.
    environment_seed, generators_seed, spaces_seed = draw.seed(), draw.seed(), draw.seed()
    inner: gymnasium.Env[Any, Any] = (
        UntunedEnvironment(there) if isinstance(there, CompiledEnvironment) else there.make()
    )
    ours = inner.unwrapped if isinstance(inner.unwrapped, UntunedEnvironment) else None
    meter = Meter(
        inner,
        there.budget,
        seed=environment_seed,
        step_limit=there.step_limit,
        hidden=_HIDDEN if ours is not None else frozenset(),
        stop=stop,
    )
    with contextlib.closing(inner), generators_seeded(generators_seed):
        outcome = _Outcome(trainer)
        outcome.learn(meter, Metered(meter, spaces_seed), draw)
        if outcome.failure is None and outcome.policy is not None:
            final = Meter(inner, Budget(episodes=FINAL_EPISODES), seed=None, stop=stop)
            outcome.play(final)
            outcome.final_returns = final.returns
    return outcome, meter, draw, dict(ours.dynamics.values) if ours is not None and meter.begun else {}


def _fingerprint(trainer: Trainer) -> str:
    """Return 16 hexadecimal digits that change with the algorithm's code, ours or Gymnasium's."""
    parts = (trainer.fingerprint, fingerprint(), gymnasium.__version__)
    return hashlib.blake2b("\n".join(parts).encode(), digest_size=8).hexdigest()


@dataclass
class _Outcome:
    """The outcome so far: the learned policy, or the failure."""

    trainer: Trainer
    policy: Policy | None = None
    failure: str | None = None
    final_returns: Sequence[float] = field(default_factory=tuple)

    def learn(self, meter: Meter, environment: Metered, draw: Draw) -> None:
        """Let the trainer train, then let its policy play the remaining budget."""
        returned: object = None

        def train() -> None:
            nonlocal returned
            returned = self.trainer.train(environment, draw)

        self._guarded(train, meter)
        if self.failure is not None:
            return
        if callable(returned):
            self.policy = returned
        elif returned is not None:
            self.failure = (
                f"train returned {_shortened(returned)}, which is neither None nor a policy: return a function that "
                "takes an observation and returns an action"
            )
        elif not meter.over:
            done = len(meter.returns) if meter.budget.episodes is not None else meter.steps
            self.failure = (
                f"train returned after {done} of {meter.budget}, and returned no policy to play the rest with: learn "
                "until the environment raises BudgetSpent, or return a function from observations to actions"
            )
        if self.failure is None and not meter.over:
            self.play(meter)

    def play(self, meter: Meter) -> None:
        """Play with the policy until the budget is spent."""
        policy = self.policy
        assert policy is not None

        def episodes_of_it() -> None:
            # The trainer may have returned in the middle of an episode.
            observation = meter.observation
            while not meter.over:
                if observation is None:
                    observation, _ = meter.reset()
                observation, _, terminated, truncated, _ = meter.step(policy(observation))
                if terminated or truncated:
                    observation = None

        self._guarded(episodes_of_it, meter)

    def _guarded(self, work: Callable[[], None], meter: Meter) -> None:
        """Call the algorithm's code, and record its failure."""
        ours = os.getpid()
        try:
            work()
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            # SystemExit, too: algorithms must not end the program that evaluates them.
            if isinstance(error, InvalidInput | MissingExtra) and not meter.begun:
                raise
            if not _is_the_end(error, meter):
                self.failure = self._described(error)
        finally:
            if os.getpid() != ours:
                # A copy of the process that the algorithm forked: it must not continue with the trial.
                os._exit(0)
        if meter.stopped:
            raise Stopped
        if meter.failure is not None:
            # Whatever error the algorithm turned it into.
            self.failure = meter.failure

    def _described(self, error: BaseException) -> str:
        """Return the error's type, its message and its place in the algorithm's code."""
        text = f"{type(error).__name__}: {_written(error, str)}"
        where = _where(error, self.trainer)
        room = LONGEST_FAILURE - len(where)
        return (text if len(text) <= room else f"{text[: room - 3]}...") + where


def _is_the_end(error: BaseException, meter: Meter) -> bool:
    """Return whether an error only reports the end of learning.

    Some libraries raise their own error `from` the one they caught; an error in cleanup code after the end is a
    failure.
    """
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, BudgetSpent | Stopped | Unheard):
            return meter.over or meter.stopped or meter.failure is not None
        cause = cause.__cause__
    return False


def _where(error: BaseException, trainer: Trainer) -> str:
    """Return the innermost line of the algorithm's code, else the innermost that is neither ours nor Gymnasium's.

    Files are shown without folders, so that the same failure reads the same on every machine.
    """
    lines = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    code = code_of(trainer.train)
    own = [each for each in lines if code is not None and each[0] == code.co_filename]
    others = [each for each in lines if not each[0].startswith(_PACKAGES)]
    for file, line in (own or others)[-1:]:
        return f" ({Path(file).name}:{line})"
    return ""


def _shortened(value: object) -> str:
    text = _written(value, repr)
    return text if len(text) <= 200 else f"{text[:200]}..."


def _written(value: object, write: Callable[[object], str]) -> str:
    """Return a value's text, or a note that it has none: a user's ``__str__`` may raise, too."""
    try:
        return write(value)
    except Exception as error:
        return f"(its text could not be made: {type(error).__name__})"
