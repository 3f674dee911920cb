"""Decoding protocol buffers: fields by number, without message descriptions or the protobuf library."""

from collections.abc import Iterator
from struct import unpack

#: Wire types of fields.
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5

Field = tuple[int, int, int | bytes]


class Malformed(Exception):
    """Bytes that are not a message."""


def fields(data: bytes) -> Iterator[Field]:
    """Yield the number, the kind and the value of every field of a message.

    Values are integers for varints, bytes for everything else.

    Raises
    ------
    Malformed
        For truncated data, and for unknown wire types.
    """
    position, size = 0, len(data)
    while position < size:
        # Most varints have one byte, and a call costs more than the rest of this loop.
        key = data[position]
        position += 1
        if key > 127:
            key, position = varint(data, position - 1)
        kind = key & 7
        if kind == VARINT:
            value, position = varint(data, position)
            yield key >> 3, kind, value
            continue
        if kind == BYTES:
            length, position = varint(data, position)
        elif kind == FIXED64:
            length = 8
        elif kind == FIXED32:
            length = 4
        else:
            raise Malformed(f"kind {kind} of field {key >> 3}")
        end = position + length
        if end > size:
            raise Malformed(f"field {key >> 3} ends too early")
        yield key >> 3, kind, data[position:end]
        position = end


def varint(data: bytes, position: int) -> tuple[int, int]:
    """Return the unsigned integer at a position, and the position after it."""
    value = shift = 0
    while shift < 70:
        if position >= len(data):
            raise Malformed("a number ends too early")
        byte = data[position]
        position += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value & 0xFFFF_FFFF_FFFF_FFFF, position
        shift += 7
    raise Malformed("a number has more than ten bytes")


def signed(value: int) -> int:
    """Return the ``int64`` that a varint stands for."""
    return value - (1 << 64) if value >> 63 else value


def zigzag(value: int) -> int:
    """Return the ``sint64`` that a varint stands for."""
    return (value >> 1) ^ -(value & 1)


def text(value: int | bytes) -> str:
    """Return a field of text."""
    try:
        return message(value).decode()
    except UnicodeDecodeError:
        raise Malformed("text that is not UTF-8") from None


def message(value: int | bytes) -> bytes:
    """Return a field that is a message, or bytes."""
    if isinstance(value, int):
        raise Malformed("a number where bytes belong")
    return value


def integer(value: int | bytes) -> int:
    """Return a field that is a varint."""
    if not isinstance(value, int):
        raise Malformed("bytes where a number belongs")
    return value


def real(value: int | bytes) -> float:
    """Return a field that is a ``float`` or a ``double``."""
    data = message(value)
    if len(data) not in (4, 8):
        raise Malformed("a number that has neither 4 nor 8 bytes")
    number: float = unpack("<f" if len(data) == 4 else "<d", data)[0]
    return number
