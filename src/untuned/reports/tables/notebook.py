"""A table in HTML, as a notebook shows it."""

from html import escape
from typing import TYPE_CHECKING

from untuned.reports.tables.cells import Cell, Row, Text
from untuned.reports.tables.escaping import one_line

if TYPE_CHECKING:
    from untuned.reports.tables.table import Table


def html(table: "Table") -> str:
    """Return the table with its title above and its caption below."""
    head = "".join(f"<th>{_text(column.heading)}</th>" for column in table.columns)
    body = "".join(f"<tr>{_cells(table, row)}</tr>" for row in table.rows)
    return (
        f"<table><caption>{_text(table.title)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        f"<p>{_text(table.caption)}</p>"
    )


def _cells(table: "Table", row: Row) -> str:
    return "".join(f"<td>{_cell(cell, bold)}</td>" for _, cell, bold in row.marked(table.columns))


def _cell(cell: Cell, bold: bool) -> str:
    first, *others = (_text(cell.words),) if isinstance(cell, Text) else cell.shown
    emphasised = f"<b>{first}</b>" if bold else first
    return f"{emphasised} ({', '.join(others)})" if others else emphasised


def _text(words: str) -> str:
    return escape(one_line(words))
