"""bsuite's CSV: ``bsuite_id_-_<experiment>-<setting>.csv``, the totals of a run at a few of its episodes.

Rows are logarithmically spaced: episodes 1, 1.2, 1.4, 1.7, 2, 2.5, 3, ... times a power of ten. ``episode_return`` is
the return of the single logged episode, so its mean over rows is mostly about the first episodes and omits nearly all
others. ``total_return`` is cumulative: between two rows it grows by the sum of the returns of all episodes between
them. The curve read here is the growth of ``total_return`` per episode in equal parts of the run, a hundred or one per
episode if there are fewer; between two rows it is interpolated linearly. Its mean over training is exactly
``total_return / episode`` of the last row.

A folder is an agent's, unless its name is that of a run. Every setting is a separate environment, ``deep_sea/3``: most
differ in difficulty, some only in their seed.
"""

import re
from collections.abc import Sequence

import numpy as np

from untuned.adapters.score_files import csv_file
from untuned.adapters.score_files.opening import File
from untuned.adapters.score_files.reader import Reader, Recognised
from untuned.adapters.score_files.reading import Reading
from untuned.adapters.score_files.rows import Rows
from untuned.errors import InvalidInput
from untuned.scores import Floats

_NAME = re.compile(r"bsuite_id_-_(.+)-(\d+)\.csv(?:\.gz)?", re.IGNORECASE)
#: Names of folders of runs.
_NUMBER = re.compile(r"(?:seed|run|trial)?[-_ ]?\d*", re.IGNORECASE)
#: Points of a curve: the last part of a run is logged at every tenth of it.
_POINTS = 100


def _claims(file: File) -> bool:
    return _NAME.fullmatch(file.path.name) is not None


def _read(files: Sequence[File], asked: Reading) -> Recognised:
    return Recognised(
        (_run(file, asked.pattern is None) for file in files),
        detail="growth of total_return per episode",
        unit="episode",
    )


def _run(file: File, by_folder: bool) -> Rows:
    name = _NAME.fullmatch(file.path.name)
    if name is None:
        raise InvalidInput(
            f"{file.name} should be called bsuite_id_-_<experiment>-<setting>.csv: the name is the environment's"
        )
    episodes, totals = _totals(file)
    ends = np.linspace(0.0, episodes[-1], min(_POINTS, int(episodes[-1])) + 1)
    with np.errstate(invalid="ignore", over="ignore"):
        scores = np.diff(np.interp(ends, episodes, totals)) / np.diff(ends)
    folder = file.path.absolute().parent.name
    return Rows(
        place=file.name,
        score=scores,
        algorithm=folder if by_folder and not _NUMBER.fullmatch(folder) else None,
        environment=f"{name[1]}/{name[2]}",
        step=ends[1:],
        path=file.below,
    )


def _totals(file: File) -> tuple[Floats, Floats]:
    """Return the numbers of the logged episodes and the cumulative returns, both from 0."""
    rows = csv_file.records(file)
    _, names = next(rows)
    if missing := [each for each in ("episode", "total_return") if each not in names]:
        raise InvalidInput(f"{file.name} has no column {missing[0]!r}: it has {', '.join(names)}")
    places = [names.index("episode"), names.index("total_return")]
    points = [[csv_file.number(cells[i], file, row, names[i]) for i in places] for row, cells in rows]
    if not points:
        raise InvalidInput(f"{file.name} has no rows: no episode ended")
    episodes, totals = np.array([[0.0, 0.0], *points], dtype=np.float64).T
    later = episodes[1:]
    # NaN is not above anything.
    bad = np.flatnonzero(~((later > episodes[:-1]) & (later >= 1) & (later < 2**53)))
    if bad.size:
        raise InvalidInput(
            f"row {bad[0] + 1} of {file.name} has episode {later[bad[0]]:g} after {episodes[bad[0]]:g}: rows should be "
            "logged by episode, as bsuite does unless it is asked to log by step; totals by step include episodes that "
            "have not ended"
        )
    return episodes, totals


READER = Reader(name="bsuite", title="bsuite file", claims=_claims, read=_read)
