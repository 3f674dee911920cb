"""Encoding a trial as a row of the store, and decoding it: every number exact, texts that repeat kept apart.

A row has its numbers in binary; their names and types are its *shape*, one text that thousands of rows share. The
fields that describe the build are its *origin*, another such text.
"""

import json
import math
import operator
import struct
import zlib
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from untuned.collect.definitions.draw import Drawn
from untuned.collect.environments.checks import checked_size
from untuned.collect.kernels.jit import Floats
from untuned.collect.trial import COLUMNS, LARGEST, Column, Trial, plain
from untuned.errors import InvalidInput

#: A trial encoded, by column: nothing in it refers to the store it came from. NaN is None.
Row = dict[str, Any]

#: Returns are stored byte by byte of all numbers rather than number by number, then compressed at the fastest level:
#: on returns of the paper's environments a fifth of the size, 160 bytes for 100 episodes where compressing them as they
#: are gives 240, in the same 10 to 20 microseconds.
_LEVEL = 1

#: Compressed returns may grow this much, or by this factor, before they count as a decompression bomb. Equal returns of
#: all episodes are packed a thousandfold: the first is room for twelve million.
_GROWN, _FACTOR, _PIECE = 100_000_000, 250, 1 << 24

#: The columns that hold a field each, those that share the origin, and the mappings of names to numbers.
_SINGLE = tuple(each for each in COLUMNS if each.stored in ("score", "record"))
_ORIGIN = tuple(each.name for each in COLUMNS if each.stored == "origin")
_MAPPINGS = tuple(each.name for each in COLUMNS if each.stored == "mapping")

#: The columns of the two tables, besides their keys.
SCORE_COLUMNS = tuple(each.name for each in COLUMNS if each.stored == "score")
RECORD_COLUMNS = (
    *(each.name for each in COLUMNS if each.stored == "record"),
    *("origin", "shape", "numbers", "checksum", "returns"),
)

#: The columns whose texts are stored once, in a table of their own.
SHARED_TEXTS = ("algorithm", "environment", "origin", "shape")

_CODES: dict[type, str] = {float: "d", bool: "?", int: "q"}

#: What the checksum covers of the first format, and what came later.
_FIRST = tuple(each for each in _SINGLE if each.since == 1)
_PACKED = tuple(each.name for each in _FIRST if each.kind in _CODES)
_PACKING = struct.Struct("<" + "".join(_CODES[each.kind] for each in _FIRST if each.kind in _CODES))
_TEXTS = tuple(each.name for each in _FIRST if each.kind is str and each.stored == "record")
_LATER = tuple(each.name for each in _SINGLE if each.since > 1)
_shared_texts, _packed = operator.itemgetter(*SHARED_TEXTS), operator.itemgetter(*_PACKED)

#: Of the single columns, those that may hold infinite numbers, and others that are stored as another type or left out.
_FLOATS = tuple(each.name for each in _SINGLE if each.kind is float)
_OTHERS = tuple(each for each in _SINGLE if each.kind is bool or (each.kind is not float and each.since > 1))
_ORIGIN_DEFAULTS = {each.name: each.default for each in COLUMNS if each.stored == "origin"}


def missing_columns(version: int) -> frozenset[str]:
    """Return the columns that a store of an older format does not have."""
    return frozenset(each.name for each in _SINGLE if each.since > version)


def checksum(row: Row) -> int:
    """Return the checksum of a row: of everything but the returns, whose compression has its own."""
    found = _text_checksum(*_shared_texts(row))
    numbers = _packed(row)
    if None in numbers:
        numbers = tuple([math.nan if each is None else each for each in numbers])
    found = zlib.crc32(_PACKING.pack(*numbers), found)
    for name in _TEXTS:
        found = found if row[name] is None else zlib.crc32(row[name].encode(), found)
    found = zlib.crc32(row["numbers"], found)
    for name in _LATER:
        # Rows that are older than the column keep the checksum they have.
        if row[name] is not None:
            found = zlib.crc32(json.dumps([name, row[name]]).encode(), found)
    return found


def encode(trial: Trial) -> Row:
    """Return a trial as a row; raises InvalidInput for values that cannot be stored."""
    if not isinstance(trial, Trial):
        raise InvalidInput(f"{trial!r} is not a trial: store what run_trial or train_trial returned")
    try:
        row: Row = {name: encoded(getattr(trial, name)) for name, encoded in _ENCODERS}
        row["origin"] = _origin(*[str(getattr(trial, name)) for name in _ORIGIN])
        row["shape"], row["numbers"] = _encoded_values(trial)
        row["returns"] = _encoded_returns(trial.returns, trial.final_returns)
        row["checksum"] = checksum(row)
    except (TypeError, ValueError, AttributeError, OverflowError, struct.error) as error:
        raise InvalidInput(f"{trial.label} cannot be stored: {error}") from None
    return row


def decode(row: Row, seed: int) -> Trial:
    """Return the trial of a row."""
    fields = {each.name: _decoded(each, row[each.name]) for each in _SINGLE}
    # An origin that is older than a field has no text for it.
    fields.update(zip(_ORIGIN, _parsed_origin(row["origin"]), strict=False))
    fields |= _decoded_values(row["shape"], row["numbers"])
    fields["returns"], fields["final_returns"] = _decoded_returns(row["returns"])
    return Trial(seed=seed, **fields)


def plain_values(row: Row, seed: int) -> dict[str, Any]:
    """Return what `plain` makes of the fields of a row's trial, by name, in a fifth of the time.

    The row's own columns are there as well, and returns only if the row has them.
    """
    found = row | _origin_fields(row["origin"])
    found["seed"] = seed
    for name in _FLOATS:
        if (value := found[name]) is not None and not math.isfinite(value):
            found[name] = None
    for each in _OTHERS:
        found[each.name] = _decoded(each, found[each.name])
    layout = _parsed_shape(row["shape"])
    if "x" in layout.codes:
        found |= {name: plain(value) for name, value in _decoded_values(row["shape"], row["numbers"]).items()}
    else:
        values = [each if math.isfinite(each) else None for each in layout.numbers.unpack_from(row["numbers"])]
        begin = 0
        for name, keys in layout.keys:
            found[name] = dict(zip(keys, values[begin:], strict=False))
            begin += len(keys)
    both = _decoded_returns(row["returns"])
    found["returns"], found["final_returns"] = both if both[0] is None else map(plain, both)
    return found


def _encoded_number(value: Any) -> float | None:
    number = float(value)
    return None if number != number else number


def _encoded_text(value: Any) -> str | None:
    if value is None:
        return None
    text = str(value)
    # Half a surrogate pair becomes its escape: messages on files whose names are not UTF-8 have it.
    return text if text.isascii() else text.encode(errors="backslashreplace").decode()


def _encoded_failure(value: Any) -> str | None:
    text = _encoded_text(value)
    # With a zero byte an exported table would not be text.
    return None if text is None else text.replace("\0", "\\0")


def _encoder(column: Column) -> Callable[[Any], Any]:
    if column.name == "failure":
        return _encoded_failure
    if column.kind is int:
        return lambda value: checked_size(column.name, value, 0, LARGEST)
    of_kind: dict[type, Callable[[Any], Any]] = {float: _encoded_number, bool: bool, str: _encoded_text}
    return of_kind[column.kind]


_ENCODERS = tuple((each.name, _encoder(each)) for each in _SINGLE)


def _decoded(column: Column, value: Any) -> Any:
    if value is None:
        return math.nan if column.kind is float else column.default
    return bool(value) if column.kind is bool else value


@lru_cache(maxsize=4096)
def _text_checksum(*texts: str) -> int:
    return zlib.crc32(json.dumps(texts).encode())


@lru_cache(maxsize=4096)
def _origin(*texts: str) -> str:
    return json.dumps(texts)


@lru_cache(maxsize=4096)
def _parsed_origin(origin: str) -> tuple[str, ...]:
    return tuple(map(str, json.loads(origin)))


@lru_cache(maxsize=4096)
def _origin_fields(origin: str) -> dict[str, str]:
    return _ORIGIN_DEFAULTS | dict(zip(_ORIGIN, _parsed_origin(origin), strict=False))


class _Layout(NamedTuple):
    """A shape taken apart; codes are those of `struct`, with x for what goes to a JSON list behind the numbers."""

    draws: tuple[tuple[str, str], ...]
    mappings: dict[str, tuple[str, ...]]
    keys: tuple[tuple[str, tuple[str, ...]], ...]
    codes: str
    numbers: struct.Struct


@lru_cache(maxsize=4096)
def _shape(draws: tuple[tuple[str, str], ...], names: tuple[tuple[str, ...], ...], codes: str) -> str:
    return json.dumps({"draws": draws, **dict(zip(_MAPPINGS, names, strict=True)), "codes": codes})


@lru_cache(maxsize=4096)
def _parsed_shape(shape: str) -> _Layout:
    parts = json.loads(shape)
    # Names are texts, whatever a stranger's store has.
    draws = tuple((str(name), str(distribution)) for name, distribution in parts["draws"])
    codes: str = parts["codes"]
    if not {*codes} <= {"x", *_CODES.values()}:
        raise ValueError(f"{codes[:20]!r} are no types of numbers")
    numbers = struct.Struct(f"<{codes.replace('x', '')}{'d' * len(draws)}")
    mappings = {name: tuple(map(str, parts.get(name, ()))) for name in _MAPPINGS}
    keys = (("draws", tuple(name for name, _ in draws)), *mappings.items())
    if len(codes) != sum(len(names) for _, names in keys):
        raise ValueError(f"{len(codes)} types of numbers do not belong to as many names")
    return _Layout(draws, mappings, keys, codes, numbers)


def _encoded_values(trial: Trial) -> tuple[str, bytes]:
    """Return the shape of all named values of a trial, and the values."""
    draws = trial.draws
    mappings: list[dict[str, float]] = [getattr(trial, name) for name in _MAPPINGS]
    values: list[Any] = [each.value for each in draws]
    for mapping in mappings:
        values += mapping.values()
    # NumPy's scalars are allowed, and are decoded as Python's own.
    values = [each.item() if isinstance(each, np.generic) else each for each in values]
    codes = [
        "x" if type(each) is int and not -(2**63) <= each < 2**63 else _CODES.get(type(each), "x") for each in values
    ]
    shape = _shape(
        tuple([(each.name, each.distribution_text) for each in draws]),
        tuple([tuple(mapping) for mapping in mappings]),
        "".join(codes),
    )
    fixed = values if "x" not in codes else [each for each, code in zip(values, codes, strict=True) if code != "x"]
    numbers = _parsed_shape(shape).numbers.pack(*fixed, *[each.log_density for each in draws])
    if len(fixed) < len(values):
        others = [_not_deep(each) for each, code in zip(values, codes, strict=True) if code == "x"]
        numbers += json.dumps(others).encode()
    return shape, numbers


def _not_deep(value: Any, levels: int = 50) -> Any:
    """Return a value unless it has so many levels that walking through it may exhaust the stack."""
    if isinstance(value, (list, tuple, dict)):
        if levels == 0:
            raise ValueError("a value has more than 50 levels")
        for inner in value.values() if isinstance(value, dict) else value:
            _not_deep(inner, levels - 1)
    return value


def _decoded_values(shape: str, encoded: bytes) -> dict[str, Any]:
    """Return the draws and the mappings, by field."""
    layout = _parsed_shape(shape)
    numbers = iter(layout.numbers.unpack_from(encoded))
    tail = map(_not_deep, json.loads(encoded[layout.numbers.size :]) if "x" in layout.codes else ())
    values = iter([next(tail) if code == "x" else next(numbers) for code in layout.codes])
    drawn = [next(values) for _ in layout.draws]
    draws = tuple(
        Drawn(name, value, log_density, distribution)
        for (name, distribution), value, log_density in zip(layout.draws, drawn, numbers, strict=True)
    )
    mappings = {field: {name: next(values) for name in names} for field, names in layout.mappings.items()}
    return {"draws": draws, **mappings}


def _encoded_returns(returns: Floats | None, final_returns: Floats | None) -> bytes | None:
    if returns is None and final_returns is None:
        return None
    if returns is None or final_returns is None:
        raise InvalidInput("it has one of returns and final_returns: keep both, or neither")
    both = [np.asarray(each, dtype="<f8") for each in (returns, final_returns)]
    for each in both:
        if each.ndim != 1:
            raise InvalidInput(f"returns have shape {each.shape}: pass one number per episode")
    by_byte = np.concatenate(both).view(np.uint8).reshape(-1, 8).T.tobytes()
    encoded = struct.pack("<I", len(both[1])) + zlib.compress(by_byte, _LEVEL)
    return encoded + struct.pack("<I", zlib.crc32(encoded))


def _decoded_returns(encoded: bytes | None) -> tuple[Floats, Floats] | tuple[None, None]:
    if encoded is None:
        return None, None
    (final,) = struct.unpack_from("<I", encoded)
    unpacking = zlib.decompressobj()
    unpacked = unpacking.decompress(encoded[4:], _PIECE)
    left = max(_GROWN, _FACTOR * len(encoded)) - len(unpacked)
    pieces = [unpacked]
    while not unpacking.eof:
        # Piece by piece, which are not yet joined: zlib needs up to twice the size of what it returns.
        pieces.append(unpacking.decompress(unpacking.unconsumed_tail, _PIECE))
        left -= len(pieces[-1])
        if not pieces[-1] or left < 0:
            raise ValueError("the returns are not complete, or grow beyond all bounds when they are decompressed")
    by_byte = np.frombuffer(b"".join(pieces) if len(pieces) > 1 else unpacked, dtype=np.uint8)
    # Until the third format there was none.
    if unpacking.unused_data and unpacking.unused_data != struct.pack("<I", zlib.crc32(encoded[:-4])):
        raise ValueError("the checksum of the returns is wrong")
    both = np.ascontiguousarray(by_byte.reshape(8, by_byte.size // 8).T).view("<f8").ravel().astype(np.float64)
    if final > both.size:
        raise ValueError("there are fewer returns than episodes")
    return both[: both.size - final], both[both.size - final :]
