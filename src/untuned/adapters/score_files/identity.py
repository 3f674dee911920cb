"""Which rows are one run: a run counts once, however many rows it has."""

from dataclasses import replace
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from untuned.adapters.score_files.rows import Codes, Runs
from untuned.errors import InvalidInput
from untuned.scores import Floats

#: For every row a number that all rows of a run have in common.
Keys = NDArray[np.int64]

#: Up to so many possible runs for a row they are ticked off one by one, which is faster than sorting.
_SPARSE = 16

_REDUCTIONS = "mean (over training, the paper's), final, last:10 (points), last:10% (of training) or at:1e6 (steps)"


def identified(runs: Runs) -> Runs:
    """Return the rows with the one column that identifies runs, and with steps only where runs are curves.

    Raises
    ------
    InvalidInput
        Where a run has several rows and no step tells them apart, where the same run is there twice, and where it
        cannot be told which rows are one run.
    """
    if not runs.runs:
        if runs.step is None or _constant(runs.cell, runs.step):
            return replace(runs, step=None)
        _refuse_anonymous(runs)
    for heading in runs.runs:
        if not _repeats(runs.run_keys(heading)):
            return replace(runs, runs={heading: runs.runs[heading]}, step=None)
    if runs.step is None:
        _refuse_repeated(runs)
    for heading in runs.runs:
        if len(runs.runs) == 1 or not _repeats(runs.run_keys(heading), runs.step):
            return replace(runs, runs={heading: runs.runs[heading]})
    raise InvalidInput(
        f"several columns may say which run a point of a learning curve belongs to ({', '.join(runs.runs)}): name one "
        "with --run COLUMN, or several that do so together, --run A,B"
    )


def no_reduction(runs: Runs, where: str) -> NoReturn:
    """Raise: learning curves need a reduction."""
    points = runs.score.size / max(np.unique(runs.run_keys(next(iter(runs.runs)))).size, 1)
    raise InvalidInput(
        f"{where} has learning curves, about {points:,.0f} points per run, and a run is one trial, not {points:,.0f}: "
        f"say how a curve becomes one score with --reduce HOW (reduce='...'), where HOW is {_REDUCTIONS}"
    )


def codes_of(runs: Runs) -> tuple[tuple[str, ...], Codes] | None:
    """Return the names of runs and every row's index, after `identified`."""
    return next(iter(runs.runs.values())) if runs.runs else None


def _refuse_anonymous(runs: Runs) -> NoReturn:
    raise InvalidInput(
        f"{runs.parts[0][0]} has a column of steps, so its rows are points of learning curves, and no column says "
        "which run a point belongs to: name it with --run COLUMN. Remove the column of steps if every row is a run of "
        "its own"
    )


def _refuse_repeated(runs: Runs) -> NoReturn:
    """Raise for runs that are there twice, or columns that identify runs only together."""
    if len(runs.runs) > 1 and not _repeats(_together(runs)):
        raise InvalidInput(
            f"{runs.parts[0][0]} has several columns that may identify a run ({', '.join(runs.runs)}), and none of "
            "them does so alone: name the one that stands for an independent run, --run COLUMN, or several, --run A,B, "
            "if every combination is an independent run"
        )
    heading, (names, codes) = next(iter(runs.runs.items()))
    key = runs.run_keys(heading)
    order = np.argsort(key, kind="stable")
    again = np.flatnonzero(key[order][1:] == key[order][:-1])
    one, other = (int(order[again[0] + each]) for each in (0, 1))
    more = f", and {again.size - 1:,} more rows repeat a run" if again.size > 1 else ""
    raise InvalidInput(
        f"{runs.where(one)} and {runs.where(other)} are both run {names[codes[one]]!r} (column {heading!r}) of "
        f"{runs.cell_name(one)}{more}. A run counts once. If these are episodes or points of a learning curve, reduce "
        "them: --reduce mean, or name the column of steps, --step COLUMN, for other reductions. If rows were pasted "
        f"twice, remove the copies. If {heading!r} does not identify a run, name the column that does, --run COLUMN, "
        "or several, --run A,B"
    )


def _together(runs: Runs) -> Keys:
    """Return keys by all columns that may identify a run."""
    key = runs.cell
    for names, codes in runs.runs.values():
        key = np.unique(key, return_inverse=True)[1] * len(names) + codes
    return key


def _repeats(key: Keys, step: Floats | None = None) -> bool:
    """Return whether any run, or any step of a run, appears twice."""
    if step is None:
        if (key[1:] > key[:-1]).all():
            return False
        most = int(key.max()) + 1
        if most <= _SPARSE * key.size:
            seen = np.zeros(most, dtype=np.bool_)
            seen[key] = True
            return bool(np.count_nonzero(seen) < key.size)
        ordered = np.sort(key)
        return bool((ordered[1:] == ordered[:-1]).any())
    order = np.lexsort((step, key))
    key, step = key[order], step[order]
    return bool(((key[1:] == key[:-1]) & (step[1:] == step[:-1])).any())


def _constant(cell: Keys, step: Floats) -> bool:
    """Return whether all rows of each cell have the same step."""
    order = np.argsort(cell, kind="stable")
    same = cell[order][1:] == cell[order][:-1]
    return bool((step[order][1:] == step[order][:-1])[same].all())
