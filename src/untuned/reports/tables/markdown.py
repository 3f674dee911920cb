"""A table in Markdown, as GitHub and most others read it."""

from typing import TYPE_CHECKING

from untuned.reports.tables.cells import Cell, Row, Text
from untuned.reports.tables.escaping import in_markdown

if TYPE_CHECKING:
    from untuned.reports.tables.table import Table


def markdown(table: "Table") -> str:
    """Return the title, the table and the caption, ending with a newline."""
    lines = [f"**{in_markdown(table.title)}**", ""]
    lines.append(_line([in_markdown(column.heading) for column in table.columns]))
    lines.append(_line(["---" if column.is_text else "---:" for column in table.columns]))
    lines += [_line(_cells(table, row)) for row in table.rows]
    lines += ["", in_markdown(table.caption)]
    return "\n".join(lines) + "\n"


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cells(table: "Table", row: Row) -> list[str]:
    return [_cell(cell, bold) for _, cell, bold in row.marked(table.columns)]


def _cell(cell: Cell, bold: bool) -> str:
    first, *others = (in_markdown(cell.words),) if isinstance(cell, Text) else cell.shown
    emphasised = f"**{first}**" if bold else first
    return f"{emphasised} ({', '.join(others)})" if others else emphasised
