"""Sacred's folders: ``RUN/metrics.json`` has the series of a run, next to ``config.json`` and ``run.json``."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from untuned.adapters.score_files.opening import File
from untuned.adapters.score_files.reader import Reader, Recognised, chosen_metric
from untuned.adapters.score_files.readers.names import RETURNS, counted, distinct, named, rows
from untuned.adapters.score_files.readers.parsing import number, parsed
from untuned.adapters.score_files.readers.splicing import Piece
from untuned.adapters.score_files.reading import Reading
from untuned.errors import InvalidInput

#: Sacred's names of series usually have dots.
_USUAL = tuple(dict.fromkeys(name for each in RETURNS for name in (each, each.replace("/", "."))))


def _claims(file: File) -> bool:
    if file.path.name != "metrics.json":
        return False
    return file.sibling("run.json") is not None or file.sibling("config.json") is not None


def _read(files: Sequence[File], asked: Reading) -> Recognised:
    # A run that failed before its first value has a file without series.
    series = [_series(file) for file in files]
    found = list(dict.fromkeys(name for each in series for name in each))
    metric = chosen_metric(found, asked.metric, _USUAL, files[0].name)
    parts, ids, ended = [], [], dict.fromkeys(("FAILED", "INTERRUPTED", "RUNNING"), 0)
    for file, each in zip(files, series, strict=True):
        if metric not in each:
            raise InvalidInput(
                f"{file.name} has no metric {metric!r}: it has {', '.join(each) or 'none'}. Choose one that every run "
                "has with --metric NAME. If it ended before its first value, it is a failed trial: log a value for it. "
                "If it is not a trial, move it to another folder"
            )
        step, score = _curve(each[metric], f"{metric!r} of {file.name}")
        run = _object(file.sibling("run.json"))
        status = str(run.get("status"))
        ended[status] = ended.get(status, 0) + 1
        names = _names(file, run, asked)
        flags = np.full(score.size, status == "FAILED")
        parts.append(rows(file.name, names, score, step=step, failed=flags, path=file.below))
        ids.append(file.path.parent.name)
    detail = [f"metric {metric}"]
    for status, what in (("FAILED", "failed"), ("INTERRUPTED", "interrupted"), ("RUNNING", "not finished")):
        count = ended[status]
        detail += [f"{counted(count, 'run', 'runs')} {what}, with what was logged"] if count else []
    return Recognised(distinct(parts, ids), "; ".join(detail))


def _names(file: File, run: dict[str, Any], asked: Reading) -> dict[str, str | None]:
    """Return the names in the settings; the experiment's name is the algorithm's if they have none."""
    names = named(_object(file.sibling("config.json")), asked, file.name)
    experiment = run.get("experiment")
    if asked.pattern is None:
        title = experiment.get("name") if isinstance(experiment, dict) else None
        names["algorithm"] = names["algorithm"] or (title if isinstance(title, str) and title.isprintable() else None)
        names["run"] = names["run"] or file.path.parent.name
    return names


def _series(file: File) -> dict[str, dict[str, Any]]:
    return {name: each for name, each in _object(file).items() if isinstance(each, dict) and "values" in each}


def _object(file: File | None) -> dict[str, Any]:
    """Return the object in a file; an empty one without a file."""
    found = {} if file is None else parsed(file.content(), file.name)
    if not isinstance(found, dict):
        raise InvalidInput(f"{file.name if file else ''} is not a JSON object: is it Sacred's?")
    return found


def _curve(series: dict[str, Any], where: str) -> Piece:
    values, steps = series["values"], series.get("steps")
    if not isinstance(values, list) or not isinstance(steps, list) or len(values) != len(steps) or not values:
        raise InvalidInput(f"{where} does not have a step for every value: is it Sacred's?")
    return (
        np.array([number(each, f"a step of {where}") for each in steps], dtype=np.float64),
        np.array([number(each, f"a value of {where}") for each in values], dtype=np.float64),
    )


READER = Reader(name="sacred", title="Sacred metrics file", claims=_claims, read=_read)
