"""What may be claimed from published runs: the figures of the gallery.

    python benchmarks/gallery.py [--json FILE] [--tables FOLDER] [--no-plans]

Judges the tables in `examples/gallery`, and those that its scripts write into FOLDER from downloaded files. A row per
table and way of judging: sizes, scores with intervals and verdicts under every ranking, head-to-head verdicts, findings
of the check, and the predicted runs per cell to decide the open pairs.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import recording
import untuned

COMMITTED = Path(__file__).parents[1] / "examples" / "gallery"
#: A table, the name of the row, and how it is judged.
CASES: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("walker", "walker", {}),
    ("walker", "walker-anytime", {"intervals": "anytime"}),
    ("walker", "walker-pairing", {"intervals": "pairing", "weights": "uniform"}),
    ("atari-100k", "atari-100k", {}),
    ("atari-100k-five", "atari-100k-five", {"accept": ["sorted-rows"]}),
    ("atari-100k-five", "atari-100k-four", {"without": ["Delta-IRIS"]}),
    ("dopamine-mean", "dopamine-mean", {}),
    ("dopamine-final", "dopamine-final", {}),
)
#: The largest number of runs in a plan.
MOST = 20_000


def ranked(found: untuned.Evaluation, planned: bool) -> Iterator[dict[str, Any]]:
    """Yield the results of every ranking."""
    for each in found.each_ranking:
        plan = untuned.plan(each, most=MOST) if planned else None
        yield {
            "weights": each.weights,
            "method": each.method,
            "scores": [
                {"algorithm": name, "score": float(score), "low": float(low), "high": float(high)}
                for name, score, low, high in zip(
                    (found.algorithms[a] for a in each.order),
                    each.score_a[list(each.order)],
                    each.low_a[list(each.order)],
                    each.high_a[list(each.order)],
                    strict=True,
                )
            ],
            "better": [
                [a, b] for a in found.algorithms for b in found.algorithms if a != b and each.verdict(a, b) == "better"
            ],
            "to_decide": None if plan is None else {f"{pair.a} / {pair.b}": pair.trials for pair in plan.pairs},
        }


def judged(path: Path, name: str, options: dict[str, Any], planned: bool) -> dict[str, Any]:
    """Return the row of one table, judged in one way."""
    reading = {key: value for key, value in options.items() if key == "without"}
    scores = untuned.read_scores(path, **reading)
    found = untuned.evaluate(scores, **{key: value for key, value in options.items() if key not in reading})
    duels = found.head_to_head
    count = len(found.algorithms)
    return {
        "source": name,
        "options": options,
        "algorithms": count,
        "environments": len(found.environments),
        "runs": [int(found.trials_ae.min()), int(found.trials_ae.max())],
        "pairs": count * (count - 1) // 2,
        "rankings": list(ranked(found, planned)),
        "head_to_head": None
        if duels is None
        else [
            [a, b]
            for i, a in enumerate(found.algorithms)
            for j, b in enumerate(found.algorithms)
            if duels.verdict(i, j) == "better"
        ],
        "findings": [[each.severity, each.code] for each in untuned.check(scores).findings],
    }


def measured(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield a row for every case with an existing table."""
    for table, name, how in CASES:
        places = [COMMITTED, *([options.tables] if options.tables else [])]
        path = next((place / f"{table}.csv" for place in places if (place / f"{table}.csv").is_file()), None)
        if path is None:
            print(f"{name}: no {table}.csv; examples/gallery/README.md says where it comes from")
        else:
            yield judged(path, name, how, not options.no_plans)


def line(row: dict[str, Any]) -> str:
    decided = ", ".join(f"{each['weights']} {len(each['better'])}" for each in row["rankings"])
    return f"{row['source']}: of {row['pairs']} pairs decided: {decided}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    recording.add_door(parser)
    parser.add_argument("--tables", type=Path, metavar="FOLDER", help="tables made from downloaded files")
    parser.add_argument("--no-plans", action="store_true", help="do not predict what would decide open pairs")
    options = parser.parse_args()
    recording.show(measured(options), options, "gallery", line)


if __name__ == "__main__":
    main()
