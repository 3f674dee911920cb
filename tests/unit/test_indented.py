"""Indented JSON has the text that Python's own writes, and large boards become JSON in seconds."""

import json

import hypothesis.strategies as st
import numpy as np
from hypothesis import given

from untuned.evaluation_records import HeadToHead
from untuned.indented import indented

texts = st.text() | st.sampled_from(['},\n{"', "},\n      {", "\u2028", "a\\", '"'])
leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
rows = st.lists(st.dictionaries(texts, leaves, max_size=3), max_size=4)
values = st.recursive(
    leaves | rows, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4), max_leaves=30
)


@given(values)
def test_it_is_the_text_of_python(content: object) -> None:
    assert indented(content) == json.dumps(content, indent=2, allow_nan=False, ensure_ascii=False)


def test_tuples_are_lists() -> None:
    content = {"a": ((1, 2), ()), "b": ({"c": 1}, {"d": 2})}
    assert indented(content) == json.dumps(content, indent=2)


@given(st.integers(1, 7), st.integers(0, 2**32))
def test_cycles_are_those_of_a_search_from_everywhere(n: int, seed: int) -> None:
    from untuned.evaluation_records import _shortest_cycle

    wins = np.random.default_rng(seed).random((n, n)) < 0.4
    better = np.triu(wins, 1) | np.tril(~wins.T & (np.random.default_rng(seed + 1).random((n, n)) < 0.6), -1)
    expected: dict[frozenset[int], tuple[int, ...]] = {}
    for start in range(n):
        if cycle := _shortest_cycle(better, start):
            expected.setdefault(frozenset(cycle), cycle)
    share = np.full((n, n), 0.5)
    assert HeadToHead(share, share, share, better).cycles() == list(expected.values())
