"""``untuned compare-methods``: what each way of evaluating concludes from the same scores."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from untuned.adapters.score_files.reading import Reading
from untuned.cli.costs import announce
from untuned.cli.judging_options import AsJson, Sources, Workers, read, takes_records
from untuned.cli.terminal import print_bytes, showing_progress
from untuned.judge.judging import DELTA, SEED, Judging

if TYPE_CHECKING:
    from untuned.judge.comparing.records import MethodComparison

_SHOWN = 5


@takes_records
def compare_methods(
    context: typer.Context,
    sources: Sources,
    reading: Reading,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="PAGE.html", help="Also write a page that needs no network.")
    ] = None,
    delta: Annotated[
        float, typer.Option("--delta", help="Guaranteed or nominal probability of error, in (0, 0.5].")
    ] = DELTA,
    resamples: Annotated[int, typer.Option("--resamples", help="For bootstraps: how many resamples.")] = 2_000,
    seed: Annotated[int, typer.Option("--seed", help="For bootstraps: the seed of their random numbers.")] = SEED,
    workers: Workers = None,
    as_json: AsJson = False,
) -> None:
    """Compare the conclusions of each way of evaluating the same scores: where they disagree, and why."""
    from untuned import api

    found = read(sources, reading)
    announce(Judging(), found.table, workers)
    with showing_progress() as progress:
        compared = api.compare_methods(
            found,
            out=out,
            delta=delta,
            resamples=resamples,
            seed=seed,
            command=shlex.join(["untuned", *context.obj]),
            workers=workers,
            progress=progress,
            accept=reading.accept,
        )
    if as_json:
        print_bytes(compared.to_json())
        return
    _print(compared)
    if out is not None:
        typer.echo(f"\n{out}")


def _print(found: "MethodComparison") -> None:
    from untuned.cli.terminal import Column, console, print_table, text

    screen = console(100)

    def say(*sentences: str, style: str = "") -> None:
        for sentence in sentences:
            screen.print(text(screen, sentence, style=style))

    say(*found.sentences())
    screen.print()
    total = len(found.algorithms) * (len(found.algorithms) - 1) // 2
    print_table(
        screen,
        [
            Column("way", [each.name for each in found.ways], "name"),
            Column("best", [found.names(each.best) for each in found.ways], "name"),
            Column("promise", [each.promise for each in found.ways], "name"),
            Column(f"decided of {total}", [str(each.decided) for each in found.ways], "number"),
            Column("contradicted", [str(found.contradictions(each)) for each in found.ways], "number"),
        ],
    )
    if found.skipped:
        screen.print()
        say(*(f"Not possible: {name}: {reason}" for name, reason in found.skipped))
    if found.notes:
        screen.print()
        say(*(f"Note: {note}" for note in found.notes))
    for each in found.disagreements[:_SHOWN]:
        screen.print()
        say(f"{each.a} or {each.b}?", style="bold")
        say(f"{each.a}: {', '.join(each.for_a)}.", f"{each.b}: {', '.join(each.for_b)}.", *each.why)
    if len(found.disagreements) > _SHOWN:
        screen.print()
        say(f"{len(found.disagreements) - _SHOWN} more pairs are in the page (--out) and in --json.")
    for shown in found.demonstrations:
        screen.print()
        say(f"{shown.title}.", style="bold")
        say(*shown.sentences)
