"""`Reduction`: how to reduce a learning curve to one score."""

import hashlib
import math
import re
from dataclasses import dataclass, replace
from typing import Literal, NoReturn

import numpy as np
from numpy.typing import NDArray

from untuned.adapters.score_files.identity import NotTrials
from untuned.adapters.score_files.rows import Runs
from untuned.errors import InvalidInput
from untuned.histories import Histories, History
from untuned.scores import Floats, ScoreTable

#: Number of runs per cell whose curves are kept: enough for a figure.
MOST = 500
#: More points than any curve has.
_MOST_POINTS = 1e15


@dataclass(frozen=True)
class Reduction:
    """How to reduce a learning curve to one score.

    Attributes
    ----------
    kind
        ``"mean"``, ``"final"``, ``"last"``, ``"share"``, ``"at"`` or ``"best"``.
    number
        The number of points, the percentage of training, or the step.
    """

    kind: Literal["mean", "final", "last", "share", "at", "best"]
    number: float = math.nan

    @classmethod
    def parse(cls, text: str) -> "Reduction":
        """Return the reduction of a text: ``"last:10%"``."""
        if text in ("mean", "final", "best"):
            return cls(text)  # type: ignore[arg-type]
        match = re.fullmatch(r"(last|at):([0-9.]+(?:[eE]\+?[0-9]+)?)(%?)", str(text))
        try:
            number = float(match[2]) if match else math.nan
        except ValueError:
            number = math.nan
        if match and match[1] == "at" and not match[3] and math.isfinite(number):
            return cls("at", number)
        if match and match[1] == "last" and match[3] and 0.0 < number <= 100.0:
            return cls("share", number)
        if match and match[1] == "last" and not match[3] and 1.0 <= number <= _MOST_POINTS and number.is_integer():
            return cls("last", number)
        raise InvalidInput(
            f"--reduce {text}: write mean, final, last:10 (points), last:10% (of training), at:1e6 (steps) or best"
        )

    def __str__(self) -> str:
        """Return a description, the rest of a sentence that begins with "reduced by"."""
        return {
            "mean": "the mean over training",
            "final": "the final value",
            "last": f"the mean of the last {self.number:,.0f} points",
            "share": f"the mean of the last {self.number:g} % of training",
            "at": f"the value at step {self.number:,.12g}",
            "best": "the best value, which is biased",
        }[self.kind]


@dataclass(frozen=True, eq=False)
class Curves:
    """Points of learning curves, one run after the other, by step; several points of a run at one step are averaged.

    Attributes
    ----------
    begins
        The index of every run's first point.
    rows
        The index of one row of every run, for its cell and its name.
    step, value
        The step and value of every point.
    """

    begins: NDArray[np.int64]
    rows: NDArray[np.int64]
    step: Floats
    value: Floats

    @property
    def ends(self) -> NDArray[np.int64]:
        """The index after every run's last point."""
        return np.append(self.begins[1:], self.step.size)


def curves_of(runs: Runs) -> Curves:
    """Return the learning curves of rows that have one column of runs.

    Without steps all points of a run count as one.

    Raises
    ------
    InvalidInput
        If every point of a run occurs twice.
    """
    key = runs.run_keys(next(iter(runs.runs)))
    if runs.step is not None:
        begins = _begins(key)
        if _tidy(key, runs.step, begins):
            return _different(runs, Curves(begins, begins, runs.step, runs.score))
    step = np.zeros(key.size) if runs.step is None else runs.step
    order = _order(key, step, runs.score)
    key, step, value = key[order], step[order], runs.score[order]
    begins = _begins(key)
    rows = order[begins]
    new_point = np.append(True, step[1:] != step[:-1])
    new_point[begins] = True
    if not new_point.all():
        _refuse_two_files(runs, order, ~new_point)
    if runs.step is None:
        _refuse_pasted(runs, key, value)
    if runs.step is not None and not new_point.all():
        _refuse_copies(runs, rows, begins, new_point, step, value)
        points = np.flatnonzero(new_point)
        with np.errstate(invalid="ignore", over="ignore"):
            value = np.add.reduceat(value, points) / np.diff(np.append(points, value.size))
        step = step[points]
        begins = np.searchsorted(points, begins)
    return _different(runs, Curves(begins, rows, step, value))


def _refuse_two_files(runs: Runs, order: NDArray[np.int64], again: NDArray[np.bool_]) -> None:
    """Refuse points that occur in two files: they are two runs of one name, or one run that was exported twice."""
    if len({part[0] for part in runs.parts}) == 1:
        return
    places = runs.places(order)
    both = np.flatnonzero(again[1:] & (places[1:] != places[:-1]))
    if both.size:
        one, other = int(order[both[0]]), int(order[both[0] + 1])
        names, codes = next(iter(runs.runs.values()))
        raise NotTrials(
            runs.parts[0][0],
            "repeated-runs",
            f"{runs.where(one)} and {runs.where(other)} are both of run {names[codes[one]]!r} of "
            f"{runs.cell_name(one)}, at the same step.",
            "If they are different runs, give them different names; if one file repeats the other, pass one of them",
        )


def _refuse_pasted(runs: Runs, key: NDArray[np.int64], value: Floats) -> None:
    """Refuse rows without steps that all occur at least twice: they were duplicated, and are not episodes."""
    order = np.lexsort((value, key))
    differs = np.append(True, (key[order][1:] != key[order][:-1]) | ~_same(value[order][1:], value[order][:-1]))
    copies = np.diff(np.append(np.flatnonzero(differs), key.size))
    if copies.size >= _SEVERAL and copies.min() > 1:
        raise NotTrials(
            runs.parts[0][0],
            "repeated-runs",
            f"every row of {runs.parts[0][0]} is there {copies.min()} times or more.",
            "Were rows pasted twice? Remove the copies",
        )


def _different(runs: Runs, curves: Curves) -> Curves:
    """Return curves after checking that no two of a cell are identical, point by point."""
    seen: dict[tuple[int, bytes], int] = {}
    cell = runs.cell[curves.rows]
    for run, (begin, end) in enumerate(zip(curves.begins.tolist(), curves.ends.tolist(), strict=True)):
        value = curves.value[begin:end]
        if np.unique(value[:_LOOKED_AT]).size < _MANY:
            continue
        points = curves.step[begin:end].tobytes() + value.tobytes()
        other = seen.setdefault((int(cell[run]), hashlib.blake2b(points, digest_size=16).digest()), run)
        if other != run:
            names, codes = next(iter(runs.runs.values()))
            one, two = (names[codes[int(curves.rows[each])]] for each in (other, run))
            raise NotTrials(
                runs.parts[0][0],
                "repeated-runs",
                f"Runs {one!r} and {two!r} of {runs.cell_name(int(curves.rows[run]))} have the same {end - begin:,} "
                "values.",
                "One is a copy of the other: remove it, and look for other copies",
            )
    return curves


def _begins(key: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rows where a new run begins."""
    return np.append(0, np.flatnonzero(key[1:] != key[:-1]) + 1)


def _tidy(key: NDArray[np.int64], step: Floats, begins: NDArray[np.int64]) -> bool:
    """Return whether the rows of every run are consecutive, with increasing steps."""
    if np.unique(key[begins]).size < begins.size:
        return False
    ahead = step[1:] > step[:-1]
    ahead[begins[1:] - 1] = True
    return bool(ahead.all())


def _order(key: NDArray[np.int64], step: Floats, value: Floats) -> NDArray[np.int64]:
    """Return the order by run, step and value."""
    # Rows are often already in the order of steps: then a stable sort by run is enough.
    order = np.argsort(key, kind="stable")
    if _tidy(key[order], step[order], _begins(key[order])):
        return order
    return np.lexsort((value, step, key))


def _refuse_copies(
    runs: Runs,
    rows: NDArray[np.int64],
    begins: NDArray[np.int64],
    new_point: NDArray[np.bool_],
    step: Floats,
    value: Floats,
) -> None:
    """Refuse a run whose points all occur at least twice with the same value: rows were duplicated."""
    differs = new_point | np.append(True, ~_same(value[1:], value[:-1]))
    first = np.flatnonzero(differs)
    copies = np.diff(np.append(first, step.size))
    at = np.searchsorted(first, begins)
    fewest = np.minimum.reduceat(copies, at)
    distinct = np.diff(np.append(at, first.size))
    for run in np.flatnonzero((fewest > 1) & (distinct >= _SEVERAL)):
        names, codes = next(iter(runs.runs.values()))
        row = int(rows[run])
        raise NotTrials(
            runs.parts[0][0],
            "repeated-runs",
            f"every point of run {names[codes[row]]!r} of {runs.cell_name(row)} is there {fewest[run]} times with the "
            f"same value (the first at {runs.where(row)}).",
            "Were rows pasted twice? Remove the copies",
        )


#: Number of different values of a curve that cannot be shared by another curve by chance.
_MANY = 10
#: Runs shorter than this share of the longest are reported.
SHORT = 0.9
#: Number of points of a curve that show whether its values differ.
_LOOKED_AT = 1000
#: Number of points that cannot all be equal by chance.
_SEVERAL = 5


def _same(one: Floats, other: Floats) -> NDArray[np.bool_]:
    same: NDArray[np.bool_] = (one == other) | (np.isnan(one) & np.isnan(other))
    return same


def reduced(runs: Runs, curves: Curves, how: Reduction) -> Runs:
    """Return one row per run.

    Raises
    ------
    InvalidInput
        For a run that is too short.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        score: Floats = _reduced(runs, curves, how)
    rows = curves.rows
    heading, (names, codes) = next(iter(runs.runs.items()))
    return replace(
        runs,
        algorithm=runs.algorithm[rows],
        environment=runs.environment[rows],
        runs={heading: (names, codes[rows])},
        score=score,
        step=None,
        failed=None if runs.failed is None else _any_failed(runs, rows),
        parts=(("the curves", 0, 1, None),),
        origin=None,
    )


def _any_failed(runs: Runs, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which runs failed: those with any row that says so."""
    assert runs.failed is not None
    names, codes = next(iter(runs.runs.values()))
    key = runs.cell * len(names) + codes
    return np.isin(key[rows], key[runs.failed])


def _reduced(runs: Runs, curves: Curves, how: Reduction) -> Floats:
    begins, ends, step, value = curves.begins, curves.ends, curves.step, curves.value
    if how.kind == "mean":
        means: Floats = np.add.reduceat(value, begins) / (ends - begins)
        return means
    if how.kind == "best":
        return np.maximum.reduceat(value, begins)
    if runs.step is None:
        no_steps(how)
    if how.kind == "final":
        return value[ends - 1]
    if how.kind == "last":
        first = ends - int(how.number)
        _check_long_enough(runs, curves, first < begins, f"has fewer than {how.number:,.0f} points")
        return _means(value, first, ends)
    if how.kind == "share":
        last, first = step[ends - 1], np.minimum(step[begins], 0.0)
        # Products of whole numbers, which are exact: a point on the border is outside.
        length = how.number * (last - first)
        sizes = ends - begins
        inside = (100.0 * (np.repeat(last, sizes) - step) < np.repeat(length, sizes)) | (how.number == 100.0)
        # A curve of one point, at step 0, has no length.
        inside[ends - 1] = True
        return np.add.reduceat(np.where(inside, value, 0.0), begins) / np.add.reduceat(inside, begins, dtype=np.float64)
    early = step <= how.number
    at = begins + np.add.reduceat(early, begins, dtype=np.int64) - 1
    _check_long_enough(runs, curves, at < begins, f"has no point up to step {how.number:,.12g}")
    _check_long_enough(runs, curves, step[ends - 1] < how.number, f"ends before step {how.number:,.12g}")
    return value[at]


def no_steps(how: Reduction) -> NoReturn:
    """Raise: a reduction needs steps."""
    name = {"share": "last", "last": "last"}.get(how.kind, how.kind)
    raise InvalidInput(
        f"--reduce {name} needs to know which of a run's rows comes last: name the column of steps, --step COLUMN, and "
        "of runs, --run COLUMN; the mean needs no steps"
    )


def _means(value: Floats, first: NDArray[np.int64], ends: NDArray[np.int64]) -> Floats:
    return np.array([value[a:b].mean() for a, b in zip(first.tolist(), ends.tolist(), strict=True)])


def _check_long_enough(runs: Runs, curves: Curves, short: NDArray[np.bool_], problem: str) -> None:
    if short.any():
        run = int(np.flatnonzero(short)[0])
        row = int(curves.rows[run])
        names, codes = next(iter(runs.runs.values()))
        more = int(short.sum()) - 1
        last = curves.step[curves.ends[run] - 1]
        raise InvalidInput(
            f"run {names[codes[row]]!r} of {runs.cell_name(row)} {problem}: it has "
            f"{curves.ends[run] - curves.begins[run]:,} points, the last at step "
            f"{last:,.12g}{f', and {more:,} more runs are too short' if more else ''}. A run must not be dropped: "
            "choose another reduction, or complete the runs"
        )


def lengths(runs: Runs, curves: Curves) -> tuple[float, float, float, tuple[str, ...]]:
    """Return the last steps of the shortest and the longest run where they differ most, and of the shortest overall.

    Runs on one environment are compared by the share of training that the shortest lacks. The last result has the
    names of the runs that are shorter than nine tenths of the longest.
    """
    last = curves.step[curves.ends - 1]
    environment = runs.environment[curves.rows]
    found = [(float(last[environment == e].min()), float(last[environment == e].max())) for e in np.unique(environment)]
    shortest, longest = max(found, key=lambda ends: (ends[1] - ends[0]) / (abs(ends[1]) or 1.0))
    most = np.full(len(runs.environments), -np.inf)
    np.maximum.at(most, environment, last)
    names, codes = next(iter(runs.runs.values()))
    short = tuple(
        f"{runs.algorithms[runs.algorithm[row]]} on {runs.environments[runs.environment[row]]}, run {names[codes[row]]}"
        for row in curves.rows[last < SHORT * most[environment]].tolist()
    )
    return shortest, longest, float(last.min()), short


def histories(runs: Runs, curves: Curves, table: ScoreTable, unit: str) -> Histories:
    """Return the curves of the first runs of every cell, for figures."""
    names, codes = next(iter(runs.runs.values()))
    by_cell: dict[tuple[int, int], list[int]] = {}
    for run, row in enumerate(curves.rows.tolist()):
        by_cell.setdefault((int(runs.algorithm[row]), int(runs.environment[row])), []).append(run)
    ends = curves.ends
    cells = {}
    for (a, e), members in by_cell.items():
        kept = members[:MOST]
        spans = [(int(curves.begins[run]), int(ends[run])) for run in kept]
        cells[runs.algorithms[a], runs.environments[e]] = History(
            scores=table.cell(runs.algorithms[a], runs.environments[e])[: len(kept)],
            hyperparameters={},
            distributions={},
            # Copies: these may be few out of many millions of points.
            returns=tuple(curves.value[a:b].copy() for a, b in spans),
            steps=tuple(curves.step[a:b].copy() for a, b in spans),
            runs=tuple(names[codes[int(curves.rows[run])]] for run in kept),
        )
    return Histories(cells, MOST, unit=unit)
