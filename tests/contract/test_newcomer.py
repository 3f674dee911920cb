"""A newcomer's walk: clone, `make demo`, evaluate a CSV, add an algorithm, by the README and a tutorial alone.

What is typed and what is saved is taken out of these two texts, so they cannot say anything that does not work. The
walk is described in CONTRIBUTING.md.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import markdown
import pytest

from support import needs
from support.browsing import chromium, visiting

ROOT = Path(__file__).parents[2]
TUTORIAL = Path("docs") / "tutorials" / "your-algorithm.md"

#: What a newcomer types and a test does not, and why.
LEFT_OUT = {
    "make test": "it is what runs this test",
    "source .venv/bin/activate": "the variables of the commands say the same",
}


@dataclass(frozen=True)
class Step:
    """What a page tells one to do.

    Attributes
    ----------
    file
        The name of a file to save; empty where something is to be typed.
    text
        The file's content, or the command.
    shown
        What the page says that the command prints.
    """

    file: str
    text: str
    shown: tuple[str, ...] = ()


def steps(page: Path) -> Iterator[Step]:
    """Yield what a page tells one to save and to type, in order."""
    fences = re.finditer(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', page.read_text(), flags=re.M | re.S)
    for language, file, text in (fence.groups() for fence in fences):
        if file:
            yield Step(file, text)
        elif language == "console":
            # A line that is continued is one command.
            for typed in re.split(r"^\$ ", text.replace("\\\n>", ""), flags=re.M)[1:]:
                command, *shown = typed.splitlines()
                yield Step("", command.partition(" #")[0].strip(), tuple(shown))


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone of the repository, with what has been changed here and not been committed."""
    git = needs.program("git", "git")
    listing = subprocess.run(
        [git, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if listing.returncode:
        pytest.skip("this is no clone, there is nothing to clone")
    folder = tmp_path / "untuned"
    subprocess.run([git, "clone", "--quiet", "--no-local", "--depth", "1", f"file://{ROOT}", str(folder)], check=True)
    for name in filter(None, listing.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder


def variables() -> dict[str, str]:
    """Return what the shell of somebody has who activated an environment with this code in it."""
    # What `make test` leaves for those it calls would be heard by the `make` of the walk.
    own = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    programs = f"{Path(sys.executable).parent}{os.pathsep}{own['PATH']}"
    # The code here is the clone's; under another path all of it would be compiled again, for minutes.
    return {**own, "PATH": programs, "PYTHONPATH": str(ROOT / "src"), "MPLBACKEND": "agg"}


def typed(command: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    """Return what came of a command."""
    bash = needs.program("bash", "bash")
    return subprocess.run(
        [bash, "-c", command],
        cwd=folder,
        env=variables(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )


def is_among(shown: str, printed: str) -> bool:
    """Return whether a line that a page shows was printed; ... stands for anything."""
    pattern = ".*".join(re.escape(part) for part in " ".join(shown.split()).split("..."))
    # On another processor, last digits may differ.
    pattern = re.sub(r"(?:\\-)?\d(?:[\d,]|\\\.(?=\d))*", r"-?\\d[\\d,.]*", pattern)
    # Lines are broken where the terminal ends.
    return re.search(pattern, " ".join(printed.split())) is not None


def walked(page: Path, folder: Path) -> list[str]:
    """Do what a page says, see that it prints what is shown, and return the commands that were typed."""
    done = []
    for step in steps(page):
        if step.file:
            (folder / step.file).write_text(step.text)
        elif step.text not in LEFT_OUT and not step.text.startswith("make "):
            finished = typed(step.text, folder)
            printed = finished.stdout + finished.stderr
            wrong = any(line.startswith("error: ") for line in step.shown)
            assert finished.returncode == (2 if wrong else 0), f"$ {step.text}\n{printed}"
            for line in step.shown:
                assert is_among(line, printed), f"$ {step.text}\n{printed}"
            done.append(step.text)
    return done


def environment_of(clone: Path, folder: Path) -> Path:
    """Return a folder that `make` takes for the clone's finished environment: the present one, under another name."""
    environment = folder / "environment"
    environment.mkdir()
    for each in Path(sys.prefix).iterdir():
        if each.name != ".ready":
            (environment / each.name).symlink_to(each)
    # Links and a mark of its own, so that whatever `make` does, the present environment stays as it is.
    shutil.copy(clone / "pyproject.toml", environment / ".ready")
    return environment


@pytest.mark.slow
def test_the_demo_ends_with_the_path_of_a_page_that_opens(clone: Path, tmp_path: Path) -> None:
    assert "make demo" in [step.text for step in steps(clone / "README.md")]
    needs.program("make", "make")
    finished = typed(f"make VENV={environment_of(clone, tmp_path)} demo", clone)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    page = clone / finished.stdout.splitlines()[-1]
    assert page.suffix == ".html"
    with chromium() as browser, visiting(browser, page) as visit:
        assert visit.page.title() == visit.page.locator("h1").inner_text() != ""
        # The first thing that the page answers was said on the screen as well.
        answer = visit.page.locator("main section").first.locator("li, .answer").first.inner_text()
        assert answer.endswith(".")
        assert " ".join(answer.split()) in " ".join(finished.stdout.split())


def test_a_csv_is_evaluated_with_the_readme_s_commands(clone: Path) -> None:
    done = walked(clone / "README.md", clone)
    assert [command.split()[:2] for command in done] == [["untuned", "evaluate"], ["untuned", "report"]]
    assert "<title>" in (clone / "report.html").read_text(encoding="utf-8")
    there = {step.text for step in steps(clone / "README.md")}
    assert set(LEFT_OUT) <= there, "what is left out is no longer there"


@pytest.mark.slow
def test_an_algorithm_is_added_with_the_tutorial_s_code(clone: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    done = walked(clone / TUTORIAL, folder)
    assert sum(command.startswith("untuned run") for command in done) == 4
    assert (folder / "report.html").is_file()


def test_the_readme_is_no_longer_than_two_screens(tmp_path: Path) -> None:
    text = (ROOT / "README.md").read_text()
    assert len(text.splitlines()) <= 60
    # Widths, sizes and margins as where repositories are shown.
    style = """
        body { font: 16px/1.5 sans-serif; width: 980px; margin: 0 auto; padding: 32px; }
        h1, h2 { border-bottom: 1px solid; padding-bottom: .3em; margin: 24px 0 16px; }
        p, ul, pre { margin: 0 0 16px; }
        pre { padding: 16px; font-size: 13.6px; line-height: 1.45; overflow: auto; }
        img { max-width: 100%; }
    """
    page = tmp_path / "readme.html"
    body = markdown.markdown(text.replace("](docs/", f"]({(ROOT / 'docs').as_uri()}/"), extensions=["fenced_code"])
    page.write_text(f"<!DOCTYPE html><meta charset='utf-8'><style>{style}</style>{body}")
    with chromium() as browser:
        context = browser.new_context(viewport={"width": 1200, "height": 900})
        try:
            shown = context.new_page()
            shown.goto(page.as_uri())
            assert shown.evaluate("document.images[0].naturalWidth") > 0
            assert shown.evaluate("document.documentElement.scrollHeight") <= 2 * 900
        finally:
            context.close()


def test_the_picture_and_the_scores_of_the_examples_are_made_by_their_scripts(tmp_path: Path) -> None:
    runs = subprocess.run([sys.executable, "examples/runs.py"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert runs.stdout == (ROOT / "examples" / "runs.csv").read_text()
    picture = tmp_path / "answer.png"
    drawn = subprocess.run(
        [sys.executable, "examples/picture_of_an_answer.py", "--out", str(picture)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert drawn.stdout == f"{picture}\n"
    assert picture.read_bytes().startswith(b"\x89PNG")
