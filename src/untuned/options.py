"""Options declared once: each is a field of a frozen record, from which the command line and `help` are derived."""

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import Field, dataclass, fields
from typing import Any, TypeVar

from untuned.errors import UnknownName

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Option:
    """What the command line needs to know about an option.

    Attributes
    ----------
    summary
        A line for ``--help``.
    kind
        The type of the value: ``float``, ``list[str] | None``.
    flag
        ``"--range"``; by default the field's name.
    metavar
        Placeholder for the value in ``--help``; by default the type.
    choices
        The values that are allowed; none for any.
    """

    summary: str
    kind: Any
    flag: str | None = None
    metavar: str | None = None
    choices: tuple[str, ...] = ()


def option(
    summary: str,
    kind: Any,
    *,
    flag: str | None = None,
    metavar: str | None = None,
    choices: tuple[str, ...] = (),
) -> dict[str, Option]:
    """Return the metadata of a field that is an option."""
    return {"option": Option(summary, kind, flag, metavar, choices)}


def declared(record: type) -> dict[str, tuple[Field[Any], Option]]:
    """Return the options of a record by name, in order."""
    return {each.name: (each, each.metadata["option"]) for each in fields(record) if "option" in each.metadata}


def split(given: Mapping[str, Any], record: type, others: Iterable[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split options into those of a record and the rest, which must be among ``others``.

    Raises
    ------
    UnknownName
        For an option that belongs to neither.
    """
    ours, others = declared(record), tuple(others)
    for name in given:
        if name not in ours and name not in others:
            raise UnknownName("option", name, [*ours, *others])
    return (
        {name: value for name, value in given.items() if name in ours},
        {name: value for name, value in given.items() if name not in ours},
    )


def takes_options_of(record: type) -> Callable[[Function], Function]:
    """Return a decorator that shows a record's options in the signature and docstring, before ``**options``."""

    def decorate(function: Function) -> Function:
        signature = inspect.signature(function)
        *own, rest = signature.parameters.values()
        shown = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=each.default, annotation=each.type)
            for name, (each, _) in declared(record).items()
        ]
        function.__signature__ = signature.replace(parameters=[*own, *shown, rest])  # type: ignore[attr-defined]
        # python -OO removes both docstrings.
        described = re.search(r"^Attributes\n-+\n(.*?)(?=\n\n|\Z)", inspect.getdoc(record) or "", re.M | re.S)
        if described and function.__doc__:
            text = inspect.cleandoc(function.__doc__)
            function.__doc__ = text.replace(f"**{rest.name}\n", f"{described[1]}\n**{rest.name}\n", 1)
        return function

    return decorate
