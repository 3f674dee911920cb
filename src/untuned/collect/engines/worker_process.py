"""A worker process: it can be killed when it hangs, and it may die without ending the program.

How a process ended says who ended it. An exit code is the algorithm's: nothing outside chooses one. A signal may be the
machine's: the out-of-memory killer, an operator, a node that goes down. What the process was doing is then done again
in a new one, and only a repeated death is a result. A crash that the algorithm causes (SIGSEGV) repeats, too.
"""

import contextlib
import multiprocessing
import os
import pickle
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

import untuned.errors
from untuned.collect.engines.answers import Answers, Unreadable, send_answer
from untuned.collect.engines.descendants import MARK, end_marked
from untuned.collect.engines.engine import Stop, Work
from untuned.collect.runner.memory_limit import limited, taken, written
from untuned.errors import InvalidInput, Stopped, UntunedError

Result = TypeVar("Result")

#: How the failure of a number that exceeded its time limit begins.
TOOK_LONGER = "took longer than its time limit"
#: How the failure of a number begins that repeatedly ended its process.
DIED = "its process died"

#: How often a number is tried in all when a signal ends its process.
ATTEMPTS = 5
#: How often a process is started that is killed before it has anything to do: not by what it would do.
_STARTS = 100
_KILLED = "by SIGKILL"

#: Seconds between two polls: of the pipe and of ``stop`` by the parent, of the parent by the worker.
_POLL = 0.1
_PARENT_POLL = 1.0
#: Seconds to wait for ``stop`` to return True after the death of a worker that the same signal may have killed.
_GRACE = 0.5


class _Died(Exception):
    """A process died, or cannot be understood.

    Parameters
    ----------
    cause
        What ended it.
    own
        Whether it did so itself.
    """

    def __init__(self, cause: str, own: bool) -> None:
        self.cause = cause
        self.own = own


class _Deaths:
    """Counts the processes that died of the same work, and says whether another one tries.

    Parameters
    ----------
    most_killed
        How often it is tried in all as long as nothing but SIGKILL ends it.
    """

    def __init__(self, most_killed: int = ATTEMPTS) -> None:
        self._most_killed = most_killed
        self._causes: Counter[str] = Counter()

    def another(self, died: _Died) -> bool:
        """Note a death, and return whether there is another attempt."""
        self._causes[died.cause] += 1
        crashes = self._causes.total() - self._causes[_KILLED]
        return not died.own and crashes < ATTEMPTS and self._causes.total() < self._most_killed

    def __str__(self) -> str:
        times = self._causes.total()
        if len(self._causes) == 1:
            return f"{f'{times} times ' if times > 1 else ''}({next(iter(self._causes))})"
        each = (f"{cause}{f' {count} times' if count > 1 else ''}" for cause, count in self._causes.items())
        return f"{times} times ({', '.join(each)})"


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
        self._answers: Answers | None = None
        # Random, for each process: what it sends and what it starts are told from others by this.
        self._mark = ""
        # What the process knows, by the number it is known under; kept alive so that no other object gets its id.
        self._known: dict[int, tuple[int, object]] = {}

    def do(self, work: Work[Result], number: int, stop: Stop | None) -> Result:
        """Return the result of a number; one that hangs or repeatedly kills its process has failed.

        Raises
        ------
        Stopped
            When ``stop`` returned True; the process is killed then.
        InvalidInput, MissingExtra
            When the work cannot be sent to a process, or raises one of these itself.
        """
        deaths = _Deaths()
        while True:
            key = self.prepare(work, stop)
            begin = time.monotonic()
            try:
                answer = self._answer((key, [number]), stop, work.time_limit)
            except TimeoutError:
                self.close()
                return work.failed(number, f"{TOOK_LONGER} of {work.time_limit:g} seconds", time.monotonic() - begin)
            except _Died as died:
                seconds = time.monotonic() - begin
                if deaths.another(died):
                    continue
                limit = "" if work.memory is None else f", with a memory limit of {written(work.memory)}"
                return work.failed(number, f"{DIED} {deaths}{limit}", seconds)
            if work.isolate or isinstance(answer, _Short):
                self.close()
            if isinstance(answer, _Short):
                if not answer.fresh:
                    # Earlier numbers may have left something in this process. What counts is a new one.
                    continue
                answer = [answer.result]
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
            When the process died all the same, repeatedly.
        """
        deaths = _Deaths()
        while True:
            try:
                return _results(self._answer((self.prepare(work, stop), list(numbers)), stop, None))
            except _Died as died:
                if not deaths.another(died):
                    raise UntunedError(
                        f"the worker process for {work.name} died {deaths}: what is finished is kept. Was there enough "
                        "memory? --workers 1 (workers=1) needs no worker process"
                    ) from None

    def prepare(self, work: Work[Any], stop: Stop | None) -> int:
        """Return the number under which the process knows the work. Starting it does not count as the work's time."""
        if self._process is not None and not self._process.is_alive():
            self._reap(stop)
        if id(work) in self._known:
            return self._known[id(work)][0]
        packed = _packed(work)
        deaths = _Deaths(_STARTS)
        while True:
            if self._process is None:
                self._start()
            key = len(self._known)
            try:
                complaint = self._answer((key, packed), stop, None)
            except _Died as died:
                if deaths.another(died):
                    continue
                if not died.own:
                    raise UntunedError(
                        f"the worker process for {work.name} died {deaths} before it began: what is finished is kept, "
                        "rerun to resume. Was there enough memory?"
                    ) from None
                raise InvalidInput(
                    f"the worker process for {work.name} ended before it began ({died.cause}): does importing "
                    'its module end the program? In a script, run the study under `if __name__ == "__main__":`'
                ) from None
            if complaint is not None:
                self.close()
                raise InvalidInput(str(complaint))
            self._known[id(work)] = key, work
            return key

    def _start(self) -> None:
        self._mark = secrets.token_hex(16)
        threads = {name: os.environ.get(name, "1") for name in _THREADS}
        safe = {_SAFE_PATH: os.environ.get(_SAFE_PATH, _OURS)}
        # The mark last: what has it is ended with this process.
        with _STARTING, _environment(threads | safe), _interrupts_blocked(), _environment({MARK: self._mark}):
            self._process, self._pipe = (_started_bare if self._bare else _spawned)(self._mark)
        self._answers = Answers(self._pipe, bytes.fromhex(self._mark))

    def _answer(self, question: object, stop: Stop | None, limit: float | None) -> object:
        """Return what the process answers; raises TimeoutError after ``limit`` seconds, and _Died."""
        assert self._pipe is not None
        assert self._answers is not None
        assert self._process is not None
        begin = time.monotonic()
        try:
            self._pipe.send(question)
            while (answer := self._answers.next(_POLL)) is None:
                if stop is not None and stop():
                    self.close()
                    raise Stopped
                if limit is not None and time.monotonic() - begin > limit:
                    raise TimeoutError
                # Something that the algorithm started may hold the other end of the pipe open.
                if not self._process.is_alive() and (answer := self._answers.next(0.0)) is None:
                    raise EOFError
        except TimeoutError:
            raise
        except Unreadable:
            self._process.kill()
            self._reap(stop)
            raise _Died("after an unreadable answer", own=False) from None
        except (EOFError, OSError):
            code = self._reap(stop)
            raise _Died(_cause(code), own=code is None or code >= 0) from None
        return answer[0]

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
            end_marked(self._mark, os.getpid())
        if self._pipe is not None:
            self._pipe.close()
        self._process = self._pipe = self._answers = None
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


def _spawned(mark: str) -> tuple[BaseProcess, Connection]:
    # Not by fork: a copy of a process with threads has their locks and not the threads. Not a daemon: daemons may have
    # no children, and algorithms do.
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, os.getpid(), mark), name="untuned-worker")
    process.start()
    theirs.close()
    return process, ours


_PROGRAM = """
import sys
sys.path[:] = {path!r}
from untuned.collect.engines.worker_process import serve_at
serve_at({descriptor}, {parent}, {mark!r})
"""


class _BareProcess:
    """A process started by hand, with the methods that `multiprocessing` gives its own."""

    def __init__(self, descriptor: int, mark: str) -> None:
        program = _PROGRAM.format(path=sys.path, descriptor=descriptor, parent=os.getpid(), mark=mark)
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


def _started_bare(mark: str) -> tuple[_BareProcess, Connection]:
    if os.name == "nt":
        raise InvalidInput("Windows cannot start a worker process without importing the running script")
    ours, theirs = multiprocessing.Pipe()
    process = _BareProcess(theirs.fileno(), mark)
    theirs.close()
    return process, ours


def serve_at(descriptor: int, parent: int, mark: str) -> None:
    """Serve the pipe with this descriptor: the whole life of a process that was started bare."""
    _serve(Connection(descriptor), parent, mark)


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
    if code is None:
        return "it closed its pipe"
    if code < 0:
        with contextlib.suppress(ValueError):
            return f"by {signal.Signals(-code).name}"
    return f"exit code {code}"


_STARTING = threading.Lock()

#: Processes compute with one thread each: there are as many of them as processors. The order of summation changes
#: results, too. Libraries read these variables when they are loaded, which is before any code of ours runs there.
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

#: Keeps the current folder off the path of a Python that starts: a file there must not replace a standard module.
_SAFE_PATH = "PYTHONSAFEPATH"
#: Its value where the user has set none.
_OURS = "untuned"


@contextlib.contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    """Start processes with these variables."""
    former = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in former.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


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


def _serve(pipe: Connection, parent: int, mark: str) -> None:
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
    if os.environ.get(_SAFE_PATH) == _OURS:
        # Programs that an algorithm starts find their modules as usual.
        del os.environ[_SAFE_PATH]
    threading.Thread(target=_end_with, args=(parent, mark), daemon=True, name="parent").start()
    # What an algorithm prints would run through the display, and through output that other programs read.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    ours = os.getpid()
    known: dict[int, Work[Any]] = {}
    fresh = True
    while True:
        try:
            key, asked = pipe.recv()
        except (EOFError, OSError):
            return
        answer: object = None
        try:
            if isinstance(asked, bytes):
                answer = _loaded(known, key, asked)
            else:
                answer = _done(known[key], asked, fresh)
                fresh = False
        except Exception as error:
            answer = portable(error)
        finally:
            if os.getpid() != ours:
                # A copy of the process that the algorithm forked and that returned: it has nothing to answer.
                os._exit(0)
        try:
            send_answer(pipe, bytes.fromhex(mark), answer)
        except OSError:
            return


def _loaded(known: dict[int, Work[Any]], key: int, packed: bytes) -> str | None:
    """Load some work, and return what is wrong with it."""
    try:
        known[key] = pickle.loads(packed)
    except Exception as error:
        return f"a worker process cannot load what it should run ({type(error).__name__}: {error})"
    return None


class _Short:
    """The result of a number that got no more memory than it may take.

    Parameters
    ----------
    result
        A failure.
    fresh
        Whether it was the first number of its process.
    """

    def __init__(self, result: object, fresh: bool) -> None:
        self.result = result
        self.fresh = fresh


def _done(work: Work[Any], numbers: Sequence[int], fresh: bool) -> "list[Any] | _Short":
    if work.memory is None:
        return [work.do(number, None) for number in numbers]
    (number,) = numbers
    if taken() >= work.memory:
        if fresh:
            raise InvalidInput(
                f"memory: a trial of {work.name} may take {written(work.memory)}, and its process takes "
                f"{taken() >> 20} MiB before it begins: declare more"
            )
        return _Short(None, fresh)
    begin = time.monotonic()
    try:
        with limited(work.memory):
            result = work.do(number, None)
    except MemoryError as error:
        # There was not even enough to note the failure.
        result = work.failed(number, type(error).__name__, time.monotonic() - begin)
    short = work.out_of_memory(result)
    return [result] if short is None else _Short(short, fresh)


#: Errors of ours that are made of a message alone.
_PLAIN = (InvalidInput, Stopped, UntunedError)


def portable(error: Exception) -> Exception:
    """Return an error that survives the pipe: itself if it is ours or Python's, else one of ours with its message.

    A subclass from somebody else's module may have a constructor of its own, or be unknown to the other process.
    """
    if type(error).__module__ in (untuned.errors.__name__, "builtins"):
        with contextlib.suppress(Exception):
            pickle.loads(pickle.dumps(error))
            return error
    try:
        text = str(error)
    except Exception:
        text = "(without a text)"
    for kind in type(error).__mro__:
        if kind in _PLAIN:
            plain: UntunedError = kind(text)
            return plain
    return UntunedError(f"{type(error).__name__}: {text}")


def _end_with(parent: int, mark: str) -> None:
    """End this process, whatever it is doing, when its parent has ended, even by kill -9."""
    while os.getppid() == parent:
        time.sleep(_PARENT_POLL)
    end_marked(mark, parent)
    if hasattr(os, "killpg"):
        os.killpg(0, signal.SIGKILL)
    os._exit(1)
