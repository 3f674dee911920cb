"""Collecting on this machine: threads for compiled pairs, and for each thread a process for other trials.

In processes run algorithms written in Python, and compiled pairs whose trials are so short that threads would mostly
wait for the interpreter's lock. Results go to the store in the thread that called, many at a time; what was stored
survives everything.
"""

import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from untuned.collect.engines.cells import Cell, Recipe, Stop, record
from untuned.collect.engines.schedule import Batch, Numbers, Schedule
from untuned.collect.engines.worker_process import Child
from untuned.collect.store.store import Store
from untuned.collect.trial import Trial
from untuned.errors import InvalidInput, Stopped

#: Seconds that a batch should take, and after which results go to the disk.
_BATCH = 0.25
_FLUSH = 0.3
#: Results that go to the disk at once, whatever the time.
_MANY = 5000
#: Seconds for which a worker keeps results to itself: each delivery wakes the thread that stores and holds up others.
_DELIVERY = 0.05

#: What workers deliver: results, what went wrong, and None at the end.
Delivery = list[Trial] | BaseException | None


@dataclass(frozen=True)
class News:
    """What was just stored.

    Parameters
    ----------
    stored
        The trials, each of them safe on the disk.
    """

    stored: Sequence[Trial]


Watch = Callable[[News], None]


def collect(
    cells: Sequence[Cell],
    todo: Sequence[Numbers],
    store: Store,
    recipe: Recipe,
    *,
    workers: int,
    stop: Stop | None = None,
    watch: Watch | None = None,
) -> None:
    """Run trials, and store what comes out.

    Parameters
    ----------
    cells
        Of the study.
    todo
        Per cell, the numbers of the trials to run.
    store
        Where results go; open for writing.
    recipe
        What becomes of results.
    workers
        How many trials run at the same time. No number depends on it.
    stop
        Asked a few times a second; when it says True, everything that is finished is stored, and the rest left.
    watch
        Told of everything that was stored.
    """
    schedule = Schedule(cells, todo, _BATCH, workers)
    results: queue.SimpleQueue[Delivery] = queue.SimpleQueue()
    ending = threading.Event()

    def stopped() -> bool:
        return ending.is_set()

    crew = [
        threading.Thread(
            target=_work, args=(cells, recipe, schedule, results, stopped), daemon=True, name=f"trials-{n}"
        )
        for n in range(max(1, min(workers, sum(numbers.size for numbers in todo))))
    ]
    for thread in crew:
        thread.start()
    try:
        _store(results, len(crew), store, watch, stop, ending)
    finally:
        ending.set()
        for thread in crew:
            thread.join()


def _store(
    results: "queue.SimpleQueue[Delivery]",
    crew: int,
    store: Store,
    watch: Watch | None,
    stop: Stop | None,
    ending: threading.Event,
) -> None:
    """Bring results to the disk until every worker has ended."""
    fresh: list[Trial] = []
    trouble: BaseException | None = None
    due = time.monotonic() + _FLUSH
    while crew:
        if stop is not None and not ending.is_set() and stop():
            ending.set()
        try:
            found = results.get(timeout=0.05)
        except queue.Empty:
            found = []
        if found is None:
            crew -= 1
        elif isinstance(found, BaseException):
            trouble = trouble or found
            ending.set()
        else:
            fresh += found
        if fresh and (len(fresh) >= _MANY or time.monotonic() >= due):
            _flush(fresh, store, watch)
            due = time.monotonic() + _FLUSH
    if fresh:
        _flush(fresh, store, watch)
    if trouble is not None:
        raise trouble


def _flush(fresh: list[Trial], store: Store, watch: Watch | None) -> None:
    store.add(fresh)
    if watch is not None:
        watch(News(tuple(fresh)))
    fresh.clear()


def _work(
    cells: Sequence[Cell],
    recipe: Recipe,
    schedule: Schedule,
    results: "queue.SimpleQueue[Delivery]",
    stop: Stop,
) -> None:
    """Do batches until none is left; the whole life of a thread."""
    child, bare = Child(recipe), Child(recipe, bare=True)
    try:
        while not stop() and (batch := schedule.take()) is not None:
            cell = cells[batch.cell]
            apart = batch.apart and _is_ready(bare, cell, stop)
            begin = time.monotonic()
            if apart:
                results.put(bare.record_all(cell, batch.trials, stop))
            else:
                _do(cell, batch, recipe, child, results, stop)
            schedule.took(batch, time.monotonic() - begin, apart)
    except Stopped:
        pass
    except BaseException as error:
        results.put(error)
    finally:
        child.close()
        bare.close()
        results.put(None)


def _is_ready(bare: Child, cell: Cell, stop: Stop) -> bool:
    """Return whether the process knows the cell; not if that is made of what the running script defines."""
    try:
        bare.prepare(cell, stop)
    except InvalidInput:
        return False
    return True


def _do(
    cell: Cell,
    batch: Batch,
    recipe: Recipe,
    child: Child,
    results: "queue.SimpleQueue[Delivery]",
    stop: Stop,
) -> None:
    done: list[Trial] = []
    due = time.monotonic() + _DELIVERY
    try:
        for trial in batch.trials:
            if stop():
                return
            if cell.compiled:
                done.append(record(cell, trial, recipe, stop))
            else:
                done.append(child.record(cell, trial, stop))
            if time.monotonic() >= due:
                results.put(done)
                done, due = [], time.monotonic() + _DELIVERY
    finally:
        results.put(done)
