"""How this package compiles kernels: the flags, and where compiled code is cached.

Two rules matter. Breaking either silently gives wrong numbers:

- **Flags.** ``fastmath=True``, or ``nsz`` together with ``reassoc``, removes every test for NaN and infinity, and
  diverged trials would pass as healthy ones. ``reassoc`` and ``contract`` alone keep those tests, and the speed.
- **Cache.** Numba's disk cache notices a change in a function's own file, not in the files of what it calls. So the
  cache directory of a family of kernels is named by a hash over *all* its sources, the flags and the versions of the
  compiler.

``UNTUNED_STRICT=1`` compiles without any fast-math flag, for comparing with an oracle to the last bit;
``NUMBA_DISABLE_JIT=1`` runs everything as plain Python.
"""

import hashlib
import os
import stat
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast, overload

import llvmlite
import llvmlite.binding
import numba
import numpy as np
import platformdirs
from numba.core import event

F = TypeVar("F", bound=Callable[..., Any])

STRICT = os.environ.get("UNTUNED_STRICT", "0") not in ("", "0")
INTERPRETED = bool(numba.config.DISABLE_JIT)

LICENCES: set[str] = set() if STRICT else {"reassoc", "contract"}
# Where the order of operations carries the accuracy (argument reduction), only fusing is allowed.
ORDERED_LICENCES: set[str] = set() if STRICT else {"contract"}


class Compiler:
    """Compiles one family of kernels, and knows which sources its results depend on.

    Parameters
    ----------
    name
        Name of the family; its cache directory begins with it.
    root
        The root directory of its sources.
    decisive
        Patterns, relative to ``root``, of every source whose content decides what the kernels return.
    """

    def __init__(self, name: str, root: Path, decisive: tuple[str, ...]) -> None:
        self.name = name
        self.root = root
        self.decisive = decisive
        self.fingerprint = cache(self._fingerprint)
        self.cache_directory = cache(self._cache_directory)

    def sources(self) -> tuple[Path, ...]:
        """Return every source file whose content decides the results, sorted."""
        return tuple(sorted(path for pattern in self.decisive for path in self.root.glob(pattern)))

    def _fingerprint(self) -> str:
        # Every byte, comments included: numba's cache ignores changes in functions that a kernel calls, silently.
        digest = hashlib.blake2b(digest_size=8)
        for path in self.sources():
            source = path.read_bytes()
            digest.update(f"{path.relative_to(self.root).as_posix()}\0{len(source)}\0".encode())
            digest.update(source)
        versions = (numba.__version__, llvmlite.__version__, np.__version__, sys.version_info[:2])
        # The processor's instructions affect rounding too.
        machine = (llvmlite.binding.get_host_cpu_name(), INTERPRETED)
        digest.update(repr((sorted(LICENCES), sorted(ORDERED_LICENCES), versions, machine)).encode())
        return digest.hexdigest()

    def _cache_directory(self) -> Path:
        chosen = os.environ.get("NUMBA_CACHE_DIR")
        preferred = Path(chosen) if chosen else Path(platformdirs.user_cache_dir("untuned"))
        directory = preferred / f"{self.name}-{self.fingerprint()}"
        try:
            directory.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=directory):
                pass
        except OSError:
            directory = _temporary_home() / f"{self.name}-{self.fingerprint()}"
            directory.mkdir(exist_ok=True)
        return directory

    @overload
    def kernel(self, function: F) -> F: ...
    @overload
    def kernel(self, *, ordered: bool = ..., inline: bool = ..., brief: bool = ...) -> Callable[[F], F]: ...

    def kernel(
        self, function: F | None = None, *, ordered: bool = False, inline: bool = False, brief: bool = False
    ) -> F | Callable[[F], F]:
        """Return ``function`` compiled at its first call, without the interpreter lock, cached on disk.

        Parameters
        ----------
        function
            A function in numba's subset of Python.
        ordered
            Keep the order of floating-point operations as written.
        inline
            Inline the code into every caller, so that constant arguments select branches at compile time.
        brief
            Keep the interpreter lock when called from Python: getting it back from another thread takes longer than
            the work.
        """

        def compile_(target: F) -> F:
            licences = ORDERED_LICENCES if ordered else LICENCES
            options: dict[str, Any] = {"nogil": not brief, "error_model": "numpy", "fastmath": licences}
            if inline and ordered:
                # By LLVM, which keeps the fast-math flags of every instruction; numba would use the caller's.
                options["forceinline"] = True
            elif inline:
                # By numba, before types: nothing is compiled twice, and the result is up to a quarter faster.
                options["inline"] = "always"
            return cast(F, self.cached(lambda: numba.njit(cache=True, **options)(target)))

        return compile_ if function is None else compile_(function)

    def cached(self, compile_: Callable[[], F]) -> F:
        """Return the result of ``compile_``, which numba caches in this family's directory."""
        # Numba reads CACHE_DIR when it wraps a function and keeps the value, so the setting is restored at once:
        # other packages' numba functions must not end up in our directory.
        with _COMPILING:
            before = numba.config.CACHE_DIR
            numba.config.CACHE_DIR = str(self.cache_directory())
            try:
                return compile_()
            finally:
                numba.config.CACHE_DIR = before


# Environments are compiled at their first use, which may be in any thread.
_COMPILING = threading.RLock()


@contextmanager
def noticing(tell: Callable[[], None]) -> Iterator[None]:
    """Call ``tell`` at most once within the block: when a kernel is compiled, not when it is loaded from a cache."""
    with event.install_listener("numba:compile", _First(tell)):
        yield


class _First(event.Listener):  # type: ignore[misc]
    """Listens for kernels compiled in this process, in any thread, and reports the first."""

    def __init__(self, tell: Callable[[], None]) -> None:
        self._tell = tell
        self._told = False

    def on_start(self, event: object) -> None:
        if not self._told:
            # Before the call: two threads may start to compile, and ``tell`` may be slow.
            self._told = True
            self._tell()

    def on_end(self, event: object) -> None:
        """Do nothing: only the start is reported."""


def _temporary_home() -> Path:
    """Return a directory below the system's temporary one that this user owns: cached code gets executed."""
    user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    home = Path(tempfile.gettempdir()) / f"untuned-{user}"
    home.mkdir(mode=0o700, exist_ok=True)
    found = home.lstat()
    ours = not hasattr(os, "getuid") or (stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid())
    return home if ours else Path(tempfile.mkdtemp(prefix="untuned-"))
