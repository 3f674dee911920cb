"""What the scores themselves look like: constant, or rounded."""

import numpy as np

from untuned.diagnostics.finding import Finding, counted
from untuned.diagnostics.sample import Cell, Sample

# Scores per cell whose decimals are counted, and the most decimals: more mean "not rounded".
_LOOKED_AT = 200
_DECIMALS = 7
# From here on a float has too few decimals to count.
_LARGE = 1e8
_COARSER = 2
_VALUES = 3
_TIED = 20


def constant_cells(sample: Sample) -> Finding | None:
    """Find cells in which all scores are equal. A count, so there are no false alarms."""
    constant = [cell for cell in sample.cells if cell.constant and cell.size > 1]
    if not constant:
        return None
    names = sample.table.algorithms
    entire = [
        names[a] for a in sorted({cell.a for cell in constant}) if all(cell.constant for cell in sample.of_algorithm(a))
    ]
    have = "has" if len(constant) == 1 else "have"
    said = f"{counted(len(constant), 'cell')} of {len(sample.cells):,} {have} equal scores in all runs"
    return Finding(
        "constant-cells",
        "warning" if entire else "note",
        f"{said}; {', '.join(entire)}: on all environments." if entire else f"{said}.",
        "If runs cannot differ, they are one run that counts several times; if they reached a limit, the "
        "environment says little about these algorithms.",
        "Make sure that runs have different seeds and that the seed reaches the algorithm and the environment.",
        tuple(cell.name for cell in constant),
    )


def suspicious_rounding(sample: Sample) -> Finding | None:
    """Find cells that are rounded more coarsely than others of the environment, or so coarsely that most scores tie.

    The statistic is the number of decimals. A cell with three different scores that has two decimals fewer than the
    median of the others by chance has a probability of about 1e-6.
    """
    coarse = [cell for e in range(len(sample.table.environments)) for cell in _coarser(sample.of_environment(e))]
    if coarse:
        return _rounding(
            f"{counted(len(coarse), 'cell')} {'is' if len(coarse) == 1 else 'are'} rounded to fewer decimals than "
            "other algorithms on the same environment.",
            coarse,
        )
    tied = [cell for cell in sample.varied if _is_tied(cell)]
    if 2 * len(tied) <= len(sample.cells):
        return None
    return _rounding(f"In {counted(len(tied), 'cell')} rounded scores have many ties.", tied)


def _rounding(found: str, cells: list[Cell]) -> Finding:
    return Finding(
        "suspicious-rounding",
        "note",
        found,
        "Rounded scores may be copied from a table of means, which are not single runs; ties also make verdicts less "
        "sharp.",
        "Make sure that every score is one run, and take the scores that the runs wrote, not printed ones.",
        tuple(cell.name for cell in cells),
    )


def _decimals(cell: Cell) -> int | None:
    """Return how many decimals the scores have; None where that cannot be said."""
    scores = cell.scores[:_LOOKED_AT]
    if float(np.abs(scores).max()) > _LARGE:
        return None
    for decimals in range(_DECIMALS):
        scaled = scores * 10.0**decimals
        # Relative to the scaled score, a decimal number is off by its rounding to a float.
        if bool((np.abs(scaled - np.rint(scaled)) <= 1e-6 + 1e-15 * np.abs(scaled)).all()):
            return decimals
    return _DECIMALS


def _coarser(cells: list[Cell]) -> list[Cell]:
    varied = [(cell, _decimals(cell)) for cell in cells if cell.values.size >= _VALUES]
    known = [(cell, decimals) for cell, decimals in varied if decimals is not None]
    return [
        cell
        for cell, decimals in known
        if len(known) > 1 and decimals + _COARSER <= np.median([others for other, others in known if other is not cell])
    ]


def _is_tied(cell: Cell) -> bool:
    if cell.size < _TIED or 4 * cell.values.size > cell.size:
        return False
    decimals = _decimals(cell)
    return decimals is not None and 0 < decimals < _DECIMALS
