"""The lint of documents: what it reads, and what it suggests."""

from types import ModuleType

import pytest

from support.documents import docs_tool


@pytest.fixture(scope="module")
def prose() -> ModuleType:
    return docs_tool("prose")


def test_suggestions_are_made_for_sentences_and_not_for_code(prose: ModuleType) -> None:
    code = "```python\nbehavior = 1\n```\n`behavior`, [a link](behavior.md)\n"
    page = f"Its behavior is fine.\n{code}Whoever reads goes on.\n"
    found = [(line, word) for line, word, _ in prose.suggestions(prose.sentences(page))]
    assert found == [(1, "behavior"), (6, "Whoever"), (6, "goes on")]


def test_docstrings_are_read_where_they_are(prose: ModuleType) -> None:
    source = 'color = 1\n\n\ndef f():\n    """Return it.\n\n    The color of it.\n    """\n    # behavior\n'
    assert [(line, word) for line, word, _ in prose.suggestions(prose.docstrings(source))] == [(7, "color")]
