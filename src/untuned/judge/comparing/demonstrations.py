"""The paper's arguments about ways of evaluating, measured on the given scores. Estimates only, without intervals."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from untuned.judge.comparing.records import Demonstration, Way
from untuned.judge.game import aggregate, equilibrium
from untuned.judge.percentiles import percentiles
from untuned.judge.pool import pools
from untuned.judge.summaries.normalisations import MinMax
from untuned.judge.summaries.statistics import STATISTICS
from untuned.scores import Floats, ScoreTable

#: Numbers of copies of an environment that are added.
COPIES = (1, 3, 10)
#: The largest number of environments that are copied, one at a time.
MOST_COPIED = 60
#: How far below the lowest score the terrible algorithm is, in spreads, where no range is declared.
BELOW = 10.0

GAME, EQUAL, MIN_MAX = "the game's weights", "equal weights", "min-max-normalised means"
#: Name suffix of ways where copies count as one environment.
DECLARED = ", with the copies declared a family"


#: The number of every algorithm from a list of environments, repeated ones included.
Evaluated = Callable[[list[int]], Floats]


def demonstrations(table: ScoreTable, found: Sequence[Way]) -> tuple[Demonstration, ...]:
    """Return all demonstrations.

    Parameters
    ----------
    table
        The scores.
    found
        The ways, for those that compute ratios.
    """
    return ratios(table, found), terrible(table), copies(table)


def ratios(table: ScoreTable, found: Sequence[Way]) -> Demonstration:
    """Return the order of algorithms by performance ratios, for every denominator.

    Parameters
    ----------
    table
        The scores.
    found
        The ways.
    """
    title = "The order by performance ratios depends on the denominator"
    chosen = [each for each in found if each.name.startswith("ratios to ") and each.name.endswith(", arithmetic")]
    if not chosen:
        why = "an environment on which every algorithm has a positive mean score, and there is none here"
        if table.missing:
            why = "scores of every algorithm on every environment"
        return Demonstration("ratios", title, (f"Ratios need {why}.",))
    n = len(table.algorithms)
    orders = {each.rank_a for each in chosen}
    flipped = {
        (a, b)
        for a in range(n)
        for b in range(a + 1, n)
        if any(each.better_ab[a, b] for each in chosen) and any(each.better_ab[b, a] for each in chosen)
    }
    rows = [
        (each.name.removeprefix("ratios to ").removesuffix(", arithmetic"), *(table.algorithms[a] for a in each.order))
        for each in chosen
    ]
    count = len(chosen)
    sentences = [
        f"{count} {'denominator gives' if count == 1 else 'denominators give'} "
        f"{len(orders)} {'order' if len(orders) == 1 else 'different orders'} of the arithmetic means; "
        f"{len(flipped)} of {n * (n - 1) // 2} pairs change places. The geometric means have one order for all."
    ]
    if ", on the " in chosen[0].about:
        sentences.append(f"Ratios are taken {chosen[0].about.partition(', ')[2]}")
    headings = ("denominator", *(f"{place}." for place in range(1, n + 1)))
    return Demonstration("ratios", title, tuple(sentences), headings, tuple(rows))


def terrible(table: ScoreTable) -> Demonstration:
    """Return the effect of adding an algorithm that is worse than all others everywhere.

    Parameters
    ----------
    table
        The scores.
    """
    title = "One terrible algorithm moves min-max"
    if table.missing:
        return Demonstration("terrible", title, ("This takes scores of every algorithm on every environment.",))
    before = _values(table)
    after = _values(_with_terrible(table))
    n = len(table.algorithms)
    rows, parts = [], []
    for name, old in before.items():
        new = after[name][:n]
        kept = float(np.ptp(new) / np.ptp(old)) if np.ptp(old) > 0 else 1.0
        flips = _flips(old, new)
        rows.append((name, float(np.abs(new - old).max()), 100.0 * kept, float(flips)))
        parts.append((name, kept, flips))
    (_, kept, flips) = next(each for each in parts if each[0] == MIN_MAX)
    sentence = (
        "An algorithm is added that always scores the worst that is possible, or, where no range is declared, "
        f"{BELOW:g} spreads below the lowest score. The distance from the best to the worst of the others shrinks to "
        f"{100.0 * kept:.0f} % under the {MIN_MAX}, and {_pairs(flips)} places."
    )
    headings = ("way", "largest move", "spread left, %", "pairs that change places")
    return Demonstration("terrible", title, (sentence,), headings, tuple(rows))


def _with_terrible(table: ScoreTable) -> ScoreTable:
    worst = []
    for e, (low, _) in enumerate(table.ranges):
        scores = np.concatenate([row[e] for row in table.cells])
        spread = float(np.ptp(scores)) or 1.0
        worst.append(np.full(2, low if np.isfinite(low) else float(scores.min()) - BELOW * spread))
    name = "terrible"
    while name in table.algorithms:
        name += "'"
    m = len(table.environments)
    return replace(
        table,
        algorithms=(*table.algorithms, name),
        cells=(*table.cells, tuple(worst)),
        kinds=np.column_stack([table.kinds, np.full(m, table.kinds.max(initial=0) + 1, dtype=np.int64)]),
        unbroken_ae=None,
        runs=None,
        failed_ae=None,
        rounds=None,
        declared=None,
    )


def copies(table: ScoreTable) -> Demonstration:
    """Return how far copies of one environment move the scores of every way.

    Parameters
    ----------
    table
        The scores.
    """
    title = "Copies of an environment move every weighting, the game's, too"
    m = len(table.environments)
    if m < 2 or table.missing:
        why = "two environments" if m < 2 else "scores of every algorithm on every environment"
        return Demonstration("copies", title, (f"This takes {why}.",))
    chosen = range(min(m, MOST_COPIED))
    z_aer = percentiles(pools(table)).z_aer
    declared = {f"{name}{DECLARED}": value for name, value in _by_percentiles(z_aer, _shares).items()}
    by_way = {**_of_environments(table, z_aer), **declared}
    before = {name: value(list(range(m))) for name, value in by_way.items()}
    rows: list[tuple[str | float, ...]] = []
    worst: dict[str, tuple[float, int, int]] = {}
    for name, value in by_way.items():
        for count in COPIES:
            moves = [(value([*range(m), *[e] * count]), e) for e in chosen]
            sizes = [(float(np.abs(new - before[name]).max()), _flips(before[name], new), e) for new, e in moves]
            size, _, e = max(sizes)
            flips = max(each[1] for each in sizes)
            worst[name] = (size, flips, e)
            mean = float(np.mean([each[0] for each in sizes]))
            rows.append((name, float(count), size, table.environments[e], mean, float(flips)))
    sentences = [
        f"{COPIES[-1]} copies of one environment move a score by up to {size:.3f} under {name} "
        f"({table.environments[e]}), and {_pairs(flips)} places."
        for name, (size, flips, e) in worst.items()
        if name not in declared
    ]
    largest = max(worst[name][0] for name in declared)
    sentences.append(
        f"Declared a family, copies move no score by more than {largest:.3f}, under the game's weights or equal ones."
    )
    if table.families:
        sentences.append("Here every environment counts by itself, those of declared families, too.")
    if len(chosen) < m:
        sentences.append(f"The first {len(chosen)} of {m} environments were copied in turn.")
    headings = ("way", "copies", "largest move", "of", "mean of largest moves", "pairs that change places, at most")
    return Demonstration("copies", title, tuple(sentences), headings, tuple(rows))


def _values(table: ScoreTable) -> dict[str, Floats]:
    z_aer = percentiles(pools(table)).z_aer
    every = list(range(len(table.environments)))
    return {name: value(every) for name, value in _of_environments(table, z_aer).items()}


def _of_environments(table: ScoreTable, z_aer: Floats) -> dict[str, Evaluated]:
    """Return functions that evaluate the algorithms on a list of environments, repeated ones included."""
    maps = MinMax("means").on(table).fit(table.cells)
    means = [
        [fit(np.array([np.sort(cell).mean()])) for fit, cell in zip(maps, row, strict=True)] for row in table.cells
    ]

    def min_max(environments: list[int]) -> Floats:
        weights = np.full(len(environments), 1.0 / len(environments))
        mean = STATISTICS["mean"].value
        return np.array([float(mean([row[e] for e in environments], weights)) for row in means])

    return {**_by_percentiles(z_aer, None), MIN_MAX: min_max}


def _by_percentiles(z_aer: Floats, shares_of: Callable[[list[int]], Floats] | None) -> dict[str, Evaluated]:
    """Return the game's and equal weights of a list of environments, each counting what ``shares_of`` says."""
    n = z_aer.shape[0]

    def game(environments: list[int]) -> Floats:
        repeated = np.ascontiguousarray(z_aer[:, environments])
        share_e = None if shares_of is None else shares_of(environments)
        return aggregate(repeated, equilibrium(repeated, share_e=share_e).q_er)

    def equal(environments: list[int]) -> Floats:
        share_e = np.ones(len(environments)) if shares_of is None else shares_of(environments)
        return aggregate(z_aer[:, environments], np.repeat(share_e[:, None] / (n * share_e.sum()), n, axis=1))

    # The game needs two environments.
    return {GAME: game, EQUAL: equal} if z_aer.shape[1] > 1 else {EQUAL: equal}


def _shares(environments: list[int]) -> Floats:
    """Return the weight of each environment if it and its copies are a family."""
    return np.array([1.0 / environments.count(each) for each in environments])


def _flips(old: Floats, new: Floats) -> int:
    """Return how many pairs change places."""
    before, after = np.subtract.outer(old, old), np.subtract.outer(new, new)
    return int(np.count_nonzero((before > _ROUNDING) & (after < -_ROUNDING)))


_ROUNDING = 1e-9


def _pairs(count: int) -> str:
    return "no pair changes" if not count else "1 pair changes" if count == 1 else f"{count} pairs change"
