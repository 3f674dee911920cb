"""Trials in processes of their own: stopped, killed, orphaned, or never able to start."""

import dataclasses
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import untuned
from support import needs
from support.exporting import exported
from support.processes import children, eventually, python
from untuned import InvalidInput, MissingExtra, Study, collect_scores
from untuned.collect.engines.worker_process import WorkerProcess
from untuned.collect.store.store import Store
from untuned.errors import StoreError, UntunedError

TESTS = str(Path(__file__).parents[1])

pytestmark = pytest.mark.skipif(not hasattr(os, "killpg"), reason="run this on Linux or macOS: it sends signals")


@pytest.fixture(autouse=True)
def with_agents(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(TESTS)
    paths = os.pathsep.join([TESTS, *filter(None, [os.environ.get("PYTHONPATH")])])
    monkeypatch.setenv("PYTHONPATH", paths)


def study(use: str, trials: int = 2, **options: Any) -> Study:
    there = {"gymnasium": "CartPole-v1", "episodes": 3, "score_range": (0, 500)}
    return Study("s", [{"use": f"support.agents_of_users:{use}", "name": "it"}], [there], trials=trials, **options)


def stored(folder: Path) -> int:
    try:
        with Store.open(folder) as store:
            return sum(store.counts().values())
    except (InvalidInput, StoreError):
        return 0


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Callable[[str], "subprocess.Popen[str]"]]:
    """Start ``untuned collect`` in its own process group; remaining processes are killed at the end."""
    started: list[subprocess.Popen[str]] = []

    def start(use: str) -> "subprocess.Popen[str]":
        (tmp_path / "long.toml").write_text(
            f"""
            name = "long"
            trials = 1000
            algorithms = [{{ use = "support.agents_of_users:{use}", name = "it" }}]
            environments = [{{ gymnasium = "CartPole-v1", episodes = 3, score_range = [0, 500] }}]
            """
        )
        started.append(
            subprocess.Popen(
                [sys.executable, "-m", "untuned", "collect", "long.toml", "--workers", "2"],
                cwd=tmp_path,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
        )
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("to_all", [True, False])
def test_a_stop_makes_no_failures(to_all: bool, running: Any, tmp_path: Path) -> None:
    process = running("dawdles")
    eventually(lambda: stored(tmp_path / "long") > 1)
    (os.killpg if to_all else os.kill)(process.pid, signal.SIGTERM)
    _, said = process.communicate(timeout=300)
    assert process.returncode == 130
    assert "Rerun the command to resume" in said
    with Store.open(tmp_path / "long") as store:
        assert not any(store.failures().values())


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="run this on Linux: it looks in /proc")
def test_nobody_is_left_behind_when_the_program_is_killed(running: Any, tmp_path: Path) -> None:
    process = running("hangs_after_saying_so")
    # Both are in the middle of a trial.
    eventually(lambda: len(list(tmp_path.glob("hanging-*"))) == 2)
    left = {int(path.name.removeprefix("hanging-")) for path in tmp_path.glob("hanging-*")}
    assert children(process.pid) >= left
    process.kill()
    process.wait()
    eventually(lambda: not any(Path(f"/proc/{each}").exists() for each in left))


def test_a_script_without_a_guard_is_told_so(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import untuned\n"
        "there = {'gymnasium': 'CartPole-v1', 'episodes': 3, 'score_range': (0, 500)}\n"
        "study = untuned.Study('s', ['support.agents_of_users:guesses'], [there], trials=2)\n"
        "untuned.collect_scores(study, 'results', workers=1)\n"
    )
    finished = python("script.py", cwd=tmp_path)
    assert finished.returncode != 0
    assert "__main__" in finished.stderr.splitlines()[-1]
    assert stored(tmp_path / "results") == 0


@pytest.mark.parametrize(("use", "error"), [("refuses", InvalidInput), ("lacks", MissingExtra)])
def test_an_algorithm_that_cannot_run_there_is_a_mistake_and_no_result(
    use: str, error: type[Exception], tmp_path: Path
) -> None:
    with pytest.raises(error, match=r"not in such a place|untuned\[other\]"):
        collect_scores(study(use), tmp_path / "study", workers=1)
    assert stored(tmp_path / "study") == 0


def test_algorithms_may_have_processes_of_their_own(tmp_path: Path) -> None:
    found = collect_scores(study("delegates"), tmp_path / "study", workers=1)
    assert (found.complete, found.failed) == (True, 0)


def test_what_a_trial_leaves_behind_is_gone_where_trials_are_isolated(tmp_path: Path) -> None:
    def remembered(name: str, isolate: bool) -> list[int]:
        collect_scores(study("remembers", 3, isolate=isolate), tmp_path / name, workers=1)
        with Store.open(tmp_path / name) as store:
            return [int(trial.draws[0].value) for trial in store.trials()]

    assert remembered("shared", isolate=False) == [0, 1, 2]
    assert remembered("alone", isolate=True) == [0, 0, 0]


def test_one_thread_per_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    collect_scores(study("threads", 1), tmp_path / "study", workers=1)
    with Store.open(tmp_path / "study") as store:
        trial = store.trial("it", "CartPole-v1", 0)
    assert trial.failure is None
    assert "OMP_NUM_THREADS" not in os.environ


@pytest.mark.slow
def test_pytorch_is_seeded_in_the_first_trial_of_a_process_too(tmp_path: Path) -> None:
    needs.extra("torch", "sb3")
    for workers in (1, 2):
        collect_scores(study("draws_from_torch", 4), tmp_path / f"{workers}", workers=workers)
    one, two = (untuned.read_scores(tmp_path / f"{n}").cell("it", "CartPole-v1").tolist() for n in (1, 2))
    assert one == two
    assert len(set(one)) > 1


def test_a_study_that_is_complete_is_complete_even_if_somebody_wants_to_stop(tmp_path: Path) -> None:
    collect_scores(study("guesses"), tmp_path / "study", workers=1)
    assert collect_scores(study("guesses"), tmp_path / "study", stop=lambda: True).complete


def test_a_reader_that_goes_away_does_not_end_the_trials(tmp_path: Path) -> None:
    (tmp_path / "short.toml").write_text(
        'name = "s"\ntrials = 300\nalgorithms = ["sarsa"]\nenvironments = ["chain-10-stochastic"]\n'
    )
    command = f"({sys.executable} -m untuned collect short.toml --workers 1 2>&1; echo $? > code) | head -c 1"
    subprocess.run(command, shell=True, cwd=tmp_path, timeout=300, check=True, stdout=subprocess.DEVNULL)
    assert stored(tmp_path / "short") == 300
    closed = f"{sys.executable} -m untuned collect short.toml --trials 301 2>&-"
    subprocess.run(closed, shell=True, cwd=tmp_path, timeout=300, check=True, stdout=subprocess.DEVNULL)
    assert stored(tmp_path / "short") == 301


# Compiled pairs with short trials.

COMPILED = Study(
    "c", ["sarsa", "q-parl2"], ["chain-10-stochastic", "gridworld-5-stochastic"], trials=30, seed=3, keep="returns"
)


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Have everything that may go to other processes go there; the list gets the algorithm of each trial that went."""
    monkeypatch.setattr("untuned.collect.engines.schedule._SHORT", 1e9)
    monkeypatch.setattr("untuned.collect.engines.schedule._WORTH", -1.0)
    went: list[str] = []
    real = WorkerProcess.do_all

    def do_all(self: WorkerProcess, cell: Any, trials: Any, stop: Any) -> Any:
        went.extend([cell.algorithm] * len(trials))
        return real(self, cell, trials, stop)

    monkeypatch.setattr(WorkerProcess, "do_all", do_all)
    return went


def test_short_trials_are_the_same_in_another_process(eager: list[str], tmp_path: Path) -> None:
    collect_scores(COMPILED, tmp_path / "one", workers=1)
    assert not eager
    collect_scores(COMPILED, tmp_path / "two", workers=2)
    # The first of each cell shows how long they take; the other worker may have begun a second one by then.
    assert all(2 * 28 <= eager.count(algorithm) <= 2 * 29 for algorithm in ("sarsa", "q-parl2"))
    assert exported(tmp_path / "two") == exported(tmp_path / "one")


def test_what_cannot_go_to_another_process_stays(eager: list[str], tmp_path: Path) -> None:
    ours = untuned.algorithm("sarsa")
    local = dataclasses.replace(ours, name="local", build=lambda environment, draw: ours.build(environment, draw))
    study = dataclasses.replace(COMPILED, algorithms=[local, "q"], environments=["chain-10-stochastic"])
    assert collect_scores(study, tmp_path / "study", workers=2).complete
    assert set(eager) == {"q"}
    assert 28 <= len(eager) <= 29


def test_a_stop_reaches_other_processes(eager: list[str], tmp_path: Path) -> None:
    long = dataclasses.replace(COMPILED, environments=["gridworld-10-stochastic"], trials=100_000)
    found = collect_scores(long, tmp_path / "study", workers=2, stop=lambda: len(eager) > 3)
    assert not found.complete
    assert found.stored == stored(tmp_path / "study") > 0


def test_a_process_that_dies_all_the_same_is_told_of(
    eager: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = WorkerProcess.prepare

    def prepare(self: WorkerProcess, cell: Any, stop: Any) -> Any:
        key = real(self, cell, stop)
        assert self._process is not None
        self._process.kill()
        self._process.join(5.0)
        return key

    monkeypatch.setattr(WorkerProcess, "prepare", prepare)
    with pytest.raises(UntunedError, match=r"died 5 times \(by SIGKILL\): "):
        collect_scores(COMPILED, tmp_path / "study", workers=2)
    monkeypatch.undo()
    assert stored(tmp_path / "study") >= 1
    assert collect_scores(COMPILED, tmp_path / "study", workers=2).complete


def test_a_script_of_compiled_pairs_needs_no_guard(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import untuned\n"
        "from untuned.collect.engines import schedule\n"
        "schedule._SHORT, schedule._WORTH = 1e9, -1.0\n"
        "study = untuned.Study('s', ['sarsa', 'q'], ['chain-10-stochastic'], trials=50)\n"
        "print(untuned.collect_scores(study, 'results', workers=2).stored)\n"
    )
    finished = python("script.py", cwd=tmp_path, check=True)
    assert (finished.stdout, finished.stderr) == ("100\n", "")
