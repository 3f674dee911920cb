"""`ScoreTable`: all scores, with what was declared about them beforehand. The result of collecting, input of judging.

Scores are i.i.d. within a cell (an algorithm on an environment) and independent between cells. Cells may have
different numbers of trials, and none at all.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from untuned.errors import InvalidInput, UnknownName
from untuned.families import Families, among

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Texts = NDArray[np.str_]

#: The lowest and the highest possible score of an environment; infinite where nothing is declared.
Range = tuple[float, float]
#: Groups of algorithms whose definitions are the same: on every environment, or by environment.
Identical = Sequence[Sequence[str]] | Mapping[str, Sequence[Sequence[str]]]
#: What to do with a score that is NaN or infinite.
Nonfinite = Literal["error", "worst"]

EVERYWHERE: Range = (-np.inf, np.inf)


class NotFinite(InvalidInput):
    """Scores that are NaN or infinite.

    Parameters
    ----------
    message
        Location of the first one, and what to do.
    count
        How many there are.
    cells
        Where they are: ``"dqn on pong"``.
    """

    def __init__(self, message: str, count: int, cells: tuple[str, ...]) -> None:
        super().__init__(message)
        self.count = count
        self.cells = cells


@dataclass(frozen=True, eq=False, repr=False)
class ScoreTable:
    """Scores for every algorithm on every environment, ragged, higher is better.

    Made by `from_dict`, `from_array` and `from_columns` (or by ``untuned.read_scores`` from files, data frames and
    studies), which check everything; the constructor itself checks nothing.

    Attributes
    ----------
    algorithms, environments
        Their names, in order of first appearance.
    cells
        ``cells[a][e]``: the scores of algorithm ``a`` on environment ``e``, in the order they arrived; read-only,
        empty where nothing was measured.
    ranges
        Per environment, the lowest and highest score it can give.
    kinds
        Integers ``[e, a]``: algorithms with the same number on an environment were declared to be identical there.
    provenance
        Where the scores came from, for the report.
    unbroken_ae
        How many scores of every cell come before its first missing trial; None where trials have no numbers.
    runs
        ``runs[a][e]``: which run each score of the cell belongs to (a seed, a run's name), in the same order; None
        where the source does not say.
    failed_ae
        How many trials of every cell failed or had no finite score, so that they count as the worst; None where none
        did.
    rounds
        Integers ``[round, a, e]``: how many scores every cell had in all after each complete round of a race; None for
        a study that was not raced.
    declared
        What was declared before the race; None for a study that was not raced.
    families
        The families of variants that the study declares, by name; None for other scores.
    """

    algorithms: tuple[str, ...]
    environments: tuple[str, ...]
    cells: tuple[tuple[Floats, ...], ...]
    ranges: tuple[Range, ...]
    kinds: Ints
    provenance: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    unbroken_ae: Ints | None = None
    runs: tuple[tuple[Texts, ...], ...] | None = None
    failed_ae: Ints | None = None
    rounds: Ints | None = None
    declared: Mapping[str, Any] | None = None
    families: Families | None = None

    @classmethod
    def from_dict(
        cls,
        scores: Mapping[str, Mapping[str, ArrayLike]] | Mapping[tuple[str, str], ArrayLike],
        *,
        ranges: Mapping[str, Range] | Range | None = None,
        identical: Identical = (),
        nonfinite: Nonfinite = "error",
        provenance: Mapping[str, str] | None = None,
    ) -> "ScoreTable":
        """Return the table of a dictionary.

        Parameters
        ----------
        scores
            ``{algorithm: {environment: scores}}`` or ``{(algorithm, environment): scores}``.
        ranges
            The lowest and highest score of environments, by name; or one pair for all of them.
        identical
            Groups of algorithms whose definitions are the same, as lists of names; a dictionary by environment if that
            holds on some only. Their scores are pooled.
        nonfinite
            ``"error"`` refuses a score that is NaN or infinite, and says where it is; ``"worst"`` counts it as the
            lowest score of the environment, whose range must be declared.
        provenance
            Where the scores came from.
        """
        if not isinstance(scores, Mapping):
            raise InvalidInput(f"scores are {type(scores).__name__}: pass {{algorithm: {{environment: scores}}}}")
        flat: dict[tuple[str, str], ArrayLike] = {}
        # An algorithm without any environment still belongs to the table.
        algorithms = tuple(dict.fromkeys(str(key[0] if isinstance(key, tuple) and key else key) for key in scores))
        for key, value in scores.items():
            if isinstance(key, tuple):
                if len(key) != 2:
                    raise InvalidInput(f"the key {key!r} has {len(key)} parts: keys are (algorithm, environment)")
                inner: Iterable[tuple[object, object]] = [(key[1], value)]
            elif isinstance(value, Mapping):
                inner = value.items()
            else:
                raise InvalidInput(
                    f"the scores of {key!r} are {type(value).__name__}: pass {{algorithm: {{environment: scores}}}}"
                )
            algorithm = str(key[0] if isinstance(key, tuple) else key)
            for environment, numbers in inner:
                cell = algorithm, str(environment)
                if cell in flat:
                    raise InvalidInput(
                        f"the scores of {cell[0]!r} on {cell[1]!r} are given twice: names are compared as text, so 1 "
                        "and '1' are the same; put all trials of a cell into one list"
                    )
                flat[cell] = cast(ArrayLike, numbers)
        environments = tuple(dict.fromkeys(environment for _, environment in flat))
        cells = [
            [_vector(flat.get((algorithm, environment), ()), algorithm, environment) for environment in environments]
            for algorithm in algorithms
        ]
        return _checked(cls, algorithms, environments, cells, ranges, identical, nonfinite, provenance)

    @classmethod
    def from_array(
        cls,
        scores: ArrayLike,
        algorithms: Sequence[str] | None = None,
        environments: Sequence[str] | None = None,
        *,
        ranges: Mapping[str, Range] | Range | None = None,
        identical: Identical = (),
        nonfinite: Nonfinite = "error",
        provenance: Mapping[str, str] | None = None,
    ) -> "ScoreTable":
        """Return the table of an array ``[algorithm, environment, trial]``.

        Parameters
        ----------
        scores
            An array, or lists of lists, whose lengths may differ.
        algorithms, environments
            Their names; by default ``algorithm-1``, ``environment-1`` and so on.
        ranges
            The lowest and highest score of environments, by name; or one pair for all of them.
        identical
            Groups of algorithms whose definitions are the same, as in `from_dict`.
        nonfinite
            ``"error"`` or ``"worst"``, as in `from_dict`.
        provenance
            Where the scores came from.
        """
        if isinstance(scores, np.ndarray):
            if scores.ndim != 3:
                raise InvalidInput(
                    f"the array has {scores.ndim} dimensions, {scores.shape}: pass [algorithm, environment, trial]"
                )
            rows: Sequence[Sequence[ArrayLike]] = list(map(list, scores))
        else:
            rows = scores  # type: ignore[assignment]
        try:
            widths = {len(row) for row in rows}
            count = len(rows)
        except TypeError:
            raise InvalidInput("pass scores as [algorithm, environment, trial], three levels deep") from None
        if len(widths) > 1:
            raise InvalidInput(f"the algorithms have {sorted(widths)} environments: give each the same number")
        width = widths.pop() if widths else 0
        algorithms = _names("algorithm", algorithms, count)
        environments = _names("environment", environments, width)
        cells = [
            [_vector(cell, algorithm, environment) for cell, environment in zip(row, environments, strict=True)]
            for row, algorithm in zip(rows, algorithms, strict=True)
        ]
        return _checked(cls, tuple(algorithms), tuple(environments), cells, ranges, identical, nonfinite, provenance)

    @classmethod
    def from_columns(
        cls,
        algorithm: tuple[Sequence[str], NDArray[np.integer]],
        environment: tuple[Sequence[str], NDArray[np.integer]],
        score: Floats,
        *,
        run: tuple[Sequence[str], NDArray[np.integer]] | None = None,
        failed: NDArray[np.bool_] | None = None,
        ranges: Mapping[str, Range] | Range | None = None,
        identical: Identical = (),
        nonfinite: Nonfinite = "error",
        provenance: Mapping[str, str] | None = None,
    ) -> "ScoreTable":
        """Return the table of long columns, one row per trial.

        Parameters
        ----------
        algorithm, environment
            Distinct names, and for every row the index of its name.
        score
            The score of every row.
        run
            Names of runs, and for every row the index of its run; None where that is not known.
        failed
            For every row, whether the trial failed; its score is then what was counted for it. None where that is not
            known.
        ranges
            The lowest and highest score of environments, by name; or one pair for all of them.
        identical
            Groups of algorithms whose definitions are the same, as in `from_dict`.
        nonfinite
            ``"error"`` or ``"worst"``, as in `from_dict`.
        provenance
            Where the scores came from.
        """
        scores = _vector(score, copy=False)
        algorithms, rows = _indexed("algorithm", algorithm, scores.size)
        environments, columns = _indexed("environment", environment, scores.size)
        width = len(environments)
        # NumPy sorts numbers of 16 bits in linear time. In place: a table may have many millions of rows.
        where: NDArray[Any] = rows.astype(np.uint16 if len(algorithms) * width < 2**16 else np.int64)
        where *= width
        where += columns.astype(where.dtype)
        # A stable sort keeps the order of arrival within each cell.
        order: NDArray[np.integer] = np.argsort(where, kind="stable")
        order = order.astype(np.uint32) if order.size < 2**32 else order
        borders = np.append(0, np.cumsum(np.bincount(where, minlength=len(algorithms) * width)))
        spans = list(pairwise(borders.tolist()))
        if failed is not None:
            flags = np.asarray(failed, dtype=np.bool_)
            scores = _without_failed(scores, flags, rows, columns, algorithms, environments, nonfinite)
        # What is not finite counts as failed anyway.
        counted = None if failed is None else where[np.asarray(failed, dtype=np.bool_) & np.isfinite(scores)]
        failed_ae = None if counted is None else np.bincount(counted, minlength=len(algorithms) * width)
        del where

        def by_cell(column: NDArray[Any], names: NDArray[Any] | None = None) -> list[list[NDArray[Any]]]:
            parts = [column[order[a:b]] if names is None else names[column[order[a:b]]] for a, b in spans]
            return [parts[a * width : (a + 1) * width] for a in range(len(algorithms))]

        cells = by_cell(scores)
        table = _checked(cls, algorithms, environments, cells, ranges, identical, nonfinite, provenance, failed_ae)
        if run is None:
            return table
        names, codes = _run_names(run[0], scores.size), _indexed("run", run, scores.size)[1]
        return replace(table, runs=tuple(map(tuple, by_cell(codes, names))))

    @property
    def trials(self) -> Ints:
        """The number of scores, ``[algorithm, environment]``."""
        shape = (len(self.algorithms), len(self.environments))
        return np.array([[cell.size for cell in row] for row in self.cells], dtype=np.int64).reshape(shape)

    @property
    def missing(self) -> tuple[tuple[str, str], ...]:
        """The cells without scores, as (algorithm, environment)."""
        return tuple(
            (algorithm, environment)
            for algorithm, row in zip(self.algorithms, self.cells, strict=True)
            for environment, cell in zip(self.environments, row, strict=True)
            if not cell.size
        )

    @property
    def fingerprint(self) -> str:
        """32 hexadecimal digits, the same for tables with the same names and scores in the same order."""
        digest = hashlib.blake2b(digest_size=16)
        for algorithm, row in zip(self.algorithms, self.cells, strict=True):
            for environment, cell in zip(self.environments, row, strict=True):
                digest.update(repr((algorithm, environment, cell.size)).encode())
                digest.update(cell.astype("<f8").tobytes())
        return digest.hexdigest()

    def cell(self, algorithm: str, environment: str) -> Floats:
        """Return the scores of an algorithm on an environment, in the order they arrived."""
        row = _index("algorithm", self.algorithms, algorithm)
        return self.cells[row][_index("environment", self.environments, environment)]

    def select(
        self, algorithms: Iterable[str] | None = None, environments: Iterable[str] | None = None
    ) -> "ScoreTable":
        """Return the table of some algorithms and environments, in the order given."""
        rows = _indices("algorithm", self.algorithms, algorithms)
        columns = _indices("environment", self.environments, environments)

        def part(array: Ints | None) -> Ints | None:
            return None if array is None else _read_only(array[..., rows, :][..., columns])

        return replace(
            self,
            algorithms=tuple(self.algorithms[a] for a in rows),
            environments=tuple(self.environments[e] for e in columns),
            cells=tuple(tuple(self.cells[a][e] for e in columns) for a in rows),
            ranges=tuple(self.ranges[e] for e in columns),
            kinds=_read_only(_renumbered(self.kinds[np.ix_(columns, rows)])),
            unbroken_ae=part(self.unbroken_ae),
            runs=None if self.runs is None else tuple(tuple(self.runs[a][e] for e in columns) for a in rows),
            failed_ae=part(self.failed_ae),
            rounds=part(self.rounds),
            families=among(self.families, [self.environments[e] for e in columns]),
        )

    def __reduce__(self) -> tuple[Callable[..., "ScoreTable"], tuple[dict[str, Any]]]:
        # Mapping views cannot be pickled, and pickled arrays lose their read-only flag.
        known = {each.name: getattr(self, each.name) for each in fields(self)}
        views = {name: dict(value) for name, value in known.items() if isinstance(value, Mapping)}
        return _restored, (known | views,)

    def __repr__(self) -> str:
        trials = self.trials
        per_cell = f"{spread(trials)} per cell" if trials.size else "no cells"
        missing = len(self.missing)
        return (
            f"<ScoreTable: {len(self.algorithms)} algorithms x {len(self.environments)} environments, "
            f"{trials.sum():,} scores ({per_cell}{f', {missing} cells missing' if missing else ''})>"
        )


def spread(trials: Ints) -> str:
    """Return how many trials cells have, as text: ``"1,000"``, or ``"10 to 1,000"`` where they differ."""
    least, most = int(trials.min()), int(trials.max())
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def _vector(
    values: ArrayLike, algorithm: str | None = None, environment: str | None = None, *, copy: bool = True
) -> Floats:
    """Return a copy as float64; masked values become NaN, which `nonfinite` decides on."""
    what = "the scores" if algorithm is None else f"the scores of {algorithm!r} on {environment!r}"
    try:
        given = np.ma.asarray(values) if isinstance(values, np.ma.MaskedArray) else np.asarray(values)
        # NumPy would turn dates into numbers, and drop the imaginary part of complex ones.
        if given.dtype.kind in "mMcV":
            raise TypeError
        vector = given.astype(np.float64, copy=copy)
    except (TypeError, ValueError):
        raise InvalidInput(f"{what} are not all numbers: pass a flat list of numbers, one per trial") from None
    if isinstance(vector, np.ma.MaskedArray):
        vector = vector.filled(np.nan)
    if vector.ndim != 1:
        raise InvalidInput(f"{what} have shape {vector.shape}: pass a flat list of numbers, one per trial")
    return vector


def _indexed(
    kind: str, column: tuple[Sequence[str], NDArray[np.integer]], size: int
) -> tuple[tuple[str, ...], NDArray[np.integer]]:
    """Return the names and every row's index after checking both."""
    names = tuple(_names(kind, column[0], len(column[0])))
    indices: NDArray[np.integer] = np.asarray(column[1])
    if indices.shape != (size,) or indices.dtype.kind not in "iu":
        raise InvalidInput(
            f"the {kind} indices are {indices.dtype} of shape {indices.shape}: give one integer for each of the "
            f"{size} scores"
        )
    if indices.size and not 0 <= indices.min() <= indices.max() < len(names):
        outside = np.flatnonzero((indices < 0) | (indices >= len(names)))
        raise InvalidInput(
            f"the {kind} index of row {outside[0] + 1} is {indices[outside[0]]}: there are {len(names)} names, with "
            f"indices from 0 to {len(names) - 1}"
        )
    return names, indices


def _run_names(names: Sequence[str], size: int) -> NDArray[Any]:
    """Return names as an array: of references where texts as long as the longest would take much memory for all rows.

    NumPy's texts forget a null character at the end as well.
    """
    longest = max(map(len, names), default=0)
    large = 4 * longest * size > _MUCH or any(name.endswith("\0") for name in names)
    return np.array(names, dtype=np.object_ if large else np.str_)


#: Bytes that the names of runs may take before they are kept as references to fewer.
_MUCH = 100_000_000


def _read_only(array: Ints) -> Ints:
    array.setflags(write=False)
    return array


def _restored(known: dict[str, Any]) -> ScoreTable:
    """Return the table again after it was pickled or copied."""
    views = {name: MappingProxyType(value) for name, value in known.items() if isinstance(value, dict)}
    table = ScoreTable(**(known | views))
    arrays = (table.kinds, table.unbroken_ae, table.failed_ae, table.rounds)
    for array in (*(cell for row in table.cells for cell in row), *arrays):
        if array is not None:
            array.setflags(write=False)
    return table


def _names(kind: str, names: Sequence[str] | None, count: int) -> Sequence[str]:
    if names is None:
        return [f"{kind}-{number}" for number in range(1, count + 1)]
    if isinstance(names, str):
        raise InvalidInput(f"{kind}s={names!r} is one string: pass a list of names")
    names = list(map(str, names))
    if len(names) != count:
        raise InvalidInput(f"{len(names)} {kind} names for {count} {kind}s: give one each")
    if len(set(names)) != count:
        twice = sorted({name for name in names if names.count(name) > 1})
        raise InvalidInput(f"the {kind} names {', '.join(map(repr, twice))} appear more than once: names must differ")
    return names


def _index(kind: str, names: Sequence[str], name: str) -> int:
    try:
        return names.index(name)
    except ValueError:
        raise UnknownName(kind, name, names) from None


def _indices(kind: str, names: Sequence[str], chosen: Iterable[str] | None) -> list[int]:
    if chosen is None:
        return list(range(len(names)))
    if isinstance(chosen, str):
        raise InvalidInput(f"{kind}s={chosen!r} is one string: pass a list of names")
    return [_index(kind, names, name) for name in dict.fromkeys(chosen)]


def _checked(
    cls: type[ScoreTable],
    algorithms: tuple[str, ...],
    environments: tuple[str, ...],
    cells: list[list[Floats]],
    ranges: Mapping[str, Range] | Range | None,
    identical: Identical,
    nonfinite: Nonfinite,
    provenance: Mapping[str, str] | None,
    failed: Ints | None = None,
) -> ScoreTable:
    """Return the table after checking everything; errors name the cell.

    ``failed`` has the number of trials of every cell that failed and have a finite score all the same.
    """
    for kind, names in (("algorithm", algorithms), ("environment", environments)):
        if any(not name.strip() for name in names):
            raise InvalidInput(f"an {kind} has an empty name: every score needs the name of its {kind}")
    if nonfinite not in ("error", "worst"):
        raise InvalidInput(f"nonfinite={nonfinite!r}: pass 'error' or 'worst'")
    limits = _limits(environments, ranges)
    if nonfinite == "error":
        _refuse_nonfinite(algorithms, environments, cells)
    failed_ae = np.zeros((len(algorithms), len(environments)), dtype=np.int64)
    if failed is not None:
        failed_ae += failed.reshape(failed_ae.shape)
    for a, algorithm in enumerate(algorithms):
        for e, environment in enumerate(environments):
            cell = cells[a][e]
            failed_ae[a, e] += _count_nonfinite_as_worst(cell, limits[e], algorithm, environment)
            _check_within(cell, limits[e], algorithm, environment)
            cell.setflags(write=False)
    return cls(
        algorithms,
        environments,
        tuple(map(tuple, cells)),
        limits,
        _kinds(algorithms, environments, identical),
        MappingProxyType(dict(provenance or {})),
        failed_ae=_read_only(failed_ae) if failed_ae.any() else None,
    )


def _limits(environments: Sequence[str], ranges: Mapping[str, Range] | Range | None) -> tuple[Range, ...]:
    if ranges is None:
        return (EVERYWHERE,) * len(environments)
    if not isinstance(ranges, Mapping):
        return (_range("every environment", ranges),) * len(environments)
    for name in ranges:
        if name not in environments:
            raise UnknownName("environment", name, environments, "Ranges are given by the environments' names")
    return tuple(_range(name, ranges[name]) if name in ranges else EVERYWHERE for name in environments)


def _range(name: str, pair: object) -> Range:
    try:
        low, high = map(float, pair)  # type: ignore[call-overload]
    except (TypeError, ValueError):
        raise InvalidInput(f"the range of {name} is {pair!r}: pass a pair (lowest score, highest score)") from None
    if not low < high:
        raise InvalidInput(f"the range of {name} is ({low:g}, {high:g}): the lowest score must be below the highest")
    return low, high


def _without_failed(
    scores: Floats,
    failed: NDArray[np.bool_],
    rows: NDArray[np.integer],
    columns: NDArray[np.integer],
    algorithms: Sequence[str],
    environments: Sequence[str],
    nonfinite: Nonfinite,
) -> Floats:
    """Return scores that are NaN where a trial failed, unless it has the worst of the environment; or refuse them."""
    worst = np.full(len(environments), np.inf)
    np.fmin.at(worst, columns, scores)
    better = failed & np.isfinite(scores) & (scores > worst[columns])
    if nonfinite == "error" and better.any():
        row = int(np.flatnonzero(better)[0])
        count = int(better.sum())
        raise InvalidInput(
            f"{count:,} {'trial' if count == 1 else 'trials'} failed with a score that is not the worst, the first "
            f"{scores[row]:g} of {algorithms[rows[row]]!r} on {environments[columns[row]]!r}. A trial that failed "
            "counts as the worst score: declare what that is, nonfinite='worst' with ranges (--range NAME=LOW:HIGH "
            "--nonfinite worst); or remove the column that says that they failed, if they deserve their scores"
        )
    return np.where(better, np.nan, scores) if better.any() else scores


def _refuse_nonfinite(algorithms: Sequence[str], environments: Sequence[str], cells: list[list[Floats]]) -> None:
    found = {(a, e): np.flatnonzero(~np.isfinite(cell)) for a, row in enumerate(cells) for e, cell in enumerate(row)}
    bad = {cell: trials for cell, trials in found.items() if trials.size}
    if not bad:
        return
    (a, e), trials = next(iter(bad.items()))
    count = sum(each.size for each in bad.values())
    raise NotFinite(
        f"the scores of {algorithms[a]!r} on {environments[e]!r} are not all finite: trial {trials[0] + 1} of "
        f"{cells[a][e].size} is {cells[a][e][trials[0]]:g}"
        f"{_and_more(count - 1)}. A trial must not be dropped: give it "
        "the score it deserves, or declare the environment's range and pass nonfinite='worst' (--range NAME=LOW:HIGH "
        "--nonfinite worst)",
        count,
        tuple(f"{algorithms[a]} on {environments[e]}" for a, e in bad),
    )


def _and_more(count: int) -> str:
    return f", and {count} more {'is' if count == 1 else 'are'} not finite either" if count else ""


def _count_nonfinite_as_worst(cell: Floats, limits: Range, algorithm: str, environment: str) -> int:
    """Give scores that are not finite the worst score, and return how many there are."""
    bad = np.flatnonzero(~np.isfinite(cell))
    if not bad.size:
        return 0
    if not np.isfinite(limits[0]):
        raise InvalidInput(
            f"the scores of {algorithm!r} on {environment!r} are not all finite, and {environment!r} declares no worst "
            f"score: pass ranges={{{environment!r}: (lowest, highest)}} (--range {environment}=LOW:HIGH)"
        )
    cell[bad] = limits[0]
    return int(bad.size)


def _check_within(cell: Floats, limits: Range, algorithm: str, environment: str) -> None:
    outside = np.flatnonzero((cell < limits[0]) | (cell > limits[1]))
    if outside.size:
        raise InvalidInput(
            f"a score of {algorithm!r} on {environment!r} is outside the declared range ({limits[0]:g}, {limits[1]:g}):"
            f" trial {outside[0] + 1} is {float(cell[outside[0]])!r}. Declare a range that every possible score is in"
        )


def _kinds(algorithms: Sequence[str], environments: Sequence[str], identical: Identical) -> Ints:
    kinds = np.tile(np.arange(len(algorithms), dtype=np.int64), (len(environments), 1))
    if isinstance(identical, Mapping):
        by_environment = {
            _index("environment", environments, name): _groups(groups) for name, groups in identical.items()
        }
    else:
        by_environment = dict.fromkeys(range(len(environments)), _groups(identical))
    for e, groups in by_environment.items():
        for group in groups:
            labels = kinds[e, [_index("algorithm", algorithms, name) for name in group]]
            # Groups that share a member are one group.
            if labels.size:
                kinds[e, np.isin(kinds[e], labels)] = labels.min()
    return _read_only(kinds)


def _renumbered(kinds: Ints) -> Ints:
    """Return kinds by the number of the first algorithm of each, as in a table of these algorithms alone."""
    same_eab = kinds[:, :, None] == kinds[:, None, :]
    return same_eab.argmax(axis=2).astype(np.int64) if kinds.size else kinds


def _groups(groups: object) -> list[list[str]]:
    """Return the groups as lists, which can be iterated once for every environment."""
    found = []
    for group in groups if isinstance(groups, Iterable) else [groups]:
        if isinstance(group, str) or not isinstance(group, Iterable):
            raise InvalidInput(f"identical={group!r}: pass groups of names, [['a', 'b']]")
        found.append(list(group))
    return found
