"""The options of commands that judge scores, derived from the records that declare them, and judging with a bar."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field, is_dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from untuned.cli.terminal import showing_progress
from untuned.errors import InvalidInput
from untuned.judge.judging import Judging
from untuned.options import Option, declared, option

if TYPE_CHECKING:
    from untuned.evaluation import Evaluation
    from untuned.plans import Plan
    from untuned.scores import Range


Source = Annotated[
    str,
    typer.Argument(
        help="A CSV, Parquet or JSON-lines file with columns algorithm, environment, score; or a study's folder.",
        show_default=False,
    ),
]
Workers = Annotated[
    int | None, typer.Option("--workers", help="Threads; one per processor by default. Changes no number.")
]
Approximate = Annotated[
    bool,
    typer.Option("--approximate", help="Also what the bootstrap says: decides more, is wrong more often than it says."),
]


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How scores are read. What is None is left to the source: a study knows its ranges and has no columns to name."""

    ranges: "dict[str, Range] | Range | None" = field(
        default=None,
        metadata=option(
            "The lowest and highest score an environment can give; LOW:HIGH for all. Repeatable.",
            list[str] | None,
            flag="--range",
            metavar="NAME=LOW:HIGH",
        ),
    )
    identical: Any = field(
        default=None,
        metadata=option(
            "Algorithms with the same definition, everywhere or on an environment. Repeatable.",
            list[str] | None,
            metavar="A,B[@ENVIRONMENT]",
        ),
    )
    nonfinite: str | None = field(
        default=None,
        metadata=option(
            "A score that is NaN or infinite: refuse it (the default), or count the worst.",
            str | None,
            choices=("error", "worst"),
        ),
    )
    columns: dict[str, str] | None = field(
        default=None,
        metadata=option(
            "The columns of algorithm, environment and score, if they are called something else.",
            str | None,
            metavar="A,E,S",
        ),
    )

    def options(self) -> dict[str, Any]:
        """Return those that were given, for `untuned.read_scores`."""
        given = {"ranges": self.ranges, "identical": self.identical, "nonfinite": self.nonfinite}
        return {name: value for name, value in given.items() if value is not None} | (self.columns or {})


def flag(name: str, declaration: Option) -> str:
    """Return the name that is typed for an option."""
    return declaration.flag or f"--{name.replace('_', '-')}"


def typer_option(record: type, name: str) -> Any:
    """Return an option of a record for the command line."""
    declaration = declared(record)[name][1]
    return typer.Option(
        flag(name, declaration),
        metavar=declaration.metavar or "|".join(declaration.choices) or None,
        help=declaration.summary,
    )


def takes_records(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with an option for every field of the records that it takes, `Judging` and `Reading`.

    The command line is made from the signature and the annotations, so both are replaced.
    """
    hints = get_type_hints(command, include_extras=True)
    records: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    parameters = []
    for parameter in inspect.signature(command).parameters.values():
        if parameter.name in records:
            record = records[parameter.name]
            shown = {
                name: (Annotated[each.kind, typer_option(record, name)], known.default)
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
        values[name] = _PARSERS[name](value) if name in _PARSERS and value is not None else value
    return record(**values)


def judged(
    source: str,
    judging: Judging,
    reading: Reading,
    workers: int | None,
    *,
    planned: bool = False,
    approximate: bool = False,
) -> "Evaluation":
    """Return the evaluation of a source; a bar shows on a terminal meanwhile.

    With ``planned`` a plan will follow: where there can be none, raise before the judging, which may take minutes.
    """
    from untuned.api import evaluate
    from untuned.judge.plan import check_plan

    if planned:
        check_plan(judging)
    with showing_progress() as progress:
        return evaluate(
            source,
            judging=judging,
            approximate=approximate,
            workers=workers,
            progress=progress,
            **reading.options(),
        )


def planning(found: "Evaluation", workers: int | None) -> "tuple[Plan, ...]":
    """Return how many trials would settle what each ranking left open; a bar shows on a terminal meanwhile."""
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


def _columns(given: str) -> dict[str, str]:
    names = given.split(",")
    if len(names) != 3 or not all(names):
        raise InvalidInput(f"--columns {given}: write three names, --columns algo,env,return")
    return dict(zip(("algorithm", "environment", "score"), names, strict=True))


def parsed_weights(given: str) -> Any:
    """Return weights as `untuned.evaluate` takes them, from what was written after --weights."""
    if given in ("game", "uniform", "both"):
        return given
    if "=" not in given:
        return _weights_file(Path(given))
    weights: dict[str, float] = {}
    for each in given.split(","):
        name, _, number = each.rpartition("=")
        try:
            weights[name] = float(number)
        except ValueError:
            raise InvalidInput(f"--weights {given}: write NAME=WEIGHT,NAME=WEIGHT with numbers") from None
    return weights


def _weights_file(path: Path) -> Any:
    import json

    if not path.is_file():
        raise InvalidInput(
            f"--weights {path}: there is no such file; write game, uniform, both, NAME=WEIGHT,... or the path of a "
            "JSON file"
        )
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, UnicodeDecodeError) as error:
        raise InvalidInput(f"--weights {path}: not JSON ({error})") from None
    if not isinstance(content, dict):
        raise InvalidInput(f"--weights {path}: write an object, {{environment: weight}}")
    return content


#: Of options that are not typed as Python takes them. A file of weights is read here: the judge reads none.
_PARSERS: dict[str, Callable[[Any], Any]] = {
    "weights": parsed_weights,
    "ranges": _ranges,
    "identical": _identical,
    "columns": _columns,
}
