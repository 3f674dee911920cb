"""Properties of the intervals from pairs of trials, for any scores."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from untuned.judge.jit import INTERPRETED
from untuned.judge.methods import METHODS, boxes
from untuned.judge.percentiles import Percentiles, percentiles
from untuned.judge.pool import pools
from untuned.judge.simultaneous_intervals import Boxes
from untuned.scores import Floats, ScoreTable

FEW = settings(max_examples=4 if INTERPRETED else 40, deadline=None, derandomize=True, database=None)

FROM_PAIRS = ["kl", "bentkus", "betting", "pairing", "wilson"]
GUARANTEED = FROM_PAIRS[:4]

NAMES = st.sampled_from(FROM_PAIRS)
DELTAS = st.sampled_from([0.5, 0.05, 1e-4, 1e-12])

Cells = list[list[Floats]]
Draw = Callable[[st.SearchStrategy[Any]], Any]


@st.composite
def scores(draw: Draw, least: int = 0) -> Cells:
    """Return cells of very unequal size: none, one, a block or several; with many ties or without."""
    n, m = draw(st.integers(2, 4)), draw(st.integers(1, 2))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    levels = draw(st.sampled_from([1, 2, 5, 1000]))
    sizes = [size for size in (0, 1, 2, 7, 20, 45, 130) if size >= least]
    skill = rng.normal(scale=draw(st.sampled_from([0.0, 1.0, 4.0])), size=(n, m))
    return [
        [np.round(levels * np.tanh(rng.normal(skill[a, e], 1.0, draw(st.sampled_from(sizes))))) for e in range(m)]
        for a in range(n)
    ]


def judged(
    cells: Cells,
    name: str,
    delta: float,
    identical: tuple[tuple[str, ...], ...] = (),
    names: tuple[list[str] | None, list[str] | None] = (None, None),
) -> tuple[Boxes, Percentiles]:
    table = ScoreTable.from_array(cells, *names, identical=identical)
    pooled = pools(table)
    estimates = percentiles(pooled)
    return boxes(METHODS[name], table, pooled, estimates, delta, "valid"), estimates


@FEW
@given(scores(), NAMES, DELTAS, st.booleans())
def test_ends_are_mirrored_exactly_and_hold_the_estimate(cells: Cells, name: str, delta: float, same: bool) -> None:
    found, estimates = judged(cells, name, delta, (("algorithm-1", "algorithm-2"),) if same else ())
    low, high, z = found.low_aer, found.high_aer, estimates.z_aer
    np.testing.assert_array_equal(low, 1.0 - high.transpose(2, 1, 0))
    np.testing.assert_array_equal(high, 1.0 - low.transpose(2, 1, 0))
    assert ((low >= 0.0) & (low <= z) & (z <= high) & (high <= 1.0)).all()
    assert (low[~estimates.known_aer] == 0.0).all()
    assert (high[~estimates.known_aer] == 1.0).all()
    own = np.arange(len(cells))
    assert (low[own, :, own] == 0.5).all()
    assert (high[own, :, own] == 0.5).all()
    if same:
        assert (low[0, :, 1] == 0.5).all()
        np.testing.assert_array_equal(low[0], low[1])


@FEW
@given(scores(), st.sampled_from(GUARANTEED))
def test_guarantees_never_take_an_estimate_for_certain(cells: Cells, name: str) -> None:
    found, estimates = judged(cells, name, 0.5)
    n, m, _ = found.low_aer.shape
    other = np.broadcast_to(~np.eye(n, dtype=np.bool_)[:, None, :], (n, m, n))
    assert (found.high_aer - found.low_aer)[other].min() > 1e-3
    inside = (found.low_aer < estimates.z_aer) | (found.low_aer == 0.0)
    assert inside[other].all()


@FEW
@given(scores(), NAMES)
def test_intervals_are_nested_in_delta(cells: Cells, name: str) -> None:
    found = [judged(cells, name, delta)[0] for delta in (0.5, 0.05, 1e-3, 1e-9)]
    for narrow, wide in itertools.pairwise(found):
        assert (wide.low_aer <= narrow.low_aer).all()
        assert (wide.high_aer >= narrow.high_aer).all()


@FEW
@given(scores(), DELTAS)
def test_bentkus_is_within_kl(cells: Cells, delta: float) -> None:
    inner, outer = (judged(cells, name, delta)[0] for name in ("bentkus", "kl"))
    # Where both are the same number, each rounds in its own way.
    assert (inner.low_aer >= outer.low_aer - 1e-12).all()
    assert (inner.high_aer <= outer.high_aer + 1e-12).all()


@FEW
@given(scores(), DELTAS)
def test_pairing_in_one_block_is_within_bentkus_at_half_the_level(cells: Cells, delta: float) -> None:
    small = [[cell[:100] for cell in row] for row in cells]
    inner, outer = judged(small, "pairing", delta)[0], judged(small, "bentkus", delta / 2.0)[0]
    assert (inner.low_aer >= outer.low_aer - 1e-9).all()
    assert (inner.high_aer <= outer.high_aer + 1e-9).all()


@FEW
@given(scores(), NAMES, st.sampled_from([np.exp, np.cbrt, lambda x: 1e300 * x, lambda x: 1e-320 * x]))
def test_strictly_increasing_maps_of_scores_change_nothing(
    cells: Cells, name: str, f: Callable[[Floats], Floats]
) -> None:
    # Up to 700, exponentials are finite.
    small = [[cell / 2.0 for cell in row] for row in cells]
    before, after = judged(small, name, 0.2)[0], judged([[f(cell) for cell in row] for row in small], name, 0.2)[0]
    np.testing.assert_array_equal(before.low_aer, after.low_aer)
    np.testing.assert_array_equal(before.high_aer, after.high_aer)


@FEW
@given(scores(), NAMES, st.randoms(use_true_random=False))
def test_the_order_of_algorithms_and_environments_does_not_matter(cells: Cells, name: str, random: Any) -> None:
    n, m = len(cells), len(cells[0])
    a, e = random.sample(range(n), n), random.sample(range(m), m)
    names = [f"algorithm-{i + 1}" for i in a], [f"environment-{j + 1}" for j in e]
    before = judged(cells, name, 0.2)[0]
    after = judged([[cells[i][j] for j in e] for i in a], name, 0.2, names=names)[0]
    np.testing.assert_allclose(after.low_aer, before.low_aer[np.ix_(a, e, a)], atol=1e-9)
    np.testing.assert_allclose(after.high_aer, before.high_aer[np.ix_(a, e, a)], atol=1e-9)


@pytest.mark.parametrize("name", FROM_PAIRS)
def test_more_trials_of_both_say_more(name: str) -> None:
    rng = np.random.default_rng(20401)
    widths = []
    for trials in (20, 200, 2000):
        cells = [[rng.normal(shift, 1.0, trials)] for shift in (0.5, 0.0)]
        found = judged(cells, name, 0.1)[0]
        widths.append((found.high_aer - found.low_aer)[0, 0, 1])
    assert widths[0] > 2.0 * widths[1] > 4.0 * widths[2]


@pytest.mark.parametrize("name", ["pairing", "wilson"])
def test_more_trials_of_one_say_more_where_they_can(name: str) -> None:
    rng = np.random.default_rng(20402)
    first, second = rng.normal(0.5, 1.0, 100), rng.normal(0.0, 1.0, 5000)
    widths = []
    for more in (100, 5000):
        found = judged([[first], [second[:more]]], name, 0.1)[0]
        widths.append((found.high_aer - found.low_aer)[0, 0, 1])
    assert widths[1] < 0.95 * widths[0]


@pytest.mark.parametrize("name", FROM_PAIRS)
def test_tables_without_two_samples_that_meet(name: str) -> None:
    found = judged([[np.array([1.0, 2.0])], [np.empty(0)]], name, 0.1)[0]
    assert found.low_aer[:, 0].tolist() == [[0.5, 0.0], [0.0, 0.5]]
    assert found.high_aer[:, 0].tolist() == [[0.5, 1.0], [1.0, 0.5]]
