"""A healthy store is never reported damaged to a reader while a writer changes it."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.stores import made
from untuned.collect.store import digests
from untuned.collect.store.store import Store


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[Store]:
    with Store.open(made(tmp_path / "study", 3), write=True) as store:
        yield store


def test_facts_that_change_while_they_are_read(writer: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    cell = ("zeta", "hill")
    with Store.open(writer._folder) as reader:
        read = digests.read

        def late(connection: sqlite3.Connection, name: str | None = None) -> dict[str, digests.Digest]:
            if connection is reader._connection and name == digests.FACTS:
                writer.want({cell: writer.wanted.get(cell, 3) + 1})
            return read(connection, name)

        writer.want({cell: 3})
        monkeypatch.setattr(digests, "read", late)
        assert reader.wanted[cell] == 3
        monkeypatch.undo()
        assert reader.wanted[cell] == 4
