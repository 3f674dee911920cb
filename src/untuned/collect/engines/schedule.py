"""Which numbers come next: all cells in step, in batches that take about as long as the engine wants."""

import heapq
import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass

from untuned.collect.engines.engine import Numbers

#: Numbers in a batch, at most; and the part of the usual size that is not worth dividing further.
_MOST = 1000
_SHORTEST = 8
#: Seconds, times the number of workers: with shorter trials, threads often wait for the interpreter's lock.
_SHORT = 0.0015
#: Seconds of work per worker that are worth starting a worker process for.
_WORTH = 5.0


@dataclass(frozen=True)
class Batch:
    """Numbers of one cell that are done in one go.

    Parameters
    ----------
    cell
        Its index.
    numbers
        What to do.
    apart
        Whether they go to a worker process although they are compiled.
    """

    cell: int
    numbers: tuple[int, ...]
    apart: bool = False


class Schedule:
    """Hands out batches until none are left, to any number of threads.

    Cells are kept in step: the next batch is of the cell with the least progress. A batch takes about ``seconds``, by
    what the cell's trials took so far; the first is one trial. Towards the end of a cell batches become shorter, so
    that no worker is left with much when the others have nothing.

    Parameters
    ----------
    compiled
        Per cell, whether it runs without the interpreter's lock.
    waiting
        Per cell, the numbers to do, ascending.
    seconds
        How long a batch should take.
    workers
        How many take batches.
    """

    def __init__(self, compiled: Sequence[bool], waiting: Sequence[Numbers], seconds: float, workers: int) -> None:
        self._waiting = waiting
        self._next = [0] * len(compiled)
        self._size = [1] * len(compiled)
        self._may_go_apart = [each and workers > 1 for each in compiled]
        self._each = [math.inf] * len(compiled)
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
            numbers = tuple(self._waiting[cell][first : first + size].tolist())
            self._next[cell] = first + len(numbers)
            left = len(self._waiting[cell]) - self._next[cell]
            if left:
                heapq.heappush(self._heap, (self._next[cell] / len(self._waiting[cell]), cell))
            return Batch(cell, numbers, self._is_short(cell) and self._processes_are_worth_it())

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
        """Note how long a batch took, for the size of the cell's next.

        A cell whose batch could not be done ``apart``, in a worker process, is not tried there again.
        """
        each = max(seconds / len(batch.numbers), 1e-6)
        with self._lock:
            # Not much larger at once: trials of one cell differ by a factor of a thousand.
            wanted = min(self._seconds / each, 4.0 * self._size[batch.cell], _MOST)
            self._size[batch.cell] = max(1, int(wanted))
            self._each[batch.cell] = each
            if batch.apart and not apart:
                self._may_go_apart[batch.cell] = False
