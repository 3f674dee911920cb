"""W&B's files of a run, ``run-ID.wandb``, offline or not.

They are LevelDB logs: blocks of 32 KiB, with whole or split records, each piece with its CRC-32. Files with the same
run ID are one resumed run, in order of their folders, whose names begin with the time. The last record of a file may be
incomplete, for example after a crash; any other damage is refused.
"""

import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from struct import unpack_from
from typing import Any

import numpy as np

from untuned.adapters.score_files.opening import File
from untuned.adapters.score_files.reader import Reader, Recognised, chosen_metric
from untuned.adapters.score_files.readers import protobuf as pb
from untuned.adapters.score_files.readers.names import RETURNS, counted, distinct, named, rows
from untuned.adapters.score_files.readers.parsing import maybe_number, number, parsed
from untuned.adapters.score_files.readers.splicing import Piece, spliced
from untuned.adapters.score_files.reading import Reading
from untuned.errors import InvalidInput

_MAGIC = b":W&B\xe1\xbe"
_BLOCK, _HEADER = 32_768, 7
_FULL, _FIRST, _MIDDLE, _LAST = 1, 2, 3, 4
#: Fields of a record.
_HISTORY, _CONFIG, _RUN, _EXIT = 2, 5, 17, 18


@dataclass
class _Log:
    """A file's data on a run: its settings, the undecoded rows of its history, and how it ended."""

    file: File
    id: str = ""
    config: dict[str, Any] = field(default_factory=dict)
    history: list[bytes] = field(default_factory=list)
    exit_code: int | None = None


def _claims(file: File) -> bool:
    return file.suffix == ".wandb"


def _read(files: Sequence[File], asked: Reading) -> Recognised:
    runs: dict[str, list[_Log]] = {}
    for file in sorted(files, key=lambda each: each.below):
        log = _log(file)
        runs.setdefault(log.id or file.below, []).append(log)
    metric: str | None = None
    parts, resumed, failed, unfinished = [], 0, 0, 0
    for name, logs in runs.items():
        place = logs[0].file.name
        if metric is None:
            metric = chosen_metric(_all_keys(logs), asked.metric, RETURNS, place)
        step, score, again = spliced([_curve(log, metric, asked.step) for log in logs])
        if not score.size:
            raise InvalidInput(_without(place, metric, _all_keys(logs)))
        settings = {key: value for log in logs for key, value in log.config.items()}
        names = named(settings, asked, place)
        if names["run"] is None and asked.pattern is None:
            names["run"] = name
        crashed = logs[-1].exit_code not in (None, 0)
        resumed, failed, unfinished = resumed + again, failed + crashed, unfinished + (logs[-1].exit_code is None)
        flags = np.full(score.size, crashed)
        parts.append(rows(place, names, score, step=step, failed=flags, path=logs[0].file.below))
    detail = [
        f"metric {metric}",
        f"{counted(resumed, 'run was', 'runs were')} resumed" if resumed else "",
        f"{counted(failed, 'run', 'runs')} failed, with what {'it' if failed == 1 else 'they'} logged"
        if failed
        else "",
        f"{counted(unfinished, 'run has', 'runs have')} no end yet" if unfinished else "",
    ]
    return Recognised(distinct(parts, list(runs)), "; ".join(filter(None, detail)))


def _without(place: str, metric: str, keys: Sequence[str]) -> str:
    has = f"it has {', '.join(keys[:12])}" if keys else "it logged no numbers at all"
    return (
        f"the run {place} has no metric {metric!r}: {has}. Choose a metric that every run has with --metric NAME. If "
        "the run ended before its first value, it is a failed trial: enter a score for it in a table of scores, or "
        "remove it and say so where you report results"
    )


def _log(file: File) -> _Log:
    log = _Log(file)
    for offset, record in _records(file):
        try:
            for number_, _, value in pb.fields(record):
                if number_ == _HISTORY:
                    log.history.append(pb.message(value))
                elif number_ == _CONFIG:
                    _configure(log, pb.message(value))
                elif number_ == _RUN:
                    _begin(log, pb.message(value))
                elif number_ == _EXIT:
                    codes = [pb.integer(code) for inner, _, code in pb.fields(pb.message(value)) if inner == 1]
                    log.exit_code = codes[-1] if codes else 0
        except pb.Malformed as error:
            raise InvalidInput(
                f"the record at byte {offset:,} of {file.name} is not one of W&B ({error}): is it a file of wandb?"
            ) from None
    return log


def _begin(log: _Log, run: bytes) -> None:
    for inner, _, value in pb.fields(run):
        if inner == 1:
            log.id = pb.text(value)
        elif inner == 4:
            _configure(log, pb.message(value))


def _configure(log: _Log, config: bytes) -> None:
    """Add settings to the log's; nested ones have names with dots."""
    for number_, _, update in pb.fields(config):
        if number_ == 1:
            key, text = _item(pb.message(update))
            log.config[key] = parsed(text, f"the setting {key} of {log.file.name}") if isinstance(text, str) else text


def _item(item: bytes) -> tuple[str, str | float | None]:
    """Return the name of an item and its value, as JSON text or as a number; None if it is neither."""
    key, nested = "", list[str]()
    value: str | float | None = None
    for number_, _, part in pb.fields(item):
        if number_ == 1:
            key = pb.text(part)
        elif number_ == 2:
            nested.append(pb.text(part))
        elif number_ == 5:
            value = float(pb.zigzag(pb.integer(part)))
        elif number_ == 6:
            value = pb.real(part)
        elif number_ in (8, 16):
            value = pb.text(part)
    return key or ".".join(nested), value


def _all_keys(logs: Sequence[_Log]) -> list[str]:
    return list(dict.fromkeys(key for log in logs for key in _keys(log)))


def _keys(log: _Log) -> list[str]:
    """Return the names of all series of numbers; those that begin with ``_`` are W&B's own."""
    found = dict[str, bool]()
    for row in log.history:
        for key, value in _items(log, row).items():
            if key not in found:
                # The first value decides: text, images and histograms are not series of numbers.
                found[key] = not key.startswith("_") and maybe_number(_value(value, log, key)) is not None
    return [key for key, numbers in found.items() if numbers]


def _curve(log: _Log, metric: str, step: str | None) -> Piece:
    """Return the steps and values of a series: the agent's own steps where they are logged in the same row."""
    steps, values = list[float](), list[float]()
    where = f"{metric!r} of {log.file.name}"
    counters = [step] if step else ["global_step", "_step"]
    # The parts of a nested name are encoded separately. Items without any of these bytes need not be decoded.
    needles = [name.rpartition(".")[2].encode() for name in (metric, *counters)]
    wanted = re.compile(b"|".join(map(re.escape, needles)))
    for row in log.history:
        items = _items(log, row, wanted) if needles[0] in row else {}
        if metric not in items:
            continue
        at = next((key for key in counters if key in items), None)
        if at is None:
            raise InvalidInput(
                f"{where} is logged without {step or 'a step'!r}: name what counts steps with --step NAME"
            )
        steps.append(number(_value(items[at], log, at), f"the step {at!r} of {where}"))
        values.append(number(_value(items[metric], log, metric), where))
    return np.array(steps, dtype=np.float64), np.array(values, dtype=np.float64)


def _items(log: _Log, row: bytes, wanted: re.Pattern[bytes] | None = None) -> dict[str, str | float | None]:
    """Return the items of a row of the history, or those that contain some bytes."""
    items: dict[str, str | float | None] = {}
    try:
        for number_, _, value in pb.fields(row):
            if number_ == 1:
                item = pb.message(value)
                if wanted is None or wanted.search(item):
                    key, content = _item(item)
                    items[key] = content
            elif number_ == 2:
                own = [pb.integer(step) for inner, _, step in pb.fields(pb.message(value)) if inner == 1]
                items.setdefault("_step", float(pb.signed(own[-1])) if own else 0.0)
    except pb.Malformed as error:
        raise InvalidInput(f"a row of the history in {log.file.name} is not one of W&B ({error})") from None
    return items


def _value(value: str | float | None, log: _Log, key: str) -> object:
    return parsed(value, f"{key!r} of {log.file.name}") if isinstance(value, str) else value


def _records(file: File) -> Iterator[tuple[int, bytes]]:
    """Yield the byte position and the content of every record."""
    data = file.content()
    if not data.startswith(_MAGIC) or len(data) < _HEADER or data[6] != 0:
        raise InvalidInput(
            f"{file.name} does not begin as files of wandb do (version 0): read the history with wandb's API, and "
            "write it as CSV"
        )
    pieces: list[bytes] = []
    position = begin = _HEADER
    while position < len(data):
        if _block_end(position) - position < _HEADER:
            if any(data[position : _block_end(position)]):
                raise _damaged(file, position)
            position = _block_end(position)
            continue
        piece = _piece(data, position)
        if piece is None:
            # Checksums do not cover lengths. If whole records follow, the file was not merely truncated.
            if not _cut(data, position) or any(_piece(data, each) for each in range(position + 1, len(data))):
                raise _damaged(file, position)
            return
        kind = data[position + 6]
        if (kind in (_FULL, _FIRST)) == bool(pieces):
            raise _damaged(file, position)
        begin = begin if pieces else position
        pieces.append(piece)
        if kind in (_FULL, _LAST):
            yield begin, b"".join(pieces)
            pieces = []
        position += _HEADER + len(piece)


def _piece(data: bytes, position: int) -> bytes | None:
    """Return the content of the piece at a position; None if there is no valid one."""
    if position + _HEADER > len(data):
        return None
    checksum, length, kind = unpack_from("<IHB", data, position)
    end = position + _HEADER + length
    if not _FULL <= kind <= _LAST or end > min(len(data), _block_end(position)):
        return None
    piece = data[position + _HEADER : end]
    return piece if zlib.crc32(piece, zlib.crc32(bytes([kind]))) == checksum else None


def _cut(data: bytes, position: int) -> bool:
    """Return whether the piece at a position would end, within its block, after the end of the file."""
    if position + _HEADER > len(data):
        return True
    end = position + _HEADER + int(unpack_from("<H", data, position + 4)[0])
    return len(data) < end <= _block_end(position)


def _block_end(position: int) -> int:
    return (position // _BLOCK + 1) * _BLOCK


def _damaged(file: File, position: int) -> InvalidInput:
    return InvalidInput(
        f"the record at byte {position:,} of {file.name} is damaged: its checksum is wrong, or it does not follow what "
        "is before it. Copy the file again from where it was written"
    )


READER = Reader(name="wandb", title="W&B run file", claims=_claims, read=_read)
