"""Collecting on a Ray cluster: batches of trials as tasks, results streamed into the same store.

A task that is lost with its worker or its node is run again, elsewhere; a trial is decided by its key, so it comes out
the same.
"""

import atexit
import functools
import pickle
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from untuned.collect.engines.cells import Cell, Recipe, Stop, record
from untuned.collect.engines.local import News, Watch
from untuned.collect.engines.schedule import Batch, Numbers, Schedule
from untuned.collect.engines.worker_process import Child
from untuned.collect.store.store import Store
from untuned.collect.trial import Trial
from untuned.errors import InvalidInput, MissingExtra, UntunedError

if TYPE_CHECKING:
    from types import ModuleType

#: Seconds that a task should take: what Ray adds to each, some milliseconds, is then little.
_BATCH = 2.0
#: Tasks that wait per processor, so that none has to.
_AHEAD = 2
#: Seconds between two looks.
_LOOK = 0.2
#: Seconds to wait for a cluster to answer at all.
_PATIENCE = 10.0


@contextmanager
def connected(address: str | None, workers: int | None) -> "Iterator[ModuleType]":
    """Yield the ``ray`` module, connected to a cluster: to the one at ``address``, or to a local one made for this.

    A connection that exists already is used, and left as it was.

    Parameters
    ----------
    address
        Of a cluster that runs; None to make a local one.
    workers
        Processors of a local cluster; None for all of them.

    Raises
    ------
    MissingExtra
        When Ray is not installed.
    InvalidInput
        When the cluster does not answer.
    """
    try:
        import ray
    except ImportError:
        raise MissingExtra("--engine ray", "ray") from None
    if ray.is_initialized():
        yield ray
        return
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
    if address is None:
        # "local": a cluster that happens to run on this machine is not meant.
        options |= {"address": "local", "num_cpus": workers, "include_dashboard": False}
    else:
        _knock(address)
        options |= {"address": address}
    # Ray has a handler of its own, which would end the program in the middle of everything.
    former = signal.getsignal(signal.SIGTERM)
    try:
        ray.init(**options)
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, former)
    except (Exception, SystemExit) as error:
        # Among others; what Ray raises when nobody answers has changed from version to version.
        raise _unanswered(address or "local", error) from None
    try:
        yield ray
    finally:
        ray.shutdown()


def _knock(address: str) -> None:
    """Look whether anybody listens there: Ray itself tries for minutes, and then ends the program."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if not host or not port.isdigit():
        # "auto", or whatever else Ray has names for.
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), _PATIENCE).close()
    except (OSError, OverflowError) as error:
        raise _unanswered(address, error) from None


def _unanswered(address: str, error: BaseException) -> InvalidInput:
    return InvalidInput(
        f"no Ray cluster answers at {address!r} ({error}): start one with `ray start --head`, or leave the address out "
        "for one on this machine"
    )


def collect(
    cells: Sequence[Cell],
    todo: Sequence[Numbers],
    store: Store,
    recipe: Recipe,
    *,
    ray: Any,
    stop: Stop | None = None,
    watch: Watch | None = None,
) -> None:
    """Run trials on a cluster, and store what comes out.

    Parameters
    ----------
    cells, todo, store, recipe, stop, watch
        As for `untuned.collect.engines.local.collect`.
    ray
        The module, as `connected` yields it.
    """
    schedule = Schedule(cells, todo, _BATCH, _processors(ray))
    # Lost tasks are run again without end; what an algorithm raises is a result, and never gets here.
    task = ray.remote(max_retries=-1)(_task)
    path = tuple(entry for entry in sys.path if entry)
    shared_recipe = _packed(ray, recipe, recipe.metric.name)
    shared = [ray.put(Parcel(path, _packed(ray, cell, cell.algorithm), shared_recipe)) for cell in cells]
    running: dict[Any, Batch] = {}
    exhausted = False
    try:
        # Before anything that waits for the cluster: whoever wants this to stop may have stopped that, too.
        while stop is None or not stop():
            most = _AHEAD * _processors(ray)
            while not exhausted and len(running) < most:
                batch = schedule.take()
                if batch is None:
                    exhausted = True
                else:
                    running[task.remote(shared[batch.cell], batch.trials)] = batch
            if not running:
                return
            if not ray.wait(list(running), num_returns=1, timeout=_LOOK)[0]:
                continue
            fresh: list[Trial] = []
            mistake: UntunedError | None = None
            for reference in ray.wait(list(running), num_returns=len(running), timeout=0)[0]:
                done: Done = ray.get(reference)
                schedule.took(running.pop(reference), done.seconds)
                fresh += done.records
                mistake = mistake or done.mistake
            store.add(fresh)
            if watch is not None:
                watch(News(tuple(fresh)))
            if mistake is not None:
                raise mistake
    finally:
        for reference in running:
            ray.cancel(reference, force=True)


def _processors(ray: Any) -> int:
    """Return how many the cluster has at the moment: nodes come and go."""
    return max(1, int(ray.cluster_resources().get("CPU", 1)))


@dataclass(frozen=True)
class Parcel:
    """What a worker of the cluster needs to run trials of a cell.

    Parameters
    ----------
    path
        Where modules are looked for besides what is installed: the study's folder among others.
    cell, recipe
        Pickled, so that they can be compared, and loaded when the path is known.
    """

    path: tuple[str, ...]
    cell: bytes
    recipe: bytes


def _packed(ray: Any, content: Cell | Recipe, name: str) -> bytes:
    try:
        packed: bytes = ray.cloudpickle.dumps(content)
    except Exception as error:
        raise InvalidInput(f"{name!r} cannot be sent to a cluster: {error}") from None
    return packed


@dataclass(frozen=True)
class Done:
    """What a task brings home.

    Parameters
    ----------
    records
        Of the trials that were run.
    seconds
        How long they took, without what was made ready for them.
    mistake
        Why the rest was not: an algorithm that cannot run there at all.
    """

    records: list[Trial]
    seconds: float
    mistake: UntunedError | None = None


def _task(parcel: Parcel, trials: Sequence[int]) -> Done:
    """Run a batch, in a worker of the cluster."""
    sys.path.extend(entry for entry in parcel.path if entry not in sys.path)
    records: list[Trial] = []
    begin = time.monotonic()
    try:
        cell, recipe = _cell(parcel.cell), _recipe(parcel.recipe)
        # In a process of its own even here: it may hang or crash, and the worker would be taken for lost.
        child = None if cell.compiled else _child(parcel.recipe)
        if child is not None:
            child.prepare(cell, None)
        begin = time.monotonic()
        for trial in trials:
            records += [record(cell, trial, recipe, None) if child is None else child.record(cell, trial, None)]
    except (InvalidInput, MissingExtra) as error:
        return Done(records, time.monotonic() - begin, error)
    return Done(records, time.monotonic() - begin)


# A worker of the cluster does one task after the other, and keeps what the next one needs as well.


@functools.lru_cache(maxsize=1)
def _cell(packed: bytes) -> Cell:
    cell: Cell = _unpacked(packed)
    return cell


@functools.lru_cache(maxsize=1)
def _recipe(packed: bytes) -> Recipe:
    recipe: Recipe = _unpacked(packed)
    return recipe


def _unpacked(packed: bytes) -> Any:
    try:
        return pickle.loads(packed)
    except ImportError as error:
        raise InvalidInput(
            f"a worker of the cluster cannot import what the study needs ({error}): install it there, or put it where "
            "workers find it"
        ) from None


@functools.lru_cache(maxsize=1)
def _child(recipe: bytes) -> Child:
    child = Child(_recipe(recipe))
    # Before Python waits for it to end by itself.
    atexit.register(child.close)
    return child
