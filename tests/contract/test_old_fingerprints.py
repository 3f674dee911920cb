"""Stores whose fingerprints are of bytes and whole modules are resumed where no number would change."""

import copy
import importlib
import sys
from pathlib import Path
from typing import Any

import gymnasium
import pytest

import untuned
from untuned import InvalidInput, Study, collect_scores
from untuned.collect import old_fingerprints
from untuned.collect.old_fingerprints import SAME_CODE_NOW, own_fingerprint
from untuned.collect.store.store import Store

AGENTS = """import dataclasses

import untuned

ours = untuned.algorithm("sarsa")


def build(environment, draw):
    draw.suggest_float("extra", 0.0, 1.0)
    return ours.build(environment, draw)


mine = dataclasses.replace(ours, name="mine", version=1, build=build)


def guess(environment, draw):
    while True:
        environment.reset()
        done = False
        while not done:
            _, _, terminated, truncated, _ = environment.step(environment.action_space.sample())
            done = terminated or truncated


def best(returns):
    return returns.max()
"""

#: Facts of the stores of two studies from when fingerprints were of bytes.
KERNELS = "676c8af787cad428"
ALGORITHMS = {
    "sarsa": "f9ef97b8d9a8dcdb",
    "tuned-within[q,2]": "5f99a2b19b2f5a7d",
    "mine": "553c0fc645b926c0",
    "guess": "8b74100aeec95c77",
}
METRIC = "0c42024812f3bdc1"
CHAIN = "c06b00b24fa91661"
LAKE, GYMNASIUM_THEN = "c39725576f6eecd4", "1.4.0"


@pytest.fixture
def past(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "past_agents.py").write_text(AGENTS)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.delitem(sys.modules, "past_agents", raising=False)
    importlib.invalidate_caches()
    return tmp_path


def study(folder: Path, trials: int, **changes: Any) -> Study:
    options: dict[str, Any] = {
        "algorithms": ["sarsa", "tuned-within[q,2]", "past_agents:mine", "past_agents:guess"],
        "environments": ["chain-10-stochastic"],
        "metric": "past_agents:best",
        "score_range": (-200.0, 0.0),
        **changes,
    }
    return Study("past", trials=trials, folder=folder, **options)


def made_then(folder: Path, **changes: Any) -> Path:
    """Return a store with two trials a cell and the facts that it would have had then."""
    results = folder / "results"
    collect_scores(study(folder, 2, **changes), results, workers=1)
    with Store.open(results, write=True) as store:
        facts = copy.deepcopy(store.facts)
        for entry in facts["algorithms"]:
            entry["fingerprint"] = ALGORITHMS[entry["name"]]
            entry["version"] = entry["fingerprint"] if entry["name"] == "guess" else entry["version"]
        for entry in facts["environments"]:
            entry["fingerprint"] = CHAIN if entry["name"].startswith("chain") else LAKE
            # Words may have changed since.
            entry |= {"title": "Chain", "summary": "then"}
        metric = METRIC if facts["metric_fingerprint"] else None
        store.set_facts({**facts, "kernels": KERNELS, "metric_fingerprint": metric, "untuned": "0.0.9"})
    return results


def edit(past: Path, old: str, new: str) -> None:
    assert old in AGENTS
    (past / "past_agents.py").write_text(AGENTS.replace(old, new))
    sys.modules.pop("past_agents", None)


def test_the_code_is_the_one_that_those_stores_were_made_with() -> None:
    found = own_fingerprint()
    assert found == SAME_CODE_NOW, (
        "code that decides numbers of trials was edited. Do all trials give the same numbers as before? Then write "
        f'SAME_CODE_NOW = "{found}" in untuned/collect/old_fingerprints.py. Do they not? Then write "", here as well: '
        "stores from before fingerprints of syntax trees are refused from now on"
    )


def test_a_store_of_then_is_resumed(past: Path) -> None:
    results = made_then(past)
    assert collect_scores(study(past, 3), results, workers=1).complete
    with Store.open(results) as store:
        facts = store.facts
        assert set(store.counts().values()) == {3}
    assert "kernels" not in facts
    assert facts["untuned"] == untuned.__version__
    # And now it is a store like any other.
    assert collect_scores(study(past, 4), results, workers=1).complete


@pytest.mark.parametrize(
    ("metric", "words"), [("average-return", "'mine' has changed"), ("past_agents:best", "the source of the metric")]
)
def test_an_edit_is_noticed_as_it_was_then(past: Path, metric: str, words: str) -> None:
    results = made_then(past, metric=metric)
    edit(past, "0.0, 1.0)", "0.0, 2.0)")
    with pytest.raises(InvalidInput, match=words):
        collect_scores(study(past, 3, metric=metric), results, workers=1)


def test_what_is_not_in_the_study_now_may_come_back(past: Path) -> None:
    results = made_then(past)
    assert collect_scores(study(past, 3, algorithms=["sarsa"]), results, workers=1).complete
    assert collect_scores(study(past, 3, algorithms=["sarsa", "tuned-within[q,2]"]), results, workers=1).complete


def test_another_environment_of_the_same_name_is_refused(past: Path) -> None:
    results = made_then(past)
    with Store.open(results, write=True) as store:
        facts = store.facts
        facts["environments"][0]["episodes"] = 99
        store.set_facts(facts)
    with pytest.raises(InvalidInput, match=r"'chain-10-stochastic' has changed .*episodes was 99"):
        collect_scores(study(past, 3), results, workers=1)


def test_gymnasiums_environments_by_its_version(past: Path) -> None:
    lake = {"gymnasium": "FrozenLake-v1", "episodes": 3, "score_range": (0, 1), "is_slippery": True}
    changes: dict[str, Any] = {
        "algorithms": ["past_agents:guess"],
        "environments": [lake],
        "metric": "average-return",
        "score_range": None,
    }
    results = made_then(past, **changes)
    if gymnasium.__version__ == GYMNASIUM_THEN:
        assert collect_scores(study(past, 3, **changes), results, workers=1).complete
    else:
        with pytest.raises(InvalidInput, match="'FrozenLake-v1' has changed"):
            collect_scores(study(past, 3, **changes), results, workers=1)


@pytest.mark.parametrize(("name", "value"), [("KERNELS_THEN", "other"), ("SAME_CODE_NOW", "other")])
def test_where_our_own_code_has_changed_the_store_is_refused(
    past: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    results = made_then(past)
    monkeypatch.setattr(old_fingerprints, name, value)
    with pytest.raises(InvalidInput, match="an older untuned"):
        collect_scores(study(past, 3), results, workers=1)
