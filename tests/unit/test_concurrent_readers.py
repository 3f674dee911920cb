"""A healthy store is never reported damaged to a reader while a writer changes it."""

import dataclasses
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.stores import made
from untuned.collect.store import cells, digests, schema
from untuned.collect.store.store import RESULTS_NAME, Store
from untuned.errors import StoreError


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[Store]:
    with Store.open(made(tmp_path / "study", 3), write=True) as store:
        yield store


def test_facts_that_change_while_they_are_read(writer: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    cell = ("zeta", "hill")
    with Store.open(writer._database.folder) as reader:
        read = digests.read

        def late(connection: sqlite3.Connection, name: str | None = None) -> dict[str, digests.Digest]:
            if connection is reader._database.connection and name == digests.FACTS:
                writer.want({cell: writer.wanted.get(cell, 3) + 1})
            return read(connection, name)

        writer.want({cell: 3})
        monkeypatch.setattr(digests, "read", late)
        assert reader.wanted[cell] == 3
        monkeypatch.undo()
        assert reader.wanted[cell] == 4


def test_a_store_that_is_migrated_while_it_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = made(tmp_path / "study", 3)
    connection = sqlite3.connect(folder / RESULTS_NAME, isolation_level=None)
    connection.execute("DROP TABLE digest")
    connection.execute("PRAGMA user_version = 2")
    connection.close()
    tables = schema._tables

    def late(connection: sqlite3.Connection) -> frozenset[tuple[str, ...]]:
        monkeypatch.setattr(schema, "_tables", tables)
        Store.open(folder, write=True).close()
        return tables(connection)

    # What the reader has open keeps the log of the writer in place.
    with Store.open(folder) as reader:
        monkeypatch.setattr(schema, "_tables", late)
        with Store.open(folder) as other:
            assert schema._tables is tables
            assert other.counts() == reader.counts()
            assert schema.version(other._database.connection) == len(schema.STEPS)


@pytest.mark.parametrize("anew", [None, 0, 3])
def test_trials_that_are_set_aside_while_they_are_read(
    anew: int | None, writer: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cells, "CHUNK", 1)
    with Store.open(writer._database.folder) as reader:
        rows = reader.trials(["zeta"], ["hill"])
        first = next(rows)
        facts = writer.facts
        writer.rename("algorithms", "zeta", "zeta~1")
        if anew is not None:
            # The name has another definition now, and as many new trials.
            writer.set_facts({**writer.facts, "algorithms": [*writer.facts["algorithms"], *facts["algorithms"][:1]]})
            writer.add(dataclasses.replace(first, trial=number, definition_version="2") for number in range(anew))
        with pytest.raises(StoreError, match=r"^the study was changed while it was read: read it again$"):
            next(rows)
    assert writer.damage() == ()


def test_trials_that_are_added_while_they_are_read(writer: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cells, "CHUNK", 1)
    with Store.open(writer._database.folder) as reader:
        rows = reader.trials(["zeta"], ["hill"])
        first = next(rows)
        writer.add([dataclasses.replace(first, trial=3)])
        assert [each.trial for each in rows] == [1, 2, 3]
