"""Map a function over items, on several threads or, with one worker, in the caller's; and report progress."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

#: Called with the name of the step, how much of it is done, and the total.
Progress = Callable[[str, int, int], None]


def mapped(function: Callable[[Item], Result], items: Iterable[Item], workers: int) -> Iterator[Result]:
    """Yield the results in the order of the items."""
    if workers <= 1:
        # Starting a thread takes as long as a small board.
        yield from map(function, items)
        return
    with ThreadPoolExecutor(workers) as threads:
        yield from threads.map(function, items)


def counter(what: str, total: int, progress: Progress | None) -> Callable[[int], None] | None:
    """Return a function that counts up to ``total`` and reports it; None without ``progress``."""
    if progress is None:
        return None
    done = 0

    def advance(more: int) -> None:
        nonlocal done
        done += more
        progress(what, done, total)

    progress(what, 0, total)
    return advance
