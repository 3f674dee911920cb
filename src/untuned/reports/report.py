"""`Report`: an evaluation as a page with tables and figures, to be saved or shown."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from pathlib import Path

from untuned.errors import InvalidInput
from untuned.evaluation import Evaluation
from untuned.histories import Histories
from untuned.judge.intervals.method import Method
from untuned.judge.judging import Judging
from untuned.judge.threads import Progress
from untuned.options import declared
from untuned.plans import Plan
from untuned.races.course import Course
from untuned.reports.page.render import page
from untuned.version import __version__

_PAGES = (".html", ".htm")
#: Endings of files that a report is not; they are not the name of a folder.
_OTHER_FILES = (".pdf", ".svg", ".png", ".md", ".tex", ".csv", ".json", ".txt", ".ipynb")


@dataclass(frozen=True, eq=False)
class Report:
    """An evaluation as a page with tables and figures; notebooks show it.

    Attributes
    ----------
    evaluation
        What was found.
    title
        Title of the page.
    command
        How to reproduce it.
    version
        Version of this program.
    compare_with
        The same scores judged by other methods, for a comparison.
    histories
        What the trials recorded in addition to scores.
    plans
        How many trials would decide what is not separable yet under each ranking.
    race
        How the study was raced; None for one that was not.
    """

    evaluation: Evaluation
    title: str
    command: str
    version: str
    compare_with: tuple[Evaluation, ...] = ()
    histories: Histories | None = None
    plans: tuple[Plan, ...] = ()
    race: Course | None = None

    @cached_property
    def html(self) -> str:
        """The page: one self-contained document, which needs no network."""
        return page(self)

    def save(self, path: str | Path, *, formats: tuple[str, ...] = ("pdf",), workers: int = 1) -> list[Path]:
        """Write the page, or a folder with the page, all tables, all figures and the numbers; return what was written.

        Parameters
        ----------
        path
            A file that ends in .html for the page alone; anything else is a folder, made if need be.
        formats
            File formats of the figures in a folder: "pdf", "svg", "png".
        workers
            How many processes draw these: with more than one a script needs ``if __name__ == "__main__":``.
        """
        check_place(path)
        place = Path(path).expanduser()
        if place.suffix.lower() not in _PAGES:
            return self._save_folder(place, formats, workers)
        return [written(place, self.html)]

    def _save_folder(self, folder: Path, formats: tuple[str, ...], workers: int) -> list[Path]:
        from untuned.reports.figures.files import save_all as save_figures
        from untuned.reports.tables.saving import save_all as save_tables

        return [
            written(folder / "report.html", self.html),
            written(folder / "evaluation.json", self.evaluation.to_json(percentiles=True) + "\n"),
            *save_tables(self.evaluation, folder / "tables"),
            *save_figures(
                self.evaluation,
                folder / "figures",
                compare_with=self.compare_with,
                histories=self.histories,
                race=self.race,
                formats=formats,
                workers=workers,
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


def made(
    found: Evaluation,
    *,
    title: str | None = None,
    command: str | None = None,
    compare_with: Sequence[Evaluation] = (),
    study: str | Path | None = None,
    histories: Histories | None = None,
    plans: Sequence[Plan] = (),
    race: Course | None = None,
) -> Report:
    """Return the report of an evaluation, with a title and a command of its own unless given."""
    name = found.provenance.get("study") or found.provenance.get("file")
    return Report(
        evaluation=found,
        title=title or (f"Evaluation of {name}" if name else "Evaluation of reinforcement-learning algorithms"),
        command=command or _as_python(found, title, compare_with, study, bool(plans)),
        version=__version__,
        compare_with=tuple(compare_with),
        histories=histories,
        plans=tuple(plans),
        race=race,
    )


def judged_alike(
    found: Evaluation,
    others: Sequence[str | Method | Evaluation],
    *,
    workers: int | None = None,
    progress: Progress | None = None,
) -> tuple[Evaluation, ...]:
    """Return the same scores judged by other methods, all other options alike; evaluations as they are."""
    evaluations = []
    for other in others:
        if isinstance(other, str | Method):
            judging = replace(found.judging, intervals=other)
            evaluations.append(judging.judge(found.scores, workers=workers, progress=progress))
        elif not isinstance(other, Evaluation):
            raise InvalidInput(
                f"compare_with has a {type(other).__name__}: pass names of interval methods, or evaluations"
            )
        elif (other.algorithms, other.environments) != (found.algorithms, found.environments):
            raise InvalidInput(
                "compare_with has an evaluation of other algorithms or environments: compare the same scores"
            )
        else:
            evaluations.append(other)
    return tuple(evaluations)


def _as_python(
    found: Evaluation, title: str | None, compare_with: Sequence[Evaluation], study: str | Path | None, planned: bool
) -> str:
    """Return the call that reproduces a report; ``scores`` stands for what only the caller has."""
    used = found.settings
    chosen = {name: used[name] for name in declared(Judging) if name in used} | {"weights": found.judging.weights}
    if found.judging.intervals is None:
        # Rankings may have methods of their own, which have no name together.
        del chosen["intervals"]
    more = {
        "title": title,
        "compare_with": [each.method for each in compare_with],
        "study": None if study is None else str(study),
        "planned": planned,
        "approximate": found.approximate is not None,
    }
    judging = ", ".join(f"{name}={value!r}" for name, value in chosen.items())
    showing = "".join(f", {name}={value!r}" for name, value in more.items() if value)
    return f"untuned.report(untuned.evaluate(scores, {judging}), 'report.html'{showing})"


def written(place: Path, text: str) -> Path:
    """Write a file atomically and return its path."""
    # A lone surrogate cannot be encoded: a question mark stands for it.
    content = text.encode("utf-8", errors="replace")
    temporary = place.with_name(f".{place.name[:100]}.{os.getpid()}")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            # Bytes, so that lines end alike on every system.
            temporary.write_bytes(content)
            temporary.replace(place)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise InvalidInput(f"{place} cannot be written: {error.strerror}") from None
    return place


def check_place(given: str | Path) -> None:
    """Refuse a place where a report cannot be written."""
    if not str(given):
        raise InvalidInput("no place for the report was named: name a file that ends in .html, or a folder")
    path = Path(given).expanduser()
    if path.suffix.lower() in _PAGES:
        if path.is_dir():
            raise InvalidInput(f"{path} is a folder: name a file in it, or a folder that does not end in .html")
    else:
        if path.suffix.lower() in _OTHER_FILES and not path.is_dir():
            raise InvalidInput(
                f"{path}: a report is a page, name a file that ends in .html; or a folder with the page, tables and "
                "figures, name one without such an ending"
            )
        if path.is_file():
            raise InvalidInput(f"{path} is a file: a report goes to a file that ends in .html, or to a folder")
        for file in (path / "report.html", path / "evaluation.json"):
            if file.is_dir():
                raise InvalidInput(f"{file} is a folder, where a report has a file: move it, or name another folder")
        for folder in (path / "tables", path / "figures"):
            if folder.is_file():
                raise InvalidInput(f"{folder} is a file, where a report has a folder: move it, or name another folder")
    for parent in path.parents:
        if parent.is_file():
            raise InvalidInput(f"{parent} is a file: a report cannot go below it")
    there = next(parent for parent in (path, *path.absolute().parents) if parent.is_dir())
    if not os.access(there, os.W_OK | os.X_OK):
        raise InvalidInput(f"{there} cannot be written to: name a place that can")
