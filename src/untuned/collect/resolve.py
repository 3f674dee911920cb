"""Resolving a study: looking up names, importing functions, making cells.

Algorithms written in Python and Gymnasium environments belong to the adapters, which `collect` does not import: it
lists their modules (`_ADAPTERS`), and loads one when a study needs it.
"""

import contextlib
import dataclasses
import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from untuned.collect.definitions.definition import Definition, same_definitions
from untuned.collect.definitions.registry import algorithm as algorithm_named
from untuned.collect.definitions.registry import algorithms as our_algorithms
from untuned.collect.engines.cells import Cell, CompiledRun, Recipe, Run
from untuned.collect.environments.environment import CompiledEnvironment, RunnableEnvironment
from untuned.collect.environments.names import NAMES
from untuned.collect.environments.registry import environment as environment_named
from untuned.collect.fingerprints import source_digest
from untuned.collect.metrics import Metric, metric
from untuned.collect.study import AlgorithmChoice, EnvironmentChoice, Study
from untuned.errors import InvalidInput, UnknownName, nearest
from untuned.families import check
from untuned.version import __version__

#: The modules that resolve external algorithms and environments.
_ADAPTERS = {
    "algorithm": "untuned.adapters.training.resolving",
    "environment": "untuned.adapters.gymnasium.resolving",
}


class Algorithm(Protocol):
    """An algorithm of a study that is not a `Definition`: the return value of the adapter of algorithms."""

    @property
    def name(self) -> str:
        """Its name in the study."""
        ...

    @property
    def title(self) -> str:
        """Its display name."""
        ...

    @property
    def fingerprint(self) -> str:
        """Changes whenever its trials could change."""
        ...


class Place(Protocol):
    """An environment of a study: ours, or the return value of the adapter of environments."""

    @property
    def name(self) -> str:
        """Its name in the study."""
        ...

    @property
    def score_range(self) -> tuple[float, float] | None:
        """The (worst, best) possible score, None if undeclared."""
        ...

    def facts(self) -> dict[str, Any]:
        """Return its description as plain JSON types."""
        ...


@dataclass(frozen=True)
class Resolved:
    """A resolved study.

    Parameters
    ----------
    cells
        The cells to run, environment by environment.
    facts
        The study's facts in the store, as JSON types.
    algorithms, environments
        The objects of the names.
    metric
        Computes the scores.
    """

    cells: tuple[Cell, ...]
    facts: Mapping[str, Any]
    algorithms: "Mapping[str, Definition | Algorithm]"
    environments: "Mapping[str, Place]"
    metric: Metric


def resolve(study: Study) -> Resolved:
    """Return the resolved study.

    Raises
    ------
    InvalidInput
        For unknown names, algorithms that cannot run in an environment, and anything else that would fail later; names
        the entry of the study, and its line in the study's file.
    """
    try:
        return _resolved(study)
    except InvalidInput as error:
        raise InvalidInput(study.located(str(error))) from error


def _resolved(study: Study) -> Resolved:
    algorithms = [_algorithm(chosen, f"algorithms[{n}]", study.folder) for n, chosen in enumerate(study.algorithms)]
    places = [_place(chosen, f"environments[{n}]", study.folder) for n, chosen in enumerate(study.environments)]
    if any(isinstance(each, Definition) for each in algorithms):
        for n, place in enumerate(places):
            _seen(place, f"environments[{n}]")
    _check_distinct("algorithms", [each.name for each in algorithms])
    _check_distinct("environments", [each.name for each in places])
    try:
        check(study.families, [each.name for each in places])
    except UnknownName as error:
        raise InvalidInput(f"families: {error}") from None
    measure = _metric(study.metric, study.folder)
    ranges = [_score_range(place, measure, study) for place in places]
    for place, limits in zip(places, ranges, strict=True):
        _check_failures(place, limits, algorithms, measure, study)
    # By kind: an algorithm and an environment may have the same name.
    marks = {
        (kind, each.name): source_digest(each)
        for kind, listed in (("algorithm", algorithms), ("environment", places))
        for each in listed
    }
    assert not isinstance(study.memory, str)
    recipe = Recipe(measure, study.keep == "returns", study.time_limit, study.memory, study.isolate)
    cells = tuple(_cell(algorithm, place, marks, study, recipe) for place in places for algorithm in algorithms)
    return Resolved(
        cells,
        _facts(study, algorithms, marks, places, ranges, measure),
        {each.name: each for each in algorithms},
        {each.name: each for each in places},
        measure,
    )


def _adapter(kind: str) -> Any:
    return importlib.import_module(_ADAPTERS[kind])


# Looking up.


def imported(place: str, where: str, folder: Path | None) -> Any:
    """Return the object ``module:name``; the study's folder is searched for modules, too."""
    module_name, _, name = place.partition(":")
    if not all(part.isidentifier() for part in [*module_name.split("."), *name.split(".")]):
        raise InvalidInput(f"{where}: {place!r} cannot be imported, write module:function, as in my_agents:train")
    _make_findable(folder)
    try:
        # A module's output would be mixed with output for other programs.
        with contextlib.redirect_stdout(sys.stderr):
            found: Any = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:
        where_it_is = "; it is looked for among what is installed and in the study's folder"
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


def _make_findable(folder: Path | None) -> None:
    """Add the study's folder to the end of the module path, so that a file there replaces no other module."""
    if folder is not None and str(folder) not in sys.path:
        sys.path.append(str(folder))


def _check_that_it_is_the_studys(module: Any, where: str, folder: Path | None) -> None:
    """Refuse a module of the study's folder with the name of another module: a standard one, or another study's."""
    if folder is None:
        return
    path = folder.joinpath(*module.__name__.split("."))
    here = [each for each in (path.with_suffix(".py"), path / "__init__.py") if each.is_file()]
    file = getattr(module, "__file__", None)
    if here and (file is None or not here[0].samefile(file)):
        raise InvalidInput(
            f"{where}: the module {module.__name__!r} is {file or 'part of Python'}, and the study's folder has "
            f"another one of that name: give {here[0].name} another name; or, if it is another study's that was loaded "
            "before, run this study in a new process"
        )


def _algorithm(chosen: AlgorithmChoice, where: str, folder: Path | None) -> Definition | Algorithm:
    use = chosen.use
    if isinstance(use, str) and ":" in use and "[" not in use.partition(":")[0]:
        use = imported(use, where, folder)
    if isinstance(use, str) and use in {each.name for each in our_algorithms()}:
        use = algorithm_named(use)
    if isinstance(use, Definition):
        return _definition(use, chosen, where)
    try:
        other: Algorithm | None = _adapter("algorithm").algorithm(use, chosen.name)
        return _definition(algorithm_named(use), chosen, where) if other is None else other
    except UnknownName as error:
        raise InvalidInput(f"{where}: {error}; one of your own is module:function") from None
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
    if isinstance(use, str) and ":" in use:
        # Gymnasium imports the package of an id "package:id".
        _make_findable(folder)
    try:
        if isinstance(use, str) and not chosen.gymnasium:
            return _ours(use, options)
        if isinstance(use, CompiledEnvironment):
            if options:
                raise InvalidInput(f"the options {', '.join(options)} go with a name, not with an environment")
            return use
        if (found := _others(use, options)) is not None:
            return found
    except UnknownName as error:
        raise InvalidInput(f"{where}: {error}") from None
    except TypeError as error:
        raise InvalidInput(f"{where}: {error}") from None
    except InvalidInput as error:
        raise InvalidInput(f"{where}: {error}") from error
    raise InvalidInput(
        f"{where}: {use!r} is not an environment, give a name, an environment or a function that makes one"
    )


def _ours(name: str, options: dict[str, Any]) -> CompiledEnvironment:
    plain = name.partition("[")[0]
    if plain not in NAMES and ("/" in name or "-v" in name):
        raise InvalidInput(
            f'{name!r} looks like a Gymnasium id: write {{ gymnasium = "{name}", episodes = 100, '
            "score_range = [0, 500] }"
        )
    return environment_named(name, **options)


def _others(use: object, options: dict[str, Any]) -> Place | None:
    found: Place | None = _adapter("environment").environment(use, _pairs(options))
    return found


def _pairs(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options with the range as a pair, because TOML has no tuples. The others are passed to Gymnasium."""
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
    algorithms: Sequence[Definition | Algorithm],
    measure: Metric,
    study: Study,
) -> None:
    """Raise InvalidInput if a trial may fail and the worst score, which a failed trial gets, is unknown."""
    may_fail = not all(isinstance(each, Definition) for each in algorithms) or not measure.bounded
    if limits is None and may_fail and study.failures == "worst":
        advice = (
            "declare it, score_range = [worst, best], where the environment is named"
            if measure.bounded
            else "declare the metric's, score_range = [worst, best]"
        )
        raise InvalidInput(
            f"environments: the worst score on {place.name}, which a failed trial gets, is not declared: "
            f'{advice}; or write failures = "error"'
        )


def _cell(
    algorithm: Definition | Algorithm,
    place: Place,
    marks: Mapping[tuple[str, str], str],
    study: Study,
    recipe: Recipe,
) -> Cell:
    run: Run
    if not isinstance(algorithm, Definition):
        run = _adapter("algorithm").run(algorithm, place, study.seed)
    else:
        seen = _seen(place)
        if seen.budget.episodes is None:
            raise InvalidInput(f"environments: {place.name} has no number of episodes, which {algorithm.name} needs")
        run = CompiledRun(algorithm, seen, study.seed, study.precision)
    return Cell(
        algorithm=algorithm.name,
        environment=place.name,
        seed=study.seed,
        precision=study.precision,
        run=run,
        # A Gymnasium environment holds the interpreter's lock, whatever the agent.
        compiled=isinstance(run, CompiledRun) and isinstance(place, CompiledEnvironment),
        version=_version(algorithm),
        definition_fingerprint=marks["algorithm", algorithm.name],
        environment_fingerprint=marks["environment", place.name],
        recipe=recipe,
    )


def _seen(place: Place, where: str = "environments") -> RunnableEnvironment:
    """Return an environment in the form for compiled agents."""
    if isinstance(place, RunnableEnvironment):
        return place
    try:
        seen: RunnableEnvironment = place.for_agents()  # type: ignore[attr-defined]
    except InvalidInput as error:
        raise InvalidInput(f"{where}: {error}") from None
    return seen


def _version(algorithm: Definition | Algorithm) -> str:
    return str(algorithm.version) if isinstance(algorithm, Definition) else algorithm.fingerprint


def _facts(
    study: Study,
    algorithms: Sequence[Definition | Algorithm],
    marks: Mapping[tuple[str, str], str],
    places: Sequence[Place],
    ranges: Sequence[tuple[float, float] | None],
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
        # Only where it is declared: stores from before this key existed belong to the same study.
        **({} if study.memory is None else {"memory": study.memory}),
        "isolate": study.isolate,
        "algorithms": [
            {
                "name": each.name,
                "title": each.title,
                "version": _version(each),
                "fingerprint": marks["algorithm", each.name],
                "compiled": isinstance(each, Definition),
            }
            for each in algorithms
        ],
        "environments": [
            {
                **place.facts(),
                "score_range": None if limits is None else list(limits),
                "fingerprint": marks["environment", place.name],
            }
            for place, limits in zip(places, ranges, strict=True)
        ],
        "wanted": wanted(study, [each.name for each in algorithms], [each.name for each in places]),
        "identical": _identical(algorithms, places),
        **({"families": {name: list(each) for name, each in study.families.items()}} if study.families else {}),
        "untuned": __version__,
        **({} if study.protocol is None else {"protocol": dict(study.protocol)}),
    }


def _identical(algorithms: Sequence[Definition | Algorithm], places: Sequence[Place]) -> dict[str, list[list[str]]]:
    definitions = [each for each in algorithms if isinstance(each, Definition)]
    return {
        place.name: [list(group) for group in same_definitions(definitions, _seen(place))]
        for place in places
        if definitions or isinstance(place, CompiledEnvironment)
    }


def wanted(study: Study, algorithms: Sequence[str], places: Sequence[str]) -> dict[str, dict[str, int]]:
    """Return the wanted numbers of trials, by environment and algorithm."""
    trials = study.trials
    if isinstance(trials, Mapping):
        for algorithm, environment in trials:
            if algorithm not in algorithms or environment not in places:
                raise InvalidInput(
                    f"trials: there is no cell {algorithm!r} on {environment!r}, name algorithms and environments of "
                    "the study"
                )
        return {place: {name: trials.get((name, place), 0) for name in algorithms} for place in places}
    counts = [trials if chosen.trials is None else chosen.trials for chosen in study.environments]
    return {place: dict.fromkeys(algorithms, count) for place, count in zip(places, counts, strict=True)}
