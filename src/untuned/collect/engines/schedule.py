"""Which trials come next: all cells in step, in batches that take about as long as one likes to wait."""

import heapq
import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from untuned.collect.engines.cells import Cell
from untuned.collect.store.store import Store
from untuned.errors import InvalidInput

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Shard:
    """A part of a study: number ``part`` of ``parts``, from 1; trial t belongs to part t mod parts + 1.

    Parameters
    ----------
    part, parts
        Which one, and how many there are.
    """

    part: int = 1
    parts: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.part <= self.parts:
            raise InvalidInput(f"shard {self.part}/{self.parts} does not exist: parts are numbered 1 to {self.parts}")

    @classmethod
    def parse(cls, text: str) -> "Shard":
        """Return the shard written as ``3/16``."""
        part, _, parts = text.partition("/")
        try:
            return cls(int(part), int(parts))
        except ValueError as error:
            if isinstance(error, InvalidInput):
                raise
            raise InvalidInput(f"shard {text!r}: write PART/PARTS, for example 3/16") from None

    def of(self, trials: int) -> Numbers:
        """Return the numbers of this part's trials."""
        return np.arange(self.part - 1, trials, self.parts, dtype=np.int64)


#: Trials in a batch, at most; and which part of the usual size is not worth dividing further.
_MOST = 1000
_SHORTEST = 8
#: Seconds, times the number of workers: with trials shorter than that, threads often wait for each other.
_SHORT = 0.0015
#: Seconds of work per worker that are worth starting a process for.
_WORTH = 5.0


@dataclass(frozen=True)
class Batch:
    """Trials of one cell that are done in one go.

    Parameters
    ----------
    cell
        Which one.
    trials
        Their numbers.
    apart
        Whether they go to another process although they are compiled.
    """

    cell: int
    trials: tuple[int, ...]
    apart: bool = False


class Schedule:
    """Hands out batches of trials until none are left; many threads may ask.

    Cells are kept in step: the next batch is of the cell that has got least far. A batch is about as long as
    ``seconds``, by what the cell's trials took so far; the first is one trial. Towards the end of a cell they become
    shorter, so that no worker is left with much when the others have nothing.

    Parameters
    ----------
    cells
        Of the study.
    waiting
        Per cell, the numbers of the trials to do, ascending.
    seconds
        How long a batch should take.
    workers
        How many ask.
    """

    def __init__(self, cells: Sequence[Cell], waiting: Sequence[Numbers], seconds: float, workers: int) -> None:
        self._waiting = waiting
        self._next = [0] * len(cells)
        self._size = [1] * len(cells)
        self._may_go_apart = [cell.compiled and workers > 1 for cell in cells]
        self._each = [math.inf] * len(cells)
        self._processes = False
        self._seconds = seconds
        self._workers = workers
        self._heap = [(0.0, number) for number, todo in enumerate(self._waiting) if todo.size]
        heapq.heapify(self._heap)
        self._lock = threading.Lock()

    def take(self) -> Batch | None:
        """Return the next batch, None when there is none."""
        with self._lock:
            if not self._heap:
                return None
            _, cell = heapq.heappop(self._heap)
            first = self._next[cell]
            usual = self._size[cell]
            share = math.ceil((len(self._waiting[cell]) - first) / (2 * self._workers))
            size = min(usual, max(share, usual // _SHORTEST, 1))
            trials = tuple(self._waiting[cell][first : first + size].tolist())
            self._next[cell] = first + len(trials)
            left = len(self._waiting[cell]) - self._next[cell]
            if left:
                heapq.heappush(self._heap, (self._next[cell] / len(self._waiting[cell]), cell))
            return Batch(cell, trials, self._is_short(cell) and self._processes_are_worth_it())

    def _is_short(self, cell: int) -> bool:
        """Return whether a compiled trial is so short that threads would wait for each other's Python."""
        return self._may_go_apart[cell] and self._each[cell] < _SHORT * self._workers

    def _processes_are_worth_it(self) -> bool:
        """Return whether there is so much left of short trials that starting a process for each worker pays."""
        if not self._processes:
            left = (
                (len(todo) - begun) * each
                for cell, (todo, begun, each) in enumerate(zip(self._waiting, self._next, self._each, strict=True))
                if self._is_short(cell)
            )
            self._processes = sum(left) > _WORTH * self._workers
        return self._processes

    def took(self, batch: Batch, seconds: float, apart: bool = False) -> None:
        """Hear how long a batch took, for the size of the cell's next.

        One that was to be done in another process and was not, ``apart`` says so, is not asked for again.
        """
        each = max(seconds / len(batch.trials), 1e-6)
        with self._lock:
            # Not much larger at once: trials of one cell differ by a factor of a thousand.
            wanted = min(self._seconds / each, 4.0 * self._size[batch.cell], _MOST)
            self._size[batch.cell] = max(1, int(wanted))
            self._each[batch.cell] = each
            if batch.apart and not apart:
                self._may_go_apart[batch.cell] = False


def waiting(cells: Sequence[Cell], wanted: Sequence[Numbers], store: Store) -> list[Numbers]:
    """Return, per cell, the numbers of wanted trials that the store does not have."""
    return [
        np.setdiff1d(numbers, store.done(cell.algorithm, cell.environment))
        for cell, numbers in zip(cells, wanted, strict=True)
    ]
