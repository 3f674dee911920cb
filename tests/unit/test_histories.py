"""What the trials of a study left, from its folder to a report."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import untuned
from untuned.collect.definitions.draw import Drawn
from untuned.collect.store.store import Store
from untuned.collect.trial import Trial
from untuned.errors import InvalidInput

FACTS: dict[str, Any] = {
    "name": "some",
    "seed": 5,
    "failures": "error",
    "algorithms": [{"name": "one", "version": "3"}, "other"],
    "environments": [{"name": "hill", "score_range": [-10.0, 10.0], "episodes": 4}, {"name": "cave"}],
}


def trial(algorithm: str, environment: str, number: int, *, failed: bool = False) -> Trial:
    score = float(number if algorithm == "one" else -number)
    return Trial(
        seed=5,
        algorithm=algorithm,
        environment=environment,
        trial=number,
        score=float("nan") if failed else score,
        final_return=0.0,
        steps=1,
        seconds=0.0,
        draws=(Drawn("rate", number / 10, 0.0, "U(0, 1)"),),
        dynamics={},
        adapted={},
        definition_version="3",
        fingerprint="f",
        definition_fingerprint="d",
        environment_fingerprint="e",
        failure="RuntimeError: no" if failed else None,
        returns=None if failed else np.array([score, score + 1.0]),
        final_returns=None if failed else np.array([score]),
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A study with one trial that failed, added in another order than that of their numbers."""
    place = tmp_path / "study"
    with Store.create(place, FACTS) as store:
        for algorithm in ("one", "other"):
            store.add([trial(algorithm, "hill", n, failed=(algorithm, n) == ("other", 2)) for n in (3, 0, 2, 1)])
            store.add([trial(algorithm, "cave", n) for n in range(3)])
    return place


def test_scores_draws_and_returns_belong_to_the_same_trials(folder: Path) -> None:
    histories = untuned.read_histories(folder, most=3)
    one, other = histories.cells["one", "hill"], histories.cells["other", "hill"]
    assert one.scores.tolist() == [0.0, 1.0, 2.0]
    assert one.hyperparameters["rate"] == (0.0, 0.1, 0.2)
    assert [each.tolist() for each in one.returns] == [[0.0, 1.0], [1.0, 2.0], [2.0, 3.0]]
    # What failed counts the worst that is possible, and has no returns.
    assert other.scores.tolist() == [0.0, -1.0, -10.0]
    assert [each.size for each in other.returns] == [2, 2, 0]
    assert histories.facts["trials that failed"] == "1, counted as the worst"
    assert histories.facts["definitions"] == "one 3"


def test_a_study_with_failures_gets_a_report(folder: Path) -> None:
    with pytest.raises(InvalidInput, match="nonfinite"):
        untuned.report(folder, weights="uniform")
    report = untuned.report(folder, weights="uniform", nonfinite="worst")
    assert report.histories is not None
    assert "that failed count as worse than all others" in " ".join(report.html.split())


def test_a_study_of_something_else_is_refused(folder: Path) -> None:
    scores = {"one": {"lake": [1.0, 2.0]}, "two": {"lake": [2.0, 3.0]}}
    with pytest.raises(InvalidInput, match="has no trials of these algorithms on these environments"):
        untuned.report(scores, study=folder, weights="uniform")
