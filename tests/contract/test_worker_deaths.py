"""Worker processes that are killed, crash, run out of memory, fork, or are written into by their algorithm."""

import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support import agents_that_end_processes
from support.exporting import exported
from support.processes import children, eventually, runs
from untuned import InvalidInput, Study, collect_scores
from untuned.collect.engines import worker_process
from untuned.collect.engines.answers import Answers, Unreadable, send_answer
from untuned.collect.engines.worker_process import ATTEMPTS, WorkerProcess, portable
from untuned.collect.store.store import Store
from untuned.collect.trial import Trial
from untuned.errors import MissingExtra, UnknownName, UntunedError

TESTS = str(Path(__file__).parents[1])

pytestmark = pytest.mark.skipif(not hasattr(os, "killpg"), reason="run this on Linux or macOS: it sends signals")

on_linux = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="run this on Linux: it looks in /proc")


@pytest.fixture(autouse=True)
def with_agents(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.syspath_prepend(TESTS)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([TESTS, *filter(None, [os.environ.get("PYTHONPATH")])]))
    monkeypatch.chdir(tmp_path)
    # Nothing stops these studies: no time for a signal that is meant for the whole program.
    monkeypatch.setattr(worker_process, "_GRACE", 0.0)


def study(*uses: str, trials: int = 2, **options: Any) -> Study:
    there = {"gymnasium": "CartPole-v1", "episodes": 3, "score_range": (0, 500)}
    algorithms = [{"use": f"support.agents_that_end_processes:{use}", "name": use} for use in uses]
    return Study("s", algorithms, [there], trials=trials, keep="returns", **options)


def trials_of(folder: Path) -> list[Trial]:
    with Store.open(folder) as store:
        return list(store.trials())


def attempts() -> int:
    return len(Path("attempts").read_text())


# Deaths


def test_a_trial_whose_process_is_killed_is_run_again(tmp_path: Path) -> None:
    found = collect_scores(study("is_killed_once"), tmp_path / "study", workers=1)
    assert (found.complete, found.failed) == (True, 0)
    assert [len(path.read_text()) for path in Path().glob("attempts-*")] == [2, 2]
    # The files say that there was an attempt: nothing is killed now.
    collect_scores(study("is_killed_once"), tmp_path / "again", workers=1)
    assert exported(tmp_path / "study") == exported(tmp_path / "again")


@pytest.mark.parametrize(
    ("use", "said", "expected"),
    [
        ("is_killed", f"its process died {ATTEMPTS} times (by SIGKILL)", ATTEMPTS),
        ("crashes", f"its process died {ATTEMPTS} times (by SIGSEGV)", ATTEMPTS),
        ("exits", "its process died (exit code 3)", 1),
    ],
)
def test_a_repeated_death_is_the_trials_failure_and_says_which(
    use: str, said: str, expected: int, tmp_path: Path
) -> None:
    collect_scores(study(use, trials=1), tmp_path / "study", workers=1)
    (trial,) = trials_of(tmp_path / "study")
    assert trial.failure == said
    assert attempts() == expected


def test_a_process_that_is_killed_before_it_begins_is_started_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed: list[int] = []
    real = WorkerProcess._start

    def start(self: WorkerProcess) -> None:
        real(self)
        assert self._process is not None
        if len(killed) < 3:
            killed.append(self._process.pid or 0)
            self._process.kill()

    monkeypatch.setattr(WorkerProcess, "_start", start)
    found = collect_scores(study("guesses_lean"), tmp_path / "study", workers=1)
    assert (found.complete, found.failed, len(killed)) == (True, 0, 3)
    monkeypatch.setattr(worker_process, "_STARTS", 2)
    killed.clear()
    with pytest.raises(UntunedError, match=r"died 2 times \(by SIGKILL\) before it began"):
        collect_scores(study("guesses_lean", trials=3), tmp_path / "study", workers=1)


def killer(program: "subprocess.Popen[str]", kills: int, seed: int) -> Iterator[int]:
    """Kill a random worker of a program at random times, and yield how many were killed so far."""
    rng = random.Random(seed)
    done = 0
    while done < kills and program.poll() is None:
        time.sleep(rng.uniform(0.1, 1.0))
        there = sorted(children(program.pid))
        if there:
            done += 1
            os.kill(rng.choice(there), signal.SIGKILL)
            yield done


@on_linux
@pytest.mark.kills
@pytest.mark.slow
def test_random_kills_of_workers_change_no_byte(tmp_path: Path) -> None:
    # UNTUNED_KILLS=50 for the long form.
    kills = int(os.environ.get("UNTUNED_KILLS", "6"))
    there = '{ gymnasium = "CartPole-v1", episodes = 3, score_range = [0, 500] }'
    text = f"""
        name = "long"
        trials = {4 * kills}
        keep = "returns"
        algorithms = [{{ use = "support.agents_that_end_processes:takes_a_while", name = "it" }}]
        environments = [{there}]
    """
    Path("long.toml").write_text(text)
    program = subprocess.Popen(
        [sys.executable, "-m", "untuned", "collect", "long.toml", "--workers", "2", "--quiet"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    killed = max(killer(program, kills, seed=1), default=0)
    _, said = program.communicate(timeout=1800)
    assert (program.returncode, said) == (0, "")
    assert killed == kills
    collect_scores(Study.parse(text), tmp_path / "whole", workers=2)
    assert exported(tmp_path / "long") == exported(tmp_path / "whole")


def test_a_thread_that_an_algorithm_left_keeps_nobody_waiting(tmp_path: Path) -> None:
    begin = time.monotonic()
    collect_scores(study("leaves_a_thread_and_interrupts", trials=1), tmp_path / "study", workers=1)
    assert [trial.failure for trial in trials_of(tmp_path / "study")] == ["its process died (exit code 1)"]
    assert time.monotonic() - begin < agents_that_end_processes.LONG


# Memory


@on_linux
@pytest.mark.skipif(sys.platform != "linux", reason="run this on Linux: others cannot limit memory")
def test_a_trial_that_exceeds_its_memory_has_failed_and_says_so(tmp_path: Path) -> None:
    one = study("takes_memory", trials=3, memory="400 MiB", seed=1)
    collect_scores(one, tmp_path / "study", workers=1)
    failures = [trial.failure for trial in trials_of(tmp_path / "study")]
    lucky = [trial.draws[0].value >= 0.5 for trial in trials_of(tmp_path / "study")]
    assert lucky == [failure is None for failure in failures]
    assert 0 < sum(lucky) < 3
    assert all(
        re.match(
            r"took more than its memory limit of 400 MiB \(.*MemoryError: .*agents_that_end_processes.py:", failure
        )
        for failure in failures
        if failure is not None
    )
    collect_scores(one, tmp_path / "two", workers=2)
    assert exported(tmp_path / "two") == exported(tmp_path / "study")
    with pytest.raises(InvalidInput, match=r"memory limit .* was 400 MiB and is now None.*ended by the old one"):
        collect_scores(study("takes_memory", trials=5, seed=1), tmp_path / "study", workers=1)
    collect_scores(study("guesses_lean", trials=1), tmp_path / "third", workers=1)
    with pytest.raises(InvalidInput, match=r"was None and is now 1 GiB.*may have taken more than the new one"):
        collect_scores(study("guesses_lean", memory="1 GiB"), tmp_path / "third", workers=1)


@pytest.mark.skipif(sys.platform != "linux", reason="run this on Linux: others cannot limit memory")
def test_a_death_with_a_memory_limit_keeps_the_limit(tmp_path: Path) -> None:
    collect_scores(study("exits", trials=1, memory="2 GiB"), tmp_path / "study", workers=1)
    assert trials_of(tmp_path / "study")[0].failure == "its process died (exit code 3), with a memory limit of 2 GiB"
    with pytest.raises(InvalidInput, match=r"was 2 GiB and is now 3 GiB.*may have been ended by the old one"):
        collect_scores(study("exits", trials=1, memory="3 GiB"), tmp_path / "study", workers=1)


@pytest.mark.skipif(sys.platform != "linux", reason="run this on Linux: others cannot limit memory")
def test_what_earlier_trials_left_does_not_count(tmp_path: Path) -> None:
    # Two leave more together than one may take.
    found = collect_scores(study("leaves_memory", trials=3, memory="800 MiB"), tmp_path / "study", workers=1)
    assert (found.complete, found.failed) == (True, 0)
    assert len(list(Path().glob("process-*"))) > 1


@pytest.mark.skipif(sys.platform != "linux", reason="run this on Linux: others cannot limit memory")
def test_a_limit_that_no_process_can_keep_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"memory: .* may take 10 MiB, and its process takes \d+ MiB before"):
        collect_scores(study("guesses_lean", memory="10 MiB"), tmp_path / "study", workers=1)


@pytest.mark.skipif(sys.platform != "linux", reason="run this on Linux: others cannot limit memory")
def test_a_process_that_cannot_open_files_is_replaced(tmp_path: Path) -> None:
    found = collect_scores(study("leaves_no_descriptors", memory="1 GiB"), tmp_path / "study", workers=1)
    assert (found.complete, found.failed) == (True, 0)


# Copies, daemons, garbage


def test_a_copy_that_an_algorithm_forks_answers_nothing(tmp_path: Path) -> None:
    collect_scores(study("forks", trials=6), tmp_path / "one", workers=1)
    collect_scores(study("forks", trials=6), tmp_path / "two", workers=2)
    assert exported(tmp_path / "one") == exported(tmp_path / "two")
    assert [trial.failure for trial in trials_of(tmp_path / "one")] == [None] * 6


def test_a_copy_in_the_programs_own_process_ends(tmp_path: Path) -> None:
    # The copy would write to the store as well. Not in this process: where this fails, it would run tests.
    code = (
        "import test_worker_deaths as t\n"
        "print(t.collect_scores(t.study('forks', trials=6), 'here', engine='in-process').complete)\n"
    )
    paths = os.pathsep.join([os.environ["PYTHONPATH"], str(Path(__file__).parent)])
    finished = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    assert finished.stdout == "True\n"
    collect_scores(study("forks", trials=6), tmp_path / "one", workers=1)
    assert exported(tmp_path / "one") == exported(tmp_path / "here")


def test_a_pipe_that_a_copy_holds_open_keeps_nobody_waiting(tmp_path: Path) -> None:
    collect_scores(study("leaves_a_copy_and_is_killed", trials=1), tmp_path / "study", workers=1)
    (trial,) = trials_of(tmp_path / "study")
    assert trial.failure == f"its process died {ATTEMPTS} times (by SIGKILL)"


def daemons() -> list[int]:
    return [int(path.name.removeprefix("daemon-")) for path in Path().glob("daemon-*")]


@on_linux
def test_what_an_algorithm_starts_in_another_session_ends_with_the_run(tmp_path: Path) -> None:
    collect_scores(study("starts_a_daemon"), tmp_path / "study", workers=1)
    assert len(daemons()) == 2
    eventually(lambda: not any(map(runs, daemons())))


@on_linux
@pytest.mark.kills
@pytest.mark.parametrize("use", ["starts_a_daemon_and_hangs", "starts_a_daemon"])
def test_and_with_a_program_that_is_killed(use: str, tmp_path: Path) -> None:
    code = (
        "import test_worker_deaths as t, pathlib\n"
        "if __name__ == '__main__':\n"
        f"    t.collect_scores(t.study('{use}', trials=1000), 'study', workers=1)\n"
    )
    Path("script.py").write_text(code)
    paths = os.pathsep.join([os.environ["PYTHONPATH"], str(Path(__file__).parent)])
    program = subprocess.Popen([sys.executable, "script.py"], env={**os.environ, "PYTHONPATH": paths})
    try:
        eventually(lambda: bool(daemons()))
        assert all(map(runs, daemons()))
    finally:
        program.kill()
        program.wait()
    eventually(lambda: not any(map(runs, daemons())))


def test_an_algorithm_can_end_what_it_starts(tmp_path: Path) -> None:
    collect_scores(study("ends_a_helper", trials=1), tmp_path / "study", workers=1)
    assert [trial.failure for trial in trials_of(tmp_path / "study")] == [None]


def test_what_is_not_ours_on_the_pipe_is_skipped(tmp_path: Path) -> None:
    found = collect_scores(study("writes_everywhere"), tmp_path / "study", workers=1)
    assert (found.complete, found.failed) == (True, 0)


def test_answers_are_found_among_garbage() -> None:
    import multiprocessing

    token = bytes(range(16))
    ours, theirs = multiprocessing.Pipe()
    answers = Answers(ours, token)
    rng = random.Random(3)

    def send() -> None:
        for number in range(200):
            os.write(theirs.fileno(), rng.randbytes(rng.randrange(200)) + token[: rng.randrange(15)])
            send_answer(theirs, token, (number, "x" * rng.randrange(5000)))

    sender = threading.Thread(target=send)
    sender.start()
    received: list[Any] = []
    while len(received) < 200:
        if (answer := answers.next(10.0)) is not None:
            received.append(answer[0])
    sender.join()
    assert [number for number, _ in received] == list(range(200))
    send_answer(theirs, token, 3)
    damaged = bytearray(os.read(ours.fileno(), 10_000))
    damaged[-1] ^= 1
    os.write(theirs.fileno(), damaged)
    with pytest.raises(Unreadable):
        answers.next(10.0)
    theirs.close()
    with pytest.raises(EOFError):
        answers.next(10.0)
    ours.close()


@pytest.mark.parametrize(
    ("use", "said"),
    [
        ("refuses_in_its_own_words", "1 dimensions, and 2 are needed"),
        ("refuses_with_one_argument", "1 dimensions are too many"),
    ],
)
def test_an_error_with_a_constructor_of_its_own_keeps_its_message(use: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as found:
        collect_scores(study(use), tmp_path / "study", workers=1)
    assert (type(found.value), str(found.value)) == (InvalidInput, said)


class Mute(UntunedError):
    def __str__(self) -> str:
        raise RuntimeError("no words")


class Own(MissingExtra):
    def __init__(self) -> None:
        super().__init__("this", "other")


@pytest.mark.parametrize(
    ("error", "kind", "said"),
    [
        (UnknownName("bird", "owl", ["crow"]), UnknownName, "no bird"),
        (MissingExtra("a", "b"), MissingExtra, "untuned"),
        (Own(), UntunedError, "untuned"),
        (Mute(), UntunedError, "without a text"),
        (ZeroDivisionError("by zero"), ZeroDivisionError, "by zero"),
        (np.linalg.LinAlgError("singular"), UntunedError, "LinAlgError: singular"),
    ],
)
def test_errors_that_leave_a_process(error: Exception, kind: type[Exception], said: str) -> None:
    found = portable(error)
    assert type(found) is kind
    assert said in str(found)
