"""Racing from the command line: goals, budgets, resuming, the output after every round, and error messages."""

import sys
from pathlib import Path

import pytest

from support.calling import Call, Said, caller
from untuned import api
from untuned.cli.main import main
from untuned.collect.session import Session

SMALL = """\
name = "small"
seed = 5
trials = 3
algorithms = ["sarsa-parl2", "sarsa-s", "q-s"]
environments = ["chain-10-stochastic", "gridworld-5-stochastic"]
"""
QUICK = ("--rule", "equal", "--engine", "in-process")


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(tmp_path)
    Path("small.toml").write_text(SMALL)


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    return caller(capsys, "race", "small.toml")


def refused(said: Said, *words: str) -> None:
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("error: ")
    for word in words:
        assert word in said.err


def log() -> list[dict[str, object]]:
    with Session.at("small") as session:
        return session.race_log()


def test_a_race_says_what_is_known_after_every_round_and_the_result_at_the_end(call: Call) -> None:
    said = call(*QUICK, "--max-trials", "2000")
    assert said.code == 0
    assert "The goal is reached after" in said.words
    assert "Under equal weights: sarsa-parl2 is the best." in said.words
    assert "Equal weights (pooled-rounds)" in said.out
    assert "sarsa-parl2 is better than all others." in said.out
    assert said.out.endswith("Next: untuned report small --out report.html\n")
    rounds = [line for line in said.err.splitlines() if line.startswith("round ") and "trials, " in line]
    assert rounds[0].startswith("round 1: 24 trials, ")
    assert "2 pairs open, the next sarsa-parl2 and " in rounds[0]
    assert "more would decide the pair; uncertain: " in rounds[0]
    assert "no pair is open" in rounds[-1]
    assert log()[1] == {"kind": "begun", "goal": "best", "time": log()[1]["time"]}


def test_a_spent_budget_is_a_result(call: Call) -> None:
    said = call(*QUICK, "--goal", "all", "--max-trials", "100")
    assert said.code == 0
    assert "The number of trials allows no further round after" in said.words
    assert "are not separable yet; " in said.words
    assert "Most of the uncertainty comes from" in said.words


def test_a_certificate_says_how_close_algorithms_are(call: Call) -> None:
    said = call(*QUICK, "--goal", "sarsa-s>q-s within 0.2", "--max-trials", "3000", "--quiet")
    assert said.code == 0
    assert "0 of 1 pair is decided; every pair that is not separable yet differs by less than 0.2." in said.words
    assert "Next:" not in said.out
    assert said.err == ""


def test_a_race_goes_to_another_goal_where_it_ended(call: Call) -> None:
    first = call(*QUICK, "--max-trials", "2000", "--json").json
    second = call(*QUICK, "--goal", "vs:sarsa-parl2", "--max-trials", "2000", "--json").json
    assert (first["ending"], second["ending"]) == ("reached", "reached")
    # The same trials, looked at again.
    assert [each["trials"] for each in first["looks"]] == [each["trials"] for each in second["looks"]]
    assert "2 of 2 pairs are decided" in second["summary"][1]
    assert "sarsa-parl2 is better than q-s" in second["summary"][1]


def test_json_has_everything_and_nothing_else_is_printed(call: Call) -> None:
    said = call(*QUICK, "--max-trials", "60", "--json")
    assert (said.code, said.err) == (0, "")
    assert said.json["algorithms"] == ["sarsa-parl2", "sarsa-s", "q-s"]
    assert said.json["evaluation"]["rankings"][0]["weights"] == "uniform"


@pytest.mark.parametrize(("given", "words"), [
    (("--goal", "worst"), ["goal 'worst' is not known", "top:K"]),
    (("--goal", "vs:nobody"), ["algorithm of this study", "nobody", "sarsa-s"]),
    (("--goal", "sarsa-s>sarsa-s"), ["compared with itself"]),
    (("--goal", "top:3"), ["there are 3 algorithms, pass at most 2"]),
    (("--goal", "best within 2"), ["between 0 and 1"]),
    (("--hours", "0"), ["--hours 0", "positive number"]),
    (("--hours", "-1"), ["--hours -1", "positive number"]),
    (("--hours", "nan"), ["--hours nan", "positive number"]),
    (("--max-trials", "0"), ["--max-trials 0"]),
    (("--max-trials", "5"), ["--max-trials 5", "pass at least 6"]),
    (("--rule", "magic"), ["magic", "by-cost"]),
    (("--costs", "nowhere"), ["nowhere"]),
    (("--intervals", "pairing"), ["leave intervals"]),
    (("--delta", "0"), ["delta"]),
])  # fmt: skip
def test_mistakes_are_refused_before_anything_runs(call: Call, given: tuple[str, ...], words: list[str]) -> None:
    refused(call(*QUICK, "--max-trials", "60", *given), *words)
    assert not Path("small").exists()


def test_what_was_declared_does_not_change(call: Call) -> None:
    assert call(*QUICK, "--max-trials", "30").code == 0
    refused(call(*QUICK, "--max-trials", "60", "--delta", "0.1"), "--delta 0.05", "Pass --delta 0.05")
    refused(call(*QUICK, "--max-trials", "60", "--weights", "game"), "Pass the same --weights")
    Path("small.toml").write_text(SMALL.replace('"q-s"', '"q-s", "q"'))
    refused(call(*QUICK, "--max-trials", "60"), "q added", "another folder (--out)")


def test_costs_of_a_raced_study_replay_its_race(call: Call) -> None:
    given = ("--engine", "in-process", "--goal", "all", "--max-trials", "300", "--json")
    first = call(*given).json
    second = call(*given, "--costs", "small", "--out", "again").json
    assert [each["trials_by_cell"] for each in first["looks"]] == [each["trials_by_cell"] for each in second["looks"]]
    Path("other.toml").write_text(SMALL.replace('"small"', '"other"'))
    api.collect_scores("other.toml", workers=1, engine="in-process")
    refused(call(*given[:-1], "--costs", "other", "--out", "third"), "no record of costs")


def test_a_stopped_race_says_how_to_resume_and_resumes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], call: Call
) -> None:
    given = (*QUICK, "--goal", "all", "--max-trials", "200")
    complete = call(*given, "--out", "complete", "--json").json
    polled: list[int] = []
    race = api.race

    def stopping(*arguments: object, **options: object) -> object:
        # Trials of the second round are under way.
        options["stop"] = lambda: len(polled) > 0
        options["look"] = lambda look: polled.append(look.number)
        return race(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(api, "race", stopping)
    with pytest.raises(SystemExit) as ending:
        main(["race", "small.toml", *given])
    printed = capsys.readouterr()
    assert ending.value.code == 130
    assert "The race was stopped after 24 trials in 1 round" in printed.out
    assert printed.err.endswith("stopped: 24 trials of complete rounds are in small. Rerun the command to resume.\n")
    monkeypatch.setattr(api, "race", race)
    resumed = call(*given, "--json").json
    assert [each["trials"] for each in resumed["looks"]] == [each["trials"] for each in complete["looks"]]
    assert resumed["summary"][1:2] == complete["summary"][1:2]


def test_status_says_how_the_race_stands(call: Call, capsys: pytest.CaptureFixture[str]) -> None:
    call(*QUICK, "--max-trials", "2000")
    said = caller(capsys)("status", "small")
    assert "Raced for the goal 'best': " in said.words
    assert "of collecting. The goal is reached." in said.words
    assert "Last look, under equal weights: no pair is open for this goal. sarsa-parl2 is the best." in said.words
    assert caller(capsys)("status", "small", "--json").json["race"][1].startswith("Last look")


def test_a_study_that_was_not_raced_has_no_race_in_its_status(capsys: pytest.CaptureFixture[str]) -> None:
    api.collect_scores("small.toml", workers=1, engine="in-process")
    assert "race" not in caller(capsys)("status", "small", "--json").json
    assert "aced" not in caller(capsys)("status", "small").out


def test_the_rules_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    said = caller(capsys)("list", "rules", "--json")
    assert [each["name"] for each in said.json] == ["by-cost", "eliminate", "equal"]
    assert [each["default"] for each in said.json] == [True, False, False]


def test_the_page_shows_how_the_intervals_closed(call: Call, capsys: pytest.CaptureFixture[str]) -> None:
    call(*QUICK, "--goal", "all", "--max-trials", "200")
    assert caller(capsys)("report", "small", "--out", "page.html").code == 0
    page = Path("page.html").read_text(encoding="utf-8")
    assert "How the intervals closed" in page
    assert "Raced for the goal &#39;all&#39;: " in page
    assert page.count('class="panel closing"') == 3
    assert "in no open pair after round" in page
    made = api.report("small")
    assert made.race is not None
    assert [pair.decided is None for pair in made.race.pairs] == [True, False, False]
    assert {path.stem for path in made.save("folder", formats=("svg",)) if "figures" in path.parts} >= {"closing"}
    # Another order of algorithms is the same race.
    names = made.evaluation.algorithms[::-1]
    other = made.race.ordered(names)
    assert sorted(other.shares()) == sorted(made.race.shares())
    told = [[(each.algorithms[pair.ahead], *pair.low) for pair in each.pairs] for each in (made.race, other)]
    assert sorted(told[0]) == sorted(told[1])
    # Of other algorithms it says nothing.
    assert api.report("small", without=("q-s",)).race is None


def test_the_page_of_a_study_that_was_not_raced_has_no_race() -> None:
    api.collect_scores("small.toml", workers=1, engine="in-process")
    made = api.report("small")
    assert made.race is None
    assert "How the intervals closed" not in made.html
    assert '"race":' not in made.html
