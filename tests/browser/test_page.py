"""The page in a real browser: what it shows, what can be done with it, and that it asks nobody for anything."""

import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import untuned
from support import reporting
from support.browsing import Visit, chromium, visiting
from untuned.evaluation import Evaluation
from untuned.histories import Histories, History
from untuned.reports.tables.digits import MISSING

ALGORITHMS = ("slow", "middling", "quick", "quickest", "twin")
ENVIRONMENTS = ("flat", "steep", "round")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as opened:
        yield opened


@pytest.fixture(scope="module")
def found() -> Evaluation:
    """Five algorithms, one cell without trials, one environment with a declared range."""
    table = {
        algorithm: {
            environment: reporting.scores(a, e, 300)
            for e, environment in enumerate(ENVIRONMENTS)
            if (algorithm, environment) != ("twin", "round")
        }
        for a, algorithm in enumerate(ALGORITHMS)
    }
    return untuned.evaluate(table, ranges={"flat": (-200, 200)}, refine=0).under("uniform")


@pytest.fixture(scope="module")
def path(found: Evaluation, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("page") / "report.html"
    untuned.report(found, place, title="Five algorithms", beside=["pbp-t"])
    return place


@pytest.fixture(scope="module")
def opened(browser: Any, path: Path) -> Iterator[Visit]:
    """The page with everything drawn, for those who leave it as it is: opening it takes the most of a test."""
    with visiting(browser, path) as visit:
        visit.scrolled()
        yield visit


def rows(visit: Visit, table: str) -> list[list[tuple[str, str]]]:
    """Return the cells of a table's body: what is shown, and the value behind it."""
    found: list[list[tuple[str, str]]] = visit.page.eval_on_selector_all(
        f"{table} > tbody > tr",
        "(rows) => rows.map((row) => [...row.cells].map((cell) => [cell.textContent.trim(), cell.dataset.value]))",
    )
    return [[(text, value) for text, value in row] for row in found]


def values(visit: Visit, table: str) -> list[list[str]]:
    return [[value for _, value in row] for row in rows(visit, table)]


def column(visit: Visit, table: str, number: int) -> list[str]:
    return [row[number][1] for row in rows(visit, table)]


def embedded(visit: Visit) -> Any:
    return json.loads(visit.page.text_content("#evaluation"))


def visible_names(visit: Visit, chart: str) -> set[str]:
    names: list[str] = visit.page.eval_on_selector(
        chart, "(chart) => chart.data.filter((trace) => trace.visible !== false).map((trace) => trace.name)"
    )
    return set(names)


def look_at(visit: Visit, chart: str) -> None:
    """Scroll to a chart, and wait until it is drawn."""
    visit.page.locator(chart).scroll_into_view_if_needed()
    visit.page.locator(f"{chart} .main-svg").first.wait_for()


def test_the_page_loads_and_draws_everything(browser: Any, path: Path) -> None:
    with visiting(browser, path) as visit:
        assert visit.page.title() == "Five algorithms"
        visit.scrolled()
        # The scores of two rankings, the diagram of verdicts of the one that has any, and three environments.
        assert visit.page.locator(".chart").count() == 6
        assert visit.page.locator(".chart:not(:has(.main-svg))").count() == 0


def test_failures_are_seen_without_scrolling(browser: Any, tmp_path: Path) -> None:
    table = {name: {each: reporting.scores(a, 0, 30) for each in "xy"} for a, name in enumerate(ALGORITHMS)}
    table |= {"mine": dict.fromkeys("xy", np.full(30, np.nan))}
    found = untuned.evaluate(table, ranges=(-500, 500), nonfinite="worst", weights="uniform")
    untuned.report(found, tmp_path / "page.html")
    with visiting(browser, tmp_path / "page.html") as visit:
        note = visit.page.get_by_role("note", name="Trials that failed")
        assert note.inner_text().strip().startswith("mine failed in all of its 60 trials")
        top, bottom = visit.page.evaluate(
            "(() => { const box = document.getElementById('failures').getBoundingClientRect();"
            " return [box.top, box.bottom]; })()"
        )
        assert 0 < top < bottom < visit.page.evaluate("window.innerHeight")
        ground, colour = visit.page.evaluate(
            "[getComputedStyle(document.body).backgroundColor,"
            " getComputedStyle(document.querySelector('#failures strong')).color]"
        )
        assert contrast(colour, ground) >= 4.5
        assert embedded(visit)["failures"] == found.failures


def test_the_numbers_are_those_of_the_evaluation(browser: Any, path: Path, found: Evaluation) -> None:
    expected = json.loads(found.to_json())
    with visiting(browser, path) as visit:
        assert embedded(visit) == expected
        assert len(expected["algorithms"]) == 5
        shown = rows(visit, "#table-scores-uniform")
        keys = ("score", "low", "high", "rank", "rank_low", "rank_high")
        for row, record in zip(shown, expected["algorithms"], strict=True):
            assert row[0] == (record["name"], record["name"])
            assert [float(value) for _, value in row[1:]] == [record[key] for key in keys]
            assert row[1][0] == f"{record['score']:.4f}"
        pairs = [[row["a"], row["b"], row["low"], row["high"], row["verdict"]] for row in expected["pairs"]]
        assert [
            [row[0], row[1], float(row[3]), float(row[4]), row[5]] for row in values(visit, "#table-pairs-uniform")
        ] == pairs
        scores = {record["name"]: record["score"] for record in expected["algorithms"]}
        for cells in values(visit, "#table-pairs-uniform"):
            assert float(cells[2]) == scores[cells[0]] - scores[cells[1]]
        ranks = {(row["algorithm"], row["environment"]): row for row in found.environment_rows()}
        for texts in rows(visit, "#table-ranks"):
            for environment, (text, _) in zip(ENVIRONMENTS, texts[1:], strict=True):
                record = ranks[texts[0][1], environment]
                assert text == f"{record['rank'] or MISSING} ({record['rank_low']}, {record['rank_high']})"
        # Equal weights are said; the table is of the game's.
        game = found.under("game").to_dict()["environments"]
        weights = {each["name"]: each["weight"] for each in game}
        assert [row[1][0] for row in rows(visit, "#table-weights")] == [
            f"{100 * each:.1f}" for each in weights.values()
        ]
        assert {row[0]: float(row[1]) for row in values(visit, "#table-weights")} == weights
        for cells, each in zip(values(visit, "#table-weights"), game, strict=True):
            assert [float(value) for value in cells[2:]] == list(each["references"].values())
        for number, each in enumerate(expected["environments"]):
            table = visit.page.locator("table.environment").nth(number)
            cells = table.evaluate(
                "(table) => [...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.dataset.value))"
            )
            wanted = [
                [
                    record["name"],
                    *(
                        "" if record[key] is None else record[key]
                        for key in ("mean", "mean_low", "mean_high", "rank", "rank_low", "rank_high", "trials")
                    ),
                ]
                for record in each["algorithms"]
            ]
            assert [[row[0], *(float(value) if value else "" for value in row[1:])] for row in cells] == wanted
        text = visit.page.inner_text("#answer")
        said = (sentence for each in expected["rankings"] for sentence in each["verdicts"])
        for sentence in (*said, *found.comparison, found.statement, found.claim, *expected["warnings"]):
            assert sentence in text
        assert [float(cells[1]) for cells in values(visit, "#table-scores-game")] == [
            row["score"] for row in found.under("game").rows()
        ]
        assert [float(cells[6]) if cells[6] else None for cells in values(visit, "#table-pairs-uniform")] == [
            row["cap"] for row in found.pair_rows()
        ]
        assert [[*cells[:2], float(cells[2]), cells[5]] for cells in values(visit, "#table-head-to-head")] == [
            [row["a"], row["b"], row["win"], row["verdict"]] for row in found.head_to_head_rows()
        ]
        assert expected["warnings"]


def test_the_matrix_says_what_the_verdicts_are(browser: Any, path: Path, found: Evaluation) -> None:
    names = [row["name"] for row in found.rows()]
    with visiting(browser, path) as visit:
        table = visit.page.eval_on_selector_all(
            "#table-verdicts-uniform tbody tr",
            "(rows) => rows.map((row) => [...row.cells].map((cell) => cell.innerText.trim()))",
        )
        assert [row[0] for row in table] == names
        for a, row in zip(names, table, strict=True):
            for b, cell in zip(names, row[1:], strict=True):
                assert cell == "" if a == b else cell.endswith(found.verdict(a, b))
        titles = visit.page.locator("#table-verdicts-uniform tbody td[title]").evaluate_all(
            "(all) => all.map((td) => td.title)"
        )
        assert titles == [
            f"{a} less {b}: between {found.difference(a, b)[0]:.4f} and {found.difference(a, b)[1]:.4f}"
            for a in names
            for b in names
            if a != b
        ]
        assert {found.verdict("quickest", "slow"), found.verdict("slow", "quickest")} == {"better", "worse"}


def test_charts_show_the_numbers(browser: Any, path: Path, found: Evaluation) -> None:
    with visiting(browser, path) as visit:
        look_at(visit, "#chart-aggregate-uniform")
        marks = visit.page.eval_on_selector(
            "#chart-aggregate-uniform",
            "(chart) => chart.data.map((trace) => [trace.name, trace.x[0], trace.customdata[0], trace.meta[1]])",
        )
        bars = visit.page.eval_on_selector(
            "#chart-aggregate-uniform",
            "(chart) => chart.data.map(({ x: [x], error_x }) => [x - error_x.arrayminus[0], x + error_x.array[0]])",
        )
        np.testing.assert_allclose(bars, [(low, high) for _, _, (low, high), _ in marks])
        assert [(name, x, (low, high)) for name, x, (low, high), _ in marks[:5]] == [
            (row["name"], row["score"], (row["low"], row["high"])) for row in found.rows()
        ]
        assert {mark[3] for mark in marks} == {"pooled", "pbp-t, approximate"}
        visit.scrolled()
        chart = visit.page.locator(".distribution").first
        curves = chart.evaluate(
            "(chart) => chart.data.filter((trace) => trace.meta).map((trace) => [trace.name, trace.x, trace.y])"
        )
        assert [name for name, _, _ in curves] == list(ALGORITHMS)
        for name, x, y in curves:
            middle = x.index(0.5)
            ordered = sorted(found.scores.cell(name, "flat"))
            # The smallest score that half of the trials are at or below.
            assert y[middle] == pytest.approx(ordered[len(ordered) // 2 - 1], rel=1e-4)


def test_bands_and_what_is_said_of_them(opened: Visit) -> None:
    data = json.loads(opened.page.text_content("#charts"))
    levels = data["distributions"]["levels"]
    # The environment without a range: nothing bounds its tails.
    series = data["distributions"]["panels"][1]["series"]
    read = """(chart, kind) => chart.data.filter((trace) => trace[kind])
        .map((trace) => [trace.x, trace.y, trace.customdata])"""
    chart = opened.page.locator(".distribution").nth(1)

    def check(across: int, along: int) -> None:
        for each, band in zip(series, chart.evaluate(read, "fill"), strict=True):
            assert band[across] == levels + levels[::-1]
            ends = list(zip(each["high"] + each["low"][::-1], band[along], strict=True))
            assert all(drawn == end for end, drawn in ends if end is not None)
            # To both sides out of the picture.
            low, high = data["distributions"]["panels"][1]["view"]
            assert all(drawn > high for end, drawn in ends[: len(levels)] if end is None)
            assert all(drawn < low for end, drawn in ends[len(levels) :] if end is None)
            assert any(end is None for end, _ in ends)

    check(0, 1)
    for each, curve in zip(series, chart.evaluate(read, "meta"), strict=True):
        middle = levels.index(0.5)
        said = [float(text.replace("\N{MINUS SIGN}", "-").replace(",", "")) for text in curve[2][middle]]
        assert said == [0.5, each["y"][middle], each["low"][middle], each["high"][middle]]
        assert (curve[2][0][2], curve[2][-1][3]) == ("\N{MINUS SIGN}∞", "∞")
    opened.page.get_by_label("distribution functions").check()
    check(1, 0)
    opened.page.get_by_label("quantile functions").check()


def test_the_diagram_has_the_better_above_the_worse(opened: Visit, found: Evaluation) -> None:
    lines, dots = opened.page.eval_on_selector(
        "#chart-order-uniform", "(chart) => chart.data.map((trace) => [trace.x, trace.y])"
    )
    place = dict(zip(found.algorithms, zip(*dots, strict=True), strict=True))
    drawn: list[tuple[Any, Any]] = []
    points: list[Any] = []
    for point in zip(*lines, strict=True):
        if point == (None, None):
            drawn.append((points[0], points[-1]))
            points = []
        else:
            points.append(point)
    assert sorted(drawn) == sorted((place[better], place[worse]) for better, worse in found.partial_order)
    assert all(above[1] > below[1] for above, below in drawn)
    assert len(drawn) > 2


def test_hyperparameters_of_whom_is_chosen(browser: Any, found: Evaluation, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    cells = {}
    for name in ("quick", "slow"):
        for environment in ("flat", "steep"):
            scores = found.scores.cell(name, environment)[:120]
            drawn = {"rate": tuple(10 ** rng.uniform(-3, 0, 120)), f"{name} {environment}": ("<i>a</i>", "$b$") * 60}
            texts = {name: "ln-uniform(0.001, 1)" if name == "rate" else "one of two" for name in drawn}
            cells[name, environment] = History(scores, drawn, texts, tuple(np.array([each, each]) for each in scores))
    report = replace(untuned.report(found), histories=Histories(cells, 120))
    report.save(tmp_path / "report.html")
    with visiting(browser, tmp_path / "report.html") as visit:
        visit.scrolled()
        curves = visit.page.locator(".curve")
        assert curves.count() == 2
        # With neither returns nor draws of their own, nobody else is there.
        assert visible_names(visit, ".curve") == {"quick", "slow"}
        headings = visit.page.locator("#responses h3")
        visit.page.locator("#response-algorithm").select_option(label="slow")
        visit.page.locator("#response-environment").select_option(label="steep")
        assert headings.all_text_contents() == ["rate", "slow steep"]
        visit.scrolled()
        shown = visit.page.eval_on_selector_all(
            ".response",
            """(charts) => charts.map(({ data: [{ x, y, error_y }], layout }) =>
                [x, y, y.map((each, i) => each - error_y.arrayminus[i]), y.map((each, i) => each + error_y.array[i]),
                 layout.xaxis.type])""",
        )
        data = json.loads(visit.page.text_content("#charts"))
        expected = [each for each in data["responses"] if (each["a"], each["e"]) == (0, 1)]
        for (x, y, low, high, kind), each in zip(shown, expected, strict=True):
            assert (x, y) == (each["x"], each["y"])
            for ends, wanted in ((low, each["low"]), (high, each["high"])):
                known = [(end, want) for end, want in zip(ends, wanted, strict=True) if want is not None]
                assert known
                np.testing.assert_allclose([end for end, _ in known], [want for _, want in known])
            assert kind == ("log" if each["name"] == "rate" else "linear")
        assert visit.page.locator(".response .xtick text", has_text="<i>a</i>").count() == 1


def test_curves_and_what_is_said_of_them(browser: Any, found: Evaluation, tmp_path: Path) -> None:
    steps = np.linspace(50_000.0, 1_000_000.0, 20)
    cells = {}
    for name in ("quick", "slow"):
        for environment in ("flat", "steep"):
            scores = found.scores.cell(name, environment)[:12]
            returns = tuple(score * np.linspace(0.5, 1.0, 20) for score in scores)
            cells[name, environment] = History(scores, {}, {}, returns, (steps,) * 12, tuple(map(str, range(12))))
    report = replace(untuned.report(found), histories=Histories(cells, 500, unit="step %{x}"))
    report.save(tmp_path / "report.html")
    with visiting(browser, tmp_path / "report.html", reduced_motion="reduce") as visit:
        look_at(visit, "#chart-efficiency")
        data = json.loads(visit.page.text_content("#charts"))["efficiency"]
        chart = visit.page.locator("#chart-efficiency")
        traces = chart.evaluate(
            "(chart) => chart.data.filter((trace) => trace.meta).map((trace) => [trace.name, trace.x, trace.y])"
        )
        # In the order of the evaluation; there are no bands.
        assert traces == [
            [name, steps.tolist(), each["y"]] for name, each in zip(("slow", "quick"), data["series"], strict=True)
        ]
        assert chart.evaluate("(chart) => chart.data.every((trace) => !trace.fill)")
        assert chart.evaluate("(chart) => chart.layout.xaxis.title.text") == "step %{x}"
        assert "no interval" in visit.page.inner_text("#learning figcaption")
        for place, said in (".efficiency", f"{data['series'][0]['y'][0]:g}"), (".curve", "("):
            shown = visit.page.locator(place).first
            shown.scroll_into_view_if_needed()
            shown.locator(".scatterlayer .trace .points path").first.hover(force=True)
            label = shown.locator(".hoverlayer")
            label.locator("text").first.wait_for()
            assert "step %{x} " in label.text_content()
            assert said in label.text_content()
        visit.page.locator("#toggles").get_by_role("button", name="slow", exact=True).click()
        assert visible_names(visit, "#chart-efficiency") == {"quick"}


@pytest.mark.parametrize("by", ["mouse", "keyboard"])
def test_tables_sort(browser: Any, path: Path, found: Evaluation, by: str) -> None:
    with visiting(browser, path) as visit:

        def press(heading: str) -> None:
            button = visit.page.locator("#table-scores-uniform .sort", has_text=re.compile(f"^{heading}$"))
            if by == "mouse":
                button.click()
            else:
                button.focus()
                visit.page.keyboard.press("Enter")

        scores = [row["score"] for row in found.rows()]
        assert scores == sorted(scores, reverse=True)
        sorting = visit.page.locator("#table-scores-uniform th", has_text=re.compile("^score$"))
        assert sorting.get_attribute("aria-sort") == "none"
        press("score")
        assert [float(value) for value in column(visit, "#table-scores-uniform", 1)] == scores
        assert sorting.get_attribute("aria-sort") == "descending"
        press("score")
        assert [float(value) for value in column(visit, "#table-scores-uniform", 1)] == scores[::-1]
        assert sorting.get_attribute("aria-sort") == "ascending"
        press("algorithm")
        assert column(visit, "#table-scores-uniform", 0) == sorted(ALGORITHMS)
        assert sorting.get_attribute("aria-sort") == "none"
        press("rank")
        assert column(visit, "#table-scores-uniform", 4) == ["1", "2", "3", "4", "5"]
        assert visit.page.text_content("#announcement") == "sorted by rank, ascending"


def test_missing_values_stay_last(browser: Any, path: Path) -> None:
    with visiting(browser, path) as visit:
        visit.page.locator("table.environment").nth(2).evaluate("(table) => (table.closest('details').open = true)")
        table = visit.page.locator("table.environment").nth(2)
        heading = table.locator(".sort", has_text=re.compile("^mean$"))
        for _ in range(3):
            heading.click()
            cells = table.evaluate("(table) => [...table.tBodies[0].rows].map((row) => row.cells[1].dataset.value)")
            assert len(cells) == 5
            assert cells[-1] == ""


def test_algorithms_go_on_and_off_in_every_chart(browser: Any, path: Path) -> None:
    with visiting(browser, path) as visit:
        visit.scrolled()
        charts = ["#chart-aggregate-uniform", *(f".distribution[data-number='{number}']" for number in range(3))]
        there = [set(ALGORITHMS)] * 3 + [set(ALGORITHMS) - {"twin"}]

        def check(hidden: set[str]) -> None:
            # Those out of sight follow when they are looked at.
            for chart, names in zip(charts, there, strict=True):
                visit.page.locator(chart).scroll_into_view_if_needed()
                visit.page.wait_for_function(
                    """([chart, count]) => new Set(document.querySelector(chart).data
                        .filter((trace) => trace.visible !== false).map((trace) => trace.name)).size === count""",
                    arg=[chart, len(names - hidden)],
                )
                assert visible_names(visit, chart) == names - hidden

        check(set())
        button = visit.page.locator("#toggles").get_by_role("button", name="quickest", exact=True)
        assert button.get_attribute("aria-pressed") == "true"
        button.click()
        assert button.get_attribute("aria-pressed") == "false"
        assert visit.page.text_content("#announcement") == "quickest is hidden"
        check({"quickest"})
        button.focus()
        visit.page.keyboard.press("Space")
        assert button.get_attribute("aria-pressed") == "true"
        check(set())
        visit.page.locator("#toggles").get_by_role("button", name="none", exact=True).click()
        check(set(ALGORITHMS))
        visit.page.locator("#toggles").get_by_role("button", name="all", exact=True).click()
        check(set())


def test_a_chart_drawn_later_knows_who_is_off(browser: Any, path: Path) -> None:
    with visiting(browser, path, viewport={"width": 800, "height": 300}) as visit:
        last = visit.page.locator(".distribution").last
        assert last.locator(".main-svg").count() == 0
        visit.page.locator("#toggles").get_by_role("button", name="slow", exact=True).click()
        visit.scrolled()
        assert visible_names(visit, ".distribution[data-number='2']") == {"middling", "quick", "quickest"}


def test_distributions_turn(browser: Any, path: Path) -> None:
    with visiting(browser, path) as visit:
        visit.scrolled()
        read = "(chart) => chart.data.filter((trace) => trace.meta).map((trace) => [trace.x, trace.y])"
        chart = visit.page.locator(".distribution").first
        before = chart.evaluate(read)
        visit.page.get_by_label("distribution functions").check()
        assert chart.evaluate(read) == [[y, x] for x, y in before]
        visit.page.get_by_label("quantile functions").check()
        assert chart.evaluate(read) == before


def test_no_button_sends_a_chart_anywhere(opened: Visit) -> None:
    named = "(chart) => [...chart.querySelectorAll('.modebar-btn')].map((button) => button.dataset.title)"
    moving = ["Download plot as a PNG", "Zoom", "Pan", "Zoom in", "Zoom out", "Reset axes"]
    for chart in opened.page.locator(".chart").all():
        still = chart.get_attribute("data-chart") == "order"
        assert chart.evaluate(named) == (moving[:1] if still else moving)
        assert chart.evaluate("(chart) => chart._context.plotlyServerURL") == ""


def test_toggles_leave_the_zoom(browser: Any, path: Path) -> None:
    with visiting(browser, path) as visit:
        chart = visit.page.locator(".distribution").first
        chart.scroll_into_view_if_needed()
        visit.settled()
        read = "(chart) => chart.layout.xaxis.range"
        chart.get_by_role("button", name="Zoom in").click(force=True)
        visit.page.wait_for_function("document.querySelector('.distribution').layout.xaxis.range[0] > 0.1")
        zoomed = chart.evaluate(read)
        visit.page.locator("#toggles").get_by_role("button", name="slow", exact=True).click()
        assert chart.evaluate(read) == zoomed
        # Another picture begins anew.
        visit.page.get_by_label("distribution functions").check()
        assert chart.evaluate("(chart) => chart.layout.yaxis.range") == [-0.01, 1.01]


def test_long_tails_are_shown_when_asked_for(browser: Any, tmp_path: Path) -> None:
    tailed = {name: {"x": [*reporting.scores(a, 0, 300), -50_000.0]} for a, name in enumerate(("one", "other"))}
    untuned.report(untuned.evaluate(tailed, weights="uniform"), tmp_path / "report.html")
    with visiting(browser, tmp_path / "report.html") as visit:
        chart = visit.page.locator(".distribution")
        chart.scroll_into_view_if_needed()
        visit.settled()
        assert chart.evaluate("(chart) => chart.layout.yaxis.range[0]") > -1000
        visit.page.get_by_label("down to the worst trial").check()
        assert chart.evaluate("(chart) => chart.layout.yaxis.range[0]") < -50_000


def test_ranks_sort_from_the_first(opened: Visit, found: Evaluation) -> None:
    opened.page.locator("#table-ranks .sort", has_text="steep").click()
    assert column(opened, "#table-ranks", 2) == ["1", "2", "3", "4", "5"]
    opened.page.locator("#table-weights .sort", has_text="quick").first.click()
    assert opened.page.locator("#table-weights th[aria-sort=descending]").count() == 1


def test_hovering_shows_values(browser: Any, path: Path, found: Evaluation) -> None:
    # Without smooth scrolling, which would move the chart away from under the mouse.
    with visiting(browser, path, reduced_motion="reduce") as visit:
        look_at(visit, "#chart-aggregate-uniform")
        chart = visit.page.locator("#chart-aggregate-uniform")
        chart.locator(".scatterlayer .trace .points path").first.hover(force=True)
        label = visit.page.locator("#chart-aggregate-uniform .hoverlayer")
        label.locator("text").first.wait_for()
        best = found.rows()[0]
        shown = label.text_content()
        assert best["name"] in shown
        assert f"{best['score']:.4f} ({best['low']:.4f}, {best['high']:.4f})" in shown


def test_keyboard_alone_gets_everywhere(browser: Any, path: Path) -> None:
    with visiting(browser, path) as visit:
        visit.page.keyboard.press("Tab")
        assert visit.page.evaluate("document.activeElement.textContent") == "Skip to the answer"
        visit.page.keyboard.press("Enter")
        assert visit.page.evaluate("document.activeElement.id") == "answer"
        reached = set()
        for _ in range(180):
            visit.page.keyboard.press("Tab")
            element = visit.page.evaluate(
                "[document.activeElement.tagName, document.activeElement.className, document.activeElement.id]"
            )
            reached.add(
                element[0]
                + ("." + element[1].split()[0] if element[1] else "")
                + ("#" + element[2] if element[2] else "")
            )
        assert {"BUTTON.sort", "SUMMARY", "INPUT", "DIV.scroll", "BUTTON#download", "PRE.code"} <= reached


def test_charts_are_one_thing_to_those_who_hear_the_page(opened: Visit) -> None:
    tree = opened.page.context.new_cdp_session(opened.page).send("Accessibility.getFullAXTree")["nodes"]
    heard = [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in tree if not node["ignored"]]
    figures = [name for role, name in heard if role == "figure" and name]
    assert len(figures) == len(set(figures)) == 6
    for title in ("equal weights", "the game's weights"):
        assert any(name.startswith(f"Aggregate scores under {title} with intervals") for name in figures)
    # Neither ticks nor titles of axes: letters without a picture.
    assert ("StaticText", "probability") not in heard
    assert ("button", "Zoom in") in heard


def test_everything_has_a_name_for_those_who_hear_the_page(browser: Any, path: Path) -> None:
    with visiting(browser, path) as visit:
        nameless = visit.page.evaluate(
            """() => [
                ...[...document.querySelectorAll('button, a, select, input')]
                    .filter((each) => !(each.textContent.trim() || each.labels?.length || each.ariaLabel)),
                ...[...document.querySelectorAll('.chart, .scroll')].filter((each) => !each.ariaLabel || !each.role),
                ...[...document.querySelectorAll('table')].filter((each) => !each.caption?.textContent.trim()),
                ...[...document.querySelectorAll('section, article')]
                    .filter((each) => !document.getElementById(each.getAttribute('aria-labelledby'))),
                ...[...document.querySelectorAll('thead th, tbody th')].filter((each) => !each.scope),
            ].map((each) => each.outerHTML.slice(0, 200))"""
        )
        assert nameless == []
        levels = visit.page.evaluate(
            "[...document.querySelectorAll('h1, h2, h3')].map((each) => Number(each.tagName[1]))"
        )
        assert levels[0] == 1
        assert levels.count(1) == 1
        assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
        assert visit.page.get_attribute("html", "lang") == "en"
        ids = visit.page.evaluate("[...document.querySelectorAll('[id]')].map((each) => each.id)")
        assert len(ids) == len(set(ids))


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours as the Web Content Accessibility Guidelines count it."""

    def luminance(colour: str) -> float:
        parts = [int(number) / 255 for number in re.findall(r"\d+", colour)[:3]]
        red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_in_light_and_dark(browser: Any, path: Path, scheme: str, tmp_path: Path) -> None:
    with visiting(browser, path, color_scheme=scheme) as visit:
        ground = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (
            contrast(ground, "rgb(255, 255, 255)") < 1.1
            if scheme == "light"
            else contrast(ground, "rgb(0, 0, 0)") < 1.5
        )
        for selector in ("body", ".facts", "nav a", "summary", "caption", ".range"):
            colour = visit.page.evaluate(f"getComputedStyle(document.querySelector('{selector}')).color")
            assert contrast(colour, ground) >= 4.5, selector
        for selector in ("td.better", "td.worse"):
            colour, behind = visit.page.evaluate(
                f"(() => {{ const style = getComputedStyle(document.querySelector('{selector}'));"
                "return [style.color, style.backgroundColor]; })()"
            )
            assert contrast(colour, behind) >= 4.5, selector
        look_at(visit, "#chart-aggregate-uniform")
        text = visit.page.evaluate("document.getElementById('chart-aggregate-uniform').layout.font.color")
        assert contrast(",".join(str(int(text[i : i + 2], 16)) for i in (1, 3, 5)), ground) >= 4.5
        visit.page.screenshot(path=tmp_path / f"{scheme}.png")
        assert (tmp_path / f"{scheme}.png").stat().st_size > 10_000


def test_charts_follow_when_the_room_goes_dark(browser: Any, path: Path) -> None:
    with visiting(browser, path, color_scheme="light") as visit:
        read = "document.getElementById('chart-aggregate-uniform').layout.font.color"
        look_at(visit, "#chart-aggregate-uniform")
        light = visit.page.evaluate(read)
        visit.page.emulate_media(color_scheme="dark")
        visit.page.wait_for_function(f"() => {read} !== {light!r}")


@pytest.mark.parametrize("width", [320, 390])
def test_a_phone_shows_it_without_scrolling_sideways(browser: Any, path: Path, width: int, tmp_path: Path) -> None:
    with visiting(browser, path, viewport={"width": width, "height": 844}, has_touch=True, is_mobile=True) as visit:
        visit.scrolled()
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
        for chart in visit.page.locator(".chart").all():
            box = chart.bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
        visit.page.screenshot(path=tmp_path / "phone.png", full_page=True)


def test_on_paper_everything_is_there(browser: Any, path: Path, tmp_path: Path) -> None:
    with visiting(browser, path, color_scheme="dark") as visit:
        look_at(visit, "#chart-aggregate-uniform")
        visit.page.evaluate(
            "window.addEventListener('beforeprint', () => { window.printed = {"
            "charts: document.querySelectorAll('.chart .main-svg').length,"
            "closed: document.querySelectorAll('details:not([open])').length,"
            "ink: document.getElementById('chart-aggregate-uniform').data[0].marker.color,"
            "text: document.getElementById('chart-aggregate-uniform').layout.font.color }; })"
        )
        visit.page.pdf(path=tmp_path / "page.pdf", format="A4")
        printed = visit.page.evaluate("window.printed")
        assert printed["closed"] == 0
        assert printed["charts"] >= 5
        # As on white paper, though the screen is dark.
        light = json.loads(visit.page.text_content("#charts"))
        best = light["rankings"][0]["order"][0]
        assert printed["ink"] == light["algorithms"][best]["light"]
        assert printed["text"] == "#1c1f23"
        assert visit.page.evaluate("document.getElementById('chart-aggregate-uniform').layout.font.color") == "#e8eaed"
        assert visit.page.locator("details:not([open])").count() > 0
        assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")


def test_the_numbers_can_be_saved(browser: Any, path: Path, found: Evaluation) -> None:
    with visiting(browser, path, accept_downloads=True) as visit, visit.page.expect_download() as download:
        visit.page.get_by_role("button", name="Save the numbers as JSON").click()
    saved = download.value
    assert saved.suggested_filename == "evaluation.json"


def test_without_scripts_every_number_is_there(browser: Any, path: Path, found: Evaluation) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(path.resolve().as_uri())
    text = page.inner_text("#table-scores-uniform")
    for row in found.rows():
        assert f"{row['score']:.4f}" in text
    assert "charts need JavaScript" in page.inner_text("body")
    context.close()


def test_names_are_shown_and_nothing_else(browser: Any, tmp_path: Path) -> None:
    environments = (
        "<img src=x onerror=document.title='owned'>",
        "</title><script>document.title='owned'</script>",
        "$plain$",
    )
    found = reporting.evaluated(reporting.HORRIBLE, environments, 20, weights="uniform", refine=0)
    untuned.report(found, tmp_path / "report.html", title="</title><script>document.title='owned'</script>")
    with visiting(browser, tmp_path / "report.html") as visit:
        visit.scrolled()
        assert visit.page.title() == "</title><script>document.title='owned'</script>"
        names = column(visit, "#table-scores-uniform", 0)
        assert set(names) == set(reporting.HORRIBLE)
        assert (
            visit.page.locator(".toggle img, .toggle script, .toggle b, th b, th img, h3 img, h3 script").count() == 0
        )
        headings = visit.page.locator("#environments article h3").all_text_contents()
        assert headings == list(environments)
        ticks = visit.page.locator("#chart-aggregate-uniform .ytick text").all_text_contents()
        assert len(ticks) == len(reporting.HORRIBLE)
        assert any("<script>" in tick for tick in ticks)
        assert (
            visit.page.locator(
                "#chart-aggregate-uniform .ytick text a, #chart-aggregate-uniform .ytick tspan[style*=bold]"
            ).count()
            == 0
        )
        chart = visit.page.locator("#chart-aggregate-uniform")
        chart.scroll_into_view_if_needed()
        where = [row["name"] for row in found.rows()].index(reporting.HORRIBLE[6])
        chart.locator(".scatterlayer .trace").nth(where).locator(".points path").hover(force=True)
        label = chart.locator(".hoverlayer")
        label.locator("text").first.wait_for()
        assert reporting.HORRIBLE[6] in label.text_content()


@pytest.mark.parametrize(("algorithms", "environments"), [(2, 1), (50, 57)])
def test_few_and_many(browser: Any, tmp_path: Path, algorithms: int, environments: int) -> None:
    found = reporting.many(algorithms, environments)
    place = tmp_path / "report.html"
    untuned.report(found, place)
    assert place.stat().st_size < 12_000_000
    with visiting(browser, place, viewport={"width": 390, "height": 844}) as visit:
        assert len(rows(visit, "#table-scores-uniform")) == algorithms
        assert visit.page.locator(".distribution").count() == environments
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= 390
        last = visit.page.locator(".distribution").last
        last.scroll_into_view_if_needed()
        visit.settled()
        assert len(visible_names(visit, f".distribution[data-number='{environments - 1}']")) == algorithms
        # However many bands lie above one another, half of what is below them is seen.
        fill = last.evaluate("(chart) => chart.data.find((trace) => trace.fill).fillcolor")
        assert 0.4 < (1 - int(fill[7:], 16) / 255) ** algorithms < 0.8
