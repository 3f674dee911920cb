"""The engine protocol: an engine does numbered work and yields results, which are stored here.

An engine is one method, `Engine.run`. It knows nothing about stores, progress or signals: `run_into` passes results to
a sink (a study's store, the lab's journal) in batches, and ends the engine when ``stop`` returns True.
"""

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from untuned.errors import InvalidInput, Stopped

Numbers = NDArray[np.int64]

#: Polled regularly; True ends the work.
Stop = Callable[[], bool]

Result_co = TypeVar("Result_co", covariant=True)
Result_contra = TypeVar("Result_contra", contravariant=True)
Result = TypeVar("Result")


class Work(Protocol[Result_co]):
    """Numbered work: the trials of a cell, the data sets of an experiment. It can be pickled."""

    @property
    def name(self) -> str:
        """Its name in messages."""
        ...

    @property
    def compiled(self) -> bool:
        """Whether it runs without the interpreter's lock, so that threads suffice; else it gets a worker process."""
        ...

    @property
    def time_limit(self) -> float | None:
        """Seconds after which a number in a worker process fails; None for no limit."""
        ...

    @property
    def memory(self) -> int | None:
        """Memory limit in bytes of a worker process for a number; None for no limit."""
        ...

    @property
    def isolate(self) -> bool:
        """Whether every number gets a new worker process."""
        ...

    def do(self, number: int, stop: Stop | None) -> Result_co:
        """Return the result of a number; raises Stopped when ``stop`` returns True."""
        ...

    def failed(self, number: int, message: str, seconds: float) -> Result_co:
        """Return the result of a number whose worker process hung or repeatedly died."""
        ...

    def out_of_memory(self, result: Any) -> Result_co | None:
        """Return a result that mentions the memory limit, if the work failed at it; None otherwise."""
        ...


class Engine(Protocol):
    """Does work, on this machine or on a cluster."""

    def run(self, work: Sequence[Work[Result]], todo: Sequence[Numbers], stop: Stop) -> Iterator[Sequence[Result]]:
        """Yield results as they finish, in any order; an empty batch, several times per second, while there are none.

        Parameters
        ----------
        work
            The work to do.
        todo
            For each, the numbers to do, ascending.
        stop
            Polled; when it returns True, the engine yields finished results and ends.

        Raises
        ------
        InvalidInput, MissingExtra
            When some work cannot be done at all.
        """
        ...


class Sink(Protocol[Result_contra]):
    """Keeps results."""

    def add(self, results: Sequence[Result_contra], /) -> object:
        """Store results, all or none; when it returns, they survive this process."""
        ...


class Flushed(Generic[Result]):
    """Collects results and passes them to a sink in batches."""

    #: Seconds after which results are written to disk, and the number that is written at once earlier.
    SECONDS = 0.3
    MANY = 5000

    def __init__(self, sink: Sink[Result], watch: Callable[[Sequence[Result]], None] | None) -> None:
        self._sink = sink
        self._watch = watch
        self._fresh: list[Result] = []
        self._due = time.monotonic() + self.SECONDS

    def add(self, results: Sequence[Result]) -> None:
        """Take results, and flush when it is time."""
        self._fresh += results
        if len(self._fresh) >= self.MANY or time.monotonic() >= self._due:
            self.flush()

    def flush(self) -> None:
        """Pass everything to the sink."""
        # Emptied first: if the sink fails, the same results are not offered again.
        fresh, self._fresh = self._fresh, []
        if fresh:
            self._sink.add(fresh)
            if self._watch is not None:
                self._watch(fresh)
        self._due = time.monotonic() + self.SECONDS


def run_into(
    sink: Sink[Result],
    engine: Engine,
    work: Sequence[Work[Result]],
    todo: Sequence[Numbers],
    *,
    stop: Stop | None = None,
    watch: Callable[[Sequence[Result]], None] | None = None,
) -> None:
    """Do work, and store finished results even after an error.

    Parameters
    ----------
    sink
        The destination of results.
    engine
        The engine.
    work, todo
        As for `Engine.run`.
    stop
        Polled several times per second; when it returns True, finished results are stored and the rest is skipped.
    watch
        Called with results after they are stored.
    """
    kept = Flushed(sink, watch)
    with contextlib.ExitStack() as ending:
        ending.callback(kept.flush)
        results = engine.run(work, todo, stop or never)
        if hasattr(results, "close"):
            # The engine ends its workers here, also after an error of the sink.
            ending.callback(results.close)
        # An engine without workers passes interrupts on.
        with contextlib.suppress(Stopped):
            for finished in results:
                kept.add(finished)


def never() -> bool:
    """Return False: what runs is not stopped."""
    return False


def _local(workers: int | None, address: str | None) -> AbstractContextManager[Engine]:
    from untuned.collect.engines.local import LocalEngine

    if address is not None:
        raise InvalidInput(f"ray_address={address!r} goes with engine='ray': 'local' was chosen")
    return contextlib.nullcontext(LocalEngine(workers))


def _ray(workers: int | None, address: str | None) -> AbstractContextManager[Engine]:
    from untuned.collect.engines.ray import connected

    return connected(address, workers)


def _in_process(workers: int | None, address: str | None) -> AbstractContextManager[Engine]:
    from untuned.collect.engines.in_process import InProcessEngine

    if workers not in (None, 1) or address is not None:
        raise InvalidInput("the in-process engine has no workers and no address: leave them out")
    return contextlib.nullcontext(InProcessEngine())


#: Every engine by name: the function that opens it, from a number of workers and an address.
ENGINES: dict[str, Callable[[int | None, str | None], AbstractContextManager[Engine]]] = {
    "local": _local,
    "ray": _ray,
    "in-process": _in_process,
}


def opened(
    engine: str | Engine, workers: int | None = None, address: str | None = None
) -> AbstractContextManager[Engine]:
    """Return a context manager of an engine, by name or an existing one.

    Parameters
    ----------
    engine
        A name of `ENGINES`, or an engine.
    workers
        Number of workers; None for one per processor.
    address
        Address of a running cluster; None to start one on this machine.
    """
    given: Any = engine
    if workers is not None and (isinstance(workers, bool) or workers < 1):
        raise InvalidInput(f"workers={workers}: pass a positive number")
    if not isinstance(given, str):
        return contextlib.nullcontext(given)
    if given not in ENGINES:
        raise InvalidInput(f"engine={given!r}: choose {' or '.join(map(repr, ENGINES))}")
    return ENGINES[given](workers, address)
