"""How many trials there are, how many are missing, and how many failed."""

from collections import Counter

import numpy as np

from untuned.diagnostics.finding import Finding, counted
from untuned.diagnostics.sample import Cell, Sample

_FEW = 5
_SOME = 10
# A cell has a third of the runs of another one, or 10 % fewer than another one of its environment.
_UNEQUAL = 3
_FEWER = 0.9
# Names of runs that are told.
_NAMES = 5


def failed_trials(sample: Sample) -> Finding | None:
    """Find trials that failed and count as the worst. A count, so there are no false alarms."""
    table = sample.table
    if table.failed_ae is None or not table.failed_ae.any():
        return None
    failed_a, trials_a = table.failed_ae.sum(axis=1), table.trials.sum(axis=1)
    names = [
        f"{table.algorithms[a]}: {failed_a[a]:,} of {counted(int(trials_a[a]), 'trial')}"
        for a in np.flatnonzero(failed_a)
    ]
    all_failed = [table.algorithms[a] for a in np.flatnonzero((failed_a > 0) & (failed_a >= trials_a))]
    first = f"All trials of {', '.join(all_failed)} failed. " if all_failed else ""
    return Finding(
        "failed-trials",
        "warning",
        f"{first}{counted(int(failed_a.sum()), 'trial')} of {int(trials_a.sum()):,} failed or had no finite score.",
        "Each counts as the worst possible score, so the verdict is also about how often an algorithm fails.",
        "Find out why they failed. If the cause lies outside the algorithm, such as a full disk, run them again; to "
        "leave them out would favour the algorithm that fails.",
        tuple(names),
    )


def missing_cells(sample: Sample) -> Finding | None:
    """Find cells without trials. A count, so there are no false alarms."""
    table = sample.table
    missing = table.missing
    if not missing:
        return None
    return Finding(
        "missing-cells",
        "warning",
        f"{len(missing):,} of {counted(table.trials.size, 'cell')} have no trials.",
        "Nothing is known about these cells, so the intervals of their algorithms are much wider, and the scores take "
        "the middle for what is unknown.",
        "Run the missing trials, or leave out the algorithm or the environment and say so.",
        tuple(f"{algorithm} on {environment}" for algorithm, environment in missing),
    )


def few_runs(sample: Sample) -> Finding | None:
    """Find cells with fewer than 10 trials. A count, so there are no false alarms."""
    sizes = np.array([cell.size for cell in sample.cells])
    if not sizes.size or sizes.min() >= _SOME:
        return None
    least, middle, single = int(sizes.min()), float(np.median(sizes)), int((sizes == 1).sum())
    found = f"The smallest cell has {counted(least, 'run')}, the median cell {middle:g}"
    found += f"; {counted(single, 'cell has', 'cells have')} a single run." if single else "."
    few = least < _FEW
    return Finding(
        "few-runs",
        "warning" if few else "note",
        found,
        "With fewer than about 5 runs per cell, most pairs of algorithms stay undecided."
        if few
        else "With fewer than 10 runs per cell, only large differences are decided.",
        "Run more trials; `untuned plan` says how many are probably enough.",
        tuple(cell.name for cell in sample.cells if cell.size < (_FEW if few else _SOME)),
    )


def unequal_runs(sample: Sample) -> Finding | None:
    """Find cells with fewer trials than others, and cells without a run that most others of the environment have.

    Fewer are 10 % fewer than in the largest cell of the environment, or a third of the largest cell of the table.
    Counts, so there are no false alarms. A race plans unequal numbers, and records every trial of them.
    """
    if sample.table.declared is not None:
        return None
    sizes = [cell.size for cell in sample.cells]
    environments = [sample.of_environment(e) for e in range(len(sample.table.environments))]
    largest = {cell: max(each.size for each in cells) for cells in environments for cell in cells}
    fewer = [cell for cell, most in largest.items() if cell.size <= _FEWER * most or _UNEQUAL * cell.size <= max(sizes)]
    absent = {cell: names for cells in environments for cell, names in _absent(sample, cells).items()}
    if not fewer and not absent:
        return None
    told = [f"The number of runs per cell goes from {min(sizes):,} to {max(sizes):,}."] if fewer else []
    if absent:
        told.append(_missing(sample, absent))
    return Finding(
        "unequal-runs",
        "warning",
        " ".join(told),
        "If runs that crashed or did badly were left out, the scores are the survivors', and nothing is guaranteed.",
        "A run that crashed or was left out is a trial: enter it with the score it deserves. To count it as the worst "
        "score, write NaN, declare `--range NAME=LOW:HIGH` and use `--nonfinite worst`.",
        tuple(cell.name for cell in sample.cells if cell in absent or cell in fewer),
    )


def _absent(sample: Sample, cells: list[Cell]) -> dict[Cell, list[str]]:
    """Return for cells of an environment the names of runs that more than half of the others have, and they do not.

    A cell must share more than half of its own runs with others; else it has runs of its own.
    """
    names = {cell: dict.fromkeys(own) for cell in cells if (own := sample.names(cell)) is not None}
    times = Counter(name for own in names.values() for name in own)
    others = len(names) - 1
    usual = [name for name, count in times.items() if 2 * count > others]
    found = {}
    for cell, runs in names.items():
        if 2 * sum(times[name] > 1 for name in runs) > len(runs):
            found[cell] = [name for name in usual if name not in runs]
    return {cell: absent for cell, absent in found.items() if absent}


def _missing(sample: Sample, absent: dict[Cell, list[str]]) -> str:
    """Return the sentence about names of runs that are absent in cells."""
    cell, names = next(iter(absent.items()))
    left = len(names) - _NAMES
    listed = ", ".join(names[:_NAMES]) + (f" and {left:,} more" if left > 0 else "")
    more = f"; {counted(len(absent) - 1, 'more cell lacks', 'more cells lack')} runs" if len(absent) > 1 else ""
    return (
        f"{sample.table.algorithms[cell.a]} has no {'run' if len(names) == 1 else 'runs'} {listed} on "
        f"{sample.table.environments[cell.e]}, which others have{more}."
    )
