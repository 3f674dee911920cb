"""From a `ScoreTable` to an `Evaluation`: the one function that composes the rest."""

import math
from collections.abc import Callable

import numpy as np
from scipy.special import gammaln

from untuned.errors import InvalidInput
from untuned.evaluation import Derived, Evaluation, Means, PercentileTable
from untuned.judge.averaged_bound import functional, share
from untuned.judge.bootstrap import percentile_ends, resampled
from untuned.judge.differences import (
    Differences,
    are_many,
    direct,
    equal,
    pairs_to_solve,
    separate,
    under_given_weights,
)
from untuned.judge.game import aggregate, equilibrium
from untuned.judge.intervals.dkw import mean_intervals
from untuned.judge.intervals.method import Method
from untuned.judge.judging import GAME, Judging, whole
from untuned.judge.methods import boxes
from untuned.judge.percentiles import Percentiles, percentiles
from untuned.judge.pool import Pool, pools
from untuned.judge.propagate import LIMITS, Bounds, Limits, aggregate_goals, bounds_of, propagated, solutions, weighted
from untuned.judge.ranks import ranks, ranks_by_verdicts
from untuned.judge.simultaneous_intervals import Boxes
from untuned.judge.weights import weights_of
from untuned.scores import Floats, Ints, ScoreTable
from untuned.verdicts import Pairs

#: Called with the name of the step, how much of it is done, and how much there is.
Progress = Callable[[str, int, int], None]

# With fewer trials than this not even the approximation of approximate methods holds.
_FEW = 30
#: Into how many parts intervals are cut on each side of 1/2 where aggregates are bounded.
PARTS = 1
# Cases that branching may look at for a pair: as many as take seconds, none on boards where that would be hours.
_CASES = 3000
_FEW_CASES = 10
_WORK = 3e7


def judge(table: ScoreTable, judging: Judging, *, workers: int = 1, progress: Progress | None = None) -> Evaluation:
    """Return aggregate scores, intervals, verdicts and ranks of all algorithms in a table."""
    workers = whole("workers", workers, 1, "one per processor is a good number")
    _check(table)
    chosen, delta, conventions = judging.method, judging.delta, judging.conventions
    q_er = weights_of(judging.weights, table.algorithms, table.environments)

    n = len(table.algorithms)
    pooled = pools(table)
    estimates = percentiles(pooled, judging.payoff)
    empty = _empty(table, estimates)
    if chosen.intervals is None and empty:
        algorithm, environment = empty[0]
        raise InvalidInput(
            f"{algorithm!r} has no trials on {environment!r}"
            f"{f', and {len(empty) - 1} more cells are empty' if len(empty) > 1 else ''}: "
            f"{chosen.name} cannot draw from an empty sample. Run the missing cells, or use intervals='pairing', "
            "which takes them into account"
        )
    balance = None if q_er is not None else equilibrium(estimates.z_aer)
    weights_er: Floats = balance.q_er if balance is not None else q_er  # type: ignore[assignment]
    score_a = aggregate(estimates.z_aer, weights_er)

    found: Boxes | None = None
    part = 0.0
    cases = _cases(*estimates.trials_ae.shape) if judging.refine is None else judging.refine
    if chosen.intervals is None:
        bounds = _bootstrapped(pooled, estimates, table, judging, q_er, workers, progress)
        differences = separate(bounds)
    else:
        # Before the scores are looked at: what each bound may get wrong. The functional bound is for one look only.
        if conventions == "valid" and not chosen.anytime:
            part = share(estimates.trials_ae, q_er)
        found = boxes(chosen, table, pooled, estimates, (1.0 - part) * delta, conventions)
        if q_er is not None:
            bounds = weighted(found, q_er)
            differences = under_given_weights(bounds, estimates, q_er, found.same_aer, part * delta)
        elif conventions == "paper":
            bounds = propagated(found, workers=workers, advance=counter("bounds", 2 * n, progress))
            differences = separate(bounds)
        else:
            bounds, differences = _bounded(found, estimates, score_a, part * delta, cases, workers, progress)
    if conventions == "valid":
        differences = equal(differences, table.kinds)
    pairs = differences.pairs()

    return Evaluation(
        judging=judging,
        algorithms=table.algorithms,
        environments=table.environments,
        score_a=score_a,
        low_a=bounds.low_a,
        high_a=bounds.high_a,
        ranks=ranks_by_verdicts(score_a, pairs),
        pairs=pairs,
        q_er=weights_er,
        percentiles=PercentileTable(
            estimates.z_aer, None if found is None else found.low_aer, None if found is None else found.high_aer
        ),
        means=_means(table, delta),
        trials_ae=table.trials,
        ranges=table.ranges,
        scores=table,
        derived=_derived(judging, bounds.slack, part, cases),
        provenance=table.provenance,
        warnings=(
            *_warnings(chosen, conventions, estimates.trials_ae, empty, nothing=_is_nothing_known(found, pairs)),
            *_out_of_order(chosen, table),
            *_unsolved(0.0 if balance is None else balance.error, bounds.slack),
        ),
    )


#: Errors below this change nothing that is printed.
_SOLVED = 1e-6


def _unsolved(error: float, slack: float) -> list[str]:
    """Return the warnings of solvers that stopped too far from the solution."""
    found = []
    if error > _SOLVED:
        found.append(f"The game was not solved exactly: scores may be wrong by {error:.1g}.")
    if slack > _SOLVED:
        found.append(f"The bounds were not solved exactly: they hold, and may be wider than need be by {slack:.1g}.")
    return found


def _empty(table: ScoreTable, estimates: Percentiles) -> list[tuple[str, str]]:
    """Return the cells nothing is known about: neither measured nor declared identical to one that was."""
    return [(table.algorithms[a], table.environments[e]) for a, e in np.argwhere(estimates.trials_ae == 0)]


def _check(table: ScoreTable) -> None:
    if not table.algorithms or not table.environments or not table.trials.any():
        raise InvalidInput("there are no scores: give every algorithm at least one trial on some environment")


def _bounded(
    found: Boxes,
    estimates: Percentiles,
    score_a: Floats,
    delta: float,
    cases: int,
    workers: int,
    progress: Progress | None,
) -> tuple[Bounds, Differences]:
    """Return bounds on all aggregates and on all their differences; ``delta`` is the functional bound's."""
    goals = aggregate_goals(found)
    advance = counter("bounds", len(goals), progress)
    limits = Limits(slack=_SOLVED) if are_many(found) else LIMITS
    solved = solutions(goals, found, parts=PARTS, limits=limits, workers=workers, advance=advance)
    bounds = bounds_of(solved)
    known = separate(bounds)
    other = functional(found, PARTS, estimates, delta) if delta > 0.0 else None
    advance = counter("pairs", len(pairs_to_solve(found, score_a, known)), progress)
    differences = direct(
        found,
        PARTS,
        [each.values for each in solved],
        score_a,
        known,
        functional=other,
        budget=cases,
        workers=workers,
        advance=advance,
    )
    return bounds, differences


def _cases(n: int, m: int) -> int:
    """Return how many cases branching looks at, by the size of the board: all moves of all joint strategies."""
    cases = int(_WORK / (n * n * m * (n + n * m)))
    return min(_CASES, cases) if cases >= _FEW_CASES else 0


def _bootstrapped(
    pooled: tuple[Pool, ...],
    estimates: Percentiles,
    table: ScoreTable,
    judging: Judging,
    q_er: Floats | None,
    workers: int,
    progress: Progress | None,
) -> Bounds:
    aggregates = resampled(
        pooled,
        equilibrium(estimates.z_aer).d_aer,
        estimates.payoff,
        judging.resamples,
        judging.seed,
        q_er=q_er,
        workers=workers,
        advance=counter("resamples", judging.resamples, progress),
    )
    low, high = percentile_ends(aggregates, judging.delta / table.trials.size)
    return Bounds(low, high, 0.0)


def counter(what: str, total: int, progress: Progress | None) -> Callable[[int], None] | None:
    """Return a function that counts up to ``total`` and reports it; None without ``progress``."""
    if progress is None:
        return None
    done = 0

    def advance(more: int) -> None:
        nonlocal done
        done += more
        progress(what, done, total)

    progress(what, 0, total)
    return advance


def _means(table: ScoreTable, delta: float) -> Means:
    low_ae, high_ae = mean_intervals(table, delta)
    mean_ae = np.array([[_mean(cell) for cell in row] for row in table.cells])
    found = tuple(
        ranks(np.nan_to_num(mean_ae[:, e], nan=-np.inf), low_ae[:, e], high_ae[:, e])
        for e in range(len(table.environments))
    )
    return Means(mean_ae, low_ae, high_ae, found)


def _mean(cell: Floats) -> float:
    """Return the mean, NaN of nothing; finite where a sum would overflow."""
    if not cell.size:
        return float("nan")
    with np.errstate(over="ignore"):
        mean = float(cell.mean())
    return mean if np.isfinite(mean) else float(np.sum(cell / cell.size))


def _derived(judging: Judging, slack: float, part: float, cases: int) -> Derived:
    """Return what was derived from the options; None for what was not used."""
    if judging.method.intervals is None:
        return Derived()
    if judging.conventions != "valid":
        return Derived(slack=slack)
    return Derived(slack=slack, functional=part, refine=cases if judging.weights == GAME else None)


def _is_nothing_known(found: Boxes | None, pairs: Pairs) -> bool:
    """Return whether no two algorithms are told apart, neither by their scores nor on any environment."""
    if found is None or pairs.better_ab.any():
        return False
    return bool(np.all((found.low_aer <= 0.5) & (found.high_aer >= 0.5)))


# Cells whose order has a smaller probability than this, if chance made it, were sorted on purpose.
_BY_CHANCE = 1e-9


def _out_of_order(chosen: Method, table: ScoreTable) -> list[str]:
    """Return the warning on sorted scores, for a method that takes them in the order of the trials."""
    found = [
        f"{table.algorithms[a]} on {table.environments[e]}"
        for a, row in enumerate(table.cells)
        for e, cell in enumerate(row)
        if 0 < chosen.block < cell.size and _is_sorted(cell)
    ]
    if not found:
        return []
    return [
        f"The scores of {len(found)} {'cell' if len(found) == 1 else 'cells'} are sorted ({', '.join(found[:3])}"
        f"{', ...' if len(found) > 3 else ''}). {chosen.title} cuts samples into blocks in the order of the trials, "
        "and its intervals are wrong if scores decided that order: hand them over as they arrived, or shuffled."
    ]


def _is_sorted(cell: Floats) -> bool:
    """Return whether scores are in ascending or descending order, and chance is not the reason."""
    if (cell[1:] < cell[:-1]).any() and (cell[1:] > cell[:-1]).any():
        return False
    # Of T!/(n1! n2! ...) orders, n1, n2, ... the numbers of equal scores, two are sorted.
    counts = np.unique(cell, return_counts=True)[1]
    orders = gammaln(cell.size + 1.0) - float(gammaln(counts + 1.0).sum())
    return bool(math.log(2.0) - orders < math.log(_BY_CHANCE))


def _warnings(
    chosen: Method, conventions: str, trials_ae: Ints, empty: list[tuple[str, str]], *, nothing: bool
) -> list[str]:
    found = []
    if not chosen.guaranteed:
        found.append(f"{chosen.title} is approximate: its intervals can miss more often than they say.")
    if conventions == "paper":
        found.append(
            "The paper's conventions are in use: they count ties as wins, take equal intervals for equal payoffs and "
            "what was observed for what is possible, so no level is guaranteed."
        )
    if empty:
        names = ", ".join(f"{algorithm} on {environment}" for algorithm, environment in empty[:3])
        found.append(
            f"{len(empty)} of {trials_ae.size} cells have no trials ({names}"
            f"{', ...' if len(empty) > 3 else ''}): their percentiles count as 1/2 in the scores, and as "
            "anything from 0 to 1 in the intervals."
        )
    least = int(trials_ae[trials_ae > 0].min())
    if least < _FEW and not chosen.guaranteed:
        found.append(f"The smallest cell has {least} trials, too few for an approximate method.")
    elif least < _FEW and nothing:
        found.append(
            f"No two algorithms are told apart, not even on a single environment, and the smallest cell has {least} "
            f"{'trial' if least == 1 else 'trials'}: run more before you read anything into the order."
        )
    return found
