"""Fetch every external link of the documentation, and report those that do not answer. Needs a network.

    python docs_tools/links.py

The links are listed in docs_tools/links.txt, one per line, sorted; a test compares it with the pages.
"""

import re
import sys
import urllib.error
import urllib.request
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

LIST = Path(__file__).with_name("links.txt")

#: An address, which may contain pairs of parentheses; a single closing one ends the link in Markdown.
_ADDRESS = r"https?://(?:[^\s<>\"'\]()]|\([^\s()]*\))+"

#: The answers of servers that refuse programs; a browser gets the page.
_REFUSALS = {401, 403, 405, 418, 429}


def links(texts: Iterable[str]) -> set[str]:
    """Return the addresses in texts of Markdown, without those in code."""
    found: set[str] = set()
    for text in texts:
        prose = re.sub(r"^\s*(```|~~~).*?^\s*\1|`[^`\n]*`", "", text, flags=re.M | re.S)
        found |= {each.rstrip(".,;:") for each in re.findall(_ADDRESS, prose)}
    return found


def problem(address: str) -> str | None:
    """Return the error of an address, None if it answers."""
    # Some servers do not support HEAD, and some refuse clients without a name.
    asked = urllib.request.Request(address, headers={"User-Agent": "Mozilla/5.0 (link check)"})
    try:
        with urllib.request.urlopen(asked, timeout=30):
            return None
    except urllib.error.HTTPError as error:
        return None if error.code in _REFUSALS else f"{error.code} {error.reason}"
    except (urllib.error.URLError, TimeoutError, OSError) as error:
        return str(error)


def main() -> None:
    """Fetch all; exit code 1 if any does not answer."""
    addresses = LIST.read_text(encoding="utf-8").split()
    with ThreadPoolExecutor(8) as crew:
        problems = list(crew.map(problem, addresses))
    for address, wrong in zip(addresses, problems, strict=True):
        if wrong is not None:
            print(f"{address}: {wrong}")
    broken = sum(wrong is not None for wrong in problems)
    print(f"{len(addresses)} links, {broken} of them broken")
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
