"""Environments: the facts that a complete algorithm may know, and the kernels that run them.

`Environment` holds only facts; `CompiledEnvironment` adds the kernels, and `SteppedEnvironment`
(`untuned.collect.environments.stepped`) kernels that call Python. An algorithm's definition may use only facts, so they
are known before any step is taken.
"""

import contextlib
import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from untuned.collect.distributions import Constant, NumberDistribution
from untuned.collect.environments.checks import checked_size
from untuned.collect.kernels.jit import Floats, RandomState, Reset, Step, reset_address, step_address
from untuned.collect.kernels.rng import uniform
from untuned.errors import InvalidInput, UnknownName

#: More episodes or steps than any user would wait for.
LONGEST = 10**12

#: Episodes after learning, with learning off, whose mean is the final return.
FINAL_EPISODES = 30

#: A note shared by the environments that it applies to.
FIXED_STARTS = (
    "The published experiment was configured for random starts, but ran the same start in every episode; so does the "
    "default here. random_start=True gives what was configured."
)


@dataclass(frozen=True)
class DiscreteStates:
    """States 0 .. number-1.

    Parameters
    ----------
    number
        Number of states.
    """

    number: int

    @property
    def dimensions(self) -> int:
        """Number of components of an observation: one, the state's index."""
        return 1

    def facts(self) -> dict[str, Any]:
        """Return the description as plain JSON types."""
        return {"kind": "discrete", "number": self.number}

    def __str__(self) -> str:
        return f"{self.number} states"


@dataclass(frozen=True)
class ContinuousStates:
    """States in d dimensions.

    Parameters
    ----------
    names
        One name per dimension.
    ranges
        (low, high) per dimension, for scaling features. States may be outside; nothing is clipped.
    bounds
        (low, high) per dimension that contain all states; infinite where there is no such bound.
    """

    names: tuple[str, ...]
    ranges: tuple[tuple[float, float], ...]
    bounds: tuple[tuple[float, float], ...]

    @property
    def dimensions(self) -> int:
        """Number of components of an observation."""
        return len(self.names)

    def facts(self) -> dict[str, Any]:
        """Return the description as plain JSON types."""
        return {
            "kind": "continuous",
            "dimensions": self.dimensions,
            "names": list(self.names),
            "ranges": [list(limits) for limits in self.ranges],
        }

    def __str__(self) -> str:
        return f"{self.dimensions}-d states"


@dataclass(frozen=True)
class Budget:
    """The learning budget of a trial: a number of episodes, or of steps; exactly one of the two.

    Parameters
    ----------
    episodes, steps
        The number; None for the other.
    """

    episodes: int | None = None
    steps: int | None = None

    def __post_init__(self) -> None:
        if (self.episodes is None) == (self.steps is None):
            raise InvalidInput("a budget is a number of episodes or a number of steps: give exactly one of the two")
        for name, value in (("episodes", self.episodes), ("steps", self.steps)):
            if value is not None:
                # NumPy integers are accepted, but JSON cannot store them.
                object.__setattr__(self, name, checked_size(name, value, 1, LONGEST))

    def __str__(self) -> str:
        return f"{self.episodes} episodes" if self.episodes is not None else f"{self.steps} steps"


@dataclass(frozen=True)
class Allowed:
    """The values that a user may give a parameter: [low, high], or (low, high] when ``low_excluded``.

    Parameters
    ----------
    low, high
        The ends.
    low_excluded
        Whether the lower end is excluded.
    """

    low: float
    high: float
    low_excluded: bool = False

    def __contains__(self, value: float) -> bool:
        return (self.low < value if self.low_excluded else self.low <= value) and value <= self.high

    def __str__(self) -> str:
        return f"{'(' if self.low_excluded else '['}{self.low:g}, {self.high:g}]"


PROBABILITY = Allowed(0.0, 1.0)


@dataclass(frozen=True)
class Parameter:
    """A parameter of the dynamics, drawn for every trial.

    Parameters
    ----------
    name
        Its name in records.
    distribution
        Its distribution.
    nominal
        Its customary value, used without randomisation.
    meaning
        A short description, with its unit.
    allowed
        The values that a user may set.
    """

    name: str
    distribution: NumberDistribution
    nominal: float
    meaning: str
    allowed: Allowed

    def facts(self) -> dict[str, Any]:
        """Return the description as plain JSON types."""
        return {
            "name": self.name,
            "meaning": self.meaning,
            "distribution": str(self.distribution),
            "low": self.distribution.low,
            "high": self.distribution.high,
            "nominal": self.nominal,
            "allowed": str(self.allowed),
        }

    def fixed(self, value: object) -> "Parameter":
        """Return this parameter fixed at ``value``; raises InvalidInput if that is not allowed."""
        number = math.nan
        if isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool):
            # An integer too large for a float stays NaN, which is outside every range.
            with contextlib.suppress(OverflowError):
                number = float(value)
        if number not in self.allowed:
            raise InvalidInput(
                f"{self.name}={_shortened(value)} is not allowed: {self.meaning}, a number in {self.allowed}; "
                f"its customary value is {self.nominal:g}"
            )
        return dataclasses.replace(self, distribution=Constant(number))


def _shortened(value: object) -> str:
    text = repr(value) if not isinstance(value, int) or abs(value) < 10**20 else f"{str(value)[:10]}..."
    return text if len(text) <= 60 else f"{text[:60]}..."


@dataclass(frozen=True)
class Dynamics:
    """The parameters drawn for one trial: as a readable record, and as a vector for the kernels.

    Parameters
    ----------
    values
        The drawn value of every parameter, by name, in the environment's order.
    vector
        The values followed by the environment's constants, in the form that kernels take.
    """

    values: Mapping[str, float]
    vector: Floats = field(repr=False, compare=False)

    def __str__(self) -> str:
        return ", ".join(f"{name}={value:.6g}" for name, value in self.values.items()) or "nothing drawn"


@dataclass(frozen=True, kw_only=True)
class Environment:
    """The facts about an environment.

    Parameters
    ----------
    name
        Its identifier, with the options that differ from the default: ``gridworld-5-stochastic[slips=perpendicular]``.
    title
        The name in the paper's tables, or another for readers.
    summary
        One line.
    states, actions, budget
        The state space, the actions' names in order, the learning budget of a trial.
    step_limit
        Number of steps after which an episode ends in any case; None for no limit.
    score_range
        (worst, best) possible return of an episode, known before any data; None if not declared.
    parameters
        The parameters drawn for every trial.
    differs
        How the published numbers deviate from the paper's text.
    discount
        The environment's own discount.
    """

    name: str
    title: str
    summary: str
    states: DiscreteStates | ContinuousStates
    actions: tuple[str, ...]
    budget: Budget
    step_limit: int | None
    score_range: tuple[float, float] | None
    parameters: tuple[Parameter, ...] = ()
    differs: tuple[str, ...] = ()
    discount: float = 1.0

    def facts(self) -> dict[str, Any]:
        """Return all of the above as plain JSON types."""
        return {
            "name": self.name,
            "title": self.title,
            "summary": self.summary,
            "states": self.states.facts(),
            "actions": {"number": len(self.actions), "names": list(self.actions)},
            "episodes": self.budget.episodes,
            "steps": self.budget.steps,
            "step_limit": self.step_limit,
            "score_range": None if self.score_range is None else list(self.score_range),
            "discount": self.discount,
            "parameters": [parameter.facts() for parameter in self.parameters],
            "differs": list(self.differs),
        }

    def __fingerprint__(self) -> object:
        # Texts for readers and the range of scores change no trial.
        return {
            "name": self.name,
            "states": {**self.states.facts(), "names": None, "bounds": getattr(self.states, "bounds", None)},
            "actions": len(self.actions),
            "budget": (self.budget.episodes, self.budget.steps),
            "step_limit": self.step_limit,
            "discount": self.discount,
            "parameters": [(each.name, each.distribution) for each in self.parameters],
        }


@dataclass(eq=False)
class OpenedEnvironment:
    """One trial's environment in the form that kernels take.

    Parameters
    ----------
    reset, step
        Addresses of the compiled kernels.
    state, parameters
        Their memory: the state, and the dynamics of this trial.
    dynamics
        The parameters drawn for this trial, by name.
    """

    reset: int
    step: int
    state: Floats
    parameters: Floats
    dynamics: Mapping[str, float]

    def check(self) -> None:
        """Raise EnvironmentBroke if the environment cannot continue; compiled ones always can."""


class EnvironmentBroke(Exception):
    """An environment stepped from Python raised an error, or returned a number that is not finite.

    Parameters
    ----------
    episodes, steps
        How many were finished before, learning and playing together.
    """

    def __init__(self, episodes: int, steps: int) -> None:
        super().__init__(f"the environment broke after {episodes} episodes")
        self.episodes = episodes
        self.steps = steps


@dataclass(frozen=True, kw_only=True)
class RunnableEnvironment(Environment, ABC):
    """An environment that compiled agents can run in."""

    @abstractmethod
    def opened(
        self, random: RandomState, stop: Callable[[], bool] | None = None
    ) -> contextlib.AbstractContextManager[OpenedEnvironment]:
        """Return one trial's environment as a context manager.

        Parameters
        ----------
        random
            The trial's random numbers; the environment now makes its draws for the whole trial.
        stop
            Polled during long episodes by environments that are stepped from Python; True ends the trial.
        """


#: (worst, best) return of an episode, given the distributions of the parameters.
RangeRule = Callable[[tuple[Parameter, ...]], tuple[float, float]]


@dataclass(frozen=True, kw_only=True)
class CompiledEnvironment(RunnableEnvironment):
    """An environment whose dynamics are compiled kernels.

    The kernels keep everything in three arrays that the caller owns: ``state`` (the observation first, then other
    variables of the dynamics), ``parameters`` (`Dynamics.vector`) and ``random`` (`kernels.rng`).

    Parameters
    ----------
    family
        The kind of environment, for rendering: "gridworld", "pinball", ...
    reset
        ``reset(state, parameters, random)`` starts an episode.
    step
        ``reward, status = step(state, parameters, random, action)`` takes one step; status is RUNNING, TERMINATED
        or TRUNCATED. Actions are not checked here.
    state_size
        Length of ``state``; the observation is its first ``states.dimensions`` entries.
    constants
        Constants that the kernels need in addition to the drawn parameters.
    range_rule
        For environments whose score range depends on their parameters.
    """

    family: str
    reset: Reset
    step: Step
    state_size: int
    constants: tuple[float, ...] = ()
    range_rule: RangeRule | None = None

    @property
    def compiled_reset(self) -> int:
        """Address of the compiled reset kernel, for `reset_at`; compiled at the first use."""
        return reset_address(self.reset)

    @property
    def compiled_step(self) -> int:
        """Address of the compiled step kernel, for `step_at`; compiled at the first use."""
        return step_address(self.step)

    def __fingerprint__(self) -> object:
        return super().__fingerprint__(), self.reset, self.step, self.state_size, self.constants

    def new_state(self) -> Floats:
        """Return memory for one state; call the reset kernel on it before anything else."""
        return np.zeros(self.state_size)

    def draw(self, random: RandomState) -> Dynamics:
        """Draw and return the dynamics of one trial; takes one random number per parameter, in order."""
        values = {each.name: float(each.distribution.quantile(uniform(random))) for each in self.parameters}
        return Dynamics(values=values, vector=np.array([*values.values(), *self.constants]))

    @contextlib.contextmanager
    def opened(self, random: RandomState, stop: Callable[[], bool] | None = None) -> Iterator[OpenedEnvironment]:
        """Return one trial's environment, its dynamics drawn from ``random``; ``stop`` is not polled in kernels."""
        dynamics = self.draw(random)
        yield OpenedEnvironment(
            self.compiled_reset, self.compiled_step, self.new_state(), dynamics.vector, dynamics.values
        )

    def nominal(self) -> "CompiledEnvironment":
        """Return this environment with every drawn parameter fixed at its customary value."""
        return self._with(
            each if isinstance(each.distribution, Constant) else each.fixed(each.nominal) for each in self.parameters
        )

    def with_parameters(self, values: Mapping[str, object]) -> "CompiledEnvironment":
        """Return this environment with some parameters fixed at given values.

        Raises
        ------
        UnknownName
            For a parameter that the environment does not have.
        InvalidInput
            For a value that is not allowed for the parameter.
        """
        known = [each.name for each in self.parameters]
        for name in values:
            if name not in known:
                raise UnknownName(f"parameter of {self.name}", name, known)
        return self._with(each.fixed(values[each.name]) if each.name in values else each for each in self.parameters)

    def _with(self, parameters: Iterable[Parameter]) -> "CompiledEnvironment":
        parameters = tuple(parameters)
        return dataclasses.replace(
            self,
            name=self._named(parameters),
            parameters=parameters,
            score_range=self.score_range if self.range_rule is None else self.range_rule(parameters),
        )

    def _named(self, parameters: tuple[Parameter, ...]) -> str:
        """Return the canonical name for these fixed parameters."""
        plain, _, bracket = self.name.rstrip("]").partition("[")
        drawn = {each.name for each in parameters}
        labels = [
            label for label in bracket.split(",") if label and label.partition("=")[0] not in {*drawn, "randomize"}
        ]
        nothing_drawn = bool(parameters) and all(isinstance(each.distribution, Constant) for each in parameters)
        labels += [
            f"{each.name}={each.distribution.low!r}"
            for each in parameters
            if isinstance(each.distribution, Constant)
            and not (nothing_drawn and each.distribution.value == each.nominal)
        ]
        if nothing_drawn:
            labels.append("randomize=false")
        return f"{plain}[{','.join(labels)}]" if labels else plain
