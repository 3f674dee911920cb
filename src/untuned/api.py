"""The functions behind the flat names: they take whatever is handed over, and call the rooms."""

import os
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from untuned.adapters.sources import read_scores
from untuned.evaluation import Evaluation
from untuned.judge.evaluate import RESAMPLES, Progress
from untuned.judge.evaluate import evaluate as evaluate_table
from untuned.judge.methods import Conventions
from untuned.judge.weights import GAME, Weights


def evaluate(
    scores: Any,
    *,
    intervals: str = "pbp",
    delta: float = 0.05,
    weights: Weights = GAME,
    conventions: Conventions = "valid",
    resamples: int = RESAMPLES,
    seed: int = 0,
    workers: int | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Evaluation:
    """Return which algorithms perform well across all environments, with intervals that account for all uncertainty.

    Parameters
    ----------
    scores
        A `ScoreTable`, or whatever `untuned.read_scores` makes one of: the path of a CSV or Parquet file, of a study's
        folder, a data frame, ``{algorithm: {environment: scores}}``, an array [algorithm, environment, trial].
    intervals
        The method: ``"pbp"`` is guaranteed; ``"pbp-t"`` and ``"bootstrap"`` are approximate.
    delta
        The probability that any of the intervals is allowed to miss, in (0, 0.5].
    weights
        ``"game"`` for the equilibrium that nobody can exploit, ``"uniform"``, or weights chosen before seeing the
        scores: by environment, by (environment, reference), or an array of either.
    conventions
        ``"valid"``, or ``"paper"`` for ties, supports and levels exactly as published.
    resamples, seed
        For the bootstrap.
    workers
        How many threads, by default one per processor; no number depends on it.
    progress
        Called with what is being done, how much of it is done, and how much there is.
    **options
        For `untuned.read_scores`: ``ranges``, ``identical``, ``nonfinite``, column names.

    Returns
    -------
    Evaluation
        Scores, intervals, ranks, weights, percentiles; prints as a table.

    Examples
    --------
    >>> import numpy as np, untuned
    >>> rng = np.random.default_rng(0)
    >>> scores = {"good": {"a": rng.normal(3, 1, 500), "b": rng.normal(2, 1, 500)},
    ...           "poor": {"a": rng.normal(0, 1, 500), "b": rng.normal(0, 1, 500)}}
    >>> print(untuned.evaluate(scores))
    Evaluation of 2 algorithms on 2 environments by 'pbp'
    algorithm  score   low     high    rank (worst, best)
    good       0.5496  0.5344  0.5548  1 (1, 1)
    poor       0.0945  0.0618  0.2247  2 (2, 2)
    With probability at least 95 %, all intervals hold.
    """
    table = read_scores(scores, **options)
    found = evaluate_table(
        table,
        intervals=intervals,
        delta=delta,
        weights=weights,
        conventions=conventions,
        resamples=resamples,
        seed=seed,
        workers=_processors() if workers is None else workers,
        progress=progress,
    )
    return replace(found, provenance=_with_versions(found.provenance))


def _processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _with_versions(provenance: Mapping[str, str]) -> Mapping[str, str]:
    import numpy

    import untuned

    return MappingProxyType({**provenance, "untuned": untuned.__version__, "numpy": numpy.__version__})
