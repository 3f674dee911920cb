"""Charts as SVG text: they are in the document, so a full-page picture, paper and a page without scripts have them.

Colours, dashes and markers are classes, ``a3`` for the fourth algorithm: the style sheet turns them dark or light, and
hides algorithms. Lengths are in units of a chart that is 400 wide. What hovering shows is read from the paths again.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup, escape

from untuned.reports.closing import ticks as logarithmic_ticks
from untuned.reports.curves import from_one, near_one_ticks
from untuned.reports.styles import Style
from untuned.statements import VACUOUS
from untuned.verdicts import NOT_SEPARABLE

WIDTH = 400
#: Room for a name left of a row, for two, and for a letter.
_GUTTER, _PAIR_GUTTER, _LETTER = 112, 190, 6.9
#: Letters of a name that a row and the matrix have room for.
LETTERS = int((_GUTTER - 7) / _LETTER)
_ROW = 18
#: The end of an axis, where scores go as far as numbers do.
LARGEST = 1.79e308

_SYMBOLS = {
    "circle": "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0Z",
    "square": "M-3.6,-3.6H3.6V3.6H-3.6Z",
    "diamond": "M0,-4.8L4.8,0L0,4.8L-4.8,0Z",
    "triangle-up": "M0,-4.6L4.4,3.4H-4.4Z",
    "triangle-down": "M0,4.6L4.4,-3.4H-4.4Z",
    "triangle-left": "M-4.6,0L3.4,-4.4V4.4Z",
    "triangle-right": "M4.6,0L-3.4,-4.4V4.4Z",
    "cross": "M-1.5,-4.5H1.5V-1.5H4.5V1.5H1.5V4.5H-1.5V1.5H-4.5V-1.5H-1.5Z",
    "x": "M-4.2,-2.1L-2.1,-4.2L0,-2.1L2.1,-4.2L4.2,-2.1L2.1,0L4.2,2.1L2.1,4.2L0,2.1L-2.1,4.2L-4.2,2.1L-2.1,0Z",
    "star": "M0,-5L1.2,-1.6L4.8,-1.5L1.9,0.6L2.9,4L0,2L-2.9,4L-1.9,0.6L-4.8,-1.5L-1.2,-1.6Z",
    "hexagon": "M0,-4.6L4,-2.3V2.3L0,4.6L-4,2.3V-2.3Z",
}

Chart = Mapping[str, Any]


@dataclass(frozen=True)
class Axis:
    """One axis of a chart.

    Attributes
    ----------
    low, high
        Its ends.
    title
        What it shows.
    logarithmic
        Whether equal lengths are equal factors.
    labels
        What stands at which value; round numbers unless given.
    """

    low: float
    high: float
    title: str = ""
    logarithmic: bool = False
    labels: tuple[tuple[float, str], ...] | None = None

    def at(self, value: float) -> float:
        """Return where a value is, 0 and 1 being the ends; far outside as just outside."""
        # Halves: the length of the axis may be more than the largest number.
        low, high, value = (
            math.log(max(each, 1e-300)) if self.logarithmic else each / 2 for each in (self.low, self.high, value)
        )
        return min(max((value - low) / (high - low), -0.5), 1.5)

    def ticks(self, most: int) -> list[tuple[float, str]]:
        """Return the ticks and their labels, at most about this many."""
        if self.labels is not None:
            return [*self.labels]
        found = logarithmic_ticks((self.low, self.high)) if self.logarithmic else _round_numbers(self, most)
        return [(value, short(value)) for value in found]


def _round_numbers(axis: Axis, most: int) -> list[float]:
    least = axis.high / most - axis.low / most
    step = 10.0 ** math.floor(math.log10(least))
    step *= next(factor for factor in (1, 2, 5, 10) if least <= factor * step * (1 + 1e-9))
    first, last = math.ceil(axis.low / step - 1e-9), math.floor(axis.high / step + 1e-9)
    return [float(f"{number * step:.12g}") for number in range(first, last + 1)]


def short(value: float) -> str:
    """Return a number as it stands at an axis: 20k for twenty thousand."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= 10 * size or (letter != "k" and abs(value) >= size):
            return _signed(f"{value / size:.4g}{letter}")
    return _signed(f"{value:,.6g}")


def _signed(text: str) -> str:
    return text.replace("-", "\N{MINUS SIGN}")


def brief(text: str, most: int) -> str:
    """Return a name shortened to this many letters, without its middle."""
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 6]}\N{HORIZONTAL ELLIPSIS}{text[-5:]}"


def _less(a: str, b: str, most: int) -> str:
    """Return two names with a minus, so many of their letters at most: what a short one leaves is for the other."""
    room = max(most // 2, most - len(b))
    a = brief(a, room)
    return f"{a} \N{MINUS SIGN} {brief(b, most - len(a))}"


def style_sheet(styles: Sequence[Style]) -> Markup:
    """Return what the classes of algorithms look like, on light ground and on dark."""
    colours = list(dict.fromkeys((style.colour, style.dark_colour) for style in styles))
    light = "".join(f"--k{number}:{colour};" for number, (colour, _) in enumerate(colours))
    dark = "".join(f"--k{number}:{colour};" for number, (_, colour) in enumerate(colours))
    rules = [f":root{{{light}}}@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}"]
    for a, style in enumerate(styles):
        rules.append(
            f".a{a}{{--c:var(--k{colours.index((style.colour, style.dark_colour))})}}.a{a}.k{{marker:url(#m{a})}}"
        )
        if style.dashes:
            rules.append(f".a{a}.l{{stroke-dasharray:{' '.join(f'{1.7 * each:g}' for each in style.dashes)}}}")
        rules.append(f".off-{a} .chart .a{a}{{display:none}}")
    return Markup("\n".join(rules))


def definitions(styles: Sequence[Style]) -> Markup:
    """Return the markers that charts refer to, and the line with a marker that stands at every name."""
    found = []
    for a, style in enumerate(styles):
        mark = f'<path class="f a{a}" d="{_SYMBOLS[style.symbol]}"/>'
        found.append(
            f'<g id="s{a}"><path class="l a{a}" d="M-15,0H15"/>{mark}</g><g id="p{a}">{mark}</g>'
            f'<marker id="m{a}" viewBox="-6 -6 12 12" markerWidth="10" markerHeight="10" '
            f'markerUnits="userSpaceOnUse">{mark}</marker>'
        )
    return Markup(f'<svg class="unseen" aria-hidden="true"><defs>{"".join(found)}</defs></svg>')


def aggregate(ranking: Chart, names: Sequence[str], label: str, shown: Callable[[float], str]) -> Markup:
    """Return scores with intervals, the best first; those of several methods below one another."""
    methods, order = ranking["aggregate"], ranking["order"]
    ends = [end for each in methods for a in order for end in (each["low"][a], each["high"][a])]
    scores = [each["score"][a] for each in methods for a in order]
    # Intervals that are not drawn still set the scale: scores must not look far apart.
    axis = around([*ends, *scores], "score", within=(0.0, 1.0))
    height = _ROW + 2 if len(methods) == 1 else 9 * len(methods) + 6
    rows = []
    for place, a in enumerate(order):
        marks = []
        for m, each in enumerate(methods):
            score, low, high = each["score"][a], each["low"][a], each["high"][a]
            tip = (
                f"{names[a]}\n{shown(score)} ({shown(low)}, {shown(high)})\n"
                f"{each['method']}{'' if each['valid'] else ', approximate'}"
            )
            y = height * (place + 0.5) + 9 * (m - (len(methods) - 1) / 2)
            line = _whisker(axis, low, high, y) if high - low < VACUOUS else ""
            open_ = "" if each["valid"] else " hollow"
            marks.append(
                f'<g class="a{a}{open_}" data-tip="{escape(tip)}"><path class="w" d="{line}"/>'
                f'<use href="#p{a}" x="{_n(_x(axis, score))}" y="{_n(y)}"/></g>'
            )
        rows.append((names[a], f"a{a}", "".join(marks)))
    return _rows(rows, axis, label, height)


def differences(
    pairs: Sequence[Mapping[str, Any]], label: str, shown: Callable[[float], str], best: str | None = None
) -> Markup:
    """Return differences of scores with intervals, decided ones in colour; those of ``best`` alone if it is named."""
    ends = [row[end] for row in pairs for end in ("low", "high")]
    axis = around([0.0, *ends], "difference" if best is None else f"lead of {brief(best, 30)}")
    longest = max((len(row["a"]) + len(row["b"]) for row in pairs), default=0) + 3
    gutter = _GUTTER if best is not None else min(max(_LETTER * longest + 7, _GUTTER), _PAIR_GUTTER)
    letters = int((gutter - 7) / _LETTER + 1e-9)
    rows = []
    for place, row in enumerate(pairs):
        y = _ROW * (place + 0.5)
        decided = row["verdict"] != NOT_SEPARABLE
        text = f"{shown(row['difference'])} ({shown(row['low'])}, {shown(row['high'])})"
        line = _whisker(axis, row["low"], row["high"], y, gutter) if row["high"] - row["low"] < 2 * VACUOUS else ""
        tip = escape(f"{row['a']} less {row['b']}\n{text}\n{row['verdict']}")
        name = row["b"] if best is not None else _less(row["a"], row["b"], letters - 3)
        rows.append(
            (
                name,
                "",
                f'<g class="{"decided" if decided else "undecided"}" data-tip="{tip}"><path class="w" d="{line}"/>'
                f'<circle class="f" cx="{_n(_x(axis, row["difference"], gutter))}" cy="{_n(y)}" r="4"/></g>',
            )
        )
    return _rows(rows, axis, label, _ROW, zero=True, gutter=gutter)


def strip(panel: Chart, names: Sequence[str], order: Sequence[int], label: str, view: Sequence[float]) -> Markup:
    """Return every trial as a point, a row for every algorithm, with a line at the median."""
    axis = Axis(view[0], view[1], "score")
    by_number = {each["a"]: each for each in panel["series"]}
    rows = []
    for place, a in enumerate(order):
        each = by_number.get(a)
        if each is None:
            rows.append((names[a], f"a{a}", ""))
            continue
        y = _ROW * (place + 0.5)
        # Points that are close together must not hide one another.
        spread = 4.5 if len(each["points"]) > 1 else 0.0
        dots = _dots(
            (_x(axis, value), y + spread * (((3 * number) % 5) / 2 - 1)) for number, value in enumerate(each["points"])
        )
        more = f' data-v="{" ".join(map(str, each["points"]))}"' if each["exact"] else ""
        if each["runs"] is not None:
            runs = "\n".join(" ".join(run.split()) for run in each["runs"])
            more += f' data-r="{escape(runs)}"'
        median = f'<path class="n a{a}" d="M{_n(_x(axis, each["median"]))},{_n(y - 7)}v14"/>'
        rows.append((names[a], f"a{a}", f'{median}<path class="d a{a}" data-a="{a}" d="{dots}"{more}/>'))
    return _rows(rows, axis, label, _ROW, notes=_outside(panel, view))


def distribution(panel: Chart, levels: Sequence[float], label: str, view: Sequence[float]) -> Markup:
    """Return quantile functions with their bands; the script turns them into distribution functions."""
    series = [{**each, "x": levels} for each in panel["series"]]
    return lines(
        series,
        Axis(0.0, 1.0, "probability"),
        Axis(view[0], view[1], "score"),
        label,
        turns=True,
        notes=_outside(panel, view),
    )


def lines(
    series: Sequence[Chart],
    x: Axis,
    y: Axis,
    label: str,
    *,
    turns: bool = False,
    notes: Sequence[str] = (),
) -> Markup:
    """Return a line for every algorithm, with a marker here and there and a band where its trials bound it."""
    box = _box(x, y)
    bands, curves, marks = [], [], []
    for each in series:
        a = each["a"]
        points = _points(each["x"], each["y"], x, y, box)
        if each.get("low"):
            bands += [f'<path class="b a{a}" d="{d}"/>' for d in _bands(each, x, y, box)]
        curves.append(f'<path class="l a{a}" data-a="{a}" d="{_path(points)}"/>')
        every = math.ceil(len(points) / 5)
        kept = [point for i, point in enumerate(points) if (i + 3 * a) % every == 0]
        marks.append(f'<path class="k a{a}" d="{_path(kept)}"/>')
    axes = _axes(x, y, box)
    if turns:
        axes = f'<g class="straight">{axes}</g><g class="turned">{_axes(y, x, box)}</g>'
    small = "".join(
        _letters(WIDTH - 12, box.top + box.height - 5 - 12 * i, note, "end", "note") for i, note in enumerate(notes)
    )
    return _svg("".join(bands + curves + marks), axes, box, x, y, label, small)


def _bands(each: Chart, x: Axis, y: Axis, box: "_Box") -> Iterable[str]:
    """Return outlines of a band where both of its ends are known."""
    known = [None not in ends for ends in zip(each["y"], each["low"], each["high"], strict=True)]
    for is_known, part in itertools.groupby(range(len(known)), known.__getitem__):
        places = [*part]
        if is_known and len(places) > 1:
            high, low = (
                _points([each["x"][i] for i in places], [each[end][i] for i in places], x, y, box)
                for end in ("high", "low")
            )
            yield _path(high + low[::-1])


def response(each: Chart, label: str) -> Markup:
    """Return median scores by a hyperparameter, with their intervals where there are any."""
    labels = each["labels"] or [_text(value) for value in each["x"]]
    found = [
        row for row in zip(each["x"], each["y"], each["low"], each["high"], labels, strict=True) if row[1] is not None
    ]
    y = around([end for row in found for end in row[1:4] if end is not None] or [0.0], "median score")
    if each["near_one"]:
        at = from_one(each["x"]).tolist()
        found = [(float(from_one(row[0])), *row[1:]) for row in found]
        wide = around(at, each["name"])
        x = Axis(wide.low, wide.high, each["name"], labels=tuple(near_one_ticks(wide.low, wide.high)))
    elif each["log"]:
        x = Axis(min(each["x"]) / 1.1, max(each["x"]) * 1.1, each["name"], True)
    else:
        wide = around(each["x"], each["name"])
        marks = tuple((at, brief(name, 12)) for at, name in zip(each["x"], labels, strict=True))
        x = Axis(wide.low, wide.high, each["name"], labels=marks if each["labels"] else None)
    box = _box(x, y, height=110)
    points = _points([row[0] for row in found], [row[1] for row in found], x, y, box)
    whiskers, said = [], []
    for (at, _), (_, middle, low, high, name) in zip(points, found, strict=True):
        text = f"{' '.join(name.split())}: {_text(middle)}"
        if low is not None and high is not None:
            text += f" ({_text(low)}, {_text(high)})"
            whiskers.append(f"M{_n(at)},{_n(box.height * (1 - y.at(low)))}V{_n(box.height * (1 - y.at(high)))}")
        said.append(text)
    line = "" if each["labels"] else f'<path class="l" d="{_path(points)}"/>'
    tips = escape("\n".join(said))
    body = (
        f'<g class="a{each["a"]}"><path class="w" d="{"".join(whiskers)}"/>{line}'
        f'<path class="d" data-t="{tips}" d="{_dots(points)}"/></g>'
    )
    return _svg(body, _axes(x, y, box), box, x, y, label)


def _text(value: float) -> str:
    return _signed(f"{value:,.5g}")


def closing(race: Chart, number: int, label: str) -> Markup:
    """Return the bounds on a difference after every look; they hold from their look on, so both ends are steps."""
    pair = race["pairs"][number]
    widest = 1.05 * max(abs(end) for each in race["pairs"] for end in (*each["low"], *each["high"]))
    at = race["x"]
    several = len(at) > 1 and at[0] < at[-1]
    marks = tuple((value, short(value)) for value in race["ticks"])
    x = (
        Axis(at[0], at[-1], race["label"], True, marks)
        if several
        else Axis(at[0] - 1, at[0] + 1, race["label"], labels=marks)
    )
    y = Axis(-widest, widest, "difference of scores")
    box = _box(x, y, height=130)
    doubled = [value for value in at for _ in (0, 1)][1:] if several else [at[0] - 1, at[0] + 1]
    ends = [[value for value in pair[end] for _ in (0, 1)][: len(doubled)] for end in ("low", "high")]
    low, high = (_points(doubled, each, x, y, box) for each in ends)
    a, zero = pair["a"], _n(box.height / 2)
    dot = ""
    if pair["decided"] is not None:
        dot = f'<circle class="f" cx="{_n(box.width * x.at(at[pair["decided"]]))}" cy="{zero}" r="5"/>'
    body = (
        f'<path class="zero" d="M0,{zero}H{_n(box.width)}"/><g class="a{a}">'
        f'<path class="b strong" d="{_path(high + low[::-1])}"/>'
        f'<path class="l" d="{_path(low)}"/><path class="l" d="{_path(high)}"/>{dot}</g>'
    )
    return _svg(body, _axes(x, y, box), box, x, y, label)


def order_diagram(diagram: Chart, names: Sequence[str], label: str) -> Markup:
    """Return the order that verdicts make: lines lead down from better to worse."""
    # Between two neighbours there is one unit of room for a name, which is shortened only where not all fit.
    across = diagram["width"] + 1
    longest = _LETTER * min(max(map(len, names)), 24) + 20
    unit = min(longest, max((WIDTH - 14) / across, _LETTER * 10 + 20))
    width = max(unit * across + 14, WIDTH)
    height = 34 * (max(diagram["level"]) + 1)
    letters = int((unit - 20) / _LETTER + 1e-9)

    def at(x: float, level: float) -> tuple[float, float]:
        return 14 + unit * x, 18 + 34 * level

    paths = "".join(
        f"M{' '.join(f'{_n(px)},{_n(py)}' for px, py in (at(*point) for point in line))}" for line in diagram["lines"]
    )
    nodes, places = [], [at(*place) for place in zip(diagram["x"], diagram["level"], strict=True)]
    for px, py in places[len(names) :]:
        nodes.append(f'<circle class="meeting" cx="{_n(px)}" cy="{_n(py)}" r="2.5"/>')
    for a, (px, py) in zip(diagram["order"], places, strict=False):
        nodes.append(
            f'<g class="a{a}" data-tip="{escape(names[a])}"><use href="#p{a}" x="{_n(px)}" y="{_n(py)}"/>'
            f'<text class="name" x="{_n(px + 9)}" y="{_n(py + 4)}">{escape(brief(names[a], letters))}</text></g>'
        )
    # A wide one scrolls instead of becoming too small to read.
    wide = (
        f' style="width:{width / WIDTH * 100:.0f}%;max-width:none;min-width:{_n(0.9 * width)}px"'
        if width > WIDTH
        else ""
    )
    return Markup(
        f'<svg class="chart" viewBox="0 0 {_n(width)} {_n(height)}" role="img" aria-label="{escape(label)}"{wide}>'
        f'<g aria-hidden="true"><path class="edge" d="{paths}"/>{"".join(nodes)}</g></svg>'
    )


def spark(percentiles: Sequence[float | None]) -> Markup:
    """Return a line with a mark for every algorithm: the share of an environment's trials that it is better than."""
    marks = "".join(
        f'<path class="d a{a}" d="M{_n(4 + 92 * share)},{7 + (a % 3 - 1) * 2}h0"/>'
        for a, share in enumerate(percentiles)
        if share is not None
    )
    return Markup(
        '<svg class="chart spark" viewBox="0 0 100 14" aria-hidden="true"><path class="grid" d="M4,7H96M50,1V13"/>'
        f"{marks}</svg>"
    )


@dataclass(frozen=True)
class _Box:
    """Where the inside of a chart is."""

    left: float
    top: float
    width: float
    height: float


def _box(x: Axis, y: Axis, height: float = 170) -> _Box:
    # Turned, the other axis stands there.
    longest = max(len(text) for axis in (x, y) for _, text in axis.ticks(5) or [(0.0, "")]) if x.labels is None else 7
    left = 24 + _LETTER * min(longest, 9)
    return _Box(left, 8, WIDTH - left - 10, height)


def _axes(x: Axis, y: Axis, box: _Box) -> str:
    parts = [_across(x, box)]
    for value, text in y.ticks(5):
        at = box.top + box.height * (1 - y.at(value))
        parts.append(f'<path class="grid" d="M{_n(box.left)},{_n(at)}h{_n(box.width)}"/>')
        parts.append(_letters(box.left - 5, at + 4, text, "end"))
    middle = _n(box.top + box.height / 2)
    title = escape(brief(y.title, 30))
    parts.append(f'<text transform="translate(11,{middle})rotate(-90)" text-anchor="middle">{title}</text>')
    return "".join(parts)


def _across(x: Axis, box: _Box) -> str:
    """Return the axis below a chart."""
    lines, texts = [], []
    for value, text in x.ticks(6):
        at = box.left + box.width * x.at(value)
        lines.append(f"M{_n(at)},{_n(box.top)}v{_n(box.height)}")
        texts.append(_letters(at, box.top + box.height + 14, text))
    texts.append(_letters(box.left + box.width / 2, box.top + box.height + 29, brief(x.title, 50)))
    return f'<path class="grid" d="{"".join(lines)}"/>{"".join(texts)}'


def _letters(x: float, y: float, text: str, anchor: str = "middle", kind: str = "") -> str:
    kind = f' class="{kind}"' if kind else ""
    return f'<text{kind} x="{_n(x)}" y="{_n(y)}" text-anchor="{anchor}">{escape(text)}</text>'


def _svg(body: str, axes: str, box: _Box, x: Axis, y: Axis | None, label: str, notes: str = "") -> Markup:
    """Return a chart: what is inside of its axes is cut off there."""
    scale = "log" if x.logarithmic else "even"
    vertical = "" if y is None else f' data-y="{y.low:.7g} {y.high:.7g}" data-ty="{escape(y.title)}"'
    return Markup(
        f'<svg class="chart" viewBox="0 0 {WIDTH} {_n(box.top + box.height + 35)}" role="img" '
        f'aria-label="{escape(label)}" data-x="{x.low:.7g} {x.high:.7g} {scale}" data-tx="{escape(x.title)}"{vertical} '
        f'data-size="{_n(box.width)} {_n(box.height)}"><g aria-hidden="true">{axes}'
        f'<svg class="plot" x="{_n(box.left)}" y="{_n(box.top)}" '
        f'width="{_n(box.width)}" height="{_n(box.height)}">{body}</svg>{notes}</g></svg>'
    )


def _rows(
    rows: Sequence[tuple[str, str, str]],
    x: Axis,
    label: str,
    height: float,
    *,
    zero: bool = False,
    notes: Sequence[str] = (),
    gutter: float = _GUTTER,
) -> Markup:
    """Return a chart with a row for each name."""
    box = _Box(gutter, 6, WIDTH - gutter - 12, height * len(rows))
    most = int((gutter - 7) / _LETTER + 1e-9)
    names = "".join(
        _letters(gutter - 7, box.top + height * (place + 0.5) + 4, brief(name, most), "end", f"name {kind}".strip())
        for place, (name, kind, _) in enumerate(rows)
    )
    origin = f'<path class="zero" d="M{_n(box.width * x.at(0.0))},0V{_n(box.height)}"/>' if zero else ""
    bottom = box.top + box.height + 29
    small = "".join(_letters(2, bottom - 12 * i, note, "start", "note") for i, note in enumerate(notes))
    body = origin + "".join(marks for _, _, marks in rows)
    return _svg(body, _across(x, box) + names, box, x, None, label, small)


def _outside(panel: Chart, view: Sequence[float]) -> list[str]:
    """Return how far scores go that are outside of a view."""
    lowest, highest = panel["ends"]
    notes = []
    if lowest < view[0]:
        notes.append(f"scores down to {short(lowest)}")
    if highest > view[1]:
        notes.append(f"scores up to {short(highest)}")
    return notes


def around(values: Iterable[float], title: str, within: tuple[float, float] = (-math.inf, math.inf)) -> Axis:
    """Return an axis with all values and a margin that goes little beyond the possible values."""
    values = [*values]
    low, high = min(values), max(values)
    margin = 0.05 * high - 0.05 * low or 0.05 * abs(high) or 1.0
    low, high = max(low - margin, within[0] - 0.02, -LARGEST), min(high + margin, within[1] + 0.02, LARGEST)
    return Axis(low, high, title)


def _points(
    across: Sequence[float], along: Sequence[float | None], x: Axis, y: Axis, box: _Box
) -> list[tuple[float, float]]:
    return [
        (box.width * x.at(one), box.height * (1 - y.at(other)))
        for one, other in zip(across, along, strict=True)
        if other is not None
    ]


def _dots(points: Iterable[tuple[float, float]]) -> str:
    """Return lines without length, whose round ends are points."""
    return "".join(f"M{_n(x)},{_n(y)}h0" for x, y in points)


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + " ".join(f"{_n(x)},{_n(y)}" for x, y in points) if points else ""


def _x(axis: Axis, value: float, gutter: float = _GUTTER) -> float:
    return (WIDTH - gutter - 12) * axis.at(value)


def _whisker(axis: Axis, low: float, high: float, y: float, gutter: float = _GUTTER) -> str:
    left, right = _n(_x(axis, low, gutter)), _n(_x(axis, high, gutter))
    return f"M{left},{_n(y)}H{right}M{left},{_n(y - 3)}v6M{right},{_n(y - 3)}v6"


def _n(number: float) -> str:
    """Return a length with a tenth of a unit: no screen shows less."""
    return f"{number:.1f}".removesuffix(".0")
