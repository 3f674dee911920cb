"""Collecting: the same numbers with every engine, no loss of results, and a message for every mistake."""

import dataclasses
import itertools
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import untuned
from support.exporting import exported as csv_of
from untuned import InvalidInput, Study, collect_scores
from untuned.cli.main import main
from untuned.collect.engines.engine import Numbers, Stop, Work
from untuned.collect.session import Session
from untuned.collect.shard import Shard
from untuned.collect.store.store import Store
from untuned.errors import AlgorithmFails, StoreError, UnknownName, UntunedError

STUDY = Study(
    "small",
    algorithms=["sarsa", "q", "sarsa-parl2"],
    environments=["chain-10-stochastic", {"name": "gridworld-5-stochastic", "trials": 7}],
    trials=12,
    seed=5,
    keep="returns",
)
THEIRS = {"gymnasium": "CartPole-v1", "episodes": 3, "score_range": (0, 500)}


def exported(folder: Path, capfdbinary: pytest.CaptureFixture[bytes], form: str = "csv") -> bytes:
    with pytest.raises(SystemExit) as ending:
        main(["export", str(folder), "--returns", "--format", form])
    assert ending.value.code == 0
    return capfdbinary.readouterr().out


def test_the_same_bytes_however_it_is_collected(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    for workers in (1, 2, 4):
        found = collect_scores(STUDY, tmp_path / f"{workers}", workers=workers)
        assert found.complete
        assert found.stored == found.wanted == 3 * (12 + 7)
    one = exported(tmp_path / "1", capfdbinary)
    assert one.count(b"\n") == 1 + 57
    assert exported(tmp_path / "2", capfdbinary) == one
    assert exported(tmp_path / "4", capfdbinary) == one

    for part in (1, 2, 3):
        assert collect_scores(STUDY, tmp_path / f"part-{part}", shard=f"{part}/3").complete
    with pytest.raises(SystemExit):
        main(["merge", str(tmp_path / "merged"), *(str(tmp_path / f"part-{part}") for part in (3, 1, 2))])
    capfdbinary.readouterr()
    assert exported(tmp_path / "merged", capfdbinary) == one

    seen: list[int] = []
    interrupted = collect_scores(
        STUDY, tmp_path / "again", workers=2, stop=lambda: len(seen) > 0, watch=lambda _: seen.append(1)
    )
    assert not interrupted.complete
    # More trials later resume, too.
    more = dataclasses.replace(STUDY, trials=5, environments=["chain-10-stochastic", STUDY.environments[1]])
    assert collect_scores(more, tmp_path / "again", workers=1).complete
    assert collect_scores(STUDY, tmp_path / "again", workers=2).complete
    assert exported(tmp_path / "again", capfdbinary) == one
    assert exported(tmp_path / "again", capfdbinary, "json") == exported(tmp_path / "2", capfdbinary, "json")


def test_a_study_judged(tmp_path: Path) -> None:
    evaluation = untuned.run(STUDY, tmp_path / "study", workers=2)
    assert evaluation.algorithms == ("sarsa", "q", "sarsa-parl2")
    assert evaluation.trials_ae.tolist() == [[12, 7]] * 3
    assert evaluation.ranges[0] == untuned.environment("chain-10-stochastic").score_range
    assert untuned.evaluate(tmp_path / "study").to_dict()["algorithms"] == evaluation.rows()


def test_definitions_that_are_the_same_are_declared_so(tmp_path: Path) -> None:
    study = dataclasses.replace(STUDY, algorithms=["sarsa", "sarsa-s", "q"], trials=3)
    collect_scores(study, tmp_path / "study", workers=1)
    assert untuned.read_scores(tmp_path / "study").kinds[0].tolist() == [0, 0, 2]


# What may change between two runs, and what may not.


def test_a_change_that_changes_results_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    collect_scores(STUDY, folder, workers=1)
    for change, words in (
        ({"seed": 6}, "the seed"),
        ({"metric": "final-return"}, "the metric"),
        ({"precision": "float32"}, "the precision"),
    ):
        with pytest.raises(InvalidInput, match=words):
            collect_scores(dataclasses.replace(STUDY, **change), folder)
    assert collect_scores(STUDY, folder, workers=1).complete


def own(version: int) -> untuned.Definition:
    return dataclasses.replace(untuned.algorithm("sarsa"), name="mine", version=version)


def test_a_changed_definition_is_refused_or_replaces_the_old_one(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    study = dataclasses.replace(STUDY, algorithms=["q", own(1)])
    collect_scores(study, folder, workers=1)
    changed = dataclasses.replace(study, algorithms=["q", own(2)])
    with pytest.raises(InvalidInput, match=r"'mine' has changed.*version was '1', is '2'.*--replace"):
        collect_scores(changed, folder)
    collect_scores(changed, folder, workers=1, replace=True)
    # Replaced once, it resumes without the flag.
    more = dataclasses.replace(changed, trials=14)
    assert collect_scores(more, folder, workers=1).complete
    with Store.open(folder) as store:
        counts = store.counts()
        store.check()
    chain = "chain-10-stochastic"
    assert (counts["mine", chain], counts["mine~1", chain], counts["q", chain]) == (14, 12, 14)
    # The old trials are kept, but are not compared.
    assert set(untuned.evaluate(folder).algorithms) == {"q", "mine"}


def test_a_dropped_algorithm_is_out_of_every_comparison_and_comes_back_with_its_trials(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    study = dataclasses.replace(STUDY, algorithms=["q", "sarsa", "sarsa-s"])
    collect_scores(study, folder, workers=1)
    before = csv_of(folder)
    with Session.at(folder, write=True) as session:
        with pytest.raises(UnknownName, match="sarsaa"):
            session.drop("sarsaa")
        assert session.drop("sarsa") == 12 + 7
    assert untuned.read_scores(folder).algorithms == ("q", "sarsa-s")
    assert b"sarsa," not in csv_of(folder)
    collected = collect_scores(study, folder, workers=1)
    assert collected.complete
    assert csv_of(folder) == before


def test_trials_may_be_given_per_cell(tmp_path: Path) -> None:
    with STUDY.open(tmp_path / "study") as session:
        first, second = [(cell.algorithm, cell.environment) for cell in session.cells][:2]
        assert session.collect({first: 3}, workers=1).stored == 3
        assert session.collect({first: 3, second: 2}, workers=1).stored == 5
        counts = {(row.algorithm, row.environment): (row.trials, row.wanted) for row in session.status()}
        assert (counts[first], counts[second]) == ((3, 3), (2, 2))
        assert set(counts.values()) == {(3, 3), (2, 2), (0, 0)}
        with pytest.raises(InvalidInput, match="no cell 'q' on 'nowhere'"):
            session.collect({("q", "nowhere"): 1})
        assert session.collect(workers=1).complete
    collect_scores(STUDY, tmp_path / "other", workers=2)
    assert csv_of(tmp_path / "study") == csv_of(tmp_path / "other")


def test_fewer_trials_leave_alone_what_is_there(tmp_path: Path) -> None:
    with STUDY.open(tmp_path / "study") as session:
        cells = [(cell.algorithm, cell.environment) for cell in session.cells]
        session.collect(dict.fromkeys(cells, 2) | {cells[0]: 4}, workers=1)
        before = csv_of(tmp_path / "study")
        fewer = session.collect(dict.fromkeys(cells, 1) | {cells[1]: 0}, workers=1)
        assert (fewer.complete, fewer.stored, fewer.wanted) == (True, 5, 5)
        assert csv_of(tmp_path / "study") == before
        assert session.scores().trials.sum() == 14


def test_only_the_rounds_of_a_race_are_collected(tmp_path: Path) -> None:
    with STUDY.open(tmp_path / "study") as session:
        cells = [(cell.algorithm, cell.environment) for cell in session.cells]
        algorithms, environments = session.names
        assert session.race_log() == []
        # The first entry is there before any trial is.
        declared = {"algorithms": algorithms, "environments": environments, "weights": "uniform", "delta": 0.05}
        session.log_race({"kind": "declared", **declared})
        for number in (2, 4):
            numbers = dict.fromkeys(cells, 2) | {cells[0]: number}
            session.log_race({"kind": "round", "numbers": [[numbers[a, e] for e in environments] for a in algorithms]})
            assert session.collect(numbers, workers=1).complete
        rounds = session.scores().rounds
        assert rounds is not None
        assert rounds.sum(axis=(1, 2)).tolist() == [12, 14]
        for others in (3, {cells[0]: 4}, dict.fromkeys(cells, 4)):
            with pytest.raises(InvalidInput, match="was raced"):
                session.collect(others, workers=1)
        assert session.scores().trials.sum() == 14
    with Session.at(tmp_path / "study") as session, pytest.raises(StoreError, match="open for reading"):
        session.log_race({"kind": "ended"})


def test_the_file_the_folder_and_the_results_are_the_same_study(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text('name = "s"\nalgorithms = ["q", "sarsa"]\nenvironments = ["chain-10-stochastic"]\ntrials = 3\n')
    with pytest.raises(InvalidInput, match=r"has no results.*untuned run"):
        untuned.read_scores(file)
    collect_scores(file, workers=1)
    tables = [untuned.read_scores(path) for path in (file, tmp_path / "s", tmp_path / "s" / "results.sqlite")]
    assert all(table.trials.tolist() == [[3], [3]] for table in tables)
    assert [untuned.read_histories(path).facts for path in (file, tmp_path / "s")] == 2 * [
        untuned.read_histories(tmp_path / "s" / "results.sqlite").facts
    ]


class Sequential:
    """An engine of a few lines: no threads, no processes."""

    def run(self, work: Sequence[Work[Any]], todo: Sequence[Numbers], stop: Stop) -> Iterator[Sequence[Any]]:
        for each, numbers in zip(work, todo, strict=True):
            for number in numbers.tolist():
                if stop():
                    return
                yield [each.do(number, stop)]


def test_an_engine_of_ones_own_gives_the_same_study_and_can_be_stopped(tmp_path: Path) -> None:
    calls = itertools.count()
    stopped = collect_scores(STUDY, tmp_path / "own", engine=Sequential(), stop=lambda: next(calls) > 20)
    assert not stopped.complete
    assert 0 < stopped.stored < stopped.wanted
    assert collect_scores(STUDY, tmp_path / "own", engine=Sequential()).complete
    assert collect_scores(STUDY, tmp_path / "in-process", engine="in-process").complete
    collect_scores(STUDY, tmp_path / "local", workers=2)
    assert csv_of(tmp_path / "own") == csv_of(tmp_path / "in-process") == csv_of(tmp_path / "local")


class Failing(Sequential):
    """An engine that breaks after some results."""

    def run(self, work: Sequence[Work[Any]], todo: Sequence[Numbers], stop: Stop) -> Iterator[Sequence[Any]]:
        yield from itertools.islice(super().run(work, todo, stop), 5)
        raise UntunedError("out of order")


def test_what_an_engine_finished_before_it_broke_is_stored(tmp_path: Path) -> None:
    with pytest.raises(UntunedError, match="out of order"):
        collect_scores(STUDY, tmp_path / "study", engine=Failing())
    with Store.open(tmp_path / "study") as store:
        assert sum(store.counts().values()) == 5


def test_a_changed_environment_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    theirs = {**THEIRS, "name": "pole"}
    study = Study("s", algorithms=[guesses_of("a")], environments=[theirs, {**THEIRS, "name": "same"}], trials=1)
    collect_scores(study, folder, workers=1)
    longer = dataclasses.replace(study, environments=[{**theirs, "episodes": 4}, {**THEIRS, "name": "same"}])
    with pytest.raises(InvalidInput, match=r"'pole' has changed.*episodes was 3, is 4"):
        collect_scores(longer, folder)


def test_what_is_taken_out_stays_and_is_not_compared(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    collect_scores(STUDY, folder, workers=1)
    collect_scores(dataclasses.replace(STUDY, algorithms=["sarsa", "q"]), folder, workers=1)
    assert untuned.evaluate(folder).algorithms == ("sarsa", "q")
    with Store.open(folder) as store:
        assert store.counts()["sarsa-parl2", "chain-10-stochastic"] == 12
    collect_scores(STUDY, folder, workers=1)
    assert untuned.evaluate(folder).algorithms == ("sarsa", "q", "sarsa-parl2")


# Algorithms in Python.


def guesses_of(name: str, of: str = "guesses") -> dict[str, str]:
    return {"use": f"support.agents_of_users:{of}", "name": name}


@pytest.fixture
def with_agents(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1]))


pytestmark = pytest.mark.usefixtures("with_agents")


def python_study(*algorithms: Any, **options: Any) -> Study:
    return Study("theirs", algorithms=algorithms, environments=[THEIRS, "chain-10-stochastic"], **options)


def test_algorithms_in_python_run_in_processes_and_repeat(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    study = python_study(guesses_of("one"), guesses_of("two"), trials=3, keep="returns")
    for workers in (1, 2):
        assert collect_scores(study, tmp_path / f"{workers}", workers=workers).complete
    one = exported(tmp_path / "1", capfdbinary)
    assert exported(tmp_path / "2", capfdbinary) == one
    with Store.open(tmp_path / "1") as store:
        trial = store.trial("one", "CartPole-v1", 2)
    assert trial.returns is not None
    assert trial.returns.size == 3
    assert trial.score == pytest.approx(trial.returns.mean())
    assert [each.name for each in trial.draws] == ["lean"]


def test_trials_that_fail_are_recorded_and_count_the_worst(tmp_path: Path) -> None:
    study = python_study(
        guesses_of("good"),
        guesses_of("unlucky", "raises_sometimes"),
        guesses_of("dead", "dies"),
        guesses_of("idle", "does_nothing"),
        trials=4,
    )
    found = collect_scores(study, tmp_path / "study", workers=2, keep_going=True)
    assert found.complete
    with Store.open(tmp_path / "study") as store:
        messages = {
            name: {store.trial(name, "CartPole-v1", number).failure for number in range(4)}
            for name in ("good", "unlucky", "dead", "idle")
        }
        failures = store.failures()
    assert messages["good"] == {None}
    assert None in messages["unlucky"]
    assert any("RuntimeError: bad luck" in str(each) for each in messages["unlucky"])
    assert messages["dead"] == {"its process died (exit code 3)"}
    assert all("0 of 3 episodes" in str(each) for each in messages["idle"])
    assert failures["dead", "CartPole-v1"] == 4
    table = untuned.read_scores(tmp_path / "study")
    assert table.cell("dead", "CartPole-v1").tolist() == [0.0] * 4
    worst = untuned.environment("chain-10-stochastic").score_range
    assert worst is not None
    assert table.cell("dead", "chain-10-stochastic").tolist() == [worst[0]] * 4
    evaluation = untuned.evaluate(table)
    assert evaluation.order[0] == 0


@pytest.mark.parametrize("engine", ["local", "in-process"])
def test_an_algorithm_that_fails_in_all_of_its_first_trials_stops_the_run(engine: str, tmp_path: Path) -> None:
    # So many that no engine runs them between two looks at what has failed.
    study = python_study(guesses_of("good"), guesses_of("mine", "always_raises"), trials=20_000)
    folder = tmp_path / "study"
    with pytest.raises(AlgorithmFails) as stopped:
        collect_scores(study, folder, engine=engine, workers=1)
    with Store.open(folder) as store:
        counts = sum(count for (name, _), count in store.counts().items() if name == "mine")
    assert 5 <= counts < 40_000
    message = str(stopped.value)
    for words in (
        "'mine' failed in all of its first ",
        "CartPole-v1",
        "The first failure, trial 0 of 'mine' on 'CartPole-v1': RuntimeError: no such layer (agents_of_users.py:",
        f"Finished trials are in {folder}",
        "--replace",
        "--keep-going (keep_going=True)",
    ):
        assert words in message
    # What is there counts, so nothing more is run.
    with pytest.raises(AlgorithmFails, match="'mine' failed in all of its first"):
        collect_scores(study, folder, engine=engine, workers=1)
    with Store.open(folder) as store:
        assert sum(count for (name, _), count in store.counts().items() if name == "mine") == counts


def test_failures_of_earlier_sessions_count_and_may_be_collected_all_the_same(tmp_path: Path) -> None:
    algorithms = guesses_of("good"), guesses_of("mine", "always_raises")
    folder = tmp_path / "study"
    # Two trials in each of two environments are too few to stop for.
    assert collect_scores(python_study(*algorithms, trials=2), folder, workers=1).complete
    with pytest.raises(AlgorithmFails, match=r"first \d+ trials \(CartPole-v1 and chain-10-stochastic\)"):
        collect_scores(python_study(*algorithms, trials=4), folder, workers=1)
    found = collect_scores(python_study(*algorithms, trials=4), folder, workers=1, keep_going=True)
    assert found.complete
    # Where nothing is left to run, there is nothing to stop.
    evaluation = untuned.run(python_study(*algorithms, trials=4), folder, workers=1)
    assert evaluation.failures == [
        {"algorithm": "mine", "failed": 8, "trials": 8, "environments": ["CartPole-v1", "chain-10-stochastic"]}
    ]
    with pytest.raises(AlgorithmFails):
        untuned.run(python_study(*algorithms, trials=5), folder, workers=1)
    assert untuned.run(python_study(*algorithms, trials=5), folder, workers=1, keep_going=True).failures


def test_one_trial_that_succeeds_is_enough_to_run_the_rest(tmp_path: Path) -> None:
    study = python_study(guesses_of("mine", "raises_four_times"), trials=4)
    found = collect_scores(study, tmp_path / "study", workers=1)
    assert (found.complete, found.failed) == (True, 4)


def test_a_run_that_is_stopped_is_not_called_failing(tmp_path: Path) -> None:
    study = python_study(guesses_of("mine", "always_raises"), trials=20_000)
    seen: list[int] = []
    found = collect_scores(
        study,
        tmp_path / "study",
        engine="in-process",
        stop=lambda: bool(seen),
        watch=lambda progress: seen.append(1) if progress.stored else None,
    )
    assert not found.complete
    assert found.stored == found.failed >= 5


def test_a_trial_that_takes_too_long_is_ended_and_recorded(tmp_path: Path) -> None:
    study = python_study(guesses_of("stuck", "hangs"), trials=1, time_limit=0.5)
    assert collect_scores(study, tmp_path / "study", workers=2).complete
    with Store.open(tmp_path / "study") as store:
        for environment in ("CartPole-v1", "chain-10-stochastic"):
            assert "time limit of 0.5 seconds" in str(store.trial("stuck", environment, 0).failure)


def test_failures_may_be_kept_from_being_judged(tmp_path: Path) -> None:
    study = python_study(guesses_of("good"), guesses_of("dead", "dies"), trials=1, failures="error")
    collect_scores(study, tmp_path / "study", workers=1)
    with pytest.raises(InvalidInput, match="'dead' on"):
        untuned.evaluate(tmp_path / "study")


def test_a_metric_of_ones_own(tmp_path: Path) -> None:
    study = python_study(
        guesses_of("one"),
        trials=2,
        metric="support.agents_of_users:best",
        score_range=(-1000.0, 1000.0),
        keep="returns",
    )
    collect_scores(study, tmp_path / "study", workers=1)
    with Store.open(tmp_path / "study") as store:
        trial = store.trial("one", "CartPole-v1", 0)
        assert store.facts["metric"] == "support.agents_of_users:best"
    assert trial.returns is not None
    assert trial.score == trial.returns.max()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"algorithms": ["sarsaa"]}, (r"algorithms[0]", "did you mean 'sarsa'", "module:function")),
        ({"algorithms": ["nowhere:train"]}, (r"algorithms[0]", "'nowhere' cannot be imported")),
        ({"algorithms": ["support.agents_of_users:gueses"]}, ("did you mean 'guesses'",)),
        ({"algorithms": ["sarsa", "sarsa"]}, ("'sarsa' is there 2 times",)),
        (
            {"algorithms": ["sarsa"], "environments": [{"gymnasium": "Pendulum-v1"}]},
            ("environments", "Pendulum-v1", "discrete actions"),
        ),
        (
            {"algorithms": ["sarsa"], "environments": [{"gymnasium": "CartPole-v1", "steps": 9}]},
            ("9 steps", "episodes"),
        ),
        ({"environments": ["cart-pol"]}, (r"environments[0]", "did you mean 'cart-pole'")),
        ({"environments": ["CartPole-v1"]}, ("looks like a Gymnasium id", 'gymnasium = "CartPole-v1"')),
        ({"environments": [{"name": "cart-pole", "size": 3}]}, (r"environments[0]", "size")),
        ({"environments": [{"gymnasium": "CartPole-v1", "episodes": 3, "steps": 3}]}, (r"environments[0]", "episodes")),
        ({"environments": [{"gymnasium": "CartPoel-v1", "episodes": 3}]}, ("did you mean 'CartPole-v1'",)),
        ({"environments": [{"gymnasium": "Pendulum-v1", "episodes": 3}]}, ("the worst score on Pendulum-v1",)),
        ({"metric": "avrage-return"}, ("metric", "did you mean 'average-return'")),
        ({"metric": "support.agents_of_users:gone"}, ("gone",)),
    ],
)
def test_studies_that_cannot_be_run(changes: dict[str, Any], words: tuple[str, ...], tmp_path: Path) -> None:
    study = python_study({"use": "support.agents_of_users:guesses"}, trials=1)
    with pytest.raises(InvalidInput) as caught:
        collect_scores(dataclasses.replace(study, **changes), tmp_path / "study")
    for word in words:
        assert word in str(caught.value)
    assert not (tmp_path / "study").exists()


def test_a_definition_of_ones_own_may_not_take_one_of_our_names(tmp_path: Path) -> None:
    impostor = dataclasses.replace(untuned.algorithm("sarsa"), version=99)
    with pytest.raises(InvalidInput, match="the name of one of ours"):
        collect_scores(dataclasses.replace(STUDY, algorithms=[impostor]), tmp_path / "study")


def test_shards_are_parts() -> None:
    parts = [Shard(part, 3).of(10).tolist() for part in (1, 2, 3)]
    assert sorted(number for part in parts for number in part) == list(range(10))
    for text in ("4/3", "0/3", "3", "a/b", "1/0"):
        with pytest.raises(InvalidInput, match="shard"):
            Shard.parse(text)


# Accidents.

#: Collects one study again and again, each time in a process made for it by fork: starting Python takes longer than all
#: the rest. Says which trials it was told are stored.
PROGRAM = """
import os, sys
import untuned
from untuned import collect_scores
from untuned.collect.engines import engine, schedule
from untuned.collect.store.store import Store

names = ["chain-10-stochastic", "gridworld-5-stochastic"]
study = untuned.Study("killed", algorithms=["sarsa", "q"], environments=names, trials=int(sys.argv[2]), seed=2)
for name in names:
    for algorithm in ("sarsa", "q"):
        untuned.run_trial(algorithm, name)
engine.Flushed.SECONDS = 0.01
# In threads alone: other processes take longer to start than these live.
schedule._WORTH = 1e9

store_add = Store.add
def add(self, records):
    records = list(records)
    new = store_add(self, records)
    print(*(f"{r.algorithm}/{r.environment}/{r.trial}" for r in records), ".", flush=True)
    return new
Store.add = add

print("ready", flush=True)
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        print("child", os.getpid(), flush=True)
        found = collect_scores(study, sys.argv[1], workers=2)
        print("complete" if found.complete else "stopped", flush=True)
        os._exit(0)
    print("\\nended", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="run this on Linux or macOS: it needs fork and kill -9")
def test_a_run_killed_fifty_times_loses_nothing_and_completes(tmp_path: Path) -> None:
    folder, trials = tmp_path / "study", 20_000
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(folder), str(trials)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    reported: set[str] = set()
    stream = random.Random(4)

    def until(word: str) -> str:
        assert process.stdout is not None
        for line in process.stdout:
            if line.endswith(" .\n"):
                reported.update(line.split()[:-1])
            elif line.startswith(word):
                return line.strip()
        raise AssertionError(f"no {word!r} came")

    until("ready")
    kills = 0
    while kills < 50:
        process.stdin.write("go\n")
        pid = int(until("child").split()[1])
        # At any moment, and every fifth time after something was stored, however busy the machine is.
        if kills % 5 == 0:
            known = len(reported)
            for line in process.stdout:
                if line.endswith(" .\n"):
                    reported.update(line.split()[:-1])
                    break
            assert len(reported) > known
        killer = threading.Timer(stream.uniform(0.0, 0.25), os.kill, (pid, signal.SIGKILL))
        killer.start()
        ending = until("ended")
        killer.join()
        assert ending == f"ended {-signal.SIGKILL}"
        kills += 1
    if (folder / "results.sqlite").exists():
        with Store.open(folder) as store:
            store.check()
            there = {
                f"{algorithm}/{environment}/{number}"
                for algorithm, environment in store.counts()
                for number in store.done(algorithm, environment).tolist()
            }
        assert reported <= there
    process.kill()
    process.wait()
    process.stdin.close()
    process.stdout.close()
    assert reported
    # Fewer trials than there may be by now, or more: the run completes either way.
    with Store.open(folder) as store:
        most = max(store.counts().values())
    study = Study(
        "killed",
        algorithms=["sarsa", "q"],
        environments=["chain-10-stochastic", "gridworld-5-stochastic"],
        trials=most + 5,
        seed=2,
    )
    assert collect_scores(study, folder, workers=2).complete
    with Store.open(folder) as store:
        store.check()
        assert set(store.counts().values()) == {most + 5}
        trial = store.trial("q", "gridworld-5-stochastic", 1)
    assert trial.score == untuned.run_trial("q", "gridworld-5-stochastic", seed=2, trial=1).score


def test_a_second_run_on_the_same_study_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    collect_scores(STUDY, folder, workers=1)
    with Store.open(folder, write=True):
        with pytest.raises(StoreError, match="study"):
            collect_scores(STUDY, folder)
        # Readers are welcome all the while.
        assert untuned.evaluate(folder).algorithms


def test_a_disk_that_is_full_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "study"
    real = Store.add
    calls: list[int] = []

    def add(self: Store, records: Any) -> int:
        calls.append(1)
        if len(calls) > 1:
            raise StoreError("the disk is full")
        return real(self, records)

    monkeypatch.setattr("untuned.collect.engines.engine.Flushed.SECONDS", 0.0)
    monkeypatch.setattr(Store, "add", add)
    with pytest.raises(StoreError, match="the disk is full"):
        collect_scores(STUDY, folder, workers=1)
    monkeypatch.undo()
    with Store.open(folder) as store:
        assert sum(store.counts().values()) >= 1
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1]))
    assert collect_scores(STUDY, folder, workers=1).complete


@pytest.mark.kills
@pytest.mark.skipif(not hasattr(os, "fork"), reason="run this on Linux or macOS: it sends SIGINT to a process")
@pytest.mark.parametrize("python", [False, True])
def test_ctrl_c_keeps_what_is_finished_and_says_how_to_go_on(python: bool, tmp_path: Path) -> None:
    use = '{ use = "support.agents_of_users:guesses", name = "mine" }' if python else '"sarsa", "q"'
    (tmp_path / "long.toml").write_text(
        f'name = "long"\ntrials = 1000000\nalgorithms = [{use}]\nenvironments = ["chain-10-stochastic"]\n'
    )
    tests = str(Path(__file__).parents[1])
    paths = os.pathsep.join([tests, *filter(None, [os.environ.get("PYTHONPATH")])])
    process = subprocess.Popen(
        [sys.executable, "-c", "from untuned.cli.main import main; main(['collect', 'long.toml'])"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": paths},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        deadline = time.monotonic() + 300
        while True:
            try:
                with Store.open(tmp_path / "long") as store:
                    if sum(store.counts().values()) > 5:
                        break
            except (InvalidInput, StoreError):
                pass
            assert time.monotonic() < deadline
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        # A million trials would take longer.
        _, said = process.communicate(timeout=300)
    finally:
        process.kill()
    assert process.returncode == 130
    assert "stopping" in said
    assert "Rerun the command to resume" in said
    assert "Traceback" not in said
    with Store.open(tmp_path / "long") as store:
        assert sum(store.counts().values()) > 5


def truncated(folder: Path) -> None:
    path = folder / "results.sqlite"
    path.write_bytes(path.read_bytes()[:5000])


def newer(folder: Path) -> None:
    connection = sqlite3.connect(folder / "results.sqlite")
    connection.execute("PRAGMA user_version = 99")
    connection.close()


@pytest.mark.parametrize(
    ("accident", "words"),
    [(truncated, "is damaged"), (newer, "was written by a newer untuned"), (shutil.rmtree, "cannot be made")],
)
def test_results_that_cannot_be_gone_on_with(
    accident: Callable[[Path], object], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "study.toml").write_text(
        'name = "small"\ntrials = 2\nalgorithms = ["q"]\nenvironments = ["chain-10-stochastic"]\n'
    )
    folder = tmp_path / "study"
    with pytest.raises(SystemExit):
        main(["collect", str(tmp_path / "study.toml"), "--quiet"])
    accident(folder)
    if not folder.exists():
        # Where no one can create one, not even root.
        folder.write_text("a file of that name")
    with pytest.raises(SystemExit) as ending:
        main(["collect", str(tmp_path / "study.toml"), "--trials", "3"])
    assert ending.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith("error: ")
    assert words in said
    assert "Traceback" not in said
