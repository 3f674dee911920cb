"""`Progress`: the progress of collecting, and its counter."""

import math
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from untuned.collect.trial import Trial
from untuned.families import Families

#: Scores per cell that are kept to find the leader, and the number of moments for the rate.
SCORES_KEPT = 200
_MARKS = 60
#: An algorithm fails when at least this many of its trials are finished, and every one failed.
FIRST_TRIALS = 5

Names = tuple[str, str]


@dataclass(frozen=True)
class Progress:
    """The progress of collecting.

    Parameters
    ----------
    stored, wanted
        Trials stored on disk, and trials wanted.
    cells, cells_done
        Number of cells, and of complete cells.
    rate
        Recent trials per second; 0 while unknown.
    failed
        Trials of this run that failed.
    scores
        Scores by (algorithm, environment), at most two hundred of each; minus infinity for a failed trial.
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
        """The number of missing trials."""
        return self.wanted - self.stored


Watch = Callable[[Progress], None]


class Tally:
    """Counts stored trials, and reports them.

    Parameters
    ----------
    wanted
        The number of trials wanted.
    left
        The number of missing trials by cell.
    stored, failures
        The numbers of existing trials and of failed ones, by cell.
    scores
        Existing scores by cell.
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
        """Count newly stored trials."""
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
        # The rate over roughly the last half minute: cells differ, and so does the machine's load.
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
