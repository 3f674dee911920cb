"""The parts of the page that has all results in short."""

from collections.abc import Mapping

import fingerprints
from rendering.coverage import experiments, short
from rendering.fidelity import cells
from rendering.files import Part, Results
from rendering.markdown import counts, digits, duration, percent, span, table
from rendering.power import plan_rows
from untuned.lab.coverage_experiment import EVENTS


def speed(results: Results) -> str:
    orders = results.rows("engine", "dorder")
    limits = [row["vs_limit"] for row in orders if "vs_limit" in row]
    load = results.row("store", "load_rows")
    peers = [row["vs_peer"] for row in results.rows("environments", "vs_peer")]
    lines = [
        [
            "a trial of Sarsa(λ) on Cart-Pole",
            "the same in NumPy",
            f"{span([row['vs_numpy'] for row in orders])} times as fast",
        ],
        ["stepping an environment in a kernel", "Gymnasium's own", f"{span(peers)} times as fast"],
        ["collecting with two workers", "one worker", f"{span(_workers(results))} times as fast"],
        [
            f"loading {load['load_rows'] / 1e6:.2f} million scores",
            "Python's csv module",
            f"{digits(load['vs_csv'])} times as fast",
        ],
        ["bounds on a board of the paper's size", "dense policy iteration", f"{digits(_dense(results))} times as fast"],
        ["bootstrap on a board of the paper's size", "resampling plainly", f"{digits(_plain(results))} times as fast"],
    ]
    if limits:
        lines.insert(0, ["a trial of Sarsa(λ) on Cart-Pole", "hand-vectorised C", f"{span(limits, 3)} times its time"])
    return table(["what", "against", "measured"], lines, left=3)


def _workers(results: Results) -> list[float]:
    return [row["vs_one"] for row in results.rows("collect", "study", engine="local", workers=2)]


def _dense(results: Results) -> float:
    return float(results.row("judge", "bounds")["vs_dense"])


def _plain(results: Results) -> float:
    return float(results.row("judge", "resamples")["vs_plain"])


def coverage(results: Results) -> str:
    """Return every method's highest rate of failures of any kind, and in how many experiments it broke its level."""
    lines = []
    for name in ("guaranteed", "approximate"):
        found = experiments(results, name)
        for method in found.methods:
            if "*" in method:
                continue
            most = found.worst(method)
            assert most is not None
            rows = found.of(method)
            words = f" ({EVENTS[most.event]})" if most.rate.count else ""
            kind = "guaranteed" if rows[0].guaranteed else "approximate"
            lines.append(
                [
                    f"`{method}`",
                    kind,
                    f"{short(most.rate.rate)} %{words}",
                    f"{len(found.broken(method))} of {len(rows)}",
                ]
            )
    return table(["method", "kind", "highest rate of failures", "experiments that break it"], lines, left=3)


def power(results: Results) -> str:
    sizes = (100, 1_000, 10_000)
    lines = []
    for row in results.rows("power", "method", trials=sizes[0]):
        if not row["guaranteed"]:
            continue
        found = [results.row("power", "method", method=row["method"], trials=size) for size in sizes]
        lines.append([f"`{row['method']}`", *(percent(each["branching"]) for each in found)])
    return table(["method", *(f"{size:,} trials" for size in sizes)], lines)


def fidelity(results: Results) -> str:
    found = {key: row for key, row in cells(results).items() if row["z"] is not None}
    lines = []
    for environment in dict.fromkeys(environment for environment, _ in found):
        z = [row["z"] for key, row in found.items() if key[0] == environment]
        trials = [row["trials"] for key, row in found.items() if key[0] == environment]
        lines.append(
            [
                environment,
                f"{len(z)}",
                counts(trials),
                f"{max(map(abs, z)):.1f}",
                f"{sum(abs(each) > 3 for each in z)}",
            ]
        )
    return table(["environment", "cells compared", "trials", "largest z", "beyond 3"], lines)


def plan(results: Results) -> str:
    words = {"near": "up to ten times the pilot", "far": "beyond that"}
    lines = [
        [
            words[row["predictions"]],
            f"{row['pilot']}",
            f"{row['pairs']}",
            *(percent(row[f"within_{k}"]) for k in (2, 3)),
        ]
        for row in plan_rows(results)
        if row["predictions"] in words
    ]
    return table(["predictions", "trials in the pilot", "pairs", "within a factor of 2", "of 3"], lines)


def reporting(results: Results) -> str:
    return table(
        ["board", "page", "size", "interactive after"],
        [
            [
                f"{row['algorithms']} x {row['environments']} x {row['trials']:,}",
                duration(row["seconds"]),
                f"{digits(row['page_megabytes'])} MB",
                duration(row["interactive_seconds"]),
            ]
            for row in results.rows("report", "part", part="page")
        ],
    )


def transcribed(results: Results) -> str:
    """Return the names of the files that no benchmark wrote itself."""
    names = [
        f"`{path.name}`"
        for path in sorted(results.folder.glob("*.json"))
        if "transcribed" in results.content(path.stem).get("settings", {})
    ]
    return f"that is so in {', '.join(names)}" if names else "at present there is no such file"


def outdated(results: Results) -> str:
    """Return the names of the files that were measured with other code than the present."""
    names = [f"`{name}`" for name in fingerprints.outdated(results.folder)]
    return f"at present that is so for {', '.join(names)}" if names else "at present there is no such file"


PARTS: Mapping[str, Part] = {
    "overview-transcribed": transcribed,
    "overview-outdated": outdated,
    "overview-speed": speed,
    "overview-coverage": coverage,
    "overview-power": power,
    "overview-fidelity": fidelity,
    "overview-plan": plan,
    "overview-reporting": reporting,
}
