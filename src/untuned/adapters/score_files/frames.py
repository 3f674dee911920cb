"""Data frames in long form: polars, pandas, pyarrow, and anything else whose columns are ``frame[name]``."""

from collections.abc import Mapping, Sequence
from typing import Any

from untuned.adapters.score_files.column_names import ROLES, USUAL, chosen_columns, plain, wanted_columns
from untuned.adapters.score_files.columns import Columns
from untuned.adapters.score_files.delimited import no_rows
from untuned.adapters.score_files.reading import Reading
from untuned.adapters.score_files.rows import Rows
from untuned.errors import InvalidInput

_WHERE = "the table"


def rows_of_frame(frame: Any, asked: Reading) -> Rows:
    """Return the rows of a data frame in long form.

    Parameters
    ----------
    frame
        A polars DataFrame or LazyFrame, a pandas DataFrame, a pyarrow Table, or anything else whose columns are
        ``frame[name]``. Names may be text, categories or integers. A missing score is NaN.
    asked
        The names of the columns, if they are not usual.

    Raises
    ------
    InvalidInput
        For a missing or invalid column, and for missing names.
    """
    found = column_names(frame) or []
    _refuse_index(frame, found, [wanted_columns(asked).get(role, role) for role in ROLES])
    chosen = chosen_columns(found, asked, _WHERE, lambda: _first_row(frame, found))
    read = [found[each] for each in chosen.positions]
    others = [name for name in found if name not in read and found.count(name) == 1] if chosen.anonymous else []
    if _is_lazy(frame):
        frame = frame.select(read + others).collect()
    values = {each: frame[found[each]] for each in chosen.positions}
    if not len(values[chosen.roles["score"]]):
        raise no_rows(_WHERE)
    return Columns(_WHERE, found, chosen, values, unread={name: frame[name] for name in others}).rows()


def column_names(frame: Any) -> list[str] | None:
    """Return the names of a data frame's columns, or None if it is not a data frame."""
    if _is_lazy(frame):
        return list(frame.collect_schema().names())
    # A pyarrow Table has `columns` too, but they are the columns themselves.
    for attribute in ("column_names", "columns"):
        names = getattr(frame, attribute, None)
        if names is not None and not callable(names) and hasattr(frame, "__getitem__"):
            return list(names)
    if isinstance(frame, Mapping):
        return list(frame)
    names = getattr(getattr(frame, "dtype", None), "names", None)
    return None if names is None else list(names)


def _is_lazy(frame: Any) -> bool:
    return hasattr(frame, "collect_schema") and hasattr(frame, "collect") and not hasattr(frame, "rows")


def _refuse_index(frame: Any, found: Sequence[str], wanted: Sequence[str]) -> None:
    """Refuse a pandas frame with a needed column in its index, which is not searched."""
    names = getattr(getattr(frame, "index", None), "names", None)
    index = [str(name) for name in names or () if name is not None]
    hidden = [name for name in wanted if name not in found and name in index]
    hidden += [name for name in index if plain(name) in (*USUAL["run"], *USUAL["step"])]
    if hidden:
        raise InvalidInput(
            f"{', '.join(map(repr, hidden))} is in the index of the table, not among its columns: pass "
            "frame.reset_index()"
        )


def _first_row(frame: Any, found: Sequence[str]) -> list[object]:
    if _is_lazy(frame):
        frame = frame.head(1).collect()
    values: list[Any] = [next(iter(frame[name]), None) if found.count(name) == 1 else None for name in found]
    return [value.as_py() if hasattr(value, "as_py") else value for value in values]
