"""A table in LaTeX, with the rules of booktabs and its numbers below one another."""

from typing import TYPE_CHECKING

from untuned.errors import InvalidInput
from untuned.reports.tables.cells import Cell, Column, Measured, Row, Text
from untuned.reports.tables.digits import INFINITE, MISSING
from untuned.reports.tables.escaping import in_latex

if TYPE_CHECKING:
    from untuned.reports.tables.table import Table

#: More rows than this do not fit on a page.
_PAGE = 40
#: Longer names than this go into a column that breaks lines.
_LONG = 28
#: In points: the width of a text, of a letter, of one in an index, and of the space between columns.
_TEXT, _LETTER, _INDEX, _BETWEEN = 430.0, 4.6, 4.0, 12.0
#: Longer headings of numbers break lines; how wide they are then, in points.
_HEADING, _BROKEN = 14, 70
#: After the last of three numbers, where the next column follows.
_SPACE = "\\hspace{2\\tabcolsep}}"
#: A label is a name for LaTeX alone: these would end it, or make it something else.
_NOT_IN_LABELS = frozenset("\\{}%#~^&$,")


def latex(table: "Table", label: str) -> str:
    r"""Return a ``table``, or a ``longtable`` where it is longer than a page, ending with a newline.

    A comment above it names the packages that the document must load.

    Parameters
    ----------
    table
        The content.
    label
        What ``\ref`` calls it.
    """
    shape = _Shape(table)
    needed = f"% Needs \\usepackage{{{','.join(shape.packages)}}}" + (
        "; one column of text per page, as longtable does." if shape.long else "."
    )
    title, caption = in_latex(table.title), in_latex(table.caption)
    heading = f"\\caption[{{{title}}}]{{\\textbf{{{title}.}} {caption}}}" + _label(label)
    if shape.long:
        # By itself a longtable's caption is narrower than the page.
        lines = ["\\begingroup", "\\setlength{\\LTcapwidth}{\\linewidth}"]
        for number, panel in enumerate(shape.panels):
            above = shape.above(panel)
            # Every longtable counts as a table, with and without a caption.
            lines += ["\\addtocounter{table}{-1}"] if number else []
            lines += [f"\\begin{{longtable}}{{{shape.layout(panel)}}}"]
            lines += [] if number else [f"{heading} \\\\", *above, "\\endfirsthead"]
            lines += [*above, "\\endhead", "\\bottomrule", "\\endfoot"]
            lines += [*shape.body(panel, table.rows), "\\end{longtable}"]
        lines += ["\\endgroup"]
    else:
        lines = ["\\begin{table}", "\\centering", heading]
        for panel in shape.panels:
            lines += ["\\par\\medskip" if len(shape.panels) > 1 else "\\medskip"]
            lines += [f"\\begin{{tabular}}{{{shape.layout(panel)}}}", *shape.above(panel)]
            lines += [*shape.body(panel, table.rows), "\\bottomrule", "\\end{tabular}"]
        lines += ["\\end{table}"]
    return "\n".join([needed, *lines]) + "\n"


def _label(label: str) -> str:
    wrong = sorted(_NOT_IN_LABELS.intersection(label) | {letter for letter in label if not letter.isprintable()})
    if wrong or not label.strip():
        raise InvalidInput(
            f"label={label!r} {'has ' + ' '.join(map(repr, wrong)) if wrong else 'is empty'}: a label of LaTeX is "
            "letters, digits and signs such as : - _ . in between, for example 'tab:scores'"
        )
    return f"\\label{{{label}}}"


class _Shape:
    """Which columns break lines, which are split into numbers, and whether the table spans pages."""

    def __init__(self, table: "Table") -> None:
        self.columns = table.columns
        # Groups have numbers of different sizes: split, they would leave holes. Elsewhere each number is a column of
        # its own, so that they stand below one another.
        self.split = not any(row.opens for row in table.rows[1:])
        self.wrapped = [
            any(isinstance(cell, Text) and len(cell.words) > _LONG for cell in cells)
            for cells in ([row.cells[k] for row in table.rows] for k in range(len(table.columns)))
        ]
        wide = 0.4 if sum(column.is_text for column in table.columns) == 1 else 0.25
        self.wide = min(wide, 0.19) if len(table.columns) > 4 else wide
        # Columns of one kind, which may be read apart.
        self.alike = all(isinstance(cell, Measured) for row in table.rows for cell in row.cells[1:])
        self.panels = self._panels(table) if self.alike else [list(range(len(table.columns)))]
        self.long = len(table.rows) * len(self.panels) > _PAGE

    def _panels(self, table: "Table") -> list[list[int]]:
        """Return the columns of each part: as many as fit next to each other, after the first, which all have."""
        widths = [self._width(table, k) for k in range(len(table.columns))]
        panels = _filled(widths, len(widths))
        even = _filled(widths, -(-(len(widths) - 1) // len(panels)))
        return even if len(even) == len(panels) else panels

    def _width(self, table: "Table", k: int) -> float:
        """Return about how many points a column is wide, with the space to the next."""
        if self.wrapped[k]:
            return self.wide * _TEXT + _BETWEEN
        heading = (
            _LETTER * _letters(table.columns[k].heading) if k == 0 or not self._broken(table.columns[k]) else _BROKEN
        )
        return max(heading, *(_cell_width(row.cells[k]) for row in table.rows)) + _BETWEEN

    def layout(self, panel: list[int]) -> str:
        """Return the specification of some columns."""
        wrapping = f">{{\\raggedright\\arraybackslash}}p{{{self.wide}\\linewidth}}"
        parts = [wrapping if self.wrapped[k] else self._layout(self.columns[k]) for k in panel]
        return "".join(parts).removesuffix(_SPACE) + ("}" if parts[-1].endswith(_SPACE) else "")

    def above(self, panel: list[int]) -> list[str]:
        """Return the lines of the headings of some columns."""
        return ["\\toprule", f"{' & '.join(self.heading(self.columns[k]) for k in panel)} \\\\", "\\midrule"]

    def body(self, panel: list[int], rows: tuple[Row, ...]) -> list[str]:
        """Return the lines of some columns of all rows."""
        return [line for number, row in enumerate(rows) for line in self.lines(row, panel, first=number == 0)]

    def _broken(self, column: Column) -> bool:
        """Return whether a heading of numbers breaks lines."""
        return self.alike and column.kind == "number" and _letters(column.heading) > _HEADING

    @property
    def packages(self) -> list[str]:
        return ["booktabs", *(["array"] if any(self.wrapped) else []), *(["longtable"] if self.long else [])]

    def _layout(self, column: Column) -> str:
        if column.kind == "triple" and self.split:
            return "r@{ (}r@{, }r@{)" + _SPACE
        return "l" if column.is_text else "r"

    def heading(self, column: Column) -> str:
        if self._broken(column):
            return f"\\parbox[b]{{{_BROKEN}pt}}{{\\raggedleft {in_latex(column.heading, breakable=True)}}}"
        text = in_latex(column.heading)
        return f"\\multicolumn{{3}}{{c}}{{{text}}}" if column.kind == "triple" and self.split else text

    def lines(self, row: Row, panel: list[int], first: bool) -> list[str]:
        marked = list(row.marked(self.columns))
        cells = " & ".join(self._cell(*marked[k][1:], self.wrapped[k]) for k in panel)
        return [*(["\\midrule"] if row.opens and not first else []), f"{cells} \\\\"]

    def _cell(self, cell: Cell, bold: bool, wraps: bool) -> str:
        if isinstance(cell, Text):
            parts = [in_latex(cell.words, breakable=wraps)]
        elif isinstance(cell, Measured):
            return _measured(cell, bold)
        else:
            parts = [_number(text) for text in cell.shown]
        if bold:
            parts[0] = f"\\textbf{{{parts[0]}}}"
        if self.split or len(parts) == 1:
            return " & ".join(parts)
        return f"{parts[0]} ({', '.join(parts[1:])})"


def _measured(cell: Measured, bold: bool) -> str:
    """Return a number with its interval as a formula: plus or minus, or how far down and up."""
    value = cell.digits.shown(cell.value)
    if value == MISSING:
        return "--"
    distances = cell.distances
    if distances is None:
        around = ""
    elif distances[0] == distances[1]:
        around = f" \\pm {_formula(distances[0])}"
    else:
        around = f"_{{-{_formula(distances[0])}}}^{{+{_formula(distances[1])}}}"
    number = f"\\mathbf{{{_formula(value)}}}" if bold else _formula(value)
    return f"${number}{around}$"


def _filled(widths: list[float], most: int) -> list[list[int]]:
    """Return the columns of each part, no more than fit and no more than ``most`` after the first."""
    panels: list[list[int]] = [[0]]
    for k in range(1, len(widths)):
        wide = sum(widths[each] for each in panels[-1]) + widths[k] > _TEXT
        if len(panels[-1]) > most or (wide and len(panels[-1]) > 1):
            panels.append([0])
        panels[-1].append(k)
    return panels


def _letters(text: str) -> int:
    """Return how many letters a text has at most, as it is printed: some engines print U+4E2D for one."""
    return sum(6 if "\\ifdefined" in in_latex(letter) else 1 for letter in text)


def _cell_width(cell: Cell) -> float:
    """Return about how many points a name, or a number with its interval, is wide."""
    if isinstance(cell, Text):
        return _LETTER * _letters(cell.words)
    if not isinstance(cell, Measured) or cell.distances is None:
        return _LETTER * max(map(len, cell.shown))
    low, high = cell.distances
    value = _LETTER * len(cell.digits.shown(cell.value))
    return value + (_LETTER * (3 + len(low)) if low == high else _INDEX * (1.5 + max(len(low), len(high))))


def _formula(text: str) -> str:
    mantissa, _, power = text.partition("e")
    return f"{mantissa} \\cdot 10^{{{power}}}" if power else mantissa


def _number(text: str) -> str:
    if text == MISSING:
        return "--"
    if text.endswith(INFINITE):
        return f"${text.removesuffix(INFINITE)}\\infty$"
    return text.replace("-", "$-$")
