"""What judging will cost, said before it starts where that is minutes or more."""

import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from untuned.cli.terminal import printable

if TYPE_CHECKING:
    from untuned.judge.judging import Judging
    from untuned.scores import ScoreTable

#: Seconds of one processor for a bound under the game's weights, per state and move: 1e-8 to 7e-8 on boards of 16 x 3
#: to 200 x 3, 40 x 20, 12 x 57 and 3 x 2,000, whose bounds took 2.5 ms to 7 s each.
_SECONDS = 3.5e-8

#: Shorter work is not announced.
_LEAST = 60.0


def bounding_seconds(algorithms: int, environments: int, workers: int) -> float:
    """Return roughly how long the bounds on all scores under the game's weights take, without those on pairs."""
    states, moves = algorithms**2 * environments, algorithms * (1 + environments)
    return 2 * algorithms * states * moves * _SECONDS / workers


def announce(judging: "Judging", table: "ScoreTable", workers: int | None) -> None:
    """Print on the error stream what the game's weights will cost on a large board, and what the quick answer is."""
    from untuned.cli.progress import duration
    from untuned.families import count
    from untuned.processors import processors

    n, m = len(table.algorithms), len(table.environments)
    if "game" not in judging.weightings or count(judging.families, table.environments) < 2:
        return
    # The bootstrap draws games instead of bounding them.
    if judging.method_under("game").intervals is None:
        return
    threads = max(processors() if workers is None else workers, 1)
    seconds = bounding_seconds(n, m, threads)
    if seconds < _LEAST:
        return
    said = (
        f"The game's weights need {2 * n:,} bounds over {n * n * m:,} states each: roughly {duration(seconds)} on "
        f"{threads} {'thread' if threads == 1 else 'threads'}, and then up to {n * (n - 1) // 2:,} pairs. Equal "
        "weights alone take a small part of that: untuned evaluate --weights uniform"
    )
    # The reader may have closed the pipe.
    with suppress(OSError, ValueError):
        print(printable(said), file=sys.stderr, flush=True)
