"""Random streams for compiled code: the same words and seeds as NumPy's, but faster.

NumPy draws words under the interpreter's lock, and seeds one generator at a time, which takes longer than
resampling a small board. Here thousands are seeded at once, and kernels draw the words.
"""

import numpy as np
from numpy.typing import NDArray

from untuned.judge.jit import INTERPRETED, kernel

#: The states of generators, four words each.
Words = NDArray[np.uint64]
_Halves = NDArray[np.uint32]

# Constants of `numpy.random.SeedSequence`, which NumPy guarantees not to change. All arithmetic is modulo 2^32.
_MODULUS = 1 << 32
_POOL_START, _POOL_FACTOR = 0x43B0D7E5, 0x931E8875
_STATE_START, _STATE_FACTOR = 0x8B51F9DD, 0x58F38DED
_MINE, _OTHERS = 0xCA01F9DD, 0x4973F715
_HALF = np.uint32(16)


def streams(seed: int, count: int) -> Words:
    """Return the seeded states of the streams 0 to ``count`` - 1, shape (count, 4); call `skip_first` before drawing.

    Stream b is that of ``numpy.random.SFC64(numpy.random.SeedSequence(seed, spawn_key=(b,)))``. The seed makes a pool
    of four words, the same for all streams; b is then stirred into each, and the result is the state.
    """
    pool = np.random.SeedSequence(seed).pool.tolist()
    numbers = np.arange(count, dtype=np.uint32)
    # Every use of the multiplier changes it: once per word of the pool, once per ordered pair of them, and again with
    # each of them for every word by which the seed is too long.
    longer = max(0, -(-int(seed).bit_length() // 32) - len(pool))
    multiplier = _POOL_START * pow(_POOL_FACTOR, len(pool) * (len(pool) + longer), _MODULUS) % _MODULUS
    stirred = []
    for word in pool:
        hashed, multiplier = _hashed(numbers, multiplier, _POOL_FACTOR)
        mixed = _MINE * word % _MODULUS - hashed * np.uint32(_OTHERS)
        stirred.append(mixed ^ (mixed >> _HALF))
    multiplier = _STATE_START
    halves = np.empty((count, 6), dtype=np.uint64)
    for i in range(6):
        halves[:, i], multiplier = _hashed(stirred[i % len(pool)], multiplier, _STATE_FACTOR)
    result = np.ones((count, 4), dtype=np.uint64)
    result[:, :3] = halves[:, ::2] | (halves[:, 1::2] << _U32)
    return result


def _hashed(words: _Halves, multiplier: int, factor: int) -> tuple[_Halves, int]:
    """Return the words hashed, and the multiplier of the next."""
    following = multiplier * factor % _MODULUS
    product = (words ^ np.uint32(multiplier)) * np.uint32(following)
    return product ^ (product >> _HALF), following


_U3 = np.uint64(3)
_U11 = np.uint64(11)
_U24 = np.uint64(24)
_U32 = np.uint64(32)
_U40 = np.uint64(40)
_ONE = np.uint64(1)
_SKIPPED = 12


@kernel
def next_word(stream: Words) -> np.uint64:
    """Return the next 64 random bits (Doty-Humphrey's "small fast chaotic" generator, as in PractRand)."""
    word: np.uint64 = stream[0] + stream[1] + stream[3]
    stream[3] += _ONE
    stream[0] = stream[1] ^ (stream[1] >> _U11)
    stream[1] = stream[2] + (stream[2] << _U3)
    stream[2] = ((stream[2] << _U24) | (stream[2] >> _U40)) + word
    return word


if INTERPRETED:
    # Words overflow by design; compiled code does so silently, NumPy's scalars would warn at every draw.
    next_word = np.errstate(over="ignore")(next_word)


@kernel
def skip_first(stream: Words) -> None:
    """Skip the first words of a newly seeded stream, which still depend visibly on its seed."""
    for _ in range(_SKIPPED):
        next_word(stream)
