"""The comparison with published means: its figures, its file, and its answers to mistakes."""

import json
import math
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import untuned
from support.calling import refuse
from support.processes import python
from untuned.collect.kernels.jit import INTERPRETED
from untuned.reproduction.published import means

PROGRAM = Path(__file__).parents[2] / "benchmarks" / "fidelity.py"
CELL = ("--environments", "chain-10-deterministic", "--algorithms", "sarsa")

pytestmark = pytest.mark.skipif(INTERPRETED, reason="minutes for a plain interpreter")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return python(str(PROGRAM), "--workers", "1", *arguments)


def six_digits(number: Any) -> Any:
    """Return a number as the file has it."""
    return pytest.approx(float(f"{float(number):.6g}"))


def lines(*arguments: str) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fidelity.json"
        finished = run("--json", str(path), *arguments)
        assert finished.returncode == 0, finished.stderr
        found: list[dict[str, Any]] = json.loads(path.read_text(), parse_constant=refuse)["rows"]
    return found


@pytest.fixture
def published(tmp_path: Path) -> Path:
    path = tmp_path / "published.csv"
    path.write_text("environment,algorithm,mean\nchain-10-deterministic,sarsa,-27.9\ncart-pole,ppo,3\n")
    return path


def test_the_file_has_every_figure(published: Path) -> None:
    names = ("--environments", "chain-10-deterministic", "--algorithms", "sarsa", "q", "--seed", "5")
    with_it, without = lines("--trials", "6", "--against", str(published), *names)
    fields = [
        "environment",
        "algorithm",
        "trials",
        "mean",
        "published",
        "z",
        "sd",
        "median",
        "minimum",
        "diverged",
        "steps",
        "seconds",
    ]
    assert list(with_it) == list(without) == fields
    results = [untuned.run_trial("sarsa", "chain-10-deterministic", seed=5, trial=trial) for trial in range(6)]
    scores = [result.score for result in results]
    assert (with_it["environment"], with_it["algorithm"]) == ("chain-10-deterministic", "sarsa")
    assert with_it["trials"] == 6
    assert with_it["mean"] == six_digits(np.mean(scores))
    assert with_it["median"] == six_digits(np.median(scores))
    assert with_it["minimum"] == six_digits(min(scores))
    assert with_it["sd"] == six_digits(np.std(scores, ddof=1))
    assert with_it["diverged"] == 0.0
    assert with_it["steps"] == six_digits(np.mean([result.steps for result in results]))
    assert with_it["published"] == -27.9
    error = np.std(scores, ddof=1) * math.sqrt(1 / 6 + 1 / 10_000)
    assert with_it["z"] == six_digits((np.mean(scores) + 27.9) / error)
    # A cell that the file does not have is run and not compared.
    assert without["algorithm"] == "q"
    assert without["published"] is without["z"] is None


@pytest.mark.parametrize(
    "names",
    [
        ("--environments", "chain-10-deterministic,chain-10-stochastic", "--algorithms", "sarsa,q"),
        ("--environments", "chain-10-deterministic", "chain-10-stochastic", "--algorithms", "sarsa", "q"),
        ("--environments", "chain-10-deterministic, chain-10-stochastic,", "--algorithms", "sarsa", ",q"),
    ],
)
def test_lists_with_commas_and_with_spaces(names: tuple[str, ...]) -> None:
    found = [(line["environment"], line["algorithm"]) for line in lines("--trials", "2", *names)]
    environments = ("chain-10-deterministic", "chain-10-stochastic")
    assert found == [(place, name) for place in environments for name in ("sarsa", "q")]


def test_a_comma_inside_brackets_belongs_to_the_name() -> None:
    (line,) = lines("--trials", "1", *CELL[:2], "--algorithms", "tuned-within[sarsa,2]")
    assert line["algorithm"] == "tuned-within[sarsa,2]"


def test_the_number_of_workers_changes_nothing(published: Path) -> None:
    arguments = ("--trials", "9", "--against", str(published), *CELL)
    one, three = lines(*arguments), lines(*arguments, "--workers", "3")
    for line in (*one, *three):
        assert line.pop("seconds") > 0
    assert one == three


def test_the_table_and_what_is_said_of_it(published: Path) -> None:
    finished = run("--trials", "4", "--against", str(published), *CELL)
    assert finished.returncode == 0
    heading, row = finished.stdout.splitlines()
    assert heading.split() == ["environment", "algorithm", "trials", "mean", "median", "published", "z"]
    assert row.split()[:3] == ["chain-10-deterministic", "sarsa", "4"]
    assert row.split()[5] == "-27.9"
    assert finished.stderr.startswith("1 cells compared: ")


def test_without_a_file_the_paper_s_means_are_compared_with() -> None:
    finished = run("--trials", "2", *CELL)
    assert finished.stderr.startswith("1 cells compared")
    # The paper's Sarsa on Chain 10.
    assert finished.stdout.splitlines()[1].split()[5] == f"{means()['sarsa', 'chain-10-deterministic'].value:.1f}"


def test_where_nothing_is_published_nothing_is_compared() -> None:
    finished = run("--trials", "2", "--environments", "chain-50-stochastic", "--algorithms", "sarsa-parl2")
    assert len(finished.stdout.splitlines()[1].split()) == 5
    assert "compared" not in finished.stderr


def refused(finished: subprocess.CompletedProcess[str], *messages: str) -> None:
    assert finished.returncode == 2, finished.stderr
    assert finished.stdout == ""
    assert "Traceback" not in finished.stderr
    for message in messages:
        assert message in finished.stderr


COLUMNS = "needs columns environment, algorithm and mean, with a number in the last"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a,b,c\n1,2,3\n", COLUMNS),
        (b"environment,algorithm,score\ncart-pole,sarsa,3\n", COLUMNS),
        (b"environment,algorithm,mean\ncart-pole,sarsa,many\n", COLUMNS),
        (b"environment,algorithm,mean\ncart-pole,sarsa,\n", COLUMNS),
        (b"\xff\xfe\x00", COLUMNS),
    ],
)
def test_a_file_that_is_none_of_means_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "published.csv"
    path.write_bytes(content)
    refused(run("--trials", "1", "--against", str(path), *CELL), message, "published.csv")


@pytest.mark.parametrize(
    "content",
    [
        b"environment,algorithm,mean\nchain-10-deterministic,sarsa\n",
        b"",
        b"some,other,columns\n",
        b"environment,algorithm,mean\nchain-10-deterministic,sarsa,nan\n",
    ],
    ids=["short row", "empty", "wrong columns and no rows", "nan"],
)
def test_a_file_with_holes_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "published.csv"
    path.write_bytes(content)
    refused(run("--trials", "1", "--against", str(path), *CELL), COLUMNS)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--environments", "card-pole"), "did you mean 'cart-pole'"),
        ((*CELL[:2], "--algorithms", "sarsa,sarsaa"), "did you mean 'sarsa'"),
        ((*CELL, "--against", "nowhere.csv"), "nowhere.csv"),
        ((*CELL, "--trials", "0"), "--trials and --workers are 1 or more"),
        ((*CELL, "--workers", "-1"), "--trials and --workers are 1 or more"),
        ((*CELL, "--trials", "some"), "--trials"),
        ((*CELL, "--precision", "float16"), "--precision"),
    ],
)
def test_mistakes_are_said_in_words(arguments: tuple[str, ...], message: str) -> None:
    refused(run(*arguments), message)


@pytest.mark.parametrize(
    "arguments",
    [(*CELL, "--seed", "-1"), (*CELL[:2], "--algorithms", "tuned-within[sarsa,70]")],
    ids=["seed", "candidates"],
)
def test_mistakes_that_trials_find_are_said_in_words(arguments: tuple[str, ...]) -> None:
    refused(run("--trials", "1", *arguments))


def test_a_single_trial_has_no_z(published: Path) -> None:
    (line,) = lines("--trials", "1", "--against", str(published), *CELL)
    assert line["z"] is None
