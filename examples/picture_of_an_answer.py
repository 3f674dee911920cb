"""Draws the picture of the README: who performs best by examples/scores.csv, who is better than whom, and a reason.

    python examples/picture_of_an_answer.py [--out docs/images/answer.png]

The scores are those of the first 100 trials of examples/small_study.toml, as `untuned export` writes them.
"""

import argparse
from pathlib import Path

import matplotlib.pyplot as plt

import untuned
from untuned import figures

HERE = Path(__file__).parent


def main() -> None:
    """Draw scores with intervals, verdicts, and how scores are distributed on one environment, side by side."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=HERE.parent / "docs" / "images" / "answer.png")
    arguments = parser.parse_args()
    evaluation = untuned.evaluate(HERE / "scores.csv")
    figure, axes = plt.subplots(1, 3, figsize=(9.6, 3), width_ratios=(1.1, 1, 1.1), layout="constrained")
    left, middle, right = axes
    figures.aggregate(evaluation, ax=left)
    figures.verdict_matrix(evaluation, ax=middle)
    figures.quantiles(evaluation, "gridworld-5-stochastic", ax=right)
    # The colours, markers and dashes are those of the scores.
    right.get_legend().remove()
    figures.save(figure, arguments.out)
    print(arguments.out)


if __name__ == "__main__":
    main()
