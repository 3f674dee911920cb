"""A store with damage in it gives the same scores, or a refusal that names the damage; what is damaged is repaired."""

import contextlib
import dataclasses
import io
import json
import os
import random
import shutil
import sqlite3
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import untuned
from support.calling import Call, caller
from support.stores import FACTS, made, outcome
from untuned.adapters.histories import read_histories
from untuned.collect.session import Session
from untuned.collect.store import digests, rows
from untuned.collect.store.connection import MALFORMED
from untuned.collect.store.damage import repaired
from untuned.collect.store.store import RESULTS_NAME, Store
from untuned.errors import StoreError, UntunedError

CELL = ("zeta", "hill")


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    return caller(capsys)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return made(tmp_path / "study")


def changed(folder: Path, *statements: str, seal: bool = False) -> Path:
    """Change a store behind its back; with ``seal`` make its digests and checksums fit, as a stranger can."""
    connection = sqlite3.connect(folder / RESULTS_NAME, isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    if seal:
        connection.execute("DROP TABLE digest")
        digests.add_to_older(connection)
        seal_rows(connection)
    connection.close()
    return folder


def seal_rows(connection: sqlite3.Connection) -> None:
    texts = dict(connection.execute("SELECT id, text FROM text"))
    names = ("id", *rows.SCORE_COLUMNS, *rows.RECORD_COLUMNS)
    found = connection.execute(f"SELECT {', '.join(names)} FROM record JOIN score ON record.id = score.record")
    for values in found.fetchall():
        row = dict(zip(names, values, strict=True))
        # What has no checksum cannot be sealed.
        with contextlib.suppress(*MALFORMED):
            right = rows.checksum(row | {each: texts[row[each]] for each in rows.SHARED_TEXTS})
            connection.execute("UPDATE record SET checksum = ? WHERE id = ?", (right, row["id"]))


OF_ZETA = "(SELECT id FROM text WHERE text = 'zeta')"
RECORD_3 = f"(SELECT record FROM score WHERE trial = 3 AND algorithm = {OF_ZETA} ORDER BY environment LIMIT 1)"


# Reading verifies


@pytest.mark.parametrize("seed", range(4))
def test_a_flipped_bit_changes_no_score_in_silence(folder: Path, seed: int) -> None:
    path = folder / RESULTS_NAME
    whole, right = path.read_bytes(), outcome(folder)
    stream = random.Random(seed)
    refused = []
    for _ in range(60):
        broken = bytearray(whole)
        broken[stream.randrange(len(whole))] ^= 1 << stream.randrange(8)
        path.write_bytes(broken)
        try:
            assert outcome(folder) == right
        except StoreError as error:
            refused.append(str(error))
    assert refused
    assert all(any(word in each for word in ("damaged", "not a study's results", "newer untuned")) for each in refused)


def test_a_flipped_bit_changes_no_export_in_silence(folder: Path) -> None:
    def exported() -> bytes:
        file = io.BytesIO()
        untuned.export(folder, file, form="json", returns=True)
        return file.getvalue()

    path = folder / RESULTS_NAME
    whole, right = path.read_bytes(), exported()
    stream = random.Random(8)
    refused = 0
    for _ in range(80):
        broken = bytearray(whole)
        broken[stream.randrange(len(whole))] ^= 1 << stream.randrange(8)
        path.write_bytes(broken)
        try:
            assert exported() == right
        except StoreError:
            refused += 1
    assert refused > 10


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        (
            "UPDATE score SET score = score + 1e-9 WHERE trial = 3",
            "the checksum of trial 3 of 'zeta' on 'hill' is wrong",
        ),
        ("UPDATE score SET score = NULL WHERE trial = 3", "the checksum of trial 3 of 'zeta' on 'hill' is wrong"),
        ("UPDATE score SET trial = 1027 WHERE trial = 3", "the checksum of trial 1027 of 'zeta' on 'hill' is wrong"),
        ("DELETE FROM score WHERE trial = 3", "trials of 'zeta' on 'hill' are missing"),
        ("UPDATE text SET text = 'zeua' WHERE text = 'zeta'", "trials of 'zeta' on 'hill' are missing"),
        ("UPDATE study SET facts = replace(facts, '-10.0', '-11.0')", "the checksum of the study's facts is wrong"),
        ("UPDATE race SET entry = '{}'", "the checksum of the race's log is wrong"),
        ("DELETE FROM race", "the checksum of the race's log is wrong"),
        ("UPDATE digest SET digest = digest + 1 WHERE name LIKE '%zeta%'", "of 'zeta' on 'hill' are missing"),
        (
            "UPDATE digest SET name = '[\"zeua\", \"hill\"]' WHERE name LIKE '%zeta%hill%'",
            "which the study does not have",
        ),
        ("PRAGMA user_version = 2", "does not have the tables of a study's results (format 2)"),
        ("PRAGMA user_version = 1", "does not have the tables of a study's results (format 1)"),
    ],
)
def test_what_is_damaged_is_named(statement: str, words: str, folder: Path) -> None:
    with Store.open(folder, write=True) as store:
        store.log_race({"kind": "odd"})
    changed(folder, statement)
    with pytest.raises(StoreError) as caught:
        outcome(folder)
    assert words in str(caught.value)


def test_writing_keeps_digests_up_to_date(folder: Path, tmp_path: Path) -> None:
    with Store.open(folder, write=True) as store:
        store.rename("algorithms", "zeta", "zeta~1")
        store.set_facts({**store.facts, "name": "another"})
        store.want({CELL: 99} if CELL in store.wanted else {("zeta~1", "hill"): 99})
        store.log_race({"kind": "one"})
        store.log_race({"kind": "two"})
        assert store.damage() == ()
    with Store.open(folder) as store, Store.create(tmp_path / "copy", store.facts) as copy:
        assert copy.merge_from(folder) == sum(store.counts().values())
        assert copy.damage() == ()
        assert copy.counts() == store.counts()


def test_a_batch_that_fails_leaves_the_digests(folder: Path) -> None:
    before = outcome(folder)
    with Store.open(folder, write=True) as store:
        old = store.trial(*CELL, 3)
        with pytest.raises(untuned.InvalidInput, match="another result"):
            store.add([untuned.Trial(**(vars(old) | {"trial": 77})), untuned.Trial(**(vars(old) | {"score": 1.0}))])
        assert store.add([old]) == 0
    assert outcome(folder) == before


# Repair


Q_S = "algorithm = (SELECT id FROM text WHERE text = 'q-s')"
STUDY = (
    'name="s"\nseed=3\ntrials=6\nalgorithms=["sarsa-s","q-s"]\nenvironments=["chain-10-stochastic"]\nkeep="returns"\n'
)


def test_damaged_trials_are_listed_set_aside_and_collected_again(call: Call, tmp_path: Path) -> None:
    file, folder = tmp_path / "study.toml", tmp_path / "study"
    file.write_text(STUDY)
    assert call("collect", file, "--quiet", "--engine", "in-process").code == 0
    exported, ranking = call("export", folder, "--returns").out, call("evaluate", folder, "--json").out
    assert "nothing is damaged: all 12 trials are intact" in call("repair", folder).out
    changed(
        folder,
        f"UPDATE score SET score = score - 1 WHERE {Q_S} AND trial = 2",
        f"UPDATE record SET returns = substr(returns, 1, length(returns) - 9) WHERE id = (SELECT record FROM score "
        f"WHERE {Q_S} AND trial = 4)",
        f"DELETE FROM record WHERE id = (SELECT record FROM score WHERE {Q_S} AND trial = 5)",
    )
    said = call("evaluate", folder)
    assert said.code == 2
    assert "the checksum of trial 2 of" in said.err
    assert "untuned repair" in said.err
    found = call("check", folder, "--json")
    assert found.code == 3
    (finding,) = found.json["findings"]
    assert finding["code"] == "damaged-results"
    assert len(finding["where"]) == 3
    assert all("'chain-10-stochastic'" in where for where in finding["where"])
    said = call("repair", file)
    assert said.code == 0
    assert "9 trials are intact and were kept, 3 were not" in said.words
    assert (folder / "results.sqlite.damaged").is_file()
    assert call("status", folder, "--json").json["cells"][1]["trials"] == 3
    assert call("collect", file, "--quiet", "--engine", "in-process").code == 0
    assert call("export", folder, "--returns").out == exported
    assert call("evaluate", folder, "--json").out == ranking
    assert not list(folder.glob("*repairing*"))


@pytest.mark.parametrize("filling", ["zeros", "noise", "bits"])
def test_a_repair_keeps_only_what_was_stored(folder: Path, filling: str) -> None:
    path = folder / RESULTS_NAME
    whole = path.read_bytes()
    with Store.open(folder) as store:
        right = {each.label: repr(each.as_dict()) for each in store.trials()}
    stream = random.Random(filling)
    repaired = 0
    for number, place in enumerate(range(4096, len(whole), 4096)):
        for each in folder.iterdir():
            each.unlink()
        broken = bytearray(whole)
        if filling == "bits":
            for _ in range(5):
                broken[stream.randrange(len(whole))] ^= 1 << stream.randrange(8)
        else:
            broken[place : place + 4096] = bytes(4096) if filling == "zeros" else stream.randbytes(4096)
        path.write_bytes(broken)
        try:
            untuned.repair(folder)
        except StoreError:
            assert path.read_bytes() == bytes(broken), number
            continue
        repaired += 1
        with Store.open(folder, write=True) as store:
            assert store.damage() == ()
            kept = {each.label: repr(each.as_dict()) for each in store.trials()}
            assert kept.items() <= right.items()
    assert repaired > 3


@pytest.mark.parametrize(("number", "flipped"), [(1500, -31268), (2000, 464), (700, 16)])
def test_a_flipped_number_loses_one_trial(number: int, flipped: int, tmp_path: Path) -> None:
    with Store.create(tmp_path / "study", FACTS) as store, Store.open(made(tmp_path / "some", 3)) as some:
        one = some.trial(*CELL, 0)
        store.add(dataclasses.replace(one, trial=each, returns=None, final_returns=None) for each in range(3000))
    path = tmp_path / "study" / RESULTS_NAME
    raw = bytearray(path.read_bytes())
    place = raw.find(struct.pack(">hd", number, one.score))
    assert place > 0
    raw[place : place + 2] = struct.pack(">h", flipped)
    path.write_bytes(raw)
    found = repaired(tmp_path / "study")
    assert (found.kept, found.lost) == (2999, 1)
    assert f"the checksum of trial {flipped} of 'zeta' on 'hill' is wrong" in found.damage
    with Store.open(tmp_path / "study") as store:
        assert store.done(*CELL).tolist() == [each for each in range(3000) if each != number]


def test_a_flipped_number_and_a_record_that_cannot_be_read(folder: Path) -> None:
    # Numbers are out of order, and the text of a record is not text.
    path = changed(folder, f"UPDATE record SET failure = CAST(x'ff' AS TEXT) WHERE id = {RECORD_3}") / RESULTS_NAME
    with Store.open(folder) as store:
        pattern = struct.pack(">d", store.trial("zeta", "hill", 5).score)
    raw = bytearray(path.read_bytes())
    place = raw.find(b"\x05" + pattern)
    assert place > 0
    raw[place] = 100
    path.write_bytes(raw)
    found = repaired(folder)
    assert found.lost == 2
    assert any("cannot be read" in each for each in found.damage)


def test_a_raced_study_keeps_its_log(folder: Path) -> None:
    with Store.open(folder, write=True) as store:
        store.log_race({"kind": "odd"})
    changed(folder, "UPDATE score SET score = 0 WHERE trial = 3")
    assert untuned.repair(folder).lost == 6
    with Store.open(folder) as store:
        assert store.race_log() == [{"kind": "odd"}]


def test_an_older_store_is_verified_row_by_row(tmp_path: Path) -> None:
    golden = Path(__file__).parents[1] / "golden" / "stores" / "format-1" / RESULTS_NAME
    folder = tmp_path / "old"
    folder.mkdir()
    shutil.copy(golden, folder)
    changed(folder, "UPDATE score SET score = score + 1 WHERE trial = 3")
    for write in (False, True):
        with pytest.raises(StoreError, match="the checksum of trial 3 of"), Store.open(folder, write=write) as store:
            store.scores(nonfinite="worst")
    found = untuned.repair(folder)
    assert (found.kept, found.lost) == (31, 5)  # Where a trial failed there is no score to change
    assert untuned.read_scores(folder).trials.sum() == 31


# Foreign content of a store: always one message.

NESTED = "[" * 100_000
DEEP = f'{{"a": {NESTED}'
BOMB = (
    "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT 1 AS algorithm, 2 AS environment, i AS "
    "trial, 1.0 AS score, 1 AS record FROM n"
)


def facts(**changes: Any) -> str:
    return "UPDATE study SET facts = '" + json.dumps({**FACTS, **changes}).replace("'", "''") + "'"


DECLARED = {
    "kind": "declared",
    "delta": 0.05,
    "weights": "uniform",
    "algorithms": ["zeta", "alpha"],
    "environments": ["hill", "cave", "lake"],
}


def bomb() -> bytes:
    import struct
    import zlib

    packed = zlib.compressobj(9)
    return struct.pack("<I", 0) + b"".join(packed.compress(bytes(1 << 20)) for _ in range(300)) + packed.flush()


#: Without these a store cannot be sealed: its digests would have to be of something that is not a number.
UNSEALED = (
    "a view",
    "a view of facts",
    "a name in binary",
    "text as a score",
    "text as a trial",
    "an array as a score",
)

CRAFTED: dict[str, tuple[str, ...]] = {
    "deep facts": (f"UPDATE study SET facts = '{DEEP}'",),
    "facts of thousands of digits": (f"UPDATE study SET facts = '{{\"seed\": {'9' * 5000}}}'",),
    "huge facts": ("UPDATE study SET facts = '\"' || hex(zeroblob(17000000)) || '\"'",),
    "facts in binary": ("UPDATE study SET facts = x'ff'",),
    "facts that are a list": ("UPDATE study SET facts = '[]'",),
    "text as a score": ("UPDATE score SET score = 'many' WHERE trial = 3",),
    "text as a trial": ("UPDATE score SET trial = 'many' WHERE trial = 3",),
    "text as steps": ("UPDATE record SET steps = 'many'",),
    "an array as a score": ("UPDATE score SET score = x'00ff' WHERE trial = 3",),
    "numbers of an odd size": ("UPDATE record SET numbers = x'00'",),
    "returns of an odd size": ("UPDATE record SET returns = x'00'",),
    "returns as text": ("UPDATE record SET returns = 'many'",),
    "a shape that is none": ("UPDATE text SET text = '[1]' WHERE text LIKE '{%'",),
    "a deep shape": (f"UPDATE text SET text = '{DEEP}' WHERE id = (SELECT max(id) FROM text)",),
    "fewer numbers than names": (
        """UPDATE text SET text = '{"draws": [["a", "b"]], "codes": ""}' WHERE text LIKE '{%'""",
        "UPDATE record SET numbers = zeroblob(64)",
    ),
    "more numbers than names": (
        """UPDATE text SET text = '{"draws": [["a", "b"]], "codes": "dddd"}' WHERE text LIKE '{%'""",
        "UPDATE record SET numbers = zeroblob(64)",
    ),
    "a deep draw": (
        """UPDATE text SET text = '{"draws": [["a", "b"]], "codes": "x"}' WHERE text LIKE '{%'""",
        f"UPDATE record SET numbers = CAST(zeroblob(8) || '[{'[' * 700}{']' * 700}]' AS BLOB)",
    ),
    "draws that are lists": (
        """UPDATE text SET text = '{"draws": [["a", ["b"]], [["a"], "b"]], "codes": "dd"}' WHERE text LIKE '{%'""",
        "UPDATE record SET numbers = zeroblob(64)",
    ),
    "an origin that is none": ("UPDATE text SET text = '3' WHERE text LIKE '[%'",),
    "a name in binary": ("UPDATE text SET text = x'ff00' WHERE text = 'zeta'",),
    "a view": ("DROP TABLE score", f"CREATE VIEW score AS {BOMB}"),
    "a view of facts": ("ALTER TABLE study RENAME TO old", "CREATE VIEW study AS SELECT * FROM old, old, old"),
    "a trigger": ("CREATE TRIGGER t AFTER INSERT ON score BEGIN DELETE FROM score; END",),
    "a computed column": ("ALTER TABLE score ADD COLUMN more AS (hex(zeroblob(1000000000)))",),
    "a race of lists": ("INSERT INTO race (entry) VALUES ('[]')",),
    "a deep race": (f"INSERT INTO race (entry) VALUES ('{DEEP}')",),
    "a race of other things": ('INSERT INTO race (entry) VALUES (\'{"kind": "declared", "algorithms": 3}\')',),
    "a race without kinds": ("INSERT INTO race (entry) VALUES ('{}')",),
    "a race of other looks": (
        """INSERT INTO race (entry) VALUES ('{"kind": "declared", "algorithms": [], "environments": []}')""",
        """INSERT INTO race (entry) VALUES ('{"kind": "begun", "goal": 3}')""",
        """INSERT INTO race (entry) VALUES ('{"kind": "look", "weightings": {}}')""",
    ),
    "a race with other weights": (f"INSERT INTO race (entry) VALUES ('{json.dumps({**DECLARED, 'weights': [[1]]})}')",),
    "a race with other families": (
        f"INSERT INTO race (entry) VALUES ('{json.dumps({**DECLARED, 'families': [[7]]})}')",
    ),
    "wanted as text": (facts(wanted={"hill": {"zeta": "many"}}),),
    "wanted as a list": (facts(wanted=[1]),),
    "failures as a list": (facts(failures=["worst"]),),
    "a protocol that is a number": (facts(protocol=3),),
    "a protocol without fields": (facts(protocol={}),),
    "a protocol of other fields": (facts(protocol={"name": "dabney", "draws": 3, "iteration_weights": 3}),),
    "identical as a number": (facts(identical=3),),
    "a name that is an object": (facts(name={"a": 1}),),
    "ranges of text": (
        facts(environments=[{"name": each, "score_range": ["a", "b"]} for each in ("hill", "cave", "lake")]),
    ),
    "plain names": (facts(environments=["hill", "cave", "lake"]),),
    "names that are numbers": (facts(algorithms=[1, 2]),),
}
COMMANDS = (
    ("status",),
    ("status", "--json"),
    ("show", "zeta", "hill", "3"),
    ("show", "zeta", "hill", "3", "--json"),
    ("export", "--returns"),
    ("export", "--returns", "--format", "json"),
    ("evaluate", "--weights", "uniform", "--intervals", "wilson"),
    ("check",),
    ("repair",),
)


@pytest.mark.parametrize("case", CRAFTED)
def test_a_crafted_store_is_answered_in_words(case: str, call: Call, folder: Path, tmp_path: Path) -> None:
    changed(folder, *CRAFTED[case])
    if case not in UNSEALED and "facts" not in case:
        changed(folder, seal=True)
    for command, *arguments in COMMANDS:
        said = call(command, folder, *arguments)
        assert said.code in (0, 2, 3), (command, said.err)
        assert len(said.err) < 3000
    assert call("merge", tmp_path / "into", folder).code in (0, 2)


@pytest.mark.parametrize("name", ["t", "sqlite_t", "sqlite_stat1"])
def test_a_trigger_is_refused_whatever_its_name(name: str, folder: Path) -> None:
    changed(
        folder,
        "CREATE TRIGGER other AFTER INSERT ON score BEGIN DELETE FROM score; END",
        "PRAGMA writable_schema = ON",
        f"UPDATE sqlite_master SET name = '{name}', sql = replace(sql, 'other', '{name}') WHERE type = 'trigger'",
    )
    for write in (False, True):
        with pytest.raises(StoreError, match="does not have the tables"), Store.open(folder, write=write):
            pass


def test_names_of_draws_are_texts(folder: Path) -> None:
    changed(folder, *CRAFTED["draws that are lists"], seal=True)
    for history in read_histories(folder).cells.values():
        assert history.distributions == {"a": "['b']", "['a']": "b"}


def test_returns_do_not_grow_without_bounds(folder: Path) -> None:
    data = bomb()
    assert len(data) < 400_000
    connection = sqlite3.connect(folder / RESULTS_NAME)
    connection.execute(f"UPDATE record SET returns = ? WHERE id = {RECORD_3}", (data,))
    connection.commit()
    connection.close()
    with Session.at(folder) as session, pytest.raises(StoreError, match="grow beyond all bounds"):
        list(session.trials())


def test_many_equal_returns_are_no_bomb(tmp_path: Path) -> None:
    from untuned.collect.store.rows import decode, encode

    with Store.open(made(tmp_path / "x")) as store:
        trial = store.trial(*CELL, 3)
    long = untuned.Trial(**(vars(trial) | {"returns": np.full(5_000_000, -1.0), "final_returns": np.zeros(3)}))
    found = decode(encode(long), 5)
    assert found.returns is not None
    assert (found.returns.size, found.final_returns.size) == (5_000_000, 3)


def test_a_count_of_final_returns_is_verified(folder: Path) -> None:
    changed(folder, "UPDATE record SET returns = x'02000000' || substr(returns, 5)")
    connection = sqlite3.connect(folder / RESULTS_NAME)
    connection.execute("UPDATE record SET returns = CAST(returns AS BLOB)")
    connection.commit()
    connection.close()
    with Session.at(folder) as session, pytest.raises(StoreError, match="the checksum of the returns is wrong"):
        list(session.trials())


@pytest.mark.parametrize("at", ["open", "ftruncate", "write"])
def test_a_full_disk_while_locking(at: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import errno

    real: Callable[..., Any] = getattr(os, at)

    def full(*given: Any) -> Any:
        if at != "open" or "results.lock" in str(given[0]):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(*given)

    with monkeypatch.context() as patched:
        patched.setattr(os, at, full)
        with pytest.raises(StoreError, match=r"the disk is full\. Everything stored before is safe"):
            Store.open(folder, write=True)
    # The lock was let go.
    Store.open(folder, write=True).close()


def test_half_a_character_is_shown_and_exported(call: Call, folder: Path, tmp_path: Path) -> None:
    import json

    from untuned.collect.definitions.draw import Drawn

    with Store.open(folder, write=True) as store:
        old = store.trial(*CELL, 3)
        store.add([untuned.Trial(**(vars(old) | {"trial": 50, "draws": (Drawn("kind", "a\ud800", -1.0, "{a}"),)}))])
    assert "kind = a\N{REPLACEMENT CHARACTER}" in call("show", folder, *CELL, "50").out
    assert call("show", folder, *CELL, "50", "--json").json["draws"][0]["value"] == "a\ud800"
    assert call("export", folder, "--format", "json", "--out", tmp_path / "x.json").code == 0
    rows = json.loads((tmp_path / "x.json").read_bytes())
    assert next(row for row in rows if row["trial"] == 50)["draws"] == {"kind": "a\ud800"}
    for form in ("csv", "parquet"):
        assert call("export", folder, "--format", form, "--out", tmp_path / f"x.{form}").code == 0


def test_half_a_character_in_a_failure_is_kept_as_its_escape(folder: Path) -> None:
    with Store.open(folder, write=True) as store:
        old = store.trial(*CELL, 3)
        failed = {"trial": 50, "score": float("nan"), "failure": "OSError: no file 'a\udcff \N{SNOWMAN}'"}
        store.add([untuned.Trial(**(vars(old) | failed))])
        assert store.trial(*CELL, 50).failure == "OSError: no file 'a\\udcff \N{SNOWMAN}'"


@pytest.mark.parametrize("form", ["csv", "parquet", "json"])
@pytest.mark.parametrize("failure", ["10 %\r20 %", "a\r\nb", "a\0b", '"', "a,b;\tc"])
def test_any_failure_is_exported_and_read_again(failure: str, form: str, folder: Path, tmp_path: Path) -> None:
    with Store.open(folder, write=True) as store:
        old = store.trial(*CELL, 3)
        store.add([untuned.Trial(**(vars(old) | {"trial": 50, "score": float("nan"), "failure": failure}))])
    untuned.export(folder, tmp_path / f"x.{form}", form=form)
    table = untuned.read_scores(tmp_path / f"x.{form}")
    assert table.failed_ae is not None
    assert int(table.failed_ae.sum()) == 2


def test_damage_is_never_a_traceback(folder: Path) -> None:
    """Whole pages of noise, zeros or other pages: what is raised is ours."""
    path = folder / RESULTS_NAME
    whole, right = path.read_bytes(), outcome(folder)
    stream = random.Random(5)
    for _ in range(40):
        broken, place = bytearray(whole), 4096 * stream.randrange(len(whole) // 4096)
        size = stream.choice((1, 4, 100, 4096))
        place += stream.randrange(4097 - size)
        other = stream.randrange(len(whole) - size)
        broken[place : place + size] = stream.choice((bytes(size), stream.randbytes(size), whole[other : other + size]))
        path.write_bytes(broken)
        with contextlib.suppress(UntunedError):
            assert outcome(folder) == right


@pytest.mark.parametrize("form", ["csv", "parquet", "json"])
def test_long_returns_are_exported_and_read_again(form: str, folder: Path, tmp_path: Path) -> None:
    with Store.open(folder, write=True) as store:
        old = store.trial(*CELL, 3)
        long = np.random.default_rng(0).random(20_000)
        store.add([untuned.Trial(**(vars(old) | {"trial": 90, "score": 8.5, "returns": long}))])
    path = tmp_path / f"x.{form}"
    untuned.export(folder, path, form=form, returns=True)
    assert path.stat().st_size > 131_072
    table, stored = untuned.read_scores(path), untuned.read_scores(folder)
    assert table.trials.tolist() == stored.trials.tolist()
    assert all(
        np.array_equal(table.cell(a, e), stored.cell(a, e)) for a in stored.algorithms for e in stored.environments
    )


def test_a_row_that_no_reader_of_csv_would_take_is_refused(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("untuned.adapters.exports.PIECE", 10_010)
    with pytest.raises(untuned.InvalidInput, match="too long for a line of CSV: write --format parquet"):
        untuned.export(folder, tmp_path / "x.csv", returns=True)
    assert not (tmp_path / "x.csv").exists()
