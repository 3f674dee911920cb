"""Writing files atomically."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from untuned.errors import InvalidInput


@contextlib.contextmanager
def whole_file(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a file for writing that gets its final name only when it is complete.

    Raises
    ------
    InvalidInput
        If it cannot be written.
    """
    path = Path(path).expanduser()
    new = path.parent / f".{path.name[:100]}.{os.getpid()}"
    try:
        with new.open("wb") as file:
            yield file
        new.replace(path)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror or error}") from None
    finally:
        with contextlib.suppress(OSError):
            new.unlink()
