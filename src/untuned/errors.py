"""The errors of this package, in one tree.

::

    UntunedError                 everything this package raises on purpose
    ├── InvalidInput             a value that is not allowed (also a ValueError)
    │   ├── UnknownName          a name that is not registered; says which is nearest
    │   └── AlgorithmFails       all first trials of an algorithm failed, so the run was stopped
    ├── StoreError               a study's results cannot be read or written as they are on disk
    ├── MissingExtra             an optional dependency is not installed (also an ImportError)
    ├── Stopped                  work was stopped on request before its end
    └── BudgetSpent              a trial's learning is over: its episodes or steps are spent

Every message says what was found, what is allowed and what to do. The command line prints the message alone;
``untuned --debug`` shows the traceback as well.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class UntunedError(Exception):
    """Everything this package raises on purpose."""


class InvalidInput(UntunedError, ValueError):
    """A value that is not allowed; the message says what is."""


class UnknownName(InvalidInput):
    """A name that is not registered.

    Parameters
    ----------
    kind
        What was looked for, as a reader would call it: ``"environment"``.
    name
        The unknown name.
    known
        The names that exist; they are listed unless they are many.
    more
        A sentence on where to look further.
    """

    def __init__(self, kind: str, name: object, known: Iterable[str], more: str = "") -> None:
        known = sorted(map(str, known))
        near = nearest(str(name), known)
        advice = f"did you mean {near!r}? " if near is not None else ""
        listing = f"known: {', '.join(known)}" if len(known) <= _MANY else f"{len(known)} others are known"
        super().__init__(f"no {kind} is called {name!r}: {advice}{listing}" + (f". {more}" if more else ""))
        self.suggestion = near
        self._arguments = (kind, name, known, more)

    def __reduce__(self) -> tuple[type["UnknownName"], tuple[object, ...]]:
        # By default an exception is unpickled from its message alone; worker processes send exceptions back.
        return type(self), self._arguments


class AlgorithmFails(InvalidInput):
    """All first trials of an algorithm failed, so a run was stopped; the message has the first failure."""


class StoreError(UntunedError):
    """A study's results cannot be read or written as they are on disk; the message says what helps."""


class Stopped(UntunedError):
    """Work was stopped on request before its end; it has no result."""


class BudgetSpent(UntunedError):
    """A trial's learning is over: its episodes or steps are spent.

    Raised by the environment that a trainer gets, and meant to pass through it; a trainer that catches it may still
    return the learned policy.
    """


class MissingExtra(UntunedError, ImportError):
    """An optional dependency is not installed; the message has the command that installs it.

    Parameters
    ----------
    feature
        What cannot be done without it.
    extra
        The extra of this package that brings it.
    package
        The package that could not be imported; None if it is not known.
    """

    def __init__(self, feature: str, extra: str, package: str | None = None) -> None:
        needed = package or "an optional dependency"
        super().__init__(f"{feature} needs {needed}: pip install 'untuned[{extra}]'", name=package)
        self._arguments = (feature, extra, package)

    def __reduce__(self) -> tuple[type["MissingExtra"], tuple[object, ...]]:
        return type(self), self._arguments


@contextmanager
def needs(extra: str, feature: str) -> Iterator[None]:
    """Raise `MissingExtra` for an import that fails within the ``with`` block.

    Parameters
    ----------
    extra
        The extra of this package that brings what is imported.
    feature
        What cannot be done without it, as the subject of a sentence: ``"a figure"``.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingExtra(feature, extra, error.name) from error


_MANY = 30


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name most like ``name``, or None when none is close."""
    # Imported here: only a mistake needs it, and `import untuned` should cost nothing.
    import difflib

    by_folded = {candidate.casefold(): candidate for candidate in known}
    matches = difflib.get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.5)
    return by_folded[matches[0]] if matches else None
