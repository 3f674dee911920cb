"""The parts of the page on fidelity."""

import math
from collections.abc import Iterable, Mapping

import untuned
from rendering.files import Part, Results, Row, Unusable
from rendering.markdown import counts, table
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


def by_environment(rows: Iterable[Row]) -> dict[str, list[str]]:
    """Return, for every environment with published means, trials, the largest z-score, and how many are beyond 3."""
    compared: dict[str, list[Row]] = {}
    for row in rows:
        if row["z"] is not None:
            compared.setdefault(row["environment"], []).append(row)
    found = {}
    for environment, here in compared.items():
        most = max(here, key=lambda row: abs(row["z"]))
        beyond = f"{sum(abs(row['z']) > 3.0 for row in here)} of {len(here)}"
        found[environment] = [counts([row["trials"] for row in here]), f"{_z(most)} ({most['algorithm']})", beyond]
    return found


def _z(row: Row) -> str:
    # No minus before what reads as zero.
    return f"{round(row['z'], 1) + 0.0:.1f}"


def summary(results: Results) -> str:
    found = [abs(row["z"]) for row in cells(results).values() if row["z"] is not None]
    return (
        f"of {len(found)} z-scores {sum(z > 3.0 for z in found)} are beyond 3, where chance gives "
        f"{0.0027 * len(found):.1f}, and {sum(z > 4.5 for z in found)} beyond 4.5; their root mean square is "
        f"{math.sqrt(math.fsum(z * z for z in found) / len(found)):.2f}, the largest {max(found):.2f}"
    )


def precision(results: Results) -> str:
    return table(
        ["environment", "algorithm", "pairs", "float64", "difference of float32 ± standard error", "diverged"],
        [
            [
                row["environment"],
                row["algorithm"],
                f"{row['trials']:,}",
                f"{row['float64']:.1f}",
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
        f"no mean differs by more than {largest:.1f} standard errors; single precision scores lower in "
        f"{negative} of {len(rows)} cells"
    )


PARTS: Mapping[str, Part] = {
    "fidelity-summary": summary,
    "fidelity-precision": precision,
    "fidelity-precision-summary": precision_summary,
}
