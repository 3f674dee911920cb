"""What the documentation is made of: its pages, their fenced blocks, the commands in them and what these print."""

import importlib.util
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[2]

#: Everything that people read about the project as a whole.
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")])

#: How a file of this kind of block is named, where the sentence before the block names a file.
_SUFFIXES = {
    "python": (".py",),
    "toml": (".toml",),
    "csv": (".csv",),
    "text": (".csv", ".txt"),
    "bash": (".sh", ".sbatch", ".slurm"),
    "json": (".json",),
    "yaml": (".yaml", ".yml"),
}


def docs_tool(name: str) -> ModuleType:
    """Return a program of ``docs_tools`` as a module."""
    place = importlib.util.spec_from_file_location(f"docs_tools_{name}", ROOT / "docs_tools" / f"{name}.py")
    assert place is not None
    assert place.loader is not None
    module = importlib.util.module_from_spec(place)
    place.loader.exec_module(module)
    return module


def page_name(page: Path) -> str:
    """Return the path of a page from the root of the repository."""
    return page.relative_to(ROOT).as_posix() if page.is_relative_to(ROOT) else str(page)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page.

    Attributes
    ----------
    page
        Where it is.
    line
        The number of its first line after the fence.
    language
        The word after the fence; may be empty.
    file
        The file it shows, from ``title="..."`` or from the sentence before it, which ends with a colon; may be empty.
    text
        What is inside, without the indentation of the fence.
    """

    page: Path
    line: int
    language: str
    file: str
    text: str

    @property
    def place(self) -> str:
        """Page and line, as editors open them."""
        return f"{page_name(self.page)}:{self.line}"


@dataclass(frozen=True)
class Command:
    """A command in the documentation, and its output there.

    Attributes
    ----------
    page, line
        Where it is.
    text
        What one types; lines that are continued are joined.
    shown
        The lines below it.
    """

    page: Path
    line: int
    text: str
    shown: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """Page and line, as editors open them."""
        return f"{page_name(self.page)}:{self.line}"


def blocks(page: Path) -> Iterator[Block]:
    """Yield the fenced blocks of a page, in order."""
    lines = page.read_text(encoding="utf-8").splitlines()
    number = 0
    while number < len(lines):
        opening = re.match(r"^(\s*)(`{3,}|~{3,})\s*([\w+-]*)(.*)$", lines[number])
        number += 1
        if opening is None:
            continue
        indentation, fence, language, rest = opening.groups()
        first, inside = number, []
        while number < len(lines) and lines[number].strip() != fence:
            inside.append(lines[number].removeprefix(indentation))
            number += 1
        if number == len(lines):
            raise ValueError(f"{page}:{first}: the block that begins here is never closed")
        number += 1
        title = re.search(r'title="([^"]+)"', rest)
        file = title[1] if title else _named_before(lines[: first - 1], language)
        yield Block(page, first + 1, language, file, "".join(f"{line}\n" for line in inside))


def _named_before(lines: list[str], language: str) -> str:
    """Return the one file that the sentence before a block names, if that ends with a colon."""
    said: list[str] = []
    for line in reversed(lines):
        if line.strip():
            said.insert(0, line)
        elif said:
            break
    sentence = re.split(r"(?<=[.;])\s", " ".join(said))[-1] if said else ""
    if not sentence.rstrip().endswith(":"):
        return ""
    files = [name for name in re.findall(r"`([\w./-]+)`", sentence) if name.endswith(_SUFFIXES.get(language, ()))]
    return files[0] if len(files) == 1 else ""


def commands(block: Block) -> Iterator[Command]:
    """Yield the commands of a ``console`` block, each with the lines shown below it."""
    lines = block.text.splitlines()
    if lines and not lines[0].startswith("$ "):
        raise ValueError(f"{block.place}: a console block begins with a command, '$ ...'; text is ```text")
    number = 0
    while number < len(lines):
        place, typed = block.line + number, lines[number].removeprefix("$ ")
        number += 1
        while typed.endswith("\\") and number < len(lines):
            typed = typed[:-1].rstrip() + " " + lines[number].removeprefix("> ").strip()
            number += 1
        shown = []
        while number < len(lines) and not lines[number].startswith("$ "):
            shown.append(lines[number].rstrip())
            number += 1
        while shown and not shown[-1]:
            shown.pop()
        yield Command(block.page, place, without_comment(typed), tuple(shown))


def indented_commands(page: Path, programs: tuple[str, ...]) -> Iterator[Command]:
    """Yield the commands of a page that stand in lists of code by indentation, beginning with one of these programs."""
    lines = page.read_text(encoding="utf-8").splitlines()
    before = ""
    for number, line in enumerate(lines, 1):
        if re.match(rf" {{4}}({'|'.join(programs)}) ", line) and (not before.strip() or before.startswith("    ")):
            yield Command(page, number, without_comment(line.strip()))
        before = line


def without_comment(line: str) -> str:
    """Return what a shell would run of a line: all before a word that begins with #."""
    quote = ""
    for place, letter in enumerate(line):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter == "#" and (place == 0 or line[place - 1].isspace()):
            return line[:place].strip()
    return line.strip()


def parts(command: str) -> list[list[str]]:
    """Return the words of each program that a command calls: those between ``&&``, ``||``, ``|`` and ``;``.

    A word of redirection, ``>`` for one, stays a word.
    """
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    found: list[list[str]] = [[]]
    for word in lexer:
        if word in {"&&", "||", "|", ";", "&"}:
            found.append([])
        else:
            found[-1].append(word)
    return [words for words in found if words]


#: A number with decimals. Its last ones may differ between processors, those of others may not.
DECIMAL = r"-?\d[\d,]*\.\d+"


def matches(shown: tuple[str, ...], printed: str, loose: bool = False) -> bool:
    """Return whether lines that a page shows are what was printed.

    ``...`` stands for anything within its line, and, as a line by itself, for any lines. Spaces at the ends of lines
    and empty lines at the end of all do not count. Decimals are compared by ``is_near``.
    """
    pattern, numbers = "", []
    for line in shown:
        if line.strip() in {"...", "…"}:
            pattern += r"(?:.*\n)*"
            continue
        words, *rest = re.split(f"({DECIMAL})", line.rstrip())
        pattern += _with_dots(words)
        for number, words in zip(rest[::2], rest[1::2], strict=True):
            numbers.append(number)
            pattern += f"({DECIMAL})" + _with_dots(words)
        pattern += r"\n"
    said = "".join(f"{line.rstrip()}\n" for line in printed.rstrip().splitlines())
    found = re.fullmatch(pattern, said)
    return found is not None and all(is_near(*each, loose) for each in zip(numbers, found.groups(), strict=True))


def _with_dots(words: str) -> str:
    return re.sub(r"\\\.\\\.\\\.", ".*", re.escape(words))


def is_near(shown: str, printed: str, loose: bool) -> bool:
    """Return whether two decimals are the same but for the last digit.

    Loosely, but for 0.02 and 2 %: compiled trials may go another way where another processor rounds differently.
    """
    expected, found = (float(number.replace(",", "")) for number in (shown, printed))
    last = 10.0 ** -len(shown.partition(".")[2])
    return abs(found - expected) <= (max(1.01 * last, 0.02 + 0.02 * abs(expected)) if loose else 1.01 * last)
