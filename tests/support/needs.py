"""Tests that need more than Python say so here: without it they are skipped, and in CI they fail."""

import importlib.util
import os
import shutil
from pathlib import Path
from typing import NoReturn

import pytest


def program(name: str, package: str) -> str:
    """Return the path of a program; without it skip the test, or fail it in CI, saying what to install."""
    path = shutil.which(name)
    if path is None:
        _without(f"this test needs {name}: install the package {package}")
    return path


def extra(module: str, name: str) -> None:
    """Skip the test, or fail it in CI, where the module of an optional dependency is not installed, saying how to."""
    if importlib.util.find_spec(module) is None:
        _without(f"this test needs {module}: .venv/bin/pip install -e '.[{name}]'")


def peers() -> Path:
    """Return the interpreter of the environment with rliable, build/peers; without it skip, or fail in CI."""
    python = Path(__file__).parents[2] / "build" / "peers" / "bin" / "python"
    if not python.exists():
        _without("this test needs rliable in a separate environment: make peers")
    return python


def _without(message: str) -> NoReturn:
    if os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message)
