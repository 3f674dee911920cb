"""Figures of the lab's results: how often methods fail, and how many pairs they decide."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from untuned.errors import needs

with needs("figures", "a figure"):
    import matplotlib as mpl
    from matplotlib.figure import Figure
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator, PercentFormatter

from untuned.lab.coverage_experiment import CONFIDENCE
from untuned.lab.coverage_records import EVENTS, Coverage
from untuned.lab.table_two import Replication
from untuned.scores import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours, distinct for any kind of colour vision.
_KEPT = "#0072B2"
_BROKEN = "#D55E00"
_OPEN = "#999999"
_COLOURS = ("#0072B2", "#009E73", "#E69F00", "#CC79A7", "#56B4E9", "#000000", "#D55E00", "#999999")
_MARKERS = "osD^vP*X<>dhp8"
_TICKS = (0.0, 0.01, 0.05, 0.2, 0.5, 1.0)
_STYLE: Any = {"font.size": 8, "axes.spines.top": False, "axes.spines.right": False}


def draw_failures(coverage: Coverage, event: str, ax: "Axes") -> None:
    """Draw the rates of one kind of error by method: a mark for each experiment, with its limits.

    Parameters
    ----------
    coverage
        What was found.
    event
        A name of `untuned.lab.coverage_records.EVENTS`.
    ax
        Where to draw.
    """
    methods = coverage.methods
    for place, method in enumerate(methods):
        rates = [row.events().get(event) for row in coverage.of(method)]
        found = sorted((rate for rate in rates if rate is not None), key=lambda rate: (rate.rate, rate.high))
        if not found:
            ax.text(0.5, place, "no intervals on these", ha="center", va="center", color=_OPEN, fontsize=7)
            continue
        # Side by side from the lowest to the highest, within the method's own stripe.
        heights = place + (np.linspace(0.36, -0.36, len(found)) if len(found) > 1 else np.zeros(1))
        colours = [_colour(rate.finding(coverage.delta)) for rate in found]
        ax.hlines(heights, [r.low for r in found], [r.high for r in found], colors=colours, linewidth=0.6, alpha=0.6)
        ax.scatter([rate.rate for rate in found], heights, s=7, c=colours, zorder=3, linewidths=0)
    ax.axvline(coverage.delta, color="black", linewidth=0.8, linestyle=(0, (4, 3)))
    # Small rates need room, and large ones must be seen: the square root has both, and a zero.
    ax.set_xscale("function", functions=(_root, np.square))
    ax.set_xlim(0.0, 1.0)
    ax.xaxis.set_major_locator(FixedLocator(_TICKS))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    ax.set_ylim(len(methods) - 0.5, -0.5)
    ax.set_yticks(range(len(methods)), [_label(method) for method in methods])
    ax.tick_params(axis="y", length=0)
    for place, method in enumerate(methods):
        if _on_purpose(method):
            ax.axhspan(place - 0.5, place + 0.5, color="0.93", zorder=-1)
    for place in range(1, len(methods)):
        ax.axhline(place - 0.5, color="0.9", linewidth=0.6, zorder=0)
    ax.set_title(f"{EVENTS[event]} wrong", fontsize=9, loc="left")


def draw_decided(coverage: Coverage, ax: "Axes") -> None:
    """Draw the proportion of decided pairs over the number of trials, the mean over populations."""
    sizes = sorted({trials for trials, _ in coverage.sizes})
    every = coverage.sizes[0][1]
    for number, method in enumerate(coverage.methods):
        shares = [coverage.decided(method, size, every) for size in sizes]
        ax.plot(
            sizes,
            [np.nan if share is None else share for share in shares],
            label=_label(method).replace("\n", " "),
            color=_OPEN if _on_purpose(method) else _COLOURS[number % len(_COLOURS)],
            marker=_MARKERS[number % len(_MARKERS)],
            markersize=4,
            linewidth=1.0,
            linestyle=_line(coverage, method),
        )
    _trials_axis(ax, sizes)
    ax.set_ylim(bottom=0.0)
    ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    ax.set_title("pairs decided, mean over populations", fontsize=9, loc="left")


def coverage_figure(coverage: Coverage) -> Figure:
    """Return a page: each method's rates of every kind of error, and how many pairs it decides."""
    methods = len(coverage.methods)
    shrunk = any(map(_on_purpose, coverage.methods))
    with mpl.rc_context(_STYLE):
        height = 0.9 + 0.42 * methods
        figure = Figure(figsize=(10.0, 2.0 * height + 0.6), layout="constrained")
        names = list(EVENTS)[:4]
        axes = figure.subplots(2, 3, gridspec_kw={"width_ratios": (1.0, 1.0, 1.0)})
        for number, name in enumerate(names):
            ax = axes[number // 3, number % 3] if number < 3 else axes[1, 0]
            draw_failures(coverage, name, ax)
            if number % 3:
                ax.set_yticklabels([])
            ax.set_xlabel("proportion of data sets")
        draw_decided(coverage, axes[1, 1])
        axes[1, 2].axis("off")
        handles, labels = axes[1, 1].get_legend_handles_labels()
        axes[1, 2].legend(
            handles, labels, loc="upper left", frameon=False, title="solid: guaranteed, dashed: approximate"
        )
        axes[1, 2].text(
            0.0,
            0.0,
            "Each mark is one experiment: one population with\n"
            f"one number of trials. Lines: {100 * _confidence(coverage):g} % confidence limits.\n"
            f"Blue: upper limit at most {100 * coverage.delta:g} %.\n"
            f"Orange: lower limit above {100 * coverage.delta:g} %.\n"
            "Grey: too few data sets to tell."
            + ("\nShaded: intervals shrunk on purpose, to show\nthat the test detects it." if shrunk else ""),
            transform=axes[1, 2].transAxes,
            va="bottom",
            fontsize=7.5,
        )
        looks = "" if coverage.sizes[0][1] is None else f", looking every {coverage.sizes[0][1]} trials"
        figure.suptitle(f"Coverage of the intervals, delta = {coverage.delta:g}{looks}", fontsize=11, x=0.01, ha="left")
    return figure


def replication_figure(found: Replication) -> Figure:
    """Return failure rates and significant comparisons over the number of trials, next to the paper's."""
    methods = list(dict.fromkeys(row.method for row in found.rows))
    sizes = sorted({row.trials for row in found.rows})
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(9.0, 3.4), layout="constrained")
        left, right = figure.subplots(1, 2)
        for number, method in enumerate(methods):
            rows = sorted((row for row in found.rows if row.method == method), key=lambda row: row.trials)
            at = [row.trials for row in rows]
            colour, marker = _COLOURS[number % len(_COLOURS)], _MARKERS[number % len(_MARKERS)]
            for ax, ours, published in (
                (left, [row.failures for row in rows], [row.published_failures for row in rows]),
                (right, [row.significant for row in rows], [row.published_significant for row in rows]),
            ):
                style: Any = {"color": colour, "marker": marker, "clip_on": False}
                ax.plot(at, _numbers(ours), **style, markersize=4.5, linewidth=1.0, label=method)
                if any(number is not None for number in published):
                    ax.plot(
                        at,
                        _numbers(published),
                        **style,
                        markersize=6,
                        markerfacecolor="none",
                        linewidth=0.8,
                        linestyle=(0, (2, 2)),
                        label=f"{method}, the paper",
                    )
        delta = float(str(found.settings["delta"]))
        left.axhline(delta, color="black", linewidth=0.8, linestyle=(0, (4, 3)))
        left.set_yscale("function", functions=(_root, np.square))
        left.yaxis.set_major_locator(FixedLocator(_TICKS))
        left.yaxis.set_minor_locator(NullLocator())
        left.set_ylim(0.0, 1.0)
        left.set_title("estimates of other samples missed", fontsize=9, loc="left")
        right.set_title("pairs separated", fontsize=9, loc="left")
        right.set_ylim(0.0, 1.0)
        for ax in (left, right):
            _trials_axis(ax, sizes)
            ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        handles, labels = left.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside right center", frameon=False)
    return figure


def _numbers(values: Sequence[float | None]) -> list[float]:
    return [np.nan if value is None else value for value in values]


def _confidence(coverage: Coverage) -> float:
    return float(str(coverage.settings.get("confidence", CONFIDENCE)))


def _on_purpose(method: str) -> bool:
    """Return whether a method's intervals were shrunk, as in ``pairing*0.7``."""
    return "*" in method


def _label(method: str) -> str:
    return f"{method}\n(broken on purpose)" if _on_purpose(method) else method


def _line(coverage: Coverage, method: str) -> Any:
    if _on_purpose(method):
        return (0, (1, 1))
    return "-" if any(row.guaranteed for row in coverage.of(method)) else (0, (3, 2))


def _colour(finding: str) -> str:
    return {"kept": _KEPT, "broken": _BROKEN}.get(finding, _OPEN)


def _root(values: Floats) -> Floats:
    # Axes also request values beyond their ends.
    roots: Floats = np.sqrt(np.maximum(values, 0.0))
    return roots


def _trials_axis(ax: "Axes", sizes: "list[int]") -> None:
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(FixedLocator(sizes))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    ax.set_xlabel("trials per algorithm and environment")
