"""The engine for a Ray cluster: batches are tasks, and results are returned as they finish.

A task that is lost with its worker or its node is retried elsewhere; a trial is determined by its key, so its result
is the same.
"""

import atexit
import functools
import pickle
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from untuned.collect.engines.engine import Numbers, Stop, Work
from untuned.collect.engines.schedule import Batch, Schedule
from untuned.collect.engines.worker_process import WorkerProcess, portable
from untuned.errors import InvalidInput, MissingExtra, UntunedError

Result = TypeVar("Result")

#: Target duration of a task in seconds: Ray's overhead per task, some milliseconds, is then small.
_BATCH = 2.0
#: Tasks in flight per processor, so that none is idle.
_AHEAD = 2
#: Seconds between two polls of ``stop``.
_POLL = 0.2
#: Seconds to wait for any answer of a cluster, and for the program that queries it like Ray.
_PATIENCE = 10.0
_LONGEST_PROBE = 30.0
#: Seconds after which a head node that refuses connections is given up. After 60 Ray ends the program.
_HEAD_LOST = 20.0


@contextmanager
def connected(address: str | None, workers: int | None) -> "Iterator[RayEngine]":
    """Yield the engine of a cluster: the one at ``address``, or a new local one.

    An existing connection is used, and not closed.

    Parameters
    ----------
    address
        Address of a cluster that runs; None to make a local one.
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
        raise MissingExtra("the Ray engine", "ray") from None
    if ray.is_initialized():
        yield RayEngine(ray)
        return
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
    if address is None:
        # "local": do not connect to a cluster that happens to run on this machine.
        options |= {"address": "local", "num_cpus": workers, "include_dashboard": False}
    else:
        _knock(address)
        options |= {"address": address}
    if "://" not in (address or ""):
        options["job_config"] = _without_this_folder(ray)
    # Ray's own handler would end the program at once.
    former = signal.getsignal(signal.SIGTERM)
    try:
        ray.init(**options)
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, former)
    except (Exception, SystemExit) as error:
        # The error that Ray raises when no cluster answers differs between versions.
        raise _unanswered(address or "local", error) from None
    try:
        yield RayEngine(ray)
    finally:
        ray.shutdown()


def _knock(address: str) -> None:
    """Refuse an address where nothing listens: Ray tries for minutes, and then ends the program."""
    place = _place(address)
    if place is not None:
        try:
            socket.create_connection(place, _PATIENCE).close()
        except (OSError, OverflowError) as error:
            raise _unanswered(address, error) from None
    if "://" in address:
        return
    # In a separate process that can be killed: the listener may be anything, and Ray waits without being interruptible.
    probe = [sys.executable, "-P", "-c", _PROBE, address]
    try:
        found = subprocess.run(probe, capture_output=True, text=True, timeout=_LONGEST_PROBE, check=False)
    except subprocess.TimeoutExpired:
        raise _unanswered(address, "what listens there does not answer as Ray does") from None
    if _NO_TOKEN.search(found.stderr):
        raise _unanswered(address, found.stderr)
    if "Timed out while waiting for GCS" in found.stderr:
        raise _unanswered(address, "what listens there does not answer as Ray does")
    # Ray reports all other problems.


def _place(address: str) -> tuple[str, int] | None:
    """Return host and port of an address; None for "auto" and Ray's other special names."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    return (host.strip("[]"), int(port)) if host and port.isdigit() else None


#: Connects like Ray, with a token wherever Ray would use one automatically.
_PROBE = """
import sys
from ray._private import services
from ray._raylet import GcsClient
if sys.argv[1] == "auto":
    try:
        from ray._private.authentication import authentication_token_setup as tokens
        tokens.maybe_enable_token_auth_if_token_available(warn_if_disabled=False)
    except ImportError:
        pass
GcsClient(address=services.canonicalize_bootstrap_address_or_die(sys.argv[1]))
"""


class _Nothing(list[str]):
    """A list that stays empty."""

    def append(self, value: str) -> None:
        """Leave it out."""

    def extend(self, values: Iterable[str]) -> None:
        """Ignore new items."""


def _without_this_folder(ray: Any) -> Any:
    """Return the configuration of a job whose workers do not search our current folder first for modules.

    Ray would put it and the script's folder first on the path, and a file there would replace a standard module.
    `Parcel` has the paths that workers need.
    """
    config = ray.job_config.JobConfig()
    config._py_driver_sys_path = _Nothing()
    return config


#: Ray's messages about a missing or wrong token, in several versions.
_NO_TOKEN = re.compile(r"AuthenticationError|InvalidAuthToken|[Tt]oken authentication is enabled")


def _unanswered(address: str, error: BaseException | str) -> InvalidInput:
    if _NO_TOKEN.search(f"{type(error).__name__}: {error}"):
        return InvalidInput(
            f"the Ray cluster at {address!r} requires a token, and this program has none or another one: set "
            "RAY_AUTH_MODE=token, and RAY_AUTH_TOKEN to the token of the head node, or RAY_AUTH_TOKEN_PATH to a file "
            "with it, as on every machine of the cluster; `ray get-auth-token` prints it on the head node"
        )
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
        # Lost tasks are retried without limit; an algorithm's exception is a result, and never gets here.
        task = ray.remote(max_retries=-1)(_task)
        path = tuple(entry for entry in sys.path if entry)
        shared = [ray.put(Parcel(path, _packed(ray, each))) for each in work]
        running: dict[Any, Batch] = {}
        head = _Head(ray.get_runtime_context().gcs_address)
        exhausted = False
        try:
            # Polled before anything that waits for the cluster: the signal that stops us may have stopped it, too.
            while not stop():
                # Before any query: Ray would wait, and then end the program.
                there = head.answers()
                if not there and head.is_lost():
                    running.clear()
                    raise UntunedError(
                        f"the head node of the Ray cluster ({head.address}) has not answered for {_HEAD_LOST:g} "
                        "seconds: what is finished is kept. Start the cluster again and rerun the command to resume; "
                        "or leave --engine ray (engine='ray') out to continue on this machine"
                    )
                most = _AHEAD * self._processors() if there else 0
                while not exhausted and len(running) < most:
                    batch = schedule.take()
                    if batch is None:
                        exhausted = True
                    else:
                        running[task.remote(shared[batch.cell], batch.numbers)] = batch
                if not running:
                    if exhausted:
                        return
                    time.sleep(_POLL)
                    continue
                finished: list[Result] = []
                mistake: Exception | None = None
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
        """Return how many the cluster has at the moment: nodes may join and leave."""
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))


class _Head:
    """Whether the head node is reachable.

    Parameters
    ----------
    address
        Address of its control service.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self._place = _place(address)
        self._answered = time.monotonic()
        if not self.answers():
            # Behind "ray://" the address is that inside the cluster, which may not be reachable from here.
            self._place = None

    def answers(self) -> bool:
        """Return whether it accepts a connection now, as far as that can be seen from here."""
        if self._place is not None:
            try:
                socket.create_connection(self._place, 1.0).close()
            except OSError:
                return False
        self._answered = time.monotonic()
        return True

    def is_lost(self) -> bool:
        """Return whether it has not answered for a long time."""
        return time.monotonic() - self._answered > _HEAD_LOST


@dataclass(frozen=True)
class Parcel:
    """The data that a worker of the cluster needs.

    Parameters
    ----------
    path
        Additional folders to search for modules, among them the study's.
    work
        Pickled, so that it can be compared, and loaded once the path is set.
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
    """The return value of a task.

    Parameters
    ----------
    results
        The results of the finished numbers.
    seconds
        Their duration, without the preparation.
    mistake
        Why the rest was not done: the work cannot be done at all.
    """

    results: list[Any]
    seconds: float
    mistake: Exception | None = None


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
        # In a worker process even here: the work may hang or crash, and Ray would regard its worker as lost.
        do = work.do if work.compiled else functools.partial(_process().do, work)
        results.extend(do(number, None) for number in numbers)
    except UntunedError as error:
        return Done(results, time.monotonic() - begin, portable(error))
    return Done(results, time.monotonic() - begin)


# A worker of the cluster does one task after the other, and keeps the data for the next one.


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
    # Before Python waits for it to end.
    atexit.register(process.close)
    return process
