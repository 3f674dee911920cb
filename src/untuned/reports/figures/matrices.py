"""Figures with a cell for every two things: verdicts, ranks, weights."""

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.colors import LinearSegmentedColormap, to_rgba
from matplotlib.lines import Line2D

from untuned.evaluation import Evaluation
from untuned.reports.figures.canvas import (
    FONT,
    GREY,
    SMALL,
    axes_or_new,
    drawing,
    fitting,
    legend,
    room,
)
from untuned.reports.figures.captions import describe, hold_together, verdicts_promise
from untuned.reports.figures.naming import LONGEST, shown
from untuned.scores import Floats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

#: By verdict: the ground, the symbol, its colour. The grounds differ in lightness as well.
_VERDICTS = {
    "better": ("#9CC9E5", "^", "#00466E"),
    "worse": ("#F7DCC3", "v", "#9A4200"),
    "not separable yet": ("#F4F4F4", "_", "#777777"),
}
#: From white to a blue on which black print can be read.
_SHADES = LinearSegmentedColormap.from_list("untuned", ["#FFFFFF", "#C3DDEF", "#5BA3D0"])
#: Smaller print than this is unreadable.
_LEAST = 3.4
#: At most this many cells get small print: in more it is unreadable.
_MOST_PRINT = 1_200
#: More environments than this have a row each.
_COLUMNS = 16
#: Of more environments than this the sums alone are shown, as bars.
_MOST_ROWS = 30


def verdict_matrix(evaluation: Evaluation, *, ax: "Axes | None" = None) -> "Axes":
    """Return Axes with the verdict on every pair of algorithms: row better, worse, not separable yet.

    Algorithms are in the order of their scores. In small print, where there is room, the interval on the row's score
    less the column's.

    Parameters
    ----------
    evaluation
        The evaluation.
    ax
        Where to draw; a new Figure unless given.
    """
    return draw_verdicts(evaluation, ax, LONGEST)


def draw_verdicts(evaluation: Evaluation, ax: "Axes | None", letters: int) -> "Axes":
    """Draw the verdicts, with so many letters of every name."""
    order = evaluation.order
    count = len(order)
    names = _labels(evaluation, order, letters)
    with drawing():
        own = ax is None
        side = max(0.16, min(0.62, 6.0 / count)) * count
        margin = 0.065 * max(map(len, names))
        ax = axes_or_new(ax, max(side + margin + 0.3, 3.2), side + margin + 0.6)
        width, height = (side, side) if own else _inside(ax, names, names, 0.35)
        cell = width / count, height / count
        size = min(fitting(14, cell[0], cell[1] / 3), SMALL - 1) if count**2 <= _MOST_PRINT else 0.0
        grounds = np.tile(to_rgba("0.75"), (count, count, 1))
        symbols: dict[str, list[tuple[float, float]]] = {verdict: [] for verdict in _VERDICTS}
        for row, a in enumerate(order):
            for column, b in enumerate(order):
                if a == b:
                    continue
                verdict = evaluation.pairs.verdict(a, b)
                grounds[row, column] = to_rgba(_VERDICTS[verdict][0])
                symbols[verdict].append((column, row - (0.14 if size >= _LEAST else 0.0)))
                if size >= _LEAST:
                    words = _interval(evaluation.pairs.low_ab[a, b], evaluation.pairs.high_ab[a, b])
                    _print(ax, column, row + 0.3, words, fontsize=size)
        _grounds(ax, grounds)
        area = min(30.0, (72 * min(cell) * 0.34) ** 2)
        for said, places in symbols.items():
            if places:
                _, marker, colour = _VERDICTS[said]
                at = np.array(places)
                ax.scatter(at[:, 0], at[:, 1], s=area, marker=marker, color=colour, linewidths=1.0)
        _cells(ax, names, names, cell)
        entries = [
            Line2D([], [], linestyle="none", marker=marker, color=colour, markersize=5)
            for _, marker, colour in _VERDICTS.values()
        ]
        describe(ax, f"Row compared with column. {verdicts_promise(evaluation)}")
        legend(
            ax,
            entries,
            list(_VERDICTS),
            loc="upper center",
            bbox_to_anchor=(0.5, -0.01),
            ncols=3,
            title="row compared with column",
            handletextpad=0.1,
            columnspacing=1.0,
        )
    return ax


def ranks(evaluation: Evaluation, *, ax: "Axes | None" = None) -> "Axes":
    """Return Axes with the rank of every algorithm on every environment, in small print the ranks that are possible.

    Many environments are rows, few are columns. If all ranks are possible everywhere, there is no small print.

    Parameters
    ----------
    evaluation
        The evaluation.
    ax
        Where to draw; a new Figure unless given.
    """
    order = evaluation.order
    n = len(order)
    names, places = _labels(evaluation, order, LONGEST), list(shown(evaluation.environments).values())
    turned = len(places) > _COLUMNS >= n
    left, tops = (places, names) if turned else (names, places)
    rows, columns = len(left), len(tops)
    known = any(int(found.best.max()) > 1 or int(found.worst.min()) < n for found in evaluation.means.ranks)
    with drawing():
        own = ax is None
        across = max(0.2, min(0.55, 6.0 / columns)) * columns
        down = max(0.15, min(0.36 if known else 0.24, 8.0 / rows)) * rows
        if own:
            ax = axes_or_new(
                None, max(across + 0.065 * max(map(len, left)) + 0.3, 3.2), down + 0.065 * max(map(len, tops)) + 0.4
            )
        ax = axes_or_new(ax, across, down)
        width, height = (across, down) if own else _inside(ax, left, tops, 0.25)
        cell = width / columns, height / rows
        small = min(fitting(7, cell[0], cell[1] / 2.4), SMALL - 1) if known and rows * columns <= _MOST_PRINT else 0.0
        large = fitting(3, cell[0], cell[1] / (1.9 if small >= _LEAST else 1.2), FONT)
        grounds = np.ones((rows, columns, 4))
        for e, found in enumerate(evaluation.means.ranks):
            for number, a in enumerate(order):
                row, column = (e, number) if turned else (number, e)
                missing = not evaluation.trials_ae[a, e]
                # The best rank is the darkest.
                if not missing:
                    grounds[row, column] = _SHADES(1.0 - (int(found.rank[a]) - 1) / max(n - 1, 1))
                text = "\N{EN DASH}" if missing else str(int(found.rank[a]))
                up = 0.17 if small >= _LEAST else 0.0
                _print(ax, column, row - up, text, fontsize=large)
                if small >= _LEAST:
                    best, worst = int(found.best[a]), int(found.worst[a])
                    possible = str(best) if best == worst else f"{best}\N{EN DASH}{worst}"
                    _print(ax, column, row + 0.28, possible, fontsize=small, color="0.2")
        _cells(ax, left, tops, cell)
        _grounds(ax, grounds)
        note = "rank of the mean"
        if small >= _LEAST:
            note += "; small print:\nbest\N{EN DASH}worst possible"
            describe(ax, f"Small print: possible ranks. All {hold_together(evaluation)}.")
        elif not known:
            note += "; all ranks are possible"
        ax.set_xlabel(note, fontsize=SMALL)
    return ax


def weights(evaluation: Evaluation, *, ax: "Axes | None" = None) -> "Axes":
    """Return Axes with the weight of every environment and reference in per cent, with their sums at the rim.

    Parameters
    ----------
    evaluation
        The evaluation.
    ax
        Where to draw; a new Figure unless given.
    """
    return draw_weights(evaluation, ax, LONGEST)


def draw_weights(evaluation: Evaluation, ax: "Axes | None", letters: int) -> "Axes":
    """Draw the weights, with so many letters of every algorithm; of many environments their sums, as bars."""
    if len(evaluation.environments) > _MOST_ROWS:
        return _draw_bars(evaluation, ax)
    # The best reference first, as everywhere.
    order = evaluation.order
    q_er = evaluation.q_er[:, list(order)]
    rows, columns = q_er.shape
    left = list(shown(evaluation.environments).values())
    tops = _labels(evaluation, order, letters)
    with drawing():
        own = ax is None
        across = max(0.2, min(0.5, 6.0 / (columns + 1))) * (columns + 1)
        down = max(0.16, min(0.26, 8.0 / (rows + 1))) * (rows + 1)
        if own:
            ax = axes_or_new(
                None, max(across + 0.065 * max(map(len, left)) + 0.3, 3.2), down + 0.065 * max(map(len, tops)) + 0.4
            )
        ax = axes_or_new(ax, across, down)
        width, height = (across, down) if own else _inside(ax, left, tops, 0.25)
        cell = width / (columns + 1), height / (rows + 1)
        _grounds(ax, _SHADES(q_er / max(float(q_er.max()), 1e-12)))
        size = fitting(5, cell[0], cell[1] / 1.2, SMALL)
        if size >= _LEAST:
            for e in range(rows):
                for r in range(columns):
                    # A cell without weight stays empty, so that the others stand out.
                    if q_er[e, r] > 0.0:
                        colour = "black" if q_er[e, r] >= 0.0005 else GREY
                        _print(ax, r, e, _percent(q_er[e, r]), fontsize=size, color=colour)
        # Sums are what counts, and are printed at any size.
        for e, total in enumerate(q_er.sum(axis=1)):
            _print(ax, columns + 0.05, e, _percent(total), fontsize=size, weight="bold")
        for r, total in enumerate(q_er.sum(axis=0)):
            _print(ax, r, rows + 0.05, _percent(total), fontsize=size, weight="bold")
        ax.axhline(rows - 0.5, color=GREY, linewidth=0.6)
        ax.axvline(columns - 0.5, color=GREY, linewidth=0.6)
        _cells(ax, left, tops, cell)
        ax.set_xlim(-0.5, columns + 0.5)
        ax.set_ylim(rows + 0.5, -0.5)
        ax.set_xlabel("weight of environment (row)\nand reference (column) in %, and sums", fontsize=SMALL)
    return ax


def _draw_bars(evaluation: Evaluation, ax: "Axes | None") -> "Axes":
    """Draw what environments weigh as bars, the heaviest on top; those that fit, and the rest as one."""
    totals = evaluation.environment_weights
    heaviest = np.argsort(-totals, kind="stable")
    with drawing():
        own = ax is None
        ax = axes_or_new(ax, 5.0, 0.8 + 0.15 * min(len(totals), _MOST_BARS))
        most = min(len(totals), _MOST_BARS) if own else max(3, min(len(totals), int(room(ax)[1] / 0.13)))
        kept = heaviest if most >= len(totals) else heaviest[: most - 1]
        labels = shown(evaluation.environments)
        names = [labels[evaluation.environments[e]] for e in kept]
        values = [100.0 * float(totals[e]) for e in kept]
        rest = len(totals) - len(kept)
        if float(np.ptp(totals)) < 1e-12:
            note = f"all {len(totals)} environments weigh the same"
        else:
            note = f"the other {rest} together {_percent(1.0 - sum(values) / 100.0)} %" if rest else "heaviest first"
        ax.barh(range(len(names)), values, color=_BAR, height=0.7)
        for place, value in enumerate(values):
            ax.annotate(
                _percent(value / 100.0),
                (value, place),
                xytext=(2, 0),
                textcoords="offset points",
                va="center",
                fontsize=SMALL - 0.5,
                annotation_clip=False,
            )
        size = fitting(1, 1.0, 0.15 if own else room(ax)[1] / len(names), SMALL)
        ax.set_yticks(range(len(names)), names, fontsize=size)
        ax.tick_params(axis="y", length=0)
        ax.set_ylim(len(names) - 0.4, -0.6)
        ax.set_xlim(0.0, 1.12 * max(values))
        ax.set_xlabel(f"weight of environments in %, over all references; {note}", fontsize=SMALL)
    return ax


_BAR = "#5BA3D0"
#: Longer figures do not fit on a page.
_MOST_BARS = 60


def _inside(ax: "Axes", rows: list[str], columns: list[str], below: float) -> tuple[float, float]:
    """Return the width and height that names on the left and on top and print below leave, in inches."""
    width, height = room(ax)
    return max(width - 0.06 * max(map(len, rows)), 0.3), max(height - 0.06 * max(map(len, columns)) - below, 0.3)


def _labels(evaluation: Evaluation, order: "Sequence[int]", letters: int) -> list[str]:
    labels = shown(evaluation.algorithms, letters)
    return [labels[evaluation.algorithms[a]] for a in order]


def _cells(ax: "Axes", rows: list[str], columns: list[str], cell: tuple[float, float]) -> None:
    """Give Axes names on the left and on top, and no frame."""
    largest = SMALL + 0.5
    ax.set_xlim(-0.5, len(columns) - 0.5)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    flat = 0.6 * largest * max(map(len, columns)) / 72.0 < cell[0]
    across = largest if flat else fitting(1, 1.0, cell[0], largest)
    ax.set_xticks(range(len(columns)), columns, rotation=0 if flat else 90, fontsize=across)
    ax.set_yticks(range(len(rows)), rows, fontsize=fitting(1, 1.0, cell[1], largest))
    ax.xaxis.tick_top()
    ax.tick_params(length=0, pad=2)
    for spine in ax.spines.values():
        spine.set_visible(False)


def _grounds(ax: "Axes", colours: Floats) -> None:
    """Draw the grounds of all cells, [row, column, colour]: as one, for thousands would take long to draw."""
    rows, columns = colours.shape[:2]
    # Not an image: some viewers blur small ones.
    mesh = ax.pcolormesh(
        np.arange(columns + 1) - 0.5, np.arange(rows + 1) - 0.5, colours, edgecolors="white", linewidth=0.5, zorder=0
    )
    mesh.set_in_layout(False)


def _print(ax: "Axes", x: float, y: float, text: str, **options: Any) -> None:
    # Inside the axes it needs no room, and measuring thousands of them takes long.
    ax.text(x, y, text, ha="center", va="center", in_layout=False, **options)


def _interval(low: float, high: float) -> str:
    """Return an interval; the end that decides is not rounded to zero."""
    ends = f"{low:+.{_decimals(low, low > 0.0)}f}", f"{high:+.{_decimals(high, high < 0.0)}f}"
    return ", ".join(ends).replace("-", "\N{MINUS SIGN}")


def _decimals(end: float, decides: bool) -> int:
    return next((places for places in (2, 3) if not decides or round(end, places)), 4)


def _percent(weight: float | np.float64 | Floats) -> str:
    """Return a part of 1 in per cent, in at most four letters."""
    part = 100.0 * float(weight)
    if part == 0.0:
        return "0"
    if part < 0.05:
        return "<0.1"
    return f"{part:.1f}" if part < 99.95 else "100"
