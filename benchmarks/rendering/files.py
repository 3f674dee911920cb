"""The files of measured results, read."""

import json
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

Row = Mapping[str, Any]


class Unusable(Exception):
    """A file of results is missing, was not finished or lacks what a page wants of it."""


class Results:
    """The files of a folder.

    Parameters
    ----------
    folder
        Where they are, ``docs/results`` in the project.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def _read(self) -> dict[str, Any]:
        return {}

    def content(self, name: str) -> Any:
        """Return all of a file."""
        if name not in self._read:
            path = self.folder / f"{name}.json"
            try:
                found = json.loads(path.read_text(encoding="utf-8"))
            except FileNotFoundError:
                raise Unusable(f"{path.name} is not there: a benchmark writes it with --json {path}") from None
            if not found.get("complete", True):
                raise Unusable(f"{path.name} is not complete: the benchmark was stopped, call it again")
            self._read[name] = found
        return self._read[name]

    def rows(self, name: str, key: str, **wanted: Any) -> list[Row]:
        """Return the rows of a file that have a key, and these values under other keys."""
        found = [
            row
            for row in self.content(name)["rows"]
            if key in row and all(row.get(each) == value for each, value in wanted.items())
        ]
        if not found:
            raise Unusable(f"{name}.json has no row with {key!r}{f' and {wanted}' if wanted else ''}")
        return found

    def row(self, name: str, key: str, **wanted: Any) -> Row:
        """Return the only such row."""
        found = self.rows(name, key, **wanted)
        if len(found) > 1:
            raise Unusable(f"{name}.json has {len(found)} rows with {key!r} and {wanted}, where one is expected")
        return found[0]

    def settings(self, name: str) -> Row:
        """Return a benchmark's settings."""
        found: Row = self.content(name)["settings"]
        return found

    def machine(self, name: str) -> Row:
        """Return on what was measured."""
        found: Row = self.content(name)["machine"]
        return found


#: What makes a part of a page.
Part = Callable[[Results], str]


def transcribed(results: Results, *names: str) -> list[str]:
    """Return which of these files were taken over from printed output."""
    return [name for name in names if "transcribed" in (results.content(name).get("settings") or {})]


def source_files(*names: str) -> Part:
    """Return what lists the files behind a page, and says which of them no benchmark wrote.

    Parameters
    ----------
    names
        The files, without their ending.
    """

    def rendered(results: Results) -> str:
        listed = ", ".join(f"[`{name}.json`](results/{name}.json)" for name in names)
        taken = [f"`{name}.json`" for name in transcribed(results, *names)]
        if not taken:
            return f"Data, written by the benchmarks: {listed}."
        verb = "was" if len(taken) == 1 else "were"
        return (
            f"Data: {listed}. {', '.join(taken)} {verb} **transcribed** from the output of earlier runs "
            "([details](results.md#files)); benchmarks wrote the others."
        )

    return rendered
