"""The width of the intervals on a percentile, by method, number of trials and kind of scores.

    python benchmarks/widths.py [--json FILE] [--samples N] [--level D] [--trials T ...] [--block B ...]

Prints mean half widths, one line per population and number of trials. Two samples of T scores each. The populations:
normal distributions whose shift makes the percentile .5, .8 or .99; a constant score against one of two values (z =
.9), where all pairings are equivalent, so averaging over them gains nothing; and five levels with many ties. All
methods use the same level for the pair, .05/165 by default, except that each of the paper's bands, one per sample, has
it. With --block, betting (in trials per block) and pairing (in most trials per block) are also measured with other
blocks.
"""

import argparse
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.special import ndtri

import recording
from untuned.judge.intervals import bentkus, betting, dkw, kl, pairing, wilson
from untuned.judge.percentiles import Percentiles, percentiles
from untuned.judge.pool import Pool, pools
from untuned.scores import EVERYWHERE, Floats, ScoreTable

LEVEL = 0.05 / 165
TRIALS = (30, 100, 1000, 10_000)

Pair = tuple[Floats, Floats]
Draw = Callable[[np.random.Generator, int], Pair]
Interval = Callable[[ScoreTable, tuple[Pool, ...], Percentiles, float], tuple[Floats, Floats]]


def shifted(z: float) -> Draw:
    """Return a function that draws from normal distributions with this percentile."""
    shift = math.sqrt(2.0) * float(ndtri(z))
    return lambda rng, trials: (rng.normal(shift, 1.0, trials), rng.normal(0.0, 1.0, trials))


def constant(rng: np.random.Generator, trials: int) -> Pair:
    return np.zeros(trials), np.where(rng.random(trials) < 0.9, -1.0, 1.0)


def levels(rng: np.random.Generator, trials: int) -> Pair:
    weights = [0.1, 0.15, 0.2, 0.25, 0.3]
    scores = np.arange(5.0)
    return rng.choice(scores, trials, p=weights), rng.choice(scores, trials, p=weights[::-1])


POPULATIONS: dict[str, Draw] = {
    "normal, z = .5": shifted(0.5),
    "normal, z = .8": shifted(0.8),
    "normal, z = .99": shifted(0.99),
    "constant and two points, z = .9": constant,
    "five levels, z = .7": levels,
}

METHODS: dict[str, Interval] = {
    "pbp": lambda table, pooled, found, level: dkw.percentile_intervals(pooled, (EVERYWHERE,), level, "mid-rank"),
    "kl": lambda table, pooled, found, level: kl.percentile_intervals(pooled, found, level),
    "bentkus": lambda table, pooled, found, level: bentkus.percentile_intervals(pooled, found, level),
    "betting": betting.percentile_intervals,
    "pairing": pairing.percentile_intervals,
    "wilson": lambda table, pooled, found, level: wilson.percentile_intervals(pooled, found, level),
}


def half_widths(pair: Pair, level: float, blocks: list[int]) -> dict[str, float]:
    """Return half the width of each method's interval."""
    table = ScoreTable.from_array([[sample] for sample in pair])
    pooled = pools(table)
    estimates = percentiles(pooled)
    found = {}
    for name, intervals in METHODS.items():
        low, high = intervals(table, pooled, estimates, level)
        found[name] = float(high[0, 0, 1] - low[0, 0, 1]) / 2.0
    w, nats = np.expm1(betting.TILTS), math.log(2.0 / level)
    for block in blocks:
        first, second = (betting.lower_limit(*each, w, nats, block) for each in (pair, pair[::-1]))
        found[f"betting/{block}"] = (1.0 - first - second) / 2.0
        wins = pairing.wins_in_blocks(*pair, block)
        first, second = (pairing.lower_limit(each, level, pairing.POWER) for each in (wins, wins[::-1].copy()))
        found[f"pairing/{block}"] = (1.0 - first - second) / 2.0
    return found


def measured(trials: list[int], samples: int, level: float, blocks: list[int]) -> Iterator[dict[str, Any]]:
    """Yield the mean half widths for each population and number of trials."""
    for name, draw in POPULATIONS.items():
        for count in trials:
            rng = np.random.default_rng([20601, count])
            found = [half_widths(draw(rng, count), level, blocks) for _ in range(samples)]
            means = {each: float(f"{np.mean([row[each] for row in found]):.4g}") for each in found[0]}
            yield {"population": name, "trials": count, **means}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    recording.add_door(parser)
    parser.add_argument("--samples", type=int, default=20, help="data sets per line")
    parser.add_argument("--level", type=float, default=LEVEL, help="of each interval")
    parser.add_argument("--trials", type=int, nargs="+", default=list(TRIALS), help="of each sample")
    parser.add_argument("--block", type=int, nargs="*", default=[], help="other sizes of blocks to measure")
    arguments = parser.parse_args()
    if min(arguments.samples, *arguments.trials, *arguments.block) < 1:
        parser.error("every number is 1 or more")
    if not 0.0 < arguments.level < 1.0:
        parser.error("the level is between 0 and 1")
    rows = measured(arguments.trials, arguments.samples, arguments.level, arguments.block)
    recording.show(rows, arguments, "widths", recording.plain)


if __name__ == "__main__":
    main()
