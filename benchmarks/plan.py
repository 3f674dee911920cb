"""How good plans are: the trials that are predicted from a pilot beside those that it takes.

    python benchmarks/plan.py [--json] [--folder FOLDER] [--methods pairing betting] [--sizes 100 300]
                              [--pilots 20] [--looks 9] [--populations normal ...]

From every population some pilots are drawn, and planned with. What it takes is measured on other data sets: the number
of trials at which half of them decide the pair, found by bisection up to 5 %. A row has, for all pairs that pilots left
open, the quotients predicted/actual: the median, the tenth and the ninetieth percentile, and how many are within a
factor of 2 and of 3. "unforeseen" counts pairs without a predicted number that 100,000 trials do decide; "never" those
with one that they do not. With ``--folder``, the results of `benchmarks/power.py`, its scores are a population, too.
"""

import argparse
import json
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import untuned
from untuned.judge.evaluate import evaluate
from untuned.judge.plan import plan
from untuned.lab import CollectedPopulation, Population, population
from untuned.scores import Floats

POPULATIONS = ["normal", "atom", "duplicates", "divergence", "lognormal", "scales", "unequal"]
MOST = 100_000
CLOSE = 1.05


class Actual:
    """Numbers of trials that it takes, by what half of some data sets show."""

    def __init__(self, drawn_from: Population, method: str, looks: int) -> None:
        self._population = drawn_from
        self._method = method
        self._looks = looks
        self._shares = cache(self._share)

    def trials(self, better: str, worse: str) -> float:
        """Return the number at which half of the data sets have it, infinite if that is not 100,000."""
        low, high = 1.0, float(MOST)
        if not self._decided(MOST, better, worse):
            return float("inf")
        while high / low > CLOSE:
            middle = float(np.sqrt(low * high))
            if self._decided(round(middle), better, worse):
                high = middle
            else:
                low = middle
        return high

    def _decided(self, trials: int, better: str, worse: str) -> bool:
        # Numbers of trials in equal ratios, so that pairs share data sets.
        step = round(np.log(trials) / np.log(CLOSE))
        names, share_ab = self._shares(step)
        return bool(share_ab[names.index(better), names.index(worse)] >= 0.5)

    def _share(self, step: int) -> tuple[tuple[str, ...], Floats]:
        trials = min(max(round(CLOSE**step), 2), MOST)
        found: list[Floats] = []
        names: tuple[str, ...] = ()
        for number in range(self._looks):
            table = self._population.sample(trials, np.random.default_rng([3, number, trials]))
            names = table.algorithms
            found.append(evaluate(table, intervals=self._method).pairs.better_ab.astype(np.float64))
        return names, np.mean(found, axis=0)


def rows(drawn_from: Population, method: str, sizes: list[int], pilots: int, looks: int) -> Iterator[dict[str, Any]]:
    """Compare predictions with what it takes."""
    actual = Actual(drawn_from, method, looks)
    for size in sizes:
        quotients, unforeseen, never, seconds, evaluating = [], 0, 0, 0.0, 0.0
        for number in range(pilots):
            table = drawn_from.sample(size, np.random.default_rng([4, number, size]))
            begin = time.perf_counter()
            evaluation = evaluate(table, intervals=method)
            evaluating += time.perf_counter() - begin
            begin = time.perf_counter()
            found = plan(evaluation)
            seconds += time.perf_counter() - begin
            for pair in found.pairs:
                taken = min(actual.trials(pair.a, pair.b), actual.trials(pair.b, pair.a))
                if pair.trials is None:
                    unforeseen += np.isfinite(taken)
                elif np.isfinite(taken):
                    # Unequal cells: a plan is for the smallest.
                    share = drawn_from.sizes(1000)
                    quotients.append(pair.trials / max(taken * min(share) / 1000.0, 1.0))
                elif pair.trials <= MOST:
                    never += 1
        if not quotients:
            continue
        within = [float(np.mean([1.0 / k <= each <= k for each in quotients])) for k in (2, 3)]
        yield {
            "population": drawn_from.name,
            "method": method,
            "pilot": size,
            "pairs": len(quotients),
            "median": round(float(np.median(quotients)), 2),
            "tenth": round(float(np.quantile(quotients, 0.1)), 2),
            "ninetieth": round(float(np.quantile(quotients, 0.9)), 2),
            "within_2": round(within[0], 2),
            "within_3": round(within[1], 2),
            "unforeseen": int(unforeseen),
            "never": never,
            "evaluations_worth": round(seconds / evaluating, 1),
            "seconds_each": round(seconds / pilots, 2),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--methods", nargs="+", default=["pairing", "betting"])
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 300])
    parser.add_argument("--pilots", type=int, default=20)
    parser.add_argument("--looks", type=int, default=9)
    parser.add_argument("--populations", nargs="*", default=POPULATIONS)
    options = parser.parse_args()
    chosen: list[Population] = [population(name) for name in options.populations]
    if options.folder is not None:
        chosen.append(CollectedPopulation(untuned.read_scores(options.folder), "paper's test"))
    for each in chosen:
        for method in options.methods:
            for row in rows(each, method, options.sizes, options.pilots, options.looks):
                if options.json:
                    print(json.dumps(row), flush=True)
                else:
                    print("  ".join(f"{key} {value}" for key, value in row.items()), flush=True)


if __name__ == "__main__":
    main()
