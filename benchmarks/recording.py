"""Result files of benchmarks: the program, its settings and libraries, the number of processors, and the results.

Every benchmark has the same option, ``--json FILE``. `benchmarks/pages.py` makes the tables and figures of the
documentation from these files. A file contains no date, no path and no machine name.
"""

import argparse
import json
import os
import platform
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import untuned
from fingerprints import fingerprint

#: Libraries that may affect speed or figures.
LIBRARIES = ("numpy", "scipy", "numba", "gymnasium", "matplotlib", "ray")

Row = dict[str, Any]


def add_door(parser: argparse.ArgumentParser) -> None:
    """Give a benchmark its ``--json FILE``."""
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="also write the results into this file, updated with every line"
    )


def show(
    rows: Iterable[Row],
    options: argparse.Namespace,
    benchmark: str,
    line: Callable[[Row], str],
    heading: str | None = None,
) -> list[Row]:
    """Print a line for each row as it arrives, write all of them to the file if one is given, and return them.

    Parameters
    ----------
    rows
        The measurements, in order.
    options
        The benchmark's options, which are its settings.
    benchmark
        Its name, that of its file.
    line
        Returns the line to print for a row.
    heading
        The heading of the lines.
    """
    found: list[Row] = []
    # Before the benchmark's own work counts.
    load = waiting()
    for row in rows:
        if heading is not None and not found:
            print(heading)
        found.append(row)
        print(line(row), flush=True)
        if options.json is not None:
            write(options.json, benchmark, settings(options), found, load=load, complete=False)
    if options.json is not None:
        write(options.json, benchmark, settings(options), found, load=load)
    return found


def plain(row: Mapping[str, Any]) -> str:
    """Return the default line of a row."""
    return "  ".join(f"{key} {value}" for key, value in row.items())


def settings(options: argparse.Namespace) -> Row:
    """Return the effective options; for a path only whether one was given."""
    given = {key: value for key, value in vars(options).items() if key != "json" and value is not None}
    return {key: True if isinstance(value, Path) else value for key, value in given.items()}


def machine() -> Row:
    """Return the machine and software: the kind and number of processors, and the versions of libraries."""
    versions = {"python": platform.python_version(), "untuned": untuned.__version__}
    for name in LIBRARIES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return {"processors": os.cpu_count(), "processor": processor(), "system": platform.system(), "versions": versions}


def waiting() -> float | None:
    """Return the system's load average over the last minute, if available."""
    try:
        return round(os.getloadavg()[0], 1)
    except (AttributeError, OSError):
        return None


def processor() -> str:
    """Return the model of the processors, if available."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def peak() -> int:
    """Return the peak of this process's memory, in bytes."""
    try:
        # The other number is that of the parent process, if larger.
        lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        import resource

        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return used if platform.system() == "Darwin" else 1024 * used


def write(
    path: Path, benchmark: str, settings: Row, rows: list[Row], *, load: float | None = None, complete: bool = True
) -> None:
    """Write a file with a line for each row, numbers to six digits."""
    content = {
        "benchmark": benchmark,
        "complete": complete,
        "settings": settings,
        "fingerprint": fingerprint(benchmark),
        "machine": machine(),
        "load": load,
    }
    lines = ",\n".join(json.dumps(_rounded(row), allow_nan=False) for row in rows)
    # Renamed when complete: a benchmark that is stopped leaves a file with the printed lines.
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.part")
    part.write_text(f'{json.dumps(content, allow_nan=False)[:-1]},\n"rows": [\n{lines}\n]}}\n', encoding="utf-8")
    part.replace(path)


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(each) for each in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value
