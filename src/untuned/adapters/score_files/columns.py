"""The three columns that make a table of scores: finding them by name, and reading names and numbers from them.

Columns may be those of polars, pandas or pyarrow, arrays or lists. Only polars is imported, and only when it is used;
the others are recognised by what they can do.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from untuned.errors import InvalidInput, nearest
from untuned.scores import Floats, Identical, Ints, Nonfinite, Range, ScoreTable

if TYPE_CHECKING:
    import polars

#: What a column holds, and the name it has by default.
ROLES = ("algorithm", "environment", "score")
#: More columns than this are not listed one by one.
_MANY = 20


@dataclass(frozen=True)
class Columns:
    """One column for each role, and where they are from.

    Parameters
    ----------
    where
        What to call the table in messages: a file's name, or "the table".
    names
        The names of the three columns, in the order of `ROLES`.
    values
        The columns themselves.
    rows
        The number of each row as the user counts, from 1; None where none was left out.
    """

    where: str
    names: tuple[str, str, str]
    values: tuple[Any, Any, Any]
    rows: Ints | None = None

    def table(
        self,
        ranges: Mapping[str, Range] | Range | None,
        identical: Identical,
        nonfinite: Nonfinite,
        provenance: Mapping[str, str] | None,
    ) -> ScoreTable:
        """Return the table of the three columns."""
        if not len(self.values[2]):
            raise InvalidInput(
                f"{self.where} has columns and no rows: give one row per trial, with {_listed(ROLES)} of it"
            )
        return ScoreTable.from_columns(
            self._indexed(0),
            self._indexed(1),
            self._numbers(),
            ranges=ranges,
            identical=identical,
            nonfinite=nonfinite,
            provenance=provenance,
        )

    def _indexed(self, role: int) -> tuple[list[str], Ints]:
        """Return the distinct names of a column in order of first appearance, and every row's index among them."""
        column = self.values[role]
        codes, values = _factorized_by_pandas(column) if hasattr(column, "factorize") else self._factorized(role)
        kind, name = ROLES[role], self.names[role]
        if codes.size and codes.min() < 0:
            self._refuse(
                role, codes < 0, f"has no {kind}: column {name!r} is empty there. Every score needs its {kind}"
            )
        # Different values may have the same name: 1 and "1".
        position: dict[str, int] = {}
        moved = np.array([position.setdefault(str(value), len(position)) for value in values], dtype=np.int64)
        names = list(position)
        for index, text in enumerate(names):
            if not text.strip():
                self._refuse(
                    role,
                    moved[codes] == index,
                    f"has an empty name: column {name!r} is {text!r} there. Every score needs the name of its {kind}",
                )
        return names, (codes if len(names) == len(values) else moved[codes])

    def _factorized(self, role: int) -> tuple[Ints, list[object]]:
        import polars

        series = _series(self.values[role])
        if series.dtype.is_nested() or series.dtype == polars.Binary:
            raise InvalidInput(
                f"column {self.names[role]!r} of {self.where} holds {series.dtype}, not names: "
                f"say which column names the {ROLES[role]} with {ROLES[role]}='...'"
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

    def _numbers(self) -> Floats:
        """Return the scores; what is missing is NaN, so that it counts as a trial without a finite score."""
        import polars

        column = self.values[2]
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
        for row, value in enumerate(values):
            # NumPy's complex numbers would drop their imaginary part.
            if isinstance(value, np.complexfloating):
                self._not_a_number(row, value.item())
            try:
                numbers[row] = np.nan if value is None or value == "" else float(value)
            except (TypeError, ValueError, OverflowError):
                self._not_a_number(row, value)
        return numbers

    def _parsed(self, text: "polars.Series") -> Floats:
        """Return the numbers that are written in a column of text; an empty cell is NaN."""
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
            f"row {self._number(row)} of {self.where} has the score {value!r} (column {self.names[2]!r}), which is not "
            "a number: write numbers with a decimal point, as in -12.5 or 1e3, and leave the cell empty or write "
            "nan where a trial has no score; or say which column has the scores with score='...'"
        )

    def _not_numbers(self, dtype: object) -> NoReturn:
        first = next(iter(self.values[2]), None)
        raise InvalidInput(
            f"column {self.names[2]!r} of {self.where} holds {dtype}, not numbers: row {self._number(0)} is "
            f"{first!r}. Say which column has the scores with score='...'"
        )

    def _refuse(self, role: int, bad: NDArray[np.bool_], message: str) -> NoReturn:
        found = np.flatnonzero(bad)
        more = f" ({found.size - 1:,} more rows are like it)" if found.size > 1 else ""
        raise InvalidInput(f"row {self._number(int(found[0]))} of {self.where} {message}{more}")

    def _number(self, row: int) -> int:
        return row + 1 if self.rows is None else int(self.rows[row])


def positions(
    found: Sequence[str], wanted: tuple[str, str, str], where: str, example: Callable[[], Sequence[object]]
) -> tuple[int, int, int]:
    """Return where the three columns are among those found.

    Parameters
    ----------
    found
        The names of all columns.
    wanted
        The names of the columns with algorithm, environment and score.
    where
        What to call the table in messages.
    example
        Returns the values of the first row, which only a message needs.
    """
    for later in (1, 2):
        if wanted[later] in wanted[:later]:
            earlier = ROLES[wanted.index(wanted[later])]
            raise InvalidInput(
                f"column {wanted[later]!r} is named for both {earlier} and {ROLES[later]}: give each its own column"
            )
    found = list(found)
    missing = [role for role, name in zip(ROLES, wanted, strict=True) if name not in found]
    if missing:
        raise InvalidInput(_about_missing(missing, found, wanted, where, example))
    for name in wanted:
        if found.count(name) > 1:
            raise InvalidInput(
                f"{where} has {found.count(name)} columns called {name!r}: rename all but the one that is meant"
            )
    return found.index(wanted[0]), found.index(wanted[1]), found.index(wanted[2])


def _about_missing(
    missing: Sequence[str],
    found: Sequence[str],
    wanted: tuple[str, str, str],
    where: str,
    example: Callable[[], Sequence[object]],
) -> str:
    named = dict(zip(ROLES, wanted, strict=True))
    free = [name for name in found if name not in wanted]
    absent = _listed([repr(named[role]) for role in missing])
    message = f"{where} has no column {absent}. It has {_listed(list(map(repr, found))) or 'no columns'}"
    advice = []
    for role in missing:
        near = _nearest_column(named[role], free)
        if near is not None:
            advice.append(f"{role}={near!r}")
    message += f"; did you mean {', '.join(advice)}?" if advice else "."
    options = ", ".join(f"{role}='...'" for role in missing)
    message += f" Rename the columns, or pass {options} with the names they have (--columns A,E,S)"
    wide = _as_long_form(free, found, example) if {"environment", "score"} <= set(missing) else None
    if wide is not None:
        message += (
            ".\nIf every column is an environment, the table is in wide form. Long form is needed, one row per trial:"
            f"\n\n{wide}\n\nunpivot of polars and melt of pandas turn one into the other"
        )
    return message


def _nearest_column(name: str, free: Sequence[object]) -> str | None:
    """Return the column that is most likely meant: spelled alike, or an abbreviation."""
    texts = [column for column in free if isinstance(column, str)]
    near = nearest(str(name), texts)
    if near is not None:
        return near
    return next(
        (text for text in texts if len(text) > 2 and str(name).casefold().startswith(text.casefold())),
        None,
    )


def _as_long_form(free: Sequence[str], found: Sequence[str], example: Callable[[], Sequence[object]]) -> str | None:
    """Return three lines in long form, made of the table at hand, if its columns look like environments."""
    first = dict(zip(found, example(), strict=False))
    numeric = [name for name in free if _is_number(first.get(name))]
    texts = [name for name in found if name in first and name not in numeric]
    # Long form under other names has names of algorithms and of environments, so more than one column of text.
    if len(numeric) < 2 or len(texts) > 1:
        return None
    algorithm = str(first[texts[0]]) if texts else "my-algorithm"
    rows = [",".join(ROLES), *(f"{algorithm},{name},{first[name]}" for name in numeric[:2])]
    return "\n".join(f"    {row}" for row in rows)


def _is_number(value: object) -> bool:
    try:
        float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
    return True


def _factorized_by_pandas(column: Any) -> tuple[Ints, list[object]]:
    # pandas has its own, which needs no copy of text and knows about all its types and its several missing values.
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


def _listed(names: Sequence[str]) -> str:
    if len(names) > _MANY:
        return f"{', '.join(names[:_MANY])} and {len(names) - _MANY} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
