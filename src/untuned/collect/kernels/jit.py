"""How the kernels of trials are compiled, and the fingerprint of everything that determines a trial's numbers.

Flags and cache are those of `untuned.compiling`. There is one more rule:

- **Environments by address.** A kernel handed to another kernel as an ordinary function is never cached on disk, and
  handed over as a first-class function costs 50 us a call. Environments are therefore compiled to one fixed signature
  as C functions, and handed over as the address of their code: cached, 1 us, and a new one recompiles no agent.
"""

import ctypes
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, cast

import numba
import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from untuned.compiling import INTERPRETED, LICENCES, STRICT, Compiler

__all__ = [
    "INTERPRETED",
    "STRICT",
    "Callback",
    "Floats",
    "RandomState",
    "Reset",
    "Step",
    "cache_directory",
    "callback_at",
    "fingerprint",
    "kernel",
    "kernel_sources",
    "reset_address",
    "reset_at",
    "step_address",
    "step_at",
]

Floats = NDArray[np.float64]
RandomState = NDArray[np.uint64]
Reset = Callable[[Floats, Floats, RandomState], None]
Step = Callable[[Floats, Floats, RandomState, int], tuple[float, int]]

# The code that determines a trial's numbers: the kernels, their callers, and the draws.
_COMPILER = Compiler(
    "kernels",
    Path(__file__).parent.parent,
    (
        "kernels/*.py",
        "environments/*.py",
        "agents/*.py",
        "definitions/*.py",
        "distributions.py",
        "runner/trial.py",
    ),
)

#: Return a function compiled at its first call, without the interpreter lock, cached on disk.
kernel = _COMPILER.kernel
#: Return every source file whose content decides a trial's numbers, sorted.
kernel_sources = _COMPILER.sources
#: Return 16 hexadecimal digits that change when any such source, flag, compiler version or processor does.
fingerprint = _COMPILER.fingerprint
#: Return the directory of this build's compiled kernels, made if need be.
cache_directory = _COMPILER.cache_directory

_VECTOR = types.Array(types.float64, 1, "C")
_RANDOM = types.Array(types.uint64, 1, "C")
_RESET_SIGNATURE = types.void(_VECTOR, _VECTOR, _RANDOM)
_STEP_SIGNATURE = types.Tuple((types.float64, types.int64))(_VECTOR, _VECTOR, _RANDOM, types.int64)


@cache
def reset_address(function: Reset) -> int:
    """Return the address of an environment's compiled reset: ``reset(state, parameters, random)``."""
    return _address(function, _RESET_SIGNATURE)


@cache
def step_address(function: Step) -> int:
    """Return the address of an environment's compiled step.

    ``reward, status = step(state, parameters, random, action)``.
    """
    return _address(function, _STEP_SIGNATURE)


def _address(function: Callable[..., Any], signature: object) -> int:
    if INTERPRETED:
        # Without the compiler there is no address: pass the function itself.
        return cast(int, function)
    compiled = _COMPILER.cached(
        lambda: numba.cfunc(signature, cache=True, error_model="numpy", fastmath=LICENCES)(function)
    )
    _ALIVE.append(compiled)
    return int(compiled.address)


# Compiled code is freed with the object that holds it; the address would dangle.
_ALIVE: list[object] = []


def _function_at(signature: object) -> Callable[[Any], Any]:
    """Return a kernel-side function that turns an address into a callable."""
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


#: ``reset_at(address)``, inside a kernel: the reset function at that address.
reset_at: Callable[[int], Reset] = _function_at(_RESET_SIGNATURE)
#: ``step_at(address)``, inside a kernel: the step function at that address.
step_at: Callable[[int], Step] = _function_at(_STEP_SIGNATURE)

#: The C type of a Python function that kernels call: takes an action, returns a status. It acquires the interpreter's
#: lock, 0.25 us a call.
Callback = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)
#: ``callback_at(address)``, inside a kernel: the `Callback` at that address.
callback_at: Callable[[int], Callable[[int], int]] = Callback if INTERPRETED else _function_at(types.int64(types.int64))
