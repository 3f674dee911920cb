"""Algorithms and metrics as users write them, for studies in tests: good ones, and all kinds of bad ones."""

import multiprocessing
import os
import time
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from untuned import Draw, InvalidInput, MissingExtra


def guesses(environment: gymnasium.Env[Any, Any], draw: Draw) -> None:
    """Act at random, leaning to the last action by as much as was drawn."""
    lean = draw.suggest_float("lean", 0.0, 0.5)
    rng = np.random.default_rng(draw.seed())
    while True:
        environment.reset()
        done = False
        while not done:
            action = 1 if rng.random() < lean else int(rng.integers(2))
            _, _, terminated, truncated, _ = environment.step(action)
            done = terminated or truncated


def raises_sometimes(environment: gymnasium.Env[Any, Any], draw: Draw) -> None:
    """Fail in about half of all trials."""
    if draw.suggest_float("luck", 0.0, 1.0) < 0.5:
        raise RuntimeError("bad luck")
    guesses(environment, draw)


def always_raises(environment: gymnasium.Env[Any, Any], draw: Draw) -> None:
    """Fail in every trial."""
    raise RuntimeError("no such layer")


def raises_four_times(environment: gymnasium.Env[Any, Any], draw: Draw) -> None:
    """Fail in the first trials that a process runs, and in no other."""
    MEMORY.append(1)
    if len(MEMORY) <= 4:
        raise RuntimeError("not yet")
    guesses(environment, draw)


def hangs(environment: gymnasium.Env[Any, Any], draw: Draw) -> None:
    """Never come back."""
    while True:
        time.sleep(1.0)


def hangs_after_saying_so(environment: gymnasium.Env[Any, Any], draw: Draw) -> None:
    """Leave a file with the number of the process, and never come back."""
    Path(f"hanging-{os.getpid()}").touch()
    hangs(environment, draw)


def dies(environment: gymnasium.Env[Any, Any], draw: Draw) -> None:
    """Take the whole process along."""
    os._exit(3)


def does_nothing(environment: gymnasium.Env[Any, Any], draw: Draw) -> None:
    """Return at once."""


def best(returns: NDArray[np.float64]) -> float:
    """Return the best episode's return."""
    return float(returns.max())


def dawdles(environment: gymnasium.Env[Any, Any], draw: Draw) -> None:
    """Take a while over every trial."""
    time.sleep(0.5)
    guesses(environment, draw)


def refuses(environment: gymnasium.Env[Any, Any], draw: Draw) -> None:
    """Say that it cannot learn there."""
    raise InvalidInput("not in such a place")


def lacks(environment: gymnasium.Env[Any, Any], draw: Draw) -> None:
    """Say that something is not installed."""
    raise MissingExtra("learning", "other")


def delegates(environment: gymnasium.Env[Any, Any], draw: Draw) -> None:
    """Have another process do something."""
    helper = multiprocessing.get_context("spawn").Process(target=len, args=("work",))
    helper.start()
    helper.join()
    assert helper.exitcode == 0
    guesses(environment, draw)


MEMORY: list[int] = []


def remembers(environment: gymnasium.Env[Any, Any], draw: Draw) -> None:
    """Keep state in the module between trials, which algorithms should not do."""
    draw.suggest_float("before", len(MEMORY), len(MEMORY) + 0.5)
    MEMORY.append(1)
    guesses(environment, draw)


def threads(environment: gymnasium.Env[Any, Any], draw: Draw) -> None:
    """Look at how many threads libraries were told to use."""
    assert os.environ["OMP_NUM_THREADS"] == "1"
    guesses(environment, draw)


def draws_from_torch(environment: gymnasium.Env[Any, Any], draw: Draw) -> None:
    """Load PyTorch as late as possible, and draw from its global generator."""
    import torch

    while True:
        environment.reset()
        done = False
        while not done:
            _, _, terminated, truncated, _ = environment.step(int(torch.randint(2, ()).item()))
            done = terminated or truncated
