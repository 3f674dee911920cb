"""Random numbers for kernels: xoshiro256++ with its state owned by the caller.

The state is four 64-bit words per trial, filled from a digest of the trial's key, so that adding an algorithm or
changing the number of workers does not change other trials. Algorithm: Blackman and Vigna, "Scrambled linear
pseudorandom number generators", ACM TOMS 47(4), 2021.
"""

import hashlib

import numpy as np

from untuned.collect.kernels.jit import INTERPRETED, RandomState, kernel

_U11 = np.uint64(11)
_U17 = np.uint64(17)
_U19 = np.uint64(19)
_U23 = np.uint64(23)
_U41 = np.uint64(41)
_U45 = np.uint64(45)
_TWO_TO_MINUS_53 = 2.0**-53


def random_state(*key: int | str) -> RandomState:
    """Return the generator's state for a key: four 64-bit words, shape (4,).

    Different keys give streams that are independent for all practical purposes; the types and the borders of the
    key's parts count, so that ``("a", "bc")`` and ``("ab", "c")``, or ``1`` and ``"1"``, differ.

    Parameters
    ----------
    *key
        The key of the stream: numbers and strings.
    """
    digest = hashlib.blake2b(digest_size=32, person=b"untuned-random")
    for part in key:
        # In Python bool is an int, NumPy's integers are not: both stand for their value here.
        text = part if isinstance(part, str) else str(int(part))
        encoded = text.encode()
        digest.update(b"s" if isinstance(part, str) else b"i")
        digest.update(len(encoded).to_bytes(8, "little"))
        digest.update(encoded)
    return np.frombuffer(digest.digest(), dtype="<u8").astype(np.uint64)


@kernel
def next_word(random: RandomState) -> np.uint64:
    """Return the next 64 random bits and advance the state."""
    s0, s1, s2, s3 = random[0], random[1], random[2], random[3]
    total = s0 + s3
    word: np.uint64 = ((total << _U23) | (total >> _U41)) + s0
    shifted = s1 << _U17
    s2 ^= s0
    s3 ^= s1
    s1 ^= s2
    s0 ^= s3
    s2 ^= shifted
    random[0] = s0
    random[1] = s1
    random[2] = s2
    random[3] = (s3 << _U45) | (s3 >> _U19)
    return word


if INTERPRETED:
    # Words overflow by design; compiled code does so silently, NumPy's scalars would warn at every draw.
    next_word = np.errstate(over="ignore")(next_word)


@kernel(brief=True)
def uniform(random: RandomState) -> float:
    """Return a number uniform on [0, 1), a multiple of 2**-53, and advance the state.

    Parameters
    ----------
    random
        The state of the generator, from `random_state`; advanced.
    """
    # Through int64: converting a signed word to a double is one instruction, an unsigned one several.
    return np.float64(np.int64(next_word(random) >> _U11)) * _TWO_TO_MINUS_53


@kernel
def standard_normals(random: RandomState) -> tuple[float, float]:
    """Return two independent standard normal numbers (Box and Muller) from two uniform ones.

    Parameters
    ----------
    random
        The state of the generator, from `random_state`; advanced.
    """
    radius = np.sqrt(-2.0 * np.log(1.0 - uniform(random)))
    angle = 2.0 * np.pi * uniform(random)
    return radius * np.cos(angle), radius * np.sin(angle)
