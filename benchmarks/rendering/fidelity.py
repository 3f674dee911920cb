"""The parts of the page on fidelity."""

import math
from collections import Counter
from collections.abc import Mapping

import untuned
from rendering.files import Part, Results, Row, Unusable
from rendering.markdown import named, table
from untuned.collect.definitions.paper import ELEVEN

ALGORITHMS = tuple(each.name for each in ELEVEN)


def cells(results: Results) -> dict[tuple[str, str], Row]:
    """Return every cell with its published mean, in the order of the environments."""
    return _in_order(results.content("fidelity")["rows"])


def costs(results: Results) -> dict[tuple[str, str], Row]:
    """Return every cell's cost, by `benchmarks/fidelity.py`."""
    return _in_order(results.content("costs")["rows"])


def _in_order(rows: list[Row]) -> dict[tuple[str, str], Row]:
    known = {(row["environment"], row["algorithm"]): row for row in rows}
    if len(known) != len(rows):
        raise Unusable("a cell is in a file of results twice")
    order = [(place.name, name) for place in untuned.environments() for name in ALGORITHMS]
    return {key: known[key] for key in order if key in known}


def z_scores(results: Results) -> str:
    found = {key: row for key, row in cells(results).items() if row["z"] is not None}
    lines = []
    for environment in dict.fromkeys(environment for environment, _ in found):
        here = {name: found[environment, name] for name in ALGORITHMS if (environment, name) in found}
        usual = Counter(row["trials"] for row in here.values()).most_common(1)[0][0]
        others = [f"{name} {row['trials']:,}" for name, row in here.items() if row["trials"] != usual]
        trials = f"{usual:,} ({', '.join(others)})" if others else f"{usual:,}"
        lines.append([environment, trials, *(_z(here[name]) if name in here else "" for name in ALGORITHMS)])
    return table(["environment", "trials", *ALGORITHMS], lines, left=2)


def _z(row: Row) -> str:
    # No minus before what reads as zero.
    return f"{round(row['z'], 1) + 0.0:.1f}"


def summary(results: Results) -> str:
    found = [abs(row["z"]) for row in cells(results).values() if row["z"] is not None]
    return (
        f"{len(found)} cells: {sum(z > 3.0 for z in found)} beyond 3, where chance gives {0.0027 * len(found):.1f}, "
        f"and {sum(z > 4.5 for z in found)} beyond 4.5; the root mean square of z is "
        f"{math.sqrt(math.fsum(z * z for z in found) / len(found)):.2f}, the largest {max(found):.2f}"
    )


def precision(results: Results) -> str:
    return table(
        ["environment", "algorithm", "pairs", "float64", "float32", "difference ± standard error", "diverged"],
        [
            [
                row["environment"],
                row["algorithm"],
                f"{row['trials']:,}",
                f"{row['float64']:.1f}",
                f"{row['float32']:.1f}",
                f"{row['difference']:.1f} ± {row['standard_error']:.1f}",
                ", ".join(f"{100 * share:.1f} %" for share in row["diverged"]),
            ]
            for row in results.rows("precision", "float32")
        ],
        left=2,
    )


def precision_summary(results: Results) -> str:
    rows = results.rows("precision", "float32")
    largest = max(abs(row["z"]) for row in rows if row["z"] is not None)
    negative = sum(row["difference"] < 0.0 for row in rows)
    return (
        f"no mean differs by more than {largest:.1f} standard errors; of {named(len(rows))} differences "
        f"{named(negative)} are negative"
    )


PARTS: Mapping[str, Part] = {
    "fidelity-z-scores": z_scores,
    "fidelity-summary": summary,
    "fidelity-precision": precision,
    "fidelity-precision-summary": precision_summary,
}
