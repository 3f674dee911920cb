"""Files next to a study that are called like other modules: none of them is run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support import needs

#: Standard modules that workers, the command line or its libraries import, and two that are not installed.
NAMES = (
    *("html", "random", "socket", "tempfile", "pickle", "struct", "queue", "selectors", "resource", "heapq", "bisect"),
    *("statistics", "secrets", "inspect", "textwrap", "csv", "json", "uuid", "logging", "sqlite3", "cProfile", "zlib"),
    *("multiprocessing", "numpy", "gymnasium", "IPython", "orjson", "typing", "enum", "re"),
)

STUDY = """
name = "s"
trials = 30
algorithms = [{algorithms}]
environments = ["chain-10-stochastic"]
"""

OWN = """
import helper

def train(environment, draw):
    import random
    random.random()
    helper.train(environment)
"""

HELPER = """
def train(environment):
    while True:
        environment.reset()
        done = False
        while not done:
            _, _, terminated, truncated, _ = environment.step(0)
            done = terminated or truncated
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in NAMES:
        (tmp_path / f"{name}.py").write_text(
            f"import os\nos.close(os.open({str(tmp_path / f'ran-{name}')!r}, os.O_CREAT | os.O_WRONLY))\n"
        )
    return tmp_path


def run(folder: Path, *command: str) -> "subprocess.CompletedProcess[str]":
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONSAFEPATH")}
    environment["RAY_USAGE_STATS_ENABLED"] = "0"
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


def ran(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("ran-*"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "algorithms"),
    [(("-m", "untuned"), '"sarsa", "q"'), ((str(Path(sys.executable).parent / "untuned"),), '{ use = "own:train" }')],
)
def test_no_file_replaces_another_module(program: tuple[str, ...], algorithms: str, folder: Path) -> None:
    (folder / "study.toml").write_text(STUDY.format(algorithms=algorithms))
    (folder / "own.py").write_text(OWN)
    (folder / "helper.py").write_text(HELPER)
    start = [sys.executable] if program[0] == "-m" else []
    finished = run(folder, *start, *program, "collect", "study.toml", "--workers", "2")
    assert (finished.returncode, ran(folder)) == (0, []), finished.stderr


@pytest.mark.slow
def test_nor_in_a_worker_for_compiled_work(folder: Path) -> None:
    code = (
        "import sys; del sys.path[0]; "
        "from untuned.collect.engines import schedule; schedule._SHORT, schedule._WORTH = 1e9, -1.0; "
        "from untuned.cli.main import main; main()"
    )
    (folder / "study.toml").write_text(STUDY.format(algorithms='"sarsa", "q"').replace("30", "300"))
    finished = run(folder, sys.executable, "-c", code, "collect", "study.toml", "--workers", "2")
    assert (finished.returncode, ran(folder)) == (0, []), finished.stderr


@pytest.mark.slow
@pytest.mark.ray
def test_nor_in_a_worker_of_a_cluster(folder: Path) -> None:
    needs.extra("ray", "ray")
    (folder / "study.toml").write_text(STUDY.format(algorithms='"sarsa", { use = "own:train" }'))
    (folder / "own.py").write_text(OWN)
    (folder / "helper.py").write_text(HELPER)
    finished = run(
        folder, sys.executable, "-m", "untuned", "collect", "study.toml", "--engine", "ray", "--workers", "2"
    )
    assert (finished.returncode, ran(folder)) == (0, []), finished.stderr


@pytest.mark.parametrize("name", ["random", "time"])
def test_a_module_of_the_studys_that_has_anothers_name_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / f"{name}.py").write_text(OWN)
    (tmp_path / "study.toml").write_text(STUDY.format(algorithms=f'{{ use = "{name}:train", name = "mine" }}'))
    finished = run(tmp_path, sys.executable, "-m", "untuned", "collect", "study.toml")
    assert finished.returncode != 0
    assert f"give {name}.py another name" in " ".join(finished.stderr.split())
