"""The layout of partial orders: levels, room, lines around nodes, few crossings."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from untuned.reports.hasse_layout import Layout, bundled, crossings, layered


def level_of(layout: Layout) -> dict[int, int]:
    return {node: level for level, nodes in enumerate(layout.levels) for node in nodes}


def test_a_chain_is_a_straight_line() -> None:
    layout = layered(3, [(2, 0), (0, 1)])
    assert layout.levels == ((2,), (0,), (1,))
    assert layout.x == (0.0, 0.0, 0.0)
    assert layout.lines == (((0.0, 0), (0.0, 1)), ((0.0, 1), (0.0, 2)))
    assert layout.width == 0.0


def test_without_lines_all_are_side_by_side_in_order() -> None:
    layout = layered(3, [])
    assert layout.levels == ((0, 1, 2),)
    assert layout.x == (0.0, 1.0, 2.0)
    assert layout.width == 2.0
    assert layered(0, []).x == ()
    assert layered(1, []).x == (0.0,)


def test_a_node_without_lines_is_in_the_middle_and_near() -> None:
    layout = layered(4, [(0, 1), (1, 2)])
    assert level_of(layout)[3] == 1
    assert abs(layout.x[3] - layout.x[1]) == pytest.approx(1.0)


def test_lines_that_need_not_cross_do_not() -> None:
    # Numbered so that the order of the numbers crosses.
    layout = layered(6, [(0, 5), (1, 4), (2, 3)])
    assert crossings(layout) == 0
    twisted = Layout(((0, 1), (2, 3)), (0.0, 1.0, 0.0, 1.0), (((0.0, 0), (1.0, 1)), ((1.0, 0), (0.0, 1))))
    assert crossings(twisted) == 1


def test_a_long_line_goes_around_the_nodes_between() -> None:
    # 0 > 1 > 2, and 0 > 3 > 4 > 2: the first way is shorter and passes a level.
    layout = layered(5, [(0, 1), (1, 2), (0, 3), (3, 4), (4, 2)])
    assert level_of(layout) == {0: 0, 1: 1, 3: 1, 4: 2, 2: 3}
    line = layout.lines[1]
    assert [level for _, level in line] == [1, 2, 3]
    assert abs(line[1][0] - layout.x[4]) >= 0.6


def test_the_nodes_of_a_fan_are_centred_under_it() -> None:
    layout = layered(4, [(0, 1), (0, 2), (0, 3)])
    assert layout.x[0] == pytest.approx(np.mean(layout.x[1:]))
    assert layout.width == pytest.approx(2.0)


def test_a_circle_is_refused() -> None:
    with pytest.raises(ValueError, match="circle"):
        layered(2, [(0, 1), (1, 0)])


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 20)), min_size=1, max_size=14))
def test_any_order_of_intervals_has_room(ends: list[tuple[int, int]]) -> None:
    intervals = [(low, low + length) for low, length in ends]
    count = len(intervals)
    better = np.array([[a[0] > b[1] for b in intervals] for a in intervals])
    between = (better.astype(int) @ better.astype(int)) > 0
    edges = [(int(a), int(b)) for a, b in np.argwhere(better & ~between)]
    layout = layered(count, edges)
    assert sorted(node for nodes in layout.levels for node in nodes) == list(range(count))
    levels = level_of(layout)
    for (a, b), line in zip(edges, layout.lines, strict=True):
        assert levels[a] < levels[b]
        assert line[0] == (layout.x[a], levels[a])
        assert line[-1] == (layout.x[b], levels[b])
        assert [level for _, level in line] == list(range(levels[a], levels[b] + 1))
    for nodes in layout.levels:
        for left, right in itertools.pairwise(nodes):
            assert layout.x[right] - layout.x[left] >= 1.0 - 1e-9
    assert min((*layout.x, *(x for line in layout.lines for x, _ in line))) == pytest.approx(0.0, abs=1e-9)
    assert crossings(layout) <= crossings_by_number(count, edges)


def crossings_by_number(count: int, edges: list[tuple[int, int]]) -> int:
    """Return the crossings of the same levels with nodes, then lines, in the order of their numbers."""
    found = layered(count, edges)
    levels = level_of(found)
    rows: list[list[tuple[int, int]]] = [[(0, node) for node in sorted(nodes)] for nodes in found.levels]
    for number, (a, b) in enumerate(edges):
        for level in range(levels[a] + 1, levels[b]):
            rows[level].append((1, number))
    at = [{node: float(place) for place, node in enumerate(row)} for row in rows]
    lines = []
    for number, (a, b) in enumerate(edges):
        keys = [(0, a), *[(1, number)] * (levels[b] - levels[a] - 1), (0, b)]
        lines.append(tuple((at[levels[a] + step][key], levels[a] + step) for step, key in enumerate(keys)))
    return crossings(Layout(found.levels, found.x, tuple(lines)))


def test_two_above_two_meet_in_a_dot_without_crossing() -> None:
    edges = [(0, 2), (0, 3), (1, 2), (1, 3)]
    assert crossings(layered(4, edges)) == 1
    count, joined = bundled(4, edges)
    assert (count, sorted(joined)) == (5, [(0, 4), (1, 4), (4, 2), (4, 3)])
    assert crossings(layered(count, joined)) == 0
    # Lines that meet already stay as they are.
    assert bundled(3, [(0, 1), (0, 2)]) == (3, [(0, 1), (0, 2)])


def test_bundled_edges_lead_where_the_edges_led() -> None:
    rng = np.random.default_rng(4)
    for _ in range(50):
        n = int(rng.integers(2, 9))
        edges = [(a, b) for a in range(n) for b in range(a + 1, n) if rng.random() < 0.5]
        count, joined = bundled(n, edges)
        through = {(a, b) for a, k in joined if k >= n for j, b in joined if j == k}
        direct = {(a, b) for a, b in joined if a < n and b < n}
        assert sorted(through | direct) == edges
        assert not through & direct
        assert count >= n
