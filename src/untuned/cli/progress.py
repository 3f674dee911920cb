"""What one sees while trials are run: a line that is written anew on a terminal, a line now and then elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from untuned.cli.terminal import telling_of_compiling

if TYPE_CHECKING:
    from untuned.api import Progress

#: Seconds between two lines where there is no terminal, and between two looks at who leads.
_PAUSE = 10.0
_LOOK = 3.0


@contextmanager
def display(quiet: bool) -> "Iterator[Callable[[Progress], None] | None]":
    """Yield what is to be told of progress; None when nobody wants to hear of it."""
    # Where there is no such stream, as after 2>&-, there is nobody to tell.
    if quiet or sys.stderr is None:
        yield None
    elif sys.stderr.isatty():
        with _live() as watch, telling_of_compiling():
            yield watch
    else:
        with telling_of_compiling():
            yield _Lines()


def sentence(progress: "Progress", leader: str | None) -> str:
    """Return how far it is, in a line."""
    parts = [
        f"{progress.stored:,} of {progress.wanted:,} trials ({100 * progress.stored // max(progress.wanted, 1)} %)",
        f"{progress.cells_done} of {progress.cells} cells",
    ]
    if progress.rate:
        parts.append(f"{progress.rate:,.0f} a second" if progress.rate >= 10 else f"{progress.rate:.2g} a second")
        if progress.left:
            parts.append(f"about {duration(progress.left / progress.rate)} left")
    if progress.failed:
        parts.append(f"{progress.failed:,} failed")
    if leader is not None:
        parts.append(f"ahead: {leader}")
    return ", ".join(parts)


def duration(seconds: float) -> str:
    """Return a time as people say it."""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


class _Leader:
    """Looks now and then at who is ahead, by the scores so far; nobody, as long as there are empty cells."""

    def __init__(self) -> None:
        self._due = 0.0
        self.name: str | None = None

    def look(self, progress: "Progress") -> str | None:
        # At the end once more: it is the last that one sees.
        if time.monotonic() >= self._due or not progress.left:
            self.name = self._found(progress)
            self._due = time.monotonic() + _LOOK
        return self.name

    def _found(self, progress: "Progress") -> str | None:
        scores = progress.scores
        algorithms = list(dict.fromkeys(algorithm for algorithm, _ in scores))
        environments = list(dict.fromkeys(environment for _, environment in scores))
        if len(algorithms) < 2 or not all(scores.values()):
            return None
        import numpy as np

        from untuned.judge.game import aggregate, equilibrium
        from untuned.judge.percentiles import percentiles
        from untuned.judge.pool import pools
        from untuned.scores import ScoreTable

        table = ScoreTable.from_array(
            # Ranks decide, so the lowest number there is will do for a trial that failed.
            [
                [np.nan_to_num(scores[algorithm, environment], neginf=-1e300) for environment in environments]
                for algorithm in algorithms
            ]
        )
        z = percentiles(pools(table)).z_aer
        y = aggregate(z, equilibrium(z).q_er)
        return algorithms[int(y.argmax())]


class _Lines:
    """A plain line at the beginning, every ten seconds, and at the end."""

    def __init__(self) -> None:
        self._due = 0.0
        self._leader = _Leader()

    def __call__(self, progress: "Progress") -> None:
        if time.monotonic() >= self._due or not progress.left:
            self._due = time.monotonic() + _PAUSE
            # Whoever was reading may be gone; the trials go on.
            with suppress(OSError, ValueError):
                print(sentence(progress, self._leader.look(progress)), file=sys.stderr, flush=True)


@contextmanager
def _live() -> "Iterator[Callable[[Progress], None]]":
    from rich.console import Console, Group
    from rich.live import Live
    from rich.progress_bar import ProgressBar
    from rich.text import Text

    leader = _Leader()
    with Live(console=Console(stderr=True), refresh_per_second=8, transient=True) as live:

        def watch(progress: "Progress") -> None:
            bar = ProgressBar(total=max(progress.wanted, 1), completed=progress.stored, width=60)
            live.update(Group(Text(sentence(progress, leader.look(progress))), bar))

        yield watch
