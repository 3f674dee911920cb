"""The global generators of Python, NumPy and PyTorch, which unseeded code uses."""

import contextlib
import random
import sys
from collections.abc import Iterator

import numpy as np


def torch_is_loaded() -> bool:
    """Return whether PyTorch is loaded, so that its generator matters."""
    return "torch" in sys.modules


@contextlib.contextmanager
def generators_seeded(seed: int) -> Iterator[None]:
    """Seed the global generators within the block, and restore them afterwards.

    PyTorch's only if it is already loaded: loading it takes seconds, and most algorithms never use it.
    `torch_is_loaded` shows whether it was loaded meanwhile.
    """
    torch = sys.modules.get("torch")
    former_python = random.getstate()
    former_numpy = np.random.get_state()  # noqa: NPY002 (the old generator is what naive code draws from)
    former_torch = torch.get_rng_state() if torch is not None else None
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002
    if torch is not None:
        torch.manual_seed(seed)
    try:
        yield
    finally:
        random.setstate(former_python)
        np.random.set_state(former_numpy)  # noqa: NPY002
        if torch is not None:
            torch.set_rng_state(former_torch)
