"""The page and what is around it, without a browser: words, charts' data, escaping, places, notebooks."""

import html
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import untuned
from support import reporting
from untuned.errors import InvalidInput, UnknownName
from untuned.evaluation import Evaluation
from untuned.histories import Histories, History
from untuned.reports.bands import bands
from untuned.reports.curves import sample_efficiency
from untuned.reports.page.charts import chart_data, levels
from untuned.reports.sentences import answer, leaders, question, scoring, weighing
from untuned.reports.styles import styles
from untuned.verdicts import Pairs

NAMES = ("slow", "middling", "quick", "quickest")


@pytest.fixture(scope="module")
def found() -> Evaluation:
    return reporting.evaluated(NAMES, ("flat", "steep"), 200, weights="uniform")


@pytest.fixture(scope="module")
def histories(found: Evaluation) -> Histories:
    rng = np.random.default_rng(3)
    cells = {}
    for name in found.algorithms:
        for environment in found.environments:
            scores = found.scores.cell(name, environment)[:60]
            cells[name, environment] = History(
                scores,
                {"alpha": tuple(rng.uniform(size=60)), "kind": tuple(rng.choice(["a", "b"], 60).tolist())},
                {"alpha": "U(0, 1)", "kind": "one of a, b"},
                tuple(np.linspace(0.0, score, 20) for score in scores),
            )
    return Histories(cells, 60, {"seed": "7"})


class Outline(HTMLParser):
    """What a document has: tags that are open and never closed, addresses, and the texts of scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.addresses: list[str] = []
        self.scripts: dict[str, str] = {}
        self._script: str | None = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "link", "input", "br", "img"):
            self.open.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("href", "src", "action", "data")]
        self._script = dict(attrs).get("id") if tag == "script" else None

    def handle_endtag(self, tag: str) -> None:
        assert self.open
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._script is not None:
            self.scripts[self._script] = self.scripts.get(self._script, "") + data


def decided(found: Evaluation, *better: tuple[str, str]) -> Evaluation:
    """Return the same with these verdicts and no others."""
    n = len(found.algorithms)
    low = np.full((n, n), -0.1)
    for a, b in better:
        low[found.algorithms.index(a), found.algorithms.index(b)] = 0.01
    np.fill_diagonal(low, 0.0)
    return replace(found, rankings=(replace(found.rankings[0], pairs=Pairs(low, -low.T)), *found.rankings[1:]))


def test_the_question_counts() -> None:
    two = reporting.evaluated(("a", "b"), ("x",), 20, weights="uniform")
    assert re.search("2 algorithms .*this environment", question(two))
    four = reporting.evaluated(NAMES, ("x", "y"), 20, weights="uniform")
    assert re.search("4 algorithms .*2 environments", question(four))


def named(found: Evaluation, sentence: str) -> list[str]:
    """Return the algorithms that a sentence names, in order."""
    return re.findall(rf"\b(?:{'|'.join(sorted(found.algorithms, key=len, reverse=True))})\b", sentence)


def test_the_answer_claims_no_more_than_the_verdicts(found: Evaluation) -> None:
    assert named(found, answer(decided(found))) == []
    assert "yet" in answer(decided(found))
    one = decided(found, ("slow", "quick"), ("slow", "quickest"), ("slow", "middling"))
    assert named(found, answer(one)) == ["slow"]
    assert "each of the other 3" in answer(one)
    assert leaders(one) == ("slow",)
    some = decided(found, ("quick", "slow"))
    assert named(found, answer(some)) == ["quickest", "quick", "middling"]
    assert "yet" in answer(some)
    more = decided(found, ("quick", "slow"), ("quickest", "middling"))
    assert named(found, answer(more)) == ["quickest", "quick"]
    assert re.search("other (2|two)", answer(more))
    # Not "better than all others": nothing is known about one algorithm.
    open_ = decided(found, ("quickest", "slow"), ("quickest", "middling"))
    assert named(found, answer(open_)) == ["quickest", "quick"]


def test_the_answer_and_the_page_have_both_rankings() -> None:
    both = reporting.evaluated(NAMES, ("flat", "steep"), 60)
    one = decided(both.under("uniform"), ("quick", "slow"), ("quick", "middling"), ("quick", "quickest"))
    differing = decided(one.under("game"))
    first, second = re.split(r"(?<=\.) (?=Under)", answer(differing))
    assert first.startswith("With equal weights, quick performs best")
    assert second.startswith("Under the game's weights, no algorithm")
    neither = decided(decided(both).under("uniform"))
    assert answer(neither).startswith("With equal weights and under the game's weights, no algorithm")
    page = html.unescape(untuned.report(both).html)
    for each in both.each_ranking:
        for what in ("table-scores", "table-verdicts", "table-pairs", "chart-aggregate"):
            assert page.count(f'id="{what}-{each.weights}"') == 1
        assert all(f"<li>{sentence}</li>" in page for sentence in each.verdicts)
    assert all(f"<li>{sentence}</li>" in page for sentence in both.comparison)
    assert f'id="statement">{both.statement}</p>' in page
    assert 'id="table-head-to-head"' in page
    assert page.count("holds up to") == 1
    assert 'id="approximate"' not in page
    data = chart_data(both, (), None)
    assert [each["weights"] for each in data["rankings"]] == ["uniform", "game"]
    assert [each["aggregate"][0]["score"] for each in data["rankings"]] == [
        each.score_a.tolist() for each in both.each_ranking
    ]


def failing(*algorithms: str) -> Evaluation:
    """Return an evaluation in which every trial of these failed."""
    table = {
        name: {each: reporting.scores(a, e, 30) for e, each in enumerate(("flat", "steep"))}
        for a, name in enumerate(("slow", "quick"))
    } | {name: dict.fromkeys(("flat", "steep"), np.full(30, np.nan)) for name in algorithms}
    return untuned.evaluate(table, ranges=(-500, 500), nonfinite="worst", weights="uniform")


def test_an_algorithm_that_crashed_in_all_of_its_trials_is_named_first_on_the_page() -> None:
    found = failing("<mine>")
    page = untuned.report(found).html
    section = page.split('<section id="answer"')[1].split("</section>")[0]
    sentence = "&lt;mine&gt; failed in all of its 60 trials: each counts as the worst score of its environment."
    assert 0 < section.index(f"<strong>{sentence}</strong>") < section.index('<p class="answer">')
    assert 'class="note" id="failures"' in section
    assert answer(found).endswith("Every trial of <mine> failed.")
    assert 'id="failures"' not in untuned.report(reporting.evaluated(NAMES, ("flat",), 6)).html


def test_where_everything_failed_no_algorithm_is_best() -> None:
    found = failing("slow", "quick")
    assert answer(found) == "No algorithm can be declared best: every trial of every algorithm failed."
    assert "Every trial of every algorithm failed: there is nothing to compare." in untuned.report(found).html


def test_an_approximate_answer_is_on_the_page_and_can_be_made_again() -> None:
    few = reporting.evaluated(NAMES, ("flat", "steep"), 6)
    report = untuned.report(few, approximate=True, title="Few")
    assert 'id="approximate"' in report.html
    assert "no guarantee" in report.html
    assert 'id="next-steps"' in report.html
    again = eval(report.command.replace("'report.html'", "None"), {"untuned": untuned, "scores": few.scores})
    assert again.html == report.html


def test_scores_are_described_as_they_were_made(found: Evaluation) -> None:
    assert "(ties count half)" in scoring(found)
    published = untuned.evaluate(found.scores, conventions="paper", weights="uniform")
    assert "(ties count in full)" in scoring(published)


def test_weights_are_described_as_they_are(found: Evaluation) -> None:
    assert weighing(found) == "All environments weigh the same, and so do all references."
    given = reporting.evaluated(NAMES, ("x", "y"), 20, weights={"x": 2.0, "y": 1.0})
    assert weighing(given) == "Environments and references have weights that were given."
    game = reporting.evaluated(NAMES[:2], ("x", "y"), 20)
    assert "equilibrium" in weighing(game)
    assert "more weight" in weighing(game)
    assert "flatters" not in weighing(game)


def test_the_page_is_whole_and_calls_nobody(found: Evaluation, histories: Histories) -> None:
    report = replace(untuned.report(found, title="Whole", compare_with=["pbp"]), histories=histories)
    outline = Outline(report.html)
    assert outline.open == []
    assert all(address.startswith(("#", "data:")) for address in outline.addresses)
    assert json.loads(outline.scripts["evaluation"]) == json.loads(found.to_json())
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', report.html)
    assert policy is not None
    assert "default-src 'none'" in policy[1]
    assert "connect-src" not in policy[1]
    # These two do not follow from the default.
    assert "base-uri 'none'; form-action 'none'" in policy[1]
    assert "http" not in policy[1]
    assert len(report.html) < 600_000


def test_the_same_evaluation_gives_the_same_page(found: Evaluation) -> None:
    again = reporting.evaluated(NAMES, ("flat", "steep"), 200, weights="uniform", workers=1)
    assert untuned.report(found).html == untuned.report(again).html


def test_horrible_names_are_text_everywhere() -> None:
    found = reporting.evaluated(reporting.HORRIBLE, ("</script><script>", "<!--"), 10, weights="uniform")
    page = untuned.report(found, title="<b>&</b>").html
    outline = Outline(page)
    assert outline.open == []
    assert [row["name"] for row in json.loads(outline.scripts["evaluation"])["algorithms"]] == [
        row["name"] for row in found.rows()
    ]
    assert "<title>&lt;b&gt;&amp;&lt;/b&gt;</title>" in page
    # Neither the end of a script nor a comment, which would hide that end.
    assert "<" not in page.split('id="evaluation">')[1].split("</script>")[0]
    # One with data, and the page's.
    assert page.count("<script>") + page.count('<script type="application/json"') == 2
    assert "{{ 7 * 7 }}" in html.unescape(page)


def test_charts_have_the_evaluations_numbers(found: Evaluation, histories: Histories) -> None:
    other = untuned.evaluate(found.scores, intervals="pbp", weights="uniform")
    data = chart_data(found, [other], histories)
    assert [each["name"] for each in data["algorithms"]] == list(NAMES)
    (ranking,) = data["rankings"]
    assert ranking["aggregate"][0]["score"] == found.score_a.tolist()
    assert ranking["aggregate"][1]["low"] == other.low_a.tolist()
    assert [each["method"] for each in ranking["aggregate"]] == ["pooled", "pbp"]
    panel = data["distributions"]["panels"][1]
    assert panel["environment"] == "steep"
    band = bands(found)["quick", "steep"]
    estimate, low, _ = band.quantiles(levels(8))
    series = panel["series"][2]
    assert series["a"] == 2
    np.testing.assert_allclose(series["y"], estimate, rtol=1e-4)
    assert [each is None for each in series["low"]] == [not np.isfinite(each) for each in low]
    assert any(each is None for each in series["low"])
    assert panel["ends"][0] == pytest.approx(min(found.scores.cell(name, "steep").min() for name in NAMES), rel=1e-4)
    assert len(data["curves"]) == 2
    curve = data["curves"][0]["series"][1]
    returns = np.array(histories.cells["middling", "flat"].returns)
    assert curve["x"][-1] == 20
    assert curve["y"][-1] == pytest.approx(np.median(returns[:, -1]), rel=1e-4)
    assert {(each["name"], each["labels"] is None) for each in data["responses"]} == {("alpha", True), ("kind", False)}
    assert len(data["responses"]) == 4 * 2 * 2
    assert not any(each["log"] for each in data["responses"])
    history = histories.cells["quick", "flat"]
    wide = History(history.scores, {"rate": tuple(np.geomspace(1e-4, 1.0, 60))}, {"rate": "ln-uniform(0.0001, 1)"}, ())
    shown = chart_data(found, (), Histories({("quick", "flat"): wide}, 60))["responses"]
    assert [(each["a"], each["e"], each["log"]) for each in shown] == [(2, 0, True)]


def test_what_algorithms_reach_along_their_training_is_on_the_page(found: Evaluation, histories: Histories) -> None:
    expected = sample_efficiency(histories)
    assert expected is not None
    data = chart_data(found, (), histories)["efficiency"]
    assert (data["label"], data["x"]) == ("episode", list(range(1, 21)))
    assert [each["a"] for each in data["series"]] == [0, 1, 2, 3]
    np.testing.assert_allclose([each["y"] for each in data["series"]], expected.score_ax, rtol=1e-4)
    # Only what the evaluation has is compared.
    other = {("else", "flat"): histories.cells["quick", "flat"], ("quick", "other"): histories.cells["quick", "flat"]}
    assert chart_data(found, (), replace(histories, cells={**histories.cells, **other}))["efficiency"] == data
    alone = replace(histories, cells={cell: each for cell, each in histories.cells.items() if cell[0] == "quick"})
    page = replace(untuned.report(found), histories=alone).html
    assert 'id="learning"' in page
    assert 'id="chart-efficiency"' not in page


def test_the_page_of_imported_runs_has_their_words(found: Evaluation, histories: Histories) -> None:
    def logged(history: History) -> History:
        at = tuple(np.arange(100.0, 100.0 * each.size + 1.0, 100.0) for each in history.returns)
        return History(history.scores, {}, {}, history.returns, at, tuple(map(str, range(len(at)))))

    cells = {cell: logged(each) for cell, each in histories.cells.items() if cell != ("slow", "steep")}
    imported = Histories(cells, 500, unit="<step>")
    assert not imported.has_hyperparameters
    page = replace(untuned.report(found), histories=imported).html
    assert Outline(page).open == []
    assert 'id="hyperparameters"' not in page
    learning = page.split('id="learning"')[1].split("</section>")[0]
    assert 'id="chart-efficiency"' in learning
    assert "Estimates; no interval. Left out, not every algorithm has a learning curve: steep." in learning
    assert "The median over runs of the return, by &lt;step&gt;, with" in learning
    assert "Runs that failed" in learning
    assert "trial" not in learning
    assert "episode" not in learning
    assert 'data-tx="&lt;step&gt;"' in learning
    study = replace(untuned.report(found), histories=histories).html
    assert 'id="hyperparameters"' in study
    assert "The median over trials of the return, by episode, with" in study
    assert study.count("from the first 60 trials of a cell at most") == 2


def test_cells_without_trials_have_no_curve() -> None:
    scores: dict[str, dict[str, list[float]]] = {
        "a": {"x": [1.0, 2.0, 3.0], "y": [1.0]},
        "b": {"x": [2.0, 3.0]},
        "c": {"x": [0.0, 0.0], "y": [5.0, 5.0]},
    }
    found = untuned.evaluate(scores, weights="uniform")
    data = chart_data(found, (), None)
    assert [each["a"] for each in data["distributions"]["panels"][1]["series"]] == [0, 2]
    page = untuned.report(found).html
    assert "1 of 6 cells have no trials" in page
    assert Outline(page).open == []


@pytest.mark.parametrize("cells", [1, 4, 165, 2850, 100_000])
def test_levels_have_a_median_and_stay_inside(cells: int) -> None:
    found = levels(cells)
    assert 0.0 < found[0] < found[-1] < 1.0
    assert (np.diff(found) > 0).all()
    assert 0.5 in found
    assert 33 <= found.size <= 101


def test_the_bands_hold_together(found: Evaluation) -> None:
    drawn = bands(found)
    assert set(drawn) == {(name, environment) for name in NAMES for environment in found.environments}
    # Delta is shared by eight cells of 200 trials.
    assert drawn["slow", "flat"].margin == pytest.approx(np.sqrt(np.log(2.0 / (0.05 / 8)) / 400.0))


def test_no_two_of_88_algorithms_look_the_same() -> None:
    names = [f"algorithm {number}" for number in range(88)]
    looks = styles(names)
    assert len({(look.colour, look.marker) for look in looks.values()}) == 88
    assert len({(look.dark_colour, look.symbol) for look in looks.values()}) == 88
    first = list(looks.values())[:11]
    assert len({look.marker for look in first}) == 11
    assert len({(look.colour, look.dashes) for look in first}) == 11


def test_scores_have_a_fingerprint_of_their_own(found: Evaluation) -> None:
    same = untuned.read_scores(
        {
            name: dict(zip(found.environments, row, strict=True))
            for name, row in zip(NAMES, found.scores.cells, strict=True)
        }
    )
    assert same.fingerprint == found.scores.fingerprint
    assert found.scores.select(NAMES[::-1]).fingerprint != found.scores.fingerprint
    moved = {"a": {"x": [1.0, 2.0], "y": [3.0]}, "b": {"x": [1.0], "y": [1.0]}}
    other = {"a": {"x": [1.0], "y": [2.0, 3.0]}, "b": {"x": [1.0], "y": [1.0]}}
    assert untuned.read_scores(moved).fingerprint != untuned.read_scores(other).fingerprint


@pytest.mark.slow
def test_a_report_goes_to_a_page_or_a_folder(found: Evaluation, histories: Histories, tmp_path: Path) -> None:
    report = replace(untuned.report(found, title="Saved"), histories=histories)
    assert report.save(tmp_path / "new" / "page.HTML") == [tmp_path / "new" / "page.HTML"]
    assert (tmp_path / "new" / "page.HTML").read_text(encoding="utf-8") == report.html
    written = report.save(tmp_path / "all", formats=("png",))
    names = {str(path.relative_to(tmp_path / "all")) for path in written}
    assert all(path.stat().st_size > 0 for path in written)
    assert len(written) == len(names)
    assert {"report.html", "evaluation.json", "tables/aggregate.tex", "tables/environment-flat.csv"} <= names
    assert {"figures/aggregate.png", "figures/summary.png", "figures/learning-curves.png"} <= names
    assert "figures/sample-efficiency.png" in names
    content = json.loads((tmp_path / "all" / "evaluation.json").read_text(encoding="utf-8"))
    assert content["percentiles"]["z"] == found.percentiles.z_aer.tolist()
    assert {str(path.relative_to(tmp_path / "all")) for path in (tmp_path / "all").rglob("*.*")} == names


def test_places_that_cannot_be(found: Evaluation, tmp_path: Path) -> None:
    (tmp_path / "folder.html").mkdir()
    (tmp_path / "file").write_text("here")
    for place, wrong in (
        (tmp_path / "folder.html", "is a folder"),
        (tmp_path / "file", "is a file"),
        (tmp_path / "file" / "report.html", "is a file: a report cannot go below it"),
        (tmp_path / "report.PDF", "a report is a page, name a file that ends in .html; or a folder"),
    ):
        with pytest.raises(InvalidInput, match=wrong):
            untuned.report(found, place)
    assert (tmp_path / "file").read_text() == "here"


def test_what_is_wrong_is_said_before_anything_is_judged(found: Evaluation, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="bootstrop"):
        untuned.report(str(tmp_path / "nothing.csv"), compare_with=["bootstrop"])
    with pytest.raises(InvalidInput, match="gif"):
        untuned.report(str(tmp_path / "nothing.csv"), tmp_path / "all", formats=["gif"])
    with pytest.raises(InvalidInput, match="there is no file or folder"):
        untuned.report(found, study=tmp_path / "nothing")
    with pytest.raises(InvalidInput, match="delta given with an evaluation"):
        untuned.report(found, delta=0.1)
    with pytest.raises(InvalidInput, match="compare_with has a int"):
        untuned.report(found, compare_with=[3])  # type: ignore[list-item]
    with pytest.raises(InvalidInput, match="other algorithms or environments"):
        untuned.report(found, compare_with=[reporting.evaluated(("a", "b"), ("x", "y"), 5)])


def test_other_methods_judge_the_same_scores_by_the_same_weights(found: Evaluation) -> None:
    given = untuned.evaluate(found.scores, weights={"flat": 3.0, "steep": 1.0}, delta=0.1)
    report = untuned.report(
        given, compare_with=["pbp", untuned.evaluate(found.scores, intervals="kl", weights="uniform")]
    )
    pbp, kl = report.compare_with
    assert (pbp.method, kl.method) == ("pbp", "kl")
    assert pbp.delta == 0.1
    np.testing.assert_allclose(pbp.q_er, given.q_er)
    np.testing.assert_allclose(pbp.score_a, given.score_a)


def test_a_notebook_shows_the_page(found: Evaluation) -> None:
    report = untuned.report(found, title='"Quoted" <title>')
    shown = report._repr_html_()
    outline = Outline(shown)
    assert outline.open == []
    assert html.unescape(shown.split('srcdoc="')[1].rsplit('"', 1)[0]) == report.html
    assert "allow-same-origin" not in shown
    assert repr(report) == "<Report: \"Quoted\" <title>; .save('report.html') writes it>"


@pytest.mark.parametrize(
    ("provenance", "title"),
    [
        ({}, "Evaluation of reinforcement-learning algorithms"),
        ({"study": "mine"}, "Evaluation of mine"),
        ({"file": "scores.csv"}, "Evaluation of scores.csv"),
    ],
)
def test_a_report_has_a_title(found: Evaluation, provenance: dict[str, str], title: str) -> None:
    assert untuned.report(replace(found, provenance=provenance)).title == title


def test_the_page_says_how_to_make_it_again(found: Evaluation) -> None:
    command = untuned.report(found).command
    scope: dict[str, Any] = {"untuned": untuned, "scores": found.scores}
    place = "'report.html'"
    assert command.endswith(place + ")")
    again = eval(command.replace(f", {place}", ""), scope)
    assert again.html == untuned.report(found).html


def test_a_plan_is_on_the_page_when_asked_for(found: Evaluation) -> None:
    assert 'id="plan"' not in untuned.report(found).html
    few = reporting.evaluated(NAMES, ("flat", "steep"), 5, weights="uniform")
    plan = untuned.plan(few)
    assert plan.pairs
    for report in (untuned.report(few, planned=True), untuned.report(few, planned=plan)):
        text = html.unescape(report.html)
        assert all(f"<li>{sentence}</li>" in text for sentence in plan.sentences())


def test_a_plan_of_scores_is_that_of_their_evaluation() -> None:
    few = reporting.evaluated(NAMES, ("flat", "steep"), 40, intervals="pairing", weights="uniform")
    assert (
        untuned.plan(few.scores, intervals="pairing", weights="uniform", workers=1).to_dict()
        == untuned.plan(few).to_dict()
    )
    with pytest.raises(InvalidInput, match="delta given with an evaluation"):
        untuned.plan(few, delta=0.1)


def test_other_methods_judge_with_the_same_options() -> None:
    # Every other trial ties, which the conventions count differently.
    scores = {
        name: {"x": np.round(reporting.scores(a, 0, 60), -1), "y": np.round(reporting.scores(a, 1, 60), -1)}
        for a, name in enumerate(NAMES[:3])
    }
    options: dict[str, Any] = {"conventions": "paper", "weights": "uniform"}
    report = untuned.report(scores, compare_with=["pbp-t", "bootstrap"], resamples=50, seed=3, **options)
    for other in report.compare_with:
        assert other.settings["conventions"] == "paper"
        np.testing.assert_array_equal(other.score_a, report.evaluation.score_a)
    alone = untuned.evaluate(scores, intervals="bootstrap", resamples=50, seed=3, **options)
    np.testing.assert_array_equal(report.compare_with[1].low_a, alone.low_a)
    with pytest.raises(InvalidInput, match="goes with the paper's methods"):
        untuned.report("nothing.csv", compare_with=["kl"], conventions="paper")


def test_words_on_the_page_fit_the_evaluation(found: Evaluation) -> None:
    uniform = untuned.report(found).html
    assert "All of them hold together." in uniform
    assert "is better than (ties count half), over" in uniform
    assert "What has no weight" not in uniform
    assert "All 6 differences with intervals" in uniform
    two = reporting.evaluated(("a", "b"), ("x", "y"), 1, intervals="pbp", conventions="paper")
    game = untuned.report(two).html
    assert "All of them are approximate." in game
    assert "is better than (ties count in full), over" in game
    assert "What has no weight is not ignored" in game
    assert "<summary>The difference" in game
    assert "2 algorithms, 2 environments, 1 trial of each algorithm on each environment" in game


@pytest.mark.parametrize("name", ["\u202eoverridden", "שלום", "مرحبا"])
def test_names_from_right_to_left_turn_no_sentence(name: str) -> None:
    found = reporting.evaluated(("slow", name), ("x",), 200, weights="uniform")
    page = untuned.report(found).html
    sentence = re.search(r'<p class="answer">(.*)</p>', page)
    assert sentence is not None
    shown = name.lstrip("\u202e")
    assert sentence[1] == f"\u2068{shown}\u2069 performs best: it is better than the other one."
    assert f"<li>\u2068{shown}\u2069 is better than slow.</li>" in page
    # The answer, the verdict, and the paragraph to paste.
    assert page.count("\u2068") == 3


def test_the_call_that_makes_it_again_says_everything(found: Evaluation) -> None:
    given = untuned.evaluate(found.scores, intervals="bootstrap", resamples=40, seed=2, weights={"flat": 3, "steep": 1})
    report = untuned.report(given, title="It's mine", compare_with=["pbp"])
    scope: dict[str, Any] = {"untuned": untuned, "scores": found.scores, "weights": {"flat": 3, "steep": 1}}
    again = eval(report.command.replace("'report.html'", "None"), scope)
    assert again.command == report.command
    assert again.html == report.html


def test_a_page_is_written_whole_or_not_at_all(
    found: Evaluation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = untuned.report(found, title="half a byte \udcff")
    (tmp_path / "report.html").write_text("before")
    whole = Path.write_bytes

    def full(path: Path, content: bytes) -> int:
        whole(path, content[:100])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_bytes", full)
        with pytest.raises(InvalidInput, match="No space left"):
            report.save(tmp_path / "report.html")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("report.html", "before")]
    report.save(tmp_path / "report.html")
    content = (tmp_path / "report.html").read_bytes()
    assert b"half a byte ?" in content
    assert b"\r\n" not in content
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.parametrize(
    ("folder", "file", "wrong"),
    [
        ("all/evaluation.json", None, "evaluation.json is a folder, where a report has a file"),
        ("all/report.html", None, "report.html is a folder, where a report has a file"),
        ("all", "all/tables", "tables is a file, where a report has a folder"),
        ("all", "all/figures", "figures is a file, where a report has a folder"),
    ],
)
def test_what_is_in_the_way_is_said_before_anything_is_written(
    found: Evaluation, tmp_path: Path, folder: str, file: str | None, wrong: str
) -> None:
    (tmp_path / folder).mkdir(parents=True)
    if file is not None:
        (tmp_path / file).write_text("mine")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InvalidInput, match=wrong):
        untuned.report(found, tmp_path / "all")
    assert sorted(tmp_path.rglob("*")) == before


def test_places_are_looked_at_before_anything_is_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidInput, match="no place for the report was named"):
        untuned.report("nothing.csv", "")
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "file").write_text("here")
    with pytest.raises(InvalidInput, match="is a file"):
        untuned.report("nothing.csv", "~/file")
    # The superuser may write everywhere.
    monkeypatch.setattr("os.access", lambda path, mode: Path(path) != tmp_path)
    with pytest.raises(InvalidInput, match=r"cannot be written to: name a place that can"):
        untuned.report("nothing.csv", tmp_path / "new" / "report.html")


def test_scores_at_the_end_of_what_numbers_can_be() -> None:
    scores = {"a": {"x": np.linspace(0.5, 1.0, 30) * 1.7e308}, "b": {"x": np.linspace(0.5, 1.0, 30) * -1.7e308}}
    found = untuned.evaluate(scores, weights="uniform", accept=["sorted-rows"])
    data = chart_data(found, (), None)
    assert len(data["distributions"]["panels"][0]["series"]) == 2


def page_html(found: Evaluation) -> str:
    return untuned.report(found).html


def test_two_above_two_are_joined_in_a_dot(found: Evaluation) -> None:
    pairs = [(better, worse) for better in ("quickest", "quick") for worse in ("middling", "slow")]
    both = decided(found, *pairs)
    drawn = chart_data(both, (), None)["rankings"][0]["order_diagram"]
    assert drawn["level"] == [0, 0, 2, 2, 1]
    assert drawn["order"] == list(both.order)
    assert all(len(line) == 2 for line in drawn["lines"])
    text = page_html(both)
    assert text.count('class="meeting"') == 1
    # The legend is in the order of the scores.
    assert re.findall(r'<button type="button" class="toggle"[^>]* title="([^"]+)"', text) == [
        both.algorithms[a] for a in both.order
    ]


def test_what_says_no_more_than_a_sentence_is_left_out() -> None:
    two = reporting.evaluated(("a", "b"), ("x", "y"), 300).under("uniform")
    assert two.pairs.better_ab.any()
    text = page_html(two)
    assert "table-verdicts" not in text
    assert "chart-order" not in text
    assert "holds up to" in text
    few = reporting.evaluated(("a", "b"), ("x",), 4)
    assert not few.pairs.better_ab.any()
    assert "holds up to" not in page_html(few)


def test_of_many_algorithms_the_best_have_lines_and_none_an_order() -> None:
    many = reporting.evaluated(
        tuple(f"a{number}" for number in range(17)), ("x",), 60, weights="uniform", intervals="pbp"
    )
    data = chart_data(many, (), None)
    (panel,) = data["distributions"]["panels"]
    assert {each["a"] for each in panel["series"]} == set(many.order[:12])
    assert sum(share is not None for share in panel["shares"]) == 17
    assert data["rankings"][0]["order_diagram"] is None
    assert "Lines are those of the best 12 algorithms." in page_html(many)
