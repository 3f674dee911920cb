"""Every link leads somewhere: between pages, within the built site, and to the world outside."""

import functools
import re
import tempfile
import threading
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from support.documents import PAGES, ROOT, docs_tool, page_name
from support.processes import python

LIST = ROOT / "docs_tools" / "links.txt"


def tool() -> Any:
    """Return the module that finds and fetches external links."""
    return docs_tool("links")


@functools.cache
def site() -> Path:
    """Return the folder of the documentation, built once, with warnings as errors."""
    folder = Path(tempfile.mkdtemp(prefix="site-"))
    finished = python(str(ROOT / "docs_tools" / "build_site.py"), str(folder), timeout=600)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return folder


class Page(HTMLParser):
    """What a page of the site has: its ids, its links, and what it loads."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.ids |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag == "link" and given.get("rel") not in {"canonical", "prev", "next"}:
            self.loaded.append(given.get("href", ""))
        elif tag in {"script", "img", "iframe", "source", "video", "audio", "object", "embed"}:
            self.loaded += [given[name] for name in ("src", "data", "poster") if given.get(name)]


@functools.cache
def pages_of_site() -> dict[Path, Page]:
    """Return what every page of the site has."""
    found = {}
    for path in sorted(site().rglob("*.html")):
        found[path.resolve()] = page = Page()
        page.feed(path.read_text(encoding="utf-8"))
    return found


def test_every_link_of_the_site_leads_to_a_file_and_a_place_in_it() -> None:
    pages = pages_of_site()
    assert len(pages) > 20
    wrong = []
    for path, page in pages.items():
        if path.name == "404.html":
            continue
        for target in [*page.links, *page.loaded]:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            there = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            there = there / "index.html" if there.is_dir() else there
            place = f"{path.relative_to(site().resolve())}: {target}"
            if not there.exists():
                wrong.append(f"{place} leads to no file")
            elif parts.fragment and there in pages and unquote(parts.fragment) not in pages[there].ids:
                wrong.append(f"{place} leads to no heading or id of that page")
    assert not wrong, "\n".join(wrong)


def test_the_site_loads_nothing_from_elsewhere() -> None:
    for path, page in pages_of_site().items():
        for target in page.loaded:
            assert not urlsplit(target).scheme.startswith("http"), f"{path.name} loads {target}"
            assert not urlsplit(target).netloc, f"{path.name} loads {target}"
    for path in site().rglob("*.css"):
        found = re.findall(r"(?:url\(|@import )['\"]?(https?:)?//[^)]*", path.read_text(encoding="utf-8"))
        assert not found, f"{path.name} loads {found}"


def test_every_public_name_has_its_place_on_the_page_of_the_reference() -> None:
    page = site() / "reference" / "python" / "index.html"
    text = page.read_text(encoding="utf-8")
    ids = pages_of_site()[page.resolve()].ids
    names = re.findall(r"^::: (\S+)$", (ROOT / "docs" / "reference" / "python.md").read_text(), flags=re.M)
    assert len(names) > 80
    for name in names:
        assert name in ids, name
        # From its heading to the next of the same kind: what it says, and, where it can be called, how.
        section = text.split(f'id="{name}"')[1].split("<h3")[0]
        words = re.sub(r"<[^>]+>", " ", section)
        assert len(words.split()) > 8, f"{name} has no text"
        assert "doc-signature" in section or "class" in section, f"{name} has no signature"


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_links_between_files_lead_somewhere(page: Path) -> None:
    """Follow links as GitHub shows the files: to a file that is there, and to a heading of it."""
    text = re.sub(r"^\s*(```|~~~).*?^\s*\1|`[^`\n]*`", "", page.read_text(), flags=re.M | re.S)
    for target in re.findall(r"\]\(([^)\s]+)", text):
        if re.match(r"https?://|mailto:", target):
            continue
        file, _, anchor = target.partition("#")
        there = page.parent / file if file else page
        assert there.exists(), f"{page_name(page)}: {target} leads to no file"
        if anchor and there.suffix == ".md" and there != ROOT / "docs" / "reference" / "python.md":
            assert anchor in anchors(there), f"{page_name(page)}: {target}: that page has {sorted(anchors(there))}"


@functools.cache
def anchors(page: Path) -> frozenset[str]:
    """Return the anchors of a page's headings, and those set by hand."""
    text = re.sub(r"^\s*(```|~~~).*?^\s*\1", "", page.read_text(), flags=re.M | re.S)
    found = set(re.findall(r'(?:id|name)="([^"]+)"', text)) | set(re.findall(r"\{[^}\n]*#([\w.:-]+)[^}\n]*\}", text))
    for heading in re.findall(r"^#{1,6} +(.+?) *#*$", text, flags=re.M):
        plain = re.sub(r"\{[^}]*\}|\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        words = re.sub(r"[^\w\s-]", "", plain.lower()).strip()
        found |= {re.sub(r"[\s]", "-", words), re.sub(r"[-\s]+", "-", words)}
    return frozenset(found)


def test_the_list_of_external_links_is_current() -> None:
    listed = LIST.read_text().split()
    assert listed == sorted(set(listed)), "docs_tools/links.txt is sorted, each link once"
    found = tool().links(page.read_text() for page in PAGES)
    missing, beyond = sorted(found - set(listed)), sorted(set(listed) - found)
    assert not missing, "add to docs_tools/links.txt, and try them with make links:\n" + "\n".join(missing)
    assert not beyond, "no page has these any more, remove them from docs_tools/links.txt:\n" + "\n".join(beyond)


def test_external_links_are_well_formed() -> None:
    for each in LIST.read_text().split():
        parts = urlsplit(each)
        assert parts.scheme == "https", f"{each}: https"
        assert re.fullmatch(r"[a-z0-9-]+(\.[a-z0-9-]+)+", parts.netloc), each


def test_links_are_found_where_people_see_them() -> None:
    text = "See [it](https://a.org/b_(c)), <https://d.org>.\n`https://code.org`\n```text\nhttps://block.org\n```\n"
    assert tool().links([text]) == {"https://a.org/b_(c)", "https://d.org"}


def test_links_that_do_not_answer_are_told_from_those_that_do(tmp_path: Path) -> None:
    (tmp_path / "there.html").write_text("words")
    handler = functools.partial(_Silent, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        place = f"http://127.0.0.1:{server.server_port}"
        assert tool().problem(f"{place}/there.html") is None
        assert tool().problem(f"{place}/elsewhere.html").startswith("404")
        server.shutdown()
    assert tool().problem(place) is not None


class _Silent(SimpleHTTPRequestHandler):
    """A server on this machine that says nothing on the terminal."""

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass
