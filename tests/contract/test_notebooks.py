"""The example notebooks run without a warning, and produce the output that is stored in their files."""

import re
from pathlib import Path

import pytest

from support import notebooks
from support.documents import DECIMAL, is_near

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("path", notebooks.NOTEBOOKS, ids=lambda path: str(path.stem))
def test_a_notebook_says_what_comes_out(path: Path, tmp_path: Path) -> None:
    found = notebooks.executed(path, tmp_path)
    assert notebooks.complaints(found) == []
    texts, shown = notebooks.texts(found), notebooks.texts(notebooks.read(path))
    renew = "renew: python tests/support/notebooks.py"
    assert [words(text) for text in texts] == [words(text) for text in shown], renew
    for new, old in zip(texts, shown, strict=True):
        for number, known in zip(re.findall(DECIMAL, new), re.findall(DECIMAL, old), strict=True):
            assert is_near(known, number, loose=True), renew


def words(text: str) -> str:
    """Return a text without its decimals and without the spaces and lines by which tables are aligned."""
    return re.sub(rf"{DECIMAL}(?:e-?\d+)?|[\s─━═-]+", " ", text)


def test_notebooks_are_small_and_described() -> None:
    page = (ROOT / "docs" / "notebooks.md").read_text(encoding="utf-8")
    assert len(notebooks.NOTEBOOKS) >= 4
    for path in notebooks.NOTEBOOKS:
        assert path.stat().st_size < 300_000
        assert f"examples/notebooks/{path.name}" in page
    assert page.count("examples/notebooks/") == len(notebooks.NOTEBOOKS)


def test_links_in_notebooks_lead_somewhere() -> None:
    targets = [
        (path, target)
        for path in notebooks.NOTEBOOKS
        for cell in notebooks.read(path).cells
        if cell.cell_type == "markdown"
        for target in re.findall(r"\]\(([^)#\s]+)", cell.source)
    ]
    assert targets
    for path, target in targets:
        assert (path.parent / target).exists(), target


def test_a_warning_is_a_complaint() -> None:
    book = notebooks.read(notebooks.NOTEBOOKS[0])
    book.cells = book.cells[:2]
    book.cells[1].outputs = [
        {"output_type": "stream", "name": "stdout", "text": "fine"},
        {"output_type": "stream", "name": "stderr", "text": "DeprecationWarning: old"},
    ]
    assert notebooks.texts(book) == ["fine", "DeprecationWarning: old"]
    assert len(notebooks.complaints(book)) == 1
