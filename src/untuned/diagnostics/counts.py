"""How many trials there are, how many are missing, and how many failed."""

import numpy as np

from untuned.diagnostics.finding import Finding, counted
from untuned.diagnostics.sample import Sample

_FEW = 5
_SOME = 10
_UNEQUAL = 3


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
    """Find cells with a third of the trials of others, or fewer. A count, so there are no false alarms."""
    sizes = [cell.size for cell in sample.cells]
    if not sizes or max(sizes) < _UNEQUAL * min(sizes):
        return None
    return Finding(
        "unequal-runs",
        "warning",
        f"The number of runs per cell goes from {min(sizes):,} to {max(sizes):,}.",
        "If runs that failed or did badly were left out, the scores are the survivors', and nothing is guaranteed.",
        "Make sure that every run that was started is in the table. Count failed ones as the worst score: write them "
        "as NaN, declare `--range NAME=LOW:HIGH` and use `--nonfinite worst`.",
        tuple(cell.name for cell in sample.cells if _UNEQUAL * cell.size <= max(sizes)),
    )
