"""The entry point for scores: makes a `ScoreTable` from any supported source."""

import dataclasses
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from untuned.adapters.score_files.axes import evident_axes, rows_of_array, rows_of_dictionary
from untuned.adapters.score_files.choosing import chosen_table, concerning, flipped, minimized, wanted_names
from untuned.adapters.score_files.column_names import ROLES
from untuned.adapters.score_files.frames import column_names, rows_of_frame
from untuned.adapters.score_files.importing import Imported, Source, imported, rows_of_paths
from untuned.adapters.score_files.reading import Reading
from untuned.adapters.score_files.rows import gathered
from untuned.errors import InvalidInput, UnknownName
from untuned.scores import ScoreTable

_CHOICE = ("algorithms", "environments", "without", "rename", "minimize", "accept")
_KNOWLEDGE = ("ranges", "identical", "nonfinite", "provenance")
_OF_AN_ARRAY = ("axes", "reduce", *_CHOICE, *_KNOWLEDGE)
_OF_A_FRAME = (
    "algorithm",
    "environment",
    "score",
    "columns",
    "run",
    "configuration",
    "step",
    "reduce",
    *_CHOICE,
    *_KNOWLEDGE,
)

_ACCEPTED = """pass one of
  the path of a file or folder (CSV, Parquet, JSON, NumPy; logs of other programs), several of them, or a study;
  a data frame in long form (polars, pandas, pyarrow), with columns algorithm, environment and score;
  a dictionary {algorithm: {environment: scores}} or {algorithm: array of runs x environments};
  an array or nested lists [algorithm, environment, trial];
  a ScoreTable"""


def read_scores(source: Any, **options: Any) -> ScoreTable:
    """Return the scores of files, folders, a data frame, a dictionary, an array or a study.

    Parameters
    ----------
    source
        The path of a file or folder, or a list of paths, ``"-"`` for standard input; a study; a data frame of polars,
        pandas or pyarrow in long form; a dictionary ``{algorithm: {environment: scores}}``, or as rliable has it
        ``{algorithm: array of runs x environments}``; an array or nested lists ``[algorithm, environment, trial]``; or
        a `ScoreTable`.
    **options
        How to read it, and declarations about the scores; ``docs/how-to/scores.md`` describes each. Columns:
        ``algorithm``, ``environment``, ``score``, ``run``, ``step``. Learning curves: ``reduce``. Logs: ``metric``,
        ``reader``, ``pattern``. Arrays: ``axes``. Selection: ``algorithms``, ``environments``, ``without``, ``rename``,
        ``minimize``. Declarations: ``ranges``, ``identical``, ``nonfinite``, ``provenance``.

    Raises
    ------
    InvalidInput
        For anything else, and for invalid scores; the message says what to do.

    Examples
    --------
    >>> read_scores({"sarsa": {"cart-pole": [21.5, 23.0]}, "q": {"cart-pole": [19.0]}})
    <ScoreTable: 2 algorithms x 1 environments, 3 scores (1 to 2 per cell)>
    """
    return read(source, **options).table


def read(source: Any, **options: Any) -> Imported:
    """Return the scores of any source with their provenance; as `read_scores`."""
    unknown = [name for name in options if name not in Reading.__dataclass_fields__]
    paths = as_paths(source)
    if isinstance(source, ScoreTable):
        asked = _checked("a ScoreTable, which has them already", options, _CHOICE, unknown)
        return Imported(chosen_table(source, asked))
    if paths:
        return _from_paths(paths, options, unknown)
    if isinstance(source, Mapping) and not {*ROLES} <= {*source}:
        return _from_dict(source, _checked("a dictionary", options, _OF_AN_ARRAY, unknown))
    if isinstance(source, (list, tuple)):
        if any(isinstance(each, Mapping) for each in source):
            raise InvalidInput(
                "a list of dictionaries is not an array: make a data frame of it, polars.DataFrame(rows), and pass that"
            )
        return _from_array(source, _checked("nested lists", options, _OF_AN_ARRAY, unknown))
    if is_frame(source):
        asked = _checked("a data frame", options, _OF_A_FRAME, unknown)
        return imported(Source(gathered([rows_of_frame(source, asked)]), "the table"), asked)
    if hasattr(source, "__array__") and not isinstance(source, type):
        # A masked array marks missing scores: keep the mask.
        array = source if isinstance(source, np.ndarray) else np.asarray(source)
        return _from_array(array, _checked("an array", options, _OF_AN_ARRAY, unknown))
    raise InvalidInput(_about_others(source))


def is_frame(source: Any) -> bool:
    """Return whether a source is a data frame in long form; a dictionary of columns is one."""
    if isinstance(source, (ScoreTable, list, tuple, type, str, os.PathLike)):
        return False
    if isinstance(source, Mapping) and not {*ROLES} <= {*source}:
        return False
    return column_names(source) is not None


def checked_options(kind: str, options: dict[str, Any]) -> Reading:
    """Return the record of options for a file or a data frame; raises for others."""
    allowed = _OF_A_FRAME if kind == "a data frame" else tuple(Reading.__dataclass_fields__)
    return _checked(kind, options, allowed, ())


def as_paths(source: Any) -> list[Path]:
    """Return the paths of a source; empty for other sources."""
    given = [source] if isinstance(source, (str, os.PathLike)) else source
    if not isinstance(given, (list, tuple)) or not given:
        return []
    return [_expanded(each) for each in given] if all(isinstance(each, (str, os.PathLike)) for each in given) else []


def _expanded(given: "str | os.PathLike[str]") -> Path:
    try:
        path = Path(given).expanduser()
        path.exists()
    except OSError as error:
        raise InvalidInput(f"{str(given)!r} cannot be read: {error.strerror}. Look for a mistake in the path") from None
    except RuntimeError:
        raise InvalidInput(
            f"{str(given)!r}: there is no such home folder. Write ./~ for a name that begins so"
        ) from None
    return path


def _from_paths(paths: Sequence[Path], options: dict[str, Any], unknown: Sequence[str]) -> Imported:
    # Imported here: a CSV file needs none of the code that runs trials.
    from untuned.collect.session import Session
    from untuned.collect.study_folders import is_study

    studies = [path for path in paths if is_study(path)]
    if studies and len(paths) > 1:
        raise InvalidInput(
            f"{str(studies[0])!r} is a study, which is evaluated alone: write its trials as a table with untuned "
            "export to evaluate them with others"
        )
    if studies:
        asked = _checked("a study, which knows the rest", options, ("nonfinite", *_CHOICE), unknown)
        with Session.at(studies[0]) as session:
            return Imported(chosen_table(session.scores(nonfinite=asked.nonfinite), asked), study=session.folder)
    asked = _checked("a file", options, tuple(Reading.__dataclass_fields__), unknown)
    return imported(rows_of_paths(paths, asked), asked)


def _from_dict(source: Mapping[Any, Any], asked: Reading) -> Imported:
    if source and all(not isinstance(key, tuple) and _axes(value) in (2, 3) for key, value in source.items()):
        arrays = {str(key): np.asarray(value) for key, value in source.items()}
        what = rows_of_dictionary(arrays, name="the dictionary", axes=asked.axes, environments=asked.environments)
        return imported(Source(gathered(what.parts), "a dictionary", what.detail, what.unit), asked)
    if not {"algorithms", "environments", "without", "minimize"} & {*asked.given}:
        return Imported(chosen_table(ScoreTable.from_dict(source, **asked.known()), asked))
    # Names first: a cell that is left out may contain anything.
    cells = {
        (str(key[0]), str(key[1])) if isinstance(key, tuple) and len(key) == 2 else (str(key), str(environment)): values
        for key, given in source.items()
        for environment, values in (given.items() if isinstance(given, Mapping) else [(None, given)])
    }
    names = ScoreTable.from_dict(dict.fromkeys(cells, ()))
    algorithms = wanted_names(names.algorithms, "algorithm", asked, names.environments)
    environments = wanted_names(names.environments, "environment", asked, names.algorithms)
    lower = minimized(names.environments, asked)
    kept = {
        (a, e): np.negative(np.ma.asarray(cells[a, e], dtype=np.float64)) if e in lower else cells[a, e]
        for a in algorithms
        for e in environments
        if (a, e) in cells
    }
    asked = concerning(asked, names, names.select(algorithms, environments))
    known = asked.known() | {"ranges": flipped(asked.ranges, environments, lower)}
    rest = dataclasses.replace(asked, minimize=None, algorithms=algorithms, environments=environments, without=None)
    return Imported(chosen_table(ScoreTable.from_dict(kept, **known), rest))


def _axes(value: Any) -> int:
    """Return how many axes an array has; 0 for other objects."""
    if isinstance(value, Mapping | str):
        return 0
    try:
        return np.ndim(value)
    except ValueError:
        return 0


def _from_array(source: Any, asked: Reading) -> Imported:
    try:
        array = source if isinstance(source, np.ndarray) else np.array(source, dtype=np.float64)
    except (TypeError, ValueError):
        # Different lengths show which axis has the trials.
        return Imported(ScoreTable.from_array(source, asked.algorithms, asked.environments, **asked.known()))
    if array.ndim < 3:
        raise InvalidInput(
            f"the array has {array.ndim} dimensions, {array.shape}: pass [algorithm, environment, trial], or as "
            "rliable has it a dictionary {algorithm: array of runs x environments}"
        )
    what = rows_of_array(
        array,
        name="the array",
        axes=asked.axes,
        algorithms=asked.algorithms,
        environments=asked.environments,
        evidence=evident_axes,
    )
    return imported(Source(gathered(what.parts), "an array", what.detail, what.unit), asked)


def _checked(kind: str, options: dict[str, Any], allowed: tuple[str, ...], unknown: Sequence[str]) -> Reading:
    """Return the record of options for a kind of source."""
    for name in options:
        if name in unknown or name not in allowed:
            if not allowed:
                raise InvalidInput(f"{name}={options[name]!r} was given with {kind}: leave it out")
            raise UnknownName(f"option for {kind}", name, allowed)
    return Reading(**options)


def _about_others(source: object) -> str:
    found = "None" if source is None else f"the type {source.__name__}" if isinstance(source, type) else None
    more = " Close it and pass its path." if hasattr(source, "read") else ""
    return f"scores cannot be read from {found or type(source).__name__}:{more} {_ACCEPTED}"
