"""The options of commands that judge scores, derived from the records that declare them, and judging with a bar."""

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import is_dataclass
from functools import wraps
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from untuned.adapters.score_files.reading import Reading
from untuned.cli.costs import announce
from untuned.cli.terminal import printable, showing_progress, telling
from untuned.errors import InvalidInput
from untuned.judge.judging import Judging, without_variants
from untuned.judge.summaries.options import Summarizing
from untuned.options import Option, declared

if TYPE_CHECKING:
    from untuned.adapters.score_files.importing import Imported
    from untuned.evaluation import Evaluation
    from untuned.judge.summaries.records import Summaries
    from untuned.plans import Plan
    from untuned.scores import Range


SOURCES = "Files or folders with scores or logs (CSV, Parquet, JSON, NumPy, TensorBoard, ...), - for stdin; or a study."
Sources = Annotated[list[str], typer.Argument(metavar="PATH", help=SOURCES, show_default=False)]
Workers = Annotated[
    int | None, typer.Option("--workers", help="Threads; one per processor by default. Changes no number.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Approximate = Annotated[
    bool,
    typer.Option("--approximate", help="Also use the bootstrap: it decides more, and errs more often than its level."),
]


def flag(name: str, declaration: Option) -> str:
    """Return the name that is typed for an option."""
    return declaration.flag or f"--{name.replace('_', '-')}"


def typer_option(record: type, name: str, *, summary: str | None = None, hidden: bool = False) -> Any:
    """Return an option of a record for the command line; with another ``summary``, or ``hidden`` from the help."""
    declaration = declared(record)[name][1]
    return typer.Option(
        flag(name, declaration),
        metavar=declaration.metavar or "|".join(declaration.choices) or None,
        help=summary or declaration.summary,
        hidden=hidden,
    )


def takes_records(
    command: Callable[..., None], *, summaries: Mapping[str, str] = MappingProxyType({}), hidden: Collection[str] = ()
) -> Callable[..., None]:
    """Return a command with an option for every field of the records that it takes, such as `Judging`.

    The command line is made from the signature and the annotations, so both are replaced. Options that mean something
    else to this command have other ``summaries``; those that it refuses are ``hidden`` from its help.
    """
    hints = get_type_hints(command, include_extras=True)
    records: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    parameters = []
    for parameter in inspect.signature(command).parameters.values():
        if parameter.name in records:
            record = records[parameter.name]
            shown = {
                name: (
                    Annotated[
                        each.kind,
                        typer_option(record, name, summary=summaries.get(name), hidden=name in hidden),
                    ],
                    known.default,
                )
                for name, (known, each) in declared(record).items()
            }
        else:
            shown = {parameter.name: (hints[parameter.name], parameter.default)}
        parameters += [
            # By keyword, so that options may stand before arguments.
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)
            for name, (annotation, default) in shown.items()
        ]

    @wraps(command)
    def wrapped(**given: Any) -> None:
        made = {name: _made(record, given) for name, record in records.items()}
        command(**given, **made)

    wrapped.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    wrapped.__annotations__ = {each.name: each.annotation for each in parameters}
    return wrapped


def _made(record: type, given: dict[str, Any]) -> Any:
    """Return a record of what was typed, which is taken out of ``given``."""
    values = {}
    for name, (_, each) in declared(record).items():
        value = given.pop(name)
        if value is not None and each.choices:
            one_of(flag(name, each), value, each.choices)
        # Typer may make an empty list of an option that was not given.
        if value == []:
            value = None
        if value is not None:
            values[name] = _PARSERS[name](value) if name in _PARSERS else value
    return record(**values)


def read(sources: list[str], reading: Reading) -> "Imported":
    """Return the scores of files, folders or a study, after saying what they were recognised as."""
    from untuned.adapters import sources as scores

    with telling("reading"):
        found = scores.read(sources, **reading.options())
    if found.summary:
        typer.echo(printable(found.summary), err=True)
    return found


def judged(
    sources: list[str],
    judging: Judging,
    reading: Reading,
    workers: int | None,
    *,
    planned: bool = False,
    approximate: bool = False,
) -> "Evaluation":
    """Return the evaluation of scores; a bar shows on a terminal meanwhile.

    With ``planned`` a plan will follow: where there can be none, raise before the judging, which may take minutes.
    """
    from untuned.api import evaluate
    from untuned.judge.plan import check_plan

    if planned:
        check_plan(judging)
    found = read(sources, reading)
    announce(judging, found.table, workers)
    with showing_progress() as progress:
        return evaluate(
            found,
            judging=without_variants(judging, reading.without),
            approximate=approximate,
            workers=workers,
            progress=progress,
            accept=reading.accept,
        )


def summarized(found: "Evaluation", asked: Summarizing, workers: int | None) -> "Summaries":
    """Return the summaries of an evaluation's scores; a bar shows on a terminal meanwhile."""
    from untuned.api import summarize

    judging = found.judging
    given = judging.weights if judging.weighting == "given" else "game" if judging.weighting == "game" else "uniform"
    with showing_progress() as progress:
        return summarize(
            found,
            asked.summary,
            normalise=asked.normalise,
            weights=given,
            interval=asked.summary_interval,  # type: ignore[arg-type]
            delta=judging.delta,
            resamples=judging.resamples,
            seed=judging.seed,
            workers=workers,
            progress=progress,
        )


def planning(found: "Evaluation", workers: int | None) -> "tuple[Plan, ...]":
    """Return how many trials would decide the pairs not separable yet; a bar shows on a terminal meanwhile."""
    from untuned.api import plans

    with showing_progress() as progress:
        return plans(found, workers=workers, progress=progress)


def one_of(option: str, value: str, allowed: tuple[str, ...]) -> Any:
    """Return the value of an option that has a list of choices."""
    if value not in allowed:
        raise InvalidInput(f"{option} {value}: choose {' or '.join(allowed)}")
    return value


def _ranges(given: list[str]) -> "dict[str, Range] | Range":
    by_name: dict[str, Range] = {}
    for each in given:
        name, equals, ends = each.rpartition("=")
        try:
            low, high = map(float, ends.split(":"))
        except ValueError:
            raise InvalidInput(f"--range {each}: write NAME=LOW:HIGH, for example --range cart-pole=0:1000") from None
        if not equals:
            if len(given) > 1:
                raise InvalidInput(f"--range {each} is for every environment and stands alone: name the others' too")
            return low, high
        _check_once("range", name, by_name)
        by_name[name] = (low, high)
    return by_name


def _identical(given: list[str]) -> Any:
    everywhere: list[list[str]] = []
    somewhere: dict[str, list[list[str]]] = {}
    for each in given:
        names, at, environment = each.partition("@")
        group = [name for name in names.split(",") if name]
        if len(group) < 2:
            raise InvalidInput(f"--identical {each}: write at least two names, --identical sarsa,sarsa-s")
        if at:
            somewhere.setdefault(environment, []).append(group)
        else:
            everywhere.append(group)
    if everywhere and somewhere:
        raise InvalidInput("--identical: say @ENVIRONMENT for all groups or for none")
    return somewhere or everywhere


def names(given: str) -> tuple[str, ...]:
    """Return comma-separated names."""
    found = tuple(name.strip() for name in given.split(","))
    if not all(found):
        raise InvalidInput(f"{given}: write names with commas between them and nothing else")
    return tuple(dict.fromkeys(found))


def _rename(given: list[str]) -> dict[str, str]:
    renamed: dict[str, str] = {}
    for each in given:
        old, equals, new = each.partition("=")
        if not equals or not old or not new.strip():
            raise InvalidInput(f"--rename {each}: write OLD=NEW, --rename PPO_v2=ppo")
        _check_once("rename", old, renamed)
        renamed[old] = new
    return renamed


def parsed_weights(given: str) -> Any:
    """Return weights as `untuned.evaluate` takes them, from what was written after --weights."""
    if given in ("game", "uniform", "both"):
        return given
    if "=" not in given:
        return _json_object("weights", Path(given), "game, uniform, both, NAME=WEIGHT,...", "{environment: weight}")
    weights: dict[str, float] = {}
    for each in given.split(","):
        name, _, number = each.rpartition("=")
        _check_once("weights", name, weights)
        try:
            weights[name] = float(number)
        except ValueError:
            raise InvalidInput(f"--weights {given}: write NAME=WEIGHT,NAME=WEIGHT with numbers") from None
    return weights


def _check_once(option: str, name: str, found: Collection[str]) -> None:
    if name in found:
        raise InvalidInput(f"--{option}: {name!r} is there twice, write it once")


def _json_object(option: str, path: Path, instead: str, form: str) -> Any:
    from untuned.adapters.score_files.json_file import load
    from untuned.adapters.score_files.opening import File

    if not path.is_file():
        raise InvalidInput(f"--{option} {path}: there is no such file; write {instead} or the path of a JSON file")
    try:
        content = load(File(path, path.name))
    except InvalidInput as error:
        raise InvalidInput(f"--{option} {path}: {error}") from None
    if not isinstance(content, dict):
        raise InvalidInput(f"--{option} {path}: write an object, {form}")
    return content


def parsed_families(given: str) -> Any:
    """Return families as `untuned.evaluate` takes them, from what was written after --families."""
    if given == "none":
        return {}
    if "=" not in given:
        return _json_object("families", Path(given), "none, NAME=A+B,...", "{family: [environment, ...]}")
    found: dict[str, list[str]] = {}
    for each in given.split(","):
        name, _, variants = each.partition("=")
        if not name or not all(variants.split("+")):
            raise InvalidInput(f"--families {given}: write NAME=A+B,NAME=C+D, --families maze=maze-1+maze-2")
        _check_once("families", name, found)
        found[name] = variants.split("+")
    return found


def parsed_normalisation(given: str) -> Any:
    """Return a normalisation as `untuned.summaries` takes it, from what was written after --normalise."""
    if "=" not in given:
        if not given.endswith(".json"):
            return given
        return _json_object("normalise", Path(given), "NAME=ZERO:ONE,...", "{environment: [zero, one]}")
    values: dict[str, tuple[float, float]] = {}
    for each in given.split(","):
        name, _, ends = each.rpartition("=")
        _check_once("normalise", name, values)
        try:
            zero, one = map(float, ends.split(":"))
        except ValueError:
            raise InvalidInput(
                f"--normalise {given}: write NAME=ZERO:ONE,NAME=ZERO:ONE, the two scores of every environment that "
                "become 0 and 1, or the path of a JSON file {environment: [zero, one]}"
            ) from None
        values[name] = (zero, one)
    return values


#: Of options that are not typed as Python takes them. Files are read here, not by the judge.
_PARSERS: dict[str, Callable[[Any], Any]] = {
    "weights": parsed_weights,
    "families": parsed_families,
    "ranges": _ranges,
    "identical": _identical,
    "rename": _rename,
    "normalise": parsed_normalisation,
    "minimize": lambda given: True if given == "all" else names(given),
    **dict.fromkeys(("algorithms", "environments", "without", "accept", "summary"), names),
}
