"""What all figures share: sizes and fonts, Axes where none are given, legends, sizes of print."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter

from untuned.errors import InvalidInput
from untuned.reports.figures.naming import LONGEST, shown
from untuned.reports.styles import Style

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend

#: Widths of a column and of a page of print, in inches.
COLUMN = 3.4
PAGE = 7.0
#: Sizes of letters, in points.
FONT = 8.0
SMALL = 6.5
#: The approximate width and height of letters, relative to their size.
_LETTER_WIDTH = 0.6
_LETTER_HEIGHT = 1.25
#: The width of a letter of a title in a grid, and the smallest print that can be read.
_TITLE_LETTER = 0.57
_SMALLEST = 5.0

GREY = "0.45"
PALE = "0.9"

_STYLE: Any = {
    "font.size": FONT,
    "axes.titlesize": FONT,
    "axes.labelsize": FONT,
    "xtick.labelsize": SMALL + 0.5,
    "ytick.labelsize": SMALL + 0.5,
    "legend.fontsize": SMALL + 0.5,
    "legend.title_fontsize": SMALL + 0.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    # Names are text, whatever they look like.
    "text.parse_math": False,
    "text.usetex": False,
    "axes.formatter.use_mathtext": False,
}


@contextmanager
def drawing() -> Iterator[None]:
    """Make what is drawn inside look like all figures do."""
    with mpl.rc_context(_STYLE):
        yield


def axes_or_new(ax: "Axes | None", width: float, height: float) -> "Axes":
    """Return the Axes given, or those of a new Figure of a size in inches."""
    if ax is not None:
        return ax
    return Figure(figsize=(width, height), layout="constrained").add_subplot()


def grid(count: int, ax: "Sequence[Axes] | None", *, width: float | None = None) -> "list[Axes]":
    """Return ``count`` Axes: those given, or those of a new Figure in rows and columns.

    Raises
    ------
    InvalidInput
        Where another number of Axes is given.
    """
    if ax is not None:
        given = list(np.ravel(cast(Any, ax)))
        if len(given) != count:
            raise InvalidInput(f"ax has {len(given)} Axes for {count} plots: pass one for each, or none")
        return given
    columns = columns_for(count)
    rows = math.ceil(count / columns)
    across = width or min(PAGE, max(COLUMN, 2.35 * columns)) if columns <= 4 else 1.75 * columns
    figure = Figure(figsize=(across, 0.78 * across / columns * rows + 0.9), layout="constrained")
    cells = figure.add_gridspec(rows, columns)
    return [figure.add_subplot(cells[number // columns, number % columns]) for number in range(count)]


def columns_for(count: int) -> int:
    """Return how many of ``count`` plots to put side by side."""
    if count == 4:
        return 2
    return min(count, 3 if count <= 9 else 4 if count <= 16 else 5 if count <= 30 else 6)


def room(ax: "Axes") -> tuple[float, float]:
    """Return the width and height of Axes in inches, labels included; about, before the layout is known."""
    figure = ax.get_figure(root=True)
    if figure is None:
        return PAGE, PAGE
    box = ax.get_position()
    width, height = figure.get_size_inches()
    return box.width * width, box.height * height


def fitting(text_length: int, width: float, height: float, largest: float = FONT) -> float:
    """Return the size in points at which this many letters fit into a box in inches."""
    across = 72.0 * width / (_LETTER_WIDTH * max(text_length, 1))
    return min(largest, across, 72.0 * height / _LETTER_HEIGHT)


def line_options(style: Style) -> dict[str, Any]:
    """Return how an algorithm's line looks."""
    return {
        "color": style.colour,
        "linestyle": (0, style.dashes) if style.dashes else "-",
        "marker": style.marker,
        "markersize": 3.5,
        "markeredgewidth": 0.4,
        "markeredgecolor": "white",
        "linewidth": 1.0,
        # Inside the axes it needs no room, and measuring thousands of them takes long.
        "in_layout": False,
    }


def sparse(points: int, number: int, of: int, marks: int = 5) -> tuple[int, int]:
    """Return the first point that gets a mark and the distance to the next: not where another line has its own."""
    step = max(points // marks, 1)
    return (number * step) // max(of, 1), step


def handles(names: Sequence[str], styles: Mapping[str, Style]) -> "list[Artist]":
    """Return what stands for each algorithm in a legend."""
    return [Line2D([], [], **line_options(styles[name])) for name in names]


def legend(where: "Axes | Figure", entries: "Sequence[Artist]", names: Sequence[str], **options: Any) -> "Legend":
    """Return a legend whose names are shown as they are."""
    labels = shown(names)
    # Legends drop labels that begin with an underscore, so they get their text afterwards.
    made = where.legend(list(entries), [str(number) for number in range(len(names))], frameon=False, **options)
    for text, name in zip(made.get_texts(), names, strict=True):
        text.set_text(labels[name])
    return made


def legend_below(figure: Figure, names: Sequence[str], styles: Mapping[str, Style], **options: Any) -> None:
    """Put a legend of algorithms under everything else on a figure."""
    width = float(figure.get_size_inches()[0])
    longest = max(len(text) for text in shown(names).values())
    columns = max(1, min(len(names), int(width / (0.5 + 0.065 * longest))))
    legend(figure, handles(names, styles), names, loc="outside lower center", ncols=columns, **options)


def algorithm_legend(
    ax: "Axes",
    names: Sequence[str],
    styles: Mapping[str, Style],
    *,
    below: bool,
    corner: str,
    size: float,
    **options: Any,
) -> None:
    """Put a legend of algorithms under the whole figure, or into a corner of Axes in letters of a size."""
    figure = ax.get_figure(root=True)
    if below and figure is not None:
        legend_below(figure, names, styles, **options)
    else:
        legend(ax, handles(names, styles), names, loc=corner, fontsize=size, **options)


def tidy(axes: "Sequence[Axes]") -> None:
    """Keep labels that a grid's axes share only on those at its rim."""
    for number, ax in enumerate(axes):
        cell = ax.get_subplotspec()
        if cell is None:
            continue
        columns = cell.get_gridspec().ncols
        if not cell.is_first_col():
            ax.set_ylabel("")
        # In the last row there may be fewer.
        if number + columns < len(axes):
            ax.set_xlabel("")


def name_grid(axes: "Sequence[Axes]", names: Sequence[str]) -> None:
    """Give the Axes of a grid titles that leave the neighbours room."""
    # A title may reach into the gap to the next; small print comes before names without their middle.
    points = min((room(ax)[0] for ax in axes), default=1.0) * 72.0 * 1.1
    longest = max(map(len, shown(names).values()), default=1)
    size = min(max(points / (_TITLE_LETTER * longest), _SMALLEST), SMALL + 0.5)
    letters = int(points / (_TITLE_LETTER * size))
    for ax, title in zip(axes, shown(names, min(max(letters, 8), LONGEST)).values(), strict=True):
        ax.set_title(title, loc="left", fontsize=size)


def number_text(value: float) -> str:
    """Return a number in few letters, with the minus sign that axes have."""
    size = abs(value)
    if value and not 1e-3 <= size < 1e6:
        # 1e-05 is longer than it needs to be.
        text = re.sub(r"e([+-])0*", lambda found: "e" + found[1].strip("+"), f"{value:.3g}")
    elif size < 1e3 or float(value).is_integer():
        text = f"{value:,.6g}" if size < 1e3 else f"{value:,.0f}"
    else:
        text = f"{value:,.1f}"
    return text.replace("-", "\N{MINUS SIGN}")


def decimal_formatter() -> FuncFormatter:
    """Return a formatter for axes whose own would write formulas."""
    return FuncFormatter(lambda value, _: number_text(value))
