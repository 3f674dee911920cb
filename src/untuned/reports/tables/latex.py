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
    above = ["\\toprule", f"{' & '.join(map(shape.heading, table.columns))} \\\\", "\\midrule"]
    body = [line for number, row in enumerate(table.rows) for line in shape.lines(row, first=number == 0)]
    if shape.long:
        # By itself a longtable's caption is narrower than the page.
        lines = ["\\begingroup", "\\setlength{\\LTcapwidth}{\\linewidth}", f"\\begin{{longtable}}{{{shape.layout}}}"]
        lines += [f"{heading} \\\\", *above, "\\endfirsthead", *above, "\\endhead", "\\bottomrule", "\\endfoot"]
        lines += [*body, "\\end{longtable}", "\\endgroup"]
    else:
        lines = ["\\begin{table}", "\\centering", heading, "\\medskip", f"\\begin{{tabular}}{{{shape.layout}}}"]
        lines += [*above, *body, "\\bottomrule", "\\end{tabular}", "\\end{table}"]
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
        self.long = len(table.rows) > _PAGE
        # Groups have numbers of different sizes: split, they would leave holes. Elsewhere each number is a column of
        # its own, so that they stand below one another.
        self.split = not any(row.opens for row in table.rows[1:])
        self.wrapped = [
            any(isinstance(cell, Text) and len(cell.words) > _LONG for cell in cells)
            for cells in ([row.cells[k] for row in table.rows] for k in range(len(table.columns)))
        ]
        wide = 0.4 if sum(column.is_text for column in table.columns) == 1 else 0.25
        if len(table.columns) > 4:
            wide = min(wide, 0.19)
        wrapping = f">{{\\raggedright\\arraybackslash}}p{{{wide}\\linewidth}}"
        parts = [
            wrapping if wraps else self._layout(column)
            for column, wraps in zip(table.columns, self.wrapped, strict=True)
        ]
        self.layout = "".join(parts).removesuffix(_SPACE) + ("}" if parts[-1].endswith(_SPACE) else "")

    @property
    def packages(self) -> list[str]:
        return ["booktabs", *(["array"] if any(self.wrapped) else []), *(["longtable"] if self.long else [])]

    def _layout(self, column: Column) -> str:
        if column.kind == "triple" and self.split:
            return "r@{ (}r@{, }r@{)" + _SPACE
        return "l" if column.is_text else "r"

    def heading(self, column: Column) -> str:
        text = in_latex(column.heading)
        return f"\\multicolumn{{3}}{{c}}{{{text}}}" if column.kind == "triple" and self.split else text

    def lines(self, row: Row, first: bool) -> list[str]:
        cells = " & ".join(
            self._cell(cell, bold, wraps)
            for (_, cell, bold), wraps in zip(row.marked(self.columns), self.wrapped, strict=True)
        )
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


def _formula(text: str) -> str:
    mantissa, _, power = text.partition("e")
    return f"{mantissa} \\cdot 10^{{{power}}}" if power else mantissa


def _number(text: str) -> str:
    if text == MISSING:
        return "--"
    if text.endswith(INFINITE):
        return f"${text.removesuffix(INFINITE)}\\infty$"
    return text.replace("-", "$-$")
