"""A small curve for the terminal, drawn with dots: two across and four up in every character."""

import math
from collections.abc import Sequence
from itertools import pairwise

# Braille patterns start here; each of the eight dots of a character has its bit.
_BLANK = 0x2800
_DOTS = ((0x40, 0x04, 0x02, 0x01), (0x80, 0x20, 0x10, 0x08))


def curve(values: Sequence[float], width: int, height: int, braille: bool = True) -> list[str]:
    """Return lines of text that plot the values from left to right, with the highest and lowest at the side.

    Parameters
    ----------
    values
        Finite numbers, one or more; those that share a column of dots are shown by their mean.
    width, height
        How many characters the drawing has, its scale not counted.
    braille
        Whether the terminal can show braille dots; else each character is one dot.
    """
    across, up = (2, 4) if braille else (1, 1)
    columns = min(len(values), width * across)
    # Every value in exactly one column.
    edges = [round(column * len(values) / columns) for column in range(columns + 1)]
    means = [math.fsum(values[a:b]) / (b - a) for a, b in pairwise(edges)]
    low, high = min(means), max(means)
    top = height * up - 1
    heights = [round((mean - low) / (high - low) * top) if high > low else top // 2 for mean in means]

    cells = [[0] * -(-columns // across) for _ in range(height)]
    for column, highest in enumerate(heights):
        # Filled down to the ground: single dots are hard to follow.
        for dot in range(highest + 1):
            bits = _DOTS[column % 2][dot % 4] if braille else 1
            cells[height - 1 - dot // up][column // across] |= bits
    labels = [f"{high:.6g}", *[""] * (height - 2), f"{low:.6g}"] if height > 1 else [f"{high:.6g}"]
    margin = max(map(len, labels))
    return [
        f"{label:>{margin}} {''.join(chr(_BLANK + bits) if braille else ' *'[bits] for bits in row)}".rstrip("\u2800 ")
        for label, row in zip(labels, cells, strict=True)
    ]
