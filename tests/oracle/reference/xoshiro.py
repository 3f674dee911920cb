"""The xoshiro256++ generator (Blackman & Vigna) in plain Python integers: slow and obvious."""

from dataclasses import dataclass

MASK = 2**64 - 1


def rotate_left(value: int, count: int) -> int:
    """Rotate a 64-bit integer to the left."""
    return ((value << count) | (value >> (64 - count))) & MASK


@dataclass
class Xoshiro:
    """Four 64-bit integers of state, not all of them zero."""

    state: list[int]

    def next(self) -> int:
        """Return the next 64-bit integer and move the state on."""
        s0, s1, s2, s3 = self.state
        result = (rotate_left((s0 + s3) & MASK, 23) + s0) & MASK
        shifted = (s1 << 17) & MASK
        s2 ^= s0
        s3 ^= s1
        s1 ^= s2
        s0 ^= s3
        s2 ^= shifted
        s3 = rotate_left(s3, 45)
        self.state = [s0, s1, s2, s3]
        return result

    def uniform(self) -> float:
        """Return the next float in [0, 1): the upper 53 bits of the next integer."""
        return (self.next() >> 11) * 2.0**-53
