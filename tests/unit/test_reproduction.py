"""The paper's experiment compared with what was published: figures, z-scores, conclusions, tables, the page."""

import dataclasses
import html
import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from scipy import stats

from support.judging import evaluate, with_ranking
from support.reporting import rounded
from untuned.collect.environments.names import NAMES
from untuned.errors import InvalidInput, UnknownName
from untuned.evaluation import Evaluation
from untuned.lab import table_two
from untuned.lab.rates import Rate
from untuned.lab.table_two import Replicates, Replication
from untuned.reproduction import agreement, experiment, published
from untuned.reproduction import reproduce as steps
from untuned.reproduction.agreement import Agreement, mean_z
from untuned.reproduction.conclusions import HOLDS, NOT, OPEN, Conclusion, Status, conclusions
from untuned.reproduction.experiment import ALGORITHMS, study
from untuned.reproduction.result import Reproduction
from untuned.scores import ScoreTable
from untuned.verdicts import Pairs

#: The statements, by words that no other has.
BEST, SARSA, NAC, BOOST_Q = "all other", "Sarsa outperforms Q", "NAC-TD", "Parl2 gives Q "
DIVERGE, TUNED, SOLVES = "diverge", "near optimally", "solves all"
UNIQUE, TIGHTER, NEVER, OFTEN = "unique ranking", "tighter", "never fails", "fails more often"


# --- what is published


def test_published_scores_are_those_of_eleven_algorithms_by_three_methods() -> None:
    found = published.aggregates()
    assert set(found) == {(method, name) for method in ("pbp", "pbp-t", "bootstrap") for name in ALGORITHMS}
    for method in ("pbp", "pbp-t", "bootstrap"):
        entries = {name: found[method, name] for name in ALGORITHMS}
        by_score = sorted(ALGORITHMS, key=lambda name: -entries[name].value)
        assert [entries[name].rank for name in by_score] == list(range(1, 12))
        assert {name: entry.value for name, entry in entries.items()} == {
            name: found["pbp", name].value for name in ALGORITHMS
        }
        for entry in entries.values():
            assert 0.0 < entry.low < entry.value < entry.high < 1.0
            assert 1 <= entry.best <= entry.rank <= entry.worst <= 11
    assert found["pbp", "sarsa-parl2"].value == 0.462302
    assert found["bootstrap", "ppo"].high == 0.052461


def test_published_means_are_those_of_eleven_environments() -> None:
    found = published.means()
    places = {environment for _, environment in found}
    assert len(places) == 11
    assert places < set(NAMES)
    assert set(found) == {(name, place) for name in ALGORITHMS for place in places}
    for entry in found.values():
        assert entry.low <= entry.value <= entry.high
        assert entry.value == round(entry.value, 1)
    assert found["sarsa-parl2", "cart-pole"].value == 469.2
    left_out = [place.replace("-", " ") for place in NAMES if place not in places]
    assert all(any(place in note.lower() for note in published.NOTES) for place in left_out)


def test_the_board_of_table_2_is_the_lab_s() -> None:
    assert {choice.use for choice in table_two.STUDY.algorithms} == set(experiment.TESTED)
    assert {choice.use for choice in table_two.STUDY.environments} == set(experiment.TESTED_ON)
    assert table_two.STUDY.seed == experiment.SEED


# --- what is run


def test_one_study_has_all_algorithms_in_the_order_of_the_paper() -> None:
    for chosen in (None, ["cart-pole", "acrobot"], ["chain-10-stochastic", "acrobot"]):
        planned = study(None, chosen)
        assert [each.use for each in planned.algorithms] == list(ALGORITHMS)
        assert [each.use for each in planned.environments] == [name for name in NAMES if name in (chosen or NAMES)]


def test_trials_and_environments_are_as_they_are_asked_for() -> None:
    planned = study(7, ["cart-pole", "chain-10-stochastic"])
    assert planned.trials == 7
    assert [each.use for each in planned.environments] == ["chain-10-stochastic", "cart-pole"]
    assert study(10_000).trials == 10_000


@pytest.mark.parametrize(
    ("trials", "environments", "words"),
    [
        (1, None, "trials=1 is not allowed: pass a whole number of at least 2"),
        (2.5, None, "trials=2.5 is not allowed"),
        (10**8, None, "no more than 10,000,000"),
        (None, "cart-pole", "environments='cart-pole' is one string"),
        (None, [], "environments=[]: name two or more"),
        (None, ["acrobot", "acrobot"], "name two or more of the paper's, which the game weighs"),
    ],
)
def test_what_cannot_be_run_is_refused(trials: Any, environments: Any, words: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(words)):
        study(trials, environments)


def test_a_name_that_is_no_environment_s_is_refused() -> None:
    with pytest.raises(UnknownName, match=r"'cartpole'.*did you mean 'cart-pole'"):
        study(None, ["cartpole", "acrobot"])


# --- z-scores


def test_a_z_score_is_the_difference_in_standard_errors() -> None:
    scores = np.random.default_rng(1).normal(10.0, 3.0, 5_000)
    error = math.sqrt(scores.var(ddof=1) * (1 / 5_000 + 1 / 10_000) + 0.1**2 / 12)
    plain = (scores.mean() - 9.9) / error
    assert mean_z(scores, 9.9) == pytest.approx(plain, rel=2e-3)
    assert mean_z(-scores, -9.9) == pytest.approx(-plain, rel=2e-3)
    # So far out that its probability is NaN.
    assert mean_z(scores, 1e6) == pytest.approx((scores.mean() - 1e6) / error)


def test_z_scores_of_few_trials_are_normal_too() -> None:
    rng = np.random.default_rng(2)
    # Published means of 10,000 trials, which have an error of their own.
    found = [mean_z(rng.normal(0.0, 50.0, 5), rng.normal(0.0, 0.5)) for _ in range(4_000)]
    assert stats.kstest(np.array(found, dtype=np.float64), "norm").pvalue > 0.01
    assert np.mean(np.abs(np.array(found, dtype=np.float64)) > 3.0) < 0.006


@pytest.mark.parametrize("scores", [[], [3.0], [3.0, 3.0, 3.0]])
def test_without_a_spread_there_is_no_z_score(scores: list[float]) -> None:
    assert mean_z(np.array(scores), 2.0) is None


def test_many_z_scores_in_a_few_numbers() -> None:
    found = Agreement.of([None, 0.5, -2.5, 3.5, None, -1.0])
    assert found is not None
    assert (found.compared, found.beyond_two, found.beyond_three, found.largest) == (4, 2, 1, 3.5)
    assert found.root_mean_square == pytest.approx(math.sqrt((0.25 + 6.25 + 12.25 + 1.0) / 4))
    words = found.sentence("cells")
    assert words == (
        "Of 4 cells 2 are more than 2 standard errors away from the published, where chance alone gives 0.2."
    )
    assert Agreement.of([None, None]) is None


# --- a board of the paper's with a known result


#: From the best to the worst, as the paper has them.
ORDER = tuple(sorted(ALGORITHMS, key=lambda name: published.aggregates()["pbp", name].rank))


def board(places: Sequence[str] = NAMES, trials: int = 40) -> ScoreTable:
    """Return scores in which no algorithm is better than another."""
    rng = np.random.default_rng(3)
    return ScoreTable.from_dict(
        {name: {place: rng.random(trials) for place in places} for name in ALGORITHMS},
        ranges=dict.fromkeys(places, (-20.0, 20.0)),
    )


def ordered(found: Evaluation, order: Sequence[str] = ORDER) -> Evaluation:
    """Return an evaluation in which earlier algorithms in an order are better."""
    place = np.array([order.index(name) for name in found.algorithms])
    difference = 0.01 * (place[None, :] - place[:, None])
    return with_ranking(found, pairs=Pairs(difference - 0.001, difference + 0.001))


def judged(table: ScoreTable) -> tuple[Evaluation, tuple[Evaluation, ...]]:
    others = tuple(
        evaluate(table, intervals=name, conventions="paper", resamples=60) for name in steps.PUBLISHED_METHODS
    )
    return evaluate(table, refine=0), others


def line(method: str, trials: int = 100, failed: int = 0, samples: int = 200) -> Replicates:
    known = table_two.PUBLISHED.get(method, {}).get(trials)
    return Replicates(
        method=method,
        trials=trials,
        samples=samples,
        failures=0.2,
        failures_error=0.03,
        significant=0.5,
        significant_error=0.0,
        truth=Rate.of(failed, samples),
        width=0.1,
        published_failures=None if known is None else known[0],
        published_significant=None if known is None else known[1],
        seconds=0.1,
    )


def replication(*lines: Replicates) -> Replication:
    return Replication(tuple(lines), "drawn", MappingProxyType({"delta": 0.05}))


@pytest.fixture(scope="module")
def whole() -> Reproduction:
    found, others = judged(board())
    found, others = ordered(found), tuple(map(ordered, others))
    tested = replication(*(line(name) for name in table_two.METHODS), line("pbp@paper", 10, failed=1))
    return Reproduction(found, others, tested, conclusions(found, others, tested), "untuned <run>", "1.2")


def said(found: Sequence[Conclusion], words: str) -> Conclusion:
    (only,) = (each for each in found if words in each.statement)
    return only


def status(found: Sequence[Conclusion]) -> dict[str, Status]:
    return {
        words: said(found, words).status
        for words in (BEST, SARSA, NAC, BOOST_Q, DIVERGE, TUNED, SOLVES, UNIQUE, TIGHTER, NEVER, OFTEN)
        if any(words in each.statement for each in found)
    }


def test_what_the_paper_concludes_holds_where_it_is_so(whole: Reproduction) -> None:
    found = status(whole.conclusions)
    assert [found[words] for words in (BEST, SARSA, NAC, BOOST_Q)] == [HOLDS] * 4
    best = said(whole.conclusions, BEST)
    assert "18 of 18 pairs are decided so and 0 the other way by pairing" in best.because
    assert dict(best.others) == {"pbp": HOLDS, "pbp-t": HOLDS, "bootstrap": HOLDS}
    low, high = whole.evaluation.difference("ac", "nac-td")
    because = said(whole.conclusions, NAC).because
    ends = re.search(r"in \(([-+.\d]+), ([-+.\d]+)\) by pairing", because)
    assert ends
    assert all(map(rounded, ends.groups(), (low, high)))


def test_what_the_paper_concludes_does_not_hold_where_it_is_not_so() -> None:
    found, others = judged(board(NAMES[:2]))
    came = status(conclusions(ordered(found, ORDER[::-1]), others, None))
    assert [came[words] for words in (BEST, SARSA, NAC, BOOST_Q)] == [NOT] * 4
    # Table 2 was not made.
    assert not {NEVER, OFTEN} & set(came)


def test_what_the_paper_concludes_is_open_where_nothing_is_known() -> None:
    found, others = judged(board(NAMES[:2]))
    came = status(conclusions(found, others, None))
    assert [came[words] for words in (BEST, SARSA, NAC, BOOST_Q, DIVERGE)] == [OPEN] * 5


def test_one_pair_that_is_the_other_way_is_enough() -> None:
    order = ("ac-parl2", *(name for name in ORDER if name != "ac-parl2"))
    found, others = judged(board(NAMES[:2]))
    came = conclusions(ordered(found, order), others, None)
    assert said(came, BEST).status == NOT
    assert "16 of 18 pairs are decided so and 2 the other way" in said(came, BEST).because


def test_whether_parl2_keeps_trials_from_the_low_end() -> None:
    rng = np.random.default_rng(5)

    def came(base: float, adapted: float, trials: int = 600) -> Conclusion:
        """Return the conclusions on trials with these numbers of disasters without and with Parl2."""
        share = {name: adapted if name.endswith("parl2") else base for name in ALGORITHMS}
        found, others = judged(
            ScoreTable.from_dict(
                {
                    name: {
                        place: np.where(np.arange(trials) < share[name] * trials, -9.0, 0.0) + rng.random(trials)
                        for place in ("here", "there")
                    }
                    for name in ALGORITHMS
                },
                ranges=(-10.0, 2.0),
            )
        )
        return said(conclusions(found, others, None), DIVERGE)

    assert came(0.3, 0.0).status == HOLDS
    assert came(0.0, 0.3).status == NOT
    assert came(0.2, 0.2).status == OPEN
    assert came(0.3, 0.0, trials=6).status == OPEN
    # The worst tenth of all trials are two thirds of the disasters of those that have them.
    assert "q 13.8 %, with Parl2 0.0 %" in came(0.3, 0.0).because


def test_whether_all_algorithms_can_be_near_the_best() -> None:
    rng = np.random.default_rng(4)

    def table(best: float, often: float) -> ScoreTable:
        """Return scores in [0, 1] of which every algorithm reaches about ``best``, in so many of its trials."""
        return ScoreTable.from_dict(
            {
                name: {
                    place: np.where(rng.random(500) < often, best if name == "ppo" else 1.0, 0.01 * rng.random(500))
                    for place in ("here", "there")
                }
                for name in ALGORITHMS
            },
            ranges=(0.0, 1.0),
        )

    def came(best: float, often: float) -> tuple[Status, Status]:
        found, others = judged(table(best, often))
        statements = conclusions(found, others, None)
        return said(statements, TUNED).status, said(statements, SOLVES).status

    assert came(0.95, 0.5) == (HOLDS, HOLDS)
    # What was not seen may still come.
    assert came(0.8, 0.5) == (OPEN, HOLDS)
    # The statement is about fifteen environments: one that solves these two may not solve all.
    assert came(1.0, 1.0) == (HOLDS, OPEN)
    assert came(1.0, 0.96) == (HOLDS, OPEN)


def test_rankings_by_pbp_and_widths() -> None:
    found, others = judged(board(NAMES[:2]))
    few = conclusions(found, others, None)
    # Fewer trials than the paper's say nothing of as many, unless they are enough.
    assert said(few, UNIQUE).status == OPEN
    many = dataclasses.replace(found, trials_ae=np.full_like(found.trials_ae, 10_000))
    assert said(conclusions(many, others, None), UNIQUE).status == HOLDS
    decided = with_ranking(others[0], pairs=dataclasses.replace(others[0].pairs, low_ab=np.triu(np.ones((11, 11)), 1)))
    for trials in (found, many):
        assert said(conclusions(trials, (decided, *others[1:]), None), UNIQUE).status == NOT
    assert said(few, TIGHTER).status == HOLDS
    wide = with_ranking(others[1], low_a=np.zeros(11), high_a=np.ones(11))
    assert said(conclusions(found, (others[0], wide, others[2]), None), TIGHTER).status == OPEN
    assert said(conclusions(many, (others[0], wide, others[2]), None), TIGHTER).status == NOT


@pytest.mark.parametrize(
    ("lines", "never", "often"),
    [
        ([line("pbp@paper"), line("bootstrap@paper", failed=60)], HOLDS, HOLDS),
        ([line("pbp@paper", failed=1), line("bootstrap@paper", samples=2_000, failed=2)], NOT, NOT),
        ([line("pbp@paper", samples=5), line("bootstrap@paper", failed=10)], OPEN, OPEN),
        # All lines count for the one, one for the other.
        ([line("pbp@paper"), line("pbp@paper", 30, 1), line("bootstrap@paper", failed=60), line("bootstrap@paper", 30)],
         NOT, HOLDS),
    ],
)  # fmt: skip
def test_what_table_2_says(whole: Reproduction, lines: list[Replicates], never: Status, often: Status) -> None:
    came = status(conclusions(whole.evaluation, whole.others, replication(*lines)))
    assert (came[NEVER], came[OFTEN]) == (never, often)


# --- compared with the published


def test_cells_are_compared_with_those_of_the_paper(whole: Reproduction) -> None:
    assert [(each.algorithm, each.environment) for each in whole.means] == [
        (name, place) for place in NAMES for name in ALGORITHMS
    ]
    for each in whole.means:
        scores = whole.evaluation.scores.cell(each.algorithm, each.environment)
        known = published.means().get((each.algorithm, each.environment))
        assert each.published == known
        assert each.trials == 40
        assert each.mean == pytest.approx(float(scores.mean()))
        assert each.z == (None if known is None else mean_z(scores, known.value))


def test_scores_are_compared_with_those_of_the_paper(whole: Reproduction) -> None:
    bootstrapped = whole.others[-1]
    assert bootstrapped.method == "bootstrap"
    assert [each.algorithm for each in whole.scores] == [bootstrapped.algorithms[a] for a in bootstrapped.order]
    quantile = stats.norm.ppf(1 - 0.05 / 165 / 2)
    for each in whole.scores:
        a = bootstrapped.algorithms.index(each.algorithm)
        known = published.aggregates()["bootstrap", each.algorithm]
        ours = (bootstrapped.high_a[a] - bootstrapped.low_a[a]) / 2 / quantile
        theirs = (known.high - known.low) / 2 / quantile
        expected = (bootstrapped.score_a[a] - known.value) / math.sqrt(ours**2 + theirs**2)
        assert each.z == pytest.approx(expected, rel=1e-9)


def test_scores_on_other_environments_are_compared_with_nothing() -> None:
    found, others = judged(board(NAMES[:2], trials=10))
    some = Reproduction(found, others, None, conclusions(found, others, None), "", "1.2")
    assert not some.comparable
    assert (some.scores, some.rates) == ((), ())
    tables = dict(some.tables())
    assert "table-2" not in tables
    headings = [column.heading for column in tables["table-1"].columns]
    assert headings == ["Algorithm", "pairing", "pooled, equal weights", "pbp", "pbp-t", "bootstrap"]
    assert "Nothing is published for these environments alone" in tables["table-1"].caption
    # No statement about two environments is passed as one about fifteen.
    assert [column.heading for column in tables["conclusions"].columns][1] == "On these 2 environments it"
    assert "about 2 of them" in tables["conclusions"].caption
    assert "on only 2 of its 15 environments" in some.sentences()[0]
    assert "with these 2 they cannot be compared" in str(some)


def test_figures_of_table_2_are_compared_with_those_of_the_paper(whole: Reproduction) -> None:
    assert whole.replication is not None
    rows = [row for row in whole.replication.rows if row.published_failures is not None]
    assert [(each.method, each.trials, each.what) for each in whole.rates] == [
        (row.method, row.trials, what) for row in rows for what in ("failures", "significant")
    ]
    for each in whole.rates:
        if each.what == "significant":
            # Ours do not vary: there is no error to measure with.
            assert each.z is None
        else:
            error = 0.03 * math.sqrt(1 + 200 / 1_000)
            assert each.z == pytest.approx((0.2 - each.published) / error)


def test_tables_have_ours_and_theirs(whole: Reproduction) -> None:
    tables = dict(whole.tables())
    assert list(tables)[:4] == ["conclusions", "table-1", "table-2", "agreement"]
    assert list(tables)[4:] == [f"environment-{name}" for name in NAMES]
    assert tables["conclusions"].columns[1].heading == "Here it"
    first = tables["table-1"].to_csv().splitlines()
    ours = [name for method in ("pairing", "pooled") for name in (method, f"{method}_low", f"{method}_high")]
    both = [
        f"{origin}{method}{end}"
        for method in ("pbp", "pbp-t", "bootstrap")
        for origin in ("", "published_")
        for end in ("", "_low", "_high")
    ]
    # The paper has no method like the first two.
    assert first[0].split(",") == ["algorithm", *ours, *both, "z"]
    assert len(first) == 12
    assert any(re.fullmatch(r"sarsa-parl2,.*,0\.462302,0\.390445,0\.553741,.*,-?[\d.]+", row) for row in first)
    cart_pole = tables["environment-cart-pole"].to_csv()
    assert ",469.2,448.3,490.0,1,2,1," in cart_pole
    assert "published" not in tables["environment-acrobot"].to_csv()
    assert "not published" in tables["environment-acrobot"].caption
    agreed = tables["agreement"].to_csv().splitlines()
    assert agreed[0] == f"environment,{','.join(ALGORITHMS)}"
    assert f"acrobot{',' * 11}" in agreed
    assert "-–" not in tables["conclusions"].to_markdown()  # noqa: RUF001
    for table in tables.values():
        assert table.to_latex().count("\\begin{tabular}") == 1
        assert all(len(row.cells) == len(table.columns) for row in table.rows)


def test_everything_is_json(whole: Reproduction) -> None:
    facts = json.loads(whole.to_json())
    assert facts == json.loads(json.dumps(whole.to_dict()))
    assert len(facts["cells"]) == 165
    assert {each["z"] is None for each in facts["cells"] if each["environment"] == "acrobot"} == {True}
    assert facts["agreement"]["mean scores"]["compared"] == 121
    assert [each["status"] for each in facts["conclusions"]] == [each.status for each in whole.conclusions]
    assert set(facts["methods"]) == {"pbp", "pbp-t", "bootstrap", "pooled", "pairing"}


def counted(held: int, not_held: int, undecided: int) -> str:
    return (
        f"{held} {'holds' if held == 1 else 'hold'}, {not_held} {'does' if not_held == 1 else 'do'} not, "
        f"{undecided} {'is' if undecided == 1 else 'are'} not decided yet"
    )


def test_the_summary_counts(whole: Reproduction) -> None:
    first, second, *rest = whole.sentences()
    counts = [sum(each.status == one for each in whole.conclusions) for one in (HOLDS, NOT, OPEN)]
    assert first == (
        f"{len(whole.conclusions)} conclusions of the paper, aggregate scores under the game's weights: "
        f"{counted(*counts)}, with 40 trials per cell."
    )
    best = [sum(each.best == one for each in whole.conclusions) for one in (HOLDS, NOT, OPEN)]
    assert counted(*best) in second
    assert "Table 2 need not agree" in rest.pop()
    assert "of 121 published mean scores agree with ours" in rest.pop(0)
    assert [words.split(" are ")[0].rsplit(" ", 1)[0] for words in rest] == ["Of 11 aggregate scores"]


@pytest.mark.slow
def test_a_folder_has_page_numbers_tables_and_figures(tmp_path: Path) -> None:
    places = ("acrobot", "cart-pole")
    found, others = judged(board(places))
    tested = replication(*(line(name) for name in table_two.METHODS))
    some = Reproduction(found, others, tested, conclusions(found, others, tested), "untuned <run>", "1.2")
    written = some.save(tmp_path / "out")
    names = {path.relative_to(tmp_path / "out").as_posix() for path in written}
    assert written[0] == tmp_path / "out" / "reproduction.html"
    figures = ["aggregate", "agreement", "table-2", "percentile", "trials", *(f"environment-{name}" for name in places)]
    assert names == {
        "reproduction.html",
        "reproduction.json",
        *(f"figures/{name}.{form}" for name in figures for form in ("pdf", "png")),
        *(f"tables/{name}.{form}" for name, _ in some.tables() for form in ("md", "csv", "tex")),
    }
    page = written[0].read_text(encoding="utf-8")
    assert "untuned &lt;run&gt;" in page
    text = html.unescape(page)
    for each in some.conclusions:
        assert each.statement in text
        assert each.because in text
    for words in (*some.sentences(), published.SOURCE, *published.NOTES):
        assert words in text
    for _, table in some.tables():
        assert table.caption in text
    # It makes no requests.
    assert not re.findall(r'(?:src|href)="(?!data:|#|report\.html)', page)
    assert "<script" not in page
    assert page.count("<img ") == len(figures)
    # Repeating it gives the same bytes.
    before = {path: path.read_bytes() for path in written}
    assert some.save(tmp_path / "out") == written
    assert {path: path.read_bytes() for path in written} == before


def test_a_command_makes_it_again() -> None:
    assert steps.command("out", None, None, None) == "untuned reproduce --out out"
    assert steps.command(Path("my out"), 50, None, ["cart-pole", "acrobot"]) == (
        "untuned reproduce --trials 50 --environments cart-pole,acrobot --out 'my out'"
    )


def test_places_that_are_no_folders_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    for place, words in (
        (file, "is not a folder"),
        (tmp_path / "page.html", "is not a folder"),
        (file / "below", "is a file"),
    ):
        with pytest.raises(InvalidInput, match=words):
            steps.check_folder(place)
    for name in ("figures", "scores", "table-2", "tables"):
        (tmp_path / name).write_text("")
        with pytest.raises(InvalidInput, match=f"{name} is a file"):
            steps.check_folder(tmp_path)
        (tmp_path / name).unlink()
    steps.check_folder(tmp_path)


def test_z_scores_need_no_environment_of_ours() -> None:
    """A cell that the paper does not know is compared with nothing."""
    table = ScoreTable.from_dict({"mine": {"maze": [1.0, 2.0]}})
    (only,) = agreement.mean_comparisons(table)
    assert (only.published, only.z, only.trials, only.mean) == (None, None, 2, 1.5)


def test_published_means_are_within_guaranteed_intervals_unless_they_differ() -> None:
    place = "gridworld-5-deterministic"
    known = published.means()["sarsa-parl2", place].value
    rng = np.random.default_rng(1)

    def compared(middle: float, trials: int) -> agreement.MeanComparison:
        scores = np.clip(middle + rng.normal(size=trials), -500.0, 0.0)
        table = ScoreTable.from_dict({"sarsa-parl2": {place: scores}}, ranges=(-500.0, 0.0))
        (only,) = agreement.mean_comparisons(table)
        return only

    assert compared(known, 50).within
    # Some hundred trials without a disaster: z is far out, and the guaranteed intervals are not misled.
    lucky = compared(known + 1.0, 200)
    assert lucky.z is not None
    assert abs(lucky.z) > 5
    assert lucky.within
    off = compared(known - 300.0, 2_000)
    assert not off.within
    (sentence,) = agreement.within_sentence([lucky, off])
    assert "1 of 2 published mean scores agree" in sentence
    assert f"not sarsa-parl2 on {place}" in sentence
    assert agreement.within_sentence([]) == []
