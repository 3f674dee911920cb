"""Random arrangements of samples: seeded by names, so that neither scores nor the order of rows decide them."""

import hashlib
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from untuned.judge.jit import kernel
from untuned.judge.streams import Words, next_word, skip_first, streams
from untuned.scores import Ints


def stream(names: Sequence[str]) -> Words:
    """Return the state of a random stream that depends on some names alone."""
    return _seeded(tuple(names)).copy()


# Small boards are judged in half the time: every kind of evidence asks for the same streams again.
@lru_cache(maxsize=4096)
def _seeded(names: tuple[str, ...]) -> Words:
    digest = hashlib.blake2b(repr(names).encode("utf-8", errors="surrogatepass"), digest_size=8).digest()
    found: Words = streams(int.from_bytes(digest, "little"), 1)[0]
    skip_first(found)
    return found


@kernel
def arrangements(stream: Words, count: int, size: int) -> Ints:
    """Return random permutations of 0 to ``size`` - 1, shape (count, size)."""
    found = np.empty((count, size), dtype=np.int64)
    for k in range(count):
        for i in range(size):
            # Lemire's method without rejection: off from uniform by less than size/2^32, which no sample shows.
            j = np.int64(((next_word(stream) >> np.uint64(32)) * np.uint64(i + 1)) >> np.uint64(32))
            found[k, i] = found[k, j]
            found[k, j] = i
    return found
