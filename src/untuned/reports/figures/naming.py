"""Names as a figure can show them: any text, literally, on one line, in letters that the font has."""

from collections.abc import Sequence

from matplotlib import font_manager
from matplotlib.font_manager import FontProperties
from matplotlib.ft2font import FT2Font

#: Letters of a name that are shown; of longer ones the beginning and the end.
LONGEST = 28


def shown(names: Sequence[str], longest: int = LONGEST) -> dict[str, str]:
    r"""Return what to print for each name, no two the same.

    What cannot be printed, and letters that the font lacks, are written as Python does: ``\n``, ``\u4e2d``. Names
    that are the same once shortened are numbered.

    Parameters
    ----------
    names
        Names of algorithms or environments.
    longest
        How many letters to show.
    """
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        text = short(name, longest)
        number = 2
        while text in taken:
            text = f"{short(name, max(longest - 4, 4))} ({number})"
            number += 1
        taken.add(text)
        found[name] = text
    return found


def short(text: str, longest: int = LONGEST) -> str:
    """Return a text on one line, in letters that the font has, without its middle where it is too long."""
    text = literal(text)
    if len(text) <= longest:
        return text
    end = (longest - 1) // 2
    return f"{text[: longest - 1 - end]}\N{HORIZONTAL ELLIPSIS}{text[len(text) - end :]}"


def literal(text: str) -> str:
    """Return a text with what cannot be printed written out."""
    fonts = _fonts()

    def known(letter: str) -> bool:
        return letter.isprintable() and any(font.get_char_index(ord(letter)) for font in fonts)

    return "".join(each if known(each) else each.encode("unicode_escape").decode("ascii") for each in text)


def _fonts() -> list[FT2Font]:
    """Return the fonts that letters are taken from, as matplotlib looks for them."""
    fonts = []
    for family in FontProperties().get_family():
        try:
            path = font_manager.findfont(FontProperties(family=[family]), fallback_to_default=False)
        except ValueError:
            continue
        fonts.append(font_manager.get_font(path))
    return fonts or [font_manager.get_font(font_manager.findfont(FontProperties()))]
