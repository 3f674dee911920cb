"""What an engine is: it does numbered work and yields what is finished. What becomes of results is decided here, once.

An engine is one method, `Engine.run`. It knows nothing of stores, progress or signals: `run_into` brings results to a
sink (a study's store, the lab's journal), several at a time, and ends the engine when ``stop`` returns True.
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

#: Polled now and then; True ends the work.
Stop = Callable[[], bool]

Result_co = TypeVar("Result_co", covariant=True)
Result_contra = TypeVar("Result_contra", contravariant=True)
Result = TypeVar("Result")


class Work(Protocol[Result_co]):
    """Work that is done by number: the trials of a cell, the data sets of an experiment. It can be pickled."""

    @property
    def name(self) -> str:
        """What messages call it."""
        ...

    @property
    def compiled(self) -> bool:
        """Whether it runs without the interpreter's lock, so that threads do; otherwise it gets a worker process."""
        ...

    @property
    def time_limit(self) -> float | None:
        """Seconds after which a number that runs in a worker process has failed; None for no limit."""
        ...

    @property
    def memory(self) -> int | None:
        """Bytes that a worker process may take for a number; None for no limit."""
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
        """Return a result of work with limited memory that says so, if it failed at the limit; None otherwise."""
        ...


class Engine(Protocol):
    """Does work: on this machine, or on a cluster."""

    def run(self, work: Sequence[Work[Result]], todo: Sequence[Numbers], stop: Stop) -> Iterator[Sequence[Result]]:
        """Yield results as they are finished, in any order; nothing, several times a second, while none is.

        Parameters
        ----------
        work
            What there is to do.
        todo
            For each, the numbers to do, ascending.
        stop
            Polled; when it returns True, the engine yields what is finished and ends.

        Raises
        ------
        InvalidInput, MissingExtra
            When some work cannot be done at all.
        """
        ...


class Sink(Protocol[Result_contra]):
    """Keeps results."""

    def add(self, results: Sequence[Result_contra], /) -> object:
        """Keep results, all or none; when it returns, they survive this process."""
        ...


class Flushed(Generic[Result]):
    """Collects results and brings them to a sink, several at a time."""

    #: Seconds after which results go to the disk, and how many go at once whatever the time.
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
        """Bring everything to the sink."""
        # Emptied first: where the sink fails, the same results are not offered again.
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
    """Do work, and keep what is finished whatever happens.

    Parameters
    ----------
    sink
        Where results go.
    engine
        What does the work.
    work, todo
        As for `Engine.run`.
    stop
        Polled a few times a second; when it returns True, what is finished is kept and the rest is left.
    watch
        Called with results once they are kept.
    """
    kept = Flushed(sink, watch)
    with contextlib.ExitStack() as ending:
        ending.callback(kept.flush)
        results = engine.run(work, todo, stop or _never)
        if hasattr(results, "close"):
            # The engine ends its workers here, also after an error of the sink.
            ending.callback(results.close)
        # An engine without workers of its own passes on what interrupts the work.
        with contextlib.suppress(Stopped):
            for finished in results:
                kept.add(finished)


def _never() -> bool:
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


#: Every engine by name: what opens it, given a number of workers and an address.
ENGINES: dict[str, Callable[[int | None, str | None], AbstractContextManager[Engine]]] = {
    "local": _local,
    "ray": _ray,
    "in-process": _in_process,
}


def opened(
    engine: str | Engine, workers: int | None = None, address: str | None = None
) -> AbstractContextManager[Engine]:
    """Return an engine, to be used in a ``with`` statement: by its name, or one that is there already.

    Parameters
    ----------
    engine
        A name of `ENGINES`, or an engine.
    workers
        How many numbers are done at the same time; None for one per processor.
    address
        Of a running cluster; None to start one on this machine.
    """
    given: Any = engine
    if workers is not None and (isinstance(workers, bool) or workers < 1):
        raise InvalidInput(f"workers={workers}: pass a positive number")
    if not isinstance(given, str):
        return contextlib.nullcontext(given)
    if given not in ENGINES:
        raise InvalidInput(f"engine={given!r}: choose {' or '.join(map(repr, ENGINES))}")
    return ENGINES[given](workers, address)
