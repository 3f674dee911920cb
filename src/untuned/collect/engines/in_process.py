"""The engine without workers: it runs one number after the other in this process and thread, for debuggers."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

from untuned.collect.engines.engine import Numbers, Stop, Work

Result = TypeVar("Result")


class InProcessEngine:
    """Does work in this process. Time limits are not enforced, and work that ends the process ends the program."""

    #: Number of workers.
    workers = 1

    def run(self, work: Sequence[Work[Result]], todo: Sequence[Numbers], stop: Stop) -> Iterator[Sequence[Result]]:
        """Yield results as they are finished; `untuned.collect.engines.engine.Engine.run` says how."""
        for each, numbers in zip(work, todo, strict=True):
            for number in numbers.tolist():
                if stop():
                    return
                yield [each.do(number, stop)]
