"""`Table`: the content of a table, apart from its format."""

from dataclasses import dataclass
from pathlib import Path

from untuned.errors import InvalidInput
from untuned.reports.tables.cells import Column, Row
from untuned.reports.tables.csv_text import comma_separated
from untuned.reports.tables.latex import latex
from untuned.reports.tables.markdown import markdown
from untuned.reports.tables.notebook import html

#: Formats, which are also the suffixes of their files.
FORMATS = ("md", "csv", "tex")


@dataclass(frozen=True)
class Table:
    """A table with what a reader must know of it.

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

    def to_markdown(self) -> str:
        """Return title, table and caption in Markdown."""
        return markdown(self)

    def to_csv(self) -> str:
        """Return the numbers for programs: one column each, all digits, names as they are."""
        return comma_separated(self)

    def to_latex(self, label: str | None = None) -> str:
        r"""Return a table of LaTeX for booktabs, a longtable if it has more than 40 rows.

        Parameters
        ----------
        label
            What ``\ref`` calls it.
        """
        return latex(self, label)

    def written(self, ending: str) -> str:
        """Return the table in the format of a file suffix: md, csv or tex.

        Parameters
        ----------
        ending
            Of the file's name, without the dot.
        """
        if ending not in FORMATS:
            raise InvalidInput(f"no table is written as {ending!r}: choose {', '.join(FORMATS[:-1])} or {FORMATS[-1]}")
        return {"md": self.to_markdown, "csv": self.to_csv, "tex": self.to_latex}[ending]()

    def save(self, path: str | Path) -> Path:
        """Write a file and return its path; its suffix, .md, .csv or .tex, decides the format.

        Parameters
        ----------
        path
            In a folder that exists. A file that is there is replaced.
        """
        path = Path(path)
        ending = path.suffix.lower().removeprefix(".")
        if ending not in FORMATS:
            raise InvalidInput(f"{path} does not say which format to write: end it with .md, .csv or .tex")
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
        return html(self)
