"""The lab: experiments on the interval methods themselves, with populations of which the truth is known."""

from untuned.lab.contenders import Contender, contender
from untuned.lab.coverage_experiment import Coverage, Row, coverage
from untuned.lab.known_populations import population, populations
from untuned.lab.population_types import CollectedPopulation, KnownPopulation, Population, Truth
from untuned.lab.rates import Rate
from untuned.lab.table_two import Replicates, Replication, replication

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
