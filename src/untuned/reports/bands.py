"""Bands on the distributions of scores: what the figures and the page show of every environment."""

from untuned.evaluation import Evaluation
from untuned.judge.intervals.dkw import Band, band, levels


def bands(evaluation: Evaluation) -> dict[tuple[str, str], Band]:
    """Return a band for every (algorithm, environment) with trials; with probability 1 - delta all of them hold.

    They rest on the inequality of Dvoretzky, Kiefer and Wolfowitz whatever the evaluation's method, and assume nothing
    but independent trials; delta is divided by their number. Those of a race hold at all numbers of trials.
    """
    table = evaluation.scores
    level_ae = levels(table, evaluation.delta, evaluation.anytime)
    measured = [
        (a, e) for e in range(len(table.environments)) for a in range(len(table.algorithms)) if table.cells[a][e].size
    ]
    return {
        (table.algorithms[a], table.environments[e]): band(table.cells[a][e], float(level_ae[a, e]), table.ranges[e])
        for a, e in measured
    }
