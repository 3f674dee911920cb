"""The paper's own test of its intervals (its Table 2): how often they miss the estimates of other samples.

The paper draws 1,000 samples of each size from 11.14 million scores per cell, none of which is in two samples. Here
samples are drawn, with replacement, from the scores that were collected. So every sample consists of
independent trials from a known population, and intervals can be compared with its truth as well; the price is a
population with only as many different scores as were collected.

The estimate of another sample is not the truth. It varies as much as the interval's own estimate, so an interval that
holds its level for the truth misses other estimates more often.
"""

import dataclasses
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from untuned.collect.engines.engine import Stop
from untuned.collect.environments.names import NAMES
from untuned.collect.study import Study
from untuned.judge.judging import DELTA, SEED, Judging, whole
from untuned.judge.methods import Method, payoff_of
from untuned.lab.contenders import Contender, contenders
from untuned.lab.coverage_experiment import REFINE
from untuned.lab.data_sets import ROUNDING, Design, data_set, judged
from untuned.lab.journal import Facts, Journal
from untuned.lab.population_types import CollectedPopulation
from untuned.lab.rates import Rate
from untuned.lab.running import Progress, run
from untuned.lab.work_units import (
    Piece,
    Shared,
    compile_first,
    decisive_code,
    lab_options,
    pieces_of,
    sizes_and_counts,
)
from untuned.scores import Floats, ScoreTable

#: The sizes of the paper's samples.
TRIALS = (10, 30, 100, 1_000, 10_000)
#: The default numbers of samples: fewer where each takes seconds.
SAMPLES = (300, 300, 300, 100, 30)
RESAMPLES = 10_000
METHODS = ("pbp@paper", "pbp-t@paper", "bootstrap@paper", "pairing")
#: The paper's Table 2: (failure rate, proportion of significant comparisons) by the number of trials.
PUBLISHED: Mapping[str, Mapping[int, tuple[float, float]]] = MappingProxyType(
    {
        "pbp@paper": {10: (0.0, 0.0), 30: (0.0, 0.0), 100: (0.0, 0.0), 1_000: (0.0, 0.0), 10_000: (0.0, 0.33)},
        "pbp-t@paper": {
            10: (1.0, 0.0),
            30: (0.0, 0.0),
            100: (0.0, 0.02),
            1_000: (0.0, 0.34),
            10_000: (0.003, 0.83),
        },
        "bootstrap@paper": {
            10: (0.112, 0.11),
            30: (0.092, 0.37),
            100: (0.084, 0.74),
            1_000: (0.057, 0.83),
            10_000: (0.069, 0.83),
        },
    }
)
#: Its level.
_DELTA = 0.05
#: The format version of finished work: a change makes it run again.
_FORM = 2
#: The four algorithms and nine environments of that test, with as many trials as are collected by default.
STUDY = Study(
    name="bounds",
    seed=2020,
    algorithms=("ac-parl2", "sarsa-s", "sarsa-parl2", "q-parl2"),
    # The eight discrete ones come first in the paper's table.
    environments=(*NAMES[:8], "mountain-car"),
    trials=10_000,
)


@dataclass(frozen=True)
class Replicates:
    """The results of the samples of one size, judged by one method.

    Attributes
    ----------
    method, trials, samples
        Which method, the size of the samples, and how many there were.
    failures
        The paper's failure rate: of all ordered pairs of samples, the proportion in which any estimate of the first is
        outside the second's intervals. None with one sample.
    failures_error
        Its standard error, by leaving out each sample in turn (the jackknife). None with fewer than three.
    significant, significant_error
        The proportion of pairs of algorithms that are separated, and its standard error; that is None with one sample.
    truth
        Samples in which any aggregate score of the population is outside its interval.
    width
        Mean width of the intervals.
    published_failures, published_significant
        The paper's figures, if it has this line.
    seconds
        Seconds per sample.
    """

    method: str
    trials: int
    samples: int
    failures: float | None
    failures_error: float | None
    significant: float
    significant_error: float | None
    truth: Rate
    width: float
    published_failures: float | None
    published_significant: float | None
    seconds: float

    def facts(self) -> dict[str, Any]:
        """Return the same as plain JSON types."""
        return {**dataclasses.asdict(self), "truth": self.truth.facts()}


@dataclass(frozen=True)
class Replication:
    """The results of the paper's test.

    Attributes
    ----------
    rows
        One for each number of trials and method.
    population
        Description of the population.
    settings
        Everything that determines the numbers.
    """

    rows: tuple[Replicates, ...]
    population: str
    settings: Mapping[str, object]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain JSON types."""
        return {
            "settings": dict(self.settings),
            "population": self.population,
            "rows": [row.facts() for row in self.rows],
        }

    def to_json(self) -> str:
        """Return everything as JSON."""
        return json.dumps(self.to_dict(), indent=2)


def replication(
    scores: ScoreTable,
    methods: Sequence[str | Method] = METHODS,
    trials: Sequence[int] = TRIALS,
    *,
    samples: int | Sequence[int] = SAMPLES,
    delta: float = DELTA,
    refine: int | None = REFINE,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    workers: int = 1,
    record: str | Path | None = None,
    progress: Progress | None = None,
    stop: Stop | None = None,
) -> Replication:
    """Return the failure rates and proportions of significant comparisons of the paper's Table 2.

    Parameters
    ----------
    scores
        The population of scores: those of `STUDY`, to compare with the paper's figures.
    methods
        As for `untuned.lab.coverage`; by default the paper's three, as published, and ``pairing``.
    trials
        The sizes of samples; by default 10, 30, 100, 1,000 and 10,000.
    samples
        Number of samples; a list has one number for each size. By default 300, 300, 300, 100 and 30.
    delta
        The level of the intervals, 0.05 by default.
    refine
        Branching budget for a pair, 20 by default; None for the default of `untuned.evaluate`.
    resamples
        Number of resamples, 10,000 by default.
    seed
        Seed of the random numbers; 0 by default.
    workers
        Number of processes. It affects only the duration.
    record
        The journal: a file that keeps finished work units. The same call resumes from it.
    progress
        Called with the number of finished work units, and the total.
    stop
        Polled several times per second; when it returns True, finished work units stay in the journal.
    """
    tested, counts, judging, workers = check_replication(
        methods, trials, samples=samples, delta=delta, refine=refine, resamples=resamples, seed=seed, workers=workers
    )
    population = CollectedPopulation(scores)
    pieces = [
        ({"protocol": "paper", "form": _FORM, **key}, piece)
        for size, count in counts.items()
        for c, contender in enumerate(tested)
        for key, piece in pieces_of(population, 0, contender, c, Design(size), judging, count)
    ]
    found = run(
        _worked,
        Shared((population,), tested, judging),
        pieces,
        Journal(record),
        workers=workers,
        progress=progress,
        stop=stop,
    )
    parts: dict[tuple[int, int], list[Facts]] = {}
    for (_, piece), facts in zip(pieces, found, strict=True):
        parts.setdefault((piece.design.trials, piece.contender), []).append(facts)
    same = {choice.use for choice in STUDY.algorithms} == set(scores.algorithms) and {
        choice.use for choice in STUDY.environments
    } == set(scores.environments)
    rows = []
    for (size, c), several in parts.items():
        contender = tested[c]
        y_a = population.truth(payoff_of(contender.conventions)).y_a
        published = PUBLISHED.get(contender.name, {}).get(size) if same and judging.delta == _DELTA else None
        rows.append(_row(contender.name, size, several, y_a, published))
    return Replication(
        tuple(rows),
        population.summary,
        MappingProxyType(
            {
                **lab_options(judging),
                "samples": {str(size): count for size, count in counts.items()},
                "code": decisive_code(),
            }
        ),
    )


def check_replication(
    methods: Sequence[str | Method] = METHODS,
    trials: Sequence[int] = TRIALS,
    *,
    samples: int | Sequence[int] = SAMPLES,
    workers: int = 1,
    refine: int | None = REFINE,
    resamples: int = RESAMPLES,
    **options: Any,
) -> tuple[tuple[Contender, ...], dict[int, int], Judging, int]:
    """Return the checked options of `replication`, for callers that first collect for hours."""
    return (
        contenders(methods),
        sizes_and_counts(trials, samples, "samples"),
        Judging(weights="game", refine=refine, resamples=resamples, **options),
        whole("workers", workers, 1, "one per processor is a good number"),
    )


def _worked(shared: Shared, piece: Piece, stop: Stop) -> Facts | None:
    """Return estimates and intervals of all samples in a piece, None when it was stopped."""
    population, contender = shared.populations[piece.population], shared.contenders[piece.contender]
    compile_first(population, contender, piece, shared.judging)
    found: dict[str, Any] = {"score": [], "low": [], "high": [], "decided": [], "seconds": 0.0}
    for number in piece.numbers():
        if stop():
            return None
        table = data_set(population, piece.design, shared.judging.seed, number)
        begin = time.perf_counter()
        evaluation = judged(table, contender, shared.judging, number)
        found["seconds"] += time.perf_counter() - begin
        found["score"].append(evaluation.score_a.tolist())
        found["low"].append(evaluation.low_a.tolist())
        found["high"].append(evaluation.high_a.tolist())
        found["decided"].append(int(np.count_nonzero(evaluation.pairs.better_ab)))
    return found


def _row(
    name: str, trials: int, parts: Sequence[Facts], y_a: Floats, published: tuple[float, float] | None
) -> Replicates:
    score, low, high, decided = (
        np.concatenate([part[key] for part in parts]) for key in ("score", "low", "high", "decided")
    )
    count, n = score.shape
    pairs = n * (n - 1) // 2
    failures, failures_error = failure_rate(score, low, high)
    missed = ((y_a < low - ROUNDING) | (y_a > high + ROUNDING)).any(axis=1)
    return Replicates(
        method=name,
        trials=trials,
        samples=count,
        failures=failures,
        failures_error=failures_error,
        significant=float(decided.sum()) / (count * pairs),
        # Computed from integers: a constant has an error of exactly 0, without rounding.
        significant_error=float(decided.std(ddof=1)) / (pairs * np.sqrt(count).item()) if count > 1 else None,
        truth=Rate.of(int(np.count_nonzero(missed)), count),
        width=float((high - low).mean()),
        published_failures=None if published is None else published[0],
        published_significant=None if published is None else published[1],
        seconds=sum(part["seconds"] for part in parts) / count,
    )


def failure_rate(score: Floats, low: Floats, high: Floats) -> tuple[float | None, float | None]:
    """Return the proportion of ordered pairs of samples where an estimate of one is outside the other's intervals.

    Its standard error comes with it, by the jackknife: None with fewer than three samples, both with fewer than two.

    Parameters
    ----------
    score, low, high
        Estimates and ends of intervals, ``[sample, algorithm]``.
    """
    count = len(score)
    if count < 2:
        return None, None
    # For each sample: the pairs that fail with its estimates or with its intervals.
    with_it = np.zeros(count)
    failures = 0
    for j in range(count):
        outside = ((score < low[j] - ROUNDING) | (score > high[j] + ROUNDING)).any(axis=1)
        outside[j] = False
        number = int(np.count_nonzero(outside))
        with_it += outside
        with_it[j] += number
        failures += number
    rate = failures / (count * (count - 1))
    if count < 3:
        return rate, None
    without = (failures - with_it) / ((count - 1) * (count - 2))
    return rate, float(np.sqrt((count - 1) / count * np.sum((without - without.mean()) ** 2)))
