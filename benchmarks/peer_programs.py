"""The programs in the peers' environment: they run rliable and OpenSpiel, without this package.

    python peer_programs.py iqm|poi|alpharank|numbers GIVEN.npz ANSWER.json

`peers.py` calls it to measure speed; the tests call it with ``numbers`` for rliable's results on given resamples.
"""

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

SIZE = 0.95


def timed_interval(scores: Any, function: Any, resamples: int) -> dict[str, float]:
    from rliable import library

    started = time.perf_counter()
    library.get_interval_estimates({"one": scores}, function, reps=resamples, confidence_interval_size=SIZE)
    return {"seconds": time.perf_counter() - started}


def iqm(given: Any) -> dict[str, float]:
    from rliable import metrics

    return timed_interval(
        given["scores"][0], lambda scores: np.array([metrics.aggregate_iqm(scores)]), int(given["resamples"])
    )


def poi(given: Any) -> dict[str, float]:
    from rliable import metrics

    return timed_interval(
        list(given["scores"]),
        lambda x, y: np.array([metrics.probability_of_improvement(x, y)]),
        int(given["resamples"]),
    )


def alpharank(given: Any) -> dict[str, float]:
    from open_spiel.python.egt import alpharank as egt

    payoffs = given["payoffs"]
    started = time.perf_counter()
    egt.compute([payoffs, 1.0 - payoffs], m=50, alpha=10.0)
    return {"seconds": time.perf_counter() - started}


def numbers(given: Any) -> dict[str, Any]:
    """Return rliable's estimates and intervals for given resamples, [resample, algorithm, run, task]."""
    from rliable import library, metrics

    scores, runs, thresholds = given["scores"], given["runs"], given["thresholds"]

    class OfOne(library.StratifiedBootstrap):  # type: ignore[misc]
        """Uses the given resamples."""

        waiting: Iterator[Any]

        def update_indices(self) -> Any:
            return (next(self.waiting), *self._strata_indices)

    class OfTwo(library.StratifiedIndependentBootstrap):  # type: ignore[misc]
        """Uses the given resamples, for two algorithms."""

        waiting: Iterator[Any]

        def update_indices(self) -> Any:
            pair = next(self.waiting)
            return [(each, *strata) for each, strata in zip(pair, self._args_strata_indices, strict=True)], {}

    def interval(made: Any, waiting: Any, function: Any, method: str) -> Any:
        made.waiting = iter(waiting)
        return made.conf_int(function, reps=len(runs), size=SIZE, method=method).ravel().tolist()

    def summary(x: Any) -> Any:
        return np.array(
            [
                metrics.aggregate_iqm(x),
                metrics.aggregate_median(x),
                metrics.aggregate_mean(x),
                metrics.aggregate_optimality_gap(x),
            ]
        )

    def profile(x: Any) -> Any:
        return np.concatenate(
            [library.score_distributions(x, thresholds), library.average_score_distributions(x, thresholds)]
        )

    found: dict[str, Any] = {"summaries": [], "profiles": [], "improvement": []}
    for a, x in enumerate(scores):
        for key, function in (("summaries", summary), ("profiles", profile)):
            entry = {"value": function(x).tolist()}
            for method in ("percentile", "basic"):
                entry[method] = interval(OfOne(x), runs[:, a], function, method)
            found[key].append(entry)
    for a in range(len(scores)):
        for b in range(a + 1, len(scores)):

            def win(x: Any, y: Any) -> Any:
                return np.array([metrics.probability_of_improvement(x, y)])

            entry = {"pair": [a, b], "value": win(scores[a], scores[b]).tolist()}
            for method in ("percentile", "basic"):
                made = OfTwo(scores[a], scores[b])
                entry[method] = interval(made, runs[:, [a, b]], win, method)
            found["improvement"].append(entry)
    return found


PROGRAMS = {"iqm": iqm, "poi": poi, "alpharank": alpharank, "numbers": numbers}

if __name__ == "__main__":
    what, given, answer = sys.argv[1:]
    result = PROGRAMS[what](np.load(given))
    Path(answer).write_text(json.dumps(result), encoding="utf-8")
