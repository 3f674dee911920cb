"""The options of commands that judge scores, and the judging itself with a bar that shows how far it is."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from untuned.cli.terminal import showing_progress
from untuned.errors import InvalidInput

if TYPE_CHECKING:
    from untuned.evaluation import Evaluation
    from untuned.judge.methods import Conventions as ConventionsName
    from untuned.plans import Plan
    from untuned.scores import Range


Source = Annotated[
    str,
    typer.Argument(
        help="A CSV, Parquet or JSON-lines file with columns algorithm, environment, score; or a study's folder.",
        show_default=False,
    ),
]
Method = Annotated[
    str | None,
    typer.Option(
        "--intervals", metavar="METHOD", help="How intervals are made: untuned list intervals. By default pairing."
    ),
]
Delta = Annotated[float, typer.Option("--delta", help="The probability that any interval may miss, in (0, 0.5].")]
WeightsText = Annotated[
    str,
    typer.Option(
        "--weights",
        metavar="game|uniform|NAME=W,...|FILE",
        help="Weights of environments: the game's, equal ones, given ones, or a JSON file {environment: weight}.",
    ),
]
Conventions = Annotated[
    str, typer.Option("--conventions", metavar="valid|paper", help="Ties, supports and levels as published: paper.")
]
Ranges = Annotated[
    list[str] | None,
    typer.Option(
        "--range",
        metavar="NAME=LOW:HIGH",
        help="The lowest and highest score an environment can give; LOW:HIGH for all. Repeatable.",
    ),
]
Identical = Annotated[
    list[str] | None,
    typer.Option(
        "--identical",
        metavar="A,B[@ENVIRONMENT]",
        help="Algorithms with the same definition, everywhere or on an environment. Repeatable.",
    ),
]
Nonfinite = Annotated[
    str | None,
    typer.Option(
        "--nonfinite",
        metavar="error|worst",
        help="A score that is NaN or infinite: refuse it (the default), or count the worst.",
    ),
]
Columns = Annotated[
    str | None,
    typer.Option(
        "--columns",
        metavar="A,E,S",
        help="The columns of algorithm, environment and score, if they are called something else.",
    ),
]
Resamples = Annotated[int, typer.Option("--resamples", help="For the bootstrap: how many.")]
Seed = Annotated[int, typer.Option("--seed", help="For the bootstrap: where its random numbers begin.")]
Refine = Annotated[
    int | None,
    typer.Option("--refine", help="Cases to look at for an undecided pair; 0 for none. By size if left out."),
]
Workers = Annotated[
    int | None, typer.Option("--workers", help="Threads; one per processor by default. Changes no number.")
]


def judged(
    source: str,
    *,
    planned: bool = False,
    intervals: str | None,
    delta: float,
    weights: str,
    conventions: str,
    ranges: list[str] | None,
    identical: list[str] | None,
    nonfinite: str | None,
    columns: str | None,
    resamples: int,
    seed: int,
    refine: int | None,
    workers: int | None,
) -> "Evaluation":
    """Return the evaluation of a source under options as they were written; a bar shows on a terminal meanwhile.

    With ``planned`` a plan is to follow: where there can be none, that is said before anything takes long.
    """
    from untuned.api import evaluate

    # What was not given is left to the source: a study knows its ranges, and has no columns to name.
    options: dict[str, Any] = {}
    if ranges:
        options["ranges"] = _ranges(ranges)
    if identical:
        options["identical"] = _identical(identical)
    if nonfinite is not None:
        options["nonfinite"] = one_of("--nonfinite", nonfinite, ("error", "worst"))
    if columns is not None:
        options |= _columns(columns)
    chosen: ConventionsName = one_of("--conventions", conventions, ("valid", "paper"))
    if planned:
        from untuned.judge.plan import check_plan

        check_plan(intervals, chosen)
    with showing_progress() as progress:
        return evaluate(
            source,
            intervals=intervals,
            delta=delta,
            weights=parsed_weights(weights),
            conventions=chosen,
            resamples=resamples,
            seed=seed,
            refine=refine,
            workers=workers,
            progress=progress,
            **options,
        )


def planning(found: "Evaluation", workers: int | None) -> "Plan":
    """Return how many trials would settle what is open; a bar shows on a terminal meanwhile."""
    from untuned.api import plan

    with showing_progress() as progress:
        return plan(found, workers=workers, progress=progress)


def one_of(option: str, value: str, allowed: tuple[str, ...]) -> Any:
    """Return the value of an option that is one of some words."""
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
    if given in ("game", "uniform"):
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
            f"--weights {path}: there is no such file; write game, uniform, NAME=WEIGHT,... or the path of a JSON file"
        )
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, UnicodeDecodeError) as error:
        raise InvalidInput(f"--weights {path}: not JSON ({error})") from None
    if not isinstance(content, dict):
        raise InvalidInput(f"--weights {path}: write an object, {{environment: weight}}")
    return content
