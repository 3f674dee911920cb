"""The accuracy of plans: the trials predicted from a pilot, compared with the trials needed.

    python benchmarks/plan.py [--json FILE] [--folder FOLDER] [--methods pairing] [--sizes 100 300]
                              [--pilots 12] [--looks 5] [--refine 300] [--most 100000] [--populations normal ...]

From every population some pilots are drawn, and plans computed. The needed number is measured on other data sets: the
number of trials at which half of them decide the pair, found by bisection to 5 %. A row has, for the pairs that pilots
left open, the ratios predicted/actual: the median, the 10th and the 90th percentile, and the share within a factor of
2 and of 3; for all of them, and for those of at most ten times the pilot's trials, "near", and the others, "far". Of
the rest, "unforeseen" are pairs without a predicted number that ``--most`` trials do decide, "never" pairs with one
that these do not. The last rows are over all populations. With ``--folder``, the results that `benchmarks/power.py`
collects, its scores are a population, too, from which data sets are drawn with replacement.
"""

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import recording
import untuned
from untuned.judge.judging import Judging
from untuned.judge.plan import plan
from untuned.lab import CollectedPopulation, KnownPopulation, Population, population
from untuned.plans import FAR
from untuned.scores import Floats

POPULATIONS = ["normal", "atom", "duplicates", "divergence", "lognormal", "scales", "unequal"]
CLOSE = 1.05


class Actual:
    """The numbers of trials at which half of some data sets decide."""

    def __init__(
        self,
        drawn_from: Population,
        judging: Judging,
        looks: int,
        most: int,
        *,
        close: float = CLOSE,
        key: tuple[int, ...] = (),
    ) -> None:
        self._key = key
        self._population = drawn_from
        self._judging = judging
        self._looks = looks
        self._close = close
        self.most = most
        self._shares = cache(self._share)

    def trials(self, better: str, worse: str) -> float:
        """Return the number at which half of the data sets decide, infinite if the largest is too small."""
        low, high = 1.0, float(self.most)
        if not self._decided(self.most, better, worse):
            return float("inf")
        while high / low > self._close:
            middle = float(np.sqrt(low * high))
            if self._decided(round(middle), better, worse):
                high = middle
            else:
                low = middle
        return high

    def _decided(self, trials: int, better: str, worse: str) -> bool:
        # Numbers of trials in equal ratios, so that pairs share data sets.
        step = round(np.log(trials) / np.log(self._close))
        names, share_ab = self._shares(step)
        return bool(share_ab[names.index(better), names.index(worse)] >= 0.5)

    def _share(self, step: int) -> tuple[tuple[str, ...], Floats]:
        trials = min(max(round(self._close**step), 2), self.most)
        found: list[Floats] = []
        names: tuple[str, ...] = ()
        for number in range(self._looks):
            table = self._population.sample(trials, np.random.default_rng([3, number, trials, *self._key]))
            names = table.algorithms
            judged = self._judging.judge(table, workers=1)
            found.append(judged.pairs.better_ab.astype(np.float64))
        return names, np.mean(found, axis=0)


@dataclass
class Compared:
    """Predictions compared with needed numbers."""

    quotients: dict[str, list[float]] = field(default_factory=lambda: {"near": [], "far": []})
    unforeseen: int = 0
    never: int = 0
    planning: float = 0.0
    evaluating: float = 0.0

    def add(self, other: "Compared") -> None:
        """Add those of another population."""
        for where, each in other.quotients.items():
            self.quotients[where] += each
        self.unforeseen += other.unforeseen
        self.never += other.never
        self.planning += other.planning
        self.evaluating += other.evaluating

    def rows(self, **what: object) -> Iterator[dict[str, Any]]:
        """Yield the columns of a row."""
        both = {"all": [each for quotients in self.quotients.values() for each in quotients], **self.quotients}
        for where, quotients in both.items():
            if quotients:
                found = np.array(quotients)
                yield {
                    **what,
                    "predictions": where,
                    "pairs": found.size,
                    "median": round(float(np.median(found)), 2),
                    "tenth": round(float(np.quantile(found, 0.1)), 2),
                    "ninetieth": round(float(np.quantile(found, 0.9)), 2),
                    **{f"within_{k}": round(float(np.mean(np.maximum(found, 1.0 / found) <= k)), 2) for k in (2, 3)},
                    "unforeseen": self.unforeseen,
                    "never": self.never,
                    "evaluations_worth": round(self.planning / self.evaluating, 1),
                }


def compared(
    drawn_from: Population, judging: Judging, size: int, pilots: int, actual: Actual, key: tuple[int, ...] = ()
) -> Compared:
    """Compare predictions with needed numbers; data sets of populations with different keys are independent."""
    found = Compared()
    for number in range(pilots):
        table = drawn_from.sample(size, np.random.default_rng([4, number, size, *key]))
        begin = time.process_time()
        evaluation = judging.judge(table, workers=1)
        between = time.process_time()
        planned = plan(evaluation)
        found.evaluating += between - begin
        found.planning += time.process_time() - between
        for pair in planned.pairs:
            taken = min(actual.trials(pair.a, pair.b), actual.trials(pair.b, pair.a))
            if pair.trials is None:
                found.unforeseen += bool(np.isfinite(taken))
            elif np.isfinite(taken):
                where = "near" if pair.trials <= FAR * planned.fewest else "far"
                found.quotients[where].append(pair.trials / taken)
            elif pair.trials <= actual.most:
                found.never += 1
    return found


def measured(chosen: list[Population], options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield the rows of every population, method and size of pilots, and those of all populations together."""
    totals = {(method, size): Compared() for method in options.methods for size in options.sizes}
    for each in chosen:
        # A plan is for the same number in every cell.
        even = replace(each, shares=()) if isinstance(each, KnownPopulation) else each
        for method in options.methods:
            judging = Judging(intervals=method, weights="game", refine=options.refine)
            actual = Actual(even, judging, options.looks, options.most)
            for size in options.sizes:
                found = compared(each, judging, size, options.pilots, actual)
                totals[method, size].add(found)
                yield from found.rows(population=each.name, method=method, pilot=size)
    for (method, size), total in totals.items():
        yield from total.rows(population="all", method=method, pilot=size)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    recording.add_door(parser)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--methods", nargs="+", default=["pairing"])
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 300])
    parser.add_argument("--pilots", type=int, default=12)
    parser.add_argument("--looks", type=int, default=5)
    parser.add_argument("--refine", type=int, default=300)
    parser.add_argument("--most", type=int, default=100_000)
    parser.add_argument("--populations", nargs="*", default=POPULATIONS)
    options = parser.parse_args()
    chosen: list[Population] = [population(name) for name in options.populations]
    if options.folder is not None:
        chosen.append(CollectedPopulation(untuned.read_scores(options.folder), "paper's test"))
    recording.show(measured(chosen, options), options, "plan", recording.plain)


if __name__ == "__main__":
    main()
