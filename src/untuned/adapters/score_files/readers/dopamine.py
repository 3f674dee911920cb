"""Dopamine's published baselines: ``<game>.json``, a list of the objects ``{"Iteration", "Value", "Agent"}``.

Runs have no names: either an agent's runs are consecutive, and each begins with the first iteration; or the runs'
values of one iteration are consecutive. In both cases the k-th value of an agent at an iteration belongs to its k-th
run.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from untuned.adapters.score_files import json_file
from untuned.adapters.score_files.opening import File
from untuned.adapters.score_files.reader import Reader, Recognised
from untuned.adapters.score_files.reading import Reading
from untuned.adapters.score_files.rows import Rows
from untuned.adapters.score_files.steps import checked
from untuned.errors import InvalidInput
from untuned.scores import Floats

_KEYS = ("Iteration", "Value", "Agent")


def _claims(file: File) -> bool:
    head = file.head.removeprefix(b"\xef\xbb\xbf").lstrip()
    return file.suffix == ".json" and head.startswith(b"[") and all(f'"{key}"'.encode() in head for key in _KEYS)


def _read(files: Sequence[File], asked: Reading) -> Recognised:
    return Recognised((rows for file in files for rows in _runs(file)), unit="iteration")


def _runs(file: File) -> Iterator[Rows]:
    content = json_file.load(file)
    if not isinstance(content, list) or not content:
        raise InvalidInput(f"{file.name} is {json_file.kind(content)}: it should be a list of objects")
    found: dict[str, list[tuple[float, float]]] = {}
    for index, record in enumerate(content, start=1):
        where = f"record {index} of {file.name}"
        iteration, value, agent = json_file.fields(record, _KEYS, where)
        point = (json_file.number(iteration, f"'Iteration' of {where}"), json_file.number(value, f"'Value' of {where}"))
        found.setdefault(json_file.text(agent, f"'Agent' of {where}"), []).append(point)
    game = file.path.name.partition(".")[0]
    for agent, points in found.items():
        steps, scores = np.array(points, dtype=np.float64).T
        checked(steps, f"{agent!r} in {file.name}")
        numbers = _numbered(steps, f"{agent!r} in {file.name}")
        for run in range(int(numbers.max()) + 1):
            here = numbers == run
            yield Rows(
                place=file.name,
                score=scores[here],
                algorithm=agent,
                environment=game,
                run=str(run + 1),
                step=steps[here],
                path=file.below,
            )


def _numbered(steps: Floats, where: str) -> NDArray[np.int64]:
    """Return the run of every point of an agent."""
    most = max(Counter(steps.tolist()).values())
    blocks: NDArray[np.int64] = np.concatenate([[0], np.cumsum(np.diff(steps) <= 0)])
    # Consecutive runs may have different lengths.
    if blocks[-1] + 1 == most:
        return blocks
    seen: Counter[float] = Counter()
    numbers = np.empty(steps.size, dtype=np.int64)
    for index, step in enumerate(steps.tolist()):
        numbers[index] = seen[step]
        seen[step] += 1
    if len({*seen.values()}) > 1:
        raise InvalidInput(
            f"{where} has {min(seen.values())} to {most} values per iteration in mixed order, so that it is not known "
            "which run each belongs to: sort the file by runs, or write a table with the columns algorithm, "
            "environment, run, step, score"
        )
    return numbers


READER = Reader(name="dopamine", title="Dopamine file", claims=_claims, read=_read)
