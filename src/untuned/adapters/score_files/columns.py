"""The columns of a table in long form: reading names and numbers from them.

Columns may be those of polars, pandas or pyarrow, arrays or lists. Only polars is imported, and only when it is used;
the others are recognised by their methods.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from untuned.adapters.score_files.column_names import ROLES, Chosen, shown
from untuned.adapters.score_files.rows import Named, Rows
from untuned.errors import InvalidInput
from untuned.scores import Floats, Ints

if TYPE_CHECKING:
    import polars

#: Values of a status column for failed trials.
_FAILED = (
    "crashed",
    "crash",
    "failed",
    "failure",
    "fail",
    "killed",
    "error",
    "errored",
    "timeout",
    "preempted",
    "diverged",
    "oom",
)
#: Values of a failure column for trials that did not fail: empty, or a word or number for no.
_NOT_FAILED = ("", "false", "no", "0", "0.0", "nan", "none", "null")


@dataclass(frozen=True)
class Columns:
    """The columns of a table to read, and their source.

    Parameters
    ----------
    where
        The name of the table in messages: a file's name, or "the table".
    names
        The names of all columns of the table.
    chosen
        Which of them to read.
    values
        The columns to read, by position.
    path
        Path of the file, for `Rows`.
    first
        The number of the first row.
    numbers
        The number of each row in the user's count, from 1; None if none was left out.
    unread
        Other columns, by name: examined if no column identifies the run of a row.
    """

    where: str
    names: Sequence[str]
    chosen: Chosen
    values: Mapping[int, Any]
    path: str = ""
    first: int = 1
    numbers: Ints | None = field(default=None)
    unread: Mapping[str, Any] = field(default_factory=dict)

    def rows(self) -> Rows:
        """Return the rows of the table."""
        roles = self.chosen.roles
        algorithm, environment = (
            self._indexed(role, roles[role]) if role in roles else None for role in ("algorithm", "environment")
        )
        return Rows(
            place=self.where,
            algorithm=algorithm,
            environment=environment,
            run={
                heading: combined([self._indexed("run", each) for each in group])
                for heading, group in self.chosen.runs.items()
            }
            or None,
            score=self._numbers("score", roles["score"]),
            step=self._numbers("step", roles["step"]) if "step" in roles else None,
            failed=self._failures(),
            path=self.path,
            first=self.first,
            numbers=self.numbers,
            columns=self._described(),
            suspects=self._suspects(algorithm, environment) if self.chosen.anonymous else (),
            alone=True,
        )

    def _suspects(self, algorithm: Named | None, environment: Named | None) -> tuple[str, ...]:
        """Return the unread columns that repeat evenly within cells, as names of runs and steps do."""
        if algorithm is None or environment is None:
            return ()
        cell = algorithm[1].astype(np.int64) * len(environment[0]) + environment[1]
        return tuple(name for name, column in self.unread.items() if _repeats_evenly(column, cell))

    def _failures(self) -> NDArray[np.bool_] | None:
        """Return which trials failed; None without such a column."""
        found = [
            self._failed(self.chosen.roles[role], words)
            for role, words in (("failure", None), ("status", _FAILED))
            if role in self.chosen.roles
        ]
        return np.logical_or.reduce(found) if found else None

    def _described(self) -> str:
        """Return which columns are read, if they do not have their default names."""
        roles = self.chosen.roles
        names = [self.names[roles[role]] for role in ROLES if role in roles]
        return "" if names == list(ROLES) else f"columns {', '.join(names)}"

    def _indexed(self, kind: str, position: int) -> Named:
        """Return the distinct names of a column in order of first appearance, and every row's index among them."""
        column, name = self.values[position], self.names[position]
        if hasattr(column, "factorize"):
            codes, values = _factorized_by_pandas(column)
        else:
            codes, values = self._factorized(kind, position)
        if codes.size and codes.min() < 0:
            self._refuse(codes < 0, f"has no {kind}: column {shown(name)} is empty there. Every score needs its {kind}")
        # Different values may have the same name: 1 and "1".
        known: dict[str, int] = {}
        moved = np.array([known.setdefault(str(value), len(known)) for value in values], dtype=np.int32)
        names = list(known)
        for index, text in enumerate(names):
            if not text.strip():
                self._refuse(
                    moved[codes] == index,
                    f"has an empty name: column {shown(name)} is {shown(text)} there. Every score needs the "
                    f"name of its {kind}",
                )
        return names, (codes if len(names) == len(values) else moved[codes]).astype(np.int32)

    def _failed(self, position: int, words: Sequence[str] | None) -> NDArray[np.bool_]:
        """Return which rows have one of the words for a failure, or any word but no."""
        import polars

        series = _series(self.values[position])
        if series.dtype == polars.Object:
            series = polars.Series([None if value is None else str(value) for value in series], dtype=polars.String)
        texts = series.cast(polars.String, strict=False).str.strip_chars().str.to_lowercase()
        said = ~texts.is_in(_NOT_FAILED) if words is None else texts.is_in(words)
        return (texts.is_not_null() & said).fill_null(value=False).to_numpy()

    def _factorized(self, kind: str, position: int) -> tuple[Ints, list[object]]:
        import polars

        series = _series(self.values[position])
        if series.dtype.is_nested() or series.dtype == polars.Binary:
            raise InvalidInput(
                f"column {shown(self.names[position])} of {self.where} holds {series.dtype}, not names: "
                f"say which column names the {kind} with {kind}='...'"
            )
        if series.dtype == polars.Object:
            series = polars.Series([None if value is None else str(value) for value in series], dtype=polars.String)
        if series.dtype in (polars.Categorical, polars.Enum):
            series = series.cast(polars.String)
        if series.dtype.is_float():
            series = series.fill_nan(None)
        distinct = series.drop_nulls().unique(maintain_order=True)
        indices = polars.Series(np.arange(len(distinct), dtype=np.int64))
        codes = series.replace_strict(distinct, indices, default=-1, return_dtype=polars.Int64)
        return codes.fill_null(-1).to_numpy(), distinct.to_list()

    def _numbers(self, kind: str, position: int) -> Floats:
        """Return numbers; a missing score is NaN, so that it counts as a trial without a finite score."""
        column = _Numbers(self, kind, position).read()
        if kind == "step" and not np.isfinite(column).all():
            self._refuse(
                ~np.isfinite(column), f"has no step: column {shown(self.names[position])} is empty or not finite"
            )
        return column

    def _refuse(self, bad: NDArray[np.bool_], message: str) -> NoReturn:
        found = np.flatnonzero(bad)
        more = f" ({found.size - 1:,} more rows are like it)" if found.size > 1 else ""
        raise InvalidInput(f"row {self.number(int(found[0]))} of {self.where} {message}{more}")

    def number(self, row: int) -> int:
        """Return the number of a row in the user's count."""
        return row + self.first if self.numbers is None else int(self.numbers[row])


@dataclass(frozen=True)
class _Numbers:
    """A column of numbers."""

    table: Columns
    kind: str
    position: int

    def read(self) -> Floats:
        """Return the numbers; missing ones are NaN."""
        import polars

        column = self.table.values[self.position]
        if hasattr(column, "factorize") and hasattr(column, "isna"):
            return self._numbers_of_pandas(column)
        series = _series(column)
        if series.dtype.is_numeric() or series.dtype in (polars.Boolean, polars.Null):
            return series.cast(polars.Float64).to_numpy()
        if series.dtype in (polars.String, polars.Categorical, polars.Enum):
            return self._parsed(series.cast(polars.String))
        if series.dtype == polars.Object:
            return self._converted(series.to_list())
        return self._not_numbers(series.dtype)

    @property
    def _name(self) -> str:
        return self.table.names[self.position]

    def _numbers_of_pandas(self, column: Any) -> Floats:
        kind = column.dtype.kind
        if kind in "fiub":
            return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
        if kind not in "OUT":
            return self._not_numbers(column.dtype)
        missing = np.asarray(column.isna(), dtype=bool).tolist()
        return self._converted([None if gone else value for gone, value in zip(missing, column, strict=True)])

    def _converted(self, values: list[Any]) -> Floats:
        """Return the numbers of Python objects, including text."""
        import polars

        if all(value is None or isinstance(value, str) for value in values):
            return self._parsed(polars.Series(values, dtype=polars.String))
        numbers = np.empty(len(values))
        for row, given in enumerate(values):
            value = given.strip() if isinstance(given, str) else given
            # Complex numbers would lose their imaginary part in NumPy.
            if isinstance(value, np.complexfloating):
                self._not_a_number(row, value.item())
            # Python accepts "1_000" and digits of other scripts as numbers; files may not have them.
            if isinstance(value, str) and not re.fullmatch(r"[-+.0-9eEinfatyINFATY ]*", value):
                self._not_a_number(row, value)
            try:
                numbers[row] = np.nan if value is None or value == "" else float(value)
            except (TypeError, ValueError, OverflowError):
                self._not_a_number(row, value)
        return numbers

    def _parsed(self, text: "polars.Series") -> Floats:
        """Return the numbers in a column of text; an empty cell is NaN."""
        import polars

        numbers = text.cast(polars.Float64, strict=False)
        if numbers.null_count() > text.null_count():
            text = text.str.strip_chars()
            numbers = text.cast(polars.Float64, strict=False)
            bad = numbers.is_null() & text.is_not_null() & (text != "")
            if bad.any():
                row = int(np.flatnonzero(bad.to_numpy())[0])
                self._not_a_number(row, text[row])
        return numbers.to_numpy()

    def _not_a_number(self, row: int, value: object) -> NoReturn:
        raise InvalidInput(
            f"row {self.table.number(row)} of {self.table.where} has the {self.kind} {shown(value)} (column "
            f"{shown(self._name)}),"
            " which is not a number: write numbers with a decimal point, as in -12.5 or 1e3, and leave the cell empty "
            f"or write nan where a trial has no score; or say which column has the {self.kind}s with {self.kind}='...'"
        )

    def _not_numbers(self, dtype: object) -> NoReturn:
        first = next(iter(self.table.values[self.position]), None)
        raise InvalidInput(
            f"column {shown(self._name)} of {self.table.where} holds {dtype}, not numbers: row "
            f"{self.table.number(0)} is {shown(first)}. Say which column has the {self.kind}s with {self.kind}='...'"
        )


def _repeats_evenly(column: Any, cell: Ints) -> bool:
    """Return whether a column has several values in every cell, each equally often and more than once."""
    import polars

    series = _series(column)
    if series.dtype.is_nested() or series.dtype == polars.Object or len(series) != cell.size:
        return False
    codes = series.cast(polars.String, strict=False).fill_null("").rank("dense").to_numpy().astype(np.int64)
    pairs, counts = np.unique(cell * (int(codes.max(initial=0)) + 1) + codes, return_counts=True)
    cells = pairs // (int(codes.max(initial=0)) + 1)
    begins = np.flatnonzero(np.append(True, cells[1:] != cells[:-1]))
    values = np.diff(np.append(begins, cells.size))
    fewest, most = np.minimum.reduceat(counts, begins), np.maximum.reduceat(counts, begins)
    # The last cell of a piece of a file may be incomplete.
    whole = cells[begins] != cell[-1] if begins.size > 1 else np.ones(begins.size, dtype=np.bool_)
    return bool(((values > 1) & (fewest > 1) & (fewest == most))[whole].all())


def combined(columns: Sequence[Named]) -> Named:
    """Return the combinations of several columns of names as one column, with distinct names."""
    if len(columns) == 1:
        return columns[0]
    (names, codes), *others = [([_word(name) for name in names], codes) for names, codes in columns]
    for more, other in others:
        pairs, joint = np.unique(codes.astype(np.int64) * len(more) + other, return_inverse=True)
        names = [f"{names[pair // len(more)]} {more[pair % len(more)]}" for pair in pairs.tolist()]
        codes = joint.astype(np.int32)
    return names, codes


def _word(name: str) -> str:
    """Return a name, in quotation marks if it could be read as several."""
    return repr(name) if " " in name or name[:1] in "\"'" else name


def _factorized_by_pandas(column: Any) -> tuple[Ints, list[object]]:
    # pandas has its own method, which does not copy text and handles all its types and missing values.
    codes, values = column.factorize()
    return np.asarray(codes, dtype=np.int64), list(values)


def _series(column: Any) -> "polars.Series":
    import polars

    if isinstance(column, polars.Series):
        return column
    if hasattr(column, "__arrow_c_stream__") or hasattr(column, "__arrow_c_array__"):
        return polars.Series(column)
    if isinstance(column, np.ndarray) and column.dtype.kind != "O":
        return polars.Series(column)
    values = list(column)
    try:
        return polars.Series(values, strict=False)
    except (TypeError, polars.exceptions.PolarsError):
        return polars.Series(values, dtype=polars.Object)
