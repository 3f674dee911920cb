"""Running protocols: a study whose trials are a protocol's runs, a session for each part, and the outcome."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from untuned.collect.definitions.definition import Definition
from untuned.collect.definitions.settings import Numbered, named, with_settings
from untuned.collect.progress import Names
from untuned.collect.protocol import (
    CROSS_ENVIRONMENT,
    DABNEY,
    OWN_TEST,
    PARTS,
    REFERENCE,
    TEST,
    TUNE_AND_REPORT,
    TUNING,
    Protocol,
    Runs,
    choice,
    described,
    identical,
    protocol_scores,
)
from untuned.collect.resolve import Resolved, resolve, wanted
from untuned.collect.session import Session, Trials
from untuned.collect.study import Study
from untuned.collect.study_folders import results_folder
from untuned.errors import InvalidInput
from untuned.scores import Floats, ScoreTable

#: Defaults of the functions below.
DRAWS, SEEDS, REFERENCE_RUNS = 20, 10, 100


def tune_and_report(
    study: Study | str | Path,
    folder: str | Path | None = None,
    *,
    draws: int = DRAWS,
    seeds: int = SEEDS,
    tuning_seeds: int = 1,
    trials: Trials | None = None,
    **options: Any,
) -> "Outcome":
    """Run tune-and-report: the best of several hyperparameter settings is run again, and its mean is the score.

    The settings are drawn from the algorithm's complete definition, and tuned for each environment. Papers usually
    report one such procedure. Here each procedure is one trial, and the study's number of trials is the number of
    procedures per cell.

    Parameters
    ----------
    study
        A `Study`, or the path of its TOML file; its algorithms must be complete definitions.
    folder
        Where results go: by default a folder named after the study and the protocol. A protocol that is there is
        resumed.
    draws
        Settings that each procedure tries, 20 by default.
    seeds
        Test runs of the best one, 10 by default; the score is their mean.
    tuning_seeds
        Runs of every setting while tuning; the best mean is chosen, the first of equals.
    trials
        Procedures per cell, instead of the study's number.
    **options
        For `Session.collect`: ``engine``, ``workers``, ``ray_address``, ``keep_going``, ``stop``, ``watch``.

    Raises
    ------
    Stopped
        When ``stop`` returned True before all runs were done; finished runs are stored.
    """
    return run(Protocol(TUNE_AND_REPORT, draws, seeds, tuning_seeds), study, folder, trials=trials, **options)


def dabney(
    study: Study | str | Path,
    folder: str | Path | None = None,
    *,
    draws: int = DRAWS,
    iteration_weights: Sequence[float] | None = None,
    trials: Trials | None = None,
    **options: Any,
) -> "Outcome":
    """Run Dabney's procedure: the score is a weighted mean over all iterations of a tuning.

    Iterations are independent draws from the algorithm's complete definition (random search). So with any weights the
    expected score is that of complete trials, at ``draws`` times the cost; its spread is smaller.

    Parameters
    ----------
    study
        A `Study`, or the path of its TOML file; its algorithms must be complete definitions.
    folder
        Where results go: by default a folder named after the study and the protocol. A protocol that is there is
        resumed.
    draws
        Iterations of each tuning, 20 by default.
    iteration_weights
        Weights of the iterations, in order; by default equal ones.
    trials
        Procedures per cell, instead of the study's number.
    **options
        For `Session.collect`: ``engine``, ``workers``, ``ray_address``, ``keep_going``, ``stop``, ``watch``.
    """
    return run(Protocol(DABNEY, draws, iteration_weights=iteration_weights), study, folder, trials=trials, **options)


def cross_environment(
    study: Study | str | Path,
    folder: str | Path | None = None,
    *,
    draws: int = DRAWS,
    seeds: int = SEEDS,
    tuning_seeds: int = 1,
    reference: int = REFERENCE_RUNS,
    trials: Trials | None = None,
    **options: Any,
) -> "Outcome":
    """Run the cross-environment setting: one hyperparameter setting is tuned for all environments together.

    A replication tries the same settings in every environment, and chooses the one with the best mean percentile over
    environments. The score is the mean percentile of its test runs. The settings that are best on each environment
    alone are tested, too: `Outcome.lost` has what an algorithm loses by having one setting for all. Percentiles are
    among reference runs of all algorithms with drawn hyperparameters, which all replications share; what is found is
    relative to these runs.

    Parameters
    ----------
    study
        A `Study`, or the path of its TOML file; its algorithms must be complete definitions.
    folder
        Where results go: by default a folder named after the study and the protocol. A protocol that is there is
        resumed.
    draws
        Settings that each replication tries, 20 by default.
    seeds
        Test runs of a chosen setting in each environment, 10 by default.
    tuning_seeds
        Runs of every setting in each environment while tuning.
    reference
        Reference runs of every cell, 100 by default.
    trials
        Replications, instead of the study's number; the same in all environments.
    **options
        For `Session.collect`: ``engine``, ``workers``, ``ray_address``, ``keep_going``, ``stop``, ``watch``.
    """
    protocol = Protocol(CROSS_ENVIRONMENT, draws, seeds, tuning_seeds, reference=reference)
    return run(protocol, study, folder, trials=trials, **options)


@dataclass(frozen=True)
class Cost:
    """The total cost of a protocol.

    Parameters
    ----------
    runs_by_part
        Executions of an algorithm, by purpose.
    episodes
        Episodes of learning in all runs.
    samples
        Number of independent scores.
    """

    runs_by_part: Mapping[str, int]
    episodes: int
    samples: int

    @property
    def runs(self) -> int:
        """Total number of executions of an algorithm."""
        return sum(self.runs_by_part.values())

    def __str__(self) -> str:
        parts = ", ".join(f"{count:,} {part}" for part, count in self.runs_by_part.items())
        return (
            f"{self.runs:,} runs ({parts}), {self.episodes:,} episodes, for {self.samples:,} independent scores: "
            f"{self.runs / self.samples:.3g} runs per score, where complete trials take 1"
        )


@dataclass(frozen=True, eq=False)
class Outcome:
    """The outcome of a protocol.

    Attributes
    ----------
    folder
        Where its runs are; `untuned.evaluate` reads it, too.
    protocol
        The protocol.
    scores
        One independent score per replication: for `untuned.evaluate`.
    lost
        For the cross-environment setting: by how many percentiles one setting for all environments is worse than
        settings tuned per environment, as a negative number, so that higher is better. None for other protocols.
    without_tuning
        The tuning runs as complete trials, for `untuned.evaluate`. None where several of them have the same setting, or
        environments share settings.
    cost
        Its cost.
    """

    folder: Path
    protocol: Protocol
    scores: ScoreTable
    lost: ScoreTable | None
    without_tuning: ScoreTable | None
    cost: Cost

    def reported(self, replication: int = 0) -> dict[str, dict[str, Floats]]:
        """Return the test runs of one replication, which share a tuning; a paper would report these.

        Not for `untuned.evaluate`: intervals from them do not include the variation between tunings.

        Parameters
        ----------
        replication
            Which one, from 0.
        """
        seeds = self.protocol.seeds
        if not seeds:
            raise InvalidInput(f"{self.protocol.name} has no test runs: its scores are all there is to report")
        with Session.at(self.folder) as session:
            runs = _runs(session)
            found = {
                algorithm: {
                    environment: runs.blocks(algorithm, TEST, environment, seeds)[replication : replication + 1].ravel()
                    for environment in runs.table.environments
                }
                for algorithm in runs.algorithms
            }
        if replication < 0 or not all(scores.size for row in found.values() for scores in row.values()):
            raise InvalidInput(f"replication={replication!r} is not complete in every cell: they are numbered from 0")
        return found

    def hyperparameters(self, algorithm: str, environment: str, replication: int = 0) -> dict[str, Any]:
        """Return the setting that a replication chose and tested.

        Parameters
        ----------
        algorithm, environment
            The cell.
        replication
            Which one, from 0.
        """
        if not self.protocol.seeds:
            raise InvalidInput(f"{self.protocol.name} chooses no setting")
        with Session.at(self.folder) as session:
            trial = session.store.trial(named(algorithm, TEST), environment, replication * self.protocol.seeds)
        return {each.name: each.value for each in trial.draws}

    def sentences(self) -> list[str]:
        """Return sentences on the runs, their cost, and which scores are independent."""
        found = [f"{described(self.protocol)}.", f"{self.cost}."]
        if self.protocol.name == TUNE_AND_REPORT:
            found.append(
                f"The {self.protocol.seeds:,} test runs of a replication share one tuning, so they count as one score. "
                "These scores are of tuned algorithms: they say nothing about use without tuning."
            )
        elif self.protocol.name == CROSS_ENVIRONMENT:
            found.append(
                "A replication is one score for all environments together. Scores are percentiles among the "
                f"{self.protocol.reference:,} reference runs per cell, and verdicts are relative to these runs."
            )
        return found

    def losses(self) -> list[str]:
        """Return sentences on how many percentiles are lost by one setting for all environments."""
        if self.lost is None:
            return []
        cells = zip(self.lost.algorithms, self.lost.cells, strict=True)
        means = {name: 100.0 * float(row[0].mean()) for name, row in cells}
        return [
            f"{name}: {-mean:.1f} percentiles on average are lost by one setting for all."
            if mean < 0
            else f"{name}: nothing is lost on average by one setting for all ({mean:+.1f} percentiles)."
            for name, mean in sorted(means.items(), key=lambda each: -each[1])
        ]

    def facts(self) -> dict[str, Any]:
        """Return the same as plain JSON types, without scores."""
        return {
            "folder": str(self.folder),
            "protocol": self.protocol.facts(),
            "cost": {**dataclasses.asdict(self.cost), "runs": self.cost.runs},
            "summary": self.sentences(),
        }

    def __str__(self) -> str:
        return "\n".join(self.sentences())


def protocol(
    name: str,
    *,
    draws: int | None = None,
    seeds: int | None = None,
    tuning_seeds: int | None = None,
    reference: int | None = None,
    iteration_weights: Sequence[float] | None = None,
) -> Protocol:
    """Return a protocol by its name, with default numbers unless given.

    Parameters
    ----------
    name
        ``"tune-and-report"``, ``"dabney"`` or ``"cross-environment"``.
    draws
        Settings that each tuning tries, 20 by default.
    seeds
        Test runs of the chosen setting, 10 by default; none for ``"dabney"``.
    tuning_seeds
        Runs of every setting while tuning, 1 by default.
    reference
        For ``"cross-environment"``, number of reference runs of every cell for percentiles; 100 by default.
    iteration_weights
        For ``"dabney"``, a weight per draw; equal ones by default.
    """
    usual_seeds = 0 if name == DABNEY else SEEDS
    usual_reference = REFERENCE_RUNS if name == CROSS_ENVIRONMENT else 0
    return Protocol(
        name,
        DRAWS if draws is None else draws,
        usual_seeds if seeds is None else seeds,
        1 if tuning_seeds is None else tuning_seeds,
        iteration_weights,
        usual_reference if reference is None else reference,
    )


def cost(protocol: Protocol, study: Study | str | Path, *, trials: Trials | None = None) -> Cost:
    """Return the cost of a protocol, without running it.

    Parameters
    ----------
    protocol
        The protocol.
    study
        A `Study`, or the path of its TOML file.
    trials
        Procedures per cell, instead of the study's number.
    """
    study, resolved = _opened(study, trials)
    replications = _replications(protocol, study, resolved)
    runs = {
        (part, place, name): protocol.number(part, count)
        for (name, place), count in replications.items()
        for part in protocol.parts
    }
    per_algorithm = protocol.name == CROSS_ENVIRONMENT
    samples = sum(replications.values()) // (len(resolved.environments) if per_algorithm else 1)
    return _cost(protocol, resolved, runs, samples)


def run(
    protocol: Protocol,
    study: Study | str | Path,
    folder: str | Path | None = None,
    *,
    trials: Trials | None = None,
    replace: bool = False,
    **options: Any,
) -> Outcome:
    """Run a protocol, and return its outcome; `tune_and_report`, `dabney` and `cross_environment` are short for it.

    Parameters
    ----------
    protocol
        The protocol.
    study
        A `Study`, or the path of its TOML file; its algorithms must be complete definitions.
    folder
        Where results go: by default a folder named after the study and the protocol. A protocol that is there is
        resumed.
    trials
        Procedures per cell, instead of the study's number.
    replace
        Whether to set aside the runs of algorithms and environments that have changed, as for `Study.open`.
    **options
        For `Session.collect`: ``engine``, ``workers``, ``ray_address``, ``keep_going``, ``stop``, ``watch``.
    """
    place = default_folder(study, protocol.name) if folder is None else Path(folder).expanduser()
    study, resolved = _opened(study, trials)
    replications = _replications(protocol, study, resolved)
    first, then = PARTS[protocol.name]

    def opened(parts: Sequence[str], settings: Mapping[str, Callable[[str], Numbered]]) -> Session:
        runs = _study_of_runs(protocol, study, resolved, replications, parts, settings)
        return Session.open(runs, place, replace=replace)

    # No setting has been chosen, and no test has been run.
    settings: Mapping[str, Callable[[str], Numbered]] = dict.fromkeys(then, lambda _: Numbered(protocol.seeds, {}))
    if then:
        # A session of its own: the definitions of the second part have the chosen settings.
        with opened(first, settings) as session:
            session.collect(**options).check_complete()
            settings = _chosen(protocol, _runs(session))
    with opened(first + then, settings) as session:
        session.collect(**options).check_complete()
        scores, runs = session.scores(), _runs(session)
        # All existing runs, including those of earlier calls with more replications.
        counts = session.store.counts()
        numbers = {
            (part, environment, name): counts[named(name, part), environment]
            for name, environment in replications
            for part in protocol.parts
        }
    lost = protocol_scores(protocol.facts(), runs, lost=True) if protocol.name == CROSS_ENVIRONMENT else None
    spent = _cost(protocol, resolved, numbers, int(scores.trials.sum()))
    return Outcome(place, protocol, scores, lost, _without_tuning(protocol, runs), spent)


def default_folder(study: Study | str | Path, protocol: str) -> Path:
    """Return the folder for the results of a protocol: that of the study's results with the protocol in its name."""
    usual = results_folder(study)
    return usual.with_name(f"{usual.name}.{protocol}")


def _opened(given: Study | str | Path, trials: Trials | None) -> tuple[Study, Resolved]:
    study = given if isinstance(given, Study) else Study.read(given)
    study = study if trials is None else dataclasses.replace(study, trials=trials)
    resolved = resolve(study)
    for name, each in resolved.algorithms.items():
        if not isinstance(each, Definition):
            raise InvalidInput(
                f"{name!r} is written in Python: protocols run complete definitions of compiled agents. Leave it out, "
                "or define it as an untuned.Definition"
            )
    return study, resolved


def _replications(protocol: Protocol, study: Study, resolved: Resolved) -> dict[Names, int]:
    numbers = wanted(study, list(resolved.algorithms), list(resolved.environments))
    found = {(name, place): count for place, row in numbers.items() for name, count in row.items()}
    if protocol.name == CROSS_ENVIRONMENT and len(set(found.values())) > 1:
        raise InvalidInput(
            "trials: a replication of the cross-environment setting is about all environments together, give one "
            "number for all"
        )
    if not any(found.values()):
        raise InvalidInput("trials: there is nothing to run, give a number of replications of at least 1")
    return found


def _cost(protocol: Protocol, resolved: Resolved, numbers: Mapping[tuple[str, str, str], int], samples: int) -> Cost:
    """Return the cost of a number of runs by part, environment and algorithm."""
    runs = dict.fromkeys(protocol.parts, 0)
    episodes = 0
    for (part, place, _), number in numbers.items():
        budget: Any = resolved.environments[place]
        runs[part] += number
        episodes += number * budget.budget.episodes
    return Cost(runs, episodes, samples)


def _chosen(protocol: Protocol, runs: Runs) -> dict[str, Callable[[str], Numbered]]:
    found = choice(protocol, runs)
    tested = found.shared if protocol.name == CROSS_ENVIRONMENT else found.settings

    return {
        TEST: lambda algorithm: Numbered(protocol.seeds, tested[algorithm]),
        OWN_TEST: lambda algorithm: Numbered(protocol.seeds, found.settings[algorithm]),
    }


def _study_of_runs(
    protocol: Protocol,
    study: Study,
    resolved: Resolved,
    replications: Mapping[Names, int],
    parts: Sequence[str],
    settings: Mapping[str, Callable[[str], Numbered]],
) -> Study:
    """Return the study whose trials are the protocol's runs; only those of ``parts`` are wanted."""
    together = protocol.name == CROSS_ENVIRONMENT
    definitions, trials = [], {}
    for part in protocol.parts:
        for algorithm, base in resolved.algorithms.items():
            assert isinstance(base, Definition)
            if part == REFERENCE:
                made = dataclasses.replace(base, name=named(algorithm, part), title=named(base.title, part))
            else:
                numbered = Numbered(protocol.tuning_seeds) if part == TUNING else settings[part](algorithm)
                made = with_settings(base, part, numbered, seed=study.seed, shared=together, identical=not together)
            definitions.append(made)
            for place in resolved.environments:
                trials[made.name, place] = protocol.number(part, replications[algorithm, place]) if part in parts else 0
    facts = protocol.facts()
    if together:
        # Reference runs and choices involve all of them.
        facts |= {"algorithms": list(resolved.algorithms), "environments": list(resolved.environments)}
    return dataclasses.replace(study, algorithms=definitions, trials=trials, protocol=facts, file=None)


def _runs(session: Session) -> Runs:
    store = session.store
    table, numbers = store.scores_and_numbers(nonfinite=store.facts["failures"])
    return Runs(table.select(*store.compared), numbers)


def _without_tuning(protocol: Protocol, runs: Runs) -> ScoreTable | None:
    if protocol.tuning_seeds > 1 or protocol.name == CROSS_ENVIRONMENT:
        return None
    table = runs.table
    return ScoreTable.from_dict(
        {a: {e: table.cell(named(a, TUNING), e) for e in table.environments} for a in runs.algorithms},
        ranges=dict(zip(table.environments, table.ranges, strict=True)),
        identical=identical(runs, TUNING),
        provenance={**table.provenance, "protocol": "the tuning runs, nothing chosen"},
    )
