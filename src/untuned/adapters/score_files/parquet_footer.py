"""Checking the footer of a Parquet file before a library trusts it.

A library allocates memory for the declared number of values, 2**58 for example, and the process ends without a message;
if 8 rows are declared instead of 10, it returns 8. The footer has these numbers several times, so errors show.
"""

from collections.abc import Mapping
from typing import Any

from untuned.adapters.score_files.opening import File

#: Longer footers, of very many columns or row groups, are not checked.
_LONGEST = 1 << 20
_MAGIC = b"PAR1"
#: The numbers of fields in Parquet's definition, by structure.
_ROWS, _GROUPS = 3, 4
_COLUMNS, _GROUP_ROWS = 1, 3
_ABOUT_COLUMN = 3
_PATH, _VALUES, _PACKED, _FIRST_PAGE = 3, 5, 7, 9


def contradiction(file: File) -> str | None:
    """Return the error in the footer of a file, as text; None if there is none, or if it cannot be checked."""
    with file.stream() as stream:
        stream.seek(0, 2)
        size = stream.tell()
        if size < 12:
            return "it is too short"
        stream.seek(size - 8)
        ending = stream.read(8)
        length = int.from_bytes(ending[:4], "little")
        if ending[4:] != _MAGIC:
            return "its end is missing"
        if length > size - 12:
            return "its end does not fit into it"
        if length > _LONGEST:
            return None
        stream.seek(size - 8 - length)
        data = stream.read(length)
    try:
        return _compared(_Compact(data).structure(), size)
    except (IndexError, KeyError, TypeError, AttributeError, RecursionError, ValueError):
        return "its end cannot be read"


def _compared(about: Mapping[int, Any], size: int) -> str | None:
    """Return which numbers contradict one another."""
    groups = about[_GROUPS]
    if sum(group[_GROUP_ROWS] for group in groups) != about[_ROWS]:
        return "its groups have other numbers of rows than the file"
    for group in groups:
        for chunk in group[_COLUMNS]:
            column = chunk[_ABOUT_COLUMN]
            # A column of lists has more values than rows, or fewer.
            if len(column[_PATH]) == 1 and column[_VALUES] != group[_GROUP_ROWS]:
                return "its columns have other numbers of values than rows"
            begin, packed = column[_FIRST_PAGE], column[_PACKED]
            if begin < 0 or packed < 0 or column[_VALUES] < 0 or begin > size or packed > size:
                return "a column is outside of it"
    return None


class _Compact:
    """The part of Thrift's compact protocol that the footer of a Parquet file uses."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def structure(self) -> dict[int, Any]:
        """Return the fields of a structure by their numbers."""
        fields: dict[int, Any] = {}
        number = 0
        while (head := self._byte()) != 0:
            number = number + (head >> 4) if head >> 4 else self._signed()
            kind = head & 15
            fields[number] = kind == 1 if kind in (1, 2) else self._value(kind)
        return fields

    def _value(self, kind: int) -> Any:
        if kind in (1, 2, 3):
            return self._byte()
        if kind in (4, 5, 6):
            return self._signed()
        if kind == 7:
            return self._bytes(8)
        if kind == 8:
            return self._bytes(self._unsigned())
        if kind in (9, 10):
            head = self._byte()
            count = head >> 4 if head >> 4 < 15 else self._unsigned()
            if count > len(self._data):
                raise ValueError
            return [self._value(head & 15) for _ in range(count)]
        if kind == 12:
            return self.structure()
        raise ValueError(kind)

    def _byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1]

    def _bytes(self, count: int) -> bytes:
        if count > len(self._data) - self._at:
            raise ValueError
        self._at += count
        return self._data[self._at - count : self._at]

    def _unsigned(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
            if shift > 63:
                raise ValueError

    def _signed(self) -> int:
        value = self._unsigned()
        return (value >> 1) ^ -(value & 1)
