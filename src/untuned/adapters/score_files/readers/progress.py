"""Stable-Baselines3's logger: ``progress.csv``, or ``progress.json`` with an object per line.

Different numbers are written at different times, so most rows have gaps; those without the score are skipped. Logs of
RLlib, OpenAI Baselines and garage have the same form with other headings.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from untuned.adapters.score_files import csv_file, json_file
from untuned.adapters.score_files.opening import File
from untuned.adapters.score_files.reader import Reader, Recognised, chosen_metric
from untuned.adapters.score_files.reading import Reading
from untuned.adapters.score_files.rows import Rows
from untuned.adapters.score_files.steps import checked
from untuned.errors import InvalidInput

#: Columns that count steps, the most common first.
_STEPS = (
    "time/total_timesteps",
    "total_timesteps",
    "timesteps",
    "misc/total_timesteps",
    "timesteps_total",
    "num_env_steps_sampled_lifetime",
    "TotalEnvSteps",
)
#: Columns that are returns: evaluations before training.
_USUAL = (
    "eval/mean_reward",
    "evaluation/episode_reward_mean",
    "evaluation/env_runners/episode_return_mean",
    "Evaluation/AverageReturn",
    "rollout/ep_rew_mean",
    "env_runners/episode_return_mean",
    "episode_reward_mean",
    "eprewmean",
)


def _claims(file: File) -> bool:
    if file.suffix not in (".csv", ".json", ".jsonl") or not file.path.name.lower().startswith("progress"):
        return file.suffix == ".csv" and _STEPS[0] in csv_file.header(file)
    if file.suffix == ".csv":
        return not {*_STEPS}.isdisjoint(csv_file.header(file))
    head = file.head.lstrip()
    return head.startswith(b"{") and any(f'"{each}"'.encode() in head for each in _STEPS)


def _read(files: Sequence[File], asked: Reading) -> Recognised:
    # A logger with both outputs writes the same numbers twice.
    tables = {file.path.parent for file in files if file.suffix == ".csv"}
    files = [file for file in files if file.suffix == ".csv" or file.path.parent not in tables]
    names = [_names(file) for file in files]
    common = [name for name in names[0] if all(name in each for each in names)]
    where = files[0].name if len(files) == 1 else "every file"
    metric = chosen_metric([name for name in common if name not in _STEPS], asked.metric, _USUAL, where, "column")
    return Recognised((_run(file, metric, asked.step) for file in files), detail=f"column {metric}")


def _names(file: File) -> Mapping[str, None]:
    """Return the names of all columns."""
    if file.suffix == ".csv":
        return dict.fromkeys(next(csv_file.records(file))[1])
    return {key: None for _, record in json_file.lines(file) for key in record}


def _run(file: File, metric: str, step: str | None) -> Rows:
    names = _names(file)
    counted = next((each for each in ([step] if step else _STEPS) if each in names), None)
    if counted is None:
        raise InvalidInput(
            f"{file.name} has no column {step or _STEPS[0]!r}: say with --step which counts the steps, of "
            f"{', '.join(names)}"
        )
    pairs = _of_table if file.suffix == ".csv" else _of_lines
    found = np.array(list(pairs(file, counted, metric)), dtype=np.float64).reshape(-1, 3)
    if not found.size:
        raise InvalidInput(f"{file.name} has no row with both {counted!r} and {metric!r}: choose another with --metric")
    rows, steps, scores = found.T
    return Rows(file.name, scores, step=checked(steps, file.name), path=file.below, numbers=rows.astype(np.int64))


def _of_table(file: File, step: str, metric: str) -> Iterator[tuple[int, float, float]]:
    rows = csv_file.records(file, torn=True)
    _, names = next(rows)
    if names.count(step) > 1 or names.count(metric) > 1:
        raise InvalidInput(f"{file.name} has two columns called {step!r} or {metric!r}: rename the one not meant")
    at, of = names.index(step), names.index(metric)
    for row, cells in rows:
        if cells[at] and cells[of]:
            yield row, csv_file.number(cells[at], file, row, step), csv_file.number(cells[of], file, row, metric)


def _of_lines(file: File, step: str, metric: str) -> Iterator[tuple[int, float, float]]:
    for line, record in json_file.lines(file):
        if step in record and metric in record:
            at, score = (
                json_file.number(record[key], f"{key!r} in line {line} of {file.name}") for key in (step, metric)
            )
            yield line, at, score


READER = Reader(name="progress", title="Stable-Baselines3 progress log", claims=_claims, read=_read)
