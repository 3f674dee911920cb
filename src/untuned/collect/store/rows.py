"""How a trial becomes a row, and a row a trial: every number exact, everything that repeats apart from what does not.

A row has numbers in binary; what they are called, and of what type they are, is its *shape*, one text that thousands
of rows share. Where a trial came from, its *origin*, is another.
"""

import json
import math
import struct
import zlib
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from untuned.collect.definitions.draw import Drawn
from untuned.collect.environments.checks import checked_size
from untuned.collect.kernels.jit import Floats
from untuned.collect.runner.trial import LARGEST
from untuned.collect.store.trial import StoredTrial
from untuned.errors import InvalidInput

#: Returns are put down byte by byte of all numbers rather than number by number, then compressed at the fastest
#: level: on returns of the paper's environments a fifth of the size, 160 bytes for 100 episodes where compressing
#: them as they are gives 240, in the same 10 to 20 microseconds.
_LEVEL = 1

_CHECKED = struct.Struct("<qddqd?")


class Row(NamedTuple):
    """A trial encoded: nothing in it refers to the store it came from. NaN is None."""

    algorithm: str
    environment: str
    trial: int
    score: float | None
    final_return: float | None
    steps: int
    seconds: float | None
    diverged: bool
    failure: str | None
    origin: str
    shape: str
    numbers: bytes
    checksum: int
    returns: bytes | None

    @property
    def computed_checksum(self) -> int:
        """What the checksum must be; it covers all but the returns, whose compression has one of its own."""
        start = _text_checksum(self.algorithm, self.environment, self.origin, self.shape)
        start = zlib.crc32(
            _CHECKED.pack(
                self.trial,
                _number(self.score),
                _number(self.final_return),
                self.steps,
                _number(self.seconds),
                self.diverged,
            ),
            start,
        )
        return zlib.crc32(self.numbers, zlib.crc32((self.failure or "").encode(), start))


def encode(stored: StoredTrial) -> Row:
    """Return a trial as a row; raises InvalidInput for what no row can hold."""
    if not isinstance(stored, StoredTrial):
        raise InvalidInput(f"{stored!r} is no trial to store: pass StoredTrial.of(result, ...)")
    trial = checked_size("trial", stored.trial, 0, LARGEST)
    try:
        shape, numbers = _encoded_values(stored)
        row = Row(
            algorithm=stored.algorithm,
            environment=stored.environment,
            trial=trial,
            score=_not_nan(stored.score),
            final_return=_not_nan(stored.final_return),
            steps=checked_size("steps", stored.steps, 0, LARGEST),
            seconds=_not_nan(stored.seconds),
            diverged=bool(stored.diverged),
            failure=None if stored.failure is None else str(stored.failure),
            origin=_origin(
                str(stored.precision),
                str(stored.definition_version),
                str(stored.fingerprint),
                str(stored.definition_fingerprint),
                str(stored.environment_fingerprint),
            ),
            shape=shape,
            numbers=numbers,
            checksum=0,
            returns=_encoded_returns(stored.returns, stored.final_returns),
        )
        return row._replace(checksum=row.computed_checksum)
    except (TypeError, ValueError, AttributeError, OverflowError, struct.error) as error:
        raise InvalidInput(f"{stored.label} cannot be stored: {error}") from None


def decode(row: Row, seed: int) -> StoredTrial:
    """Return the trial of a row."""
    precision, version, fingerprint, of_definition, of_environment = _parsed_origin(row.origin)
    layout = _parsed_shape(row.shape)
    fixed = layout.numbers.unpack_from(row.numbers)
    tail = iter(json.loads(row.numbers[layout.numbers.size :]) if "x" in layout.codes else ())
    numbers = iter(fixed)
    values = [next(tail) if code == "x" else next(numbers) for code in layout.codes]
    log_densities = list(numbers)
    drawn = len(layout.draws)
    after = drawn + len(layout.dynamics)
    returns, final_returns = _decoded_returns(row.returns)
    return StoredTrial(
        seed=seed,
        algorithm=row.algorithm,
        environment=row.environment,
        trial=row.trial,
        precision=precision,
        score=_number(row.score),
        final_return=_number(row.final_return),
        steps=row.steps,
        seconds=_number(row.seconds),
        diverged=bool(row.diverged),
        draws=tuple(
            Drawn(name, value, log_density, distribution)
            for (name, distribution), value, log_density in zip(
                layout.draws, values[:drawn], log_densities, strict=True
            )
        ),
        dynamics=dict(zip(layout.dynamics, values[drawn:after], strict=True)),
        adapted=dict(zip(layout.adapted, values[after:], strict=True)),
        failure=row.failure,
        definition_version=version,
        fingerprint=fingerprint,
        definition_fingerprint=of_definition,
        environment_fingerprint=of_environment,
        returns=returns,
        final_returns=final_returns,
    )


def differences(one: Row, other: Row) -> list[str]:
    """Return in which respects two rows of one trial are different results.

    How long it took and how a failure was worded are circumstances, not results; so is the build, whose fingerprint
    matters only if the numbers differ. Returns count where both rows have them.
    """
    names = ("score", "final_return", "steps", "diverged", "shape", "numbers")
    found = [name for name in names if getattr(one, name) != getattr(other, name)]
    found = ["draws" if name in ("shape", "numbers") else name for name in found]
    if (one.failure is None) != (other.failure is None):
        found.append("failure")
    if one.returns is not None and other.returns is not None and one.returns != other.returns:
        found.append("returns")
    # Scores of different versions or precisions are never mixed.
    origins = zip(
        ("precision", "definition_version"), _parsed_origin(one.origin), _parsed_origin(other.origin), strict=False
    )
    found += [name for name, of_one, of_other in origins if of_one != of_other]
    return list(dict.fromkeys(found))


def _not_nan(value: float) -> float | None:
    number = float(value)
    return None if math.isnan(number) else number


def _number(value: float | None) -> float:
    return math.nan if value is None else value


@lru_cache(maxsize=4096)
def _text_checksum(*texts: str) -> int:
    return zlib.crc32(json.dumps(texts).encode())


@lru_cache(maxsize=4096)
def _origin(*texts: str) -> str:
    return json.dumps(texts)


@lru_cache(maxsize=4096)
def _parsed_origin(origin: str) -> tuple[str, str, str, str, str]:
    precision, version, fingerprint, of_definition, of_environment = json.loads(origin)
    return precision, version, fingerprint, of_definition, of_environment


class _Layout(NamedTuple):
    """A shape taken apart; codes are those of `struct`, with x for what goes to a JSON list behind the numbers."""

    draws: tuple[tuple[str, str], ...]
    dynamics: tuple[str, ...]
    adapted: tuple[str, ...]
    codes: str
    numbers: struct.Struct


@lru_cache(maxsize=4096)
def _shape(draws: tuple[tuple[str, str], ...], dynamics: tuple[str, ...], adapted: tuple[str, ...], codes: str) -> str:
    return json.dumps({"draws": draws, "dynamics": dynamics, "adapted": adapted, "codes": codes})


@lru_cache(maxsize=4096)
def _parsed_shape(shape: str) -> _Layout:
    parts = json.loads(shape)
    draws = tuple((name, distribution) for name, distribution in parts["draws"])
    codes: str = parts["codes"]
    numbers = struct.Struct(f"<{codes.replace('x', '')}{'d' * len(draws)}")
    return _Layout(draws, tuple(parts["dynamics"]), tuple(parts["adapted"]), codes, numbers)


_CODES = {float: "d", bool: "?", int: "q"}


def _encoded_values(stored: StoredTrial) -> tuple[str, bytes]:
    """Return the shape of all named values of a trial, and the values."""
    draws = stored.draws
    values: list[Any] = [each.value for each in draws]
    values += stored.dynamics.values()
    values += stored.adapted.values()
    # NumPy's scalars are welcome, but come back as Python's own.
    values = [each.item() if isinstance(each, np.generic) else each for each in values]
    codes = [
        "x" if type(each) is int and not -(2**63) <= each < 2**63 else _CODES.get(type(each), "x") for each in values
    ]
    shape = _shape(
        tuple([(each.name, each.distribution_text) for each in draws]),
        tuple(stored.dynamics),
        tuple(stored.adapted),
        "".join(codes),
    )
    fixed = values if "x" not in codes else [each for each, code in zip(values, codes, strict=True) if code != "x"]
    numbers = _parsed_shape(shape).numbers.pack(*fixed, *[each.log_density for each in draws])
    if len(fixed) < len(values):
        others = [each for each, code in zip(values, codes, strict=True) if code == "x"]
        numbers += json.dumps(others).encode()
    return shape, numbers


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
    return struct.pack("<I", len(both[1])) + zlib.compress(by_byte, _LEVEL)


def _decoded_returns(encoded: bytes | None) -> tuple[Floats, Floats] | tuple[None, None]:
    if encoded is None:
        return None, None
    (final,) = struct.unpack_from("<I", encoded)
    by_byte = np.frombuffer(zlib.decompress(encoded[4:]), dtype=np.uint8)
    both = np.ascontiguousarray(by_byte.reshape(8, by_byte.size // 8).T).view("<f8").ravel().astype(np.float64)
    return both[: both.size - final], both[both.size - final :]
