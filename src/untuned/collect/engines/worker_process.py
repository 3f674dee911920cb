"""A worker process: it can be killed when it hangs, and it may die without ending the program.

The exit status shows who ended a process. An exit code comes from the algorithm. A signal may come from the machine:
the out-of-memory killer, an operator, a node that shuts down. The process's work is then retried in a new one, and only
repeated deaths are a result. A crash that the algorithm causes (SIGSEGV) repeats, too.
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

#: The first words of the failure of a number that exceeded its time limit.
TOOK_LONGER = "took longer than its time limit"
#: The first words of the failure of a number that repeatedly ended its process.
DIED = "its process died"

#: Total number of attempts for a number when a signal ends its process.
ATTEMPTS = 5
#: Number of attempts to start a process that is killed before it gets work, so not by its work.
_STARTS = 100
_KILLED = "by SIGKILL"

#: Seconds between two polls: of the pipe and of ``stop`` by the parent, of the parent by the worker.
_POLL = 0.1
_PARENT_POLL = 1.0
#: Seconds to wait for ``stop`` to return True after the death of a worker that the same signal may have killed.
_GRACE = 0.5


class _Died(Exception):
    """A process died, or sent unreadable data.

    Parameters
    ----------
    cause
        The cause of its end.
    own
        Whether it ended itself.
    """

    def __init__(self, cause: str, own: bool) -> None:
        self.cause = cause
        self.own = own


class _Deaths:
    """Counts the processes that died of the same work, and decides whether to retry.

    Parameters
    ----------
    most_killed
        Total number of attempts as long as only SIGKILL ends them.
    """

    def __init__(self, most_killed: int = ATTEMPTS) -> None:
        self._most_killed = most_killed
        self._causes: Counter[str] = Counter()

    def another(self, died: _Died) -> bool:
        """Record a death, and return whether to retry."""
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
    """Does work in a separate process, which is started at the first number and restarted after a death.

    Parameters
    ----------
    bare
        Start it without importing the running script: definitions of the script are not available, and it needs no
        ``if __name__ == "__main__":``.
    """

    def __init__(self, *, bare: bool = False) -> None:
        self._bare = bare
        self._process: BaseProcess | _BareProcess | None = None
        self._pipe: Connection | None = None
        self._answers: Answers | None = None
        # Random for each process: identifies its messages and its descendants.
        self._mark = ""
        # Work that the process has loaded, by number; kept alive so that no other object gets its id.
        self._known: dict[int, tuple[int, object]] = {}

    def do(self, work: Work[Result], number: int, stop: Stop | None) -> Result:
        """Return the result of a number; a number that hangs or repeatedly kills its process fails.

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
                    # Earlier numbers may have left state in this process: retry in a new one.
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
            When the process still died, repeatedly.
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
        """Return the number of the work in the process. The time to start the process is not counted."""
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
                        f"the worker process for {work.name} died {deaths} before it began: finished ones are kept, "
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
        # The mark last: processes with it are ended together with this one.
        with _STARTING, _environment(threads | safe), _interrupts_blocked(), _environment({MARK: self._mark}):
            self._process, self._pipe = (_started_bare if self._bare else _spawned)(self._mark)
        self._answers = Answers(self._pipe, bytes.fromhex(self._mark))

    def _answer(self, question: object, stop: Stop | None, limit: float | None) -> object:
        """Return the answer of the process; raises TimeoutError after ``limit`` seconds, and _Died."""
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
                # A process that the algorithm started may hold the other end of the pipe open.
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
        """Kill the process and all of its descendants."""
        if self._process is not None:
            self._process.kill()
        self._reap(None)

    def _reap(self, stop: Stop | None) -> int | None:
        """Discard the process, and return its exit code.

        Raises
        ------
        Stopped
            When ``stop`` returns True shortly afterwards: the signal that stops us reached the process first, and its
            trial has not failed.
        """
        if self._process is None:
            return None
        self._process.join(5.0)
        code = self._process.exitcode
        if hasattr(os, "killpg") and self._process.pid is not None:
            # It leads its own process group (`_serve`), which may outlive it.
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
    """Return whether ``stop`` returns True within the time that a signal takes to reach a process group."""
    deadline = time.monotonic() + _GRACE
    while not stop():
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL)
    return True


def _spawned(mark: str) -> tuple[BaseProcess, Connection]:
    # Not by fork: a copy of a process with threads has their locks but not the threads. Not a daemon: daemons may not
    # have children, and algorithms do.
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
    """A process started without `multiprocessing`, with the same methods as its processes."""

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
    """Serve the pipe with this descriptor: the main function of a process that was started bare."""
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

#: Each process computes with one thread, because there is one process per processor, and because the order of
#: summation changes results. Libraries read these variables when they are loaded, before our code runs there.
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

#: Keeps the current folder off the path of a new Python process: a file there must not replace a standard module.
_SAFE_PATH = "PYTHONSAFEPATH"
#: Its value unless the user has set one.
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
    """Start processes that do not receive Ctrl-C before they can ignore it: it reaches every process of a terminal."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # Starting Python's resource tracker unblocks the signal again: start it beforehand.
    resource_tracker.ensure_running()
    former = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, former)


def _serve(pipe: Connection, parent: int, mark: str) -> None:
    """Do work on request; the main function of the process."""
    # A Ctrl-C that came until now was for the parent.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "setsid"):
        # Its children can then be killed with it; and signals for the parent's group reach only the parent.
        os.setsid()
        # Processes that an algorithm starts inherit no signal that is blocked or ignored: it could not end them. If a
        # signal ends this process, the parent gets it too and stops, or retries the number.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    if os.environ.get(_SAFE_PATH) == _OURS:
        # Programs that an algorithm starts find their modules as usual.
        del os.environ[_SAFE_PATH]
    watch = threading.Thread(target=_end_with, args=(parent, mark), daemon=True, name="parent")
    watch.start()
    # An algorithm's output would disturb the display, and the output that other programs read.
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
            break
        answer: object = None
        try:
            if isinstance(asked, bytes):
                answer = _loaded(known, key, asked)
            else:
                answer = _done(known[key], asked, fresh)
                fresh = False
        except Exception as error:
            answer = portable(error)
        except BaseException:
            # An algorithm's KeyboardInterrupt. An orderly end would wait for threads that algorithms left.
            os._exit(1)
        finally:
            if os.getpid() != ours:
                # A copy of the process that the algorithm forked and that returned: it must not answer.
                os._exit(0)
        try:
            send_answer(pipe, bytes.fromhex(mark), answer)
        except OSError:
            break
    # The parent has ended, and the thread has to end what the algorithm started. Or the algorithm closed the pipe.
    watch.join(2.0 * _PARENT_POLL)


def _loaded(known: dict[int, Work[Any]], key: int, packed: bytes) -> str | None:
    """Load some work, and return the error, if any."""
    try:
        known[key] = pickle.loads(packed)
    except Exception as error:
        return f"a worker process cannot load what it should run ({type(error).__name__}: {error})"
    return None


class _Short:
    """The result of a number that ran out of its limited memory.

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
    try:
        before = taken()
    except OSError:
        if fresh:
            raise
        # Earlier numbers left no file descriptor to look with.
        return _Short(None, fresh)
    if before >= work.memory:
        if fresh:
            raise InvalidInput(
                f"memory: a trial of {work.name} may take {written(work.memory)}, and its process takes "
                f"{before >> 20} MiB before it begins: declare more"
            )
        return _Short(None, fresh)
    begin = time.monotonic()
    try:
        with limited(work.memory):
            result = work.do(number, None)
    except MemoryError as error:
        # There was not even enough memory to record the failure.
        result = work.failed(number, type(error).__name__, time.monotonic() - begin)
    short = work.out_of_memory(result)
    return [result] if short is None else _Short(short, fresh)


#: Our errors whose only argument is a message.
_PLAIN = (InvalidInput, Stopped, UntunedError)


def portable(error: Exception) -> Exception:
    """Return an error that can be sent through the pipe: itself if it is ours or Python's, else ours with its message.

    A subclass from a third-party module may have a different constructor, or be unknown to the other process.
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
