"""How far our numbers are from the published ones, in standard errors."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from untuned.evaluation import Evaluation
from untuned.judge.intervals.dkw import mean_interval
from untuned.lab.table_two import Replication
from untuned.reproduction import published
from untuned.reproduction.published import Entry
from untuned.scores import Floats, Range, ScoreTable
from untuned.verdicts import listed


@dataclass(frozen=True)
class MeanComparison:
    """The mean score of a cell compared with the published one.

    Attributes
    ----------
    algorithm, environment
        The cell.
    trials, mean, spread
        Ours: their number, mean and standard deviation.
    published
        The paper's figure; None where it has none.
    z
        The difference as a z-score; None without a published figure, or without spread.
    within
        Whether guaranteed intervals on both means overlap; None without a published figure.
    """

    algorithm: str
    environment: str
    trials: int
    mean: float
    spread: float
    published: Entry | None
    z: float | None
    within: bool | None = None


@dataclass(frozen=True)
class ScoreComparison:
    """An aggregate score compared with the published one.

    Attributes
    ----------
    algorithm, score
        The algorithm, and our score.
    published
        The paper's figure by the bootstrap; None where it has none.
    z
        The difference as a z-score; None without a published figure, or if neither varies.
    """

    algorithm: str
    score: float
    published: Entry | None
    z: float | None


@dataclass(frozen=True)
class RateComparison:
    """A figure of Table 2 compared with the published one.

    Attributes
    ----------
    method, trials
        The line.
    what
        ``"failures"`` or ``"significant"``.
    value, published
        Ours and the paper's.
    z
        The difference as a z-score; None if neither varies.
    """

    method: str
    trials: int
    what: str
    value: float
    published: float
    z: float | None


@dataclass(frozen=True)
class Agreement:
    """A summary of z-scores.

    Attributes
    ----------
    compared
        How many there are.
    beyond_two, beyond_three
        How many are more than 2, and more than 3, away from 0.
    root_mean_square
        The root mean square; 1 if all differences are due to chance.
    largest
        The z-score furthest from 0.
    """

    compared: int
    beyond_two: int
    beyond_three: int
    root_mean_square: float
    largest: float

    @classmethod
    def of(cls, scores: "Sequence[float | None]") -> "Agreement | None":
        """Return the summary of the ``scores`` that are not None; None if all are."""
        known = np.array([z for z in scores if z is not None])
        if not known.size:
            return None
        sizes = np.abs(known)
        return cls(
            compared=int(known.size),
            beyond_two=int(np.count_nonzero(sizes > 2.0)),
            beyond_three=int(np.count_nonzero(sizes > 3.0)),
            root_mean_square=float(np.sqrt(np.mean(np.square(known)))),
            largest=float(known[np.argmax(sizes)]),
        )

    def sentence(self, what: str) -> str:
        """Return the summary as a sentence; ``what`` names what was compared."""
        by_chance = 2.0 * float(stats.norm.sf(2.0)) * self.compared
        verb = "is" if self.beyond_two == 1 else "are"
        return (
            f"Of {self.compared} {what} {self.beyond_two} {verb} more than 2 standard errors away from the published, "
            f"where chance alone gives {by_chance:.1f}."
        )

    def facts(self) -> dict[str, Any]:
        """Return the same as plain JSON types."""
        return dict(vars(self))


def mean_comparisons(table: ScoreTable, delta: float = 0.05) -> tuple[MeanComparison, ...]:
    """Return every cell compared with the published one, environment by environment.

    Parameters
    ----------
    table
        Our scores, on environments that declare their ranges.
    delta
        The allowed probability that any of the guaranteed intervals misses, ours and those on the published means.
    """
    found = []
    cells = len(table.environments) * len(table.algorithms)
    for e, environment in enumerate(table.environments):
        for algorithm in table.algorithms:
            scores = table.cell(algorithm, environment)
            known = published.means().get((algorithm, environment))
            found.append(
                MeanComparison(
                    algorithm,
                    environment,
                    int(scores.size),
                    float(scores.mean()),
                    float(scores.std(ddof=1)) if scores.size > 1 else math.nan,
                    known,
                    None if known is None else mean_z(scores, known.value),
                    None if known is None else _within(scores, known.value, table.ranges[e], delta / (2 * cells)),
                )
            )
    return tuple(found)


def _within(scores: Floats, mean: float, support: Range, delta: float) -> bool:
    """Return whether the true means may be equal, by Anderson's interval on ours and Hoeffding's on the published."""
    low, high = mean_interval(scores, delta, support)
    margin = (support[1] - support[0]) * math.sqrt(math.log(2.0 / delta) / (2.0 * published.TRIALS))
    margin += published.STEP / 2.0
    return low <= mean + margin and mean - margin <= high


def within_sentence(means: Sequence[MeanComparison]) -> list[str]:
    """Return a sentence on how many published means agree with ours; none where nothing is published."""
    known = [each for each in means if each.within is not None]
    if not known:
        return []
    outside = [f"{each.algorithm} on {each.environment}" for each in known if not each.within]
    agree = (
        f"{len(known) - len(outside)} of {len(known)} published mean scores agree with ours within guaranteed intervals"
    )
    return [f"{agree}, which hold together with probability 95 %{f'; not {listed(outside)}' if outside else ''}."]


def mean_z(scores: Floats, mean: float) -> float | None:
    """Return the z-score of the mean of scores compared with a published one; None without spread.

    If our trials have the distribution of the paper's, both means are of independent trials of one distribution, so
    our spread is used for both; and the published mean is rounded. Student's distribution makes it a z-score for any
    number of trials if scores are normal: with long tails and few trials some are further from 0.
    """
    if scores.size < 2 or not (spread := float(scores.std(ddof=1))) > 0.0:
        return None
    rounding = published.STEP**2 / 12.0
    error = math.sqrt(spread**2 * (1.0 / scores.size + 1.0 / published.TRIALS) + rounding)
    return _as_normal((float(scores.mean()) - mean) / error, scores.size - 1)


def _as_normal(t: float, freedom: int) -> float:
    """Return the normal quantile with the same tail probability as ``t`` in Student's distribution."""
    tail = float(stats.t.sf(abs(t), freedom))
    # So far out that the tail underflows: with many degrees of freedom both are the same anyway.
    return math.copysign(float(stats.norm.isf(tail)), t) if tail > 0.0 else t


def score_comparisons(bootstrapped: Evaluation) -> tuple[ScoreComparison, ...]:
    """Return the aggregate scores compared with the published ones, the best first.

    Parameters
    ----------
    bootstrapped
        An evaluation by the bootstrap under the paper's conventions: half the width of an interval is the same number
        of standard errors for ours and for the published ones, which gives the z-scores.
    """
    found = []
    for a in bootstrapped.order:
        name = bootstrapped.algorithms[a]
        known = published.aggregates().get(("bootstrap", name))
        z = None
        if known is not None:
            quantile = float(stats.norm.isf(_bootstrap_level(bootstrapped) / 2.0))
            ours = float(bootstrapped.high_a[a] - bootstrapped.low_a[a]) / 2.0
            theirs = (known.high - known.low) / 2.0
            error = math.hypot(ours, theirs) / quantile
            z = (float(bootstrapped.score_a[a]) - known.value) / error if error > 0.0 else None
        found.append(ScoreComparison(name, float(bootstrapped.score_a[a]), known, z))
    return tuple(found)


def _bootstrap_level(evaluation: Evaluation) -> float:
    """Return the level of each interval: the paper divides delta by the number of cells."""
    return evaluation.delta / (len(evaluation.algorithms) * len(evaluation.environments))


def rate_comparisons(replication: Replication) -> tuple[RateComparison, ...]:
    """Return the figures of Table 2 that the paper has too, compared with the published ones."""
    found = []
    for row in replication.rows:
        for what, value, error, known in (
            ("failures", row.failures, row.failures_error, row.published_failures),
            ("significant", row.significant, row.significant_error, row.published_significant),
        ):
            if value is None or known is None:
                continue
            z = None
            if error is not None and error > 0.0:
                # The published figures vary from sample to sample as ours do, but come from more samples.
                both = error * math.sqrt(1.0 + row.samples / published.SAMPLES)
                z = (value - known) / both
            found.append(RateComparison(row.method, row.trials, what, value, known, z))
    return tuple(found)
