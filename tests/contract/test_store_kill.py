"""Killed at any moment, a writer loses nothing it reported; and readers may look all the while."""

import itertools
import os
import queue
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from untuned.collect.store.lock import LOCK_NAME
from untuned.collect.store.store import Store
from untuned.errors import StoreError

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="run this on Linux or macOS: it needs fork and kill -9")

TIMES = 80
#: More trials than can be finished before the kill.
ENDLESS = 10**9
FACTS = {"seed": 1, "algorithms": ["a", "b"], "environments": ["e", "f"]}
CELLS = list(itertools.product("ab", "ef"))

# Forks one writer for every line it reads, since starting Python would take longer than all the rest. A writer resumes
# where the store says it ended, and reports what it was told is stored; a report that was cut off lacks its full stop.
PROGRAM = """
import itertools, os, random, sys, time, traceback
import numpy as np
from untuned.collect.store.store import Store
from untuned.collect.trial import Trial


def trial(cell, number):
    value = random.Random(f"{cell} {number}").random()
    return Trial(
        seed=1, algorithm=cell[0], environment=cell[1], trial=number, score=value, final_return=-value,
        returns=np.full(50, value), final_returns=np.full(5, value), fingerprint=f"build {number // 50}",
    )


def write(trials, pause):
    stream = random.Random()
    with Store.open(sys.argv[1], write=True) as store:
        cells = {}
        for cell in store.counts():
            done = set(store.done(*cell).tolist())
            cells[cell] = filter(lambda number, done=done: number not in done, range(trials))
        print("ready", flush=True)
        while True:
            batch = [
                trial(cell, number)
                for cell, numbers in cells.items()
                for number in itertools.islice(numbers, stream.choice((1, 7, 60)))
            ]
            if not batch:
                return
            stream.shuffle(batch)
            store.add(batch)
            print(*(f"{each.algorithm}{each.environment}{each.trial}" for each in batch), ".", flush=True)
            time.sleep(pause)


for line in sys.stdin:
    trials, pause = line.split()
    child = os.fork()
    if child == 0:
        try:
            print("writer", os.getpid(), flush=True)
            write(int(trials), float(pause))
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print("\\nended", status, flush=True)
"""


class Writers:
    """One writer after another; what they report is read as it comes, so that none ever waits for us."""

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.reported: list[str] = []
        self.batches = 0
        self.pid = 0
        self.running = False
        self._events: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._listener = threading.Thread(target=self._listen)
        self._listener.start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.endswith(" .\n"):
                self.reported += line.split()[:-1]
                self.batches += 1
            elif line.startswith("writer"):
                self.pid = int(line.split()[1])
            elif line.startswith(("ready", "ended")):
                self._events.put(line.strip())

    def start(self, trials: int, pause: float = 0.0) -> None:
        """Start the next writer, and return once it has opened the store."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{trials} {pause}\n")
        self.process.stdin.flush()
        self.running = True
        assert self._events.get(timeout=300) == "ready"

    def wait_for(self, batches: int) -> None:
        """Return when all writers together have reported this many batches."""
        deadline = time.monotonic() + 300.0
        while self.batches < batches:
            assert time.monotonic() < deadline
            time.sleep(0.001)

    def end(self) -> str:
        """Return how the writer ended, after all that it reported was read."""
        how = self._events.get(timeout=300)
        self.running = False
        return how

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        assert self.end() == f"ended {-signal.SIGKILL}"

    def close(self) -> None:
        if self.running:
            self.kill()
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self.process.stdin.close()
        self._listener.join(300)
        self.process.stdout.close()
        errors = self.process.stderr.read()
        self.process.stderr.close()
        assert self.process.wait(300) == 0
        assert not errors, errors


@pytest.fixture
def writers(tmp_path: Path) -> Iterator[Writers]:
    Store.create(tmp_path, FACTS).close()
    started = Writers(tmp_path)
    yield started
    started.close()


def stored(folder: Path) -> list[str]:
    with Store.open(folder) as store:
        return [f"{a}{e}{number}" for a, e in CELLS for number in store.done(a, e).tolist()]


def test_killed_again_and_again_nothing_reported_is_lost(tmp_path: Path, writers: Writers) -> None:
    stream = random.Random(11)
    known: set[str] = set()
    for time_ in range(TIMES):
        begin = len(writers.reported)
        batches = writers.batches
        writers.start(ENDLESS)
        # From the first moment to well into writing, checkpoints included; then anywhere within a batch.
        writers.wait_for(batches + (stream.choice((0, 1, 2, 5)) if time_ % 10 else 40))
        time.sleep(stream.uniform(0.0, 0.01))
        writers.kill()
        reported = set(writers.reported[begin:])
        assert not reported & known, "a finished trial was run again"
        found = stored(tmp_path)
        assert len(found) == len(set(found))
        assert known | reported <= set(found)
        # Stored, but killed before saying so, is as good.
        known = set(found)
    # Eight times 40 batches of four cells.
    assert len(known) > 8 * 40 * 4
    trials = 100 + max(int(each[2:]) for each in known)
    writers.start(trials)
    assert writers.end() == "ended 0"
    with Store.open(tmp_path) as store:
        store.check()
        table = store.scores()
        for cell in CELLS:
            assert store.done(*cell).tolist() == list(range(trials))
            assert table.cell(*cell).tolist() == [random.Random(f"{cell} {each}").random() for each in range(trials)]


def test_readers_see_whole_batches_while_another_process_writes(tmp_path: Path, writers: Writers) -> None:
    writers.start(ENDLESS, pause=0.002)
    with pytest.raises(StoreError, match=f"being written by process {writers.pid} on "):
        Store.open(tmp_path, write=True)
    seen: list[int] = []
    with Store.open(tmp_path) as reader:
        deadline = time.monotonic() + 300.0
        while len(set(seen)) <= 10:
            assert time.monotonic() < deadline
            reported = set(writers.reported)
            found = {f"{a}{e}{number}" for a, e in CELLS for number in reader.done(a, e).tolist()}
            assert reported <= found
            table = reader.scores()
            assert all(np.isfinite(cell).all() for row in table.cells for cell in row)
            seen.append(int(table.trials.sum()))
            with Store.open(tmp_path) as other:
                assert sum(other.counts().values()) >= seen[-1]
            for each in itertools.islice(reader.trials(["b"], ["f"]), 3):
                assert each.returns is not None
                assert each.returns.tolist() == [each.score] * 50
            time.sleep(0.01)
    writers.kill()
    assert seen == sorted(seen)


def test_a_killed_writer_leaves_no_lock(tmp_path: Path, writers: Writers) -> None:
    writers.start(ENDLESS, pause=0.01)
    writers.kill()
    assert str(writers.pid) in (tmp_path / LOCK_NAME).read_text()
    with Store.open(tmp_path, write=True) as store:
        assert sum(store.counts().values()) >= len(writers.reported)
