"""Coverage of the intervals: every method judges thousands of data sets with known truth.

It counts the data sets in which any percentile, any aggregate score or any difference of two is outside its interval,
and those in which any verdict is wrong; where there are head-to-head comparisons and statements on other weights, it
counts errors in these, and errors in anything, which the guarantee is about.
"""

import dataclasses
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from untuned.collect.engines.engine import Stop
from untuned.errors import InvalidInput, UnknownName
from untuned.judge.judging import DELTA, GAME, SEED, Judging, whole
from untuned.judge.methods import Method, payoff_of
from untuned.lab.contenders import Contender, contenders
from untuned.lab.data_sets import Design, Tally, experiment
from untuned.lab.journal import Facts, Journal
from untuned.lab.known_populations import populations as known_populations
from untuned.lab.population_types import CollectedPopulation, Population
from untuned.lab.rates import Finding, Rate
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
    import polars

    from untuned.judge.weights import Weights

#: Trials for each algorithm on each environment, by default.
TRIALS = (10, 30, 100, 1_000)
DATA_SETS = 200
RESAMPLES = 1_000
#: The branching budget. `untuned.evaluate` bounds thousands of cases if necessary, which would take hours here and
#: only decide more pairs.
REFINE = 20
CONFIDENCE = 0.95
#: Kinds of errors in a data set: the name in `Row`, and in sentences.
EVENTS: Mapping[str, str] = MappingProxyType(
    {
        "percentiles": "any z",
        "aggregates": "any y",
        "differences": "any difference",
        "verdicts": "any verdict",
        "wins": "any head to head",
        "caps": "any robustness",
        "anything": "anything",
    }
)


@dataclass(frozen=True)
class Row:
    """The results of a method on a population with a number of trials.

    Attributes
    ----------
    population, method
        Their names.
    guaranteed
        Whether the method guarantees its level here; methods for a number of trials chosen beforehand guarantee nothing
        when results decide when to stop.
    trials
        For each algorithm on each environment; the maximum, if the experiment may stop earlier.
    every
        None for one look. Else the trials between two looks of an experiment that ends at the first verdict.
    data_sets
        Number of data sets.
    percentiles, aggregates, differences, verdicts
        Rates of data sets in which any was missed or wrong, at any look; None for percentiles without intervals.
    decided
        The proportion of pairs with a verdict, at the end.
    width, percentile_width
        Mean widths of the intervals on aggregates and on percentiles, at the end.
    stopped_at
        The mean number of trials at the end.
    seconds
        Seconds per data set.
    wins
        Rate of data sets in which any head-to-head interval or verdict was wrong; None where there are none.
    caps
        Rate of data sets in which any verdict was wrong under weights within its cap; None where there are none.
    anything
        Rate of data sets in which any of this was wrong; None where everything follows from percentiles.
    weights
        The kind of weights: ``"game"``, ``"uniform"``, ``"both"`` or ``"given"``.
    """

    population: str
    method: str
    guaranteed: bool
    trials: int
    every: int | None
    data_sets: int
    percentiles: Rate | None
    aggregates: Rate
    differences: Rate
    verdicts: Rate
    decided: float
    width: float
    percentile_width: float | None
    stopped_at: float
    seconds: float
    wins: Rate | None = None
    caps: Rate | None = None
    anything: Rate | None = None
    weights: str = GAME

    def events(self) -> dict[str, Rate]:
        """Return the available rates, by name."""
        rates = {name: getattr(self, name) for name in EVENTS}
        return {name: rate for name, rate in rates.items() if rate is not None}

    def finding(self, delta: float) -> Finding:
        """Return whether the method held its level: broken if one rate shows it, kept if all do.

        Parameters
        ----------
        delta
            The allowed probability that anything is wrong.
        """
        findings = {rate.finding(delta) for rate in self.events().values()}
        return "broken" if "broken" in findings else "open" if "open" in findings else "kept"

    def facts(self) -> dict[str, Any]:
        """Return the same as plain JSON types."""
        rates = {name: getattr(self, name) for name in EVENTS}
        return {
            **{key: value for key, value in dataclasses.asdict(self).items() if key not in rates},
            **{name: None if rate is None else rate.facts() for name, rate in rates.items()},
        }


@dataclass(frozen=True)
class Worst:
    """Where a method fails most often.

    Attributes
    ----------
    event
        The error, a name of `EVENTS`.
    row
        The population and number of trials.
    rate
        The rate of the error.
    """

    event: str
    row: Row
    rate: Rate


@dataclass(frozen=True)
class Coverage:
    """The results of all experiments.

    Attributes
    ----------
    rows
        One for each population, number of trials and method.
    delta
        The allowed rate of failure.
    populations
        Their descriptions, by name.
    settings
        Everything that determines the numbers.
    """

    rows: tuple[Row, ...]
    delta: float
    populations: Mapping[str, str]
    settings: Mapping[str, object]

    @property
    def events(self) -> tuple[str, ...]:
        """The names of `EVENTS` for which any row has a rate."""
        return tuple(event for event in EVENTS if any(event in row.events() for row in self.rows))

    @property
    def methods(self) -> tuple[str, ...]:
        """The names of the methods, in order."""
        return tuple(dict.fromkeys(row.method for row in self.rows))

    def of(self, method: str) -> tuple[Row, ...]:
        """Return the rows of a method."""
        if method not in self.methods:
            raise UnknownName("method", method, self.methods, "These were tested")
        return tuple(row for row in self.rows if row.method == method)

    def broken(self, method: str | None = None) -> tuple[Row, ...]:
        """Return the rows whose rate is significantly above delta: its lower limit is above delta.

        Parameters
        ----------
        method
            Only the rows of this method; None for all.
        """
        rows = self.rows if method is None else self.of(method)
        return tuple(row for row in rows if row.finding(self.delta) == "broken")

    def finding(self, method: str) -> Finding:
        """Return whether a method held its level: broken if one row shows it, kept if all do."""
        findings = {row.finding(self.delta) for row in self.of(method)}
        return "broken" if "broken" in findings else "open" if "open" in findings else "kept"

    def worst(self, method: str, event: str | None = None) -> Worst | None:
        """Return where a method fails most often, in any kind of error or in one.

        Parameters
        ----------
        method
            The name of a method of `methods`.
        event
            The kind of error, one of those of `Row.events`; None for any.
        """
        cases = [
            Worst(name, row, rate)
            for row in self.of(method)
            for name, rate in row.events().items()
            if event in (None, name)
        ]
        # Without any failure, the row with the fewest data sets is the least certain.
        return max(cases, key=lambda case: (case.rate.low, case.rate.rate, case.rate.high), default=None)

    def decided(self, method: str, trials: int, every: int | None = None) -> float | None:
        """Return the proportion of decided pairs, the mean over populations.

        Parameters
        ----------
        method
            The name of a method of `methods`.
        trials
            Trials per cell, one of those that were tested.
        every
            After how many trials each look came; None for one look at the end.
        """
        return _mean([row.decided for row in self._at(method, trials, every)])

    def width(self, method: str, trials: int, every: int | None = None) -> float | None:
        """Return the mean width of the intervals on aggregates, over populations.

        Parameters
        ----------
        method
            The name of a method of `methods`.
        trials
            Trials per cell, one of those that were tested.
        every
            After how many trials each look came; None for one look at the end.
        """
        return _mean([row.width for row in self._at(method, trials, every)])

    def seconds(self, method: str, trials: int, every: int | None = None) -> float | None:
        """Return the time for a data set, the mean over populations.

        Parameters
        ----------
        method
            The name of a method of `methods`.
        trials
            Trials per cell, one of those that were tested.
        every
            After how many trials each look came; None for one look at the end.
        """
        return _mean([row.seconds for row in self._at(method, trials, every)])

    def _at(self, method: str, trials: int, every: int | None) -> list[Row]:
        return [row for row in self.of(method) if (row.trials, row.every) == (trials, every)]

    @property
    def sizes(self) -> tuple[tuple[int, int | None], ...]:
        """The numbers of trials, each with the trials between two looks or None."""
        return tuple(dict.fromkeys((row.trials, row.every) for row in self.rows))

    @property
    def verdicts(self) -> tuple[str, ...]:
        """The results, a sentence for each method."""
        return tuple(self._sentence(method) for method in self.methods)

    def _sentence(self, method: str) -> str:
        worst = self.worst(method)
        rows, broken = self.of(method), self.broken(method)
        assert worst is not None, "aggregates have intervals with every method"
        where = f"{worst.row.population}, {_size(worst.row.trials, worst.row.every)}"
        most = f"{_percent(worst.rate.rate)} (limits {_percent(worst.rate.low)} and {_percent(worst.rate.high)})"
        if broken:
            return (
                f"{method} does not hold its level in {len(broken)} of {len(rows)} experiments, most on {where}: "
                f"{EVENTS[worst.event]} is wrong in {most}, where {_percent(self.delta)} are allowed."
            )
        if worst.rate.count == 0:
            counts = sorted({row.data_sets for row in rows})
            each = f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,}"
            most = f"never wrong in {each} data sets each (limit {_percent(worst.rate.high)})"
        else:
            most = f"wrong in at most {most}, on {where}"
        if self.finding(method) == "kept":
            return f"{method} holds its level: {most}, where {_percent(self.delta)} are allowed."
        return f"{method} may hold its level, but there are too few data sets to say: {most}."

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain JSON types."""
        return {
            "settings": dict(self.settings),
            "delta": self.delta,
            "populations": dict(self.populations),
            "verdicts": list(self.verdicts),
            "findings": {method: self.finding(method) for method in self.methods},
            "rows": [{**row.facts(), "finding": row.finding(self.delta)} for row in self.rows],
        }

    def to_json(self) -> str:
        """Return everything as JSON."""
        return json.dumps(self.to_dict(), indent=2)

    def to_frame(self) -> "polars.DataFrame":
        """Return the rows as a polars data frame; every rate has a column for itself and for each of its limits."""
        import polars as pl

        lines = []
        for row in self.rows:
            facts = row.facts()
            rates = {name: facts.pop(name) or {} for name in EVENTS}
            limits = {
                name if key == "rate" else f"{name}_{key}": rate.get(key)
                for name, rate in rates.items()
                for key in ("rate", "low", "high")
            }
            lines.append({**facts, **limits, "finding": row.finding(self.delta)})
        return pl.DataFrame(lines, infer_schema_length=None)

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> "Coverage":
        """Return the record from the output of `to_dict`.

        Parameters
        ----------
        facts
            The output of `to_dict`.
        """
        rows = []
        for each in facts["rows"]:
            rates = {name: None if each.get(name) is None else _rate(each[name]) for name in EVENTS}
            # Files of earlier versions have fewer fields.
            names = [field.name for field in dataclasses.fields(Row) if field.name in each]
            rows.append(Row(**{name: each[name] for name in names} | rates))
        return cls(tuple(rows), facts["delta"], facts["populations"], facts["settings"])


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
        Journal(None if record is None else Path(record)),
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


def _mean(numbers: Sequence[float]) -> float | None:
    return sum(numbers) / len(numbers) if numbers else None


def _rate(facts: Mapping[str, Any]) -> Rate:
    return Rate(facts["count"], facts["total"], facts["low"], facts["high"])


def _percent(number: float) -> str:
    return f"{100 * number:.2g} %" if number < 0.0995 else f"{100 * number:.0f} %"


def _size(trials: int, every: int | None) -> str:
    return f"{trials:,} trials" if every is None else f"up to {trials:,} trials, looking after every {every}"
