"""TensorBoard's event files, as PyTorch, tensorboardX and TensorFlow write them.

All event files of a folder are one run, in order of time. If a later file begins at an earlier step than the end of
the previous ones, the run was resumed from a checkpoint: from that step on the later file counts. The last record of a
file may be incomplete, because a program may still be writing; any other damage is refused.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from struct import unpack

import numpy as np

from untuned.adapters.score_files.opening import File
from untuned.adapters.score_files.reader import Reader, Recognised, chosen_metric
from untuned.adapters.score_files.readers import protobuf as pb
from untuned.adapters.score_files.readers.names import RETURNS, counted
from untuned.adapters.score_files.readers.splicing import Piece, spliced
from untuned.adapters.score_files.reading import Reading
from untuned.adapters.score_files.rows import Rows
from untuned.errors import InvalidInput

#: Types of numeric tensors, by their code: the format of one number.
_TYPES = {1: "<f", 2: "<d", 3: "<i", 9: "<q"}
_HPARAMS = "_hparams_/"

Curve = tuple[list[int], list[float]]


@dataclass(frozen=True)
class _Events:
    """The content of an event file: its start time, and its series by tag."""

    began: float
    curves: Mapping[str, Curve]


def _claims(file: File) -> bool:
    return "tfevents" in file.path.name


def _read(files: Sequence[File], asked: Reading) -> Recognised:
    runs: dict[Path, list[File]] = {}
    for file in files:
        runs.setdefault(file.path.parent, []).append(file)
    tag: str | None = None
    parts, resumed, inner = [], 0, 0
    for folder, members in runs.items():
        # Other tags, which most records have, are not decoded.
        events = [_events(file, tag) for file in members]
        if tag is None:
            tag = chosen_metric(_tags(events), asked.metric, RETURNS, members[0].name, "tag")
        if not any(tag in each.curves for each in events):
            tags = _tags([_events(file, None) for file in members])
            if not _inside(folder, runs, tags):
                raise InvalidInput(_without(members[0], tag, tags))
            inner += 1
            continue
        order = sorted(range(len(members)), key=lambda each: (events[each].began, members[each].name))
        pieces = [_piece(events[each].curves[tag]) for each in order if tag in events[each].curves]
        step, score, again = spliced(pieces)
        resumed += again
        parts.append(Rows(members[0].name, score, step=step, path=members[0].below))
    detail = [f"tag {tag}"]
    if resumed:
        detail.append(f"{counted(resumed, 'run was', 'runs were')} resumed")
    if inner:
        detail.append(f"{counted(inner, 'folder', 'folders')} of hyperparameters or groups of tags left out")
    return Recognised(parts, "; ".join(detail))


def _piece(curve: Curve) -> Piece:
    return np.array(curve[0], dtype=np.float64), np.array(curve[1], dtype=np.float64)


def _tags(events: Sequence[_Events]) -> list[str]:
    found = dict.fromkeys(tag for each in events for tag in each.curves)
    return [tag for tag in found if not tag.startswith(_HPARAMS)]


def _inside(folder: Path, runs: Mapping[Path, object], tags: Sequence[str]) -> bool:
    """Return whether a folder belongs to the run of a folder above it.

    PyTorch's ``add_hparams`` writes into ``RUN/TIME``, and ``add_scalars`` into ``RUN/TAG_NAME``.
    """
    above = next((each for each in folder.parents if each in runs), None)
    if above is None:
        return False
    if re.fullmatch(r"\d{10}(\.\d+)?", folder.name):
        return True
    flat = folder.relative_to(above).as_posix().replace("/", "_")
    return bool(tags) and all(flat.startswith(f"{tag.replace('/', '_')}_") for tag in tags)


def _without(file: File, tag: str, tags: Sequence[str]) -> str:
    has = f"it has {', '.join(tags[:12])}" if tags else "it has no numbers at all"
    return (
        f"the run {file.folder or file.name} has no tag {tag!r}: {has}. Choose a tag that every run has with "
        "--metric NAME. If the run ended before its first value, it is a failed trial: enter a score for it in a table "
        "of scores, or remove it and say so where you report results"
    )


def _events(file: File, only: str | None) -> _Events:
    """Return the series of a file, or only the one with this tag."""
    began, curves = 0.0, dict[str, Curve]()
    needle = None if only is None else only.encode()
    for number, (offset, record) in enumerate(_records(file)):
        if number and needle is not None and needle not in record:
            continue
        try:
            wall, step, values = _event(record)
            for tag, value in values:
                if only is None or tag == only:
                    steps, scores = curves.setdefault(tag, ([], []))
                    steps.append(step)
                    scores.append(value)
        except pb.Malformed as error:
            raise InvalidInput(
                f"the record at byte {offset:,} of {file.name} is not a TensorBoard event ({error}): is it an event "
                "file?"
            ) from None
        began = began if number else wall
    return _Events(began, curves)


def _records(file: File) -> Iterator[tuple[int, bytes]]:
    """Yield the byte position and the content of every record."""
    # The compiler is imported when an event file is read, not when readers are listed.
    from untuned.adapters.score_files.readers.crc32c import BAD_DATA, BAD_LENGTH, TABLE, frames

    data = file.content()
    bounds = np.empty((len(data) // 16 + 1, 2), dtype=np.int64)
    count, end, offset = frames(np.frombuffer(data, dtype=np.uint8), TABLE, bounds)
    if end in (BAD_LENGTH, BAD_DATA):
        raise InvalidInput(
            f"the record at byte {offset:,} of {file.name} is damaged: its checksum is wrong. Copy the file again from "
            "where it was written"
        )
    for start, stop in bounds[:count].tolist():
        yield start - 12, data[start:stop]


def _event(record: bytes) -> tuple[float, int, list[tuple[str, float]]]:
    """Return the time, the step and the numbers of an event."""
    wall, step, values = 0.0, 0, list[tuple[str, float]]()
    for number, _, value in pb.fields(record):
        if number == 1:
            wall = pb.real(value)
        elif number == 2:
            step = pb.signed(pb.integer(value))
        elif number == 5:
            for inner, _, entry in pb.fields(pb.message(value)):
                if inner == 1:
                    scalar = _scalar(pb.message(entry))
                    if scalar is not None:
                        values.append(scalar)
    return wall, step, values


def _scalar(entry: bytes) -> tuple[str, float] | None:
    """Return the tag and the number of an entry; None if it is not a single number: text, an image, a histogram."""
    tag, found = "", None
    for number, _, value in pb.fields(entry):
        if number == 1:
            tag = pb.text(value)
        elif number == 2:
            found = pb.real(value)
        elif number == 8:
            found = _tensor(pb.message(value))
    return None if found is None else (tag, found)


def _tensor(data: bytes) -> float | None:
    """Return the number in a tensor; None unless it has exactly one."""
    kind, content, numbers = 0, b"", list[float]()
    for number, _, value in pb.fields(data):
        if number == 1:
            kind = pb.integer(value)
        elif number == 4:
            content += pb.message(value)
        elif number in (5, 6):
            width = 4 if number == 5 else 8
            packed = pb.message(value)
            if len(packed) % width:
                raise pb.Malformed("numbers of a tensor end too early")
            numbers += unpack(f"<{len(packed) // width}{'f' if width == 4 else 'd'}", packed)
        elif number in (7, 10):
            numbers += [float(pb.signed(each)) for each in _integers(value)]
    form = _TYPES.get(kind)
    if form is None:
        return None
    if content and len(content) == (4 if form in ("<f", "<i") else 8):
        numbers += unpack(form, content)
    elif content:
        return None
    return float(numbers[0]) if len(numbers) == 1 else None


def _integers(value: int | bytes) -> Iterator[int]:
    """Yield one integer, or many packed into bytes."""
    if isinstance(value, int):
        yield value
        return
    position = 0
    while position < len(value):
        number, position = pb.varint(value, position)
        yield number


READER = Reader(name="tensorboard", title="TensorBoard file", claims=_claims, read=_read)
