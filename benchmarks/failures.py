"""Do the intervals keep their word? The experiments behind docs/coverage.md, and its tables.

    python benchmarks/failures.py [--out coverage-results] [--only guaranteed approximate ...] [--workers 2]
    python benchmarks/failures.py --tables [--out docs/results]

The first runs them (hours on two processors; stop it and call it again as you like) and writes a JSON file for each;
the second prints the tables of the documentation from such files. "collected" and "paper" need the scores of the
paper's experiment on its intervals, which are collected once, about 20 minutes on two processors.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import untuned
from untuned import lab
from untuned.lab.experiments import EVENTS
from untuned.lab.figures import coverage_figure
from untuned.lab.replicates import STUDY

GUARANTEED = ("pairing", "betting", "bentkus", "kl", "pbp")
#: The last is broken on purpose.
APPROXIMATE = ("wilson", "pbp-t", "bootstrap", "pbp@paper", "pbp-t@paper", "bootstrap@paper", "pairing*0.7")
LOOKED_AT = ("constant", "duplicates", "gap-1e-3", "cycle")
#: What each experiment asks of `untuned.lab.coverage`.
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
PAPER = "paper"


def run(name: str, out: Path, workers: int) -> None:
    """Do one experiment, what is not done yet, and write its file."""
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


def scores(out: Path) -> untuned.ScoreTable:
    """Return the scores of the paper's experiment, collecting those that are not there yet."""
    untuned.collect_scores(STUDY, out / "scores")
    return untuned.read_scores(out / "scores")


def write(path: Path, content: Mapping[str, Any]) -> None:
    """Write a file with one line for each row, numbers to six digits."""
    rest = {key: value for key, value in content.items() if key != "rows"}
    lines = ",\n".join(json.dumps(_rounded(row)) for row in content["rows"])
    path.write_text(f'{{"rows": [\n{lines}\n],\n{json.dumps(rest)[1:]}\n', encoding="utf-8")


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    return float(f"{value:.6g}") if isinstance(value, float) else value


# --- tables


def read(out: Path, *names: str) -> lab.Coverage:
    """Return one or several experiments as if they had been one."""
    found = [lab.Coverage.from_dict(json.loads((out / f"{name}.json").read_text(encoding="utf-8"))) for name in names]
    rows = tuple(row for each in found for row in each.rows)
    return lab.Coverage(rows, found[0].delta, found[0].populations, found[0].settings)


def tables(out: Path) -> Iterator[str]:
    """Yield every table of the documentation, as Markdown."""
    guaranteed, approximate = read(out, "guaranteed"), read(out, "approximate")
    yield worst(guaranteed)
    yield by_population(guaranteed, "percentiles")
    yield worst(approximate)
    yield by_population(approximate, "percentiles")
    yield by_population(approximate, "aggregates")
    yield found_out(read(out, "guaranteed", "approximate"))
    yield looked_at(read(out, "adaptive", "adaptive-fixed"))
    yield worst(read(out, "collected"))
    yield found_out(read(out, "collected"))
    yield published(json.loads((out / "paper.json").read_text(encoding="utf-8")))


def worst(found: lab.Coverage) -> str:
    """Return, for each method, the highest rate of each failure, with its limits."""
    lines = [["method", *(f"{words} wrong" for words in EVENTS.values()), "highest where"]]
    for method in found.methods:
        cases = [found.worst(method, event) for event in EVENTS]
        most = found.worst(method)
        where = "" if most is None or most.rate.count == 0 else f"{most.row.population}, {most.row.trials:,} trials"
        lines.append(
            [
                f"`{method}`",
                *("" if case is None else _with_limits(case.rate, found) for case in cases),
                where,
            ]
        )
    return _table(lines)


def by_population(found: lab.Coverage, event: str) -> str:
    """Return the rates of one failure, with each number of trials, by population and method."""
    methods = [method for method in found.methods if found.worst(method, event) is not None]
    lines = [["population", *(f"`{method}`" for method in methods)]]
    for population in found.populations:
        line = [population]
        for method in methods:
            rates = [row.events()[event] for row in found.of(method) if row.population == population]
            line.append(" / ".join(_short(rate.rate) + _mark(rate, found) for rate in rates))
        lines.append(line)
    return _table(lines)


def found_out(found: lab.Coverage) -> str:
    """Return, for each method and number of trials, decided pairs and mean widths."""
    lines = [["method", *(f"{trials:,} trials" for trials, _ in found.sizes)]]
    for method in found.methods:
        cells = [(found.decided(method, *size), found.width(method, *size)) for size in found.sizes]
        lines.append([f"`{method}`", *(f"{_short(share or 0.0)} %, {width:.3f}" for share, width in cells)])
    return _table(lines)


def looked_at(found: lab.Coverage) -> str:
    """Return what stopping at the first verdict does, by population and method."""
    lines = [["method", "population", "any z", "any y", "any verdict", "stopped after", "decided"]]
    lines += [
        [
            f"`{row.method}`",
            row.population,
            *(
                "" if rate is None else _with_limits(rate, found)
                for rate in (row.percentiles, row.aggregates, row.verdicts)
            ),
            f"{row.stopped_at:.0f} trials",
            f"{_short(row.decided)} %",
        ]
        for row in found.rows
    ]
    return _table(lines)


def published(found: Mapping[str, Any]) -> str:
    """Return the paper's Table 2, ours beside the published figures."""
    lines = [["trials", "method", "samples", "failures", "in the paper", "told apart", "in the paper", "truth missed"]]
    for row in found["rows"]:
        truth = row["truth"]
        lines.append(
            [
                f"{row['trials']:,}",
                f"`{row['method']}`",
                f"{row['samples']:,}",
                _figure(row["failures"], 3),
                _figure(row["published_failures"], 3),
                _figure(row["significant"], 2),
                _figure(row["published_significant"], 2),
                f"{truth['rate']:.3f} ({truth['low']:.3f} to {truth['high']:.3f})",
            ]
        )
    return _table(lines)


def _table(lines: list[list[str]]) -> str:
    ruled = [lines[0], ["---"] * len(lines[0]), *lines[1:]]
    return "\n".join(f"| {' | '.join(line)} |" for line in ruled)


def _short(number: float) -> str:
    return "0" if number == 0.0 else f"{100 * number:.1f}" if number < 0.0995 else f"{100 * number:.0f}"


def _with_limits(rate: lab.Rate, found: lab.Coverage) -> str:
    return f"{_short(rate.rate)} % ({_short(rate.low)} to {_short(rate.high)}){_mark(rate, found)}"


def _mark(rate: lab.Rate, found: lab.Coverage) -> str:
    return " **!**" if rate.finding(found.delta) == "broken" else ""


def _figure(number: float | None, digits: int) -> str:
    return "" if number is None else f"{number:.{digits}f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("coverage-results"))
    parser.add_argument("--only", nargs="+", choices=[*EXPERIMENTS, PAPER], default=[*EXPERIMENTS, PAPER])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--tables", action="store_true")
    parser.add_argument("--picture", type=Path)
    options = parser.parse_args()
    if options.picture is not None:
        coverage_figure(read(options.out, "guaranteed", "approximate")).savefig(options.picture, dpi=110)
    elif options.tables:
        print("\n\n".join(tables(options.out)))
    else:
        options.out.mkdir(parents=True, exist_ok=True)
        for name in options.only:
            run(name, options.out, options.workers)


if __name__ == "__main__":
    main()
