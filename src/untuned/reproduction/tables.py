"""The paper's tables from these trials, next to the published figures."""

from collections.abc import Mapping, Sequence

from untuned.collect.environments.names import NAMES
from untuned.evaluation import Evaluation
from untuned.lab.table_two import Replication
from untuned.reports.tables.cells import Cell, Column, Count, Estimate, Measured, Number, Row, Standing, Text
from untuned.reports.tables.content import SCORES, standing
from untuned.reports.tables.digits import Digits
from untuned.reports.tables.table import Table
from untuned.reproduction import published
from untuned.reproduction.agreement import MeanComparison, RateComparison, ScoreComparison
from untuned.reproduction.conclusions import HOLDS, Conclusion
from untuned.reproduction.published import Entry

_ALGORITHM = Column("Algorithm", ("algorithm",), "text")
_RANK = Column("Rank", ("rank", "rank_low", "rank_high"), "triple")
_TRIALS = Column("Trials", ("trials",), "number")
_PUBLISHED = (
    Column("Published", ("published", "published_low", "published_high"), "triple"),
    Column("Published rank", ("published_rank", "published_rank_low", "published_rank_high"), "triple"),
    Column("z", ("z",), "number"),
)

_Z_DIGITS = Digits(1)
_TENTHS = Digits(1)


def table_one(everything: Sequence[Evaluation], compared: Sequence[ScoreComparison], comparable: bool) -> Table:
    """Return aggregate scores by all methods, under equal weights, and as published: the paper's first table.

    Parameters
    ----------
    everything
        The evaluation by each method, the first of which decides the order.
    compared
        The scores and their z-scores.
    comparable
        Whether these are the paper's algorithms and environments, all of them.
    """
    first = everything[0]
    z = {each.algorithm: each.z for each in compared}
    known = {key: entry for key, entry in published.aggregates().items() if comparable}
    rows = []
    for a in first.order:
        name = first.algorithms[a]
        cells: list[Cell] = [Text(name)]
        for each in everything:
            cells.append(
                Measured(each.score(name), *each.interval(name), SCORES),
            )
            if (each.method, name) in known:
                entry = known[each.method, name]
                cells.append(Measured(entry.value, entry.low, entry.high, SCORES))
        cells += [Number(z.get(name), _Z_DIGITS)] if compared else []
        rows.append(Row(tuple(cells)))
    columns = [_ALGORITHM]
    for each in everything:
        weights = "" if each.weights == "game" else f", {each.rankings[0].title}"
        method = each.method
        columns.append(Column(f"{method}{weights}", (method, f"{method}_low", f"{method}_high"), "number"))
        if any(there == method for there, _ in known):
            names = (f"published_{method}", f"published_{method}_low", f"published_{method}_high")
            columns.append(Column(f"{method}, published", names, "number"))
    columns += [Column("z", ("z",), "number")] if compared else []
    caption = (
        "Scores under the game's weights, as in the paper, unless the heading says otherwise, with intervals (low, "
        f"high); {first.claim} Those by pbp, pbp-t and bootstrap are as the paper has them, without a guarantee. "
        + (
            "Published: with 10,000 trials per cell. z: the difference of the scores in standard errors, as the "
            "bootstrap has them for either."
            if comparable
            else "Nothing is published for these environments alone."
        )
    )
    return Table("Aggregate scores by every method", caption, tuple(columns), tuple(rows))


def environment_table(found: Evaluation, environment: str, compared: Sequence[MeanComparison]) -> Table:
    """Return the mean scores on an environment next to the published, the best first."""
    e = found.environments.index(environment)
    cells = {each.algorithm: each for each in compared if each.environment == environment}
    ranks, means = found.means.ranks[e], found.means
    there = any(each.published is not None for each in cells.values())
    order = sorted(range(len(found.algorithms)), key=lambda a: -means.mean_ae[a, e])
    rows = tuple(
        Row(
            (
                Text(found.algorithms[a]),
                Estimate(float(means.mean_ae[a, e]), float(means.low_ae[a, e]), float(means.high_ae[a, e]), _TENTHS),
                standing(ranks, a),
                Count(int(found.trials_ae[a, e])),
                *_published(cells[found.algorithms[a]].published, _TENTHS, cells[found.algorithms[a]].z),
            )
        )
        for a in order
    )
    columns = (
        _ALGORITHM,
        Column("Mean", ("mean", "mean_low", "mean_high"), "triple"),
        _RANK,
        _TRIALS,
        *(_PUBLISHED if there else ()),
    )
    caption = (
        f"Means with Anderson's intervals (low, high), which hold together on all environments with probability at "
        f"least {found.level}; ranks (worst, best). "
        + (
            "Published: with 10,000 trials. z: the difference of the means in standard errors."
            if there
            else "The paper's means on this environment are not published."
        )
    )
    return Table(f"Mean scores on {environment}", caption, columns, rows)


def z_table(compared: Sequence[MeanComparison]) -> Table:
    """Return the z-scores of all cells, environments by algorithms."""
    algorithms = list(dict.fromkeys(each.algorithm for each in compared))
    environments = list(dict.fromkeys(each.environment for each in compared))
    cells = {(each.algorithm, each.environment): each for each in compared}
    rows = tuple(
        Row((Text(place), *(Number(cells[name, place].z, _Z_DIGITS) for name in algorithms))) for place in environments
    )
    columns = (
        Column("Environment", ("environment",), "text"),
        *(Column(name, (name,), "number") for name in algorithms),
    )
    caption = (
        "The mean of every cell less the published one, in standard errors. A dash: nothing is published, or our "
        "trials do not vary. Scores have long lower tails: where a disaster is rare, a small sample has none, its "
        "spread is too small, and z is further from 0 than by chance alone."
    )
    return Table("Every cell compared with the published one", caption, columns, rows)


def table_two(replication: Replication, compared: Sequence[RateComparison]) -> Table:
    """Return the test of interval methods next to the published figures, the paper's second table."""
    z: Mapping[tuple[str, int, str], float | None] = {
        (each.method, each.trials, each.what): each.z for each in compared
    }
    rows = []
    before = 0
    for row in replication.rows:
        rows.append(
            Row(
                (
                    Count(row.trials),
                    Text(row.method),
                    Count(row.samples),
                    Number(row.failures, Digits(3)),
                    Number(row.published_failures, Digits(3)),
                    Number(z.get((row.method, row.trials, "failures")), _Z_DIGITS),
                    Number(row.significant, Digits(2)),
                    Number(row.published_significant, Digits(2)),
                    Number(z.get((row.method, row.trials, "significant")), _Z_DIGITS),
                    Number(row.truth.rate, Digits(3)),
                ),
                opens=row.trials != before,
            )
        )
        before = row.trials
    columns = (
        _TRIALS,
        Column("Method", ("method",), "text"),
        Column("Samples", ("samples",), "number"),
        Column("Failures", ("failures",), "number"),
        Column("Published", ("published_failures",), "number"),
        Column("z", ("failures_z",), "number"),
        Column("Separated", ("significant",), "number"),
        Column("Published", ("published_significant",), "number"),
        Column("z", ("significant_z",), "number"),
        Column("Truth missed", ("truth",), "number"),
    )
    caption = (
        f"Samples are {replication.population}. Failures: of all pairs of samples, those in which an estimate of one "
        "is outside the intervals of the other. Separated: of all pairs of algorithms. Truth missed: samples whose "
        "intervals miss the scores of what they were drawn from. Published: 1,000 samples of other trials, of "
        "algorithms whose Parl2 began with a smaller step size. z: the difference in standard errors, by the "
        "jackknife; a dash where ours do not vary."
    )
    return Table("How interval methods did in the paper's test", caption, columns, tuple(rows))


def conclusions_table(conclusions: Sequence[Conclusion], environments: int) -> Table:
    """Return the paper's conclusions, and whether each holds here.

    Parameters
    ----------
    conclusions
        The statements, which are about all of the paper's environments.
    environments
        The number of environments that they were tested on.
    """
    some = environments < len(NAMES)
    methods = list(dict.fromkeys(method for each in conclusions for method in each.others))
    rows = tuple(
        Row(
            (
                Text(each.statement),
                Text(each.status),
                Text(each.equal or ""),
                *(Text(each.others.get(method, "")) for method in methods),
                Text(f"{each.because} ({each.place})"),
                Text(each.cost),
            ),
            bold=each.best == HOLDS,
        )
        for each in conclusions
    )
    columns = (
        Column("The paper says", ("statement",), "text"),
        Column(f"On these {environments} environments it" if some else "Here it", ("status",), "group"),
        Column("Under equal weights it", ("equal",), "group"),
        *(Column(f"by {method}", (method,), "group") for method in methods),
        Column("Because", ("because",), "group"),
        Column("To decide it", ("cost",), "group"),
    )
    caption = (
        "Decided by intervals that hold with probability at least 95 %: together for all statements on aggregate "
        "scores, each by itself for the others. What is near the best, and what the low end is, was taken from the "
        "same trials: there it is approximate. Bold: it holds. Aggregate scores are those under the game's "
        "weights, as in the paper, and under equal ones. Next to them: what the paper's own methods say of these "
        "trials, without a guarantee. To decide it: predicted hours of collecting on this machine."
    )
    if some:
        caption = (
            f"The paper's statements are about {len(NAMES)} environments. What is said here is about {environments} of "
            f"them, and says nothing of the others. {caption}"
        )
    return Table("The paper's conclusions", caption, columns, rows)


def _published(entry: Entry | None, digits: Digits, z: float | None) -> tuple[Cell, ...]:
    """Return the published numbers as cells; no cells where nothing is published."""
    if entry is None:
        return ()
    return (
        Estimate(entry.value, entry.low, entry.high, digits),
        Standing(entry.rank, entry.worst, entry.best),
        Number(z, _Z_DIGITS),
    )
