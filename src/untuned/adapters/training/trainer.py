"""An algorithm written in Python: a function that gets an environment and a draw, and trains."""

import dataclasses
import inspect
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from untuned.collect.definitions.definition import check_description
from untuned.collect.definitions.draw import Draw
from untuned.collect.fingerprints import PYTHON_RUNNER, source_digest
from untuned.errors import InvalidInput
from untuned.source_trees import own_code

if TYPE_CHECKING:
    import gymnasium

#: Takes an observation, returns an action.
Policy = Callable[[Any], Any]

#: Learns in the environment until it raises BudgetSpent; may return the learned policy.
Train = Callable[["gymnasium.Env[Any, Any]", Draw], Policy | None]


@dataclass(frozen=True)
class Trainer:
    """A complete definition of an algorithm that is written in Python.

    Parameters
    ----------
    name
        Its identifier, under which scores are stored.
    title
        A display name.
    version
        Must change whenever results would change: scores of different versions are never mixed. None uses a digest of
        the source instead, which changes with the function and everything it uses.
    summary
        One line.
    train
        ``train(environment, draw)`` asks ``draw`` for every hyperparameter, learns in the environment until that
        raises `BudgetSpent`, and may return a policy. To run in several processes it must be a function of a module,
        or a `functools.partial` of one.
    modules
        Modules that it imports during training, to load beforehand: PyTorch must be loaded to be seeded, so a trial
        that loads it midway is run again.

    Examples
    --------
    >>> def always_left(environment, draw):
    ...     return lambda observation: 0
    >>> Trainer.of(always_left).name
    'always_left'
    """

    name: str
    title: str
    version: str | int | None
    summary: str
    train: Train
    modules: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_description("trainer", vars(self), functions=("train",), instead="a digest of the source")
        _check_signature(self.name, self.train)

    @classmethod
    def of(cls, train: "Trainer | Train", name: str | None = None) -> "Trainer":
        """Return a trainer made from a bare function, with the function's name; a trainer is returned unchanged.

        Parameters
        ----------
        train
            The function, or a trainer.
        name
            A different name.
        """
        if isinstance(train, Trainer):
            return train if name is None else dataclasses.replace(train, name=name, title=name)
        given: object = train
        if not callable(given):
            raise InvalidInput(f"{train!r} is not an algorithm: give a function train(environment, draw)")
        called = name or getattr(train, "__name__", "")
        if not called or called == "<lambda>":
            raise InvalidInput(f"{train!r} has no name to store scores under: say what to call it, name=...")
        summary = (inspect.getdoc(train) or "") if isinstance(train, types.FunctionType) else ""
        return cls(called, called, None, summary.partition("\n")[0], train)

    @property
    def fingerprint(self) -> str:
        """The version if one is declared, else 16 hexadecimal digits that change with the source.

        The digest covers the function and everything it uses in its folder, without comments, docstrings and messages.
        """
        return str(self.version) if self.version is not None else source_digest(self.train)

    def __fingerprint__(self) -> object:
        return self.fingerprint, own_code(*PYTHON_RUNNER)

    def facts(self) -> dict[str, Any]:
        """Return the description as plain JSON types."""
        return {"name": self.name, "title": self.title, "version": self.fingerprint, "summary": self.summary}


def _check_signature(name: str, train: Train) -> None:
    try:
        signature = inspect.signature(train)
    except (TypeError, ValueError):
        # Some functions written in C have no signature.
        return
    try:
        signature.bind(None, None)
    except TypeError:
        raise InvalidInput(
            f"train of {name} takes {signature}: it is called as train(environment, draw), with nothing else"
        ) from None
