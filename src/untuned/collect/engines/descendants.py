"""Processes that an algorithm starts: they end with their worker, even in a new session.

A worker leads a process group, which ends with it. A descendant that left the group (``start_new_session=True``, a
daemon) is found by a mark in its environment variables, which it inherits. That needs ``/proc``, so Linux; a descendant
in another session with an emptied environment is not found.
"""

import contextlib
import os
import signal
from pathlib import Path

#: The environment variable with the mark.
MARK = "UNTUNED_WORKER"

#: Number of scans of all processes: one that is found may be starting another.
_ROUNDS = 10


def end_marked(mark: str, spare_children_of: int) -> None:
    """Kill all other processes whose environment has this mark.

    Parameters
    ----------
    mark
        The mark of the worker.
    spare_children_of
        The process that started the worker. Its environment has the mark while it does so, and another of its threads
        may start a process at that moment.
    """
    entry = f"{MARK}={mark}".encode()
    for _ in range(_ROUNDS):
        found = [pid for pid in _processes() if entry in _environment(pid) and _parent(pid) != spare_children_of]
        if not found:
            return
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


def _processes() -> list[int]:
    try:
        names = os.listdir("/proc")  # noqa: PTH208 (a path per process would take three times as long)
    except OSError:
        return []
    return [int(name) for name in names if name.isdigit() and int(name) != os.getpid()]


def _environment(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        # The process of another user, or one that ended meanwhile.
        return []


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[1])
    except (OSError, IndexError, ValueError):
        return 0
