"""Stores of earlier formats are read, exported, continued and merged; a new column takes one field and one step.

``tests/golden/stores/format-1`` has a store that the first format's own code wrote: two compiled algorithms and one in
Python that raised in some trials, on two environments, returns kept; and its export, ``--returns --seconds``, by the
same code.
"""

import dataclasses
import io
import json
import os
import re
import shutil
from pathlib import Path

import pytest

import untuned
from support.calling import Call, caller
from support.processes import python
from untuned.adapters.exports import write
from untuned.collect.session import Session
from untuned.collect.store import schema
from untuned.collect.store.store import RESULTS_NAME, Store
from untuned.errors import InvalidInput

GOLDEN = Path(__file__).parents[1] / "golden" / "stores" / "format-1"
CELL = ("shaky", "chain-10-stochastic")


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    return caller(capsys)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the golden store: SQLite makes files next to one that is open."""
    copy = tmp_path / "study"
    copy.mkdir()
    shutil.copy(GOLDEN / RESULTS_NAME, copy)
    return copy


def exported(store: Store) -> str:
    file = io.BytesIO()
    write(Session(Path(), store), "csv", file, returns=True, seconds=True)
    return file.getvalue().decode()


def expected() -> str:
    return (GOLDEN / "export.csv").read_text(encoding="utf-8")


def test_it_is_read_without_being_written(folder: Path) -> None:
    before = (folder / RESULTS_NAME).read_bytes()
    with Store.open(folder) as store:
        assert exported(store) == expected()
        store.check()
        assert set(store.counts().values()) == {6}
        assert sum(store.failures().values()) == 3
    assert (folder / RESULTS_NAME).read_bytes() == before


def test_histories_and_scores_are_read(folder: Path) -> None:
    histories = untuned.read_histories(folder)
    assert len(histories.cells) == 6
    history = histories.cells[CELL]
    # The trial that failed has no returns, and counts the worst score.
    assert [each.size for each in history.returns] == [100, 0, 100, 100, 100, 100]
    assert history.scores[1] == -199.0
    assert untuned.read_scores(folder).trials.sum() == 36


def test_it_takes_new_trials_and_keeps_the_old(folder: Path) -> None:
    with Store.open(folder, write=True) as store:
        assert exported(store) == expected()
        old = store.trial(*CELL, 0)
        assert store.add([old, dataclasses.replace(old, trial=6)]) == 1
        with pytest.raises(InvalidInput, match=r"stored already .*\(different: score, returns;"):
            store.add([dataclasses.replace(old, score=1.0, returns=old.returns + 1.0)])
    with Store.open(folder) as store:
        assert exported(store).startswith(expected().partition("sarsa-parl2,gridworld")[0])
        assert store.done(*CELL).tolist() == [*range(7)]
        store.check()


def test_it_merges_with_stores_of_today(folder: Path, tmp_path: Path) -> None:
    with Store.open(folder) as old:
        facts = old.facts
        some = [each for each in old.trials() if each.trial % 2]
    with Store.create(tmp_path / "new", facts) as new:
        new.add(some)
        assert new.merge_from(folder) == 36 - len(some)
        assert exported(new) == expected()
    with Store.open(folder, write=True) as store:
        assert store.merge_from(tmp_path / "new") == 0


def test_show_prints_it(call: Call, folder: Path) -> None:
    shown = call("show", folder, *CELL, "1", "--json").json
    assert (shown["score"], shown["failure"], shown["returns"]) == (
        None,
        "RuntimeError: nothing to be done with 2 layers (shaky.py:10)",
        [],
    )


# A new column: a field of the record and a step of the schema, nothing else. In a copy of the package, so that what is
# derived from the record when modules are loaded is derived from this one.

FIELD = (
    '    note: str | None = field(default=None, metadata=column("record", exported=99, since=%d, compared="if both"))\n'
)
STEP = 'lambda connection: connection.execute("ALTER TABLE record ADD COLUMN note")'

PROGRAM = """
import contextlib, dataclasses, io, json, sqlite3, sys
from pathlib import Path
from untuned.adapters.exports import write
from untuned.cli.main import main
from untuned.collect.session import Session
from untuned.collect.store.store import Store
from untuned.errors import InvalidInput, StoreError

folder, algorithm, environment = sys.argv[1:]

def exported():
    with Store.open(folder) as store:
        file = io.BytesIO()
        write(Session(Path(), store), "csv", file, returns=True, seconds=True)
    return file.getvalue().decode()

def shown(trial):
    sys.argv = ["untuned", "show", folder, algorithm, environment, str(trial), "--json"]
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):
        main()
    return json.loads(out.getvalue())

before = exported(), shown(0)
with Store.open(folder, write=True) as store:
    old = store.trial(algorithm, environment, 0)
    again = dataclasses.replace(old, note="later")
    new = dataclasses.replace(old, trial=6, note="odd")
    added = store.add([again, new])
    try:
        store.add([dataclasses.replace(new, note="even")])
    except InvalidInput as error:
        refused = str(error)
with Store.create(folder + "-merged", Store.open(folder).facts) as merged:
    merged.merge_from(folder)
    kept = merged.trial(algorithm, environment, 6).note
after = exported(), shown(6)
connection = sqlite3.connect(Path(folder) / "results.sqlite")
with connection:
    connection.execute("UPDATE record SET note = 'changed' WHERE note = 'odd'")
connection.close()
try:
    with Store.open(folder) as store:
        store.check()
    damage = ""
except StoreError as error:
    damage = str(error)
print(json.dumps({"before": before, "after": after, "added": added, "refused": refused, "merged": kept,
                  "damage": damage}))
"""


def patched(path: Path, pattern: str, replacement: str) -> None:
    text, count = re.subn(pattern, lambda match: match.expand(replacement), path.read_text(encoding="utf-8"))
    assert count == 1
    path.write_text(text, encoding="utf-8")


def test_a_new_column_is_a_field_and_a_migration(folder: Path, tmp_path: Path) -> None:
    package = tmp_path / "source" / "untuned"
    shutil.copytree(Path(untuned.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    format_ = len(schema.STEPS) + 1
    patched(package / "collect" / "trial.py", r"(?m)^    returns: ", FIELD % format_ + r"\g<0>")
    patched(package / "collect" / "store" / "schema.py", r"(?m)^(STEPS.* = \(.*)\)$", rf"\1, {STEP})")
    finished = python("-c", PROGRAM, str(folder), *CELL, env={**os.environ, "PYTHONPATH": str(package.parent)})
    assert finished.returncode == 0, finished.stderr
    found = json.loads(finished.stdout)
    # Before the migration: readers find nothing in the new column.
    table, shown = found["before"]
    assert [line.rpartition(",")[0] for line in table.splitlines()] == expected().splitlines()
    assert {line.rpartition(",")[2] for line in table.splitlines()} == {"note", ""}
    assert shown["note"] is None
    # After it: the trial that has a note keeps it, everywhere.
    assert found["added"] == 1
    table, shown = found["after"]
    assert [line.rpartition(",")[2] for line in table.splitlines() if not line.endswith(",")] == ["note", "odd"]
    assert (shown["note"], found["merged"]) == ("odd", "odd")
    assert "different: note;" in found["refused"]
    assert "checksum of trial 6" in found["damage"]
