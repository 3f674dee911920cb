"""The columns of a table in long form: finding them by name, and reading names and numbers from them.

Columns may be those of polars, pandas or pyarrow, arrays or lists. Only polars is imported, and only when it is used;
the others are recognised by what they can do.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from untuned.adapters.score_files.reading import Reading
from untuned.adapters.score_files.rows import Named, Rows
from untuned.errors import InvalidInput, nearest
from untuned.scores import Floats, Ints

if TYPE_CHECKING:
    import polars

#: What every table has, and what the columns are called by default.
ROLES = ("algorithm", "environment", "score")
#: Usual names of columns, without case, spaces and signs; the first of several that are there is taken for a step.
USUAL = {
    "algorithm": ("algorithm", "algo", "alg", "algorithmname", "agent", "agentname", "method", "expname"),
    "environment": (
        *("environment", "environmentname", "environmentid", "env", "envid", "envname"),
        *("task", "taskname", "game", "gamename"),
    ),
    "score": (
        *("score", "return", "reward", "performance", "result", "value", "meanreturn", "meanreward", "meanscore"),
        *("episodicreturn", "episodereturn", "episodereward", "finalreturn", "finalscore", "finalperformance"),
        *("evalreturn", "evalscore", "evaluationreturn"),
    ),
    "run": (
        *("run", "runid", "runname", "runnumber", "trial", "trialid", "trialnumber", "seed", "seedid"),
        *("replicate", "replication", "repetition"),
    ),
    "step": (
        *("step", "steps", "globalstep", "timestep", "timesteps", "totaltimesteps", "totalsteps", "stepcount"),
        *("envstep", "envsteps", "environmentstep", "environmentsteps", "frame", "frames", "iteration", "iterations"),
        *("iter", "epoch", "episode", "episodes", "update", "updates"),
    ),
}
#: More columns than this are not listed one by one.
_MANY = 20
#: More columns than this are not compared letter by letter with a name that is missing.
_COMPARED = 2000
#: Characters of a value that a message shows.
_LONG = 120


def plain(name: object) -> str:
    """Return a column's name without case, spaces and signs, as it is looked up among the usual ones."""
    return re.sub(r"[\s_./-]+", "", str(name)).casefold()


def shown(value: object) -> str:
    """Return a value of a file as a message shows it: without control characters, and cut where it is long."""
    try:
        text = repr(value)
    except RecursionError:
        return f"a {type(value).__name__} of many levels"
    return text if len(text) <= _LONG else f"{text[: _LONG - 20]}... ({len(text):,} characters)"


@dataclass(frozen=True)
class Chosen:
    """The position of every column that is read.

    Attributes
    ----------
    roles
        By role: algorithm, environment and score; step where there is one; failure where there is one.
    runs
        By heading, the columns that may identify a run; with several positions where only their combination does.
    """

    roles: Mapping[str, int]
    runs: Mapping[str, tuple[int, ...]]

    @property
    def positions(self) -> list[int]:
        """All positions, ascending."""
        return sorted({*self.roles.values(), *(each for group in self.runs.values() for each in group)})


@dataclass(frozen=True)
class Columns:
    """The columns of a table that are read, and where they are from.

    Parameters
    ----------
    where
        What to call the table in messages: a file's name, or "the table".
    names
        The names of all columns of the table.
    chosen
        Which of them are read.
    values
        The columns that are read, by position.
    path
        Of the file, for `Rows`.
    first
        The number of the first row.
    numbers
        The number of each row as the user counts, from 1; None where none was left out.
    """

    where: str
    names: Sequence[str]
    chosen: Chosen
    values: Mapping[int, Any]
    path: str = ""
    first: int = 1
    numbers: Ints | None = field(default=None)

    def rows(self) -> Rows:
        """Return the rows of the table."""
        roles = self.chosen.roles
        return Rows(
            place=self.where,
            algorithm=self._indexed("algorithm", roles["algorithm"]),
            environment=self._indexed("environment", roles["environment"]),
            run={
                heading: combined([self._indexed("run", each) for each in group])
                for heading, group in self.chosen.runs.items()
            }
            or None,
            score=self._numbers("score", roles["score"]),
            step=self._numbers("step", roles["step"]) if "step" in roles else None,
            failed=self._failed(roles["failure"]) if "failure" in roles else None,
            path=self.path,
            first=self.first,
            numbers=self.numbers,
            columns=self._described(),
        )

    def _described(self) -> str:
        """Return which columns are read, where they do not have their default names."""
        roles = self.chosen.roles
        names = [self.names[roles[role]] for role in ROLES]
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

    def _failed(self, position: int) -> NDArray[np.bool_]:
        """Return which rows have a text that says why the trial failed."""
        import polars

        column = _series(self.values[position])
        if column.dtype == polars.Boolean:
            return column.fill_null(value=False).to_numpy()
        texts = column.cast(polars.String, strict=False)
        return (texts.is_not_null() & (texts != "")).fill_null(value=False).to_numpy()

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
        """Return numbers; a score that is missing is NaN, so that it counts as a trial without a finite score."""
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
        """Return the number of a row as the user counts."""
        return row + self.first if self.numbers is None else int(self.numbers[row])


@dataclass(frozen=True)
class _Numbers:
    """A column of numbers."""

    table: Columns
    kind: str
    position: int

    def read(self) -> Floats:
        """Return the numbers; what is missing is NaN."""
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
            # NumPy's complex numbers would drop their imaginary part.
            if isinstance(value, np.complexfloating):
                self._not_a_number(row, value.item())
            # Python reads "1_000" and digits of other scripts as numbers; files are read without them.
            if isinstance(value, str) and not re.fullmatch(r"[-+.0-9eEinfatyINFATY ]*", value):
                self._not_a_number(row, value)
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


def combined(columns: Sequence[Named]) -> Named:
    """Return the combinations of several columns of names, as one column; different ones have different names."""
    if len(columns) == 1:
        return columns[0]
    (names, codes), *others = [([_word(name) for name in names], codes) for names, codes in columns]
    for more, other in others:
        pairs, joint = np.unique(codes.astype(np.int64) * len(more) + other, return_inverse=True)
        names = [f"{names[pair // len(more)]} {more[pair % len(more)]}" for pair in pairs.tolist()]
        codes = joint.astype(np.int32)
    return names, codes


def _word(name: str) -> str:
    """Return a name in quotation marks if it could be taken for several."""
    return repr(name) if " " in name or name[:1] in "\"'" else name


def chosen_columns(found: Iterable[str], asked: Reading, where: str, example: Callable[[], Sequence[object]]) -> Chosen:
    """Return which columns of a table are read: those that were named, else those with usual names.

    Parameters
    ----------
    found
        The names of all columns.
    asked
        The names that the user gave.
    where
        What to call the table in messages.
    example
        Returns the values of the first row, which only a message needs.
    """
    found = list(found)
    given = wanted_columns(asked)
    roles = {role: _position(found, role, given.get(role), where) for role in (*ROLES, "step")}
    missing = [role for role in ROLES if roles[role] is None]
    if missing:
        raise InvalidInput(_about_missing(missing, found, [given.get(role, role) for role in ROLES], where, example))
    by_position: dict[int, str] = {}
    for role, position in roles.items():
        if position is not None and by_position.setdefault(position, role) != role:
            raise InvalidInput(
                f"column {shown(found[position])} is named for both {by_position[position]} and {role}: give "
                "each its own column"
            )
    if "failure" in found and "failure" not in given.values():
        roles["failure"] = found.index("failure")
    return Chosen(
        {role: position for role, position in roles.items() if position is not None},
        _run_columns(found, asked.run, set(by_position), where),
    )


def wanted_columns(asked: Reading) -> dict[str, str]:
    """Return the columns that the user named, by role."""
    given: dict[str, str] = {}
    if asked.columns is not None:
        names = asked.columns.split(",")
        if len(names) != 3 or not all(names):
            raise InvalidInput(f"columns {asked.columns}: write three names, --columns algo,env,return")
        given = dict(zip(ROLES, names, strict=True))
    named = {role: getattr(asked, role) for role in (*ROLES, "step")}
    return given | {role: name for role, name in named.items() if name is not None}


def _position(found: Sequence[str], role: str, given: str | None, where: str) -> int | None:
    """Return the position of a column by the name that was given, its default name, or the only usual one."""
    name = given if given is not None else role
    if found.count(name) > 1:
        raise InvalidInput(
            f"{where} has {found.count(name)} columns called {name!r}: rename all but the one that is meant"
        )
    if name in found:
        return found.index(name)
    if given is not None:
        if role == "step":
            raise InvalidInput(f"{where} has no column {given!r}. It has {_listed(list(map(shown, found)))}")
        return None
    usual = [position for position, name in enumerate(found) if plain(name) in USUAL[role]]
    if role == "step":
        return min(usual, key=lambda each: USUAL[role].index(plain(found[each])), default=None)
    if len(usual) > 1:
        raise InvalidInput(
            f"{where} has no column {role!r}, and {_listed([shown(found[each]) for each in usual])} may be it: say "
            f"which with {role}='...' (--columns A,E,S)"
        )
    return usual[0] if usual else None


def _run_columns(found: Sequence[str], given: str | None, taken: set[int], where: str) -> dict[str, tuple[int, ...]]:
    """Return the columns that may identify a run: those that were named together, else each with a usual name."""
    if given is not None:
        names = given.split(",") if given not in found else [given]
        for name in names:
            if found.count(name) != 1:
                raise InvalidInput(
                    f"{where} has {found.count(name) or 'no'} columns called {name!r}, which --run names. It has "
                    f"{_listed(list(map(shown, found)))}"
                )
        return {given: tuple(found.index(name) for name in names)}
    usual = [each for each, name in enumerate(found) if plain(name) in USUAL["run"] and each not in taken]
    # The most specific first: a seed may serve several runs.
    usual.sort(key=lambda each: USUAL["run"].index(plain(found[each])))
    counts = Counter(found)
    return {found[each]: (each,) for each in usual if counts[found[each]] == 1}


def _about_missing(
    missing: Sequence[str],
    found: Sequence[str],
    wanted: Sequence[str],
    where: str,
    example: Callable[[], Sequence[object]],
) -> str:
    named = dict(zip(ROLES, wanted, strict=True))
    free = [name for name in found if name not in wanted]
    absent = _listed([repr(named[role]) for role in missing])
    message = f"{where} has no column {absent}. It has {_listed(list(map(shown, found))) or 'no columns'}"
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
    near = nearest(str(name), texts) if len(texts) <= _COMPARED else None
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
    numbers = set(numeric)
    texts = [name for name in found if name in first and name not in numbers]
    # Long form under other names has names of algorithms and of environments, so more than one column of text.
    if len(numeric) < 2 or len(texts) > 1:
        return None
    algorithm = str(first[texts[0]]) if texts else "my-algorithm"
    if any(len(each) > _LONG for each in (algorithm, *numeric[:2], *(str(first[name]) for name in numeric[:2]))):
        return None
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
