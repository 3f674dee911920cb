"""Tables for pasting: an evaluation as Markdown, LaTeX and CSV.

Markdown and LaTeX are for readers: rounded, ``0.4623 (0.3904, 0.5537)`` and ``1 (2, 1)``, with a caption that says what
is promised. CSV is for programs: every number in a column of its own, with all its digits, and names as they are.
"""

from untuned.reports.tables.cells import Column, Count, Estimate, Row, Standing, Text
from untuned.reports.tables.content import aggregate, environment, environments, pairs, weights
from untuned.reports.tables.digits import Digits, digits
from untuned.reports.tables.saving import save_all
from untuned.reports.tables.table import Table

__all__ = [
    "Column",
    "Count",
    "Digits",
    "Estimate",
    "Row",
    "Standing",
    "Table",
    "Text",
    "aggregate",
    "digits",
    "environment",
    "environments",
    "pairs",
    "save_all",
    "weights",
]
