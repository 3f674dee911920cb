"""From files and folders to a table of scores: recognise files, collect rows, identify runs, reduce curves."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from untuned.adapters.score_files.choosing import concerning, kept, oriented
from untuned.adapters.score_files.identity import codes_of, identified, no_reduction, one_per_configuration
from untuned.adapters.score_files.opening import File
from untuned.adapters.score_files.paths import stem, with_names
from untuned.adapters.score_files.reading import Reading
from untuned.adapters.score_files.recognition import counted, recognised_files
from untuned.adapters.score_files.reduction import (
    SHORT,
    Curves,
    Reduction,
    curves_of,
    histories,
    lengths,
    no_steps,
    reduced,
)
from untuned.adapters.score_files.rows import Rows, Runs, gathered
from untuned.diagnostics.finding import Finding
from untuned.histories import Histories
from untuned.scores import NotFinite, ScoreTable, spread

#: Findings about reading files, in addition to those in the scores.
CODES = ("tuned-trials", "unread-columns", "best-of-curve", "unequal-lengths")


@dataclass(frozen=True, eq=False)
class Source:
    """All rows of a source, and their provenance.

    Attributes
    ----------
    runs
        The rows.
    name
        The name of the source in a sentence: a file's name, or ``"60 TensorBoard files"``.
    detail, unit, findings
        As in `Recognised`.
    provenance
        The provenance of the table.
    """

    runs: Runs
    name: str
    detail: str = ""
    unit: str = "step"
    findings: tuple[Finding, ...] = ()
    provenance: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Scored:
    """One row per run, higher is better, and the learning curves of the scores.

    Attributes
    ----------
    runs
        The rows.
    known
        The declarations about the scores, for `ScoreTable.from_columns`.
    curves
        The rows before reduction, if they are points of curves with steps; None otherwise.
    points
        The points of these curves by run; None otherwise.
    findings
        Findings about curves and their reduction.
    summary
        What was recognised, without the size of the table.
    """

    runs: Runs
    known: dict[str, Any]
    curves: Runs | None
    points: Curves | None
    findings: tuple[Finding, ...]
    summary: str


@dataclass(frozen=True, eq=False)
class Imported:
    """Scores of any source, and their provenance.

    Attributes
    ----------
    table
        One score per run.
    summary
        One line on what was recognised; empty if there is no other interpretation.
    histories
        The learning curves, if there are any.
    findings
        Findings while reading, in addition to those of `untuned.diagnostics` in the table.
    study
        The folder of the study of the scores; None for other scores.
    """

    table: ScoreTable
    summary: str = ""
    histories: Histories | None = None
    findings: tuple[Finding, ...] = ()
    study: Path | None = None


def rows_of_paths(paths: Sequence[str | Path], asked: Reading) -> Source:
    """Return all rows in files and folders; ``-`` is standard input."""
    with ExitStack() as ending:
        found, left_out = recognised_files(paths, asked, ending)
        recognised = [(files, reader.read(files, asked)) for reader, files in found]
        columns: list[str] = []

        def parts() -> Iterator[Rows]:
            for files, what in recognised:
                for part in with_names(what.parts, [file.below for file in files], asked.pattern):
                    columns.append(part.columns)
                    yield part

        runs = gathered(parts())
        files = [file for _, chosen in found for file in chosen]
        name = files[0].name if len(files) == 1 else counted(len(files), found[0][0] if len(found) == 1 else None)
        detail = [recognised[0][1].detail, columns[0], f"{left_out} left out" if left_out else ""]
        detail.append(_numbered(runs.environments, files))
        provenance = {"file": name, **(_digest(files[0]) if len(files) == 1 else {})}
        findings = tuple(finding for _, what in recognised for finding in what.findings)
        return Source(runs, name, ", ".join(filter(None, detail)), recognised[0][1].unit, findings, provenance)


def scored(source: Source, asked: Reading, *, must_reduce: bool = True) -> Scored:
    """Return one row per run of the requested algorithms: runs are identified, and curves reduced.

    Parameters
    ----------
    source
        All rows.
    asked
        How to read them.
    must_reduce
        Whether curves need an explicit reduction; otherwise the default is their mean.
    """
    how = None if asked.reduce is None else Reduction.parse(asked.reduce)
    runs = kept(source.runs, asked)
    asked = concerning(asked, source.runs, runs)
    runs = one_per_configuration(runs)
    detail = _joined(source.detail, "one run per configuration" if asked.configuration is not None else "")
    # Rows without steps may still be points: their mean needs no order.
    if how is None or runs.step is not None or len(runs.runs) != 1:
        found = identified(runs)
        # A run of one point is still a curve: its step shows whether it is long enough.
        runs = found if how is None or not found.runs else replace(found, step=runs.step)
    runs, known = oriented(runs, asked)
    doubts = _about_suspects(runs)
    if runs.step is None and (how is None or not runs.runs):
        if how is not None and how.kind not in ("mean", "best"):
            no_steps(how)
        return Scored(runs, known, None, None, doubts, _joined(source.name, detail))
    if how is None and must_reduce:
        no_reduction(runs, source.name)
    points = curves_of(runs)
    scores = reduced(runs, points, how or Reduction("mean"))
    summary = _joined(source.name, detail, "" if how is None else f"reduced by {how}")
    known["provenance"] = {**(known["provenance"] or {}), **({} if how is None else {"score of a run": str(how)})}
    if runs.step is None:
        return Scored(scores, known, None, None, _about_best(how), summary)
    return Scored(scores, known, runs, points, _findings(runs, points, how), summary)


def imported(source: Source, asked: Reading) -> Imported:
    """Return the table of a source, one score per run."""
    found = scored(source, asked)
    runs = found.runs
    known = found.known | {"provenance": {**source.provenance, **(found.known["provenance"] or {})}}
    try:
        table = ScoreTable.from_columns(
            (runs.algorithms, runs.algorithm),
            (runs.environments, runs.environment),
            runs.score,
            run=codes_of(runs),
            failed=runs.failed,
            **known,
        )
    except NotFinite as error:
        if found.points is None:
            raise
        bad = int((~np.isfinite(found.points.value)).sum())
        raise NotFinite(
            f"{error}. The learning curves have {bad:,} {'point' if bad == 1 else 'points'} without a finite value: if "
            "one was not logged, remove its row",
            error.count,
            error.cells,
        ) from None
    lines = None
    if found.curves is not None and found.points is not None:
        lines = histories(found.curves, found.points, table, source.unit)
    return Imported(table, f"{size(table)} from {found.summary}", lines, (*source.findings, *found.findings))


def _numbered(environments: Sequence[str], files: Sequence[File]) -> str:
    """Return a warning if environments are files whose names differ only in a number: they may be parts of one."""
    stems = {stem(file.below) for file in files}
    if len(environments) < 2 or not stems.issuperset(environments):
        return ""
    if len({re.sub(r"\d+", "", name) for name in environments}) > 1:
        return ""
    shown = ", ".join(environments[:2]) + (", ..." if len(environments) > 2 else "")
    return f"each file taken for an environment ({shown}; if they are batches of one, put their rows into one file)"


def _joined(*parts: str) -> str:
    return ", ".join(filter(None, parts))


def size(table: ScoreTable) -> str:
    """Return the size of a table, as text: ``"4 algorithms x 3 environments x 5 runs"``."""
    n, m, trials = len(table.algorithms), len(table.environments), table.trials
    runs = spread(trials[trials > 0]) if trials.any() else "0"
    return (
        f"{n} {'algorithm' if n == 1 else 'algorithms'} x {m} {'environment' if m == 1 else 'environments'} x "
        f"{runs} {'run' if runs == '1' else 'runs'}"
    )


def _digest(file: File) -> dict[str, str]:
    """Return a digest of a file's content, so that readers of the report can check whether they have the same data."""
    with file.path.open("rb") as stream:
        return {"blake2b": hashlib.file_digest(stream, lambda: hashlib.blake2b(digest_size=8)).hexdigest()}


def _findings(runs: Runs, points: Curves, how: Reduction | None) -> tuple[Finding, ...]:
    """Return the findings about curves and their reduction."""
    found = [*_about_best(how)]
    if how is None or how.kind != "at":
        shortest, longest, least, short = lengths(runs, points)
        if shortest < SHORT * longest:
            found.append(
                Finding(
                    "unequal-lengths",
                    "warning",
                    f"Runs on one environment have different lengths: from {shortest:,.6g} to {longest:,.6g} steps.",
                    "A run that ended early, or has not ended yet, is compared with one that learned for longer.",
                    "Complete the runs; if a run crashed, it is a trial that failed. "
                    f"--reduce at:{least:.15g} compares all runs at one step.",
                    short,
                )
            )
    return tuple(found)


def _about_suspects(runs: Runs) -> tuple[Finding, ...]:
    """Return the finding on columns that may identify runs, if no other column does."""
    if not runs.suspects or runs.runs:
        return ()
    names = " and ".join(map(repr, runs.suspects))
    column = f"columns {names} repeat their" if len(runs.suspects) > 1 else f"column {names} repeats its"
    return (
        Finding(
            "unread-columns",
            "serious",
            f"No column is known to name the runs, and the {column} values equally often within every cell.",
            "If it names runs or steps, rows are points of curves or episodes, and are overcounted as evidence.",
            f"Say what it is: --run {runs.suspects[0]} if it names runs, --step {runs.suspects[0]} if it is a step of "
            "training, --configuration if it is a hyperparameter; or remove the column if every row is an independent "
            "run.",
        ),
    )


def _about_best(how: Reduction | None) -> tuple[Finding, ...]:
    if how is None or how.kind != "best":
        return ()
    return (
        Finding(
            "best-of-curve",
            "warning",
            "Every curve was reduced by its best value.",
            "The best of many noisy values is too high, the more so the more points and the more noise a curve has.",
            "Use --reduce mean, final, last:10% or at:STEP for a claim in a paper.",
        ),
    )
