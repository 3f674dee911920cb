"""Cells whose scores are sorted."""

import math
import re
from contextlib import suppress
from itertools import pairwise
from typing import Any

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
    1e9, so the false-alarm rate is below 1e-9 per table. It is serious, unless names of runs show that rows were
    re-ordered by score: then the names are not in their own order.
    """
    found = sorted_cells(sample)
    if not found:
        return None
    suspected = [cell for cell in found if not _is_reordered(sample.names(cell))]
    # Re-ordered names of a few runs may be in order by chance; those of many are not.
    if 2 * len(suspected) <= len(found) and not any(_is_sorted(cell) for cell in suspected):
        return Finding(
            "sorted-rows",
            "note",
            f"The scores of {counted(len(found), 'cell')} are sorted, and the names of their runs are not.",
            "The verdict is the same in any order, except that of `betting`, which needs the order of arrival.",
            "Pass the scores in the order they arrived if you use `--intervals betting`.",
            tuple(cell.name for cell in found),
        )
    return Finding(
        "sorted-rows",
        "serious",
        f"The scores of {counted(len(suspected), 'cell')} only rise or only fall from the first row to the last: each "
        "may be a learning curve, or the scores were sorted.",
        "Points of a curve are not independent runs, so intervals would be too narrow and verdicts not guaranteed; "
        "`betting` needs the order of arrival in any case.",
        "Sorted scores of independent runs: shuffle nothing, and give the names of the runs with `--run COLUMN`. "
        "Points of curves: give one score per run with `--reduce`.",
        tuple(cell.name for cell in suspected),
    )


def _is_reordered(names: list[str] | None) -> bool:
    """Return whether names of runs are out of order: as numbers, as text with numbers in it, and as text."""
    if names is None:
        return False
    parts = [re.split(r"([0-9]+)", name) for name in names]
    # Every other part is a number, of any length: the longer one is larger.
    keys = [[_number(part) if i % 2 else (0, part) for i, part in enumerate(each)] for each in parts]
    orders: list[list[Any]] = [names, keys]
    with suppress(ValueError):
        orders.append([float(name) for name in names])
    return not any(_in_order(order) for order in orders)


def _number(digits: str) -> tuple[int, str]:
    significant = digits.lstrip("0")
    return len(significant), significant


def _in_order(keys: list[Any]) -> bool:
    pairs = list(pairwise(keys))
    return all(first <= second for first, second in pairs) or all(first >= second for first, second in pairs)
