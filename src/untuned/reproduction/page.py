"""The page of a reproduction: one self-contained file."""

import base64
from collections.abc import Mapping
from importlib import resources
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from untuned.reports.citing import citation
from untuned.reports.sentences import answer, question
from untuned.reports.tables.cells import Cell, Text
from untuned.reports.tables.table import Table
from untuned.reproduction.conclusions import HOLDS, NOT, OPEN
from untuned.reproduction.published import NOTES, SOURCE

if TYPE_CHECKING:
    from untuned.reproduction.result import Reproduction

#: The CSS class of cells with one of these texts.
_LOOKS: Mapping[str, str] = {HOLDS: "better", NOT: "worse", OPEN: "open"}


def page(found: "Reproduction", pictures: Mapping[str, tuple[str, bytes]]) -> str:
    """Return a self-contained HTML document.

    Parameters
    ----------
    found
        The results.
    pictures
        Titles and PNG bytes of the figures, by their names.
    """
    tables = {name: _table(each) for name, each in found.tables()}
    images = {
        name: {"title": title, "source": f"data:image/png;base64,{base64.b64encode(content).decode()}"}
        for name, (title, content) in pictures.items()
    }
    # Everything that is not marked as safe is escaped.
    template = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    return template.from_string(_file("untuned.reproduction", "page.html.jinja")).render(
        css=Markup(_file("untuned.reports.page", "page.css")),
        sentences=found.sentences(),
        question=question(found.evaluation),
        answer=answer(found.evaluation),
        claim=found.evaluation.claim,
        warnings=found.evaluation.warnings,
        tables=tables,
        pictures=images,
        environments=found.evaluation.environments,
        source=SOURCE,
        notes=NOTES,
        command=found.command,
        citation=citation(found.version),
        version=found.version,
        provenance=list(found.evaluation.provenance.items()),
    )


def _file(package: str, name: str) -> str:
    return resources.files(package).joinpath(name).read_text(encoding="utf-8")


def _table(table: Table) -> dict[str, Any]:
    return {
        "title": table.title,
        "caption": table.caption,
        "columns": [{"heading": column.heading, "text": column.is_text} for column in table.columns],
        "rows": [[_cell(cell) for cell in row.cells] for row in table.rows],
    }


def _cell(cell: Cell) -> dict[str, str]:
    if isinstance(cell, Text):
        return {"kind": _LOOKS.get(cell.words, ""), "first": cell.words, "rest": ""}
    first, *others = cell.shown
    return {"kind": "number", "first": first, "rest": f"({', '.join(others)})" if others else ""}
