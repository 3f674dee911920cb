"""A race that is killed at any moment resumes as if nothing had happened: the same rounds, scores and verdicts."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from support.exporting import exported
from untuned.collect.session import Session
from untuned.collect.store.store import Store

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="run this on Linux or macOS: it needs fork and kill -9")

#: More of them take longer: UNTUNED_KILLS=30.
KILLS = int(os.environ.get("UNTUNED_KILLS", "8"))

# Forks one race for every line it reads, since starting Python would take longer than all the rest.
PROGRAM = """
import os, sys, traceback
import numpy as np
import untuned

study = untuned.Study(
    "killed",
    algorithms=["sarsa", "q", "ac"],
    environments=["chain-10-stochastic", "gridworld-5-stochastic"],
    trials=1,
    seed=11,
)


def race(folder, goal):
    return untuned.race(study, goal, folder, max_trials=2400, costs=np.ones((3, 2)), engine="in-process", refine=0)


race(sys.argv[1], "all")
print("warm", flush=True)
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        try:
            print("racer", os.getpid(), flush=True)
            race(line.strip(), "all")
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    print("ended", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


def state(folder: Path) -> tuple[int, int]:
    """Return how many entries and trials there are."""
    try:
        with Store.open(folder) as store:
            return len(store.race_log()), sum(store.counts().values())
    except Exception:
        # Not there yet.
        return 0, 0


def result(folder: Path) -> tuple[Any, ...]:
    with Session.at(folder) as session:
        log = session.race_log()
        session.store.check()
        rounds = session.scores().rounds
    looks = [(entry["trials"], entry["weightings"]["uniform"]) for entry in log if entry["kind"] == "look"]
    numbers = [(entry["numbers"], entry["costs"]) for entry in log if entry["kind"] == "round"]
    assert rounds is not None
    assert rounds.tolist() == [each for each, _ in numbers]
    return (
        [(trials, known["better"], known["high"]) for trials, known in looks],
        numbers,
        [entry["ending"] for entry in log if entry["kind"] == "ended"],
        exported(folder),
    )


def test_killed_again_and_again_a_race_ends_as_it_would_have(tmp_path: Path) -> None:
    stream = random.Random(20340)
    whole, folder = tmp_path / "whole", tmp_path / "killed"
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(whole)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as racers:
        assert racers.stdin is not None
        assert racers.stdout is not None
        assert racers.stdout.readline() == "warm\n"
        expected = result(whole)
        assert len(expected[1]) > 8
        kills, moved = 0, 0
        for number in range(KILLS + 1):
            before = state(folder)
            racers.stdin.write(f"{folder}\n")
            racers.stdin.flush()
            pid = int(racers.stdout.readline().split()[1])
            if number < KILLS:
                deadline = time.monotonic() + 120.0
                # Mostly once something new is stored, now and then while it reads what is there.
                while stream.random() < 0.97 and state(folder) == before and time.monotonic() < deadline:
                    time.sleep(0.005)
                time.sleep(stream.uniform(0.0, 0.03))
                os.kill(pid, signal.SIGKILL)
            ended = racers.stdout.readline()
            if number < KILLS and ended == f"ended {-signal.SIGKILL}\n":
                kills += 1
                now = state(folder)
                moved += now > before
                # Nothing that was there is gone.
                assert now[0] >= before[0]
                assert now[1] >= before[1]
            else:
                assert ended == "ended 0\n"
            if ended == "ended 0\n":
                break
        racers.stdin.close()
        assert racers.wait(300) == 0
    assert kills > KILLS // 2
    assert moved > KILLS // 4
    assert result(folder) == expected
