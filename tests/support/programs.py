"""The program as a user calls it, with an environment that is the same on every machine."""

import functools
import io
import os
import re
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from unittest import mock

from untuned.cli.main import main

ESCAPE = "\x1b"

PROGRAM = "import sys; sys.argv[0] = 'untuned'; from untuned.cli.main import main; main()"


def environment(**variables: str) -> dict[str, str]:
    """Return the variables of a process: those of the tests, and these."""
    return {**os.environ, "PYTHONIOENCODING": "utf-8", **variables}


@functools.cache
def run(*arguments: str, program: str = PROGRAM, **variables: str) -> "subprocess.CompletedProcess[str]":
    """Return the finished program, called once for the same arguments.

    In this process where that makes no difference: starting Python and importing everything takes a second or two.
    """
    if program == PROGRAM and set(variables) <= {"COLUMNS"}:
        return _run_here(list(arguments), variables)
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env=environment(**variables),
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )


def _run_here(arguments: list[str], variables: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="") for _ in range(2))
    code: object = 0
    with mock.patch.dict(os.environ, variables), redirect_stdout(out), redirect_stderr(err):
        try:
            main(arguments)
        except SystemExit as ending:
            code = ending.code
    printed = []
    for stream in (out, err):
        stream.flush()
        buffer = stream.buffer
        assert isinstance(buffer, io.BytesIO)
        printed.append(buffer.getvalue().decode("utf-8"))
    assert isinstance(code, int)
    return subprocess.CompletedProcess(arguments, code, *printed)


def succeeded(*arguments: str, **variables: str) -> str:
    """Return what the program printed; it must have succeeded without a complaint on the error stream."""
    finished = run(*arguments, **variables)
    assert finished.returncode == 0, finished.stderr
    assert without_summary(finished.stderr) == ""
    return finished.stdout


def without_summary(words: str) -> str:
    """Return what was said on the error stream, without the line on what scores were recognised as."""
    return re.sub(r"\A\d+ algorithms? x \d+ environments? x [\d,]+( to [\d,]+)? runs? from .*\n", "", words)
