"""Small CSV files of known form, read row by row: logs, and tables in wide form."""

import contextlib
import csv
import io
from collections.abc import Iterator

from untuned.adapters.score_files.opening import HEAD, File
from untuned.errors import InvalidInput

#: A row's number in the user's count, from 1 below the header, and its cells.
Record = tuple[int, list[str]]


def header(file: File, separator: str = ",") -> list[str]:
    """Return the names in a file's header, for recognising it; empty if it is not text."""
    return next(iter(sample(file, separator)), [])


def sample(file: File, separator: str = ",") -> list[list[str]]:
    """Return the header and the complete rows among a file's first bytes, for recognising it."""
    head = file.head if len(file.head) < HEAD else file.head.rpartition(b"\n")[0]
    text = io.StringIO(head.decode("utf-8-sig", errors="replace"), newline="")
    with contextlib.suppress(csv.Error):
        return [[cell.strip() for cell in cells] for cells in csv.reader(text, delimiter=separator) if cells]
    return []


def records(file: File, separator: str = ",", skip: int = 0, torn: bool = False) -> Iterator[Record]:
    """Yield the header with the number 0, and all rows with theirs; empty lines are skipped.

    Parameters
    ----------
    file
        The file.
    separator
        The separator between cells.
    skip
        The number of lines above the header.
    torn
        Whether a program may still be writing the file, or may have been ended while writing: then an incomplete last
        row is skipped.

    Raises
    ------
    InvalidInput
        For a file that is not UTF-8, not CSV, or has a row that is longer or shorter than the header.
    """
    rows = _rows(file, separator, skip, torn)
    top = next(rows, [])
    if not top:
        raise InvalidInput(f"{file.name} is empty: it needs a header and rows")
    if any("\n" in cell or "\r" in cell for cell in top):
        raise InvalidInput(
            f"the header of {file.name} has a line break in a name: is a quotation mark there that is never closed?"
        )
    yield 0, top
    short = None
    for number, cells in enumerate(rows, start=1):
        if short is not None:
            raise _uneven(file, number - 1, short, len(top))
        if len(cells) == len(top):
            yield number, cells
        elif torn and len(cells) < len(top):
            short = cells
        else:
            raise _uneven(file, number, cells, len(top))


def _rows(file: File, separator: str, skip: int, torn: bool) -> Iterator[list[str]]:
    with file.stream() as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")
        try:
            for _ in range(skip):
                text.readline()
            for cells in csv.reader(text, delimiter=separator, strict=True):
                if len(cells) > 1 or any(map(str.strip, cells)):
                    yield [cell.strip() for cell in cells]
        except UnicodeDecodeError as error:
            raise InvalidInput(
                f"{file.name} is not UTF-8 ({error.reason}): save it as UTF-8, or convert it: iconv -f latin1 -t utf-8"
            ) from None
        except csv.Error as error:
            if not (torn and "unexpected end" in str(error)):
                raise InvalidInput(
                    f"{file.name} cannot be read as CSV ({error}): is a quotation mark never closed?"
                ) from None
        finally:
            # The stream closes the file, not this wrapper.
            text.detach()


def number(text: str, file: File, row: int, column: str) -> float:
    """Return the number in a cell.

    Raises
    ------
    InvalidInput
        For anything else.
    """
    try:
        return strict_float(text)
    except ValueError:
        raise InvalidInput(
            f"row {row} of {file.name} has {text!r} in column {column!r}, which is not a number: write numbers with a "
            "decimal point, as in -12.5 or 1e3, and nan where there is none"
        ) from None


def strict_float(text: str) -> float:
    """Return a number in the notation of files: without Python's "1_000", and only with the digits 0 to 9.

    Raises
    ------
    ValueError
        For anything else.
    """
    if "_" in text or not text.isascii():
        raise ValueError(text)
    return float(text)


def _uneven(file: File, row: int, cells: list[str], width: int) -> InvalidInput:
    return InvalidInput(
        f"row {row} of {file.name} has {len(cells)} cells and the header {width}: is the file complete? Put names with "
        "separators in quotation marks, and write numbers with a decimal point"
    )
