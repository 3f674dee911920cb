"""`Journal`: a file of finished work units, one JSON line each, which survives kill -9."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from untuned.errors import StoreError

#: Anything that JSON can hold.
Facts = Mapping[str, Any]

#: The key of a work unit, and its result.
Entry = tuple[Facts, Facts]

#: The start of every line; other lines were written by another program.
_BEGINNING = b'{"key": '


class Journal:
    """Finished work units by their keys.

    A line is on disk when `add` returns, so a process that is killed loses nothing that was added. A truncated last
    line is ignored; its work unit gets a new line when it is done again.

    Parameters
    ----------
    path
        The file; None to keep nothing beyond this process.
    """

    def __init__(self, path: str | Path | None = None) -> None:
        self.path = None if path is None else Path(path)
        self._found: dict[str, Facts] = {}
        self._whole = True
        if self.path is not None and self.path.exists():
            self._read(self.path)

    def _read(self, path: Path) -> None:
        try:
            content = path.read_bytes()
        except OSError as error:
            raise StoreError(f"{path} cannot be read: {error.strerror}. Choose another folder with --out") from None
        lines = content.split(b"\n")
        self._whole = not lines[-1]
        for number, line in enumerate(lines, start=1):
            if not line:
                continue
            try:
                entry = json.loads(line)
                self._found[_text(entry["key"])] = entry["facts"]
            except (ValueError, TypeError, KeyError, RecursionError):
                # A line truncated when the process ended: at the end of the file or, if others followed, within it.
                if number == 1 and line[: len(_BEGINNING)] != _BEGINNING[: len(line)]:
                    raise StoreError(
                        f"{path} was not written by untuned coverage: its first line is something else. Choose another "
                        "folder with --out, or remove the file"
                    ) from None

    def get(self, key: Facts) -> Facts | None:
        """Return the result of a work unit, None if it is not finished."""
        return self._found.get(_text(key))

    def add(self, results: Sequence[Entry], /) -> None:
        """Store the results of work units."""
        self._found |= {_text(key): facts for key, facts in results}
        if self.path is None:
            return
        lines = "".join(json.dumps({"key": key, "facts": facts}) + "\n" for key, facts in results)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # One write in append mode: two processes with the same file do not mix their lines.
            file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
            try:
                left = (lines if self._whole else "\n" + lines).encode()
                self._whole = False
                # All at once, unless the disk is full: then the next write raises.
                while left:
                    left = left[os.write(file, left) :]
                os.fsync(file)
            finally:
                os.close(file)
        except OSError as error:
            raise StoreError(
                f"{self.path} cannot be written: {error.strerror}. Make room, or choose another folder with --out"
            ) from None
        self._whole = True


def _text(key: Facts) -> str:
    return json.dumps(key, sort_keys=True)
