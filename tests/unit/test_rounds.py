"""The log of a race: appended, never lost, never mixed; and the rounds of it that are complete."""

import itertools
import os
import pickle
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import untuned
from untuned.collect.rounds import undeclared
from untuned.collect.session import Session, merge
from untuned.collect.store import writing
from untuned.collect.store.store import RESULTS_NAME, Store
from untuned.collect.trial import Trial
from untuned.errors import InvalidInput, StoreError
from untuned.judge.judging import Judging
from untuned.judge.prefixes import without_gaps

ALGORITHMS = ["a", "b"]
ENVIRONMENTS = ["x", "y"]
FACTS: dict[str, Any] = {
    "seed": 5,
    "algorithms": [{"name": name} for name in ALGORITHMS],
    "environments": [{"name": name} for name in ENVIRONMENTS],
}
DECLARED: dict[str, Any] = {
    "kind": "declared",
    "delta": 0.05,
    "weights": "uniform",
    "algorithms": ALGORITHMS,
    "environments": ENVIRONMENTS,
}


def trials(algorithm: str, environment: str, numbers: Sequence[int]) -> list[Trial]:
    return [
        Trial(seed=5, algorithm=algorithm, environment=environment, trial=number, score=float(number), final_return=0.0)
        for number in numbers
    ]


def announced(*numbers: int) -> dict[str, Any]:
    """Return a round, from the numbers of cells a on x, a on y, b on x and b on y."""
    return {"kind": "round", "numbers": [list(numbers[:2]), list(numbers[2:])]}


def filled(store: Store, *numbers: int) -> None:
    """Add trials until the cells have these numbers."""
    for cell, number in zip(itertools.product(ALGORITHMS, ENVIRONMENTS), numbers, strict=True):
        store.add(trials(*cell, range(number)))


def of(folder: Path) -> Any:
    """Return the rounds that a reader finds."""
    with Session.at(folder) as session:
        rounds = session.scores().rounds
        return None if rounds is None else rounds.tolist()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "study"


@pytest.fixture
def store(folder: Path) -> Iterator[Store]:
    with Store.create(folder, FACTS) as opened:
        yield opened


@pytest.fixture
def raced(store: Store) -> Store:
    """A race with a complete round of 2 trials, and with one that lacks a trial of b on y."""
    for entry in (DECLARED, announced(2, 2, 2, 2), {"kind": "look"}, announced(3, 2, 4, 5)):
        store.log_race(entry)
    filled(store, 3, 2, 4, 4)
    return store


# The log


def test_entries_come_back_in_order(store: Store, folder: Path) -> None:
    assert store.race_log() == []
    entries: list[dict[str, Any]] = [DECLARED, announced(1, 2, 3, 4), {"kind": "ended", "why": "½ \ud800", "x": 1e300}]
    for entry in entries:
        store.log_race(entry)
    assert store.race_log() == entries
    with Store.open(folder) as reader:
        assert reader.race_log() == entries
        with pytest.raises(StoreError, match="open it with write=True"):
            reader.log_race({})
        store.log_race({})
        assert reader.race_log() == [*entries, {}]
    store.check()


@pytest.mark.parametrize("entry", [{"a": {1, 2}}, {"a": object()}, 3, ["ab", 3]])
def test_what_is_not_json_is_refused(store: Store, entry: Any) -> None:
    with pytest.raises(InvalidInput, match=r"cannot be kept as JSON \(.*\): pass a mapping"):
        store.log_race(entry)
    assert store.race_log() == []


def test_a_store_that_is_older_than_races_has_none_until_it_is_written(folder: Path) -> None:
    with Store.create(folder, FACTS) as old:
        filled(old, 1, 1, 1, 1)
    connection = sqlite3.connect(folder / RESULTS_NAME)
    connection.executescript("DROP TABLE race; DROP TABLE digest; PRAGMA user_version = 1; VACUUM")
    connection.close()
    before = (folder / RESULTS_NAME).read_bytes()
    with Store.open(folder) as reader:
        assert reader.race_log() == []
        assert reader.scores().rounds is None
        reader.check()
        assert of(folder) is None
        assert (folder / RESULTS_NAME).read_bytes() == before
        with Store.open(folder, write=True) as store:
            assert store.race_log() == []
            store.log_race(DECLARED)
        # Migrated while it was open.
        assert reader.race_log() == [DECLARED]


@pytest.mark.parametrize("text", ["{", "[]", b"\xff", "3"])
def test_a_damaged_entry_is_said_to_be_one(raced: Store, folder: Path, text: str | bytes) -> None:
    raced.close()
    connection = sqlite3.connect(folder / RESULTS_NAME)
    with connection:
        connection.execute("UPDATE race SET entry = ? WHERE id = 2", (text,))
    connection.close()
    with Store.open(folder) as store:
        for read in (store.race_log, store.check, Session(folder, store).scores):
            with pytest.raises(StoreError, match=r"is damaged .*: bring back a copy"):
                read()


@pytest.mark.parametrize(
    "entries",
    [
        [{"kind": "round", "numbers": []}],
        [DECLARED, {}],
        [DECLARED, {"kind": "round"}],
        [DECLARED, {"kind": "round", "numbers": [[1, 2]]}],
        [DECLARED, {"kind": "round", "numbers": [[1, 2], ["3", 4]]}],
    ],
)
def test_a_log_of_another_form_is_damage(store: Store, folder: Path, entries: list[dict[str, Any]]) -> None:
    for entry in entries:
        store.log_race(entry)
    with pytest.raises(StoreError, match=r"is damaged .*: bring back a copy"):
        Session(folder, store).scores()


KILLED = """
import os, signal, sys
from untuned.collect.store.store import Store
store = Store.open(sys.argv[1], write=True)
for number in range(3):
    store.log_race({"kind": "look", "number": number, "process": int(sys.argv[2])})
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="run this on Linux or macOS: it needs kill -9")
def test_entries_survive_the_process_that_is_killed(folder: Path) -> None:
    Store.create(folder, FACTS).close()
    for process in range(2):
        killed = subprocess.run([sys.executable, "-c", KILLED, str(folder), str(process)], check=False, timeout=300)
        assert killed.returncode == -signal.SIGKILL
    with Store.open(folder, write=True) as store:
        found = [(entry["process"], entry["number"]) for entry in store.race_log()]
        assert found == list(itertools.product(range(2), range(3)))
        store.check()


# Rounds


def test_rounds_count_once_every_cell_has_its_trials(store: Store, folder: Path) -> None:
    filled(store, 1, 0, 0, 0)
    assert of(folder) is None
    store.log_race(DECLARED)
    assert of(folder) == []
    with Session.at(folder) as session:
        table = session.scores()
        assert table.rounds is not None
        assert table.rounds.shape == (0, 2, 2)
        assert dict(table.declared or {}) == DECLARED
        assert session.race_log() == [DECLARED]
    store.log_race(announced(2, 2, 2, 2))
    filled(store, 2, 2, 2, 1)
    assert of(folder) == []
    filled(store, 2, 2, 2, 2)
    assert of(folder) == [[[2, 2], [2, 2]]]
    store.log_race(announced(2, 3, 2, 4))
    store.log_race(announced(2, 3, 2, 4))
    assert of(folder) == [[[2, 2], [2, 2]]]
    # More trials than any round announced are not a round.
    filled(store, 9, 9, 9, 9)
    assert of(folder) == [[[2, 2], [2, 2]], [[2, 3], [2, 4]], [[2, 3], [2, 4]]]


def test_rounds_behind_an_incomplete_one_do_not_count(raced: Store, folder: Path) -> None:
    raced.log_race(announced(2, 2, 2, 2))
    assert of(folder) == [[[2, 2], [2, 2]]]


def test_trials_behind_a_gap_complete_no_round(raced: Store, folder: Path) -> None:
    raced.add(trials("b", "y", [5, 6]))
    assert of(folder) == [[[2, 2], [2, 2]]]
    raced.add(trials("b", "y", [4]))
    assert of(folder) == [[[2, 2], [2, 2]], [[3, 2], [4, 5]]]


def test_a_race_that_has_begun_is_not_taken_for_a_shard(store: Store, folder: Path) -> None:
    for cell in itertools.product(ALGORITHMS, ENVIRONMENTS):
        store.add(trials(*cell, [0, 2]))
    # Every second trial, as a shard has them.
    assert store.scores().unbroken_ae.tolist() == [[2, 2], [2, 2]]  # type: ignore[union-attr]
    store.log_race(DECLARED)
    store.log_race(announced(2, 2, 2, 2))
    assert store.scores().unbroken_ae.tolist() == [[1, 1], [1, 1]]  # type: ignore[union-attr]
    assert of(folder) == []


def test_methods_that_cut_at_gaps_keep_the_rounds(raced: Store, folder: Path) -> None:
    raced.add(trials("b", "y", [7]))
    with Session.at(folder) as session:
        table, warnings = without_gaps(session.scores(), Judging(intervals="betting").method)
    assert warnings
    assert table.trials.tolist() == [[3, 2], [4, 4]]
    assert table.rounds is not None
    assert table.rounds.tolist() == [[[2, 2], [2, 2]]]


def test_a_part_has_its_part_of_the_rounds(raced: Store, folder: Path) -> None:
    filled(raced, 3, 2, 4, 5)
    each: Any
    with Session.at(folder) as session:
        table = session.scores()
    for each in (table, pickle.loads(pickle.dumps(table))):
        part = each.select(["b", "a"], ["y"])
        assert part.rounds.tolist() == [[[2], [2]], [[5], [2]]]
        assert part.declared == DECLARED
        assert each.select(["b"]).rounds.tolist() == [[[2, 2]], [[4, 5]]]
        assert each.select([]).rounds.shape == (2, 0, 2)
        for rounds in (each.rounds, part.rounds):
            with pytest.raises(ValueError, match="read-only"):
                rounds[0, 0, 0] = 1
        with pytest.raises(TypeError):
            each.declared["delta"] = 0.5
    chosen = untuned.read_scores(folder, without=["x"], rename={"a": "new", "y": "place"})
    assert chosen.rounds is not None
    assert chosen.rounds.tolist() == [[[2], [2]], [[2], [5]]]
    assert chosen.declared == DECLARED | {"algorithms": ["new", "b"], "environments": ["x", "place"]}
    assert undeclared(chosen, chosen.declared) == ()


def test_no_algorithm_is_dropped_from_a_raced_study(raced: Store, folder: Path) -> None:
    raced.close()
    with Session.at(folder, write=True) as session:
        with pytest.raises(InvalidInput, match="--without b"):
            session.drop("b")
        assert session.names[0] == ("a", "b")
    alone = untuned.read_scores(folder, without=["b"])
    # The trial that the second round lacks is b's, and rounds are those of all.
    assert alone.rounds is not None
    assert alone.rounds.tolist() == [[[2, 2]]]


@pytest.mark.parametrize("kind", ["algorithms", "environments"])
def test_what_was_not_declared_has_no_rounds(raced: Store, folder: Path, kind: str) -> None:
    raced.set_facts({**FACTS, kind: [{"name": "new"}, *FACTS[kind]]})
    with Session.at(folder) as session:
        table = session.scores()
    assert table.rounds is not None
    assert table.rounds.shape == (0, *table.trials.shape)
    assert undeclared(table, table.declared or {}) == ("new",)
    # In the order of the study, not of the race.
    raced.set_facts({**FACTS, kind: FACTS[kind][::-1]})
    expected = [[2, 2], [2, 2]]
    assert of(folder) == [expected]
    filled(raced, 3, 2, 4, 5)
    assert of(folder) == [expected, [[4, 5], [3, 2]] if kind == "algorithms" else [[2, 3], [5, 4]]]


@pytest.mark.parametrize(("kind", "old"), [("algorithms", "b"), ("environments", "y")])
def test_what_replaces_something_declared_is_not_declared(raced: Store, folder: Path, kind: str, old: str) -> None:
    filled(raced, 3, 2, 4, 5)
    raced.rename(kind, old, f"{old}~1")
    facts = raced.facts
    raced.set_facts({**facts, kind: [*facts[kind], {"name": old}]})
    filled(raced, 9, 9, 9, 9)
    assert raced.race_log()[-1] == {"kind": "renamed", "of": kind, "old": old, "new": f"{old}~1"}
    with Session.at(folder) as session:
        table = session.scores()
    assert table.rounds is not None
    assert table.rounds.shape == (0, 2, 2)
    assert undeclared(table, table.declared or {}) == (old,)
    raced.check()


def test_what_was_replaced_before_the_race_is_not_in_its_log(store: Store) -> None:
    filled(store, 1, 1, 1, 1)
    store.rename("algorithms", "b", "b~1")
    assert store.race_log() == []


# Merging


def test_an_empty_store_gets_the_race_and_may_get_it_again(raced: Store, tmp_path: Path) -> None:
    filled(raced, 3, 2, 4, 5)
    into = tmp_path / "into"
    for new in (14, 0):
        before = sum(row.trials for row in Session.at(into).status()) if into.exists() else 0
        with merge(into, [tmp_path / "study"]) as session:
            assert session.race_log() == raced.race_log()
            assert sum(row.trials for row in session.status()) - before == new
    assert of(into) == [[[2, 2], [2, 2]], [[3, 2], [4, 5]]]
    # What has no trials and no race changes nothing.
    Store.create(tmp_path / "empty", FACTS).close()
    assert raced.merge_from(tmp_path / "empty") == 0


def test_an_interrupted_merge_can_be_repeated(raced: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store.create(tmp_path / "into", FACTS) as into:
        with monkeypatch.context() as patched:
            patched.setattr(writing, "add", lambda *_: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                into.merge_from(tmp_path / "study")
        assert into.merge_from(tmp_path / "study") == 13
        assert into.race_log() == raced.race_log()


@pytest.mark.parametrize("log", [(), (DECLARED,), (DECLARED, announced(2, 2, 2, 2), {"kind": "look"})])
def test_a_race_is_not_mixed_with_other_trials(raced: Store, tmp_path: Path, log: tuple[dict[str, Any], ...]) -> None:
    other = tmp_path / "other"
    with Store.create(other, FACTS) as store:
        filled(store, 1, 1, 1, 1)
        for entry in log:
            store.log_race(entry)
        words = r"was raced, and .* about the rounds of one study.* merge it alone into a new folder"
        for into, source in ((store, tmp_path / "study"), (raced, other)):
            before = into.race_log(), into.counts()
            with pytest.raises(InvalidInput, match=words):
                into.merge_from(source)
            assert (into.race_log(), into.counts()) == before
    with pytest.raises(InvalidInput, match=words):
        merge(tmp_path / "into", [other, tmp_path / "study"])
    assert not (tmp_path / "into").exists()
