"""Stable-Baselines3's ``EvalCallback``: ``evaluations.npz``, the returns of several episodes at points of training.

A run's score at a point is the mean of its episodes there. RL Baselines3 Zoo stores the seed and the environment's name
next to it.
"""

from collections.abc import Sequence

import numpy as np

from untuned.adapters.score_files import npz_file, zoo
from untuned.adapters.score_files.opening import File
from untuned.adapters.score_files.reader import Reader, Recognised, chosen_metric
from untuned.adapters.score_files.reading import Reading
from untuned.adapters.score_files.rows import Rows
from untuned.adapters.score_files.steps import checked
from untuned.errors import InvalidInput

#: Series that can be the score, the returns first.
_METRICS = ("results", "successes", "ep_lengths")


def _claims(file: File) -> bool:
    return npz_file.is_npz(file) and npz_file.members(file) >= {"timesteps", "results"}


def _read(files: Sequence[File], asked: Reading) -> Recognised:
    metric = chosen_metric(_METRICS, asked.metric, _METRICS, "evaluations.npz", "array")
    return Recognised((_run(file, metric) for file in files), detail=f"mean of {metric} at every evaluation")


def _run(file: File, metric: str) -> Rows:
    arrays = npz_file.arrays(file)
    if missing := {"timesteps", metric} - arrays.keys():
        raise InvalidInput(f"{file.name} has no array {sorted(missing)[0]!r}: it has {', '.join(arrays)}")
    steps, values = arrays["timesteps"], arrays[metric]
    if steps.ndim != 1 or values.shape[:1] != steps.shape or values.ndim != 2 or not values.size:
        raise InvalidInput(
            f"{file.name} has timesteps of shape {steps.shape} and {metric} of shape {values.shape}: they should be "
            "(evaluations,) and (evaluations, episodes)"
        )
    if steps.dtype.kind not in "fiu" or values.dtype.kind not in "fiub":
        raise InvalidInput(f"{file.name} holds {steps.dtype} and {values.dtype}, not numbers")
    settings = zoo.settings(file)
    with np.errstate(invalid="ignore", over="ignore"):
        scores = values.astype(np.float64).mean(axis=1)
    return Rows(
        place=file.name,
        score=scores,
        environment=settings.get("env"),
        run=settings.get("seed"),
        step=checked(steps.astype(np.float64), file.name),
        path=file.below,
    )


READER = Reader(name="evaluations", title="Stable-Baselines3 evaluation file", claims=_claims, read=_read)
