"""Running the lab's work units on the engines that collect trials: a journal keeps each when it is done.

The result of a work unit depends on nothing else, so the number of workers does not matter.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from untuned.collect.engines.engine import Engine, Stop, never, run_into
from untuned.collect.engines.in_process import InProcessEngine
from untuned.collect.engines.local import LocalEngine
from untuned.errors import Stopped, UntunedError
from untuned.lab.journal import Entry, Facts, Journal

Shared = TypeVar("Shared")
Piece = TypeVar("Piece")

#: Called with the number of finished work units, and the total.
Progress = Callable[[int, int], None]
#: Does a work unit with the shared data; None when it was stopped.
Function = Callable[[Shared, Piece, Stop], Facts | None]


@dataclass(frozen=True)
class Pieces(Generic[Shared, Piece]):
    """Work units with shared data, as work that an engine does by number.

    Attributes
    ----------
    function
        Does a work unit; a function of a module, so that worker processes find it.
    shared
        The data that every work unit needs, sent to each worker process once.
    pieces
        The work units, with the key of each in the journal.
    """

    function: Function[Shared, Piece]
    shared: Shared
    pieces: Sequence[tuple[Facts, Piece]]
    name: str = "this experiment"
    compiled: bool = False
    time_limit: float | None = None
    memory: int | None = None
    isolate: bool = False

    def do(self, number: int, stop: Stop | None) -> Entry:
        """Return the key of a work unit, and its result."""
        key, piece = self.pieces[number]
        facts = self.function(self.shared, piece, stop or never)
        if facts is None:
            raise Stopped
        return key, facts

    def failed(self, number: int, message: str, seconds: float) -> Entry:
        """Raise: an experiment with a failed work unit has no result."""
        raise UntunedError(
            f"work unit {number} of {self.name} was not done, {message}: finished ones are kept, rerun to resume. Was "
            "there enough memory? One worker needs no worker process"
        )

    def out_of_memory(self, result: Entry) -> None:
        """Return None: work units have no time limit."""


def run(
    function: Function[Shared, Piece],
    shared: Shared,
    pieces: Sequence[tuple[Facts, Piece]],
    journal: Journal,
    *,
    workers: int,
    progress: Progress | None = None,
    stop: Stop | None = None,
) -> list[Facts]:
    """Return the results of all work units, in order; those in the journal are not done again.

    Parameters
    ----------
    function, shared, pieces
        As for `Pieces`.
    journal
        Keeps finished work units.
    workers
        Number of worker processes; with one, all work is done in this process.
    progress
        Called with the number of finished work units, and the total.
    stop
        Polled several times per second.

    Raises
    ------
    Stopped
        When ``stop`` returned True before all were done; finished work units are in the journal.
    """
    todo = np.array([n for n, (key, _) in enumerate(pieces) if journal.get(key) is None], dtype=np.int64)
    done = len(pieces) - todo.size

    def count(finished: Sequence[Any]) -> None:
        nonlocal done
        done += len(finished)
        if progress is not None:
            progress(done, len(pieces))

    count(())
    engine: Engine = InProcessEngine() if workers == 1 or todo.size < 2 else LocalEngine(workers)
    run_into(journal, engine, [Pieces(function, shared, pieces)], [todo], stop=stop, watch=count)
    if done < len(pieces):
        where = "" if journal.path is None else f" and kept in {journal.path}"
        raise Stopped(f"{done:,} of {len(pieces):,} work units are done{where}")
    return [facts for key, _ in pieces if (facts := journal.get(key)) is not None]
