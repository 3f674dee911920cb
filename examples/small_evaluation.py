"""A small complete evaluation: trials of four algorithms on four environments, their scores as a CSV, and the verdict.

    python examples/small_evaluation.py [--trials N] [--out FOLDER]

The CSV is of the kind that `untuned evaluate` takes from anybody: columns algorithm, environment and score.
"""

import argparse
import csv
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

import untuned

ALGORITHMS = ("sarsa-parl2", "q-parl2", "sarsa-s", "ac-s")
ENVIRONMENTS = (
    "chain-10-deterministic",
    "chain-10-stochastic",
    "gridworld-5-deterministic",
    "gridworld-5-stochastic",
)


def main() -> None:
    """Run the trials, write their scores, evaluate them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--trials", type=int, default=300, help="per algorithm and environment")
    parser.add_argument("--out", type=Path, default=Path("demo"), help="the folder for the scores")
    arguments = parser.parse_args()
    if arguments.trials < 1:
        parser.error("--trials is 1 or more")
    arguments.out.mkdir(parents=True, exist_ok=True)

    keys = list(product(ALGORITHMS, ENVIRONMENTS, range(arguments.trials)))
    # Kernels run without the interpreter's lock, so threads use all processors.
    with ThreadPoolExecutor() as threads:
        results = threads.map(lambda key: untuned.run_trial(key[0], key[1], trial=key[2]), keys)
        rows = [(*key, result.score) for key, result in zip(keys, results, strict=True)]
    path = arguments.out / "scores.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["algorithm", "environment", "trial", "score"])
        writer.writerows(rows)

    ranges = {name: untuned.environment(name).score_range or (float("-inf"), float("inf")) for name in ENVIRONMENTS}
    print(untuned.evaluate(path, ranges=ranges))
    print(f"\nThe scores are in {path}. Try: untuned evaluate {path} --environments")


if __name__ == "__main__":
    main()
