"""Make tables of scores from Dopamine's published learning curves.

    python examples/gallery/dopamine.py FOLDER [--out OUT]

FOLDER is `baselines/atari/data` of https://github.com/google/dopamine (Apache 2.0), of which the files GAME.json are
read: a list of learning curves of six agents, five runs each. Writes OUT/dopamine-mean.csv (the mean over training is a
run's score) and OUT/dopamine-final.csv (the mean of the last five iterations), and prints what each allows to claim.
"""

import argparse
from pathlib import Path

import untuned

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("folder", type=Path, help="where the downloaded files are")
parser.add_argument("--out", type=Path, default=Path(), help="where the tables are written; here by default")
options = parser.parse_args()

# GAME.vg.json describes plots of the same runs; GAME_CNN.json and GAME_Impala.json are of other networks.
files = [path for path in sorted(options.folder.glob("*.json")) if path.stem.isalnum()]
for name, reduction in (("mean", "mean"), ("final", "last:5")):
    scores = untuned.read_scores(files, reduce=reduction)
    untuned.write_scores(scores, options.out / f"dopamine-{name}.csv")
    print(untuned.evaluate(scores), end="\n\n")
