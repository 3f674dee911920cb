"""Algorithms that end processes, start others, take memory, and write where they should not; for studies in tests."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from support.agents_of_users import guesses
from untuned import BudgetSpent, Draw, InvalidInput

Env = gymnasium.Env[Any, Any]

#: What trials have in common across processes is in the folder where the program runs.
HERE = Path()


def times(name: str) -> int:
    """Return how often this was asked for a name, this time included."""
    with (HERE / name).open("a+") as file:
        file.write("x")
        file.flush()
        file.seek(0)
        return len(file.read())


def is_killed_once(environment: Env, draw: Draw) -> None:
    """Have the process of each first attempt killed, as the out-of-memory killer would do it."""
    if times(f"attempts-{draw.suggest_float('lean', 0.0, 0.5)}") == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    guesses_lean(environment, draw)


def guesses_lean(environment: Env, draw: Draw) -> None:
    """Act at random."""
    rng = np.random.default_rng(draw.seed())
    while True:
        environment.reset()
        done = False
        while not done:
            _, _, terminated, truncated, _ = environment.step(int(rng.integers(2)))
            done = terminated or truncated


def leaves_a_thread_and_interrupts(environment: Env, draw: Draw) -> None:
    """End the process as Ctrl-C would, with a thread that Python waits for at its end."""
    threading.Thread(target=time.sleep, args=(LONG,)).start()
    raise KeyboardInterrupt


#: Seconds; longer than any test waits.
LONG = 300.0


def is_killed(environment: Env, draw: Draw) -> None:
    """Have the process killed in every attempt."""
    times("attempts")
    os.kill(os.getpid(), signal.SIGKILL)


def crashes(environment: Env, draw: Draw) -> None:
    """Die of a bug in C."""
    times("attempts")
    os.kill(os.getpid(), signal.SIGSEGV)


def exits(environment: Env, draw: Draw) -> None:
    """End the process on purpose."""
    times("attempts")
    os._exit(3)


def takes_memory(environment: Env, draw: Draw) -> None:
    """Take 4 GiB in pieces, when half of all trials are lucky."""
    if draw.suggest_float("luck", 0.0, 1.0) < 0.5:
        taken = [np.ones(10 * 2**20, dtype=np.uint8) for _ in range(400)]
        assert taken
    guesses(environment, draw)


LEFT: list[Any] = []


def leaves_memory(environment: Env, draw: Draw) -> None:
    """Leave 300 MB to the next trial of the process."""
    times(f"process-{os.getpid()}")
    LEFT.append(np.ones(300 * 2**20, dtype=np.uint8))
    guesses(environment, draw)


def leaves_no_descriptors(environment: Env, draw: Draw) -> None:
    """Leave a process that cannot open files."""
    import resource

    try:
        guesses(environment, draw)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))


def forks(environment: Env, draw: Draw) -> None:
    """Continue in a copy of the process, too, which then has another result at another time."""
    rng = np.random.default_rng(draw.seed())
    if os.fork() == 0:
        rng = np.random.default_rng(os.getpid())
        time.sleep(rng.random() / 10)
    with contextlib.suppress(BudgetSpent):
        while True:
            environment.reset()
            done = False
            while not done:
                _, _, terminated, truncated, _ = environment.step(int(rng.integers(2)))
                done = terminated or truncated


def leaves_a_copy_and_is_killed(environment: Env, draw: Draw) -> None:
    """Hold the pipe open in a copy of the process, and have the process killed."""
    if os.fork() == 0:
        time.sleep(1000.0)
    os.kill(os.getpid(), signal.SIGKILL)


def starts_a_daemon(environment: Env, draw: Draw) -> None:
    """Start a process in a new session, without waiting for it."""
    daemon = subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(1000)"],
        start_new_session=True,
        stdin=subprocess.DEVNULL,
    )
    (HERE / f"daemon-{daemon.pid}").touch()
    guesses(environment, draw)


def ends_a_helper(environment: Env, draw: Draw) -> None:
    """Start a process and end it again, as its user would."""
    for number in (signal.SIGTERM, signal.SIGINT):
        helper = subprocess.Popen(["sleep", "1000"])
        helper.send_signal(number)
        try:
            assert helper.wait(30.0) == -number
        finally:
            helper.kill()
    guesses(environment, draw)


def starts_a_daemon_and_hangs(environment: Env, draw: Draw) -> None:
    """Start a process in a new session, and never return."""
    with contextlib.suppress(Exception):
        starts_a_daemon(environment, draw)
    time.sleep(1000.0)


def writes_everywhere(environment: Env, draw: Draw) -> None:
    """Write to every descriptor that is open."""
    for descriptor in range(3, 64):
        with contextlib.suppress(OSError):
            os.write(descriptor, b"\x00\x00\x01\x00 what is this?")
    guesses(environment, draw)


class NoSuchPlace(InvalidInput):
    """An error with its own constructor: its pickled arguments are not those of the constructor."""

    def __init__(self, shape: tuple[int, ...], wanted: int) -> None:
        super().__init__(f"{len(shape)} dimensions, and {wanted} are needed")


class OneArgument(InvalidInput):
    """An error whose constructor takes something else than its message."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        super().__init__(f"{len(shape)} dimensions are too many")


def refuses_in_its_own_words(environment: Env, draw: Draw) -> None:
    """Say that it cannot learn there."""
    raise NoSuchPlace((4,), 2)


def refuses_with_one_argument(environment: Env, draw: Draw) -> None:
    """Say that it cannot learn there."""
    raise OneArgument((4,))


def takes_a_while(environment: Env, draw: Draw) -> None:
    """Take a third of a second."""
    time.sleep(0.3)
    guesses(environment, draw)
