"""`Report`: an evaluation as people read it, to be saved or shown."""

from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path

from untuned.errors import InvalidInput
from untuned.evaluation import Evaluation
from untuned.histories import Histories
from untuned.plans import Plan
from untuned.reports.page.render import page

_PAGES = (".html", ".htm")


@dataclass(frozen=True, eq=False)
class Report:
    """An evaluation as people read it; notebooks show it.

    Attributes
    ----------
    evaluation
        What was found.
    title
        Of the page.
    command
        How to make it again.
    version
        Of this program.
    beside
        The same scores judged by other methods, for a comparison.
    histories
        What the trials left besides scores.
    plan
        How many trials would settle what is open.
    """

    evaluation: Evaluation
    title: str
    command: str
    version: str
    beside: tuple[Evaluation, ...] = ()
    histories: Histories | None = None
    plan: Plan | None = None

    @cached_property
    def html(self) -> str:
        """The page: one self-contained document, which asks no network for anything."""
        return page(
            self.evaluation,
            title=self.title,
            command=self.command,
            version=self.version,
            beside=self.beside,
            histories=self.histories,
            plan=self.plan,
        )

    def save(self, path: str | Path, *, formats: tuple[str, ...] = ("pdf",)) -> list[Path]:
        """Write the page, or a folder with the page, all tables, all figures and the numbers; return what was written.

        Parameters
        ----------
        path
            A file that ends in .html for the page alone; anything else is a folder, made if need be.
        formats
            Of the figures in a folder: "pdf", "svg", "png".
        """
        place = Path(path).expanduser()
        check_place(place)
        if place.suffix.lower() not in _PAGES:
            return self._save_folder(place, formats)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(self.html, encoding="utf-8")
        return [place]

    def _save_folder(self, folder: Path, formats: tuple[str, ...]) -> list[Path]:
        from untuned.reports import figures, tables

        written = self.save(folder / "report.html")
        numbers = folder / "evaluation.json"
        numbers.write_text(self.evaluation.to_json(percentiles=True) + "\n", encoding="utf-8")
        return [
            *written,
            numbers,
            *tables.save_all(self.evaluation, folder / "tables"),
            *figures.save_all(
                self.evaluation, folder / "figures", beside=self.beside, histories=self.histories, formats=formats
            ),
        ]

    def __repr__(self) -> str:
        return f"<Report: {self.title}; .save('report.html') writes it>"

    def _repr_html_(self) -> str:
        """Return the page in a frame, as a notebook shows it."""
        return (
            f'<iframe title="{escape(self.title)}" sandbox="allow-scripts allow-downloads" '
            f'style="width: 100%; height: 45rem; border: 1px solid #ccc" srcdoc="{escape(self.html)}"></iframe>'
        )


def check_place(path: Path) -> None:
    """Refuse a place where a report cannot be written."""
    if path.suffix.lower() in _PAGES:
        if path.is_dir():
            raise InvalidInput(f"{path} is a folder: name a file in it, or a folder that does not end in .html")
    elif path.is_file():
        raise InvalidInput(f"{path} is a file: a report goes to a file that ends in .html, or to a folder")
    for parent in path.parents:
        if parent.is_file():
            raise InvalidInput(f"{parent} is a file: a report cannot go below it")
