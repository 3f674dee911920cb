"""The effect of tuning first on mean scores, the order of algorithms, and intervals from test runs with one tuning.

    python benchmarks/protocols.py [--json FILE] [--replications 100] [--draws 20] [--seeds 10]
                                   [--algorithms sarsa q ...] [--environments chain-10-stochastic ...]

Tune-and-report is replicated in every cell. A paper would report the mean of the test runs of one replication with a t
interval at 95 %; this counts how often that interval misses the mean over all replications.
"""

import argparse
import tempfile
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import stats

import recording
import untuned
from untuned import protocols

ALGORITHMS = ("sarsa", "q", "ac", "sarsa-parl2")
ENVIRONMENTS = ("chain-10-stochastic", "gridworld-5-stochastic")


def missed(tests_rt: np.ndarray, truth: float) -> int:
    """Return how many rows have a t interval at 95 % that misses the truth."""
    count = tests_rt.shape[1]
    half = stats.t.ppf(0.975, count - 1) * tests_rt.std(axis=1, ddof=1) / np.sqrt(count)
    return int((np.abs(tests_rt.mean(axis=1) - truth) > half).sum())


def measured(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Run both protocols, and yield a row per cell, per algorithm and per protocol."""
    study = untuned.Study("protocols", options.algorithms, options.environments, options.replications, seed=1)
    sizes = {"draws": options.draws, "seeds": options.seeds}
    with tempfile.TemporaryDirectory() as folder:
        tuned = protocols.tune_and_report(study, f"{folder}/tuned", **sizes)
        assert tuned.without_tuning is not None
        reported = [tuned.reported(replication) for replication in range(options.replications)]
        for name in options.algorithms:
            for place in options.environments:
                scores = tuned.scores.cell(name, place)
                tests = np.array([each[name][place] for each in reported])
                yield {
                    "algorithm": name,
                    "environment": place,
                    "untuned": float(tuned.without_tuning.cell(name, place).mean()),
                    "tuned": float(scores.mean()),
                    "missed": missed(tests, float(scores.mean())),
                    "replications": len(tests),
                }
        shared = protocols.cross_environment(study, f"{folder}/shared", **sizes)
        assert shared.lost is not None
        orders = {
            "untuned": untuned.evaluate(tuned.without_tuning, weights="uniform"),
            "tune-and-report": untuned.evaluate(tuned.scores, weights="uniform"),
            "cross-environment": untuned.evaluate(shared.scores, weights="uniform"),
        }
        for a, name in enumerate(options.algorithms):
            yield {
                "of": name,
                "lost": float(-shared.lost.cell(name, shared.lost.environments[0]).mean()),
                "scores": {way: float(each.rankings[0].score_a[a]) for way, each in orders.items()},
            }
        for way, each in orders.items():
            runs = {"tune-and-report": tuned.cost.runs, "cross-environment": shared.cost.runs}
            samples = {"tune-and-report": tuned.cost.samples, "cross-environment": shared.cost.samples}
            total = int(tuned.without_tuning.trials.sum())
            yield {
                "way": way,
                "runs": runs.get(way, total),
                "samples": samples.get(way, total),
                "verdicts": list(each.verdicts),
            }


def main() -> None:
    """Read the options, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replications", type=int, default=100, help="whole procedures per cell")
    parser.add_argument("--draws", type=int, default=20, help="settings that each tuning tries")
    parser.add_argument("--seeds", type=int, default=10, help="test runs of the chosen setting, at least 2")
    parser.add_argument("--algorithms", nargs="+", default=list(ALGORITHMS), metavar="NAME")
    parser.add_argument("--environments", nargs="+", default=list(ENVIRONMENTS), metavar="NAME")
    recording.add_door(parser)
    options = parser.parse_args()
    if options.replications < 1 or options.seeds < 2:
        parser.error("give one replication or more, and two seeds or more")
    recording.show(measured(options), options, "protocols", recording.plain)


if __name__ == "__main__":
    main()
