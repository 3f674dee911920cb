"""JSON in the form of rliable's published data: an object with the scores of runs, one number per run.

``{algorithm: {task: [scores]}}``, or with names of runs ``{algorithm: {task: {run: score}}}``, where a list instead of
a score is a learning curve; ``{task: [scores]}``, one file per algorithm; or ``{algorithm: [[...], ...]}`` with a row
per run and a column per task. ``--axes algorithm,run`` says that the keys of ``{key: [scores]}`` are algorithms.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from untuned.adapters.score_files import json_file
from untuned.adapters.score_files.axes import rows_of_dictionary
from untuned.adapters.score_files.opening import File
from untuned.adapters.score_files.reader import Reader, Recognised
from untuned.adapters.score_files.readers.refused import means_with_spread
from untuned.adapters.score_files.reading import Reading
from untuned.adapters.score_files.rows import Rows
from untuned.errors import InvalidInput

_KEY = rb'\s*"(?:[^"\\]|\\.)*"\s*:\s*'
_NUMBER = rb"(?:-|\d|N|I|null)"
_NAMED = rb"\{" + _KEY + rb"(?:\[\s*)?"
_BEGINNING = re.compile(rb"\s*\{" + _KEY + rb"(?:\[\s*(?:\[\s*)*|\{" + _KEY + rb"(?:\[\s*|" + _NAMED + rb"))" + _NUMBER)
#: Keys of other programs' files with lists of numbers.
_OTHERS = re.compile(rb'"(?:step_count|steps|timestamps|xs|ys|algorithm|environment|score)"\s*:')


def _claims(file: File) -> bool:
    head = file.head.removeprefix(b"\xef\xbb\xbf")
    here = file.suffix == ".json" and _BEGINNING.match(head) is not None and _OTHERS.search(head) is None
    return here and not means_with_spread(file)


def _read(files: Sequence[File], asked: Reading) -> Recognised:
    found = [_file(file, asked) for file in files]
    details = dict.fromkeys(each.detail for each in found)
    return Recognised([rows for each in found for rows in each.parts], detail="; ".join(details), unit=found[0].unit)


def _file(file: File, asked: Reading) -> Recognised:
    content = json_file.load(file)
    if not isinstance(content, dict) or not content:
        raise InvalidInput(f"{file.name} is {json_file.kind(content)}: it should be an object, {{task: [scores]}}")
    if all(isinstance(each, dict) for each in content.values()):
        return Recognised(list(_of_algorithms(file, content)), detail="algorithm: environment: scores")
    if all(isinstance(each, list) and each and isinstance(each[0], list) for each in content.values()):
        arrays = {key: _matrix(each, f"{key!r} of {file.name}") for key, each in content.items()}
        return rows_of_dictionary(
            arrays, name=file.name, axes=asked.axes, environments=asked.environments, path=file.below
        )
    return _of_one_level(file, content, asked)


def _of_algorithms(file: File, content: Mapping[str, Mapping[str, Any]]) -> Iterator[Rows]:
    for algorithm, tasks in content.items():
        for task, scores in tasks.items():
            if isinstance(scores, dict):
                yield from _named_runs(file, scores, algorithm, task)
                continue
            yield _cell(file, scores, f"{task!r} of {algorithm!r} in {file.name}", algorithm, task)


def _named_runs(file: File, runs: Mapping[str, Any], algorithm: str, task: str) -> Iterator[Rows]:
    """Yield the runs of a cell that have names: a score each, or a curve."""
    for run, value in runs.items():
        where = f"run {run!r} of {algorithm!r} on {task!r} in {file.name}"
        values = json_file.numbers(value if isinstance(value, list) else [value], where)
        if not values.size:
            raise InvalidInput(f"{where} has no score: leave it out, or give its score")
        steps = np.arange(1.0, values.size + 1) if isinstance(value, list) else None
        yield Rows(where, values, algorithm=algorithm, environment=task, run=run, step=steps, path=file.below)


def _of_one_level(file: File, content: Mapping[str, Any], asked: Reading) -> Recognised:
    axes = (asked.axes or "environment,run").replace(" ", "")
    if axes not in ("environment,run", "algorithm,run"):
        raise InvalidInput(
            f"--axes {axes} does not fit {file.name}, which has a list of numbers under each key: say what the keys "
            "are, --axes environment,run or --axes algorithm,run"
        )
    keys = axes.partition(",")[0]
    parts = [_cell(file, scores, f"{key!r} in {file.name}", **{keys: key}) for key, scores in content.items()]
    return Recognised(parts, detail=f"{keys}: scores")


def _cell(file: File, scores: Any, where: str, algorithm: str | None = None, environment: str | None = None) -> Rows:
    values = json_file.numbers(scores, where)
    if not values.size:
        raise InvalidInput(f"{where} has no scores: leave it out, or give one number per run")
    runs = [f"#{index + 1}" for index in range(values.size)]
    return Rows(
        place=where,
        score=values,
        algorithm=algorithm,
        environment=environment,
        run=(runs, np.arange(values.size, dtype=np.int32)),
        path=file.below,
    )


def _matrix(value: list[Any], where: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return nested lists as an array; they have to be as long as each other."""
    rows: list[Any] = [
        _matrix(row, where)
        if isinstance(row, list) and row and isinstance(row[0], list)
        else json_file.numbers(row, f"row {index} of {where}")
        for index, row in enumerate(value, start=1)
    ]
    if len({row.shape for row in rows}) != 1:
        raise InvalidInput(f"{where} has rows of different lengths: give one per run, with a number for every task")
    return np.stack(rows)


READER = Reader(name="rliable", title="rliable file", claims=_claims, read=_read)
