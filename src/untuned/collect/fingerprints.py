"""Sixteen hexadecimal digits that stand for something, and change when it does: facts, functions, what they hold."""

import dataclasses
import functools
import hashlib
import inspect
import json
import types
from collections.abc import Mapping
from typing import Any

import numpy as np

from untuned.errors import InvalidInput

_PACKAGE = __name__.partition(".")[0]


def digest(facts: Mapping[str, Any]) -> str:
    """Return the fingerprint of facts, which are JSON types."""
    return _hashed(json.dumps(facts, sort_keys=True, default=str))


def source_digest(thing: object) -> str:
    """Return the fingerprint of a function or an object that can be called, and of all that it holds.

    A function counts with the source of its whole module, since functions call each other, or with its compiled code
    where there is no file, as in an interactive session; a partial one and an object with its arguments and
    attributes; a closure with the values it keeps, as far as they can be told apart: it goes to no other process
    anyway. What comes with this package counts with its name: its versions are
    told apart by other means.

    Raises
    ------
    InvalidInput
        When it holds something that is not written the same way in every process.
    """
    try:
        return _hashed(repr(_described(thing)))
    except RecursionError:
        raise InvalidInput(f"{thing!r} holds itself: a change of it would not be noticed; declare a version") from None


def code_of(function: object) -> types.CodeType | None:
    """Return the compiled code of what is called in the end, None for what is not written in Python."""
    inner = inspect.unwrap(function) if callable(function) else function
    while isinstance(inner, functools.partial):
        inner = inspect.unwrap(inner.func)
    if isinstance(inner, types.MethodType):
        inner = inner.__func__
    if not isinstance(inner, types.FunctionType):
        # An object that can be called: what counts is how its class defines that.
        inner = type(inner).__dict__.get("__call__")
    code = getattr(inner, "__code__", None)
    return code if isinstance(code, types.CodeType) else None


def _hashed(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def _described(thing: object) -> object:
    """Return something whose text is the same in every process, and different for different things."""
    if thing is None or isinstance(thing, bool | int | float | complex | str | bytes):
        return thing
    if isinstance(thing, Mapping):
        return "mapping", sorted((repr(_described(key)), _described(value)) for key, value in thing.items())
    if isinstance(thing, tuple | list):
        return type(thing).__name__, [_described(each) for each in thing]
    if isinstance(thing, set | frozenset):
        return "set", sorted(repr(_described(each)) for each in thing)
    if isinstance(thing, np.ndarray | np.generic):
        return str(thing.dtype), np.shape(thing), thing.tobytes()
    if isinstance(thing, functools.partial):
        return "partial", _described(thing.func), _described(thing.args), _described(thing.keywords)
    if isinstance(thing, types.MethodType):
        return "method", _described(thing.__func__), _described(thing.__self__)
    if isinstance(thing, types.BuiltinFunctionType | types.ModuleType):
        return thing.__name__
    if isinstance(thing, type):
        return thing.__qualname__, _source(thing)
    if isinstance(thing, types.FunctionType):
        return _described_function(thing)
    if dataclasses.is_dataclass(thing) or callable(thing):
        state = getattr(thing, "__dict__", None)
        if state is not None:
            return "object", _described(type(thing)), _described(state)
    raise InvalidInput(
        f"{type(thing).__name__} is not written the same way in every process, so that a change of it would not be "
        "noticed: keep to numbers, texts, lists and dictionaries, or declare a version"
    )


def _described_function(function: types.FunctionType) -> object:
    wrapped = inspect.unwrap(function)
    kept = inspect.getclosurevars(function).nonlocals if function.__closure__ else {}
    return (
        function.__qualname__,
        _source(function),
        _described(function.__defaults__),
        _described(function.__kwdefaults__),
        [(name, _if_possible(each)) for name, each in kept.items() if each is not function and each is not wrapped],
        _described(wrapped) if wrapped is not function else None,
    )


def _if_possible(thing: object) -> object:
    try:
        return _described(thing)
    except InvalidInput:
        return type(thing).__qualname__


def _source(thing: types.FunctionType | type) -> object:
    module = inspect.getmodule(thing)
    if thing.__module__.partition(".")[0] == _PACKAGE:
        return thing.__module__
    try:
        return inspect.getsource(module or thing)
    except (OSError, TypeError):
        code = code_of(thing) if isinstance(thing, types.FunctionType) else None
        return thing.__qualname__ if code is None else _described_code(code)


def _described_code(code: types.CodeType) -> object:
    return (
        code.co_code,
        code.co_names,
        [
            _described_code(each) if isinstance(each, types.CodeType) else _described(each)
            for each in code.co_consts
            if each is not Ellipsis
        ],
    )
