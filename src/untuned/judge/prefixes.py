"""Trials without gaps: which trials of a running study may be judged.

Trials of a study run in parallel, and are stored in the order they finish. Where the duration depends on the score (a
trial that fails runs to the time limit), the early finishers are a biased sample, and an anytime-valid method fails:
its guarantee is about the trials in the order of their numbers. The size of the error depends on the durations.
Simulated with 16 workers, where one standard deviation of the score makes a trial 55 times as long: 52 of 60 runs were
wrong at some look, and none with every cell cut at its first missing trial. Where half of the trials take 30 times as
long: 3 of 60, and none.

Only anytime-valid methods cut cells. They are made for looking at a running study; the guarantee of the others is for
numbers of trials that were chosen beforehand, and does not cover an unfinished study. Nor must a fixed number of trials
shrink because other trials are elsewhere: merged shards have gaps everywhere and no bias. Those methods keep all
trials, and a warning reports the gaps.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from untuned.errors import InvalidInput
from untuned.judge.intervals.method import Method
from untuned.scores import Ints, ScoreTable


def without_gaps(table: ScoreTable, chosen: Method) -> tuple[ScoreTable, list[str]]:
    """Return the trials of a table that a method may judge, and a warning if trials were left out or there are gaps.

    Raises
    ------
    InvalidInput
        If no trials are left.
    """
    if table.unbroken_ae is None:
        return table, []
    behind_ae = table.trials - table.unbroken_ae
    trials, cells = int(behind_ae.sum()), int((behind_ae > 0).sum())
    if not trials:
        return table, []
    counted = f"{trials:,} trials of {cells} {'cell' if cells == 1 else 'cells'}"
    if not chosen.anytime:
        return table, [
            f"{counted} have numbers behind a trial that is missing. If they were merely finished earlier, and how "
            "long a trial takes depends on its score, the scores are biased: run the missing trials first."
        ]
    if not table.unbroken_ae.any():
        raise InvalidInput(
            f"the first trial of every cell is missing, and {chosen.name} judges trials up to the first missing one: "
            "run the missing trials, or use intervals='pairing' if the numbers of trials were chosen beforehand"
        )
    counts_ae = table.unbroken_ae.tolist()
    kept = replace(
        table,
        cells=_cut(table.cells, counts_ae),
        runs=None if table.runs is None else _cut(table.runs, counts_ae),
        failed_ae=_failed(table),
    )
    return kept, [
        f"{counted} were left out, because an earlier trial of the cell is missing: trials that finish early can be a "
        "biased sample. They count once the missing ones are there."
    ]


def _failed(table: ScoreTable) -> Ints | None:
    """Return how many trials before the first missing one failed, limited to those with the worst score."""
    if table.failed_ae is None or table.unbroken_ae is None:
        return None
    worst_ae = [
        [np.count_nonzero(cell[:count] <= low) for cell, count, (low, _) in zip(row, counts, table.ranges, strict=True)]
        for row, counts in zip(table.cells, table.unbroken_ae.tolist(), strict=True)
    ]
    failed_ae: Ints = np.minimum(table.failed_ae, np.array(worst_ae, dtype=np.int64))
    return failed_ae if failed_ae.any() else None


def _cut(cells: tuple[tuple[Any, ...], ...], counts_ae: list[list[int]]) -> tuple[tuple[Any, ...], ...]:
    """Return the first values of every cell."""
    return tuple(
        tuple(cell[:count] for cell, count in zip(row, counts, strict=True))
        for row, counts in zip(cells, counts_ae, strict=True)
    )
