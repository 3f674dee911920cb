"""Progress on the error stream: one line that is rewritten on a terminal, a new line at intervals elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from untuned.cli.terminal import printable, showing_progress, telling_of_compiling

if TYPE_CHECKING:
    from untuned.collect.progress import Progress

#: Seconds between two lines without a terminal, and between two checks of which algorithm leads.
_PAUSE = 10.0
_LOOK = 3.0
#: Seconds in which no time left is estimated unless every cell has a trial: compiling makes the first trials slow.
_SETTLING = 60.0


class Display:
    """Shows the progress of a command, one activity at a time; for use in a ``with`` statement.

    Parameters
    ----------
    quiet
        Show nothing.

    Attributes
    ----------
    collecting
        Called with a `Progress` while trials are run.
    judging
        Called with the name of the step, how much of it is done, and the total.
    experiments
        Called with how many work units of the lab are done, and the total.
    rounds
        Called with a line about every round of a race.
    race
        What to say of the race before the progress of its round; empty outside races.
    """

    def __init__(self, quiet: bool) -> None:
        self._showing = ExitStack()
        self._activity: Callable[[], Any] | None = None
        self._show: Callable[..., None] | None = None
        # After 2>&- there is no such stream.
        shown = not quiet and sys.stderr is not None
        self.race = ""
        self.lines = _Lines()
        collecting = partial(_collecting, self)
        self.collecting: Callable[[Progress], None] | None = partial(self._tell, collecting) if shown else None
        self.judging: Callable[[str, int, int], None] | None = partial(self._tell, showing_progress) if shown else None
        self.experiments: Callable[[int, int], None] | None = partial(self._tell, _experiments) if shown else None
        self.rounds: Callable[[str], None] | None = partial(self._tell, _rounds) if shown else None

    def __enter__(self) -> "Display":
        return self

    def __exit__(self, *_: object) -> None:
        self._showing.close()

    def _tell(self, activity: Callable[[], AbstractContextManager[Any]], *news: Any) -> None:
        if activity is not self._activity:
            self._showing.close()
            self._activity, self._show = activity, self._showing.enter_context(activity())
        if self._show is not None:
            self._show(*news)


@contextmanager
def _collecting(display: Display) -> "Iterator[Callable[[Progress], None]]":
    leader, begun = _Leader(), time.monotonic()

    def words(progress: "Progress") -> str:
        # After a round of a race its own line says who is ahead.
        settled = len(progress.scores) == progress.cells or time.monotonic() - begun > _SETTLING
        leading = None if display.race else leader.look(progress)
        return f"{display.race}{sentence(progress, leading, settled=settled)}"

    with telling_of_compiling():
        if sys.stderr.isatty():
            with _live(words) as show:
                yield show
        else:
            lines = display.lines if display.race else _Lines()
            yield lambda progress: lines.show(lambda: words(progress), last=not progress.left and not display.race)


@contextmanager
def _rounds() -> Iterator[Callable[[str], None]]:
    yield _print


@contextmanager
def _experiments() -> Iterator[Callable[[int, int], None]]:
    if sys.stderr is not None and sys.stderr.isatty():
        with showing_progress() as bar:
            assert bar is not None
            yield partial(bar, "experiments")
    else:
        lines, pace = _Lines(), _Pace()
        yield lambda done, total: lines.show(lambda: pace.sentence(done, total), last=done == total)


def sentence(progress: "Progress", leader: str | None, *, settled: bool = True) -> str:
    """Return the progress as a line of text, with the time left if the rate has settled."""
    parts = [
        f"{progress.stored:,} of {progress.wanted:,} trials ({100 * progress.stored // max(progress.wanted, 1)} %)",
        f"{progress.cells_done} of {progress.cells} cells",
    ]
    if progress.rate:
        parts.append(f"{progress.rate:,.0f} a second" if progress.rate >= 10 else f"{progress.rate:.2g} a second")
        if progress.left and settled:
            parts.append(f"about {duration(progress.left / progress.rate)} left")
    if progress.failed:
        parts.append(f"{progress.failed:,} failed")
    if leader is not None:
        parts.append(f"ahead: {leader}")
    return ", ".join(parts)


def duration(seconds: float) -> str:
    """Return a duration as text, rounded to one unit."""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


class _Leader:
    """The algorithm that leads by the scores so far, updated at intervals; None while there are empty cells."""

    def __init__(self) -> None:
        self._due = 0.0
        self.name: str | None = None

    def look(self, progress: "Progress") -> str | None:
        # At the end once more: that line stays on the screen.
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

        from untuned.families import among, shares
        from untuned.judge.game import aggregate, equilibrium
        from untuned.judge.percentiles import percentiles
        from untuned.judge.pool import pools
        from untuned.scores import ScoreTable

        table = ScoreTable.from_array(
            # Only ranks count, so a failed trial gets the lowest number.
            [
                [np.nan_to_num(scores[algorithm, environment], neginf=-1e300) for environment in environments]
                for algorithm in algorithms
            ]
        )
        z = percentiles(pools(table)).z_aer
        share_e = shares(among(progress.families, environments), environments)
        y = aggregate(z, equilibrium(z, share_e=share_e).q_er)
        return algorithms[int(y.argmax())]


class _Lines:
    """A plain line at the beginning, every ten seconds, and at the end."""

    def __init__(self) -> None:
        self._due = 0.0

    def show(self, words: Callable[[], str], *, last: bool) -> None:
        if time.monotonic() >= self._due or last:
            self._due = time.monotonic() + _PAUSE
            _print(words())


def _print(words: str) -> None:
    # The reader may have closed the pipe; the work continues.
    with suppress(OSError, ValueError):
        print(printable(words), file=sys.stderr, flush=True)


class _Pace:
    """How many work units are done, and how long the rest will take."""

    def __init__(self) -> None:
        self._begin: tuple[float, int] | None = None

    def sentence(self, done: int, total: int) -> str:
        now = time.monotonic()
        since, before = self._begin = self._begin or (now, done)
        words = f"{done:,} of {total:,} work units ({100 * done // max(total, 1)} %)"
        if before < done < total:
            words += f", about {duration((total - done) * (now - since) / (done - before))} left"
        return words


@contextmanager
def _live(words: "Callable[[Progress], str]") -> "Iterator[Callable[[Progress], None]]":
    from rich.console import Console, Group
    from rich.live import Live
    from rich.progress_bar import ProgressBar
    from rich.text import Text

    with Live(console=Console(stderr=True), refresh_per_second=8, transient=True) as live:

        def watch(progress: "Progress") -> None:
            bar = ProgressBar(total=max(progress.wanted, 1), completed=progress.stored, width=60)
            live.update(Group(Text(words(progress)), bar))

        yield watch
