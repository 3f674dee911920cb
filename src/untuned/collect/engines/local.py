"""The engine for this machine: threads for compiled work, and a worker process per thread for the rest.

Worker processes run algorithms written in Python, and compiled pairs whose trials are so short that threads would
mostly wait for the interpreter's lock.
"""

import queue
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from untuned.collect.engines.engine import Numbers, Stop, Work
from untuned.collect.engines.schedule import Batch, Schedule
from untuned.collect.engines.worker_process import WorkerProcess
from untuned.errors import InvalidInput, Stopped
from untuned.processors import processors

Result = TypeVar("Result")

#: Target duration of a batch in seconds.
_BATCH = 0.25
#: Seconds for which a thread holds results back: each delivery wakes the caller and delays other threads.
_DELIVERY = 0.05
#: Seconds between two polls of ``stop``.
_POLL = 0.05

#: Threads deliver results, an error, and None at their end.
_Queue = queue.SimpleQueue[list[Any] | BaseException | None]


class LocalEngine:
    """Does work on this machine.

    Parameters
    ----------
    workers
        Number of workers; None for one per processor. Results do not depend on it.
    """

    def __init__(self, workers: int | None = None) -> None:
        self.workers = processors() if workers is None else workers

    def run(self, work: Sequence[Work[Result]], todo: Sequence[Numbers], stop: Stop) -> Iterator[Sequence[Result]]:
        """Yield results as they are finished; `untuned.collect.engines.engine.Engine.run` says how."""
        schedule = Schedule([each.compiled for each in work], todo, _BATCH, self.workers)
        results: _Queue = queue.SimpleQueue()
        ending = threading.Event()
        threads = [
            threading.Thread(target=_work, args=(work, schedule, results, ending.is_set), daemon=True, name=f"work-{n}")
            for n in range(max(1, min(self.workers, sum(numbers.size for numbers in todo))))
        ]
        for thread in threads:
            thread.start()
        trouble: BaseException | None = None
        alive = len(threads)
        try:
            while alive:
                if not ending.is_set() and stop():
                    ending.set()
                try:
                    found = results.get(timeout=_POLL)
                except queue.Empty:
                    found = []
                if found is None:
                    alive -= 1
                elif isinstance(found, BaseException):
                    trouble = trouble or found
                    ending.set()
                else:
                    yield found
        finally:
            ending.set()
            for thread in threads:
                thread.join()
        if trouble is not None:
            raise trouble


def _work(work: Sequence[Work[Any]], schedule: Schedule, results: _Queue, stop: Stop) -> None:
    """Do batches until none is left; the main function of a thread."""
    process, bare = WorkerProcess(), WorkerProcess(bare=True)
    try:
        while not stop() and (batch := schedule.take()) is not None:
            cell = work[batch.cell]
            apart = batch.apart and _is_ready(bare, cell, stop)
            begin = time.monotonic()
            if apart:
                results.put(bare.do_all(cell, batch.numbers, stop))
            else:
                _do(cell, batch, process, results, stop)
            schedule.took(batch, time.monotonic() - begin, apart)
    except Stopped:
        pass
    except BaseException as error:
        results.put(error)
    finally:
        process.close()
        bare.close()
        results.put(None)


def _is_ready(bare: WorkerProcess, work: Work[Any], stop: Stop) -> bool:
    """Return whether the process can load the work; it cannot if the work needs definitions of the running script."""
    try:
        bare.prepare(work, stop)
    except InvalidInput:
        return False
    return True


def _do(work: Work[Any], batch: Batch, process: WorkerProcess, results: _Queue, stop: Stop) -> None:
    done: list[Any] = []
    due = time.monotonic() + _DELIVERY
    try:
        for number in batch.numbers:
            if stop():
                return
            done.append(work.do(number, stop) if work.compiled else process.do(work, number, stop))
            if time.monotonic() >= due:
                results.put(done)
                done, due = [], time.monotonic() + _DELIVERY
    finally:
        results.put(done)
