"""The overhead of collecting a study: two workers against one, and Ray against threads.

    python benchmarks/collect.py [--json FILE] [--rounds N] [--no-ray] [--trials N] [--studies NAME ...]

A row has the speed of one engine, its ratio to one worker ("vs_one") and to the same number of local workers
("vs_local"). Rounds are interleaved and the best of each counts. The time runs from the call of `collect_scores` to the
last trial on disk; a Ray cluster keeps running between rounds, and its start-up time is printed, too.
The three studies have trials of half a millisecond, of some milliseconds and of a tenth of a second; a round takes
three minutes.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import recording
import untuned
from untuned.collect.engines.ray import connected

ALGORITHMS = ["sarsa-parl2", "sarsa-s", "ac-s", "q-parl2"]
STUDIES = {
    "chain-10": (["chain-10-deterministic", "chain-10-stochastic"], 8000),
    "gridworld-10": (["gridworld-10-deterministic", "gridworld-10-stochastic"], 500),
    "cart-pole": (["cart-pole", "mountain-car"], 40),
}
WORKERS = 2


def study(name: str, trials: int | None = None) -> untuned.Study:
    environments, enough = STUDIES[name]
    return untuned.Study(name, ALGORITHMS, environments, trials=enough if trials is None else trials, seed=1)


def seconds(wanted: untuned.Study, **options: Any) -> float:
    """Return how long a study takes from an empty folder."""
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        found = untuned.collect_scores(wanted, Path(folder) / "study", **options)
        spent = time.perf_counter() - begin
    assert found.complete
    return spent


def measure(names: list[str], trials: int | None, rounds: int, with_ray: bool) -> Iterator[recording.Row]:
    ways: dict[str, dict[str, Any]] = {"one": {"workers": 1}, "local": {"workers": WORKERS}}
    if with_ray:
        ways["ray"] = {"engine": "ray"}
    for name in names:
        for options in ways.values():
            # Compiled code is loaded, by every worker of the cluster too.
            seconds(study(name, 2 * WORKERS), **options)
        best = {way: float("inf") for way in ways}
        for _ in range(rounds):
            for way, options in ways.items():
                best[way] = min(best[way], seconds(study(name, trials), **options))
        each = study(name, trials).trials
        assert isinstance(each, int)
        total = each * len(ALGORITHMS) * len(STUDIES[name][0])
        for way in ways:
            yield {
                "study": name,
                "engine": "ray" if way == "ray" else "local",
                "workers": 1 if way == "one" else WORKERS,
                "trials": total,
                "trials_per_second": round(total / best[way], 1),
                "vs_one": round(best["one"] / best[way], 2),
                "vs_local": round(best["local"] / best[way], 2),
            }


def with_cluster(names: list[str], trials: int | None, rounds: int) -> Iterator[recording.Row]:
    """Yield the same with Ray, after the start-up time of its cluster on this machine."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    begin = time.perf_counter()
    with connected(None, WORKERS):
        yield {"cluster_seconds": round(time.perf_counter() - begin, 1)}
        yield from measure(names, trials, rounds, True)


def line(row: recording.Row) -> str:
    """Return a line of the table."""
    if "cluster_seconds" in row:
        return f"a Ray cluster on this machine came up in {row['cluster_seconds']} s"
    return (
        f"{row['study']:16}{row['engine']:>8}{row['workers']:>9}{row['trials_per_second']:>17,}"
        f"{row['vs_one']:>11}{row['vs_local']:>13}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    recording.add_door(parser)
    parser.add_argument("--rounds", type=int, default=2, help="rounds; the best of each counts")
    parser.add_argument("--no-ray", action="store_true", help="this machine's workers alone")
    parser.add_argument("--trials", type=int, help="trials per cell, instead of each study's own number")
    parser.add_argument("--studies", nargs="+", choices=list(STUDIES), default=list(STUDIES))
    options = parser.parse_args()
    if options.rounds < 1 or (options.trials is not None and options.trials < 1):
        parser.error("--rounds and --trials are 1 or more")
    heading = f"{'study':16}{'engine':>8}{'workers':>9}{'trials a second':>17}{'times one':>11}{'times local':>13}"
    asked = (options.studies, options.trials, options.rounds)
    recording.show(
        measure(*asked, False) if options.no_ray else with_cluster(*asked), options, "collect", line, heading
    )


if __name__ == "__main__":
    main()
