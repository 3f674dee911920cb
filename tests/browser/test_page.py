"""The page in a real browser: what it shows, what can be done with it, and that it makes no requests."""

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
    untuned.report(found, place, title="Five algorithms", compare_with=["pbp-t"])
    return place


@pytest.fixture(scope="module")
def opened(browser: Any, path: Path) -> Iterator[Visit]:
    """The page for those who leave it as it is: opening it takes the most of a test."""
    with visiting(browser, path) as visit:
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
    """Return the algorithms whose lines or points a chart shows."""
    names: list[str] = visit.page.evaluate(
        """(chart) => [...document.querySelectorAll(`${chart} [data-a]`)]
            .filter((path) => getComputedStyle(path).display !== 'none')
            .map((path) => document.querySelector(`.toggle[data-algorithm="${path.dataset.a}"]`).title)""",
        chart,
    )
    return set(names)


def environment(number: int) -> str:
    """Return where the chart of an environment is."""
    return f".environment[data-number='{number}'] .distribution"


def tip(visit: Visit, x: float, y: float) -> str:
    """Return what hovering at a point of the window shows, after all scrolling."""
    visit.page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    visit.page.mouse.move(x, y)
    visit.page.locator("#tip:not([hidden])").wait_for()
    return str(visit.page.text_content("#tip"))


def middle(visit: Visit, selector: str, number: int) -> tuple[float, float]:
    """Return where the middle of an element is in the window, scrolled there."""
    element = visit.page.locator(selector).nth(number)
    element.scroll_into_view_if_needed()
    box = element.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_the_page_shows_everything_without_a_script(browser: Any, path: Path) -> None:
    with visiting(browser, path, java_script_enabled=False) as visit:
        assert visit.page.title() == "Five algorithms"
        # Scores and differences of two rankings, the diagram of the one with verdicts, environments and their sparks;
        # the difference chart is left out where no interval says anything.
        kinds = {
            "figure[id^=chart-aggregate]": 2,
            "figure[id^=chart-differences]": 2,
            "[id^=chart-order]": 1,
            ".distribution": 3,
            ".spark": 3,
        }
        for kind, count in kinds.items():
            charts = visit.page.locator(kind)
            assert charts.count() == count, kind
            assert visit.page.locator(f"{kind} path, {kind} > path").count() >= count
        assert visit.page.locator("#toggles, #sort-environments, #download").filter(visible=True).count() == 0


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


def ranked(found: Evaluation, name: str) -> bool:
    """Return whether the intervals on an environment's means exclude any rank."""
    ranks = found.means.ranks[found.environments.index(name)]
    return bool((ranks.best > 1).any() or (ranks.worst < len(found.algorithms)).any())


def medians(found: Evaluation, e: int, record: dict[str, Any]) -> dict[str, Any]:
    """Return a record of an environment with the median, which the JSON does not have."""
    scores = found.scores.cell(record["name"], found.environments[e])
    return {**record, "median": float(np.median(scores)) if scores.size else None}


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
            assert float(row[1][0]) == pytest.approx(record["score"], abs=0.002)
        pairs = [[row["a"], row["b"], row["low"], row["high"], row["verdict"]] for row in expected["pairs"]]
        assert [
            [row[0], row[1], float(row[3]), float(row[4]), row[5]] for row in values(visit, "#table-pairs-uniform")
        ] == pairs
        scores = {record["name"]: record["score"] for record in expected["algorithms"]}
        for cells in values(visit, "#table-pairs-uniform"):
            assert float(cells[2]) == scores[cells[0]] - scores[cells[1]]
        ranks = {(row["algorithm"], row["environment"]): row for row in found.environment_rows()}
        columns = visit.page.locator("#table-ranks thead .sort").all_text_contents()[1:]
        assert columns == [row["name"] for row in expected["algorithms"]]
        assert sorted(column(visit, "#table-ranks", 0)) == sorted(ENVIRONMENTS)
        for texts in rows(visit, "#table-ranks"):
            for algorithm, (text, _) in zip(columns, texts[1:], strict=True):
                record = ranks[algorithm, texts[0][1]]
                # Where every rank is possible that is not worth a number.
                allowed = f" ({record['rank_low']}, {record['rank_high']})" if ranked(found, texts[0][1]) else ""
                assert text == f"{record['rank'] or MISSING}{allowed}"
        # Equal weights are said; the table is of the game's.
        game = found.under("game").to_dict()["environments"]
        weights = {each["name"]: each["weight"] for each in game}
        heaviest = sorted(weights.values(), reverse=True)
        assert [row[1][0] for row in rows(visit, "#table-weights")] == [f"{100 * each:.1f}" for each in heaviest]
        assert {row[0]: float(row[1]) for row in values(visit, "#table-weights")} == weights
        best_first = [row["name"] for row in found.under("game").rows()]
        references = {each["name"]: [each["references"][name] for name in best_first] for each in game}
        for cells in values(visit, "#table-weights"):
            assert [float(value) for value in cells[2:]] == references[cells[0]]
        for number, each in enumerate(expected["environments"]):
            table = visit.page.locator(f".environment[data-number='{number}'] table")
            cells = table.evaluate(
                "(table) => [...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.dataset.value))"
            )
            wanted = [
                [
                    record["name"],
                    *(
                        "" if record[key] is None else record[key]
                        for key in (
                            "mean",
                            # Nothing bounds a mean where no range is declared.
                            *(("mean_low", "mean_high") if each["name"] == "flat" else ()),
                            *("median", "rank"),
                            *(("rank_low", "rank_high") if ranked(found, each["name"]) else ()),
                            "trials",
                        )
                    ),
                ]
                for record in (medians(found, number, record) for record in each["algorithms"])
            ]
            assert [[row[0], *(float(value) if value else "" for value in row[1:])] for row in cells] == wanted
        assert "--range NAME=LOW:HIGH" in visit.page.inner_text("#environments")
        text = visit.page.inner_text("main")
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
                if a != b:
                    scores = {row["name"]: row["score"] for row in found.rows()}
                    size = cell.split()[1].removesuffix(found.verdict(a, b)).replace("\N{MINUS SIGN}", "-")
                    assert float(size) == pytest.approx(scores[a] - scores[b], abs=0.0051)
        titles = visit.page.locator("#table-verdicts-uniform tbody td[title]").evaluate_all(
            "(all) => all.map((td) => td.title)"
        )
        pairs = [(a, b) for a in names for b in names if a != b]
        for title, (a, b) in zip(titles, pairs, strict=True):
            assert title.startswith(f"{a} less {b}: ")
            ends = title.replace("\N{MINUS SIGN}", "-").split("between ")[1].split(" and ")
            assert all(map(reporting.rounded, ends, found.difference(a, b)))
        assert {found.verdict("quickest", "slow"), found.verdict("slow", "quickest")} == {"better", "worse"}


#: The points of a chart's paths in units of its axes, the value of each pixel being known from the chart's ends.
READ = """(chart, selector) => {
    const svg = chart.matches('svg') ? chart : chart.querySelector('svg.chart');
    const [width, height] = svg.dataset.size.split(' ').map(Number);
    const ends = (name) => (svg.dataset[name] ?? '0 1').split(' ').slice(0, 2).map(Number);
    const [[left, right], [low, high]] = [ends('x'), ends('y')];
    return [...svg.querySelectorAll(`.plot ${selector}`)].map((path) =>
        [...path.getAttribute('d').matchAll(/(-?[\\d.]+),(-?[\\d.]+)/g)].map(([, x, y]) =>
            [left + x / width * (right - left), high - y / height * (high - low)]));
}"""


def test_scores_are_where_they_belong(opened: Visit, found: Evaluation) -> None:
    chart = opened.page.locator("#chart-aggregate-uniform svg.chart")
    low, high, _ = chart.get_attribute("data-x").split()
    width = float(chart.get_attribute("data-size").split()[0])

    def value(x: float) -> float:
        return float(low) + x / width * (float(high) - float(low))

    rows_there = chart.evaluate(
        "(chart) => [...chart.querySelectorAll('[data-tip]')].map((mark) => ({ tip: mark.dataset.tip,"
        " x: Number(mark.querySelector('use').getAttribute('x')),"
        " ends: mark.querySelector('path').getAttribute('d').match(/^M([-\\d.]+),[^H]*H([-\\d.]+)/)"
        ".slice(1).map(Number) }))"
    )
    # Two methods of each algorithm, the evaluation's first.
    assert len(rows_there) == 2 * len(ALGORITHMS)
    for row, mark in zip(found.rows(), rows_there[::2], strict=True):
        name, numbers, method = mark["tip"].split("\n")
        assert (name, method) == (row["name"], "pooled")
        said = [float(each) for each in re.findall(r"[\d.]+", numbers)]
        assert said == pytest.approx([row["score"], row["low"], row["high"]], abs=0.002)
        assert [value(mark["x"]), *map(value, mark["ends"])] == pytest.approx(said, abs=0.004)
    assert {mark["tip"].split("\n")[2] for mark in rows_there} == {"pooled", "pbp-t, approximate"}


def test_curves_are_quantile_functions_and_turn_into_distribution_functions(
    browser: Any, path: Path, found: Evaluation
) -> None:
    with visiting(browser, path) as visit:
        chart = visit.page.locator(environment(1))
        lines = chart.evaluate(READ, "path.l")
        assert visible_names(visit, environment(1)) == set(ALGORITHMS)
        spread = np.ptp(chart.evaluate(READ, "path.l"), axis=(0, 1))[1]
        for name, line in zip(ALGORITHMS, lines, strict=True):
            middle = min(line, key=lambda point: abs(point[0] - 0.5))
            ordered = sorted(found.scores.cell(name, "steep"))
            # The smallest score that half of the trials are at or below.
            assert middle[1] == pytest.approx(ordered[len(ordered) // 2 - 1], abs=spread / 200)
        # No band where the worst or best trials do not bound the function, and the line inside.
        for line, band in zip(lines, chart.evaluate(READ, "path.b"), strict=True):
            levels = {point[0] for point in band}
            assert 0.05 < min(levels) < max(levels) < 0.95
            for x, y in line:
                ends = [end for level, end in band if level == x]
                assert not ends or min(ends) <= y <= max(ends)
        straight = chart.evaluate(READ, "path")
        visit.page.locator("#view").select_option("distribution")
        axes = chart.evaluate(
            "(chart) => ['.straight', '.turned'].map((each) => getComputedStyle(chart.querySelector(each)).display)"
        )
        assert axes == ["none", "inline"]
        size = [float(each) for each in chart.locator("svg.chart").get_attribute("data-size").split()]
        x, y = (
            [float(end) for end in chart.locator("svg.chart").get_attribute(f"data-{axis}").split()[:2]]
            for axis in "xy"
        )
        for before, after in zip(straight, chart.evaluate(READ, "path"), strict=True):
            for (p, score), (across, along) in zip(before, after, strict=True):
                assert (across - x[0]) / (x[1] - x[0]) == pytest.approx((score - y[0]) / (y[1] - y[0]), abs=2 / size[0])
                assert (along - y[0]) / (y[1] - y[0]) == pytest.approx((p - x[0]) / (x[1] - x[0]), abs=2 / size[1])
        visit.page.locator("#view").select_option("quantile")
        np.testing.assert_allclose(chart.evaluate(READ, "path.l")[0], lines[0], atol=spread / 100)


def test_the_diagram_has_the_better_above_the_worse(opened: Visit, found: Evaluation) -> None:
    marks, path_there = opened.page.evaluate(
        """() => { const chart = document.querySelector('#chart-order-uniform svg');
            return [Object.fromEntries([...chart.querySelectorAll('[data-tip]')].map((mark) => [mark.dataset.tip,
                ['x', 'y'].map((end) => Number(mark.querySelector('use').getAttribute(end)))])),
                chart.querySelector('.edge').getAttribute('d')]; }"""
    )
    drawn = []
    for line in path_there.split("M")[1:]:
        points = [tuple(map(float, point.split(","))) for point in line.split()]
        drawn.append((points[0], points[-1]))
    place = {name: tuple(at) for name, at in marks.items()}
    assert sorted(drawn) == sorted((place[better], place[worse]) for better, worse in found.partial_order)
    assert all(above[1] < below[1] for above, below in drawn)
    assert len(drawn) > 2


@pytest.fixture(scope="module")
def with_histories(found: Evaluation, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with learning curves and hyperparameters of two algorithms on two environments."""
    rng = np.random.default_rng(1)
    cells = {}
    for name in ("quick", "slow"):
        for environment in ("flat", "steep"):
            scores = found.scores.cell(name, environment)[:120]
            drawn = {"rate": tuple(10 ** rng.uniform(-3, 0, 120)), f"{name} {environment}": ("<i>a</i>", "$b$") * 60}
            texts = {name: "ln-uniform(0.001, 1)" if name == "rate" else "one of two" for name in drawn}
            cells[name, environment] = History(scores, drawn, texts, tuple(np.array([each, each]) for each in scores))
    report = replace(untuned.report(found), histories=Histories(cells, 120))
    place = tmp_path_factory.mktemp("histories") / "report.html"
    report.save(place)
    return place


def test_hyperparameters_of_whom_is_chosen(browser: Any, with_histories: Path) -> None:
    with visiting(browser, with_histories) as visit:
        assert visit.page.locator(".curve").count() == 2
        # With neither returns nor draws of their own, the others are not there.
        assert visible_names(visit, ".curve") == {"quick", "slow"}
        seen = visit.page.locator("#responses h4").filter(visible=True)
        visit.page.locator("#response-algorithm").select_option(label="slow")
        visit.page.locator("#response-environment").select_option(label="steep")
        assert seen.all_text_contents() == ["rate", "slow steep"]
        chart = visit.page.locator(".response").filter(visible=True)
        assert chart.nth(0).locator("svg.chart").get_attribute("data-x").endswith("log")
        assert chart.nth(1).locator("svg.chart").get_attribute("data-x").endswith("even")
        assert chart.nth(1).locator("text", has_text="<i>a</i>").count() == 1
        tips = chart.nth(0).locator("path.d").get_attribute("data-t").split("\n")
        assert len(tips) == len(chart.nth(0).evaluate(READ, "path.d")[0]) == 10
        chart.nth(0).locator("path.d").scroll_into_view_if_needed()
        box = chart.nth(0).locator("path.d").bounding_box()
        assert tip(visit, box["x"] + 3, box["y"] + box["height"] / 2) in tips


def test_selects_that_change_quickly_break_nothing(browser: Any, with_histories: Path) -> None:
    with visiting(browser, with_histories) as visit:
        visit.page.evaluate(
            """async () => { const selects = ['algorithm', 'environment']
                .map((what) => document.getElementById(`response-${what}`));
              for (let i = 0; i < 200; i += 1) {
                const select = selects[i % 2];
                select.selectedIndex = (i * 7) % select.options.length;
                select.dispatchEvent(new Event('change'));
                if (i % 10 === 0) await new Promise(requestAnimationFrame);
              } }"""
        )
        assert visit.page.locator(".response-group").filter(visible=True).count() == 1


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
        chart = visit.page.locator("#chart-efficiency")
        assert visible_names(visit, "#chart-efficiency") == {"quick", "slow"}
        for line in chart.evaluate(READ, "path.l"):
            np.testing.assert_allclose([x for x, _ in line], steps, atol=5_000)
        assert chart.locator("path.b").count() == 0
        assert chart.locator("text", has_text="step %{x}").count() == 1
        assert "no interval" in visit.page.inner_text("#learning figcaption")
        for place in ("#chart-efficiency", ".curve"):
            line = visit.page.locator(f"{place} path.l").first
            line.scroll_into_view_if_needed()
            box = line.bounding_box()
            said = tip(visit, box["x"] + 2, box["y"] + 2)
            assert "step %{x} " in said
            visit.page.mouse.move(1, 1)
        visit.page.locator("#toggles").get_by_role("button", name="slow", exact=True).click()
        assert visible_names(visit, "#chart-efficiency") == {"quick"}


@pytest.mark.parametrize("by", ["mouse", "keyboard"])
def test_tables_sort(browser: Any, path: Path, found: Evaluation, by: str) -> None:
    with visiting(browser, path) as visit:
        visit.page.get_by_text("Table of scores", exact=True).first.click()

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
        table = visit.page.locator(".environment[data-number='2'] table")
        table.evaluate("(table) => (table.closest('details').open = true)")
        heading = table.locator(".sort", has_text=re.compile("^mean$"))
        for _ in range(3):
            heading.click()
            cells = table.evaluate("(table) => [...table.tBodies[0].rows].map((row) => row.cells[1].dataset.value)")
            assert len(cells) == 5
            assert cells[-1] == ""


def test_algorithms_go_on_and_off_in_every_chart(browser: Any, path: Path) -> None:
    with visiting(browser, path) as visit:
        there = [set(ALGORITHMS)] * 2 + [set(ALGORITHMS) - {"twin"}]

        def check(hidden: set[str]) -> None:
            for number, names in enumerate(there):
                assert visible_names(visit, environment(number)) == names - hidden
            marks = visit.page.locator("#chart-aggregate-uniform [data-tip]").filter(visible=True)
            assert marks.count() == 2 * (len(ALGORITHMS) - len(hidden))

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


def test_long_tails_are_shown_when_asked_for(browser: Any, tmp_path: Path) -> None:
    tailed = {name: {"x": [*reporting.scores(a, 0, 300), -50_000.0]} for a, name in enumerate(("one", "other"))}
    untuned.report(untuned.evaluate(tailed, weights="uniform"), tmp_path / "report.html")
    with visiting(browser, tmp_path / "report.html") as visit:
        chart = visit.page.locator(".distribution svg.chart").filter(visible=True)
        assert float(chart.get_attribute("data-y").split()[0]) > -1000
        assert "scores down to" in chart.text_content()
        visit.page.get_by_label("to the ends of long tails").check()
        assert float(chart.get_attribute("data-y").split()[0]) < -50_000


def test_few_trials_are_points_with_the_names_of_their_runs(browser: Any, tmp_path: Path) -> None:
    rows_there = [
        f"{name},{where},seed {seed},{10 * a + seed + 0.125}"
        for a, name in enumerate(("one", "other"))
        for where in ("x", "y")
        for seed in range(5)
    ]
    (tmp_path / "scores.csv").write_text("\n".join(["algorithm,environment,run,score", *rows_there]), encoding="utf-8")
    found = untuned.evaluate(untuned.read_scores(tmp_path / "scores.csv"))
    untuned.report(found, tmp_path / "report.html")
    with visiting(browser, tmp_path / "report.html", reduced_motion="reduce") as visit:
        chart = visit.page.locator(environment(0))
        assert [len(points) for points in chart.evaluate(READ, "path.d")] == [5, 5]
        # No bands, and no columns in which every cell says that nothing is known.
        assert visit.page.locator(".distribution path.b").count() == 0
        headings = visit.page.locator(".environment[data-number='0'] table .sort").all_text_contents()
        assert headings == ["algorithm", "mean", "median", "rank", "trials"]
        assert visit.page.locator("#view, #whole").count() == 0
        points = chart.locator("path.d.a0")
        points.scroll_into_view_if_needed()
        box = points.bounding_box()
        said = tip(visit, box["x"] + 1, box["y"] + box["height"] / 2)
        assert said == "one\nscore 0.125\nrun seed 0"


def test_what_follows_stands_beside_when_a_ranking_decides_nothing(browser: Any, tmp_path: Path) -> None:
    table = {name: {f"e{e}": reporting.scores(3 * a, e, 3) for e in range(12)} for a, name in enumerate("abc")}
    untuned.report(untuned.evaluate(table), tmp_path / "report.html")
    with visiting(browser, tmp_path / "report.html", viewport={"width": 1200, "height": 900}) as visit:
        equal, game, sure, written = (
            visit.page.locator(place).bounding_box()
            for place in ("article:has(> #verdicts-uniform)", "article:has(> #verdicts-game)", "#certainty", "#writing")
        )
        assert sure["x"] == game["x"] > equal["x"] + equal["width"]
        assert game["y"] + game["height"] <= sure["y"] < equal["y"] + equal["height"]
        assert written["y"] >= max(each["y"] + each["height"] for each in (equal, sure))


def test_environments_are_sorted_found_and_folded(browser: Any, tmp_path: Path) -> None:
    found = reporting.evaluated(("a", "b"), tuple(f"place {e}" for e in range(9)), 12)
    untuned.report(found, tmp_path / "report.html")
    with visiting(browser, tmp_path / "report.html") as visit:
        read = "(all, key) => all.map((each) => each.dataset[key])"
        cards = visit.page.locator(".environment")
        weights = [float(each) for each in cards.evaluate_all(read, "weight")]
        assert weights == sorted(weights, reverse=True)
        by_name = dict(zip(found.environments, found.under("game").environment_weights.tolist(), strict=True))
        assert dict(zip(cards.evaluate_all(read, "name"), weights, strict=True)) == by_name
        opened = visit.page.locator(".environment[open]")
        assert opened.count() == 6
        visit.page.locator("#sort-environments").select_option("disagreement")
        apart = [float(each) for each in cards.evaluate_all(read, "disagreement")]
        assert apart == sorted(apart, reverse=True)
        assert opened.count() == 6
        assert opened.last.evaluate("(card) => [...card.parentElement.children].indexOf(card)") == 5
        visit.page.locator("#sort-environments").select_option("name")
        assert cards.evaluate_all(read, "name") == [f"place {e}" for e in range(9)]
        visit.page.locator("#find-environments").fill("PLACE 7")
        assert cards.filter(visible=True).evaluate_all(read, "name") == ["place 7"]
        assert visit.page.text_content("#found") == "1 of 9 environments"
        visit.page.locator("#find-environments").fill("")
        visit.page.get_by_role("button", name="close all").click()
        assert opened.count() == 0
        visit.page.get_by_role("button", name="open all").click()
        assert opened.count() == 9
        said = visit.page.locator("#where-uniform li").first.text_content()
        first, other = found.under("uniform").order
        lead = float(found.under("uniform").score_a[first] - found.under("uniform").score_a[other])
        assert said.startswith(f"{found.algorithms[first]} leads {found.algorithms[other]} by {lead:.3f}")
        parts = re.findall(r"(?:on|:) (place \d) \((\S+)\)", said)
        shares = found.percentiles.z_aer[first] - found.percentiles.z_aer[other]
        weighed = (found.under("uniform").q_er * shares).sum(axis=1)
        for name, part in parts:
            assert float(part.replace("\N{MINUS SIGN}", "-")) == pytest.approx(
                weighed[found.environments.index(name)], abs=6e-4
            )
        assert parts


def test_ranks_sort_from_the_first(opened: Visit, found: Evaluation) -> None:
    for folded in ("Ranks on each environment", "Weights of environments and references"):
        opened.page.get_by_text(folded, exact=True).click()
    by = opened.page.locator("#table-ranks thead .sort").all_text_contents().index("slow")
    opened.page.locator("#table-ranks .sort", has_text="slow").click()
    sorted_ranks = [int(each) for each in column(opened, "#table-ranks", by)]
    assert sorted_ranks == sorted(sorted_ranks)
    opened.page.locator("#table-weights .sort", has_text="quick").first.click()
    assert opened.page.locator("#table-weights th[aria-sort=descending]").count() == 1


def test_hovering_shows_values(browser: Any, path: Path, found: Evaluation) -> None:
    # Without smooth scrolling, which would move the chart away from under the mouse.
    with visiting(browser, path, reduced_motion="reduce") as visit:
        assert tip(visit, *middle(visit, "#chart-aggregate-uniform [data-tip] use", 0)).startswith(
            found.rows()[0]["name"]
        )
        visit.page.keyboard.press("Escape")
        assert visit.page.locator("#tip").is_hidden()
        line = visit.page.locator(f"{environment(1)} path.l.a2")
        line.scroll_into_view_if_needed()
        where = line.evaluate(
            """(path) => { const [x, y] = path.getAttribute('d').slice(1).split(' ')[50].split(',').map(Number);
                const { a, d, e, f } = path.getScreenCTM(); return [a * x + e, d * y + f]; }"""
        )
        name, level, score = tip(visit, *where).split("\n")
        assert name == "quick"
        value, low, high = (float(each) for each in re.findall(r"[\d.]+", score.replace(",", "")))
        assert low <= value <= high
        ordered = sorted(found.scores.cell("quick", "steep"))
        share = float(level.removeprefix("probability "))
        assert value == pytest.approx(ordered[round(share * len(ordered)) - 1], abs=0.5)


def test_keyboard_alone_gets_everywhere(browser: Any, path: Path) -> None:
    with visiting(browser, path) as visit:
        visit.page.keyboard.press("Tab")
        assert visit.page.evaluate("document.activeElement.textContent") == "Skip to the answer"
        visit.page.keyboard.press("Enter")
        assert visit.page.evaluate("document.activeElement.id") == "answer"
        visit.page.get_by_text("Table of scores", exact=True).first.evaluate("(summary) => summary.click()")
        reached = set()
        for _ in range(100):
            visit.page.keyboard.press("Tab")
            element = visit.page.evaluate(
                "[document.activeElement.tagName, document.activeElement.className, document.activeElement.id]"
            )
            reached.add(
                element[0]
                + ("." + element[1].split()[0] if element[1] else "")
                + ("#" + element[2] if element[2] else "")
            )
        controls = {"BUTTON.sort", "BUTTON.toggle", "BUTTON.fold", "SUMMARY", "SELECT#sort-environments", "SELECT#view"}
        assert controls <= reached
        assert {"INPUT#find-environments", "DIV.scroll", "BUTTON#download", "PRE.code"} <= reached


def test_charts_are_one_thing_to_those_who_hear_the_page(opened: Visit) -> None:
    session = opened.page.context.new_cdp_session(opened.page)
    session.send("Accessibility.enable")
    tree = session.send("Accessibility.getFullAXTree")["nodes"]
    heard = [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in tree if not node["ignored"]]
    names = [name for role, name in heard if role in ("img", "image") and name]
    for title in ("equal weights", "the game's weights"):
        assert any(name.startswith(f"Aggregate scores under {title} with intervals") for name in names)
    assert sum(name.startswith("Scores on ") for name in names) == 3
    # Neither ticks nor titles of axes: letters without a picture.
    assert ("StaticText", "probability") not in heard


def test_everything_has_a_name_for_those_who_hear_the_page(browser: Any, path: Path) -> None:
    with visiting(browser, path) as visit:
        nameless = visit.page.evaluate(
            """() => [
                ...[...document.querySelectorAll('button, a, select, input')]
                    .filter((each) => !(each.textContent.trim() || each.labels?.length || each.ariaLabel)),
                ...[...document.querySelectorAll('svg.chart:not([aria-hidden]), .scroll')]
                    .filter((each) => !each.getAttribute('aria-label') || !each.getAttribute('role')),
                ...[...document.querySelectorAll('table')].filter((each) => !each.caption?.textContent.trim()),
                ...[...document.querySelectorAll('section, article')]
                    .filter((each) => !document.getElementById(each.getAttribute('aria-labelledby'))),
                ...[...document.querySelectorAll('thead th, tbody th')].filter((each) => !each.scope),
            ].map((each) => each.outerHTML.slice(0, 200))"""
        )
        assert nameless == []
        levels = visit.page.evaluate(
            "[...document.querySelectorAll('h1, h2, h3, h4')].map((each) => Number(each.tagName[1]))"
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
        for selector in ("body", ".facts", "nav a", "summary", "caption", ".weight"):
            colour = visit.page.evaluate(f"getComputedStyle(document.querySelector('{selector}')).color")
            assert contrast(colour, ground) >= 4.5, selector
        for selector in ("td.better", "td.worse"):
            colour, behind = visit.page.evaluate(
                f"(() => {{ const style = getComputedStyle(document.querySelector('{selector}'));"
                "return [style.color, style.backgroundColor]; })()"
            )
            assert contrast(colour, behind) >= 4.5, selector
        for selector in ("#chart-aggregate-uniform text", "#chart-aggregate-uniform text.name"):
            fill = visit.page.evaluate(f"getComputedStyle(document.querySelector('{selector}')).fill")
            assert contrast(fill, ground) >= 4.5, selector
        visit.page.screenshot(path=tmp_path / f"{scheme}.png")
        assert (tmp_path / f"{scheme}.png").stat().st_size > 10_000


def test_charts_follow_when_the_room_goes_dark(browser: Any, path: Path) -> None:
    with visiting(browser, path, color_scheme="light") as visit:
        read = "getComputedStyle(document.querySelector('.distribution path.l')).stroke"
        light = visit.page.evaluate(read)
        visit.page.emulate_media(color_scheme="dark")
        assert visit.page.evaluate(read) != light


@pytest.mark.parametrize("width", [320, 390])
def test_a_phone_shows_it_without_scrolling_sideways(browser: Any, path: Path, width: int, tmp_path: Path) -> None:
    with visiting(browser, path, viewport={"width": width, "height": 844}, has_touch=True, is_mobile=True) as visit:
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
        charts = visit.page.locator("svg.chart").filter(visible=True)
        for box in charts.evaluate_all("(all) => all.map((each) => each.getBoundingClientRect().toJSON())"):
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
        visit.page.screenshot(path=tmp_path / "phone.png", full_page=True)


def test_on_paper_everything_is_there(browser: Any, path: Path, tmp_path: Path) -> None:
    with visiting(browser, path, color_scheme="dark") as visit:
        visit.page.evaluate(
            "window.addEventListener('beforeprint', () => { window.printed ="
            " document.querySelectorAll('details:not([open])').length; })"
        )
        visit.page.pdf(path=tmp_path / "page.pdf", format="A4")
        assert visit.page.evaluate("window.printed") == 0
        assert visit.page.locator("details:not([open])").count() > 0
        assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")
        # As on white paper, though the screen is dark.
        visit.page.emulate_media(media="print", color_scheme="dark")
        ground = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert contrast(ground, "rgb(255, 255, 255)") < 1.1
        lines = visit.page.locator(".distribution path.l").first
        assert lines.evaluate("(path) => getComputedStyle(path).stroke") == "rgb(0, 114, 178)"
        assert visit.page.locator("#sort-environments, #download").filter(visible=True).count() == 0


def test_the_numbers_can_be_saved(browser: Any, path: Path, found: Evaluation) -> None:
    with visiting(browser, path, accept_downloads=True) as visit, visit.page.expect_download() as download:
        visit.page.get_by_role("button", name="Save the numbers as JSON").click()
    saved = download.value
    assert saved.suggested_filename == "evaluation.json"


def test_without_scripts_every_number_is_there(browser: Any, path: Path, found: Evaluation) -> None:
    with visiting(browser, path, java_script_enabled=False) as visit:
        text = visit.page.text_content("#table-scores-uniform")
        for row in found.rows():
            assert f"{row['score']:.3f}" in text


def test_names_are_shown_and_nothing_else(browser: Any, tmp_path: Path) -> None:
    environments = (
        "<img src=x onerror=document.title='owned'>",
        "</title><script>document.title='owned'</script>",
        "$plain$",
    )
    found = reporting.evaluated(reporting.HORRIBLE, environments, 20, weights="uniform", refine=0)
    untuned.report(found, tmp_path / "report.html", title="</title><script>document.title='owned'</script>")
    with visiting(browser, tmp_path / "report.html") as visit:
        assert visit.page.title() == "</title><script>document.title='owned'</script>"
        names = column(visit, "#table-scores-uniform", 0)
        assert set(names) == set(reporting.HORRIBLE)
        assert (
            visit.page.locator(
                ".toggle img, .toggle script, .toggle b, th b, th img, h3 img, h3 script, svg img, svg script, svg b"
            ).count()
            == 0
        )
        headings = visit.page.locator("#environments .environment h3").all_text_contents()
        assert sorted(headings) == sorted(environments)
        labels = visit.page.locator("#chart-aggregate-uniform text.name").all_text_contents()
        assert len(labels) == len(reporting.HORRIBLE)
        assert any("<scri" in label for label in labels)
        where = [row["name"] for row in found.rows()].index(reporting.HORRIBLE[6])
        said = tip(visit, *middle(visit, "#chart-aggregate-uniform [data-tip] use", where))
        assert said.startswith(reporting.HORRIBLE[6])


#: Boards from one cell per algorithm to more than a screen has room for: algorithms, environments, trials, and options
#: under which even the largest is judged in a second.
BOARDS = {
    "2 x 1": (2, 1, 30, {}),
    "3 x 3": (3, 3, 100, {}),
    "6 x 18": (6, 18, 5, {}),
    "3 x 57": (3, 57, 4, {}),
    "11 x 15": (11, 15, 1_000, {"weights": "uniform"}),
    "50 x 57": (50, 57, 12, {"weights": "uniform", "intervals": "pbp"}),
}


@pytest.fixture(scope="module", params=BOARDS)
def board(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """A page of a board, made once for the tests of it."""
    algorithms, environments, trials, options = BOARDS[request.param]
    found = reporting.evaluated(
        tuple(f"algorithm {a}" for a in range(algorithms)),
        tuple(f"environment {e}" for e in range(environments)),
        trials,
        **options,
    )
    place = tmp_path_factory.mktemp("board") / "report.html"
    untuned.report(found, place)
    return request.param, place


#: The largest page of each board, in bytes, and in screens of 1200 x 900 before anything is unfolded.
LARGEST = {
    "2 x 1": 200_000,
    "3 x 3": 1_000_000,
    "6 x 18": 600_000,
    "3 x 57": 800_000,
    "11 x 15": 3_000_000,
    "50 x 57": 7_000_000,
}
SCREENS = {"2 x 1": 3, "3 x 57": 5}


def test_boards_of_every_size(browser: Any, board: tuple[str, Path]) -> None:
    name, place = board
    algorithms, environments, *_ = BOARDS[name]
    assert place.stat().st_size < LARGEST[name]
    with visiting(browser, place) as visit:
        assert visit.page.locator("#table-scores-uniform tbody tr").count() == algorithms
        assert visit.page.locator(".environment").count() == environments
        assert visit.page.locator(".environment[open]").count() == min(environments, 6)
        assert len(visible_names(visit, environment(environments - 1))) == algorithms
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= 1200
        height = visit.page.evaluate("document.documentElement.scrollHeight")
        assert height <= 900 * SCREENS.get(name, 14)


def test_axe_finds_nothing(browser: Any, board: tuple[str, Path]) -> None:
    name, place = board
    with visiting(browser, place) as visit:
        if name == "50 x 57":
            # The same kinds of elements, a hundred times as many: axe would take a minute.
            visit.page.evaluate(
                "document.querySelectorAll('.environment:nth-child(n+4), tbody tr:nth-child(n+4)')"
                ".forEach((each) => each.remove())"
            )
        looks = itertools.product((390, 1200), ("light", "dark"))
        for width, scheme in looks if name == "3 x 57" else ((390, "light"), (1200, "dark")):
            visit.page.set_viewport_size({"width": width, "height": 900})
            visit.page.emulate_media(color_scheme=scheme)
            assert visit.axe() == [], (width, scheme)


@pytest.mark.parametrize(("scheme", "width"), [("light", 1200), ("dark", 390)])
def test_axe_finds_nothing_when_everything_is_open(
    browser: Any, path: Path, with_histories: Path, scheme: str, width: int
) -> None:
    for place in (path, with_histories):
        with visiting(browser, place, color_scheme=scheme, viewport={"width": width, "height": 900}) as visit:
            visit.page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
            assert visit.axe() == []


#: Presses every control many times in an order that looks random, faster than a screen is drawn.
HAMMER = """async (rounds) => {
    let seed = 7;
    const next = (count) => (seed = (seed * 16807) % 2147483647) % count;
    const controls = [...document.querySelectorAll('button:not(#download), select, input, summary')];
    const charts = [...document.querySelectorAll('svg.chart')];
    const used = new Set();
    for (let i = 0; i < rounds * controls.length; i += 1) {
        const each = i < controls.length ? controls[i] : controls[next(controls.length)];
        used.add(each);
        if (each.tagName === 'SELECT') {
            each.selectedIndex = next(each.options.length);
            each.dispatchEvent(new Event('change', { bubbles: true }));
        } else if (each.type === 'search') {
            each.value = ['', 'e', 'nothing', '\\u0000<', 'environment 1'][next(5)];
            each.dispatchEvent(new Event('input', { bubbles: true }));
        } else each.click();
        if (i % 20) continue;
        const chart = charts[next(charts.length)];
        const box = chart.getBoundingClientRect();
        chart.dispatchEvent(new PointerEvent('pointermove', { bubbles: true,
            clientX: box.x + next(100) / 100 * box.width, clientY: box.y + next(100) / 100 * box.height }));
        await new Promise(requestAnimationFrame);
    }
    return [controls.length, used.size];
}"""


def test_every_control_can_be_hammered(browser: Any, path: Path, with_histories: Path, board: tuple[str, Path]) -> None:
    for place in (board[1], *((path, with_histories) if board[0] == "2 x 1" else ())):
        with visiting(browser, place) as visit:
            controls, used = visit.page.evaluate(HAMMER, 1 if board[0] == "50 x 57" else 4)
            assert controls == used > 20
            # It still works: everything is shown again.
            visit.page.locator(".every[data-shown=true]").click()
            shown = visit.page.locator(".environment").filter(visible=True)
            if visit.page.locator("#find-environments").count():
                visit.page.locator("#find-environments").fill("")
                visit.page.get_by_role("button", name="open all").click()
                assert shown.count() == visit.page.locator(".environment[open]").count()
            else:
                assert shown.count() == 1
