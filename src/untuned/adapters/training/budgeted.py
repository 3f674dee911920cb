"""The environment that a trainer gets: it counts episodes and steps, and ends the trial when the budget is spent."""

import copy
import math
import time
from collections.abc import Callable
from typing import Any, NoReturn

import gymnasium
import numpy as np

from untuned.collect.environments.environment import Budget
from untuned.errors import BudgetSpent, InvalidInput, Stopped

#: Seconds between two polls of ``stop``.
_BETWEEN_ASKING = 0.2

#: After this many refusals the trainer is ended by an error that ``except Exception`` does not catch.
_PATIENCE = 1000


class Unheard(BaseException):
    """Ends a trainer that catches every error and continues; not an Exception, so that it is not caught."""


class Meter:
    """Counts a trial's episodes and steps, and ends it with the budget. Algorithms see it as `Metered`.

    The scored returns are kept here, not in an attribute of the algorithm's object, which the algorithm could change.

    Every episode counts and is played to its end: a budget of steps ends with the episode in which it runs out.
    After the last one `reset` and `step` raise `BudgetSpent`. Seeds given to `reset` are ignored: the first reset takes
    the trial's, later ones continue with the environment's own random numbers.

    Parameters
    ----------
    inner
        The wrapped environment.
    budget
        The learning budget of the trial.
    seed
        Seeds the first reset; None for an environment that is seeded already.
    step_limit
        The limit on an episode's steps, for trainers that need it; None if there is none.
    hidden
        Keys of the info that resets hide from the trainer.
    stop
        Polled several times per second, while steps are taken; when it returns True, `Stopped` is raised.
    """

    def __init__(
        self,
        inner: gymnasium.Env[Any, Any],
        budget: Budget,
        *,
        seed: int | None,
        step_limit: int | None = None,
        hidden: frozenset[str] = frozenset(),
        stop: Callable[[], bool] | None = None,
    ) -> None:
        self._inner = inner
        self._budget = budget
        self._step_limit = step_limit
        self._seed = seed
        self._hidden = hidden
        self._stop = stop
        self._ask_at = 0.0
        self._most_episodes = math.inf if budget.episodes is None else budget.episodes
        self._most_steps = math.inf if budget.steps is None else budget.steps
        self._returns: list[float] = []
        self._steps = 0
        self._total = 0.0
        self._running = False
        self._began_at = 0
        self._observation: Any = None
        self._info: dict[str, Any] = {}
        self._begun = False
        self._stopped = False
        self._failure: str | None = None
        self._refusals = 0

    @property
    def inner(self) -> gymnasium.Env[Any, Any]:
        """The wrapped environment."""
        return self._inner

    @property
    def budget(self) -> Budget:
        """The learning budget of the trial."""
        return self._budget

    @property
    def step_limit(self) -> int | None:
        """Steps after which an episode ends whatever happened; None if there is no limit."""
        return self._step_limit

    @property
    def spent(self) -> float:
        """The part of the budget that is spent, from 0 to 1: for schedules over the whole trial."""
        if self._budget.episodes is not None:
            return len(self._returns) / self._budget.episodes
        return min(self._steps / self._most_steps, 1.0)

    @property
    def begun(self) -> bool:
        """Whether there was a reset."""
        return self._begun

    @property
    def over(self) -> bool:
        """Whether the whole budget is spent."""
        # Not in the middle of an episode, so that no algorithm gains by never ending one.
        return not self._running and (self._steps >= self._most_steps or len(self._returns) >= self._most_episodes)

    @property
    def stopped(self) -> bool:
        """Whether ``stop`` returned True."""
        return self._stopped

    @property
    def failure(self) -> str | None:
        """Why the environment cannot continue; None if it can."""
        return self._failure

    @property
    def steps(self) -> int:
        """Steps taken."""
        return self._steps

    @property
    def returns(self) -> tuple[float, ...]:
        """The returns of all finished episodes."""
        return tuple(self._returns)

    @property
    def observation(self) -> Any:
        """The last observation of an episode that is still running; None between episodes."""
        return _own(self._observation) if self._running else None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode; before its first step, return its first observation again."""
        if options:
            raise InvalidInput(
                f"reset(options={options!r}) is not allowed in a trial: episodes start as the environment says"
            )
        if self._stopped or self._failure is not None or self.over:
            self._refuse()
        if self._running:
            if self._steps > self._began_at:
                raise InvalidInput(
                    f"reset() after {self._steps - self._began_at} steps of an episode that is not over: episodes are "
                    "played to their end in a trial, since a return up to here is not the episode's; continue until "
                    "step() returns terminated or truncated, and leave limits to the environment"
                )
            # A reset before learning costs nothing, and repeated resets cannot select a start.
            return _own(self._observation), dict(self._info)
        self._ask()
        observation, info = self._inner.reset(seed=self._seed)
        self._seed = None
        self._begun = self._running = True
        self._began_at = self._steps
        self._total = 0.0
        self._observation = observation
        self._info = {name: value for name, value in info.items() if name not in self._hidden}
        return _own(observation), dict(self._info)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take one step; the action is passed to the environment unchanged."""
        # This runs at every step: rare cases are handled elsewhere.
        if not self._running:
            self._refuse()
        if self._stop is not None:
            self._ask()
        observation, reward, terminated, truncated, info = self._inner.step(action)
        self._observation = observation
        self._steps += 1
        reward = float(reward)
        self._total = total = self._total + reward
        if terminated or truncated or not math.isfinite(total):
            self._end(reward)
        return _own(observation), reward, terminated, truncated, info

    def _end(self, reward: float) -> None:
        """End the episode, or the trial."""
        self._running = False
        if not math.isfinite(self._total):
            self._failure = (
                f"the reward of step {self._steps - self._began_at} in episode {len(self._returns) + 1} is {reward!r}, "
                f"and the return {self._total!r}: the environment must give finite numbers"
            )
            raise InvalidInput(self._failure)
        self._returns.append(self._total)

    def _refuse(self) -> NoReturn:
        """Raise the error that says why the trainer cannot continue."""
        if not (self._stopped or self._failure is not None or self.over):
            raise gymnasium.error.ResetNeeded("the episode is over, or none has begun: call reset() before step()")
        self._refusals += 1
        if self._refusals > _PATIENCE:
            raise Unheard
        if self._stopped:
            raise Stopped
        if self._failure is not None:
            raise InvalidInput(self._failure)
        raise BudgetSpent(f"{self._budget} are spent: learning is over")

    def _ask(self) -> None:
        """Poll ``stop``, if it is due."""
        if self._stop is None or (now := time.perf_counter()) < self._ask_at:
            return
        self._ask_at = now + _BETWEEN_ASKING
        if self._stop():
            self._stopped = True
            self._running = False
            raise Stopped


class Metered(gymnasium.Env[Any, Any]):
    """The environment that a trainer gets: attributes set here do not affect the score.

    Parameters
    ----------
    meter
        The meter.
    own_seed
        Seeds the generators that a trainer may use: samples of the spaces, and ``np_random``.
    """

    def __init__(self, meter: Meter, own_seed: int) -> None:
        self.metadata = {**meter.inner.metadata, "render_modes": []}
        self.render_mode = None
        # Copies: their samples are reproducible, and changes do not reach the inner environment's.
        self.action_space = copy.deepcopy(meter.inner.action_space)
        self.observation_space = copy.deepcopy(meter.inner.observation_space)
        self.action_space.seed(own_seed)
        self.observation_space.seed(own_seed)
        self._np_random, self._np_random_seed = gymnasium.utils.seeding.np_random(own_seed)
        self.__meter = meter

    @property
    def budget(self) -> Budget:
        """The learning budget of the trial."""
        return self.__meter.budget

    @property
    def step_limit(self) -> int | None:
        """Steps after which an episode ends whatever happened; None if there is no limit."""
        return self.__meter.step_limit

    @property
    def spent(self) -> float:
        """The part of the budget that is spent, from 0 to 1: for schedules over the whole trial."""
        return self.__meter.spent

    @property
    def over(self) -> bool:
        """Whether the whole budget is spent."""
        return self.__meter.over

    @property
    def steps(self) -> int:
        """Steps taken."""
        return self.__meter.steps

    @property
    def returns(self) -> tuple[float, ...]:
        """The returns of all finished episodes."""
        return self.__meter.returns

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode; before its first step, return its first observation again."""
        return self.__meter.reset(seed=seed, options=options)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take one step; the action is passed to the environment unchanged."""
        return self.__meter.step(action)

    def render(self) -> None:
        """Return None: there are no pictures of trials."""

    def close(self) -> None:
        """Do nothing: the environment is needed until the trial ends, and closed by the code that made it."""

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        # The copy module calls this, too.
        raise TypeError("a trial's environment cannot be copied or pickled: steps in a copy would not count")


def _own(observation: Any) -> Any:
    """Return an observation that the caller may change: the environment may still need its own."""
    if type(observation) is np.ndarray:
        return observation.copy()
    if isinstance(observation, int | float | np.generic | str):
        return observation
    return copy.deepcopy(observation)
