"""`Progress`: how far collecting is, and what counts it."""

import math
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from untuned.collect.trial import Trial
from untuned.families import Families

#: Scores per cell that are kept to see which algorithm is ahead, and moments that the rate is taken over.
SCORES_KEPT = 200
_MARKS = 60
#: An algorithm fails when so many of its trials are finished, and every one failed.
FIRST_TRIALS = 5

Names = tuple[str, str]


@dataclass(frozen=True)
class Progress:
    """How far collecting is.

    Parameters
    ----------
    stored, wanted
        Trials that are safe on the disk, and that there should be.
    cells, cells_done
        How many there are, and how many of them have all their trials.
    rate
        Trials a second, of late; 0 when it is not known yet.
    failed
        Trials of this run that failed.
    scores
        By (algorithm, environment), at most two hundred of each; minus infinity for a trial that failed.
    families
        The families of variants that the study declares; None where it declares none.
    """

    stored: int
    wanted: int
    cells: int
    cells_done: int
    rate: float
    failed: int
    scores: Mapping[Names, Sequence[float]]
    families: Families | None = None

    @property
    def left(self) -> int:
        """Trials still to do."""
        return self.wanted - self.stored


Watch = Callable[[Progress], None]


class Tally:
    """Counts what was stored, and reports it.

    Parameters
    ----------
    wanted
        How many trials there should be.
    left
        By cell, how many of them are missing.
    stored, failures
        By cell, how many trials are there already, and how many of these failed.
    scores
        By cell, scores that are there already.
    watch
        Called with the progress; None for no report.
    families
        As in `Progress`.

    Attributes
    ----------
    failing
        The algorithm with trials to run that failed in all of its first trials, at least `FIRST_TRIALS`, and how many
        these were; None while there is none.
    """

    def __init__(
        self,
        wanted: int,
        left: Mapping[Names, int],
        stored: Mapping[Names, int],
        failures: Mapping[Names, int],
        scores: Mapping[Names, list[float]],
        watch: Watch | None,
        families: Families | None = None,
    ) -> None:
        self.wanted = wanted
        self.stored = wanted - sum(left.values())
        self.failed = 0
        self._left = dict(left)
        self._scores = scores
        self._watch = watch
        self._families = families
        self._marks = [(time.monotonic(), self.stored)]
        self._running = list(dict.fromkeys(algorithm for (algorithm, _), missing in left.items() if missing))
        self._finished: Counter[str] = Counter()
        self._failures: Counter[str] = Counter()
        for cell in left:
            self._finished[cell[0]] += stored.get(cell, 0)
            self._failures[cell[0]] += failures.get(cell, 0)
        self.failing = self._failing()

    def __call__(self, trials: Sequence[Trial]) -> None:
        """Count trials that were just stored."""
        for trial in trials:
            cell = (trial.algorithm, trial.environment)
            self._left[cell] -= 1
            self.stored += 1
            failed = trial.failure is not None
            self.failed += failed
            self._finished[trial.algorithm] += 1
            self._failures[trial.algorithm] += failed
            if cell in self._scores and len(self._scores[cell]) < SCORES_KEPT:
                self._scores[cell].append(ranked(trial))
        self.failing = self.failing or self._failing()
        # The rate over the last half minute or so: cells differ, and so does the machine's load.
        self._marks = [*self._marks[-_MARKS:], (time.monotonic(), self.stored)]
        self.report()

    def _failing(self) -> tuple[str, int] | None:
        counts = ((each, self._finished[each]) for each in self._running)
        return next((each for each in counts if each[1] >= FIRST_TRIALS and each[1] == self._failures[each[0]]), None)

    def report(self) -> None:
        """Report the progress."""
        if self._watch is None:
            return
        (begin, before), (now, stored) = self._marks[0], self._marks[-1]
        self._watch(
            Progress(
                self.stored,
                self.wanted,
                len(self._left),
                sum(not left for left in self._left.values()),
                (stored - before) / (now - begin) if now > begin else 0.0,
                self.failed,
                self._scores,
                self._families,
            )
        )


def ranked(trial: Trial) -> float:
    """Return a score to rank by: minus infinity for a trial that failed."""
    return trial.score if trial.failure is None else -math.inf
