"""Draw the diagrams of the documentation: docs/images/{pipeline,percentile,game,carried}.svg.

python docs_tools/diagrams.py
"""

import os
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

os.environ.setdefault("MPLBACKEND", "agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.patches import Rectangle
from scipy.stats import norm

IMAGES = Path(__file__).parents[1] / "docs" / "images"
BLUE, ORANGE, GREY, INK = "#0072b2", "#d55e00", "#8a8a8a", "#222222"


def box(ax: Any, x: float, y: float, text: str, colour: str = INK, width: float = 1.7, height: float = 0.62) -> None:
    """Draw a box with text around a point."""
    shape = Rectangle((x - width / 2, y - height / 2), width, height, fill=True, fc="white", ec=colour, lw=1.4)
    ax.add_patch(shape)
    ax.text(x, y, text, ha="center", va="center", fontsize=9, color=INK)


def arrow(ax: Any, start: tuple[float, float], end: tuple[float, float], text: str = "", colour: str = GREY) -> None:
    """Draw an arrow with a label above its middle."""
    ax.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 1.3})
    ax.text((start[0] + end[0]) / 2, (start[1] + end[1]) / 2 + 0.1, text, ha="center", fontsize=8, color=colour)


def pipeline() -> Any:
    """Draw the pipeline from trials to a report."""
    figure, ax = plt.subplots(figsize=(8.6, 2.9))
    row = [
        ("a study\n(algorithms,\nenvironments)", 1),
        ("trials", 3.2),
        ("scores", 5.4),
        ("evaluation", 7.8),
        ("report", 10),
    ]
    for text, x in row:
        box(ax, x, 1.6, text, BLUE if text in ("scores", "evaluation") else INK, width=1.4, height=0.9)
    for start, end, text in ((1, 3.2, "collect"), (3.2, 5.4, ""), (5.4, 7.8, "judge"), (7.8, 10, "report")):
        arrow(ax, (start + 0.72, 1.6), (end - 0.72, 1.6), text)
    box(ax, 3.2, 0.3, "your logs and tables", ORANGE, width=2.3)
    arrow(ax, (4.38, 0.42), (5.4, 1.12), "", ORANGE)
    ax.text(5.1, 0.6, "import, check", fontsize=8, color=ORANGE, ha="left")
    bend = {"arrowstyle": "-|>", "color": BLUE, "lw": 1.3, "connectionstyle": "arc3,rad=0.25"}
    ax.annotate("", (3.2, 2.08), (7.8, 2.08), arrowprops=bend)
    ax.text(5.5, 2.72, "race: more trials where they help", fontsize=8, color=BLUE, ha="center")
    ax.set(xlim=(0, 11), ylim=(-0.1, 3.0))
    return figure


def percentile() -> Any:
    """Draw two distributions and the share of pairs that one wins."""
    figure, axes = plt.subplots(1, 2, figsize=(8.6, 2.8), width_ratios=(3, 2))
    x = np.linspace(-3, 5.5, 400)
    for mean, colour, name in ((0.0, ORANGE, "reference r"), (1.5, BLUE, "algorithm a")):
        axes[0].fill_between(x, norm.pdf(x, mean), alpha=0.25, color=colour, lw=0)
        axes[0].plot(x, norm.pdf(x, mean), color=colour, lw=1.5)
        axes[0].text(mean, 0.42, name, color=colour, ha="left" if mean else "right", fontsize=9)
    axes[0].set(xlabel="score on one environment", ylim=(0, 0.5), yticks=[])
    axes[0].spines[["left", "top", "right"]].set_visible(False)
    mine, theirs = np.array([3.1, 1.9, 1.2, 0.2]), np.array([1.6, 0.4, -0.3, -1.1])
    won = mine[:, None] > theirs[None, :]
    axes[1].imshow(won, cmap=ListedColormap(["#f3d3c0", "#bcd8ea"]), aspect="auto")
    for (a, r), wins in np.ndenumerate(won):
        axes[1].text(r, a, "win" if wins else "loss", ha="center", va="center", fontsize=8)
    axes[1].set(xticks=range(4), xticklabels=theirs, yticks=range(4), yticklabels=mine)
    axes[1].set(xlabel="four trials of r", ylabel="four trials of a")
    axes[1].set_title(f"percentile z = {won.sum()} of {won.size} pairs = {won.mean():.2f}", fontsize=9)
    axes[1].tick_params(length=0)
    return figure


def game() -> Any:
    """Draw the players' moves from one state."""
    figure, ax = plt.subplots(figsize=(8.6, 2.9))
    box(ax, 5, 1.5, "state\n(a, (e, r))", BLUE, width=2.0, height=0.9)
    for number, text in enumerate(("(b, (e, r))", "(c, (e, r))")):
        box(ax, 1.3, 2.2 - 1.4 * number, text, INK, width=1.9)
        arrow(ax, (3.98, 1.6 - 0.2 * number), (2.28, 2.2 - 1.4 * number), "", BLUE)
    for number, text in enumerate(("(a, (e', r))", "(a, (e, r'))")):
        box(ax, 8.7, 2.2 - 1.4 * number, text, INK, width=1.9)
        arrow(ax, (6.02, 1.6 - 0.2 * number), (7.72, 2.2 - 1.4 * number), "", ORANGE)
    ax.text(2.6, 2.75, "player 1 changes the algorithm\nif the percentile rises", ha="center", fontsize=8.5, color=BLUE)
    ax.text(
        7.4,
        2.75,
        "player 2 changes environment or reference\nif the percentile falls",
        ha="center",
        fontsize=8.5,
        color=ORANGE,
    )
    ax.text(5, 0.2, "weight of (e, r) = share of time that the walk spends there", ha="center", fontsize=8.5, color=INK)
    ax.set(xlim=(0, 10), ylim=(0, 3.2))
    return figure


def carried() -> Any:
    """Draw how uncertainty is carried from samples to verdicts."""
    figure, ax = plt.subplots(figsize=(8.6, 2.6))
    steps = (
        (1.1, "samples of scores", "T trials in each cell"),
        (3.9, "intervals on\nall percentiles", "simultaneous: 1 - delta"),
        (6.9, "bounds over all games\nthat they allow", "worst case, certified"),
        (9.8, "intervals on scores,\nverdicts", "the same 1 - delta"),
    )
    for x, text, below in steps:
        box(ax, x, 1.3, text, BLUE, width=2.1, height=0.85)
        ax.text(x, 0.62, below, ha="center", fontsize=8, color=GREY)
    for (start, *_), (end, *_) in pairwise(steps):
        arrow(ax, (start + 1.07, 1.3), (end - 1.07, 1.3))
    for number, (low, high, colour) in enumerate(((9.0, 9.7, ORANGE), (10.0, 10.7, BLUE))):
        ax.plot([low, high], [2.1 + 0.2 * number] * 2, color=colour, lw=3, solid_capstyle="butt")
    ax.text(9.8, 2.5, "A is better than B", ha="center", fontsize=8.5, color=INK)
    ax.set(xlim=(0, 11), ylim=(0.4, 2.8))
    return figure


DIAGRAMS: dict[str, Callable[[], Any]] = {
    "pipeline": pipeline,
    "percentile": percentile,
    "game": game,
    "carried": carried,
}


def main() -> None:
    """Write all of them."""
    with plt.rc_context({"svg.hashsalt": "untuned", "svg.fonttype": "path", "font.size": 9}):
        for name, draw in DIAGRAMS.items():
            figure = draw()
            if name != "percentile":
                figure.axes[0].axis("off")
            figure.tight_layout()
            figure.savefig(IMAGES / f"{name}.svg", metadata={"Date": None}, facecolor="white")
            plt.close(figure)


if __name__ == "__main__":
    main()
