"""What every command prints with: a console of the right width, and text that the terminal can encode."""

import os
import re
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text


def console(width: int) -> "Console":
    """Return a console as wide as the terminal, or ``width`` columns in a pipe."""
    from rich.console import Console

    return Console(width=shutil.get_terminal_size((width, 24)).columns, highlight=False)


def text(console: "Console", words: str, style: str = "") -> "Text":
    """Return text without markup that the terminal can encode; control characters are replaced."""
    from rich.text import Text

    words = printable(words)
    try:
        words.encode(console.encoding)
    except UnicodeEncodeError:
        words = words.replace("λ", "lambda").encode(console.encoding, "replace").decode(console.encoding)
    return Text(words, style=style)


def printable(words: str) -> str:
    """Return text whose control characters are replaced: a name must not move the cursor or colour the screen."""
    return re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]", "\N{REPLACEMENT CHARACTER}", words)


def print_bytes(words: str) -> None:
    """Print output for programs: UTF-8 whatever the terminal's encoding, one line feed at the end."""
    import typer

    typer.echo(f"{words.rstrip(chr(10))}\n".encode(), nl=False)


@dataclass(frozen=True)
class Column:
    """A column of a table on the screen.

    Attributes
    ----------
    heading
        Printed above it.
    cells
        One per row.
    kind
        Names may be folded; numbers stand on the right; words on the left; a drawing is left out where it does not fit.
    """

    heading: str
    cells: Sequence[str]
    kind: Literal["name", "number", "words", "drawing"]

    @property
    def width(self) -> int:
        """How many columns of the screen it needs."""
        from rich.cells import cell_len

        widest = max(map(cell_len, [self.heading, *self.cells]))
        return min(widest, _SHORT) if self.kind == "name" else widest


#: Characters of a name that are always shown next to its numbers.
_SHORT = 12


def print_table(console: "Console", columns: Sequence[Column]) -> None:
    """Print columns side by side, or, where the screen is too narrow, each row as several lines."""
    from rich.table import Table

    if _too_wide(console, columns):
        columns = [column for column in columns if column.kind != "drawing"]
    if _too_wide(console, columns):
        _print_stacked(console, columns)
        return
    table = Table(box=None, pad_edge=False)
    for column in columns:
        if column.kind == "name":
            table.add_column(column.heading, overflow="fold")
        else:
            table.add_column(column.heading, justify="right" if column.kind == "number" else "left", no_wrap=True)
    for row in zip(*(column.cells for column in columns), strict=True):
        table.add_row(*(text(console, cell) for cell in row))
    console.print(table)


def _too_wide(console: "Console", columns: Sequence[Column]) -> bool:
    return sum(column.width for column in columns) + 2 * (len(columns) - 1) > console.width


def _print_stacked(console: "Console", columns: Sequence[Column]) -> None:
    """Print the names of every row on their own line, and the other cells below it, with their headings."""
    from rich.cells import cell_len

    for row in zip(*(column.cells for column in columns), strict=True):
        named = list(zip(columns, row, strict=True))
        title = ", ".join(cell for column, cell in named if column.kind == "name")
        console.print(text(console, title), overflow="fold")
        line = ""
        for column, cell in named:
            if column.kind == "name":
                continue
            part = f"  {column.heading} {cell}"
            if line and cell_len(line + part) > console.width:
                console.print(text(console, line))
                line = ""
            line += part
        console.print(text(console, line))


#: Columns of an interval's drawing, and of the narrowest terminal that shows it.
BAR = 30
_WIDE = 100


def draws(console: "Console") -> bool:
    """Return whether intervals are drawn: on a terminal with room for it, never in a pipe or a file."""
    return console.width >= _WIDE and sys.stdout.isatty()


def drawn_interval(
    console: "Console", value: float | None, low: float | None, high: float | None, scale: tuple[float, float]
) -> str:
    """Return an interval as a bar with a mark on its estimate; nothing where there is none.

    Parameters
    ----------
    console
        Where it is printed: it may be unable to encode the bar.
    value, low, high
        The estimate and the ends; None where they are unknown.
    scale
        What the left and the right edge stand for.
    """
    if value is None or low is None or high is None:
        return ""

    def place(number: float) -> int:
        part = (min(max(number, scale[0]), scale[1]) - scale[0]) / (scale[1] - scale[0])
        return round(part * (BAR - 1))

    left, line, right, mark = "├", "─", "┤", "●"
    try:
        (left + line + right + mark).encode(console.encoding)
    except UnicodeEncodeError:
        left, line, right, mark = "|", "-", "|", "o"
    drawn = [" "] * BAR
    drawn[place(low) : place(high) + 1] = line * (place(high) - place(low) + 1)
    drawn[place(low)], drawn[place(high)] = left, right
    drawn[place(value)] = mark
    return "".join(drawn)


@contextmanager
def telling_of_compiling() -> Iterator[None]:
    """Print on the error stream, once, that kernels are being compiled, if any are: that can take a minute."""
    # Imported here: it brings the compiler, which most commands do without.
    from untuned.compiling import noticing

    def tell() -> None:
        # The reader may have closed the pipe.
        with suppress(OSError, ValueError):
            print("compiling, once on this machine: this can take a minute ...", file=sys.stderr, flush=True)

    with noticing(tell):
        yield


@contextmanager
def showing_progress() -> Iterator[Callable[[str, int, int], None] | None]:
    """Show a bar for long work on a terminal's error stream, below the note on compiling.

    Elsewhere, print a line every half minute once it takes longer than that.
    """
    if sys.stderr is None:
        yield None
        return
    if not sys.stderr.isatty():
        told = _Told("working")
        with told:
            yield told.show
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar, telling_of_compiling():
        tasks: dict[str, Any] = {}

        def advance(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=total)
            bar.update(tasks[what], completed=done, total=total)

        yield advance


class _Told(AbstractContextManager[None]):
    """Plain lines about long work, every half minute, with how long the current step will take.

    A separate thread prints them, so they appear even for work that does not report its progress.
    """

    def __init__(self, what: str) -> None:
        self._begun = time.monotonic()
        self._now = (what, 0, 0, self._begun, 0)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def show(self, what: str, done: int, total: int) -> None:
        """Record how much of a step is done, and the total."""
        known, _, _, since, before = self._now
        self._now = (what, done, total, since, before) if what == known else (what, done, total, time.monotonic(), done)

    def _watch(self) -> None:
        while not self._over.wait(_PATIENCE):
            # The reader may have closed the pipe; the work continues.
            with suppress(OSError, ValueError):
                print(printable(self._line()), file=sys.stderr, flush=True)

    def _line(self) -> str:
        what, done, total, since, before = self._now
        now = time.monotonic()
        part = f": {done:,} of {total:,}" if total else ""
        left = (now - since) / (done - before) * (total - done) if done > before else 0.0
        rest = f", about {left / 60:,.0f} min left" if left > 90 else ""
        return f"{what}{part}, {now - self._begun:,.0f} s so far{rest}"


def telling(what: str) -> AbstractContextManager[None]:
    """Print a line every half minute for work whose progress is unknown."""
    return nullcontext() if sys.stderr is None else _Told(what)


#: Seconds before the first line on long work, and between two of them. The environment variable is for programs that
#: compare what is printed, and for batch systems whose logs should be short.
_PATIENCE = 25.0
with suppress(ValueError):
    _PATIENCE = float(os.environ["UNTUNED_PROGRESS_SECONDS"]) if "UNTUNED_PROGRESS_SECONDS" in os.environ else 25.0


@contextmanager
def counting(what: str) -> Iterator[Callable[[int, int], None]]:
    """Show progress of what is done with the trials of a large study, for example "trials verified"."""
    with showing_progress() as show:
        yield lambda done, total: None if show is None else show(what, done, total)
