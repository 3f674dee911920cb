"""A table in LaTeX, with the rules of booktabs and its numbers below one another."""

from typing import TYPE_CHECKING

from untuned.errors import InvalidInput
from untuned.reports.tables.cells import Cell, Column, Row, Text
from untuned.reports.tables.digits import INFINITE, MISSING
from untuned.reports.tables.escaping import in_latex

if TYPE_CHECKING:
    from untuned.reports.tables.table import Table

#: More rows than this do not fit on a page.
_PAGE = 40
#: Longer names than this go into a column that breaks lines.
_LONG = 28
#: A label is a name for LaTeX alone: these would end it, or make it something else.
_NOT_IN_LABELS = frozenset("\\{}%#~^&$,")


def latex(table: "Table", label: str | None = None) -> str:
    r"""Return a ``table``, or a ``longtable`` where it is longer than a page, ending with a newline.

    A comment above it names the packages that the document must load.

    Parameters
    ----------
    table
        The content.
    label
        What ``\ref`` calls it.
    """
    long = len(table.rows) > _PAGE
    wrapped = [
        column.kind == "text"
        and any(
            len(cell.words) > _LONG for row in table.rows for cell in row.cells[k : k + 1] if isinstance(cell, Text)
        )
        for k, column in enumerate(table.columns)
    ]
    packages = ["booktabs", *(["array"] if any(wrapped) else []), *(["longtable"] if long else [])]
    needed = f"% Needs \\usepackage{{{','.join(packages)}}}" + (
        "; one column of text per page, as longtable does." if long else "."
    )
    layout = "".join(
        _layout(column, wraps, sum(wrapped), last)
        for column, wraps, last in zip(table.columns, wrapped, [False] * (len(table.columns) - 1) + [True], strict=True)
    )
    title, caption = in_latex(table.title), in_latex(table.caption)
    heading = f"\\caption[{{{title}}}]{{\\textbf{{{title}.}} {caption}}}" + (_label(label) if label is not None else "")
    above = ["\\toprule", _headings(table.columns), "\\midrule"]
    body = [line for number, row in enumerate(table.rows) for line in _row(row, wrapped, first=number == 0)]
    if long:
        lines = [f"\\begin{{longtable}}{{{layout}}}", f"{heading} \\\\", *above, "\\endfirsthead", *above, "\\endhead"]
        lines += ["\\bottomrule", "\\endfoot", *body, "\\end{longtable}"]
    else:
        lines = [
            "\\begin{table}",
            "\\centering",
            heading,
            "\\medskip",
            f"\\begin{{tabular}}{{{layout}}}",
            *above,
            *body,
        ]
        lines += ["\\bottomrule", "\\end{tabular}", "\\end{table}"]
    return "\n".join([needed, *lines]) + "\n"


def _label(label: str) -> str:
    wrong = sorted(_NOT_IN_LABELS.intersection(label) | {letter for letter in label if not letter.isprintable()})
    if wrong or not label.strip():
        raise InvalidInput(
            f"label={label!r} {'has ' + ' '.join(map(repr, wrong)) if wrong else 'is empty'}: a label of LaTeX is "
            "letters, digits and signs such as : - _ . in between, for example 'tab:scores'"
        )
    return f"\\label{{{label}}}"


def _layout(column: Column, wraps: bool, wrapping: int, last: bool) -> str:
    if wraps:
        return f">{{\\raggedright\\arraybackslash}}p{{{0.4 / wrapping:.2f}\\linewidth}}"
    if column.kind == "triple":
        # Each number is a column of its own, so that they stand below one another; the parentheses are between them.
        return "r@{ (}r@{, }r@{)" + ("}" if last else "\\hspace{2\\tabcolsep}}")
    return "l" if column.kind == "text" else "r"


def _headings(columns: tuple[Column, ...]) -> str:
    texts = []
    for column in columns:
        text = in_latex(column.heading)
        texts.append(f"\\multicolumn{{3}}{{c}}{{{text}}}" if column.kind == "triple" else text)
    return f"{' & '.join(texts)} \\\\"


def _row(row: Row, wrapped: list[bool], first: bool) -> list[str]:
    cells = " & ".join(_cell(cell, row.bold, wraps) for cell, wraps in zip(row.cells, wrapped, strict=True))
    return [*(["\\midrule"] if row.opens and not first else []), f"{cells} \\\\"]


def _cell(cell: Cell, bold: bool, wraps: bool) -> str:
    if isinstance(cell, Text):
        parts = [in_latex(cell.words, breakable=wraps)]
    else:
        parts = [_number(text) for text in cell.shown]
    if bold:
        parts[0] = f"\\textbf{{{parts[0]}}}"
    return " & ".join(parts)


def _number(text: str) -> str:
    if text == MISSING:
        return "--"
    return text.replace(INFINITE, "$\\infty$").replace("-", "$-$")
