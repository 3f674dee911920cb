"""A real browser for the tests of pages: Chromium without a window, and everything it complains about."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support import needs

#: No window, no graphics card, and none of the connections that Chromium makes on its own account.
_FLAGS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@contextmanager
def chromium() -> Iterator[Any]:
    """Yield a browser; skip the test, or fail it in CI, where there is none."""
    program = needs.program("chromium", "chromium")
    needs.extra("playwright", "dev")
    from playwright.sync_api import sync_playwright

    # Chromium's sandbox refuses to start for root, who runs the tests in CI.
    flags = [*_FLAGS, *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=flags)
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Visit:
    """A page that is open, and what went wrong on it."""

    page: Any
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def axe(self) -> list[str]:
        """Return what axe finds wrong with the page as it is now: the rule, and the first elements that break it."""
        needs.extra("axe_playwright_python", "dev")
        from axe_playwright_python.sync_playwright import Axe

        found = Axe().run(self.page).response["violations"]
        return [f"{each['id']}: {each['help']}: {[node['html'][:200] for node in each['nodes'][:3]]}" for each in found]


@contextmanager
def visiting(browser: Any, path: Path, **options: Any) -> Iterator[Visit]:
    """Yield a visit to a file; at the end there must be no console messages and no requests."""
    context = browser.new_context(**{"viewport": {"width": 1200, "height": 900}, **options})
    try:
        visit = Visit(context.new_page())
        visit.page.on("console", lambda message: visit.complaints.append(f"{message.type}: {message.text}"))
        visit.page.on("pageerror", lambda error: visit.complaints.append(f"error: {error}"))
        visit.page.on("dialog", lambda dialog: visit.complaints.append(f"dialog: {dialog.message}"))
        visit.page.on("request", lambda request: visit.requests.append(request.url))
        visit.page.goto(path.resolve().as_uri())
        yield visit
        assert visit.complaints == []
        assert [url for url in visit.requests if not url.startswith(("blob:", "data:"))] == [path.resolve().as_uri()]
    finally:
        context.close()
