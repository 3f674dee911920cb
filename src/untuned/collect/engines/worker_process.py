"""A worker process: it can be killed when it hangs, and it may die without ending the program."""

import contextlib
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

from untuned.collect.engines.engine import Stop, Work
from untuned.errors import InvalidInput, MissingExtra, Stopped, UntunedError

Result = TypeVar("Result")

#: How the failure of a number that exceeded its time limit begins.
TOOK_LONGER = "took longer than its time limit"

#: Seconds between two polls: of the pipe and of ``stop`` by the parent, of the parent by the worker.
_POLL = 0.1
_PARENT_POLL = 1.0
#: Seconds to wait for ``stop`` to return True after the death of a worker that the same signal may have killed.
_GRACE = 0.5


class WorkerProcess:
    """Does work in a process of its own, which is started at the first number and again after a death.

    Parameters
    ----------
    bare
        Start it without importing the running script: it cannot find what is defined there, and the script needs no
        ``if __name__ == "__main__":``.
    """

    def __init__(self, *, bare: bool = False) -> None:
        self._bare = bare
        self._process: BaseProcess | _BareProcess | None = None
        self._pipe: Connection | None = None
        # What the process knows, by the number it is known under; kept alive so that no other object gets its id.
        self._known: dict[int, tuple[int, object]] = {}

    def do(self, work: Work[Result], number: int, stop: Stop | None) -> Result:
        """Return the result of a number; one that hangs or kills its process has failed.

        Raises
        ------
        Stopped
            When ``stop`` returned True; the process is killed then.
        InvalidInput, MissingExtra
            When the work cannot be sent to a process, or raises one of these itself.
        """
        key = self.prepare(work, stop)
        begin = time.monotonic()
        try:
            answer = self._answer((key, [number]), stop, work.time_limit)
        except TimeoutError:
            self.close()
            return work.failed(number, f"{TOOK_LONGER} of {work.time_limit:g} seconds", time.monotonic() - begin)
        except (EOFError, ConnectionError):
            code = self._reap(stop)
            return work.failed(number, f"its process died ({_cause(code)})", time.monotonic() - begin)
        if work.isolate:
            self.close()
        result: Result = _results(answer)[0]
        return result

    def do_all(self, work: Work[Result], numbers: Sequence[int], stop: Stop | None) -> list[Result]:
        """Return the results of several numbers of compiled work, which neither hangs nor kills its process.

        Raises
        ------
        Stopped
            When ``stop`` returned True; the process is killed then.
        InvalidInput, MissingExtra
            When the work cannot be sent to a process, or raises one of these itself.
        UntunedError
            When the process died all the same.
        """
        try:
            answer = self._answer((self.prepare(work, stop), list(numbers)), stop, None)
        except (EOFError, ConnectionError):
            code = self._reap(stop)
            raise UntunedError(
                f"the worker process for {work.name} died ({_cause(code)}): what is finished is kept. Was there enough "
                "memory? --workers 1 needs no worker process"
            ) from None
        return _results(answer)

    def prepare(self, work: Work[Any], stop: Stop | None) -> int:
        """Return the number under which the process knows the work. Starting it does not count as the work's time."""
        if self._process is not None and not self._process.is_alive():
            self._reap(stop)
        if self._process is None:
            with _one_thread_each(), _interrupts_blocked():
                self._process, self._pipe = _started_bare() if self._bare else _spawned()
        if id(work) not in self._known:
            key = len(self._known)
            try:
                complaint = self._answer((key, _packed(work)), stop, None)
            except (EOFError, ConnectionError):
                code = self._reap(stop)
                raise InvalidInput(
                    f"the worker process for {work.name} ended before it began ({_cause(code)}): does importing its "
                    'module end the program? In a script, run the study under `if __name__ == "__main__":`'
                ) from None
            if complaint is not None:
                self.close()
                raise InvalidInput(str(complaint))
            self._known[id(work)] = key, work
        return self._known[id(work)][0]

    def _answer(self, question: object, stop: Stop | None, limit: float | None) -> object:
        """Return what the process answers; raises TimeoutError after ``limit`` seconds."""
        pipe = self._pipe
        assert pipe is not None
        begin = time.monotonic()
        pipe.send(question)
        while not pipe.poll(_POLL):
            if stop is not None and stop():
                self.close()
                raise Stopped
            if limit is not None and time.monotonic() - begin > limit:
                raise TimeoutError
        answer: object = pipe.recv()
        return answer

    def close(self) -> None:
        """Kill the process, whatever it is doing, and all that it has started."""
        if self._process is not None:
            self._process.kill()
        self._reap(None)

    def _reap(self, stop: Stop | None) -> int | None:
        """Forget the process, and return its exit code.

        Raises
        ------
        Stopped
            When ``stop`` returns True within a moment: the signal that stops us reached the process first, and its
            trial has not failed.
        """
        if self._process is None:
            return None
        self._process.join(5.0)
        code = self._process.exitcode
        if hasattr(os, "killpg") and self._process.pid is not None:
            # It leads a process group of its own (`_serve`), which may outlive it.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        if self._pipe is not None:
            self._pipe.close()
        self._process = self._pipe = None
        self._known.clear()
        if stop is not None and asked_soon(stop):
            raise Stopped
        return code


def asked_soon(stop: Stop) -> bool:
    """Return whether ``stop`` returns True within the time that a signal for a whole process group takes."""
    deadline = time.monotonic() + _GRACE
    while not stop():
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL)
    return True


def _spawned() -> tuple[BaseProcess, Connection]:
    # Not by fork: a copy of a process with threads has their locks and not the threads. Not a daemon: daemons may have
    # no children, and algorithms do.
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, os.getpid()), name="untuned-worker")
    process.start()
    theirs.close()
    return process, ours


_PROGRAM = """
import sys
sys.path[:] = {path!r}
from untuned.collect.engines.worker_process import serve_at
serve_at({descriptor}, {parent})
"""


class _BareProcess:
    """A process started by hand, with the methods that `multiprocessing` gives its own."""

    def __init__(self, descriptor: int) -> None:
        program = _PROGRAM.format(path=sys.path, descriptor=descriptor, parent=os.getpid())
        self._process = subprocess.Popen([sys.executable, "-c", program], pass_fds=[descriptor])
        self.pid = self._process.pid
        self.kill = self._process.kill

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def join(self, seconds: float) -> None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)

    @property
    def exitcode(self) -> int | None:
        return self._process.poll()


def _started_bare() -> tuple[_BareProcess, Connection]:
    if os.name == "nt":
        raise InvalidInput("Windows cannot start a worker process without importing the running script")
    ours, theirs = multiprocessing.Pipe()
    process = _BareProcess(theirs.fileno())
    theirs.close()
    return process, ours


def serve_at(descriptor: int, parent: int) -> None:
    """Serve the pipe with this descriptor: the whole life of a process that was started bare."""
    _serve(Connection(descriptor), parent)


def _results(answer: object) -> list[Any]:
    if isinstance(answer, BaseException):
        raise answer
    assert isinstance(answer, list)
    return answer


def _packed(work: Work[Any]) -> bytes:
    try:
        return pickle.dumps(work)
    except Exception as error:
        raise InvalidInput(
            f"{work.name} cannot be sent to a worker process ({error}): define algorithm, metric and method as "
            "functions of a module, not inside another function"
        ) from None


def _cause(code: int | None) -> str:
    if code is not None and code < 0:
        with contextlib.suppress(ValueError):
            return f"by {signal.Signals(-code).name}"
    return f"exit code {code}"


_STARTING = threading.Lock()
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@contextlib.contextmanager
def _one_thread_each() -> Iterator[None]:
    """Start processes that compute with one thread each: there are as many of them as processors.

    The order of summation changes results, too. Libraries read these variables when they are loaded, which is before
    any code of ours runs there.
    """
    with _STARTING:
        missing = [name for name in _THREADS if name not in os.environ]
        os.environ.update(dict.fromkeys(missing, "1"))
        try:
            yield
        finally:
            for name in missing:
                del os.environ[name]


@contextlib.contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Start processes that get no Ctrl-C before they can ignore it: it reaches every process of a terminal."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # Starting this process of Python's unblocks the signal again: it must be there before.
    resource_tracker.ensure_running()
    former = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, former)


def _serve(pipe: Connection, parent: int) -> None:
    """Do work as it is requested; the whole life of the process."""
    if hasattr(os, "setsid"):
        # Its own children can then be killed with it; and signals for the parent's group reach the parent alone.
        os.setsid()
    for number in (signal.SIGINT, signal.SIGTERM):
        # The parent gets them too, and decides.
        signal.signal(number, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        # What an algorithm starts inherits no blocked signal.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    threading.Thread(target=_end_with, args=(parent,), daemon=True, name="parent").start()
    # What an algorithm prints would run through the display, and through output that other programs read.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    known: dict[int, Work[Any]] = {}
    while True:
        try:
            key, asked = pipe.recv()
        except (EOFError, OSError):
            return
        answer: object = None
        if isinstance(asked, bytes):
            try:
                known[key] = pickle.loads(asked)
            except Exception as error:
                answer = f"a worker process cannot load what it should run ({type(error).__name__}: {error})"
        else:
            try:
                answer = [known[key].do(number, None) for number in asked]
            except Exception as error:
                answer = _portable(error)
        try:
            pipe.send(answer)
        except OSError:
            return


def _portable(error: Exception) -> Exception:
    """Return an error that survives the pipe: itself, or its message where it cannot be pickled and loaded again."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        kind = InvalidInput if isinstance(error, InvalidInput | MissingExtra) else UntunedError
        return kind(f"{type(error).__name__}: {error}")
    return error


def _end_with(parent: int) -> None:
    """End this process, whatever it is doing, when its parent has ended, even by kill -9."""
    while os.getppid() == parent:
        time.sleep(_PARENT_POLL)
    if hasattr(os, "killpg"):
        os.killpg(0, signal.SIGKILL)
    os._exit(1)
