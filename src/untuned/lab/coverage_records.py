"""`Coverage`: the results of experiments on the coverage of intervals."""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from untuned.errors import UnknownName
from untuned.judge.judging import GAME
from untuned.lab.rates import Finding, Rate, overall

if TYPE_CHECKING:
    import polars

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
        return overall(rate.finding(delta) for rate in self.events().values())

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
        return overall(row.finding(self.delta) for row in self.of(method))

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


def _mean(numbers: Sequence[float]) -> float | None:
    return sum(numbers) / len(numbers) if numbers else None


def _rate(facts: Mapping[str, Any]) -> Rate:
    return Rate(facts["count"], facts["total"], facts["low"], facts["high"])


def _percent(number: float) -> str:
    return f"{100 * number:.2g} %" if number < 0.0995 else f"{100 * number:.0f} %"


def _size(trials: int, every: int | None) -> str:
    return f"{trials:,} trials" if every is None else f"up to {trials:,} trials, looking after every {every}"
