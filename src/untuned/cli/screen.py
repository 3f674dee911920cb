"""What every command needs to print for people: a console of the right width, and words in the terminal's letters."""

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

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


@contextmanager
def showing_progress() -> Iterator[Callable[[str, int, int], None] | None]:
    """Show a bar on the error stream of a terminal, for what takes long; nothing elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, Any] = {}

        def advance(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=total)
            bar.update(tasks[what], completed=done)

        yield advance
