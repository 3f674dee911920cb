"""What a newcomer does first: clone the repository, type `make demo`, open the page.

The other commands of the README and of the tutorials run in test_documented_commands.py.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support import needs
from support.browsing import chromium, visiting
from support.documents import ROOT, blocks, commands
from support.processes import python


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
        pytest.skip("this is not a Git repository: clone it to run this test")
    folder = tmp_path / "untuned"
    subprocess.run([git, "clone", "--quiet", "--no-local", "--depth", "1", f"file://{ROOT}", str(folder)], check=True)
    for name in filter(None, listing.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder


def variables() -> dict[str, str]:
    """Return the shell variables of a user who activated an environment with this code."""
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


def environment_of(clone: Path, folder: Path) -> Path:
    """Return a folder that `make` takes for the clone's finished environment: the present one, under another name."""
    environment = folder / "environment"
    environment.mkdir()
    for each in Path(sys.prefix).iterdir():
        if each.name != ".ready":
            (environment / each.name).symlink_to(each)
    # Links and a separate mark, so that `make` cannot change the present environment.
    shutil.copy(clone / "pyproject.toml", environment / ".ready")
    return environment


@pytest.mark.slow
def test_the_demo_ends_with_the_path_of_a_page_that_opens(clone: Path, tmp_path: Path) -> None:
    shown = [block for block in blocks(clone / "README.md") if block.language == "console"]
    assert "make demo" in [command.text for block in shown for command in commands(block)]
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


def test_the_picture_and_the_scores_of_the_examples_are_made_by_their_scripts(tmp_path: Path) -> None:
    runs = python("examples/runs.py", cwd=ROOT, check=True)
    assert runs.stdout == (ROOT / "examples" / "runs.csv").read_text()
    picture = tmp_path / "answer.png"
    drawn = python("examples/picture_of_an_answer.py", "--out", str(picture), cwd=ROOT, check=True)
    assert drawn.stdout == f"{picture}\n"
    assert picture.read_bytes().startswith(b"\x89PNG")
