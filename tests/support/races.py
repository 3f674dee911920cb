"""A source of trials for races that is simulated, and can be killed at any moment."""

import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from untuned.scores import Floats, Ints, ScoreTable

NAMES = (("a", "b", "c"), ("x", "y"))


class Killed(Exception):
    pass


@dataclass
class Simulated:
    """Trials with numbers, whose scores depend on the number alone; every trial takes its seconds."""

    apart: float = 1.0
    names: tuple[tuple[str, ...], tuple[str, ...]] = NAMES
    entries: list[str] = field(default_factory=list)
    stored: Ints = field(default_factory=lambda: np.zeros((3, 2), dtype=np.int64))
    clock: float = 0.0
    seconds: float = 1.0
    #: How many entries and trials there may still be before a kill.
    lives: float = np.inf
    workers: int = 1
    measured: list[list[list[int]]] = field(default_factory=list)

    def _live(self) -> None:
        self.lives -= 1
        if self.lives < 0:
            raise Killed

    def log(self) -> Sequence[Mapping[str, Any]]:
        return [json.loads(entry) for entry in self.entries]

    def note(self, entry: Mapping[str, Any]) -> None:
        self._live()
        self.entries.append(json.dumps(entry))

    def collect(self, numbers_ae: Ints, stop: Callable[[], bool]) -> bool:
        for a, e in np.ndindex(*numbers_ae.shape):
            while self.stored[a, e] < numbers_ae[a, e]:
                if stop():
                    return False
                self._live()
                self.stored[a, e] += 1
                self.clock += self.seconds
        return True

    def scores(self) -> ScoreTable:
        n, m = self.stored.shape
        cells = {
            self.names[0][a]: {
                self.names[1][e]: np.random.default_rng([a, e]).normal(self.apart * a, 1.0, 5000)[: self.stored[a, e]]
                for e in range(m)
            }
            for a in range(n)
        }
        planned = [entry["numbers"] for entry in self.log() if entry["kind"] == "round"]
        complete = list(itertools.takewhile(lambda each: (np.array(each) <= self.stored).all(), planned))
        return replace(ScoreTable.from_dict(cells), rounds=np.array(complete, dtype=np.int64).reshape(-1, n, m))

    def costs(self, numbers_ae: Ints) -> Floats:
        self.measured.append(numbers_ae.tolist())
        return np.where(numbers_ae > 0, self.seconds, np.nan)

    def elapsed(self) -> float:
        return self.clock
