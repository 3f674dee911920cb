"""Public names are stated once; documents, examples and notebooks use no others; the rest is marked private."""

import ast
import inspect
import json
import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import untuned
from support.documents import PAGES, ROOT, blocks, page_name

MODULES = {name: module for name in untuned.__all__ if isinstance(module := getattr(untuned, name), ModuleType)}
STUB = (ROOT / "src" / "untuned" / "__init__.pyi").read_text(encoding="utf-8")


def sources() -> Iterator[tuple[str, str]]:
    """Yield where it is, and the text, of all Python that users are shown."""
    for page in PAGES:
        for block in blocks(page):
            if block.language == "python":
                yield block.place, block.text
    for path in sorted((ROOT / "examples").rglob("*.py")):
        yield page_name(path), path.read_text(encoding="utf-8")
    for path in sorted((ROOT / "examples").rglob("*.ipynb")):
        for number, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"]):
            if cell["cell_type"] == "code":
                lines = (line for line in cell["source"] if not line.startswith("%"))
                yield f"{page_name(path)}, cell {number}", "".join(lines)


def uses(text: str) -> Iterator[str]:
    """Yield every dotted name of this package that a program imports or reaches."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{each.name}" for each in node.names)
        elif isinstance(node, ast.Attribute):
            dotted = ast.unparse(node)
            if re.fullmatch(r"[\w.]+", dotted):
                yield dotted


def is_public(dotted: str) -> bool:
    package, *names = dotted.split(".")
    if package != "untuned" or not names:
        return True
    if names[0] not in untuned.__all__:
        return False
    if names[0] not in MODULES or len(names) == 1:
        return True
    value = getattr(MODULES[names[0]], names[1], None)
    return not names[1].startswith("_") and value is not None and not isinstance(value, ModuleType)


@pytest.mark.parametrize(("dotted", "expected"), [
    ("numpy.array", True),
    ("untuned", True),
    ("untuned.evaluate", True),
    ("untuned.lab.coverage", True),
    ("untuned.lab.mixtures", False),
    ("untuned.agents.nothing", False),
    ("untuned.collect", False),
    ("untuned.judge.methods.Method", False),
])  # fmt: skip
def test_public_and_private_are_told_apart(dotted: str, expected: bool) -> None:
    # Once loaded, a private module is an attribute of its package.
    import_module("untuned.lab.mixtures")
    assert is_public(dotted) is expected


def test_documents_examples_and_notebooks_use_public_names_only() -> None:
    found = list(sources())
    assert len(found) > 20
    private = [f"{place}: {dotted}" for place, text in found for dotted in uses(text) if not is_public(dotted)]
    assert not private, "\n".join(private)


def test_pages_for_users_name_no_private_module() -> None:
    private = "|".join(each.name for each in pkgutil.iter_modules(untuned.__path__) if each.name not in MODULES)
    # The page of the library says which modules are private; contributors and decisions speak of the inside.
    pages = [page for page in PAGES if "decisions" not in page.parts and page.name != "CONTRIBUTING.md"]
    for page in pages:
        named = re.findall(rf"\buntuned\.(?:{private})\.\w+", page.read_text(encoding="utf-8"))
        assert not named, f"{page_name(page)}: {named}"


def test_each_public_name_has_one_line_in_the_stub() -> None:
    lines = [line for line in STUB.splitlines() if line.startswith("from ")]
    names = [line.split()[3] for line in lines]
    assert all(re.fullmatch(r"from untuned[\w.]* import (\w+) as \1", line) for line in lines)
    assert len(set(names)) == len(names)
    assert set(untuned.__all__) == {*names, "__version__"}
    assert not re.search("|".join(rf'"{name}"' for name in names), inspect.getsource(untuned))


def test_the_docstring_names_every_public_module() -> None:
    assert set(MODULES) <= set(re.findall(r"`(\w+)`", untuned.__doc__ or ""))


def test_every_private_package_says_so() -> None:
    for path in sorted((ROOT / "src" / "untuned").rglob("__init__.py")):
        name = path.parent.name
        if name != "untuned" and name not in MODULES:
            text = path.read_text(encoding="utf-8")
            assert text.startswith('"""Private. '), Path(path).relative_to(ROOT)


def test_a_public_module_holds_nothing_but_public_names() -> None:
    for name in set(MODULES) - {"lab"}:
        tree = ast.parse(Path(str(MODULES[name].__file__)).read_text(encoding="utf-8"))
        assert ast.get_docstring(tree), name
        assert all(isinstance(node, ast.ImportFrom) for node in tree.body[1:]), f"untuned.{name} defines something"
