"""An interval method of a user's own is one file, this one: a function, and a `Method` that is passed or registered."""

import dataclasses
import math
import pickle
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

import untuned
from untuned.errors import InvalidInput, UnknownName
from untuned.judge.methods import BUILT_IN, METHODS, Conventions, Method, register
from untuned.judge.percentiles import Percentiles
from untuned.judge.pool import Pool
from untuned.lab import coverage
from untuned.reports.figures.aggregates import method_labels
from untuned.scores import Floats, ScoreTable


def hoeffding(
    table: ScoreTable, pools: Sequence[Pool], estimates: Percentiles, delta: float, conventions: Conventions
) -> tuple[Floats, Floats]:
    """Return Hoeffding's intervals: sqrt(log(2/level) / (2 T)) on either side, T the smaller number of trials."""
    trials = np.minimum(estimates.trials_ae[:, :, None], estimates.trials_ae.T[None, :, :])
    z = estimates.z_aer
    half = np.sqrt(math.log(2 * z.size / delta) / (2 * np.maximum(trials, 1)))
    itself = np.eye(len(z), dtype=bool)[:, None, :]
    half = np.where(itself, 0.0, np.where(estimates.known_aer, half, 1.0))
    return np.clip(z - half, 0.0, 1.0), np.clip(z + half, 0.0, 1.0)


TOY = Method("toy", "Hoeffding", True, "Hoeffding's inequality on the smaller sample", False, hoeffding)


def scores() -> dict[str, dict[str, Floats]]:
    rng = np.random.default_rng(5)
    means = {"good": 2.0, "fair": 0.5, "poor": 0.0}
    return {name: {place: rng.normal(mean, 1.0, 200) for place in ("maze", "arm")} for name, mean in means.items()}


@pytest.fixture
def registered() -> Iterator[None]:
    assert register(TOY) is TOY
    yield
    del METHODS["toy"]


def test_it_is_passed_as_an_object() -> None:
    found = untuned.evaluate(scores(), intervals=TOY)
    assert (found.method, found.valid, found.anytime) == ("toy", True, False)
    assert found.verdict("good", "poor") == "better"
    assert found.to_dict()["settings"]["intervals"] == "toy"
    # Wider than Chernoff's bound by relative entropy, of which Hoeffding's is a relaxation.
    narrow = untuned.evaluate(scores(), intervals="kl")
    assert found.percentiles.low_aer is not None
    assert narrow.percentiles.low_aer is not None
    assert (found.percentiles.low_aer <= narrow.percentiles.low_aer + 1e-12).all()
    assert untuned.plan(found).method == "toy"
    again = pickle.loads(pickle.dumps(found))
    assert again.judging == found.judging
    assert again.to_json() == found.to_json()


@pytest.mark.usefixtures("registered")
def test_it_is_known_by_name_once_registered() -> None:
    by_name = untuned.evaluate(scores(), intervals="toy", delta=0.1)
    assert by_name.to_json() == untuned.evaluate(scores(), intervals=TOY, delta=0.1).to_json()
    assert "Hoeffding" in method_labels([by_name])[0]
    compared = untuned.report(by_name, compare_with=["kl", TOY])
    assert [each.method for each in compared.compare_with] == ["kl", "toy"]
    assert all(each.delta == 0.1 for each in compared.compare_with)
    with pytest.raises(UnknownName, match="did you mean 'toy'"):
        untuned.evaluate(scores(), intervals="toyy")
    with pytest.raises(InvalidInput, match="conventions='paper'"):
        untuned.Judging(intervals="toy", conventions="paper")
    assert coverage(["constant"], ["toy"], [5], data_sets=2, refine=0).methods == ("toy",)


def test_it_cannot_take_the_name_of_another() -> None:
    with pytest.raises(UnknownName, match="interval method is called 'toy'"):
        untuned.evaluate(scores(), intervals="toy")
    with pytest.raises(InvalidInput, match=r"'kl'.*another name"):
        register(dataclasses.replace(TOY, name="kl"))
    assert METHODS["kl"] in BUILT_IN
