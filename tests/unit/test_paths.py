"""Names in folders and file names: by a pattern, by the conventions of other programs, or refused with an example."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest

from untuned.adapters.score_files.opening import files_below
from untuned.adapters.score_files.paths import stem, with_names
from untuned.adapters.score_files.rows import Rows, gathered
from untuned.adapters.sources import read_scores
from untuned.errors import InvalidInput

Names = tuple[object, object, object]


def log(path: str, **known: Any) -> Rows:
    """Return the rows of a log that says nothing about itself."""
    return Rows(path, np.array([1.0, 2.0]), step=np.array([1.0, 2.0]), path=path, **known)


def named(paths: Sequence[str], pattern: str | None = None, **known: Any) -> list[Names]:
    """Return algorithm, environment and run of every log."""
    parts = list(with_names([log(path, **known) for path in paths], paths, pattern))
    gathered(parts)
    return [(part.algorithm, part.environment, part.run) for part in parts]


def refusal(paths: Sequence[str], pattern: str | None = None, **known: Any) -> str:
    with pytest.raises(InvalidInput) as error:
        named(paths, pattern, **known)
    return str(error.value)


# --- patterns


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("{algorithm}/{environment}/{seed}", "logs/ppo/CartPole/3/progress.csv", ("ppo", "CartPole", "3")),
        ("{algo}/{env}/{trial}", "logs/ppo/CartPole/3/progress.csv", ("ppo", "CartPole", "3")),
        ("{algorithm}/{environment}/{run}", "logs/ppo/CartPole/3/progress.csv", ("ppo", "CartPole", "3")),
        ("/{algorithm}/{environment}/{seed}/", "logs/ppo/CartPole/3/progress.csv", ("ppo", "CartPole", "3")),
        ("{environment}/{algorithm}_s{seed}", "logs/CartPole/ppo_s3/progress.csv", ("ppo", "CartPole", "3")),
        ("{algorithm}/*/{environment}/{seed}", "logs/ppo/2024-01-02/CartPole/3/a.csv", ("ppo", "CartPole", "3")),
        ("{algorithm}/{environment}/{seed}_*", "logs/ppo/CartPole/3_abc/a.csv", ("ppo", "CartPole", "3")),
        ("{algorithm}-*/{environment}/{seed}", "logs/ppo-v2-x/CartPole/3/a.csv", ("ppo", "CartPole", "3")),
        ("{algorithm}/{environment}/{seed}.csv", "logs/ppo/CartPole/3.csv", ("ppo", "CartPole", "3")),
        ("{algorithm}/{environment}/*-{seed}.csv", "logs/ppo/CartPole/log-3.csv", ("ppo", "CartPole", "3")),
        ("{algorithm}_{environment}_{seed}", "ppo_CartPole_3.csv", ("ppo", "CartPole", "3")),
        ("{algorithm}_{environment}_{seed}.csv", "ppo_CartPole_3.csv", ("ppo", "CartPole", "3")),
        ("{algorithm}_{environment}_{seed}", "ppo_CartPole_3.json.gz", ("ppo", "CartPole", "3")),
        ("{environment}__{algorithm}__{seed}", "runs/CartPole-v1__ppo__1__17/e.csv", ("ppo", "CartPole-v1", "1__17")),
        ("a.b+({algorithm})/{environment}/{seed}", "a.b+(ppo)/CartPole/3/p.csv", ("ppo", "CartPole", "3")),
        ("{algorithm}/{environment}/{seed}", "Sarsa(λ)/Größe 5/3/p.csv", ("Sarsa(λ)", "Größe 5", "3")),
    ],
)
def test_patterns(pattern: str, path: str, expected: Names) -> None:
    assert named([path], pattern) == [expected]


def test_a_pattern_ends_where_the_file_s_name_ends_or_begins() -> None:
    """The suffix is not part of a name in the file's name."""
    assert named(["ppo/CartPole.csv"], "{algorithm}/{environment}") == [("ppo", "CartPole", "ppo")]
    assert named(["ppo.csv"], "{algorithm}", environment="x") == [("ppo", "x", "ppo.csv")]


def test_a_pattern_decides_against_a_convention() -> None:
    path = "runs/CartPole-v1__ppo__1__1690000000/events.csv"
    assert named([path], "{algorithm}/{environment}") == [("runs", path.split("/")[1], path.rpartition("/")[0])]


def test_what_differs_otherwise_tells_runs_apart() -> None:
    """Without {seed}, a folder is a run."""
    paths = [f"logs/ppo/CartPole/{day}/p.csv" for day in ("monday", "tuesday")]
    found = named(paths, "{algorithm}/{environment}/*")
    assert [each[:2] for each in found] == [("ppo", "CartPole")] * 2
    assert found[0][2] != found[1][2]


def test_what_a_file_says_itself_is_not_taken_from_its_path() -> None:
    found = named(["logs/ppo/CartPole/3/p.csv"], "{algorithm}/{environment}/{seed}", algorithm="PPO")
    assert found == [("PPO", "CartPole", "3")]


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("{algoritm}/{environment}", "{algoritm}; write {algorithm}, {environment} and {seed}"),
        ("{algorithm}/{Environment}", "{Environment}; write"),
        ("{}/{environment}", "{}; write"),
        ("{algorithm}/{environment}/{lr}", "{lr}; write"),
        ("logs/*", "it names nothing"),
        ("", "it names nothing"),
        ("{algorithm", "it names nothing"),
        ("{algorithm}/{environment}/{algorithm}", "each name may stand in it once"),
        ("{seed}/{run}/{algorithm}/{environment}", "each name may stand in it once"),
        ("{algo}/{algorithm}/{environment}", "each name may stand in it once"),
    ],
)
def test_patterns_that_are_none(pattern: str, said: str) -> None:
    assert said in refusal(["a/b/c/d.csv"], pattern)


@pytest.mark.parametrize("pattern", ["{algorithm}/{environment}/{seed}/x/y", "run-{algorithm}/{environment}/{seed}"])
def test_a_pattern_that_does_not_fit_names_the_file(pattern: str) -> None:
    said = refusal(["logs/ppo/CartPole/3/p.csv"], pattern)
    assert f"--pattern {pattern} does not fit logs/ppo/CartPole/3/p.csv" in said


@pytest.mark.parametrize(
    ("pattern", "absent"), [("{seed}", "{algorithm} and no {environment}"), ("{environment}/{seed}", "{algorithm}")]
)
def test_a_pattern_that_leaves_names_out(pattern: str, absent: str) -> None:
    said = refusal(["logs/ppo/CartPole/3/p.csv"], pattern)
    assert f"--pattern {pattern} has no {absent}" in said
    assert "logs/ppo/CartPole/3/p.csv" in said


# --- conventions


def test_the_folders_of_cleanrl() -> None:
    paths = [
        f"runs/{environment}__{algorithm}__{seed}__{1690000000 + 7 * seed}/events.out.tfevents.0"
        for environment in ("CartPole-v1", "BreakoutNoFrameskip-v4")
        for algorithm in ("ppo", "dqn_atari", "ppo_continuous_action")
        for seed in (1, 2)
    ]
    assert named(paths) == [
        (algorithm, environment, str(seed))
        for environment in ("CartPole-v1", "BreakoutNoFrameskip-v4")
        for algorithm in ("ppo", "dqn_atari", "ppo_continuous_action")
        for seed in (1, 2)
    ]
    assert named(paths[:1]) == [("ppo", "CartPole-v1", "1")]


def test_the_folders_of_rl_zoo() -> None:
    paths = [
        f"logs/{algorithm}/{environment}_{number}/evaluations.npz"
        for algorithm in ("ppo", "a2c")
        for environment in ("CartPole-v1", "Pendulum-v1", "PongNoFrameskip-v4")
        for number in (1, 2, 11)
    ]
    assert named(paths) == [
        (algorithm, environment, number)
        for algorithm in ("ppo", "a2c")
        for environment in ("CartPole-v1", "Pendulum-v1", "PongNoFrameskip-v4")
        for number in ("1", "2", "11")
    ]
    assert named(["logs/ppo/CartPole-v1_1/evaluations.npz"]) == [("ppo", "CartPole-v1", "1")]


@pytest.mark.parametrize(
    "form",
    [
        "multirun/algo={a},env={e},seed={s}/metrics.csv",
        "multirun/env={e},algorithm={a},seed={s}/metrics.csv",
        "multirun/agent={a}/task={e}/seed={s}/metrics.csv",
        "multirun/2024-01-02/method={a},game={e},lr=0.001,run={s}/metrics.csv",
        "multirun/ALGO={a},env_id={e},trial={s}/metrics.csv",
    ],
)
def test_the_folders_of_hydra(form: str) -> None:
    cases = [(a, e, s) for a in ("ppo", "sac") for e in ("cheetah-run", "walker-walk") for s in ("0", "1")]
    assert named([form.format(a=a, e=e, s=s) for a, e, s in cases]) == cases
    assert named([form.format(a="ppo", e="x", s="7")]) == [("ppo", "x", "7")]


def test_assigned_names_of_other_things_are_no_names() -> None:
    assert "--pattern" in refusal(["out/lr=0.1,batch=32/m.csv", "out/lr=0.2,batch=32/m.csv"])


# --- guesses


CASES = [(a, e, s) for a in ("ppo", "dqn") for e in ("CartPole-v1", "Acrobot-v1") for s in ("0", "1")]


@pytest.mark.parametrize(
    "form",
    [
        "logs/{a}/{e}/{s}/progress.csv",
        "logs/{e}/{a}/{s}/progress.csv",
        "logs/{s}/{a}/{e}/progress.csv",
        "logs/{a}/{e}/seed_{s}/progress.csv",
        "logs/{a}/{e}/run-{s}/eval/progress.csv",
        "logs/{a}/{e}/{s}.csv",
        "logs/{a}/{s}/{e}.csv",
        "{a}/{e}/s{s}/progress.csv",
    ],
)
def test_layouts_that_can_be_read_in_one_way(form: str) -> None:
    found = named([form.format(a=a, e=e, s=s) for a, e, s in CASES])
    assert [each[:2] for each in found] == [(a, e) for a, e, _ in CASES]
    assert [str(each[2]).lstrip("sedrun_-") for each in found] == [s for *_, s in CASES]


def test_several_roots() -> None:
    """Every folder that the user named is a separate level."""
    paths = [f"{a}/{e}/{s}/progress.csv" for a, e, s in CASES]
    assert named(paths) == CASES


def test_one_seed_is_a_run_whatever_it_is_called() -> None:
    paths = [f"logs/{a}/{e}/0/p.csv" for a in ("ppo", "dqn") for e in ("CartPole-v1", "Acrobot-v1")]
    found = named(paths)
    assert [each[:2] for each in found] == [(a, e) for a in ("ppo", "dqn") for e in ("CartPole-v1", "Acrobot-v1")]
    assert len({each[2] for each in found}) == 4


@pytest.mark.parametrize(
    "paths",
    [
        [f"logs/{a}/{e}/{s}/p.csv" for a in ("ppo", "dqn") for e in ("maze", "arm") for s in "01"],
        [f"logs/ppo/{e}/{s}/p.csv" for e in ("maze", "arm") for s in "01"],
        [f"logs/{a}/{s}/p.csv" for a in ("ppo", "dqn") for s in "01"],
        ["logs/ppo/CartPole-v1/0/p.csv"],
        ["logs/p.csv"],
        ["p.csv"],
        ["logs/ppo/maze/p.csv", "logs/dqn/p.csv"],
        ["logs/a/b/c/d/p.csv", "logs/p.csv"],
        [f"logs/{a}/CartPole-v1/{d}/{s}/p.csv" for a in ("ppo", "dqn") for d in ("mon", "tue") for s in "01"],
    ],
    ids=["two words", "one algorithm", "no environment", "one file", "shallow", "bare", "uneven", "deep", "dates"],
)
def test_layouts_that_can_be_read_in_several_ways_are_refused(paths: list[str]) -> None:
    said = refusal(paths)
    assert paths[0] in said or paths[-1] in said
    assert "does not say which algorithm" in said or "does not say which environment" in said
    assert "for example --pattern '" in said


@pytest.mark.parametrize(
    ("path", "known"),
    [
        ("p.csv", {}),
        ("logs/p.csv", {}),
        ("logs/x/p.csv", {}),
        ("logs/x/y/p.csv", {}),
        ("logs/x/y/z/p.csv", {}),
        ("logs/x/y/z/p.csv", {"run": "1"}),
    ],
)
def test_the_example_names_what_is_absent_and_is_a_pattern(path: str, known: dict[str, str]) -> None:
    example = refusal([path], **known).split("--pattern '")[1].split("'")[0]
    assert "{algorithm}" in example
    assert "{environment}" in example
    fitting = example.replace("{algorithm}", "A").replace("{environment}", "E").replace("{seed}", "3")
    found = named([f"top/{fitting}/p.csv"], example)
    assert found == [("A", "E", "3")]


def test_one_unknown_name_of_one_file_is_its_name() -> None:
    assert named(["ppo.csv"], environment="x") == [("ppo", "x", "ppo.csv")]
    assert [each[0] for each in named(["ppo.csv", "dqn.csv"], environment="x", run="1")] == ["ppo", "dqn"]


def test_two_folders_that_are_the_same_run_are_not_put_together() -> None:
    """A seed that was run twice, or with other hyperparameters: not one run, whose points would be averaged."""
    paths = ["runs/CartPole-v1__ppo__1__1690000000/e.csv", "runs/CartPole-v1__ppo__1__1690000777/e.csv"]
    said = refusal(paths)
    assert f"{paths[0][:-6]} and {paths[1][:-6]} are both run '1' of 'ppo' on 'CartPole-v1'" in said
    pattern = said.split("--pattern '")[1].split("'")[0]
    assert [each[2] for each in named(paths, pattern)] == ["1__1690000000", "1__1690000777"]
    paths = [f"out/lr={lr}/algo=ppo,env=x,seed=1/m.csv" for lr in (0.1, 0.2)]
    assert "are both run '1'" in refusal(paths)


def test_two_files_of_one_folder_are_one_run() -> None:
    """As event files are after a run was resumed."""
    paths = [f"runs/CartPole-v1__ppo__1__1690000000/events.{number}" for number in (0, 1)]
    assert named(paths) == [("ppo", "CartPole-v1", "1")] * 2


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a/b.csv", "b"),
        ("b.json.gz", "b"),
        ("b.CSV", "b"),
        ("b.monitor.csv", "b.monitor"),
        ("v1.5", "v1.5"),
        (".csv", ".csv"),
    ],
)
def test_endings(path: str, expected: str) -> None:
    assert stem(path) == expected


# --- files


def test_files_below_a_folder_are_found_by_name(tmp_path: Path) -> None:
    for name in ("b/2.csv", "b/1.csv", "a/z.csv", ".hidden/1.csv", "b/.3.csv", "empty.csv"):
        (tmp_path / "logs" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "logs" / name).write_text("" if name == "empty.csv" else "x")
    found = [file.below for file in files_below(tmp_path / "logs")]
    assert found == ["logs/a/z.csv", "logs/b/1.csv", "logs/b/2.csv"]


def test_a_table_needs_no_names_from_its_path(tmp_path: Path) -> None:
    frame = polars.DataFrame({"algorithm": ["a"], "environment": ["x"], "score": [1.0]})
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        frame.write_csv(tmp_path / name / "scores.csv")
    table = read_scores(tmp_path)
    assert (table.algorithms, table.environments, table.runs) == (("a",), ("x",), None)
    assert table.trials.tolist() == [[2]]


def test_a_pattern_names_the_runs_of_tables(tmp_path: Path) -> None:
    frame = polars.DataFrame({"algorithm": ["a", "b"], "environment": ["x", "x"], "score": [1.0, 2.0]})
    for seed in (4, 5):
        (tmp_path / f"seed{seed}").mkdir()
        frame.write_csv(tmp_path / f"seed{seed}" / "scores.csv")
    table = read_scores(tmp_path, pattern="seed{seed}")
    assert table.runs is not None
    assert table.runs[1][0].tolist() == ["4", "5"]
