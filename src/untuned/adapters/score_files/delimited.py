"""CSV and TSV in long form, read in pieces: strictly, so that a stray quotation mark cannot change a number silently.

A field is either quoted, with quotation marks inside doubled, or has no quotation mark. Every line is a row, and the
number of rows read is checked against the number of lines.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import IO, TYPE_CHECKING

import numpy as np

from untuned.adapters.score_files.column_names import USUAL, Chosen, chosen_columns, plain, shown, wanted_columns
from untuned.adapters.score_files.columns import Columns
from untuned.adapters.score_files.opening import File
from untuned.adapters.score_files.reader import Reader, Recognised
from untuned.adapters.score_files.reading import Reading
from untuned.adapters.score_files.rows import Rows
from untuned.errors import InvalidInput

if TYPE_CHECKING:
    import polars

#: Number of bytes read at a time, and the longest record.
PIECE = 16 << 20
#: Number of unread columns that are examined.
_LOOKED_AT = 50
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_GZIP = b"\x1f\x8b"


def separators(file: File) -> str:
    """Return the possible separators of fields, by the file's suffix."""
    return "\t" if file.suffix == ".tsv" else ",;\t"


@dataclass(frozen=True)
class _Piece:
    """Complete records, each ending in a line feed, the number of their first line, and their number of lines."""

    data: bytes
    line: int
    lines: int


class Delimited:
    """A file of separated values: its header, and its records in pieces.

    Parameters
    ----------
    file
        The file.
    separator
        The separator; None for the one with which the header has most of the usual columns.
    asked
        The columns that the user named, which help to recognise the separator.
    """

    def __init__(self, file: File, separator: str | None = None, asked: Reading | None = None) -> None:
        self.file = file
        opening = _opening(file)
        # Single carriage returns once ended lines, and some programs still write them.
        self._old = b"\r" in opening and b"\n" not in opening
        opening = opening.replace(b"\r", b"\n") if self._old else opening
        choices = {each: _fields(opening, each) for each in ([separator] if separator else separators(file))}
        names = {*wanted_columns(asked or Reading()).values()}
        self.separator = max(choices, key=lambda each: (_familiar(choices[each][0], names), len(choices[each][0])))
        self.header, self.first_row = choices[self.separator]

    @cached_property
    def _field(self) -> bytes:
        separator = re.escape(self.separator.encode())
        return rb'(?:"(?:[^"]++|"")*+"|[^"\r\n' + separator + rb"]*+)"

    @cached_property
    def _record(self) -> re.Pattern[bytes]:
        return re.compile(self._field + rb"(?:" + re.escape(self.separator.encode()) + self._field + rb")*+")

    @cached_property
    def _records(self) -> re.Pattern[bytes]:
        return re.compile(rb"(?:" + self._record.pattern + rb"\r?\n)*+")

    def pieces(self) -> Iterator[_Piece]:
        """Yield all records after the header, in pieces."""
        with self.file.stream() as stream:
            rest, line, begun = b"", 1, False
            for data in _read(stream, PIECE):
                rest += data.replace(b"\r", b"\n") if self._old else data
                end = self._end(rest)
                piece, rest = rest[:end], rest[end:]
                lines = _lines(piece)
                if len(rest) > PIECE:
                    self._refuse(rest, line + lines)
                if piece:
                    _check_text(self.file.name, piece, line)
                    if begun:
                        yield _Piece(piece, line, lines)
                    elif _begin(piece, self.separator) < len(piece):
                        yield self._without_header(piece, line)
                        begun = True
                line += lines
            if rest.strip(b"\r\n \t"):
                last = rest.rstrip(b"\r") + b"\n"
                if self._end(last) != len(last):
                    self._refuse(last, line)
                _check_text(self.file.name, last, line)
                yield _Piece(last, line, _lines(last)) if begun else self._without_header(last, line)

    def _end(self, data: bytes) -> int:
        """Return the end of the last complete record."""
        if b'"' not in data and (b"\r" not in data or data.count(b"\r") == data.count(b"\r\n")):
            return data.rfind(b"\n") + 1
        found = self._records.match(data)
        assert found is not None
        return found.end()

    def _without_header(self, data: bytes, line: int) -> _Piece:
        record = self._record.match(data, _begin(data, self.separator))
        assert record is not None
        end = data.index(b"\n", record.end()) + 1
        return _Piece(data[end:], line + data.count(b"\n", 0, end), _lines(data[end:]))

    def _refuse(self, data: bytes, line: int) -> None:
        """Raise for data that does not begin with a complete record."""
        found = self._record.match(data)
        at = 0 if found is None else found.end()
        number = line + data.count(b"\n", 0, at)
        if data[at : at + 1] == b"\r":
            raise InvalidInput(
                f"line {number} of {self.file.name} has a carriage return that does not end it: put names with line "
                "breaks in quotation marks, and end all lines alike"
            )
        if at == len(data):
            raise InvalidInput(
                f"line {number} of {self.file.name} has more than {PIECE >> 20} MB: it is not a table with one row per "
                "trial"
            )
        raise InvalidInput(
            f"line {number} of {self.file.name} cannot be read as CSV: a quotation mark is never closed, or inside a "
            'name. Put such a name in quotation marks and write those inside twice: "5"" disk"'
        )

    def frames(self) -> Iterator[tuple["polars.DataFrame", int]]:
        """Yield the rows as text in data frames, with columns ``"0"``, ``"1"``, ..., and the number of the first row.

        Raises
        ------
        InvalidInput
            For a line with more fields than the header.
        """
        import polars

        names = ",".join(map(str, range(len(self.header)))).replace(",", self.separator).encode()
        row = 1
        for piece in self.pieces():
            try:
                # All columns: otherwise polars accepts lines with too many fields. As text: a type inferred from the
                # first rows may not fit the last, and text can be shown in a message.
                frame = polars.read_csv(names + b"\n" + piece.data, separator=self.separator, infer_schema=False)
            except polars.exceptions.PolarsError as error:
                raise InvalidInput(self._about_malformed(piece, row, error)) from None
            lines = piece.lines if b'"' not in piece.data else self._count(piece.data)
            if frame.height != lines and len(self.header) > 1:
                raise InvalidInput(
                    f"{self.file.name} cannot be read as CSV: {lines:,} lines from line {piece.line} on gave "
                    f"{frame.height:,} rows. Put names with line breaks in quotation marks"
                )
            yield frame, row
            row += frame.height

    def _count(self, data: bytes) -> int:
        """Return the number of records: of line feeds outside quotation marks."""
        return re.sub(rb'"[^"]*"', b"", data).count(b"\n")

    def _about_malformed(self, piece: _Piece, row: int, error: Exception) -> str:
        width = len(self.header)
        for number, record in enumerate(_records(piece.data, self.separator), start=row):
            if len(record) > width:
                return (
                    f"row {number} of {self.file.name} has {len(record)} fields and the header {width}: "
                    f"{shown(self.separator.join(record))}. Put names with {self.separator!r} in them in "
                    "quotation marks, and write numbers with a decimal point"
                )
        return f"{self.file.name} cannot be read as CSV: {str(error).partition(chr(10))[0]}"


def read_delimited(file: File, asked: Reading, *, of_several: bool = False) -> Iterator[Rows]:
    """Yield the rows of a file in long form, in pieces.

    If it is one of several files, or the user gives a pattern, its path may supply missing columns.
    """
    import polars

    table = Delimited(file, asked=asked)
    by_path = of_several or asked.pattern is not None
    chosen = chosen_columns(table.header, asked, file.name, lambda: table.first_row, named_by_path=by_path)
    empty = True
    for frame, row in table.frames():
        kept = frame.select([str(each) for each in chosen.positions])
        numbers = blank = None
        if kept.to_series(0).null_count():
            # Empty lines are not trials.
            blank = frame.select(polars.all_horizontal(polars.all().is_null())).to_series()
            numbers = np.flatnonzero(~blank.to_numpy()) + row
            kept = kept.filter(~blank)
        if kept.height:
            empty = False
            values = {each: kept[str(each)] for each in chosen.positions}
            unread = {} if blank is not None or not chosen.anonymous else _unread(table.header, chosen, frame)
            yield Columns(file.name, table.header, chosen, values, file.below, row, numbers, unread).rows()
    if empty:
        raise no_rows(file.name)


def _unread(header: Sequence[str], chosen: Chosen, frame: "polars.DataFrame") -> dict[str, "polars.Series"]:
    """Return the first of the unread columns: there may be very many."""
    others = [each for each in range(len(header)) if each not in chosen.positions]
    return {header[each]: frame[str(each)] for each in others[:_LOOKED_AT]}


def no_rows(where: str) -> InvalidInput:
    """Return the error of a table without rows."""
    return InvalidInput(
        f"{where} has columns and no rows: give one row per trial, with algorithm, environment and score of it"
    )


def _familiar(header: Sequence[str], names: set[str]) -> int:
    """Return how many of the names in a header are known: the user's, and usual ones."""
    usual = {name for each in USUAL.values() for name in each}
    return sum(name in names or plain(name) in usual for name in header)


def _opening(file: File) -> bytes:
    """Return the beginning of a file, its header and first row, after checking its encoding."""
    with file.stream() as stream:
        data = next(_read(stream, 1 << 20), b"")
    if len(data) > 1 << 19 and b"\n" not in data.lstrip() and b"\r" not in data.lstrip():
        # A header with very many columns.
        with file.stream() as stream:
            data = next(_read(stream, PIECE), b"")
    if data.startswith(_UTF_16):
        raise InvalidInput(f"{file.name} is UTF-16: save it as UTF-8")
    if not data.strip():
        raise InvalidInput(
            f"{file.name} is empty: it needs the columns algorithm, environment, score, one row per trial"
        )
    if data.startswith(_GZIP):
        raise InvalidInput(
            f"{file.name} is packed with gzip{' twice' if file.path.name.lower().endswith('.gz') else ''}: unpack it "
            "(gunzip), or let its name end in .csv.gz"
        )
    if b"\0" in data:
        raise InvalidInput(f"{file.name} is not text: save it as CSV in UTF-8, or name the right file")
    return data


def _begin(data: bytes, separator: str) -> int:
    """Return the start of the header, after empty lines."""
    found = re.match(rb"(?:[ \t" + re.escape(separator.encode()) + rb"]*\r?\n)*", data)
    return 0 if found is None else found.end()


def _fields(data: bytes, separator: str) -> tuple[list[str], list[str]]:
    """Return the header, and the first row or an empty list.

    Malformed records are truncated here: reading them later will raise.
    """
    data = data[_begin(data, separator) :]
    records = _records(data, separator)
    plain_line = data.partition(b"\n")[0].decode("utf-8", errors="replace").split(separator)
    return next(records, plain_line), next((each for each in records if any(each)), [])


@cache
def _field(separator: str) -> re.Pattern[bytes]:
    """Return a pattern for a field and its end: a separator, the end of a line, or the end of the data."""
    sign = re.escape(separator.encode())
    return re.compile(rb'(?:"((?:[^"]++|"")*+)"|([^"\r\n' + sign + rb"]*+))(" + sign + rb"|\r?\n|\Z)")


def _records(data: bytes, separator: str) -> Iterator[list[str]]:
    """Yield the fields of every record, up to a malformed one."""
    field, record, at = _field(separator), list[str](), 0
    while at < len(data) or record:
        found = field.match(data, at)
        if found is None:
            return
        quoted, bare, end = found.groups()
        value = bare if quoted is None else quoted.replace(b'""', b'"')
        record.append(value.decode("utf-8", errors="replace"))
        at = found.end()
        if end != separator.encode():
            yield record
            record = []


def _read(stream: IO[bytes], size: int) -> Iterator[bytes]:
    """Yield the content of a stream, without a byte order mark."""
    data = stream.read(size).removeprefix(_BYTE_ORDER_MARK)
    while data:
        yield data
        data = stream.read(size)


def _lines(data: bytes) -> int:
    """Return the number of line feeds; several times faster than `bytes.count`."""
    return int(np.count_nonzero(np.frombuffer(data, dtype=np.uint8) == ord("\n")))


def _check_text(name: str, data: bytes, line: int) -> None:
    if (at := data.find(b"\0")) >= 0:
        line += data.count(b"\n", 0, at)
        raise InvalidInput(f"{name} is not text: line {line} has a zero byte. Save it as CSV in UTF-8")
    try:
        data.isascii() or data.decode("utf-8")
    except UnicodeDecodeError as error:
        line += data.count(b"\n", 0, error.start)
        raise InvalidInput(
            f"{name} is not UTF-8: byte {data[error.start]:#04x} in line {line}. "
            "Save it as UTF-8, or convert it: iconv -f latin1 -t utf-8"
        ) from None


def _claims(file: File) -> bool:
    return file.suffix in (".csv", ".tsv")


def _read_all(files: Sequence[File], asked: Reading) -> Recognised:
    several = len(files) > 1
    return Recognised(rows for file in files for rows in read_delimited(file, asked, of_several=several))


READER = Reader("csv", "CSV file", _claims, _read_all)
