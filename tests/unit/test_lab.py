"""The lab: populations and their truth, what is counted as wrong, what is kept, and what is said of mistakes."""

import dataclasses
import io
import itertools
import json
import math
import os
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from oracle.reference import judging
from support import lab_work
from support.judging import evaluate
from untuned.errors import InvalidInput, Stopped, StoreError, UnknownName, UntunedError
from untuned.evaluation import HeadToHead
from untuned.judge.judging import Judging
from untuned.judge.methods import METHODS, boxes, payoff_of
from untuned.judge.percentiles import Payoff, percentiles
from untuned.judge.pool import pools
from untuned.lab import (
    CollectedPopulation,
    Coverage,
    KnownPopulation,
    Population,
    Rate,
    Replicates,
    Replication,
    Row,
    Truth,
    contender,
    coverage,
    few_runs,
    population,
    populations,
    replication,
)
from untuned.lab.contenders import contenders
from untuned.lab.coverage_records import EVENTS
from untuned.lab.data_sets import Design, Tally, compare, data_set, experiment, judged
from untuned.lab.figures import coverage_figure, replication_figure
from untuned.lab.journal import Journal
from untuned.lab.mixtures import Law, Part, draw, even, mixture, normal, percentile, point, two
from untuned.lab.running import run
from untuned.lab.table_two import PUBLISHED, STUDY, check_replication, failure_rate
from untuned.scores import Floats, ScoreTable
from untuned.verdicts import Pairs

PAYOFFS: tuple[Payoff, ...] = ("mid-rank", "at-most")
CATALOGUE = [each.name for each in populations()]

# --- laws


@st.composite
def point_laws(draw_one: st.DrawFn) -> tuple[Law, list[float]]:
    """A mixture of points, and scores of which each is equally likely."""
    counts = draw_one(
        st.dictionaries(st.sampled_from([-1000.0, -1.5, 0.0, 1e-9, 1.0, 3.0]), st.integers(1, 9), min_size=1)
    )
    total = sum(counts.values())
    law = tuple(Part(Fraction(count, total), score) for score, count in counts.items())
    return law, [score for score, count in counts.items() for _ in range(count)]


@given(point_laws(), point_laws(), st.sampled_from(PAYOFFS))
def test_percentiles_of_points_are_exact(
    mine: tuple[Law, list[float]], theirs: tuple[Law, list[float]], payoff: Payoff
) -> None:
    twice = sum(judging.twice_won(x, y, payoff) for x in mine[1] for y in theirs[1])
    assert percentile(mine[0], theirs[0], payoff) == Fraction(twice, 2 * len(mine[1]) * len(theirs[1]))


MIXED: dict[str, Law] = {
    "normal": normal(0.3, 1.0),
    "wide": normal(-1.0, 30.0),
    "far": normal(60.0, 1.0),
    "points": even(-1.0, 0.0, 0.3, 2.0),
    "learns": mixture(Fraction(3, 5), normal(1.0, 2.0), point(-1000.0)),
    "both": mixture(Fraction(1, 7), two(0.0, 0.3, Fraction(1, 3)), normal(0.0, 0.5)),
}


def below(law: Law, x: float, payoff: Payoff) -> float:
    """Return what the score x wins against a law, from its distribution function."""
    won = 0.0
    for part in law:
        if part.deviation > 0.0:
            won += float(part.weight) * float(stats.norm.cdf(x, part.mean, part.deviation))
        else:
            won += float(part.weight) * judging.twice_won(x, part.mean, payoff) / 2
    return won


@pytest.mark.parametrize("payoff", PAYOFFS)
@pytest.mark.parametrize(("mine", "theirs"), list(itertools.product(MIXED, MIXED)))
def test_percentiles_of_mixtures_are_those_of_an_integral(mine: str, theirs: str, payoff: Payoff) -> None:
    expected = 0.0
    reference = MIXED[theirs]
    for part in MIXED[mine]:
        if part.deviation == 0.0:
            expected += float(part.weight) * below(reference, part.mean, payoff)
            continue
        # Piece by piece between all points where anything bends or jumps.
        reach = (part.mean - 9.0 * part.deviation, part.mean + 9.0 * part.deviation)
        bends = {each.mean + k * each.deviation for each in reference for k in (-8, -2, 0, 2, 8)}
        borders = [reach[0], *sorted(bend for bend in bends if reach[0] < bend < reach[1]), reach[1]]
        for low, high in itertools.pairwise(borders):
            area, _ = integrate.quad(
                lambda x, part=part: stats.norm.pdf(x, part.mean, part.deviation) * below(reference, x, payoff),
                low,
                high,
                epsabs=1e-11,
                limit=200,
            )
            expected += float(part.weight) * area
    assert float(percentile(MIXED[mine], reference, payoff)) == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize(("mine", "theirs"), list(itertools.product(MIXED, MIXED)))
def test_a_percentile_and_its_counterpart_add_up_to_one(mine: str, theirs: str) -> None:
    there, back = (
        percentile(*pair, "mid-rank") for pair in ((MIXED[mine], MIXED[theirs]), (MIXED[theirs], MIXED[mine]))
    )
    assert there + back == 1
    assert 0 <= there <= 1
    assert percentile(MIXED[mine], MIXED[mine], "mid-rank") == Fraction(1, 2)


def test_a_very_small_percentile_is_not_lost() -> None:
    # 40 deviations of the difference apart: far less than what a distribution function can say of 1.
    assert 0 < percentile(normal(0.0, 1.0), normal(40.0 / math.sqrt(2.0), 1.0), "mid-rank") < Fraction(1, 10**80)


@pytest.mark.parametrize("name", CATALOGUE)
def test_weights_of_every_law_in_the_catalogue_add_up_to_one(name: str) -> None:
    for row in population(name).laws:
        for law in row:
            assert sum(part.weight for part in law) == 1
            assert all(part.weight > 0 for part in law)
            assert all(part.deviation >= 0.0 for part in law)


def test_draws_have_the_frequencies_of_their_law() -> None:
    """A chi-squared test at 1e-6: the rate of false alarms over the choice of a seed."""
    law: Law = (Part(Fraction(1, 10), 3.0), Part(Fraction(1, 2), -1.0), Part(Fraction(2, 5), 7.0))
    scores = draw(law, 20_000, np.random.default_rng(1))
    assert set(scores.tolist()) == {3.0, -1.0, 7.0}
    counts = [np.count_nonzero(scores == part.mean) for part in law]
    assert stats.chisquare(counts, [20_000 * float(part.weight) for part in law]).pvalue > 1e-6


def test_draws_of_a_mixture_are_normal_within_its_parts() -> None:
    """Two Kolmogorov-Smirnov tests and a binomial one, each at 1e-6."""
    law = mixture(Fraction(3, 10), normal(50.0, 2.0), normal(-50.0, 0.5))
    scores = draw(law, 20_000, np.random.default_rng(2))
    high, low = scores[scores > 0.0], scores[scores < 0.0]
    assert stats.binomtest(high.size, 20_000, 0.3).pvalue > 1e-6
    assert stats.kstest(high, stats.norm(50.0, 2.0).cdf).pvalue > 1e-6
    assert stats.kstest(low, stats.norm(-50.0, 0.5).cdf).pvalue > 1e-6
    # One after the other, they have nothing to do with each other.
    assert abs(float(np.corrcoef(scores[1:], scores[:-1])[0, 1])) < 5.0 / math.sqrt(scores.size)


# --- populations


@pytest.mark.parametrize("payoff", PAYOFFS)
@pytest.mark.parametrize("name", CATALOGUE)
def test_the_truth_of_every_population_is_the_oracle_s(name: str, payoff: Payoff) -> None:
    known = population(name)
    truth = known.truth(payoff)
    n, m = known.shape
    declared = {frozenset(group) for group in known.identical}
    for a, e, r in itertools.product(range(n), range(m), range(n)):
        same = a == r or frozenset((known.algorithms[a], known.algorithms[r])) in declared
        expected = Fraction(1, 2) if same else percentile(known.laws[a][e], known.laws[r][e], payoff)
        assert truth.z_aer[a, e, r] == float(expected)
    np.testing.assert_allclose(truth.y_a, judging.aggregate(truth.z_aer)[0], rtol=0.0, atol=1e-10)


@pytest.mark.parametrize("payoff", PAYOFFS)
@pytest.mark.parametrize("name", CATALOGUE)
def test_large_samples_come_near_the_truth(name: str, payoff: Payoff) -> None:
    """Hoeffding's inequality for each percentile, at 1e-8 each: less than 1e-5 for all populations and payoffs."""
    known = population(name)
    table = known.sample(9_000, np.random.default_rng(3))
    found = percentiles(pools(table), payoff).z_aer
    fewest = int(table.trials.min())
    assert np.abs(found - known.truth(payoff).z_aer).max() < math.sqrt(math.log(2e8) / (2.0 * fewest))


def z_of(name: str) -> Floats:
    return population(name).truth("mid-rank").z_aer


def test_summaries_of_populations_are_true() -> None:
    assert (z_of("constant")[0, 0, 1], z_of("constant")[0, 1, 1]) == (0.9, 0.99)
    assert all(row[0][0] == Part(Fraction(19, 20), 0.0) for row in population("atom").laws)
    gaps = np.abs(z_of("gap-1e-3") - 0.5)
    between = ~np.eye(3, dtype=bool)[:, None, :].repeat(2, axis=1)
    assert gaps[between].min() == pytest.approx(1e-3)
    assert gaps[between].max() == pytest.approx(2e-3)
    tiny = z_of("gap-1e-9")
    for e in range(2):
        assert 0.0 < abs(tiny[0, e, 1] - tiny[0, e, 2]) < 1e-9
        assert 1.0 - 2e-9 < tiny[0, e, 1:].min() < 1.0
    for name in ("duplicates", "declared"):
        y = population(name).truth("mid-rank").y_a
        assert y[0] == y[1] != y[2]
    assert population("declared").sample(3, np.random.default_rng(0)).kinds.tolist() == [[0, 0, 2]] * 2
    assert population("duplicates").sample(3, np.random.default_rng(0)).kinds.tolist() == [[0, 1, 2]] * 2
    cycle = z_of("cycle")
    for e, (a, b) in itertools.product(range(2), ((0, 1), (1, 2), (2, 0))):
        assert cycle[a, e, b] == pytest.approx(5 / 9)
    assert population("unequal").sizes(30) == (30, 10, 60)
    assert population("unequal").sizes(10) == (10, 4, 20)
    assert population("normal").sizes(10) == (10, 10, 10)
    assert z_of("scales")[0, 0, 1] == 0.5
    assert len({float(y) for y in population("normal").truth("mid-rank").y_a}) == 3


def test_scores_of_the_lognormal_population_are_exponentials() -> None:
    """Four Kolmogorov-Smirnov tests at 1e-6."""
    known = population("lognormal")
    table = known.sample(2_000, np.random.default_rng(4))
    for a, e in itertools.product(range(3), range(2)):
        part = known.laws[a][e][0]
        assert stats.kstest(np.log(table.cells[a][e]), stats.norm(part.mean, part.deviation).cdf).pvalue > 1e-6


def test_an_exponential_changes_no_percentile() -> None:
    known = population("lognormal")
    plain = dataclasses.replace(known, exponential=False, ranges=(-np.inf, np.inf))
    seen = known.sample(200, np.random.default_rng(5))
    as_drawn = plain.sample(200, np.random.default_rng(5))
    for payoff in PAYOFFS:
        assert np.array_equal(known.truth(payoff).z_aer, plain.truth(payoff).z_aer)
        assert np.array_equal(known.truth(payoff).y_a, plain.truth(payoff).y_a)
        assert np.array_equal(percentiles(pools(seen), payoff).z_aer, percentiles(pools(as_drawn), payoff).z_aer)


@pytest.mark.parametrize("name", CATALOGUE)
def test_samples_respect_declared_ranges_and_sizes(name: str) -> None:
    known = population(name)
    table = known.sample(400, np.random.default_rng(6))
    assert table.ranges == (known.ranges,) * known.shape[1]
    assert (len(table.algorithms), len(table.environments)) == known.shape
    for row, size in zip(table.cells, known.sizes(400), strict=True):
        for cell in row:
            assert cell.size == size
            assert known.ranges[0] <= cell.min() <= cell.max() <= known.ranges[1]


@pytest.mark.parametrize("name", CATALOGUE)
def test_the_first_trials_are_a_prefix(name: str) -> None:
    known = population(name)
    table = known.sample(50, np.random.default_rng(7))
    first = known.first(table, 20)
    assert first.trials.tolist() == [[size] * known.shape[1] for size in known.sizes(20)]
    for whole, part in zip(table.cells, first.cells, strict=True):
        for longer, shorter in zip(whole, part, strict=True):
            assert np.array_equal(longer[: shorter.size], shorter)
    assert (first.ranges, first.algorithms, first.environments) == (table.ranges, table.algorithms, table.environments)
    assert np.array_equal(first.kinds, table.kinds)


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_data_set_is_decided_by_its_number(name: str) -> None:
    known = population(name)

    def cells(seed: int, number: int, trials: int = 40) -> list[list[float]]:
        table = data_set(known, Design(trials), seed, number)
        return [cell.tolist() for row in table.cells for cell in row]

    assert cells(0, 3) == cells(0, 3)
    # For everything that differs between trials, gaps of 1e-9 aside.
    if name != "gap-1e-9":
        assert cells(0, 3) != cells(0, 4)
        assert cells(0, 3) != cells(1, 3)
        assert cells(0, 3) != [cell[:40] for cell in cells(0, 3, 41)]


def test_populations_with_the_same_laws_have_data_sets_of_their_own() -> None:
    known = population("normal")
    other = dataclasses.replace(known, name="other")
    one, two_ = (data_set(each, Design(20), 0, 0) for each in (known, other))
    assert not np.array_equal(one.cells[0][0], two_.cells[0][0])


def test_every_definition_has_a_fingerprint_of_its_own() -> None:
    assert len({each.fingerprint for each in populations()}) == len(CATALOGUE) == 12
    known = population("constant")
    assert known.fingerprint == dataclasses.replace(known).fingerprint
    changes: list[dict[str, Any]] = [
        {"laws": [*known.laws[:1], [two(0.0, 2.0, Fraction(1, 11)), known.laws[1][1]]]},
        {"ranges": (0.0, 11.0)},
        {"exponential": True},
        {"identical": (("A", "B"),)},
        {"shares": (Fraction(1), Fraction(2))},
    ]
    for change in changes:
        assert dataclasses.replace(known, **change).fingerprint != known.fingerprint


def test_an_unknown_population_is_told_with_a_suggestion() -> None:
    with pytest.raises(UnknownName, match=r"'cycles'.*did you mean 'cycle'.*untuned list populations"):
        population("cycles")
    assert populations(["cycle", "normal"]) == (population("cycle"), population("normal"))


def collected_table(**options: Any) -> ScoreTable:
    cells = [
        [np.array([1.0, 2.0, 2.0]), np.array([5.0, 1.0])],
        [np.array([2.0, 3.0]), np.array([1.0])],
        [np.array([0.0, 2.0, 4.0, 2.0]), np.array([1.0, 7.0, 5.0])],
    ]
    return ScoreTable.from_array(cells, ["a", "b", "c"], ["x", "y"], ranges=(0.0, 10.0), **options)


@pytest.mark.parametrize("payoff", PAYOFFS)
@pytest.mark.parametrize("identical", [(), (("a", "c"),)])
def test_the_truth_of_collected_scores_is_counted(identical: Any, payoff: Payoff) -> None:
    table = collected_table(identical=identical)
    truth = CollectedPopulation(table).truth(payoff)
    z = judging.percentiles(table.cells, payoff, table.kinds)
    assert np.array_equal(truth.z_aer, z)
    np.testing.assert_allclose(truth.y_a, judging.aggregate(z)[0], rtol=0.0, atol=1e-12)


def test_samples_of_collected_scores_are_drawn_from_them() -> None:
    table = collected_table()
    found = CollectedPopulation(table)
    sample = found.sample(500, np.random.default_rng(8))
    assert (sample.ranges, sample.algorithms, sample.environments) == (
        table.ranges,
        table.algorithms,
        table.environments,
    )
    for mine, theirs in zip(sample.cells, table.cells, strict=True):
        for drawn, scores in zip(mine, theirs, strict=True):
            assert drawn.size == 500
            assert set(drawn.tolist()) == set(scores.tolist())
    # Each as often as it is there: 500 draws, half and a quarter; five standard deviations.
    shares = [np.mean(sample.cells[2][0] == score) for score in (0.0, 2.0, 4.0)]
    assert shares == pytest.approx([0.25, 0.5, 0.25], abs=5.0 * math.sqrt(0.25 / 500))
    assert found.summary == "resampled from 1 to 4 scores per cell"
    assert found.sizes(7) == (7, 7, 7)


def test_what_is_declared_identical_is_drawn_from_one_pool() -> None:
    table = collected_table(identical=(("a", "c"),))
    found = CollectedPopulation(table)
    sample = found.sample(500, np.random.default_rng(9))
    for e in range(2):
        pool = set(table.cells[0][e].tolist()) | set(table.cells[2][e].tolist())
        assert set(sample.cells[0][e].tolist()) == set(sample.cells[2][e].tolist()) == pool
    assert np.array_equal(sample.kinds, table.kinds)
    assert found.truth("at-most").z_aer[0, 0, 2] == 0.5


def test_an_empty_cell_is_refused_unless_its_twin_has_scores() -> None:
    cells = [[[1.0], [2.0]], [[1.0], []], [[3.0], [4.0]]]
    with pytest.raises(InvalidInput, match=r"'b' has no trials on 'y'.*Run the missing cells"):
        CollectedPopulation(ScoreTable.from_array(cells, ["a", "b", "c"], ["x", "y"]))
    shared = ScoreTable.from_array(cells, ["a", "b", "c"], ["x", "y"], identical=(("a", "b"),))
    assert set(CollectedPopulation(shared).sample(9, np.random.default_rng(0)).cells[1][1].tolist()) == {2.0}
    with pytest.raises(InvalidInput, match="there are no scores"):
        CollectedPopulation(ScoreTable.from_array([[]], ["a"], []))


def test_the_fingerprint_of_collected_scores_is_theirs() -> None:
    found = CollectedPopulation(collected_table())
    assert found.fingerprint == CollectedPopulation(collected_table()).fingerprint
    assert found.fingerprint != CollectedPopulation(collected_table(identical=(("a", "c"),))).fingerprint
    cells = [[np.array(cell) for cell in row] for row in collected_table().cells]
    cells[1][1][0] = 2.0
    other = ScoreTable.from_array(cells, ["a", "b", "c"], ["x", "y"], ranges=(0.0, 10.0))
    assert found.fingerprint != CollectedPopulation(other).fingerprint
    wider = ScoreTable.from_array(collected_table().cells, ["a", "b", "c"], ["x", "y"], ranges=(0.0, 11.0))
    assert found.fingerprint != CollectedPopulation(wider).fingerprint


# --- rates


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize(
    ("count", "total"), [(0, 1), (1, 1), (0, 40), (40, 40), (1, 40), (39, 40), (7, 93), (30, 2000)]
)
def test_limits_are_those_of_clopper_and_pearson(count: int, total: int, confidence: float) -> None:
    rate = Rate.of(count, total, confidence)
    expected = stats.binomtest(count, total).proportion_ci(confidence, method="exact")
    assert (rate.low, rate.high) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert rate.rate == count / total
    assert rate.facts() == {"count": count, "total": total, "rate": count / total, "low": rate.low, "high": rate.high}


@pytest.mark.parametrize(("count", "total"), [(-1, 3), (4, 3), (0, 0)])
def test_what_is_no_proportion_is_refused(count: int, total: int) -> None:
    with pytest.raises(InvalidInput, match=f"{count} of {total} is not a proportion"):
        Rate.of(count, total)


def test_findings() -> None:
    assert Rate(5, 100, 0.06, 0.2).finding(0.05) == "broken"
    assert Rate(5, 100, 0.05, 0.2).finding(0.05) == "open"
    assert Rate(5, 100, 0.01, 0.05).finding(0.05) == "kept"
    assert Rate(5, 100, 0.01, 0.051).finding(0.05) == "open"
    # Twenty data sets without a failure say nothing at 0.05; a hundred do.
    assert Rate.of(0, 20).finding(0.05) == "open"
    assert Rate.of(0, 100).finding(0.05) == "kept"


# --- contenders


def test_contenders_by_name() -> None:
    paper = contender("pbp-t@paper")
    assert (paper.name, paper.method, paper.conventions, paper.guaranteed) == (
        "pbp-t@paper",
        METHODS["pbp-t"],
        "paper",
        False,
    )
    assert contender("pbp").guaranteed
    assert not contender("pbp@paper").guaranteed
    assert contender("pbp@valid").conventions == "valid"
    assert not contender("bootstrap").guaranteed
    own = contender(lab_work.LYING)
    assert (own.name, own.method, own.guaranteed) == ("lying", lab_work.LYING, True)


def test_all_contenders_are_all_methods_and_the_paper_s_as_published() -> None:
    names = [each.name for each in contenders(None)]
    assert names == [*METHODS, "pbp@paper", "pbp-t@paper", "bootstrap@paper"]


@pytest.mark.parametrize("what", ["pairing", "bentkus", "pbp-t"])
@pytest.mark.parametrize("factor", [0.7, 0.01, 3.0])
def test_shrunk_intervals_end_at_the_factor_s_part_of_the_distance(what: str, factor: float) -> None:
    table = population("atom").sample(12, np.random.default_rng(10))
    pooled = pools(table)
    estimates = percentiles(pooled)
    found = boxes(METHODS[what], table, pooled, estimates, 0.05, "valid")
    shrunk = contender(f"{what}*{factor}")
    low, high = shrunk.method.intervals(table, pooled, estimates, 0.05, "valid")  # type: ignore[misc]
    z = estimates.z_aer
    np.testing.assert_allclose(low, np.clip(z - factor * (z - found.low_aer), 0.0, 1.0), atol=1e-15)
    np.testing.assert_allclose(high, np.clip(z + factor * (found.high_aer - z), 0.0, 1.0), atol=1e-15)
    assert low.min() >= 0.0
    assert high.max() <= 1.0
    # Some were cut, if they were widened.
    assert (factor < 1.0) or low.min() == 0.0
    assert shrunk.name == shrunk.method.name == f"{what}*{factor}"


def test_a_method_as_published_can_be_shrunk() -> None:
    both = contender("pbp@paper*0.5")
    assert (both.conventions, both.name, both.method.published) == ("paper", "pbp@paper*0.5", True)


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("paring", r"no interval method is called 'paring': did you mean 'pairing'"),
        ("", "no interval method is called ''"),
        ("pbp@x", r"'pbp@x': after @ write valid or paper"),
        ("pbp@", r"'pbp@': after @ write valid or paper"),
        ("@x", r"'@x': after @ write valid or paper"),
        ("pairing*abc", "'pairing*abc': after * write"),
        ("pairing*", "'pairing*': after * write"),
        ("pairing*0", "'pairing*0': after * write"),
        ("pairing*-1", "'pairing*-1': after * write"),
        ("pairing*nan", "'pairing*nan': after * write"),
        ("pairing*inf", "'pairing*inf': after * write"),
        ("pairing*0.7*0.7", "after * write"),
        ("bootstrap*0.7", "'bootstrap*0.7': bootstrap has no intervals on percentiles"),
        ("pairing@paper", r"conventions='paper' goes with the paper's methods, pbp, pbp-t and bootstrap"),
        (3, "3 is not a method: pass a name"),
    ],
)
def test_contenders_that_are_none(what: Any, words: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(words)):
        contender(what)


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ("pairing", "methods='pairing' is one string: pass a list"),
        ([], "there are no methods to test: name at least one"),
        (["kl", "pbp", "kl"], "the method 'kl' is named twice"),
        (5, "methods=5 is not a list"),
        (lab_work.LYING, "is not a list: pass a list of names, even of one"),
    ],
)
def test_lists_of_contenders_that_are_none(names: Any, words: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(words)):
        contenders(names)


# --- the record

KEY = {"population": ["normal", "abc"], "trials": 10, "every": None}
FACTS = {"width": 0.1 + 0.2, "count": 3, "nothing": None}


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "folder" / "record.jsonl"
    record = Journal(path)
    assert not path.exists()
    record.add([(KEY, FACTS)])
    record.add([({**KEY, "trials": 11}, {"count": 4})])
    for each in (record, Journal(path)):
        assert each.get(KEY) == FACTS
        assert each.get(dict(reversed(KEY.items()))) == FACTS
        assert each.get({**KEY, "trials": 11}) == {"count": 4}
        assert each.get({**KEY, "trials": 12}) is None
    assert len(path.read_bytes().splitlines()) == 2
    # What was said last counts.
    record.add([(KEY, {"count": 9})])
    assert Journal(path).get(KEY) == {"count": 9}


def test_no_record_remembers_until_the_end() -> None:
    record = Journal()
    record.add([(KEY, FACTS)])
    assert record.get(KEY) == FACTS


@pytest.mark.parametrize("before", [0, 1, 2])
def test_a_line_cut_off_anywhere_is_the_only_one_lost(before: int, tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    record = Journal(path)
    for number in range(before):
        record.add([({"number": number}, FACTS)])
    kept = path.stat().st_size if before else 0
    record.add([(KEY, FACTS)])
    content = path.read_bytes()
    for size in range(kept, len(content)):
        path.write_bytes(content[:size])
        cut = Journal(path)
        assert all(cut.get({"number": number}) == FACTS for number in range(before))
        # All but the end of the line is a whole line, as good as one with it.
        assert cut.get(KEY) == (FACTS if size == len(content) - 1 else None)
        cut.add([({"another": 1}, {"count": 1})])
        cut.add([(KEY, {"count": 5})])
        again = Journal(path)
        assert all(again.get({"number": number}) == FACTS for number in range(before))
        assert again.get({"another": 1}) == {"count": 1}
        assert again.get(KEY) == {"count": 5}


def test_a_line_cut_off_within_the_file_is_the_only_one_lost(tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    record = Journal(path)
    for number in range(3):
        record.add([({"number": number}, FACTS)])
    lines = path.read_bytes().split(b"\n")
    lines[1] = lines[1][:20] + b"\xff\xfe"
    path.write_bytes(b"\n".join(lines))
    cut = Journal(path)
    assert [cut.get({"number": number}) for number in range(3)] == [FACTS, None, FACTS]


@pytest.mark.parametrize(
    "content",
    [
        b"algorithm,environment,score\na,x,1\n",
        b"[1, 2]\n",
        b"{}\n",
        b"\x89PNG\r\n",
        b"3\n",
        b'{"facts": {}}',
        b"[" * 100_000,
    ],
)
def test_a_foreign_file_is_refused_and_left_alone(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    path.write_bytes(content)
    with pytest.raises(StoreError, match=r"record\.jsonl was not written by untuned coverage.*--out"):
        Journal(path)
    assert path.read_bytes() == content


def test_places_that_cannot_be_read_or_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"cannot be written: .*choose another folder"):
        Journal(tmp_path / "file" / "record.jsonl").add([(KEY, FACTS)])
    with pytest.raises(StoreError, match=r"cannot be read: .*another folder"):
        Journal(tmp_path)


def test_a_full_disk_tears_no_line_but_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "record.jsonl"
    record = Journal(path)
    record.add([({"number": 0}, FACTS)])
    write, room = os.write, 25

    def full(file: int, content: bytes) -> int:
        nonlocal room
        if not room:
            raise OSError(28, "No space left on device")
        written = write(file, content[:room])
        room -= written
        return written

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        with pytest.raises(StoreError, match=r"No space left on device\. Make room"):
            record.add([({"number": 1}, FACTS)])
    record.add([({"number": 2}, FACTS)])
    again = Journal(path)
    assert [again.get({"number": number}) for number in range(3)] == [FACTS, None, FACTS]


# --- running

PIECES = [({"piece": number}, number) for number in range(8)]


def products(found: Sequence[Any]) -> list[int]:
    return [facts["product"] for facts in found]


@pytest.mark.parametrize("workers", [1, 2])
def test_results_are_in_the_order_of_the_pieces(workers: int) -> None:
    told: list[tuple[int, int]] = []
    found = run(
        lab_work.multiplied,
        7,
        PIECES,
        Journal(),
        workers=workers,
        progress=lambda done, total: told.append((done, total)),
    )
    assert products(found) == [7 * number for number in range(8)]
    assert told == sorted(told)
    assert (told[0], told[-1]) == ((0, 8), (8, 8))
    # At most the requested number of processes, and only this one for one worker.
    processes = {facts["process"] for facts in found}
    assert processes == {os.getpid()} if workers == 1 else os.getpid() not in processes
    assert len(processes) <= workers


def test_what_is_finished_is_not_done_again(tmp_path: Path) -> None:
    record = Journal(tmp_path / "record.jsonl")
    record.add([({"piece": 2}, {"product": -1})])
    told: list[tuple[int, int]] = []
    found = run(
        lab_work.multiplied, 7, PIECES, record, workers=1, progress=lambda done, total: told.append((done, total))
    )
    assert products(found) == [0, 7, -1, 21, 28, 35, 42, 49]
    assert told[0] == (1, 8)


@pytest.mark.parametrize("calls", [0, 1, 2, 5, 13])
def test_a_stop_keeps_what_is_finished(calls: int, tmp_path: Path) -> None:
    """Polled twice for each piece: before it, and by the work itself."""
    path = tmp_path / "record.jsonl"
    asked = itertools.count()
    with pytest.raises(Stopped, match=rf"{calls // 2} of 8 work units are done and kept in {path}") as stopped:
        run(lab_work.multiplied, 7, PIECES, Journal(path), workers=1, stop=lambda: next(asked) >= calls)
    assert isinstance(stopped.value, UntunedError)
    kept = path.read_bytes().splitlines() if path.exists() else []
    assert len(kept) == calls // 2
    assert products(run(lab_work.multiplied, 7, PIECES, Journal(path), workers=1)) == [7 * n for n in range(8)]
    assert len(path.read_bytes().splitlines()) == 8


def test_a_stop_after_the_last_piece_stops_nothing() -> None:
    asked = itertools.count()
    found = run(lab_work.multiplied, 7, PIECES, Journal(), workers=1, stop=lambda: next(asked) >= 16)
    assert len(found) == 8


def test_processes_hear_of_a_stop(tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    record = Journal(path)
    # An hour each, but for the first.
    with pytest.raises(Stopped, match="1 of 8 work units are done"):
        run(lab_work.waits, 3600.0, PIECES, record, workers=2, stop=lambda: record.get({"piece": 0}) is not None)
    assert Journal(path).get({"piece": 0}) == {"piece": 0}


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_in_a_piece_reaches_the_caller(workers: int, tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    with pytest.raises(ZeroDivisionError, match="three is too many"):
        run(lab_work.refuses_three, 7, PIECES, Journal(path), workers=workers)
    kept = {number: found["product"] for number in range(8) if (found := Journal(path).get({"piece": number}))}
    # With two workers a piece may be under way when the other breaks.
    assert kept == {number: 7 * number for number in kept}
    assert set(kept) == {0, 1, 2} if workers == 1 else 3 not in kept


def test_a_process_that_dies_is_told_with_advice(tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    with pytest.raises(UntunedError, match=r"its process died .*kept, rerun to resume.*memory.*One worker"):
        run(lab_work.dies_of_three, 7, PIECES, Journal(path), workers=2)
    assert products(run(lab_work.multiplied, 7, PIECES, Journal(path), workers=1)) == [7 * n for n in range(8)]


def test_a_process_that_dies_of_a_stop_is_no_failure() -> None:
    with pytest.raises(Stopped):
        run(lab_work.dies_of_three, 7, PIECES[3:], Journal(), workers=2, stop=lambda: True)


def test_what_cannot_be_sent_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"cannot be sent to a worker process.*functions of a module"):
        run(lambda shared, piece, stop: {}, 7, PIECES, Journal(), workers=2)
    with (
        Path(os.devnull).open() as file,
        pytest.raises(InvalidInput, match="cannot be sent to a worker process"),
    ):
        run(lab_work.named, file, PIECES, Journal(), workers=2)


# --- experiments

QUICK: dict[str, Any] = {"data_sets": 3, "refine": 0, "resamples": 20}


def same_but_time(found: Coverage) -> dict[str, Any]:
    facts = found.to_dict()
    for row in facts["rows"]:
        del row["seconds"]
    return facts


def trial_run(tmp_path: Path, **options: Any) -> tuple[Coverage, int]:
    """Return what was found, and how many lines the record has now."""
    path = tmp_path / "record.jsonl"
    arguments: dict[str, Any] = {"populations": ["constant"], "methods": ["kl"], "trials": [6], **QUICK}
    found = coverage(**arguments | {"record": path} | options)
    return found, len(path.read_bytes().splitlines())


def test_the_same_call_does_nothing_again(tmp_path: Path) -> None:
    first, lines = trial_run(tmp_path)
    second, again = trial_run(tmp_path)
    assert (lines, again) == (1, 1)
    # The time too: it is that of the first.
    assert first.to_dict() == second.to_dict()


@pytest.mark.parametrize(
    "change",
    [
        {"delta": 0.2},
        {"seed": 1},
        {"refine": 1},
        {"trials": [7]},
        {"every": 3},
        {"populations": ["cycle"]},
        {"methods": ["kl*0.5"]},
        {"data_sets": 4},
    ],
)
def test_other_settings_do_not_use_what_is_there(change: dict[str, Any], tmp_path: Path) -> None:
    trial_run(tmp_path)
    changed, lines = trial_run(tmp_path, **change)
    assert lines == 2
    fresh, _ = trial_run(tmp_path / "fresh", **change)
    assert same_but_time(changed) == same_but_time(fresh)


def test_another_definition_under_the_same_name_does_not_use_what_is_there(tmp_path: Path) -> None:
    known = population("constant")
    trial_run(tmp_path)
    other = dataclasses.replace(known, laws=[known.laws[1], known.laws[0]])
    assert trial_run(tmp_path, populations=[other])[1] == 2
    assert trial_run(tmp_path, populations=[dataclasses.replace(known)])[1] == 2


def test_what_a_method_does_not_use_changes_nothing(tmp_path: Path) -> None:
    trial_run(tmp_path, methods=["kl", "bootstrap"])
    assert trial_run(tmp_path, methods=["kl"], resamples=21)[1] == 2
    assert trial_run(tmp_path, methods=["bootstrap"], refine=1)[1] == 2
    assert trial_run(tmp_path, methods=["bootstrap"], resamples=21)[1] == 3
    assert trial_run(tmp_path, confidence=0.9)[1] == 3


def test_more_data_sets_use_what_is_there(tmp_path: Path) -> None:
    few, lines = trial_run(tmp_path, data_sets=50)
    more, after = trial_run(tmp_path, data_sets=75)
    assert (lines, after) == (2, 3)
    assert (few.rows[0].data_sets, more.rows[0].data_sets) == (50, 75)
    assert same_but_time(more) == same_but_time(trial_run(tmp_path / "fresh", data_sets=75)[0])
    assert trial_run(tmp_path, data_sets=50)[1] == 3


@pytest.mark.slow
def test_two_workers_and_a_stop_change_no_number(tmp_path: Path) -> None:
    options: dict[str, Any] = {"populations": ["constant", "cycle"], "methods": ["kl", "betting", "bootstrap"]}
    alone = coverage(trials=[6, 9], **options, **QUICK)
    together = coverage(trials=[6, 9], **options, **QUICK, workers=2)
    assert same_but_time(alone) == same_but_time(together)
    path = tmp_path / "record.jsonl"
    asked = itertools.count()
    with pytest.raises(Stopped, match="3 of 12 work units"):
        coverage(trials=[6, 9], **options, **QUICK, record=path, stop=lambda: next(asked) >= 14)
    resumed = coverage(trials=[6, 9], **options, **QUICK, record=str(path))
    assert same_but_time(alone) == same_but_time(resumed)


def test_methods_get_the_same_data_sets_and_each_its_own_row() -> None:
    found = coverage(["constant", "cycle"], ["kl", "kl*1.0", "pbp"], [6, 9], **QUICK)
    assert [(row.population, row.trials, row.method) for row in found.rows] == list(
        itertools.product(["constant", "cycle"], [6, 9], ["kl", "kl*1.0", "pbp"])
    )
    for one, other in zip(found.of("kl"), found.of("kl*1.0"), strict=True):
        # A factor of one leaves the ends of intervals as they are but for rounding: z - 1.0 * (z - low) is not low.
        assert one.width == pytest.approx(other.width, rel=1e-12)
        assert one.percentile_width == pytest.approx(other.percentile_width, rel=1e-12)
        plain = {"method": "", "seconds": 0.0, "width": 0.0, "percentile_width": 0.0}
        assert dataclasses.replace(one, **plain) == dataclasses.replace(other, **plain)  # type: ignore[arg-type]
    assert found.of("kl")[0].width != found.of("pbp")[0].width
    assert found.methods == ("kl", "kl*1.0", "pbp")
    assert found.sizes == ((6, None), (9, None))
    assert found.settings["data_sets"] == {"6": 3, "9": 3}


def test_the_truth_is_that_of_a_method_s_conventions() -> None:
    # Ties are a quarter of all pairs on each side: the two truths are a quarter apart, the intervals less.
    found = coverage(["gap-1e-3"], ["pbp@paper", "pbp"], [1000], **QUICK)
    assert [row.percentiles for row in found.rows] == [Rate.of(0, 3)] * 2
    apart = np.abs(population("gap-1e-3").truth("at-most").z_aer - population("gap-1e-3").truth("mid-rank").z_aer)
    assert apart[0, 0, 1] > max(row.percentile_width or 1.0 for row in found.rows) / 2.0


def test_a_number_of_data_sets_for_each_number_of_trials() -> None:
    found = coverage(["constant"], ["kl"], [6, 9], data_sets=[2, 4], refine=0)
    assert [(row.trials, row.data_sets) for row in found.rows] == [(6, 2), (9, 4)]


def test_scores_of_one_s_own_are_a_population() -> None:
    found = coverage(collected_table(), ["kl"], np.int64(6), data_sets=np.int64(2), refine=0)  # type: ignore[arg-type]
    assert dict(found.populations) == {"as collected": "resampled from 1 to 4 scores per cell"}
    named = coverage([CollectedPopulation(collected_table(), "mine"), "cycle"], ["kl"], [6], data_sets=2, refine=0)
    assert list(named.populations) == ["mine", "cycle"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"populations": ["cycles"]}, "no population is called 'cycles': did you mean 'cycle'"),
        ({"populations": []}, "there are no populations: name at least one"),
        ({"populations": ["cycle", "cycle"]}, "the population 'cycle' is named twice"),
        ({"populations": 5}, "populations=5 is not a list: pass names"),
        ({"populations": [5]}, "populations: 5 is not one: pass names"),
        (
            {"populations": [ScoreTable.from_array([[[1.0]], [[2.0]]])]},
            "2 algorithms and 1 environments: the game needs",
        ),
        ({"methods": ["paring"]}, "no interval method is called 'paring': did you mean 'pairing'"),
        ({"methods": []}, "there are no methods to test"),
        ({"trials": []}, "there are no numbers of trials: pass at least one"),
        ({"trials": [1]}, "trials=1 is not allowed: pass a whole number of at least 2"),
        ({"trials": [True]}, "trials=True is not allowed"),
        ({"trials": [6.0]}, "trials=6.0 is not allowed"),
        ({"trials": 6.5}, "trials=6.5 is not allowed"),
        ({"trials": "10"}, "trials='10' is a string: pass a whole number"),
        ({"trials": [6, 6]}, "trials=[6, 6]: a number of trials is named twice"),
        ({"data_sets": 0}, "data_sets=0 is not allowed: pass a whole number of at least 1"),
        ({"data_sets": 2.5}, "data_sets=2.5 is not allowed"),
        ({"data_sets": [1, 2]}, "data_sets=[1, 2] for 1 numbers of trials: pass one number for all, or one for each"),
        ({"delta": 0}, "delta=0 is outside (0, 0.5]"),
        ({"delta": 0.6}, "delta=0.6 is outside"),
        ({"delta": "x"}, "delta='x' is not a number"),
        ({"every": 0}, "every=0 is not allowed: pass a whole number of at least 1"),
        ({"every": 2.0}, "every=2.0 is not allowed"),
        ({"confidence": 1.0}, "confidence=1.0: pass a number in"),
        ({"confidence": 0.4}, "confidence=0.4: pass a number in"),
        ({"confidence": float("nan")}, "confidence=nan: pass a number in"),
        ({"confidence": "high"}, "confidence='high': pass a number in"),
        ({"refine": -1}, "refine=-1 is not allowed: pass a whole number of at least 0"),
        ({"resamples": 0}, "resamples=0 is not allowed"),
        ({"seed": -1}, "seed=-1 is not allowed"),
        ({"workers": 0}, "workers=0 is not allowed"),
    ],
)
def test_mistakes_are_told_in_words(change: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=re.escape(words)):
        trial_run(tmp_path, **change)
    assert not (tmp_path / "record.jsonl").exists()


# --- what is counted


def tallied(method: Any, name: str, design: Design, data_sets: int = 5) -> Tally:
    known, tested = population(name), contender(method)
    total = Tally()
    for number in range(data_sets):
        truth = known.truth(payoff_of(tested.conventions))
        total.add(experiment(known, truth, tested, design, Judging(refine=0, resamples=20), number))
    return total


def test_intervals_that_say_nothing_are_never_wrong() -> None:
    found = tallied(lab_work.HONEST, "normal", Design(10))
    assert (found.data_sets, found.percentiles, found.aggregates, found.differences) == (5, 0, 0, 0)
    assert (found.verdicts, found.decided, found.trials) == (0, 0, 50)
    assert found.percentile_width == pytest.approx(5.0)
    assert found.seconds > 0.0


def test_intervals_that_say_too_much_are_wrong_every_time() -> None:
    # With ten trials an estimate is a number of hundredths, which none of the true percentiles is.
    found = tallied(lab_work.LYING, "normal", Design(10))
    assert (found.percentiles, found.aggregates, found.differences) == (5, 5, 5)
    assert found.decided > 0
    assert found.percentile_width == pytest.approx(5 * 2e-6, rel=0.5)


def test_a_verdict_between_equals_is_wrong() -> None:
    found = tallied(lab_work.LYING, "duplicates", Design(10))
    apart = 0
    for number in range(5):
        table = data_set(population("duplicates"), Design(10), 0, number)
        better = evaluate(table, intervals=lab_work.LYING, refine=0).pairs.better_ab
        apart += bool(better[0, 1] or better[1, 0] or better[0, 2] or better[1, 2])
    assert found.verdicts == apart > 0
    # Among those that are all equal, every verdict is wrong.
    cycle = tallied(lab_work.LYING, "cycle", Design(10))
    assert cycle.verdicts == 5
    # What is declared to be equal has no verdict.
    declared = tallied(lab_work.LYING, "declared", Design(40))
    assert declared.decided == 2 * 5
    assert declared.verdicts == 0


# --- weights chosen beforehand


@pytest.mark.parametrize("name", [each.name for each in few_runs()])
def test_what_is_said_to_be_as_good_is_as_good_exactly(name: str) -> None:
    known = population(name)
    n, m = known.shape
    z = [
        [[percentile(player[e], other[e], "mid-rank") for e in range(m)] for other in known.laws]
        for player in known.laws
    ]
    y = [sum(map(sum, rows), Fraction(0)) / (m * n) for rows in z]
    if name == "board":
        assert len(set(map(float, y))) == n
        return
    # Normal distributions are known to the last bits of a float, points exactly.
    equals = 2 if name == "skewed" else n
    assert max(y[:equals]) - min(y[:equals]) < 1e-15
    if name in ("coins", "outweighed", "levels", "skewed"):
        assert len(set(y[:equals])) == 1
    if name != "skewed":
        # Nor does any algorithm win more than half against another overall, although some do on single environments.
        wins = [sum(z[a][b], Fraction(0)) / m for a in range(n) for b in range(n)]
        assert max(abs(win - Fraction(1, 2)) for win in wins) < 1e-15
        assert name in ("coins", "tails") or max(abs(each - Fraction(1, 2)) for each in z[0][-1]) > 0.05


def test_runs_by_algorithm_and_environment() -> None:
    trials = population("ragged").sample(5, np.random.default_rng(0)).trials
    assert (trials.min(), trials.max()) == (1, 6)
    assert population("ragged").sizes(5) == (6, 6, 6, 6)
    gaps = population("gaps").sample(5, np.random.default_rng(0))
    assert gaps.trials.tolist() == [[1] * 8, [0, 0, *[5] * 6], [5] * 8, [5] * 8]
    assert population("gaps").first(gaps, 3).trials.tolist() == [[1] * 8, [0, 0, *[3] * 6], [3] * 8, [3] * 8]
    assert population("twins").sample(2, np.random.default_rng(0)).kinds.tolist() == [[0, 0, 2, 3]] * 8


def test_weights_are_those_that_a_method_is_for() -> None:
    assert contender("pooled").judging(Judging()).weightings == ("uniform",)
    assert contender("pairing").judging(Judging()).weightings == ("game",)
    assert contender("pairing").judging(Judging(weights="uniform")).weightings == ("uniform",)
    default = contender("default").judging(Judging())
    assert (default.weightings, default.intervals) == (("game", "uniform"), None)
    assert [each.name for each in contenders(None, "both")][:2] == ["default", "pairing"]
    assert "pooled" not in [each.name for each in contenders(None, "game")]
    with pytest.raises(InvalidInput, match="weights chosen beforehand"):
        coverage(["coins"], ["pooled"], [2], data_sets=1, weights="game")
    with pytest.raises(UnknownName, match="environment"):
        coverage(["coins"], ["pooled"], [2], data_sets=1, weights={"nowhere": 1.0})


def test_the_truth_under_given_weights_is_their_mean() -> None:
    known = population("board")
    z = known.truth("mid-rank").z_aer
    found = coverage(["board"], ["pooled", "bentkus"], [3], data_sets=2, weights=[3.0, 1.0, *[0.0] * 6]).rows
    assert [row.weights for row in found] == ["given", "given"]
    assert [row.wins is None for row in found] == [False, True]
    table = data_set(known, Design(3), 0, 0)
    ranking = Judging(intervals="pooled", weights=(3.0, 1.0, *[0.0] * 6)).judge(table, workers=1).rankings[0]
    want = (0.75 * z[:, 0] + 0.25 * z[:, 1]).mean(axis=1)
    np.testing.assert_allclose(known.truth("mid-rank").scores(ranking), want, atol=1e-12)


def told(**changes: Any) -> Tally:
    """Return the tally of one evaluation of two algorithms, A better by .1 on the first of four environments alone."""
    z = np.full((2, 4, 2), 0.5)
    z[0, 0, 1], z[1, 0, 0] = 0.9, 0.1
    table = data_set(population("coins"), Design(2), 0, 0)
    found = Judging(intervals="pooled").judge(table, workers=1)
    ranking, direct = found.rankings[0], found.head_to_head
    assert direct is not None
    wide = np.array([[0.0, 1.0], [1.0, 0.0]])
    undecided = np.zeros((2, 2), dtype=bool)
    plain = dataclasses.replace(
        ranking, low_a=np.zeros(2), high_a=np.ones(2), pairs=Pairs(-wide, wide, undecided), cap_ab=wide * np.nan
    )
    ranking = dataclasses.replace(plain, **{key: value for key, value in changes.items() if hasattr(plain, key)})
    direct = HeadToHead(direct.win_ab, 0.5 - wide / 2, 0.5 + wide / 2, changes.get("better_ab", undecided))
    tally = Tally(data_sets=1)
    compare(tally, dataclasses.replace(found, rankings=(ranking,), head_to_head=direct), Truth(z, np.full(2, 0.5)))
    return tally


def test_what_is_wrong_is_counted_by_its_kind_and_together() -> None:
    right = told()
    assert (right.aggregates, right.differences, right.verdicts, right.wins, right.caps, right.anything) == (0,) * 6
    b_wins = np.array([[False, False], [True, False]])
    assert (told(better_ab=b_wins).wins, told(better_ab=b_wins).verdicts) == (1, 0)
    assert told(better_ab=b_wins).anything == 1
    assert (told(better_ab=b_wins.T).wins, told(better_ab=b_wins.T).anything) == (0, 0)
    low = told(low_a=np.array([0.56, 0.0]))
    assert (low.aggregates, low.anything) == (1, 1)
    assert told(low_a=np.array([0.54, 0.0])).anything == 0


@pytest.mark.parametrize(("cap", "wrong"), [(1.0, 0), (1.3, 0), (1.34, 1), (4.0, 1)])
def test_a_cap_is_wrong_if_the_worst_weights_within_it_reverse_the_verdict(cap: float, wrong: int) -> None:
    """Three of four environments can carry all the weight if each may count 4/3 of its share."""
    found = told(cap_ab=np.array([[np.nan, cap], [np.nan, np.nan]]))
    assert (found.caps, found.anything, found.verdicts) == (wrong, wrong, 0)


def test_shrunk_bounds_of_a_method_without_percentiles() -> None:
    table = data_set(population("board"), Design(5), 0, 0)
    options = Judging(weights="uniform")
    plain = judged(table, contender("pooled"), options, 0)
    half = judged(table, contender("pooled*0.5"), options, 0)
    np.testing.assert_allclose(half.score_a - half.low_a, 0.5 * (plain.score_a - plain.low_a), atol=1e-12)
    gap = plain.score_a[:, None] - plain.score_a[None, :]
    np.testing.assert_allclose(gap - half.pairs.low_ab, 0.5 * (gap - plain.pairs.low_ab), atol=1e-12)
    assert (half.pairs.better_ab >= plain.pairs.better_ab).all()
    assert half.pairs.better_ab.sum() > plain.pairs.better_ab.sum()
    assert plain.head_to_head is not None
    assert half.head_to_head is not None
    assert (half.head_to_head.low_ab >= plain.head_to_head.low_ab - 1e-12).all()


def test_a_right_verdict_is_not_wrong() -> None:
    found = tallied(lab_work.LYING, "constant", Design(10))
    assert (found.decided, found.verdicts) == (5, 0)


def test_truths_a_rounding_away_are_not_missed_and_others_are() -> None:
    known, tested = population("constant"), contender(lab_work.LYING)
    table = data_set(known, Design(10), 0, 0)
    evaluation = evaluate(table, intervals=lab_work.LYING, refine=0)
    assert evaluation.percentiles.high_aer is not None
    options = Judging(refine=0)
    # The ends of the intervals themselves, and a little beyond.
    for beyond, missed in ((0.0, 0), (5e-12, 0), (5e-11, 1)):
        above = Truth(evaluation.percentiles.high_aer + beyond, evaluation.high_a + beyond)
        found = experiment(known, above, tested, Design(10), options, 0)
        assert (found.percentiles, found.aggregates) == (missed, missed)
        assert evaluation.percentiles.low_aer is not None
        under = Truth(evaluation.percentiles.low_aer - beyond, evaluation.low_a - beyond)
        found = experiment(known, under, tested, Design(10), options, 0)
        assert (found.percentiles, found.aggregates) == (missed, missed)


def test_the_bootstrap_has_no_intervals_on_percentiles() -> None:
    found = tallied("bootstrap", "constant", Design(5), 2)
    assert found.percentiles is None
    assert found.percentile_width is None
    row = coverage(["constant"], ["bootstrap"], [5], **QUICK).rows[0]
    assert (row.percentiles, row.percentile_width, row.guaranteed) == (None, None, False)
    assert list(row.events()) == ["aggregates", "differences", "verdicts"]


@pytest.mark.parametrize(
    ("design", "looks"),
    [
        (Design(10), (10,)),
        (Design(10, 3), (3, 6, 9, 10)),
        (Design(9, 3), (3, 6, 9)),
        (Design(9, 9), (9,)),
        (Design(9, 50), (9,)),
        (Design(3, 1), (1, 2, 3)),
    ],
)
def test_looks(design: Design, looks: tuple[int, ...]) -> None:
    assert design.looks() == looks


def test_who_stops_at_the_first_verdict_stops_there() -> None:
    assert tallied(lab_work.LYING, "constant", Design(20, 5)).trials == 5 * 5
    assert tallied(lab_work.HONEST, "constant", Design(20, 5)).trials == 5 * 20
    # One look, at the end, has all the trials whatever it shows.
    assert tallied(lab_work.LYING, "constant", Design(20)).trials == 5 * 20


def test_the_first_look_is_that_of_the_first_trials() -> None:
    known, design = population("unequal"), Design(12, 6)
    table = known.first(data_set(known, design, 0, 3), 6)
    evaluation = evaluate(table, intervals=lab_work.LYING, refine=0)
    found = experiment(known, known.truth("mid-rank"), contender(lab_work.LYING), design, Judging(refine=0), 3)
    assert found.trials == 6
    assert found.decided == np.count_nonzero(evaluation.pairs.better_ab)
    assert found.width == pytest.approx(float((evaluation.high_a - evaluation.low_a).mean()))


def test_what_was_wrong_at_any_look_was_wrong() -> None:
    found = tallied(lab_work.HASTY, "normal", Design(20, 5))
    assert found.percentiles == found.aggregates == found.differences == 5
    assert found.trials == 5 * 20
    # The widths are those of the last look.
    assert found.percentile_width == pytest.approx(5.0)
    assert tallied(lab_work.HASTY, "normal", Design(20)).percentiles == 0


def test_only_methods_for_any_time_promise_anything_to_those_who_look_often() -> None:
    found = coverage(["constant"], ["kl", "betting", "betting*0.5"], [6], every=3, **QUICK)
    assert [row.guaranteed for row in found.rows] == [False, True, True]
    assert all(row.every == 3 and row.stopped_at <= 6.0 for row in found.rows)


def test_rows_are_the_tallies_of_all_pieces() -> None:
    found = coverage(["normal"], [lab_work.LYING], [10], data_sets=30, refine=0).rows[0]
    total = tallied(lab_work.LYING, "normal", Design(10), 30)
    assert (found.aggregates.count, found.aggregates.total, found.data_sets) == (total.aggregates, 30, 30)
    assert found.percentiles is not None
    assert (found.percentiles.count, found.differences.count, found.verdicts.count) == (
        total.percentiles,
        total.differences,
        total.verdicts,
    )
    assert found.decided == pytest.approx(total.decided / (30 * 3))
    assert found.width == pytest.approx(total.width / 30)
    assert found.stopped_at == 10.0
    assert found.aggregates == Rate.of(total.aggregates, 30)


# --- what is said of it

ZERO, SOME, MANY = Rate.of(0, 2000), Rate.of(100, 2000), Rate.of(300, 2000)


def row(method: str = "kl", name: str = "normal", trials: int = 10, **changes: Any) -> Row:
    plain = Row(
        population=name,
        method=method,
        guaranteed=True,
        trials=trials,
        every=None,
        data_sets=2000,
        percentiles=ZERO,
        aggregates=ZERO,
        differences=ZERO,
        verdicts=ZERO,
        decided=0.5,
        width=0.25,
        percentile_width=0.5,
        stopped_at=float(trials),
        seconds=0.01,
    )
    return dataclasses.replace(plain, **changes)


def found_in(*rows: Row, delta: float = 0.05) -> Coverage:
    return Coverage(rows, delta, {each.population: "scores" for each in rows}, {"seed": 0})


def test_findings_of_rows_and_methods() -> None:
    kept, open_, broken = row(), row(name="cycle", aggregates=SOME), row(name="atom", verdicts=MANY)
    assert [each.finding(0.05) for each in (kept, open_, broken)] == ["kept", "open", "broken"]
    assert row(verdicts=MANY, aggregates=SOME).finding(0.05) == "broken"
    assert row(percentiles=None).finding(0.05) == "kept"
    assert found_in(kept).finding("kl") == "kept"
    assert found_in(kept, open_).finding("kl") == "open"
    everything = found_in(kept, open_, broken, row("pbp"))
    assert everything.finding("kl") == "broken"
    assert everything.finding("pbp") == "kept"
    assert everything.broken() == everything.broken("kl") == (broken,)
    assert everything.broken("pbp") == ()
    with pytest.raises(UnknownName, match="no method is called 'kll': did you mean 'kl'"):
        everything.finding("kll")


def test_the_worst_of_a_method() -> None:
    bad, worse = row(aggregates=SOME), row(name="atom", trials=30, differences=MANY)
    found = found_in(bad, worse, row("pbp"), row("bootstrap", percentiles=None))
    worst = found.worst("kl")
    assert worst is not None
    assert (worst.event, worst.row, worst.rate) == ("differences", worse, MANY)
    worst = found.worst("kl", "aggregates")
    assert worst is not None
    assert (worst.row, worst.rate) == (bad, SOME)
    assert found.worst("bootstrap", "percentiles") is None
    # Ten of ten say less than 300 of 2,000 do, until their limit is above.
    sure, unsure = row(verdicts=Rate.of(300, 2000)), row(name="atom", verdicts=Rate.of(1, 3))
    worst = found_in(sure, unsure).worst("kl")
    assert worst is not None
    assert worst.row is sure


def test_means_over_populations() -> None:
    found = found_in(
        row(decided=0.2, width=0.1, seconds=1.0),
        row(name="atom", decided=0.6, width=0.3, seconds=2.0),
        row(trials=30, decided=0.9),
        row(trials=30, every=10, decided=0.8),
        row("pbp", decided=0.0),
    )
    assert found.decided("kl", 10) == pytest.approx(0.4)
    assert found.width("kl", 10) == pytest.approx(0.2)
    assert found.seconds("kl", 10) == pytest.approx(1.5)
    assert (found.decided("kl", 30), found.decided("kl", 30, 10)) == (0.9, 0.8)
    assert (found.decided("kl", 20), found.width("kl", 20), found.seconds("kl", 20)) == (None, None, None)
    assert found.sizes == ((10, None), (30, None), (30, 10))


def test_sentences() -> None:
    assert found_in(row()).verdicts == (
        "kl holds its level: never wrong in 2,000 data sets each (limit 0.18 %), where 5 % are allowed.",
    )
    assert found_in(row(), row(name="atom", trials=1000, verdicts=Rate.of(40, 2000))).verdicts == (
        "kl holds its level: wrong in at most 2 % (limits 1.4 % and 2.7 %), on atom, 1,000 trials, where 5 % are "
        "allowed.",
    )
    assert found_in(
        row(), row(name="atom", verdicts=MANY), row(name="cycle", differences=Rate.of(2000, 2000))
    ).verdicts == (
        "kl does not hold its level in 2 of 3 experiments, most on cycle, 10 trials: any difference is wrong in 100 % "
        "(limits 100 % and 100 %), where 5 % are allowed.",
    )
    few = Rate.of(0, 20)
    little = row(data_sets=20, percentiles=few, aggregates=few, differences=few, verdicts=few)
    assert found_in(little).verdicts == (
        "kl may hold its level, but there are too few data sets to say: never wrong in 20 data sets each (limit 17 %).",
    )
    # The limit is that of the fewest, which is why nothing can be said.
    assert found_in(row(), little).verdicts == (
        "kl may hold its level, but there are too few data sets to say: never wrong in 20 to 2,000 data sets each "
        "(limit 17 %).",
    )
    assert found_in(row(aggregates=SOME, every=20, trials=200)).verdicts == (
        "kl may hold its level, but there are too few data sets to say: wrong in at most 5 % (limits 4.1 % and "
        "6 %), on normal, up to 200 trials, looking after every 20.",
    )
    assert [words.split()[0] for words in found_in(row(), row("pbp")).verdicts] == ["kl", "pbp"]


def test_everything_survives_json() -> None:
    handmade = found_in(
        row(), row("bootstrap", percentiles=None, percentile_width=None, every=5), row("pbp", verdicts=MANY)
    )
    for found in (handmade, coverage(["constant"], ["kl", "bootstrap"], [6], **QUICK)):
        facts = json.loads(found.to_json())
        again = Coverage.from_dict(facts)
        assert again == found
        assert again.to_dict() == facts == found.to_dict()
        assert list(facts["findings"]) == list(found.methods)
        assert facts["verdicts"] == list(found.verdicts)
        assert [each["finding"] for each in facts["rows"]] == [each.finding(0.05) for each in found.rows]


# --- the paper's test


def test_failure_rates_are_those_of_two_loops() -> None:
    rng = np.random.default_rng(11)
    score = 0.5 + 0.3 * rng.random((7, 3))
    low, high = score - 0.3 * rng.random((7, 3)), score + 0.3 * rng.random((7, 3))
    # One whose own estimate is outside: not a failure, because it is not another sample.
    low[2] = score[2] + 0.01

    def rate(samples: Sequence[int]) -> float:
        pairs = list(itertools.permutations(samples, 2))
        return sum(any(not low[j, a] <= score[i, a] <= high[j, a] for a in range(3)) for i, j in pairs) / len(pairs)

    found, error = failure_rate(score, low, high)
    assert 0 < rate(range(7)) < 1
    assert found == rate(range(7))
    left_out = np.array([rate([i for i in range(7) if i != k]) for k in range(7)])
    assert error == pytest.approx(math.sqrt(6 / 7 * np.sum((left_out - left_out.mean()) ** 2)), rel=1e-12)
    assert error
    assert failure_rate(score[:2], low[:2], high[:2]) == (rate(range(2)), None)
    assert failure_rate(score[:1], low[:1], high[:1]) == (None, None)


def small_replication(table: ScoreTable | None = None, **options: Any) -> Replication:
    arguments: dict[str, Any] = {"methods": ["pbp@paper", "kl", "bootstrap@paper"], "trials": [4, 6], "samples": 3}
    return replication(collected_table() if table is None else table, **arguments | {"resamples": 20} | options)


def test_rows_of_the_paper_s_test() -> None:
    found = small_replication()
    assert [(each.trials, each.method, each.samples) for each in found.rows] == [
        (size, name, 3) for size in (4, 6) for name in ("pbp@paper", "kl", "bootstrap@paper")
    ]
    assert found.population == "resampled from 1 to 4 scores per cell"
    drawn = CollectedPopulation(collected_table())
    for each in found.rows:
        tested = contender(each.method)
        y = drawn.truth(payoff_of(tested.conventions)).y_a
        evaluations = [
            evaluate(
                data_set(drawn, Design(each.trials), 0, number),
                intervals=tested.method,
                conventions=tested.conventions,
                resamples=20,
                seed=number,
            )
            for number in range(3)
        ]
        failures = sum(
            bool(((one.score_a < other.low_a - 1e-9) | (one.score_a > other.high_a + 1e-9)).any())
            for one, other in itertools.permutations(evaluations, 2)
        )
        assert each.failures == failures / 6
        missed = sum(bool(((y < one.low_a - 1e-9) | (y > one.high_a + 1e-9)).any()) for one in evaluations)
        assert each.truth == Rate.of(missed, 3)
        assert each.significant == sum(int(one.pairs.better_ab.sum()) for one in evaluations) / 9
        assert each.width == pytest.approx(float(np.mean([one.high_a - one.low_a for one in evaluations])))
        assert (each.published_failures, each.published_significant) == (None, None)
    facts = json.loads(found.to_json())
    assert facts == found.to_dict()
    assert facts["rows"][0]["truth"] == found.rows[0].truth.facts()
    assert facts["settings"]["samples"] == {"4": 3, "6": 3}


def test_scores_that_never_change_never_fail() -> None:
    """Every sample is the same: no method's estimate is outside its own interval, by a rounding or otherwise."""
    levels = np.array([[1.0, 3.0], [2.0, 1.0], [5.0, 5.0]])
    table = ScoreTable.from_array(levels[:, :, None].repeat(2, axis=2))
    found = small_replication(table, methods=["pbp@paper", "bootstrap@paper", "bootstrap", "pairing", "betting"])
    assert [each.failures for each in found.rows] == [0.0] * 10


def test_the_paper_s_figures_go_with_the_paper_s_names_only() -> None:
    algorithms = [choice.use for choice in STUDY.algorithms]
    environments = [choice.use for choice in STUDY.environments]
    scores = np.random.default_rng(12).random((4, 9, 3))
    table = ScoreTable.from_array(scores, algorithms, environments)
    options: dict[str, Any] = {
        "methods": ["pbp@paper", "pbp", "pbp-t@paper"],
        "trials": [10, 11],
        "samples": 1,
        "refine": 0,
    }
    found = {(each.method, each.trials): each for each in replication(table, **options).rows}
    for name in ("pbp@paper", "pbp-t@paper"):
        line = found[name, 10]
        assert (line.published_failures, line.published_significant) == PUBLISHED[name][10]
        assert found[name, 11].published_failures is None
    assert found["pbp", 10].published_failures is None
    renamed = ScoreTable.from_array(scores, [*algorithms[:3], "mine"], environments)
    assert replication(renamed, **options).rows[0].published_failures is None
    assert replication(table, **{**options, "delta": 0.1}).rows[0].published_failures is None


def test_the_paper_s_test_goes_on_where_it_ended(tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    asked = itertools.count()
    with pytest.raises(Stopped, match="2 of 6 work units"):
        small_replication(record=path, stop=lambda: next(asked) >= 10)
    resumed = small_replication(record=path)
    assert len(path.read_bytes().splitlines()) == 6

    def numbers(found: Replication) -> list[Replicates]:
        return [dataclasses.replace(each, seconds=0.0) for each in found.rows]

    assert numbers(resumed) == numbers(small_replication())
    # Its pieces are not those of the other test.
    coverage([collected_table()], ["kl"], [4, 6], data_sets=3, refine=None, record=path)
    assert len(path.read_bytes().splitlines()) == 8


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"methods": ["pbt"]}, "no interval method is called 'pbt'"),
        ({"methods": "pbp"}, "is one string"),
        ({"trials": [1]}, "trials=1 is not allowed"),
        ({"samples": [1, 2, 3]}, "samples=[1, 2, 3] for 2 numbers of trials"),
        ({"samples": 0}, "samples=0 is not allowed"),
        ({"delta": 2}, "delta=2 is outside"),
        ({"refine": -2}, "refine=-2"),
        ({"resamples": 0}, "resamples=0"),
        ({"seed": -1}, "seed=-1"),
        ({"workers": 0}, "workers=0"),
    ],
)
def test_mistakes_about_the_paper_s_test(change: dict[str, Any], words: str) -> None:
    arguments: dict[str, Any] = {"trials": [4, 6], "samples": 3}
    with pytest.raises(InvalidInput, match=re.escape(words)):
        small_replication(**change)
    with pytest.raises(InvalidInput, match=re.escape(words)):
        check_replication(**{**arguments, **change})


def test_the_paper_s_test_needs_scores_in_every_cell() -> None:
    with pytest.raises(InvalidInput, match="'algorithm-2' has no trials on 'environment-1'"):
        small_replication(ScoreTable.from_array([[[1.0], [2.0]], [[], [1.0]]]))
    with pytest.raises(InvalidInput, match="there is one algorithm"):
        small_replication(ScoreTable.from_array([[[1.0], [2.0]]]))


# --- pictures

Pictured = Callable[[], Any]


def replicates(method: str, trials: int, published: tuple[float, float] | None, failures: float | None) -> Replicates:
    theirs = (None, None) if published is None else published
    return Replicates(
        method=method,
        trials=trials,
        samples=9,
        failures=failures,
        failures_error=None if failures is None else 0.01,
        significant=0.2,
        significant_error=0.02,
        truth=Rate.of(1, 9),
        width=0.3,
        published_failures=theirs[0],
        published_significant=theirs[1],
        seconds=0.01,
    )


PICTURES: dict[str, Pictured] = {
    "one method": lambda: coverage_figure(found_in(row(), row(trials=30, verdicts=MANY))),
    "one experiment": lambda: coverage_figure(found_in(row(decided=0.0))),
    "twelve methods": lambda: coverage_figure(
        found_in(
            *(row(f"method-{k}", name, guaranteed=k > 3, aggregates=SOME) for k in range(12) for name in CATALOGUE[:3])
        )
    ),
    "no intervals on percentiles": lambda: coverage_figure(
        found_in(row("bootstrap", percentiles=None, percentile_width=None), row("kl", aggregates=SOME))
    ),
    "none at all on percentiles": lambda: coverage_figure(found_in(row("bootstrap", percentiles=None))),
    "adaptive": lambda: coverage_figure(found_in(row(every=20, trials=200), row("pbp", every=20, trials=200))),
    "some numbers of trials missing": lambda: coverage_figure(found_in(row(), row("pbp", trials=30))),
    "the paper's test": lambda: replication_figure(
        Replication(
            tuple(
                replicates(name, size, (0.1, 0.5) if name == "pbp" else None, 0.1)
                for size in (10, 30)
                for name in ("pbp", "kl")
            ),
            "made up",
            {"delta": 0.05},
        )
    ),
    "the paper's test, one sample": lambda: replication_figure(
        Replication((replicates("kl", 10, None, None),), "made up", {"delta": 0.05})
    ),
    "the paper's test, twelve methods": lambda: replication_figure(
        Replication(tuple(replicates(f"m{k}", 10, (0.0, 0.0), 0.0) for k in range(12)), "made up", {"delta": 0.05})
    ),
}


@pytest.mark.parametrize("kind", ["png", "pdf", "svg"])
@pytest.mark.parametrize("name", PICTURES)
def test_pictures_can_be_drawn_and_saved(name: str, kind: str) -> None:
    file = io.BytesIO()
    PICTURES[name]().savefig(file, format=kind)
    beginning = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml"}[kind]
    assert file.getvalue().startswith(beginning)


def test_a_picture_shows_every_rate_in_its_colour() -> None:
    found = found_in(row(), row(name="atom", aggregates=SOME), row(name="cycle", aggregates=MANY))
    figure = coverage_figure(found)
    titles = [ax.get_title(loc="left") for ax in figure.axes]
    assert titles[:4] == [f"{EVENTS[event]} wrong" for event in found.events]
    marks = figure.axes[1].collections[1]
    assert np.asarray(marks.get_offsets())[:, 0].tolist() == [0.0, 0.05, 0.15]
    # Three colours for three findings.
    assert len({tuple(colour) for colour in np.asarray(marks.get_facecolor())}) == 3
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["kl"]


def test_lines_of_a_picture_are_the_means() -> None:
    found = found_in(row(decided=0.2), row(trials=30, decided=0.9), row("pbp", decided=0.1, guaranteed=False))
    lines = coverage_figure(found).axes[4].get_lines()
    assert [line.get_label() for line in lines] == ["kl", "pbp"]
    assert np.asarray(lines[0].get_xydata()).tolist() == [[10.0, 0.2], [30.0, 0.9]]
    assert lines[0].get_linestyle() == "-" != lines[1].get_linestyle()


def test_populations_of_one_s_own_need_what_the_class_says() -> None:
    with pytest.raises(TypeError, match="abstract"):
        Population()  # type: ignore[abstract]
    own = KnownPopulation("own", "two points", [[even(1.0, 2.0)] * 2, [point(1.5)] * 2])
    assert own.algorithms == ("A", "B")
    assert own.environments == ("environment-1", "environment-2")
    assert coverage([own], ["kl"], [5], data_sets=2, refine=0).rows[0].population == "own"


# --- what a record must not mix up


def test_a_method_that_was_changed_is_another(tmp_path: Path) -> None:
    record = tmp_path / "record.jsonl"
    honest = dataclasses.replace(lab_work.HONEST, name="mine")
    lying = dataclasses.replace(lab_work.LYING, name="mine")
    options = {"data_sets": 5, "refine": 0, "record": record}
    assert coverage(["constant"], [honest], [10], **options).rows[0].aggregates.count == 0  # type: ignore[arg-type]
    assert coverage(["constant"], [lying], [10], **options).rows[0].aggregates.count > 0  # type: ignore[arg-type]
    assert len(record.read_text().splitlines()) == 2
    # Repeating it gives the same.
    coverage(["constant"], [honest], [10], **options)  # type: ignore[arg-type]
    assert len(record.read_text().splitlines()) == 2


def test_methods_of_ours_are_known_by_their_names() -> None:
    assert contender("pairing").own == contender("pairing*0.7").own == contender(METHODS["pairing"]).own == ""
    other = dataclasses.replace(METHODS["pairing"], name="other")
    assert contender(other).own == contender(other).own != ""
    # One without a function, or whose function is an object, can be told from others too.
    with_arguments = dataclasses.replace(other, intervals=partial(lab_work.around, half=0.1))
    with_others = dataclasses.replace(other, intervals=partial(lab_work.around, half=0.2))
    assert len({contender(each).own for each in (other, with_arguments, with_others)}) == 3


def test_summaries_do_not_decide_anything_and_laws_do() -> None:
    known = population("constant")
    assert dataclasses.replace(known, summary="other words").fingerprint == known.fingerprint
    assert dataclasses.replace(known, ranges=(0.0, 11.0)).fingerprint != known.fingerprint
    assert len({each.fingerprint for each in populations()}) == len(CATALOGUE)


def test_many_algorithms_have_names() -> None:
    many = KnownPopulation("many", "thirty", [[point(float(a)), point(0.0)] for a in range(30)])
    assert len(set(many.algorithms)) == many.sample(2, np.random.default_rng(0)).trials.shape[0] == 30
    assert population("cycle").algorithms == ("A", "B", "C")


def test_coverage_as_a_data_frame() -> None:
    found = coverage(["constant"], ["kl", "bootstrap"], [10], data_sets=4, refine=0, resamples=20)
    frame = found.to_frame()
    assert frame["method"].to_list() == ["kl", "bootstrap"]
    assert frame["percentiles"].to_list() == [found.rows[0].events()["percentiles"].rate, None]
    assert frame["aggregates_high"].to_list() == [row.aggregates.high for row in found.rows]
    assert frame["finding"].to_list() == [row.finding(found.delta) for row in found.rows]
