"""The effect of float32 on scores: the same trials in both precisions, compared pair by pair.

    python benchmarks/precision.py --trials 400 --environments cart-pole mountain-car --algorithms sarsa-s ac-s

The two trials of a pair have the same draws and the same start; then rounding makes them diverge, so single scores
differ while their distributions should not. A row has the means, the mean difference, its standard error and z, and the
ratio of the times.
"""

import argparse
import math
import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import recording
from untuned import UntunedError, algorithm, environment
from untuned.collect.definitions.definition import Definition
from untuned.collect.environments.environment import CompiledEnvironment
from untuned.collect.runner.trial import PRECISIONS, run_trial
from untuned.collect.trial import Trial

Cell = tuple[Definition, CompiledEnvironment]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--trials", type=int, default=400)
    parser.add_argument("--environments", nargs="+", default=["cart-pole", "mountain-car"], metavar="NAME")
    parser.add_argument("--algorithms", nargs="+", default=["sarsa", "sarsa-s", "sarsa-parl2", "ac-s"], metavar="NAME")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    recording.add_door(parser)
    arguments = parser.parse_args()
    if arguments.trials < 2 or arguments.workers < 1:
        parser.error("--trials is 2 or more, --workers 1 or more")
    try:
        cells = [(algorithm(a), environment(e)) for e in arguments.environments for a in arguments.algorithms]
    except UntunedError as error:
        parser.error(str(error))

    def measured(cell: Cell, trial: int, precision: str) -> tuple[Trial, float]:
        begin = time.thread_time()
        result = run_trial(*cell, trial=trial, precision=precision)
        # CPU time, which does not depend on the machine's load.
        return result, (time.thread_time() - begin) / result.steps

    def pair(cell: Cell, trial: int) -> list[tuple[Trial, float]]:
        return [measured(cell, trial, precision) for precision in PRECISIONS]

    def rows() -> Iterator[recording.Row]:
        for cell in cells:
            # Compiled beforehand, not measured.
            pair(cell, 0)
            with ThreadPoolExecutor(arguments.workers) as pool:
                pairs = list(pool.map(lambda trial, cell=cell: pair(cell, trial), range(arguments.trials)))
            yield facts(cell, pairs)

    recording.show(rows(), arguments, "precision", recording.plain)


def facts(cell: Cell, pairs: list[list[tuple[Trial, float]]]) -> recording.Row:
    """Return the row of a cell, from its trials in both precisions with their costs per step."""
    scores = np.array([[result.score for result, _ in both] for both in pairs])
    costs = np.array([[cost for _, cost in both] for both in pairs]).sum(axis=0)
    difference = scores[:, 1] - scores[:, 0]
    error = float(difference.std(ddof=1)) / math.sqrt(len(pairs))
    return {
        "environment": cell[1].name,
        "algorithm": cell[0].name,
        "trials": len(pairs),
        "float64": round(float(scores[:, 0].mean()), 3),
        "float32": round(float(scores[:, 1].mean()), 3),
        "difference": round(float(difference.mean()), 3),
        "standard_error": round(error, 3),
        "z": round(float(difference.mean()) / error, 2) if error > 0 else None,
        "diverged": [float(np.mean([both[i][0].diverged for both in pairs])) for i in range(2)],
        "time_per_step": round(float(costs[1] / costs[0]), 3),
    }


if __name__ == "__main__":
    main()
