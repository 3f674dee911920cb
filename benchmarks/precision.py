"""What float32 does to scores: the same trials in both precisions, compared pair by pair.

    python benchmarks/precision.py --trials 400 --environments cart-pole mountain-car --algorithms sarsa-s ac-s

The two trials of a pair have the same draws and start alike; roundings then lead them apart, so single scores differ
while their distributions should not. One JSON object a line with --json: the means, the mean difference, its standard
error and z, and the ratio of the times.
"""

import argparse
import json
import math
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from untuned.collect.runner.trial import TrialResult, run_trial


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--trials", type=int, default=400)
    parser.add_argument("--environments", nargs="+", default=["cart-pole", "mountain-car"], metavar="NAME")
    parser.add_argument("--algorithms", nargs="+", default=["sarsa", "sarsa-s", "sarsa-parl2", "ac-s"], metavar="NAME")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    arguments = parser.parse_args()

    def pair(cell: tuple[str, str], trial: int) -> tuple[TrialResult, TrialResult]:
        algorithm, environment = cell
        return (
            run_trial(algorithm, environment, trial=trial, precision="float64"),
            run_trial(algorithm, environment, trial=trial, precision="float32"),
        )

    for environment in arguments.environments:
        for algorithm in arguments.algorithms:
            with ThreadPoolExecutor(arguments.workers) as pool:
                cell = (algorithm, environment)
                pairs = list(pool.map(lambda trial, cell=cell: pair(cell, trial), range(arguments.trials)))
            scores = np.array([[each.score for each in both] for both in pairs])
            difference = scores[:, 1] - scores[:, 0]
            error = float(difference.std(ddof=1)) / math.sqrt(len(pairs))
            seconds = [sum(both[i].seconds / both[i].steps for both in pairs) for i in range(2)]
            line = {
                "environment": environment,
                "algorithm": algorithm,
                "trials": len(pairs),
                "float64": round(float(scores[:, 0].mean()), 3),
                "float32": round(float(scores[:, 1].mean()), 3),
                "difference": round(float(difference.mean()), 3),
                "standard_error": round(error, 3),
                "z": round(float(difference.mean()) / error, 2) if error > 0 else 0.0,
                "diverged": [float(np.mean([both[i].diverged for both in pairs])) for i in range(2)],
                "time_per_step": round(seconds[1] / seconds[0], 3),
            }
            text = json.dumps(line) if arguments.json else "  ".join(f"{key} {value}" for key, value in line.items())
            print(text, flush=True)


if __name__ == "__main__":
    main()
