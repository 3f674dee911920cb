"""NumPy's ``.npy`` and ``.npz``: an array of scores, or one per algorithm, as for rliable."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from untuned.adapters.score_files import npz_file
from untuned.adapters.score_files.axes import evident_axes, rows_of_array, rows_of_dictionary
from untuned.adapters.score_files.opening import File
from untuned.adapters.score_files.reader import Reader, Recognised
from untuned.adapters.score_files.reading import Reading
from untuned.errors import InvalidInput

#: Uninformative names: NumPy's defaults, and usual names of a single array.
_NAMELESS = re.compile(r"arr_\d+|arrays?|data|scores?|results?|returns?|rewards?|values?|x", re.IGNORECASE)


def _claims(file: File) -> bool:
    return npz_file.is_npy(file) or (npz_file.is_npz(file) and not npz_file.members(file) >= {"timesteps", "results"})


def _read(files: Sequence[File], asked: Reading) -> Recognised:
    found = [_file(file, asked, alone=len(files) == 1) for file in files]
    details = dict.fromkeys(each.detail for each in found)
    return Recognised([rows for each in found for rows in each.parts], detail="; ".join(details), unit=found[0].unit)


def _file(file: File, asked: Reading, alone: bool) -> Recognised:
    arrays = {"": npz_file.array(file)} if npz_file.is_npy(file) else npz_file.arrays(file)
    if len(arrays) == 1:
        return _lone(file, *next(iter(arrays.items())), asked, alone)
    return rows_of_dictionary(
        _named(arrays, asked, file), name=file.name, axes=asked.axes, environments=asked.environments, path=file.below
    )


def _lone(file: File, name: str, array: NDArray[Any], asked: Reading, alone: bool) -> Recognised:
    algorithm = name if name and not _NAMELESS.fullmatch(name) else None
    if algorithm is not None and array.ndim > 2 and (asked.axes is None or "algo" in asked.axes.lower()):
        # The name does not show whether it has one algorithm's curves or several algorithms' scores.
        algorithm = None
    return rows_of_array(
        array,
        name=file.name,
        axes=asked.axes,
        # With several files, each has its own algorithm, and the names select which to keep.
        algorithms=asked.algorithms if alone and algorithm is None else None,
        environments=asked.environments,
        algorithm=algorithm,
        path=file.below,
        evidence=evident_axes,
    )


def _named(arrays: Mapping[str, NDArray[Any]], asked: Reading, file: File) -> Mapping[str, NDArray[Any]]:
    """Return arrays by the algorithms' names, which the user may have to give."""
    if not all(re.fullmatch(r"arr_\d+", name) for name in arrays):
        return arrays
    names = asked.algorithms or [f"algorithm-{index + 1}" for index in range(len(arrays))]
    if len({*names}) != len(arrays):
        raise InvalidInput(
            f"{file.name} has {len(arrays)} arrays without names, and --algorithms has {len({*names})}: give one name "
            "for each, or write them with numpy.savez('scores.npz', **{algorithm: array})"
        )
    return dict(zip(names, arrays.values(), strict=True))


READER = Reader(name="array", title="NumPy file", claims=_claims, read=_read)
