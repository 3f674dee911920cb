"""Coverage of the intervals: every method judges thousands of data sets with known truth.

It counts the data sets in which any percentile, any aggregate score or any difference of two is outside its interval,
and those in which any verdict is wrong; where there are head-to-head comparisons and statements on other weights, it
counts errors in these, and errors in anything, which the guarantee is about.
"""

import dataclasses
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from untuned.collect.engines.engine import Stop
from untuned.errors import InvalidInput
from untuned.judge.judging import DELTA, SEED, Judging, whole
from untuned.judge.methods import Method, payoff_of
from untuned.lab.contenders import Contender, contenders
from untuned.lab.coverage_records import Coverage, Row
from untuned.lab.data_sets import Design, Tally, experiment
from untuned.lab.journal import Facts, Journal
from untuned.lab.known_populations import populations as known_populations
from untuned.lab.population_types import CollectedPopulation, Population
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
    weights_text,
)
from untuned.scores import ScoreTable

if TYPE_CHECKING:
    from untuned.judge.weights import Weights

#: Trials for each algorithm on each environment, by default.
TRIALS = (10, 30, 100, 1_000)
DATA_SETS = 200
RESAMPLES = 1_000
#: The branching budget. `untuned.evaluate` bounds thousands of cases if necessary, which would take hours here and
#: only decide more pairs.
REFINE = 20
CONFIDENCE = 0.95


def coverage(
    populations: "Sequence[str | Population | ScoreTable] | None" = None,
    methods: Sequence[str | Method] | None = None,
    trials: Sequence[int] = TRIALS,
    *,
    data_sets: int | Sequence[int] = DATA_SETS,
    delta: float = DELTA,
    weights: "Weights | None" = None,
    every: int | None = None,
    confidence: float = CONFIDENCE,
    refine: int | None = REFINE,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    workers: int = 1,
    record: str | Path | None = None,
    progress: Progress | None = None,
    stop: Stop | None = None,
) -> Coverage:
    """Return how often methods fail on data sets with known truth.

    Parameters
    ----------
    populations
        Names of populations of `untuned.lab.populations`, your own `Population` objects, or a `ScoreTable` that is
        treated as the whole population. By default all known ones.
    methods
        Names of interval methods; ``"pbp-t@paper"`` is one under the paper's conventions, ``"pairing*0.7"`` one with
        shrunk intervals, ``"default"`` the default of `untuned.evaluate`. By default all, and the paper's also as
        published.
    trials
        For each algorithm on each environment; by default 10, 30, 100 and 1,000.
    data_sets
        For each population and number of trials; a list has one number for each of ``trials``. All methods get the
        same. 200 by default.
    delta
        The allowed rate of failure, in (0, 0.5]; 0.05 by default.
    weights
        As for `untuned.evaluate`: ``"game"``, ``"uniform"``, ``"both"``, or weights of environments. By default the
        game's, equal ones for a method that is for weights chosen beforehand, and both for ``"default"``.
    every
        The number of trials between looks; the experiment stops at the first verdict, or after ``trials``. By default
        there is one look.
    confidence
        Confidence level of the limits of rates, 0.95 by default.
    refine
        Branching budget for a pair, 20 by default; None for the default of `untuned.evaluate`, which takes longer and
        decides more pairs.
    resamples
        Number of resamples, 1,000 by default.
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

    Raises
    ------
    Stopped
        When ``stop`` returned True before all work units were done.
    """
    chosen = _populations(populations)
    judging = Judging(delta=delta, weights=weights, seed=seed, refine=refine, resamples=resamples)
    tested = contenders(methods, judging.weights)
    counts = sizes_and_counts(trials, data_sets)
    every = None if every is None else whole("every", every, 1, "20 is what betting looks at together")
    workers = whole("workers", workers, 1, "one per processor is a good number")
    _check_confidence(confidence)
    for population in chosen:
        names = population.sample(2, np.random.default_rng(0))
        for each in tested:
            each.judging(judging).check(names.algorithms, names.environments)
    pieces = [
        piece
        for p, population in enumerate(chosen)
        for size, count in counts.items()
        for c, contender in enumerate(tested)
        for piece in pieces_of(population, p, contender, c, Design(size, every), judging, count)
    ]
    shared = Shared(tuple(chosen), tested, judging)
    found = run(
        _worked,
        shared,
        pieces,
        Journal(record),
        workers=workers,
        progress=progress,
        stop=stop,
    )
    totals: dict[tuple[int, Design, int], Tally] = {}
    for (_, piece), facts in zip(pieces, found, strict=True):
        totals.setdefault((piece.population, piece.design, piece.contender), Tally()).add(Tally(**facts))
    return Coverage(
        tuple(
            _row(chosen[p], tested[c], design, tally, confidence, judging) for (p, design, c), tally in totals.items()
        ),
        judging.delta,
        MappingProxyType({population.name: population.summary for population in chosen}),
        MappingProxyType(
            {
                **lab_options(judging),
                "weights": weights_text(judging),
                "data_sets": {str(size): count for size, count in counts.items()},
                "confidence": confidence,
                "code": decisive_code(),
            }
        ),
    )


def _check_confidence(confidence: object) -> None:
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0.5 <= confidence < 1.0:
        raise InvalidInput(f"confidence={confidence!r}: pass a number in [0.5, 1), 0.95 by default")


def _worked(shared: Shared, piece: Piece, stop: Stop) -> Facts | None:
    """Return the tally of a piece, None when it was stopped."""
    population, contender = shared.populations[piece.population], shared.contenders[piece.contender]
    truth = population.truth(payoff_of(contender.conventions))
    compile_first(population, contender, piece, shared.judging)
    tally = Tally()
    for number in piece.numbers():
        if stop():
            return None
        tally.add(experiment(population, truth, contender, piece.design, shared.judging, number))
    return dataclasses.asdict(tally)


def _row(
    population: Population, contender: Contender, design: Design, tally: Tally, confidence: float, judging: Judging
) -> Row:
    total = tally.data_sets
    n, _ = population.shape
    asked = contender.judging(judging)

    def rate(count: int) -> Rate:
        return Rate.of(count, total, confidence)

    def rate_of(count: int | None) -> Rate | None:
        return None if count is None else rate(count)

    return Row(
        population=population.name,
        method=contender.name,
        guaranteed=contender.guaranteed and (design.every is None or contender.method.anytime),
        trials=design.trials,
        every=design.every,
        data_sets=total,
        percentiles=rate_of(tally.percentiles),
        aggregates=rate(tally.aggregates),
        differences=rate(tally.differences),
        verdicts=rate(tally.verdicts),
        decided=tally.decided / (total * len(asked.weightings) * n * (n - 1) // 2),
        width=tally.width / total,
        percentile_width=None if tally.percentile_width is None else tally.percentile_width / total,
        stopped_at=tally.trials / total,
        seconds=tally.seconds / total,
        wins=rate_of(tally.wins),
        caps=rate_of(tally.caps),
        anything=rate_of(tally.anything),
        weights=asked.weighting,
    )


def _populations(given: "Sequence[str | Population | ScoreTable] | None") -> list[Population]:
    if given is None:
        return list(known_populations())
    if isinstance(given, str | Population | ScoreTable):
        given = [given]
    if not isinstance(given, Iterable):
        raise InvalidInput(f"populations={given!r} is not a list: pass names, untuned list populations shows all")
    found: list[Population] = []
    for each in given:
        if isinstance(each, ScoreTable):
            found.append(CollectedPopulation(each))
        elif isinstance(each, Population):
            found.append(each)
        elif isinstance(each, str):
            found += known_populations([each])
        else:
            raise InvalidInput(f"populations: {each!r} is not one: pass names, untuned list populations shows all")
    if not found:
        raise InvalidInput("there are no populations: name at least one, untuned list populations shows all")
    names = [population.name for population in found]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InvalidInput(f"the population {twice[0]!r} is named twice: names must differ")
    small = [population for population in found if population.shape[0] < 2 or population.shape[1] < 2]
    if small:
        n, m = small[0].shape
        raise InvalidInput(
            f"the population {small[0].name!r} has {n} algorithms and {m} environments: the game needs two of each"
        )
    return found
