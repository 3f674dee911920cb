"""The documentation says what the code does: its tables, its code, its commands."""

import ast
import doctest
import importlib
import re
import subprocess
from pathlib import Path

import pytest

import untuned
from support import needs
from support.documents import PAGES, ROOT, Block, blocks
from support.processes import python
from untuned.adapters import sb3
from untuned.adapters.score_files.importing import CODES
from untuned.collect.definitions.paper import ELEVEN
from untuned.diagnostics.diagnose import CHECKS

BLOCKS = [pytest.param(block, id=block.place) for page in PAGES for block in blocks(page) if block.language == "python"]
#: Every module with an example in a docstring.
EXAMPLES = [
    ".".join(path.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__")
    for path in sorted((ROOT / "src").rglob("*.py"))
    if re.search(r"^\s*>>> ", path.read_text(), flags=re.M)
]


def test_the_table_of_environments_is_current() -> None:
    text = (ROOT / "docs" / "environments.md").read_text()
    rows = []
    for each in untuned.environments():
        assert each.score_range is not None
        low, high = each.score_range
        rows.append(
            f"| `{each.name}` | {each.title} | {each.budget.episodes} | {each.states} | {len(each.actions)} "
            f"| {each.step_limit} | [{low:.0f}, {high:.0f}] |"
        )
    assert [line for line in text.splitlines() if line.startswith("| `")] == rows


def test_the_tables_of_algorithms_are_current() -> None:
    text = (ROOT / "docs" / "algorithms.md").read_text()
    discrete, continuous = untuned.environment("gridworld-5-deterministic"), untuned.environment("cart-pole")
    definitions = [
        f"| `{each.name}` | {each.title} | {each.summary} | {each.same_as(discrete) or ''} |"
        for each in untuned.algorithms()
    ]
    assert not any(each.same_as(continuous) for each in untuned.algorithms())
    # Algorithms that draw the same under the same name share a row.
    sharing: dict[tuple[str, str, str], list[str]] = {}
    for each in ELEVEN:
        on_discrete, on_continuous = (
            {row.name: str(row) for row in each.describe(probe)} for probe in (discrete, continuous)
        )
        assert set(on_discrete) <= set(on_continuous)
        for name, distribution in on_continuous.items():
            sharing.setdefault((name, on_discrete.get(name, "-"), distribution), []).append(each.name)
    hyperparameters = {
        f"| `{name}` | {'all eleven' if len(who) == len(ELEVEN) else ', '.join(who)} | {left} | {right} |"
        for (name, left, right), who in sharing.items()
    }
    found = [line for line in text.splitlines() if line.startswith("| `")]
    assert found[: len(definitions)] == definitions
    assert len(found) == len(set(found)) == len(definitions) + len(hyperparameters)
    assert set(found[len(definitions) :]) == hyperparameters


def test_the_table_of_other_peoples_algorithms_is_current() -> None:
    text = (ROOT / "docs" / "how-to" / "own-algorithms.md").read_text()
    # Algorithms that draw the same under the same name share a row.
    sharing: dict[tuple[str, str], list[str]] = {}
    for name, hyperparameters in sb3.describe().items():
        for each in hyperparameters:
            sharing.setdefault((each.name, str(each)), []).append(name)
    rows = [f"| `{name}` | {', '.join(who)} | {distribution} |" for (name, distribution), who in sharing.items()]
    assert [line for line in text.splitlines() if line.startswith("| `")] == rows


def findings() -> dict[str, set[str]]:
    """Return the codes of all findings in the sources, with the severities they may have."""
    found: dict[str, set[str]] = {}
    for path in sorted((ROOT / "src" / "untuned").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            name = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
            if name not in {"Finding", "NotTrials"}:
                continue
            assert isinstance(node, ast.Call)
            texts = [[each.value for each in ast.walk(arg) if isinstance(each, ast.Constant)] for arg in node.args]
            # Every finding that a reader raises as an error is serious.
            codes, severities = (texts[0], texts[1]) if name == "Finding" else (texts[1], ["serious"])
            for code in codes:
                found.setdefault(str(code), set()).update(map(str, severities))
    return found


def test_the_table_of_findings_is_current() -> None:
    lines = (ROOT / "docs" / "how-to" / "check.md").read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| `")]
    shown = {code.strip("`"): set(severity.split(" or ")) for code, severity, *_ in cells}
    assert len(shown) == len(cells)
    assert shown.keys() == {*CHECKS, *CODES, "curves", "damaged-results", "not-finite"}
    assert shown == findings()


@pytest.mark.parametrize("example", ["own_agent", "from_optuna"])
def test_the_examples_of_own_algorithms_run(example: str, tmp_path: Path) -> None:
    finished = python("-W", "error", str(ROOT / "examples" / f"{example}.py"), "--trials", "2", cwd=tmp_path)
    assert finished.returncode == 0, finished.stderr
    lines = finished.stdout.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["trial 0", "trial 1"]
    assert all("score" in line and "nan" not in line for line in lines)


@pytest.mark.parametrize("page", ["environments", "algorithms"])
def test_every_place_that_differs_from_the_paper_is_explained(page: str) -> None:
    text = " ".join((ROOT / "docs" / f"{page}.md").read_text().split())
    described = untuned.environments() if page == "environments" else untuned.algorithms()
    notes = {note for each in described for note in each.differs}
    assert notes
    for note in notes:
        assert f"**Differs:** {note}" in text


@pytest.mark.parametrize("block", BLOCKS)
def test_code_in_the_documentation_runs(block: Block, tmp_path: Path) -> None:
    if "import sb3" in block.text:
        needs.extra("stable_baselines3", "sb3")
    # Files that the page has shown before are there.
    for earlier in blocks(block.page):
        if earlier.file and earlier.line < block.line:
            (tmp_path / earlier.file).write_text(earlier.text)
    finished = python("-W", "error", "-c", block.text, cwd=tmp_path)
    assert finished.returncode == 0, finished.stderr


def test_there_is_code_to_run() -> None:
    assert len(BLOCKS) >= 6
    assert len(EXAMPLES) >= 11


@pytest.mark.parametrize("module", EXAMPLES)
def test_examples_in_docstrings_hold(module: str) -> None:
    found = doctest.testmod(importlib.import_module(module), optionflags=doctest.ELLIPSIS)
    assert found.attempted > 0
    assert found.failed == 0


@pytest.mark.parametrize("target", ["demo", "test", "quick", "prose", "bench", "measure", "docs", "reference", "links"])
def test_the_makefile_has_its_doors(target: str) -> None:
    finished = subprocess.run(
        [needs.program("make", "make"), "--dry-run", target],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
