"""Environments that are stepped from Python, for compiled agents.

Agents call their environment at two addresses. One compiled pair serves every such environment: it calls back into
Python, at an address in the trial's ``parameters``. No agent is recompiled, and agents do not notice the difference.

``state`` is the observation, the last reward, and a flag, not 0 once the environment broke: from then on episodes end
immediately, and Python is not called again. ``parameters`` is the bits of the address, then the lower and upper limits
for clipping observations.
"""

import contextlib
import ctypes
import math
import time
from abc import abstractmethod
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from untuned.collect.environments.environment import (
    ContinuousStates,
    EnvironmentBroke,
    OpenedEnvironment,
    RunnableEnvironment,
)
from untuned.collect.kernels.jit import (
    Callback,
    Floats,
    RandomState,
    callback_at,
    kernel,
    reset_address,
    step_address,
)
from untuned.collect.kernels.status import RUNNING, TERMINATED
from untuned.errors import InvalidInput, Stopped

_RESET = -1

#: Seconds between two polls of ``stop``.
_POLL = 0.2


class Stepper(Protocol):
    """One trial's instance of an environment that is stepped from Python."""

    @property
    def dynamics(self) -> Mapping[str, float]:
        """The draws for the whole trial, by name."""

    def reset(self, state: Floats) -> None:
        """Start an episode, and write the observation into the beginning of ``state``."""

    def step(self, state: Floats, action: int) -> tuple[float, int]:
        """Take one step, write the observation into ``state``, and return (reward, status)."""


@dataclass(frozen=True, kw_only=True)
class SteppedEnvironment(RunnableEnvironment):
    """An environment that is stepped from Python and that compiled agents can run in.

    Parameters
    ----------
    clipped
        Whether continuous observations are clipped to their ranges before an agent sees them.
    """

    clipped: bool = True

    @abstractmethod
    def start(self, random: RandomState) -> contextlib.AbstractContextManager[Stepper]:
        """Return a context manager of a new instance for one trial, made with ``random``."""

    @contextlib.contextmanager
    def opened(self, random: RandomState, stop: Callable[[], bool] | None = None) -> Iterator[OpenedEnvironment]:
        """Return one trial's environment, made with ``random``; True from ``stop`` ends an episode of any length."""
        dimensions = self.states.dimensions
        low, high = np.full(dimensions, -math.inf), np.full(dimensions, math.inf)
        if self.clipped and isinstance(self.states, ContinuousStates):
            low, high = np.array(self.states.ranges).T
        with self.start(random) as stepper:
            opened = _Opened(
                reset_address(_reset),
                step_address(_step),
                np.zeros(dimensions + 2),
                np.concatenate([[0.0], low, high]),
                stepper.dynamics,
            )
            stepping = _stepping(stepper, opened, stop)
            next(stepping)
            callback = Callback(stepping.send)
            # As bits: not every address is a float.
            opened.parameters.view(np.int64)[0] = ctypes.cast(callback, ctypes.c_void_p).value or 0
            with contextlib.closing(stepping):
                yield opened


@dataclass(eq=False)
class _Opened(OpenedEnvironment):
    """Python's view of a trial's environment: its progress, and the error it raised."""

    episodes: int = field(default=0, init=False)
    steps: int = field(default=0, init=False)
    error: BaseException | None = field(default=None, init=False)

    def check(self) -> None:
        """Raise EnvironmentBroke if the environment cannot continue; re-raise a stop and Ctrl-C."""
        if self.state[-1] == 0.0:
            return
        if isinstance(self.error, Stopped | KeyboardInterrupt):
            raise self.error
        raise EnvironmentBroke(self.episodes, self.steps) from self.error or InvalidInput(
            f"an observation in episode {self.episodes + 1} is not finite in dimension {int(self.state[-1]) - 1}: the "
            "environment must give finite numbers"
        )


def _stepping(stepper: Stepper, opened: _Opened, stop: Callable[[], bool] | None) -> Generator[int, int, None]:
    """Take an action and yield a status, repeatedly.

    A generator, because a signal that arrived while a kernel ran is handled at the first instruction of a callback: in
    a function that is before any ``try``, and Ctrl-C would be lost.
    """
    state = opened.state
    status = RUNNING
    poll_at = 0.0
    while True:
        try:
            action = yield status
            if stop is not None and (now := time.perf_counter()) >= poll_at:
                poll_at = now + _POLL
                if stop():
                    raise Stopped
            if action == _RESET:
                stepper.reset(state)
                continue
            reward, status = stepper.step(state, action)
            if not math.isfinite(reward):
                raise InvalidInput(
                    f"a reward in episode {opened.episodes + 1} is {reward!r}: the environment must give finite numbers"
                )
            state[-2] = reward
            opened.steps += 1
            if status != RUNNING:
                opened.episodes += 1
        except GeneratorExit:
            return
        except BaseException as error:
            opened.error = error
            state[-1] = 1.0
            status = TERMINATED


def _reset(state: Floats, parameters: Floats, random: RandomState) -> None:
    if state[-1] == 0.0:
        _call(state, parameters, _RESET)


def _step(state: Floats, parameters: Floats, random: RandomState, action: int) -> tuple[float, int]:
    if state[-1] != 0.0:
        return 0.0, TERMINATED
    status = _call(state, parameters, action)
    return (state[-2], status) if state[-1] == 0.0 else (0.0, TERMINATED)


@kernel
def _call(state: Floats, parameters: Floats, action: int) -> int:
    """Call Python, clip the observation it wrote, and return the status."""
    status = callback_at(int(parameters.view(np.int64)[0]))(action)
    dimensions = state.size - 2
    for each in range(dimensions):
        if not np.isfinite(state[each]):
            state[each] = 0.0
            state[-1] = 1.0 + each
        state[each] = min(max(state[each], parameters[1 + each]), parameters[1 + dimensions + each])
    return status
