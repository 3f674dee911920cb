"""What a reader is: it recognises files of one kind, and yields their rows. `readers` has one per file."""

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
    """What a reader found.

    Attributes
    ----------
    parts
        The rows of all files; they may be read one after another while they are iterated over.
    detail
        What a reader of the summary must know: ``"tag charts/episodic_return"``.
    unit
        What steps count, as it stands below an axis: ``"step"``, ``"frame"``, ``"episode"``.
    findings
        What the files show about their runs that scores do not.
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
        What users type to choose it: ``"tensorboard"``.
    title
        What one file is called in a sentence: ``"TensorBoard file"``.
    claims
        Whether a file is of this kind, by its name and its first bytes.
    read
        Returns the rows of files of this kind. Raises InvalidInput that names file, place and remedy for anything that
        is not as it should be; it must not run anything that a file contains.
    """

    name: str
    title: str
    claims: Callable[[File], bool]
    read: Callable[[Sequence[File], "Reading"], Recognised]


def chosen_metric(
    found: Sequence[str], asked: str | None, usual: Sequence[str], where: str, what: str = "metric"
) -> str:
    """Return the series to read: the one asked for, the only one, or the only one with a usual name.

    Parameters
    ----------
    found
        The names of all series in a file.
    asked
        The name that the user gave; None where none was given.
    usual
        Names that returns usually have, the most trustworthy first: evaluations before training.
    where
        What to call the file.
    what
        What a series is called there: ``"tag"``, ``"column"``.

    Raises
    ------
    InvalidInput
        Where the choice is the user's.
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
