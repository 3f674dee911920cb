"""The reader protocol: a reader recognises files of one kind, and yields their rows. `readers` has one per module."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from untuned.adapters.score_files.opening import File
from untuned.adapters.score_files.rows import Rows
from untuned.diagnostics.finding import Finding
from untuned.errors import InvalidInput, UnknownName

if TYPE_CHECKING:
    from untuned.adapters.score_files.reading import Reading


@dataclass(frozen=True)
class Recognised:
    """The result of a reader.

    Attributes
    ----------
    parts
        The rows of all files; they may be read lazily while they are iterated over.
    detail
        A detail for the summary: ``"tag charts/episodic_return"``.
    unit
        The unit of steps, for axis labels: ``"step"``, ``"frame"``, ``"episode"``.
    findings
        Findings about runs that the files show but scores do not.
    """

    parts: Iterable[Rows]
    detail: str = ""
    unit: str = "step"
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class Reader:
    """How files of one kind are read.

    Attributes
    ----------
    name
        The name that users type to choose it: ``"tensorboard"``.
    title
        The name of one file in a sentence: ``"TensorBoard file"``.
    claims
        Whether a file is of this kind, by its name and its first bytes.
    read
        Returns the rows of files of this kind. Raises InvalidInput with file, place and remedy for anything invalid; it
        must never execute content of a file.
    """

    name: str
    title: str
    claims: Callable[[File], bool]
    read: Callable[[Sequence[File], "Reading"], Recognised]


def chosen_metric(
    found: Sequence[str], asked: str | None, usual: Sequence[str], where: str, what: str = "metric"
) -> str:
    """Return the series to read: the requested one, the only one, or the only one with a usual name.

    Parameters
    ----------
    found
        The names of all series in a file.
    asked
        The user's name; None if none was given.
    usual
        Usual names of returns, the most trustworthy first: evaluations before training.
    where
        The name of the file.
    what
        The term for a series there: ``"tag"``, ``"column"``.

    Raises
    ------
    InvalidInput
        If the user must choose.
    """
    if asked is not None:
        if asked not in found:
            raise UnknownName(f"{what} of {where}", asked, found, "Choose one with --metric NAME")
        return asked
    known = [name for name in usual if name in found]
    if known:
        return known[0]
    if len(found) == 1:
        return found[0]
    if not found:
        raise InvalidInput(f"{where} has no {what} with numbers: nothing in it is a score")
    listed = ", ".join(found[:12]) + (f" and {len(found) - 12} more" if len(found) > 12 else "")
    raise InvalidInput(f"{where} has several: {listed}. Say which {what} is the score with --metric NAME")
