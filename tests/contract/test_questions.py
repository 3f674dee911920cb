"""The figures in the answers to questions are those of the program."""

import re
from pathlib import Path

import numpy as np
import pytest

import untuned

AXES = "algorithm,environment,run"
PAGE = " ".join((Path(__file__).parents[2] / "docs" / "faq.md").read_text(encoding="utf-8").split())


def decides(algorithms: int, environments: int, trials: int) -> bool:
    """Return whether the defaults decide anything where every trial of one beats every trial of the next."""
    scores = np.zeros((algorithms, environments, trials)) + np.arange(float(algorithms))[:, None, None]
    scores += np.linspace(0.0, 0.5, trials)
    found = untuned.Judging(refine=0).judge(untuned.read_scores(scores, axes=AXES))
    return bool(found.under("uniform" if environments == 1 else "game").pairs.better_ab.any())


@pytest.mark.parametrize(
    ("algorithms", "environments", "fewest", "words"),
    [
        (2, 1, 7, "on one environment"),
        (2, 2, 8, "on two environments"),
        (2, 9, 10, "on nine"),
        (11, 15, 17, "on fifteen environments"),
    ],
)
def test_the_fewest_trials_that_decide_anything(algorithms: int, environments: int, fewest: int, words: str) -> None:
    # The first number after the words.
    assert re.search(rf"{words}\D*\b{fewest}\b", PAGE)
    assert decides(algorithms, environments, fewest)
    assert not decides(algorithms, environments, fewest - 1)


def test_many_environments_and_five_trials() -> None:
    rng = np.random.default_rng(0)
    scores = 0.5 * np.arange(4.0)[:, None, None] + rng.standard_normal((4, 57, 5))
    by_game = untuned.evaluate(scores, axes=AXES)
    assert (by_game.high_a - by_game.low_a).min() > 0.97
    decided = int(by_game.under("uniform").pairs.better_ab.sum())
    assert re.search(rf"\b{decided} of 6\b", PAGE)


def test_a_higher_mean_and_a_lower_score() -> None:
    # In no order: every tenth would look like a pattern.
    lucky, steady = np.random.default_rng(0).permutation(np.repeat([1000.0, 0.0], [20, 180])), np.full(200, 3.0)
    assert lucky.mean() > steady.mean()
    found = untuned.evaluate({"lucky": {"m": lucky}, "steady": {"m": steady}}, weights="uniform")
    low, high = sorted(found.score_a)
    assert f"{low:.2f} and {high:.2f}" in PAGE
    assert found.verdict("steady", "lucky") == "better"


def test_the_order_of_scores_is_all_that_counts() -> None:
    scores = np.random.default_rng(1).normal(size=(3, 2, 40))
    plain, crooked = (untuned.evaluate(each, axes=AXES) for each in (scores, -np.exp(-3.0 * scores)))
    np.testing.assert_array_equal(plain.low_a, crooked.low_a)
    np.testing.assert_array_equal(plain.pairs.high_ab, crooked.pairs.high_ab)


def test_the_highest_score_with_uniform_weights() -> None:
    scores = np.arange(4.0)[:, None, None] + np.zeros((2, 5))
    assert max(untuned.evaluate(scores, axes=AXES, weights="uniform").score_a) == pytest.approx(1 - 1 / 8)
    assert "1 - 1/(2n)" in PAGE
