"""Optuna's studies, in a database or in a journal.

A study with randomly drawn hyperparameters is a cell of trials without tuning: every trial is a run, with one score.
Samplers that learn from earlier trials, and pruners, make trials dependent; such studies are refused unless the user
accepts them.
"""

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np

from untuned.adapters.score_files.opening import File
from untuned.adapters.score_files.reader import Reader, Recognised, chosen_metric
from untuned.adapters.score_files.readers.names import counted
from untuned.adapters.score_files.readers.parsing import number, parsed
from untuned.adapters.score_files.readers.sqlite import Database, is_database, opened, text
from untuned.adapters.score_files.reading import Reading
from untuned.adapters.score_files.rows import Rows
from untuned.diagnostics.finding import Finding
from untuned.errors import InvalidInput

_TABLES = (
    "studies",
    "study_directions",
    "trials",
    "trial_values",
    "study_system_attributes",
    "trial_system_attributes",
)
#: Optuna's codes of states and directions in a journal.
_STATES = ("RUNNING", "COMPLETE", "PRUNED", "FAIL", "WAITING")
_DIRECTIONS = ("NOT_SET", "MINIMIZE", "MAXIMIZE")
_CREATE_STUDY, _DELETE_STUDY, _STUDY_ATTRIBUTE, _CREATE_TRIAL, _SET_STATE, _TRIAL_ATTRIBUTE = 0, 1, 3, 4, 6, 9
#: Prefixes of attributes that samplers and pruners write, and what they show.
_TRACES = {
    "tpe:": "TPESampler",
    "gp:": "GPSampler",
    "cma:": "CmaEsSampler",
    "sepcma:": "CmaEsSampler",
    "cmawm:": "CmaEsSampler",
    "qmc:": "QMCSampler",
    "nsga": "an evolutionary sampler",
    "grid_id": "GridSampler",
    "completed_rung": "a pruner",
    "fixed_params": "hyperparameters that were enqueued",
}
_METRICS = "study:metric_names"


@dataclass
class _Trial:
    number: int
    state: str
    values: dict[int, float] = field(default_factory=dict)


@dataclass
class _Study:
    """A study, its trials, and the signs that they are dependent."""

    name: str
    place: str
    directions: dict[int, str] = field(default_factory=dict)
    trials: list[_Trial] = field(default_factory=list)
    traces: dict[str, None] = field(default_factory=dict)
    metrics: list[str] = field(default_factory=list)

    def attribute(self, key: object, value: object) -> None:
        """Record an attribute of the study, or of one of its trials."""
        if key == _METRICS and isinstance(value, list):
            self.metrics = [str(each) for each in value]
        elif isinstance(key, str):
            # Evolutionary samplers prefix it with their class.
            found = ["an evolutionary sampler"] if key.endswith(":generation") else []
            found += [what for begin, what in _TRACES.items() if key.startswith(begin)]
            self.traces |= dict.fromkeys(found[-1:])


def _claims(file: File) -> bool:
    if is_database(file, _TABLES[:3]):
        return True
    line = file.head.lstrip().partition(b"\n")[0]
    return line.startswith(b"{") and b'"op_code"' in line


def _read(files: Sequence[File], asked: Reading) -> Recognised:
    studies = list(chain.from_iterable(map(_studies, files)))
    finished = [study for study in studies if any(_counts(trial) for trial in study.trials)]
    if not finished:
        raise InvalidInput(f"{files[0].name} has no study with a finished trial: nothing in it is a score")
    parts, minimized = [], 0
    for study in finished:
        objective = _objective(study, asked)
        minimized += study.directions.get(objective) == "MINIMIZE"
        parts.append(_rows(study, objective))
    left = sum(not _counts(trial) for study in finished for trial in study.trials)
    detail = [f"{counted(len(finished), 'study', 'studies')}"]
    detail += [f"{minimized} minimized: signs are changed"] if minimized else []
    detail += [f"{counted(left, 'trial', 'trials')} that did not end left out"] if left else []
    empty = len(studies) - len(finished)
    detail += [f"{counted(empty, 'study', 'studies')} without trials left out"] if empty else []
    detail.append("trials are independent only if hyperparameters are from RandomSampler, which Optuna does not record")
    return Recognised(parts, "; ".join(detail), findings=_dependent(finished))


def _counts(trial: _Trial) -> bool:
    return trial.state not in ("RUNNING", "WAITING")


def _dependent(studies: Sequence[_Study]) -> tuple[Finding, ...]:
    """Return the finding on studies with dependent trials; nothing if there are none."""
    shown = {}
    for study in studies:
        pruned = sum(trial.state == "PRUNED" for trial in study.trials)
        found = ([counted(pruned, "pruned trial", "pruned trials")] if pruned else []) + list(study.traces)
        if found:
            shown[f"study {study.name!r} in {study.place}"] = ", ".join(found)
    if not shown:
        return ()
    (first, what), *others = shown.items()
    more = f"; nor are those of {counted(len(others), 'more study', 'more studies')}" if others else ""
    return (
        Finding(
            "tuned-trials",
            "serious",
            f"The trials of {first} are not independent: it shows {what}{more}.",
            "Later trials depend on the scores of earlier ones, or are not drawn at random, so no interval for them is "
            "valid.",
            "Run the study with RandomSampler and NopPruner.",
            tuple(shown),
        ),
    )


def _objective(study: _Study, asked: Reading) -> int:
    """Return the index of the value that is the score; a study with several objectives has several values."""
    where = f"study {study.name!r} in {study.place}"
    count = len(study.directions)
    if not count or study.directions.keys() != set(range(count)):
        raise InvalidInput(f"{where} does not say in which direction its objectives are optimized: is it Optuna's?")
    if count == 1 and asked.metric is None:
        return 0
    names = study.metrics if len(study.metrics) == count else [str(each) for each in range(count)]
    return names.index(chosen_metric(names, asked.metric, (), where, "objective"))


def _rows(study: _Study, objective: int) -> Rows:
    trials = sorted(filter(_counts, study.trials), key=lambda trial: trial.number)
    sign = -1.0 if study.directions.get(objective) == "MINIMIZE" else 1.0
    for trial in trials:
        if trial.state == "COMPLETE" and objective not in trial.values:
            raise InvalidInput(
                f"trial {trial.number} of study {study.name!r} in {study.place} is complete without a value"
            )
    scores = [np.nan if trial.state == "FAIL" else sign * trial.values.get(objective, np.nan) for trial in trials]
    return Rows(
        f"study {study.name} of {study.place}",
        np.array(scores, dtype=np.float64),
        run=([str(trial.number) for trial in trials], np.arange(len(trials), dtype=np.int32)),
        failed=np.array([trial.state == "FAIL" for trial in trials]),
        path=study.name,
    )


def _studies(file: File) -> Iterable[_Study]:
    if file.head.startswith(b"SQLite"):
        with opened(file, _TABLES) as database:
            return _stored(database)
    return _journal(file)


def _stored(database: Database) -> list[_Study]:
    """Return the studies of a database."""
    place = database.place
    studies = {
        study: _Study(text(name, f"the name of a study in {place}"), place)
        for study, name in database.rows("studies", ("study_id", "study_name"), "ORDER BY study_id")
    }
    for study, objective, direction in database.rows("study_directions", ("study_id", "objective", "direction")):
        if study in studies:
            studies[study].directions[_integer(objective, f"an objective in {place}")] = str(direction)
    for study, key, value in database.rows("study_system_attributes", ("study_id", "key", "value_json")):
        if study in studies:
            studies[study].attribute(key, parsed(value, f"{key} in {place}") if key == _METRICS else None)
    trials: dict[object, tuple[_Study, _Trial]] = {}
    for trial, study, own, state in database.rows("trials", ("trial_id", "study_id", "number", "state")):
        if study in studies:
            trials[trial] = studies[study], _Trial(_integer(own, f"a trial's number in {place}"), _state(state, place))
            studies[study].trials.append(trials[trial][1])
    for trial, key in database.rows("trial_system_attributes", ("trial_id", "key")):
        if trial in trials:
            trials[trial][0].attribute(key, None)
    # Versions before 3.0 have no infinite values, and no column for them.
    kind = ("value_type",) if database.has("trial_values", "value_type") else ("objective",)
    for trial, objective, value, special in database.rows("trial_values", ("trial_id", "objective", "value", *kind)):
        if trial in trials:
            where = f"the value of trial {trials[trial][1].number} in {place}"
            found = {"INF_POS": np.inf, "INF_NEG": -np.inf}.get(special)
            trials[trial][1].values[_integer(objective, where)] = number(value, where) if found is None else found
    return list(studies.values())


def _state(state: object, place: str) -> str:
    if state not in _STATES:
        raise InvalidInput(f"the state of a trial in {place} is {str(state)[:40]!r}, not {', '.join(_STATES)}")
    return str(state)


def _integer(value: object, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 31:
        raise InvalidInput(f"{where} is {str(value)[:40]!r}, and a small whole number belongs there")
    return value


def _journal(file: File) -> list[_Study]:
    """Return the studies of a journal, by replaying it."""
    studies: dict[int, _Study] = {}
    trials: list[tuple[_Study, _Trial]] = []
    created = 0
    for line, entry in _entries(file):
        where = f"line {line:,} of {file.name}"
        code = entry.get("op_code")
        if code == _CREATE_STUDY:
            name = text(entry.get("study_name"), f"{where}: the name of a study")
            # Two programs may create a study at the same time; the second is ignored.
            if all(study.name != name for study in studies.values()):
                directions = dict(enumerate(_name_of(_DIRECTIONS, each, where) for each in _list(entry, "directions")))
                studies[created] = _Study(name, file.name, directions)
                created += 1
        elif code in (_DELETE_STUDY, _STUDY_ATTRIBUTE, _CREATE_TRIAL):
            study = studies.get(_integer(entry.get("study_id"), f"{where}: a study"))
            if study is None:
                continue
            if code == _DELETE_STUDY:
                del studies[entry["study_id"]]
            elif code == _STUDY_ATTRIBUTE:
                _attributes(study, entry.get("system_attr"))
            else:
                trial = _Trial(
                    len(study.trials), _name_of(_STATES, entry.get("state", 0), where), _values(entry, where)
                )
                _attributes(study, entry.get("system_attrs"))
                study.trials.append(trial)
                trials.append((study, trial))
        elif code in (_SET_STATE, _TRIAL_ATTRIBUTE):
            index = _integer(entry.get("trial_id"), f"{where}: a trial")
            if index >= len(trials) or trials[index][1].state not in ("RUNNING", "WAITING"):
                continue
            if code == _TRIAL_ATTRIBUTE:
                _attributes(trials[index][0], entry.get("system_attr"))
            else:
                trials[index][1].state = _name_of(_STATES, entry.get("state"), where)
                trials[index][1].values |= _values(entry, where)
    return list(studies.values())


def _entries(file: File) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the number and the content of every line; the last may be incomplete while a program writes."""
    lines = file.content().splitlines(keepends=True)
    for line, data in enumerate(lines, start=1):
        entry: object = None
        if line == len(lines) and not data.endswith(b"\n"):
            with contextlib.suppress(InvalidInput):
                entry = parsed(data, "")
            if entry is None:
                return
        elif data.strip():
            entry = parsed(data, f"line {line:,} of {file.name}")
        else:
            continue
        if not isinstance(entry, dict):
            raise InvalidInput(f"line {line:,} of {file.name} is not an entry of a journal: is it Optuna's?")
        yield line, entry


def _attributes(study: _Study, attributes: object) -> None:
    if isinstance(attributes, dict):
        for key, value in attributes.items():
            study.attribute(key, value)


def _values(entry: dict[str, Any], where: str) -> dict[int, float]:
    found = _list(entry, "values") or ([entry["value"]] if entry.get("value") is not None else [])
    return {objective: number(value, f"{where}: a value") for objective, value in enumerate(found)}


def _list(entry: dict[str, Any], key: str) -> list[object]:
    found = entry.get(key)
    return found if isinstance(found, list) else []


def _name_of(names: Sequence[str], code: object, where: str) -> str:
    index = _integer(code, f"{where}: a code")
    if index >= len(names):
        raise InvalidInput(f"{where}: the code {index} is not one of {len(names)} that are known: is it Optuna's?")
    return names[index]


READER = Reader(name="optuna", title="Optuna storage file", claims=_claims, read=_read)
