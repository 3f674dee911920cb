"""Tables for pasting: the numbers of the evaluation, in every format, with any names.

The files of tests/golden/tables have the tables of fixed scores. After an intended change, regenerate them and
look at the difference::

    UNTUNED_RENEW_GOLDEN=1 .venv/bin/pytest tests/unit/test_report_tables.py -k golden && git diff tests/golden
"""

import csv
import io
import os
import re
import subprocess
from html.parser import HTMLParser
from math import inf, isnan, nan
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown import Markdown

import untuned
from support import needs
from untuned import tables
from untuned.errors import InvalidInput, UnknownName
from untuned.evaluation import Evaluation
from untuned.reports.file_names import file_names
from untuned.reports.tables.cells import Times
from untuned.reports.tables.digits import MISSING, digits_of_widths
from untuned.tables import Column, Count, Digits, Estimate, Measured, Row, Standing, Table, Text, digits

GOLDEN = Path(__file__).parents[1] / "golden" / "tables"

HORRIBLE = (
    "a&b%c$d#e_f{g}h~i^j\\k",
    "<script>alert('x')</script> | *bold* [link](x) `code` \"quoted\"",
    "line\nbreak\r\nand\ttab\x1b[31m\x00",
    "-leading --two ---three ,,''",
    "=1+1",
    "@sum",
    "x" * 120,
    "Sarsa(λ)-Ω αβγδεζηθικλμνξοπρστυφχψωςΓΔΘΛΞΠΣΥΦΨΩΑΒ",
    "Łukasz Żółć naïve ǰ Ångström ő ş ạ ß æ Œ ø \N{LATIN SMALL LETTER DOTLESS I}",
    "中文 😀 ﷽ ą Ж",
    "[0] opens a row",
    "* star",
    "\\\\ \\input{x} %",
    "“quotes” – — … × · ± ° ∞ ≤ ≥ → µ ² x₂ ?` !` <<>>",  # noqa: RUF001
)
PLACES = ("cart/pole: v1", "Cart Pole", "cart pole", "中", "[e] & _x_|y", "naïve λ")


def scores(algorithms: tuple[str, ...], environments: tuple[str, ...], trials: int) -> dict[str, dict[str, Any]]:
    """Return scores in which earlier algorithms are better, as bytes of a fixed table rather than as random numbers."""
    # Not sorted, which would be told of: 7 divides none of the numbers of trials.
    spread = np.linspace(-1.0, 1.0, trials)[np.arange(trials) * 7 % trials]
    return {
        name: {
            place: np.round((len(algorithms) - a + spread * (1 + 0.1 * e)) * 10.0 ** (3 * e - 3), 9)
            for e, place in enumerate(environments)
        }
        for a, name in enumerate(algorithms)
    }


def evaluated(given: Any, **options: Any) -> Evaluation:
    """Return the evaluation of scores that are in an order on purpose, which `untuned.evaluate` would refuse."""
    known = {name: options.pop(name) for name in ("ranges", "nonfinite") if name in options}
    return untuned.Judging(**options).judge(untuned.read_scores(given, **known))


@pytest.fixture(scope="module")
def plain() -> Evaluation:
    given = scores(("sarsa-parl2", "q_parl2", "PPO", "Sarsa(λ)"), ("maze", "arm", "cart-pole"), 900)
    # Better on the maze, as good on the arm, not tried on the cart.
    given["q_parl2"]["maze"] = given["sarsa-parl2"]["maze"]
    del given["Sarsa(λ)"]["cart-pole"]
    return evaluated(given, ranges={"maze": (-0.01, 0.01), "arm": (-10, 10)}, weights="uniform", refine=0)


@pytest.fixture(scope="module")
def horrible() -> Evaluation:
    given = scores(HORRIBLE, PLACES, 20)
    del given["=1+1"]["中"]
    return evaluated(given, weights="uniform", ranges={"Cart Pole": (-1e3, 1e3)}, refine=0)


def all_tables(evaluation: Evaluation) -> dict[str, Table]:
    found = {
        "aggregate": tables.aggregate(evaluation),
        "environments": tables.environments(evaluation),
        "pairs": tables.pairs(evaluation),
        "weights": tables.weights(evaluation),
        "head-to-head": tables.head_to_head(evaluation),
        "printed": tables.printed(evaluation),
        "printed-medians": tables.printed(evaluation, "median"),
    }
    return found | {name: tables.environment(evaluation, name) for name in evaluation.environments}


# The golden files.


def numbers_apart(text: str) -> tuple[list[str], list[float]]:
    """Return the text between decimal numbers, and the numbers: their last digits may differ between machines."""
    long = r"-?\d+\.\d+(?:e-?\d+)?"
    return re.split(long, text), [float(number) for number in re.findall(long, text)]


@pytest.mark.parametrize("ending", ["md", "tex", "csv"])
@pytest.mark.parametrize(
    "which",
    [
        "aggregate",
        "environments",
        "maze",
        "cart-pole",
        "pairs",
        "weights",
        "head-to-head",
        "printed",
        "printed-medians",
    ],
)
def test_golden(plain: Evaluation, which: str, ending: str) -> None:
    path = GOLDEN / f"{which}.{ending}"
    written = all_tables(plain)[which].written(ending)
    if os.environ.get("UNTUNED_RENEW_GOLDEN"):
        path.write_bytes(written.encode())
    (words, numbers), (expected, known) = numbers_apart(written), numbers_apart(path.read_bytes().decode())
    assert words == expected
    assert numbers == pytest.approx(known, rel=1e-9)


# The numbers.


def without_aliases(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row without the second names of its ranks, which CSV leaves out."""
    return {key: value for key, value in row.items() if key not in ("rank_worst", "rank_best")}


def test_the_aggregates_are_those_of_the_evaluation(plain: Evaluation) -> None:
    frame = polars.read_csv(io.StringIO(tables.aggregate(plain).to_csv()))
    rows = [without_aliases(row) for row in plain.rows()]
    assert frame.columns == ["algorithm", *list(rows[0])[1:]]
    assert frame.rename({"algorithm": "name"}).to_dicts() == rows


def test_the_means_are_those_of_the_evaluation_on_every_environment(plain: Evaluation) -> None:
    frame = polars.read_csv(io.StringIO(tables.environments(plain).to_csv()))
    # JSON has no infinite numbers; a table has.
    rows = [
        {key: None if value in (inf, -inf) else value for key, value in row.items()}
        for row in frame.select(list(without_aliases(plain.environment_rows()[0]))).to_dicts()
    ]
    assert rows == [without_aliases(row) for row in plain.environment_rows()]
    assert frame.filter(polars.col("environment") == "cart-pole")["mean_low"].to_list() == [-inf] * 4
    for name in plain.environments:
        one = polars.read_csv(io.StringIO(tables.environment(plain, name).to_csv()))
        assert one.equals(frame.filter(polars.col("environment") == name).drop("environment"))


def test_the_pairs_are_those_of_the_evaluation(plain: Evaluation) -> None:
    frame = polars.read_csv(io.StringIO(tables.pairs(plain).to_csv()))
    assert frame.to_dicts() == plain.pair_rows()
    by_name = dict(zip(plain.algorithms, plain.score_a, strict=True))
    for row in frame.to_dicts():
        assert row["difference"] == by_name[row["a"]] - by_name[row["b"]]


def test_head_to_head_is_that_of_the_evaluation(plain: Evaluation) -> None:
    frame = polars.read_csv(io.StringIO(tables.head_to_head(plain).to_csv()))
    assert frame.to_dicts() == plain.head_to_head_rows()
    assert "need not form an order" in tables.head_to_head(plain).caption
    alone = evaluated(scores(("a", "b"), ("x", "y"), 10), weights="game")
    assert tables.head_to_head(alone).rows == ()


def test_tables_name_the_weights_and_how_robust_verdicts_are() -> None:
    found = evaluated(scores(("a", "b", "c"), ("x", "y", "z"), 30))
    for each in found.each_ranking:
        assert tables.aggregate(each).title.endswith(each.rankings[0].title)
        assert each.under_weights in tables.aggregate(each).caption
        assert each.under_weights in tables.pairs(each).caption
    equal, game = (tables.pairs(each) for each in found.each_ranking)
    assert [column.heading for column in equal.columns[:-1]] == [column.heading for column in game.columns]
    assert "so many times its weight" in equal.caption
    for row, pair in zip(equal.rows, found.under("uniform").pair_rows(), strict=True):
        last = row.cells[-1]
        assert isinstance(last, Times)
        shown = last.shown[0]
        if pair["cap"] is None:
            assert shown == MISSING
        else:
            # Three environments: none can count more than three times a third. Rounded down: no more is known.
            if shown == "any":
                assert pair["cap"] == pytest.approx(3.0)
            else:
                assert pair["cap"] - 0.1 < float(shown.removesuffix("x")) <= pair["cap"]


def test_the_weights_are_those_of_the_evaluation() -> None:
    given = scores(("a", "b", "c"), ("x", "y"), 10)
    evaluation = evaluated(given, weights={"x": 1, "y": 3})
    table = tables.weights(evaluation)
    frame = polars.read_csv(io.StringIO(table.to_csv()))
    assert frame.filter(of="environment").drop("of").rows() == [("y", 0.75), ("x", 0.25)]
    assert frame.filter(of="reference")["weight"].sum() == pytest.approx(1.0)
    assert table.caption.endswith("They were given.")
    assert "the game's equilibrium" in tables.weights(evaluated(given)).caption
    assert tables.weights(evaluated(given).under("uniform")).caption.endswith("They are equal.")


def test_the_best_are_bold_unless_everybody_may_be_the_best(plain: Evaluation) -> None:
    bold = {row.cells[0].values[0]: row.bold for row in tables.aggregate(plain).rows}
    ranks = dict(zip(plain.algorithms, plain.ranks.best.tolist(), strict=True))
    assert bold == {name: rank == 1 for name, rank in ranks.items()}
    assert set(bold.values()) == {True, False}
    few = evaluated(scores(("a", "b"), ("x", "y"), 3))
    assert not any(row.bold for row in tables.aggregate(few).rows)
    assert "None is bold" in tables.aggregate(few).caption
    line = next(line for line in tables.aggregate(plain).to_markdown().splitlines() if "sarsa-parl2" in line)
    assert re.fullmatch(
        r"\| \*\*sarsa-parl2\*\* \| \*\*0\.\d{3}\*\* \(0\.\d{3}, 0\.\d{3}\) \| \*\*1\*\* \(\d, 1\) \|", line
    )


def test_captions_say_what_is_promised_and_what_is_wrong(plain: Evaluation) -> None:
    for table in (tables.aggregate(plain), tables.pairs(plain)):
        assert plain.claim in table.caption
        assert f"by {plain.method}, delta = 0.05" in table.caption
        for warning in plain.warnings:
            assert warning in table.caption
    cart, maze = tables.environment(plain, "cart-pole").caption, tables.environment(plain, "maze").caption
    assert "infinite end" not in cart
    assert "--range NAME=LOW:HIGH" in tables.environment(plain, "cart-pole").to_markdown()
    assert "infinite end" in tables.environments(plain).caption
    assert "A dash: there are no trials." in cart
    assert "infinite end" not in maze
    assert "A dash" not in maze
    # Anderson's intervals hold their level for every method of the aggregates.
    approximate = evaluated(plain.scores, intervals="pbp-t", weights="uniform", delta=0.07)
    assert "approximate" in tables.aggregate(approximate).caption
    assert "With probability at least 93 %" in tables.environment(approximate, "maze").caption
    assert "approximate" not in tables.environment(approximate, "maze").caption


def test_captions_name_what_failed() -> None:
    table = {"a": {"x": [np.nan] * 9, "y": [np.nan] * 9}, "b": {"x": range(9), "y": range(9)}}
    found = evaluated(table, ranges=(0, 9), nonfinite="worst").under("uniform")
    for each in (tables.aggregate, tables.pairs, tables.head_to_head, tables.environments):
        assert "a failed in all of its 18 trials" in each(found).to_markdown()
        assert "a failed in all of its 18 trials" in each(found).to_latex()


def test_an_unknown_environment_is_refused(plain: Evaluation) -> None:
    with pytest.raises(UnknownName, match="did you mean 'maze'"):
        tables.environment(plain, "mase")


# Digits.


@pytest.mark.parametrize(
    ("estimates", "shown"),
    [
        ([(469.2345, 448.3012, 489.9876)], ["469.2", "448.3", "490.0"]),
        ([(-0.0012, -0.003, 0.0006)], ["-0.00120", "-0.00300", "0.00060"]),
        ([(1.2345e9, 1.1e9, 1.3e9)], ["1.234e9", "1.100e9", "1.300e9"]),
        ([(1.2345e-7, 1.1e-7, 1.3e-7)], ["1.234e-7", "1.100e-7", "1.300e-7"]),
        ([(5e-324, 0.0, 5e-324)], ["5.00e-324", "0.00e-324", "5.00e-324"]),
        ([(1.7e308, -1.7e308, inf)], ["1.700e308", "-1.700e308", "∞"]),
        ([(3.14159, -inf, inf)], ["3.142", "-∞", "∞"]),
        ([(7.0, 7.0, 7.0)], ["7.000", "7.000", "7.000"]),
        ([(0.0, 0.0, 0.0)], ["0.0", "0.0", "0.0"]),
        ([(nan, 0.0, 10.0)], ["–", "0.0", "10.0"]),  # noqa: RUF001
        ([(nan, -inf, inf)], ["–", "-∞", "∞"]),  # noqa: RUF001
        # The narrowest interval decides, for all.
        ([(469.2345, 400.0, 500.0), (1.0, 0.5, 1.5)], ["469.23", "400.00", "500.00", "1.00", "0.50", "1.50"]),
        # A small mean in a wide interval keeps two digits.
        ([(0.0123, 0.0, 10.0)], ["0.012", "0.000", "10.000"]),
        # But the large ones do not get endless because of it.
        ([(1e-9, 0.0, 10.0)], ["0.0000", "0.0000", "10.0000"]),
    ],
)
def test_as_many_digits_as_the_interval_gives_a_meaning_to(
    estimates: list[tuple[float, float, float]], shown: list[str]
) -> None:
    written = digits(estimates)
    assert [written.shown(number) for each in estimates for number in each] == shown


@settings(deadline=None)
@given(st.lists(st.tuples(*[st.floats(-1e300, 1e300)] * 3).map(sorted), min_size=1, max_size=4))
def test_what_is_shown_is_the_number_and_ends_that_differ_look_different(numbers: list[list[float]]) -> None:
    estimates = [(value, low, high) for low, value, high in numbers]
    written = digits(estimates)
    largest = max(abs(number) for each in estimates for number in each)
    for value, low, high in estimates:
        for number in (value, low, high):
            text = written.shown(number)
            assert abs(float(text) - number) <= 0.51 * 10.0 ** (written.power - written.decimals) + 1e-14 * largest
            assert len(text) <= 30
        if high - low > 1e-12 * largest:
            assert written.shown(low) != written.shown(high)


def test_no_minus_before_zero() -> None:
    assert Digits(4).shown(-0.00001) == "0.0000"
    assert Digits(0).shown(-0.0) == "0"
    assert Digits(4).shown(-0.0001) == "-0.0001"


# Names.

NAMES = st.text(min_size=1, max_size=60)


def table_of(*names: str) -> Table:
    rows = [
        Row((Text(name), Estimate(0.5 + k, nan, inf, Digits(4)), Standing(None, 2, 2), Count(k)), bold=k % 2 == 0)
        for k, name in enumerate(names)
    ]
    columns = (
        Column("Algorithm", ("algorithm",), "text"),
        Column("Score", ("score", "low", "high"), "triple"),
        Column("Rank", ("rank", "worst", "best"), "triple"),
        Column("Trials", ("trials",), "number"),
    )
    return Table(f"Title of {names[0]}", f"Caption of {names[0]}", columns, tuple(rows))


@settings(deadline=None)
@given(st.lists(NAMES, min_size=1, max_size=5))
@example(list(HORRIBLE))
@example([' "', "\r", '""', ",", "a\n", "NaN", "=cmd|' /C calc'!A0"])
def test_csv_gives_back_every_name_and_every_number(names: list[str]) -> None:
    written = table_of(*names).to_csv()
    assert written.endswith("\n")
    # As bytes, as a program gets them: line breaks within names stay what they are.
    rows = list(csv.reader(io.TextIOWrapper(io.BytesIO(written.encode()), encoding="utf-8", newline="")))
    assert rows[0] == ["algorithm", "score", "low", "high", "rank", "worst", "best", "trials"]
    assert rows[1:] == [[name, repr(0.5 + k), "", "inf", "", "2", "2", str(k)] for k, name in enumerate(names)]
    frame = polars.read_csv(io.BytesIO(written.encode()), schema_overrides={"algorithm": polars.String})
    assert frame["algorithm"].to_list() == names
    assert frame["score"].to_list() == [0.5 + k for k in range(len(names))]


def test_csv_has_all_digits() -> None:
    numbers = (0.1 + 0.2, 1e-300, -1 / 3)
    table = Table("", "", (Column("x", ("x", "y", "z"), "triple"),), (Row((Estimate(*numbers, Digits(1)),)),))
    assert tuple(map(float, table.to_csv().splitlines()[1].split(","))) == numbers


class Cells(HTMLParser):
    """The text of all cells of all tables, by rows, and what other tags are in them."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.tags: set[str] = set()
        self.inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.inside = True
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        self.inside = self.inside and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.rows[-1][-1] += data


def parsed(html: str) -> Cells:
    cells = Cells()
    cells.feed(html)
    cells.close()
    return cells


def visible(name: str) -> str:
    """Return a name without line breaks and control characters."""
    return " ".join("".join(" " if re.match(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", x) else x for x in name).split())


@settings(deadline=None)
@given(st.lists(NAMES, min_size=1, max_size=4))
@example(list(HORRIBLE))
@example(["a\\|b", "|", "a\n| b | c |", "`|`", "**x**", "<td>", "&#124;", "\x85", "\u2028|"])
def test_markdown_keeps_its_cells_and_shows_every_name(names: list[str]) -> None:
    written = table_of(*names).to_markdown()
    lines = [line for line in written.split("\n") if line.startswith("|")]
    assert len(lines) == 2 + len(names)
    # No parser finds a tag in half a tag.
    assert not set("<>") & set(written)
    # No pipe is anything but the edge of a cell, so no parser can disagree.
    assert {line.count("|") for line in lines} == {5}
    # An external parser reads the names back; only this one does not accept a backslash before a dollar.
    html = Markdown(extensions=["tables"]).convert(written.replace("\\$", "$"))
    found = parsed(html)
    assert found.tags <= {"p", "strong", "table", "thead", "tbody", "tr", "th", "td"}
    assert [len(row) for row in found.rows] == [4] * (1 + len(names))
    for name, row in zip(names, found.rows[1:], strict=True):
        assert row[0].strip().strip("*") == visible(name).strip("*") or not visible(name).strip("*")


@settings(deadline=None)
@given(st.lists(NAMES, min_size=1, max_size=4))
@example(list(HORRIBLE))
def test_a_notebook_shows_every_name_and_nothing_else(names: list[str]) -> None:
    found = parsed(table_of(*names)._repr_html_())
    assert found.tags <= {"table", "caption", "thead", "tbody", "tr", "th", "td", "b", "p"}
    assert [row[0] for row in found.rows[1:]] == list(map(visible, names))
    assert table_of(*names)._repr_markdown_() == table_of(*names).to_markdown()


def test_latex_commands_for_letters() -> None:
    from untuned.reports.tables.escaping import in_latex

    assert in_latex("Sarsa(λ)") == r"Sarsa($\lambda$)"
    assert in_latex("é ï Å ż ß") == r"\'{e} \"{\i} \r{A} \.{z} \ss{}"
    assert in_latex("e\N{COMBINING ACUTE ACCENT}") == r"\'{e}"
    assert in_latex("a_b & 5 % of $3 #1 {x} \\y ~ ^") == (
        r"a\_b \& 5 \% of \$3 \#1 \{x\} \textbackslash{}y \textasciitilde{} \textasciicircum{}"
    )
    assert in_latex("--x") == "-{}-x"
    assert in_latex("中") == r"\ifdefined\Umathcode 中\else U+4E2D\fi{}"
    assert in_latex("a\nb\x00\x1bc") == "a b c"


@settings(deadline=None)
@given(st.text(max_size=30))
def test_latex_has_no_active_character_left(name: str) -> None:
    from untuned.reports.tables.escaping import in_latex

    written = in_latex(name)
    assert not re.search(r"(?<!\\)[%&#~](?<!\\\\)", re.sub(r"\\[~^]\{", "{", written))
    assert "\n" not in written
    # Braces are balanced for every name.
    depth = 0
    for brace in re.sub(r"\\[{}]", "", written):
        depth += (brace == "{") - (brace == "}")
        assert depth >= 0
    assert depth == 0


# LaTeX, by LaTeX.

DOCUMENT = r"""\documentclass{article}
\usepackage[margin=2cm]{geometry}
\usepackage{PACKAGES}
\begin{document}
BODY
See Table~\ref{tab:scores_1}.
\listoftables
\end{document}
"""


def compiled(folder: Path, *texts: str) -> str:
    """Return what pdflatex says of a document with these tables and the packages that they ask for."""
    program = needs.program("pdflatex", "texlive-latex-recommended")
    packages = {name for text in texts for name in re.match(r"% Needs \\usepackage{([a-z,]+)}", text)[1].split(",")}  # type: ignore[index]
    body = "\n".join(texts)
    (folder / "all.tex").write_text(
        DOCUMENT.replace("PACKAGES", ",".join(sorted(packages))).replace("BODY", body), encoding="utf-8"
    )
    for _ in range(2):
        finished = subprocess.run(
            [program, "-interaction=nonstopmode", "-halt-on-error", "all.tex"],
            cwd=folder,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=120,
            check=False,
        )
        assert finished.returncode == 0, finished.stdout[-3000:]
    return finished.stdout


@pytest.mark.latex
def test_all_tables_compile_under_horrible_names(horrible: Evaluation, tmp_path: Path) -> None:
    found = all_tables(horrible)
    assert len(found["environments"].rows) > 40
    assert "longtable" in found["environments"].to_latex()
    texts = [table.to_latex(label=f"tab:scores_{k}") for k, table in enumerate(found.values())]
    said = compiled(tmp_path, *texts)
    assert (tmp_path / "all.pdf").read_bytes().startswith(b"%PDF")
    assert "undefined references" not in said
    assert "Missing character" not in said
    # Nothing stands out of the page by more than a letter.
    assert [float(width) for width in re.findall(r"Overfull \\hbox \(([\d.]+)pt", said) if float(width) > 10] == []


def wide(rows: int, columns: int) -> Table:
    """Return a table of numbers with intervals."""
    cell = Measured(12.3, 11.8, 12.8, digits_of_widths([(12.3, 11.8, 12.8)]))
    return Table(
        f"{rows} by {columns}",
        "",
        (Column("E", ("e",), "text"), *(Column(f"c{k}", (f"c{k}", "low", "high"), "number") for k in range(columns))),
        tuple(Row((Text(f"place {row}"), *[cell] * columns)) for row in range(rows)),
    )


@pytest.mark.parametrize(("rows", "columns", "parts"), [(5, 4, [4]), (5, 7, [4, 3]), (30, 10, [5, 5])])
def test_columns_that_do_not_fit_are_parts_of_one_table(rows: int, columns: int, parts: list[int]) -> None:
    text = wide(rows, columns).to_latex()
    headings = [line for line in text.splitlines() if line.startswith("E &")]
    long = "longtable" in text
    assert long == (rows * len(parts) > 40)
    # A longtable has them again on its next pages.
    assert [line.count("&") for line in dict.fromkeys(headings)] == parts
    assert text.count("\\caption") == 1
    assert text.count("\\addtocounter{table}{-1}") == (len(parts) - 1) * long
    assert text.count("12.3") == rows * columns


@pytest.mark.latex
def test_parts_of_tables_stay_on_the_page(tmp_path: Path) -> None:
    found = [wide(5, 17), wide(30, 12), wide(70, 9)]
    said = compiled(tmp_path, *(table.to_latex(label=f"tab:scores_{k}") for k, table in enumerate(found)))
    assert "Overfull" not in said
    assert (tmp_path / "all.lot").read_text(encoding="utf-8").count("contentsline {table}") == len(found)


@pytest.mark.latex
def test_all_tables_of_few_rows_compile_without_longtable(plain: Evaluation, tmp_path: Path) -> None:
    texts = [table.to_latex(label=f"tab:scores_{k}") for k, table in enumerate(all_tables(plain).values())]
    assert not any("longtable" in text for text in texts)
    assert not any("array" in text.splitlines()[0] for text in texts)
    compiled(tmp_path, *texts)


@pytest.mark.parametrize("label", ["a}b", "a b\n", "tab:100%", "\\x", "", " ", "a,b"])
def test_a_label_that_would_break_the_document_is_refused(plain: Evaluation, label: str) -> None:
    with pytest.raises(InvalidInput, match="for example 'tab:scores'"):
        tables.aggregate(plain).to_latex(label)


# Files.


def test_a_file_s_name_says_how_it_is_written(plain: Evaluation, tmp_path: Path) -> None:
    table = tables.aggregate(plain)
    assert table.save(tmp_path / "a.md").read_bytes().decode() == table.to_markdown()
    assert table.save(tmp_path / "a.CSV").read_bytes().decode() == table.to_csv()
    assert table.save(str(tmp_path / "a.tex")).read_bytes().decode() == table.to_latex()
    for name in ("a.pdf", "a", "a.md.gz"):
        with pytest.raises(InvalidInput, match=r"\.md, \.csv, \.tex or \.html"):
            table.save(tmp_path / name)
    with pytest.raises(InvalidInput, match="cannot be written"):
        table.save(tmp_path / "nowhere" / "a.md")
    with pytest.raises(InvalidInput, match="md, csv, tex or html"):
        table.written("pdf")


def test_everything_is_saved_under_names_that_every_system_takes(horrible: Evaluation, tmp_path: Path) -> None:
    paths = tables.save_all(horrible, tmp_path / "new" / "folder")
    assert sorted(paths) == sorted((tmp_path / "new" / "folder").iterdir())
    assert len(paths) == len(set(paths)) == 3 * (7 + len(PLACES))
    stems = [path.stem for path in paths if path.suffix == ".csv"]
    assert stems[7:] == [
        "environment-cart-pole-v1",
        "environment-cart-pole",
        "environment-cart-pole-2",
        "environment-unnamed",
        "environment-e-x-y",
        "environment-naive",
    ]
    for place, stem in zip(PLACES, stems[7:], strict=True):
        written = (tmp_path / "new" / "folder" / f"{stem}.md").read_bytes().decode()
        assert written == tables.environment(horrible, place).to_markdown()
    assert [path.name for path in tables.save_all(horrible, tmp_path / "one", formats=["csv", "csv"])][:2] == [
        "aggregate.csv",
        "pairs.csv",
    ]


@settings(deadline=None)
@given(st.lists(st.one_of(NAMES, st.sampled_from(["x", "X", "x-2", "x 2", "con", "é", "e", "y" * 300])), unique=True))
@example(["x", "X", "x-2", "x 2"])
def test_no_two_files_share_a_name(names: list[str]) -> None:
    files = file_names(names)
    assert list(files) == names
    assert len(set(files.values())) == len(names)
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", file) and len(file) < 80 for file in files.values())


def test_formats_and_folders_that_do_not_exist_are_refused(plain: Evaluation, tmp_path: Path) -> None:
    for wrong in (["htm"], [], ["md", "pdf"]):
        with pytest.raises(InvalidInput, match="md, csv, tex"):
            tables.save_all(plain, tmp_path, formats=wrong)
    with pytest.raises(InvalidInput, match="one string"):
        tables.save_all(plain, tmp_path, formats="md")
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidInput, match="cannot be made"):
        tables.save_all(plain, tmp_path / "file")


def test_what_is_not_measured_is_a_dash_and_what_is_not_bounded_infinite(plain: Evaluation) -> None:
    table = tables.environment(plain, "cart-pole")
    last = table.rows[-1].cells
    assert isinstance(last[1], Estimate)
    assert isnan(last[1].value)
    assert table.to_markdown().splitlines()[7] == "| Sarsa(λ) | – | 0 |"  # noqa: RUF001
    assert "Sarsa($\\lambda$) & -- & 0 \\\\" in table.to_latex()
    assert table.to_csv().splitlines()[-1] == "Sarsa(λ),,-inf,inf,,4,1,0"


# The table that papers print.


def test_a_printed_table_has_the_means_and_medians_and_their_intervals(plain: Evaluation) -> None:
    mean, median = tables.printed(plain), tables.printed(plain, "median")
    order = [plain.algorithms[a] for a in plain.each_ranking[0].order]
    assert [column.heading for column in mean.columns[1:]] == order
    for e, place in enumerate(plain.environments):
        for table, value in ((mean, np.mean), (median, np.median)):
            assert table.rows[e].cells[0] == Text(place)
            for name, cell in zip(order, table.rows[e].cells[1:], strict=True):
                scores = plain.scores.cell(name, place)
                assert isinstance(cell, Measured)
                if scores.size:
                    assert cell.value == pytest.approx(value(scores))
                    assert cell.low <= cell.value <= cell.high
                else:
                    assert isnan(cell.value)
    assert mean.rows[-1].cells[1].values == pytest.approx(
        (plain.score_a.max(), plain.interval(order[0])[0], plain.interval(order[0])[1])
    )
    with pytest.raises(InvalidInput, match="'mean' or 'median'"):
        tables.printed(plain, "mode")  # type: ignore[arg-type]


def test_a_printed_table_is_bold_where_none_is_shown_to_be_better() -> None:
    spread = np.linspace(-1.0, 1.0, 101)[np.arange(101) * 7 % 101]
    given = {
        "a": {"x": spread + 9, "y": spread},
        "b": {"x": spread + 8.9, "y": spread + 0.01},
        "c": {"x": spread, "y": spread - 0.01},
    }
    found = evaluated(given, weights="game")
    table = tables.printed(found)
    best = {table.columns[number].heading for number in table.rows[0].best}
    assert best == {"a", "b"}
    # Of the second row nothing is known.
    assert table.rows[1].best == frozenset()
    lines = table.to_markdown().splitlines()
    assert sum(line.count("**") for line in lines[4:6]) == 4


def test_a_printed_table_of_few_trials_has_no_intervals() -> None:
    found = evaluated(scores(("a", "b"), ("x", "y"), 3))
    for statistic in ("mean", "median"):
        table = tables.printed(found, statistic)
        cells = [cell for row in table.rows[:2] for cell in row.cells[1:]]
        assert not any(isinstance(cell, Measured) and cell.distances for cell in cells)
        assert "left out" in table.caption


@pytest.mark.parametrize(
    ("value", "low", "high", "shown", "latex"),
    [
        (0.5, 0.35, 0.65, "0.50 ± 0.15", "$0.50 \\pm 0.15$"),
        (0.5, 0.3, 0.6, "0.50 (0.30, 0.60)", "$0.50_{-0.20}^{+0.10}$"),
        (0.5, -inf, inf, "0.500", "$0.500$"),
        (nan, -inf, inf, MISSING, "--"),
        (-12345.0, -12500.0, -12190.0, "-12345 ± 155", "$-12345 \\pm 155$"),
    ],
)
def test_digits_of_a_printed_number_are_those_its_interval_allows(
    value: float, low: float, high: float, shown: str, latex: str
) -> None:
    cell = Measured(value, low, high, digits_of_widths([(value, low, high)]))
    if isnan(value):
        assert cell.shown == (shown,)
    table = Table(
        "t", "c", (Column("E", ("e",), "text"), Column("x", ("x", "low", "high"), "number")), (Row((Text("e"), cell)),)
    )
    assert f"| {shown} |" in table.to_markdown()
    assert f"& {latex} \\\\" in table.to_latex()
    assert f"<td>{shown}</td>" in table.to_html()
