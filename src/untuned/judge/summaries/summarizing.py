"""Summaries of a table with bootstrap intervals.

Every cell is resampled separately (stratified), and all statistics use the same resamples. Built-in statistics on a
fixed scale are computed by kernels, on several threads. Users' functions, and scales that are fitted to the scores,
take a pass of Python for every resample.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from untuned.errors import InvalidInput
from untuned.judge.bootstrap import Layout, layout_of
from untuned.judge.judging import DELTA, RESAMPLES, SEED, level, whole
from untuned.judge.pool import pools
from untuned.judge.streams import streams
from untuned.judge.summaries.intervals import INTERVALS, Interval, acceleration, ends, jackknifed
from untuned.judge.summaries.normalisations import Cells, Scale, normalisation
from untuned.judge.summaries.records import Improvement, Profile, Summaries, Summary
from untuned.judge.summaries.resampling import (
    Counts,
    Ordered,
    cell_means,
    drawn,
    first_places,
    improved,
    in_order,
    interquartile_means,
    layout_values,
    shares_above,
)
from untuned.judge.summaries.statistics import (
    IMPROVEMENT,
    NAMES,
    OPTIMAL,
    PROFILES,
    STATISTICS,
    Statistic,
    geometric_means,
    means,
    statistic,
    weighted_medians,
)
from untuned.judge.threads import mapped
from untuned.scores import Floats, Ints, ScoreTable
from untuned.verdicts import Weighting

#: Called with the name of the step, how much of it is done, and the total.
Progress = Callable[[str, int, int], None]
_STEP = "resampling"
#: Number of thresholds of a profile by default.
THRESHOLDS = 51
#: BCa leaves out each score in turn: more distinct scores of an algorithm take too long.
MOST_LEFT_OUT = 20_000


@dataclass(frozen=True)
class _Drawn:
    """A chunk of resamples on a fixed scale."""

    counts: Counts
    ordered: Ordered
    sizes_ae: Ints
    weights: Floats

    def means(self) -> Floats:
        return cell_means(self.counts, self.ordered, self.sizes_ae)

    def averages(self, means_bae: Floats) -> Floats:
        # By rows, so that no number depends on how many resamples there are.
        found: Floats = (means_bae * self.weights).sum(axis=2)
        return found


@dataclass(frozen=True)
class _Piece:
    """A statistic that is computed for every resample and algorithm.

    Attributes
    ----------
    name
        Name of the statistic or the profile.
    value
        Value of an algorithm's normalised cells and the weights.
    shape
        Shape of the value.
    quick
        The same for a chunk of resamples, [resample, algorithm, ...]; None where there is no kernel.
    averages
        A function of single scores whose weighted mean is the value, up to a sign and a constant; else None.
    """

    name: str
    value: Callable[[Sequence[Floats], Floats], Floats | float]
    shape: tuple[int, ...] = ()
    quick: Callable[[_Drawn], Floats] | None = None
    averages: Callable[[Floats], Floats] | None = None


def _rows(function: Callable[[Floats, Floats], Floats], means_bae: Floats, weights: Floats) -> Floats:
    """Return a function of rows for every resample and algorithm."""
    resamples, n, m = means_bae.shape
    return function(means_bae.reshape(-1, m), weights).reshape(resamples, n)


def _gap(each: _Drawn) -> Floats:
    capped = each.ordered._replace(values=np.minimum(each.ordered.values, OPTIMAL))
    return OPTIMAL - each.averages(cell_means(each.counts, capped, each.sizes_ae))


_QUICK: dict[str, Callable[[_Drawn], Floats]] = {
    "iqm": lambda each: interquartile_means(each.counts, each.ordered, each.sizes_ae, each.weights),
    "mean": lambda each: each.averages(each.means()),
    "median": lambda each: _rows(weighted_medians, each.means(), each.weights),
    "geometric-mean": lambda each: _rows(geometric_means, each.means(), each.weights),
    "optimality-gap": _gap,
}
_AVERAGES: dict[str, Callable[[Floats], Floats]] = {
    "mean": np.asarray,
    "optimality-gap": lambda scores: -np.minimum(scores, OPTIMAL),
}


def _piece(each: Statistic) -> _Piece:
    built_in = STATISTICS.get(each.name) is each
    quick, averages = (_QUICK[each.name], _AVERAGES.get(each.name)) if built_in else (None, None)
    return _Piece(each.name, each.value, quick=quick, averages=averages)


def _profile_piece(name: str, thresholds: Floats) -> _Piece:
    if name == "profile":

        def above(scores: Floats) -> Floats:
            return (scores[:, None] > thresholds).astype(np.float64)

        return _Piece(
            name,
            lambda cells, weights: weights @ np.array([above(cell).mean(axis=0) for cell in cells]),
            thresholds.shape,
            lambda each: shares_above(each.counts, each.ordered, each.sizes_ae, each.weights, thresholds),
            above,
        )

    def share(means_me: Floats, weights: Floats) -> Floats:
        found: Floats = ((means_me[..., :, None] > thresholds) * weights[:, None]).sum(axis=-2)
        return found

    return _Piece(
        name,
        lambda cells, weights: share(means(cells), weights),
        thresholds.shape,
        lambda each: share(each.means(), each.weights),
    )


def summarized(
    table: ScoreTable,
    statistics: object = "iqm",
    *,
    normalise: object = None,
    weight_e: Floats | None = None,
    weights: Weighting = "uniform",
    interval: Interval = "percentile",
    delta: float = DELTA,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    thresholds: Sequence[float] | None = None,
    workers: int = 1,
    progress: Progress | None = None,
) -> Summaries:
    """Return summaries of a table, with intervals.

    Parameters
    ----------
    table
        The scores. An algorithm without scores on some environment has no summary, and a note says so.
    statistics
        A name of `statistics.NAMES`, a function, or several.
    normalise
        What `normalisations.normalisation` takes.
    weight_e
        Weights of environments, summing to 1; equal unless given.
    weights
        Where they come from.
    interval
        ``"percentile"``, ``"basic"`` or ``"bca"``.
    delta
        The nominal probability that each interval misses.
    resamples, seed
        How many, and where their random numbers begin.
    thresholds
        Thresholds of profiles; unless given, from the lowest to the highest normalised score.
    workers
        How many threads; no number depends on it.
    progress
        Called with the name of the step, how much of it is done, and the total.
    """
    asked = _asked(statistics)
    if interval not in INTERVALS:
        raise InvalidInput(f"interval={interval!r}: pass 'percentile', 'basic' or 'bca'")
    delta = level(delta)
    resamples = whole("resamples", resamples, 1, f"{RESAMPLES} by default")
    seed = whole("seed", seed, 0, f"{SEED} by default")
    m = len(table.environments)
    weight_e = np.full(m, 1.0 / m) if weight_e is None else weight_e
    complete = _complete(table)
    # Names in order, so that the order of rows changes nothing; and every algorithm by its own runs.
    environments = sorted(range(m), key=table.environments.__getitem__)
    chosen = sorted(complete, key=table.algorithms.__getitem__)
    part = table.select([table.algorithms[a] for a in chosen], [table.environments[e] for e in environments])
    part = replace(part, kinds=np.tile(np.arange(len(chosen), dtype=np.int64), (m, 1)))
    scale = normalisation(normalise).on(part)
    found = _Resampling(part, scale, weight_e[environments], resamples, seed, workers, progress)
    pieces = [_piece(each) for each in asked if isinstance(each, Statistic)]
    at = _thresholds(thresholds, found)
    pieces += [_profile_piece(name, at) for name in PROFILES if name in asked]
    if IMPROVEMENT in asked and len(chosen) < 2:
        raise InvalidInput(f"{IMPROVEMENT} compares two algorithms that have scores on every environment: add another")
    values, wins = found.values(pieces, IMPROVEMENT in asked)
    n = len(table.algorithms)

    def with_interval(piece: _Piece) -> list[Floats]:
        estimate = found.estimates[piece.name]
        accelerated = found.acceleration(piece) if interval == "bca" else None
        arrays = [estimate, *ends(interval, values[piece.name], estimate, delta, accelerated)]
        return [_spread_out(each, chosen, n) for each in arrays]

    summaries, profiles = [], []
    for piece in pieces:
        if piece.name in PROFILES:
            profiles.append(Profile(piece.name, at, *with_interval(piece)))
        else:
            named = next(each for each in asked if isinstance(each, Statistic) and each.name == piece.name)
            summaries.append(Summary(named, *with_interval(piece)))
    improvement = None
    if wins is not None:
        estimate = found.wins()
        accelerated = found.acceleration_of_wins() if interval == "bca" else None
        arrays = [estimate, *ends(interval, wins, estimate, delta, accelerated)]
        square = [_spread_out(np.array(_spread_out(each, chosen, n)).T, chosen, n).T for each in arrays]
        improvement = Improvement(*square)
    notes = (*_notes(table, complete), *scale.notes, *_about(summaries, table, complete))
    notes += (*_about_profiles(profiles, table, complete), *_about_improvement(improvement, table, complete))
    shares = [(each.low_at, each.high_at) for each in profiles]
    shares += [] if improvement is None else [(improvement.low_ab, improvement.high_ab)]
    if interval == "basic" and any((low < -_ROUNDING).any() or (high > 1.0 + _ROUNDING).any() for low, high in shares):
        notes += ("Some basic intervals of probabilities or shares end outside [0, 1]: read such ends as 0 or 1.",)
    return Summaries(
        table.algorithms,
        table.environments,
        scale.words,
        weights,
        weight_e,
        interval,
        delta,
        resamples,
        seed,
        tuple(summaries),
        improvement,
        tuple(profiles),
        notes,
    )


def _asked(statistics: object) -> list[Statistic | str]:
    """Return the statistics, and the names of summaries that are not a statistic of one algorithm."""
    several = isinstance(statistics, Sequence) and not isinstance(statistics, str)
    found: list[Statistic | str] = []
    for each in statistics if several else [statistics]:  # type: ignore[attr-defined]
        known = each if isinstance(each, str) and each in (IMPROVEMENT, *PROFILES) else statistic(each)
        if isinstance(known, Statistic) and known.name in NAMES and STATISTICS.get(known.name) is not known:
            raise InvalidInput(f"the name {known.name!r} is taken: give the function another one")
        if known not in found:
            found.append(known)
    names = [each.name for each in found if isinstance(each, Statistic)]
    if not found or len(set(names)) < len(names):
        raise InvalidInput("pass one statistic or more, each with a name of its own")
    return found


def _complete(table: ScoreTable) -> list[int]:
    """Return the algorithms that have scores on every environment."""
    found = [a for a, sizes in enumerate(table.trials) if sizes.all()]
    if not found or not table.environments:
        raise InvalidInput(
            "no algorithm has scores on every environment, so that there is nothing to summarise: leave environments "
            "out with environments=..., or add scores"
        )
    return found


def _spread_out(values: Floats, chosen: Sequence[int], count: int) -> Floats:
    """Return values by the table's algorithms, NaN for those that were not chosen."""
    found = np.full((count, *values.shape[1:]), np.nan)
    found[list(chosen)] = values
    return found


def _thresholds(given: Sequence[float] | None, found: "_Resampling") -> Floats:
    if given is not None:
        thresholds = np.asarray(given, dtype=np.float64)
        if thresholds.ndim != 1 or not thresholds.size or not np.isfinite(thresholds).all():
            raise InvalidInput("thresholds are not a list of finite numbers: pass thresholds=[0.0, 0.5, 1.0]")
        return np.unique(thresholds)
    scores = np.concatenate([cell for row in found.cells for cell in row])
    return np.linspace(float(scores.min()), float(scores.max()), THRESHOLDS)


class _Resampling:
    """The resamples of a table, on one scale."""

    def __init__(
        self,
        table: ScoreTable,
        scale: Scale,
        weights: Floats,
        resamples: int,
        seed: int,
        workers: int,
        progress: Progress | None,
    ) -> None:
        self.table, self.scale, self.weights = table, scale, weights
        self.workers, self.progress = workers, progress
        self.layout: Layout = layout_of(pools(table))
        self.scores = layout_values(self.layout, table)
        self.states = streams(seed, resamples)
        # Sorted, so that the order of rows does not change how sums are rounded.
        self.raw: Cells = [[np.sort(cell) for cell in row] for row in table.cells]
        self.cells = _normalised(self.raw, scale)
        self.estimates: dict[str, Floats] = {}

    def values(self, pieces: Sequence[_Piece], wins: bool) -> tuple[dict[str, Floats], Floats | None]:
        """Return every piece of all resamples, [resample, algorithm, ...], and the probabilities of improvement."""
        n, resamples = len(self.raw), len(self.states)
        for piece in pieces:
            self.estimates[piece.name] = np.array([piece.value(cells, self.weights) for cells in self.cells])
        found = {piece.name: np.empty((resamples, n, *piece.shape)) for piece in pieces}
        won = np.empty((resamples, n, n)) if wins else None
        quick = [] if self.scale.uses_scores else [piece for piece in pieces if piece.quick is not None]
        slow = [piece for piece in pieces if piece not in quick]
        m = len(self.weights)
        maps = self.scale.fit(self.raw)
        ordered = in_order(self.layout, [maps[s // n](values) for s, values in enumerate(self.scores)])
        total = int(self.layout.distinct.sum())
        size = max(1, min(_CHUNK, _COUNTS // total, resamples // _STEPS))
        shape = np.array([[cell.size for cell in row] for row in self.raw])

        def work(first: int) -> int:
            chunk = slice(first, min(first + size, resamples))
            counts = np.empty((chunk.stop - first, total), dtype=np.int32)
            drawn(self.layout, self.states[chunk], counts)
            each = _Drawn(counts, ordered, shape, self.weights)
            for piece in quick:
                assert piece.quick is not None
                found[piece.name][chunk] = piece.quick(each)
            if slow:
                for b, row in enumerate(counts, first):
                    self._evaluate(self._redrawn(row, n, m), slow, found, b)
            if won is not None:
                improved(self.layout, counts, self.weights, won[chunk])
            return chunk.stop

        for done in mapped(work, range(0, resamples, size), self.workers):
            if self.progress is not None:
                self.progress(_STEP, done, resamples)
        return found, won

    def _redrawn(self, counts: Counts, n: int, m: int) -> Cells:
        """Return the cells of a resample."""
        drawn = [
            np.repeat(values, counts[place : place + values.size])
            for values, place in zip(self.scores, first_places(self.layout), strict=True)
        ]
        return [[drawn[e * n + a] for e in range(m)] for a in range(n)]

    def _evaluate(self, cells: Cells, pieces: Sequence[_Piece], found: dict[str, Floats], b: int) -> None:
        for a, row in enumerate(_normalised(cells, self.scale)):
            for piece in pieces:
                found[piece.name][b, a] = self._value(piece, row)

    def _value(self, piece: _Piece, row: Sequence[Floats]) -> Floats | float:
        """Return a piece of an algorithm's cells; NaN where a normalised score is undefined."""
        return np.nan if np.isnan(np.concatenate(row)).any() else piece.value(row, self.weights)

    def acceleration(self, piece: _Piece) -> Floats:
        """Return BCa's acceleration of a piece, [algorithm, ...]."""
        if self.scale.uses_scores:
            return self._acceleration_with_scale(piece)
        found = []
        for cells in self.cells:
            if piece.averages is not None:
                single = [piece.averages(cell) for cell in cells]
                influences = [w * (each - each.mean(axis=0)) for w, each in zip(self.weights, single, strict=True)]
            else:
                _check_left_out(cells)
                influences = jackknifed(cells, lambda given: np.asarray(piece.value(given, self.weights)))
            found.append(acceleration(influences, piece.shape))
        return np.array(found)

    def _acceleration_with_scale(self, piece: _Piece) -> Floats:
        """Return the same where each score affects the scale of all algorithms."""
        n, m = len(self.raw), len(self.weights)
        samples = [cell for row in self.raw for cell in row]
        _check_left_out(samples)

        def value(given: Sequence[Floats]) -> Floats:
            cells = [given[a * m : (a + 1) * m] for a in range(n)]
            rows = _normalised(cells, self.scale)
            return np.array([np.broadcast_to(self._value(piece, row), piece.shape) for row in rows])

        return acceleration(jackknifed(samples, value), (n, *piece.shape))

    def wins(self) -> Floats:
        """Return the estimated probabilities of improvement, [a, b]."""
        placements = self._placements
        n = len(self.raw)
        pairs = [[sum(w * p.mean() for w, p in zip(self.weights, placements(a, b), strict=True)) for b in range(n)]
                 for a in range(n)]  # fmt: skip
        found = np.array(pairs, dtype=np.float64)
        np.fill_diagonal(found, 0.5)
        return found

    def _placements(self, a: int, b: int) -> list[Floats]:
        """Return by environment, for every score of a, the share of b's scores that it beats."""
        found = []
        for mine, theirs in zip(self.raw[a], self.raw[b], strict=True):
            places = np.searchsorted(theirs, mine, side="left") + np.searchsorted(theirs, mine, side="right")
            found.append(places / (2.0 * theirs.size))
        return found

    def acceleration_of_wins(self) -> Floats:
        """Return BCa's acceleration of the probabilities of improvement, [a, b]."""
        n = len(self.raw)
        found = np.zeros((n, n))
        for a in range(n):
            for b in range(n):
                if a != b:
                    # b's scores lose what a's win.
                    parts = zip(self.weights, self._placements(a, b), self._placements(b, a), strict=True)
                    influences = [each for w, p, q in parts for each in (w * (p - p.mean()), -w * (q - q.mean()))]
                    found[a, b] = acceleration(influences, ())
        return found


#: The largest number of resamples per chunk, the largest number of counts for them, and the smallest number of chunks.
_CHUNK = 1024
_COUNTS = 500_000
_STEPS = 20


def _normalised(cells: Cells, scale: Scale) -> list[list[Floats]]:
    maps = scale.fit(cells)
    return [[each(cell) for each, cell in zip(maps, row, strict=True)] for row in cells]


def _check_left_out(cells: Sequence[Floats]) -> None:
    count = sum(np.unique(cell).size for cell in cells)
    if count > MOST_LEFT_OUT:
        raise InvalidInput(
            f"BCa leaves out every score in turn, here {count:,} different ones, which takes too long: pass "
            "interval='percentile' (--summary-interval percentile), which hardly differs with so many"
        )


def _notes(table: ScoreTable, complete: Sequence[int]) -> list[str]:
    """Return notes on the scores."""
    notes = []
    for a, name in enumerate(table.algorithms):
        missing = [table.environments[e] for e in np.flatnonzero(table.trials[a] == 0)]
        if missing:
            notes.append(
                f"{name} has no scores on {', '.join(missing)}: it has no summary, and no part in those of others."
            )
    if table.failed_ae is not None:
        count = int(table.failed_ae.sum())
        one = count == 1
        notes.append(
            f"{count:,} {'trial' if one else 'trials'} failed or had no finite score: "
            f"{'it counts' if one else 'they count'} as the worst score of the environment."
        )
    sizes = table.trials[list(complete)]
    single = int((sizes == 1).sum())
    if single == sizes.size:
        notes.append("There is one run per cell, which cannot be resampled: intervals have no width and mean nothing.")
    elif single:
        notes.append(
            f"{single} of {sizes.size} cells have one run, which cannot be resampled: intervals are too narrow."
        )
    elif int(sizes.min()) < _FEW:
        notes.append(
            f"Some cells have {int(sizes.min())} runs: bootstrap intervals of so few miss more often than they say."
        )
    return notes


#: Below this number of runs, a note says that bootstrap intervals are too narrow.
_FEW = 10


def _about(summaries: Sequence[Summary], table: ScoreTable, complete: Sequence[int]) -> list[str]:
    """Return notes on intervals that are useless."""
    notes = []
    several = [a for a in complete if (table.trials[a] > 1).any()]
    for each in summaries:
        title = each.statistic.title
        flat = [table.algorithms[a] for a in several if np.isclose(each.low_a[a], each.high_a[a], rtol=1e-12, atol=0.0)]
        if flat:
            notes.append(
                f"All resamples of {', '.join(flat)} have the same {title}: the interval has no width, and says "
                "nothing on what other runs would give."
            )
        absent = [table.algorithms[a] for a in complete if not np.isfinite(each.value_a[a])]
        if absent:
            notes.append(f"{', '.join(absent)}: there is no {title}, which is not defined for such scores.")
        endless = [
            table.algorithms[a]
            for a in complete
            if np.isfinite(each.value_a[a]) and not np.isfinite([each.low_a[a], each.high_a[a]]).all()
        ]
        if endless:
            notes.append(
                f"{', '.join(endless)}: there is no interval of the {title}, which some resamples do not have or all "
                "have on one side of the estimate."
            )
    return notes


#: Ends that are outside [0, 1] by less than this come from rounding.
_ROUNDING = 1e-9


def _about_profiles(profiles: Sequence[Profile], table: ScoreTable, complete: Sequence[int]) -> list[str]:
    """Return notes on profiles without intervals."""
    notes = []
    for each in profiles:
        endless = [
            table.algorithms[a]
            for a in complete
            if np.isfinite(each.share_at[a]).all() and not np.isfinite([each.low_at[a], each.high_at[a]]).all()
        ]
        if endless:
            notes.append(
                f"{', '.join(endless)}: the {each.name} has no interval at some thresholds, as some resamples have no "
                "value or all have one on one side of the estimate."
            )
    return notes


def _about_improvement(found: Improvement | None, table: ScoreTable, complete: Sequence[int]) -> list[str]:
    """Return notes on probabilities of improvement whose intervals have no width or do not exist."""
    if found is None:
        return []
    notes = []
    pairs = [(a, b) for a in complete for b in complete if a < b and (table.trials[[a, b]] > 1).any()]
    ends = {pair: (found.low_ab[pair], found.high_ab[pair]) for pair in pairs}
    flat = [pair for pair, (low, high) in ends.items() if np.isclose(low, high, rtol=0.0, atol=_ROUNDING)]
    endless = [pair for pair, each in ends.items() if not np.isfinite(each).all()]
    for chosen, words in (
        (flat, "are the same: the interval has no width, and says nothing on what other runs would give"),
        (endless, "are all on one side of the estimate: there is no interval"),
    ):
        if chosen:
            a, b = chosen[0]
            more = f" (and {len(chosen) - 1} more {'pair' if len(chosen) == 2 else 'pairs'})" if len(chosen) > 1 else ""
            notes.append(
                f"Probabilities of improvement of {table.algorithms[a]} over {table.algorithms[b]}{more} in resamples "
                f"{words}."
            )
    return notes
