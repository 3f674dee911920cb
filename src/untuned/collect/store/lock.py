"""The writer's lock: one process writes a study at a time; the lock is released when the process ends, in any way.

Not `filelock`, which does not name the holder and falls back to marker files: docs/decisions/0016-dependencies.md.
"""

import contextlib
import errno
import json
import os
import platform
import sys
import weakref
from pathlib import Path

from untuned.errors import StoreError

LOCK_NAME = "results.lock"

#: Windows forbids others to read locked bytes, so the locked byte is far behind the holder's name.
_LOCKED_BYTE = 2**30


class WriterLock:
    """The right to write in a folder, held from construction until `release` or the end of the process.

    The operating system releases the lock when the process ends, so no lock can be stale. The file stays, but does not
    mean that the study is locked; it names the last holder, for the error message of the next writer.

    Raises
    ------
    StoreError
        When another writer holds it, or the folder cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        path = folder / LOCK_NAME
        try:
            self._file: int | None = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            if error.errno in _FULL:
                raise _full(folder) from None
            raise StoreError(
                f"{folder} cannot be written ({error.strerror}): give yourself the right to write there, or copy the "
                "study to a folder where you may"
            ) from None
        try:
            taken = _take(self._file)
        except OSError as error:
            os.close(self._file)
            raise StoreError(
                f"{folder} is on a file system without locks ({error.strerror}), so two writers could "
                "write at once: keep the study on a local disk"
            ) from None
        if not taken:
            holder = _holder(self._file)
            os.close(self._file)
            raise StoreError(
                f"{folder} is being written by {holder}: one writer at a time. Wait for it, or stop it; "
                "reading is possible meanwhile"
            )
        try:
            os.ftruncate(self._file, 0)
            os.write(self._file, json.dumps({"pid": os.getpid(), "host": platform.node()}).encode())
        except OSError as error:
            os.close(self._file)
            if error.errno in _FULL:
                raise _full(folder) from None
            raise StoreError(f"{folder} cannot be written ({error.strerror}): check the disk") from None
        # A forked process shares the lock and would keep it after this process is killed.
        if hasattr(os, "register_at_fork"):
            reference = weakref.ref(self)
            os.register_at_fork(after_in_child=lambda: _let_go(reference))

    def release(self) -> None:
        """Release the lock."""
        if self._file is not None:
            # Closing is not enough: a process forked just now may not have closed its copy yet.
            _give_back(self._file)
        self.forget()

    def forget(self) -> None:
        """Close the file without releasing the lock, which other processes may share."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


#: The disk or this user's quota is full.
_FULL = (errno.ENOSPC, errno.EDQUOT)


def _full(folder: Path) -> StoreError:
    return StoreError(
        f"{folder} cannot be written, the disk is full. Everything stored before is safe: free some space, then rerun "
        "the command to resume"
    )


def _let_go(reference: "weakref.ref[WriterLock]") -> None:
    lock = reference()
    if lock is not None:
        lock.forget()


def _give_back(file: int) -> None:
    # On Windows no other process has a copy, and closing is enough.
    if sys.platform != "win32":
        import fcntl

        fcntl.flock(file, fcntl.LOCK_UN)


def _take(file: int) -> bool:
    """Return whether the lock was free, and take it if so."""
    if sys.platform == "win32":
        import msvcrt

        os.lseek(file, _LOCKED_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        finally:
            os.lseek(file, 0, os.SEEK_SET)
        return True
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _holder(file: int) -> str:
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        known = json.loads(os.read(file, 1000))
        return f"process {known['pid']} on {known['host']}"
    return "another process"
