"""Tests that need more than Python say so here: without it they are skipped, and in CI they fail."""

import os
import shutil

import pytest


def program(name: str, package: str) -> str:
    """Return the path of a program; without it skip the test, or fail it in CI, saying what to install."""
    path = shutil.which(name)
    if path is None:
        message = f"this test needs {name}: install the package {package}"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return path
