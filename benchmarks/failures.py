"""How often the intervals fail: the experiments of docs/coverage.md.

    python benchmarks/failures.py [--out coverage-results] [--only guaranteed approximate ...] [--workers 2]
    python benchmarks/failures.py --picture docs/images/coverage.png [--out docs/results]

The first runs them (hours on two processors; it can be stopped and resumed at any time) and writes a JSON file for
each; `benchmarks/pages.py` makes the tables of the documentation from these files, the second command its picture.
"collected" and "paper" need the scores of the paper's experiment on its intervals, which are collected once, about 20
minutes on two processors.
"""

import argparse
import hashlib
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import untuned
from fingerprints import fingerprint
from rendering.coverage import experiments
from rendering.files import Results
from untuned import lab
from untuned.lab.figures import coverage_figure
from untuned.lab.table_two import STUDY

GUARANTEED = ("pairing", "betting", "bentkus", "kl", "pbp")
#: The last is broken on purpose.
APPROXIMATE = ("wilson", "pbp-t", "bootstrap", "pbp@paper", "pbp-t@paper", "bootstrap@paper", "pairing*0.7")
LOOKED_AT = ("constant", "duplicates", "gap-1e-3", "cycle")
#: The arguments of each experiment for `untuned.lab.coverage`.
EXPERIMENTS: Mapping[str, Mapping[str, Any]] = {
    "guaranteed": {"methods": GUARANTEED, "data_sets": 2_000},
    "approximate": {"methods": APPROXIMATE, "data_sets": 200},
    "adaptive": {"populations": LOOKED_AT, "methods": ("betting",), "trials": (200,), "every": 20, "data_sets": 2_000},
    "adaptive-fixed": {
        "populations": LOOKED_AT,
        "methods": ("pairing", "wilson", "bootstrap"),
        "trials": (200,),
        "every": 20,
        "data_sets": 300,
    },
    "collected": {"methods": GUARANTEED, "trials": (10, 100, 1_000), "data_sets": 2_000, "refine": 0},
}
#: Those of the picture.
PICTURED = ("guaranteed", "approximate")
PAPER = "paper"
POOLED = "pooled-coverage"
#: Five runs on many environments; with skewed laws, fewer are harder.
FIVE = ("board", "tied", "outweighed", "levels", "tails", "ragged", "gaps", "twins")
TWO = ("coins", "skewed")
#: The arguments of every part of `POOLED` for `untuned.lab.coverage`, in addition to ``delta``.
POOLED_PARTS: Mapping[str, Mapping[str, Any]] = {
    "five": {"populations": FIVE, "methods": ("pooled",), "trials": (5,), "data_sets": 2_000},
    "two": {"populations": TWO, "methods": ("pooled",), "trials": (2,), "data_sets": 2_000},
    "both": {
        "populations": ("tied", "board"),
        "methods": ("default",),
        "trials": (5,),
        "data_sets": 2_000,
        "refine": 0,
    },
    "given": {
        "populations": ("board",),
        "methods": ("pooled",),
        "trials": (5,),
        "weights": (4.0, 3.0, 2.0, 1.0, 1.0, 1.0, 1.0, 0.0),
        "data_sets": 2_000,
    },
    "broken": {"populations": ("coins",), "methods": ("pooled*0.25",), "trials": (2,), "data_sets": 2_000},
    "pairing": {
        "populations": ("board", "coins"),
        "methods": ("pairing",),
        "weights": "uniform",
        "trials": (5,),
        "data_sets": 2_000,
    },
}
#: The most informative first: a run that is stopped early has those.
POOLED_LEVELS = (
    *((part, 0.5) for part in ("two", "five")),
    *((part, 0.05) for part in ("two", "broken", "five", "both", "given", "pairing")),
    *((part, 0.2) for part in ("two", "five")),
)


def run(name: str, out: Path, workers: int) -> None:
    """Do the remaining work of one experiment, and write its file."""
    record = out / f"{name}.jsonl"

    def progress(done: int, total: int) -> None:
        print(f"\r{name}: {done:,} of {total:,} pieces", end="", file=sys.stderr, flush=True)

    if name == PAPER:
        content = lab.replication(scores(out), workers=workers, record=record, progress=progress).to_dict()
    else:
        options = dict(EXPERIMENTS[name])
        if name == "collected":
            options["populations"] = [scores(out)]
        content = lab.coverage(**options, workers=workers, record=record, progress=progress).to_dict()
    print(file=sys.stderr)
    write(out / f"{name}.json", content)


def run_pooled(out: Path, workers: int) -> None:
    """Do the remaining work of the parts of `POOLED`, and write their rows with their deltas into one file."""
    rows: list[dict[str, Any]] = []
    for part, delta in POOLED_LEVELS:
        found = lab.coverage(
            **POOLED_PARTS[part],
            delta=delta,
            workers=workers,
            record=out / f"{POOLED}.jsonl",
            progress=lambda done, total, part=part, delta=delta: print(  # type: ignore[misc]
                f"\r{POOLED}, {part}, delta = {delta:g}: {done:,} of {total:,} pieces",
                end="",
                file=sys.stderr,
                flush=True,
            ),
        )
        print(file=sys.stderr)
        rows += [{"delta": delta, **row} for row in found.to_dict()["rows"]]
        write(out / f"{POOLED}.json", {"rows": rows, "complete": False})
    write(out / f"{POOLED}.json", {"rows": rows, "complete": True})


def scores(out: Path) -> untuned.ScoreTable:
    """Return the scores of the paper's experiment, collecting the missing ones."""
    untuned.collect_scores(STUDY, out / "scores")
    return untuned.read_scores(out / "scores")


def write(path: Path, content: Mapping[str, Any]) -> None:
    """Write a file with one line for each row, numbers to six digits."""
    rest = {key: value for key, value in content.items() if key != "rows"} | {"fingerprint": fingerprint("failures")}
    lines = ",\n".join(json.dumps(_rounded(row)) for row in content["rows"])
    path.write_text(f'{{"rows": [\n{lines}\n],\n{json.dumps(rest)[1:]}\n', encoding="utf-8")


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    return float(f"{value:.6g}") if isinstance(value, float) else value


def pictured(results: Results) -> str:
    """Return the digest of the numbers in the picture, which the picture keeps."""
    rows = [results.content(name)["rows"] for name in PICTURED]
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("coverage-results"))
    every = [*EXPERIMENTS, POOLED, PAPER]
    parser.add_argument("--only", nargs="+", choices=every, default=every)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--picture", type=Path)
    options = parser.parse_args()
    if options.picture is not None:
        results = Results(options.out)
        coverage_figure(experiments(results, *PICTURED)).savefig(
            options.picture, dpi=110, metadata={"Description": pictured(results)}
        )
    else:
        options.out.mkdir(parents=True, exist_ok=True)
        for name in options.only:
            if name == POOLED:
                run_pooled(options.out, options.workers)
            else:
                run(name, options.out, options.workers)


if __name__ == "__main__":
    main()
