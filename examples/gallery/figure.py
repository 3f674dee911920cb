"""Draw the scores that a table allows to claim.

python examples/gallery/figure.py TABLE PICTURE [--weights uniform] [--accept CODE]
"""

import argparse

import untuned
from untuned import figures

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("table", help="scores, as untuned.evaluate takes them")
parser.add_argument("picture", help="the file to write: png, pdf or svg")
parser.add_argument("--weights", default="uniform", help="of environments: uniform or game")
parser.add_argument("--accept", action="append", default=[], help="a finding that was looked into")
options = parser.parse_args()

evaluation = untuned.evaluate(options.table, weights=options.weights, accept=options.accept)
figure = figures.aggregate(evaluation).get_figure(root=True)
assert figure is not None
figures.save(figure, options.picture)
