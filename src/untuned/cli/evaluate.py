"""``untuned evaluate``: from scores that somebody has to a ranked table with intervals."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from untuned.errors import InvalidInput

if TYPE_CHECKING:
    from rich.console import Console

    from untuned.evaluation import Evaluation
    from untuned.judge.evaluate import Progress
    from untuned.judge.methods import Conventions
    from untuned.scores import Range


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


def evaluate(
    source: Annotated[
        str,
        typer.Argument(
            help="A CSV, Parquet or JSON-lines file with columns algorithm, environment, score; or a study's folder.",
            show_default=False,
        ),
    ],
    intervals: Method = None,
    delta: Delta = 0.05,
    weights: WeightsText = "game",
    conventions: Annotated[
        str, typer.Option("--conventions", metavar="valid|paper", help="Ties, supports and levels as published: paper.")
    ] = "valid",
    ranges: Annotated[
        list[str] | None,
        typer.Option(
            "--range",
            metavar="NAME=LOW:HIGH",
            help="The lowest and highest score an environment can give; LOW:HIGH for all. Repeatable.",
        ),
    ] = None,
    identical: Annotated[
        list[str] | None,
        typer.Option(
            "--identical",
            metavar="A,B[@ENVIRONMENT]",
            help="Algorithms with the same definition, everywhere or on an environment. Repeatable.",
        ),
    ] = None,
    nonfinite: Annotated[
        str | None,
        typer.Option(
            "--nonfinite",
            metavar="error|worst",
            help="A score that is NaN or infinite: refuse it (the default), or count the worst.",
        ),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            "--columns",
            metavar="A,E,S",
            help="The columns of algorithm, environment and score, if they are called something else.",
        ),
    ] = None,
    resamples: Annotated[int, typer.Option("--resamples", help="For the bootstrap: how many.")] = 10_000,
    seed: Annotated[int, typer.Option("--seed", help="For the bootstrap: where its random numbers begin.")] = 0,
    refine: Annotated[
        int | None,
        typer.Option("--refine", help="Cases to look at for an undecided pair; 0 for none. By size if left out."),
    ] = None,
    workers: Annotated[
        int | None, typer.Option("--workers", help="Threads; one per processor by default. Changes no number.")
    ] = None,
    pairs: Annotated[
        bool,
        typer.Option("--pairs", help="Also the differences of all pairs, with intervals and verdicts."),
    ] = False,
    by_environment: Annotated[
        bool, typer.Option("--environments", help="Also the means on each environment, with intervals and ranks.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    percentiles: Annotated[
        bool, typer.Option("--percentiles", help="With --json: also every percentile and its interval.")
    ] = False,
) -> None:
    """Rank algorithms across all environments by scores that you have, with intervals."""
    from untuned.api import evaluate as evaluate_scores

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
    chosen: Conventions = one_of("--conventions", conventions, ("valid", "paper"))
    with showing_progress() as progress:
        found = evaluate_scores(
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
    if as_json:
        typer.echo(found.to_json(percentiles=percentiles))
    else:
        print_evaluation(found, by_environment, pairs)


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


@contextmanager
def showing_progress() -> "Iterator[Progress | None]":
    """Show a bar on the error stream of a terminal, for what takes long; nothing elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, Any] = {}

        def advance(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=total)
            bar.update(tasks[what], completed=done)

        yield advance


def print_evaluation(found: "Evaluation", by_environment: bool, pairs: bool = False) -> None:
    """Print a ranking with intervals, verdicts, notes and weights; if wanted, all pairs and the means."""
    from untuned.cli.screen import console, text

    screen = console(_WIDTH)
    trials = found.trials_ae
    per_cell = f"{trials.min():,}" if trials.min() == trials.max() else f"{trials.min():,} to {trials.max():,}"
    screen.print(
        text(
            screen,
            f"{len(found.algorithms)} algorithms on {len(found.environments)} environments, {per_cell} trials per "
            f"cell; intervals: {found.method}, delta = {found.delta:g}",
        )
    )
    screen.print()
    _print_ranking(screen, found.rows(), ("name", "score", "low", "high"), _four_digits)
    screen.print()
    for sentence in found.verdicts:
        screen.print(text(screen, sentence))
    screen.print()
    screen.print(text(screen, found.claim))
    for warning in found.warnings:
        screen.print(text(screen, f"Note: {warning}", style="yellow"))
    screen.print()
    _print_weights(screen, found)
    if pairs:
        screen.print()
        _print_pairs(screen, found)
    if by_environment:
        for name in found.environments:
            screen.print()
            screen.print(text(screen, f"Mean scores on {name}", style="bold"))
            rows = [row for row in found.environment_rows() if row["environment"] == name]
            _print_ranking(screen, rows, ("algorithm", "mean", "mean_low", "mean_high"), _some_digits)
        if not all(isfinite(end) for ends in found.ranges for end in ends):
            screen.print()
            hint = "A mean has no interval where the environment's range is not declared: --range NAME=LOW:HIGH."
            screen.print(text(screen, hint))


_WIDTH = 100


def _four_digits(number: float | None) -> str:
    return "-" if number is None else f"{number:.4f}"


def _some_digits(number: float | None) -> str:
    return "-" if number is None else f"{number:,.2f}"


def _print_ranking(
    screen: "Console", rows: list[dict[str, Any]], keys: tuple[str, ...], show: Callable[[float | None], str]
) -> None:
    from rich.table import Table

    from untuned.cli.screen import text

    table = Table(box=None, pad_edge=False)
    table.add_column("algorithm", overflow="fold")
    for heading in (*keys[1:], "rank", "worst", "best"):
        table.add_column(heading.replace("mean_", ""), justify="right", no_wrap=True)
    for row in rows:
        ranks = ["-" if row[key] is None else str(row[key]) for key in ("rank", "rank_low", "rank_high")]
        table.add_row(text(screen, row[keys[0]]), *(show(row[key]) for key in keys[1:]), *ranks)
    screen.print(table)


def _print_pairs(screen: "Console", found: "Evaluation") -> None:
    from rich.table import Table

    from untuned.cli.screen import text

    table = Table(title="Differences of scores", title_justify="left", title_style="bold", box=None, pad_edge=False)
    table.add_column("a", overflow="fold")
    table.add_column("b", overflow="fold")
    for heading in ("a - b", "low", "high"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("a is")
    scores = dict(zip(found.algorithms, found.score_a, strict=True))
    for row in found.pair_rows():
        numbers = (scores[row["a"]] - scores[row["b"]], row["low"], row["high"])
        table.add_row(
            text(screen, row["a"]), text(screen, row["b"]), *(_four_digits(each) for each in numbers), row["verdict"]
        )
    screen.print(table)


def _print_weights(screen: "Console", found: "Evaluation") -> None:
    """Print what weighs most; the rest together."""
    from untuned.cli.screen import text

    for what, names, weights in (
        ("environments", found.environments, found.environment_weights),
        ("references", found.algorithms, found.reference_weights),
    ):
        heaviest = sorted(range(len(names)), key=lambda number: -weights[number])
        parts = [f"{names[number]} {100 * weights[number]:.0f} %" for number in heaviest[:_SHOWN]]
        if len(names) > _SHOWN:
            rest = 100 * float(sum(weights[number] for number in heaviest[_SHOWN:]))
            parts.append(f"{len(names) - _SHOWN} others {rest:.0f} %")
        screen.print(text(screen, f"Weights of {what}: {', '.join(parts)}"))


_SHOWN = 5
