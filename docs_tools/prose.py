"""Suggestions for pages, docstrings and comments. It never fails a change: use what helps.

python docs_tools/prose.py            # everything
python docs_tools/prose.py FILE ...   # some pages or modules
"""

import argparse
import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import codespell_lib

ROOT = Path(__file__).parents[1]
#: The files for codespell, including code: its table of common misspellings has almost no false alarms.
TREE = ("src", "tests", "benchmarks", "examples", "docs_tools", "docs", "README.md", "CONTRIBUTING.md", "CHANGELOG.md")
#: American spellings that are also British spellings of another word (a meter measures, a program is run), or names.
ALSO_BRITISH = {"check", "checks", "license", "meter", "meters", "optimization", "practice", "program", "programs"}
#: Phrases that a programmer would not search for, and what to write instead.
PLAINER = {
    "whoever": "the reader, the caller, the user",
    "nobody": "no one; or say who",
    "somebody": "the user; or passive",
    "everybody": "all algorithms, all users",
    "at the most": "at most",
    "at the least": "at least",
    "anew": "again, re-",
    "keeps its word": "holds its level",
    "is no": "is not a",
    "goes on": "resumes, continues",
    "went wrong": "failed",
    "came out": "the result, was printed",
    "beside": "next to, compared with",
    "all the same": "anyway, still",
    "of its own": "its own",
    "of one's own": "your own",
}
LONGEST_README = 60


@cache
def american() -> dict[str, str]:
    """Return American spellings with the British ones, by codespell's table."""
    table = Path(codespell_lib.__file__).parent / "data" / "dictionary_en-GB_to_en-US.txt"
    pairs = (line.split("->") for line in table.read_text(encoding="utf-8").splitlines() if "->" in line)
    found = {theirs.strip(" ,"): ours for ours, theirs in pairs}
    return {theirs: ours for theirs, ours in found.items() if theirs not in ALSO_BRITISH}


def sentences(markdown: str) -> str:
    """Return a page with the same lines, and blanks for code, formulas, addresses and directives."""

    def blank(found: re.Match[str]) -> str:
        return re.sub(r"\S", " ", found[0])

    text = re.sub(r"^\s*(```|~~~).*?^\s*\1|<!--.*?-->|\$\$.*?\$\$", blank, markdown, flags=re.M | re.S)
    text = re.sub(r"``.+?``|`[^`]+`|(?<![\w$])\$[^$\n]+\$|<[^>\n]+>|^:::.*$", blank, text, flags=re.M)
    return re.sub(r"\]\([^)]*\)|https?://\S+|^\[[^\]]+\]: .*$|\{[^}\n]*\}|^ {4}\w+ .*$", blank, text, flags=re.M)


def docstrings(source: str) -> str:
    """Return the docstrings of a module at their lines, and blank lines for everything else."""
    lines = [""] * len(source.splitlines())
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and (
            (text := ast.get_docstring(node, clean=False)) is not None
        ):
            first = node.body[0].lineno - 1
            for number, line in enumerate(text.splitlines()):
                # An indented line would be code in Markdown.
                lines[first + number] = "" if line.lstrip().startswith(">>>") else line.strip()
    return sentences("\n".join(lines))


def suggestions(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield line numbers, the words found, and the suggestions."""
    phrases = re.compile(rf"\b(?:{'|'.join(PLAINER)})\b", flags=re.I)
    for number, line in enumerate(text.splitlines(), 1):
        for word in re.findall(r"(?<![\w./\\-])[A-Za-z][a-z]+(?![\w(/])", line):
            if (ours := american().get(word.lower())) is not None:
                yield number, word, ours
        for found in phrases.findall(line):
            yield number, found, PLAINER[found.lower()]


def main() -> None:
    """Print suggestions, one per line as editors open them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, help="pages and modules; all of them by default")
    files = parser.parse_args().files
    spelt = subprocess.run(
        [sys.executable, "-m", "codespell_lib", *(map(str, files) if files else TREE)],
        cwd=None if files else ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    print(spelt.stdout + spelt.stderr, end="")
    count = len(spelt.stdout.splitlines())
    pages = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "src").rglob("*.py")])
    for path in files or pages:
        text = path.read_text(encoding="utf-8")
        shown = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
        for line, found, better in suggestions(docstrings(text) if path.suffix == ".py" else sentences(text)):
            print(f"{shown}:{line}: {found} -> {better}")
            count += 1
    if not files and (length := len((ROOT / "README.md").read_text(encoding="utf-8").splitlines())) > LONGEST_README:
        print(f"README.md: {length} lines -> {LONGEST_README} lines, two screens")
        count += 1
    print(f"{count} suggestions; none of them is an error")


if __name__ == "__main__":
    main()
