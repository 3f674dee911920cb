"""The program in a process of its own, with an environment that is the same on every machine."""

import functools
import os
import subprocess
import sys

ESCAPE = "\x1b"

#: Variables by which a user's shell, terminal or CI service changes what programs print; tests/conftest.py unsets them.
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

PROGRAM = "import sys; sys.argv[0] = 'untuned'; from untuned.cli.main import main; main()"


def environment(**variables: str) -> dict[str, str]:
    """Return the variables of a process: those of the tests, and these."""
    return {**os.environ, "PYTHONIOENCODING": "utf-8", **variables}


@functools.cache
def run(*arguments: str, program: str = PROGRAM, **variables: str) -> subprocess.CompletedProcess[str]:
    """Return the finished program, called once for the same arguments."""
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env=environment(**variables),
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )


def succeeded(*arguments: str, **variables: str) -> str:
    """Return what the program printed; it must have succeeded without a word on the error stream."""
    finished = run(*arguments, **variables)
    assert finished.returncode == 0, finished.stderr
    assert finished.stderr == ""
    return finished.stdout
