"""A study's file: what may be in it, and what is said of everything else, with the place where it stands."""

import functools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from untuned.collect.metrics import metric
from untuned.collect.study import Study
from untuned.errors import InvalidInput, UnknownName

WHOLE = """\
name = "first"
seed = 3
trials = 20
algorithms = [
  "sarsa",            # one of ours
  { use = "mine:train", name = "my own" },
]
environments = [
  "chain-10-stochastic",
  { name = "cart-pole", trials = 5, randomize = false },
  { gymnasium = "CartPole-v1", episodes = 100, score_range = [0, 500] },
]
metric = "last-10"
keep = "returns"
failures = "error"
time_limit = 2.5
precision = "float32"
"""


def test_a_whole_study() -> None:
    study = Study.parse(WHOLE)
    assert (study.name, study.seed, study.trials, study.metric) == ("first", 3, 20, "last-10")
    assert (study.keep, study.failures, study.time_limit, study.precision) == ("returns", "error", 2.5, "float32")
    assert [(each.use, each.name) for each in study.algorithms] == [("sarsa", None), ("mine:train", "my own")]
    chain, cart_pole, theirs = study.environments
    assert chain.use == "chain-10-stochastic"
    assert (cart_pole.use, cart_pole.trials, cart_pole.options) == ("cart-pole", 5, {"randomize": False})
    assert theirs.gymnasium
    assert theirs.options == {"episodes": 100, "score_range": [0, 500]}


def test_arrays_of_tables_are_the_same() -> None:
    text = 'name = "x"\ntrials = 1\n[[algorithms]]\nuse = "a:b"\n[[environments]]\nname = "cart-pole"\n'
    study = Study.parse(text)
    assert study.algorithms[0].use == "a:b"
    assert study.environments[0].use == "cart-pole"
    with pytest.raises(InvalidInput, match=r"line 5: environments\[0\]: trials = -1"):
        Study.parse(text + "trials = -1\n")
    escaped = text.replace("[[env", '[["\\u0061lgorithms"]]\nuse = "c:d"\nnam = "e"\n[[env')
    with pytest.raises(InvalidInput, match=r"algorithms\[1\]: 'nam' is not a key"):
        Study.parse(escaped)


SMALL = 'name = "x"\ntrials = 10\nalgorithms = ["sarsa"]\nenvironments = ["cart-pole"]\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (SMALL.replace("trials", "trails"), ("study.toml, line 2", "'trails' is not a key", "did you mean 'trials'")),
        (SMALL.replace("10", "0"), ("line 2", "trials=0")),
        (SMALL.replace("10", '"many"'), ("line 2", "trials")),
        (SMALL.replace('"x"', "3"), ("line 1", "name")),
        (SMALL.replace('["sarsa"]', "[]"), ("line 3", "the list is empty", "untuned list algorithms")),
        (SMALL.replace('["sarsa"]', '"sarsa"'), ("line 3", "is not a list")),
        (SMALL.replace('["sarsa"]', '["sarsa",\n {use = "a:b", nam = "c"}]'), ("line 4", "did you mean 'name'")),
        (SMALL.replace('["sarsa"]', '["sarsa", {}]'), ("line 3", "algorithms[1]", "no algorithm in it")),
        (SMALL.replace('["cart-pole"]', "[\n# nothing\n{trials = 3}]"), ("line 6", "no environment in it")),
        (SMALL + "seed = -1\n", ("line 5", "seed=-1")),
        (SMALL + 'keep = "all"\n', ("line 5", "keep", "scores")),
        (SMALL + 'failures = "drop"\n', ("line 5", "failures", "worst")),
        (SMALL + "time_limit = 0\n", ("line 5", "time_limit")),
        (SMALL + 'precision = "half"\n', ("line 5", "precision", "float32")),
        (SMALL + "score_range = [1, 0]\n", ("line 5", "score_range")),
        ("trials = 1\n", ("has no 'name'", "untuned new")),
        ('name = "x\n', ("not TOML", "line 1")),
    ],
)
def test_mistakes_say_where_they_are(text: str, words: tuple[str, ...]) -> None:
    with pytest.raises(InvalidInput) as caught:
        Study.parse(text)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"seed = {'9' * 5000}\n", "a number of thousands of digits"),
        (f"seed = 0x{'f' * 5000}\n", "a number of thousands of digits"),
        (f"metric = {'[' * 5000}{']' * 5000}\n", "nested too deeply"),
        (f"metric = {'{a=' * 5000}1{'}' * 5000}\n", "nested too deeply"),
        (f"{'a.' * 5000}a = 1\n", "nested too deeply"),
    ],
    ids=["digits", "hexadecimal digits", "lists", "tables", "keys"],
)
def test_what_python_cannot_hold_is_refused_in_words(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(SMALL + text)
    with pytest.raises(InvalidInput, match=f"study.toml .*{words}"):
        Study.read(tmp_path / "study.toml")


def test_a_file_that_is_too_long_for_a_study(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(SMALL + "#" * (17 << 20))
    with pytest.raises(InvalidInput, match="more than 16 million characters"):
        Study.read(tmp_path / "study.toml")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(SMALL)
    assert Study.read(tmp_path / "study.toml").folder == tmp_path.resolve()
    with pytest.raises(InvalidInput, match=r"did you mean 'study.toml'"):
        Study.read(tmp_path / "studdy.toml")
    (tmp_path / "bad.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidInput, match="cannot be read as text"):
        Study.read(tmp_path / "bad.toml")
    with pytest.raises(InvalidInput, match="is a folder"):
        Study.read(tmp_path)


def answer(junk: Any, returns: Any) -> Any:
    return junk


@pytest.mark.parametrize(
    ("name", "score"), [("average-return", 2.5), ("final-return", 9.0), ("last-2", 3.5), ("last-10", 2.5)]
)
def test_metrics(name: str, score: float) -> None:
    measure = metric(name)
    assert measure.bounded
    assert measure(np.array([1.0, 2.0, 3.0, 4.0]), np.array([8.0, 10.0])) == score


def test_a_metric_of_ones_own_sees_the_returns_and_cannot_change_them() -> None:
    def spoil(returns: Any) -> float:
        best = float(returns.max())
        returns[:] = 0.0
        return best

    returns = np.array([1.0, 5.0])
    measure = metric("mine:best", spoil)
    assert measure(returns, np.empty(0)) == 5.0
    assert returns.tolist() == [1.0, 5.0]
    assert not measure.bounded
    junk: Any
    for junk in (None, "high", float("nan"), float("inf"), True):
        with pytest.raises(InvalidInput, match=r"must return a (finite )?number"):
            metric("mine:junk", functools.partial(answer, junk))(returns, np.empty(0))


def test_metrics_that_cannot_be() -> None:
    with pytest.raises(UnknownName, match="did you mean 'average-return'"):
        metric("avrage-return")
    with pytest.raises(UnknownName):
        metric("last-0")
    with pytest.raises(InvalidInput, match="no policy"):
        metric("final-return")(np.ones(3), np.empty(0))
    with pytest.raises(InvalidInput, match="no episode"):
        metric("average-return")(np.empty(0), np.empty(0))
