"""Opening untrusted files: only regular files, decompressed as a stream, within safe limits."""

import contextlib
import gzip
import io
import os
import stat
import sys
import tempfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO

from untuned.errors import InvalidInput, nearest

#: Number of bytes for recognising a file.
HEAD = 65_536
#: The largest file that is read as a whole; tables are read in pieces and may be larger.
MOST = 1 << 30
#: A compressed file may grow to this size, or by this factor, before it counts as a decompression bomb.
_GROWN, _FACTOR = 100_000_000, 250
#: The largest size of standard input.
_MOST_INPUT = 64 << 30

_GZIP = b"\x1f\x8b"


@dataclass(frozen=True)
class File:
    """A file that the user named, or in a folder that the user named.

    Attributes
    ----------
    path
        Its path.
    below
        The folder that the user named and everything below it, with ``/`` between: ``logs/ppo/0/progress.csv``. For a
        file that the user named, the file's name.
    """

    path: Path
    below: str

    @property
    def name(self) -> str:
        """Its name in messages."""
        return self.below

    @property
    def folder(self) -> str:
        """The folder part of ``below``."""
        return self.below.rpartition("/")[0]

    @cached_property
    def suffix(self) -> str:
        """Its suffix in lower case, without ``.gz``: ``".csv"``."""
        name = self.path.name.lower()
        return Path(name.removesuffix(".gz")).suffix

    @cached_property
    def size(self) -> int:
        """Its size on disk, in bytes."""
        return self.path.stat().st_size

    @cached_property
    def head(self) -> bytes:
        """Its first bytes, decompressed; empty on errors."""
        with contextlib.suppress(InvalidInput), self.stream() as stream:
            return stream.read(HEAD)
        return b""

    @contextlib.contextmanager
    def stream(self) -> Iterator[IO[bytes]]:
        """Open it for reading, decompressed if its name ends in ``.gz``.

        Raises
        ------
        InvalidInput
            For files that cannot be opened, read or decompressed; also later while reading.
        """
        try:
            with self.path.open("rb") as file:
                if self.path.name.lower().endswith(".gz"):
                    yield io.BufferedReader(_Decompressed(file, self.name), HEAD)
                else:
                    yield file
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise InvalidInput(
                f"{self.name} cannot be unpacked: {error}. Is it complete, and packed with gzip?"
            ) from None
        except OSError as error:
            raise InvalidInput(f"{self.name} cannot be read: {error.strerror or error}") from None

    def content(self) -> bytes:
        """Return its content.

        Raises
        ------
        InvalidInput
            Also if it is larger than a gigabyte.
        """
        with self.stream() as stream:
            data = stream.read(MOST + 1)
        if len(data) > MOST:
            raise InvalidInput(f"{self.name} has more than {MOST >> 30} GiB, which is read as a whole: split it")
        return data

    def sibling(self, *parts: str) -> "File | None":
        """Return a file next to it, or below its folder; None if there is none."""
        path = self.path.parent.joinpath(*parts)
        if not path.is_file():
            return None
        return File(path, "/".join([*([self.folder] if self.folder else []), *parts]))


class _Decompressed(io.RawIOBase):
    """A gzip stream with a limit on its decompressed size."""

    def __init__(self, file: IO[bytes], name: str) -> None:
        self._file = file
        self._name = name
        self._stream = gzip.GzipFile(fileobj=file)
        self._grown = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview") -> int:  # type: ignore[override]
        data = self._stream.read(len(buffer))
        self._grown += len(data)
        if self._grown > max(_GROWN, _FACTOR * self._file.tell()):
            raise InvalidInput(
                f"{self._name} grows more than {_FACTOR}-fold when it is decompressed: if you trust it, decompress it "
                "yourself (gunzip) and pass the result"
            )
        buffer[: len(data)] = data
        return len(data)


def named_file(path: Path) -> File:
    """Return a file that the user named; raises InvalidInput if it is not a regular file."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        if path.is_symlink():
            raise InvalidInput(
                f"{str(path)!r} is a link to {str(path.readlink())!r}, which is not there: pass the file itself"
            ) from None
        near = nearest(path.name, _siblings(path))
        advice = f"did you mean {near!r}?" if near is not None else "look for a typing mistake in the path"
        raise InvalidInput(f"there is no file {str(path)!r}: {advice}") from None
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{str(path)!r} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if not stat.S_ISREG(mode):
        what = "a pipe" if stat.S_ISFIFO(mode) else "a directory" if stat.S_ISDIR(mode) else "not a regular file"
        raise InvalidInput(
            f"{str(path)!r} is {what}: pass a file or a folder of files; what a program prints is read from standard "
            "input, program | untuned evaluate -"
        )
    if not path.stat().st_size:
        raise InvalidInput(
            f"{path.name} is empty: it needs the columns algorithm, environment, score, one row per trial"
        )
    return File(path, path.name)


def files_below(folder: Path) -> list[File]:
    """Return all regular files in a folder and below it, by name; hidden ones and links to folders are skipped.

    Raises
    ------
    InvalidInput
        For a folder that cannot be listed.
    """
    found = []
    top = folder.resolve().name
    try:
        # A folder that cannot be listed may have runs in it, which must not be skipped silently.
        for parent, folders, names in os.walk(folder, onerror=_raise):
            folders[:] = sorted(each for each in folders if not each.startswith("."))
            inner = Path(parent).relative_to(folder).as_posix()
            below = "/".join(each for each in (top, "" if inner == "." else inner) if each)
            for name in sorted(names):
                path = Path(parent, name)
                if not name.startswith(".") and path.is_file() and path.stat().st_size:
                    found.append(File(path, f"{below}/{name}"))
    except OSError as error:
        raise InvalidInput(
            f"{str(error.filename)!r} cannot be read: {error.strerror or error}. Give yourself access to it, or name "
            "the files one by one"
        ) from None
    return found


def _raise(error: OSError) -> None:
    raise error


@contextlib.contextmanager
def standard_input() -> Iterator[File]:
    """Copy standard input to a temporary file, with a suffix by its first bytes."""
    if sys.stdin is None:
        raise InvalidInput("standard input is closed: pipe a table into the command, or pass a file")
    stream = sys.stdin.buffer
    head = stream.read(HEAD)
    if not head:
        raise InvalidInput(
            "standard input is empty: pipe a table into the command, cat scores.csv | untuned evaluate -"
        )
    suffix = _suffix(head)
    with tempfile.NamedTemporaryFile(prefix="standard-input-", suffix=suffix) as kept:
        try:
            kept.write(head)
            size = len(head)
            while chunk := stream.read(1 << 20):
                size += len(chunk)
                if size > _MOST_INPUT:
                    raise InvalidInput(f"standard input has more than {_MOST_INPUT >> 30} GiB: pass a file instead")
                kept.write(chunk)
            kept.flush()
        except OSError as error:
            raise InvalidInput(
                f"standard input cannot be kept in {str(Path(kept.name).parent)!r}: {error.strerror or error}. Pass a "
                "file instead"
            ) from None
        yield File(Path(kept.name), "standard input")


def _suffix(head: bytes) -> str:
    """Return the suffix that fits the first bytes of a stream."""
    if head.startswith(_GZIP):
        with contextlib.suppress(OSError, EOFError, zlib.error):
            inner = zlib.decompressobj(wbits=31).decompress(head, HEAD)
            return f"{_suffix(inner)}.gz" if not inner.startswith(_GZIP) else ".gz.gz"
    if head.startswith(b"PAR1"):
        return ".parquet"
    if head.startswith(b"\x93NUMPY"):
        return ".npy"
    if head.startswith(b"PK\x03\x04"):
        return ".npz"
    if b"\0" in head and not head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InvalidInput("standard input is neither text nor parquet: pipe a table into the command")
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if text.startswith(b"["):
        return ".json"
    if text.startswith(b"{"):
        first = text.partition(b"\n")[0].strip()
        return ".jsonl" if first.endswith(b"}") and b"\n" in text.strip() else ".json"
    return ".csv"


def _siblings(path: Path) -> list[str]:
    try:
        return [each.name for each in path.parent.iterdir()]
    except OSError:
        return []
