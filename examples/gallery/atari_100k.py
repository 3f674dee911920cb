"""Make one table of the scores that five papers on world models published for Atari 100k.

    python examples/gallery/atari_100k.py FOLDER [--out OUT]

FOLDER has five files, one per method, named after it, each `{game: [scores of five runs]}`:

    DIAMOND.json     results/data/DIAMOND.json of https://github.com/eloialonso/diamond
    TWM.json         results/scores.json of https://github.com/jrobine/twm
    IRIS.json        results/data/IRIS.json of https://github.com/eloialonso/iris
    STORM.json       results/storm.json of https://github.com/weipu-zhang/STORM
    Delta-IRIS.json  results/atari.json of https://github.com/vmicheli/delta-iris

Writes OUT/atari-100k-five.csv, prints what a check of the scores finds, and what they allow to claim. The scores of
Delta-IRIS are sorted, which looks like a learning curve. They are final scores of runs, so the finding is accepted.
"""

import argparse
from pathlib import Path

import untuned

METHODS = ("DIAMOND", "TWM", "IRIS", "STORM", "Delta-IRIS")

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("folder", type=Path, help="where the downloaded files are")
parser.add_argument("--out", type=Path, default=Path(), help="where the tables are written; here by default")
options = parser.parse_args()

scores = untuned.read_scores([options.folder / f"{name}.json" for name in METHODS])
untuned.write_scores(scores, options.out / "atari-100k-five.csv")
print(untuned.check(scores), end="\n\n")
print(untuned.evaluate(scores, accept=["sorted-rows"]))
