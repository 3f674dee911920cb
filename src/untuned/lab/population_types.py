"""Kinds of populations: distributions of scores to draw from, with known true values."""

import hashlib
import string
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from untuned.errors import InvalidInput
from untuned.evaluation import Ranking
from untuned.families import check, checked, listed, shares
from untuned.judge.game import aggregate, equilibrium
from untuned.judge.judging import GAME
from untuned.judge.percentiles import SELF, Payoff
from untuned.judge.percentiles import percentiles as estimated_percentiles
from untuned.judge.pool import pools
from untuned.lab.mixtures import Law, draw, percentiles
from untuned.scores import EVERYWHERE, Floats, Identical, Range, ScoreTable, spread


@dataclass(frozen=True)
class Truth:
    """The true values that intervals should contain.

    Attributes
    ----------
    z_aer
        The percentiles ``[player, environment, reference]``.
    y_a
        The aggregate scores under the game's weights.
    """

    z_aer: Floats
    y_a: Floats

    def scores(self, ranking: Ranking) -> Floats:
        """Return the aggregate scores under the weights of a ranking.

        Parameters
        ----------
        ranking
            The ranking with the weights; the game's are those of the true game, all others were chosen beforehand.
        """
        return self.y_a if ranking.weights == GAME else aggregate(self.z_aer, ranking.q_er)

    def facts(self) -> dict[str, Any]:
        """Return the same as plain JSON types."""
        return {"percentiles": self.z_aer.tolist(), "scores": self.y_a.tolist()}


def true_game(z_aer: Floats, share_e: Floats | None = None) -> Truth:
    """Return percentiles and the aggregates of their game; ``share_e`` is 1/k for each of k variants."""
    return Truth(z_aer, aggregate(z_aer, equilibrium(z_aer, share_e=share_e).q_er))


class Population(ABC):
    """Scores of algorithms on environments, with known truth.

    Attributes
    ----------
    name, summary
        What it is called, and what it is, in a line.
    """

    name: str
    summary: str

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """A hash of everything that decides data sets and truth."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """How many algorithms, and how many environments."""

    @abstractmethod
    def truth(self, payoff: Payoff) -> Truth:
        """Return percentiles and aggregates when ties count as ``payoff`` says."""

    @abstractmethod
    def sizes(self, trials: int) -> tuple[int, ...]:
        """Return the trials that each algorithm has on every environment, in an experiment of this size."""

    @abstractmethod
    def sample(self, trials: int, rng: np.random.Generator) -> ScoreTable:
        """Return a data set: independent trials, as many as `sizes` says.

        Parameters
        ----------
        trials
            Trials per cell.
        rng
            Where random numbers come from.
        """

    def cell_sizes(self, trials: int) -> tuple[tuple[int, ...], ...]:
        """Return the trials of each algorithm on each environment, in an experiment of this size.

        Parameters
        ----------
        trials
            The experiment's size.
        """
        return tuple((size,) * self.shape[1] for size in self.sizes(trials))

    def first(self, table: ScoreTable, trials: int) -> ScoreTable:
        """Return the part of a data set that existed when the experiment had this size.

        Parameters
        ----------
        table
            A data set that `sample` returned.
        trials
            Trials per cell, no more than it has.
        """
        cells = tuple(
            tuple(cell[:size] for cell, size in zip(row, sizes, strict=True))
            for row, sizes in zip(table.cells, self.cell_sizes(trials), strict=True)
        )
        return ScoreTable(table.algorithms, table.environments, cells, table.ranges, table.kinds)


@dataclass(frozen=True)
class KnownPopulation(Population):
    """A population of known distributions.

    Attributes
    ----------
    name, summary
        What it is called, and what it is, in a line.
    laws
        ``laws[algorithm][environment]``.
    ranges
        The lowest and the highest score, declared for every environment.
    exponential
        Whether scores are the exponentials of what the laws say.
    identical
        Algorithms that are declared to be the same.
    shares
        How many trials each algorithm has, as a multiple of the experiment's size, rounded up; a list has one number
        for each environment, 0 where nothing was run. By default all the same.
    """

    name: str
    summary: str
    laws: Sequence[Sequence[Law]]
    ranges: Range = EVERYWHERE
    exponential: bool = False
    identical: Identical = ()
    shares: Sequence[Fraction | Sequence[Fraction]] = ()
    algorithms: tuple[str, ...] = field(init=False)
    environments: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        names = string.ascii_uppercase if len(self.laws) <= 26 else [f"A{a + 1}" for a in range(len(self.laws))]
        object.__setattr__(self, "algorithms", tuple(names[: len(self.laws)]))
        object.__setattr__(self, "environments", tuple(f"environment-{e + 1}" for e in range(len(self.laws[0]))))

    @property
    def fingerprint(self) -> str:
        """A hash of everything that decides data sets and truth."""
        decisive = (self.laws, self.ranges, self.exponential, self.identical, self.shares)
        return hashlib.blake2b(repr(decisive).encode(), digest_size=8).hexdigest()

    @property
    def shape(self) -> tuple[int, int]:
        """How many algorithms, and how many environments."""
        return len(self.laws), len(self.laws[0])

    def truth(self, payoff: Payoff) -> Truth:
        """Return percentiles and aggregates when ties count as ``payoff`` says."""
        z_aer = percentiles(self.laws, payoff)
        # Algorithms declared identical have the payoff of an algorithm against itself, whatever the payoff of ties.
        kinds = self.sample(1, np.random.default_rng(0)).kinds
        same_aer = np.array([[kind[a] == kind for kind in kinds] for a in range(len(self.laws))])
        return true_game(np.where(same_aer, SELF, z_aer))

    def sizes(self, trials: int) -> tuple[int, ...]:
        """Return the trials that each algorithm has, on the environment with most, in an experiment of this size."""
        return tuple(max(sizes) for sizes in self.cell_sizes(trials))

    def cell_sizes(self, trials: int) -> tuple[tuple[int, ...], ...]:
        """Return the trials of each algorithm on each environment, in an experiment of this size.

        Parameters
        ----------
        trials
            The experiment's size.
        """
        n, m = self.shape
        rows = [[each] * m if isinstance(each, Fraction) else each for each in self.shares or [Fraction(1)] * n]
        return tuple(tuple(-(-trials * share.numerator // share.denominator) for share in row) for row in rows)

    def sample(self, trials: int, rng: np.random.Generator) -> ScoreTable:
        """Return a data set: independent trials, as many as `sizes` says.

        Parameters
        ----------
        trials
            Trials per cell.
        rng
            Where random numbers come from.
        """
        cells = [
            [draw(law, size, rng) for law, size in zip(row, sizes, strict=True)]
            for row, sizes in zip(self.laws, self.cell_sizes(trials), strict=True)
        ]
        if self.exponential:
            cells = [[np.exp(cell) for cell in row] for row in cells]
        return ScoreTable.from_array(
            cells, self.algorithms, self.environments, ranges=self.ranges, identical=self.identical
        )


class CollectedPopulation(Population):
    """A user's scores, treated as the whole population: samples are drawn from them, and their truth is exact.

    Parameters
    ----------
    table
        Every cell must have scores. Algorithms declared to be the same share theirs.
    name
        Its name.
    """

    def __init__(self, table: ScoreTable, name: str = "as collected") -> None:
        pooled = pools(table)
        empty = [
            (table.algorithms[a], table.environments[e])
            for e, pool in enumerate(pooled)
            for a in range(len(table.algorithms))
            if pool.sizes[pool.owner_of[a]] == 0
        ]
        if empty or not pooled:
            where = f"{empty[0][0]!r} has no trials on {empty[0][1]!r}" if empty else "there are no scores"
            raise InvalidInput(
                f"{where}: a population to draw from needs scores in every cell. Run the missing cells, or leave the "
                "algorithm or the environment out"
            )
        self.name = name
        trials = table.trials
        self.summary = f"resampled from {spread(trials)} scores per cell"
        self.table = table
        self._cells = [
            [pool.scores[pool.owners == pool.owner_of[a]] for pool in pooled] for a in range(len(table.algorithms))
        ]

    @cached_property
    def fingerprint(self) -> str:
        """A hash of everything that decides data sets and truth."""
        digest = hashlib.blake2b(repr((self.table.ranges, self.table.kinds.tolist())).encode(), digest_size=8)
        for row in self._cells:
            for cell in row:
                digest.update(np.int64(cell.size).tobytes() + cell.tobytes())
        return digest.hexdigest()

    @property
    def shape(self) -> tuple[int, int]:
        """How many algorithms, and how many environments."""
        return len(self.table.algorithms), len(self.table.environments)

    @cached_property
    def _truths(self) -> Mapping[Payoff, Truth]:
        pooled = pools(self.table)
        payoffs: tuple[Payoff, ...] = ("mid-rank", "at-most")
        return {payoff: true_game(estimated_percentiles(pooled, payoff).z_aer) for payoff in payoffs}

    def truth(self, payoff: Payoff) -> Truth:
        """Return percentiles and aggregates when ties count as ``payoff`` says."""
        return self._truths[payoff]

    def sizes(self, trials: int) -> tuple[int, ...]:
        """Return the trials that each algorithm has on every environment, in an experiment of this size."""
        return (trials,) * len(self.table.algorithms)

    def sample(self, trials: int, rng: np.random.Generator) -> ScoreTable:
        """Return a data set: independent trials, drawn with replacement.

        Parameters
        ----------
        trials
            Trials per cell.
        rng
            Where random numbers come from.
        """
        cells = tuple(tuple(cell[rng.integers(cell.size, size=trials)] for cell in row) for row in self._cells)
        return ScoreTable(self.table.algorithms, self.table.environments, cells, self.table.ranges, self.table.kinds)


class WithFamilies(Population):
    """Another population, some of whose environments are declared to be variants of one.

    Parameters
    ----------
    population
        The other one.
    families
        The environments of each family, as for `untuned.evaluate`.
    """

    def __init__(self, population: Population, families: Mapping[str, Sequence[str]]) -> None:
        names = population.sample(1, np.random.default_rng(0)).environments
        self.population = population
        self.families = checked(families)
        check(self.families, names)
        self.name = f"{population.name}, with families"
        self.summary = f"{population.summary}; variants of one environment: {listed(self.families)}"
        self._share_e = shares(self.families, names)

    @property
    def fingerprint(self) -> str:
        """A hash of everything that decides data sets and truth."""
        content = repr((self.population.fingerprint, sorted(self.families.items())))
        return hashlib.blake2b(content.encode(), digest_size=8).hexdigest()

    @property
    def shape(self) -> tuple[int, int]:
        """How many algorithms, and how many environments."""
        return self.population.shape

    def truth(self, payoff: Payoff) -> Truth:
        """Return percentiles and aggregates when ties count as ``payoff`` says."""
        return true_game(self.population.truth(payoff).z_aer, self._share_e)

    def sizes(self, trials: int) -> tuple[int, ...]:
        """Return the trials that each algorithm has on every environment, in an experiment of this size.

        Parameters
        ----------
        trials
            The experiment's size.
        """
        return self.population.sizes(trials)

    def cell_sizes(self, trials: int) -> tuple[tuple[int, ...], ...]:
        """Return the trials of each algorithm on each environment, in an experiment of this size.

        Parameters
        ----------
        trials
            The experiment's size.
        """
        return self.population.cell_sizes(trials)

    def sample(self, trials: int, rng: np.random.Generator) -> ScoreTable:
        """Return a data set: independent trials, with the families declared.

        Parameters
        ----------
        trials
            Trials per cell.
        rng
            Where random numbers come from.
        """
        return replace(self.population.sample(trials, rng), families=self.families)

    def first(self, table: ScoreTable, trials: int) -> ScoreTable:
        """Return the part of a data set that existed when the experiment had this size.

        Parameters
        ----------
        table
            A data set that `sample` returned.
        trials
            Trials per cell, no more than it has.
        """
        return replace(self.population.first(table, trials), families=self.families)
