"""Where to put the nodes and lines of a partial order so that few lines cross, for the figures and the page alike.

Nodes are on levels, each below all that are better; a line that passes a level gets a place of its own there, so that
it goes around the nodes (Sugiyama, Tagawa and Toda, 1981).
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from untuned.scores import Floats

#: Rounds of sorting levels by their neighbours, and of pulling nodes towards them.
_SWEEPS = 24


@dataclass(frozen=True)
class Layout:
    """A diagram of a partial order.

    Attributes
    ----------
    levels
        The nodes on each level from left to right, the best level first.
    x
        Where each node is, from 0; neighbours on a level are at least 1 apart.
    lines
        For every edge the points (x, level) that its line goes through, from the better node to the worse one.
    """

    levels: tuple[tuple[int, ...], ...]
    x: tuple[float, ...]
    lines: tuple[tuple[tuple[float, int], ...], ...]

    @property
    def width(self) -> float:
        """How far the outermost nodes and lines are apart."""
        return max([0.0, *self.x, *(point[0] for line in self.lines for point in line)])


def layered(count: int, edges: Sequence[tuple[int, int]]) -> Layout:
    """Return where the nodes of a partial order go, few lines crossing.

    Parameters
    ----------
    count
        The number of nodes; where nothing else decides, those on a level stay in the order of their numbers.
    edges
        Pairs (better, worse) with nothing between them; they must not go in a circle.
    """
    level = _levels(count, edges)
    depth = max(level, default=0) + 1
    # Nodes of their own for lines that pass a level.
    chains = []
    levels: list[list[int]] = [[node for node in range(count) if level[node] == place] for place in range(depth)]
    total = count
    for better, worse in edges:
        chain = [better]
        for place in range(level[better] + 1, level[worse]):
            chain.append(total)
            levels[place].append(total)
            total += 1
        chains.append([*chain, worse])
    above: list[list[int]] = [[] for _ in range(total)]
    below: list[list[int]] = [[] for _ in range(total)]
    for chain in chains:
        for upper, lower in itertools.pairwise(chain):
            below[upper].append(lower)
            above[lower].append(upper)
    levels = _sorted_levels(levels, above, below)
    # A line needs less room on either side than a node with its name.
    x = _positions(levels, above, below, np.where(np.arange(total) < count, 0.5, 0.15))
    height = {node: place for place, members in enumerate(levels) for node in members}
    return Layout(
        tuple(tuple(node for node in members if node < count) for members in levels),
        tuple(float(each) for each in x[:count]),
        tuple(tuple((float(x[node]), height[node]) for node in chain) for chain in chains),
    )


def bundled(count: int, edges: Sequence[tuple[int, int]]) -> tuple[int, list[tuple[int, int]]]:
    """Return nodes and edges in which lines from several nodes to the same others meet in a node of their own.

    Two above two are otherwise joined by four lines of which two always cross.

    Parameters
    ----------
    count
        The number of nodes; those added have the numbers from here on.
    edges
        Pairs (better, worse) with nothing between them.
    """
    below: dict[int, list[int]] = {}
    for better, worse in sorted(edges):
        below.setdefault(better, []).append(worse)
    groups: dict[tuple[int, ...], list[int]] = {}
    for better, others in below.items():
        groups.setdefault(tuple(others), []).append(better)
    found = []
    for shared, above in groups.items():
        if len(shared) > 1 and len(above) > 1:
            found += [(better, count) for better in above] + [(count, worse) for worse in shared]
            count += 1
        else:
            found += [(better, worse) for better in above for worse in shared]
    return count, found


def crossings(layout: Layout) -> int:
    """Return how many pairs of lines cross."""
    pieces: dict[int, list[tuple[float, float]]] = {}
    for line in layout.lines:
        for (left, place), (right, _) in itertools.pairwise(line):
            pieces.setdefault(place, []).append((left, right))
    return sum(_crossing(np.array(each)) for each in pieces.values())


def _crossing(pieces: Floats) -> int:
    """Return how many of the lines from x to x' cross."""
    upper = np.sign(pieces[:, None, 0] - pieces[None, :, 0])
    lower = np.sign(pieces[:, None, 1] - pieces[None, :, 1])
    return int(np.count_nonzero(upper * lower < 0)) // 2


def _levels(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """Return the length of the longest way from the top to every node; nodes without lines are in the middle."""
    level = [0] * count
    for round_ in range(count + 1):
        changed = False
        for better, worse in edges:
            if level[worse] <= level[better]:
                level[worse] = level[better] + 1
                changed = True
        if not changed:
            break
        if round_ == count:
            raise ValueError("the edges go in a circle")
    tied = {node for edge in edges for node in edge}
    middle = max(level, default=0) // 2
    return [level[node] if node in tied else middle for node in range(count)]


def _sorted_levels(levels: list[list[int]], above: list[list[int]], below: list[list[int]]) -> list[list[int]]:
    """Return the levels in the order with the fewest crossings that sorting by the neighbours' middles finds."""
    best, fewest = levels, _count(levels, below)
    for sweep in range(_SWEEPS):
        if fewest == 0:
            break
        down = sweep % 2 == 0
        levels = [list(members) for members in levels]
        places = range(1, len(levels)) if down else range(len(levels) - 2, -1, -1)
        for place in places:
            other = {node: number for number, node in enumerate(levels[place - 1 if down else place + 1])}
            neighbours = above if down else below
            now = {node: number for number, node in enumerate(levels[place])}
            middle = {
                node: float(np.mean([other[each] for each in neighbours[node]])) if neighbours[node] else None
                for node in levels[place]
            }
            scale = len(other) / max(len(now), 1)
            levels[place].sort(
                key=lambda node, middle=middle, now=now, scale=scale: (  # type: ignore[misc]
                    now[node] * scale if middle[node] is None else middle[node],
                    now[node],
                )
            )
        crossed = _count(levels, below)
        if crossed < fewest:
            best, fewest = levels, crossed
    return best


def _count(levels: list[list[int]], below: list[list[int]]) -> int:
    total = 0
    for upper, lower in itertools.pairwise(levels):
        at = {node: number for number, node in enumerate(lower)}
        pieces = [(number, at[end]) for number, node in enumerate(upper) for end in below[node]]
        if pieces:
            total += _crossing(np.array(pieces, dtype=np.float64))
    return total


def _positions(levels: list[list[int]], above: list[list[int]], below: list[list[int]], room: Floats) -> Floats:
    """Return x for all nodes: near their neighbours, with their room on either side, in the order of their level."""
    x = np.zeros(room.size)
    for members in levels:
        steps = np.cumsum(2.0 * room[members]) - room[members]
        x[members] = steps - room[members].sum()
    # Nodes without neighbours make way for those with some.
    weights = np.array([1.0 if up or down else 1e-6 for up, down in zip(above, below, strict=True)])
    for sweep in range(_SWEEPS):
        for members in levels if sweep % 2 == 0 else reversed(levels):
            # Nodes without any stay near the rest of the level.
            middle = float(np.mean(x[members])) if members else 0.0
            wanted = np.array(
                [np.mean(x[[*above[node], *below[node]]]) if above[node] or below[node] else middle for node in members]
            )
            x[members] = _apart(wanted, room[members], weights[members])
    return x - x.min() if x.size else x


def _apart(wanted: Floats, room: Floats, weights: Floats) -> Floats:
    """Return the numbers nearest to ``wanted``, by weighted squares, that leave each its room on either side."""
    # With the distances taken off this is a regression on increasing functions: neighbours out of order share a mean.
    distances = np.cumsum(2.0 * room) - room
    shares: list[tuple[float, float, int]] = []
    for value, weight in zip(wanted - distances, weights, strict=True):
        mean, mass, size = float(value), float(weight), 1
        while shares and shares[-1][0] > mean:
            before, more, others = shares.pop()
            mean = (mean * mass + before * more) / (mass + more)
            mass, size = mass + more, size + others
        shares.append((mean, mass, size))
    means = np.repeat([mean for mean, _, _ in shares], [size for _, _, size in shares])
    placed: Floats = means + distances
    return placed
