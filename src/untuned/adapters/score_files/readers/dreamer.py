"""DreamerV3: published scores, a list of ``{task, method, seed, xs, ys}``; and a run's own ``scores.jsonl``.

The log of a run, also ``metrics.jsonl``, has an object per line with ``step`` and the values measured then. Lines
without the score are skipped.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from untuned.adapters.score_files import json_file
from untuned.adapters.score_files.opening import File
from untuned.adapters.score_files.reader import Reader, Recognised, chosen_metric
from untuned.adapters.score_files.reading import Reading
from untuned.adapters.score_files.rows import Rows
from untuned.adapters.score_files.steps import checked
from untuned.errors import InvalidInput

_KEYS = ("task", "method", "seed", "xs", "ys")
_LINES = (".jsonl", ".ndjson")
#: Evaluations before training.
_USUAL = ("eval_episode/score", "eval/episode/score", "episode/score", "train_episode/score")


def _claims(file: File) -> bool:
    head = file.head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if file.suffix in _LINES:
        # Measurements may come long before the first score; and a table in long form may have the same file name.
        named = file.path.name.lower().startswith("metrics.") and b'"algorithm"' not in head and b'"score"' not in head
        return b'"step"' in head and (named or b'episode/score"' in head)
    # Whether "ys" is among the first bytes depends on the length of "xs".
    return file.suffix == ".json" and head.startswith(b"[") and all(f'"{key}"'.encode() in head for key in _KEYS[:4])


def _read(files: Sequence[File], asked: Reading) -> Recognised:
    logs = [file for file in files if file.suffix in _LINES]
    if not logs:
        return Recognised(rows for file in files for rows in _published(file))
    if len(logs) < len(files):
        raise InvalidInput("published scores and logs of runs are read one at a time: pass .json and .jsonl separately")
    # A run also stores its scores in a separate file, with the same values.
    alone = {file.path.parent for file in logs if file.path.name.startswith("scores.")}
    logs = [file for file in logs if file.path.name.startswith("scores.") or file.path.parent not in alone]
    names = [_names(file) for file in logs]
    common = [name for name in names[0] if all(name in each for each in names)]
    where = logs[0].name if len(logs) == 1 else "every file"
    metric = chosen_metric(common, asked.metric, _USUAL, where, "key")
    return Recognised((_log(file, metric) for file in logs), detail=f"key {metric}")


def _published(file: File) -> Iterator[Rows]:
    content = json_file.load(file)
    if not isinstance(content, list) or not content:
        raise InvalidInput(f"{file.name} is {json_file.kind(content)}: it should be a list of runs")
    for index, record in enumerate(content, start=1):
        where = f"run {index} of {file.name}"
        task, method, seed, xs, ys = json_file.fields(record, _KEYS, where)
        steps, scores = (json_file.numbers(each, f"{key!r} of {where}") for key, each in (("xs", xs), ("ys", ys)))
        if steps.size != scores.size or not steps.size:
            raise InvalidInput(f"{where} has {steps.size} xs and {scores.size} ys: give a score for every step")
        yield Rows(
            place=where,
            score=scores,
            algorithm=json_file.text(method, f"'method' of {where}"),
            environment=json_file.text(task, f"'task' of {where}"),
            run=json_file.text(seed, f"'seed' of {where}"),
            step=checked(steps, where),
            path=file.below,
        )


def _names(file: File) -> list[str]:
    """Return the keys that have numbers."""
    found = {
        key: None
        for _, record in json_file.lines(file)
        for key, value in record.items()
        if isinstance(value, (int, float)) and key != "step"
    }
    return list(found)


def _log(file: File, metric: str) -> Rows:
    points = []
    for line, record in json_file.lines(file):
        if metric in record:
            where = f"line {line} of {file.name}"
            step, score = json_file.fields(record, ("step", metric), where)
            points.append(
                (json_file.number(step, f"'step' in {where}"), json_file.number(score, f"{metric!r} in {where}"), line)
            )
    steps, scores, lines = np.array(points, dtype=np.float64).T
    return Rows(file.name, scores, step=checked(steps, file.name), path=file.below, numbers=lines.astype(np.int64))


READER = Reader(name="dreamer", title="DreamerV3 file", claims=_claims, read=_read)
