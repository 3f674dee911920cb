"""Processes as tests see them from outside."""

import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path


def python(
    *arguments: str,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float = 300.0,
    check: bool = False,
) -> "subprocess.CompletedProcess[str]":
    """Return a process of this Python that has ended, and what it printed."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=check,
    )


def eventually(condition: Callable[[], bool]) -> None:
    """Wait for it, with a deadline that only ends what would never end, however busy the machine is."""
    deadline = time.monotonic() + 300.0
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def children(pid: int) -> set[int]:
    """Return the processes that say they were made for trials and whose parent this is, or was."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes()
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, IndexError):
                continue
            if parent == pid and b"spawn_main" in command:
                found.add(int(entry.name))
    return found


def runs(pid: int) -> bool:
    """Return whether a process is there and has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
