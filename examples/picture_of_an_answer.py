"""Draws the picture of the README: who performs best by examples/scores.csv, and who is better than whom.

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
    """Draw scores with intervals, and verdicts, side by side: with equal weights."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=HERE.parent / "docs" / "images" / "answer.png")
    arguments = parser.parse_args()
    evaluation = untuned.evaluate(HERE / "scores.csv").under("uniform")
    plt.rcParams |= {"font.size": 8, "xtick.labelsize": 7, "axes.spines.top": False, "axes.spines.right": False}
    figure, (left, right) = plt.subplots(1, 2, figsize=(5.2, 2.1), width_ratios=(1.2, 1), layout="constrained")
    figures.aggregate(evaluation, ax=left)
    figures.verdict_matrix(evaluation, ax=right)
    figures.save(figure, arguments.out)
    print(arguments.out)


if __name__ == "__main__":
    main()
