"""What is in the tables: an evaluation's aggregates, means, pairs and weights, with captions."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isinf, isnan
from typing import Any

import numpy as np

from untuned.errors import UnknownName
from untuned.evaluation import Evaluation, Ranks
from untuned.reports.tables.cells import Column, Count, Estimate, Number, Row, Standing, Text, Times
from untuned.reports.tables.digits import Digits, digits, digits_of_scores
from untuned.reports.tables.table import Table, all_possible
from untuned.statements import VACUOUS, failed, says_nothing, variants
from untuned.verdicts import NOT_SEPARABLE

#: Scores are between 0 and 1.
SCORES = Digits(4)
#: What the column for robustness says.
HOLDS_UP_TO = (
    "Holds up to: the verdict holds however environments are weighed, as long as none counts more than so many times "
    "its weight, with references as they are."
)

#: Of captions, where a table has them.
_INTERVALS = ", with intervals (low, high)"

_ALGORITHM = Column("Algorithm", ("algorithm",), "text")
_ENVIRONMENT = Column("Environment", ("environment",), "group")
_SCORE = Column("Score", ("score", "low", "high"), "triple", VACUOUS)
_MEAN = Column("Mean", ("mean", "mean_low", "mean_high"), "triple")
_RANK = Column("Rank", ("rank", "rank_low", "rank_high"), "triple")
_TRIALS = Column("Trials", ("trials",), "number")


def aggregate(evaluation: Evaluation) -> Table:
    """Return the aggregate scores, the best first, with intervals and ranks: the paper's first table.

    Parameters
    ----------
    evaluation
        An evaluation, as `untuned.evaluate` returns it.
    """
    best = best_ones(evaluation.ranks)
    estimates = list(
        zip(evaluation.score_a.tolist(), evaluation.low_a.tolist(), evaluation.high_a.tolist(), strict=True)
    )
    written = digits_of_scores(evaluation.rows())
    rows = tuple(
        Row(
            (
                Text(evaluation.algorithms[a]),
                Estimate(*estimates[a], written),
                standing(evaluation.ranks, a),
            ),
            bold=a in best,
        )
        for a in evaluation.order
    )
    bounded = "" if says_nothing(evaluation) else _INTERVALS
    caption = _sentences(
        f"Scores {evaluation.under_weights}{bounded} by {evaluation.method}, "
        f"delta = {evaluation.delta:g}; {_size(evaluation)}.",
        "Ranks by score, with those that the verdicts allow (worst, best)." if not all_possible(rows) else "",
        _about_bold(bool(best), "the verdicts allow"),
        *failed(evaluation),
        evaluation.claim,
        *evaluation.warnings,
    )
    return Table(_titled("Aggregate scores", evaluation), caption, (_ALGORITHM, _SCORE, _RANK), rows)


def environment(evaluation: Evaluation, name: str) -> Table:
    """Return the mean scores on one environment, the best first, with intervals and ranks.

    Parameters
    ----------
    evaluation
        An evaluation, as `untuned.evaluate` returns it.
    name
        The environment's.
    """
    if name not in evaluation.environments:
        raise UnknownName("environment", name, evaluation.environments)
    e = evaluation.environments.index(name)
    rows = tuple(_mean_rows(evaluation, e))
    return Table(f"Mean scores on {name}", _about_means(evaluation, rows), (_ALGORITHM, _MEAN, _RANK, _TRIALS), rows)


def environments(evaluation: Evaluation) -> Table:
    """Return the mean scores on all environments, one below the other.

    Parameters
    ----------
    evaluation
        An evaluation, as `untuned.evaluate` returns it.
    """
    rows = tuple(
        Row((Text(name), *row.cells), bold=row.bold, opens=number == 0)
        for e, name in enumerate(evaluation.environments)
        for number, row in enumerate(_mean_rows(evaluation, e))
    )
    columns = (_ENVIRONMENT, _ALGORITHM, _MEAN, _RANK, _TRIALS)
    return Table("Mean scores on each environment", _about_means(evaluation, rows), columns, rows)


def pairs(evaluation: Evaluation) -> Table:
    """Return the differences of all pairs of aggregate scores, with intervals and verdicts.

    Parameters
    ----------
    evaluation
        An evaluation, as `untuned.evaluate` returns it.
    """
    capped = evaluation.rankings[0].cap_ab is not None
    found = evaluation.pair_rows()
    written = digits_of_scores(found, 0.0)
    rows = tuple(
        Row(
            (
                Text(pair["a"]),
                Text(pair["b"]),
                Estimate(pair["difference"], pair["low"], pair["high"], written),
                Text(pair["verdict"]),
                *((times(evaluation, pair),) if capped else ()),
            ),
            bold=pair["verdict"] != NOT_SEPARABLE,
        )
        for pair in found
    )
    bounded = _INTERVALS if any(pair["high"] - pair["low"] < 2 * VACUOUS for pair in found) else ""
    caption = _sentences(
        f"The score of A less that of B {evaluation.under_weights}{bounded} by {evaluation.method}, "
        f"delta = {evaluation.delta:g}; {_size(evaluation)}.",
        "A is the one with the higher score; the verdict is on A.",
        "Bold: decided." if any(row.bold for row in rows) else "No pair is decided.",
        HOLDS_UP_TO if capped else "",
        *failed(evaluation),
        evaluation.claim,
        *evaluation.warnings,
    )
    columns = (
        Column("A", ("a",), "text"),
        Column("B", ("b",), "text"),
        Column("A - B", ("difference", "low", "high"), "triple", 2 * VACUOUS),
        Column("Verdict", ("verdict",), "text"),
        *((Column("Holds up to", ("cap",), "number"),) if capped else ()),
    )
    return Table(_titled("Differences of aggregate scores", evaluation), caption, columns, rows)


def times(evaluation: Evaluation, pair: Mapping[str, Any]) -> Times:
    """Return how many times its weight an environment may count, of a pair in the rows of an evaluation."""
    weights = evaluation.environment_weights
    return Times(pair["cap"], 1.0 / float(weights[weights > 0].min()))


def head_to_head(evaluation: Evaluation) -> Table:
    """Return how often each algorithm beats each other one, from their own runs, with intervals and verdicts.

    Parameters
    ----------
    evaluation
        An evaluation, as `untuned.evaluate` returns it; one without head-to-head comparisons gives a table without
        rows.
    """
    found = evaluation.each_ranking[0].head_to_head_rows()
    written = digits_of_scores(found, 0.5)
    rows = tuple(
        Row(
            (
                Text(pair["a"]),
                Text(pair["b"]),
                Estimate(pair["win"], pair["low"], pair["high"], written),
                Text(pair["verdict"]),
            ),
            bold=pair["verdict"] != NOT_SEPARABLE,
        )
        for pair in found
    )
    fixed = next((each for each in evaluation.each_ranking if each.weights != "game"), evaluation)
    caption = _sentences(
        "The probability that a trial of A is better than one of B (ties count half), averaged over environments "
        f"{fixed.under_weights}{_INTERVALS}; {_size(evaluation)}.",
        "Other algorithms play no part, so the verdicts need not form an order.",
        "Bold: decided." if any(row.bold for row in rows) else "No pair is decided.",
        *failed(evaluation),
        evaluation.claim,
    )
    columns = (
        Column("A", ("a",), "text"),
        Column("B", ("b",), "text"),
        Column("A beats B", ("win", "low", "high"), "triple"),
        Column("Verdict", ("verdict",), "text"),
    )
    return Table("Head to head", caption, columns, rows)


def stacked(tables: Sequence[Table], rankings: Sequence[Evaluation]) -> Table:
    """Return tables of several rankings as one, with a first column for the weights; of one ranking the table itself.

    Parameters
    ----------
    tables
        One per ranking.
    rankings
        The evaluation with each of the rankings first: `Evaluation.each_ranking`.
    """
    first, *others = tables
    if not others:
        return first
    columns = max((table.columns for table in tables), key=len)
    rows = tuple(
        Row((Text(each.weights), *row.cells, *_MISSING[: len(columns) - len(row.cells)]), row.bold, opens=number == 0)
        for table, each in zip(tables, rankings, strict=True)
        for number, row in enumerate(table.rows)
    )
    title = first.title.partition(",")[0]
    return Table(title, first.caption, (Column("Weights", ("weights",), "group"), *columns), rows)


_MISSING = (Number(None, Digits(1)),)


def weights(evaluation: Evaluation) -> Table:
    """Return the weights of environments and references in the scores, the largest first.

    Parameters
    ----------
    evaluation
        An evaluation, as `untuned.evaluate` returns it.
    """
    rows = tuple(
        Row((Text(what), Text(names[number]), Number(float(values[number]), Digits(4))), opens=place == 0)
        for what, names, values in (
            ("environment", evaluation.environments, evaluation.environment_weights),
            ("reference", evaluation.algorithms, evaluation.reference_weights),
        )
        for place, number in enumerate(np.argsort(-values, kind="stable"))
    )
    origin = {
        "game": "They are those of the game's equilibrium: environments that separate algorithms weigh more.",
        "uniform": "Those of families are equal." if variants(evaluation) else "They are equal.",
    }
    caption = _sentences(
        "What each environment weighs in the scores over all references, and each reference over all environments; "
        "either sum is 1.",
        origin.get(evaluation.weights, "They were given."),
    )
    columns = (
        Column("Of", ("of",), "group"),
        Column("Name", ("name",), "text"),
        Column("Weight", ("weight",), "number"),
    )
    return Table(_titled("Weights", evaluation), caption, columns, rows)


def best_ones(ranks: Ranks) -> frozenset[int]:
    """Return the algorithms that may be the best; none if all may, for then nothing was found."""
    found = frozenset(np.flatnonzero(ranks.best == 1).tolist())
    return found if len(found) < ranks.best.size else frozenset()


def mean_digits(evaluation: Evaluation, e: int) -> Digits:
    """Return how the means on an environment are written."""
    means = evaluation.means
    return digits(
        zip(means.mean_ae[:, e].tolist(), means.low_ae[:, e].tolist(), means.high_ae[:, e].tolist(), strict=True)
    )


def _mean_rows(evaluation: Evaluation, e: int) -> Iterator[Row]:
    means = evaluation.means
    ranks = means.ranks[e]
    best = best_ones(ranks)
    written = mean_digits(evaluation, e)
    # NaN, where nothing was measured, sorts last.
    for a in np.argsort(-means.mean_ae[:, e], kind="stable").tolist():
        mean, low, high = (float(each[a, e]) for each in (means.mean_ae, means.low_ae, means.high_ae))
        trials = int(evaluation.trials_ae[a, e])
        yield Row(
            (
                Text(evaluation.algorithms[a]),
                Estimate(mean, low, high, written),
                standing(ranks, a, measured=trials > 0),
                Count(trials),
            ),
            bold=a in best,
        )


def standing(ranks: Ranks, a: int, *, measured: bool = True) -> Standing:
    """Return an algorithm's place and those that are possible; no place of its own where nothing was measured."""
    return Standing(int(ranks.rank[a]) if measured else None, int(ranks.worst[a]), int(ranks.best[a]))


def _if_chosen(evaluation: Evaluation) -> str:
    if evaluation.anytime or evaluation.scores.declared is not None:
        return "however many trials the scores themselves called for"
    return "if the numbers of trials were chosen beforehand"


def _about_means(evaluation: Evaluation, rows: Iterable[Row]) -> str:
    rows = list(rows)
    shown = [cell for row in rows for cell in row.cells if isinstance(cell, Estimate)]
    if shown and all(isinf(cell.low) and isinf(cell.high) for cell in shown):
        missing = "A dash: there are no trials." if any(isnan(cell.value) for cell in shown) else ""
        return _sentences("Means.", *failed(evaluation), missing)
    return _sentences(
        f"Means with Anderson's intervals (low, high), delta = {evaluation.delta:g}.",
        *failed(evaluation),
        f"With probability at least {evaluation.level}, the intervals on the means of all algorithms on all "
        f"environments hold, {_if_chosen(evaluation)}.",
        "Ranks by mean, with those that the intervals allow (worst, best)." if not all_possible(rows) else "",
        _about_bold(any(row.bold for row in rows), "the intervals allow"),
        "An infinite end: the environment declares no range, and without one nothing bounds a mean."
        if len({isinf(cell.low) or isinf(cell.high) for cell in shown}) == 2
        else "",
        "A dash: there are no trials." if any(isnan(cell.value) for cell in shown) else "",
    )


def _about_bold(there_is: bool, what_allows: str) -> str:
    if there_is:
        return f"Bold: those that {what_allows} to be the best."
    return f"None is bold: {what_allows} every one to be the best."


def _titled(title: str, evaluation: Evaluation) -> str:
    """Return a title that names the weights where there are several rankings."""
    return f"{title}, {evaluation.rankings[0].title}" if len(evaluation.rankings) > 1 else title


def _size(evaluation: Evaluation) -> str:
    least, most = int(evaluation.trials_ae.min()), int(evaluation.trials_ae.max())
    trials = f"{least}" if least == most else f"{least} to {most}"
    n, m = len(evaluation.algorithms), len(evaluation.environments)
    return f"{n} algorithms, {m} {'environment' if m == 1 else 'environments'}, {trials} trials per cell"


def _sentences(*sentences: str) -> str:
    return " ".join(sentence for sentence in sentences if sentence)
