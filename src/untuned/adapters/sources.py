"""The one entry point for scores: makes a `ScoreTable` of any supported source."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from untuned.adapters.score_files.table import column_names, from_file, from_frame
from untuned.errors import InvalidInput, UnknownName
from untuned.scores import ScoreTable

_KNOWLEDGE = ("ranges", "identical", "nonfinite", "provenance")
_OF_A_DICT = _KNOWLEDGE
_OF_AN_ARRAY = ("algorithms", "environments", *_KNOWLEDGE)
_OF_A_TABLE = ("algorithm", "environment", "score", *_KNOWLEDGE)

#: All options of `read_scores`, whatever the source.
OPTIONS = tuple(dict.fromkeys((*_OF_A_TABLE, *_OF_AN_ARRAY)))

_SUFFIXES = (".csv", ".tsv", ".jsonl", ".parquet")

_ACCEPTED = """pass one of
  the path of a file in long form (.csv, .tsv, .jsonl, .parquet), or of a study;
  a data frame in long form (polars, pandas, pyarrow), with columns algorithm, environment and score;
  a dictionary {algorithm: {environment: scores}} or {(algorithm, environment): scores};
  an array or nested lists [algorithm, environment, trial];
  a ScoreTable"""


def read_scores(source: Any, **options: Any) -> ScoreTable:
    """Return the scores of a file, a data frame, a dictionary, an array or a study.

    Parameters
    ----------
    source
        The path of a file (`untuned.adapters.score_files.table.from_file` says which), a data frame of polars, pandas
        or pyarrow in long form, a dictionary ``{algorithm: {environment: scores}}``, an array or nested lists
        ``[algorithm, environment, trial]``, or a `ScoreTable`, which is returned as it is.
    **options
        What is known about the scores: ``ranges``, ``identical``, ``nonfinite`` and ``provenance``, as for
        `ScoreTable.from_dict`. For files and data frames also ``algorithm``, ``environment`` and ``score``, the names
        of the columns; for arrays ``algorithms`` and ``environments``, lists of names.

    Raises
    ------
    InvalidInput
        For anything else, and for scores that are not right; the message says what to do.

    Examples
    --------
    >>> read_scores({"sarsa": {"cart-pole": [21.5, 23.0]}, "q": {"cart-pole": [19.0]}})
    <ScoreTable: 2 algorithms x 1 environments, 3 scores (1 to 2 per cell)>
    """
    if isinstance(source, ScoreTable):
        _check_options("a ScoreTable, which has them already", options, ())
        return source
    if isinstance(source, (str, os.PathLike)):
        return _from_path(Path(source).expanduser(), options)
    if isinstance(source, Mapping):
        _check_options("a dictionary", options, _OF_A_DICT)
        return ScoreTable.from_dict(source, **options)
    if isinstance(source, (list, tuple)):
        if any(isinstance(each, Mapping) for each in source):
            raise InvalidInput(
                "a list of dictionaries is not an array: make a data frame of it, polars.DataFrame(rows), and pass that"
            )
        _check_options("nested lists", options, _OF_AN_ARRAY)
        return ScoreTable.from_array(source, **options)
    if not isinstance(source, type):
        if column_names(source) is not None:
            _check_options("a data frame", options, _OF_A_TABLE)
            return from_frame(source, **options)
        if hasattr(source, "__array__"):
            _check_options("an array", options, _OF_AN_ARRAY)
            # A masked array marks missing scores: keep the mask.
            array = source if isinstance(source, np.ndarray) else np.asarray(source)
            return ScoreTable.from_array(array, **options)
    raise InvalidInput(_about_others(source))


def _from_path(path: Path, options: dict[str, Any]) -> ScoreTable:
    # Imported here: a CSV file needs none of the code that runs trials.
    from untuned.collect.session import Session, is_study

    if is_study(path):
        _check_options("a study, which knows the rest", options, ("nonfinite",))
        try:
            session = Session.at(path)
        except InvalidInput as error:
            near = sorted(path.glob("*.*")) if path.is_dir() else []
            files = [str(each) for each in near if each.suffix.lower() in _SUFFIXES]
            raise InvalidInput(
                f"{error}; or a file with one row per trial, {files[0]!r}" if files else str(error)
            ) from None
        with session:
            return session.scores(**options)
    _check_options("a file", options, _OF_A_TABLE)
    return from_file(path, **options)


def _check_options(kind: str, options: dict[str, Any], allowed: tuple[str, ...]) -> None:
    for name in options:
        if name not in allowed:
            if not allowed:
                raise InvalidInput(f"{name}={options[name]!r} was given with {kind}: leave it out")
            raise UnknownName(f"option for {kind}", name, allowed)


def _about_others(source: object) -> str:
    found = "None" if source is None else f"the type {source.__name__}" if isinstance(source, type) else None
    more = " Close it and pass its path." if hasattr(source, "read") else ""
    return f"scores cannot be read from {found or type(source).__name__}:{more} {_ACCEPTED}"
