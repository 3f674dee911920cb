"""The lab: experiments on the interval methods, with populations whose true values are known."""

from untuned.lab.contenders import Contender as Contender
from untuned.lab.contenders import contender as contender
from untuned.lab.coverage_experiment import coverage as coverage
from untuned.lab.coverage_records import Coverage as Coverage
from untuned.lab.coverage_records import Row as Row
from untuned.lab.coverage_records import Worst as Worst
from untuned.lab.known_populations import few_runs as few_runs
from untuned.lab.known_populations import population as population
from untuned.lab.known_populations import populations as populations
from untuned.lab.mixtures import Part as Part
from untuned.lab.mixtures import even as even
from untuned.lab.mixtures import mixture as mixture
from untuned.lab.mixtures import normal as normal
from untuned.lab.mixtures import point as point
from untuned.lab.mixtures import two as two
from untuned.lab.population_types import CollectedPopulation as CollectedPopulation
from untuned.lab.population_types import KnownPopulation as KnownPopulation
from untuned.lab.population_types import Population as Population
from untuned.lab.population_types import Truth as Truth
from untuned.lab.population_types import WithFamilies as WithFamilies
from untuned.lab.rates import Rate as Rate
from untuned.lab.table_two import Replicates as Replicates
from untuned.lab.table_two import Replication as Replication
from untuned.lab.table_two import replication as replication
