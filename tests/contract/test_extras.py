"""A plain install judges tables and runs compiled studies; everything else says which extra to install."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from support.documents import ROOT

pytestmark = pytest.mark.slow

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
#: The modules that the extras bring, themselves or through what they depend on.
ABSENT = (
    *("matplotlib", "PIL", "contourpy", "kiwisolver", "fontTools", "jinja2", "markupsafe"),
    *("gymnasium", "farama_notifications", "ray", "stable_baselines3", "pandas", "pyarrow"),
)
#: What a public name needs beyond a plain install.
NEEDED = {
    "DescribedEnvironment": "gymnasium",
    "GymnasiumEnvironment": "gymnasium",
    "Report": "report",
    "figures": "figures",
    "from_gymnasium": "gymnasium",
    "reproduce": "report",
    "sb3": "sb3",
    "train_trial": "gymnasium",
}
STUDY = """
name = "plain"
seed = 1
trials = 3
algorithms = ["sarsa-parl2", "tuned-within[sarsa-s,4]"]
environments = ["chain-10-deterministic", "gridworld-5-deterministic"]
"""
GYMNASIUM_STUDY = """
name = "more"
seed = 1
trials = 1
algorithms = ["sarsa-parl2"]
environments = [{ gymnasium = "CartPole-v1", episodes = 2, score_range = [0, 500] }]
"""
TRAINED_STUDY = """
name = "more"
seed = 1
trials = 1
algorithms = [{ use = "mine:train", name = "mine" }]
environments = ["chain-10-deterministic"]
"""


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the environment variables under which Python, and every process it starts, finds no extra."""
    folder = tmp_path_factory.mktemp("plain")
    blocking = f"import sys\nfor name in {ABSENT!r}:\n    sys.modules[name] = None\n"
    (folder / "sitecustomize.py").write_text(blocking, encoding="utf-8")
    paths = [str(folder), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def python(plain: dict[str, str], *arguments: str, cwd: Path | None = None) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, *arguments]
    return subprocess.run(command, env=plain, cwd=cwd, capture_output=True, text=True, timeout=1200, check=False)


def untuned(plain: dict[str, str], cwd: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return python(plain, "-m", "untuned", *arguments, cwd=cwd)


def test_every_public_name_is_there_or_names_its_extra(plain: dict[str, str]) -> None:
    program = """
import json, untuned
missing = {}
for name in untuned.__all__:
    try:
        getattr(untuned, name)
    except untuned.MissingExtra as error:
        missing[name] = str(error)
print(json.dumps(missing))
"""
    finished = python(plain, "-c", program)
    assert finished.returncode == 0, finished.stderr
    missing = json.loads(finished.stdout)
    assert set(missing) == set(NEEDED)
    for name, message in missing.items():
        assert message.endswith(f"pip install 'untuned[{NEEDED[name]}]'"), message


def test_a_function_that_needs_an_extra_names_it(plain: dict[str, str]) -> None:
    program = """
import untuned
evaluation = untuned.evaluate({"a": {"maze": [1, 2], "arm": [1, 2]}, "b": {"maze": [2, 3], "arm": [1, 3]}})
try:
    untuned.report(evaluation)
except untuned.MissingExtra as error:
    print(error)
"""
    finished = python(plain, "-c", program)
    assert finished.returncode == 0, finished.stderr
    assert "untuned[report]" in finished.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["--version"],
        ["list"],
        ["list", "environments", "--json"],
        ["list", "intervals"],
        ["list", "populations"],
        ["evaluate", str(ROOT / "examples" / "scores.csv")],
        ["evaluate", str(ROOT / "examples" / "scores.csv"), "--json"],
        ["evaluate", str(ROOT / "examples" / "scores.csv"), "--format", "latex", "--pairs"],
        ["trial", "sarsa-parl2", "chain-10-deterministic", "--plot"],
    ],
    ids=lambda arguments: " ".join(Path(each).name for each in arguments),
)
def test_a_plain_install_does_it(plain: dict[str, str], tmp_path: Path, arguments: list[str]) -> None:
    finished = untuned(plain, tmp_path, *arguments)
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout
    if "--json" in arguments:
        json.loads(finished.stdout)


def test_a_plain_install_runs_a_study_of_compiled_algorithms(plain: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY, encoding="utf-8")
    finished = untuned(plain, tmp_path, "run", "study.toml", "--quiet")
    assert finished.returncode == 0, finished.stderr
    (folder,) = (each.parent for each in tmp_path.rglob("results.sqlite"))
    for arguments in (["status", str(folder)], ["export", str(folder)], ["evaluate", str(folder)]):
        finished = untuned(plain, tmp_path, *arguments)
        assert finished.returncode == 0, finished.stderr


@pytest.mark.parametrize(
    ("arguments", "extra"),
    [
        (["report", str(ROOT / "examples" / "scores.csv"), "--out", "page.html"], "report"),
        (["reproduce", "--out", "reproduction"], "report"),
        (["coverage", "--out", "coverage"], "figures"),
        (["run", "gymnasium.toml"], "gymnasium"),
        (["run", "trained.toml"], "gymnasium"),
        (["run", "study.toml", "--engine", "ray"], "ray"),
    ],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
def test_a_command_that_needs_an_extra_names_it_before_it_works(
    plain: dict[str, str], tmp_path: Path, arguments: list[str], extra: str
) -> None:
    for name, text in (("study", STUDY), ("gymnasium", GYMNASIUM_STUDY), ("trained", TRAINED_STUDY)):
        (tmp_path / f"{name}.toml").write_text(text, encoding="utf-8")
    (tmp_path / "mine.py").write_text("def train(environment, draw):\n    pass\n", encoding="utf-8")
    finished = untuned(plain, tmp_path, *arguments)
    assert finished.returncode == 2, finished.stdout
    (message,) = finished.stderr.splitlines()
    assert message.endswith(f"pip install 'untuned[{extra}]'"), message


def test_a_wrong_name_is_no_missing_extra(plain: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY.replace("sarsa-parl2", "sarsa-parl3"), encoding="utf-8")
    finished = untuned(plain, tmp_path, "run", "study.toml")
    assert finished.returncode == 2
    assert "did you mean 'sarsa-parl2'" in finished.stderr


def test_every_extra_that_a_message_names_exists() -> None:
    source = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    named = set(re.findall(r'\bneeds\("(\w+)"', source)) | set(re.findall(r"untuned\[(\w+)\]", source))
    named |= set(re.findall(r'MissingExtra\("[^"]+", "(\w+)"', source))
    assert named
    assert named <= set(EXTRAS)


def test_the_core_is_what_judging_a_table_needs() -> None:
    names = {re.split(r"[^\w-]", each)[0] for each in PROJECT["dependencies"]}
    assert names == {"numba", "numpy", "platformdirs", "polars", "rich", "scipy", "typer"}


def test_all_has_every_extra_of_users() -> None:
    def resolved(extra: str) -> set[str]:
        found: set[str] = set()
        for each in EXTRAS[extra]:
            inner = re.fullmatch(r"untuned\[(.*)\]", each)
            found |= {each} if inner is None else set().union(*map(resolved, inner[1].split(",")))
        return found

    users = set(EXTRAS) - {"all", "docs", "dev", "importers-test"}
    assert resolved("all") == set().union(*map(resolved, users))
    assert resolved("dev") >= resolved("all") - set(EXTRAS["sb3"])
