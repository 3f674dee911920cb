"""Resuming a study after something was edited: what changes results is refused, and the rest is not."""

import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

import untuned
from untuned import InvalidInput, Study, collect_scores
from untuned.cli.main import main
from untuned.collect.session import Session
from untuned.collect.store.store import Store

AGENT = """
    def guess(environment, draw, pause=0.0):
        import time
        draw.suggest_float("lean", 0.0, 0.5)
        while True:
            environment.reset()
            done = False
            while not done:
                time.sleep(pause)
                _, _, terminated, truncated, _ = environment.step(0)
                done = terminated or truncated
"""


class Workshop:
    """A folder with modules that are written and written again, as a user would between two runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.write("workshop_agents", AGENT)

    def write(self, module: str, source: str) -> None:
        (self.folder / f"{module}.py").write_text(textwrap.dedent(source))
        # A new process would reload it.
        sys.modules.pop(module, None)

    def collect(self, trials: int = 1, *, replace: bool = False, **changes: Any) -> Path:
        options: dict[str, Any] = {
            "algorithms": ["workshop_agents:guess"],
            "environments": [{"gymnasium": "FrozenLake-v1", "episodes": 3, "score_range": (0, 1)}],
            **changes,
        }
        study = Study("workshop", trials=trials, folder=self.folder, **options)
        collect_scores(study, self.folder / "results", workers=1, replace=replace)
        return self.folder / "results"


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    monkeypatch.syspath_prepend(str(tmp_path))
    # Files are edited several times a second here.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return Workshop(tmp_path)


def frozen(**options: Any) -> list[dict[str, Any]]:
    return [{"gymnasium": "FrozenLake-v1", "episodes": 3, "score_range": (0, 1), **options}]


def test_options_of_a_gymnasium_environment_count(workshop: Workshop) -> None:
    workshop.collect(environments=frozen(is_slippery=True))
    with pytest.raises(InvalidInput, match=r"'FrozenLake-v1' has changed .*how it is made: options"):
        workshop.collect(2, environments=frozen(is_slippery=False))
    workshop.collect(2, environments=frozen(is_slippery=True))


def test_the_source_of_an_environment_counts(workshop: Workshop) -> None:
    source = """
        import gymnasium
        def lake():
            env = gymnasium.make("FrozenLake-v1")
            return gymnasium.wrappers.TransformReward(env, lambda reward: FACTOR * reward)
    """
    there = [{"use": "workshop_lakes:lake", "episodes": 2, "score_range": (0, 10)}]
    workshop.write("workshop_lakes", source.replace("FACTOR", "1"))
    workshop.collect(environments=there)
    workshop.collect(2, environments=there)
    workshop.write("workshop_lakes", source.replace("FACTOR", "9"))
    with pytest.raises(InvalidInput, match="'lake' has changed"):
        workshop.collect(3, environments=there)


def test_the_source_of_a_metric_counts(workshop: Workshop) -> None:
    options: dict[str, Any] = {"metric": "workshop_metrics:best", "score_range": (0, 10)}
    workshop.write("workshop_metrics", "def best(returns): return returns.max()")
    workshop.collect(**options)
    workshop.collect(2, **options)
    workshop.write("workshop_metrics", "def best(returns): return returns.max() + 1")
    with pytest.raises(InvalidInput, match="the source of the metric"):
        workshop.collect(3, **options)


def test_what_a_definition_draws_counts_even_if_its_version_was_forgotten(workshop: Workshop) -> None:
    source = """
        import dataclasses, untuned
        ours = untuned.algorithm("sarsa")
        def build(environment, draw):
            draw.suggest_float("extra", 0.0, HIGH)
            return ours.build(environment, draw)
        mine = dataclasses.replace(ours, name="mine", version=1, build=build)
    """
    options: dict[str, Any] = {"algorithms": ["workshop_definitions:mine"], "environments": ["chain-10-stochastic"]}
    workshop.write("workshop_definitions", source.replace("HIGH", "1.0"))
    folder = workshop.collect(**options)
    # A comment is not a change.
    workshop.write("workshop_definitions", source.replace("HIGH", "1.0") + "        # as usual")
    workshop.collect(2, **options)
    workshop.write("workshop_definitions", source.replace("HIGH", "2.0"))
    with pytest.raises(InvalidInput, match=r"'mine' has changed .*its code"):
        workshop.collect(3, **options)
    with Store.open(folder) as store:
        assert len(store.trial("mine", "chain-10-stochastic", 0).definition_fingerprint) == 16


def test_edited_twice_and_replaced_only_the_last_is_compared(workshop: Workshop) -> None:
    for edit in range(3):
        workshop.write("workshop_agents", AGENT.replace("0.5)", f"{0.5 + edit})"))
        folder = workshop.collect(2 + edit, replace=True)
    with Session.at(folder) as session:
        session.store.check()
        assert session.scores().algorithms == ("guess",)
        assert [cell.trials for cell in session.status()] == [4]
        counts = session.store.counts()
    assert {name: count for (name, _), count in counts.items()} == {"guess": 4, "guess~1": 2, "guess~2": 3}


def test_an_environment_that_changed_is_replaced_too(workshop: Workshop) -> None:
    folder = workshop.collect(2)
    longer = [{"gymnasium": "FrozenLake-v1", "episodes": 4, "score_range": (0, 1)}]
    with pytest.raises(InvalidInput, match=r"'FrozenLake-v1' has changed.*--replace"):
        workshop.collect(3, environments=longer)
    workshop.collect(3, environments=longer, replace=True)
    with Session.at(folder) as session:
        assert session.scores().trials.tolist() == [[3]]
        assert session.store.counts()["guess", "FrozenLake-v1~1"] == 2
        session.store.check()


def test_a_time_limit_may_change_where_no_trial_would(workshop: Workshop) -> None:
    folder = workshop.collect()
    workshop.collect(2, time_limit=60.0)
    with Store.open(folder) as store:
        spent = store.trial("guess", "FrozenLake-v1", 0).seconds
    with pytest.raises(InvalidInput, match="took longer than the new one"):
        workshop.collect(3, time_limit=spent / 2)
    workshop.collect(3, time_limit=30.0)


def test_a_trial_that_was_ended_by_its_limit_keeps_the_limit(workshop: Workshop) -> None:
    workshop.write("workshop_agents", AGENT.replace("pause=0.0", "pause=9.0"))
    workshop.collect(time_limit=0.3)
    with pytest.raises(InvalidInput, match="was ended by the old one"):
        workshop.collect(time_limit=60.0)
    workshop.collect(1, time_limit=0.3)


def test_a_failed_trial_can_be_given_its_score_later(workshop: Workshop) -> None:
    workshop.write("workshop_agents", "def guess(environment, draw): raise RuntimeError('no')")
    undeclared = [{"gymnasium": "FrozenLake8x8-v1", "episodes": 3}]
    folder = workshop.collect(environments=undeclared, failures="error")
    with pytest.raises(InvalidInput, match="the worst score on FrozenLake8x8-v1"):
        workshop.collect(environments=undeclared, failures="worst")
    workshop.collect(environments=[{**undeclared[0], "score_range": (0, 1)}], failures="worst")
    assert untuned.read_scores(folder).cell("guess", "FrozenLake8x8-v1").tolist() == [0.0]


def test_what_is_taken_out_is_not_in_the_status_and_not_in_an_export(
    workshop: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    def said(*arguments: str) -> str:
        with pytest.raises(SystemExit):
            main([*arguments])
        return capsys.readouterr().out

    both = frozen() + frozen(name="other lake")
    folder = str(workshop.collect(2, environments=both))
    workshop.collect(2, environments=frozen())
    assert said("status", folder).startswith("workshop: 2 of 2 trials, 100 %")
    assert "2 more trials are kept, out of the comparison" in said("status", folder)
    once = said("export", folder)
    assert "other lake" not in once
    assert once.count("\n") == 3


# Modules.


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("def guess(:", "SyntaxError"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("import sys; sys.exit(3)", "SystemExit: 3"),
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
    ],
)
@pytest.mark.parametrize("part", ["algorithms", "environments", "metric"])
def test_modules_that_cannot_be_imported(part: str, source: str, words: str, workshop: Workshop) -> None:
    workshop.write("workshop_broken", source)
    changes: dict[str, dict[str, Any]] = {
        "algorithms": {"algorithms": ["workshop_broken:guess"]},
        "environments": {"environments": ["workshop_broken:guess"]},
        "metric": {"metric": "workshop_broken:guess"},
    }
    with pytest.raises(InvalidInput, match=rf"{part}.*'workshop_broken' cannot be imported \({words}"):
        workshop.collect(**changes[part])


@pytest.mark.parametrize("place", [":f", ".relative:f", "workshop_agents:", "workshop_agents:guess.", "a b:c"])
def test_places_that_lead_nowhere(place: str, workshop: Workshop) -> None:
    with pytest.raises(InvalidInput, match=r"algorithms\[0\].*cannot be imported, write module:function"):
        workshop.collect(algorithms=[place])
    with pytest.raises(InvalidInput, match=r"algorithms\[0\]: there is no 'gues' in workshop_agents, did you mean 'gu"):
        workshop.collect(algorithms=["workshop_agents:gues"])


def test_an_environment_that_cannot_be_made(workshop: Workshop) -> None:
    workshop.write("workshop_lakes", "def lake(): raise OSError('dry')")
    with pytest.raises(InvalidInput, match=r"environments\[0\]: lake could not be made: OSError: dry"):
        workshop.collect(environments=[{"use": "workshop_lakes:lake", "episodes": 2, "score_range": (0, 10)}])


@pytest.mark.parametrize("option", [{"name": 5}, {"name": " "}, {"score_range": 5}, {"score_range": (0, float("inf"))}])
def test_options_that_cannot_be(option: dict[str, Any], workshop: Workshop) -> None:
    with pytest.raises(InvalidInput, match=rf"environments\[0\].*{next(iter(option))}"):
        workshop.collect(environments=frozen(**option))


def test_what_a_module_prints_is_not_in_what_is_printed_for_programs(
    workshop: Workshop, capfd: pytest.CaptureFixture[str]
) -> None:
    workshop.write("workshop_agents", "print('hello at import')\n" + textwrap.dedent(AGENT))
    workshop.collect()
    assert "hello" not in capfd.readouterr().out


def test_another_study_may_not_have_another_module_of_the_same_name(workshop: Workshop) -> None:
    workshop.collect()
    other = workshop.folder / "other"
    other.mkdir()
    (other / "workshop_agents.py").write_text(textwrap.dedent(AGENT) + "\n# another\n")
    study = Study("other", ["workshop_agents:guess"], frozen(), trials=1, folder=other)
    with pytest.raises(InvalidInput, match=r"algorithms\[0\]: the module 'workshop_agents' is .*another study's"):
        collect_scores(study, other / "results", workers=1)
