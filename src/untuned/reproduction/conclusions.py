"""The paper's conclusions, statement by statement, and whether these trials confirm them.

A statement holds, or does not, when intervals that hold simultaneously with probability 95 % show it; until then it is
not decided. Statements on aggregate scores are decided by verdicts on pairs, which hold simultaneously; each of the
other statements has its own confidence limits. Statements on the ends of distributions define these ends by the same
trials, and treat the numbers of trials as chosen beforehand, so their limits are approximate.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, Protocol

import numpy as np

from untuned.collect.environments.names import NAMES
from untuned.evaluation import Evaluation
from untuned.lab.rates import Rate
from untuned.lab.table_two import Replicates, Replication
from untuned.reproduction.published import TRIALS
from untuned.scores import Ints, spread
from untuned.statements import decimals
from untuned.verdicts import listed

Status = Literal["holds", "does not hold", "not decided yet"]
Names = tuple[str, str]
HOLDS: Status = "holds"
NOT: Status = "does not hold"
OPEN: Status = "not decided yet"


class Prices(Protocol):
    """The cost of more trials, in words."""

    def of_pairs(self, weighting: str, pairs: Sequence[Names]) -> str:
        """Return the cost of deciding some pairs."""
        ...

    def of_trials(self, numbers_ae: Ints) -> str:
        """Return how long it would take until every cell has its number of trials."""
        ...


#: The probability of error of each statement that needs no aggregates.
_DELTA = 0.05
#: Near the best: within this share of the distance from the best observed score to the score that most trials reach;
#: and the share that counts as most.
_NEAR = 0.1
_MOST = 0.95
#: The low end: this share of all trials.
_LOW = 0.1
#: Reliably: in this share of trials.
_RELIABLY = 0.95
#: The delta of Table 2.
_LEVEL = 0.05


@dataclass(frozen=True)
class Conclusion:
    """A statement of the paper, and whether it holds here.

    Attributes
    ----------
    statement
        The statement, a sentence.
    place
        Where the paper makes it.
    status
        Whether it holds, by methods that guarantee their level.
    because
        The reason.
    others
        For statements on aggregate scores, the verdicts of other methods, by their names.
    equal
        Whether a statement on aggregate scores holds under equal weights; None for other statements.
    cost
        The cost of deciding it: a text, empty where it is decided.
    """

    statement: str
    place: str
    status: Status
    because: str
    others: Mapping[str, Status] = field(default_factory=lambda: MappingProxyType({}))
    equal: Status | None = None
    # Costs are measured, so they are not reproducible.
    cost: str = field(default="", compare=False)

    @property
    def best(self) -> Status:
        """Whether it holds, under equal weights where those of the game do not decide it."""
        return self.equal if self.status == OPEN and self.equal is not None else self.status

    def facts(self) -> dict[str, Any]:
        """Return the same as plain JSON types."""
        return {**vars(self), "others": dict(self.others)}


def conclusions(
    found: Evaluation,
    others: Sequence[Evaluation],
    replication: Replication | None,
    prices: Prices | None = None,
) -> tuple[Conclusion, ...]:
    """Return the paper's conclusions, and whether they hold here.

    Parameters
    ----------
    found
        The evaluation by a method that guarantees its level.
    others
        The same scores by the paper's methods.
    replication
        The result of the test of Table 2; None where it was not run.
    prices
        The cost of more trials; None to leave costs out.
    """
    statements = [
        *_on_pairs(found, others, prices),
        *_on_distributions(found, prices),
        *_on_intervals(found, others, prices),
    ]
    return (*statements, *(() if replication is None else _on_table_two(replication)))


# Aggregate scores.


def claims(algorithms: Sequence[str]) -> list[tuple[str, str, list[Names]]]:
    """Return the paper's statements on pairs of algorithms: the statement, its place, and pairs (better, worse)."""
    top = ("sarsa-parl2", "q-parl2")
    rest = [name for name in algorithms if name not in top]
    return [
        (
            "Sarsa-Parl2 and Q-Parl2 have a higher aggregate score than all other algorithms",
            "section 6.3, with 95 % confidence by PBP",
            [(best, other) for best in top for other in rest],
        ),
        *(
            (f"{better} outperforms {worse}", "section 6.2", [(better.lower(), worse.lower())])
            for better, worse in (("Sarsa", "Q"), ("Sarsa-s", "Q-s"), ("Sarsa-Parl2", "Q-Parl2"))
        ),
        ("NAC-TD performs worse than AC, although natural gradients ascend better", "section 6.2", [("ac", "nac-td")]),
        *(
            (
                f"Parl2 gives {name} a boost over drawing its step size",
                "section 6.2",
                [(f"{name.lower()}-parl2", name.lower())],
            )
            for name in ("Sarsa", "Q", "AC")
        ),
    ]


def _on_pairs(found: Evaluation, others: Sequence[Evaluation], prices: Prices | None) -> list[Conclusion]:
    return [_on_some_pairs(found, others, prices, *claim) for claim in claims(found.algorithms)]


def _on_some_pairs(
    found: Evaluation,
    others: Sequence[Evaluation],
    prices: Prices | None,
    statement: str,
    place: str,
    pairs: list[Names],
) -> Conclusion:
    status = _status(found, pairs)
    equal = _status(found.under("uniform"), pairs)
    costs = [
        f"{weights}: {prices.of_pairs(name, pairs)}"
        for name, weights, said in (("game", "the game's weights", status), ("uniform", "equal weights", equal))
        if said == OPEN and prices is not None
    ]
    because = f"{_said(found, pairs)}; with equal weights {_said(found.under('uniform'), pairs)}"
    return Conclusion(
        statement,
        place,
        status,
        because,
        MappingProxyType({other.method: _status(other, pairs) for other in others}),
        equal,
        "; ".join(costs),
    )


def _said(found: Evaluation, pairs: Sequence[Names]) -> str:
    """Return the first ranking's verdicts on some pairs."""
    if len(pairs) == 1:
        (a, b), *_ = pairs
        low, high = found.difference(a, b)
        difference = found.score_a[found.algorithms.index(a)] - found.score_a[found.algorithms.index(b)]
        places = decimals([(low, high)], 0.0)
        shown = [f"{number:+.{places}f}" for number in (difference, low, high)]
        return f"{a} less {b}: {shown[0]}, in ({shown[1]}, {shown[2]}) by {found.method}"
    said = [found.verdict(a, b) for a, b in pairs]
    return (
        f"{said.count('better')} of {len(pairs)} pairs are decided so and {said.count('worse')} the other way by "
        f"{found.method}"
    )


def _status(found: Evaluation, pairs: Iterable[tuple[str, str]]) -> Status:
    """Return whether the first of every pair is better: false if one is worse, open if one is open."""
    said = {found.verdict(a, b) for a, b in pairs}
    if "worse" in said:
        return NOT
    return HOLDS if said == {"better"} else OPEN


# Distributions of scores.


def _on_distributions(found: Evaluation, prices: Prices | None) -> list[Conclusion]:
    near = [_near(found, e) for e in range(len(found.environments))]
    # One good trial proves it; the absence of one proves nothing, because one may still come.
    reached = sum(int(flags.any()) for rows in near for flags in rows)
    cells = len(found.algorithms) * len(found.environments)
    tuned = Conclusion(
        "All algorithms perform near optimally when they are tuned: the high ends of their distributions",
        "section 6.2",
        HOLDS if reached == cells else OPEN,
        f"in {reached} of {cells} cells a trial came near the best score seen: within {100 * _NEAR:.0f} % of the way "
        f"from it to what {100 * _MOST:.0f} % of all trials reach",
        cost=""
        if prices is None or reached == cells
        else f"unknown: a better trial in {'one cell' if cells - reached == 1 else f'each of {cells - reached} cells'}",
    )
    # For every algorithm, the probability of being near the best is below the limit in some environment.
    unreliable, reliable = 0, 0
    for a in range(len(found.algorithms)):
        rates = [
            Rate.of(int(flags[a].sum()), flags[a].size, 1.0 - _DELTA / (len(found.algorithms) * len(near)))
            for flags in near
        ]
        unreliable += any(rate.high < _RELIABLY for rate in rates)
        reliable += all(rate.low >= _RELIABLY for rate in rates)
    solved = Conclusion(
        "No complete algorithm solves all environments reliably yet",
        "section 6.1",
        # That some solve these environments says nothing about others.
        (NOT if len(near) == len(NAMES) else OPEN)
        if reliable
        else HOLDS
        if unreliable == len(found.algorithms)
        else OPEN,
        f"{unreliable} of {len(found.algorithms)} algorithms come that near in fewer than {100 * _RELIABLY:.0f} % of "
        "trials of some environment",
    )
    return [_on_low_ends(found, prices), tuned, solved]


def _on_low_ends(found: Evaluation, prices: Prices | None) -> Conclusion:
    """Return whether Parl2 keeps trials from the low end, where the paper sees divergence."""
    names = ("sarsa", "q", "ac")
    limits = [_reached(found, e, 1.0 - _LOW) for e in range(len(found.environments))]
    lines, said, factor = [], [], 1.0
    for name in names:
        ends = []
        for algorithm in (name, f"{name}-parl2"):
            scores = found.scores.cells[found.algorithms.index(algorithm)]
            rate = float(np.mean([(each < limit).mean() for each, limit in zip(scores, limits, strict=True)]))
            # Hoeffding's inequality; two sides of two rates of three algorithms. All environments weigh the same.
            spread_of_it = sum(1.0 / each.size for each in scores) / len(scores) ** 2
            margin = float(np.sqrt(np.log(2.0 * 2 * len(names) / _DELTA) / 2.0 * spread_of_it))
            ends.append((rate - margin, rate, rate + margin))
        (base_low, base, base_high), (low, adapted, high) = ends
        lines.append(f"{name} {100 * base:.1f} %, with Parl2 {100 * adapted:.1f} %")
        said.append(HOLDS if high < base_low else NOT if low > base_high else OPEN)
        if said[-1] == OPEN:
            # Margins shrink like one over the square root of the number of trials.
            factor = max(factor, ((base_high - base_low + high - low) / 2.0 / max(abs(base - adapted), 1e-4)) ** 2)
    wanted_ae = np.ceil(factor * found.trials_ae).astype(np.int64)
    return Conclusion(
        "Parl2 methods rarely diverge: they are less often at the low end than those whose step size is drawn",
        "section 6.2",
        _all_of(said),
        f"trials among the worst tenth of an environment's, each environment counting the same: {'; '.join(lines)}",
        cost="" if prices is None or _all_of(said) != OPEN else prices.of_trials(wanted_ae),
    )


def _near(found: Evaluation, e: int) -> list[Any]:
    """Return, for every algorithm, which of its trials in an environment were near the best score of any algorithm."""
    scores = [row[e] for row in found.scores.cells]
    best = max(float(each.max()) for each in scores)
    limit = best - _NEAR * (best - _reached(found, e, _MOST))
    return [each >= limit for each in scores]


def _reached(found: Evaluation, e: int, share: float) -> float:
    """Return the score in an environment that a share of all trials reaches; every algorithm weighs the same."""
    scores = [row[e] for row in found.scores.cells]
    pooled = np.concatenate(scores)
    # Whatever its number of trials.
    weights = np.concatenate([np.full(each.size, 1.0 / (each.size * len(scores))) for each in scores])
    order = np.argsort(pooled, kind="stable")
    place = int(np.searchsorted(np.cumsum(weights[order]), 1.0 - share))
    return float(pooled[order[min(place, pooled.size - 1)]])


# Interval methods.


def _on_intervals(found: Evaluation, others: Sequence[Evaluation], prices: Prices | None) -> list[Conclusion]:
    by_name = {other.method: other for other in others}
    pbp = by_name["pbp"]
    n = len(found.algorithms)
    total = n * (n - 1) // 2
    decided = int(np.count_nonzero(pbp.pairs.better_ab))
    enough = int(found.trials_ae.min()) >= TRIALS
    unique = Conclusion(
        f"{TRIALS:,} trials are not enough for a unique ranking by PBP",
        "section 6.3",
        # Fewer trials prove nothing about that many.
        (HOLDS if decided < total else NOT) if enough else NOT if decided == total else OPEN,
        f"PBP decides {decided} of {total} pairs with {spread(found.trials_ae)} trials per cell",
        cost="" if prices is None or enough else prices.of_trials(np.full(found.trials_ae.shape, TRIALS)),
    )
    wide = pbp.high_a - pbp.low_a
    tighter = {
        name: int(np.count_nonzero(by_name[name].high_a - by_name[name].low_a < wide))
        for name in ("pbp-t", "bootstrap")
    }
    all_tighter = all(count == n for count in tighter.values())
    return [
        unique,
        Conclusion(
            "PBP-t and the bootstrap have tighter intervals than PBP",
            "section 6.3",
            # The paper had more trials: with a handful, Student's intervals exceed the range of all scores.
            HOLDS if all_tighter else NOT if enough else OPEN,
            f"tighter for {listed([f'{count} of {n} algorithms by {name}' for name, count in tighter.items()])}, in "
            "these trials",
            cost="" if all_tighter or enough or prices is None else unique.cost,
        ),
    ]


# The test of interval methods.


def _on_table_two(replication: Replication) -> list[Conclusion]:
    rows: dict[str, list[Replicates]] = {}
    for row in replication.rows:
        rows.setdefault(row.method, []).append(row)
    found = []
    for statement, method, judged in (
        ("PBP-t is reliable: it fails no more often than it says", "pbp-t@paper", _kept),
        ("PBP never fails: it is overly conservative", "pbp@paper", _never),
        ("The bootstrap fails more often than it says", "bootstrap@paper", _too_often),
    ):
        if method not in rows:
            continue
        seen = listed([f"{row.truth.count} of {row.truth.total} with {row.trials:,} trials" for row in rows[method]])
        found.append(
            Conclusion(
                statement,
                "section 6.3, Table 2",
                judged(rows[method]),
                f"samples whose intervals miss the population's scores: {seen}",
            )
        )
    return found


def _kept(rows: Sequence[Replicates]) -> Status:
    """Return whether a method keeps its level: over all samples, and with no number of trials is it shown not to."""
    rates = [row.truth for row in rows]
    if any(rate.finding(_LEVEL) == "broken" for rate in rates):
        return NOT
    pooled = Rate.of(sum(rate.count for rate in rates), sum(rate.total for rate in rates))
    return HOLDS if pooled.finding(_LEVEL) == "kept" else OPEN


def _never(rows: Sequence[Replicates]) -> Status:
    """Return whether an event never happens: it did not, and a rate above the level is ruled out."""
    rates = [row.truth for row in rows]
    if any(rate.count for rate in rates):
        return NOT
    return HOLDS if Rate.of(0, sum(rate.total for rate in rates)).high <= _LEVEL else OPEN


def _too_often(rows: Sequence[Replicates]) -> Status:
    """Return whether an event happens more often than the level allows, with some number of trials."""
    said = {row.truth.finding(_LEVEL) for row in rows}
    return HOLDS if "broken" in said else NOT if said == {"kept"} else OPEN


def _all_of(said: Sequence[Status]) -> Status:
    """Return whether a statement on every line holds."""
    return NOT if NOT in said else HOLDS if set(said) == {HOLDS} else OPEN
