"""The parts of the page on speed."""

import math
from collections.abc import Mapping
from statistics import median

import untuned
from rendering.fidelity import ALGORITHMS, costs
from rendering.files import Part, Results, Row, source_files
from rendering.markdown import counts, digits, duration, named, span, table
from untuned.collect.environments.environment import DiscreteStates

#: The files of times.
_MEASURED = (
    *("engine", "environments", "collect", "store", "reading", "metered", "judge", "judge-whole", "pooled-power"),
    *("report", "peers", "growth"),
)


def machine(results: Results) -> str:
    found = results.machine("engine")
    versions = found["versions"]
    python, numba, gymnasium = (".".join(versions[name].split(".")[:2]) for name in ("python", "numba", "gymnasium"))
    return (
        f"{named(found['processors'])} processors ({found['processor']}), Python {python}, numba {numba} and "
        f"Gymnasium {gymnasium}"
    )


def busy(results: Results) -> str:
    """Return during which benchmarks other work had the processors, by the load when they began."""
    names = []
    for name in _MEASURED:
        load = results.content(name).get("load")
        if load is not None and load >= results.machine(name)["processors"]:
            names.append(f"`{name}.json`")
    if not names:
        return "No file was measured while the machine was busy with other work"
    return (
        f"The machine was busy with other work during {', '.join(names)}: there, times are too long, and two "
        "processors gain too little"
    )


# --- a trial


def engine(results: Results) -> str:
    rows = results.rows("engine", "dorder")
    return table(
        ["dorder (features)", *(f"{row['dorder']} ({row['features']:,})" for row in rows)],
        [
            ["microseconds a step", *(f"{row['microseconds']:.2f}" for row in rows)],
            ["times the C program's", *(f"{row['vs_limit']:.2f}" if "vs_limit" in row else "" for row in rows)],
            ["times faster than NumPy", *(f"{row['vs_numpy']:.0f}" for row in rows)],
            ["single precision, times double's", *(f"{row['float32_vs_float64']:.2f}" for row in rows)],
        ],
    )


def agents(results: Results) -> str:
    """Return the time of a step of every agent, times Sarsa's: the geometric mean over orders."""
    rows = [row for row in results.rows("engine", "agent") if row["agent"] != "sarsa"]
    return ", ".join(f"{row['vs_sarsa']:.2f} ({row['agent']})" for row in rows)


def in_short(results: Results) -> str:
    """Return the ratios that matter, in one table."""
    orders = results.rows("engine", "dorder")
    limits = [row["vs_limit"] for row in orders if "vs_limit" in row]
    load = results.row("store", "load_rows")
    peers = results.rows("environments", "vs_peer")
    two = [row["vs_one"] for row in results.rows("collect", "study", engine="local", workers=2)]
    board = "11 x 15, synthetic scores"
    lines = [
        [
            "trials of Sarsa(λ) on Cart-Pole",
            "the same in NumPy",
            f"{span([row['vs_numpy'] for row in orders])} times as fast",
        ],
        [
            f"a step in a kernel, {named(len(peers))} environments",
            "Gymnasium's own environments",
            f"{span([row['vs_peer'] for row in peers])} times as fast",
        ],
        ["collecting with two workers", "one worker", f"{span(two)} times as fast"],
        [
            f"loading {load['load_rows'] / 1e6:.2f} million scores",
            "Python's csv module",
            f"{digits(load['vs_csv'])} times as fast",
        ],
        [
            f"bounds, {board}",
            "dense policy iteration",
            f"{digits(results.row('judge', 'bounds')['vs_dense'])} times as fast",
        ],
        [
            f"bootstrap, {board}",
            "plain resampling",
            f"{digits(results.row('judge', 'resamples')['vs_plain'])} times as fast",
        ],
    ]
    if limits:
        lines.insert(0, [lines[0][0], "hand-vectorised C", f"{span(limits, 3)} times its time"])
    return table(["what", "compared with", "measured"], lines, left=3)


def threads(results: Results) -> str:
    row = results.row("engine", "identical", workers=2)
    same = "with identical results" if row["identical"] else "with results that differ"
    return f"{row['vs_one']:.2f} times as fast as one, {same}"


def starts(results: Results) -> str:
    cold, *warm = results.rows("engine", "start")
    again = digits(min(row["seconds"] for row in warm))
    compiled = max(row["new_files"] for row in warm)
    return (
        f"{digits(cold['seconds'])} s from the command line, import included, then {again} s; a second process "
        f"compiles {'nothing' if compiled == 0 else f'{compiled} kernels'}"
    )


# --- what a trial costs


def costs_table(results: Results) -> str:
    """Return the cost of a trial on every kind of environment: the cheapest cell, the median, the most expensive."""
    kinds: dict[str, list[tuple[str, Row]]] = {}
    for (place, name), row in costs(results).items():
        shared = place.partition("-")[0]
        kinds.setdefault(shared if shared in ("gridworld", "chain", "pinball") else place, []).append((name, row))
    lines = []
    for kind, cells in kinds.items():
        cells.sort(key=lambda each: each[1]["seconds"])
        ends = [f"{_milliseconds(row['seconds'])} ({name})" for name, row in (cells[0], cells[-1])]
        middle = _milliseconds(median(row["seconds"] for _, row in cells))
        lines.append([kind, f"{len(cells)}", ends[0], middle, ends[1]])
    return table(["environments", "cells", "cheapest", "median", "most expensive"], lines)


def _milliseconds(seconds: float) -> str:
    spent = 1e3 * seconds
    return f"{spent:.2f}" if spent < 1.0 else digits(spent)


def _discrete(found: Mapping[tuple[str, str], Row]) -> dict[tuple[str, str], Row]:
    return {key: row for key, row in found.items() if isinstance(untuned.environment(key[0]).states, DiscreteStates)}


def costs_trials(results: Results) -> str:
    found = costs(results)
    discrete = _discrete(found)
    others = [row["trials"] for key, row in found.items() if key not in discrete]
    few = sum(trials < 30 for trials in others)
    return (
        f"{counts([row['trials'] for row in discrete.values()])} trials with discrete states and of "
        f"{counts(others)} with continuous ones; {few} of these {len(others)} cells have fewer than 30"
    )


def discrete_hours(results: Results) -> str:
    found = _discrete(costs(results))
    places = {environment for environment, _ in found}
    if len(found) != len(places) * len(ALGORITHMS):
        return "an unknown time, since some were not measured,"
    return duration(10_000 * math.fsum(row["seconds"] for row in found.values()))


# --- environments


def environments(results: Results) -> str:
    """Return the time of a step; environments of one kind share a line."""
    kinds: dict[str, list[Row]] = {}
    for row in results.rows("environments", "environment"):
        name = row["environment"]
        kinds.setdefault(name if "peer" in row else name.partition("-")[0], []).append(row)
    lines = []
    for name, rows in kinds.items():
        peer = [digits(rows[0]["peer_ns"], 3), digits(rows[0]["vs_peer"])] if "peer" in rows[0] else ["", ""]
        times = [span([row[key] for row in rows]) for key in ("kernel_ns", "gymnasium_ns")]
        lines.append([name if len(rows) == 1 else f"{name}, {named(len(rows))} kinds", *times, *peer])
    return table(
        ["environment", "in a kernel", "through Gymnasium", "Gymnasium's own", "times faster in a kernel"], lines
    )


# --- collecting


def collecting(results: Results) -> str:
    lines = []
    for one in results.rows("collect", "study", engine="local", workers=1):
        local = results.row("collect", "study", study=one["study"], engine="local", workers=2)
        ray = [
            f"{row['vs_local']:.2f}"
            for row in results.content("collect")["rows"]
            if row.get("study") == one["study"] and row["engine"] == "ray"
        ]
        lines.append(
            [
                one["study"],
                digits(1e3 / one["trials_per_second"]),
                digits(one["trials_per_second"], 3),
                f"{local['vs_one']:.2f}",
                *(ray or [""]),
            ]
        )
    return table(
        ["study", "a trial, ms", "one worker, trials a second", "two workers, times one", "Ray, times two workers"],
        lines,
    )


def cluster(results: Results) -> str:
    return f"{digits(results.row('collect', 'cluster_seconds')['cluster_seconds'])} s"


def store(results: Results) -> str:
    lines = []
    for row in results.rows("store", "batch", returns=False):
        words = f"rows written a second in batches of {row['batch']:,}"
        lines.append([words, digits(row["rows_per_second"], 3), f"{row['vs_csv']:.2f}"])
    lines += [
        [f"bytes a row, {row['layout']}", f"{row['bytes_per_row']}", f"{row['vs_csv']:.2f}"]
        for row in results.rows("store", "layout")
        if "vs_csv" in row
    ]
    load = results.row("store", "load_rows")
    lines.append([f"scores loaded a second, of {load['load_rows']:,}", *_loaded(load)])
    return table(["what", "the store", "times a CSV file"], lines)


def _loaded(row: Row) -> list[str]:
    return [digits(row["load_rows"] / row["seconds"]), f"{row['vs_csv']:.1f}"]


_READ = {"scores": "scores, CSV", "curves": "points of curves, CSV", "parquet": "points of curves, Parquet"}


def reading(results: Results) -> str:
    lines = []
    for row in results.rows("reading", "reader"):
        what = _READ.get(row["what"], "scores, CSV")
        who = "" if row["what"] in _READ else f", {row['reader']}"
        lines.append(
            [
                f"{row['rows']:,} {what}{who}",
                digits(row["rows_per_second"], 3),
                digits(row["megabytes"]),
                digits(row["peak_megabytes"]),
            ]
        )
    return table(["what is read", "rows a second", "file, MB", "peak memory, MB"], lines)


def metered(results: Results) -> str:
    """Return what counting a step costs, in our environments and behind Gymnasium's wrappers."""
    told = []
    for wrapped, where in ((False, "our environments"), (True, "Gymnasium's")):
        rows = results.rows("metered", "environment", wrapped=wrapped)
        more, bare = (span([row[f"{which}_ns"] / 1e3 for row in rows]) for which in ("more", "bare"))
        told.append(f"{more} µs more than the {bare} µs of a step in {where}")
    return " and ".join(told)


# --- judging


def judging(results: Results) -> str:
    lines = [[row["stage"], f"{digits(row['seconds'])}", ""] for row in results.rows("judge", "stage")]
    bounds, bootstrap = results.row("judge", "bounds"), results.row("judge", "resamples")
    lines += [
        [f"all {bounds['bounds']} bounds", digits(bounds["seconds"]), digits(bounds["vs_dense"])],
        [
            f"bootstrap, {bootstrap['resamples']:,} resamples",
            digits(bootstrap["seconds"]),
            digits(bootstrap["vs_plain"]),
        ],
    ]
    return table(["step", "seconds", "a plain implementation, times as long"], lines)


def judging_trials(results: Results) -> str:
    trials = results.settings("judge")["trials"]
    return f"{trials:,} trials each, {165 * trials / 1e6:.2f} million scores"


def judging_peers(results: Results) -> str:
    bounds, bootstrap = results.row("judge", "bounds"), results.row("judge", "resamples")
    return (
        f"These were timed on {named(bounds['dense_measured'])} bounds and {named(bootstrap['plain_measured'])} "
        f"resamples, and extrapolated. The dense bounds agree to {bounds['largest_difference']:.0e}, the plain "
        f"resamples' means to {bootstrap['largest_deviation_in_standard_errors']} of their own standard errors"
    )


def judging_threads(results: Results) -> str:
    row = results.row("judge", "identical", workers=2)
    same = "with identical results" if row["identical"] else "with results that differ"
    return f"{row['vs_one']:.1f} times as fast as one, {same}"


def growth(results: Results) -> str:
    """Return the time of bounds by the size of the board."""
    rows = results.rows("judge", "memory_megabytes")
    return table(
        ["algorithms x environments", "states", "a bound", "all bounds", "memory, MB"],
        [
            [
                f"{row['algorithms']} x {row['environments']}",
                f"{row['states']:,}",
                duration(row["bound_seconds"]),
                duration(row["bound_seconds"] * row["algorithms"]),
                digits(row["memory_megabytes"]),
            ]
            for row in rows
        ],
    )


def commands(results: Results) -> str:
    """Return time and memory of every command on every board, with the ratio to ten times fewer trials."""
    rows = results.rows("growth", "command")
    names = list(dict.fromkeys(row["command"] for row in rows))
    lines = []
    for board in dict.fromkeys(row["board"] for row in rows):
        found = {row["command"]: row for row in rows if row["board"] == board}
        lines.append([board, *(_command(results, found[name]) if name in found else "" for name in names)])
    return table(["algorithms x environments", *(f"`{name}`" for name in names)], lines)


def _command(results: Results, row: Row) -> str:
    if row["seconds"] is None:
        return f"more than {results.settings('growth')['patience']:.0f} s"
    ratio = _tenfold(results, row)
    times = "" if ratio is None else f" ({ratio:.1f} times)"
    return f"{duration(row['seconds'])}{times}, {row['megabytes']:,} MB"


def _tenfold(results: Results, row: Row) -> float | None:
    """Return how many times as long a command took as with ten times fewer trials, where that was measured."""
    boards = {
        each["board"].partition(", ")[0]: each
        for each in results.rows("growth", "command", command=row["command"])
        # A tenth of a million, in nine equal cells.
        if math.isclose(row["trials"], 10 * each["trials"], rel_tol=0.01)
    }
    fewer = boards.get(row["board"].partition(", ")[0])
    if fewer is None or row["seconds"] is None or fewer["seconds"] is None:
        return None
    return float(row["seconds"] / fewer["seconds"])


def commands_growth(results: Results) -> str:
    rows = results.rows("growth", "command")
    ratio, row = max(
        ((found, row) for row in rows if (found := _tenfold(results, row)) is not None), key=lambda each: each[0]
    )
    told_first = (
        f"With ten times as many trials no command that finished took more than {ratio:.1f} times as long "
        f"(`{row['command']}`)"
    )
    settings = results.settings("growth")
    sentences = [told_first]
    longer = [each for each in rows if each["seconds"] is None]
    if longer:
        told = [f'`{each["command"]}` on {each["board"]} ("{each["estimate"] or "none"}")' for each in longer]
        stopped = f"Stopped after {settings['patience']:.0f} s, with the last line of progress: {', '.join(told)}"
        sentences.append(stopped)
    if "boards" not in settings["only"]:
        sentences.append(
            f"Not measured: more than {settings['most']:,} trials, and the boards of `--only boards` (500 algorithms, "
            "2,000 environments, one of either, all ties)"
        )
    return f"{'. '.join(sentences)}."


def moves(results: Results) -> str:
    """Return how much trees save, by the length of rows."""
    rows = results.rows("judge", "columns")
    told = [
        f"{digits(row['trees_vs_every_move'])} times with {row['columns']:,} columns" for row in (rows[0], rows[-1])
    ]
    return f"as fast as visiting every move {' and '.join(told)}"


def pooled(results: Results) -> str:
    """Return the time of an evaluation by `pooled`, next to what is required of it."""
    lines = [
        [
            f"{row['algorithms']} x {row['environments']} x {row['trials']:,}",
            duration(row["seconds"]),
            duration(row["processor_seconds"]),
            duration(row["required_seconds"]),
            f"{row['peak_megabytes']:,}",
        ]
        for row in results.rows("pooled-power", "required_seconds")
    ]
    heading = ["algorithms x environments x trials", "time", "processor time", "required: less than"]
    return table([*heading, "peak memory, MB"], lines)


def whole(results: Results) -> str:
    return table(
        ["algorithms x environments x trials", "evaluation", "peak memory, MB", "pairs decided", "cases for a pair"],
        [
            [
                f"{row['algorithms']} x {row['environments']} x {row['trials']:,}",
                duration(row["evaluation_seconds"]),
                f"{row['peak_megabytes']:,}",
                f"{row['decided']:,} of {row['pairs']:,}",
                f"{row['cases_per_pair']:,}",
            ]
            for row in results.rows("judge-whole", "evaluation_seconds")
        ],
    )


def game_decides(results: Results) -> str:
    """Return how many pairs are decided under the game's weights, by board."""
    told = [
        f"{row['decided']:,} of {row['pairs']:,} pairs of {row['algorithms']} x {row['environments']} with "
        f"{row['trials']:,} trials"
        for row in results.rows("judge-whole", "evaluation_seconds")
    ]
    return f"{', '.join(told)} were decided"


# --- reporting


def reporting(results: Results) -> str:
    lines = []
    for page in results.rows("report", "part", part="page"):
        board = {key: page[key] for key in ("algorithms", "environments", "trials")}
        folder = [
            row
            for row in results.content("report")["rows"]
            if row["part"] == "folder" and all(row[key] == value for key, value in board.items())
        ]
        lines.append(
            [
                f"{board['algorithms']} x {board['environments']} x {board['trials']:,}"
                f"{', histories' if page['histories'] else ''}",
                duration(page["seconds"]),
                digits(page["times_judging_with_equal_weights"]),
                f"{digits(page['page_megabytes'])} MB",
                duration(page["interactive_seconds"]),
                f"{duration(folder[0]['seconds'])}, {folder[0]['files']} files" if folder else "",
            ]
        )
    heading = ["board", "page", "times judging", "size", "interactive after"]
    return table([*heading, "folder with all tables and figures"], lines)


# --- peers


def peers(results: Results) -> str:
    names = {"iqm": "interval of the interquartile mean", "poi": "interval of the probability of improvement"}
    lines = []
    for row in results.rows("peers", "faster"):
        if row["peer"] == "rliable":
            what = f"{names[row['what']]}, {row['runs']} runs x {row['environments']} environments"
        else:
            what = f"equilibrium of the game, {row['states']:,} states"
        lines.append(
            [what, duration(row["seconds"]), row["peer"], duration(row["peer_seconds"]), digits(row["faster"])]
        )
    return table(["what", "untuned", "peer", "peer's time", "times as fast"], lines)


def peers_resamples(results: Results) -> str:
    found = results.rows("peers", "peer_resamples")
    few = ", ".join(f"{row['peer_resamples']:,}" for row in found[:2])
    return f"{found[0]['resamples']:,} resamples on both sides; rliable's time is that of fewer ({few}), extrapolated"


PARTS: Mapping[str, Part] = {
    "speed-files": source_files(*_MEASURED, "costs"),
    "speed-in-short": in_short,
    "speed-pooled": pooled,
    "speed-machine": machine,
    "speed-busy": busy,
    "speed-engine": engine,
    "speed-agents": agents,
    "speed-threads": threads,
    "speed-starts": starts,
    "speed-costs": costs_table,
    "speed-costs-trials": costs_trials,
    "speed-discrete-hours": discrete_hours,
    "speed-environments": environments,
    "speed-collecting": collecting,
    "speed-cluster": cluster,
    "speed-store": store,
    "speed-reading": reading,
    "speed-metered": metered,
    "speed-judging": judging,
    "speed-judging-trials": judging_trials,
    "speed-judging-peers": judging_peers,
    "speed-judging-threads": judging_threads,
    "speed-growth": growth,
    "speed-commands": commands,
    "speed-commands-growth": commands_growth,
    "speed-moves": moves,
    "speed-whole": whole,
    "limitations-game": game_decides,
    "speed-reporting": reporting,
    "speed-peers": peers,
    "speed-peers-resamples": peers_resamples,
}
