"""Cells whose scores are sorted."""

import math

from untuned.diagnostics.evidence import CERTAIN, combined
from untuned.diagnostics.finding import Finding, counted
from untuned.diagnostics.sample import Cell, Sample
from untuned.scores import Floats


def is_sorted(scores: Floats) -> bool:
    """Return whether scores are in ascending or descending order, and chance is not the reason (less than 1e-9)."""
    return scores.size > 1 and _is_sorted(Cell(0, 0, "", scores, None))


def _is_sorted(cell: Cell) -> bool:
    # Of all orders, two are sorted.
    return cell.monotone and cell.log_orders - math.log(2.0) > CERTAIN


def sorted_cells(sample: Sample) -> tuple[Cell, ...]:
    """Return the cells that were sorted, each beyond chance by itself or all monotone ones together."""
    monotone = [cell for cell in sample.varied if cell.size > 2 and cell.monotone]
    could_be = sum(cell.size > 2 for cell in sample.varied)
    if combined((max(0.0, cell.log_orders - math.log(2.0)) for cell in monotone), could_be) > CERTAIN:
        return tuple(monotone)
    return tuple(cell for cell in monotone if _is_sorted(cell))


def sorted_rows(sample: Sample) -> Finding | None:
    """Find cells in ascending or descending order.

    Of the n!/(n1! n2! ...) orders of a cell's scores two are sorted; the evidence of all cells together must exceed
    1e9, so the false-alarm rate is below 1e-9 per table.
    """
    found = sorted_cells(sample)
    if not found:
        return None
    return Finding(
        "sorted-rows",
        "note",
        f"The scores of {counted(len(found), 'cell')} are sorted.",
        "This changes nothing for most methods, which ignore the order; the intervals of `betting` are wrong, because "
        "it takes the trials in the order they arrived.",
        "Pass the scores in the order they arrived if you use `--intervals betting`. If they are points of a learning "
        "curve instead of independent runs, give one score per run: `--run COLUMN` and `--reduce`.",
        tuple(cell.name for cell in found),
    )
