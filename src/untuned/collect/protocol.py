"""`Protocol`: collecting with tuning first. Defines its runs, and how they become independent scores.

One replication of a protocol, tuning included, gives one score of a cell. Runs are trials of a study whose names state
their purpose, ``sarsa (tuning)``; run t belongs to replication t // (runs per replication).
"""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from untuned.collect.definitions.settings import named
from untuned.collect.environments.checks import checked_size
from untuned.errors import InvalidInput, UnknownName
from untuned.scores import Floats, Ints, ScoreTable

TUNE_AND_REPORT = "tune-and-report"
DABNEY = "dabney"
CROSS_ENVIRONMENT = "cross-environment"

#: The purposes of runs.
TUNING, TEST, OWN_TEST, REFERENCE = "tuning", "test", "own test", "reference"

#: The purposes of runs by protocol; those of the second tuple can run only after settings are chosen.
PARTS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    TUNE_AND_REPORT: ((TUNING,), (TEST,)),
    DABNEY: ((TUNING,), ()),
    CROSS_ENVIRONMENT: ((REFERENCE, TUNING), (TEST, OWN_TEST)),
}

#: The name of the environment of scores that are means over all environments.
ALL = "all environments"

#: More draws, seeds or reference runs than are practical.
MOST = 1_000_000


@dataclass(frozen=True)
class Protocol:
    """A protocol that tunes first, and its numbers.

    Parameters
    ----------
    name
        ``"tune-and-report"``, ``"dabney"`` or ``"cross-environment"``.
    draws
        Number of hyperparameter settings that every tuning tries, drawn from the definition.
    seeds
        Number of test runs of the chosen setting, whose mean is the score; none for ``"dabney"``.
    tuning_seeds
        Number of runs of every setting while tuning; the mean decides.
    iteration_weights
        For ``"dabney"``, of the iterations; None for equal ones.
    reference
        For ``"cross-environment"``, number of runs of every cell that scores are normalised by.
    """

    name: str
    draws: int
    seeds: int = 0
    tuning_seeds: int = 1
    iteration_weights: Sequence[float] | None = None
    reference: int = 0

    def __post_init__(self) -> None:
        if self.name not in PARTS:
            raise UnknownName("protocol", self.name, PARTS)
        checked_size("draws", self.draws, 1, MOST)
        checked_size("tuning_seeds", self.tuning_seeds, 1, MOST)
        for key, needed in (
            ("seeds", self.name != DABNEY),
            ("reference", self.name == CROSS_ENVIRONMENT),
        ):
            value = getattr(self, key)
            if needed:
                checked_size(key, value, 1, MOST)
            elif value != 0:
                raise InvalidInput(f"{key}={value!r} does not go with {self.name}: leave it out")
        if self.name == DABNEY and self.tuning_seeds != 1:
            raise InvalidInput(f"tuning_seeds={self.tuning_seeds!r} does not go with {DABNEY}: leave it out")
        if self.iteration_weights is not None:
            object.__setattr__(self, "iteration_weights", self._checked_weights(self.iteration_weights))

    def _checked_weights(self, given: Sequence[float]) -> tuple[float, ...]:
        if self.name != DABNEY:
            raise InvalidInput(f"iteration_weights are for {DABNEY}: leave them out of {self.name}")
        advice = f"give {self.draws} numbers that are not negative, one per draw, not all zero"
        try:
            found = tuple(float(each) for each in given)
        except (TypeError, ValueError):
            raise InvalidInput(f"iteration_weights={given!r} are not allowed: {advice}") from None
        try:
            total = math.fsum(found) if all(math.isfinite(each) and each >= 0 for each in found) else 0.0
        except OverflowError:
            raise InvalidInput(f"iteration_weights={given!r} are not allowed: their sum is too large") from None
        if len(found) != self.draws or total <= 0:
            raise InvalidInput(f"iteration_weights={given!r} are not allowed: {advice}")
        return tuple(each / total for each in found)

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> "Protocol":
        """Return the protocol of a study's facts.

        Parameters
        ----------
        facts
            The output of `facts`, possibly with additional keys.
        """
        known = {each.name: facts[each.name] for each in dataclasses.fields(cls) if each.name in facts}
        if known.get("iteration_weights") is not None:
            known["iteration_weights"] = tuple(known["iteration_weights"])
        return cls(**known)

    def facts(self) -> dict[str, Any]:
        """Return the protocol as plain JSON types."""
        found = dataclasses.asdict(self)
        return {**found, "iteration_weights": None if self.iteration_weights is None else list(self.iteration_weights)}

    @property
    def parts(self) -> tuple[str, ...]:
        """The purposes of its runs, in the order they run."""
        first, then = PARTS[self.name]
        return first + then

    def runs(self, part: str) -> int:
        """Return how many runs of a cell one replication needs for a purpose; 0 if all replications share the runs.

        Parameters
        ----------
        part
            The purpose, one of `parts`.
        """
        if part == TUNING:
            return self.draws * self.tuning_seeds
        return 0 if part == REFERENCE else self.seeds

    def number(self, part: str, replications: int) -> int:
        """Return how many runs of a cell are needed for a purpose.

        Parameters
        ----------
        part
            The purpose, one of `parts`.
        replications
            Number of replications.
        """
        return self.reference if part == REFERENCE else self.runs(part) * replications


@dataclass(frozen=True)
class Runs:
    """The runs of a protocol in a study.

    Parameters
    ----------
    table
        All trials of the study.
    numbers
        The numbers of the trials by algorithm and environment, ascending, in the order of the table.
    """

    table: ScoreTable
    numbers: Mapping[tuple[str, str], Ints]

    @property
    def algorithms(self) -> tuple[str, ...]:
        """The tuned algorithms, in order."""
        ending = f" ({TUNING})"
        return tuple(each.removesuffix(ending) for each in self.table.algorithms if each.endswith(ending))

    def blocks(self, algorithm: str, part: str, environment: str, size: int) -> Floats:
        """Return the scores of complete replications, one row each, up to the first that is not complete."""
        scores = self.table.cell(named(algorithm, part), environment)
        numbers = self.numbers[named(algorithm, part), environment]
        # The first missing number.
        unbroken = int(np.argmin(np.append(numbers, -1) == np.arange(numbers.size + 1)))
        complete = unbroken // size
        return scores[: complete * size].reshape(complete, size)


@dataclass(frozen=True)
class Choice:
    """The results of tuning: the chosen setting of every replication, by algorithm and environment.

    Parameters
    ----------
    settings
        The best setting for the cell's environment alone.
    shared
        The best setting for all environments.
    """

    settings: Mapping[str, Mapping[str, list[int]]]
    shared: Mapping[str, Mapping[str, list[int]]]


def choice(protocol: Protocol, runs: Runs) -> Choice:
    """Return the best setting of every replication whose tuning is complete; the first of equals."""
    environments = runs.table.environments
    shared: dict[str, dict[str, list[int]]] = {}
    settings: dict[str, dict[str, list[int]]] = {}
    for algorithm in runs.algorithms:
        means = {each: _means(protocol, runs, algorithm, each) for each in environments}
        settings[algorithm] = {each: _best(found) for each, found in means.items()}
        if protocol.name == CROSS_ENVIRONMENT:
            complete = min(len(found) for found in means.values())
            over_all = np.mean([found[:complete] for found in means.values()], axis=0)
            shared[algorithm] = dict.fromkeys(environments, _best(over_all))
    return Choice(settings, shared)


def _means(protocol: Protocol, runs: Runs, algorithm: str, environment: str) -> Floats:
    """Return the mean over tuning seeds of every setting, [replication, draw]."""
    found = runs.blocks(algorithm, TUNING, environment, protocol.runs(TUNING))
    if protocol.name == CROSS_ENVIRONMENT:
        found = _normalised(runs, environment, found)
    means: Floats = found.reshape(len(found), protocol.draws, protocol.tuning_seeds).mean(axis=2)
    return means


def _best(means_rd: Floats) -> list[int]:
    """Return the number of the best setting of every replication, counted over all replications."""
    count, draws = means_rd.shape
    return [int(each) for each in means_rd.argmax(axis=1) + draws * np.arange(count)]


def _normalised(runs: Runs, environment: str, scores: Floats) -> Floats:
    """Return percentiles among the reference runs of all algorithms in an environment; a tie counts half."""
    pool = np.sort(np.concatenate([runs.table.cell(named(each, REFERENCE), environment) for each in runs.algorithms]))
    if not pool.size:
        raise InvalidInput("the reference runs are not there yet: rerun the command to resume")
    below, up_to = np.searchsorted(pool, scores, "left"), np.searchsorted(pool, scores, "right")
    return (below + up_to) / (2 * pool.size)


def protocol_scores(facts: Mapping[str, Any], runs: Runs, *, lost: bool = False) -> ScoreTable:
    """Return the scores of complete replications, which are independent, under the algorithms' own names.

    Parameters
    ----------
    facts
        The protocol, from a study's facts.
    runs
        The existing runs.
    lost
        For the cross-environment setting: return the loss of one setting for all environments compared with settings
        tuned per environment, as a negative number, instead of the scores.
    """
    protocol = Protocol.of(facts)
    reduced = _cross_environment if protocol.name == CROSS_ENVIRONMENT else _per_environment
    cells, ranges, identical = reduced(protocol, runs, lost)
    if not any(scores.size for row in cells.values() for scores in row.values()):
        raise InvalidInput(f"no replication of {protocol.name} is complete yet: rerun the command to resume")
    # A mean of equal scores may differ from them by rounding.
    within = {
        algorithm: {place: np.clip(scores, *ranges[place]) for place, scores in row.items()}
        for algorithm, row in cells.items()
    }
    return ScoreTable.from_dict(
        within,
        ranges=ranges,
        identical=identical,
        provenance={**runs.table.provenance, "protocol": described(protocol)},
    )


_Reduced = tuple[dict[str, dict[str, Floats]], dict[str, tuple[float, float]], dict[str, list[list[str]]]]


def _per_environment(protocol: Protocol, runs: Runs, lost: bool) -> _Reduced:
    if lost:
        raise InvalidInput(f"{protocol.name} has no setting for all environments: use {CROSS_ENVIRONMENT}")
    table = runs.table
    part = TUNING if protocol.name == DABNEY else TEST
    cells = {
        algorithm: {
            environment: _weighted(
                runs.blocks(algorithm, part, environment, protocol.runs(part)), protocol.iteration_weights
            )
            for environment in table.environments
        }
        for algorithm in runs.algorithms
    }
    return cells, dict(zip(table.environments, table.ranges, strict=True)), identical(runs, part)


def identical(runs: Runs, part: str) -> dict[str, list[list[str]]]:
    """Return the algorithms that are declared identical, by environment."""
    found: dict[str, list[list[str]]] = {}
    rows = {algorithm: runs.table.algorithms.index(named(algorithm, part)) for algorithm in runs.algorithms}
    for e, environment in enumerate(runs.table.environments):
        groups: dict[int, list[str]] = {}
        for algorithm, row in rows.items():
            groups.setdefault(int(runs.table.kinds[e, row]), []).append(algorithm)
        found[environment] = [group for group in groups.values() if len(group) > 1]
    return found


def _weighted(scores_rn: Floats, weights: Sequence[float] | None) -> Floats:
    means: Floats = scores_rn.mean(axis=1) if weights is None else scores_rn @ np.array(weights)
    return means


def _cross_environment(protocol: Protocol, runs: Runs, lost: bool) -> _Reduced:
    cells = {}
    for algorithm in runs.algorithms:
        shared, own = (
            [
                _normalised(runs, environment, runs.blocks(algorithm, part, environment, protocol.seeds)).mean(axis=1)
                for environment in runs.table.environments
            ]
            for part in (TEST, OWN_TEST)
        )
        # A replication is complete in all environments or in none.
        complete = min(len(each) for each in (*shared, *own))
        score = np.mean([each[:complete] for each in shared], axis=0)
        cells[algorithm] = {ALL: score - np.mean([each[:complete] for each in own], axis=0) if lost else score}
    return cells, {ALL: (-1.0, 1.0) if lost else (0.0, 1.0)}, {}


def described(protocol: Protocol) -> str:
    """Return the protocol in a few words."""
    draws = "1 draw" if protocol.draws == 1 else f"{protocol.draws:,} draws"
    seeds = "1 seed" if protocol.seeds == 1 else f"{protocol.seeds:,} seeds"
    if protocol.name == DABNEY:
        return f"{DABNEY}: weighted mean over {draws} of every replication"
    tuned = draws if protocol.tuning_seeds == 1 else f"{draws}, {protocol.tuning_seeds:,} runs each"
    if protocol.name == TUNE_AND_REPORT:
        return f"{TUNE_AND_REPORT}: the best of {tuned}, mean over {seeds}"
    return f"{CROSS_ENVIRONMENT}: the best of {tuned} for all environments together, mean over {seeds}"
