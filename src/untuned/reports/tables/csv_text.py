"""A table as comma-separated values, for programs: one column per number, all digits, nothing formatted.

Fields are quoted as in RFC 4180; lines end with a line feed alone, as everywhere in a pipe. A missing number is an
empty field, an infinite one is ``inf`` or ``-inf``. Names are not changed: names that begin with ``=``, ``+``, ``-`` or
``@`` get no prefix, because then programs would not read back the name that was judged. A spreadsheet may read such a
name as a formula: import the column as text.
"""

from math import isnan
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from untuned.reports.tables.table import Table


def comma_separated(table: "Table") -> str:
    """Return a line of names and one per row, ending with a newline."""
    lines = [[name for column in table.columns for name in column.names]]
    lines += [[_field(value) for cell in row.cells for value in cell.values] for row in table.rows]
    return "".join(f"{','.join(line)}\n" for line in lines)


def _field(value: str | float | None) -> str:
    if value is None or (isinstance(value, float) and isnan(value)):
        return ""
    if not isinstance(value, str):
        return repr(value)
    # A lone surrogate cannot be encoded.
    text = value.encode("utf-8", "replace").decode("utf-8")
    quoted = any(letter in text for letter in ',"\r\n')
    return '"' + text.replace('"', '""') + '"' if quoted else text
