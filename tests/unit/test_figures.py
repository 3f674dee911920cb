"""Figures: what is drawn is what was found, names are shown as they are, files are the same every time.

Golden pictures are in tests/golden/figures. After a change of looks that is meant, draw them again and look at each:

    UNTUNED_RENEW_GOLDEN=1 .venv/bin/pytest tests/unit/test_figures.py -k golden
"""

import dataclasses
import functools
import html
import itertools
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection, QuadMesh
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.testing.compare import compare_images
from matplotlib.text import Text

import untuned
from support.judging import evaluate, with_ranking
from untuned import figures, summaries
from untuned.errors import InvalidInput, UnknownName
from untuned.evaluation import Evaluation, Means, PercentileTable, Ranking, Ranks, percent
from untuned.histories import Histories, History
from untuned.judge.intervals.dkw import band
from untuned.judge.judging import Judging
from untuned.reports.bands import bands
from untuned.reports.curves import learning_curve, response, sample_efficiency
from untuned.reports.figures.canvas import number_text
from untuned.reports.figures.illustration import placed
from untuned.reports.figures.naming import LONGEST, short, shown
from untuned.reports.figures.score_axis import POINTS, distribution_steps, quantile_steps, view_of
from untuned.reports.file_names import file_names
from untuned.reports.styles import styles
from untuned.scores import Floats, ScoreTable
from untuned.verdicts import Pairs

GOLDEN = Path(__file__).parents[1] / "golden" / "figures"
#: Root mean square of the difference of pixels, of 255; letters drawn by another version of a font library differ by
#: less, a line that is missing or of another colour by more.
TOLERANCE = 3.0

HORRIBLE = (
    "$x_1$ 100 %",
    "_underscore",
    "<script>alert(1)</script>",
    "back\\slash {brace",
    "Sarsa(\N{GREEK SMALL LETTER LAMDA})",
    "two\nlines",
    "\u4e2d\u6587",
    "x" * 80,
)


def spread(count: int, start: int = 0) -> Floats:
    """Return numbers in (0, 1), evenly and in no order, the same on every machine."""
    parts: Floats = np.modf((np.arange(start, start + count) + 0.5) * 0.6180339887498949)[0]
    return parts


def normal(count: int, mean: float, scale: float, start: int = 0) -> Floats:
    p = spread(count, start)
    values: Floats = mean + scale * np.log(p / (1.0 - p)) / 1.6
    return values


def table(algorithms: tuple[str, ...], environments: tuple[str, ...], trials: int, **options: Any) -> ScoreTable:
    scores = {
        name: {
            place: np.round(normal(trials, 1.3 * a * (-1) ** (e % 3 == 2) - 10.0 * e, 1.0 + e, 97 * a + 13 * e), 3)
            for e, place in enumerate(environments)
        }
        for a, name in enumerate(algorithms)
    }
    return ScoreTable.from_dict(scores, **options)


def found(scores: ScoreTable, *, valid: bool = True, width: float = 0.06) -> Evaluation:
    """Return an evaluation with plausible numbers, without judging: figures must draw all of it."""
    n, m = len(scores.algorithms), len(scores.environments)
    score_a = np.linspace(0.2, 0.8, n)
    difference = score_a[:, None] - score_a[None, :]
    mean_ae = np.array([[cell.mean() if cell.size else np.nan for cell in row] for row in scores.cells])
    places = []
    for e in range(m):
        order = np.argsort(-mean_ae[:, e], kind="stable")
        rank = np.empty(n, dtype=np.int64)
        rank[order] = np.arange(1, n + 1)
        places.append(Ranks(rank, np.minimum(rank + 1, n), np.maximum(rank - 1, 1)))
    q_er = 1.0 + np.add.outer(np.arange(m), 2.0 * np.arange(n))
    rank_a = n - np.arange(n, dtype=np.int64)
    return Evaluation(
        judging=Judging(intervals="pairing" if valid else "bootstrap"),
        algorithms=scores.algorithms,
        environments=scores.environments,
        rankings=(
            Ranking(
                weights="game",
                method="pairing" if valid else "bootstrap",
                q_er=q_er / q_er.sum(),
                score_a=score_a,
                low_a=score_a - width,
                high_a=score_a + width / 2,
                ranks=Ranks(rank_a, rank_a, rank_a),
                pairs=Pairs(difference - 2 * width, difference + 2 * width),
            ),
        ),
        percentiles=PercentileTable(np.full((n, m, n), 0.5), None, None),
        means=Means(mean_ae, mean_ae - 1.0, mean_ae + 1.0, tuple(places)),
        trials_ae=scores.trials,
        ranges=scores.ranges,
        scores=scores,
    )


@functools.cache
def example() -> Evaluation:
    return found(table(("plain", "careful", "bold"), ("hill", "maze", "pond", "road"), 60, ranges=(-100.0, 100.0)))


@functools.cache
def judged() -> Evaluation:
    return evaluate(table(("plain", "careful", "bold"), ("hill", "maze"), 40), intervals="kl", refine=0)


def history(trials: int = 40, start: int = 0) -> History:
    rates = 10.0 ** (-4.0 + 3.0 * spread(trials, start))
    scores = -np.square(np.log10(rates) + 2.5) + 0.2 * spread(trials, start + 5)
    returns = tuple(
        np.concatenate([-50.0 / np.arange(1.0, 31.0) + score + normal(30, 0.0, 0.3, 7 * number)])
        for number, score in enumerate(scores)
    )
    return History(
        scores,
        {
            "rate": tuple(rates.tolist()),
            "greedy": tuple(bool(p > 0.4) for p in spread(trials, 3)),
            "kind": tuple(("a$b", "_c", None)[int(3 * p)] for p in spread(trials, 9)),
            "fixed": (1.0,) * trials,
        },
        {"rate": "ln-uniform(0.0001, 0.1)", "greedy": "one of True, False", "kind": "one of 'a$b', '_c'", "fixed": "1"},
        returns,
    )


def histories(
    algorithms: tuple[str, ...] = ("careful", "bold"), places: tuple[str, ...] = ("hill", "maze")
) -> Histories:
    cells = {(a, e): history(start=11 * i + j) for i, a in enumerate(algorithms) for j, e in enumerate(places)}
    return Histories(cells, 500)


def logged() -> Histories:
    """Return runs with steps of their own, as other programs log them; one algorithm lacks an environment."""
    cells = {}
    for a, name in enumerate(("careful", "bold", "plain")):
        for e, (place, end) in enumerate({"hill": 1_000_000.0, "maze": 400_000.0, "pond": 400_000.0}.items()):
            steps = [np.append(np.sort(np.round(end * spread(60, 5 * a + 7 * run))), end) for run in range(10)]
            values = [
                (a + 1.0) * (1.0 - np.exp((a - 4.0) * at / end)) + normal(61, 0.0, 0.4, 31 * a + 17 * e + 13 * run)
                for run, at in enumerate(steps)
            ]
            scores = np.array([each[-5:].mean() for each in values])
            cells[name, place] = History(scores, {}, {}, tuple(values), tuple(steps), tuple(map(str, range(10))))
    del cells["plain", "pond"]
    return Histories(cells, 500, unit="step")


def figure_of(drawn: Any) -> Figure:
    ax = drawn[0] if isinstance(drawn, list) else drawn
    if isinstance(ax, Figure):
        return ax
    figure = ax.get_figure(root=True)
    assert isinstance(figure, Figure)
    return figure


def new_axes() -> Axes:
    return Figure().add_subplot()


def texts(drawn: Any) -> list[str]:
    """Return all texts that a figure shows."""
    figure = figure_of(drawn)
    figure.draw_without_rendering()
    return [text.get_text() for text in figure.findobj(Text) if text.get_visible()]


def legend_of(drawn: Any) -> Legend:
    figure = figure_of(drawn)
    made = [*figure.legends, *(each for ax in figure.axes if (each := ax.get_legend()) is not None)]
    assert len(made) == 1
    return made[0]


def colours(drawn: Any) -> set[str]:
    figure = figure_of(drawn)
    return {to_hex(line.get_color()) for ax in figure.axes for line in lines_of(ax)}


def lines_of(ax: Axes) -> list[Any]:
    return list(ax.get_lines())


def patches_of(ax: Axes) -> list[Any]:
    return list(ax.patches)


def grounds_of(ax: Axes) -> Any:
    """Return the colours of a matrix's cells, [row, column, colour]."""
    (mesh,) = [each for each in ax.collections if isinstance(each, QuadMesh)]
    return np.asarray(mesh.get_array())


def heights_of(area: Any) -> list[float]:
    """Return the heights of the corners of an area."""
    return [float(y) for y in area.get_paths()[0].vertices[:, 1]]


def labelled(ax: Axes, name: str) -> Any:
    (line,) = [line for line in lines_of(ax) if line.get_label() == name]
    return line


@functools.cache
def summarized() -> summaries.Summaries:
    return summaries.summarize(example(), ["profile", "poi"], normalise="min-max", resamples=100, seed=1)


SINGLE: dict[str, Callable[..., Axes]] = {
    "aggregate": lambda **o: figures.aggregate(example(), **o),
    "aggregates": lambda **o: figures.aggregate(
        example(), compare_with=[found(example().scores, valid=False, width=0.02)], **o
    ),
    "quantiles": lambda **o: figures.quantiles(example(), "maze", **o),
    "distributions": lambda **o: figures.distributions(example(), "maze", **o),
    "percentile": lambda **o: figures.percentile_illustration(judged(), "maze", **o),
    "trials": lambda **o: figures.trials_effect(example(), "bold", "hill", sizes=(5, 20, 1000), **o),
    "ranks": lambda **o: figures.ranks(example(), **o),
    "verdicts": lambda **o: figures.verdict_matrix(example(), **o),
    "critical": lambda **o: figures.critical_difference(found(example().scores, width=0.2), **o),
    "order": lambda **o: figures.partial_order(example(), **o),
    "weights": lambda **o: figures.weights(example(), **o),
    "forest": lambda **o: figures.forest(example(), **o),
    "strip": lambda **o: figures.strip(example(), "hill", **o),
    "learning": lambda **o: figures.learning_curves(histories(), "hill", order=example().algorithms, **o),
    "efficiency": lambda **o: figures.sample_efficiency(logged(), order=example().algorithms, **o),
    "profile": lambda **o: figures.performance_profile(summarized(), **o),
    "improvement": lambda **o: figures.probability_of_improvement(summarized(), **o),
    "hyperparameter": lambda **o: figures.hyperparameter(histories(), "bold", "hill", "rate", **o),
}
GRIDS: dict[str, tuple[int, Callable[..., list[Axes]]]] = {
    "quantile_grid": (4, lambda **o: figures.quantile_grid(example(), **o)),
    "distribution_grid": (4, lambda **o: figures.distribution_grid(example(), **o)),
    "strip_grid": (4, lambda **o: figures.strip_grid(example(), **o)),
    "learning_grid": (2, lambda **o: figures.learning_curve_grid(histories(), order=example().algorithms, **o)),
    "hyperparameter_grid": (3, lambda **o: figures.hyperparameter_grid(histories(), "bold", environment="hill", **o)),
}


# --- all figures


@pytest.mark.parametrize("name", SINGLE)
def test_a_figure_is_drawn_where_asked(name: str) -> None:
    ax = new_axes()
    assert SINGLE[name](ax=ax) is ax
    assert ax.has_data() or ax.texts
    assert len(figure_of(ax).axes) == 1
    own = SINGLE[name]()
    assert len(figure_of(own).axes) == 1
    assert own.get_legend() is None or name == "verdicts"
    width, height = figure_of(own).get_size_inches()
    assert 2.5 <= width <= 7.1
    assert 0.8 <= height <= 7.0


@pytest.mark.parametrize("name", GRIDS)
def test_a_grid_is_drawn_where_asked(name: str) -> None:
    count, draw = GRIDS[name]
    axes = list(Figure().subplots(1, count))
    assert draw(ax=axes) == axes
    assert all(ax.has_data() for ax in axes)
    own = draw()
    assert len(own) == count
    assert {figure_of(ax) for ax in own} == {figure_of(own)}
    with pytest.raises(InvalidInput, match=f"ax has 1 Axes for {count} plots"):
        draw(ax=axes[:1])


@pytest.mark.parametrize("name", [*SINGLE, *GRIDS, "summary"])
def test_golden(name: str, tmp_path: Path) -> None:
    drawn = figures.summary(example()) if name == "summary" else SINGLE[name]() if name in SINGLE else GRIDS[name][1]()
    file = (GOLDEN if os.environ.get("UNTUNED_RENEW_GOLDEN") else tmp_path) / f"{name}.png"
    figure_of(drawn).savefig(file, dpi=60, metadata={"Software": None})
    assert compare_images(str(GOLDEN / f"{name}.png"), str(file), TOLERANCE) is None


def test_an_algorithm_looks_the_same_in_all_figures() -> None:
    looks = styles(example().algorithms)
    for name in ("plain", "careful", "bold"):
        for draw in (figures.quantiles, figures.distributions):
            line = labelled(draw(example(), "hill", algorithms=["bold", name] if name != "bold" else ["bold"]), name)
            assert line.get_color() == looks[name].colour
            assert line.get_marker() == looks[name].marker
    everybody = {look.colour.lower() for look in looks.values()}
    assert everybody <= colours(figures.aggregate(example()))
    assert everybody <= colours(figures.quantile_grid(example()))
    # The first of the study has no histories; the others keep their looks.
    curve = labelled(SINGLE["learning"](), "careful")
    assert curve.get_color() == looks["careful"].colour
    assert labelled(figures.learning_curves(histories(), "hill"), "careful").get_color() == looks["plain"].colour
    boxes = {text.get_text(): text.get_bbox_patch() for text in figures.partial_order(example()).texts}
    assert {name: to_hex(box.get_edgecolor()) for name, box in boxes.items() if box} == {
        name: look.colour.lower() for name, look in looks.items()
    }


def test_names_are_shown_as_they_are() -> None:
    places = ("$e$", *HORRIBLE[4:7])
    evaluation = found(table(HORRIBLE, places, 8))
    labels = shown(HORRIBLE)
    assert labels["two\nlines"] == "two\\nlines"
    assert labels["\u4e2d\u6587"] == "\\u4e2d\\u6587"
    assert labels["$x_1$ 100 %"] == "$x_1$ 100 %"
    assert [text.get_text() for text in legend_of(figures.quantiles(evaluation, places[0])).get_texts()] == [
        labels[name] for name in HORRIBLE
    ]
    cells = {(name, places[start % 4]): history(12, start) for start, name in enumerate(HORRIBLE)}
    left = Histories(cells, 12)
    for drawn in (
        figures.aggregate(evaluation),
        figures.quantile_grid(evaluation),
        figures.distribution_grid(evaluation),
        figures.verdict_matrix(evaluation),
        figures.ranks(evaluation),
        figures.weights(evaluation),
        figures.learning_curve_grid(left),
    ):
        seen = texts(drawn)
        # Names in a narrow grid are cut shorter; a legend or an axis has them whole.
        assert set(labels.values()) <= set(seen)
        assert not any("two\n" in text for text in seen)
        formulas = [each for each in figure_of(drawn).findobj(Text) if "$" in each.get_text()]
        assert formulas
        assert not any(each.get_parse_math() for each in formulas)
    assert "Sarsa(\N{GREEK SMALL LETTER LAMDA})" in texts(figures.partial_order(evaluation))
    page = figures.summary(evaluation)
    page.savefig(os.devnull, format="png", dpi=30)
    drawn_grid = figures.hyperparameter_grid(left, HORRIBLE[0], environment=places[0])
    assert {"a$b", "_c", "None"} <= set(texts(drawn_grid))
    assert drawn_grid[0].get_xlabel()[:4] == "rate"


def test_long_names_lose_their_middle_and_stay_apart() -> None:
    assert short("a" * LONGEST) == "a" * LONGEST
    cut = short("begin" + "x" * 80 + "end")
    assert len(cut) == LONGEST
    assert cut.startswith("begin")
    assert cut.endswith("end")
    assert "\N{HORIZONTAL ELLIPSIS}" in cut
    one, two = "a" * 40 + "1" + "b" * 40, "a" * 40 + "2" + "b" * 40
    labels = shown([one, two])
    assert labels[one] != labels[two]
    assert max(map(len, labels.values())) <= LONGEST


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (0.25, "0.25"),
        (-3.0, "\N{MINUS SIGN}3"),
        (12345.0, "12,345"),
        (1e-5, "1e\N{MINUS SIGN}5"),
        (2.5e7, "2.5e7"),
    ],
)
def test_numbers_are_short(value: float, text: str) -> None:
    assert number_text(value) == text


def test_percentages_are_exact() -> None:
    assert percent(0.05) == "95 %"
    assert percent(0.07) == "93 %"
    assert percent(1e-6) == "99.9999 %"


@pytest.mark.parametrize(
    "call",
    [
        lambda: figures.quantiles(example(), "hil"),
        lambda: figures.quantiles(example(), "hill", algorithms=["plane"]),
        lambda: figures.quantile_grid(example(), environments=["mase"]),
        lambda: figures.percentile_illustration(example(), "mase"),
        lambda: figures.percentile_illustration(example(), "maze", reference="blod"),
        lambda: figures.trials_effect(example(), "blod", "maze"),
        lambda: figures.trials_effect(example(), "bold", "mase"),
        lambda: figures.learning_curves(histories(), "mase"),
        lambda: figures.learning_curves(histories(), "maze", algorithms=["blod"]),
        lambda: figures.learning_curve_grid(histories(), environments=["mase"]),
        lambda: figures.hyperparameter(histories(), "blod", "maze", "rate"),
        lambda: figures.hyperparameter(histories(), "bold", "mase", "rate"),
        lambda: figures.hyperparameter(histories(), "bold", "maze", "rat"),
        lambda: figures.hyperparameter_grid(histories(), "blod", environment="maze"),
    ],
)
def test_unknown_names_are_refused_with_the_nearest(call: Callable[[], object]) -> None:
    with pytest.raises(UnknownName, match=r"did you mean '(hill|plain|maze|bold|rate)'"):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: figures.quantiles(example(), "hill", algorithms="bold"), "one string"),
        (lambda: figures.quantile_grid(example(), environments=[]), "at least one environment"),
        (lambda: figures.trials_effect(example(), "bold", "hill", sizes=(0,)), "at least 1"),
        (lambda: figures.aggregate(example(), compare_with=[judged()]), "other algorithms or environments"),
        (lambda: figures.learning_curves(histories(), "hill", algorithms=[]), "at least one"),
    ],
)
def test_mistakes_are_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        call()


# --- aggregates


def test_aggregates_are_dots_with_intervals_the_best_on_top() -> None:
    ax = figures.aggregate(example())
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["bold", "careful", "plain"]
    assert ax.get_ylim()[0] > ax.get_ylim()[1]
    lines = [line for line in lines_of(ax) if len(line.get_xdata()) == 2 and line.get_xdata()[1] != 1]
    drawn = [(*line.get_xdata(), line.get_ydata()[0], line.get_linestyle()) for line in lines]
    rows = example().rows()
    assert drawn == [(row["low"], row["high"], place, "-") for place, row in enumerate(rows)]
    dots = {float(line.get_xdata()[0]) for line in lines_of(ax) if line.get_marker() in "os^D"}
    assert dots == {row["score"] for row in rows}
    assert figures.caption(ax) == (
        "Aggregate scores, with intervals by pairing. "
        "Under the game's weights all intervals hold together with probability at least 95 %."
    )


def test_methods_are_side_by_side_and_approximate_ones_differ() -> None:
    ax = SINGLE["aggregates"]()
    words = [text.get_text() for text in legend_of(ax).get_texts()]
    assert words == ["Pairing, guaranteed", "Bootstrap, approximate"]
    intervals = [line for line in lines_of(ax) if len(line.get_xdata()) == 2 and line.get_marker() == "None"]
    solid = [line for line in intervals if line.get_linestyle() == "-" and line.get_linewidth() > 1]
    dashed = [line for line in intervals if line.get_linestyle() == "--"]
    assert len(solid) == len(dashed) == 3
    for one, other in zip(solid, dashed, strict=True):
        # Under one another, within the stripe of the algorithm.
        assert 0.0 < other.get_ydata()[0] - one.get_ydata()[0] < 0.5
        assert one.get_color() == other.get_color()
    hollow = [line for line in lines_of(ax) if line.get_markerfacecolor() == "white"]
    assert len(hollow) == 3


# --- captions


def test_no_figure_says_what_belongs_into_its_caption(tmp_path: Path) -> None:
    """The probability is in the caption, not in the picture; a whole page has its claim."""
    for name, draw in SINGLE.items():
        drawn = draw()
        assert not any("95 %" in text or "together" in text for text in texts(drawn)), name
    for name in ("aggregate", "aggregates", "verdicts", "order", "forest", "critical", "quantiles", "profile"):
        drawn = SINGLE[name]()
        words = figures.caption(drawn)
        assert words.count("95 %") == 1, name
        figure = figure_of(drawn)
        assert figures.caption([drawn]) == figures.caption(figure) == words
        saved = figures.save(figure, tmp_path / f"{name}.svg").read_text(encoding="utf-8")
        assert html.escape(words, quote=False) in saved
    assert figures.caption(figures.weights(example())) == ""


# --- distributions


def test_a_quantile_function_of_few_trials_has_all_its_steps() -> None:
    scores = ScoreTable.from_dict({"a": {"e": [3.0, 1.0, 2.0, 2.0, 10.0]}, "b": {"e": [0.0]}})
    ax = figures.quantiles(found(scores), "e", algorithms=["a"])
    line = labelled(ax, "a")
    assert line.get_drawstyle() == "steps-pre"
    x, y = line.get_xdata(), line.get_ydata()
    assert (x[0], x[-1]) == (0.0, 1.0)
    assert set(np.round([0.2, 0.6, 0.8, 1.0], 12)) <= set(np.round(x, 12))
    expected = np.quantile([3.0, 1.0, 2.0, 2.0, 10.0], x[1:] - 1e-9, method="inverted_cdf")
    np.testing.assert_array_equal(y[1:], expected)
    assert y[0] == 1.0


def test_curves_of_many_trials_are_thinned_and_exact_where_they_are_drawn() -> None:
    evaluation = found(table(("a", "b"), ("e",), 5_000))
    scores = evaluation.scores.cell("a", "e")
    line = labelled(figures.quantiles(evaluation, "e"), "a")
    x, y = line.get_xdata(), line.get_ydata()
    assert x.size == POINTS + 1
    np.testing.assert_array_equal(y[1:], np.quantile(scores, x[1:] - 1e-9, method="inverted_cdf"))
    line = labelled(figures.distributions(evaluation, "e"), "a")
    assert line.get_drawstyle() == "steps-post"
    x, y = line.get_xdata(), line.get_ydata()
    assert 100 < x.size <= POINTS + 4
    np.testing.assert_allclose(y, [(scores <= each).mean() for each in x], atol=1e-12)
    # No step of the thinned curve is one that can be seen.
    assert np.diff(y).max() < 0.02


def test_bands_are_those_of_all_cells_together() -> None:
    evaluation = example()
    known = bands(evaluation)
    ax = figures.quantiles(evaluation, "maze", algorithms=["careful"])
    assert figures.caption(ax).startswith("All 12 bands hold together with probability at least 95 %; drawn where")
    area: Any = ax.collections[0]
    assert len(ax.collections) == 1
    steps = quantile_steps(known["careful", "maze"])
    heights = heights_of(area)
    # Where one side has no bound but the range there is no band.
    margin = known["careful", "maze"].margin
    assert all(margin - 1e-6 <= x <= 1 - margin + 1e-6 for x, _ in area.get_paths()[0].vertices)
    assert known["careful", "maze"].support == (-100.0, 100.0)
    assert steps.low[1] == -100.0
    low, high = ax.get_ylim()
    corners = {tuple(corner) for corner in area.get_paths()[0].vertices.tolist()}
    for end in (steps.low, steps.high):
        both = zip(steps.x.tolist(), end.tolist(), strict=True)
        inside = [(x, y) for x, y in both if low < y < high and margin < x < 1 - margin]
        assert len(inside) > 20
        assert set(inside) <= corners
    assert np.isfinite(heights).all()
    np.testing.assert_array_equal(steps.low[1:], known["careful", "maze"].quantiles(steps.x[1:])[1])


def test_the_band_of_a_distribution_function() -> None:
    scores = np.array([1.0, 2.0, 2.0, 4.0] * 10)
    evaluation = found(ScoreTable.from_dict({"a": {"e": scores}, "b": {"e": scores}}, ranges=(0.0, 5.0)))
    known = bands(evaluation)["a", "e"]
    steps = distribution_steps(known, view_of([scores]))
    assert steps.x.tolist() == [0.0, 1.0, 2.0, 4.0, 5.0]
    assert steps.estimate.tolist() == [0.0, 0.25, 0.75, 1.0, 1.0]
    np.testing.assert_allclose(steps.high, [known.margin, 0.25 + known.margin, 0.75 + known.margin, 1.0, 1.0])
    np.testing.assert_allclose(steps.low, [0.0, 0.25 - known.margin, 0.75 - known.margin, 1.0 - known.margin, 1.0])


def test_missing_cells_single_trials_and_constants_are_drawn() -> None:
    scores = ScoreTable.from_dict(
        {
            "a": {"x": [1.0], "y": [2.0] * 9, "z": []},
            "b": {"x": [], "y": [2.0] * 5, "z": []},
            "c": {"x": [1.0, 5.0], "y": [2.0], "z": []},
        }
    )
    evaluation = found(scores)
    axes = figures.quantile_grid(evaluation)
    assert [len(lines_of(ax)) for ax in axes] == [2, 3, 0]
    assert "1 without trials" in [text.get_text() for text in axes[0].texts]
    assert "no trials" in [text.get_text() for text in axes[2].texts]
    assert axes[1].get_ylim()[0] < 2.0 < axes[1].get_ylim()[1]
    assert len(legend_of(axes).get_texts()) == 3
    rows = [text.get_text() for text in figures.ranks(evaluation).texts]
    assert rows.count("\N{EN DASH}") == 4
    with pytest.raises(InvalidInput, match="there are no trials of 'b' on 'x'"):
        figures.trials_effect(evaluation, "b", "x")
    with pytest.raises(InvalidInput, match="those with trials are none"):
        figures.percentile_illustration(evaluation, "z")
    with pytest.raises(InvalidInput, match="those with trials are 'c', 'a'"):
        figures.percentile_illustration(evaluation, "x", reference="b")
    figures.summary(evaluation).savefig(os.devnull, format="png", dpi=30)
    figure_of(figures.distribution_grid(evaluation)).savefig(os.devnull, format="png", dpi=30)


def test_an_outlier_does_not_squeeze_the_view() -> None:
    bulk = np.linspace(-210.0, -190.0, 1000)
    view = view_of([np.append(bulk, -5000.0)])
    assert view.low > -215.0
    assert view.lowest == -5000.0
    assert view.centre is None
    ax = figures.quantiles(found(ScoreTable.from_dict({"a": {"e": np.append(bulk, -5000.0)}, "b": {"e": bulk}})), "e")
    assert "scores down to \N{MINUS SIGN}5,000" in [text.get_text() for text in ax.texts]


def test_a_tail_is_seen_on_an_uneven_scale() -> None:
    # Nine in ten within 20, one in ten down to -5000.
    scores = np.concatenate([np.linspace(-210.0, -190.0, 900), np.linspace(-5000.0, -220.0, 100)])
    view = view_of([scores])
    assert view.centre == pytest.approx(-200.0, abs=3.0)
    assert view.low < -4500.0
    ax = figures.quantiles(found(ScoreTable.from_dict({"a": {"e": scores}, "b": {"e": scores}})), "e")
    assert "uneven scale" in [text.get_text() for text in ax.texts]
    to_screen = ax.transData.transform([(0.5, -210.0), (0.5, -190.0), (0.5, view.low), (0.5, view.high)])[:, 1]
    assert (to_screen[1] - to_screen[0]) / (to_screen[3] - to_screen[2]) > 0.15
    ticks = ax.get_yticks()
    assert ticks.size >= 4
    assert (np.diff(ticks) > 0).all()


def test_views_of_nothing_and_of_little() -> None:
    assert view_of([]).low < view_of([]).high
    assert view_of([np.array([math.inf, 3.0])]).lowest == 3.0
    constant = view_of([np.full(5, -4.0)])
    assert constant.low < -4.0 < constant.high
    assert view_of([np.array([0.0, 1.0])]).low == pytest.approx(-0.04)


def test_trials_effect_takes_the_first_trials() -> None:
    ax = figures.trials_effect(example(), "bold", "hill", sizes=(5, 20, 60, 1_000))
    assert [text.get_text() for text in legend_of(ax).get_texts()] == ["5 trials", "20 trials", "60 trials"]
    scores = example().scores.cell("bold", "hill")
    for size in (5, 20, 60):
        line = labelled(ax, f"{size} trials")
        assert set(line.get_ydata()) == set(scores[:size])
    assert len(ax.collections) == 3
    low, high = ax.get_ylim()
    for size, area in zip((5, 20, 60), ax.collections, strict=True):
        # At the whole level each, for these are not several claims about different things.
        steps = quantile_steps(band(scores[:size], 0.05, (-100.0, 100.0)))
        ends = np.concatenate([steps.low, steps.high])
        inside = set(ends[(ends > low) & (ends < high)].tolist())
        assert inside <= set(heights_of(area))
        assert len(inside) > 0
    # Of five trials the band leaves the view, of sixty it does so near the ends only.
    assert min(heights_of(ax.collections[0])) < low


# --- percentiles


def test_a_percentile_is_the_mean_of_placements() -> None:
    reference = np.array([1.0, 2.0, 2.0, 3.0])
    np.testing.assert_allclose(placed(np.array([0.0, 2.0, 2.5, 3.0]), reference, 0.5), [0.0, 0.5, 0.75, 0.875])
    np.testing.assert_allclose(placed(np.array([2.0]), reference, 1.0), [0.75])


@pytest.mark.parametrize(("conventions", "method"), [("valid", "kl"), ("paper", "pbp")])
def test_the_illustration_shows_the_evaluations_percentile(conventions: Any, method: str) -> None:
    scores = ScoreTable.from_dict(
        {"a": {"e": [1.0, 2.0, 2.0, 5.0]}, "b": {"e": [2.0, 2.0, 3.0]}, "c": {"e": [0.0, 2.0]}}
    )
    evaluation = evaluate(scores, intervals=method, conventions=conventions, weights="uniform")
    ax = figures.percentile_illustration(evaluation, "e", algorithm="a", reference="b")
    z = evaluation.percentiles.z_aer[0, 0, 1]
    assert f"z = {z:.3f}" in [text.get_text() for text in ax.texts]
    dots = [line for line in lines_of(ax) if line.get_marker() == styles(evaluation.algorithms)["a"].marker]
    assert np.mean(dots[0].get_ydata()) == pytest.approx(z)
    widths = np.array([bar.get_width() for bar in patches_of(ax)])
    middles = np.array([bar.get_y() + bar.get_height() / 2 for bar in patches_of(ax)])
    assert np.average(middles, weights=widths) == pytest.approx(z, abs=0.05)


def test_the_best_two_are_illustrated() -> None:
    evaluation = judged()
    words = [text.get_text() for text in legend_of(figures.percentile_illustration(evaluation, "hill")).get_texts()]
    best, second = (evaluation.algorithms[a] for a in evaluation.order[:2])
    assert words[0].startswith(f"{best}: first 12 trials")
    assert words[1].startswith(f"{second}: distribution")


# --- matrices and orders


def test_ranks_are_printed_with_those_possible() -> None:
    ax = figures.ranks(example())
    at = {(round(text.get_position()[0]), round(text.get_position()[1])): [] for text in ax.texts}  # type: ignore[var-annotated]
    for text in ax.texts:
        at[round(text.get_position()[0]), round(text.get_position()[1])].append(text.get_text())
    for e, place in enumerate(example().means.ranks):
        for row, a in enumerate(example().order):
            best, worst = int(place.best[a]), int(place.worst[a])
            possible = str(best) if best == worst else f"{best}\N{EN DASH}{worst}"
            assert at[e, row] == [str(place.rank[a]), possible]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == list(example().environments)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["bold", "careful", "plain"]
    first = example().means.ranks[0].rank[list(example().order)]
    lightness = grounds_of(ax)[:, 0, :3].sum(axis=1)
    by_rank = [lightness[row] for row in np.argsort(first)]
    assert by_rank == sorted(by_rank)
    assert len(set(by_rank)) == 3


def test_verdicts_have_a_symbol_each() -> None:
    scores = table(("a", "b", "c", "d"), ("e", "f"), 5)
    evaluation = found(scores, width=0.12)
    ax = figures.verdict_matrix(evaluation)
    drawn = {}
    for marks in ax.collections:
        if not isinstance(marks, PathCollection):
            continue
        colour = to_hex(np.asarray(marks.get_facecolor())[0])
        drawn[colour] = {(round(x), round(y)) for x, y in np.asarray(marks.get_offsets())}
    expected: dict[str, set[tuple[int, int]]] = {}
    for row, a in enumerate(evaluation.order):
        for column, b in enumerate(evaluation.order):
            if a != b:
                expected.setdefault(evaluation.pairs.verdict(a, b), set()).add((column, row))
    assert set(expected) == {"better", "worse", "not separable yet"}
    # By colour: blue is better, orange worse, grey open.
    assert drawn == {
        "#00466e": expected["better"],
        "#9a4200": expected["worse"],
        "#777777": expected["not separable yet"],
    }
    intervals = {(round(text.get_position()[0]), round(text.get_position()[1])): text.get_text() for text in ax.texts}
    low, high = evaluation.pairs.low_ab[3, 0], evaluation.pairs.high_ab[3, 0]
    assert intervals[3, 0] == f"{low:+.2f}, {high:+.2f}"
    grounds = grounds_of(ax)
    by_verdict = {
        verdict: {to_hex(grounds[row, column]) for column, row in places} for verdict, places in expected.items()
    }
    assert by_verdict == {"better": {"#9cc9e5"}, "worse": {"#f7dcc3"}, "not separable yet": {"#f4f4f4"}}
    assert {to_hex(grounds[place, place]) for place in range(4)} == {"#bfbfbf"}
    assert "approximate" not in figures.caption(ax)
    assert "approximate" in figures.caption(figures.verdict_matrix(found(scores, valid=False)))


def bars(ax: Axes) -> list[tuple[float, ...]]:
    """Return the scores that each bar of a diagram joins."""
    return [tuple(np.asarray(line.get_xdata(), np.float64)) for line in lines_of(ax) if line.get_label() == "bar"]


@pytest.mark.parametrize("seed", range(20))
def test_bars_of_a_diagram_join_exactly_what_is_not_separable(seed: int) -> None:
    """For any strict partial order of scores, also one in which an algorithm between two others is separable."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    evaluation = found(table(tuple(f"a{number}" for number in range(n)), ("e",), 5), width=0.5)
    score_a = rng.permutation(n) / 10.0
    better = np.triu(rng.random((n, n)) < rng.choice([0.0, 0.3, 0.7, 1.0]), 1)
    for _ in range(n):
        better |= (better.astype(int) @ better.astype(int)) > 0
    order = np.argsort(-score_a)
    better_ab = np.zeros_like(better)
    better_ab[np.ix_(order, order)] = better
    wide = np.ones((n, n)) - np.eye(n)
    drawn = figures.critical_difference(with_ranking(evaluation, score_a=score_a, pairs=Pairs(-wide, wide, better_ab)))
    at = {float(score): a for a, score in enumerate(score_a)}
    groups = [{at[score] for score in bar} for bar in bars(drawn)]
    joined = {frozenset(pair) for group in groups for pair in itertools.combinations(group, 2)}
    pairs = {frozenset(pair) for pair in itertools.combinations(range(n), 2)}
    decided = {pair for pair in pairs if any(better_ab[a, b] for a in pair for b in pair)}
    assert joined == pairs - decided
    # Bars in one row do not touch.
    rows: dict[float, list[tuple[float, ...]]] = {}
    for line in lines_of(drawn):
        if line.get_label() == "bar":
            rows.setdefault(float(np.asarray(line.get_ydata())[0]), []).append(tuple(np.asarray(line.get_xdata())))
    for row in rows.values():
        ends = sorted((min(bar), max(bar)) for bar in row)
        assert all(one[1] < other[0] for one, other in itertools.pairwise(ends))
    assert {text.get_text() for text in drawn.texts} >= set(evaluation.algorithms)


def test_the_partial_order_has_a_line_for_every_cover() -> None:
    evaluation = found(table(("a", "b", "c", "d"), ("e", "f"), 5), width=0.12)
    ax = figures.partial_order(evaluation)
    assert [text.get_text() for text in ax.texts] == ["d", "c", "b", "a"]
    assert len(lines_of(ax)) == len(evaluation.pairs.covers()) == 3
    at = {text.get_text(): text.get_position() for text in ax.texts}
    joined = set()
    for line in lines_of(ax):
        ends = (line.get_xdata()[0], line.get_ydata()[0]), (line.get_xdata()[-1], line.get_ydata()[-1])
        joined.add(tuple(name for end in ends for name, place in at.items() if place == pytest.approx(end)))
    assert joined == set(evaluation.partial_order)
    # The better is above: the axis points down.
    assert at["d"][1] < at["a"][1]
    alone = figures.partial_order(found(table(("a", "b"), ("e",), 5), width=0.5))
    assert not lines_of(alone)
    assert "no two are separable" in figures.caption(alone).lower()


def test_weights_and_their_sums_are_printed() -> None:
    evaluation = example()
    ax = figures.weights(evaluation)
    order = list(evaluation.order)
    # The more weight, the darker.
    lightness = grounds_of(ax)[:, :, :3].sum(axis=2)
    by_weight = lightness.ravel()[np.argsort(evaluation.q_er[:, order].ravel(), kind="stable")]
    assert (np.diff(by_weight) <= 0.0).all()
    assert by_weight[0] > by_weight[-1] + 0.5
    at = {(round(text.get_position()[0]), round(text.get_position()[1])): text.get_text() for text in ax.texts}
    assert at[0, 1] == f"{100 * evaluation.q_er[1, order[0]]:.1f}"
    assert [at[3, e] for e in range(4)] == [f"{100 * each:.1f}" for each in evaluation.environment_weights]
    assert [at[r, 4] for r in range(3)] == [f"{100 * evaluation.reference_weights[a]:.1f}" for a in order]


# --- histories


def test_learning_curves_are_medians_with_intervals() -> None:
    ax = SINGLE["learning"]()
    curve = learning_curve(histories().cells["bold", "hill"])
    assert curve is not None
    line = labelled(ax, "bold")
    np.testing.assert_array_equal(line.get_xdata(), curve.x)
    np.testing.assert_array_equal(line.get_ydata(), curve.median)
    assert legend_of(ax).get_title().get_text() == "median of 40 trials and its interval"
    assert set(curve.low.tolist()) <= set(heights_of(ax.collections[1]))


def test_axes_say_what_is_counted() -> None:
    for ax in (figures.learning_curves(logged(), "hill"), figures.learning_curve_grid(logged())[0]):
        assert ax.get_xlabel() == "step"
        assert ax.get_xlim() == (0.0, 1_000_000.0)
        assert "median of 10 runs" in legend_of(ax).get_title().get_text()
    assert SINGLE["learning"]().get_xlabel() == "episode"
    assert figures.sample_efficiency(histories()).get_xlabel() == "episode"
    assert figures.sample_efficiency(logged(), environments=["hill"]).get_xlabel() == "step"
    odd = dataclasses.replace(logged(), unit="$\n")
    assert "$\\n" in texts(figures.learning_curves(odd, "hill"))


def test_sample_efficiency_is_drawn_as_found() -> None:
    ax = SINGLE["efficiency"]()
    expected = sample_efficiency(logged())
    assert expected is not None
    for number, name in enumerate(("careful", "bold", "plain")):
        line = labelled(ax, name)
        np.testing.assert_array_equal(line.get_xdata(), expected.x)
        np.testing.assert_array_equal(line.get_ydata(), expected.score_ax[number])
        assert line.get_color() == styles(example().algorithms)[name].colour
    assert ax.get_xlabel() == "share of training (%)"
    assert ax.get_title(loc="left") == "2 environments, equal weights"
    note = legend_of(ax).get_title().get_text().replace("\n", " ")
    assert note == f"estimates; no interval {' '.join(expected.left_out())}"
    assert "pond" in note
    two = figures.sample_efficiency(logged(), algorithms=["bold", "careful"])
    assert two.get_title(loc="left") == "3 environments, equal weights"
    assert {line.get_label() for line in lines_of(two)} == {"bold", "careful"}
    alone = figures.sample_efficiency(logged(), algorithms=["bold"])
    assert any("two or more" in text for text in texts(alone))
    with pytest.raises(UnknownName, match="no environment is called 'sea'"):
        figures.sample_efficiency(logged(), environments=["sea"])


def test_without_returns_the_axes_say_so() -> None:
    silent = Histories({("a", "e"): dataclasses.replace(history(), returns=())}, 5)
    assert "no returns were kept" in texts(figures.learning_curves(silent, "e"))


def test_a_hyperparameter_drawn_by_factors_is_on_a_logarithmic_axis() -> None:
    ax = SINGLE["hyperparameter"]()
    expected = response(histories().cells["bold", "hill"], "rate", bins=5)
    assert expected is not None
    assert ax.get_xscale() == "log"
    assert np.isfinite(expected.low).all()
    medians = labelled(ax, "median")
    np.testing.assert_array_equal(medians.get_xdata(), expected.x)
    np.testing.assert_array_equal(medians.get_ydata(), expected.median)
    points = lines_of(ax)[0]
    assert len(points.get_xdata()) == 40
    assert points.get_rasterized()
    # In plain letters: formulas would be shown literally.
    assert "0.001" in texts(ax)
    assert not any("$" in text for text in texts(ax))
    assert ax.get_xlabel() == "rate\nln-uniform(0.0001, 0.1)"


def test_all_hyperparameters_that_vary_are_in_the_grid() -> None:
    axes = GRIDS["hyperparameter_grid"][1]()
    assert [ax.get_xlabel().split("\n")[0] for ax in axes] == ["rate", "greedy", "kind"]
    assert [tick.get_text() for tick in axes[2].get_xticklabels()] == ["_c", "a$b", "None"]
    constant = figures.hyperparameter(histories(), "bold", "hill", "fixed")
    assert "all trials drew the same value" in texts(constant)
    nothing = Histories({("a", "e"): dataclasses.replace(history(), hyperparameters={"fixed": (1.0,) * 40})}, 40)
    with pytest.raises(InvalidInput, match="nothing that varies"):
        figures.hyperparameter_grid(nothing, "a", environment="e")


# --- the page, many, files


def test_the_page_has_everything() -> None:
    page = figures.summary(example())
    assert len(page.axes) == 3 + 4
    seen = texts(page)
    assert {"hill", "maze", "pond", "road", "aggregate score"} <= set(seen)
    assert "All 12 bands hold together" in figures.caption(page)
    assert any(example().claim in text for text in seen)
    assert page.get_size_inches().tolist() == [8.27, 11.69]


def test_the_page_shows_the_environments_that_weigh_the_most() -> None:
    many = found(table(("a", "b"), tuple(f"e{number}" for number in range(57)), 4))
    page = figures.summary(many)
    assert len(page.axes) == 3 + 15
    assert [ax.get_title(loc="left") for ax in page.axes[3:]] == [f"e{number}" for number in range(42, 57)]
    assert any("15 of 57 environments, those that weigh the most" in text for text in texts(page))
    assert len(figures.quantile_grid(many)) == 57


def test_the_page_of_equal_weights_has_differences_instead() -> None:
    page = figures.summary(untuned.evaluate(table(("a", "b"), ("e", "f"), 40), weights="uniform"))
    assert page.axes[2].get_xlabel() == "difference of aggregate scores"


@pytest.mark.parametrize("draw", [figures.aggregate, figures.verdict_matrix, figures.partial_order, figures.weights])
def test_fifty_algorithms(draw: Callable[[Evaluation], Axes]) -> None:
    many = found(table(tuple(f"algorithm {number}" for number in range(50)), ("e", "f"), 3))
    ax = draw(many)
    assert {f"algorithm {number}" for number in range(50)} <= set(texts(ax))


def test_one_environment() -> None:
    single = found(table(("a", "b"), ("e",), 30))
    assert len(figures.quantile_grid(single)) == 1
    assert figures.weights(single).get_ylim() == (1.5, -0.5)
    figures.summary(single).savefig(os.devnull, format="png", dpi=30)


@pytest.mark.parametrize("suffix", ["pdf", "svg", "PNG"])
def test_the_same_figure_is_the_same_file(suffix: str, tmp_path: Path) -> None:
    ax = figures.quantiles(example(), "maze")
    first = figures.save(figure_of(ax), tmp_path / "deep" / f"one.{suffix}")
    second = figures.save(figure_of(ax), tmp_path / f"two.{suffix}")
    third = figures.save(figure_of(figures.quantiles(example(), "maze")), str(tmp_path / f"three.{suffix}"))
    content = first.read_bytes()
    assert content == second.read_bytes() == third.read_bytes()
    head = {"pdf": b"%PDF", "svg": b"<?xml", "png": b"\x89PNG"}[suffix.lower()]
    assert content.startswith(head)
    assert b"CreationDate" not in content
    assert b"dc:date" not in content


@pytest.mark.parametrize("draw", [SINGLE["verdicts"], GRIDS["distribution_grid"][1]])
def test_saving_again_does_not_move_anything(draw: Callable[[], Any], tmp_path: Path) -> None:
    figure = figure_of(draw())
    files = [figures.save(figure, tmp_path / f"{number}.svg").read_bytes() for number in range(3)]
    assert files[0] == files[1] == files[2]
    # A figure without its own layout is unchanged.
    ax = Figure().add_subplot()
    ax.set_position((0.3, 0.3, 0.2, 0.2))
    figures.save(figure_of(ax), tmp_path / "own.png")
    assert ax.get_position().bounds == pytest.approx((0.3, 0.3, 0.2, 0.2))


def test_other_suffixes_and_places_are_refused(tmp_path: Path) -> None:
    figure = figure_of(figures.aggregate(example()))
    for name in ("figure.gif", "figure"):
        with pytest.raises(InvalidInput, match=r"end it with \.pdf, \.svg or \.png"):
            figures.save(figure, tmp_path / name)
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidInput, match="cannot be written"):
        figures.save(figure, tmp_path / "file" / "figure.png")
    with pytest.raises(InvalidInput, match="one string"):
        figures.save_all(example(), tmp_path, formats="pdf")
    with pytest.raises(InvalidInput, match="'gif' is not one of those for figures"):
        figures.save_all(example(), tmp_path, formats=["gif"])
    assert not list(tmp_path.glob("*.*"))


@pytest.mark.slow
def test_every_figure_is_saved(tmp_path: Path) -> None:
    evaluation = found(table(("careful", "bold"), ("hill", "a/b:c", "A B C"), 12))
    left = Histories({key: cell for key, cell in histories().cells.items() if key[1] == "hill"}, 500)
    written = figures.save_all(evaluation, tmp_path / "new", histories=left, formats=["svg", ".SVG"])
    names = {
        *(
            "summary",
            "aggregate",
            "verdicts",
            "critical-difference",
            "partial-order",
            "ranks",
            "weights",
            "forest",
            "strips",
        ),
        # Twelve trials are shown as points.
        *("strip-hill", "strip-a-b-c", "strip-a-b-c-2", "percentile", "trials", "learning-curves"),
        *("sample-efficiency", "hyperparameters-careful", "hyperparameters-bold"),
    }
    assert {path.name for path in written} == {*(f"{name}.svg" for name in names), "figures.tex"}
    assert len(written) == len(names) + 1
    assert all(path.stat().st_size > 1000 for path in written)
    # Every file is in a figure of LaTeX, with the words of its caption and a label.
    text = (tmp_path / "new" / "figures.tex").read_text(encoding="utf-8")
    for name in names:
        assert f"\\includegraphics{{{name}}}" in text
        assert f"\\label{{fig:{name}}}" in text
    assert "\\caption{Scores of all trials, a-b-c.}" in text
    assert "95 \\%" in text


def test_the_second_ranking_has_figures_where_they_differ(tmp_path: Path) -> None:
    evaluation = untuned.evaluate(table(("careful", "bold"), ("hill", "maze"), 12))
    written = {path.stem for path in figures.save_all(evaluation, tmp_path, formats=["svg"])[:-1]}
    assert {name for name in written if name.endswith("uniform")} == {
        *(
            "aggregate-uniform",
            "verdicts-uniform",
            "critical-difference-uniform",
            "forest-uniform",
        ),
    }
    # No pair is decided, so there is no order to draw.
    assert {"aggregate", "verdicts", "weights"} <= written
    assert not any(name.startswith("partial-order") for name in written)
    drawn = (tmp_path / "aggregate-uniform.svg").read_text(encoding="utf-8")
    assert "With equal weights all intervals hold together" in drawn


# --- few trials, and many of everything


def test_a_strip_has_every_trial_and_the_medians_the_best_on_top() -> None:
    evaluation = found(table(("careful", "bold"), ("hill", "maze"), 12))
    ax = figures.strip(evaluation, "hill")
    order = [evaluation.algorithms[a] for a in evaluation.order]
    assert [tick.get_text() for tick in ax.get_yticklabels()] == order
    for place, name in enumerate(order):
        scores = evaluation.scores.cell(name, "hill")
        points = labelled(ax, name)
        assert np.asarray(points.get_xdata()) == pytest.approx(np.sort(scores))
        assert np.abs(np.asarray(points.get_ydata()) - place).max() < 0.5
        medians = [line for line in lines_of(ax) if list(line.get_ydata()) == [place - 0.42, place + 0.42]]
        assert [float(line.get_xdata()[0]) for line in medians] == pytest.approx([np.median(scores)])


def test_bands_that_bound_no_median_are_not_drawn() -> None:
    few, many = (found(table(("careful", "bold"), ("hill",), trials)) for trials in (5, 200))
    for draw in (figures.quantiles, figures.distributions):
        assert not draw(few, "hill").collections
        assert len(draw(many, "hill").collections) == 2


def test_a_forest_has_every_pair_and_fills_what_is_decided() -> None:
    evaluation = found(table(("a", "b", "c", "d"), ("e", "f"), 5), width=0.12)
    ax = figures.forest(evaluation)
    dots = [line for line in lines_of(ax) if line.get_marker() == "o"]
    rows = evaluation.pair_rows()
    assert [float(line.get_xdata()[0]) for line in dots] == pytest.approx([row["difference"] for row in rows])
    filled = [line.get_markerfacecolor() != "white" for line in dots]
    assert filled == [row["verdict"] == "better" for row in rows]
    assert 0 < sum(filled) < len(filled)


def test_many_pairs_environments_and_algorithms_are_shown_in_part_or_otherwise() -> None:
    names = tuple(f"a{number:02d}" for number in range(20))
    evaluation = found(table(names, tuple(f"e{number:02d}" for number in range(40)), 5))
    forest = figures.forest(evaluation)
    assert len([line for line in lines_of(forest) if line.get_marker() == "o"]) == 19
    assert "19 of 190 pairs" in figures.caption(forest)
    bars = figures.weights(evaluation)
    assert len(patches_of(bars)) == 40
    assert sum(bar.get_width() for bar in patches_of(bars)) == pytest.approx(100.0)
    order = figures.partial_order(evaluation)
    assert [tick.get_text() for tick in order.get_yticklabels()] == [names[a] for a in evaluation.order]
    ends = [[int(x) for x in line.get_xdata()] for line in lines_of(order) if len(line.get_xdata()) == 2]
    ranks = evaluation.ranks
    assert ends == [[int(ranks.best[a]), int(ranks.worst[a])] for a in evaluation.order]


def test_ranks_that_are_all_possible_are_not_printed() -> None:
    evaluation = untuned.evaluate(table(("careful", "bold"), tuple(f"e{number:02d}" for number in range(20)), 5))
    ax = figures.ranks(evaluation)
    assert "all ranks are possible" in ax.get_xlabel()
    assert {text.get_text() for text in ax.texts} == {"1", "2"}
    # Of many environments each has a row.
    assert len(ax.get_yticklabels()) == 20


def test_file_names_are_safe_and_differ() -> None:
    names = file_names(
        [
            "CartPole",
            "cartpole",
            "con",
            "../up",
            "a/b",
            "a:b",
            "\u4e2d\u6587",
            "\u00fcber",
            "x" * 300,
            "a-b-2",
            "cartpole-2",
        ]
    )
    assert names["../up"] == "up"
    assert names["\u00fcber"] == "uber"
    assert names["\u4e2d\u6587"] == "unnamed"
    assert len(set(names.values())) == len(names)
    assert all(len(name) < 70 and set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-") for name in names.values())


@pytest.mark.slow
def test_two_processes_write_what_one_writes(tmp_path: Path) -> None:
    evaluation = found(table(("careful", "bold"), ("hill", "dale"), 12))
    left = Histories({key: cell for key, cell in histories().cells.items() if key[1] == "hill"}, 500)
    places = tmp_path / "one", tmp_path / "two"
    one, two = (
        figures.save_all(evaluation, place, histories=left, formats=["svg"], workers=workers)
        for place, workers in zip(places, (1, 2), strict=True)
    )
    assert [path.name for path in one] == [path.name for path in two]
    assert all(path.read_bytes() == other.read_bytes() for path, other in zip(one, two, strict=True))
