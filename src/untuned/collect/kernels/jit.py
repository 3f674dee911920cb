"""The one way this package compiles, and the fingerprint of what it compiled.

Three rules live here, each because breaking it gives wrong numbers without a word:

- **Flags.** ``fastmath=True``, or ``nsz`` together with ``reassoc``, removes every test for NaN and infinity, and
  diverged trials would pass as healthy ones. ``reassoc`` and ``contract`` alone keep those tests and the speed.
- **Cache.** Numba's disk cache notices a change in a function's own file, not in the files of what it calls. So the
  cache directory is named by a hash over *all* kernel sources, the flags and the versions of the compiler.
- **Environments by address.** A kernel handed to another kernel as an ordinary function is never cached on disk, and
  handed over as a first-class function costs 50 us a call. Environments are therefore compiled to one fixed signature
  as C functions, and handed over as the address of their code: cached, 1 us, and a new one recompiles nobody.

``UNTUNED_STRICT=1`` compiles without any floating-point licence, for comparing with an oracle to the last bit;
``NUMBA_DISABLE_JIT=1`` runs everything as plain Python.
"""

import hashlib
import os
import stat
import sys
import tempfile
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast, overload

import llvmlite
import llvmlite.binding
import numba
import numpy as np
import platformdirs
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

Floats = NDArray[np.float64]
RandomState = NDArray[np.uint64]
Reset = Callable[[Floats, Floats, RandomState], None]
Step = Callable[[Floats, Floats, RandomState, int], tuple[float, int]]

F = TypeVar("F", bound=Callable[..., Any])


STRICT = os.environ.get("UNTUNED_STRICT", "0") not in ("", "0")
INTERPRETED = bool(numba.config.DISABLE_JIT)

_LICENCES = set() if STRICT else {"reassoc", "contract"}
# Where the order of operations carries the accuracy (argument reduction), only fusing is allowed.
_ORDERED_LICENCES = set() if STRICT else {"contract"}

# What decides a trial's numbers: the kernels, what calls them, and what is drawn.
_DECISIVE = (
    "kernels/*.py",
    "environments/*.py",
    "agents/*.py",
    "definitions/*.py",
    "distributions.py",
    "runner/trial.py",
)

_VECTOR = types.Array(types.float64, 1, "C")
_RANDOM = types.Array(types.uint64, 1, "C")
_RESET_SIGNATURE = types.void(_VECTOR, _VECTOR, _RANDOM)
_STEP_SIGNATURE = types.Tuple((types.float64, types.int64))(_VECTOR, _VECTOR, _RANDOM, types.int64)


def kernel_sources() -> tuple[Path, ...]:
    """Return every source file whose content decides a trial's numbers, sorted."""
    collect = Path(__file__).parent.parent
    return tuple(sorted(path for pattern in _DECISIVE for path in collect.glob(pattern)))


@cache
def fingerprint() -> str:
    """Return 16 hexadecimal digits that change when any such source, flag, compiler version or processor does."""
    digest = hashlib.blake2b(digest_size=8)
    collect = Path(__file__).parent.parent
    for path in kernel_sources():
        source = path.read_bytes()
        digest.update(f"{path.relative_to(collect).as_posix()}\0{len(source)}\0".encode())
        digest.update(source)
    versions = (numba.__version__, llvmlite.__version__, np.__version__, sys.version_info[:2])
    # Which instructions a processor has decides roundings too.
    machine = (llvmlite.binding.get_host_cpu_name(), INTERPRETED)
    digest.update(repr((sorted(_LICENCES), sorted(_ORDERED_LICENCES), versions, machine)).encode())
    return digest.hexdigest()


@cache
def cache_directory() -> Path:
    """Return the directory of this build's compiled kernels, made if need be.

    Below ``NUMBA_CACHE_DIR`` if that is set, else in the user's cache directory; in the system's temporary
    directory when the first choice cannot be written.
    """
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    preferred = Path(chosen) if chosen else Path(platformdirs.user_cache_dir("untuned"))
    directory = preferred / f"kernels-{fingerprint()}"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError:
        directory = _temporary_home() / f"kernels-{fingerprint()}"
        directory.mkdir(exist_ok=True)
    return directory


def _temporary_home() -> Path:
    """Return a directory below the system's temporary one that is ours alone: what lies in a cache gets executed."""
    user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    home = Path(tempfile.gettempdir()) / f"untuned-{user}"
    home.mkdir(mode=0o700, exist_ok=True)
    found = home.lstat()
    ours = not hasattr(os, "getuid") or (stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid())
    return home if ours else Path(tempfile.mkdtemp(prefix="untuned-"))


@overload
def kernel(function: F) -> F: ...
@overload
def kernel(*, ordered: bool = ..., inline: bool = ...) -> Callable[[F], F]: ...


def kernel(function: F | None = None, *, ordered: bool = False, inline: bool = False) -> F | Callable[[F], F]:
    """Return ``function`` compiled at its first call, without the interpreter lock, cached on disk.

    Parameters
    ----------
    function
        A function in numba's subset of Python.
    ordered
        Keep the order of floating-point operations as written.
    inline
        Make the compiler put the code into every caller, so that constant arguments choose branches there.
    """

    def compile_(target: F) -> F:
        licences = _ORDERED_LICENCES if ordered else _LICENCES
        options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": licences}
        if inline and ordered:
            # By LLVM, which keeps the licences of every instruction; numba would give them the caller's.
            options["forceinline"] = True
        elif inline:
            # By numba, before types: nothing is compiled twice, and what comes out is up to a quarter faster.
            options["inline"] = "always"
        return cast(F, _cached(lambda: numba.njit(cache=True, **options)(target)))

    return compile_ if function is None else compile_(function)


@cache
def reset_address(function: Reset) -> int:
    """Return where an environment's compiled reset stands: ``reset(state, parameters, random)``."""
    return _address(function, _RESET_SIGNATURE)


@cache
def step_address(function: Step) -> int:
    """Return where an environment's compiled step stands.

    ``reward, status = step(state, parameters, random, action)``.
    """
    return _address(function, _STEP_SIGNATURE)


def _address(function: Callable[..., Any], signature: object) -> int:
    if INTERPRETED:
        # Nothing stands anywhere: the function itself goes the same way.
        return cast(int, function)
    compiled = _cached(lambda: numba.cfunc(signature, cache=True, error_model="numpy", fastmath=_LICENCES)(function))
    _ALIVE.append(compiled)
    return int(compiled.address)


# Compiled code is freed with the object that holds it; an address alone would dangle.
_ALIVE: list[object] = []


def _function_at(signature: object) -> Callable[[Any], Any]:
    """Return a kernel-side function that makes a callable of an address."""
    if INTERPRETED:
        return lambda function: function

    function_type = types.FunctionType(signature)

    @intrinsic  # type: ignore[untyped-decorator]
    def function_at(typing_context: object, address: object) -> tuple[object, Callable[..., object]]:
        def generate(context: Any, builder: Any, _: object, arguments: Any) -> object:
            value = cgutils.create_struct_proxy(function_type)(context, builder)
            value.c_addr = builder.inttoptr(arguments[0], context.get_value_type(types.voidptr))
            return value._getvalue()

        return function_type(types.int64), generate

    return cast(Callable[[Any], Any], function_at)


#: ``reset_at(address)``, inside a kernel: the reset function that stands there.
reset_at: Callable[[int], Reset] = _function_at(_RESET_SIGNATURE)
#: ``step_at(address)``, inside a kernel: the step function that stands there.
step_at: Callable[[int], Step] = _function_at(_STEP_SIGNATURE)


def _cached(compile_: Callable[[], F]) -> F:
    # Numba reads CACHE_DIR when it wraps a function and keeps the answer, so the setting is put back at once:
    # other packages' numba functions must not end up in our directory.
    with _COMPILING:
        before = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = str(cache_directory())
        try:
            return compile_()
        finally:
            numba.config.CACHE_DIR = before


# Environments are compiled at their first use, which may be in any thread.
_COMPILING = threading.RLock()
