"""Fingerprints: 16 hexadecimal digits that change with the facts, the function or the object that they identify."""

import dataclasses
import enum
import functools
import hashlib
import inspect
import json
import types
from collections.abc import Mapping
from typing import Any

import numpy as np

from untuned.errors import InvalidInput
from untuned.source_trees import class_code, function_code

_ENVIRONMENT = "untuned.collect.environments.environment:CompiledEnvironment"

#: The code that all compiled algorithms share, and that all algorithms in Python share: how a trial is run.
COMPILED_RUNNER = (
    "untuned.collect.runner.trial:_learn_and_play",
    "untuned.collect.definitions.definition:Definition.agent",
    f"{_ENVIRONMENT}.draw",
    f"{_ENVIRONMENT}.new_state",
    f"{_ENVIRONMENT}.opened",
    # What agents call in an environment that is stepped from Python.
    "untuned.collect.environments.stepped:_stepping",
    "untuned.collect.environments.stepped:_reset",
    "untuned.collect.environments.stepped:_step",
)
PYTHON_RUNNER = ("untuned.adapters.training.trial:_run", f"{_ENVIRONMENT}.draw", f"{_ENVIRONMENT}.new_state")


def digest(facts: Mapping[str, Any]) -> str:
    """Return the fingerprint of facts, which are JSON types."""
    return hashed(json.dumps(facts, sort_keys=True, default=str))


def source_digest(thing: object, *, lenient: bool = False) -> str:
    """Return the fingerprint of a function, an algorithm, an environment, or any object that can be called.

    The fingerprint of a function covers its syntax tree and that of everything it uses in its module and in others of
    the same folder (`untuned.source_trees`); without a source file, as in an interactive session, its compiled code and
    the functions and plain values it uses there. That of a partial function or an object also covers the arguments and
    attributes, that of a closure the captured values, if they can be distinguished. An object with a method
    ``__fingerprint__`` has the fingerprint of its return value.

    Parameters
    ----------
    thing
        The object to identify.
    lenient
        Use only the type of objects whose text differs between processes, instead of raising an error.

    Raises
    ------
    InvalidInput
        When it holds an object whose text differs between processes.
    """
    try:
        return hashed(repr(Description(lenient).of(thing)))
    except RecursionError:
        raise InvalidInput(f"{thing!r} holds itself: a change of it would not be noticed; declare a version") from None


def code_of(function: object) -> types.CodeType | None:
    """Return the compiled code that is finally called, None for callables not written in Python."""
    inner = inspect.unwrap(function) if callable(function) else function
    while isinstance(inner, functools.partial):
        inner = inspect.unwrap(inner.func)
    if isinstance(inner, types.MethodType):
        inner = inner.__func__
    if not isinstance(inner, types.FunctionType):
        # A callable object: its class's definition of the call counts.
        inner = type(inner).__dict__.get("__call__")
    code = getattr(inner, "__code__", None)
    return code if isinstance(code, types.CodeType) else None


def hashed(text: str) -> str:
    """Return the fingerprint of a text."""
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


#: Types of values with the same text in every process.
_PLAIN = bool | int | float | complex | str | bytes


class Description:
    """Converts objects to texts: the same in every process, and different for different objects.

    Parameters
    ----------
    lenient
        Use only the type of objects whose text differs between processes, instead of raising InvalidInput.
    """

    def __init__(self, lenient: bool = False) -> None:
        self._lenient = lenient
        self._typed_in: set[object] = set()

    def of(self, thing: Any) -> object:
        """Return a value whose text distinguishes an object from others."""
        if isinstance(thing, enum.Enum):
            return "member", self.of(type(thing)), thing.name
        if thing is None or isinstance(thing, _PLAIN):
            return thing
        if isinstance(thing, Mapping):
            return "mapping", sorted((repr(self.of(key)), self.of(value)) for key, value in thing.items())
        if isinstance(thing, tuple | list):
            return type(thing).__name__, [self.of(each) for each in thing]
        if isinstance(thing, set | frozenset):
            return "set", sorted(repr(self.of(each)) for each in thing)
        if isinstance(thing, np.ndarray | np.generic) and thing.dtype != object:
            return str(thing.dtype), np.shape(thing), thing.tobytes()
        if isinstance(thing, functools.partial):
            return "partial", self.of(thing.func), self.of(thing.args), self.of(thing.keywords)
        if isinstance(thing, types.MethodType):
            return "method", self.of(thing.__func__), self._object(thing.__self__)
        if isinstance(thing, types.BuiltinFunctionType | types.ModuleType):
            return thing.__name__
        if isinstance(thing, type):
            return thing.__qualname__, self.source(thing)
        if isinstance(thing, types.FunctionType):
            return self._function(thing)
        if hasattr(thing, "__fingerprint__"):
            return type(thing).__qualname__, self.of(thing.__fingerprint__())
        if isinstance(function := getattr(thing, "py_func", None), types.FunctionType):
            return "compiled", self.of(function)
        if dataclasses.is_dataclass(thing) or callable(thing):
            return self._object(thing)
        return self._unknown(thing)

    def _object(self, thing: Any) -> object:
        state = getattr(thing, "__dict__", None)
        if state is None or isinstance(thing, type):
            return self._unknown(thing) if state is None else self.of(thing)
        return "object", self.of(type(thing)), self.of(state)

    def _unknown(self, thing: object) -> object:
        if self._lenient:
            return type(thing).__qualname__
        raise InvalidInput(
            f"{type(thing).__name__} is not written the same way in every process, so that a change of it would not be "
            "noticed: keep to numbers, texts, lists and dictionaries, or declare a version"
        )

    def source(self, thing: types.FunctionType | type) -> object:
        """Return a value that identifies the code of a function or class."""
        if isinstance(thing, type):
            return class_code(thing) or self._typed(thing, list(vars(thing).values()))
        used = [thing.__globals__.get(name) for name in _global_names(thing.__code__)]
        return function_code(thing) or (self.code(thing.__code__), self._typed(thing, used))

    def code(self, code: types.CodeType) -> object:
        """Return compiled code without the parts that depend on its location."""
        constants = [
            self.code(each) if isinstance(each, types.CodeType) else self.of(each)
            for each in code.co_consts
            if each is not Ellipsis
        ]
        return code.co_code, code.co_names, constants

    def _function(self, function: types.FunctionType) -> object:
        wrapped = inspect.unwrap(function)
        kept = inspect.getclosurevars(function).nonlocals if function.__closure__ else {}
        return (
            function.__qualname__,
            self.source(function),
            self.of(function.__defaults__),
            self.of(function.__kwdefaults__),
            [
                (name, self._if_possible(each))
                for name, each in kept.items()
                if each is not function and each is not wrapped
            ],
            self.of(wrapped) if wrapped is not function else None,
        )

    def _typed(self, thing: object, used: list[object]) -> list[object]:
        """Return the functions, classes and plain values that something without a source file uses."""
        if thing in self._typed_in:
            return []
        self._typed_in.add(thing)
        return [
            self._if_possible(each)
            for each in used
            if isinstance(each, _PLAIN | types.FunctionType | tuple)
            or (isinstance(each, type) and each.__module__ == "__main__")
        ]

    def _if_possible(self, thing: object) -> object:
        try:
            return self.of(thing)
        except InvalidInput:
            return type(thing).__qualname__


def _global_names(code: types.CodeType) -> list[str]:
    inner = [name for each in code.co_consts if isinstance(each, types.CodeType) for name in _global_names(each)]
    return [*code.co_names, *inner]
