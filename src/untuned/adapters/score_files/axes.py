"""Arrays of scores: the meaning of each axis, and the resulting rows.

The axes of an array have no names, and a wrong order gives wrong intervals without any sign of it. So the order comes
only from the user, from names that fit exactly one axis, or, where an array belongs to a named algorithm, from the
convention of rliable, (runs, environments) or (runs, environments, steps). Anything else is refused with the choices.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from untuned.adapters.score_files.reader import Recognised
from untuned.adapters.score_files.rows import Named, Rows
from untuned.diagnostics.axes import axes_evidence, smooth_columns
from untuned.errors import InvalidInput, UnknownName
from untuned.scores import Floats

#: The roles of an axis, in the order of rows.
AXES = ("algorithm", "environment", "run", "step")
#: Synonyms for them.
_WORDS = {
    "algo": "algorithm",
    "agent": "algorithm",
    "method": "algorithm",
    "env": "environment",
    "task": "environment",
    "game": "environment",
    "seed": "run",
    "trial": "run",
    "frame": "step",
    "time": "step",
}
#: The order that rliable expects of an algorithm's array, by the number of axes.
_RLIABLE = {1: ("run",), 2: ("run", "environment"), 3: ("run", "environment", "step")}

#: Returns the order of an array's axes that the scores show, "algorithm,run,environment", or "".
Evidence = Callable[[NDArray[Any]], str]


def evident_axes(array: NDArray[Any]) -> str:
    """Return the usual order of axes if the scores show it: environments differ, and runs do not.

    If the scores show another order, the user must confirm it.
    """
    return "algorithm,environment,run" if axes_evidence(array) == "environment-is-1" else ""


def rows_of_array(
    array: NDArray[Any],
    *,
    name: str,
    axes: str | None = None,
    algorithms: Sequence[str] | None = None,
    environments: Sequence[str] | None = None,
    algorithm: str | None = None,
    path: str = "",
    evidence: Evidence | None = None,
) -> Recognised:
    """Return the scores in an array, and how its axes were interpreted.

    Parameters
    ----------
    array
        Numbers.
    name
        Its name in messages.
    axes
        The order of its axes: ``"algorithm,run,environment"``, with ``step`` for learning curves.
    algorithms, environments
        Names along these axes; numbered by default.
    algorithm
        The algorithm of the scores, where no axis is for algorithms.
    path
        As in `Rows`.
    evidence
        Called for the order of axes if nothing else decides.

    Raises
    ------
    InvalidInput
        For anything but numbers, and where the user must choose the order of axes.
    """
    scores = _numbers(array, name)
    order, why = _order(scores, name, axes, algorithms, environments, algorithm, evidence)
    names = {"algorithm": algorithms, "environment": environments}
    lengths = dict(zip(order, scores.shape, strict=True))
    _check_names(order, scores.shape, names, name)
    flat = np.transpose(scores, [order.index(axis) for axis in AXES if axis in order]).ravel()
    columns = {axis: _column(axis, lengths, names.get(axis)) for axis in AXES[:3] if axis in order}
    alone = {role: given[0] for role, given in names.items() if given is not None and len(given) == 1}
    steps = lengths.get("step")
    rows = Rows(
        place=name,
        score=flat,
        algorithm=columns.get("algorithm", algorithm if algorithm is not None else alone.get("algorithm")),
        environment=columns.get("environment", alone.get("environment")),
        run=columns["run"],
        step=None if steps is None else np.tile(np.arange(1.0, steps + 1), flat.size // steps),
        path=path,
    )
    return Recognised(
        [rows],
        detail=f"shape {_shape(scores.shape)} read as {' x '.join(order)}{why}",
        unit="step" if steps is None else "point",
    )


def rows_of_dictionary(
    arrays: Mapping[str, NDArray[Any]],
    *,
    name: str,
    axes: str | None = None,
    environments: Sequence[str] | None = None,
    path: str = "",
) -> Recognised:
    """Return the scores in arrays by the algorithms' names: (runs, environments), or with steps as a third axis.

    Parameters
    ----------
    arrays
        One array per algorithm. They may differ in the number of runs.
    name
        Their name in messages.
    axes
        The order of the axes of each array, if different: ``"environment,run"``.
    environments
        Names of the environments; numbered by default.
    path
        As in `Rows`.

    Raises
    ------
    InvalidInput
        Also where arrays do not have the same number of axes or of environments.
    """
    if not arrays:
        raise InvalidInput(f"{name} has no arrays in it: give one per algorithm")
    _check_alike(arrays, name, axes)
    matrices = [np.asarray(array) for array in arrays.values() if np.ndim(array) == 2]
    if axes is None and environments is None and matrices and smooth_columns(matrices):
        raise InvalidInput(
            f"the columns of {name} change so slowly from one to the next that they look like points of learning "
            "curves, not like environments: say what the axes are, --axes run,step (then --reduce HOW) or --axes "
            "run,environment"
        )
    found = [
        rows_of_array(
            array,
            name=f"{algorithm!r} of {name}",
            axes=axes,
            environments=environments,
            algorithm=algorithm,
            path=path,
        )
        for algorithm, array in arrays.items()
    ]
    order = found[0].detail.partition(" read as ")[2]
    shapes = dict.fromkeys(_shape(np.shape(each)) for each in arrays.values())
    listed = ", ".join(list(shapes)[:3]) + (" ..." if len(shapes) > 3 else "")
    return Recognised(
        [rows for each in found for rows in each.parts],
        detail=f"arrays of shape {listed} read as {order}",
        unit=found[0].unit,
    )


def _numbers(array: NDArray[Any], name: str) -> Floats:
    array = np.asanyarray(array)
    if array.dtype.names is not None:
        raise InvalidInput(
            f"{name} is a structured array with the fields {', '.join(array.dtype.names)}: write it as a table with "
            "these columns instead, pandas.DataFrame(array).to_csv('scores.csv')"
        )
    if array.dtype.kind not in "fiub":
        raise InvalidInput(
            f"{name} holds {array.dtype}, not numbers: save the scores alone, as an array of float64; names are given "
            "with --algorithms and --environments"
        )
    if not array.size or not array.ndim:
        raise InvalidInput(f"{name} has shape {_shape(array.shape)}: it needs the scores of several runs")
    with np.errstate(over="ignore"):
        return array.astype(np.float64)


def _order(
    scores: Floats,
    name: str,
    axes: str | None,
    algorithms: Sequence[str] | None,
    environments: Sequence[str] | None,
    algorithm: str | None,
    evidence: Evidence | None,
) -> tuple[tuple[str, ...], str]:
    """Return the role of each axis, and how that was decided, as the end of a sentence."""
    if axes is not None:
        return _asked(axes, scores.shape, name, algorithm), ""
    if algorithm is not None and scores.ndim in _RLIABLE:
        return _RLIABLE[scores.ndim], ""
    # Axes of length 1 may be anywhere: the result is the same.
    readings = {
        frozenset((role, axis) for axis, role in enumerate(order) if scores.shape[axis] > 1): order
        for order in reversed(list(_fitting(scores.shape, algorithms, environments)))
    }
    fitting = list(reversed(readings.values()))
    if len(fitting) == 1:
        named = [role for role, given in (("algorithms", algorithms), ("environments", environments)) if given]
        return fitting[0], f", by the number of {' and '.join(named)}" if named else ""
    # Scores do not show which axis is the algorithms': their names must fit the first.
    shown = evidence(scores) if evidence is not None and algorithms is not None else ""
    if shown:
        return _asked(shown, scores.shape, name, algorithm), ", by the scores themselves"
    raise _ambiguous(scores.shape, name, fitting)


def _fitting(
    shape: tuple[int, ...], algorithms: Sequence[str] | None, environments: Sequence[str] | None
) -> Iterator[tuple[str, ...]]:
    """Yield the orders of axes that the names allow."""
    given = {"algorithm": algorithms, "environment": environments}
    for order in permutations(AXES[:3], len(shape)) if len(shape) <= 3 else ():
        lengths = dict(zip(order, shape, strict=True))
        fits = all(names is None or len(names) == lengths.get(role, 1) for role, names in given.items())
        # Arrays of several algorithms are stacked, so theirs is the first axis, unless their names do not fit it.
        elsewhere = algorithms is not None and len(algorithms) != shape[0]
        stacked = "algorithm" not in order or order[0] == "algorithm" or elsewhere
        if "run" in order and fits and stacked:
            yield order


def _ambiguous(shape: tuple[int, ...], name: str, fitting: Sequence[tuple[str, ...]]) -> InvalidInput:
    if not fitting:
        usual = ",".join(AXES[: len(shape)]) if len(shape) <= len(AXES) else ",".join(AXES)
        return InvalidInput(
            f"{name} has shape {_shape(shape)}, and the names given fit none of its axes, or it has other axes than "
            f"algorithms, environments and runs: say what each axis is, --axes {usual} in the order they have"
        )
    likely = fitting[:3]
    readings = ", or ".join(
        " x ".join(f"{length} {axis}s" for axis, length in zip(order, shape, strict=True)) for order in likely
    )
    example = ",".join(likely[min(1, len(likely) - 1)])
    return InvalidInput(
        f"{name} has an axis that could be several things: {_shape(shape)} could be {readings}: say --axes {example}, "
        "or the order that it has"
    )


def _asked(axes: str, shape: tuple[int, ...], name: str, algorithm: str | None) -> tuple[str, ...]:
    words = [word.strip().lower() for word in axes.split(",")]
    known = [_WORDS.get(word, word) for word in (each if each in AXES else each.removesuffix("s") for each in words)]
    for word, axis in zip(words, known, strict=True):
        if axis not in AXES:
            raise UnknownName("axis", word, AXES)
    if len(set(known)) < len(known) or len(known) != len(shape):
        raise InvalidInput(
            f"--axes {axes} names {len(known)} axes and {name} has shape {_shape(shape)}: name each axis once, in order"
        )
    if "run" not in known:
        raise InvalidInput(
            f"--axes {axes} has no axis of runs, so that {name} has one number per cell, a mean perhaps: the scores of "
            "single runs are needed"
        )
    if algorithm is not None and "algorithm" in known:
        raise InvalidInput(
            f"{name} holds the scores of one algorithm, so that --axes {axes} has to do without: --axes run,environment"
        )
    return tuple(known)


def _check_names(
    order: tuple[str, ...], shape: tuple[int, ...], names: Mapping[str, Sequence[str] | None], name: str
) -> None:
    for role, given in names.items():
        length = shape[order.index(role)] if role in order else 1
        if given is not None and (len(given) != length or len(set(given)) < length):
            raise InvalidInput(
                f"{name} has {length} {role}{'s' * (length != 1)}, read as {' x '.join(order)} of shape "
                f"{_shape(shape)}, and {len(set(given))} different names are given with --{role}s: give one name for "
                "each, or another order of axes with --axes"
            )


def _check_alike(arrays: Mapping[str, NDArray[Any]], name: str, axes: str | None) -> None:
    """Refuse arrays that cannot have the same environments."""
    shapes = {algorithm: np.shape(array) for algorithm, array in arrays.items()}
    (first, shape), *others = shapes.items()
    order = _RLIABLE.get(len(shape), ()) if axes is None else _asked(axes, shape, f"{first!r} of {name}", first)
    if not order:
        raise InvalidInput(
            f"{first!r} of {name} has shape {_shape(shape)}: an algorithm's array is (runs, environments), or (runs, "
            "environments, steps)"
        )
    axis = order.index("environment") if "environment" in order else None
    for algorithm, other in others:
        if len(other) != len(shape) or (axis is not None and other[axis] != shape[axis]):
            raise InvalidInput(
                f"{name} has shape {_shape(shape)} for {first!r} and {_shape(other)} for {algorithm!r}: all need the "
                f"same environments, as {' x '.join(order)}. Are axes exchanged? Say --axes environment,run"
            )


def _column(axis: str, lengths: Mapping[str, int], given: Sequence[str] | None) -> Named:
    """Return the names along an axis, for every row of the array in the order of `AXES`."""
    here = [lengths.get(each, 1) for each in AXES]
    position, count = AXES.index(axis), lengths[axis]
    inner, outer = int(np.prod(here[position + 1 :])), int(np.prod(here[:position]))
    codes = np.tile(np.repeat(np.arange(count, dtype=np.int32), inner), outer)
    # A number in an array is not a seed, but the position of a run.
    prefix = "#" if axis == "run" else f"{axis}-"
    return (given if given is not None else [f"{prefix}{index + 1}" for index in range(count)]), codes


def _shape(shape: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, shape))})"
