"""From a `ScoreTable` to an `Evaluation`: the function that composes the rest of `judge`."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from untuned import families
from untuned.diagnostics.order import is_sorted
from untuned.errors import InvalidInput
from untuned.evaluation import Derived, Evaluation, Means, PercentileTable, Ranking, Weighting
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
from untuned.judge.methods import ANYTIME, ANYTIME_DEFAULT, DEFAULT, method
from untuned.judge.multiplicity import boxes_with_weight, check_maximum, declared_delta, with_weight
from untuned.judge.percentiles import Percentiles, percentiles
from untuned.judge.pool import Pool, pools
from untuned.judge.pooled.bounds import pooled as bounded_by_evidence
from untuned.judge.pooled.bounds import share_of_boxes
from untuned.judge.prefixes import without_gaps
from untuned.judge.propagate import LIMITS, Bounds, Limits, aggregate_goals, bounds_of, propagated, solutions, weighted
from untuned.judge.ranks import ranks, ranks_by_verdicts
from untuned.judge.simultaneous_intervals import Boxes
from untuned.judge.threads import Progress, counter
from untuned.judge.weights import weights_of
from untuned.scores import Floats, Ints, ScoreTable
from untuned.verdicts import Pairs

# With fewer trials than this, even approximate methods are unreliable.
_FEW = 30
#: The number of parts of an interval on each side of 1/2 where aggregates are bounded.
PARTS = 1
# The number of cases that branching may bound for a pair: it takes seconds; 0 on boards where it would take hours.
_CASES = 3000
_FEW_CASES = 10
_WORK = 3e7


def judge(table: ScoreTable, judging: Judging, *, workers: int = 1, progress: Progress | None = None) -> Evaluation:
    """Return scores, intervals, verdicts and ranks of all algorithms in a table, under every requested weighting."""
    workers = whole("workers", workers, 1, "one per processor is a good number")
    _check(table)
    judging = _for_races(table, _with_families(table, judging))
    table, gaps = without_gaps(table, judging.method)
    weights = weights_of(judging, table.algorithms, table.environments)
    check_maximum(judging.max_algorithms, table.algorithms)
    pooled = pools(table)
    estimates = percentiles(pooled, judging.payoff)
    # Environments without weight do not count. With several rankings all count: one has the game's or equal weights.
    any_q_er = next(iter(weights.values()))
    empty = _empty(table, estimates, any_q_er)
    counted_ae = estimates.trials_ae[:, with_weight(any_q_er, len(table.environments))]
    shares = judging.shares(tuple(weights))
    methods = {each: judging.method_under(each) for each in weights}
    share_e = families.shares(judging.families, table.environments)

    boxed = [each for each in weights if methods[each].intervals is not None]
    # Before any score is used: the part of delta of each bound. The functional bound is for one look only, and
    # where rankings share intervals it must not take delta from the game's.
    parts = dict.fromkeys(weights, 0.0)
    if boxed and judging.conventions == "valid" and not methods[boxed[0]].anytime:
        parts[boxed[0]] = share(estimates.trials_ae, weights[boxed[0]])
    found: Boxes | None = None
    spent = declared_delta(judging.delta, judging.max_algorithms, pooled, any_q_er)
    if boxed:
        level = shares[boxed[0]] * (1.0 - sum(parts[each] for each in boxed)) * spent
        found = boxes_with_weight(
            methods[boxed[0]], table, pooled, estimates, level, judging.conventions, weights[boxed[0]]
        )
    elif len(weights) == 1 and methods[next(iter(weights))].fixed and any_q_er is not None:
        part = share_of_boxes(any_q_er)
        if part > 0.0:
            boxing = method(ANYTIME_DEFAULT if judging.anytime else DEFAULT)
            found = boxes_with_weight(boxing, table, pooled, estimates, part * spent, "valid", any_q_er)
            shares = dict.fromkeys(shares, 1.0 - part)
    found = None if found is None else replace(found, share_e=share_e)

    scores = _Scores(table, pooled, estimates, found)
    rankings, head_to_head, slack, error = [], None, 0.0, 0.0
    for each, q_er in weights.items():
        balance = None if q_er is not None else equilibrium(estimates.z_aer, share_e=share_e)
        weights_er: Floats = balance.q_er if balance is not None else q_er  # type: ignore[assignment]
        score_a = aggregate(estimates.z_aer, weights_er)
        part = shares[each] * parts[each] * spent
        given = _Asked(judging, methods[each], q_er, shares[each] * judging.delta, part)
        cap_ab = None
        if methods[each].fixed:
            assert q_er is not None
            known = bounded_by_evidence(
                table,
                pooled,
                estimates,
                q_er,
                score_a,
                given.delta,
                found,
                workers,
                anytime=methods[each].anytime,
                progress=progress,
            )
            bounds, pairs, cap_ab = known.bounds, known.pairs, known.cap_ab
            head_to_head = known.head_to_head
        else:
            bounds, pairs = _ranked(scores, given, score_a, workers, progress)
        slack, error = max(slack, bounds.slack), max(error, 0.0 if balance is None else balance.error)
        rankings.append(
            Ranking(
                weights=each,
                method=methods[each].name,
                q_er=weights_er,
                score_a=score_a,
                low_a=bounds.low_a,
                high_a=bounds.high_a,
                ranks=ranks_by_verdicts(score_a, pairs),
                pairs=pairs,
                cap_ab=cap_ab,
            )
        )

    return Evaluation(
        judging=judging,
        algorithms=table.algorithms,
        environments=table.environments,
        rankings=tuple(rankings),
        percentiles=PercentileTable(
            estimates.z_aer, None if found is None else found.low_aer, None if found is None else found.high_aer
        ),
        means=_means(table, judging),
        trials_ae=table.trials,
        ranges=table.ranges,
        scores=table,
        head_to_head=head_to_head,
        derived=replace(
            _derived(judging, tuple(weights), shares, slack, max(parts.values()), _cases_of(judging, estimates)),
            undeclared=_changed(judging, table) or None,
        ),
        provenance=table.provenance,
        warnings=(
            *_warnings(judging, counted_ae, empty),
            *gaps,
            *_out_of_order(judging.method, table),
            *_of_races(judging, table),
            *_unsolved(error, slack),
        ),
    )


@dataclass(frozen=True, eq=False)
class _Scores:
    """The data that all rankings share: scores, percentiles, and intervals on percentiles if a method has any."""

    table: ScoreTable
    pools: tuple[Pool, ...]
    estimates: Percentiles
    boxes: Boxes | None


@dataclass(frozen=True, eq=False)
class _Asked:
    """One requested ranking: weights (None for the game's), method, delta, and the functional bound's part."""

    judging: Judging
    method: Method
    q_er: Floats | None
    delta: float
    functional: float


def _ranked(
    scores: _Scores, asked: _Asked, score_a: Floats, workers: int, progress: Progress | None
) -> tuple[Bounds, Pairs]:
    """Return the bounds on scores and on their differences, by intervals on percentiles or by the bootstrap."""
    judging = asked.judging
    found = scores.boxes
    if found is None:
        bounds, differences = _bootstrapped(scores, asked, workers, progress)
    elif asked.q_er is not None:
        bounds = weighted(found, asked.q_er)
        differences = under_given_weights(bounds, scores.estimates, asked.q_er, found.same_aer, asked.functional)
    elif judging.conventions == "paper":
        advance = counter("bounds", 2 * len(score_a), progress)
        bounds = propagated(found, workers=workers, advance=advance)
        differences = separate(bounds)
    else:
        cases = _cases_of(judging, scores.estimates)
        bounds, differences = _bounded(found, scores.estimates, score_a, asked.functional, cases, workers, progress)
    if judging.conventions == "valid":
        differences = equal(differences, scores.table.kinds)
    return bounds, differences.pairs()


def _cases_of(judging: Judging, estimates: Percentiles) -> int:
    return default_cases(*estimates.trials_ae.shape) if judging.refine is None else judging.refine


#: Errors below this do not change any printed digit.
_SOLVED = 1e-6


def _unsolved(error: float, slack: float) -> list[str]:
    """Return the warnings of solvers that stopped too far from the solution."""
    found = []
    if error > _SOLVED:
        found.append(f"The game was not solved exactly: scores may be wrong by {error:.1g}.")
    if slack > _SOLVED:
        found.append(f"The bounds were not solved exactly: they hold, and may be wider than need be by {slack:.1g}.")
    return found


def _empty(table: ScoreTable, estimates: Percentiles, q_er: Floats | None) -> list[tuple[str, str]]:
    """Return the cells with weight but without data: neither measured nor declared identical to a measured one."""
    counted = with_weight(q_er, len(table.environments))
    return [
        (table.algorithms[a], table.environments[e]) for a, e in np.argwhere(estimates.trials_ae == 0) if e in counted
    ]


def _with_families(table: ScoreTable, judging: Judging) -> Judging:
    """Return the options with the families that the race or the study declares, unless others were given."""
    declared = _declared_families(table)
    if judging.families is not None or not declared:
        return judging
    if judging.conventions == "paper":
        raise InvalidInput(
            "the study declares families, which conventions='paper' does not have: in the published game every "
            "environment counts by itself. Pass families={} (--families none)"
        )
    return replace(judging, families=declared)


def _declared_families(table: ScoreTable) -> dict[str, tuple[str, ...]]:
    """Return the families of the race, where there was one among these environments, else those of the study."""
    known = dict(table.families or {})
    if table.declared is None or _undeclared(table, table.declared):
        return known
    names = {frozenset(variants): name for name, variants in known.items()}
    environments = table.declared["environments"]
    raced = [tuple(environments[e] for e in each) for each in table.declared.get("families", ())]
    return {names.get(frozenset(each), "+".join(each)): each for each in raced}


def _for_races(table: ScoreTable, judging: Judging) -> Judging:
    """Return the options for a study whose scores decided its numbers of trials.

    By default its weights are those that the race declared, and the methods those that hold at all times.
    """
    if table.declared is None:
        return judging
    if judging.conventions == "valid":
        if judging.weights is None and not _undeclared(table, table.declared):
            judging = replace(judging, weights=_declared_weights(table, table.declared))
        if judging.intervals is None:
            judging = replace(judging, intervals=ANYTIME)
    for each in judging.weightings:
        chosen = judging.method_under(each)
        if judging.valid and not chosen.anytime:
            raise InvalidInput(
                f"the study was raced: its scores decided the numbers of trials, which {chosen.name!r} must have from "
                f"the start. Leave intervals out, or pass intervals={ANYTIME!r}"
            )
    return judging


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


def default_cases(n: int, m: int) -> int:
    """Return how many cases branching may bound, by the size of the board: all moves of all joint strategies."""
    cases = int(_WORK / (n * n * m * (n + n * m)))
    return min(_CASES, cases) if cases >= _FEW_CASES else 0


def _bootstrapped(
    scores: _Scores, asked: _Asked, workers: int, progress: Progress | None
) -> tuple[Bounds, Differences]:
    """Return bootstrap intervals on scores, at the paper's levels, and on their differences."""
    judging, table = asked.judging, scores.table
    empty = _empty(table, scores.estimates, asked.q_er)
    if empty:
        algorithm, environment = empty[0]
        raise InvalidInput(
            f"{algorithm!r} has no trials on {environment!r}"
            f"{f', and {len(empty) - 1} more cells are empty' if len(empty) > 1 else ''}: "
            f"{asked.method.name} cannot draw from an empty sample. Run the missing cells, or leave intervals out: the "
            "default takes them into account"
        )
    # Samples are drawn one after another from one stream, in the order of their names, so the order of the table does
    # not matter.
    a = np.argsort(table.algorithms, kind="stable")
    counted = with_weight(asked.q_er, len(table.environments))
    e = np.array(sorted(counted, key=lambda number: table.environments[number]))
    by_name = table.select([table.algorithms[i] for i in a], [table.environments[j] for j in e])
    pooled = pools(by_name)
    estimates = percentiles(pooled, judging.payoff)
    share_e = families.shares(judging.families, by_name.environments)
    aggregates = resampled(
        pooled,
        equilibrium(estimates.z_aer, share_e=share_e).d_aer,
        estimates.payoff,
        judging.resamples,
        judging.seed,
        q_er=None if asked.q_er is None else np.ascontiguousarray(asked.q_er[np.ix_(e, a)]),
        share_e=share_e,
        workers=workers,
        advance=counter("resamples", judging.resamples, progress),
    )
    aggregates = aggregates[:, np.argsort(a)]
    bounds = Bounds(*percentile_ends(aggregates, asked.delta / by_name.trials.size), 0.0)
    if judging.conventions == "paper":
        return bounds, separate(bounds)
    # Resampled together, differences vary less than scores do.
    n = len(table.algorithms)
    high_ab = np.zeros((n, n))
    for i in range(n):
        low, high = percentile_ends(aggregates[:, i, None] - aggregates, asked.delta / (n * (n - 1) // 2))
        high_ab[i] = high
        high_ab[:, i] = np.maximum(high_ab[:, i], -low)
    np.fill_diagonal(high_ab, 0.0)
    return bounds, Differences(high_ab, np.zeros((n, n), dtype=np.bool_))


def _means(table: ScoreTable, judging: Judging) -> Means:
    low_ae, high_ae = mean_intervals(table, judging.delta, judging.anytime)
    mean_ae = np.array([[_mean(cell) for cell in row] for row in table.cells])
    found = tuple(
        ranks(np.nan_to_num(mean_ae[:, e], nan=-np.inf), low_ae[:, e], high_ae[:, e])
        for e in range(len(table.environments))
    )
    return Means(mean_ae, low_ae, high_ae, found)


def _mean(cell: Floats) -> float:
    """Return the mean; NaN for no numbers, finite where a sum would overflow."""
    if not cell.size:
        return float("nan")
    with np.errstate(over="ignore"):
        mean = float(cell.mean())
    return mean if np.isfinite(mean) else float(np.sum(cell / cell.size))


def _derived(
    judging: Judging,
    weightings: tuple[Weighting, ...],
    shares: Mapping[Weighting, float],
    slack: float,
    part: float,
    cases: int,
) -> Derived:
    """Return the values derived from the options; None for those that were not used."""
    split = dict(shares) if len(weightings) > 1 else None
    intervals = any(judging.method_under(each).intervals is not None for each in weightings)
    if not intervals or judging.conventions != "valid":
        return Derived(slack=slack if intervals else None, shares=split)
    return Derived(slack=slack, functional=part, refine=cases if GAME in weightings else None, shares=split)


def _of_races(judging: Judging, table: ScoreTable) -> list[str]:
    """Return the warnings on a study that was raced."""
    declared = table.declared
    if declared is None:
        return []
    found = []
    if not judging.anytime:
        found.append("The study was raced: its scores decided the numbers of trials, which the method does not know.")
    changed = _changed(judging, table)
    if _NAMES in changed:
        others = sorted(_undeclared(table, declared))
        found.append(
            f"The race was declared with other algorithms or environments ({', '.join(others[:3])}"
            f"{', ...' if len(others) > 3 else ''}): if its results decided which are compared now, no level holds."
        )
    elif changed:
        weights = _WEIGHTS[declared["weights"]] if isinstance(declared["weights"], str) else "given weights"
        found.append(
            f"The race was declared with delta={declared['delta']:g} and {weights}"
            f"{', and other families' if 'families' in changed else ''}: results for others hold by "
            "themselves, if they were chosen before the race, and not together with the race's."
        )
    return found


_NAMES = "algorithms and environments"
_WEIGHTS = {"uniform": "equal weights", "game": "the game's weights", "both": "both kinds of weights"}


def _changed(judging: Judging, table: ScoreTable) -> tuple[str, ...]:
    """Return what differs from what the race declared; nothing for a study that was not raced."""
    if table.declared is None:
        return ()
    others = bool(_undeclared(table, table.declared))
    weighed = others or _weighs_as(table.declared, judging, table)
    variants = {frozenset(each) for each in (judging.families or {}).values() if len(each) > 1}
    names = table.declared["environments"]
    declared = {frozenset(names[e] for e in each) for each in table.declared.get("families", ())}
    differ = {
        _NAMES: others,
        "delta": judging.delta != table.declared["delta"],
        "weights": not weighed,
        "families": not others and variants != declared,
    }
    return tuple(name for name, each in differ.items() if each)


def _undeclared(table: ScoreTable, declared: Mapping[str, Any]) -> set[str]:
    """Return the algorithms and environments that only one of the table and the race's declaration has."""
    return {*table.algorithms} ^ {*declared["algorithms"]} | {*table.environments} ^ {*declared["environments"]}


def _declared_weights(table: ScoreTable, declared: Mapping[str, Any]) -> Any:
    """Return the weights that the race declared: a name, or an array in the order of the table."""
    if isinstance(declared["weights"], str):
        return declared["weights"]
    rows = [declared["environments"].index(name) for name in table.environments]
    columns = [declared["algorithms"].index(name) for name in table.algorithms]
    return np.array(declared["weights"])[np.ix_(rows, columns)]


def _weighs_as(declared: Mapping[str, Any], judging: Judging, table: ScoreTable) -> bool:
    """Return whether the weights are those that were declared; by default they are."""
    if judging.weights is None:
        return True
    wanted = _declared_weights(table, declared)
    if isinstance(wanted, str) or isinstance(judging.weights, str):
        return isinstance(wanted, str) and judging.weights == wanted
    (q_er,) = weights_of(judging, table.algorithms, table.environments).values()
    return q_er is not None and bool(np.allclose(q_er, wanted, rtol=1e-12, atol=0.0))


def _out_of_order(chosen: Method, table: ScoreTable) -> list[str]:
    """Return the warning on sorted scores, for a method that takes them in the order of the trials."""
    found = [
        f"{table.algorithms[a]} on {table.environments[e]}"
        for a, row in enumerate(table.cells)
        for e, cell in enumerate(row)
        if 0 < chosen.block < cell.size and is_sorted(cell)
    ]
    if not found:
        return []
    return [
        f"The scores of {len(found)} {'cell' if len(found) == 1 else 'cells'} are sorted ({', '.join(found[:3])}"
        f"{', ...' if len(found) > 3 else ''}). {chosen.title} cuts samples into blocks in the order of the trials, "
        "and its intervals are wrong if scores decided that order: hand them over as they arrived, or shuffled."
    ]


def _warnings(judging: Judging, trials_ae: Ints, empty: list[tuple[str, str]]) -> list[str]:
    found = []
    chosen = judging.method
    if not chosen.guaranteed:
        found.append(f"{chosen.title} is approximate: its intervals can miss more often than they say.")
    if judging.conventions == "paper":
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
    least = int(trials_ae[trials_ae > 0].min(initial=_FEW))
    if least < _FEW and not chosen.guaranteed:
        trials = "trial" if least == 1 else "trials"
        found.append(f"The smallest cell has {least} {trials}, too few for an approximate method.")
    return found
