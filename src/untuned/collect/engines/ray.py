"""The engine of a Ray cluster: batches are tasks, results come back as they are finished.

A task that is lost with its worker or its node is retried elsewhere; a trial is decided by its key, so its result is
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
from typing import Any, TypeVar

from untuned.collect.engines.engine import Numbers, Stop, Work
from untuned.collect.engines.schedule import Batch, Schedule
from untuned.collect.engines.worker_process import WorkerProcess
from untuned.errors import InvalidInput, MissingExtra, UntunedError

Result = TypeVar("Result")

#: Seconds that a task should take: what Ray adds to each, some milliseconds, is then little.
_BATCH = 2.0
#: Tasks in flight per processor, so that none is idle.
_AHEAD = 2
#: Seconds between two polls of ``stop``.
_POLL = 0.2
#: Seconds to wait for a cluster to answer at all.
_PATIENCE = 10.0


@contextmanager
def connected(address: str | None, workers: int | None) -> "Iterator[RayEngine]":
    """Yield the engine of a cluster: of the one at ``address``, or of a local one made for this.

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
        yield RayEngine(ray)
        return
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
    if address is None:
        # "local": a cluster that happens to run on this machine is not meant.
        options |= {"address": "local", "num_cpus": workers, "include_dashboard": False}
    else:
        _knock(address)
        options |= {"address": address}
    # Ray's own handler would end the program at once.
    former = signal.getsignal(signal.SIGTERM)
    try:
        ray.init(**options)
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, former)
    except (Exception, SystemExit) as error:
        # What Ray raises when no cluster answers changes from version to version.
        raise _unanswered(address or "local", error) from None
    try:
        yield RayEngine(ray)
    finally:
        ray.shutdown()


def _knock(address: str) -> None:
    """Refuse an address where nothing listens: Ray itself tries for minutes, and then ends the program."""
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


class RayEngine:
    """Does work on a Ray cluster.

    Parameters
    ----------
    ray
        The module ``ray``, connected.
    """

    def __init__(self, ray: Any) -> None:
        self._ray = ray

    @property
    def workers(self) -> int:
        """How many trials run at the same time."""
        return self._processors()

    def run(self, work: Sequence[Work[Result]], todo: Sequence[Numbers], stop: Stop) -> Iterator[Sequence[Result]]:
        """Yield results as they are finished; `untuned.collect.engines.engine.Engine.run` says how."""
        ray = self._ray
        schedule = Schedule([each.compiled for each in work], todo, _BATCH, self._processors())
        # Lost tasks are retried without end; what an algorithm raises is a result, and never gets here.
        task = ray.remote(max_retries=-1)(_task)
        path = tuple(entry for entry in sys.path if entry)
        shared = [ray.put(Parcel(path, _packed(ray, each))) for each in work]
        running: dict[Any, Batch] = {}
        exhausted = False
        try:
            # Polled before anything that waits for the cluster: the signal that stops us may have stopped that, too.
            while not stop():
                most = _AHEAD * self._processors()
                while not exhausted and len(running) < most:
                    batch = schedule.take()
                    if batch is None:
                        exhausted = True
                    else:
                        running[task.remote(shared[batch.cell], batch.numbers)] = batch
                if not running:
                    return
                finished: list[Result] = []
                mistake: UntunedError | None = None
                ready = ray.wait(list(running), num_returns=1, timeout=_POLL)[0]
                if ready:
                    ready = ray.wait(list(running), num_returns=len(running), timeout=0)[0]
                for reference in ready:
                    done: Done = ray.get(reference)
                    schedule.took(running.pop(reference), done.seconds)
                    finished += done.results
                    mistake = mistake or done.mistake
                yield finished
                if mistake is not None:
                    raise mistake
        finally:
            for reference in running:
                ray.cancel(reference, force=True)

    def _processors(self) -> int:
        """Return how many the cluster has at the moment: nodes come and go."""
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))


@dataclass(frozen=True)
class Parcel:
    """What a worker of the cluster needs.

    Parameters
    ----------
    path
        Where modules are looked for besides what is installed: the study's folder among others.
    work
        Pickled, so that it can be compared, and loaded when the path is known.
    """

    path: tuple[str, ...]
    work: bytes


def _packed(ray: Any, work: Work[Any]) -> bytes:
    try:
        packed: bytes = ray.cloudpickle.dumps(work)
    except Exception as error:
        raise InvalidInput(f"{work.name} cannot be sent to a cluster: {error}") from None
    return packed


@dataclass(frozen=True)
class Done:
    """What a task returns.

    Parameters
    ----------
    results
        Of the numbers that were done.
    seconds
        How long they took, without the preparation.
    mistake
        Why the rest was not done: work that cannot be done at all.
    """

    results: list[Any]
    seconds: float
    mistake: UntunedError | None = None


def _task(parcel: Parcel, numbers: Sequence[int]) -> Done:
    """Do a batch, in a worker of the cluster."""
    sys.path.extend(entry for entry in parcel.path if entry not in sys.path)
    results: list[Any] = []
    begin = time.monotonic()
    try:
        work = _unpacked(parcel.work)
        if not work.compiled:
            _process().prepare(work, None)
        begin = time.monotonic()
        # In a worker process even here: the work may hang or crash, and Ray would take its own worker for lost.
        do = work.do if work.compiled else functools.partial(_process().do, work)
        results.extend(do(number, None) for number in numbers)
    except (InvalidInput, MissingExtra) as error:
        return Done(results, time.monotonic() - begin, error)
    return Done(results, time.monotonic() - begin)


# A worker of the cluster does one task after the other, and keeps what the next one needs as well.


@functools.cache
def _unpacked(packed: bytes) -> Work[Any]:
    try:
        work: Work[Any] = pickle.loads(packed)
    except ImportError as error:
        raise InvalidInput(
            f"a worker of the cluster cannot import what the study needs ({error}): install it there, or put it where "
            "workers find it"
        ) from None
    return work


@functools.cache
def _process() -> WorkerProcess:
    process = WorkerProcess()
    # Before Python waits for it to end by itself.
    atexit.register(process.close)
    return process
