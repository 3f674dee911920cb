"""rliable's intervals compared with ours, on the same data, at the same level, for the same quantities.

    python benchmarks/comparison.py [--out FOLDER] [--data-sets 300] [--resamples 1000] [--trials 5 10 30 100]
    python benchmarks/comparison.py --check

The first draws data sets from populations of which the truth is known, those of `untuned.lab` and two suites of 26
environments, and writes comparison.json (about twenty minutes on two processors), of which `benchmarks/pages.py` makes
the tables of the documentation; the second, where rliable is installed, prints how far its intervals are from those of
the plain implementation here.

Data set number k is about algorithm or pair number k, cyclically, so that every data set counts once. The
quantities: the probability of improvement of one algorithm over another, averaged over environments, ties halved; the
mean score, averaged over environments; the interquartile mean of all scores. An interval is for one of them, at 95 %.
"""

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from itertools import combinations, product
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import ndtr
from scipy.stats import t as student_t

import untuned
from fingerprints import fingerprint
from untuned import lab
from untuned.judge.intervals.dkw import mean_interval
from untuned.lab.data_sets import ROUNDING, Design, data_set
from untuned.lab.mixtures import Law, mixture, normal, percentile, point
from untuned.scores import Floats

DELTA = 0.05
TRIALS = (5, 10, 30, 100)
FILE = "comparison.json"

Interval = tuple[float, float]
#: The scores of one algorithm, by environment.
Cells = Sequence[Floats]


def _suite(crashing: Fraction) -> list[list[Law]]:
    """Return three algorithms on 26 environments; trials crash with this probability, the third's twice as often."""
    gaps = [(0.0, 0.5 * math.sin(e) + 0.2, 0.8 * math.cos(e)) for e in range(26)]
    laws = [[normal(0.1 * e + gap[a], 1.0 + 0.5 * math.sin(7 * e)) for e, gap in enumerate(gaps)] for a in range(3)]
    if not crashing:
        return laws
    return [[mixture(1 - (1 + (a == 2)) * crashing, law, point(-20.0)) for law in row] for a, row in enumerate(laws)]


SUITES = (
    lab.KnownPopulation("suite", "normal scores, 26 environments", _suite(Fraction(0))),
    lab.KnownPopulation("suite-crashes", "the same, a tenth of all trials crash", _suite(Fraction(1, 10))),
)
#: Left out: in gap-1e-9 the truth is a billionth from all samples' estimates; declared is duplicates, for a pair.
POPULATIONS = (*(each for each in lab.populations() if each.name not in ("gap-1e-9", "declared")), *SUITES)


# --- the truth


def true_improvement(population: lab.KnownPopulation, a: int, b: int) -> float:
    """Return the probability of improvement of one algorithm over another."""
    pairs = zip(population.laws[a], population.laws[b], strict=True)
    return float(np.mean([float(percentile(mine, theirs, "mid-rank")) for mine, theirs in pairs]))


def true_mean(population: lab.KnownPopulation, a: int) -> float:
    """Return the mean score, averaged over environments."""

    def mean(law: Law) -> float:
        if population.exponential:
            return sum(float(part.weight) * math.exp(part.mean + part.deviation**2 / 2.0) for part in law)
        return sum(float(part.weight) * part.mean for part in law)

    return float(np.mean([mean(law) for law in population.laws[a]]))


def true_interquartile_mean(population: lab.KnownPopulation, a: int) -> float:
    """Return the mean of the middle half of scores, all environments together."""
    parts = [part for law in population.laws[a] for part in law]
    weight = np.array([float(part.weight) for part in parts]) / len(population.laws[a])
    mean = np.array([part.mean for part in parts])
    deviation = np.array([part.deviation for part in parts])
    spread = np.where(deviation > 0.0, deviation, 1.0)

    def below(logarithm: float) -> float:
        """Return E(q - X)+."""
        q = math.exp(logarithm) if population.exponential else logarithm
        x = (logarithm - mean) / spread
        if population.exponential:
            varying = q * ndtr(x) - np.exp(mean + deviation**2 / 2.0) * ndtr(x - deviation)
            fixed = np.maximum(q - np.exp(mean), 0.0)
        else:
            varying = (logarithm - mean) * ndtr(x) + spread * np.exp(-(x**2) / 2.0) / math.sqrt(2.0 * math.pi)
            fixed = np.maximum(q - mean, 0.0)
        return float(weight @ np.where(deviation > 0.0, varying, fixed))

    def up_to(p: float) -> float:
        """Return the integral of the quantile function from 0 to p, which is the largest q p - E(q - X)+ over q."""
        low, high = float((mean - 9.0 * deviation).min()) - 1.0, float((mean + 9.0 * deviation).max()) + 1.0
        # Where there are points, the largest is at one of them, or between two.
        grid = np.union1d(np.linspace(low, high, 4001), mean[deviation == 0.0])
        values = [p * (math.exp(q) if population.exponential else q) - below(q) for q in grid]
        best = int(np.argmax(values))
        found = minimize_scalar(
            lambda q: below(q) - p * (math.exp(q) if population.exponential else q),
            bounds=(grid[max(best - 1, 0)], grid[min(best + 1, grid.size - 1)]),
            method="bounded",
            options={"xatol": 1e-12},
        )
        return max(-float(found.fun), values[best])

    return 2.0 * (up_to(0.75) - up_to(0.25))


# --- as rliable does it


def counts(trials: int, resamples: int, rng: np.random.Generator) -> Floats:
    """Return how often each trial is drawn, ``[resample, trial]``."""
    places = rng.integers(trials, size=(resamples, trials)) + trials * np.arange(resamples)[:, None]
    return np.bincount(places.ravel(), minlength=resamples * trials).reshape(resamples, trials).astype(np.float64)


def ends(values: Floats) -> Interval:
    """Return the percentile interval."""
    low, high = np.percentile(values, [100.0 * DELTA / 2.0, 100.0 * (1.0 - DELTA / 2.0)])
    return float(low), float(high)


def bootstrap_improvement(mine: Cells, theirs: Cells, resamples: int, rng: np.random.Generator) -> Interval:
    values = np.zeros(resamples)
    for x, y in zip(mine, theirs, strict=True):
        won = (x[:, None] > y).astype(np.float64) + 0.5 * (x[:, None] == y)
        drawn = (counts(x.size, resamples, rng) @ won) * counts(y.size, resamples, rng)
        values += drawn.sum(axis=1) / (x.size * y.size)
    return ends(values / len(mine))


def bootstrap_means(cells: Cells, resamples: int, rng: np.random.Generator) -> tuple[Interval, Interval]:
    """Return the intervals of the mean and of the interquartile mean, from the same resamples."""
    drawn = [counts(cell.size, resamples, rng) for cell in cells]
    means = np.mean([each @ cell / cell.size for each, cell in zip(drawn, cells, strict=True)], axis=0)
    scores = np.concatenate(cells)
    order = np.argsort(scores, kind="stable")
    # scipy.stats.trim_mean cuts a whole number of scores at either end.
    cut = int(0.25 * scores.size)
    up_to = np.cumsum(np.concatenate(drawn, axis=1)[:, order], axis=1).clip(cut, scores.size - cut)
    kept = np.diff(up_to, axis=1, prepend=cut)
    return ends(means), ends(kept @ scores[order] / (scores.size - 2 * cut))


# --- ours, and Student's


def ours_improvement(table: untuned.ScoreTable, method: str) -> Interval:
    """Return the interval of the first algorithm's probability of improvement over the second."""
    first, second = table.algorithms
    m = len(table.environments)
    weights = np.column_stack([np.zeros(m), np.full(m, 1.0 / m)])
    found = untuned.evaluate(table, intervals=method, delta=DELTA, weights=weights)
    low, high = found.interval(first)
    # The second has 1/2 against itself, so the bounds on the difference are bounds on the same quantity.
    gap_low, gap_high = found.difference(first, second)
    return max(low, gap_low + 0.5), min(high, gap_high + 0.5)


def default_improvement(table: untuned.ScoreTable) -> Interval:
    """Return the interval by the default for equal weights; it excludes 1/2 where there is a verdict."""
    first, second = table.algorithms
    found = untuned.evaluate(table, weights="uniform", delta=DELTA)
    duel = found.head_to_head
    assert duel is not None
    # Under equal weights the scores of two algorithms differ by the probability of improvement minus 1/2.
    gap_low, gap_high = found.difference(first, second)
    low, high = max(float(duel.low_ab[0, 1]), gap_low + 0.5), min(float(duel.high_ab[0, 1]), gap_high + 0.5)
    verdict = found.verdict(first, second)
    if verdict == "better":
        low = max(low, math.nextafter(0.5, 1.0))
    elif verdict == "worse":
        high = min(high, math.nextafter(0.5, 0.0))
    return low, high


def student_mean(cells: Cells) -> Interval:
    """Return Student's interval of the average of means, with Satterthwaite's degrees of freedom."""
    shares = np.array([cell.var(ddof=1) / cell.size for cell in cells])
    centre = float(np.mean([cell.mean() for cell in cells]))
    if not shares.any():
        return centre, centre
    freedom = shares.sum() ** 2 / sum(share**2 / (cell.size - 1) for share, cell in zip(shares, cells, strict=True))
    half = float(student_t.ppf(1.0 - DELTA / 2.0, freedom)) * math.sqrt(shares.sum()) / len(cells)
    return centre - half, centre + half


def anderson_mean(cells: Cells, ranges: Sequence[tuple[float, float]]) -> Interval:
    """Return the average of Anderson's intervals, which hold together."""
    found = [mean_interval(cell, DELTA / len(cells), support) for cell, support in zip(cells, ranges, strict=True)]
    return float(np.mean([low for low, _ in found])), float(np.mean([high for _, high in found]))


# --- the experiment

IMPROVEMENT, MEAN, MIDDLE = "probability of improvement", "mean", "interquartile mean"
METHODS = {
    IMPROVEMENT: ("rliable", "pooled", "pairing", "wilson"),
    MEAN: ("rliable", "student", "anderson"),
    MIDDLE: ("rliable",),
}


def truths(population: lab.KnownPopulation) -> dict[str, list[float]]:
    """Return the truth about every pair, or every algorithm, by quantity."""
    everyone = range(len(population.laws))
    return {
        IMPROVEMENT: [true_improvement(population, a, b) for a, b in combinations(everyone, 2)],
        MEAN: [true_mean(population, a) for a in everyone],
        MIDDLE: [true_interquartile_mean(population, a) for a in everyone],
    }


def intervals(
    population: lab.KnownPopulation, trials: int, number: int, resamples: int
) -> Iterator[tuple[str, str, Interval]]:
    """Yield quantity, method and interval for one data set."""
    table = data_set(population, Design(trials), 0, number)
    rng = np.random.default_rng([20211, trials, number])
    n = len(population.laws)
    pairs = list(combinations(range(n), 2))
    a, b = pairs[number % len(pairs)]
    yield IMPROVEMENT, "rliable", bootstrap_improvement(table.cells[a], table.cells[b], resamples, rng)
    pair = table.select([table.algorithms[a], table.algorithms[b]])
    yield IMPROVEMENT, "pooled", default_improvement(pair)
    for method in METHODS[IMPROVEMENT][2:]:
        yield IMPROVEMENT, method, ours_improvement(pair, method)
    one = number % n
    cells = table.cells[one]
    mean, middle = bootstrap_means(cells, resamples, rng)
    yield MEAN, "rliable", mean
    yield MEAN, "student", student_mean(cells)
    yield MEAN, "anderson", anderson_mean(cells, table.ranges)
    yield MIDDLE, "rliable", middle


def rows(name: str, trials: int, data_sets: int, resamples: int) -> list[dict[str, Any]]:
    """Return what every method did on one population with one number of trials."""
    population = next(each for each in POPULATIONS if each.name == name)
    known = truths(population)
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for number in range(data_sets):
        for quantity, method, (low, high) in intervals(population, trials, number, resamples):
            truth = known[quantity][number % len(known[quantity])]
            row = found.setdefault(
                (quantity, method),
                {
                    "population": name,
                    "trials": trials,
                    "quantity": quantity,
                    "method": method,
                    "data_sets": data_sets,
                    "missed": 0,
                    "width": 0.0,
                    "decided": 0,
                    "wrong": 0,
                },
            )
            slack = ROUNDING * max(1.0, abs(truth))
            row["missed"] += bool(truth < low - slack or truth > high + slack)
            row["width"] += (high - low) / data_sets
            if quantity == IMPROVEMENT:
                row["decided"] += bool(low > 0.5 or high < 0.5)
                row["wrong"] += bool((low > 0.5 and truth <= 0.5) or (high < 0.5 and truth >= 0.5))
    for row in found.values():
        # JSON has no infinite numbers.
        row["width"] = float(f"{row['width']:.6g}") if math.isfinite(row["width"]) else None
    return list(found.values())


def run(out: Path, data_sets: int, resamples: int, trials: Sequence[int], workers: int) -> None:
    """Run everything and write the file."""
    jobs = [(each.name, count, data_sets, resamples) for each, count in product(POPULATIONS, trials)]
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as processes:
        done = []
        for number, found in enumerate(processes.map(rows, *zip(*jobs, strict=True)), 1):
            done += found
            print(f"\r{number} of {len(jobs)}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    lines = ",\n".join(map(json.dumps, done))
    settings = {"delta": DELTA, "resamples": resamples, "version": untuned.__version__}
    out.mkdir(parents=True, exist_ok=True)
    rest = {"settings": settings, "fingerprint": fingerprint("comparison")}
    (out / FILE).write_text(f'{{"rows": [\n{lines}\n],\n{json.dumps(rest)[1:]}\n', encoding="utf-8")


# --- against rliable itself


def check(resamples: int) -> None:
    """Print, for some data sets, rliable's interval, the one computed here, and their distance."""
    from rliable import library, metrics

    def theirs(scores: Any, function: Callable[..., float]) -> Interval:
        _, found = library.get_interval_estimates({"it": scores}, lambda *x: np.array([function(*x)]), reps=resamples)
        return float(found["it"][0, 0]), float(found["it"][1, 0])

    np.random.seed(1)  # noqa: NPY002 - rliable draws from the global generator
    for name in ("normal", "duplicates", "suite"):
        population = next(each for each in POPULATIONS if each.name == name)
        table = data_set(population, Design(10), 0, 0)
        rng = np.random.default_rng(1)
        first, second = (np.column_stack(table.cells[a]) for a in (0, 1))
        mean, middle = bootstrap_means(table.cells[0], resamples, rng)
        here = {
            IMPROVEMENT: bootstrap_improvement(table.cells[0], table.cells[1], resamples, rng),
            MEAN: mean,
            MIDDLE: middle,
        }
        there = {
            IMPROVEMENT: theirs([first, second], metrics.probability_of_improvement),
            MEAN: theirs(first, metrics.aggregate_mean),
            MIDDLE: theirs(first, metrics.aggregate_iqm),
        }
        for quantity, (low, high) in there.items():
            apart = max(abs(here[quantity][0] - low), abs(here[quantity][1] - high)) / (high - low)
            print(f"{name}, {quantity}: [{low:.4f}, {high:.4f}], here", end=" ")
            print(f"[{here[quantity][0]:.4f}, {here[quantity][1]:.4f}]: {100 * apart:.1f} % of the width apart")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("docs/results"))
    parser.add_argument("--data-sets", type=int, default=300)
    parser.add_argument("--resamples", type=int, default=1_000)
    parser.add_argument("--trials", type=int, nargs="+", default=list(TRIALS))
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if options.check:
        check(options.resamples)
    else:
        run(options.out, options.data_sets, options.resamples, options.trials, options.workers)


if __name__ == "__main__":
    main()
