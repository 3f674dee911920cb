"""``untuned reproduce``: the paper's experiment from its first trial to its conclusions."""

from pathlib import Path
from typing import Annotated

import typer

from untuned.cli.collecting import stoppable
from untuned.cli.collecting_options import Quiet, Workers
from untuned.cli.judging_options import names


def reproduce(
    trials: Annotated[
        int | None,
        typer.Option(
            "--trials",
            metavar="N",
            help="Equal numbers per algorithm and environment, 10000 in the paper; by default a race decides.",
        ),
    ] = None,
    hours: Annotated[
        float | None,
        typer.Option("--hours", metavar="H", help="How long the race collects; twenty minutes by default."),
    ] = None,
    environments: Annotated[
        str | None,
        typer.Option("--environments", metavar="NAME,...", help="Some of the paper's; all fifteen by default."),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FOLDER", help="Where trials, tables, figures and the page go.")
    ] = Path("reproduction"),
    workers: Workers = None,
    quiet: Quiet = False,
) -> None:
    """Run the paper's experiment and show its tables, figures and conclusions next to the published ones."""
    from untuned.cli.terminal import console, text
    from untuned.reproduction.reproduce import reproduce as reproduction

    with stoppable(quiet) as (stop, display):
        found = reproduction(
            out,
            trials=trials,
            hours=hours,
            environments=None if environments is None else names(environments) if environments else (),
            workers=workers,
            watch=display.collecting,
            progress=display.judging,
            pieces=display.experiments,
            stop=stop,
        )
    screen = console(100)
    for sentence in found.sentences():
        screen.print(text(screen, sentence))
    screen.print()
    screen.print(text(screen, f"The paper's conclusions, {found.about}one by one:", style="bold"))
    for each in found.conclusions:
        weights = " under equal weights" if each.best != each.status else ""
        screen.print(text(screen, f"{each.best}{weights}: {each.statement}"))
        if each.cost:
            screen.print(text(screen, f"    to decide it, {each.cost}"))
    # On one line and last, so that it can be clicked or copied.
    typer.echo(str(out / "reproduction.html"))
