"""Stable-Baselines3's ``Monitor``: a row per episode of training.

The files of one folder, ``0.monitor.csv``, ``1.monitor.csv`` and so on, are those of the environments in which one run
acts at the same time. Their episodes are ordered by their end, and the step of a point is the total number of steps of
all of them until then.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np

from untuned.adapters.score_files import csv_file, zoo
from untuned.adapters.score_files.opening import File
from untuned.adapters.score_files.reader import Reader, Recognised
from untuned.adapters.score_files.readers.parsing import parsed
from untuned.adapters.score_files.reading import Reading
from untuned.adapters.score_files.rows import Rows
from untuned.errors import InvalidInput
from untuned.scores import Floats

_NAME = re.compile(r"(.*\.)?monitor\.csv(\.gz)?", re.IGNORECASE)
#: Names that say nothing about a run: they number the environments of one.
_NUMBERED = re.compile(r"(\d+\.)?monitor\.csv(\.gz)?", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class _Episodes:
    """The episodes of one file: returns, lengths, and when they ended, in seconds since 1970."""

    file: File
    environment: str | None
    start: float
    returns: Floats
    lengths: Floats
    ends: Floats


def _claims(file: File) -> bool:
    return _NAME.fullmatch(file.path.name) is not None and file.head.startswith(b"#{")


def _read(files: Sequence[File], asked: Reading) -> Recognised:
    def folder(file: File) -> Path:
        return file.path.parent

    groups = [list(group) for _, group in groupby(sorted(files, key=lambda each: str(each.path)), folder)]
    merged = sum(len(group) > 1 for group in groups)
    return Recognised(
        (_run(group) for group in groups),
        detail=f"{merged} of {len(groups)} runs merged from several environments" if merged else "",
    )


def _run(files: Sequence[File]) -> Rows:
    parts = [_episodes(file) for file in files]
    first = parts[0]
    _check_one_run(parts)
    # A resumed file restarts its clock; within a file the order is that of its rows.
    order = np.argsort(np.concatenate([np.maximum.accumulate(each.ends) for each in parts]), kind="stable")
    lengths, returns = (np.concatenate(each) for each in ([p.lengths for p in parts], [p.returns for p in parts]))
    plain = len(files) > 1 or _NUMBERED.fullmatch(first.file.path.name)
    below = "/".join(filter(None, (first.file.folder, "monitor.csv"))) if plain else first.file.below
    return Rows(
        place=first.file.name if len(files) == 1 else f"{first.file.folder or 'monitor.csv'} ({len(files)} files)",
        score=returns[order],
        environment=first.environment,
        run=zoo.settings(first.file).get("seed"),
        step=np.cumsum(lengths[order]),
        path=below,
    )


def _check_one_run(parts: Sequence[_Episodes]) -> None:
    """Refuse files that cannot belong to one run, which starts all its environments before the first episode ends."""
    first = parts[0]
    for other in parts[1:]:
        if other.environment != first.environment:
            raise InvalidInput(
                f"{first.file.name} is of {first.environment} and {other.file.name} of {other.environment}: the "
                "monitor files of a folder are taken for one run, so give every run a folder of its own"
            )
    latest = max(parts, key=lambda each: each.start)
    for other in parts:
        if other.ends.size and other.ends.max() < latest.start:
            raise InvalidInput(
                f"{latest.file.name} starts after the last episode of {other.file.name}: the monitor files of a folder "
                "are taken for the environments of one run, and these are several runs. Give every run a folder of its "
                "own"
            )


def _episodes(file: File) -> _Episodes:
    start, environment = _first_line(file)
    rows = csv_file.records(file, skip=1, torn=True)
    _, names = next(rows)
    if names[:3] != ["r", "l", "t"]:
        raise InvalidInput(
            f"{file.name} has the columns {', '.join(names)} where a monitor file has r, l, t: return, length and time "
            "of every episode"
        )
    found = np.array(
        [[csv_file.number(cells[i], file, row, names[i]) for i in range(3)] for row, cells in rows], dtype=np.float64
    ).reshape(-1, 3)
    returns, lengths, times = found.T
    bad = np.flatnonzero(~((lengths >= 0) & (lengths < 2**53) & np.isfinite(times)))
    if bad.size:
        raise InvalidInput(
            f"row {bad[0] + 1} of {file.name} has length {lengths[bad[0]]:g} and time {times[bad[0]]:g}: both have to "
            "be numbers, and lengths not below 0"
        )
    if not returns.size:
        raise InvalidInput(f"{file.name} has no episodes: none ended. Leave the file out, or let the run train longer")
    return _Episodes(file, environment, start, returns, lengths, times + start)


def _first_line(file: File) -> tuple[float, str | None]:
    """Return the start time of the file, and the environment's name."""
    line = file.head.partition(b"\n")[0].removeprefix(b"#")
    try:
        facts = parsed(line, f"the first line of {file.name}")
        start, environment = float(facts["t_start"]), facts.get("env_id")
        if not np.isfinite(start):
            raise ValueError(start)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        raise InvalidInput(
            f'the first line of {file.name} should be #{{"t_start": 1.0, "env_id": "CartPole-v1"}}, as '
            "Stable-Baselines3 writes it: is the file complete?"
        ) from None
    return start, environment if isinstance(environment, str) and environment.isprintable() and environment else None


READER = Reader(name="monitor", title="Stable-Baselines3 monitor file", claims=_claims, read=_read)
