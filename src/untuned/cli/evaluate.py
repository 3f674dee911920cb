"""``untuned evaluate``: from scores that somebody has to a ranked table with intervals."""

from collections.abc import Callable
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any

import typer

from untuned.cli.judging import (
    Columns,
    Conventions,
    Delta,
    Identical,
    Method,
    Nonfinite,
    Ranges,
    Refine,
    Resamples,
    Seed,
    Source,
    WeightsText,
    Workers,
    judged,
)

if TYPE_CHECKING:
    from rich.console import Console

    from untuned.evaluation import Evaluation


def evaluate(
    source: Source,
    intervals: Method = None,
    delta: Delta = 0.05,
    weights: WeightsText = "game",
    conventions: Conventions = "valid",
    ranges: Ranges = None,
    identical: Identical = None,
    nonfinite: Nonfinite = None,
    columns: Columns = None,
    resamples: Resamples = 10_000,
    seed: Seed = 0,
    refine: Refine = None,
    workers: Workers = None,
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
    found = judged(
        source,
        intervals=intervals,
        delta=delta,
        weights=weights,
        conventions=conventions,
        ranges=ranges,
        identical=identical,
        nonfinite=nonfinite,
        columns=columns,
        resamples=resamples,
        seed=seed,
        refine=refine,
        workers=workers,
    )
    if as_json:
        typer.echo(found.to_json(percentiles=percentiles))
    else:
        print_evaluation(found, by_environment, pairs)


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
