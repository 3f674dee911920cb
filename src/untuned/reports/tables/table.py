"""`Table`: the content of a table, apart from its format."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import inf, isinf
from pathlib import Path

from untuned.errors import InvalidInput
from untuned.reports.file_names import file_names
from untuned.reports.tables.cells import Cell, Column, Estimate, Number, Row, Standing
from untuned.reports.tables.csv_text import comma_separated
from untuned.reports.tables.latex import latex
from untuned.reports.tables.markdown import markdown
from untuned.reports.tables.notebook import html
from untuned.statements import LEFT_OUT

#: Formats, which are also the suffixes of their files.
FORMATS = ("md", "csv", "tex", "html")


@dataclass(frozen=True)
class Table:
    """A table with its title and caption.

    Attributes
    ----------
    title
        What it shows.
    caption
        How it was computed and what is guaranteed.
    columns, rows
        The content.
    """

    title: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]

    @property
    def readable(self) -> "Table":
        """The table without uninformative columns: intervals that do not exist, ranks that are all possible.

        A sentence in the caption says what is left out, and why.
        """
        kept: list[tuple[int, Column]] = []
        notes: list[str] = []
        for number, column in enumerate(self.columns):
            cells = [row.cells[number] for row in self.rows]
            if _all_possible(cells):
                notes.append("Ranks are left out: all of them are possible.")
            elif cells and all(isinstance(cell, Estimate) and _says_nothing(cell, column) for cell in cells):
                kept.append((number, replace(column, kind="number", names=column.names[:1])))
                notes.append(
                    "Intervals are left out: they need the lowest and highest score, --range NAME=LOW:HIGH "
                    "(ranges=...)."
                    if isinf(column.vacuous)
                    else LEFT_OUT
                )
            else:
                kept.append((number, column))
        if not notes:
            return self
        rows = tuple(
            replace(row, cells=tuple(_plain(row.cells[number], column) for number, column in kept)) for row in self.rows
        )
        return Table(self.title, f"{self.caption} {' '.join(notes)}", tuple(column for _, column in kept), rows)

    def to_markdown(self) -> str:
        """Return title, table and caption in Markdown."""
        return markdown(self.readable)

    def to_csv(self) -> str:
        """Return the numbers for programs: one column each, all digits, names as they are."""
        return comma_separated(self)

    def to_latex(self, label: str | None = None) -> str:
        r"""Return a table of LaTeX for booktabs, a longtable if it has more than 40 rows.

        Parameters
        ----------
        label
            What ``\ref`` calls it; by default ``tab:`` and the title in small letters, with hyphens.
        """
        return latex(self.readable, f"tab:{file_names([self.title])[self.title]}" if label is None else label)

    def to_html(self) -> str:
        """Return title, table and caption in HTML."""
        return html(self.readable)

    def written(self, ending: str) -> str:
        """Return the table in the format of a file suffix: md, csv, tex or html.

        Parameters
        ----------
        ending
            File suffix without the dot.
        """
        if ending not in FORMATS:
            raise InvalidInput(f"no table is written as {ending!r}: choose {', '.join(FORMATS[:-1])} or {FORMATS[-1]}")
        return {"md": self.to_markdown, "csv": self.to_csv, "tex": self.to_latex, "html": self.to_html}[ending]()

    def save(self, path: str | Path) -> Path:
        """Write a file and return its path; its suffix, .md, .csv, .tex or .html, decides the format.

        Parameters
        ----------
        path
            In a folder that exists. A file that is there is replaced.
        """
        path = Path(path)
        ending = path.suffix.lower().removeprefix(".")
        if ending not in FORMATS:
            raise InvalidInput(f"{path} does not say which format to write: end it with .md, .csv, .tex or .html")
        try:
            # Bytes, so that lines end alike on every system.
            path.write_bytes(self.written(ending).encode("utf-8"))
        except OSError as error:
            raise InvalidInput(f"{path} cannot be written: {error.strerror}") from None
        return path

    def _repr_markdown_(self) -> str:
        return self.to_markdown()

    def _repr_html_(self) -> str:
        """Return the table as a notebook shows it."""
        return html(self.readable)


def all_possible(rows: Iterable[Row]) -> bool:
    """Return whether some column of ranks says nothing."""
    return any(_all_possible(list(cells)) for cells in zip(*(row.cells for row in rows), strict=True))


def _says_nothing(cell: Estimate, column: Column) -> bool:
    return (isinf(cell.low) and isinf(cell.high)) or cell.high - cell.low >= column.vacuous < inf


def _all_possible(cells: list[Cell]) -> bool:
    """Return whether these are ranks, and each may be the best and the worst."""
    ranks = [cell for cell in cells if isinstance(cell, Standing)]
    return len(ranks) == len(cells) > 0 and {(cell.worst, cell.best) for cell in ranks} == {(ranks[0].worst, 1)}


def _plain(cell: Cell, column: Column) -> Cell:
    """Return a cell for a column: of an estimate the number alone where the column has no intervals."""
    return Number(cell.value, cell.digits) if isinstance(cell, Estimate) and column.kind == "number" else cell
