"""How the judge's kernels are compiled: by `untuned.compiling`, with a separate cache."""

from pathlib import Path

from untuned.compiling import INTERPRETED, Compiler

__all__ = ["INTERPRETED", "cache_directory", "kernel", "sources"]

_COMPILER = Compiler("judge", Path(__file__).parent, ("**/*.py",))

#: Return a function compiled at its first call, without the interpreter lock, cached on disk.
kernel = _COMPILER.kernel
#: Return the directory of this build's compiled kernels, made if need be.
cache_directory = _COMPILER.cache_directory
#: Return every source file of the judge, sorted.
sources = _COMPILER.sources
