"""The ways of evaluating that are compared. Each draws the conclusions that its users draw."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

from untuned.diagnostics.finding import Finding
from untuned.errors import InvalidInput
from untuned.evaluation import Evaluation
from untuned.families import Families, among, count, shares
from untuned.judge.comparing.records import Bools, Promise, Way
from untuned.judge.judging import Judging
from untuned.judge.summaries.normalisations import Ratio
from untuned.judge.summaries.records import Summaries
from untuned.judge.summaries.statistics import STATISTICS
from untuned.judge.summaries.summarizing import summarized
from untuned.scores import Floats, ScoreTable

VERDICTS = "its verdicts"
APART = "intervals that do not overlap"
ORDER = "the order alone"
#: For what knows no families.
NO_FAMILIES = " Families are not used: every environment counts by itself."

#: Called with the name of a way before it begins.
Step = Callable[[str], None]


@dataclass(frozen=True)
class Asked:
    """The data and options that all ways share.

    Parameters
    ----------
    table
        The scores.
    judging
        Delta, resamples, seed and families; the other options are not used.
    workers
        How many threads; no number depends on it.
    findings
        What was found in the scores, and accepted.
    """

    table: ScoreTable
    judging: Judging
    workers: int
    findings: tuple[Finding, ...] = ()

    @property
    def families(self) -> Families | None:
        """The families in use, of several variants each; None for none."""
        given = self.table.families if self.judging.families is None else self.judging.families
        return given if shares(given, self.table.environments) is not None else None

    def weights(self, environments: Sequence[str]) -> Floats:
        """Return equal weights of families, or of environments where there are none, summing to 1.

        Parameters
        ----------
        environments
            Those that count.
        """
        families = among(self.families, environments)
        share_e = shares(families, environments)
        return (np.ones(len(environments)) if share_e is None else share_e) / count(families, environments)

    @property
    def what_counts(self) -> str:
        """What means weigh equally."""
        return "environments" if self.families is None else "families"

    @property
    def without_families(self) -> str:
        """A sentence for ways that know no families, where there are some."""
        return "" if self.families is None else NO_FAMILIES


def ways(asked: Asked, step: Step) -> tuple[tuple[Way, ...], tuple[tuple[str, str], ...]]:
    """Return all ways that can evaluate the scores, and those that cannot with the reason."""
    found: list[Way] = []
    skipped: list[tuple[str, str]] = []
    for name, evaluate in (
        ("untuned", guaranteed),
        *((f"{method} (as published)", _published(method)) for method in ("pbp", "pbp-t", "bootstrap")),
        ("summaries of min-max-normalised scores", familiar),
        ("significance tests per environment", tests),
        ("mean rank", mean_rank),
        ("performance ratios", ratios),
    ):
        step(name)
        try:
            found += evaluate(asked)
        except InvalidInput as error:
            skipped.append((name, str(error)))
    return tuple(found), tuple(skipped)


# Ways with their own verdicts.


def guaranteed(asked: Asked) -> Iterator[Way]:
    """Yield untuned's rankings and its verdicts on two algorithms alone."""
    judging = asked.judging
    found = replace(judging.judge(asked.table, workers=asked.workers), findings=asked.findings)
    notes = (f"The guaranteed ways: {found.claim}", *found.warnings)
    each_one = "environment" if asked.families is None else "family of environments"
    abouts = {
        "game": "Mean percentiles among all algorithms' runs, weighed by the equilibrium of the paper's game.",
        "uniform": f"Mean percentiles among all algorithms' runs, every {each_one} and every reference weighing the "
        "same.",
        "given": "Mean percentiles among all algorithms' runs, by the given weights.",
    }
    for each in found.each_ranking:
        ranking = each.rankings[0]
        yield _of_evaluation(ranking.title, abouts[ranking.weights], "guaranteed", each, notes)
    if (direct := found.head_to_head) is not None:
        n = len(asked.table.algorithms)
        others = ~np.eye(n, dtype=bool)
        mean = np.where(others, direct.win_ab, 0.0).sum(axis=1) / max(1, n - 1)
        yield Way(
            "head to head",
            f"The mean over {asked.what_counts} of the probability that a run of one scores more than a run of the "
            "other; the number is the mean over opponents.",
            "guaranteed",
            VERDICTS,
            mean,
            *_no_interval(n),
            direct.better_ab,
            notes=notes,
        )


def _of_evaluation(name: str, about: str, promise: Promise, found: Evaluation, notes: tuple[str, ...] = ()) -> Way:
    ranking = found.rankings[0]
    return Way(
        name,
        about,
        promise,
        VERDICTS,
        ranking.score_a,
        ranking.low_a,
        ranking.high_a,
        ranking.pairs.better_ab,
        notes=notes,
    )


def _can_be_resampled(table: ScoreTable) -> None:
    if (table.trials == 1).any():
        raise InvalidInput(
            "some algorithm has one run on some environment, which cannot be resampled: take two or more"
        )


def _published(method: str) -> Callable[[Asked], Iterator[Way]]:
    about = {
        "pbp": "The paper's performance bound propagation, with its conventions for ties and supports.",
        "pbp-t": "The same with intervals of Student's t.",
        "bootstrap": "The paper's percentile bootstrap of the aggregate score.",
    }[method]

    def evaluate(asked: Asked) -> Iterator[Way]:
        given = asked.judging
        if method == "bootstrap":
            _can_be_resampled(asked.table)
        judging = Judging(
            intervals=method,
            conventions="paper",
            weights="game",
            delta=given.delta,
            resamples=given.resamples,
            seed=given.seed,
            refine=0,
            families={},
        )
        found = judging.judge(asked.table, workers=asked.workers)
        yield _of_evaluation(f"{method} (as published)", about + asked.without_families, "approximate", found)

    return evaluate


# Other common ways.


def familiar(asked: Asked) -> Iterator[Way]:
    """Yield mean, median and interquartile mean of min-max-normalised scores, and the probability of improvement."""
    _can_be_resampled(asked.table)
    several = len(asked.table.algorithms) > 1
    weight_e = asked.weights(asked.table.environments)
    found = summarized(
        asked.table,
        ["mean", "median", "iqm", *(["poi"] if several else [])],
        normalise="min-max",
        weight_e=weight_e,
        delta=asked.judging.delta,
        resamples=asked.judging.resamples,
        seed=asked.judging.seed,
        workers=asked.workers,
    )
    for each in found.summaries:
        yield Way(
            f"{each.statistic.title}, min-max",
            f"The {each.statistic.title} of scores between the lowest (0) and the highest (1) of every environment, "
            f"{asked.what_counts} weighing the same, with a stratified percentile bootstrap.",
            "approximate",
            APART,
            each.value_a,
            each.low_a,
            each.high_a,
            _apart(each.low_a, each.high_a),
            notes=tuple(f"Min-max summaries: {note}" for note in found.notes),
        )
    yield from _improvement(asked, found)


def _improvement(asked: Asked, found: Summaries) -> Iterator[Way]:
    if found.improvement is None:
        return
    n = len(found.algorithms)
    win_ab = np.where(np.eye(n, dtype=bool), np.nan, found.improvement.win_ab)
    known = ~np.isnan(win_ab).all(axis=1)
    value_a = np.full(n, np.nan)
    value_a[known] = np.nanmean(win_ab[known], axis=1)
    low_ab = np.where(np.eye(n, dtype=bool), np.nan, found.improvement.low_ab)
    yield Way(
        "probability of improvement",
        f"The probability that a run of one scores more than a run of the other, averaged over {asked.what_counts}, "
        "with a stratified percentile bootstrap; the number is the mean over opponents.",
        "approximate",
        "intervals above 1/2",
        value_a,
        *_no_interval(n),
        np.nan_to_num(low_ab, nan=0.0) > 0.5,
    )


def ratios(asked: Asked) -> Iterator[Way]:
    """Yield the arithmetic and the geometric mean of performance ratios to every algorithm.

    Of the environments on which every algorithm has a positive mean score: elsewhere ratios mean nothing.
    """
    table = asked.table
    if table.missing:
        raise InvalidInput("some algorithm has no scores on some environment, and ratios need all of them")
    # Sorted, so that the order of rows does not change how sums are rounded.
    columns = zip(*([np.sort(cell) for cell in row] for row in table.cells), strict=True)
    positive = [e for e, column in zip(table.environments, columns, strict=True) if min(map(np.mean, column)) > 0.0]
    if not positive:
        raise InvalidInput("on no environment does every algorithm have a positive mean score, as ratios need")
    chosen = table.select(environments=positive)
    left_out = len(table.environments) - len(positive)
    where = f", on the {len(positive)} environments where all mean scores are positive" if left_out else ""
    weights = asked.weights(positive)
    for denominator in table.algorithms:
        maps = Ratio(denominator).on(chosen).fit(chosen.cells)
        cells = [[fit(np.sort(cell)) for fit, cell in zip(maps, row, strict=True)] for row in chosen.cells]
        for name, word in (("mean", "arithmetic"), ("geometric-mean", "geometric")):
            value_a = np.array([float(STATISTICS[name].value(row, weights)) for row in cells])
            yield Way(
                f"ratios to {denominator}, {word}",
                f"The {word} mean over {asked.what_counts} of the mean score divided by that of {denominator}{where}.",
                "none",
                ORDER,
                value_a,
                *_no_interval(len(value_a)),
                _ahead(value_a),
            )


def tests(asked: Asked) -> Iterator[Way]:
    """Yield Welch's t tests on every environment, without and with Bonferroni's correction."""
    table, delta = asked.table, asked.judging.delta
    n, m = len(table.algorithms), len(table.environments)
    if int(table.trials.min(initial=2)) < 2:
        raise InvalidInput("a t test takes two runs of every algorithm on every environment")
    p_abe = np.ones((n, n, m))
    ahead_abe = np.zeros((n, n, m), dtype=bool)
    for a in range(n):
        for b in range(n):
            for e in range(m):
                ahead_abe[a, b, e] = table.cells[a][e].mean() > table.cells[b][e].mean()
                if a < b:
                    p_abe[a, b, e] = p_abe[b, a, e] = welch(table.cells[a][e], table.cells[b][e])
    total = m * n * (n - 1) // 2
    by_itself: Promise = "none"
    together: Promise = "approximate"
    for name, promise, level, about in (
        ("t tests", by_itself, delta, "Welch's t test of every two algorithms on every environment, not corrected"),
        (
            "t tests, Bonferroni",
            together,
            delta / max(1, total),
            f"The same, corrected by Bonferroni for all {total:,} tests",
        ),
    ):
        won_ab = ((p_abe < level) & ahead_abe).sum(axis=2)
        yield Way(
            name,
            f"{about}; the number is wins less losses.{asked.without_families}",
            promise,
            "more environments won than lost, by significant tests",
            (won_ab - won_ab.T).sum(axis=1).astype(np.float64),
            *_no_interval(n),
            won_ab > won_ab.T,
        )


def welch(one: Floats, other: Floats) -> float:
    """Return the p value of Welch's test; 0 or 1 where neither sample varies.

    Parameters
    ----------
    one, other
        Scores, two or more each.
    """
    if not np.ptp(one) and not np.ptp(other):
        return float(one[0] == other[0])
    with np.errstate(all="ignore"):
        return float(stats.ttest_ind(np.sort(one), np.sort(other), equal_var=False).pvalue)


def mean_rank(asked: Asked) -> Iterator[Way]:
    """Yield mean ranks over environments, with the critical difference of Nemenyi's test."""
    table = asked.table
    n, m = len(table.algorithms), len(table.environments)
    if table.missing:
        raise InvalidInput("some algorithm has no scores on some environment, and ranks need all of them")
    means_ae = np.array([[np.sort(cell).mean() for cell in row] for row in table.cells])
    value_a = stats.rankdata(-means_ae, axis=0).mean(axis=1)
    # Demsar (2006), equation 6 and the difference that follows.
    quantile = float(stats.studentized_range.ppf(1.0 - asked.judging.delta, n, np.inf)) / np.sqrt(2.0)
    critical = quantile * np.sqrt(n * (n + 1) / (6.0 * m))
    yield Way(
        "mean rank",
        "The mean over environments of the rank by mean scores; Nemenyi's critical difference is "
        f"{critical:.2f} ranks.{asked.without_families}",
        "approximate",
        "ranks further apart than the critical difference",
        value_a,
        *_no_interval(n),
        (value_a[None, :] - value_a[:, None]) > critical,
        higher_is_better=False,
    )


def _no_interval(n: int) -> tuple[Floats, Floats]:
    return np.full(n, np.nan), np.full(n, np.nan)


def _apart(low_a: Floats, high_a: Floats) -> Bools:
    found: Bools = low_a[:, None] > high_a[None, :]
    return found


#: Relative differences below this come from the order of summation.
_ROUNDING = 1e-9


def _ahead(value_a: Floats) -> Bools:
    found: Bools = value_a[:, None] - value_a[None, :] > _ROUNDING * np.abs(value_a).max()
    return found
