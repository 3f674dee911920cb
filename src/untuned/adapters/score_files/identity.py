"""Which rows belong to one run: a run counts once, however many rows it has."""

from dataclasses import replace
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from untuned.adapters.score_files.column_names import CONFIGURATION
from untuned.adapters.score_files.rows import Codes, Runs
from untuned.diagnostics.finding import Finding
from untuned.errors import InvalidInput
from untuned.scores import Floats

#: A number for every row that all rows of a run share.
Keys = NDArray[np.int64]

#: Up to this many possible runs per row, they are marked in an array, which is faster than sorting.
_SPARSE = 16

_REDUCTIONS = "mean (over training, the paper's), final, last:10 (points), last:10% (of training) or at:1e6 (steps)"


class NotTrials(InvalidInput):
    """Rows that are not independent trials as they stand.

    Parameters
    ----------
    where
        The name of the source.
    code
        The code of the finding, as in `untuned.check`.
    found, remedy
        The finding, and what to do.
    """

    def __init__(self, where: str, code: str, found: str, remedy: str) -> None:
        super().__init__(f"{found} {remedy}")
        self.where = where
        self.finding = Finding(code, "serious", found, "A guarantee counts runs, and a run counts once.", remedy)


def identified(runs: Runs) -> Runs:
    """Return the rows with the one column that identifies runs, and with steps only if runs are curves.

    Raises
    ------
    InvalidInput
        If a run has several rows without distinguishing steps, if a run appears twice, and if it is unclear which rows
        belong to one run.
    """
    if not runs.runs:
        if runs.step is None or _constant(runs.cell, runs.step):
            return replace(runs, step=None)
        _refuse_anonymous(runs)
    for heading in runs.runs:
        if not _repeats(runs.run_keys(heading)):
            _refuse_counter(runs, heading)
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


def _refuse_counter(runs: Runs, heading: str) -> None:
    """Refuse a column that numbers the rows if another column groups them into curves."""
    if runs.step is None:
        return
    for other, (names, codes) in runs.runs.items():
        # A constant column does not distinguish runs: for example the seed of a study.
        if other == heading or len(np.unique(codes)) < 2:
            continue
        if not _repeats(runs.run_keys(other), runs.step):
            raise NotTrials(
                runs.parts[0][0],
                "curves",
                f"The column {heading!r} has another value in every row, and by the column {other!r} rows are points "
                f"of learning curves: {len(names):,} runs.",
                f"Say which identifies a run, --run {other} (then --reduce HOW) or --run {heading}",
            )


def one_per_configuration(runs: Runs) -> Runs:
    """Return the rows of the lowest seed of every configuration; the configuration then identifies a run.

    Rows without configurations are returned unchanged.
    """
    if CONFIGURATION not in runs.runs:
        return runs
    key = runs.run_keys(CONFIGURATION)
    seeds = next((column for heading, column in runs.runs.items() if heading != CONFIGURATION), None)
    if seeds is None:
        # Without seeds the first row counts; curves have each point once.
        return runs if runs.step is not None else runs.take(np.sort(np.unique(key, return_index=True)[1]))
    place = {name: number for number, name in enumerate(sorted(seeds[0], key=_by_number))}
    rank = np.array([place[name] for name in seeds[0]])[seeds[1]]
    lowest = np.full(int(key.max(initial=-1)) + 1, len(place))
    np.minimum.at(lowest, key, rank)
    found = runs.take(np.flatnonzero(rank == lowest[key]))
    return replace(found, runs={CONFIGURATION: found.runs[CONFIGURATION]})


def _by_number(name: str) -> tuple[float, str]:
    """Return a sort key for seeds: numbers by size, then text."""
    try:
        return float(name), name
    except ValueError:
        return float("inf"), name


def no_reduction(runs: Runs, where: str) -> NoReturn:
    """Raise: learning curves need a reduction."""
    points = runs.score.size / max(np.unique(runs.run_keys(next(iter(runs.runs)))).size, 1)
    raise NotTrials(
        where,
        "curves",
        f"There are learning curves in {where}, about {points:,.0f} points per run, and a run is one trial, not "
        f"{points:,.0f}.",
        f"Say how a curve becomes one score with --reduce HOW (reduce='...'), where HOW is {_REDUCTIONS}",
    )


def codes_of(runs: Runs) -> tuple[tuple[str, ...], Codes] | None:
    """Return the names of runs and every row's index, after `identified`."""
    return next(iter(runs.runs.values())) if runs.runs else None


def _refuse_anonymous(runs: Runs) -> NoReturn:
    where = runs.parts[0][0]
    raise NotTrials(
        where,
        "curves",
        f"{where} has a column of steps, so its rows are points of learning curves, and no column says which run a "
        "point belongs to.",
        "Name it with --run COLUMN. Remove the column of steps if every row is a run of its own",
    )


def _refuse_repeated(runs: Runs) -> NoReturn:
    """Raise for runs that appear twice, or columns that identify runs only together."""
    where = runs.parts[0][0]
    if len(runs.runs) > 1 and not _repeats(_together(runs)):
        raise NotTrials(
            where,
            "repeated-runs",
            f"{where} has several columns that may identify a run ({', '.join(runs.runs)}), and none of them does so "
            "alone.",
            "Name the one that stands for an independent run, --run COLUMN, or several, --run A,B, if every "
            "combination is an independent run",
        )
    heading, (names, codes) = next(iter(runs.runs.items()))
    key = runs.run_keys(heading)
    order = np.argsort(key, kind="stable")
    again = np.flatnonzero(key[order][1:] == key[order][:-1])
    one, other = (int(order[again[0] + each]) for each in (0, 1))
    more = f", and {again.size - 1:,} more rows repeat a run" if again.size > 1 else ""
    raise NotTrials(
        where,
        "repeated-runs",
        f"{runs.where(one)} and {runs.where(other)} are both run {names[codes[one]]!r} (column {heading!r}) of "
        f"{runs.cell_name(one)}{more}.",
        "If these are episodes or points of a learning curve, reduce them: --reduce mean, or name the column of steps, "
        "--step COLUMN, for other reductions. If rows were pasted twice, remove the copies. If "
        f"{heading!r} does not identify a run, name the column that does, --run COLUMN, or several, --run A,B. Several "
        "seeds of one setting of hyperparameters are one draw: name its columns, --configuration COLUMN,...",
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
