"""What collecting a study costs beside its trials: two workers against one, and Ray against threads.

    python benchmarks/collect.py [--json] [--rounds N] [--no-ray]

One JSON object a line with --json: {"study", "trials", "workers", "trials_per_second", "vs_one"}, for Ray with
{"engine": "ray", "vs_local"} instead, a ratio to as many workers of this machine. Rounds are interleaved and the best
of each counts. Everything is in it from the call of `collect_scores` to the last trial on the disk; a Ray cluster
stays up between rounds, and how long it took to come up is printed beside. The three studies have trials of half a
millisecond, of some milliseconds and of a tenth of a second; a round takes three minutes.
"""

import argparse
import json
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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
    """Return how long a study takes from nothing."""
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        found = untuned.collect_scores(wanted, Path(folder) / "study", **options)
        spent = time.perf_counter() - begin
    assert found.complete
    return spent


def measure(rounds: int, with_ray: bool) -> Iterator[dict[str, Any]]:
    ways: dict[str, dict[str, Any]] = {"one": {"workers": 1}, "local": {"workers": WORKERS}}
    if with_ray:
        ways["ray"] = {"engine": "ray"}
    for name in STUDIES:
        for options in ways.values():
            # Compiled code is loaded, by every worker of the cluster too.
            seconds(study(name, 2 * WORKERS), **options)
        best = {way: float("inf") for way in ways}
        for _ in range(rounds):
            for way, options in ways.items():
                best[way] = min(best[way], seconds(study(name), **options))
        trials = study(name).trials * len(ALGORITHMS) * len(STUDIES[name][0])
        for way in ways:
            yield {
                "study": name,
                "engine": "ray" if way == "ray" else "local",
                "workers": 1 if way == "one" else WORKERS,
                "trials": trials,
                "trials_per_second": round(trials / best[way], 1),
                "vs_one": round(best["one"] / best[way], 2),
                "vs_local": round(best["local"] / best[way], 2),
            }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--rounds", type=int, default=2, help="rounds; the best of each counts")
    parser.add_argument("--no-ray", action="store_true", help="this machine's threads alone")
    options = parser.parse_args()
    if options.no_ray:
        report(measure(options.rounds, False), options.json)
        return
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    begin = time.perf_counter()
    with connected(None, WORKERS):
        up = round(time.perf_counter() - begin, 1)
        if not options.json:
            print(f"a Ray cluster on this machine came up in {up} s")
        report(measure(options.rounds, True), options.json)


def report(found: Iterator[dict[str, Any]], as_json: bool) -> None:
    if not as_json:
        print(f"{'study':16}{'engine':>8}{'workers':>9}{'trials a second':>17}{'times one':>11}{'times local':>13}")
    for row in found:
        if as_json:
            print(json.dumps(row), flush=True)
        else:
            print(
                f"{row['study']:16}{row['engine']:>8}{row['workers']:>9}{row['trials_per_second']:>17,}"
                f"{row['vs_one']:>11}{row['vs_local']:>13}",
                flush=True,
            )


if __name__ == "__main__":
    main()
