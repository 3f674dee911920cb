"""The lab: experiments on the interval methods themselves, with populations of which the truth is known."""

from untuned.lab.catalogue import population, populations
from untuned.lab.contenders import Contender, contender
from untuned.lab.experiments import Coverage, Row, coverage
from untuned.lab.kinds import CollectedPopulation, KnownPopulation, Population, Truth
from untuned.lab.rates import Rate
from untuned.lab.replicates import Replicates, Replication, replication

__all__ = [
    "CollectedPopulation",
    "Contender",
    "Coverage",
    "KnownPopulation",
    "Population",
    "Rate",
    "Replicates",
    "Replication",
    "Row",
    "Truth",
    "contender",
    "coverage",
    "population",
    "populations",
    "replication",
]
