"""From what a study says to what can be run: names are looked up, functions imported, cells made."""

import contextlib
import dataclasses
import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from untuned.adapters.gymnasium.from_gymnasium import from_gymnasium
from untuned.adapters.training.trainer import Trainer
from untuned.adapters.training.trial import Place, train_trial
from untuned.collect.definitions.definition import Definition, same_definitions
from untuned.collect.definitions.registry import algorithm as algorithm_named
from untuned.collect.definitions.registry import algorithms as our_algorithms
from untuned.collect.engines.cells import Cell, CompiledRun, Recipe, Run, Stop
from untuned.collect.environments.environment import CompiledEnvironment, RunnableEnvironment
from untuned.collect.environments.names import NAMES
from untuned.collect.environments.registry import environment as environment_named
from untuned.collect.fingerprints import digest, source_digest
from untuned.collect.kernels.jit import source_fingerprint
from untuned.collect.metrics import Metric, metric
from untuned.collect.runner.trial import TrialResult
from untuned.collect.study import AlgorithmChoice, EnvironmentChoice, Study
from untuned.errors import InvalidInput, UnknownName, nearest

#: Trainers that come with the package, by name, and where they are made; each needs an extra.
_TRAINERS = {"sb3-ppo": "ppo", "sb3-a2c": "a2c", "sb3-dqn": "dqn"}


@dataclass(frozen=True)
class TrainedRun:
    """Runs trials of an algorithm that is written in Python."""

    trainer: Trainer
    place: Place
    seed: int

    def __call__(self, trial: int, stop: Stop | None) -> TrialResult:
        """Return the result of a trial."""
        return train_trial(self.trainer, self.place, seed=self.seed, trial=trial, stop=stop)


@dataclass(frozen=True)
class Plan:
    """A study with everything looked up.

    Parameters
    ----------
    cells
        What there is to run, environment by environment.
    recipe
        What becomes of results.
    facts
        What the store keeps about the study, as JSON types.
    """

    cells: tuple[Cell, ...]
    recipe: Recipe
    facts: Mapping[str, Any]


def plan(study: Study) -> Plan:
    """Return a study with everything looked up.

    Raises
    ------
    InvalidInput
        For names that lead nowhere, algorithms that cannot run in an environment, and whatever else would go wrong
        later; says which entry of the study it is, and where it stands in the study's file.
    """
    try:
        return _planned(study)
    except InvalidInput as error:
        raise InvalidInput(study.located(str(error))) from error


def _planned(study: Study) -> Plan:
    if study.folder is not None and str(study.folder) not in sys.path:
        # As a script of that folder would see it.
        sys.path.insert(0, str(study.folder))
    algorithms = [_algorithm(chosen, f"algorithms[{n}]", study.folder) for n, chosen in enumerate(study.algorithms)]
    places = [_place(chosen, f"environments[{n}]", study.folder) for n, chosen in enumerate(study.environments)]
    if any(isinstance(each, Definition) for each in algorithms):
        for n, place in enumerate(places):
            _seen(place, f"environments[{n}]")
    _check_distinct("algorithms", [each.name for each in algorithms])
    _check_distinct("environments", [each.name for each in places])
    measure = _metric(study.metric, study.folder)
    ranges = [_score_range(place, measure, study) for place in places]
    for place, limits in zip(places, ranges, strict=True):
        _check_failures(place, limits, algorithms, measure, study)
    trials = [study.trials if chosen.trials is None else chosen.trials for chosen in study.environments]
    marks = {each.name: _definition_fingerprint(each) for each in algorithms}
    cells = tuple(
        _cell(algorithm, marks[algorithm.name], place, count, study)
        for place, count in zip(places, trials, strict=True)
        for algorithm in algorithms
    )
    recipe = Recipe(measure, study.keep == "returns", study.time_limit, study.isolate)
    return Plan(cells, recipe, _facts(study, algorithms, marks, places, ranges, trials, measure))


# Looking up.


def imported(place: str, where: str, folder: Path | None) -> Any:
    """Return what stands at ``module:name``; modules are looked for in the study's folder first."""
    module_name, _, name = place.partition(":")
    if not all(part.isidentifier() for part in [*module_name.split("."), *name.split(".")]):
        raise InvalidInput(f"{where}: {place!r} leads nowhere, write module:function, as in my_agents:train")
    try:
        # What a module prints would be in the way of what is printed for other programs.
        with contextlib.redirect_stdout(sys.stderr):
            found: Any = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:
        where_it_is = "; it is looked for in the study's folder and among what is installed"
        raise InvalidInput(
            f"{where}: the module {module_name!r} cannot be imported ({type(error).__name__}: {error})"
            f"{where_it_is if isinstance(error, ImportError) else ''}"
        ) from error
    _check_that_it_is_the_studys(found, where, folder)
    known = [each for each in dir(found) if each[0] != "_"]
    for part in name.split("."):
        if not hasattr(found, part):
            near = nearest(name, known)
            advice = f"did you mean {near!r}?" if near else f"known: {', '.join(known[:30])}"
            raise InvalidInput(f"{where}: there is no {name!r} in {module_name}, {advice}")
        found = getattr(found, part)
    return found


def _check_that_it_is_the_studys(module: Any, where: str, folder: Path | None) -> None:
    """Refuse a module that another study of this process left behind under the same name."""
    if folder is None or not getattr(module, "__file__", None):
        return
    path = folder.joinpath(*module.__name__.split("."))
    here = [each for each in (path.with_suffix(".py"), path / "__init__.py") if each.is_file()]
    if here and not here[0].samefile(module.__file__):
        raise InvalidInput(
            f"{where}: the module {module.__name__!r} was loaded before from {module.__file__}, and this study has "
            "another one of that name: give one of the two another name, or run this study in a new process"
        )


def _algorithm(chosen: AlgorithmChoice, where: str, folder: Path | None) -> Definition | Trainer:
    use = chosen.use
    if isinstance(use, str):
        if ":" in use and "[" not in use.partition(":")[0]:
            use = imported(use, where, folder)
        elif use in _TRAINERS:
            from untuned.adapters import sb3

            use = getattr(sb3, _TRAINERS[use])()
        else:
            try:
                use = algorithm_named(use)
            except UnknownName as error:
                raise InvalidInput(f"{where}: {error}; one of your own is module:function") from None
    if isinstance(use, Definition):
        return _definition(use, chosen, where)
    try:
        return Trainer.of(use, chosen.name)
    except InvalidInput as error:
        raise InvalidInput(f"{where}: {error}") from None


def _definition(found: Definition, chosen: AlgorithmChoice, where: str) -> Definition:
    ours = {each.name: each for each in our_algorithms()}
    if chosen.name is not None and chosen.name != found.name:
        found = dataclasses.replace(found, name=chosen.name)
    if found.name in ours and ours[found.name] != found:
        raise InvalidInput(
            f"{where}: a definition of your own is called {found.name!r}, which is the name of one of ours: give it "
            'another, { use = "...", name = "..." }'
        )
    return found


def _place(chosen: EnvironmentChoice, where: str, folder: Path | None) -> Place:
    use: Any = chosen.use
    options = dict(chosen.options)
    if isinstance(use, str) and ":" in use and not chosen.gymnasium:
        use = imported(use, where, folder)
    try:
        if chosen.gymnasium:
            return from_gymnasium(use, **_pairs(options))
        if isinstance(use, str):
            return _ours(use, options)
        if isinstance(use, Place):
            if options:
                raise InvalidInput(f"the options {', '.join(options)} go with a name, not with an environment")
            return use
        if callable(use):
            return from_gymnasium(use, **_pairs(options))
    except UnknownName as error:
        raise InvalidInput(f"{where}: {error}") from None
    except TypeError as error:
        raise InvalidInput(f"{where}: {error}") from None
    except InvalidInput as error:
        raise InvalidInput(f"{where}: {error}") from error
    raise InvalidInput(f"{where}: {use!r} is no environment, give a name, an environment or a function that makes one")


def _ours(name: str, options: dict[str, Any]) -> CompiledEnvironment:
    plain = name.partition("[")[0]
    if plain not in NAMES and ("/" in name or "-v" in name):
        raise InvalidInput(
            f'{name!r} looks like a Gymnasium id: write {{ gymnasium = "{name}", episodes = 100, '
            "score_range = [0, 500] }"
        )
    return environment_named(name, **options)


def _pairs(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options with the range made a pair: TOML has no tuples. The rest is Gymnasium's, as it was written."""
    return {
        key: tuple(value) if key == "score_range" and isinstance(value, list) else value
        for key, value in options.items()
    }


def _metric(chosen: str | Callable[..., float], folder: Path | None) -> Metric:
    if callable(chosen):
        module, name = getattr(chosen, "__module__", ""), getattr(chosen, "__qualname__", "metric")
        return metric(f"{module}:{name}", chosen)
    if ":" in chosen:
        found = imported(chosen, "metric", folder)
        if not callable(found):
            raise InvalidInput(f"metric: {chosen} is {found!r}: name a function of the episodes' returns")
        return metric(chosen, found)
    try:
        return metric(chosen)
    except UnknownName as error:
        raise InvalidInput(f"metric: {error}") from None


# Checking.


def _check_distinct(kind: str, names: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise InvalidInput(f"{kind}: {name!r} is there {names.count(name)} times, give each a name of its own")


def _score_range(place: Place, measure: Metric, study: Study) -> tuple[float, float] | None:
    if study.score_range is not None:
        return study.score_range
    return place.score_range if measure.bounded else None


def _check_failures(
    place: Place,
    limits: tuple[float, float] | None,
    algorithms: Sequence[Definition | Trainer],
    measure: Metric,
    study: Study,
) -> None:
    """Refuse a study in which a trial may fail that nothing says the score of."""
    may_fail = any(isinstance(each, Trainer) for each in algorithms) or not measure.bounded
    if limits is None and may_fail and study.failures == "worst":
        advice = (
            "declare it, score_range = [worst, best], where the environment is named"
            if measure.bounded
            else "declare the metric's, score_range = [worst, best]"
        )
        raise InvalidInput(
            f"environments: nothing says which score on {place.name} is the worst, which a trial that fails would "
            f'count: {advice}; or write failures = "error"'
        )


def _cell(algorithm: Definition | Trainer, mark: str, place: Place, trials: int, study: Study) -> Cell:
    run: Run
    if isinstance(algorithm, Trainer):
        run = TrainedRun(algorithm, place, study.seed)
    else:
        seen = _seen(place)
        if seen.budget.episodes is None:
            raise InvalidInput(f"environments: {place.name} has no number of episodes, which {algorithm.name} needs")
        run = CompiledRun(algorithm, seen, study.seed, study.precision)
    return Cell(
        algorithm=algorithm.name,
        environment=place.name,
        trials=trials,
        seed=study.seed,
        precision=study.precision,
        run=run,
        # A Gymnasium environment holds the interpreter's lock, whatever the agent.
        compiled=isinstance(run, CompiledRun) and isinstance(place, CompiledEnvironment),
        version=algorithm.fingerprint if isinstance(algorithm, Trainer) else str(algorithm.version),
        definition_fingerprint=mark,
        environment_fingerprint=_environment_fingerprint(place),
    )


def _seen(place: Place, where: str = "environments") -> RunnableEnvironment:
    """Return an environment as compiled agents see it."""
    if isinstance(place, CompiledEnvironment):
        return place
    try:
        return place.for_agents()
    except InvalidInput as error:
        raise InvalidInput(f"{where}: {error}") from None


# Telling.


def _environment_fingerprint(place: Place) -> str:
    """Return what changes whenever trials there would come out differently."""
    # What it is called for readers, what is said about it, and which scores are possible at all changes no trial.
    facts = {
        key: value for key, value in place.facts().items() if key not in ("title", "summary", "differs", "score_range")
    }
    if not isinstance(place, CompiledEnvironment):
        import gymnasium

        facts |= {"made": source_digest(place.make), "gymnasium": gymnasium.__version__}
        if not isinstance(place.described, str):
            facts["seen"] = {**place.described.states.facts(), "clipped": place.described.clipped}
    return digest(facts)


#: One of each kind of states: what a definition draws depends on little else.
_DESCRIBED = ("chain-10-stochastic", "cart-pole")


def _definition_fingerprint(algorithm: Definition | Trainer) -> str:
    """Return what changes with a definition: its version; and what it draws, in case that was forgotten."""
    if isinstance(algorithm, Trainer):
        return algorithm.fingerprint
    if algorithm in our_algorithms():
        return digest({"version": str(algorithm.version)})
    drawn: dict[str, object] = {}
    for name in _DESCRIBED:
        try:
            drawn[name] = [dataclasses.asdict(each) for each in algorithm.describe(environment_named(name))]
        except Exception as error:
            # It may be for other environments alone.
            drawn[name] = type(error).__name__
    return digest({"version": str(algorithm.version), "drawn": drawn})


def _facts(
    study: Study,
    algorithms: Sequence[Definition | Trainer],
    marks: Mapping[str, str],
    places: Sequence[Place],
    ranges: Sequence[tuple[float, float] | None],
    trials: Sequence[int],
    measure: Metric,
) -> dict[str, Any]:
    return {
        "name": study.name,
        "seed": study.seed,
        "metric": measure.name,
        "metric_fingerprint": None if measure.function is None else source_digest(measure.function),
        "precision": study.precision,
        "keep": study.keep,
        "failures": study.failures,
        "time_limit": study.time_limit,
        "isolate": study.isolate,
        "algorithms": [
            {
                "name": each.name,
                "title": each.title,
                "version": each.fingerprint if isinstance(each, Trainer) else str(each.version),
                "fingerprint": marks[each.name],
                "compiled": isinstance(each, Definition),
            }
            for each in algorithms
        ],
        "environments": [
            {
                **place.facts(),
                "score_range": None if limits is None else list(limits),
                "trials": count,
                "fingerprint": _environment_fingerprint(place),
            }
            for place, limits, count in zip(places, ranges, trials, strict=True)
        ],
        "identical": _identical(algorithms, places),
        "kernels": source_fingerprint(),
    }


def _identical(algorithms: Sequence[Definition | Trainer], places: Sequence[Place]) -> dict[str, list[list[str]]]:
    definitions = [each for each in algorithms if isinstance(each, Definition)]
    return {
        place.name: [list(group) for group in same_definitions(definitions, _seen(place))]
        for place in places
        if definitions or isinstance(place, CompiledEnvironment)
    }
