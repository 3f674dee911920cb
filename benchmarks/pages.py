"""Updates the measured parts of the documentation from the benchmarks' result files.

    python benchmarks/pages.py [--check] [--results docs/results] [PAGE ...]

A measured part is the text between ``<!-- measured: NAME -->`` and ``<!-- end -->``, a whole table or some words
within a sentence. Everything else in a page is unchanged. With ``--check`` nothing is written; the names of outdated
parts are printed, and the exit code is 1 if there are any.
"""

import argparse
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from rendering import (
    comparison,
    copies,
    coverage,
    fidelity,
    gallery,
    overview,
    power,
    protocols,
    races,
    reproduction,
    speed,
)
from rendering.files import Part, Results, Unusable

ROOT = Path(__file__).resolve().parents[1]
PARTS: Mapping[str, Part] = {
    **speed.PARTS,
    **coverage.PARTS,
    **power.PARTS,
    **races.PARTS,
    **comparison.PARTS,
    **copies.PARTS,
    **protocols.PARTS,
    **fidelity.PARTS,
    **reproduction.PARTS,
    **overview.PARTS,
    **gallery.PARTS,
}
MARKED = re.compile(r"<!-- measured: (?P<name>[^ ]+) -->(?P<text>.*?)<!-- end -->", flags=re.S)


def pages() -> list[Path]:
    """Return every page that may have measured parts."""
    return sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])


def measured(text: str) -> Iterator[tuple[str, str]]:
    """Yield the name of every measured part of a page, and its current text."""
    for found in MARKED.finditer(text):
        yield found["name"], found["text"]


def without_measured(text: str) -> str:
    """Return a page without its measured parts."""
    return MARKED.sub("", text)


def renewed(text: str, part: Callable[[str], str]) -> str:
    """Return a page with every measured part updated.

    Parameters
    ----------
    text
        The page.
    part
        Returns the text of a name.
    """
    if MARKED.sub("", text).count("<!-- measured:") or MARKED.sub("", text).count("<!-- end -->"):
        raise Unusable("a mark of a measured part has no beginning or no end")

    def replaced(found: re.Match[str]) -> str:
        own_line = found.start() == 0 or text[found.start() - 1] == "\n"
        wanted = part(found["name"])
        if own_line != (found["text"][:1] == "\n"):
            # A comment at the beginning of a line would end the paragraph.
            raise Unusable(f"{found['name']} is neither within a line nor on lines of its own")
        around = "\n\n" if own_line else ""
        return f"<!-- measured: {found['name']} -->{around}{wanted}{around}<!-- end -->"

    return MARKED.sub(replaced, text)


def rendered(results: Results, name: str) -> str:
    """Return the text of a name."""
    if name not in PARTS:
        raise Unusable(f"no measured part is called {name!r}; there are {', '.join(PARTS)}")
    return PARTS[name](results)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", type=Path, metavar="PAGE", help="all if left out")
    parser.add_argument("--check", action="store_true", help="write nothing, say what is out of date")
    parser.add_argument("--results", type=Path, default=ROOT / "docs" / "results", help="the folder with the files")
    options = parser.parse_args()
    results = Results(options.results)
    out_of_date = 0
    for page in options.pages or pages():
        try:
            text = page.read_text(encoding="utf-8")
            new = renewed(text, lambda name: rendered(results, name))
        except (Unusable, OSError) as error:
            parser.error(f"{page.name}: {error}")
        for (name, before), (_, after) in zip(measured(text), measured(new), strict=True):
            if before != after:
                out_of_date += 1
                print(f"{page.name}: {name} {'is out of date' if options.check else 'renewed'}")
        if not options.check and new != text:
            page.write_text(new, encoding="utf-8")
    if options.check and out_of_date:
        print("python benchmarks/pages.py renews them", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
