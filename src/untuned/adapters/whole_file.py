"""Writing a file whole or not at all."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from untuned.errors import InvalidInput


@contextlib.contextmanager
def whole_file(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a file for writing that gets its name when all of it is written.

    Raises
    ------
    InvalidInput
        Where it cannot be written.
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
