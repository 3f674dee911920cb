"""Tables of separated values, read character by character: slow, and strict.

A field is quoted, with quotation marks inside written twice, or has no quotation mark at all. Every line is a record. A
record with more fields than the header is refused; one with fewer lacks the last ones.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import nan

#: An empty field in quotation marks: a line with one is not an empty line.
QUOTED = "\0"


class Malformed(Exception):
    """The bytes are not a table."""


@dataclass(frozen=True)
class Read:
    """A row: its number as the user counts, its names by position, its numbers by position."""

    number: int
    names: tuple[str, ...]
    numbers: tuple[float, ...]


def characters(data: bytes) -> str:
    """Return the text, with line feeds at the ends of lines; a carriage return elsewhere stays."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise Malformed("not UTF-8") from None
    text = text.removeprefix("\ufeff")
    if "\0" in text:
        raise Malformed("a null character")
    return text if "\n" in text else text.replace("\r", "\n")


def records(text: str, separator: str) -> list[list[str]]:
    """Return the fields of every record."""
    found: list[list[str]] = []
    fields: list[str] = []
    at = 0
    while at < len(text) or fields:
        field, at = _quoted(text, at + 1) if text[at : at + 1] == '"' else _bare(text, at, separator)
        fields.append(field)
        if text[at : at + 1] == separator:
            at += 1
            continue
        if text[at : at + 2] == "\r\n":
            at += 2
        elif text[at : at + 1] == "\n" or at == len(text):
            at += 1
        elif text[at:].strip("\r") == "":
            at = len(text)  # Carriage returns at the very end.
        else:
            raise Malformed(f"{text[at]!r} at {at}")
        found.append(fields)
        fields = []
    return found


def _quoted(text: str, at: int) -> tuple[str, int]:
    """Return a quoted field whose text begins here, and where it has ended."""
    field = ""
    while at < len(text):
        if text[at : at + 2] == '""':
            field += '"'
            at += 2
        elif text[at] == '"':
            return field or QUOTED, at + 1
        else:
            field += text[at]
            at += 1
    raise Malformed("a quotation mark is never closed")


def _bare(text: str, at: int, separator: str) -> tuple[str, int]:
    begin = at
    while at < len(text) and text[at] not in f'\r\n"{separator}':
        at += 1
    return text[begin:at], at


def number(text: str) -> float:
    """Return the number that is written; NaN for nothing."""
    text = text.strip(_SPACES)
    if text in ("", QUOTED):
        return nan
    if re.fullmatch(_NUMBER, text, re.IGNORECASE | re.ASCII):
        return float(text)
    raise Malformed(f"{text!r} is not a number")


_NUMBER = r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[-+]?[0-9]+)?|[-+]?(inf|infinity|nan)"

#: What Unicode calls white space.
_SPACES = "\t\n\x0b\x0c\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))


def rows(
    data: bytes, separators: str, positions: Callable[[Sequence[str]], tuple[Sequence[int], Sequence[int]] | None]
) -> list[Read]:
    """Return all rows of a table.

    Parameters
    ----------
    data
        The file.
    separators
        The signs that may separate fields.
    positions
        Returns the positions of names and of numbers for a header; None where it lacks some.
    """
    text = characters(data)
    before, _, last = text.rpartition("\n")
    if not last.strip(" \t\r"):
        text = before + "\n"  # Spaces after the last line.
    usable = []
    for separator in separators:
        try:
            found = records(text, separator)
        except Malformed:
            continue
        while found and not "".join(found[0]).strip(" \t"):
            del found[0]
        chosen = positions([name.replace(QUOTED, "") for name in found[0]]) if found else None
        if chosen is not None:
            usable.append((found, chosen))
    if len(usable) != 1:
        raise Malformed("no header, or several")
    (header, *rest), (named, numbered) = usable[0]
    read = []
    for count, fields in enumerate(rest, start=1):
        if len(fields) > len(header):
            raise Malformed("too many fields")
        if not any(fields):
            continue
        full = fields + [""] * (len(header) - len(fields))
        names = tuple(full[each] for each in named)
        if not all(name.strip().strip(QUOTED) for name in names):
            raise Malformed("an empty name")
        read.append(Read(count, names, tuple(number(full[each]) for each in numbered)))
    if not read:
        raise Malformed("no rows")
    return read
