"""What every command needs to print for people: a console of the right width, and words in the terminal's letters."""

import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text


def console(width: int) -> "Console":
    """Return a console as wide as the terminal, or ``width`` columns in a pipe, where nobody sees the width."""
    from rich.console import Console

    return Console(width=shutil.get_terminal_size((width, 24)).columns, highlight=False)


def text(console: "Console", words: str, style: str = "") -> "Text":
    """Return words as they are, brackets and all, in what letters the terminal has."""
    from rich.text import Text

    try:
        words.encode(console.encoding)
    except UnicodeEncodeError:
        words = words.replace("λ", "lambda").encode(console.encoding, "replace").decode(console.encoding)
    return Text(words, style=style)
