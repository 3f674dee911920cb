"""What is finished, in a file that survives everything: a line of JSON for each piece of work that is done."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from untuned.errors import StoreError

#: Anything that JSON can say.
Facts = Mapping[str, Any]

#: How every line begins: what does not was written by somebody else.
_BEGINNING = b'{"key": '


class Record:
    """Finished pieces of work by their keys.

    A line is written at once and brought to the disk, so that a process that is killed loses nothing that was finished;
    a last line that was cut off is left out, and written over by a line of its own when its piece is done again.

    Parameters
    ----------
    path
        The file; None to remember nothing beyond this process.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self._found: dict[str, Facts] = {}
        self._whole = True
        if path is not None and path.exists():
            self._read(path)

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
            except (ValueError, TypeError, KeyError):
                # A line that was cut off when the process ended, at the end or, if others followed, within the file.
                if number == 1 and line[: len(_BEGINNING)] != _BEGINNING[: len(line)]:
                    raise StoreError(
                        f"{path} is no record of untuned coverage: its first line is not one. Choose another folder "
                        "with --out, or remove the file"
                    ) from None

    def get(self, key: Facts) -> Facts | None:
        """Return what came out of a piece of work, None if it is not finished."""
        return self._found.get(_text(key))

    def add(self, key: Facts, facts: Facts) -> None:
        """Keep what came out of a piece of work."""
        self._found[_text(key)] = facts
        if self.path is None:
            return
        line = json.dumps({"key": key, "facts": facts}) + "\n"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # One write in append mode: two processes with the same file do not tear each other's lines.
            file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
            try:
                left = (line if self._whole else "\n" + line).encode()
                self._whole = False
                # All at once, unless the disk is full: then the rest says so.
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
