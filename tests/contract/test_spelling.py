"""Everything that people read is spelt as in Britain: pages, docstrings, and what the program says of its options.

The dictionary is Hunspell's, as `spylls` brings it. It is an American one, so codespell's table of British and American
spellings turns it round: what is British there is right, what is American is wrong. Other words that are right are in
tests/support/words.txt, one per line, sorted.
"""

import ast
import functools
import gc
import re
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import codespell_lib
import pytest
import typer
from spylls.hunspell import Dictionary

from support.documents import PAGES, ROOT, page_name
from untuned.cli.main import app

WORDS = ROOT / "tests" / "support" / "words.txt"
#: American spellings that are British too, of another word: a meter measures, a program is run.
ALSO_BRITISH = {"check", "checks", "license", "meter", "meters", "practice", "program", "programs"}
#: What is called so, however one spells.
NAMES = ("proximal policy optimization", "Proximal Policy Optimization")
MODULES = sorted((ROOT / "src").rglob("*.py"))


@functools.cache
def dictionary() -> Any:
    """Return the dictionary, which takes a second to read."""
    with warnings.catch_warnings():
        # It leaves its files to the collector.
        warnings.simplefilter("ignore", ResourceWarning)
        found = Dictionary.from_files("en_US")
        gc.collect()
    return found


@functools.cache
def british() -> dict[str, str]:
    """Return British spellings with the American ones."""
    table = Path(codespell_lib.__file__).parent / "data" / "dictionary_en-GB_to_en-US.txt"
    pairs = (line.split("->") for line in table.read_text(encoding="utf-8").splitlines() if "->" in line)
    return {ours: theirs.strip(" ,") for ours, theirs in pairs}


@functools.cache
def own_words() -> frozenset[str]:
    """Return the words of the project's own list."""
    return frozenset(WORDS.read_text(encoding="utf-8").split())


@functools.cache
def is_known(word: str) -> bool:
    """Return whether a word is spelt right: as it stands, or, at the beginning of a sentence, in small letters."""
    for form in {word, word[0].lower() + word[1:]}:
        if form in own_words() or form in british():
            return True
    american = word.lower() in set(british().values()) - ALSO_BRITISH
    return not american and (dictionary().lookup(word) or dictionary().lookup(word.lower()))


def prose(markdown: str) -> str:
    """Return the sentences of a page: without code, formulas, addresses and what mkdocs reads."""
    text = re.sub(r"^\s*(```|~~~).*?^\s*\1", " ", markdown, flags=re.M | re.S)
    text = re.sub("|".join(NAMES), " ", text)
    text = re.sub(r"<!--.*?-->|\$\$.*?\$\$", " ", text, flags=re.S)
    text = re.sub(r"``.+?``|`[^`]+`|(?<![\w$])\$[^$\n]+\$|<[^>\n]+>|^:::.*$", " ", text, flags=re.M)
    return re.sub(r"\]\([^)]*\)|https?://\S+|^\[[^\]]+\]: .*$|\{[^}\n]*\}|^ {4}\w+ .*$", " ", text, flags=re.M)


def words(text: str) -> Iterator[str]:
    """Yield the words of a text; not those with digits, capitals inside, underscores or dots, which are names."""
    for found in re.findall(r"(?<![\w.\\/@#-])[^\W\d_]+(?:['\u2019][^\W\d_]+)*(?![\w(/@]|\.\w)", text):
        word = re.sub(r"['\u2019]s?$", "", found.replace("\u2019", "'"))
        if len(word) > 2 and word.isascii() and not re.search(r"[A-Z]", word[1:]):
            yield word


def of_docstrings(module: Path) -> str:
    """Return the sentences of a module's docstrings."""
    texts = []
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node) or ""
            text = re.sub(r"^ *>>> .*(?:\n *\S.*)*", "", text, flags=re.M)
            # The names of parameters stand alone on their lines, before what is said of them.
            texts.append(re.sub(r"^[\w*, ]+\n(?= {4}\S)", "", text, flags=re.M))
    return prose(re.sub(r"^ {4,}", "", "\n".join(texts), flags=re.M))


def of_options() -> str:
    """Return what the program says of its commands and options."""
    program: Any = typer.main.get_command(app)
    texts = [program.help]
    for command in program.commands.values():
        texts += [command.help, *(each.help or "" for each in command.params)]
    return "\n".join(texts)


def misspelt(text: str) -> list[str]:
    """Return the words of a text that nobody knows."""
    return sorted({word for word in words(text) if not is_known(word)})


HELP = (
    "mend them, or, where they are right, add them to tests/support/words.txt, in small letters unless they are names"
)


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_pages_are_spelt_right(page: Path) -> None:
    wrong = misspelt(prose(page.read_text(encoding="utf-8")))
    assert not wrong, f"{page_name(page)}: {', '.join(wrong)}: {HELP}"


def test_docstrings_are_spelt_right() -> None:
    wrong = {page_name(module): found for module in MODULES if (found := misspelt(of_docstrings(module)))}
    assert not wrong, f"{wrong}: {HELP}"


def test_options_are_spelt_right() -> None:
    wrong = misspelt(of_options())
    assert not wrong, f"{wrong}: {HELP}"


def test_the_project_s_words_are_sorted_and_used() -> None:
    listed = WORDS.read_text(encoding="utf-8").split()
    assert listed == sorted(set(listed), key=lambda word: (word.lower(), word)), "the list is sorted, each once"
    used = {word for page in PAGES for word in words(prose(page.read_text(encoding="utf-8")))}
    used |= {word for module in MODULES for word in words(of_docstrings(module))} | set(words(of_options()))
    used |= {word[0].lower() + word[1:] for word in used}
    assert not (idle := set(listed) - used), f"unused, remove them: {idle}"


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("Its behaviour is normalised; colours are grey.", []),
        ("Its behavior is normalized.", ["behavior", "normalized"]),
        ("Teh end, and `teh` code, and [a link](teh.md).", ["Teh"]),
        ("The algorithm's names: sarsa_s, CamelCase, v1.0, teh2.", []),
    ],
)
def test_american_and_wrong_words_are_found(text: str, wrong: list[str]) -> None:
    assert misspelt(prose(text)) == wrong


def test_the_source_has_no_common_misspelling() -> None:
    places = ["src", "tests", "benchmarks", "examples", "docs_tools", "docs", "README.md", "CHANGELOG.md"]
    finished = subprocess.run(
        [sys.executable, "-m", "codespell_lib", *places],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
