"""The order of rows, of algorithms and of environments changes nothing that is found."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.judging import evaluate
from untuned.evaluation import Evaluation
from untuned.judge.intervals import pairing
from untuned.judge.jit import INTERPRETED
from untuned.judge.methods import BUILT_IN, METHODS
from untuned.scores import Floats, ScoreTable

FEW = settings(max_examples=3 if INTERPRETED else 25, deadline=None, derandomize=True, database=None)

NAMES = [each.name for each in BUILT_IN]
#: Betting is for trials in the order of their numbers: rows of a study, which are sorted by number.
WHATEVER_THE_ROWS = [name for name in NAMES if not METHODS[name].anytime]

Cells = dict[str, dict[str, Floats]]
Draw = Callable[[st.SearchStrategy[Any]], Any]


@st.composite
def scores(draw: Draw) -> Cells:
    """Return cells of unequal size, two blocks of `betting` at most; with many ties, some or none."""
    n, m = draw(st.integers(2, 4)), draw(st.integers(2, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    levels = draw(st.sampled_from([1, 3, 1000]))
    skill = rng.normal(scale=draw(st.sampled_from([0.0, 2.0])), size=(n, m))
    sizes = st.sampled_from([2, 5, 23, 41])
    # Names in no order, so that the order of names is not that of the table.
    return {
        f"{(7 * a) % 5}-algorithm": {
            f"{(3 * e) % 4}-environment": np.round(levels * np.tanh(rng.normal(skill[a, e], 1.0, draw(sizes))))
            for e in range(m)
        }
        for a in range(n)
    }


def judged(cells: Cells, name: str, *, identical: bool, weights: str) -> Evaluation:
    groups = [sorted(cells)[:2]] if identical else []
    weights = "uniform" if METHODS[name].fixed else weights
    table = ScoreTable.from_dict(cells, ranges=(-1001.0, 1001.0), identical=groups)
    return evaluate(table, intervals=name, delta=0.4, resamples=40, weights=weights, refine=30)


#: Bounds on differences are solved to within this (`branching._LIMITS`), and another order is another way there.
SOLVED = 1e-6


def assert_same(before: Evaluation, after: Evaluation, solved: float = 1e-9) -> None:
    """Assert that all numbers and verdicts are the same, by name; those on differences to within ``solved``."""
    a = [before.algorithms.index(name) for name in after.algorithms]
    e = [before.environments.index(name) for name in after.environments]
    tables = before.percentiles, after.percentiles
    for one, other in (
        (before.score_a[a], after.score_a),
        (before.low_a[a], after.low_a),
        (before.high_a[a], after.high_a),
        (before.q_er[np.ix_(e, a)], after.q_er),
        (before.means.low_ae[np.ix_(a, e)], after.means.low_ae),
        (tables[0].z_aer[np.ix_(a, e, a)], tables[1].z_aer),
    ):
        np.testing.assert_allclose(other, one, atol=1e-9, rtol=0)
    np.testing.assert_allclose(after.pairs.low_ab, before.pairs.low_ab[np.ix_(a, a)], atol=solved, rtol=0)
    np.testing.assert_allclose(after.pairs.high_ab, before.pairs.high_ab[np.ix_(a, a)], atol=solved, rtol=0)
    for one_end, other_end in (
        (tables[0].low_aer, tables[1].low_aer),
        (tables[0].high_aer, tables[1].high_aer),
    ):
        assert (one_end is None) == (other_end is None)
        if one_end is not None and other_end is not None:
            np.testing.assert_allclose(other_end, one_end[np.ix_(a, e, a)], atol=1e-9, rtol=0)
    np.testing.assert_array_equal(before.pairs.better_ab[np.ix_(a, a)], after.pairs.better_ab)
    caps = before.rankings[0].cap_ab, after.rankings[0].cap_ab
    if caps[0] is not None and caps[1] is not None:
        np.testing.assert_allclose(caps[1], caps[0][np.ix_(a, a)], rtol=1e-6)
    if before.head_to_head is not None and after.head_to_head is not None:
        for attribute in ("win_ab", "low_ab", "high_ab", "better_ab"):
            one, other = getattr(before.head_to_head, attribute), getattr(after.head_to_head, attribute)
            np.testing.assert_allclose(other, one[np.ix_(a, a)], atol=1e-9, rtol=0)


WEIGHTS = st.sampled_from(["game", "uniform"])


@pytest.mark.parametrize("name", WHATEVER_THE_ROWS)
@FEW
@given(cells=scores(), seed=st.integers(0, 2**32), identical=st.booleans(), weights=WEIGHTS)
def test_the_order_of_rows_changes_nothing(name: str, cells: Cells, seed: int, identical: bool, weights: str) -> None:
    rng = np.random.default_rng(seed)
    before = judged(cells, name, identical=identical, weights=weights)
    shuffled = {a: {e: rng.permutation(cell) for e, cell in row.items()} for a, row in cells.items()}
    assert_same(before, judged(shuffled, name, identical=identical, weights=weights))
    in_order = {a: {e: np.sort(cell) for e, cell in row.items()} for a, row in cells.items()}
    assert_same(before, judged(in_order, name, identical=identical, weights=weights))


@pytest.mark.parametrize("name", NAMES)
@FEW
@given(cells=scores(), random=st.randoms(use_true_random=False), identical=st.booleans(), weights=WEIGHTS)
def test_the_order_of_algorithms_and_environments_changes_nothing(
    name: str, cells: Cells, random: Any, identical: bool, weights: str
) -> None:
    before = judged(cells, name, identical=identical, weights=weights)
    rows = random.sample(sorted(cells), len(cells))
    columns = random.sample(sorted(cells[rows[0]]), len(cells[rows[0]]))
    permuted = {a: {e: cells[a][e] for e in columns} for a in rows}
    assert_same(before, judged(permuted, name, identical=identical, weights=weights), SOLVED)


@pytest.mark.parametrize("ties", [True, False])
def test_the_order_of_rows_changes_nothing_in_several_blocks(ties: bool) -> None:
    trials = 500 if ties else 2 * pairing.BLOCK + 100
    if INTERPRETED and not ties:
        pytest.skip("20,000 trials without compiling take minutes: unset NUMBA_DISABLE_JIT")
    rng = np.random.default_rng(20501)
    cells = {name: {"maze": rng.normal(0.1, 1.0, trials)} for name in "ab"}
    if ties:
        cells = {name: {"maze": np.round(row["maze"])} for name, row in cells.items()}
    found = [
        judged({a: {"maze": order(cells[a]["maze"])} for a in names}, "pairing", identical=False, weights="uniform")
        for names, order in (("ab", np.sort), ("ba", rng.permutation), ("ab", lambda cell: -np.sort(-cell)))
    ]
    for other in found[1:]:
        assert_same(found[0], other)
