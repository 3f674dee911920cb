"""The speed of judging: percentiles, bounds and the bootstrap, against plain implementations; and how it grows.

    python benchmarks/judge.py [--json FILE] [--trials T] [--resamples N] [--peer-bounds N] [--peer-resamples N]
                               [--only stages bounds bootstrap workers rows growth whole]

The board is the paper's, 11 algorithms on 15 environments, with scores drawn so that half of the environments have many
ties. The peers are below: bounds by policy iteration on dense matrices, solved by LU; the bootstrap by drawing, sorting
and searching every cell of every resample and solving its equilibrium by LU. "rows" sums over the moves of long rows by
Fenwick trees and by testing every move; "whole" is everything that `untuned.evaluate` does by default, on the same
board and on a large one. Peers are timed on a few bounds and resamples and extrapolated, as the output says. Everything
uses the same number of processors, at most two: ours as threads, the peers through their linear algebra. Single threads
are measured in CPU time.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

# The peers' linear algebra reads this when it is loaded.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "2")

import numpy as np

import recording
from untuned.judge.bootstrap import resampled
from untuned.judge.game import POPULATION, aggregate, constants, equilibrium
from untuned.judge.intervals.dkw import percentile_intervals
from untuned.judge.judging import Judging
from untuned.judge.methods import boxes, method
from untuned.judge.percentiles import percentiles
from untuned.judge.pool import pools
from untuned.judge.propagate import aggregate_goals, propagated, solutions
from untuned.judge.simultaneous_intervals import Boxes, structural
from untuned.judge.transitions import board, departures, new_policy, rank_worth, settle
from untuned.scores import Floats, ScoreTable

WORKERS = 2
DELTA = 0.05
PARTS = ("stages", "bounds", "bootstrap", "workers", "rows", "growth", "whole")
SIZES = [(n, m) for m in (15, 57) for n in (5, 11, 20, 50)]
WHOLE = ((4, 9, 1_000), (11, 15, 1_000), (20, 57, 100), (50, 57, 100))


def timed(work: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> tuple[float, Any]:
    started = clock()
    found = work()
    return clock() - started, found


#: The clock for single threads: CPU time, independent of the machine's load.
alone = partial(timed, clock=time.process_time)


def scores(algorithms: int, environments: int, trials: int, seed: int = 0) -> ScoreTable:
    """Return a table in which algorithms differ, and every other environment has many ties."""
    rng = np.random.default_rng(seed)
    skill = rng.normal(size=(algorithms, environments, 1))
    drawn = skill + rng.normal(size=(algorithms, environments, trials))
    drawn[:, ::2] = np.round(drawn[:, ::2], 2)
    return ScoreTable.from_array(drawn)


def dense_bound(reward: Floats, box: Boxes) -> float:
    """Return the largest aggregate by policy iteration on a dense matrix, as the paper describes it."""
    n, m, _ = box.low_aer.shape
    eta, gamma, states = constants(n, m)
    row, column = np.divmod(np.arange(states), m * n)
    low, high, same = box.low_aer.ravel(), box.high_aer.ravel(), box.same_aer.ravel()
    climbs = (column[:, None] == column) & (row[:, None] != row)
    descends = (row[:, None] == row) & (column[:, None] != column)
    tied = (climbs | descends) & (same[:, None] == same)
    certain = (climbs & (low > high[:, None])) | (descends & (high < low[:, None]))
    excluded = (climbs & (high < low[:, None])) | (descends & (low > high[:, None]))
    open_ = (climbs | descends) & ~tied & ~certain & ~excluded
    fixed = np.where(tied, eta / POPULATION, np.where(certain, eta, 0.0))
    rewards = np.tile(reward.ravel(), n)
    values: Floats = rewards
    for _ in range(100):
        moves = np.where(open_ & (values > values[:, None]), eta, fixed)
        np.fill_diagonal(moves, 1.0 - moves.sum(axis=1))
        better: Floats = np.linalg.solve(np.eye(states) - gamma * moves, rewards).astype(np.float64)
        settled = np.abs(better - values).max() <= 1e-9
        values = better
        if settled:
            break
    return float((1.0 - gamma) * values.mean())


def plain_resample(table: ScoreTable, rng: np.random.Generator) -> Floats:
    """Return the aggregates of one resample, the straightforward way."""
    n, m = len(table.algorithms), len(table.environments)
    z = np.full((n, m, n), 0.5)
    for e in range(m):
        drawn = [np.sort(rng.choice(row[e], row[e].size)) for row in table.cells]
        for a in range(n):
            for r in range(n):
                if a != r:
                    below = np.searchsorted(drawn[r], drawn[a], side="left")
                    upto = np.searchsorted(drawn[r], drawn[a], side="right")
                    z[a, e, r] = (below.mean() + upto.mean()) / (2 * drawn[r].size)
    eta, gamma, states = constants(n, m)
    row, column = np.divmod(np.arange(states), m * n)
    flat = z.ravel()
    climbs = (column[:, None] == column) & (row[:, None] != row)
    descends = (row[:, None] == row) & (column[:, None] != column)
    better = (climbs & (flat > flat[:, None])) | (descends & (flat < flat[:, None]))
    tied = (climbs | descends) & (flat == flat[:, None])
    moves = np.where(better, eta, np.where(tied, eta / POPULATION, 0.0))
    np.fill_diagonal(moves, 1.0 - moves.sum(axis=1))
    d = np.linalg.solve((np.eye(states) - gamma * moves).T, np.full(states, (1.0 - gamma) / states))
    return aggregate(z, d.reshape(n, m, n).sum(axis=0))


def stages(table: ScoreTable) -> Iterator[dict[str, Any]]:
    """Time the steps up to the boxes."""
    percentiles(pools(scores(2, 2, 10)))
    percentile_intervals(pools(scores(2, 2, 10)), ((-np.inf, np.inf),) * 2, DELTA, "mid-rank")
    seconds, pooled = alone(lambda: pools(table))
    yield {"stage": "sort and pool", "seconds": round(seconds, 3)}
    seconds, estimates = alone(lambda: percentiles(pooled))
    yield {"stage": "percentiles", "seconds": round(seconds, 3)}
    seconds, _ = alone(lambda: boxes(method("pbp"), table, pooled, estimates, DELTA, "valid"))
    yield {"stage": "DKW and Anderson", "seconds": round(seconds, 3)}
    for name in ("kl", "bentkus", "betting", "pairing", "wilson"):
        small = scores(2, 2, 30)
        of_small = pools(small)
        boxes(method(name), small, of_small, percentiles(of_small), DELTA, "valid")
        seconds, _ = alone(partial(boxes, method(name), table, pooled, estimates, DELTA, "valid"))
        yield {"stage": f"intervals by {name}", "seconds": round(seconds, 3)}
    equilibrium(estimates.z_aer)
    seconds, _ = alone(lambda: equilibrium(estimates.z_aer))
    yield {"stage": "equilibrium", "seconds": round(seconds, 4)}


def against_dense(table: ScoreTable, few: int) -> dict[str, Any]:
    """Time all bounds, and some of them by dense LU."""
    pooled = pools(table)
    box = boxes(method("pbp"), table, pooled, percentiles(pooled), DELTA, "valid")
    total = 2 * len(table.algorithms)
    propagated(box, workers=WORKERS)
    seconds, found = timed(lambda: propagated(box, workers=WORKERS))
    peer_seconds, peers = timed(lambda: [dense_bound(box.high_aer[i], box) for i in range(few)])
    error = max(abs(peer - ours) for peer, ours in zip(peers, found.high_a, strict=False))
    return {
        "bounds": total,
        "seconds": round(seconds, 3),
        "dense_seconds": round(peer_seconds / few * total, 1),
        "vs_dense": round(peer_seconds / few * total / seconds, 1),
        "dense_measured": few,
        "largest_difference": float(f"{error:.1e}"),
        "slack": float(f"{found.slack:.1e}"),
    }


def against_plain(table: ScoreTable, resamples: int, few: int) -> dict[str, Any]:
    """Time the bootstrap, and some resamples the straightforward way."""
    pooled = pools(table)
    start = equilibrium(percentiles(pooled).z_aer).d_aer
    resampled(pooled, start, "mid-rank", 2, 0)
    seconds, found = timed(lambda: resampled(pooled, start, "mid-rank", resamples, 0, workers=WORKERS))
    rng = np.random.default_rng(0)
    plain_seconds, plain = timed(lambda: np.array([plain_resample(table, rng) for _ in range(few)]))
    deviation = np.abs(plain.mean(axis=0) - found.mean(axis=0)) / (found.std(axis=0) / np.sqrt(few))
    return {
        "resamples": resamples,
        "seconds": round(seconds, 1),
        "plain_seconds": round(plain_seconds / few * resamples),
        "vs_plain": round(plain_seconds / few * resamples / seconds, 1),
        "plain_measured": few,
        "largest_deviation_in_standard_errors": round(float(deviation.max()), 1),
    }


def two_workers(table: ScoreTable) -> dict[str, Any]:
    """Time some resamples with one thread and with two."""
    pooled = pools(table)
    start = equilibrium(percentiles(pooled).z_aer).d_aer
    resampled(pooled, start, "mid-rank", 2, 0)
    one, alone = timed(lambda: resampled(pooled, start, "mid-rank", 100, 0, workers=1))
    two, together = timed(lambda: resampled(pooled, start, "mid-rank", 100, 0, workers=2))
    return {"workers": 2, "vs_one": round(one / two, 2), "identical": bool((alone == together).all())}


def peak_afresh() -> None:
    """Reset the peak of memory use: compiling needs more memory than the compiled code (Linux only)."""
    Path("/proc/self/clear_refs").write_text("5")


def kilobytes(what: str) -> int:
    """Return a line of the process's status."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(status[what].split()[0])


def random_boxes(algorithms: int, environments: int, rng: np.random.Generator, half: float = 0.04) -> Boxes:
    """Return intervals around the percentiles of algorithms with random skills."""
    skill = rng.normal(size=(algorithms, environments))
    z = 1.0 / (1.0 + np.exp(skill.T[None, :, :] - skill[:, :, None]))
    own = np.arange(algorithms)
    low, high = np.clip(z - half, 0.0, 1.0), np.clip(z + half, 0.0, 1.0)
    low[own, :, own] = high[own, :, own] = 0.5
    return Boxes(low, high, structural(np.tile(np.arange(algorithms), (environments, 1))))


def grown(algorithms: int, environments: int) -> dict[str, Any]:
    """Time one bound on a board, and measure the memory that the process needed."""
    box = random_boxes(algorithms, environments, np.random.default_rng(0))
    small = scores(2, 2, 10)
    pooled = pools(small)
    propagated(boxes(method("pbp"), small, pooled, percentiles(pooled), DELTA, "valid"), parts=1)
    equilibrium(np.full((2, 2, 2), 0.5))
    peak_afresh()
    before = kilobytes("VmHWM")
    balance_seconds, _ = alone(lambda: equilibrium(0.5 * (box.low_aer + box.high_aer)))
    seconds, found = alone(lambda: solutions([aggregate_goals(box)[0]], box, parts=1)[0])
    slack = found.slack
    more = kilobytes("VmHWM") - before
    states = algorithms * algorithms * environments
    return {
        "algorithms": algorithms,
        "environments": environments,
        "states": states,
        "equilibrium_seconds": round(balance_seconds, 4),
        "bound_seconds": round(seconds, 3),
        "all_bounds_two_threads_seconds": round(seconds * algorithms, 1),
        "memory_megabytes": round(more / 1024, 1),
        "bytes_per_state": round(1024 * more / states),
        "slack": float(f"{slack:.1e}"),
    }


def rows() -> Iterator[dict[str, Any]]:
    """Time the sums over moves with trees and without, the best of five each."""
    for algorithms, environments in ((4, 9), (5, 15), (11, 15), (20, 57), (50, 57)):
        rng = np.random.default_rng(0)
        box = random_boxes(algorithms, environments, rng)
        times = []
        for long in (1, 10**9):
            made = board(box, 1, long=long)
            policy = new_policy(made)
            policy.worth[:] = rng.normal(size=policy.worth.shape)
            rank_worth(policy, made)
            settle(policy, made)
            image = np.empty(policy.worth.shape)
            departures(policy.worth, policy, made, image)
            work = partial(departures, policy.worth, policy, made, image)
            times.append(min(alone(work)[0] for _ in range(5)))
        yield {
            "columns": algorithms * environments,
            "trees_milliseconds": round(1e3 * times[0], 3),
            "every_move_milliseconds": round(1e3 * times[1], 3),
            "trees_vs_every_move": round(times[1] / times[0], 2),
        }


def whole(algorithms: int, environments: int, trials: int) -> dict[str, Any]:
    """Time an evaluation by default methods, after one small enough to compile everything."""
    Judging().judge(scores(3, 3, 30), workers=1)
    table = scores(algorithms, environments, trials)
    peak_afresh()
    seconds, found = timed(lambda: Judging().judge(table, workers=WORKERS))
    return {
        "algorithms": algorithms,
        "environments": environments,
        "trials": trials,
        "evaluation_seconds": round(seconds, 1),
        "peak_megabytes": round(kilobytes("VmHWM") / 1024),
        "decided": int(found.pairs.better_ab.sum()),
        "pairs": algorithms * (algorithms - 1) // 2,
        "cases_per_pair": found.settings["refine"],
    }


def apart(*options: str) -> dict[str, Any]:
    """Measure in a separate process, because peaks of memory never decrease."""
    done = subprocess.run([sys.executable, __file__, *options], capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    recording.add_door(parser)
    parser.add_argument("--trials", type=int, default=10_000, help="per cell")
    parser.add_argument("--resamples", type=int, default=10_000)
    parser.add_argument("--peer-bounds", type=int, default=3, help="bounds solved densely; the rest is extrapolated")
    parser.add_argument("--peer-resamples", type=int, default=5, help="resamples done plainly")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--size", nargs=2, type=int, help=argparse.SUPPRESS)
    parser.add_argument("--whole", nargs=3, type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.size:
        print(json.dumps(grown(*arguments.size)))
        return
    if arguments.whole:
        print(json.dumps(whole(*arguments.whole)))
        return
    if min(arguments.trials, arguments.resamples, arguments.peer_bounds, arguments.peer_resamples) < 1:
        parser.error("every number is 1 or more")

    def lines() -> Iterator[dict[str, Any]]:
        table = scores(11, 15, arguments.trials)
        if "stages" in arguments.only:
            yield from stages(table)
        if "bounds" in arguments.only:
            yield against_dense(table, arguments.peer_bounds)
        if "bootstrap" in arguments.only:
            yield against_plain(table, arguments.resamples, arguments.peer_resamples)
        if "workers" in arguments.only:
            yield two_workers(table)
        if "rows" in arguments.only:
            yield from rows()
        if "growth" in arguments.only:
            yield from (apart("--size", *map(str, size)) for size in SIZES)
        if "whole" in arguments.only:
            yield from (apart("--whole", *map(str, size)) for size in WHOLE)

    recording.show(lines(), arguments, "judge", recording.plain)


if __name__ == "__main__":
    main()
