"""How an algorithm looks, the same in every figure and on the page: a colour, a dash pattern, a marker.

Two algorithms never differ in colour alone: colours are those of Okabe and Ito, distinct for any kind of colour vision,
and repeat after eight; markers repeat after eleven, so that no two of 88 algorithms share both; lines of the
second eight are dashed, of the third dotted.
"""

from collections.abc import Sequence
from dataclasses import dataclass

#: On white and on black: each has a contrast of at least 2 to its ground, and black needs its opposite.
_COLOURS = (
    ("#0072B2", "#4DA6E0"),
    ("#D55E00", "#F08A3C"),
    ("#009E73", "#2CC295"),
    ("#CC79A7", "#E39AC4"),
    ("#000000", "#F2F2F2"),
    ("#E69F00", "#F2B93B"),
    ("#56B4E9", "#8FD0F5"),
    ("#882255", "#C65D8E"),
)
#: Lengths of strokes and gaps, in line widths.
_DASHES: tuple[tuple[float, ...], ...] = ((), (5, 2), (1.2, 1.6), (6, 2, 1.2, 2), (9, 3), (6, 2, 1.2, 2, 1.2, 2))
#: As matplotlib and as the page call them.
_MARKERS = (
    ("o", "circle"),
    ("s", "square"),
    ("^", "triangle-up"),
    ("D", "diamond"),
    ("v", "triangle-down"),
    ("P", "cross"),
    ("X", "x"),
    ("<", "triangle-left"),
    ("*", "star"),
    (">", "triangle-right"),
    ("h", "hexagon"),
)


@dataclass(frozen=True)
class Style:
    """How an algorithm looks.

    Attributes
    ----------
    colour, dark_colour
        On a light ground and on a dark one.
    dashes
        Lengths of strokes and gaps, in line widths; empty for a solid line.
    marker, symbol
        The same mark as matplotlib and as the page call it.
    """

    colour: str
    dark_colour: str
    dashes: tuple[float, ...]
    marker: str
    symbol: str


def styles(algorithms: Sequence[str]) -> dict[str, Style]:
    """Return how each algorithm looks, by its place in the evaluation: no score changes it."""
    found = {}
    for number, name in enumerate(algorithms):
        colour, dark = _COLOURS[number % len(_COLOURS)]
        marker, symbol = _MARKERS[number % len(_MARKERS)]
        found[name] = Style(colour, dark, _DASHES[number // len(_COLOURS) % len(_DASHES)], marker, symbol)
    return found
