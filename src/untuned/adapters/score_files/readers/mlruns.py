"""MLflow's folders: ``mlruns/EXPERIMENT/RUN/metrics/NAME`` has a line ``timestamp value step`` for every value."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from untuned.adapters.score_files import csv_file
from untuned.adapters.score_files.opening import File
from untuned.adapters.score_files.reader import Reader, Recognised
from untuned.adapters.score_files.readers.mlflow import Run, recognised
from untuned.adapters.score_files.readers.splicing import Piece
from untuned.adapters.score_files.reading import Reading
from untuned.errors import InvalidInput

_STATUS = {"1": "RUNNING", "2": "SCHEDULED", "3": "FINISHED", "4": "FAILED", "5": "KILLED"}
#: The folder of a run, and the one in it that has its series.
_METRICS = "metrics"


def _folder(file: File) -> Path | None:
    """Return the folder of the run that a series belongs to; None for other files."""
    for parent in file.path.parents:
        if parent.name == _METRICS and (parent.parent / "meta.yaml").is_file():
            return parent.parent
    return None


def _claims(file: File) -> bool:
    return _folder(file) is not None


def _read(files: Sequence[File], asked: Reading) -> Recognised:
    runs: dict[Path, tuple[Run, dict[str, File]]] = {}
    for file in files:
        folder = _folder(file)
        assert folder is not None
        if folder not in runs:
            runs[folder] = _run(folder, file), {}
        # A name with slashes is a path below the folder.
        name = file.path.relative_to(folder / _METRICS).as_posix()
        runs[folder][0].metrics.append(name)
        runs[folder][1][name] = file

    for folder, file in _silent(files, set(runs)).items():
        runs[folder] = _run(folder, file), {}

    def curves(metric: str) -> Mapping[str, Piece]:
        return {run.id: _curve(series[metric]) for run, series in runs.values() if metric in series}

    return recognised([run for run, _ in runs.values()], asked, curves)


def _silent(files: Sequence[File], known: set[Path]) -> dict[Path, File]:
    """Return the folders of runs without series, each with a file of its experiment.

    They failed before their first value, and count as trials. If the user named a file, or the folder of a run, others
    are not searched for.
    """
    experiments = {folder.parent: file for file in files if (folder := _folder(file)) and _all_runs(file, folder)}
    return {
        folder: file
        for experiment, file in experiments.items()
        for folder in sorted(experiment.iterdir())
        if folder not in known and (folder / "meta.yaml").is_file()
    }


def _all_runs(file: File, folder: Path) -> bool:
    return len(file.below.split("/")) > len(file.path.relative_to(folder.parent).parts)


def _above(file: File, folder: Path) -> list[str]:
    """Return the folders above the experiment, from the one that the user named."""
    return file.below.split("/")[: -len(file.path.relative_to(folder.parent.parent).parts)]


def _run(folder: Path, file: File) -> Run:
    meta = _yaml(folder / "meta.yaml")
    whole = _yaml(folder.parent / "meta.yaml")
    status = meta.get("status", "")
    above = _above(file, _folder(file) or folder)
    return Run(
        "/".join([*above, folder.parent.name, folder.name]),
        "/".join([*above, whole.get("name", folder.parent.name), folder.name, _METRICS]),
        folder.name,
        folder.parent.name,
        _STATUS.get(status, status),
        "deleted" in (meta.get("lifecycle_stage"), whole.get("lifecycle_stage")),
        _settings(folder / "params"),
        parent=str(_settings(folder / "tags").get("mlflow.parentRunId", "")),
    )


def _settings(folder: Path) -> dict[str, object]:
    """Return the contents of the files of a folder, by their names."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            name = path.relative_to(folder).as_posix()
            found[name] = File(path, name).head.decode(errors="replace")
    return found


def _yaml(path: Path) -> dict[str, str]:
    """Return the plain ``key: value`` lines of a file; a YAML parser would be unsafe, and is not needed."""
    found = dict[str, str]()
    if not path.is_file():
        return found
    for line in File(path, path.name).head.decode(errors="replace").splitlines():
        key, colon, value = line.partition(":")
        if colon and key.isidentifier():
            found[key] = value.strip().strip("'\"")
    return found


def _curve(file: File) -> Piece:
    points = []
    for number, line in enumerate(file.content().splitlines(), start=1):
        if not line.strip():
            continue
        try:
            # Versions before 1.0 wrote no step.
            time, value, step = [*line.split(), b"0"][:3]
            points.append((_number(step), _number(time), _number(value)))
        except ValueError:
            raise InvalidInput(
                f"line {number:,} of {file.name} is {line[:40]!r}, and it should be: timestamp value step. Is the file "
                "complete?"
            ) from None
    table = np.array(points, dtype=np.float64).reshape(-1, 3)
    order = np.lexsort((table[:, 1], table[:, 0]))
    return table[order, 0], table[order, 2]


def _number(word: bytes) -> float:
    return csv_file.strict_float(word.decode("ascii"))


READER = Reader(name="mlruns", title="MLflow metric file", claims=_claims, read=_read)
