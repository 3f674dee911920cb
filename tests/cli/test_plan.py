"""``untuned plan``: sentences and JSON from scores and from the size of an experiment, and what it refuses."""

from pathlib import Path

import numpy as np
import pytest

import untuned
from support.calling import Call, caller


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    return caller(capsys, "plan")


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    """A file with too few trials for some verdicts."""
    rng = np.random.default_rng(3)
    lines = ["algorithm,environment,score"]
    for a, algorithm in enumerate(("slow", "fair", "quick")):
        for environment in ("flat", "steep", "icy", "wet"):
            lines += [f"{algorithm},{environment},{score:.3f}" for score in rng.normal(0.7 * a, 1.0, 6)]
    path = tmp_path / "scores.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_plans_of_all_rankings(call: Call, scores: Path) -> None:
    evaluation = untuned.evaluate(scores)
    plans = [untuned.plan(evaluation.under(weights)) for weights in ("game", "uniform")]
    said = call(scores)
    assert (said.code, said.complaints) == (0, "")
    assert said.words == " ".join(sentence for plan in plans for sentence in plan.sentences())
    assert "Under the game's weights, " in said.words
    assert "Under equal weights, " in said.words
    facts = call(scores, "--json").json
    assert facts == {"plan": plans[0].to_dict(), "plans": [plan.to_dict() for plan in plans]}


def test_evaluate_has_the_same_plans(call: Call, scores: Path, capsys: pytest.CaptureFixture[str]) -> None:
    facts = call(scores, "--json").json
    evaluate = caller(capsys, "evaluate")
    found = evaluate(scores, "--plan", "--json").json
    assert (found["plan"], found["plans"]) == (facts["plan"], facts["plans"])
    words = evaluate(scores, "--plan").words
    assert all(plan["sentences"][0] in words for plan in facts["plans"])
    assert "plans" not in evaluate(scores, "--json").json


def test_options_of_evaluate_are_taken(call: Call, scores: Path) -> None:
    (plan,) = call(scores, "--weights", "uniform", "--delta", "0.1", "--json").json["plans"]
    assert (plan["weights"], plan["method"], plan["delta"]) == ("uniform", "pooled", 0.1)
    plans = call(scores, "--intervals", "betting", "--json").json["plans"]
    assert [(plan["weights"], plan["method"]) for plan in plans] == [("game", "betting"), ("uniform", "betting")]
    assert "a plan needs" in call(scores, "--intervals", "bootstrap").err


def test_a_design_in_words_and_json(call: Call) -> None:
    found = untuned.design(3, 4, (5, 10), power=0.9, heterogeneity=1.0)
    options = ("--trials", "10,5", "--power", "0.9", "--heterogeneity", "1")
    said = call("--design", "3x4", *options)
    assert (said.code, said.complaints) == (0, "")
    assert said.words == " ".join(found.sentences())
    assert call("--design", "3x4", *options, "--json").json == found.to_dict()
    alone = call("--design", "3x4", "--trials", "5", "--weights", "uniform", "--delta", "0.1", "--json").json
    assert alone == untuned.design(3, 4, 5, weights="uniform", delta=0.1).to_dict()


def test_the_hours_of_a_design(call: Call) -> None:
    facts = call("--design", "3x4", "--difference", "0.3", "--seconds", "90", "--json").json
    assert facts == untuned.design(3, 4, difference=0.3, seconds=90).to_dict()
    assert facts["trials_hours"] == pytest.approx(facts["trials"] * 12 * 90 / 3600)
    said = call("--design", "3x4", "--hours", "2", "--seconds", "60", "--parallel", "4")
    assert (said.code, said.complaints) == (0, "")
    found = untuned.design(3, 4, hours=2, seconds=60, parallel=4)
    assert said.words == " ".join(found.sentences())
    assert "with 40 trials per cell (2 hours), as many as fit into 2 hours, " in said.words
    assert "With 5 trials per cell (15 minutes), the usual number in papers, " in said.words


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "untuned plan --design 6x18. Neither was given"),
        (("scores.csv", "--design", "6x18"), "Both were given"),
        (("--design", "6"), "--design 6: write ALGORITHMSxENVIRONMENTS, for example --design 6x18"),
        (("--design", "6xmany"), "--design 6xmany: write"),
        (("--design", "1x18"), "--algorithms 1 is not allowed: pass a whole number of at least 2"),
        (("--design", "6x0"), "--environments 0"),
        (("--design", "6x18", "--trials", "5,few"), "--trials 5,few: write whole numbers"),
        (("--design", "6x18", "--trials", "0"), "trials=0"),
        (("--design", "6x18", "--difference", "2"), "difference=2.0"),
        (("--design", "6x18", "--difference", "0.1", "--trials", "5"), "trials and difference were given: pass one of"),
        (("--design", "6x18", "--hours", "24"), "hours without seconds: pass also how long one trial takes"),
        (("--design", "6x18", "--parallel", "4"), "parallel without seconds"),
        (("--design", "6x18", "--seconds", "nan"), "seconds=nan"),
        (("--design", "6x18", "--seconds", "600", "--parallel", "0"), "parallel=0"),
        (("--design", "6x18", "--seconds", "600", "--hours", "2"), "takes 18 hours. Pass --hours 18 or more"),
        (("--design", "6x18", "--intervals", "kl"), "--design takes --delta and --weights uniform"),
        (("--design", "6x18", "--range", "0:1"), "--design takes --delta and --weights uniform"),
        (("--design", "6x18", "--weights", "game"), "--weights game"),
        (("scores.csv", "--trials", "5"), "--trials: for --design alone"),
        (("scores.csv", "--difference", "0.1", "--power", "0.9"), "--difference, --power: for --design alone"),
        (("scores.csv", "--seconds", "60"), "--seconds: for --design alone"),
        (("nothing.csv",), "nothing.csv"),
    ],
)
def test_mistakes_are_said(call: Call, arguments: tuple[str, ...], message: str) -> None:
    said = call(*arguments)
    assert (said.code, said.out) == (2, "")
    assert message in said.err
