"""The paper's published figures, from its tables, as data."""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType

#: The source of the figures.
SOURCE = (
    "S. M. Jordan, Y. Chandak, D. Cohen, M. Zhang, P. S. Thomas: Evaluating the Performance of Reinforcement Learning "
    "Algorithms. ICML 2020, PMLR 119, 4962-4973: its tables 1 and 2, and the tables of its appendices"
)
#: Notes for readers.
NOTES = (
    "For Q-Parl2's score the paper's Table 1 prints 0.4366; by its other methods the same score is 0.4523, which "
    "stands here.",
    "For four environments, Gridworld 10 Stochastic, Chain 50 Stochastic, Acrobot and PinBall Single, published "
    "means are not available: our cells cannot be compared there.",
    "Table 2 was made with a Parl2 whose step size began ten times smaller, as the paper's appendix on that experiment "
    "says: these are other algorithms, and where that matters its figures need not agree.",
)
#: Trials per mean and per aggregate.
TRIALS = 10_000
#: Samples per line of Table 2.
SAMPLES = 1_000
#: The precision of rounded means.
STEP = 0.1


@dataclass(frozen=True)
class Entry:
    """A figure with its interval and its rank.

    Attributes
    ----------
    value, low, high
        The estimate and its interval.
    rank, worst, best
        Its rank, and the ranks that the intervals allow.
    """

    value: float
    low: float
    high: float
    rank: int
    worst: int
    best: int


@cache
def aggregates() -> Mapping[tuple[str, str], Entry]:
    """Return the aggregate scores by (method, algorithm)."""
    return _entries("aggregates.csv", ("method", "algorithm"), "score")


@cache
def means() -> Mapping[tuple[str, str], Entry]:
    """Return the mean scores by (algorithm, environment)."""
    return _entries("means.csv", ("algorithm", "environment"), "mean")


def _entries(file: str, keys: tuple[str, str], value: str) -> Mapping[tuple[str, str], Entry]:
    text = resources.files("untuned.reproduction").joinpath("data", file).read_text(encoding="utf-8")
    return MappingProxyType(
        {
            (row[keys[0]], row[keys[1]]): Entry(
                float(row[value]),
                float(row["low"]),
                float(row["high"]),
                int(row["rank"]),
                int(row["rank_low"]),
                int(row["rank_high"]),
            )
            for row in csv.DictReader(text.splitlines())
        }
    )
