"""``untuned reproduce``: the paper's experiment from its first trial to its conclusions."""

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from untuned.cli.collecting import Quiet, Workers, interruptible
from untuned.cli.coverage import watching
from untuned.cli.report import names
from untuned.cli.terminal import showing_progress
from untuned.errors import Stopped


def reproduce(
    trials: Annotated[
        int | None,
        typer.Option(
            "--trials",
            metavar="N",
            help="Per algorithm and environment, 10000 in the paper; by default what takes about half an hour.",
        ),
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
    """Run the paper's experiment and show its tables, figures and conclusions beside the published ones."""
    from untuned import api
    from untuned.cli.progress import display
    from untuned.cli.terminal import console, text

    try:
        with interruptible() as stop, ExitStack() as shown:
            show = _Shows(shown)
            found = api.reproduce(
                out,
                trials=trials,
                environments=None if environments is None else names("--environments", environments),
                workers=workers,
                watch=partial(show, lambda: display(quiet)),
                progress=partial(show, showing_progress),
                pieces=partial(show, lambda: watching(quiet)),
                stop=stop,
            )
    except Stopped as stopped:
        typer.echo(f"stopped: {stopped}. The same command goes on from there.", err=True)
        raise typer.Exit(130) from None
    screen = console(100)
    for each in found.conclusions:
        screen.print(text(screen, f"{each.status}: {each.statement}"))
    screen.print()
    for sentence in found.sentences():
        screen.print(text(screen, sentence))
    # Unbroken and last, so that it can be clicked or copied.
    typer.echo(str(out / "reproduction.html"))


class _Shows:
    """Shows how far each part of the work is: a terminal has room for one at a time.

    Parameters
    ----------
    shown
        What ends the last of them.
    """

    def __init__(self, shown: ExitStack) -> None:
        self._shown = shown
        self._opened: Callable[[], Any] | None = None
        self._tell: Callable[..., None] | None = None

    def __call__(self, opened: Callable[[], AbstractContextManager[Any]], *news: Any) -> None:
        if opened is not self._opened:
            self._shown.close()
            self._opened, self._tell = opened, self._shown.enter_context(opened())
        if self._tell is not None:
            self._tell(*news)
