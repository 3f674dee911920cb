"""marl-eval's JSON: environment, task, algorithm, run, and the points at which a run was evaluated.

A point has lists with a number per episode, which are averaged. ``absolute_metrics`` are those of the best policy of a
run in episodes that were not used to choose it; if all runs have them, they are the runs' scores.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from untuned.adapters.score_files import json_file
from untuned.adapters.score_files.opening import File
from untuned.adapters.score_files.reader import Reader, Recognised, chosen_metric
from untuned.adapters.score_files.reading import Reading
from untuned.adapters.score_files.rows import Rows
from untuned.adapters.score_files.steps import checked
from untuned.errors import InvalidInput

_ABSOLUTE = "absolute_metrics"
_COUNT = "step_count"
_USUAL = ("mean_episode_return", "episode_return", "return", "returns", "episode_reward", "reward")


@dataclass(frozen=True)
class _Run:
    """A run, and where it is."""

    file: File
    environment: str
    algorithm: str
    name: str
    points: Mapping[str, Mapping[str, Any]]

    @property
    def where(self) -> str:
        return f"run {self.name!r} of {self.algorithm!r} on {self.environment!r} in {self.file.name}"


def _claims(file: File) -> bool:
    head = file.head.removeprefix(b"\xef\xbb\xbf").lstrip()
    return file.suffix == ".json" and head.startswith(b"{") and b'"step_count"' in head


def _read(files: Sequence[File], asked: Reading) -> Recognised:
    runs = [run for file in files for run in _runs(file)]
    if not runs:
        raise InvalidInput(f"{files[0].name} has no runs in it")
    absolute = all(_ABSOLUTE in run.points for run in runs)
    points = [_points(run, absolute) for run in runs]
    names = [{key for _, point in each for key in point} - {_COUNT} for each in points]
    common = sorted(set.intersection(*names))
    where = files[0].name if len(files) == 1 else "every file"
    metric = chosen_metric(common, asked.metric, _USUAL, where)
    return Recognised(
        [_rows(run, each, metric, absolute) for run, each in zip(runs, points, strict=True)],
        detail=f"{'absolute metric' if absolute else 'metric'} {metric}, mean over episodes",
    )


def _runs(file: File) -> Iterator[_Run]:
    for environment, tasks in _items(json_file.load(file), file.name):
        for task, algorithms in _items(tasks, f"{environment!r} of {file.name}"):
            name = f"{environment}/{task}"
            for algorithm, runs in _items(algorithms, f"{name!r} of {file.name}"):
                for run, points in _items(runs, f"{algorithm!r} on {name!r} of {file.name}"):
                    found = _Run(file, name, algorithm, run, dict(_items(points, f"run {run!r} of {file.name}")))
                    for point, metrics in found.points.items():
                        _items(metrics, f"{point!r} of {found.where}")
                    yield found


def _items(value: Any, where: str) -> Sequence[tuple[str, Any]]:
    if not isinstance(value, dict) or not value:
        raise InvalidInput(
            f"{where} is {json_file.kind(value) if value != {} else 'empty'}: marl-eval has an object there, in the "
            "order environment, task, algorithm, run, step, metric"
        )
    return list(value.items())


def _points(run: _Run, absolute: bool) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the points whose metrics count."""
    found = [(key, point) for key, point in run.points.items() if (key == _ABSOLUTE) == absolute]
    if not found:
        raise InvalidInput(f"{run.where} has no steps, and other runs have no {_ABSOLUTE}: both are needed in all runs")
    return found


def _rows(run: _Run, points: Sequence[tuple[str, Mapping[str, Any]]], metric: str, absolute: bool) -> Rows:
    places = [f"{key!r} of {run.where}" for key, _ in points]
    pairs = list(zip(places, (point for _, point in points), strict=True))
    steps = [] if absolute else [json_file.fields(point, (_COUNT,), place)[0] for place, point in pairs]
    return Rows(
        place=run.where,
        score=np.array([_mean(point, metric, place) for place, point in pairs], dtype=np.float64),
        algorithm=run.algorithm,
        environment=run.environment,
        run=run.name,
        step=None if absolute else checked(json_file.numbers(steps, f"{_COUNT} of {run.where}"), run.where),
        path=run.file.below,
    )


def _mean(point: Mapping[str, Any], metric: str, place: str) -> float:
    value = json_file.fields(point, (metric,), place)[0]
    episodes = json_file.numbers(value if isinstance(value, list) else [value], f"{metric!r} in {place}")
    if not episodes.size:
        raise InvalidInput(f"{metric!r} in {place} is an empty list: give a number per episode")
    with np.errstate(invalid="ignore", over="ignore"):
        return float(episodes.mean())


READER = Reader(name="marl-eval", title="marl-eval file", claims=_claims, read=_read)
