"""Map a function over items: on several threads or, with one worker, on none."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def mapped(function: Callable[[Item], Result], items: Iterable[Item], workers: int) -> Iterator[Result]:
    """Yield the results in the order of the items."""
    if workers <= 1:
        # A thread costs as much as a small board.
        yield from map(function, items)
        return
    with ThreadPoolExecutor(workers) as threads:
        yield from threads.map(function, items)
