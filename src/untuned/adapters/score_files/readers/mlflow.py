"""MLflow's tracking database, ``mlflow.db``."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from untuned.adapters.score_files.opening import File
from untuned.adapters.score_files.reader import Reader, Recognised, chosen_metric
from untuned.adapters.score_files.readers.names import RETURNS, counted, distinct, named, rows
from untuned.adapters.score_files.readers.parsing import number
from untuned.adapters.score_files.readers.splicing import Piece
from untuned.adapters.score_files.readers.sqlite import Database, is_database, opened, text
from untuned.adapters.score_files.reading import Reading
from untuned.errors import InvalidInput

_TABLES = ("experiments", "runs", "metrics", "params", "tags")
#: What MLflow writes into a database for infinity.
_INFINITE = float(np.finfo(np.float64).max)


@dataclass
class Run:
    """A run of MLflow.

    Attributes
    ----------
    place
        Its name in messages.
    path
        Its folders and names, as `Rows.path`.
    id, experiment
        Its identifier, and that of its experiment.
    status
        ``"FINISHED"``, ``"FAILED"``, ``"KILLED"``, ``"RUNNING"`` or ``"SCHEDULED"``.
    deleted
        Whether the user deleted it.
    params
        Its settings.
    metrics
        The names of its series.
    parent
        The identifier of its parent run.
    """

    place: str
    path: str
    id: str
    experiment: str
    status: str
    deleted: bool
    params: dict[str, object] = field(default_factory=dict)
    metrics: list[str] = field(default_factory=list)
    parent: str = ""


def recognised(runs: Collection[Run], asked: Reading, curves: Callable[[str], Mapping[str, Piece]]) -> Recognised:
    """Return the rows of all runs that are not deleted.

    Parameters
    ----------
    runs
        All runs.
    asked
        The user's options.
    curves
        Returns the curves of all runs with a series, by identifier.
    """
    present = [run for run in runs if not run.deleted]
    deleted = len(runs) - len(present)
    logged = [run for run in present if run.metrics]
    if not logged:
        raise InvalidInput(f"none of {counted(len(present), 'run', 'runs')} of MLflow has a metric: nothing is a score")
    found = list(dict.fromkeys(name for run in logged for name in run.metrics))
    metric = chosen_metric(found, asked.metric, RETURNS, logged[0].place)
    experiments = {run.experiment for run in logged if metric in run.metrics}
    parents = {run.parent for run in present}
    taken = [
        run for run in present if run.experiment in experiments and (metric in run.metrics or run.id not in parents)
    ]
    _refuse_without(metric, taken)
    points = curves(metric)
    parts = []
    for run in taken:
        names = named(run.params, asked, run.place)
        if names["run"] is None and asked.pattern is None:
            names["run"] = run.id
        step, score = points[run.id]
        flags = np.full(score.size, run.status == "FAILED")
        parts.append(rows(run.place, names, score, step=step, failed=flags, path=run.path))
    detail = [f"metric {metric}"]
    for status, what in (("FAILED", "failed"), ("KILLED", "killed"), ("RUNNING", "not finished")):
        count = sum(run.status == status for run in taken)
        detail += [f"{counted(count, 'run', 'runs')} {what}, with what was logged"] if count else []
    detail += [f"{counted(deleted, 'deleted run', 'deleted runs')} left out"] if deleted else []
    others = len(present) - len(taken)
    detail += [f"{counted(others, 'run', 'runs')} left out: of other experiments, or of several runs"] if others else []
    return Recognised(distinct(parts, [run.id for run in taken]), "; ".join(detail))


def _refuse_without(metric: str, runs: Sequence[Run]) -> None:
    without = [run for run in runs if metric not in run.metrics]
    if without:
        raise InvalidInput(
            f"{counted(len(without), 'run has', 'runs have')} no metric {metric!r}: "
            f"{', '.join(f'{run.place} ({run.status})' for run in without[:5])}. If a run failed before its first "
            "value, it is a failed trial: log a value for it. If it is not a trial, delete it in MLflow"
        )


def _claims(file: File) -> bool:
    return file.path.name == "mlflow.db" or is_database(file, _TABLES)


def _read(files: Sequence[File], asked: Reading) -> Recognised:
    if len(files) > 1:
        raise InvalidInput(
            f"{files[0].name} and {files[1].name} are two databases of MLflow: read them one at a time with untuned "
            "import, and evaluate the files that it writes"
        )
    with opened(files[0], _TABLES) as database:
        runs = _runs(database)
        return recognised(runs.values(), asked, lambda metric: _curves(database, metric))


def _runs(database: Database) -> dict[str, Run]:
    place = database.place
    experiments = {
        identifier: (text(name, f"the name of an experiment in {place}"), stage)
        for identifier, name, stage in database.rows("experiments", ("experiment_id", "name", "lifecycle_stage"))
    }
    columns = ("run_uuid", "experiment_id", "status", "lifecycle_stage")
    runs: dict[str, Run] = {}
    for run, experiment, status, stage in database.rows("runs", columns, "ORDER BY start_time, run_uuid"):
        name, whole = experiments.get(experiment, (str(experiment), "active"))
        run = text(run, f"the identifier of a run in {place}")
        gone = "deleted" in (stage, whole)
        runs[run] = Run(f"run {run} of {place}", f"{place}/{name}/{run}", run, str(experiment), str(status), gone)
    for run, key, value in database.rows("params", ("run_uuid", "key", "value")):
        if run in runs:
            runs[run].params[text(key, f"the name of a parameter in {place}")] = value
    for run, value in database.rows("tags", ("run_uuid", "value"), "WHERE key = 'mlflow.parentRunId'"):
        if run in runs:
            runs[run].parent = str(value)
    for run, key in database.rows("metrics", ("run_uuid", "key"), "GROUP BY run_uuid, key ORDER BY min(rowid)"):
        if run in runs:
            runs[run].metrics.append(text(key, f"the name of a metric in {place}"))
    return runs


def _curves(database: Database, metric: str) -> dict[str, Piece]:
    found: dict[str, tuple[list[float], list[float]]] = {}
    columns = ("run_uuid", "step", "value", "is_nan")
    where = f"{metric!r} in {database.place}"
    for run, step, value, nan in database.rows("metrics", columns, "WHERE key = ? ORDER BY step, timestamp", (metric,)):
        steps, values = found.setdefault(run, ([], []))
        steps.append(number(step, f"a step of {where}"))
        values.append(float("nan") if nan else _value(number(value, where)))
    return {run: (np.array(steps), np.array(values)) for run, (steps, values) in found.items()}


def _value(value: float) -> float:
    """Return infinity where MLflow wrote the largest number for it."""
    return np.copysign(np.inf, value) if abs(value) >= _INFINITE else value


READER = Reader(name="mlflow", title="MLflow database", claims=_claims, read=_read)
