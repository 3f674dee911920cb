"""What makes a test give the same verdict on every machine, and the tiers: markers by folder and file."""

import importlib.util
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

TESTS = Path(__file__).parent

#: Variables by which a user's shell, terminal or CI service changes what programs print.
HABITS = (
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLORTERM",
    "COLUMNS",
    "FORCE_COLOR",
    "GITHUB_ACTIONS",
    "LINES",
    "NO_COLOR",
    "PYTHONIOENCODING",
    "PYTHONWARNINGS",
    "PY_COLORS",
    "TERM",
    "TERMINAL_WIDTH",
    "TTY_COMPATIBLE",
    "TTY_INTERACTIVE",
)

#: Markers by folder and file (pyproject.toml says what they are).
MARKERS = {
    "browser": "browser",
    "contract": "contract",
    "oracle": "oracle",
    "statistical": "statistics",
    "contract/test_ray.py": "ray",
    "contract/test_store_kill.py": "kills",
    "contract/test_processes.py": "kills",
    "contract/test_citing.py": "documents",
    "contract/test_comparison.py": "documents",
    "contract/test_documentation.py": "documents",
    "contract/test_documented_commands.py": "documents",
    "contract/test_links.py": "documents",
    "contract/test_measured.py": "documents",
    "contract/test_newcomer.py": "documents",
    "contract/test_notebooks.py": "documents",
    "contract/test_questions.py": "documents",
    "contract/test_reference.py": "documents",
    "contract/test_theory.py": "documents",
}

#: What `make quick` leaves out.
SLOWER = {*MARKERS.values(), "latex", "slow"}

# A deadline, or a health check of speed, would depend on the machine's load; and a test that was green stays green
# until its code changes. To search further: pytest --hypothesis-profile=explore
settings.register_profile(
    "same", deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("explore", parent=settings.get_profile("same"), derandomize=False, max_examples=1000)
settings.load_profile("same")


def _forget_habits() -> None:
    """Unset what a shell, a terminal, a CI service or a Git hook left, for the tests and the processes they start.

    Before anything else is imported: Typer looks at some of these once, when it is imported.
    """
    for name in [*HABITS, *(each for each in os.environ if each.startswith("GIT_"))]:
        os.environ.pop(name, None)
    os.environ["MPLBACKEND"] = "agg"
    # Lines on long work depend on the load.
    os.environ["UNTUNED_PROGRESS_SECONDS"] = "100000"
    # Matplotlib's own settings, not those in a user's home.
    place = importlib.util.find_spec("matplotlib")
    if place is not None and place.origin is not None:
        os.environ["MATPLOTLIBRC"] = str(Path(place.origin).parent / "mpl-data" / "matplotlibrc")
    if hasattr(os, "umask"):
        os.umask(0o022)


_forget_habits()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give tests the markers of their folder and file, and `quick` to those that have none."""
    for item in items:
        file = item.path.relative_to(TESTS)
        for place in (file.parts[0], file.as_posix()):
            if place in MARKERS:
                item.add_marker(MARKERS[place])
        if not any(mark.name in SLOWER for mark in item.iter_markers()):
            item.add_marker("quick")
