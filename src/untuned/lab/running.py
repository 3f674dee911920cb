"""Many pieces of work at the same time: in processes, each piece recorded when it is done, stopped at any time.

What comes out of a piece depends on the piece alone, so the number of processes changes nothing.
"""

import multiprocessing
import os
import pickle
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any, TypeVar

from untuned.errors import InvalidInput, Stopped, UntunedError
from untuned.lab.journal import Facts, Record

Shared = TypeVar("Shared")
Piece = TypeVar("Piece")

#: Told how many pieces are done, and how many there are.
Progress = Callable[[int, int], None]
Stop = Callable[[], bool]
#: Does a piece with what all pieces share; None when it was stopped.
Work = Callable[[Shared, Piece, Stop], Facts | None]

#: Seconds between two looks whether to stop.
_LOOK = 0.2
#: Seconds in which word of a stop may come after the death of a process that the same signal killed.
_GRACE = 0.5


def run(
    work: Work[Shared, Piece],
    shared: Shared,
    pieces: Sequence[tuple[Facts, Piece]],
    record: Record,
    *,
    workers: int,
    progress: Progress | None = None,
    stop: Stop | None = None,
) -> list[Facts]:
    """Return what came out of all pieces, in their order; those in the record are not done again.

    Parameters
    ----------
    work
        A function of a module: other processes have to find it.
    shared
        What every piece needs, sent to each process once.
    pieces
        With the key of each in the record.
    record
        Of what is finished.
    workers
        How many processes; with one, everything happens here.
    progress
        Told how far it is.
    stop
        Asked a few times a second.

    Raises
    ------
    Stopped
        When ``stop`` said so before everything was done; what is finished is in the record.
    """
    waiting = [(key, piece) for key, piece in pieces if record.get(key) is None]
    done = len(pieces) - len(waiting)

    def finished(key: Facts, facts: Facts) -> None:
        nonlocal done
        record.add(key, facts)
        done += 1
        if progress is not None:
            progress(done, len(pieces))

    if progress is not None:
        progress(done, len(pieces))
    asked = stop or _never
    if workers == 1 or len(waiting) < 2:
        for key, piece in waiting:
            facts = work(shared, piece, asked)
            if facts is None or asked():
                if facts is not None:
                    finished(key, facts)
                break
            finished(key, facts)
    else:
        _in_processes(work, shared, waiting, min(workers, len(waiting)), finished, asked)
    if done < len(pieces):
        where = "" if record.path is None else f"; what is finished is kept in {record.path}"
        raise Stopped(f"stopped after {done:,} of {len(pieces):,} pieces{where}")
    return [facts for key, _ in pieces if (facts := record.get(key)) is not None]


def _never() -> bool:
    return False


def _in_processes(
    work: Work[Shared, Piece],
    shared: Shared,
    waiting: Sequence[tuple[Facts, Piece]],
    workers: int,
    finished: Callable[[Facts, Facts], None],
    stop: Stop,
) -> None:
    context = multiprocessing.get_context("spawn")
    ending = context.Event()
    try:
        parcel = pickle.dumps((work, shared))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InvalidInput(
            f"this cannot be sent to other processes ({error}): define your method in a module of its own, or use one "
            "worker"
        ) from None
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_begin, initargs=(parcel, ending)) as processes:
        todo = iter(waiting)
        under_way: dict[Future[Facts | None], Facts] = {}
        try:
            while True:
                # No more than are needed to keep everybody busy: what has not begun need not be called off.
                while len(under_way) < 2 * workers and not ending.is_set():
                    if (following := next(todo, None)) is None:
                        break
                    with _unheard():
                        future = processes.submit(_do, following[1])
                    under_way[future] = following[0]
                if not under_way:
                    break
                for future in wait(under_way, timeout=_LOOK, return_when=FIRST_COMPLETED).done:
                    key = under_way.pop(future)
                    if (facts := future.result()) is not None:
                        finished(key, facts)
                if stop():
                    ending.set()
        except BrokenProcessPool:
            if _asked_soon(stop):
                # A signal for all of us ended it, which is no failure.
                return
            raise UntunedError(
                "a worker process ended before its work was done: what is finished is kept, and the same call goes on "
                "from there. Was there enough memory? One worker needs no other process. In a script, call this under "
                '`if __name__ == "__main__":`'
            ) from None
        finally:
            ending.set()


@contextmanager
def _unheard() -> Iterator[None]:
    """Start processes that do not hear Ctrl-C before they can be told to leave it to us, who hear it a moment later."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    former = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, former)


def _asked_soon(stop: Stop) -> bool:
    deadline = time.monotonic() + _GRACE
    while not stop():
        if time.monotonic() > deadline:
            return False
        time.sleep(_GRACE / 10)
    return True


# --- in the processes

_AT_WORK: dict[str, Any] = {}


def _begin(parcel: bytes, ending: Any) -> None:
    """Get ready: the first thing a process does."""
    # Ctrl-C reaches every process of a terminal; the first one decides what becomes of it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_the_first, daemon=True).start()
    _AT_WORK["work"], _AT_WORK["shared"] = pickle.loads(parcel)
    _AT_WORK["stop"] = ending.is_set


def _end_with_the_first() -> None:
    """End when the process that began this one does, killed or not."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _do(piece: Any) -> Facts | None:
    result: Facts | None = _AT_WORK["work"](_AT_WORK["shared"], piece, _AT_WORK["stop"])
    return result
