"""Scheduling: all cells progress evenly, in batches of about the duration that the engine wants."""

import heapq
import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass

from untuned.collect.engines.engine import Numbers

#: The largest number of trials in a batch; and the part of the usual size that is not divided further.
_MOST = 1000
_SHORTEST = 8
#: Seconds, times the number of workers: with shorter trials, threads often wait for the interpreter's lock.
_SHORT = 0.0015
#: Seconds of work per worker that justify starting a worker process.
_WORTH = 5.0


@dataclass(frozen=True)
class Batch:
    """Numbers of one cell that are done together.

    Parameters
    ----------
    cell
        The index of the cell.
    numbers
        The numbers to do.
    apart
        Whether they run in a worker process although they are compiled.
    """

    cell: int
    numbers: tuple[int, ...]
    apart: bool = False


class Schedule:
    """Hands out batches until none are left, to any number of threads.

    Cells progress evenly: the next batch belongs to the cell with the least progress. A batch takes about ``seconds``,
    by the durations of the cell's earlier trials; the first is one trial. Towards the end of a cell batches become
    shorter, so that no worker has much left when the others are done.

    Parameters
    ----------
    compiled
        Per cell, whether it runs without the interpreter's lock.
    waiting
        Per cell, the numbers to do, ascending.
    seconds
        Target duration of a batch.
    workers
        Number of workers.
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
        """Return whether a compiled trial is so short that threads would wait for the interpreter's lock."""
        return self._may_go_apart[cell] and self._each[cell] < _SHORT * self._workers

    def _processes_are_worth_it(self) -> bool:
        """Return whether the remaining short trials justify starting a process for each worker."""
        if not self._processes:
            left = (
                (len(todo) - begun) * each
                for cell, (todo, begun, each) in enumerate(zip(self._waiting, self._next, self._each, strict=True))
                if self._is_short(cell)
            )
            self._processes = sum(left) > _WORTH * self._workers
        return self._processes

    def took(self, batch: Batch, seconds: float, apart: bool = False) -> None:
        """Record the duration of a batch, for the size of the cell's next one.

        A cell whose batch could not run in a worker process (``apart``) is not tried there again.
        """
        each = max(seconds / len(batch.numbers), 1e-6)
        with self._lock:
            # Grow slowly: durations of trials of one cell differ by a factor of a thousand.
            wanted = min(self._seconds / each, 4.0 * self._size[batch.cell], _MOST)
            self._size[batch.cell] = max(1, int(wanted))
            self._each[batch.cell] = each
            if batch.apart and not apart:
                self._may_go_apart[batch.cell] = False
