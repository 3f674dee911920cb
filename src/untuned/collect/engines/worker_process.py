"""A process for trials: it can be killed when it hangs, and it may die without taking anybody along."""

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
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from untuned.collect.engines.cells import TOOK_LONGER, Cell, Recipe, Stop, failed, record
from untuned.collect.trial import Trial
from untuned.errors import InvalidInput, MissingExtra, Stopped, UntunedError

#: How often the parent looks whether it should stop, and the process whether it still has a parent, in seconds.
_LOOK = 0.1
_WATCH = 1.0
#: Seconds in which word of a stop may come after the death of a process that the same signal killed.
_GRACE = 0.5


class Child:
    """Runs trials one after the other in a process of its own, which is started at the first and again after a death.

    Parameters
    ----------
    recipe
        What becomes of results; its time limit is kept here.
    bare
        Start it without the script that is running: it cannot know what is defined there, and the script needs no
        guard against being run again.
    """

    def __init__(self, recipe: Recipe, *, bare: bool = False) -> None:
        self._recipe = recipe
        self._bare = bare
        self._process: BaseProcess | _Bare | None = None
        self._connection: Connection | None = None
        self._cell: Cell | None = None

    def record(self, cell: Cell, trial: int, stop: Stop | None) -> Trial:
        """Return a trial as it is kept; one that hangs or kills its process has failed.

        Raises
        ------
        Stopped
            When ``stop`` said so; the process is gone then.
        InvalidInput, MissingExtra
            When the algorithm cannot be sent to a process, or says itself that it cannot run there.
        """
        connection = self.prepare(cell, stop)
        limit = self._recipe.time_limit
        begin = time.monotonic()
        try:
            answer = self._answer(connection, [trial], stop, limit)
        except TimeoutError:
            self.close()
            message = f"{TOOK_LONGER} of {limit:g} seconds"
            return failed(cell, trial, message, time.monotonic() - begin)
        except (EOFError, ConnectionError):
            code = self._buried(stop)
            return failed(cell, trial, f"its process died ({_cause(code)})", time.monotonic() - begin)
        if self._recipe.isolate:
            self.close()
        return _records(answer)[0]

    def record_all(self, cell: Cell, trials: Sequence[int], stop: Stop | None) -> list[Trial]:
        """Return several trials of a compiled pair, for the sake of time alone: nothing can be expected to go wrong.

        Raises
        ------
        Stopped
            When ``stop`` said so; the process is gone then.
        InvalidInput, MissingExtra
            When the algorithm cannot be sent to a process, or says itself that it cannot run there.
        UntunedError
            When the process died all the same.
        """
        try:
            answer = self._answer(self.prepare(cell, stop), list(trials), stop, None)
        except (EOFError, ConnectionError):
            code = self._buried(stop)
            raise UntunedError(
                f"a process with trials of {cell.algorithm!r} on {cell.environment!r} died ({_cause(code)}): what is "
                "finished is kept. Was there enough memory? --workers 1 needs no other process"
            ) from None
        return _records(answer)

    def prepare(self, cell: Cell, stop: Stop | None) -> Connection:
        """Return the connection to a process that knows the cell. Starting one is no part of a trial's time."""
        if self._process is not None and not self._process.is_alive():
            self._buried(stop)
        if self._process is None or self._connection is None:
            with _one_thread_each():
                self._process, self._connection = _bare() if self._bare else _spawned()
            self._cell = None
        if self._cell is not cell:
            content = _packed(self._recipe, f"the metric {self._recipe.metric.name}"), _packed(cell, cell.algorithm)
            try:
                complaint = self._answer(self._connection, content, stop, None)
            except (EOFError, ConnectionError):
                code = self._buried(stop)
                raise InvalidInput(
                    f"the process for {cell.algorithm!r} ended before any trial ({_cause(code)}): does importing its "
                    'module end the program? In a script, run the study under `if __name__ == "__main__":`'
                ) from None
            if complaint is not None:
                self.close()
                raise InvalidInput(str(complaint))
            self._cell = cell
        return self._connection

    def _answer(self, connection: Connection, question: object, stop: Stop | None, limit: float | None) -> object:
        """Return what the process answers; raises TimeoutError after ``limit`` seconds."""
        begin = time.monotonic()
        connection.send(question)
        while not connection.poll(_LOOK):
            if stop is not None and stop():
                self.close()
                raise Stopped
            if limit is not None and time.monotonic() - begin > limit:
                raise TimeoutError
        answer: object = connection.recv()
        return answer

    def close(self) -> None:
        """End the process, whatever it is doing, and all that it has started."""
        if self._process is not None:
            self._process.kill()
        self._buried(None)

    def _buried(self, stop: Stop | None) -> int | None:
        """Forget the process, and return what it ended with.

        Raises
        ------
        Stopped
            When whoever wants all this to stop reached the process before us: then its trial has not failed.
        """
        if self._process is None:
            return None
        self._process.join(5.0)
        code = self._process.exitcode
        if hasattr(os, "killpg") and self._process.pid is not None:
            # It leads a group of its own (`_serve`), which may outlive it.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        if self._connection is not None:
            self._connection.close()
        self._process = self._connection = self._cell = None
        if stop is not None:
            deadline = time.monotonic() + _GRACE
            while time.monotonic() < deadline:
                if stop():
                    raise Stopped
                time.sleep(_LOOK)
        return code


def _spawned() -> tuple[BaseProcess, Connection]:
    # Not by fork: a copy of a process with threads has their locks and not the threads. Not a daemon: those may have no
    # children, and algorithms do.
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, os.getpid()), name="untuned-trials")
    process.start()
    theirs.close()
    return process, ours


_PROGRAM = """
import sys
sys.path[:] = {path!r}
from untuned.collect.engines.worker_process import serve_at
serve_at({descriptor}, {parent})
"""


class _Bare:
    """A process that was started by hand, with the methods that `multiprocessing` gives its own."""

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


def _bare() -> tuple[_Bare, Connection]:
    if os.name == "nt":
        raise InvalidInput("processes cannot be started bare on Windows")
    ours, theirs = multiprocessing.Pipe()
    process = _Bare(theirs.fileno())
    theirs.close()
    return process, ours


def serve_at(descriptor: int, parent: int) -> None:
    """Run trials as they are asked for at the other end of a connection; the whole life of a bare process."""
    _serve(Connection(descriptor), parent)


def _records(answer: object) -> list[Trial]:
    if isinstance(answer, BaseException):
        raise answer
    assert isinstance(answer, list)
    return answer


def _packed(content: Cell | Recipe, name: str) -> bytes:
    try:
        return pickle.dumps(content)
    except Exception as error:
        raise InvalidInput(
            f"{name} cannot be sent to a process ({error}): define it as a function of a module, not inside another "
            "function"
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

    Sums in another order are other sums, too. Libraries look at these variables when they are loaded, which is before
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


def _serve(connection: Connection, parent: int) -> None:
    """Run trials as they are asked for; the whole life of the process."""
    if hasattr(os, "setsid"):
        # What it starts itself can then be ended with it; and signals for the parent's group are the parent's.
        os.setsid()
    for number in (signal.SIGINT, signal.SIGTERM):
        # The parent hears of it, and decides.
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=_watch, args=(parent,), daemon=True, name="parent").start()
    # What an algorithm prints would run through the display, and through what is printed for other programs.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    cell: Cell | None = None
    recipe: Recipe | None = None
    while True:
        try:
            asked: object = connection.recv()
        except (EOFError, OSError):
            return
        answer: object = None
        if isinstance(asked, tuple):
            try:
                recipe, cell = map(pickle.loads, asked)
            except Exception as error:
                answer = f"the algorithm cannot be made in a process of its own ({type(error).__name__}: {error})"
        else:
            assert isinstance(asked, list)
            assert cell is not None
            assert recipe is not None
            try:
                answer = [record(cell, trial, recipe, None) for trial in asked]
            except (InvalidInput, MissingExtra) as error:
                answer = error
        try:
            connection.send(answer)
        except OSError:
            return


def _watch(parent: int) -> None:
    """End this process when its parent is gone, even to kill -9; whatever an algorithm is doing."""
    while os.getppid() == parent:
        time.sleep(_WATCH)
    if hasattr(os, "killpg"):
        os.killpg(0, signal.SIGKILL)
    os._exit(1)
