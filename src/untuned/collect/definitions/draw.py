"""Drawing a trial's hyperparameters, with the methods of Optuna's trials; every value is recorded."""

import contextlib
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from untuned.collect.distributions import (
    Categorical,
    Constant,
    Distribution,
    LogInteger,
    LogUniform,
    Stepped,
    Uniform,
    UniformInteger,
    Value,
)
from untuned.collect.environments.checks import checked_flag, whole_number
from untuned.errors import InvalidInput

T = TypeVar("T")
V = TypeVar("V", bound=Value)


@dataclass(frozen=True)
class Drawn:
    """One hyperparameter of one trial.

    Parameters
    ----------
    name
        Its name.
    value
        The drawn value.
    log_density
        Natural logarithm of the density there; of the probability, where the distribution has steps.
    distribution_text
        Its distribution, for readers.
    """

    name: str
    value: Any
    log_density: float
    distribution_text: str


@dataclass(frozen=True)
class Noted:
    """A hyperparameter that is set in another way than by drawing.

    Parameters
    ----------
    name
        The name of the hyperparameter.
    text
        How it is set.
    """

    name: str
    text: str


@dataclass(frozen=True)
class _Entry:
    drawn: Drawn
    distribution: Distribution[Any]


class Draw:
    """Draws a trial's hyperparameters and records them.

    The methods are those of Optuna's ``Trial``, so that a search space written for it works here, with the
    probabilities of its ``RandomSampler``. There is one stricter rule: a name may be drawn again, and keeps its value,
    but only with the same distribution.

    Every new name, and every `seed`, takes exactly one number from ``uniform``, even if there is only one choice:
    narrowing one hyperparameter to a point does not change any other.

    Parameters
    ----------
    uniform
        Gives the next random number, uniform on [0, 1).
    number
        The trial's number in its study, for definitions written for Optuna that use it.

    Examples
    --------
    >>> import random
    >>> draw = Draw(random.Random(7).random)
    >>> draw.suggest_float("step_size", 1e-3, 1e-1, log=True)
    0.004...
    >>> draw.suggest_int("layers", 1, 3)
    1
    >>> [f"{each.name} ~ {each.distribution_text}" for each in draw.record]
    ['step_size ~ ln-uniform(0.001, 0.1)', 'layers ~ U{1..3}']
    """

    def __init__(self, uniform: Callable[[], float], *, number: int = 0) -> None:
        self._uniform = uniform
        self._number = number
        self._prefix = ""
        self._entries: dict[str, _Entry | Noted] = {}

    # Drawing.

    def suggest(self, name: str, distribution: Distribution[T]) -> T:
        """Return a value from any distribution of `untuned.collect.distributions`, or an object with their methods.

        Parameters
        ----------
        name
            What it is called, in results and in tables.
        distribution
            Its distribution.
        """
        if not all(callable(getattr(distribution, method, None)) for method in ("quantile", "log_density")):
            raise InvalidInput(
                f"{name}: {distribution!r} is not a distribution: give one of untuned.collect.distributions, "
                "or an object with the methods quantile and log_density"
            )
        whole_name = self._whole_name(name)
        known = self._entries.get(whole_name)
        if isinstance(known, Noted):
            raise InvalidInput(f"{whole_name!r} was noted as {known.text!r}, so it is not drawn: take another name")
        if known is not None:
            if known.distribution != distribution:
                raise InvalidInput(
                    f"{whole_name!r} was drawn from {known.distribution} and is now to be drawn from {distribution}: "
                    "one name has one distribution within a trial; take another name for another hyperparameter"
                )
            value: T = known.drawn.value
            return value
        value = distribution.quantile(self._next_number())
        drawn = Drawn(whole_name, value, float(distribution.log_density(value)), str(distribution))
        self._entries[whole_name] = _Entry(drawn, distribution)
        return value

    def suggest_float(
        self, name: str, low: float, high: float, *, step: float | None = None, log: bool = False
    ) -> float:
        """Return a number from [low, high]: uniform, on a grid with spacing ``step``, or log-uniform.

        Parameters
        ----------
        name
            What it is called, in results and in tables.
        low, high
            The ends, both included.
        step
            The spacing of the grid; None for all numbers between the ends.
        log
            Whether it is uniform in its logarithm.
        """
        with _about(name):
            distribution = _float_distribution(low, high, step, log)
        return self.suggest(name, distribution)

    def suggest_int(self, name: str, low: int, high: int, *, step: int = 1, log: bool = False) -> int:
        """Return a whole number from {low .. high}: uniform, on a grid with spacing ``step``, or log-uniform.

        Parameters
        ----------
        name
            What it is called, in results and in tables.
        low, high
            The ends, both included.
        step
            The spacing of values.
        log
            Whether it is uniform in its logarithm.
        """
        with _about(name):
            distribution = _int_distribution(low, high, step, log)
        return self.suggest(name, distribution)

    def suggest_categorical(self, name: str, choices: Sequence[V]) -> V:
        """Return one of the choices with equal probability: None, booleans, numbers or strings.

        Parameters
        ----------
        name
            What it is called, in results and in tables.
        choices
            The choices, at least one.
        """
        with _about(name):
            distribution = _categorical_distribution(choices)
        chosen: V = self.suggest(name, distribution)
        return chosen

    def suggest_uniform(self, name: str, low: float, high: float) -> float:
        """Return ``suggest_float(name, low, high)``; Optuna's former name for it."""
        return self.suggest_float(name, low, high)

    def suggest_loguniform(self, name: str, low: float, high: float) -> float:
        """Return ``suggest_float(name, low, high, log=True)``; Optuna's former name for it."""
        return self.suggest_float(name, low, high, log=True)

    def suggest_discrete_uniform(self, name: str, low: float, high: float, q: float) -> float:
        """Return ``suggest_float(name, low, high, step=q)``; Optuna's former name for it."""
        return self.suggest_float(name, low, high, step=q)

    def note(self, name: str, text: str) -> None:
        """Note how a hyperparameter that is not drawn is set; takes no random number, and is not part of the record.

        Descriptions of the definition show it: ``draw.note("step_size", "adapted, starts at 1")``.

        Parameters
        ----------
        name
            The name of the hyperparameter.
        text
            How it is set.
        """
        noted = Noted(self._whole_name(name), _text(f"the note on {name}", text, "say what becomes of it"))
        known = self._entries.setdefault(noted.name, noted)
        if isinstance(known, _Entry):
            raise InvalidInput(f"{noted.name!r} was drawn, so there is nothing to note: take another name")
        if known != noted:
            raise InvalidInput(f"{noted.name!r} was noted as {known.text!r} and now as {text!r}: say it once")

    def seed(self) -> int:
        """Return a seed for the algorithm's own generator, from 0 to 2**31 - 1.

        Takes one random number. It is not a hyperparameter, so it is not recorded; every call returns a different seed.
        """
        # Below 2**31: the smallest limit among the generators of NumPy, PyTorch and C code.
        return int(self._next_number() * 2**31)

    def within(self, prefix: str) -> "Draw":
        """Return a view that draws and records with a prefix: its ``step_size`` is ``1.step_size`` here.

        For definitions composed of other definitions. It takes its random numbers from this draw and writes into its
        record.
        """
        view = Draw(self._uniform, number=self._number)
        view._prefix = self._prefix + _text("prefix", prefix, "give a text such as '1.'")
        view._entries = self._entries
        return view

    # The record.

    @property
    def record(self) -> tuple[Drawn, ...]:
        """All draws, in order, by full name; for a view, those with its prefix."""
        return tuple(entry.drawn for _, entry in self._drawn())

    @property
    def notes(self) -> tuple[Noted, ...]:
        """All notes, in order, by full name; for a view, those with its prefix."""
        return tuple(each for each in self.everything if isinstance(each, Noted))

    @property
    def everything(self) -> tuple[Drawn | Noted, ...]:
        """The record and the notes together, in the order they were made."""
        return tuple(
            entry.drawn if isinstance(entry, _Entry) else entry
            for name, entry in self._entries.items()
            if name.startswith(self._prefix)
        )

    @property
    def log_density(self) -> float:
        """The logarithm of the joint density of all draws: the sum over the record."""
        return math.fsum(each.log_density for each in self.record)

    @property
    def params(self) -> dict[str, Any]:
        """The values drawn so far, by name; as in Optuna."""
        return {name: entry.drawn.value for name, entry in self._drawn()}

    @property
    def distributions(self) -> dict[str, Distribution[Any]]:
        """Their distributions, by name; as in Optuna."""
        return {name: entry.distribution for name, entry in self._drawn()}

    @property
    def number(self) -> int:
        """The trial's number in its study; as in Optuna."""
        return self._number

    def _drawn(self) -> Iterator[tuple[str, _Entry]]:
        """Yield the draws with this prefix, by name without it."""
        for name, entry in self._entries.items():
            if isinstance(entry, _Entry) and name.startswith(self._prefix):
                yield name.removeprefix(self._prefix), entry

    def _whole_name(self, name: object) -> str:
        return self._prefix + _text("name", name, "give each hyperparameter a name")

    def _next_number(self) -> float:
        number = float(self._uniform())
        if not 0.0 <= number < 1.0:
            raise InvalidInput(f"uniform() gave {number!r}: it must give numbers from 0 up to, not including, 1")
        return number


def _text(what: str, text: object, advice: str) -> str:
    if not isinstance(text, str) or not text:
        raise InvalidInput(f"{text!r} is not allowed for {what}: {advice}")
    return text


@contextlib.contextmanager
def _about(name: object) -> Iterator[None]:
    """Add the hyperparameter's name to an error about its range."""
    try:
        yield
    except InvalidInput as error:
        raise InvalidInput(f"{name}: {error}") from None


def _float_distribution(low: object, high: object, step: object, log: object) -> Distribution[float]:
    if checked_flag("log", log) and step is not None:
        raise InvalidInput(f"step={step!r} and log=True exclude each other: leave one of the two out")
    lowest, highest = _number("low", low), _number("high", high)
    if step is not None:
        return Stepped(lowest, highest, _number("step", step))
    if log and lowest <= 0:
        raise InvalidInput(f"low={low!r} is not allowed with log=True: give a number above 0")
    if lowest == highest:
        return Constant(lowest)
    return LogUniform(lowest, highest) if log else Uniform(lowest, highest)


def _int_distribution(low: object, high: object, step: object, log: object) -> Distribution[int]:
    lowest, highest, stride = _whole("low", low), _whole("high", high), _whole("step", step)
    if not checked_flag("log", log):
        return UniformInteger(lowest, highest, stride)
    if stride != 1:
        raise InvalidInput(f"step={step!r} and log=True exclude each other: leave one of the two out")
    return LogInteger(lowest, highest)


def _categorical_distribution(choices: object) -> Categorical:
    if not isinstance(choices, Iterable) or isinstance(choices, str | bytes):
        return Categorical(choices)
    # NumPy scalars are accepted, but a trial's records are Python objects.
    return Categorical(each.item() if isinstance(each, np.generic) else each for each in choices)


def _number(name: str, value: object) -> float:
    """Return a number of any type as a float; the distributions check the rest."""
    number = math.nan
    if isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool):
        with contextlib.suppress(OverflowError):
            number = float(value)
    if not math.isfinite(number):
        raise InvalidInput(f"{name}={value!r} is not allowed: give a finite number")
    return number


def _whole(name: str, value: object) -> int:
    number = whole_number(value)
    if number is None:
        raise InvalidInput(f"{name}={value!r} is not allowed: give a whole number, 3 and not 3.0")
    return number
